"""The one LanceDB table of a shared corpus, and the errors of object stores.

* All rows are in one table, so a commit is one moment and a reader only holds on to a version. A row is a file as it
  was read, one of its documents, or a passage of that.
* LanceDB repeats requests; what it gives up is retried here. Both are counted and reported.
* No foreign error is shown whole: object stores repeat in it what they were sent.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import lancedb
import pyarrow as pa
from lancedb.index import FTS, BTree

from toulmin.errors import SourceError, StoreAway, UsageError
from toulmin.stores.address import CREDENTIALS, Address, harmless
from toulmin.stores.contents import About, Passing, no_corpus, read_about, repeat

NAME = "corpus"
FORMAT = 4  # raise it when the columns, the packing of terms or the weight of titles change
FILE, DOCUMENT, PASSAGE = 0, 1, 2

_REPEATS = 10  # of one request, by LanceDB
_PATIENCE = 30  # seconds, for all of them
_ATTEMPTS = 10  # at a whole search or commit; of writers at once one succeeds each time
_ABOUT = b"toulmin"
_DENIED = re.compile(r"status: (?:Some\()?40[13]\b|AccessDenied|InvalidAccessKeyId|SignatureDoesNotMatch|[Cc]redential")
_NO_BUCKET = re.compile(r"NoSuchBucket|ContainerNotFound|specified bucket does not exist")
_UNREACHED = re.compile(r"error sending request|[Cc]onnection refused|dns error|ConnectError", re.IGNORECASE)
_PASSING = re.compile(
    r"status: (?:5\d\d|429|408)|[Cc]onflict|concurrent|retry_timeout|SlowDown|InternalError|already exists"
)

T = TypeVar("T")


# ---------------------------------------------------------------- columns


_COLUMNS = (  # in groups by the kind of row that fills them; the others leave them null
    # all rows; `file` is a new number for each reading of a file, 0 if nothing was read
    "kind int8, file int64, path string,"
    # of a file
    " mark int64, at int64, size int64, mtime_ns int64, digest binary, reason string,"
    # of a document, the first five also of a passage
    " document int32, title string, url string, record string, metadata string,"
    " pages string, headings string, tail string, passages int32,"
    # of a passage
    " number int32, key int64, start int64, lead int32, page int32, section string,"
    " length int32, codes binary, terms string, text string"
)


def schema(about: About) -> pa.Schema:
    fields = [pa.field(*column.split()) for column in _COLUMNS.split(",")]
    if about.label is not None:
        fields.append(pa.field("vector", pa.list_(pa.float16(), about.label.dimension)))
    return pa.schema(fields, metadata={_ABOUT: json.dumps(about.as_json(FORMAT)).encode()})


def about(table: Any, address: Address) -> About:
    """Raises `IndexDamaged` for another version, `SourceError` for a foreign table."""
    written = (table.schema.metadata or {}).get(_ABOUT)
    if written is None:
        raise SourceError(f"The table in {address} belongs to another program; name another address.")
    return read_about(json.loads(written), FORMAT, address)


# ---------------------------------------------------------------- opening


def open_table(address: Address) -> Any:
    """The table as it is now. Raises `SourceError` if there is none."""
    table = find_table(address)
    if table is None:
        raise no_corpus(address)
    return table


def ensure_table(address: Address, wanted: About) -> Any:
    """Creates a missing table; a concurrent second writer gets the first's."""
    table = find_table(address)
    if table is None:
        columns = schema(wanted)
        retry(address, lambda: _connect(address).create_table(NAME, schema=columns, exist_ok=True))
        table = open_table(address)
    about(table, address)
    retry(address, lambda: _complete(table))
    return table


def find_table(address: Address) -> Any | None:
    """The table as it is now, or None."""
    return retry(address, lambda: _open(address))


def _open(address: Address) -> Any | None:
    connection = _connect(address)
    try:
        return connection.open_table(NAME)
    except (ValueError, FileNotFoundError) as error:
        if "was not found" in str(error):
            return None
        raise


def _connect(address: Address) -> Any:
    if address.scheme == "lance":
        return lancedb.connect(address.uri)
    options = {"client_max_retries": str(_REPEATS), "client_retry_timeout": f"{_PATIENCE}"}
    if os.environ.get("AWS_ENDPOINT_URL", os.environ.get("AWS_ENDPOINT", "")).startswith("http://"):
        options["allow_http"] = "true"
    return lancedb.connect(address.uri, storage_options=options)


def _complete(table: Any) -> None:
    """Creates missing search indexes, as after a killed first writer."""
    table.checkout_latest()  # if two writers create them at once, the second retries and finds them
    there = {column for index in table.list_indices() for column in index.columns}
    for column in ("terms", "key", "file"):
        if column not in there:
            table.create_index(column, config=_terms() if column == "terms" else BTree(), replace=False)


def _terms() -> FTS:
    """Our terms are already cut, folded and stemmed."""
    return FTS(
        base_tokenizer="whitespace",
        lower_case=False,
        stem=False,
        remove_stop_words=False,
        ascii_folding=False,
        max_token_length=None,
    )


# ---------------------------------------------------------------- errors and retries


def retry(address: Address, work: Callable[[], T], attempts: int | None = None) -> T:
    """Runs `work`, which must be safe to repeat, several times for temporary errors. Raises `SourceError`."""
    return repeat("object store", clear_errors(address)(work), attempts or _ATTEMPTS)


@contextmanager
def clear_errors(address: Address) -> Iterator[None]:
    try:
        yield
    except (SourceError, UsageError):
        raise
    except (RuntimeError, ValueError, OSError) as error:
        raise _error_for(address, str(error)) from None


def _error_for(address: Address, what: str) -> SourceError:
    if _NO_BUCKET.search(what):
        return SourceError(
            f"There is no bucket (or container) for {address}; make it, or correct the address or the endpoint in the"
            f" environment. These variables are read: {CREDENTIALS[address.scheme]}."
        )
    if _DENIED.search(what):
        return SourceError(
            f"{address} refused the credentials of this environment; set {CREDENTIALS[address.scheme]} to ones that may"
            " read it, and write where you index into it."
        )
    if _UNREACHED.search(what):
        return StoreAway(f"The object store of {address} cannot be reached; check its endpoint and the network.")
    if _PASSING.search(what):
        return Passing(f"{address} failed again and again, or others write to it at once; try again in a moment.")
    return SourceError(f"{address} cannot be used ({harmless(what)}).")
