"""What is scored, an answer with its question, and what metrics give: columns of values."""

from __future__ import annotations

from dataclasses import dataclass

from toulmin.data import Answer, Passage, render
from toulmin.datasets.item import Item


@dataclass(frozen=True, slots=True)
class Answered:
    """`honest` reads `answer`, whose claims cite passages by id; `alce` reads `output`, whose `[n]` means `docs[n -
    1]`. Failed answers are counted, not scored.
    """

    item: Item
    answer: Answer
    output: str
    docs: tuple[Passage, ...]

    @property
    def is_failed(self) -> bool:
        return self.answer.status == "failed"


def answer_to_score(item: Item, answer: Answer) -> Answered:
    """An answer of ours as ALCE's evaluator reads one: one line, numbered as on a page.

    Marks of the policy `flag` are left out, abstentions are empty, and uncited passages follow the cited.
    """
    cited = answer.cited
    others = tuple(dict.fromkeys(p for p in answer.passages if p not in cited))
    rendered = render(answer.claims, answer.style).text
    return Answered(item, answer, " ".join(rendered.split()), (*cited, *others))
