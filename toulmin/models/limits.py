"""Requests and tokens per minute, kept by waiting before a request goes out. One object belongs to one event loop."""

from __future__ import annotations

from aiolimiter import AsyncLimiter

# This share of a minute's allowance may go out at once; the rest flows evenly. Both together are one minute's
# allowance, so that no minute, wherever it begins, holds more.
_AT_ONCE = 0.1


class Limits:
    """The rates of one server; None is no limit."""

    def __init__(self, requests_per_minute: float | None, tokens_per_minute: float | None) -> None:
        self._requests = None if requests_per_minute is None else _Rate(requests_per_minute)
        self._tokens = None if tokens_per_minute is None else _Rate(tokens_per_minute)

    async def admit(self, tokens: int) -> None:
        """Waits until one more request of about that many tokens may go out."""
        if self._requests is not None:
            await self._requests.take(1)
        if self._tokens is not None:
            await self._tokens.take(tokens)


class _Rate:
    def __init__(self, per_minute: float) -> None:
        self._at_once = max(1.0, _AT_ONCE * per_minute)
        steady = per_minute - self._at_once if self._at_once > 1 else per_minute
        self._limiter = AsyncLimiter(self._at_once, 60 * self._at_once / steady)

    async def take(self, amount: float) -> None:
        """What is more than may go out at once is waited for in parts."""
        while amount > 0:
            part = min(amount, self._at_once)
            await self._limiter.acquire(part)
            amount -= part
