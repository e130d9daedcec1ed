"""Mail (eml, mbox, Outlook's msg): sender, recipients, date, subject, text and attachments."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import EmailPolicy
from email.utils import format_datetime, formataddr
from functools import partial
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from toulmin.data import Document
from toulmin.documents.html import page_document
from toulmin.documents.plain import cannot_read, check_size, make_document, marked, marked_text, reflow, repair_text
from toulmin.documents.tables import row_text
from toulmin.errors import SourceError

_HEADS = ("From", "To", "Cc", "Date", "Subject")
_LONGEST_HEAD = 2000  # characters
Reader = Callable[[Path], Iterable[Document]]  # of attachments
_DEEPEST, _LONGEST_SUFFIX = 10, 20  # mails in a mail, and letters of an attachment's kind
_QUOTE = re.compile(r"\A(?:> ?)*")  # begins a line of another mail
_BEGINNING = re.compile(rb"(?:\A|\n\r?\n)From [^\n]*\n")  # of each mail in a mailbox
# The library raises many kinds of error for damaged heads.
_ERRORS = (AttributeError, IndexError, KeyError, LookupError, RecursionError, TypeError, ValueError)


class _ShortHeads(EmailPolicy):
    """Reads only the start of a header: the library's time grows with the square of its length, or faster."""

    def header_fetch_parse(self, name: str, value: str) -> Any:
        return super().header_fetch_parse(name, value[:_LONGEST_HEAD])


def mail_document(path: Path, limit: int, read: Reader) -> Document:
    """A mail's headers, text and attachments, each of these a section after its name; the title is its subject."""
    check_size(path, path.stat().st_size, limit)
    return _mail(path.read_bytes(), path, read)


def mailbox_documents(path: Path, limit: int, read: Reader) -> list[Document]:
    """A document a mail; one that cannot be read has a remark and no text."""
    check_size(path, path.stat().st_size, limit)
    parts = enumerate(_BEGINNING.split(path.read_bytes())[1:], start=1)
    mails = [_readable(partial(_mail, data, path, read), path, f"mail {n}") for n, data in parts]
    if not any(mail.text for mail in mails):
        raise cannot_read(path, "holds no mail: a line such as `From a@b.c` begins each", "rename it")
    return [replace(mail, record=str(n)) for n, mail in enumerate(mails, start=1)]


def outlook_document(path: Path, limit: int, read: Reader) -> Document:
    """As `mail_document`, of a mail that Outlook saved; mails attached to it are left out with a remark."""
    check_size(path, path.stat().st_size, limit)
    try:
        mail = _from_outlook(path)
    except Exception as error:  # the libraries raise many kinds for damaged files
        raise cannot_read(path, f"is a damaged mail ({error})", "save it again from Outlook") from error
    return _document(mail, path, read)


def _from_outlook(path: Path) -> EmailMessage:
    from oxmsg import Message  # for this kind alone

    saved, mail = Message.load(path.read_bytes()), EmailMessage(_ShortHeads())
    to = ", ".join(formataddr((each.name, each.email_address)) for each in saved.recipients)
    date = format_datetime(saved.sent_date) if saved.sent_date else ""
    for name, value in (("From", saved.sender), ("To", to), ("Date", date), ("Subject", saved.subject)):
        mail[name] = " ".join((value or "").split())
    mail.set_content(saved.body or saved.html_body or "", subtype="plain" if saved.body else "html")
    for part in saved.attachments:
        name = part.file_name or ("attached" if part.file_bytes else "a mail")
        mail.add_attachment(part.file_bytes or b"", "application", "octet-stream", filename=name)
    return mail


def _mail(data: bytes, path: Path, read: Reader) -> Document:
    try:
        return _document(message_from_bytes(data, policy=_ShortHeads()), path, read)
    except _ERRORS as error:
        raise cannot_read(path, f"is a damaged mail ({error})", "save it again from the mail program") from error


def _document(message: Any, path: Path, read: Reader, depth: int = 0) -> Document:
    heads = [repair_text(str(message.get(head, ""))) for head in _HEADS]
    if not any(heads):
        raise cannot_read(path, "is no mail: lines such as `From:` and `Date:` were expected", "rename it")
    parts, text = list(message.iter_attachments()), _text(message, path).strip()
    attached = [_readable(partial(_attached, part, path, read, depth), path, _name(part)) for part in parts]
    blocks = [row_text(heads, _HEADS), text, row_text([", ".join(filter(None, map(_name, parts)))], ["Attached"])]
    blocks += [f"{marked(1, each.title)}\n\n{marked_text(each, 1)}" for each in attached if each.text]
    words = "\n\n".join(repair_text(block) for block in blocks if block)
    sender = re.sub(r"(?<=\S)\s*<[^<>]*>", "", heads[0])
    document = make_document(words, heads[-1], path, fields=[("from", sender), ("date", heads[3])])
    return replace(document, remarks=tuple(remark for each in attached for remark in each.remarks))


def _readable(read: Callable[[], Document], path: Path, name: str) -> Document:
    """A part of a file; if it cannot be read, without text, but with a remark."""
    try:
        return read()
    except (SourceError, *_ERRORS) as error:
        said = str(error).rpartition(";")[0] or str(error)
        reason = re.sub(r"^.*?attached\S* ", "", said.removeprefix(f"{path} "))
        return Document("", name, repair_text(str(path)), remarks=(f"{name or 'a mail'} not read: {reason}",))


def _name(part: EmailMessage) -> str:
    return " ".join(repair_text(part.get_filename() or "").split())


def _attached(part: EmailMessage, path: Path, read: Reader, depth: int) -> Document:
    """With its name, or the subject of a mail, as title."""
    name, data = _name(part), part.get_payload(decode=True)
    if depth == _DEEPEST:
        raise cannot_read(path, f"lies more than {_DEEPEST} mails deep", "save it alone")
    if part.get_content_type() == "message/rfc822" or name.lower().endswith(".eml"):
        mail = message_from_bytes(data, policy=_ShortHeads()) if isinstance(data, bytes) else part.get_content()
        return _document(mail, path, read, depth + 1)
    with TemporaryDirectory() as folder:
        copy = Path(folder, f"attached{Path(name).suffix[:_LONGEST_SUFFIX]}")
        copy.write_bytes(data or b"")  # type: ignore[arg-type]
        documents = list(read(copy))
    remarks = (f"{name}: {remark}" for document in documents for remark in document.remarks)
    return replace(make_document("\n\n".join(map(marked_text, documents)), name, path), remarks=tuple(remarks))


def _text(message: EmailMessage, path: Path) -> str:
    body = message.get_body(("plain", "html"))
    if body is None:
        return ""
    if body.get_content_subtype() == "html":
        return page_document(body.get_payload(decode=True) or b"", path, body.get_content_charset()).text  # type: ignore[arg-type]
    lines = groupby(repair_text(body.get_content()).split("\n"), key=lambda line: _QUOTE.match(line)[0].count(">"))  # type: ignore[index]
    parts = ((depth, reflow("\n".join(_QUOTE.sub("", line) for line in part))) for depth, part in lines)
    return "\n\n".join(re.sub("(?m)^(?=.)", f"{'>' * depth} " * bool(depth), text.strip("\n")) for depth, text in parts)
