"""`recheck`: whether the claims of saved answers still stand in their sources as they are now.

What a claim rests on is looked for first; a judge is asked only where it changed.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal

from toulmin.build import jobs
from toulmin.build.session import Session
from toulmin.data import Answer, Citation, Claim, Passage
from toulmin.driver.drive import Job
from toulmin.errors import SourceError, UsageError
from toulmin.evaluation.run_folder import ANSWERS, replace_file
from toulmin.formats import answer_json
from toulmin.formats.markdown import kept_claims, markdown, sidecar
from toulmin.formats.press import export_answer, form_of
from toulmin.indexing.corpus import AnyCorpus
from toulmin.methods.reporting import conclude
from toulmin.retrieval.places import Cited, Place, find_places, find_quote
from toulmin.steps import Program
from toulmin.text.language import STOPWORDS, sentences, terms, words
from toulmin.text.overlap import nearest
from toulmin.text.wording import has_facts
from toulmin.verify import smallest_support, weigh

State = Literal["current", "moved", "holds", "stale", "contradicted", "gone"]
_TOLD = 0.8  # of a claim's terms, in a quote that says all of it
_SAME = 0.6  # of a sentence's words, in what it became
_SURE = 0.75  # support by another sentence, where the one that was cited changed its words
_SMALL = STOPWORDS - frozenset("on off in out up down before after above below over under not no only all any".split())
_DENIALS = frozenset("not no never cannot nor neither".split())
FALLEN: frozenset[State] = frozenset({"stale", "contradicted", "gone"})


@dataclass(frozen=True, slots=True)
class Rechecked:
    """A claim of a saved answer: as it was, and with its citations and verdict as they are `now`.

    `state` is None for a claim that did not stand when it was saved, of which nothing is looked for; `passages` are
    those that bear it out now, or that speak of it; `says` is the nearest sentence of those that do not bear it out.
    """

    was: Claim
    now: Claim
    state: State | None
    passages: tuple[Passage, ...] = ()
    says: str | None = None


@dataclass(frozen=True, slots=True)
class Recheck:
    """A saved answer, the file that it was read from, and each of its claims as it stands now.

    `pairs` counts those that a judge read for it; `mended` is the answer written anew, where that was asked for;
    `edited` counts the saved claims that the Markdown file at `path` no longer has, which are not among `claims`.
    """

    answer: Answer
    claims: tuple[Rechecked, ...]
    pairs: int = 0
    path: str | None = None
    mended: Answer | None = None
    edited: int = 0

    @property
    def counts(self) -> Mapping[str, int]:
        """How many claims are in each state."""
        return Counter(claim.state for claim in self.claims if claim.state is not None)

    @property
    def has_fallen(self) -> bool:
        """Whether a claim no longer stands."""
        return any(claim.state in FALLEN for claim in self.claims)

    @property
    def document(self) -> dict[str, Any]:
        """As plain JSON values."""
        claims = [_claim_document(claim) for claim in self.claims]
        about = {"id": self.answer.id, "path": self.path, "question": self.answer.question}
        return {
            **about,
            "counts": dict(self.counts),
            "judge_pairs": self.pairs,
            "edited": self.edited,
            "claims": claims,
        }


def _claim_document(claim: Rechecked) -> dict[str, Any]:
    passages = [answer_json.passage_document(passage, None) for passage in claim.passages]
    now = {"citations": answer_json.plain(claim.now.citations), "support": answer_json.plain(claim.now.support)}
    return {"text": claim.was.text, "state": claim.state, "now": now, "says": claim.says, "passages": passages}


# ---------------------------------------------------------------- reading


def read_answers(path: Path) -> Iterator[Answer]:
    """The answers of a file of Answer documents (one, or one a line), of Markdown beside its sidecar, or of a run.

    What was changed in the Markdown since is no claim of the answer any more. Raises `SourceError` where there are
    none, `UsageError` for what is no Answer document.
    """
    if _is_markdown(path):
        text = _text_of(path)
        yield from (replace(each, claims=kept_claims(each, text)) for each in read_answers(sidecar(path)))
        return
    file = path / ANSWERS if path.is_dir() else path
    text = _text_of(file)
    try:
        listed = [json.loads(text)]
    except ValueError:
        listed = [line for line in text.split("\n") if line.strip()]  # a text may hold other line ends
    if not listed:
        raise SourceError(f"{file} should hold saved answers (`ask --json`), but is empty.")
    for n, document in enumerate(listed, start=1):
        try:
            yield answer_json.parse(document)
        except UsageError as error:
            raise UsageError(f"{file}, answer {n}: {error}") from error


def _count_edited(path: Path) -> int:
    """How many saved claims a Markdown file no longer has as they were written into it; 0 for other files."""
    if not _is_markdown(path):
        return 0
    saved, kept = (sum(len(each.claims) for each in read_answers(file)) for file in (sidecar(path), path))
    return saved - kept


def _is_markdown(path: Path) -> bool:
    return path.suffix.lower() in (".md", ".markdown")


def _text_of(file: Path) -> str:
    expected = "saved answers (`ask --json`, or `ask --save FILE.md`, which writes FILE.md.json beside it)"
    try:
        return file.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise SourceError(f"{file} should hold {expected}, but cannot be read ({error}).") from error


# ---------------------------------------------------------------- rechecking


async def recheck_answers(answers: Sequence[tuple[str | None, Answer]], session: Session) -> list[Recheck]:
    """Each answer as it stands; claims whose evidence changed are judged, all answers side by side.

    Raises `SourceError` where what is searched is no index.
    """
    resting, places = session.read(partial(_find_evidence, [answer for _, answer in answers]))
    first = [
        [_find_again(claim, cited, places) for claim, cited in zip(answer.claims, claims, strict=True)]
        for (_, answer), claims in zip(answers, resting, strict=True)
    ]
    open_ = [[n for n, claim in enumerate(claims) if claim is None] for claims in first]
    asked = [n for n, claims in enumerate(open_) if claims]
    made = (_job(answers[n][1], [(m, resting[n][m]) for m in open_[n]], places, session) for n in asked)
    outcomes: dict[int, Answer] = {}
    async for outcome in session.answers(made):
        if outcome.error is not None:
            raise outcome.error
        outcomes[asked[len(outcomes)]] = outcome.answer
    return [
        _recheck(path, answer, found, claims, outcomes.get(n), places)
        for n, ((path, answer), found, claims) in enumerate(zip(answers, first, resting, strict=True))
    ]


def _find_evidence(
    answers: Sequence[Answer], corpus: AnyCorpus
) -> tuple[list[list[tuple[Cited, ...]]], Mapping[Cited, Place]]:
    """What each claim of each answer rests on, and where that is now, in one moment of the corpus."""
    ids = {id for answer in answers for claim in answer.claims for id in _evidence_of(claim)}
    there = corpus.passages_by_id(list(ids))
    resting = [[_cited_by(claim, answer, there) for claim in answer.claims] for answer in answers]
    return resting, find_places((each for claims in resting for cited in claims for each in cited), corpus, there)


def _job(
    answer: Answer, claims: Sequence[tuple[int, Sequence[Cited]]], places: Mapping[Cited, Place], session: Session
) -> Job:
    sets = [(answer.claims[n], _passages(cited, places)) for n, cited in claims]
    program, budget = partial(_judge, answer, sets), jobs.budget(session.settings)
    return Job(answer.question, "recheck", answer.style, program, budget, {})


def _passages(cited: Sequence[Cited], places: Mapping[Cited, Place]) -> tuple[Passage, ...]:
    return tuple(dict.fromkeys(passage for each in cited for passage in places[each].passages))


def _recheck(
    path: str | None,
    answer: Answer,
    found: Sequence[Rechecked | None],
    resting: Sequence[Sequence[Cited]],
    outcome: Answer | None,
    places: Mapping[Cited, Place],
) -> Recheck:
    now = iter(outcome.claims if outcome else ())
    claims = []
    for claim, known, cited in zip(answer.claims, found, resting, strict=True):
        is_left = any(places[each].state != "gone" for each in cited)
        claims.append(known or _judged(claim, next(now), _passages(cited, places), is_left=is_left))
    pairs = outcome.usage.judge_pairs if outcome else 0
    return Recheck(answer, tuple(claims), pairs, path, edited=_count_edited(Path(path)) if path else 0)


async def mend(found: Recheck, session: Session) -> Recheck:
    """With the answer written anew: with the citations of now, and what fell repaired, or taken away and noted."""
    if {claim.state for claim in found.claims} <= {"current", None}:
        return replace(found, mended=found.answer)
    claims: list[Claim] = []
    passages = {passage.id: passage for claim in found.claims for passage in claim.passages}
    notes = []
    for claim in found.claims:
        if claim.state not in FALLEN:
            claims.append(claim.now)
            continue
        outcome = await session.answer(jobs.check_job(claim.was.text, (), session.settings, repair=True))
        if outcome.error is not None:
            raise outcome.error
        kept = [replace(each, section=claim.was.section) for each in outcome.answer.claims if each.is_supported]
        claims += kept
        passages |= {passage.id: passage for passage in outcome.answer.passages}
        written = " ".join(each.text for each in kept)
        if written != claim.was.text:
            after = f"Now: “{written}”" if written else "Left out."
            notes.append(f"Its source no longer says: “{claim.was.text}” {after}")
    cited = {id for claim in claims for id in (*claim.cited, *(claim.support.evidence if claim.support else ()))}
    of_old = {passage.id: passage for passage in found.answer.passages}
    answer = replace(
        found.answer,
        status="answered" if claims else "abstained",
        claims=tuple(claims),
        passages=tuple(passage for id, passage in (of_old | passages).items() if id in cited),
        notes=(*found.answer.notes, *notes),
        relevance=None,
        id="",
    )
    return replace(found, mended=answer)


def check_files(paths: Iterable[str]) -> None:
    """Raises `UsageError` where answers cannot be written anew."""
    for path in paths:
        if Path(path).is_dir():
            raise UsageError(f"{path} is a run, which stays as it was recorded; --update writes files of answers.")
        if _is_markdown(Path(path)) and _is_edited(Path(path)):
            raise UsageError(f"{path} was edited since it was saved, which --update would undo; see `toulmin check`.")


def _is_edited(path: Path) -> bool:
    return any(markdown(each) != _text_of(path) for each in read_answers(sidecar(path)))


def write_answers(path: Path, answers: Sequence[Answer]) -> None:
    """As documents of the form that the name's ending says, Markdown with its sidecar; else as Answer documents, one a
    line.
    """
    documents, form = b"".join(answer_json.dumps(answer) + b"\n" for answer in answers), form_of(path)
    if _is_markdown(path):
        replace_file(sidecar(path), documents)
    if form is not None:
        documents = b"\n".join(export_answer(answer, form) for answer in answers)
    replace_file(path, documents)


# ---------------------------------------------------------------- one claim


def _evidence_of(claim: Claim) -> tuple[str, ...]:
    """The ids of the passages that a claim which stood cites or was judged by."""
    if claim.fails or not claim.citations:
        return ()
    return tuple(dict.fromkeys((*claim.cited, *(claim.support.evidence if claim.support else ()))))


def _cited_by(claim: Claim, answer: Answer, there: Collection[str]) -> tuple[Cited, ...]:
    """What a claim rests on, with the decisive words of passages that are no longer there."""
    quotes = {citation.passage: citation.quote for citation in claim.citations if citation.passage not in there}
    enough = {id: quote for id, quote in quotes.items() if quote and _says_all(quote.text, claim.text)}
    return tuple(Cited(answer.passage(id), enough.get(id)) for id in _evidence_of(claim))


def _says_all(quote: str, claim: str) -> bool:
    """Whether the words stand for the claim without what is around them."""
    wanted, said = {*terms(claim)} - STOPWORDS, {*terms(quote)}
    return has_facts(quote, claim) and len(wanted & said) >= _TOLD * len(wanted)


def _find_again(claim: Claim, cited: Sequence[Cited], places: Mapping[Cited, Place]) -> Rechecked | None:
    """The claim where no judge is needed to say how it stands; None where one is."""
    if not cited:
        return Rechecked(claim, claim, None)
    found = [places[each] for each in cited]
    passages = tuple(dict.fromkeys(passage for place in found for passage in place.passages))
    states = {place.state for place in found}
    if states <= {"current", "moved"}:
        if states == {"current"}:
            return Rechecked(claim, claim, "current", passages)
        return Rechecked(claim, _moved(claim, {each.passage: places[each] for each in cited}), "moved", passages)
    if not passages:
        return Rechecked(claim, claim, "gone" if states == {"gone"} else "stale")
    return None


def _moved(claim: Claim, places: Mapping[Passage, Place]) -> Claim:
    was = {passage.id: passage for passage in places}
    now = {passage.id: place.passages[0] for passage, place in places.items()}
    citations = {}
    for citation in claim.citations:
        passage = now[citation.passage]
        quote = find_quote(Cited(was[citation.passage], citation.quote), passage.text) if citation.quote else None
        citations[passage.id] = Citation(passage.id, quote)
    evidence = [now[id].id for id in claim.support.evidence] if claim.support else []
    support = replace(claim.support, evidence=tuple(dict.fromkeys(evidence))) if claim.support else None
    return replace(claim, citations=tuple(citations.values()), support=support)


def _judge(answer: Answer, sets: Sequence[tuple[Claim, Sequence[Passage]]]) -> Program[Answer]:
    """An answer of those claims alone, judged by what the sources say where their evidence was."""
    bare = [(replace(claim, citations=(), support=None), passages) for claim, passages in sets]
    claims = yield from weigh(smallest_support(bare, answer.question, answer.style))
    read = {passage.id: passage for _, passages in sets for passage in passages}
    empty = Answer(answer.question, answer.style, "recheck", "abstained", passages=tuple(read.values()))
    return conclude(empty, claims, "keep")


def _judged(claim: Claim, now: Claim, passages: Sequence[Passage], *, is_left: bool) -> Rechecked:
    """The claim after a judge read what its sources say now; `is_left` says that one of its documents is there."""
    shown = {*now.cited, *(now.support.evidence if now.support else ())}
    read = tuple(passage for passage in passages if passage.id in shown)
    said = [passage.text[start:end] for passage in passages for start, end in sentences(passage.text)]
    if now.is_supported and now.support is not None:
        doubt = _doubt(claim, now, said)
        if doubt is None:
            return Rechecked(claim, now, "holds", read)
        now = replace(now, support=replace(now.support, label="unsure", reason=doubt[1]))
        return Rechecked(claim, now, "stale", read, doubt[0])
    is_against = now.support is not None and now.support.label == "contradicted"
    state: State = "contradicted" if is_against else "stale" if is_left else "gone"
    return Rechecked(claim, now, state, read, _nearest(claim.text, said))


def _nearest(text: str, said: Sequence[str]) -> str | None:
    near = nearest(text, said)
    return None if near is None else said[near]


def _doubt(claim: Claim, now: Claim, said: Sequence[str]) -> tuple[str, str] | None:
    """The sentence that was cited, as it is now, and why it does not bear out the claim whatever a judge says of it.

    It lost words that the claim had from it, or denies something. Another sentence may bear the claim out for sure.
    """
    for quote in (citation.quote.text for citation in claim.citations if citation.quote):
        heir, had = _nearest(quote, said), {*_words(quote)}
        if heir is None or len(had & {*_words(heir)}) < _SAME * len(had) or heir == quote:
            continue
        lost = [word for word in dict.fromkeys(_words(claim.text)) if word in had - {*_words(heir)} - _SMALL]
        denied = [word for word in _words(heir) if word in _DENIALS - {*_words(claim.text)}]
        is_other = any(c.quote and " ".join(c.quote.text.split()) != " ".join(heir.split()) for c in now.citations)
        if (lost or denied) and not (is_other and now.support and now.support.score >= _SURE):
            change = f"no longer has “{lost[0]}”" if lost else f"now has “{denied[0]}”"
            return heir, f"the sentence that it was taken from {change}"
    return None


def _words(text: str) -> list[str]:
    return [text[start:end].casefold() for start, end in words(text)]
