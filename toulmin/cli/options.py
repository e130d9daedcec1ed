"""Options that several commands have, with their help."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

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
        help="What decides support: embedded (default if installed), lexical (else), cross:MODEL, seq2seq:MODEL,"
        " model:SPEC or grammar (the default with a parser behind it)."
    ),
]
PassageCount = Annotated[int | None, Parameter(help="How many passages to read.")]
MaxCalls = Annotated[int | None, Parameter(help="The most model calls for one answer.")]
MaxTokens = Annotated[int | None, Parameter(help="The most tokens for one answer.")]
Deadline = Annotated[float | None, Parameter(help="The most seconds for one answer.")]
Workers = Annotated[int | None, Parameter(help="How many workers (default: the cluster's CPUs less one).")]
Gpus = Annotated[float, Parameter(help="How many GPUs each worker gets (default: none).")]
