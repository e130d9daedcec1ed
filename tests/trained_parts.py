"""Trained parts small enough to be made on the spot: starting weights, lessons, and exported folders."""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import torch
from safetensors.torch import save_file
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers
from transformers import BertConfig, BertModel

from toulmin.data import Passage
from toulmin.runtime.network import Tokens
from toulmin.steps import Pair

TRAINING = Path(__file__).parent.parent / "training"
SCRIPTS = "model learning questions reader shipping export retrieval".split()
SCRIPTS += "base heads packs lessons packing teach gpu large fit_framing framing_head".split()


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
model, learning, questions, reader, shipping, export, retrieval = (_SCRIPTS[name] for name in SCRIPTS[:7])
base, heads, packs, lessons, packing, teach, gpu, large, fit_framing, framing_head = (
    _SCRIPTS[name] for name in SCRIPTS[7:]
)

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


TEXT = "The tower was built in 1824 by Hannah. The boat was never lit."


def lesson(n: int = 0, **known: Any) -> Any:
    """A claim, or what `known` has instead, over `TEXT`."""
    claim = known.pop("claim", "The tower was built in 1824.")
    pair = Pair((Passage.of(TEXT, "Tower"),), claim, None)
    return lessons.Lesson(f"l{n}", "set", "natural", "tower", "train", pair, **known)


def pack_of(folder: Path) -> Any:
    """Forty lessons of all kinds, in the tokens of a folder of starting weights."""
    every = [
        lesson(n, verdict=n % 3, wrong=((4, 9),) if n % 3 else ())
        if n % 4
        else lesson(n, claim="when was the tower built", block=n % 3, spans=((23, 27),) if n % 3 == 0 else ())
        for n in range(40)
    ]
    return packing.pack(every, Tokens(folder / "tokenizer.json", 64))[0]


def network(folder: Path) -> Path:
    """A network with heads as if it had been taught; it says noise."""
    folder.mkdir(parents=True, exist_ok=True)
    first = start(folder.parent / f"{folder.name}-start")
    save_file(teach.heads_from(first, 0.0, 0).state_dict(), folder / "model.safetensors")
    for name in gpu.FILES:
        (folder / name).write_bytes((first / name).read_bytes())
    return folder


def judge(folder: Path, tokens: int = 48) -> Path:
    """The exported folder of a judge that reads two excerpts of at most so many tokens."""
    made = network(folder.parent / f"{folder.name}-network")
    large.export(made, pack_of(made), folder, "judge-tiny")
    (folder / "settings.json").write_text(json.dumps({"max_tokens": tokens, "excerpts": 2, "rule": 1}), "utf-8")
    shipping.write_manifest(folder, "judge", "judge-tiny")
    export.write_known(folder)
    shipping.write_manifest(folder, "judge", "judge-tiny")
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
