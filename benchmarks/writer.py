"""The embedded writer: what its selected sentences hold, when it abstains, whether its quotes stand, how fast it is.

    python benchmarks/writer.py            the figures, on the dev splits
    python benchmarks/writer.py --train    the same on the train splits, from which every constant was chosen
    python benchmarks/writer.py --reader SPEC [--train]    by words, and by a reader that ranks windows, at one length

`training/fit_evidence.py` fits the weights of a sentence's features.

Recall is ALCE's `str_em`: the share of a question's answer slots one of whose normalised aliases is a substring of the
normalised answer, mean over questions, in percent; an abstention counts 0. The baseline is the first sentences of the
ranked passages at the same mean length. Seconds are CPU time of one process.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Sequence
from statistics import mean, median

from data import rows
from writer_sets import (
    Item,
    Pool,
    asqa_dev,
    asqa_snippets,
    asqa_train,
    feedback_train,
    passage,
    recall,
    short_answers,
    short_questions,
    slots_of,
)

from toulmin.build.parts import LateReader
from toulmin.config import Settings
from toulmin.data import Claim, Passage
from toulmin.extractive.analysis import analyse
from toulmin.extractive.evidence import Survey
from toulmin.extractive.windows import SpanReader
from toulmin.extractive.writer import Extractive
from toulmin.prompts.types import AnswerPrompt
from toulmin.steps import Generate
from toulmin.text.language import sentences

LENGTHS = (50, 75, 100)
EVERY = 4  # of the many short questions of the train split, spread over its sources
NEVER = 0.0


# ---------------------------------------------------------------- recall


def answers(
    items: Sequence[Item], words: int, threshold: float | None = None, reader: SpanReader | None = None
) -> list[tuple[Claim, ...]]:
    writer = Extractive(words, reader=reader) if threshold is None else Extractive(words, threshold, reader)
    asked = [Generate(AnswerPrompt(item.question, item.passages)) for item in items]
    return [reply.value.claims for reply in writer.generate(asked)]


def text_of(claims: Sequence[Claim]) -> str:
    return " ".join(claim.text for claim in claims)


def first_sentences(passages: Sequence[Passage], words: float) -> str:
    """The first sentences of the ranked passages, whole, nearest to `words` in all."""
    taken: list[str] = []
    used = 0
    for sentence in (sentence for ranked in passages for sentence in analyse(ranked)):
        size = len(sentence.text.split())
        if taken and used + size - words > words - used:
            break
        taken.append(sentence.text)
        used += size
    return " ".join(taken)


def baseline(items: Sequence[Item], length: float) -> list[str]:
    """First sentences, with the budget at which their mean length is nearest to `length`."""

    def texts(budget: float) -> list[str]:
        return [first_sentences(item.passages, budget) for item in items]

    budgets = [length * step / 100 for step in range(90, 111, 2)]
    return min(map(texts, budgets), key=lambda found: abs(mean_length(found) - length))


def mean_length(texts: Sequence[str]) -> float:
    return mean(len(text.split()) for text in texts)


def recall_table(name: str, items: Sequence[Item], target: str) -> None:
    for words in LENGTHS:
        texts = [text_of(claims) for claims in answers(items, words)]
        willing = [text_of(claims) for claims in answers(items, words, NEVER)]
        ours, always = (mean_recall(items, found) for found in (texts, willing))
        first = mean_recall(items, baseline(items, mean_length(willing)))
        goal = target if words == 75 else ""
        print(
            f"{name:<22}{len(items):>5}{mean_length(willing):>8.1f}{first:>8.1f}{always:>10.1f}{always - first:>+8.1f}"
            f"{ours:>10.1f}{ours - first:>+8.1f}{mean(not text for text in texts):>8.2f}   {goal}"
        )


def reader_table(name: str, items: Sequence[Item], reader: SpanReader, target: str) -> None:
    """Recall by words and with the reader; words get the budget that gives the reader's length."""
    for words in LENGTHS:
        texts = [text_of(claims) for claims in answers(items, words, NEVER, reader)]
        length = mean_length(texts)
        tried = [[text_of(claims) for claims in answers(items, words + more, NEVER)] for more in range(-8, 9, 2)]
        plain = min(tried, key=lambda found: abs(mean_length(found) - length))
        by_words, by_reader = mean_recall(items, plain), mean_recall(items, texts)
        goal = target if words == 75 else ""
        print(
            f"{name:<22}{len(items):>5}{mean_length(plain):>9.1f}{length:>9.1f}{by_words:>9.1f}{by_reader:>9.1f}"
            f"{by_reader - by_words:>+7.1f}   {goal}",
            flush=True,
        )


def mean_recall(items: Sequence[Item], texts: Sequence[str]) -> float:
    return 100 * mean(recall(text, item.slots) for item, text in zip(items, texts, strict=True))


# ---------------------------------------------------------------- quotes


def exact(claim: Claim, passages: Sequence[Passage]) -> bool:
    """Whether the claim quotes one sentence at its offsets and, lead-in aside, is that sentence."""
    (citation,) = claim.citations
    source = next(passage for passage in passages if passage.id == citation.passage)
    quote = citation.quote
    if quote is None or source.text[quote.start : quote.end] != quote.text:
        return False
    words = " ".join(quote.text.split())
    is_sentence = (quote.start, quote.end) in sentences(source.text)
    return is_sentence and claim.text in (words, f"{' '.join(source.title.split())}: {words}")


def quote_share(items: Sequence[Item]) -> tuple[float, int]:
    found = answers(items, 75)
    checked = [exact(c, item.passages) for item, claims in zip(items, found, strict=True) for c in claims]
    return mean(checked), len(checked)


# ---------------------------------------------------------------- abstention


def one_passage_train(pool: Pool, every: int) -> Iterator[tuple[str, Passage, bool]]:
    """Questions with a gold passage, and with each ranked one that holds no answer."""
    for row in short_questions("train", every):
        gold = [pool.by_id[id] for id in row["gold_passages"] if id in pool.by_id]
        yield from ((row["question"], passage, True) for passage in gold[:1])
        slots = slots_of(row["answers"])
        others = [p for p in pool.first(row["question"], 10) if p not in gold and not recall(p.text, slots)]
        yield from ((row["question"], passage, False) for passage in others)


def clapnq_dev() -> Iterator[tuple[str, Passage, bool]]:
    for row in rows("qa_clapnq", "dev"):
        yield row["question"], passage(row["passages"][0]), row["answerable"]


def abstention(cases: Sequence[tuple[str, Passage, bool]], threshold: float) -> tuple[float, float, float]:
    """Shares of the answerable answered and of the others abstained from, and their mean."""
    writer = Extractive(threshold=threshold)
    replies = writer.generate([Generate(AnswerPrompt(question, (passage,))) for question, passage, _ in cases])
    said = [bool(reply.value.claims) for reply in replies]
    answered = mean(s for s, (_, _, answerable) in zip(said, cases, strict=True) if answerable)
    silent = mean(not s for s, (_, _, answerable) in zip(said, cases, strict=True) if not answerable)
    return answered, silent, (answered + silent) / 2


def area(cases: Sequence[tuple[str, Passage, bool]]) -> float:
    """ROC AUC of what abstention looks at."""
    scored = [(Survey(question, (passage,)).coverage, answerable) for question, passage, answerable in cases]
    held = [score for score, answerable in scored if answerable]
    others = [score for score, answerable in scored if not answerable]
    return mean((a > b) + 0.5 * (a == b) for a in held for b in others)


def abstention_rows(name: str, cases: Sequence[tuple[str, Passage, bool]], thresholds: Sequence[float]) -> None:
    print(f"{name}: {len(cases)} questions with one passage, AUC {area(cases):.3f}")
    for threshold in thresholds:
        answered, silent, balanced = abstention(cases, threshold)
        print(f"  threshold {threshold:.3f}: answered {answered:.3f}, silent {silent:.3f}, balanced {balanced:.3f}")


# ---------------------------------------------------------------- speed


def hundred_words(passages: Sequence[Passage]) -> list[Passage]:
    """Passages cut to 100 words, as the target counts them."""
    return [Passage.of(" ".join(passage.text.split()[:100]), passage.title) for passage in passages]


def speed(items: Sequence[Item], k: int) -> None:
    """Milliseconds a question, for passages never seen and for passages seen before."""
    prompts = [AnswerPrompt(item.question, tuple(hundred_words(item.passages[:k]))) for item in items]
    writer = Extractive()
    analyse.cache_clear()
    new = median([timed(writer, prompt) for prompt in prompts])
    seen = median([timed_again(writer, prompt) for prompt in prompts])
    print(f"{k} passages of at most 100 words: {new:.1f} ms a question, {seen:.1f} ms where they were seen before")


def timed(writer: Extractive, prompt: AnswerPrompt) -> float:
    start = time.process_time()
    writer.generate([Generate(prompt)])
    return 1000 * (time.process_time() - start)


def timed_again(writer: Extractive, prompt: AnswerPrompt) -> float:
    writer.generate([Generate(prompt)])
    return timed(writer, prompt)


# ---------------------------------------------------------------- report


HEAD = "set                      n   words   first    always    gain    product    gain  silent   target at 75 words"


def report_train() -> None:
    pool = Pool()
    print(HEAD)
    recall_table("feedback, given", list(feedback_train(None)), "")
    recall_table("feedback, 20 of pool", list(feedback_train(pool)), "")
    recall_table("asqa, 20 of pool", list(asqa_train(pool)), "")
    recall_table("asqa, with snippets", list(asqa_train(Pool(asqa_snippets()))), "")
    recall_table("short, 10 of pool", short_answers(pool, "train", EVERY), "")
    cases = list(one_passage_train(pool, EVERY))
    abstention_rows("pool_questions train", cases, [step / 40 for step in range(14, 25)])


def report_dev() -> None:
    pool = Pool()
    asqa, short = asqa_dev(), short_answers(pool, "dev")
    print(HEAD)
    recall_table("asqa, given", asqa, "gain 12")
    recall_table("short, 10 of pool", short, "gain 8")
    share, claims = quote_share([*asqa, *short])
    print(f"claims whose exact quote is their text: {share:.4f} of {claims} (target 1)")
    abstention_rows("clapnq dev (target 0.72)", list(clapnq_dev()), [Extractive().manner.threshold])
    speed(asqa, 10)
    speed(asqa, 25)
    print("targets: 5 ms for 10 passages, 12 ms for 25")


def report_reader(reader: SpanReader, train: bool) -> None:
    pool = Pool()
    print(f"{'set':<22}{'n':>5}{'words':>9}{'words':>9}{'recall':>9}{'reader':>9}{'gain':>7}   target at 75 words")
    if train:
        reader_table("feedback, given", list(feedback_train(None)), reader, "")
        reader_table("short, 10 of pool", short_answers(pool, "train", EVERY), reader, "")
    else:
        reader_table("asqa, given", asqa_dev(), reader, "gain 5")
        reader_table("short, 10 of pool", short_answers(pool, "dev"), reader, "")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--train", action="store_true", help="the train splits")
    parser.add_argument("--reader", help="as `--set reader=` names it")
    asked = parser.parse_args()
    if asked.reader is not None:
        report_reader(LateReader(Settings(reader=asked.reader)), asked.train)
    elif asked.train:
        report_train()
    else:
        report_dev()


if __name__ == "__main__":
    main()
