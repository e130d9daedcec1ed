"""Rate limits per minute."""

from __future__ import annotations

from aiolimiter import AsyncLimiter

# The share of a minute's allowance that may be used at once. The rest is spread evenly, so that no 60 seconds exceed
# the allowance.
_AT_ONCE = 0.1


class Limits:
    """The rate limits of one server, for one event loop; None is no limit."""

    def __init__(self, requests_per_minute: float | None, tokens_per_minute: float | None) -> None:
        self._requests = None if requests_per_minute is None else _Rate(requests_per_minute)
        self._tokens = None if tokens_per_minute is None else _Rate(tokens_per_minute)

    async def admit(self, tokens: int) -> None:
        """Waits until a request of about that many tokens may be sent."""
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
        while amount > 0:
            part = min(amount, self._at_once)
            await self._limiter.acquire(part)
            amount -= part
