"""Simulation: how a faulty writer plans a text before it is written, and what it writes from a plan.

* A subject is the title of a passage that holds a fact. An outline has a part for each subject of which a fact is in
  sight and not left out (rate / 2, as in an answer), and at the rate one for an irrelevant passage taken for relevant.
* A part is asked about fact by fact: the topic again with the names in the fact, the form of its search queries
  (`faulty_answers`). A fact is left out, or has an altered or invented one in its place that is asked about instead, at
  the rates of an answer. With no fact in sight the topic, or the part's title, is asked about: to ask claims nothing.
* Written from passages a text is what an answer is. From questions with their answers it tells the facts of whose
  sentence an answer is a piece, in the passage that the answer was found in; what else was found it takes to be beside
  the topic, as it does with passages. It skips the questions that it is told to skip.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from simulations.answers import asking
from simulations.author import Author, Turn, is_missed, line
from simulations.statements import VisibleFact, write_lines
from simulations.truth import holds, plain
from toulmin.prompts.types import Finding, Outline, Questions, Write

_LONGEST_TITLE = 50  # characters


def outline(author: Author, prompt: Outline, turn: Turn) -> str:
    """A numbered line for each part; nothing where no part comes to mind."""
    facts = author.facts_in_sight(prompt.topic, prompt.passages, "long")
    subjects = [_subject(author, prompt.topic, item) for item in facts if not is_missed(item, turn)]
    sentences = [fact.text for fact in author.facts_of(prompt.topic)]
    beside = [_title(p.title) for p in prompt.passages if not any(holds(p, sentence) for sentence in sentences)]
    if beside and turn.dice.falls(turn.rate, "taken for relevant"):
        subjects.append(turn.dice.pick(beside, "beside"))
    titles = dict.fromkeys(title for title in subjects if title)
    return "\n".join(f"{n}. {title}: Tell what is known about {title}." for n, title in enumerate(titles, 1))


def questions(author: Author, prompt: Questions, turn: Turn) -> str:
    """A question a line for the facts of the part that are in sight; else one for all of it."""
    facts = author.facts_in_sight(prompt.topic, prompt.passages, "long")
    part = prompt.paragraph
    if part is not None and any(_title(passage.title) == part.title for passage in prompt.passages):
        facts = [item for item in facts if _subject(author, prompt.topic, item) == part.title]
        whole = f"What is known about {part.title}?"
    else:
        whole = prompt.topic
    statements = [author.recount(item, turn) for item in facts]
    questions = [asking(prompt.topic, statement.words) for statement in statements if statement is not None]
    return "\n".join(f"{n}. {plain(question)}" for n, question in enumerate(questions or [whole], 1))


def write(author: Author, prompt: Write, turn: Turn) -> str:
    """A text with or without marks; of the parts of a plan those facts that belong to the ones asked for."""
    seen = author.facts_in_sight(prompt.topic, prompt.passages, prompt.style)
    facts = _of_parts(author, prompt, [*seen, *_facts_of_findings(author, prompt, {item.matter.n for item in seen})])
    lines = author.lines(facts, prompt.passages, turn)
    if not facts:
        strays = author.astray(prompt.topic, prompt.passages, turn)
        lines = [line(statement, prompt.passages, turn) for statement in strays]
    return write_lines(lines, prompt.style, inline=prompt.inline)


def _facts_of_findings(author: Author, prompt: Write, known: set[int]) -> list[VisibleFact]:
    """The facts that answers to questions tell, in the order of the questions, without those known already."""
    matters = author.matters_of(prompt.topic, prompt.style)
    statements = [m for finding in prompt.findings for m in matters if _tells(finding, m.true.sentence)]
    return [VisibleFact(m, m.true) for n, m in {m.n: m for m in statements}.items() if n not in known]


def _tells(finding: Finding, sentence: str) -> bool:
    """Whether an answer is a piece of the sentence, or holds it, as a passage that it was found in has it."""
    held = any(holds(passage, sentence) for passage in finding.passages)
    return held and any(_is_in(answer, sentence) or _is_in(sentence, answer) for answer in finding.answers)


def _is_in(part: str, text: str) -> bool:
    words = plain(part)
    return bool(words) and re.search(rf"(?<!\w){re.escape(words)}(?!\w)", plain(text)) is not None


def _of_parts(author: Author, prompt: Write, facts: Sequence[VisibleFact]) -> list[VisibleFact]:
    """What belongs to the parts asked for; all of it where none of them is about a subject of its own."""
    titles = {part.title for part in prompt.paragraphs}
    subjects = {_title(fact.title) for fact in author.facts_of(prompt.topic)}
    if not titles & subjects:
        return list(facts)
    return [item for item in facts if _subject(author, prompt.topic, item) in titles]


def _subject(author: Author, topic: str, item: VisibleFact) -> str:
    return _title(author.facts_of(topic)[item.matter.n].title)


def _title(text: str) -> str:
    """A passage's title as the title of a part: on one line, without signs, cut at a word."""
    title = plain(re.sub(r"[^\w\s'’]|_", " ", text))
    return title if len(title) <= _LONGEST_TITLE else title[:_LONGEST_TITLE].rsplit(" ", 1)[0]
