"""Toulmin answers questions from your own documents. Every sentence cites its source and is checked against it.

import toulmin

answer = toulmin.ask("Who recorded the song first?", docs="notes/")
for claim in answer.claims:
    print(claim.text, claim.support.label, claim.cited)
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

# The modules of public names; their types are in `__init__.pyi`. Names load on first use, so that `import toulmin` is
# quick. Everything else may move without notice.
_HOMES = {
    "toulmin.config": "Settings",
    "toulmin.data": "Answer Citation Claim Hit Passage Quote Source Support Usage",
    "toulmin.errors": "BudgetEnded IndexDamaged ModelError SourceError ToulminError UsageError",
    "toulmin.driver.budget": "Budget",
    "toulmin.formats.press": "export_answer",
    "toulmin.driver.kit": "Judge Kit LanguageModel Reader Retriever",
    "toulmin.sync": "ask ask_all check check_files compare export index questions recheck run score search stream"
    " table",
}
_HOME = {name: home for home, names in _HOMES.items() for name in names.split()}
__all__ = sorted([*_HOME, "aio"])


def __getattr__(name: str) -> Any:
    if name == "aio":
        return import_module("toulmin.aio")
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module 'toulmin' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
