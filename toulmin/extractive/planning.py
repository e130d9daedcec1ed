"""Plans from passages: paragraphs of a text, and questions and queries that find more."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from toulmin.data import Passage
from toulmin.extractive.analysis import Sentence, analyse, content_terms, fold_text
from toulmin.extractive.evidence import Survey
from toulmin.prompts.types import Paragraph, Queries, Questions
from toulmin.text.language import rarity, stem, words
from toulmin.text.names import Fact

_MOST_PARAGRAPHS = 4
_MOST_QUESTIONS = 6
_LONGEST_TITLE = 60  # characters, as `Outline.read` cuts a model's titles
_ELSEWHERE = re.compile(
    r"\b(?:leave|leaving|other (?:paragraph|section|part)s?|do not|don't|avoid|omit)\b", re.IGNORECASE
)


def outline(topic: str, passages: Sequence[Passage]) -> tuple[Paragraph, ...]:
    """At most four paragraphs, one for each subject of the passages."""
    groups = _subjects(topic, passages)
    return tuple(
        Paragraph(title, _description(topic, group, [other for other in groups if other != title]))
        for title, group in groups.items()
    )


def _subjects(topic: str, passages: Sequence[Passage]) -> dict[str, list[Passage]]:
    """By title, or with one title by most frequent name; the last group takes the rest."""
    by_title = {" ".join(p.title.split()) for p in passages}
    named = _title if len(by_title) > 1 else _most_named
    groups: dict[str, list[Passage]] = {}
    for passage in passages:
        name = named(topic, passage)[:_LONGEST_TITLE].strip() or topic
        if name not in groups and len(groups) == _MOST_PARAGRAPHS:
            name = list(groups)[-1]
        groups.setdefault(name, []).append(passage)
    return groups


def _title(topic: str, passage: Passage) -> str:
    return " ".join(passage.title.split()) or topic


def _most_named(topic: str, passage: Passage) -> str:
    names = _salient([passage], topic)
    return names[0] if names else _title(topic, passage)


def _salient(passages: Sequence[Passage], topic: str) -> list[str]:
    topic_terms, count, form = content_terms(topic), Counter[str](), dict[str, str]()
    for sentence in (sentence for passage in passages for sentence in analyse(passage)):
        for fact in sentence.facts:
            if fact.kind == "name" and not content_terms(fact.value) <= topic_terms:
                count[fact.value] += 1
                form.setdefault(fact.value, _surface(sentence, fact))
    return [form[value] for value, _ in count.most_common()]


def _surface(sentence: Sentence, fact: Fact) -> str:
    text = " ".join(sentence.passage.text[fact.start : fact.end].split())
    return text.removesuffix("'s").removesuffix("’s")


def _description(topic: str, passages: Sequence[Passage], others: Sequence[str]) -> str:
    about = _salient(passages, topic)[:4]
    what = f"Write what the sources say about {', '.join(about) or topic}."
    return f"{what} Leave {', '.join(others)} to the other paragraphs." if others else what


def subject(topic: str, paragraph: Paragraph) -> str:
    """What a paragraph is about, without what its description leaves to others."""
    remarks = re.split(r"(?<=[.;!?])\s+", paragraph.description)
    return " ".join([topic, paragraph.title, *(remark for remark in remarks if not _ELSEWHERE.search(remark))])


def questions(prompt: Questions) -> tuple[str, ...]:
    """At most six standalone questions about names and dates in the passages."""
    about = subject(prompt.topic, prompt.paragraph) if prompt.paragraph else prompt.topic
    survey = Survey(about, prompt.passages)
    sentences = [entry.sentence for entry in survey.rank_entries()]
    texts = (text for s in sentences for fact in s.facts for text in _fact_questions(prompt.topic, s, fact))
    return tuple(dict.fromkeys(texts))[:_MOST_QUESTIONS] or (f"What is known about {prompt.topic}?",)


def _fact_questions(topic: str, sentence: Sentence, fact: Fact) -> Iterator[str]:
    surface, is_question = _surface(sentence, fact), topic.rstrip().endswith("?")
    if fact.kind == "name" and not content_terms(fact.value) <= content_terms(topic):
        yield f"What is known about {surface}?" if is_question else f"What has {surface} to do with {topic}?"
    elif fact.kind == "date":
        yield f"What happened in {surface}?" if is_question else f"What happened to {topic} in {surface}?"


def queries(prompt: Queries, sample: int) -> tuple[str, ...]:
    """At most `prompt.n` queries: the question with the claim's new words, its rare words, each new word.

    Later samples start further down the list.
    """
    texts: dict[str, str] = {}
    for query in filter(None, (" ".join(query.split()) for query in _queries(prompt))):
        texts.setdefault(fold_text(query), query)
    distinct = list(texts.values())
    start = sample * prompt.n % len(distinct) if distinct else 0
    return tuple((distinct[start:] + distinct[:start])[: prompt.n])


def _queries(prompt: Queries) -> Iterator[str]:
    question_terms = content_terms(prompt.question)
    new = [word for word in _rare_words(prompt.claim) if stem(word) not in question_terms]
    yield f"{prompt.question} {' '.join(new[:3])}"
    yield " ".join(_rare_words(prompt.claim)[:8])
    yield prompt.question
    for word in new:
        yield f"{word} {' '.join(_rare_words(prompt.question)[:3])}"
    yield prompt.claim


def _rare_words(text: str) -> list[str]:
    spoken = dict.fromkeys(text[span.start : span.end] for span in words(text))
    return sorted((word for word in spoken if content_terms(word)), key=lambda word: -rarity(stem(word)))
