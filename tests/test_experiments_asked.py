"""What experiments ask of language models, and what they say where something is missing or fails."""

from __future__ import annotations

import importlib
import json
import os
import re
import shlex
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from stub_server import Rule, running_stub

import toulmin
from tests.test_experiments import DATA, FOLDER, WANTED, needs_data
from tests.typed_prompts import ALL
from toulmin.prompts.templates import Templates

ASQA = DATA.resolve() / "qa_asqa_passages.jsonl.gz"
CITED = "Kettle Rock was lit in 1824 [1]."
SAMPLING = {"calm_table4": "0.5, top_p 1.0", "vtg_table3": "0.5, top_p 1.0", "a2r_table3": "0.7, top_p 1.0"}


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The module of the runner; the files of `experiments/` import each other by their bare names."""
    monkeypatch.syspath_prepend(str(FOLDER))
    return importlib.import_module("run")


@pytest.fixture
def table(run: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., Any]:
    """Runs an experiment; its table as a document, with the exit code."""

    def make(*words: str) -> Any:
        file, code = tmp_path / "table.json", 0
        try:
            run.main([*words, "--out", str(tmp_path / "out"), "--json", str(file)])
        except SystemExit as ended:
            code = int(ended.code or 0)
        return json.loads(file.read_text("utf-8")) | {"code": code, "text": capsys.readouterr().out}

    return make


@pytest.fixture
def stub(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    with running_stub() as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        server.script(Rule(reply=CITED))
        yield server


def bodies(stub: Any) -> list[dict[str, Any]]:
    return [each["body"] for each in stub.asked() if "messages" in each["body"]]


def words(body: dict[str, Any]) -> str:
    return "\n".join(message["content"] for message in body["messages"])


# ---------------------------------------------------------------- what models are asked


@needs_data
@pytest.mark.parametrize(
    ("paper", "name", "row"),
    [("calm", "table4", "retriever ICLCite"), ("vtg", "table1", "NQ, Text-Davinci-003 Vanilla")],
)
def test_baselines_get_demonstrations_as_the_papers_print_them(
    table: Callable[..., Any], stub: Any, paper: str, name: str, row: str
):
    table(paper, name, "--small", "--limit", "1", "--model", "openai:stub", "--only", row)
    first = bodies(stub)[0]
    assert [message["role"] for message in first["messages"]].count("assistant") == 2
    assert "Document [1](Title: " in first["messages"][-1]["content"]
    assert "do not act on them" not in words(first)


@needs_data
@pytest.mark.parametrize(("row", "shown"), [("Summ", "summary"), ("Snippet", "extraction")])
def test_summ_and_snippet_are_asked_with_summaries_and_extracts(
    table: Callable[..., Any], stub: Any, row: str, shown: str
):
    table("calm", "table4", "--small", "--limit", "1", "--model", "openai:stub", "--only", row)
    text = words(bodies(stub)[-1])
    demonstrations = tomllib.loads((FOLDER.parent / "toulmin/prompts/demonstrations.toml").read_text("utf-8"))["cited"]
    passages = [passage for each in demonstrations for passage in each["passages"]]
    assert all(passage[shown] in text for passage in passages if shown in passage)
    assert not any(passage["text"] in text for passage in passages if passage["text"] != passage.get(shown))


@needs_data
def test_temperature_and_top_p_are_the_papers_for_every_request(table: Callable[..., Any], stub: Any):
    table("calm", "table6", "--small", "--limit", "1", "--model", "openai:stub")
    assert {(body["temperature"], body["top_p"]) for body in bodies(stub)} == {(0.5, 1.0)}


@pytest.mark.parametrize("name", sorted(SAMPLING))
def test_temperature_and_top_p_are_printed(table: Callable[..., Any], name: str):
    made = table(*name.split("_"), "--model", "openai:stub")
    assert made["differs"]["sampling"]["here"].startswith(f"temperature {SAMPLING[name]}")
    assert f"temperature {SAMPLING[name]}" in " ".join(made["text"].split())


def test_a_row_with_a_temperature_of_its_own_is_named(table: Callable[..., Any]):
    assert (
        "temperature of Rerank 1.0" in table("vtg", "table1", "--model", "openai:stub")["differs"]["sampling"]["here"]
    )


@needs_data
def test_no_two_draws_of_several_seeds_have_the_same_seed(table: Callable[..., Any], stub: Any):
    asked = ("--small", "--limit", "1", "--seeds", "3", "--model", "openai:stub", "--only", "ICLCite + USC")
    table("calm", "table4", *asked)
    seeds = [body["seed"] for body in bodies(stub) if "Document [1]" in words(body)]
    assert len(seeds) == len(set(seeds)) == 27


@needs_data
def test_table_6_differs_in_the_verifiers_input_alone(table: Callable[..., Any], stub: Any):
    with running_stub() as other:
        other.script(Rule(reply="Nobody knows [1]."))
        asked = ("--small", "--limit", "1", "--model", "openai:stub", "--verifier", "second:stub")
        table("calm", "table6", *asked, "--set", f"servers.second.base_url={other.url}")
        verifying, main = bodies(other), bodies(stub)
    cited, shown = verifying[0], verifying[len(verifying) // 2]
    assert words(shown) == words(main[0]) != words(cited)
    assert cited | {"messages": None} == shown | {"messages": None}


# ---------------------------------------------------------------- two models on two servers


@needs_data
def test_the_readmes_command_reaches_two_servers(table: Callable[..., Any], stub: Any):
    blocks = re.findall(r"```\n(.*?)```", (FOLDER / "README.md").read_text("utf-8"), re.DOTALL)
    (command,) = [block for block in blocks if "servers.second" in block]
    given = shlex.split(command.replace("\\\n", " "))[2:]
    for option, value in (("--judge", "lexical"), ("--mauve-model", None)):
        at = given.index(option)
        given[at : at + 2] = [] if value is None else [option, value]
    stub.script(Rule(reply=CITED), models=("gpt-3.5-turbo-1106",))
    with running_stub() as other:
        other.script(Rule(reply="Nobody knows [1]."), models=("tulu-2-dpo-13b",))
        given = [word.replace("http://localhost:8000/v1", other.url) for word in given]
        given = [re.sub(r"ALCE-data/.*", str(ASQA), word) for word in given]
        made = table(*given, "--limit", "1", "--seeds", "1", "--only", "GTR as retriever CaLM")
        models = [{body["model"] for body in bodies(server)} for server in (stub, other)]
    assert (made["code"], models) == (0, [{"gpt-3.5-turbo-1106"}, {"tulu-2-dpo-13b"}])


@needs_data
def test_a_judge_on_a_server_of_its_own_is_reached_for_the_scores(table: Callable[..., Any], stub: Any):
    with running_stub() as other:
        other.script(Rule(reply="supported"))
        asked = ("--small", "--limit", "1", "--model", "openai:stub", "--judge", "model:third:stub")
        address = ("--set", f"servers.third.base_url={other.url}")
        (row,) = table("calm", "table5", *asked, *address, "--only", "No verification")["rows"]
    assert row["ours"] is not None, row["why"]


# ---------------------------------------------------------------- what is missing, and what fails


@needs_data
def test_a_table_with_a_row_that_fails_still_has_its_other_rows(table: Callable[..., Any]):
    data = ("--data", "asqa-dpr=nowhere.json", "--data", f"asqa-gtr={ASQA}")
    made = table("calm", "table2", *data, "--limit", "1", "--seeds", "1", "--only", "retriever ICLCite")
    figures = {(row["panel"][:3], row["name"]): row["ours"] is not None for row in made["rows"]}
    names = ("ICLCite", "ICLCite + USC")
    assert figures == {(panel, name): panel == "GTR" for panel in ("DPR", "GTR") for name in names}
    assert (made["code"], "nowhere.json" in made["rows"][0]["why"]) == (3, True)


@needs_data
def test_calm_without_a_verifier_has_no_figures_and_says_so(table: Callable[..., Any]):
    data = ("--data", f"asqa={ASQA}", "--limit", "1", "--seeds", "1")
    (made,) = table("calm", "table2", *data, "--only", "GTR as retriever CaLM")["rows"]
    assert (made["ours"], "--verifier SPEC" in made["why"]) == (None, True)


@pytest.mark.parametrize("name", WANTED)
def test_help_leads_to_the_data_the_members_and_the_full_command(
    run: Any, name: str, capsys: pytest.CaptureFixture[str]
):
    with pytest.raises(SystemExit):
        run.main([*name.split("_"), "--help"])
    told, experiment = capsys.readouterr().out, run.EXPERIMENTS[name]
    (command,) = re.findall(r"in full:  python experiments/run\.py (.*)", told)
    assert command.startswith(f"{name.replace('_', ' ')} --model ")
    for source in experiment.sources:
        assert f"--data {source}=PATH" in command
        assert re.search(rf"^  {source}  ", told, re.MULTILINE)
    for member, about in experiment.members.items():
        assert f"--member {member}=SPEC" in command
        assert about.split()[0] in told
    contrasted = {"calm_table2", "calm_table3", "calm_table4", "calm_table6", "calm_figure4"}
    assert ("--verifier" in command) == (name in contrasted)
    if "eli5" in experiment.sources:
        assert "https://huggingface.co/datasets/princeton-nlp/ALCE-data" in told


def test_the_papers_prompts_stand_in_their_file_for_every_prompt():
    papers = Templates.load(FOLDER / "papers.toml")
    for prompt in ALL.values():
        assert "do not act on them" not in papers.render(prompt).text
    shown = {name: papers.render(ALL[name]).messages for name in ("answer expert", "answer plain", "answer simple")}
    assert [sum(m.role == "assistant" for m in messages) for messages in shown.values()] == [0, 0, 2]


def test_each_draft_of_a_correction_rests_on_its_own_number_of_results():
    papers = Templates.load(FOLDER / "papers.toml")
    rests = [re.findall(r"rests on the\s+first (\d)", m.content) for m in papers.render(ALL["correct a list"]).messages]
    assert rests == [["2"], [], ["2"]]
    (one, *_, last) = papers.render(replace(ALL["correct"], rests_on=1)).messages
    assert ("first 2 search" in one.content, "first 1 search" in last.content) == (True, True)


# ---------------------------------------------------------------- statements that are true


def test_does_not_lose_is_said_of_no_interval_that_reaches_far_below(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.syspath_prepend(str(FOLDER.parent / "benchmarks"))
    wanted, intervals = importlib.import_module("wanted"), importlib.import_module("intervals")
    gains = [
        intervals.Interval(mean, low, high)
        for mean, low, high in ((-0.057, -0.116, 0.0), (0.0, -0.01, 0.02), (-0.05, -0.08, -0.01))
    ]
    assert [wanted.verdict("", gain, wanted.keeps_up(gain)).split()[-1] for gain in gains] == ["SHOWN", "holds", "HOLD"]
    for line in (FOLDER.parent / "benchmarks" / "results" / "methods.txt").read_text("utf-8").splitlines():
        found = re.search(r"does not lose to .* ([+-][\d.]+)\.\.([+-][\d.]+) +holds$", line)
        assert found is None or float(found[1]) >= -100 * wanted.MARGIN, line


@pytest.mark.parametrize("method", ["best", "vanilla", "plan"])
def test_the_reader_by_words_can_be_named(tmp_path: Path, method: str):
    (tmp_path / "tower.md").write_text("The tower of Kettle Rock was lit on 3 May 1824.", "utf-8")
    answer = toulmin.ask("When was the tower lit?", docs=tmp_path, method=method, reader="lexical", judge="lexical")
    assert "1824" in answer.text


def test_runs_help_says_where_alces_files_are_to_be_had(capsys: pytest.CaptureFixture[str]):
    from toulmin.cli import run as command

    os.environ.setdefault("COLUMNS", "200")
    assert command(["run", "--help"]) == 0
    assert "princeton-nlp/ALCE-data" in capsys.readouterr().out
