"""Plan-based retrieval, variant B: what the reader finds, what the writer is shown of it, and the outcomes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest
from plan_parts import BORN, BUILT, LIVED, PASSAGES, TOPIC, Reader, Run, Writer, letters, lore, shown

from toulmin.errors import UsageError
from toulmin.methods.reporting import SILENCE
from toulmin.prompts.types import AnswerPrompt, Finding, Outline, Write
from toulmin.steps import Span

Sure = Mapping[str, Mapping[str, float]]
SURE: Sure = {BORN: {"C": 0.9, "D": 0.3}, LIVED: {"D": 0.3}, BUILT: {"F": 0.7, "A": 0.8, "G": 0.1}}


def run(sure: Sure = SURE, **options) -> Run:
    options = {"qa_threshold": 0.5, **options}
    return Run(options.pop("writer", None), options.pop("supports", None), sure=sure, variant="B", **options)


def findings(done: Run) -> list[Finding]:
    return [finding for prompt in done.writer.prompts(Write) for finding in prompt.findings]


# ---------------------------------------------------------------- reading


def test_every_question_is_read_in_each_of_its_passages_in_one_batch():
    assert run().reader.batches == [
        [(BORN, "C"), (BORN, "D"), (LIVED, "D"), (LIVED, "E"), (BUILT, "F"), (BUILT, "A"), (BUILT, "G")]
    ]


def test_without_second_search_questions_are_read_in_the_first_passages():
    asked = run(second_search=False).reader.batches[0]
    assert asked == [(question, letter) for question in (BORN, LIVED, BUILT) for letter in "AB"]


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        ("When and where was Ada Bell born?", ["When was Ada Bell born?", "where was Ada Bell born?"]),
        ("Who built it, and when was it lit?", ["Who built it", "when was it lit?"]),
        ("Did Ada Bell live in Hull and Leeds?", ["Did Ada Bell live in Hull and Leeds?"]),
        ("Who, and when, and where, and why, and how many?", ["Who, and when, and where, and why, and how many?"]),
    ],
)
def test_a_question_of_several_parts_is_read_part_by_part(question: str, parts: list[str]):
    done = run(writer=Writer(questions={"Life": question, "Work": question}), found={TOPIC: "A", question: "C"})
    assert done.reader.batches == [[(part, "C") for part in parts]]


def test_without_a_reader_the_error_says_so():
    error = Run(variant="B").error
    assert (type(error), "reader" in str(error)) == (UsageError, True)


def test_variant_a_asks_no_reader():
    assert Run(sure=SURE).reader.batches == []


# ---------------------------------------------------------------- what the writer is shown


def test_the_writer_is_shown_questions_with_answers_and_no_passages():
    done = run()
    assert [shown(prompt) for prompt in done.writer.prompts(Write)] == ["", ""]


def test_an_answer_at_the_threshold_is_kept():
    assert findings(run(qa_threshold=0.9))[0] == Finding(BORN, ("C-lore",), (PASSAGES["C"],))


def test_an_answer_below_the_threshold_is_not():
    assert findings(run(qa_threshold=0.71))[3].answers == ("A-lore",)


def test_a_question_keeps_several_answers_the_surest_first():
    assert findings(run())[3] == Finding(BUILT, ("A-lore", "F-lore"), (PASSAGES["F"], PASSAGES["A"]))


def test_a_question_without_an_answer_is_shown_as_one():
    assert findings(run())[1] == Finding(LIVED)


def test_unanswerable_questions_can_be_left_out():
    assert [finding.question for finding in findings(run(unanswerable="drop"))] == [BORN, BUILT]


def test_a_part_none_of_whose_questions_is_answered_is_not_written():
    done = run({BORN: {"C": 0.9}})
    assert [prompt.paragraphs[0].title for prompt in done.writer.prompts(Write)] == ["Life"]


def test_the_rounds_say_why_a_part_was_not_written():
    told = run({BORN: {"C": 0.9}}).rounds("draft")[1]
    assert [(one.text, one.why) for one in told.dropped] == [("Work", "none of its questions is answered")]


def test_where_no_question_is_answered_the_answer_is_an_abstention():
    done = run({})
    assert (done.answer.status, done.answer.notes, done.writer.drafting) == ("abstained", (SILENCE,), [])


def test_one_paragraph_is_written_from_all_questions():
    prompt = run(layout="one").writer.drafting[0]
    assert ([one.question for one in prompt.findings], prompt.paragraphs) == ([BORN, LIVED, BUILT], ())


def test_a_question_kept_for_each_paragraph_is_shown_for_each():
    prompt = run(layout="one", merge_questions=False).writer.drafting[0]
    assert [one.question for one in prompt.findings] == [BORN, LIVED, LIVED, BUILT]


@pytest.mark.parametrize("style", ["short", "list"])
def test_other_styles_draw_on_answers_and_their_passages(style: str):
    passages = tuple(PASSAGES[letter] for letter in "CFA")
    pairs = f"{BORN} C-lore\n{LIVED} Not enough information.\n{BUILT} A-lore; F-lore"
    asked = AnswerPrompt(TOPIC, passages, style, (), "cited", inline=False, written=pairs)
    assert run(style=style).writer.drafting == [asked]


def test_section_may_cite_all_passages_of_its_questions():
    done = run(writer=Writer(texts={"Life": "She lived in Hull."}), supports={"She lived in Hull.": ["E"]})
    assert done.cited == ["E"]


# ---------------------------------------------------------------- outcomes


@pytest.mark.parametrize(
    ("confidence", "outcome"),
    [
        (1.0, "answered"),
        (0.6, "answered"),
        (0.59, "partly"),
        (0.3, "partly"),
        (0.29, "unanswerable"),
        (None, "unanswerable"),
    ],
)
def test_the_outcome_follows_the_best_confidence(confidence: float | None, outcome: str):
    sure = {BORN: {"C": confidence}} if confidence is not None else {}
    assert run(sure, qa_threshold=0.6).outcomes[0] == outcome


WHEN, WHERE = "When was Ada Bell born?", "where was Ada Bell born?"


@pytest.mark.parametrize(
    ("when", "where", "outcome"),
    [(0.9, 0.9, "answered"), (0.9, 0.0, "partly"), (0.0, 0.9, "partly"), (0.3, 0.0, "partly"), (0, 0, "unanswerable")],
)
def test_a_question_of_two_parts_is_answered_when_both_are(when: float, where: float, outcome: str):
    question = "When and where was Ada Bell born?"
    writer = Writer(questions={"Life": question, "Work": question})
    sure = {WHEN: {"C": when}, WHERE: {"C": where}}
    assert run(sure, writer=writer, found={TOPIC: "A", question: "C"}).outcomes == [outcome]


def test_the_passages_of_an_answered_question_hold_its_answers():
    assert [letters(question.passages) for question in run().answer.questions] == ["C", "D", "AF"]


def test_an_outcome_does_not_depend_on_what_was_written():
    assert run(writer=Writer(texts="")).outcomes == ["answered", "partly", "answered"]


# ---------------------------------------------------------------- what is told


def test_each_reading_is_told_with_its_confidence():
    told = run().rounds("assess")[0]
    assert (told.role, told.queries, told.kept, told.scores) == ("reader", (BORN,), ("C-lore",), {"confidence": 0.9})


def test_a_reading_says_what_was_not_sure_enough():
    told = run().rounds("assess")[1]
    assert [one.text for one in told.dropped] == ["D-lore", LIVED]


def test_a_draft_names_the_passages_that_its_answers_stand_in():
    assert [letters(told.read) for told in run().rounds("draft")] == ["C", "FA"]


def test_the_story_reads_before_it_drafts():
    kinds = [told.kind for told in run().answer.rounds]
    assert kinds == [*["search"], *["plan"] * 3, *["search"] * 3, *["assess"] * 3, *["draft"] * 2, "verify"]


# ---------------------------------------------------------------- odd readers


class Odd(Reader):
    """A reader whose spans do not stand where they are said to."""

    def __init__(self, change) -> None:
        super().__init__(SURE)
        self.change = change

    def _span(self, question: str, letter: str) -> Span | None:
        return self.change(lore(letter, 0.9))


@pytest.mark.parametrize(
    "change",
    [
        lambda span: replace(span, passage="elsewhere"),
        lambda span: replace(span, quote=replace(span.quote, start=0, end=6, text="x-lore")),
        lambda span: replace(span, confidence=float("nan")),
        lambda span: replace(span, confidence=1.5),
    ],
)
def test_a_span_that_cannot_be_is_no_answer(change):
    assert run(reader=Odd(change)).outcomes == ["unanswerable"] * 3


def test_variant_b_plans_as_variant_a_does():
    assert run().writer.prompts(Outline) == Run().writer.prompts(Outline)
