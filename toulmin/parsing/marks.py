"""Citation marks in a text. Every pattern is bounded, so that all texts take linear time.

Marks are `[1]`, `[1, 2]`, `[1; 2]`, `[1 and 2]`, `[1-3]` with any dash, `[1][2]`, `[[1]]`, `[^1]`, `【1】`,
`【1†source】`, `[Document 1]` and similar, `(2)` right after a bracketed mark, and a rendering's flags (`[unsure]`).

No marks: what a backslash escapes, a range from 0 ("[0-9]"), and a number from 1000 to 2999 ("[2018]") unless so many
passages were offered.

`find_written_marks` also finds `(Document 1)`, `^[1]`, `[ID:1]`, `##1$$` and brackets with backslashes; `¹˒²` and
`<sup>1</sup>` after a stop, a space or a word of four letters; `(1)` before or after a stop, in a text without others.
The last two must be numbers of passages. `bracket_marks` reads replies, and also `[1, Kettle Rock]`, `(see [2])` and
"According to Document 1, ...". Titles stay text: several passages may share one.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import NamedTuple

from toulmin.data import MARK_OPENING

_FLAGS = frozenset(("likely", "disputed", "unsure", "unsupported", "contradicted"))
_OUT_OF_ALL_BOUNDS = 10**9

_ESCAPED = rf"(?<!\\)(?P<slashes>(?:\\\\)*)\\(?P<bracket>[\[【［])(?={MARK_OPENING})"
_BODY = r"[^\[\]【】［］\n]{1,300}"
_TOKEN = re.compile(
    rf"(?P<escaped>{_ESCAPED})|\[\[(?P<double>{_BODY})\]\]|[\[【［](?P<single>{_BODY})[\]】］]", re.IGNORECASE
)
_UNESCAPE = re.compile(_ESCAPED, re.IGNORECASE)
_LINK_TARGET = re.compile(r"\((?:https?:|#)[^()\s]{0,500}\)")
_PARENTHESIS = re.compile(r"[^\S\n]?\(([\d,; ]{1,100})\)")
_BETWEEN_MARKS = re.compile(r"[^\S\n]{0,2}(?:[,;]|,?[^\S\n]?(?:and|&))?[^\S\n]{0,2}")

_WORD = r"(?:(?:documents?|docs?|passages?|sources?|references?|refs?|citations?|cites?|snippets?)\.?\s*[#:]?\s*)?"
_LABEL = re.compile(rf"{_WORD}[#^]?(\d+)(?:\s*[-‐‑–—]\s*{_WORD}(\d+))?(?:†[^,;]*)?", re.IGNORECASE)
_LABEL_BREAK = re.compile(r"\s*(?:[,;、，；]|\band\b|&)\s*")
_ONLY_NUMBERS = re.compile(r"[\d\s,;‐‑–—-]+")
_ENDED = re.compile(r"(?<![.!?])[.!?]$")
_ENDED_IN_QUOTES = re.compile(r"[.!?][\"'”’»)]?$")


class LabelRange(NamedTuple):
    """Labels from `first` to `last`, both included."""

    first: int
    last: int


class Mark(NamedTuple):
    """Neighbouring marks as one, with their labels in order (a flag has none)."""

    start: int
    end: int
    labels: tuple[LabelRange, ...]


Find = Callable[[str, int], list[Mark]]  # the marks of a text with so many passages


class MarkPosition(NamedTuple):
    position: int
    labels: tuple[LabelRange, ...]


class PlainText(NamedTuple):
    """A text without its marks, and the marks in order.

    `starts` are pairs of equivalent offsets in it and in the text with marks, one for each piece.
    """

    text: str
    marks: tuple[MarkPosition, ...]
    starts: tuple[tuple[int, int], ...] = ((0, 0),)

    def span(self, start: int, end: int) -> tuple[int, int]:
        """The offsets of `text[start:end]` in the text with marks."""
        return self._offset(start), self._offset(end - 1) + 1

    def _offset(self, position: int) -> int:
        begun, offset = self.starts[bisect_right(self.starts, position, key=lambda pair: pair[0]) - 1]
        return offset + position - begun


def _number(digits: str) -> int:
    return int(digits) if len(digits) <= 9 else _OUT_OF_ALL_BOUNDS


def _labels(body: str, offered: int) -> tuple[LabelRange, ...] | None:
    """None: no mark."""
    if body.strip().lower() in _FLAGS:
        return ()
    pieces = [_LABEL.fullmatch(piece) for piece in _LABEL_BREAK.split(body.strip())]
    ranges = [LabelRange(_number(p[1]), _number(p[2] or p[1])) for p in pieces if p is not None]
    if len(ranges) < len(pieces) or any(pair.first == 0 < pair.last for pair in ranges):
        return None
    if _ONLY_NUMBERS.fullmatch(body) and all(max(1000, offered + 1) <= n <= 2999 for pair in ranges for n in pair):
        return None  # years
    return tuple(ranges)


def _single_marks(text: str, offered: int) -> Iterator[Mark]:
    for token in _TOKEN.finditer(text):
        body = token["double"] or token["single"]
        labels = None if body is None else _labels(body, offered)
        if labels is None:
            continue
        target = _LINK_TARGET.match(text, token.end())
        end = target.end() if target else token.end()
        while more := _PARENTHESIS.match(text, end):
            others = _labels(more[1], offered)
            if not others:
                break
            labels, end = labels + others, more.end()
        yield Mark(token.start(), end, labels)


def _belong_together(text: str, before: Mark, after: Mark) -> bool:
    gap = text[before.end : after.start] if after.start - before.end <= 10 else "too far"
    return _BETWEEN_MARKS.fullmatch(gap) is not None


def find_marks(text: str, offered: int = 0) -> list[Mark]:
    """The marks in order, with neighbours joined ("[1], [2]" is one) and parentheses around them included."""
    return _group(text, _single_marks(text, offered))


def find_written_marks(text: str, offered: int = 0) -> list[Mark]:
    plain = bracket_parentheses(bracket_names(text), offered)
    return _group(plain, sorted((*_single_marks(plain, offered), *_raised_marks(plain, offered))))


def _group(text: str, marks: Iterable[Mark]) -> list[Mark]:
    groups: list[list[Mark]] = []
    for mark in marks:
        if groups and mark.start < groups[-1][-1].end:
            continue
        if groups and _belong_together(text, groups[-1][-1], mark):
            groups[-1].append(mark)
        else:
            groups.append([mark])
    return [_join_marks(text, group) for group in groups]


def has_marks(text: str, offered: int = 0) -> bool:
    return next(_single_marks(text, offered), None) is not None


def _join_marks(text: str, marks: list[Mark]) -> Mark:
    start, end = marks[0].start, marks[-1].end
    is_inside = text[max(0, start - 1) : start] == "(" and text[end : end + 1] == ")"
    return Mark(start - is_inside, end + is_inside, tuple(label for mark in marks for label in mark.labels))


def _unescape(text: str, offset: int) -> Iterator[tuple[str, int]]:
    """The pieces between escapes of a text at `offset`, each with its own offset."""
    begun = 0
    for escape in _UNESCAPE.finditer(text) if "\\" in text else ():
        kept = escape.start() + len(escape["slashes"]) // 2
        yield text[begun:kept], offset + begun
        begun = escape.end() - 1
    yield text[begun:], offset + begun


def lift(text: str, offered: int = 0, find: Find = find_marks) -> PlainText:
    """Removes the marks, each with one space before it, and backslashes of escaped ones. `offered`, the number of
    passages, only decides what is a year.
    """
    pieces: list[str] = []
    placed: list[MarkPosition] = []
    starts: list[tuple[int, int]] = []
    size = start = 0
    for mark in (*find(text, offered), None):
        piece = text[start:] if mark is None else _before(text, start, mark)
        for part, offset in _unescape(piece, start):
            starts.append((size, offset))
            pieces.append(part)
            size += len(part)
        if mark is not None:
            placed.append(MarkPosition(size, mark.labels))
            joint, start = _after(text, piece, mark.end)
            pieces.append(joint)
            size += len(joint)
    return PlainText("".join(pieces), tuple(placed), tuple(starts))


def _before(text: str, start: int, mark: Mark) -> str:
    piece = text[start : mark.start]
    dangling = text[mark.end : mark.end + 1] in (".", ",", ";", ":", "!", "?")
    if piece.endswith((" ", "\t", "\xa0")) or (dangling and piece.endswith("\n")):
        return piece[:-1]
    return piece


def _after(text: str, before: str, end: int) -> tuple[str, int]:
    """What replaces a mark, and where the text continues: "One. [1]. Two" loses a stop."""
    follower = text[end : end + 2]
    if follower[:1] == "." and follower != ".." and _ENDED.search(before[-2:]):
        return "", end + 1
    if follower[:1].isalnum() and _ENDED_IN_QUOTES.search(before[-2:]):
        return " ", end
    return "", end


# ---------------------------------------------------------------- other forms of marks


_NOUN = r"(?:documents?|docs?|passages?|sources?|references?|refs?|snippets?|citations?|cites?|search results?)"
_NUMBERS = r"\d{1,3}(?:\s{0,2}(?:[,;&–-]|,?\s?and)\s{0,2}\d{1,3}){0,20}"
_NAMED = re.compile(
    rf"\((?:see |cf\. |from )?({_NOUN}\.?\s?[#:]?\s?{_NUMBERS})\)|\^\[({_NUMBERS})\]|(?<!\\)\\\[({_NUMBERS})\\\]"
    rf"|\[ids?\s?[:=]\s?({_NUMBERS})\]|##(\d{{1,3}})\$\$",
    re.IGNORECASE,
)

_MARKS = r"\[[^\[\]\n]{1,40}\](?:,? ?(?:and )?\[[^\[\]\n]{1,40}\]){0,20}"
_TITLED = re.compile(
    rf"\[((?:{_NOUN}\.?\s?[#:]?\s?)?\d{{1,3}})\s?[:,|–-]\s?(?=[^\[\]\n]{{0,20}}[^\W\d_])[^\[\]\n]{{2,80}}\]",
    re.IGNORECASE,
)
_ONLY_LABELS = re.compile(rf"\[(?:{_NOUN}|and|[\s\d,;:&#.–-])+\]", re.IGNORECASE)
_ENCLOSED = re.compile(rf"\((?:see |cf\. |from )?(?:{_NOUN}\s)?({_MARKS})\)", re.IGNORECASE)
_LED_IN = re.compile(
    r"(?P<before>^|[.!?]\s{1,3})"
    r"(?:according to|as (?:stated|noted|mentioned|described|reported|shown|indicated|seen) (?:in|by)|as per"
    r"|per|based on)\s"
    rf"(?:the )?(?:{_NOUN}\s?(?P<numbers>{_NUMBERS})|(?:{_NOUN}\s?)?(?P<marks>{_MARKS})),\s?(?P<first>\S{{1,60}})",
    re.IGNORECASE | re.MULTILINE,
)
_DIGITS = "⁰¹²³⁴⁵⁶⁷⁸⁹"
_RAISED = re.compile(
    rf"(?:(?<=[.!?,;:”\"')>。 ])|(?<=[^\W\d_]{{4}}))[^\S\n]?"
    rf"([{_DIGITS}]{{1,9}}(?:[ ,⁠˒‚⁻–-]{{1,2}}[{_DIGITS}]{{1,9}}){{0,20}}|<sup>\[?{_NUMBERS}\]?</sup>)"
)
_PLAIN = str.maketrans(f"{_DIGITS}⁻˒‚⁠ ", "0123456789-,,,,", "<sup>/[]")
_IN_PARENTHESES = re.compile(
    r"(?P<behind>(?<=[.!?。])[^\S\n]?)?(?:(?<!\w)|(?<=[\u3000-\u9fff]))\((\d{1,3}(?:\s?[,;]\s?\d{1,3}){0,20})\)"
    r"(?P<before>(?=[^\S\n]?(?:[.,;:!?。，]|$|\(\d)))?",
    re.MULTILINE,
)
_CUT_OFF = re.compile(r"\s?[\[【［][\d,; –-]{0,40}\s*\Z")


def bracket_names(text: str) -> str:
    """Replaces "(see Passage 3)" by "[    Passage 3]", so that offsets stay."""
    return _NAMED.sub(lambda named: f"[{named[named.lastindex or 0]:>{len(named[0]) - 2}}]", text)


def bracket_marks(text: str, offered: int) -> str:
    text = _CUT_OFF.sub("", text)
    text = _TITLED.sub(_without_title, _ENCLOSED.sub(r"\1", bracket_names(text)))
    text = _LED_IN.sub(_after_first_word, text)
    pieces, at = [], 0
    for start, end, labels in _raised_marks(text, offered):
        pieces += [text[at:start], "".join(f"[{first}-{last}]" for first, last in labels)]
        at = end
    return bracket_parentheses("".join([*pieces, text[at:]]), offered)


def _without_title(titled: re.Match[str]) -> str:
    """Reads "[1, Kettle Rock]" as passage 1; "[1, 2 and 3]" and "[1, doc 2]" stay."""
    return titled[0] if _ONLY_LABELS.fullmatch(titled[0]) else f"[{titled[1]}]"


def _after_first_word(led: re.Match[str]) -> str:
    first = led["first"]
    marks = f"[{led['numbers']}]" if led["numbers"] else led["marks"]
    return f"{led['before']}{first[:1].upper()}{first[1:]} {marks}"


def _raised_marks(text: str, offered: int) -> Iterator[Mark]:
    for raised in _RAISED.finditer(text):
        labels = _labels(raised[1].translate(_PLAIN), 0) or ()
        if labels and all(1 <= n <= offered for pair in labels for n in pair):
            yield Mark(*raised.span(1), labels)


def bracket_parentheses(text: str, offered: int) -> str:
    """As `bracket_names`, for "(1)"."""
    matches = [m for m in _IN_PARENTHESES.finditer(text) if (m["before"], m["behind"]) != (None, None)]
    behind = [m[2] for m in matches if m["before"] is None]
    is_list = len(behind) > 1 and behind == [str(n) for n, _ in enumerate(behind, 1)]  # "(1) First ... (2) Then ..."
    marks = {m.start(): m[2] for m in matches if not is_list or m["before"] is not None}
    are_offered = all(1 <= int(n) <= offered for body in marks.values() for n in re.findall(r"\d+", body))
    if not are_offered or has_marks(bracket_names(text), offered) or any(_raised_marks(text, offered)):
        return text
    return _IN_PARENTHESES.sub(lambda m: m[0].replace("(", "[").replace(")", "]") if m.start() in marks else m[0], text)


# ---------------------------------------------------------------- words about passages, before and after a claim


class FramedClaim(NamedTuple):
    """A sentence without its words about passages, and the labels in these."""

    content: str
    labels: tuple[LabelRange, ...]


_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
_NTH = "|".join(_ORDINALS)
_SUPPLIED = r"(?:(?:given|provided|available|above|following|retrieved|supplied|cited|same|listed)(?:,| and)? )"
_RANKED = rf"(?:the )?{_SUPPLIED}?(?:{_NTH})(?: and (?:the )?(?:{_NTH}))? {_SUPPLIED}?(?!(?:ref|cit)){_NOUN}"
_NUMBERED = rf"(?:(?:the )?{_SUPPLIED}?{_NOUN}\.?\s?[#:]?\s?{_NUMBERS}|{_RANKED})"
_THING = rf"(?:{_NOUN}|texts?|articles?|contexts?|excerpts?|information|evidence)"
_HELD = r"(?: (?:given|provided|available|above|contained|found|presented|supplied|retrieved))?"
_ONE_OR_ALL = rf"(?:(?:all |both )?(?:of )?(?:the|these|this|those|your) )?{_SUPPLIED}{{0,2}}{_THING}{_HELD}"
_REFERENCE = rf"(?:{_NUMBERED}|{_ONE_OR_ALL} (?:in|from) {_ONE_OR_ALL}|{_ONE_OR_ALL})"
_IN_WORDS = r"(?:stated|noted|mentioned|described|reported|shown|indicated|explained|seen|said|written|claimed)"
_BY = (
    r"(?:(?:based|drawing|relying) (?:solely |only |purely |entirely )?(?:up)?on|according to|judging by|as per|per"
    rf"|as {_IN_WORDS} (?:in|by))"
)
_SAYS = (
    r"(?:also |further |both |all |clearly |explicitly |then )?(?:says?|states?|notes?|mentions?|reports?|explains?"
    r"|indicates?|suggests?|shows?|claims?|tells? us|adds?|confirms?|reveals?|writes?|describes?|points? out)"
)
_SEEN = r"(?:it (?:appears|seems|is clear)|(?:we|you|i)(?: can)? (?:read|learn|see))"
_SURE = r"(?:sure(?: thing)?|certainly|of course|absolutely|okay|ok|(?:great|good) question|no problem|got it)"
_SUMMARY = r"(?:answers?|summary|overview|breakdown|outline|list|explanation|response|points|facts|details|information)"
_LINK = (
    r"(?:(?:overall|in (?:summary|short|conclusion)|to summari[sz]e|furthermore|moreover|additionally|also|finally"
    r"|however|similarly|therefore|thus|and|but),? )?"
)


@cache  # compiled on first use: a search needs none of it
def _frames() -> re.Pattern[str]:
    forms = (
        rf"{_SURE}[,!.:;–—-]{{1,3}}\s{{1,3}}",
        rf"here(?: is|['’]s| are) (?:\w{{1,12}} ){{0,3}}{_SUMMARY}(?: (?:based on|from|of|to|for)"
        rf" (?:{_REFERENCE}|your question|the question))?:\s{{1,3}}",
        rf"{_LINK}{_BY} {_REFERENCE}(?:[,:]|\s[–—-])\s{{1,3}}",
        rf"{_LINK}(?:in|from) {_REFERENCE},? {_SEEN} that ",
        rf"{_LINK}as {_REFERENCE} {_SAYS}, ",
        rf"{_LINK}as far as {_REFERENCE} (?:go(?:es)?|says?|tells?)(?: us)?, ",
        rf"{_LINK}from (?:what (?:i|we|you) (?:can )?(?:see|read|find|gather|tell) (?:in|from) )?{_REFERENCE}, ",
        r"(?:to answer|in (?:answer|response|reply) to) (?:your|the|this) (?:question|query)(?: \w{1,9}ly)?[,:] ",
        rf"to (?:summari[sz]e|quote|sum up) {_REFERENCE}[,:] ",
        rf"{_LINK}in {_NUMBERED}, ",
        rf"{_LINK}{_NUMBERED}: ",
        rf"{_LINK}it is (?:also )?{_IN_WORDS} (?:in {_REFERENCE} )?that ",
        rf"{_LINK}{_SEEN} (?:in|from) {_REFERENCE} that ",
        rf"{_LINK}(?:the (?:authors?|writers?) of )?{_REFERENCE} {_SAYS}(?: that|:) ",
        rf"{_LINK}{_NUMBERED} {_SAYS},? ",
    )
    return re.compile("|".join(forms), re.IGNORECASE)


@cache
def _frame_behind() -> re.Pattern[str]:
    return re.compile(rf",?\s\(?{_BY} {_REFERENCE}\)?(?=[.!?]{{0,3}}\s{{0,3}}$)", re.IGNORECASE)


_MOST_FRAMES = 4
_LONGEST_FRAME = 200  # characters of the words behind a claim
PASSAGE_NUMBERS = re.compile(rf"\b{_NOUN}\.?\s?[#:]?\s?{_NUMBERS}", re.IGNORECASE)
_NAME_OR_NUMBER = re.compile(rf"(\d{{1,3}})(?:\s?[–-]\s?(\d{{1,3}}))?|\b({_NTH})\b", re.IGNORECASE)


def framed(sentence: str) -> FramedClaim:
    """Reads "The second passage says that it was lit" as "It was lit" with label 2."""
    start, end = 0, len(sentence)
    frames = []
    for _ in range(_MOST_FRAMES):
        frame = _frames().match(sentence, start)
        if frame is None:
            break
        frames.append(frame[0])
        start = frame.end()
    tail = max(start, end - _LONGEST_FRAME)
    if behind := _frame_behind().search(sentence, tail - (tail > start)):
        frames.append(behind[0])
        end = behind.start()
    content = sentence[start:end] + (sentence[behind.end() :] if behind else "")
    words = content[:1].upper() + content[1:] if start else content
    return FramedClaim(words, tuple(label for frame in frames for label in _labels_in(frame)))


def content_of(sentence: str) -> str:
    """The sentence without words about passages, or unchanged if nothing remains."""
    content = framed(sentence).content
    return content if any(map(str.isalnum, content)) else sentence


def _labels_in(frame: str) -> Iterator[LabelRange]:
    for first, last, ordinal in _NAME_OR_NUMBER.findall(frame):
        number = _ORDINALS.index(ordinal.lower()) + 1 if ordinal else int(first)
        yield LabelRange(number, int(last) if last else number)
