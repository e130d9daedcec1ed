"""How long the string metrics of 1,000 answers take, no model loaded.

    python benchmarks/string_metrics.py [--answers 1000] [--repeat 3]

The answers are those of ALCE's recorded runs (`alce_golden`: 200 of ASQA, 200 of ELI5), taken as often as it needs to
make up the number, and the gold lists of QAMPARI. Seconds of one processor, the least of the repetitions; what cuts
sentences is loaded before, and that time told by itself.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Sequence
from itertools import cycle, islice
from typing import Any

import data
from headings import heading

from toulmin.datasets.item import Gold, Item, Part
from toulmin.metrics.answered import AnsweredItem
from toulmin.metrics.choosing import PROFILES, measures
from toulmin.metrics.splitting import splitter_name
from toulmin.metrics.statements import output_to_score


def recorded(dataset: str) -> Iterator[AnsweredItem]:
    for run in data.rows("alce_golden"):
        if run["dataset"] == dataset:
            yield from (
                output_to_score(Item(row["id"], row["question"], gold(row)), row["output"], ()) for row in run["items"]
            )


def gold(row: dict[str, Any]) -> Gold:
    pairs, annotations, claims = row.get("qa_pairs"), row.get("annotations"), row.get("claims")
    return Gold(
        parts=None if pairs is None else tuple(Part(pair["question"], tuple(pair["short_answers"])) for pair in pairs),
        references=None if annotations is None else tuple(each["long_answer"] for each in annotations),
        answer=row.get("answer"),
        claims=None if claims is None else tuple(claims),
    )


def lists() -> Iterator[AnsweredItem]:
    for row in data.rows("alce_qampari_questions"):
        answers = Gold(answers=tuple(map(tuple, row["answers"])))
        yield output_to_score(Item(row["id"], row["question"], answers, style="list"), row["answer"], ())


def least_seconds(profile: str, path: str, answers: Sequence[AnsweredItem], repeat: int) -> float:
    found = []
    for _ in range(repeat):
        begun = time.process_time()
        measures(profile, path, answers)
        found.append(time.process_time() - begun)
    return min(found)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    options.add_argument("--answers", type=int, default=1000)
    options.add_argument("--repeat", type=int, default=3)
    chosen = options.parse_args()
    begun = time.process_time()
    splitter = (
        f"Sentences by {splitter_name()}, loaded in {time.process_time() - begun:.1f} s; seconds of one processor."
    )
    print(heading("string_metrics.py", f"{splitter}\n"))
    sets = {"asqa": recorded("asqa"), "eli5": recorded("eli5"), "qampari": lists()}
    print(f"{'seconds of ' + str(chosen.answers) + ' answers':<24}" + "".join(f"{profile:>10}" for profile in PROFILES))
    for name, given in sets.items():
        answers = list(islice(cycle(given), chosen.answers))
        times = [least_seconds(profile, name, answers, chosen.repeat) for profile in PROFILES]
        print(f"{name:<24}" + "".join(f"{seconds:>10.2f}" for seconds in times))
    print("```")


if __name__ == "__main__":
    main()
