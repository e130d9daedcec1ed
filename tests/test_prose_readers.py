"""The prose of HTML, Word documents and LaTeX: places, citations, links, and what is left out."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from html import escape
from pathlib import Path

import docx
import pytest
from docx.opc.constants import RELATIONSHIP_TYPE
from docx.opc.packuri import PackURI
from docx.opc.part import Part
from docx.oxml import OxmlElement
from docx.oxml.ns import qn
from docx.text.paragraph import Paragraph
from hypothesis import given, settings
from hypothesis import strategies as st
from row_tables import table

from tests.prose_parts import at, cited, is_in_order, links, places, skipped, texts
from toulmin.documents.loaders import read_documents
from toulmin.errors import SourceError
from toulmin.prose import html as prose_html
from toulmin.prose import latex as prose_latex
from toulmin.prose.blocks import Prose
from toulmin.prose.files import read_prose
from toulmin.text.language import sentences

_WORDS = st.sampled_from("clock été e\u0301te\u0301 😀 灯台 sea-time don't 1,759 Harrison".split())
_SENTENCES = st.lists(_WORDS, min_size=2, max_size=6).map(lambda words: " ".join(["The", *words, "ran well."]))


def check_places(read: Callable[[str], Prose], source: str, expected: list[str]) -> None:
    prose = read(source)
    spans = sentences(prose.text)
    assert [prose.text[a:b].removeprefix("- ") for a, b in spans] == expected
    assert all(is_in_order(prose.text[a:b], at(prose, a, b)) for a, b in spans)


# ---------------------------------------------------------------- HTML


def html(source: str) -> Prose:
    return prose_html.read(source)


_HTML_BLOCKS = (
    "<p>{}</p>",
    "<p>{}",
    "<div>\n{}\n</div>",
    "<ul><li>{}</ul>",
    "<dl><dt>x<dd>{}</dl>",
    "<figcaption>{}</figcaption>",
)
_HTML_FORMS = ("{}", "<b>{}</b>", "<a href=a.html>{}</a>", "<i\nclass='x>y'>{}</i>", "{}<!-- > -->", "<code>{}</code>")


@given(st.lists(st.tuples(_SENTENCES, st.sampled_from(_HTML_BLOCKS), st.sampled_from(_HTML_FORMS), st.booleans())))
def test_each_sentence_of_a_page_stands_at_its_place(blocks: list[tuple[str, str, str, bool]]):
    source = "<html><head><title>No.</title></head><body>"
    for sentence, block, form, is_wrapped in blocks:
        first, second, rest = sentence.split(" ", 2)
        words = f"{first} {form.format(escape(second, quote=False))} {rest}"
        source += block.format(words.replace("The ", "The \n\t ", 1) if is_wrapped else words)
    check_places(html, source, [block[0] for block in blocks])


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("<p>Salt&nbsp;&amp; pepper &#169; 1759 &nosuch; A&B.</p>", "Salt & pepper © 1759 &nosuch; A&B."),
        ("<p>It\n\n  ran <b> well </b> on.</p>", "It ran well on."),
        ("<p>Sea&shy;time and sea\u00adtime went<br>on.</p>", "Seatime and seatime went on."),
        ("Text that stands <span>alone here.", "Text that stands alone here."),
        (
            "<div>Before it. <p>A paragraph here.</p> After it all.</div>",
            "Before it.\n\nA paragraph here.\n\nAfter it all.",
        ),
        ("<p>4 < 5 and x<sup>2</sup> > 3.</p>", "4 < 5 and x^2 > 3."),
        ("<P CLASS='a'>Upper <B>case</B> too.</P>", "Upper case too."),
        ("<p>Closed<br/>by <span/>itself.</p>", "Closed by itself."),
        ("<?xml version='1.0'?><!DOCTYPE html><p>With a head.</p>", "With a head."),
    ],
)
def test_a_page_is_read_as_a_visitor_sees_it(source: str, text: str):
    assert html(source).text.strip() == text


@table(
    "source",
    [
        "<script>It says so.</script>",
        "<style>It says so.</style>",
        "<title>It says so.</title>",
        "<nav><p>It says so.</p></nav>",
        "<header><p>It says so.</p></header>",
        "<footer>It says so.</footer>",
        "<div role=navigation>It says so.</div>",
        "<div class='navheader'>It says so.</div>",
        "<h2>It says so.</h2>",
        "<pre>It says so.</pre>",
        "<table><tr><td>It says so.</table>",
        "<blockquote><p>It says so.</p></blockquote>",
        "<p hidden>It says so.",
        "<dl><dt>It says so.</dl>",
        "<ul><li><a href='a.html'>Go to the contents of this book</a></ul>",
        "<p><b>A heading in all but name</b></p>",
        "<p><a href=a>Previous page of it</a> | <a href=b>Next</a></p>",
        "<p>See also</p>",
        "<script>if (a < b) '<p>It says so.'",
        "<textarea><p>It says so.</p></textarea>",
        "<p title='It says so.'></p>",
        "<!-- It says so.",
        "<p It says so.",
    ],
)
def test_what_is_not_said_on_a_page_is_no_prose(source: str):
    assert html(source).text.strip() == ""


def test_what_follows_left_out_parts_is_prose_again():
    source = "<p hidden>No.<p>Yes to this.</p><nav><div>No.</nav><p>And to this.</p>"
    assert texts(html(source + "<article><header><p>Also here.</p></header>")) == [
        "Yes to this.",
        "And to this.",
        "Also here.",
    ]


def test_items_of_nested_lists_on_a_page_are_blocks():
    prose = html("<ul><li>First of all.<ol><li>Inner of it.</li></ol>\n<li><p>Last of all.<p>More of it.</ul>")
    assert prose.text.strip().split("\n\n") == ["- First of all.", "- Inner of it.", "- Last of all.", "More of it."]


@pytest.mark.parametrize(
    ("mark", "note"),
    [
        (
            '<sup><a href="#fn1">1</a></sup>',
            '<ol><li id="fn1">Harrison, <a href="a.md">notes</a>. <a href="#r">↩</a></ol>',
        ),
        (
            '<a href="#fn1" role="doc-noteref"><sup>1</sup></a>',
            "<aside id=fn1><p>Harrison, <a href=a.md>notes</a>.</p></aside>",
        ),
        ('<sup>[<a href="#fn1">1</a>]</sup>', '<div id="fn1"><p>Harrison, <a href="a.md">notes</a>.</p></div>'),
        ('<a href="#fn1" class="footnote-ref">*</a>', '<p><a id="fn1"></a>Harrison, <a href="a.md">notes</a>.</p>'),
        ('<a href="#fn1"><sup>a</sup></a>', '<p><a name="fn1"/>Harrison, <a href="a.md">notes</a>.</p>'),
    ],
)
def test_a_note_of_a_page_is_cited_with_its_words_and_links(mark: str, note: str):
    prose = html(f"<p id=r>The clock ran{mark}. It did.</p>{note}")
    assert (cited(prose), texts(prose)) == (["Harrison, notes. a.md"], ["The clock ran.", "It did."])


def test_a_number_that_leads_to_an_item_stays_and_is_cited():
    prose = html("<p>The clock ran <a href='#n1'>[1]</a>.</p><ul><li id=n1>Harrison 1759.</ul>")
    assert (cited(prose), texts(prose)) == (["Harrison 1759."], ["The clock ran [1]."])


def test_a_citation_of_pandoc_keeps_its_words():
    mark = '<span class="citation" data-cites="h">(<a href="#ref-h" role="doc-biblioref">Harrison 1759</a>)</span>'
    prose = html(
        f'<p>The clock ran {mark}.</p><div id="refs"><div id="ref-h" role="listitem">Harrison. a.md.</div></div>'
    )
    assert (cited(prose), texts(prose)) == (["Harrison. a.md."], ["The clock ran (Harrison 1759)."])


def test_a_link_within_the_page_that_leads_to_a_section_hides_nothing():
    prose = html("<p>The clock <a href='#s2'>2</a> ran.</p><section id=s2><p>It ran well.</p></section>")
    assert (cited(prose), texts(prose)) == ([], ["The clock 2 ran.", "It ran well."])


def test_a_raised_link_cites_a_page():
    prose = html("<p>The clock ran.<sup><a href='https://x.org'>[3]</a></sup> It did.</p>")
    assert (cited(prose), texts(prose)) == (["https://x.org"], ["The clock ran.", "It did."])


def test_links_of_a_page_lead_somewhere():
    prose = html("<p>See <a href='a.html?x=1&amp;y=2'>the <i>notes</i></a> of it.</p>")
    assert (links(prose), cited(prose)) == ({"the notes": "a.html?x=1&y=2"}, [])


def test_numbered_references_of_a_page_are_entries():
    listed = "<h2>References</h2><ol><li>a.md<li>See <a href=b.md>notes</a></ol>"
    prose = html(f"<p>It ran well [2].</p>{listed}<h2>On</h2><p>It went on.</p>")
    assert (dict(prose.entries), texts(prose)) == (
        {1: "a.md", 2: "See notes b.md"},
        ["It ran well [2].", "It went on."],
    )


def test_references_of_a_page_with_their_numbers_are_entries():
    assert dict(html("<h2>Sources</h2><p>[7] a.md</p><p>[8] b.md</p>").entries) == {7: "a.md", 8: "b.md"}


def test_a_comment_of_a_page_leaves_out_the_block_after_it():
    prose = html("<p>First it ran.</p><!-- toulmin: skip a joke --><p>Then it flew.</p><p>It fell.</p>")
    assert skipped(prose) == {"Then it flew.": "a joke"}


@table(
    "part",
    [
        "<a ",
        "<a b='",
        "<!--",
        "<",
        "<div>",
        "<div><b>",
        "</div>",
        "<p hidden>",
        "<sup>",
        "<ol><li>",
        "<script>",
        "<b></span>",
        "<aside id=a>x<a href=#a>1",
        "<sup><a href='#a'>1</a>",
        '<a x="',
        "&#",
        "<p><a id=a href=#a>",
    ],
)
def test_a_hostile_page_is_read_in_time(part: str):
    source = part * (60_000 // len(part))
    assert html(source).source == source


# ---------------------------------------------------------------- LaTeX


def latex(source: str) -> Prose:
    return prose_latex.read(source)


_LATEX_FORMS = (
    "{}",
    "\\emph{{{}}}",
    "{{\\bf {}}}",
    "\\textcolor{{red}}{{{}}}",
    "\\href{{a.md}}{{{}}}",
    "\\unknown{{{}}}",
)
_LATEX_BLOCKS = (
    "{}",
    "\\item {}",
    "\\begin{{center}}{}\\end{{center}}",
    "\\section{{No.}} {}",
    "% No.\n  {}",
    "\\noindent\n{}",
)


@given(st.lists(st.tuples(_SENTENCES, st.sampled_from(_LATEX_BLOCKS), st.sampled_from(_LATEX_FORMS), st.booleans())))
def test_each_sentence_of_latex_stands_at_its_place(blocks: list[tuple[str, str, str, bool]]):
    source = "\\documentclass{article}\nNo.\n\\begin{document}\n"
    for sentence, block, form, is_wrapped in blocks:
        first, second, rest = sentence.split(" ", 2)
        words = f"{first} {form.format(second)} {rest}"
        source += block.format(words.replace("The ", "The % no\n  ", 1) if is_wrapped else words) + "\n\n"
    check_places(latex, source + "\\end{document} No.", [block[0] for block in blocks])


@table(
    ("source", "text"),
    [
        ("It---or---so, 1--2~km, ``yes'' and `no'.", "It—or—so, 1–2 km, “yes” and ‘no'."),
        (r"Caf\'e, M\"uller, na\"{\i}ve, \c{c}a, Stra\ss e, \~n.", "Café, Müller, naïve, ça, Straße, ñ."),
        (r"It cost 5\% \& \$3, \#1 a\_b \{x\}.", "It cost 5% & $3, #1 a_b {x}."),
        (r"And so on\ldots{} by \LaTeX.", "And so on… by LaTeX."),
        (r"We find $E = mc^2$ and \(x\).", "We find E = mc^2 and x."),
        ("Where\n\\begin{equation}a=b\\end{equation}\nit holds, \\[c\\] and $$d$$ so.", "Where it holds, and so."),
        (r"Call \verb|a{b| of \url{https://x.org/a\_b} now.", "Call a{b of https://x.org/a_b now."),
        (r"He said \enquote{yes \emph{sir}}.", "He said “yes sir”."),
        (r"See Section~\ref{a} and \label{b}this\index{c}.", "See Section and this."),
        ("First.\\\\[2pt]\nSecond.", "First. Second."),
        (r"An \odd[opt]{word} and \other stays.", "An word and stays."),
        (r"\newcommand{\tool}{Toulmin\xspace}Here \tool is.", "Here Toulmin is."),
        (r"\begin{itemize}[a]\item[T] One is. \item Two is.\end{itemize}", "- One is.\n\n- Two is."),
        (r"\begin{figure}\includegraphics[w=1]{a}\caption{A lamp is.}\end{figure}", "A lamp is."),
        (r"It was 5$ then.", "It was 5$ then."),
        ("Wrong } braces { stay.", "Wrong braces stay."),
        (r"\textcolor{red}{Red} and \parbox[t]{3cm}{boxed}.", "Red and boxed."),
    ],
)
def test_latex_is_read_as_it_is_printed(source: str, text: str):
    assert latex(source).text.strip() == text


@table(
    "source",
    [
        "% It says so.",
        r"\title{It says so.}\author{It says so.}",
        r"\section*{It says so.}",
        r"\begin{quote}It says so.\end{quote}",
        r"\begin{verbatim}It says so. } \end{verbatim}",
        r"\begin{lstlisting}[a=b]It says so.\end{lstlisting}",
        r"\begin{tabular}{ll}It says so. & b\\ \end{tabular}",
        r"\begin{align*}It says so.\end{align*}",
        r"\begin{thebibliography}{9}\bibitem{a} It says so.\end{thebibliography}",
        r"\bibliography{refs}\bibliographystyle{plain}",
        r"\newcommand{\x}[1]{It says so.}",
    ],
)
def test_what_latex_does_not_say_is_no_prose(source: str):
    assert latex(source).text.strip() == ""


def test_keys_of_latex_are_cited_and_not_written():
    prose = latex(r"It ran \cite{a}. It~\citep[p.~3]{b, c:d} sank \cites[see][]{e}[4]{f}; \Textcite{g}, \footcite{h}.")
    assert cited(prose) == ["@a", "@b", "@c:d", "@e", "@f", "@g", "@h"]
    assert texts(prose) == ["It ran.", "It sank;,."]


def test_a_key_with_its_entry_in_the_document_is_the_entry():
    bibliography = (
        r"\begin{thebibliography}{9}\bibitem[H]{h} Harrison, \url{a.md}. \bibitem{b} Betts.\end{thebibliography}"
    )
    prose = latex(rf"It ran \cite{{h}}. {bibliography}")
    assert (cited(prose), dict(prose.entries)) == (["Harrison, a.md."], {1: "Harrison, a.md.", 2: "Betts."})


def test_what_follows_a_bibliography_is_prose_again():
    assert texts(latex(r"\begin{thebibliography}{9}\bibitem{b} Betts.\end{thebibliography} It ran.")) == ["It ran."]


def test_a_footnote_of_latex_is_cited_with_its_words_and_links():
    prose = latex(r"It ran\footnote{See \emph{the} \href{a.md}{notes}, \cite{h}.} well. So it did.")
    assert (cited(prose), texts(prose)) == (["@h", "See the notes a.md , ."], ["It ran well.", "So it did."])


def test_links_of_latex_lead_somewhere():
    prose = latex(r"See \href{a.md}{the \emph{notes}} and \url{https://x.org/a%20b}.")
    assert links(prose) == {"the notes": "a.md", "https://x.org/a%20b": "https://x.org/a%20b"}


def test_numbered_references_of_latex_are_entries():
    listed = r"\section*{References}\begin{enumerate}\item a.md \item \url{b.md}\end{enumerate}"
    prose = latex(rf"It ran [2].{listed}\section{{On}} It went.")
    assert (dict(prose.entries), texts(prose)) == ({1: "a.md", 2: "b.md"}, ["It ran [2].", "It went."])


def test_a_comment_of_latex_leaves_out_the_block_after_it():
    assert skipped(latex("First it ran.\n\n% toulmin: skip a joke\nThen it flew.\n\nIt fell.")) == {
        "Then it flew.": "a joke"
    }


def test_a_comment_before_the_body_leaves_out_the_file():
    source = "%% toulmin: skip-file a draft\n\\begin{document}It ran.\\end{document}"
    assert skipped(latex(source)) == {"It ran.": "a draft"}


def test_definitions_of_latex_change_nothing_around_them():
    table = r"\begin{tabular}{l}\verb|}|\cite{a}\end{tabular}"
    prose = latex(rf"It \newcommand{{\x}}[1]{{\section{{References}}\item\par #1}}ran well. {table}")
    assert (texts(prose), cited(prose)) == (["It ran well."], [])


def test_a_footnote_without_its_end_ends_with_its_section():
    assert texts(latex("It ran.\\footnote{See\n\n\\section{On} It went.")) == ["It ran.", "It went."]


@table(
    "part",
    [
        "{",
        "[",
        "\\emph{",
        "\\begin{a}",
        "\\begin{a}\\end{b}",
        "\\cite[",
        "\\footnote{",
        "\\footnote[",
        "\\(",
        "\\[",
        "$",
        "$a\n\n",
        "\\verb",
        "%\n",
        "\\",
        "\\'{",
        "\\href{a}{",
        "\\url[",
        "\\section[",
        "\\section{",
        "\\begin{thebibliography}\\bibitem{a}",
    ],
)
def test_hostile_latex_is_read_in_time(part: str):
    source = part * (200_000 // len(part))
    assert latex(source).source == source


_PIECES = (
    "<p>|</p>|<a href=#a>|<a href=u>|</a>|<sup>|</sup>|<aside id=a>|</aside>|<ol>|<li id=a>|</ol>|<h2>|References|</h2>"
    "|<nav>|</nav>|&amp;|&|<|<!-- toulmin: skip -->|{|}|[|]|$|%|~|word|It ran.| |\n|\n\n|1"
    "|\\emph|\\footnote|\\href|\\cite|\\item|\\section|\\begin{a}|\\end{a}|\\'e|\\enquote|\\[|\\]|\\newcommand"
    "|\\begin{thebibliography}|\\bibitem{a}|\\end{thebibliography}"
).split("|")


@given(st.lists(st.sampled_from(_PIECES), max_size=40), st.sampled_from([html, latex]))
def test_whatever_is_read_has_places_in_its_source(pieces: list[str], read: Callable[[str], Prose]):
    prose = read("".join(pieces))
    for start, end in [
        *sentences(prose.text),
        *(pointer[:2] for pointer in prose.pointers if pointer.start < pointer.end),
    ]:
        assert 0 <= start < end <= len(prose.text)
        assert len(at(prose, start, end)) >= 1


# ---------------------------------------------------------------- Word


def add_link(paragraph: Paragraph, words: str, address: str) -> None:
    link = OxmlElement("w:hyperlink")
    link.set(qn("r:id"), paragraph.part.relate_to(address, RELATIONSHIP_TYPE.HYPERLINK, is_external=True))
    run = OxmlElement("w:r")
    run.append(OxmlElement("w:t"))
    run[0].text = words
    link.append(run)
    paragraph._p.append(link)


def add_mark(paragraph: Paragraph, tag: str, key: str) -> None:
    mark = OxmlElement(tag)
    mark.set(qn("w:id"), key)
    paragraph.add_run()._r.append(mark)


def add_part(document: docx.document.Document, kind: str, body: str, prologue: str = "") -> Part:
    """A part with footnotes, endnotes or comments; the body may have links of its own."""
    names = " ".join(f'xmlns:{name}="{address}"' for name, address in docx.oxml.ns.nsmap.items() if name in ("w", "r"))
    data = f"{prologue}<w:{kind}s {names}>{body}</w:{kind}s>".encode()
    part = Part(PackURI(f"/word/{kind}s.xml"), f"application/vnd.x.{kind}s+xml", data, document.part.package)
    document.part.relate_to(part, f"http://schemas.openxmlformats.org/officeDocument/2006/relationships/{kind}s")
    return part


def paragraph_xml(words: str) -> str:
    return f'<w:p><w:r><w:t xml:space="preserve">{words}</w:t></w:r></w:p>'


def saved(document: docx.document.Document, folder: Path) -> Prose:
    document.save(str(folder / "note.docx"))
    return read_prose(folder / "note.docx")


def test_a_paragraph_is_a_line(tmp_path: Path):
    document = docx.Document()
    document.add_heading("A heading.", 1)
    document.add_paragraph("Harrison built it. It ")
    document.paragraphs[-1].add_run("ran").bold = True
    document.paragraphs[-1].add_run(" well\nand on.")
    document.add_paragraph("")
    table = document.add_table(1, 2)
    table.cell(0, 0).text, table.cell(0, 1).text = "A cell.", "b"
    document.add_paragraph("First item.", "List Bullet")
    prose = saved(document, tmp_path)
    assert prose.source.split("\n") == [
        "A heading.",
        "Harrison built it. It ran well and on.",
        "",
        "A cell. | b",
        "First item.",
    ]
    assert texts(prose) == ["Harrison built it.", "It ran well and on.", "- First item."]
    assert places(prose) == [(2, 1), (2, 20), (5, 1)]


@settings(max_examples=10)
@given(st.lists(st.tuples(_SENTENCES, st.sampled_from(["Normal", "List Number", "Body Text"])), min_size=1, max_size=4))
def test_each_sentence_of_a_word_document_stands_at_its_place(blocks: list[tuple[str, str]]):
    document = docx.Document()
    for sentence, style in blocks:
        paragraph = document.add_paragraph(style=style)
        for word in sentence.split(" "):
            paragraph.add_run(word if word == "well." else f"{word} ")
    with tempfile.TemporaryDirectory() as folder:
        prose = saved(document, Path(folder))
    check_places(lambda source: prose, prose.source, [block[0] for block in blocks])


@pytest.mark.parametrize("style", ["Heading 2", "Title", "Subtitle", "Quote", "Intense Quote", "macro", "TOC Heading"])
def test_styles_that_are_not_the_authors_sentences(style: str, tmp_path: Path):
    document = docx.Document()
    document.add_paragraph("It says so.", style)
    assert saved(document, tmp_path).text == ""


def test_a_bold_line_is_a_heading(tmp_path: Path):
    document = docx.Document()
    document.add_paragraph().add_run("The clock of the sea").bold = True
    document.add_paragraph().add_run("The clock ran.").bold = True
    assert texts(saved(document, tmp_path)) == ["The clock ran."]


def test_links_of_a_word_document(tmp_path: Path):
    document = docx.Document()
    paragraph = document.add_paragraph("See ")
    add_link(paragraph, "the notes", "notes.md")
    add_link(paragraph, " and more", "https://x.org")
    paragraph.add_run(" of it.")
    prose = saved(document, tmp_path)
    assert (links(prose), texts(prose)) == (
        {"the notes": "notes.md", " and more": "https://x.org"},
        ["See the notes and more of it."],
    )


@pytest.mark.parametrize("kind", ["footnote", "endnote"])
def test_a_note_of_a_word_document_is_cited_with_its_words_and_links(kind: str, tmp_path: Path):
    document = docx.Document()
    paragraph = document.add_paragraph("The clock ran")
    add_mark(paragraph, f"w:{kind}Reference", "2")
    paragraph.add_run(". It did.")
    link = '<w:p><w:hyperlink r:id="rId1"><w:r><w:t>notes</w:t></w:r></w:hyperlink></w:p>'
    body = f'<w:{kind} w:id="2">{paragraph_xml("Harrison 1759.")}{link}</w:{kind}>'
    add_part(document, kind, body).relate_to("notes.md", RELATIONSHIP_TYPE.HYPERLINK, is_external=True)
    prose = saved(document, tmp_path)
    assert (cited(prose), texts(prose)) == (["Harrison 1759. notes notes.md"], ["The clock ran.", "It did."])


@pytest.mark.parametrize("kind", ["footnote", "endnote"])
def test_a_note_of_a_word_document_is_read_after_what_refers_to_it(kind: str, tmp_path: Path):
    document = docx.Document()
    add_mark(document.add_paragraph("The clock ran."), f"w:{kind}Reference", "2")
    add_mark(document.add_table(1, 1).cell(0, 0).paragraphs[0], f"w:{kind}Reference", "3")
    document.add_paragraph("It did.")
    notes = {"0": "", "2": "Harrison 1759.", "3": "Of a cell.", "4": "Of nothing."}
    add_part(document, kind, "".join(f'<w:{kind} w:id="{id}">{paragraph_xml(w)}</w:{kind}>' for id, w in notes.items()))
    document.save(str(tmp_path / "note.docx"))
    (read,) = read_documents(tmp_path / "note.docx")
    assert read.text == "The clock ran.\n\nHarrison 1759.\n\nOf a cell.\n\nIt did."


def test_entities_of_notes_are_not_resolved(tmp_path: Path):
    document = docx.Document()
    add_mark(document.add_paragraph("The clock ran."), "w:footnoteReference", "2")
    prologue = f'<!DOCTYPE w [<!ENTITY e SYSTEM "{Path(__file__).as_uri()}">]>'
    add_part(document, "footnote", f'<w:footnote w:id="2">{paragraph_xml("Seen: &e;")}</w:footnote>', prologue)
    assert cited(saved(document, tmp_path)) == ["Seen:"]


def test_numbered_references_of_a_word_document_are_entries(tmp_path: Path):
    document = docx.Document()
    document.add_paragraph("It ran [2].")
    document.add_heading("References", 1)
    document.add_paragraph("These are they:")
    for name in ("a.md", "b.md"):
        document.add_paragraph(name, "List Number")
    document.add_paragraph("[7] c.md")
    prose = saved(document, tmp_path)
    assert (dict(prose.entries), texts(prose)) == ({1: "a.md", 2: "b.md", 7: "c.md"}, ["It ran [2]."])


def test_a_comment_of_a_word_document_leaves_out_its_paragraph(tmp_path: Path):
    document = docx.Document()
    document.add_paragraph("First it ran.")
    add_mark(document.add_paragraph("Then it flew."), "w:commentReference", "5")
    add_mark(document.add_paragraph("It fell."), "w:commentReference", "6")
    words = [("5", "toulmin: skip a joke"), ("6", "Is this so?")]
    add_part(document, "comment", "".join(f'<w:comment w:id="{n}">{paragraph_xml(w)}</w:comment>' for n, w in words))
    assert skipped(saved(document, tmp_path)) == {"Then it flew.": "a joke"}


def test_a_comment_over_several_paragraphs_leaves_out_all(tmp_path: Path):
    document = docx.Document()
    for n, tag in enumerate(["w:commentRangeStart", "w:x", "w:commentRangeEnd", "w:x"]):
        paragraph = document.add_paragraph(f"Line {n} ran.")
        if tag != "w:x":
            add_mark(paragraph, tag, "5")
    add_part(document, "comment", f'<w:comment w:id="5">{paragraph_xml("toulmin: skip")}</w:comment>')
    assert list(skipped(saved(document, tmp_path))) == ["Line 0 ran.", "Line 1 ran.", "Line 2 ran."]


@pytest.mark.parametrize("data", [b"PK\x03\x04 broken", b"\xd0\xcf\x11\xe0 old", b"words"])
def test_a_broken_word_document_is_refused(data: bytes, tmp_path: Path):
    (tmp_path / "note.docx").write_bytes(data)
    with pytest.raises(SourceError, match=r"note\.docx"):
        read_prose(tmp_path / "note.docx")


def test_a_word_document_without_words_is_refused(tmp_path: Path):
    with pytest.raises(SourceError, match="is empty"):
        saved(docx.Document(), tmp_path)
