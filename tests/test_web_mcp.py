"""The Model Context Protocol, asked by the official client over HTTP and over standard input and output."""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mcp", reason="needs mcp (extra: mcp)")

from kinds_parts import pptx, shape
from mcp import Client, StdioServerParameters
from web_parts import Slow, served

from toulmin.build.specs import Own
from toulmin.config import Settings

QUESTION = "Who built Kettle Rock Tower?"
Use = Callable[[Client], Awaitable[Any]]


def over_http(notes: Path, use: Use) -> Any:
    with served(notes) as server:
        return asyncio.run(used(f"{server.url}mcp", use))


def over_pipes(notes: Path, use: Use) -> Any:
    command = ["-m", "toulmin.cli", "mcp", "--docs", str(notes)]
    code = f"import sys; from toulmin.cli import main; main({command[2:]!r})"
    return asyncio.run(used(StdioServerParameters(command=sys.executable, args=["-c", code]), use))


async def used(server: Any, use: Use) -> Any:
    async with Client(server) as client:
        return await use(client)


@pytest.fixture(params=[over_http, over_pipes], ids=["http", "pipes"])
def over(request: pytest.FixtureRequest) -> Callable[[Path, Use], Any]:
    chosen: Callable[[Path, Use], Any] = request.param
    return chosen


def said(result: Any) -> str:
    (content,) = result.content
    text: str = content.text
    return text


def test_the_tools_are_these(over: Any, notes: Path):
    async def use(client: Client) -> Any:
        return await client.list_tools()

    tools = {tool.name: tool for tool in over(notes, use).tools}
    assert tools.keys() == {"ask", "check", "search", "fetch"}
    assert all(tool.annotations.read_only_hint for tool in tools.values())


def test_an_answer_comes_with_its_sources(over: Any, notes: Path):
    async def use(client: Client) -> Any:
        return await client.call_tool("ask", {"question": QUESTION})

    result = over(notes, use)
    assert not result.is_error
    assert "Hannah Pell" in said(result)
    assert "Sources:\n[1]" in said(result)
    assert result.structured_content["status"] == "answered"


def test_an_answer_of_slides_names_the_slide(over: Any, notes: Path):
    texts = ["The sea.", "The ships come at night.", "The bell of Sandy Spit was cast by Ada Orme in 1790."]
    (notes / "talk.pptx").write_bytes(pptx([shape(text) for text in texts]))

    async def use(client: Client) -> Any:
        return await client.call_tool("ask", {"question": "Who cast the bell of Sandy Spit?"})

    assert "Ada Orme in 1790. (slide 3)" in said(over(notes, use))


def test_what_was_found_can_be_fetched(over: Any, notes: Path):
    async def use(client: Client) -> Any:
        found = json.loads(said(await client.call_tool("search", {"query": "keepers"})))
        first = found["results"][0]
        assert first.keys() == {"id", "title", "url"}
        return json.loads(said(await client.call_tool("fetch", {"id": first["id"]})))

    fetched = over(notes, use)
    assert fetched.keys() == {"id", "title", "text", "url", "metadata", "boxes", "selector", "link"}
    assert fetched["selector"] == {"type": "TextQuoteSelector", "exact": fetched["text"], "prefix": "", "suffix": ""}
    assert "Three keepers" in fetched["text"]


def test_a_fetched_page_has_a_link_to_its_words(over: Any, notes: Path):
    (notes / "walls.html").write_text("<title>Walls</title><p>The walls are of granite.</p>", "utf-8")

    async def use(client: Client) -> Any:
        found = json.loads(said(await client.call_tool("search", {"query": "granite walls"})))
        return json.loads(said(await client.call_tool("fetch", {"id": found["results"][0]["id"]})))

    assert over(notes, use)["link"] == f"{notes / 'walls.html'}#:~:text=The%20walls%20are%20of%20granite."


def test_a_text_is_checked(over: Any, notes: Path):
    passages = [{"text": "The lamp was lit in 1824."}]

    async def use(client: Client) -> Any:
        return await client.call_tool("check", {"text": "The lamp was lit in 1903 [1].", "passages": passages})

    assert "Not supported:" in said(over(notes, use))


def test_passages_may_be_plain_texts(over: Any, notes: Path):
    async def use(client: Client) -> Any:
        arguments = {"text": "The lamp was lit in 1903 [1].", "passages": ["The lamp was lit in 1824."]}
        return await client.call_tool("check", arguments)

    assert "Not supported:" in said(over(notes, use))


@pytest.mark.parametrize(
    ("tool", "arguments", "words"),
    [
        ("ask", {}, "question is missing."),
        ("ask", {"question": "Who?", "style": "x"}, "style should be 'long', 'list', 'short' or 'report'."),
        ("check", {"text": "x", "passages": [{"title": "y"}]}, "passages.0.text is missing."),
        ("ask", {"question": " "}, "A question needs words, but it is empty."),
        ("fetch", {"id": "nope"}, "There is no passage 'nope' in notes; ids come from a search there."),
    ],
)
def test_errors_are_in_our_own_words(notes: Path, tool: str, arguments: dict[str, Any], words: str):
    async def use(client: Client) -> Any:
        return await client.call_tool(tool, arguments)

    result = over_http(notes, use)
    assert result.is_error
    assert re.sub(r"in [0-9a-f]{16};", "in notes;", said(result)) == words


def test_half_a_surrogate_pair_gets_a_reply(notes: Path):
    def call(id: int, method: str, **params: Any) -> dict[str, Any]:
        return {"jsonrpc": "2.0", "id": id, "method": method, "params": params}

    about = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
    asked = call(2, "tools/call", name="ask", arguments={"question": "Who built Kettle Rock \ud800 Tower?"})
    lines = [json.dumps(call(1, "initialize", **about)), json.dumps(asked)]
    command = [sys.executable, "-m", "toulmin", "mcp", "--docs", str(notes)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for id, line in enumerate(lines, start=1):
            process.stdin.write(f"{line}\n")
            process.stdin.flush()
            reply = json.loads(process.stdout.readline())
            assert reply["id"] == id
        process.stdin.close()
    assert "Hannah Pell" in reply["result"]["content"][0]["text"]


@pytest.mark.parametrize(
    ("tool", "given", "message"),
    [
        ("fetch", {"id": "nothing"}, "no passage"),
        ("ask", {"question": " "}, "needs words"),
        ("ask", {"question": "x", "method": "bst"}, "Did you mean best"),
    ],
)
def test_what_goes_wrong_is_told_to_the_assistant(
    over: Any, notes: Path, tool: str, given: dict[str, Any], message: str
):
    async def use(client: Client) -> Any:
        return await client.call_tool(tool, given)

    result = over(notes, use)
    assert result.is_error
    assert message in said(result)


def test_a_client_that_gives_up_ends_its_work(notes: Path):
    slow = Slow()

    async def use(client: Client) -> None:
        call = asyncio.create_task(client.call_tool("ask", {"question": QUESTION}))
        while not slow.begun:
            await asyncio.sleep(0.02)
        call.cancel()
        await asyncio.gather(call, return_exceptions=True)
        for _ in range(500):
            if slow.cancelled:
                return
            await asyncio.sleep(0.02)

    with served(notes, Settings(), Own(main=slow)) as server:
        asyncio.run(used(f"{server.url}mcp", use))
        assert slow.cancelled == 1


def test_the_route_asks_for_the_token(notes: Path):
    with served(notes, token="a-token-of-some-length") as server:
        reply = server.client.post("/mcp", json={}, headers={"Authorization": "Bearer wrong"})
        assert reply.status_code == 401
