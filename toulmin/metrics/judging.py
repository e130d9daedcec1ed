"""Sends a judge many pairs at once, each distinct pair once."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial

from toulmin.data import content_id
from toulmin.driver.kit import Judge, results_of
from toulmin.errors import ModelError, SourceError, ToulminError, UsageError
from toulmin.steps import Pair, Verdict
from toulmin.text.language import chunks

Progress = Callable[[int, int, str], None]
Content = tuple[tuple[tuple[str, str], ...], str, str | None]
CHUNK = 256
_DEAD = 20  # if this many pairs of a call all fail, the judge is down


class Judging:
    """Asks a judge, plain or async, and keeps its verdicts.

    Pairs with the same titles, texts, claim and question are one. The longest go first, `chunk` a call; a failed call
    is repeated pair by pair. `progress` gets (pairs done, pairs of this wave, wave).
    """

    def __init__(self, judge: Judge, *, chunk: int = CHUNK, progress: Progress | None = None) -> None:
        self.name = judge.name
        key = getattr(judge, "key", None)
        self.identity = None if key is None else content_id(str(key))
        self._judge, self._chunk, self._progress = judge, chunk, progress
        self._known: dict[Content, Verdict | ToulminError] = {}

    def __getitem__(self, pair: Pair) -> Verdict | ToulminError:
        """Raises KeyError for a pair that was not asked."""
        return self._known[content(pair)]

    def failure(self, pairs: Iterable[Pair]) -> ToulminError | None:
        return next((result for pair in pairs if isinstance(result := self[pair], ToulminError)), None)

    @property
    def refusal(self) -> ToulminError | None:
        """The first error, if no pair got a verdict."""
        errors = [result for result in self._known.values() if isinstance(result, ToulminError)]
        return errors[0] if errors and len(errors) == len(self._known) else None

    def entails(self, pair: Pair) -> bool:
        result = self[pair]
        return isinstance(result, Verdict) and result.entails

    async def ask(self, pairs: Iterable[Pair], wave: str) -> None:
        """Judges the new pairs. Raises `SourceError` or `UsageError` of the judge, `ModelError` if it is down."""
        new = {key: pair for pair in pairs if (key := content(pair)) not in self._known}
        done = 0
        for keys in chunks(sorted(new, key=_length, reverse=True), self._chunk):
            results = await self._results([new[key] for key in keys])
            errors = [result for result in results if isinstance(result, ToulminError)]
            if len(errors) == len(results) >= _DEAD:
                raise ModelError(
                    f"The judge {self.name} failed for all {len(errors)} pairs of a batch, the last with: {errors[-1]}"
                    " Fix this and score again; earlier verdicts are kept."
                )
            self._known.update(zip(keys, results, strict=True))
            done += len(keys)
            if self._progress is not None:
                self._progress(done, len(new), wave)

    async def _results(self, pairs: Sequence[Pair]) -> Sequence[Verdict | ToulminError]:
        try:
            return await results_of(f"judge {self.name}", self._judge.judge, pairs, Verdict)
        except (SourceError, UsageError):  # the cache or a setting is at fault, not a pair
            raise
        except ToulminError as error:
            if len(pairs) == 1:
                plain = _encodable(pairs[0])
                return [error] if plain == pairs[0] else await self._results([plain])
            alone = await asyncio.gather(*(self._results([pair]) for pair in pairs))
            return [results[0] for results in alone]


def content(pair: Pair) -> Content:
    """A pair without the passages' sources, which no judge may use."""
    return tuple([(premise.title, premise.text) for premise in pair.premises]), pair.claim, pair.question


def _encodable(pair: Pair) -> Pair:
    clean = partial(re.sub, "[\ud800-\udfff]", "\ufffd")  # half a surrogate pair
    premises = tuple(replace(p, title=clean(p.title), text=clean(p.text)) for p in pair.premises)
    return replace(pair, premises=premises, claim=clean(pair.claim), question=pair.question and clean(pair.question))


def _length(key: Content) -> int:
    return len(key[1]) + sum(len(title) + len(text) for title, text in key[0])
