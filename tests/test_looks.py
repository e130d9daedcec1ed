"""Originals as a person reads them: sanitised, with the cited words marked, whatever a document holds."""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path

import docx
import pytest
from hostile_files import WORDS, hostile_files
from hypothesis import given, settings
from hypothesis import strategies as st
from kinds_parts import xlsx
from selectolax.lexbor import LexborHTMLParser
from texts import latin_texts

pytest.importorskip("nh3", reason="needs nh3")
pytest.importorskip("mammoth", reason="needs mammoth")

from toulmin.data import Document, Heading
from toulmin.documents.confined import Children
from toulmin.documents.loaders import read_documents, reader_of
from toulmin.errors import SourceError
from toulmin.originals.looks import look_of, mark, sanitise
from toulmin.originals.readable import MOST_SHOWN, page_of, text_body

HOSTILE_FOLDER = Path(__file__).parent / "hostile"
MARK = re.compile(r'<mark class="toulmin"(?: id="marked")?>(.*?)</mark>', re.DOTALL)
HOSTILE = """<html><head><title>T</title><style>p { background: url(https://evil.example/a) }</style>
<meta http-equiv="refresh" content="0;url=https://evil.example/"><base href="https://evil.example/">
<link rel="stylesheet" href="https://evil.example/s.css"><script>alert(1)</script></head>
<body onload="alert(2)"><p id="marked" onclick="alert(3)" style="position:fixed">The <b>lamp</b> was lit.</p>
<img src="https://evil.example/pixel.png" alt="a tower" onerror="alert(4)">
<img src="data:image/svg+xml,<svg onload=alert(5)>">
<a href="javascript:alert(6)">one</a> <a href="https://evil.example/">two</a> <a href="#part" target="_blank">three</a>
<svg><script>alert(7)</script></svg><math><mtext><script>alert(8)</script></mtext></math>
<iframe srcdoc="<script>alert(9)</script>"></iframe><object data="x.swf"></object><embed src="x.swf">
<form action="https://evil.example/"><input name="a" autofocus onfocus="alert(10)">
<button formaction="javascript:1">b</button></form>
<video src="https://evil.example/v"><source src="https://evil.example/w"></video><template><p>shadow</p></template>
<mark class="toulmin" id="marked">not cited</mark><p hidden>unseen</p>
<table background="https://evil.example/t"><tr><td>c</table>
</body></html>"""
FORBIDDEN = set("script style link meta base iframe object embed form input svg math video".split())
ATTRIBUTES = set("id dir lang alt width height colspan rowspan start class".split())


def assert_harmless(body: str) -> None:
    """No element or attribute of a page may run, fetch, lead away, or look like our mark."""
    for node in LexborHTMLParser(MARK.sub(r"\1", body)).css("body *"):
        assert node.tag not in FORBIDDEN
        for name, value in node.attributes.items():
            if name == "href":
                assert (value or "").startswith("#")
            elif name == "src":
                assert (value or "").startswith("data:image/png;base64,")
            else:
                assert name in ATTRIBUTES, name
            assert (name, value) != ("id", "marked")
            assert name != "class" or value == "left-out"


def look(path: Path, words: str) -> str:
    """The body of a file as it looks, with the words of its text marked."""
    document = next(read_documents(path))
    start = document.text.index(words)
    texts = [words, document.text[max(0, start - 600) : start], document.text[start + len(words) :][:600]]
    body = look_of(path, reader_of(path)[1], texts, document.text.count("\n\n", 0, start))
    assert body is not None
    return body


def marked(body: str) -> str:
    return re.sub(r"<[^>]*>|\s+", " ", " ".join(MARK.findall(body))).strip()


# ---------------------------------------------------------------- sanitising


def test_a_hostile_page_neither_runs_nor_fetches(tmp_path: Path):
    (tmp_path / "a.html").write_text(HOSTILE, "utf-8")
    body = look(tmp_path / "a.html", "The lamp was lit.")
    assert_harmless(body)
    assert '<a href="#part">three</a>' in body
    assert 'alt="a tower"' in body
    assert "unseen" not in body
    assert body.count('id="marked"') == 1


def test_markdown_holds_no_more_than_a_page(tmp_path: Path):
    (tmp_path / "a.md").write_text(
        f"# Tower\n\nIt *was* lit.\n\n[x](javascript:alert(1)) ![p](http://e/p.png)\n\n{HOSTILE}"
    )
    body = look(tmp_path / "a.md", "It was lit.")
    assert_harmless(body)
    assert "<h1>Tower</h1>" in body


def test_the_page_forbids_what_is_not_its_own():
    page = page_of("<script>alert(1)</script>", "<p>x</p>")
    assert "default-src 'none'" in page.split("<title>")[0]
    assert "<title>&lt;script&gt;" in page


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from([*re.findall(r"<[^<>]*>|[^<>]+", HOSTILE), "<", ">", '"', "</"]), max_size=30))
def test_whatever_is_strung_together_is_harmless(pieces: list[str]):
    assert_harmless(sanitise("".join(pieces)))


@pytest.mark.parametrize("kind", ["html", "md", "docx", "csv", "xlsx", "txt", "rst", "eml", "rtf", "epub"])
def test_a_hostile_file_is_shown_harmlessly_or_refused(tmp_path: Path, kind: str):
    with Children(1) as children:
        for path in hostile_files(tmp_path, 20_000):
            if path.suffix == f".{kind}":
                with suppress(SourceError):
                    words = WORDS if WORDS in next(read_documents(path)).text else ""
                    begun = children.submit(path, "toulmin.originals.looks.show", [words, "", ""], 0, 0)
                    assert_harmless(str(begun.result()["body"]))


@pytest.mark.parametrize("path", sorted(HOSTILE_FOLDER.glob("[hm][td]*/*")), ids=lambda path: path.name)
def test_markup_that_once_broke_a_parser_is_harmless(path: Path):
    assert_harmless(sanitise(path.read_bytes().decode("utf-8", "replace")))


def test_a_page_that_nests_too_deep_has_no_look():
    assert sanitise("<div>" * 200_000) == ""


# ---------------------------------------------------------------- marking


def test_words_over_several_elements_have_a_mark_in_each(tmp_path: Path):
    (tmp_path / "a.html").write_text("<p>Before. The <b>lamp</b> was <i>lit</i> &amp; kept. After.</p>", "utf-8")
    body = look(tmp_path / "a.html", "The lamp was lit & kept.")
    assert marked(body) == "The lamp was lit &amp; kept."
    assert body.count('id="marked"') == 1


def test_of_repeated_words_those_with_the_same_surroundings_are_marked():
    body = "<p>One. The lamp was lit. Two.</p><p>Three. The lamp was lit. Four.</p>"
    found = mark(body, "The lamp was lit.", "Three. ", " Four.")
    assert found is not None
    assert found.index("<mark") > found.index("Three")


def test_words_that_are_not_there_are_not_marked():
    assert mark("<p>The lamp was lit.</p>", "The lamp was out.", "", "") is None


@settings(max_examples=60, deadline=None)
@given(latin_texts(), st.data())
def test_any_words_of_a_text_are_marked_where_they_are(text: str, data: st.DataObject):
    words = text.split()
    start = data.draw(st.integers(0, len(words) - 1))
    end = data.draw(st.integers(start + 1, len(words)))
    quote = " ".join(words[start:end])
    body = "".join(f"<p>{word}</p>" if n % 7 == 0 else f" <b>{word}</b> " for n, word in enumerate(words))
    found = mark(body, quote, " ".join(words[:start])[-600:], " ".join(words[end:])[:600])
    letters = "".join(filter(str.isalnum, quote))
    if letters:
        assert found is not None
        assert "".join(filter(str.isalnum, marked(found))) == letters


def test_a_row_of_a_table_is_marked_in_its_cells(tmp_path: Path):
    rows = "".join(f"{1800 + n};Tower {n};{n} m\n" for n in range(30))
    (tmp_path / "a.csv").write_text(f"Year;Name;Height\n{rows}", "utf-8")
    body = look(tmp_path / "a.csv", "Year: 1817; Name: Tower 17; Height: 17 m")
    assert MARK.findall(body) == ["1817", "Tower 17", "17 m"]


def test_of_a_long_table_the_rows_round_the_words_are_shown(tmp_path: Path):
    rows = "".join(f"{n},Tower {n},{n} m\n" for n in range(5_000))
    (tmp_path / "a.csv").write_text(f"Number,Name,Height\n{rows}", "utf-8")
    body = look(tmp_path / "a.csv", "Number: 4321; Name: Tower 4321; Height: 4321 m")
    assert (MARK.findall(body)[0], body.count("<tr>")) == ("4321", 1_001)


def test_a_workbook_is_shown_by_its_sheets(tmp_path: Path):
    def rows(name: str, height: str) -> str:
        cells = [["Name", "Height"], [name, height]]
        cell = '<c t="inlineStr"><is><t>{}</t></is></c>'
        return "".join(f"<row>{''.join(map(cell.format, row))}</row>" for row in cells)

    book = xlsx({"First": rows("Kettle Rock", "38 m"), "Second": rows("Outer Reef", "12 m")})
    (tmp_path / "a.xlsx").write_bytes(book)
    body = look(tmp_path / "a.xlsx", "Name: Outer Reef; Height: 12 m")
    assert MARK.findall(body) == ["Outer Reef", "12 m"]
    assert "<h2>Second</h2>" in body


def test_a_word_document_looks_as_it_does(tmp_path: Path):
    document = docx.Document()
    document.add_heading("Towers", 1)
    paragraph = document.add_paragraph("Before. The lamp ")
    paragraph.add_run("was lit").bold = True
    paragraph.add_run(" in 1824. After.")
    table = document.add_table(2, 2)
    for n, words in enumerate(("Name", "Height", "Kettle Rock", "38 m")):
        table.cell(n // 2, n % 2).text = words
    document.save(str(tmp_path / "a.docx"))
    body = look(tmp_path / "a.docx", "The lamp was lit in 1824.")
    assert_harmless(body)
    assert marked(body) == "The lamp was lit in 1824."
    assert marked(look(tmp_path / "a.docx", "Kettle Rock | 38 m")) == "Kettle Rock 38 m"


# ---------------------------------------------------------------- as text


def test_a_text_is_shown_in_paragraphs_under_its_headings():
    document = Document("Towers\n\nThe <b>lamp</b> was lit. It burns.", headings=(Heading(0, 2, "Towers"),))
    start = document.text.index("It burns")
    heading, paragraph = text_body(document, start, start + 9).split("\n")
    assert heading == "<h2>Towers</h2>"
    marked_words = '<mark class="toulmin" id="marked">It burns.</mark>'
    assert paragraph == f"<p>The &lt;b&gt;lamp&lt;/b&gt; was lit. {marked_words}</p>"


def test_of_a_long_text_what_is_round_the_words_is_shown(monkeypatch: pytest.MonkeyPatch):
    text = "\n\n".join(f"Paragraph {n} of a long text." for n in range(40_000))
    start = text.index("Paragraph 20000")
    body = text_body(Document(text), start, start + 15)
    assert len(body) < 2 * MOST_SHOWN
    assert MARK.findall(body) == ["Paragraph 20000"]
    assert body.count("left-out") == 2


def test_words_over_paragraphs_are_marked_in_each():
    body = text_body(Document("One two.\n\nThree four."), 4, 15)
    assert MARK.findall(body) == ["two.", "Three"]
