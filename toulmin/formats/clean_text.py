"""An answer without marks, for dialects that keep citations beside the text, and its offsets in other units."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import accumulate, pairwise

from toulmin.data import Answer, Claim, Passage, render


@dataclass(frozen=True, slots=True)
class Clean:
    """An answer's text without marks; `spans[i]` are the code points of claim i.

    `gaps[i]` precedes claim i: white space, a comma of a list, a section's title.
    """

    text: str
    claims: tuple[Claim, ...]
    gaps: tuple[str, ...]
    spans: tuple[tuple[int, int], ...]

    def citing_claims(self) -> Iterator[tuple[Claim, tuple[int, int]]]:
        for claim, span in zip(self.claims, self.spans, strict=True):
            if claim.citations:
                yield claim, span


def clean(answer: Answer) -> Clean:
    """A claim's span selects exactly the claim's text, and nothing is escaped.

    Paragraphs, sections and commas are as in the rendering for people.
    """
    rendering = render(answer.claims, answer.style, numbers={})
    edges = [0, *(edge for span in rendering.spans for edge in span)]
    gaps = tuple(rendering.text[a:b] for a, b in list(pairwise(edges))[::2]) if answer.claims else ()
    text, spans = "", []
    for gap, claim in zip(gaps, answer.claims, strict=True):
        start = len(text) + len(gap)
        text += gap + claim.text
        spans.append((start, len(text)))
    return Clean(text, answer.claims, gaps, tuple(spans))


def address(passage: Passage) -> str:
    """The passage's URL, path, record, title, or at least its id."""
    source = passage.source
    return source.url or source.path or source.record or passage.title or passage.id


def title(passage: Passage) -> str:
    return passage.title or address(passage)


def reason(answer: Answer) -> str:
    """Why an answer is empty, in words."""
    return " ".join(answer.notes) or "The sources do not say."


def model(answer: Answer) -> str:
    return str(answer.settings.get("model") or "toulmin")


def tokens(answer: Answer) -> tuple[int, int]:
    """Input and output tokens over all roles."""
    counts = answer.usage.tokens.values()
    return sum(count.input for count in counts), sum(count.output for count in counts)


# ---------------------------------------------------------------- offsets in UTF-8 bytes and UTF-16 units


Spans = list[tuple[int, int]]


def utf8_spans(text: str, spans: Iterable[tuple[int, int]]) -> Spans:
    """Spans of code points in UTF-8 bytes (Google); half a surrogate pair counts as U+FFFD, as it is written.

    Raises IndexError for a span that leaves the text.
    """
    return _convert(spans, (1 + (c >= "\x80") + (c >= "\u0800") + (c >= "\U00010000") for c in text))


def utf16_spans(text: str, spans: Iterable[tuple[int, int]]) -> Spans:
    """The same in UTF-16 units (browsers, Java)."""
    return _convert(spans, (1 + (c >= "\U00010000") for c in text))


def _convert(spans: Iterable[tuple[int, int]], widths: Iterable[int]) -> Spans:
    starts = list(accumulate(widths, initial=0))
    offsets = []
    for start, end in spans:
        if start < 0 or end < 0:  # a list would count them from its end
            raise IndexError(f"offsets are 0 or more, not {start}..{end}")
        offsets.append((starts[start], starts[end]))
    return offsets
