"""Who did what to whom: a parser after another judge, which lowers "supported" if two parts change sides.

Rules of this file
* It parses only claims that the other judge supports, and the premises' sentences most like them, if one has most
  of the claim's words and none has all.
* A deed is a predicate with its mentions by role. Passives, relative clauses, participles, shared subjects, appositions
  and lists are resolved; "A lost to B" is "B defeated A".
* An objection needs a source with exchanged mentions, and no sentence with one of them on the claim's side.
* Denied deeds and pronouns count neither for the claim nor against it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations, product
from typing import TYPE_CHECKING, NamedTuple

from toulmin.driver.kit import Judge
from toulmin.judges.objections import Objection, lower
from toulmin.runtime.parser import DIGEST, Parser
from toulmin.steps import Pair, Verdict, resolve
from toulmin.text.language import STOPWORDS, sentence_texts, stem, terms

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

# ---------------------------------------------------------------- deeds of a sentence


class Mention(NamedTuple):
    """`head`: the stem of the main word; `words`: the stems of all. Any word identifies a name."""

    head: str
    words: frozenset[str]
    shown: str
    is_name: bool


class Deed(NamedTuple):
    """A predicate with its mentions by role: agent, patient, or a preposition."""

    predicate: str
    roles: Mapping[str, tuple[Mention, ...]]
    is_denied: bool
    shown: str
    is_noun: bool


# Other words for a deed: its usual word, and the roles of this word that are others there.
_TURNED = {"agent": "patient", "patient": "agent"}
_CONVERSES: dict[str, tuple[str, Mapping[str, str]]] = {
    **dict.fromkeys(("buy", "purchase", "acquire"), ("sell", {"agent": "to", "from": "agent"})),
    **dict.fromkeys(("receive", "get", "obtain", "borrow", "inherit"), ("give", {"agent": "to", "from": "agent"})),
    **dict.fromkeys(("award", "grant", "lend"), ("give", {})),
    **dict.fromkeys(("follow", "succeed", "replace"), ("precede", _TURNED)),
    **dict.fromkeys(("son", "daughter", "child"), ("parent", _TURNED)),
    **dict.fromkeys(("father", "mother"), ("parent", {})),
    "lose": ("defeat", {"agent": "patient", "to": "agent"}),
    "beat": ("defeat", {}),
    "learn": ("teach", {"agent": "patient", "from": "agent"}),
    "belong": ("own", {"agent": "patient", "to": "agent"}),
    "author": ("write", {}),
}
# What is true of both sides at once, or says nothing by itself.
_SYMMETRIC = frozenset(
    "meet marry fight join merge collaborate differ resemble divorce border equal play talk speak friend brother sister"
    " sibling husband wife spouse partner cousin twin colleague be have include".split()
)
_STEM = 4  # letters that a verb and its noun share at least ("invade", "invasion")
_DOERS = re.compile(r"(?:er|or|ist|ant|ent|ian|son|child|capital|part)$")  # who does or is it
# Of nouns for deeds in QANom's training part: "of" is the patient's in 88 of 100, "by" and "from" the agent's.
_ROLE_AFTER_NOUN = {"by": "agent", "from": "agent", **dict.fromkeys("of for to on against over".split(), "patient")}
_RELATIVE = frozenset(("WDT", "WP"))
_SPECIFY = frozenset("compound amod nummod nmod flat poss".split())
_NOMINAL = frozenset(("NOUN", "PROPN", "NUM"))
_DEPTH = 5  # clauses up to a shared subject

Roles = list[tuple[str, "Token"]]


def deeds(doc: Doc) -> list[Deed]:
    made = (_verb_deed(token) if token.pos_ == "VERB" else _noun_deed(token) for token in doc)
    return [deed for deed in made if deed is not None]


def _verb_deed(verb: Token) -> Deed | None:
    subject, roles = _subject(verb), [("patient", object) for object in _objects(verb)]
    if subject is not None:
        roles.append(("patient" if _is_passive(verb) else "agent", subject))
    roles += _complements(verb)
    particles = [child.lower_ for child in verb.children if child.dep_ == "prt"]
    return _deed(verb, " ".join((verb.lemma_.lower(), *particles)), roles)


def _noun_deed(noun: Token) -> Deed | None:
    """For "B's founder A", "A, the father of B", "A's invasion of B"."""
    if noun.pos_ != "NOUN":
        return None
    holders, is_doer = list(_holders(noun)), _DOERS.search(noun.lemma_) is not None
    roles: Roles = [("agent", holder) for holder in (holders or _outer_doers(noun))]
    for child in noun.children:
        if child.dep_ == "poss":
            roles.append(("patient" if holders or is_doer else "agent", child))
        elif child.dep_ == "compound":
            roles.append(("patient", child))
    roles += [(_ROLE_AFTER_NOUN.get(role, role), token) for role, token in _complements(noun)]
    return _deed(noun, noun.lemma_.lower(), roles)


def _outer_doers(noun: Token) -> Iterator[Token]:
    """The subject of the verb that a noun depends on: "A began an attack"."""
    after = noun.head.lower_ if noun.dep_ == "pobj" else ""
    verb = noun.head.head if after else noun.head
    if noun.dep_ in ("dobj", "pobj") and after not in ("by", "under") and verb.pos_ == "VERB":
        subject = _subject(verb)
        if subject is not None and subject != noun:
            yield subject


def _deed(token: Token, lemma: str, roles: Roles) -> Deed | None:
    predicate, others = _CONVERSES.get(lemma, (lemma, {}))
    if predicate in _SYMMETRIC or not roles:
        return None
    by_role: dict[str, tuple[Mention, ...]] = {}
    for role, head in roles:
        name = others.get(role, role)
        by_role[name] = (*by_role.get(name, ()), *map(_mention, _listed(head)))
    is_denied = any(child.dep_ == "neg" for child in token.children)
    return Deed(predicate, by_role, is_denied, token.text, token.pos_ == "NOUN")


def _subject(verb: Token, depth: int = 0) -> Token | None:
    for child in verb.children:
        if child.dep_ in ("nsubj", "nsubjpass"):
            return verb.head if _is_relative(verb, child) else child
    if depth < _DEPTH and verb.dep_ in ("conj", "xcomp", "advcl") and verb.head.pos_ in ("VERB", "AUX"):
        controller = next((child for child in verb.head.children if child.dep_ == "dobj"), None)
        if verb.dep_ == "xcomp" and controller is not None:
            return controller
        is_shared = verb.dep_ != "advcl" or verb.tag_ in ("VBG", "VBN")
        return _subject(verb.head, depth + 1) if is_shared else None
    return verb.head if verb.dep_ == "acl" and verb.tag_ in ("VBG", "VBN") else None


def _objects(verb: Token) -> list[Token]:
    objects = [child for child in verb.children if child.dep_ == "dobj"]
    if objects or verb.dep_ != "relcl" or _is_passive(verb):
        return [verb.head if _is_relative(verb, child) else child for child in objects]
    subject = next((child for child in verb.children if child.dep_ == "nsubj"), None)
    return [verb.head] if subject is not None and not _is_relative(verb, subject) else []


def _is_relative(verb: Token, child: Token) -> bool:
    return verb.dep_ == "relcl" and (child.tag_ in _RELATIVE or child.lower_ == "that")


def _is_passive(verb: Token) -> bool:
    if any(child.dep_ in ("auxpass", "nsubjpass", "agent") for child in verb.children):
        return True
    has_auxiliary = any(child.dep_ in ("aux", "nsubj") for child in verb.children)
    if verb.tag_ != "VBN" or has_auxiliary:
        return False
    return verb.dep_ in ("acl", "relcl") or (verb.dep_ == "conj" and _is_passive(verb.head))


def _complements(token: Token) -> Iterator[tuple[str, Token]]:
    """Objects of prepositions, with the preposition as role."""
    for child in token.children:
        if child.dep_ == "dative" and child.pos_ != "ADP":
            yield "to", child
        elif child.dep_ in ("prep", "dative", "agent"):
            role = "agent" if child.dep_ == "agent" else child.lemma_.lower()
            yield from ((role, inner) for inner in child.children if inner.dep_ == "pobj")


def _holders(noun: Token) -> Iterator[Token]:
    """Who is this: "A is the founder", "A, the founder", "the founder A", "A worked as the founder"."""
    if noun.dep_ == "appos" or (noun.dep_ == "compound" and noun.head.pos_ == "PROPN"):
        yield noun.head
    yield from (child for child in noun.children if child.dep_ == "appos")
    clause = noun.head if noun.dep_ == "attr" else noun.head.head if noun.head.lower_ == "as" else None
    subject = _subject(clause) if clause is not None and clause.pos_ in ("VERB", "AUX") else None
    if subject is not None:
        yield subject


def _listed(token: Token) -> Iterator[Token]:
    """The word, with its conjuncts and appositions."""
    yield token
    for child in token.children:
        if child.dep_ in ("conj", "appos") and child.pos_ in _NOMINAL:
            yield from _listed(child)


def _mention(token: Token) -> Mention:
    parts = [word for word in token.subtree if word.i <= token.i and (word == token or word.dep_ in _SPECIFY)]
    is_nobody = token.pos_ in ("PRON", "DET")
    words = frozenset(term for word in parts for term in terms(word.text) if term not in STOPWORDS)
    shown = token.doc[parts[0].i : token.i + 1].text
    is_name = token.pos_ == "PROPN"
    head = stem((token.text if is_name else token.lemma_).lower())
    return Mention("" if is_nobody else head, frozenset() if is_nobody else words, shown, is_name)


# ---------------------------------------------------------------- the claim's deeds against the source's


def exchange(claim: Sequence[Deed], source: Sequence[Deed]) -> Objection | None:
    """For the first deed of the claim that the source reverses."""
    for deed in claim:
        same = [other for other in source if _is_same_deed(deed, other) and not other.is_denied]
        if not deed.is_denied and same:
            for first, second in combinations(deed.roles, 2):
                for a, b in product(deed.roles[first], deed.roles[second]):
                    if objection := _exchange(deed, (first, a), (second, b), same):
                        return objection
    return None


def _exchange(deed: Deed, one: tuple[str, Mention], two: tuple[str, Mention], same: Sequence[Deed]) -> Objection | None:
    (first, a), (second, b) = one, two
    if _is_same(a, b) or any(_has(other, first, a) or _has(other, second, b) for other in same):
        return None
    if any(_has(other, first, b) and _has(other, second, a) for other in same):
        reason = f"the source has {a.shown} and {b.shown} the other way round in {deed.shown!r}"
        return Objection("contradicted", reason)
    if deed.is_noun or {first, second} != {"agent", "patient"}:
        return None
    moved = next((m for m, role in ((b, first), (a, second)) if any(_has(other, role, m) for other in same)), None)
    return moved and Objection("unsupported", f"the source has {moved.shown} on the other side of {deed.shown!r}")


def _is_same_deed(a: Deed, b: Deed) -> bool:
    if a.is_noun == b.is_noun:
        return a.predicate == b.predicate
    verb, noun = (b.predicate, a.predicate) if a.is_noun else (a.predicate, b.predicate)
    return len(verb) >= _STEM and noun.startswith(verb[: max(_STEM, len(verb) - 2)])


def _has(deed: Deed, role: str, mention: Mention) -> bool:
    return any(_is_same(mention, other) for other in deed.roles.get(role, ()))


def _is_same(a: Mention, b: Mention) -> bool:
    if a.head == b.head:
        return bool(a.head)
    if not a.is_name and not b.is_name:
        return False
    return 2 * len(a.words & b.words) >= max(1, min(len(a.words), len(b.words)))


# ---------------------------------------------------------------- the judge

MOST_MISSING = 0.2  # of the claim's words, or a single word, in the likest sentence: else no deed can be the same
SENTENCES = 3  # of the premises, the likest to the claim; a sentence takes some 10 ms


class Grammar:
    """Lowers verdicts of another judge.

    Raises `ModelError` with the first parse if the extra is missing or its files are changed.
    """

    def __init__(self, judge: Judge, parser: Parser | None = None) -> None:
        self.name = f"{judge.name}+grammar"
        self.key = json.dumps([str(getattr(judge, "key", judge.name)), "grammar", 1, DIGEST])
        self._judge, self._parser = judge, parser or Parser()

    async def judge(self, pairs: Sequence[Pair]) -> list[Verdict]:
        verdicts = await resolve(self._judge.judge(pairs))
        return [self._review(pair, verdict) for pair, verdict in zip(pairs, verdicts, strict=True)]

    async def aclose(self) -> None:
        end = getattr(self._judge, "aclose", None)
        if end is not None:
            await end()

    def _review(self, pair: Pair, verdict: Verdict) -> Verdict:
        objection = self.object(pair) if verdict.entails else None
        return replace(lower(verdict, objection), judge=self.name)

    def object(self, pair: Pair) -> Objection | None:
        """For a claim that is otherwise supported; a short answer has no deeds."""
        likest = likest_sentences(pair)
        if pair.question is not None or not likest:
            return None
        source = [deed for sentence in likest for deed in self._deeds(sentence)]
        return exchange(self._deeds(pair.claim), source)

    def _deeds(self, sentence: str) -> list[Deed]:
        return deeds(self._parser.parse(sentence))


def likest_sentences(pair: Pair) -> list[str]:
    """The premises' sentences most like the claim; none if they share little, or one has all."""
    claim = terms(pair.claim)
    wanted = set(claim) - STOPWORDS
    texts = [text for premise in pair.premises for text in sentence_texts(premise.text)]
    shares = [(len(wanted & set(terms(text))), text) for text in texts]
    if len(wanted) - max((share for share, _ in shares), default=0) > max(1, MOST_MISSING * len(wanted)):
        return []
    best = sorted(shares, key=lambda row: -row[0])[:SENTENCES]
    is_stated = any(" ".join(claim) in " ".join(terms(text)) for _, text in best)
    return [] if is_stated else [text for share, text in best if share]
