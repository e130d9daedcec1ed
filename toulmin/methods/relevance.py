"""Whether an answer answers: a verdict beside "is it in the sources", by a reader that can say so (specification)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from toulmin.data import Answer, Answers, Claim, Passage, Relevance
from toulmin.steps import Cut, Program, Rate, Rating
from toulmin.text.names import unmentioned

YES, PARTLY = 0.6, 0.3  # the least chance that is called so
_MOST_NAMED = 3


def rated(program: Callable[[], Program[Answer]], question: str) -> Program[Answer]:
    """The program's answer with its relevance; one without claims says what no passage speaks of, and what is nearest.

    What the question names and no cited passage mentions makes of "yes" a "partly".
    """
    answer = yield from program()
    if not answer.claims:
        return replace(answer, notes=(*answer.notes, *_about_silence(question, answer.passages)))
    cuts = _cuts(answer)
    rating: Rating | None = yield Rate(question, cuts)
    if rating is None or not cuts:
        return answer
    best, absent = max(rating.chances), _unmentioned(question, answer.cited)
    label: Answers = "yes" if best >= YES and not absent else "partly" if best >= PARTLY else "no"
    return replace(answer, relevance=Relevance(label, best, rating.reader, absent))


def _cuts(answer: Answer) -> tuple[Cut, ...]:
    """The quoted pieces, neighbours as one."""
    passages = {passage.id: passage for passage in answer.passages}
    cuts: list[Cut] = []
    for passage, start, end in (place for claim in answer.claims for place in _quotes(claim)):
        last = cuts[-1] if cuts else None
        if (
            last
            and last.passage.id == passage
            and not last.passage.text[last.end : start].strip()
            and start >= last.end
        ):
            cuts[-1] = Cut(last.passage, last.start, end)
        else:
            cuts.append(Cut(passages[passage], start, end))
    return tuple(dict.fromkeys(cuts))


def _quotes(claim: Claim) -> list[tuple[str, int, int]]:
    return [(cited.passage, cited.quote.start, cited.quote.end) for cited in claim.citations if cited.quote]


def _about_silence(question: str, passages: tuple[Passage, ...]) -> tuple[str, ...]:
    if not passages:
        return ()
    absent = _unmentioned(question, passages)
    notes = (f"Nothing that was found speaks of {_listed(absent)}.",) if absent else ()
    nearest = dict.fromkeys(passage.title for passage in passages if passage.title)
    return (*notes, f"Nearest: {'; '.join(list(nearest)[:_MOST_NAMED])}.") if nearest else notes


def _unmentioned(question: str, passages: tuple[Passage, ...]) -> tuple[str, ...]:
    return unmentioned(question, (f"{passage.title} {passage.text}" for passage in passages))


def _listed(names: tuple[str, ...]) -> str:
    return " or ".join(f"“{name}”" for name in names)
