"""The sentences of a passage, with their terms and facts."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple

from toulmin.data import BELOW, Citation, Claim, Passage, Quote
from toulmin.text.language import Span, content_terms, fold, is_question, is_row, rarity
from toulmin.text.names import Fact
from toulmin.text.wording import SentenceWording, wording

_BRACKETED = re.compile(r"\s*\([^()]*\)\s*$")
# Marks of code and tables, underlines, and the dots of a table of contents.
_DEBRIS = re.compile(r"[|{}<>=#~^\\]|\[\[|\]\]|&\w+;|https?:|\*\*|__|•|(?<!\S)([-\"'`*+.:_])\1{3,}(?!\S)|(?:\.\s){4,}")
# English verbs, searched in ASCII text only: other languages need none of them.
_VERB = re.compile(
    r"\b(?:is|are|was|were|be|been|has|have|had|do|does|did|can|could|may|might|will|would|shall|should|must|am"
    r"|\w{2,}ed|\w{3,}s|\w{2,}ing|made|won|became|began|took|wrote|sang|came|went|held|led|met|ran|set|sold|beat"
    r"|lost|left|got|gave|found|built|born|known|shown|seen|put|said|told|rose|fell|stood|sent|grew|kept)\b"
)
# Text that every file of a folder repeats or that frames it: notices, captions, navigation, bibliographies; and
# formulas, of which PDFs keep only the letters.
_NOISE = re.compile(
    r"^\W*(?i:©|(?:\(c\)|copyright\b)(?=.{0,20}(?:©|\(c\)|\d{4}))|all rights reserved|table of contents\b"
    r"|(?:table|fig(?:ure|\.)?|listing|algorithm)\s[\dA-Z][\d.]*\s?[.:]"
    r"|(?:previous|next|up)\s\W*(?:previous|next|up)\b)"
    r"|WITHOUT (?:ANY )?WARRANT|IN NO EVENT (?:SHALL|WILL)"
    r"|\d{1,4}\s?\(\d{1,3}\),\s(?:pp?\.\s?)?\d{1,5}[-–]\d|\bdoi:\s?10\.\d"
)
_FORMULA = re.compile(r"[^\x00-\x7f].*=|=.*[^\x00-\x7f]")
_WORDS = re.compile(r"[^\W\d_]{3,}")
_NUMBER = re.compile(r"\A\W*[\dA-Z]{1,3}(?:\.\d{1,3})*\.?(?:\s|$)")  # of a section
_OPENS_LINE = re.compile(r"\n[^\S\n]*(?:[\dA-Z]{1,3}(?:\.\d{1,3})*\.?[^\S\n]+)?\Z")
_ENDS_LINE = re.compile(r"[^\S\n]*(?:\n|\Z)")
_SECTION = re.compile(r"\d{1,2}(?:\.\d{1,3})+\.?\s|[-=_*~]{4,}$")
BULLET = re.compile(r"(?:[-*•+–]|\(?(?:\d{1,2}|[a-z])[.)])\s")
_LONGEST_NUMBER = 20  # characters
_ENDED = re.compile(r"[.!?:;,…。！？][\"'”’)\]]*$")
_CODE = re.compile(r"\w\(|[$_/{}=<>\\`|*+]|(?<!\w)(?:--?\w|#[a-z])|\w\.\w")
_LONGEST_HEADING = 10  # words
_PLACING = re.compile(r"\b(?:in|at|near|from|on|of)\s+(?:the\s+)?$")
_LONGEST = 90  # words; beyond it a "sentence" is a table or a list that lost its line breaks
_SHORTEST = 4  # words


class Find(NamedTuple):
    """A fact, by its value, or a plain term (kind "term"); `terms` are the content terms of its words."""

    kind: str
    value: str
    terms: frozenset[str]

    @classmethod
    def of(cls, fact: Fact) -> Find:
        return cls(fact.kind, fact.value, content_terms(fact.value))


@dataclass(frozen=True, eq=False)
class Sentence:
    """At `passage.text[start:end]`; `position` counts the passage's sentences."""

    passage: Passage
    position: int
    start: int
    end: int

    @cached_property
    def _wording(self) -> SentenceWording:
        """The cached one of the passage, unless this joins several sentences."""
        each, span = wording(self.passage.text).sentences[self.position], Span(self.start, self.end)
        return each if each.span == span else SentenceWording(self.passage.text[self.start : self.end], span)

    @property
    def facts(self) -> tuple[Fact, ...]:
        return self._wording.facts

    @cached_property
    def text(self) -> str:
        return " ".join(self.passage.text[self.start : self.end].split())

    @property
    def term_sequence(self) -> tuple[str, ...]:
        return self._wording.terms

    @property
    def terms(self) -> frozenset[str]:
        return self._wording.content_terms

    @cached_property
    def finds(self) -> tuple[Find, ...]:
        """Its facts that do not repeat the title, then its terms; each once."""
        title = title_terms(self.passage.title)
        new = [find for find in map(Find.of, self.facts) if not find.terms or not find.terms <= title]
        plain = [Find("term", term, frozenset((term,))) for term in sorted(self.terms)]
        return tuple(dict.fromkeys(new + plain))

    @cached_property
    def place_finds(self) -> frozenset[Find]:
        text, start = self.passage.text, self.start
        placed = (fact for fact in self.facts if _PLACING.search(text[max(start, fact.start - 10) : fact.start]))
        return frozenset(map(Find.of, placed))

    @cached_property
    def length(self) -> int:
        """In words; in scripts without spaces, half the number of terms."""
        return max(len(self.text.split()), len(self.term_sequence) // 2)

    @cached_property
    def soundness(self) -> float:
        """0 to 1; low for markup, headings, notices, fragments and very long sentences."""
        text = self.text
        if self.is_row:
            return 0.5
        is_formula = _FORMULA.search(text) and len(_WORDS.findall(text)) < _SHORTEST
        if is_formula or len(self.term_sequence) < _SHORTEST or not any(map(str.isalpha, text)) or self.is_noise:
            return 0.05
        score = 1.0
        if _DEBRIS.search(text) or len(text.split()) > _LONGEST or (text.isascii() and not _VERB.search(text)):
            score *= 0.2
        if text[0].islower() or text[0] in ",;:)]":
            score *= 0.5
        if not text.rstrip("\"'”’)]»").endswith((".", "!", "?", "…", "。", "！", "？")):
            score *= 0.2 if self.is_heading else 0.5
        return score

    @property
    def is_noise(self) -> bool:
        """Whether it has no letter and no figure, or is a notice, a caption, navigation or of a bibliography."""
        return not any(map(str.isalnum, self.text)) or _NOISE.search(self.text) is not None

    @cached_property
    def asks(self) -> bool:
        return is_question(self.text) and not self.is_row

    @property
    def opens_section(self) -> bool:
        """By its number or a rule, or as a question that is no item."""
        return bool(_SECTION.match(self.text)) or (self.asks and not BULLET.match(self.text))

    @cached_property
    def is_row(self) -> bool:
        """Whether it is a row of a table, each cell after the head of its column."""
        return is_row(self.text)

    @cached_property
    def is_heading(self) -> bool:
        """Whether it names its section, or is a short line alone, without a stop; code is none."""
        if self.is_row:
            return False
        if self.text == self.passage.source.section.rpartition(BELOW)[2]:
            return True
        text, words = self.passage.text, _NUMBER.sub("", self.text, count=1)
        opens_line = _OPENS_LINE.search("\n" + text[max(0, self.start - _LONGEST_NUMBER) : self.start])
        is_alone = opens_line and _ENDS_LINE.match(text, self.end) and len(words.split()) <= _LONGEST_HEADING
        return not words or bool(is_alone and not _ENDED.search(words) and not _CODE.search(words))

    def words_of(self, fact: Fact) -> str:
        """As the passage writes the fact, a name without its possessive."""
        text = " ".join(self.passage.text[fact.start : fact.end].split())
        return text.removesuffix("'s").removesuffix("’s") if fact.kind == "name" else text

    def claim(self) -> Claim:
        """Without a stop its line ends are those of code or a table, and stay."""
        lines = (self.text if _ENDED.search(self.text) else self.quote.text).split("\n")
        return Claim("\n".join(filter(None, (" ".join(line.split()) for line in lines))), (self.citation(),))

    @property
    def quote(self) -> Quote:
        return self.passage.quote(self.start, self.end)

    def citation(self) -> Citation:
        return Citation(self.passage.id, self.quote)


@lru_cache(maxsize=4096)
def title_terms(title: str) -> frozenset[str]:
    """Without a final bracket and stop words."""
    return content_terms(_BRACKETED.sub("", title) or title)


@lru_cache(maxsize=1024)
def analyse(passage: Passage) -> tuple[Sentence, ...]:
    return tuple(Sentence(passage, n, *each.span) for n, each in enumerate(wording(passage.text).sentences))


def weight(term_set: frozenset[str] | set[str]) -> float:
    return sum(map(rarity, term_set))


def fold_text(text: str) -> str:
    return " ".join(fold(text).split())
