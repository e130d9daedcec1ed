"""Fit when the embedded writer is silent, and when a few words replace a sentence, by a reader that ranks windows.

    python training/fit_silence.py --pool INDEX [--folder INDEX] [--reader embedded:FOLDER] [--most 300]

`ANSWERS` of `toulmin/extractive/calibration.py`: the train questions of `pool_questions`, short and of two steps, over
the index of `pool_corpus` that `toulmin index` makes, with the passages that hold the answer and without them; the
train questions of a real folder over its index (`benchmarks/folder.py` describes it); and `qa_clapnq`, one
passage each. `WHOLE`: `qa_clapnq` alone; its figures are cross-fitted ten times by question. `RIGHT`: whether the words
found in the best window are right, on the train questions of `qa_hotpotqa`, `qa_nq_gold` and the pool. Each set counts
the same, and in it questions with an answer as much as those without (those of two steps a third). The constant of
`ANSWERS` is then the one that tells the folder's train questions apart best: an even choice over all sets, of which the
pool has the passages that deceive most, would silence a sixth of the folder's answerable questions. Beside the fit
stand the dev parts of the pool and the folder.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

sys.path.append(str(Path(__file__).parent.parent / "benchmarks"))
import data
from headings import heading
from judge_sets import auc
from writer_sets import normalised, passage

import toulmin
from toulmin.build.parts import LateReader
from toulmin.config import Settings
from toulmin.data import Hit, Passage
from toulmin.extractive import calibration
from toulmin.extractive.calibration import answering_signs, right_signs
from toulmin.extractive.evidence import Survey
from toulmin.steps import Cut
from toulmin.text.overlap import normalise, token_f1

PARTS = 10
K = 30  # passages that the embedded writer reads
ROUNDS, RIDGE = 30, 1e-3  # of a logistic regression
MORE = 20  # passages to take the places of those that hold the answer

Floats = NDArray[np.float64]


class Case(NamedTuple):
    """A question over passages: the signs of the best window and of the only passage, of its words; the truth."""

    window: tuple[float, ...]
    whole: tuple[float, ...]
    words: tuple[float, ...]
    answers: bool
    is_right: bool


class SetQuestion(NamedTuple):
    question: str
    passages: tuple[Passage, ...]
    answers: tuple[str, ...]
    is_answerable: bool


def case(asked: SetQuestion, reader: LateReader) -> Case | None:
    """None where there is nothing to read."""
    windows = Survey(asked.question, asked.passages, reader).windows
    if not windows:
        return None
    likeliest = max(windows, key=lambda each: each.odds)
    first = asked.passages[0]
    cut = Cut(first, 0, len(first.text))
    ranked = reader.rank(asked.question, [cut, windows[0].window.cut])
    assert ranked is not None  # as there are windows
    whole, lead = ranked
    span = lead.span
    return Case(
        answering_signs(asked.question, likeliest.window.cut, likeliest.odds),
        answering_signs(asked.question, cut, whole.odds),
        right_signs(asked.question, span, lead.odds) if span else (),
        asked.is_answerable,
        span is not None and _is_right(span.quote.text, asked.answers),
    )


def _is_right(text: str, answers: Sequence[str]) -> bool:
    return any(normalise(text) == normalise(each) or token_f1(text, normalise(each)) >= 0.5 for each in answers)


# ---------------------------------------------------------------- the sets


def clapnq() -> Iterator[SetQuestion]:
    for row in data.rows("qa_clapnq", "dev"):
        yield SetQuestion(row["question"], tuple(map(passage, row["passages"])), (), row["answerable"])


def hotpot(most: int) -> Iterator[SetQuestion]:
    """Beside each question the same without the paragraphs that hold its answer."""
    for row in list(data.rows("qa_hotpotqa", "train"))[:most]:
        paragraphs = tuple(map(passage, row["paragraphs"]))
        yield SetQuestion(row["question"], paragraphs, (row["answer"],), True)
        yield SetQuestion(row["question"], _without(paragraphs, [row["answer"]]), (), False)


def natural(most: int) -> Iterator[SetQuestion]:
    for row in _draw(list(data.rows("qa_nq_gold", "train")), most):
        yield SetQuestion(row["question"], (Passage.of(row["passage"], row["title"]),), tuple(row["answers"]), True)


def pool(index: str, split: str, kind: str, most: int) -> Iterator[SetQuestion]:
    """With the passages that hold an answer, and of the train part without them."""
    for row in _draw([row for row in data.rows("pool_questions", split) if row["kind"] == kind], most):
        passages = [hit.passage for hit in _search(row["question"], index, K + MORE)]
        answers = tuple(alias for aliases in row.get("answers") or () for alias in aliases)
        yield SetQuestion(row["question"], tuple(passages[:K]), answers, kind != "unanswerable")
        if split == "train":
            yield SetQuestion(row["question"], _without(passages, answers)[:K], (), False)


def _without(passages: Sequence[Passage], answers: Sequence[str]) -> tuple[Passage, ...]:
    plain = [f" {normalised(answer)} " for answer in answers]
    texts = [f" {normalised(f'{each.title} {each.text}')} " for each in passages]
    return tuple(p for p, text in zip(passages, texts, strict=True) if not any(answer in text for answer in plain))


def folder(index: str, split: str) -> Iterator[SetQuestion]:
    with gzip.open(data.path("folder_questions"), "rt", encoding="utf-8") as lines:
        rows = [row for row in map(json.loads, lines) if row["split"] == split]
    for row in rows:
        passages = tuple(hit.passage for hit in _search(row["question"], index, K))
        yield SetQuestion(row["question"], passages, (), bool(row["answers"]))


def _search(question: str, index: str, k: int) -> Sequence[Hit]:
    return toulmin.search(question, index=index, k=k)


def _draw(rows: list[dict[str, Any]], most: int) -> list[dict[str, Any]]:
    return random.Random(5).sample(rows, min(most, len(rows)))


# ---------------------------------------------------------------- the fits


class Part(NamedTuple):
    """Rows of signs, their truth, and how much each row counts."""

    signs: Floats
    truth: Floats
    counts: Floats


def even_part(cases: Sequence[Case], signs: Callable[[Case], tuple[float, ...]], unanswerable: float = 1.0) -> Part:
    truth = np.array([case.answers for case in cases])
    counts = np.where(truth, 1 / truth.sum(), unanswerable / max(1, (~truth).sum()))
    return Part(np.array([signs(case) for case in cases], float), truth.astype(float), counts)


def logistic(features: Floats, right: Floats, counts: Floats) -> Floats:
    """The coefficients of least loss, by Newton's method."""
    coefficients = np.zeros(features.shape[1])
    for _ in range(ROUNDS):
        chance = 1 / (1 + np.exp(-features @ coefficients))
        gradient = features.T @ (counts * (chance - right)) + RIDGE * coefficients
        bend = (features.T * (counts * chance * (1 - chance))) @ features + RIDGE * np.eye(len(coefficients))
        coefficients = coefficients - np.linalg.solve(bend, gradient)
    return coefficients


def fit(parts: Sequence[Part]) -> Floats:
    return logistic(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def cross_fit(part: Part, seed: int) -> Floats:
    """The log odds of each tenth by what the others fitted."""
    tenths = np.random.default_rng(seed).permutation(len(part.truth)) % PARTS
    odds = np.zeros(len(part.truth))
    for tenth in range(PARTS):
        rest = tenths != tenth
        odds[~rest] = part.signs[~rest] @ logistic(*(column[rest] for column in part))
    return odds


def row(name: str, odds: Floats, truth: Floats) -> None:
    """A line of the table."""
    answered, able = odds >= 0, truth > 0
    both = able.any() and (~able).any()
    shares = [answered[able].mean() if able.any() else np.nan, (~answered[~able]).mean() if (~able).any() else np.nan]
    mean, area = (np.mean(shares), auc(odds, able)) if both else (np.nan, np.nan)
    print(f"{name:34}{len(truth):6}{shares[0]:10.3f}{shares[1]:8.3f}{mean:10.3f}{area:8.3f}")


def cases(sets: Mapping[str, Iterator[SetQuestion]], reader: LateReader) -> dict[str, list[Case]]:
    """The cases of each set; those already read are kept beside the script for a second look."""
    known = {}
    for name, asked in sets.items():
        known[name] = [each for each in (case(question, reader) for question in asked) if each is not None]
        print(f"{name}: {len(known[name])} read", file=sys.stderr, flush=True)
    return known


def report(known: dict[str, list[Case]]) -> None:
    two_step = "pool train, two steps"
    fitted = [name for name in known if name == "qa_clapnq" or name.startswith(("pool train", "folder train"))]
    answers = fit([even_part(known[n], lambda c: c.window, 0.3 if n == two_step else 1.0) for n in fitted])
    if "folder train" in known:
        answers[0] = _constant(answers, even_part(known["folder train"], lambda c: c.window))
    clap = even_part(known["qa_clapnq"], lambda c: c.whole)
    by_words = [name for name in ("qa_hotpotqa train", "qa_nq_gold train", "pool train, short") if name in known]
    right = [_words(known[name]) for name in by_words]
    print("fitted: ANSWERS", answers.round(2), "WHOLE", fit([clap]).round(2), "RIGHT", fit(right).round(2))
    print(f"\n{'':34}{'n':>6}{'answered':>10}{'silent':>8}{'balanced':>10}{'AUC':>8}")
    row("qa_clapnq, whole, cross-fitted", np.mean([cross_fit(clap, seed) for seed in range(PARTS)], axis=0), clap.truth)
    for name, listed in known.items():
        if "hotpot" not in name and "nq_gold" not in name:
            part = even_part(listed, lambda c: c.window)
            row(name, part.signs @ np.array(calibration.ANSWERS), part.truth)
    print(f"\n{'words of the best window':34}{'n':>6}{'given':>10}{'right':>8}{'':10}{'AUC':>8}")
    for name, part in zip(by_words, right, strict=True):
        odds = part.signs @ np.array(calibration.RIGHT)
        given, area = odds >= 0, auc(odds, part.truth > 0)
        print(f"{name:34}{len(odds):6}{given.mean():10.3f}{part.truth[given].mean():8.3f}{'':10}{area:8.3f}")


def _constant(weights: Floats, part: Part) -> float:
    """The constant that tells most questions apart, by the mean of both kinds; the most silent of several."""
    odds, able = part.signs @ weights - weights[0], part.truth > 0
    tried = np.arange(-4.0, 0.0, 0.05)
    shares = np.array([((odds[able] + each >= 0).mean() + (odds[~able] + each < 0).mean()) / 2 for each in tried])
    return float(tried[shares >= shares.max() - 1e-9].min())


def _words(listed: Sequence[Case]) -> Part:
    of_words = [each for each in listed if each.words]
    truth = np.array([float(each.is_right) for each in of_words])
    return Part(np.array([each.words for each in of_words]), truth, np.full(len(truth), 1 / len(truth)))


def main() -> None:
    """Reads, fits, and prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pool", required=True, help="an index of pool_corpus")
    parser.add_argument("--folder", help="an index of the real folder")
    parser.add_argument("--reader", default="embedded", help="as `toulmin --set reader=` names it")
    parser.add_argument("--most", type=int, default=160, help="questions of a set")
    parser.add_argument("--cases", type=Path, help="a file to keep what was read in, or to fit again from")
    chosen = parser.parse_args()
    print(heading("fit_silence.py", f"Shipped: {calibration.ANSWERS}, {calibration.WHOLE}.", "training"))
    if chosen.cases and chosen.cases.exists():
        known = {
            name: [Case(*each) for each in listed] for name, listed in json.loads(chosen.cases.read_text()).items()
        }
    else:
        known = _read(chosen)
        if chosen.cases:
            chosen.cases.write_text(json.dumps(known))
    report(known)
    print("```")


def _read(chosen: argparse.Namespace) -> dict[str, list[Case]]:
    reader, most = LateReader(Settings(reader=chosen.reader)), chosen.most
    sets = {"qa_clapnq": clapnq(), "qa_hotpotqa train": hotpot(most), "qa_nq_gold train": natural(most)}
    known = cases(sets, reader)
    of_pool = {
        "pool train, short": pool(chosen.pool, "train", "short", most),
        "pool train, two steps": pool(chosen.pool, "train", "multihop", most),
        "pool dev, short": pool(chosen.pool, "dev", "short", most),
        "pool dev, two steps": pool(chosen.pool, "dev", "multihop", most),
        "pool dev, unanswerable": pool(chosen.pool, "dev", "unanswerable", most),
    }
    known |= cases(of_pool, reader)
    known["pool dev, short or unanswerable"] = known["pool dev, short"] + known["pool dev, unanswerable"]
    if chosen.folder:
        known |= cases({f"folder {split}": folder(chosen.folder, split) for split in ("train", "dev")}, reader)
    return known


if __name__ == "__main__":
    main()
