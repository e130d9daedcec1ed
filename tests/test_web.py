"""Searching the web: what becomes a passage, what is refused, and how long and large a reply may be."""

from __future__ import annotations

import asyncio
import gzip
import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from web_server import Say, Server, page, redirect, results, running_server

from toulmin.data import Answer, Citation, Claim, Hit
from toulmin.driver.drive import Driver, Job
from toulmin.driver.kit import Kit
from toulmin.errors import SourceError, UsageError
from toulmin.extractive.reader import LexicalReader
from toulmin.judges.lexical import Lexical
from toulmin.retrieval.fetching import Bounds
from toulmin.retrieval.web import Pages, SearchServer, WebSearch
from toulmin.steps import Program, read, search

QUICK = Bounds(size=100_000, timeout=3.0, idle_timeout=2.0, retries=0, pause=0.01)


@pytest.fixture(scope="module")
def running() -> Iterator[Server]:
    with running_server() as server:
        yield server


@pytest.fixture
def server(running: Server) -> Server:
    running.asked.clear()
    running.queries.clear()
    running.headers.clear()
    running.say("/search", results(("Tower", "It was lit in 1824.", "https://example.org/tower")))
    return running


def at(server: Server, **settings: Any) -> SearchServer:
    return SearchServer(server.url, **({"bounds": QUICK} | settings))


def searched(web: WebSearch, *queries: str, k: int = 10) -> list[list[Hit]]:
    return asyncio.run(web.search(queries, k))


def found(server: Server, said: Say, **settings: Any) -> list[Hit]:
    server.say("/search", said)
    return searched(WebSearch(at(server, **settings)), "tower")[0]


def texts(hits: Sequence[Hit]) -> list[str]:
    return [hit.passage.text for hit in hits]


def failure(server: Server, said: Say, **settings: Any) -> str:
    with pytest.raises(SourceError) as raised:
        found(server, said, **settings)
    return str(raised.value)


# ---------------------------------------------------------------- results


def test_a_result_is_a_passage_at_its_address(server: Server):
    passage = searched(WebSearch(at(server)), "tower")[0][0].passage
    assert (passage.title, passage.text, passage.source.url) == (
        "Tower",
        "It was lit in 1824.",
        "https://example.org/tower",
    )


def test_a_query_is_sent_with_the_format_asked_for(server: Server):
    searched(WebSearch(at(server)), "café & more")
    assert server.queries == [{"q": ["café & more"], "format": ["json"]}]


def test_hits_come_in_the_servers_order_and_at_most_k(server: Server):
    said = results(*((f"T{n}", f"Text {n}.", f"https://example.org/{n}") for n in range(9)))
    server.say("/search", said)
    assert texts(searched(WebSearch(at(server)), "tower", k=3)[0]) == ["Text 0.", "Text 1.", "Text 2."]


def test_equal_results_have_equal_ids(server: Server):
    one, other = searched(WebSearch(at(server)), "tower", "lamp")
    assert one[0].passage.id == other[0].passage.id


def test_an_equal_query_is_asked_once(server: Server):
    searched(WebSearch(at(server)), "tower", "tower")
    assert len(server.asked) == 1


def test_an_empty_query_finds_nothing_and_asks_nobody(server: Server):
    assert (searched(WebSearch(at(server)), " "), server.asked) == ([[]], [])


def test_queries_are_asked_side_by_side(server: Server):
    server.say("/search", replace(results(("A", "One.", "https://e.org")), together=4))
    assert [len(hits) for hits in searched(WebSearch(at(server)), "a", "b", "c", "d")] == [1, 1, 1, 1]


def test_no_more_queries_at_once_than_set(server: Server):
    server.say("/search", replace(results(("A", "One.", "https://e.org")), together=3))
    with pytest.raises(SourceError, match="answered with status 500"):
        searched(WebSearch(at(server, concurrency=2)), "a", "b", "c")


def test_markup_is_stripped_from_titles_and_snippets(server: Server):
    said = results(
        ("<b>Big</b> <i>tower</i>", "Lit <script>alert(1)</script>in <em>1824</em> &amp; on", "https://e.org")
    )
    passage = found(server, said)[0].passage
    assert (passage.title, passage.text) == ("Big tower", "Lit in 1824 & on")


def test_one_address_is_one_hit_whatever_its_fragment(server: Server):
    said = results(("A", "One.", "https://e.org/a#x"), ("B", "Two.", "https://e.org/a#y"))
    assert texts(found(server, said)) == ["One."]


def test_one_text_is_one_hit_whatever_its_address(server: Server):
    said = results(("A", "One.", "https://e.org/a"), ("A", "One.", "https://e.org/b"))
    assert len(found(server, said)) == 1


@pytest.mark.parametrize(
    "link",
    [
        "javascript:alert(1)",
        "file:///etc/passwd",
        "data:text/html,x",
        "ftp://e.org/x",
        "//e.org/x",
        "https://user:secret@e.org/",
        "https://e.org/" + "x" * 3000,
        "http://[::1",
        "https://\ud800.org/",
        "",
        None,
        7,
    ],
)
def test_what_is_no_web_address_is_left_out_and_told(server: Server, link: Any):
    server.say("/search", results(("A", "One.", link), ("B", "Two.", "https://e.org")))
    web = WebSearch(at(server))
    assert (texts(searched(web, "q")[0]), len(web.skipped)) == (["Two."], 1)


def test_a_result_without_a_snippet_is_its_title(server: Server):
    assert texts(found(server, results(("The tower of 1824", None, "https://e.org")))) == ["The tower of 1824"]


def test_a_result_without_words_is_left_out(server: Server):
    assert found(server, results((None, "<br>", "https://e.org"))) == []


def test_a_snippet_is_bounded(server: Server):
    hits = found(server, results(("A", "word " * 1000, "https://e.org")), characters=100)
    assert len(hits[0].passage.text) <= 100


def test_results_are_bounded(server: Server):
    said = results(*(("A", f"Text {n}.", f"https://e.org/{n}") for n in range(30)))
    assert len(searched_with(server, said, most=5)) == 5


def searched_with(server: Server, said: Say, **settings: Any) -> list[Hit]:
    server.say("/search", said)
    return searched(WebSearch(at(server, **settings)), "q", k=100)[0]


def test_items_that_are_no_objects_are_passed_over(server: Server):
    items = [1, None, ["x"], {"title": "A", "content": "One.", "url": "https://e.org"}]
    assert texts(found(server, Say(json.dumps({"results": items}).encode()))) == ["One."]


def test_fields_of_another_server_can_be_named(server: Server):
    said = Say(json.dumps({"items": [{"name": "A", "text": "One.", "link": "https://e.org"}]}).encode())
    server.say("/api/find", said)
    other = SearchServer(
        f"{server.url}/api/find",
        query="query",
        parameters={"lang": "en"},
        results="items",
        title="name",
        snippet="text",
        link="link",
        bounds=QUICK,
    )
    assert texts(searched(WebSearch(other), "q")[0]) == ["One."]


def test_the_parameters_of_another_server_are_sent(server: Server):
    server.say("/api/find", results())
    searched(WebSearch(SearchServer(f"{server.url}/api/find", query="query", parameters={"lang": "en"})), "x")
    assert server.queries == [{"query": ["x"], "lang": ["en"]}]


@given(st.lists(st.tuples(*(st.one_of(st.none(), st.text(max_size=30), st.integers()),) * 3), max_size=4))
@settings(deadline=None, max_examples=40)
def test_whatever_a_server_says_becomes_sound_passages(running: Server, items: list[tuple[Any, Any, Any]]):
    hits = found(running, results(*items, ("A", "\ud800\0x", "https://e.org")))
    assert all(text.strip() and "\0" not in text and text.encode() for text in texts(hits))


# ---------------------------------------------------------------- failures


def test_a_server_that_is_not_there_is_named(server: Server):
    with pytest.raises(SourceError, match=r"127\.0\.0\.1:9 cannot be reached; check that it runs"):
        searched(WebSearch(SearchServer("http://127.0.0.1:9", bounds=QUICK)), "q")


def test_a_403_says_how_to_switch_json_on(server: Server):
    assert "formats: [html, json]" in failure(server, Say(b"no", "text/html", 403))


def test_a_page_in_place_of_json_says_how_to_switch_json_on(server: Server):
    assert "formats: [html, json]" in failure(server, page("Results", "<p>none</p>"))


def test_broken_json_is_told(server: Server):
    assert "no valid JSON" in failure(server, Say(b'{"results": [{"ti'))


def test_json_that_nests_without_end_is_told(server: Server):
    assert "no valid JSON" in failure(server, Say(b"[" * 90_000))


@pytest.mark.parametrize("body", [b"[]", b"{}", b'{"results": {}}', b"7", b"null"])
def test_json_of_another_shape_says_which_was_expected(server: Server, body: bytes):
    assert "an object with a list 'results' was expected" in failure(server, Say(body))


def test_a_server_that_limits_says_so(server: Server):
    assert "turn its limiter off" in failure(server, Say(status=429))


def test_a_reply_that_is_too_large_is_cut_off(server: Server):
    assert "is over 100,000 bytes" in failure(server, Say(endless=True))


def test_a_compressed_reply_is_not_unpacked(server: Server):
    bomb = Say(gzip.compress(b"[" + b" " * 10_000_000 + b"]"), headers={"Content-Encoding": "gzip"})
    assert "came compressed" in failure(server, bomb)


def test_a_reply_that_drips_ends_with_the_total_time(server: Server):
    bounds = Bounds(timeout=0.4, idle_timeout=0.3, retries=0)
    assert "gave no complete reply within 0.4 s" in failure(server, Say(b" " * 100, drips=True), bounds=bounds)


def test_a_server_that_sends_nothing_ends_with_the_idle_time(server: Server):
    bounds = Bounds(timeout=5, idle_timeout=0.2, retries=0)
    assert "sent nothing for 0.2 s" in failure(server, Say(hangs=True), bounds=bounds)


def test_a_passing_failure_is_tried_again(server: Server):
    server.say("/search", Say(status=503), results(("A", "One.", "https://e.org")))
    bounds = Bounds(retries=1, pause=0.01)
    assert texts(searched(WebSearch(at(server, bounds=bounds)), "q")[0]) == ["One."]


def test_tries_are_bounded(server: Server):
    failure(server, Say(status=503), bounds=Bounds(retries=2, pause=0.01))
    assert len(server.asked) == 3


def test_a_lasting_failure_is_not_tried_again(server: Server):
    failure(server, Say(status=404), bounds=Bounds(retries=2, pause=0.01))
    assert len(server.asked) == 1


def test_a_redirect_on_the_servers_own_host_is_followed(server: Server):
    server.say("/found", results(("A", "One.", "https://e.org")))
    assert texts(found(server, redirect("/found"))) == ["One."]


def test_a_redirect_to_another_host_is_refused(server: Server):
    assert "a host that is not allowed" in failure(server, redirect(f"http://localhost:{server.port}/search"))


def test_a_redirect_in_a_circle_ends(server: Server):
    assert "redirects more than 3 times" in failure(server, redirect("/search"))


def test_a_redirect_to_a_file_is_refused(server: Server):
    assert "no http address" in failure(server, redirect("file:///etc/passwd"))


def test_an_address_with_a_password_is_not_repeated():
    with pytest.raises(UsageError) as raised:
        SearchServer("http://me:secret@host/")
    assert "secret" not in str(raised.value)


@pytest.mark.parametrize("wrong", [{"most": 0}, {"characters": 0}, {"concurrency": 0}])
def test_a_setting_that_cannot_be_is_refused(wrong: dict[str, int]):
    with pytest.raises(UsageError, match="should be at least 1"):
        SearchServer("http://localhost", **wrong)


def test_the_environments_proxy_takes_no_part(server: Server, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    assert len(searched(WebSearch(at(server)), "tower")[0]) == 1


# ---------------------------------------------------------------- pages

LOCAL = "127.0.0.1"


def read_pages(server: Server, link: str, **settings: Any) -> tuple[list[str], WebSearch]:
    """The texts found behind one result at that address."""
    server.say("/search", results(("Lamp", "A lamp.", link)))
    given: dict[str, Any] = {"allow": (LOCAL,), "inside": (LOCAL,), "bounds": QUICK} | settings
    web = WebSearch(at(server), Pages(**given))
    return texts(searched(web, "lamp tower")[0]), web


def test_a_page_behind_a_result_is_read(server: Server):
    server.say("/a", page("Tower", "<p>The tower has a lamp.</p><script>x()</script>"))
    assert "The tower has a lamp." in read_pages(server, f"{server.url}/a")[0]


def test_a_pages_passage_stands_at_its_offsets_under_its_address(server: Server):
    server.say("/a", page("Tower", "<p>" + "The tower has a lamp. " * 60 + "</p>"))
    server.say("/search", results(("Other", "Elsewhere.", f"{server.url}/a")))
    web = WebSearch(at(server), Pages((LOCAL,), (LOCAL,), bounds=QUICK))
    hits = searched(web, "lamp tower")[0]
    assert {(hit.passage.title, hit.passage.source.url) for hit in hits} == {("Tower", f"{server.url}/a")}


def test_a_page_of_plain_text_is_read(server: Server):
    server.say("/a.txt", Say(b"The tower has a lamp.", "text/plain; charset=utf-8"))
    assert "The tower has a lamp." in read_pages(server, f"{server.url}/a.txt")[0]


def test_the_character_set_of_the_reply_counts(server: Server):
    server.say("/a", Say("<p>Der Turm, tower, für Möwen</p>".encode("iso-8859-2"), "text/html; charset=iso-8859-2"))
    assert "Der Turm, tower, für Möwen" in read_pages(server, f"{server.url}/a")[0]


def test_a_page_of_a_host_that_is_not_allowed_is_never_asked_for(server: Server):
    read_pages(server, f"http://localhost:{server.port}/a")
    assert "/a" not in server.asked


def test_an_allowed_host_that_is_loopback_is_refused(server: Server):
    texts_found, web = read_pages(server, f"{server.url}/a", inside=())
    assert (texts_found, web.skipped[0].reason) == (["A lamp."], "leads to an address that is not public")


def test_a_refused_address_is_never_connected_to(server: Server):
    read_pages(server, f"http://localhost:{server.port}/a", allow=("localhost",), inside=())
    assert server.asked == ["/search"]


def test_a_redirect_to_loopback_is_refused(server: Server):
    server.say("/a", redirect(f"http://localhost:{server.port}/b"))
    _, web = read_pages(server, f"{server.url}/a", allow=(LOCAL, "localhost"))
    assert ("/b" in server.asked, web.skipped[0].reason) == (False, "leads to an address that is not public")


def test_a_redirect_to_a_host_that_is_not_allowed_is_refused(server: Server):
    server.say("/a", redirect("http://metadata.example/latest"))
    _, web = read_pages(server, f"{server.url}/a")
    assert web.skipped[0].reason == "leads to metadata.example, a host that is not allowed"


def test_a_page_that_is_no_text_is_refused(server: Server):
    server.say("/a", Say(b"%PDF", "application/pdf"))
    _, web = read_pages(server, f"{server.url}/a")
    assert "application/pdf, not" in web.skipped[0].reason


def test_a_page_without_end_leaves_its_snippet(server: Server):
    server.say("/a", Say(kind="text/html", endless=True))
    assert read_pages(server, f"{server.url}/a")[0] == ["A lamp."]


def test_a_page_that_drips_leaves_its_snippet(server: Server):
    server.say("/a", Say(b"<p>tower</p>" * 9, "text/html", drips=True))
    assert read_pages(server, f"{server.url}/a", bounds=Bounds(timeout=0.3, retries=0))[0] == ["A lamp."]


def test_a_page_is_fetched_once(server: Server):
    server.say("/a", page("Tower", "<p>The tower has a lamp.</p>"))
    server.say("/search", results(("Lamp", "A lamp.", f"{server.url}/a")))
    web = WebSearch(at(server), Pages((LOCAL,), (LOCAL,), bounds=QUICK))
    searched(web, "lamp")
    searched(web, "tower")
    assert server.asked.count("/a") == 1


def test_pages_of_a_query_are_bounded(server: Server):
    server.say("/search", results(*(("A", f"Lamp {n}.", f"{server.url}/{n}") for n in range(9))))
    searched(WebSearch(at(server), Pages((LOCAL,), (LOCAL,), most=2, bounds=QUICK)), "lamp")
    assert len(server.asked) == 3


def test_no_cookie_goes_from_page_to_page(server: Server):
    server.say("/a", Say(status=302, headers={"Location": "/b", "Set-Cookie": "id=7"}))
    server.say("/b", page("Tower", "<p>The tower.</p>"))
    read_pages(server, f"{server.url}/a")
    assert not any("Cookie" in headers for headers in server.headers)


# ---------------------------------------------------------------- with the driver


def reading(question: str) -> Program[Answer]:
    """What the reader finds in the web's passages, quoted."""
    hits = yield from search(question, 5)
    passages = tuple(hit.passage for hit in hits)
    span = yield from read(question, passages)
    assert span is not None
    claim = Claim(span.quote.text, (Citation(span.passage, span.quote),))
    return Answer(question, "short", "reading", "answered", (claim,), passages)


def test_the_driver_searches_the_web_and_reads_what_was_found(server: Server):
    question = "When was the tower lit?"
    kit = Kit(WebSearch(at(server)), Lexical(), reader=LexicalReader())
    outcome = asyncio.run(Driver(kit).answer(Job(question, "reading", "short", lambda: reading(question))))
    assert (outcome.error, outcome.answer.claims[0].text) == (None, "1824")
