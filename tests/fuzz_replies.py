"""Replies of models, data sets, files of prompts, and settings."""

from __future__ import annotations

import json
import random
import tomllib
from collections.abc import Callable
from typing import Any

from fuzz_parsers import PART, ROOT, Parser, folder, rows, write_all, written
from typed_prompts import PASSAGES, QUESTION, SCORES

from toulmin.config import load, parse_options
from toulmin.data import Citation, Claim
from toulmin.datasets.item import item_document, parse_item
from toulmin.datasets.loading import read, result_items
from toulmin.models.scripted import ScriptedModel
from toulmin.prompts import structured
from toulmin.prompts.files import load_shipped_texts, read_alce, replace_texts
from toulmin.prompts.reflection import NextSegment, weigh
from toulmin.prompts.replies import TokenLogprob
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
    Prompt,
    Queries,
    Questions,
    Refine,
    Rewrite,
    Summarise,
    Write,
)
from toulmin.text.followup import Turn

CLAIMS = (Claim("The tower was lit in 1824.", (Citation(PASSAGES[0].id),)), Claim("Keepers left in 1978."))
PROMPTS: tuple[Prompt[Any], ...] = (
    *(AnswerPrompt(QUESTION, PASSAGES, style) for style in ("long", "short", "report", "list")),
    NextClaim(QUESTION, "It was built.", PASSAGES),
    Cite("The tower was lit in 1824.", PASSAGES),
    Queries(QUESTION, "It was built.", "The tower was lit."),
    Summarise(QUESTION, PASSAGES[0]),
    Extract(QUESTION, PASSAGES[0]),
    Correct(QUESTION, PASSAGES, CLAIMS),
    Outline("Towers", PASSAGES),
    Questions("Towers", PASSAGES),
    Write("Towers", PASSAGES),
    Feedback(QUESTION, PASSAGES, CLAIMS, SCORES, SCORES),
    Feedback(QUESTION, PASSAGES, CLAIMS, (), ()),
    Refine(QUESTION, PASSAGES, CLAIMS, {"correctness": "more"}),
    MostConsistent(QUESTION, (CLAIMS, CLAIMS)),
    Rewrite("And then?", (Turn(QUESTION, "In 1824."),)),
    JudgeClaim("The tower was lit in 1824.", PASSAGES),
    NextSegment(QUESTION, passage=PASSAGES[0]),
)


def reply(data: bytes) -> None:
    """The first byte chooses the prompt."""
    prompt = PROMPTS[data[0] % len(PROMPTS)] if data else PROMPTS[0]
    text = data[1:].decode("utf-8", "surrogateescape")
    value = prompt.read(text)
    if isinstance(prompt, NextSegment):
        weigh(value, [TokenLogprob(token, -0.5) for token in text.split(" ")])


def sample_replies() -> list[bytes]:
    """A reply or two of the zoo for each prompt that has some."""
    chosen = []
    for n, prompt in enumerate(PROMPTS):
        name = "".join(f"_{sign.lower()}" if sign.isupper() else sign for sign in type(prompt).__name__)[1:]
        path = ROOT / "tests" / "zoo" / f"{name.removesuffix('_prompt')}.toml"
        rows = (
            tomllib.loads(path.read_text("utf-8"))["reply"]
            if path.is_file()
            else [{"text": "Yes [1]. [Fully supported]"}]
        )
        chosen += [bytes([n]) + row["text"].encode() for row in random.Random(n).sample(rows, min(4, len(rows)))]
    return chosen


def sample_objects() -> list[bytes]:
    listed = [(n, prompt.schema()) for n, prompt in enumerate(PROMPTS)]
    return [bytes([n]) + json.dumps(object_of(schema)).encode() for n, schema in listed if schema is not None]


def object_of(schema: structured.Schema) -> Any:
    """A value of the schema."""
    if "enum" in schema:
        return schema["enum"][0]
    if schema["type"] == "object":
        return {name: object_of(kind) for name, kind in schema["properties"].items()}
    return [object_of(schema["items"])] if schema["type"] == "array" else "..."


# ---------------------------------------------------------------- data sets, prompt files, settings


ITEM = {"id": "1", "question": QUESTION, "answers": ["1824"], "docs": [{"title": "a", "text": "b", "id": "7"}]}
ASQA = {
    "sample_id": "2",
    "question": "Who?",
    "qa_pairs": [{"question": "When?", "short_answers": ["1824"]}],
    "annotations": [{"long_answer": "In 1824."}],
    "docs": [{"title": "a", "text": "b"}],
}
QAMPARI = {"id": "3", "question": "Which?", "answers": [["a", "b"], ["c"]]}
ELI5 = {"question": "Why?", "claims": ["It was.", "So."], "answer": "It was so."}
RESULT = {**ITEM, "output": "It was lit in 1824 [1].", "final": "x"}
ALCE = {
    "instruction": "Answer.",
    "demo_sep": "\n\n",
    "demo_prompt": "{INST}\n\nQuestion: {Q}\n\n{D}\nAnswer: {A}",
    "doc_prompt": "Document [{ID}](Title: {T}): {P}\n",
    "demos": [{"question": "Who?", "answer": "He [1].", "docs": [{"title": "a", "text": "b", "summary": "c"}]}],
}
PROMPT_FILE = b"""version = 1
[answer]
user = "Question: {question}\\n\\n{passages}"
[[examples.cited]]
question = "Who?"
answer = "He [1]."
passages = [{title = "a", text = "b", summary = "c", extraction = "irrelevant"}]
"""
SCRIPT = rows({"prompt": "AnswerPrompt", "contains": "Who", "text": "Yes [1].", "tokens": {"input": 3, "output": 1}})
SCRIPT += rows({"error": "down"})
SETTINGS = b"""method = "calm"
k = 5
rerank_depth = 1
[servers.mine]
base_url = "http://localhost:1/v1"
stop = ["a"]
[prices.x]
input = 0.5
[openai]
retries = 2
[options]
n = 3
"""


def dataset(data: bytes) -> None:
    for item in read(written("questions.jsonl", data)).items:
        parse_item(json.loads(json.dumps(item_document(item))))


def beir(data: bytes) -> None:
    read(write_all("beir", ("queries.jsonl", "corpus.jsonl", "qrels/test.tsv"), data))


def script(data: bytes) -> None:
    ScriptedModel.from_file(written("script.jsonl", data))


def settings(data: bytes) -> None:
    load({}, written("toulmin.toml", data).parent)


def environment(data: bytes) -> None:
    pairs = [line.partition("=") for line in data.decode("utf-8", "replace").replace("\0", "").split("\n")]
    parse_options(tuple("".join(pair) for pair in pairs if pair[1]))
    load({f"TOULMIN_{name}": value for name, _, value in pairs}, folder() / "none")


QUERIES = [rows({"_id": "q1", "text": QUESTION}), rows({"_id": "d1", "title": "a", "text": "b"})]
SETS = [rows(ITEM), json.dumps([ASQA, ASQA | {"sample_id": "4"}]).encode(), rows(QAMPARI), rows(ELI5)]
RESULTS = [json.dumps({"data": [RESULT]}).encode()]
SHIPPED = load_shipped_texts()
ENVIRONMENT = [b"K=8\nMETHOD=calm\nWORDS=75\nOPTIONS={a = 1}\nDEADLINE=1.5"]
PARSERS: dict[str, Callable[[], Parser]] = {
    "reply": lambda: Parser(reply, sample_replies()),
    "structured": lambda: Parser(reply, sample_objects()),
    "dataset": lambda: Parser(dataset, SETS),
    "results": lambda: Parser(lambda data: list(result_items(written("r.json", data))), RESULTS),
    "beir": lambda: Parser(beir, [PART.join([*QUERIES, b"query-id\tcorpus-id\tscore\nq1\td1\t1\n"])]),
    "prompts": lambda: Parser(lambda data: replace_texts(written("p.toml", data), SHIPPED), [PROMPT_FILE]),
    "alce_prompts": lambda: Parser(lambda data: read_alce(written("p.json", data), 1), [json.dumps(ALCE).encode()]),
    "script": lambda: Parser(script, [SCRIPT]),
    "settings": lambda: Parser(settings, [SETTINGS]),
    "environment": lambda: Parser(environment, ENVIRONMENT),
}
