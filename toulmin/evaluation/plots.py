"""The plots of a comparison, by matplotlib (the extra `plots`). The same runs give the same bytes."""

from __future__ import annotations

import io
import unicodedata
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import matplotlib
from matplotlib.figure import Figure

from toulmin.evaluation.report_contents import Group, Plot, RunShown, groups
from toulmin.evaluation.run_folder import make_folder, replace_file
from toulmin.evaluation.significance import Interval, Table, interval
from toulmin.metrics.answered import Column

# ---------------------------------------------------------------- plots


INK = "#22252a"
RUNS = ("#5d636c", "#0b6a75", "#b4632b", "#6a4fa3", "#93762a", "#a8436c")
_MARKERS = "osD^vP"
_WIDTH = 4.6  # inches: text stays legible on a page as narrow as a phone

UNITS = {"usd": "US dollars", "tokens": "tokens", "calls": "model calls"}
UNITS |= {"judge_pairs": "pairs judged", "seconds": "seconds"}

_ASSESSED = "citation recall"  # only a round that assesses a whole answer has this score


@dataclass(frozen=True, slots=True)
class Drawing:
    name: str
    title: str
    caption: str
    figure: Figure


def inline(runs: Sequence[RunShown]) -> tuple[Plot, ...]:
    """Leaves out plots with nothing to show."""
    with _plot_style():
        return tuple(Plot(each.title, each.caption, _file_bytes(each, "svg")) for each in _drawings(runs))


def plots(runs: Sequence[RunShown], folder: Path) -> tuple[Path, ...]:
    make_folder(folder)
    written: list[Path] = []
    with _plot_style():
        for drawing in _drawings(runs):
            for form in ("svg", "png"):
                written.append(folder / f"{drawing.name}.{form}")
                replace_file(written[-1], _file_bytes(drawing, form))
    return tuple(written)


@contextmanager
def _plot_style() -> Iterator[None]:
    with matplotlib.rc_context(fname=Path(__file__).with_suffix(".mplstyle")), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        warnings.filterwarnings("ignore", message="Matplotlib currently does not support")
        yield


def _file_bytes(drawing: Drawing, form: str) -> bytes:
    metadata = {"Date": None, "Creator": None} if form == "svg" else {"Software": None}
    file = io.BytesIO()
    drawing.figure.savefig(file, format=form, metadata=metadata, dpi=200)
    return file.getvalue()


def _drawings(runs: Sequence[RunShown]) -> Iterator[Drawing]:
    scored = groups(runs)
    for n, group in enumerate(scored):
        ending = f"-{n + 1}" if len(scored) > 1 else ""
        for drawing in (_metrics(group, runs), _cost(group, runs)):
            if drawing is not None:
                yield replace(drawing, name=drawing.name + ending)
    for place, run in enumerate(runs):
        if series := by_round(run):
            yield _rounds(place, run, series)


def _axes(height: float, grid: Literal["both", "x", "y"] = "both") -> tuple[Figure, Any]:
    figure = Figure(figsize=(_WIDTH, height), layout="constrained")
    axes = figure.add_subplot()
    axes.grid(axis=grid)
    return figure, axes


def _name(text: str, most: int = 34) -> str:
    plain = "".join("�" if unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp") else c for c in text)
    cut = plain if len(plain) <= most else plain[: most - 1] + "…"
    return f" {cut}" if cut.startswith("_") else cut  # matplotlib hides labels that begin with an underscore


def _scoring_line(group: Group) -> str:
    return f"Profile {group.profile}, " + ("no judge." if group.judge is None else f"judge {group.judge}.")


def _colour(place: int) -> str:
    return RUNS[place % len(RUNS)]


def _point_style(place: int, size: float) -> dict[str, Any]:
    return {"color": _colour(place), "marker": _MARKERS[place % len(_MARKERS)], "markersize": size, "clip_on": False}


# ---------------------------------------------------------------- metrics with intervals


def _metrics(group: Group, runs: Sequence[RunShown]) -> Drawing | None:
    names = percentages(group)
    if not names:
        return None
    step = 0.8 / len(group.scored)
    figure, axes = _axes(0.7 + len(names) * (0.14 + 0.08 * len(group.scored)) + 0.2 * len(group.scored), "x")
    for i, (place, scored) in enumerate(group.scored):
        offset = (i - (len(group.scored) - 1) / 2) * step
        points = [(y + offset, scored.metrics[n]) for y, n in enumerate(names) if _has_value(scored.metrics.get(n))]
        for y, metric in points:
            if metric.get("low") is not None:
                axes.plot([metric["low"], metric["high"]], [y, y], color=_colour(place), linewidth=1.6, alpha=0.75)
        values, heights = [metric["value"] for _, metric in points], [y for y, _ in points]
        axes.plot(values, heights, linestyle="none", **_point_style(place, 4.5), label=_name(runs[place].name))
    axes.set(xlim=(0, 100), ylim=(len(names) - 0.4, -0.6), yticks=range(len(names)), xlabel="%")
    axes.set_yticklabels([_name(name, 24) for name in names], color=INK)
    axes.spines["left"].set_visible(False)
    axes.tick_params(axis="y", length=0)
    figure.legend(loc="outside lower left")
    caption = f"Each metric of each run with its 95 % interval over questions. {_scoring_line(group)}"
    return Drawing("metrics", "Metrics", caption, figure)


def _has_value(metric: Any) -> bool:
    return metric is not None and metric.get("value") is not None


# ---------------------------------------------------------------- cost


def _cost(group: Group, runs: Sequence[RunShown]) -> Drawing | None:
    scored = [(place, score) for place, score in group.scored if _has_value(score.metrics.get("citation_f1"))]
    paid = unit([runs[place] for place, _ in scored])
    if paid is None:
        return None
    figure, axes = _axes(3.1 + 0.2 * len(scored))
    for place, score in scored:
        x, metric = cost(runs[place], paid), score.metrics["citation_f1"]
        if metric.get("low") is not None:
            axes.plot([x, x], [metric["low"], metric["high"]], color=_colour(place), linewidth=1.6, alpha=0.75)
        axes.plot([x], [metric["value"]], linestyle="none", **_point_style(place, 6), label=_name(runs[place].name))
    axes.set(xlabel=f"{UNITS[paid]} an answer, mean", ylabel="citation F1", ylim=(0, 100))
    axes.set_xlim(left=0, right=axes.get_xlim()[1] * 1.05)
    figure.legend(loc="outside lower left")
    caption = (
        f"What an answer costs against how well it is cited, with 95 % intervals over questions. {_scoring_line(group)}"
    )
    return Drawing("cost", "Cost against citation F1", caption, figure)


# ---------------------------------------------------------------- rounds


def _rounds(place: int, run: RunShown, series: dict[str, tuple[Interval, ...]]) -> Drawing:
    figure, axes = _axes(3.0 + 0.2 * len(series), "y")
    for i, (name, points) in enumerate(series.items()):
        known = [(x, point) for x, point in enumerate(points) if point.value is not None]
        spread = [(x, p.low, p.high) for x, p in known if p.low is not None and p.high is not None]
        if spread:
            axes.fill_between(*zip(*spread, strict=True), color=_colour(i), alpha=0.12, linewidth=0)
        xs, values = [x for x, _ in known], [point.value for _, point in known]
        axes.plot(xs, values, linewidth=1.5, **_point_style(i, 4.5), label=_name(name))
    last = max(len(points) for points in series.values())
    axes.set(xticks=range(last), xlabel="rounds of refinement", ylabel="score", ylim=(0, 100))
    figure.legend(loc="outside lower left")
    n = next(iter(series.values()))[0].n
    caption = (
        f"Scores that the method gave its own answers while it worked, mean over {n} questions with 95 % intervals; an"
        " answer that stopped keeps its last scores. They are no metrics of this table."
    )
    return Drawing(f"rounds-{place + 1}", f"Quality by round: {_name(run.name)}", caption, figure)


# ---------------------------------------------------------------- the numbers in them


def percentages(group: Group) -> tuple[str, ...]:
    scales = {name: metric.get("scale") for _, scored in group.scored for name, metric in scored.metrics.items()}
    return tuple(name for name, scale in scales.items() if scale in (None, 100) and _is_share(group, name))


def _is_share(group: Group, name: str) -> bool:
    values = [scored.metrics.get(name, {}).get("value") for _, scored in group.scored]
    known = [value for value in values if value is not None]
    return bool(known) and all(0 <= value <= 100 for value in known)


def unit(runs: Sequence[RunShown]) -> str | None:
    """The first of `UNITS` that every run knows and that is not always zero."""
    for name in UNITS:
        costs = [cost(run, name) for run in runs]
        if None not in costs and any(costs):
            return name
    return None


def cost(run: RunShown, name: str) -> float | None:
    """None without answers, or if one cost is unknown."""
    costs = [_spent(answer.get("usage") or {}, name) for answer in run.answers]
    known = [value for value in costs if value is not None]
    return sum(known) / len(known) if known and len(known) == len(costs) else None


def _spent(usage: Mapping[str, Any], name: str) -> float | None:
    if name == "usd":
        price = usage.get("cost")
        return None if price is None else float(price["usd"])
    if name == "tokens":
        return float(sum(tokens["input"] + tokens["output"] for tokens in (usage.get("tokens") or {}).values()))
    if name == "calls":
        return float(sum((usage.get("calls") or {}).values()))
    return float(usage.get(name) or 0.0)


def by_round(run: RunShown) -> dict[str, tuple[Interval, ...]]:
    """The method's own scores after each round of refinement; empty without rounds.

    An answer that stopped early keeps its last scores, so all rounds cover the same questions.
    """
    courses = [(str(answer["id"]), course) for answer in run.answers if (course := _course(answer))]
    if not courses:
        return {}
    last = max(len(course) for _, course in courses)
    series = {}
    for name in dict.fromkeys(name for _, course in courses for scores in course for name in scores):
        columns = tuple(
            Column(str(n), tuple(course[min(n, len(course) - 1)].get(name) for _, course in courses), scale=1.0)
            for n in range(last)
        )
        intervals = interval(Table(tuple(id for id, _ in courses), columns), resamples=2_000)
        series[name] = tuple(intervals[str(n)] for n in range(last))
    return series


def _course(answer: Mapping[str, Any]) -> list[Mapping[str, float]]:
    return [
        entry["scores"]
        for entry in answer.get("rounds") or ()
        if entry["kind"] == "assess" and any(name.startswith(_ASSESSED) for name in entry["scores"] or ())
    ]
