"""A model in this process that was trained to write reflection tokens: a real one, made and taught on the spot."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from toulmin.data import Passage
from toulmin.prompts.reflection import PARAGRAPH, TOKENS, NextSegment, ReflectedText, weigh
from toulmin.prompts.replies import Reply
from toulmin.prompts.templates import Templates
from toulmin.steps import Generate

pytest.importorskip("torch")
pytest.importorskip("transformers")

from tiny_model import make, teach

from toulmin.models.local import Local

LIT = Passage.of("The tower was lit.", "Tower")
PROMPT = NextSegment("When?", "", LIT)
SAID = "[Relevant]The tower was lit.[Fully supported][Retrieval]"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny model whose vocabulary has the tokens as special ones, as the released models have them."""
    from transformers import AutoModelForCausalLM, AutoTokenizer

    made = make(tmp_path_factory.mktemp("reflecting"), chat=None)
    tokenizer = AutoTokenizer.from_pretrained(made, local_files_only=True)
    model = AutoModelForCausalLM.from_pretrained(made, local_files_only=True)
    reflection = [token for kind in TOKENS.values() for token in kind]
    tokenizer.add_tokens([*reflection, PARAGRAPH, "</paragraph>"], special_tokens=True)
    model.resize_token_embeddings(len(tokenizer), mean_resizing=False)
    model.save_pretrained(made)
    tokenizer.save_pretrained(made)
    teach(made, Templates.default().render(PROMPT).text, f"{SAID}{PARAGRAPH}Forged.")
    return made


@pytest.fixture(scope="module")
def reply(folder: Path) -> Reply:
    asked = Generate(PROMPT, temperature=0.0, max_tokens=40, stop=(PARAGRAPH,), logprobs=5)
    (found,) = asyncio.run(Local(folder).generate([asked]))
    assert isinstance(found, Reply)
    return found


@pytest.fixture(scope="module")
def said(reply: Reply) -> ReflectedText:
    return weigh(PROMPT.read(reply.text), reply.logprobs)


def test_it_shows_its_tokens_and_stops_where_a_passage_would_follow(reply: Reply):
    assert (reply.text, reply.finish) == (SAID, "stop")


def test_every_token_has_its_probability(said: ReflectedText):
    assert [(mark.token, mark.odds[mark.token] > 0.5) for mark in said.marks] == [
        ("[Relevant]", True),
        ("[Fully supported]", True),
        ("[Retrieval]", True),
    ]


def test_relevance_is_weighed_at_the_first_place(said: ReflectedText):
    (relevance,) = (mark for mark in said.opening if mark.kind == "relevance")  # chance may put others beside it
    assert relevance.worth > 0.5
