"""Jobs: a question or text to check, with its method, checked options, budget and rescue."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from functools import partial
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, get_type_hints

from toulmin import config
from toulmin.build.parts import is_embedded, is_small, may_rate, quotes_first, rewriter_of
from toulmin.build.specs import Maker, Registry, Spec
from toulmin.config import Settings, convert, is_plain
from toulmin.data import STYLES, Answer, Passage, Policy, Style
from toulmin.driver.budget import Budget
from toulmin.driver.drive import Job
from toulmin.errors import ToulminError, UsageError, unknown_name
from toulmin.methods import METHODS as OURS
from toulmin.methods import Method, load_method
from toulmin.methods.disputes import note_disputes
from toulmin.methods.relevance import rated
from toulmin.methods.reporting import rescue_draft
from toulmin.steps import Program

if TYPE_CHECKING:
    from toulmin.methods.following import Earlier

POLICY: Policy = "flag"  # the default for people; papers and runs keep
EMBEDDED_K = 10  # the embedded writer has no window to fill, so it reads more than a method's k
RANKING_K = 30  # with a reader that ranks windows; without one, more passages add noise
SMALL_K = 3  # passages from which a small model drafts


def _adapt(module: Any) -> Maker:
    """Another package's method: a function, or one of a module's (`mine:twice`)."""

    def make(name: str, table: dict[str, Any], settings: Settings) -> Method:
        chosen = getattr(module, name, None) if name else module
        if not callable(chosen):
            raise UsageError(f"{getattr(module, '__name__', module)!r} has no method called {name!r}.")
        method: Method = chosen
        return method

    return make


_SPECS = [Spec(name, "", lambda *_, name=name: load_method(name)) for name in OURS]
METHODS: Registry[Method] = Registry("method", _SPECS, verb="__call__", adapt=_adapt)


def method(name: str) -> Method:
    """Raises `UsageError` for an unknown name."""
    return METHODS.find(name).make(Settings())


def method_names() -> tuple[str, ...]:
    """The methods with a name, ours first, without modules of methods (`mine:twice`)."""
    names = [spec.name for spec in METHODS.specs]
    for name in METHODS.names[len(names) :]:
        with suppress(ToulminError):
            method(name)
            names.append(name)
    return tuple(names)


def budget(settings: Settings) -> Budget:
    return Budget(settings.max_calls, settings.max_tokens, settings.deadline)


def job(
    question: str,
    settings: Settings,
    *,
    by: Method | None = None,
    budget_: Budget | None = None,
    id: str = "",
    history: Sequence[Earlier] = (),
    rewrite: bool = True,
) -> Job:
    """The job of a question, which is rewritten to read alone after a `history` unless `rewrite` is False."""
    chosen = method(settings.method) if by is None else by
    name = settings.method if by is None else getattr(by, "__name__", type(by).__name__)
    options = _options(name, chosen, settings)
    history = [_within(settings.only, turn) for turn in history]
    compares = options.get("unsupported") != "keep"  # experiments measure what a method says itself
    answering = partial(_answer_to, chosen=partial(chosen, **options), rates=may_rate(settings), compares=compares)
    program = partial(answering, question)
    _check_beginning(name, partial(chosen, question, **options))
    if rewrite and history:
        from toulmin.methods.following import follow, turns_of

        turns_of(history)  # refuses wrong turns
        # Measured by `benchmarks/followups.py`.
        asks_model = not (is_embedded(settings.model) or is_small(settings.model, settings))
        program = partial(follow, question, tuple(history), answering, asks_model=asks_model)
    return Job(
        question=question,
        method=name,
        style=options.get("style") or _usual_style(chosen),
        program=program,
        budget=budget(settings) if budget_ is None else budget_,
        settings=settings_to_show(settings, options),
        id=id,
        rescue=partial(rescue_draft, policy=settings.unsupported or POLICY),
        asking=partial(job, settings=settings, by=by, budget_=budget_, id=id, history=history) if rewrite else None,
    )


def _within(only: Sequence[str] | None, turn: Earlier) -> Earlier:
    """An earlier answer from other documents counts by its text: the passages it cited are not read again."""
    if isinstance(turn, Answer) and tuple(turn.settings.get("only") or ()) != tuple(only or ()):
        return turn.question, turn.text
    return turn


def _answer_to(question: str, chosen: Method, *, rates: bool, compares: bool) -> Program[Answer]:
    """The method's answer: what sources dispute, and its relevance if a reader can rate it."""

    def program() -> Program[Answer]:
        answer = yield from chosen(question)
        return (yield from note_disputes(answer)) if compares else answer

    return rated(program, question) if rates else program()


def _check_beginning(name: str, program: Callable[[], Program[Answer]]) -> None:
    """Raises what the method raises before its first step, such as a `UsageError`; serves no step."""
    begun = program()
    if not isinstance(begun, Generator):
        raise UsageError(f"The method {name} should yield steps, but returned a {type(begun).__name__}.")
    try:
        next(begun, None)
    finally:
        begun.close()


def _usual_style(chosen: Method) -> Style:
    named = inspect.signature(chosen).parameters.get("style")
    return "long" if named is None or named.default not in STYLES else named.default


def check_job(
    text: str,
    passages: tuple[Passage, ...],
    settings: Settings,
    *,
    repair: bool = False,
    path: str | os.PathLike[str] | None = None,
) -> Job:
    """The job of judging a text; `repair` also corrects or (by default) removes unsupported claims.

    The file at `path` with the text is no evidence for it. Raises `UsageError` for a text without words.
    """
    if not text.strip():
        raise UsageError("A text to check needs words, but it is empty.")
    from toulmin.methods import check as checking
    from toulmin.methods import repair as repairing

    judging: Callable[..., Program[Answer]] = repairing.repair if repair else checking.check
    if repair:
        options = _options("repair", judging, settings)
        for name in ("k", "unsupported"):  # a repair has other defaults
            if getattr(settings, name) is None:
                options.pop(name, None)
    else:
        config.no_options(settings)
        options = {} if settings.k is None else {"k": settings.k}
    place = os.path.abspath(path) if path else ""
    program = partial(judging, text, **{**options, "passages": passages, "path": place})
    shown = settings_to_show(settings, options)
    return Job("", "repair" if repair else "check", "long", program, budget(settings), shown)


def _check_value(option: str, value: Any, chosen: Method, settings: Settings) -> None:
    """Raises `UsageError` for a value of the wrong type."""
    if option in Settings.__dataclass_fields__:
        settings.override(**{option: value})
        return
    named = {name: kind for name, kind in getattr(chosen, "__annotations__", {}).items() if name == option}
    with suppress(NameError):  # a caller's method may name types that do not exist at run time
        kind = get_type_hints(SimpleNamespace(__annotations__=named), getattr(chosen, "__globals__", {})).get(option)
        if kind is not None and is_plain(kind):
            convert(option, value, kind, "option")


def _options(name: str, chosen: Method, settings: Settings) -> dict[str, Any]:
    """The general settings that the method takes, and its own options, checked by name and type."""
    known = [p.name for p in inspect.signature(chosen).parameters.values() if p.kind is p.KEYWORD_ONLY]
    for option in settings.options:
        if option not in known:
            raise unknown_name(f"option of method {name}", option, known)
    for option, value in settings.options.items():
        _check_value(option, value, chosen, settings)
    general = {name: getattr(settings, name) for name in ("style", "k", "temperature")}
    general["unsupported"] = settings.unsupported or POLICY
    is_shown_few = "draft_k" in known and is_small(settings.model, settings)
    general["draft_k"] = SMALL_K if is_shown_few else None
    general["quotes"] = True if quotes_first(settings) else None
    if settings.k is None:
        reads_more = (is_embedded(settings.model) or is_shown_few) and "preset" not in settings.options
        general["k"] = (RANKING_K if may_rate(settings) else EMBEDDED_K) if reads_more else None
    taken = {key: value for key, value in general.items() if key in known and value is not None}
    return taken | dict(settings.options)


# These describe the machine, not the answer, and stay out of the Answer document.
_PRIVATE = frozenset({"index", "cache", "encoder", "prompts", "servers", "prices", "options"})


def settings_to_show(settings: Settings, options: Mapping[str, Any]) -> dict[str, Any]:
    """The settings for the answer, without paths and addresses."""
    chosen = {name: value for name, value in asdict(settings).items() if value is not None and name not in _PRIVATE}
    chosen |= {"rewriter": rewriter} if (rewriter := rewriter_of(settings)) else {}
    return {"unsupported": POLICY} | chosen | {name: value for name, value in options.items() if is_written(value)}


def is_written(value: Any) -> bool:
    """Whether an option can be written as JSON."""
    if isinstance(value, Mapping):
        return all(isinstance(name, str) and is_written(item) for name, item in value.items())
    if isinstance(value, tuple | list):
        return all(map(is_written, value))
    return value is None or isinstance(value, str | int | float | bool)
