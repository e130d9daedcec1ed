"""Addresses of shared corpora.

A plain path is always the embedded index. Addresses hold no credentials: each store's own tools read those from the
environment.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from importlib.util import find_spec
from urllib.parse import urlsplit

from toulmin.errors import SourceError, UsageError, unknown_name

CREDENTIALS = {
    "s3": "AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_REGION and, for other servers than Amazon's, AWS_ENDPOINT_URL",
    "gs": "GOOGLE_APPLICATION_CREDENTIALS (the path of a service account's key file)",
    "az": "AZURE_STORAGE_ACCOUNT_NAME and AZURE_STORAGE_ACCOUNT_KEY, or AZURE_STORAGE_SAS_TOKEN",
    "lance": "none; it is a folder, which must be readable, and writable to index into it",
    "postgresql": "PGUSER and PGPASSWORD (or a line of ~/.pgpass) and, where the server wants it, PGSSLMODE",
}
POSTGRES = ("postgresql", "postgres")
INSTALL = "pip install 'toulmin[scale]'"
INSTALL_POSTGRES = "pip install 'toulmin[postgres]'"
_IN_POSTGRES = "postgresql://HOST/DATABASE/CORPUS"
_SECRET = re.compile(r"(?:KEY|SECRET|TOKEN|PASSWORD|CREDENTIAL)")
_SHOWN = 160  # characters of a foreign error
_SCHEME = re.compile(r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]+)://|(?P<lance>lance):")


@dataclass(frozen=True, slots=True)
class Address:
    """`text` is as people write it, `uri` as LanceDB takes it."""

    text: str
    scheme: str
    uri: str

    def __str__(self) -> str:
        return self.text


def is_shared(place: str) -> bool:
    """Whether the text is an address. Raises `UsageError` for an unknown scheme."""
    match = _SCHEME.match(place)
    if match is None:
        return False
    scheme = match["scheme"] or match["lance"]
    if scheme not in CREDENTIALS and scheme not in POSTGRES:
        known = ("s3://BUCKET/CORPUS", "gs://BUCKET/CORPUS", "az://CONTAINER/CORPUS", "lance:FOLDER", _IN_POSTGRES)
        raise unknown_name("address of a corpus", f"{scheme}://", known)
    return True


def is_postgres(place: str) -> bool:
    return place.partition("://")[0] in POSTGRES


def address(text: str) -> Address:
    """Parses the address of a LanceDB corpus.

    Raises `UsageError` if it is malformed or holds a password; `SourceError` if the library is not installed.
    """
    plain = text.rstrip("/")
    if plain.startswith("lance:"):
        # A shell expands `~` only at the start of a word.
        folder = os.path.expanduser(plain.removeprefix("lance:").removeprefix("//"))
        made = Address(plain, "lance", folder)
        if not made.uri:
            raise UsageError("An address of this kind is lance:FOLDER, but no folder was named.")
    else:
        parts = urlsplit(plain)
        if "@" in parts.netloc or parts.query or parts.fragment:
            raise UsageError(
                f"An address holds no user, password or options; write {parts.scheme}://BUCKET/CORPUS and set"
                f" {CREDENTIALS[parts.scheme]} in the environment."
            )
        if not parts.netloc or not parts.path.strip("/"):
            raise UsageError(f"An address of this kind is {parts.scheme}://BUCKET/CORPUS, not {plain!r}.")
        made = Address(plain, parts.scheme, plain)
    check_installed(text)
    return made


def check_installed(place: str) -> None:
    """Raises `SourceError`, with the install command, if the library is missing."""
    if is_postgres(place):
        if find_spec("psycopg") is None:
            raise SourceError(f"A corpus in PostgreSQL needs psycopg, not installed here; run: {INSTALL_POSTGRES}")
    elif find_spec("lancedb") is None:
        raise SourceError(f"A shared corpus needs LanceDB, not installed here; run: {INSTALL}")


def harmless(what: str) -> str:
    """The first 160 characters of a foreign error, without secrets of the environment."""
    for name, value in os.environ.items():
        if value and _SECRET.search(name.upper()):
            what = what.replace(value, "***")
    return " ".join(what.split())[:_SHOWN]
