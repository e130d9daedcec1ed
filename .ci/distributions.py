"""Checks what was built: `python .ci/distributions.py DIST`, in an environment with `packaging`.

Every distribution has a wheel and a source file that a package index takes. A wheel has its licence files and all files
of its sources, and asks for no version or extra of another distribution that is not in DIST too.
"""

from __future__ import annotations

import sys
import tomllib
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from email import message_from_bytes
from functools import cached_property
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parent.parent
PLACES = (".", "weights", "weights/judge", "integrations/*")
LARGEST = 95_000_000  # bytes; an index takes 100 MB


@dataclass(frozen=True)
class Distribution:
    """A folder with a `pyproject.toml`, and what was built of it."""

    folder: Path
    dist: Path

    @cached_property
    def settings(self) -> Mapping[str, Any]:
        return tomllib.loads((self.folder / "pyproject.toml").read_text("utf-8"))

    @property
    def name(self) -> str:
        return str(self.settings["project"]["name"])

    @property
    def files(self) -> list[Path]:
        return sorted(self.dist.glob(f"{self.name.replace('-', '_')}-[0-9]*"))

    @property
    def wheel(self) -> Wheel:
        return Wheel(next(path for path in self.files if path.suffix == ".whl"))

    def expected(self) -> set[str]:
        """The files that the wheel must have, beside those that the builder writes."""
        licences = {"LICENSE", *self.settings["project"]["license-files"]}
        builder = self.settings["tool"]["hatch"]["build"]["targets"]["wheel"]
        packages = [self.folder / name for name in builder["packages"]]
        sources = {
            path.relative_to(package.parent).as_posix()
            for package in packages
            for path in package.rglob("*")
            if path.is_file() and "__pycache__" not in path.parts
        }
        return sources | {f"{self.wheel.information}/licenses/{name}" for name in licences}


@dataclass(frozen=True)
class Wheel:
    path: Path

    @cached_property
    def names(self) -> set[str]:
        return set(zipfile.ZipFile(self.path).namelist())

    @property
    def version(self) -> str:
        return self.path.name.split("-")[1]

    @property
    def information(self) -> str:
        return "-".join(self.path.name.split("-")[:2]) + ".dist-info"

    def header(self, name: str) -> list[str]:
        metadata = zipfile.ZipFile(self.path).read(f"{self.information}/METADATA")
        return message_from_bytes(metadata).get_all(name, [])


def distributions(root: Path, dist: Path) -> list[Distribution]:
    projects = [path for place in PLACES for path in sorted(root.glob(f"{place}/pyproject.toml"))]
    return [Distribution(path.parent, dist) for path in projects]


def faults(root: Path, dist: Path) -> list[str]:
    every = distributions(root, dist)
    if incomplete := [each for each in every if [path.suffix for path in each.files] != [".whl", ".gz"]]:
        return [
            f"{each.name} has the files {[path.name for path in each.files]}; a .whl and a .tar.gz are expected."
            for each in incomplete
        ]
    large = [
        f"{path.name} is above 95 MB, too large for a package index."
        for each in every
        for path in each.files
        if path.stat().st_size > LARGEST
    ]
    absent = [
        f"{each.wheel.path.name} lacks {name}." for each in every for name in sorted(each.expected() - each.wheel.names)
    ]
    return [*large, *absent, *unmet_requirements({each.name: each.wheel for each in every})]


def unmet_requirements(wheels: Mapping[str, Wheel]) -> Iterator[str]:
    for wheel in wheels.values():
        for wanted in map(Requirement, wheel.header("Requires-Dist")):
            if (other := wheels.get(wanted.name)) is None:
                continue
            asks = f"{wheel.path.name} asks for {wanted}, but"
            if not wanted.specifier.contains(other.version):
                yield f"{asks} {other.path.name} was built."
            if extras := wanted.extras - set(other.header("Provides-Extra")):
                yield f"{asks} {wanted.name} has no extra {', '.join(sorted(extras))}."


if __name__ == "__main__":
    messages = faults(ROOT, Path(sys.argv[1]))
    sys.exit("\n".join(messages) or 0)
