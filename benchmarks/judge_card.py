"""How well a GPU is used by a judge of TRUE's size: pairs a second, and the share of the card's own peak.

    python benchmarks/judge_card.py            T5-XXL's shape in bfloat16; needs a GPU with 40 GB of memory or more
    python benchmarks/judge_card.py --small    the same code over a tiny model, on any machine

Simulation: the weights are random, since the time of a decision does not depend on what they say; so are the words of
the pairs, but not their number: a passage has about 100 words, a pair one to three passages and a claim, as in ALCE.
The replies of random weights are decided by their first token, which is what TRUE's are where it says no; where it says
yes a second step follows. The peak is that of one big matrix product, measured here; the work counted is that of the
tokens of the pairs, so padding counts as waste.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Sequence
from typing import Any, NamedTuple

from headings import heading

from toulmin.data import Passage
from toulmin.steps import Pair

NEEDED = 40  # GiB: 22 for the weights, the rest for a batch
PAIRS, ALONE = 512, 24
SEED = 20


class Shape(NamedTuple):
    """Of an encoder-decoder with as many layers on either side."""

    model: int
    inner: int
    feed: int
    heads: int
    layers: int
    words: int

    def work(self, tokens: int, vocabulary: int) -> float:
        """Floating-point operations of one pair: the encoder, and the first step of the decoder."""
        attention, feed = 4 * self.model * self.inner, 3 * self.model * self.feed
        encoder = 2 * tokens * (attention + feed) + 4 * tokens**2 * self.inner
        reading = 2 * tokens * 2 * self.model * self.inner  # the decoder's keys and values of what was read
        step = 2 * (attention + 2 * self.model * self.inner + feed) + 4 * tokens * self.inner
        return self.layers * (encoder + reading + step) + 2 * self.model * vocabulary


XXL = Shape(model=4096, inner=4096, feed=10240, heads=64, layers=24, words=30_000)
SMALL = Shape(model=64, inner=64, feed=128, heads=4, layers=2, words=500)


def pairs(count: int, known: int) -> list[Pair]:
    """Pairs of random words, of so many that are known."""
    chance = random.Random(SEED)

    def some(fewest: int, most: int) -> str:
        return " ".join(f"w{chance.randrange(known)}" for _ in range(chance.randint(fewest, most)))

    return [
        Pair(tuple(Passage.of(some(80, 110), some(1, 4)) for _ in range(chance.randint(1, 3))), some(12, 30))
        for _ in range(count)
    ]


def tokenizer(known: int) -> Any:
    """A token a word, for the words below that number."""
    from transformers import T5Tokenizer

    control = [("<pad>", 0.0), ("</s>", 0.0), ("<unk>", 0.0), ("▁", -9.0), ("▁1", -9.0), ("▁0", -9.0)]
    said = [(f"▁{word}", -9.0) for word in ("premise:", "hypothesis:", "Title:", *(f"w{n}" for n in range(known)))]
    return T5Tokenizer(vocab=[*control, *said], extra_ids=0)


def model(shape: Shape, vocabulary: int, device: str, dtype: Any) -> Any:
    """Random weights, made on the device itself."""
    import torch
    from transformers import T5Config, T5ForConditionalGeneration

    config = T5Config(
        vocab_size=vocabulary,
        d_model=shape.model,
        d_ff=shape.feed,
        d_kv=shape.inner // shape.heads,
        num_layers=shape.layers,
        num_heads=shape.heads,
        feed_forward_proj="gated-gelu",
    )
    usual = torch.get_default_dtype()
    torch.manual_seed(SEED)
    try:
        torch.set_default_dtype(dtype)
        with torch.device(device):
            made: Any = T5ForConditionalGeneration(config)
    finally:
        torch.set_default_dtype(usual)
    made.generation_config.decoder_start_token_id = 0
    return made.eval()


def peak(size: int, device: str, dtype: Any, times: int = 20) -> float:
    """Operations a second of a square matrix product, the best of a few rounds."""
    import torch

    left, right = (torch.randn(size, size, device=device, dtype=dtype) for _ in range(2))

    def round_() -> None:
        for _ in range(times):
            left @ right
        if device == "cuda":
            torch.cuda.synchronize()

    round_()
    took = []
    for _ in range(3):
        begin = time.perf_counter()
        round_()
        took.append(time.perf_counter() - begin)
    return 2 * float(size) ** 3 * times / min(took)


def report(shape: Shape, device: str, dtype: Any, count: int, alone: int, batch_tokens: int, size: int) -> None:
    """One line a way of judging."""
    from toulmin.judges.seq2seq import Seq2Seq
    from toulmin.runtime.torch_models import LoadedModel

    words = tokenizer(shape.words)
    own = LoadedModel(model(shape, len(words), device, dtype), words, "random weights")
    given = pairs(count, shape.words)
    best = peak(size, device, dtype)
    print(f"measured peak: {best / 1e12:.3g} Tflop/s (matrix product of {size})")
    print(f"\n{'':22}{'pairs':>7}{'pairs/s':>10}{'Tflop/s':>10}{'of the peak':>13}", flush=True)
    ways = (("one pair at a time", given[:alone], 1), (f"{batch_tokens} tokens at once", given, batch_tokens))
    labels: list[list[str]] = []
    for name, some, most in ways:
        judge = Seq2Seq.of(own, "card", batch_tokens=most)
        judge.judge(some[: max(1, len(some) // 8)])  # the first call compiles and allocates
        begin = time.perf_counter()
        labels.append([verdict.label for verdict in judge.judge(some)])
        took = time.perf_counter() - begin
        work = sum(shape.work(lengths(words, pair), len(words)) for pair in some) / took
        print(f"{name:22}{len(some):7}{len(some) / took:10.1f}{work / 1e12:10.3g}{work / best:13.1%}", flush=True)
    same = sum(one == other for one, other in zip(labels[0], labels[1][:alone], strict=True))
    print(f"\nthe same verdict alone and in a batch: {same} of {len(labels[0])}")


def lengths(words: Any, pair: Pair) -> int:
    """Tokens of a pair as the judge reads it."""
    from toulmin.runtime.windows import hypothesis, premise

    return len(words(f"premise: {premise(pair.premises)} hypothesis: {hypothesis(pair)}")["input_ids"])


def main(words: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--small", action="store_true", help="a tiny model on the CPU")
    parser.add_argument("--pairs", type=int, default=PAIRS)
    parser.add_argument("--batch-tokens", type=int, default=16_384)
    asked = parser.parse_args(words)
    try:
        import torch
    except ImportError:
        print("This needs torch and transformers; run: pip install 'toulmin[judges]'")
        return
    if asked.small:
        torch.set_num_threads(1)
        print(
            heading(
                "judge_card.py", "Simulation: tiny random weights, float32, on the CPU: it shows that the code runs."
            )
        )
        report(SMALL, "cpu", torch.float32, min(asked.pairs, 24), 4, asked.batch_tokens, 256)
        print("```")
        return
    held = torch.cuda.get_device_properties(0).total_memory / 2**30 if torch.cuda.is_available() else 0
    if held < NEEDED:
        found = f"one with {held:.0f} GiB is here" if held else "none is here"
        print(f"This needs a GPU with at least {NEEDED} GiB of memory, but {found}; try --small on this machine.")
        return
    card = torch.cuda.get_device_properties(0).name
    print(heading("judge_card.py", f"Simulation: T5-XXL's shape, random weights, bfloat16, on one {card}."))
    report(XXL, "cuda", torch.bfloat16, asked.pairs, ALONE, asked.batch_tokens, 8192)
    print("```")


if __name__ == "__main__":
    main()
