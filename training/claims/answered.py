"""Claims of question sets: the answer told as a statement, and a wrong answer of the same kind told the same way."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from claims.pair import Label, Pair, Text, page_key
from claims.removed import removed
from claims.sources import Terms, rows
from claims.stated import stated
from claims.stock import Stock, kind_of
from toulmin.text.language import fold
from toulmin.text.names import Fact, facts

SETS = ("squad1_mrqa", "squad2_devhalf", "qa_nq_gold", "qa_qed", "qa_nq_swap", "qa_clapnq")


@dataclass(frozen=True, slots=True)
class Asked:
    """A question over one passage, with the answers that are right by it, and with a wrong one where one is given."""

    id: str
    question: str
    answers: tuple[str, ...]
    wrong: str | None
    passage: Text
    page: str
    split: str
    evidence: str | None = None


def even(text: str) -> str:
    """The text as it is printed: no spaces before marks, as tokenised sets have them."""
    text = re.sub(r"\s+([,.;:)%’])", r"\1", " ".join(text.split()))
    text = re.sub(r"([($])\s+", r"\1", text)
    return re.sub(r"(?<=\w) ('s|'|n't)\b", r"\1", text).replace(" - ", "-").replace("`` ", '"').replace(" ''", '"')


def _squad(row: dict[str, Any], titled: bool) -> Asked:
    right = tuple(dict.fromkeys(answer["text"] for answer in row["answers"]))
    plausible = row.get("plausible_answers") or []
    wrong = plausible[0]["text"] if plausible and row.get("is_impossible") else None
    title = row["title"] if titled else None
    page = page_key(title.replace("_", " ") if title else row["context"][:100])
    return Asked(row["id"], row["question"], right, wrong, Text(title, row["context"]), page, row["split"])


def _asked(name: str, row: dict[str, Any], known: dict[str, tuple[str, ...]]) -> Asked | None:
    if name.startswith("squad"):
        return _squad(row, titled=name == "squad2_devhalf")
    if name == "qa_nq_swap":
        true = known.get(row["question"], (None,))[0]
        text = even(row["context"])
        wrong = true if true and fold(true) not in fold(text) else None
        return Asked(
            row["id"],
            row["question"],
            (row["answer"],),
            wrong,
            Text(None, text),
            page_key(row["question"]),
            row["split"],
        )
    if name == "qa_clapnq":
        return None
    title = row["title"]
    answers = tuple(even(answer) for answer in row["answers"])
    evidence = even(row["evidence_sentence"]) if row.get("evidence_sentence") else None
    text = even(row["passage"])
    return Asked(row["id"], row["question"], answers, None, Text(title, text), page_key(title), row["split"], evidence)


def distractor(asked: Asked, stock: Stock, chance: random.Random) -> str | None:
    """A wrong answer of the same kind: one of the passage where it holds another, else one of other pages."""
    answer = asked.answers[0]
    kind, found = _kind(answer), []
    if kind is None:
        return None
    taken = fold(" ".join((asked.question, *asked.answers)))
    for fact in facts(asked.passage.text):
        words = asked.passage.text[fact.start : fact.end]
        if _kind_of_fact(fact, asked.passage.text) == kind and fold(words) not in taken:
            found.append(words)
    if found and chance.random() < 0.7:
        return chance.choice(found)
    other = stock.name(kind, chance)
    return other if other and fold(other) not in fold(asked.passage.text) + taken else None


def _kind_of_fact(fact: Fact, text: str) -> str | None:
    if fact.kind == "name":
        return kind_of(fact, text)
    words = text[fact.start : fact.end]
    return f"{fact.kind} {re.sub(r'[A-Za-z]+', 'a', re.sub(r'[0-9]+', '0', words))}"


def _kind(answer: str) -> str | None:
    found = facts(answer)
    whole = len(found) == 1 and found[0].start == 0 and found[0].end == len(answer)
    return _kind_of_fact(found[0], answer) if whole else None


def _pair(asked: Asked, claim: str, label: Label, edit: str | None, name: str, terms: Terms) -> Pair:
    return Pair(
        id=f"{asked.id}-{edit or 'right'}",
        source=name,
        family="qa",
        edit=edit,
        premise=(asked.passage,),
        claim=claim,
        question=asked.question,
        label=label,
        page=asked.page,
        split=asked.split,
        licence=terms.licence,
        wrong=() if label == "supported" else None,
    )


def answered(folder: Path, name: str, terms: Terms, stock: Stock, seed: int) -> Iterator[Pair]:
    """The pairs of one question set. A claim that no form fits is the bare answer, and is judged with its question."""
    known = (
        {row["question"]: tuple(row["answers"]) for row in rows(folder, "qa_nq_gold")} if name == "qa_nq_swap" else {}
    )
    for row in rows(folder, name):
        if name == "qa_clapnq":
            yield from _cohesive(row, terms)
        else:
            asked = _asked(name, row, known)
            if asked is not None and "<T" not in asked.passage.text:
                yield from _told(asked, name, terms, stock, random.Random(f"{seed}:{asked.id}"))


def dev_pages(folder: Path, name: str) -> set[str]:
    """The keys of the pages of a set's dev questions."""
    dev = (row for row in rows(folder, name) if row["split"] == "dev")
    if name == "qa_clapnq":
        return {page_key(passage["title"]) for row in dev for passage in row["passages"]}
    return {asked.page for row in dev if (asked := _asked(name, row, {}))}


def _told(asked: Asked, name: str, terms: Terms, stock: Stock, chance: random.Random) -> Iterator[Pair]:
    right = asked.answers[0] if asked.answers else None
    wrong = asked.wrong or (distractor(asked, stock, chance) if right else None)
    swapped = name == "qa_nq_swap"
    if right:
        claim = stated(asked.question, right)
        yield _pair(asked, claim or right, "supported", None, name, terms)
        left = removed(claim, "", [asked.passage], [asked.evidence]) if claim and asked.evidence else None
        if claim and left:
            cut = _pair(asked, claim, "unsupported", "evidence", name, terms)
            yield replace(cut, family="removed", premise=left)
    if wrong and wrong not in asked.answers:
        claim = stated(asked.question, wrong)
        is_value = bool(facts(wrong)) and facts(wrong)[0].kind != "name"
        label: Label = "contradicted" if right and (is_value or swapped) else "unsupported"
        if claim or right:
            told = _pair(asked, claim or wrong, label, "swapped" if swapped else "distractor", name, terms)
            at = told.claim.find(wrong)
            yield replace(told, wrong=((at, at + len(wrong)),) if at >= 0 else None)


def _cohesive(row: dict[str, Any], terms: Terms) -> Iterator[Pair]:
    """A long answer is supported by its passage, and no more once the sentences it was written from are gone."""
    for passage in row["passages"][:1] if row["answerable"] else ():
        text, answer = even(passage["text"]), row["answers"][0]
        asked = Asked(
            row["id"], row["question"], (), None, Text(passage["title"], text), page_key(passage["title"]), row["split"]
        )
        yield _pair(asked, answer["answer"], "supported", None, "qa_clapnq", terms)
        chosen: Sequence[str] = [even(sentence) for sentence in answer["selected_sentences"]]
        left = removed(answer["answer"], passage["title"], [asked.passage], chosen)
        if left:
            yield replace(
                _pair(asked, answer["answer"], "unsupported", "evidence", "qa_clapnq", terms),
                family="removed",
                premise=left,
            )
