"""Writes drafts from drafts, feedback and plans: checks, keeps and adds claims."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from toulmin.data import Citation, Claim, Passage, render
from toulmin.extractive.analysis import Sentence, analyse, fold_text, title_terms, weight
from toulmin.extractive.answering import Handler, Manner, answer, claims_of, draw, prose
from toulmin.extractive.evidence import Survey
from toulmin.parsing.citing import Draft, Labels
from toulmin.prompts import types as ask
from toulmin.prompts.reflection import NextSegment, ReflectedText
from toulmin.prompts.types import AnswerPrompt, Correct, Feedback, Finding, Paragraph, Queries, Questions, Refine, Write
from toulmin.text.language import content_terms, first_of_each, rarity, stem, words
from toulmin.text.names import is_common
from toulmin.text.overlap import bag_f1

# ---------------------------------------------------------------- claims compared with passages, word by word


_MOST_CITED = 3
_WORTH_CITING = 0.15  # another passage is cited if it covers at least this much more of the claim


def source_sentence(claim: Claim, passages: Sequence[Passage]) -> Sentence | None:
    """The sentence that equals the claim; cited passages first."""
    text = " ".join(claim.text.split())
    return next((s for s in _cited_first(claim, passages) if text == s.text), None)


def source_sentences(claims: Sequence[Claim], passages: Sequence[Passage]) -> list[Sentence]:
    return [sentence for claim in claims if (sentence := source_sentence(claim, passages))]


def _entity_citation(claim: Claim, passages: Sequence[Passage]) -> Citation | None:
    entity = re.compile(rf"(?<!\w){re.escape(fold_text(claim.text))}(?!\w)")
    return next((s.citation() for s in _cited_first(claim, passages) if entity.search(fold_text(s.text))), None)


def _cited_first(claim: Claim, passages: Sequence[Passage]) -> Iterator[Sentence]:
    for passage in sorted(passages, key=lambda passage: passage.id not in claim.cited):
        yield from analyse(passage)


def citation_ids(claim: str, passages: Sequence[Passage]) -> tuple[str, ...]:
    """Of at most three passages that together cover the claim best; empty if they share no word."""
    word_for_word = source_sentence(Claim(claim), passages)
    if word_for_word is not None:
        return (word_for_word.passage.id,)
    wanted = content_terms(claim)
    whole = weight(wanted) or 1.0
    cited: dict[str, None] = {}
    while passages and len(cited) < _MOST_CITED:
        best = max(passages, key=lambda passage: weight(wanted & _best_terms(passage, wanted)))
        gained = wanted & _best_terms(best, wanted)
        if not gained or (cited and weight(gained) < _WORTH_CITING * whole):
            break
        cited[best.id] = None
        wanted -= gained
    return tuple(cited)


def _best_terms(passage: Passage, wanted: frozenset[str]) -> frozenset[str]:
    title = title_terms(passage.title)
    candidates = (sentence.terms | title for sentence in analyse(passage))
    return max(candidates, key=lambda terms: weight(wanted & terms), default=title)


# ---------------------------------------------------------------- faults of an answer, and the choice among several


_NUMBERED = re.compile(r"\b(?:sentence|claim|statement|entity)s?\s+((?:\d+(?:\s*,\s*|\s+and\s+)?)+)", re.IGNORECASE)
_FAULT = re.compile(
    r"\bnot\s+(?:\w+\s+)?support|\bunsupported|\bcontradict|\bremove\b|\bdrop\b|\bdelete\b|\bwrong\b|\birrelevant\b",
    re.IGNORECASE,
)


def faulty_positions(claims: Sequence[Claim], feedback: Mapping[str, str]) -> set[int]:
    """Of claims that their verdict or the feedback ("sentence 2 ... not supported") rejects."""
    judged = {n for n, c in enumerate(claims) if c.support and c.support.label in ("unsupported", "contradicted")}
    blamed = {
        int(number) - 1
        for words in feedback.values()
        for remark in re.split(r"(?<=[.;!?])\s+|\n", words)
        if _FAULT.search(remark)
        for listed in _NUMBERED.findall(remark)
        for number in re.findall(r"\d+", listed)
    }
    return (judged | blamed) & set(range(len(claims)))


def medoid(candidates: Sequence[Sequence[Claim]]) -> int:
    """The position of the candidate with the highest total token F1; the first of equals."""
    bags = [Counter(fold_text(" ".join(claim.text for claim in claims)).split()) for claims in candidates]
    agreement = [sum(bag_f1(bag, other) for other in bags) for bag in bags]
    return agreement.index(max(agreement)) if agreement else 0


# ---------------------------------------------------------------- redrafting


_LEAST_ROOM = 8  # words: with less room no sentence is added


def correct(prompt: Correct, manner: Manner, sample: int) -> Draft:
    """Keeps the claims that the passages contain, and adds the best others."""
    sentences = source_sentences(prompt.draft, prompt.passages)
    good = prompt.draft if prompt.style in ("list", "short") else [sentence.claim() for sentence in sentences]
    return _redraft(prompt, good, sentences, manner, sample)


def refine(prompt: Refine, manner: Manner, sample: int) -> Draft:
    """Keeps the claims without `faulty_positions`, and adds the best unused sentences."""
    bad = faulty_positions(prompt.claims, prompt.feedback)
    good = [replace(claim, support=None) for n, claim in enumerate(prompt.claims) if n not in bad]
    return _redraft(prompt, good, source_sentences(prompt.claims, prompt.passages), manner, sample)


def _redraft(
    prompt: Correct | Refine, kept: Sequence[Claim], used_sentences: Sequence[Sentence], manner: Manner, sample: int
) -> Draft:
    survey = manner.survey(prompt.question, prompt.passages)
    if prompt.style in ("list", "short"):
        return Draft(_spans(kept, survey, prompt, manner, sample))
    room = manner.words - sum(len(claim.text.split()) for claim in kept)
    if kept and room < _LEAST_ROOM:
        return Draft(tuple(kept))
    if not kept and manner.must_abstain(survey, len(prompt.passages)):
        return Draft()
    new = draw(survey, max(room, _LEAST_ROOM), sample, used_sentences)
    return Draft((*kept, *prose([entry for entry in new if not kept or entry.sentence.length <= room])))


def _spans(
    kept: Sequence[Claim], survey: Survey, prompt: Correct | Refine, manner: Manner, sample: int
) -> tuple[Claim, ...]:
    cited = [(claim, _entity_citation(claim, prompt.passages)) for claim in kept]
    cited_claims = [replace(claim, citations=(citation,), support=None) for claim, citation in cited if citation]
    known = {claim.text.casefold() for claim in cited_claims}
    silent = manner.must_abstain(survey, len(prompt.passages))
    new = () if silent else claims_of(survey, prompt.style, manner.words, sample)
    claims = (*cited_claims, *(claim for claim in new if claim.text.casefold() not in known))
    return claims[:1] if prompt.style == "short" else claims


def write(prompt: Write, manner: Manner, sample: int) -> Draft:
    """Sentences with the answers of the findings, or the best sentences; a section for each paragraph."""
    used_sentences: list[Sentence] = []
    if not prompt.paragraphs:
        new_claims = _from_findings(prompt.findings, prompt.passages, manner, used_sentences)
        return Draft(new_claims or prose(draw(manner.survey(prompt.topic, prompt.passages), manner.words, sample)))
    surveys = [_survey_for(paragraph, prompt, manner) for paragraph in prompt.paragraphs]
    claims: list[Claim] = []
    for paragraph, survey in zip(prompt.paragraphs, surveys, strict=True):
        findings = [finding for finding in prompt.findings if _home(finding, prompt) is paragraph]
        new_claims = _from_findings(findings, prompt.passages, manner, used_sentences)
        if not new_claims and not (survey.windows and manner.must_abstain(survey, len(survey.passages))):
            barred = used_sentences if survey.windows else [*used_sentences, *_better_elsewhere(survey, surveys)]
            chosen = draw(survey, manner.words * 2 // 3 if survey.windows else manner.words, sample, barred)
            used_sentences += [entry.sentence for entry in chosen]
            new_claims = prose(chosen)
        section = paragraph.title if prompt.style == "report" else None
        claims += [replace(claim, section=section) for claim in new_claims]
    return Draft(tuple(claims))


def _survey_for(paragraph: Paragraph, prompt: Write, manner: Manner) -> Survey:
    """A paragraph with a document's title answers the question from that document."""
    of_document = [passage for passage in prompt.passages if title_of(prompt.topic, passage) == paragraph.title]
    if of_document and is_asked(prompt.topic):
        return manner.survey(prompt.topic, of_document)
    return manner.survey(subject(prompt.topic, paragraph), prompt.passages)


def _better_elsewhere(survey: Survey, surveys: Sequence[Survey]) -> list[Sentence]:
    ranks = [_ranks(each) for each in surveys]
    return [s for s, rank in _ranks(survey).items() if any(other.get(s, 0.0) > rank for other in ranks)]


def _ranks(survey: Survey) -> dict[Sentence, float]:
    best = max((entry.evidence for entry in survey.entries), default=1.0)
    return {entry.sentence: entry.evidence / best for entry in survey.entries}


def _home(finding: Finding, prompt: Write) -> Paragraph:
    new = content_terms(finding.question) - content_terms(prompt.topic)
    return max(prompt.paragraphs, key=lambda p: weight(new & content_terms(subject("", p))))


def _from_findings(
    findings: Sequence[Finding], passages: Sequence[Passage], manner: Manner, used_sentences: list[Sentence]
) -> tuple[Claim, ...]:
    """Adds the sentences to `used_sentences`."""
    claims = []
    for finding in findings:
        survey = manner.survey(finding.question, finding.passages or passages)
        answers = [fold_text(answer) for answer in finding.answers]
        for sentence in (entry.sentence for entry in survey.rank_entries(barred=used_sentences)):
            if any(answer in fold_text(sentence.text) for answer in answers):
                used_sentences.append(sentence)
                claims.append(sentence.claim())
                break
    return tuple(claims)


# ---------------------------------------------------------------- the handlers of the other prompts


def _next_segment(prompt: NextSegment, manner: Manner, sample: int) -> ReflectedText:
    if prompt.passage is None:
        return ReflectedText("")
    draft = answer(AnswerPrompt(prompt.question, (prompt.passage,), prompt.style, inline=False), manner, sample)
    return ReflectedText(render(draft.claims, prompt.style).text)


HANDLERS: Mapping[type[Any], Handler] = {
    ask.Cite: lambda prompt, _manner, _sample: Labels(citation_ids(prompt.claim, prompt.passages)),
    ask.Queries: lambda prompt, _manner, sample: queries(prompt, sample),
    Correct: correct,
    ask.Outline: lambda prompt, _manner, _sample: outline(prompt.topic, prompt.passages),
    ask.Questions: lambda prompt, _manner, _sample: questions(prompt),
    Write: write,
    Feedback: lambda _prompt, _manner, _sample: {},  # the composed advice says it already
    Refine: refine,
    ask.MostConsistent: lambda prompt, _manner, _sample: medoid(prompt.candidates),
    NextSegment: _next_segment,
}


# ---------------------------------------------------------------- plans


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
    named = title_of if len({" ".join(p.title.split()) for p in passages}) > 1 else _most_named
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
    what = f"Write what the sources say about {', '.join(_salient(passages, topic)[:4]) or topic}."
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
    texts = filter(None, (" ".join(query.split()) for query in _queries(prompt)))
    distinct = first_of_each(texts, fold_text)
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
