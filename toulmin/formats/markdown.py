"""An answer as Markdown that people keep, and the file beside it by which it can be held to its sources."""

from __future__ import annotations

import re
from pathlib import Path

from toulmin.data import Answer, Claim, Passage, Support
from toulmin.formats.openai import escape

_SIGNS = re.compile(r"[\\`*_<>\[\]]")


def sidecar(path: Path) -> Path:
    """The file beside a Markdown file that holds its Answer document."""
    return path.with_name(f"{path.name}.json")


def markdown(answer: Answer) -> str:
    """The answer with its sources below, verdicts that are not "supported" named: what the page copies."""
    doubted = [(claim.text, claim.support) for claim in answer.claims if claim.support and claim.fails]
    parts = [f"## {_plain(answer.question or 'Checked text')}", escape(answer.text or " ".join(answer.notes))]
    if doubted:
        parts += ["Not supported:", "\n".join(_warning(text, support) for text, support in doubted)]
    if answer.cited:
        sources = (_source(n, passage) for n, passage in enumerate(answer.cited, start=1))
        parts += ["Sources:", "\n".join(sources)]
    return "\n\n".join(parts) + "\n"


def _warning(text: str, support: Support) -> str:
    reason = f" ({_plain(support.reason)})" if support.reason else ""
    return f"* {support.label}: {_plain(text)}{reason}"


def _source(n: int, passage: Passage) -> str:
    place = passage.source.path or passage.source.url or passage.id
    page = f", page {passage.source.page}" if passage.source.page else ""
    return f"[{n}] {_plain(passage.title or place)} ({_plain(place)}{page})"


def _plain(text: str) -> str:
    return _SIGNS.sub(r"\\\g<0>", " ".join(text.split()))


def kept_claims(answer: Answer, text: str) -> tuple[Claim, ...]:
    """The claims that a Markdown file still has as they were written into it."""
    return tuple(claim for claim in answer.claims if escape(" ".join(claim.text.split())).rstrip(".!?") in text)
