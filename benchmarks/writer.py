"""The embedded writer: what its selected sentences hold, when it abstains, whether its quotes stand, how fast it is.

    python benchmarks/writer.py            the figures, on the dev splits
    python benchmarks/writer.py --train    the same on the train splits, from which every constant was chosen

Recall is ALCE's `str_em`: the share of a question's answer slots one of whose normalised aliases is a substring of the
normalised answer, mean over questions, in percent; an abstention counts 0. The baseline is the first sentences of the
ranked passages at the same mean length. Seconds are CPU time of one process.

The train sets stand in for ASQA with passages, of which only a dev split is here: `qa_feedback` (slots: the facts of
the gold answer that its question does not hold and some passage does; over the passages given, and over the first 20 of
`pool_corpus`), and the train questions of `qa_asqa` of which those 20 hold three slots in ten.
"""

from __future__ import annotations

import argparse
import re
import string
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from statistics import mean, median
from typing import Any

from data import rows

from toulmin.corpus.retrieve import InMemory
from toulmin.data import Claim, Passage
from toulmin.grounding.facts import facts
from toulmin.grounding.prompts import AnswerPrompt
from toulmin.grounding.steps import Generate
from toulmin.language import sentences
from toulmin.models.analysis import analyse, content_terms
from toulmin.models.extractive import Extractive
from toulmin.models.survey import Survey

LENGTHS = (50, 75, 100)
EVERY = 4  # of the many short questions of the train split, spread over its sources
NEVER = 0.0


@dataclass(frozen=True)
class Item:
    """A question with its ranked passages; a slot is met by any of its normalised aliases."""

    question: str
    passages: tuple[Passage, ...]
    slots: tuple[tuple[str, ...], ...]


def normalised(text: str) -> str:
    """ALCE's `normalize_answer`."""
    bare = "".join(c for c in text.lower() if c not in string.punctuation)
    return " ".join(re.sub(r"\b(a|an|the)\b", " ", bare).split())


def slots_of(answers: Sequence[Sequence[str]]) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(map(normalised, aliases)) for aliases in answers)


def recall(text: str, slots: Sequence[Sequence[str]]) -> float:
    plain = normalised(text)
    return mean(any(alias in plain for alias in aliases) for aliases in slots)


# ---------------------------------------------------------------- sets


def passage(row: dict[str, Any]) -> Passage:
    text = row["text"] if "text" in row else " ".join(row["sentences"])
    return Passage.of(text, row.get("title") or "")


class Pool:
    """`pool_corpus` in memory, with the passage of each of its ids."""

    def __init__(self) -> None:
        self.by_id = {row["id"]: passage(row) for row in rows("pool_corpus")}
        self.index = InMemory(list(self.by_id.values()))

    def first(self, question: str, k: int) -> tuple[Passage, ...]:
        """The first `k` passages for the question."""
        return tuple(hit.passage for hit in self.index.search([question], k)[0])


def short_questions(split: str, every: int) -> Iterator[dict[str, Any]]:
    asked = (row for row in rows("pool_questions", split) if row["kind"] == "short")
    return islice(asked, 0, None, every)


def short_answers(pool: Pool, split: str, every: int = 1) -> list[Item]:
    return [
        Item(row["question"], pool.first(row["question"], 10), slots_of(row["answers"]))
        for row in short_questions(split, every)
    ]


def asqa_dev() -> list[Item]:
    return [
        Item(
            row["question"],
            tuple(map(passage, row["docs"])),
            slots_of([pair["short_answers"] for pair in row["qa_pairs"]]),
        )
        for row in rows("qa_asqa_passages", "dev")
    ]


def asqa_train(pool: Pool) -> Iterator[Item]:
    for row in rows("qa_asqa", "train"):
        passages = pool.first(row["question"], 20)
        slots = slots_of([pair["short_answers"] for pair in row["qa_pairs"]])
        if recall(" ".join(f"{p.title} {p.text}" for p in passages), slots) >= 0.3:
            yield Item(row["question"], passages, slots)


def feedback_train(pool: Pool | None) -> Iterator[Item]:
    for row in rows("qa_feedback", "train"):
        given = tuple(map(passage, row["passages"]))
        passages = given if pool is None else pool.first(row["question"], 20)
        held = normalised(" ".join(f"{p.title} {p.text}" for p in passages))
        slots = [(value,) for value in gold_facts(row["gold"], row["question"]) if value in held]
        if slots:
            yield Item(row["question"], passages, tuple(slots))


def gold_facts(gold: str, question: str) -> list[str]:
    """What an answer tells beside the question, normalised."""
    asked = content_terms(question)
    told = (gold[fact.start : fact.end] for fact in facts(gold))
    values = {normalised(words) for words in told if not content_terms(words) <= asked}
    return sorted(value for value in values if len(value) > 1 and value not in normalised(question))


# ---------------------------------------------------------------- recall


def answers(items: Sequence[Item], words: int, threshold: float | None = None) -> list[tuple[Claim, ...]]:
    writer = Extractive(words) if threshold is None else Extractive(words, threshold)
    asked = [Generate(AnswerPrompt(item.question, item.passages)) for item in items]
    return [reply.value.claims for reply in writer.generate(asked)]


def text_of(claims: Sequence[Claim]) -> str:
    return " ".join(claim.text for claim in claims)


def first_sentences(passages: Sequence[Passage], words: float) -> str:
    """The first sentences of the ranked passages, whole, nearest to `words` in all."""
    taken: list[str] = []
    used = 0
    for sentence in (sentence for passage in passages for sentence in analyse(passage)):
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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--train", action="store_true", help="the train splits")
    report_train() if parser.parse_args().train else report_dev()


if __name__ == "__main__":
    main()
