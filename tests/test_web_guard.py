"""Who may ask the server, from where, and how much."""

from __future__ import annotations

import asyncio
import re
import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="needs fastapi")

import httpx2
from starlette.requests import Request
from starlette.routing import Route
from web_parts import PATIENCE, Served, Slow, served, until

from toulmin.build.sources import Sources
from toulmin.build.specs import Own
from toulmin.config import Settings
from toulmin.errors import UsageError
from toulmin.server.counters import Figures
from toulmin.server.desk import Desk
from toulmin.server.engine import Engine
from toulmin.server.guard import DEFECT, Rules, client_of, error_document, name_of, without_folders
from toulmin.server.routes import application
from toulmin.server.serve import Door
from toulmin.server.shelf import Shelf

TOKEN = "a-token-of-some-length"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("guarded")
    (made / "tower.txt").write_text("Kettle Rock Tower was built by Hannah Pell.\n", "utf-8")
    return made


@pytest.fixture
def server(folder: Path) -> Iterator[Served]:
    with served(folder) as found:
        yield found


@pytest.fixture
def locked(folder: Path) -> Iterator[Served]:
    with served(folder, token=TOKEN, origins=("https://notes.example",)) as found:
        yield found


# ---------------------------------------------------------------- the door


@pytest.mark.parametrize("host", ["0.0.0.0", "192.168.1.7", "::", "tower.example"])
def test_another_address_than_loopback_needs_a_token(host: str):
    with pytest.raises(UsageError, match="set a token"):
        Door(host).rules()
    assert Door(host, token=TOKEN).rules().token == TOKEN


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1", "127.8.8.8"])
def test_loopback_needs_none(host: str):
    assert Door(host).rules().token is None
    assert host in (Door(host).rules().hosts or ())


def test_a_token_that_can_be_guessed_is_refused():
    with pytest.raises(UsageError, match="at least 16 characters, not 4"):
        Door(token="1234").rules()


@pytest.mark.parametrize(
    ("host", "name"),
    [("LOCALHOST:80", "localhost"), ("[::1]:8420", "[::1]"), ("127.0.0.1", "127.0.0.1"), ("", ""), ("a:b:1", "a:b")],
)
def test_a_host_is_known_by_its_name(host: str, name: str):
    assert name_of(host) == name


# ---------------------------------------------------------------- hosts and origins


@pytest.mark.parametrize(
    "host", ["attacker.example", "127.0.0.1.attacker.example", "localhost.attacker.example:8420", ""]
)
def test_a_name_that_was_pointed_here_is_refused(server: Served, host: str):
    reply = server.client.get("/v1/documents", headers={"Host": host})
    assert reply.status_code in (400, 421)
    assert "tower" not in reply.text.lower().replace("toulmin", "")


@pytest.mark.parametrize("path", ["/v1/documents", "/healthz", "/openapi.json"])
def test_a_page_of_another_origin_is_refused(server: Served, path: str):
    assert server.client.get(path, headers={"Origin": "https://attacker.example"}).status_code == 403


def test_the_server_s_own_page_may_ask(server: Served):
    own = server.url.rstrip("/")
    assert server.client.get("/v1/documents", headers={"Origin": own}).status_code == 200


@pytest.mark.parametrize("origin", ["null", "http://127.0.0.1:1", "https://127.0.0.1", "http://[", "http://[x"])
def test_an_origin_that_is_only_alike_is_refused(server: Served, origin: str):
    assert server.client.get("/v1/documents", headers={"Origin": origin}).status_code == 403


def test_a_listed_origin_may_read_and_others_may_not(locked: Served):
    listed = locked.client.get("/v1/documents", headers={"Origin": "https://notes.example"})
    assert listed.status_code == 200
    assert listed.headers["access-control-allow-origin"] == "https://notes.example"
    assert locked.client.get("/v1/documents", headers={"Origin": "https://other.example"}).status_code == 403


def test_a_listed_origin_is_told_beforehand_what_it_may_do(locked: Served):
    headers = {"Origin": "https://notes.example", "Access-Control-Request-Method": "POST"}
    reply = locked.client.request("OPTIONS", "/v1/answers", headers=headers)
    assert (reply.status_code, reply.headers["access-control-allow-origin"]) == (204, "https://notes.example")


# ---------------------------------------------------------------- the token


@pytest.mark.parametrize(
    "given", [None, "", "Bearer", "Bearer wrong", f"Basic {TOKEN}", f"Bearer {TOKEN}x", "Bearer é"]
)
def test_without_the_token_nothing_is_told(locked: Served, given: str | None):
    headers = {} if given is None else {"Authorization": given.encode()}
    for method, path in (
        ("GET", "/v1/documents"),
        ("POST", "/v1/answers"),
        ("GET", "/openapi.json"),
        ("GET", "/metrics"),
    ):
        reply = httpx2.request(method, locked.url.rstrip("/") + path, headers=headers)  # type: ignore[arg-type]
        assert reply.status_code == 401
        assert reply.headers["www-authenticate"] == "Bearer"
        assert TOKEN not in reply.text


def test_with_the_token_everything_is(locked: Served):
    assert locked.client.get("/v1/documents").status_code == 200


def test_the_probes_need_no_token(locked: Served):
    assert httpx2.get(locked.url + "healthz").status_code == 200
    assert httpx2.get(locked.url + "readyz").status_code == 200


# ---------------------------------------------------------------- amounts


def test_a_body_that_is_announced_too_large_is_not_read(server: Served):
    with connected(server) as client:
        client.sendall(b"POST /v1/check HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999\r\n\r\n{")
        assert client.recv(100).startswith(b"HTTP/1.1 413")


def connected(server: Served) -> socket.socket:
    address = httpx2.URL(server.url)
    client = socket.create_connection((address.host, address.port or 0))
    client.settimeout(PATIENCE)
    return client


def test_half_sent_headers_shut_nobody_out_and_are_ended(server: Served):
    with ExitStack() as stack:
        clients = [stack.enter_context(connected(server)) for _ in range(1_100)]
        for client in clients:
            client.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Slow: ")
        assert httpx2.get(server.url + "v1/methods", timeout=PATIENCE).status_code == 200
        with suppress(ConnectionError):
            assert clients[-1].recv(1) == b""


@pytest.mark.parametrize("path", ["/v1/answers", "/mcp"])
def test_nonsense_after_the_headers_of_a_request_is_refused_in_order(
    locked: Served, caplog: pytest.LogCaptureFixture, path: str
):
    head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n".encode()
    for parts in ((head + b"zz\r\n",), (head, b"zz\r\n")):  # at once, and after the reply
        with connected(locked) as client:
            for part in parts:
                client.sendall(part)
                assert client.recv(100).startswith(b"HTTP/1.1 4") or part is not parts[0]
            while client.recv(1_000):
                pass
    assert locked.client.get("/healthz").status_code == 200
    assert [record.getMessage() for record in caplog.records if record.exc_info] == []


def test_a_body_that_grows_too_large_on_the_way_is_not_kept(server: Served):
    def endless() -> Iterator[bytes]:
        for _ in range(100):
            yield b" " * 100_000

    with suppress(httpx2.WriteError):  # where the server closes while we still send
        assert server.client.post("/v1/check", content=endless()).status_code == 413
    assert server.client.get("/healthz").status_code == 200


@pytest.mark.parametrize("body", [b"", b"{", b'{"question": "\xff"}', b"[" * 100_000, b'{"question": 1e999}'])
def test_what_is_no_json_is_told_so(server: Served, body: bytes):
    reply = server.client.post("/v1/answers", content=body, headers={"Content-Type": "application/json"})
    assert reply.status_code in (400, 422)
    assert reply.json()["error"]["message"]


# ---------------------------------------------------------------- what errors tell


def test_an_error_does_not_tell_where_the_server_keeps_its_files(server: Served):
    message = server.client.get("/v1/passages/nope").json()["error"]["message"]
    assert message.startswith("There is no passage 'nope' in ")
    assert "/" not in message
    assert without_folders("/srv/a/b.pdf, onnx:/srv/m; see http://a.example/b/c and /v1/methods") == (
        "b.pdf, onnx:m; see http://a.example/b/c and /v1/methods"
    )


def test_a_defect_is_told_in_the_form_of_every_error(folder: Path):
    async def fail(request: Request) -> None:
        raise ValueError("/srv/secret")

    engine = Engine(Sources(docs=(str(folder),)), Settings())
    desk = Desk(engine, Shelf(folder / "shelf.sqlite"), Rules(hosts=None), Figures(lambda: 0))
    app = application(desk, beside=[Route("/broken", fail)])

    async def ask() -> httpx2.Response:
        transport = httpx2.ASGITransport(app, raise_app_exceptions=False)
        async with httpx2.AsyncClient(transport=transport, base_url="http://x") as client:
            return await client.get("/broken")

    try:
        reply = asyncio.run(ask())
    finally:
        asyncio.run(engine.stop())
        desk.shelf.close()
    assert (reply.status_code, reply.json()) == (500, error_document(500, DEFECT))


# ---------------------------------------------------------------- under a path


def test_a_server_under_a_path_keeps_its_token_and_its_page(folder: Path):
    with served(folder, token=TOKEN, root="tool") as server:
        assert server.url.endswith("/tool/")
        bare = httpx2.Client(base_url=server.url.removesuffix("tool/"))
        with bare:
            for path in ("/tool/v1/methods", "/v1/methods", "/tool/openapi.json"):
                assert bare.get(path).status_code == 401
                assert bare.get(path, headers=server.client.headers).status_code == 200
            moved = bare.get("/tool")
            assert (moved.status_code, moved.headers["location"]) == (308, "/tool/")
            page = bare.get("/tool/").text
            assert bare.get("/tool/app.js").status_code == bare.get("/app.js").status_code == 200
            assert bare.get("/toolbox/v1/methods").status_code == 404
        assert server.client.get("openapi.json").json()["servers"] == [{"url": "/tool"}]
    assert re.findall(r'(?:src|href)="(/[^"]*)"', page) == []


# ---------------------------------------------------------------- methods


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("GET", "/v1/check", "POST"),
        ("PUT", "/v1/answers", "GET, POST"),
        ("POST", "/healthz", "GET"),
        ("POST", "/app.js", "GET, HEAD"),
    ],
)
def test_a_wrong_method_is_told_the_right_ones(server: Served, method: str, path: str, allowed: str):
    reply = server.client.request(method, path)
    assert (reply.status_code, reply.headers.get("allow")) == (405, allowed)


def test_what_is_nowhere_is_not_found(server: Served):
    assert server.client.get("/v1/nothing").status_code == 404


# ---------------------------------------------------------------- requests of one client


SLOW = {"question": "Who built the tower?", "method": "vanilla", "stream": True}
THIS_MACHINE = ("127.0.0.1",)


def asked_by(address: str) -> dict[str, str]:
    return {"X-Forwarded-For": address}


@contextmanager
def two_answers(folder: Path, address: str, **door: Any) -> Iterator[Served]:
    """A server of whom this address asks two answers that do not end; it may have two at once."""
    with served(folder, Settings(), Own(main=Slow()), client=2, **door) as server, ExitStack() as stack:
        for _ in range(2):
            stream = server.client.stream("POST", "/v1/answers", json=SLOW, headers=asked_by(address))
            assert stack.enter_context(stream).status_code == 200
        yield server


def test_a_client_has_so_many_requests_at_once_and_others_have_their_own(folder: Path):
    with two_answers(folder, "198.51.100.7", proxies=THIS_MACHINE) as server:
        refused = server.client.get("/v1/methods", headers=asked_by("198.51.100.7"))
        assert (refused.status_code, refused.headers["retry-after"]) == (429, "1")
        assert refused.json()["error"]["message"].startswith("A client may have 2 running requests; ask again")
        assert server.client.get("/v1/methods", headers=asked_by("198.51.100.8")).status_code == 200
        assert server.client.get("/healthz", headers=asked_by("198.51.100.7")).status_code == 200


def test_a_client_may_ask_again_when_a_request_has_ended(folder: Path):
    with served(folder, Settings(), Own(main=Slow()), client=1, proxies=THIS_MACHINE) as server:
        headers = asked_by("198.51.100.7")
        with server.client.stream("POST", "/v1/answers", json=SLOW, headers=headers):
            assert server.client.get("/v1/methods", headers=headers).status_code == 429
        assert until(lambda: server.client.get("/v1/methods", headers=headers).status_code == 200)


def test_openais_client_is_told_of_the_limit_as_of_a_rate_limit(folder: Path):
    openai = pytest.importorskip("openai")
    with two_answers(folder, "198.51.100.7", proxies=THIS_MACHINE) as server:
        headers = asked_by("198.51.100.7")
        with (
            openai.OpenAI(base_url=f"{server.url}v1", api_key="none", max_retries=0, default_headers=headers) as client,
            pytest.raises(openai.RateLimitError, match="may have 2 running requests") as caught,
        ):
            client.models.list()
        assert caught.value.response.headers["retry-after"] == "1"


def test_an_assistants_client_is_told_of_the_limit_in_its_own_form(folder: Path):
    pytest.importorskip("mcp", reason="needs mcp (extra: mcp)")
    with two_answers(folder, "198.51.100.7", proxies=THIS_MACHINE) as server:
        call = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
        reply = server.client.post("/mcp", json=call, headers=asked_by("198.51.100.7"))
    assert (reply.status_code, reply.headers["retry-after"]) == (429, "1")
    assert (reply.json()["jsonrpc"], reply.json()["error"]["code"]) == ("2.0", -32000)
    assert "may have 2 running requests" in reply.json()["error"]["message"]


def test_only_named_proxies_are_trusted_and_loopback_has_no_limit(folder: Path):
    with two_answers(folder, "198.51.100.7") as server:
        assert server.client.get("/v1/methods", headers=asked_by("198.51.100.7")).status_code == 200
    with two_answers(folder, "198.51.100.7", proxies=("10.0.0.0/8",)) as server:
        assert server.client.get("/v1/methods", headers=asked_by("198.51.100.7")).status_code == 200


def test_what_a_client_writes_before_the_proxy_does_not_hide_it(folder: Path):
    with two_answers(folder, "198.51.100.7", proxies=THIS_MACHINE) as server:
        for written in ("127.0.0.1, 198.51.100.7", "203.0.113.9, 198.51.100.7", "198.51.100.7:4711"):
            assert server.client.get("/v1/methods", headers=asked_by(written)).status_code == 429


@pytest.mark.parametrize(
    ("address", "client"),
    [("198.51.100.7", "198.51.100.7"), ("::ffff:198.51.100.7", "198.51.100.7"), ("2001:db8::7:1", "2001:db8::/64"),
     ("2001:db8:0:0:ffff::", "2001:db8::/64"), ("unknown", "unknown"), ("127.0.0.9", ""), ("::1", "")],
)  # fmt: skip
def test_a_client_is_an_address_or_a_network_of_ipv6(address: str, client: str):
    assert client_of((address, 1)) == client


@pytest.mark.parametrize("wrong", [{"client": 0}, {"proxies": ("proxy.example",)}, {"proxies": ("10.0.0.1/8",)}])
def test_a_limit_or_proxy_that_cannot_be_is_wrong_usage(wrong: Any):
    with pytest.raises(UsageError, match=r"--per-client|--trust-proxy"):
        Door(**wrong).rules()


# ---------------------------------------------------------------- headers


@pytest.mark.parametrize("path", ["/healthz", "/v1/documents", "/nothing"])
def test_every_reply_forbids_scripts_of_others(server: Served, path: str):
    headers = server.client.get(path).headers
    assert "default-src 'none'" in headers["content-security-policy"]
    assert "unsafe" not in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff"
