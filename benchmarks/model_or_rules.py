"""Queries for a claim and questions of a plan: by a language model, by the rules of the embedded writer, or none.

    python benchmarks/model_or_rules.py [--model llama:smollm2] [--questions 60]

Questions of `pool_questions` (split dev) of which a first search, for five passages, misses a gold record, spread over
their kinds. `queries`: for the first sentence that the model answers from the five; `plan`: the questions of a text on
the topic. Each of the first three then finds three passages. The figure is the share of a question's gold records among
all that was found; `as many` takes as many passages as the way beside it from the first search alone.
"""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import data
from headings import heading
from intervals import difference, interval
from writer_sets import Pool

from toulmin.build import parts
from toulmin.config import Settings
from toulmin.data import Answer, Passage
from toulmin.driver.drive import Driver, Job
from toulmin.extractive import planning
from toulmin.prompts.types import AnswerPrompt, Prompt, Queries, Questions
from toulmin.retrieval.bm25 import InMemory
from toulmin.steps import Program, generate

FIRST, EACH, MOST = 5, 3, 3
Row = dict[str, Any]
Texts = tuple[str, ...]


def asked(pool: Pool, records: Mapping[str, str], count: int) -> list[Row]:
    rows = [row for row in data.rows("pool_questions", "dev") if row["gold_passages"]]
    rows = [row for row in rows[::5] if found(pool, records, row, ())[0] < 100]
    return rows[:: max(1, len(rows) // count)][:count]


# ---------------------------------------------------------------- what each way asks for


def by_rules(prompt: Queries | Questions) -> Texts:
    return planning.queries(prompt, 0) if isinstance(prompt, Queries) else planning.questions(prompt)


def by_model(spec: str, prompts: Mapping[str, Prompt[Any]]) -> dict[str, Any]:
    """The value of each prompt by its id, as the model replies; no entry where it cannot be read."""
    return asyncio.run(_replies(spec, prompts))


async def _replies(spec: str, prompts: Mapping[str, Prompt[Any]]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    jobs = [Job(id, "ask", "long", partial(_asking, id, prompt, values), id=id) for id, prompt in prompts.items()]
    driver = Driver(parts.kit(InMemory([]), Settings().override(model=spec)))
    async for outcome in driver.answers(jobs):
        if outcome.answer.status == "failed":
            values.pop(outcome.job.id, None)
    return values


def _asking(id: str, prompt: Prompt[Any], values: dict[str, Any]) -> Program[Answer]:
    value = yield from generate(prompt)
    if value:
        values[id] = value
    return Answer(id, "long", "ask", "abstained")


# ---------------------------------------------------------------- figures


def found(pool: Pool, records: Mapping[str, str], row: Row, texts: Texts) -> tuple[float, float]:
    """The share of gold records with these texts searched too, and of as many passages for the question alone."""
    first = pool.first(row["question"], FIRST)
    further = (passage for text in texts[:MOST] for passage in pool.first(text, EACH))
    all_found = list(dict.fromkeys(passage.id for passage in (*first, *further)))
    as_many = [passage.id for passage in pool.first(row["question"], len(all_found))]
    return share(row, records, all_found), share(row, records, as_many)


def share(row: Row, records: Mapping[str, str], ids: Sequence[str]) -> float:
    gold = set(row["gold_passages"])
    return 100 * len(gold & {records[id] for id in ids}) / len(gold)


def show(name: str, pairs: Sequence[tuple[float, float]]) -> list[float]:
    own, other = ([pair[place] for pair in pairs] for place in (0, 1))
    print(f"{name:20} {interval(own)}  as many {interval(other).mean:5.1f}", flush=True)
    return own


def compare(
    kind: str,
    model: str,
    rows: Sequence[Row],
    pool: Pool,
    records: Mapping[str, str],
    prompts: Mapping[str, Queries | Questions],
) -> None:
    """Prints a row for the rules, one for the model, what is between them, and the texts of three questions."""
    replies = by_model(model, prompts)
    ways: dict[str, dict[str, Texts]] = {
        "rules": {id: by_rules(prompt) for id, prompt in prompts.items()},
        "model": {id: tuple(replies.get(id, ())) for id in prompts},
    }
    shares = {
        way: show(f"{kind} by {way}", [found(pool, records, row, texts[row["id"]]) for row in rows])
        for way, texts in ways.items()
    }
    between = difference(shares["model"], shares["rules"])
    print(f"{kind}: model - rules {between}; without a reply {len(rows) - len(replies)}")
    for row in rows[:3]:
        print(f"    {row['question']}")
        for way, texts in ways.items():
            print(f"        {way}: {' | '.join(texts[row['id']][:MOST])}")


def main() -> None:
    """Prints a row for each way, then the model's difference from the rules."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="llama:smollm2")
    parser.add_argument("--questions", type=int, default=60)
    chosen = parser.parse_args()
    pool = Pool()
    records = {passage.id: record for record, passage in pool.by_id.items()}
    rows = asked(pool, records, chosen.questions)
    shown: dict[str, tuple[Passage, ...]] = {row["id"]: pool.first(row["question"], FIRST) for row in rows}
    print(heading("model_or_rules.py", f"{len(rows)} questions; share of gold records found, in per cent."))
    show("first search", [found(pool, records, row, ()) for row in rows])
    drafts = by_model(chosen.model, {row["id"]: AnswerPrompt(row["question"], shown[row["id"]]) for row in rows})
    claims = {id: draft.claims[0].text for id, draft in drafts.items() if draft.claims}
    compare(
        "queries",
        chosen.model,
        rows,
        pool,
        records,
        {row["id"]: Queries(row["question"], "", str(claims.get(row["id"]) or row["question"])) for row in rows},
    )
    compare(
        "plan",
        chosen.model,
        rows,
        pool,
        records,
        {row["id"]: Questions(row["question"], shown[row["id"]]) for row in rows},
    )
    print("```")


if __name__ == "__main__":
    main()
