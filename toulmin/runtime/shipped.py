"""The trained parts on this machine: the distribution `toulmin-weights`, or a folder with one part.

Rules of this file
* A part's `manifest.json` contains its kind ("judge", "reader", "encoder"), name, format and the SHA-256 of its files;
  the distribution's manifest contains the SHA-256 of each part's manifest, and so does `weights.json` of this package.
* A file is hashed before it is loaded, and refused if the hash is wrong. Of the distribution, a file that was edited
  together with its manifests is refused, too; a folder that a user names is only held against its own manifest.
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
INSTALL = "pip install ./weights '.[embedded]'"
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
        """Raises `ModelError` unless the manifest lists the file."""
        if name not in self.manifest["files"]:
            raise ModelError(
                f"{self.folder} should contain {name}, but its manifest does not list it; export it again."
            )
        return self.folder / name


def part_digests() -> dict[str, str]:
    """The SHA-256 of each installed part's manifest, by kind; empty without weights. Hashes nothing."""
    folder = _distribution_folder()
    if folder is None:
        return {}
    parts = _json(folder / _MANIFEST).get("parts")
    if not isinstance(parts, dict) or not all(isinstance(digest, str) for digest in parts.values()):
        raise ModelError(f"The manifest of {folder} should list its parts by kind; {_REINSTALL}")
    return dict(parts)


def is_ready(kind: str) -> bool:
    """Whether such a part and its libraries are installed; true for a broken distribution, so that loading raises."""
    if any(find_spec(library) is None for library in RUNS):
        return False
    try:
        return kind in part_digests()
    except ModelError:
        return True


def ready() -> dict[str, str]:
    """The `part_digests` of parts that can run; empty if the distribution is broken."""
    try:
        return {kind: digest for kind, digest in part_digests().items() if is_ready(kind)}
    except ModelError:
        return {}


def part(kind: str, folder: str | os.PathLike[str] | None = None) -> Part:
    """From the folder, else from the distribution. Raises `ModelError` for no such part or a changed file."""
    if folder is not None:
        return _check_part(Path(folder), kind)
    distribution, parts = _distribution_folder(), part_digests()
    if distribution is None or not parts:
        name = "large judge" if kind == "large" else kind
        raise ModelError(f"No trained {name} is installed; in Toulmin's repository run: {INSTALL}, or {MAKE}.")
    if kind not in parts:
        raise ModelError(f"The installed weights contain no {kind}, only {', '.join(parts)}; {MAKE}.")
    part_folder = distribution / kind
    if not _digest(part_folder / _MANIFEST) == parts[kind] == DIGESTS.get(kind):
        what = f"{part_folder / _MANIFEST} is not the file that was shipped with this version of Toulmin"
        raise ModelError(f"{what}; {_REINSTALL}")
    return _check_part(part_folder, kind)


def _distribution_folder() -> Path | None:
    spec = find_spec(PACKAGE)
    return next(map(Path, (spec and spec.submodule_search_locations) or ()), None)


def _check_part(folder: Path, kind: str) -> Part:
    manifest = _json(folder / _MANIFEST)
    if manifest.get("kind") != kind or manifest.get("format") != FORMAT or not isinstance(manifest.get("files"), dict):
        raise ModelError(
            f"{folder} should be a trained {kind} of format {FORMAT}, but its manifest describes"
            f" {manifest.get('kind')!r}, format {manifest.get('format')!r}; name a folder that"
            " training/export.py wrote."
        )
    for name, wanted in manifest["files"].items():
        if Path(name).name != name:
            raise ModelError(f"The manifest of {folder} should list files beside it, not {name!r}; export it again.")
        if _digest(folder / name) != wanted:
            raise ModelError(f"{folder / name} is not the file of its manifest; export or install it again.")
    return Part(folder, str(manifest.get("name")), manifest, _digest(folder / _MANIFEST))


def _digest(path: Path) -> str:
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
