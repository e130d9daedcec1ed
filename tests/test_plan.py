"""Plan-based retrieval, variant A, step by step with scripted writers, retrievers and judges."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest
from plan_parts import (
    BORN,
    BUILT,
    FOUND,
    LIVED,
    OUTLINE,
    PASSAGES,
    TOPIC,
    Judge,
    Run,
    Shelf,
    Writer,
    letters,
    shown,
)
from row_tables import table

from toulmin.data import Answer, Section
from toulmin.driver.budget import Budget
from toulmin.driver.drive import Driver, Job
from toulmin.driver.kit import Kit
from toulmin.errors import ModelError, UsageError
from toulmin.methods.plan import plan
from toulmin.methods.reporting import EMPTY, REFUSED, SILENCE
from toulmin.prompts.replies import Reply
from toulmin.prompts.types import AnswerPrompt, Outline, Paragraph, Questions, Write
from toulmin.steps import Generate

BIRTH, HOME, TOWERS = "She was born in 1790.", "She lived in Hull.", "She built ten towers."
ALL_TRUE = {BIRTH: ["C"], HOME: ["D"], TOWERS: ["AF"]}
LIFE = Paragraph("Life", "Tell of her birth. Leave her work to paragraph 2.")
WORK = Paragraph("Work", "Tell of her towers.")

# ---------------------------------------------------------------- first search


def test_the_first_search_is_for_the_topic():
    run = Run(k=7)
    assert (run.shelf.batches[0], run.shelf.depths[0]) == ([TOPIC], 7)


def test_an_attribute_tells_topics_of_one_name_apart():
    assert Run(attribute="engineer").shelf.batches[0] == ["Ada Bell (engineer)"]


def test_an_attribute_stands_in_every_prompt():
    asked = Run(attribute="engineer", found={**FOUND, "Ada Bell (engineer)": "AB"}).writer.asked
    assert {request.prompt.topic for request in asked} == {"Ada Bell (engineer)"}


def test_the_answer_is_to_the_question_as_it_was_asked():
    assert Run(attribute="engineer").answer.question == TOPIC


def test_where_the_first_search_finds_nothing_no_model_is_asked():
    run = Run(found={})
    assert (run.answer.status, run.answer.notes, run.writer.asked) == ("abstained", (SILENCE,), [])


# ---------------------------------------------------------------- outline


def test_the_outline_is_planned_from_the_first_passages():
    assert Run().writer.prompts(Outline) == [Outline(TOPIC, (PASSAGES["A"], PASSAGES["B"]))]


@pytest.mark.parametrize(
    ("kind", "asked"),
    [("person", "a biography of Ada Bell"), ("event", "an account of Ada Bell"), ("other", "Ada Bell")],
)
def test_the_kind_of_topic_says_what_is_to_be_planned(kind: str, asked: str):
    assert Run(kind=kind).writer.prompts(Outline)[0].topic == asked


def test_the_paragraphs_become_sections():
    assert Run().answer.sections == (Section("Life", LIFE.description), Section("Work", WORK.description))


@pytest.mark.parametrize(
    "outline",
    [
        "Paragraph 1: Life: Tell of her birth.\nParagraph 2: Work: Tell of her towers.",
        "- **Life**: Tell of her birth.\n- **Work**: Tell of her towers.",
        "## Life\nTell of her birth.\n\n## Work\nTell of her towers.",
        "Sure! Here is a plan:\n\n1) Life - Tell of her birth.\n2) Work - Tell of her towers.",
    ],
)
def test_an_outline_is_read_in_whatever_form_it_comes(outline: str):
    assert [section.title for section in Run(Writer(outline)).answer.sections] == ["Life", "Work"]


@pytest.mark.parametrize("outline", ["", "I would rather write about the weather, which is fine today."])
def test_a_reply_that_is_no_outline_is_one_paragraph_on_the_topic(outline: str):
    run = Run(Writer(outline, {TOPIC: BORN}, {TOPIC: BIRTH}), kind="person")
    assert [section.title for section in run.answer.sections] == [TOPIC]


def test_instructions_without_a_title_get_a_short_one():
    plan = "Paragraph 1: Begin by introducing Ada Bell with her full name and the years of her birth and her death"
    section = Run(Writer(plan, BORN, BIRTH)).answer.sections[0]
    assert (section.title, section.description) == (
        "Begin by introducing Ada Bell with her full name and the…",
        plan.removeprefix("Paragraph 1: "),
    )


def test_two_sections_never_have_one_title():
    texts = {"Life": BIRTH, "Life (2)": HOME, "LIFE (3)": TOWERS}
    run = Run(Writer("1. Life: Early.\n2. Life: Late.\n3. LIFE: All.", BORN, texts))
    assert [claim.section for claim in run.answer.claims] == ["Life", "Life (2)", "LIFE (3)"]


@pytest.mark.parametrize(
    "outline", ["1. Life [1]: Early.", Reply("", (Paragraph("Life [1]", "Early."),))], ids=["as text", "as a value"]
)
def test_a_mark_in_a_title_is_no_citation(outline: str | Reply):
    assert Run(Writer(outline, BORN, BIRTH)).answer.sections[0].title == "Life"


def test_an_outline_without_end_is_cut_and_told():
    run = Run(Writer(OUTLINE + "\n3. Fame: Tell of it."), max_paragraphs=2)
    told = run.rounds("plan")[0]
    assert (told.kept, told.dropped[0].text) == (("Life", "Work"), "Fame")


# ---------------------------------------------------------------- questions


def test_each_paragraph_is_asked_for_its_questions():
    first = (PASSAGES["A"], PASSAGES["B"])
    assert Run().writer.prompts(Questions) == [Questions(TOPIC, first, LIFE), Questions(TOPIC, first, WORK)]


def test_a_question_of_two_paragraphs_is_one_question():
    assert [question.text for question in Run().answer.questions] == [BORN, LIVED, BUILT]


def test_a_merged_question_is_searched_for_once():
    assert Run().shelf.batches[1] == [BORN, LIVED, BUILT]


def test_a_merged_question_serves_every_paragraph_that_asked_it():
    prompts = Run().writer.prompts(Write)
    assert ["E" in shown(prompt) for prompt in prompts] == [True, True]


def test_a_question_in_other_case_and_punctuation_is_the_same():
    run = Run(Writer(questions={"Life": BORN, "Work": "“When was Ada Bell BORN”?"}))
    assert [question.text for question in run.answer.questions] == [BORN]


def test_signs_that_mean_something_tell_questions_apart():
    run = Run(Writer(questions={"Life": "Who made C?", "Work": "Who made C++?"}))
    assert len(run.answer.questions) == 2


def test_the_rounds_say_where_a_question_was_asked_before():
    told = Run().rounds("plan")[2]
    assert (told.kept, [(one.text, one.why) for one in told.dropped]) == (
        (BUILT,),
        [(LIVED, "asked already for “Life”")],
    )


def test_a_question_that_one_paragraph_asks_twice_is_one_question():
    told = Run(Writer(questions={"Life": f"{BORN}\n“When was Ada Bell BORN”?", "Work": BUILT})).rounds("plan")[1]
    assert (told.kept, [one.why for one in told.dropped]) == ((BORN,), ["asked already"])


def test_without_merging_a_question_is_kept_for_each_paragraph():
    run = Run(merge_questions=False)
    assert [question.text for question in run.answer.questions] == [BORN, LIVED, LIVED, BUILT]


def test_a_paragraph_without_questions_is_searched_for_by_its_description():
    assert Run(Writer(questions={"Life": BORN})).shelf.batches[1] == [BORN, WORK.description]


@pytest.mark.parametrize(
    "questions",
    [f"1. {BORN}\n2. {LIVED}", f"- {BORN}\n- {LIVED}", f"Here are the questions:\n\nQ1: {BORN}\nQ2: {LIVED}"],
)
def test_questions_are_read_in_whatever_form_they_come(questions: str):
    assert Run(Writer(questions={"Life": questions, "Work": BORN})).shelf.batches[1] == [BORN, LIVED]


def test_questions_without_end_are_cut_and_told():
    told = Run(max_questions=1).rounds("plan")[1]
    assert (told.kept, told.dropped[0].text) == ((BORN,), LIVED)


# ---------------------------------------------------------------- second search


def test_all_paragraph_questions_are_searched_in_one_batch():
    assert [len(batch) for batch in Run().shelf.batches] == [1, 3]


class Slow:
    """A model of several calls at once that takes its time, and remembers how many of each kind were in flight."""

    name, concurrency = "slow", 8

    def __init__(self) -> None:
        self.writer = Writer()
        self.flying: list[str] = []
        self.most: dict[str, int] = {}

    async def generate(self, requests: Sequence[Generate]) -> list[Reply]:
        kind = type(requests[0].prompt).__name__
        self.flying.append(kind)
        self.most[kind] = max(self.most.get(kind, 0), self.flying.count(kind))
        for _ in range(20):
            await asyncio.sleep(0)
        self.flying.remove(kind)
        return [Reply(str(self.writer(request))) for request in requests]


def test_questions_and_sections_are_asked_for_side_by_side():
    model = Slow()
    kit = Kit(Shelf(FOUND), Judge({}), {"main": model})
    asyncio.run(Driver(kit).answer(Job(TOPIC, "plan", "report", lambda: plan(TOPIC))))
    assert model.most == {"Outline": 1, "Questions": 2, "Write": 2}


def test_each_question_finds_its_own_share():
    run = Run(per_question=2)
    assert run.shelf.depths == [5, 2]


def test_every_passage_that_was_found_is_read():
    assert letters([passage.id for passage in Run().answer.passages]) == "ABCDEFG"


def test_a_section_reads_first_passages_then_question_hits():
    assert [shown(prompt) for prompt in Run().writer.prompts(Write)] == ["ABCDE", "ABDFEG"]


# ---------------------------------------------------------------- writing


def test_a_section_is_asked_for_by_its_paragraph():
    prompt = Run().writer.prompts(Write)[0]
    assert (prompt.paragraphs, prompt.style, prompt.findings, prompt.inline) == ((LIFE,), "long", (), False)


def test_claims_stand_in_their_sections():
    claims = Run().answer.claims
    assert [(claim.text, claim.section) for claim in claims] == [(BIRTH, "Life"), (HOME, "Life"), (TOWERS, "Work")]


def test_one_paragraph_is_written_by_the_prompt_of_one_retrieval():
    passages = tuple(PASSAGES[letter] for letter in "ABCDFEG")
    run = Run(layout="one")
    assert run.writer.drafting == [AnswerPrompt(TOPIC, passages, "long", (), "plain", inline=False)]


def test_one_paragraph_has_no_sections():
    run = Run(layout="one")
    assert (run.texts, run.answer.sections, run.answer.claims[0].section) == ([BIRTH, TOWERS], (), None)


@pytest.mark.parametrize(("style", "sections"), [("report", 2), ("long", 0), ("short", 0), ("list", 0)])
def test_a_report_alone_has_sections_by_default(style: str, sections: int):
    assert len(Run(style=style).answer.sections) == sections


def test_a_long_answer_has_sections_where_they_are_asked_for():
    assert len(Run(style="long", layout="sections").answer.sections) == 2


@pytest.mark.parametrize(("style", "preset"), [("long", "plain"), ("short", "cited"), ("list", "cited")])
def test_the_style_is_asked_for_by_a_prompt_that_fits_it(style: str, preset: str):
    prompts = Run(style=style).writer.drafting
    assert [(prompt.style, prompt.preset, prompt.inline) for prompt in prompts] == [(style, preset, False)]


def test_a_sentence_of_two_sections_stands_once():
    run = Run(Writer(texts={"Life": f"{BIRTH} {HOME}", "Work": f"{TOWERS} She lived in Hull!"}))
    assert run.texts == [BIRTH, HOME, TOWERS]


def test_of_a_sentence_of_two_sections_the_supported_one_stays():
    claims = Run(Writer(texts={"Life": BIRTH, "Work": BIRTH}), {BIRTH: ["G"]}).answer.claims
    assert [(claim.text, claim.section, letters(claim.cited)) for claim in claims] == [(BIRTH, "Work", "G")]


def test_a_sentence_that_a_section_has_twice_stands_once_and_is_told():
    told = Run(Writer(texts={"Life": "She was born in 1790 [1]. She was born in 1790 [2]."})).rounds("draft")[0]
    assert (told.kept, [one.why for one in told.dropped]) == ((BIRTH,), ["stands here already"])


def test_the_rounds_say_where_a_dropped_sentence_stands():
    told = Run(Writer(texts={"Life": BIRTH, "Work": f"{TOWERS} {BIRTH}"})).rounds("draft")[1]
    assert [(dropped.text, dropped.why) for dropped in told.dropped] == [(BIRTH, "stands under “Life” too")]


def test_a_section_of_which_nothing_was_written_is_noted_and_left_out():
    run = Run(Writer(texts={"Life": BIRTH}), {BIRTH: ["C"]})
    assert ([s.title for s in run.answer.sections], run.answer.notes) == (
        ["Life"],
        ("Parts of the plan without text: Work.",),
    )


@pytest.mark.parametrize("layout", ["one", "sections"])
def test_empty_drafts_are_an_abstention(layout: str):
    run = Run(Writer(texts="", whole=""), layout=layout)
    assert (run.answer.status, run.answer.notes, run.answer.sections) == ("abstained", (EMPTY,), ())


@pytest.mark.parametrize("layout", ["one", "sections"])
def test_a_model_that_refuses_to_write_is_no_silence_of_the_sources(layout: str):
    refused = Reply("I cannot help.", finish="refused")
    run = Run(Writer(texts=dict.fromkeys(("Life", "Work"), refused), whole=refused), layout=layout)
    assert (run.answer.status, run.answer.notes) == ("abstained", (REFUSED,))


def verdicts(draft: Answer) -> list[str | None]:
    """For each claim that is shown, its verdict so far."""
    return [claim.support.label if claim.support else None for claim in draft.claims]


def test_parts_are_shown_as_they_come_and_again_when_they_are_judged():
    drafts = Run(supports=ALL_TRUE).drafts
    assert [verdicts(draft) for draft in drafts] == [
        [None, None],
        [None, None, None],
        ["supported", "supported", None],
        ["supported"] * 3,
    ]


def test_what_is_shown_has_the_sections_that_are_there():
    assert [[section.title for section in draft.sections] for draft in Run().drafts[:2]] == [["Life"], ["Life", "Work"]]


# ---------------------------------------------------------------- searches that fail


def test_a_failed_search_leaves_other_questions_their_passages():
    run = Run(supports=ALL_TRUE, down=[LIVED])
    told = {step.queries[0]: (letters(step.read), len(step.dropped)) for step in run.rounds("search")}
    assert told == {TOPIC: ("AB", 0), BORN: ("CD", 0), LIVED: ("", 1), BUILT: ("FAG", 0)}


def test_questions_whose_search_failed_stand_in_one_note():
    note = f"Passages may be missing, because a search failed: “{BORN}”, “{LIVED}”. The search server is busy."
    assert note in Run(supports=ALL_TRUE, down=[BORN, LIVED]).answer.notes


def test_a_first_search_that_fails_fails_the_answer():
    assert Run(down=[TOPIC]).outcome.exit_code == 3


# ---------------------------------------------------------------- attribution


def test_a_sentence_cites_the_smallest_set_that_supports_it():
    assert Run(supports=ALL_TRUE).cited == ["C", "D", "AF"]


def test_single_passages_come_first():
    assert Run(supports={BIRTH: ["AB", "D"]}).cited[0] == "D"


def test_a_sentence_that_nothing_supports_is_unsupported_and_cites_nothing():
    claim = Run().answer.claims[0]
    assert (claim.citations, claim.support.label) == ((), "unsupported")


def test_a_sentence_may_rest_only_on_what_its_section_read():
    assert Run(supports={BIRTH: ["F"], TOWERS: ["F"]}).cited == ["", "", "F"]


def test_a_sentence_may_not_rest_on_what_the_window_could_not_hold():
    texts = {"Life": Reply(BIRTH, omitted=2), "Work": TOWERS}
    assert Run(Writer(texts=texts), {BIRTH: ["D"]}).cited[0] == ""


def test_what_the_window_could_not_hold_is_told():
    told = Run(Writer(texts={"Life": Reply(BIRTH, omitted=2)})).rounds("draft")[0]
    assert (letters(told.read), "window" in told.dropped[0].why) == ("ABC", True)


def test_sections_are_judged_in_two_requests():
    assert len(Run(supports={BIRTH: ["C"]}).judge.batches) == 2


@pytest.mark.parametrize(("policy", "kept"), [("keep", 3), ("flag", 3), ("drop", 1)])
def test_the_policy_decides_what_becomes_of_an_unsupported_sentence(policy: str, kept: int):
    assert len(Run(supports={BIRTH: ["C"]}, unsupported=policy).answer.claims) == kept


def test_a_section_whose_sentences_were_all_dropped_is_left_out():
    answer = Run(supports={BIRTH: ["C"]}, unsupported="drop").answer
    assert [section.title for section in answer.sections] == ["Life"]


# ---------------------------------------------------------------- inline citations


INLINE = Writer(texts={"Life": "She was born in 1790 [3]. She lived in Hull [9].", "Work": "She built ten towers."})


def test_inline_asks_for_citations():
    run = Run(Writer(), inline=True)
    assert all(prompt.inline for prompt in run.writer.prompts(Write))


def test_inline_judges_what_the_model_cites():
    assert Run(INLINE, ALL_TRUE, inline=True).judge.asked == [(BIRTH, "C")]


def test_inline_leaves_a_sentence_without_citation_unsupported():
    run = Run(INLINE, ALL_TRUE, inline=True)
    assert ([claim.is_supported for claim in run.answer.claims], run.cited) == ([True, False, False], ["C", "", ""])


def test_a_label_that_was_not_offered_is_counted():
    assert Run(INLINE, inline=True).answer.invalid_citations == 1


def test_inline_uses_the_prompt_with_citations_for_one_paragraph():
    prompt = Run(layout="one", inline=True).writer.drafting[0]
    assert (prompt.preset, prompt.inline) == ("cited", True)


def test_without_inline_what_a_model_cites_is_ignored():
    assert Run(INLINE, {BIRTH: ["D"]}).cited[0] == "D"


def test_without_inline_a_draft_is_shown_without_citations():
    assert Run(INLINE).drafts[0].claims[0].citations == ()


# ---------------------------------------------------------------- ablations


def test_without_second_search_there_is_one_search():
    run = Run(second_search=False)
    assert (run.shelf.batches, [shown(p) for p in run.writer.prompts(Write)]) == ([[TOPIC]], ["AB", "AB"])


def test_without_second_search_first_passages_answer_questions():
    run = Run(supports={BIRTH: ["B"]}, second_search=False)
    asked = run.answer.questions[0]
    assert (asked.outcome, letters(asked.passages)) == ("answered", "B")


def test_without_outline_the_questions_are_asked_about_the_topic():
    run = Run(Writer(questions=f"{BORN}\n{BUILT}"), outline=False)
    assert [prompt.paragraph for prompt in run.writer.prompts(Questions)] == [None]


def test_without_outline_one_paragraph_is_written():
    run = Run(Writer(questions=f"{BORN}\n{BUILT}"), outline=False)
    assert (run.writer.prompts(Outline), [shown(p) for p in run.writer.drafting]) == ([], ["ABCFDG"])


def test_without_outline_and_questions_the_topic_is_searched_for():
    assert Run(Writer(questions=""), outline=False).shelf.batches[1] == [TOPIC]


# ---------------------------------------------------------------- outcomes


def test_supported_claim_on_its_passages_answers_a_question():
    asked = Run(supports=ALL_TRUE).answer.questions[0]
    assert (asked.outcome, letters(asked.passages)) == ("answered", "C")


def test_a_question_without_a_supported_claim_is_unanswerable():
    assert Run().outcomes == ["unanswerable"] * 3


def test_a_claim_on_other_passages_answers_no_question():
    assert Run(supports={BIRTH: ["A"]}).outcomes[0] == "unanswerable"


def test_a_claim_that_cites_but_is_not_supported_answers_no_question():
    assert Run(INLINE, inline=True).outcomes[0] == "unanswerable"


def test_answered_question_has_the_passages_of_its_claims():
    near = "She was born to a poor family."
    asked = Run(Writer(texts={"Life": f"{BIRTH} {near}"}), {BIRTH: ["C"], near: ["D"]}).answer.questions[0]
    assert letters(asked.passages) == "C"


def test_a_figure_of_the_question_itself_is_no_answer():
    question, said = "How many towers of 1824 did Ada Bell build?", "She did build the towers of 1824."
    writer = Writer(questions={"Life": question, "Work": question}, texts={"Life": said})
    assert Run(writer, {said: ["C"]}, found={TOPIC: "AB", question: "C"}).outcomes == ["partly"]


def test_a_claim_without_what_is_asked_for_answers_in_part():
    said = "She was born to a poor family."
    assert Run(Writer(texts={"Life": said}), {said: ["C"]}).outcomes[0] == "partly"


def test_a_claim_about_something_else_answers_nothing():
    said = "She sailed to Lisbon in 1820."
    assert Run(Writer(texts={"Life": said}), {said: ["C"]}).outcomes[0] == "unanswerable"


@pytest.mark.parametrize(
    "question", ["When and where was Ada Bell born?", "When was Ada Bell born, and who were her parents?"]
)
def test_a_half_answered_question_is_partly_answered(question: str):
    writer = Writer(questions={"Life": question, "Work": question})
    assert Run(writer, {BIRTH: ["C"]}, found={TOPIC: "AB", question: "C"}).outcomes == ["partly"]


def test_a_question_of_two_parts_is_answered_when_both_are():
    question = "When and where was Ada Bell born?"
    said = "She was born in 1790 in Hull."
    writer = Writer(questions={"Life": question, "Work": question}, texts={"Life": said})
    assert Run(writer, {said: ["C"]}, found={TOPIC: "AB", question: "C"}).outcomes == ["answered"]


# ---------------------------------------------------------------- what is told


def test_the_rounds_tell_the_whole_story_in_order():
    kinds = [told.kind for told in Run(supports=ALL_TRUE).answer.rounds]
    assert kinds == ["search", "plan", "plan", "plan", "search", "search", "search", "draft", "draft", "verify"]


def test_the_rounds_of_questions_name_their_paragraph():
    assert [told.text for told in Run().rounds("plan")] == [None, "Life", "Work"]


def test_the_rounds_of_paragraphs_and_sections_are_counted_from_one():
    run = Run()
    assert ([told.n for told in run.rounds("plan")], [told.n for told in run.rounds("draft")]) == ([1, 1, 2], [1, 2])


def test_a_search_round_names_its_question_and_what_it_found():
    told = Run().rounds("search")[1]
    assert (told.queries, letters(told.read)) == ((BORN,), "CD")


def test_a_draft_round_holds_the_section_as_it_was_written():
    assert Run().rounds("draft")[0].text == f"Life\n{BIRTH} {HOME}"


def test_the_calls_are_an_outline_the_questions_and_the_sections():
    assert Run().answer.usage.calls == {"main": 5}


# ---------------------------------------------------------------- what cannot be


@table(
    "options",
    [
        {"variant": "C"},
        {"kind": "place"},
        {"layout": "two"},
        {"unanswerable": "hide"},
        {"k": 0},
        {"per_question": 0},
        {"max_paragraphs": 0},
        {"max_questions": True},
        {"variant": "B", "inline": True},
        {"unanswerable": "drop"},
        {"variant": "B", "qa_threshold": 0.0},
        {"variant": "B", "qa_threshold": float("nan")},
        {"layout": "sections", "outline": False},
        {"layout": "sections", "style": "list"},
    ],
)
def test_options_that_mean_nothing_are_refused(options: dict[str, object]):
    assert isinstance(Run(**options).error, UsageError)


def test_an_option_is_refused_before_anything_is_spent():
    assert Run(variant="B", inline=True).shelf.batches == []


class Failing(Writer):
    """Fails for the prompts of that kind, or only for the paragraph of that title."""

    def __init__(self, kind: type, title: str | None = None) -> None:
        super().__init__()
        self.kind, self.title = kind, title

    def __call__(self, request: Generate) -> str | Reply:
        prompt = request.prompt
        if isinstance(prompt, self.kind) and (self.title is None or prompt.paragraphs[0].title == self.title):
            raise ModelError("The model is down.")
        return super().__call__(request)


@pytest.mark.parametrize("kind", [Outline, Questions, Write])
def test_a_model_that_fails_fails_the_answer(kind: type):
    run = Run(Failing(kind))
    assert (run.answer.status, run.answer.notes) == ("failed", ("The model is down.",))


def test_a_section_for_which_the_model_fails_is_left_out_and_noted():
    answer = Run(Failing(Write, "Work"), ALL_TRUE).answer
    assert ([section.title for section in answer.sections], answer.notes) == (
        ["Life"],
        ("Not written: Work. The model is down.", "Parts of the plan without text: Work."),
    )


def test_the_rounds_tell_why_a_section_was_not_written():
    told = Run(Failing(Write, "Work"), ALL_TRUE).rounds("draft")[1]
    assert [(one.text, one.why) for one in told.dropped] == [("Work", "The model is down.")]


@pytest.mark.parametrize("calls", [1, 3, 4])
def test_a_budget_ending_before_verification_fails_the_answer(calls: int):
    assert Run(budget=Budget(calls=calls)).answer.status == "failed"


def test_a_budget_ending_while_writing_keeps_verified_sections():
    answer = Run(supports=ALL_TRUE, budget=Budget(calls=4)).answer
    assert (verdicts(answer), [section.title for section in answer.sections]) == (["supported"] * 2, ["Life"])


def test_a_text_whose_budget_ends_names_the_sections_that_were_not_written():
    assert "Parts of the plan without text: Work." in Run(supports=ALL_TRUE, budget=Budget(calls=4)).answer.notes


def test_a_rescued_text_names_the_sections_it_drops():
    writer = Writer(f"{OUTLINE}\n3. Death: Tell of her last years.")
    answer = Run(writer, {BIRTH: ["C"]}, unsupported="drop", budget=Budget(calls=6)).answer
    told = [note for note in answer.notes if "without text" in note]
    assert ([section.title for section in answer.sections], told) == (
        ["Life"],
        ["Parts of the plan without text: Death.", "Parts of the plan without text: Work."],
    )
