"""The vocabulary: frozen values that every stage takes and returns.

Rules of this file
* A value is checked when it is made, so a wrong one cannot travel.
* A fact is stored once: an answer's text is rendered from its claims.
* Offsets are Unicode code points, half-open.
* "Not checked" is `None`, never a number inside the range.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal, NamedTuple, get_args

Style = Literal["long", "list", "short", "report"]
Status = Literal["answered", "abstained", "failed"]
Label = Literal["supported", "likely", "disputed", "unsure", "unsupported", "contradicted"]
Rule = Literal["contradicted", "citation", "absent", "unsupported", "disputed", "unsure", "likely"]  # why a check fails
Policy = Literal["keep", "flag", "drop"]
Fusion = Literal["rerank", "rrf", "lexical", "dense"]  # how words and meaning make one ranking
Outcome = Literal["answered", "partly", "unanswerable"]
Answers = Literal["yes", "perhaps", "no"]
RoundKind = Literal["search", "draft", "claim", "verify", "contrast", "plan", "assess", "refine", "repair"]

STYLES: tuple[Style, ...] = get_args(Style)
HOLDING = frozenset(("supported", "likely"))  # the labels of claims that may stand
BELOW = " › "
ATTACHED = "attached "  # begins the record of a file in a mail
READ_BY_OCR = "read by OCR, confidence"  # begins the name of a section read by OCR, which is no heading of the document


def content_id(*parts: str) -> str:
    """64 bits of SHA-256, in hex."""
    import hashlib  # not at the top: the command line's help would load OpenSSL for nothing

    return hashlib.sha256("\x1f".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def id_of_passage(title: str, text: str, section: str = "") -> str:
    """Equal passages under one heading get one id."""
    return content_id(title, text, section) if section else content_id(title, text)


def _check(holds: bool, expected: str) -> None:
    if not holds:
        raise ValueError(expected)


@dataclass(frozen=True, slots=True)
class Metadata:
    """What a document says of itself, or a bibliography says of it, whose `entry` has that hash. `date` is ISO, perhaps
    a year; if `is_file_date`, its file changed then. Where family names are known they come first: "Smith, Jane".
    """

    authors: tuple[str, ...] = ()
    date: str = ""
    is_file_date: bool = False
    version: str = ""
    language: str = ""
    tags: tuple[str, ...] = ()
    doi: str = ""
    entry: str = ""


@dataclass(frozen=True, slots=True)
class Source:
    """The passage is `text[start:end]` of its document. Pages count from 1; `section` is the path of headings over it,
    outermost first, joined by `BELOW`; `digest` is the SHA-256 of its file, in hex.
    """

    start: int
    end: int
    path: str | None = None
    url: str | None = None
    record: str | None = None
    page: int | None = None
    section: str = ""
    digest: str = ""
    metadata: Metadata = Metadata()

    def __post_init__(self) -> None:
        _check(0 <= self.start <= self.end, f"a source needs 0 <= start <= end, not {self.start}..{self.end}")
        _check(self.page is None or self.page >= 1, f"pages count from 1, not {self.page}")

    @property
    def headings(self) -> str:
        """The section without notes of OCR."""
        return BELOW.join(words for words in self.section.split(BELOW) if not words.startswith(READ_BY_OCR))


class Heading(NamedTuple):
    """A heading that begins at `start` of a document's text; 1 is the outermost level."""

    start: int
    level: int
    words: str


@dataclass(frozen=True, slots=True)
class Document:
    """The text of a file or record; `remarks` name what it lacks. `pages[i]` is the offset at which page i+1 begins."""

    text: str
    title: str = ""
    path: str | None = None
    url: str | None = None
    record: str | None = None
    pages: tuple[int, ...] = ()
    headings: tuple[Heading, ...] = ()
    metadata: Metadata = Metadata()
    remarks: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for what, starts in (("page", list(self.pages)), ("heading", [heading.start for heading in self.headings])):
            _check(starts == sorted(starts), f"{what} offsets must ascend")
            _check(all(0 <= start <= len(self.text) for start in starts), f"{what} offsets must lie in the text")


@dataclass(frozen=True, slots=True)
class Passage:
    """A piece of a document; its id is a hash: 16 hex digits of SHA-256 over its title, text and section."""

    id: str
    title: str
    text: str
    source: Source

    def __post_init__(self) -> None:
        _check(bool(self.id), "a passage needs an id")
        size = self.source.end - self.source.start
        _check(size == len(self.text), f"a passage of {len(self.text)} characters cannot stand at {size}")

    @classmethod
    def of(cls, text: str, title: str = "", source: Source | None = None) -> Passage:
        """A passage with its content id; without a source it starts at offset 0."""
        source = source or Source(0, len(text))
        return cls(id_of_passage(title, text, source.section), title, text, source)

    def quote(self, start: int, end: int) -> Quote:
        return Quote(start, end, self.text[start:end])


@dataclass(frozen=True, slots=True)
class Hit:
    """A search result; a higher score is better, and scores compare only within one search."""

    passage: Passage
    score: float


@dataclass(frozen=True, slots=True)
class Quote:
    """The decisive words: `passage.text[start:end] == text`."""

    start: int
    end: int
    text: str

    def __post_init__(self) -> None:
        _check(0 <= self.start < self.end, f"a quote needs 0 <= start < end, not {self.start}..{self.end}")
        _check(self.end - self.start == len(self.text), "a quote's offsets must span exactly its text")


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle on a PDF page (from 1), in points from the lower left corner before cropping and rotation."""

    page: int
    left: float
    bottom: float
    right: float
    top: float

    def __post_init__(self) -> None:
        _check(self.page >= 1, f"pages count from 1, not {self.page}")
        _check(self.left <= self.right and self.bottom <= self.top, "a box's sides must not cross")


@dataclass(frozen=True, slots=True)
class Citation:
    """A cited passage with its decisive sentence (None: not searched for). `boxes` are the places of those words, or
    the whole passage, on a PDF, one for each line; `page` is the first, `page_label` how it is printed if not so, and
    `section` the path of headings over them (None: unknown).
    """

    passage: str
    quote: Quote | None = None
    boxes: tuple[Box, ...] = ()
    page: int | None = None
    page_label: str = ""
    section: str | None = None

    def page_in(self, passage: Passage) -> int | None:
        """That of the words; if unknown, of the passage's beginning."""
        return self.page or (self.boxes[0].page if self.boxes else passage.source.page)

    def section_in(self, passage: Passage) -> str:
        return passage.source.section if self.section is None else self.section


@dataclass(frozen=True, slots=True)
class Support:
    """A judge's verdict on one claim; `score` is the probability that the evidence supports it. `elsewhere` are other
    passages that were read and support the claim.
    """

    label: Label
    score: float
    judge: str
    evidence: tuple[str, ...] = ()
    reason: str | None = None
    elsewhere: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        _check(self.label in get_args(Label), f"a label is one of {get_args(Label)}, not {self.label!r}")
        _check(0.0 <= self.score <= 1.0, f"a score lies in 0..1, not {self.score}")
        _check(bool(self.judge), "a verdict names its judge")
        is_grounded = bool(self.evidence) and not self.elsewhere
        _check(self.label not in HOLDING or is_grounded, "support needs evidence, and has none elsewhere")


@dataclass(frozen=True, slots=True)
class Place:
    """A claim's place in a file: lines and columns (code points) count from 1, the end is exclusive."""

    line: int
    column: int
    end_line: int
    end_column: int

    def __post_init__(self) -> None:
        _check(1 <= self.line <= self.end_line, f"lines count from 1 and ascend, not {self.line}..{self.end_line}")

    @classmethod
    def between(cls, lines: Sequence[int], start: int, end: int) -> Place:
        """From offsets in a text; `lines` are the offsets of its lines."""
        line, end_line = bisect_right(lines, start), bisect_right(lines, max(start, end - 1))
        return cls(line, start - lines[line - 1] + 1, end_line, end - lines[end_line - 1] + 1)


@dataclass(frozen=True, slots=True)
class Claim:
    """A sentence of an answer, or an entity of a list, with its citations; `place` is that in a checked text. Talk has
    no verdict.
    """

    text: str
    citations: tuple[Citation, ...] = ()
    support: Support | None = None
    section: str | None = None
    place: Place | None = None

    def __post_init__(self) -> None:
        _check(bool(self.text.strip()), "a claim needs words")
        _check(len(set(self.cited)) == len(self.citations), "a claim cites a passage at most once")

    @property
    def cited(self) -> tuple[str, ...]:
        return tuple(citation.passage for citation in self.citations)

    @property
    def is_supported(self) -> bool:
        return self.support is not None and self.support.label in HOLDING

    @property
    def is_proven(self) -> bool:
        return self.support is not None and self.support.label == "supported"

    @property
    def fails(self) -> bool:
        """Whether judged and neither."""
        return self.support is not None and self.support.label not in HOLDING


@dataclass(frozen=True, slots=True)
class Section:
    """A titled part of a report; claims name it by `title`."""

    title: str
    description: str = ""


@dataclass(frozen=True, slots=True)
class SubQuestion:
    """A question that a plan raised, and its outcome."""

    text: str
    outcome: Outcome
    passages: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Tokens:
    """Tokens that a model read and wrote."""

    input: int = 0
    output: int = 0

    def __add__(self, other: Tokens) -> Tokens:
        return Tokens(self.input + other.input, self.output + other.output)


@dataclass(frozen=True, slots=True)
class Usage:
    """The cost of an answer. `calls` and `tokens` are by model role; `usd` is None if a price is unknown."""

    calls: Mapping[str, int] = field(default_factory=dict)
    tokens: Mapping[str, Tokens] = field(default_factory=dict)
    usd: float | None = None
    judge_pairs: int = 0
    searches: int = 0
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Omission:
    """A text that was dropped, and the reason in words."""

    text: str
    why: str


@dataclass(frozen=True, slots=True)
class Round:
    """One step of a method. `written` is a model's exact reply or, without a role, the sentences from which a short
    answer was made; `[n]` in it counts `read`.
    """

    kind: RoundKind
    n: int = 1
    trial: int | None = None
    role: str | None = None
    read: tuple[str, ...] = ()
    text: str | None = None
    kept: tuple[str, ...] = ()
    dropped: tuple[Omission, ...] = ()
    queries: tuple[str, ...] = ()
    scores: Mapping[str, float] | None = None
    chosen: bool | None = None
    written: str | None = None


@dataclass(frozen=True, slots=True)
class Rendering:
    """A text with citation marks; `spans[i]` holds the offsets of claim i, marks included."""

    text: str
    spans: tuple[tuple[int, int], ...]


def citation_numbers(claims: Iterable[Claim]) -> dict[str, int]:
    """Numbers the cited passages 1, 2, ... in order of first use."""
    return {id: n for n, id in enumerate(dict.fromkeys(id for claim in claims for id in claim.cited), start=1)}


# The start of a bracket that could be read as a mark: a number, a word for a passage, a flag of `render`.
_FLAG = r"(?:likely|disputed|unsure|unsupported|contradicted)\s*[\]】］]"
MARK_OPENING = rf"\s*(?:[#^]?\d|(?:doc|passage|source|ref|cit(?:e|ation)|snippet)|{_FLAG})"
# Marks in the claim's own text ("[3]" from a document) are escaped, so that they are never read as citations.
escape_marks = partial(re.compile(rf"(?<!\\)(\\*)([\[【［])(?={MARK_OPENING})", re.IGNORECASE).sub, r"\1\1\\\2")
_ENDING = re.compile(r"[.!?。！？]$")
# Commas separate the entities of a list, so an entity with a comma or a leading quotation mark is quoted.
_NEEDS_QUOTES = re.compile(r"[,，、]|^[\"“]")


def _mark_claim(claim: Claim, numbers: Mapping[str, int], style: Style, flag: bool) -> str:
    """Marks stand before a closing full stop, as in ALCE (Gao et al. 2023). Without a stop, line ends stay."""
    lines = [claim.text] if _ENDING.search(claim.text.rstrip()) else claim.text.strip().split("\n")
    text = escape_marks("\n".join(" ".join(line.split()) for line in lines))
    marks = "".join(f"[{numbers[id]}]" for id in claim.cited if id in numbers)
    if flag and claim.support and not claim.is_proven:
        marks += f"[{claim.support.label}]"
    if style == "list" and _NEEDS_QUOTES.search(text):
        text = '"' + text.replace('"', '""') + '"'
    ending = _ENDING.search(text) if marks and style != "list" else None
    if ending:
        return f"{text[: ending.start()]} {marks}{ending[0]}"
    return f"{text} {marks}" if marks else text


def _separator(before: Claim, text: str, after: Claim, style: Style) -> str:
    if style == "list":
        return ", "
    if after.section != before.section:
        return f"\n\n{after.section}\n" if after.section else "\n\n"
    goes_on = not before.citations and after.text.lstrip()[:1].islower()
    return " " if _ENDING.search(text[-1:]) and not goes_on else "\n\n"


def render(
    claims: tuple[Claim, ...], style: Style, *, flag: bool = False, numbers: Mapping[str, int] | None = None
) -> Rendering:
    """Renders claims as prose, a comma-separated list, or titled sections.

    Citations that `numbers` lacks are left out; `flag` marks claims that were judged but are not supported.
    """
    numbers = citation_numbers(claims) if numbers is None else numbers
    text = f"{claims[0].section}\n" if claims and claims[0].section else ""
    spans = []
    for i, claim in enumerate(claims):
        if i:
            text += _separator(claims[i - 1], text, claim, style)
        marked = _mark_claim(claim, numbers, style, flag)
        spans.append((len(text), len(text) + len(marked)))
        text += marked
    return Rendering(text, tuple(spans))


@dataclass(frozen=True, slots=True)
class Relevance:
    """A reader's verdict on whether an answer answers its question. `score` is the probability for its likeliest part;
    `unmentioned` are its question's names that nothing cited has.
    """

    answers: Answers
    score: float
    reader: str
    unmentioned: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        _check(self.answers in get_args(Answers), f"it answers {get_args(Answers)}, not {self.answers!r}")
        _check(0.0 <= self.score <= 1.0, f"a score lies in 0..1, not {self.score}")


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to a question. `passages` are all that were read; `claims` cite them by id.

    `asked` is as typed, if `question` is a rewritten one; `sources_at` is when a server's index was written, in UTC.
    """

    question: str
    style: Style
    method: str
    status: Status
    claims: tuple[Claim, ...] = ()
    passages: tuple[Passage, ...] = ()
    sections: tuple[Section, ...] = ()
    questions: tuple[SubQuestion, ...] = ()
    usage: Usage = field(default_factory=Usage)
    rounds: tuple[Round, ...] = ()
    invalid_citations: int = 0
    notes: tuple[str, ...] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)
    id: str = ""
    relevance: Relevance | None = None
    asked: str = ""
    sources_at: str = ""

    def __post_init__(self) -> None:
        _check(self.style in STYLES, f"a style is one of {STYLES}, not {self.style!r}")
        _check(self.status in get_args(Status), f"a status is one of {get_args(Status)}, not {self.status!r}")
        _check((self.status == "answered") == bool(self.claims), "an answer has claims exactly if answered")
        _check(self.status != "failed" or bool(self.notes), "a failed answer says why in its notes")
        texts = {passage.id: passage.text for passage in self.passages}
        for claim in self.claims:
            _check_grounded(claim, texts)

    def passage(self, passage_id: str) -> Passage:
        """The passage of that id; raises `KeyError` if the answer did not read it."""
        return {passage.id: passage for passage in reversed(self.passages)}[passage_id]

    @property
    def cited(self) -> tuple[Passage, ...]:
        """The cited passages in order of first use; the n-th is rendered as `[n]`."""
        by_id = {passage.id: passage for passage in reversed(self.passages)}
        return tuple(by_id[id] for id in citation_numbers(self.claims))

    @property
    def rendering(self) -> Rendering:
        """The text with `[n]` marks; policy `flag` also marks unsupported claims."""
        return render(self.claims, self.style, flag=self.settings.get("unsupported") == "flag")

    @property
    def text(self) -> str:
        return self.rendering.text

    def __str__(self) -> str:
        """The text, or why there is none, and a line for each cited passage."""
        lines = [self.text] if self.claims else list(self.notes)
        for n, passage in enumerate(self.cited, start=1):
            place = passage.source.path or passage.source.url or ""
            lines.append(f"[{n}] {passage.title or passage.id}  {place}".rstrip())
        return "\n".join(lines)


def _check_grounded(claim: Claim, texts: Mapping[str, str]) -> None:
    for citation in claim.citations:
        _check(citation.passage in texts, f"{claim.text!r} cites {citation.passage!r}, which was not read")
        if quote := citation.quote:
            words = texts[citation.passage][quote.start : quote.end]
            _check(words == quote.text, f"the quote {quote.text!r} does not stand at its offsets")
    for id in (*claim.support.evidence, *claim.support.elsewhere) if claim.support else ():
        _check(id in texts, f"{claim.text!r} rests on {id!r}, which was not read")
    if claim.is_supported:
        _check(bool(claim.citations), f"{claim.text!r} is supported but cites nothing")
