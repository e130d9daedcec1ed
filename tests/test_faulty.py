"""The writer with set faults: its rates, its independence of order, and that what it says of the truth is true."""

from __future__ import annotations

import math
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from row_tables import table

from simulations.chance import ChanceJudge, ChanceWriter, Dice
from simulations.faulty import Faulty
from simulations.truth import Fact, holds, is_legible, supports
from toulmin.data import Citation, Claim, Passage
from toulmin.errors import UsageError
from toulmin.parsing.citing import Draft
from toulmin.prompts import types as ask
from toulmin.prompts.reflection import NextSegment, weigh
from toulmin.steps import Generate, Pair

TOWNS = "Alder Birch Cedar Dover Ember Fallow Garnet Hollis Indigo Juniper Kestrel Larch Mercer Norden Olive".split()
QUESTIONS = [f"What is known about {town} number {n}?" for n in range(20) for town in TOWNS]
RATE = 0.3


def passage(question: str, n: int) -> Passage:
    """A passage with one fact of the question: each question has three."""
    town, number = question.split()[4], question.split()[6].rstrip("?")
    return Passage.of(f"{town} {number} is a town of its own. {sentence(question, n)} Nothing more is told.", town)


def sentence(question: str, n: int) -> str:
    town, number = question.split()[4], int(question.split()[6].rstrip("?"))
    year = 1700 + 3 * number + 7 * n
    return f"The {('bridge', 'market', 'tower')[n]} of {town} {number} was opened in {year} by Anna Reed."


@cache
def world() -> dict[str, tuple[Fact, ...]]:
    def fact(question: str, n: int) -> Fact:
        text = sentence(question, n)
        return Fact(text, (text.split()[8],), question.split()[4])

    return {question: tuple(fact(question, n) for n in range(3)) for question in QUESTIONS}


def shown(question: str) -> tuple[Passage, ...]:
    """The three passages of the question among two of others."""
    others = [passage(QUESTIONS[(QUESTIONS.index(question) + far) % len(QUESTIONS)], 0) for far in (1, 2)]
    return (others[0], passage(question, 0), passage(question, 1), others[1], passage(question, 2))


def writer(rate: float = RATE, seed: int = 0, **options: Any) -> Faulty:
    return Faulty(world(), rate, seed, **options)


def said(model: Any, prompt: ask.Prompt[Any], sample: int = 0) -> Any:
    """What the prompt reads from the model's text."""
    return prompt.read(model.generate([Generate(prompt, sample=sample)])[0].text)


def answers(model: Any, passages: Any = shown, sample: int = 0) -> list[tuple[str, Draft]]:
    return [(q, said(model, ask.AnswerPrompt(q, passages(q)), sample)) for q in QUESTIONS]


@dataclass(frozen=True)
class Faults:
    """Shares: of facts told, of claims unsupported, of true claims with each fault of citation."""

    told: float
    unsupported: float
    wrong: float
    missing: float
    superfluous: float


def true_claim(claim: Claim, question: str) -> bool:
    return any(supports(p, claim.text) for p in shown(question))


def faults(found: Sequence[tuple[str, Draft]]) -> Faults:
    claims = [(q, claim) for q, draft in found for claim in draft.claims]
    true = [(q, claim) for q, claim in claims if true_claim(claim, q)]
    right = [[supports(p, c.text) for id in c.cited for p in shown(q) if p.id == id] for q, c in true]
    return Faults(
        told=len(claims) / (3 * len(found)),
        unsupported=1 - len(true) / len(claims),
        wrong=sum(bool(r) and not any(r) for r in right) / len(true),
        missing=sum(not r for r in right) / len(true),
        superfluous=sum(any(r) and not all(r) for r in right) / len(true),
    )


def near(share: float, expected: float, n: int) -> bool:
    """Within four standard errors of a binomial share."""
    return abs(share - expected) <= 4 * math.sqrt(expected * (1 - expected) / n)


def step_wise(model: Any, question: str) -> Draft:
    """An answer claim by claim, each cited on its own, nothing verified."""
    claims: list[Claim] = []
    passages = shown(question)
    while len(claims) < 9:
        text = said(model, ask.NextClaim(question, " ".join(c.text for c in claims), passages))
        if text is None:
            break
        ids = said(model, ask.Cite(text, passages)).ids
        claims.append(Claim(text, tuple(map(Citation, ids))))
    return Draft(tuple(claims))


# ---------------------------------------------------------------- rates


@cache
def measured() -> dict[str, Faults]:
    return {
        "at once": faults(answers(writer())),
        "step by step": faults([(q, step_wise(writer(), q)) for q in QUESTIONS]),
    }


EXPECTED = {"told": 0.85, "unsupported": 0.3, "wrong": 0.1, "missing": 0.1, "superfluous": 0.1}


@table("way", ["at once", "step by step"])
@table("kind", EXPECTED)
def test_faults_come_at_their_rate_in_every_style(kind: str, way: str):
    assert near(getattr(measured()[way], kind), EXPECTED[kind], 700)


def test_half_of_the_unsupported_claims_alter_a_detail():
    false = [(q, c) for q, draft in answers(writer()) for c in draft.claims if not true_claim(c, q)]
    altered = [c for q, c in false if "was opened in" in c.text]
    assert near(len(altered) / len(false), 0.5, len(false))


def test_without_faults_every_fact_is_told():
    assert faults(answers(writer(0))).told == 1


def test_without_faults_every_claim_is_supported_by_all_that_it_cites():
    found = faults(answers(writer(0)))
    assert (found.unsupported, found.wrong, found.missing, found.superfluous) == (0, 0, 0, 0)


def test_without_a_fact_in_sight_it_is_silent_save_at_the_rate():
    found = answers(writer(), lambda q: (passage("What is known about Zenith number 1?", 0),))
    assert near(sum(bool(draft.claims) for _, draft in found) / len(found), RATE, len(found))


def test_what_it_says_without_a_fact_in_sight_is_not_true():
    lone = passage("What is known about Zenith number 1?", 0)
    found = answers(writer(), lambda q: (lone,))
    assert not any(supports(lone, claim.text) for _, draft in found for claim in draft.claims)


def irrelevant(question: str) -> tuple[Passage, ...]:
    """One passage of the question among nine of others."""
    start = QUESTIONS.index(question)
    return (passage(question, 0), *(passage(QUESTIONS[(start + far) % len(QUESTIONS)], 1) for far in range(1, 10)))


def unsupported(model: Faulty, passages: Any) -> float:
    claims = [(q, c) for q, draft in answers(model, passages) for c in draft.claims]
    return sum(not any(supports(p, c.text) for p in passages(q)) for q, c in claims) / len(claims)


def relevant(question: str) -> tuple[Passage, ...]:
    return tuple(passage(question, n) for n in range(3))


def test_small_model_nears_the_large_on_relevant_passages():
    assert near(unsupported(writer(0.2, small=True), relevant), 0.2, 700)


def test_the_small_one_is_misled_by_irrelevant_passages():
    assert near(unsupported(writer(0.2, small=True), irrelevant), 0.2 * (1 + 2 * 0.9), 300)


def test_the_large_one_is_not():
    assert near(unsupported(writer(0.2), irrelevant), 0.2, 250)


# ---------------------------------------------------------------- draws


def test_another_order_of_requests_changes_nothing():
    requests = [Generate(ask.AnswerPrompt(q, shown(q))) for q in QUESTIONS[:50]]
    forth = [reply.text for reply in writer().generate(requests)]
    back = [reply.text for reply in writer().generate(requests[::-1])]
    assert forth == back[::-1]


def test_another_process_says_the_same():
    shown = "Dice('a').share('b', 3, None), Dice('a').of(1).pick('xyz', 2)"
    code = f"from simulations.chance import Dice; print({shown})"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.split() == [str(Dice("a").share("b", 3, None)), Dice("a").of(1).pick("xyz", 2)]


def texts(model: Faulty, sample: int = 0) -> list[Draft]:
    return [draft for _, draft in answers(model, sample=sample)]


def test_another_sample_is_another_draw():
    assert sum(a != b for a, b in zip(texts(writer()), texts(writer(), sample=1), strict=True)) > 150


def test_another_seed_is_another_model():
    assert sum(a != b for a, b in zip(texts(writer()), texts(writer(seed=1)), strict=True)) > 150


def test_a_writer_keeps_to_its_errors():
    """The same detail wrong in the same way, or the same invention: two false things at most for a fact."""
    model, question = writer(1.0), QUESTIONS[0]
    drafts = [said(model, ask.AnswerPrompt(question, shown(question)), sample) for sample in range(40)]
    assert 3 < len({claim.text for draft in drafts for claim in draft.claims}) <= 6


def word_pairs(text: str) -> set[tuple[str, str]]:
    return set(pairwise(text.lower().rstrip(".").split()))


def test_two_models_do_not_remember_the_same():
    """Else one would seem to corroborate what the other made up."""
    agreeing = 0
    for question in QUESTIONS:
        one, other = (word_pairs(writer(seed=n).matters_of(question, "long")[0].remembered.words) for n in (0, 1))
        agreeing += len(one & other) > len(one) / 4
    assert agreeing / len(QUESTIONS) < 0.1


@settings(deadline=None, max_examples=30)
@given(st.floats(0, 1), st.integers())
def test_dice_fall_as_often_as_the_probability_says(probability: float, key: int):
    falls = sum(Dice(str(key)).falls(probability, n) for n in range(2000))
    assert near(falls / 2000, min(max(probability, 0.01), 0.99), 2000) or abs(falls / 2000 - probability) < 0.01


@pytest.mark.parametrize("rate", [-0.1, 1.1])
def test_a_rate_is_a_probability(rate: float):
    with pytest.raises(UsageError, match="rate"):
        writer(rate)


def test_its_name_says_that_it_is_a_simulation():
    assert writer().name.startswith("simulation")


# ---------------------------------------------------------------- the other prompts

ONE = QUESTIONS[0]
TOLD = Claim(sentence(ONE, 0), (Citation(passage(ONE, 0).id),))
FALSE = Claim("The bridge of Alder 0 was opened in 1999 by Anna Reed.", (Citation(passage(ONE, 0).id),))


def test_from_memory_it_cites_nothing():
    drafts = answers(writer(), lambda q: ())
    assert not any(claim.cited for _, draft in drafts for claim in draft.claims)


def test_from_memory_it_knows_half_of_the_facts():
    drafts = answers(writer(0), lambda q: ())
    assert near(sum(len(draft.claims) for _, draft in drafts) / (3 * len(drafts)), 0.5, 3 * len(drafts))


def test_without_marks_asked_for_it_writes_none():
    assert said(writer(0), ask.AnswerPrompt(ONE, shown(ONE), inline=False)).claims[0].cited == ()


def test_a_short_answer_is_the_gold_one():
    claim = said(writer(0), ask.AnswerPrompt(ONE, shown(ONE), "short")).claims[0]
    assert (claim.text, claim.cited) == ("1700", (passage(ONE, 0).id,))


def test_a_gold_answer_is_supported_by_the_passage_that_holds_its_fact():
    held = [supports(p, "1700", world()[ONE]) for p in shown(ONE)]
    assert held == [False, True, False, False, False]


def test_a_list_names_every_gold_answer():
    claims = said(writer(0), ask.AnswerPrompt(ONE, shown(ONE), "list")).claims
    assert [claim.text for claim in claims] == ["1700", "1707", "1714"]


def test_what_is_written_already_is_believed():
    prompt = ask.AnswerPrompt(ONE, shown(ONE), "short", written=f"Some say this. {sentence(ONE, 2)}")
    assert said(writer(0), prompt).claims[0].text == "1714"


def test_the_next_claim_after_all_facts_is_none():
    told = " ".join(sentence(ONE, n) for n in range(3))
    assert said(writer(0), ask.NextClaim(ONE, told, shown(ONE))) is None


def test_queries_are_as_many_as_asked_for():
    assert len(said(writer(), ask.Queries(ONE, "", TOLD.text, 2))) == 2


def test_a_summary_keeps_the_fact():
    assert said(writer(0), ask.Summarise(ONE, passage(ONE, 0))) == sentence(ONE, 0)


def test_a_passage_without_a_fact_is_called_irrelevant():
    assert said(writer(0), ask.Extract(ONE, passage(QUESTIONS[5], 0))) is None


def test_an_extract_alters_nothing():
    found = [said(writer(1.0), ask.Extract(q, passage(q, 0))) for q in QUESTIONS]
    assert set(found) <= {None, *(sentence(q, 0) for q in QUESTIONS)}


def test_what_a_summary_altered_is_believed():
    altered = next(
        text
        for n in range(50)
        if (text := said(writer(0.9), ask.Summarise(ONE, passage(ONE, 0)), n)) and text != sentence(ONE, 0)
    )
    assert said(writer(0), ask.AnswerPrompt(ONE, (Passage.of(altered),))).claims[0].text == altered


def test_a_correction_keeps_the_draft_and_adds_what_is_missing():
    claims = said(writer(0), ask.Correct(ONE, shown(ONE), (TOLD,), 1)).claims
    assert [claim.text for claim in claims] == [sentence(ONE, n) for n in range(3)]


def test_a_correction_keeps_false_claims_too():
    assert said(writer(0), ask.Correct(ONE, shown(ONE), (FALSE,), 1)).claims[0] == FALSE


def test_a_correction_of_nothing_is_an_answer():
    assert len(said(writer(0), ask.Correct(ONE, shown(ONE), ())).claims) == 3


def test_refining_drops_unsupported_claims_named_by_feedback():
    feedback = {"correctness": "Sentence 2 is not borne out by what it cites."}
    stray = Claim("Nobody has ever been to the place.", (Citation(passage(ONE, 0).id),))
    assert said(writer(0), ask.Refine(ONE, shown(ONE), (TOLD, stray), feedback)).claims == (TOLD,)


def test_refining_without_blame_changes_nothing():
    feedback = {"correctness": "This is good as it is."}
    assert said(writer(), ask.Refine(ONE, shown(ONE), (TOLD, FALSE), feedback)).claims == (TOLD, FALSE)


def blamed(claim: Claim, score: float, rate: float = RATE) -> float:
    """How often the claim is found fault with."""
    prompt = ask.Feedback(ONE, shown(ONE), (claim,), (("correctness", score),), (("correctness", 80.0),))
    said_of_it = [said(writer(rate), prompt, n)["correctness"] for n in range(400)]
    return sum("Sentence 1" in words for words in said_of_it) / 400


def test_of_its_false_claims_it_notices_one_in_three():
    assert near(blamed(FALSE, 100.0), 1 / 3, 400)


def test_told_of_a_low_score_it_notices_two_in_three():
    assert near(blamed(FALSE, 10.0), 2 / 3, 400)


def test_without_faults_it_blames_no_good_claim():
    assert blamed(TOLD, 100.0, rate=0) == 0


def test_it_chooses_the_answer_that_agrees_most():
    assert said(writer(0), ask.MostConsistent(ONE, ((FALSE,), (TOLD,), (TOLD,)))) in (1, 2)


def test_abstentions_agree_with_each_other():
    assert said(writer(0), ask.MostConsistent(ONE, ((TOLD,), (), ()))) in (1, 2)


@pytest.mark.parametrize(("claim", "label"), [(TOLD, "supported"), (FALSE, "unsupported")])
def test_without_faults_it_judges_rightly(claim: Claim, label: str):
    assert said(writer(0), ask.JudgeClaim(claim.text, shown(ONE))) == label


# ---------------------------------------------------------------- plans

CHAPEL = Passage.of("The chapel of Wick was opened in 1650 by Anna Reed. Nothing more is told.", "Wick")


def two_subjects() -> tuple[Faulty, tuple[Passage, ...]]:
    """A writer that knows facts of two subjects, and passages with them and one of neither."""
    chapel = Fact("The chapel of Wick was opened in 1650 by Anna Reed.", (), "Wick")
    return Faulty({ONE: (*world()[ONE], chapel)}, 0), (CHAPEL, *shown(ONE))


def test_a_faultless_outline_covers_each_subject_in_sight():
    model, passages = two_subjects()
    assert [part.title for part in said(model, ask.Outline(ONE, passages))] == ["Wick", "Alder"]


def test_at_the_rate_an_irrelevant_passage_is_given_a_part_too():
    outlines = [said(writer(), ask.Outline(q, shown(q))) for q in QUESTIONS]
    astray = [any(part.title != q.split()[4] for part in found) for q, found in zip(QUESTIONS, outlines, strict=True)]
    assert near(sum(astray) / len(astray), RATE, len(astray))


def test_without_faults_a_part_is_asked_about_fact_by_fact():
    model, passages = two_subjects()
    assert said(model, ask.Questions(ONE, passages, ask.Paragraph("Alder", ""))) == tuple(
        f"What is known about Alder number 0 The Alder 0 {1700 + 7 * n}?" for n in range(3)
    )


def test_with_no_fact_in_sight_the_topic_is_asked_about():
    assert said(writer(), ask.Questions(ONE, (CHAPEL,))) == (ONE,)


def test_questions_go_astray_at_the_rate_of_claims():
    """An altered or invented fact in the place of a true one, of those that are not left out."""
    asked = [(q, text) for q in QUESTIONS for text in said(writer(), ask.Questions(q, shown(q)))]
    true = [any(text.endswith(f" {1700 + 3 * int(q.split()[6][:-1]) + 7 * n}?") for n in range(3)) for q, text in asked]
    assert near(1 - sum(true) / len(true), RATE, len(true))


def wrote(model: Any, question: str, *findings: ask.Finding, **options: Any) -> Draft:
    return said(model, ask.Write(question, (), findings, style="long", **options))


def answered(question: str, n: int, words: str) -> ask.Finding:
    return ask.Finding(f"What of the {n}th?", (words,), (passage(question, n),))


def test_from_findings_it_tells_the_facts_that_the_answers_are_pieces_of():
    found = [answered(ONE, 2, "1714"), answered(ONE, 0, "opened in 1700"), ask.Finding("And what else?")]
    assert [claim.text for claim in wrote(writer(0), ONE, *found).claims] == [sentence(ONE, 2), sentence(ONE, 0)]


@pytest.mark.parametrize("words", ["171", "a town of its own", ""])
def test_an_answer_that_is_no_piece_of_a_fact_tells_none(words: str):
    assert wrote(writer(0), ONE, answered(ONE, 2, words)).claims == ()


def test_a_text_from_findings_is_as_faulty_as_an_answer():
    drafts = [(q, wrote(writer(), q, *(answered(q, n, sentence(q, n)) for n in range(3)))) for q in QUESTIONS]
    found = faults(drafts)
    assert (near(found.told, 0.85, 900), near(found.unsupported, RATE, 700)) == (True, True)


def test_marked_text_from_passages_has_citation_faults():
    drafts = [(q, said(writer(), ask.Write(q, shown(q), style="long", inline=True))) for q in QUESTIONS]
    assert near(faults(drafts).missing, RATE / 3, 500)


def test_a_part_of_a_plan_tells_its_own_facts():
    model, passages = two_subjects()
    prompt = ask.Write(ONE, passages, (), (ask.Paragraph("Wick", "What is known."),), "long")
    assert [claim.text for claim in said(model, prompt).claims] == [
        "The chapel of Wick was opened in 1650 by Anna Reed."
    ]


def reflected(question: str) -> Generate:
    return Generate(NextSegment(question, "", passage(question, 0)), logprobs=20)


def test_probabilities_agree_with_the_reflection_tokens_that_are_written():
    for request, reply in zip(
        map(reflected, QUESTIONS), writer().generate(list(map(reflected, QUESTIONS))), strict=True
    ):
        told = weigh(request.prompt.read(reply.text), reply.logprobs)
        assert all(max(mark.odds, key=mark.odds.__getitem__) == mark.token for mark in told.marks)


def test_probabilities_come_only_where_they_are_asked_for():
    assert writer().generate([Generate(NextSegment(ONE))])[0].logprobs is None


# ---------------------------------------------------------------- whatever is asked

TEXTS = st.text(max_size=40)
PASSAGES = st.lists(st.builds(Passage.of, TEXTS, TEXTS), max_size=4, unique_by=lambda p: p.id).map(tuple)
CLAIMS = st.lists(st.builds(Claim, st.text("ab [1].{}é", min_size=1).map(lambda t: f"a{t}")), max_size=3).map(tuple)
ASKED = st.sampled_from(QUESTIONS[:3]) | TEXTS
STYLES = st.sampled_from(["long", "list", "short", "report"])


def any_prompt() -> st.SearchStrategy[ask.Prompt[Any]]:
    remarks = st.dictionaries(TEXTS, TEXTS, max_size=2)
    scores = st.lists(st.tuples(TEXTS, st.floats(0, 100)), max_size=2).map(tuple)
    paragraphs = st.builds(ask.Paragraph, TEXTS, TEXTS)
    answers = st.lists(TEXTS, max_size=2).map(tuple)
    findings = st.lists(st.builds(ask.Finding, TEXTS, answers, PASSAGES), max_size=2).map(tuple)
    return st.one_of(
        st.builds(ask.AnswerPrompt, ASKED, PASSAGES, STYLES, written=TEXTS, inline=st.booleans()),
        st.builds(ask.NextClaim, ASKED, TEXTS, PASSAGES, STYLES),
        st.builds(ask.Cite, TEXTS, PASSAGES),
        st.builds(ask.Queries, ASKED, TEXTS, TEXTS, st.integers(1, 5)),
        st.builds(ask.Summarise, ASKED, PASSAGES.filter(bool).map(lambda found: found[0])),
        st.builds(ask.Extract, ASKED, PASSAGES.filter(bool).map(lambda found: found[0])),
        st.builds(ask.Correct, ASKED, PASSAGES, CLAIMS, st.integers(0, 2), STYLES),
        st.builds(ask.Feedback, ASKED, PASSAGES, CLAIMS, scores, scores),
        st.builds(ask.Refine, ASKED, PASSAGES, CLAIMS, remarks, STYLES),
        st.builds(ask.MostConsistent, ASKED, st.lists(CLAIMS, max_size=3).map(tuple)),
        st.builds(ask.JudgeClaim, TEXTS, PASSAGES, st.none() | TEXTS),
        st.builds(ask.Outline, ASKED, PASSAGES),
        st.builds(ask.Questions, ASKED, PASSAGES, st.none() | paragraphs),
        st.builds(ask.Write, ASKED, PASSAGES, findings, st.lists(paragraphs, max_size=2).map(tuple), STYLES),
        st.builds(NextSegment, ASKED, TEXTS, st.none() | PASSAGES.filter(bool).map(lambda found: found[0]), STYLES),
    )


@settings(deadline=None, max_examples=150)
@given(any_prompt(), st.floats(0, 1), st.booleans(), st.integers(0, 3))
def test_it_answers_any_prompt_and_the_parser_reads_it(prompt: ask.Prompt[Any], rate: float, small: bool, sample: int):
    reply = writer(rate, small=small).generate([Generate(prompt, sample=sample, logprobs=20)])[0]
    prompt.read(reply.text)
    assert reply.logprobs is None or "".join(place.token for place in reply.logprobs) == reply.text


@settings(deadline=None, max_examples=100)
@given(st.sampled_from(QUESTIONS), st.floats(0, 1), st.integers(0, 9))
def test_every_statement_is_read_back_whole(question: str, rate: float, sample: int):
    """Each claim is a fact, one of its altered forms or a statement from memory: nothing is cut or run together."""
    draft = said(writer(rate), ask.AnswerPrompt(question, shown(question)), sample)
    model = writer(rate)
    known = {s.words for matter in model.matters_of(question, "long") for s in matter.statements}
    assert {claim.text for claim in draft.claims} <= known


def test_no_label_names_a_passage_that_was_not_offered():
    assert sum(draft.invalid for _, draft in answers(writer(1.0))) == 0


def test_what_it_cost_is_told():
    tokens = writer(0).generate([Generate(ask.AnswerPrompt(ONE, shown(ONE)))])[0].tokens
    assert tokens.input > tokens.output > 0


# ---------------------------------------------------------------- truth


def test_a_sentence_is_supported_by_the_passage_that_holds_it():
    assert supports(passage(ONE, 0), sentence(ONE, 0))


def test_a_title_may_lead_it_in():
    assert supports(passage(ONE, 0), f"Alder: {sentence(ONE, 0)}")


def test_another_year_is_not_supported():
    assert not supports(passage(ONE, 0), FALSE.text)


def test_a_few_words_are_no_sentence():
    assert not supports(passage(ONE, 0), "Anna Reed")


def test_line_breaks_do_not_matter():
    assert holds(Passage.of("The tower was\nopened  in 1700."), "The tower was opened in 1700.")


@pytest.mark.parametrize("text", ["It was no fact", "Too short.", "One was. Two were.", "It has [3] its own mark."])
def test_a_sentence_that_is_not_read_back_as_one_claim_is_no_fact(text: str):
    assert not is_legible(text)


# ---------------------------------------------------------------- chance


def pairs() -> Iterator[Pair]:
    return (Pair((passage(q, 0),), sentence(q, 0)) for q in QUESTIONS)


def test_the_chance_judge_supports_half():
    verdicts = ChanceJudge().judge(list(pairs()))
    assert near(sum(v.entails for v in verdicts) / len(verdicts), 0.5, len(verdicts))


def test_the_chance_judge_keeps_to_its_verdict():
    assert ChanceJudge().judge(list(pairs())) == ChanceJudge().judge(list(pairs())[::-1])[::-1]


def test_the_chance_writer_is_silent_half_the_time():
    found = answers(ChanceWriter())
    assert near(sum(not draft.claims for _, draft in found) / len(found), 0.5, len(found))


def test_the_chance_writer_writes_sentences_of_what_it_is_shown():
    claims = [(q, c) for q, draft in answers(ChanceWriter())[:50] for c in draft.claims]
    assert all(any(holds(p, c.text) for p in shown(q)) for q, c in claims)


def test_given_other_passages_the_chance_writer_writes_sentences_of_those():
    other = Passage.of("Rain fell on the far hills all day.")
    assert {c.text for _, d in answers(ChanceWriter(0, [other]))[:20] for c in d.claims} == {other.text}
