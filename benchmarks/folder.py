"""How useful the answers over a real folder are: questions by kind, as `score_folder.py` of the data counts them.

    python $TOULMIN_DATA/folder/fetch_folder.py docs --cache debs       478 files of Debian's documentation
    python benchmarks/folder.py docs [--split dev] [--reader embedded:FOLDER] [--set style=short]

Settings are chosen on `train`, figures are of `dev`, but those of reworded questions, which are of both. Each question
is asked cold, when vectors of its passages are made for it within the usual time, and again when all of them are kept.
Both rounds are scored, the first in its last lines only.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from headings import heading

import toulmin
from toulmin.config import parse_value
from toulmin.data import Answer

DATA = Path(os.environ.get("TOULMIN_DATA", "../shared/data"))
QUESTIONS = DATA / "folder_questions.jsonl.gz"


def questions_of(split: str) -> list[dict[str, Any]]:
    """The questions of a split, and the reworded ones of both."""
    with gzip.open(QUESTIONS, "rt", encoding="utf-8") as lines:
        known = [json.loads(line) for line in lines]
    return [question for question in known if split in (question["split"], "all") or question["kind"] == "wording"]


def record(question: dict[str, Any], answer: Answer) -> dict[str, Any]:
    """What `score_folder.py` reads of an answer."""
    claims = [
        {
            "text": claim.text,
            "citations": [{"passage": c.passage, "quote": c.quote and c.quote.text} for c in claim.citations],
        }
        for claim in answer.claims
    ]
    passages = [{"id": p.id, "file": p.source.path, "text": p.text} for p in answer.passages]
    record = {"id": question["id"], "status": answer.status, "text": answer.text}
    return {**record, "claims": claims, "passages": passages}


def answers(questions: Sequence[dict[str, Any]], index: Path, settings: dict[str, Any]) -> tuple[list[Answer], float]:
    """The answers, and the seconds of processor time that one took; in a process of its own, which remembers none."""
    with get_context("spawn").Pool(1) as pool:
        return pool.apply(_answers, (questions, index, settings))


def _answers(questions: Sequence[dict[str, Any]], index: Path, settings: dict[str, Any]) -> tuple[list[Answer], float]:
    toulmin.ask(questions[0]["question"], index=index, method="vanilla", k=1)  # loads the networks
    began = time.process_time()
    made = [toulmin.ask(question["question"], index=index, **settings) for question in questions]
    return made, (time.process_time() - began) / len(questions)


def score(questions: Sequence[dict[str, Any]], made: Sequence[Answer], file: Path, split: str) -> str:
    """What the scoring script prints."""
    file.write_text("".join(json.dumps(record(*pair)) + "\n" for pair in zip(questions, made, strict=True)))
    command = [sys.executable, str(DATA / "folder" / "score_folder.py"), str(QUESTIONS), str(file)]
    return subprocess.run([*command, "--split", split], check=True, capture_output=True, text=True).stdout


def main() -> None:
    """Asks and prints what the scoring script says."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("docs", type=Path)
    parser.add_argument("--split", choices=("train", "dev", "all"), default="dev")
    parser.add_argument("--reader", help="as `toulmin --set reader=` names it")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE")
    chosen = parser.parse_args()
    settings = {name: parse_value(value) for name, _, value in (pair.partition("=") for pair in chosen.set)}
    if chosen.reader:
        settings["reader"] = chosen.reader
    questions = questions_of(chosen.split)
    print(heading("folder.py", f"{len(questions)} questions; settings {settings or 'as usual'}."))
    with TemporaryDirectory() as place:
        os.environ["XDG_CACHE_HOME"] = place  # no vectors are kept from before
        index = Path(place) / "index"
        toulmin.index(chosen.docs, into=index)
        new, cold = answers(questions, index, settings)
        answers(questions, index, settings | {"rerank_seconds": 600.0})  # makes the vectors
        made, warm = answers(questions, index, settings)
        scores = [score(questions, each, Path(place) / "answers.jsonl", chosen.split) for each in (new, made)]
    print(f"{cold:.2f} s of processor time a question with passages that are new, {warm:.2f} s with kept vectors.")
    print(
        "new:",
        *(line for line in scores[0].splitlines() if line.startswith(("answerable", "unanswerable  "))),
        sep="\n",
    )
    print("kept:", scores[1].strip(), sep="\n")
    reworded = [
        (question, answer) for question, answer in zip(questions, made, strict=True) if question["kind"] == "wording"
    ]
    sys.path.append(str(DATA / "folder"))
    from score_folder import present  # type: ignore[import-not-found]

    right = sum(all(present(fact, answer.text) for fact in question["answers"]) for question, answer in reworded)
    print(f"misspelled and reworded, train and dev together: {right} of {len(reworded)} hit\n```")


if __name__ == "__main__":
    main()
