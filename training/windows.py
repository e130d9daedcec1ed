"""Questions with windows of sentences, one that answers among others that do not: what the ranker learns from.

A window is one to three neighbouring sentences. One holds the marked answer; the others are from the same passage,
from the other passages of the record, and from passages of other records that BM25 finds for the question and that do
not have the answer's words. Some questions are answered nowhere. An eighth of the questions has a slip of the pen, a
seventh neither capital letters nor a question mark, and a third of the windows no title, as people ask and as
documents are.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import orjson
import questions
from claims.sources import rows, terms_of

import toulmin
from toulmin.config import Settings
from toulmin.text.language import sentences

# Records of each source in an epoch, at most: enough how-to, science and fiction beside Wikipedia.
MIXTURE = {
    "squad1_mrqa": 2500,
    "squad2_devhalf": 4372,
    "qa_nq_gold": 2046,
    "qa_squad1_subset": 2000,
    "qa_squad_reqa": 1500,
    "qa_squadshifts_wiki": 3000,
    "qa_xquad_en": 300,
    "qa_qnli": 1200,
    "qa_selqa": 695,
    "qa_cookdial": 700,
    "qa_quoref": 900,
    "qa_quotesum": 77,
    "qa_fairytaleqa": 1200,
    "qa_tatqa_text": 331,
    "qa_covidqa": 1019,
    "qa_evidence_inference": 500,
    "qa_medquad": 1500,
}
HELD = 10  # dev records of each source that a run is assessed by
OTHERS = 5  # windows that do not answer, beside one that does
_NEAR = 12  # passages of other records that are looked at
_WORDS = 100
_SLIPS, _PLAIN, _UNTITLED = 0.12, 0.15, 0.35


class Record(NamedTuple):
    """`gold` and `spans` are (passage, start, end); no gold: nothing here answers."""

    source: str
    question: str
    passages: tuple[tuple[str, str], ...]
    gold: tuple[tuple[int, int, int], ...]
    spans: tuple[tuple[int, int, int], ...] = ()


class Window(NamedTuple):
    """`span` is the answer's place in `text`; None where it is not known or there is none."""

    title: str
    text: str
    answers: bool
    span: tuple[int, int] | None = None


class Group(NamedTuple):
    source: str
    question: str
    windows: tuple[Window, ...]


def groups(data: Path, split: str, seed: int, share: float = 1.0) -> list[Group]:
    """The groups of a split, of the sources that weights may learn from; `share` of the mixture."""
    terms = terms_of()
    chosen: list[Record] = []
    for name, most in MIXTURE.items():
        if terms[name].ship:
            listed = list(records(data, name, split))
            random.Random(f"{seed} {name}").shuffle(listed)
            chosen += listed[: max(1, round(share * (most if split == "train" else HELD)))]
    with TemporaryDirectory() as folder:
        near = Near(chosen, Path(folder))
        made = [group(record, near, random.Random(f"{seed} {n}"), split == "train") for n, record in enumerate(chosen)]
    return [each for each in made if len(each.windows) > 1]


# ---------------------------------------------------------------- records


def records(data: Path, name: str, split: str) -> Iterator[Record]:
    """The records of a source in one form."""
    if name in questions.SOURCES[:3]:
        yield from _of_items(data, name, split)
        return
    for row in rows(data, name):
        passages = tuple((passage["title"] or "", passage["text"]) for passage in row["passages"])
        gold = tuple((n, start, end) for n, start, end in row["answer_sentences"] or ())
        if name == "qa_medquad":  # a page of answers begins with what it says first
            numbers = [n for n in row["meta"]["gold_passages"] if passages[n][1].strip()]
            gold = tuple((n, *sentences(passages[n][1])[0]) for n in numbers)
        spans = tuple((n, start, end) for n, start, end, *_ in row["spans"] or ())
        if row["split"] == split and passages and row["answerable"] == bool(gold):
            yield Record(name, row["question"], passages, gold, spans)


def _of_items(data: Path, name: str, split: str) -> Iterator[Record]:
    for item in questions.of_source(data, name, split):
        text = item.passage.text
        spans = tuple((0, *place) for place in item.places)
        holding = [span for span in sentences(text) for place in item.places if span.start <= place[0] < span.end]
        gold = tuple(dict.fromkeys((0, span.start, span.end) for span in holding))
        if len(gold) <= 2:  # words that stand everywhere mark nothing
            yield Record(name, item.question, ((item.passage.title, text),), gold, spans)


# ---------------------------------------------------------------- windows


def windows(text: str) -> list[tuple[int, int]]:
    """The start and end of every one to three neighbouring sentences of at most a hundred words."""
    spans = sentences(text)
    pairs = [(n, n + more) for n in range(len(spans)) for more in range(3) if n + more < len(spans)]
    cut = [(first == last, spans[first].start, spans[last].end) for first, last in pairs]
    return [(start, end) for is_one, start, end in cut if is_one or len(text[start:end].split()) <= _WORDS]


class Near:
    """Finds passages of other records by words."""

    def __init__(self, chosen: Sequence[Record], folder: Path) -> None:
        titles = {text: title for record in chosen for title, text in record.passages}
        lines = (orjson.dumps({"id": str(n), "title": titles[text], "text": text}) for n, text in enumerate(titles))
        (folder / "all.jsonl").write_bytes(b"\n".join(lines))
        self._index = folder / "index"
        toulmin.index(folder / "all.jsonl", into=self._index, settings=Settings())

    def passages(self, record: Record) -> list[tuple[str, str]]:
        """The nearest that do not have the answer's words; where these are not known, not the very nearest either."""
        texts = {text for _, text in record.passages}
        answers = {record.passages[n][1][start:end].lower() for n, start, end in record.spans}
        hits = [hit.passage for hit in toulmin.search(record.question, index=self._index, k=_NEAR, settings=Settings())]
        others = [p for p in hits if p.text not in texts and not any(words in p.text.lower() for words in answers)]
        return [(p.title, p.text) for p in (others if answers or not record.gold else others[3:])]


def group(record: Record, near: Near, chance: random.Random, is_noisy: bool) -> Group:
    """The question with a window that answers first, if any does, and others."""
    made = [_answering(record, chance)] if record.gold else []
    silent = [(title, text, window) for n, (title, text) in enumerate(record.passages) for window in _silent(record, n)]
    chance.shuffle(silent)
    made += [_window(title, text, *window, chance) for title, text, window in silent[: OTHERS - 1]]
    for title, text in near.passages(record)[: OTHERS + bool(record.gold) - len(made)]:
        asked = set(re.findall(r"\w{4,}", record.question.lower()))
        ranked = sorted(windows(text), key=lambda w: -len(asked & set(re.findall(r"\w{4,}", text[slice(*w)].lower()))))
        made += [_window(title, text, *window, chance) for window in ranked[:1]]
    return Group(record.source, misspelt(record.question, chance) if is_noisy else record.question, tuple(made))


def _silent(record: Record, passage: int) -> list[tuple[int, int]]:
    gold = [(start, end) for n, start, end in record.gold if n == passage]
    if gold and record.source == "qa_medquad":  # the rest of the page answers too
        return []
    every = windows(record.passages[passage][1])
    return [(start, end) for start, end in every if not any(start < last and first < end for first, last in gold)]


def _answering(record: Record, chance: random.Random) -> Window:
    n, first, last = chance.choice(record.gold)
    title, text = record.passages[n]
    start, end = chance.choice([w for w in windows(text) if w[0] <= first and last <= w[1]] or [(first, last)])
    window = _window(title, text, start, end, chance)._replace(answers=True)
    known = next(((a, b) for at, a, b in record.spans if at == n and start <= a and b <= end), None)
    words = " ".join(text[slice(*known)].split()) if known else ""
    at = window.text.find(words)
    return window._replace(span=(at, at + len(words))) if words and at >= 0 else window


def _window(title: str, text: str, start: int, end: int, chance: random.Random) -> Window:
    words = " ".join(text[start:end].split()[:_WORDS])
    return Window("" if chance.random() < _UNTITLED else title, words, False)


def misspelt(question: str, chance: random.Random) -> str:
    """Some questions with two letters swapped, or one lost or doubled; some in lower case without a mark."""
    words = question.split()
    long = [n for n, word in enumerate(words) if len(word) > 3 and word.isalpha()]
    if long and chance.random() < _SLIPS:
        n = chance.choice(long)
        word, at = words[n], chance.randrange(1, len(words[n]) - 1)
        swapped = word[: at - 1] + word[at] + word[at - 1] + word[at + 1 :]
        words[n] = chance.choice((swapped, word[:at] + word[at + 1 :], word[:at] + word[at] + word[at:]))
        question = " ".join(words)
    return question.rstrip("? ").lower() if chance.random() < _PLAIN else question
