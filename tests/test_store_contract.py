"""What a corpus promises wherever it is kept: in a folder, in LanceDB or in PostgreSQL.

What only one of them promises is in test_store, test_shared, test_shared_store, test_postgres and
test_postgres_store; what both of the last two promise is in test_store_contract_shared.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from row_tables import table
from shared_parts import notes_in
from store_parts import ALONE, SHARED, Store, counts, described, everything, scores, search
from test_links import ACTOR, EVERY, QUESTION
from words_encoder import ByWords

from toulmin.build import encoding
from toulmin.build.indexes import open_index
from toulmin.config import Settings
from toulmin.data import Answer, Citation, Claim, Document, Passage, Quote
from toulmin.documents.loaders import read_documents
from toulmin.documents.passages import cut
from toulmin.errors import IndexDamaged, SourceError, UsageError
from toulmin.indexing.codes import passage_terms
from toulmin.indexing.corpus import AnyCorpus, Stats
from toulmin.indexing.update import Progress
from toulmin.indexing.vector_files import EncoderChoice
from toulmin.retrieval.bm25 import Bm25, InMemory

TOWER = "Kettle Rock Tower was lit for the first time on 3 May 1824. Hannah Pell drew its plans."
BRIDGE = "The Long Bridge carries two lanes of traffic. It opened in 1931."
FALLEN = "The tower fell in 1950."
LONG = " ".join(f"Sentence number {n} speaks of the harbour and of ship number {n}." for n in range(60))
QUERIES = (
    "Who built the first marine clock?",
    "longitude act prize",
    "When was the sea watch H4 finished and how much did it weigh?",
    "moons of Jupiter",
    "the of and",
    "Harrison",
    "a word that nobody wrote: zyzzyva",
    "Greenwich meridian conference 1884 ships",
    QUESTION,
)


@pytest.fixture(scope="module", params=[*ALONE, *SHARED])
def kind(request: pytest.FixtureRequest) -> Iterator[type[Store]]:
    """Where the corpora of a test are kept."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in request.param.environment(request.getfixturevalue).items():
            patch.setenv(name, value)
        yield request.param


class Stopped(Exception):
    """Raised in the middle of an update."""


@pytest.fixture
def store(kind: type[Store], tmp_path: Path) -> Store:
    """A place without a corpus."""
    return kind(tmp_path)


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    """Two short files and a long one."""
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "tower.txt").write_text(TOWER, "utf-8")
    (folder / "bridge.txt").write_text(BRIDGE, "utf-8")
    (folder / "harbour.txt").write_text(LONG, "utf-8")
    return folder


# ---------------------------------------------------------------- reading: beside the files, cut and ranked in memory


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Files of one document and of many, two that are equal, and the same words under two headings."""
    folder = notes_in(tmp_path_factory.mktemp("library") / "notes")
    rows = [{"_id": f"r{n}", "title": passage.title, "text": passage.text} for n, passage in enumerate(EVERY)]
    (folder / "films.jsonl").write_text("\n".join(map(json.dumps, rows)), "utf-8")
    shutil.copy(folder / "moons_of_jupiter.md", folder / "the_same.md")
    (folder / "ships.md").write_text(f"# Ships\n\n## Kettle Rock\n\n{LONG}\n\n## Pell Point\n\n{LONG}", "utf-8")
    return folder


@pytest.fixture(scope="module")
def documents(library: Path) -> list[Document]:
    return [document for file in sorted(library.iterdir()) for document in read_documents(file)]


@pytest.fixture(scope="module")
def passages(documents: list[Document]) -> list[Passage]:
    """Every distinct passage with its first source."""
    every = [with_digest(passage) for document in documents for passage in cut(document)]
    return list({passage.id: passage for passage in reversed(every)}.values())


def with_digest(passage: Passage) -> Passage:
    content = Path(passage.source.path or "").read_bytes()
    return replace(passage, source=replace(passage.source, digest=hashlib.sha256(content).hexdigest()))


@pytest.fixture(scope="module")
def corpus(kind: type[Store], library: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[AnyCorpus]:
    store = kind(tmp_path_factory.mktemp("corpus"))
    store.update(library, vectors=EncoderChoice(ByWords(), "own:words"))
    with open_index(store.place) as opened:
        yield opened


def test_passages_come_whole_with_title_source_and_offsets(corpus: AnyCorpus, passages: list[Passage]):
    by_id = {passage.id: passage for passage in corpus.every_passage()}
    assert by_id == {passage.id: passage for passage in passages}


def test_documents_are_listed_in_order_with_all_their_text(corpus: AnyCorpus, documents: list[Document]):
    listed = [(described(one), corpus.text(one)) for one in corpus.documents()]
    assert listed == [
        ((one.path, one.record, one.title, one.url, one.pages, len(cut(one))), one.text) for one in documents
    ]


def test_a_document_lists_its_own_passages(corpus: AnyCorpus, documents: list[Document]):
    listed = [corpus.passages_of(document) for document in corpus.documents()]
    assert listed == [[with_digest(passage) for passage in cut(document)] for document in documents]


def test_remarks_on_a_document_are_kept(store: Store, docs: Path):
    (docs / "fluss.txt").write_bytes("Die Brücke führt über den Fluß.".encode("cp1252"))
    store.update(docs)
    with open_index(store.place) as opened:
        remarks = {Path(one.path or "").name: one.remarks for one in opened.documents() if one.remarks}
    assert remarks == {"fluss.txt": ("not UTF-8, read as cp1252, a guess",)}


def test_words_have_the_headings_over_them(store: Store, docs: Path):
    (docs / "rock.md").write_text(f"# Rock\n\n## Tower\n\n{TOWER}\n\n## Bridge\n\n{BRIDGE}\n", "utf-8")
    store.update(docs)
    with open_index(store.place) as corpus:
        rock = next(document for document in corpus.documents() if document.title == "Rock")
        (passage,) = corpus.passages_of(rock)
        other = Passage.of("It was never indexed.")
        cited = [cite(passage, TOWER), cite(other, other.text), cite(passage, BRIDGE), Citation(passage.id)]
        claims = tuple(Claim("It is so.", (citation,)) for citation in cited)
        answer = Answer("Is it so?", "long", "best", "answered", claims, (passage, other))
        placed = [claim.citations[0].section for claim in corpus.with_places(answer).claims]
        assert placed == ["Tower", None, "Bridge", ""]


def cite(passage: Passage, words: str) -> Citation:
    at = passage.text.index(words)
    return Citation(passage.id, Quote(at, at + len(words), words))


def test_offsets_point_into_the_text_of_the_document(corpus: AnyCorpus, passages: list[Passage]):
    for passage in passages:
        home = corpus.document_of(passage.id)
        assert home.path == passage.source.path
        assert corpus.text(home)[passage.source.start : passage.source.end] == passage.text


def test_neighbours_follow_one_another(corpus: AnyCorpus, documents: list[Document]):
    for document in documents:
        ids = [passage.id for passage in cut(document)]
        assert corpus.neighbours(ids[0]).before is None
        assert corpus.neighbours(ids[-1]).after is None
        for one, other in pairwise(ids):
            after, before = corpus.neighbours(one).after, corpus.neighbours(other).before
            assert (after and after.id, before and before.id) == (other, one)


def test_a_single_hit_can_be_asked_for(corpus: AnyCorpus):
    assert [len(hits) for hits in Bm25(corpus).search(QUERIES[:1], 1)] == [1]


def test_passages_come_in_the_order_asked(corpus: AnyCorpus, passages: list[Passage]):
    ids = [passages[n].id for n in (5, 0, 9, 5)]
    assert [passage.id for passage in corpus.passages(ids)] == ids


@table("passage_id", ["0123456789abcdef", "", "nonsense", "zz' OR 1=1", "\ud800"])
def test_an_unknown_passage_is_an_error(corpus: AnyCorpus, passage_id: str):
    for ask in (corpus.passage, corpus.neighbours, corpus.document_of):
        with pytest.raises(SourceError, match="There is no passage"):
            ask(passage_id)


def test_counts_are_those_of_the_files(corpus: AnyCorpus, library: Path, documents: Any, passages: list[Passage]):
    terms = sum(len(passage_terms(passage)) for passage in passages)
    assert corpus.stats == Stats(14, len(documents), len(passages), terms, passage_words=100)
    assert len(corpus) == len(passages)
    digests = sorted(hashlib.sha256(file.read_bytes()).digest() for file in library.iterdir())
    assert corpus.contents == hashlib.sha256(b"".join(digests)).hexdigest()


def test_a_whole_corpus_is_verified(corpus: AnyCorpus):
    corpus.verify()


@table("query", QUERIES)
def test_the_ranking_is_that_of_all_passages_in_memory(corpus: AnyCorpus, passages: list[Passage], query: str):
    found, expected = Bm25(corpus).search([query], 10), InMemory(passages).search([query], 10)
    assert scores(found) == scores(expected)
    assert [hit.passage for hit in found[0]] == [hit.passage for hit in expected[0]]


def test_queries_at_once_and_in_threads_are_answered_as_alone(corpus: AnyCorpus):
    alone = [Bm25(corpus).search([query], 5)[0] for query in QUERIES]
    assert Bm25(corpus).search([*QUERIES, *QUERIES], 5) == [*alone, *alone]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(lambda query: Bm25(corpus).search([query], 5)[0], QUERIES)) == alone


@pytest.mark.parametrize("fusion", ["dense", "rrf"])
def test_search_by_meaning_and_by_both_finds_what_it_finds_in_memory(
    corpus: AnyCorpus, passages: list[Passage], fusion: Any, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("toulmin.build.encoding.encoder", lambda spec, settings: ByWords())
    chosen = Settings(fusion=fusion, encoder="own:words")
    rankers = (
        encoding.search_of(corpus, Bm25(corpus), chosen).ranker,
        encoding.search_in_memory(passages, InMemory(passages), chosen).ranker,
    )
    found, expected = (ranker.search(["the clock of a ship"], 5)[0] for ranker in rankers)
    assert [hit.passage.id for hit in found] == [hit.passage.id for hit in expected]
    assert [hit.score for hit in found] == pytest.approx([hit.score for hit in expected], abs=0.01)  # rounded vectors


def test_passages_that_the_first_hits_name_are_found(corpus: AnyCorpus, passages: list[Passage]):
    by_words, in_memory = Bm25(corpus), InMemory(passages)
    linked = encoding.with_links(by_words, by_words, Settings()).search([QUESTION], 10)
    assert scores(linked) == scores(encoding.with_links(in_memory, in_memory, Settings()).search([QUESTION], 10))
    assert ACTOR.id in {hit.passage.id for hit in linked[0]}


# ---------------------------------------------------------------- updates


def test_a_first_update_reads_every_file(docs: Path, store: Store):
    assert counts(store.update(docs)) == (3, 0, 0, 0)
    assert search(store, "Hannah Pell") == [TOWER]


def test_a_second_update_reads_nothing_and_changes_nothing(docs: Path, store: Store):
    store.update(docs)
    before = everything(store)
    assert counts(store.update(docs)) == (0, 3, 0, 0)
    assert everything(store) == before


def test_the_stamp_tells_that_somebody_wrote(docs: Path, store: Store):
    store.update(docs)
    with open_index(store.place) as corpus:
        assert corpus.stamp() == corpus.opened_at
        (docs / "tower.txt").write_text(FALLEN, "utf-8")
        store.update(docs)
        assert corpus.stamp() != corpus.opened_at


def test_a_file_changed_within_the_grain_of_the_clock_is_read_again(docs: Path, store: Store):
    store.update(docs)
    time = (docs / "tower.txt").stat().st_mtime_ns
    (docs / "tower.txt").write_text(TOWER.replace("1824", "1825"), "utf-8")
    os.utime(docs / "tower.txt", ns=(time, time))
    assert counts(store.update(docs)) == (1, 2, 0, 0)


def test_a_file_touched_but_equal_counts_as_unchanged(docs: Path, store: Store):
    store.update(docs)
    os.utime(docs / "tower.txt", (1, 1))
    assert counts(store.update(docs)) == (0, 3, 0, 0)


def test_a_changed_file_is_replaced(docs: Path, store: Store):
    store.update(docs)
    (docs / "tower.txt").write_text(FALLEN, "utf-8")
    assert counts(store.update(docs)) == (1, 2, 0, 0)
    assert (search(store, "Hannah Pell"), search(store, "fell")) == ([], [FALLEN])


def test_a_file_that_vanished_is_taken_out(docs: Path, store: Store):
    store.update(docs)
    (docs / "tower.txt").unlink()
    assert counts(store.update(docs)) == (0, 2, 1, 0)
    assert search(store, "Hannah Pell") == []


def test_files_from_another_folder_stay(docs: Path, store: Store, tmp_path: Path):
    (tmp_path / "mill.txt").write_text("The mill grinds barley.", "utf-8")
    store.update(docs)
    shutil.rmtree(docs)
    store.update(tmp_path / "mill.txt")
    assert search(store, "Hannah Pell") == [TOWER]


def test_a_relative_path_names_the_same_file(docs: Path, store: Store, monkeypatch: pytest.MonkeyPatch):
    store.update(docs)
    monkeypatch.chdir(docs.parent)
    assert counts(store.update(Path("docs"))) == (0, 3, 0, 0)


def test_a_file_that_cannot_be_read_is_named_until_it_is_mended(docs: Path, store: Store, tmp_path: Path):
    (docs / "bad.txt").write_bytes(b"abc\x00\x01def")
    report = store.update(docs)
    (tmp_path / "other.txt").write_text(BRIDGE, "utf-8")
    store.update(tmp_path / "other.txt")  # which says nothing of the others
    with open_index(store.place) as corpus:
        assert [Path(skipped.path).name for skipped in corpus.skipped()] == ["bad.txt"]
        assert tuple(corpus.skipped()) == report.skipped
    (docs / "bad.txt").write_text("Now it can be read.", "utf-8")
    store.update(docs)
    with open_index(store.place) as corpus:
        assert corpus.skipped() == []


def test_what_was_indexed_of_a_file_now_bad_stays(docs: Path, store: Store):
    (docs / "records.jsonl").write_text('{"text": "A quokka watched."}\n', "utf-8")
    store.update(docs)
    (docs / "tower.txt").write_bytes(b"\x00\x01\x02")
    (docs / "records.jsonl").write_text('{"text": "A wombat watched."}\n{"text": ', "utf-8")
    assert counts(store.update(docs)) == (0, 2, 0, 2)
    assert search(store, "Hannah Pell") == [TOWER]
    assert (search(store, "quokka"), search(store, "wombat")) == (["A quokka watched."], [])


def test_a_missing_path_is_an_error(store: Store, tmp_path: Path):
    with pytest.raises(SourceError, match="does not exist"):
        store.update(tmp_path / "nowhere")


def test_an_empty_folder_makes_a_corpus_without_passages(store: Store, tmp_path: Path):
    (tmp_path / "empty").mkdir()
    store.update(tmp_path / "empty")
    assert search(store, "anything") == []


def test_progress_ends_with_every_file_done(docs: Path, store: Store):
    seen: list[Progress] = []
    store.update(docs, on_progress=seen.append)
    assert (seen[-1].done_files, seen[-1].total_files) == (3, 3)


def test_a_passage_in_two_files_is_found_once_and_goes_with_the_last(docs: Path, store: Store):
    copy = docs / "sub" / "tower.txt"
    copy.parent.mkdir()
    shutil.copy(docs / "tower.txt", copy)
    store.update(docs)
    assert search(store, "Hannah Pell") == [TOWER]
    (docs / "tower.txt").unlink()
    store.update(docs)
    with open_index(store.place) as corpus:
        assert [hit.passage.source.path for hit in Bm25(corpus).search(["Hannah"], 5)[0]] == [str(copy)]
    copy.unlink()
    store.update(docs)
    assert search(store, "Hannah Pell") == []


def test_many_updates_leave_what_one_update_of_the_last_files_makes(docs: Path, kind: type[Store], tmp_path: Path):
    stores = [kind(tmp_path / name) for name in ("several", "one")]
    for version in range(4):
        (docs / "harbour.txt").write_text(LONG.replace("ship", f"boat {version}, ship"), "utf-8")
        (docs / f"only{version}.md").write_text("# Both\n\nThe same words in several files.", "utf-8")
        (docs / f"only{version - 2}.md").unlink(missing_ok=True)
        (docs / "late.jsonl").write_text(json.dumps({"text": f"Ship {version} sailed."}), "utf-8")
        stores[0].update(docs)
    stores[1].update(docs)
    assert everything(stores[0]) == everything(stores[1])


@pytest.mark.parametrize("words", [0, -1])
def test_a_passage_of_no_words_is_wrong_usage(docs: Path, store: Store, words: int):
    with pytest.raises(UsageError, match="at least 1 word"):
        store.update(docs, passage_words=words)


def test_a_corpus_keeps_its_own_passage_length(docs: Path, store: Store):
    store.update(docs, passage_words=20)
    (docs / "bridge.txt").unlink()
    assert store.update(docs).passages > 20
    with open_index(store.place) as corpus:
        assert corpus.stats.passage_words == 20


# ---------------------------------------------------------------- moments


def test_an_update_that_fails_leaves_everything_as_it_was(docs: Path, store: Store):
    store.update(docs)
    before = everything(store)
    (docs / "tower.txt").write_text(FALLEN, "utf-8")
    (docs / "bridge.txt").unlink()

    def stop(progress: Progress) -> None:
        if progress.done_files == progress.total_files:
            raise Stopped

    with pytest.raises(Stopped):
        store.update(docs, on_progress=stop)
    assert everything(store) == before
    assert counts(store.update(docs)) == (1, 1, 1, 0)


def test_a_first_update_that_fails_leaves_nothing_to_be_found(docs: Path, store: Store):
    def stop(progress: Progress) -> None:
        if progress.done_files:
            raise Stopped

    with pytest.raises(Stopped):
        store.update(docs, on_progress=stop)
    with suppress(SourceError):  # there is no corpus, or none with a passage
        assert search(store, "tower bridge ship") == []
    assert counts(store.update(docs)) == (3, 0, 0, 0)


def moment(corpus: AnyCorpus) -> Any:
    """What an open reader sees, searched anew."""
    texts = [corpus.text(document) for document in corpus.documents()]
    return texts, list(corpus.every_passage()), Bm25(corpus).search(["tower", "ship"], 5), corpus.stats


@pytest.mark.parametrize("is_gone", [False, True], ids=["changed", "vanished"])
def test_a_reader_stays_at_its_moment(docs: Path, store: Store, is_gone: bool):
    store.update(docs)
    with open_index(store.place) as corpus:
        before = moment(corpus)
        if is_gone:
            (docs / "tower.txt").unlink()
        else:
            (docs / "tower.txt").write_text(FALLEN, "utf-8")
        store.update(docs)
        assert moment(corpus) == before
    assert search(store, "Hannah Pell") == []


def test_a_reader_that_comes_during_an_update_sees_what_was_before(docs: Path, store: Store):
    store.update(docs)
    (docs / "tower.txt").write_text(FALLEN, "utf-8")
    before, seen = everything(store), list[dict[str, Any]]()
    store.update(docs, on_progress=lambda progress: seen.append(everything(store)))
    assert seen == [before] * 4
    assert everything(store) != before


def test_two_readers_see_one_version_each_time_while_a_writer_publishes(store: Store, tmp_path: Path):
    folder = tmp_path / "versions"
    folder.mkdir()
    is_over = Event()

    def write(version: int) -> None:
        for name in ("a.txt", "b.txt", "c.txt"):
            (folder / name).write_text(f"The keeper of file {name} saw version {version}.", "utf-8")
        store.update(folder)

    def read() -> set[tuple[int, int]]:
        seen = set()
        while not is_over.is_set():
            texts = search(store, "keeper")
            seen.add((len(texts), len({text.split()[-1] for text in texts})))
        return seen

    write(0)
    with ThreadPoolExecutor(2) as pool:
        readers = [pool.submit(read) for _ in range(2)]
        try:
            for version in range(1, 6):
                write(version)
        finally:
            is_over.set()
    assert [reader.result() for reader in readers] == [{(3, 1)}, {(3, 1)}]


@pytest.mark.parametrize("kind", ALONE, indirect=True)
def test_a_second_writer_gets_a_clear_error(docs: Path, store: Store, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("toulmin.indexing.catalogue.WRITER_WAIT_SECONDS", 0.05)
    store.update(docs)
    (docs / "tower.txt").write_text(FALLEN, "utf-8")

    def meanwhile(progress: Progress) -> None:
        with pytest.raises(SourceError, match="Another process is writing"):
            store.update(docs)

    assert store.update(docs, on_progress=meanwhile).read == 1


# ---------------------------------------------------------------- what cannot be used


def test_where_there_is_no_corpus_the_command_that_makes_one_is_told(store: Store):
    command = f"toulmin index PATH --into {store.place}"
    with pytest.raises(SourceError, match=re.escape(command)), open_index(store.place):
        pass


def test_a_text_that_was_changed_is_damage(docs: Path, store: Store):
    store.update(docs)
    store.change_text()
    with open_index(store.place) as corpus, pytest.raises(IndexDamaged, match=r"not what was indexed.*toulmin index"):
        corpus.verify()


def test_a_corpus_of_another_version_is_refused_with_what_to_do(docs: Path, store: Store):
    store.update(docs)
    store.make_old()
    with pytest.raises(IndexDamaged, match=r"another version.*toulmin index"), open_index(store.place):
        pass


def test_what_belongs_to_another_program_is_left_alone(docs: Path, store: Store):
    store.occupy()
    before = store.inventory()
    with pytest.raises(SourceError, match=r"another program|other files and no index"):
        store.update(docs)
    assert store.inventory() == before
