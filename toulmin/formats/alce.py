"""ALCE's result file: the dataset's records with the passages read and the answer with its marks.

ALCE's tools read `{"args", "data", "total_cost"}`; `[n]` cites `docs[n - 1]`. A record in ALCE's form stays unchanged;
another goes under `record`, its gold beside it under ALCE's names and those of users' files. `style` is added if it
differs from the dataset's, `final` is that of `ScoringItem`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from toulmin import __version__
from toulmin.data import Answer, Passage
from toulmin.datasets.fields import ID_FIELDS
from toulmin.datasets.item import Gold, Item
from toulmin.formats.dialect import Piece, QuestionAnswer, Run, dumps
from toulmin.metrics.answered import answer_to_score

# The gold of a record as ALCE's tools read it; objects may have other fields too.
_GOLD: Mapping[str, Any] = {
    "qa_pairs": [{"question": str, "short_answers": [str]}],
    "answers": [[str]],
    "claims": [str],
    "annotations": [{"long_answer": str}],
    "answer": str,
}


def entry(item: Item, answer: Answer) -> dict[str, Any]:
    shown = answer_to_score(item, answer)
    known = _gold_fields(item.gold)
    if _is_alce(item, known):
        record = {**item.record, **({} if answer.style == item.style else {"style": answer.style})}
    else:
        record = {"question": item.question, **known, **_extra_fields(item, answer), "record": dict(item.record)}
    if not any(name in record for name in ID_FIELDS):
        record["id"] = item.id
    final = {} if shown.final is None else {"final": shown.final}
    return {**record, "docs": [_doc(passage) for passage in shown.docs], "output": shown.output, **final}


def result_file(answers: Iterable[QuestionAnswer], run: Run) -> Iterator[Piece]:
    """`total_cost` sums the known prices, null if there are none."""
    arguments = {"tool": "toulmin", "version": __version__, "run": run.id, **run.settings}
    yield Piece(b'{"args":' + dumps(arguments) + b',"data":[')
    prices, comma = [], b"\n"
    for item, answer in answers:
        yield Piece(comma + dumps(entry(item, answer)))
        comma = b",\n"
        prices += [] if answer.usage.usd is None else [answer.usage.usd]
    yield Piece(b'\n],"total_cost":' + dumps(sum(prices) if prices else None) + b"}\n")


def _doc(passage: Passage) -> dict[str, Any]:
    url = {"url": passage.source.url} if passage.source.url else {}
    return {"id": passage.source.record or passage.id, "title": passage.title, "text": passage.text, **url}


def _gold_fields(gold: Gold) -> dict[str, Any]:
    references = gold.references or ()
    # ALCE compares with two of them and fails with one.
    both = references if len(references) > 1 else references * 2
    fields = {
        "qa_pairs": gold.parts and [{"question": p.question, "short_answers": p.answers} for p in gold.parts],
        "answers": gold.answers if gold.parts is None else None,
        "claims": gold.claims,
        "annotations": [{"long_answer": reference} for reference in both] or None,
        "answer": gold.answer,
    }
    return {name: value for name, value in fields.items() if value is not None}


def _extra_fields(item: Item, answer: Answer) -> Mapping[str, Any]:
    gold = item.gold
    known = {
        "references": gold.references,
        "gold_passages": gold.passages,
        "answerable": gold.answerable,
        "style": answer.style,
        "type": item.kind,  # named `kind`, it would also say that there is an answer
    }
    return {name: value for name, value in known.items() if value is not None}


def _is_alce(item: Item, known: Mapping[str, Any]) -> bool:
    record = item.record
    gold = {name: record[name] for name in _GOLD if record.get(name) is not None}
    return (
        record.get("question") == item.question
        and known.keys() <= gold.keys()
        and all(_fits(gold[name], _GOLD[name]) for name in gold)
        and ("annotations" not in gold or len(gold["annotations"]) > 1)
    )


def _fits(value: Any, shape: Any) -> bool:
    if isinstance(shape, list):
        return isinstance(value, list) and all(_fits(item, shape[0]) for item in value)
    if isinstance(shape, dict):
        return isinstance(value, dict) and all(_fits(value.get(name), shape[name]) for name in shape)
    return isinstance(value, shape)
