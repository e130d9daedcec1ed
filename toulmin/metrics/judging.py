"""A judge as evaluation asks it: many pairs at once, each distinct pair once, and none that fails harms another."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from toulmin.data import content_id
from toulmin.driver.kit import Judge
from toulmin.driver.workers import chunks
from toulmin.errors import ModelError, SourceError, ToulminError, UsageError
from toulmin.steps import Pair, Verdict, resolve

Progress = Callable[[int, int, str], None]
Content = tuple[tuple[tuple[str, str], ...], str, str | None]
CHUNK = 256
_DEAD = 20  # pairs in one call, every one failed, that tell a judge that is away from pairs that it cannot judge


class Judging:
    """Asks a judge, plain or async, and remembers what it said.

    Two pairs with the same titles, texts, claim and question are one. The longest pairs go first, `chunk` of them in a
    call, so that those of a call are of like length. A call that fails is repeated pair by pair, so that only the
    guilty ones fail; a `SourceError` or `UsageError` is nobody's guilt and is raised. `progress` is told (pairs done,
    pairs of this wave, name of the wave). `counts` are the pairs judged, by wave.
    """

    def __init__(self, judge: Judge, *, chunk: int = CHUNK, progress: Progress | None = None) -> None:
        self.name = judge.name
        key = getattr(judge, "key", None)
        self.identity = None if key is None else content_id(str(key))
        self.counts: Counter[str] = Counter()
        self._judge = judge
        self._chunk = chunk
        self._progress = progress
        self._known: dict[Content, Verdict | ToulminError] = {}
        self._any_failed = False

    def __getitem__(self, pair: Pair) -> Verdict | ToulminError:
        """The verdict on a pair that was asked, or why there is none; raises KeyError for any other pair."""
        return self._known[content(pair)]

    def failure(self, pairs: Iterable[Pair]) -> ToulminError | None:
        """The first error among those pairs."""
        if not self._any_failed:
            return None
        return next((found for pair in pairs if isinstance(found := self[pair], ToulminError)), None)

    @property
    def refusal(self) -> ToulminError | None:
        """The first error, where pairs were asked and not one of them got a verdict."""
        known = self._known.values()
        if not self._any_failed or any(isinstance(found, Verdict) for found in known):
            return None
        return next(found for found in known if isinstance(found, ToulminError))

    def entails(self, pair: Pair) -> bool:
        """Whether the pair was judged, and its premises found to support its claim."""
        found = self[pair]
        return isinstance(found, Verdict) and found.entails

    async def ask(self, pairs: Iterable[Pair], wave: str) -> None:
        """Judges those pairs that were never asked before; afterwards each has its verdict or error."""
        wanted = {content(pair): pair for pair in pairs}
        new = [(key, pair) for key, pair in wanted.items() if key not in self._known]
        new.sort(key=lambda entry: _length(entry[0]), reverse=True)
        self.counts[wave] += len(new)
        done = 0
        for part in chunks(new, self._chunk):
            results = await self._results([pair for _, pair in part])
            self._check_alive(results)
            self._any_failed |= any(isinstance(result, ToulminError) for result in results)
            self._known.update(zip((key for key, _ in part), results, strict=True))
            done += len(part)
            if self._progress is not None:
                self._progress(done, len(new), wave)

    def _check_alive(self, results: Sequence[Verdict | ToulminError]) -> None:
        """Raises `ModelError` for a judge that failed at everything: it is away, and no pair is guilty."""
        errors = [result for result in results if isinstance(result, ToulminError)]
        if len(errors) == len(results) >= _DEAD:
            raise ModelError(
                f"The judge {self.name} failed at all {len(errors)} pairs of a batch, the last with: {errors[-1]} Mend"
                " that and score again; verdicts that it gave are kept."
            )

    async def _results(self, pairs: Sequence[Pair]) -> Sequence[Verdict | ToulminError]:
        try:
            return await self._verdicts(pairs)
        except (SourceError, UsageError):  # no pair is guilty of a memo that cannot be written, or of a wrong setting
            raise
        except ToulminError as error:
            if len(pairs) == 1:
                return [error]
            alone = await asyncio.gather(*(self._results([pair]) for pair in pairs))
            return [results[0] for results in alone]

    async def _verdicts(self, pairs: Sequence[Pair]) -> list[Verdict]:
        """One verdict a pair; whatever else comes from somebody else's code is a `ModelError` that names the judge."""
        try:
            verdicts = list(await resolve(self._judge.judge(pairs)))
        except ToulminError:
            raise
        except Exception as error:
            raise ModelError(f"The judge {self.name} failed: {type(error).__name__}: {error}") from error
        if len(verdicts) != len(pairs) or not all(isinstance(verdict, Verdict) for verdict in verdicts):
            raise ModelError(
                f"The judge {self.name} gave {len(verdicts)} results for {len(pairs)} pairs; expected a Verdict each."
            )
        return verdicts


def content(pair: Pair) -> Content:
    """Everything of a pair that a judge may go by; where its passages come from is none of it."""
    return tuple([(premise.title, premise.text) for premise in pair.premises]), pair.claim, pair.question


def _length(key: Content) -> int:
    return len(key[1]) + sum(len(title) + len(text) for title, text in key[0])
