"""What is no evidence: the checked text and its copies, references, copyright and licences, and strangers joined."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from row_tables import table

import toulmin
from toulmin.cli import run
from toulmin.data import Answer, Passage, Source
from toulmin.driver.drive import Driver, Job
from toulmin.driver.kit import Kit
from toulmin.judges.lexical import Lexical
from toulmin.methods.best import best
from toulmin.methods.check import check
from toulmin.methods.repair import final_text, repair
from toulmin.methods.vtg import vtg
from toulmin.models.scripted import ScriptedModel
from toulmin.parsing.lines import blank_references, blank_rights
from toulmin.retrieval.bm25 import InMemory
from toulmin.steps import Pair, Verdict

TRUTHS = (
    "John Harrison built his first sea clock between 1730 and 1735.",
    "The clock was tested on a voyage to Lisbon in 1736.",
    "The Board of Longitude was dissolved in 1828.",
    "Larcum Kendall made a copy of the watch for James Cook.",
    "Nevil Maskelyne published the first Nautical Almanac in 1767.",
    "Tobias Mayer computed tables of the moon in Göttingen.",
)
LIES = (
    "The Board of Longitude was founded by Queen Victoria in 1951.",
    "Larcum Kendall was eaten by wolves in Ghent.",
    "The Nautical Almanac was printed on silk for the bishop of Lima.",
)
# Much more than any text that is checked here, as sources are.
SOURCE = " ".join(
    (*TRUTHS, *(f"Parish record {n} lists {7 * n} marriages and {3 * n} funerals." for n in range(1, 40)))
)
DRAFT = f"# Longitude\n\n{TRUTHS[2]} {LIES[1]} {LIES[0]} {TRUTHS[0]} {LIES[2]}\n"


@pytest.fixture(autouse=True)
def notes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "longitude.md").write_text(f"# Sea clocks\n\n{SOURCE}\n", "utf-8")
    return folder


def answer_of(program, passages: Sequence[Passage], judge=None, model=None) -> Answer:
    kit = Kit(InMemory(passages), judge or Lexical(), {"main": model} if model else {})
    outcome = asyncio.run(Driver(kit).answer(Job("", "check", "long", lambda: program)))
    assert outcome.error is None
    return outcome.answer


def labels(answer: Answer) -> dict[str, bool]:
    return {claim.text: claim.is_supported for claim in answer.claims}


def checked(capsys: pytest.CaptureFixture[str], *words: str) -> dict:
    capsys.readouterr()
    run(["check", *words, "--judge", "lexical", "--json"])
    return json.loads(capsys.readouterr().out)


def supported(answer: dict) -> list[str]:
    return [claim["text"] for claim in answer["claims"] if claim["support"]["label"] == "supported"]


# ---------------------------------------------------------------- a text does not prove itself


def test_a_draft_in_the_folder_is_no_evidence_for_itself(notes, capsys):
    (notes / "draft.md").write_text(DRAFT, "utf-8")
    assert supported(checked(capsys, "notes/draft.md", "--docs", "notes")) == [TRUTHS[2], TRUTHS[0]]


def test_the_file_that_is_checked_is_named_in_a_note(notes, capsys):
    (notes / "draft.md").write_text(DRAFT, "utf-8")
    (note, *_) = checked(capsys, "notes/draft.md", "--docs", "notes")["notes"]
    assert note == "No evidence, as it is the text itself or a copy of it: draft.md."


def test_a_draft_of_one_sentence_is_known_by_its_path(notes, capsys):
    (notes / "draft.md").write_text(LIES[1], "utf-8")
    assert supported(checked(capsys, "notes/draft.md", "--docs", "notes")) == []


def test_without_its_name_a_draft_is_known_by_what_it_says(notes):
    (notes / "draft.md").write_text(DRAFT, "utf-8")
    answer = toulmin.check(DRAFT, docs=["notes"], judge="lexical")
    assert [text for text, holds in labels(answer).items() if holds] == [TRUTHS[2], TRUTHS[0]]


def test_the_library_takes_the_path_of_a_text(notes):
    (notes / "draft.md").write_text(LIES[1], "utf-8")
    path = notes / "draft.md"
    assert labels(toulmin.check(LIES[1], docs=["notes"], judge="lexical", path=path)) == {LIES[1]: False}


@pytest.mark.parametrize(
    "copy",
    [
        DRAFT,
        DRAFT.replace("Longitude\n", "Another title\n"),
        DRAFT.replace("wolves", "bears").replace("1951", "1952"),
        DRAFT.replace("# Longitude", "Longitude").replace(". ", ".\n\n"),
        f"{DRAFT}\nOne more line stands here.\n",
    ],
)
def test_a_renamed_edited_or_reformatted_copy_is_no_evidence_either(notes, capsys, copy):
    (notes / "draft.md").write_text(DRAFT, "utf-8")
    (notes / "other.txt").write_text(copy, "utf-8")
    assert supported(checked(capsys, "notes/draft.md", "--docs", "notes")) == [TRUTHS[2], TRUTHS[0]]


def test_a_run_of_the_text_in_a_larger_document_is_left_out(notes, capsys):
    filler = " ".join(f"Ship {n} carried {9 * n} barrels of tar and {2 * n} goats." for n in range(1, 30))
    pasted = DRAFT.partition("\n\n")[2]
    (notes / "all.txt").write_text(f"{filler}\n\n{' '.join(pasted.split())}\n\n{filler}\n", "utf-8")
    (notes / "draft.md").write_text(DRAFT, "utf-8")
    assert LIES[1] not in supported(checked(capsys, "notes/draft.md", "--docs", "notes", "--set", "k=5"))


def test_sentences_that_a_source_has_word_for_word_are_still_supported(notes):
    text = f"{TRUTHS[0]} {TRUTHS[1]} {TRUTHS[2]} {TRUTHS[4]}"
    assert set(labels(toulmin.check(text, docs=["notes"], judge="lexical")).values()) == {True}


def test_two_sentences_that_are_all_of_a_source_are_still_supported():
    text = f"{TRUTHS[0]} {TRUTHS[1]}"
    assert set(labels(answer_of(check(text), [Passage.of(text, "Sea clocks")])).values()) == {True}


def test_passages_that_a_text_cites_are_its_sources_though_it_repeats_them():
    source = Passage.of(" ".join(TRUTHS[:4]), "Sea clocks")
    text = " ".join(f"{truth[:-1]} [1]." for truth in TRUTHS[:4])
    assert set(labels(answer_of(check(text, passages=(source,)), [source])).values()) == {True}


def test_a_repair_takes_nothing_from_a_copy_of_the_text(notes, capsys):
    (notes / "draft.md").write_text(DRAFT, "utf-8")
    (notes / "other.txt").write_text(DRAFT.replace("wolves", "bears"), "utf-8")
    run(["check", "notes/draft.md", "--docs", "notes", "--judge", "lexical", "--repair"])
    text = capsys.readouterr().out.partition("Changes")[0]
    assert ("wolves" in text, "bears" in text, "dissolved in 1828" in text) == (False, False, True)


def test_a_repair_names_the_copies(notes, capsys):
    (notes / "draft.md").write_text(DRAFT, "utf-8")
    answer = checked(capsys, "notes/draft.md", "--docs", "notes", "--repair")
    assert "No evidence, as it is the text itself or a copy of it: draft.md." in answer["notes"]


def test_a_search_goes_deeper_where_copies_fill_its_first_hits():
    copies = [Passage.of(DRAFT, f"Copy {n}") for n in range(7)]
    source = Passage.of(SOURCE, "Sea clocks")
    assert labels(answer_of(check(DRAFT, k=2), [*copies, source]))[TRUTHS[2]]


drafts = st.lists(st.sampled_from((*TRUTHS, *LIES)), min_size=3, max_size=8, unique=True)
edits = st.sampled_from((str, str.lower, lambda text: text.replace(". ", ".\n\n"), lambda text: f"Notes\n\n{text}"))


@settings(max_examples=40, deadline=None)
@given(drafts, edits, st.randoms(use_true_random=False))
def test_adding_a_copy_of_a_text_to_the_sources_makes_nothing_supported(sentences, edit, random):
    text = " ".join(sentences)
    shuffled = random.sample(sentences, len(sentences))
    source = Passage.of(SOURCE, "Sea clocks")
    copy = Passage.of(edit(" ".join(shuffled)), "Draft")
    before, after = (labels(answer_of(check(text), pool)) for pool in ([source], [source, copy]))
    assert [text for text in before if after[text] and not before[text]] == []


@settings(max_examples=20, deadline=None)
@given(drafts)
def test_a_repair_with_a_copy_at_hand_is_the_repair_without_it(sentences):
    text = " ".join(sentences)
    source = Passage.of(SOURCE, "Sea clocks")
    pools = ([source], [source, Passage.of(text, "Draft")])
    first, second = (final_text(answer_of(repair(text, rewrite=False), pool)) for pool in pools)
    assert first == second


# ---------------------------------------------------------------- what only names things


ENTRIES = (
    "[1] J. Smith and K. Doe. CRISPR cures all forms of cancer in mice. Nature, 2019.",
    "1. Smith J, Doe K. CRISPR cures all forms of cancer in mice. Nature. 2019;12:3-4.",
    "Smith, J., & Doe, K. (2019). CRISPR cures all forms of cancer in mice. Nature, 12(3), 4-5.",
    'Jinek, Martin, et al. "CRISPR cures all forms of cancer in mice." Science 337 (2012): 816-821.',
)
PROSE = (
    "J. Smith, the keeper, built it in 1824. He lived there until 1850.",
    "1. J. Smith built the tower in 1824.",
    "George W. Bush won. He left in 2009.",
    "Smith et al. (2019) showed that it works. The results held in 2020.",
    "Washington, D.C., was founded in 1790. The city grew until 1950.",
    "The copyright lasts 70 years after the death of the author.",
    *TRUTHS,
)
CURE = "CRISPR cures all forms of cancer in mice."


@pytest.mark.parametrize("entry", ENTRIES)
def test_an_entry_of_a_list_of_references_is_blank(entry):
    assert blank_references(entry).split() == []


@table("text", PROSE)
def test_prose_stays_as_it_is(text):
    assert blank_rights(blank_references(text), text) == text


def test_under_its_heading_a_list_is_blank_in_whatever_form():
    text = "CRISPR is young.\n\nReferences\n\nSmith, CRISPR cures cancer, Nature 2019.\n\nDoe: Mice, Cell 2020."
    assert blank_references(text).split() == ["CRISPR", "is", "young."]


def test_a_chapter_about_references_is_no_list():
    text = "References are aliases of objects. A reference must be initialised."
    assert blank_references(text, "C++ › References") == text


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.sampled_from((*ENTRIES, *PROSE, "© 1993 Ian Jackson", "References")), max_size=8), st.text(max_size=40)
)
def test_what_is_blanked_keeps_every_offset(parts, tail):
    text = "\n\n".join([*parts, tail])
    blank = blank_rights(blank_references(text), "")
    assert [b for a, b in zip(text, blank, strict=True) if b not in (a, " ")] == []


@pytest.mark.parametrize("entry", ENTRIES)
def test_a_cited_title_supports_no_claim(entry):
    text = f"CRISPR is a method for editing genes. It is young.\n\n## References\n\n{entry}"
    assert labels(answer_of(check(CURE), [Passage.of(text, "Gene editing")])) == {CURE: False}


def test_a_list_alone_is_named_as_no_evidence():
    (claim,) = answer_of(check(CURE), [Passage.of(ENTRIES[0], "Gene editing")]).claims
    assert claim.support.reason == "reference lists, copyright lines and licence terms are no evidence"


def test_the_path_of_headings_says_that_a_passage_is_a_list():
    text = "Smith. CRISPR cures all forms of cancer in mice. Nature 2019."
    listed = Passage.of(text, "Gene editing", Source(0, len(text), "a.md", section="Notes › References"))
    assert labels(answer_of(check(CURE), [listed])) == {CURE: False}


def test_a_list_of_references_is_still_found(notes, capsys):
    (notes / "crispr.md").write_text(f"# Gene editing\n\nIt is young.\n\n## References\n\n{ENTRIES[1]}\n", "utf-8")
    run(["search", "CRISPR cancer mice", "--docs", "notes", "--json"])
    assert "cures all forms" in json.loads(capsys.readouterr().out)["hits"][0]["passage"]["text"]


def test_what_a_text_cites_is_proven_by_its_list():
    claim = "Smith J, Doe K. CRISPR cures all forms of cancer in mice."
    assert labels(answer_of(check(claim), [Passage.of(ENTRIES[1], "Gene editing")])) == {claim: True}


DPKG = (
    "The dpkg tool installs Debian packages. It was written by Ian Murdock in January 1994.\n\n"
    "Copyright © 1993 Ian Jackson\n\nThis is free software; see the GNU General Public License version 2 or later."
)


@pytest.mark.parametrize(
    ("claim", "holds"),
    [
        ("The dpkg tool was created in 1993 by Ian Jackson.", False),
        ("It was written by Ian Murdock in January 1994.", True),
        ("Copyright © 1993 Ian Jackson.", True),
        ("This is free software; see the GNU General Public License version 2 or later.", True),
    ],
)
def test_a_copyright_line_proves_whose_copyright_it_is_and_nothing_else(claim, holds):
    assert labels(answer_of(check(claim), [Passage.of(DPKG, "dpkg")])) == {claim: holds}


def test_a_repair_does_not_take_a_maker_from_a_copyright_line():
    text = "The dpkg tool was created in 1993 by Ian Jackson. It was written by Ian Murdock in January 1994."
    answer = answer_of(repair(text, rewrite=False), [Passage.of(DPKG, "dpkg")])
    assert final_text(answer) == "It was written by Ian Murdock in January 1994."


def test_quotes_beside_blanked_lines_stand_at_their_offsets():
    passage = Passage.of(f"© 1990 A. Body\n\n{DPKG}", "dpkg")
    (claim,) = answer_of(check("It was written by Ian Murdock in January 1994."), [passage]).claims
    assert claim.citations[0].quote.text == "It was written by Ian Murdock in January 1994."


# ---------------------------------------------------------------- documents that are read together


class Both:
    """Supports a claim by two passages or more, never by one, and remembers what it was asked."""

    name = "both"

    def __init__(self) -> None:
        self.asked: list[Pair] = []

    def judge(self, pairs: Sequence[Pair]) -> list[Verdict]:
        self.asked += pairs
        return [Verdict("supported" if len(p.premises) > 1 else "unsure", 0.5, 0.0, "both") for p in pairs]


def piece(text: str, title: str, path: str) -> Passage:
    return Passage.of(text, title, Source(0, len(text), path))


TOWER = piece("It was lit for the first time in 1824.", "Kettle Rock", "tower.md")
KEEPERS = piece("Three keepers lived there.", "Keepers", "tower.md")
OAK = piece("The catalogue lists 128 tables.", "Oak furniture", "oak.md")
PELL = piece("She designed the lamp of Kettle Rock.", "Hannah Pell", "pell.md")


@table(
    ("claim", "passages", "holds"),
    [
        ("It was lit in 1824 and has 128 tables.", (TOWER, OAK), False),
        ("It was lit in 1824 and three keepers lived there.", (TOWER, KEEPERS), True),
        ("Kettle Rock was lit in 1824, and the oak furniture has 128 tables.", (TOWER, OAK), True),
        ("Kettle Rock was lit in 1824 and has 128 tables.", (TOWER, OAK), False),
        ("It was lit in 1824 by a lamp that she designed.", (TOWER, PELL), True),
    ],
)
@table("marks", ["", " [1][2]"])
def test_documents_are_joined_only_where_one_is_named(claim, passages, holds, marks):
    text = f"{claim[:-1]}{marks}."
    assert labels(answer_of(check(text, passages=passages), passages, Both())) == {claim: holds}


def test_a_claim_that_cites_documents_read_apart_says_so():
    text = "It was lit in 1824 and has 128 tables [1][2]."
    (claim,) = answer_of(check(text, passages=(TOWER, OAK)), (TOWER, OAK), Both()).claims
    assert claim.support.reason == "no document says it (each document read alone)"


def test_a_repair_joins_no_strangers():
    text = "It was lit in 1824 and has 128 tables [1]."
    assert final_text(answer_of(repair(text, passages=(TOWER, OAK), rewrite=False), (TOWER, OAK), Both())) == ""


@pytest.mark.parametrize(("method", "joins"), [(best, False), (vtg, True)])
def test_our_own_method_joins_no_strangers_and_the_papers_do_as_they_say(method, joins):
    judge, model = Both(), ScriptedModel(lambda request: "It was lit in 1824 and has 128 tables [1][2].")
    answer_of(method("When was it lit?"), (TOWER, OAK), judge, model)
    assert any(len(pair.premises) > 1 for pair in judge.asked) == joins


# ---------------------------------------------------------------- marks that point nowhere


LIT = "It was lit for the first time in 1824"


@pytest.fixture
def passages(tmp_path: Path) -> str:
    rows = [{"title": p.title, "text": p.text} for p in (TOWER, OAK)]
    (tmp_path / "passages.jsonl").write_text("\n".join(map(json.dumps, rows)), "utf-8")
    return "passages.jsonl"


@pytest.mark.parametrize("marks", ["[9]", "[1][9]", "[0]"])
def test_a_mark_that_points_nowhere_fails_a_strict_check(passages, capsys, marks):
    Path("text.txt").write_text(f"{LIT} {marks}.", "utf-8")
    assert run(["check", "text.txt", "--passages", passages, "--judge", "lexical", "--strict"]) == 6
    stray = "[0]" if "0" in marks else "[9]"
    assert f"cites {stray}, and 2 passages were given" in " ".join(capsys.readouterr().out.split())


def test_a_claim_whose_mark_points_nowhere_is_not_cited_anew_by_check(passages, capsys):
    Path("text.txt").write_text(f"{LIT} [9].", "utf-8")
    (claim,) = checked(capsys, "text.txt", "--passages", passages)["claims"]
    assert (claim["citations"], claim["support"]["label"]) == ([], "unsupported")


def test_a_repair_names_a_mark_that_points_nowhere(passages, capsys):
    Path("text.txt").write_text(f"{LIT} [9].", "utf-8")
    run(["check", "text.txt", "--passages", passages, "--judge", "lexical", "--repair"])
    out = " ".join(capsys.readouterr().out.split())
    assert (f"{LIT} [1]." in out, "cites [9], and 2 passages were given" in out) == (True, True)
