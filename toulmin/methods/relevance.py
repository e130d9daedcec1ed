"""Rates whether an answer answers its question."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import islice

from toulmin.data import BELOW, Answer, Answers, Citation, Claim, Passage, Relevance
from toulmin.steps import Cut, Program, Rate, Rating
from toulmin.text.language import guess_language, is_question, terms
from toulmin.text.overlap import has_most_of
from toulmin.text.wording import unmentioned, wording

# Least probabilities. Of train answers called "yes" one in ten misses a fact; between the two the reader cannot tell.
YES, PERHAPS = 0.99, 0.3
YES_IN_WORDS = 0.97  # that the words of a short answer are right
_MOST_NAMED = 3


def rated(program: Callable[[], Program[Answer]], question: str) -> Program[Answer]:
    """Adds the relevance or, without claims, notes on names that no passage mentions and on the nearest passages.

    "Yes" needs a sure reader, the search's first hit as the first source, each name of the question in a source, a
    statement, and no sources that disagree.
    """
    answer = yield from program()
    if not answer.claims:
        return replace(answer, notes=(*answer.notes, *_about_silence(question, answer.passages)))
    cuts = _cuts(answer)
    rating: Rating | None = yield Rate(question, cuts)
    if rating is None or not cuts:
        return answer
    best, absent = _score(answer, rating), _unmentioned(question, answer.cited)
    enough = YES_IN_WORDS if answer.style == "short" else YES
    is_open = bool(absent) or any(claim.support and claim.support.label == "disputed" for claim in answer.claims)
    is_stated = not all(is_question(claim.text) for claim in answer.claims)
    is_sure = best >= enough and is_stated and not is_open and answer.cited[:1] == answer.passages[:1]
    label: Answers = "yes" if is_sure else "perhaps" if best >= PERHAPS else "no"
    return replace(answer, relevance=Relevance(label, best, rating.reader, absent))


def _score(answer: Answer, rating: Rating) -> float:
    if answer.style == "short" and len(answer.claims) == 1:
        words = answer.claims[0].text
        agreeing = [s.confidence for s in rating.spans if s is not None and " ".join(s.quote.text.split()) == words]
        if agreeing:
            return max(agreeing)
    return max(rating.chances)


def _cuts(answer: Answer) -> tuple[Cut, ...]:
    """The cited pieces, neighbours as one."""
    pieces = (
        _piece(claim, cited, answer.passage(cited.passage)) for claim in answer.claims for cited in claim.citations
    )
    cuts: list[Cut] = []
    for piece in filter(None, pieces):
        joins = bool(cuts) and _are_neighbours(cuts[-1], piece)
        cuts.append(replace(piece, start=cuts.pop().start) if joins else piece)
    return tuple(dict.fromkeys(cuts))


def _piece(claim: Claim, cited: Citation, passage: Passage) -> Cut | None:
    if cited.quote:
        return Cut(passage, cited.quote.start, cited.quote.end)
    start = passage.text.find(claim.text)
    around = next((span for span in wording(passage.text).spans if span.start <= start < span.end), None)
    return Cut(passage, *around) if around else None


def _are_neighbours(first: Cut, second: Cut) -> bool:
    gap = first.passage.text[first.end : second.start]
    return first.passage == second.passage and first.end <= second.start and not gap.strip()


_SAMPLE, _ALIKE = 40, 0.6  # passages; the share of a question's words that only its own language has


def about_language(question: str, answer: Answer, sources: Iterable[Passage]) -> tuple[str, ...]:
    # A note if the question is in another language than the nearest passages or, without any, the first ones.
    passages = answer.passages[:_MOST_NAMED] or tuple(islice(sources, _SAMPLE))
    words = {term for word in question.split() if word.islower() for term in terms(word)}
    is_alike = answer.claims and has_most_of(" ".join(passage.text for passage in passages), words, _ALIKE, 1)
    asked = guess_language(question) if question and not is_alike else None
    written = Counter(name for passage in passages if asked and (name := guess_language(passage.text)))
    if asked in written or not written:
        return ()
    other = max(written, key=written.__getitem__)
    return (f"The question seems to be in {asked}, the sources in {other}; ask in {other} to find more.",)


def _about_silence(question: str, passages: tuple[Passage, ...]) -> tuple[str, ...]:
    if not passages:
        return ()
    absent = _unmentioned(question, passages)
    names = " or ".join(f"“{name}”" for name in absent)
    notes = (f"No passage that was found mentions {names}.",) if names else ()
    nearest = {passage.title: _headed(passage) for passage in reversed(passages) if passage.title}
    titles = [nearest[title] for title in dict.fromkeys(passage.title for passage in passages if passage.title)]
    return (*notes, f"Nearest: {'; '.join(titles[:_MOST_NAMED])}.") if titles else notes


def _headed(passage: Passage) -> str:
    *_, innermost = passage.source.headings.split(BELOW)
    return f"{passage.title} (“{innermost}”)" if innermost else passage.title


def _unmentioned(question: str, passages: tuple[Passage, ...]) -> tuple[str, ...]:
    return unmentioned(question, [text for passage in passages for text in (passage.title, passage.text)])
