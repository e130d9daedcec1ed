"""An answer without marks, for dialects that keep citations beside the text."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from toulmin.data import Answer, Claim, Passage, render


@dataclass(frozen=True, slots=True)
class Clean:
    """`spans[i]` are the code points of claim i; `gaps[i]` precedes it: white space, a comma of a list, a title."""

    text: str
    claims: tuple[Claim, ...]
    gaps: tuple[str, ...]
    spans: tuple[tuple[int, int], ...]


def clean(answer: Answer) -> Clean:
    """A claim's span selects exactly its text; nothing is escaped. The layout is that of the rendering for people."""
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
    """Why an answer is empty."""
    return " ".join(answer.notes) or "The sources do not say."


def model(answer: Answer) -> str:
    return str(answer.settings.get("model") or "toulmin")


def tokens(answer: Answer) -> tuple[int, int]:
    """Input and output tokens over all roles."""
    counts = answer.usage.tokens.values()
    return sum(count.input for count in counts), sum(count.output for count in counts)
