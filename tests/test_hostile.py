"""Files made to hurt: they end no process, take no memory or time without end, and are named; the others are read."""

from __future__ import annotations

import gzip
import importlib
import inspect
import json
import pkgutil
import subprocess
import sys
import threading
import time
import typing
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FunctionType
from typing import Any

import pytest
from hostile_files import hostile_files, slow_pdf
from hostile_parts import formatted, forms, long_line, swollen
from kinds_parts import odt, xlsx, zipped
from pdf_writer import lines, pdf
from row_tables import table
from web_parts import served

import toulmin
from toulmin.cli import run
from toulmin.data import Document
from toulmin.documents.confined import Children, end_readings
from toulmin.documents.html import page_document
from toulmin.documents.loaders import read_documents
from toulmin.documents.passages import cut
from toulmin.documents.plain import Unavailable, decode
from toulmin.errors import SourceError
from toulmin.indexing import update as updating
from toulmin.indexing.store import open_index
from toulmin.indexing.update import IndexReport, update

GOOD = "The lamp was lit in 1871."
MEGABYTE = 1 << 20
# What a file does to who reads it, and words of the reason for which it is left out.
HOSTILE: dict[str, tuple[Callable[[], bytes], str]] = {
    "deep.pdf": (lambda: forms(24), "or needs more than 640 MB of memory to be read"),
    "self.pdf": (lambda: forms(0), "or needs more than 640 MB of memory to be read"),
    "unclosed.html": (lambda: formatted(4500), "leaves too many open"),
    "misclosed.html": (lambda: formatted(4500, "</i>"), "leaves too many open"),
    "picture.docx": (lambda: swollen(megabytes=210), "at most 200.0 MB are read"),
    "part.odt": (lambda: zipped({"content.bin": "0" * 210 * MEGABYTE}), "at most 200.0 MB are read"),
    "flat.odt": (lambda: odt("<text:p>" + "a" * 18 * MEGABYTE + "</text:p>"), "million characters, too many for its"),
    "cells.xlsx": (
        lambda: xlsx({"s": "<row>" + '<c t="s"><v>0</v></c>' * 9_000 + "</row>"}, ["<t>" + "a " * 1000 + "</t>"]),
        "million characters, too many for its",
    ),
    "far.xlsx": (lambda: xlsx({"s": '<row><c r="XFD1" t="s"><v>0</v></c></row>' * 40_000}, ["<t>far</t>"]), "640 MB"),
    "nested.odt": (lambda: odt("<text:span>" * 20_000 + "</text:span>" * 20_000), ""),
}

INDEX = """
import json, re, resource, sys, toulmin
resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))
report = toulmin.index([sys.argv[1]], into=sys.argv[2])
own = int(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1])
peaks = [own, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss]
print(json.dumps([report.read, {skip.path: skip.reason for skip in report.skipped}, peaks]))
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "good.html").write_text(f"<p>{GOOD}")
    (folder / "good.pdf").write_bytes(pdf([lines(GOOD)]))
    return folder


def write(folder: Path, *names: str) -> None:
    for name in names:
        (folder / name).write_bytes(HOSTILE[name][0]())


def reasons(report: IndexReport) -> dict[str, str]:
    return {Path(skip.path).name: skip.reason for skip in report.skipped}


@pytest.mark.skipif(sys.platform != "linux", reason="memory is limited on Linux")
def test_an_index_of_hostile_files_names_them_and_holds_the_others(folder: Path, tmp_path: Path):
    write(folder, *HOSTILE)
    command = [sys.executable, "-c", INDEX, str(folder), str(tmp_path / "index")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    read, skipped, peaks = json.loads(done.stdout)
    named = {Path(path).name: reason for path, reason in skipped.items()}
    assert (read, named.keys()) == (2, HOSTILE.keys())
    assert [name for name, (_, words) in HOSTILE.items() if words not in named[name]] == [], named
    assert max(peaks) < 900_000  # kilobytes


@pytest.mark.skipif(sys.platform != "linux", reason="memory is limited on Linux")
def test_an_index_of_hostile_files_of_every_kind_names_each(tmp_path: Path):
    files = hostile_files(tmp_path / "folder", letters=1_000)
    report = update(tmp_path / "index", [tmp_path / "folder"])
    with open_index(tmp_path / "index") as corpus:
        read = {Path(entry.path).name for entry in corpus.documents() if entry.path}
    named = {path.name for path in files}
    assert (len(files) >= 200, read | reasons(report).keys()) == (True, named)
    assert all(reasons(report).values())


@pytest.mark.parametrize("kind", ["jsonl", "tsv", "json"])
def test_records_that_unpack_without_end_are_refused_before_they_do(kind: str, tmp_path: Path):
    path = tmp_path / f"a.{kind}.gz"
    path.write_bytes(gzip.compress(b"\n" * 20_000_000))
    with pytest.raises(SourceError, match="unpacks to more than 100 times its size"):
        list(read_documents(path))


def test_records_that_unpack_to_much_are_read(tmp_path: Path):
    path = tmp_path / "a.jsonl.gz"
    text = " ".join(map(str, range(500_000)))
    path.write_bytes(gzip.compress(json.dumps({"text": text}).encode()))
    assert next(read_documents(path)).text == text


@pytest.mark.parametrize("kind", ["txt", "md", "csv", "py", "man"])
def test_a_text_that_would_need_more_than_a_gigabyte_is_refused(kind: str, tmp_path: Path):
    path = tmp_path / f"a.{kind}"
    with path.open("wb") as file:
        file.truncate(25_000_001)
    with pytest.raises(SourceError, match=r"at most 25\.0 MB are read"):
        list(read_documents(path))


@pytest.mark.parametrize("kind", ["jsonl", "json"])
def test_a_record_that_would_need_more_than_a_gigabyte_is_refused(kind: str, tmp_path: Path):
    path = tmp_path / f"a.{kind}"
    path.write_bytes(b'[{"text": "a", "of": [' + b"{}," * 15_000_000)
    with pytest.raises(SourceError, match=r"longer than 20\.0 (MB|million)"):
        list(read_documents(path))


def test_a_pdf_whose_title_is_damaged_is_read(tmp_path: Path):
    path = tmp_path / "lamp.pdf"
    path.write_bytes(pdf([lines(GOOD)], title="\ud83d", outline=[("Lamp", 0)]))
    assert next(read_documents(path)).text == GOOD


def test_a_page_of_the_web_that_would_grow_without_end_is_refused():
    for page in ("<div>" * 20_000, *(formatted(4500, closing).decode() for closing in ("", "</i>"))):
        with pytest.raises(SourceError, match="nests more than"):
            page_document(page.encode(), Path("page.html"))


@pytest.mark.parametrize("piece", ["<p><b>bold</b> <i>x</i>", "<p><font size=2>old", "<p></b>x"])
def test_a_long_page_that_is_no_trap_is_read(piece: str):
    assert page_document((piece * 9000).encode(), Path("page.html")).text


# ---------------------------------------------------------------- what is remembered


def test_a_file_that_breaks_its_reader_is_not_tried_again_until_it_changes(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    write(folder, "unclosed.html")
    first = update(tmp_path / "index", [folder])
    with monkeypatch.context() as no_child_can_start:
        no_child_can_start.setattr(sys, "executable", str(tmp_path / "none"))
        again = update(tmp_path / "index", [folder])
        assert (again.skipped, again.unchanged) == (first.skipped, 2)
    (folder / "unclosed.html").write_text("<p>It was mended.")
    assert (update(tmp_path / "index", [folder]).read, update(tmp_path / "index", [folder]).skipped) == (1, ())


def test_another_version_of_the_program_tries_again(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    write(folder, "unclosed.html")
    update(tmp_path / "index", [folder])
    monkeypatch.setattr(updating, "__version__", "0.0.0")
    monkeypatch.setattr(sys, "executable", str(tmp_path / "none"))
    assert "no process could be started" in reasons(update(tmp_path / "index", [folder]))["unclosed.html"]


def test_a_file_for_which_no_process_could_be_started_is_tried_again(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    with monkeypatch.context() as no_child_can_start:
        no_child_can_start.setattr(sys, "executable", str(tmp_path / "none"))
        report = update(tmp_path / "index", [folder])
        assert ["no process could be started" in reason for reason in reasons(report).values()] == [True, True]
    assert update(tmp_path / "index", [folder]).read == 2


def test_what_was_read_before_a_file_broke_stays(folder: Path, tmp_path: Path):
    update(tmp_path / "index", [folder])
    (folder / "good.html").write_bytes(formatted(4500))
    report = update(tmp_path / "index", [folder])
    assert (report.documents, reasons(report).keys()) == (2, {"good.html"})
    assert reasons(update(tmp_path / "index", [folder])).keys() == {"good.html"}


# ---------------------------------------------------------------- the server


@pytest.mark.skipif(sys.platform != "linux", reason="memory is limited on Linux")
def test_a_server_answers_while_hostile_uploads_are_read_and_after(folder: Path, tmp_path: Path):
    update(tmp_path / "library", [folder])
    files = {"deep.pdf": forms(24), "line.pdf": long_line(40_000), "good.html": f"<p>{GOOD}".encode()}
    health: list[int] = []
    with served(tmp_path / "library", token="sixteen-letters-") as server:
        done = threading.Event()

        def watch() -> None:
            while not done.is_set():
                health.append(server.client.get("/healthz").status_code)
                time.sleep(0.05)

        watcher = threading.Thread(target=watch)
        watcher.start()
        try:
            sent = [("file", file) for file in files.items()]
            reply = server.client.post("/v1/documents", files=sent, timeout=120).json()
        finally:
            done.set()
            watcher.join()
        assert [skip["name"] for skip in reply["skipped"]] == ["deep.pdf"]
        assert (set(health), len(health) > 2) == ({200}, True)
        assert server.client.get("/readyz").status_code == 200


# ---------------------------------------------------------------- encodings

RUSSIAN = "Лампа была зажжена в 1871 году, и смотритель остался. "
GREEK = "Το φως άναψε το 1871 και ο φύλακας έμεινε. "
POLISH = "Zażółć gęślą jaźń, już świta, a źdźbło łąki pachnie. "
WESTERN = (
    "L’été où la garçonne naïve fêta Noël, «mon cœur», dit-elle. Größe, Übermut und Ärger. El niño ¿qué más? 25°C, 3½. "
)


@pytest.mark.parametrize(
    ("words", "encoding"),
    [
        (RUSSIAN, "koi8_r"),
        (RUSSIAN, "cp1251"),
        (GREEK, "cp1253"),
        ("灯台の明かりは一八七一年にともされた。", "euc_jp"),
        ("这座桥长三百米，由李明设计，于一九五七年建成。", "gb18030"),
    ],
)
def test_an_unnamed_encoding_is_guessed_and_noted(words: str, encoding: str):
    data = (words * 20).encode(encoding)
    assert decode(data, Path("a.txt")) == (words * 20, f"not UTF-8, read as {encoding}, a guess")
    assert decode(data, Path("a.html"), encoding) == (words * 20, None)


def test_lines_of_two_encodings_are_each_read():
    data = "Für Gäste offen.\n".encode() + "Für Fußgänger gesperrt.\n".encode("latin-1")
    text, guess = decode(data, Path("a.txt"))
    assert text == "Für Gäste offen.\nFür Fußgänger gesperrt.\n"
    assert guess == "partly not UTF-8, read as cp1252, a guess"


def test_what_is_orderly_in_no_encoding_is_refused():
    with pytest.raises(SourceError, match="cannot be decoded"):
        decode((POLISH * 20).encode("utf-16")[1:].replace(b"\0", b"\x81"), Path("a.txt"))


def test_western_text_is_still_read():
    assert decode((WESTERN * 20).encode("cp1252"), Path("a.txt")).text == WESTERN * 20


def test_a_few_damaged_bytes_leave_the_rest_of_a_text_as_it_is():
    data = (POLISH * 20).encode() + b"\xff"
    assert decode(data, Path("a.txt")) == (POLISH * 20 + "\ufffd", None)


# ---------------------------------------------------------------- growth

SHAPES: dict[str, Callable[[int], str]] = {
    **{f"all {sign!r}": lambda n, sign=sign: sign * n for sign in "aA1[(<{ \n\t.\"'*`-_:\\#|=?,日"},
    **{
        f"{piece!r} again": lambda n, piece=piece: (piece * n)[:n]
        for piece in '[] ()|a |A.|. |a-|a\'|1,|Al |1. a\n|a\n|<b>|**a** |[1]|[1, |{"a":|A and |a\u0301|1999 '.split("|")
    },
    "nested quotes": lambda n: '"(' * (n // 4) + ')"' * (n // 4),
    "a gap": lambda n: f"a{' ' * n}b",
}
# Longest common subsequences are of two texts by definition; these are metrics, of answers.
BY_DEFINITION = {"rouge_l", "rouge_l_sum"}
ROOMS = (
    "datasets documents evaluation extractive formats indexing judges methods metrics models parsing prompts".split()
)
ROOMS += "retrieval runtime text".split()


def functions_of_text(room: str) -> Iterator[tuple[str, Callable[..., Any]]]:
    for module in pkgutil.walk_packages([str(Path(toulmin.__file__).parent / room)], f"toulmin.{room}."):
        try:
            names = vars(importlib.import_module(module.name))
        except ImportError:  # of a library that is not installed
            continue
        for name, function in names.items():
            is_ours = isinstance(function, FunctionType) and function.__module__ == module.name
            if is_ours and name[0] != "_" and name not in BY_DEFINITION and takes_text(function):
                yield f"{module.name}.{name}", function


def needed(function: Callable[..., Any]) -> list[str]:
    parameters = inspect.signature(function).parameters.values()
    return [
        p.name for p in parameters if p.default is p.empty and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
    ]


def takes_text(function: Callable[..., Any]) -> bool:
    try:
        hints = typing.get_type_hints(function)
    except NameError:  # of names for type checkers only
        return False
    makes_pattern = "Pattern" in str(hints.get("return"))  # of our own words
    return bool(needed(function)) and not makes_pattern and all(hints.get(name) is str for name in needed(function))


def seconds(run: Callable[[], Any]) -> float:
    began = time.process_time()
    try:
        result = run()
        if isinstance(result, Iterator):
            list(result)
    except (ArithmeticError, LookupError, OSError, ValueError, toulmin.ToulminError, RecursionError):
        pass  # what it says of such a text is another test's
    return time.process_time() - began


def grows_too_fast(run: Callable[[str], Any]) -> list[str]:
    """The shapes of which four times as much takes ten times as long, where that can be measured at all."""

    def is_steep(short: str, long: str) -> bool:
        least = min(seconds(lambda: run(short)) for _ in range(3))
        # The least of three is above the bound where all are.
        return all(seconds(lambda: run(long)) > max(MEASURABLE, 10 * least) for _ in range(3))

    shapes = []
    for shape, make in SHAPES.items():
        short, long = make(SIZE), make(4 * SIZE)
        if seconds(lambda long=long: run(long)) > MEASURABLE:
            # Other work on the machine lengthens one measurement, but hardly three.
            shapes += [shape] if all(is_steep(short, long) for _ in range(3)) else []
    return shapes


SIZE = 2000
MEASURABLE = 0.0125  # seconds of processor time: what grows as n * n and takes 0.05 s at twice the size takes this here


@table("room", ROOMS)
def test_no_function_of_text_takes_more_time_than_n_log_n(room: str):
    slow = {
        name: shapes
        for name, function in functions_of_text(room)
        if (shapes := grows_too_fast(lambda text, of=function: of(*[text] * len(needed(of)))))
    }
    assert slow == {}


@pytest.mark.parametrize("suffix", "txt md rst adoc man csv eml rtf html py jsonl tsv json pdf".split())
def test_no_file_of_text_takes_more_time_than_n_log_n(suffix: str, tmp_path: Path):
    heads = {"man": ".TH A 1\n.SH B\n", "eml": "From: a\nSubject: b\n\n", "rtf": "{\\rtf1 "}
    path = tmp_path / f"a.{suffix}"

    def read(text: str) -> list[Document]:
        if suffix == "pdf":
            printed = text.replace("\n", " ")
            path.write_bytes(pdf([lines(*(printed[i : i + 4000] for i in range(0, len(printed), 4000)), size=0.1)]))
        else:
            path.write_text(heads.get(suffix, "") + text, "utf-8")
        return list(read_documents(path))

    assert grows_too_fast(read) == []


def test_no_text_takes_more_time_than_n_log_n_to_be_cut():
    assert grows_too_fast(lambda text: cut(Document(text))) == []


def test_similar_records_are_removed_in_n_log_n(tmp_path: Path):
    def read(records: int) -> float:
        path = tmp_path / f"{records}.jsonl"
        path.write_text('{"text": "a"}\n' * records + "damaged")
        return seconds(lambda: update(tmp_path / f"index-{records}", [path]))

    read(10)  # loads what is needed
    short, long = read(1000), read(4000)
    assert long < 10 * short


def test_a_reading_can_be_ended(tmp_path: Path):
    path = tmp_path / "slow.pdf"
    path.write_bytes(slow_pdf(200_000))
    with Children(1) as children:
        document = children.documents_of(path)
        time.sleep(1)
        end_readings()
        with pytest.raises(Unavailable, match="the system ended its reader"):
            document()


@pytest.mark.skipif(sys.platform != "linux", reason="memory is limited on Linux")
@pytest.mark.parametrize(
    ("piece", "letters", "most"), [("a", 8_000_000, 60_000), ("a. ", 3_000_000, 125_000), ("\u65e5", 8_000_000, 60_000)]
)
def test_unspaced_and_long_text_is_cut_in_little_memory(piece: str, letters: int, most: int):
    code = (
        "import sys; from toulmin.data import Document; from toulmin.documents.confined import _peak as peak\n"
        "from toulmin.documents.passages import cut\n"
        "text = sys.argv[1] * (int(sys.argv[2]) // len(sys.argv[1])); before = peak(); cut(Document(text))\n"
        "print(peak() - before)"
    )
    done = subprocess.run([sys.executable, "-c", code, piece, str(letters)], capture_output=True, text=True, check=True)
    assert int(done.stdout) < most  # kilobytes


def test_text_of_many_claims_is_checked_in_n_log_n(tmp_path: Path):
    (tmp_path / "good.txt").write_text("The lamp was lit in 1871.", "utf-8")

    def read(claims: int) -> float:
        path = tmp_path / f"{claims}.txt"
        path.write_text("a\n=\n" * claims, "utf-8")
        return seconds(lambda: run(["check", str(path), "--docs", str(tmp_path / "good.txt"), "--judge", "lexical"]))

    read(10)  # loads what is needed
    least = min(read(2000) for _ in range(3))
    # Other work on the machine lengthens one measurement, but hardly three.
    assert any(read(8000) < 10 * least for _ in range(3))
