"""Self-RAG: what it asks, how it reads and weighs reflection tokens, and which segments it keeps."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Sequence
from itertools import cycle
from math import exp, log
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toulmin import wire
from toulmin.corpus.retrieve import Given
from toulmin.data import STYLES, Answer, Hit, Passage, Round
from toulmin.errors import UsageError
from toulmin.grounding.reflection import NextSegment, marked, weighed
from toulmin.grounding.steps import Generate, Pair, Reply, TokenLogprob, Verdict
from toulmin.methods.direct import NO_MEMORY, vanilla
from toulmin.methods.selfrag import FROM_MEMORY, NO_ODDS, NO_TOKENS, self_rag
from toulmin.methods.telling import SILENCE
from toulmin.methods.vtg import vtg
from toulmin.models.extractive import Extractive
from toulmin.models.scripted import Scripted
from toulmin.models.templates import Templates
from toulmin.run.budget import Budget
from toulmin.run.drive import Driver, Job, Outcome
from toulmin.run.journal import from_json, to_json
from toulmin.run.kit import Kit, LanguageModel

QUESTION = "When was the tower lit?"
A, B, C = PASSAGES = tuple(Passage.of(f"Passage {letter} says so.", letter) for letter in "ABC")

Write = Callable[[NextSegment], str | Reply]


class Judge:
    """Supports what cites a passage; nothing else."""

    name = "oracle"

    def judge(self, pairs: Sequence[Pair]) -> list[Verdict]:
        return [Verdict("supported", 0.9, 0.0, self.name) for _ in pairs]


class Corpus:
    """Finds all passages for the question, and passage C alone for anything else."""

    def __init__(self, passages: Sequence[Passage]) -> None:
        self.passages = passages
        self.asked: list[str] = []

    def search(self, queries: Sequence[str], k: int) -> list[list[Hit]]:
        self.asked += queries
        return [[Hit(p, 1.0) for p in (self.passages if q == QUESTION else (C,))[:k]] for q in queries]


class Run:
    """One question through the driver, with everything that was asked on the way."""

    def __init__(
        self,
        write: Write | LanguageModel,
        passages: Sequence[Passage] = PASSAGES,
        budget: Budget | None = None,
        **options: Any,
    ) -> None:
        self.asked: list[Generate] = []
        self.corpus, self.drafts = Corpus(passages), list[Answer]()
        model = Scripted(lambda request: self._write(write, request)) if callable(write) else write
        kit = Kit(self.corpus, Judge(), {"main": model})
        style = options.get("style", "long")
        self.job = Job(QUESTION, "self-rag", style, lambda: self_rag(QUESTION, **options), budget or Budget())
        self.outcome: Outcome = asyncio.run(Driver(kit).answer(self.job, self.drafts.append))
        self.answer, self.error = self.outcome.answer, self.outcome.error

    def _write(self, write: Write, request: Generate) -> str | Reply:
        self.asked.append(request)
        return write(request.prompt)

    @property
    def prompts(self) -> list[NextSegment]:
        return [request.prompt for request in self.asked]

    @property
    def claims(self) -> list[tuple[str, str]]:
        """Each claim with the letters of the passages that it cites."""
        titles = {passage.id: passage.title for passage in PASSAGES}
        return [(claim.text, "".join(titles[id] for id in claim.cited)) for claim in self.answer.claims]

    def rounds(self, kind: str) -> list[Round]:
        return [told for told in self.answer.rounds if told.kind == kind]


def always(write: Write, **options: Any) -> Run:
    return Run(write, retrieve="always", **options)


def by_passage(**replies: str | Reply) -> Write:
    """Says of each passage what is given for its title, and nothing of others; asked for no passage, to search."""
    return lambda prompt: replies.get(prompt.passage.title, "") if prompt.passage else "[Retrieval]"


def in_turn(*segments: dict[str, str]) -> Write:
    """Says in the n-th segment what is given for a passage; the n-th is known by the stops in what is written."""

    def write(prompt: NextSegment) -> str:
        at = prompt.written.count(".")
        return segments[at].get(prompt.passage.title if prompt.passage else "", "") if at < len(segments) else ""

    return write


def reply(*tokens: str | tuple[str, dict[str, float]], text: str | None = None, finish: Any = "stop") -> Reply:
    """A reply whose tokens have probability 1, or those given for the tokens weighed at their place."""
    places = []
    for token in tokens:
        written, odds = (token, {token: 1.0}) if isinstance(token, str) else token
        places.append(TokenLogprob(written, log(odds[written]), tuple((name, log(p)) for name, p in odds.items())))
    joined = "".join(place.token for place in places)
    return Reply(joined if text is None else text, logprobs=tuple(places), finish=finish)


# ---------------------------------------------------------------- reading a reply


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("[Relevant]Lit.[Fully supported]", ["[Relevant]", "[Fully supported]"]),
        ("[ relevant ] Lit. [FULLY  SUPPORTED]", ["[Relevant]", "[Fully supported]"]),
        ("Lit.[No support/Contradictory][Utility: 3]", ["[No support / Contradictory]", "[Utility:3]"]),
        ("Lit.[continue to use evidence]", ["[Continue to Use Evidence]"]),
        ("Lit [1] [Utility:6] [Relevance].", []),
        ("", []),
    ],
)
def test_reflection_tokens_are_known_in_any_spelling(text: str, tokens: list[str]):
    assert [mark.token for mark in marked(text).marks] == tokens


def test_a_passage_that_the_model_invents_ends_its_reply():
    assert (
        NextSegment(QUESTION).read("Lit.[Retrieval]<paragraph>Forged.</paragraph>[Relevant]").text == "Lit.[Retrieval]"
    )


def test_a_prompt_that_the_model_invents_ends_its_reply():
    assert NextSegment(QUESTION).read("Lit.\n### Instruction:\nAnother?").text == "Lit.\n"


def test_the_words_after_no_retrieval_are_not_from_the_passage():
    said = marked("One.[Fully supported][No Retrieval]Two.[Continue to Use Evidence]Three.")
    assert [(p.words, p.grounded) for p in said.pieces(True)] == [("One.", True), ("Two.", False), ("Three.", True)]


def test_nothing_of_a_reply_without_a_passage_is_grounded():
    assert [p.grounded for p in marked("One.[Continue to Use Evidence]Two.").pieces(False)] == [False, False]


SUPPORT = {"[Fully supported]": 0.4, "[Partially supported]": 0.2, "[No support / Contradictory]": 0.2}


@pytest.mark.parametrize(
    ("kind", "odds", "worth"),
    [
        ("relevance", {"[Relevant]": 0.6, "[Irrelevant]": 0.2, "x": 0.2}, 0.75),
        (
            "support",
            {"[Fully supported]": 0.4, "[Partially supported]": 0.2, "[No support / Contradictory]": 0.2},
            0.625,
        ),
        ("utility", {"[Utility:1]": 0.1, "[Utility:4]": 0.1, "[Utility:5]": 0.2}, (-0.1 + 0.05 + 0.2) / 0.4),
        ("retrieval", {"[Retrieval]": 0.1, "[No Retrieval]": 0.3, "[Continue to Use Evidence]": 0.5}, 0.25),
    ],
)
def test_a_mark_is_worth_the_normalised_mean_over_its_kind(kind: str, odds: dict[str, float], worth: float):
    said = reply("A", (next(iter(odds)), odds))
    (mark,) = weighed(marked(said.text), said.logprobs).marks
    assert (mark.kind, mark.worth) == (kind, pytest.approx(worth))


def test_a_mark_without_probabilities_is_certain():
    assert [m.worth for m in marked("[Relevant][Partially supported][Utility:1][Irrelevant]").marks] == [1, 0.5, -1, 0]


def test_tokens_that_the_server_hides_are_taken_from_the_log_probabilities():
    said = reply("[Relevant]", "▁Lit.", "[Fully supported]", text="Lit.")
    assert weighed(marked(said.text), said.logprobs).text == "[Relevant] Lit.[Fully supported]"


def test_a_token_that_is_spelled_in_pieces_counts_as_certain():
    said = reply("[Rele", "vant]", "Lit.")
    assert weighed(marked(said.text), said.logprobs).marks[0].worth == 1


def test_relevance_counts_where_it_was_weighed_but_not_written():
    said = reply(("The", {"The": 0.6, "[Relevant]": 0.1, "[Irrelevant]": 0.3}), " tower.")
    assert weighed(marked(said.text), said.logprobs).first("relevance").worth == pytest.approx(0.25)


def test_what_was_weighed_first_counts_before_what_is_written_later():
    said = reply(("The", {"The": 0.6, "[Relevant]": 0.1, "[Irrelevant]": 0.3}), " tower.", "[Relevant]")
    assert weighed(marked(said.text), said.logprobs).first("relevance").worth == pytest.approx(0.25)


def test_each_mark_has_the_probabilities_of_its_own_place():
    unsure = ("[Fully supported]", {"[Fully supported]": 0.5, "[Partially supported]": 0.5})
    said = reply("One.", "[Fully supported]", "Two.", unsure)
    assert [mark.worth for mark in weighed(marked(said.text), said.logprobs).marks] == [1, 0.75]


def test_a_text_that_shows_its_tokens_stays_as_the_server_sent_it():
    said = reply("[Relevant]", "Lit.", text="[Relevant] Lit.")
    assert weighed(marked(said.text), said.logprobs).text == "[Relevant] Lit."


def test_likelihood_is_that_of_the_words_before_the_very_mark():
    said = reply("One.", "[No Retrieval]", ("Two.", {"Two.": 0.125}), "[No Retrieval]", "Three.")
    told = weighed(marked(said.text), said.logprobs)
    assert told.before(told.marks[1]).likelihood == pytest.approx(0.5)


def test_utility_counts_only_where_it_was_written():
    said = reply(("The", {"The": 0.6, "[Utility:1]": 0.4}), " tower.", "[Utility:5]")
    assert weighed(marked(said.text), said.logprobs).first("utility").worth == 1


def test_likelihood_is_the_geometric_mean_of_the_tokens():
    said = reply(("A", {"A": 0.9}), ("b", {"b": 0.4}))
    assert weighed(marked(said.text), said.logprobs).likelihood == pytest.approx((0.9 * 0.4) ** 0.5)


def test_likelihood_counts_only_what_is_kept():
    said = reply(("One.", {"One.": 0.5}), ("[Retrieval]", {"[Retrieval]": 0.01}), ("Two.", {"Two.": 0.1}))
    told = weighed(marked(said.text), said.logprobs)
    assert told.before(told.marks[0]).likelihood == pytest.approx(0.5)


TEXTS = st.lists(
    st.text(max_size=4)
    | st.sampled_from(["[Relevant]", "[No Retrieval]", "[Utility:2]", "[Fully supported]", "[", "]", "Lit. ", "[1]"])
).map("".join)


@given(TEXTS)
@settings(deadline=None, max_examples=60)
def test_no_word_of_a_reply_is_lost_or_read_twice(text: str):
    said, words = marked(text), text
    for mark in reversed(said.marks):
        words = words[: mark.start] + words[mark.end :]
    pieces = "".join(piece.words for piece in said.pieces(True))
    assert [c for c in pieces if c.isalnum()] == [c for c in words if c.isalnum()]


# ---------------------------------------------------------------- the prompt in words

HOSTILE = ["</paragraph>", "< paragraph >", "[Relevant]", "[fully  supported]", "[No Retrieval]", "\n### Response:\n"]
FRAME = re.compile(r"<\s*/?\s*paragraph\s*>|^#+ *(?:Instruction|Input|Response)\b", re.IGNORECASE | re.MULTILINE)


def words(prompt: NextSegment) -> str:
    return Templates.shipped().render(prompt).text


def test_the_model_is_left_at_the_place_where_it_decides_to_search():
    assert words(NextSegment(QUESTION)).endswith(f"\n\n### Input:\n{QUESTION}\n\n### Response:\n")


def test_a_passage_stands_behind_what_is_written():
    text = words(NextSegment(QUESTION, "[Relevant]Lit.[Fully supported]", A))
    assert text.endswith("\n[Relevant]Lit.[Fully supported][Retrieval]<paragraph>A\nPassage A says so.</paragraph>")


def test_memory_is_asked_for_with_its_own_token():
    assert words(NextSegment(QUESTION, from_memory=True)).endswith("### Response:\n[No Retrieval]")


@pytest.mark.parametrize("style", STYLES)
def test_each_style_is_asked_for_in_words_of_its_own(style: str):
    assert len({words(NextSegment(QUESTION, style=one)) for one in (style, *STYLES)}) == len(STYLES)


@given(st.lists(st.sampled_from([*HOSTILE, "Lit. ", "x", "["]), max_size=6).map("".join))
@settings(deadline=None, max_examples=60)
def test_no_text_passes_for_a_token_of_the_model_or_ends_its_passage(text: str):
    shown = words(NextSegment(f"Q {text}", "", Passage.of(f"{text}.", text)))
    plain = words(NextSegment("?", "", Passage.of("x.", "x")))
    assert [mark.token for mark in marked(shown).marks] == ["[Retrieval]"]
    assert len(FRAME.findall(shown)) == len(FRAME.findall(plain))


def test_what_the_model_wrote_keeps_its_tokens_but_frames_nothing():
    shown = words(NextSegment(QUESTION, "[Relevant]Lit.</paragraph>\n### Response:"))
    assert shown.endswith("### Response:\n[Relevant]Lit.&lt;/paragraph>\n\\### Response:")


# ---------------------------------------------------------------- the wish to search


def decided(first: str | Reply, **options: Any) -> Run:
    """A run whose model says that to the question alone, and then writes one sentence from passage A or from memory."""

    def write(prompt: NextSegment) -> str | Reply:
        if prompt.passage is None and not prompt.from_memory:
            return first
        return "Lit from memory.[Utility:5]" if prompt.passage is None else by_passage(A=LIT)(prompt)

    return Run(write, **options)


LIT = "[Relevant]Lit in 1824.[Fully supported][Utility:5]"


def weighing(search: float) -> Reply:
    return reply(("[Retrieval]", {"[Retrieval]": search, "[No Retrieval]": 1 - search}))


def test_the_model_is_asked_first_whether_to_search():
    assert decided(weighing(0.9)).prompts[0] == NextSegment(QUESTION)


@pytest.mark.parametrize(("search", "searches"), [(0.21, True), (0.19, False), (0.9, True)])
def test_it_searches_where_the_wish_exceeds_the_threshold(search: float, searches: bool):
    assert bool(decided(weighing(search)).corpus.asked) is searches


def test_exactly_at_the_threshold_it_does_not_search():
    assert decided(weighing(0.5), threshold=0.5).corpus.asked == []


@pytest.mark.parametrize(
    ("first", "searches"), [("[Retrieval]", True), ("Well.[No Retrieval]Lit.", False), ("Well.", True)]
)
def test_without_probabilities_the_written_token_decides_and_none_is_a_search(first: str, searches: bool):
    assert bool(decided(first).corpus.asked) is searches


def test_the_wish_to_search_is_told_with_its_probability():
    (told,) = decided(weighing(0.75)).rounds("assess")
    assert (told.scores, told.chosen) == ({"retrieval": pytest.approx(0.75)}, True)


@pytest.mark.parametrize(("retrieve", "searches"), [("always", True), ("never", False)])
def test_always_and_never_do_not_ask(retrieve: str, searches: bool):
    run = decided("[Retrieval]", retrieve=retrieve)
    assert (NextSegment(QUESTION) in run.prompts, bool(run.corpus.asked)) == (False, searches)


def test_from_memory_it_writes_behind_no_retrieval_and_cites_nothing():
    run = decided("[No Retrieval]")
    assert (run.prompts[1:], run.claims) == ([NextSegment(QUESTION, from_memory=True)], [("Lit from memory.", "")])


def test_an_answer_from_memory_says_so_and_is_not_supported():
    run = decided("[No Retrieval]")
    assert (FROM_MEMORY in run.answer.notes, run.answer.claims[0].is_supported) == (True, False)


def test_a_memory_without_words_is_an_abstention_that_blames_no_source():
    answer = Run(lambda _: "", retrieve="never").answer
    assert (answer.status, answer.notes) == ("abstained", (NO_MEMORY,))


def test_a_model_that_asks_to_search_after_all_is_given_passages():
    def write(prompt: NextSegment) -> str:
        if prompt.passage is None:
            return "[No Retrieval]Long ago.[Retrieval]"
        return LIT if prompt.passage == A else ""

    assert Run(write).claims == [("Long ago.", ""), ("Lit in 1824.", "A")]


def test_never_means_never_even_where_the_model_asks():
    run = Run(lambda prompt: "Lit.[Retrieval]" if not prompt.written else "Lit long ago.", retrieve="never")
    assert (run.corpus.asked, run.claims) == ([], [("Lit.", ""), ("Lit long ago.", "")])


# ---------------------------------------------------------------- one segment


def test_each_passage_has_a_segment_written_from_it():
    assert [prompt.passage for prompt in always(by_passage(A=LIT)).prompts] == list(PASSAGES)


def test_k_bounds_the_passages():
    assert len(always(by_passage(A=LIT), k=2).prompts) == 2


def test_it_asks_for_probabilities_at_temperature_0_up_to_the_next_passage():
    asked = always(by_passage(A=LIT), logprobs=7, segment_tokens=50).asked[0]
    assert (asked.logprobs, asked.temperature, asked.max_tokens, asked.stop) == (7, 0.0, 50, ("<paragraph>",))


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        ("[Relevant]Good.", "[Irrelevant]Bad."),
        ("Good.[Fully supported]", "Bad.[Partially supported]"),
        ("Good.[Partially supported]", "Bad.[No support / Contradictory]"),
        ("Good.[Utility:4]", "Bad.[Utility:3]"),
        ("[Relevant]Good.[Utility:1]", "[Irrelevant]Bad.[Utility:3]"),
    ],
)
def test_the_segment_with_the_better_critique_is_the_answer_and_cites_its_passage(better: str, worse: str):
    assert always(by_passage(A=worse, C=better)).claims == [("Good.", "C")]


def test_of_equals_the_best_ranked_passage_is_taken():
    assert always(by_passage(B="[Relevant]Two.", C="[Relevant]Three.")).claims == [("Two.", "B")]


def test_the_likelier_segment_is_the_answer_where_critiques_are_equal():
    unsure, sure = reply(("One.", {"One.": 0.3})), reply(("Two.", {"Two.": 0.8}))
    assert always(by_passage(A=unsure, B=sure)).claims == [("Two.", "B")]


CRITIC = reply(
    ("[Relevant]", {"[Relevant]": 0.6, "[Irrelevant]": 0.2}),
    ("Lit.", {"Lit.": 0.5}),
    (
        "[Fully supported]",
        {"[Fully supported]": 0.5, "[Partially supported]": 0.25, "[No support / Contradictory]": 0.25},
    ),
    ("[Utility:5]", {"[Utility:5]": 0.8, "[Utility:1]": 0.2}),
)


def test_the_score_is_likelihood_plus_weighted_critiques():
    (told,) = always(by_passage(A=CRITIC), passages=(A,)).rounds("claim")
    likelihood = exp((log(0.6) + log(0.5) + log(0.5) + log(0.8)) / 4)
    assert told.scores == pytest.approx(
        {
            "likelihood": likelihood,
            "relevance": 0.75,
            "support": 0.625,
            "utility": 0.6,
            "score": likelihood + 0.75 + 0.625 + 0.5 * 0.6,
        }
    )


def test_weights_are_options():
    (told,) = always(by_passage(A=CRITIC), passages=(A,), relevance=0, support=2, utility=1).rounds("claim")
    assert told.scores["score"] == pytest.approx(told.scores["likelihood"] + 2 * 0.625 + 0.6)


def test_several_sentences_of_a_segment_count_with_the_mean_of_their_support():
    text = "[Relevant]One.[Fully supported][Continue to Use Evidence]Two.[No support / Contradictory]"
    (told,) = always(by_passage(A=text), passages=(A,)).rounds("claim")
    assert told.scores == {"relevance": 1, "support": 0.5, "score": 1.5}


def test_a_sentence_after_no_retrieval_in_a_segment_cites_nothing():
    text = "[Relevant]One.[Fully supported][No Retrieval]Two.[Utility:5]"
    assert Run(lambda p: text if p.passage == A else "[Retrieval]").claims == [("One.", "A"), ("Two.", "")]


def test_a_segment_that_the_model_contradicts_is_refused_where_that_is_hard():
    replies = by_passage(A="[Relevant]Bad.[No support / Contradictory][Utility:5]", B="[Irrelevant]Good.[Utility:1]")
    run = always(replies, hard=True)
    assert (run.claims, run.rounds("claim")[0].dropped[0].why) == ([("Good.", "B")], "the model calls it not supported")


def test_a_segment_that_was_cut_off_loses_its_last_sentence():
    assert always(by_passage(A=reply("One. ", "Two is", finish="length"))).claims == [("One.", "A")]


def test_a_segment_that_was_cut_off_in_its_first_sentence_is_all_there_is():
    assert always(by_passage(A=reply("One is", finish="length"))).claims == [("One is", "A")]


def test_a_mark_that_the_model_writes_by_itself_points_nowhere_and_is_counted():
    run = always(by_passage(A="[Relevant]Lit in 1824 [2].[Fully supported]"))
    assert (run.claims, run.answer.invalid_citations) == ([("Lit in 1824.", "A")], 1)


def test_a_list_has_an_entity_a_claim():
    assert always(by_passage(A="[Relevant]Ashby, Pell[Fully supported]"), style="list").claims == [
        ("Ashby", "A"),
        ("Pell", "A"),
    ]


def test_a_short_answer_is_short():
    assert always(by_passage(A="[Relevant]1824[Fully supported][Utility:5]"), style="short").claims == [("1824", "A")]


def test_a_short_answer_is_one_claim_of_one_segment():
    run = always(
        by_passage(A="1824[Fully supported][Continue to Use Evidence]1825[Fully supported][Retrieval]"), style="short"
    )
    assert (run.claims, len(run.asked)) == ([("1824", "A")], 3)


def test_a_segment_without_words_is_none():
    assert always(by_passage(A="[Relevant][Fully supported][Utility:5]", B="[Irrelevant]Lit.")).claims == [
        ("Lit.", "B")
    ]


def test_where_no_passage_has_a_segment_the_answer_is_an_abstention():
    assert always(lambda _: "[Irrelevant][Utility:1]").answer.status == "abstained"


def test_where_nothing_is_found_no_segment_is_asked_for():
    run = always(by_passage(A=LIT), passages=())
    assert (run.asked, run.answer.notes) == ([], (SILENCE,))


# ---------------------------------------------------------------- segment after segment

MORE = "[Relevant]{}[Fully supported][Retrieval]"
LAST = "[Relevant]{}[Fully supported][Utility:5]"


def test_the_model_goes_on_from_what_it_wrote_with_its_tokens():
    run = always(in_turn({"A": MORE.format("One.")}, {"B": LAST.format("Two.")}))
    assert {prompt.written for prompt in run.prompts} == {"", "[Relevant]One.[Fully supported]"}


def test_each_segment_cites_its_own_passage():
    assert always(in_turn({"A": MORE.format("One.")}, {"B": LAST.format("Two.")})).claims == [
        ("One.", "A"),
        ("Two.", "B"),
    ]


def test_an_answer_is_complete_where_the_model_asks_for_no_further_search():
    run = always(in_turn({"A": LAST.format("One.")}, {"A": LAST.format("Never.")}))
    assert (run.claims, len(run.asked)) == ([("One.", "A")], 3)


def test_an_answer_is_complete_where_nothing_new_is_said():
    run = always(lambda p: MORE.format("One.") if p.passage == A else "")
    assert (run.claims, len(run.asked)) == ([("One.", "A")], 6)


GARDEN_PATH = (
    {"A": "[Relevant]First.[Fully supported][Retrieval]", "B": "[Relevant]Second.[Partially supported][Retrieval]"},
    {},
)


def garden_path(prompt: NextSegment) -> str:
    """The better beginning (A) goes on badly, the worse one (B) well."""
    if not prompt.written:
        return GARDEN_PATH[0].get(prompt.passage.title, "")
    if prompt.passage != C:
        return ""
    if "First" in prompt.written:
        return "[Irrelevant]Dead end.[No support / Contradictory][Utility:1]"
    return LAST.format("Well.")


@pytest.mark.parametrize(
    ("beam", "claims"), [(1, [("First.", "A"), ("Dead end.", "C")]), (2, [("Second.", "B"), ("Well.", "C")])]
)
def test_a_wider_beam_finds_what_a_greedy_choice_misses(beam: int, claims: list[tuple[str, str]]):
    assert always(garden_path, beam=beam).claims == claims


def test_answers_are_compared_by_the_mean_of_their_segments():
    run = always(garden_path)
    assert [told.scores["score"] for told in run.rounds("claim") if told.chosen] == [1.5, 2.5]


def test_a_finished_answer_stays_in_the_beam_beside_those_that_go_on():
    run = always(in_turn({"A": LAST.format("Done."), "B": MORE.format("Begun.")}, {"C": "[Irrelevant]Worse."}))
    assert run.claims == [("Done.", "A")]


def test_a_longer_answer_is_no_better_for_its_length():
    run = always(
        in_turn({"A": LAST.format("Done."), "B": MORE.format("Begun.")}, {"C": "[Relevant]More.[Fully supported]"})
    )
    assert run.claims == [("Done.", "A")]


def test_answers_that_read_the_same_are_one():
    run = always(in_turn({"A": MORE.format("One."), "B": MORE.format("One.")}, {"C": LAST.format("Two.")}))
    assert (run.claims, len(run.asked)) == ([("One.", "A"), ("Two.", "C")], 6)


def test_the_segments_end_at_their_most_with_a_note():
    run = always(lambda p: MORE.format(f"Sentence {p.written.count('.')} on {p.passage.title}."), max_segments=3)
    assert (len(run.claims), run.answer.notes[-1].startswith("max_segments ended the answer after 3")) == (3, True)


def test_the_calls_are_bounded_by_beam_and_passages():
    run = Run(lambda p: MORE.format(f"{p.written.count('.')} {p.passage.title}.") if p.passage else "[Retrieval]")
    assert run.answer.usage.calls == {"main": 1 + 3 + 6 * 2 * 3}


def test_all_segments_have_the_passages_of_one_search():
    run = always(in_turn({"A": MORE.format("One.")}, {"B": LAST.format("Two.")}))
    assert (run.corpus.asked, run.answer.usage.searches, len(run.rounds("search"))) == ([QUESTION], 1, 1)


def test_a_search_anew_takes_the_segment_before_along():
    run = always(in_turn({"A": MORE.format("One.")}, {"B": LAST.format("No."), "C": LAST.format("Two.")}), requery=True)
    assert (run.corpus.asked, run.claims) == ([QUESTION, f"{QUESTION} One."], [("One.", "A"), ("Two.", "C")])


def no_retrieval(search: float) -> Reply:
    odds = {"[No Retrieval]": 1 - search, "[Retrieval]": search}
    return reply("[Relevant]", "One.", "[Fully supported]", ("[No Retrieval]", odds), "Two.")


@pytest.mark.parametrize(
    ("retrieve", "search", "claims"),
    [
        ("adaptive", 0.1, [("One.", "A"), ("Two.", "")]),
        ("adaptive", 0.3, [("One.", "A"), ("Next.", "B")]),
        ("always", 0.1, [("One.", "A"), ("Next.", "B")]),
    ],
)
def test_no_retrieval_within_a_segment_ends_it_where_a_search_is_wished_for(
    retrieve: str, search: float, claims: list[tuple[str, str]]
):
    def write(prompt: NextSegment) -> str | Reply:
        if prompt.passage is None:
            return "[Retrieval]"
        if not prompt.written:
            return no_retrieval(search) if prompt.passage == A else ""
        return LAST.format("Next.") if prompt.passage == B else ""

    assert Run(write, retrieve=retrieve).claims == claims


# ---------------------------------------------------------------- what is told


def test_each_segment_that_was_tried_is_a_round_with_its_passage():
    run = always(by_passage(A=LIT, B="[Irrelevant]Other."))
    assert [(told.read, told.text, told.chosen) for told in run.rounds("claim")] == [
        ((A.id,), "Lit in 1824.", True),
        ((B.id,), "Other.", False),
        ((C.id,), None, False),
    ]


def test_rounds_are_told_in_the_order_in_which_they_came():
    run = Run(in_turn({"A": MORE.format("One.")}, {"C": LAST.format("Two.")}), requery=True)
    assert [told.kind for told in run.answer.rounds] == [
        "assess",
        "search",
        *["claim"] * 3,
        "search",
        "claim",
        "verify",
    ]


def test_a_draft_is_shown_after_each_segment():
    run = always(in_turn({"A": MORE.format("One.")}, {"B": LAST.format("Two.")}))
    assert [len(draft.claims) for draft in run.drafts] == [1, 2]


def test_the_judge_has_the_last_word_on_each_claim():
    assert [claim.support.judge for claim in always(by_passage(A=LIT)).answer.claims] == ["oracle"]


def test_a_model_without_reflection_tokens_is_noted():
    run = Run(lambda p: "Lit in 1824." if p.passage else "Long ago.")
    assert (run.claims, run.answer.notes) == ([("Lit in 1824.", "A")], (NO_TOKENS,))


def test_tokens_without_probabilities_are_noted():
    assert always(by_passage(A=LIT)).answer.notes == (NO_ODDS,)


def test_nothing_is_noted_where_tokens_have_probabilities():
    assert always(by_passage(A=CRITIC)).answer.notes == ()


# ---------------------------------------------------------------- whole answers


@pytest.mark.parametrize("style", ["long", "list", "short", "report"])
@pytest.mark.parametrize("retrieve", ["adaptive", "always", "never"])
def test_the_embedded_writer_ends_in_a_valid_answer(style: str, retrieve: str):
    lit = Passage.of("The tower was lit on 3 May 1824 by Hannah Pell.", "Tower")
    kit = Kit(Given((lit,)), Judge(), {"main": Extractive()})
    program = lambda: self_rag("When was the tower lit?", style=style, retrieve=retrieve)  # noqa: E731
    answer = asyncio.run(Driver(kit).answer(Job(QUESTION, "self-rag", style, program))).answer
    assert answer.status == ("abstained" if retrieve == "never" else "answered")


def test_a_recorded_run_replays_to_the_same_answer():
    run = Run(garden_path)
    again = asyncio.run(Driver(Kit(Given(()), Judge(), {})).answer(run.job, replay=run.outcome.transcript))
    assert again.answer == run.answer


@pytest.mark.parametrize("method", [self_rag, vanilla, vtg])
def test_a_transcript_of_typed_replies_comes_back_from_its_file(method: Any):
    lit = Passage.of("The tower was lit on 3 May 1824 by Hannah Pell.", "Tower")
    job = Job(QUESTION, "any", "long", lambda: method(QUESTION))
    first = asyncio.run(Driver(Kit(Given((lit,)), Judge(), {"main": Extractive()})).answer(job))
    kept = from_json(to_json(first.transcript))
    assert asyncio.run(Driver(Kit(Given(()), Judge(), {})).answer(job, replay=kept)).answer == first.answer


def test_a_transcript_of_probabilities_comes_back_from_its_file():
    run = always(by_passage(A=CRITIC))
    kept = from_json(to_json(run.outcome.transcript))
    assert asyncio.run(Driver(Kit(Given(()), Judge(), {})).answer(run.job, replay=kept)).answer == run.answer


def test_the_same_replies_give_the_same_answer():
    assert [Run(garden_path).answer.claims for _ in range(2)] == [Run(garden_path).answer.claims] * 2


def test_the_answer_is_a_document():
    answer = Run(garden_path).answer
    assert wire.parse(wire.dumps(answer)).claims == answer.claims


@pytest.mark.parametrize("calls", range(1, 9))
def test_a_budget_is_never_exceeded(calls: int):
    run = Run(garden_path, budget=Budget(calls=calls))
    assert sum(run.answer.usage.calls.values()) <= calls


@pytest.mark.parametrize(
    "options",
    [
        {"k": 0},
        {"beam": 0},
        {"max_segments": 0},
        {"segment_tokens": 0},
        {"logprobs": 0},
        {"threshold": 1.5},
        {"relevance": -1},
        {"utility": float("nan")},
        {"retrieve": "sometimes"},
    ],
)
def test_a_value_that_means_nothing_is_an_error_that_names_it(options: dict[str, Any]):
    run = Run(by_passage(A=LIT), **options)
    assert isinstance(run.error, UsageError)
    assert next(iter(options)) in str(run.error)


PARTS = ["[No Retrieval]", "[Fully supported]", "[No support / Contradictory]", "[Continue to Use Evidence]"]
PARTS += "[Retrieval] [Relevant] [Irrelevant] [Utility:1] [Utility:5] </s> [".split()
REPLIES = st.lists(st.sampled_from([*PARTS, "Lit. ", "Built [2]. ", "x", "\n"]), max_size=8).map("".join)


@given(
    st.lists(REPLIES, min_size=1, max_size=12),
    st.sampled_from(["adaptive", "always", "never"]),
    st.sampled_from(STYLES),
    st.integers(1, 3),
    st.booleans(),
    st.booleans(),
)
@settings(deadline=None, max_examples=80)
def test_whatever_the_model_says_the_answer_is_valid_and_cites_what_was_read(
    replies: list[str], retrieve: str, style: str, beam: int, requery: bool, hard: bool
):
    said = cycle(replies)
    run = Run(lambda _: next(said), retrieve=retrieve, style=style, beam=beam, requery=requery, hard=hard)
    read = {id for told in run.rounds("search") for id in told.read}
    assert run.error is None
    assert {id for claim in run.answer.claims for id in claim.cited} <= read
    assert run.answer.usage.calls.get("main", 0) <= 1 + 3 + 6 * beam * 3
