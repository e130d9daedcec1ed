"""The HTML of an answer in a real browser: it fetches nothing, runs nothing, and shows its evidence on a click."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect, sync_playwright
from test_exports import HOSTILE, answer_of

from toulmin.formats.html_page import fragment
from toulmin.formats.press import export_answer

CHROMIUM = shutil.which("chromium")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium as `chromium` on the path")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        yield browser
        browser.close()


def written(folder: Path, text: str, form: str) -> Path:
    answer = answer_of(text, title=text, quote=text)
    file = folder / f"{form}.html"
    if form == "page":
        file.write_bytes(export_answer(answer, "html"))
    else:
        file.write_text(f"<!doctype html><meta charset=utf-8><body>{fragment(answer)}</body>", "utf-8")
    return file


@pytest.mark.parametrize("form", ["page", "notebook"])
def test_nothing_runs_and_nothing_is_fetched(form: str, browser: Browser, tmp_path: Path):
    page = browser.new_page()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    for text in HOSTILE:
        asked.clear()
        page.goto(written(tmp_path, text, form).as_uri())
        for summary in page.locator("summary").all():
            summary.click()
        page.keyboard.press("Tab")
        assert page.evaluate("globalThis.harmed") is None, text
        assert [url for url in asked if not url.startswith("file:")] == [], text
        assert len(asked) == 1, text
    page.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1280])
def test_a_sentence_opens_its_evidence_by_click_and_by_key(scheme: str, width: int, browser: Browser, tmp_path: Path):
    page = browser.new_page(viewport={"width": width, "height": 800}, color_scheme=scheme)
    page.goto(written(tmp_path, "It lost little time.", "page").as_uri())
    first, second = page.locator(".claim").all()[:2]
    expect(first.locator("mark")).to_be_hidden()
    boxes = [claim.locator("summary").bounding_box() for claim in (first, second)]
    assert boxes[1]["y"] <= boxes[0]["y"] + boxes[0]["height"]  # sentences flow
    first.locator("summary").click()
    expect(first.locator("mark")).to_have_text("It lost little time.")
    second.locator("summary").press("Enter")
    expect(second.locator(".verdict")).to_contain_text("unsupported (0.10)")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.close()
