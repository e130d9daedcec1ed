"""Runs as a report shows them: random but valid ones, and one of words that want to be more than words."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

from toulmin.data import Answer, Citation, Claim, Passage, Quote, Round, Support, Tokens, Usage
from toulmin.datasets.item import Gold, Item
from toulmin.evaluation.report_contents import Beside, RunShown, ScoreRecord
from toulmin.evaluation.scores import Scores, document, lines, table_of
from toulmin.evaluation.significance import compare_tables
from toulmin.formats import answer_json
from toulmin.metrics.answered import Column, DerivedMetric, MetricTable, harmonic

PROFILE, JUDGE = "honest", "lexical-3"
OUTCOMES = ("supported", "unsure", "unsupported", "contradicted", "uncited", "out_of_range", "failed")
USES = ("needed", "supporting", "redundant", "wrong", "invalid")
WORDS = "lamp keepers harbour storms été żółw маяк 灯台 मनार 😀 👩‍👩‍👧 3,141.5 half-light AT&T מגדלור منارة".split()
ATTACKS = (
    "<script>globalThis.harmed = true</script>",
    "</script><script>globalThis.harmed = true</script><!--",
    "<img src=x onerror='globalThis.harmed = true'>",
    "<svg onload=globalThis.harmed=true><style>*{display:none}</style>",
    "javascript:globalThis.harmed=true",
    '" onfocus="globalThis.harmed=true" autofocus="',
    "\u202eright to left\u2066 \u2028\u2029 \ud800 \x00\x1b]8;;http://example.org\x07",
    "{{7*7}} ${7*7} $\\frac{1}{2}$ %s __proto__ constructor",
)


def words(chance: random.Random, most: int = 9) -> str:
    return " ".join(chance.choice(WORDS) for _ in range(chance.randint(1, most)))


def runs(count: int = 2, questions: int = 12, *, seeds: int = 1, seed: int = 0, attack: str = "") -> list[RunShown]:
    """So many random runs over the same questions; `attack` stands in every text of them."""
    chance = random.Random(seed)
    items = [item(chance, n, attack) for n in range(questions)]
    return [run(chance, f"run {n} {attack}".strip(), items, seeds, attack) for n in range(count)]


def item(chance: random.Random, n: int, attack: str = "") -> Item:
    gold = Gold(
        answers=((words(chance, 2) + attack, words(chance, 2)),),
        claims=(words(chance) + attack,),
        answerable=chance.random() < 0.8,
    )
    return Item(f"q{n}{attack}", f"{words(chance)} {n}? {attack}".strip(), gold, kind=chance.choice(["short", "long"]))


def run(chance: random.Random, name: str, items: list[Item], seeds: int = 1, attack: str = "") -> RunShown:
    answers = [answer(chance, one, attack) for _ in range(seeds) for one in items]
    found = scored(chance, answers, attack)
    about = {"dataset": f"notes.jsonl {attack}", "method": name, "k": 5, "limits": {"calls": None, "flag": True}}
    return RunShown(name, items, [answer_json.document(one) for one in answers], [found], about)


def answer(chance: random.Random, item: Item, attack: str = "") -> Answer:
    status: Any = chance.choice(["answered"] * 6 + ["abstained", "failed"])
    read = tuple({p.id: p for p in (passage(chance, attack) for _ in range(4))}.values())
    made = tuple(claim(chance, read, attack) for _ in range(chance.randint(1, 4))) if status == "answered" else ()
    rounds = tuple(Round("assess", n, scores={"citation recall": chance.random() * 100}) for n in range(3))
    usage = Usage({"main": 2}, {"main": Tokens(chance.randint(50, 900), 40)}, None, 5, 1, 0.25)
    notes = (f"It failed. {attack}",) if status == "failed" else ()
    return Answer(
        item.question, "long", "vanilla", status, made, read, usage=usage, rounds=rounds, notes=notes, id=item.id
    )


def passage(chance: random.Random, attack: str = "") -> Passage:
    made = Passage.of(f"{words(chance)}. {attack} {words(chance)}.", words(chance, 2) + attack)
    return replace(made, source=replace(made.source, path=f"/home/somebody/{attack or 'notes'}", record="r1"))


def claim(chance: random.Random, read: tuple[Passage, ...], attack: str = "") -> Claim:
    cited = chance.sample(read, chance.randint(0, min(2, len(read))))
    citations = tuple(Citation(one.id, quote(chance, one)) for one in cited)
    label: Any = chance.choice(OUTCOMES[: 4 if cited else 0] or ["unsupported"])
    support = Support(label, chance.random(), JUDGE, tuple(one.id for one in cited), words(chance) + attack)
    return Claim(f"{words(chance)} {attack} {words(chance)}.", citations, support)


def quote(chance: random.Random, passage: Passage) -> Quote:
    start = chance.randrange(len(passage.text) - 1)
    end = chance.randint(start + 1, len(passage.text))
    return Quote(start, end, passage.text[start:end])


def measured(chance: random.Random, answers: list[Answer], attack: str = "") -> MetricTable:
    def values() -> tuple[float | None, ...]:
        return tuple(None if one.status == "failed" else chance.choice((0.0, 0.5, 1.0)) for one in answers)

    statements = tuple(float(max(1, len(one.claims))) for one in answers)
    counted = tuple(
        None if one.status == "failed" else float(chance.randint(0, int(n)))
        for one, n in zip(answers, statements, strict=True)
    )
    columns = (
        Column("citation_rec", values()),
        Column("citation_prec", values()),
        Column("ais_micro", counted, statements),
        Column("length", tuple(None if v is None else 30 * v for v in values()), scale=1.0),
    )
    derived = (DerivedMetric("citation_f1", ("citation_rec", "citation_prec"), harmonic),)
    return MetricTable(columns, derived, tuple(reasons(chance, one, attack) for one in answers), (f"A note. {attack}",))


def reasons(chance: random.Random, answer: Answer, attack: str = "") -> dict[str, Any]:
    return {
        "failed": f"no verdict {attack}" if answer.status == "failed" else None,
        "statements": [statement(chance, one) for one in answer.claims],
        "gold": [{"text": words(chance, 2) + attack, "found": chance.random() < 0.5}],
        "claims": [{"text": words(chance) + attack, "entailed": chance.random() < 0.5}],
        "predicted": [{"text": words(chance) + attack, "right": True}],
    }


def statement(chance: random.Random, claim: Claim) -> dict[str, Any]:
    outcome = chance.choice(OUTCOMES[:4]) if claim.citations else "uncited"
    cited = [{"passage": c.passage, "n": n, "use": chance.choice(USES)} for n, c in enumerate(claim.citations, 1)]
    if chance.random() < 0.2:
        cited.append({"passage": None, "n": 99, "use": "invalid"})
    score = None if outcome == "uncited" else chance.random()
    reason = claim.support.reason if claim.support else None
    return {
        "text": claim.text,
        "outcome": outcome,
        "score": score,
        "judge": JUDGE,
        "reason": reason,
        "citations": cited,
    }


def scored(chance: random.Random, answers: list[Answer], attack: str = "") -> ScoreRecord:
    found = Scores(PROFILE, JUDGE, tuple(one.id for one in answers), measured(chance, answers, attack))
    return ScoreRecord(document(found), list(lines(found)))


def beside(shown: list[RunShown]) -> list[Beside]:
    """The differences to the first run, from the lines of reasons alone."""
    first, *others = (table_of(one.scores[0]) for one in shown)
    return [
        Beside(run.name, PROFILE, JUDGE, compare_tables(first, table, resamples=300))
        for run, table in zip(shown[1:], others, strict=True)
    ]


def silent(run: RunShown) -> RunShown:
    """The run without what takes long to draw: it has a plot of its metrics alone."""
    scored = replace(run.scores[0], reasons=[])
    return replace(run, scores=[scored], answers=[{**one, "rounds": [], "usage": {}} for one in run.answers])
