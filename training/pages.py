"""Pages of Debian's documentation packages, from which claims and questions are written.

    python training/pages.py PACKAGE... --out pages.jsonl [--each 14] [--seed 0]

Fetch packages with `apt-get download`, unpack them, and read their files with Toulmin's own loaders. A page is a run of
whole paragraphs, 1,400 to 3,200 characters, mostly sentences. A large package gives at most two pages of one file.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import random
import re
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from toulmin.documents.loaders import read_documents

KINDS = {".html", ".htm", ".txt", ".md", ".rst", ".pdf", ".pod", ".adoc", ".xhtml"}
BLOCK = re.compile(r"\n\s*\n")
SENTENCE = re.compile(r"[A-Z][^.!?]{25,}[.!?](?:\s|$)")


def unpack(package: str, folder: Path) -> str:
    """Fetch and unpack one package into the folder; return its version."""
    subprocess.run(["apt-get", "download", "-qq", package], cwd=folder, check=True, stderr=subprocess.DEVNULL)
    deb = next(folder.glob(f"{package}_*.deb"))
    subprocess.run(["dpkg-deb", "-x", deb.name, "files"], cwd=folder, check=True)
    return deb.name.split("_")[1].replace("%3a", ":")


def documents(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.rglob("*")):
        if not path.is_file() or path.is_symlink() or path.stat().st_size > 8_000_000:
            continue
        if path.suffix == ".gz" and path.with_suffix("").suffix in KINDS | {""}:
            plain = path.with_suffix("") if path.with_suffix("").suffix else path.with_suffix(".txt")
            plain.write_bytes(gzip.decompress(path.read_bytes()))
            path = plain
        elif path.suffix == "" and "common-licenses" in str(path):
            plain = path.with_suffix(".txt")
            plain.write_bytes(path.read_bytes())
            path = plain
        if path.suffix in KINDS and not re.search(r"(?i)changelog|copyright|news|genindex|todo", path.name):
            yield path


def is_prose(text: str) -> bool:
    letters = sum(c.isalpha() or c.isspace() for c in text) / max(len(text), 1)
    return letters > 0.8 and len(SENTENCE.findall(text)) >= 7


def pages_of(text: str) -> Iterator[list[str]]:
    """Runs of whole paragraphs, 1,400 to 3,200 characters each."""
    run: list[str] = []
    for block in (re.sub(r"[ \t]+", " ", b).strip() for b in BLOCK.split(text)):
        if not block:
            continue
        if run and sum(map(len, run)) + len(block) > 3_200:
            if sum(map(len, run)) >= 1_400:
                yield run
            run = []
        if len(block) <= 3_200:
            run.append(block)
    if sum(map(len, run)) >= 1_400:
        yield run


def sample(package: str, each: int, seed: int) -> Iterator[dict[str, object]]:
    dice = random.Random(f"{seed} {package}")
    with TemporaryDirectory() as name:
        folder = Path(name)
        version = unpack(package, folder)
        paths = list(documents(folder / "files"))
        dice.shuffle(paths)
        number = 0
        for path in paths[: each * 8]:
            try:
                loaded = list(read_documents(path))
            except Exception:
                continue
            text = "\n\n".join(d.text for d in loaded)
            pages = [page for page in pages_of(text) if is_prose("\n".join(page))]
            title = next((d.title for d in loaded if d.title), path.stem)
            for blocks in dice.sample(
                pages, min(len(pages), 2 if len(paths) > each // 2 else each // max(len(paths), 1))
            ):
                key = hashlib.sha256("\n".join(blocks).encode()).hexdigest()[:12]
                yield {
                    "page": key,
                    "source": package,
                    "version": version,
                    "file": str(path.relative_to(folder / "files")),
                    "title": title,
                    "blocks": blocks,
                }
                number += 1
                if number >= each:
                    return


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("packages", nargs="+")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--each", type=int, default=14)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    with options.out.open("w") as out:
        for package in options.packages:
            try:
                rows = list(sample(package, options.each, options.seed))
            except Exception as error:
                print(package, "failed", error)
                continue
            out.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
            out.flush()
            print(package, len(rows), flush=True)


if __name__ == "__main__":
    main()
