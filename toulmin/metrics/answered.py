"""What is scored: an answer beside its question, whether it comes from a run of ours or from a result file of ALCE."""

from __future__ import annotations

from dataclasses import dataclass

from toulmin.data import Answer, Passage, render
from toulmin.datasets.item import Item


@dataclass(frozen=True, slots=True)
class Answered:
    """One answer to one item, as each profile reads it.

    `answer` holds claims that cite passages by id (the `honest` profile). `output` is the answer as ALCE writes one, a
    text whose `[n]` means `docs[n - 1]` (the `alce` profile). A `failed` answer was never given: it is counted, not
    scored.
    """

    item: Item
    answer: Answer
    output: str
    docs: tuple[Passage, ...]

    @property
    def is_failed(self) -> bool:
        """Whether there is no answer because something went wrong."""
        return self.answer.status == "failed"


def answered(item: Item, answer: Answer) -> Answered:
    """An answer of ours: its claims in one line, as ALCE's evaluator reads no further, with the numbers of a page.

    Marks of the policy `flag` are left out, an abstention is an empty text, and passages that no claim cites follow the
    cited ones in the order in which they were read.
    """
    cited = answer.cited
    others = tuple(dict.fromkeys(p for p in answer.passages if p not in cited))
    rendered = render(answer.claims, answer.style).text
    return Answered(item, answer, " ".join(rendered.split()), (*cited, *others))
