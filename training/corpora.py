"""Collect people's pairs for the judge: `python training/corpora.py --out DIR`.

Write `pairs-00000.jsonl` and so on, of 50,000 pairs each; `counts.tsv`, the number of pairs of each kind;
`weights.json`, how often training draws a pair of each family and source; and `sources.json`, the terms of each source.
Only sources whose `ship` is true in `sources.toml` are learnt from. The same data give the same bytes.

A pair's split is dev where a dev record of any set stands on the same page, or makes the same claim. The data lie
under TOULMIN_DATA (default ../shared/data). Natural pairs of the other sets have the split "apart": they are
never learnt from, only measured by.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import islice
from pathlib import Path

from claims import natural
from claims.mixture import weights
from claims.pair import APART, Label, Pair, Text, page_key
from claims.sources import Terms, question_pages, terms_of

from toulmin.errors import ToulminError
from toulmin.evaluation.feedback import read_feedback

SHARD = 50_000
SMALL = 120  # records of a source, where only a few are wanted


@dataclass(frozen=True)
class Recipe:
    """What to make, from where."""

    data: Path
    most: int | None  # records of a source; None is all
    terms: dict[str, Terms]
    feedback: Sequence[Path] = ()  # files of what readers said of answers; whoever names them may learn from them

    def names(self, wanted: Sequence[str]) -> list[Terms]:
        """The terms of those sources that may be learnt from."""
        return [self.terms[name] for name in wanted if self.terms[name].ship]


@dataclass(frozen=True)
class Dev:
    """What no training pair may touch."""

    pages: frozenset[str]
    claims: frozenset[str]

    def with_split(self, pair: Pair) -> Pair:
        """The pair with the split that it must have."""
        if pair.split == APART:
            return pair
        is_dev = pair.split == "dev" or pair.page in self.pages or page_key(pair.claim) in self.claims
        return replace(pair, split="dev" if is_dev else "train")


def natural_pairs(recipe: Recipe) -> Iterator[Pair]:
    """The natural pairs of all sets."""
    for terms in recipe.names(natural.SETS):
        yield from islice(natural.records(recipe.data, terms.name, terms), recipe.most)


def apart(recipe: Recipe) -> Iterator[Pair]:
    """The natural pairs of sets that must not be learnt from, to be measured by."""
    for name in natural.SETS:
        if not recipe.terms[name].ship:
            for pair in islice(natural.records(recipe.data, name, recipe.terms[name]), recipe.most):
                yield replace(pair, split=APART)


def feedback_pairs(recipe: Recipe) -> Iterator[Pair]:
    """What readers said of sentences; a wrong source leaves open whether the sentence is true, so the pair fails."""
    for file in recipe.feedback:
        for word in read_feedback(file):
            premise = tuple(Text(passage.get("title"), passage["text"]) for passage in word.passages)
            if premise:
                label: Label = "supported" if word.says == "right" else "unsupported"
                id, page = f"feedback-{word.answer}-{word.claim}", premise[0].title or word.answer
                yield Pair(id, "feedback", "natural", None, premise, word.text, None, label, page, "train", "own")


def inference_pairs(recipe: Recipe) -> Iterator[Pair]:
    """The pairs of all sets of inferences."""
    for terms in recipe.names(natural.INFERENCE):
        yield from islice(natural.inferences(recipe.data, terms.name, terms), recipe.most)


def dev_of(recipe: Recipe) -> Dev:
    """The pages and claims of all dev records, those of sets that are not learnt from included."""
    pages, claims = question_pages(recipe.data), set()
    for name in natural.SETS:
        for pair in natural.records(recipe.data, name, recipe.terms[name]):
            if pair.split == "dev":
                pages.add(pair.page)
                claims.add(page_key(pair.claim))
    for name in natural.INFERENCE:
        made = natural.inferences(recipe.data, name, recipe.terms[name])
        pages |= {pair.page for pair in made if pair.split == "dev"}
    return Dev(frozenset(pages), frozenset(claims))


def pairs(recipe: Recipe) -> Iterator[Pair]:
    """All pairs of the recipe, each with its split."""
    dev = dev_of(recipe)
    for part in (natural_pairs(recipe), feedback_pairs(recipe), apart(recipe), inference_pairs(recipe)):
        yield from map(dev.with_split, part)


def write(stream: Iterator[Pair], out: Path) -> Counter[tuple[str, str, str, str, str]]:
    """Write the shards; how many pairs there are by family, source, edit, label and split."""
    counts: Counter[tuple[str, str, str, str, str]] = Counter()
    for shard in range(sys.maxsize):
        block = islice(stream, SHARD)
        first = next(block, None)
        if first is None:
            return counts
        with (out / f"pairs-{shard:05}.jsonl").open("w", encoding="utf-8") as lines:
            for pair in (first, *block):
                counts[pair.family, pair.source, pair.edit or "-", pair.label, pair.split] += 1
                lines.write(pair.line() + "\n")
    return counts


def describe(counts: Counter[tuple[str, str, str, str, str]], recipe: Recipe, out: Path) -> None:
    """Write the table, the weights for training and the list of sources."""
    head = "family\tsource\tedit\tlabel\tsplit\tpairs"
    table = [head, *("\t".join((*key, str(count))) for key, count in sorted(counts.items()))]
    (out / "counts.tsv").write_text("\n".join(table) + "\n", "utf-8")
    train: Counter[tuple[str, str]] = Counter()
    for (family, source, _, _, split), count in counts.items():
        if split == "train":
            train[family, source] += count
    drawn = [{"family": f, "source": s, "weight": round(w, 4)} for (f, s), w in sorted(weights(train).items())]
    (out / "weights.json").write_text(json.dumps(drawn, indent=1, ensure_ascii=False) + "\n", "utf-8")
    terms = [asdict(source) for source in recipe.terms.values()]
    (out / "sources.json").write_text(json.dumps(terms, indent=1, ensure_ascii=False) + "\n", "utf-8")


def totals(counts: Counter[tuple[str, str, str, str, str]]) -> str:
    """The table by family, edit and label, for reading."""
    small: Counter[tuple[str, str, str]] = Counter()
    for (family, _, edit, label, _), count in counts.items():
        small[family, edit.split("+")[0], label] += count
    return "\n".join(
        f"{family:11} {edit:13} {label:12} {count:8,}" for (family, edit, label), count in sorted(small.items())
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", type=Path, required=True, help="folder for the pairs; made where it is not there")
    parser.add_argument("--records", type=int, help="of every source, at most")
    parser.add_argument("--small", action="store_const", const=SMALL, dest="records", help=f"as --records {SMALL}")
    parser.add_argument("--feedback", type=Path, nargs="+", default=[], help="files of readers' feedback on answers")
    given = parser.parse_args(arguments)
    data = Path(os.environ.get("TOULMIN_DATA", "../shared/data"))
    recipe = Recipe(data, given.records, terms_of(), given.feedback)
    given.out.mkdir(parents=True, exist_ok=True)
    if any(given.out.glob("pairs-*.jsonl")):
        raise SystemExit(f"{given.out} holds pairs already; name an empty folder, or remove them.")
    begun = time.monotonic()
    try:
        counts = write(pairs(recipe), given.out)
        describe(counts, recipe, given.out)
    except ToulminError as error:
        raise SystemExit(str(error)) from error
    print(totals(counts))
    seconds = time.monotonic() - begun
    train = sum(count for key, count in counts.items() if key[-1] == "train")
    print(f"{counts.total():,} pairs, {train:,} of them to train on; {seconds:.0f} s", file=sys.stderr)


if __name__ == "__main__":
    main()
