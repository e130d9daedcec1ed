"""The image and the unit of `deploy/`, tried as far as they can be without a container engine."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="needs fastapi")

import httpx2
import tantivy
from web_parts import free_port

import toulmin

ROOT = Path(toulmin.__file__).parent.parent
DOCKERFILE = (ROOT / "deploy" / "Dockerfile").read_text("utf-8")
UNIT = (ROOT / "deploy" / "toulmin.service").read_text("utf-8")
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
README = (ROOT / "README.md").read_text("utf-8")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
TOKEN = "a-token-of-some-length"
NOBODY = 65534
PATIENCE = 90.0  # seconds
MAIN = "from toulmin.cli import main; main()"


def steps(name: str) -> list[str]:
    """The arguments of the Dockerfile's instructions of that name."""
    return re.findall(rf"^{name} (.*)$", DOCKERFILE, re.MULTILINE)


def unit(name: str) -> str:
    (value,) = re.findall(rf"^{name}=(.*)$", UNIT, re.MULTILINE)
    return value


# ---------------------------------------------------------------- the image


def test_image_installs_the_locked_set_and_assistant_tools():
    locked, own = (shlex.split(line) for line in steps("RUN")[:2])
    files = [name for name in locked if name.endswith(".txt")]
    assert files == ["requirements/build.txt", "requirements/server.txt"]
    assert "--require-hashes" in locked
    assert {"--no-deps", "--no-build-isolation", ".", "./weights", "./weights/judge"} <= set(own)
    (extras,) = re.findall(r"lock pyproject\.toml (.*) -c .* -o requirements/server\.txt", CONTRIBUTING)
    assert "toulmin[server]" in str(PROJECT["optional-dependencies"]["mcp"])
    assert set(extras.replace("--extra", "").split()) == {"embedded", "mcp"}


def test_the_readme_and_the_image_install_the_same():
    (line,) = re.findall(r"^python3 -m venv .* demo$", README, re.MULTILINE)
    theirs = [shlex.split(command)[1:] for command in line.split(" && ") if "/pip " in command]
    ours = [shlex.split(line.split(" && ")[-1])[1:] for line in steps("RUN")[:2]]
    assert theirs == [[word.replace("--no-cache-dir", "-q") for word in words] for words in ours]


def test_what_the_image_copies_is_here_and_goes_to_the_builder():
    copied = {name for line in steps("COPY") if not line.startswith("--") for name in line.split()[:-1]}
    needed = {"toulmin", "requirements", "weights", "pyproject.toml", "README.md", *PROJECT["license-files"]}
    assert copied == needed
    assert all((ROOT / name).exists() for name in copied)
    sent = (ROOT / "deploy" / "Dockerfile.dockerignore").read_text().split("\n")
    assert {line[1:] for line in sent if line.startswith("!")} == copied


def test_the_image_runs_as_nobody_of_note_and_holds_no_secret():
    assert [user.split(":")[0] for user in steps("USER")] == ["10001"]
    assert steps("USER")[0].split(":")[0] in steps("RUN")[2]
    assert "TOKEN" not in " ".join((*steps("ENV"), *steps("ARG")))
    assert DOCKERFILE.index("\nUSER ") > DOCKERFILE.rindex("\nRUN ")


def test_the_image_is_of_a_python_that_the_package_names():
    named = {line.rsplit(" ", 1)[1] for line in PROJECT["classifiers"] if "Python :: 3." in line}
    assert set(re.findall(r"^FROM python:([\d.]+)-slim", DOCKERFILE, re.MULTILINE)) <= named


# ---------------------------------------------------------------- as it is started


@dataclass(frozen=True)
class User:
    """Whom a command runs as: nobody, who may write neither the package nor the libraries, where one can be that."""

    python: str
    who: dict[str, Any]

    def run(self, arguments: list[str], environ: dict[str, str], cwd: Path) -> subprocess.Popen[bytes]:
        libraries = os.pathsep.join([str(ROOT), str(Path(tantivy.__file__).parent.parent)])
        environ = {"PATH": os.defpath, "HOME": "/nonexistent", "PYTHONPATH": libraries, **environ}
        command = [self.python, "-c", MAIN, *arguments]
        return subprocess.Popen(command, env=environ, cwd=cwd, **self.who)


@pytest.fixture(scope="module")
def user() -> User:
    another = {"user": NOBODY, "group": NOBODY, "extra_groups": []}
    system = shutil.which(f"python3.{sys.version_info.minor}", path="/usr/bin:/usr/local/bin")
    for python in (sys.executable, system):
        tried = User(python or sys.executable, another)
        try:
            if tried.run(["--version"], {}, Path("/")).wait(PATIENCE) == 0:
                return tried
        except (OSError, subprocess.SubprocessError):  # not root, or an interpreter that only its owner may run
            continue
    return User(sys.executable, {})


@pytest.fixture
def data(user: User, notes: Path) -> Iterator[Path]:
    """The volume with an index, of the user alone."""
    with tempfile.TemporaryDirectory() as name:  # pytest's own is closed to other users
        volume = Path(name)
        shutil.copytree(notes, volume / "documents")
        (volume / "token").write_text(TOKEN)
        for path in (volume, *volume.rglob("*")):
            os.chown(path, user.who.get("user", -1), -1)
            path.chmod(0o700 if path.is_dir() else 0o400)
        index = ["index", str(volume / "documents"), "--into", str(volume / "library")]
        assert user.run(index, environ_of(volume), volume).wait(PATIENCE) == 0
        yield volume


def environ_of(volume: Path) -> dict[str, str]:
    """The image's variables, with this volume as /data."""
    variables = dict(part.split("=", 1) for part in steps("ENV")[0].split())
    return {name: value.replace("/data", str(volume)) for name, value in variables.items() if name != "PATH"}


def serving_command(volume: Path, port: int) -> list[str]:
    command = [*json.loads(steps("CMD")[0]), "--port", str(port)]
    places = {"/run/secrets/toulmin_token": str(volume / "token"), "/data/library": str(volume / "library")}
    return [places.get(word, word) for word in command]


def health_check(port: int) -> list[str]:
    (check,) = re.findall(r"CMD (\[.*\])$", steps("HEALTHCHECK")[0])
    _, *arguments = [part.replace(":8420/", f":{port}/") for part in json.loads(check)]
    return [sys.executable, *arguments]


@contextmanager
def running(
    user: User, command: list[str], environ: dict[str, str], volume: Path, port: int
) -> Iterator[httpx2.Client]:
    """The command, until it is ended by SIGTERM, which it does in order."""
    process, end = user.run(command, environ, volume), time.monotonic() + PATIENCE
    headers = {"Authorization": f"Bearer {TOKEN}"}
    try:
        with httpx2.Client(base_url=f"http://127.0.0.1:{port}", headers=headers, timeout=PATIENCE) as client:

            def is_ready() -> bool:
                try:
                    return process.poll() is not None or client.get("/readyz").status_code == 200
                except httpx2.HTTPError:
                    return False

            while not is_ready() and time.monotonic() < end:
                time.sleep(0.1)
            assert process.poll() is None
            yield client
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE) == 0
    finally:
        process.kill()
        process.wait()


def test_the_images_command_runs_unprivileged_in_its_volume(user: User, data: Path):
    assert "/data" in steps("VOLUME")
    assert json.loads(steps("ENTRYPOINT")[0]) == ["toulmin"]
    port = free_port()
    with running(user, serving_command(data, port), environ_of(data), data, port) as client:
        answer = client.post("/v1/answers", json={"question": "Who built Kettle Rock Tower?"}).json()
        assert answer["status"] == "answered"
        sent = client.post("/v1/documents", files={"file": ("birds.txt", b"Cormorants nest on Kettle Rock in May.\n")})
        assert sent.json()["read"] == ["birds.txt"]
        assert subprocess.run(health_check(port), check=False).returncode == 0
    assert subprocess.run(health_check(port), check=False, stderr=subprocess.DEVNULL).returncode == 1
    assert {path.name for path in data.iterdir()} >= {"library", "library-uploads", "state"}


# ---------------------------------------------------------------- the unit


def unit_command(volume: Path, port: int) -> list[str]:
    _, *command = shlex.split(unit("ExecStart"))
    places = {"%S/toulmin/library": str(volume / "library"), "%d/token": str(volume / "token")}
    return [*(places.get(word, word) for word in command), "--port", str(port)]


def test_the_unit_s_command_answers_with_the_token_as_a_credential(user: User, data: Path):
    assert unit("LoadCredential").split(":")[0] == "token"
    (data / "token").chmod(0o440)  # as newer systemd shows it
    environ = dict(part.split("=") for part in unit("Environment").split())
    environ = {
        name: value.replace("%S", str(data)).replace("%C", str(data / "cache")) for name, value in environ.items()
    }
    port = free_port()
    with running(user, unit_command(data, port), environ | {"CREDENTIALS_DIRECTORY": str(data)}, data, port) as client:
        assert client.post("/v1/search", json={"query": "tower"}).json()["hits"]
    assert (data / unit("StateDirectory") / "answers").is_dir()


def test_systemd_waits_longer_than_the_server_takes_to_end():
    grace = int(re.findall(r"--grace (\d+)", unit("ExecStart"))[0])
    assert grace < int(unit("TimeoutStopSec"))


def test_the_unit_allows_all_connections_of_the_server():
    from toulmin.server.serve import MOST_CONNECTIONS

    assert int(unit("LimitNOFILE")) > MOST_CONNECTIONS


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="needs systemd-analyze (Debian: systemd)")
def test_systemd_finds_no_fault_with_the_unit(tmp_path: Path):
    path = tmp_path / "toulmin.service"
    program, owner = unit("ExecStart").split()[0], unit("User")
    path.write_text(UNIT.replace(program, shutil.which("true") or "").replace(f"User={owner}", "User=root"))
    environ = {**os.environ, "SYSTEMD_LOG_LEVEL": "warning"}
    verified = subprocess.run(
        ["systemd-analyze", "verify", path], capture_output=True, text=True, env=environ, check=False
    )
    assert (verified.returncode, verified.stderr) == (0, "")
    path.write_text(UNIT)
    rated = ["systemd-analyze", "security", "--offline=true", "--no-pager", "--threshold=25", str(path)]
    assert subprocess.run(rated, capture_output=True, check=False).returncode == 0
