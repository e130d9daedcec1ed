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
from itertools import count, groupby
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from toulmin.data import ATTACHED, Document
from toulmin.documents.html import page_document
from toulmin.documents.plain import cannot_read, check_size, make_document, reflow, repair_text, title_from
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


def mail_documents(path: Path, limit: int, read: Reader) -> list[Document]:
    """A mail's headers and text, its title the subject; then what is attached, each with its name as record."""
    check_size(path, path.stat().st_size, limit)
    return _mail(path.read_bytes(), path, read)


def mailbox_documents(path: Path, limit: int, read: Reader) -> list[Document]:
    """Those of each mail, whose number begins the record; one that cannot be read has a remark and no text."""
    check_size(path, path.stat().st_size, limit)
    parts = enumerate(_BEGINNING.split(path.read_bytes())[1:], start=1)
    mails = [_readable(partial(_mail, data, path, read), path, f"mail {n}") for n, data in parts]
    if not any(mail[0].text for mail in mails):
        raise cannot_read(path, "holds no mail: a line such as `From a@b.c` begins each", "rename it")
    return [_within(f"{n}", each) for n, mail in enumerate(mails, start=1) for each in mail]


def outlook_documents(path: Path, limit: int, read: Reader) -> list[Document]:
    """As `mail_documents`, of a mail that Outlook saved; mails attached to it are left out with a remark."""
    check_size(path, path.stat().st_size, limit)
    try:
        mail = _from_outlook(path)
    except Exception as error:  # the libraries raise many kinds for damaged files
        raise cannot_read(path, f"is a damaged mail ({error})", "save it again from Outlook") from error
    return _documents(mail, path, read)


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


def _mail(data: bytes, path: Path, read: Reader) -> list[Document]:
    try:
        return _documents(message_from_bytes(data, policy=_ShortHeads()), path, read)
    except _ERRORS as error:
        raise cannot_read(path, f"is a damaged mail ({error})", "save it again from the mail program") from error


def _documents(message: Any, path: Path, read: Reader, depth: int = 0) -> list[Document]:
    heads = [repair_text(str(message.get(head, ""))) for head in _HEADS]
    if not any(heads):
        raise cannot_read(path, "is no mail: lines such as `From:` and `Date:` were expected", "rename it")
    parts = list(message.iter_attachments())
    blocks = [row_text(heads, _HEADS), _text(message, path).strip()]
    blocks += [row_text([", ".join(filter(None, map(_name, parts)))], ["Attached"])]
    words = "\n\n".join(repair_text(block) for block in blocks if block)
    sender = re.sub(r"(?<=\S)\s*<[^<>]*>", "", heads[0])
    mail = make_document(words, heads[-1], path, fields=[("from", sender), ("date", heads[3])])
    attached = [_readable(partial(_attached, part, path, read, depth), path, _name(part)) for part in parts]
    unread = (remark for each, *_ in attached if not each.text for remark in each.remarks)
    rest = [_dated(each, mail) for documents in attached for each in documents if each.text]
    numbers = {each.record: count(1) for each in rest}
    pairs = [(each, next(numbers[each.record])) for each in rest]
    apart = [replace(each, record=f"{each.record} ({n})") if n > 1 else each for each, n in pairs]
    return [replace(mail, remarks=tuple(unread)), *apart]


def _dated(attached: Document, mail: Document) -> Document:
    about = attached.metadata
    day = replace(about, date=mail.metadata.date, is_file_date=False) if about.is_file_date or not about.date else about
    return replace(attached, metadata=day)


def _within(name: str, document: Document) -> Document:
    return replace(document, record=f"{name} {document.record or ''}".strip())


def _readable(read: Callable[[], list[Document]], path: Path, name: str) -> list[Document]:
    """Of a part of a file; if it cannot be read, one without text, but with a remark."""
    try:
        return read()
    except (SourceError, *_ERRORS) as error:
        said = str(error).rpartition(";")[0] or str(error)
        reason = re.sub(r"^.*?attached\S* ", "", said.removeprefix(f"{path} "))
        return [Document("", name, repair_text(str(path)), remarks=(f"{name or 'a mail'} not read: {reason}",))]


def _name(part: EmailMessage) -> str:
    return " ".join(repair_text(part.get_filename() or "").split())


def _attached(part: EmailMessage, path: Path, read: Reader, depth: int) -> list[Document]:
    name, data = _name(part), part.get_payload(decode=True)
    if depth == _DEEPEST:
        raise cannot_read(path, f"lies more than {_DEEPEST} mails deep", "save it alone")
    if part.get_content_type() == "message/rfc822" or name.lower().endswith(".eml"):
        mail = message_from_bytes(data, policy=_ShortHeads()) if isinstance(data, bytes) else part.get_content()
        documents = _documents(mail, path, read, depth + 1)
        name = name or documents[0].title
    elif not data and path.suffix.lower() == ".msg":
        raise cannot_read(path, "is a mail within this one, or is kept elsewhere", "save it alone")
    else:
        documents = _of_file(data or b"", name, path, read)  # type: ignore[arg-type]
    return [_within(f"{ATTACHED}{name}", each) for each in documents]


def _of_file(data: bytes, name: str, path: Path, read: Reader) -> list[Document]:
    with TemporaryDirectory() as folder:
        copy = Path(folder, f"attached{Path(name).suffix[:_LONGEST_SUFFIX]}")
        copy.write_bytes(data)
        documents = list(read(copy))
    own = {title_from(copy): title_from(Path(name))}  # where the file says none
    return [
        replace(
            each,
            title=own.get(each.title, each.title),
            path=repair_text(str(path)),
            remarks=tuple(f"{name}: {remark}" for remark in each.remarks),
        )
        for each in documents
    ]


def _text(message: EmailMessage, path: Path) -> str:
    body = message.get_body(("plain", "html"))
    if body is None:
        return ""
    if body.get_content_subtype() == "html":
        return page_document(body.get_payload(decode=True) or b"", path, body.get_content_charset()).text  # type: ignore[arg-type]
    lines = groupby(repair_text(body.get_content()).split("\n"), key=lambda line: _QUOTE.match(line)[0].count(">"))  # type: ignore[index]
    parts = ((depth, reflow("\n".join(_QUOTE.sub("", line) for line in part))) for depth, part in lines)
    return "\n\n".join(re.sub("(?m)^(?=.)", f"{'>' * depth} " * bool(depth), text.strip("\n")) for depth, text in parts)
