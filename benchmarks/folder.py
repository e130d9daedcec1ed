"""How useful the answers over a real folder are: questions by kind, as `score_folder.py` of the data counts them.

    python $TOULMIN_DATA/folder/fetch_folder.py docs --cache debs       478 files of Debian's documentation
    python benchmarks/folder.py docs [--split dev] [--set style=short]
    python benchmarks/folder_2/build.py docs_2 --cache debs              161 files that are not about software
    python benchmarks/folder.py docs_2 --folder 2
    python benchmarks/folder.py docs --dialogues [--folder A]            three turns each
    python benchmarks/folder.py benchmarks/languages/de --folder de      four pages, the same in nine languages

Settings are chosen on `train`, figures are of `dev`. Each question is asked cold, without kept vectors, and again when
all are kept; both rounds are counted, the table is of the second one. `--keep PLACE` leaves the index and the vectors
there and uses them again: then only the second round is asked. `--show N` prints N answers, those that miss first.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from headings import heading

import toulmin
from toulmin.config import parse_value
from toulmin.data import Answer

DATA = Path(os.environ.get("TOULMIN_DATA", "../shared/data"))
HERE = Path(__file__).parent
Question = dict[str, Any]
Row = tuple[Question, Answer]


def read_lines(path: Path) -> list[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def questions_of(folder: str, split: str) -> list[Question]:
    """The questions of a split; those that are reworded or misspelled lie with the second folder's."""
    known = [row for path in HERE.glob("*/questions.jsonl") for row in read_lines(path) if row["folder"] == folder]
    if folder == "A":
        known += [row for row in read_lines(DATA / "folder_questions.jsonl.gz") if row["kind"] != "wording"]
    return [question for question in known if split in (question["split"], "all")]


def dialogues_of(folder: str, split: str) -> list[list[Question]]:
    """The turns of each dialogue, as questions of the kinds `first` and `later`."""
    rows = [row for row in read_lines(HERE / "folder_2" / "dialogues.jsonl") if row["folder"] == folder]
    return [
        [
            {**turn, "id": f"{row['id']}-{n}", "kind": "later" if n else "first", "split": row["split"], "note": ""}
            for n, turn in enumerate(row["turns"])
        ]
        for row in rows
        if split in (row["split"], "all")
    ]


# ---------------------------------------------------------------- asking


def ask_each(questions: Sequence[Question], index: Path, settings: dict[str, Any]) -> tuple[list[Answer], float]:
    """The answers, and the seconds of processor time that one took; in a process of its own, which remembers none."""
    with get_context("spawn").Pool(1) as pool:
        return pool.apply(_ask_each, (questions, index, settings))


def _ask_each(questions: Sequence[Question], index: Path, settings: dict[str, Any]) -> tuple[list[Answer], float]:
    toulmin.ask(questions[0]["question"], index=index, method="vanilla", k=1)  # loads the networks
    began = time.process_time()
    made = [toulmin.ask(question["question"], index=index, **settings) for question in questions]
    return made, (time.process_time() - began) / len(questions)


def ask_in_turn(dialogue: Sequence[Question], index: Path, settings: dict[str, Any]) -> list[Answer]:
    """The answers to the turns of one dialogue, each with the turns before."""
    made: list[Answer] = []
    for turn in dialogue:
        made.append(toulmin.ask(turn["question"], index=index, history=tuple(made), **settings))
    return made


@contextmanager
def indexed(docs: Path, keep: Path | None) -> Iterator[Path]:
    """The index of the folder, with a place for vectors beside it."""
    with TemporaryDirectory() as scratch:
        place = keep or Path(scratch)
        os.environ["XDG_CACHE_HOME"] = str(place / "cache")  # no vectors are kept from before
        toulmin.index(docs, into=place / "index")
        yield place / "index"


# ---------------------------------------------------------------- figures


def record(question: Question, answer: Answer) -> dict[str, Any]:
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


def table(rows: Sequence[Row]) -> str:
    """What the scoring script prints, without its first line."""
    with TemporaryDirectory() as place:
        asked, answered = Path(place) / "questions.jsonl", Path(place) / "answers.jsonl"
        asked.write_text("".join(json.dumps(question) + "\n" for question, _ in rows), "utf-8")
        answered.write_text("".join(json.dumps(record(*row)) + "\n" for row in rows), "utf-8")
        command = [sys.executable, str(DATA / "folder" / "score_folder.py"), str(asked), str(answered)]
        printed = subprocess.run([*command, "--split", "all"], check=True, capture_output=True, text=True).stdout
    return printed.partition("\n")[2].strip()


def is_hit(question: Question, text: str) -> bool:
    """Whether the text has every fact of the answer."""
    sys.path.append(str(DATA / "folder"))
    from score_folder import present  # type: ignore[import-not-found]

    return bool(question["answers"]) and all(present(fact, text) for fact in question["answers"])


def share(rows: Sequence[Row], holds: Callable[[Row], bool]) -> str:
    held = sum(map(holds, rows))
    return f"{held} of {len(rows)} ({100 * held / max(1, len(rows)):.0f} of 100)"


def figures(rows: Sequence[Row]) -> Iterator[str]:
    """The answers beside the first passage, and what stands in them that was not asked for."""
    answerable = [row for row in rows if row[0]["answerable"]]
    yield f"all facts in the answer: {share(answerable, lambda row: is_hit(row[0], row[1].text))}"
    first = [(question, answer.passages[0].text if answer.passages else "") for question, answer in answerable]
    yield f"    in the first passage, whole: {sum(is_hit(*each) for each in first)} of {len(first)}"
    best = [(question, " ".join(passage.text for passage in answer.passages[:10])) for question, answer in answerable]
    yield f"    in the first ten passages: {sum(is_hit(*each) for each in best)} of {len(best)}"
    one_fact = [row for row in answerable if row[0]["kind"] == "fact"]
    sentences = [(question, claim.text) for question, answer in one_fact for claim in answer.claims]
    idle = sum(not any(is_hit({"answers": [fact]}, text) for fact in q["answers"]) for q, text in sentences)
    yield f"sentences of one-fact answers without a wanted fact: {idle} of {len(sentences)}"
    yes = [row for row in rows if row[1].relevance and row[1].relevance.answers == "yes"]
    yield f"answers: yes over answers that miss a fact: {share(yes, lambda row: not is_hit(row[0], row[1].text))}"
    misses = [row for row in answerable if row[1].claims and not is_hit(row[0], row[1].text)]
    yield f"    of answers that miss a fact, called yes: {share(misses, lambda row: row in yes)}"
    labels = [claim.support.label for _, answer in rows for claim in answer.claims if claim.support]
    yield f"sentences called disputed: {labels.count('disputed')} of {len(labels)}"


def show(rows: Sequence[Row], most: int) -> Iterator[str]:
    for question, answer in sorted(rows, key=lambda row: is_hit(row[0], row[1].text))[:most]:
        state = "hit" if is_hit(question, answer.text) else "MISS" if question["answerable"] else "no answer expected"
        yield f"\n[{question['id']}, {state}, {answer.relevance and answer.relevance.answers}] {question['question']}"
        yield f"  {answer.text}" + (f"\n  wanted: {question['answers']}" if state == "MISS" else "")


def main() -> None:
    """Asks and prints the table and the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("docs", type=Path)
    parser.add_argument("--folder", default="A", help="whose questions are asked: A, 2, or a language of `languages`")
    parser.add_argument("--split", choices=("train", "dev", "all"), default="dev")
    parser.add_argument("--dialogues", action="store_true", help="ask dialogues in place of questions")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--keep", type=Path, metavar="PLACE", help="leave the index there and use it again")
    parser.add_argument("--show", type=int, default=0, metavar="N", help="print that many answers")
    chosen = parser.parse_args()
    settings = {name: parse_value(value) for name, _, value in (pair.partition("=") for pair in chosen.set)}
    with indexed(chosen.docs, chosen.keep) as index:
        if chosen.dialogues:
            dialogues = dialogues_of(chosen.folder, chosen.split)
            print(heading("folder.py", f"{len(dialogues)} dialogues; settings {settings or 'as usual'}."))
            turns = [pair for each in dialogues for pair in zip(each, ask_in_turn(each, index, settings), strict=True)]
            rows = [(turn, answer) for turn, answer in turns if turn["kind"] == "later"]
            print("later turns:")
        else:
            questions = questions_of(chosen.folder, chosen.split)
            print(heading("folder.py", f"{len(questions)} questions; settings {settings or 'as usual'}."))
            cold, seconds = ([], 0.0) if chosen.keep else ask_each(questions, index, settings)
            made, kept = ask_each(questions, index, settings)
            rows = list(zip(questions, made, strict=True))
            if cold:
                same = sum(one.text == other.text for one, other in zip(cold, made, strict=True))
                print(f"cold equals kept: {same} of {len(made)}; {seconds:.2f} s of the processor a cold question")
            print(f"{kept:.2f} s of the processor a question")
            print(table(rows))
        print(*figures(rows), *show(rows, chosen.show), "```", sep="\n")


if __name__ == "__main__":
    main()
