"""Verdicts kept on disk: what counts as the same pair, what is kept, and what a damaged file may not do."""

from __future__ import annotations

import asyncio
import hashlib
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.autoais_parts import in_a_file
from tests.slow_alce import Doc, Record
from toulmin.data import Passage, Quote
from toulmin.errors import ModelError, SourceError
from toulmin.judges.lexical import Lexical
from toulmin.judges.verdict_cache import CachedJudge, Rows
from toulmin.metrics.autoais import citation_metrics
from toulmin.metrics.judging import Judging
from toulmin.metrics.statements import Honest
from toulmin.steps import Pair, Verdict

PASSAGE = Passage.of("The tower was lit for the first time on 3 May 1824.", "Kettle Rock")
OTHER = Passage.of("Three keepers lived there. \ud800 é", "")
PAIR = Pair((PASSAGE, OTHER), "It was lit in 1824.")
FULL = Verdict("supported", 0.1 + 0.2, 1e-300, "judge-1", (Quote(0, 9, "The tower"), None), "words \ud800 é \x00")


class Judge:
    """Says the same of every pair and remembers what it was asked."""

    name = "judge-1"

    def __init__(self, said: Verdict = FULL) -> None:
        self.said = said
        self.asked: list[Pair] = []

    def judge(self, pairs: Sequence[Pair]) -> list[Verdict]:
        self.asked += pairs
        return [self.said for _ in pairs]


def judged(memo: CachedJudge, *pairs: Pair) -> list[Verdict]:
    return asyncio.run(memo.judge(pairs or (PAIR,)))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "kept" / "verdicts.sqlite"


# ---------------------------------------------------------------- what is kept


def test_a_verdict_comes_back_whole(file: Path):
    judged(CachedJudge(Judge(), file))
    assert judged(CachedJudge(Judge(replace(FULL, support=0.0)), file)) == [FULL]


def test_what_was_judged_before_is_not_judged_again(file: Path):
    judged(CachedJudge(Judge(), file))
    later = Judge()
    judged(CachedJudge(later, file))
    assert later.asked == []


def test_equal_pairs_of_one_call_are_judged_once(file: Path):
    judge = Judge()
    assert (judged(CachedJudge(judge, file), PAIR, PAIR), judge.asked) == ([FULL, FULL], [PAIR])


def test_only_what_is_missing_is_judged_and_all_is_in_order(file: Path):
    judged(CachedJudge(Judge(), file))
    said = replace(FULL, support=0.9)
    judge, other = Judge(said), replace(PAIR, claim="It was dark.")
    assert (judged(CachedJudge(judge, file), other, PAIR), judge.asked) == ([said, FULL], [other])


def test_no_pairs_no_call(file: Path):
    judge = Judge()
    assert (asyncio.run(CachedJudge(judge, file).judge([])), judge.asked) == ([], [])


def test_an_async_judge_is_awaited(file: Path):
    class Slow(Judge):
        async def judge(self, pairs: Sequence[Pair]) -> list[Verdict]:
            return Judge.judge(self, pairs)

    assert judged(CachedJudge(Slow(), file)) == [FULL]


def test_a_memo_bears_its_judges_name(file: Path):
    assert CachedJudge(Judge(), file).name == "judge-1"


def test_where_a_passage_comes_from_makes_no_other_pair(file: Path):
    judged(CachedJudge(Judge(), file))
    judge = Judge()
    moved = replace(PASSAGE, source=replace(PASSAGE.source, path="elsewhere"))
    judged(CachedJudge(judge, file), replace(PAIR, premises=(moved, OTHER)))
    assert judge.asked == []


# Each differs from PAIR in one thing that a verdict may depend on.
DIFFERENT = {
    "the claim": replace(PAIR, claim="It was lit in 1825."),
    "a question": replace(PAIR, question="When?"),
    "an empty question": replace(PAIR, question=""),
    "the order of premises": replace(PAIR, premises=(OTHER, PASSAGE)),
    "a premise less": replace(PAIR, premises=(PASSAGE,)),
    "a premise twice": replace(PAIR, premises=(PASSAGE, OTHER, OTHER)),
    "the title": replace(PAIR, premises=(Passage.of(PASSAGE.text, "Kettle"), OTHER)),
    "where the title ends": replace(PAIR, premises=(Passage.of("Rock" + PASSAGE.text, "Kettle "), OTHER)),
    "premises joined": replace(PAIR, premises=(Passage.of(PASSAGE.text + OTHER.text, PASSAGE.title),)),
}


@pytest.mark.parametrize("case", DIFFERENT)
def test_a_pair_that_differs_is_judged_anew(file: Path, case: str):
    judge = Judge()
    judged(CachedJudge(judge, file), PAIR, DIFFERENT[case])
    assert judge.asked == [PAIR, DIFFERENT[case]]


def test_another_judge_judges_anew(file: Path):
    judged(CachedJudge(Judge(), file))
    judge = Judge()
    judge.name = "judge-2"
    judged(CachedJudge(judge, file))
    assert judge.asked == [PAIR]


def test_judges_of_one_name_are_told_apart_by_their_key(file: Path):
    one, two = Judge(), Judge()
    one.key, two.key = "weights a", "weights b"
    judged(CachedJudge(one, file))
    judged(CachedJudge(two, file))
    assert two.asked == [PAIR]


def test_a_call_that_raises_keeps_nothing_and_passes_on(file: Path):
    class Broken(Judge):
        def judge(self, pairs: Sequence[Pair]) -> list[Verdict]:
            raise ModelError("away")

    with pytest.raises(ModelError, match="away"):
        judged(CachedJudge(Broken(), file))
    judge = Judge()
    judged(CachedJudge(judge, file))
    assert judge.asked == [PAIR]


@pytest.mark.parametrize(
    ("given", "said"),
    [([], "0 results for 1"), ([True], "a bool; expected a Verdict"), ([FULL, FULL], "2 results for 1")],
    ids=["none", "no verdict", "too many"],
)
def test_a_judge_that_gives_anything_else_is_told_so(file: Path, given: list, said: str):
    class Odd(Judge):
        def judge(self, pairs: Sequence[Pair]) -> list:
            return given

    with pytest.raises(ModelError, match=said):
        judged(CachedJudge(Odd(), file))


labels = st.sampled_from(["supported", "unsure", "unsupported", "contradicted"])
numbers = st.floats(allow_nan=False, allow_infinity=False)
quotes = st.none() | st.text(min_size=1, max_size=5).map(lambda text: Quote(0, len(text), text))
verdicts = st.builds(
    Verdict,
    label=labels,
    support=numbers,
    contradiction=numbers,
    judge=st.text(max_size=5),
    quotes=st.lists(quotes, max_size=3).map(tuple),
    reason=st.none() | st.text(max_size=9),
)


@given(st.lists(verdicts, max_size=4))
@settings(deadline=None, max_examples=25)
def test_any_verdict_survives_the_file(given_verdicts: list[Verdict]):
    with TemporaryDirectory() as folder:
        rows = Rows(Path(folder) / "verdicts.sqlite")
        kept = {str(n): verdict for n, verdict in enumerate(given_verdicts)}
        rows.keep(kept)
        assert rows.verdicts(kept) == kept
        rows.close()


# ---------------------------------------------------------------- the file


def test_only_its_owner_may_read_the_file(file: Path):
    judged(CachedJudge(Judge(), file))
    assert {stat.S_IMODE(path.stat().st_mode) for path in file.parent.iterdir()} == {0o600}


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE verdicts SET verdict = replace(verdict, 'supported', 'unsure')",
        "UPDATE verdicts SET verdict = '[]'",
        "UPDATE verdicts SET verdict = x'ff00'",
        "UPDATE verdicts SET verdict = NULL",
        "UPDATE verdicts SET digest = NULL",
        "UPDATE verdicts SET digest = 'x'",
    ],
)
def test_a_damaged_row_is_as_good_as_none_and_is_mended(file: Path, change: str):
    judged(CachedJudge(Judge(), file))
    with sqlite3.connect(file) as raw:
        raw.execute(change)
    raw.close()
    judge = Judge()
    first = judged(CachedJudge(judge, file))
    second = judged(CachedJudge(judge, file))
    assert (first, second, judge.asked) == ([FULL], [FULL], [PAIR])


def test_a_row_that_proves_itself_but_is_no_verdict_is_as_good_as_none(file: Path):
    judged(CachedJudge(Judge(), file))
    with sqlite3.connect(file) as raw:
        ((key,),) = raw.execute("SELECT key FROM verdicts").fetchall()
        text = '["sure", 2, 0, "judge", [], null]'
        raw.execute(
            "UPDATE verdicts SET verdict = ?, digest = ?", (text, hashlib.sha256(f"{key} {text}".encode()).hexdigest())
        )
    raw.close()
    judge = Judge()
    judged(CachedJudge(judge, file))
    assert judge.asked == [PAIR]


def test_a_file_that_is_no_database_is_named_and_left_alone(tmp_path: Path):
    path = tmp_path / "notes.txt"
    path.write_text("These are my notes. " * 99, "utf-8")
    with pytest.raises(SourceError, match=r"notes\.txt cannot be used"):
        CachedJudge(Judge(), path)
    assert path.read_text("utf-8").startswith("These are my notes.")


def test_another_programs_database_is_left_as_it_is(tmp_path: Path):
    path = tmp_path / "other.sqlite"
    with sqlite3.connect(path) as raw:
        raw.execute("CREATE TABLE mine (x)")
    raw.close()
    before = path.read_bytes()
    with pytest.raises(SourceError, match="not a memo of verdicts"):
        CachedJudge(Judge(), path)
    assert path.read_bytes() == before


def test_a_folder_is_no_memo(tmp_path: Path):
    with pytest.raises(SourceError, match="cannot be used"):
        CachedJudge(Judge(), tmp_path)


SHARING = """
import asyncio, sys
from toulmin.data import Passage
from toulmin.steps import Pair
from toulmin.judges.lexical import Lexical
from toulmin.judges.verdict_cache import CachedJudge

pairs = [Pair((Passage.of(f"Tower {n % 50}."),), sys.argv[2]) for n in range(200)]
memo = CachedJudge(Lexical(), sys.argv[1])
for start in range(0, 200, 20):
    asyncio.run(memo.judge(pairs[start : start + 20]))
"""


def test_several_processes_share_a_file(file: Path):
    command = [sys.executable, "-c", SHARING, str(file)]
    with ThreadPoolExecutor(3) as pool:
        ended = list(pool.map(lambda claim: subprocess.run([*command, claim]).returncode, ["One.", "Two.", "One."]))
    assert (ended, Rows(file).size) == ([0, 0, 0], 100)


def test_ten_thousand_pairs_are_kept_and_found(file: Path):
    passages = [Passage.of(f"{n} {'words ' * 100}", f"Title {n}") for n in range(500)]
    pairs = [Pair((passages[n % 500], passages[n * 7 % 500]), f"Claim {n}.") for n in range(10_000)]
    judged(CachedJudge(Judge(), file), *pairs)
    memo = CachedJudge(Judge(), file)
    judged(memo, *pairs)
    assert memo.asked == 0


def test_a_second_scoring_asks_the_judge_nothing_and_says_the_same(file: Path):
    docs = tuple(Doc(f"T{n}", f"Kettle Rock Tower was built in 182{n}.") for n in range(1, 6))
    output = "Kettle Rock Tower was built in 1821 [1][2]. It is tall [3]."
    read = [in_a_file(Record("When?", output, docs, ("It was built in 1821.",)))]
    first = asyncio.run(citation_metrics(read, Honest(), Judging(CachedJudge(Lexical(), file))))
    memo = CachedJudge(Lexical(), file)
    assert (asyncio.run(citation_metrics(read, Honest(), Judging(memo))), memo.asked) == (first, 0)
