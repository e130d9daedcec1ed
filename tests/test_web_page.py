"""The page in a real browser: asking, reading evidence, checking, comparing, uploading; words stay words."""

from __future__ import annotations

import csv
import json
import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import docx
import pytest

pytest.importorskip("fastapi", reason="needs fastapi")

from axe_playwright_python.sync_playwright import Axe
from kinds_parts import pptx, shape
from pdf_writer import lines, pdf
from playwright.sync_api import Browser, Page, expect, sync_playwright
from report_parts import ATTACKS
from row_tables import table
from web_parts import Served, Slow, served, until

import toulmin
from toulmin.build.indexes import update_index
from toulmin.build.specs import Own
from toulmin.config import Settings
from toulmin.documents.loaders import read_documents
from toulmin.errors import ModelError
from toulmin.indexing.update import update

CHROMIUM = shutil.which("chromium")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium as `chromium` on the path")

QUESTION = "Who built Kettle Rock Tower?"
TOKEN = "a-token-of-some-length"
WEIGHTS = Path(__file__).parent.parent / "weights" / "judge" / "src" / "toulmin_weights" / "judge"
VIEWS = ("ask", "check", "table", "compare", "sources")
QUIET = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]


@dataclass
class Seen:
    """A page with everything that it told the console and asked for."""

    page: Page
    told: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as driver:
        found = driver.chromium.launch(executable_path=CHROMIUM, args=QUIET)
        yield found
        found.close()


@pytest.fixture
def visit(browser: Browser) -> Iterator[Callable[..., Seen]]:
    """Opens an address in a window of its own."""
    opened = []

    def look(url: str, width: int = 1280, scheme: Any = "light") -> Seen:
        context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
        opened.append(context)
        seen = Seen(context.new_page())
        seen.page.on("console", lambda message: seen.told.append(message.text))
        seen.page.on("pageerror", lambda error: seen.told.append(str(error)))
        seen.page.on("request", lambda request: seen.asked.append(request.url))
        seen.page.goto(url)
        return seen

    yield look
    for context in opened:
        context.close()


@pytest.fixture
def server(notes: Path) -> Iterator[Served]:
    with served(notes) as found:
        yield found


def ask(page: Page, question: str = QUESTION) -> None:
    page.fill("#question", question)
    page.click("button.main")


def open_details(page: Page) -> None:
    """How the answer was made, once its evidence stands beside it and nothing moves any more."""
    page.wait_for_selector("article.answer.open")
    page.click(".behind > summary")
    page.wait_for_selector(".behind[open]")


# ---------------------------------------------------------------- asking


def test_an_answer_shows_its_sentences_and_asks_nobody_else(server: Served, visit: Callable[..., Seen]):
    seen = visit(server.url)
    ask(seen.page)
    expect(seen.page.locator(".prose")).to_contain_text("Hannah Pell")
    expect(seen.page.locator(".signs")).to_contain_text("in the source")
    assert seen.told == []
    assert all(url.startswith(server.url) for url in seen.asked)


def marked(page: Page) -> str | None:
    return page.frame_locator(".readable").locator("mark").first.text_content()


def test_the_marked_words_of_the_original_are_the_quote(server: Served, visit: Callable[..., Seen]):
    page = visit(server.url).page
    ask(page)
    page.wait_for_url("**/answer/*")  # until then it is a draft
    id = page.url.rpartition("/")[2]
    answer = server.client.get(f"/v1/answers/{id}").json()
    assert marked(page) == answer["claims"][0]["citations"][0]["quote"]["text"]
    page.click("text=Show as text")
    assert page.locator("mark").first.text_content() == answer["claims"][0]["citations"][0]["quote"]["text"]


@pytest.fixture
def printed(tmp_path: Path) -> Iterator[Served]:
    """A server with a token over a PDF of three pages, the last of which answers."""
    folder, index = tmp_path / "printed", tmp_path / "library"
    folder.mkdir()
    other = [f"On day {n} the keeper wrote down the weather and the ships." for n in range(40)]
    said = [
        "The log of Kettle Rock ends here.",
        "The tower of Kettle Rock was built by Hannah",
        "Pell of Ghent in 1821.",
    ]
    (folder / "log.pdf").write_bytes(pdf([lines(*other), lines(*other), lines(*said)]))
    update_index([str(folder)], index, Settings())
    with served(index, token=TOKEN) as found:
        yield found


def test_one_click_shows_the_source_its_page_and_the_marked_sentence(printed: Served, visit: Callable[..., Seen]):
    seen = visit(printed.url)
    page = seen.page
    page.fill("#token", TOKEN)
    page.click("button.main")
    ask(page, "Who built the tower of Kettle Rock?")
    page.click(".words:has-text('Hannah Pell')")
    expect(page.locator(".evidence h2")).to_have_text("Log")
    expect(page.locator(".evidence .place")).to_contain_text("log.pdf, page 3")
    expect(page.locator(".turning")).to_contain_text("page 3 of 3")
    expect(page.locator(".sheet img[alt='Page 3']")).to_be_visible()
    module = "import('/text.js').then(({ place }) => place({ path: 'a/talk.pptx', page: 2 }, { page: 3 }))"
    assert page.evaluate(module) == "a/talk.pptx, slide 3"
    boxes = page.locator(".sheet:nth-child(3) .box")
    expect(boxes).to_have_count(2)  # a line each
    assert page.locator(".box").count() == 2
    pages, box = page.locator(".pages").bounding_box(), boxes.first.bounding_box()
    assert pages
    assert box
    assert pages["y"] <= box["y"] <= pages["y"] + pages["height"]
    page.click("[aria-label='Page before']")
    expect(page.locator(".turning")).to_contain_text("page 2 of 3")
    page.click("text=To the marked words")
    expect(page.locator(".turning")).to_contain_text("page 3 of 3")
    assert [told for told in seen.told if "401" not in told] == []  # before the token was given


def test_a_document_of_the_list_is_shown_on_click(printed: Served, visit: Callable[..., Seen]):
    page = visit(f"{printed.url}#/sources").page
    page.fill("#token", TOKEN)
    page.click("button.main")
    page.click(".documents li button")
    expect(page.locator(".sheet img[alt='Page 1']")).to_be_visible()
    page.focus(".evidence .close")
    page.keyboard.press("Escape")
    expect(page.locator(".evidence")).to_have_count(0)
    expect(page.locator(".documents li button").first).to_be_focused()


def test_a_reader_sees_which_claims_still_stand(notes: Path, visit: Callable[..., Seen]):
    index = notes.parent / "library"
    update(index, [notes])
    with served(index) as server:
        page = visit(server.url).page
        ask(page)
        page.wait_for_url("**/answer/*")
        open_details(page)
        page.click("text=Recheck against the sources")
        expect(page.locator(".standing")).to_contain_text("unchanged")
        told = page.locator(".words >> nth=0").locator("bdi").text_content()
        assert told is not None
        for path in notes.rglob("*"):
            if path.is_file() and "Hannah Pell" in path.read_text("utf-8", "replace"):
                path.write_text(path.read_text("utf-8").replace("Hannah Pell", "Tom Ashby"), "utf-8")
        update(index, [notes])
        id = page.url.rpartition("/")[2]
        assert until(lambda: "contradicted" in server.client.get(f"/v1/answers/{id}/recheck").json()["counts"])
        page.click("text=Recheck against the sources")
        expect(page.locator(".standing li").first).to_contain_text("The source now:")
        expect(page.locator(".standing li").first).to_contain_text("Tom Ashby")


def test_a_kept_answer_says_by_itself_whether_it_stands(notes: Path, server: Served, visit: Callable[..., Seen]):
    seen = visit(server.url)
    ask(seen.page)
    seen.page.wait_for_url("**/answer/*")
    badge = seen.page.locator(".reading > .standing")
    expect(badge).to_have_count(0)  # it has just been written
    assert not [url for url in seen.asked if url.endswith("/recheck")]
    seen.page.reload()
    expect(badge).to_contain_text("still supported")
    tower = notes / "tower.md"
    tower.write_text(tower.read_text("utf-8").replace("Hannah Pell", "Tom Ashby"), "utf-8")
    seen.page.reload()
    expect(badge).to_contain_text("no longer supported")
    expect(badge.locator("li")).to_have_count(0)
    badge.locator("button").click()
    expect(badge.locator("li").first).to_contain_text("Tom Ashby")
    expect(seen.page.locator(".signs")).to_contain_text("contradicted")
    expect(seen.page.locator(".prose .claim.contradicted")).not_to_have_count(0)
    seen.page.click(".prose .claim.contradicted .words >> nth=0")
    expect(seen.page.locator(".evidence .badge")).to_contain_text("The source now says")
    with seen.page.expect_response("**/recheck"):
        seen.page.route("**/recheck", lambda route: route.fulfill(status=404, body="{}"))
        seen.page.reload()
    expect(seen.page.locator(".prose")).to_contain_text("Hannah Pell")
    expect(badge).to_have_count(0)


def test_the_list_of_answers_marks_what_turned(notes: Path, server: Served, visit: Callable[..., Seen]):
    page = visit(server.url).page
    ask(page)
    page.wait_for_url("**/answer/*")
    tower = notes / "tower.md"
    tower.write_text(tower.read_text("utf-8").replace("Hannah Pell", "Tom Ashby"), "utf-8")
    assert until(lambda: server.client.get("/v1/rechecks").json()["changed"])
    page.goto(f"{server.url}#/ask")
    page.reload()
    expect(page.locator(".past li")).to_contain_text("changed since: 1 of")
    expect(page.locator(".past li")).to_contain_text("no longer supported")
    page.click(".past a")
    expect(page.locator(".prose .claim.contradicted")).to_have_count(1)
    expect(page.locator(".standing >> nth=0")).to_contain_text("written from the sources of")


@pytest.fixture
def dated(tmp_path: Path) -> Path:
    """Two documents: one states its date; of the other, only the day is known on which its file was changed."""
    folder = tmp_path / "dated"
    folder.mkdir()
    about = "authors: [Pell, Ashby]\ndate: 2019\nversion: v2\nlanguage: en\ntags: [towers, lamps]"
    (folder / "tower.md").write_text(
        f"---\ntitle: On towers\n{about}\n---\n# On towers\n\nKettle Rock Tower was built by Hannah Pell.\n", "utf-8"
    )
    (folder / "keepers.txt").write_text("The lamp of Kettle Rock Tower was lit in 1824.\n", "utf-8")
    changed = datetime(2026, 3, 4, 12, tzinfo=UTC).timestamp()
    os.utime(folder / "keepers.txt", (changed, changed))
    return folder


def test_sources_of_an_answer_show_author_and_age(dated: Path, visit: Callable[..., Seen]):
    stated, known = "Pell; Ashby · 2019, 7 years old", " · version 2 · in English · tags: towers, lamps"
    changed = "file changed 2026-03-04"
    with served(dated) as server:
        page = visit(server.url).page
        page.clock.set_fixed_time("2026-11-24")
        for question, name, words in [
            (QUESTION, f"On towers · {stated}", stated + known),
            ("When was the lamp of Kettle Rock Tower lit?", f"Keepers · {changed}", changed),
        ]:
            page.goto(server.url)
            ask(page, question)
            page.wait_for_url("**/answer/*")
            expect(page.locator(".listed .about")).to_have_text(words)
            expect(page.locator(".evidence .about")).to_have_text(words)
            expect(page.locator(".evidence .place")).not_to_contain_text("20")
            chip = page.locator(".claim .chip")
            expect(chip).to_have_attribute("title", name)
            expect(chip).to_have_accessible_name(f"Source 1: {name}")


def test_the_list_of_documents_shows_author_and_age(dated: Path, visit: Callable[..., Seen]):
    with served(dated) as server:
        rows = server.client.get("/v1/documents").json()["documents"]
        assert {row["metadata"]["date"]: row["metadata"]["tags"] for row in rows} == {
            "2019": ["towers", "lamps"],
            "2026-03-04": [],
        }
        page = visit(f"{server.url}#/sources").page
        expect(page.locator("li:has-text('tower.md') .about")).to_contain_text("Pell; Ashby · 2019, ")
        expect(page.locator("li:has-text('keepers.txt') .about")).to_have_text("file changed 2026-03-04")
        page.fill("#query", "Who built Kettle Rock Tower?")
        page.click("button.main")
        expect(page.locator(".hits .about").first).to_be_visible()
        page.click(".documents button:has-text('On towers')")
        expect(page.locator(".evidence .about")).to_contain_text("tags: towers, lamps")


@pytest.fixture
def start_page(server: Served, visit: Callable[..., Seen]) -> Page:
    return visit(server.url).page


@table(
    "date, words",
    [
        ("", ""),
        ("2019", "2019, 7 years old"),
        ("2026", "2026, this year"),
        ("2027", "2027"),
        ("2026-03", "March 2026, 8 months old"),
        ("2026-11", "November 2026, this month"),
        ("2026-12", "December 2026"),
        ("2024-12", "December 2024, 23 months old"),
        ("2024-11-25", "25 November 2024, 23 months old"),
        ("2024-11-24", "24 November 2024, 2 years old"),
        ("2025-12-25", "25 December 2025, 10 months old"),
        ("2026-10-25", "25 October 2026, 30 days old"),
        ("2026-11-23", "23 November 2026, 1 day old"),
        ("2026-11-24", "24 November 2026, today"),
        ("2026-11-25", "25 November 2026"),
        ("some day", "some day"),
    ],
)
def test_the_age_of_a_date_is_as_exact_as_the_date(start_page: Page, date: str, words: str):
    module = "([date, today]) => import('/metadata.js').then(({ about }) => about({ date }, new Date(today)))"
    assert start_page.evaluate(module, [date, "2026-11-24T12:00"]) == words


@table(
    "metadata, words",
    [
        ({"authors": list("abcdefg")}, "a; b; c; d; e and 2 more"),
        ({"language": "de-AT", "version": "Version of May"}, "version Version of May · in Austrian German"),
        ({"language": "de, en"}, "in de, en"),
        (None, ""),
    ],
)
def test_what_is_known_of_a_document_is_in_words(start_page: Page, metadata: Any, words: str):
    module = "(metadata) => import('/metadata.js').then(({ about }) => about(metadata))"
    assert start_page.evaluate(module, metadata) == words


def test_the_words_around_a_passage_can_be_read(tmp_path: Path, visit: Callable[..., Seen]):
    folder = tmp_path / "long"
    folder.mkdir()
    other = " ".join(f"On day {n} the keeper wrote down the weather and the ships." for n in range(60))
    (folder / "log.txt").write_text(f"{other} The tower was built by Hannah Pell. {other}", "utf-8")
    with served(folder) as server:
        page = visit(server.url).page
        ask(page, "Who built the tower?")
        page.click("text=Show as text")
        page.click("text=Show the text around it")
        expect(page.locator(".evidence .beside")).to_have_count(2)


def test_offsets_hold_behind_signs_of_two_units(tmp_path: Path, visit: Callable[..., Seen]):
    folder = tmp_path / "signs"
    folder.mkdir()
    (folder / "ship.txt").write_text("⛵🏴‍☠️🌊 Ahoy é! The lamp of 🗼 Kettle Rock was lit in 1824.\n", "utf-8")
    with served(folder) as server:
        page = visit(server.url).page
        ask(page, "When was the lamp of Kettle Rock lit?")
        page.click(".words >> nth=0")
        assert marked(page) == "The lamp of 🗼 Kettle Rock was lit in 1824."


@table(
    "text, words, is_beginning, span",
    [
        ("It is 38\nmetres tall. It is old.", "It is 38 metres tall.", False, "It is 38\nmetres tall."),
        ("🗼🌊 Lit in 1824 (by Pell)*.", "Lit in 1824 (by Pell)*.", False, "Lit in 1824 (by Pell)*."),
        ("⛵ The lamp was 🗼 lit by\nAshby. Then it fell.", "The lamp", True, "The lamp was 🗼 lit by\nAshby."),
        ("It weighs 2.5 tons\n\nNo more is known.", "It weighs", True, "It weighs 2.5 tons"),
        ("He “saw the sea.” And left.", "He “saw", True, "He “saw the sea.”"),
        ("灯台は古い。海は青い。", "灯台は", True, "灯台は古い。"),
        ("The lamp was lit.", "The lamps", True, None),
    ],
)
def test_quoted_words_are_found_in_a_text(start_page: Page, text: str, words: str, is_beginning: bool, span: str):
    module = "(args) => import('/text.js').then(({ find }) => find(...args))"
    place = start_page.evaluate(module, [text, words, is_beginning])
    assert (place and text[place["start"] : place["end"]]) == span


def follow(page: Page, question: str) -> None:
    page.wait_for_url("**/answer/*")  # until then it is a draft
    page.fill("#question", question)
    page.press("#question", "Enter")


def test_a_follow_up_shows_how_it_was_read_and_can_be_asked_as_typed(server: Served, visit: Callable[..., Seen]):
    page = visit(server.url).page
    ask(page, "How tall is Kettle Rock Tower?")
    follow(page, "Who built it?")
    expect(page.locator("h1.question")).to_have_text("Who built Kettle Rock Tower?")
    expect(page.locator(".asked")).to_contain_text("“Who built it?”")
    page.click("text=Ask exactly as typed")
    expect(page.locator("h1.question")).to_have_text("Who built it?")
    expect(page.locator(".asked")).to_have_count(0)


def test_a_conversation_grows_until_a_new_one_begins(server: Served, visit: Callable[..., Seen]):
    page = visit(server.url).page
    ask(page, "How tall is Kettle Rock Tower?")
    follow(page, "Who built it?")
    expect(page.locator("h1.question")).to_have_text("Who built Kettle Rock Tower?")
    expect(page.locator("#question")).to_have_value("")
    expect(page.locator(".tools").last).to_be_visible()
    follow(page, "When was it lit?")
    expect(page.locator("h1.question")).to_have_text("When was Kettle Rock Tower lit?")
    turns = page.locator("details.turn summary")
    assert turns.all_text_contents()[:1] == ["How tall is Kettle Rock Tower?"]
    expect(page.locator("details.turn")).to_have_count(2)
    page.click("text=New conversation")
    expect(page.locator("h1.welcome")).to_be_visible()
    expect(page.locator("details.turn, h1.question, .answer")).to_have_count(0)
    expect(page.locator("#question")).to_be_focused()
    ask(page, "Who built it?")
    expect(page.locator("h1.question")).to_have_text("Who built it?")


@pytest.mark.parametrize("width", [360, 1280])
def test_the_one_field_stays_in_sight_under_the_answer(server: Served, visit: Callable[..., Seen], width: int):
    id = server.client.post("/v1/answers", json={"question": QUESTION}).json()["id"]
    page = visit(f"{server.url}#/answer/{id}", width).page
    page.set_viewport_size({"width": width, "height": 500})
    page.locator(".tools select").first.wait_for()
    page.locator(".reading > .standing").wait_for()
    assert page.locator("textarea").count() == 1
    for end in (0, 99_999):
        page.evaluate(f"scrollTo(0, {end})")
        field, words = page.locator("form.ask").bounding_box(), page.locator(".reading").bounding_box()
        assert field
        assert words
        assert 350 < field["y"] + field["height"] <= 500
        assert field["height"] < 120
    assert words["y"] + words["height"] <= field["y"]
    if width > 1000:
        pane = page.locator(".evidence").bounding_box()
        assert pane
        assert field["x"] + field["width"] <= pane["x"]


def test_the_field_leads_back_to_the_answer(server: Served, visit: Callable[..., Seen]):
    page = visit(server.url).page
    ask(page)
    page.locator(".tools").first.wait_for()
    page.focus("#question")
    page.keyboard.press("Shift+Tab")
    expect(page.locator(":focus")).to_have_text("To the answer")
    page.keyboard.press("Enter")
    expect(page.locator(".words >> nth=0")).to_be_focused()


def test_the_options_of_a_conversation_go_on(server: Served, visit: Callable[..., Seen]):
    seen = visit(server.url)
    page = seen.page
    page.check("[name=way][value=report]", force=True)
    ask(page)
    page.wait_for_url("**/answer/*")
    expect(page.locator("fieldset.ways")).to_be_hidden()
    options = page.get_by_role("button", name="Options: report")
    options.click()
    page.check("[name=way][value=quick]", force=True)
    page.click("text=Advanced")
    page.fill("[name=k]", "3")
    with page.expect_request("**/v1/answers") as sending:
        follow(page, "How tall is it?")
    sent = sending.value.post_data_json
    assert (sent["k"], "style" in sent, len(sent["history"])) == (3, False, 1)
    expect(page.locator("fieldset.ways")).to_be_hidden()


def test_silence_of_the_sources_is_told(server: Served, visit: Callable[..., Seen]):
    page = visit(server.url).page
    ask(page, "How many satellites does the tower need?")
    expect(page.locator(".verdict")).to_have_count(1)
    expect(page.locator(".verdict")).to_contain_text("No answer in your documents")
    expect(page.locator(".near li").first).to_be_visible()


def test_an_empty_question_is_named(server: Served, visit: Callable[..., Seen]):
    page = visit(server.url).page
    page.click("button.main")
    expect(page.locator("[role=alert]")).to_have_text("Write a question first.")
    expect(page.locator("#question")).to_be_focused()
    expect(page.locator("#question")).to_have_attribute("aria-invalid", "true")


def test_the_start_says_what_is_searched_and_offers_questions(tmp_path: Path, visit: Callable[..., Seen]):
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "tower.md").write_text("# How was the tower built?\n\nThe tower was built of granite in 1821.\n", "utf-8")
    with served(folder) as server:
        page = visit(server.url).page
        expect(page.locator(".start")).to_contain_text("1 document (1 md)")
        page.click("text=How was the tower built?")
        expect(page.locator(".prose")).to_contain_text("granite")


def test_arrow_keys_walk_the_sentences_and_their_evidence(server: Served, visit: Callable[..., Seen]):
    page = visit(f"{server.url}#/check").page
    page.fill("#text", "Kettle Rock Tower was built by Hannah Pell. Three keepers lived there until 1978.")
    page.click("button.main")
    page.locator(".evidence").wait_for()
    page.focus(".words >> nth=0")
    page.keyboard.press("ArrowDown")
    expect(page.locator(".words >> nth=1")).to_be_focused()
    expect(page.locator(".evidence blockquote")).to_contain_text("Three keepers")
    page.keyboard.press("ArrowUp")
    expect(page.locator(".evidence blockquote")).to_contain_text("Hannah Pell")


def test_a_reader_says_what_a_sentence_is_and_takes_it_back(server: Served, visit: Callable[..., Seen]):
    page = visit(server.url).page
    ask(page)
    page.wait_for_url("**/answer/*")
    page.click(".saying button:has-text('Wrong source')")
    expect(page.locator(".saying")).to_contain_text("Saved")
    id = page.url.rpartition("/")[2]
    kept = [json.loads(line) for line in server.client.get("/v1/feedback").text.splitlines()]
    mine = [row for row in kept if row["answer"] == id]
    assert [(row["claim"], row["says"]) for row in mine] == [(0, "wrong source")]
    page.reload()
    expect(page.locator(".saying [aria-pressed=true]")).to_have_text("Wrong source")
    page.click(".saying [aria-pressed=true]")
    expect(page.locator(".saying [aria-pressed=true]")).to_have_count(0)
    assert server.client.get(f"/v1/answers/{id}/feedback").json() == {"claims": {}}


def test_a_reading_can_be_put_right(server: Served, visit: Callable[..., Seen]):
    page = visit(server.url).page
    ask(page, "How tall is Kettle Rock Tower?")
    follow(page, "Who built it?")
    page.click("text=Change how it is read")
    page.fill("#reading", "Who kept Kettle Rock Tower?")
    page.click("text=Ask this")
    expect(page.locator("h1.question")).to_have_text("Who kept Kettle Rock Tower?")
    expect(page.locator("details.turn")).to_have_count(1)


def test_a_limit_stays_in_a_conversation_until_it_is_removed(notes: Path, visit: Callable[..., Seen]):
    (notes / "tower.txt").write_text("Kettle Rock Tower was built by Tom Ashby.", "utf-8")
    with served(notes) as server:
        page = visit(server.url).page
        page.fill("#only-of", "kind:txt , not:title:lamp")
        ask(page)
        limited = page.locator(".limited")
        expect(limited).to_contain_text("documents: kind:txt, not:title:lamp.")
        expect(page.locator(".prose")).to_contain_text("Tom Ashby")
        for removed in (False, True):
            page.wait_for_url("**/answer/*")
            page.reload()  # an answer that is opened again has its limit too
            expect(page.locator("#only-of")).to_have_value("kind:txt, not:title:lamp")
            if removed:
                page.fill("#only-of", "")
            ask(page)
            expect(page.locator("#only-of")).to_be_visible(visible=not removed)
            expect(page.locator(".answer >> nth=-1").locator(".limited")).to_have_count(0 if removed else 1)


def test_a_wrong_filter_is_explained(server: Served, visit: Callable[..., Seen]):
    page = visit(server.url).page
    page.focus("#only-of")
    expect(page.locator("#only-of-help")).to_contain_text("tag:policy")
    page.fill("#only-of", "colour:blue")
    ask(page)
    expect(page.locator(".verdict.failed")).to_contain_text("not 'colour:blue'")
    expect(page.locator("#only-of")).to_have_value("colour:blue")
    expect(page.locator("#question")).to_have_value(QUESTION)
    page.fill("#only-of", "")
    page.click("button.main")
    expect(page.locator(".prose")).to_contain_text("Hannah Pell")


def test_a_failed_model_is_told(notes: Path, visit: Callable[..., Seen]):
    class Refusing(Slow):
        async def generate(self, requests: Any) -> Any:
            raise ModelError("The model cannot be reached; start it.")

    with served(notes, Settings(), Own(main=Refusing())) as server:
        page = visit(server.url).page
        ask(page)
        expect(page.locator(".verdict.failed")).to_contain_text("cannot be reached; start it")


def test_a_running_answer_can_be_stopped(notes: Path, visit: Callable[..., Seen]):
    slow = Slow()
    with served(notes, Settings(), Own(main=slow)) as server:
        page = visit(server.url).page
        ask(page)
        page.click("text=Stop")
        expect(page.locator("[role=alert]")).to_contain_text("Cancelled")
        expect(page.locator("#question")).to_have_value(QUESTION)
        assert until(lambda: server.running() == 0)


def test_an_answer_is_saved_as_a_word_document_with_its_proof(
    server: Served, tmp_path: Path, visit: Callable[..., Seen]
):
    page = visit(server.url).page
    ask(page)
    page.wait_for_url("**/answer/*")
    with page.expect_download() as saving:
        page.select_option(".tools select >> nth=0", "docx")
    saving.value.save_as(tmp_path / saving.value.suggested_filename)
    assert saving.value.suggested_filename == "answer.docx"
    (document,) = read_documents(tmp_path / "answer.docx")
    assert "Hannah Pell" in document.text


def test_a_link_opens_an_answer_again(server: Served, visit: Callable[..., Seen]):
    id = server.client.post("/v1/answers", json={"question": QUESTION}).json()["id"]
    page = visit(f"{server.url}#/answer/{id}").page
    expect(page.locator("h1.question")).to_have_text(QUESTION)


def test_a_link_to_no_answer_is_told(server: Served, visit: Callable[..., Seen]):
    page = visit(f"{server.url}#/answer/nothing").page
    expect(page.locator("[role=alert]")).to_contain_text("no answer 'nothing'")


def test_earlier_questions_are_kept_in_the_browser_and_can_be_forgotten(server: Served, visit: Callable[..., Seen]):
    page = visit(server.url).page
    ask(page)
    expect(page.locator(".tools").first).to_be_visible()
    page.goto(f"{server.url}#/sources")
    page.goto(f"{server.url}#/ask")
    page.reload()
    expect(page.locator(".past a")).to_have_text(QUESTION)
    page.click("text=Forget them")
    expect(page.locator(".past")).to_have_count(0)


def test_a_report_shows_its_sections_and_what_became_of_its_questions(server: Served, visit: Callable[..., Seen]):
    page = visit(server.url).page
    page.check("[name=way][value=report]", force=True)
    ask(page, "What is known of Kettle Rock Tower and its keepers?")
    expect(page.locator(".questions li").first).to_be_visible()
    expect(page.locator(".prose").first).to_be_visible()


def test_the_rounds_tell_what_was_searched(server: Served, visit: Callable[..., Seen]):
    page = visit(server.url).page
    ask(page)
    open_details(page)
    page.click(".rounds summary")
    expect(page.locator(".rounds")).to_contain_text("Searched")
    expect(page.locator(".rounds")).to_contain_text(QUESTION)


# ---------------------------------------------------------------- checking, comparing, sources


def test_a_check_marks_sentences_where_they_stand_and_offers_repairs(server: Served, visit: Callable[..., Seen]):
    page = visit(f"{server.url}#/check").page
    draft = "# My notes\n\n* Kettle Rock Tower was built by Hannah Pell.\n* The tower is 99 metres tall.\n"
    page.fill("#text", draft)
    page.click("button.main")
    page.click("text=Look for repairs")
    page.locator(".repairs").wait_for()
    assert (page.locator(".draft").text_content() or "").startswith("# My notes\n\n* Kettle Rock Tower was built")
    expect(page.locator(".draft .unsupported, .draft .contradicted")).to_have_count(1)
    expect(page.locator(".repairs ins")).to_contain_text("38 metres")
    page.click("text=Take it")
    expect(page.locator(".draft ins")).to_contain_text("38 metres")
    page.click("text=Put it into the field")
    made = page.input_value("#text")
    assert made.startswith("# My notes\n\n* Kettle Rock Tower was built by Hannah Pell.\n* ")
    assert "38 metres" in made
    assert "99 metres" not in made


def test_what_a_repair_would_leave_out_has_its_reason_and_can_be_refused(server: Served, visit: Callable[..., Seen]):
    page = visit(f"{server.url}#/check").page
    draft = "Sure! Kettle Rock Tower was built by Hannah Pell. Wolves ate the bishop of Ghent."
    page.fill("#text", draft)
    page.click("button.main")
    page.click("text=Look for repairs")
    item = page.locator(".repairs li")
    expect(item.locator("s")).to_have_text("Wolves ate the bishop of Ghent.")
    expect(item).to_contain_text("removed: no passage was found that supports it")
    expect(page.locator(".draft .unchecked")).to_contain_text("Sure!")
    page.click("text=Leave mine")
    page.click("text=Put it into the field")
    assert page.input_value("#text") == draft


def test_a_draft_can_be_opened_and_what_is_no_text_is_refused(
    server: Served, tmp_path: Path, visit: Callable[..., Seen]
):
    page = visit(f"{server.url}#/check").page
    (tmp_path / "draft.md").write_text("Kettle Rock Tower was built by Hannah Pell.", "utf-8")
    (tmp_path / "picture.md").write_bytes(b"\x00\x01")
    page.set_input_files("[type=file]", tmp_path / "draft.md")
    expect(page.locator("#text")).to_have_value("Kettle Rock Tower was built by Hannah Pell.")
    page.set_input_files("[type=file]", tmp_path / "picture.md")
    expect(page.locator("[role=alert]")).to_contain_text("picture.md is no plain text")


def test_a_word_document_comes_back_with_comments(server: Served, tmp_path: Path, visit: Callable[..., Seen]):
    draft = docx.Document()
    draft.add_paragraph("Kettle Rock Tower was built by Hannah Pell. The tower is 99 metres tall.")
    draft.save(str(tmp_path / "draft.docx"))
    page = visit(f"{server.url}#/check").page
    with page.expect_download() as saving:
        page.set_input_files("[type=file]", tmp_path / "draft.docx")
    assert saving.value.suggested_filename == "draft-checked.docx"
    saving.value.save_as(tmp_path / "checked.docx")
    comments = [comment.text for comment in docx.Document(str(tmp_path / "checked.docx")).comments]
    assert len(comments) == 1
    expect(page.locator(".check [role=status]")).to_contain_text("has a comment at each failing sentence")
    page.fill("#only-of", "kind:md")
    page.set_input_files("[type=file]", tmp_path / "checked.docx")
    expect(page.locator(".check [role=status]")).to_contain_text("checked against all documents")


def test_a_passage_that_says_what_the_cited_one_does_not_is_shown(server: Served, visit: Callable[..., Seen]):
    page = visit(f"{server.url}#/check").page
    page.fill("#text", "The lamp was lit in 1824 [2].")
    page.click("text=Passages that it cites")
    page.fill("#passages", "Lamp:\nThe lamp was lit in 1824.\n\nSea:\nThe sea was calm.")
    page.click("button.main")
    expect(page.locator(".evidence .badge")).to_contain_text("“Lamp” does")
    page.click("text=not cited: Lamp")
    expect(page.locator(".evidence")).to_contain_text("Not cited, but supports it")
    expect(page.locator(".evidence h2")).to_have_text("Lamp")


def test_a_check_reads_the_passages_that_are_pasted(server: Served, visit: Callable[..., Seen]):
    page = visit(f"{server.url}#/check").page
    page.fill("#text", "The lamp was lit in 1824 [1]. The sea was green [2].")
    page.click("text=Passages that it cites")
    page.fill("#passages", "Lamp:\nThe lamp was lit in 1824.\n\nThe sea was calm.")
    page.click("button.main")
    page.click(".words >> nth=0")
    expect(page.locator(".evidence h2")).to_contain_text("Lamp")


@table(
    "reason, span",
    [
        ("the source says “The tower was built in 1830.”", "The tower was built\nin 1830."),
        ("the source says “The tower was …”", "The tower was built\nin 1830."),
        (
            "“The log” (2025, newer) says “The keeper said “built in 1830” and left.”",
            "The keeper said “built in 1830” and left.",
        ),
        ("the source says “The tower was built in 1830.”; “Lamp” says it", "The tower was built\nin 1830."),
        ("the source says 1830, the claim says 1824; “Lamp” and “Log” say it", "The tower was built\nin 1830."),
        ("the source says “The tower fell.”", None),
        ("the sources say only part of this", None),
        (None, None),
    ],
)
def test_the_sentence_of_a_reason_is_found(start_page: Page, reason: str | None, span: str | None):
    text = "⛵ Log. The tower was built\nin 1830. The keeper said “built in 1830” and left."
    module = "([claim, text]) => import('/evidence.js').then(({ decisive }) => decisive(claim, text))"
    claim = {"text": "The tower was built in 1824.", "support": {"reason": reason}}
    place = start_page.evaluate(module, [claim, text])
    assert (place and text[place["start"] : place["end"]]) == span


@pytest.mark.parametrize("judge", ["lexical", f"embedded:{WEIGHTS}"], ids=["lexical", "embedded"])
def test_an_uncited_contradiction_opens_at_its_sentence(notes: Path, visit: Callable[..., Seen], judge: str):
    if judge != "lexical":
        pytest.importorskip("onnxruntime", reason="needs onnxruntime (extra: embedded)")
    sentence = (
        "The 🗼 bell\nof Kettle Rock was cast by Johan Moor of Bruges after the great storm, and hung on the upper"
        " gallery, where the keepers have rung it in every fog since, by day and by night."
    )
    (notes / "bell.md").write_text(f"# The bell 🔔\n\n⛵ It is heavy. {sentence} It cracked.\n", "utf-8")
    with served(notes, Settings(judge=judge)) as server:
        page = visit(f"{server.url}#/check").page
        page.fill("#text", sentence.replace("\n", " ").replace("Bruges", "Ghent"))
        page.click("button.main")
        expect(page.locator(".evidence .badge")).to_have_class("badge contradicted")
        expect(page.locator(".evidence .source")).to_contain_text("Found instead.")
        assert marked(page) == sentence
        page.click("text=Show as text")
        assert page.locator("mark").text_content() == sentence


def test_a_check_can_be_limited_to_some_documents(notes: Path, visit: Callable[..., Seen]):
    (notes / "tower.txt").write_text("Kettle Rock Tower was built by Tom Ashby in 1821.", "utf-8")
    with served(notes) as server:
        page = visit(f"{server.url}#/check").page
        page.fill("#text", "Kettle Rock Tower was built by Hannah Pell. The tower is 99 metres tall.")
        page.fill("#only-of", "kind:md")
        with page.expect_request("**/v1/check") as checking:
            page.click("button.main >> text=Check")
        assert checking.value.post_data_json["only"] == ["kind:md"]
        expect(page.locator(".limited")).to_have_text("Asked of 1 of 3 documents: kind:md.")
        page.fill("#only-of", "kind:txt")
        with page.expect_request("**/v1/check") as repairing:
            page.click("text=Look for repairs")
        assert repairing.value.post_data_json["only"] == ["kind:md"]  # of what was checked
        page.click("button.main >> text=Check")
        expect(page.locator(".limited")).to_have_text("Asked of 2 of 3 documents: kind:txt.")
        expect(page.locator(".draft .claim >> nth=0")).to_have_class("claim contradicted chosen")


def test_pasted_passages_are_not_limited(server: Served, visit: Callable[..., Seen]):
    page = visit(f"{server.url}#/check").page
    page.fill("#only-of", "kind:md")
    page.fill("#text", "The lamp was lit in 1824 [1].")
    page.click("text=Passages that it cites")
    page.fill("#passages", "The lamp was lit in 1824.")
    expect(page.locator("#only-of")).to_have_count(0)
    with page.expect_request("**/v1/check") as checking:
        page.click("button.main")
    assert "only" not in checking.value.post_data_json
    expect(page.locator(".draft .supported")).to_have_count(1)
    page.fill("#passages", "")
    expect(page.locator("#only-of")).to_have_value("kind:md")


def test_a_check_explains_a_wrong_filter(server: Served, visit: Callable[..., Seen]):
    page = visit(f"{server.url}#/check").page
    page.fill("#text", "The tower is 38 metres tall.")
    page.fill("#only-of", "colour:blue")
    page.click("button.main")
    expect(page.locator(".verdict.failed")).to_contain_text("not 'colour:blue'")


def test_two_methods_answer_side_by_side(server: Served, visit: Callable[..., Seen]):
    page = visit(f"{server.url}#/compare").page
    page.fill("#compared", QUESTION)
    page.select_option("[name=second]", "vtg")
    page.click("button.main")
    expect(page.locator("div.beside .prose")).to_have_count(2)
    assert page.locator("div.beside > section > h2").all_text_contents() == ["best", "vtg"]


# ---------------------------------------------------------------- a table


def fill(page: Page, *questions: str) -> None:
    page.fill("#questions", "\n".join(questions or (QUESTION,)))
    page.click("button.main")
    page.get_by_role("button", name="Fill the table").wait_for()


def test_each_document_answers_each_question_in_a_grid(server: Served, visit: Callable[..., Seen]):
    page = visit(f"{server.url}#/table").page
    fill(page, QUESTION, "", "When did the last keeper leave?", QUESTION)
    expect(page.locator(".grid th[scope=col]")).to_have_text([QUESTION, "When did the last keeper leave?"])
    expect(page.locator(".grid th[scope=row]")).to_have_text(["keepers.txt", "tower.md"])
    expect(page.locator(".grid td >> nth=3")).to_contain_text("Hannah Pell")
    expect(page.locator(".ask [role=status]")).to_contain_text("4 of 4 cells")


def test_a_cell_opens_its_words_in_the_original(server: Served, visit: Callable[..., Seen]):
    page = visit(f"{server.url}#/table").page
    fill(page)
    page.click("tr:has-text('tower.md') .words")
    assert "Hannah Pell" in (marked(page) or "")
    page.focus(".evidence .close")
    page.keyboard.press("Escape")
    expect(page.locator("tr:has-text('tower.md') .words")).to_be_focused()


def test_the_csv_of_the_page_is_that_of_the_command(notes: Path, tmp_path: Path, visit: Callable[..., Seen]):
    (notes / "-1+1.md").write_text('# =Odd, "tower"\n\n=1+1 Kettle Rock Tower was built by the Crown.\n', "utf-8")
    (notes / "talk.pptx").write_bytes(pptx([shape("The towers"), shape("Kettle Rock Tower was built by Hannah Pell.")]))
    front = "---\nauthors: [Pell, Ashby, Moor]\ndate: 2019-05\n---\n"
    (notes / "dated.md").write_text(f"{front}Kettle Rock Tower was built by Hannah Pell.\n", "utf-8")
    asked = [QUESTION, "How many keepers lived there?"]
    toulmin.table(asked, docs=notes, out=tmp_path / "command.csv")
    with served(notes) as server:
        page = visit(f"{server.url}#/table").page
        fill(page, *asked)
        with page.expect_download() as saving:
            page.click("text=Save as csv")
        saving.value.save_as(tmp_path / "page.csv")
    names = ("page.csv", "command.csv")
    files = [list(csv.reader((tmp_path / name).read_text("utf-8").splitlines())) for name in names]
    assert files[0] == files[1]
    assert [row[4] for row in files[0] if row[0] in ("dated.md", "talk.pptx")] == ["Pell et al. 2019", "slide 2"]


def test_a_table_names_how_many_files_could_not_be_read(notes: Path, visit: Callable[..., Seen]):
    (notes / "broken.pdf").write_bytes(b"%PDF-1.4 nothing")
    with served(notes) as server:
        page = visit(f"{server.url}#/table").page
        fill(page)
        expect(page.locator(".ask [role=status]")).to_contain_text("1 file could not be read (see Sources)")


def test_a_table_asks_only_what_it_lacks(server: Served, visit: Callable[..., Seen]):
    seen = visit(f"{server.url}#/table")
    for questions in ([QUESTION], [QUESTION, "When did the last keeper leave?"]):
        fill(seen.page, *questions)
        expect(seen.page.locator(".ask [role=status]")).to_contain_text(f"{2 * len(questions)} of")
    assert sum(url.endswith("/v1/answers") for url in seen.asked) == 4


def test_only_documents_that_pass_are_rows(server: Served, visit: Callable[..., Seen]):
    seen = visit(f"{server.url}#/table")
    rows = seen.page.locator(".grid th[scope=row]")
    seen.page.fill("#only-of", "kind:md, not:title:lamp")
    fill(seen.page)
    expect(rows).to_have_text(["tower.md"])
    expect(seen.page.locator(".ask [role=status]")).to_contain_text("1 of 1 cell,")
    seen.page.fill("#only-of", "")
    fill(seen.page)
    expect(rows).to_have_text(["keepers.txt", "tower.md"])
    assert sum(url.endswith("/v1/answers") for url in seen.asked) == 2


def test_a_table_explains_a_wrong_filter(server: Served, visit: Callable[..., Seen]):
    page = visit(f"{server.url}#/table").page
    page.fill("#only-of", "colour:blue")
    fill(page)
    expect(page.locator(".verdict.failed")).to_contain_text("not 'colour:blue'")
    page.fill("#only-of", "kind:pdf")
    fill(page)
    expect(page.locator(".verdict.failed")).to_contain_text("None of the 2 documents passes kind:pdf.")


def test_a_running_table_can_be_stopped(notes: Path, visit: Callable[..., Seen]):
    with served(notes, Settings(), Own(main=Slow())) as server:
        page = visit(f"{server.url}#/table").page
        page.fill("#questions", QUESTION)
        page.click("button.main")
        assert until(lambda: server.running() == 2)
        page.click("text=Stop")
        page.get_by_role("button", name="Fill the table").wait_for()
        assert until(lambda: server.running() == 0)
        expect(page.locator("[role=alert]")).to_have_count(0)


def test_sources_are_listed_and_searched(server: Served, visit: Callable[..., Seen]):
    page = visit(f"{server.url}#/sources").page
    expect(page.locator(".documents li")).to_have_count(2)
    page.fill("input[type=search]", "kee")
    expect(page.locator(".documents li")).to_have_count(1)
    page.fill("input[type=search]", "nothing of that name")
    expect(page.locator(".documents")).to_contain_text("No document of that name.")
    page.fill("#query", "keepers")
    page.click("button.main")
    expect(page.locator(".hits .text").first).to_contain_text("Three keepers")


def test_an_upload_says_which_file_could_not_be_read(notes: Path, tmp_path: Path, visit: Callable[..., Seen]):
    index = tmp_path / "library"
    update_index([str(notes)], index, Settings())
    good, bad = tmp_path / "birds.txt", tmp_path / "broken.pdf"
    good.write_text("Cormorants nest on Kettle Rock in May.\n", "utf-8")
    bad.write_bytes(b"%PDF-1.4 nothing")
    with served(index, token=TOKEN) as server:
        page = visit(f"{server.url}#/sources").page
        page.fill("#token", TOKEN)
        page.click("button.main")
        page.set_input_files("[type=file]", [good, bad])
        page.click("text=Upload")
        expect(page.locator(".skipped")).to_contain_text("broken.pdf")
        expect(page.locator(".documents li")).to_have_count(3)
        page.on("dialog", lambda dialog: dialog.accept())
        page.get_by_role("button", name="Remove").click()
        expect(page.locator(".documents li")).to_have_count(2)
        assert good.exists()


def test_an_upload_that_cannot_be_read_is_deleted_by_its_button(
    notes: Path, tmp_path: Path, visit: Callable[..., Seen]
):
    index = tmp_path / "library"
    broken = tmp_path / "library-uploads" / ("0" * 16) / "yearly-report.pdf"  # as a server leaves it that was killed
    broken.parent.mkdir(parents=True)
    broken.write_bytes(b"%PDF-1.4 nothing")
    update_index([str(notes), str(broken.parent.parent)], index, Settings())
    asked: list[str] = []
    with served(index, token=TOKEN) as server:
        page = visit(f"{server.url}#/sources").page
        page.fill("#token", TOKEN)
        page.click("button.main")
        page.click("text=1 file could not be read")
        item = page.locator(".unread li")
        expect(item).to_contain_text("yearly-report.pdf is a damaged PDF")
        expect(item).not_to_contain_text(str(tmp_path))
        page.once("dialog", lambda dialog: dialog.dismiss())
        page.get_by_role("button", name="Delete yearly-report.pdf").click()
        assert broken.exists()
        page.once("dialog", lambda dialog: (asked.append(dialog.message), dialog.accept()))
        page.get_by_role("button", name="Delete yearly-report.pdf").click()
        expect(page.locator(":focus")).to_have_text("yearly-report.pdf was deleted.")
        expect(page.locator(".unread")).to_have_count(0)
        assert (len(asked), broken.exists()) == (1, False)


def test_the_reason_of_an_upload_names_the_file_once(notes: Path, tmp_path: Path, visit: Callable[..., Seen]):
    update_index([str(notes)], tmp_path / "library", Settings())
    bad = tmp_path / "A report, 2024 (final).pdf"
    bad.write_bytes(b"%PDF-1.4 nothing")
    with served(tmp_path / "library", token=TOKEN) as server:
        page = visit(f"{server.url}#/sources", 380).page
        page.fill("#token", TOKEN)
        page.click("button.main")
        page.set_input_files("[type=file]", bad)
        page.click("text=Upload")
        expect(page.locator(".upload .skipped")).to_contain_text(
            "Not read: A report, 2024 (final).pdf is a damaged PDF"
        )
        expect(page.locator(".unread")).to_have_count(0)
        assert page.evaluate("document.documentElement.scrollWidth") <= 380


def test_an_upload_that_fails_says_so_and_can_be_sent_again(notes: Path, tmp_path: Path, visit: Callable[..., Seen]):
    update_index([str(notes)], tmp_path / "library", Settings())
    (tmp_path / "library-uploads").write_text("in the way of the folder")
    good = tmp_path / "birds.txt"
    good.write_text("Cormorants nest on Kettle Rock in May.\n", "utf-8")
    with served(tmp_path / "library", token=TOKEN) as server:
        page = visit(f"{server.url}#/sources").page
        page.fill("#token", TOKEN)
        page.click("button.main")
        page.set_input_files("[type=file]", good)
        page.click("text=Upload")
        expect(page.locator(".upload .verdict.failed")).to_contain_text("That did not work")
        (tmp_path / "library-uploads").unlink()
        page.click("text=Upload")
        expect(page.get_by_text("Read: birds.txt")).to_be_visible()


@pytest.fixture
def library(notes: Path, tmp_path: Path) -> Path:
    update_index([str(notes)], tmp_path / "library", Settings())
    return tmp_path / "library"


DROP = """([name, files]) => {
    const data = new DataTransfer();
    for (const [name, text] of files) data.items.add(new File([text], name));
    const event = new DragEvent(name, { dataTransfer: data, bubbles: true, cancelable: true });
    return document.querySelector("main").dispatchEvent(event);
}"""
BIRDS = ("birds.txt", "Cormorants nest on Kettle Rock in May.\n")


def test_files_dropped_on_the_page_become_documents(library: Path, visit: Callable[..., Seen]):
    with served(library) as server:
        page = visit(server.url).page
        page.locator(".start").wait_for()
        assert page.evaluate(DROP, ["dragenter", [BIRDS]]) is False
        expect(page.locator(".drop")).to_have_text("Drop to add to the documents")
        page.evaluate(DROP, ["drop", [BIRDS, ("seals.md", "Seals sleep on the rock."), ("broken.pdf", "%PDF-1.4")]])
        expect(page.locator(".drop")).to_have_count(0)
        report = page.locator(".drop-report")
        expect(report).to_contain_text("Read: birds.txt, seals.md")
        expect(report.locator(".skipped")).to_contain_text("broken.pdf")
        expect(page.locator(".start")).to_contain_text("4 documents")
        assert [one["id"] for one in Axe().run(page).response["violations"]] == []
        ask(page, "Which birds nest on Kettle Rock in May?")
        expect(page.locator(".prose")).to_contain_text("Cormorants")
        page.click("[aria-label='Close the report']")
        expect(report).to_have_count(0)


def drag(page: Page, kinds: str, paths: list[Path], x: float, y: float) -> None:
    """Drags files as a desktop does, which only the browser's own protocol can."""
    data = {"items": [], "files": [str(path) for path in paths], "dragOperationsMask": 1}
    session = page.context.new_cdp_session(page)
    for kind in kinds.split():
        session.send("Input.dispatchDragEvent", {"type": kind, "x": x, "y": y, "data": data})


def test_a_dropped_folder_is_read_and_the_list_shows_it(library: Path, tmp_path: Path, visit: Callable[..., Seen]):
    folder = tmp_path / "coast"
    (folder / "deep").mkdir(parents=True)
    (folder / "deep" / "birds.txt").write_text(BIRDS[1], "utf-8")
    (folder / ".hidden.txt").write_text("Nobody reads this.", "utf-8")
    (tmp_path / "seals.md").write_text("Seals sleep on the rock.", "utf-8")
    with served(library) as server:
        seen = visit(f"{server.url}#/sources")
        expect(seen.page.locator(".documents li")).to_have_count(2)
        drag(seen.page, "dragEnter dragOver drop", [folder, tmp_path / "seals.md"], 600, 300)
        expect(seen.page.locator(".drop-report")).to_contain_text("Read: birds.txt, seals.md")
        expect(seen.page.locator(".documents li")).to_have_count(4)
        assert seen.page.url == f"{server.url}#/sources"
        assert seen.told == []


def test_a_drop_on_a_shown_document_does_not_open_the_file(library: Path, tmp_path: Path, visit: Callable[..., Seen]):
    (tmp_path / "birds.txt").write_text(BIRDS[1], "utf-8")
    with served(library) as server:
        page = visit(server.url).page
        ask(page)
        page.frame_locator(".readable").locator("mark").first.wait_for()
        box = page.locator(".readable").bounding_box()
        assert box
        drag(page, "dragEnter dragOver drop", [tmp_path / "birds.txt"], box["x"] + 50, box["y"] + 50)
        expect(page.locator(".drop-report")).to_contain_text("Read: birds.txt")
        expect(page.frame_locator(".readable").locator("mark").first).to_be_visible()
        assert len(page.context.pages) == 1


def test_a_drop_is_refused_with_the_reason(library: Path, visit: Callable[..., Seen]):
    with served(library, Settings(uploads_mb=0)) as server:
        page = visit(server.url).page
        page.evaluate(DROP, ["dragenter", [BIRDS]])
        expect(page.locator(".drop")).to_contain_text("This server accepts no files")
        page.evaluate(DROP, ["drop", [BIRDS]])
        expect(page.locator(".drop-report")).to_contain_text("This server accepts no files")
        assert server.client.get("/v1/documents").json()["total"] == 2


def test_more_files_than_a_request_may_have_are_uploaded(library: Path, visit: Callable[..., Seen]):
    with served(library) as server:
        seen = visit(f"{server.url}#/sources")
        seen.page.locator(".upload").wait_for()
        files = [{"name": f"day{n}.txt", "mimeType": "text/plain", "buffer": b"Day %d." % n} for n in range(52)]
        seen.page.set_input_files("[type=file]", files)  # type: ignore[arg-type]
        seen.page.click("text=Upload")
        expect(seen.page.locator(".upload")).to_contain_text("day51.txt")
        expect(seen.page.locator("h1")).to_contain_text("54 documents")


def test_a_drop_on_the_field_of_drafts_opens_a_draft(library: Path, tmp_path: Path, visit: Callable[..., Seen]):
    (tmp_path / "birds.txt").write_text(BIRDS[1], "utf-8")
    with served(library) as server:
        page = visit(f"{server.url}#/check").page
        box = page.locator(".check [type=file]").bounding_box()
        assert box
        drag(page, "dragEnter dragOver drop", [tmp_path / "birds.txt"], box["x"] + 20, box["y"] + 10)
        expect(page.locator("#text")).to_have_value(BIRDS[1])
        expect(page.locator(".drop-report")).to_have_count(0)


def test_sources_tell_what_could_not_be_read(notes: Path, tmp_path: Path, visit: Callable[..., Seen]):
    bad = tmp_path / "<img src=x onerror=alert(1)>.pdf"
    bad.write_bytes(b"%PDF-1.4 nothing")
    update_index([str(notes), str(bad)], tmp_path / "library", Settings())
    with served(tmp_path / "library") as server:
        page = visit(f"{server.url}#/sources").page
        page.click("text=1 file could not be read")
        expect(page.locator(".unread li")).to_contain_text(bad.name)


def test_sources_show_what_a_document_lacks(notes: Path, visit: Callable[..., Seen]):
    (notes / "fluss.txt").write_bytes("Die Brücke führt über den Fluß.".encode("cp1252"))
    with served(notes) as server:
        page = visit(f"{server.url}#/sources").page
        expect(page.locator(".documents li:has(.remarks)")).to_contain_text("fluss.txt")
        expect(page.locator(".remarks")).to_have_text("not UTF-8, read as cp1252, a guess")


def test_an_answer_that_ends_with_a_failed_event_says_why(
    notes: Path, tmp_path: Path, visit: Callable[..., Seen], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    with served(notes) as server:
        for kept in tmp_path.glob("state/toulmin/answers/*"):
            kept.write_bytes(b"no database" * 1_000)
        page = visit(server.url).page
        ask(page)
        expect(page.locator(".verdict.failed")).to_contain_text("That did not work")
        expect(page.get_by_role("button", name="Ask", exact=True)).to_be_enabled()


# ---------------------------------------------------------------- people


def test_everything_can_be_done_by_keyboard(server: Served, visit: Callable[..., Seen]):
    page = visit(server.url).page
    expect(page.locator("#question")).to_be_focused()
    page.keyboard.type(QUESTION)
    page.keyboard.press("Enter")
    expect(page.locator(".tools").first).to_be_visible()
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Enter")  # "To the answer"
    page.keyboard.press("Enter")
    expect(page.locator(".evidence")).to_be_visible()
    page.focus(".evidence .close")
    page.keyboard.press("Escape")
    expect(page.locator(".evidence")).to_have_count(0)
    expect(page.locator(".words >> nth=0")).to_be_focused()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("view", VIEWS)
def test_axe_finds_no_violation(server: Served, visit: Callable[..., Seen], view: str, scheme: str):
    page = visit(f"{server.url}#/{view}", scheme=scheme).page
    page.wait_for_selector("button.main")
    page.wait_for_selector("h1", state="attached")
    violations = Axe().run(page).response["violations"]
    if view == "ask":
        ask(page)
        page.wait_for_url("**/answer/*")
        open_details(page)
        page.click(".rounds > summary")
        violations += Axe().run(page).response["violations"]
        page.click("text=Options: quick")
        ask(page, "How many satellites does the tower need?")
        page.locator(".near").wait_for()
        violations += Axe().run(page).response["violations"]
    if view == "check":
        page.fill("#text", "Kettle Rock Tower was built by Hannah Pell. The tower is 99 metres tall.")
        page.click("button.main")
        page.click("text=Look for repairs")
        page.locator(".repairs").wait_for()
        violations += Axe().run(page).response["violations"]
    if view == "table":
        fill(page)
        page.click(".grid .words >> nth=0")
        page.locator(".original").wait_for()
        violations += Axe().run(page).response["violations"]
    assert [(one["id"], [node["html"] for node in one["nodes"]]) for one in violations] == []


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize(("width", "scheme"), [(360, "light"), (360, "dark"), (1600, "light")])
def test_nothing_is_wider_than_the_screen(
    server: Served, visit: Callable[..., Seen], view: str, width: int, scheme: str
):
    seen = visit(f"{server.url}#/{view}", width, scheme)
    seen.page.wait_for_selector("button.main")
    if view == "ask":
        ask(seen.page)
        seen.page.click(".words >> nth=0")
    if view == "sources":
        seen.page.click(".documents li button >> nth=0")
        seen.page.locator(".original").wait_for()
    if view == "table":
        fill(seen.page)
        seen.page.click(".grid .words >> nth=0")
        seen.page.locator(".original").wait_for()
    assert seen.page.evaluate("document.documentElement.scrollWidth") <= width
    assert seen.told == []


def test_every_field_and_button_has_a_name(server: Served, visit: Callable[..., Seen]):
    page = visit(server.url).page
    for view in VIEWS:
        page.goto(f"{server.url}#/{view}")
        page.wait_for_selector("button.main")
        nameless = page.evaluate(
            "[...document.querySelectorAll('input, select, textarea, button')].filter((one) =>"
            " !(one.labels && one.labels.length) && !one.ariaLabel && !one.textContent.trim())"
            ".map((one) => one.outerHTML)"
        )
        assert nameless == []


def test_the_first_paint_needs_less_than_a_hundred_kilobytes(server: Served, visit: Callable[..., Seen]):
    page = visit(server.url).page
    page.wait_for_selector("#question")
    sizes = page.evaluate(
        "[...performance.getEntriesByType('resource'), ...performance.getEntriesByType('navigation')]"
        ".map((one) => one.transferSize)"
    )
    assert 10_000 < sum(sizes) < 100_000


# ---------------------------------------------------------------- attacks


def test_a_document_full_of_attacks_changes_nothing_but_its_own_text(tmp_path: Path, visit: Callable[..., Seen]):
    folder = tmp_path / "hostile"
    folder.mkdir()
    attacks = [attack.encode("utf-8", "ignore").decode() for attack in ATTACKS]  # a file holds no half characters
    for n, attack in enumerate(attacks):
        said = f"The lamp number {n} was lit by Hannah Pell in 18{n:02}."
        (folder / f"page{n}.txt").write_text(f"{said} {attack}\n", "utf-8")
        (folder / f"page{n}.html").write_text(f"<body>{attack}<p>The {said}</p>{attack}</body>", "utf-8")
        (folder / f"page{n}.md").write_text(f"{attack}\n\nHere {said}\n\n[{attack}](javascript:{attack})\n", "utf-8")
    with served(folder) as server:
        seen = visit(server.url)
        for n, attack in enumerate(attacks):
            if n:
                seen.page.click("text=New conversation")
            ask(seen.page, f"When was the lamp number {n} lit? {attack}")
            expect(seen.page.locator("h1.question")).to_contain_text(f"lamp number {n}")
            seen.page.locator(".tools").first.wait_for()
            for chip in seen.page.locator(".listed .chip").all():
                chip.click()
                seen.page.locator(".original").wait_for()
                expect(seen.page.frame_locator(".readable").locator("body")).to_contain_text("lamp number")
        assert all(url.startswith((server.url, f"blob:{server.url}", "about:")) for url in seen.asked)
        for frame in seen.page.frames:
            assert frame.evaluate("globalThis.harmed") is None
            assert frame.locator("main script, body script, main img:not([src='/icon.svg']), [onerror]").count() == 0
        assert seen.page.locator("iframe:not([sandbox='allow-same-origin'])").count() == 0
        assert not [told for told in seen.told if "refused" in told.lower() or "error" in told.lower()]
