"""The embedded judge: a trained network that reads a claim with its evidence, and three rules.

The rules are for a number, option or path that no source has, for another value, and for what a source only plans,
denies or reports, as another output of the network tells. `bars.json` (from `training/large.py`) turns the network's
score into a chance, and chances into labels. A claim with next to none of its sources' words, and a source's own
sentence, need no network.
"""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from toulmin.data import HOLDING, Label, Passage, Quote
from toulmin.errors import ModelError
from toulmin.judges import objections
from toulmin.judges.framing import Framing
from toulmin.judges.lexical import Lexical
from toulmin.judges.trained import JudgeNetwork, Model, NetworkVerdict, Shares, shared_words
from toulmin.runtime.windows import Part
from toulmin.steps import Pair, Verdict, chance
from toulmin.text.wording import is_fragment, wording

LOOKS: tuple[objections.Look, ...] = (objections.absent_figure, *objections.LOOKS)
BARS = "bars.json"
_OF_A_COPY = 0.98
_RELATED = 0.1  # share of the claim's words, by weight, below which a source is about something else
_DECIDING = 4  # sentences with most of a claim, one of which is quoted
_ABOUT = 0.5  # least share of the claim's words in a sentence that may contradict it
_LEAST = 1e-4  # shares closer to 0 or 1 say no more
_REASONS: dict[Label, str] = {"unsure": "the sources may not say this", "unsupported": "the sources do not say this"}


@dataclass(frozen=True, slots=True)
class Bars:
    """The chance of support is a logistic function of the network's log odds; `training/large.py` fits it."""

    slope: float
    offset: float
    supported: float
    likely: float
    unsure: float
    contradicted: float

    def chance(self, shares: Shares) -> float:
        clipped = min(max(shares.supported, _LEAST), 1 - _LEAST)
        return chance(self.slope * math.log(clipped / (1 - clipped)) + self.offset)

    def label(self, support: float) -> Label:
        if support >= self.likely:
            return "supported" if support >= self.supported else "likely"
        return "unsure" if support >= self.unsure else "unsupported"


def read_bars(path: Path) -> Bars:
    """Raises `ModelError` for another file."""
    try:
        return Bars(**{name: float(value) for name, value in json.loads(path.read_text("utf-8")).items()})
    except (OSError, ValueError, TypeError, AttributeError) as error:
        raise ModelError(f"{path} should hold the bars that training/large.py wrote, but: {error!r}") from error


class EmbeddedJudge:
    """Deterministic, on the CPU. Not thread-safe."""

    def __init__(self, model: Model, bars: Bars, looks: Sequence[objections.Look] = LOOKS) -> None:
        self.name = model.name
        self.key = json.dumps([model.key, asdict(bars), Lexical.name, objections.RULES])
        self._model, self._bars = model, bars
        self._lexical = Lexical(looks=looks)

    def judge(self, pairs: Sequence[Pair]) -> list[Verdict]:
        return objections.judge_respelled(pairs, self._judge)

    def _judge(self, pairs: Sequence[Pair]) -> list[Verdict]:
        plain = [self._unread(pair) for pair in pairs]
        read = iter(self._read([pair for pair, known in zip(pairs, plain, strict=True) if known is None]))
        verdicts = [known or self._verdict(pair, *next(read)) for pair, known in zip(pairs, plain, strict=True)]
        return [objections.lower_fragment(*both) for both in zip(pairs, verdicts, strict=True)]

    def _read(self, pairs: Sequence[Pair]) -> list[tuple[NetworkVerdict, float]]:
        """With the chance of support: alone, and no higher than beside all that was found."""
        alone = self._model.shares(pairs)
        chances = [self._bars.chance(judged.shares) for judged in alone]
        passing = [n for n, pair in enumerate(pairs) if len(pair.read) > 1 and chances[n] >= self._bars.likely]
        together = self._model.shares([replace(pairs[n], premises=pairs[n].read) for n in passing])
        for n, judged in zip(passing, together, strict=True):
            chances[n] = min(chances[n], self._bars.chance(judged.shares))
        return list(zip(alone, chances, strict=True))

    def _unread(self, pair: Pair) -> Verdict | None:
        """The verdict where the network need not read: where the sources have next to none of the claim's words, on a
        claim that states nothing, and on a source's own sentence, unless what is around it takes it back.
        """
        quotes = tuple(_copied(passage, pair.claim) for passage in pair.premises)
        has_text = pair.claim.strip() and any(passage.text.strip() for passage in pair.premises)
        is_related = has_text and (pair.question is not None or shared_words(pair) >= _RELATED)
        states_nothing = pair.question is None and is_fragment(pair.claim.strip())
        if is_related and (states_nothing or (any(quotes) and self._lexical.is_verbatim(pair))):
            verdict = Verdict("supported", _OF_A_COPY, 0.0, self.name, quotes)
        elif not is_related:
            verdict = Verdict("unsupported", 0.0, 0.0, self.name, (None,) * len(quotes), _REASONS["unsupported"])
        else:
            return None
        return self._lexical.lower(pair, verdict)

    def _verdict(self, pair: Pair, judged: NetworkVerdict, support: float) -> Verdict:
        shares = judged.shares
        label, reason = self._bars.label(support), None
        against = (1 - support) * shares.contradicted / max(1 - shares.supported, _LEAST)
        if label == "unsupported" and against >= self._bars.contradicted:
            sentence = judged.excerpt.nearest(pair.claim, _ABOUT)
            if sentence and self._alone(pair, [Passage.of(sentence)])[0] >= self._bars.likely:
                label, against = "unsure", 0.0
            elif sentence:
                label, reason = "contradicted", f"the source says “{objections.shorten(sentence)}”"
        near = judged.excerpt.nearby(pair.claim, _DECIDING if label in HOLDING else 1)
        quotes = tuple(self._quote(pair, passage, near.get(n, ())) for n, passage in enumerate(pair.premises))
        verdict = Verdict(label, support, against, self.name, quotes, reason or _REASONS.get(label))
        sentence = judged.excerpt.nearest(pair.claim, 0.0) or ""
        framing = None if judged.framed is None else Framing(judged.framed, sentence)
        return self._lexical.lower(pair, verdict, framing)

    def _quote(self, pair: Pair, passage: Passage, parts: Sequence[Part]) -> Quote | None:
        """The sentence that supports the claim most by itself; none of none."""
        quotes = [passage.quote(part.start, part.end) for part in parts]
        if len(quotes) < 2:
            return quotes[0] if quotes else None
        chances = self._alone(pair, [Passage.of(quote.text, passage.title) for quote in quotes])
        return quotes[chances.index(max(chances))]

    def _alone(self, pair: Pair, sentences: Sequence[Passage]) -> list[float]:
        judged = self._model.shares([replace(pair, premises=(sentence,)) for sentence in sentences])
        return [self._bars.chance(each.shares) for each in judged]


def _copied(passage: Passage, claim: str) -> Quote | None:
    words = claim.rstrip(" .").split()
    found = re.search(r"\s+".join(map(re.escape, words)), passage.text) if words else None
    if found is None:
        return None
    ends = (each.span.end for each in wording(passage.text).sentences if each.span.end >= found.end())
    return passage.quote(found.start(), next(ends, found.end()) if claim.rstrip().endswith(".") else found.end())


def load_judge(folder: str | os.PathLike[str] | None = None) -> EmbeddedJudge:
    """The judge of a folder, or the installed one. Raises `ModelError` if it or a library is missing."""
    model = JudgeNetwork(folder)
    return EmbeddedJudge(model, read_bars(model.part.file(BARS)))
