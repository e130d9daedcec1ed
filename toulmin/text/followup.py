"""Completes follow-up questions by the turns before, with rules for English.

* A complete question, or one that no earlier turn completes, stays as it is.
* Earlier turns supply their most frequent name and their focus: the meaning of the last pronoun, until the topic
  changes.
* A question of common words alone ("How many redeals do I get?") is meant of the document that the last answer cites,
  and so is one with a pronoun; the document's title is added in brackets.
* The rules were chosen on train splits; `benchmarks/followups.py` compares them with people's rewrites.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from toulmin.text.language import STOPWORDS, sentences, terms, words
from toulmin.text.names import facts, is_common
from toulmin.text.overlap import has_most_of


class Turn(NamedTuple):
    question: str
    answer: str = ""
    title: str = ""  # of the document that the answer cites first


class _Talk(NamedTuple):
    """The last complete question, the names in questions and in answers so far, and the focus."""

    question: str = ""
    asked: tuple[str, ...] = ()
    answered: tuple[str, ...] = ()
    focus: str = ""

    @property
    def main(self) -> str:
        """The most frequent name in questions, else in answers; the first of several."""
        named = self.asked or self.answered
        return max(named, key=named.count, default="")


class _Resolution(NamedTuple):
    question: str
    meant: str = ""  # by its pronoun


class Reading(NamedTuple):
    """A complete question, and the text of earlier turns that a search also needs (mostly empty)."""

    question: str
    context: str = ""


def read(question: str, turns: Sequence[Turn]) -> Reading:
    talk = _Talk()
    for turn in turns:
        talk = _go_on(talk, turn)
    recent = " ".join(f"{turn.question} {turn.answer}" for turn in turns[-_RECENT:])
    whole = _with_title(question, _resolve(question, talk).question, turns[-1].title if turns else "")
    return Reading(whole, recent if _goes_on(question, recent) else "")


def _with_title(question: str, whole: str, title: str) -> str:
    """The question with the title of the document that it goes on about, unless it names something of its own."""
    leans = _REFERS.search(question) is not None or all(is_common(question[a:b]) for a, b in words(question))
    if not leans or set(terms(title)) <= set(terms(whole)) or _names(question):
        return whole
    return f"{whole.rstrip(' ?')} ({title})" + "?" * whole.rstrip().endswith("?")


def _go_on(talk: _Talk, turn: Turn) -> _Talk:
    question, meant = _resolve(turn.question, talk)
    focus = meant or _focus(question, talk.focus) or next(reversed(_phrases(question)), "")
    asked = _names(question) if _WHO_IS.match(question) else [*talk.asked, *_names(question)]
    return _Talk(question, tuple(asked), (*talk.answered, *_names(turn.answer)), focus)


def _resolve(question: str, talk: _Talk) -> _Resolution:
    if not talk.question or _STATES.match(question):
        return _Resolution(question)
    if whole := _fill(question, talk.question):
        return _Resolution(whole)
    begin = max((span.start for span in sentences(question)), default=0)  # what is said before it is no question
    if person := _PERSON.search(question, begin):
        return _replace(question, person, talk.main)
    if (thing := _THING.search(question, begin)) and not _EMPTY_IT.search(question):
        is_many = thing[0].lower().startswith("the")
        return _replace(question, thing, talk.main if is_many and not _PLURAL.search(talk.focus) else talk.focus)
    return _Resolution(question)


# ---------------------------------------------------------------- a question that goes on with the same matter

_RECENT = 3  # turns whose words are searched too
_REFERS = re.compile(r"^\W*(and|so|but)\b|\b(its?|the(y|m|ir)|s?he|his|her|him|th(at|is|[eo]se|ere)|ones?)\b", re.I)
_REPLIES = re.compile(
    r"\W*(?:ok|okay|alright|all\s+right|right|yes|yeah|no|thanks|thank\s+you|great|good|nice|sure|sorry|done|and|but|so"
    r"|also|then|oh|ah)\b|.*\brepeat\b",
    re.IGNORECASE,
)
_FRAGMENT = re.compile(
    r"\W*(?:how\s+(?:much|many|long|big|large)|which|what\s+(?:kind|type|sort|size)(?:\s+of)?)(?:\s+[\w-]+){0,2}\W*",
    re.IGNORECASE,
)
_BARE = frozenset(  # words that say nothing of what is spoken about
    "step part thing one second third last else other others more anything something everything again repeat start"
    " ready continue proceed done begin".split()
)


def _goes_on(question: str, recent: str) -> bool:
    """Whether a question continues the same topic: "Done. What's next?", "How many?"."""
    begins = [span.start for span in sentences(question)] or [0]
    asked = question[begins[-1] :]
    if _names(asked):
        return False
    if len(begins) > 1 or _REPLIES.match(question) or _FRAGMENT.fullmatch(asked):
        return True
    matter = " ".join(_phrases(asked)).lower()
    return set(matter.split()) <= _BARE or has_most_of(recent, set(terms(matter)), 0.5)


# ---------------------------------------------------------------- a question that lacks its main part

_AUXILIARY = r"(?:is|are|was|were|do|does|did|can|could|will|would|has|have|had|should)\b"
_OPENER = r"\W*(?:(?:and|but|or)\s+)?"
_ASKED_BY = r"(?:who|what|when|where|which|why(?:\s+not)?|how(?:\s+(?:much|many|long|often|old|far))?)"
_ONLY_ASKED_BY = re.compile(rf"{_OPENER}(?P<word>{_ASKED_BY})\W*", re.IGNORECASE)
_OPENS_WITH_IT = re.compile(rf"\W*(?:{_ASKED_BY}\s+)?(?={_AUXILIARY})", re.IGNORECASE)
_OTHER_PLACE = re.compile(
    rf"{_OPENER}(?:(?:what|how)\s+about\s+)?(?P<by>in|on|at|for|with|from|under|during|to)\b(?:\s+[^\s?.!,]+){{1,4}}?\W*",
    re.IGNORECASE,
)
_OTHER_KIND = re.compile(
    rf"{_OPENER}(?:what|how)\s+about\s+(?P<what>[^\s?.!,]+(?:\s+[^\s?.!,]+){{0,3}}?)\W*", re.IGNORECASE
)
_CLAUSE_WORDS = frozenset(
    "what which who where when how why is are was were did do does he she it they that this".split()
)


def _fill(question: str, last: str) -> str:
    """The last question with the part that this one changes ("Why?", "And on Windows?"); else empty."""
    if bare := _ONLY_ASKED_BY.fullmatch(question):
        opening = _OPENS_WITH_IT.match(last)
        rest = last[opening.end() :] if opening else ""
        return rest and f"{bare['word'].capitalize()} {rest[0].lower()}{rest[1:]}"
    if place := _OTHER_PLACE.fullmatch(question):
        words = question[place.start("by") :].rstrip("?.! ")
        if _CLAUSE_WORDS.isdisjoint(words.lower().split()):
            end = len(last.rstrip("?.! "))
            earlier = [match.start() for match in re.finditer(rf"\b{place['by']}\s", last[:end], re.IGNORECASE)]
            return f"{last[: earlier[-1] if earlier else end].rstrip()} {words}{last[end:] or '?'}"
    if kind := _OTHER_KIND.fullmatch(question):
        names = _names(last)
        if names and _names(kind["what"]) == [kind["what"]] and last.rstrip("?.! ").endswith(names[-1]):
            return kind["what"].join(last.rsplit(names[-1], 1))
        for phrase in _phrases(last):
            if " " in phrase and terms(phrase)[-1:] == terms(kind["what"])[-1:]:
                return last.replace(phrase, kind["what"])
    return ""


# ---------------------------------------------------------------- names, pronouns, parts

_PERSON = re.compile(r"\b(?:he|she|him|his|hers?)\b", re.IGNORECASE)
_THING = re.compile(r"\b(?:they|them|theirs?|its|it)\b", re.IGNORECASE)
_EMPTY_IT = re.compile(
    r"\bit\s+(?:true|rains?|snows?|takes?|(?:is|was)\s+\w+\s+(?:to|that)"
    r"|(?:still\s+|so\s+)?(?:possible|necessary|worth|ok|okay|better|best|legal|advisable|important|safe|good|bad|hard"
    r"|easy|difficult|wise)\s+(?:to|that|if))\b",
    re.IGNORECASE,
)
_STATES = re.compile(r"\W*(?:(?:so|yes|no|and|but|ok)\W+)*(?:it|they|s?he)\b(?!.*\?)", re.IGNORECASE)
_OWNING = frozenset("his her hers their theirs its".split())
_ONE_THING = re.compile(r"\b(?:an?|one\s+of)\s+(?!lot\b|difference\b|way\b)\w+", re.IGNORECASE)
_PLURAL = re.compile(r"[^'s]s$|people$|men$")
_CLAUSE = re.compile(r"[,;.!?:]|\b(?:and|but|or|when|if|because|while|since)\b", re.IGNORECASE)


def _replace(question: str, pronoun: re.Match[str], phrase: str) -> _Resolution:
    """The question with the phrase for its pronoun, unless the question itself explains the pronoun."""
    before, after = question[: pronoun.start()], question[pronoun.end() :]
    word = pronoun[0].lower()
    if not phrase or not set(terms(phrase)).isdisjoint(terms(question)) or _names_something(before, word):
        return _Resolution(question)
    owns = word in _OWNING and not (word == "her" and _lacks_noun(after))
    ending = "" if not owns else "'" if phrase.endswith("s") else "'s"
    return _Resolution(f"{before}{phrase}{ending}{after}", phrase)


def _names_something(before: str, pronoun: str) -> bool:
    """Whether words before the pronoun explain it: a clause with a noun, "a file ... it", "keys ... them"."""
    ends = [clause.start() for clause in _CLAUSE.finditer(before)]
    if ends and _phrases(before[: ends[-1]]):
        return True
    if pronoun in ("it", "its") and _ONE_THING.search(before):
        return True
    if pronoun not in ("them", "their", "they", "its"):
        return False
    phrases = _phrases(before)
    is_subject = pronoun in ("their", "its") and len(" ".join(phrases).split()) > 1
    return (
        bool(_names(before))
        or (is_subject and phrases[-1].endswith(before.split()[-1]))
        or any(_PLURAL.search(phrase) and " " in phrase for phrase in phrases if pronoun != "its")
    )


def _lacks_noun(after: str) -> bool:
    """Whether "her" is an object, without a noun after it."""
    following = re.match(r"\s+([^\W\d_]+)", after)
    return following is None or following[1].lower() in STOPWORDS


# ---------------------------------------------------------------- names and focus

_WHO_IS = re.compile(r"\W*who\s+(?:is|was)\s", re.IGNORECASE)
_OPENING = re.compile(
    r".*\b(?:(?P<of>of)|about|describe|(?:what|who)(?:'s|\s+(?:is|are|was|were))|(?<!.)and)\s+(?P<article>(?:the|an?)\s+)?(?P<rest>[^?.!,;]+)",
    re.IGNORECASE,
)
_SUBJECT = re.compile(rf".*?\b{_AUXILIARY}\s+(?P<article>(?:the|an?)\s+)?(?P<rest>[^?.!,;]+)", re.IGNORECASE)
_GREETINGS = frozenset(
    "ok okay alright yes no hi hello hey thanks thank great good nice sure sorry well wow oh".split()
)
_CLOSED = STOPWORDS.union(
    _GREETINGS,
    "tell give describe explain much many long please know get find now then next first last today let make".split(),
)
_PARTS = frozenset(  # terms for parts and sides of things, which alone are no focus
    "type kind sort form example part layer caus reason symptom sign effect featur advantag disadvantag benefit risk"
    " differ differenc similar way purpos goal origin histori role main result consequ find characterist properti"
    " theme member step ingredi treatment option us side impact import signific definit mean size cost price requir"
    " limit alternativ competitor author name".split()
)


def _names(text: str) -> list[str]:
    named = (re.sub(r"['’]s?$", "", text[fact.start : fact.end]) for fact in facts(text) if fact.kind == "name")
    return [name for name in named if name.lower() not in _GREETINGS]


def _phrases(text: str) -> list[str]:
    runs: list[list[str]] = [[]]
    for word in re.findall(r"[\w'’&+.-]*\w|[^\w\s]", text):
        if word.lower() in _CLOSED or not word[-1].isalnum():
            runs.append([])
        else:
            runs[-1].append(word)
    return [" ".join(run) for run in runs if run]


def _is_part(opening: re.Match[str]) -> bool:
    """Whether a question opens with only a part of something: "the common types"."""
    phrases = _phrases(opening["rest"])
    return len(phrases) == 1 and not _PARTS.isdisjoint(terms(phrases[0])[-1:])


def _focus(question: str, before: str) -> str:
    if opening := _OPENING.match(question):
        if before and _is_part(opening):
            return before
        topic = next(iter(_phrases(opening["rest"])), "")
        if topic:
            return _with_article(opening, topic)
    elif subject := _SUBJECT.match(question):
        topic = next(iter(_phrases(subject["rest"])), "")
        names = (known for known in _names(question) if topic.startswith(known))
        name = next(names, topic.rpartition(" ")[0])  # without the verb or adjective after it
        if name and subject["rest"].startswith(topic):
            return _with_article(subject, name)
    return next(reversed(_names(question)), before)


def _with_article(place: re.Match[str], topic: str) -> str:
    return f"{place['article'].lower()}{topic}" if place["article"] and place["rest"].startswith(topic) else topic
