"""The distributions import only what Toulmin promises to keep."""

from __future__ import annotations

import ast
from pathlib import Path

INTEGRATIONS = Path(__file__).parents[2]
DISTRIBUTIONS = {"haystack", "langchain", "llama-index", "scorers"}
FILES = sorted(INTEGRATIONS.glob("*/src/**/*.py"))


def test_only_public_modules_are_imported():
    nodes = [node for path in FILES for node in ast.walk(ast.parse(path.read_text("utf-8")))]
    modules = {node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)}
    modules |= {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    assert {name for name in modules if name.split(".")[0] == "toulmin"} == {"toulmin"}
    assert {path.relative_to(INTEGRATIONS).parts[0] for path in FILES} == DISTRIBUTIONS
