"""Plans from passages: the paragraphs of a text, and further questions and queries."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from toulmin.data import Passage
from toulmin.extractive.analysis import Sentence, analyse, fold_text
from toulmin.extractive.evidence import Survey
from toulmin.prompts.types import Paragraph, Queries, Questions
from toulmin.text.language import content_terms, rarity, stem, words
from toulmin.text.names import is_common

_MOST_PARAGRAPHS = 4
_MOST_NAMED = 3
_LONGEST_TITLE = 60  # characters, as `Outline.read` cuts a model's titles
_ELSEWHERE = re.compile(
    r"\b(?:leave|leaving|other (?:paragraph|section|part)s?|do not|don't|avoid|omit)\b", re.IGNORECASE
)


def outline(topic: str, passages: Sequence[Passage]) -> tuple[Paragraph, ...]:
    groups = _subjects(topic, passages)
    return tuple(
        Paragraph(title, _description(topic, group, [other for other in groups if other != title]))
        for title, group in groups.items()
    )


def _subjects(topic: str, passages: Sequence[Passage]) -> dict[str, list[Passage]]:
    """By title, or for one title by most frequent name; the last of four groups takes the rest."""
    by_title = {" ".join(p.title.split()) for p in passages}
    named = title_of if len(by_title) > 1 else _most_named
    groups: dict[str, list[Passage]] = {}
    for passage in passages:
        name = named(topic, passage)
        if name not in groups and len(groups) == _MOST_PARAGRAPHS:
            name = list(groups)[-1]
        groups.setdefault(name, []).append(passage)
    return groups


def title_of(topic: str, passage: Passage) -> str:
    return " ".join(passage.title.split())[:_LONGEST_TITLE].strip() or topic


def _most_named(topic: str, passage: Passage) -> str:
    names = _salient([passage], topic)
    return names[0][:_LONGEST_TITLE].strip() if names else title_of(topic, passage)


def _salient(passages: Sequence[Passage], topic: str) -> list[str]:
    topic_terms, count, form = content_terms(topic), Counter[str](), dict[str, str]()
    for sentence in (sentence for passage in passages for sentence in analyse(passage)):
        for fact in sentence.facts:
            if fact.kind == "name" and not content_terms(fact.value) <= topic_terms:
                count[fact.value] += 1
                form.setdefault(fact.value, sentence.words_of(fact))
    return [form[value] for value, _ in count.most_common()]


def _description(topic: str, passages: Sequence[Passage], others: Sequence[str]) -> str:
    about = _salient(passages, topic)[:4]
    what = f"Write what the sources say about {', '.join(about) or topic}."
    return f"{what} Leave {', '.join(others)} to the other paragraphs." if others else what


def subject(topic: str, paragraph: Paragraph) -> str:
    """Without the subjects that a paragraph's description leaves to others."""
    remarks = re.split(r"(?<=[.;!?])\s+", paragraph.description)
    return " ".join([topic, paragraph.title, *(remark for remark in remarks if not _ELSEWHERE.search(remark))])


def questions(prompt: Questions) -> tuple[str, ...]:
    """The topic, for the paragraph's document, and at most three questions about names in the passages."""
    topic, title = prompt.topic, prompt.paragraph.title if prompt.paragraph else prompt.topic
    survey = Survey(subject(topic, prompt.paragraph) if prompt.paragraph else topic, prompt.passages)
    names = (name for entry in survey.rank_entries() for name in _new_names(topic, entry.sentence))
    lead = f"{title}: {topic}" if is_asked(topic) and title != topic else _about(title, topic)
    return tuple(dict.fromkeys([lead, *(_about(name, topic) for name in names)]))[: 1 + _MOST_NAMED]


def _about(name: str, topic: str) -> str:
    if name == topic:
        return topic if is_asked(topic) else f"What is known about {topic}?"
    return f"What is known about {name}?" if is_asked(topic) else f"What has {name} to do with {topic}?"


def is_asked(topic: str) -> bool:
    return topic.rstrip().endswith("?")


def _new_names(topic: str, sentence: Sentence) -> Iterator[str]:
    """Names that the topic lacks, without numbers, versions and common words."""
    for fact in sentence.facts:
        if fact.kind == "name" and not content_terms(fact.value) <= content_terms(topic):
            surface = sentence.words_of(fact)
            if not any(sign.isdigit() for sign in surface) and not is_common(surface) and len(surface) > 1:
                yield surface


def queries(prompt: Queries, sample: int) -> tuple[str, ...]:
    """At most `prompt.n`; later samples start further down the list."""
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
