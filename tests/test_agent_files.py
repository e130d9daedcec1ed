"""What assistants and the registry of MCP read: the skill, and the description of the server."""

from __future__ import annotations

import json
import re
import shlex
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

import toulmin
from toulmin.checking.findings import RULES
from toulmin.cli import run

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
SERVER: dict[str, Any] = json.loads((ROOT / "server.json").read_text("utf-8"))
(PACKAGE,) = SERVER["packages"]
SKILL = ROOT / "skills" / "toulmin" / "SKILL.md"
_, FRONT, BODY = SKILL.read_text("utf-8").split("---\n", 2)
ABOUT: dict[str, str] = yaml.safe_load(FRONT)
COMMANDS = [line for block in re.findall(r"```bash\n(.*?)```", BODY, re.DOTALL) for line in block.splitlines()]


def options_of(command: str, capsys: pytest.CaptureFixture[str]) -> set[str]:
    assert run([command, "--help"]) == 0
    return set(re.findall(r"--[a-z][a-z-]*", capsys.readouterr().out))


# ---------------------------------------------------------------- the skill


def test_the_skill_is_named_as_its_folder_and_described():
    assert ABOUT["name"] == SKILL.parent.name
    assert re.fullmatch(r"[a-z0-9]+(?:-[a-z0-9]+)*", ABOUT["name"])
    assert 0 < len(ABOUT["description"]) <= 1024
    assert len(ABOUT["compatibility"]) <= 500
    assert ABOUT["license"] == PROJECT["license"]


@pytest.mark.parametrize("line", COMMANDS)
def test_a_command_of_the_skill_and_its_options_exist(line: str, capsys: pytest.CaptureFixture[str]):
    words = shlex.split(line.split("|")[-1].split(">")[0])
    assert words[0] == "toulmin"
    assert {word for word in words if word.startswith("--")} - options_of(words[1], capsys) == set()


def test_the_skill_describes_every_verdict_and_rule():
    verdicts = set(re.findall(r"^\| `([a-z]+)` \|", BODY, re.MULTILINE))
    assert verdicts == {"supported", "likely", "disputed", "unsure", "unsupported", "contradicted"}
    paragraph = re.search(r"`--fail-on` takes (.*?)\n\n", BODY, re.DOTALL)
    assert paragraph is not None
    assert re.findall(r"`([a-z]+)`", paragraph[1]) == list(RULES)


def test_the_skill_has_short_lines_and_is_no_book():
    lines = SKILL.read_text("utf-8").splitlines()
    assert max(map(len, lines)) <= 120
    assert len(lines) < 150


# ---------------------------------------------------------------- the description of the server


def test_the_server_has_the_version_of_the_package():
    assert SERVER["version"] == PACKAGE["version"] == toulmin.__version__
    (runtime,) = PACKAGE["runtimeArguments"]
    assert (PACKAGE["runtimeHint"], runtime["name"]) == ("uvx", "--with")
    assert runtime["value"].endswith(f"=={toulmin.__version__}")


def test_the_server_is_the_package_of_this_project():
    assert (PACKAGE["registryType"], PACKAGE["identifier"]) == ("pypi", PROJECT["name"])
    assert PACKAGE["transport"] == {"type": "stdio"}
    assert ("repository" in SERVER) == ("Repository" in PROJECT.get("urls", {}))


def test_the_server_is_run_with_extras_that_exist():
    extras = re.fullmatch(r"toulmin\[([a-z,]+)\]==.*", PACKAGE["runtimeArguments"][0]["value"])
    assert extras is not None
    assert "mcp" in extras[1].split(",")
    assert set(extras[1].split(",")) <= PROJECT["optional-dependencies"].keys()


def test_the_server_is_started_with_a_command_and_options_that_exist(capsys: pytest.CaptureFixture[str]):
    command, *options = PACKAGE["packageArguments"]
    assert command == {"type": "positional", "value": "mcp"}
    assert {option["name"] for option in options} <= options_of("mcp", capsys)
    assert all(option["type"] == "named" and option["isRequired"] for option in options)


def test_the_description_keeps_to_the_bounds_of_the_registry():
    assert re.fullmatch(r"[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+", SERVER["name"])
    assert 1 <= len(SERVER["description"]) <= 100
    assert re.fullmatch(
        r"https://static\.modelcontextprotocol\.io/schemas/2025-\d\d-\d\d/server\.schema\.json", SERVER["$schema"]
    )


def test_a_page_proves_the_name_of_the_server():
    pages = [(ROOT / name).read_text("utf-8") for name in ("README.md", "docs/server.md")]
    assert any(f"<!-- mcp-name: {SERVER['name']} -->" in page for page in pages)
