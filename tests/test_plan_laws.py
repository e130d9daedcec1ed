"""What holds of planned texts whatever models reply, and both variants from end to end with the embedded parts."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import cache
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from plan_parts import BORN, BUILT, LIVED, OUTLINE, PASSAGES, TOPIC, Run, letters, lore
from row_tables import table

from toulmin.data import Answer, Hit, Passage
from toulmin.demo import FOLDER
from toulmin.documents.loaders import find_files, read_documents
from toulmin.documents.passages import cut
from toulmin.driver.drive import Driver, Job
from toulmin.driver.kit import Kit
from toulmin.extractive.evidence import SentenceReader
from toulmin.extractive.writer import Extractive
from toulmin.formats import answer_json
from toulmin.judges.lexical import Lexical
from toulmin.methods.plan import plan
from toulmin.models.scripted import ScriptedModel
from toulmin.prompts.replies import Reply
from toulmin.prompts.templates import Templates
from toulmin.retrieval.bm25 import InMemory
from toulmin.steps import Generate, Pair, Span, Verdict

# ---------------------------------------------------------------- laws

REPLIES = st.one_of(
    st.sampled_from(
        [
            *(OUTLINE, "1. Life: a\n2. Life: b\n3. LIFE", "## [1]\n\n## **", "Paragraph 1:", "{}", "END", "", "[1]"),
            *(BORN, f"{BORN}\n{LIVED}", f"- {BUILT}\n- {BORN.upper()}", "When and where was she born?", "???", "no"),
            *("She was born in 1790 [1]. She lived in Hull [9].", "She was born in 1790.", "One, two [2], three", "…"),
            *(
                "灯台は1824年に建てられた。[2]",
                "<think>x</think> She built ten towers [1][2][3].",
                "# A\nText.\n# A\nMore.",
            ),
        ]
    ),
    st.text(max_size=60),
)
VALID = [
    *(("report", None, True), ("report", "one", True), ("report", None, False), ("long", None, True)),
    *(("long", "sections", True), ("short", None, True), ("list", None, False)),
]
OPTIONS = st.builds(
    lambda form, variant, **rest: {
        **dict(zip(("style", "layout", "outline"), form, strict=True)),
        **variant,
        **rest,
    },
    st.sampled_from(VALID),
    st.sampled_from(
        [{}, {"inline": True}, {"variant": "B"}, {"variant": "B", "unanswerable": "drop", "qa_threshold": 0.2}]
    ),
    second_search=st.booleans(),
    merge_questions=st.booleans(),
    max_paragraphs=st.integers(1, 3),
    max_questions=st.integers(1, 3),
    unsupported=st.sampled_from(["keep", "flag", "drop"]),
)
CONFIDENCES = st.sampled_from([0.0, 0.1, 0.3, 0.5, 0.9, 1.0])


class Drawn:
    """A model, a retriever, a judge and a reader that do whatever is drawn, and what they were asked and said."""

    name = "drawn"

    def __init__(self, data: st.DataObject) -> None:
        self.data = data
        self.found: set[str] = set()
        self.queries: list[str] = []
        self.verdicts: dict[tuple[str, str], bool] = {}
        self.shown: dict[str | None, set[str]] = {}

    def write(self, request: Generate) -> Reply:
        prompt: Any = request.prompt
        title = prompt.paragraphs[0].title if getattr(prompt, "paragraphs", ()) else None
        self.shown.setdefault(title, set()).update(passage.id for passage in getattr(prompt, "passages", ()))
        return Reply(self.data.draw(REPLIES), omitted=self.data.draw(st.sampled_from([0, 0, 0, 1, 9])))

    def search(self, queries: Sequence[str], k: int) -> list[list[Hit]]:
        self.queries += queries
        rows = [self.data.draw(st.lists(st.sampled_from("ABCDEFGHIJ"), max_size=k)) for _ in queries]
        self.found.update(PASSAGES[letter].id for row in rows for letter in row)
        return [[Hit(PASSAGES[letter], 1.0) for letter in row] for row in rows]

    def judge(self, pairs: Sequence[Pair]) -> list[Verdict]:
        return [self._verdict(pair) for pair in pairs]

    def _verdict(self, pair: Pair) -> Verdict:
        asked = (pair.claim, letters([passage.id for passage in pair.premises]))
        holds = self.verdicts.setdefault(asked, self.data.draw(st.booleans()))
        return Verdict("supported" if holds else "unsupported", float(holds), 0.0, self.name)

    def read(self, questions: Sequence[tuple[str, Sequence[Passage]]]) -> list[Span | None]:
        return [
            lore(passages[0].title, self.data.draw(CONFIDENCES)) if self.data.draw(st.booleans()) else None
            for _, passages in questions
        ]


def drawn(data: st.DataObject, options: dict[str, Any]) -> tuple[Drawn, Answer]:
    """A planned text from random parts; options that do not go together never come."""
    parts = Drawn(data)
    kit = Kit(parts, parts, {"main": ScriptedModel(parts.write)}, parts)
    outcome = asyncio.run(Driver(kit).answer(Job(TOPIC, "plan", options["style"], lambda: plan(TOPIC, **options))))
    assert outcome.error is None
    return parts, outcome.answer


law = settings(deadline=None, max_examples=60)


@law
@given(st.data(), OPTIONS)
def test_every_reply_ends_in_a_valid_answer(data: st.DataObject, options: Any):
    _, answer = drawn(data, options)
    assert answer_json.parse(answer_json.dumps(answer)).claims == answer.claims


@law
@given(st.data(), OPTIONS)
def test_no_claim_cites_a_passage_that_was_not_found(data: st.DataObject, options: Any):
    parts, answer = drawn(data, options)
    assert {id for claim in answer.claims for id in claim.cited} <= parts.found


@law
@given(st.data(), OPTIONS.filter(lambda options: options.get("variant") != "B"))
def test_no_section_cites_a_passage_that_its_writer_was_not_shown(data: st.DataObject, options: Any):
    parts, answer = drawn(data, options)
    assert all(set(claim.cited) <= parts.shown[claim.section] for claim in answer.claims)


@law
@given(st.data(), OPTIONS)
def test_a_claim_is_called_supported_as_its_very_citations_were_judged(data: st.DataObject, options: Any):
    parts, answer = drawn(data, options)
    said = [parts.verdicts.get((claim.text, letters(claim.cited)), False) for claim in answer.claims]
    assert [claim.is_supported for claim in answer.claims] == said


@law
@given(st.data(), OPTIONS)
def test_every_searched_question_has_outcome_from_read_passages(data: st.DataObject, options: Any):
    parts, answer = drawn(data, options)
    searched = parts.queries[1:] if options["second_search"] else [question.text for question in answer.questions]
    assert set(searched) == {question.text for question in answer.questions}
    assert all(set(question.passages) <= parts.found for question in answer.questions)


@law
@given(st.data(), OPTIONS)
def test_the_sections_are_those_that_claims_name_each_once(data: st.DataObject, options: Any):
    _, answer = drawn(data, options)
    named = list(dict.fromkeys(claim.section for claim in answer.claims if claim.section is not None))
    assert [section.title for section in answer.sections] == named


@law
@given(st.data(), OPTIONS)
def test_no_sentence_stands_twice(data: st.DataObject, options: Any):
    _, answer = drawn(data, options)
    texts = [" ".join(claim.text.casefold().split()) for claim in answer.claims]
    assert len(set(texts)) == len(texts)


# ---------------------------------------------------------------- with embedded parts


@cache
def demo() -> InMemory:
    files, _ = find_files([FOLDER])
    return InMemory([passage for file in files for document in read_documents(file) for passage in cut(document)])


HARRISON = "John Harrison"
B = {"variant": "B", "qa_threshold": 0.1}  # low, so that the embedded reader finds enough, however it is calibrated
ALL = [
    {"variant": "A"},
    B,
    {"variant": "A", "inline": True},
    {"variant": "A", "layout": "one"},
    {**B, "layout": "one"},
    {"variant": "A", "style": "short"},
    {**B, "style": "short"},
    {"variant": "A", "style": "list"},
    {**B, "style": "list"},
    {"second_search": False},
    {**B, "unanswerable": "drop"},
    {"outline": False},
    {"merge_questions": False},
    {"kind": "person", "attribute": "clockmaker"},
]


def embedded(topic: str = HARRISON, **options: Any) -> Answer:
    kit = Kit(demo(), Lexical(), {"main": Extractive()}, SentenceReader())
    style = options.get("style", "report")
    job = Job(topic, "plan", style, lambda: plan(topic, k=10, **options))

    async def twice() -> tuple[Answer, Answer]:
        first = await Driver(kit).answer(job)
        again = await Driver(kit).answer(job, replay=first.transcript)
        return first.answer, again.answer

    answer, again = asyncio.run(twice())
    assert again == answer
    return answer


@table("options", ALL, ids=str)
def test_the_embedded_parts_write_from_the_demo_what_the_judge_supports(options: dict[str, Any]):
    answer = embedded(**options)
    assert (answer.status, {claim.is_supported for claim in answer.claims}) == ("answered", {True})


@pytest.mark.parametrize("options", [{}, B], ids=["A", "B"])
def test_a_report_on_the_demo_has_several_sections(options: dict[str, Any]):
    assert len(embedded(**options).sections) >= 2


@pytest.mark.parametrize("options", [{}, B], ids=["A", "B"])
def test_a_report_says_what_the_documents_say(options: dict[str, Any]):
    assert "1693" in embedded(**options).text


def test_some_question_about_the_demo_is_answered():
    assert "answered" in {question.outcome for question in embedded().questions}


def test_a_question_is_a_topic_too():
    answer = embedded("How did sailors find their longitude?", style="long")
    assert (answer.question, answer.status) == ("How did sailors find their longitude?", "answered")


def test_a_topic_that_no_document_names_is_an_abstention():
    assert embedded("Xyzzy plugh").status == "abstained"


# ---------------------------------------------------------------- in words


@table("options", [*ALL, {"style": "list", "inline": True}], ids=str)
def test_every_prompt_can_be_put_into_words(options: dict[str, Any]):
    done = Run(sure={BORN: {"C": 0.9}}, **options)
    assert all(Templates.default().render(request.prompt).text for request in done.writer.asked)
