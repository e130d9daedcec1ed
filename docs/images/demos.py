"""Record what the start page of the site shows: `.venv/bin/python docs/images/demos.py`.

Chromium draws the picture of a saved answer from a server over the demo's documents, one of them as an HTML page that
is written again with another year. The run without a network is printed into the page. `tests/test_docs.py` runs the
other commands of the page (`WRITE_DOCS=1` writes what they print).
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import httpx2
from markdown_it import MarkdownIt
from playwright.sync_api import Page, sync_playwright
from screens import DEMO, STATES, draw, serving

ROOT = Path(__file__).parents[2]
QUESTION = "When was the sea watch H4 finished?"
# What a program without a network can do, and then an answer.
OFFLINE = (
    """unshare -rn python3 -c "import socket; socket.create_connection(('192.0.2.1', 53))" 2>&1 | tail -1""",
    f'unshare -rn toulmin ask "{QUESTION}" --docs notes --style short',
)


def record(folder: Path) -> str:
    """The commands without a network, each with what it prints."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    options = {"shell": True, "cwd": folder, "env": os.environ | {"COLUMNS": "100", "PATH": path}, "text": True}
    return "\n\n".join(f"$ {line}\n{subprocess.check_output(line, **options).strip()}" for line in OFFLINE)


def reopen(page: Page, url: str) -> None:
    """The newest saved answer, and what changed."""
    page.goto(f"{url}/#/answer/{ANSWERS[-1]}")
    page.click("text=What changed")
    page.click(".words >> nth=0")
    page.wait_for_timeout(1_000)


ANSWERS: list[str] = []
STATES["recheck"] = reopen


def draw_recheck(notes: Path) -> None:
    source = (notes / "the_sea_watch_h4.md").rename(notes / "the_sea_watch_h4.html")
    html = f"<html lang=en><title>The sea watch H4</title>{MarkdownIt().render(source.read_text('utf-8'))}"
    source.write_text(html, "utf-8")
    with serving("--docs", str(notes)) as server, sync_playwright() as driver, httpx2.Client(timeout=60) as client:
        ANSWERS.append(client.post(f"{server.url}/v1/answers", json={"question": QUESTION}).json()["id"])
        source.write_text(html.replace("finished in 1759", "finished in 1761"), "utf-8")
        while "contradicted" not in client.get(f"{server.url}/v1/answers/{ANSWERS[-1]}/recheck").json()["counts"]:
            time.sleep(1)
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        draw(browser, server.url, "recheck", ROOT / "docs" / "images")


if __name__ == "__main__":
    page = ROOT / "docs" / "site" / "index.md"
    with tempfile.TemporaryDirectory() as place:
        shutil.copytree(DEMO, Path(place) / "notes")
        block = f"<!-- recorded -->\n```text\n{record(Path(place))}\n```\n<!-- end -->"
        text = re.sub("<!-- recorded -->.*?<!-- end -->", lambda _: block, page.read_text("utf-8"), flags=re.DOTALL)
        page.write_text(text, "utf-8")
        draw_recheck(Path(place) / "notes")
