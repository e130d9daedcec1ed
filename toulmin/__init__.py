"""Toulmin answers questions from your own documents. Every sentence cites its source and is checked against it.

import toulmin

answer = toulmin.ask("Who recorded the song first?", docs="notes/")
for claim in answer.claims:
    print(claim.text, claim.support.label, claim.cited)
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from toulmin import aio
    from toulmin.config import Settings
    from toulmin.data import Answer, Citation, Claim, Hit, Passage, Quote, Source, Support, Usage
    from toulmin.driver.budget import Budget
    from toulmin.driver.kit import Judge, Kit, LanguageModel, Reader, Retriever
    from toulmin.errors import BudgetEnded, IndexDamaged, ModelError, SourceError, ToulminError, UsageError
    from toulmin.formats.press import export_answer
    from toulmin.sync import (
        ask,
        ask_all,
        check,
        check_files,
        compare,
        export,
        index,
        questions,
        recheck,
        run,
        score,
        search,
        stream,
    )

__version__ = "0.1.0"

# The modules of public names; the other names of `__all__` are in `sync`. Names load on first use, so that `import
# toulmin` stays quick. Everything else may move without notice.
_HOMES = {
    "toulmin.config": ("Settings",),
    "toulmin.data": ("Answer", "Citation", "Claim", "Hit", "Passage", "Quote", "Source", "Support", "Usage"),
    "toulmin.errors": ("BudgetEnded", "IndexDamaged", "ModelError", "SourceError", "ToulminError", "UsageError"),
    "toulmin.driver.budget": ("Budget",),
    "toulmin.formats.press": ("export_answer",),
    "toulmin.driver.kit": ("Judge", "Kit", "LanguageModel", "Reader", "Retriever"),
}

__all__ = [
    "Answer",
    "Budget",
    "BudgetEnded",
    "Citation",
    "Claim",
    "Hit",
    "IndexDamaged",
    "Judge",
    "Kit",
    "LanguageModel",
    "ModelError",
    "Passage",
    "Quote",
    "Reader",
    "Retriever",
    "Settings",
    "Source",
    "SourceError",
    "Support",
    "ToulminError",
    "Usage",
    "UsageError",
    "aio",
    "ask",
    "ask_all",
    "check",
    "check_files",
    "compare",
    "export",
    "export_answer",
    "index",
    "questions",
    "recheck",
    "run",
    "score",
    "search",
    "stream",
]


def __getattr__(name: str) -> Any:
    if name == "aio":
        return import_module("toulmin.aio")
    for home, names in _HOMES.items():
        if name in names:
            return getattr(import_module(home), name)
    if name in __all__:
        return getattr(import_module("toulmin.sync"), name)
    raise AttributeError(f"module 'toulmin' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
