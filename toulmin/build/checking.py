"""`check` for documents that people keep: what their claims point to among the sources, and which claims fail."""

from __future__ import annotations

import json
import os
import re
import tomllib
from bisect import bisect_right
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from toulmin import config
from toulmin.build import jobs, scoring
from toulmin.build.check_memo import Checks, digest
from toulmin.build.rechecking import write_answers
from toulmin.build.session import Session
from toulmin.config import Settings
from toulmin.data import Answer, Claim, Hit, Passage, Place
from toulmin.documents.loaders import SUFFIXES, TEXT_SUFFIXES, find_files
from toulmin.documents.plain import MOST_OF_A_TEXT, decode
from toulmin.documents.prose import READERS, Prose, bibliography, read_prose
from toulmin.documents.word_comments import Remark, comment_on
from toulmin.driver.drive import Job
from toulmin.driver.kit import Judge
from toulmin.errors import SourceError, UsageError
from toulmin.evaluation.run_folder import replace_file
from toulmin.formats.findings import CheckedFile, Finding, Rule, Unread, UnreadFiles
from toulmin.indexing.corpus import AnyCorpus
from toulmin.judges.verdict_cache import CachedJudge
from toulmin.methods.check import Pointed, check, draft_of
from toulmin.parsing.citing import Draft
from toulmin.retrieval.bm25 import Bm25
from toulmin.retrieval.targets import Targets
from toulmin.text.language import STOPWORDS, line_starts, sentences, terms
from toulmin.text.names import facts
from toulmin.text.overlap import nearest
from toulmin.text.wording import has_facts
from toulmin.verify import CITATION_RULE, NOT_FOUND

_IN_FOLDERS = frozenset((*READERS, ".txt"))
_BIBLIOGRAPHIES = (".bib", ".json", ".yaml", ".yml")
_DEEP = 200  # passages of all documents among which those of a cited one are looked for
# Words, and their share, that a claim has in common with the sentence that contradicts it, and how much longer that is.
_ALIKE, _MOST_OF, _LONGER = 3, 0.6, 4
_BY_FACTS = 2  # passages that are read for the names and figures of a claim, beside those of a search for all of it


# ---------------------------------------------------------------- the files and their claims


@dataclass(frozen=True, slots=True)
class _Kept:
    """A file to check, and the claims that it makes."""

    path: Path
    prose: Prose
    draft: Draft


def files_to_check(paths: Iterable[str | os.PathLike[str]]) -> list[Path]:
    """The files that are named, and those of named folders whose form is known. Raises `SourceError` for none."""
    named = [Path(path) for path in paths]
    files, _ = find_files([path for path in named if path.is_dir()])
    listed = (path for path in files if path.suffix.lower() in _IN_FOLDERS)
    chosen = list(dict.fromkeys([*(path for path in named if not path.is_dir()), *listed]))
    if not chosen:
        kinds = ", ".join(sorted(_IN_FOLDERS))
        raise SourceError(f"Files of {kinds} were expected in {', '.join(map(str, named))}; there are none.")
    return chosen


def _read(path: Path) -> _Kept:
    prose = read_prose(path)
    draft = draft_of(prose.text)
    claims = [replace(claim, place=prose.place(*span)) for claim, span in zip(draft.claims, draft.spans, strict=True)]
    return _Kept(path, prose, replace(draft, claims=tuple(claims)))


# ---------------------------------------------------------------- what claims point to


class _Aim(NamedTuple):
    """The documents that a claim cites, and those that it links to; `missing` as in `Pointed`."""

    cited: tuple[str, ...] = ()
    linked: tuple[str, ...] = ()
    missing: str = ""

    @property
    def points(self) -> bool:
        return bool(self.cited or self.linked)

    def cite(self, document: str | None, missing: str = "") -> _Aim:
        return _Aim((*self.cited, document) if document else self.cited, self.linked, self.missing or missing)

    def without(self, own: str) -> _Aim:
        cited, linked = ([d for d in each if os.path.realpath(d) != own] for each in (self.cited, self.linked))
        return _Aim(tuple(cited), tuple(linked), self.missing)

    def link(self, document: str | None) -> _Aim:
        return self._replace(linked=(*self.linked, document)) if document else self


def _aims(kept: _Kept, targets: Targets) -> list[_Aim]:
    """Of each claim; a document that names itself points nowhere."""
    aims, own = [_Aim() for _ in kept.draft.claims], os.path.realpath(kept.path)
    starts, base, books = [start for start, _ in kept.draft.spans], kept.path.parent, _bibliographies(kept)
    for pointer in kept.prose.pointers:
        n = bisect_right(starts, pointer.start) - 1
        if n < 0:
            continue
        key = pointer.target.removeprefix("@")
        if not pointer.is_citation:
            aims[n] = aims[n].link(targets.of_link(pointer.target, base))
        elif key != pointer.target:
            document = targets.of_words(books.get(key, ""), base) or targets.of_key(key)
            is_lost = key not in books and not document
            aims[n] = aims[n].cite(document, f"cites {pointer.target}, which no bibliography has" if is_lost else "")
        elif _NO_NOTE.fullmatch(pointer.target):
            aims[n] = aims[n].cite(None, f"cites {pointer.target}, and there is no such footnote")
        else:
            aims[n] = aims[n].cite(*_named(pointer.target, targets, base))
    entries = kept.prose.entries
    for n, numbers in enumerate(kept.draft.strays if entries else ()):
        for number in numbers:
            lost = f"cites [{number}], and the list of references has no such entry"
            aims[n] = aims[n].cite(*_named(entries[number], targets, base) if number in entries else (None, lost))
    return [aim.without(own) for aim in aims]


_NO_NOTE = re.compile(r"\[\^[^\[\]]+\]")  # instead of a footnote's words its mark


def _named(words: str, targets: Targets, base: Path) -> tuple[str | None, str]:
    """The document that a footnote or entry names, or what is wrong with one that is a path and leads nowhere."""
    document = targets.of_words(words, base)
    path = "" if document else _path_in(words)
    return document, f"cites {path}, and there is no such file" if path and not os.path.exists(base / path) else ""


def _path_in(words: str) -> str:
    """The relative path of a document that a footnote or an entry is, or that it links to, if it is no more."""
    last = words.split()[-1].strip("<>") if "](" in words or len(words.split()) == 1 else ""
    path = unquote(last.partition("#")[0])
    is_relative = not (urlsplit(path).scheme or path.startswith("/"))
    return path if is_relative and Path(path).suffix.lower() in SUFFIXES else ""


def _cited_files(kept: _Kept) -> str:
    """What a check depends on of the files that a document cites: its bibliographies, and which paths are there."""
    words = [*(each.target for each in kept.prose.pointers if each.is_citation), *kept.prose.entries.values()]
    there = [os.path.exists(kept.path.parent / path) for path in map(_path_in, words) if path]
    return repr((_bibliographies(kept), there))


# In front matter, of which a list may go on in lines of its own, and in LaTeX.
_BIBLIOGRAPHY = re.compile(
    r"^bibliography:(.*(?:\n\s*-.*)*)|\\(?:bibliography|addbibresource)\{([^{}]+)\}", re.MULTILINE
)


def _bibliographies(kept: _Kept) -> dict[str, str]:
    """The entries of the bibliographies that the document names and that are there, and of its own front matter."""
    source, entries = kept.prose.source, dict[str, str]()
    if re.search(r"(?m)^references:\s*$", source):
        entries |= bibliography(source)
    for names in _BIBLIOGRAPHY.findall(source):
        for name in re.findall(r"[^\s\"',\[\]-][^\s\"',\[\]]*", names[0] or names[1]):
            path = kept.path.parent / name
            file = path if path.suffix in _BIBLIOGRAPHIES else path.with_name(f"{path.name}.bib")
            if file.is_file():
                entries |= bibliography(file.read_text("utf-8", "replace"))
    return entries


def _point(kept: Sequence[_Kept], k: int, corpus: AnyCorpus) -> list[list[Pointed]]:
    """What each claim of each file points to: the best passages of those documents."""
    targets = Targets(corpus)
    aims = [_aims(each, targets) for each in kept]
    texts = {(i, n): claim.text for i, each in enumerate(kept) for n, claim in enumerate(each.draft.claims)}
    told = {at: " ".join(text[fact.start : fact.end] for fact in facts(text)) for at, text in texts.items()}
    pointing, telling = [at for at in texts if aims[at[0]][at[1]].points], [at for at in texts if told[at]]
    ranker = Bm25(corpus)
    ranked = dict(zip(pointing, ranker.search([texts[at] for at in pointing], _DEEP), strict=True))
    by_facts = dict(zip(telling, ranker.search([told[at] for at in telling], _BY_FACTS), strict=True))
    return [
        [_pointed(aim, ranked.get((i, n), ()), by_facts.get((i, n), ()), k) for n, aim in enumerate(rows)]
        for i, rows in enumerate(aims)
    ]


def _pointed(aim: _Aim, ranked: Sequence[Hit], by_facts: Sequence[Hit], k: int) -> Pointed:
    def of(documents: Sequence[str]) -> tuple[Passage, ...]:
        passages = (hit.passage for hit in ranked)
        return tuple(p for p in passages if (p.source.path or p.source.url or "") in documents)[:k]

    linked = dict.fromkeys((*of(aim.linked), *(hit.passage for hit in by_facts)))
    return Pointed(of(aim.cited) if aim.cited else None, tuple(linked), aim.missing)


# ---------------------------------------------------------------- checking


@asynccontextmanager
async def open_judge(settings: Settings, own: Judge | None, memo: Path | None) -> AsyncIterator[Judge]:
    """One's own judge or the one that is named, its verdicts kept in the file `memo`."""
    async with scoring.open_judge(settings, own) as decider:
        if decider is None:
            raise UsageError("A check needs a judge; name another than none.")
        kept = CachedJudge(decider, memo) if memo else None
        try:
            yield kept or decider
        finally:
            if kept is not None:
                kept.close()


async def check_files(
    paths: Sequence[str | os.PathLike[str]],
    session: Session,
    judge: Judge,
    baseline: Path | None,
    memo: Path | None,
) -> list[CheckedFile]:
    """Every file with what fails in it, all files side by side.

    The file `baseline` names claims to leave out; beside the file `memo` whole checks are kept. Raises `UnreadFiles`,
    with what was found in the others, where some cannot be read.
    """
    config.no_options(session.settings)
    excuses = _excuses(baseline, session) if baseline else {}
    kept, unread = list[_Kept](), list[Unread]()
    for path in files_to_check(paths):
        try:
            kept.append(_read(path))
        except SourceError as error:
            unread.append(Unread(_name(path), str(error)))
    sources = _state(session)
    about = repr((session.settings, getattr(judge, "key", judge.name)))
    states = [digest(each.prose.source, _cited_files(each), sources or "", about) for each in kept]
    checks = Checks(memo) if memo and sources else None
    known = [checks.find(_key(each), states[n]) if checks else None for n, each in enumerate(kept)]
    made = {n: check_ for n, check_ in enumerate(known) if check_ is not None}
    left = [n for n in range(len(kept)) if n not in made]
    answers = _answers([kept[n] for n in left], session)
    async for answer in answers:
        n = left.pop(0)
        made[n] = answer, findings_of(answer)
        if checks:
            checks.keep(_key(kept[n]), states[n], *made[n])
    if checks:
        checks.close()
    texts = cache(_text_of)
    results = [_result(each, *made[n], excuses.get(_name(each.path), {}), texts) for n, each in enumerate(kept)]
    if unread:
        raise UnreadFiles(tuple(results), tuple(unread))
    return results


async def _answers(kept: Sequence[_Kept], session: Session) -> AsyncIterator[Answer]:
    if not kept:
        return
    k = session.settings.k or 5
    try:
        pointed = session.read(partial(_point, kept, k))
    except SourceError:  # a search of another kind, whose documents nobody can list
        pointed = [[Pointed()] * len(each.draft.claims) for each in kept]
    async for outcome in session.answers(_job(*each, session, k) for each in zip(kept, pointed, strict=True)):
        if outcome.error is not None:
            raise outcome.error
        yield outcome.answer


def _job(kept: _Kept, pointed: Sequence[Pointed], session: Session, k: int) -> Job:
    spans = kept.draft.spans
    aims = [
        each._replace(is_skipped=kept.prose.why_skipped(*span) is not None)
        for each, span in zip(pointed, spans, strict=True)
    ]
    path = os.path.abspath(kept.path)
    program = partial(check, kept.prose.text, k=k, path=path, draft=kept.draft, pointed=aims)
    return Job("", "check", "long", program, jobs.budget(session.settings), jobs.settings_to_show(session.settings, {}))


def _excuses(baseline: Path, session: Session) -> dict[str, dict[str, str]]:
    """Raises `UsageError` for a baseline that is a source: what it leaves out would be evidence."""
    place = os.path.realpath(baseline)
    try:
        paths = session.read(lambda corpus: [document.path or "" for document in corpus.documents()])
    except SourceError:
        paths = []
    if place in map(os.path.realpath, paths):
        raise UsageError(
            f"{baseline} lies among the sources, so its claims would be evidence; move or hide it (.NAME)."
        )
    return read_baseline(baseline)


def _key(kept: _Kept) -> str:
    return digest(os.path.abspath(kept.path))


def _state(session: Session) -> str | None:
    """What a check depends on of the sources; None where nobody can tell whether they changed."""

    def read(corpus: AnyCorpus) -> str:
        return repr((corpus.contents, [(document.path, document.url) for document in corpus.documents()]))

    try:
        return session.read(read)
    except SourceError:
        return None


def _text_of(path: str) -> str:
    """The text of a source that is a file of text, as it is now; of any other an empty one."""
    try:
        file = Path(path)
        is_text = file.suffix.lower() in TEXT_SUFFIXES and file.stat().st_size <= MOST_OF_A_TEXT
        return decode(file.read_bytes(), file) if is_text else ""
    except (OSError, SourceError):
        return ""


def _near_place(finding: Finding, texts: Callable[[str], str]) -> Place | None:
    """Where the nearest sentence stands in its file, whatever marks and line ends are between its words."""
    path = finding.passage.source.path if finding.near and finding.passage else None
    text = texts(path) if path else ""
    pattern = r"[\W_]+".join(re.findall(r"[^\W_]+", finding.near or ""))
    match = re.search(rf"\b{pattern}\b[.!?]?", text) if pattern else None
    return Place.between(line_starts(text), match.start(), match.end()) if match else None


def _result(
    kept: _Kept,
    answer: Answer,
    findings: tuple[Finding, ...],
    excuses: Mapping[str, str],
    texts: Callable[[str], str],
) -> CheckedFile:
    findings = tuple(
        replace(each, excuse=excuses.get(each.claim.text), near_place=_near_place(each, texts)) for each in findings
    )
    known = {finding.claim.text for finding in findings}
    gone = [text for text in excuses if text not in known]
    notes = [f"No longer fails, so that the baseline need not name it: “{text}”" for text in gone]
    reasons = [skip.reason for skip in kept.prose.skips]
    notes += [f"Left out by a comment: {reason}." for reason in dict.fromkeys(reasons)]
    return CheckedFile(_name(kept.path), answer, findings, tuple(notes))


def save_check(checked: CheckedFile, target: Path) -> None:
    """A copy of a Word document with a comment at each claim that fails; else the answer, by the ending of the file.

    Raises `UsageError` where the copy would take the document's place.
    """
    path = Path(checked.path)
    if os.path.realpath(path) == os.path.realpath(target):
        raise UsageError(f"{target} is what was checked; name another file for what the check says of it.")
    if not path.suffix.lower() == target.suffix.lower() == ".docx":
        write_answers(target, [checked.answer])
        return
    failing = (finding for finding in checked.findings if finding.excuse is None)
    remarks = [Remark(finding.claim.place, finding.remark) for finding in failing if finding.claim.place]
    replace_file(target, comment_on(path, remarks))


def _name(path: Path) -> str:
    """The path as a project calls it: from the working directory, where it lies below that."""
    relative = os.path.relpath(path)
    return Path(path if relative.startswith("..") else relative).as_posix()


# ---------------------------------------------------------------- what fails


def findings_of(answer: Answer) -> tuple[Finding, ...]:
    """The claims of a check that fail, each with its rule and the nearest sentence."""
    pool = {passage.id: passage for passage in answer.passages}
    searches = {entry.n - 1: entry.read for entry in answer.rounds if entry.kind == "search"}
    return tuple(
        _finding(claim, [pool[id] for id in (*_evidence(claim), *searches.get(n, ()))])
        for n, claim in enumerate(answer.claims)
        if claim.fails
    )


def _evidence(claim: Claim) -> tuple[str, ...]:
    return (*claim.support.evidence, *claim.support.elsewhere) if claim.support else ()


def _finding(claim: Claim, read: Sequence[Passage]) -> Finding:
    said = [(passage, passage.text[start:end]) for passage in read for start, end in sentences(passage.text)]
    near = nearest(claim.text, [sentence for _, sentence in said])
    passage, sentence = said[near] if near is not None else (None, None)
    return Finding(claim, _rule(claim, read, sentence or ""), passage, sentence)


def _rule(claim: Claim, read: Sequence[Passage], near: str) -> Rule:
    support = claim.support
    label = support.label if support else "unsure"
    if label == "contradicted" and _is_alike(claim.text, near):
        return "contradicted"
    if support and support.judge == CITATION_RULE and support.reason != NOT_FOUND:
        return "citation"
    text = claim.text[:1].lower() + claim.text[1:]  # a capital that only opens a sentence makes no name
    places = [f"{passage.title}. {passage.text}" for passage in read]
    told = [text[fact.start : fact.end] for fact in facts(text) if fact.kind != "name"]
    if told and not any(_has_all(told, place) for place in places):
        return "absent"
    if label == "unsure":
        return "unsure"
    return "unsupported" if has_facts("", text, *places) else "absent"


def _has_all(told: Sequence[str], place: str) -> bool:
    """Whether one place has all of a claim's figures: each by itself stands somewhere, where there are many."""
    return all(has_facts(place, each) for each in told)


def _is_alike(claim: str, near: str) -> bool:
    """Whether a sentence is about the same: judges also find denials of a claim in what is about something else."""
    wanted, spoken = {*terms(claim)} - STOPWORDS, terms(near)
    shared = wanted.intersection(spoken)
    is_sentence = len(spoken) <= _LONGER * len(terms(claim))  # not a table or code
    return is_sentence and len(shared) >= _ALIKE and len(shared) >= _MOST_OF * len(wanted)


# ---------------------------------------------------------------- baselines


def read_baseline(path: Path) -> dict[str, dict[str, str]]:
    """The reasons to leave claims out, by file and claim. Raises `UsageError` for what is no such file."""
    try:
        listed = tomllib.loads(path.read_text("utf-8")).get("claim", [])
        reasons: dict[str, dict[str, str]] = {}
        for entry in listed:
            reasons.setdefault(str(entry["file"]), {})[str(entry["text"])] = str(entry["reason"])
    except FileNotFoundError as error:
        raise SourceError(f"There is no baseline {path}; --update-baseline writes one.") from error
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, KeyError, TypeError, AttributeError) as error:
        expected = "[[claim]] tables, each with file, text and reason"
        raise UsageError(f"{path} should be TOML with {expected}, but: {error}.") from error
    return reasons


def write_baseline(path: Path, files: Sequence[CheckedFile], until: Rule, reason: str) -> int:
    """Writes what fails now, for later checks to leave out; reasons that were given stay. Returns how many."""
    rows = [
        (file.path, finding.claim.text, finding.excuse or reason)
        for file in files
        for finding in file.findings
        if finding.excuse or finding in file.failures(until)
    ]
    tables = dict.fromkeys(
        f"\n[[claim]]\nfile = {_quote(a)}\ntext = {_quote(b)}\nreason = {_quote(c)}\n" for a, b, c in rows
    )
    head = "# Claims that `toulmin check --baseline` shows and fails nothing for, each with its reason.\n"
    replace_file(path, "".join([head, *tables]).encode("utf-8", "replace"))
    return len(tables)


def _quote(text: str) -> str:
    """A string of TOML, which is one of JSON but for a character."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
