"""An answer without marks, for dialects that keep citations beside the text."""

from __future__ import annotations

from toulmin.data import ATTACHED, Answer, Citation, Passage, render


def gaps(answer: Answer) -> list[str]:
    """What precedes each claim in the rendering for people: white space, a comma of a list, a title.

    The text without marks is each gap and its claim's own words; nothing is escaped.
    """
    rendering = render(answer.claims, answer.style, numbers={})
    ends = [0, *(end for _, end in rendering.spans)]
    return [rendering.text[end:start] for end, (start, _) in zip(ends, rendering.spans, strict=False)]


def address(passage: Passage) -> str:
    """The passage's URL, path, record, title, or at least its id."""
    source = passage.source
    return source.url or source.path or source.record or passage.title or passage.id


def page_of(path: str | None, page: int | None, label: str = "") -> str:
    """In words: the slide of a presentation, or the page with the label printed on it. "" for none."""
    if not page:
        return ""
    kind = "slide" if path is not None and path.casefold().endswith(".pptx") else "page"
    return f"{kind} {label} ({page} of the file)" if label else f"{kind} {page}"


def page_in(passage: Passage, citation: Citation) -> str:
    """That of the cited words, as `page_of`."""
    return page_of(passage.source.path, citation.page_in(passage), citation.page_label)


def record_in(record: str) -> str:
    """In words, what a source is of its file: "record 17", "attached plan.pdf"."""
    return record if record.startswith(ATTACHED) else f"record {record}"


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


def has_pages(path: str | None) -> bool:
    """Whether the file is a PDF."""
    return path is not None and path.casefold().endswith(".pdf")
