"""How good the questions are that are made from passages without labels.

    python benchmarks/questions.py                 300 questions from 5,000 passages of pool_corpus, and the demo corpus
    python benchmarks/questions.py --seed 8        another sample and other questions
    python benchmarks/questions.py --show 40       so many of them in full, to be read
    python benchmarks/questions.py --whole         from the whole of pool_corpus

What is printed

* the questions by kind and by rule;
* of the answerable ones, how many the embedded reader answers from the gold passage: its words are the answer, hold it,
  or share half of their words with it (token F1);
* of the answerable ones, how many have their gold passage among the first ten that BM25 finds;
* of those that lost their answer, how many still have a passage that may be found, in whose title and text the subject
  and the old answer both stand, word for word; it should be none. This is looked for without anything of the product
  but its sentences' spaces;
* the time of the processor.
"""

from __future__ import annotations

import argparse
import random
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from time import process_time

import data
from headings import heading

import toulmin.demo
from toulmin.data import Passage
from toulmin.datasets.item import Item
from toulmin.datasets.synthetic import make_items
from toulmin.documents.loaders import read_documents
from toulmin.documents.passages import cut
from toulmin.extractive.reader import LexicalReader
from toulmin.retrieval.bm25 import InMemory
from toulmin.text.overlap import normalise, token_f1

SAMPLE = 5_000
WANTED = 300
FIRST = 10
RIGHT = 0.5  # token F1


def pool(seed: int, size: int | None) -> list[Passage]:
    """Passages of `pool_corpus`: a sample of that size, or all."""
    rows = list(data.rows("pool_corpus"))
    drawn = rows if size is None else random.Random(seed).sample(rows, size)
    return [Passage.of(row["text"], row["title"]) for row in drawn]


def demo() -> list[Passage]:
    folder = Path(toulmin.demo.__file__).parent / "longitude"
    return [
        passage for file in sorted(folder.iterdir()) for document in read_documents(file) for passage in cut(document)
    ]


def is_read(item: Item, passage: Passage, reader: LexicalReader) -> bool:
    """Whether the reader finds the answer in the gold passage."""
    found = reader.read([(item.question, [passage])])[0]
    if found is None or not item.gold.answers:
        return False
    told = normalise(found.quote.text)
    return any(f" {normalise(each)} " in f" {told} " or token_f1(each, told) >= RIGHT for each in item.gold.answers[0])


def is_told_elsewhere(item: Item, subject: str, texts: dict[str, str]) -> bool:
    """Whether a passage that is not withheld holds the subject and the old answer, word for word."""
    named = f" {normalise(subject)} "
    answers = [f" {normalise(each)} " for each in item.record["hidden"]]
    open_ones = (text for key, text in texts.items() if key not in item.withheld)
    return any(named in text and any(answer in text for answer in answers) for text in open_ones)


def subject_of(item: Item) -> str:
    return str(item.record["subject"])


def report(name: str, passages: Sequence[Passage], seed: int, show: int) -> None:
    started = process_time()
    items = make_items(passages, WANTED, seed)
    seconds = process_time() - started
    by_id = {passage.id: passage for passage in passages}
    texts = {key: f" {normalise(f'{p.title} . {p.text}')} " for key, p in by_id.items()}
    kinds = Counter(item.kind for item in items)
    print(f"\n{name}: {len(passages)} passages, {len(items)} of {WANTED} questions in {seconds:.1f} s of one core")
    print("kinds    ", ", ".join(f"{kind} {count}" for kind, count in sorted(kinds.items())))
    rules = Counter(str(item.record["rule"]) for item in items)
    print("rules    ", ", ".join(f"{rule} {count}" for rule, count in rules.most_common()))
    answerable = [item for item in items if item.gold.answerable]
    golds = [(item.gold.passages or ("",))[0] for item in answerable]
    reader, retriever = LexicalReader(), InMemory(list(passages))
    read = sum(is_read(item, by_id[gold], reader) for item, gold in zip(answerable, golds, strict=True))
    hits = retriever.search([item.question for item in answerable], FIRST)
    found = sum(gold in {hit.passage.id for hit in each} for gold, each in zip(golds, hits, strict=True))
    lost = [item for item in items if not item.gold.answerable]
    told = [item for item in lost if is_told_elsewhere(item, subject_of(item), texts)]
    print(f"answer read in the gold passage: {_share(read, len(answerable))}")
    print(f"gold passage in the first {FIRST}:   {_share(found, len(answerable))}")
    print(f"lost answer told elsewhere:      {_share(len(told), len(lost))}")
    for item in told:
        print(f"    {item.kind}: {item.question} {item.record['hidden']}")
    for item in random.Random(seed).sample(items, min(show, len(items))):
        answer = item.gold.answers[0] if item.gold.answers else f"none; was {item.record['hidden']}"
        print(f"  {item.kind:<10} {item.record['rule']:<10} {item.question} -> {answer}")
        print(f"             {' '.join(str(item.record['evidence']).split())}")


def _share(part: int, whole: int) -> str:
    return f"{part} of {whole}, {100 * part / whole:.1f} %" if whole else "-"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--show", type=int, default=0, metavar="N", help="print so many questions to be read")
    parser.add_argument("--whole", action="store_true", help="make them from the whole corpus, not from a sample")
    options = parser.parse_args()
    print(heading("questions.py", f"Questions made with seed {options.seed}."))
    report("pool_corpus", pool(options.seed, None if options.whole else SAMPLE), options.seed, options.show)
    report("demo", demo(), options.seed, options.show)
    print("```")


if __name__ == "__main__":
    main()
