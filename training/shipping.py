"""Put exported parts into the distribution that is installed beside the product.

    python training/shipping.py --judge DIR --large DIR --reader DIR --encoder DIR [--into weights/src/toulmin_weights]

Other parts do not change. Each is checked by its own manifest, copied, and listed by that manifest's
SHA-256; together they are at most 200 MB. Update the model card by hand before you commit.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from toulmin.runtime.shipped import FORMAT, part

PACKAGE = Path(__file__).parent.parent / "weights" / "src" / "toulmin_weights"
KNOWN = (
    Path(__file__).parent.parent / "toulmin" / "runtime" / "weights.json"
)  # what the package that reads them expects
KINDS = ("judge", "large", "reader", "encoder")
MOST = 200_000_000  # bytes


def write_manifest(folder: Path, kind: str, name: str) -> None:
    """Lists the files of a part's folder with their hashes, under its kind and name."""
    files = sorted(file for file in folder.iterdir() if file.is_file() and file.name != "manifest.json")
    digests = {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in files}
    manifest = {"format": FORMAT, "kind": kind, "name": name, "files": digests}
    (folder / "manifest.json").write_text(json.dumps(manifest, indent=1) + "\n", "utf-8")


def ship(parts: Mapping[str, Path], into: Path) -> int:
    """Copies the parts and lists them; the bytes that all parts have then. Raises SystemExit above the limit."""
    manifest = into / "manifest.json"
    listed = json.loads(manifest.read_text("utf-8"))["parts"]
    held = {kind: part(kind, folder) for kind, folder in parts.items()}
    kept = {kind: into / kind for kind in listed if kind not in held}
    size = sum(_size(folder) for folder in (*kept.values(), *parts.values()))
    if size > MOST:
        raise SystemExit(f"The parts should have {MOST:,} bytes at most, but have {size:,}; nothing was changed.")
    for kind, shipped in held.items():
        shutil.rmtree(into / kind, ignore_errors=True)
        shutil.copytree(shipped.folder, into / kind)
        listed[kind] = hashlib.sha256((into / kind / "manifest.json").read_bytes()).hexdigest()
    manifest.write_text(json.dumps({"parts": listed}, indent=1) + "\n", "utf-8")
    if into == PACKAGE:
        KNOWN.write_text(json.dumps(listed, indent=1) + "\n", "utf-8")
    return size


def _size(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.iterdir())


def main(arguments: Sequence[str]) -> None:
    """Ships the parts that are named."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for kind in KINDS:
        parser.add_argument(f"--{kind}", type=Path)
    parser.add_argument("--into", type=Path, default=PACKAGE)
    chosen = parser.parse_args(arguments)
    parts = {kind: folder for kind in KINDS if (folder := getattr(chosen, kind)) is not None}
    print(f"{chosen.into}: {ship(parts, chosen.into) / 1e6:.1f} MB in {', '.join(parts) or 'nothing new'}")


if __name__ == "__main__":
    main(sys.argv[1:])
