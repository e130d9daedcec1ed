"""The prose of Markdown and plain text: places, citations, links, and what is left out."""

from __future__ import annotations

from pathlib import Path

import docx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from row_tables import table

from tests.prose_parts import at, cited, is_in_order, links, places, skipped, texts
from toulmin.errors import SourceError
from toulmin.prose.blocks import Prose, Writer, bibliography, keys_in
from toulmin.prose.files import read_document, read_prose
from toulmin.prose.markdown import read
from toulmin.text.language import sentences


def file(folder: Path, text: str | bytes, name: str = "note.md") -> Path:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_a_sentence_has_the_place_where_it_stands():
    prose = read("# Clocks\n\nHarrison built a clock.\nIt kept *sea*\ntime well. Nobody paid.\n")
    assert texts(prose) == ["Harrison built a clock.", "It kept sea time well.", "Nobody paid."]
    assert places(prose) == [(3, 1), (4, 1), (5, 12)]


def test_the_place_spans_the_lines_of_a_sentence():
    prose = read("One.\n\nIt kept\n*sea* time.\n")
    start, end = sentences(prose.text)[1]
    place = prose.place(start, end)
    assert (place.line, place.column, place.end_line, place.end_column) == (3, 1, 4, 12)


def test_columns_count_code_points():
    prose = read("😀 e\u0301te\u0301 👩‍👩‍👧 ended. The next began.\n")
    assert places(prose)[1] == (1, len("😀 e\u0301te\u0301 👩‍👩‍👧 ended. ") + 1)


def test_line_ends_of_windows_count_once(tmp_path: Path):
    prose = read_prose(file(tmp_path, b"First line.\r\n\r\nSecond *block*\r\nends.\r\n"))
    assert places(prose) == [(1, 1), (3, 1)]


@table(
    ("source", "text"),
    [
        ("It cost 5 \\* 3 and \\[so\\].", "It cost 5 * 3 and [so]."),
        ("Salt &amp; pepper &copy; 1759.", "Salt & pepper © 1759."),
        ("Call `open_index(x)` first.", "Call open_index(x) first."),
        ("A **bold *and* slanted** word.", "A bold and slanted word."),
        ("See ![the clock](h4.png) here.", "See  here."),
        ("A hard  \nbreak stays.", "A hard break stays."),
        ("An <b>old</b> tag.", "An old tag."),
        ("We find $E = mc^2$ and $$x$$.", "We find E = mc^2 and ."),
        ("From $5 to $6, or $5-$6.", "From $5 to $6, or $5-$6."),
        ("::: warning Title\nMind it.\n:::", "Mind it."),
    ],
)
def test_marks_are_no_words(source: str, text: str):
    assert read(source).text.strip() == text


def test_the_words_after_an_escape_keep_their_place():
    prose = read("Salt &amp; pepper \\* end. Then more.\n")
    assert places(prose)[1] == (1, 27)


@table(
    "source",
    [
        "# A heading of words.\n",
        "A heading of words.\n===\n",
        "> Somebody said this.\n",
        "| head | row |\n|---|---|\n| A cell says. | so |\n",
        "```\nCode says this.\n```\n",
        "    Code says this.\n",
        "---\ntitle: It is a title.\n---\n",
        "**All in bold**\n",
        "<pre>Raw words.</pre>\n",
        "<table>\n\n<tr><td>A cell says this.</td></tr>\n\n</table>\n",
        "<details>\n<summary>What is said here</summary>\n</details>\n",
        "> <div>Raw words of others.</div>\n",
        "$$\nThe sum is 5.\n$$\n",
        "$a = 5$, $b = 3$.\n",
        "$$a = 5$$.\n",
        "::: warning Mind this title\n:::\n",
        "> - Quoted in a list.\n",
    ],
)
def test_what_is_not_the_authors_sentence_is_no_prose(source: str):
    assert read(source).text.strip() == ""


def test_items_of_nested_lists_are_blocks():
    prose = read("- First item.\n  - Inner item.\n\n    More of it.\n- Last item.\n")
    assert prose.text.split("\n\n") == ["- First item.", "- Inner item.", "More of it.", "- Last item.", ""]
    assert places(prose)[-1][0] == 5


def test_a_footnote_is_cited_with_its_words_and_links():
    prose = read("It ran well.[^a] So it did.\n\n[^a]: Harrison, [notes](notes.md), p. 3.\n")
    assert cited(prose) == ["Harrison, [notes](notes.md), p. 3. notes.md"]
    assert texts(prose) == ["It ran well.", "So it did."]


def test_a_footnote_nobody_wrote_is_cited_by_its_mark():
    prose = read("It ran well.[^b] So did it [^a-z].\n")
    assert (cited(prose), texts(prose)) == (["[^b]"], ["It ran well.", "So did it [^a-z]."])


def test_a_mark_of_a_task_is_no_word():
    prose = read("- [ ] Wind *it*. Then stop.\n- [x] Buy it.\n")
    assert [text.removeprefix("-").strip() for text in texts(prose)] == ["Wind it.", "Then stop.", "Buy it."]
    assert places(prose)[1] == (1, 18)


def test_prose_in_blocks_of_html_has_its_place_and_what_it_links_to():
    prose = read(
        "<details>\n<summary>More of it</summary>\nIt <b>ran</b> [well].\nSee <a href=n.md>them</a>.\n</details>\n"
    )
    assert (texts(prose), places(prose)) == (["It ran [well].", "See them."], [(3, 1), (4, 1)])
    assert links(prose) == {"them": "n.md"}


def test_a_comment_in_html_leaves_out_the_block_after_it():
    assert skipped(read("<div>\n<!-- toulmin: skip so -->\n\nFirst one.\n\n</div>\n")) == {"First one.": "so"}


def test_links_lead_somewhere_and_cite_nothing():
    prose = read("See [the *notes*](notes.md#a) and [more][m] and <https://x.org/a>.\n\n[m]: https://y.org\n")
    assert links(prose) == {"the notes": "notes.md#a", "more": "https://y.org", "https://x.org/a": "https://x.org/a"}
    assert cited(prose) == []


def test_keys_in_brackets_are_cited_and_not_written():
    prose = read("It ran well [see @harrison1759, p. 3; @mask:a]. Then it stopped.\n")
    assert (cited(prose), texts(prose)) == (["@harrison1759", "@mask:a"], ["It ran well.", "Then it stopped."])
    assert places(prose)[1] == (1, 49)


def test_an_address_of_mail_is_no_key():
    assert cited(read("Write to [me](mailto:a@b.org) or [a@b.org] now.\n")) == []


def test_numbered_entries_of_the_references_are_kept():
    prose = read("It ran [1].\n\n## References\n\n1. notes.md\n2. Harrison, 1759.\n")
    assert (dict(prose.entries), texts(prose)) == ({1: "notes.md", 2: "Harrison, 1759."}, ["It ran [1]."])


def test_definitions_of_numbers_are_entries():
    prose = read("It *ran* [2][3] and [2][].\nIt stopped [2].\n\n[2]:\n  notes.md\n[3]: <b.md>\n")
    assert dict(prose.entries) == {2: "notes.md", 3: "<b.md>"}
    assert (texts(prose), links(prose)) == (["It ran [2][3] and [2].", "It stopped [2]."], {})
    assert places(prose)[1] == (2, 1)


def test_a_link_with_words_stays_a_link_whatever_its_label():
    prose = read("See [the notes][2] and [3](c.md).\n\n[2]: notes.md\n")
    assert (links(prose), texts(prose)) == ({"the notes": "notes.md", "3": "c.md"}, ["See the notes and 3."])


def test_a_comment_leaves_out_the_block_after_it():
    prose = read("First.\n\n<!-- toulmin: skip opinion of ours -->\nSecond one. And this.\n\nThird.\n")
    assert skipped(prose) == {"Second one.": "opinion of ours", "And this.": "opinion of ours"}


def test_a_comment_inside_a_block_leaves_it_out():
    assert skipped(read("First. <!-- toulmin: skip -->\n\nSecond.\n")) == {"First.": "no reason is given"}


def test_a_comment_leaves_out_the_whole_file():
    assert skipped(read("First.\n\n<!-- toulmin: skip-file: a draft -->\n\nLast.\n")) == {
        "First.": "a draft",
        "Last.": "a draft",
    }


def test_other_comments_are_nothing():
    assert skipped(read("<!-- toulmin: skipping -->\n\n<!-- skip -->\n\nFirst.\n")) == {}


_WORDS = st.sampled_from("clock été e\u0301te\u0301 😀 灯台 sea-time don't 1,759 Harrison".split())
_SENTENCES = st.lists(_WORDS, min_size=1, max_size=6).map(lambda words: " ".join(["The", *words, "ran."]))
_FORMS = st.sampled_from(["{}", "*{}*", "**{}**", "[{}](a.md)", "`{}`", "{}<!-- x -->"])


@given(st.lists(st.tuples(_SENTENCES, _FORMS, st.sampled_from(["", "- ", "1. "]), st.booleans()), min_size=1))
def test_each_sentence_stands_at_its_place(blocks: list[tuple[str, str, str, bool]]):
    source = ""
    for sentence, form, prefix, is_wrapped in blocks:
        words = sentence.replace(" ", "\n" + " " * len(prefix), 1) if is_wrapped else sentence
        head, tail = words[:3], words[3:].rstrip(".")
        source += f"{prefix}{head}{tail[:1]}{form.format(tail[1:].strip())}.\n\n# H\n\n"
    prose = read(source)
    spans = sentences(prose.text)
    assert [prose.text[a:b].removeprefix("- ") for a, b in spans] == [block[0] for block in blocks]
    assert all(is_in_order(prose.text[a:b], at(prose, a, b)) for a, b in spans)


# ---------------------------------------------------------------- plain text, and what all share


def test_plain_text_is_all_prose(tmp_path: Path):
    prose = read_prose(file(tmp_path, "First.\n  Second [1].\n\nSources:\n[1] notes.md\n", "note.txt"))
    assert (prose.text, dict(prose.entries)) == (prose.source, {1: "notes.md"})
    assert places(prose)[:2] == [(1, 1), (2, 3)]


def test_an_empty_file_is_refused(tmp_path: Path):
    with pytest.raises(SourceError, match="is empty"):
        read_prose(file(tmp_path, " \n"))


def test_a_missing_file_is_refused(tmp_path: Path):
    with pytest.raises(SourceError, match="There is no file"):
        read_prose(tmp_path / "none.md")


def test_null_bytes_are_refused(tmp_path: Path):
    with pytest.raises(SourceError, match="null bytes"):
        read_prose(file(tmp_path, b"a\0b"))


def test_the_keys_of_a_bibliography():
    text = "@book{harrison1759,\n title = {The Principles},\n url = {https://h.org}\n}\n@misc{b, title={Other}}\n"
    assert bibliography(text) == {"harrison1759": "The Principles ; https://h.org", "b": "Other"}
    assert bibliography('[{"id":"c1","type":"book"}]') == {"c1": ""}
    assert keys_in("see @a.b:c, p. 3; -@d") == ["a.b:c", "d"]


def test_a_writer_without_words_gives_no_prose():
    writer = Writer("")
    writer.end_block(0)
    assert writer.prose() == Prose("", "")


@pytest.mark.parametrize("source", ["[" * 3000, "*a " * 3000, "> " * 3000 + "a", "- " * 200 + "a", "<!--" * 3000])
def test_hostile_markdown_ends(source: str):
    assert read(source).source == source


def test_a_word_document_names_no_other_file(tmp_path: Path):
    (tmp_path / "private.bib").write_text("@book{secret, title={Private}}", "utf-8")
    document = docx.Document()
    document.add_paragraph("bibliography: private.bib")
    document.save(str(tmp_path / "draft.docx"))
    assert read_document(tmp_path / "draft.docx").books == {}
