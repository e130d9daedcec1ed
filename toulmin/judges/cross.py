"""A cross-encoder as judge: a classifier of premise and claim with a class for entailment.

Long premises are read in windows of whole sentences, and the window with most support decides. Control tokens in
documents are broken up.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from toulmin.data import Label, Passage, Quote
from toulmin.errors import ModelError, missing_libraries, unknown_name
from toulmin.runtime.windows import Count, Part, Window, hypothesis, part_text, windows, with_short_titles
from toulmin.steps import Pair, Verdict

# ---------------------------------------------------------------- classes of a classifier by name


_ENTAILED = frozenset(
    "entailment entail entails entailed supported supports support attributable consistent factual faithful grounded"
    " yes true 1".split()
)
_CONTRADICTED = frozenset("contradiction contradict contradicts contradicted contradictory refuted refutes".split())
_UNNAMED = re.compile(r"label\d+")


class Classes(NamedTuple):
    """Indexes of logits; `entailed` is None for a single logit, whose sigmoid is the probability."""

    entailed: int | None
    contradicted: int | None


def classes_of(
    names: Mapping[int, str], who: str, entailment: str | None = None, contradiction: str | None = None
) -> Classes:
    """Finds the classes by name.

    A single logit means entailment, and so does the second of two unnamed classes, as in MiniCheck. Raises `UsageError`
    for an unknown name and `ModelError` if no class means entailment.
    """
    labels = [names[place] for place in sorted(names)]
    contradicted = _place_of(labels, contradiction) if contradiction else _meaning(labels, _CONTRADICTED)
    if entailment:
        return Classes(_place_of(labels, entailment), contradicted)
    if len(labels) == 1:
        return Classes(None, None)
    entailed = _meaning(labels, _ENTAILED)
    if entailed is None and len(labels) == 2 and all(_UNNAMED.fullmatch(_plain(label)) for label in labels):
        entailed = 1
    if entailed is None:
        raise ModelError(
            f"{who} has the classes {', '.join(labels)}, and none of them is known to mean that the claim is entailed;"
            " name it (entailment)."
        )
    return Classes(entailed, contradicted)


def _place_of(labels: Sequence[str], name: str) -> int:
    for place, label in enumerate(labels):
        if _plain(label) == _plain(name):
            return place
    raise unknown_name("class of the judge", name, labels)


def _meaning(labels: Sequence[str], words: frozenset[str]) -> int | None:
    places = [place for place, label in enumerate(labels) if _plain(label) in words]
    return places[0] if len(places) == 1 else None


def _plain(label: str) -> str:
    return re.sub(r"[\W_]", "", str(label)).lower()


# ---------------------------------------------------------------- the judge


try:
    import torch
    from transformers import AutoModelForSequenceClassification

    from toulmin.runtime import torch_models
except ImportError as absent:
    raise missing_libraries("A cross judge", absent, "judges") from absent

BATCH_TOKENS = 16_384
THRESHOLD = 0.5
ENDLESS = 10**9
_LEAST_ROOM = 8  # tokens: with less room beside the claim no passage is read


class Score(NamedTuple):
    support: float
    contradiction: float


class _Read(NamedTuple):
    """No windows if the claim leaves no room."""

    passages: Sequence[Passage]
    windows: Sequence[Window]


class Cross:
    """The classifier in the folder `path`, or of that name in the hub's cache (`download` may fetch it).

    `entailment` and `contradiction` name its classes. A claim is supported from `threshold` on; else contradicted if
    the contradiction reaches it; else unsure from `unsure` on (default: never); else unsupported. `quotes` asks again
    for the deciding sentences. `window` limits the tokens of claim and premises (default: the model's). A batch has at
    most `batch_tokens` with padding, and is halved if a GPU's memory is too small.

    A claim that leaves no room for premises is unsure. Raises `UsageError` for a setting out of range and `ModelError`
    for another kind of model.
    """

    kind = "cross"
    _format = "premise-and-claim-1"

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        entailment: str | None = None,
        contradiction: str | None = None,
        threshold: float = THRESHOLD,
        unsure: float | None = None,
        quotes: bool = False,
        window: int | None = None,
        device: str = "auto",
        precision: str = "auto",
        batch_tokens: int = BATCH_TOKENS,
        download: bool = False,
    ) -> None:
        torch_models.check("batch_tokens", batch_tokens, batch_tokens >= 1, "at least 1")
        torch_models.check("threshold", threshold, 0 < threshold <= 1, "above 0 and at most 1")
        torch_models.check(
            "unsure", unsure, unsure is None or 0 <= unsure <= threshold, f"between 0 and the threshold {threshold}"
        )
        checkpoint = self._load(path, {"device": device, "precision": precision, "download": download})
        self.name = f"{self.kind}:{Path(path).resolve().name}"
        self._model, self._tokenizer = checkpoint.model, checkpoint.tokenizer
        if self._model.config.pad_token_id is None:  # a causal classifier finds the end of a row by it
            self._model.config.pad_token_id = self._tokenizer.pad_token_id
        self._classes = self._find_classes(entailment, contradiction)
        self._threshold, self._unsure = threshold, threshold if unsure is None else unsure
        self._quotes, self._batch_tokens = quotes, batch_tokens
        self._window = self._limit(window)
        self._break_controls = torch_models.breaker_of(self._tokenizer)
        weights = [checkpoint.identity, str(self._model.device.type), str(self._model.dtype), list(self._classes)]
        self.key = json.dumps([weights, self._window, threshold, self._unsure, quotes, self._format])

    def judge(self, pairs: Sequence[Pair]) -> list[Verdict]:
        """Raises `ModelError` for a pair that does not fit into memory."""
        read = [self._read(pair) for pair in pairs]
        texts = [
            self._texts(pair, [part_text(passages, part) for part in window.parts])
            for pair, (passages, cut) in zip(pairs, read, strict=True)
            for window in cut
        ]
        scores = iter(self._scores(texts))
        judged = [[next(scores) for _ in reading.windows] for reading in read]
        verdicts = [self._verdict(pair, pair_scores) for pair, pair_scores in zip(pairs, judged, strict=True)]
        return self._add_quotes(pairs, read, judged, verdicts) if self._quotes else verdicts

    # -------------------------------------------------------------- what a family of models has of its own

    def _load(self, path: str | os.PathLike[str], options: dict[str, Any]) -> torch_models.LoadedModel:
        kind = "classifier of pairs (a cross-encoder)"
        return torch_models.load_model(path, AutoModelForSequenceClassification, kind, **options)

    def _find_classes(self, entailment: str | None, contradiction: str | None) -> Classes:
        return classes_of(self._model.config.id2label, self.name, entailment, contradiction)

    def _limit(self, wanted: int | None) -> int:
        return torch_models.window_of(self._model, self._tokenizer, wanted) or ENDLESS

    def _frame(self, parts: Sequence[str], pair: Pair) -> tuple[str, ...]:
        """The text or the pair of texts that the model reads."""
        return "\n".join(parts), hypothesis(pair)

    def _measure(self, room: int) -> tuple[int, Count]:
        """The size of a window in that many tokens, and its counter."""
        return room, self._count

    def _logits(self, batch: Any) -> torch.Tensor:
        logits: torch.Tensor = self._model(**batch).logits
        return logits

    # -------------------------------------------------------------- what is read

    def _read(self, pair: Pair) -> _Read:
        room = self._room(pair)
        if room < _LEAST_ROOM:
            return _Read(pair.premises, ())
        size, count = self._measure(room)
        passages = with_short_titles(pair.premises, size, count)
        return _Read(passages, windows(passages, size, count))

    def _room(self, pair: Pair) -> int:
        return self._window - len(self._tokenizer(*self._texts(pair, ()), verbose=False)["input_ids"])

    def _texts(self, pair: Pair, parts: Sequence[str]) -> tuple[str, ...]:
        question = None if pair.question is None else self._break_controls(pair.question)
        plain = replace(pair, claim=self._break_controls(pair.claim), question=question)
        return self._frame([self._break_controls(part) for part in parts], plain)

    def _count(self, text: str) -> int:
        return len(self._tokenizer(self._break_controls(text), add_special_tokens=False, verbose=False)["input_ids"])

    # -------------------------------------------------------------- what the model says

    def _scores(self, texts: Sequence[tuple[str, ...]]) -> list[Score]:
        if not texts:
            return []
        limit: dict[str, Any] = {"truncation": False}
        if self._window < ENDLESS:  # joined texts may have a token more than their parts
            limit = {"truncation": "only_first", "max_length": self._window}
        encoded = self._tokenizer(*(list(side) for side in zip(*texts, strict=True)), verbose=False, **limit)
        rows = [{name: encoded[name][place] for name in encoded} for place in range(len(texts))]
        most = self._batch_tokens
        return torch_models.in_batches(rows, lambda row: len(row["input_ids"]), most, self._classify, self.name)

    def _pad(self, rows: list[dict[str, Any]]) -> Any:
        fits = self._window % torch_models.MULTIPLE == 0 or self._window == ENDLESS
        multiple = torch_models.MULTIPLE if fits else None
        return self._tokenizer.pad(rows, pad_to_multiple_of=multiple, return_tensors="pt").to(self._model.device)

    @torch.inference_mode()
    def _classify(self, rows: list[dict[str, Any]]) -> list[Score]:
        logits = self._logits(self._pad(rows)).float()
        entailed, contradicted = self._classes
        if entailed is None:
            return [Score(share, 0.0) for share in logits[:, 0].sigmoid().tolist()]
        shares = logits.softmax(dim=-1)
        against = [0.0] * len(rows) if contradicted is None else shares[:, contradicted].tolist()
        return [Score(*score) for score in zip(shares[:, entailed].tolist(), against, strict=True)]

    # -------------------------------------------------------------- what follows

    def _verdict(self, pair: Pair, scores: Sequence[Score]) -> Verdict:
        none: tuple[Quote | None, ...] = (None,) * len(pair.premises)
        if not scores:
            reason = f"the claim is too long for {self.name}, which reads {self._window} tokens"
            return Verdict("unsure", 0.0, 0.0, self.name, none, reason)
        support = max(score.support for score in scores)
        contradiction = min(max(score.contradiction for score in scores), 1 - support)
        return Verdict(self._label(support, contradiction), support, contradiction, self.name, none)

    def _label(self, support: float, contradiction: float) -> Label:
        if support >= self._threshold:
            return "supported"
        if contradiction >= self._threshold:
            return "contradicted"
        return "unsure" if support >= self._unsure else "unsupported"

    def _add_quotes(
        self, pairs: Sequence[Pair], read: Sequence[_Read], judged: Sequence[Sequence[Score]], verdicts: list[Verdict]
    ) -> list[Verdict]:
        sides: dict[Label, str] = {"supported": "support", "contradicted": "contradiction"}
        wanted = [
            (n, part, side)
            for n, verdict in enumerate(verdicts)
            if (side := sides.get(verdict.label))
            for part in _decisive(read[n], judged[n], side).sentences(read[n].passages)
        ]
        texts = [self._texts(pairs[n], [part_text(read[n].passages, part)]) for n, part, _ in wanted]
        shares_by_pair: dict[int, list[tuple[float, Part]]] = {}
        for (n, part, side), score in zip(wanted, self._scores(texts), strict=True):
            shares_by_pair.setdefault(n, []).append((getattr(score, side), part))
        quotes = {n: tuple(self._best(pairs[n], shares)) for n, shares in shares_by_pair.items()}
        return [replace(verdict, quotes=quotes.get(n, verdict.quotes)) for n, verdict in enumerate(verdicts)]

    def _best(self, pair: Pair, shares: Sequence[tuple[float, Part]]) -> Iterator[Quote | None]:
        """Each passage's best sentence if it reaches the threshold, and the best of all."""
        best = max(shares, key=lambda entry: entry[0])
        for place, passage in enumerate(pair.premises):
            top = max((entry for entry in shares if entry[1].place == place), key=lambda entry: entry[0], default=None)
            if top is None or (top[0] < self._threshold and top != best):
                yield None
            else:
                _, part = top
                yield passage.quote(part.start, part.end)


def _decisive(read: _Read, scores: Sequence[Score], side: str) -> Window:
    return max(zip(read.windows, scores, strict=True), key=lambda entry: float(getattr(entry[1], side)))[0]
