"""What a method may ask of the outside, as values; the driver answers them.

A method is a generator: it yields a step and is sent the reply. The functions below wrap each step so that a method
reads as its paper's algorithm: `hits = yield from search(question, 5)`. A request that fails is raised inside the
program that asked, as a `ToulminError`; a spent budget is raised as `BudgetEnded`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Generator, Sequence
from dataclasses import dataclass, replace
from inspect import isawaitable
from math import isfinite
from typing import Any, Generic, TypeVar, get_args

from toulmin.data import Answer, Hit, Label, Passage, Quote
from toulmin.prompts.replies import Reply
from toulmin.prompts.types import Prompt

T = TypeVar("T")
Program = Generator["Step", Any, T]


@dataclass(frozen=True, slots=True)
class Pair:
    """A claim and the passages, taken together, that are to support it.

    `question` is given where the claim is no sentence of its own (an entity of a list, a short answer).
    """

    premises: tuple[Passage, ...]
    claim: str
    question: str | None = None


@dataclass(frozen=True, slots=True)
class Verdict:
    """A judge's view of one pair.

    `support` and `contradiction` are probabilities; `label` is the judge's own cut of them; `quotes[i]` is the
    decisive sentence of `premises[i]` (None where nothing there matters); `reason` says in words what decided.
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
        """Whether the premises support the claim."""
        return self.label == "supported"


@dataclass(frozen=True, slots=True)
class Span:
    """A reader's answer: the exact words of a passage, with its confidence in 0..1 that they answer.

    `odds`, where a reader tells, is the logarithm of the odds that the passages answer at all, with whatever words.
    """

    passage: str
    quote: Quote
    confidence: float
    odds: float | None = None


@dataclass(frozen=True, slots=True)
class Search:
    """Rank the corpus for `query`; the reply is at most `k` hits, best first."""

    query: str
    k: int


@dataclass(frozen=True, slots=True)
class Generate:
    """Ask the model of `role` one typed prompt.

    `sample` tells repeated draws of one prompt apart: another number is another draw, whatever the temperature and
    whatever a cache holds. None leaves `temperature` and `max_tokens` to the model's own settings. `logprobs` asks for
    the log-probability of every token, with that many alternatives each.
    """

    prompt: Prompt[Any]
    role: str = "main"
    sample: int = 0
    temperature: float | None = None
    max_tokens: int | None = None
    stop: tuple[str, ...] = ()
    logprobs: int | None = None


@dataclass(frozen=True, slots=True)
class Entail:
    """Judge pairs; the reply is one verdict a pair, in order."""

    pairs: tuple[Pair, ...]


@dataclass(frozen=True, slots=True)
class Read:
    """Find the answer's exact words in the passages; the reply is a `Span` or None."""

    question: str
    passages: tuple[Passage, ...]


@dataclass(frozen=True, slots=True)
class Show:
    """Hand a draft to whoever watches; the reply is None."""

    draft: Answer


@dataclass(frozen=True, slots=True)
class Together:
    """Run programs side by side; the reply is their results in order."""

    programs: tuple[Program[Any], ...]


Step = Search | Generate | Entail | Read | Show | Together


def search(query: str, k: int) -> Program[tuple[Hit, ...]]:
    """The `k` best passages for the query."""
    hits: tuple[Hit, ...] = yield Search(query, k)
    return hits


@dataclass(frozen=True, slots=True)
class Exchange(Generic[T]):
    """A prompt as the model saw it, its reply, and what the prompt reads it as."""

    prompt: Prompt[T]
    reply: Reply
    value: T


def exchange(
    prompt: Prompt[T],
    role: str = "main",
    sample: int = 0,
    temperature: float | None = None,
    max_tokens: int | None = None,
) -> Program[Exchange[T]]:
    """Asks the model of that role; a label of a passage that its window could not hold was never offered."""
    reply: Reply = yield Generate(prompt, role, sample, temperature, max_tokens)
    shown = _without_last_passages(prompt, reply.omitted)
    return Exchange(shown, reply, shown.read(reply.text) if reply.value is None else reply.value)


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
    """What the model of that role makes of the prompt, in the prompt's own type."""
    done = yield from exchange(prompt, role, sample, temperature, max_tokens)
    return done.value


def entail(pairs: Sequence[Pair]) -> Program[tuple[Verdict, ...]]:
    """One verdict a pair, in order; no pairs, no request."""
    if not pairs:
        return ()
    verdicts: tuple[Verdict, ...] = yield Entail(tuple(pairs))
    return verdicts


def read(question: str, passages: Sequence[Passage]) -> Program[Span | None]:
    """The exact words that answer the question, or None."""
    span: Span | None = yield Read(question, tuple(passages))
    return span


def show(draft: Answer) -> Program[None]:
    """Let whoever watches see the draft."""
    yield Show(draft)


def together(programs: Sequence[Program[T]]) -> Program[tuple[T, ...]]:
    """The results of the programs, run side by side."""
    results: tuple[T, ...] = yield Together(tuple(programs))
    return results


async def resolve(result: T | Awaitable[T]) -> T:
    """What a part gave that serves steps, whether its method is plain or `async`."""
    settled: Any = await result if isawaitable(result) else result
    return settled  # type: ignore[no-any-return]
