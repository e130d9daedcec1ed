"""The product's own method: repairs only the failing claims of a draft, at no cost if all hold.

It combines `vanilla`'s draft, VTG's simplification, memory check and search, A2R's feedback, and CaLM's contrast.
`training/best_thresholds.py` chose its numbers.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

from toulmin.data import Answer, Claim, Omission, Passage, Policy, Round, Section, Style
from toulmin.errors import ModelError, UsageError
from toulmin.methods import reporting
from toulmin.methods.best_state import CITED_AGAIN, REFUTED, Judgement, State, Task, judge_claims
from toulmin.methods.direct import without_silence
from toulmin.methods.evidence import distinct, evidence
from toulmin.prompts.types import Example, Paragraph, Preset, Refine
from toulmin.steps import Cut, Program, exchange, show, together
from toulmin.verify import weigh

# ---------------------------------------------------------------- the verifier decides about doubtful claims


CORROBORATED = 0.25  # the least share, exclusive, of a claim's word pairs in the verifier's answer, as in `calm`
NOT_CORROBORATED = "the judge is unsure, and the verifier's answer from the cited passages differs"


def contrast_doubtful(task: Task, state: State, n: int) -> Program[State]:
    """Keeps a doubtful claim only if the verifier corroborates it; one call for all, once for each claim.

    The judge's label stays: the verifier makes no claim supported. Its failure becomes a note.
    """
    undecided = [judgement for judgement in state.claims if judgement.corroborated is None]
    doubtful = [judgement for judgement in undecided if task.doubts(judgement.claim)]
    if not doubtful:
        return state
    from toulmin.methods.contrast import passages_cited_by

    asked = task.answering(passages_cited_by([judgement.claim for judgement in doubtful], state.answer.passages))
    try:
        done = yield from exchange(asked, "verifier", sample=task.draws.next(asked, "verifier"))
    except ModelError as error:
        return state.noting(f"{error} Doubtful claims were not contrasted.")
    others = [claim.text for claim in done.value.claims]
    decided = {id(judgement): _decide(judgement, others, task) for judgement in doubtful}
    entry = reporting.draft_round(done, task.style, kind="contrast", n=n, role="verifier")
    kept = tuple(judgement.claim.text for judgement in decided.values() if judgement.holds)
    weak = (Omission(judgement.claim.text, judgement.why) for judgement in decided.values() if not judgement.holds)
    entry = replace(entry, kept=kept, dropped=(*weak, *entry.dropped))
    claims = [decided.get(id(judgement), judgement) for judgement in state.claims]
    state = state.recording(entry, invalid=done.value.invalid).having(claims)
    yield from show(task.present(state))
    return state


def _decide(judgement: Judgement, others: Sequence[str], task: Task) -> Judgement:
    from toulmin.methods.contrast import CORROBORATION

    if others and CORROBORATION[task.style](judgement.claim.text, others) > CORROBORATED:
        return replace(judgement, holds=True, corroborated=True)
    return replace(judgement, holds=False, why=NOT_CORROBORATED, corroborated=False)


# ---------------------------------------------------------------- evidence for failing claims, then their rewriting


AGAIN = "rewritten, but the new sentence is not supported"
ADDED = "added: a passage that was read supports it"


def with_evidence(task: Task, state: State, n: int) -> Program[State]:
    lead = f"{task.topic} " if task.style in ("list", "short") else ""  # an entity alone asks nothing
    queries = [f"{lead}{judgement.claim.text}" for judgement in state.failing]
    state = state.searching((yield from evidence(queries, task.per_query)), n + 1)
    failing = [judgement.claim for judgement in state.failing]
    judged = iter((yield from judge_claims(task, failing, state.answer.passages)))
    after = []
    for judgement in state.claims:
        now = judgement if judgement.holds else next(judged)
        # A claim that failed by its citations needs new ones.
        after.append(now if now.has_new_citations else judgement)
    return state.recording(*new_citation_rounds(after, state.claims)).having(after)


def new_citation_rounds(claims: Sequence[Judgement], before: Sequence[Judgement] = ()) -> list[Round]:
    return [
        judgement.repair_round(n, CITED_AGAIN, [judgement.claim])
        for n, judgement in enumerate(claims, start=1)
        if judgement.has_new_citations and judgement not in before
    ]


def rewrite_failing(task: Task, state: State, n: int) -> Program[State]:
    """Has the model rewrite the failing claims; those that hold never change. New ones are judged like a draft."""
    passages = state.answer.passages
    asked = yield from _refine_prompt(task, state, passages)
    done = yield from exchange(asked, "rewriter", sample=task.draws.next(asked, "rewriter"))
    known = {reporting.wording_of(judgement.claim.text): judgement.claim for judgement in state.failing}
    # An unchanged sentence gets no citation from the model: only `judge_claims` adds one.
    new = [known.get(reporting.wording_of(c.text), c) for c in reporting.new_claims(done.value.claims, state.holding)]
    judged = yield from judge_claims(task, new, passages)
    refine_round = reporting.draft_round(done, task.style, kind="refine", n=n, role="rewriter")
    state = replace(state.recording(refine_round, invalid=done.value.invalid), unsaid=reporting.unsaid(done))
    return _place_new(task, state, judged)


def _refine_prompt(task: Task, state: State, passages: tuple[Passage, ...]) -> Program[Refine]:
    from toulmin.methods.assessing import aims, assess
    from toulmin.methods.feedback import PassageNumbers, compose_feedback

    claims = tuple(judgement.claim for judgement in state.claims)
    goals = aims(task.style, None, None, None)
    assessed = yield from assess(claims, passages, task.topic, task.style)
    feedback = compose_feedback(goals.assessment(assessed, task.topic), goals, passages, task.topic, task.style)
    doubts = _doubts(state, PassageNumbers.of(passages, task.style).noun)
    return Refine(task.topic, passages, claims, feedback | doubts, task.style)


def _doubts(state: State, noun: str) -> dict[str, str]:
    remedy = "Replace it by what the passages say, or remove it."
    why = f"is not confirmed by another reading of the passages that it cites. {remedy}"
    remarks = [f"{noun} {n} {why}" for n, each in enumerate(state.claims, start=1) if each.corroborated is False]
    return {"doubts": " ".join(remarks)} if remarks else {}


def _place_new(task: Task, state: State, new: Sequence[Judgement]) -> State:
    """Replaces each claim by its rewritings and appends other new claims; `keep` loses no claim."""
    failing = state.failing
    texts = [judgement.claim.text for judgement in failing]
    homes = [reporting.rewrites(judgement.claim.text, texts) for judgement in new]
    claims: list[Judgement] = []
    rounds, gone = [], []
    for n, old in enumerate(state.claims, start=1):
        if old.holds:
            claims.append(old)
            continue
        successors = [each for each, home in zip(new, homes, strict=True) if home is not None and failing[home] is old]
        if not successors and task.policy == "keep":
            claims.append(replace(old, given_up=True))
            continue
        claims += successors
        holding = [judgement.claim for judgement in successors if judgement.holds]
        way = reporting.REWRITTEN if holding else AGAIN if successors else f"left out: {old.fault}"
        rounds.append(old.repair_round(n, f"{way} ({old.why})", holding))
        gone += [] if successors else [old]
    added = [judgement for judgement, home in zip(new, homes, strict=True) if home is None]
    end = len(state.claims) + 1
    holding = [judgement.claim for judgement in added if judgement.holds]
    rounds += [Round("repair", end, read=c.cited, text=ADDED, kept=(c.text,), chosen=True) for c in holding]
    return state.recording(*rounds).having([*claims, *added], gone)


# ---------------------------------------------------------------- quotes, before and beside a small model's draft


READ = 230  # words of the blocks that the draft reads: some 350 tokens
# A small model answers yes to what the sources deny, in words that a judge takes for theirs.
_YES_OR_NO = re.compile(r"(?i)\W*(?:is|are|was|were|do|does|did|can|could|may|must|should|will|would|has|have|had)\b")


def quote(task: Task, state: State) -> Program[State]:
    """Has the rewriter, the embedded writer, quote the answer, and choose the blocks from which the model drafts."""
    asked = task.answering(state.answer.passages)
    done = yield from exchange(asked, "rewriter")
    quotes = yield from judge_claims(task, done.value.claims, asked.passages)
    state = replace(state.recording(reporting.draft_round(done, task.style, role="rewriter")), quotes=quotes)
    yield from show(task.present(state.having(quotes)))
    wide = yield from exchange(replace(asked, words=READ), "rewriter")
    return replace(state, blocks=_blocks(wide.value.claims, asked.passages))


def _blocks(quotes: Sequence[Claim], passages: Sequence[Passage]) -> tuple[Passage, ...]:
    """The quoted passages, each from its first quote to its last."""
    spans: dict[str, list[int]] = {}
    for citation in (citation for claim in quotes for citation in claim.citations):
        if citation.quote:
            spans.setdefault(citation.passage, []).extend((citation.quote.start, citation.quote.end))
    return tuple(Cut(p, min(at), max(at)).alone() for p in passages if (at := spans.get(p.id)))


def _draft_beside_quotes(task: Task, state: State) -> Program[State]:
    """The draft's claims that hold, then the quotes; these alone for a question of yes or no, or if the model fails."""
    if state.quotes and _YES_OR_NO.match(task.question):
        return state.beside_quotes()
    try:
        return (yield from _write_draft(task, state, 1)).beside_quotes()
    except ModelError as error:
        if not state.quotes:
            raise
        return state.noting(f"{error} The answer quotes the sources.").beside_quotes()


# ---------------------------------------------------------------- reports: an outline, then sections side by side


PARAGRAPHS = 10  # of an outline, as in `plan`; its round lists the others as dropped


def write_report(task: Task, answer: Answer) -> Program[Answer]:
    """Searches for each paragraph of an outline and writes its section, all side by side.

    A failure of the model becomes a note, or is raised if no section has a claim.
    """
    from toulmin.methods.plan_questions import make_outline

    plan = yield from make_outline(task.question, "other", answer.passages, PARAGRAPHS)
    start = reporting.add_rounds(answer, *plan.rounds)
    parts: dict[int, Answer] = {}
    failures: list[ModelError] = []

    def with_part(n: int, state: State) -> Answer:
        parts[n] = state.draft
        return _join_parts(start, plan.paragraphs, parts)

    def section(n: int) -> Program[None]:
        section_task = replace(task, style="long", paragraph=plan.paragraphs[n], present=partial(with_part, n))
        results = yield from evidence([section_task.topic], task.k)
        empty = State(Answer(section_task.topic, "long", "best", "abstained"))
        state = empty.searching(results, n + 1).reading(start.passages)
        try:
            state = yield from compose(section_task, state)
        except ModelError as error:
            failures.append(error)
            state = state.noting(f"{error} This section is missing.")
        yield from show(with_part(n, state))

    yield from together([section(n) for n in range(len(plan.paragraphs))])
    report = _join_parts(start, plan.paragraphs, parts)
    if failures and not report.claims:
        raise failures[0]
    return report


def _join_parts(start: Answer, paragraphs: Sequence[Paragraph], parts: Mapping[int, Answer]) -> Answer:
    """A repeated sentence stays in the first section that has it."""
    titled = [(paragraphs[n].title, parts[n]) for n in sorted(parts)]
    claims = reporting.new_claims([replace(claim, section=title) for title, part in titled for claim in part.claims])
    silence = () if claims else (reporting.REFUSED, reporting.EMPTY)
    notes = [note if note in silence else f"{title}: {note}" for title, part in titled for note in part.notes]
    answers = [part for _, part in titled]
    whole = reporting.with_claims(
        start,
        claims,
        passages=distinct((*start.passages, *(passage for part in answers for passage in part.passages))),
        sections=tuple(Section(p.title, p.description) for p in paragraphs),
        rounds=(*start.rounds, *(step for part in answers for step in part.rounds)),
        invalid_citations=sum(part.invalid_citations for part in answers),
        notes=tuple(dict.fromkeys(notes)),
    )
    return reporting.in_sections(whole, [paragraph.title for paragraph in paragraphs])


# ---------------------------------------------------------------- the method


def best(
    question: str,
    *,
    style: Style = "long",
    k: int = 10,
    draft_k: int | None = None,
    max_rounds: int = 3,
    per_query: int = 2,
    contrast: bool = False,
    doubt_from: float = 0.35,
    doubt_to: float = 0.65,
    prompt: Preset = "cited",
    examples: tuple[Example, ...] = (),
    unsupported: Policy = "keep",
    quotes: bool = False,
) -> Program[Answer]:
    """Drafts, keeps the claims that the judge supports and has the rewriter correct the others.

    The draft reads the first `draft_k` of `k` passages (None: all). One model call if all claims hold, else at most
    `max_rounds` more, and with `contrast` one of the verifier for each draft. Claims that still fail are removed with a
    note, but "flag" keeps unsure ones and "keep" all. The verifier decides about scores from `doubt_from` up to, but
    not including, `doubt_to`; it makes no claim supported. With `quotes` the rewriter quotes first, and rewrites
    nothing. `docs/methods.md` lists the steps. Raises `UsageError` for invalid values.
    """
    reporting.check_whole(1, k=k, per_query=per_query, draft_k=k if draft_k is None else draft_k)
    reporting.check_whole(0, max_rounds=max_rounds)
    if not 0 <= doubt_from <= doubt_to <= 1:
        raise UsageError(f"doubt_from and doubt_to: expected 0 <= from <= to <= 1, not {doubt_from} and {doubt_to}.")
    doubt = (doubt_from, doubt_to) if contrast else (0.0, 0.0)  # an empty range: no verifier is asked
    task = Task(question, style, k, draft_k, max_rounds, per_query, *doubt, unsupported, prompt, examples, quotes)
    answer = yield from reporting.start_answer(question, "best", style, k)
    if not answer.passages:
        return reporting.conclude(answer, (), unsupported)
    if style == "report":
        answer = yield from weigh(write_report(task, answer))
    else:
        answer = (yield from weigh(compose(task, State(answer)))).draft
    ended = reporting.conclude(answer, answer.claims, unsupported, verified=False)
    return without_silence(ended) if any(REFUTED in note for note in ended.notes) else ended


def compose(task: Task, state: State) -> Program[State]:
    """Drafts and repairs in up to `max_rounds` rounds, showing each stage.

    If the model fails at a repair, claims that hold stay, with a note; without any, its error is raised.
    """
    if task.quotes and task.style != "report":
        return (yield from _draft_beside_quotes(task, (yield from quote(task, state))))
    state = yield from _write_draft(task, state, 1)
    for n in range(1, task.max_rounds + 1):
        try:
            following = yield from _further(task, state, n)
        except ModelError as error:
            if not state.holding:
                raise
            state = state.noting(f"{error} Failing claims could not be rewritten.")
            break
        if following is None:
            break
        state = following
    return state.finish(task)


def _further(task: Task, state: State, n: int) -> Program[State | None]:
    """The state after round `n`; None at the end.

    A model without an answer is asked once more, with more passages. A claim unsure after one rewriting stays so.
    """
    if any(n == 1 or not task.tolerates(judgement) for judgement in state.failing):
        return (yield from _repair_failing(task, state, n))
    if state.claims or n > 1:
        return None
    more = yield from _read_more(task, state, n)
    if more.answer.passages == state.answer.passages:
        return more if more.answer.notes != state.answer.notes else None
    return (yield from _write_draft(task, more, n + 1, "rewriter"))


def _write_draft(task: Task, state: State, n: int, role: str = "main") -> Program[State]:
    passages = state.answer.passages
    read = (state.blocks or passages[: task.draft_k]) if n == 1 else passages
    asked = task.drafting(read)

    def listener(text: str) -> Program[None]:
        begun = asked.read_begun(text)
        judged = yield from judge_claims(task, begun.claims if begun else (), passages)
        if any(judgement.holds for judgement in judged):
            yield from show(task.present(state.having(judged)))

    done = yield from exchange(asked, role, listener=listener)
    entry = reporting.draft_round(done, task.style, n=n, role=role)
    answer = reporting.add_draft(state.answer, done.value.claims, entry, done.value.invalid)
    state = replace(state, answer=answer, claims=(), unsaid=reporting.unsaid(done))
    if not task.quotes:  # which are checked, and so stand until the draft is
        yield from show(task.present(state))
    claims = yield from judge_claims(task, done.value.claims, passages)
    if claims:
        verdicts = reporting.verdicts_round([judgement.claim for judgement in claims], n)
        state = state.recording(verdicts, *new_citation_rounds(claims))
    state = state.having(claims)
    yield from show(task.present(state))
    return (yield from contrast_doubtful(task, state, n))


def _repair_failing(task: Task, state: State, n: int) -> Program[State]:
    state = yield from with_evidence(task, state, n)
    yield from show(task.present(state))
    if state.failing:
        state = state if state.holding else (yield from _read_more(task, state, n))
        state = yield from rewrite_failing(task, state, n)
        yield from show(task.present(state))
    return (yield from contrast_doubtful(task, state, n))


def _read_more(task: Task, state: State, n: int) -> Program[State]:
    (result,) = yield from evidence([task.topic], task.k * (n + 1))
    read = {passage.id for passage in state.answer.passages}
    unread = tuple(passage for passage in result.passages if passage.id not in read)[: task.k]
    return state.searching([replace(result, passages=unread)], n + 1)
