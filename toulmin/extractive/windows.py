"""Windows of neighbouring sentences, ranked by a network by whether they answer a question.

The network ranks single sentences first (of many, those with most of the question's terms), then the windows around
the best. The best of these are ranked again with the cosine that an encoder finds between question and window, then by
a larger network that reads their blocks.
Shown is the block around a window. Settings were chosen on the train questions of two folders (`benchmarks/folder.py`).
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, chain, takewhile
from typing import NamedTuple, Protocol

from toulmin.data import Passage
from toulmin.extractive.analysis import BULLET, Sentence, analyse, title_terms, weight
from toulmin.extractive.calibration import CutRank, answering_odds, calibrate, with_closeness, with_larger
from toulmin.steps import Cut, Span
from toulmin.text.definitions import HEADWORD, defined_terms, is_entry, says_what_it_is
from toulmin.text.language import content_terms
from toulmin.text.names import Kind
from toulmin.text.wording import is_fragment

LONGEST = 80  # words of a window of several sentences
_SHOWN = 70  # words of a passage that a small model is shown
_WIDTHS = (2, 3)  # sentences
_SINGLE = 56  # sentences that are read alone; 80 answer no more questions of two folders
_PROMISING = 6  # of these, the ones whose neighbours are read with them
_NEAR = 0.5  # what a term of the question is worth in a neighbouring sentence
_SINKING = 1 / 30  # of the question's share, a rank of the search
_SOUND_ENOUGH = 0.1
_FURNITURE = 4  # documents among those read
_WORDS_EACH = 38  # an answer of 90 words has three blocks at most
_COMPARED = 45  # windows whose meaning is compared with the question's
_CLOSENESS = 12.0  # log odds that a cosine of one is worth
_REREAD, _BLOCKS = 24, 8  # windows and their blocks that a larger network reads
_ALIKE = 0.5  # of the shorter of two blocks, from which on one stands for both
_OVER = 5  # words that an answer may be longer, since its windows are whole
# A further block is left out after one with a span of this confidence for a fact, if it is worth so much less, and if
# the larger network gives it less log odds than that.
_SURE, _FAR, _DENIED = 0.1, 5.0, -2.0
_NAME = 2  # words of a line of a mail that names an attachment
_LONG = 20  # words of a block from which the deciding sentence stands first
# A sentence that begins so cannot stand first.
_LEANS = re.compile(
    r"\W*(?:it|this|that|these|those|he|she|they|its|his|her|their|such|however|but|and|also|then|thus|so|otherwise"
    r"|for example|in this case|instead|therefore|there|here|note|or|both|each|one)\b",
    re.IGNORECASE,
)
# Log odds of a row with all terms of the question over one with none, and the share of them from which it gains.
_OF_A_ROW, _ROW_SHARE = 10.0, 0.6
_RANK = 0.1  # log odds that a rank of the search is worth
_OF_AN_ENTRY = 3.0  # log odds of what a glossary, or a sentence with "is", says of a term whose meaning is asked for


class SpanReader(Protocol):
    """Finds what answers a question."""

    def rank(self, question: str, cuts: Sequence[Cut]) -> Sequence[CutRank] | None:
        """One a cut; None by a reader that does not rank."""

    def closeness(self, question: str, cuts: Sequence[Cut]) -> Sequence[float]:
        """The cosine of each cut and the question; empty without an encoder."""

    def answer_odds(self, question: str, cuts: Sequence[Cut]) -> Sequence[float]:
        """The log odds by a larger network that each cut answers; empty without one."""


@dataclass(frozen=True, slots=True)
class Window:
    """Neighbouring sentences of the passage of rank `rank`, from 0; their list has `more` items."""

    sentences: tuple[Sentence, ...]
    rank: int
    more: int = 0

    @property
    def cut(self) -> Cut:
        first, last = self.sentences[0], self.sentences[-1]
        return Cut(first.passage, first.start, last.end)

    @property
    def length(self) -> int:
        """In words."""
        return sum(sentence.length for sentence in self.sentences)


class Read(NamedTuple):
    """A window with a reader's log odds, adjusted for table rows and glossary entries."""

    question: str
    window: Window
    odds: float
    ranked: CutRank
    worth: float  # what windows are chosen by: the odds, the search's rank and the cosine
    cosine: float | None = None  # with the question; None if it was not compared
    larger: float | None = None  # a larger network's log odds that its block answers; None if it was not read

    @property
    def span(self) -> Span | None:
        return calibrate(self.question, self.ranked)

    def answering_odds(self) -> float:
        odds = answering_odds(self.question, self.window.cut, self.odds)
        odds = odds if self.cosine is None else with_closeness(odds, self.cosine)
        return odds if self.larger is None else with_larger(odds, self.larger)


def read(question: str, passages: Sequence[Passage], reader: SpanReader) -> list[Read]:
    """Likeliest first; empty by a reader that ranks none."""
    furniture = _furniture(question, passages)
    seen = _ask(question, _without(furniture, _promising(question, passages)), reader)
    best = sorted(seen, key=lambda each: -each.odds)[:_PROMISING]
    wider = dict.fromkeys(wide for each in best for wide in _round(each.window))
    seen += _ask(question, _without(furniture, wider), reader)
    ranked = sorted(seen, key=_order)
    near, far = ranked[:_COMPARED], ranked[_COMPARED:]
    cosines = reader.closeness(question, [each.window.cut for each in near]) if near else ()
    if cosines:
        pairs = zip(near, cosines, strict=True)
        near = [each._replace(worth=each.worth + _CLOSENESS * cosine, cosine=cosine) for each, cosine in pairs]
    ranked = sorted(near, key=_order) + far
    return _reread(question, ranked, reader) if ranked and len(passages) > 1 else ranked


def _reread(question: str, ranked: Sequence[Read], reader: SpanReader) -> list[Read]:
    """Ranked again by a larger network, which reads the blocks of the best windows, of those that overlap the first;
    these windows come first.
    """
    blocks = [Window(block(each.window.sentences), each.window.rank).cut for each in ranked[:_REREAD]]
    first: dict[Cut, Cut] = {}
    for each in blocks:
        first[each] = next((other for other in first.values() if _is_alike(each, other)), each)
    best = list(dict.fromkeys(first.values()))[:_BLOCKS]
    known = dict(zip(best, reader.answer_odds(question, best), strict=False))
    odds = {each: known[other] for each, other in first.items() if other in known}
    pairs = list(zip(ranked, blocks, strict=False))
    again = [each._replace(worth=each.worth + odds[cut], larger=odds[cut]) for each, cut in pairs if cut in odds]
    return sorted(again, key=_order) + [each for each, cut in pairs if cut not in odds] + list(ranked[_REREAD:])


def _is_alike(one: Cut, other: Cut) -> bool:
    shared = min(one.end, other.end) - max(one.start, other.start)
    return one.passage is other.passage and shared >= _ALIKE * min(one.end - one.start, other.end - other.start)


def _order(each: Read) -> tuple[float, int]:
    return -each.worth, len(each.window.sentences)


def _promising(question: str, passages: Sequence[Passage]) -> list[Window]:
    """The sentences with most of the question's terms, in the passages' order."""
    alone = [Window((s,), rank) for rank, passage in enumerate(passages) for s in analyse(passage) if is_sound(s)]
    asked = content_terms(question)
    whole = weight(asked) or 1.0

    def share(window: Window) -> float:
        (middle,) = window.sentences
        near = analyse(middle.passage)[max(0, middle.position - 1) : middle.position + 2]
        title = title_terms(middle.passage.title) & asked
        around = title.union(*(sentence.terms & asked for sentence in near))
        return (weight(title | middle.terms & asked) + _NEAR * weight(around)) / whole - _SINKING * window.rank

    best = sorted(alone, key=share, reverse=True)[:_SINGLE] if len(alone) > _SINGLE else alone
    return sorted(best, key=lambda window: (window.rank, window.sentences[0].position))


def shorten(asked: str, passage: Passage) -> Passage:
    """The passage cut to the neighbouring sentences with most of the question's terms, at most `_SHOWN` words or one
    sentence.
    """
    sentences, terms = analyse(passage), content_terms(asked)
    if sum(sentence.length for sentence in sentences) <= _SHOWN:
        return passage
    best = max(_short_spans(sentences), key=lambda span: (weight(terms & _terms(span)), len(span)))
    return Cut(passage, best[0].start, best[-1].end).alone()


def _terms(span: Sequence[Sentence]) -> frozenset[str]:
    return frozenset[str]().union(*(sentence.terms for sentence in span))


def _short_spans(sentences: Sequence[Sentence]) -> Iterator[Sequence[Sentence]]:
    for start, first in enumerate(sentences):
        end, length = start + 1, first.length
        yield sentences[start:end]
        while end < len(sentences) and (length := length + sentences[end].length) <= _SHOWN:
            end += 1
            yield sentences[start:end]


def _furniture(question: str, passages: Sequence[Passage]) -> frozenset[str]:
    """Sentences that many documents repeat: notices and navigation. Not sentences with all the question's terms, nor
    those amid the same sentences, as in versions of a document.
    """
    places: dict[str, dict[str, frozenset[str]]] = defaultdict(dict)
    for passage in passages:
        texts = frozenset(sentence.text for sentence in analyse(passage))
        for text in texts:
            places[text].setdefault(passage.source.path or passage.title, texts)
    asked = content_terms(question)
    return frozenset(
        text
        for text, around in places.items()
        if len(around) >= _FURNITURE
        and not asked <= content_terms(text)
        and 2 * len(frozenset.intersection(*around.values())) <= min(map(len, around.values()))
    )


def _without(furniture: frozenset[str], windows: Iterable[Window]) -> list[Window]:
    apart = (window for window in windows if furniture.isdisjoint(sentence.text for sentence in window.sentences))
    return [window for window in apart if not any(map(_is_aside, window.sentences))]


def _is_aside(sentence: Sentence) -> bool:
    """A quoted line of a mail, which is mostly the question, or the name of an attachment."""
    is_in_mail = (sentence.passage.source.path or "").endswith((".eml", ".mbox", ".msg"))
    return is_in_mail and (sentence.text.startswith(">") or sentence.length <= _NAME)


def is_sound(sentence: Sentence) -> bool:
    return sentence.soundness >= _SOUND_ENOUGH


def _ask(question: str, windows: Iterable[Window], reader: SpanReader) -> list[Read]:
    listed = list(windows)
    ranked = reader.rank(question, [window.cut for window in listed])
    if ranked is None:
        return []
    asked, sought = content_terms(question), defined_terms(question)
    whole = weight(asked) or 1.0
    extras = [_row_odds(window, asked, whole) + _entry_odds(window, sought) for window in listed]
    return [
        Read(question, window, each.odds + extra, each, each.odds + extra - _RANK * window.rank)
        for window, each, extra in zip(listed, ranked, extras, strict=True)
    ]


def _row_odds(window: Window, asked: frozenset[str], whole: float) -> float:
    """For a row of a table, by its share of the question's terms: a reader of prose confuses rows."""
    if not any(sentence.is_row for sentence in window.sentences):
        return 0.0
    (row,) = window.sentences
    return _OF_A_ROW * (weight((row.terms | title_terms(row.passage.title)) & asked) / whole - _ROW_SHARE)


def _entry_odds(window: Window, sought: tuple[str, ...]) -> float:
    """For a window that begins with the definition of the term in question."""
    first = next((sentence for sentence in window.sentences if not sentence.is_heading), None)
    return _OF_AN_ENTRY if sought and first is not None and _defines(first, sought) else 0.0


def _defines(sentence: Sentence, sought: tuple[str, ...]) -> bool:
    before = analyse(sentence.passage)[sentence.position - 1] if sentence.position else None
    is_under_it = before is not None and before.is_heading and is_entry(before.term_sequence, sought)
    return is_under_it or says_what_it_is(sentence.text, sought)


def _round(window: Window) -> list[Window]:
    """The wider windows around a sentence; a row of a table needs none."""
    (middle,) = window.sentences
    every = analyse(middle.passage)
    starts = [(start, width) for width in _WIDTHS for start in range(middle.position - width + 1, middle.position + 1)]
    wide = [every[start : start + width] for start, width in starts if 0 <= start <= len(every) - width]
    apart = [each for each in wide if not any(sentence.is_row for sentence in each)]
    return [Window(each, window.rank) for each in apart if sum(s.length for s in each) <= LONGEST]


def _unit(window: Window, room: int) -> Window:
    """What is shown: the block if it fits, and what it leads into, without what states nothing: headings, notices, and
    questions before another one or the end. After a lead-in a short line is an item, up to the next section.
    """
    whole = Window(block(window.sentences), window.rank)
    shown = whole.sentences if whole.length <= room else window.sentences
    if _leads_in(shown) and not shown[-1].is_row:
        shown += _after(shown, room)
    leads = next((n for n, sentence in enumerate(shown) if sentence.text.endswith(":")), len(shown))
    items = tuple(takewhile(lambda each: not each.opens_section, shown[leads + 1 :]))
    listed = _listed_questions(shown)
    stated = [each for each in shown if each in items or not (each.is_heading or each.is_noise or each in listed)]
    asks = [each.asks and each not in items for each in stated] + [True]
    answered = (each for n, each in enumerate(stated) if not all(asks[n : n + 2]))
    return Window(tuple(each for each in answered if not _is_aside(each)), window.rank)


def _after(shown: Sequence[Sentence], room: int) -> tuple[Sentence, ...]:
    """The paragraph that follows, as far as it fits; a long one only after a colon, or after questions alone."""
    answer = next(iter(_paragraphs(analyse(shown[0].passage)[shown[-1].position + 1 :])), ())
    is_open = shown[-1].text.endswith(":") or all(each.is_heading or each.asks for each in shown)
    if not answer or answer[0].opens_section or (_words(answer) > _LONGEST_LED and not is_open):
        return ()
    most, ends = max(_LONGEST_LED, room - _words(shown)), accumulate(each.length for each in answer)
    return tuple(each for each, end in zip(answer, ends, strict=True) if end <= most)


def _listed_questions(sentences: Sequence[Sentence]) -> set[Sentence]:
    """Those of a list of questions without answers, with what each says before it asks."""
    paragraphs = _paragraphs(sentences)
    asks = [each[-1].asks for each in paragraphs]
    near = [(asks[max(0, n - 1) : n], asks[n + 1 : n + 2]) for n in range(len(asks))]
    listed = (asked and all(after) and any(before + after) for asked, (before, after) in zip(asks, near, strict=True))
    return {sentence for each, is_one in zip(paragraphs, listed, strict=True) if is_one for sentence in each}


def _with_items(window: Window, known: Collection[str]) -> Window:
    """With the further items of the list that it ends in, up to a limit or a known sentence: a list that breaks off
    misleads.
    """
    sentences = window.sentences
    paragraphs = _paragraphs(analyse(sentences[0].passage))
    lead, last = (_place(paragraphs, each) for each in (sentences[0], sentences[-1]))
    lead = next((n for n in range(lead, last) if _leads_in(paragraphs[n]) and paragraphs[n][-1] in sentences), last)
    kind = _kind_of_item(paragraphs[lead + 1]) if lead < last else ""
    if not kind or (kind == "term" and paragraphs[lead][-1].asks):
        return window
    rest = list(takewhile(lambda each: _kind_of_item(each) == kind, paragraphs[last + 1 :]))
    room, items = _LONGEST_REST, list(sentences)
    for n, item in enumerate(rest):
        if (room := room - _words(item)) < 0 or any(sentence.text in known for sentence in item):
            return Window(tuple(items), window.rank, len(rest) - n if room < 0 else 0)
        items += item
    return Window(tuple(items), window.rank)


def _kind_of_item(paragraph: _Paragraph) -> str:
    """What it begins with: a bullet, a number or a term; empty for none of these."""
    is_term = is_fragment(paragraph[0].text) and not paragraph[0].opens_section
    return "mark" if BULLET.match(paragraph[0].text) else "term" if is_term else ""


def deciding_first(window: Window, ranked: Sequence[Read]) -> tuple[Sentence, ...]:
    """The sentences of a long block from the one that answers best alone; lists, tables, questions with their answers
    keep their order.
    """
    sentences = window.sentences
    is_list = any(each.is_row or each.asks or each.text.endswith(":") or BULLET.match(each.text) for each in sentences)
    if window.length <= _LONG or is_list:
        return sentences
    odds = {each.window.sentences[0]: each.odds for each in ranked if len(each.window.sentences) == 1}
    best = max(range(len(sentences)), key=lambda n: odds.get(sentences[n], -math.inf))
    while best and is_fragment(sentences[best - 1].text):  # the term that it explains
        best -= 1
    return sentences if _LEANS.match(sentences[best].text) else sentences[best:] + sentences[:best]


def join_fragments(sentences: Sequence[Sentence]) -> list[Sentence]:
    """The same, a word or two as one with the sentence that they head or with the list's beginning: alone they state
    nothing that could be proven.
    """
    whole: list[Sentence] = []
    for each in sentences:
        last = whole[-1] if whole else None
        is_item = is_fragment(each.text) and not _ENDED.search(each.text)
        if last and each.position == last.position + 1 and (is_item or is_fragment(last.text)):
            whole[-1] = replace(each, start=last.start)
        else:
            whole.append(each)
    return whole


def choose(
    ranked: Sequence[Read],
    words: int,
    barred: Collection[Sentence] = (),
    *,
    is_brief: bool = False,
    kind: Kind | None = None,
) -> list[Read]:
    """The best blocks within `words`, without repeated sentences; if `is_brief`, no second one that adds little.

    `kind`: of the one fact that the question asks for; a sentence with a sure one is enough.
    """
    chosen: list[Read] = []
    known = {sentence.text for sentence in barred}
    room = words + _OVER
    for each in ranked:
        window = _unit(each.window, room)
        texts = {sentence.text for sentence in window.sentences}
        if not texts or texts & known or (chosen and window.length > room):
            continue
        if chosen and is_brief and _is_enough(chosen[0], each, kind):
            break
        room -= window.length
        window = _deciding(window, each, kind) if is_brief and kind else _with_items(window, known)
        chosen.append(each._replace(window=window))
        known |= {sentence.text for sentence in window.sentences}
        if len(chosen) * _WORDS_EACH >= words:
            break
    return chosen


def _is_enough(first: Read, second: Read, kind: Kind | None) -> bool:
    is_denied = second.larger is not None and second.larger < _DENIED
    return (kind is not None and _sure_span(first) is not None) or is_denied or second.worth < first.worth - _FAR


def _sure_span(each: Read) -> Span | None:
    return each.span if each.span and each.span.confidence >= _SURE else None


def _deciding(window: Window, best: Read, kind: Kind) -> Window:
    """The sentence with the answer, if a fact of the kind is in it, after those that it leans on. Lists stay whole."""
    sentences, span = window.sentences, _sure_span(best)
    if span is None or any(each.is_row or each.text.endswith(":") for each in sentences):
        return window
    last = next((n for n, each in enumerate(sentences) if each.start <= span.quote.start < each.end), None)
    if last is None or kind not in {fact.kind for fact in sentences[last].facts}:
        return window
    first = last
    while first and (_LEANS.match(sentences[first].text) or is_fragment(sentences[first - 1].text)):
        first -= 1
    return Window(sentences[first : last + 1], window.rank)


# ---------------------------------------------------------------- the block that a sentence belongs to


_LONGEST_BLOCK = 60  # words of a block that is shown whole; chosen with the weights above
_LONGEST_TERM = 8  # words of a line that names what follows
_LONGEST_ITEM = 40  # words
_MOST_ITEMS = 7  # between an item and its lead-in
_ENDED = re.compile(r"[.!?…:;][\"')\]”’»]*$")

_LONGEST_LED = 25  # words of a paragraph that is shown with its lead-in, beyond the limit if need be
_LONGEST_REST = 50  # words of the further items of a list, beyond the limit

_Paragraph = tuple[Sentence, ...]


def block(sentences: Sequence[Sentence]) -> tuple[Sentence, ...]:
    """The block around neighbouring sentences of a passage; these alone if they are rows of a table or the block has
    more than `_LONGEST_BLOCK` words.
    """
    if any(sentence.is_row for sentence in sentences):
        return tuple(sentences)
    paragraphs = _paragraphs(analyse(sentences[0].passage))
    last, first = (_place(paragraphs, sentence) for sentence in (sentences[-1], sentences[0]))
    if first and _is_term(paragraphs[first - 1]):
        first -= 1
    while last + 1 < len(paragraphs) and (_leads_in(paragraphs[last]) or _is_term(paragraphs[last])):
        asks = any(each[-1].asks for each in paragraphs[first : last + 1])
        if (asks and paragraphs[last + 1][0].opens_section) or not _fits(paragraphs[first : last + 2]):
            break
        last += 1
    first, last = _with_list(paragraphs, first, last)
    return tuple(chain(*paragraphs[first : last + 1])) if _fits(paragraphs[first : last + 1]) else tuple(sentences)


def _paragraphs(sentences: Sequence[Sentence]) -> list[_Paragraph]:
    groups: list[list[Sentence]] = []
    for sentence in sentences:
        text = sentence.passage.text
        if not groups or text[groups[-1][-1].end : sentence.start].count("\n") > 1:
            groups.append([])
        groups[-1].append(sentence)
    return list(map(tuple, groups))


def _place(paragraphs: Sequence[_Paragraph], sentence: Sentence) -> int:
    return next(n for n, paragraph in enumerate(paragraphs) if sentence.position <= paragraph[-1].position)


def _with_list(paragraphs: Sequence[_Paragraph], first: int, last: int) -> tuple[int, int]:
    """Widened to the list that the paragraphs lead into or are an item of."""
    leads = [n for n in range(last, max(-1, first - _MOST_ITEMS - 1), -1) if _leads_in(paragraphs[n])]
    if leads and _fits(paragraphs[min(first, leads[0]) : last + 1]):
        first = min(first, leads[0])
    while leads and last + 1 < len(paragraphs) and _words(paragraphs[last + 1]) <= _LONGEST_ITEM:
        if paragraphs[last + 1][0].opens_section or not _fits(paragraphs[first : last + 2]):
            break
        last += 1
    return first, last


def _is_term(paragraph: _Paragraph) -> bool:
    is_short = _words(paragraph) <= _LONGEST_TERM and not _ENDED.search(paragraph[-1].text)
    return is_short or HEADWORD.match(paragraph[0].text) is not None


def _leads_in(paragraph: _Paragraph) -> bool:
    return paragraph[-1].text.endswith(":") or paragraph[-1].asks


def _fits(paragraphs: Sequence[_Paragraph]) -> bool:
    return sum(map(_words, paragraphs)) <= _LONGEST_BLOCK


def _words(paragraph: Sequence[Sentence]) -> int:
    return sum(sentence.length for sentence in paragraph)
