"""Published judges by name, each prompted as its authors do (`docs/judges.md`).

A family is a cross-encoder (`cross.py`) with its own frame, window and chunks. The best chunk decides; neighbours share
a sentence. Sources: MiniCheck (Tang et al. 2024), FactCG (Lei et al. 2025), HHEM-2.1-open (Vectara).
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from toulmin.errors import ModelError, missing_libraries
from toulmin.judges.cross import ENDLESS, Classes, Cross
from toulmin.runtime.windows import Count, hypothesis
from toulmin.steps import Pair

try:
    import torch
    import transformers
    from safetensors.torch import load_file

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
_HHEM = "<pad> Determine if the hypothesis is true given the premise?\n\nPremise: {document}\n\nHypothesis: {claim}"
_ANSWERS = ("0", "1")  # of an encoder-decoder
_CLASSES = 2  # of every family; the second means that the claim is supported

# ---------------------------------------------------------------- how a model is loaded


def _load_hhem(place: str, config: Any, **options: Any) -> Any:
    """Loads Vectara's weights into a class of transformers; runs no code of theirs."""
    files = list(Path(place).glob("*.safetensors"))
    if len(files) != 1:
        raise ModelError(f"it has {len(files)} files of weights (.safetensors), and should have one")
    config.num_labels = _CLASSES
    weights = {name.removeprefix("t5."): weight for name, weight in load_file(files[0]).items()}
    kind = transformers.T5ForTokenClassification
    return kind.from_pretrained(None, config=config, state_dict=weights, **options)


_PAIRS, _ENCODER_DECODER, _ANY = "ForSequenceClassification", "ForConditionalGeneration", ""
_LOADS: Mapping[str, Callable[..., Any]] = {
    _PAIRS: transformers.AutoModelForSequenceClassification.from_pretrained,
    _ENCODER_DECODER: transformers.AutoModelForSeq2SeqLM.from_pretrained,
    _ANY: _load_hhem,  # the config beside its weights is that of another model
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


_HHEM_FILES = "HHEM-2.1-open (its model.safetensors beside config.json and tokenizer of google/flan-t5-base)"
FAMILIES: Mapping[str, tuple[Family, ...]] = {
    "minicheck": (
        Family("MiniCheck", _PAIRS, _MINICHECK, 2048, 400),
        Family("MiniCheck", _ENCODER_DECODER, f"predict: {_MINICHECK}", 2048, 500, _WORDS),
    ),
    "factcg": (Family("FactCG", _PAIRS, _FACTCG, 2048, 550, _WORDS_AND_MARKS),),
    "hhem": (Family(_HHEM_FILES, _ANY, _HHEM, ENDLESS),),
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
            logits: torch.Tensor = self._model(**batch).logits
            return logits if logits.dim() == 2 else logits[:, 0]
        start = torch.full((len(batch["input_ids"]), 1), self._model.config.decoder_start_token_id)
        batch["decoder_input_ids"] = start.to(self._model.device)
        tokens = [_first_token(self._tokenizer, answer) for answer in _ANSWERS]
        answers: torch.Tensor = self._model(**batch).logits[:, 0, tokens]
        return answers


def _first_token(tokenizer: Any, answer: str) -> int:
    return int(tokenizer(answer, add_special_tokens=False)["input_ids"][0])
