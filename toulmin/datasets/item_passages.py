"""Passages that come with a question."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

from toulmin.data import Passage, Source
from toulmin.datasets.fields import Record
from toulmin.documents.plain import sound

# The first field that a record has is read. These hold lists of {title, text | sent | paragraph_text | sentences, id?,
# url?}. `context` holds [title, sentences] pairs (HotpotQA, 2WikiMultihopQA), the same as {"title": [...],
# "sentences": [...]}, or words (SQuAD); `passage` holds words, with the record's `title` and `url`.
_LISTS = ("docs", "passages", "paragraphs", "contexts")
# Fields with passages, or with pages and prompts made of them: too large for `Item.record`.
PASSAGE_FIELDS = frozenset(
    "docs passages paragraphs contexts context passage chunked_passage document_text document_tokens document_html"
    " long_answer_candidates prompt doc_history output".split()
)


def passages_of(record: Record) -> tuple[Passage, ...] | None:
    """None if the record has no field for passages."""
    for name in _LISTS:
        if record.get(name) is not None:
            entries = enumerate(record.entries(name, record.get(name)))
            return tuple(_passage_of_entry(record, f"{name}[{i}]", entry) for i, entry in entries)
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
    docs = record.get("docs")
    if not docs:
        return False
    scores = [doc.get("score") for doc in docs]
    if not all(isinstance(score, int | float) for score in scores):
        return record.is_listed
    return record.is_listed or all(high >= low for high, low in pairwise(scores))


def _passage_of_entry(record: Record, field: str, value: Any) -> Passage:
    entry = record.entry(field, value)
    title = entry.get("title")
    record_id = entry.get("id", entry.get("_id"))
    name = None if record_id is None or record_id == "" else record.name(f"{field}.id", record_id)
    title = "" if title is None else record.words(f"{field}.title", title)
    return _passage(record, _text(record, field, entry), title, name, _text_or_none(entry.get("url")))


def _text(record: Record, field: str, entry: Mapping[str, Any]) -> str:
    for name in ("sent", "text", "paragraph_text"):  # ALCE's prompts show `sent` instead of the text
        if entry.get(name) is not None:
            return record.words(f"{field}.{name}", entry[name])
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
    text = "".join(s if not s or s[0].isspace() else f" {s}" for s in sentences)
    return text.strip()


def _text_or_none(value: Any) -> str | None:
    return sound(value) if isinstance(value, str) and value else None


def _passage(record: Record, text: str, title: str | None, name: str | None, url: str | None) -> Passage:
    source = Source(0, len(text), path=sound(str(record.path)), url=url, record=name)
    return Passage.of(text, title or "", source)
