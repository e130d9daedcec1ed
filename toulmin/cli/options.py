"""Options that several commands share, with their help."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from toulmin.data import Policy, Style
from toulmin.errors import UsageError

if TYPE_CHECKING:
    from toulmin.build.sources import Sources
    from toulmin.config import Settings

Docs = Annotated[
    tuple[str, ...],
    Parameter(
        name="--docs",
        consume_multiple=False,
        help="Search this file or folder; repeatable. Toulmin indexes it and later rereads only changed files.",
    ),
]
Only = Annotated[
    tuple[str, ...],
    Parameter(
        name="--only",
        consume_multiple=False,
        help="Search only documents that pass: a path (contracts/*.md), tag:policy, author:smith, title:word, kind:pdf,"
        " language:de, after:2024-01-01 or before:2024-12; not: before it turns it round. Repeatable: all must hold.",
    ),
]
Wait = Annotated[
    bool | None,
    Parameter(
        negative="--no-wait",
        help="Read all files before the first answer. At a terminal the default is --no-wait: answer after some"
        " seconds from what was read, then read the rest.",
    ),
]
Index = Annotated[str | None, Parameter(help="Search the index in this folder or at this address (default: .toulmin).")]
AnswerStyle = Annotated[Style | None, Parameter(help="Write long (sentences), list, short (one answer) or report.")]
Unsupported = Annotated[Policy | None, Parameter(help="Keep, flag (default) or drop an unsupported claim.")]
Sets = Annotated[
    tuple[str, ...],
    Parameter(
        name="--set",
        consume_multiple=False,
        help="Set NAME=VALUE: any setting, or an option of the method or judge; repeatable.",
    ),
]
Json = Annotated[bool, Parameter(name="--json", help="Print one JSON document on standard output.")]
Explain = Annotated[bool, Parameter(help="Print each round: what was searched, drafted, kept and dropped, and why.")]
Method = Annotated[
    str | None,
    Parameter(
        help="Answer by this method: best (default), calm, vtg, plan, a2r, self-rag, vanilla, summ, snippet, rerank,"
        " usc, self-refine, closed, or PACKAGE:NAME."
    ),
]
Model = Annotated[str | None, Parameter(help="Write with provider:model (default: extractive, the embedded writer).")]
Verifier = Annotated[str | None, Parameter(help="Use a second model, for methods that contrast two.")]
JudgeSpec = Annotated[
    str | None,
    Parameter(
        help="Judge claims by embedded (default if installed), lexical (else), cross:, seq2seq:, minicheck:, factcg:"
        " or model:SPEC."
    ),
]
PassageCount = Annotated[int | None, Parameter(help="Read this many passages.")]
MaxCalls = Annotated[int | None, Parameter(help="Stop an answer after this many model calls.")]
MaxTokens = Annotated[int | None, Parameter(help="Stop an answer after this many tokens.")]
Deadline = Annotated[float | None, Parameter(help="Stop an answer after this many seconds.")]
Workers = Annotated[int | None, Parameter(help="Use this many workers (default: the cluster's CPUs less one).")]
Gpus = Annotated[float, Parameter(help="Give each worker this many GPUs (default: none).")]


@Parameter(name="*")
@dataclass(frozen=True)
class Parts:
    """What answers, and what one answer may spend."""

    method: Method = None
    model: Model = None
    verifier: Verifier = None
    judge: JudgeSpec = None
    k: PassageCount = None
    set_: Sets = ()
    max_calls: MaxCalls = None
    max_tokens: MaxTokens = None
    deadline: Deadline = None

    def settings(self, **others: Any) -> Settings:
        return settings_from(**vars(self), **others)


@Parameter(name="*")
@dataclass(frozen=True)
class Place:
    """What is searched."""

    docs: Docs = ()
    index: Index = None
    only: Only = ()

    @property
    def sources(self) -> Sources:
        from toulmin.build.sources import sources_of

        return sources_of(self.docs or None, self.index)


@Parameter(name="*")
@dataclass(frozen=True)
class Asking(Place):
    """Where an answer comes from, and how it is shown."""

    style: AnswerStyle = None
    unsupported: Unsupported = None
    json: Json = False
    explain: Explain = False

    def settings(self, parts: Parts) -> Settings:
        return parts.settings(index=self.index, only=self.only or None, style=self.style, unsupported=self.unsupported)


def settings_from(set_: tuple[str, ...] = (), **flags: Any) -> Settings:
    """`set_` holds NAME=VALUE pairs: settings or options of the method."""
    from toulmin import config

    values = {name: value for name, value in flags.items() if value is not None}
    return config.resolve_settings(None, config.settings_of(config.parse_options(set_) | values))


def check_target(path: Path | None) -> None:
    """Raises `UsageError` for a file that cannot be written, before the work for it is done."""
    if path is not None and path.is_dir():
        raise UsageError(f"{path} is a folder; name a file.")
    if path is not None and not os.access(path.parent, os.W_OK):
        raise UsageError(f"{path} cannot be written: {path.parent} is no folder that you may write in.")
