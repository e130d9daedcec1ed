"""AutoAIS over a whole run beside ALCE's one pair at a time, with one and the same small model on the CPU.

    python benchmarks/autoais.py                # 300 answers twice: unrelated ones, and four to a question
    python benchmarks/autoais.py --answers 40

The answers are put together here: sentences of `pool_corpus`, 1 to 5 an answer, each with 1 to 3 citations among five
passages of three sentences. Unrelated answers have passages of their own; four sampled answers to a question take their
sentences from the same six, and one time in five cite something else than the other samples: a simulation of what a
model writes that is asked four times. The judge is `small_t5`, a model of noise: only the counting and the speed mean
anything. What is saved depends on what a judge says: with other seeds of the model the calls on unrelated answers were
0.92 to 0.95 of ALCE's, which is why one seed is set. ALCE's way is the slow, obvious one of the tests, which calls the
model's `generate` with one pair at a time; verdicts and scores must be the same to the last digit. The second scoring
finds its verdicts on disk.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import small_t5
import torch
from data import rows
from headings import heading
from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

from toulmin.data import Passage
from toulmin.datasets.item import Gold, Item
from toulmin.judges.seq2seq import Seq2Seq
from toulmin.judges.verdict_cache import CachedJudge
from toulmin.metrics.answered import MetricTable, ScoringItem
from toulmin.metrics.autoais import citation_metrics
from toulmin.metrics.judging import Judging, content
from toulmin.metrics.splitting import sentences
from toulmin.metrics.statements import Alce, output_to_score
from toulmin.runtime.windows import hypothesis, premise
from toulmin.steps import Pair
from toulmin.text.language import sentences as spans

sys.path.insert(0, str(Path(__file__).parent.parent))
from tests.slow_alce import Doc, Record, SlowAlce

DOCS = 5
LONG = 3  # sentences in a passage
SAMPLES = 4
SENTENCES = 6  # that the samples of one question choose from
ANEW = 0.2  # how often a sample cites otherwise than the others
MOST_CALLS = {"unrelated answers": 0.93, "four answers a question": 0.65}
FASTER, AGAIN = 3.0, 2.0
BATCH_TOKENS = 4096
SEED = 5  # of a judge that says `1` to 40 to 80 % of every wave


# ---------------------------------------------------------------- answers


@dataclass(frozen=True)
class Sentence:
    """A sentence without its marks, and the passage that it was taken from."""

    words: str
    doc: int


def groups(count: int, chances: Random) -> list[tuple[list[Passage], list[Sentence]]]:
    """Sets of passages, no passage twice, each with sentences of theirs."""
    pages = ((row["title"], list(_plain(row["text"]))) for row in islice(rows("pool_corpus"), 8 * DOCS * count))
    usable = [
        (Passage.of(" ".join(statements[:LONG]), title), statements[:LONG])
        for title, statements in pages
        if len(statements) >= LONG
    ]
    chances.shuffle(usable)
    made = []
    for start in range(0, DOCS * count, DOCS):
        chosen = usable[start : start + DOCS]
        statements = [Sentence(words, n) for n, (_, texts) in enumerate(chosen, start=1) for words in texts]
        made.append(([passage for passage, _ in chosen], chances.sample(statements, SENTENCES)))
    return made


def _plain(text: str) -> Iterable[str]:
    """The sentences that no splitter cuts further, and that hold no bracket."""
    for span in spans(text):
        words = text[span.start : span.end]
        if 6 <= len(words.split()) <= 40 and words[-1] == "." and "[" not in words and len(sentences(words)) == 1:
            yield words


def _mark(statement: Sentence, chances: Random) -> str:
    others = [n for n in range(1, DOCS + 1) if n != statement.doc]
    numbers = [statement.doc, *chances.sample(others, chances.randrange(3))]
    chances.shuffle(numbers)
    return statement.words[:-1] + " " + "".join(f"[{n}]" for n in numbers) + "."


def separate(count: int) -> list[ScoringItem]:
    """Answers over passages of their own."""
    chances = Random(1)
    return [
        _answer(n, docs, [_mark(statement, chances) for statement in statements[: chances.randint(1, 5)]])
        for n, (docs, statements) in enumerate(groups(count, chances))
    ]


def samples(count: int) -> list[ScoringItem]:
    """Four answers to each of a quarter as many questions."""
    chances = Random(2)
    answers = []
    for n, (docs, statements) in enumerate(groups(count // SAMPLES, chances)):
        usual = {statement: _mark(statement, chances) for statement in statements}
        for sample in range(SAMPLES):
            chosen = chances.sample(statements, chances.randint(1, 5))
            texts = [_mark(statement, chances) if chances.random() < ANEW else usual[statement] for statement in chosen]
            answers.append(_answer(SAMPLES * n + sample, docs, texts))
    return answers


def _answer(n: int, docs: Sequence[Passage], texts: Sequence[str]) -> ScoringItem:
    return output_to_score(Item(str(n), "What is known?", Gold()), " ".join(texts), tuple(docs))


# ---------------------------------------------------------------- both ways


@dataclass
class Slow:
    """The model as ALCE asks it: one pair, the whole reply."""

    folder: Path
    verdicts: dict[tuple[str, str], bool] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._tokenizer: Any = AutoTokenizer.from_pretrained(self.folder, local_files_only=True)
        self._model: Any = AutoModelForSeq2SeqLM.from_pretrained(self.folder, local_files_only=True).eval()

    @torch.inference_mode()
    def entails(self, text: str, claim: str) -> bool:
        """Whether the reply is `1`."""
        row = self._tokenizer(f"premise: {text} hypothesis: {claim}", return_tensors="pt")
        drawn = self._model.generate(**row, max_new_tokens=10, do_sample=False)
        is_entailed = bool(self._tokenizer.decode(drawn[0], skip_special_tokens=True) == "1")
        self.verdicts[text, claim] = is_entailed
        return is_entailed


class CountingJudge(Judging):
    """Keeps each wave's pairs."""

    def __init__(self, judge: Any) -> None:
        super().__init__(judge, progress=lambda done, total, wave: self.counts.update({wave: total}))
        self.waves: dict[str, dict[Any, Pair]] = {}
        self.counts: dict[str, int] = {}  # of pairs that are new in a wave

    async def ask(self, pairs: Iterable[Pair], wave: str) -> None:
        """As always."""
        listed = list(pairs)
        self.waves[wave] = {content(pair): pair for pair in listed}
        await super().ask(listed, wave)

    def share(self, wave: str) -> float:
        """How many of the wave's pairs are entailed."""
        verdicts = [self.entails(pair) for pair in self.waves[wave].values()]
        return sum(verdicts) / max(1, len(verdicts))

    def verdicts(self) -> dict[tuple[str, str], bool]:
        """Every verdict, under the two texts that the model read."""
        pairs = (pair for wave in self.waves.values() for pair in wave.values())
        return {(premise(pair.premises), hypothesis(pair)): self.entails(pair) for pair in pairs}


def _values(scores: MetricTable) -> list[float | None]:
    return [column.value for column in scores.columns]


def compare(name: str, answered: Sequence[ScoringItem], folder: Path) -> bool:
    """Prints a block; whether everything came out as it must."""
    judge = Seq2Seq(folder, device="cpu", precision="float32", batch_tokens=BATCH_TOKENS)
    slow_judge = Slow(folder)
    profile = Alce(sentences)
    records = [Record(a.item.question, a.output, [Doc(p.title, p.text) for p in a.docs]) for a in answered]

    begin = time.perf_counter()
    slow = SlowAlce(slow_judge.entails, sentences)
    theirs = slow.score(records)
    slow_seconds = time.perf_counter() - begin

    memo = folder / f"{name}.sqlite"
    watched = CountingJudge(CachedJudge(judge, memo))
    begin = time.perf_counter()
    ours = asyncio.run(citation_metrics(answered, profile, watched))
    seconds = time.perf_counter() - begin

    second = CachedJudge(judge, memo)
    begin = time.perf_counter()
    again = asyncio.run(citation_metrics(answered, profile, Judging(second)))
    again_seconds = time.perf_counter() - begin

    pairs = sum(watched.counts.values())
    marks = {
        "verdicts identical": watched.verdicts() == slow_judge.verdicts,
        "scores identical": _values(ours) == [theirs["citation_rec"], theirs["citation_prec"]],
        f"calls at most {MOST_CALLS[name]}": pairs / len(slow.calls) <= MOST_CALLS[name],
        f"at least {FASTER:.0f} times as fast": slow_seconds / seconds >= FASTER,
        f"second scoring under {AGAIN:.0f} s, nothing asked": again_seconds < AGAIN
        and second.asked == 0
        and again == ours,
    }
    print(f"\n{name}: {len(answered)} answers, {sum(map(len, map(_statements, ours.reasons)))} statements")
    print(f"  {'one pair at a time':22}{len(slow.calls):7} pairs {slow_seconds:9.1f} s")
    print(f"  {'three waves':22}{pairs:7} pairs {seconds:9.1f} s   with the verdicts written to disk")
    for wave, count in watched.counts.items():
        entailed = f"{watched.share(wave):.0%}"
        print(f"    {wave:20}{count:7} pairs new, {len(watched.waves[wave])} needed, {entailed} of them entailed")
    print(f"  {'a second time':22}{second.asked:7} pairs {again_seconds:9.2f} s")
    print(f"  calls {pairs / len(slow.calls):.3f} of ALCE's, {slow_seconds / seconds:.1f} times as fast")
    for mark, holds in marks.items():
        print(f"  {'yes' if holds else 'NO '}  {mark}")
    return all(marks.values())


def _statements(reason: Any) -> Sequence[Any]:
    reasons: Sequence[Any] = reason["statements"]
    return reasons


def _texts(answered: Sequence[ScoringItem]) -> list[str]:
    """Pairs as the model reads them, to settle it by."""
    statements = [
        (answer, statement) for answer in answered for statement in Alce(sentences).statements(answer).statements
    ]
    pairs = (statement.pair(statement.citations) for _, statement in statements if statement.flaw is None)
    return [f"premise: {premise(pair.premises)} hypothesis: {hypothesis(pair)}" for pair in pairs]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--answers", type=int, default=300)
    parser.add_argument("--threads", type=int, default=1, help="of torch, for both ways")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    sets = {"unrelated answers": separate(options.answers), "four answers a question": samples(options.answers)}
    with TemporaryDirectory() as place:
        folder = Path(place)
        texts = [passage.text for passage in (doc for a in sets["unrelated answers"] for doc in a.docs)]
        known = _texts([a for answered in sets.values() for a in answered])
        pairs = Random(0).sample(known, min(100, len(known)))
        small_t5.make(folder, texts, pairs, SEED)
        print(
            heading(
                "autoais.py",
                f"Judge: an untrained T5 of width {small_t5.WIDTH}, {small_t5.LAYERS} + {small_t5.LAYERS} layers,"
                f" float32, CPU, {options.threads} thread(s), at most"
                f" {BATCH_TOKENS} tokens a batch; replies of one token.\nProfile alce, at most 3 citations;"
                f" {DOCS} passages of {LONG} sentences.",
            )
        )
        holds = [compare(name, answered, folder) for name, answered in sets.items()]
        print("```")
    raise SystemExit(0 if all(holds) else 1)


if __name__ == "__main__":
    main()
