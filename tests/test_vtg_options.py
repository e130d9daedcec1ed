"""VTG's switches, parameters, windows and styles; what holds whatever is said; VTG with the embedded parts."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from transcripts import from_json
from vtg_parts import FIRST, PASSAGES, QUESTION, Corpus, Judge, Run, Writer, letters, trials

from toulmin.data import Answer, Passage
from toulmin.driver.drive import Driver, Job, Outcome
from toulmin.driver.journal import to_json
from toulmin.driver.kit import Kit
from toulmin.errors import UsageError
from toulmin.extractive.writer import Extractive
from toulmin.formats import answer_json
from toulmin.judges.lexical import Lexical
from toulmin.methods.evidence import Memory, windows
from toulmin.methods.vtg import PRESETS, Parameters, parameters, vtg
from toulmin.models.scripted import ScriptedModel
from toulmin.prompts.types import AnswerPrompt, Cite, Example, NextClaim, Queries
from toulmin.retrieval.bm25 import InMemory
from toulmin.steps import Generate, Pair, Verdict

# ---------------------------------------------------------------- switches


def test_without_verifier_claims_are_taken_as_generated():
    run = Run(Writer(["Wrong.", "Right."], "AB"), {"Right.": ["A"]}, verify=False)
    assert (run.texts, run.cited) == (["Wrong.", "Right."], ["AB", "AB"])


def test_without_verifier_support_is_unchecked_while_it_writes():
    assert Run(["One."], {"One.": ["A"]}, verify=False).drafts[0].claims[0].support is None


def test_without_verifier_claims_carry_the_judges_verdict_in_the_end():
    run = Run(["Wrong.", "Right."], {"Right.": ["A"]}, verify=False)
    assert [claim.is_supported for claim in run.answer.claims] == [False, True]


def test_without_verifier_each_claim_is_judged_once():
    run = Run(["Wrong.", "Right."], {"Right.": ["A"]}, verify=False)
    assert run.judge.asked == [("Wrong.", "A"), ("Right.", "A")]


def test_without_memory_nothing_is_added_to_the_first_passages():
    run = Run(["Wrong.", "Wrong.", "Right."], {"Right.": ["A"]}, memory=False)
    assert (run.writer.read(), run.answer.usage.searches) == ([FIRST] * 4, 1)


def test_without_memory_attempts_are_new_samples():
    run = Run(["Wrong.", "Wrong.", "Right."], {"Right.": ["A"]}, memory=False)
    assert [request.sample for request in run.writer.requests(NextClaim)] == [0, 1, 2, 0]


def test_without_memory_the_first_passages_still_rescue_a_claim():
    assert Run(["One."], {"One.": ["CD"]}, memory=False).cited == ["CD"]


def test_without_simplifier_all_citations_stay():
    assert Run(Writer(["One."], "ABC"), {"One.": ["B"]}, simplify=False).cited == ["ABC"]


def test_without_simplifier_a_rescued_claim_cites_the_whole_memory():
    assert Run(["One."], {"One.": ["CD"]}, simplify=False).cited == [FIRST]


def test_without_diverse_queries_the_claim_is_the_query():
    run = Run(["Wrong.", "Right."], {"Right.": ["A"]}, diverse_queries=False, per_query=2)
    assert (run.corpus.asked[1:], run.writer.requests(Queries)) == ([("Wrong.", 2)], [])


# ---------------------------------------------------------------- parameters

TABLE_6 = {"2wiki": (5, 2, 4), "asqa": (2, 4, 2), "eli5": (3, 2, 2), "nq": (3, 2, 3), "webq": (3, 4, 2)}
TABLE_7 = {"2wiki": (5, 4, 2), "asqa": (3, 2, 4), "eli5": (5, 2, 4), "nq": (3, 3, 3), "webq": (3, 3, 3)}


@pytest.mark.parametrize(("model", "table"), [("davinci", TABLE_6), ("vicuna", TABLE_7)])
def test_the_presets_are_the_tables_of_the_paper(model: str, table: dict[str, tuple[int, int, int]]):
    known = {name: PRESETS[f"{name}-{model}"] for name in table}
    assert known == {name: Parameters(*row, k=5) for name, row in table.items()}


def test_there_is_no_preset_beside_the_tables():
    assert len(PRESETS) == len(TABLE_6) + len(TABLE_7)


def test_a_preset_decides_attempts_and_searches():
    run = Run(["Wrong."] * 9, preset="webq-davinci")
    assert (trials(run.answer)[0], run.writer.requests(Queries)[0].prompt.n, run.corpus.asked[1][1]) == (5, 4, 2)


def test_what_is_given_by_hand_wins_over_the_preset():
    assert parameters("nq-vicuna", queries=1, k=9) == Parameters(3, 1, 3, 9)


def test_the_first_search_finds_k():
    assert Run(["One."], k=3).writer.read()[0] == "ABC"


REFUSED: list[dict[str, Any]] = [
    {"preset": "asqa"},
    {"max_trials": -1},
    {"max_trials": True},
    {"queries": 0},
    {"per_query": 0.5},
    {"k": 0},
    {"max_claims": 0},
    {"window": 0},
]


@pytest.mark.parametrize("options", REFUSED)
def test_an_option_that_cannot_be_is_refused(options: dict[str, Any]):
    assert isinstance(Run(["One."], **options).error, UsageError)


def test_a_mistyped_preset_is_told_its_nearest():
    assert "asqa-vicuna" in str(Run(preset="asqa-vicunna").error)


# ---------------------------------------------------------------- windows


def test_windows_take_whole_passages_in_order():
    cut = windows([PASSAGES[letter] for letter in FIRST], 10)  # five words each, title included
    assert [letters([passage.id for passage in window]) for window in cut] == ["AB", "CD", "E"]


def test_titles_count_into_windows():
    one, other = Passage.of("Two words.", "A title of five words"), Passage.of("Two more.")
    assert (len(windows([one, other], 8)), len(windows([one, other], 9))) == (2, 1)


def test_a_passage_longer_than_the_window_is_a_window_of_its_own():
    assert len(windows([PASSAGES["A"], PASSAGES["B"]], 1)) == 2


@given(st.permutations("ABCDEFGHIJ"), st.integers(1, 60))
def test_windows_lose_and_reorder_nothing(order: list[str], size: int):
    passages = [PASSAGES[letter] for letter in order]
    assert [passage for window in windows(passages, size) for passage in window] == passages


@settings(deadline=None, max_examples=50)
@given(st.lists(st.integers(1, 9), min_size=1, max_size=7), st.integers(9, 20))
def test_no_division_in_order_has_fewer_windows(lengths: list[int], size: int):
    passages = [Passage.of(" ".join([f"w{n}"] * length)) for n, length in enumerate(lengths)]
    assert len(windows(passages, size)) == fewest(lengths, size)


def fewest(lengths: Sequence[int], size: int) -> int:
    """The least number of runs of at most `size`, by trying every first run."""
    if not lengths:
        return 0
    firsts = [n for n in range(1, len(lengths) + 1) if sum(lengths[:n]) <= size]
    return 1 + min(fewest(lengths[n:], size) for n in firsts)


def test_the_first_window_that_entails_is_what_is_simplified():
    assert Run(Writer(["One."], ""), {"One.": ["CD", "E"]}, window=10).cited == ["CD"]


def test_all_windows_are_judged_in_one_request():
    run = Run(Writer(["One."], ""), {"One.": ["C"]}, window=10)
    assert run.judge.asked == [("One.", given) for given in ("AB", "CD", "E", "D", "C")]


def test_passages_of_different_windows_do_not_support_together():
    assert not Run(["One."] * 2, {"One.": ["BC"]}, window=10, max_trials=0).answer.claims[0].is_supported


def test_the_trace_names_the_window():
    assert Run(["One."], {"One.": ["C"]}, window=10).rounds("verify")[0].text.endswith("window 2 of 3 of the memory")


def test_the_trace_says_in_how_many_windows_nothing_was_found():
    assert "3 windows" in Run(["One."], window=10, max_trials=0).rounds("verify")[0].text


# ---------------------------------------------------------------- styles


def test_a_list_is_written_entity_by_entity():
    run = Run(["Ford", "Honda"], {"Ford": ["A"], "Honda": ["B"]}, style="list")
    assert run.answer.text == "Ford [1], Honda [2]"


def test_an_entity_is_judged_beside_its_question():
    assert Run(["Ford"], {"Ford": ["A"]}, style="list").judge.questions == [QUESTION]


def test_a_short_answer_is_judged_with_its_question():
    run = Run(Writer(["One is red."], final="Red [1]."), {"One is red.": ["A"], "Red.": ["A"]}, style="short")
    assert run.judge.questions == [None, QUESTION]


def test_a_list_is_shown_to_the_model_with_commas_between():
    run = Run(["Ford", "Honda"], {"Ford": ["A"], "Honda": ["A"]}, style="list")
    assert [request.prompt.written for request in run.writer.requests(NextClaim)] == ["", "Ford", "Ford, Honda"]


def test_a_short_answer_is_asked_for_once_over_what_is_written():
    writer = Writer(["One."], final="Red [2].")
    Run(writer, {"One.": ["A"]}, style="short", prompt="simple")
    read = tuple(PASSAGES[letter] for letter in FIRST)
    asked = [request.prompt for request in writer.requests(AnswerPrompt)]
    assert asked == [AnswerPrompt(QUESTION, read, "short", (), "simple", written="One.")]


def test_the_short_answer_is_the_only_claim():
    assert Run(Writer(["One."], final="Red [2]."), {"One.": ["A"], "Red.": ["B"]}, style="short").texts == ["Red."]


def test_a_short_answer_reads_what_was_found_for_its_sentences():
    writer = Writer(["Wrong.", "One."])
    Run(writer, {"One.": ["G"]}, style="short")
    assert writer.read(AnswerPrompt) == ["ABCDEGFH"]


def test_the_sentences_of_a_short_answer_stand_in_its_rounds():
    run = Run(Writer(["One."], final="Red [2]."), {"One.": ["A"]}, style="short")
    assert run.rounds("claim")[0].text == "One."


def test_a_short_answer_is_rescued_by_memory():
    assert Run(Writer(final="Red [2]."), {"Red.": ["DE"]}, style="short").cited == ["DE"]


def test_a_short_answer_is_simplified():
    assert Run(Writer(final="Red [1][2]."), {"Red.": ["B"]}, style="short").cited == ["B"]


def test_a_short_answer_without_citations_is_cited_beside_its_question():
    writer = Writer(cites="C", final="Red.")
    run = Run(writer, {"Red.": ["C"]}, style="short")
    assert (writer.requests(Cite)[0].prompt.claim, run.texts, run.cited) == (f"{QUESTION} Red.", ["Red."], ["C"])


def test_a_short_answer_that_was_not_given_is_an_abstention():
    run = Run(Writer(["One."], final=""), {"One.": ["A"]}, style="short")
    assert (run.answer.status, run.answer.claims) == ("abstained", ())


def test_a_short_answer_shows_the_model_the_examples_given():
    example = Example("Who?", (PASSAGES["A"],), "Ashby [1].")
    run = Run(style="short", examples=(example,))
    assert run.writer.requests(AnswerPrompt)[0].prompt.examples == (example,)


def test_a_short_answer_without_verifier_is_judged_at_the_end():
    run = Run(Writer(final="Red [2]."), {"Red.": ["B"]}, style="short", verify=False)
    assert run.answer.claims[0].is_supported


# ---------------------------------------------------------------- laws

TEXTS = st.sampled_from(
    ["One.", "Two.", "Three is more. And more.", "", "END", "One", "  ", "[3]", "Für łódź 灯台。", "***"]
)
LABELS = st.lists(st.integers(0, 12), max_size=5).map(lambda numbers: "".join(f"[{n}]" for n in numbers))
QUERIES = st.sampled_from(["", "first query", "1. first query\n2. second query", "?", "none"])
OPTIONS = st.fixed_dictionaries(
    {
        "style": st.sampled_from(["long", "list", "short", "report"]),
        "max_trials": st.integers(0, 2),
        "max_claims": st.integers(1, 4),
        "strict_trials": st.booleans(),
        "verify": st.booleans(),
        "memory": st.booleans(),
        "simplify": st.booleans(),
        "diverse_queries": st.booleans(),
        "window": st.none() | st.integers(1, 20),
        "unsupported": st.sampled_from(["keep", "flag", "drop"]),
    }
)


class Drawn:
    """A writer and a judge whose every word is drawn, and what the judge said."""

    name = "drawn"

    def __init__(self, data: st.DataObject) -> None:
        self.data = data
        self.claims = 0
        self.verdicts: dict[tuple[str, str], bool] = {}

    def write(self, request: Generate) -> str:
        self.claims += isinstance(request.prompt, NextClaim)
        if isinstance(request.prompt, Cite):
            return self.data.draw(LABELS)
        return self.data.draw(QUERIES if isinstance(request.prompt, Queries) else TEXTS)

    def judge(self, pairs: Sequence[Pair]) -> list[Verdict]:
        return [self.verdict(pair) for pair in pairs]

    def verdict(self, pair: Pair) -> Verdict:
        holds = self.data.draw(st.booleans())
        self.verdicts[pair.claim, letters([passage.id for passage in pair.premises])] = holds
        return Verdict("supported" if holds else "unsure", float(holds), 0.0, self.name)


def answered(drawn: Drawn, options: dict[str, Any]) -> Answer:
    kit = Kit(Corpus(), drawn, {"main": ScriptedModel(drawn.write)})
    outcome = asyncio.run(Driver(kit).answer(Job(QUESTION, "vtg", options["style"], lambda: vtg(QUESTION, **options))))
    assert outcome.error is None
    return outcome.answer


@settings(deadline=None, max_examples=60)
@given(st.data(), OPTIONS)
def test_it_ends_within_its_attempts_whatever_is_said(data: st.DataObject, options: dict[str, Any]):
    drawn = Drawn(data)
    answered(drawn, options)
    assert drawn.claims <= options["max_claims"] * (options["max_trials"] + 2)


@settings(deadline=None, max_examples=60)
@given(st.data(), OPTIONS)
def test_a_claim_is_called_supported_as_its_very_citations_were_judged(data: st.DataObject, options: dict[str, Any]):
    drawn = Drawn(data)
    claims = answered(drawn, options).claims
    said = [drawn.verdicts.get((claim.text, letters(claim.cited)), False) for claim in claims]
    assert [claim.is_supported for claim in claims] == said


@given(st.permutations("ABCDEFGHIJ"), st.integers(1, 9), st.lists(st.integers(0, 9), max_size=4))
def test_what_memory_retains_comes_after_what_it_held(order: list[str], cut: int, kept: list[int]):
    long, short = order[:cut], order[cut - 1 :]
    memory = Memory(tuple(PASSAGES[letter] for letter in long), tuple(PASSAGES[letter] for letter in short))
    assert memory.retaining([memory.passages[n].id for n in kept]).long[:cut] == memory.long


@given(st.lists(st.sampled_from("ABCDEF")), st.lists(st.sampled_from("ABCDEF")))
def test_memory_shows_each_passage_once(long: list[str], short: list[str]):
    memory = Memory(tuple(PASSAGES[letter] for letter in long), tuple(PASSAGES[letter] for letter in short))
    assert letters([passage.id for passage in memory.passages]) == "".join(dict.fromkeys([*long, *short]))


# ---------------------------------------------------------------- with embedded parts

NOTES = (
    Passage.of("Kettle Rock Tower was lit for the first time on 3 May 1824. It is 38 metres tall.", "Kettle Rock"),
    Passage.of("Three keepers lived in Kettle Rock Tower until 1978. Tom Ashby was the last of them.", "Keepers"),
)
KEEPER = "Who was the last keeper of Kettle Rock Tower?"


def embedded(style: Any) -> Answer:
    kit = Kit(InMemory(NOTES), Lexical(), {"main": Extractive()})
    return asyncio.run(Driver(kit).answer(Job(KEEPER, "vtg", style, lambda: vtg(KEEPER, style=style)))).answer


@pytest.mark.parametrize("style", ["long", "list", "short", "report"])
def test_with_the_embedded_parts_every_claim_is_supported(style: str):
    assert {claim.is_supported for claim in embedded(style).claims} == {True}


def test_with_the_embedded_parts_the_story_is_the_same_every_time():
    assert embedded("long").rounds == embedded("long").rounds


def test_a_recorded_run_replays_to_the_same_answer_without_any_part():
    run = Run(["Wrong.", "Right."], {"Right.": ["G"]})
    absent = Driver(Kit(Corpus(""), Judge({}), {}))
    again = asyncio.run(absent.answer(run.outcome.job, replay=from_json(to_json(run.outcome.transcript))))
    assert again.answer == run.answer


def test_the_story_survives_the_answer_document():
    answer = Run(["Wrong.", "Right."], {"Right.": ["CG"]}).answer
    assert answer_json.parse(answer_json.dumps(answer)).rounds == answer.rounds


def test_questions_side_by_side_are_answered_as_if_alone():
    kit = Kit(InMemory(NOTES), Lexical(), {"main": Extractive()})
    asked = [KEEPER, "When was Kettle Rock Tower lit?", "How tall is Kettle Rock Tower?"]
    jobs = [Job(question, "vtg", "long", partial(vtg, question)) for question in asked]
    alone = [asyncio.run(Driver(kit).answer(job)).answer.rounds for job in jobs]
    assert [outcome.answer.rounds for outcome in asyncio.run(side_by_side(kit, jobs))] == alone


async def side_by_side(kit: Kit, jobs: Sequence[Job]) -> list[Outcome]:
    return [outcome async for outcome in Driver(kit).in_order(jobs)]
