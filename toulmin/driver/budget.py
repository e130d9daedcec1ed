"""The limits of one answer, and the meter of its cost."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from math import fsum
from time import monotonic

from toulmin.data import Tokens, Usage
from toulmin.errors import BudgetEnded, UsageError
from toulmin.prompts.replies import Reply
from toulmin.steps import Pair, Tries


@dataclass(frozen=True, slots=True)
class Budget:
    """Limits for one answer; None is no limit. Raises `UsageError` unless they are above 0.

    Model calls include failed tries and are never exceeded. Tokens, in and out together, are known after a reply, so
    parallel calls can exceed them. Seconds interrupt `async` parts only.
    """

    calls: int | None = None
    tokens: int | None = None
    seconds: float | None = None

    def __post_init__(self) -> None:
        for name, value in (("calls", self.calls), ("tokens", self.tokens), ("seconds", self.seconds)):
            if value is not None and not value > 0:
                raise UsageError(f"A budget's {name} must be above 0, not {value}; leave it out for no limit.")


class Meter:
    """Counts the cost of one job. Calls and tokens limit model calls only, so that the last draft is still verified."""

    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        self._started = monotonic()
        self._calls: Counter[str] = Counter()
        self._tokens: dict[str, Tokens] = {}
        self._prices: list[float | None] = []
        self.pairs: set[Pair] = set()
        self.searches = 0

    @property
    def seconds_left(self) -> float | None:
        """Negative after the deadline; None without one."""
        limit = self._budget.seconds
        return None if limit is None else limit - (monotonic() - self._started)

    def check_deadline(self) -> None:
        """Raises `BudgetEnded`."""
        left = self.seconds_left
        if left is not None and left <= 0:
            raise BudgetEnded(f"The limit of {self._budget.seconds:g} seconds is reached; raise it with --deadline.")

    def begin_call(self, role: str) -> None:
        """Counts a model call; raises `BudgetEnded` if none is left."""
        self.check_calls()
        self._calls[role] += 1

    def check_calls(self) -> None:
        calls, tokens = self._budget.calls, self._budget.tokens
        if calls is not None and self._calls.total() >= calls:
            raise BudgetEnded(f"The limit of {calls} model calls is reached; raise it with --max-calls.")
        spent = sum(t.input + t.output for t in self._tokens.values())
        if tokens is not None and spent >= tokens:
            raise BudgetEnded(f"{spent} tokens are spent, with a limit of {tokens}; raise it with --max-tokens.")

    def add_reply(self, role: str, reply: Reply) -> None:
        self._tokens[role] = self._tokens.get(role, Tokens()) + reply.tokens
        self._prices.append(reply.usd)

    def usage(self, seconds: float | None = None) -> Usage:
        """The cost so far; `seconds` replaces the clock's time (in a replay)."""
        spent = monotonic() - self._started if seconds is None else seconds
        roles = dict(sorted(self._calls.items()))
        tokens = {role: self._tokens.get(role, Tokens()) for role in roles}
        prices = [price for price in self._prices if price is not None]
        is_known = prices and len(prices) == len(self._prices)  # one reply without a price makes the sum unknown
        usd = fsum(prices) if is_known else None  # the same in whatever order the replies came
        return Usage(roles, tokens, usd, len(self.pairs), self.searches, round(spent, 4))


@dataclass(slots=True)
class TryCount(Tries):
    meter: Meter
    role: str
    sent: int = 0

    def begin(self) -> None:
        if self.sent:  # the first was counted when the step began
            self.meter.begin_call(self.role)
        self.sent += 1

    def check(self) -> None:
        self.meter.check_calls()
