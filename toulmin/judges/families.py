"""Published judges by name, each prompted as its authors do (`docs/judges.md`).

A family is a cross-encoder (`cross.py`) with its own frame, classes, window and chunks. The best chunk decides;
neighbours share a sentence. Sources: MiniCheck (Tang et al. 2024), FactCG (Lei et al. 2025), HHEM-2.1-open (Vectara),
AlignScore (Zha et al. 2023), LettuceDetect (Kovács and Recski 2025), Granite Guardian (Padhi et al. 2024).
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

from toulmin.data import Label
from toulmin.errors import ModelError, missing_libraries
from toulmin.judges.cross import ENDLESS, Classes, Cross, Score
from toulmin.runtime.windows import Count, hypothesis
from toulmin.steps import ABSENT, Pair, Verdict
from toulmin.text.language import sentence_texts

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

_FACTCG = (
    '{document}\n\nChoose your answer: based on the paragraph above can we conclude that "{claim}"?'
    "\n\nOPTIONS:\n- Yes\n- No\nI think the answer is "
)
_HHEM = "<pad> Determine if the hypothesis is true given the premise?\n\nPremise: {document}\n\nHypothesis: {claim}"
_LETTUCE = "Summarize the following text:\n{document}\noutput:"
_LETTUCE_ASKED = (
    "Briefly answer the following question:\n{question}\nBear in mind that your response should be strictly based on"
    " the following {count} passages:\n{document}\nIn case the passages do not contain the necessary information to"
    ' answer the question, please reply with: "Unable to answer based on given passages."\noutput:'
)

Frame = Callable[[Any, Sequence[str], Pair], tuple[str, ...]]


def _filled(template: str) -> Frame:
    return lambda tokenizer, parts, pair: (template.format(document="\n".join(parts), claim=hypothesis(pair)),)


def _joined(before: str) -> Frame:
    """MiniCheck's frame: one text, with the end token between document and claim."""
    return lambda tokenizer, parts, pair: (before + "\n".join(parts) + tokenizer.eos_token + hypothesis(pair),)


def _paired(tokenizer: Any, parts: Sequence[str], pair: Pair) -> tuple[str, ...]:
    return "\n".join(parts), hypothesis(pair)


def _numbered(tokenizer: Any, parts: Sequence[str], pair: Pair) -> tuple[str, ...]:
    template = _LETTUCE if pair.question is None else _LETTUCE_ASKED
    document = "\n".join(f"passage {n}: {part}" for n, part in enumerate(parts, start=1))
    return template.format(document=document, count=len(parts), question=pair.question), pair.claim


def _guarded(tokenizer: Any, parts: Sequence[str], pair: Pair) -> tuple[str, ...]:
    """Granite Guardian 3.0 to 3.2 name a risk; 3.3 names a criterion and answers within `<score>`."""
    document, answer = "\n".join(parts), {"role": "assistant", "content": hypothesis(pair)}
    if "criteria_id" in tokenizer.chat_template:
        named: dict[str, Any] = {"guardian_config": {"criteria_id": "groundedness"}, "think": False}
        named["documents"] = [{"doc_id": "0", "text": document}]
        return (f"{_chat(tokenizer, [answer], named)}<score>",)
    named = {"guardian_config": {"risk_name": "groundedness"}}
    return (_chat(tokenizer, [{"role": "context", "content": document}, answer], named),)


def _chat(tokenizer: Any, turns: Sequence[Mapping[str, str]], named: Mapping[str, Any]) -> str:
    return str(tokenizer.apply_chat_template(turns, tokenize=False, add_generation_prompt=True, **named))


# ---------------------------------------------------------------- how a model is loaded


def _load_renamed(kind: Any, labels: int, names: Mapping[str, str]) -> Callable[..., Any]:
    """Loads published weights into a class of transformers with other names for them."""

    def load(place: str, config: Any, **options: Any) -> Any:
        config.num_labels = labels
        weights = {_rename(name, names): weight for name, weight in _read_weights(Path(place)).items()}
        return kind.from_pretrained(None, config=config, state_dict=weights, **options)

    return load


def _rename(name: str, names: Mapping[str, str]) -> str:
    prefix = next((prefix for prefix in names if name.startswith(prefix)), "")
    return names.get(prefix, "") + name.removeprefix(prefix)


def _read_weights(folder: Path) -> dict[str, torch.Tensor]:
    """From the only .safetensors file, else the only checkpoint; runs no code of it."""
    if len(files := list(folder.glob("*.safetensors"))) == 1:
        return load_file(files[0])
    if len(files := list(folder.glob("*.ckpt"))) == 1:
        return dict(torch.load(files[0], map_location="cpu", weights_only=True)["state_dict"])
    raise ModelError("it has not one file of weights, .safetensors or .ckpt.")


# ---------------------------------------------------------------- the table


class Family(NamedTuple):
    """How one kind of published model is loaded and prompted.

    `head` ends the name of the architecture in config.json. `logit` is the position of the logits (None: all).
    `answers` are the words for classes. Documents are read in chunks of at most `chunk` `unit`s (None: tokens), framed
    in `window` tokens (None: the model's).
    """

    title: str
    head: str
    frame: Frame
    entailed: int = 1
    classes: int = 2
    logit: int | None = None
    answers: tuple[str, ...] = ()
    window: int | None = None
    chunk: int = ENDLESS
    unit: re.Pattern[str] | None = None
    load: Callable[..., Any] | None = None


_PAIRS, _ENCODER_DECODER, _TOKENS, _CAUSAL = (
    "ForSequenceClassification",
    "ForConditionalGeneration",
    "ForTokenClassification",
    "ForCausalLM",
)
_KINDS: Mapping[str, Any] = {
    _PAIRS: transformers.AutoModelForSequenceClassification,
    _ENCODER_DECODER: transformers.AutoModelForSeq2SeqLM,
    _TOKENS: transformers.AutoModelForTokenClassification,
    _CAUSAL: transformers.AutoModelForCausalLM,
}
# RoBERTa's pooler and AlignScore's head on it are the two layers of a classifier of transformers.
_ALIGNED = {"base_model.pooler.": "classifier.", "base_model.": "roberta.", "tri_layer.": "classifier.out_proj."}
_HHEM_FILES = "HHEM-2.1-open (its model.safetensors beside config.json and tokenizer of google/flan-t5-base)"
_ALIGNSCORE_FILES = "AlignScore (its checkpoint beside config.json and tokenizer of the RoBERTa it was made from)"
_load_hhem = _load_renamed(transformers.T5ForTokenClassification, 2, {"t5.": ""})
_load_alignscore = _load_renamed(transformers.RobertaForSequenceClassification, 3, _ALIGNED)
FAMILIES: Mapping[str, tuple[Family, ...]] = {
    "minicheck": (
        Family("MiniCheck", _PAIRS, _joined(""), window=2048, chunk=400),
        Family("MiniCheck", _ENCODER_DECODER, _joined("predict: "), 1, 2, 0, ("0", "1"), 2048, 500, _WORDS),
    ),
    "factcg": (Family("FactCG", _PAIRS, _filled(_FACTCG), window=2048, chunk=550, unit=_WORDS_AND_MARKS),),
    "hhem": (Family(_HHEM_FILES, "", _filled(_HHEM), logit=0, window=ENDLESS, load=_load_hhem),),
    "alignscore": (Family(_ALIGNSCORE_FILES, "", _paired, 0, 3, chunk=350, unit=_WORDS, load=_load_alignscore),),
    "lettuce": (Family("LettuceDetect", _TOKENS, _numbered, window=4096),),
    "granite-guardian": (Family("Granite Guardian 3", _CAUSAL, _guarded, 0, 2, -1, ("no", "yes")),),
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
        load = self.family.load or _KINDS[self.family.head].from_pretrained
        return load(place, config=config, **options)


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
        padding = "left" if loader.family.head == _CAUSAL else "right"
        checkpoint = load_model(path, loader, loader.family.title, padding=padding, **options)
        self._family = loader.family
        if (count := checkpoint.model.config.num_labels) != self._family.classes:
            raise ModelError(f"{path} has {count} classes, but {self._family.title} has {self._family.classes}.")
        if self._family.frame is _guarded and "guardian_config" not in (checkpoint.tokenizer.chat_template or ""):
            raise ModelError(f"{path} is not {self._family.title}: its chat template knows no guardian_config.")
        self._answers = [_tokens_of(checkpoint.tokenizer, self._family, answer) for answer in self._family.answers]
        return checkpoint

    def _find_classes(self, entailment: str | None, contradiction: str | None) -> Classes:
        return Classes(self._family.entailed, None)

    def _limit(self, wanted: int | None) -> int:
        """Relative positions have no limit, whatever config and tokenizer name."""
        numbered = any(name.endswith("position_embeddings") for name, _ in self._model.named_modules())
        own = window_of(self._model, self._tokenizer, wanted) or ENDLESS
        if self._family.window is None or numbered:
            return own
        return min(self._family.window, wanted or ENDLESS)

    def _frame(self, parts: Sequence[str], pair: Pair) -> tuple[str, ...]:
        return self._family.frame(self._tokenizer, parts, pair)

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
        position = self._family.logit
        if self._family.head == _ENCODER_DECODER:
            start = torch.full((len(batch["input_ids"]), 1), self._model.config.decoder_start_token_id)
            batch["decoder_input_ids"] = start.to(self._model.device)
        elif position == -1:
            batch["position_ids"] = (batch["attention_mask"].cumsum(-1) - 1).clamp(min=0)
            batch["logits_to_keep"] = 1
        logits: torch.Tensor = self._model(**batch).logits
        logits = logits if position is None else logits[:, position]
        if not self._answers:
            return logits
        return torch.stack([logits[:, tokens].float().logsumexp(-1) for tokens in self._answers], dim=-1)


def _tokens_of(tokenizer: Any, family: Family, answer: str) -> list[int]:
    """The first token of an encoder-decoder's answer, or every spelling of a word."""
    if family.logit == 0:
        return list(tokenizer(answer, add_special_tokens=False)["input_ids"][:1])
    texts = tokenizer.batch_decode([[token] for token in range(len(tokenizer))])
    return [token for token, text in enumerate(texts) if text.strip().lower() == answer]


class BySentence(FamilyJudge):
    """Judges each sentence of a claim; the mean support decides."""

    def judge(self, pairs: Sequence[Pair]) -> list[Verdict]:
        split = [[replace(pair, claim=text) for text in sentence_texts(pair.claim) or [pair.claim]] for pair in pairs]
        verdicts = iter(super().judge([part for parts in split for part in parts]))
        return [self._mean([next(verdicts) for _ in parts]) for parts in split]

    def _mean(self, verdicts: Sequence[Verdict]) -> Verdict:
        support = fmean(verdict.support for verdict in verdicts)
        reason = next((verdict.reason for verdict in verdicts if verdict.reason), None)
        label: Label = "unsure" if reason else self._label(support, 0.0)
        each = zip(*(verdict.quotes for verdict in verdicts), strict=True)
        quotes = tuple(next(filter(None, quotes), None) for quotes in each)
        return replace(verdicts[0], label=label, support=support, quotes=quotes, reason=reason)


class Spans(FamilyJudge):
    """A classifier of tokens: the worst token decides, and the reason names the spans.

    LettuceDetect takes the worst chunk of each token; here the chunk with most support decides.
    """

    def _scores(self, texts: Sequence[tuple[str, ...]]) -> list[Score]:
        risks = self._run(texts, self._risks)
        return [self._score(claim, risk) for (_, claim), risk in zip(texts, risks, strict=True)]

    @torch.inference_mode()
    def _risks(self, rows: list[dict[str, Any]]) -> list[list[float]]:
        """For each token the probability that no source supports it."""
        shares = self._logits(self._pad(rows)).float().softmax(dim=-1)[..., 1].tolist()
        return [risks[: len(row["input_ids"])] for risks, row in zip(shares, rows, strict=True)]

    def _score(self, claim: str, risks: Sequence[float]) -> Score:
        offsets = self._tokenizer(claim, add_special_tokens=False, return_offsets_mapping=True)["offset_mapping"]
        tokens = list(zip(offsets, risks[-len(offsets) - 1 : -1], strict=True))  # before the token that ends the row
        runs = groupby(tokens, key=lambda token: 1 - token[1] < self._threshold)
        spans = [[offset for offset, _ in run] for is_risky, run in runs if is_risky]
        texts = (claim[span[0][0] : span[-1][1]].strip() for span in spans)
        named = ", ".join(f'"{text}"' for text in texts if text)
        worst = max((risk for _, risk in tokens), default=0.0)
        return Score(1 - worst, 0.0, f"{ABSENT}: {named}" if named else None)


_CLASSES: Mapping[str, type[FamilyJudge]] = {"alignscore": BySentence, "lettuce": Spans}


def load_family(name: str, path: str | os.PathLike[str], **options: Any) -> FamilyJudge:
    """`name` is one of `FAMILIES`; raises as `FamilyJudge`."""
    return _CLASSES.get(name, FamilyJudge)(name, path, **options)
