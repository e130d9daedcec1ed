"""Published judges by name, each prompted as its authors do (`docs/judges.md`).

A family is a cross-encoder (`cross.py`) with its own frame, window and chunks. The best chunk decides; neighbours share
a sentence. Sources: MiniCheck (Tang et al. 2024), FactCG (Lei et al. 2025).
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, cast

from toulmin.errors import ModelError, missing_libraries
from toulmin.judges.cross import ENDLESS, Classes, Cross
from toulmin.runtime.windows import Count, hypothesis
from toulmin.steps import Pair

try:
    import torch
    import transformers

    from toulmin.runtime.torch_models import LoadedModel, load_model, window_of
except ImportError as absent:
    raise missing_libraries("This judge", absent, "judges") from absent

_SLACK = 4  # tokens that a frame and a document may have more together than apart
_WORDS = re.compile(r"\S+")
_WORDS_AND_MARKS = re.compile(r"\w+|[^\w\s]")

# ---------------------------------------------------------------- what a model reads

_MINICHECK = "{document}{end}{claim}"
_FACTCG = (
    '{document}\n\nChoose your answer: based on the paragraph above can we conclude that "{claim}"?'
    "\n\nOPTIONS:\n- Yes\n- No\nI think the answer is "
)
_ANSWERS = ("0", "1")  # of an encoder-decoder; read as text, for Flan-T5 has no token of the name 0
_CLASSES = 2  # of every family; the second means that the claim is supported
_PAIRS, _ENCODER_DECODER = "ForSequenceClassification", "ForConditionalGeneration"
_LOADS: Mapping[str, Callable[..., Any]] = {
    _PAIRS: transformers.AutoModelForSequenceClassification.from_pretrained,
    _ENCODER_DECODER: transformers.AutoModelForSeq2SeqLM.from_pretrained,
}

# ---------------------------------------------------------------- the table


class Family(NamedTuple):
    """How one kind of published model is loaded and prompted.

    `head` ends the name of the architecture in config.json. Documents are read in chunks of at most `chunk` `unit`s
    (None: tokens), framed in `window` tokens.
    """

    title: str
    head: str
    frame: str
    window: int
    chunk: int = ENDLESS
    unit: re.Pattern[str] | None = None


FAMILIES: Mapping[str, tuple[Family, ...]] = {
    "minicheck": (
        Family("MiniCheck", _PAIRS, _MINICHECK, 2048, 400),
        Family("MiniCheck", _ENCODER_DECODER, f"predict: {_MINICHECK}", 2048, 500, _WORDS),
    ),
    "factcg": (Family("FactCG", _PAIRS, _FACTCG, 2048, 550, _WORDS_AND_MARKS),),
}


class _Loader:
    """Chooses the family by the architecture in the folder."""

    def __init__(self, families: Sequence[Family]) -> None:
        self.families = families
        self.family = families[0]

    def from_pretrained(self, place: str, **options: Any) -> Any:
        names = ("local_files_only", "trust_remote_code")
        config = transformers.AutoConfig.from_pretrained(place, **{name: options[name] for name in names})
        architecture = (config.architectures or [""])[0]
        fitting = [family for family in self.families if architecture.endswith(family.head)]
        if not fitting:
            heads = " or ".join(family.head for family in self.families)
            raise ModelError(f"its architecture is {architecture}, and should end in {heads}")
        self.family = fitting[0]
        return _LOADS[self.family.head](place, config=config, **options)


# ---------------------------------------------------------------- the judges


class FamilyJudge(Cross):
    """The model at `path` of the family `name`; other settings as for `Cross`. No claim is contradicted.

    Raises `UsageError` for a setting out of range and `ModelError` for a model of another family.
    """

    def __init__(self, name: str, path: str | os.PathLike[str], **options: Any) -> None:
        self.kind, self._format = name, f"{name}-1"
        super().__init__(path, **options)

    def _load(self, path: str | os.PathLike[str], options: dict[str, Any]) -> LoadedModel:
        loader = _Loader(FAMILIES[self.kind])
        checkpoint = load_model(path, loader, loader.family.title, **options)
        self._family = loader.family
        if (count := checkpoint.model.config.num_labels) != _CLASSES:
            raise ModelError(f"{path} has {count} classes, but {self._family.title} has {_CLASSES}.")
        return checkpoint

    def _find_classes(self, entailment: str | None, contradiction: str | None) -> Classes:
        return Classes(1, None)

    def _limit(self, wanted: int | None) -> int:
        """Relative positions have no limit, whatever config and tokenizer name."""
        numbered = any(name.endswith("position_embeddings") for name, _ in self._model.named_modules())
        own = window_of(self._model, self._tokenizer, wanted) or ENDLESS
        return own if numbered else min(self._family.window, wanted or ENDLESS)

    def _frame(self, parts: Sequence[str], pair: Pair) -> tuple[str, ...]:
        document, claim, end = "\n".join(parts), hypothesis(pair), self._tokenizer.eos_token
        return (self._family.frame.format(document=document, claim=claim, end=end),)

    def _room(self, pair: Pair) -> int:
        texts = self._texts(pair, [""] * len(pair.premises))
        return self._window - len(self._tokenizer(*texts, verbose=False)["input_ids"]) - _SLACK

    def _measure(self, room: int) -> tuple[int, Count]:
        """A chunk in its own unit, or by tokens if those run out first."""
        unit, chunk = self._family.unit, min(self._family.chunk, room)
        if unit is None:
            return chunk, self._count
        return chunk, lambda text: max(len(unit.findall(text)), -(-self._count(text) * chunk // room))

    def _logits(self, batch: Any) -> torch.Tensor:
        if self._family.head != _ENCODER_DECODER:
            return cast("torch.Tensor", self._model(**batch).logits)
        start = torch.full((len(batch["input_ids"]), 1), self._model.config.decoder_start_token_id)
        batch["decoder_input_ids"] = start.to(self._model.device)
        tokens = [self._tokenizer(answer, add_special_tokens=False)["input_ids"][0] for answer in _ANSWERS]
        return cast("torch.Tensor", self._model(**batch).logits[:, 0, tokens])
