"""What was wanted of the methods table, each with whether it holds; differences are paired, by question.

"Above" is beyond the 95 % interval; "does not lose" is that at most `MARGIN` is lost, all of the interval counted: an
interval that ends above 0 and begins below that shows neither.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from intervals import Interval, difference
from lines import FAULTY_RATE, VANILLA, Found, Line, base_of, between, part_of

FAIR = "vtg, not verified"  # claims and citations one by one, nothing checked: the writer's rates are to come out equal
NO_CITATIONS = "closed"  # cites nothing by design, so it has no citation to compare
BEST, MOST_CALLS = "best", 1 / 2  # of VTG's
MARGIN = 0.02


def compare(table: Found) -> Iterator[str]:
    """Each wanted comparison with whether it holds; differences in points of citation F1, or of correctness."""
    if part_of(FAULTY_RATE) in table:
        yield from gains(table[part_of(FAULTY_RATE)])
        yield from refinements(table[part_of(FAULTY_RATE)])
    for part, lines in table.items():
        if not part.startswith("chance") and BEST in lines:
            yield from rivals(part, lines)
    if part_of(FAULTY_RATE) in table:
        yield from controls(table)
    if part_of(0.0) in table:
        yield from losses(table[part_of(0.0)])


def gains(faulty: Mapping[str, Line]) -> Iterator[str]:
    """What checking is to bring."""
    base = faulty[VANILLA]
    for name in ("vtg", "calm", "calm, all cited", "calm, set on train"):
        gain = difference(faulty[name].of("F1"), base.of("F1"))
        yield verdict(f"at {FAULTY_RATE:.0%} {name} is above vanilla beyond the interval", gain, gain.low > 0)
    gain = difference(faulty[FAIR].of("F1"), base.of("F1"))
    yield verdict(f"at {FAULTY_RATE:.0%} {FAIR} is as vanilla", gain, gain.low <= 0 <= gain.high)
    yield f"of the judge's verdicts on vanilla's claims at {FAULTY_RATE:.0%}, {100 * agreement(base):.1f} % are true"


def refinements(faulty: Mapping[str, Line]) -> Iterator[str]:
    """What A2R's metrics are to bring."""
    for other in ("a2r, K=0", "self-refine"):
        gain = difference(faulty["a2r, K=2"].of("F1"), faulty[other].of("F1"))
        yield verdict(f"at {FAULTY_RATE:.0%} a2r, K=2 is above {other} beyond the interval", gain, gain.low > 0)


def rivals(part: str, lines: Mapping[str, Line]) -> Iterator[str]:
    """`best` beside every other method: the strongest, and each to which it loses; then its calls."""
    for measure in ("F1", "correct"):
        others = [name for name in lines if not name.startswith(BEST)]
        against = {name: difference(lines[BEST].of(measure), lines[name].of(measure)) for name in others}
        strongest = min(against, key=lambda name: against[name].mean)
        for name, gain in against.items():
            if name == strongest or gain.high < 0:
                which = f"{name}, the strongest" if name == strongest else name
                yield verdict(f"{part}: best does not lose to {which} ({measure})", gain, keeps_up(gain))
    calls_of_best, most = calls(lines[BEST]), MOST_CALLS * calls(lines["vtg"])
    text = f"{part}: best makes {calls_of_best:.2f} model calls, at most half of vtg's: {most:.2f}"
    yield f"{text:<101}{_holds(calls_of_best <= most)}"


def calls(line: Line) -> float:
    """Model calls of all roles, the mean of a question."""
    values = [a + b for a, b in zip(line.of("main"), line.of("verifier"), strict=True)]
    return sum(values) / len(values)


def losses(clean: Mapping[str, Line]) -> Iterator[str]:
    """What checking must not cost where nothing is wrong: how many methods lose beyond the interval, and each."""
    for measure in ("F1", "correct"):
        others = [name for name in clean if name != VANILLA and (name, measure) != (NO_CITATIONS, "F1")]
        losses = {name: difference(clean[name].of(measure), clean[VANILLA].of(measure)) for name in others}
        lost = {name: loss for name, loss in losses.items() if loss.high < 0}
        yield f"at 0% {len(lost)} of {len(others)} methods lose to vanilla beyond the interval ({measure}):"
        for name, loss in lost.items():
            yield verdict(f"at 0% {name} does not lose to vanilla ({measure})", loss, holds=False)


def controls(table: Found) -> Iterator[str]:
    """What no method can do without something that tells right from wrong."""
    for part, lines in table.items():
        for name in lines if part.startswith("chance") else ():
            gain = difference(lines[name].of("F1"), base_of(table, part).of("F1"))
            yield verdict(f"{part}: {name} does not beat vanilla", gain, gain.low <= 0)


def agreement(line: Line) -> float:
    """The share of all claims on which the judge's verdict is the truth."""
    scores = [score for run in line.runs for score in run.scores]
    return sum(score.agreed for score in scores) / max(1, sum(score.claims for score in scores))


def keeps_up(gain: Interval) -> bool | None:
    """Whether nothing that counts is lost; None where the interval shows neither that nor a loss."""
    return True if gain.low >= -MARGIN else False if gain.high < 0 else None


def verdict(text: str, gain: Interval, holds: bool | None) -> str:
    """A comparison as a line."""
    return f"{text:<76}{100 * gain.mean:>+7.1f}  {between(gain, '+'):<16}{_holds(holds)}"


def _holds(holds: bool | None) -> str:
    return "NOT SHOWN" if holds is None else "holds" if holds else "DOES NOT HOLD"
