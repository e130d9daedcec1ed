"""Saved answers after their sources changed: edits that change a cited fact, and everything that no edit touched.

    python $TOULMIN_DATA/folder/fetch_folder.py docs --cache debs       478 files of Debian's documentation
    python benchmarks/recheck.py docs [--questions 100] [--answers FILE] [--edits benchmarks/recheck_edits_2.jsonl]

Questions about the folder are answered; then the edits of `recheck_edits.jsonl`, or of another list, are made in a
copy of it (each in every file of its folder that has the words) and the answers are rechecked there. Printed are, by
kind of edit, the states of the claims whose quoted sentence an edit changed, and the states of the claims whose
quoted sentences all stand as they were. Then ten thousand sentences of the documents are claims that cite them, one
file is changed, and a recheck is timed; `--questions 0` does only that.

`--answers` keeps the answers in a file, which is read if it is there.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from folder import questions_of
from headings import heading

import toulmin
from toulmin.build.indexes import open_index
from toulmin.checking.recheck import ClaimRecheck, Recheck
from toulmin.data import Answer, Citation, Claim, Passage, Quote, Support
from toulmin.evaluation.saved_answers import read_answers
from toulmin.formats import answer_json
from toulmin.indexing.corpus import AnyCorpus
from toulmin.indexing.update import update
from toulmin.text.language import sentences

EDITS: list[dict[str, str]] = []
TEXTS = {".html", ".txt", ".md"}
FALLEN = ("stale", "contradicted")
CLAIMS = 10_000


def pattern_of(words: str) -> re.Pattern[str]:
    return re.compile(r"(?:\s|<[^<>]*>)+".join(map(re.escape, words.split())))


def edit_all(docs: Path) -> list[str]:
    """Makes the edits in every file that has their words; those that no file has."""
    missed = []
    for edit in EDITS:
        count = 0
        for path in sorted((docs / edit["folder"]).rglob("*")):
            if path.suffix in TEXTS:
                text, made = pattern_of(edit["was"]).subn(edit["now"], path.read_text("utf-8", "replace"))
                if made:
                    path.write_text(text, "utf-8")
                count += made
        missed += [] if count else [edit["was"]]
    return missed


def quotes_of(claim: ClaimRecheck) -> list[str]:
    return [" ".join(citation.quote.text.split()) for citation in claim.was.citations if citation.quote]


def edits_of(claim: ClaimRecheck) -> list[dict[str, str]]:
    """The edits that changed a sentence that the claim quotes."""
    return [edit for edit in EDITS if any(edit["was"] in quote for quote in quotes_of(claim))]


def answers_of(index: Path, questions: int, file: Path | None) -> list[Answer]:
    if file is not None and file.exists():
        return list(read_answers(file))
    chosen = [question["question"] for question in questions_of("A", "dev")][:questions]
    made = list(toulmin.ask_all(chosen, index=index))
    if file is not None:
        file.write_bytes(b"\n".join(map(answer_json.dumps, made)))
    return made


def table(rechecks: Sequence[Recheck]) -> None:
    by_kind: dict[str, Counter[str]] = defaultdict(Counter)
    untouched: Counter[str] = Counter()
    wrongly, missed = [], []
    for claim in (claim for each in rechecks for claim in each.claims if claim.state is not None):
        edits = edits_of(claim)
        for edit in edits[:1]:
            by_kind[edit["kind"]][str(claim.state)] += 1
            missed += [] if claim.state in FALLEN else [f"{claim.state}: {edit['now']}"]
        if not edits and quotes_of(claim):
            untouched[str(claim.state)] += 1
            wrongly += [claim.was.text] if claim.state in (*FALLEN, "gone") else []
    caught = sum(counts[state] for counts in by_kind.values() for state in FALLEN)
    total = sum(map(sum, (counts.values() for counts in by_kind.values())))
    for kind, counts in by_kind.items():
        print(f"{kind:10}", ", ".join(f"{count} {state}" for state, count in counts.most_common()))
    print(f"of {total} claims whose quoted sentence an edit changed {caught} are stale or contradicted; not caught:")
    print("\n".join(f"    {line}" for line in missed))
    print("claims whose quoted sentences no edit changed:", ", ".join(f"{n} {state}" for state, n in untouched.items()))
    print("\n".join(f"    fallen wrongly: {text}" for text in wrongly))


def claims_of(corpus: AnyCorpus, edited: str) -> Iterator[tuple[Passage, Claim]]:
    """Ten thousand claims, no two alike: sentences of the documents, those of the edited file first."""
    passages = sorted(corpus.every_passage(), key=lambda passage: passage.id)
    passages.sort(key=lambda passage: not str(passage.source.path).endswith(edited))
    taken: set[str] = set()
    for passage in passages:
        for start, end in sentences(passage.text):
            words = passage.text[start:end]
            if len(taken) < CLAIMS and len(words.split()) > 4 and words not in taken:
                taken.add(words)
                support = Support("supported", 1.0, "lexical", (passage.id,))
                yield passage, Claim(words, (Citation(passage.id, Quote(start, end, words)),), support)


def time_recheck(index: Path, docs: Path) -> str:
    """A recheck of ten thousand claims, four an answer, after one edit of one file, which is undone afterwards."""
    path = docs / "git" / "git-daemon.txt"
    with open_index(str(index)) as corpus:
        many = list(claims_of(corpus, "git/git-daemon.txt"))
    answers = [
        Answer("", "long", "check", "answered", tuple(c for _, c in four), tuple({p.id: p for p, _ in four}.values()))
        for four in (many[n : n + 4] for n in range(0, len(many), 4))
    ]
    toulmin.recheck(answers[0], index=index)  # loads what is needed
    text = path.read_text("utf-8")
    path.write_text(text.replace("aka 9418", "aka 9420"), "utf-8")
    update(index, [docs])
    began = time.monotonic()
    rechecks = toulmin.recheck(*answers, index=index)
    seconds, pairs = time.monotonic() - began, sum(each.pairs for each in rechecks)
    path.write_text(text, "utf-8")
    states = Counter(str(claim.state) for each in rechecks for claim in each.claims)
    listed = ", ".join(f"{count:,} {state}" for state, count in states.most_common())
    return (
        f"{len(many):,} claims, no two alike, one changed file: {seconds:.2f} s, {pairs} pairs judged; {listed};"
        f" load {os.getloadavg()[0]:.1f}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("docs", type=Path)
    parser.add_argument("--questions", type=int, default=100)
    parser.add_argument("--answers", type=Path)
    parser.add_argument("--edits", type=Path, default=Path(__file__).with_name("recheck_edits.jsonl"))
    options = parser.parse_args()
    EDITS[:] = map(json.loads, options.edits.read_text("utf-8").splitlines())
    with TemporaryDirectory() as place:
        os.environ["XDG_CACHE_HOME"] = f"{place}/cache"
        docs, old, new = Path(place) / "docs", Path(place) / "old", Path(place) / "new"
        shutil.copytree(options.docs, docs)
        update(old, [docs])
        answers = answers_of(old, options.questions, options.answers)
        speed = time_recheck(old, docs)
        missed = edit_all(docs)
        update(new, [docs])
        print(heading("recheck.py", f"{len(answers)} answers, {len(EDITS)} edits.\n"))
        print("\n".join(f"no file has: {words}" for words in missed))
        began = time.monotonic()
        rechecks = toulmin.recheck(*answers, index=new)
        pairs = sum(each.pairs for each in rechecks)
        claims = sum(len(each.claims) for each in rechecks)
        print(f"{claims} claims in {time.monotonic() - began:.1f} s, {pairs} pairs judged")
        table(rechecks)
        print(speed)
        print("```")


if __name__ == "__main__":
    main()
