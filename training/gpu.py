"""Teach on a machine with a GPU for ten minutes: send the base and the packs, bring back what was learnt.

    python training/gpu.py split BASE --out PARTS [--parts 2]      here: the base in 8 bits, in files to send
    python training/gpu.py keep FILE ... --into FOLDER             there, once for each file that arrives
    python training/gpu.py teach --into FOLDER --out OUT --within 4 [options of teach.py]      there
    python training/gpu.py join PARTS LEARNT ... --out NETWORK     here: the network, or the mean of several

`teach` makes one run for each `order-*.npy` of FOLDER, all from the same weights, and takes their mean where that is
better on the dev claims. OUT gets `metrics.jsonl` and what the best network adds to the base, in 8 bits and files
below 16 MiB; `keep` with `--into OUT` fetches those for which there was no room. `--device cpu` tries all of it
without a GPU.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import teach
import torch
from heads import Heads, adapt, learnt
from packs import Pack, load
from safetensors.torch import load_file, save_file
from torch import Tensor

WEIGHTS = "model.safetensors"
FILES = ("config.json", "tokenizer.json")
LIST = "parts.json"
MOST = 15 * 2**20  # bytes of a file on the way back
BACK = 4  # files that one call brings back


def narrow(weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Matrices in 8 bits, each row with its scale."""
    small = dict[str, Tensor]()
    for name, value in weights.items():
        if value.ndim == 2:
            scale = value.float().abs().amax(1, keepdim=True).clamp(min=1e-12) / 127
            small |= {name: (value.float() / scale).round().to(torch.int8).cpu(), f"{name}.scale": scale.cpu()}
        else:
            small[name] = value.float().cpu()
    return small


def widen(small: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The weights that `narrow` made small."""
    known = {name: value for name, value in small.items() if not name.endswith(".scale")}
    return {
        name: value * small[f"{name}.scale"] if value.dtype == torch.int8 else value for name, value in known.items()
    }


def write(weights: Mapping[str, Tensor], out: Path, most: int) -> list[Path]:
    """Files of about `most` bytes, and a list of their hashes."""
    out.mkdir(parents=True, exist_ok=True)
    files = []
    for number, group in enumerate(_groups(narrow(weights), most)):
        files.append(out / f"part-{number:02}.safetensors")
        save_file({name: value.contiguous() for name, value in group.items()}, files[-1])
    known = {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in files}
    (out / LIST).write_text(json.dumps(known, indent=1), "utf-8")
    return files


def _groups(weights: Mapping[str, Tensor], most: int) -> Iterator[dict[str, Tensor]]:
    group, size = dict[str, Tensor](), 0
    for name, value in weights.items():
        if group and size + value.nbytes > most:
            yield group
            group, size = {}, 0
        group[name], size = value, size + value.nbytes
    yield group


def read(parts: Path) -> dict[str, Tensor]:
    """What `write` wrote. Raises SystemExit if a part is missing or is not the one that was sent."""
    small = dict[str, Tensor]()
    for name, sha in json.loads((parts / LIST).read_text("utf-8")).items():
        file = parts / name
        if not file.exists() or hashlib.sha256(file.read_bytes()).hexdigest() != sha:
            raise SystemExit(f"{file} should have SHA-256 {sha}; send it again.")
        small |= load_file(file)
    return widen(small)


def split(base: Path, out: Path, count: int) -> list[Path]:
    """The base in 8 bits, in about `count` files of like size."""
    weights = load_file(base / WEIGHTS)
    files = write(weights, out, -(-sum(value.numel() for value in weights.values()) // count) + 2**20)
    for name in FILES:
        shutil.copyfile(base / name, out / name)
    return files


def unite(parts: Path, base: Path) -> Path:
    """The base again, as its 8 bits say."""
    base.mkdir(parents=True, exist_ok=True)
    save_file(read(parts), base / WEIGHTS)
    for name in FILES:
        shutil.copyfile(parts / name, base / name)
    return base


def keep(files: Sequence[Path], into: Path) -> None:
    """Copies what arrived to a folder that the next call still finds."""
    into.mkdir(parents=True, exist_ok=True)
    for file in files:
        shutil.copyfile(file, into / file.name)


def learn(into: Path, out: Path, chosen: argparse.Namespace) -> None:
    """One run for each order; writes what the best of them, or their mean, adds to the base."""
    base, pack, dev = unite(into, into / "base"), load([into / "rows.npz"]), load([into / "dev.npz"])
    plan, half = teach.plan_of(chosen), chosen.device == "cuda"
    first, found = dict[str, Tensor](), dict[str, dict[str, Tensor]]()
    for order in sorted(into.glob("order-*.npy"))[: chosen.runs]:
        model = teach.heads_from(base, plan.dropout, 0)
        first = {name: weight.detach().clone() for name, weight in model.state_dict().items()}
        run = teach.Run(model, pack, plan, into / f"run-{order.stem}", chosen.device, half, np.load(order))
        run.train(dev, every=60, assess=chosen.assess)
        found[order.stem] = {name: weight.detach().cpu() for name, weight in learnt(run.model).items()}
    if len(found) > 1:
        sums = (torch.stack([weights[name] for weights in found.values()]) for name in next(iter(found.values())))
        found["mean"] = dict(zip(next(iter(found.values())), (group.mean(0) for group in sums), strict=True))
    lines, best = _compare(found, adapt(teach.heads_from(base, 0.0, 0), plan.frozen), dev, chosen)
    whole = into / "learnt"
    held = {name: first[name] for name in best if name in first and "backbone" in name}
    files = write({name: value - held.get(name, 0.0) for name, value in best.items()}, whole, MOST)
    metrics = "".join(file.read_text("utf-8") for file in sorted(into.glob("run-*/metrics.jsonl")))
    (whole / "metrics.jsonl").write_text(metrics + "".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    keep([whole / LIST, whole / "metrics.jsonl", *files[:BACK]], out)
    print(f"{len(files)} files in {whole}, of which {min(len(files), BACK)} are in {out}")


def _compare(
    found: Mapping[str, dict[str, Tensor]], model: Heads, dev: Pack, chosen: argparse.Namespace
) -> tuple[list[dict[str, object]], dict[str, Tensor]]:
    device, lines = torch.device(chosen.device), list[dict[str, object]]()
    model.to(device)
    means = {}
    for name, weights in found.items():
        with torch.no_grad():
            for key, weight in learnt(model).items():
                weight.copy_(weights[key])
        scores = teach.supports(model, dev, chosen.budget, device, chosen.device == "cuda")
        lines.append({"network": name, "auc": teach.areas(scores, dev)})
        means[name] = teach.areas(scores, dev)["mean"]
        print(json.dumps(lines[-1]), flush=True)
    return lines, found[max(means, key=means.__getitem__)]


def join(parts: Path, backs: Sequence[Path]) -> Heads:
    """The network that was learnt there, or the mean of several, from the parts that were sent and what came back."""
    model = teach.heads_from(unite(parts, backs[0] / "base"), 0.0, 0)
    state, added = model.state_dict(), [read(back) for back in backs]
    with torch.no_grad():
        for name in added[0]:
            mean = torch.stack([each[name] for each in added]).mean(0)
            state[name].copy_(mean + state[name] * ("backbone" in name))
    return model.eval()


def main(arguments: Sequence[str]) -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    cut = commands.add_parser("split", help="write the base in 8 bits, in parts")
    cut.add_argument("base", type=Path)
    cut.add_argument("--parts", type=int, default=2)
    kept = commands.add_parser("keep", help="copy what arrived to a folder that stays")
    kept.add_argument("files", type=Path, nargs="+")
    kept.add_argument("--into", type=Path, required=True)
    taught = commands.add_parser("teach", help="join the base and teach", parents=[teach.options()])
    taught.add_argument("--into", type=Path, required=True)
    taught.add_argument("--runs", type=int, default=2)
    joined = commands.add_parser("join", help="write the network that was learnt")
    joined.add_argument("parts", type=Path)
    joined.add_argument("back", type=Path, nargs="+")
    for command in (cut, joined):
        command.add_argument("--out", type=Path, required=True)
    chosen = parser.parse_args(arguments)
    if chosen.command == "split":
        for file in split(chosen.base, chosen.out, chosen.parts):
            print(f"{file}: {file.stat().st_size / 2**20:.1f} MiB")
    elif chosen.command == "keep":
        keep(chosen.files, chosen.into)
    elif chosen.command == "join":
        chosen.out.mkdir(parents=True, exist_ok=True)
        save_file(join(chosen.parts, chosen.back).state_dict(), chosen.out / WEIGHTS)
        for name in FILES:
            shutil.copyfile(chosen.parts / name, chosen.out / name)
    else:
        learn(chosen.into, chosen.out, chosen)


if __name__ == "__main__":
    main(sys.argv[1:])
