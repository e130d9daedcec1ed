"""What is kept on disk and read back: answers, transcripts, runs, scores, exports."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import closing
from typing import Any

from dialect_checks import problems
from fuzz_parsers import PART, Parser, folder, rows, write_all, written
from transcripts import from_json

from toulmin.cli.preferring import load_preferences
from toulmin.data import Answer, Citation, Claim, Passage, Quote, Source, Support
from toulmin.datasets.item import Item, item_document
from toulmin.driver.journal import to_json
from toulmin.driver.transcript import Entry, Transcript
from toulmin.errors import SourceError
from toulmin.evaluation.run_folder import DECISIVE, FORM, JOURNAL, read_run
from toulmin.evaluation.run_journal import Entry as Ended
from toulmin.evaluation.run_journal import Journal
from toulmin.evaluation.scores import current_scores, read_scorable
from toulmin.formats import answer_json
from toulmin.formats.export import DIALECTS, export_answers
from toulmin.prompts.replies import Reply
from toulmin.steps import Rating, Span, Verdict

QUESTION = "When was it lit?"


LAMP = Passage.of("The lamp was lit in 1824.", "Lamp", Source(0, 25, path="lamp.pdf", page=3, record="7"))
ANSWER = Answer(
    "When was it lit?",
    "long",
    "vanilla",
    "answered",
    (
        Claim(
            "It was lit.",
            (Citation(LAMP.id, Quote(0, 8, "The lamp")),),
            Support("supported", 0.9, "lexical", (LAMP.id,)),
        ),
    ),
    (LAMP,),
    settings={"k": 5},
    id="1",
)


def run(data: bytes) -> None:
    """A run folder of these files."""
    place = write_all("run", RUN, data)
    for part_of_run in read_scorable(place):
        current_scores(place, len(part_of_run.answered), "x")


def run_of_journal(data: bytes) -> None:
    place = written(f"run_of_journal/{JOURNAL}", data).parent
    written("run_of_journal/run.json", json.dumps(ABOUT).encode())
    written("run_of_journal/items.jsonl", rows(item_document(Item("1", QUESTION))))
    for left in ("-wal", "-shm", "-journal"):
        (place / f"{JOURNAL}{left}").unlink(missing_ok=True)
    read_run(place)


ABOUT: Mapping[str, Any] = {"run": FORM, **dict.fromkeys(DECISIVE, "x"), "dataset": {"path": "d", "form": "own"}}


def journal() -> bytes:
    path = folder() / "seed.sqlite"
    with closing(Journal(path)) as made:
        made.keep(Ended("1", 0, False, answer_json.dumps(ANSWER)), b"{}")
    return path.read_bytes()


def transcript() -> bytes:
    entries = {
        (0,): Entry("Entail", "d", (Verdict("supported", 0.9, 0.0, "lexical"),)),
        (1,): Entry("Rate", "d", Rating("lexical", (0.5,))),
        (2,): Entry("Generate Summarise", "d", Reply("x", value="x")),
        (3,): Entry("Search", "d", error=SourceError("x")),
        (4, 1): Entry("Read", "d", Span(LAMP.id, Quote(0, 8, "The lamp"), 0.5)),
    }
    return to_json(Transcript(entries, 1.0, ["note"]))


def exported(data: bytes) -> None:
    """The first byte chooses the dialect."""
    names = sorted(DIALECTS)
    problems(names[data[0] % len(names)] if data else names[0], data[1:])


def written_exports() -> list[bytes]:
    made = (export_answers([ANSWER], [Item("1", QUESTION)], name, run_id="r").data for name in sorted(DIALECTS))
    return [bytes([n]) + data for n, data in enumerate(made)]


RUN = ("run.json", "items.jsonl", "answers.jsonl", "scores.json", "reasons-honest-lexical.jsonl")
SCORE = {"profile": "honest", "judge": "lexical", "answers": "x", "metrics": {}}
ITEMS = rows(item_document(Item("1", QUESTION)))
FILES = [
    json.dumps(ABOUT).encode(),
    ITEMS,
    answer_json.dumps(ANSWER) + b"\n",
    rows({"scores": [SCORE]}),
    rows({"id": "1"}),
]
PREFERENCE = rows({"id": "1", "fluency": "first", "informativeness": "neither"})
PARSERS: dict[str, Callable[[], Parser]] = {
    "answer": lambda: Parser(answer_json.parse, [answer_json.dumps(ANSWER)]),
    "transcript": lambda: Parser(from_json, [transcript()]),
    "run": lambda: Parser(run, [PART.join(FILES)]),
    "journal": lambda: Parser(run_of_journal, [journal()]),
    "preferences": lambda: Parser(lambda data: load_preferences(written("p.jsonl", data)), [PREFERENCE]),
    "exported": lambda: Parser(exported, written_exports()),
}
