"""Fit `toulmin/judges/frames.tsv`: which words of a source show that it does not state a claim as a fact.

    python training/fit_framing.py

Learnt from the learning half of `benchmarks/frames.jsonl`, `nli_veridicality`, true claims of people's sets, and claims
of those sets put into the frames of `training/data/frames.txt`: train splits only. Printed are the shares found with
weights of the other folds; a fold keeps the claims of a passage, or of a frame, together. Drawn with a seed.
"""

from __future__ import annotations

import json
import random
import re
import sys
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from importlib import resources
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix  # type: ignore[import-untyped]
from sklearn.linear_model import LogisticRegression

sys.path.append(str(Path(__file__).parent.parent / "benchmarks"))
from data import rows
from judge_natural import POOLED, records

from toulmin.judges import framing
from toulmin.judges.lexical import Lexical
from toulmin.text.language import STOP_TERMS, search_terms, sentence_texts

TABLE = Path("toulmin/judges/frames.tsv")
FRAMES = Path(__file__).parent / "data" / "frames.txt"
INFERENCE = (
    "snli_dev mnli_dev negation_scone sufficient role_qasrl conj drop factcg fib entailmentbank scitail_dev".split()
)
# What a lesson counts for, by where it is from.
COUNTS = {"written": 6.0, "veridicality": 0.2, "natural": 2.0, "inference": 1.0, "made": 1.0, "cut": 1.0}
MOST_NATURAL, MOST_INFERENCE = 900, 200  # true claims of a set
FOLDS, SPARSE = 5, 0.3
LEAST = 0.25  # a smaller weight is left out
BARS = (0.4, 0.5, 0.6, 0.7)


class Lesson(NamedTuple):
    origin: str
    group: str
    claim: str
    texts: tuple[str, ...]
    is_framed: bool


def lessons(chance: random.Random) -> list[Lesson]:
    known = list(people(chance))
    kept = [each for each in known if each.origin in ("natural", "inference") and '"' not in each.claim]
    claims = [each.claim for each in kept if 4 <= len(each.claim.split()) <= 18 and not each.claim.endswith("?")]
    return known + list(made(claims, chance))


def people(chance: random.Random) -> Iterator[Lesson]:
    for line in Path("benchmarks/frames.jsonl").read_text("utf-8").splitlines():
        row = json.loads(line)
        if row["part"] == "learn" and row["kind"] != "bounds":  # numbers have rules of their own
            yield Lesson("written", row["id"][:-1], row["claim"], (row["passage"],), row["label"] != "supported")
    for row in rows("nli_veridicality", "train"):
        yield Lesson("veridicality", row["id"], row["claim"], _texts(row), not row["supported"])
    judge = Lexical()
    for name in sorted(POOLED):
        true = [record for record in records(name, ("train",)) if record.supported and not record.pair.question]
        chance.shuffle(true)
        found = (record for record in true if judge.judge([record.pair])[0].support >= 0.4)
        for record in islice(found, MOST_NATURAL):
            texts = tuple(passage.text for passage in record.pair.premises)
            yield Lesson("natural", name + record.page, record.pair.claim, texts, False)
            yield from islice(cuts(name + record.page, texts), 2)
    for name in INFERENCE:
        true_rows = [row for row in rows(f"nli_{name}", "train") if row["supported"]]
        chance.shuffle(true_rows)
        for row in true_rows[:MOST_INFERENCE]:
            yield Lesson("inference", row["id"], row["claim"], _texts(row), False)


def cuts(group: str, texts: tuple[str, ...]) -> Iterator[Lesson]:
    """Statements up to their first comma, which the sentence goes on from: true, in the very words of the source."""
    for text in texts:
        for sentence in sentence_texts(text):
            start, comma, _ = sentence.partition(", ")
            words = start.split()
            if comma and len(words) > 4 and words[0] not in DEPENDENT and split(words):
                yield Lesson("cut", group, _stopped(start), texts, False)


def _texts(row: dict[str, Any]) -> tuple[str, ...]:
    return tuple(item["text"] for item in row["evidence"])


# ---------------------------------------------------------------- claims put into frames

HAVE = {"was": "be", "were": "be", "is": "be", "are": "be", "has": "have", "had": "have", "have": "have"}
OPENS = frozenset("The A An In It There He She They This His Her Its At On By Some Many All After During".split())
DEPENDENT = frozenset(
    "If When Although Though While Because Since Unless Until After Before As Whether Had Were".split()
)
TRIES = 60


def made(claims: Sequence[str], chance: random.Random) -> Iterator[Lesson]:
    """A claim put into a frame: not stated; the same in another frame of the kind: stated."""
    lines = [line for line in FRAMES.read_text("utf-8").splitlines() if not line.startswith("#")]
    table = {kind: rest.split(" | ") for kind, rest in (line.split(": ", 1) for line in lines)}
    for kind, patterns in table.items():
        for pattern in patterns:
            drawn = (chance.choice(claims) for _ in range(TRIES))
            placed = ((claim, text) for claim in drawn if (text := place(pattern, claim, claims, chance)))
            for claim, text in islice(placed, 9 if kind == "fact" else 5):
                after = [_stopped(each) for each in chance.sample(claims, chance.choice((0, 1, 2)))]
                before = [_stopped(each) for each in chance.sample(claims, chance.choice((0, 0, 1)))]
                texts = (" ".join([*before, text, *after]),)
                yield Lesson("made", pattern, _stopped(claim), texts, kind != "fact")
                again = place(chance.choice(patterns), claim, claims, chance)
                if kind != "fact" and again:
                    yield Lesson("made", pattern, again, texts, False)


def place(pattern: str, claim: str, claims: Sequence[str], chance: random.Random) -> str | None:
    bare = claim.rstrip(". ")
    parts = split(bare.split())
    if "{X}" in pattern and parts is None:
        return None
    subject, rest = parts or ("", "")
    first = pattern.startswith(("{", '"'))
    text = pattern.replace("{X}", subject if first else _lower(subject)).replace("{be}", rest)
    text = text.replace("{S}", bare if first or '"{S}' in text else _lower(bare))
    text = text.replace("{R}", _lower(chance.choice(claims).rstrip(". ")))
    return _stopped(text[0].upper() + text[1:])


def split(words: Sequence[str]) -> tuple[str, str] | None:
    """The subject, and the predicate with its verb in the base form."""
    for at, word in enumerate(words[:6]):
        base = HAVE.get(word) or (_bases().get(word) if word.islower() else None)
        if base is None and word.islower() and re.fullmatch(r"[a-z]{3,}ed", word):
            base = word[:-1] if word[-3] in "vscuz" else re.sub(r"([^ls])\1$", r"\1", word[:-2])
        if at and base:
            return " ".join(words[:at]), " ".join([base, *words[at + 1 :]])
        if word.endswith(",") or word in ("that", "who", "which"):
            return None
    return None


@lru_cache(maxsize=1)
def _bases() -> dict[str, str]:
    table = resources.files("toulmin.text").joinpath("irregular.txt").read_text("utf-8")
    return {form: base for base, _, forms in (r.partition(": ") for r in table.splitlines()) for form in forms.split()}


def _lower(text: str) -> str:
    return text[:1].lower() + text[1:] if text.split(" ", 1)[0] in OPENS else text


def _stopped(text: str) -> str:
    return text if text.endswith((".", "?", "!")) else text + "."


# ---------------------------------------------------------------- the fit


def vocabulary(known: Sequence[Lesson]) -> set[str]:
    """The words that may weigh: of the frames, and function words."""
    texts = [*FRAMES.read_text("utf-8").splitlines()[1:], *(e.texts[0] for e in known if e.origin == "veridicality")]
    return {term for text in texts for term in search_terms(text)} | STOP_TERMS


def main() -> None:
    known = [each for each in lessons(random.Random(1)) if len(sentence_texts(each.claim)) == 1]
    words = vocabulary(known)
    table = [(n, values) for n, each in enumerate(known) for _, values in framing.measures(each.claim, each.texts)]
    counts = Counter(
        name for n, values in table if known[n].origin in ("written", "veridicality", "made") for name in values
    )
    names = sorted(
        name
        for name, count in counts.items()
        if count > 1 and (":" not in name or name.startswith("form:") or set(name.split(":", 1)[1].split()) <= words)
    )
    column = {name: at for at, name in enumerate(names)}
    places = [(row, column[name], x) for row, (_, v) in enumerate(table) for name, x in v.items() if name in column]
    row_at, column_at, values = (np.array(each) for each in zip(*places, strict=True))
    shape = (len(table), len(names))
    matrix = csr_matrix((values, (row_at.astype(np.int32), column_at.astype(np.int32))), shape)
    of = np.array([n for n, _ in table])
    sizes = Counter(of.tolist())
    truth = np.array([known[n].is_framed for n in of])
    weights = np.array([COUNTS[known[n].origin] / sizes[n] for n in of])
    folds = np.array([zlib.crc32(known[n].group.encode()) % FOLDS for n in of])
    model = LogisticRegression(l1_ratio=1.0, C=SPARSE, solver="liblinear", max_iter=300, random_state=0)
    chances = np.array([float(n in sizes) for n in range(len(known))])
    for fold in range(FOLDS):
        inside = folds == fold
        model.fit(matrix[~inside], truth[~inside], weights[~inside])
        np.minimum.at(chances, of[inside], model.predict_proba(matrix[inside])[:, 1])
    report(known, chances)
    model.fit(matrix, truth, weights)
    weighed = {name: weight for name, weight in zip(names, model.coef_[0], strict=True) if abs(weight) >= LEAST}
    head = "# weights of measures that a source does not state a claim; made by training/fit_framing.py\n"
    lines = [f"constant\t{model.intercept_[0]:.2f}\n", *(f"{name}\t{weight:.2f}\n" for name, weight in weighed.items())]
    TABLE.write_text(head + "".join(lines), "utf-8")
    print(f"{len(weighed)} weights of {len(names)} measures -> {TABLE}")


def report(known: Sequence[Lesson], chances: NDArray[np.float64]) -> None:
    parts = Counter((each.origin, each.is_framed) for each in known)
    for bar in BARS:
        found = Counter((each.origin, each.is_framed) for each, x in zip(known, chances, strict=True) if x >= bar)
        print(bar, ", ".join(f"{o} {'framed' if f else 'stated'} {found[o, f] / n:.3f}" for (o, f), n in parts.items()))


if __name__ == "__main__":
    main()
