"""Reads a record's gold from the fields in which datasets keep it.

answers     `answers`: aliases of one answer, or lists of them, one per slot (each entry is a slot if `style` is
            "list"), or SQuAD's objects with `text`; else `qa_pairs`; else `short_answers`, or `answer` and
            `answer_aliases`
answer      `answer` if it is a text beside such fields (ALCE), or if `style` is long or report
references  `references`, `long_answers`, `long_answer`, two of ALCE's `annotations`, CLAPnq's `answers` (objects
            with `answer`), `gold`, `target` or `reference`: the first that exists
passages    `gold_passages`, `relevant`, titles of `supporting_facts`, or paragraphs marked `is_supporting`
answerable  `answerable`, `is_impossible`, `answerability`, or the kind "unanswerable", in this order
"""

from __future__ import annotations

from typing import Any

from toulmin.data import STYLES, Style
from toulmin.datasets.fields import Record, begins_with
from toulmin.datasets.item import Aliases, Gold, Part
from toulmin.errors import unknown_name

_LONG = ("long", "report")
# In a record with one of these fields, `answer` is a text that contains the answers.
_BESIDE_TEXT = ("answers", "qa_pairs", "claims", "short_answers", "question_ctx", "cited_answer")
_TELLS = {"ANSWERABLE": True, "PARTIAL": True, "UNANSWERABLE": False}


def gold_of(record: Record) -> Gold:
    """An empty list of answers counts only if the record is unanswerable."""
    parts = record.optional("qa_pairs", lambda field, value: _parts(record, field, value))
    passages = _passages(record)
    answerable = _answerable(record, passages)
    answers = _answers(record, parts)
    return Gold(
        answers=answers if answers or answerable is False else None,
        parts=parts,
        references=_references(record),
        answer=record.optional("answer", record.words) if _answer_is_text(record) else None,
        claims=record.optional("claims", record.all_words),
        passages=passages,
        answerable=answerable,
    )


def style_of(record: Record, gold: Gold) -> Style | None:
    style = record.get("style")
    if style is not None:
        for known in STYLES:
            if style == known:
                return known
        problem = str(unknown_name("style", record.words("style", style), STYLES)).rstrip(".")
        raise record.refusal(f"the field `style` is wrong ({problem})")
    if gold.parts is not None or gold.claims is not None or gold.references or _is_clapnq(record):
        return "long"
    if gold.answers and _answers_begin_with(record, list) and (gold.answer is not None or len(gold.answers) > 1):
        return "list"
    if gold.answers or record.get("is_impossible") is not None:
        return "short"
    return "long" if gold.answer is not None else None


# ---------------------------------------------------------------- answers


def _parts(record: Record, field: str, value: Any) -> tuple[Part, ...]:
    parts = []
    for here, entry in record.objects(field, value):
        question = record.words(f"{here}.question", entry.get("question", ""))
        parts.append(Part(question, record.all_words(f"{here}.short_answers", entry.get("short_answers"))))
    return tuple(parts)


def _answers(record: Record, parts: tuple[Part, ...] | None) -> tuple[Aliases, ...]:
    answers = record.get("answers")
    if answers is not None:
        return () if _is_clapnq(record) else _slots(record, answers)
    if parts is not None:
        return tuple(part.answers for part in parts)
    answer = record.get("answer")
    if isinstance(answer, list):
        aliases = record.all_words("answer", answer)
    elif answer is not None and not _answer_is_text(record):
        others = record.optional("answer_aliases", record.all_words) or ()
        aliases = (record.words("answer", answer), *others)
    else:
        aliases = record.optional("short_answers", record.all_words) or ()
    return (aliases,) if aliases else ()


def _slots(record: Record, answers: Any) -> tuple[Aliases, ...]:
    if isinstance(answers, dict):
        # The hub's copy of SQuAD keeps texts and positions in two lists.
        return _one_slot(record.all_words("answers.text", answers.get("text")))
    record.entries("answers", answers)
    if _answers_begin_with(record, list):
        return tuple(record.all_words(f"answers[{i}]", slot) for i, slot in enumerate(answers))
    if _answers_begin_with(record, dict):
        return _one_slot(_texts(record, "answers", answers, "text"))
    aliases = record.all_words("answers", answers)
    return tuple((alias,) for alias in aliases) if record.get("style") == "list" else (aliases,) if aliases else ()


def _one_slot(aliases: Aliases) -> tuple[Aliases, ...]:
    # Several annotators often mark the same words.
    return (tuple(dict.fromkeys(aliases)),) if aliases else ()


def _answers_begin_with(record: Record, kind: type) -> bool:
    return begins_with(record.get("answers"), kind)


def _answer_is_text(record: Record) -> bool:
    if isinstance(record.get("answer"), list):
        return False
    return record.get("style") in _LONG or any(record.get(name) is not None for name in _BESIDE_TEXT)


# ---------------------------------------------------------------- long answers


def _references(record: Record) -> tuple[str, ...] | None:
    for name in ("references", "long_answers"):
        if record.get(name) is not None:
            return record.all_words(name, record.get(name))
    long_answer = record.optional("long_answer", record.words)
    if long_answer is not None:
        return (long_answer,)
    if record.get("annotations") is not None:
        # ALCE compares with the first two only.
        return _texts(record, "annotations", record.get("annotations"), "long_answer")[:2]
    if _is_clapnq(record):
        return _texts(record, "answers", record.get("answers"), "answer") or None
    return next((words for name in ("gold", "target", "reference") if (words := _optional_words(record, name))), None)


def _texts(record: Record, field: str, value: Any, name: str) -> tuple[str, ...]:
    return tuple(record.words(f"{here}.{name}", entry.get(name)) for here, entry in record.objects(field, value))


def _optional_words(record: Record, name: str) -> tuple[str, ...]:
    value = record.get(name)
    listed = value if isinstance(value, list) else [value]
    return record.all_words(name, listed) if all(isinstance(entry, str) for entry in listed) else ()


def _is_clapnq(record: Record) -> bool:
    """CLAPnq's unanswerable questions have passages cut into sentences."""
    if record.get("answers") == []:
        passages = record.get("passages")
        is_cut = isinstance(passages, list) and any(isinstance(p, dict) and "sentences" in p for p in passages)
        return is_cut and record.get("answerable") is False
    return _answers_begin_with(record, dict) and "answer" in record.get("answers")[0]


# ---------------------------------------------------------------- sources


def _passages(record: Record) -> tuple[str, ...] | None:
    for name in ("gold_passages", "relevant"):
        if record.get(name) is not None:
            return record.names(name, record.get(name))
    facts = record.get("supporting_facts")
    if isinstance(facts, dict):
        return record.names("supporting_facts.title", facts.get("title"))
    if facts is not None:
        pairs = enumerate(record.entries("supporting_facts", facts))
        return tuple(dict.fromkeys(_title(record, f"supporting_facts[{i}]", fact) for i, fact in pairs))
    listed = record.entries("paragraphs", record.get("paragraphs") or [])
    paragraphs = [p for p in listed if isinstance(p, dict)]
    if not any("is_supporting" in p for p in paragraphs):
        return None
    marked = [p for p in paragraphs if p.get("is_supporting")]
    return tuple(dict.fromkeys(str(p.get("id") or p.get("title") or "") for p in marked))


def _title(record: Record, field: str, fact: Any) -> str:
    if not isinstance(fact, list) or not fact:
        raise record.fault(field, "a title and the number of a sentence", fact)
    return record.words(f"{field}[0]", fact[0])


def _answerable(record: Record, passages: tuple[str, ...] | None) -> bool | None:
    answerable = record.optional("answerable", record.truth)
    impossible = record.optional("is_impossible", record.truth)
    if answerable is not None or impossible is not None:
        return answerable if answerable is not None else not impossible
    named = record.get("answerability")
    if named is not None:
        first = named[0] if isinstance(named, list) and named else named
        # An underspecified question is neither: the sources may answer it once it is clear what is asked.
        return _TELLS.get(str(first).upper())
    kind = record.get("kind")
    if kind == "unanswerable":
        return False
    return True if kind is not None and passages else None
