"""Readers: what becomes of files of every format, and what is said of those that cannot be read."""

from __future__ import annotations

import gzip
import json
import os
import random
import zipfile
from collections.abc import Callable, Iterator, Sequence
from html import escape
from io import BytesIO
from itertools import zip_longest
from pathlib import Path
from textwrap import wrap

import docx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kinds_parts import epub, odt, pptx, shape, xlsx
from pdf_writer import Line, encrypted, lines, pdf
from texts import keeps_the_laws, latin_texts, texts, unspaced

from toulmin.data import Document
from toulmin.documents.loaders import SUFFIXES, SkippedFile, by_reason, find_files, read_documents
from toulmin.documents.plain import read_text
from toulmin.errors import SourceError

modest = settings(max_examples=30, deadline=None)
Write = Callable[[str, bytes], Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def written(name: str, content: bytes) -> Path:
        (tmp_path / name).write_bytes(content)
        return tmp_path / name

    return written


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder whose one file each example of a property writes anew."""
    return tmp_path_factory.mktemp("files")


def read(path: Path, content: bytes | None = None, limit: int = 10_000_000) -> list[Document]:
    if content is not None:
        path.write_bytes(content)
    return list(read_documents(path, limit=limit))


def refusal(path: Path, limit: int = 10_000_000) -> str:
    with pytest.raises(SourceError) as caught:
        read(path, limit=limit)
    return str(caught.value)


def word_file(paragraphs: list[str], title: str = "") -> bytes:
    book, file = docx.Document(), BytesIO()
    book.core_properties.title = title
    for paragraph in paragraphs:
        book.add_paragraph(paragraph)
    book.save(file)
    return file.getvalue()


def jsonl(*rows: object) -> bytes:
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


# ---------------------------------------------------------------- every format: offsets hold, no word is lost


@modest
@given(texts(), st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]), st.sampled_from(["\n", "\r\n", "\r"]))
def test_a_text_file_keeps_all_but_white_space(place: Path, text: str, encoding: str, newline: str) -> None:
    [document] = read(place / "a.txt", text.replace("\n", newline).encode(encoding))
    assert (unspaced(document.text), keeps_the_laws(document, 20)) == (unspaced(text), True)


@modest
@given(texts())
def test_the_laws_hold_for_markdown(place: Path, text: str) -> None:
    [document] = read(place / "a.md", f"# Title\n\n{text}".encode())
    assert keeps_the_laws(document, 20)


@modest
@given(texts())
def test_html_shows_every_word_of_its_paragraphs(place: Path, text: str) -> None:
    body = "".join(f"<p>{escape(paragraph)}</p>" for paragraph in text.split("\n\n"))
    [document] = read(place / "a.html", f"<meta charset=utf-8><title>T</title>{body}".encode())
    assert (unspaced(document.text), keeps_the_laws(document, 20)) == (unspaced(text), True)


@modest
@given(texts(10))
def test_word_files_give_every_paragraph(place: Path, text: str) -> None:
    [document] = read(place / "a.docx", word_file(text.split("\n\n")))
    assert (unspaced(document.text), keeps_the_laws(document, 20)) == (unspaced(text), True)


@modest
@given(st.lists(texts(5), min_size=1, max_size=5), st.booleans())
def test_json_lines_give_a_document_a_record(place: Path, found: list[str], packed: bool) -> None:
    content = jsonl(*({"_id": n, "title": "T", "text": text} for n, text in enumerate(found)))
    path = place / ("a.jsonl.gz" if packed else "a.jsonl")
    documents = read(path, gzip.compress(content, mtime=0) if packed else content)
    assert [(d.record, d.text) for d in documents] == [(str(n), text) for n, text in enumerate(found)]


@modest
@given(st.lists(texts(5), min_size=1, max_size=5), st.booleans())
def test_alce_files_give_each_distinct_document_once(place: Path, found: list[str], inner: bool) -> None:
    items = [{"question": "Q", "docs": [{"title": "T", "text": text} for text in found]}] * 2
    documents = read(place / "a.json", json.dumps({"args": {}, "data": items} if inner else items).encode())
    assert [d.text for d in documents] == list(dict.fromkeys(found))


@modest
@given(st.lists(texts(5).map(lambda text: " ".join(text.split())), min_size=1, max_size=5))
def test_tab_separated_files_give_a_document_a_line(place: Path, found: list[str]) -> None:
    rows = [f'{n}\t"{text} ""quoted"""\tT' for n, text in enumerate(found)]
    documents = read(place / "a.tsv", "\n".join(["id\ttext\ttitle", *rows]).encode())
    assert [d.text for d in documents] == [f'{text} "quoted"' for text in found]


@modest
@given(
    st.lists(st.sampled_from(["灯台", "Маяк", "φάρος", "प्रकाश", "e\u0301te\u0301", "😀", "ﬁn"]), min_size=1), st.data()
)
def test_pdf_words_of_many_scripts_come_through(place: Path, words: list[str], data: st.DataObject) -> None:
    # PDFium gives nothing for a line of a single emoji, hence the word before.
    rows = [" ".join(["lamp", *words[i : i + 8]]) for i in range(0, len(words), 8)]
    split = data.draw(st.integers(0, len(rows)))
    [document] = read(place / "a.pdf", pdf([lines(*rows[:split]), lines(*rows[split:])]))
    expected = unspaced("".join(rows)).replace("ﬁ", "fi")
    assert (unspaced(document.text), keeps_the_laws(document, 5)) == (expected, True)


@modest
@given(latin_texts(8), st.randoms(use_true_random=False))
def test_words_divided_at_the_line_end_of_a_pdf_are_whole_again(place: Path, text: str, chance: random.Random) -> None:
    rows, row = [], ""
    for word in text.split():
        if len(row) > 50 and len(word) > 5:
            at = chance.randint(2, len(word) - 3)
            rows.append(row + word[:at] + "-")
            row = word[at:] + " "
        else:
            row += word + " "
    pages = [[*rows, row][i : i + 40] for i in range(0, len(rows) + 1, 40)]
    [document] = read(place / "a.pdf", pdf([lines(*page) for page in pages]))
    assert document.text.split() == text.split()


# ---------------------------------------------------------------- titles and shapes


@pytest.mark.parametrize(
    ("name", "content", "title"),
    [
        ("annual_report-draft.txt", b"Words.", "Annual report draft"),
        ("MS_Deptford.txt", b"Words.", "MS Deptford"),
        ("minutes_2024-03-01.txt", b"Words.", "Minutes 2024-03-01"),
        ("a.md", b"---\ntitle: no\n---\n```\n# no\n```\n## The *Lamp* ##\nWords.", "The Lamp"),
        ("a.md", b"The Lamp\n========\n\nWords.", "The Lamp"),
        ("a.md", b"# [The](http://x) `Lamp`\nWords.", "The Lamp"),
        ("my_notes.md", b"Words.", "My notes"),
        ("a.html", b"<title> The\n&amp; Lamp </title><p>Words.", "The & Lamp"),
        ("a.html", b"<h1>The <i>Lamp</i></h1><p>Words.", "The Lamp"),
        ("a.docx", word_file(["Words."], title="The Lamp"), "The Lamp"),
        ("a.pdf", pdf([lines("Words.")], title="Фонарь"), "Фонарь"),
        ("a_b.pdf", pdf([lines("Words.")], title="Microsoft Word - x.doc"), "A b"),
    ],
)
def test_a_document_has_the_title_that_a_person_would_give_it(
    write: Write, name: str, content: bytes, title: str
) -> None:
    assert read(write(name, content))[0].title == title


def test_front_matter_is_dropped(write: Write) -> None:
    assert read(write("a.md", b"---\ntags: [x]\n---\nWords."))[0].text == "Words."


def test_html_gives_only_what_is_seen(write: Write) -> None:
    page = """<nav>menu</nav><p>One <b>bo</b>ld<script>x()</script><p hidden>no</p><template>no</template>
    <ul><li>first<li>second</ul><table><tr><td>a<td>b</table>co&shy;op<style>p{}</style>"""
    shown = "One bold\n\nfirst\n\nsecond\n\na | b\n\ncoop"
    assert read(write("a.html", page.encode()))[0].text == shown


def test_what_leads_round_a_page_is_not_its_text(write: Write) -> None:
    page = """<div role="navigation">previous</div><ul class="docnav"><li>Up</ul><h1>Locks<a class="headerlink">¶</a>
    </h1><p>A lock is held.</p><aside class="sidebar">A note.</aside><div id="footer">2022</div>"""
    assert read(write("a.html", page.encode()))[0].text == "Locks\n\nA lock is held.\n\nA note."


def test_html_in_a_declared_character_set_is_decoded(write: Write) -> None:
    page = "<meta charset='Shift_JIS'><p>灯台".encode("shift_jis")
    assert read(write("a.html", page))[0].text == "灯台"


@pytest.mark.parametrize("part", ["docProps/core.xml", "package/services/metadata/core-properties/5f2.psmdcp"])
def test_the_title_of_a_word_file_is_that_of_its_properties_wherever_they_lie(write: Write, part: str) -> None:
    title, packed = "The keeper's book", BytesIO()
    kind = b"relationships/metadata/core-properties"
    with zipfile.ZipFile(BytesIO(word_file(["It was lit."], title))) as made, zipfile.ZipFile(packed, "w") as copy:
        for name in made.namelist():
            data = made.read(name).replace(b"docProps/core.xml", part.encode())
            # As LibreOffice writes it, which the library does not know.
            copy.writestr(
                part if name == "docProps/core.xml" else name, data.replace(b"package/2006/" + kind, b"x/" + kind)
            )
    (document,) = read(write("a.docx", packed.getvalue()))
    assert document.title == title


def test_a_term_of_html_stands_before_what_explains_it(write: Write) -> None:
    page = """<dl><dt>-a</dt><dt>--all</dt><dd><p>Take all of them.</p><p>Or none.</p></dd>
        <dt>frost date:<dd>The day of the last frost.
        <dt>outer<dd><dl><dt>inner<dd>Within it.</dl>
        <dt>What is it?</dt><dd>A thing.</dd><dt>code</dt><dd><pre>x = 1</pre></dd><dt><p>own</p></dt><dd>One.</dd>
        <dt>last</dt></dl>"""
    (document,) = read(write("a.html", page.encode()))
    assert document.text.split("\n\n") == [
        "-a, --all: Take all of them.",
        "Or none.",
        "frost date: The day of the last frost.",
        "outer",
        "inner: Within it.",
        *("What is it?", "A thing.", "code", "x = 1", "own", "One.", "last"),
    ]


def test_a_word_table_gives_a_line_a_row(write: Write) -> None:
    book, file = docx.Document(), BytesIO()
    table = book.add_table(2, 2)
    table.cell(0, 0).text, table.cell(0, 1).text = "height", "38 m"
    table.cell(1, 0).merge(table.cell(1, 1)).text = "measured twice"
    book.save(file)
    assert read(write("a.docx", file.getvalue()))[0].text == "height | 38 m\n\nmeasured twice"


def test_western_text_in_windows_1252_is_read(write: Write) -> None:
    assert read(write("a.txt", "“Café”".encode("cp1252")))[0].text == "“Café”"


def test_lone_surrogates_and_null_characters_never_get_in(write: Write) -> None:
    path = write("a.jsonl", b'{"_id": "\\udfff", "title": "\\ud800", "text": "a \\ud83d b \\u0000"}')
    [document] = read(path)
    assert (document.record, document.title, document.text) == ("\ufffd", "\ufffd", "a \ufffd b \ufffd")


def test_a_record_without_words_is_passed_over_and_a_title_alone_counts(write: Write) -> None:
    rows = jsonl({"_id": "1", "title": "", "text": ""}, {"_id": "2", "title": "Lamp", "text": " "})
    assert [d.text for d in read(write("a.jsonl", rows))] == ["Lamp"]


def test_a_record_carries_its_address(write: Write) -> None:
    rows = jsonl({"_id": "1", "text": "Lamp.", "url": "http://lamp.example"})
    assert read(write("a.jsonl", rows))[0].url == "http://lamp.example"


def test_a_header_names_the_order_of_columns(write: Write) -> None:
    [document] = read(write("a.tsv", b"id\ttitle\ttext\n7\tLamp\tWords."))
    assert (document.record, document.title, document.text) == ("7", "Lamp", "Words.")


# ---------------------------------------------------------------- PDFs


def test_pdf_pages_begin_where_their_text_does(write: Write) -> None:
    [document] = read(write("a.pdf", pdf([lines("First page."), [], lines("Third page."), []])))
    ends = [*document.pages[1:], len(document.text)]
    pages = [document.text[a:b].strip() for a, b in zip(document.pages, ends, strict=True)]
    assert pages == ["First page.", "", "Third page.", ""]


def test_a_sentence_runs_on_over_a_page_and_its_page_number(write: Write) -> None:
    pages = [lines("The keeper of the", "lamp", str(n)) for n in range(7, 11)]
    [document] = read(write("a.pdf", pdf(pages)))
    assert not any(char.isdigit() for char in document.text)


def test_totals_at_the_foot_of_pages_are_no_page_numbers(write: Write) -> None:
    pages = [lines("Sum of the year.", number) for number in ("120", "95", "233", "81")]
    [document] = read(write("a.pdf", pdf(pages)))
    assert [word for word in document.text.split() if word.isdigit()] == ["120", "95", "233", "81"]


def test_a_running_head_is_said_once(write: Write) -> None:
    pages = [lines("Notes on lamps", f"Chapter {word} begins here.") for word in ("one", "two", "three")]
    [document] = read(write("a.pdf", pdf(pages)))
    assert document.text.count("Notes on lamps") == 1


def test_a_gap_a_size_or_an_indent_parts_paragraphs_of_a_pdf(write: Write) -> None:
    page = [
        Line("Lamps", y=760, size=20),
        *lines("The first paragraph goes", "on here and ends.", "", "The second one is", "set apart by a gap."),
        *lines("The third is indented", top=650, x=90),
        *lines("and goes on here.", top=636),
    ]
    [document] = read(write("a.pdf", pdf([page])))
    assert document.text.split("\n\n") == [
        "Lamps",
        "The first paragraph goes on here and ends.",
        "The second one is set apart by a gap.",
        "The third is indented and goes on here.",
    ]


def test_columns_are_read_one_after_the_other(write: Write) -> None:
    page = lines("The left column goes", "on to the") + lines("right column and", "ends there.", x=320)
    [document] = read(write("a.pdf", pdf([page])))
    assert document.text == "The left column goes on to the right column and ends there."


def two_columns(words: Sequence[str], is_across: bool) -> bytes:
    """A page of two columns under a title; drawn line by line over both, or one column after the other."""
    printed = wrap(" ".join(words), 38)
    half = (len(printed) + 1) // 2
    left, right = (lines(*part, x=x, size=10) for part, x in ((printed[:half], 72), (printed[half:], 282)))
    drawn = [line for row in zip_longest(left, right) for line in row if line] if is_across else [*left, *right]
    return pdf(
        [[*lines("What was written of the lights along that coast, with notes of their keepers", top=760), *drawn]]
    )


@pytest.mark.parametrize("is_across", [True, False])
@pytest.mark.parametrize("seed", range(5))
def test_no_sentence_is_spliced_with_another_column(write: Write, seed: int, is_across: bool) -> None:
    draw = random.Random(seed)
    things = "lamp tower keeper storm harbour reef lens fog horn boat wreck tide well-known sea-wall".split()
    words = [" ".join(draw.choices(things, k=draw.randint(4, 17))) for _ in range(14)]
    sentences = [f"Sentence {n} says {said} in {draw.randint(1700, 1999)}." for n, said in enumerate(words)]
    [document] = read(write("a.pdf", two_columns(sentences, is_across)))
    assert [sentence for sentence in sentences if sentence not in document.text] == []
    assert document.text.startswith("What was written of the lights along that coast")


def test_a_table_without_rules_is_not_taken_for_columns(write: Write) -> None:
    rows = [("Mean height of the tower in metres", f"{n}.5 {n + 3}.7 (12.0-{n}.9) 0.{n} 112.4") for n in range(40, 50)]
    names, values = (lines(*column, x=x, size=10) for column, x in zip(zip(*rows, strict=True), (72, 300), strict=True))
    page = [line for row in zip(names, values, strict=True) for line in row]
    [document] = read(write("a.pdf", pdf([page])))
    assert all(f"metres {values}" in document.text for _, values in rows)


def test_a_compound_keeps_its_hyphen_at_a_line_end(write: Write) -> None:
    [document] = read(
        write("a.pdf", pdf([lines("A well-", "known Anglo-", "Saxon of 1914-", "18 in the light-", "house")]))
    )
    assert document.text == "A well-known Anglo-Saxon of 1914-18 in the lighthouse"


# ---------------------------------------------------------------- what cannot be read


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.txt", b"", "is empty"),
        ("a.txt", b" \n ", "is empty"),
        ("a.md", b"---\nx: y\n---\n", "is empty"),
        ("a.txt", b"a\0b", "null bytes"),
        ("a.txt", b"\xff\xfe\x81", "tried utf-16"),
        ("a.html", b"<script>x</script>", "shows no text"),
        ("a.html", b"<p>&nbsp;", "shows no text"),
        ("a.pdf", encrypted([lines("Secret.")]), "is encrypted"),
        ("a.pdf", pdf([[]]), "scanned"),
        ("a.pdf", pdf([lines("Words.")])[:500], "damaged PDF"),
        ("a.docx", b"PK\x03\x04 no more", "damaged Word document"),
        ("a.docx", b"\xd0\xcf\x11\xe0 wrapped", "encrypted, or an older .doc"),
        ("a.docx", word_file([]), "is empty"),
        ("a.jsonl", b'{"text": "good"}\n\n{"text": "bad', "line 3"),
        ("a.jsonl", b'{"text": "good"}\n{"txt": "bad"}', "line 2: the field `text` should hold words, not nothing"),
        ("a.jsonl", b'{"text": "a", "title": 3}', "line 1: the field `title` should hold words, not a number"),
        ("a.jsonl", b'{"text": "a", "_id": []}', "the field `_id` should hold words or a number, not a list"),
        ("a.jsonl", b"[" * 100_000, "line 1"),
        ("a.jsonl", b'{"text": "\xff"}', "is not UTF-8 at line 1"),
        ("a.jsonl", b'{"text": ""}', "is empty"),
        ("a.jsonl.gz", gzip.compress(b'{"text": "a"}', mtime=0)[:-9], "damaged gzip"),
        ("a.jsonl.gz", b"not packed", "damaged gzip"),
        ("a.tsv", b"1\ta\tb\n2\ta\tb\tc", "line 2: 3 fields parted by tabs were expected"),
        ("a.tsv", b"1\ta\0", "null bytes at line 1"),
        ("a.json", b'{"name": "x"}', 'or {"data": [...]}, was expected'),
        ("a.json", b'[{"docs": [{"text": "a"}]}, {"do', "item 2"),
        ("a.json", b'[{"docs": [{"text": 1}]}]', "item 1, document 1: the field `text`"),
        ("a.json", b'[{"text": "a"}] more', "the end expected, found 'm'"),
        ("a.json", b"[]", "is empty"),
        ("a.dwg", b"x", "is of an unknown kind"),
        ("a.pages", b"x", "is of an unknown kind; save it as .docx"),
        ("a.doc", b"x", "is no Word document; rename it by its kind"),
        ("a.msg", b"x", "is a damaged mail (msg_file is not an Outlook MSG file); save it again from Outlook"),
    ],
)
def test_a_file_that_cannot_be_read_is_refused_in_words(write: Write, name: str, content: bytes, said: str) -> None:
    assert said in refusal(write(name, content))


def test_files_that_fail_alike_are_listed_together(write: Write) -> None:
    paths = [write(name, b"a\0b") for name in ("a.txt", "b.txt")] + [write("c.txt", b"")]
    alike, other = by_reason(SkippedFile(str(path), refusal(path)) for path in paths)
    assert alike.startswith(f"{paths[0]}, {paths[1]}: holds null bytes")
    assert other.startswith(f"{paths[2]}: is empty")


@pytest.mark.parametrize("name", ["a.txt", "a.md", "a.html", "a.pdf", "a.docx", "a.jsonl", "a.tsv", "a.json"])
def test_a_file_over_the_limit_is_refused_by_name(write: Write, name: str) -> None:
    content = b'[{"text": "' + b"x" * 2_000_000 + b'"}]'
    assert "a." in refusal(write(name, content), limit=1000)


def test_a_word_file_that_unpacks_to_too_much_is_refused(write: Write) -> None:
    path = write("a.docx", word_file(["many words " * 20_000]))
    assert "at most" in refusal(path, limit=path.stat().st_size + 1)


def test_a_record_file_may_be_larger_than_the_limit(write: Write) -> None:
    rows = jsonl(*({"_id": n, "text": f"Row {n}."} for n in range(1000)))
    assert len(read(write("a.jsonl", rows), limit=1000)) == 1000


@pytest.fixture
def not_root() -> Iterator[None]:
    """Whoever runs the tests, the superuser may read everything and is nobody meanwhile."""
    before = os.geteuid()
    if before == 0:
        os.seteuid(65534)
    yield
    os.seteuid(before)


def test_a_file_that_may_not_be_read_is_refused(write: Write, request: pytest.FixtureRequest) -> None:
    path = write("a.txt", b"Words.")
    path.chmod(0)
    request.getfixturevalue("not_root")
    assert "Permission denied" in refusal(path)


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    assert "does not exist" in refusal(tmp_path / "a.txt")


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.txt")
    assert "is not a regular file" in refusal(tmp_path / "a.txt")


GOOD = {
    ".txt": b"Words and words.",
    ".md": b"# Words\n\nand words.",
    ".html": b"<title>A</title><p>Words <b>and</b> words.</p>",
    ".pdf": pdf([lines("Words and words."), lines("More.")], title="A"),
    ".docx": word_file(["Words.", "More."]),
    ".rst": b"Words\n=====\n\n.. note:: and *words*.\n\n.. code::\n\n   x",
    ".adoc": b"= Words\n\n----\nx\n----\n\nand *words*::",
    ".1": b".TH A 1\n.SH Words\n.TP\n\\fB-w\\fR\nand words.",
    ".odt": odt("<text:h>Words</text:h><text:p>and<text:s/>words.</text:p>"),
    ".pptx": pptx([shape("Words", "and words.")]),
    ".xlsx": xlsx(
        {"A": '<row><c r="A1" t="s" s="1"><v>0</v></c><c r="B1" s="1"><v>9</v></c></row>'}, ["<t>A</t>"], ["d"]
    ),
    ".epub": epub({"a": "<p>Words."}, ["a"]),
    ".eml": b"From: A\nDate: Mon, 1 May 2000 10:00:00 +0000\nMIME-Version: 1.0\nContent-Type: text/plain\n\nWords.",
    ".rtf": b"{\\rtf1\\ansi Words and {\\b words}\\par}",
    ".csv": b'Word,Count\n"and words",2\n',
    ".py": b"words = 1\n",
    ".jsonl": jsonl({"_id": "1", "title": "A", "text": "Words."}),
    ".tsv": b"1\tWords.\tA\n",
    ".json": b'[{"docs": [{"title": "A", "text": "Words."}]}]',
    ".jsonl.gz": gzip.compress(jsonl({"_id": "1", "title": "A", "text": "Words."})),
}


def holds(path: Path, content: bytes) -> bool:
    """Whether the file gives documents whose laws hold, or one `SourceError`; any other error goes on."""
    try:
        return all(keeps_the_laws(document) for document in read(path, content))
    except SourceError:
        return True


@pytest.mark.parametrize("suffix", sorted(SUFFIXES))
@settings(max_examples=20, deadline=None)
@given(content=st.binary(max_size=300))
def test_random_bytes_give_documents_or_one_named_error(place: Path, suffix: str, content: bytes) -> None:
    assert holds(place / f"a{suffix}", content)


@pytest.mark.parametrize("suffix", sorted(GOOD))
@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 1 << 32), changes=st.integers(1, 20))
def test_damaged_files_give_documents_or_one_named_error(place: Path, suffix: str, seed: int, changes: int) -> None:
    content, chance = bytearray(GOOD[suffix]), random.Random(seed)
    for _ in range(changes):
        content[chance.randrange(len(content))] = chance.randrange(256)
    assert holds(place / f"a{suffix}", bytes(content[: chance.choice([None, chance.randrange(len(content))])]))


# ---------------------------------------------------------------- finding files


def test_folders_are_searched_to_any_depth_in_order(tmp_path: Path) -> None:
    (tmp_path / "b" / "c").mkdir(parents=True)
    for name in ("z.txt", "b/c/a.md", "b/d.JSONL.GZ"):
        (tmp_path / name).write_bytes(b"x")
    found, _ = find_files([tmp_path, tmp_path / "z.txt"])
    assert [str(path.relative_to(tmp_path)) for path in found] == ["b/c/a.md", "b/d.JSONL.GZ", "z.txt"]


def test_hidden_files_and_folders_are_passed_over(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    for name in (".a.txt", ".git/b.txt"):
        (tmp_path / name).write_bytes(b"x")
    assert find_files([tmp_path]) == ([], [])


def test_a_hidden_folder_that_is_named_is_searched(tmp_path: Path) -> None:
    (tmp_path / ".notes").mkdir()
    (tmp_path / ".notes" / "a.txt").write_bytes(b"x")
    assert find_files([tmp_path / ".notes"])[0] == [tmp_path / ".notes" / "a.txt"]


def test_files_of_unknown_kind_are_named(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(b"x")
    _, [skipped] = find_files([tmp_path, tmp_path / "a.png"])
    assert skipped.path == str(tmp_path / "a.png")
    assert skipped.reason.startswith("unknown kind")


@pytest.mark.parametrize(
    ("name", "title"),
    [
        *(
            (name, name.replace("_", " "))
            for name in ("README", "ChangeLog", "KNOWN_BUGS", "HOW_TO_PLAY", "TODO.Debian")
        ),
        *((name, name.replace("_", " ")) for name in ("README.alsaseq", "NEWS-1.2", "Upgrading_from_1.1", "00README")),
        ("changelog", "Changelog"),
    ],
)
def test_documents_that_need_no_ending_are_read_as_text(write: Write, name: str, title: str) -> None:
    path = write(name, b"Lamps\n=====\n\nWords.")
    assert find_files([path.parent]) == ([path], [])
    [document] = read_documents(path)
    assert (document.title, [heading.words for heading in document.headings]) == (title, ["Lamps"])


@pytest.mark.parametrize(
    "name",
    [
        "LICENSE",
        "COPYING",
        "Makefile",
        "poetry.lock",
        "app.log",
        "syslog",
        "news29",
        "install",
        "README.gz",
        "Notes.one",
    ],
)
def test_other_files_without_a_known_ending_are_skipped(write: Write, name: str) -> None:
    assert find_files([write(name, b"Words.").parent])[0] == []


def test_a_file_named_as_a_text_is_checked_to_be_one(write: Write) -> None:
    assert "null bytes" in refusal(write("README", b"\x7fELF\0"))
    assert "is no manual page" in refusal(write("history.3", b"Words."))


def test_loops_of_links_end_and_a_file_comes_once(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"x")
    (tmp_path / "loop").symlink_to(tmp_path)
    (tmp_path / "same.txt").symlink_to(tmp_path / "a.txt")
    assert find_files([tmp_path])[0] == [tmp_path / "a.txt"]


def test_links_to_nowhere_and_pipes_are_named(tmp_path: Path) -> None:
    (tmp_path / "a.txt").symlink_to(tmp_path / "gone")
    os.mkfifo(tmp_path / "b.txt")
    reasons = [skipped.reason for skipped in find_files([tmp_path])[1]]
    assert reasons == ["a link that points nowhere", "not a regular file"]


def test_a_text_that_became_a_pipe_after_it_was_found_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.txt")
    with pytest.raises(OSError, match="not a regular file"):
        read_text(tmp_path / "a.txt", 1_000)


@pytest.mark.parametrize("name", ["missing", "nul\0"])
def test_a_path_that_does_not_exist_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(SourceError, match=r"does not exist|cannot be opened"):
        find_files([tmp_path / name])


def test_a_name_that_is_no_text_is_skipped(tmp_path: Path) -> None:
    (tmp_path / os.fsdecode(b"\xff.txt")).write_bytes(b"x")
    assert "not valid UTF-8" in find_files([tmp_path])[1][0].reason
