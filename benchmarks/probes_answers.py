"""Probes of short answers and of answers with talk round them, from question sets; `probes_laws.py` runs them.

A short answer is a span of a passage: the right one, or another of the same kind (number, date, name, else a phrase of
like length) from the same passage, half of them from the sentence of the right one. A long answer is one that people
corrected, or a model's with the errors that people marked, with talk put before, after and between. Seeded.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from answer_spans import Candidate, Sentence, sentences_of
from data import rows

from toulmin.data import Passage
from toulmin.steps import Pair
from toulmin.text.language import content_terms, sentences

SEED = 67
SETS = ("qa_nq_gold", "squad1_mrqa", "squad2_devhalf", "qa_quoref")
MOST = 150  # questions of a set

# ---------------------------------------------------------------- short answers


class Asked(NamedTuple):
    """A question, the passage that answers it, where in it the answer is, and all forms of the answer."""

    question: str
    passage: Passage
    span: tuple[int, int]
    answers: tuple[str, ...]


class Short(NamedTuple):
    """A short answer; `place` is "right", "same sentence" or "other sentence" of the right one."""

    pair: Pair
    place: str
    kind: str

    @property
    def supported(self) -> bool:
        return self.place == "right"

    @property
    def page(self) -> str:
        """Answers over one passage stand and fall together."""
        return self.pair.premises[0].text[:80]


def asked(name: str, split: str) -> Iterator[Asked]:
    """The questions of a set whose answer is a span of their passage."""
    for row in rows(name, split):
        text, title, spans = _spans(row)
        if spans:
            start, answer = spans[0]
            answers = tuple(each for _, each in spans)
            yield Asked(row["question"], Passage.of(text, title), (start, start + len(answer)), answers)


def _spans(row: dict[str, Any]) -> tuple[str, str, list[tuple[int, str]]]:
    if "short_answers" in row:
        found = [(row["passage"].find(each), each) for each in row["short_answers"]]
        return row["passage"], row["title"], [span for span in found if span[0] >= 0]
    if "spans" in row:
        first = row["passages"][0]
        return first["text"], first["title"], [(start, text) for at, start, _, text in row["spans"] if at == 0]
    return row["context"], row.get("title", ""), [(each["answer_start"], each["text"]) for each in row["answers"]]


def short_answers(split: str, names: Sequence[str] = SETS, most: int = MOST) -> list[Short]:
    """The right answer and a wrong one of each question that has a rival span, in that order."""
    probes: list[Short] = []
    for name in names:
        chance = random.Random(f"{SEED} {name}")
        listed = list(asked(name, split))
        made = (_contrast(each, chance) for each in chance.sample(listed, len(listed)))
        pairs = [pair for pair in made if pair is not None][:most]
        probes += [probe for pair in pairs for probe in pair]
    return probes


def _contrast(asked: Asked, chance: random.Random) -> tuple[Short, Short] | None:
    start, end = asked.span
    home = next((one for one in sentences_of(asked.passage) if one.start <= start and end <= one.end), None)
    kind = None if home is None else _kind(home, start, end)
    if home is None or kind is None:
        return None
    near = list(_rivals(asked, home, kind))
    far = [one for other in sentences_of(asked.passage) if other is not home for one in _rivals(asked, other, kind)]
    pools = [(pool, place) for pool, place in ((near, "same sentence"), (far, "other sentence")) if pool]
    if not pools:
        return None
    pool, place = chance.choice(pools)
    text = asked.passage.text
    right = Pair((asked.passage,), text[start:end], asked.question)
    wrong = Pair((asked.passage,), chance.choice(pool), asked.question)
    return Short(right, "right", kind), Short(wrong, place, kind)


def _kind(sentence: Sentence, start: int, end: int) -> str | None:
    """The kind of the fact that the span is or, with words about it, holds; None for half a sentence."""
    inside = [word for word in sentence.words if start <= word.start and word.end <= end]
    kinds = {word.fact.kind for word in inside if word.fact is not None}
    if not inside or len(inside) > 6:
        return None
    return next((kind for kind in ("date", "number", "name") if kind in kinds), "plain")


def _rivals(asked: Asked, sentence: Sentence, kind: str) -> Iterator[str]:
    """Spans of the kind that share no telling word with the answer or the question."""
    length = len(asked.answers[0].split())
    taken = content_terms(" ".join((asked.question, *asked.answers)))
    for one in sentence.candidates:
        text = asked.passage.text[one.start : one.end]
        telling = content_terms(text)
        if one.kind == kind and telling and not telling & taken and _is_whole(sentence, one, length):
            yield text


def _is_whole(sentence: Sentence, one: Candidate, length: int) -> bool:
    """A whole fact, or a phrase of like length between function words or marks."""
    if one.cuts or one.is_joined:
        return False
    if one.kind != "plain":
        fact = sentence.words[one.first].fact
        return fact is not None and (fact.start, fact.end) == (one.start, one.end)
    before, after = sentence.words[one.first - 1 : one.first], sentence.words[one.last : one.last + 1]
    opens = one.first == 0 or before[0].is_function or bool(sentence.gaps[one.first].strip())
    closes = not after or after[0].is_function or bool(sentence.gaps[one.last].strip())
    return opens and closes and abs(one.last - one.first - length) <= 1


# ---------------------------------------------------------------- answers with talk


class Wordings(NamedTuple):
    openings: tuple[str, ...]
    leads: tuple[str, ...]
    naming: tuple[str, ...]
    closings: tuple[str, ...]


# What reads replies was mended by the first two; "held out" is looked at for figures only.
WORDINGS = {
    "usual": Wordings(
        (
            "Sure! Here is what I found:",
            "Based on the given passages, here is the answer.",
            "I looked through the documents you gave me.",
            "Here is a summary of what the sources say.",
            "Great question!",
        ),
        (
            "Based on the given passages, ",
            "According to the provided text, ",
            "The passages say that ",
            "As the sources state, ",
        ),
        (
            "The {nth} passage says that ",
            "As passage {n} says, ",
            "According to document {n}, ",
        ),
        (
            "I hope this helps.",
            "Let me know if you have any other questions.",
            "(Passage {n})",
            "The passages do not give further details.",
        ),
    ),
    "more": Wordings(
        (
            "I'd be happy to help with that!",
            "Let me walk you through what the documents say.",
            "To answer this, I reviewed all of the passages.",
            "Here's a breakdown:",
            "There are a few points worth noting here.",
            "In response to your query:",
            "I found relevant information in several of the documents.",
            "To summarize the sources:",
            "The following is drawn from the retrieved passages.",
        ),
        (
            "From the passages, it appears that ",
            "As far as the documents go, ",
            "Drawing on the sources, ",
            "The text notes that ",
            "In short, ",
            "From what I can see in the sources, ",
            "To answer your question, ",
        ),
        (
            "In passage {n}, we read that ",
            "The author of the {nth} passage notes that ",
            "Per source {n}, ",
        ),
        (
            "Feel free to reach out if anything is unclear.",
            "This is all the passages say on the matter.",
            "No other passage mentions this.",
            "(Source: document {n})",
            "In summary, the documents answer your question.",
            "The other passages are not relevant to this question.",
            "The above is taken from passage {n}.",
        ),
    ),
    "held out": Wordings(
        (
            "Looking at the sources you provided, a clear picture emerges.",
            "Good question, let me check the texts.",
            "Below, I summarise the relevant passages.",
            "Let's break this down.",
            "Several passages address this.",
            "Thanks for asking!",
            "Happy to explain.",
            "This is what the documents tell us:",
        ),
        (
            "It is mentioned in the text that ",
            "In the given context, ",
            "The documents indicate that ",
            "Per the passages, ",
            "As described in the passages, ",
            "The retrieved documents confirm that ",
            "The context suggests that ",
        ),
        (
            "Passage {n} mentions that ",
            "Document {n} states: ",
            "We learn from passage {n} that ",
        ),
        (
            "Is there anything else you would like to know?",
            "For more details, please consult the original documents.",
            "See passage {n} for details.",
            "That covers what the sources contain.",
            "Please note that this is based solely on the provided passages.",
            "Hopefully that answers your question!",
            "This information comes from document {n}.",
        ),
    ),
}
NTH = ("first", "second", "third", "fourth", "fifth")


class Said(NamedTuple):
    """A sentence of an answer; talk says nothing of the subject, an untrue one has an error that people marked."""

    text: str
    is_talk: bool
    is_untrue: bool


class LongAnswer(NamedTuple):
    """Its sentences; `is_clean` if people wrote or corrected it, else it has errors that they marked."""

    id: str
    passages: tuple[Passage, ...]
    sentences: tuple[Said, ...]
    is_clean: bool


def long_answers(split: str, wordings: str = "usual") -> list[LongAnswer]:
    """Of `qa_feedback`: each corrected answer, and each model's answer that says what its passages do not."""
    chance = random.Random(f"{SEED} {split}")
    found: list[LongAnswer] = []
    for row in rows("qa_feedback", split):
        passages = tuple(Passage.of(" ".join(each["sentences"]), each["title"]) for each in row["passages"])
        for is_clean, said in ((True, _clean(row)), (False, _marked(row))):
            if said and (is_clean or any(one.is_untrue for one in said)):
                found.append(
                    LongAnswer(
                        row["id"], passages, tuple(_talked(said, passages, WORDINGS[wordings], chance)), is_clean
                    )
                )
    return found


def _clean(row: dict[str, Any]) -> list[Said]:
    text = row["corrected_prediction_1"] or ""
    return [Said(text[a:b], False, False) for a, b in sentences(text)]


def _marked(row: dict[str, Any]) -> list[Said]:
    """The sentences of the model's answer; untrue where people marked what no passage says, or another thing."""
    text = row["predictions"][0]
    errors = [e for e in row["errors_in_prediction_1"] if e["error type"] in ("Unverifiable", "Wrong-Grounding")]
    spans = [(error["start"], error["end"]) for error in errors]
    return [Said(text[a:b], False, any(a < end and start < b for start, end in spans)) for a, b in sentences(text)]


def _talked(said: Sequence[Said], passages: Sequence[Passage], talk: Wordings, chance: random.Random) -> Iterator[Said]:
    """The answer with an opening or a lead-in to its first sentence, and a closing."""
    first = said[0]
    if chance.random() < 0.5:
        yield Said(chance.choice(talk.openings), True, False)
    else:
        lead = (
            chance.choice((*talk.leads, *talk.naming))
            if holder(first.text, passages) is not None
            else chance.choice(talk.leads)
        )
        n = holder(first.text, passages) or 0
        first = first._replace(text=lead.format(n=n + 1, nth=NTH[min(n, len(NTH) - 1)]) + first.text)
    yield first
    yield from said[1:]
    last = holder(said[-1].text, passages)
    closing = chance.choice(
        talk.closings if last is not None else [each for each in talk.closings if "{n}" not in each]
    )
    yield Said(closing.format(n=(last or 0) + 1), True, False)


def holder(sentence: str, passages: Sequence[Passage]) -> int | None:
    """The passage that has most of the sentence's telling words, so that talk names no wrong one; None under half."""
    wanted = content_terms(sentence)
    shares = [len(wanted & content_terms(f"{p.title} {p.text}")) / max(1, len(wanted)) for p in passages[: len(NTH)]]
    best = max(shares, default=0.0)
    return shares.index(best) if best >= 0.5 else None
