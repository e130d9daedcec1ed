"""Questions that follow others: how they are read, and how they are answered."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import toulmin
from toulmin import UsageError
from toulmin.data import Answer, Passage
from toulmin.models.scripted import ScriptedModel
from toulmin.prompts.types import AnswerPrompt, Rewrite
from toulmin.text.followup import Turn, read

BUILT = Turn("Who built Kettle Rock Tower?", "Kettle Rock Tower was built by Hannah Pell.")
FILLER = [Passage.of(f"The tower of harbour {n} was painted in {1900 + n}.") for n in range(40)]


# ---------------------------------------------------------------- reading


@pytest.mark.parametrize(
    ("before", "question", "meaning"),
    [
        ("What is throat cancer?", "Is it treatable?", "Is throat cancer treatable?"),
        ("Who was Anne Bonny?", "Who was her husband?", "Who was Anne Bonny's husband?"),
        ("Who was Anne Bonny?", "Who married her?", "Who married Anne Bonny?"),
        ("Tell me about blue whales.", "Where do they live?", "Where do blue whales live?"),
        ("How tall is Kettle Rock Tower?", "Who built it?", "Who built Kettle Rock Tower?"),
        ("Does SQLite enforce foreign keys?", "Why?", "Why does SQLite enforce foreign keys?"),
        ("How do I mount a disk on Debian?", "And on Windows?", "How do I mount a disk on Windows?"),
        ("Who maintains SQLite?", "What about Python?", "Who maintains Python?"),
    ],
)
def test_a_question_that_leans_on_the_one_before_is_read_whole(before: str, question: str, meaning: str):
    assert read(question, [Turn(before)]).question == meaning


def test_a_pronoun_goes_on_meaning_the_same():
    turns = [Turn("What is throat cancer?"), Turn("Is it treatable?")]
    assert read("What causes it?", turns).question == "What causes throat cancer?"


def test_a_pronoun_can_mean_who_an_answer_names():
    assert read("When was she born?", [Turn("Who built the lighthouse?", "It was built by Hannah Pell.")]).question == (
        "When was Hannah Pell born?"
    )


@pytest.mark.parametrize(
    "question",
    [
        "Which passenger jet has SQLite in its flight software?",
        "How do I copy a file in Python together with its timestamps?",
        "How can I sort Python objects by one of their fields?",
        "Is it safe to unpickle a file from a stranger?",
        "Why is it bad to rebase commits that others already have?",
        "Who maintains Git, and who created it?",
        "What is manifest typing?",
        "It was never lit.",
    ],
)
def test_a_question_that_stands_alone_stays_letter_for_letter(question: str):
    assert (
        read(question, [BUILT, Turn("What is a virtual package?", "A name that packages provide.")]).question
        == question
    )


@pytest.mark.parametrize(
    ("question", "meaning"),
    [
        ("And how many redeals do I get?", "And how many redeals do I get (Plait)?"),
        ("How often may I go through the deck?", "How often may I go through the deck (Plait)?"),
        ("What is the score there when I win?", "What is the score there when I win (Plait)?"),
        ("What is a jacana?", "What is a jacana?"),
        ("Who was the first to win Plait?", "Who was the first to win Plait?"),
        ("What was the king of Nineveh called?", "What was the king of Nineveh called?"),
    ],
)
def test_a_question_that_names_nothing_is_meant_of_the_document_cited_last(question: str, meaning: str):
    turn = Turn("How many cards has a pile of Plait?", "It has twelve.", "Plait")
    assert read(question, [turn]).question == meaning


@given(st.text())
def test_a_question_without_turns_stays_letter_for_letter(question: str):
    assert read(question, []) == (question, "")


@given(st.text(), st.lists(st.tuples(st.text(), st.text()), max_size=3))
def test_any_conversation_can_be_read(question: str, turns: list[tuple[str, str]]):
    read(question, [Turn(*turn) for turn in turns])


@pytest.mark.parametrize("question", ["Ok. What's next?", "Can you repeat the last step?", "How many exactly?"])
def test_a_bare_follow_up_searches_with_earlier_words(question: str):
    assert "Hannah Pell" in read(question, [BUILT]).context


@pytest.mark.parametrize("question", ["What is manifest typing?", "Ok. Who created SQLite?"])
def test_what_was_said_is_not_searched_with_another_matter(question: str):
    assert read(question, [BUILT]).context == ""


# ---------------------------------------------------------------- answering


def test_an_answer_keeps_the_question_as_it_was_asked(notes: Path):
    answer = toulmin.ask("Who built it?", docs=notes, history=[("How tall is Kettle Rock Tower?", "38 metres.")])
    assert (answer.question, answer.asked) == ("Who built Kettle Rock Tower?", "Who built it?")
    assert "Hannah Pell" in answer.text


def test_an_earlier_answer_is_a_turn(notes: Path):
    first = toulmin.ask("How tall is Kettle Rock Tower?", docs=notes)
    assert toulmin.ask("Who built it?", docs=notes, history=[first]).question == "Who built Kettle Rock Tower?"


def test_a_question_can_be_asked_exactly_as_typed(notes: Path):
    history = [("How tall is Kettle Rock Tower?", "38 metres.")]
    answer = toulmin.ask("Who built it?", docs=notes, history=history, rewrite=False)
    assert (answer.question, answer.asked) == ("Who built it?", "")


def test_a_misspelled_question_is_kept_too_and_can_be_asked_as_typed(tmp_path: Path):
    for n in range(5):
        (tmp_path / f"{n}.txt").write_text(f"The lighthouse of harbour {n} was painted in 190{n}.\n", "utf-8")
    typed = "When was the lighthuose of harbour 3 painted?"
    answer = toulmin.ask(typed, docs=tmp_path)
    assert (answer.question, answer.asked) == (typed.replace("huose", "house"), typed)
    assert toulmin.ask(typed, docs=tmp_path, rewrite=False).question == typed


def test_what_was_cited_before_is_read_again():
    story = Passage.of("Kettle Rock Tower was built by Hannah Pell.")
    first = toulmin.ask("Who built Kettle Rock Tower?", passages=[story])
    options: dict[str, Any] = {"passages": FILLER, "k": 5}
    question = "When was the tower of harbour 7 painted?"
    assert story.id not in {passage.id for passage in toulmin.ask(question, **options).passages}
    assert story.id in {passage.id for passage in toulmin.ask(question, history=[first], **options).passages}


@pytest.mark.parametrize("history", [["Who?"], [("Who?", 3)], [("a", "b", "c")]])
def test_a_history_of_something_else_is_wrong_usage(history: Any):
    with pytest.raises(UsageError, match="history holds Answers, or pairs"):
        toulmin.ask("Who built it?", passages=FILLER, history=history)


def _write(reply: str, seen: list[Any]) -> ScriptedModel:
    def answer(request: Any) -> str:
        seen.append(request.prompt)
        return reply if isinstance(request.prompt, Rewrite) else "The tower was built by Pell [1]."

    return ScriptedModel(answer)


def _ask(reply: str) -> tuple[Answer, list[Any]]:
    seen: list[Any] = []
    history = [("How tall is Kettle Rock Tower?", "38 metres.")]
    passages = [Passage.of("Kettle Rock Tower was built by Pell.")]
    answer = toulmin.ask(
        "Who built it?", passages=passages, history=history, model=_write(reply, seen), method="vanilla"
    )
    return answer, seen


def test_a_model_reads_the_question_where_one_is_set():
    answer, seen = _ask("Which person built the tower on Kettle Rock?")
    assert answer.question == "Which person built the tower on Kettle Rock?"
    assert next(prompt for prompt in seen if isinstance(prompt, AnswerPrompt)).question == answer.question


def test_rules_read_the_question_where_the_model_says_nothing():
    assert _ask("")[0].question == "Who built Kettle Rock Tower?"
