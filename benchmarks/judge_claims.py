"""What `judge_table.py` asks judges, where no other file has it: inference, contrast triples, long claims, manuals.

**Triples** are what people found supported as it is, denied, and with a name of the same evidence in a name's place.
They are made of claims of the natural sets' dev splits that hold a name or a figure. A denial is at the root of the
claim's first sentence: "not" after its first auxiliary, "never" before a plain past. A name gives way to one of the
same shape that the evidence has and the claim has no word of, so that every word of the claim is still in the evidence.
Some exchanges leave the claim true (an alias, one of several of whom it holds); nobody looked at each.

**Long claims** are claims about one page said in a row until they have over 50 words: true ones, and the same with an
untrue claim in the place of the middle one.
"""

from __future__ import annotations

import random
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from data import rows
from judge_natural import Record, page_of, records
from judge_sets import NATURAL, passages
from probes_wording import MONTHS

from toulmin.data import Passage
from toulmin.documents.loaders import read_documents
from toulmin.documents.passages import cut
from toulmin.steps import Pair
from toulmin.text.language import sentences
from toulmin.text.names import Fact, facts, is_common

T = TypeVar("T")
ANY_NEGATION = re.compile(
    r"\b(?:not|never|no|nor|neither|none|without|cannot|nobody|nothing)\b|n['’]t\b", re.IGNORECASE
)
NO_NAMES = frozenset([*MONTHS, *"Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()])
SEED = 23
MOST = 200  # triples of a set
LONG = 50  # words
_AUXILIARY = re.compile(r"\b(?:is|are|was|were|can|could|would|should|must|may|might|did|does|has|have|had)\b")
_OWNS = {"has": "does not have", "have": "do not have", "had": "did not have"}
_PARTICIPLE = re.compile(r" (?:\w+ly )?(?:been|become|\w+ed|\w+en|won|made|held|built|sold|led|spent|set|sung)\b")
_WORD = re.compile(r"\w+(?:['’-]\w+)*")
_CLAUSE = re.compile(
    r"\b(?:that|which|who|whom|whose|where|when|while|if|because|although|though|as|since|after|before|until|what|how)\b"
    r'|[;:?"“”()]',
    re.IGNORECASE,
)
_SUBJECT = frozenset("he she it they we i".split())
_DEMONYM = re.compile(r"(?:[aei]an|ish|ese|ench|utch|ch|ss|ek|i)$")


def spread(items: Sequence[T], most: int | None) -> list[T]:
    """At most so many, evenly spread."""
    if most is None or len(items) <= most:
        return list(items)
    return [items[n * len(items) // most] for n in range(most)]


def inference_records(name: str, most: int | None) -> list[Record]:
    """At most so many records of the dev split, evenly spread."""
    return [
        Record(row["id"], name, page_of(row), Pair(passages(row["evidence"]), row["claim"]), row["supported"])
        for row in spread(list(rows(name, "dev")), most)
    ]


# ---------------------------------------------------------------- triples


class Triple(NamedTuple):
    """A supported claim and what became of it, where a rule applies."""

    record: Record
    denied: str | None
    renamed: str | None


def triples(most: int = MOST) -> list[Triple]:
    """Those of the natural sets, of which a rule applies at least once."""
    chance = random.Random(SEED)
    made = []
    for name in sorted(NATURAL):
        checkable = [record for record in records(name, ["dev"]) if record.supported and facts(record.pair.claim)]
        each = [Triple(r, deny(r.pair.claim), rename(r.pair.claim, r.pair.premises, chance)) for r in checkable]
        made += spread([triple for triple in each if triple.denied or triple.renamed], most)
    return made


# ---------------------------------------------------------------- denials


def deny(claim: str) -> str | None:
    """The claim with its first sentence denied at the root; None where no plain rule finds the root."""
    start, end = sentences(claim)[0]
    sentence = claim[start:end]
    if ANY_NEGATION.search(sentence) or re.match(r"\W*(?:no|few|only)\b", sentence, re.IGNORECASE):
        return None
    denied = _after_auxiliary(sentence) or _before_past(sentence)
    return None if denied is None else claim[:start] + denied + claim[end:]


def _after_auxiliary(sentence: str) -> str | None:
    verb = _AUXILIARY.search(sentence, 1)
    if verb is None or _CLAUSE.search(sentence[: verb.start()]) or any(_pasts(sentence[: verb.start()])):
        return None
    word = verb[0]
    owns = word in _OWNS and not _PARTICIPLE.match(sentence, verb.end())
    new = _OWNS[word] if owns else "cannot" if word == "can" else f"{word} not"
    return sentence[: verb.start()] + new + sentence[verb.end() :]


def _before_past(sentence: str) -> str | None:
    """Only where what stands before can be the subject alone: a name or a pronoun."""
    for verb in _pasts(sentence):
        before = sentence[: verb.start()].rstrip()
        subject = _WORD.findall(before)[-1:]
        is_subject = subject and (subject[0][0].isupper() or subject[0].lower() in _SUBJECT)
        if not is_subject or before.endswith(",") or _CLAUSE.search(before) or sentence[verb.end() :].startswith(" by"):
            return None
        return f"{before} never {sentence[verb.start() :]}"
    return None


def _pasts(text: str) -> Iterator[re.Match[str]]:
    """The words in lower case that can be a simple past."""
    words = (match for match in _WORD.finditer(text) if match[0].islower())
    return (match for match in words if match[0].endswith("ed") or match[0] in _irregular())


@cache
def _irregular() -> frozenset[str]:
    lines = resources.files("toulmin.text").joinpath("irregular.txt").read_text("utf-8").splitlines()
    forms = (line.partition(":")[2].split() for line in lines if ":" in line and not line.startswith("#"))
    return frozenset(past[0] for past in forms if past) - {"was", "did", "had"}


# ---------------------------------------------------------------- names


def rename(claim: str, evidence: Sequence[Passage], chance: random.Random) -> str | None:
    """The claim with one of its names replaced by another of the evidence; None where no other has its shape."""
    names = list(dict.fromkeys(p.text[name.start : name.end] for p in evidence for name in _names(p.text)))
    exchanges = [
        (name, other)
        for name in _names(claim)
        for other in names
        if _fits(claim[name.start : name.end], other, claim, evidence)
    ]
    if not exchanges:
        return None
    name = chance.choice(list(dict.fromkeys(name for name, _ in exchanges)))
    other = chance.choice([other for each, other in exchanges if each == name])
    return claim[: name.start] + other + claim[name.end :]


def _fits(name: str, other: str, claim: str, evidence: Sequence[Passage]) -> bool:
    """Whether the evidence has both, and the second may stand for the first: not what it lies in or is called."""
    once = claim.count(name) == 1 and any(name in passage.text for passage in evidence)
    if not once or _shape(name) != _shape(other) or not _words(claim).isdisjoint(_words(other)):
        return False
    return not any(f"{name}{mark}{other}" in passage.text for passage in evidence for mark in (", ", " (", "/"))


def _names(text: str) -> list[Fact]:
    """The names but for months, days, and what may be capitalised as a heading is."""
    names = [fact for fact in facts(text) if fact.kind == "name"]
    return [fact for fact in names if not _is_doubtful(text[fact.start : fact.end])]


def _is_doubtful(name: str) -> bool:
    words = name.split()
    return "\n" in name or any(word in NO_NAMES for word in words) or all(is_common(word) for word in words)


def _shape(name: str) -> tuple[int, bool, bool, bool]:
    """How many words, and whether it looks like an acronym, has figures, and ends as names of peoples do."""
    is_people = len(name.split()) == 1 and _DEMONYM.search(name) is not None
    return min(3, len(name.split())), name.isupper(), any(map(str.isdigit, name)), is_people


def _words(text: str) -> frozenset[str]:
    return frozenset(word.casefold().removesuffix("'s").removesuffix("’s") for word in _WORD.findall(text))


# ---------------------------------------------------------------- long claims


def longer(claims: Iterable[Record]) -> Iterator[Record]:
    """Claims of one page said in a row until they are long: true ones, and the same with an untrue one among them."""
    by_page: dict[tuple[str, str], list[Record]] = {}
    for record in claims:
        by_page.setdefault((record.dataset, record.page), []).append(record)
    for group in by_page.values():
        untrue = iter([record for record in group if not record.supported])
        row: list[Record] = []
        for record in group:
            row += [record] if record.supported else []
            if sum(len(each.pair.claim.split()) for each in row) > LONG:
                yield in_a_row(row, is_true=True)
                other = next(untrue, None)
                if other is not None:
                    middle = len(row) // 2
                    yield in_a_row([*row[:middle], other, *row[middle + 1 :]], is_true=False)
                row = []


def in_a_row(claims: Sequence[Record], is_true: bool) -> Record:
    premises = tuple(dict.fromkeys(premise for record in claims for premise in record.pair.premises))
    claim = " ".join(re.sub(r"(?<![.!?])$", ".", record.pair.claim.strip()) for record in claims)
    return claims[0]._replace(pair=Pair(premises, claim), supported=is_true)


# ---------------------------------------------------------------- claims over a folder


def decisive(folder: Path, row: dict[str, Any]) -> tuple[Passage, ...]:
    """The passages, one or two neighbours, that hold the sentence; none where the file has it nowhere."""
    words = _plain(row["sentence"])
    for document in read_documents(folder / row["file"]):
        cuts = cut(document)
        for width in (1, 2):
            for start in range(len(cuts) - width + 1):
                if words in _plain(" ".join(passage.text for passage in cuts[start : start + width])):
                    return tuple(cuts[start : start + width])
    print(f"{row['id']}: its sentence is not in {row['file']}", file=sys.stderr)
    return ()


def _plain(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold()))
