"""Put exported parts into the distributions that are installed beside the product.

    python training/shipping.py --judge DIR --reader DIR --encoder DIR

Other parts do not change. Each is checked by its own manifest, copied, and listed by that manifest's SHA-256 in
`weights.json`, which is what the package expects. Update the model card by hand before you commit.
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

ROOT = Path(__file__).parent.parent
PLACES = {
    "judge": ROOT / "weights" / "judge" / "src" / "toulmin_weights",
    "reader": ROOT / "weights" / "src" / "toulmin_weights",
    "encoder": ROOT / "weights" / "src" / "toulmin_weights",
}
EXPECTED = ROOT / "toulmin" / "runtime" / "weights.json"


def write_manifest(folder: Path, kind: str, name: str) -> None:
    """Lists the files of a part's folder with their hashes, under its kind and name."""
    files = sorted(file for file in folder.iterdir() if file.is_file() and file.name != "manifest.json")
    digests = {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in files}
    manifest = {"format": FORMAT, "kind": kind, "name": name, "files": digests}
    (folder / "manifest.json").write_text(json.dumps(manifest, indent=1) + "\n", "utf-8")


def ship(parts: Mapping[str, Path], places: Mapping[str, Path] = PLACES, expected: Path = EXPECTED) -> None:
    """Copies the parts to their places and lists them. A part that is not what its manifest says raises ModelError."""
    listed = json.loads(expected.read_text("utf-8"))
    for kind, folder in {kind: part(kind, folder).folder for kind, folder in parts.items()}.items():
        shutil.rmtree(places[kind] / kind, ignore_errors=True)
        shutil.copytree(folder, places[kind] / kind)
        listed[kind] = hashlib.sha256((places[kind] / kind / "manifest.json").read_bytes()).hexdigest()
    expected.write_text(json.dumps(listed, indent=1) + "\n", "utf-8")


def main(arguments: Sequence[str]) -> None:
    """Ships the parts that are named."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for kind in PLACES:
        parser.add_argument(f"--{kind}", type=Path)
    chosen = parser.parse_args(arguments)
    ship({kind: folder for kind in PLACES if (folder := getattr(chosen, kind)) is not None})


if __name__ == "__main__":
    main(sys.argv[1:])
