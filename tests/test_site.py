"""The documentation site: how `docs/site/pages.py` lays pages out, what `docs/site/check.py` finds, and the built site
in a browser, where there is one (`bash .ci/site`).
"""

from __future__ import annotations

import functools
import http.server
import importlib.util
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent
SITE = ROOT / "build" / "site"


def script(name: str) -> Any:
    spec = importlib.util.spec_from_file_location(f"site_{name}", ROOT / "docs" / "site" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def pages() -> Any:
    return script("pages")


@pytest.mark.parametrize(
    ("link", "page"),
    [
        ("[a](judges.md#table)", "[a](../judges.md#table)"),
        ("[a](../README.md#try-it)", "[a](../index.md#install)"),
        ("[a](../benchmarks/RESULTS.md)", "[a](../results.md)"),
        ("[a](decisions/)", "[a](../decisions/index.md)"),
        ("[a](images/answer-light.png)", "[a](../images/answer-light.png)"),
        ("[a](../pyproject.toml)", "[a](https://github.com/toulmin/toulmin/blob/main/pyproject.toml)"),
        ("[a](../toulmin)", "[a](https://github.com/toulmin/toulmin/tree/main/toulmin)"),
        ("[a](https://example.org)", "[a](https://example.org)"),
        ("```text\n[a](nothing.md)\n```", "```text\n[a](nothing.md)\n```"),
    ],
)
def test_a_link_of_a_file_leads_from_its_page(pages: Any, link: str, page: str):
    assert pages.site_markdown(link, ROOT / "docs" / "python.md", "guides/python.md") == page


def test_a_link_to_nothing_stops_the_build(pages: Any):
    with pytest.raises(FileNotFoundError):
        pages.site_markdown("[a](nothing.md)", ROOT / "docs" / "python.md", "python.md")


def test_every_page_is_in_the_menu(pages: Any):
    menu = pages.list_of_pages()
    uris = {uri for path, uri in pages.PAGES.items() if "decisions/0" not in path}
    assert [uri for uri in uris if f"]({uri})" not in menu] == []


def test_every_setting_command_and_object_is_on_a_page(pages: Any):
    from toulmin.config import Settings

    assert [name for name in Settings.__dataclass_fields__ if f"| `{name}` |" not in pages.settings()] == []
    assert "\n## toulmin recheck\n" in pages.help_texts()
    assert "\n## CitationDocument\n" in pages.schema_tables()


def test_each_public_name_is_on_one_page_of_the_reference(pages: Any):
    homes = {*pages.PUBLIC.values(), *pages.EXTENSION.values()} - {"toulmin.toulmin.aio", "toulmin.aio"}
    homes = {home for home in homes if not home.startswith("toulmin.sync.")} | {*pages.FUNCTIONS}
    shown = [*pages.DATA, *pages.FUNCTIONS, *pages.TYPES, *pages.OF_EXTENSIONS]
    assert sorted(shown) == sorted(home for home in homes if "prompts.types" not in home)  # that module is shown whole


def test_the_check_finds_dead_links_and_what_is_fetched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    pytest.importorskip("markdownify")
    check = script("check")
    monkeypatch.setattr(check, "SITE", tmp_path)
    (tmp_path / "a.html").write_text("<h1 id=here></h1>")
    text = "<a href=a.html#here></a><a href=a.html#gone></a><a href=b.html></a><img src='https://example.org/x.png'>"
    found = list(check.faults("index.html", check.Tree(text), {"a.html": {"here"}}))
    assert found == [
        "index.html: a.html#gone has no such anchor",
        "index.html: b.html leads nowhere",
        "index.html: fetches https://example.org/x.png",
    ]


# ---------------------------------------------------------------- the built site


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    if not (SITE / "index.html").exists() or shutil.which("chromium") is None:
        pytest.skip("needs the built site (bash .ci/site) and Chromium")
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=SITE)) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()
        thread.join()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_pages_are_accessible_fit_and_fetch_nothing(address: str, scheme: str, width: int):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    from playwright.sync_api import sync_playwright

    faults: list[str] = []
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
        page.on(
            "request", lambda request: request.url.startswith((address, "blob:", "data:")) or faults.append(request.url)
        )
        for name in ("index", "guides/files", "reference/toulmin", "reference/data", "comparison"):
            page.goto(f"{address}{name}.html")
            page.wait_for_timeout(500)  # the theme's script
            faults += [f"{name}: {violation['id']}" for violation in axe.run(page).response["violations"]]
            if page.evaluate("document.documentElement.scrollWidth > innerWidth"):
                faults.append(f"{name} is wider than the screen")
        browser.close()
    assert faults == []


def test_the_search_finds_a_page(address: str):
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page()
        page.goto(address)
        page.wait_for_timeout(500)
        page.keyboard.press("Control+k")
        page.keyboard.type("recheck", delay=30)
        page.locator("a[role=option][href*='/recheck.html']").first.wait_for()
        browser.close()
