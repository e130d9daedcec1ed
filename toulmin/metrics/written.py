"""Texts with marks, read as claims"""

from __future__ import annotations

from toulmin.data import Answer, Passage, Status
from toulmin.datasets.item import Item
from toulmin.metrics.answered import Answered
from toulmin.parsing.abstaining import is_abstention
from toulmin.parsing.citing import Sentence, read_draft

METHOD = "given"  # the answer's `method`
NOTHING_WRITTEN = "The text is empty, which nobody declared an abstention."
_END = "<|im_end|>"  # a chat model's stop token, which ALCE's result files may hold


def output_to_score(item: Item, output: str, docs: tuple[Passage, ...]) -> Answered:
    """Reads an item's output into claims; its marks count `docs` from 1.

    Reads every form of mark (`parsing.marks`); those after a full stop belong to the sentence before. List markers
    and abstaining sentences are no claims; a text of nothing else is an abstention. Items without a style are long.
    Labels without a passage count in `invalid_citations`. Never raises.
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


def _is_no_claim(sentence: Sentence) -> bool:
    return is_abstention(sentence.words, cites=sentence.cites)
