"""Plan-based retrieval as its paper has it: one instruction for all systems, its reader, its evidence, its samples."""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from plan_parts import ALL_OF_IT, BORN, BUILT, FOUND, PASSAGES, TOPIC, Run, Shelf, Writer
from plan_parts import Judge as Known

import toulmin
from toulmin.build import parts
from toulmin.cli.preferring import blind_text, collect_preferences, pairs, preferences_path
from toulmin.config import Settings
from toulmin.data import Answer, Claim, Passage, Round
from toulmin.datasets.item import Gold, Item
from toulmin.driver.drive import Driver, Job
from toulmin.driver.kit import Kit
from toulmin.errors import UsageError
from toulmin.evaluation.run_folder import read_run
from toulmin.judges.asked import ModelReader
from toulmin.methods import load_method
from toulmin.metrics.answered import MetricTable, answer_to_score
from toulmin.metrics.evidence_sets import attribution_metrics, evidence_overlap
from toulmin.metrics.judging import Judging
from toulmin.models.scripted import ScriptedModel
from toulmin.prompts.replies import Reply, TokenLogprob
from toulmin.prompts.templates import Templates
from toulmin.prompts.types import Outline
from toulmin.steps import Generate, Pair, Verdict

# ---------------------------------------------------------------- one instruction (section 4.2, Appendix A.2)


def instruction(method: str, **options: Any) -> str:
    """What the writer of the text is told beside the matter, in a run of the plan paper's tables."""
    writer = Writer()
    reader = Run(sure={BORN: {"C": 0.9}}).reader
    kit = Kit(Shelf({TOPIC: "AB", BORN: "C"}), Known({}), {"main": ScriptedModel(writer)}, reader)
    job = Job(TOPIC, method, "report", lambda: load_method(method)(TOPIC, style="report", **options))
    assert asyncio.run(Driver(kit).answer(job)).error is None
    system, *_ = Templates.default().render(writer.drafting[-1]).messages
    return system.content


SYSTEMS: dict[str, tuple[str, dict[str, Any]]] = {
    "One-Retrieval": ("vanilla", {"inline": False, "prompt": "plain"}),
    "One-Retrieval (2x snippets)": ("vanilla", {"inline": False, "prompt": "plain", "k": 10}),
    "Variant A": ("plan", {"variant": "A", "layout": "one", "merge_questions": False}),
    "Variant B": ("plan", {"variant": "B", "layout": "one", "merge_questions": False}),
}


@pytest.mark.parametrize("system", SYSTEMS)
def test_every_system_that_reads_gets_the_same_instruction(system: str):
    method, options = SYSTEMS[system]
    assert instruction(method, **options) == instruction("plan", variant="A", layout="one")


def test_no_system_is_asked_for_headings():
    assert "heading above" not in instruction("closed", prompt="plain") + instruction("vanilla", prompt="plain")


# ---------------------------------------------------------------- variant B's reader can be named


def words(reply: str | Reply) -> Callable[[Generate], str | Reply]:
    """Plans as in `plan_parts`, and replies so where it is asked as a reader."""
    writer = Writer()
    return lambda request: reply if request.role == "reader" else writer(request)


def asked(reply: str | Reply, **options: Any) -> Answer:
    model = ScriptedModel(words(reply), name="mine")
    return toulmin.ask(
        TOPIC,
        retriever=Shelf(FOUND),
        method="plan",
        variant="B",
        reader="model",
        model=model,
        judge="lexical",
        **options,
    )


def test_the_writer_can_be_asked_as_the_reader():
    assert {question.outcome for question in asked("lore").questions} == {"answered"}


def test_words_that_stand_nowhere_answer_nothing():
    assert {question.outcome for question in asked("the moon").questions} == {"unanswerable"}


def test_another_model_can_be_named_as_the_reader(tmp_path: Path):
    file = tmp_path / "replies.jsonl"
    file.write_text(json.dumps({"text": "C-lore"}) + "\n", "utf-8")
    reader = parts.reader(f"model:scripted:{file}", Settings())
    assert isinstance(reader, ModelReader)


def span(reply: Reply) -> Any:
    reader = ModelReader(ScriptedModel(lambda _: reply))
    return asyncio.run(reader.read([(BORN, (PASSAGES["A"], PASSAGES["C"]))]))[0]


def test_an_asked_reader_gives_the_exact_words_of_the_passage():
    read = span(Reply("c-Lore."))
    assert (read.passage, read.quote.text) == (PASSAGES["C"].id, "C-lore")


def test_an_asked_reader_is_as_sure_as_its_tokens():
    tokens = (TokenLogprob("C", math.log(0.9)), TokenLogprob("-lore", math.log(0.4)))
    assert span(Reply("C-lore", logprobs=tokens)).confidence == pytest.approx(0.6)


def test_an_asked_reader_that_has_no_answer_gives_none():
    assert span(Reply("The passages do not say.")) is None


# ---------------------------------------------------------------- its answers are evidence (section 4.3)


class ByTitle:
    """Supports a claim by what stands under the question alone."""

    name = "by title"

    def judge(self, pairs: Sequence[Pair]) -> list[Verdict]:
        return [self._verdict(pair) for pair in pairs]

    def _verdict(self, pair: Pair) -> Verdict:
        holds = [passage.title for passage in pair.premises] == [BORN] and "1790" in pair.premises[0].text
        return Verdict("supported" if holds else "unsupported", float(holds), 0.0, self.name)


READ = Round("assess", role="reader", queries=(BORN,), kept=("in 1790",))
LIFE = Passage.of("A life in 1790.", "Life")


def report(*rounds: Round) -> Any:
    claims = (Claim("She was born in 1790 in 1790."),)
    answer = Answer(TOPIC, "report", "plan", "answered", claims, (LIFE,), rounds=rounds, id="1")
    return answer_to_score(Item("1", TOPIC, Gold()), answer)


def column(measured: MetricTable, name: str) -> float | None:
    return next(each.value for each in measured.columns if each.name == name)


@pytest.mark.parametrize(("rounds", "share"), [((READ,), 100.0), ((), 0.0)])
def test_a_readers_answer_attributes_a_sentence(rounds: tuple[Round, ...], share: float):
    measured = asyncio.run(attribution_metrics([report(*rounds)], Judging(ByTitle())))
    assert column(measured, "ais_strict") == share


def test_a_readers_answer_counts_for_the_overlap():
    with_answer, without = evidence_overlap([report(READ)]), evidence_overlap([report()])
    assert column(with_answer, "rouge1_precision") == pytest.approx(100 * 4 / 7)
    assert column(without, "rouge1_precision") == pytest.approx(100 * 2 / 7)


def test_an_answer_below_the_threshold_is_no_evidence():
    run = Run(sure={BORN: {"C": 0.9, "D": 0.1}}, variant="B")
    measured = asyncio.run(
        attribution_metrics([answer_to_score(Item("", TOPIC, Gold()), run.answer)], Judging(ByTitle()))
    )
    assert [round.kept for round in run.rounds("assess") if round.queries == (BORN,)] == [("C-lore",)]
    assert column(measured, "ais_strict") == 0


# ---------------------------------------------------------------- the threshold of the default reader

LIT = Passage.of(
    "The tower of Hull was built by Hannah Pell, an engineer from Leeds. It was lit on 3 May 1824 and is 38 metres"
    " high. Its lamp burnt whale oil until 1861. The keepers lived in a stone house beside it.",
    "Tower of Hull",
)
ASKED = (
    "Who built the tower of Hull?",
    "When was the tower of Hull lit?",
    "How high is the tower of Hull?",
    "What did the lamp burn?",
    "Where did the keepers live?",
    "Where was Hannah Pell from?",
)
FOREIGN = ("Who composed the opera Fidelio?", "When did the Inca empire fall?", "How deep is Lake Baikal?")


def outcomes(questions: Sequence[str]) -> list[str]:
    """By the reader that is installed and the usual threshold."""
    writer = Writer(questions="\n".join(questions))
    answer = toulmin.ask(
        TOPIC, retriever=One(), method="plan", variant="B", outline=False, model=ScriptedModel(writer), judge="lexical"
    )
    return [question.outcome for question in answer.questions]


class One:
    """Finds the one passage, whatever is asked."""

    def search(self, queries: Sequence[str], k: int) -> Any:
        from toulmin.data import Hit

        return [[Hit(LIT, 1.0)] for _ in queries]


def test_the_usual_reader_answers_most_answerable_questions():
    assert outcomes(ASKED).count("answered") >= 4


def test_questions_that_it_does_not_answer_are_not():
    assert "answered" not in outcomes(FOREIGN)


def test_few_questions_of_a_plan_over_real_pages_are_unanswerable(tmp_path: Path):
    toulmin.index([Path(toulmin.__file__).parent / "demo" / "longitude"], into=tmp_path / "index")
    topics = ("John Harrison", "The Longitude Act", "Lunar distances")
    plans = [toulmin.ask(t, index=tmp_path / "index", method="plan", variant="B", layout="one") for t in topics]
    questions = [question.outcome for plan in plans for question in plan.questions]
    assert 3 * questions.count("unanswerable") < len(questions)


def test_an_answer_of_a_confidence_of_a_third_is_taken():
    assert Run(sure={BORN: {"C": 0.34}}, variant="B").answer.questions[0].outcome == "answered"


# ---------------------------------------------------------------- people compare (Appendix A.1.1)

PLANNED = Answer(
    TOPIC, "report", "plan", "answered", (Claim("She was born.", section="Life"), Claim("She built.", section="Work"))
)
ONE = Answer(TOPIC, "report", "vanilla", "answered", (Claim("She was born."), Claim("She built.")))


def test_neither_headings_nor_layout_show_which_system_wrote():
    assert blind_text(PLANNED) == blind_text(ONE) == "She was born. She built."


def answers(method: str, n: int) -> list[Answer]:
    return [Answer(f"Q {i}?", "long", method, "answered", (Claim(method),), id=str(i)) for i in range(n)]


@pytest.mark.parametrize("seed", range(8))
def test_each_system_stands_on_the_left_half_the_time(seed: int):
    assert sum(pair.swapped for pair in pairs(answers("a", 40), answers("b", 40), 24, seed)) == 12


def test_annotators_see_the_same_questions_on_sides_of_their_own():
    shown = [pairs(answers("a", 40), answers("b", 40), 24, 0, name) for name in ("ann", "ben", "cleo")]
    assert len({tuple(pair.id for pair in each) for each in shown}) == 1
    assert len({tuple(pair.swapped for pair in each) for each in shown}) == 3


def test_three_annotators_are_joined_by_what_most_of_them_chose(tmp_path: Path):
    dataset = tmp_path / "topics.jsonl"
    rows = ({"id": str(n), "question": f"{TOPIC} {n}"} for n in range(3))
    dataset.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    folders = [tmp_path / name for name in ("one", "plan")]
    for folder in folders:
        toulmin.run(
            dataset,
            out=folder,
            model=ScriptedModel(lambda _: ALL_OF_IT),
            method="closed",
            judge="lexical",
            retriever=Shelf({}),
        )
    assert len(read_run(folders[0]).answers) == 3
    choices = {
        "ann": ["first", "neither", "second"],
        "ben": ["first", "second", "first"],
        "cleo": ["second", "second", "neither"],
    }
    for name, fluency in choices.items():
        lines = ({"id": str(n), "fluency": choice, "informativeness": "second"} for n, choice in enumerate(fluency))
        preferences_path(*folders, name).write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    joint = collect_preferences(*folders, None, 0, "", None, ask=False)
    assert (joint["n"], joint["annotators"]) == (3, 3)
    third = pytest.approx(100 / 3)
    assert joint["shares"]["fluency"] == {"first": third, "neither": third, "second": third}
    assert joint["shares"]["informativeness"]["second"] == 100


# ---------------------------------------------------------------- the sample plans of its appendix, shortened

RAMESSES = """Paragraph 1
• Begin by introducing Ramesses IV, the third Pharaoh of the Twentieth Dynasty, with a mention of his original name.
• Provide the dates of his reign, which were from 1155 BCE to 1149 BCE.
Paragraph 2
• Describe the events leading to his ascension to the throne, such as the assassination of his father in 1156 BC.
• Mention that his reign was relatively short, lasting only six years.
Paragraph 3
• Discuss Ramesses IV's burial details, noting that he was originally buried in tomb KV2.
• Highlight that his mummy was clumsily rewrapped and labeled by later priests."""
RONALDO = """Paragraph 1
• Instructions: Begin by introducing Ronaldo, focusing on his full name. Mention his nickname.
• Do not include information about Cristiano Ronaldo.
Paragraph 2
• Instructions: Highlight Ronaldo's achievements early in his career.
• Do not repeat information about specific teams."""
IN_ITS_FORM = """Paragraph 1: Instructions for paragraph 1: Introduce Ronaldo. Leave his teams to paragraph 2.
Paragraph 2: Instructions for paragraph 2: Tell of his teams."""


@pytest.mark.parametrize(
    ("sample", "begins"),
    [
        (RAMESSES, ["Begin by introducing Ramesses", "Describe the events", "Discuss Ramesses IV's burial"]),
        (RONALDO, ["Begin by introducing Ronaldo", "Highlight Ronaldo's achievements"]),
        (IN_ITS_FORM, ["Introduce Ronaldo.", "Tell of his teams."]),
    ],
)
def test_a_sample_plan_has_as_many_paragraphs_as_the_paper_numbers(sample: str, begins: list[str]):
    paragraphs = Outline(TOPIC, ()).read(sample)
    assert [p.title.startswith(begin) for p, begin in zip(paragraphs, begins, strict=True)] == [True] * len(begins)


def test_all_instructions_of_a_paragraph_are_its_own():
    first, second = Outline(TOPIC, ()).read(RONALDO)
    assert ("Cristiano" in first.description, "specific teams" in second.description) == (True, True)


def test_a_sample_plan_is_written_from_its_own_questions():
    """Figure 1: each paragraph's questions, searched for, and one text from all of them."""
    run = Run(Writer(RONALDO, f"{BORN}\n{BUILT}"), layout="one", merge_questions=False)
    assert [question.text for question in run.answer.questions] == [BORN, BUILT] * 2


def test_an_annotators_name_is_no_path(tmp_path: Path):
    with pytest.raises(UsageError, match="name of letters"):
        preferences_path(tmp_path, tmp_path, "../other")
