"""Short answers: SQuAD's metrics, ALCE's string recall and QA metrics, and DR.

String recall looks for aliases as substrings, both normalised: "5" is in "1954".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import astuple
from math import sqrt
from typing import Any, NamedTuple, Protocol

import numpy as np

from toulmin.datasets.item import Aliases, Part
from toulmin.metrics.answered import Column, DerivedMetric, MetricTable, ScoringItem, columns
from toulmin.metrics.statements import Read, alce_text, cut_list, honest_text
from toulmin.text.overlap import entity, normalise
from toulmin.text.rouge import Overlap, sequence_overlap

# ---------------------------------------------------------------- short answers by SQuAD's rule


class Agreement(NamedTuple):
    answer: str
    alias: str
    is_exact: bool
    tokens: Overlap


def short(answered: Sequence[ScoringItem], read: Read) -> MetricTable:
    """For answers in the style `short`: `em` is equality with any alias, both normalised; the others count words shared
    with the alias of highest F1. Questions without gold answers do not count; empty answers score 0.
    """
    agreements = [_agreement(entry, read) for entry in answered]
    names = ("em", "token_precision", "token_recall", "token_f1")
    rows = [each and (float(each.is_exact), *astuple(each.tokens), each.tokens.fmeasure) for each in agreements]
    reasons = ({"nearest_answer": {"text": e.alias, "exact": e.is_exact}} if e else {} for e in agreements)
    return MetricTable(columns(names, rows), reasons=tuple(reasons))


def _word_overlap(answer: str, alias: str) -> Overlap:
    """Of normalised texts, with repetitions; 1 if both are empty."""
    ours, theirs = answer.split(), alias.split()
    return sequence_overlap(ours, theirs, 1) if ours or theirs else Overlap(1.0, 1.0)


def agreement(answer: str, aliases: Sequence[str]) -> Agreement:
    """With the nearest alias, the first of equals; `aliases` must not be empty."""
    ours = normalise(answer)
    beside = [(alias, _word_overlap(ours, normalise(alias))) for alias in aliases]
    alias, tokens = max(beside, key=lambda pair: pair[1].fmeasure)
    return Agreement(answer, alias, any(ours == normalise(alias) for alias in aliases), tokens)


def _agreement(entry: ScoringItem, read: Read) -> Agreement | None:
    aliases = [alias for aliases in entry.item.gold.answers or () for alias in aliases]
    text = read(entry) if entry.answer.style == "short" and aliases else None
    return None if text is None else agreement(text, aliases)


# ---------------------------------------------------------------- ALCE's recall of short answers


RECALL = ("str_em", "str_hit")
NO_PARTS = "str_em and str_hit are 0 because the first question has no `qa_pairs`, as in ALCE."


def alce_recall(answered: Sequence[ScoringItem]) -> MetricTable:
    """Over ASQA's sub-questions; 0 if the first question has none. A later one without any, at which ALCE stops, does
    not count.
    """
    if answered and answered[0].item.gold.parts is None:
        return MetricTable(columns(RECALL, [(0.0, 0.0)] * len(answered)), notes=(NO_PARTS,))
    return _measure_recall([_alce_slots(entry) for entry in answered])


def honest_recall(answered: Sequence[ScoringItem]) -> MetricTable:
    """Over sub-questions or, without any, answer slots.

    Failed answers, questions without gold answers and lists do not count. An alias that normalises to nothing ("The
    The"), which always matches in ALCE, is searched as written.
    """
    return _measure_recall([_honest_slots(entry) for entry in answered])


def without_blanks(slots: Iterable[Aliases]) -> tuple[Aliases, ...]:
    """Removes blank aliases, and slots of nothing else (QAMPARI has five)."""
    cleaned = (tuple(alias for alias in aliases if alias.strip()) for aliases in slots)
    return tuple(aliases for aliases in cleaned if aliases)


def gold_reason(aliases: Aliases, *, found: bool) -> dict[str, Any]:
    return {"text": aliases[0] if aliases else "", "found": found}


def _alce_slots(entry: ScoringItem) -> list[dict[str, Any]]:
    plain = normalise(alce_text(entry))
    slots = [part.answers for part in entry.item.gold.parts or ()]
    return [gold_reason(aliases, found=any(normalise(alias) in plain for alias in aliases)) for aliases in slots]


def _honest_slots(entry: ScoringItem) -> list[dict[str, Any]]:
    text = honest_text(entry)
    if text is None or entry.item.style == "list":
        return []
    gold = entry.item.gold
    slots = (gold.answers or ()) if gold.parts is None else tuple(part.answers for part in gold.parts)
    plain, written = normalise(text), text.casefold()
    return [
        gold_reason(aliases, found=any(_contains(plain, written, alias) for alias in aliases))
        for aliases in without_blanks(slots)
    ]


def _contains(plain: str, written: str, alias: str) -> bool:
    normal = normalise(alias)
    return normal in plain if normal else alias.strip().casefold() in written


def _measure_recall(rows: Sequence[Sequence[Mapping[str, Any]]]) -> MetricTable:
    shares = [float(np.mean([slot["found"] for slot in row])) if row else None for row in rows]
    values = [None if share is None else (share, float(share == 1)) for share in shares]
    return MetricTable(columns(RECALL, values), reasons=tuple({"gold": row} if row else {} for row in rows))


# ---------------------------------------------------------------- QA metrics: a model reads the short answers


NAMES = ("QA-EM", "QA-F1", "QA-Hit")
# VTG's Table 2 takes the arithmetic mean of Disambig-F1 and ROUGE-L, the ASQA paper the geometric one.
DERIVED = (
    DerivedMetric("dr_mean", ("QA-F1", "rougeLsum"), lambda of: sum(of) / len(of)),
    DerivedMetric("dr", ("QA-F1", "rougeLsum"), lambda of: sqrt(of[0] * of[1])),
)


class Reader(Protocol):
    """An extractive QA model."""

    @property
    def name(self) -> str:
        """Its name in tables."""

    def answers(self, asked: Sequence[tuple[str, str]]) -> Sequence[str]:
        """For each (question, text) the words that answer it, or an empty string."""


def qa(answered: Sequence[ScoringItem], read: Read, reader: Reader) -> MetricTable:
    """A reader answers each sub-question from the answer's text.

    Exact match and word F1 with the best alias, both normalised, are averaged over sub-questions; in a hit all are
    exact. Empty texts are read as one space, as in ALCE. Items without sub-questions do not count.
    """
    texts = [read(entry) for entry in answered]
    wanted = [tuple(part for part in entry.item.gold.parts or () if part.answers) for entry in answered]
    parts = [() if text is None else listed for listed, text in zip(wanted, texts, strict=True)]
    asked = [(part.question, text or " ") for questions, text in zip(parts, texts, strict=True) for part in questions]
    replies = iter(reader.answers(asked))
    rows = [[agreement(next(replies), part.answers) for part in questions] for questions in parts]
    table = columns(NAMES, [_qa_values(row) if row else None for row in rows])
    return MetricTable(table, DERIVED, tuple(map(_qa_reason, parts, rows)), (f"QA metrics by {reader.name}.",))


def _qa_reason(parts: Sequence[Part], matches: Sequence[Agreement]) -> dict[str, Any]:
    pairs = zip(parts, matches, strict=True)
    asked = [{"text": part.question, "reply": match.answer, "exact": match.is_exact} for part, match in pairs]
    return {"asked": asked} if asked else {}


def _qa_values(matches: Sequence[Agreement]) -> tuple[float, float, float]:
    exact, f1 = [match.is_exact for match in matches], [match.tokens.fmeasure for match in matches]
    return sum(exact) / len(exact), sum(f1) / len(f1), float(all(exact))


# ---------------------------------------------------------------- lists of entities: ALCE's QAMPARI metrics
# A prediction is right if it equals an alias of a gold entity, both normalised. In `alce`, predictions are texts
# between commas: repetitions count, names with a comma are wrong. In `honest`, each entity counts once.


TOP = 5
_SHARES = ("qampari_prec", "qampari_rec", "qampari_rec_top5", "qampari_f1", "qampari_f1_top5")


class _AnswerMatch(NamedTuple):
    gold: Sequence[Aliases]
    predicted: list[tuple[str, bool]]  # each with whether it is right
    found: list[bool]


def pieces(text: str, reasoned: bool = False) -> list[str]:
    """ALCE's list of a text without citations; with `reasoned` (`--cot`) what follows the first colon."""
    if reasoned:
        text = text.partition(":")[2]
    return [piece for piece in map(normalise, cut_list(text)) if piece]


def alce_list(
    answered: Sequence[ScoringItem], reasoned: bool = False, read: Callable[[ScoringItem], str] = alce_text
) -> MetricTable:
    """`reasoned` is as for `pieces`. Questions without gold entities, at which ALCE stops, do not count."""
    matches = [_alce_match(entry.item.gold.answers or (), pieces(read(entry), reasoned)) for entry in answered]
    return _measure_lists(matches)


def honest_list(answered: Sequence[ScoringItem]) -> MetricTable:
    """Over distinct entities; answers that are no lists are cut at commas.

    Failed answers do not count, nor questions without gold entities or of another style than `list`.
    """
    return _measure_lists([_honest_match(entry) for entry in answered])


def _alce_match(gold: Sequence[Aliases], predictions: list[str]) -> _AnswerMatch | None:
    if not gold:
        return None
    slots = [{normalise(alias) for alias in aliases} for aliases in gold]
    known = frozenset[str]().union(*slots)
    found = [not aliases.isdisjoint(predictions) for aliases in slots]
    return _AnswerMatch(gold, [(each, each in known) for each in predictions], found)


def _honest_match(entry: ScoringItem) -> _AnswerMatch | None:
    gold, text = without_blanks(entry.item.gold.answers or ()), honest_text(entry)
    if entry.item.style != "list" or not gold or text is None:
        return None
    is_list = entry.answer.style == "list"
    return _distinct([claim.text for claim in entry.answer.claims] if is_list else pieces(text), gold)


def _distinct(names: Sequence[str], gold: Sequence[Aliases]) -> _AnswerMatch:
    """Skips repetitions, and further aliases of an entity that has a prediction."""
    match = _AnswerMatch(gold, [], [False] * len(gold))
    slots = [{entity(alias) for alias in aliases} for aliases in gold]
    seen: set[str] = set()
    for name in names:
        known = entity(name)
        places = [i for i, aliases in enumerate(slots) if known in aliases]
        if known in seen or (places and all(match.found[i] for i in places)):
            continue
        seen.add(known)
        match.predicted.append((name, bool(places)))
        for i in places:
            match.found[i] = True
    return match


def _measure_lists(matches: Sequence[_AnswerMatch | None]) -> MetricTable:
    counts = tuple(None if match is None else float(len(match.predicted)) for match in matches)
    shares = columns(_SHARES, [None if match is None else _shares(match) for match in matches])
    return MetricTable((Column("num_preds", counts, scale=1.0), *shares), reasons=tuple(map(_reason, matches)))


def _shares(match: _AnswerMatch) -> tuple[float, ...]:
    """As ALCE computes them, to the last digit."""
    precision = sum(is_right for _, is_right in match.predicted) / max(1, len(match.predicted))
    hits, gold = sum(match.found), len(match.found)
    recall, top = hits / gold, min(TOP, hits) / min(TOP, gold)
    return precision, recall, top, Overlap(precision, recall).fmeasure, Overlap(precision, top).fmeasure


def _reason(match: _AnswerMatch | None) -> Mapping[str, Any]:
    if match is None:
        return {}
    slots = zip(match.gold, match.found, strict=True)
    return {
        "gold": [gold_reason(aliases, found=is_found) for aliases, is_found in slots],
        "predicted": [{"text": name, "right": is_right} for name, is_right in match.predicted],
    }
