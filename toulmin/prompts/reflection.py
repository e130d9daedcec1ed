"""The prompt of Self-RAG models and the reflection tokens that they write (Asai et al. 2023, arXiv 2310.11511).

A token judges the need for a search, the relevance of a passage, the support of a sentence or the utility of the
answer. Tokens that a server hides are taken from the log-probabilities; without any, a token in the text is certain.
"""

from __future__ import annotations

import re
from collections import defaultdict, deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import exp
from typing import Literal

from toulmin.data import Passage, Style
from toulmin.parsing.lines import has_words
from toulmin.prompts.files import Texts, Wording, on_one_line, quote
from toulmin.prompts.replies import TokenLogprob
from toulmin.prompts.types import Prompt

Kind = Literal["retrieval", "relevance", "support", "utility"]

SEARCH, MEMORY, CONTINUE = "[Retrieval]", "[No Retrieval]", "[Continue to Use Evidence]"
UNSUPPORTED = "[No support / Contradictory]"
PARAGRAPH = "<paragraph>"  # opens a passage in the text; a model that writes it is inventing one

TOKENS: Mapping[Kind, tuple[str, ...]] = {
    "retrieval": (SEARCH, MEMORY, CONTINUE),
    "relevance": ("[Relevant]", "[Irrelevant]"),
    "support": ("[Fully supported]", "[Partially supported]", UNSUPPORTED),
    "utility": tuple(f"[Utility:{n}]" for n in range(1, 6)),
}
# The weights of the paper (section 3.3 and its appendix on inference). CONTINUE has none: it is neither for nor
# against a search.
WORTH: Mapping[str, float] = {
    SEARCH: 1.0,
    MEMORY: 0.0,
    **dict(zip(TOKENS["relevance"], (1.0, 0.0), strict=True)),
    **dict(zip(TOKENS["support"], (1.0, 0.5, 0.0), strict=True)),
    **dict(zip(TOKENS["utility"], (-1.0, -0.5, 0.0, 0.5, 1.0), strict=True)),
}

# The kinds that may be weighed at a reply's first token.
_OPENING: tuple[Kind, ...] = ("retrieval", "relevance")

_BRACKET = re.compile(r"\[[^\[\]\n]{1,60}\]")
_INVENTED = re.compile(
    r"<\s{0,9}/?\s{0,9}paragraph\b|^#{2,4}\s{0,9}(?:instruction|input|response)\s{0,9}:", re.IGNORECASE | re.MULTILINE
)


def _bare(text: str) -> str:
    """Without spaces; "▁" is one in Llama 2's tokenizer."""
    return re.sub(r"[\s▁]", "", text).casefold()


_KNOWN: Mapping[str, tuple[Kind, str]] = {_bare(token): (kind, token) for kind, of in TOKENS.items() for token in of}


def is_reflection(text: str) -> bool:
    return _bare(text) in _KNOWN


def is_framing(text: str) -> bool:
    """Whether the text is a reflection token, or a tag of a passage."""
    return is_reflection(text) or text in (PARAGRAPH, "</paragraph>")


@dataclass(frozen=True, slots=True)
class Mark:
    """A reflection token at `text[start:end]`; `odds`: probabilities of the tokens of its kind there, if known."""

    kind: Kind
    token: str
    start: int
    end: int
    odds: Mapping[str, float] = field(default_factory=dict)

    @property
    def worth(self) -> float:
        """The mean worth by probability: -1 to 1 for utility, else 0 to 1."""
        weighed = {token: p for token, p in self.odds.items() if token in WORTH}
        total = sum(weighed.values())
        return sum(WORTH[token] * p for token, p in weighed.items()) / total if total else WORTH.get(self.token, 0.0)


@dataclass(frozen=True, slots=True)
class Piece:
    """Words of a segment; `grounded` if written from its passage."""

    words: str
    grounded: bool
    support: Mark | None = None


@dataclass(frozen=True, slots=True)
class ReflectedText:
    """A reply with its reflection tokens in order.

    `opening`: the kinds weighed at the first token, written or not. `places`: the tokens, if the server sends them.
    """

    text: str
    marks: tuple[Mark, ...] = ()
    opening: tuple[Mark, ...] = ()
    places: tuple[TokenLogprob, ...] | None = None

    def __str__(self) -> str:
        return self.text

    def first(self, kind: Kind) -> Mark | None:
        """The mark weighed at the first token, else the first one written, as in the released code."""
        return next((mark for mark in (*self.opening, *self.marks) if mark.kind == kind), None)

    def before(self, end: Mark | None) -> ReflectedText:
        """The reply up to that mark; all of it for None."""
        if end is None:
            return self
        marks = tuple(mark for mark in self.marks if mark.end <= end.start)
        return replace(self, text=self.text[: end.start], marks=marks, places=self._places_before(end))

    def _places_before(self, end: Mark) -> tuple[TokenLogprob, ...] | None:
        if self.places is None:
            return None
        nth = sum(mark.token == end.token for mark in self.marks if mark.start < end.start)
        at = [i for i, place in enumerate(self.places) if _bare(place.token) == _bare(end.token)]
        return self.places[: at[nth]] if nth < len(at) else self.places

    @property
    def likelihood(self) -> float | None:
        """The geometric mean of the token probabilities; None if unknown."""
        if not self.places:
            return None
        return exp(min(0.0, sum(place.logprob for place in self.places) / len(self.places)))

    def pieces(self, grounded: bool) -> tuple[Piece, ...]:
        """The words between the tokens: from memory after [No Retrieval], from the passage after [Continue ...]."""
        return tuple(piece for piece in self._split(grounded) if has_words(piece.words))

    def _split(self, grounded: bool) -> Iterator[Piece]:
        words, at, is_grounded = "", 0, grounded
        for mark in self.marks:
            words, at = words + self.text[at : mark.start], mark.end
            if mark.kind == "support":
                yield Piece(words, is_grounded, mark)
                words = ""
            elif mark.kind == "retrieval":
                yield Piece(words, is_grounded)
                words, is_grounded = "", grounded and mark.token != MEMORY
        yield Piece(words + self.text[at:], is_grounded)


@dataclass(frozen=True, slots=True)
class NextSegment(Prompt[ReflectedText]):
    """Continue the answer `written` so far, with reflection tokens.

    Without a `passage` the model may request a search, unless `from_memory`.
    """

    question: str
    written: str = ""
    passage: Passage | None = None
    style: Style = "long"
    from_memory: bool = False

    def result(self, text: str) -> ReflectedText:
        """Up to a passage or prompt that the model invents."""
        invented = _INVENTED.search(text)
        return read_reflections(text[: invented.start()] if invented else text)


def read_reflections(text: str) -> ReflectedText:
    matches = ((place, _KNOWN.get(_bare(place[0]))) for place in _BRACKET.finditer(text))
    return ReflectedText(text, tuple(Mark(*known, place.start(), place.end()) for place, known in matches if known))


def weigh(reply: ReflectedText, places: Sequence[TokenLogprob] | None) -> ReflectedText:
    """Adds probabilities. If only the token list has reflection tokens, it replaces the text."""
    if not places:
        return reply
    if not reply.marks and any(is_reflection(place.token) for place in places):
        reply = read_reflections("".join(place.token.replace("▁", " ") for place in places))
    first = ((kind, odds) for kind in _OPENING if (odds := _odds(kind, places[0])))
    opening = tuple(Mark(kind, max(odds, key=odds.__getitem__), 0, 0, odds) for kind, odds in first)
    return ReflectedText(reply.text, tuple(_with_odds(reply.marks, places)), opening, tuple(places))


def _with_odds(marks: Sequence[Mark], places: Sequence[TokenLogprob]) -> Iterator[Mark]:
    written: dict[str, deque[TokenLogprob]] = defaultdict(deque)
    for place in places:
        written[_bare(place.token)].append(place)
    for mark in marks:
        left = written[_bare(mark.token)]
        yield replace(mark, odds=_odds(mark.kind, left.popleft())) if left else mark


def _odds(kind: Kind, place: TokenLogprob) -> dict[str, float]:
    logprobs = ((place.token, place.logprob), *place.top)
    probabilities = {_bare(token): exp(min(0.0, logprob)) for token, logprob in logprobs}
    return {token: probabilities[_bare(token)] for token in TOKENS[kind] if _bare(token) in probabilities}


# ---------------------------------------------------------------- the prompt of Self-RAG models


_OPEN_BRACKET = re.compile(r"\[(?=([^\[\]\n]{1,60}\]))")
_PARAGRAPH = re.compile(r"<(?=\s{0,9}/?\s{0,9}paragraph\b)", re.IGNORECASE)
_HEADING = re.compile(r"^(?=#{1,6}[^\S\n]*(?:instruction|input|response)\b)", re.IGNORECASE | re.MULTILINE)


def next_segment(prompt: NextSegment, texts: Texts) -> Wording:
    """One message, since these models know no system message; it ends where the model continues."""
    task = texts.fill(f"next_segment.{prompt.style}")
    asked = texts.fill("next_segment.user", task=task, question=_words(prompt.question))
    return Wording("", f"{asked}\n{_escape_frame(prompt.written)}{_evidence(prompt, texts)}")


def _evidence(prompt: NextSegment, texts: Texts) -> str:
    if prompt.passage is None:
        return texts.fill("next_segment.from_memory") if prompt.from_memory else ""
    parts = (on_one_line(_words(prompt.passage.title)), _words(prompt.passage.text))
    return texts.fill("next_segment.evidence", passage="\n".join(part for part in parts if part))


def _words(text: str) -> str:
    return _OPEN_BRACKET.sub(lambda m: "&#91;" if is_reflection(f"[{m[1]}") else "[", _escape_frame(text))


def _escape_frame(text: str) -> str:
    return _HEADING.sub(r"\\", _PARAGRAPH.sub("&lt;", quote(text)))
