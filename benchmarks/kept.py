"""Documents that people keep, held against their sources: how often `check` errs over manuals, how long it takes.

    python $TOULMIN_DATA/folder/fetch_folder.py docs --cache debs       478 files of Debian's documentation
    python benchmarks/kept.py docs [--pages 200]

The 200 sentences of `folder_claims.jsonl`, written by hand over those files, half of them false, become pages of a
handbook, which are checked against the files. Printed are the rules by which the true ones and the false ones fail, for
the judge, and for the same with a search by meaning too. Then a page of thirty claims, and shorter
HTML pages of the folder itself, are timed: at first, again with what that kept, and after a source changed.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from headings import heading

import toulmin
from toulmin.checking.findings import RULES, CheckedFile

CLAIMS = [json.loads(line) for line in Path(__file__).with_name("folder_claims.jsonl").read_text("utf-8").splitlines()]
ON_A_PAGE = 30
MOST_BYTES = 20_000  # of an HTML page of usual length


def pages(folder: Path, texts: Sequence[str], size: int = ON_A_PAGE) -> list[Path]:
    """Markdown pages with so many paragraphs each."""
    files = []
    for n in range(0, len(texts), size):
        files.append(folder / f"page{n // size + 1}.md")
        files[-1].write_text(f"# Page {n // size + 1}\n\n" + "\n\n".join(texts[n : n + size]) + "\n", "utf-8")
    return files


def show_rules(name: str, files: Sequence[CheckedFile]) -> None:
    """How many of the true claims and of the false ones fail by each rule."""
    truth = {" ".join(claim["claim"].split()): claim["true"] for claim in CLAIMS}
    rules = {finding.claim.text: finding.rule for file in files for finding in file.findings}
    for is_true in (True, False):
        texts = [text for text, known in truth.items() if known is is_true]
        counts = Counter(rules.get(text, "none") for text in texts)
        print(f"{name:10} {'true' if is_true else 'false':5}", *(f"{counts[rule]:>12}" for rule in (*RULES, "none")))


def time_check(what: str, files: Sequence[Path], docs: Path, folder: Path) -> None:
    """How long a check takes at first, again with what it kept, and after a source changed."""
    seconds, memo, source = [], folder / f"{len(files)}.sqlite", folder / "source.md"
    for is_changed in (False, False, True):
        if is_changed:
            source.write_text(f"A source that changed before {len(files)} files.\n", "utf-8")
            toulmin.index([docs, source], into=folder / "index")
        start = time.perf_counter()
        checked = toulmin.check_files(*files, index=folder / "index", memo=memo)
        seconds.append(f"{time.perf_counter() - start:.1f} s")
    claims = sum(claim.support is not None for file in checked for claim in file.answer.claims)
    print(f"{what}: {len(files)} files, {claims:,} claims in", ", ".join(seconds))


def main() -> None:
    """Checks the claims by hand, then times."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("docs", type=Path)
    parser.add_argument("--pages", type=int, default=200)
    chosen = parser.parse_args()
    print(heading("kept.py", f"{len(CLAIMS)} claims by hand."))
    with TemporaryDirectory() as name:
        folder = Path(name)
        index = folder / "index"
        toulmin.index(chosen.docs, into=index)
        files = pages(folder, [claim["claim"] for claim in CLAIMS])
        print(f"{'judge':10} {'':5}", *(f"{rule:>12}" for rule in (*RULES, "supported")))
        show_rules("large", toulmin.check_files(*files, index=index, memo=False))
        show_rules("by meaning", toulmin.check_files(*files, index=index, memo=False, fusion="rerank"))
        page = pages(folder, [claim["claim"] for claim in CLAIMS if claim["true"]][:ON_A_PAGE])
        time_check("a page", page, chosen.docs, folder)
        html = sorted(path for path in chosen.docs.rglob("*.html") if path.stat().st_size <= MOST_BYTES)
        count = min(chosen.pages, len(html))
        spread = [html[n * len(html) // count] for n in range(count)]
        time_check(f"pages of at most {MOST_BYTES // 1000} kB", spread, chosen.docs, folder)
    print("```")


if __name__ == "__main__":
    main()
