"""The documents of an index by name and kind, and example questions."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from itertools import islice
from os.path import commonpath, dirname
from pathlib import PurePath
from typing import Any

from toulmin.data import BELOW, Passage
from toulmin.formats.answer_reading import describe
from toulmin.indexing.corpus import AnyCorpus, IndexedDocument
from toulmin.server.uploads import Uploads
from toulmin.text.definitions import says_what_it_is
from toulmin.text.language import terms
from toulmin.text.wording import wording

LISTED = 200  # documents of a page of the list
_LOOKED_AT = 20_000  # documents searched for a name or kind
_EXAMPLES, _ASKED_OF, _HEADINGS = 4, 30, 6  # questions to show; documents to read for them; headings of each
_NUMBERED = re.compile(r"^(?:[\dA-Z]{1,3}(?:\.\d{1,3}){0,4}[.:)]?\s+)?")
_ASKING = re.compile(r"(?:How|What|Why|When|Where|Which|Who|Can|Is|Are|Does|Do)\b[^—?]{8,80}\?")
_NAME = re.compile(r"[A-Z][\w-]*(?: [A-Z][\w-]*){0,2}")


def documents_document(
    corpus: AnyCorpus, uploads: Uploads | None, offset: int, limit: int, name: str, kind: str, only: Sequence[str]
) -> dict[str, Any]:
    """A page of the documents whose title or path contains `name`, whose ending is `kind` and that pass `only`.

    `total` counts them, `kinds` counts all kinds; all paths begin with `folder`.
    """
    stats, skipped = corpus.stats, corpus.skipped()
    seen = corpus.select(only)[0] if only else list(islice(corpus.documents(), _LOOKED_AT))
    wanted = [one for one in _named(seen, name) if not kind or kind_of(one) == kind]
    total = len(wanted) if name or kind or only else stats.documents
    page = islice(wanted if total == len(wanted) else corpus.documents(), offset, offset + limit)
    return {
        "total": total,
        "passages": stats.passages,
        "offset": offset,
        "kinds": _kinds(_named(seen, name)),
        "folder": _folder(seen),
        "documents": [document_row(each, uploads) for each in page],
        "skipped_total": len(skipped),
        "skipped": [
            {"path": file.path, "reason": file.reason, "upload": uploads and uploads.id_of(file.path)}
            for file in skipped[:LISTED]
        ],
    }


DocumentListed = describe(IndexedDocument, pages=int | None, kind=str, uploaded=bool, headings=None, digest=None)
DocumentListed.__doc__ = "A document of the index; `remarks` name what it lacks. Clients may remove `uploaded` ones."


def document_row(document: IndexedDocument, uploads: Uploads | None) -> dict[str, Any]:
    uploaded = uploads is not None and uploads.holds(document.path)
    row = asdict(document) | {"pages": len(document.pages) or None, "kind": kind_of(document), "uploaded": uploaded}
    del row["headings"]
    return row


def kind_of(document: IndexedDocument) -> str:
    """The ending of the file name without the dot, or "record", which mails and what is attached to them are not."""
    suffix = PurePath(document.path or document.url or "").suffix.lower().removeprefix(".")
    return "record" if document.record is not None and suffix not in ("eml", "mbox", "msg") else suffix or "text"


def _named(documents: Iterable[IndexedDocument], name: str) -> list[IndexedDocument]:
    words = name.casefold().split()
    texts = ((one, f"{one.title} {one.path or one.url or ''} {one.record or ''}".casefold()) for one in documents)
    return [one for one, text in texts if all(word in text for word in words)]


def _kinds(documents: Iterable[IndexedDocument]) -> dict[str, int]:
    return dict(Counter(map(kind_of, documents)).most_common())


def _folder(documents: Sequence[IndexedDocument]) -> str:
    try:
        return commonpath({dirname(document.path) for document in documents if document.path})
    except ValueError:  # no path, several drives, or absolute beside relative paths
        return ""


# ---------------------------------------------------------------- example questions


def examples_document(corpus: AnyCorpus) -> dict[str, Any]:
    """The contents of the index, and a few questions that its headings ask or its definitions answer."""
    documents = list(islice(corpus.documents(), _LOOKED_AT))
    count = min(_ASKED_OF, len(documents))
    sample = [documents[n * len(documents) // count] for n in range(count)]
    questions = dict.fromkeys(filter(None, (_question(corpus, each) for each in sample)))
    return {
        "documents": corpus.stats.documents,
        "passages": corpus.stats.passages,
        "kinds": _kinds(documents),
        "examples": sorted(questions, key=lambda question: question.startswith("What is "))[:_EXAMPLES],
    }


def _question(corpus: AnyCorpus, document: IndexedDocument) -> str | None:
    """The first heading that is a question, else one about the title if the document defines it."""
    title, passages = document.title, _passages(corpus, document)
    headings = [title, *(words for passage in passages for words in passage.source.section.split(BELOW))]
    plain = (_NUMBERED.sub("", " ".join(heading.split()), count=1) for heading in headings)
    texts = (passage.text[span.start : span.end] for passage in passages for span in wording(passage.text).spans)
    is_defined = _NAME.fullmatch(title) and any(says_what_it_is(text, terms(title)) for text in texts)
    return next(filter(_ASKING.fullmatch, plain), f"What is {title}?" if is_defined else None)


def _passages(corpus: AnyCorpus, document: IndexedDocument) -> list[Passage]:
    """Those of the document that a search for its title finds."""
    from toulmin.retrieval.bm25 import Bm25

    hits = Bm25(corpus).search([document.title], _HEADINGS)[0] if document.title else []
    return [hit.passage for hit in hits if hit.passage.source.path == document.path]
