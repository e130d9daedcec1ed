"""What documents say of themselves, in every format, and questions asked of some documents only, through every door."""

from __future__ import annotations

import asyncio
import json
import os
import zipfile
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import docx
import pytest
import test_store_contract
from hypothesis import given, settings
from hypothesis import strategies as st
from kinds_parts import epub, odt, pptx, shape, xlsx
from pdf_writer import lines, pdf
from row_tables import table
from shared_parts import run
from store_parts import Store
from web_parts import served
from words_encoder import ByWords

import toulmin
from toulmin.build.indexes import open_index
from toulmin.data import Metadata, Passage, Source
from toulmin.documents.confined import Children
from toulmin.documents.loaders import read_documents
from toulmin.documents.metadata import from_json, iso_date, to_json
from toulmin.errors import UsageError
from toulmin.formats import answer_json
from toulmin.indexing.corpus import AnyCorpus
from toulmin.indexing.vector_files import EncoderChoice
from toulmin.retrieval.bm25 import Bm25, Titles
from toulmin.retrieval.vectors import Dense

kind = test_store_contract.kind

# ---------------------------------------------------------------- reading

CORE = (
    '<cp:coreProperties xmlns:cp="http://schemas.openxmlformats.org/package/2006/metadata/core-properties"'
    ' xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:dcterms="http://purl.org/dc/terms/"><dc:title>Tides</dc:title>'
    "<dc:creator>Jane Smith; Tom Lee</dc:creator><cp:keywords>tide, harbour</cp:keywords><cp:version>1.2</cp:version>"
    "<dc:language>en_GB</dc:language><dcterms:created>2024-01-05T10:00:00Z</dcterms:created></cp:coreProperties>"
)
OF_ALL = Metadata(("Jane Smith", "Tom Lee"), "2024-01-05", False, "1.2", "en-GB", ("tide", "harbour"))
META = (
    '<office:document-meta xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0"'
    ' xmlns:meta="urn:oasis:names:tc:opendocument:xmlns:meta:1.0" xmlns:dc="http://purl.org/dc/elements/1.1/"><office:meta>'
    "<meta:initial-creator>Jane Smith</meta:initial-creator><meta:keyword>tide</meta:keyword>"
    "<meta:keyword>harbour</meta:keyword><dc:date>2024-01-05T10:00:00</dc:date><dc:language>de</dc:language>"
    "</office:meta></office:document-meta>"
)
LIST = "---\ntitle: Tides\nauthors:\n  - Jane Smith\n  - name: Tom Lee\ndate: 2024-01-05\nversion: 1.2\nlang: en-GB\n"


def with_part(archive: bytes, name: str, text: str) -> bytes:
    file = BytesIO(archive)
    with zipfile.ZipFile(file, "a") as opened:
        opened.writestr(name, text)
    return file.getvalue()


def word_file() -> bytes:
    book, file = docx.Document(), BytesIO()
    book.add_paragraph("Words.")
    properties = book.core_properties
    properties.author, properties.keywords, properties.version = "Jane Smith; Tom Lee", "tide, harbour", "1.2"
    properties.language, properties.created = "en-GB", __import__("datetime").datetime(2024, 1, 5)
    book.save(file)
    return file.getvalue()


LINKED = (
    '{"@graph": [{"@type": "Article", "author": [{"name": "Jane Smith"}, {"name": "Tom Lee"}], "version": 1.2,'
    ' "datePublished": "2024-01-05T10:00Z", "keywords": ["tide", "harbour"]}]}'
)
HEAD = '<html lang="en-GB"><head><title>Tides</title>'
BODY = "</head><body><p>Words.</p></body></html>"
PDF = pdf([lines("Words.")], title="Tides").replace(
    b"<< /Title ",
    b"<< /Author (Jane Smith; Tom Lee) /CreationDate (D:20240105100000Z) /Keywords (tide, harbour) /Title ",
)
DATED = Metadata(("Jane Smith", "Tom Lee"), "2024-01-05")


@table(
    "name, content, expected",
    [
        ("a.md", f"{LIST}tags: [tide, 'harbour']\n---\nWords.", OF_ALL),
        ("b.md", '+++\nauthor = "Jane Smith; Tom Lee"\ndate = 5 January 2024\n+++\nWords.', DATED),
        ("a.html", f'{HEAD}<script type="application/ld+json">{LINKED}</script>{BODY}', OF_ALL),
        (
            "b.html",
            f'{HEAD}<meta name="author" content="Jane Smith; Tom Lee"><meta name="version" content="1.2"><meta'
            f' property="article:published_time" content="2024-01-05"><meta name="Keywords" content="tide,harbour">'
            + BODY,
            OF_ALL,
        ),
        ("a.pdf", PDF, Metadata(DATED.authors, DATED.date, tags=("tide", "harbour"))),
        ("a.docx", word_file(), OF_ALL),
        ("a.xlsx", with_part(xlsx({"S": '<row><c t="str"><v>Words</v></c></row>'}), "docProps/core.xml", CORE), OF_ALL),
        ("a.pptx", with_part(pptx([shape("Words.")]), "docProps/core.xml", CORE), OF_ALL),
        (
            "a.odt",
            with_part(odt("<text:p>Words.</text:p>"), "meta.xml", META),
            Metadata(("Jane Smith",), "2024-01-05", False, "", "de", ("tide", "harbour")),
        ),
        (
            "a.epub",
            epub(
                {"c": "<p>Words.</p>"},
                ["c"],
                "Tides</dc:title><dc:creator xmlns:dc='http://purl.org/dc/elements/1.1/'>Jane Smith</dc:creator>"
                "<dc:date xmlns:dc='http://purl.org/dc/elements/1.1/'>2024-01</dc:date>"
                "<dc:language xmlns:dc='http://purl.org/dc/elements/1.1/'>de</dc:language>"
                "<dc:title xmlns:dc='http://purl.org/dc/elements/1.1/'>",
            ),
            Metadata(("Jane Smith",), "2024-01", False, "", "de"),
        ),
        (
            "a.eml",
            "From: Jane Smith <jane@example.org>\nDate: Fri, 05 Jan 2024 10:00:00 +0100\nSubject: Tides\n\nWords.",
            Metadata(("Jane Smith",), "2024-01-05"),
        ),
    ],
)
def test_a_document_has_the_metadata_of_its_format(tmp_path: Path, name: str, content: Any, expected: Metadata):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with Children(1) as children:
        assert [document.metadata for document in children.documents_of(path)()] == [expected]


@table("name", ["a.txt", "a.md", "a.html", "a.csv", "a.jsonl"])
def test_without_a_date_the_time_of_the_file_counts_as_such(tmp_path: Path, name: str):
    path = tmp_path / name
    path.write_text('{"text": "Words."}' if name == "a.jsonl" else "Words.\n", "utf-8")
    os.utime(path, (1_700_000_000, 1_700_000_000))
    (document,) = read_documents(path)
    assert document.metadata == Metadata(date="2023-11-14", is_file_date=True)


@table(
    "front",
    ["---\ndate: [\n---\n", "---\nauthor:\ndate: soon\n---\n", "---\ntags: {a: b}\n- x\n---\n", "+++\n=\n+++\n"],
)
def test_odd_front_matter_does_no_harm(tmp_path: Path, front: str):
    (tmp_path / "a.md").write_text(f"{front}Words.", "utf-8")
    (document,) = read_documents(tmp_path / "a.md")
    assert (document.text, document.metadata.is_file_date) == ("Words.", True)


@table("linked", ["nonsense", "[1, 2]", '{"@graph": 3}', '{"author": {"name": {"name": []}}}', "null"])
def test_odd_linked_data_does_no_harm(tmp_path: Path, linked: str):
    (tmp_path / "a.html").write_text(f'{HEAD}<script type="application/ld+json">{linked}</script>{BODY}', "utf-8")
    (document,) = read_documents(tmp_path / "a.html")
    assert (document.text, document.metadata.language) == ("Words.", "en-GB")


@table(
    "text, expected",
    [
        ("2024", "2024"),
        ("2024-01", "2024-01"),
        ("2024/01/05 10:00", "2024-01-05"),
        ("D:20240105120000+01'00'", "2024-01-05"),
        ("Fri, 3 May 2024 10:00:00 +0200", "2024-05-03"),
        ("May 3, 1824", "1824-05-03"),
        ("2024-13-45", "2024"),
        ("soon", ""),
        ("", ""),
    ],
)
def test_dates_are_read_as_far_as_they_are_known(text: str, expected: str):
    assert iso_date(text) == expected


@given(
    st.builds(Metadata, st.lists(st.text()).map(tuple), st.text(), st.booleans(), st.text(), st.text(), st.just(("x",)))
)
def test_metadata_comes_back_from_json(metadata: Metadata):
    assert from_json(to_json(metadata)) == metadata


# ---------------------------------------------------------------- some documents only, in every store

ABOUT = {
    "contracts/lease.md": "---\nauthor: Jane Smith\ndate: 2024-01-05\ntags: policy, lease\nlang: en\n---\n",
    "contracts/old/mill.md": "---\nauthor: Tom Lee\ndate: 2023\ntags: [Policy]\n---\n",
    "letter.md": "---\nauthor: Jane Smith\ndate: 2024-06\nlang: de-AT\n---\n",
    "draft.txt": "",
}
LEASE, MILL = "contracts/lease.md", "contracts/old/mill.md"
TEXT = "The tower is leased for nine years, and the mill beside the tower for five."
FILTERS = {
    "contracts/*.md": {"contracts/lease.md", "contracts/old/mill.md"},
    "contracts/lease.md": {"contracts/lease.md"},
    "*.md": {"contracts/lease.md", "contracts/old/mill.md", "letter.md"},
    "mill.md": {"contracts/old/mill.md"},
    "tag:policy": {"contracts/lease.md", "contracts/old/mill.md"},
    "author:SMITH": {"contracts/lease.md", "letter.md"},
    "title:harbour": {"letter.md"},
    "kind:txt": {"draft.txt"},
    "kind:jsonl": {"films.jsonl"},
    "language:de": {"letter.md"},
    "after:2024-06-01": {"letter.md", "films.jsonl"},
    "before:2024": {"contracts/old/mill.md", "draft.txt"},
    "before:2024-01-06": {"contracts/lease.md", "contracts/old/mill.md", "draft.txt"},
}
EVERY = {*ABOUT, "films.jsonl"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Some files have equal passages, and one has many documents."""
    root = tmp_path_factory.mktemp("documents")
    for number, (name, front) in enumerate(ABOUT.items()):
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        heading = "# The harbour\n\n" if name == "letter.md" else "# The lease\n\n"
        many = " ".join(f"Clause {n} of {number} speaks of the tower." for n in range(40))
        path.write_text(f"{front}{heading}{TEXT}\n\n{many}", "utf-8")
    text = (root / "contracts/lease.md").read_text("utf-8")
    (root / "contracts/old/mill.md").write_text(text.replace(ABOUT[LEASE], ABOUT[MILL]), "utf-8")
    rows = [{"_id": f"r{n}", "title": f"Film {n}", "text": f"Film {n} shows a tower and a mill."} for n in range(30)]
    (root / "films.jsonl").write_text("\n".join(map(json.dumps, rows)), "utf-8")
    os.utime(root / "films.jsonl", (1_790_000_000, 1_790_000_000))
    os.utime(root / "draft.txt", (1_600_000_000, 1_600_000_000))
    return root


@pytest.fixture(scope="module")
def corpus(kind: type[Store], folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[AnyCorpus]:
    store = kind(tmp_path_factory.mktemp("corpus"))
    store.update(folder, vectors=EncoderChoice(ByWords(), "own:words"))
    with open_index(store.place) as opened:
        yield opened


def pairs(hits: Any) -> list[tuple[str, float]]:
    return [(hit.passage.id, round(hit.score, 4)) for hit in hits]


@settings(max_examples=15, deadline=None)
@given(
    only=st.lists(st.tuples(st.sampled_from(["", "not:"]), st.sampled_from(sorted(FILTERS))), min_size=1, max_size=3)
)
def test_a_limited_search_is_the_whole_one_without_the_other_documents(
    corpus: AnyCorpus, folder: Path, only: list[tuple[str, str]]
):
    names = EVERY.intersection(*(FILTERS[text] if not turned else EVERY - FILTERS[text] for turned, text in only))
    texts = [turned + text for turned, text in only]
    if not names:
        with pytest.raises(UsageError, match=r"None of the 34 documents passes .* One of them is"):
            corpus.limit(texts)
        return
    view = corpus.limit(texts)
    paths = {str(folder / name) for name in names}
    allowed = {passage_id for passage_id, homes in homes_of(corpus).items() if homes & paths}
    for search in (Bm25, Titles, lambda opened: Dense(opened, ByWords())):
        query = ["film" if search is Titles else "lease of the tower and the mill"]
        (found,), (whole,) = search(view).search(query, 30), search(corpus).search(query, 400)
        assert pairs(found) == pairs(hit for hit in whole if hit.passage.id in allowed)[:30]
        assert {hit.passage.source.path for hit in found} <= paths
        for hit in found[:2]:
            assert view.document_of(hit.passage.id).path == hit.passage.source.path
            assert view.document_of(hit.passage.id).metadata == hit.passage.source.metadata
    assert [len(view), view.frequencies(["tower"])] == [len(corpus), corpus.frequencies(["tower"])]


def homes_of(corpus: AnyCorpus) -> dict[str, set[str]]:
    """The files that hold each passage."""
    homes: dict[str, set[str]] = {}
    for document in corpus.documents():
        text = corpus.text(document)
        for passage in corpus.every_passage():
            if passage.title == document.title and passage.text in text:
                homes.setdefault(passage.id, set()).add(document.path or "")
    return homes


def test_an_index_keeps_the_metadata_of_its_documents(corpus: AnyCorpus, folder: Path):
    expected = [document.metadata for file in sorted(folder.rglob("*.*")) for document in read_documents(file)]
    assert [document.metadata for document in corpus.documents()] == expected


def test_the_note_counts_documents(corpus: AnyCorpus):
    assert corpus.limit(["tag:policy", "not:author:lee"]).limit_note == (
        "Asked of 1 of 34 documents: tag:policy, not:author:lee."
    )


# ---------------------------------------------------------------- every door

QUESTION = "For how many years is the tower leased?"
NOTE = "Asked of 1 of 34 documents: language:de."


def test_an_answer_says_what_it_was_limited_to_and_keeps_it(folder: Path):
    answer = toulmin.ask(QUESTION, docs=folder, only=["language:de"])
    assert {passage.source.path for passage in answer.passages} == {str(folder / "letter.md")}
    assert NOTE in answer.notes
    document = answer_json.document(answer)
    assert document["settings"]["only"] == ["language:de"]
    assert document["passages"][0]["source"]["metadata"]["authors"] == ["Jane Smith"]
    assert answer_json.parse(document).passages[0].source.metadata == answer.passages[0].source.metadata


def paths_of(hits: Any) -> set[str | None]:
    return {hit.passage.source.path for hit in hits}


def test_calls_that_share_a_session_are_limited_each_for_itself(folder: Path):
    for only, name in (["language:de"], "letter.md"), (["kind:txt"], "draft.txt"), (["language:de"], "letter.md"):
        assert paths_of(toulmin.search("tower", docs=folder, only=only)) == {str(folder / name)}
    assert len(paths_of(toulmin.search("tower", docs=folder, k=50))) == 4


def test_a_session_is_limited_as_a_whole_and_further_by_each_question(folder: Path):
    async def ask() -> list[set[str | None]]:
        async with toulmin.aio.session(docs=folder, only=["author:smith"]) as session:
            wide, narrow = await session.search("tower", 20), await session.search("tower", 20, only=["language:en"])
            asked = await session.ask(QUESTION, only=["language:de"])
            return [paths_of(wide), paths_of(narrow), {passage.source.path for passage in asked.passages}]

    letter, lease = str(folder / "letter.md"), str(folder / "contracts/lease.md")
    assert asyncio.run(ask()) == [{letter, lease}, {lease}, {letter}]


def test_a_check_finds_its_evidence_in_these_documents_only(folder: Path):
    answer = toulmin.check("The tower is leased for nine years.", docs=folder, only=["kind:txt"])
    assert {passage.source.path for passage in answer.passages} == {str(folder / "draft.txt")}


def test_earlier_answers_from_other_documents_are_not_read_again(folder: Path):
    first = toulmin.ask(QUESTION, docs=folder, only=["language:de"])
    later = toulmin.ask("And the mill?", docs=folder, only=["kind:txt"], history=[first])
    assert {passage.source.path for passage in later.passages} == {str(folder / "draft.txt")}


def test_passages_of_a_call_are_limited_too():
    dated = Source(0, len(TEXT), path="a.md", metadata=Metadata(tags=("policy",)))
    passages = [Passage.of(TEXT, "Lease", dated), Passage.of("The tower is leased.", "Letter")]
    answer = toulmin.ask(QUESTION, passages=passages, only=["tag:policy"])
    assert [passage.title for passage in answer.passages] == ["Lease"]
    assert "Asked of 1 of 2 passages: tag:policy." in answer.notes


def test_a_retriever_of_the_caller_cannot_be_limited():
    class Nothing:
        def search(self, queries: Any, k: int) -> list[list[Any]]:
            return [[] for _ in queries]

    with pytest.raises(UsageError, match="cannot be limited"):
        toulmin.search("tower", retriever=Nothing(), only=["tag:policy"])


@table("only", ["colour:red", "tag:", "", "not:", "after:soon", "before:5 May", "not:not:tag:x"])
def test_a_wrong_filter_shows_the_forms(folder: Path, only: str, capsys: Any):
    assert run("search", "tower", "--docs", str(folder), "--only", only) == 2
    said = capsys.readouterr().err
    assert "A filter should be a path (contracts/*.md), tag:policy, author:smith" in " ".join(said.split())


def test_a_filter_that_nothing_passes_says_what_there_is(folder: Path, capsys: Any):
    assert run("ask", QUESTION, "--docs", str(folder), "--only", "tag:polcy") == 2
    said = " ".join(capsys.readouterr().err.split())
    assert "None of the 34 documents passes tag:polcy. One of them is lease.md; author: Jane Smith;" in said


@table("words", [("ask", QUESTION), ("search", "tower"), ("check", "{draft}"), ("ask", QUESTION, "--style", "report")])
def test_commands_are_limited(folder: Path, tmp_path: Path, words: tuple[str, ...], capsys: Any, monkeypatch: Any):
    monkeypatch.setenv("COLUMNS", "300")  # a long path is shortened
    (tmp_path / "claims.txt").write_text("The tower is leased for nine years.", "utf-8")
    named = [word.replace("{draft}", str(tmp_path / "claims.txt")) for word in words]
    run(*named, "--docs", str(folder), "--only", "language:de")
    said = " ".join("".join(capsys.readouterr()).split())
    assert NOTE in said
    assert "letter.md,JaneSmith2024-06," in said.replace(" ", "")


def test_a_chat_is_limited(folder: Path, capsys: Any, monkeypatch: Any):
    monkeypatch.setattr("builtins.input", iter([QUESTION]).__next__)
    monkeypatch.setattr("sys.stdin", __import__("io").StringIO(f"{QUESTION}\n"))
    run("chat", "--docs", str(folder), "--only", "language:de")
    assert NOTE in " ".join(capsys.readouterr().out.split())


def test_a_run_is_limited(folder: Path, tmp_path: Path):
    (tmp_path / "questions.jsonl").write_text(json.dumps({"id": "a", "question": QUESTION}), "utf-8")
    words = ["--docs", str(folder), "--only", "language:de", "--out", str(tmp_path / "out")]
    assert run("run", str(tmp_path / "questions.jsonl"), *words) == 0
    (line,) = (tmp_path / "out" / "answers.jsonl").read_text("utf-8").splitlines()
    assert {passage["source"]["path"] for passage in json.loads(line)["passages"]} == {str(folder / "letter.md")}


def test_requests_are_limited(folder: Path):
    asked = {"question": QUESTION, "only": ["language:de"]}
    with served(folder) as server:
        answer = server.client.post("/v1/answers", json=asked).json()
        hits = server.client.post("/v1/search", json={"query": "tower", "only": ["kind:txt"]}).json()["hits"]
        text = {"text": "The tower is leased for nine years.", "only": ["kind:txt"]}
        checked = server.client.post("/v1/check", json=text).json()
        wrong = server.client.post("/v1/answers", json=asked | {"only": ["colour:red"]})
        empty = server.client.post("/v1/search", json={"query": "tower", "only": ["tag:polcy"]})
    assert NOTE in answer["notes"]
    assert {hit["passage"]["source"]["path"] for hit in hits} == {str(folder / "draft.txt")}
    assert {passage["source"]["path"] for passage in checked["passages"]} == {str(folder / "draft.txt")}
    assert (wrong.status_code, empty.status_code) == (422, 422)
    assert "tag:policy" in wrong.json()["error"]["message"]
    assert str(folder) not in empty.json()["error"]["message"]


def test_tools_are_limited(folder: Path):
    mcp = pytest.importorskip("mcp", reason="needs mcp (extra: mcp)")

    async def use(address: str) -> list[Any]:
        async with mcp.Client(address) as client:
            calls = [("search", {"query": "tower"}), ("ask", {"question": QUESTION}), ("check", {"text": TEXT})]
            return [await client.call_tool(name, {**words, "only": ["language:de"]}) for name, words in calls]

    with served(folder) as server:
        search, ask, check = asyncio.run(use(f"{server.url}mcp"))
    assert {row["title"] for row in json.loads(search.content[0].text)["results"]} == {"The harbour"}
    for result in (ask, check):
        assert {one["source"]["path"] for one in result.structured_content["passages"]} == {str(folder / "letter.md")}
