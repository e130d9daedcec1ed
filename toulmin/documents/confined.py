"""Reads files of foreign formats in child processes, with limits on memory, computing time and text.

* A file that breaks its child is refused; the next file gets a new child.
* A child answers in JSON, so a hostile file can return data, never code.
* A child ends with its parent, however that ends.
* Where a system cannot limit memory (macOS, Windows), only time is limited.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, suppress
from dataclasses import asdict
from functools import partial
from importlib import import_module
from math import ceil
from pathlib import Path
from queue import SimpleQueue
from threading import Lock, Thread, Timer
from time import monotonic, process_time
from typing import IO, Any, cast
from weakref import WeakSet

import orjson

from toulmin.data import Document, Heading
from toulmin.documents.loaders import MOST_BYTES, is_foreign, read_documents
from toulmin.documents.metadata import from_json, to_json
from toulmin.documents.ocr import SECONDS_A_PAGE, Ocr, ReadLine, Recogniser
from toulmin.documents.plain import Overdue, Unavailable, cannot_read, open_regular, repair_text
from toulmin.errors import SourceError, cause_of

# The full name of a function that a child calls with a file, the most characters that it may hold, and JSON values.
# A name, as the function's module may load a parser, and this process should load none.
Job = str

_MEMORY = 640 << 20  # bytes of address space of a child
_WORN = 300_000  # kilobytes at the peak: such a child ends, so that it leaves enough memory for the next file
# Computing time for a file and each of its megabytes; a child that shares the processor may take so many times longer.
_SECONDS, _SECONDS_A_MEGABYTE, _PATIENCE = 15.0, 2.0, 6.0
_SLOW = {".doc": 12.0}  # seconds a megabyte of what another program converts
# Limits: characters of text of any file, characters for each byte of a file, pages of a file.
_SHORT, _SWELLING, _MOST_PAGES = 10_000_000, 100, 100_000
_FILES_A_CHILD, _MOST_CHILDREN = 16, 4
_PR_SET_PDEATHSIG = 1
_YIELDING = 5  # niceness: a server answers before it reads files
_SIZE = 20  # characters of the line with an answer's length
_LATE, _GRACE = 1000, 5.0  # the exit code of a child that took too long; seconds that a child gets to end
_MEMORY_OF_OCR, _WORN_BY_OCR = 6 << 30, 2_000_000  # limits of a child that reads scans; it uses a tenth or two
_MEMORY_NEEDED = f"needs more than {_MEMORY >> 20} MB of memory to be read"


class Children(AbstractContextManager["Children"]):
    """A pool of children for about so many files; each starts when needed and ends with the `with`."""

    def __init__(self, files: int, ocr: Ocr | None = None, is_helping: bool = False) -> None:
        """Children that are helping share the work of this process: it needs a processor too, and none yields."""
        self._ocr = ocr
        self._niceness = 0 if is_helping else _YIELDING
        self._one_scan = Lock()  # each takes every core, and much memory
        cores = max(1, (os.cpu_count() or 1) - is_helping)
        self._threads = ThreadPoolExecutor(min(_MOST_CHILDREN, cores, 1 + files // _FILES_A_CHILD))
        self._lock = Lock()
        self._children: set[_Child] = set()
        self._idle: list[_Child] = []
        self._scanners: list[_Child] = []

    def documents_of(self, path: Path) -> Callable[[], Iterable[Document]]:
        """As `read_documents`; a child begins at once to read a file of a foreign format."""
        if not is_foreign(path):
            return partial(read_documents, path)
        return self._threads.submit(self._read, path).result

    def submit(self, path: Path, job: Job, *values: Any) -> Future[Mapping[str, Any]]:
        """Values and result are JSON; the result may raise `SourceError`."""
        return self._threads.submit(self._ask, path, job, values)

    def _read(self, path: Path) -> list[Document]:
        answer = self._ask(path, f"{__name__}._read", [self._ocr is not None])
        if self._ocr is not None and answer.get("scanned"):
            with self._one_scan:
                answer = self._ask(path, f"{__name__}._read_scan", [asdict(self._ocr)], answer["scanned"])
        return _documents(path, answer)

    def _ask(self, path: Path, job: Job, values: Sequence[Any], scanned: int = 0) -> Mapping[str, Any]:
        idle, memory = (self._scanners, _MEMORY_OF_OCR) if scanned else (self._idle, _MEMORY)
        child = self._take(path, idle, memory)
        answer: Mapping[str, Any] = {}
        try:
            answer = child.ask(path, job, values, scanned)
            if "error" in answer:
                raise (Unavailable if answer["is_passing"] else SourceError)(str(answer["error"]))
            return answer
        finally:
            with self._lock:
                if answer.get("is_last", True):
                    self._children.discard(child)
                    child.end()
                else:
                    idle.append(child)

    def _take(self, path: Path, idle: list[_Child], memory: int) -> _Child:
        with self._lock:
            if idle:
                return idle.pop()
            try:
                child = _Child(memory, self._niceness)
            except OSError as error:
                came = f"could not be read, as no process could be started ({cause_of(error)})"
                raise cannot_read(path, came, "end other programs and index again", Unavailable) from error
            self._children.add(child)
            return child

    def __exit__(self, *_: object) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)
        with self._lock:
            for child in self._children:
                child.kill()
        self._threads.shutdown()
        for child in self._children:
            child.end()


def _documents(path: Path, answer: Mapping[str, Any]) -> list[Document]:
    try:
        return [_document(path, **fields) for fields in answer["documents"]]
    except (KeyError, TypeError, ValueError) as error:
        raise _broken(path, "makes its reader return invalid data") from error


def _document(file: Path, pages: Any, headings: Any, metadata: str, remarks: Any, **fields: Any) -> Document:
    outline = tuple(Heading(int(start), int(level), str(words)) for start, level, words in headings)
    fields |= {"metadata": from_json(metadata), "remarks": tuple(map(str, remarks)), "path": repair_text(str(file))}
    return Document(pages=tuple(map(int, pages)), headings=outline, **fields)


def _broken(path: Path, came: str) -> SourceError:
    return cannot_read(path, came, "it may be damaged: save it again, or in another format")


def end_readings() -> None:
    """Kills every child; their files count as unavailable."""
    for child in list(_living):
        child.kill()


class _Child:
    def __init__(self, memory: int, niceness: int) -> None:
        imports = f"import sys; sys.path[:] = {sys.path!r}; from toulmin.documents.confined import serve"
        code = f"{imports}; serve({memory}, {niceness}, {os.getpid()})"
        pipe, nothing = subprocess.PIPE, subprocess.DEVNULL
        self._process = subprocess.Popen([sys.executable, "-S", "-c", code], stdin=pipe, stdout=pipe, stderr=nothing)
        self.kill = self._process.kill
        _living.add(self)

    def ask(self, path: Path, job: Job, values: Sequence[Any], scanned: int) -> Mapping[str, Any]:
        """Raises `SourceError` if the file ends the child, `Unavailable` if something else does. `scanned` pages add
        time.
        """
        size = os.path.getsize(path) if path.exists() else 0
        a_megabyte = _SLOW.get(path.suffix.lower(), _SECONDS_A_MEGABYTE)
        seconds = _SECONDS + a_megabyte * size / 1e6 + SECONDS_A_PAGE * scanned
        most = min(MOST_BYTES, _SHORT + _SWELLING * size)
        began = monotonic()
        watchdog = Timer(_PATIENCE * seconds, self.kill)
        watchdog.start()
        try:
            request = [str(path), ceil(seconds), most, job, values]
            answer = orjson.loads(self._answer(request, 8 * most + _SHORT))
            return answer if isinstance(answer, dict) else {}
        except (OSError, ValueError) as error:
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(_GRACE)
            is_late = monotonic() - began >= _PATIENCE * seconds
            raise _end(path, _LATE if is_late else self._process.returncode, seconds) from error
        finally:
            watchdog.cancel()

    def _answer(self, request: list[Any], most: int) -> bytes:
        sent, received = cast(IO[bytes], self._process.stdin), cast(IO[bytes], self._process.stdout)
        sent.write(orjson.dumps(request) + b"\n")
        sent.flush()
        size = int(received.readline(_SIZE))
        return received.read(size) if size <= most else b""

    def end(self) -> None:
        self.kill()
        with suppress(OSError):  # unsent data
            self._process.communicate()


def _end(path: Path, code: int | None, seconds: float) -> SourceError:
    if code in (_LATE, -9):  # None: the child is still alive
        came = "was not read in time" if code == _LATE else "was not read: the system ended its reader"
        when = " in a quarter of an hour," if code == _LATE else ""
        kind = Overdue if code == _LATE else Unavailable
        return cannot_read(path, came, f"try again{when} when the machine is less busy", kind)
    if code == -getattr(signal, "SIGXCPU", 0):
        return _broken(path, f"takes more than {seconds:.0f} seconds of computing to be read")
    return _broken(path, f"ends its reader (exit code {code}), or {_MEMORY_NEEDED}")


_living: WeakSet[_Child] = WeakSet()


# ---------------------------------------------------------------- in the child


def serve(memory: int, niceness: int, parent: int) -> None:
    """Answers the requests on standard input, until that ends or the child is worn."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent is interrupted too, and ends its children
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # for what a library prints
    with suppress(AttributeError, OSError):  # of a system without it
        os.nice(niceness)
    _limit("RLIMIT_AS", memory)
    _limit("RLIMIT_CORE", 0)
    for line in _requests(parent):
        path, seconds, most, job, values = orjson.loads(line)
        _limit("RLIMIT_CPU", ceil(process_time()) + seconds)
        answer = _answer(Path(path), most, job, values)
        is_last = _peak() > (_WORN_BY_OCR if memory == _MEMORY_OF_OCR else _WORN)
        data = orjson.dumps({**answer, "is_last": is_last}, default=tuple)
        out.write(b"%d\n" % len(data) + data)
        out.flush()
        if is_last:
            return


def _requests(parent: int) -> Iterator[bytes]:
    """The lines of standard input. The process ends with its parent, even while a library computes."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:  # it has ended
            os._exit(1)
        return iter(sys.stdin.buffer.readline, b"")
    lines = SimpleQueue[bytes]()
    Thread(target=_receive, args=(lines,), daemon=True).start()
    return iter(lines.get, b"")


def _receive(lines: SimpleQueue[bytes]) -> None:
    while line := sys.stdin.buffer.readline():
        lines.put(line)
    os._exit(0)


def _limit(name: str, value: int) -> None:
    with suppress(ImportError, AttributeError, ValueError, OSError):  # not every system has that limit
        import resource

        kind = getattr(resource, name)
        hard = resource.getrlimit(kind)[1]
        resource.setrlimit(kind, (value if hard == resource.RLIM_INFINITY else min(value, hard), hard))


def _peak() -> int:
    """In kilobytes, 0 if unknown; `getrusage` begins with the parent's peak."""
    with suppress(OSError, StopIteration):
        lines = Path("/proc/self/status").read_text("ascii").splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:"))
    return 0


def _answer(path: Path, most: int, job: Job, values: Sequence[Any]) -> dict[str, Any]:
    module, _, name = job.rpartition(".")
    try:
        answer: dict[str, Any] = getattr(import_module(module), name)(path, most, *values)
        return answer
    except SourceError as error:
        return {"error": str(error), "is_passing": isinstance(error, Unavailable)}
    except Exception as error:  # the libraries raise many kinds of error for damaged files
        came = _MEMORY_NEEDED if isinstance(error, MemoryError) else f"breaks its reader ({error!r:.200})"
        return {"error": str(_broken(path, came)), "is_passing": False}


class _Counter(Recogniser):
    def __init__(self) -> None:
        super().__init__(Ocr("", ""), "")
        self.pages = 0

    def read(self, page: object, number: int) -> Sequence[ReadLine]:
        self.pages += 1
        return ()


def _read(path: Path, most: int, has_ocr: bool) -> dict[str, Any]:
    """The document or, if OCR is available, the number of its scanned pages."""
    counter = _Counter() if has_ocr else None
    try:
        answer = _text_of(path, most, counter)
    except SourceError:
        if counter is None or not counter.pages:
            raise
        answer = {}
    return {"scanned": counter.pages} if counter is not None and counter.pages else answer


def _read_scan(path: Path, most: int, ocr: Mapping[str, str]) -> dict[str, Any]:
    with open_regular(path) as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return _text_of(path, most, Recogniser(Ocr(**ocr), digest))


def _text_of(path: Path, most: int, recogniser: Recogniser | None) -> dict[str, Any]:
    documents, size = list[Document](), 0
    for document in read_documents(path, recogniser=recogniser):
        documents.append(document)
        size += len(document.text)
        if size > most:
            raise _broken(path, f"unpacks to {size / 1e6:,.0f} million characters, too many for its size")
        if len(document.pages) > _MOST_PAGES:
            raise _broken(path, f"has more than {_MOST_PAGES:,} pages")
    return {"documents": [asdict(document) | {"metadata": to_json(document.metadata)} for document in documents]}
