"""The trained parts on this machine: those of the distributions in `weights/`, or a folder with one part.

* A part's `manifest.json` contains its kind ("judge", "reader", "encoder"), name, format and the SHA-256 of its files;
  `weights.json` of this package contains the SHA-256 of each part's manifest.
* A file is hashed when it is asked for, and refused before it is loaded if the hash is wrong. Of an installed part, one
  that was edited together with its manifest is refused too.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from toulmin.errors import ModelError, cause_of

PACKAGE = "toulmin_weights"
FORMAT = 1
MAKE = "make one as training/README.md says and name its folder"
INSTALL = "pip install ./weights ./weights/judge '.[embedded]'"
RUNS = ("onnxruntime", "tokenizers")
DIGESTS: dict[str, str] = json.loads(resources.files("toulmin.runtime").joinpath("weights.json").read_text("utf-8"))
_MANIFEST = "manifest.json"
_REINSTALL = f"reinstall it: {INSTALL}"


@dataclass(frozen=True, slots=True)
class Part:
    folder: Path
    name: str
    manifest: Mapping[str, Any]
    identity: str

    def file(self, name: str) -> Path:
        """Hashes the file. Raises `ModelError` unless it is the one that the manifest lists."""
        if name not in self.manifest["files"]:
            raise ModelError(
                f"{self.folder} should contain {name}, but its manifest does not list it; export it again."
            )
        if file_digest(self.folder / name) != self.manifest["files"][name]:
            raise ModelError(f"{self.folder / name} is not the file of its manifest; export or install it again.")
        return self.folder / name


def installed() -> dict[str, Path]:
    """The folders of the installed parts, by kind. Reads and hashes nothing."""
    spec = find_spec(PACKAGE)  # a namespace: each distribution adds its parts
    folders = [Path(place) / kind for place in (spec and spec.submodule_search_locations) or () for kind in DIGESTS]
    return {folder.name: folder for folder in folders if folder.is_dir()}


def is_ready(kind: str) -> bool:
    """Whether such a part and its libraries are installed; the part may be damaged, so that loading it raises."""
    return kind in installed() and all(find_spec(library) is not None for library in RUNS)


def ready() -> dict[str, str]:
    """By kind, the digests of the parts that can run."""
    return {kind: digest for kind, digest in DIGESTS.items() if is_ready(kind)}


def part(kind: str, folder: str | os.PathLike[str] | None = None) -> Part:
    """From the folder, else from what is installed. Raises `ModelError` for no such part or a changed manifest."""
    if folder is not None:
        return _check_part(Path(folder), kind)
    if (place := installed().get(kind)) is None:
        raise ModelError(f"No trained {kind} is installed; in Toulmin's repository run: {INSTALL}, or {MAKE}.")
    if file_digest(place / _MANIFEST) != DIGESTS[kind]:
        what = f"{place / _MANIFEST} is not the file that was shipped with this version of Toulmin"
        raise ModelError(f"{what}; {_REINSTALL}")
    return _check_part(place, kind)


def _check_part(folder: Path, kind: str) -> Part:
    manifest = _json(folder / _MANIFEST)
    if manifest.get("kind") != kind or manifest.get("format") != FORMAT or not isinstance(manifest.get("files"), dict):
        raise ModelError(
            f"{folder} should be a trained {kind} of format {FORMAT}, but its manifest describes"
            f" {manifest.get('kind')!r}, format {manifest.get('format')!r}; name a folder that"
            " training/export.py wrote."
        )
    for name in manifest["files"]:
        if Path(name).name != name:
            raise ModelError(f"The manifest of {folder} should list files beside it, not {name!r}; export it again.")
    return Part(folder, str(manifest.get("name")), manifest, file_digest(folder / _MANIFEST))


def file_digest(path: Path) -> str:
    """SHA-256, in hex. Raises `ModelError`."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise ModelError(f"{path} cannot be read ({error.strerror}); export or install it again.") from error


def _json(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise ModelError(
            f"{path} should be the manifest of trained parts: {cause_of(error)}; export or install it again."
        ) from error
    if not isinstance(content, dict):
        raise ModelError(
            f"{path} should contain a JSON object, not a {type(content).__name__}; export or install it again."
        )
    return content


class Settings(NamedTuple):
    max_tokens: int
    excerpts: int


def settings(trained_part: Part) -> Settings:
    """Raises `ModelError` if the part was trained with another rule for excerpts."""
    try:
        content = json.loads(trained_part.file("settings.json").read_text("utf-8"))
        rule, made = content["rule"], Settings(int(content["max_tokens"]), int(content["excerpts"]))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ModelError(
            f"{trained_part.folder / 'settings.json'} should contain max_tokens, excerpts and rule: {error!r}"
        ) from error
    if rule != RULE or made.max_tokens < 8 or made.excerpts < 1:
        raise ModelError(
            f"{trained_part.folder} was trained with rule {rule} for excerpts, but this version uses rule {RULE};"
            " install weights and package of the same version."
        )
    return made


RULE = 1
