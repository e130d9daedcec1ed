"""An answer as a document: sentences with notes, references, and evidence.

Every format for people (`press.py`) renders it. All texts are printable and on one line; each format escapes them.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple
from urllib.parse import quote as quote_url

from toulmin import __version__
from toulmin.data import Answer, Citation, Claim, Metadata, Passage
from toulmin.formats.answer_json import link_to, plain
from toulmin.formats.clean_text import address, gaps, page_in
from toulmin.formats.clean_text import title as title_of
from toulmin.text.names import split_address

SIGNS = {"supported": "✓", "likely": "≈", "disputed": "⇄", "unsure": "?", "unsupported": "✗", "contradicted": "≠"}
UNCHECKED = "not checked"
# Control characters, characters that reorder text, and noncharacters.
_UNSEEN = re.compile(
    "[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ufdd0-\ufdef\ufffe\uffff\ufeff]"
)
_DATE = re.compile(r"\d{4}(-\d\d){0,2}")
_KEY_WORDS = 3


def visible(text: str) -> str:
    """The text without invisible characters that could change what is visible; white space becomes one space."""
    return re.sub(r"\s+", " ", plain(_UNSEEN.sub("", text)))


def printable(text: str) -> str:
    """As `visible`, stripped: at most one line."""
    return visible(text).strip()


class Reference(NamedTuple):
    """A cited document; its `key` holds only ASCII letters, digits and hyphens."""

    n: int
    key: str
    title: str
    place: str  # its path, address or record
    url: str  # "" unless it is of the web
    digest: str
    authors: tuple[str, ...]  # "Smith, Jane" if the family name is known
    date: str  # ISO, perhaps only a year; "" if unknown
    doi: str


class Note(NamedTuple):
    """A footnote: the decisive words ("" if unknown), and their place."""

    n: int
    quote: str
    passage: Passage
    reference: Reference
    citation: Citation
    link: str  # an address of the web with the words, or a path with the page; "" where there is none

    @property
    def where(self) -> str:
        about, section = self.passage.source.metadata, self.citation.section_in(self.passage)
        return ", ".join(filter(None, (author_year(about), printable(section), _page(self.passage, self.citation))))


def author_year(about: Metadata) -> str:
    """As in "Smith et al. 2024", without what is unknown."""
    families = [author.partition(", ")[0] for author in about.authors]
    names = " and ".join(families) if len(families) < 3 else f"{families[0]} et al."
    return printable(f"{names} {_date_of(about)[:4]}")


def _date_of(about: Metadata) -> str:
    return about.date if _DATE.fullmatch(about.date) and not about.is_file_date else ""


class Sentence(NamedTuple):
    claim: Claim
    text: str
    notes: tuple[Note, ...]

    @property
    def flag(self) -> str:
        return self.claim.support.label if self.claim.support and not self.claim.is_proven else ""


class Block(NamedTuple):
    """A heading with its words, or a paragraph or list item with sentences."""

    kind: Literal["heading", "paragraph", "item"]
    text: str = ""
    sentences: tuple[Sentence, ...] = ()


COLUMNS = ("No.", "Claim", "Verdict", "Judge", "Source’s words", "Place", "SHA-256 of the file")


@dataclass(frozen=True)
class Manuscript:
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
        """Why there is no text; "" if there is."""
        return "" if self.answer.claims else printable(" ".join(self.answer.notes)) or "The sources do not say."

    @cached_property
    def references(self) -> tuple[Reference, ...]:
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
                quote = printable(citation.quote.text) if citation.quote else ""
                link = _link(passage, citation.page_in(passage), quote)
                notes.append(Note(n, quote, passage, references[_document_of(passage)], citation, link))
            lines = filter(None, map(printable, claim.text.split("\n")))
            sentences.append(Sentence(claim, "\n".join(lines) or "…", tuple(notes)))
        return tuple(sentences)

    @property
    def notes(self) -> Iterator[Note]:
        return (note for sentence in self.sentences for note in sentence.notes)

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        """In a list each claim is an item; other answers have the paragraphs of the rendering for people."""
        blocks: list[Block] = []
        section, kind = None, "item" if self.answer.style == "list" else "paragraph"
        for gap, sentence in zip(gaps(self.answer), self.sentences, strict=True):
            if sentence.claim.section and sentence.claim.section != section:
                blocks.append(Block("heading", printable(sentence.claim.section)))
            if "\n" in gap or not blocks or blocks[-1].kind != "paragraph":
                blocks.append(Block("item" if kind == "item" else "paragraph"))
            blocks[-1] = blocks[-1]._replace(sentences=(*blocks[-1].sentences, sentence))
            section = sentence.claim.section
        return tuple(blocks)

    @property
    def rows(self) -> Iterator[tuple[str, ...]]:
        """The evidence under `COLUMNS`: each claim with its cited passages, then with those elsewhere that support it.
        Only its first row repeats the claim.
        """
        for n, sentence in enumerate(self.sentences, start=1):
            support = sentence.claim.support
            verdict = f"{support.label} ({support.score:.2f})" if support else UNCHECKED
            reason = printable(support.reason or "") if support else ""
            judge = printable(support.judge) if support else ""
            about = (str(n), printable(sentence.text), f"{verdict}: {reason}" if reason else verdict, judge)
            sources = [(note.quote, note.passage, note.citation, "") for note in sentence.notes]
            others = [self._passages[id] for id in (support.elsewhere if support else ())]
            sources += [("", passage, Citation(passage.id), "elsewhere: ") for passage in others]
            for quote, passage, citation, lead in sources:
                yield (*about, quote, lead + place_of(passage, citation), _digest(passage))
                about = ("", "", "", "")
            if not sources:
                yield (*about, "", "", "")

    @property
    def removed(self) -> list[tuple[str, str]]:
        if self.answer.method != "repair":
            return []
        taken = [r for r in self.answer.rounds if r.kind == "repair" and r.chosen and not r.text and not r.kept]
        return [(printable(d.text), printable(d.why)) for each in taken for d in each.dropped[:1]]

    @cached_property
    def _passages(self) -> dict[str, Passage]:
        return {passage.id: passage for passage in reversed(self.answer.passages)}


def web_address(url: str | None) -> str:
    """The URL, percent-encoded so that nothing can end it; "" unless http or https."""
    if not url or split_address(url).scheme.lower() not in ("http", "https"):
        return ""
    return quote_url(plain(url), safe="/:?#@!$&*+,;=%~-._[]")


def file_link(path: str) -> str:
    return quote_url(plain(re.sub("^/+", "/", path)), safe="/")


def _document_of(passage: Passage) -> tuple[str, ...]:
    source = passage.source
    place = (source.path or source.url or "", source.record or "")
    return place if any(place) else (passage.title or passage.id,)


def _reference(n: int, passage: Passage) -> Reference:
    source, title = passage.source, printable(title_of(passage))
    ascii_words = re.findall("[a-z0-9]+", unicodedata.normalize("NFKD", title).lower())
    key = "-".join([*ascii_words[:_KEY_WORDS], str(n)]) if ascii_words else f"source-{n}"
    about, authors = source.metadata, tuple(filter(None, map(printable, source.metadata.authors)))
    doi = printable(about.doi) if about.entry else ""  # one on a page may be another work's
    place, url = printable(address(passage)), web_address(source.url)
    return Reference(n, key[-60:].lstrip("-"), title, place, url, _digest(passage), authors, _date_of(about), doi)


def _link(passage: Passage, page: int | None, quote: str) -> str:
    source, link = passage.source, link_to(passage, page, quote or passage.text)
    if source.url:
        return web_address(link) or web_address(source.url)
    if not source.path:
        return ""
    path = file_link(source.path)
    return f"{path}#{link.rpartition('#')[2]}" if link else path


def place_of(passage: Passage, citation: Citation) -> str:
    """The title, section, page, and path or address of cited words."""
    parts = (title_of(passage), citation.section_in(passage), _page(passage, citation))
    names = ", ".join(text for text in map(printable, parts) if text)
    place = printable(address(passage))
    return names if place == printable(title_of(passage)) else f"{names} ({place})"


def _page(passage: Passage, citation: Citation) -> str:
    return page_in(passage, citation).replace("page", "p.")


def _digest(passage: Passage) -> str:
    """ "" for anything but a SHA-256: a saved answer may come from anywhere."""
    digest = passage.source.digest
    return digest if re.fullmatch("[0-9a-f]{64}", digest) else ""
