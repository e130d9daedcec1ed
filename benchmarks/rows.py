"""Rows of the encoder read alone and one to a core, beside batches that are filled up to their longest row.

    python benchmarks/rows.py [--encoder FOLDER]     default: the encoder of the installed weights

Sentences and passages are those given with questions of ASQA. Both ways are timed in turn, five times; printed is the
middle, wall time.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Sequence
from statistics import mean, median
from typing import Any

import numpy as np
import onnxruntime
from tokenizers import Tokenizer
from writer_sets import asqa_dev

from toulmin.extractive.analysis import analyse
from toulmin.runtime.encoder import full_text
from toulmin.runtime.network import Feed, Graph
from toulmin.runtime.shipped import part

QUESTIONS, TIMES, TOGETHER = 6, 5, 30
Rows = list[list[int]]


def feed(rows: Rows) -> Feed:
    """The rows filled up to the longest."""
    longest = max(map(len, rows))
    ids, mask = (np.zeros((len(rows), longest), np.int64) for _ in range(2))
    for n, row in enumerate(rows):
        ids[n, : len(row)], mask[n, : len(row)] = row, 1
    return {"input_ids": ids, "attention_mask": mask}


def on_every_core(path: str) -> Any:
    """One batch at a time, its products spread over the cores."""
    options = onnxruntime.SessionOptions()
    options.add_session_config_entry("session.disable_quant_qdq", "1")
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])


def seconds(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def table(name: str, rows: Rows, graph: Graph, session: Any) -> None:
    batches = [rows[start : start + TOGETHER] for start in range(0, len(rows), TOGETHER)]

    def together() -> None:
        for batch in batches:
            session.run(None, feed(batch))

    def alone() -> None:
        graph.each([feed([row]) for row in rows])

    alone()
    ways = {f"batches of {TOGETHER}": together, "alone, one to a core": alone}
    taken: dict[str, list[float]] = {way: [] for way in ways}
    for _ in range(TIMES):
        for way, work in ways.items():
            taken[way].append(seconds(work))
    print(f"{len(rows)} {name} of {mean(map(len, rows)):.0f} tokens on {os.cpu_count()} cores, ms for each")
    for way, times in taken.items():
        print(f"  {way:<22}{1e3 * median(times) / len(rows):6.1f}")


def tokens(tokenizer: Tokenizer, texts: Sequence[str]) -> Rows:
    return [read.ids for read in tokenizer.encode_batch_fast(list(texts))]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--encoder", help="a folder that training/encoder.py wrote")
    held = part("encoder", parser.parse_args().encoder)
    tokenizer = Tokenizer.from_file(str(held.file("tokenizer.json")))
    tokenizer.no_padding()
    path = held.file("model.onnx")
    graph, session = Graph(path), on_every_core(str(path))
    passages = [passage for item in asqa_dev()[:QUESTIONS] for passage in item.passages]
    sentences = [f"{p.title}\n{sentence.text}" for p in passages for sentence in analyse(p)]
    table("sentences", tokens(tokenizer, sentences), graph, session)
    table("passages", tokens(tokenizer, [full_text(passage) for passage in passages]), graph, session)


if __name__ == "__main__":
    main()
