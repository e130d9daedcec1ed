"""Forms of records, recognised by their fields."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from toulmin.datasets.fields import Record

_DESCRIPTION = re.compile(r'\(description (?:"((?:[^"\\]|\\.)*)"|([^()"]*))\)')
_TAG = re.compile(r"</?\w[^<>]*>")


@dataclass(frozen=True, slots=True)
class Form:
    """`fits` recognises a record; `turned` gives it a `question`."""

    name: str
    fits: Callable[[Mapping[str, Any]], bool]
    turned: Callable[[Record], Record] = lambda record: record


def form_of(record: Record) -> Form:
    """Raises `SourceError` for a passage of a collection."""
    fields = record.fields
    if "question" not in fields and "text" in fields and "title" in fields:
        problem = "the field `question` is missing; a record with `title` and `text` is a passage"
        raise record.refusal(problem, "name a file of questions, and pass passages with --index")
    return next(form for form in _FORMS if form.fits(fields))


# ---------------------------------------------------------------- WebQuestions


def _webq(record: Record) -> Record:
    # All descriptions are aliases: open-domain evaluations count one of them as right.
    target = record.words("targetValue", record.get("targetValue"))
    answers = [(m[1] if m[1] is not None else m[2]).replace('\\"', '"').strip() for m in _DESCRIPTION.finditer(target)]
    if not answers:
        raise record.fault("targetValue", "a text such as (list (description Paris))", target)
    return _bare_record(record, "utterance", answers=answers)


# ---------------------------------------------------------------- Natural Questions


def _nq(record: Record) -> Record:
    answers: list[str] = []  # every annotator's short answers, and yes or no, are aliases of one answer
    tokens = _tokens(record)
    for i, listed in enumerate(record.optional("annotations", record.entries) or ()):
        here = f"annotations[{i}]"
        annotation = record.entry(here, listed)
        answers += _spans(record, f"{here}.short_answers", annotation.get("short_answers") or [], tokens)
        yes_or_no = annotation.get("yes_no_answer")
        answers += [yes_or_no.lower()] if yes_or_no in ("YES", "NO") else []
    return _bare_record(record, "question_text", answers=list(dict.fromkeys(answers)))


def _tokens(record: Record) -> list[str]:
    if record.get("document_text") is not None:
        return record.words("document_text", record.get("document_text")).split(" ")
    tokens = record.optional("document_tokens", record.entries) or []
    return [str(token.get("token", "")) if isinstance(token, dict) else str(token) for token in tokens]


def _spans(record: Record, field: str, value: Any, tokens: list[str]) -> list[str]:
    texts = []
    for i, listed in enumerate(record.entries(field, value)):
        span = record.entry(f"{field}[{i}]", listed)
        start, end = span.get("start_token"), span.get("end_token")
        if not isinstance(start, int) or not isinstance(end, int) or not 0 <= start < end <= len(tokens):
            raise record.fault(f"{field}[{i}]", f"numbers of the page's {len(tokens)} tokens", listed)
        texts.append(" ".join(token for token in tokens[start:end] if not _TAG.fullmatch(token)))
    return [text for text in texts if text]


# ---------------------------------------------------------------- conversations and queries


def _conversation(record: Record) -> Record:
    turns = record.entries("turns", record.get("turns"))
    spoken = [_turn(record, f"turns[{i}]", turn) for i, turn in enumerate(turns)]
    if not spoken or spoken[-1][0] != "User":
        raise record.refusal("the field `turns` should end with a turn of the user")
    question = spoken[-1][1]
    if len(spoken) > 1:
        earlier = "\n".join(f"{speaker}: {text}" for speaker, text in spoken[:-1])
        question = f"Earlier in this conversation:\n{earlier}\nThe user now asks: {question}"
    return replace(record, fields={**record.fields, "question": question})


def _turn(record: Record, field: str, value: Any) -> tuple[str, str]:
    turn = record.entry(field, value)
    speaker = record.nonblank_words(f"{field}.speaker", turn.get("speaker", turn.get("role")))
    text = record.nonblank_words(f"{field}.text", turn.get("text", turn.get("content")))
    return speaker.strip().capitalize(), " ".join(text.split())


def _queries(record: Record) -> Record:
    return replace(record, fields={**record.fields, "question": record.nonblank_words("text", record.get("text"))})


def _bare_record(record: Record, question: str, *, answers: list[str]) -> Record:
    # Other fields mean other things in other forms.
    kept = {name: record.fields[name] for name in ("id", "_id", "example_id", "split") if name in record.fields}
    kept |= {"question": record.nonblank_words(question, record.get(question)), "answers": answers, "style": "short"}
    return replace(record, fields=kept)


# ---------------------------------------------------------------- all forms


def _is_qampari(fields: Mapping[str, Any]) -> bool:
    answers = fields.get("answers")
    return _begins_with(answers, list) and isinstance(fields.get("answer"), str)


def _is_squad(fields: Mapping[str, Any]) -> bool:
    answers = fields.get("answers")
    texts = isinstance(answers, dict) or (_begins_with(answers, dict) and "text" in answers[0])  # type: ignore[index]
    return texts or "is_impossible" in fields


def _begins_with(value: Any, kind: type) -> bool:
    return isinstance(value, list) and bool(value) and isinstance(value[0], kind)


QUERIES = Form("queries", lambda fields: "text" in fields and "question" not in fields, _queries)
# The first that fits the first record is the form of the file. The last six are read alike.
_FORMS = (
    # WebQuestions as it was published, with `targetValue` as "(list (description ...))".
    Form("webq", lambda fields: "utterance" in fields, _webq),
    # Natural Questions, simplified or whole.
    Form("nq", lambda fields: "question_text" in fields, _nq),
    # MTRAG: the last turn asks.
    Form("conversation", lambda fields: "turns" in fields and "question" not in fields, _conversation),
    QUERIES,  # BEIR
    # HotpotQA, 2WikiMultihopQA: titles with their sentences.
    Form("multihop", lambda fields: isinstance(fields.get("context"), list | dict)),
    Form("asqa", lambda fields: fields.get("qa_pairs") is not None),
    Form("eli5", lambda fields: "claims" in fields or "question_ctx" in fields),
    Form("qampari", _is_qampari),
    Form("squad", _is_squad),
    # NQ-open, WebQ, a user's own file.
    Form("questions", lambda _: True),
)
