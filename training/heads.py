"""One encoder with the heads of judge and reader, and low-rank adapters that teach it.

Verdict: supported, unsupported, contradicted, in the order of `toulmin.judges.trained.OUTCOMES`. Marks: which words of
the claim no evidence supports. Block: whether a text answers a question (`ANSWERS`). Span: where the answer begins and
ends, at the first token if nowhere. An adapter (Hu et al. 2021) adds a product of two narrow matrices to a linear layer
that itself does not learn; `merge` adds it to the weights.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import torch
from model import Backbone
from safetensors.torch import load_file, save_file
from torch import Tensor, nn
from torch.nn import functional as F

ANSWERS = ("yes", "partly", "no")
RANK = 16
_SCALE = 2.0  # of what an adapter adds
_FORBIDDEN = -1e4


class Outputs(NamedTuple):
    """Logits: B x 3, B x L, B x 3, B x L x 2."""

    verdict: Tensor
    marks: Tensor
    block: Tensor
    span: Tensor


class LowRank(nn.Module):
    """A linear layer with an adapter, which at first adds nothing."""

    def __init__(self, linear: nn.Linear, rank: int) -> None:
        super().__init__()
        self.linear = linear
        self.down = nn.Parameter(torch.randn(rank, linear.in_features) / linear.in_features**0.5)
        self.up = nn.Parameter(torch.zeros(linear.out_features, rank))

    def forward(self, x: Tensor) -> Tensor:
        added: Tensor = F.linear(F.linear(x, self.down), self.up * _SCALE)
        out: Tensor = self.linear(x) + added
        return out

    def merge(self) -> nn.Linear:
        """The linear layer that computes the same."""
        self.linear.weight.data += _SCALE * (self.up @ self.down).data
        return self.linear


class Heads(nn.Module):
    """The encoder and its heads; the first token, the claim's mean and the evidence's mean are what a row says."""

    def __init__(self, backbone: Backbone) -> None:
        super().__init__()
        self.backbone = backbone
        size = backbone.shape.hidden_size
        self.mix = nn.Linear(3 * size, size)
        self.outcome = nn.Linear(size, 3)
        self.block = nn.Linear(size, len(ANSWERS))
        self.mark = nn.Linear(size, 1)
        nn.init.constant_(self.mark.bias, -3.0)  # most words are supported
        self.worst = nn.Parameter(torch.tensor([-0.5, 0.25, 0.25]))
        self.span = nn.Linear(size, 2)

    def forward(self, ids: Tensor, kinds: Tensor, mask: Tensor) -> Outputs:
        """B rows of L tokens; `kinds` is 0 in the claim or question, 1 in the evidence."""
        x = self.backbone(ids, kinds, mask)
        first, second = (mask * (1 - kinds)).to(x.dtype), (mask * kinds).to(x.dtype)
        mixed = torch.tanh(self.mix(torch.cat([x[:, 0], _mean(x, first), _mean(x, second)], -1)))
        mixed = F.dropout(mixed, self.backbone.dropout, self.training)
        marks = self.mark(x)[:, :, 0]
        worst = (marks + (1 - first) * _FORBIDDEN).logsumexp(1)
        return Outputs(self.outcome(mixed) + worst[:, None] * self.worst, marks, self.block(mixed), self.span(x))


def _mean(x: Tensor, weight: Tensor) -> Tensor:
    return (x * weight[:, :, None]).sum(1) / weight.sum(1, keepdim=True).clamp(min=1)


def adapt(model: Heads, rank: int, frozen: int = 0) -> Heads:
    """Only the heads learn, and an adapter of that rank on each linear layer above the lowest `frozen`.

    Rank 0 lets all weights of these layers learn. The embeddings stay as they are.
    """
    model.backbone.frozen = frozen
    model.backbone.requires_grad_(False)
    if not rank:
        model.backbone.layers[frozen:].requires_grad_(True)
    for layer in model.backbone.layers[frozen:] if rank else ():
        for name, part in list(layer.named_children()):
            if isinstance(part, nn.Linear):
                setattr(layer, name, LowRank(part, rank))
    return model


def merge(model: Heads) -> Heads:
    """The same network without adapters."""
    for layer in model.backbone.layers:
        for name, part in list(layer.named_children()):
            if isinstance(part, LowRank):
                setattr(layer, name, part.merge())
    return model


def learnt(model: nn.Module) -> dict[str, Tensor]:
    """What learns, by name."""
    return {name: weight for name, weight in model.named_parameters() if weight.requires_grad}


def save_learnt(model: nn.Module, file: Path) -> None:
    """Writes what learns in 16 bits: with adapters a file of some 9 MB."""
    save_file({name: weight.detach().cpu().bfloat16() for name, weight in learnt(model).items()}, file)


def load_learnt(model: nn.Module, file: Path) -> None:
    """Raises SystemExit if the file is of another network."""
    weights, values = learnt(model), load_file(file)
    if weights.keys() != values.keys():
        raise SystemExit(f"{file} should hold what this network learns, but it is of another shape or rank.")
    with torch.no_grad():
        for name, weight in weights.items():
            weight.copy_(values[name])
