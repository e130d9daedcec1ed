"""Mail (eml): sender, recipients, date, subject and text."""

from __future__ import annotations

import re
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import EmailPolicy
from pathlib import Path
from typing import Any

from toulmin.data import Document
from toulmin.documents.html import page_document
from toulmin.documents.plain import cannot_read, check_size, make_document, reflow, repair_text
from toulmin.documents.tables import row_text

_HEADS = ("From", "To", "Cc", "Date", "Subject")
_LONGEST_HEAD = 2000  # characters


class _ShortHeads(EmailPolicy):
    """Reads only the start of a header: the library's time grows with the square of its length, or faster."""

    def header_fetch_parse(self, name: str, value: str) -> Any:
        return super().header_fetch_parse(name, value[:_LONGEST_HEAD])


def mail_document(path: Path, limit: int) -> Document:
    """A mail's headers and text, with the names of attachments; the title is its subject."""
    check_size(path, path.stat().st_size, limit)
    # The library raises many kinds of error for damaged heads.
    try:
        message = message_from_bytes(path.read_bytes(), policy=_ShortHeads())
        assert isinstance(message, EmailMessage)  # by its policy
        heads = [repair_text(str(message.get(head, ""))) for head in _HEADS]
        attached = [part.get_filename() or "" for part in message.iter_attachments()]
        text = _text(message, path)
    except (AttributeError, IndexError, KeyError, LookupError, RecursionError, TypeError, ValueError) as error:
        raise cannot_read(path, f"is a damaged mail ({error})", "save it again from the mail program") from error
    if not any(heads):
        raise cannot_read(path, "is no mail: lines such as `From:` and `Date:` were expected", "rename it")
    blocks = [row_text(heads, _HEADS), text.strip(), row_text([", ".join(filter(None, attached))], ["Attached"])]
    words = "\n\n".join(repair_text(block) for block in blocks if block)
    sender = re.sub(r"(?<=\S)\s*<[^<>]*>", "", heads[0])
    return make_document(words, heads[-1], path, fields=[("from", sender), ("date", heads[3])])


def _text(message: EmailMessage, path: Path) -> str:
    body = message.get_body(("plain", "html"))
    if body is None:
        return ""
    if body.get_content_subtype() == "html":
        return page_document(body.get_payload(decode=True) or b"", path, body.get_content_charset()).text  # type: ignore[arg-type]
    return reflow(repair_text(body.get_content()))
