"""Every request that rows of the papers' tables and methods make, held against a written list."""

from __future__ import annotations

import asyncio
import importlib
import inspect
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from row_tables import table

from toulmin.data import Passage
from toulmin.driver.budget import Budget
from toulmin.driver.drive import Driver, Job
from toulmin.driver.kit import Kit
from toulmin.extractive.evidence import SentenceReader
from toulmin.judges.lexical import Lexical
from toulmin.methods import METHODS, load_method
from toulmin.models.scripted import ScriptedModel
from toulmin.prompts.reflection import NextSegment
from toulmin.prompts.templates import RenderedPrompt, Templates
from toulmin.prompts.types import (
    AnswerPrompt,
    Cite,
    Correct,
    Extract,
    Feedback,
    JudgeClaim,
    MostConsistent,
    NextClaim,
    Outline,
    Queries,
    Questions,
    Refine,
    Summarise,
    Write,
)
from toulmin.retrieval.bm25 import InMemory
from toulmin.steps import Generate

FOLDER = Path(__file__).parent.parent / "experiments"
QUESTION = "When was the tower of Kettle Rock lit?"
PASSAGES = [
    Passage.of(f"The tower of {name} was lit in {1820 + n}. Three keepers lived there.", name)
    for n, name in enumerate(("Kettle Rock", "Ashby Point", "Hull", "Merrow", "Loxley", "Marl", "Ferring"))
]

# What a model replies, so that every kind of request is made.
REPLIES = {
    AnswerPrompt: "The tower was lit in 1820 [1]. Ghosts built it in 1777 [9].",
    NextClaim: "Ghosts built the tower in 1777.",
    Cite: "[2]",
    Queries: "Who built the tower?",
    Summarise: "The tower was lit then.",
    Extract: "The tower was lit then.",
    Correct: "Corrected Answer: Ashby lit the tower in 1830 [1].",
    Outline: "1. The lamp: when it was lit.\n2. The keepers: who lived there.",
    Questions: "When was the tower of Kettle Rock lit?",
    Write: "The tower was lit in 1820.",
    Feedback: "Correctness: Name the keepers.\nCitation recall: Cite [1].",
    Refine: "Three keepers lived there [2].",
    MostConsistent: "1",
    JudgeClaim: "unsure",
    NextSegment: "The tower was lit in 1820.",
}


def requests_of(method: str, options: dict[str, Any]) -> list[Any]:
    """The typed prompts of a method, in order."""
    asked: list[Any] = []

    def write(request: Generate) -> str:
        asked.append(request.prompt)
        reply = REPLIES[type(request.prompt)]
        reply = reply.replace("1820", f"{1820 + request.sample}")  # each draw is another
        return "Nobody knows it [1]." if request.role == "verifier" else reply

    model = ScriptedModel(write)
    kit = Kit(InMemory(PASSAGES), Lexical(), {"main": model, "verifier": model}, SentenceReader())
    chosen = load_method(method)
    taken = {name: value for name, value in options.items() if name in inspect.signature(chosen).parameters}
    style = taken.get("style", "long")
    asyncio.run(Driver(kit).answer(Job(QUESTION, method, style, lambda: chosen(QUESTION, **taken), Budget())))
    return asked


# ---------------------------------------------------------------- the written list

# What each request begins with, in the papers' words, the shipped ones and the short ones.
PRESETS = {
    "cited": (
        "Answer the question accurately, in an engaging way",
        "Answer the question from the passages below",
        None,
    ),
    "list": ("List accurate answers to the question", "List the right answers", "List the answers"),
    "simple": ("Answer the question well from nothing but", "Give the question a good answer", None),
    "expert": ("Here are results of a web search. Answer", "You are an expert who answers", None),
    "plain": (
        "Write one paragraph about the topic",
        "Write one clear and fluent paragraph",
        "Write one clear and fluent",
    ),
}
WITH_SHORT_WORDS = "Answer in one or two sentences. End each sentence with the number of its passage"
INSTRUCTIONS: dict[Any, tuple[str, str, str]] = {
    NextClaim: ("Reply with the one sentence that goes on", "Write the one sentence that comes next", "Write the next"),
    Cite: ("Append citations of the documents", "Add citations to the sentence", "Repeat the sentence"),
    Queries: ("Write questions that help to verify", "Write search questions", "Write at most"),
    Summarise: ("Summarise the document in at most", "Shorten the passage", "Say in at most"),
    Extract: ("Extract from the passage a span", "Take from the passage the words", "Copy from the passage"),
    Outline: ("Write instructions for a text about the topic", "Plan a text about the topic", "Plan the paragraphs"),
    Questions: ("which questions would you want answered", "Think of what somebody would have to", "Write questions"),
    Write: ("Write about the topic, fluently", "Write clearly and fluently about the topic", "Write on the topic"),
    Feedback: ("Judge the answer and give feedback", "Say how the answer to the question", "Say for each score"),
    MostConsistent: ("Several answers to one question", "Several answers to one question", "Reply with the number"),
    NextSegment: ("### Instruction:\nAnswer the question", "### Instruction:\nAnswer", "### Instruction:\nAnswer"),
}
OF_A_LIST: dict[Any, tuple[str, str, str]] = {
    Correct: ("You are also given a draft that is wrong", "complete a draft of a list", "Correct the list"),
    Refine: ("Rewrite the list of answers", "Rewrite the list of answers", "Write the list anew"),
}
OF_A_LIST |= {
    NextClaim: ("A list of answers to the question is", "A list of answers to the question is", "Name one more answer"),
    NextSegment: ("### Instruction:\nList all", "### Instruction:\nList all", "### Instruction:\nList all"),
}
OF_PROSE: dict[Any, tuple[str, str, str]] = {
    Correct: ("You are also given a draft. It is incomplete", "Correct and complete a draft", "Correct the draft"),
    Refine: ("Rewrite the answer to the question", "Rewrite the answer to the question", "Write the answer anew"),
}
UNSCORED = (
    "Read the answer to the question critically",
    "Read the answer to the question critically",
    "Say what is wrong",
)


MEMORY = {"cited": "Answer the question from what you know", "list": "List the right answers to the question"}
MEMORY_SHORT = {"cited": "Answer from what you know", "list": "List the answers that you know"}


def instruction_of(prompt: Any, words: int) -> str:
    if isinstance(prompt, AnswerPrompt) and words and not prompt.passages:
        return (MEMORY, MEMORY_SHORT)[words - 1]["list" if prompt.style == "list" else prompt.preset]
    if isinstance(prompt, AnswerPrompt):
        return PRESETS["list" if prompt.style == "list" else prompt.preset][words] or WITH_SHORT_WORDS
    if isinstance(prompt, Feedback) and not prompt.scores:
        return UNSCORED[words]
    if isinstance(prompt, Write) and not prompt.paragraphs:
        return PRESETS["plain"][words] or ""
    by_style = OF_A_LIST if getattr(prompt, "style", "") == "list" else OF_PROSE
    return (INSTRUCTIONS | by_style)[type(prompt)][words]


def matter_of(prompt: Any) -> Iterator[str]:
    """The question, topic or claim, and the texts of the passages."""
    yield next(text for name in ("question", "topic", "claim") if (text := getattr(prompt, name, "")))
    single = [passage] if (passage := getattr(prompt, "passage", None)) else []
    yield from (passage.text for passage in (*getattr(prompt, "passages", ()), *single))


def faults(prompt: Any, rendered: RenderedPrompt, instruction: str, shots: int) -> list[str]:
    """What is missing of a request, and demonstrations that are too many or too few."""
    first, last = rendered.messages[0], rendered.messages[-1]
    asked = f"{first.content}\n{last.content}" if first.role == "system" else last.content
    missing = [text for text in (instruction, *matter_of(prompt)) if text not in asked]
    shown = sum(message.role == "assistant" for message in rendered.messages)
    return missing + [f"{shown} demonstrations in place of {shots}"] * (shown != shots)


# ---------------------------------------------------------------- rows of the papers' tables


def shots_of(paper: str, method: str, prompt: Any) -> int:
    """The number of demonstrations in the papers: ALCE's two of CaLM and of VTG's baselines, one of a correction."""
    if paper == "calm" and isinstance(prompt, Correct):
        return 1
    has_some = (paper == "calm" and method != "self-rag") or (paper == "vtg" and method != "vtg")
    return 2 if has_some and isinstance(prompt, AnswerPrompt) else 0


def works_of(work: Any, answers: type[Any]) -> Iterator[Any]:
    """The runs of a row: its own, those that it averages over, or those that a function of it compares."""
    if isinstance(work, answers):
        yield work
    for parts in getattr(work, "of", {}).values():
        yield from (part for part, _ in parts)
    yield from (part for part in getattr(work, "keywords", {}).values() if isinstance(part, answers))


@pytest.fixture
def papers(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(FOLDER))
    return importlib.import_module("run")


def test_every_request_of_every_row_is_whole(papers: Any):
    bench, frame = importlib.import_module("bench"), importlib.import_module("frame")
    wrong, kinds = [], set()
    for name, experiment in papers.EXPERIMENTS.items():
        for row in (row for panel in experiment.panels for row in panel.rows):
            for work in works_of(row.work, frame.Answers):
                settings = {**bench.Bench(experiment, bench.Choices()).settings, **work.options}
                templates = Templates.load(settings["prompts"], settings.get("shots"))
                for prompt in requests_of(work.method, dict(work.options)):
                    shots = shots_of(name.partition("_")[0], work.method, prompt)
                    rendered = templates.render(prompt)
                    found = faults(prompt, rendered, instruction_of(prompt, 0), shots)
                    wrong += [f"{name}, {row.name}, {type(prompt).__name__}: {fault}" for fault in found]
                    kinds.add(type(prompt))
    assert not wrong, "\n".join(dict.fromkeys(wrong))
    assert kinds == set(REPLIES) - {JudgeClaim}


# ---------------------------------------------------------------- methods, by each form

FORMS: Sequence[tuple[int, Templates]] = (
    (1, Templates.default(0)),
    (2, Templates.compact()),
    (2, Templates.compact(is_small=True)),
)
ASKED = [(method, {"style": style}) for method in METHODS for style in ("long", "list")]
ASKED += [("plan", {"variant": "B"}), ("a2r", {"feedback": "model", "stop": "never"})]


@table(("method", "options"), ASKED)
def test_every_request_of_a_method_is_whole_by_each_form(method: str, options: dict[str, Any]):
    for prompt in requests_of(method, options):
        for words, templates in FORMS:
            for is_structured in (False, True):
                rendered = templates.render(prompt, structured=is_structured)
                assert not faults(prompt, rendered, instruction_of(prompt, words), 0), prompt
