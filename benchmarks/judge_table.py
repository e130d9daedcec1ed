"""One table for any judges: people's claims, inference, contrast triples, manuals, hard claims, probes, and the judge.

    python benchmarks/judge_table.py                                      the lexical judge and the embedded one
    python benchmarks/judge_table.py --judge embedded:OLD embedded:NEW    others, as `toulmin --judge` names them
    python benchmarks/judge_table.py --parts triples inference --limit 100 --cache FOLDER       a quick look
    python benchmarks/judge_table.py --parts attribution --scores cross.jsonl --level 0.56      a column by its scores
    python benchmarks/judge_table.py --parts attribution --scores FILE --splits train dev       cross-fitted on all
    python benchmarks/judge_table.py --parts manuals --folder docs        claims over a folder, as `check` judges them

A judge is asked for its own label; `supported` is one of five. Intervals of 95 % draw pages, or texts where no page is
known. `gain` is the last column's above the first's, on the same draws. Sets are dev splits, 600 records of an
inference set unless --whole. An installed judge may have learnt from a set ("learnt from"); only --scores, JSON lines
of "id", "score" and perhaps "label" by models that never saw the record's page, are held apart on `attr_*` sets. Where
there are such scores, claims of over 50 words are those of train and dev.

--cache keeps what networks say. The embedded judge's network is kept without the rules behind it, which are applied
anew in each run; other judges' verdicts are kept whole. --bare SPEC is a judge of ours without the looks of
`objections.py`.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import pickle
import re
import sqlite3
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import reduce
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import by_page as by
import numpy as np
from by_page import RESAMPLES, Row, Verdicts
from hard_claims import FALSE, TRUE, check_each, label_of
from headings import heading
from judge_claims import LONG, decisive, inference_records, longer, spread, triples
from judge_natural import POOLED, SPLITS, Record, records
from judge_sets import NATURAL, SETS
from judge_speed import BATCH, pairs, rate, verdicts
from probes_made import KINDS, WANTED, WORDINGS, handwritten, held_out_pages, make_probes

from toulmin.build import parts
from toulmin.config import Settings
from toulmin.demo import FOLDER
from toulmin.driver.kit import Judge
from toulmin.judges.embedded import BARS, EmbeddedJudge, read_bars
from toulmin.judges.embedded import LOOKS as READ_LOOKS
from toulmin.judges.lexical import COEFFICIENTS, Lexical
from toulmin.judges.objections import LOOKS
from toulmin.judges.trained import KIND, JudgeNetwork, Model, NetworkVerdict
from toulmin.judges.verdict_cache import CachedJudge
from toulmin.runtime.shipped import part as shipped_part
from toulmin.steps import Pair

INFERENCE: dict[str, float | None] = {
    "nli_role_qasrl": 0.75,
    "nli_negation_scone": 0.85,
    "nli_sufficient": 0.68,
    "nli_mnli_dev": 0.76,
    "nli_breaking": 0.85,
    "nli_snli_dev": None,
    "nli_conj": None,
    "nli_drop": None,
    "nli_factcg": None,
    "nli_fib": None,
    "nli_bump": None,
    "nli_entailmentbank": None,
    "nli_folio": None,
}
PARAPHRASES = ("nli_paraphrase_parabank2", "nli_paraphrase_stsb")
MOST = 600  # records of an inference set
LONG_SETS = ("attributionbench_dev", "wice_dev")
DECEIVING = ("fm2_dev", "fever_symmetric_dev", "fever_paperdev")
LABELS = ("supported", "likely", "unsure", "unsupported", "contradicted", "unjudged")
CLAIMS = Path(__file__).parent
STEP = 256  # pairs between two lines of progress


# ---------------------------------------------------------------- judges, and what they say


class CachedModel:
    """The network of the embedded judge with all that it says in a file, so that rules behind it can change."""

    def __init__(self, model: Model, path: Path) -> None:
        self.name, self.key, self._model = model.name, model.key, model
        self._file = sqlite3.connect(path, check_same_thread=False, timeout=60)
        self._file.execute("CREATE TABLE IF NOT EXISTS judged (key TEXT PRIMARY KEY, judged BLOB)")

    def shares(self, pairs: Sequence[Pair]) -> list[NetworkVerdict]:
        keys = [self._key(pair) for pair in pairs]
        missing = {key: pair for key, pair in zip(keys, pairs, strict=True) if not self._has(key)}
        new = self._model.shares(list(missing.values()))
        with self._file:
            lines = [(key, pickle.dumps(judged)) for key, judged in zip(missing, new, strict=True)]
            self._file.executemany("INSERT OR REPLACE INTO judged VALUES (?, ?)", lines)
        return [self._read(key) for key in keys]

    def _key(self, pair: Pair) -> str:
        premises = [(passage.title, passage.text) for passage in pair.premises]
        return hashlib.sha256(json.dumps([self.key, premises, pair.claim, pair.question]).encode()).hexdigest()

    def _has(self, key: str) -> bool:
        return self._file.execute("SELECT 1 FROM judged WHERE key = ?", (key,)).fetchone() is not None

    def _read(self, key: str) -> NetworkVerdict:
        (line,) = self._file.execute("SELECT judged FROM judged WHERE key = ?", (key,)).fetchone()
        judged: NetworkVerdict = pickle.loads(line)
        return judged


def open_judge(spec: str, cache: Path | None = None, is_bare: bool = False) -> Judge:
    """The judge that is named; a bare one of ours has no objections."""
    kind, _, folder = spec.partition(":")
    if kind == "lexical":
        return Lexical(looks=() if is_bare else LOOKS)
    if kind == "embedded":
        trained = JudgeNetwork(folder or None)
        model = CachedModel(trained, cache / "network.sqlite") if cache else trained
        return EmbeddedJudge(model, read_bars(trained.part.file(BARS)), () if is_bare else READ_LOOKS)
    judge = parts.judge(spec, Settings())
    return CachedJudge(judge, cache / "verdicts.sqlite") if cache else judge


class Column(Protocol):
    """Whatever says something of records."""

    name: str

    def judge(self, name: str, cases: Sequence[Record]) -> Verdicts: ...


class JudgeColumn:
    """A judge that is here."""

    def __init__(self, spec: str, cache: Path | None = None, is_bare: bool = False) -> None:
        self.spec, self.bare = spec, is_bare
        self.asked = open_judge(spec, cache, is_bare)
        self.name = f"{self.asked.name} bare" if is_bare else self.asked.name

    def judge(self, name: str, cases: Sequence[Record]) -> Verdicts:
        answers = []
        for start in range(0, len(cases), STEP):
            print(f"{self.name}: {name}, {start} of {len(cases)}", file=sys.stderr, flush=True)
            answers += verdicts(self.asked, [record.pair for record in cases[start : start + STEP]])
        return columns(cases, [each.label for each in answers], [each.support for each in answers])


class Scores:
    """Scores in a file; a record is what its line's label says, without one supported from `level` on."""

    def __init__(self, file: Path, level: float) -> None:
        self.name, self._level = file.stem, level
        self.lines = {line["id"]: line for line in self._read(file)}

    @staticmethod
    def _read(file: Path) -> Iterator[dict[str, Any]]:
        for number, text in enumerate(file.read_text("utf-8").splitlines(), start=1):
            try:
                line = json.loads(text)
                yield {**line, "id": line["id"], "score": float(line["score"])}
            except (ValueError, KeyError, TypeError) as error:
                raise SystemExit(
                    f'{file}, line {number}: wanted {{"id": ..., "score": a number}}, got {text}'
                ) from error

    def judge(self, name: str, cases: Sequence[Record]) -> Verdicts:
        lines = [self.lines[record.id] for record in cases]
        by_score = ["supported" if each["score"] >= self._level else "unsupported" for each in lines]
        labels = [each.get("label", label) for each, label in zip(lines, by_score, strict=True)]
        return columns(cases, labels, [each["score"] for each in lines])


def columns(cases: Sequence[Record], labels: Sequence[str], support: Sequence[float]) -> Verdicts:
    truth = np.array([record.supported for record in cases], bool)
    return Verdicts([record.page for record in cases], truth, labels, np.array(support, float))


# ---------------------------------------------------------------- the parts


class Options(NamedTuple):
    """What a part may be told."""

    limit: int | None = None
    whole: bool = False
    files: Sequence[Scores] = ()
    folder: Path | None = None
    claims: Sequence[Path] = ()
    splits: Sequence[str] = ("dev",)


def triples_part(column: Column, options: Options) -> Iterator[Row]:
    """How many claims are called supported as they are, denied and with another name, and how well these are told."""
    chosen = spread(triples(), options.limit)
    true = column.judge("triples, as it is", [triple.record for triple in chosen])
    yield by.share_of("triples: called supported", "as it is", true, true.accepted)
    for name, target in (("denied", None), ("renamed", 0.75)):
        claims = [getattr(triple, name) for triple in chosen]
        changed = [t.record.with_claim(claim) for t, claim in zip(chosen, claims, strict=True) if claim is not None]
        untrue = column.judge(f"triples, {name}", changed)
        yield by.share_of("triples: called supported", name, untrue, untrue.accepted)
        twins = true.some([claim is not None for claim in claims])
        yield from by.both("triples", name, twins.beside(untrue), target)
        alone = [record.dataset == "factscore" for record in changed]  # which no judge of ours has learnt from
        yield from by.both("triples", f"{name}, FActScore alone", twins.some(alone).beside(untrue.some(alone)))


def inference_part(column: Column, options: Options) -> Iterator[Row]:
    """The dev splits of pairs of inference."""
    most = options.limit or (None if options.whole else MOST)
    for name, target in INFERENCE.items():
        yield from by.both("inference", name, column.judge(name, inference_records(name, most)), target)
    for name in PARAPHRASES:
        true = [record for record in inference_records(name, None) if record.supported]
        seen = column.judge(name, spread(true, most))
        yield by.share_of("inference: paraphrases called supported", name, seen, seen.accepted)


def attribution_part(column: Column, options: Options) -> Iterator[Row]:
    """What people judged, set by set, and the means of the natural sets."""
    judged = ((name, column.judge(name, select(name, options.splits, options))) for name in SETS)
    seen = {name: columns for name, columns in judged if columns.is_mixed}
    by_set = {name: by.both("attribution", name, columns) for name, columns in seen.items()}
    yield from chain(*by_set.values())
    for of_sets in zip(*(by_set[name] for name in seen if name in NATURAL), strict=True):
        yield by.mean_of(of_sets[0].section, "mean of the natural sets", of_sets)
    equal = [seen[name] for name in seen if name in NATURAL - {"factscore"}]
    right = "attribution: supported, mean of the natural sets without FActScore"
    yield by.mean_of(right, "precision", [by.precision(each) for each in equal])
    yield by.mean_of(right, "recall", [by.recall(each) for each in equal])
    yield from pooled_rows(seen)
    yield from contradicted_rows({name: seen[name] for name in DECEIVING if name in seen})
    yield from long_rows(column, options)


def pooled_rows(seen: dict[str, Verdicts]) -> Iterator[Row]:
    """All records of the natural sets and FEVER at once, and how far the support is a probability on natural ones."""
    for names, section in ((POOLED, "attribution: AUC of its support"), (NATURAL, "attribution: calibration error")):
        first, *others = (columns for name, columns in seen.items() if name in names)
        every = reduce(Verdicts.beside, others, first)
        if names is POOLED:
            yield by.area(section, "pooled", every)
        else:
            yield Row(section, "natural sets", every.pages, by.calibration_error(every.support, every.truth), 0.05)


def contradicted_rows(seen: dict[str, Verdicts]) -> Iterator[Row]:
    """How often true and refuted claims are called contradicted; these sets hold no others."""
    for name, judged in seen.items():
        for kind, truth in (("true", judged.truth), ("refuted", ~judged.truth)):
            some = judged.some(truth)
            yield by.share_of(f"attribution: {kind} claims called contradicted", name, some, some.says("contradicted"))


def select(name: str, splits: Sequence[str], options: Options) -> list[Record]:
    """The records of a set that every file has a score of."""
    known = (r for r in records(name, splits) if all(r.id in file.lines for file in options.files))
    return spread(list(known), options.limit)


def long_rows(column: Column, options: Options) -> Iterator[Row]:
    """AUC over long claims; those that are made have no score in a file."""
    section = f"attribution: claims of over {LONG} words, AUC"
    sets = [select(name, ["train", "dev"] if options.files else ["dev"], options) for name in LONG_SETS]
    long = column.judge("long claims", [record for record in chain(*sets) if len(record.pair.claim.split()) > LONG])
    if long.is_mixed:
        yield by.area(section, "AttributionBench and WiCE", long)
    if isinstance(column, JudgeColumn):
        cases = [record for name in (*LONG_SETS, "factscore") for record in records(name, ["dev"])]
        made = column.judge("claims of several sentences", spread(list(longer(cases)), options.limit))
        yield by.area(section, "made of several sentences", made)


def manuals_part(column: Column, options: Options) -> Iterator[Row]:
    """Claims over a folder: as `check` judges them, and held against the passage with the sentence that decides."""
    claims = [json.loads(line) for file in options.claims for line in file.read_text("utf-8").splitlines() if line]
    chosen = spread(claims, options.limit)
    if options.folder is None or not chosen or not isinstance(column, JudgeColumn):
        return
    cases = [
        Record(row["id"], row["kind"], row["file"], Pair(decisive(options.folder, row), row["claim"]), row["true"])
        for row in chosen
    ]
    searched = check_all("manuals", column, cases, options.folder)
    yield by.accuracy("manuals: balanced accuracy through check", "all", searched, 0.75)
    yield from by_label("manuals", searched)
    for truth, kind in sorted({(record.supported, record.dataset) for record in cases}):
        some = searched.some([(record.supported, record.dataset) == (truth, kind) for record in cases])
        yield by.share_of(f"manuals: {'true' if truth else 'false'} claims called supported", kind, some, some.accepted)
    decided = [record for record in cases if record.pair.premises]
    yield from by.both("manuals, the deciding passage given", "all", column.judge("manuals, passages", decided))


def check_all(name: str, column: JudgeColumn, cases: Sequence[Record], docs: Path) -> Verdicts:
    """What `check` says of claims that cite nothing."""
    print(f"{column.name}: {name}, {len(cases)} claims through check", file=sys.stderr, flush=True)
    labels = [label_of(answer) for answer in check_each([record.pair.claim for record in cases], docs, column.asked)]
    return columns(cases, labels, [0.0] * len(cases))


def by_label(section: str, seen: Verdicts) -> Iterator[Row]:
    """How often each label is said of true claims and of false ones."""
    for kind, truth in (("true", seen.truth), ("false", ~seen.truth)):
        some = seen.some(truth)
        yield from (by.share_of(f"{section}: {kind} claims called", label, some, some.says(label)) for label in LABELS)


def hard_part(column: Column, options: Options) -> Iterator[Row]:
    """The hard claims over the demo's documents; what they are is in `hard_claims.py`."""
    if not isinstance(column, JudgeColumn):
        return
    texts = [(claim, claim in TRUE) for claim in spread([*FALSE, *TRUE], options.limit)]
    cases = [Record(claim, "hard", claim, Pair((), claim), is_true) for claim, is_true in texts]
    yield from by_label("hard claims", check_all("hard claims", column, cases, FOLDER))


def probes_part(column: Column, options: Options) -> Iterator[Row]:
    """The probes of `probes_made.py`, by kind and by wording."""
    pages = held_out_pages()
    probes = spread([*make_probes(pages), *handwritten(pages)], options.limit)
    cases = [Record(str(n), p.kind, p.page.title, p.pair, p.supported) for n, p in enumerate(probes)]
    seen = column.judge("probes", cases)
    for kind in KINDS:
        yield from probe_rows(kind, seen.some([probe.kind == kind for probe in probes]), WANTED[kind])
    for wording in WORDINGS:
        yield from probe_rows(wording, seen.some([probe.wording == wording for probe in probes]))
    yield from probe_rows("all", seen)


def probe_rows(name: str, seen: Verdicts, target: float | None = None) -> Iterator[Row]:
    if seen.is_mixed:
        yield by.accuracy("probes: balanced accuracy", name, seen, target)
        true = seen.some(seen.truth)
        yield by.share_of("probes: true claims called supported", name, true, true.accepted)


PARTS: dict[str, Callable[[Column, Options], Iterator[Row]]] = {
    "triples": triples_part,
    "inference": inference_part,
    "manuals": manuals_part,
    "hard": hard_part,
    "attribution": attribution_part,
    "probes": probes_part,
}
ABOUT = "judge"  # the part that is not of rows


# ---------------------------------------------------------------- the judge itself

# Licence and teaching of judges known by name, as their publishers state them.
FAMILIES = {
    "lexical": ("Apache-2.0", "weights of seven measures: train splits of the attr_* sets"),
    "minicheck": ("MIT (Bespoke-MiniCheck-7B: CC BY-NC 4.0)", "14,000 pairs made with GPT models; ANLI"),
    "factcg": ("MIT", "MiniCheck's pairs; claims over several sentences made with GPT models"),
}


def about(column: JudgeColumn, options: Options) -> dict[str, str]:
    """What the judge is, costs and learnt from."""
    print(f"{column.name}: speed", file=sys.stderr, flush=True)
    some = pairs()[: options.limit and BATCH + options.limit]
    folder = folder_of(column.spec)
    files = [file for file in folder.rglob("*") if file.is_file()] if folder else []
    licence, learnt = card(folder) or FAMILIES.get(column.spec.split(":")[0], ("its publisher's", "not stated"))
    return {
        "parameters": parameters(open_judge(column.spec), folder),
        "megabytes": f"{sum(file.stat().st_size for file in files) / 1e6:.1f}",
        "pairs a second on one core": f"{rate(open_judge(column.spec, is_bare=column.bare), some):.0f}",
        "licence": licence,
        "learnt from": learnt,
    }


def folder_of(spec: str) -> Path | None:
    """Where the judge's weights lie on this machine, as far as its name says."""
    kind, _, argument = spec.partition(":")
    if kind == "embedded":
        return Path(argument) if argument else shipped_part(KIND).folder
    return Path(argument) if argument and Path(argument).is_dir() else None


def parameters(judge: Judge, folder: Path | None) -> str:
    """How many numbers were learnt, where it can be counted."""
    if isinstance(judge, Lexical):
        return str(len(COEFFICIENTS))
    if isinstance(judge, EmbeddedJudge) and folder and find_spec("onnx"):
        import onnx

        weights = onnx.load(str(folder / "model.onnx")).graph.initializer
        return f"{sum(int(np.prod(each.dims)) for each in weights):,}"
    models = [part for part in getattr(judge, "__dict__", {}).values() if hasattr(part, "num_parameters")]
    return f"{models[0].num_parameters():,}" if models else "not counted"


def card(folder: Path | None) -> tuple[str, str] | None:
    """Licence and sources of weights of ours, out of the card beside them."""
    file = folder and folder.parent / "card.md"
    if not file or not file.exists():
        return None
    text = file.read_text("utf-8")
    licence = re.search(r"Licence: ([\w.-]*\w)", text)
    table = text.partition("learnt from\n")[2].partition("\n## ")[0]
    sources = [name for name in re.findall(r"^\| ([^|]+?) \|", table, re.MULTILINE)[1:] if "reader only" not in name]
    return (licence[1], "; ".join(sources)) if licence else None


# ---------------------------------------------------------------- the table


def report(by_column: Sequence[Sequence[Row]], resamples: int) -> None:
    """A line for each figure, with those of all columns beside each other."""
    lines: dict[tuple[str, str], list[Row | None]] = {}
    for n, some in enumerate(by_column):
        for row in some:
            lines.setdefault((row.section, row.name), [None] * len(by_column))[n] = row
    for section in dict.fromkeys(section for section, _ in lines):
        print(f"\n{section}")
        for (of, name), cells in lines.items():
            if of == section:
                print(line(name, cells, resamples), flush=True)


def line(name: str, cells: Sequence[Row | None], resamples: int) -> str:
    first = next(row for row in cells if row is not None)
    figures = [
        " " * 24 if row is None else by.text_of(by.with_interval(row.pages, row.measure, resamples)) for row in cells
    ]
    target = f"{first.target:8.2f}" if first.target is not None else " " * 8
    return f"{name:30}{len(first.pages):6}{target}{''.join(figures)}{_gain(cells, resamples)}".rstrip()


def _gain(cells: Sequence[Row | None], resamples: int) -> str:
    old, new = cells[0], cells[-1]
    if old is None or new is None or old is new or list(old.pages) != list(new.pages):
        return ""
    return by.text_of(by.with_interval(new.pages, by.gain(new.measure, old.measure), resamples), signed=True).rjust(26)


def report_judges(judges: Sequence[JudgeColumn], options: Options) -> None:
    print("\nthe judge itself")
    cards = [about(judge, options) for judge in judges]
    for name in cards[0]:
        for judge, card in zip(judges, cards, strict=True):
            print(f"{name:30}{judge.name}: {card[name]}", flush=True)


def main(words: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--judge", nargs="*", default=["lexical", "embedded"], metavar="SPEC")
    parser.add_argument(
        "--bare", nargs="*", default=[], metavar="SPEC", help="judges without objections; they come first"
    )
    parser.add_argument("--scores", nargs="+", type=Path, default=[], metavar="FILE")
    parser.add_argument(
        "--level", type=float, default=0.5, help="the score from which a line without a label is supported"
    )
    parser.add_argument("--parts", nargs="+", choices=[*PARTS, ABOUT], default=[*PARTS, ABOUT])
    parser.add_argument("--splits", nargs="+", choices=SPLITS, default=["dev"], help="of the sets that people judged")
    parser.add_argument("--limit", type=int, help="records of a set")
    parser.add_argument("--whole", action="store_true", help=f"not only {MOST} records of an inference set")
    parser.add_argument("--cache", type=Path, metavar="FOLDER")
    parser.add_argument("--folder", type=Path, help="the documents of the claims over manuals")
    parser.add_argument("--claims", nargs="+", type=Path, default=sorted(CLAIMS.glob("folder_claims*.jsonl")))
    parser.add_argument("--resamples", type=int, default=RESAMPLES)
    asked = parser.parse_args(words)
    if asked.cache is not None:
        asked.cache.mkdir(parents=True, exist_ok=True)
    files = [Scores(file, asked.level) for file in asked.scores]
    options = Options(asked.limit, asked.whole, files, asked.folder, asked.claims, asked.splits)
    judges = [JudgeColumn(spec, asked.cache, True) for spec in asked.bare] + [
        JudgeColumn(spec, asked.cache) for spec in asked.judge
    ]
    print(heading("judge_table.py", f"{asked.resamples} draws."))
    names: list[Column] = [*judges, *files]
    print(f"{'':44}" + "".join(f"{column.name:>24}" for column in names) + (f"{'gain':>26}" if names[1:] else ""))
    for name in asked.parts:
        if name == ABOUT:
            report_judges(judges, options)
            continue
        some = names if name == "attribution" else judges
        report([list(PARTS[name](column, options)) for column in some], asked.resamples)
    print("```")


if __name__ == "__main__":
    main()
