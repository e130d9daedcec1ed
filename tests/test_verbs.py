"""The verbs as a Python caller meets them."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from pathlib import Path

import damage
import pytest

import toulmin
from toulmin import Answer, Budget, Hit, Passage, Settings, SourceError, UsageError
from toulmin.models.scripted import ScriptedModel
from toulmin.prompts.replies import Reply
from toulmin.steps import Generate, Pair, Program, Verdict, search

QUESTION = "When was Kettle Rock Tower first lit?"
PASSAGE = Passage.of("Kettle Rock Tower was lit for the first time on 3 May 1824.", "Kettle Rock Tower")


def test_ask_answers_from_a_folder(notes: Path):
    assert "3 May 1824" in toulmin.ask(QUESTION, docs=notes).text


def test_ask_answers_from_passages():
    assert toulmin.ask(QUESTION, passages=[PASSAGE]).claims[0].cited == (PASSAGE.id,)


def test_ask_answers_from_an_index(notes: Path, tmp_path: Path):
    toulmin.index(notes, into=tmp_path / "library")
    assert "3 May 1824" in toulmin.ask(QUESTION, index=tmp_path / "library").text


@pytest.mark.parametrize("what", ["same", "changed", "gone", "elsewhere"])
def test_an_answer_from_an_index_says_that_a_cited_file_is_no_longer_as_it_was(notes: Path, tmp_path: Path, what: str):
    toulmin.index(notes, into=tmp_path / "library")
    (file,) = {passage.source.path for passage in toulmin.ask(QUESTION, index=tmp_path / "library").cited}
    if what == "changed":
        Path(file).write_text("Kettle Rock Tower was first lit on 9 June 1830, say newer notes.", "utf-8")
    elif what == "gone":
        Path(file).unlink()
    elif what == "elsewhere":  # the index came here without its folder
        notes.rename(tmp_path / "moved")
    answer = toulmin.ask(QUESTION, index=tmp_path / "library")
    said = {"changed": "was changed", "gone": "is gone"}.get(what)
    assert [note for note in answer.notes if file in note] == (
        [f"{file} {said} since it was read: what is cited is its former text."] if said else []
    )


def test_ask_reads_a_changed_file_again(notes: Path):
    toulmin.ask(QUESTION, docs=notes)
    (notes / "tower.md").write_text("Kettle Rock Tower was first lit on 9 June 1830, say newer notes.", "utf-8")
    assert "9 June 1830" in toulmin.ask(QUESTION, docs=notes).text


def test_a_file_that_could_not_be_read_is_named_in_the_answer(notes: Path):
    (notes / "broken.pdf").write_bytes(b"%PDF-1.4 nothing")
    assert "broken.pdf" in " ".join(toulmin.ask(QUESTION, docs=notes).notes)


def test_a_source_passage_is_the_text_at_its_offsets(notes: Path):
    answer = toulmin.ask("Who was the last keeper of Kettle Rock Tower?", docs=notes)
    cited = answer.cited[0]
    text = Path(cited.source.path).read_text("utf-8")
    assert text[cited.source.start : cited.source.end] == cited.text


def test_two_kinds_of_sources_at_once_are_wrong_usage(notes: Path):
    with pytest.raises(UsageError, match="not several"):
        toulmin.ask(QUESTION, docs=notes, passages=[PASSAGE])


def test_a_missing_folder_is_a_source_error(tmp_path: Path):
    with pytest.raises(SourceError, match="nowhere"):
        toulmin.ask(QUESTION, docs=tmp_path / "nowhere")


def test_options_reach_the_settings_and_the_method():
    settings = toulmin.ask(QUESTION, passages=[PASSAGE], words=30, prompt="expert").settings
    assert (settings["words"], settings["prompt"]) == (30, "expert")


def test_an_unknown_option_is_wrong_usage():
    with pytest.raises(UsageError, match="colour"):
        toulmin.ask(QUESTION, passages=[PASSAGE], colour="red")


@pytest.mark.parametrize("options", [{"preset": "foo"}, {"inline": "maybe"}, {"options": {"style": "zzz"}}])
def test_an_impossible_value_of_an_option_is_wrong_usage(options: dict[str, object]):
    with pytest.raises(UsageError):
        toulmin.ask(QUESTION, passages=[PASSAGE], **options)


@pytest.mark.parametrize(
    ("method", "option"),
    [("calm", {"max_rounds": 0}), ("calm", {"threshold": 2.0}), ("vtg", {"preset": "asqa"}), ("rerank", {"n": 0})],
)
def test_a_value_that_only_the_method_knows_to_be_wrong_is_wrong_usage(method: str, option: dict[str, object]):
    with pytest.raises(UsageError):
        toulmin.ask(QUESTION, passages=[PASSAGE], method=method, **option)


def test_given_settings_keep_the_environment_out(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("TOULMIN_WORDS", "20")
    assert toulmin.ask(QUESTION, passages=[PASSAGE], settings=Settings()).settings["words"] == 90


def test_the_environment_is_read_without_settings(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("TOULMIN_WORDS", "20")
    assert toulmin.ask(QUESTION, passages=[PASSAGE]).settings["words"] == 20


VERBS = {
    "ask": lambda: toulmin.ask(QUESTION, passages=[PASSAGE]),
    "ask_all": lambda: list(toulmin.ask_all([QUESTION] * 3, passages=[PASSAGE]))[-1],
    "stream": lambda: list(toulmin.stream(QUESTION, passages=[PASSAGE]))[-1],
    "check": lambda: toulmin.check(PASSAGE.text, passages=[PASSAGE]),
}


@pytest.mark.parametrize("verb", VERBS)
def test_each_verb_works_inside_a_running_event_loop(verb: str):
    async def notebook() -> Answer:
        return VERBS[verb]()

    assert asyncio.run(notebook()).status == "answered"


def test_each_verb_can_be_awaited(notes: Path, tmp_path: Path):
    async def all_of_them() -> list[str]:
        await toulmin.aio.index(notes, into=tmp_path / "library")
        hits = await toulmin.aio.search("keeper", index=tmp_path / "library")
        answers = await asyncio.gather(
            toulmin.aio.ask(QUESTION, index=tmp_path / "library"), toulmin.aio.check(PASSAGE.text, passages=[PASSAGE])
        )
        return [hits[0].passage.title, *(answer.status for answer in answers)]

    assert asyncio.run(all_of_them()) == ["Keepers", "answered", "answered"]


def test_stream_ends_with_the_answer_of_ask():
    last = list(toulmin.stream(QUESTION, passages=[PASSAGE]))[-1]
    assert last.claims == toulmin.ask(QUESTION, passages=[PASSAGE]).claims


def test_stream_shows_the_draft_first():
    first = next(toulmin.stream(QUESTION, passages=[PASSAGE]))
    assert first.claims[0].support is None


def test_stream_raises_what_ask_raises():
    with pytest.raises(UsageError, match="empty"):
        list(toulmin.stream(" ", passages=[PASSAGE]))


def without_time(answers: Sequence[Answer]) -> list[tuple]:
    return [(a.question, a.status, a.claims, a.passages, a.rounds, a.settings) for a in answers]


QUESTIONS = [QUESTION, "Who was the last keeper?", "Which parliament abolished the salt tax in Denmark?"] * 4


def test_ask_all_answers_in_order(notes: Path):
    assert [answer.question for answer in toulmin.ask_all(QUESTIONS, docs=notes)] == QUESTIONS


def test_ask_all_answers_as_ask_does(notes: Path):
    alone = [toulmin.ask(question, docs=notes) for question in QUESTIONS]
    assert without_time(list(toulmin.ask_all(QUESTIONS, docs=notes))) == without_time(alone)


def test_ask_all_takes_parts_of_ones_own():
    model = ScriptedModel(lambda request: "It was lit on 3 May 1824 [1].")
    answers = list(toulmin.ask_all([QUESTION] * 2, passages=[PASSAGE], model=model))
    assert [answer.claims[0].text for answer in answers] == ["It was lit on 3 May 1824."] * 2


@pytest.mark.parametrize("workers", [1, 2])
def test_ask_all_over_nothing_is_a_source_error(workers: int, tmp_path: Path):
    with pytest.raises(SourceError, match="nowhere"):
        list(toulmin.ask_all(QUESTIONS, index=tmp_path / "nowhere", workers=workers))


@pytest.mark.parametrize("workers", [1, 2])
def test_ask_all_names_files_that_could_not_be_read(workers: int, notes: Path):
    (notes / "broken.pdf").write_bytes(b"%PDF-1.4 nothing")
    answers = list(toulmin.ask_all(QUESTIONS[:2], docs=notes, workers=workers))
    assert all("broken.pdf" in " ".join(answer.notes) for answer in answers)


def test_a_damaged_copy_of_the_documents_is_made_anew(notes: Path, tmp_path_factory: pytest.TempPathFactory):
    toulmin.ask(QUESTION, docs=notes)
    for file in Path(os.environ["XDG_CACHE_HOME"]).rglob("*.sqlite*"):
        damage.replace(file, b"garbage" * 1000)
    assert toulmin.ask(QUESTION, docs=notes).status == "answered"


@pytest.mark.parametrize("options", [{"k": 0}, {"words": 0}, {"k": -4}])
def test_a_count_below_one_is_wrong_usage(options: dict[str, int]):
    with pytest.raises(UsageError, match="at least 1"):
        toulmin.ask(QUESTION, passages=[PASSAGE], **options)


def test_several_workers_answer_as_one_does(notes: Path):
    several = list(toulmin.ask_all(QUESTIONS, docs=notes, workers=2))
    assert without_time(several) == without_time(list(toulmin.ask_all(QUESTIONS, docs=notes)))


# ---------------------------------------------------------------- parts of one's own


class Yes:
    """A judge that supports everything, asynchronously."""

    name = "yes"

    async def judge(self, pairs: Sequence[Pair]) -> list[Verdict]:
        return [Verdict("supported", 1.0, 0.0, self.name) for _ in pairs]


def test_a_judge_of_ones_own_gives_the_verdicts():
    support = toulmin.ask(QUESTION, passages=[PASSAGE], judge=Yes()).claims[0].support
    assert support.judge == "yes"


def test_a_model_of_ones_own_writes():
    model = ScriptedModel(lambda request: "It was lit on 3 May 1824 [1].")
    assert toulmin.ask(QUESTION, passages=[PASSAGE], model=model).claims[0].text == "It was lit on 3 May 1824."


def test_the_settings_name_the_parts_of_ones_own():
    model = ScriptedModel(lambda request: "It was lit on 3 May 1824 [1].", name="parrot")
    settings = toulmin.ask(QUESTION, passages=[PASSAGE], model=model, judge=Yes()).settings
    assert (settings["model"], settings["judge"]) == ("parrot", "yes")


def test_a_retriever_of_ones_own_finds():
    class Same:
        def search(self, queries: Sequence[str], k: int) -> list[list[Hit]]:
            return [[Hit(PASSAGE, 1.0)] for _ in queries]

    assert toulmin.ask(QUESTION, retriever=Same()).cited == (PASSAGE,)


def test_a_method_of_ones_own_that_yields_no_step_is_wrong_usage():
    with pytest.raises(UsageError, match="should yield steps"):
        toulmin.ask(QUESTION, passages=[PASSAGE], method=lambda question: question)


def test_a_method_of_ones_own_takes_only_the_options_it_names():
    def counting(question: str, *, k: int) -> Program[Answer]:
        hits = yield from search(question, k)
        return Answer(question, "long", "counting", "abstained", passages=tuple(h.passage for h in hits))

    assert toulmin.ask(QUESTION, passages=[PASSAGE], method=counting).method == "counting"


def test_a_model_that_fails_gives_a_failed_answer():
    def broken(request: Generate) -> Reply:
        raise ConnectionError("no route")

    answer = toulmin.ask(QUESTION, passages=[PASSAGE], model=ScriptedModel(broken))
    assert (answer.status, "no route" in answer.notes[0]) == ("failed", True)


def test_a_spent_budget_gives_a_failed_answer():
    assert toulmin.ask(QUESTION, passages=[PASSAGE], budget=Budget(seconds=1e-9)).status == "failed"


# ---------------------------------------------------------------- search and check


def test_search_gives_at_most_k_hits(notes: Path):
    assert len(toulmin.search("Kettle Rock Tower", docs=notes, k=1)) == 1


def test_search_for_no_passages_is_wrong_usage(notes: Path):
    with pytest.raises(UsageError, match="at least 1"):
        toulmin.search("tower", docs=notes, k=0)


def test_check_judges_a_text_of_somebody_else():
    answer = toulmin.check("Kettle Rock Tower was lit for the first time on 3 May 1831 [1].", passages=[PASSAGE])
    assert "1831" in answer.claims[0].support.reason


def test_an_empty_text_to_check_is_wrong_usage():
    with pytest.raises(UsageError, match="needs words"):
        toulmin.check(" \n", passages=[PASSAGE])
