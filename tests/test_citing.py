"""Reading claims, citations, labels and items out of what a model wrote."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from row_tables import table
from strategies import claims, entities, passage_sets, statements, texts

from toulmin.data import Citation, Claim, Passage, Style, citation_numbers, render
from toulmin.parsing.citing import Draft, read_draft, read_labels, without_marks
from toulmin.parsing.lines import list_items

OFFERED = tuple(Passage.of(f"The text of passage {n}.", f"Title {n}") for n in range(1, 6))
NUMBER = {passage.id: n for n, passage in enumerate(OFFERED, start=1)}


def read(text: str, style: Style = "long") -> list[tuple[str, list[int]]]:
    """The claims of a reply, as texts with the numbers that they cite."""
    return [(claim.text, [NUMBER[id] for id in claim.cited]) for claim in read_draft(text, OFFERED, style).claims]


def invalid(text: str) -> int:
    return read_draft(text, OFFERED, "long").invalid


# ---------------------------------------------------------------- the forms of marks


@table(
    ("mark", "numbers"),
    [
        ("[1]", [1]),
        ("[1][2]", [1, 2]),
        ("[1] [2]", [1, 2]),
        ("[2], [1]", [2, 1]),
        ("[1], [3] and [4]", [1, 3, 4]),
        ("[1, 2]", [1, 2]),
        ("[1,2]", [1, 2]),
        ("[1; 2]", [1, 2]),
        ("[1 and 2]", [1, 2]),
        ("[1-3]", [1, 2, 3]),
        ("[1–3]", [1, 2, 3]),
        ("[1—3]", [1, 2, 3]),
        ("[1, 3-5]", [1, 3, 4, 5]),
        ("【1】", [1]),
        ("【1】【2】", [1, 2]),
        ("【1†source】", [1]),
        ("［2］", [2]),
        ("[1, 2](3)", [1, 2, 3]),
        ("[1] (3)", [1, 3]),
        ("[Document 1]", [1]),
        ("[doc 2]", [2]),
        ("[Passage 3]", [3]),
        ("[Documents 1 and 2]", [1, 2]),
        ("[Source: 4]", [4]),
        ("[ 1 ]", [1]),
        ("[[1]]", [1]),
        ("[^1]", [1]),
        ("([1])", [1]),
        ("([1], [2])", [1, 2]),
        ("[1](https://example.org/a)", [1]),
        ("[2][2][1, 2]", [2, 1]),
        ("[١]", [1]),
    ],
)
def test_every_form_of_a_mark_is_read_and_taken_off(mark: str, numbers: list[int]):
    assert read(f"The lamp was lit {mark}. Then") == [("The lamp was lit.", numbers), ("Then", [])]


@table(
    "words",
    [
        "(1)",
        "^1",
        "[a]",
        "[sic]",
        "[]",
        "[1.5]",
        "[5%]",
        "[1",
        "[2018]",
        "[1914-1918]",
        "[1914, 1939]",
        "\\[3]",
        "[Version 2]",
        "[and 1]",
    ],
)
def test_what_is_no_mark_stays_in_the_text(words: str):
    assert read(f"The lamp {words} was lit [2].") == [(f"The lamp {words} was lit.".replace("\\[", "["), [2])]


def test_a_year_is_a_label_when_so_many_passages_were_offered():
    many = [Passage.of(f"text {n}") for n in range(2018)]
    assert read_draft("So it was [2018].", many, "long").claims[0].cited == (many[2017].id,)


# ---------------------------------------------------------------- labels that nobody offered


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("A lamp [0].", 1),
        ("A lamp [6].", 1),
        ("A lamp [6, 7] and more [1].", 2),
        ("A lamp [4-7].", 2),
        ("A lamp [99999999999999999999].", 1),
        ("A lamp [1-999999999].", 1),
        ("A lamp [3-1].", 0),
        ("A lamp [1][5].", 0),
        ("[9]", 1),
    ],
)
def test_labels_never_offered_are_counted(text: str, count: int):
    assert invalid(text) == count


def test_a_label_never_offered_points_nowhere_and_spares_its_neighbours():
    assert read("A lamp was lit [0][2][9].") == [("A lamp was lit.", [2])]


def test_an_absurd_range_cites_only_its_ends():
    assert read("A lamp was lit [2-999999999999].") == [("A lamp was lit.", [2])]


def test_a_range_beyond_the_offer_cites_what_was_offered():
    assert read("A lamp was lit [4-8].") == [("A lamp was lit.", [4, 5])]


def test_a_passage_offered_twice_is_cited_once():
    assert len(read_draft("A lamp [1][2].", [OFFERED[0], OFFERED[0]], "long").claims[0].citations) == 1


# ---------------------------------------------------------------- whose mark it is


@table(
    ("text", "expected"),
    [
        ("Lamps burn. [1] Storms pass [2].", [("Lamps burn.", [1]), ("Storms pass.", [2])]),
        ("Lamps burn.[1] Storms pass.[2]", [("Lamps burn.", [1]), ("Storms pass.", [2])]),
        ("Lamps burn.[1]Storms pass.", [("Lamps burn.", [1]), ("Storms pass.", [])]),
        ("Lamps burn. [1]. Storms pass.", [("Lamps burn.", [1]), ("Storms pass.", [])]),
        ("Lamps [1] burn. Storms pass.", [("Lamps burn.", [1]), ("Storms pass.", [])]),
        ("Lamps [1], it is said, burn [2].", [("Lamps, it is said, burn.", [1, 2])]),
        ("[1] Lamps burn. [2] Storms pass.", [("Lamps burn.", [1]), ("Storms pass.", [2])]),
        ("Lamps burn.\n\n[2] Storms pass.", [("Lamps burn.", []), ("Storms pass.", [2])]),
        ("Lamps burn.\n[1]\nStorms pass.", [("Lamps burn.", [1]), ("Storms pass.", [])]),
        ("- [1] Lamps burn.\n- [2] Storms pass.", [("Lamps burn.", [1]), ("Storms pass.", [2])]),
        ("It is Acme Inc [1]. Thorp left.", [("It is Acme Inc.", [1]), ("Thorp left.", [])]),
        ("Lamps burn [1]. until dawn.", [("Lamps burn.", [1]), ("until dawn.", [])]),
        ('They cried "Yo!" [1]. Then', [('They cried "Yo!".', [1]), ("Then", [])]),
        ("“Lamps burn.” [1] Storms pass.", [("“Lamps burn.”", [1]), ("Storms pass.", [])]),
        ("It is in the U.S. [1]. He left.", [("It is in the U.S.", [1]), ("He left.", [])]),
        ("灯台は白い[1]。海は青い。[2]船。", [("灯台は白い。", [1]), ("海は青い。", [2]), ("船。", [])]),
    ],
)
def test_a_mark_belongs_to_its_sentence(text: str, expected: list[tuple[str, list[int]]]):
    assert read(text) == expected


def test_flags_of_a_rendering_are_taken_off():
    assert read("Lamps burn [1][unsure]. Storms pass [unsupported].") == [("Lamps burn.", [1]), ("Storms pass.", [])]


def test_text_after_a_line_break_is_kept():
    assert read("Lamps burn [1].\nStorms pass [2].") == [("Lamps burn.", [1]), ("Storms pass.", [2])]


def test_a_sentence_broken_over_full_lines_is_one():
    text = "The lamp of the tower on the rock was lit for the first time\nIn May by Hannah\nPell [1]."
    assert read(text)[0][0] == "The lamp of the tower on the rock was lit for the first time In May by Hannah"


@pytest.mark.parametrize("marker", ["- ", "* ", "• ", "1. ", "2) ", "(3) ", "  - ", "> ", "12. "])
def test_list_markers_are_neither_words_nor_citations(marker: str):
    prefix = "" if marker == "> " else marker
    assert read(f"{prefix}Lamps burn [1].\n{prefix}Storms pass.") == [("Lamps burn.", [1]), ("Storms pass.", [])]


def test_headings_and_rules_are_no_claims():
    assert read("## Lamps\nLamps burn [1].\n\n---\n\n**Storms**\nStorms pass.") == [
        ("Lamps burn.", [1]),
        ("Storms pass.", []),
    ]


@pytest.mark.parametrize(
    "below",
    [
        "Sources:\n[1] The Lamp, 1824\n[9] The Sea",
        "## References\n\n1. The Lamp\n2. The Sea",
        "**Sources:**\n- [1] https://example.org",
        "[1]: The Lamp\n[^2]: The Sea",
    ],
)
def test_a_list_of_references_is_no_claim(below: str):
    assert read_draft(f"Lamps burn [1].\n\n{below}", OFFERED, "long") == Draft(
        (Claim("Lamps burn.", (Citation(OFFERED[0].id),)),)
    )


def test_a_sentence_about_sources_is_a_claim():
    assert read("Sources:\nThe river has two [1].")[-1] == ("The river has two.", [1])


def test_headings_of_a_report_are_its_sections():
    draft = read_draft("# All\n\n## Lamps\nLamps burn [1].\n\n## Storms\nStorms pass.", OFFERED, "report")
    assert [claim.section for claim in draft.claims] == ["Lamps", "Storms"]


def test_bold_type_is_taken_off():
    assert read("**Lamps** burn [1].") == [("Lamps burn.", [1])]


def test_a_repeated_prompt_word_is_taken_off():
    assert read("Answer: Lamps burn [1].") == [("Lamps burn.", [1])]


@pytest.mark.parametrize("text", ["", "  \n ", ".", "[1]", "...", "- \n- ", "---", "**", "[1][2] ."])
def test_a_reply_without_words_holds_no_claim(text: str):
    assert read(text) == []


# ---------------------------------------------------------------- lists and short answers


@table(
    ("text", "expected"),
    [
        ("Ada [1], Bob [2], Cy [3].", [("Ada", [1]), ("Bob", [2]), ("Cy", [3])]),
        ("Ada [1], Bob [2], and Cy [3].", [("Ada", [1]), ("Bob", [2]), ("Cy", [3])]),
        ("Ada [1]\nBob [2]", [("Ada", [1]), ("Bob", [2])]),
        ("1. Ada [1]\n2. Bob, Jr. [2]", [("Ada", [1]), ("Bob, Jr.", [2])]),
        ("[1] Ada, [2] Bob", [("Ada", [1]), ("Bob", [2])]),
        ("Ada [1, 2], Bob", [("Ada", [1, 2]), ("Bob", [])]),
        ("Ada [1], [2]", [("Ada", [1, 2])]),
        ('"Washington, D.C." [1], Ada', [("Washington, D.C.", [1]), ("Ada", [])]),
        ('"Washington, D.C.".', [("Washington, D.C.", [])]),
        ('Ada, "Bob, Acme Inc."', [("Ada", []), ("Bob, Acme Inc.", [])]),
        ("“Washington, D.C.” [1], Ada", [("Washington, D.C.", [1]), ("Ada", [])]),
        ('"Heroes" [1], "Low', [("Heroes", [1]), ('"Low', [])]),
        ("1,234 [1], 5", [("1,234", [1]), ("5", [])]),
        ("Ada [1], ada [2], Bob [1]", [("Ada", [1, 2]), ("Bob", [1])]),
        ("Ada,, Bob, .", [("Ada", []), ("Bob", [])]),
        ("Ada, the U.S.", [("Ada", []), ("the U.S.", [])]),
        ("Ada, Acme Inc. [1]", [("Ada", []), ("Acme Inc.", [1])]),
        ("Here are the names: Ada, Bob", [("Ada", []), ("Bob", [])]),
        ("Here are the names:\n- Ada\n- Bob", [("Ada", []), ("Bob", [])]),
        ("灯台、船、海", [("灯台", []), ("船", []), ("海", [])]),
        ("", []),
    ],
)
def test_a_list_is_read_as_its_entities(text: str, expected: list[tuple[str, list[int]]]):
    assert read(text, "list") == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Hannah Pell [1]", [("Hannah Pell", [1])]),
        ("Hannah Pell [1]. She built it [2].", [("Hannah Pell.", [1])]),
        ("Hannah Pell\n\nBecause she built it [2].", [("Hannah Pell", [])]),
        ("**St. Louis** [2]\nIt is a city.", [("St. Louis", [2])]),
        ("", []),
    ],
)
def test_a_short_answer_is_the_first_sentence(text: str, expected: list[tuple[str, list[int]]]):
    assert read(text, "short") == expected


# ---------------------------------------------------------------- labels, items, plain text


@table(
    ("text", "numbers"),
    [
        ("[3][1]", [3, 1]),
        ("1, 3", [1, 3]),
        ("2", [2]),
        ("2 and 3.", [2, 3]),
        ("Passages 1 and 3 say so, in 1968.", [1, 3]),
        ("Document 2-4", [2, 3, 4]),
        ("It was lit in 1824 by 2 keepers [5].", [5]),
        ("It was lit in 1824 by 2 keepers.", []),
        ("None", []),
        ("", []),
    ],
)
def test_labels_are_read_in_the_order_named(text: str, numbers: list[int]):
    assert [NUMBER[id] for id in read_labels(text, OFFERED).ids] == numbers


def test_labels_never_offered_are_counted_apart():
    assert read_labels("[1][7][0]", OFFERED).invalid == 2


@pytest.mark.parametrize("text", ["1" * 5000 + "x", "1 , " * 5000 + "x", "passage " + "1 1" * 5000 + "x"])
def test_a_hostile_run_of_numbers_is_read_to_its_end(text: str):
    assert read_labels(text, OFFERED).invalid <= len(text)


@table(
    ("text", "items"),
    [
        ("1. Who?\n2. What?", ("Who?", "What?")),
        ("1) **Who**?\n2) What?", ("Who?", "What?")),
        ("- Who?\n* What?", ("Who?", "What?")),
        ("Who?\nWhat?\nWho?", ("Who?", "What?")),
        ("Here are the questions:\n\n1. Who?\n2. What?\n\nI hope this helps!", ("Who?", "What?")),
        ("Here are the questions:\nWho?\nWhat?", ("Who?", "What?")),
        ("Question 1: Who?\nQuestion 2: What?", ("Who?", "What?")),
        ("1. Who was\n   the keeper?\n2. What?", ("Who was the keeper?", "What?")),
        ("1. Lamps\n   - oil\n   - wicks\n2. Storms", ("Lamps oil wicks", "Storms")),
        ("## Outline\n1. Lamps\n2. Storms", ("Lamps", "Storms")),
        (
            "### Lamps\nHow they burn.\n\n### Storms\nHow they pass.",
            ("Lamps: How they burn.", "Storms: How they pass."),
        ),
        ("**Lamps**\nHow they burn.\n**Storms**\nHow.", ("Lamps: How they burn.", "Storms: How.")),
        ("Paragraph 1: Lamps\n\nParagraph 2: Storms", ("Lamps", "Storms")),
        ("Just one?", ("Just one?",)),
        ("", ()),
        ("-\n-", ()),
    ],
)
def test_the_items_of_a_list_are_found(text: str, items: tuple[str, ...]):
    assert list_items(text) == items


def test_text_without_marks_keeps_its_lines():
    assert without_marks("Lamps [1] burn [2].\nStorms pass [3].") == "Lamps burn.\nStorms pass."


def test_escaped_marks_become_the_text_that_they_stand_for():
    assert without_marks("Lamps \\[3] burn [2].") == "Lamps [3] burn."


# ---------------------------------------------------------------- laws


def bare(claim: Claim) -> Claim:
    """A claim as a text can show it: words and citations."""
    return replace(claim, citations=tuple(Citation(id) for id in claim.cited), support=None)


def offered_for(found: tuple[Claim, ...], read: tuple[Passage, ...]) -> list[Passage]:
    """The passages as the rendering numbers them."""
    numbers = citation_numbers(found)
    return sorted(read, key=lambda passage: numbers.get(passage.id, len(read) + 1))


@given(st.data(), passage_sets(most=4), st.booleans())
@settings(max_examples=60, deadline=None)
def test_rendered_statements_are_read_back(data: st.DataObject, read: tuple[Passage, ...], flag: bool):
    found = tuple(data.draw(st.lists(claims(read, statements()), max_size=4)))
    text = render(found, "long", flag=flag).text
    assert read_draft(text, offered_for(found, read), "long").claims == tuple(map(bare, found))


@given(st.data(), passage_sets(most=4))
@settings(max_examples=40, deadline=None)
def test_a_rendered_short_answer_is_read_back(data: st.DataObject, read: tuple[Passage, ...]):
    found = (data.draw(claims(read, statements())),)
    assert read_draft(render(found, "short").text, offered_for(found, read), "short").claims == (bare(found[0]),)


@given(st.data(), passage_sets(most=4), st.booleans())
@settings(max_examples=60, deadline=None)
def test_rendered_lists_are_read_back(data: st.DataObject, read: tuple[Passage, ...], flag: bool):
    found = tuple(data.draw(st.lists(claims(read, entities()), max_size=4, unique_by=lambda c: c.text.casefold())))
    text = render(found, "list", flag=flag).text
    assert read_draft(text, offered_for(found, read), "list").claims == tuple(map(bare, found))


@given(st.lists(texts(), min_size=1, max_size=3), st.sampled_from(["long", "list", "short", "report"]))
@settings(max_examples=60, deadline=None)
def test_the_words_of_a_document_can_never_cite(words: list[str], style: Style):
    rendered = render(tuple(Claim(text) for text in dict.fromkeys(words)), style, flag=True).text
    draft = read_draft(rendered, OFFERED, style)
    assert (draft.invalid, [claim.cited for claim in draft.claims if claim.citations]) == (0, [])


@given(st.text(alphabet='ab[]()【】\\1290,;–- .\n*#"“”'), st.sampled_from(["long", "list", "short", "report"]))
@settings(max_examples=150, deadline=None)
def test_no_text_is_too_odd_to_read(text: str, style: Style):
    assert all(claim.text.strip() for claim in read_draft(text, OFFERED, style).claims)


@table(
    "unit",
    [
        "[",
        "[1, ",
        "[1]",
        "[1-5]",
        "\\",
        "\\[1",
        "[ ",
        '"a",',
        "**",
        "1. ",
        "- a\n",
        "(",
        "Aa. ",
        " ",
        "document 1 ",
        "Sources:\n",
        "[1]: a\n",
    ],
)
@table("style", ["long", "list"])
def test_a_hostile_text_is_read_to_its_end(unit: str, style: Style):
    text = unit * (30_000 // len(unit)) + "\n\nThe end [2]."
    assert read(text, style)[-1][0].endswith(("The end.", "The end"))
