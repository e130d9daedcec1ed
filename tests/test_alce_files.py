"""Result files as ALCE's evaluator takes them: odd characters, titles, ids and questions, beside the slow way."""

from __future__ import annotations

import gzip
import json
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import Any

import pytest
from row_tables import table

import toulmin
from tests.autoais_parts import Told
from tests.metrics_parts import DATA
from tests.slow_alce import SlowAlce, in_records, strings
from toulmin.cli import run as command
from toulmin.formats.export import DIALECTS
from toulmin.metrics import splitting

MARKS = "[1] [2] [3] [4] [0] [6] [1][2] [2][1] [1][2][3] [1][1] [1][2][3][4] [1, 2] [1-3] [[1]2] 【1】 [1 [2018]".split(
    " "
)
WORDS = (
    "Towers Pell lit 1824 keepers, oil, U.S. a the An twenty-one Ems, café ｐell : So: . , <|im_end|> | \n \r \r\n \0"
    " \ud800 Pe\udc00ll p\0ell oil\rlamp Pell\rlit. \x85 \u2028 \x1c Oil. Lit! The-tower"
).split(" ")


def text(chances: Random, most: int, marks: float = 0.0) -> str:
    """Words, odd characters among them, with marks for a share of them."""
    parts = []
    for _ in range(chances.randrange(most)):
        parts.append(chances.choice(MARKS if chances.random() < marks else WORDS))
        parts.append(chances.choice((" ", " ", " ", "", ". ", ", ", ": ")))
    return "".join(parts)


def doc(chances: Random) -> dict[str, Any]:
    body = {"text": text(chances, 8)} | ({"sent": text(chances, 4)} if chances.random() < 0.1 else {})
    return {"id": str(chances.randrange(9)), "title": chances.choice([None, None, "", "T", "T\r", "\ud800"]), **body}


GOLD = {
    "asqa": lambda c: {
        "qa_pairs": [{"question": "", "short_answers": some(c, 3)} for _ in range(c.randrange(1, 4))],
        "annotations": [{"long_answer": text(c, 20)}, {"long_answer": text(c, 20)}],
        "answer": text(c, 9),
    },
    "eli5": lambda c: {"question_ctx": "", "claims": [text(c, 5) for _ in range(3)], "answer": text(c, 20)},
    "qampari": lambda c: {"answers": [some(c, 3) for _ in range(c.randrange(1, 8))], "answer": text(c, 9)},
}


def some(chances: Random, most: int) -> list[str]:
    return [chances.choice(WORDS) for _ in range(chances.randrange(1, most))]


def record(chances: Random, form: str) -> dict[str, Any]:
    docs = [doc(chances) for _ in range(chances.choice((5, 5, 3, 1, 0)))]
    question = chances.choice(["Who?", "", "  ", "Which [2]?", "W\r\0\ud800"])
    given = {} if chances.random() < 0.1 else {"id": chances.randrange(50)}
    return {**given, "question": question, **GOLD[form](chances), "docs": docs, "output": text(chances, 16, 0.3)}


def by_chance(seed: int) -> Any:
    return lambda premise, claim: sha256(f"{seed}|{premise}|{claim}".encode("utf-8", "surrogatepass")).digest()[0] < 128


def write(path: Path, data: list[dict[str, Any]]) -> Path:
    path.write_text(json.dumps({"args": {}, "data": data}), "utf-8")
    return path


def score(file: Path, judge: Any, **options: Any) -> dict[str, float]:
    found = toulmin.score(file, profile="alce", judge=judge, memo=False, **options)
    return {name: metric["value"] for name, metric in found["metrics"].items() if name != "citation_f1"}


@table("form", GOLD)
@table("seed", range(17))
def test_a_result_file_has_the_figures_of_the_slow_way_to_the_last_digit(form: str, seed: int, tmp_path: Path):
    pytest.importorskip("rouge_score", reason="needs rouge-score, beside which ROUGE is held")
    chances = Random(f"{form}{seed}")
    data = [record(chances, form) for _ in range(100)]
    cot, most = chances.random() < 0.5, chances.choice((3, 3, 1, 2, 5))
    entails, is_list = by_chance(seed), form == "qampari"
    slow = SlowAlce(entails, splitting.sentences, is_list, most).score(in_records(data))
    theirs = strings(data, splitting.sentences, is_list, cot) | {n: v for n, v in slow.items() if v is not None}
    file = write(tmp_path / f"{form}.json", data)
    assert score(file, Told(entails), cot=cot, at_most_citations=most) == theirs


# ---------------------------------------------------------------- one by one


PLAIN = {
    "question": "Who?",
    "qa_pairs": [{"question": "Who?", "short_answers": ["Pell"]}],
    "annotations": [{"long_answer": "Pell."}, {"long_answer": "Pell."}],
    "answer": "Pell.",
    "docs": [{"title": "T", "text": "Pell."}],
    "output": "Pell [1].",
}


def judged(tmp_path: Path, **fields: Any) -> list[tuple[str, str]]:
    judge = Told(by_chance(0))
    score(write(tmp_path / "asqa.json", [{**PLAIN, **fields}]), judge)
    return judge.asked


@pytest.mark.parametrize("odd", ["\r", "\0", "\ud800", "\r\n"])
def test_odd_characters_reach_the_judge_as_they_are(odd: str, tmp_path: Path):
    docs = [{"title": f"T{odd}t", "text": f"Pell{odd}lit."}]
    assert judged(tmp_path, docs=docs, output=f"P{odd[0]}ell [1].") == [
        (f"Title: T{odd}t\nPell{odd}lit.", f"P{odd[0]}ell.")
    ]


def test_a_title_of_null_is_the_word_none_as_in_alce(tmp_path: Path):
    assert judged(tmp_path, docs=[{"title": None, "text": "Pell."}]) == [("Title: None\nPell.", "Pell.")]


def test_a_title_of_null_is_no_title_to_people(tmp_path: Path):
    judge = Told(by_chance(0))
    file = write(tmp_path / "asqa.json", [{**PLAIN, "docs": [{"title": None, "text": "Pell."}]}])
    toulmin.score(file, judge=judge, memo=False)
    assert judge.asked == [("Pell.", "Pell.")]


def test_records_of_one_id_and_without_a_question_are_all_scored(tmp_path: Path):
    data = [{**PLAIN, "id": "7"}, {**PLAIN, "id": "7", "output": "Nobody."}, {**PLAIN, "id": 7, "question": " "}]
    found = toulmin.score(write(tmp_path / "asqa.json", data), profile="alce", judge="none")
    assert (found["n"], found["metrics"]["str_hit"]["value"]) == (3, pytest.approx(200 / 3))
    reasons = [
        json.loads(line)["id"] for line in (tmp_path / "asqa.json.reasons-alce-none.jsonl").read_text().splitlines()
    ]
    assert reasons == ["7", "7#2", "7#3"]


def test_a_dataset_to_be_answered_still_needs_its_own_ids_and_questions(tmp_path: Path):
    with pytest.raises(toulmin.SourceError, match="already used"):
        toulmin.run(write(tmp_path / "a.json", [{**PLAIN, "id": 1}] * 2), out=tmp_path / "a")
    with pytest.raises(toulmin.SourceError, match="blank text"):
        toulmin.run(write(tmp_path / "b.json", [{**PLAIN, "question": " "}]), out=tmp_path / "b")


@pytest.mark.parametrize("profile", ["alce", "honest"])
def test_odd_characters_harm_no_judge_report_or_export(profile: Any, tmp_path: Path):
    chances = Random(3)
    data = [PLAIN, *(record(chances, "asqa") for _ in range(12))]
    file, other = write(tmp_path / "asqa.json", data), write(tmp_path / "other.json", data)
    assert toulmin.score(file, profile=profile, judge="lexical", memo=tmp_path / "memo")["n"] == 13
    toulmin.compare(file, other, profile=profile, judge="lexical", html=tmp_path / "report.html")
    assert "Pell" in (tmp_path / "report.html").read_text("utf-8")
    for name in DIALECTS:
        assert toulmin.export(file, name, out=tmp_path / name).files


# ---------------------------------------------------------------- the evaluator's own options


def test_with_cot_a_list_is_what_follows_the_first_colon(tmp_path: Path):
    data = [{"question": "Who?", "answers": [["Pell"]], "answer": "Pell.", "docs": [], "output": "Think, think: Pell."}]
    file = write(tmp_path / "qampari.json", data)
    assert score(file, "none")["qampari_prec"] == 0
    assert score(file, "none", cot=True)["qampari_prec"] == 100


def test_scores_of_other_options_stand_beside_each_other(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    file = write(tmp_path / "asqa.json", [PLAIN])
    words = ["score", str(file), "--judge", "none", "--profile", "alce"]
    assert command(words) == command([*words, "--cot", "--at-most-citations", "1"]) == 0
    profiles = [scores["profile"] for scores in json.loads((tmp_path / "asqa.json.scores.json").read_text())["scores"]]
    assert profiles == ["alce", "alce --cot --at-most-citations 1"]


@pytest.mark.parametrize(
    "options", [["--cot"], ["--at-most-citations", "2"], ["--profile", "alce", "--at-most-citations", "0"]]
)
def test_options_that_mean_nothing_are_refused(options: list[str], tmp_path: Path):
    assert command(["score", str(write(tmp_path / "asqa.json", [PLAIN])), "--judge", "none", *options]) == 2


@pytest.mark.skipif(not (DATA / "alce_golden.jsonl.gz").exists(), reason="needs alce_golden (TOULMIN_DATA)")
def test_the_golden_runs_have_their_figures_as_files(tmp_path: Path):
    with gzip.open(DATA / "alce_golden.jsonl.gz", "rt", encoding="utf-8") as lines:
        runs = [json.loads(line) for line in lines]
    for n, run in enumerate(runs):
        found = score(write(tmp_path / f"{n}.json", [{"docs": [], **item} for item in run["items"]]), "none")
        for name in ("length", "str_em", "str_hit"):
            assert found[name] == run["expected"][name], (n, name)
