"""The requests of a method, as values; the driver answers them.

A method is a generator that yields a step and is sent the reply: `hits = yield from search(question, 5)`. A failed
request raises a `ToulminError` inside the program, a spent budget `BudgetEnded`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator, Sequence
from dataclasses import dataclass, field, replace
from inspect import isawaitable
from math import exp, isfinite
from typing import Any, Generic, TypeVar, get_args

from toulmin.data import HOLDING, Answer, Hit, Label, Passage, Quote
from toulmin.prompts.replies import Reply
from toulmin.prompts.types import Prompt

ABSENT = "not in the sources"  # in a judge's reason, which sees one pair; who asked says where was looked

T = TypeVar("T")
_FARTHEST = 30.0  # log odds beyond this are certain in every digit
Program = Generator["Step", Any, T]


def chance(odds: float) -> float:
    """The probability, from log odds."""
    return 1 / (1 + exp(-max(-_FARTHEST, min(_FARTHEST, odds))))


@dataclass(frozen=True, slots=True)
class Pair:
    """A claim and the passages that should support it together.

    `question` is set if the claim is no sentence (an entity, a short answer). `read` is all that a search
    found for the claim.
    """

    premises: tuple[Passage, ...]
    claim: str
    question: str | None = None
    read: tuple[Passage, ...] = ()


@dataclass(frozen=True, slots=True)
class Verdict:
    """A judge's decision on one pair.

    `support` and `contradiction` are probabilities, `quotes[i]` is the decisive sentence of `premises[i]`, if any.
    """

    label: Label
    support: float
    contradiction: float
    judge: str
    quotes: tuple[Quote | None, ...] = ()
    reason: str | None = None

    def __post_init__(self) -> None:
        if self.label not in get_args(Label):
            raise ValueError(f"a verdict's label is one of {get_args(Label)}, not {self.label!r}")
        if not (isfinite(self.support) and isfinite(self.contradiction)):
            raise ValueError(f"a verdict's probabilities are numbers, not {self.support} and {self.contradiction}")

    @property
    def entails(self) -> bool:
        return self.label in HOLDING


@dataclass(frozen=True, slots=True)
class Span:
    """A reader's answer in exact words of a passage, with its confidence in 0..1."""

    passage: str
    quote: Quote
    confidence: float


@dataclass(frozen=True, slots=True)
class Search:
    """The reply is at most `k` hits, best first."""

    query: str
    k: int


class Tries:
    # Counts the requests that a model sends for one step. The model calls `begin` before each and `check` before it
    # waits for another; both raise `BudgetEnded` if none may be sent. `hear` gets a reply so far, from any thread.
    hear: Callable[[str], object] | None = None

    def begin(self) -> None: ...

    def check(self) -> None: ...


UNCOUNTED = Tries()


@dataclass(frozen=True, slots=True)
class Generate:
    """Sends one typed prompt to the model of `role`.

    `sample` numbers repeated draws, which differ even with a cache. None leaves an option to the model. `logprobs`
    requests every token's log-probability with that many alternatives. `listener` makes a program for what is written
    so far, which runs meanwhile if somebody watches.
    """

    prompt: Prompt[Any]
    role: str = "main"
    sample: int = 0
    temperature: float | None = None
    max_tokens: int | None = None
    stop: tuple[str, ...] = ()
    logprobs: int | None = None
    listener: Callable[[str], Program[None]] | None = field(default=None, compare=False, repr=False)
    tries: Tries = field(default=UNCOUNTED, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Entail:
    """The reply is one verdict a pair, in order."""

    pairs: tuple[Pair, ...]


@dataclass(frozen=True, slots=True)
class Read:
    """The reply is a `Span`, or None without an answer."""

    question: str
    passages: tuple[Passage, ...]


@dataclass(frozen=True, slots=True)
class Cut:
    """The piece `passage.text[start:end]`."""

    passage: Passage
    start: int
    end: int

    def alone(self) -> Passage:
        """Under the passage's id, to show a model less of it."""
        begin = self.passage.source.start
        place = replace(self.passage.source, start=begin + self.start, end=begin + self.end)
        return replace(self.passage, text=self.passage.text[self.start : self.end], source=place)


@dataclass(frozen=True, slots=True)
class Rate:
    """The reply is a `Rating` of the pieces, None from a reader that cannot rate."""

    question: str
    cuts: tuple[Cut, ...]


@dataclass(frozen=True, slots=True)
class Rating:
    """The probability that each piece answers the question, and the likeliest words in each."""

    reader: str
    chances: tuple[float, ...]
    spans: tuple[Span | None, ...] = ()


@dataclass(frozen=True, slots=True)
class Show:
    """Shows a draft to the caller's `watch`; the reply is None."""

    draft: Answer


@dataclass(frozen=True, slots=True)
class Together:
    """Runs programs side by side; the reply is their results, in order."""

    programs: tuple[Program[Any], ...]


Step = Search | Generate | Entail | Read | Rate | Show | Together


def search(query: str, k: int) -> Program[tuple[Hit, ...]]:
    hits: tuple[Hit, ...] = yield Search(query, k)
    return hits


@dataclass(frozen=True, slots=True)
class Exchange(Generic[T]):
    """A prompt as the model saw it, its reply, and the value read from it."""

    prompt: Prompt[T]
    reply: Reply
    value: T


def exchange(
    prompt: Prompt[T],
    role: str = "main",
    sample: int = 0,
    temperature: float | None = None,
    max_tokens: int | None = None,
    listener: Callable[[str], Program[None]] | None = None,
) -> Program[Exchange[T]]:
    """Asks the model of `role`; the returned prompt lacks passages that did not fit the window."""
    reply: Reply = yield Generate(prompt, role, sample, temperature, max_tokens, listener=listener)
    shown = _without_last_passages(prompt, reply.omitted)
    if reply.value is not None:
        return Exchange(shown, reply, reply.value)
    return Exchange(shown, reply, shown.read(reply.text, is_cut=reply.finish == "length"))


def _without_last_passages(prompt: Prompt[T], count: int) -> Prompt[T]:
    passages = getattr(prompt, "passages", ())
    return replace(prompt, passages=passages[:-count]) if count and passages else prompt  # type: ignore[type-var]


def generate(
    prompt: Prompt[T],
    role: str = "main",
    sample: int = 0,
    temperature: float | None = None,
    max_tokens: int | None = None,
) -> Program[T]:
    done = yield from exchange(prompt, role, sample, temperature, max_tokens)
    return done.value


def entail(pairs: Sequence[Pair]) -> Program[tuple[Verdict, ...]]:
    """One verdict a pair, in order; no request without pairs."""
    if not pairs:
        return ()
    verdicts: tuple[Verdict, ...] = yield Entail(tuple(pairs))
    return verdicts


def read(question: str, passages: Sequence[Passage]) -> Program[Span | None]:
    span: Span | None = yield Read(question, tuple(passages))
    return span


def show(draft: Answer) -> Program[None]:
    yield Show(draft)


def together(programs: Sequence[Program[T]]) -> Program[tuple[T, ...]]:
    results: tuple[T, ...] = yield Together(tuple(programs))
    return results


def intercept(program: Program[T], serve: Callable[[Step], Program[Any]]) -> Program[T]:
    """Runs a program and those that it starts; `serve` replies to each step, or raises what the step then raises."""
    reply: Any = None
    error: Exception | None = None
    try:
        while True:
            step = program.send(reply) if error is None else program.throw(error)
            reply, error = None, None
            try:
                if isinstance(step, Together):
                    reply = yield Together(tuple(intercept(part, serve) for part in step.programs))
                else:
                    reply = yield from serve(step)
            except Exception as failure:
                error = failure
    except StopIteration as end:
        return end.value  # type: ignore[no-any-return]
    finally:
        program.close()


async def resolve(result: T | Awaitable[T]) -> T:
    """The result of a method that may be plain or `async`."""
    value: Any = await result if isawaitable(result) else result
    return value  # type: ignore[no-any-return]


async def close(part: object) -> None:
    end = getattr(part, "aclose", None)
    if end is not None:
        await end()
