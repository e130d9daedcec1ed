"""Teach on a machine with a GPU for ten minutes: send the base and the packs, bring back adapters.

    python training/gpu.py split BASE --out PARTS [--parts 5]      here: the base in 16 bits, in files to send
    python training/gpu.py keep FILE ... --into FOLDER             there, once for each file that arrives
    python training/gpu.py teach --into FOLDER --out OUT [options of teach.py]     there: join the base, then teach

`teach` takes the packs `rows-*.npz` and `dev.npz` of FOLDER unless others are named. What it writes to OUT for the way
back, `learnt.safetensors` and `metrics.jsonl`, is below 16 MiB with adapters of rank 16. `--device cpu` tries all of it
without a GPU.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

import teach
from safetensors.torch import load_file, save_file

WEIGHTS = "model.safetensors"
FILES = ("config.json", "tokenizer.json")
LIST = "parts.json"
BACK = ("learnt.safetensors", "metrics.jsonl")


def split(base: Path, out: Path, count: int) -> list[Path]:
    """The base's weights in 16 bits, in `count` files of like size, and a list of their hashes."""
    out.mkdir(parents=True, exist_ok=True)
    whole = out / WEIGHTS
    save_file({name: value.bfloat16() for name, value in load_file(base / WEIGHTS).items()}, whole)
    data = whole.read_bytes()
    whole.unlink()
    size = -(-len(data) // count)
    files = [out / f"base-{n:02}.part" for n in range(count)]
    for n, file in enumerate(files):
        file.write_bytes(data[n * size : (n + 1) * size])
    known = {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in files}
    (out / LIST).write_text(json.dumps(known, indent=1), "utf-8")
    for name in FILES:
        shutil.copyfile(base / name, out / name)
    return files


def join(parts: Path, base: Path) -> Path:
    """The base again. Raises SystemExit if a part is missing or is not the one that was sent."""
    base.mkdir(parents=True, exist_ok=True)
    with (base / WEIGHTS).open("wb") as whole:
        for name, sha in json.loads((parts / LIST).read_text("utf-8")).items():
            file = parts / name
            data = file.read_bytes() if file.exists() else b""
            if hashlib.sha256(data).hexdigest() != sha:
                raise SystemExit(f"{file} should have SHA-256 {sha}; send it again.")
            whole.write(data)
    for name in FILES:
        shutil.copyfile(parts / name, base / name)
    return base


def keep(files: Sequence[Path], into: Path) -> None:
    """Copies what arrived to a folder that the next call still finds."""
    into.mkdir(parents=True, exist_ok=True)
    for file in files:
        shutil.copyfile(file, into / file.name)


def learn(into: Path, out: Path, options: Sequence[str]) -> None:
    """Teaches in the folder, and copies to `out` what goes back."""
    base, run = join(into, into / "base"), into / "run"
    arguments = ["--start", str(base), "--out", str(run), *options]
    if "--rows" not in options:
        arguments += ["--rows", *map(str, sorted(into.glob("rows-*.npz")))]
    if "--dev" not in options and (into / "dev.npz").exists():
        arguments += ["--dev", str(into / "dev.npz")]
    teach.main(arguments)
    out.mkdir(parents=True, exist_ok=True)
    for name in BACK:
        shutil.copyfile(run / name, out / name)
        print(f"{out / name}: {(out / name).stat().st_size / 2**20:.1f} MiB")


def main(arguments: Sequence[str]) -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    cut = commands.add_parser("split", help="write the base in 16 bits, in parts")
    cut.add_argument("base", type=Path)
    cut.add_argument("--out", type=Path, required=True)
    cut.add_argument("--parts", type=int, default=5)
    kept = commands.add_parser("keep", help="copy what arrived to a folder that stays")
    kept.add_argument("files", type=Path, nargs="+")
    kept.add_argument("--into", type=Path, required=True)
    taught = commands.add_parser("teach", help="join the base and teach; other options are those of teach.py")
    taught.add_argument("--into", type=Path, required=True)
    taught.add_argument("--out", type=Path, required=True)
    chosen, others = parser.parse_known_args(arguments)
    if chosen.command == "split":
        for file in split(chosen.base, chosen.out, chosen.parts):
            print(f"{file}: {file.stat().st_size / 2**20:.1f} MiB")
    elif chosen.command == "keep":
        keep(chosen.files, chosen.into)
    else:
        learn(chosen.into, chosen.out, others)


if __name__ == "__main__":
    main(sys.argv[1:])
