"""Batches of rows that fit a memory"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

import torch

from toulmin.errors import ModelError

R = TypeVar("R")
T = TypeVar("T")
MULTIPLE = 8  # rows are padded to a multiple of this, which tensor cores compute faster


def row_width(length: int) -> int:
    return -(-length // MULTIPLE) * MULTIPLE


def batches(lengths: Sequence[int], most: int) -> list[list[int]]:
    """The row indices of each batch, the longest rows first.

    Rows times the longest's padded length is at most `most` tokens; a longer row goes alone.
    """
    groups: list[list[int]] = []
    width = 0
    for place in sorted(range(len(lengths)), key=lambda place: -lengths[place]):
        if not groups or (len(groups[-1]) + 1) * width > most:
            groups.append([])
            width = row_width(lengths[place])
        groups[-1].append(place)
    return groups


def in_batches(
    rows: Sequence[R], length: Callable[[R], int], most: int, run: Callable[[list[R]], Sequence[T]], who: str
) -> list[T]:
    """The results of `run`, in row order; a batch that exceeds the device's memory is halved.

    Raises `ModelError`, naming `who`, if one row alone does.
    """
    results: dict[int, T] = {}
    lengths = [length(row) for row in rows]
    waiting = batches(lengths, most)[::-1]
    while waiting:
        places = waiting.pop()
        try:
            outputs = run([rows[place] for place in places])
        except torch.OutOfMemoryError as error:
            if len(places) == 1:
                raise ModelError(
                    f"The device's memory does not hold a pair of {lengths[places[0]]} tokens for {who}; set a smaller"
                    " precision (bfloat16), another device, or judge shorter passages."
                ) from error
            half = len(places) // 2
            waiting += [places[half:], places[:half]]
        else:
            results.update(zip(places, outputs, strict=True))
    return [results[place] for place in range(len(rows))]
