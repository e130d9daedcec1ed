"""Record what the start page of the site shows: `.venv/bin/python docs/images/demos.py`.

Chromium draws the picture of a saved answer from a server over the demo's documents, one of them as an HTML page that
is written again with another year. The run without a network is printed into the page. `tests/test_docs.py` runs the
other commands of the page (`WRITE_DOCS=1` writes what they print).
"""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from markdown_it import MarkdownIt
from PIL import Image
from playwright.sync_api import Page, sync_playwright
from screens import COLOURS, DEMO, SCHEMES, serving

ROOT = Path(__file__).parents[2]
QUESTION = "When was the sea watch H4 finished?"
# What a program without a network can do, and then an answer.
OFFLINE = (
    """unshare -rn python3 -c "import socket; socket.create_connection(('192.0.2.1', 53))" 2>&1 | tail -1""",
    f'unshare -rn toulmin ask "{QUESTION}" --docs notes --style short',
)


def write_html(text: str, path: Path) -> None:
    path.write_text(f"<html lang=en><title>The sea watch H4</title>{MarkdownIt().render(text)}", "utf-8")


def draw(page: Page, notes: Path) -> None:
    """A saved answer after its source changed, in both schemes."""
    source, made = notes / "the_sea_watch_h4.md", notes / "the_sea_watch_h4.html"
    text = source.read_text("utf-8")
    source.unlink()
    write_html(text, made)
    with serving("--docs", str(notes)) as server:
        page.goto(server.url)
        page.fill("#question", QUESTION)
        page.click("button.main")
        page.wait_for_selector(".tools")
        write_html(text.replace("finished in 1759", "finished in 1761"), made)
        page.wait_for_timeout(15_000)  # the server reads a changed file some seconds later
        for scheme in SCHEMES:
            page.emulate_media(color_scheme=scheme)
            page.reload()
            page.click("text=What changed")
            page.click(".words >> nth=0")
            page.wait_for_timeout(2_000)
            picture = (
                Image.open(io.BytesIO(page.screenshot())).convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE)
            )
            picture.save(ROOT / "docs" / "images" / f"recheck-{scheme}.png", optimize=True)


def record(folder: Path) -> str:
    """The commands without a network, each with what it prints."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    lines = []
    for line in OFFLINE:
        printed = subprocess.check_output(
            line, shell=True, cwd=folder, env=os.environ | {"COLUMNS": "100", "PATH": path}, text=True
        )
        lines.append(f"$ {line}\n{printed.strip()}")
    return "\n\n".join(lines)


if __name__ == "__main__":
    start = ROOT / "docs" / "site" / "index.md"
    with tempfile.TemporaryDirectory() as place, sync_playwright() as driver:
        shutil.copytree(DEMO, Path(place) / "notes")
        before, _, rest = start.read_text("utf-8").partition("<!-- recorded -->")
        after = rest.partition("<!-- end -->")[2]
        text = f"<!-- recorded -->\n```text\n{record(Path(place))}\n```\n<!-- end -->"
        start.write_text(before + text + after, "utf-8")
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        draw(browser.new_page(viewport={"width": 1200, "height": 765}), Path(place) / "notes")
