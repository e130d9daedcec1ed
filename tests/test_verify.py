"""Verification, simplification, attribution and policy, driven by verdict functions of every kind."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from row_tables import table

from toulmin.data import Citation, Claim, Label, Passage, Quote, Support
from toulmin.steps import Entail, Pair, Program, Verdict
from toulmin.verify import PAIRED, apply_policy, hypothesis, simplify, smallest_support, verify

T = TypeVar("T")

PASSAGES = tuple(Passage.of(f"Passage {letter} says so.", letter) for letter in "ABCDEFGH")
BY_ID = {passage.id: passage for passage in PASSAGES}
LETTER = {passage.id: passage.title for passage in PASSAGES}


@dataclass
class Asked:
    """A judge that is a function, and a record of what it was asked."""

    judge: Callable[[Pair], Verdict]
    requests: list[tuple[Pair, ...]] = field(default_factory=list)

    def run(self, program: Program[T]) -> T:
        reply: Any = None
        while True:
            try:
                step = program.send(reply)
            except StopIteration as end:
                return end.value
            assert isinstance(step, Entail)
            self.requests.append(step.pairs)
            reply = tuple(self.judge(pair) for pair in step.pairs)

    @property
    def pairs(self) -> list[Pair]:
        return [pair for request in self.requests for pair in request]


def verdict(label: Label, support: float, contradiction: float = 0.0, **more: Any) -> Verdict:
    return Verdict(label, support, contradiction, "oracle", **more)


def letters(pair: Pair) -> str:
    return "".join(passage.title for passage in pair.premises)


def entailing(*sets: str) -> Callable[[Pair], Verdict]:
    """Exactly these sets of passages entail whatever claim; others do not, larger ones included."""
    known = {frozenset(one) for one in sets}
    return lambda pair: verdict("supported", 0.9) if frozenset(letters(pair)) in known else verdict("unsupported", 0.1)


def containing(*sets: str) -> Callable[[Pair], Verdict]:
    """Every set that holds one of these entails."""
    return lambda pair: (
        verdict("supported", 0.9) if any(set(one) <= set(letters(pair)) for one in sets) else verdict("unsure", 0.4)
    )


def claim(text: str, cited: str = "", support: Support | None = None) -> Claim:
    return Claim(text, tuple(Citation(p.id) for p in PASSAGES if p.title in cited), support)


def cited(found: Claim) -> str:
    return "".join(LETTER[id] for id in found.cited)


# ---------------------------------------------------------------- what is asked


def test_a_sentence_is_judged_by_itself():
    said = claim("A lamp burns.", "B")
    assert hypothesis(said, BY_ID, "What burns?", "long") == Pair((PASSAGES[1],), "A lamp burns.")


def test_a_word_that_answers_is_judged_with_the_question():
    bare = claim("A lamp.", "B")
    assert hypothesis(bare, BY_ID, "What burns?", "long") == Pair((PASSAGES[1],), "A lamp.", "What burns?")
    assert hypothesis(bare, BY_ID, "What is a lamp?", "long").question is None
    assert hypothesis(bare, BY_ID, "", "long").question is None


@pytest.mark.parametrize("style", ["list", "short"])
def test_an_entity_carries_the_question(style: Any):
    assert hypothesis(claim("Ada", "B"), BY_ID, "Who?", style).question == "Who?"


def test_cited_passages_are_taken_together_in_citation_order():
    found = Claim("A lamp.", (Citation(PASSAGES[2].id), Citation(PASSAGES[0].id)))
    assert letters(hypothesis(found, BY_ID, "", "long")) == "CA"


def test_all_claims_are_verified_in_one_request():
    asked = Asked(containing("A"))
    asked.run(verify([claim("One.", "A"), claim("Two.", "BC"), claim("Three.")], BY_ID, "", "long"))
    assert [[letters(pair) for pair in request] for request in asked.requests] == [["A", "BC"]]


def test_nothing_is_asked_where_nothing_is_cited():
    asked = Asked(containing("A"))
    asked.run(verify([claim("One."), claim("Two.")], BY_ID, "", "long"))
    assert asked.requests == []


# ---------------------------------------------------------------- what a verdict becomes


def test_a_claim_that_cites_nothing_is_unsupported_by_the_citation_rule():
    (found,) = Asked(containing("A")).run(verify([claim("One.")], BY_ID, "", "long"))
    assert found.support == Support("unsupported", 0.0, "citation rule", (), "cites no passage")


def test_a_verdict_names_its_judge_evidence_and_reason():
    judge = Asked(lambda pair: verdict("contradicted", 0.02, 0.9, reason="1994 is not in the sources"))
    (found,) = judge.run(verify([claim("One.", "AB")], BY_ID, "", "long"))
    evidence = (PASSAGES[0].id, PASSAGES[1].id)
    assert found.support == Support("contradicted", 0.02, "oracle", evidence, "1994 is in none of the 2 passages cited")


@table(
    ("word", "reason"),
    [
        ("Ghent", "Ghent is in none of the 3 passages read"),
        ("Passage C", "Passage C is not in the passage closest to it"),
    ],
)
def test_a_reason_says_where_a_name_was_sought(word: str, reason: str):
    judge = Asked(lambda pair: verdict("unsupported", 0.1, reason=f"{word} is not in the sources"))
    (found,) = judge.run(smallest_support([(claim("One.", ""), PASSAGES[:3])]))
    assert found.support is not None
    assert found.support.reason == reason


def test_every_citation_gets_its_own_quote():
    quote = Quote(0, 9, "Passage B")
    judge = Asked(lambda pair: verdict("supported", 0.9, quotes=(None, quote)))
    (found,) = judge.run(verify([claim("One.", "AB")], BY_ID, "", "long"))
    assert [citation.quote for citation in found.citations] == [None, quote]


@pytest.mark.parametrize("quotes", [(), (None,), (Quote(0, 9, "Passage X"), Quote(90, 92, "so"))])
def test_a_judge_that_quotes_wrongly_or_not_at_all_gives_no_quote(quotes: tuple[Quote | None, ...]):
    judge = Asked(lambda pair: verdict("supported", 0.9, quotes=quotes))
    (found,) = judge.run(verify([claim("One.", "AB")], BY_ID, "", "long"))
    assert [citation.quote for citation in found.citations] == [None, None]


def test_a_probability_past_its_bounds_is_held_to_them():
    (found,) = Asked(lambda pair: verdict("supported", 1.0001)).run(verify([claim("One.", "A")], BY_ID, "", "long"))
    assert found.support is not None
    assert found.support.score == 1.0


def test_passages_that_only_together_support_a_claim_support_it():
    (found,) = Asked(entailing("AB")).run(verify([claim("One.", "AB")], BY_ID, "", "long"))
    assert found.is_supported


# ---------------------------------------------------------------- simplification


def sequential(citations: str, entails: Callable[[str], bool]) -> str:
    """VTG's rule, one question after the other."""
    kept = citations
    for letter in citations:
        rest = kept.replace(letter, "")
        if rest and entails(rest):
            kept = rest
    return kept


CITED = st.lists(st.sampled_from("ABCDEF"), unique=True, max_size=6).map(lambda c: "".join(sorted(c)))
SETS = st.frozensets(CITED, max_size=30)


@given(st.lists(st.tuples(st.sampled_from(["One.", "Two."]), CITED), max_size=5), SETS, SETS)
@settings(max_examples=100, deadline=None)
def test_the_simplifier_gives_what_the_sequential_rule_gives(
    drawn: list[tuple[str, str]], one: frozenset[str], two: frozenset[str]
):
    known = {"One.": one, "Two.": two}  # drawn freely, so that a larger set may fail where a smaller one entails
    judge = Asked(lambda pair: verdict("supported" if letters(pair) in known[pair.claim] else "unsure", 0.5))
    found = judge.run(simplify([claim(text, cites) for text, cites in drawn], BY_ID, "", "long"))
    assert [cited(one) for one in found] == [sequential(cites, known[text].__contains__) for text, cites in drawn]


@given(st.lists(CITED, max_size=5), SETS)
@settings(max_examples=100, deadline=None)
def test_the_simplifier_asks_once_a_position(drawn: list[str], entailed: frozenset[str]):
    judge = Asked(entailing(*entailed))
    judge.run(simplify([claim(f"Claim {n}.", cites) for n, cites in enumerate(drawn)], BY_ID, "", "long"))
    assert len(judge.requests) <= max(map(len, drawn), default=0)
    assert len(judge.pairs) <= sum(map(len, drawn))


@given(st.lists(CITED, min_size=1, max_size=4), SETS)
@settings(max_examples=40, deadline=None)
def test_the_simplifier_never_asks_the_same_twice(drawn: list[str], entailed: frozenset[str]):
    judge = Asked(entailing(*entailed))
    judge.run(simplify([claim("One.", cites) for cites in drawn], BY_ID, "", "long"))
    assert len(judge.pairs) == len(set(judge.pairs))


def test_many_claims_take_no_more_requests_than_one():
    judge = Asked(containing("B"))
    judge.run(simplify([claim(f"Claim {n}.", "ABC") for n in range(50)], BY_ID, "", "long"))
    assert len(judge.requests) == 3


def test_a_simplified_claim_takes_over_the_verdict_on_what_is_left():
    full = Support("supported", 0.6, "oracle", tuple(p.id for p in PASSAGES[:2]))
    (found,) = Asked(containing("B")).run(simplify([claim("One.", "AB", full)], BY_ID, "", "long"))
    assert found.support == Support("supported", 0.9, "oracle", (PASSAGES[1].id,))


def test_a_claim_that_needs_all_its_citations_stays_as_it_is():
    before = claim("One.", "AB", Support("supported", 0.6, "oracle", (PASSAGES[0].id,)))
    assert Asked(entailing("AB")).run(simplify([before], BY_ID, "", "long")) == (before,)


def test_a_claim_found_unsupported_keeps_all_its_citations():
    before = claim("One.", "AB", Support("unsupported", 0.1, "oracle", (PASSAGES[0].id,)))
    assert Asked(containing("A")).run(simplify([before], BY_ID, "", "long")) == (before,)


# ---------------------------------------------------------------- attribution


def attributed(judge: Asked, *found: tuple[Claim, Sequence[Passage]], **how: bool) -> tuple[Claim, ...]:
    return judge.run(smallest_support(found, **how))


def test_a_single_passage_is_preferred_to_two():
    (found,) = attributed(Asked(containing("C", "AB")), (claim("One."), PASSAGES[:4]))
    assert cited(found) == "C"


def test_two_passages_are_tested_jointly():
    (found,) = attributed(Asked(entailing("BD")), (claim("One."), PASSAGES[:4]))
    assert cited(found) == "BD"


def test_the_strongest_passage_wins_where_the_likeliest_does_not_support():
    strength = {"B": 0.7, "C": 0.9, "D": 0.9}
    judge = Asked(
        lambda pair: verdict("unsure", 0.5) if letters(pair) == "A" else verdict("supported", strength[letters(pair)])
    )
    (found,) = attributed(judge, (claim("One."), PASSAGES[:4]))
    assert cited(found) == "C"


def test_no_other_passage_is_judged_where_the_likeliest_supports_the_claim():
    judge = Asked(entailing("C", "D"))
    attributed(judge, (claim("C is said."), PASSAGES[:4]), is_sparing=True)
    assert [letters(pair) for pair in judge.pairs] == ["C"]


def test_of_hits_two_are_tried_alone_each_beside_the_first_three():
    judge = Asked(entailing("A"))
    (found,) = attributed(judge, (claim("D is said."), PASSAGES[:4]), is_sparing=True, is_found=True)
    assert cited(found) == "A"
    assert [letters(pair) for pair in judge.pairs] == ["D", "A"]
    assert {pair.read for pair in judge.pairs} == {tuple(PASSAGES[:3])}


def test_two_passages_without_a_number_of_the_claim_are_not_read_together():
    judge = Asked(entailing("AB"))
    (found,) = attributed(judge, (claim("It is said 1,700 times."), PASSAGES[:2]), is_sparing=True)
    assert (cited(found), max(len(pair.premises) for pair in judge.pairs)) == ("", 1)
    assert cited(attributed(judge, (claim("It is said 1,700 times."), PASSAGES[:2]))[0]) == "AB"


@given(st.integers(1, 4), st.frozensets(st.sampled_from("ABCD"), max_size=4), st.sampled_from(["One.", "C is said."]))
@settings(max_examples=40, deadline=None)
def test_a_claim_is_supported_exactly_if_one_of_its_passages_supports_it(size: int, known: frozenset[str], text: str):
    (found,) = attributed(Asked(entailing(*known)), (claim(text), PASSAGES[:size]))
    assert found.is_supported == any(passage.title in known for passage in PASSAGES[:size])


def test_what_nothing_supports_cites_nothing():
    (found,) = attributed(Asked(entailing()), (claim("One."), PASSAGES[:3]))
    assert (cited(found), found.support and found.support.label) == ("", "unsupported")


def test_a_contradiction_is_told():
    judge = Asked(lambda pair: verdict("contradicted", 0.0, 0.9) if letters(pair) == "B" else verdict("unsure", 0.4))
    (found,) = attributed(judge, (claim("One."), PASSAGES[:3]))
    assert found.support == Support("contradicted", 0.0, "oracle", (PASSAGES[1].id,))


def test_a_claim_without_candidates_says_so():
    (found,) = attributed(Asked(entailing()), (claim("One."), ()))
    assert found.support == Support("unsupported", 0.0, "citation rule", (), "no passage was found for it")


def test_a_candidate_given_twice_is_judged_once():
    judge = Asked(entailing())
    attributed(judge, (claim("One."), (PASSAGES[0], PASSAGES[0])))
    assert [letters(pair) for pair in judge.pairs] == ["A"]


def test_pairs_are_formed_among_the_best_single_passages():
    strength = dict(zip("ABCDEFGH", [0.1, 0.2, 0.1, 0.3, 0.2, 0.1, 0.4, 0.4], strict=True))
    judge = Asked(
        lambda pair: (
            verdict("supported", 0.9) if letters(pair) == "GH" else verdict("unsure", strength[letters(pair)[0]])
        )
    )
    (found,) = attributed(judge, (claim("One."), PASSAGES))
    assert cited(found) == "GH"


def test_each_claim_has_candidates_of_its_own():
    found = attributed(Asked(containing("A", "B")), (claim("One."), PASSAGES[:1]), (claim("Two."), PASSAGES[1:2]))
    assert [cited(one) for one in found] == ["A", "B"]


@given(st.lists(st.integers(0, 8), max_size=4), st.frozensets(CITED, max_size=10))
@settings(max_examples=40, deadline=None)
def test_attribution_asks_within_its_bound(sizes: list[int], entailed: frozenset[str]):
    judge = Asked(entailing(*entailed))
    attributed(judge, *((claim("This is said."), PASSAGES[:size]) for size in sizes))
    assert len(judge.requests) <= 3
    assert len(judge.pairs) <= sum(sizes) + len(sizes) * PAIRED * (PAIRED - 1) // 2


# ---------------------------------------------------------------- policy

SUPPORTED = claim("Yes.", "A", Support("supported", 0.9, "oracle", (PASSAGES[0].id,)))
UNSURE = claim("Perhaps.", "A", Support("unsure", 0.5, "oracle", (PASSAGES[0].id,)))
REFUTED = claim("No.", "A", Support("contradicted", 0.1, "oracle", (PASSAGES[0].id,), "1994 is not in the sources"))
UNCHECKED = claim("Who knows.", "A")


@pytest.mark.parametrize("policy", ["keep", "flag"])
def test_keep_and_flag_keep_every_claim(policy: Any):
    assert apply_policy((SUPPORTED, UNSURE, REFUTED, UNCHECKED), policy) == (
        (SUPPORTED, UNSURE, REFUTED, UNCHECKED),
        (),
    )


def test_drop_keeps_only_what_is_supported():
    assert apply_policy((SUPPORTED, UNSURE, REFUTED, UNCHECKED), "drop").kept == (SUPPORTED,)


def test_drop_says_why_in_words():
    dropped = apply_policy((SUPPORTED, UNSURE, REFUTED, UNCHECKED), "drop").dropped
    assert [(one.text, one.why) for one in dropped] == [
        ("Perhaps.", "it is unsure"),
        ("No.", "1994 is not in the sources"),
        ("Who knows.", "it was not checked"),
    ]
