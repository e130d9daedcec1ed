"""Scripted parts for tests of planned texts; a passage is known by a letter."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from typing import Any

from ended import Ended

from toulmin.data import Hit, Passage, Quote, Round
from toulmin.driver.budget import Budget
from toulmin.driver.drive import Job
from toulmin.driver.kit import Kit
from toulmin.errors import SourceError
from toulmin.methods.plan import plan
from toulmin.methods.reporting import rescue_draft
from toulmin.models.scripted import ScriptedModel
from toulmin.prompts.replies import Reply
from toulmin.prompts.types import AnswerPrompt, Outline, Prompt, Questions, Write
from toulmin.steps import Generate, Pair, Span, Verdict

TOPIC = "Ada Bell"
PASSAGES = {letter: Passage.of(f"Passage {letter} tells of {letter}-lore.", letter) for letter in "ABCDEFGHIJ"}
LETTER = {passage.id: passage.title for passage in PASSAGES.values()}
FIRST = "AB"  # what a search for the topic finds

OUTLINE = "1. Life: Tell of her birth. Leave her work to paragraph 2.\n2. Work: Tell of her towers."
QUESTIONS = {
    "Life": "When was Ada Bell born?\nWhere did Ada Bell live?",
    "Work": "Where did Ada Bell live?\nWhich towers did Ada Bell build?",
}
BORN, LIVED, BUILT = "When was Ada Bell born?", "Where did Ada Bell live?", "Which towers did Ada Bell build?"
FOUND = {TOPIC: FIRST, BORN: "CD", LIVED: "DE", BUILT: "FAG"}
TEXTS = {"Life": "She was born in 1790. She lived in Hull.", "Work": "She built ten towers."}
ALL_OF_IT = "She was born in 1790. She built ten towers."

Text = str | Reply


def letters(ids: Sequence[str]) -> str:
    return "".join(LETTER[id] for id in ids)


def shown(prompt: Any) -> str:
    """The letters of the passages that a prompt shows."""
    return letters([passage.id for passage in prompt.passages])


class Writer:
    """Plans and writes as scripted, by the title of the paragraph ("" for none), and remembers what it was asked."""

    def __init__(
        self,
        outline: Text = OUTLINE,
        questions: Mapping[str, Text] | Text = QUESTIONS,
        texts: Mapping[str, Text] | Text = TEXTS,
        whole: Text = ALL_OF_IT,
    ) -> None:
        self.outline, self.questions, self.texts, self.whole = outline, questions, texts, whole
        self.asked: list[Generate] = []

    def __call__(self, request: Generate) -> Text:
        self.asked.append(request)
        prompt: Any = request.prompt
        if isinstance(prompt, Outline):
            return self.outline
        if isinstance(prompt, Questions):
            return _by_title(self.questions, prompt.paragraph)
        if isinstance(prompt, Write) and prompt.paragraphs:
            return _by_title(self.texts, prompt.paragraphs[0])
        return self.whole

    def prompts(self, kind: type[Prompt[Any]]) -> list[Any]:
        return [request.prompt for request in self.asked if isinstance(request.prompt, kind)]

    @property
    def drafting(self) -> list[Any]:
        """The prompts that asked for text."""
        return [*self.prompts(AnswerPrompt), *self.prompts(Write)]


def _by_title(said: Mapping[str, Text] | Text, paragraph: Any) -> Text:
    if isinstance(said, Mapping):
        return said.get(paragraph.title if paragraph else "", "")
    return said


class Shelf:
    """Finds what FOUND says, and fails for the queries that are `down`; remembers each call's queries."""

    def __init__(self, found: Mapping[str, str], down: Collection[str] = ()) -> None:
        self.found, self.down = found, down
        self.batches: list[list[str]] = []
        self.depths: list[int] = []

    def search(self, queries: Sequence[str], k: int) -> list[list[Hit]]:
        self.batches.append(list(queries))
        self.depths.append(k)
        if set(queries) & set(self.down):
            raise SourceError("The search server is busy.")
        return [[Hit(PASSAGES[letter], 1.0) for letter in self.found.get(query, "")][:k] for query in queries]


class Judge:
    """Supports a claim by every set of passages that holds one of the sets of letters given for it."""

    name = "oracle"

    def __init__(self, supports: Mapping[str, Sequence[str]]) -> None:
        self.supports = supports
        self.asked: list[tuple[str, str]] = []
        self.batches: list[int] = []

    def judge(self, pairs: Sequence[Pair]) -> list[Verdict]:
        self.batches.append(len(pairs))
        return [self._verdict(pair) for pair in pairs]

    def _verdict(self, pair: Pair) -> Verdict:
        given = letters([passage.id for passage in pair.premises])
        self.asked.append((pair.claim, given))
        holds = any(set(one) <= set(given) for one in self.supports.get(pair.claim, ()))
        return Verdict("supported" if holds else "unsupported", 0.9 if holds else 0.1, 0.0, self.name)


class Reader:
    """Finds in passage X the words "X-lore", as sure as `sure` says for the question and X; remembers its batches."""

    def __init__(self, sure: Mapping[str, Mapping[str, float]]) -> None:
        self.sure = sure
        self.batches: list[list[tuple[str, str]]] = []

    def read(self, questions: Sequence[tuple[str, Sequence[Passage]]]) -> list[Span | None]:
        asked = [(question, "".join(p.title for p in passages)) for question, passages in questions]
        self.batches.append(asked)
        return [self._span(question, letter) for question, letter in asked]

    def _span(self, question: str, letter: str) -> Span | None:
        confidence = self.sure.get(question, {}).get(letter)
        return None if confidence is None else lore(letter, confidence)


def lore(letter: str, confidence: float) -> Span:
    """The words "X-lore" of passage X."""
    passage, words = PASSAGES[letter], f"{letter}-lore"
    start = passage.text.index(words)
    return Span(passage.id, Quote(start, start + len(words), words), confidence)


class Run(Ended):
    """One topic through the driver, with everything that was asked on the way."""

    def __init__(
        self,
        writer: Callable[[Generate], Text] | None = None,
        supports: Mapping[str, Sequence[str]] | None = None,
        *,
        sure: Mapping[str, Mapping[str, float]] | None = None,
        found: Mapping[str, str] = FOUND,
        topic: str = TOPIC,
        reader: Any = None,
        down: Collection[str] = (),
        budget: Budget | None = None,
        **options: Any,
    ) -> None:
        self.writer: Any = writer or Writer()
        self.judge, self.shelf = Judge(supports or {}), Shelf(found, down)
        self.reader = reader or (None if sure is None else Reader(sure))
        kit = Kit(self.shelf, self.judge, {"main": ScriptedModel(self.writer)}, self.reader)
        style = options.get("style", "report")
        rescue = partial(rescue_draft, policy=options.get("unsupported", "keep"))
        job = Job(topic, "plan", style, lambda: plan(topic, **options), budget or Budget(), rescue=rescue)
        super().__init__(kit, job)

    @property
    def cited(self) -> list[str]:
        return [letters(claim.cited) for claim in self.answer.claims]

    @property
    def outcomes(self) -> list[str]:
        return [question.outcome for question in self.answer.questions]

    def rounds(self, kind: str) -> list[Round]:
        return [told for told in self.answer.rounds if told.kind == kind]
