"""An answer as a document that people keep: paragraphs whose sentences have notes, references, and the evidence.

Every format for people (`press.py`) writes this down with its own signs. All texts here are printable and stand on
one line; what they mean in a format is for the format to escape.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple
from urllib.parse import quote as quote_url
from urllib.parse import urlsplit

from toulmin import __version__
from toulmin.data import Answer, Citation, Claim, Passage
from toulmin.formats.answer_json import link_to
from toulmin.formats.clean_text import address, clean
from toulmin.formats.clean_text import title as title_of

SIGNS = {"supported": "✓", "unsure": "?", "unsupported": "✗", "contradicted": "≠"}
UNCHECKED = "not checked"
# Control characters, those that reorder what follows, halves of pairs, and those that are no characters.
_UNSEEN = re.compile(
    "[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ufdd0-\ufdef\ufffe\uffff\ufeff]"
)
_HALVES = re.compile("[\ud800-\udfff]")
_KEY_WORDS = 3


def visible(text: str) -> str:
    """The text without characters that a reader cannot see and that could change what it does see; any run of white
    space is one space.
    """
    return re.sub(r"\s+", " ", _HALVES.sub("\ufffd", _UNSEEN.sub("", text)))


def printable(text: str) -> str:
    """The same, without white space around it: at most one line."""
    return visible(text).strip()


class Reference(NamedTuple):
    """A document that an answer cites; its `key` holds only letters, digits and hyphens of ASCII."""

    n: int
    key: str
    title: str
    place: str  # its path, address or record
    url: str  # "" unless it is of the web
    digest: str


class Note(NamedTuple):
    """What a footnote says: the decisive words ("" where nobody looked for them), and where they stand."""

    n: int
    quote: str
    passage: Passage
    reference: Reference
    page: int | None
    link: str  # an address of the web with the words, or a path with the page; "" where there is none

    @property
    def where(self) -> str:
        """The section and page of the document."""
        page = f"p. {self.page}" if self.page else ""
        return ", ".join(part for part in (printable(self.passage.source.section), page) if part)


class Sentence(NamedTuple):
    claim: Claim
    text: str
    notes: tuple[Note, ...]

    @property
    def flag(self) -> str:
        """The verdict, where it is not the one that a reader takes for granted."""
        return self.claim.support.label if self.claim.support and self.claim.fails else ""


class Block(NamedTuple):
    """A heading with its words, or a paragraph or an item of a list with sentences."""

    kind: Literal["heading", "paragraph", "item"]
    text: str = ""
    sentences: tuple[Sentence, ...] = ()


class Row(NamedTuple):
    """A line of the evidence: a claim with one of its sources, or with none."""

    n: int
    claim: str
    verdict: str
    judge: str
    reason: str
    quote: str
    place: str
    digest: str


COLUMNS = ("No.", "Claim", "Verdict", "Judge", "Source’s words", "Place", "SHA-256 of the file")


@dataclass(frozen=True)
class Manuscript:
    """The document of one answer."""

    answer: Answer

    @property
    def title(self) -> str:
        return printable(self.answer.question) or "Checked text"

    @property
    def about(self) -> str:
        """How many claims have which verdict, and what made the document."""
        labels = [claim.support.label if claim.support else UNCHECKED for claim in self.answer.claims]
        counts = Counter(labels)
        tally = ", ".join(f"{counts[label]} {label}" for label in (*SIGNS, UNCHECKED) if label in counts)
        return f"{tally or 'No claims'}. Made by Toulmin {__version__}, method {printable(self.answer.method)}."

    @property
    def silence(self) -> str:
        """Why there is no text; "" where there is one."""
        return "" if self.answer.claims else printable(" ".join(self.answer.notes)) or "The sources do not say."

    @cached_property
    def references(self) -> tuple[Reference, ...]:
        """The cited documents, in order of first use."""
        first = {_document_of(passage): passage for passage in reversed(self.answer.cited)}
        order = dict.fromkeys(_document_of(passage) for passage in self.answer.cited)
        return tuple(_reference(n, first[key]) for n, key in enumerate(order, start=1))

    @cached_property
    def sentences(self) -> tuple[Sentence, ...]:
        references = dict(zip(dict.fromkeys(map(_document_of, self.answer.cited)), self.references, strict=True))
        sentences, n = [], 0
        for claim in self.answer.claims:
            notes = []
            for citation in claim.citations:
                passage, n = self._passages[citation.passage], n + 1
                notes.append(_note(n, citation, passage, references[_document_of(passage)]))
            sentences.append(Sentence(claim, printable(claim.text) or "…", tuple(notes)))
        return tuple(sentences)

    @property
    def notes(self) -> Iterator[Note]:
        return (note for sentence in self.sentences for note in sentence.notes)

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        """A list is one item a claim, other answers paragraphs as in the rendering for people."""
        blocks: list[Block] = []
        section, kind = None, "item" if self.answer.style == "list" else "paragraph"
        for gap, sentence in zip(clean(self.answer).gaps, self.sentences, strict=True):
            if sentence.claim.section and sentence.claim.section != section:
                blocks.append(Block("heading", printable(sentence.claim.section)))
            if "\n" in gap or not blocks or blocks[-1].kind != "paragraph":
                blocks.append(Block("item" if kind == "item" else "paragraph"))
            blocks[-1] = blocks[-1]._replace(sentences=(*blocks[-1].sentences, sentence))
            section = sentence.claim.section
        return tuple(blocks)

    @property
    def rows(self) -> Iterator[Row]:
        """The evidence of each claim, then the passages that say elsewhere what the cited ones do not."""
        for n, sentence in enumerate(self.sentences, start=1):
            support = sentence.claim.support
            verdict = f"{support.label} ({support.score:.2f})" if support else UNCHECKED
            judged = (printable(support.judge), printable(support.reason or "")) if support else ("", "")
            about = (n, sentence.text, verdict, *judged)
            sources = [(note.quote, note.passage, note.page, "") for note in sentence.notes]
            others = [self._passages[id] for id in (support.elsewhere if support else ())]
            sources += [("", passage, passage.source.page, "elsewhere: ") for passage in others]
            for quote, passage, page, lead in sources:
                yield Row(*about, quote, lead + place_of(passage, page), _digest(passage))
            if not sources:
                yield Row(*about, "", "", "")

    @property
    def removed(self) -> list[tuple[str, str]]:
        """What a repair took out of the text, and why."""
        if self.answer.method != "repair":
            return []
        taken = [r for r in self.answer.rounds if r.kind == "repair" and r.chosen and not r.text and not r.kept]
        return [(printable(d.text), printable(d.why)) for each in taken for d in each.dropped[:1]]

    @cached_property
    def _passages(self) -> dict[str, Passage]:
        return {passage.id: passage for passage in reversed(self.answer.passages)}


def lines_of(rows: Sequence[Row]) -> Iterator[tuple[str, ...]]:
    """The rows as cells under `COLUMNS`; what a claim has in common with the row above is left out."""
    before = 0
    for row in rows:
        verdict = f"{row.verdict}: {row.reason}" if row.reason else row.verdict
        about = (str(row.n), row.claim, verdict, row.judge) if row.n != before else ("", "", "", "")
        yield (*about, row.quote, row.place, row.digest)
        before = row.n


def web_address(url: str | None) -> str:
    """The URL with everything percent-encoded that could end it; "" unless it is of http or https."""
    if not url or urlsplit(url).scheme.lower() not in ("http", "https"):
        return ""
    return quote_url(_HALVES.sub("\ufffd", url), safe="/:?#@!$&*+,;=%~-._[]")


def _document_of(passage: Passage) -> tuple[str, ...]:
    source = passage.source
    place = (source.path or source.url or "", source.record or "")
    return place if any(place) else (passage.title or passage.id,)


def _reference(n: int, passage: Passage) -> Reference:
    source, title = passage.source, printable(title_of(passage))
    ascii_words = re.findall("[a-z0-9]+", unicodedata.normalize("NFKD", title).lower())
    key = "-".join([*ascii_words[:_KEY_WORDS], str(n)]) if ascii_words else f"source-{n}"
    return Reference(n, key[-60:].lstrip("-"), title, _address(passage), web_address(source.url), _digest(passage))


def _note(n: int, citation: Citation, passage: Passage, reference: Reference) -> Note:
    quote = printable(citation.quote.text) if citation.quote else ""
    page = citation.boxes[0].page if citation.boxes else passage.source.page
    return Note(n, quote, passage, reference, page, _link(passage, page, quote))


def _link(passage: Passage, page: int | None, quote: str) -> str:
    source, link = passage.source, link_to(passage, page, quote or passage.text)
    if source.url:
        return web_address(link) or web_address(source.url)
    if not source.path:
        return ""
    path = quote_url(_HALVES.sub("\ufffd", re.sub("^/+", "/", source.path)), safe="/")
    return f"{path}#{link.rpartition('#')[2]}" if link else path


def _address(passage: Passage) -> str:
    return printable(address(passage))


def place_of(passage: Passage, page: int | None = None) -> str:
    """The title, section, page, and path or address of a passage."""
    parts = (title_of(passage), passage.source.section, f"p. {page}" if page else "")
    names = ", ".join(text for text in map(printable, parts) if text)
    place = _address(passage)
    return names if place == printable(title_of(passage)) else f"{names} ({place})"


def _digest(passage: Passage) -> str:
    """ "" for what is no SHA-256; a kept answer comes from anywhere."""
    digest = passage.source.digest
    return digest if re.fullmatch("[0-9a-f]{64}", digest) else ""
