"""Teach the network with many heads: `python training/teach.py --start BASE --rows FILE ... --dev FILE --out RUN`.

Files are those of `packing.py`. The order follows from the seed: batches of like lengths hold a budget of tokens, and
the blocks of a question stand in one. The rate rises over the first part of the rows and falls to nothing at the last.
Every ten minutes, at SIGTERM and at the end `RUN/checkpoint.pt` holds what learns, the optimiser, the position and the
random state; the same command continues from there, and ends with the weights of a run that nothing stopped.
`metrics.jsonl` has a line for each checkpoint and each assessment; `learnt.safetensors` has what learns in 16 bits.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

import model as networks
import numpy as np
import torch
from figures import auc
from heads import Heads, Outputs, adapt, learnt, save_learnt
from numpy.typing import NDArray
from packs import UNKNOWN, Pack, load
from safetensors.torch import load_file
from torch import Tensor, nn
from torch.nn import functional as F

OPTIONS = ("rate", "frozen", "budget", "seed", "planned", "within", "dropout")
CHUNK = 4_096  # rows that are sorted by length together
MARKS, SPAN, TEACHER, FIRST = 0.5, 0.5, 0.5, 1.0  # what they cost beside an outcome
_LONGEST_GRADIENT = 1.0
_FORBIDDEN = -1e4


@dataclass(frozen=True, slots=True)
class Plan:
    """How a run learns: `budget` tokens a batch, without the `frozen` lowest layers.

    The rate falls to nothing at `planned` rows (0: all) or after `within` minutes (0: however long it takes).
    """

    rate: float = 7e-5
    frozen: int = 0
    budget: int = 4_096
    warm_up: float = 0.04
    shrink: float = 0.01
    dropout: float = 0.05
    seed: int = 0
    planned: int = 0
    within: float = 0.0


Places = NDArray[np.int64]


class Batch(NamedTuple):
    """Padded rows, and the place of each in its pack."""

    inputs: dict[str, Tensor]
    marks: Tensor
    places: Places


def batches(pack: Pack, order: Places, budget: int, seed: int) -> list[Places]:
    """The places of each batch's rows; short rows stand with short rows, chunk by chunk, and blocks of a question with
    each other where they fit.
    """
    cut: list[Places] = []
    for start in range(0, len(order), CHUNK):
        places = order[start : start + CHUNK]
        alone = -1 - np.arange(len(places))
        asked = pack.question[places]
        units, unit = np.unique(np.where(asked < 0, alone, asked), return_inverse=True)
        widest = np.zeros(len(units), np.int64)
        np.maximum.at(widest, unit, pack.sizes[places])
        by_width = np.lexsort((unit, widest[unit]))
        group = _cut(widest[unit][by_width], unit[by_width], budget)
        made = [places[by_width[first:last]] for first, last in group]
        np.random.default_rng([seed, start]).shuffle(made)
        cut += made
    return cut


def _cut(widths: Places, unit: Places, budget: int) -> list[tuple[int, int]]:
    """Where the batches of rows in this order begin and end; a unit is cut only if it is more than a batch."""
    group, first, begun = list[tuple[int, int]](), 0, 0
    for n in range(1, len(widths)):
        begun = begun if unit[n] == unit[n - 1] else n
        while n > first and widths[n] * (n + 1 - first) > budget:
            end = begun if begun > first else n
            group.append((first, end))
            first = end
    return [*group, (first, len(widths))] if len(widths) else group


def pad(pack: Pack, starts: Places, places: Places, device: torch.device) -> Batch:
    """The rows at these places as a network reads them, in a width that a card's kernels take as it is."""
    width = -(-int(pack.sizes[places].max()) // 8) * 8
    ids, kinds, mask = (np.zeros((len(places), width), np.int64) for _ in range(3))
    marks = np.full((len(places), width), UNKNOWN, np.uint8)
    for n, place in enumerate(places):
        start, size = starts[place], pack.sizes[place]
        ids[n, :size] = pack.ids[start : start + size]
        marks[n, :size] = pack.marks[start : start + size]
        kinds[n, pack.second[place] : size] = 1
        mask[n, :size] = 1
    inputs = {"ids": ids, "kinds": kinds, "mask": mask}
    tensors = {name: torch.from_numpy(value).to(device) for name, value in inputs.items()}
    return Batch(tensors, torch.from_numpy(marks).to(device), places)


# ---------------------------------------------------------------- what a row costs


def cost(outputs: Outputs, batch: Batch, pack: Pack) -> Tensor:
    """The mean over the rows of what each head gets wrong."""
    device = batch.marks.device
    known = {name: torch.from_numpy(getattr(pack, name)[batch.places]).to(device) for name in _KNOWN}
    logs = F.log_softmax(outputs.verdict.float(), -1)
    of_label = -logs.gather(1, known["verdict"].clamp(min=0)[:, None])[:, 0]
    open_ = -logs[:, 1:].logsumexp(-1)
    total = torch.where(known["vague"] > 0, open_, of_label) * (known["verdict"] >= 0)
    teacher = known["teacher"].nan_to_num(0.5)
    soft = -(teacher * logs[:, 0] + (1 - teacher) * open_.neg())
    total = torch.where(known["teacher"].isnan(), total, (1 - TEACHER) * total + TEACHER * soft)
    block = F.cross_entropy(outputs.block.float(), known["block"].clamp(min=0), reduction="none")
    total = total + block * (known["block"] >= 0) + FIRST * _cost_of_first(outputs.block.float(), known)
    return (
        total + MARKS * _cost_of_marks(outputs.marks, batch.marks) + SPAN * _cost_of_span(outputs, batch, known)
    ).mean()


_KNOWN = ("verdict", "vague", "block", "first", "last", "teacher", "question")


def _cost_of_first(logits: Tensor, known: dict[str, Tensor]) -> Tensor:
    """B: a block that answers lacks the chance to be chosen from itself and those of its question that do not."""
    odds = logits[:, 0] - logits[:, 1:].logsumexp(-1)
    answers, asked = known["block"] == 0, known["question"]
    rivals = (asked[:, None] == asked[None, :]) & ~answers[None, :] | torch.eye(
        len(odds), dtype=torch.bool, device=odds.device
    )
    chosen = odds - odds.expand(len(odds), -1).masked_fill(~rivals, -torch.inf).logsumexp(-1)
    return -chosen * (answers & (asked >= 0))


def _cost_of_marks(logits: Tensor, marks: Tensor) -> Tensor:
    """B: a claim's wrong words cost as much as all its others; nothing where no mark is known."""
    wrong, right = (marks == 1).float(), (marks == 0).float()
    weight = wrong / wrong.sum(1, keepdim=True).clamp(min=1) + right / right.sum(1, keepdim=True).clamp(min=1)
    return (F.binary_cross_entropy_with_logits(logits.float(), wrong, reduction="none") * weight).sum(1)


def _cost_of_span(outputs: Outputs, batch: Batch, known: dict[str, Tensor]) -> Tensor:
    """B: the beginning and the end of the answer among the evidence's tokens and the first."""
    readable = (batch.inputs["kinds"] * batch.inputs["mask"]).clone()
    readable[:, 0] = 1
    logits = outputs.span.float().masked_fill(readable[:, :, None] == 0, _FORBIDDEN)
    first, last = known["first"], known["last"]
    costs = [F.cross_entropy(logits[:, :, n], at.clamp(min=0), reduction="none") for n, at in enumerate((first, last))]
    return (costs[0] + costs[1]) / 2 * (first >= 0)


# ---------------------------------------------------------------- how well it judges


def supports(model: Heads, pack: Pack, budget: int, device: torch.device, half: bool) -> NDArray[np.float64]:
    """The probability that each row's claim is supported."""
    chances, starts = np.zeros(len(pack.sizes)), pack.starts
    model.eval()
    with torch.no_grad(), torch.autocast(device.type, torch.bfloat16, enabled=half):
        for places in batches(pack, np.arange(len(pack.sizes)), budget, 0):
            outputs = model(**pad(pack, starts, places, device).inputs)
            chances[places] = outputs.verdict.float().softmax(-1)[:, 0].cpu().numpy()
    model.train()
    return chances


def areas(scores: NDArray[Any], pack: Pack) -> dict[str, float]:
    """The AUC of each set that has both kinds, and their mean."""
    by_source: dict[str, float] = {}
    for n, name in enumerate(pack.names):
        rows, truth = pack.source == n, pack.verdict == 0
        if truth[rows].any() and not truth[rows].all():
            by_source[name] = round(auc(scores[rows], truth[rows]), 4)
    return {"mean": round(float(np.mean(list(by_source.values()))), 4) if by_source else float("nan"), **by_source}


# ---------------------------------------------------------------- the run


@dataclass
class Position:
    """Where a run stands."""

    batch: int = 0
    rows: int = 0
    tokens: int = 0
    seconds: float = 0.0


class Run:
    """A run in the folder `out`, which goes on from its checkpoint if there is one.

    `order` are the rows as they are read, with repetitions; all in their own order if not given.
    """

    def __init__(
        self,
        model: Heads,
        pack: Pack,
        plan: Plan,
        out: Path,
        device: str = "cpu",
        half: bool = False,
        order: Places | None = None,
    ) -> None:
        self._plan, self._pack, self._out, self._half = plan, pack, out, half
        self._device, self._stopped = torch.device(device), False
        torch.manual_seed(plan.seed)
        self.model = adapt(model, plan.frozen).to(self._device).train()
        weights = list(learnt(self.model).values())
        groups = [
            {"params": [w for w in weights if (w.ndim > 1) is is_matrix], "weight_decay": plan.shrink * is_matrix}
            for is_matrix in (True, False)
        ]
        self._optimiser = torch.optim.AdamW(groups, lr=plan.rate, betas=(0.9, 0.98), fused=True)
        order = np.arange(len(pack.sizes)) if order is None else order.astype(np.int64)
        self._starts, self._batches = pack.starts, batches(pack, order, plan.budget, plan.seed)
        self._planned = plan.planned or len(order)
        self.at, self._costs = Position(), list[Tensor]()
        out.mkdir(parents=True, exist_ok=True)
        if self._file.exists():
            self._restore()

    @property
    def _file(self) -> Path:
        return self._out / "checkpoint.pt"

    @property
    def is_done(self) -> bool:
        return self.at.batch >= len(self._batches) or self._share() >= 1

    @property
    def is_stopped(self) -> bool:
        return self._stopped

    def stop(self, *_: object) -> None:
        """Ends the run after the batch that it is at; a signal's handler."""
        self._stopped = True

    def train(
        self,
        dev: Pack | None = None,
        minutes: float | None = None,
        every: float = 10.0,
        assess: int = 0,
        until: int | None = None,
    ) -> bool:
        """Goes on to the end, or for so many minutes, or `until` so many rows; whether it came there.

        Checkpoints come `every` so many minutes, assessments every `assess` rows and at the end.
        """
        began, saved, before = time.monotonic(), time.monotonic(), self.at.seconds
        due, until = self.at.rows // assess + 1 if assess else 0, min(until or self._planned, self._planned)
        if self.at.rows >= until:
            return True
        while not (self.is_done or self._stopped or self.at.rows >= until):
            self._step(self._batches[self.at.batch])
            self.at.seconds = before + time.monotonic() - began
            is_late = minutes is not None and time.monotonic() - began > minutes * 60
            if assess and self.at.rows >= due * assess and self.at.rows < until:
                due += 1
                self.keep(dev)
                saved = time.monotonic()
            elif time.monotonic() - saved > every * 60:
                self.keep(None)
                saved = time.monotonic()
            if is_late:
                break
        is_there = self.is_done or self.at.rows >= until
        self.keep(dev if is_there else None)
        return is_there

    def _share(self) -> float:
        within = self._plan.within * 60
        return max(self.at.rows / self._planned, self.at.seconds / within if within else 0.0)

    def _step(self, places: Places) -> None:
        share = self._share()
        pace = min(share / self._plan.warm_up if self._plan.warm_up else 1.0, (1 - share) / (1 - self._plan.warm_up))
        for group in self._optimiser.param_groups:
            group["lr"] = self._plan.rate * max(pace, 0.01)
        batch = pad(self._pack, self._starts, places, self._device)
        with torch.autocast(self._device.type, torch.bfloat16, enabled=self._half):
            outputs = self.model(**batch.inputs)
        lost = cost(outputs, batch, self._pack)
        torch.autograd.backward(lost)
        nn.utils.clip_grad_norm_(learnt(self.model).values(), _LONGEST_GRADIENT)
        self._optimiser.step()
        self._optimiser.zero_grad()
        self._costs.append(lost.detach())
        self.at.batch += 1
        self.at.rows += len(places)
        self.at.tokens += int(self._pack.sizes[places].sum())

    def keep(self, dev: Pack | None) -> None:
        """Writes the checkpoint, what was learnt, and a line of `metrics.jsonl`."""
        state = {
            "plan": asdict(self._plan),
            "learnt": {name: weight.detach() for name, weight in learnt(self.model).items()},
            "optimiser": self._optimiser.state_dict(),
            "random": torch.get_rng_state(),
            "position": asdict(self.at),
        }
        beside = self._file.with_suffix(".new")
        torch.save(state, beside)
        os.replace(beside, self._file)
        save_learnt(self.model, self._out / "learnt.safetensors")
        line: dict[str, Any] = {
            **asdict(self.at),
            "seconds": round(self.at.seconds, 1),
            "rows_a_second": round(self.at.rows / max(self.at.seconds, 1e-9), 2),
            "loss": round(float(torch.stack(self._costs).mean()), 4) if self._costs else None,
        }
        self._costs = []
        if dev is not None:
            line["auc"] = areas(supports(self.model, dev, self._plan.budget, self._device, self._half), dev)
        with (self._out / "metrics.jsonl").open("a", encoding="utf-8") as lines:
            lines.write(json.dumps(line) + "\n")
        print(json.dumps(line), flush=True)

    def _restore(self) -> None:
        state = torch.load(self._file, map_location=self._device, weights_only=True)
        if state["plan"] != asdict(self._plan):
            raise SystemExit(f"{self._file} is of another plan: {state['plan']}; name another folder.")
        with torch.no_grad():
            for name, weight in learnt(self.model).items():
                weight.copy_(state["learnt"][name])
        self._optimiser.load_state_dict(state["optimiser"])
        torch.set_rng_state(state["random"].cpu())
        self.at = Position(**state["position"])


def heads_from(start: Path, dropout: float, seed: int) -> Heads:
    """The base with fresh heads, or a network that has learnt already."""
    torch.manual_seed(seed)
    if "mix.weight" not in (weights := load_file(start / "model.safetensors")):
        return Heads(networks.backbone_from(start, dropout))
    model = Heads(networks.Backbone(networks.shape_of(json.loads((start / "config.json").read_text("utf-8"))), dropout))
    model.load_state_dict(weights)
    return model


def options() -> argparse.ArgumentParser:
    """What every command that teaches takes."""
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--start", type=Path, help="folder of the base, or of a network that goes on learning")
    parser.add_argument("--rows", type=Path, nargs="+", help="files of packing.py")
    parser.add_argument("--order", type=Path, help="file of packing.py: the rows as they are read")
    parser.add_argument("--dev", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--bf16", action="store_true", help="compute in 16 bits; on a card always")
    parser.add_argument("--threads", type=int)
    parser.add_argument("--minutes", type=float, help="end after so many, to be continued by the same command")
    parser.add_argument("--every", type=float, default=10.0, help="minutes between checkpoints")
    parser.add_argument("--assess", type=int, default=5_000, help="rows between assessments")
    for name in OPTIONS:
        default = getattr(Plan(), name)
        parser.add_argument(f"--{name}", type=type(default), default=default, help="default: %(default)s")
    return parser


def plan_of(chosen: argparse.Namespace) -> Plan:
    return Plan(**{name: getattr(chosen, name) for name in OPTIONS})


def run_of(chosen: argparse.Namespace) -> Run:
    """The run that these options describe; sets torch's threads."""
    if chosen.threads:
        torch.set_num_threads(chosen.threads)
    plan = plan_of(chosen)
    model = heads_from(chosen.start, plan.dropout, plan.seed)
    order = np.load(chosen.order) if chosen.order else None
    return Run(model, load(chosen.rows), plan, chosen.out, chosen.device, chosen.bf16 or chosen.device == "cuda", order)


def main(arguments: Sequence[str]) -> None:
    """Teaches, or goes on."""
    parser = argparse.ArgumentParser(
        parents=[options()], description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    chosen = parser.parse_args(arguments)
    run = run_of(chosen)
    signal.signal(signal.SIGTERM, run.stop)
    done = run.train(load([chosen.dev]) if chosen.dev else None, chosen.minutes, chosen.every, chosen.assess)
    print(f"Finished: {chosen.out}" if done else "Not finished; run the same command again.", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
