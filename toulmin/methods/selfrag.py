"""Self-RAG: a model trained with reflection tokens decides when to search and rates its own text.

Asai et al. 2023 (arXiv 2310.11511), Algorithm 1 and section 3.3. Where the paper is silent:
* A segment ends at a request for another search. Text after [No Retrieval] in it cites nothing.
* Answers are compared by the mean score of their segments, complete ones with others.
* A segment without new claims does not count; an answer without further segments is complete.
* A short answer is the first claim of one segment.
* Without a decision on searching, passages are read: a claim without citations has no proof.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Literal, NamedTuple, get_args

from toulmin.data import Answer, Citation, Claim, Omission, Passage, Policy, Round, Style
from toulmin.errors import UsageError
from toulmin.methods import reporting
from toulmin.methods.direct import NO_MEMORY, judge_answer, show_draft, without_silence
from toulmin.parsing.citing import Draft
from toulmin.prompts import reflection as tokens
from toulmin.prompts.reflection import Mark, NextSegment, Piece, ReflectedText, weigh
from toulmin.prompts.replies import Reply
from toulmin.prompts.types import AnswerPrompt
from toulmin.steps import Generate, Program, search, together
from toulmin.text.language import first_of_each, sentences

# ---------------------------------------------------------------- the beam: segments, scores and paths


@dataclass(frozen=True, slots=True)
class Weights:
    """The weight of each critique; the generation probability's is 1 (section 3.3). Raises `UsageError`."""

    relevance: float
    support: float
    utility: float

    def __post_init__(self) -> None:
        for name in self.__slots__:
            if not 0 <= getattr(self, name) < float("inf"):
                raise UsageError(f"{name}: expected a weight of 0 or more, not {getattr(self, name)}.")

    def scores(self, reflection: ReflectedText, pieces: Sequence[Piece]) -> dict[str, float]:
        """The model's scores of a segment, by name, and their weighted sum `score`; a missing one is 0.

        The support of several sentences is their mean (the released code: the first).
        """
        relevance, utility = reflection.first("relevance"), reflection.first("utility")
        supports = [piece.support.worth for piece in pieces if piece.support is not None]
        values = {
            "likelihood": reflection.likelihood,
            "relevance": relevance.worth if relevance else None,
            "support": fmean(supports) if supports else None,
            "utility": utility.worth if utility else None,
        }
        known = {name: value for name, value in values.items() if value is not None}
        return known | {"score": sum(getattr(self, name, 1.0) * value for name, value in known.items())}


class Segment(NamedTuple):
    """One continuation; `raw` is the model's text up to its end, `reflection` the whole.

    `n` counts from 1, `passage` is None from memory, `refused` is the reason to reject it. `is_silenced`: the model or
    a filter refused to write.
    """

    n: int
    passage: Passage | None
    raw: str
    claims: tuple[Claim, ...]
    scores: Mapping[str, float]
    goes_on: bool
    reflection: ReflectedText
    invalid: int = 0
    refused: str = ""
    is_silenced: bool = False

    def as_round(self, answer: Path) -> Round:
        chosen = any(segment is self for segment in answer.segments)
        words = " ".join(claim.text for claim in self.claims)
        read = (self.passage.id,) if self.passage else ()
        entry = Round("claim", self.n, role="main", read=read, text=words or None, scores=self.scores, chosen=chosen)
        if chosen:
            return replace(entry, kept=read)
        why = self.refused or "another one scored higher"
        return replace(entry, dropped=(Omission(words, why),) if words else ())


@dataclass(frozen=True, slots=True)
class Path:
    """An answer so far; `is_over` if it is complete."""

    segments: tuple[Segment, ...] = ()
    searches: bool = True
    is_over: bool = False

    @property
    def score(self) -> float:
        """The mean score of its segments, 0 without any.

        The released code multiplies, so that a score below 0 reverses the order.
        """
        return fmean(segment.scores["score"] for segment in self.segments) if self.segments else 0.0

    @property
    def raw(self) -> str:
        return "".join(segment.raw for segment in self.segments)

    @property
    def claims(self) -> tuple[Claim, ...]:
        return tuple(claim for segment in self.segments for claim in segment.claims)


def best(paths: Iterable[Path], width: int) -> tuple[Path, ...]:
    """The `width` best answers, the first of equals first, without repetitions."""
    ranked = sorted(paths, key=lambda path: -path.score)
    distinct = first_of_each(ranked, lambda path: tuple(reporting.wording_of(claim.text) for claim in path.claims))
    return tuple(distinct[:width])


def new_draft(pieces: Sequence[Piece], passage: Passage | None, style: Style, before: Sequence[Claim]) -> Draft:
    """The new claims of a segment (a short answer: the first); those written from the passage cite it."""
    cited = (Citation(passage.id),) if passage else ()
    drafts = [AnswerPrompt("", (), style).read(piece.words) for piece in pieces]
    claims = [
        replace(claim, citations=cited if piece.grounded else ())
        for piece, draft in zip(pieces, drafts, strict=True)
        for claim in draft.claims
    ]
    new = reporting.new_claims(claims, before)
    return Draft(tuple(new[:1] if style == "short" else new), sum(draft.invalid for draft in drafts))


def drop_cut_sentence(pieces: Sequence[Piece]) -> tuple[Piece, ...]:
    """Drops the unfinished sentence of a cut-off reply, unless it is the only one."""
    if not pieces or pieces[-1].support is not None:
        return tuple(pieces)
    *before, last = pieces
    spans = list(sentences(last.words))
    kept = last.words[: spans[-1].start] if spans else ""
    if kept.strip():
        return (*before, replace(last, words=kept))
    return tuple(before) or (last,)


# ---------------------------------------------------------------- the method


Retrieve = Literal["adaptive", "always", "never"]

FROM_MEMORY = "The model answered from memory, without a search; nothing proves what it says."
NO_TOKENS = (
    "The model wrote no reflection tokens, so it rated no passage: the likeliest of its continuations was taken, or the"
    " first where the server gave no probabilities. Self-RAG needs a model trained with such tokens."
)
NO_ODDS = "The server gave no log-probabilities of reflection tokens; each token that was written counted as certain."

DECISION = 25  # tokens; the released code looks for the wish to search in these alone


def self_rag(
    question: str,
    *,
    style: Style = "long",
    k: int = 5,
    max_segments: int = 7,
    beam: int = 2,
    retrieve: Retrieve = "adaptive",
    threshold: float = 0.2,
    relevance: float = 1.0,
    support: float = 1.0,
    utility: float = 0.5,
    hard: bool = False,
    requery: bool = False,
    segment_tokens: int = 300,
    logprobs: int = 20,
    unsupported: Policy = "keep",
) -> Program[Answer]:
    """Writes segment by segment, each from the passage that the model itself rates best.

    "adaptive" searches if the probability of [Retrieval] exceeds `threshold`. A segment's score is its generation
    probability + `relevance` x ISREL + `support` x ISSUP + `utility` x ISUSE; the `beam` best answers go on. `requery`
    searches for each segment (Algorithm 1), not once as the released code. `docs/methods.md` explains the other
    options. At most 1 + k + (`max_segments` - 1) x `beam` x k model calls. Raises `UsageError`.
    """
    reporting.check_whole(
        1, k=k, max_segments=max_segments, beam=beam, segment_tokens=segment_tokens, logprobs=logprobs
    )
    reporting.check_choice("value of retrieve", retrieve, get_args(Retrieve))
    if not 0 <= threshold <= 1:
        raise UsageError(f"threshold: expected a probability from 0 to 1, not {threshold}.")
    weights = Weights(relevance, support, utility)
    task = _Task(question, style, k, retrieve, threshold, weights, hard, requery, segment_tokens, logprobs)
    state = yield from _decide_search(task, _State(Answer(question, style, "self-rag", "abstained")))
    for n in range(1, max_segments + 1):
        if all(path.is_over for path in state.paths):
            break
        state = yield from _extend_paths(task, state, n, beam)
        yield from show_draft(state.answer)
    ended = yield from judge_answer(_with_notes(state), unsupported)
    return ended if state.searches else without_silence(ended)


class _Task(NamedTuple):
    question: str
    style: Style
    k: int
    retrieve: Retrieve
    threshold: float
    weights: Weights
    hard: bool
    requery: bool
    segment_tokens: int
    logprobs: int

    def query(self, path: Path) -> str:
        if not (self.requery and path.segments):
            return self.question
        return " ".join([self.question, *(claim.text for claim in path.segments[-1].claims)])

    def end(self, reflection: ReflectedText) -> Mark | None:
        """The mark that requests a search and so ends the segment."""
        return next((mark for mark in reflection.marks if mark.kind == "retrieval" and self._asks(mark)), None)

    def _asks(self, mark: Mark) -> bool:
        if mark.token == tokens.CONTINUE:
            return False
        if mark.token == tokens.MEMORY:
            return self.retrieve == "always" or (self.retrieve == "adaptive" and mark.worth > self.threshold)
        return True


@dataclass(frozen=True, slots=True)
class _State:
    """`searches` are passages by query, `opening` is the model's text on the wish to search."""

    answer: Answer
    paths: tuple[Path, ...] = ()
    log: tuple[Round | Segment, ...] = ()
    searches: tuple[tuple[str, tuple[Passage, ...]], ...] = ()
    opening: tuple[ReflectedText, ...] = ()

    def finding(self, query: str, passages: tuple[Passage, ...]) -> _State:
        read = tuple({passage.id: passage for passage in (*self.answer.passages, *passages)}.values())
        entry = Round("search", len(self.searches) + 1, read=reporting.ids(passages), queries=(query,))
        searches = (*self.searches, (query, passages))
        answer = replace(self.answer, passages=read)
        return replace(self, answer=answer, log=(*self.log, entry), searches=searches)

    def on(self, paths: tuple[Path, ...]) -> _State:
        first = paths[0]
        rounds = tuple(entry if isinstance(entry, Round) else entry.as_round(first) for entry in self.log)
        invalid = sum(segment.invalid for segment in first.segments)  # all marks, since no labels were offered
        answer = reporting.with_claims(self.answer, first.claims, rounds=rounds, invalid_citations=invalid)
        return replace(self, paths=paths, answer=answer)


# ---------------------------------------------------------------- the wish to search


def _decide_search(task: _Task, state: _State) -> Program[_State]:
    if task.retrieve != "adaptive":
        return state.on((Path(searches=task.retrieve == "always"),))
    _, reflection = yield from _ask(task, NextSegment(task.question, style=task.style), DECISION)
    wish = reflection.first("retrieval")
    searches = wish is None or wish.worth > task.threshold
    scores = None if wish is None else {"retrieval": wish.worth}
    assess_round = Round("assess", role="main", text=reflection.text.strip() or None, scores=scores, chosen=searches)
    return replace(state, log=(assess_round,), opening=(reflection,)).on((Path(searches=searches),))


def _ask(task: _Task, prompt: NextSegment, most: int) -> Program[tuple[Reply, ReflectedText]]:
    stop = (tokens.PARAGRAPH,)
    reply: Reply = yield Generate(prompt, temperature=0.0, max_tokens=most, stop=stop, logprobs=task.logprobs)
    return reply, weigh(prompt.read(reply.text) if reply.value is None else reply.value, reply.logprobs)


# ---------------------------------------------------------------- segments


def _extend_paths(task: _Task, state: _State, n: int, beam: int) -> Program[_State]:
    live = [path for path in state.paths if not path.is_over]
    state = yield from _search_next(task, state, live)
    results = dict(state.searches)
    asked = [(path, item) for path in live for item in (results[task.query(path)] if path.searches else (None,))]
    written = yield from together([_write_segment(task, path, passage, n) for path, passage in asked])
    searches = task.retrieve != "never"
    segments = [(path, segment) for (path, _), segment in zip(asked, written, strict=True)]
    fit = [(path, segment) for path, segment in segments if segment.claims and not segment.refused]
    grown = [Path((*path.segments, segment), searches, is_over=not segment.goes_on) for path, segment in fit]
    continued = {id(path) for path, _ in fit}
    complete = [replace(path, is_over=True) for path in state.paths if id(path) not in continued]
    return replace(state, log=(*state.log, *written)).on(best([*complete, *grown], beam))


def _search_next(task: _Task, state: _State, paths: Sequence[Path]) -> Program[_State]:
    wanted = dict.fromkeys(task.query(path) for path in paths if path.searches)
    queries = [query for query in wanted if query not in dict(state.searches)]
    results = yield from together([search(query, task.k) for query in queries])
    for query, hits in zip(queries, results, strict=True):
        state = state.finding(query, tuple({hit.passage.id: hit.passage for hit in hits}.values()))
    return state


def _write_segment(task: _Task, path: Path, passage: Passage | None, n: int) -> Program[Segment]:
    prompt = NextSegment(task.question, path.raw, passage, task.style, from_memory=passage is None)
    reply, whole_reply = yield from _ask(task, prompt, task.segment_tokens)
    end = task.end(whole_reply)
    reflection = whole_reply.before(end)
    pieces = reflection.pieces(grounded=passage is not None)
    if reply.finish == "length" and end is None:
        pieces = drop_cut_sentence(pieces)
    draft = new_draft(pieces, passage, task.style, path.claims)
    is_denied = any(piece.support is not None and piece.support.token == tokens.UNSUPPORTED for piece in pieces)
    refused = "the model calls it not supported" if task.hard and is_denied else ""
    scores = task.weights.scores(reflection, pieces)
    goes_on = end is not None and task.style != "short"
    is_silenced = reply.finish in ("refused", "filtered")
    return Segment(
        n, passage, reflection.text, draft.claims, scores, goes_on, whole_reply, draft.invalid, refused, is_silenced
    )


# ---------------------------------------------------------------- the end


def _with_notes(state: _State) -> Answer:
    answer = state.answer
    notes = [] if state.searches else [FROM_MEMORY if answer.claims else NO_MEMORY]
    segments = [entry for entry in state.log if isinstance(entry, Segment)]
    reflections = [*state.opening, *(segment.reflection for segment in segments)]
    if any(segment.is_silenced for segment in segments) and not answer.claims:
        notes.append(reporting.REFUSED)
    elif answer.passages and not any(reflection.marks or reflection.opening for reflection in reflections):
        notes.append(NO_TOKENS)
    elif any(not mark.odds for reflection in reflections for mark in reflection.marks):
        notes.append(NO_ODDS)
    if answer.claims and not state.paths[0].is_over:
        notes.append(f"max_segments ended the answer after {len(state.paths[0].segments)}; allow more.")
    return reporting.add_notes(answer, *notes)
