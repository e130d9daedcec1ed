"""An answer without marks, for dialects that keep citations beside the text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

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
