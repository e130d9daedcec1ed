"""One encoder with the heads of judge and reader.

Verdict: supported, unsupported, contradicted, in the order of `toulmin.judges.trained.OUTCOMES`. Marks: which words of
the claim no evidence supports. Block: whether a text answers a question (`ANSWERS`). Span: where the answer begins and
ends, at the first token if nowhere.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import torch
from model import Backbone
from safetensors.torch import save_file
from torch import Tensor, nn
from torch.nn import functional as F

ANSWERS = ("yes", "partly", "no")
_FORBIDDEN = -1e4


class Outputs(NamedTuple):
    """Logits: B x 3, B x L, B x 3, B x L x 2."""

    verdict: Tensor
    marks: Tensor
    block: Tensor
    span: Tensor


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


def adapt(model: Heads, frozen: int = 0) -> Heads:
    """The heads learn, and the layers above the lowest `frozen`; the embeddings stay as they are."""
    model.backbone.frozen = frozen
    model.backbone.requires_grad_(False)
    model.backbone.layers[frozen:].requires_grad_(True)
    return model


def learnt(model: nn.Module) -> dict[str, Tensor]:
    """What learns, by name."""
    return {name: weight for name, weight in model.named_parameters() if weight.requires_grad}


def save_learnt(model: nn.Module, file: Path) -> None:
    """Writes what learns in 16 bits."""
    save_file({name: weight.detach().cpu().bfloat16() for name, weight in learnt(model).items()}, file)
