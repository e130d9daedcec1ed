"""A checked Word document: a comment at each sentence that fails, and nothing else changed."""

from __future__ import annotations

import tempfile
import zipfile
from io import BytesIO
from pathlib import Path
from xml.etree import ElementTree

import docx
import pytest
from docx.oxml.ns import qn
from hypothesis import given, settings
from hypothesis import strategies as st
from test_prose_readers import add_link, add_mark, add_part, paragraph_xml

from toulmin.cli import run
from toulmin.data import Place
from toulmin.prose.blocks import Remark
from toulmin.prose.files import read_prose
from toulmin.prose.word import comment_on
from toulmin.text.language import sentences

CHANGED = {"word/document.xml", "word/comments.xml", "word/_rels/document.xml.rels", "[Content_Types].xml"}


def commented_words(data: bytes) -> list[str]:
    """The words between the marks of each comment, in the order of the comments."""
    body = docx.Document(BytesIO(data)).element.body
    words: dict[str, str] = {}
    opened: set[str] = set()
    for element in body.iter():
        if element.tag == qn("w:commentRangeStart"):
            opened.add(element.get(qn("w:id")))
        elif element.tag == qn("w:commentRangeEnd"):
            opened.discard(element.get(qn("w:id")))
        elif element.tag in (qn("w:t"), qn("w:br"), qn("w:tab")):
            for id in opened:
                words[id] = words.get(id, "") + (element.text or " ")
    return [words[id] for id in sorted(words, key=int)]


def letters(data: bytes) -> list[tuple[str, bool | None]]:
    """Each letter of the document, and whether it is bold."""
    runs = (run for paragraph in docx.Document(BytesIO(data)).paragraphs for run in paragraph.runs)
    return [(letter, run.bold) for run in runs for letter in run.text]


PIECES = st.lists(st.tuples(st.text("ab .\t\n", min_size=1, max_size=6), st.booleans()), min_size=1, max_size=6)


@settings(max_examples=30)
@given(st.lists(PIECES, min_size=1, max_size=3), st.data())
def test_a_comment_stands_at_exactly_its_words(lines: list[list[tuple[str, bool]]], data: st.DataObject):
    document, file = docx.Document(), BytesIO()
    for pieces in lines:
        paragraph = document.add_paragraph()
        for text, is_bold in pieces:
            paragraph.add_run(text).bold = is_bold
    document.save(file)
    texts = ["".join(text for text, _ in pieces).replace("\n", " ") for pieces in lines]
    remarks, words = [], []
    for n, text in enumerate(texts, start=1):
        start, end = sorted(data.draw(st.tuples(st.integers(0, len(text)), st.integers(0, len(text)))))
        if start < end:
            remarks.append(Remark(Place(n, start + 1, n, end + 1), f"remark {n}"))
            words.append(text[start:end].replace("\t", " "))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "draft.docx"
        path.write_bytes(file.getvalue())
        checked = comment_on(path, remarks)
    assert commented_words(checked) == words
    assert [comment.text for comment in docx.Document(BytesIO(checked)).comments] == [r.text for r in remarks]
    assert letters(checked) == letters(file.getvalue())


def draft(folder: Path) -> Path:
    document = docx.Document()
    document.add_heading("Clocks", 1)
    paragraph = document.add_paragraph("The clock ran. It was ")
    add_link(paragraph, "made in 1759", "notes.md")
    paragraph.add_run(" by Harrison.")
    add_mark(paragraph, "w:footnoteReference", "2")
    paragraph.add_run(" It is of cheese.")
    add_part(document, "footnote", f'<w:footnote w:id="2">{paragraph_xml("Notes.")}</w:footnote>')
    document.add_comment(paragraph.runs[0], "mine", "me", "m")
    document.save(str(folder / "draft.docx"))
    return folder / "draft.docx"


def test_every_other_part_of_the_file_stays(tmp_path: Path):
    path = draft(tmp_path)
    prose = read_prose(path)
    remarks = [Remark(prose.place(*span), "so") for span in sentences(prose.text)]
    checked = comment_on(path, remarks)
    assert commented_words(checked)[1:] == ["The clock ran.", "It was made in 1759 by Harrison.", "It is of cheese."]
    assert [comment.text for comment in docx.Document(BytesIO(checked)).comments] == ["mine", "so", "so", "so"]
    old, new = zipfile.ZipFile(path), zipfile.ZipFile(BytesIO(checked))
    assert set(new.namelist()) == set(old.namelist())
    for name in set(old.namelist()) - CHANGED:
        is_xml = name.endswith((".xml", ".rels"))
        plain = ElementTree.canonicalize if is_xml else lambda data: data
        assert plain(new.read(name)) == plain(old.read(name)), name


def test_the_checked_document_makes_the_same_claims(tmp_path: Path):
    path = draft(tmp_path)
    prose = read_prose(path)
    (tmp_path / "checked.docx").write_bytes(comment_on(path, [Remark(Place(2, 1, 2, 15), "toulmin: skip-file")]))
    assert read_prose(tmp_path / "checked.docx").text == prose.text


# ---------------------------------------------------------------- the command


def test_check_writes_a_copy_with_comments(notes: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    document = docx.Document()
    document.add_paragraph("Kettle Rock Tower was lit on 3 May 1824. The tower is 44 metres tall.")
    document.save(str(tmp_path / "draft.docx"))
    saved = tmp_path / "checked.docx"
    words = ["check", str(tmp_path / "draft.docx"), "--docs", str(notes), "--judge", "lexical"]
    assert run([*words, "--save", str(saved)]) == 0
    (comment,) = docx.Document(str(saved)).comments
    assert commented_words(saved.read_bytes()) == ["The tower is 44 metres tall."]
    assert comment.author == "Toulmin"
    assert comment.text.startswith(("contradicted", "unsupported"))
    assert "tower.md): “The tower is 38 metres tall.”" in comment.text
    assert run([*words, "--save", str(tmp_path / "draft.docx")]) == 2
    assert "is the checked file" in capsys.readouterr().err


def test_check_saves_the_answer_of_a_text(notes: Path, tmp_path: Path):
    for draft_name in ("draft.txt", "draft.md"):
        (tmp_path / draft_name).write_text("Kettle Rock Tower was lit on 3 May 1824.", "utf-8")
        saved = tmp_path / f"{draft_name}.docx"
        assert run(["check", str(tmp_path / draft_name), "--docs", str(notes), "--save", str(saved)]) == 0
        assert docx.Document(str(saved)).paragraphs[0].text == "Checked text"


def test_check_saves_what_is_said_of_one_document(notes: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    words = ["check", str(notes), "--docs", str(notes), "--save", str(tmp_path / "a.docx")]
    assert run(words) == 2
    assert "name only one" in capsys.readouterr().err
