"""Pictures of the page in every state, light and dark, for the documentation: `docs/images`.

    python docs/images/screens.py [--out docs/images] [--only NAME]

A real server over the demo documents, a real Chromium. The pictures are made smaller by a palette of 64 colours.
"""

from __future__ import annotations

import argparse
import io
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

from PIL import Image
from playwright.sync_api import Browser, FilePayload, Page, sync_playwright

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))
from served import serving

from toulmin.build.indexes import update_index
from toulmin.config import Settings

DEMO = Path(__file__).parents[2] / "toulmin" / "demo" / "longitude"
QUESTION = "Which reward did the Longitude Act offer for finding longitude at sea?"
REPORT = "How was longitude found at sea?"
UNKNOWN = "How many satellites does a receiver need?"
PASTED = "The Longitude Act was passed in 1714. It offered 90,000 pounds. Harrison finished H4 in 1759."
TOKEN = "a token for pictures alone"
NOBODY = ("--model", "mine:model", "--set", "servers.mine.base_url=http://127.0.0.1:9/v1")  # nothing listens there
FILES: list[FilePayload] = [
    {"name": "tides.txt", "mimeType": "text/plain", "buffer": b"Tides follow the moon."},
    {"name": "broken.pdf", "mimeType": "application/pdf", "buffer": b"%PDF-1.4 nothing"},
]
COLOURS = 64
Scheme = Literal["light", "dark"]
SCHEMES: tuple[Scheme, ...] = ("light", "dark")


def start(page: Page, url: str) -> None:
    """Nothing asked yet."""
    page.wait_for_selector("#question")


def answer(page: Page, url: str) -> None:
    """An answer, and the words behind one of its sentences."""
    _ask(page, QUESTION)
    page.wait_for_selector(".tools")
    page.click(".words >> nth=0")
    page.frame_locator(".readable").locator("mark").first.wait_for()


def rounds(page: Page, url: str) -> None:
    """How an answer came to be."""
    _ask(page, QUESTION)
    page.wait_for_selector(".tools")
    page.click(".behind > summary")
    page.click(".rounds summary")


def abstained(page: Page, url: str) -> None:
    """The sources do not say."""
    _ask(page, UNKNOWN)
    page.wait_for_selector(".verdict")


def failed(page: Page, url: str) -> None:
    """The model cannot be reached."""
    _ask(page, QUESTION)
    page.wait_for_selector(".verdict.failed", timeout=120_000)


def report(page: Page, url: str) -> None:
    """A report with its questions."""
    page.check("[name=way][value=report]", force=True)
    _ask(page, REPORT)
    page.wait_for_selector(".tools")
    page.wait_for_selector(".questions")


def check(page: Page, url: str) -> None:
    """A pasted text, judged and put right."""
    page.goto(f"{url}/#/check")
    page.fill("#text", PASTED)
    page.click("button.main")
    page.click("text=Look for repairs")
    page.wait_for_selector(".repairs li")


def compare(page: Page, url: str) -> None:
    """Two methods on one question."""
    page.goto(f"{url}/#/compare")
    page.fill("#compared", QUESTION)
    page.click("button.main")
    page.locator("div.beside .behind").nth(1).wait_for()


def sources(page: Page, url: str) -> None:
    """What is searched, with an upload of which one file could not be read."""
    page.goto(f"{url}/#/sources")
    page.fill("#token", TOKEN)
    page.click("button.main")
    page.set_input_files("[type=file]", FILES)
    page.click("text=Upload")
    page.wait_for_selector(".skipped")
    page.wait_for_selector("text=Remove")
    page.click(".documents li button >> nth=0")
    page.frame_locator(".readable").locator("p").first.wait_for()


STATES: dict[str, Callable[[Page, str], None]] = {
    one.__name__: one for one in (start, answer, rounds, abstained, failed, report, check, compare, sources)
}


@contextmanager
def place_of(name: str) -> Iterator[tuple[str, ...]]:
    """What the server of that state is started with."""
    with tempfile.TemporaryDirectory(prefix="toulmin-") as place:
        notes, library = Path(place) / "notes", Path(place) / "library"
        shutil.copytree(DEMO, notes)
        if name == "sources":
            update_index([str(notes)], library, Settings())
            yield "--index", str(library), "--token", TOKEN
        else:
            yield "--docs", str(notes), *(NOBODY if name == "failed" else ())


def draw(browser: Browser, url: str, name: str, out: Path) -> None:
    """The state in both schemes, and the answer on a small screen too."""
    sizes = [(scheme, 1200, name) for scheme in SCHEMES]
    sizes += [("light", 380, f"{name}-small")] if name == "answer" else []
    for scheme, width, told in sizes:
        context = browser.new_context(viewport={"width": width, "height": 780}, color_scheme=scheme)
        page = context.new_page()
        page.goto(url)
        page.wait_for_selector("form")
        STATES[name](page, url)
        page.wait_for_timeout(300)  # fonts and the end of scrolling
        picture = Image.open(io.BytesIO(page.screenshot(full_page=name in ("rounds", "report")))).convert("RGB")
        file = out / f"{told}-{scheme}.png"
        picture.quantize(COLOURS, dither=Image.Dither.NONE).save(file, optimize=True)
        print(f"{file}: {file.stat().st_size / 1e3:.0f} KB", flush=True)
        context.close()


def main() -> None:
    """Draws all states, or one."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("docs/images"))
    parser.add_argument("--only", choices=STATES)
    chosen = parser.parse_args()
    chosen.out.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        for name in STATES if chosen.only is None else [chosen.only]:
            with place_of(name) as arguments, serving(*arguments) as found:
                draw(browser, found.url, name, chosen.out)
        browser.close()


def _ask(page: Page, question: str) -> None:
    page.fill("#question", question)
    page.click("button.main")


if __name__ == "__main__":
    main()
