"""Line charts as SVG, plain and small; the same figures give the same file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib
from intervals import Interval

matplotlib.use("svg")

from matplotlib import pyplot as plt

INKS = ("#1b4965", "#b56576", "#5fa8d3", "#e0a899")
QUIET = "#6b6b6b"
STYLE: Any = {
    "svg.fonttype": "none",  # text stays text: it can be searched and read aloud
    "svg.hashsalt": "toulmin",
    "font.family": "sans-serif",
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": QUIET,
    "axes.labelcolor": QUIET,
    "xtick.color": QUIET,
    "ytick.color": QUIET,
}


@dataclass(frozen=True)
class Curve:
    """Means with their intervals, 0 to 1, at each x."""

    name: str
    xs: Sequence[float]
    ys: Sequence[Interval]


@dataclass(frozen=True)
class Panel:
    """What a chart is called and what its axes show; `vanilla` is the citation F1 to compare with."""

    title: str
    x: str
    y: str
    vanilla: float


def draw(file: Path, panel: Panel, curves: Sequence[Curve]) -> None:
    """Writes the chart; bands are 95 % intervals over questions."""
    with plt.rc_context(STYLE):
        figure, axes = plt.subplots(figsize=(6.4, 3.8), layout="constrained")
        axes.axhline(
            100 * panel.vanilla, color=QUIET, linewidth=0.8, linestyle=(0, (4, 3)), label="citation F1 of vanilla"
        )
        for curve, ink in zip(curves, INKS, strict=False):
            low, mean, high = ([100 * getattr(y, name) for y in curve.ys] for name in ("low", "mean", "high"))
            axes.fill_between(curve.xs, low, high, color=ink, alpha=0.12, linewidth=0)
            axes.plot(curve.xs, mean, color=ink, linewidth=1.6, marker="o", markersize=3.5, label=curve.name)
        axes.set(xlabel=panel.x, ylabel=panel.y, ylim=(0, 100), xticks=curves[0].xs)
        axes.set_title(f"{panel.title}: simulation, writer with faults at 30 %", loc="left", fontsize=10.5)
        axes.legend(frameon=False, fontsize=8.5, labelcolor=QUIET, loc="lower right")
        figure.savefig(file, metadata={"Date": None, "Creator": None})
        plt.close(figure)
