"""Replies as models write them (tests/zoo), each with what its prompt must make of it; and what real models wrote."""

from __future__ import annotations

import gzip
import json
import os
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from row_tables import table

from toulmin.data import Claim, Passage
from toulmin.parsing.abstaining import is_abstention
from toulmin.parsing.citing import Draft
from toulmin.parsing.wrapping import without_thinking
from toulmin.prompts.types import (
    AnswerPrompt,
    Cite,
    Correct,
    Extract,
    Feedback,
    JudgeClaim,
    MostConsistent,
    NextClaim,
    Outline,
    Prompt,
    Queries,
    Questions,
    Refine,
    Rewrite,
    Summarise,
    Write,
)
from toulmin.text.followup import Turn
from toulmin.text.language import sentences

ZOO = Path(__file__).parent / "zoo"
OFFERED = tuple(Passage.of(f"The text of passage {n}.", f"Title {n}") for n in range(1, 6))
NUMBER = {passage.id: n for n, passage in enumerate(OFFERED, start=1)}
QUESTION = "When was the tower lit?"
DRAFT = (Claim("The tower was lit in 1830."),)
SCORES = (("correctness", 50.0), ("citation recall", 90.0), ("citation precision", 80.0))
Entry = dict[str, Any]


def asked(kind: str, entry: Entry) -> Prompt[Any]:
    """The prompt to which an entry of the zoo replies."""
    style = entry.get("style", "long")
    prompts: dict[str, Prompt[Any]] = {
        "answer": AnswerPrompt(QUESTION, OFFERED, style),
        "next_claim": NextClaim(QUESTION, "The tower is old. It stands on Kettle Rock.", OFFERED),
        "cite": Cite("The tower was first lit in 1824 by 2 keepers.", OFFERED),
        "queries": Queries(QUESTION, "", "The tower was lit in 1824."),
        "summarise": Summarise(QUESTION, OFFERED[0]),
        "extract": Extract(QUESTION, OFFERED[0]),
        "correct": Correct(QUESTION, OFFERED, DRAFT, 1, style),
        "outline": Outline("Kettle Rock", OFFERED),
        "questions": Questions("Kettle Rock", OFFERED),
        "write": Write("Kettle Rock", OFFERED),
        "feedback": Feedback(QUESTION, OFFERED, DRAFT, *(SCORES, SCORES) if entry.get("scored", True) else ((), ())),
        "refine": Refine(QUESTION, OFFERED, DRAFT, {}, style),
        "rewrite": Rewrite("When was it lit?", (Turn("What stands on Kettle Rock?", "A tower."),)),
        "most_consistent": MostConsistent(QUESTION, (DRAFT,) * 4),
        "judge_claim": JudgeClaim("Pell supported the keepers", OFFERED),
    }
    return prompts[kind]


def expected(entry: Entry) -> Any:
    """What an entry says that its reply must be read as, in the form of `told`."""
    if "claims" in entry:
        return [[text, *numbers] for text, *numbers in entry["claims"]], entry.get("invalid", 0)
    if "numbers" in entry:
        return entry["numbers"], entry.get("invalid", 0)
    keys = ("items", "paragraphs", "aspects", "chosen", "label", "claim", "read")
    return next((entry[key] for key in keys if key in entry), None)


def told(kind: str, value: Any) -> Any:
    """A prompt's result in plain values, labels in the place of ids."""
    if isinstance(value, Draft):
        return [[claim.text, *(NUMBER[id] for id in claim.cited)] for claim in value.claims], value.invalid
    if kind == "cite":
        return [NUMBER[id] for id in value.ids], value.invalid
    if kind == "outline":
        return [[paragraph.title, paragraph.description] for paragraph in value]
    if kind == "most_consistent":
        return value + 1
    return list(value) if isinstance(value, tuple) else value


def entries() -> Iterator[tuple[str, Entry]]:
    for path in sorted(ZOO.glob("*.toml")):
        for entry in tomllib.loads(path.read_text("utf-8"))["reply"]:
            yield path.stem, entry


ENTRIES = list(entries())
KINDS = sorted({kind for kind, _ in ENTRIES})


@table(("kind", "entry"), ENTRIES, ids=[f"{kind}: {entry['is']}" for kind, entry in ENTRIES])
def test_a_reply_is_read_as_a_careful_person_would(kind: str, entry: Entry):
    assert told(kind, asked(kind, entry).read(entry["text"])) == expected(entry)


@table("kind", KINDS)
def test_every_prompt_has_replies_enough(kind: str):
    assert sum(other == kind for other, _ in ENTRIES) >= 25


def test_every_prompt_has_replies():
    ours = {kind.__name__ for kind in Prompt.__subclasses__() if kind.__module__ == Prompt.__module__}
    assert {type(asked(kind, {})).__name__ for kind in KINDS} == ours


# ---------------------------------------------------------------- laws


@st.composite
def mangled(draw: st.DrawFn) -> tuple[str, str]:
    """A reply of the zoo, cut, doubled, spliced into another or with odd text put into it."""
    kind, entry = draw(st.sampled_from(ENTRIES))
    text, other = entry["text"], draw(st.sampled_from(ENTRIES))[1]["text"]
    at, to = draw(st.integers(0, len(text))), draw(st.integers(0, len(other)))
    odd = draw(st.text(max_size=8) | st.text(alphabet='[](){}<>|"*#`:\n1.', max_size=12))
    return kind, draw(
        st.sampled_from([text[:at], text[at:], text + text, text[:at] + other[to:], text[:at] + odd + text[at:]])
    )


@given(mangled())
@settings(max_examples=300, deadline=None)
def test_no_reply_is_too_mangled_to_read(reply: tuple[str, str]):
    kind, text = reply
    told(kind, asked(kind, {}).read(text))


@table("kind", KINDS)
@given(st.text(max_size=80))
@settings(max_examples=20, deadline=None)
def test_no_text_is_too_odd_to_read(kind: str, text: str):
    told(kind, asked(kind, {}).read(text))


MARKS_OF_THINKING = ("<think>", "</think>", "<THINKING>", "</thinking>", "[THINK]", "[/THINK]", "◁think▷", "◁/think▷")


@given(st.lists(st.sampled_from([*MARKS_OF_THINKING, "<|channel|>final<|message|>", "One. ", "\n"]), max_size=12))
@settings(max_examples=100, deadline=None)
def test_no_mark_of_thinking_is_left(parts: list[str]):
    assert [mark for mark in MARKS_OF_THINKING if mark in without_thinking("".join(parts))] == []


@table("kind", KINDS)
def test_thinking_changes_no_reading(kind: str):
    replies = [entry for other, entry in ENTRIES if other == kind]
    thought = [told(kind, asked(kind, e).read(f"<think>[2] No. 4? Supported.</think>\n{e['text']}")) for e in replies]
    assert thought == [told(kind, asked(kind, e).read(e["text"])) for e in replies]


HOSTILE = [
    "[1]",
    "[",
    "(1)",
    "(1",
    "¹",
    '{"',
    '{"a":',
    '[{"a":1},',
    "<think>",
    "</think>",
    "<b>",
    "<",
    "<answer>",
    "| a |\n",
    "|---|\n",
    "```\n",
    "Answer:\n",
    "final answer: ",
    "Question: a\n",
    "Explanation:\n",
    "# a\n",
    "**a**\n",
    "> ",
    "1. ",
    "Here is ",
    "I cannot ",
    "The passages do not ",
    "no information ",
    "according to ",
    "Correctness:\n",
    "not support ",
    "Response 1 ",
    "who? ",
    '"',
    "“",
    "* ",
    "*a",
    "\n",
    " ",
    "a ",
    "title: a\n",
    "q: a\na: b\n",
    "<|channel|>",
    "\\",
    "(Document 1",
    "{",
    "the following ",
]


@table("unit", HOSTILE)
def test_a_hostile_reply_is_read_to_its_end_by_every_prompt(unit: str):
    for kind in KINDS:
        told(kind, asked(kind, {}).read(unit * (2_000 // len(unit)) + "x"))


# ---------------------------------------------------------------- what real models and people wrote

DATA = Path(os.environ.get("TOULMIN_DATA", "../shared/data"))
MANY = tuple(Passage.of(f"The text of passage {n}.") for n in range(1, 101))
MARKS = re.compile(r"\[\d+(?:\s*,\s*\d+)*\]")

# Answers of ALCE's golden runs that say nothing but that nothing was found, by run; told apart by reading all of them.
ABSTENTIONS = [
    {"4499452346514611435", "3397865411559231398", "6962706727076805207"},
    {
        "1650309494326541834",
        "-3322598412088356524",
        "1562758409663917015",
        "4131723857510142703",
        "-4873786835306543030",
        "-3766268167311659635",
        "-3675478481857186593",
        "4499452346514611435",
        "434290836324078234",
        "2872295608752061902",
        "2260680157828850192",
        "-2084343930513014478",
        "-962065981949449467",
    },
    {f"eli5_{n}" for n in (12, 21, 22, 25, 59, 66, 67, 68, 72, 75, 78, 92)},
    {"eli5_3"},
]


def records(name: str) -> list[Entry]:
    path = DATA / f"{name}.jsonl.gz"
    if not path.exists():
        pytest.skip(f"needs {name} (TOULMIN_DATA)")
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def letters(text: str) -> str:
    return "".join(re.findall(r"[^\W\d_]", text))


def answered(text: str) -> Draft:
    return AnswerPrompt(QUESTION, MANY).read(text)


def test_the_marks_of_cited_answers_by_people_are_all_read():
    number = {passage.id: n for n, passage in enumerate(MANY, start=1)}
    misread = []
    for record in records("style_lfrqa_cited_answers"):
        written = {int(n) for mark in MARKS.findall(record["cited_answer"]) for n in re.findall(r"\d+", mark)}
        cited = [[number[id] for id in claim.cited] for claim in answered(record["cited_answer"]).claims]
        if {n for numbers in cited for n in numbers} != written or not {
            n for [n] in record["citation_numbers"]
        } <= written:
            misread.append(record["id"])
    assert len(misread) <= 2  # one holds "S[0] = 1", one "[1-9]" in a shell command


def test_the_claims_of_cited_answers_by_people_hold_all_their_words():
    changed = [
        record["id"]
        for record in records("style_lfrqa_cited_answers")
        if letters("".join(claim.text for claim in answered(record["cited_answer"]).claims))
        != letters(record["cited_answer"])
    ]
    assert len(changed) <= 2  # one says of a passage that it tells too little, one holds a raised 1


def test_abstentions_of_real_models_are_recognised():
    found = [
        {item["id"] for item in run["items"] if not answered(item["output"]).claims} for run in records("alce_golden")
    ]
    assert found == ABSTENTIONS


def test_answers_of_real_models_lose_only_repetition_and_abstentions():
    texts = [text for record in records("qa_feedback") for text in [*record["predictions"], record["gold"] or ""]]
    texts += [item["output"] for run in records("alce_golden") for item in run["items"]]
    lost = [text for text in texts if set(letters_of_sentences(text)) - set(letters_of_claims(text))]
    assert len(lost) <= len(texts) // 500


def letters_of_sentences(text: str) -> list[str]:
    spoken = (text[span.start : span.end] for span in sentences(text))
    return [letters(sentence) for sentence in spoken if letters(sentence) and not is_abstention(sentence)]


def letters_of_claims(text: str) -> list[str]:
    return [letters(claim.text) for claim in answered(text).claims]
