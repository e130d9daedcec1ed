"""Cuts sentences that state one thing about something they name into parts, and makes questions of them.

Read are: a name (or "In 1850," and a name), perhaps a bracket, a form of "be" or of a known verb, and a clause up to
a mark, a conjunction or a second verb. Most English sentences have no statement, others none at all.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from toulmin.data import Passage
from toulmin.datasets.synthetic_kinds import (
    Verb,
    is_person,
    is_profession,
    is_verb_form,
    kind_of_thing,
    may_be_person,
    of_participle,
    of_past,
)
from toulmin.text.language import STOPWORDS, Span, sentences
from toulmin.text.names import Fact, facts, name_value

_LONGEST = 420  # characters; longer sentences are not read
_MOST_SENTENCES = 400  # of a passage
_ODD = re.compile(
    r"[\[\]<>{}|=\\^~*_#@\u2022\x00-\x08\x0b-\x1f\x7f]|\w[\"“]\s|[a-z]\$|\s[\"”]\s|https?:|www\.|\.\.\.|…|\?|!"
)
_NEGATED = re.compile(
    r"\b(?:not|never|no|nor|neither|nobody|nothing|hardly|barely|rarely|seldom|unless|if|would|could|should|might|may"
    r"|allegedly|reportedly|supposedly|possibly|probably|perhaps|maybe|purportedly)\b|n['’]t\b"
)
_DESCRIBED = re.compile(r"The (?P<what>(?:[A-Z]\w+(?:an|ish|ese|ch) )?(?:[a-z-]+ ){1,3})(?=[A-Z])")
_NO_DESCRIPTION = frozenset(
    "as by with from to at on in for and or who that which than under former late new most recent current same"
    " other".split()
)
_PASSAGE_READ = 5_000  # characters of a passage in which full names are looked for
_ASIDE = re.compile(r"\s?\((?P<aside>[^()]*)\)")
_ADVERBS = (
    "also|then|later|subsequently|eventually|finally|originally|initially|officially|formally|first|soon|again"
    "|posthumously|publicly|completely|largely|mainly|primarily|successfully|previously|jointly|currently"
)
_GROUP = re.compile(
    rf" (?:(?P<be>was|were|is|are) )?(?:(?P<adverb>{_ADVERBS}) )?"
    r"(?:(?P<verb>[a-z]+)(?= |[,;:.]|$)|(?=[\dA-Z$£€\"“]))"
)
_LEAD = re.compile(r"(?P<preposition>In|On) (?P<rest>.*)", re.DOTALL)
_CUT = re.compile(
    r"\s*[;:–—]\s*|\s*[,(]\s*|"
    r" (?=(?:which|who|whom|whose|where|when|while|but|although|though|because|since|until|after|before|whereas"
    r"|and|making|starring|featuring|becoming|leaving|despite|alongside|followed|following)\b)"
)
_BRACKETED = re.compile(r"\s?\([^()]*\)")
_GOES_ON = re.compile(
    r"(?:which|who|whom|whose|where|when|while|but|although|though|because|since|until|after|before|whereas|with|as|so"
    r"|despite|making|becoming|being|followed|thus|though|starring|featuring|[a-z]{3,}ing)\b"
    r"|(?:in|on|at|during|near|by|over|under) (?:the|an?|his|her|its|their|[a-z]{5,})\b"
    r"|and (?:he|she|it|they|is|was|were|has|had|later|then|also|subsequently|eventually)\b"
)
_PLACED = re.compile(r"\b(?:in|at|near|from|to|of) (?:the )?$")
_CLASSED = re.compile(
    r"\((?P<what>(?:\d{4} )?(?:[A-Za-z]+ )?(?:film|song|album|novel|book|series|band|game|magazine|newspaper|opera"
    r"|play|ship|book|poem|miniseries))\)$"
)


@dataclass(frozen=True, slots=True)
class Statement:
    """One clause about what `subject` names, with single spaces; `span` is the sentence in the passage.

    `subject` is worded as in a question, `name` is bare, `aside` was in brackets after it. `be` is the form of "be" or
    empty; `verb` is None if a noun phrase follows it. Without "be" the verb is in the past. `clause` is the rest.
    `lead` is an opening date ("In 1850, ...") or empty.
    """

    passage: Passage
    span: Span
    subject: str
    name: str
    aside: str
    be: str
    adverb: str
    verb: Verb | None
    clause: str
    lead: str = ""


def squeeze(text: str) -> str:
    return " ".join(text.split())


def statements(passage: Passage) -> Iterator[Statement]:
    for span in sentences(passage.text)[:_MOST_SENTENCES]:
        if span.end - span.start > 2 * _LONGEST:
            continue
        text = squeeze(passage.text[span.start : span.end])
        if 15 <= len(text) <= _LONGEST and text.endswith(".") and not _ODD.search(text) and not _NEGATED.search(text):
            statement = _parse_statement(passage, span, text[:-1])
            if statement is not None:
                yield statement


def _parse_statement(passage: Passage, span: Span, text: str) -> Statement | None:
    if _cannot_open_statement(text):
        return None
    lead, text = _without_lead(text)
    subject_parts = _subject(text, passage)
    if subject_parts is None:
        return None
    subject, name, end = subject_parts
    aside = _ASIDE.match(text, end)
    end = aside.end() if aside else end
    group = _GROUP.match(text, end)
    if group is None:
        return None
    adverb, word = group["adverb"] or "", group["verb"] or ""
    verb = of_participle(word) if group["be"] else of_past(word)
    if verb is None and not (group["be"] and not group["adverb"]):
        return None
    rest = text[group.end() if verb else group.end() - len(word) :].strip()
    clause = _first_clause(_BRACKETED.sub("", rest))
    if clause is None:
        return None
    inside = aside["aside"].strip() if aside else ""
    return Statement(passage, span, subject, name, inside, group["be"] or "", adverb, verb, clause, lead)


def _cannot_open_statement(text: str) -> bool:
    first = text.split(maxsplit=1)[0].lower()
    return first in STOPWORDS and first not in ("the", "in", "on")


def _without_lead(text: str) -> tuple[str, str]:
    match = _LEAD.match(text)
    first = next(iter(facts(text)), None) if match else None
    if match is None or first is None or first.kind != "date" or first.start != match.start("rest"):
        return "", text
    after = text[first.end :]
    if not re.match(r",? (?=[A-Z\"“]|the )", after):
        return "", text
    return text[first.start : first.end], re.sub(r"^,? ", "", after)


# ---------------------------------------------------------------- the subject


def _subject(text: str, passage: Passage) -> tuple[str, str, int] | None:
    classed = _DESCRIBED.match(text)
    article = classed or re.match(r"[Tt]he (?=[A-Z0-9])", text)
    start = article.end() if article else 0
    name = next((fact for fact in facts(text) if fact.kind == "name"), None)
    if name is None or name.start != start:
        return None
    words = text[start : name.end]
    if words.isupper() and " " in words:
        return None
    if classed:
        if any(word in _NO_DESCRIPTION or is_verb_form(word) for word in classed["what"].split()):
            return None
        return f"the {squeeze(classed['what'])} {words}", words, name.end
    full = _full_name(words, bool(article), passage)
    return None if full is None else (full, re.sub(r"^[Tt]he (?:\d{4} )?(?:[a-z]+ )*(?=[^a-z])", "", full), name.end)


def _full_name(words: str, has_article: bool, passage: Passage) -> str | None:
    title = squeeze(passage.title)
    plain = re.sub(r"\s*\([^()]*\)$", "", title).strip()
    classed = _CLASSED.search(title)
    whole = f"The {words}" if has_article else words
    if plain and len(plain.split()) > 1 and name_value(whole).startswith(f"{name_value(plain)} "):
        return None  # the heading runs into the text
    if plain and name_value(whole) == name_value(plain):
        return f"the {classed['what']} {plain}" if classed else whole
    article = "the " if has_article else ""
    if (plain and name_value(words) == name_value(plain)) or not _is_short(words):
        return article + words
    longer = [plain] if _is_name(plain) and not plain.startswith("The ") else []
    longer += [] if article else _people(passage.text[:_PASSAGE_READ])
    fitting = [each for each in longer if name_value(each).split()[-1] == name_value(words.split()[-1])]
    return article + fitting[0] if len({name_value(each) for each in fitting}) == 1 else None


@lru_cache(maxsize=512)
def _people(text: str) -> tuple[str, ...]:
    names = dict.fromkeys(squeeze(text[fact.start : fact.end]) for fact in facts(text) if fact.kind == "name")
    return tuple(name for name in names if not _is_short(name) and is_person(name) and not re.search("['’]", name))


def _is_short(words: str) -> bool:
    parts = words.split()
    return len(parts) < 2 or (len(parts) == 2 and parts[0].rstrip(".") in _NO_NAMES)


_NO_NAMES = frozenset(
    "Other Today Former Both Several President Some Many Most Such Early Late Modern Mr Mrs Ms Miss Dr Professor"
    " Detective Agent Inspector Judge Senator Chief Father Brother Sister Uncle Aunt Major Colonel Captain General"
    " Lieutenant Sergeant Governor Season Part Chapter Section Figure Table Volume Act Scene Admiral Commander".split()
)


def _is_name(title: str) -> bool:
    parts = title.split()
    return 2 <= len(parts) <= 4 and all(part[0].isupper() for part in parts) and not re.search(r"[,:;\d]", title)


# ---------------------------------------------------------------- the first clause


def _first_clause(rest: str) -> str | None:
    clause_facts = facts(rest)
    for cut in _CUT.finditer(rest):
        # A mark inside a fact ends no clause: "May 3, 1824".
        if any(fact.start < cut.end() and cut.start() < fact.end for fact in clause_facts):
            continue
        mark, after = cut[0].strip(), rest[cut.end() :]
        if not mark and after.startswith("and "):
            word = re.match(r"and (?:\w+ly )?(?P<word>\w+)", after)
            if word and (is_verb_form(word["word"]) or word["word"].endswith("ing") or _GOES_ON.match(after)):
                return rest[: cut.start()]
            continue
        if mark in ("–", "—", "("):
            return None
        if mark == "," and _is_within_place(rest, cut.start(), cut.end(), clause_facts):
            continue
        if mark == "," and not _goes_on(after):
            return None
        return rest[: cut.start()]
    return rest


def _goes_on(after: str) -> bool:
    if _GOES_ON.match(after):
        return True
    if (word := re.match(r"(?:and )?([a-z]+)\b", after)) and is_verb_form(word[1]):
        return True
    clause = re.match(r"(?:and|but) (?:the|an?|[A-Z]\w+) (?P<words>.*)", after)
    return clause is not None and any(is_verb_form(each) for each in clause["words"].split()[:6])


def _is_within_place(text: str, start: int, end: int, clause_facts: tuple[Fact, ...]) -> bool:
    before = next((fact for fact in clause_facts if fact.kind == "name" and fact.end == start), None)
    after = next((fact for fact in clause_facts if fact.kind == "name" and fact.start == end), None)
    if before is None or after is None or not re.match(r"(?:,|$| (?:in|on|by|at|to|for|with)\b)", text[after.end :]):
        return False
    return bool(_PLACED.search(text[: before.start]) or text[: before.start].endswith(", "))


# ---------------------------------------------------------------- a question made from a statement


_BRACKET = re.compile(r" ?\((?:\d{4} )?(?:[A-Za-z]+ )*(?P<what>[a-z]+)\)$")
AnswerKind = Literal["date", "person", "place"]


@dataclass(frozen=True, slots=True)
class Asked:
    """A question as `before + subject + after`; `answers` are aliases of its one answer, the fullest first.

    `relation` is the base of the verb, or the noun, that joins subject and answer. `sort` is the subject's kind of
    thing, None if unsure: only the same sort may replace it.
    """

    statement: Statement
    rule: str
    before: str
    subject: str
    after: str
    answers: tuple[str, ...]
    kind: AnswerKind
    relation: str
    sort: str | None

    @property
    def question(self) -> str:
        return f"{self.before}{self.subject}{self.after}"


def of_subject(
    statement: Statement, rule: str, before: str, after: str, answers: tuple[str, ...], kind: AnswerKind, relation: str
) -> Asked:
    return Asked(statement, rule, before, statement.subject, after, answers, kind, relation, sort_of(statement))


def sort_of(statement: Statement) -> str | None:
    """Either "person" or a kind of thing, where that is certain."""
    if statement.verb is None and is_profession(statement.clause) and may_be_person(statement.name):
        return "person"
    if statement.verb is None and (kind := kind_of_thing(statement.clause)):
        return None if is_person(statement.name) else kind
    bracket = _BRACKET.search(statement.passage.title)
    is_titled = bracket and name_value(statement.name) == name_value(statement.passage.title[: bracket.start()])
    if bracket and is_titled and (kind := kind_of_thing(f"a {bracket['what']}")):
        return kind
    if is_person(statement.name):
        return "person"
    return kind_of_thing(f"a {statement.name}") if statement.verb else None
