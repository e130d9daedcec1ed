"""Options that several commands have, with their help."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from toulmin.data import Policy, Style

if TYPE_CHECKING:
    from toulmin.config import Settings

Docs = Annotated[
    tuple[str, ...],
    Parameter(
        name="--docs",
        consume_multiple=False,
        help="A file or folder to search; repeatable. It is indexed first; later, only what changed is read again.",
    ),
]
Wait = Annotated[
    bool | None,
    Parameter(
        negative="--no-wait",
        help="Read all files before the first answer, or answer after some seconds from those read so far and then"
        " read the rest (default: at a terminal).",
    ),
]
Index = Annotated[
    str | None,
    Parameter(
        help="The folder of an index made by `toulmin index`, or an address such as s3://BUCKET/CORPUS"
        " (default: .toulmin)."
    ),
]
AnswerStyle = Annotated[
    Style | None,
    Parameter(help="long: cited sentences; list: entities; short: one short answer; report: cited paragraphs."),
]
Unsupported = Annotated[
    Policy | None,
    Parameter(help="What to do with a claim that the judge does not support: keep, flag (default) or drop it."),
]
Sets = Annotated[
    tuple[str, ...],
    Parameter(
        name="--set",
        consume_multiple=False,
        help="NAME=VALUE: another setting, or an option of the method or judge; repeatable.",
    ),
]
Json = Annotated[bool, Parameter(name="--json", help="Print only one JSON document on standard output.")]
Explain = Annotated[bool, Parameter(help="Print the rounds: what was searched, drafted, kept and dropped, and why.")]
Method = Annotated[
    str | None,
    Parameter(
        help="How to answer: best (default), calm, vtg, plan, a2r, self-rag, vanilla, summ, snippet, rerank, usc,"
        " self-refine, closed, or PACKAGE:NAME."
    ),
]
Model = Annotated[str | None, Parameter(help="The writer, as provider:model (default: extractive, the embedded one).")]
Verifier = Annotated[str | None, Parameter(help="A second model, for methods that contrast two.")]
JudgeSpec = Annotated[
    str | None,
    Parameter(
        help="What decides support: embedded (default if installed), lexical (else), cross:, seq2seq:, minicheck:,"
        " factcg:, hhem:, alignscore:, lettuce: or granite-guardian:MODEL, model:SPEC, grammar (the default with a"
        " parser behind it) or cascade (the lexical one, and the default for what it does not refuse)."
    ),
]
PassageCount = Annotated[int | None, Parameter(help="How many passages to read.")]
MaxCalls = Annotated[int | None, Parameter(help="The most model calls for one answer.")]
MaxTokens = Annotated[int | None, Parameter(help="The most tokens for one answer.")]
Deadline = Annotated[float | None, Parameter(help="The most seconds for one answer.")]
Workers = Annotated[int | None, Parameter(help="How many workers (default: the cluster's CPUs less one).")]
Gpus = Annotated[float, Parameter(help="How many GPUs each worker gets (default: none).")]


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
        """What is named here, with settings that are options of one command alone."""
        flags = {name: value for name, value in vars(self).items() if name != "set_"}
        return settings_from(self.set_, **flags, **others)


@Parameter(name="*")
@dataclass(frozen=True)
class Asking:
    """Where an answer comes from, and how it is shown."""

    docs: Docs = ()
    index: Index = None
    style: AnswerStyle = None
    unsupported: Unsupported = None
    json: Json = False
    explain: Explain = False

    def settings(self, parts: Parts) -> Settings:
        return parts.settings(index=self.index, style=self.style, unsupported=self.unsupported)


def settings_from(pairs: tuple[str, ...], **flags: Any) -> Settings:
    """`pairs` (from `--set`) name settings or options of the method."""
    from toulmin import config

    values = {name: value for name, value in flags.items() if value is not None}
    return config.resolve_settings(None, config.settings_of(config.parse_options(pairs) | values))
