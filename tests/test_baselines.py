"""The baselines: what each asks of its model and judge, branch by branch, and what it makes of the replies."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from itertools import cycle
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from row_tables import table

from toulmin.data import Answer, Passage
from toulmin.driver.budget import Budget
from toulmin.driver.drive import Driver, Job, Outcome
from toulmin.driver.kit import Kit
from toulmin.errors import BudgetEnded, ModelError, ToulminError, UsageError
from toulmin.extractive.writer import Extractive
from toulmin.formats import answer_json
from toulmin.judges.lexical import Lexical
from toulmin.methods.direct import FROM_MEMORY, NO_MEMORY, closed, snippet, summ, vanilla
from toulmin.methods.reporting import DROPPED, EMPTY, REFUSED, SILENCE
from toulmin.methods.sampling import rerank, self_refine, usc
from toulmin.models.scripted import ScriptedModel
from toulmin.prompts.replies import Reply
from toulmin.prompts.types import AnswerPrompt, Example, Extract, Feedback, MostConsistent, Refine, Summarise
from toulmin.retrieval.bm25 import StaticRanking
from toulmin.steps import Generate, Pair, Verdict

LIT = Passage.of("Kettle Rock is a lighthouse. The tower was lit for the first time on 3 May 1824.", "Kettle Rock")
KEEPERS = Passage.of("Three keepers lived in the tower until 1978. The last keeper was Tom Ashby.", "Kettle Rock")
BUILT = Passage.of("The tower was built by Hannah Pell between 1821 and 1824.", "Hannah Pell")
PASSAGES = (LIT, KEEPERS, BUILT)
QUESTION = "When was the tower lit?"
EXAMPLE = Example("Who?", (KEEPERS,), "Ashby [1].")

TRUE = "The tower was lit on 3 May 1824 [1]."
FALSE = "The tower was painted green in 1999 [1]."

Script = Callable[[Any, Generate], str | Reply]
Method = Callable[..., Any]
METHODS: dict[str, Method] = {
    "closed": closed,
    "vanilla": vanilla,
    "summ": summ,
    "snippet": snippet,
    "rerank": rerank,
    "usc": usc,
    "self-refine": self_refine,
}
SEARCHING = [name for name in METHODS if name != "closed"]


class Writer(ScriptedModel):
    """Writes by a function of the prompt and its request, and remembers what it was asked."""

    def __init__(self, script: Script) -> None:
        super().__init__(self._reply)
        self.script = script
        self.asked: list[Generate] = []

    def _reply(self, request: Generate) -> str | Reply:
        self.asked.append(request)
        return self.script(request.prompt, request)

    def prompts(self, kind: type[Any]) -> list[Any]:
        return [request.prompt for request in self.asked if isinstance(request.prompt, kind)]


class Counting(Lexical):
    """The lexical judge, remembering the requests."""

    def __init__(self) -> None:
        super().__init__()
        self.requests: list[Sequence[Pair]] = []

    def judge(self, pairs: Sequence[Pair]) -> list[Verdict]:
        self.requests.append(pairs)
        return list(super().judge(pairs))


def outcome(
    name: str,
    model: Any,
    passages: Sequence[Passage] = PASSAGES,
    judge: Lexical | None = None,
    watch: Callable[[Answer], None] | None = None,
    question: str = QUESTION,
    **options: Any,
) -> Outcome:
    kit = Kit(StaticRanking(passages), judge or Lexical(), {"main": model})
    job = Job(question, name, options.get("style", "long"), lambda: METHODS[name](question, **options))
    return asyncio.run(Driver(kit).answer(job, watch))


def answered(name: str, model: Any, *rest: Any, **options: Any) -> Answer:
    done = outcome(name, model, *rest, **options)
    assert done.error is None
    return done.answer


def saying(text: str) -> Writer:
    return Writer(lambda *_: text)


def failure(name: str, model: Any, **options: Any) -> ToulminError | None:
    return outcome(name, model, **options).error


def kinds(answer: Answer) -> list[str]:
    return [told.kind for told in answer.rounds]


# ---------------------------------------------------------------- all of them


@pytest.mark.parametrize("name", SEARCHING)
def test_without_passages_no_model_is_asked(name: str):
    writer = saying(TRUE)
    answer = answered(name, writer, ())
    assert (answer.status, answer.notes, writer.asked) == ("abstained", (SILENCE,), [])


@pytest.mark.parametrize("name", METHODS)
def test_an_answer_bears_the_name_of_its_method(name: str):
    assert answered(name, saying("")).method == name


@pytest.mark.parametrize("name", METHODS)
def test_empty_replies_end_in_an_abstention(name: str):
    assert answered(name, saying("")).status == "abstained"


@table("name", METHODS)
@table("style", ["long", "list", "short", "report"])
def test_the_embedded_writer_gives_a_valid_answer_in_every_style(name: str, style: str):
    answer = answered(name, Extractive(), style=style)
    assert (answer.status == "answered") == (name != "closed")


@table("name", SEARCHING)
@table("style", ["long", "short"])
def test_what_the_embedded_writer_says_is_supported(name: str, style: str):
    assert [
        claim.support.label for claim in answered(name, Extractive(), style=style).claims if not claim.is_supported
    ] == []


@pytest.mark.parametrize("name", METHODS)
def test_every_passage_that_a_round_read_is_in_the_answer(name: str):
    answer = answered(name, Extractive())
    assert {id for told in answer.rounds for id in told.read} <= {passage.id for passage in answer.passages}


@pytest.mark.parametrize("name", SEARCHING)
def test_the_rounds_begin_with_the_search_and_end_with_the_verdicts(name: str):
    told = kinds(answered(name, Extractive()))
    assert (told[0], told[-1]) == ("search", "verify")


@pytest.mark.parametrize("name", SEARCHING)
def test_a_draft_is_shown_before_it_is_judged(name: str):
    seen: list[Answer] = []
    answered(name, Extractive(), watch=seen.append)
    assert [claim.support for draft in seen for claim in draft.claims if claim.support] == []
    assert seen


@pytest.mark.parametrize("name", SEARCHING)
def test_examples_preset_and_style_reach_the_prompt(name: str):
    writer = saying("")
    answered(name, writer, examples=(EXAMPLE,), prompt="simple", style="short")
    if name in ("summ", "snippet"):
        writer = Writer(lambda prompt, _: "" if isinstance(prompt, AnswerPrompt) else "Lit in 1824.")
        answered(name, writer, examples=(EXAMPLE,), prompt="simple", style="short")
    asked = writer.prompts(AnswerPrompt)[0]
    assert (asked.examples, asked.preset, asked.style, asked.inline) == ((EXAMPLE,), "simple", "short", True)


@pytest.mark.parametrize("name", SEARCHING)
def test_the_policy_drops_what_nothing_supports(name: str):
    def script(prompt: Any, _: Generate) -> str:
        return f"{TRUE} {FALSE}" if isinstance(prompt, AnswerPrompt | Refine) else "Lit on 3 May 1824."

    assert len(answered(name, Writer(script), unsupported="drop").claims) == 1


@pytest.mark.parametrize("name", METHODS)
def test_a_model_that_fails_makes_the_answer_fail_with_its_reason(name: str):
    def script(*_: Any) -> str:
        raise ModelError("The server is away.")

    done = outcome(name, Writer(script))
    assert (done.answer.status, "away" in done.answer.notes[-1]) == ("failed", True)


NOISE = st.text(st.sampled_from('tower lit1234[],;.:*#\n-\\"“【】(Irrelevant)'), max_size=60)


@pytest.mark.parametrize("name", METHODS)
@settings(deadline=None, max_examples=25)
@given(replies=st.lists(NOISE, min_size=1, max_size=5), style=st.sampled_from(["long", "list", "short", "report"]))
def test_whatever_the_model_replies_the_answer_cites_only_what_was_read(name: str, replies: list[str], style: str):
    endless = cycle(replies)
    answer = answered(name, Writer(lambda *_: next(endless)), style=style)
    assert {id for claim in answer.claims for id in claim.cited} <= {passage.id for passage in answer.passages}


@pytest.mark.parametrize("name", METHODS)
def test_the_answer_survives_the_wire(name: str):
    answer = answered(name, Extractive())
    back = answer_json.parse(answer_json.dumps(answer))
    assert (back.claims, back.rounds, back.notes) == (answer.claims, answer.rounds, answer.notes)


@pytest.mark.parametrize("name", METHODS)
def test_a_recorded_run_gives_the_same_answer_without_a_model(name: str):
    first = outcome(name, Extractive())
    silent = Kit(StaticRanking(()), Lexical(), {})
    again = asyncio.run(Driver(silent).answer(first.job, replay=first.transcript))
    assert again.answer == first.answer


@pytest.mark.parametrize("name", METHODS)
def test_a_spent_budget_ends_the_method_with_its_reason(name: str):
    kit = Kit(StaticRanking(PASSAGES), Lexical(), {"main": saying(TRUE)})
    job = Job(QUESTION, name, "long", lambda: METHODS[name](QUESTION), Budget(calls=1))
    done = asyncio.run(Driver(kit).answer(job))
    assert done.exit_code == (0 if name in ("closed", "vanilla") else BudgetEnded.exit_code)


# ---------------------------------------------------------------- closed


def test_closed_searches_and_judges_nothing():
    usage = answered("closed", saying("The tower was lit in 1824.")).usage
    assert (usage.calls, usage.searches, usage.judge_pairs) == ({"main": 1}, 0, 0)


def test_closed_asks_for_no_citations_and_shows_no_passage():
    writer = saying("x")
    answered("closed", writer, prompt="simple", style="short")
    assert writer.asked[0].prompt == AnswerPrompt(QUESTION, (), "short", (), "simple", inline=False)


def test_a_claim_from_memory_was_not_checked():
    claim = answered("closed", saying("The tower was lit in 1824.")).claims[0]
    assert (claim.support, claim.citations) == (None, ())


def test_no_round_of_verdicts_is_told_where_nothing_was_judged():
    assert kinds(answered("closed", saying("The tower was lit in 1824."))) == ["draft"]


def test_an_answer_from_memory_says_so():
    assert FROM_MEMORY in answered("closed", saying("The tower was lit in 1824.")).notes


def test_no_claim_from_memory_stays_where_only_supported_ones_may():
    answer = answered("closed", saying("The tower was lit in 1824."), unsupported="drop")
    assert (answer.status, answer.notes) == ("abstained", (FROM_MEMORY,))


def test_an_answer_whose_every_claim_fell_does_not_say_that_the_sources_are_silent():
    answer = answered("vanilla", saying("The tower was painted green in 1999 [1]."), unsupported="drop")
    assert (answer.status, answer.notes[-1]) == ("abstained", DROPPED)


def test_a_model_that_knows_nothing_says_nothing_about_the_sources():
    assert answered("closed", saying("")).notes == (NO_MEMORY,)


def test_a_mark_in_an_answer_from_memory_points_nowhere():
    answer = answered("closed", saying(TRUE))
    assert (answer.invalid_citations, answer.claims[0].citations) == (1, ())


def test_attribution_finds_the_passage_that_supports_a_claim_from_memory():
    claim = answered("closed", saying("The tower was built by Hannah Pell."), attribute=True).claims[0]
    assert (claim.cited, claim.is_supported) == ((BUILT.id,), True)


def test_attribution_leaves_what_nothing_supports_without_citation():
    claim = answered("closed", saying("The tower was painted green in 1999."), attribute=True).claims[0]
    assert (claim.cited, claim.is_supported) == ((), False)


def test_attribution_searches_once_with_the_question():
    answer = answered("closed", saying("The tower was lit in 1824. It is green."), attribute=True, k=2)
    assert [(told.queries, told.read) for told in answer.rounds if told.kind == "search"] == [
        ((QUESTION,), (LIT.id, KEEPERS.id))
    ]


def test_an_answer_whose_claims_were_attributed_is_not_called_unchecked():
    assert FROM_MEMORY not in answered("closed", saying("The tower was lit in 1824."), attribute=True).notes


def test_attribution_without_any_source_supports_nothing():
    answer = answered("closed", saying("The tower was lit in 1824."), (), attribute=True)
    assert [claim.is_supported for claim in answer.claims] == [False]


def test_nothing_is_searched_for_an_empty_answer_from_memory():
    assert answered("closed", saying(""), attribute=True).usage.searches == 0


# ---------------------------------------------------------------- vanilla


def test_vanilla_with_doubled_k_reads_twice_as_many_passages():
    many = [Passage.of(f"Fact {n} about the tower.", "Tower") for n in range(12)]
    read = [len(answered("vanilla", saying("x [1]"), many, k=k).rounds[1].read) for k in (5, 10)]
    assert read == [5, 10]


def test_without_inline_citations_each_claim_is_attributed_afterwards():
    answer = answered("vanilla", saying("The tower was built by Hannah Pell. It is green."), inline=False)
    assert [claim.cited for claim in answer.claims] == [(BUILT.id,), ()]


def test_a_prompt_without_citations_is_attributed_afterwards():
    writer = saying("The tower was built by Hannah Pell.")
    answer = answered("vanilla", writer, prompt="plain")
    assert (answer.claims[0].cited, writer.asked[0].prompt.inline) == ((BUILT.id,), False)


def test_a_passage_outside_the_window_attributes_nothing():
    writer = Writer(lambda *_: Reply("The tower was built by Hannah Pell.", omitted=1))
    assert answered("vanilla", writer, inline=False).claims[0].cited == ()


# ---------------------------------------------------------------- summ, snippet


def shortening(prompt: Any, _: Generate) -> str:
    """Only the second and third passages are relevant; the answer cites their summaries by label."""
    if isinstance(prompt, AnswerPrompt):
        return "Three keepers lived in the tower until 1978 [1]. The tower was built by Hannah Pell [2]."
    return {LIT.id: "Irrelevant.", KEEPERS.id: "Keepers until 1978.", BUILT.id: "Built by Pell."}[prompt.passage.id]


@pytest.mark.parametrize("name", ["summ", "snippet"])
def test_citations_of_shortened_passages_point_at_the_originals(name: str):
    answer = answered(name, Writer(shortening))
    assert [claim.cited for claim in answer.claims] == [(KEEPERS.id,), (BUILT.id,)]


@pytest.mark.parametrize("name", ["summ", "snippet"])
def test_verdicts_and_quotes_are_about_the_originals(name: str):
    claim = answered(name, Writer(shortening)).claims[0]
    assert (claim.is_supported, claim.citations[0].quote.text) == (True, "Three keepers lived in the tower until 1978.")


@pytest.mark.parametrize("name", ["summ", "snippet"])
def test_the_answer_is_written_from_the_shortened_texts_alone(name: str):
    writer = Writer(shortening)
    answered(name, writer)
    shown = writer.prompts(AnswerPrompt)[0].passages
    assert [(p.title, p.text) for p in shown] == [
        ("Kettle Rock", "Keepers until 1978."),
        ("Hannah Pell", "Built by Pell."),
    ]


@pytest.mark.parametrize("name", ["summ", "snippet"])
def test_a_shortened_passage_is_not_the_original_by_another_text(name: str):
    writer = Writer(shortening)
    answered(name, writer)
    assert {p.id for p in writer.prompts(AnswerPrompt)[0].passages} & {p.id for p in PASSAGES} == set()


@pytest.mark.parametrize("name", ["summ", "snippet"])
def test_shortening_takes_a_call_a_passage_and_one_for_the_answer(name: str):
    assert answered(name, Writer(shortening)).usage.calls == {"main": 4}


@pytest.mark.parametrize("name", ["summ", "snippet"])
def test_ten_passages_are_shortened_unless_told_otherwise(name: str):
    many = [Passage.of(f"Fact {n} about the tower.", "Tower") for n in range(12)]
    assert answered(name, Writer(lambda *_: "x"), many).usage.calls == {"main": 11}


@pytest.mark.parametrize("name", ["summ", "snippet"])
def test_where_every_passage_is_irrelevant_no_answer_is_asked_for(name: str):
    writer = saying("Irrelevant.")
    answer = answered(name, writer)
    assert (answer.status, answer.notes, writer.prompts(AnswerPrompt)) == ("abstained", (SILENCE,), [])


@pytest.mark.parametrize("name", ["summ", "snippet"])
def test_the_rounds_tell_what_each_passage_was_shortened_to_or_why_it_went(name: str):
    told = [t for t in answered(name, Writer(shortening)).rounds if t.kind == "refine"]
    assert [(t.n, t.read, t.kept, [d.text for d in t.dropped]) for t in told] == [
        (1, (LIT.id,), (), [LIT.text]),
        (2, (KEEPERS.id,), ("Keepers until 1978.",), []),
        (3, (BUILT.id,), ("Built by Pell.",), []),
    ]


def test_the_round_of_the_draft_names_the_originals():
    draft = next(told for told in answered("summ", Writer(shortening)).rounds if told.kind == "draft")
    assert draft.read == (KEEPERS.id, BUILT.id)


def test_of_passages_shortened_to_the_same_words_the_best_ranked_is_cited():
    writer = Writer(lambda prompt, _: TRUE if isinstance(prompt, AnswerPrompt) else "Lit in 1824.")
    answer = answered("summ", writer, (LIT, KEEPERS))
    assert (len(writer.prompts(AnswerPrompt)[0].passages), answer.claims[0].cited) == (1, (LIT.id,))


def test_a_passage_that_was_found_twice_is_cited_once():
    writer = Writer(
        lambda prompt, r: "Lit [1][2]." if isinstance(prompt, AnswerPrompt) else f"Lit, {len(writer.asked)}."
    )
    assert answered("summ", writer, (LIT, LIT)).claims[0].cited == (LIT.id,)


def test_a_passage_shortened_to_the_words_of_another_is_told_as_left_out():
    writer = Writer(lambda prompt, _: TRUE if isinstance(prompt, AnswerPrompt) else "Lit in 1824.")
    told = [t for t in answered("summ", writer, (LIT, KEEPERS)).rounds if t.kind == "refine"]
    assert ["same words" in d.why for t in told for d in t.dropped] == [True]


def test_a_summary_with_the_text_of_another_passage_is_led_back_to_its_own():
    def script(prompt: Any, _: Generate) -> str:
        return "Lit [1]." if isinstance(prompt, AnswerPrompt) else (KEEPERS.text if prompt.passage == LIT else "No.")

    assert answered("summ", Writer(script), (LIT, KEEPERS)).claims[0].cited == (LIT.id,)


def test_labels_beyond_the_summaries_are_counted_as_invalid():
    writer = Writer(lambda prompt, _: "Lit [1][3]." if isinstance(prompt, AnswerPrompt) else shortening(prompt, _))
    answer = answered("summ", writer)
    assert (answer.invalid_citations, answer.claims[0].cited) == (1, (KEEPERS.id,))


def test_a_summary_that_the_window_could_not_hold_is_no_longer_citable():
    def script(prompt: Any, request: Generate) -> Reply:
        if isinstance(prompt, AnswerPrompt):
            return Reply("Three keepers lived there [1][2].", omitted=1)
        return Reply(shortening(prompt, request))

    answer = answered("summ", Writer(script))
    draft = next(told for told in answer.rounds if told.kind == "draft")
    assert (answer.claims[0].cited, answer.invalid_citations, draft.read) == ((KEEPERS.id,), 1, (KEEPERS.id,))


def test_summaries_are_asked_for_with_their_length():
    writer = Writer(shortening)
    answered("summ", writer, words=20)
    assert writer.prompts(Summarise) == [Summarise(QUESTION, passage, 20) for passage in PASSAGES]


def test_snippets_are_asked_for_by_extraction():
    writer = Writer(shortening)
    answered("snippet", writer)
    assert writer.prompts(Extract) == [Extract(QUESTION, passage) for passage in PASSAGES]


@pytest.mark.parametrize(("name", "shortened"), [("summ", "summary"), ("snippet", "extraction")])
def test_the_answer_is_asked_for_as_one_from_shortened_passages(name: str, shortened: str):
    writer = Writer(shortening)
    answered(name, writer)
    assert [prompt.shortened for prompt in writer.prompts(AnswerPrompt)] == [shortened]


def test_a_summary_of_no_words_is_refused():
    assert isinstance(failure("summ", saying(TRUE), words=0), UsageError)


# ---------------------------------------------------------------- rerank


def samples(*texts: str) -> Writer:
    """Writes the n-th text for sample n; chooses the last where it is asked to choose."""
    return Writer(
        lambda prompt, request: str(len(texts)) if isinstance(prompt, MostConsistent) else texts[request.sample]
    )


def chosen(answer: Answer) -> list[int]:
    return [told.n for told in answer.rounds if told.chosen]


HALF = f"{TRUE} {FALSE}"


def test_rerank_keeps_the_sample_with_the_best_citation_recall():
    answer = answered("rerank", samples(FALSE, HALF, TRUE, FALSE))
    assert (answer.text, chosen(answer)) == (TRUE, [3])


def test_rerank_tells_every_sample_with_its_recall():
    answer = answered("rerank", samples(FALSE, HALF, TRUE, ""))
    drafts = [told for told in answer.rounds if told.kind == "draft"]
    assert [dict(told.scores) for told in drafts] == [{"citation_recall": r} for r in (0.0, 0.5, 1.0, 0.0)]


def test_rerank_keeps_the_first_of_equals():
    other = "The tower was lit for the first time on 3 May 1824 [1]."
    assert answered("rerank", samples(FALSE, other, TRUE, TRUE)).text == other


def test_a_sample_is_returned_even_when_all_score_0():
    answer = answered("rerank", samples(FALSE, "It is blue [2].", "It is red [1].", ""))
    assert (answer.status, answer.text) == ("answered", FALSE)


def test_an_uncited_claim_scores_0_by_either_measure():
    uncited = "The tower was lit on 3 May 1824."
    assert [answered("rerank", samples(uncited, TRUE), n=2, by=by).text for by in ("cited", "all")] == [TRUE, TRUE]


def test_a_claim_with_only_invalid_citations_scores_0_by_all_passages_too():
    assert answered("rerank", samples(TRUE.replace("1]", "9]"), TRUE), n=2, by="all").text == TRUE


def test_by_all_passages_a_wrong_citation_costs_nothing():
    wrong = "The tower was lit on 3 May 1824 [2]."
    picked = [chosen(answered("rerank", samples(wrong, TRUE), n=2, by=by)) for by in ("cited", "all")]
    assert picked == [[2], [1]]


def test_a_passage_that_the_window_could_not_hold_is_none_of_all_passages():
    writer = Writer(lambda *_: Reply("The tower was built by Hannah Pell [1].", omitted=1))
    drafts = [told for told in answered("rerank", writer, n=1, by="all").rounds if told.kind == "draft"]
    assert [dict(told.scores) for told in drafts] == [{"citation_recall": 0.0}]


def test_by_all_passages_the_verdicts_are_still_about_what_is_cited():
    answer = answered("rerank", samples("The tower was lit on 3 May 1824 [2]."), n=1, by="all")
    assert (answer.claims[0].cited, answer.claims[0].is_supported) == ((KEEPERS.id,), False)


def test_rerank_draws_its_samples_at_a_high_temperature():
    writer = samples(TRUE, TRUE, TRUE, TRUE)
    answered("rerank", writer)
    assert sorted((request.sample, request.temperature) for request in writer.asked) == [
        (0, 1.0),
        (1, 1.0),
        (2, 1.0),
        (3, 1.0),
    ]


def test_rerank_judges_all_samples_in_one_request():
    judge = Counting()
    answered("rerank", samples(FALSE, HALF, TRUE, "It is blue [2]."), judge=judge)
    assert [len(pairs) for pairs in judge.requests] == [3]


def test_rerank_counts_only_the_invalid_citations_of_what_it_returns():
    assert (
        answered("rerank", samples("Lit in 1700 [1][8][9].", TRUE.replace("[1]", "[1][7]")), n=2).invalid_citations == 1
    )


@pytest.mark.parametrize(
    ("style", "texts", "kept"),
    [
        ("list", ("green [1], blue [2]", "3 May 1824 [1]"), "3 May 1824 [1]"),
        ("short", ("In 1999 [1]", "3 May 1824 [1]"), "3 May 1824 [1]"),
    ],
)
def test_rerank_judges_entities_and_short_answers_with_their_question(style: str, texts: tuple[str, ...], kept: str):
    assert answered("rerank", samples(*texts), n=2, style=style).text == kept


@pytest.mark.parametrize("name", ["rerank", "usc"])
def test_less_than_one_sample_is_refused(name: str):
    assert isinstance(failure(name, saying(TRUE), n=0), UsageError)


@pytest.mark.parametrize("name", ["rerank", "usc"])
@pytest.mark.parametrize("temperature", [-1.0, float("nan"), float("inf")])
def test_a_temperature_that_is_none_is_refused(name: str, temperature: float):
    assert isinstance(failure(name, saying(TRUE), temperature=temperature), UsageError)


# ---------------------------------------------------------------- usc


def test_usc_keeps_the_sample_that_the_model_chooses():
    answer = answered("usc", samples(FALSE, HALF, TRUE), n=3)
    assert (answer.text, chosen(answer)) == (TRUE, [3])


def test_usc_asks_once_more_than_it_samples():
    assert answered("usc", samples(FALSE, *[TRUE] * 8)).usage.calls == {"main": 10}


def test_usc_offers_every_sample_even_one_that_abstains():
    writer = samples(FALSE, "", TRUE)
    answered("usc", writer, n=3)
    assert [len(claims) for claims in writer.prompts(MostConsistent)[0].candidates] == [1, 0, 1]


def test_usc_abstains_where_the_most_consistent_sample_does():
    assert answered("usc", samples(TRUE, "", ""), n=3).status == "abstained"


def test_usc_asks_for_no_choice_among_equals():
    writer = samples(TRUE, TRUE, TRUE)
    assert (answered("usc", writer, n=3).text, writer.prompts(MostConsistent)) == (TRUE, [])


def test_usc_tells_the_choice_in_the_models_words():
    told = [told.text for told in answered("usc", samples(FALSE, TRUE), n=2).rounds if told.kind == "assess"]
    assert told == ["2"]


def test_usc_judges_only_the_chosen_sample():
    assert answered("usc", samples(FALSE, HALF, TRUE), n=3).usage.judge_pairs == 1


def test_usc_counts_only_the_invalid_citations_of_what_it_returns():
    assert answered("usc", samples("Lit [9].", TRUE), n=2).invalid_citations == 0


# ---------------------------------------------------------------- self-refine


def refining(*texts: str) -> Writer:
    """The first text is the draft; each feedback names its number, and each refinement is the next text."""
    left = iter(texts)
    return Writer(lambda prompt, _: "Mend the date." if isinstance(prompt, Feedback) else next(left))


def test_self_refine_returns_the_last_answer():
    assert answered("self-refine", refining(FALSE, HALF, TRUE)).text == TRUE


def test_self_refine_ignores_an_earlier_better_answer():
    assert answered("self-refine", refining(TRUE, TRUE, FALSE)).text == FALSE


def test_self_refine_asks_twice_a_round():
    assert answered("self-refine", refining(FALSE, HALF, TRUE)).usage.calls == {"main": 5}


def test_self_refine_without_rounds_is_a_draft():
    assert answered("self-refine", refining(TRUE), max_rounds=0).usage.calls == {"main": 1}


def test_self_refine_drafts_with_the_experts_prompt():
    writer = refining(FALSE, HALF, TRUE)
    answered("self-refine", writer)
    assert [asked.preset for asked in writer.prompts(AnswerPrompt)] == ["expert"]


def test_feedback_is_asked_for_without_scores_or_verdicts():
    writer = refining(FALSE, HALF, TRUE)
    answered("self-refine", writer)
    asked = writer.prompts(Feedback)
    assert [(f.scores, f.targets, f.passages, {c.support for c in f.claims}) for f in asked] == [
        ((), (), PASSAGES, {None})
    ] * 2


def test_each_refinement_sees_the_answer_before_it_and_its_feedback():
    writer = refining(FALSE, HALF, TRUE)
    answered("self-refine", writer)
    asked = writer.prompts(Refine)
    assert [(len(r.claims), r.feedback) for r in asked] == [
        (1, {"answer": "Mend the date."}),
        (2, {"answer": "Mend the date."}),
    ]


def test_self_refine_tells_draft_feedback_and_refinement_in_turn():
    answer = answered("self-refine", refining(FALSE, HALF, TRUE))
    assert kinds(answer) == ["search", "draft", "assess", "refine", "assess", "refine", "verify"]


def test_self_refine_tells_what_a_refinement_left_out():
    told = [told for told in answered("self-refine", refining(FALSE, TRUE, TRUE)).rounds if told.kind == "refine"]
    assert [[d.text for d in t.dropped] for t in told] == [["The tower was painted green in 1999."], []]


def test_self_refine_judges_only_the_last_answer():
    assert answered("self-refine", refining(FALSE, HALF, TRUE)).usage.judge_pairs == 1


def test_self_refine_ends_with_an_answer_that_says_nothing():
    answer = answered("self-refine", refining(TRUE, ""))
    assert (answer.status, answer.usage.calls) == ("abstained", {"main": 3})


def test_self_refine_counts_only_the_invalid_citations_of_what_it_returns():
    assert (
        answered("self-refine", refining("Lit [8][9].", "Lit [7].", TRUE.replace("[1]", "[1][5]"))).invalid_citations
        == 1
    )


def test_self_refine_shows_every_version():
    seen: list[Answer] = []
    answered("self-refine", refining(FALSE, HALF, TRUE), watch=seen.append)
    assert [len(draft.claims) for draft in seen] == [1, 2, 1]


def test_less_than_no_refinement_is_refused():
    assert isinstance(failure("self-refine", saying(TRUE), max_rounds=-1), UsageError)


# ---------------------------------------------------------------- replies that say nothing


@pytest.mark.parametrize("name", ["vanilla", "summ", "self-refine"])
@pytest.mark.parametrize(("reply", "note"), [(Reply("", finish="refused"), REFUSED), (Reply(" \n"), EMPTY)])
def test_of_a_reply_that_says_nothing_the_sources_are_not_blamed(name: str, reply: Reply, note: str):
    model = ScriptedModel(lambda request: reply if isinstance(request.prompt, AnswerPrompt) else "Lamps.")
    notes = answered(name, model).notes
    assert [told for told in notes if told in (note, SILENCE)] == [note]
