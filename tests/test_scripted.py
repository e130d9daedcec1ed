"""Scripted models: which entry of a file answers, and what a file may not say."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from toulmin.data import Passage, Tokens
from toulmin.driver.drive import Driver, Job
from toulmin.driver.kit import Kit
from toulmin.errors import ModelError, SourceError, UsageError
from toulmin.judges.lexical import Lexical
from toulmin.methods.direct import vanilla
from toulmin.models import scripted
from toulmin.models.cache import CachedModel
from toulmin.models.scripted import ScriptedModel
from toulmin.prompts.replies import Reply
from toulmin.prompts.types import AnswerPrompt, NextClaim
from toulmin.retrieval.bm25 import InMemory
from toulmin.steps import Generate

PASSAGE = Passage.of("Hannah Pell built the tower between 1821 and 1824.", "Kettle Rock")
REQUEST = Generate(AnswerPrompt("Who built the tower?", (PASSAGE,)))
NEXT = Generate(NextClaim("Who built the tower?", "", (PASSAGE,)))


@pytest.fixture
def model(tmp_path: Path):
    """Makes a model of entries, written as JSON Lines."""

    def make(*entries: object) -> ScriptedModel:
        path = tmp_path / "replies.jsonl"
        path.write_text("\n".join(json.dumps(entry) for entry in entries), "utf-8")
        return ScriptedModel.from_file(path)

    return make


def texts(model: ScriptedModel, *requests: Generate) -> list[str]:
    return [reply.text for reply in model.generate(requests)]


# ---------------------------------------------------------------- a function


def test_a_function_may_reply_with_a_text_or_a_reply():
    assert ScriptedModel(lambda request: "x").generate([REQUEST]) == [Reply("x")]


# ---------------------------------------------------------------- which entry answers


def test_entries_that_fit_are_used_in_order_and_the_last_again(model):
    assert texts(model({"text": "a"}, {"text": "b"}), *[REQUEST] * 4) == ["a", "b", "b", "b"]


def test_an_entry_for_another_prompt_is_passed_over(model):
    assert texts(model({"prompt": "NextClaim", "text": "a"}, {"text": "b"}), REQUEST, NEXT) == ["b", "a"]


def test_an_entry_for_another_role_is_passed_over(model):
    lines = model({"role": "verifier", "text": "a"}, {"role": "main", "text": "b"})
    assert texts(lines, REQUEST, Generate(REQUEST.prompt, "verifier")) == ["b", "a"]


def test_an_entry_for_another_sample_is_passed_over(model):
    lines = model({"sample": 1, "text": "a"}, {"sample": 0, "text": "b"})
    assert texts(lines, REQUEST, Generate(REQUEST.prompt, sample=1)) == ["b", "a"]


@pytest.mark.parametrize("words", ["Who built", "between 1821", "Kettle Rock"])
def test_an_entry_answers_prompts_that_contain_its_words(model, words: str):
    assert texts(model({"contains": words, "text": "a"}, {"text": "b"}), REQUEST) == ["a"]


def test_an_entry_whose_words_the_prompt_lacks_is_passed_over(model):
    assert texts(model({"contains": "Who painted", "text": "a"}, {"text": "b"}), REQUEST) == ["b"]


def test_an_entry_may_hold_all_that_a_reply_holds(model):
    entry = {"text": "Pell [1].", "tokens": {"input": 3, "output": 2}, "finish": "length", "omitted": 1, "model": "m"}
    expected = Reply("Pell [1].", tokens=Tokens(3, 2), finish="length", omitted=1, model="m")
    assert model(entry).generate([REQUEST]) == [expected]


def test_an_error_is_raised(model):
    with pytest.raises(ModelError, match="the server is down"):
        model({"error": "the server is down"}).generate([REQUEST])


def test_a_request_that_nothing_fits_says_what_was_asked_and_what_there_is(model):
    lines = model({"prompt": "Queries", "text": "a"}, {"contains": "painted", "role": "main", "text": "b"})
    expected = (
        r"fits AnswerPrompt \(role 'main', sample 0\) 'Who built the tower\?'; it has replies for"
        r' \{"prompt": "Queries"\}; \{"role": "main", "contains": "painted"\}\. Add one'
    )
    with pytest.raises(ModelError, match=expected):
        lines.generate([REQUEST])


def test_a_long_file_is_not_listed_whole(model):
    with pytest.raises(ModelError, match="and 12 more"):
        model(*({"sample": n, "text": "a"} for n in range(1, 21))).generate([REQUEST])


def test_a_cache_does_not_answer_for_another_file(model, tmp_path: Path):
    def cached(text: str) -> list:
        return asyncio.run(CachedModel(model({"text": text}), tmp_path / "cache").generate([REQUEST]))

    assert [cached("a"), cached("a"), cached("b")] == [[Reply("a")], [Reply("a")], [Reply("b")]]


# ---------------------------------------------------------------- the file


def test_empty_lines_are_no_entries(tmp_path: Path):
    path = tmp_path / "replies.jsonl"
    path.write_text('\n{"text": "a"}\n\n', "utf-8")
    assert texts(ScriptedModel.from_file(path), REQUEST) == ["a"]


WRONG = {
    '{"text": "a"}\n{"text": ': r"line 2: expected one JSON object a line",
    '["a"]': r"line 1: an entry is an object with a text or an error, not \['a'\]",
    '{"txt": "a"}': r"line 1: There is no field of an entry called 'txt'; did you mean text",
    '{"prompt": "Answer", "text": "a"}': r"line 1: There is no prompt called 'Answer'; did you mean AnswerPrompt",
    '{"prompt": "Queries"}': r"line 1: an entry has either a text \(with what belongs to it\) or an error",
    '{"text": "a", "error": "b"}': r"line 1: an entry has either a text",
    '{"tokens": {"input": 1}}': r"line 1: a reply has a text",
    '{"error": 5}': r"line 1: an error is its message, not 5",
    '{"text": 5}': r"line 1: a reply's text cannot be 5",
    '{"sample": "1", "text": "a"}': r"line 1: sample should be of type int, not '1'",
    '{"sample": true, "text": "a"}': r"line 1: sample should be of type int, not True",
    "\n": r"holds no reply; write one a line",
}


@pytest.mark.parametrize("content", WRONG)
def test_a_file_that_says_something_else_is_an_error_with_its_place(tmp_path: Path, content: str):
    path = tmp_path / "replies.jsonl"
    path.write_text(content, "utf-8")
    with pytest.raises(UsageError, match=WRONG[content]):
        ScriptedModel.from_file(path)


def test_a_file_that_is_not_there_is_a_source_error(tmp_path: Path):
    with pytest.raises(SourceError, match=r"cannot be read: .* Name a \.jsonl file"):
        ScriptedModel.from_file(tmp_path / "none.jsonl")


def test_the_example_of_the_documentation_runs_a_method(tmp_path: Path):
    example = [line.strip() for line in (scripted.__doc__ or "").splitlines() if line.startswith('    {"')]
    path = tmp_path / "replies.jsonl"
    path.write_text("\n".join(example), "utf-8")
    kit = Kit(InMemory([PASSAGE], 1.2, 0.75), Lexical(), {"main": ScriptedModel.from_file(path)})
    job = Job("Who built it?", "vanilla", "long", lambda: vanilla("Who built the tower?"))
    answer = asyncio.run(Driver(kit).answer(job)).answer
    assert (len(example), answer.text) == (4, "Hannah Pell built the tower [1].")
