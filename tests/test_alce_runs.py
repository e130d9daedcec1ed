"""A run under the profile `alce`: what a model wrote is scored as it stands, in the run as in ALCE's own file."""

from __future__ import annotations

import json
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

import toulmin
import toulmin.ext
from toulmin.ext import ScriptedModel, prompts
from toulmin.methods import METHODS
from toulmin.steps import Generate

YEARS = {"Ems": 1803, "Tyne": 1824, "Dee": 1871, "Wear": 1899, "Fal": 1850, "Avon": 1911}


def passages(name: str, year: int) -> list[dict[str, str]]:
    return [
        {"title": f"{name} Tower", "text": f"The {name} Tower was lit in {year}. It stands on a rock."},
        {"title": "Lamps", "text": "Lamps of towers burn oil. Oil is dear."},
        {"title": f"{name} Tower", "text": f"Hannah Pell built the {name} Tower. She was born in Ems."},
    ]


def asqa(name: str, year: int) -> dict[str, Any]:
    return {
        "sample_id": name,
        "question": f"When was the {name} Tower lit, and who built it?",
        "qa_pairs": [
            {"question": "When?", "short_answers": [str(year)]},
            {"question": "Who?", "short_answers": ["Pell"]},
        ],
        "annotations": [{"long_answer": f"It was lit in {year}."}, {"long_answer": "Hannah Pell built it."}],
        "answer": f"It was lit in {year}. Hannah Pell built it.",
    }


def qampari(name: str, year: int) -> dict[str, Any]:
    answers = [["Hannah Pell", "Pell"], [f"{name} Tower"], [str(year)]]
    return {"id": name, "question": f"What is known of {name}?", "answers": answers, "answer": "Hannah Pell."}


def nq(name: str, year: int) -> dict[str, Any]:
    return {"id": name, "question": f"When was the {name} Tower lit?", "answers": [str(year)]}


FORMS: dict[str, Callable[[str, int], dict[str, Any]]] = {"asqa": asqa, "qampari": qampari, "nq": nq}


def dataset(folder: Path, form: str = "asqa") -> Path:
    rows = [{**FORMS[form](name, year), "docs": passages(name, year)} for name, year in YEARS.items()]
    file = folder / f"{form}.json"
    file.write_text(json.dumps(rows), "utf-8")
    return file


def replies(name: str, year: str) -> list[str]:
    """Answers as models write them, with talk, invented passages, line breaks, and none at all."""
    return [
        f"Sure, here is the answer. The {name} Tower was lit in {year} [1].",
        f"The {name} Tower was lit in {year} [1][7]. Hannah Pell built the {name} Tower [3].",
        f"Hannah Pell built the {name} Tower [3]. Lamps of towers burn oil [1, 2].\nIt was lit in {year}.",
        f"Hannah Pell built the {name} Tower [0]. I hope this helps!",
        "I cannot find the answer in the passages.",
        f"Hannah Pell [3], {name} Tower [1], the Severn Tower [9], Hannah Pell [3].",
        f"{year} [1]",
        "",
    ]


def write(request: Generate) -> str:
    """A careless model; what it writes hangs on what it is asked, and is the same each time."""
    prompt = request.prompt
    drawn = int(sha256(f"{request.role}{request.sample}{prompt!r}".encode()).hexdigest(), 16)
    if isinstance(prompt, prompts.Summarise | prompts.Extract):
        return prompt.passage.text if drawn % 3 else "irrelevant"
    if isinstance(prompt, prompts.MostConsistent):
        return str(1 + drawn % len(prompt.candidates))
    if isinstance(prompt, prompts.Cite):
        return ("[1]", "[1][3]", "[8]")[drawn % 3]
    if isinstance(prompt, prompts.Feedback):
        return "Citation recall: cite every sentence."
    if isinstance(prompt, prompts.NextClaim) and prompt.written.count(".") > 1:
        return "END"
    texts = [passage.text for passage in getattr(prompt, "passages", ())]
    name, year = next(((text.split()[1], text.split()[6][:4]) for text in texts if "was lit" in text), ("Ems", "1803"))
    if isinstance(prompt, prompts.NextClaim):
        return (f"The {name} Tower was lit in {year}.", f"Hannah Pell built the {name} Tower.")[drawn % 2]
    chosen = replies(name, year)
    return chosen[drawn % len(chosen)]


def run(file: Path, out: Path, method: str, **options: Any) -> Path:
    model = options.pop("model", ScriptedModel(write))
    report = toulmin.run(file, out=out, method=method, model=model, verifier=model, judge="lexical", **options)
    assert report.error is None
    return out


def score(place: Path, profile: str = "alce", **options: Any) -> dict[str, Any]:
    found = toulmin.score(place, profile=profile, judge="lexical", memo=False, **options)
    return {name: metric["value"] for name, metric in found["metrics"].items()}


def always(text: str) -> ScriptedModel:
    return ScriptedModel(lambda request: text)


# ---------------------------------------------------------------- the reply as it was written

RAW = "Of course! Ems Tower was lit in 1803 [1]. Hannah Pell built the Ems Tower [3][9]."


def test_a_run_is_scored_by_the_words_that_the_model_wrote(tmp_path: Path):
    file = dataset(tmp_path)
    folder = run(file, tmp_path / "run", "vanilla", model=always(RAW), limit=1)
    (record,) = json.loads(file.read_text("utf-8"))[:1]
    (tmp_path / "asqa-result.json").write_text(json.dumps({"data": [{**record, "output": RAW}]}), "utf-8")
    found = score(folder)
    assert found == score(tmp_path / "asqa-result.json")
    assert (found["citation_rec"], found["citation_prec"]) == (pytest.approx(100 / 3), 100)


def test_the_exported_file_holds_the_words_that_the_model_wrote(tmp_path: Path):
    folder = run(dataset(tmp_path), tmp_path / "run", "vanilla", model=always(RAW), limit=1)
    (file,) = toulmin.export(folder, "alce").files
    (entry,) = json.loads(file.read_text("utf-8"))["data"]
    assert entry["output"] == RAW
    assert [doc["text"] for doc in entry["docs"]] == [doc["text"] for doc in passages("Ems", 1803)]


def test_thinking_is_no_part_of_the_words_and_json_becomes_a_line(tmp_path: Path):
    claims = [{"text": "Ems Tower is lit.", "passages": [1, 9]}, {"text": "Yes.", "passages": []}]
    text = f"<think>Which one?</think>{json.dumps({'claims': claims})}"
    folder = run(dataset(tmp_path), tmp_path / "run", "vanilla", model=always(text), limit=1)
    (file,) = toulmin.export(folder, "alce").files
    assert json.loads(file.read_text("utf-8"))["data"][0]["output"] == "Ems Tower is lit [1][9]. Yes."


def test_an_answer_that_is_no_longer_the_reply_is_scored_as_it_is_shown(tmp_path: Path):
    text = "Of course! Hannah Pell built the Ems Tower [3]. It was painted green in 1950 [3]."
    folder = run(dataset(tmp_path), tmp_path / "run", "vanilla", model=always(text), limit=1, unsupported="drop")
    (file,) = toulmin.export(folder, "alce").files
    (entry,) = json.loads(file.read_text("utf-8"))["data"]
    assert entry["output"] == "Hannah Pell built the Ems Tower [1]."


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("method", [name for name in METHODS if name != "self-rag"])
def test_a_run_has_the_figures_of_its_exported_file(method: str, form: str, tmp_path: Path):
    folder = run(dataset(tmp_path, form), tmp_path / "run", method)
    (file,) = toulmin.export(folder, "alce").files
    found = score(folder)
    assert len(found) > 3
    assert score(file) == found


def test_a_failed_answer_is_an_empty_output_in_both(tmp_path: Path):
    def fails(request: Generate) -> str:
        if "Tyne" in request.prompt.question:
            raise toulmin.ModelError("The model is gone.")
        return RAW

    folder = tmp_path / "run"
    toulmin.run(dataset(tmp_path), out=folder, method="vanilla", model=ScriptedModel(fails), judge="lexical")
    (file,) = toulmin.export(folder, "alce").files
    assert [entry["output"] for entry in json.loads(file.read_text("utf-8"))["data"]].count("") == 1
    assert score(file) == score(folder)


def test_a_list_file_has_the_name_alce_expects(tmp_path: Path):
    folder = run(dataset(tmp_path, "qampari"), tmp_path / "run", "vanilla")
    assert toulmin.export(folder, "alce").files[0].name == "alce-qampari.json"


# ---------------------------------------------------------------- A2R's measures


def test_invented_passages_lower_the_measures_that_a2r_refines_by(tmp_path: Path):
    def scores(reply: str) -> dict[str, float]:
        docs = [toulmin.Passage.of("Hannah Pell built the Ems Tower.", "Ems")]
        answer = toulmin.ask("Who built it?", passages=docs, model=always(reply), judge="lexical", method="a2r")
        return next(dict(step.scores) for step in answer.rounds if step.kind == "assess")

    honest = scores("Hannah Pell built the Ems Tower [1].")
    assert honest["citation precision"] == 100
    void = {"citation recall": 0, "citation precision": 0}
    assert scores("Hannah Pell built the Ems Tower [1][8].") == {**honest, **void}


# ---------------------------------------------------------------- short answers


def vtg_entry(tmp_path: Path) -> dict[str, Any]:
    def write(request: Generate) -> str:
        if isinstance(request.prompt, prompts.NextClaim):
            return "END" if request.prompt.written else "The Ems Tower was lit in 1803."
        return "[1]" if isinstance(request.prompt, prompts.Cite) else "1803 [2]"

    folder = run(dataset(tmp_path, "nq"), tmp_path / "run", "vtg", model=ScriptedModel(write), limit=1)
    (file,) = toulmin.export(folder, "alce").files
    return {"entry": json.loads(file.read_text("utf-8"))["data"][0], "scores": score(folder)}


def test_vtgs_short_answers_are_scored_by_their_sentences_citations(tmp_path: Path):
    found = vtg_entry(tmp_path)
    assert found["entry"]["output"] == "The Ems Tower was lit in 1803 [1]."
    assert (found["scores"]["citation_rec"], found["scores"]["citation_prec"], found["scores"]["em"]) == (100, 100, 100)


class Asked:
    """A judge that remembers the questions of the pairs."""

    name = "asked"

    def __init__(self) -> None:
        self.questions: set[str | None] = set()

    def judge(self, pairs: Any) -> list[toulmin.ext.Verdict]:
        self.questions |= {pair.question for pair in pairs}
        return [toulmin.ext.Verdict("supported", 1.0, 0.0, "asked") for _ in pairs]


@pytest.mark.parametrize(("form", "question"), [("nq", "When was the Ems Tower lit?"), ("asqa", None)])
def test_the_question_of_a_short_answer_reaches_the_judge(form: str, question: str | None, tmp_path: Path):
    folder = run(dataset(tmp_path, form), tmp_path / "run", "vanilla", model=always("1803 [1]"), limit=1)
    judge = Asked()
    toulmin.score(folder, profile="alce", judge=judge, memo=False)
    assert judge.questions == {question}
