"""Checks documents and rechecks saved answers: opens, reads and drives; `checking` decides.

Checks of whole files are kept on disk and reused until the file or a source changes.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import math
import os
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import TypeVar

from toulmin import __version__, config
from toulmin.build import jobs
from toulmin.build.originals import Originals
from toulmin.build.session import Session
from toulmin.checking import findings as rules
from toulmin.checking.findings import CheckedFile, Finding, Unread, UnreadFiles
from toulmin.checking.places import find_places
from toulmin.checking.pointing import DocumentClaims, Targets, claims_of, point
from toulmin.checking.recheck import FALLEN, Case, Recheck, evidence_ids, evidence_of, mend_answer
from toulmin.data import Answer
from toulmin.documents.loaders import text_now
from toulmin.driver.drive import Job, Outcome
from toulmin.driver.kit import Judge
from toulmin.errors import SourceError, UsageError, cause_of
from toulmin.evaluation.saved_answers import count_edited
from toulmin.formats import answer_json
from toulmin.indexing.corpus import AnyCorpus
from toulmin.methods.check import ClaimTargets, check
from toulmin.prose.files import files_to_check, name_of
from toulmin.retrieval.bm25 import Bm25
from toulmin.runtime.database import Kind, RowCache, row_digest

T = TypeVar("T")
_KIND = Kind("memo of checks", 0x746D6368, "checks (key TEXT PRIMARY KEY, state TEXT, checked TEXT, digest TEXT)")

_LONGEST_PATH = 4096  # characters, as of Linux
FORMAT = "5"  # raise it when results change; checks of another format are done again


async def check_files(
    paths: Sequence[str | os.PathLike[str]],
    session: Session,
    judge: Judge,
    baseline: Path | None,
    memo: Path | None,
    longest: float = math.inf,
) -> list[CheckedFile]:
    """Checks all files side by side; each may have `longest` characters.

    The file `baseline` lists claims to leave out; whole checks are kept beside the file `memo`. Raises `UnreadFiles`,
    with the other checks, if files cannot be read.
    """
    config.no_options(session.settings)
    excuses = _excuses(baseline, session) if baseline else {}
    kept, unread = await _drafts(files_to_check(paths), session, longest)
    sources = _state(session)
    about = repr((session.settings, getattr(judge, "key", judge.name)))
    keys = [digest(os.path.abspath(each.kept.path)) for each in kept]
    cited = [repr((each.kept.books, each.kept.lost)) for each in kept]
    states = [digest(each.kept.prose.source, cited[n], sources or "", about) for n, each in enumerate(kept)]
    checks = Checks(memo) if memo and sources else None
    known = [checks.find(key, state) if checks else None for key, state in zip(keys, states, strict=True)]
    made = {n: check_ for n, check_ in enumerate(known) if check_ is not None}
    left = [n for n in range(len(kept)) if n not in made]
    async for outcome in _outcomes([kept[n] for n in left], session):
        n = left.pop(0)
        if outcome.error is not None:  # of its file alone: the others keep their reports
            if not (made or left):
                raise outcome.error
            unread.append(Unread(kept[n].kept.name, str(outcome.error)))
            continue
        made[n] = outcome.answer, rules.findings_of(outcome.answer)
        if checks:
            checks.keep(keys[n], states[n], *made[n])
    if checks:
        checks.close()
    texts = cache(text_now)
    done = ((each, made[n]) for n, (each, _) in enumerate(kept) if n in made)
    results = [rules.complete_check(each, *check, excuses.get(each.name, {}), texts) for each, check in done]
    if unread:
        raise UnreadFiles(tuple(results), tuple(unread))
    return results


async def _drafts(files: Sequence[Path], session: Session, longest: float) -> tuple[list[DocumentClaims], list[Unread]]:
    """The claims of the files, and the files that cannot be read."""
    drafts = await asyncio.gather(*map(session.originals.draft, files), return_exceptions=True)
    kept, unread = list[DocumentClaims](), list[Unread]()
    for path, draft in zip(files, drafts, strict=True):
        if isinstance(draft, SourceError):
            unread.append(Unread(name_of(path), str(draft)))
        elif isinstance(draft, BaseException):
            raise draft
        elif (size := len(draft.prose.text)) > longest:
            raise UsageError(f"The document should have at most {longest:,} characters, not {size:,}.")
        else:
            kept.append(claims_of(draft))
    return kept, unread


def commented_copy(checked: CheckedFile) -> bytes:
    """A copy of a Word document with a comment at each failing claim. Raises `SourceError`."""
    with closing(Originals()) as originals:
        return asyncio.run(originals.commented(Path(checked.path), checked.remarks))


async def _outcomes(kept: Sequence[DocumentClaims], session: Session) -> AsyncIterator[Outcome]:
    if not kept:
        return
    k = session.settings.k or 5

    def point_in(corpus: AnyCorpus) -> list[list[ClaimTargets]]:
        return point(kept, Targets(corpus.documents(), _real_path), Bm25(corpus).search, k)

    pointed = _read(session, point_in, [[ClaimTargets()] * len(each.draft.claims) for each in kept])
    async for outcome in session.answers(_check_job(*each, session, k) for each in zip(kept, pointed, strict=True)):
        yield outcome


def _real_path(path: str | Path) -> str:
    """The path itself if no file can have it; a long one would be followed for minutes."""
    try:
        return os.path.realpath(path) if len(str(path)) < _LONGEST_PATH else str(path)
    except ValueError:
        return str(path)


def _check_job(claims: DocumentClaims, pointed: Sequence[ClaimTargets], session: Session, k: int) -> Job:
    kept, draft = claims
    skips = [kept.prose.why_skipped(*span) is not None for span in draft.spans]
    aims = [each._replace(is_skipped=is_skipped) for each, is_skipped in zip(pointed, skips, strict=True)]
    program = partial(check, kept.prose.text, k=k, path=os.path.abspath(kept.path), draft=draft, pointed=aims)
    return Job("", "check", "long", program, jobs.budget(session.settings), jobs.settings_to_show(session.settings, {}))


def _excuses(baseline: Path, session: Session) -> dict[str, dict[str, str]]:
    """Raises `UsageError` for a baseline among the sources, where its claims would be evidence."""
    paths: list[str] = _read(session, lambda corpus: [document.path or "" for document in corpus.documents()], [])
    if os.path.realpath(baseline) in map(os.path.realpath, paths):
        raise UsageError(
            f"{baseline} lies among the sources, so its claims would be evidence; move or hide it (.NAME)."
        )
    return read_baseline(baseline)


def read_baseline(path: Path) -> dict[str, dict[str, str]]:
    """The reasons by file and claim. Raises `UsageError` for another kind of file."""
    try:
        return rules.parse_baseline(path.read_text("utf-8"))
    except FileNotFoundError as error:
        raise SourceError(f"There is no baseline {path}; --update-baseline writes one.") from error
    except (OSError, ValueError) as error:
        expected = "[[claim]] tables, each with file, text and reason"
        raise UsageError(f"{path} should be TOML with {expected}, but: {cause_of(error)}.") from error


def _state(session: Session) -> str | None:
    """The state of the sources; None if changes cannot be detected."""

    def read(corpus: AnyCorpus) -> str:
        return repr((corpus.contents, [(document.path, document.url) for document in corpus.documents()]))

    return _read(session, read, None)


def _read(session: Session, what: Callable[[AnyCorpus], T], otherwise: T) -> T:
    """As `Session.read`, with a default for sources that are no index."""
    try:
        return session.read(what)
    except SourceError:
        return otherwise


# ---------------------------------------------------------------- saved answers


async def recheck_answers(answers: Sequence[tuple[str | None, Answer]], session: Session) -> list[Recheck]:
    """Judges claims whose evidence changed, all answers side by side. Raises `SourceError` without an index."""
    cases = session.read(partial(_cases, [answer for _, answer in answers]))
    open_ = [n for n, case in enumerate(cases) if case.needs_judge]
    judged: dict[int, Answer] = {}
    async for outcome in session.answers(_recheck_job(cases[n], session) for n in open_):
        if outcome.error is not None:
            raise outcome.error
        judged[open_[len(judged)]] = outcome.answer
    return [
        case.recheck(judged.get(n), path, count_edited(Path(path)) if path else 0)
        for n, (case, (path, _)) in enumerate(zip(cases, answers, strict=True))
    ]


def _cases(answers: Sequence[Answer], corpus: AnyCorpus) -> list[Case]:
    there = corpus.passages_by_id(evidence_ids(answers))
    resting = [evidence_of(answer, there) for answer in answers]
    cited = (each for claims in resting for claim in claims for each in claim)
    places = find_places(cited, there, corpus.documents, Bm25(corpus).search)
    return [Case(answer, claims, places) for answer, claims in zip(answers, resting, strict=True)]


def _recheck_job(case: Case, session: Session) -> Job:
    return Job(case.answer.question, "recheck", case.answer.style, case.judge, jobs.budget(session.settings), {})


async def mend(recheck: Recheck, session: Session) -> Recheck:
    """Adds the answer with current citations; fallen claims are repaired, or removed with a note."""
    if {claim.state for claim in recheck.claims} <= {"current", None}:
        return replace(recheck, mended=recheck.answer)
    repairs = []
    for claim in recheck.claims:
        if claim.state in FALLEN:
            outcome = await session.answer(jobs.check_job(claim.was.text, (), session.settings, repair=True))
            if outcome.error is not None:
                raise outcome.error
            repairs.append(outcome.answer)
    return mend_answer(recheck, repairs)


# ---------------------------------------------------------------- checks that are kept


def digest(*parts: str) -> str:
    """SHA-256, in hex, of the parts, the program's version and the format."""
    return hashlib.sha256(json.dumps([__version__, FORMAT, *parts]).encode("ascii")).hexdigest()


class Checks(RowCache):
    """The last check of each file, with the state of file and sources; a file beside that of verdicts at `path`."""

    def __init__(self, path: Path) -> None:
        super().__init__(path.with_name(f"{path.stem}-checks{path.suffix}"), _KIND)

    def find(self, key: str, state: str) -> tuple[Answer, tuple[Finding, ...]] | None:
        """None without a valid check of that state."""
        with self._clearly():
            row = self._file.execute("SELECT state, checked, digest FROM checks WHERE key = ?", (key,)).fetchone()
        if row is None or row[0] != state or row[2] != row_digest(key, row[1]):
            return None
        with suppress(ValueError, TypeError, KeyError, IndexError, UsageError):
            document, rows = json.loads(row[1])
            answer = answer_json.parse(document)
            passages = {passage.id: passage for passage in answer.passages}
            return answer, tuple(Finding(answer.claims[n], rule, passages.get(id), near) for n, rule, id, near in rows)
        return None

    def keep(self, key: str, state: str, answer: Answer, findings: Sequence[Finding]) -> None:
        numbers = {id(claim): n for n, claim in enumerate(answer.claims)}
        rows = [[numbers[id(f.claim)], f.rule, f.passage and f.passage.id, f.near] for f in findings]
        text = json.dumps([answer_json.document(answer), rows])
        with self._if_there_is_room(), self._file:
            statement = "INSERT OR REPLACE INTO checks (key, state, checked, digest) VALUES (?, ?, ?, ?)"
            self._file.execute(statement, (key, state, text, row_digest(key, text)))
