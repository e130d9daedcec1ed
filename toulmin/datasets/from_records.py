"""Turns a record into an item, by the field names of known datasets.

The first record of a file decides the form of all. Passages keep their order, also duplicates and empty ones, because
ALCE's `[n]` cites the n-th. A field that looks misspelt is an error.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from difflib import get_close_matches
from functools import lru_cache
from itertools import pairwise
from typing import Any

from toulmin.data import Passage, Source
from toulmin.datasets.fields import Record, begins_with, id_of
from toulmin.datasets.gold import gold_of, style_of
from toulmin.datasets.item import Item
from toulmin.documents.plain import repair_text

# ---------------------------------------------------------------- passages that come with a question


# The first field that a record has is read. These hold lists of {title, text | sent | paragraph_text | sentences, id?,
# url?}. `context` holds [title, sentences] pairs (HotpotQA, 2WikiMultihopQA), the same as {"title": [...],
# "sentences": [...]}, or words (SQuAD); `passage` holds words, with the record's `title` and `url`.
_LISTS = ("docs", "passages", "paragraphs", "contexts")
# Fields with passages, or with pages and prompts made of them: too large for `Item.record`.
PASSAGE_FIELDS = frozenset(
    "docs passages paragraphs contexts context passage chunked_passage prompt doc_history output final".split()
)


def passages_of(record: Record) -> tuple[Passage, ...] | None:
    for name in _LISTS:
        if record.get(name) is not None:
            objects = record.objects(name, record.get(name))
            return tuple(_passage_of_entry(record, field, entry) for field, entry in objects)
    context = record.get("context")
    if isinstance(context, list | dict):
        return tuple(_paragraph(record, f"context[{i}]", pair) for i, pair in enumerate(_pairs(record, context)))
    for name in ("context", "passage"):
        text = record.optional(name, record.words)
        if text is not None:
            return (_passage(record, text, _text_or_none(record.get("title")), None, _text_or_none(record.get("url"))),)
    return None


def are_ranked(record: Record) -> bool:
    """Whether `docs` are best first: in ALCE's JSON lists, or by scores that never rise."""
    scores = [doc.get("score") for doc in record.get("docs") or ()]
    are_numbers = all(isinstance(score, int | float) for score in scores)
    return bool(scores) and (record.is_listed or (are_numbers and all(a >= b for a, b in pairwise(scores))))


def _passage_of_entry(record: Record, field: str, entry: Mapping[str, Any]) -> Passage:
    title = entry.get("title")
    record_id = entry.get("id", entry.get("_id"))
    name = None if record_id is None or record_id == "" else record.name(f"{field}.id", record_id)
    title = "" if title is None else record.text(f"{field}.title", title)
    return _passage(record, _text(record, field, entry), title, name, _text_or_none(entry.get("url")))


def _text(record: Record, field: str, entry: Mapping[str, Any]) -> str:
    for name in ("sent", "text", "paragraph_text"):  # ALCE's prompts show `sent` instead of the text
        if entry.get(name) is not None:
            return record.text(f"{field}.{name}", entry[name])
    if entry.get("sentences") is not None:
        return _join(record.all_words(f"{field}.sentences", entry["sentences"]))
    raise record.fault(f"{field}.text", "words", None)


def _pairs(record: Record, context: Any) -> list[Any]:
    if isinstance(context, list):
        return context
    # The hub's copy of HotpotQA keeps titles and sentences in two lists.
    titles = record.entries("context.title", context.get("title"))
    sentences = record.entries("context.sentences", context.get("sentences"))
    if len(titles) != len(sentences):
        raise record.refusal("the field `context` should hold as many `title` as `sentences`")
    return [list(pair) for pair in zip(titles, sentences, strict=True)]


def _paragraph(record: Record, field: str, value: Any) -> Passage:
    if not isinstance(value, list) or len(value) != 2:
        raise record.fault(field, "a title and a list of sentences", value)
    title, sentences = record.words(f"{field}[0]", value[0]), record.all_words(f"{field}[1]", value[1])
    return _passage(record, _join(sentences), title, None, None)


def _join(sentences: tuple[str, ...]) -> str:
    # Some datasets keep the space before a sentence, others leave it out.
    return "".join(s if not s or s[0].isspace() else f" {s}" for s in sentences).strip()


def _text_or_none(value: Any) -> str | None:
    return repair_text(value) if isinstance(value, str) and value else None


def _passage(record: Record, text: str, title: str | None, name: str | None, url: str | None) -> Passage:
    source = Source(0, len(text), path=repair_text(str(record.path)), url=url, record=name)
    return Passage.of(text, title or "", source)


# ---------------------------------------------------------------- misspelt field names


# The fields of a user's own file; only these are suggested.
OWN = (
    *"id question docs answers answer qa_pairs claims references".split(),
    *"gold_passages answerable withheld style kind split".split(),
)
# Fields of other forms, which are never taken for misspelt.
_OTHERS = frozenset(
    "_id annotations answer_aliases answerability chunked_passage cited_answer context contexts decision example_id"
    " gold is_impossible long_answer long_answers output paragraphs passage passages plausible_answers question_ctx"
    " reference relevant sample_id short_answers supporting_facts target text title turns type url"
    " wikipages".split()
)
_NEAR = 0.8


def misspelling(fields: Mapping[str, Any]) -> tuple[str, str] | None:
    """A field with a name like one that the record lacks, and that name."""
    for name in fields:
        wanted = _nearest(name)
        # `answered` beside `answers` is none
        kin = {"answer", "answers"} if wanted in ("answer", "answers") else {wanted}
        if wanted is not None and kin.isdisjoint(fields):
            return name, wanted
    return None


@lru_cache(maxsize=10_000)
def _nearest(name: str) -> str | None:
    if name in OWN or name in _OTHERS:
        return None
    # Two letters resemble too much, and the first letter is seldom wrong: `preference` is not meant as `references`.
    candidates = [
        field
        for field in OWN
        if len(field) > 2 and field[0] == name[:1].lower() and field.count("_") == name.count("_")
    ]
    return next(iter(get_close_matches(name.lower(), candidates, n=1, cutoff=_NEAR)), None)


# ---------------------------------------------------------------- forms of records, recognised by their fields


def form_of(record: Record) -> str:
    """Raises `SourceError` for a passage of a collection."""
    fields = record.fields
    if "question" not in fields and "text" in fields and "title" in fields:
        problem = "the field `question` is missing; a record with `title` and `text` is a passage"
        raise record.refusal(problem, "name a file of questions, and pass passages with --index")
    return next(form for form, fits in _FORMS.items() if fits(fields))


def _queries(record: Record) -> Record:
    return replace(record, fields={**record.fields, "question": record.nonblank_words("text", record.get("text"))})


# ---------------------------------------------------------------- all forms


def _is_squad(fields: Mapping[str, Any]) -> bool:
    answers = fields.get("answers")
    texts = isinstance(answers, dict) or (begins_with(answers, dict) and "text" in answers[0])
    return texts or "is_impossible" in fields


QUERIES = "queries"
# The first that fits the first record is the form of the file. The last six are read alike.
_FORMS: Mapping[str, Callable[[Mapping[str, Any]], bool]] = {
    QUERIES: lambda fields: "text" in fields and "question" not in fields,  # BEIR
    # HotpotQA, 2WikiMultihopQA: titles with their sentences.
    "multihop": lambda fields: isinstance(fields.get("context"), list | dict),
    "asqa": lambda fields: fields.get("qa_pairs") is not None,
    "eli5": lambda fields: "claims" in fields or "question_ctx" in fields,
    "qampari": lambda fields: begins_with(fields.get("answers"), list) and isinstance(fields.get("answer"), str),
    "squad": _is_squad,
    # NQ-open, WebQ, a user's own file.
    "questions": lambda _: True,
}


# ---------------------------------------------------------------- from records


_LARGEST = 2**63
_DEEPEST = 100


def item_of(record: Record, form: str) -> Item:
    """Raises `SourceError`, naming record and field."""
    slip = misspelling(record.fields)
    if slip is not None:
        problem = f"there is no field `{slip[0]}`; did you mean `{slip[1]}`?"
        raise record.refusal(problem, "rename the field, or remove it")
    kept = {name: value for name, value in record.fields.items() if name not in PASSAGE_FIELDS}
    if _is_deep(kept):
        raise record.refusal(f"it is nested deeper than {_DEEPEST} levels")
    standard = _queries(record) if form == QUERIES else record
    question = (record.words if record.verbatim else record.nonblank_words)("question", standard.get("question"))
    gold, passages = gold_of(standard), passages_of(standard)
    return Item(
        id_of(record),
        question,
        gold,
        passages,
        is_ranked=passages is not None and are_ranked(standard),
        withheld=standard.optional("withheld", standard.names) or (),
        style=style_of(standard, gold),
        kind=standard.optional("kind", standard.nonblank_words) or _text_or_none(standard.get("type")),
        record=_plain(kept),
    )


def _is_deep(value: Any, depth: int = 0) -> bool:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return depth > _DEEPEST or any(_is_deep(entry, depth + 1) for entry in inner if isinstance(entry, dict | list))


def _plain(value: Any) -> Any:
    """For any JSON writer; integers beyond 64 bits become text."""
    if isinstance(value, str):
        return repair_text(value)
    if isinstance(value, list):
        return [_plain(entry) for entry in value]
    if isinstance(value, dict):
        return {repair_text(name): _plain(entry) for name, entry in value.items()}
    return str(value) if isinstance(value, int) and abs(value) >= _LARGEST else value
