"""Builds the second benchmark folder: real files that are not about software.

    python benchmarks/folder_2/build.py INTO [--cache DIR]

The script reads `files.tsv`, downloads each Debian package with `apt-get download`, writes the files and checks
their hashes. Run `apt-get update` first. The exit code is 1 if a file differs or is absent.
"""

import argparse
import csv
import gzip
import hashlib
import html
import re
import struct
import subprocess
import sys
import tempfile
import zlib
from pathlib import Path

DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
Row = dict[str, str]


def download(package: str, version: str, cache: Path) -> Path | None:
    """Returns the package file: from the cache, else the listed version, else the one on offer."""
    kept = cache / f"{package}_{version.replace(':', '%3a')}.deb"
    for asked in (f"{package}={version}", package):
        if kept.exists():
            return kept
        with tempfile.TemporaryDirectory(dir=cache) as scratch:
            subprocess.run(["apt-get", "download", "-qq", asked], cwd=scratch, capture_output=True)
            for found in Path(scratch).glob("*.deb"):
                if asked == package:
                    print(f"{package}: version {version} is gone, the script takes {found.name}", file=sys.stderr)
                    kept = cache / found.name
                found.rename(kept)
    return kept if kept.exists() else None


def number(digits: str) -> int:
    """Reads a number of a dict index."""
    value = 0
    for digit in digits:
        value = value * 64 + DIGITS.index(digit)
    return value


def letter(data: bytes, index: list[str], first: str) -> bytes:
    """Joins the entries of a dict database whose text starts with the letter."""
    places = {(number(start), number(length)) for _, start, length in (line.split("\t")[:3] for line in index)}
    entries = [data[start : start + length] for start, length in sorted(places)]
    return b"\n".join(entry for entry in entries if entry[:1].lower() == first.encode())


def markdown(data: bytes) -> bytes:
    """Turns XML into Markdown: titles and names become headings, all other elements become paragraphs."""
    text = re.sub(r"<!--.*?-->|<\?.*?\?>|<!DOCTYPE.*?>|<(refitem|picture)>.*?</\1>", "", data.decode(), flags=re.S)
    text = re.sub(r"\s+", " ", text)
    text = re.sub(r"<(title|name)>\s*", "\n\n## ", text)
    text = re.sub(r"</entry>\s*<entry[^>]*>", ": ", text)
    text = re.sub(r"<listitem>\s*(<para>)?", "\n\n- ", text)
    text = re.sub(r"</?(para|title|name|desc|item|row|entry|section|sect\d|varlistentry|term)\b[^>]*>", "\n\n", text)
    text = html.unescape(re.sub(r"<[^>]+>", "", text))
    lines = [line.strip() for line in text.split("\n\n")]
    return ("\n\n".join(line for line in lines if line) + "\n").encode()


def book(data: bytes, index: bytes, block: int) -> bytes:
    """Reads one book of a SWORD text: it keeps chapters and paragraphs and drops notes and marks."""
    start, length, _ = struct.unpack_from("<III", index, 12 * block)
    text = zlib.decompress(data[start : start + length]).decode()
    text = re.sub(r"\s+", " ", re.sub(r"<note\b.*?</note>|<l [^>]*sID[^>]*>", " ", text, flags=re.S))
    text = re.sub(r'<chapter n="(\d+)"[^>]*sID[^>]*>', r"\n\nChapter \1\n\n", text)
    text = re.sub(r'<div sID[^>]*x-p"/>|<lg sID[^>]*>|</title>', "\n\n", text)
    text = re.sub(r" +(?=[ ,.;:?!”’)])", "", html.unescape(re.sub(r"<[^>]+>", "", text)))
    return ("\n\n".join(part.strip() for part in text.split("\n\n") if part.strip()) + "\n").encode()


def content(root: Path, row: Row) -> bytes:
    """Reads a member of the unpacked package and converts it where the list asks for it."""
    member, _, part = row["member"].partition("#")
    data = (root / member).read_bytes()
    if member.endswith((".gz", ".dz")):
        data = gzip.decompress(data)
    if member.endswith(".bzz"):
        return book(data, (root / member).with_suffix(".bzs").read_bytes(), int(part))
    if part:
        index = (root / member.replace(".dict.dz", ".index")).read_text(encoding="utf-8")
        return letter(data, index.splitlines(), part)
    if member.endswith(".xml") and row["path"].endswith(".md"):
        return markdown(data)
    return data


def write(into: Path, rows: list[Row], cache: Path) -> int:
    """Writes the files of one package and returns how many are absent or differ."""
    package = rows[0]["package"]
    deb = download(package, rows[0]["version"], cache)
    if deb is None:
        print(f"{package}: apt-get cannot download it; run apt-get update first", file=sys.stderr)
        return len(rows)
    wrong = 0
    with tempfile.TemporaryDirectory() as root:
        subprocess.run(["dpkg-deb", "-x", str(deb), root], check=True)
        for row in rows:
            try:
                data = content(Path(root), row)
            except (OSError, ValueError, struct.error, zlib.error) as error:
                print(f"{row['path']}: the package does not give this file ({error})", file=sys.stderr)
                wrong += 1
                continue
            target = into / row["path"]
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)
            if hashlib.sha256(data).hexdigest() != row["sha256"]:
                print(f"{row['path']}: the file differs from the list", file=sys.stderr)
                wrong += 1
    return wrong


def main() -> int:
    """Builds the folder and returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("into", type=Path, help="the folder to build")
    parser.add_argument("--cache", type=Path, help="the folder that keeps the packages")
    asked = parser.parse_args()
    with open(Path(__file__).with_name("files.tsv"), encoding="utf-8", newline="") as table:
        rows = list(csv.DictReader(table, delimiter="\t"))
    with tempfile.TemporaryDirectory() as scratch:
        cache = (asked.cache or Path(scratch)).resolve()
        cache.mkdir(parents=True, exist_ok=True)
        names = dict.fromkeys(row["package"] for row in rows)
        wrong = sum(write(asked.into, [row for row in rows if row["package"] == name], cache) for name in names)
    print(f"{len(rows) - wrong} of {len(rows)} files are as listed", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
