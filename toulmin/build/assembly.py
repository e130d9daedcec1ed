"""The only place of assembly: from settings and sources to a kit, and from a question to a job.

Every implementation is picked here and imported when it is picked, so that help and usage errors stay quick.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncIterator, Callable, Generator, Mapping, Sequence
from contextlib import ExitStack, asynccontextmanager, suppress
from dataclasses import asdict, dataclass
from functools import partial
from types import SimpleNamespace
from typing import Any, get_type_hints

from toulmin import config
from toulmin.build import opening
from toulmin.config import Settings, fitting, is_plain
from toulmin.data import STYLES, Answer, Passage, Policy, Style
from toulmin.driver.budget import Budget
from toulmin.driver.drive import Driver, Job
from toulmin.driver.kit import Judge, Kit, LanguageModel, Reader, Retriever
from toulmin.errors import UsageError, unknown_name
from toulmin.steps import Program
from toulmin.methods import METHODS, Method
from toulmin.methods.reporting import rescued
from toulmin.build.providers import check_reader, is_embedded, model, trained_reader

JUDGES = ("lexical", "embedded", "embedded:FOLDER", "seq2seq:MODEL", "cross:MODEL", "model:SPEC")
POLICY: Policy = "flag"  # what people get; the papers keep, and runs for comparison will
EMBEDDED_K = 10  # the embedded writer has no window to fill, so it reads more than the methods' own k


# ---------------------------------------------------------------- the kit


def judge(spec: str, settings: Settings) -> Judge:
    """The judge that a SPEC names.

    Raises `UsageError` for one that nothing is called and `ModelError` for a model that does not load.
    """
    check_judge(spec)
    if spec == "lexical":
        from toulmin.judges.lexical import Lexical

        return Lexical()
    if spec == "embedded":
        return _embedded(None, settings)
    kind, _, name = spec.partition(":")
    return _JUDGES[kind](name, settings)


def check_judge(spec: str) -> None:
    """Raises `UsageError` for a SPEC that names no judge; nothing is loaded."""
    kind, _, name = spec.partition(":")
    if spec in ("lexical", "embedded") or (kind in _JUDGES and name):
        return
    near = unknown_name("judge", spec, ("lexical", "embedded", *(f"{kind}:MODEL" for kind in _JUDGES)))
    raise UsageError(f"{near} A judge is named as {', '.join(JUDGES)}.")


def _embedded(folder: str | None, settings: Settings) -> Judge:
    from toulmin.judges.embedded import embedded

    return embedded(folder)


def _seq2seq(name: str, settings: Settings) -> Judge:
    table = _judge_table("seq2seq", settings)
    from toulmin.judges.seq2seq import Seq2Seq

    return Seq2Seq(name, **table)


def _cross(name: str, settings: Settings) -> Judge:
    table = _judge_table("cross", settings)
    from toulmin.judges.cross import Cross

    return Cross(name, **table)


def _asked(name: str, settings: Settings) -> Judge:
    from toulmin.judges.asked import Asked

    return Asked(model(name, settings))


_JUDGES: Mapping[str, Callable[[str, Settings], Judge]] = {
    "embedded": _embedded,
    "seq2seq": _seq2seq,
    "cross": _cross,
    "model": _asked,
}
_JUDGE_SETTINGS: Mapping[str, Any] = {"device": str, "precision": str, "batch_tokens": int, "download": bool}
_CROSS_SETTINGS: Mapping[str, Any] = {
    "entailment": str,
    "contradiction": str,
    "threshold": float,
    "unsure": float,
    "quotes": bool,
    "window": int,
}


def _judge_table(kind: str, settings: Settings) -> dict[str, Any]:
    """The settings of a judge that is a model, such as `seq2seq.device`, each of a name and a type that it has."""
    kinds = {**_JUDGE_SETTINGS, **(_CROSS_SETTINGS if kind == "cross" else {})}
    table = settings.servers.get(kind, {})
    for name in table:
        if name not in kinds:
            raise unknown_name(f"setting of {kind}", name, kinds)
    return {name: fitting(f"{kind}.{name}", value, kinds[name], "setting") for name, value in table.items()}


class _LateReader:
    """The reader that the settings name, loaded with its first question."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._reader: Reader | None = None

    def read(self, questions: Sequence[tuple[str, Sequence[Passage]]]) -> Any:
        if self._reader is None:
            self._reader = self._made()
        return self._reader.read(questions)

    def _made(self) -> Reader:
        trained = trained_reader(self._settings)
        if trained is not None:
            return trained
        from toulmin.extractive.reader import Embedded

        return Embedded()


@dataclass(frozen=True, slots=True)
class Own:
    """A caller's own objects, each in place of the part that the settings name."""

    main: LanguageModel | None = None
    verifier: LanguageModel | None = None
    judge: Judge | None = None
    reader: Reader | None = None


def kit(retriever: Retriever, settings: Settings, own: Own = Own()) -> Kit:
    """The parts that the settings name, or the caller's own in their place."""
    check_reader(settings.reader)
    models = {"main": model(settings.model, settings) if own.main is None else own.main}
    if own.verifier is not None:
        models["verifier"] = own.verifier
    elif settings.verifier is not None:
        same = own.main is None and settings.verifier == settings.model
        models["verifier"] = models["main"] if same else model(settings.verifier, settings)
    return Kit(
        retriever,
        judge(settings.judge, settings) if own.judge is None else own.judge,
        models,
        _LateReader(settings) if own.reader is None else own.reader,
    )


@asynccontextmanager
async def equipped(retriever: Retriever, settings: Settings, own: Own = Own()) -> AsyncIterator[Kit]:
    """As `kit`; what was made here ends with it, a caller's own objects stay as they are."""
    made = kit(retriever, settings, own)
    parts = {id(part): part for part in (*made.models.values(), made.judge)}
    try:
        yield made
    finally:
        for kept in (own.main, own.verifier, own.judge):
            parts.pop(id(kept), None)
        for part in parts.values():
            await closed(part)


async def closed(part: object) -> None:
    """Lets a part end what it holds, if it holds anything."""
    close = getattr(part, "aclose", None)
    if close is not None:
        await close()


# ---------------------------------------------------------------- jobs


def method(name: str) -> Method:
    """The method of that name."""
    if name not in METHODS:
        raise unknown_name("method", name, METHODS)
    return METHODS[name]


def budget(settings: Settings) -> Budget:
    """What one answer may spend."""
    return Budget(settings.max_calls, settings.max_tokens, settings.deadline)


def job(
    question: str,
    settings: Settings,
    *,
    by: Method | None = None,
    budget_: Budget | None = None,
    id: str = "",
) -> Job:
    """The job of answering one question: its method with checked options, its budget and its settings."""
    chosen = method(settings.method) if by is None else by
    name = settings.method if by is None else getattr(by, "__name__", type(by).__name__)
    options = _options(name, chosen, settings)
    program = partial(chosen, question, **options)
    _check_beginning(name, program)
    return Job(
        question=question,
        method=name,
        style=options.get("style") or _usual_style(chosen),
        program=program,
        budget=budget(settings) if budget_ is None else budget_,
        settings=_shown(settings, options),
        id=id,
        rescue=partial(rescued, policy=settings.unsupported or POLICY),
    )


def _check_beginning(name: str, program: Callable[[], Program[Answer]]) -> None:
    """Raises what a method refuses before its first step, such as a value that means nothing; no step is served."""
    begun = program()
    if not isinstance(begun, Generator):
        raise UsageError(f"The method {name} should yield steps, but gave a {type(begun).__name__}.")
    try:
        next(begun, None)
    finally:
        begun.close()


def _usual_style(chosen: Method) -> Style:
    """The style that a method answers in where none is named."""
    named = inspect.signature(chosen).parameters.get("style")
    return "long" if named is None or named.default not in STYLES else named.default


def check_job(text: str, passages: tuple[Passage, ...], settings: Settings) -> Job:
    """The job of judging a text that somebody else wrote."""
    from toulmin.methods.check import check

    config.no_options(settings)
    options: dict[str, Any] = {} if settings.k is None else {"k": settings.k}
    program = partial(check, text, passages=passages, **options)
    return Job("", "check", "long", program, budget(settings), _shown(settings, options))


def repair_job(text: str, passages: tuple[Passage, ...], settings: Settings) -> Job:
    """The job of judging a text that somebody else wrote and putting right what the sources do not support.

    Its options are those of `methods.repair`; what cannot be put right is taken away, unless settings say otherwise.
    """
    from toulmin.methods.repair import repair

    options = _options("repair", repair, settings)
    for name in ("k", "unsupported"):  # a repair has usual values of its own
        if getattr(settings, name) is None:
            options.pop(name, None)
    program = partial(repair, text, **{**options, "passages": passages})
    return Job("", "repair", "long", program, budget(settings), _shown(settings, options))


def _check_value(option: str, value: Any, chosen: Method, settings: Settings) -> None:
    """Raises `UsageError` for a value that the setting, or the method's parameter, of that name cannot hold."""
    if option in Settings.__dataclass_fields__:
        settings.updated(**{option: value})
        return
    named = {name: kind for name, kind in getattr(chosen, "__annotations__", {}).items() if name == option}
    with suppress(NameError):  # a caller's own method may name types that are not there at run time
        kind = get_type_hints(SimpleNamespace(__annotations__=named), getattr(chosen, "__globals__", {})).get(option)
        if kind is not None and is_plain(kind):
            fitting(option, value, kind, "option")


def _options(name: str, chosen: Method, settings: Settings) -> dict[str, Any]:
    """The method's options: what everybody may set, as far as it takes them, and its own, checked by name."""
    known = [p.name for p in inspect.signature(chosen).parameters.values() if p.kind is p.KEYWORD_ONLY]
    for option in settings.options:
        if option not in known:
            raise unknown_name(f"option of method {name}", option, known)
    for option, value in settings.options.items():
        _check_value(option, value, chosen, settings)
    general = {name: getattr(settings, name) for name in ("style", "k", "temperature")}
    general["unsupported"] = settings.unsupported or POLICY
    if settings.k is None:
        reads_more = is_embedded(settings.model) and "preset" not in settings.options
        general["k"] = EMBEDDED_K if reads_more else None
    if settings.verifier is not None:
        general["contrast"] = True  # `best` contrasts where there is somebody to contrast with
    taken = {key: value for key, value in general.items() if key in known and value is not None}
    return taken | dict(settings.options)


# Of the place where it ran, not of the answer: these do not go into the Answer document.
_PRIVATE = frozenset({"index", "cache", "encoder", "prompts", "web", "servers", "prices", "options"})


def _shown(settings: Settings, options: Mapping[str, Any]) -> dict[str, Any]:
    """The settings as they go into the answer: what was chosen, without paths and addresses."""
    chosen = {name: value for name, value in asdict(settings).items() if value is not None and name not in _PRIVATE}
    return {"unsupported": POLICY} | chosen | {name: value for name, value in options.items() if _is_told(value)}


def _is_told(value: Any) -> bool:
    """Whether an option can stand in a document: what a caller hands over as an object or a function cannot."""
    if isinstance(value, Mapping):
        return all(isinstance(name, str) and _is_told(item) for name, item in value.items())
    if isinstance(value, tuple | list):
        return all(map(_is_told, value))
    return value is None or isinstance(value, str | int | float | bool)


class Answerer:
    """Answers chunks of questions side by side; its sources and its event loop stay open as long as it lives."""

    def __init__(self, sources: opening.Sources, settings: Settings) -> None:
        self._held = ExitStack()
        self._settings = settings
        self._loop = self._held.enter_context(asyncio.Runner())
        self._kit = kit(self._held.enter_context(opening.opened(sources, settings)).retriever, settings)

    def __call__(self, questions: Sequence[str]) -> list[Answer]:
        """One answer a question, in order."""
        return self._loop.run(self._answers(questions))

    async def _answers(self, questions: Sequence[str]) -> list[Answer]:
        jobs = (job(question, self._settings) for question in questions)
        return [outcome.answer async for outcome in Driver(self._kit).in_order(jobs)]
