"""Who may ask the server, from where, and how much."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest

pytest.importorskip("fastapi", reason="needs fastapi")

import httpx2
from web_parts import PATIENCE, Served, served

from toulmin.errors import UsageError
from toulmin.server.guard import name_of
from toulmin.server.serve import Door

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
    with pytest.raises(UsageError, match="16 characters or more, not 4"):
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
    address = httpx2.URL(server.url)
    with socket.create_connection((address.host, address.port or 0)) as client:
        client.sendall(b"POST /v1/check HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999\r\n\r\n{")
        assert client.recv(100).startswith(b"HTTP/1.1 413")


def test_half_sent_headers_shut_nobody_out_and_are_ended(server: Served):
    address = httpx2.URL(server.url)
    with ExitStack() as stack:
        clients = [
            stack.enter_context(socket.create_connection((address.host, address.port or 0))) for _ in range(1_100)
        ]
        for client in clients:
            client.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Slow: ")
        assert httpx2.get(server.url + "v1/methods", timeout=PATIENCE).status_code == 200
        with suppress(ConnectionError):
            clients[-1].settimeout(PATIENCE)
            assert clients[-1].recv(1) == b""


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


# ---------------------------------------------------------------- headers


@pytest.mark.parametrize("path", ["/healthz", "/v1/documents", "/nothing"])
def test_every_reply_forbids_scripts_of_others(server: Served, path: str):
    headers = server.client.get(path).headers
    assert "default-src 'none'" in headers["content-security-policy"]
    assert "unsafe" not in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff"
