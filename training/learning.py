"""The loop that trains a part: batches of like lengths, a schedule, checkpoints from which a killed run continues.

Rules of this file
* What is drawn, its order and its noise follow from the seed and the position, so a run that was killed and resumed
  ends with the weights of one that was not, on the same machine with the same threads. Only a run that is measured by
  the clock (`minutes` without `epochs`) has a schedule that no second run repeats.
* A checkpoint is replaced in one step and holds everything: weights, optimiser, position, random state, time spent.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Protocol

import torch
from model import Network, save
from torch import Tensor, nn

from toulmin.runtime.network import Row, pad_rows

CHUNK = 64  # batches that are sorted by length together
_LONGEST_GRADIENT = 1.0


class Example(Protocol):
    """What is learnt from: rows of tokens, mostly one, and whatever its task needs to know beside them."""

    @property
    def rows(self) -> Sequence[Row]:
        """What the network reads of it."""
        ...


class Task(Protocol):
    """What is to be learnt."""

    def draw(self, epoch: int) -> list[int]:
        """The places of the examples of that epoch, in order; the same whenever it is asked."""
        ...

    def examples(self, places: Sequence[int]) -> list[Any]:
        """Those examples."""
        ...

    def loss(self, model: Any, inputs: dict[str, Tensor], examples: Sequence[Any]) -> Tensor:
        """The sum over the examples of what the network says wrong of these inputs."""
        ...

    def assess(self, model: Network) -> dict[str, float]:
        """How the network does on what is held out."""
        ...


@dataclass(frozen=True, slots=True)
class Plan:
    """How a part is trained; `epochs` or `minutes` says how long, `steps` ends a run early, to be resumed.

    `rate` is the highest layer's, each layer below has `decay` of it; `frozen` leaves the embeddings and that many of
    the lowest layers as they are (None: everything learns). A batch is worked off `micro` examples at a time.
    """

    seed: int = 0
    epochs: float | None = None
    minutes: float | None = None
    steps: int | None = None
    batch: int = 64
    micro: int = 32
    rate: float = 5e-5
    decay: float = 0.85
    shrink: float = 0.01
    warm_up: float = 0.06
    frozen: int | None = None
    every: float = 10.0  # minutes between checkpoints
    is_half: bool = False  # sums of 16 bits on a processor too; on a GPU always

    def __post_init__(self) -> None:
        if self.epochs is None and self.minutes is None:
            raise SystemExit("Give --epochs or --minutes.")

    def essentials(self) -> dict[str, Any]:
        """What must be the same for a run to go on; how long it may take may change where epochs say how much."""
        free = {"steps", "every"} | ({"minutes"} if self.epochs is not None else set())
        return {name: value for name, value in asdict(self).items() if name not in free}


@dataclass
class Position:
    """Where a run stands. It is the one thing here that changes."""

    epoch: int = 0
    chunk: int = 0
    batch: int = 0
    step: int = 0
    seen: int = 0
    seconds: float = 0.0
    costs: list[float] = field(default_factory=list)


class Run:
    """A training in the folder `out`; `identity` is what its data are, for a resumed run to be of the same."""

    def __init__(self, model: Network, task: Task, plan: Plan, out: Path, identity: Mapping[str, Any]) -> None:
        self._task, self._plan, self.out = task, plan, out
        self._device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        self.model = model.to(self._device)
        freeze(model, plan.frozen)
        self._optimiser = torch.optim.AdamW(groups(model, plan), lr=plan.rate, betas=(0.9, 0.98), fused=True)
        self._rates = [group["lr"] for group in self._optimiser.param_groups]
        self._identity = {"plan": plan.essentials(), "data": dict(identity)}
        self._total = self._steps() if plan.epochs is not None else None
        self._at = Position()
        out.mkdir(parents=True, exist_ok=True)

    @property
    def at(self) -> Position:
        """Where the run stands."""
        return self._at

    # -------------------------------------------------------------- the whole

    def train(self, resume: bool = False) -> bool:
        """Trains to the end, or to the end of what time or steps allow; whether it is finished.

        Raises SystemExit where the folder holds a run that is not to be resumed, or another one than this.
        """
        if resume and self._file.exists():
            self._restore()
        elif self._file.exists():
            raise SystemExit(f"{self._file} is of a run that began already; add --resume, or name another folder.")
        else:
            torch.manual_seed(self._plan.seed)
        began, saved = time.monotonic() - self._at.seconds, time.monotonic()
        first = self._at.step
        self.model.train()
        batches = self._batches()
        while not (self._is_done() or self._is_stopped(first)):
            self._step(next(batches))
            self._at.seconds = time.monotonic() - began
            if time.monotonic() - saved > self._plan.every * 60:
                self.keep()
                saved = time.monotonic()
        self.keep()
        return self._is_done()

    def _is_done(self) -> bool:
        return self._progress() >= 1

    def _is_stopped(self, first: int) -> bool:
        steps, minutes = self._plan.steps, self._plan.minutes
        over = steps is not None and self._at.step - first >= steps
        return over or (minutes is not None and self._at.seconds >= minutes * 60)

    def _progress(self) -> float:
        if self._total is not None:
            return self._at.step / self._total if self._total else 1.0
        assert self._plan.minutes is not None
        return self._at.seconds / (self._plan.minutes * 60)

    def _steps(self) -> int:
        epochs = self._plan.epochs or 0.0
        whole = [-(-len(self._task.draw(n)) // self._plan.batch) for n in range(int(-(-epochs // 1)))]
        return round(sum(whole) - (whole[-1] * (-epochs % 1) if whole else 0))

    # -------------------------------------------------------------- what is read

    def _batches(self) -> Iterator[list[Any]]:
        """From the position on, without an end; `_step` moves the position behind a batch."""
        at, plan = self._at, self._plan
        while True:
            drawn = self._task.draw(at.epoch)
            if not drawn:
                raise SystemExit("There is nothing to learn from: no example is drawn.")
            size = plan.batch * CHUNK
            for start in range(at.chunk * size, len(drawn), size):
                examples = self._task.examples(drawn[start : start + size])
                cut = buckets(examples, plan.batch, f"{plan.seed} {at.epoch} {at.chunk}")
                while at.batch < len(cut):
                    yield cut[at.batch]
                at.chunk, at.batch = at.chunk + 1, 0
            at.epoch, at.chunk = at.epoch + 1, 0

    def _step(self, examples: Sequence[Any]) -> None:
        for group, rate in zip(self._optimiser.param_groups, self._rates, strict=True):
            group["lr"] = rate * pace(self._progress(), self._plan.warm_up)
        cost = 0.0
        for start in range(0, len(examples), self._plan.micro):
            part = examples[start : start + self._plan.micro]
            is_half = self._plan.is_half or self._device.type == "cuda"
            with torch.autocast(self._device.type, torch.bfloat16, enabled=is_half):
                rows = [row for example in part for row in example.rows]
                cost_of_all = self._task.loss(self.model, tensors(rows, self._device), part)
            lost = cost_of_all / len(examples)
            torch.autograd.backward(lost)
            cost += float(lost.detach())
        nn.utils.clip_grad_norm_(self.model.parameters(), _LONGEST_GRADIENT)
        self._optimiser.step()
        self._optimiser.zero_grad()
        self._at.batch += 1
        self._at.step += 1
        self._at.seen += len(examples)
        self._at.costs.append(cost)

    # -------------------------------------------------------------- what is kept

    @property
    def _file(self) -> Path:
        return self.out / "checkpoint.pt"

    def keep(self) -> None:
        """Writes the checkpoint, and a line of `metrics.jsonl`."""
        costs, self._at.costs = self._at.costs, []
        held = {
            "told": self._identity,
            "model": self.model.state_dict(),
            "optimiser": self._optimiser.state_dict(),
            "random": torch.get_rng_state(),
            "position": asdict(self._at),
        }
        beside = self._file.with_suffix(".new")
        torch.save(held, beside)
        os.replace(beside, self._file)
        self._measure(costs)

    def _measure(self, costs: Sequence[float]) -> None:
        line = {
            "step": self._at.step,
            "epoch": self._at.epoch,
            "seen": self._at.seen,
            "seconds": round(self._at.seconds, 1),
            "loss": sum(costs) / len(costs) if costs else None,
            **ask_quietly(self.model, self._task.assess),
        }
        with (self.out / "metrics.jsonl").open("a", encoding="utf-8") as lines:
            lines.write(json.dumps(line) + "\n")
        print(json.dumps(line), flush=True)

    def _restore(self) -> None:
        held = torch.load(self._file, map_location=self._device, weights_only=True)
        if held["told"] != self._identity:
            raise SystemExit(
                f"{self._file} is of another run: it has {held['told']}, this one {self._identity};"
                " name another folder."
            )
        self.model.load_state_dict(held["model"])
        self._optimiser.load_state_dict(held["optimiser"])
        torch.set_rng_state(held["random"].cpu())
        for name, value in held["position"].items():
            setattr(self._at, name, value)


def ask_quietly(model: Network, ask: Callable[[Network], dict[str, float]]) -> dict[str, float]:
    """What is found while the network does not learn; the random state stays as it was."""
    state = torch.get_rng_state()
    model.eval()
    try:
        with torch.inference_mode():
            return ask(model)
    finally:
        model.train()
        torch.set_rng_state(state)


def buckets(examples: Sequence[Any], batch: int, seed: str) -> list[list[Any]]:
    """Batches of examples of like length, the batches in random order."""
    ordered = sorted(examples, key=lambda example: max(len(row.ids) for row in example.rows))
    cut = [ordered[start : start + batch] for start in range(0, len(ordered), batch)]
    random.Random(seed).shuffle(cut)
    return cut


def tensors(rows: Sequence[Row], device: torch.device) -> dict[str, Tensor]:
    """The inputs of a network on its device."""
    return {name: torch.from_numpy(value).to(device) for name, value in pad_rows(rows).items()}


def pace(progress: float, warm_up: float) -> float:
    """The share of the rate at that share of the way: rising at first, then falling to nothing in a straight line."""
    if progress < warm_up:
        return max(progress / warm_up, 0.02)
    return max(1 - progress, 0.0) / (1 - warm_up)


def freeze(model: Network, layers: int | None) -> None:
    """Leaves the embeddings and the lowest layers as they are."""
    if layers is None:
        return
    backbone = model.backbone
    for part in (backbone.words, backbone.places, backbone.kinds, backbone.norm, *backbone.layers[:layers]):
        part.requires_grad_(False)


def groups(model: Network, plan: Plan) -> list[dict[str, Any]]:
    """The weights by depth, each with its rate; what normalises and what is added is not shrunk."""
    depth = len(model.backbone.layers)
    by_height: dict[tuple[int, bool], list[nn.Parameter]] = {}
    for name, weight in model.named_parameters():
        if weight.requires_grad:
            by_height.setdefault((_height(name, depth), weight.ndim > 1), []).append(weight)
    return [
        {
            "params": weights,
            "lr": plan.rate * plan.decay ** (depth + 1 - height),
            "weight_decay": plan.shrink if is_matrix else 0.0,
        }
        for (height, is_matrix), weights in sorted(by_height.items(), key=lambda entry: entry[0])
    ]


def _height(name: str, depth: int) -> int:
    """0 for the embeddings, then the layers, `depth` + 1 for the head."""
    parts = name.split(".")
    if parts[0] != "backbone":
        return depth + 1
    return int(parts[2]) + 1 if parts[1] == "layers" else 0


# ---------------------------------------------------------------- what training commands share


def options() -> argparse.ArgumentParser:
    """What every training command takes."""
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--start", type=Path, help="a folder of starting weights in place of the pinned package")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--epochs", type=float)
    parser.add_argument("--minutes", type=float, help="stop after this time, resumed runs included")
    parser.add_argument("--steps", type=int, help="stop after this many batches; --resume continues")
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--micro", type=int, default=32)
    parser.add_argument("--dropout", type=float, default=0.1)
    parser.add_argument("--rate", type=float, default=5e-5)
    parser.add_argument("--frozen", type=int, help="freeze the embeddings and this many of the lowest layers")
    parser.add_argument("--every", type=float, default=10.0, help="minutes between checkpoints")
    parser.add_argument("--bf16", action="store_true", help="use 16 bits, where the processor is faster with them")
    parser.add_argument("--threads", type=int)
    parser.add_argument("--resume", action="store_true")
    return parser


def plan(chosen: argparse.Namespace) -> Plan:
    """Those options as a plan; sets torch's threads."""
    if chosen.threads:
        torch.set_num_threads(chosen.threads)
    names = ("seed", "epochs", "minutes", "steps", "batch", "micro", "rate", "frozen", "every")
    return Plan(**{name: getattr(chosen, name) for name in names}, is_half=chosen.bf16)


def complete(run: Run, resume: bool, finish: Callable[[], None]) -> None:
    """Trains on; where that came to its end, lets `finish` write what the run was for."""
    if run.train(resume):
        finish()
        print(f"Finished: {run.out}", flush=True)
    else:
        print("Not finished; run the same command with --resume.", flush=True)


def write_network(model: Network, out: Path, start: Path, settings: Mapping[str, Any]) -> None:
    """The weights, the tokenizer that they started with, and what is told of them as `settings.json`."""
    save(model, out)
    shutil.copyfile(start / "tokenizer.json", out / "tokenizer.json")
    (out / "settings.json").write_text(json.dumps(settings, indent=1), "utf-8")
