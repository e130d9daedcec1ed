"""Encoders made on the spot: folders as sentence-transformers lays them out."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
from transformers import (
    BertConfig,
    BertModel,
    DPRConfig,
    DPRContextEncoder,
    PreTrainedTokenizerFast,
    T5Config,
    T5EncoderModel,
)

WORDS = "the tower was built tall lamp keeper rock sea boat wind light stone island ship storm query passage :".split()
HIDDEN = 16


def tokenizer() -> PreTrainedTokenizerFast:
    vocabulary = {word: n for n, word in enumerate(["[PAD]", "[UNK]", "[CLS]", "[SEP]", *WORDS])}
    made = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    made.normalizer = normalizers.Lowercase()
    made.pre_tokenizer = pre_tokenizers.Whitespace()
    made.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    special = {"pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]"}
    return PreTrainedTokenizerFast(tokenizer_object=made, **special)


def _sizes() -> dict[str, Any]:
    return {
        "vocab_size": len(WORDS) + 4,
        "hidden_size": HIDDEN,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "intermediate_size": 32,
        "max_position_embeddings": 24,
    }


def _saved(folder: Path, make: Any, seed: int = 0) -> Path:
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = make()
        for weight in model.parameters():  # the usual start is so small that every text looks alike
            torch.nn.init.normal_(weight, std=0.3)
    model.save_pretrained(folder)
    tokenizer().save_pretrained(folder)
    return folder


def bert(folder: Path, seed: int = 0) -> Path:
    """A bare transformer."""
    return _saved(folder, lambda: BertModel(BertConfig(**_sizes())), seed)


def sentence_bert(folder: Path, pooling: str = "mean_tokens", window: int = 12, prompts: Any = None) -> Path:
    """A BERT with pooling and rows of length one, as all-MiniLM-L6-v2 is laid out."""
    bert(folder)
    kinds = ("cls_token", "mean_tokens", "max_tokens", "mean_sqrt_len_tokens")
    steps(folder, ["Transformer", "Pooling", "Normalize"])
    modes = {f"pooling_mode_{kind}": kind == pooling for kind in kinds}
    write(folder / "1_Pooling" / "config.json", {"word_embedding_dimension": HIDDEN, **modes})
    write(folder / "sentence_bert_config.json", {"max_seq_length": window})
    if prompts:
        write(folder / "config_sentence_transformers.json", {"prompts": prompts})
    return folder


def gtr(folder: Path, out: int = 6) -> Path:
    """The encoder of a T5, the mean of its tokens, a dense layer without bias, and length one."""
    config = T5Config(
        vocab_size=len(WORDS) + 4, d_model=HIDDEN, d_ff=32, d_kv=8, num_layers=2, num_heads=2, pad_token_id=0
    )
    _saved(folder, lambda: T5EncoderModel(config))
    steps(folder, ["Transformer", "Pooling", "Dense", "Normalize"])
    write(folder / "1_Pooling" / "config.json", {"word_embedding_dimension": HIDDEN, "pooling_mode_mean_tokens": True})
    told = {"in_features": HIDDEN, "out_features": out, "bias": False}
    write(folder / "2_Dense" / "config.json", told | {"activation_function": "torch.nn.modules.linear.Identity"})
    weight = torch.linspace(-1, 1, HIDDEN * out).reshape(out, HIDDEN)
    torch.save({"linear.weight": weight}, folder / "2_Dense" / "pytorch_model.bin")
    return folder


def bare_dpr(folder: Path) -> Path:
    """One of DPR's encoders as transformers keeps it."""
    return _saved(folder, lambda: DPRContextEncoder(DPRConfig(**_sizes())))


def steps(folder: Path, kinds: Sequence[str]) -> None:
    places = ["" if kind == "Transformer" else f"{at}_{kind}" for at, kind in enumerate(kinds)]
    told = [
        {"idx": at, "name": str(at), "path": place, "type": f"sentence_transformers.models.{kind}"}
        for at, (kind, place) in enumerate(zip(kinds, places, strict=True))
    ]
    write(folder / "modules.json", told)


def write(path: Path, told: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(told), "utf-8")
