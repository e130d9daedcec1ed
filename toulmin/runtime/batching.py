"""Rows of tokens in batches that fit a memory: by length, so that little of a batch is padding."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

import torch

from toulmin.errors import ModelError

R = TypeVar("R")
T = TypeVar("T")
MULTIPLE = 8  # rows are padded to a multiple of this: the shapes that tensor cores are quick at


def padded(length: int) -> int:
    """The tokens that a row takes where it is the longest of its batch."""
    return -(-length // MULTIPLE) * MULTIPLE


def batches(lengths: Sequence[int], most: int) -> list[list[int]]:
    """The places of the rows, batch by batch, the longest rows first.

    In a batch, rows x the padded length of the longest is at most `most` tokens; a row that is longer goes alone.
    """
    found: list[list[int]] = []
    width = 0
    for place in sorted(range(len(lengths)), key=lambda place: -lengths[place]):
        if not found or (len(found[-1]) + 1) * width > most:
            found.append([])
            width = padded(lengths[place])
        found[-1].append(place)
    return found


def in_batches(
    rows: Sequence[R], length: Callable[[R], int], most: int, run: Callable[[list[R]], Sequence[T]], who: str
) -> list[T]:
    """What `run` makes of each row, in order; a batch that the device's memory does not hold is halved and run again.

    Raises `ModelError`, with the name of `who` judges, when the memory does not hold a row alone.
    """
    results: dict[int, T] = {}
    lengths = [length(row) for row in rows]
    waiting = batches(lengths, most)[::-1]
    while waiting:
        places = waiting.pop()
        try:
            made = run([rows[place] for place in places])
        except torch.OutOfMemoryError as error:
            if len(places) == 1:
                raise ModelError(
                    f"The device's memory does not hold a pair of {lengths[places[0]]} tokens for {who}; set a smaller"
                    " precision (bfloat16), another device, or judge shorter passages."
                ) from error
            half = len(places) // 2
            waiting += [places[half:], places[:half]]
        else:
            results.update(zip(places, made, strict=True))
    return [results[place] for place in range(len(rows))]
