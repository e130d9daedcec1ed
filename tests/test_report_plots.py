"""The plots of a comparison."""

from __future__ import annotations

from base64 import b64encode
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from report_parts import ATTACKS, runs, silent

from toulmin.errors import SourceError
from toulmin.evaluation import plots
from toulmin.evaluation.report_contents import Plot, RunShown, html


@pytest.fixture(scope="module")
def shown() -> list[RunShown]:
    return runs(2, 12)


@pytest.fixture(scope="module")
def drawn(shown: list[RunShown]) -> tuple[Plot, ...]:
    return plots.inline(shown)


@pytest.fixture(scope="module")
def files(shown: list[RunShown], tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, ...]:
    return plots.plots([silent(shown[0])], tmp_path_factory.mktemp("plots") / "new" / "folder")


def texts(svg: bytes) -> str:
    return " ".join(" ".join(ElementTree.fromstring(svg).itertext()).split())


def changed(run: RunShown, **usage: Any) -> RunShown:
    return replace(run, answers=[{**one, "usage": {**one["usage"], **usage}} for one in run.answers])


def test_there_is_a_plot_of_everything_that_can_be_shown(drawn: tuple[Plot, ...]):
    names = [plot.title for plot in drawn]
    assert names == ["Metrics", "Cost against citation F1", "Quality by round: run 0", "Quality by round: run 1"]


def test_the_same_runs_give_the_same_files(shown: list[RunShown], files: tuple[Path, ...], tmp_path: Path):
    again = plots.plots([silent(shown[0])], tmp_path)
    assert [file.read_bytes() for file in files] == [file.read_bytes() for file in again]


def test_the_same_runs_give_the_same_plots_in_a_page(shown: list[RunShown], drawn: tuple[Plot, ...]):
    assert plots.inline(shown) == drawn


def test_each_plot_is_written_as_svg_and_as_png(files: tuple[Path, ...]):
    assert {file.suffix for file in files} == {".svg", ".png"}
    assert all(file.stat().st_size > 1000 for file in files)


def test_a_folder_that_cannot_be_written_is_told(shown: list[RunShown], tmp_path: Path):
    (tmp_path / "file").write_text("")
    with pytest.raises(SourceError, match="cannot be created"):
        plots.plots([silent(shown[0])], tmp_path / "file")


def test_text_in_a_plot_is_text(drawn: tuple[Plot, ...]):
    assert "citation_rec" in texts(drawn[0].svg)


def test_the_name_of_a_run_draws_nothing(shown: list[RunShown]):
    run = silent(shown[0])
    harmless, harmful = (
        plots.inline([replace(run, name=name) for name in names])
        for names in (["plain"] * len(ATTACKS), [attack[:30] for attack in ATTACKS])
    )
    assert [count_tags(plot) for plot in harmful] == [count_tags(plot) for plot in harmless]


def count_tags(plot: Plot) -> Counter[str]:
    return Counter(element.tag for element in ElementTree.fromstring(plot.svg).iter())


def test_names_that_matplotlib_would_hide_are_shown():
    shown = replace(silent(runs(1, 4)[0]), name="_hidden")
    assert "_hidden" in texts(plots.inline([shown])[0].svg)


def test_plots_stand_in_the_page(shown: list[RunShown], drawn: tuple[Plot, ...]):
    assert all(b64encode(plot.svg).decode() in html(shown, plots=drawn) for plot in drawn)


# ---------------------------------------------------------------- what they show


def test_costs_are_told_in_dollars_where_every_price_is_known(shown: list[RunShown]):
    priced = [changed(run, cost={"usd": 0.25}) for run in shown]
    assert (plots.unit(priced), plots.cost(priced[0], "usd")) == ("usd", 0.25)


def test_costs_are_told_in_tokens_where_a_price_is_unknown(shown: list[RunShown]):
    assert plots.unit([changed(shown[0], cost={"usd": 0.25}), shown[1]]) == "tokens"


def test_what_costs_nothing_is_told_in_calls(shown: list[RunShown]):
    assert plots.unit([changed(run, tokens={}) for run in shown]) == "calls"


def test_an_answer_that_stopped_keeps_its_last_scores(shown: list[RunShown]):
    def assessed(*scores: float) -> list[dict[str, Any]]:
        return [{"kind": "assess", "scores": {"citation recall": score}} for score in scores]

    answers = [{"id": "a", "rounds": assessed(20, 60)}, {"id": "b", "rounds": assessed(80)}]
    found = plots.by_round(replace(shown[0], answers=answers))["citation recall"]
    assert [one.value for one in found] == [50, 70]


def test_a_method_that_does_not_assess_its_answers_has_no_rounds(shown: list[RunShown]):
    silent = replace(shown[0], answers=[{**one, "rounds": []} for one in shown[0].answers])
    assert plots.by_round(silent) == {}


def test_a_run_without_metrics_has_no_plots(shown: list[RunShown]):
    assert plots.inline([replace(shown[0], scores=[], answers=[])]) == ()
