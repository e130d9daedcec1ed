"""The report in a real browser: every number opens its sentences, nothing leaves the file, words stay words."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright
from report_parts import ATTACKS, beside, runs, silent

from toulmin.evaluation import plots
from toulmin.evaluation.report_contents import html

CHROMIUM = shutil.which("chromium")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium as `chromium` on the path")

SIZES = (380, 1400)
SCHEMES = ("light", "dark")


@dataclass
class Seen:
    """A page with everything that it told the console and asked for."""

    page: Page
    told: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as driver:
        found = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield found
        found.close()


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report of two runs, its words harmless."""
    shown = runs(2, 8)
    return written(tmp_path_factory, html(shown, beside(shown), plots.inline(shown[:1])))


@pytest.fixture(scope="module")
def attacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report in which every word of a document, question or answer wants to be more than a word."""
    shown = [one for n, attack in enumerate(ATTACKS) for one in runs(1, 2, seed=n, attack=attack)]
    return written(
        tmp_path_factory, html(shown, beside(shown), plots.inline([silent(one) for one in shown]), title=ATTACKS[1])
    )


def written(folder: pytest.TempPathFactory, page: str) -> Path:
    path = folder.mktemp("report") / "report.html"
    path.write_text(page, "utf-8")
    return path


@pytest.fixture
def visit(browser: Browser) -> Iterator[Callable[..., Seen]]:
    """Opens a file in a window of its own, and sees what it tells and asks for."""
    opened = []

    def look(path: Path, width: int = 1400, scheme: Any = "light", **options: Any) -> Seen:
        context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme, **options)
        opened.append(context)
        seen = Seen(context.new_page())
        seen.page.on("console", lambda message: seen.told.append(message.text))
        seen.page.on("pageerror", lambda error: seen.told.append(str(error)))
        seen.page.on("request", lambda request: seen.asked.append(request.url))
        seen.page.goto(path.as_uri())
        return seen

    yield look
    for context in opened:
        context.close()


def open_all(page: Page) -> None:
    """Opens the first number's first questions, with every passage and every detail in them."""
    page.locator(".number").first.click()
    for question in page.locator("button.question").all()[:4]:
        question.click()
    page.evaluate("document.querySelectorAll('button.cite').forEach((button) => button.click())")
    page.evaluate("document.querySelectorAll('details').forEach((one) => one.setAttribute('open', ''))")
    page.wait_for_timeout(50)


def overflow(page: Page) -> int:
    width: int = page.evaluate("document.documentElement.scrollWidth - innerWidth")
    return width


# ---------------------------------------------------------------- nothing leaves the file


def test_a_report_tells_no_error_and_asks_for_nothing_but_itself(file: Path, visit: Callable[..., Seen]):
    seen = visit(file)
    open_all(seen.page)
    assert (seen.told, seen.asked) == ([], [file.as_uri()])


def test_words_that_want_to_be_more_stay_words(attacked: Path, visit: Callable[..., Seen]):
    seen = visit(attacked)
    open_all(seen.page)
    assert seen.page.evaluate("globalThis.harmed") is None
    assert (seen.told, seen.asked) == ([], [attacked.as_uri()])


def test_no_element_comes_of_words(attacked: Path, visit: Callable[..., Seen]):
    page = visit(attacked).page
    open_all(page)
    named = "script, a, style, :not(figure) > img, [onload], [onfocus]"
    odd = f"document.querySelectorAll('main :is({named})').length"
    assert page.evaluate(odd) == 0


def test_words_that_want_to_be_more_can_be_read(attacked: Path, visit: Callable[..., Seen]):
    page = visit(attacked).page
    assert ATTACKS[0] in page.locator(".metrics thead").inner_text()


def test_words_from_right_to_left_turn_round_nothing_beside_them(attacked: Path, visit: Callable[..., Seen]):
    page = visit(attacked).page
    loose = """[...document.querySelectorAll('main *')].filter((e) => e.childNodes.length === 1
        && e.firstChild.nodeType === 3 && e.textContent.includes('\\u202e')
        && !['isolate', 'plaintext', 'isolate-override'].includes(getComputedStyle(e).unicodeBidi)).length"""
    assert page.evaluate(loose) == 0


def test_an_address_that_names_nothing_opens_nothing(file: Path, visit: Callable[..., Seen]):
    seen = visit(file)
    for odd in ("#table=9&run=0&metric=length", "#table=0&run=0&metric=__proto__", "#table=x", "#%E0%A4%A"):
        seen.page.evaluate("(hash) => { location.hash = hash }", odd)
    assert (seen.page.locator(".behind").count(), seen.told) == (0, [])


# ---------------------------------------------------------------- every number opens its sentences


def test_every_number_opens_its_questions(file: Path, visit: Callable[..., Seen]):
    page = visit(file).page
    buttons = page.locator("button.number")
    assert buttons.count() == 2 * 6 + 5  # of two runs five metrics and the failed ones; five differences
    for button in buttons.all():
        button.click()
        assert button.get_attribute("aria-pressed") == "true"
        told = page.locator(".behind [role=status]").inner_text()
        assert told == f"{page.locator('.rows > li').count()} question{'' if told.startswith('1 ') else 's'}"


def test_a_number_opens_as_many_questions_as_it_counts(file: Path, visit: Callable[..., Seen]):
    page = visit(file).page
    button = page.get_by_role("button", name="length of run 1:")
    label = button.get_attribute("aria-label") or ""
    button.click()
    assert f" {page.locator('.rows > li').count()} questions. Open" in label


def test_a_question_opens_the_sentences_of_every_run(file: Path, visit: Callable[..., Seen]):
    page = visit(file).page
    page.locator(".number").first.click()
    for question in page.locator("button.question").all():
        question.click()
    answers = page.locator(".answer")
    assert answers.count() == 2 * page.locator("button.question").count()
    for answer in answers.all():
        assert (
            answer.locator(".statement").count()
            or "sentence" in answer.inner_text()
            or "sources" in answer.inner_text()
        )


def test_a_citation_opens_its_passage_with_the_decisive_words_marked(file: Path, visit: Callable[..., Seen]):
    page = visit(file).page
    page.locator(".number").first.click()
    for question in page.locator("button.question").all():
        question.click()
    page.evaluate("document.querySelectorAll('button.cite').forEach((button) => button.click())")
    quotes = [
        citation["quote"]["text"]
        for run in runs(2, 8)
        for answer in run.answers
        for claim in answer["claims"]
        for citation in claim["citations"]
    ]
    marked = page.locator(".passage mark").all_text_contents()
    assert marked
    assert set(marked) <= set(quotes)


def test_a_verdict_is_told_by_colour_shape_and_word(file: Path, visit: Callable[..., Seen]):
    page = visit(file).page
    page.locator(".number").first.click()
    for question in page.locator("button.question").all():
        question.click()
    look = """(e) => [e.firstChild.nodeName, e.childNodes[1].textContent, getComputedStyle(e).color,
        e.firstChild.firstChild.getAttribute('d')]"""
    found = [one.evaluate(look) for one in page.locator(".statement > .verdict").all()]
    kinds = {tuple(one) for one in found}
    for part in (1, 3):
        assert len({kind[part] for kind in kinds}) == len({kind[1] for kind in kinds}) > 2
    assert {kind[0] for kind in kinds} == {"svg"}


def test_questions_stand_in_the_order_that_was_asked_for(file: Path, visit: Callable[..., Seen]):
    page = visit(file).page
    page.get_by_role("button", name="length of run 0:").click()

    def values() -> list[float]:
        return [
            float(text)
            for text in page.locator(".rows .values > span:first-child").evaluate_all(
                "(all) => all.map((e) => e.lastChild.textContent)"
            )
        ]

    lowest = values()
    page.get_by_label("Order").select_option("high")
    assert lowest == sorted(lowest)
    assert values() == lowest[::-1]


def test_a_difference_opens_with_the_largest_loss(file: Path, visit: Callable[..., Seen]):
    page = visit(file).page
    page.get_by_role("button", name="length of run 1 beside run 0").click()
    told = page.locator(".rows .values > span:last-child").evaluate_all(
        "(all) => all.map((e) => e.lastChild.textContent)"
    )
    gaps = [float(text.replace("−", "-")) for text in told]
    assert gaps == sorted(gaps)


def test_questions_are_found_by_their_words(file: Path, visit: Callable[..., Seen]):
    page = visit(file).page
    page.get_by_role("button", name="length of run 0:").click()
    first = page.locator("button.question > .said").first.inner_text()
    page.get_by_label("Words of the question").fill(first)
    assert page.locator("button.question > .said").all_inner_texts() == [first]


def test_all_works_with_the_keyboard_alone(file: Path, visit: Callable[..., Seen]):
    page = visit(file).page
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.tagName") == "H3"
    for _ in range(5):  # close, order, words, kind, the first question
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert page.locator(".answer").count() == 2


def test_back_closes_what_was_opened(file: Path, visit: Callable[..., Seen]):
    page = visit(file).page
    page.locator(".number").first.click()
    page.go_back()
    expect(page.locator(".behind")).to_have_count(0)


def test_everything_that_can_be_pressed_has_a_name(file: Path, visit: Callable[..., Seen]):
    page = visit(file).page
    open_all(page)
    nameless = """[...document.querySelectorAll('button, summary, select, input')]
        .filter((e) => !(e.getAttribute('aria-label') || e.innerText || e.labels?.length)).length"""
    assert page.evaluate(nameless) == 0


def test_without_scripts_a_report_says_what_it_needs(file: Path, visit: Callable[..., Seen]):
    page = visit(file, java_script_enabled=False).page
    assert "allow JavaScript" in page.locator("body").inner_text()


# ---------------------------------------------------------------- many questions


def test_thousands_of_questions_are_drawn_in_lots(browser: Browser, visit: Callable[..., Seen], tmp_path: Path):
    run = runs(1, 20)[0]
    many = [f"-{n}" for n in range(100)]
    scored = run.scores[0]
    grown = replace(
        run,
        items=[replace(one, id=one.id + n) for n in many for one in run.items],
        answers=[{**one, "id": one["id"] + n} for n in many for one in run.answers],
        scores=[replace(scored, reasons=[{**one, "id": one["id"] + n} for n in many for one in scored.reasons])],
    )
    (tmp_path / "report.html").write_text(html([grown]), "utf-8")
    page = visit(tmp_path / "report.html").page
    page.locator(".number").first.click()
    drawn = page.locator(".rows > li").count()
    page.locator(".more").click()
    assert (drawn, page.locator(".rows > li").count()) == (50, 100)


# ---------------------------------------------------------------- sizes and schemes


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("width", SIZES)
def test_a_report_fits_its_window(file: Path, attacked: Path, visit: Callable[..., Seen], width: int, scheme: str):
    for path in (file, attacked):
        page = visit(path, width, scheme).page
        before = overflow(page)
        open_all(page)
        assert (before, overflow(page)) == (0, 0)


CONTRASTS = """() => {
  const parse = (colour) => { const n = colour.match(/[\\d.]+/g).map(Number); return n.length < 4 ? [...n, 1] : n; };
  const linear = (v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
  const light = ([r, g, b]) => 0.2126 * linear(r / 255) + 0.7152 * linear(g / 255) + 0.0722 * linear(b / 255);
  const ground = (e) => {
    for (; e; e = e.parentElement) {
      const colour = parse(getComputedStyle(e).backgroundColor);
      if (colour[3] > 0.99) return colour;
    }
    return [255, 255, 255, 1];
  };
  const hasText = (e) => [...e.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
  const worst = {};
  for (const e of document.querySelectorAll('main *')) {
    if (!e.checkVisibility() || !hasText(e)) continue;
    const style = getComputedStyle(e), ink = parse(style.color);
    const [dark, bright] = [light(ink), light(ground(e))].sort((a, b) => a - b);
    const name = `${e.tagName}.${e.getAttribute('class')}`;
    worst[name] = Math.min(worst[name] ?? 99, (bright + 0.05) / (dark + 0.05));
  }
  return worst;
}"""


@pytest.mark.parametrize("scheme", SCHEMES)
def test_all_text_stands_out_from_its_ground(file: Path, visit: Callable[..., Seen], scheme: str):
    page = visit(file, 1400, scheme).page
    open_all(page)
    found = page.evaluate(CONTRASTS)
    assert found
    assert {name: ratio for name, ratio in found.items() if ratio < 4.5} == {}


def test_light_and_dark_differ(file: Path, visit: Callable[..., Seen]):
    grounds = {
        visit(file, 1400, scheme).page.evaluate("getComputedStyle(document.body).backgroundColor") for scheme in SCHEMES
    }
    assert len(grounds) == 2


def test_a_narrow_table_is_still_a_table_to_whoever_hears_it(file: Path, visit: Callable[..., Seen]):
    page = visit(file, 380).page
    table = page.get_by_role("table", name="Profile honest, judge lexical-3")
    assert table.get_by_role("cell").count() == 2 * 6
