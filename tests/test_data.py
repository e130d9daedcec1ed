"""The vocabulary: what its values refuse, and how claims are rendered."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from row_tables import table
from strategies import answers, passages, texts

from toulmin.data import (
    Answer,
    Citation,
    Claim,
    Document,
    Passage,
    Quote,
    Source,
    Support,
    Tokens,
    citation_numbers,
    content_id,
    render,
)

LAMP = Passage.of("The lamp was lit in 1824.", "Lamp")
SEA = Passage.of("The sea is deep.", "Sea")


def answer(*claims: Claim, read: tuple[Passage, ...] = (LAMP, SEA)) -> Answer:
    return Answer("Who?", "long", "vanilla", "answered", claims, read)


def cites(text: str, *cited: Passage) -> Claim:
    return Claim(text, tuple(Citation(passage.id) for passage in cited))


def test_a_printed_answer_lists_the_passages_that_it_cites():
    assert str(answer(cites("The sea is deep.", SEA))) == "The sea is deep [1].\n[1] Sea"


def test_a_printed_abstention_says_so():
    assert str(Answer("Who?", "long", "vanilla", "abstained", notes=("The sources do not say.",))) == (
        "The sources do not say."
    )


# ---------------------------------------------------------------- what cannot be made


@table(
    ("make", "message"),
    [
        (lambda: Source(5, 4), "start <= end"),
        (lambda: Source(-1, 4), "start <= end"),
        (lambda: Source(0, 4, page=0), "from 1"),
        (lambda: Document("abc", pages=(2, 1)), "ascend"),
        (lambda: Document("abc", pages=(9,)), "lie in the text"),
        (lambda: Passage("", "", "abc", Source(0, 3)), "needs an id"),
        (lambda: Passage("p", "", "abc", Source(0, 4)), "cannot stand"),
        (lambda: Quote(2, 2, ""), "start < end"),
        (lambda: Quote(0, 2, "abc"), "span exactly"),
        (lambda: Support("maybe", 0.5, "lexical"), "label is one of"),
        (lambda: Support("unsure", 1.5, "lexical"), "0..1"),
        (lambda: Support("unsure", float("nan"), "lexical"), "0..1"),
        (lambda: Support("unsure", 0.5, ""), "names its judge"),
        (lambda: Support("supported", 0.5, "lexical"), "needs evidence"),
        (lambda: Claim("  "), "needs words"),
        (lambda: cites("A lamp.", LAMP, LAMP), "at most once"),
        (lambda: Answer("q", "prose", "vanilla", "abstained"), "style is one of"),
        (lambda: Answer("q", "long", "vanilla", "done"), "status is one of"),
        (lambda: Answer("q", "long", "vanilla", "answered"), "exactly if answered"),
        (lambda: Answer("q", "long", "vanilla", "abstained", (Claim("A."),)), "exactly if answered"),
        (lambda: Answer("q", "long", "vanilla", "failed"), "says why"),
        (lambda: answer(cites("A lamp.", LAMP), read=(SEA,)), "not read"),
        (lambda: answer(Claim("A.", (Citation(LAMP.id, Quote(0, 3, "the")),))), "does not stand"),
        (lambda: answer(Claim("A.", (), Support("supported", 1.0, "j", (LAMP.id,)))), "cites nothing"),
        (lambda: answer(Claim("A.", (), Support("contradicted", 0.0, "j", ("elsewhere",)))), "not read"),
    ],
)
def test_a_wrong_value_cannot_be_made(make: Callable[[], object], message: str):
    with pytest.raises(ValueError, match=message):
        make()


def test_a_passage_knows_its_source_by_default():
    assert LAMP.source == Source(0, len(LAMP.text))


@given(passages())
@settings(max_examples=50, deadline=None)
def test_equal_content_has_an_equal_id(passage: Passage):
    assert Passage.of(passage.text, passage.title).id == passage.id


def test_the_border_between_title_and_text_matters_to_the_id():
    assert content_id("ab", "c") != content_id("a", "bc")


def test_an_id_can_be_made_of_half_a_surrogate_pair():
    assert len(content_id("\ud83d")) == 16


def test_tokens_add_up():
    assert Tokens(1, 2) + Tokens(3, 4) == Tokens(4, 6)


def test_an_unread_passage_is_not_found():
    with pytest.raises(KeyError):
        answer(cites("A lamp.", LAMP)).passage("elsewhere")


# ---------------------------------------------------------------- renderings


@table(
    ("claims", "style", "text"),
    [
        ((cites("A lamp.", SEA, LAMP), cites("It burns!", LAMP)), "long", "A lamp [1][2]. It burns [2]!"),
        ((cites("A lamp", LAMP), Claim("It burns")), "long", "A lamp [1]\n\nIt burns"),
        ((Claim("A lamp."), Claim("that burns.")), "long", "A lamp.\n\nthat burns."),
        ((cites("白い。", LAMP),), "long", "白い [1]。"),
        ((cites("Ada", LAMP), cites("Bob, Jr.", SEA)), "list", 'Ada [1], "Bob, Jr." [2]'),
        ((cites('"Heroes"', LAMP),), "list", '"""Heroes""" [1]'),
        ((Claim("A  lamp\nburns."),), "long", "A lamp burns."),
        ((cites("lamp  start\nlamp stop", LAMP),), "long", "lamp start\nlamp stop [1]"),
        ((cites("See [3] there.", LAMP),), "long", "See \\[3] there [1]."),
        ((Claim("See [Document 3] and [unsure]."),), "long", "See \\[Document 3] and \\[unsure]."),
        ((Claim("See [sic] there."),), "long", "See [sic] there."),
        ((), "long", ""),
    ],
)
def test_claims_are_rendered_with_their_marks(claims: tuple[Claim, ...], style: str, text: str):
    assert render(claims, style).text == text


def test_sections_are_titled_once():
    claims = (Claim("A.", section="Life"), Claim("B.", section="Life"), Claim("C.", section="Work"))
    assert render(claims, "report").text == "Life\nA. B.\n\nWork\nC."


def test_a_flag_names_what_lacks_support():
    weak = Claim("A lamp.", (Citation(LAMP.id),), Support("unsure", 0.5, "j", (LAMP.id,)))
    assert render((weak, cites("It burns.", LAMP)), "long", flag=True).text == "A lamp [1][unsure]. It burns [1]."


def test_numbers_follow_the_order_of_first_use():
    assert citation_numbers([cites("A.", SEA), cites("B.", LAMP, SEA)]) == {SEA.id: 1, LAMP.id: 2}


@given(answers())
@settings(max_examples=60, deadline=None)
def test_the_spans_of_a_rendering_hold_the_claims_in_order(found: Answer):
    rendering = found.rendering
    edges = [0, *(edge for span in rendering.spans for edge in span), len(rendering.text)]
    assert edges == sorted(edges)


@given(answers())
@settings(max_examples=60, deadline=None)
def test_the_nth_cited_passage_is_numbered_n(found: Answer):
    numbers = citation_numbers(found.claims)
    assert [numbers[passage.id] for passage in found.cited] == list(range(1, len(found.cited) + 1))


@given(texts(), st.sampled_from(["long", "list", "short"]))
@settings(max_examples=60, deadline=None)
def test_a_span_shows_the_words_of_its_claim(text: str, style: str):
    rendering = render((Claim(text),), style)
    shown = rendering.text[slice(*rendering.spans[0])]
    assert shown.replace("\\", "").strip('"') == text.replace("\\", "").strip('"')


def test_a_claim_of_many_backslashes_is_rendered():
    assert render((Claim("x" + "\\" * 100_000),), "long").text == "x" + "\\" * 100_000
