"""An answer as HTML: each sentence opens its evidence. No script, no requests, light and dark.

The page is one file; the fragment is for a notebook, its style bound to its own class.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from html import escape
from importlib import resources
from itertools import groupby

from toulmin.data import Answer, Quote
from toulmin.formats.bibliography import PLAIN, entries
from toulmin.formats.manuscript import COLUMNS, SIGNS, UNCHECKED, Block, Manuscript, Note, Sentence, printable, visible

# No style can fetch, and what a document says can be no element; the policy holds should both be wrong.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; form-action 'none'; base-uri 'none'"


def page(answer: Answer, style: str = PLAIN) -> str:
    manuscript = Manuscript(answer)
    evidence = f"<h2>Evidence</h2>\n{_table(COLUMNS, manuscript.rows)}" if manuscript.sentences else ""
    return whole_page(
        manuscript.title,
        f"{_answer(manuscript)}{_references(manuscript, style)}{_removed(manuscript)}{evidence}"
        f'<footer dir="auto">{escape(manuscript.about)}</footer>\n',
    )


def whole_page(title: str, content: str) -> str:
    return (
        '<!doctype html>\n<html>\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="referrer" content="no-referrer">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{_style()}</style>\n</head>\n"
        f'<body class="toulmin-page">\n<main class="toulmin-answer">\n{content}</main>\n</body>\n</html>\n'
    )


def fragment(answer: Answer) -> str:
    manuscript = Manuscript(answer)
    return (
        f'<style>{_style()}</style><div class="toulmin-answer">{_answer(manuscript)}'
        f"{_references(manuscript, PLAIN)}{_removed(manuscript)}</div>"
    )


def _style() -> str:
    return resources.files("toulmin.formats").joinpath("answer.css").read_text("utf-8")


def _answer(manuscript: Manuscript) -> str:
    blocks = "".join(_run(kind, list(blocks)) for kind, blocks in groupby(manuscript.blocks, lambda block: block.kind))
    silence = f'<p dir="auto">{escape(manuscript.silence)}</p>\n' if manuscript.silence else ""
    return f'<h1 dir="auto">{escape(manuscript.title)}</h1>\n{silence}{blocks}'


def _run(kind: str, blocks: list[Block]) -> str:
    """A `p` may not contain details."""
    if kind == "heading":
        return "".join(f'<h2 dir="auto">{escape(block.text)}</h2>\n' for block in blocks)
    tag = "li" if kind == "item" else "div"
    lines = (
        f'<{tag} class="{kind}" dir="auto">{" ".join(map(sentence_html, block.sentences))}</{tag}>' for block in blocks
    )
    text = "\n".join(lines) + "\n"
    return f"<ul>\n{text}</ul>\n" if kind == "item" else text


def sentence_html(sentence: Sentence) -> str:
    support = sentence.claim.support
    label = support.label if support else UNCHECKED
    sign = f'<span class="sign" role="img" aria-label="{label}" title="{label}">{SIGNS.get(label, "–")}</span>'
    numbers = ", ".join(dict.fromkeys(str(note.reference.n) for note in sentence.notes))
    marks = f"<sup>{numbers}</sup>" if numbers else ""
    name = label.replace(" ", "-")
    return (
        f'<details class="claim {name}"><summary><bdi>{escape(sentence.text)}</bdi>{marks} {sign}'
        f'</summary><div class="evidence">{"".join(_evidence(sentence))}</div></details>'
    )


def _evidence(sentence: Sentence) -> Iterator[str]:
    support = sentence.claim.support
    if support:
        yield (
            f'<p class="verdict"><strong>{support.label}</strong> ({support.score:.2f}), judged by'
            f" <bdi>{escape(printable(support.judge))}</bdi></p>"
        )
        if support.reason:
            yield f'<p dir="auto">{escape(printable(support.reason))}</p>'
    else:
        yield f'<p class="verdict">{UNCHECKED}</p>'
    for citation, note in zip(sentence.claim.citations, sentence.notes, strict=True):
        yield f'<blockquote dir="auto">{_passage(note, citation.quote)}</blockquote>{_source(note)}'


def _passage(note: Note, quote: Quote | None) -> str:
    text = note.passage.text
    if quote is None:
        return escape(printable(text))
    parts = (visible(part) for part in (text[: quote.start], quote.text, text[quote.end :]))
    before, words, after = map(escape, parts)
    return f"{before}<mark>{words}</mark>{after}"


def _source(note: Note) -> str:
    reference = note.reference
    place = escape(reference.place)
    link = f'<a href="{escape(note.link)}" rel="noopener noreferrer">{place}</a>' if reference.url else place
    where = f", <bdi>{escape(note.where)}</bdi>" if note.where else ""
    digest = f"<br>SHA-256 <code>{reference.digest}</code>" if reference.digest else ""
    title = f"<cite><bdi>{escape(reference.title)}</bdi></cite>"
    return f'<p class="source">[{reference.n}] {title}{where}<br>{link}{digest}</p>'


def _references(manuscript: Manuscript, style: str) -> str:
    items = "\n".join(f'<li dir="auto">{escape(text)}</li>' for text in entries(manuscript.references, style))
    return f"<h2>References</h2>\n<ol>\n{items}\n</ol>\n" if manuscript.references else ""


def _removed(manuscript: Manuscript) -> str:
    return "<h2>Taken away</h2>\n" + _table(("Text", "Why"), manuscript.removed) if manuscript.removed else ""


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    names = "".join(f'<th scope="col">{escape(name)}</th>' for name in head)
    lines = ("".join(f'<td dir="auto">{escape(cell)}</td>' for cell in row) for row in rows)
    body = "\n".join(f"<tr>{line}</tr>" for line in lines)
    return (
        f'<div class="table" tabindex="0"><table>\n<thead><tr>{names}</tr></thead>\n<tbody>\n{body}\n</tbody>\n'
        "</table></div>\n"
    )
