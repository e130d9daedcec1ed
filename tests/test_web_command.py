"""`toulmin serve` as a person starts and ends it."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import fork_server
import httpx2
import pytest
from web_parts import PATIENCE, free_port, until

from toulmin.cli import run
from toulmin.server.serve import Door

COMMAND = [sys.executable, "-c", fork_server.MAIN, "serve"]


@pytest.fixture(scope="module")
def client() -> Iterator[httpx2.Client]:
    """For all requests: each `httpx2.get` would read the certificates of the system again."""
    with httpx2.Client() as client:
        yield client


def serve(*words: str) -> list[str]:
    return fork_server.toulmin("serve", *words)


@pytest.mark.skipif(os.name == "nt", reason="needs a shell script and SIGINT")
def test_the_command_serves_opens_the_page_and_ends_in_order(notes: Path, tmp_path: Path):
    browser, opened, port = tmp_path / "browser", tmp_path / "opened", free_port()
    browser.write_text(f'#!/bin/sh\necho "$1" > "{opened}"\n', "utf-8")
    browser.chmod(0o755)
    process = subprocess.Popen(
        [*COMMAND, "--docs", str(notes), "--port", str(port), "--open"],
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "BROWSER": str(browser)},
    )
    try:
        assert until(lambda: opened.exists() and opened.read_text("utf-8") != "")
        url = opened.read_text("utf-8").strip()
        assert url == f"http://127.0.0.1:{port}/"
        assert "Toulmin" in httpx2.get(url).text
        process.send_signal(signal.SIGINT)
        _, told = process.communicate(timeout=PATIENCE)
    finally:
        process.kill()
    assert process.returncode == 0
    assert url in told
    assert "Traceback" not in told


def test_a_door_that_should_not_stand_open_is_refused(notes: Path):
    told = subprocess.run(serve("--docs", str(notes), "--host", "0.0.0.0"), capture_output=True, text=True)
    assert told.returncode == 2
    assert "--token" in told.stderr


@pytest.mark.parametrize("place", ["environment", "file"])
def test_the_token_is_read_from_the_environment_or_a_file(
    notes: Path, tmp_path: Path, place: str, client: httpx2.Client
):
    token, port, file = "a-token-of-some-length", free_port(), tmp_path / "token"
    file.write_text(f"{token}\n", "utf-8")
    file.chmod(0o600)
    options, env = (["--token-file", str(file)], {}) if place == "file" else ([], {"TOULMIN_TOKEN": token})
    process = subprocess.Popen(
        serve("--docs", str(notes), "--port", str(port), *options),
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **env},
    )

    def status(headers: dict[str, str]) -> int:
        try:
            return client.get(f"http://127.0.0.1:{port}/v1/documents", headers=headers).status_code
        except httpx2.TransportError:  # it starts
            return 0

    try:
        headers = {"Authorization": f"Bearer {token}"}
        assert until(lambda: process.poll() is not None or status(headers) == 200)
        assert (process.poll(), status({})) == (None, 401)
    finally:
        process.kill()
        process.communicate()


@pytest.mark.skipif(os.name == "nt", reason="needs modes of files")
def test_a_file_of_a_token_that_others_can_read_is_refused(notes: Path, tmp_path: Path):
    (tmp_path / "token").write_text("a-token-of-some-length\n", "utf-8")
    (tmp_path / "token").chmod(0o644)
    command = serve("--docs", str(notes), "--token-file", str(tmp_path / "token"))
    process = subprocess.run(command, capture_output=True, text=True)
    assert (process.returncode, "chmod 600" in process.stderr) == (2, True)


@pytest.mark.skipif(os.name == "nt", reason="needs SIGINT")
def test_the_server_answers_while_it_reads_on(notes: Path, client: httpx2.Client):
    port = free_port()
    hurry = "import toulmin.build.sources as sources; sources.FIRST_SECONDS = 0.0; "
    command = fork_server.python(hurry + fork_server.MAIN, "serve", "--docs", str(notes), "--port", str(port))

    def reads_all() -> bool:
        try:
            reply = client.post(f"http://127.0.0.1:{port}/v1/answers", json={"question": "When was the tower lit?"})
        except httpx2.TransportError:  # it starts
            return False
        if reply.status_code == 503:  # it opens its index
            return False
        answer = reply.json()
        return "3 May 1824" in json.dumps(answer["claims"]) and not any(
            "not indexed yet" in note for note in answer["notes"]
        )

    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        assert until(reads_all)  # keepers.txt, which is read first, does not say so
        process.send_signal(signal.SIGINT)
        _, log = process.communicate(timeout=PATIENCE)
    finally:
        process.kill()
    assert "Traceback" not in log


@pytest.mark.skipif(os.name == "nt", reason="needs SIGINT")
def test_a_recheck_reads_what_was_edited_while_the_server_runs(notes: Path, client: httpx2.Client):
    port = free_port()
    process = subprocess.Popen(serve("--docs", str(notes), "--port", str(port)), stderr=subprocess.PIPE, text=True)
    url = f"http://127.0.0.1:{port}"

    def is_ready() -> bool:
        try:
            return client.get(f"{url}/readyz").status_code == 200
        except httpx2.TransportError:
            return False

    try:
        assert until(is_ready)
        answer = client.post(f"{url}/v1/answers", json={"question": "When was the tower lit?"}).json()
        for file in notes.iterdir():
            file.write_text(file.read_text("utf-8").replace("1824", "1842"), "utf-8")
        counts = client.get(f"{url}/v1/answers/{answer['id']}/recheck", timeout=60).json()["counts"]
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=PATIENCE)
    finally:
        process.kill()
    assert counts.keys() & {"contradicted", "stale"}


def test_a_busy_port_is_said(notes: Path, capsys: pytest.CaptureFixture[str]):
    with socket.create_server(("127.0.0.1", 0)) as held:
        port = held.getsockname()[1]
        assert run(["serve", "--docs", str(notes), "--port", str(port)]) == 3
    (line,) = capsys.readouterr().err.splitlines()
    assert f"Cannot listen on port {port} of 127.0.0.1: Address already in use" in line
    assert "Name another --port; with --port 0" in line


def test_a_free_port_is_taken_and_told():
    with Door(port=0).listening() as sockets:
        port = sockets[0].getsockname()[1]
        assert port > 0
        assert Door(port=0, root="tool/").address(port) == f"http://127.0.0.1:{port}/tool/"
