"""Judges on the probes of `probes_made.py` and on three sets made to deceive, with 95 % intervals by page.

    python benchmarks/judge_probes.py                                  the lexical judge
    python benchmarks/judge_probes.py --judge cross:FOLDER ...         others too, each as `toulmin --judge` names it
    python benchmarks/judge_probes.py --show KIND --judge SPEC         what the last judge got wrong there

`wanted` is the balanced accuracy asked for. `caught` is the share of untrue claims that the judge does not find
supported, `accepted` the share of true ones that it does. Half of the claims and more do not copy their page: `own`
says facts in our words, `near` rewords a sentence lightly, `hand` was written by people. `claim alone` is a model that
sees no page and is to stay under 0.55. Which pages these are says `held_out.py`; training leaves them out.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import numpy as np
from agreement import verdicts
from by_page import Truths, balanced_accuracy, measured, share, shown
from data import rows
from headings import heading
from judge_sets import cases
from probes_claim import says_true
from probes_made import KINDS, Probe, handwritten, held_out_pages, made

from toulmin.build import parts
from toulmin.config import Settings
from toulmin.driver.kit import Judge

WANTED = {"number": 0.95, "date": 0.95, "entity": 0.90, "negation": 0.90, "role swap": 0.80, "added detail": 0.75}
ACCEPTED = 0.90
DECEIVING = {"fever_symmetric_dev": 0.78, "summedits_eval": 0.62, "fm2_dev": 0.70}
WORDINGS = ("own", "near", "hand")


class Table:
    """The probes as columns, and the figures of a judge over some of them."""

    def __init__(self, probes: Sequence[Probe]) -> None:
        self.probes = probes
        self.truth = np.array([probe.supported for probe in probes])
        self.kind = np.array([probe.kind for probe in probes])
        self.wording = np.array([probe.wording for probe in probes])
        self.page = np.array([probe.page.title for probe in probes])

    def claim_alone(self) -> Truths:
        """What the model says that sees no page."""
        return says_true([probe.claim for probe in self.probes], self.page, list(self.truth))

    def line(self, name: str, some: Truths, said: Truths, alone: Truths, wanted: float | None) -> str:
        """Of the probes that `some` picks."""
        truth, pages = self.truth[some], list(self.page[some])
        both = shown(measured(pages, balanced_accuracy(said[some], truth)))
        caught, accepted = 1 - said[some][~truth].mean(), said[some][truth].mean()
        blind = balanced_accuracy(alone[some], truth)(np.ones(len(truth)))
        asked = f"{wanted:8.2f}" if wanted is not None else " " * 8
        return f"{name:16}{len(truth):6}{both}{asked}{caught:8.3f}{accepted:10.3f}{blind:13.3f}"


def report(table: Table, said: Truths, alone: Truths) -> None:
    """One line a kind, then a wording, then all."""
    print(f"{'':16}{'n':>6}{'balanced accuracy':>24}{'wanted':>8}{'caught':>8}{'accepted':>10}{'claim alone':>13}")
    for kind in KINDS:
        print(table.line(kind, table.kind == kind, said, alone, WANTED[kind]))
    for wording in WORDINGS:
        print(table.line(wording, table.wording == wording, said, alone, None))
    print(table.line("all", np.ones(len(said), dtype=bool), said, alone, None))
    true = table.truth
    found = measured(list(table.page[true]), share(said[true]))
    print(f"true claims accepted: {shown(found).strip()}, wanted {ACCEPTED:.2f}\n")
    print(f"{'by kind':16}" + "".join(f"{wording:>10}" for wording in WORDINGS))
    for kind in KINDS:
        cells = [(table.kind == kind) & (table.wording == wording) for wording in WORDINGS]
        figures = [balanced_accuracy(said[some], true[some])(np.ones(int(some.sum()))) for some in cells]
        print(f"{kind:16}" + "".join(f"{figure:10.3f}" for figure in figures))


def report_deceiving(judge: Judge) -> None:
    """The dev parts of the sets of claims that were made to deceive; intervals by evidence."""
    print(f"\n{'made to deceive':22}{'n':>6}{'balanced accuracy':>24}{'wanted':>8}")
    for name, wanted in DECEIVING.items():
        held = cases(name, "dev")
        said = np.array([verdict.entails for verdict in verdicts(judge, [case.pair for case in held])])
        truth = np.array([case.supported for case in held])
        pages = [case.pair.premises[0].title or case.pair.premises[0].text[:80] for case in held]
        found = shown(measured(pages, balanced_accuracy(said, truth)))
        print(f"{name:22}{len(held):6}{found}{wanted:8.2f}", flush=True)


def show(table: Table, said: Truths, kind: str) -> None:
    """The probes of a kind that were told wrong."""
    for probe, one in zip(table.probes, said, strict=True):
        if probe.kind == kind and one != probe.supported:
            print(f"{'true ' if probe.supported else 'FALSE'} {probe.wording:5}{probe.page.id} {probe.claim}")


def main(words: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--judge", nargs="+", default=[], metavar="SPEC")
    parser.add_argument("--show", choices=KINDS, metavar="KIND")
    asked = parser.parse_args(words)
    pages = held_out_pages()
    table = Table([*made(pages), *handwritten(pages)])
    free = np.mean([probe.copied < 0.5 for probe in table.probes])
    count = sum(1 for _ in rows("pool_corpus"))
    print(heading("judge_probes.py", f"{len(table.probes)} probes over {len(pages)} held-out passages of {count}."))
    print(f"{free:.2f} of the claims have fewer than half of their word pairs from the page.")
    alone = table.claim_alone()
    for spec in ["lexical", *asked.judge]:
        judge = parts.judge(spec, Settings())
        said = np.array([verdict.entails for verdict in verdicts(judge, [probe.pair for probe in table.probes])])
        print(f"\n{judge.name}")
        report(table, said, alone)
        report_deceiving(judge)
    if asked.show:
        show(table, said, asked.show)
    print("```")


if __name__ == "__main__":
    main()
