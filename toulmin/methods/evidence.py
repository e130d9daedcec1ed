"""Searches for evidence and the memory of their hits. A failed search loses its passages, not the answer."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import PurePath
from typing import NamedTuple, Self

from toulmin.data import Answer, Claim, Omission, Passage, Round, Style
from toulmin.errors import IndexDamaged, SourceError
from toulmin.methods.reporting import add_notes, add_rounds, ids
from toulmin.parsing.citing import with_citations
from toulmin.prompts.types import Queries
from toulmin.steps import Program, generate, search, together
from toulmin.text.language import first_of_each, sentences, terms, words
from toulmin.text.names import facts
from toulmin.text.wording import has_facts
from toulmin.verify import document_of, names_document, verify

# ---------------------------------------------------------------- VTG's two memories, and windows over them


@dataclass(frozen=True, slots=True)
class Memory:
    """VTG's memories: `long` (D_L) keeps useful passages, `short` (D_S) the last search's."""

    long: tuple[Passage, ...]
    short: tuple[Passage, ...] = ()

    @property
    def passages(self) -> tuple[Passage, ...]:
        """D_L, then D_S; the order decides which citations a simplification keeps."""
        return distinct((*self.long, *self.short))

    def retaining(self, ids: Iterable[str]) -> Memory:
        """Adds passages of either memory at the end of the long-term one."""
        known = {passage.id: passage for passage in self.passages}
        return replace(self, long=distinct((*self.long, *(known[id] for id in ids))))


def distinct(passages: Iterable[Passage]) -> tuple[Passage, ...]:
    return tuple(first_of_each(passages, lambda passage: passage.id))


def windows(passages: Collection[Passage], size: int | None) -> tuple[tuple[Passage, ...], ...]:
    """The fewest runs of passages, in order, of at most `size` words with titles (None: no limit).

    A longer passage is a window by itself.
    """
    if size is None:
        return (tuple(passages),) if passages else ()
    cut: list[list[Passage]] = []
    room = 0
    for passage in passages:
        length = len(words(passage.title)) + len(words(passage.text))
        if not cut or length > room:
            cut.append([])
            room = size
        cut[-1].append(passage)
        room -= length
    return tuple(tuple(window) for window in cut)


# ---------------------------------------------------------------- searches


@dataclass(frozen=True, slots=True)
class Evidence:
    """The passages of a search; `failure` is the reason if it failed."""

    query: str
    passages: tuple[Passage, ...] = ()
    failure: str = ""


def propose_queries(asked: Queries, sample: int) -> Program[tuple[str, ...]]:
    """The distinct queries of a model's reply, at most `asked.n`."""
    proposals = yield from generate(asked, sample=sample)
    unique = dict.fromkeys(" ".join(query.split()) for query in proposals)
    return tuple(query for query in unique if query)[: asked.n]


def evidence(queries: Sequence[str], k: int) -> Program[tuple[Evidence, ...]]:
    """At most `k` passages for each query, in order. Only a damaged index raises (`IndexDamaged`)."""
    return (yield from together([_search_evidence(query, k) for query in queries]))


def _search_evidence(query: str, k: int) -> Program[Evidence]:
    try:
        hits = yield from search(query, k)
    except IndexDamaged:
        raise
    except SourceError as error:
        return Evidence(query, failure=str(error))
    return Evidence(query, distinct(hit.passage for hit in hits))


def all_passages(results: Sequence[Evidence]) -> tuple[Passage, ...]:
    return distinct(passage for result in results for passage in result.passages)


def search_round(results: Sequence[Evidence], n: int = 1) -> Round:
    queries = tuple(result.query for result in results)
    failures = tuple(Omission(result.query, result.failure) for result in results if result.failure)
    return Round("search", n, read=ids(all_passages(results)), queries=queries, dropped=failures)


def failure_notes(results: Sequence[Evidence], known: Sequence[str] = ()) -> tuple[str, ...]:
    reasons = dict.fromkeys(result.failure for result in results if result.failure)
    notes = []
    for why in reasons:
        listed = ", ".join(f"“{result.query}”" for result in results if result.failure == why)
        notes.append(f"Passages may be missing, because a search failed: {listed}. {why}")
    return tuple(note for note in notes if note not in known)


@dataclass(frozen=True, slots=True)
class Progress:
    """An answer that grows by steps; subclasses add what else a method remembers."""

    answer: Answer

    def recording(self, *rounds: Round, invalid: int = 0) -> Self:
        return replace(self, answer=add_rounds(self.answer, *rounds, invalid=invalid))

    def noting(self, *notes: str) -> Self:
        return replace(self, answer=add_notes(self.answer, *notes))

    def reading(self, passages: Sequence[Passage]) -> Self:
        return replace(self, answer=replace(self.answer, passages=distinct((*self.answer.passages, *passages))))

    def searching(self, results: Sequence[Evidence], n: int, trial: int | None = None) -> Self:
        state = self.recording(replace(search_round(results, n), trial=trial))
        return state.noting(*failure_notes(results, self.answer.notes)).reading(all_passages(results))


# ---------------------------------------------------------------- passages that prove a claim


CLEARLY = 0.2  # of the judge's support; on the train part of people's labels 23 of 28 new citations are then right
PRONOUNS = frozenset("he him his she her hers it its they them their theirs this these those".split())


class ClaimToCite(NamedTuple):
    """A claim without proof, the passages that may prove it, and the support that a proof must exceed."""

    claim: Claim
    near: Sequence[Passage]
    least: float

    @classmethod
    def after(cls, failing: Claim, near: Sequence[Passage]) -> ClaimToCite:
        return cls(failing, near, support_score(failing) + CLEARLY)


def cite_places(asked: Sequence[ClaimToCite], question: str = "", style: Style = "long") -> Program[list[Claim | None]]:
    """Cites for each claim the passage whose one place, read alone, supports it best, clearly better than before."""
    trials = [(n, passage) for n, uncited in enumerate(asked) for passage in uncited.near]
    cited = [with_citations(asked[n].claim, [p.id]) for n, p in trials]
    judged = yield from verify(cited, {p.id: p for _, p in trials}, question, style)
    places = [_place(claim, p) for claim, (_, p) in zip(judged, trials, strict=True)]
    alone = [with_citations(claim, ids(place)) for claim, place in zip(cited, places, strict=True)]
    proofs = yield from verify(alone, {p.id: p for place in places for p in place}, question, style)
    best: list[tuple[float, Claim | None]] = [(uncited.least, None) for uncited in asked]
    for (n, _), claim, proof in zip(trials, judged, proofs, strict=True):
        if proof.is_supported and support_score(proof) > best[n][0]:
            best[n] = (support_score(proof), claim)
    return [claim for _, claim in best]


def support_score(claim: Claim) -> float:
    return claim.support.score if claim.support else 0.0


def _place(claim: Claim, passage: Passage) -> tuple[Passage, ...]:
    """The quoted sentence with its neighbours (else the whole passage), if it has the claim's facts."""
    quote, text = claim.citations[0].quote, passage.text
    if quote:
        spans = sentences(text)
        inside = [n for n, span in enumerate(spans) if span.start < quote.end and quote.start < span.end]
        text = text[spans[max(inside[0] - 1, 0)].start : spans[min(inside[-1] + 1, len(spans) - 1)].end]
    is_proof = claim.is_supported and has_facts(f"{passage.title}. {text}", claim.text)
    return (Passage.of(text, passage.title),) if is_proof else ()


def near(claim: Claim, cited: Iterable[Passage], read: Sequence[Passage], topic: str = "") -> tuple[Passage, ...]:
    """The passages that may prove a claim: of the documents of its verdict; for a claim without a pronoun also those
    whose title it names and, if it has a name, those that the text cites. `topic` counts as part of the claim.
    """
    proofs = {*claim.cited, *(claim.support.evidence if claim.support else ())}
    if not proofs:  # no document was judged, because its marks point nowhere
        return tuple(read)
    documents = {document_of(passage) for passage in read if passage.id in proofs}
    is_whole = PRONOUNS.isdisjoint(terms(claim.text))
    about = f"{topic} {claim.text}"
    if is_whole and any(fact.kind == "name" for fact in facts(about)):
        documents |= {document_of(passage) for passage in cited}
    return tuple(p for p in read if document_of(p) in documents or (is_whole and names_document(about, p)))


# ---------------------------------------------------------------- a text is no evidence for itself


Run = tuple[str, ...]

# Least shares of pairs of neighbouring words: for a repeated claim, and for a text made of another.
_REPEATED, _MADE_OF = 0.6, 0.8
_PARTLY = 1 / 3  # from this share on, or with one claim, a passage of a copy counts as copied
# Claims that a copy must repeat, and that a document with other text before and after must repeat: people quote
# sources, but rarely so much in one piece.
_SEVERAL, _MANY = 3, 5
_PIECE = 5  # equal words in a row at the start and the end of a copy
_DEEPEST = 64  # times k
LEFT_OUT = "No evidence, as it is the text itself or a copy of it: "


class Sources(NamedTuple):
    """At most k passages for each query; `copies` are left out as the text itself or copies of it."""

    passages: tuple[tuple[Passage, ...], ...]
    copies: tuple[Passage, ...] = ()

    @property
    def notes(self) -> tuple[str, ...]:
        places = ((PurePath(p.source.path or "").name, p.source.url, p.title, p.id) for p in self.copies)
        names = dict.fromkeys(next(filter(None, place)) for place in places)
        return (f"{LEFT_OUT}{', '.join(names)}.",) if names else ()


@dataclass(frozen=True, slots=True)
class TextCheck:
    """A text whose claims are checked, and the path of its file, if known.

    A document is a copy if it repeats most queries and at least three claims with little else, or at least five claims
    in one piece. Passages that the text cites are no copies.
    """

    text: str
    claims: tuple[Claim, ...]
    path: str = ""

    def search(self, queries: Sequence[str], k: int, beside: Mapping[str, Sequence[Passage]] = {}) -> Program[Sources]:
        """Searches deeper if copies take the place of sources; passages `beside` a query come first."""
        results: dict[str, tuple[Passage, ...]] = {}
        copies: dict[str, Passage] = {}
        depth, unserved = k, list(dict.fromkeys(queries))
        while unserved:
            rows = yield from together([search(query, depth) for query in unserved])
            for query, hits in zip(unserved, rows, strict=True):
                results[query] = distinct((*beside.get(query, ()), *(hit.passage for hit in hits)))
            copies = {p.id: p for p in self._copies(results)}
            full = [query for query, hits in zip(unserved, rows, strict=True) if len(hits) == depth]
            unserved = [query for query in full if sum(p.id not in copies for p in results[query]) < k]
            unserved, depth = unserved if depth < _DEEPEST * k else [], 4 * depth
        sources = {query: tuple(p for p in hits if p.id not in copies) for query, hits in results.items()}
        groups = (sources[query][: k + len(beside.get(query, ()))] for query in queries)
        return Sources(tuple(groups), tuple(copies.values()))

    def _copies(self, results: Mapping[str, Sequence[Passage]]) -> list[Passage]:
        cited = {id for claim in self.claims for id in claim.cited}
        documents: dict[str, list[Passage]] = {}
        for passage in distinct(passage for group in results.values() for passage in group):
            if passage.id not in cited:
                documents.setdefault(document_of(passage), []).append(passage)
        return [p for group in documents.values() for p in self._copied(group, list(results))]

    def _copied(self, passages: Sequence[Passage], queries: Sequence[str]) -> list[Passage]:
        """The passages of one document that are copied."""
        if self.path and passages[0].source.path == self.path:
            return list(passages)
        ours, claims = _runs(self.text), list({_runs(claim.text) for claim in self.claims})  # each claim counts once
        alike = [passage for passage in passages if _is_alike(_runs(passage.text), ours, claims)]
        whole = " ".join(passage.text for passage in sorted(alike, key=lambda passage: passage.source.start))
        theirs = _runs(whole)
        repeated = sum(_share(claim, theirs) >= _REPEATED for claim in claims)
        if repeated < _SEVERAL or _share(frozenset().union(*map(_runs, queries)), theirs) < _MADE_OF:
            return []
        shared = _shared_piece(whole, self.text) if repeated >= _MANY else theirs
        return alike if _share(shared, ours) >= _MADE_OF else []


@lru_cache(maxsize=1_000)
def _runs(text: str) -> frozenset[Run]:
    return frozenset(_each_run(terms(text), 2))


def _each_run(words_: Sequence[str], size: int) -> Iterator[Run]:
    return zip(*(words_[n:] for n in range(size)), strict=False)


def _share(part: frozenset[Run], whole: frozenset[Run]) -> float:
    return len(part & whole) / (len(part) or 1)


def _is_alike(passage: frozenset[Run], text: frozenset[Run], claims: Sequence[frozenset[Run]]) -> bool:
    return _share(passage, text) >= _PARTLY or any(_share(claim, passage) >= _REPEATED for claim in claims)


def _shared_piece(whole: str, text: str) -> frozenset[Run]:
    words_, ours = terms(whole), set(_each_run(terms(text), _PIECE))
    places = [n for n, run in enumerate(_each_run(words_, _PIECE)) if run in ours]
    return frozenset(_each_run(words_[places[0] : places[-1] + _PIECE] if places else words_, 2))
