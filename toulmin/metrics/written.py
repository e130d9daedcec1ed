"""An answer that stands as a text with marks, as in a result file of ALCE, read as claims that cite passages."""

from __future__ import annotations

from toulmin.data import Answer, Passage, Status
from toulmin.datasets.item import Item
from toulmin.metrics.answered import Answered
from toulmin.parsing.abstaining import is_abstention
from toulmin.parsing.citing import Said, read_draft

METHOD = "given"  # what the answer says of how it came to be
NOTHING_WRITTEN = "The text is empty, which nobody declared an abstention."
_END = "<|im_end|>"  # a chat model's stop that ALCE's result files may hold; no word of the answer


def written(item: Item, output: str, docs: tuple[Passage, ...]) -> Answered:
    """The text beside its item; its marks count `docs` from 1.

    All of the text is read, and every form of mark (`reading.marks`): `【1】`, `[1, 2]`, `[1-3]`, marks behind the full
    stop, which belong to the sentence before them. List markers are no claims, and sentences that say that the sources
    do not know are none either: a text of nothing else is an abstention. Without an item's own style it is long. Labels
    without a passage are counted in `invalid_citations`. Never raises for odd text.
    """
    style = item.style or "long"
    text = output.replace(_END, "")
    draft = read_draft(text, docs, style, _is_no_claim)
    status: Status = "answered" if draft.claims else "abstained"
    answer = Answer(
        item.question,
        style,
        METHOD,
        status,
        draft.claims,
        tuple({passage.id: passage for passage in docs}.values()),
        invalid_citations=draft.invalid,
        notes=() if text.strip() else (NOTHING_WRITTEN,),
        id=item.id,
    )
    return Answered(item, answer, output, docs)


def _is_no_claim(said: Said) -> bool:
    return is_abstention(said.words, cites=said.cites)
