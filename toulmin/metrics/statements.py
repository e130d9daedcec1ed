"""An answer's text, and its statements with the passages they cite, as metrics read them.

The profile `Honest` cuts an answer into claims, `Alce` as ALCE's evaluator does (Gao et al. 2023).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple, Protocol

from toulmin.data import Answer, Claim, Passage, Source, Status, Style, citation_numbers
from toulmin.datasets.item import Item
from toulmin.metrics.answered import ScoringItem
from toulmin.parsing.abstaining import is_abstention
from toulmin.parsing.citing import read_draft, without_marks
from toulmin.steps import Pair

# ---------------------------------------------------------------- texts with marks, read as claims


METHOD = "given"  # the answer's `method`
NOTHING_WRITTEN = "The text is empty, which nobody declared an abstention."
_END = "<|im_end|>"  # a chat model's stop token, which ALCE's result files may hold


def output_to_score(item: Item, output: str, docs: tuple[Passage, ...], final: str | None = None) -> ScoringItem:
    """Reads an item's output, or `final`, into claims; marks of every form count `docs` from 1.

    Abstaining sentences are no claims; a text of nothing else is an abstention. Items without a style are long. Marks
    without a passage count in `invalid_citations`.
    """
    style = item.style or "long"
    text = (output if final is None else final).replace(_END, "")
    draft = read_draft(text, docs, style, lambda sentence: is_abstention(sentence.words, cites=sentence.cites))
    status: Status = "answered" if draft.claims else "abstained"
    answer = Answer(
        item.question,
        style,
        METHOD,
        status,
        draft.claims,
        tuple({passage.id: passage for passage in item.passages or docs}.values()),
        invalid_citations=draft.invalid,
        notes=() if text.strip() else (NOTHING_WRITTEN,),
        id=item.id,
    )
    return ScoringItem(item, answer, output, docs, final)


# ---------------------------------------------------------------- statements


Flaw = Literal["uncited", "out_of_range"]
Absence = Literal["empty", "abstained", "failed"]
# Styles whose claims are not sentences: a judge needs the question with them.
_NAMES_ONLY: frozenset[Style] = frozenset(("list", "short"))


class CitedPassage(NamedTuple):
    """`passage` is None if number `n` has none; `premise` is what the judge reads, if that differs."""

    n: int
    passage: Passage | None
    premise: Passage | None = None


@dataclass(frozen=True, slots=True)
class Statement:
    """With a `flaw` a statement is unsupported and not judged. `question` is set if the text is no sentence."""

    text: str
    citations: tuple[CitedPassage, ...] = ()
    question: str | None = None
    flaw: Flaw | None = None

    def pair(self, citations: Sequence[CitedPassage]) -> Pair:
        premises = [p for cited in citations if (p := cited.premise or cited.passage) is not None]
        return Pair(tuple(premises), self.text, self.question)

    def without(self, cited: CitedPassage) -> Pair:
        """The pair of the other citations; of equal ones the first is removed, as in ALCE."""
        others = list(self.citations)
        others.remove(cited)
        return self.pair(others)


class OutputStatements(NamedTuple):
    """`whole` is the text without citations, the premise of gold claims (None: not judged). `invalid` counts citations
    without a passage, which are wrong. With an `absence` there are no citation metrics.
    """

    statements: tuple[Statement, ...] = ()
    whole: str | None = None
    invalid: int = 0
    absence: Absence | None = None


class Profile(Protocol):
    def statements(self, answered: ScoringItem) -> OutputStatements:
        """Those of one answer."""


class Honest:
    """Claims with all of their citations.

    An abstention has no citation metrics and entails no gold claim. An empty text without an abstention scores 0.
    """

    def statements(self, answered: ScoringItem) -> OutputStatements:
        answer = answered.answer
        if answered.is_failed:
            return OutputStatements(absence="failed")
        if answer.status == "abstained":
            return OutputStatements(absence=None if NOTHING_WRITTEN in answer.notes else "abstained")
        numbers = citation_numbers(answer.claims)
        passages = {passage.id: passage for passage in reversed(answer.passages)}
        question = answer.question if answer.style in _NAMES_ONLY else None
        cited = [tuple(CitedPassage(numbers[id], passages[id]) for id in claim.cited) for claim in answer.claims]
        statements = tuple(
            Statement(claim.text, citations, question, None if citations else "uncited")
            for claim, citations in zip(answer.claims, cited, strict=True)
        )
        return OutputStatements(statements, whole_text(answer), answer.invalid_citations)


def whole_text(answer: Answer) -> str:
    """Without citations: entities between commas, one paragraph a section."""
    if answer.style == "list":
        return ", ".join(claim.text for claim in answer.claims)
    paragraphs: list[list[Claim]] = []
    for claim in answer.claims:
        if not paragraphs or paragraphs[-1][-1].section != claim.section:
            paragraphs.append([])
        paragraphs[-1].append(claim)
    return "\n".join(" ".join(claim.text for claim in paragraph) for paragraph in paragraphs)


# ---------------------------------------------------------------- statements as ALCE's evaluator reads them


MOST_CITATIONS = 3
_NUMBER = re.compile(r"\[(\d+)")
_LARGEST = 2**53 - 1  # the largest integer that JSON holds exactly; above any number of passages


class Counting(NamedTuple):
    """ALCE's options; as a string the profile's name."""

    cot: bool = False
    at_most: int = MOST_CITATIONS

    def __str__(self) -> str:
        most = "" if self.at_most == MOST_CITATIONS else f" --at-most-citations {self.at_most}"
        return f"alce{' --cot' * self.cot}{most}"


@dataclass(frozen=True, slots=True)
class Alce:
    """Reads `ScoringItem.output`, whose `[n]` means `docs[n - 1]`, as ALCE's evaluator does.

    `sentences` cuts a text (ALCE uses NLTK's Punkt), or commas with `is_list` (QAMPARI). A statement's first `at_most`
    citations are judged (None: all). Citation metrics leave out an empty text, but not an empty list.

    ALCE's quirks
    * A text ends at its first line break. A citation is `[` and digits: `[1, 2]` and `[1-3]` cite one passage.
    * `[0]` is the last passage. One number above the passages, even beyond `at_most`, voids its sentence.
    * Pieces of a list follow the question, as short answers do here; an empty list has one.
    """

    sentences: Callable[[str], Sequence[str]]
    is_list: bool = False
    at_most: int | None = MOST_CITATIONS

    def statements(self, answered: ScoringItem) -> OutputStatements:
        cited = first_line(answered.output)
        # ALCE removes citations from the text and again from the premise, which matters for "[[1]2".
        whole = without_numbers(without_numbers(cited))
        asked = answered.item.question
        pieces = [f"{asked} {piece.strip()}" for piece in cut_list(cited)] if self.is_list else self.sentences(cited)
        if not pieces:
            return OutputStatements(whole=whole, absence="empty")
        is_alone = answered.answer.style == "short" and answered.final is None and not self.is_list
        question = asked if is_alone else None
        statements = (replace(self._statement(piece, answered.docs), question=question) for piece in pieces)
        return OutputStatements(tuple(statements), whole)

    def _statement(self, piece: str, docs: Sequence[Passage]) -> Statement:
        text = without_numbers(piece).strip()
        numbers = [min(int(digits[:1000]), _LARGEST) for digits in _NUMBER.findall(piece)]
        if not numbers:
            return Statement(text, flaw="uncited")
        if not docs or max(numbers) > len(docs):
            return Statement(text, tuple(CitedPassage(n, None) for n in numbers), flaw="out_of_range")
        return Statement(text, tuple(_citation(n, docs[n - 1]) for n in numbers[: self.at_most]))


def first_line(output: str) -> str:
    """Without a chat model's stop token."""
    return output.strip().split("\n")[0].replace(_END, "")


def without_numbers(text: str) -> str:
    """Removes like ALCE: `[` and digits with one space before, ` |`, every `]`."""
    text = re.sub(r"\[\d+", "", re.sub(r" \[\d+", "", text))
    return text.replace(" |", "").replace("]", "")


def cut_list(text: str) -> list[str]:
    """As ALCE cuts the text of a list."""
    return text.rstrip().rstrip(".").rstrip(",").split(",")


def _citation(n: int, doc: Passage) -> CitedPassage:
    """ALCE writes `Title: ` even without a title."""
    if doc.title:
        return CitedPassage(n, doc)
    shown = f"Title: \n{doc.text}"
    return CitedPassage(n, doc, Passage(doc.id, "", shown, Source(0, len(shown))))


# ---------------------------------------------------------------- the text that each profile compares


Read = Callable[[ScoringItem], str | None]  # the text that a profile scores; None if there is none


def alce_text(answered: ScoringItem) -> str:
    """The output without citations; empty for a failed answer, as in ALCE."""
    return without_numbers(first_line(answered.output))


def alce_final(answered: ScoringItem) -> str:
    return alce_text(answered) if answered.final is None else answered.final


def honest_text(answered: ScoringItem) -> str | None:
    """The claims' text, or a report's reply; empty for an abstention; None if failed."""
    return None if answered.is_failed else written_text(answered.answer) or whole_text(answered.answer)


def written_text(answer: Answer) -> str | None:
    # The reply that a report is: the plan paper counts repeated sentences, too, and those that are no claims.
    kept = tuple(claim.text for claim in answer.claims) if answer.style == "report" else ()
    replies = [step.written or "" for step in answer.rounds if kept and step.kept == kept and step.chosen is not False]
    return without_marks(replies[-1]) if replies else None


def prose_text(answered: ScoringItem) -> str | None:
    """`honest_text`; None for a list or a short answer."""
    return None if answered.item.style in ("list", "short") else honest_text(answered)
