"""An S3 server on loopback in a process of its own, and two bad ones: one that fails half of the time, one refuses.

And what tests of every shared corpus take: a command, run here, and notes.
"""

from __future__ import annotations

import http.client
import os
import random
import shutil
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from toulmin import demo
from toulmin.cli import main

SECRET = "a-secret-of-the-environment"
BUSY = b"<Error><Code>SlowDown</Code><Message>Please reduce your request rate.</Message></Error>"
REFUSED = (
    b"<Error><Code>InvalidAccessKeyId</Code><Message>The key does not exist.</Message>"
    b"<AWSAccessKeyId>test-key</AWSAccessKeyId></Error>"
)
ENVIRONMENT = {
    "AWS_ACCESS_KEY_ID": "test-key",
    "AWS_SECRET_ACCESS_KEY": SECRET,
    "AWS_REGION": "us-east-1",
    "AWS_DEFAULT_REGION": "us-east-1",
    "AWS_EC2_METADATA_DISABLED": "true",
}


def run(*words: str) -> int:
    """The exit code of a command."""
    try:
        main(list(words))
    except SystemExit as ended:
        return int(ended.code or 0)
    return 0


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


@contextmanager
def s3_server(log: Path) -> Iterator[int]:
    """Moto's S3 on a port of loopback, with the bucket `library`; it serves real requests from another process."""
    import boto3
    from botocore.config import Config

    port = free_port()
    with log.open("wb") as out:
        command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
        process = subprocess.Popen(command, stdout=out, stderr=out, env={**os.environ, **ENVIRONMENT})
    try:
        _wait_for(port, process)
        client = boto3.client(
            "s3",
            endpoint_url=f"http://127.0.0.1:{port}",
            aws_access_key_id="test-key",
            aws_secret_access_key=SECRET,
            region_name="us-east-1",
            config=Config(retries={"max_attempts": 1}),
        )
        client.create_bucket(Bucket="library")
        client.close()
        yield port
    finally:
        process.terminate()
        process.wait(10)


def _wait_for(port: int, process: subprocess.Popen[bytes]) -> None:
    for _ in range(600):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        assert process.poll() is None, "the S3 server ended"
        time.sleep(0.05)
    raise AssertionError("the S3 server did not begin to listen")


class Flaky:
    """Counts what came and what was failed."""

    def __init__(self, target: int, share: float) -> None:
        self.target, self.share = target, share
        self.asked = self.failed = 0
        self._chance, self._lock = random.Random(7), threading.Lock()

    def fails(self) -> bool:
        with self._lock:
            failing = self._chance.random() < self.share
            self.asked += 1
            self.failed += failing
            return failing


@contextmanager
def flaky(target: int, share: float = 0.5) -> Iterator[tuple[int, Flaky]]:
    """A server that hands on to another, but fails that share of the requests; its port and what it counts."""
    counts = Flaky(target, share)

    class Handler(_Quiet):
        def serve(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length") or 0))
            if counts.fails():
                self.reply(503, BUSY)
                return
            behind = http.client.HTTPConnection("127.0.0.1", counts.target)
            behind.putrequest(self.command, self.path, skip_host=True, skip_accept_encoding=True)
            for name, value in self.headers.items():
                behind.putheader(name, value)
            behind.endheaders(body)
            got = behind.getresponse()
            self.reply(got.status, got.read(), got.getheaders())
            behind.close()

    with _serving(Handler) as port:
        yield port, counts


@contextmanager
def refusing() -> Iterator[int]:
    """A server that refuses every credential in S3's form."""

    class Handler(_Quiet):
        def serve(self) -> None:
            self.rfile.read(int(self.headers.get("content-length") or 0))
            self.reply(403, REFUSED)

    with _serving(Handler) as port:
        yield port


class _Quiet(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def reply(self, status: int, body: bytes, headers: list[tuple[str, str]] | None = None) -> None:
        self.send_response_only(status)
        length = str(len(body))
        for name, value in headers or []:
            if name.lower() == "content-length" and self.command == "HEAD":
                length = value
            elif name.lower() not in ("transfer-encoding", "connection", "content-length"):
                self.send_header(name, value)
        self.send_header("content-length", length)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def serve(self) -> None:
        raise NotImplementedError

    def log_message(self, format: str, *args: object) -> None:
        pass

    do_GET = do_PUT = do_POST = do_HEAD = do_DELETE = lambda self: self.serve()


@contextmanager
def _serving(handler: type[_Quiet]) -> Iterator[int]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def notes_in(folder: Path) -> Path:
    """The documents of the demo, as a folder of one's own."""
    folder.mkdir()
    for file in Path(str(demo.FOLDER)).iterdir():
        if file.suffix in {".md", ".txt"}:
            shutil.copy(file, folder)
    return folder
