"""The server's own routes: answers, their drafts, their end, checks, and what is searched."""

from __future__ import annotations

import asyncio
import gc
import json
import socket
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from threading import Event
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="needs fastapi")

import httpx2
from hostile_files import slow_pdf
from web_parts import PATIENCE, Served, Slow, served, until

from toulmin.build import jobs
from toulmin.build.sources import Sources
from toulmin.build.specs import Own
from toulmin.config import Settings
from toulmin.data import Passage
from toulmin.documents import confined
from toulmin.documents.plain import Unavailable
from toulmin.driver.drive import Job, Outcome
from toulmin.errors import SourceError, ToulminError
from toulmin.indexing.update import update
from toulmin.judges.lexical import Lexical
from toulmin.server.counters import Figures
from toulmin.server.desk import CUT_OFF, Desk
from toulmin.server.engine import Engine
from toulmin.server.guard import Rules
from toulmin.server.routes import application
from toulmin.server.shelf import Shelf
from toulmin.steps import Pair, Verdict

QUESTION = "Who built Kettle Rock Tower?"


@pytest.fixture
def server(notes: Path) -> Iterator[Served]:
    with served(notes) as found:
        yield found


def events(lines: Iterator[str]) -> list[tuple[str, Any]]:
    """The events of a stream with their data."""
    found, name = [], ""
    for line in lines:
        if line.startswith("event: "):
            name = line.removeprefix("event: ")
        elif line.startswith("data: "):
            found.append((name, json.loads(line.removeprefix("data: "))))
    return found


def streamed(server: Served, path: str, asked: dict[str, Any]) -> list[tuple[str, Any]]:
    with server.client.stream("POST", path, json={**asked, "stream": True}) as reply:
        assert reply.headers["content-type"].startswith("text/event-stream")
        return events(reply.iter_lines())


# ---------------------------------------------------------------- answers


@pytest.mark.parametrize(
    ("path", "asked"),
    [("answers", {"question": QUESTION}), ("check", {"text": "Hannah Pell built it."})],
    ids=["answers", "check"],
)
def test_a_reply_that_its_limit_ended_is_a_504(server: Served, path: str, asked: dict[str, Any]):
    reply = server.client.post(f"/v1/{path}", json={**asked, "deadline": 0.000001})
    assert reply.status_code == 504
    assert reply.json()["error"]["message"] == "The limit of 1e-06 seconds is reached; raise it with --deadline."


def test_a_question_is_read_after_its_history(server: Served):
    asked = {"question": "Who built it?", "history": [{"question": "How tall is Kettle Rock Tower?"}]}
    answer = server.client.post("/v1/answers", json=asked).json()
    assert (answer["question"], answer["asked"]) == (QUESTION, "Who built it?")


def test_a_question_with_a_history_can_be_asked_as_typed(server: Served):
    history = [{"question": "How tall is Kettle Rock Tower?", "answer": "38 metres."}]
    asked = {"question": "Who built it?", "history": history, "rewrite": False}
    assert server.client.post("/v1/answers", json=asked).json()["question"] == "Who built it?"


def test_what_an_earlier_answer_cited_is_read_again(tmp_path: Path):
    for n in range(20):
        (tmp_path / f"{n}.txt").write_text(f"The tower of harbour {n} was painted in {1900 + n}.\n", "utf-8")
    (tmp_path / "rock.txt").write_text("Kettle Rock Tower was built by Hannah Pell.\n", "utf-8")
    with served(tmp_path) as server:
        first = server.client.post("/v1/answers", json={"question": QUESTION}).json()
        turn = {"question": QUESTION, "answer": first["text"]}
        asked = {"question": "When was the tower of harbour 7 painted?", "k": 5}
        cited = {passage["id"] for passage in first["passages"] if passage["n"]}
        read = [
            {passage["id"] for passage in server.client.post("/v1/answers", json=body).json()["passages"]}
            for body in ({**asked, "history": [turn]}, {**asked, "history": [{**turn, "id": first["id"]}]})
        ]
    assert (cited <= read[0], cited <= read[1]) == (False, True)


def test_a_question_can_be_put_to_one_document(server: Served):
    paths = {}
    for row in server.client.get("/v1/documents").json()["documents"]:
        asked = {"question": "Who bilt Kettle Rock Tower?", "document": row["number"]}
        answer = server.client.post("/v1/answers", json=asked).json()
        paths[row["path"]] = {passage["source"]["path"] for passage in answer["passages"]}
    assert paths == {path: {path} for path in paths}


def test_a_document_that_is_not_there_is_refused(server: Served):
    reply = server.client.post("/v1/answers", json={"question": QUESTION, "document": 999})
    assert reply.status_code == 404


def test_a_question_is_answered_with_its_evidence(server: Served):
    answer = server.client.post("/v1/answers", json={"question": QUESTION}).json()
    assert answer["status"] == "answered"
    quotes = [citation["quote"]["text"] for claim in answer["claims"] for citation in claim["citations"]]
    assert any("Hannah Pell" in quote for quote in quotes)


def test_a_finished_answer_is_found_under_its_id(server: Served):
    answer = server.client.post("/v1/answers", json={"question": QUESTION}).json()
    assert server.client.get(f"/v1/answers/{answer['id']}").json() == answer


def test_a_stream_begins_with_the_id_and_ends_with_the_answer(server: Served):
    found = streamed(server, "/v1/answers", {"question": QUESTION})
    names = [name for name, _ in found]
    assert (names[0], names[-1]) == ("begun", "done")
    assert set(names[1:-1]) <= {"draft"}
    assert {document["id"] for _, document in found} == {found[0][1]["id"]}
    assert server.client.get(f"/v1/answers/{found[0][1]['id']}").json() == found[-1][1]


def test_nothing_that_the_sources_do_not_say_is_answered(server: Served):
    answer = server.client.post("/v1/answers", json={"question": "How many satellites does a receiver need?"}).json()
    assert (answer["status"], answer["claims"]) == ("abstained", [])


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"question": ""}, "question"),
        ({"question": "x", "method": "bst"}, "Did you mean best"),
        ({"question": "x", "model": "openai:gpt"}, "model"),
        ({"question": "x", "judge": "embedded:/etc"}, "judge"),
        ({"question": "x", "k": 0}, "k"),
        ({"question": "x", "options": {"max_round": 2}}, "max_round"),
        ({"question": "x", "deadline": -1}, "deadline"),
        ({"question": "x", "deadline": True}, "deadline"),
        ({"question": "x", "k": "5"}, "k"),
        ({"question": "x", "stream": "yes"}, "stream"),
        ({}, "question"),
        ([], "dictionary"),
    ],
)
def test_a_wrong_request_is_told_what_is_wrong(server: Served, asked: Any, said: str):
    reply = server.client.post("/v1/answers", json=asked)
    assert reply.status_code == 422
    assert said in reply.json()["error"]["message"]


def test_a_recheck_reads_the_files_as_they_are_now(notes: Path, server: Served):
    answer = server.client.post("/v1/answers", json={"question": QUESTION}).json()
    tower = notes / "tower.md"
    tower.write_text(tower.read_text("utf-8").replace("Hannah Pell", "Tom Ashby"), "utf-8")

    def recheck(_: int) -> dict[str, int]:
        counts: dict[str, int] = server.client.get(f"/v1/answers/{answer['id']}/recheck").json()["counts"]
        return counts

    with ThreadPoolExecutor(6) as threads:  # who looks at the same time waits for the one index
        counts = list(threads.map(recheck, range(6)))
    assert all(each == counts[0] and "contradicted" in each for each in counts)


class Counting(Lexical):
    asked = 0

    def judge(self, pairs: Sequence[Pair]) -> list[Verdict]:
        self.asked += len(pairs)
        return super().judge(pairs)


def edit(path: Path, old: str, new: str) -> None:
    path.write_text(path.read_text("utf-8").replace(old, new), "utf-8")


def test_kept_answers_are_rechecked_by_themselves(notes: Path, tmp_path: Path):
    tower, index = notes / "tower.md", tmp_path / "index"
    update(index, [notes])
    with served(index) as server:

        def changed() -> dict[str, Any]:
            return server.client.get("/v1/rechecks").json()["changed"]  # type: ignore[no-any-return]

        answer, other = (
            server.client.post("/v1/answers", json={"question": question, "k": 1}).json()
            for question in (QUESTION, "Who was the last keeper of Kettle Rock Tower?")
        )
        assert changed() == {}
        edit(tower, "Hannah Pell", "Tom Ashby")
        update(index, [notes])
        assert until(lambda: answer["id"] in changed())
        claims = len(answer["claims"])
        assert changed() == {answer["id"]: {"claims": claims, "fallen": 1}}  # the other cites another file
        edit(notes / "keepers.txt", "Every keeper had to swim.", "Every keeper had to cook.")
        update(index, [notes])
        assert until(lambda: other["id"] in changed())  # what cites the tower was looked at again too
        assert (changed()[other["id"]]["fallen"], changed()[answer["id"]]["fallen"]) == (0, 1)
        edit(tower, "Tom Ashby", "Hannah Pell")
        update(index, [notes])
        assert until(lambda: answer["id"] not in changed())


def test_a_state_of_the_files_is_judged_once(notes: Path, tmp_path: Path):
    index, judges = tmp_path / "index", [Counting(), Counting(), Counting()]
    update(index, [notes])
    for n, judge in enumerate(judges):  # a server each: what is in memory counts for nothing
        with served(index, Settings(), Own(judge=judge)) as server:
            if not n:
                id = server.client.post("/v1/answers", json={"question": QUESTION}).json()["id"]
                judge.asked = 0
                edit(notes / "tower.md", "Hannah Pell", "Tom Ashby")
                update(index, [notes])
            assert until(lambda: server.client.get("/v1/rechecks").json()["changed"])
            assert server.client.get(f"/v1/answers/{id}/recheck").json()["counts"]["contradicted"] == 1
        (notes / f"birds {n}.txt").write_text("Gulls nest on the rock.", "utf-8")  # of no concern
        update(index, [notes])
    assert [judge.asked > 0 for judge in judges] == [True, False, False]


def test_an_answer_says_when_its_index_was_written(notes: Path, tmp_path: Path):
    update(tmp_path / "index", [notes])
    with served(tmp_path / "index") as server:
        written = server.client.post("/v1/answers", json={"question": QUESTION}).json()["sources_at"]
    assert abs((datetime.now(UTC) - datetime.fromisoformat(written)).total_seconds()) < 60


def test_an_answer_that_never_was_is_not_found(server: Served):
    assert server.client.get("/v1/answers/nothing").status_code == 404
    assert server.client.delete("/v1/answers/nothing").status_code == 404


# ---------------------------------------------------------------- cancelling


@pytest.fixture
def slow() -> Slow:
    return Slow()


@pytest.fixture
def waiting(notes: Path, slow: Slow) -> Iterator[Served]:
    """A server whose model never answers."""
    with served(notes, Settings(), Own(main=slow)) as found:
        yield found


def test_a_deleted_answer_ends_its_work_and_its_model_calls(waiting: Served, slow: Slow):
    with waiting.client.stream("POST", "/v1/answers", json={"question": QUESTION, "stream": True}) as reply:
        lines = reply.iter_lines()
        began = next(line for line in lines if line.startswith("data: "))
        assert until(lambda: slow.begun == 1)
        id = json.loads(began.removeprefix("data: "))["id"]
        assert waiting.client.get(f"/v1/answers/{id}").status_code == 202
        assert waiting.client.delete(f"/v1/answers/{id}").status_code == 204
        assert until(lambda: slow.cancelled == 1)
        assert "event: cancelled" in list(lines)
    assert until(lambda: waiting.running() == 0)


def test_what_there_is_of_an_answer_that_was_cut_off_is_kept(notes: Path):
    slow = Slow(["The lamp was lit in 1903 [1]."])
    asked = {"question": QUESTION, "method": "a2r", "stream": True}
    with served(notes, Settings(), Own(main=slow)) as server:
        with server.client.stream("POST", "/v1/answers", json=asked) as reply:
            lines = reply.iter_lines()
            id = json.loads(next(line for line in lines if line.startswith("data: "))[6:])["id"]
            assert "event: draft" in lines
            assert until(lambda: slow.begun == 2)  # or nothing is on its way that going away could cancel
        assert until(lambda: slow.cancelled == 1)
        assert until(lambda: server.client.get(f"/v1/answers/{id}").status_code == 200)
        kept = server.client.get(f"/v1/answers/{id}").json()
    assert kept["notes"][-1] == CUT_OFF
    assert "supported" not in [claim["support"]["label"] for claim in kept["claims"] if claim["support"]]


def test_who_waits_for_an_answer_that_another_cancels_is_told(waiting: Served, slow: Slow):
    with ThreadPoolExecutor(1) as thread:
        reply = thread.submit(waiting.client.post, "/v1/answers", json={"question": QUESTION})
        assert until(lambda: slow.begun == 1)
        assert waiting.client.get("/v1/answers").json()["running"] != []
        id = waiting.client.get("/v1/answers").json()["running"][0]["id"]
        waiting.client.delete(f"/v1/answers/{id}")
        assert reply.result().status_code == 409


@pytest.mark.parametrize("stream", [True, False])
def test_a_client_that_goes_away_ends_its_work(waiting: Served, slow: Slow, stream: bool):
    address = httpx2.URL(waiting.url)
    body = json.dumps({"question": QUESTION, "stream": stream}).encode()
    head = f"POST /v1/answers HTTP/1.1\r\nHost: {address.host}\r\nContent-Length: {len(body)}\r\n"
    with socket.create_connection((address.host, address.port or 0)) as client:
        client.sendall(head.encode() + b"Content-Type: application/json\r\n\r\n" + body)
        assert until(lambda: slow.begun == 1)
    assert until(lambda: slow.cancelled == 1)
    assert until(lambda: waiting.running() == 0)


def test_a_server_that_stops_leaves_no_work_behind(notes: Path, slow: Slow):
    asked = {"question": QUESTION, "stream": True}
    with served(notes, Settings(), Own(main=slow)) as found, found.client.stream("POST", "/v1/answers", json=asked):
        assert until(lambda: slow.begun == 1)
    assert slow.cancelled == 1


@pytest.mark.parametrize(
    ("path", "asked", "end"),
    [
        ("v1/answers", {"question": QUESTION}, "event: cancelled\n"),
        ("v1/chat/completions", {"model": "best", "messages": [{"role": "user", "content": QUESTION}]}, "[DONE]\n"),
        ("v1/responses", {"model": "best", "input": QUESTION}, "event: response.failed\n"),
    ],
)
def test_a_server_that_stops_ends_its_streams_in_order(
    notes: Path, slow: Slow, caplog: pytest.LogCaptureFixture, path: str, asked: dict[str, Any], end: str
):
    with ThreadPoolExecutor(1) as thread:
        with served(notes, Settings(), Own(main=slow), grace=1) as server:
            reply = thread.submit(httpx2.post, server.url + path, json={**asked, "stream": True}, timeout=PATIENCE)
            assert until(lambda: slow.begun == 1)
        assert end in reply.result().text
    assert "Traceback" not in caplog.text


@pytest.mark.parametrize("path", ["v1/answers", "v1/documents", "mcp"])
def test_a_half_sent_body_is_ended_with_the_server(notes: Path, caplog: pytest.LogCaptureFixture, path: str):
    update(notes.parent / "library", [notes])
    with socket.socket() as client:
        with served(notes.parent / "library", grace=1, token="a-token-of-some-length") as server:
            address = httpx2.URL(server.url)
            client.settimeout(PATIENCE)
            client.connect((address.host, address.port))
            head = f"POST /{path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer a-token-of-some-length\r\n"
            kind = "Content-Type: multipart/form-data; boundary=x\r\nContent-Length: 100\r\n"
            client.sendall(f"{head}{kind}Expect: 100-continue\r\n\r\n--x".encode())
            assert client.recv(100).startswith(b"HTTP/1.1 100")  # it waits for the body
        assert client.recv(100).startswith(b"HTTP/1.1 503")
    assert [record.getMessage() for record in caplog.records if record.exc_info] == []


def test_a_file_that_is_being_read_does_not_hold_up_the_end(
    notes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    index, token = tmp_path / "library", "a-token-of-some-length"
    update(index, [notes])
    began, ended, read = Event(), Event(), confined._Child.ask

    def ask(child: confined._Child, path: Path, *job: Any) -> Any:
        began.set()
        try:
            return read(child, path, *job)
        except Unavailable:
            ended.set()
            raise

    monkeypatch.setattr(confined._Child, "ask", ask)
    with ThreadPoolExecutor(1) as thread:
        with served(index, grace=1, token=token) as server:
            files = {"file": ("slow.pdf", slow_pdf(200_000))}
            sent = {"headers": {"Authorization": f"Bearer {token}"}, "timeout": PATIENCE}
            reply = thread.submit(httpx2.post, server.url + "v1/documents", files=files, **sent)  # type: ignore[arg-type]
            assert began.wait(PATIENCE)
        assert ended.wait(PATIENCE)
        assert reply.result().status_code == 503


def test_a_stream_of_openai_s_that_another_cancels_ends_in_order(waiting: Served, slow: Slow):
    asked = {"model": "best", "messages": [{"role": "user", "content": QUESTION}], "stream": True}
    with waiting.client.stream("POST", "/v1/chat/completions", json=asked) as reply:
        assert until(lambda: slow.begun == 1)
        (run,) = waiting.client.get("/v1/answers").json()["running"]
        waiting.client.delete(f"/v1/answers/{run['id']}")
        lines = [line for line in reply.iter_lines() if line]
    assert (lines[-1], "cancelled" in lines[-2]) == ("data: [DONE]", True)


def test_a_server_is_ready_once_its_index_is_open(tmp_path: Path):
    async def statuses() -> list[list[int]]:
        engine = Engine(Sources(passages=(Passage.of("The lamp was lit in 1824."),)), Settings(judge="lexical"))
        desk = Desk(engine, Shelf(tmp_path / "answers.sqlite"), Rules(), Figures(lambda: engine.running))
        found = []
        transport = httpx2.ASGITransport(application(desk))
        async with httpx2.AsyncClient(transport=transport, base_url="http://localhost") as client:
            for start in (None, engine.start):
                if start is not None:
                    await start()
                replies = [await client.get(path) for path in ("/healthz", "/readyz", "/v1/methods")]
                found.append([reply.status_code for reply in replies])
        await engine.stop()
        desk.shelf.close()
        return found

    assert asyncio.run(statuses()) == [[200, 503, 503], [200, 200, 200]]


def test_a_server_whose_sources_cannot_be_opened_ends(tmp_path: Path):
    with pytest.raises(ToulminError), served(tmp_path / "nothing.txt"):
        pass


def test_cancelled_work_counts_until_it_ends_unawaited():
    class Winding:
        """A driver whose work takes its time to end."""

        has_wound_up = False

        async def answer(self, job: Job, watch: object) -> Outcome:
            try:
                await asyncio.sleep(PATIENCE * 10)
            finally:
                await asyncio.sleep(0.3)
                self.has_wound_up = True
            raise AssertionError("nobody waits so long")

    async def cancelled() -> tuple[int, bool]:
        engine = Engine(Sources(passages=(Passage.of("The lamp was lit in 1824."),)), Settings(judge="lexical"))
        await engine.start()
        parts, _ = engine._session.equip()
        engine._session._parts = parts, driver  # type: ignore[assignment]
        run = engine.begin(jobs.job(QUESTION, Settings(judge="lexical")))
        await asyncio.sleep(0.1)
        run.cancel()
        await asyncio.sleep(0.1)
        counted, is_told = engine.running, run.is_done
        await engine.stop()
        return counted, is_told

    driver = Winding()
    assert asyncio.run(cancelled()) == (1, True)
    assert driver.has_wound_up


# ---------------------------------------------------------------- checks


def test_a_text_is_checked_against_what_came_with_it(server: Served):
    passages = [{"text": "The lamp was lit in 1824.", "title": "Lamp"}, {"text": "The sea was calm."}]
    text = "The lamp was lit in 1824 [1]. The lamp was lit in 1903 [1]."
    answer = server.client.post("/v1/check", json={"text": text, "passages": passages}).json()
    labels = [claim["support"]["label"] for claim in answer["claims"]]
    assert labels[0] == "supported"
    assert labels[1] in ("unsupported", "contradicted")


def test_a_text_without_passages_is_checked_against_the_index(server: Served):
    answer = server.client.post("/v1/check", json={"text": "Kettle Rock Tower was built by Hannah Pell."}).json()
    assert [claim["support"]["label"] for claim in answer["claims"]] == ["supported"]


def test_a_repair_takes_away_what_fails(server: Served):
    passages = [{"text": "The lamp was lit in 1824."}]
    asked = {"text": "The lamp was lit in 1824 [1]. Whales sang all night [1].", "passages": passages, "repair": True}
    answer = server.client.post("/v1/check", json=asked).json()
    assert "Whales" not in answer["text"]
    assert answer["claims"]


# ---------------------------------------------------------------- sources


def test_a_search_finds_what_the_command_finds(server: Served):
    hits = server.client.post("/v1/search", json={"query": "keepers", "k": 1}).json()["hits"]
    assert "Three keepers" in hits[0]["passage"]["text"]


def test_a_passage_comes_with_its_document(server: Served):
    id = server.client.post("/v1/search", json={"query": "keepers", "k": 1}).json()["hits"][0]["passage"]["id"]
    found = server.client.get(f"/v1/passages/{id}").json()
    assert found["passage"]["id"] == id
    assert found["document"]["path"].endswith("keepers.txt")
    assert server.client.get("/v1/passages/nothing").status_code == 404


def test_documents_are_listed_page_by_page(server: Served):
    first = server.client.get("/v1/documents", params={"limit": 1}).json()
    second = server.client.get("/v1/documents", params={"limit": 1, "offset": 1}).json()
    assert first["total"] == second["total"] == 2
    assert first["documents"][0]["path"] != second["documents"][0]["path"]


def test_what_is_indexed_meanwhile_is_found(notes: Path, tmp_path: Path):
    from toulmin.build.indexes import update_index
    from toulmin.build.sources import docs_index

    with served(notes) as server:
        assert not server.client.post("/v1/search", json={"query": "cormorants"}).json()["hits"]
        (notes / "birds.txt").write_text("Cormorants nest on Kettle Rock in May.\n", "utf-8")
        update_index([str(notes)], docs_index([str(notes)], Settings()), Settings())
        assert until(lambda: bool(server.client.post("/v1/search", json={"query": "cormorants"}).json()["hits"]))


def test_every_method_is_listed_with_what_it_does(server: Served):
    methods = {method["name"]: method for method in server.client.get("/v1/methods").json()}
    assert {"best", "calm", "vtg", "plan", "a2r", "vanilla"} <= methods.keys()
    assert all(method["about"] for method in methods.values())


# ---------------------------------------------------------------- counts


def test_answers_and_their_verdicts_are_counted_and_no_word_is_told(server: Served):
    answer = server.client.post("/v1/answers", json={"question": QUESTION}).json()
    streamed(server, "/v1/answers", {"question": QUESTION})
    both = 'toulmin_requests_total{method="POST",route="/v1/answers",status="200"} 2.0'
    assert until(lambda: both in server.client.get("/metrics").text)  # a request is counted when its reply is gone
    told = server.client.get("/metrics").text
    assert 'toulmin_answers_total{method="best",status="answered"} 2.0' in told
    assert f'toulmin_claims_total{{label="supported"}} {2.0 * len(answer["claims"])}' in told
    assert "Kettle" not in told


def test_an_error_that_comes_after_its_client_left_is_not_logged():
    logged: list[Any] = []

    async def fail_late() -> None:
        try:
            await asyncio.sleep(PATIENCE)
        except asyncio.CancelledError:
            raise SourceError("The document cannot be read.") from None

    async def main() -> None:
        engine = Engine(Sources(passages=(Passage.of("The lamp was lit in 1824."),)), Settings(judge="lexical"))
        await engine.start()
        engine._loop.set_exception_handler(lambda _, about: logged.append(about))
        with suppress(TimeoutError):
            await asyncio.wait_for(engine._there(fail_late()), 0.1)
        await engine.stop()
        gc.collect()

    asyncio.run(main())
    assert logged == []


def test_an_engine_is_busy_while_it_searches():
    async def main() -> list[bool]:
        engine = Engine(Sources(passages=(Passage.of("The lamp was lit in 1824."),)), Settings(judge="lexical"))
        await engine.start()
        seen = [engine.is_idle]
        search = asyncio.create_task(engine.search("lamp", 1))
        await asyncio.sleep(0)
        seen.append(engine.is_idle)
        await search
        seen.append(engine.is_idle)
        await engine.stop()
        return seen

    assert asyncio.run(main()) == [True, False, True]


def test_work_under_way_ends_with_its_engine():
    logged: list[Any] = []

    async def main() -> None:
        engine = Engine(Sources(passages=(Passage.of("The lamp was lit in 1824."),)), Settings(judge="lexical"))
        await engine.start()
        engine._loop.set_exception_handler(lambda _, about: logged.append(about))
        work = asyncio.create_task(engine._there(asyncio.sleep(PATIENCE)))
        await asyncio.sleep(0.1)
        await engine.stop()
        with pytest.raises(asyncio.CancelledError):
            await asyncio.wait_for(work, PATIENCE / 2)
        gc.collect()

    asyncio.run(main())
    assert logged == []
