"""Trained parts small enough to be made on the spot: starting weights, pairs to learn from, and exported folders."""

from __future__ import annotations

import importlib
import json
import random
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import torch
from safetensors.torch import save_file
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers
from transformers import BertConfig, BertModel

TRAINING = Path(__file__).parent.parent / "training"
SCRIPTS = "model learning pairs judge stack questions reader shipping export retrieval".split()
SCRIPTS += "base heads packs lessons packing teach gpu large".split()


def _imported() -> dict[str, ModuleType]:
    """The scripts, which import each other by their bare names; `benchmarks/` has some of the same names."""
    others = {name: sys.modules.pop(name) for name in SCRIPTS if name in sys.modules}
    sys.path.insert(0, str(TRAINING))
    try:
        return {name: importlib.import_module(name) for name in SCRIPTS}
    finally:
        sys.path.remove(str(TRAINING))
        for name in SCRIPTS:
            sys.modules.pop(name, None)
        sys.modules.update(others)


_SCRIPTS = _imported()
model, learning, pairs, judge, stack = (_SCRIPTS[name] for name in SCRIPTS[:5])
questions, reader, shipping, export, retrieval = (_SCRIPTS[name] for name in SCRIPTS[5:10])
base, heads, packs, lessons, packing, teach, gpu, large = (_SCRIPTS[name] for name in SCRIPTS[10:])

WORDS = "the tower was built tall lamp keeper rock sea boat wind light stone island ship storm gull harbour".split()
CONTROLS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")


def tokenizer() -> Tokenizer:
    """Those words, and all others letter by letter."""
    letters = [chr(n) for n in range(33, 127) if not chr(n).isupper()]
    pieces = [*CONTROLS, *WORDS, *letters, *(f"##{letter}" for letter in letters)]
    made = Tokenizer(models.WordPiece({piece: n for n, piece in enumerate(pieces)}, unk_token="[UNK]"))
    made.normalizer = normalizers.BertNormalizer(lowercase=True)
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    made.add_special_tokens(list(CONTROLS))
    return made


def bert(seed: int = 0) -> BertModel:
    """Noise, in BERT's own shape."""
    config = BertConfig(
        vocab_size=tokenizer().get_vocab_size(),
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=64,
    )
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        return BertModel(config, add_pooling_layer=False).eval()


def start(folder: Path) -> Path:
    """A folder of starting weights."""
    folder.mkdir(parents=True, exist_ok=True)
    made = bert()
    save_file({name: value.contiguous() for name, value in made.state_dict().items()}, folder / "model.safetensors")
    (folder / "config.json").write_text(json.dumps(made.config.to_dict()), "utf-8")
    tokenizer().save(str(folder / "tokenizer.json"))
    return folder


def rows(count: int, seed: int = 0) -> list[dict[str, Any]]:
    """Pairs of natural claims: supported where the premise has the claim's last word; dev is every fifth page."""
    chance = random.Random(seed)
    found = []
    for n in range(count):
        claim, other = chance.sample(WORDS, 2)
        label = ("supported", "unsupported", "contradicted")[n % 3]
        told = claim if label == "supported" else ("never " if label == "contradicted" else "") + other
        found.append(
            {
                "id": f"p{n}",
                "source": ("first", "second")[n % 2],
                "family": "natural",
                "edit": None,
                "premise": [{"title": "Tower", "text": f"The {chance.choice(WORDS)} was {told}."}],
                "claim": f"It has the {claim}.",
                "question": None,
                "label": label,
                "page": f"page {n}",
                "split": "dev" if n % 5 == 0 else "train",
                "licence": "CC0",
                "wrong": [] if label == "supported" else None,
            }
        )
    return found


def write_rows(folder: Path, held: Sequence[dict[str, Any]]) -> Path:
    """A folder of pairs as `training/corpora.py` lays it."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "pairs-00000.jsonl").write_text("".join(json.dumps(row) + "\n" for row in held), "utf-8")
    return folder


def finished(folder: Path, head: str, tokens: int = 48) -> Path:
    """A run's folder as if its training were over; the head is noise."""
    first = start(folder.parent / f"{folder.name}-start")
    with torch.random.fork_rng():
        torch.manual_seed(1)
        made = model.HEADS[head](model.backbone_from(first))
        for part in made.children():
            if isinstance(part, torch.nn.Linear):
                torch.nn.init.normal_(part.weight, std=2.0)
    model.save(made, folder)
    tokenizer().save(str(folder / "tokenizer.json"))
    (folder / "settings.json").write_text(json.dumps({"max_tokens": tokens, "excerpts": 2, "rule": 1}), "utf-8")
    if head == "reader":
        told = {"weights": [0.0, 0.2, 1.0, 0.0, 0.1], "least": 0.0}
        (folder / "confidence.json").write_text(json.dumps(told), "utf-8")
    return folder
