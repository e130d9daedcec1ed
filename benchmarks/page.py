"""How soon a reader sees the page, and the marked original of a long PDF after a click.

    python benchmarks/page.py FILE.pdf "A question that it answers" [--times 10]

A real server over that file, a real Chromium. `first paint` is the browser's own figure, in a window that knows
nothing of the page; `click` runs from a click on a sentence until its page is drawn with the boxes on it. Medians, and
the slowest. Targets: both under 0.5 s for 300 pages on two cores.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

import pypdfium2
from headings import heading
from playwright.sync_api import Browser, Page, sync_playwright
from served import served

PAINT = "performance.getEntriesByType('paint').find((one) => one.name === 'first-contentful-paint')?.startTime"
DRAWN = "document.querySelector('.sheet:has(.box) img')?.complete === true"


def until(page: Page, holds: str, seconds: float = 120.0) -> None:
    """Asks until it holds: what waits for itself in the page needs an `eval` that the page forbids."""
    end = perf_counter() + seconds
    while not page.evaluate(holds):
        if perf_counter() > end:
            raise SystemExit(f"{holds} did not come about in {seconds:.0f} s.")
        page.wait_for_timeout(5)


def first_paint(browser: Browser, url: str) -> float:
    context = browser.new_context()
    page = context.new_page()
    page.goto(url)
    page.wait_for_selector("#question")
    until(page, f"{PAINT} !== undefined")
    seconds = float(page.evaluate(PAINT)) / 1000
    context.close()
    return seconds


def click(page: Page) -> float:
    page.click(".evidence .close")
    page.wait_for_selector(".box", state="detached")
    began = perf_counter()
    page.click(".words >> nth=0")
    until(page, DRAWN)
    return perf_counter() - began


def show(name: str, seconds: Sequence[float]) -> None:
    print(f"{name:12}  median {statistics.median(seconds):.3f} s, slowest {max(seconds):.3f} s of {len(seconds)}")


def main() -> None:
    """Measures both and prints them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("question")
    parser.add_argument("--times", type=int, default=10)
    chosen = parser.parse_args()
    pages = len(pypdfium2.PdfDocument(chosen.file))
    print(heading("page.py", f"{chosen.file.name}: {pages} pages."))
    with TemporaryDirectory(prefix="toulmin-") as folder, sync_playwright() as driver:
        shutil.copy(chosen.file, folder)
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        with served("--docs", folder) as server:
            show("first paint", [first_paint(browser, server.url) for _ in range(chosen.times)])
            page = browser.new_page(viewport={"width": 1400, "height": 900})
            page.goto(server.url)
            page.fill("#question", chosen.question)
            page.click("button.main")
            until(page, DRAWN)
            show("click", [click(page) for _ in range(chosen.times)])
        browser.close()
    print("```")


if __name__ == "__main__":
    main()
