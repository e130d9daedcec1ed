"""An answer as text without marks, as dialects want it that point to their sources from beside the text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from toulmin.data import Answer, Claim, Passage, render


@dataclass(frozen=True, slots=True)
class Clean:
    """The claims' own words, and what stands before each of them; `spans[i]` are the code points of claim i in `text`.

    `gaps[i]` stands before claim i: white space, a comma of a list, the title of a section.
    """

    text: str
    claims: tuple[Claim, ...]
    gaps: tuple[str, ...]
    spans: tuple[tuple[int, int], ...]

    def cited(self) -> Iterator[tuple[Claim, tuple[int, int]]]:
        """The claims that cite something, each with its span."""
        for claim, span in zip(self.claims, self.spans, strict=True):
            if claim.citations:
                yield claim, span


def clean(answer: Answer) -> Clean:
    """The answer without marks: `text[start:end]` of a claim's span is exactly the claim's text.

    Paragraphs, sections and commas stand as in the rendering for people. Nothing is escaped, as nothing is a mark.
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
    """Where a passage can be looked up: its page on the web, its file, its record, its title, at the least its id."""
    source = passage.source
    return source.url or source.path or source.record or passage.title or passage.id


def title(passage: Passage) -> str:
    """What a reader may call a passage: its title, or its address."""
    return passage.title or address(passage)


def reason(answer: Answer) -> str:
    """Why an answer says nothing, in words."""
    return " ".join(answer.notes) or "The sources do not say."


def model(answer: Answer) -> str:
    """The model that wrote the answer, as its settings name it."""
    return str(answer.settings.get("model") or "toulmin")


def tokens(answer: Answer) -> tuple[int, int]:
    """How many tokens went into the models and came out of them, over all roles."""
    counts = answer.usage.tokens.values()
    return sum(count.input for count in counts), sum(count.output for count in counts)
