"""Changes against a source that the gate does not see: a kind of thing, two sides, an amount.

Rules of this file
* A changed word replaces its antonym or another of its kind, and is nowhere in the premises.
* Two sides of a verb are exchanged only if each stands whole on the other side, in the same voice.
* Amounts are compared only if they stand with the same word. Under a denial the weaker word claims more.
* One sentence that agrees with the claim prevents the objection.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from functools import lru_cache
from importlib import resources
from typing import NamedTuple

from toulmin.judges.absence import has_term
from toulmin.judges.comparison import LEAST_CONTENT, NEAR_COPY, Comparison, compare
from toulmin.judges.coverage import Sentence, Source
from toulmin.judges.gate import LONGEST, common_reason, near_copies
from toulmin.text.language import STOPWORDS, stem


@lru_cache(maxsize=1)
def _kinds() -> dict[str, frozenset[str]]:
    kinds: dict[str, frozenset[str]] = {}
    for name in ("kinds.txt", "antonyms.txt"):
        rows = resources.files("toulmin.text").joinpath(name).read_text("utf-8").splitlines()
        for kind in (frozenset(map(stem, row.split())) for row in rows if not row.startswith("#")):
            kinds |= {word: kinds.get(word, frozenset()) | kind for word in kind}
    return kinds


def changed_kind(claim: Sentence, sources: Sequence[Source]) -> str | None:
    """A thing that replaces another of its kind; None if a similar sentence agrees."""
    if _kinds().keys().isdisjoint(claim.content):
        return None
    copies = [beside for source in sources for beside in near_copies(claim, source.text, source.title.where.keys())]
    return common_reason([(each.share, _change(each, sources)) for each in copies if each.content >= LEAST_CONTENT])


def _change(beside: Comparison, sources: Sequence[Source]) -> str | None:
    claim, source = beside.claim, beside.source
    # "Not far" may be "near".
    for block in beside.blocks if len(claim.denials) == len(source.denials) else ():
        mine = [at for at in range(block.a_start, block.a_end) if claim.keys[at] not in STOPWORDS]
        theirs = [at for at in range(block.b_start, block.b_end) if source.keys[at] not in STOPWORDS]
        if len(mine) == len(theirs) == 1:
            key, other = claim.keys[mine[0]], source.keys[theirs[0]]
            alike = other in _kinds().get(key, ()) and other not in claim.units
            if alike and not has_term(key, [reading for premise in sources for reading in premise]):
                return f"the source says {source.shown[theirs[0]]!r}, the claim says {claim.shown[mine[0]]!r}"
    return None


# ---------------------------------------------------------------- two sides of a verb

_REACH = 12  # units from the verb to the last word of a side
_NEAR = 5  # to its first word
_AUXILIARIES = frozenset(
    map(stem, "is are was were be been being has have had will would can could did do does".split())
)


def exchanged_sides(claim: Sentence, sources: Sequence[Source]) -> str | None:
    """A verb with exchanged sides; None if any sentence agrees with the claim."""
    alike = [sentence for source in sources for sentence in source.text.sentences if claim.content <= sentence.units]
    for at in range(1, len(claim.keys) if alike and not claim.denials else 0):
        left, right = _content(claim.keys[:at]), _content(claim.keys[at + 1 :])
        if left and right and left.isdisjoint(right) and _is_verb(claim, at):
            voice = _is_passive(claim.keys, at, right)
            ways = {way for sentence in alike for way in _ways(sentence.keys, claim.keys[at], left, right)}
            if ways and all(straight != (passive == voice) for straight, passive in ways):
                return f"the source has the two sides of {claim.shown[at]!r} the other way round"
    return None


def _content(keys: Sequence[str]) -> frozenset[str]:
    return frozenset(key for key in keys if key not in STOPWORDS)


def _is_verb(claim: Sentence, at: int) -> bool:
    """By its ending and the word before it."""
    before, word = claim.keys[at - 1], claim.shown[at]
    is_plain = at not in claim.facts and word.islower() and claim.keys[at] not in STOPWORDS
    return is_plain and (before in _AUXILIARIES or (before not in STOPWORDS and word.endswith(("ed", "s"))))


def _is_passive(keys: Sequence[str], at: int, after: frozenset[str]) -> bool:
    """Whether "by" leads to the side after the verb, with nobody between them."""
    following = keys[at + 1 : at + _REACH]
    between = following[: next((n for n, key in enumerate(following) if key in after), 0)]
    return "by" in between and STOPWORDS.issuperset(between[len(between) - 1 - between[::-1].index("by") :])


def _ways(keys: Sequence[str], verb: str, left: frozenset[str], right: frozenset[str]) -> Iterator[tuple[bool, bool]]:
    """Whether the sides stand as in the claim, and whether the sentence is passive."""
    for at, key in enumerate(keys):
        before, after = keys[max(0, at - _REACH) : at], keys[at + 1 : at + 1 + _REACH]
        for first, second in ((left, right), (right, left)) if key == verb else ():
            is_near = not first.isdisjoint(before[-_NEAR:]) and not second.isdisjoint(after[:_NEAR])
            if is_near and first.issubset(before) and second.issubset(after):
                yield first is left, _is_passive(keys, at, second)


# ---------------------------------------------------------------- how much is said

# Words of a scale and how much each says: of how many, how often, how surely.
_SCALES = (
    "some:1 several:1 certain:1 few:1 many:2 most:3 any:4 all:4 every:4 each:4 everyone:4 everything:4",
    "sometimes:1 occasionally:1 rarely:1 seldom:1 often:2 frequently:2 commonly:2 usually:3 generally:3 typically:3"
    " normally:3 mostly:3 always:4 invariably:4",
    "may:1 might:1 could:1 can:1 possibly:1 perhaps:1 optional:1 optionally:1 should:2 recommended:2 must:4 required:4"
    " mandatory:4",
)
_ENTRIES = ((scale, entry.partition(":")) for scale, row in enumerate(_SCALES) for entry in row.split())
_LEVELS = {word: (scale, int(level)) for scale, (word, _, level) in _ENTRIES} | {"one of": (0, 1)}
_ONLY = frozenset("only solely exclusively sole".split())
_AMOUNTS = frozenset(map(stem, (*_LEVELS, *_ONLY)))
_WHOLE, _PART = 4, 1
_FREE = ("optional", "optionally")  # what is required is not optional either
_ABLE = ("can", "could")  # say what is possible or what somebody is able to do
# A source with one of these may say "only" in its own words.
_LIMITING = _ONLY | frozenset(
    "just alone single unique except unless but until one limited restricted purely entirely merely no not nothing"
    " first".split()
)
_NEXT = 4  # units to the word of which an amount is said


class _Amount(NamedTuple):
    """A word of a scale, with the content word after it (`of`)."""

    at: int
    word: str
    scale: int
    level: int
    of: str
    is_denied: bool


def changed_amount(claim: Sentence, sources: Sequence[Source]) -> str | None:
    """An amount above that of the most similar sentences (all for some, must for may); None if one agrees."""
    bare = claim.content - {key for key, word in zip(claim.keys, _lower(claim), strict=True) if word in _LEVELS}
    near: list[tuple[float, str | None]] = []
    for source in sources if len(bare) >= LEAST_CONTENT else ():
        title = source.title.where.keys()
        for sentence in source.text.sentences:
            shared = bare & sentence.units
            share = (len(shared) + len((bare - shared) & title)) / len(bare)
            if share >= NEAR_COPY and len(shared) >= LEAST_CONTENT:
                near.append((share, _says_more(claim, sentence, title)))
    return common_reason(near)


def _says_more(claim: Sentence, source: Sentence, title: AbstractSet[str]) -> str | None:
    if bool(claim.denials) != bool(source.denials):
        return None
    ours, theirs = list(_amounts(claim)), list(_amounts(source))
    pairs = [(a, b) for a in ours for b in theirs if (a.scale, a.of, a.is_denied) == (b.scale, b.of, b.is_denied)]
    for a, b in pairs:
        more, less = (b, a) if a.is_denied or a.word in _FREE else (a, b)
        if more.level == _WHOLE > less.level or (more.level == _WHOLE - 1 and less.level == _PART):
            as_little = any(other.scale == a.scale and other.level <= b.level for other in ours)
            if more is b or not as_little:
                return f"the source says {b.word!r} of this, the claim says {a.word!r}"
    is_short = max(len(claim.keys), len(source.keys)) <= LONGEST
    dropped = _dropped(compare(claim, source, title), ours, theirs) if is_short and (ours or theirs) else None
    return _only(claim, source) or _exchanged_by_than(claim, source) or dropped


def _lower(sentence: Sentence) -> list[str]:
    return [word.lower() for word in sentence.shown]


def _amounts(sentence: Sentence) -> Iterator[_Amount]:
    lower = _lower(sentence)
    for at, word in enumerate(lower):
        phrase = "one of" if lower[at : at + 2] == ["one", "of"] else word
        if phrase in _LEVELS and (at not in sentence.facts or phrase != word):
            of = next((key for key in sentence.keys[at + 1 : at + 1 + _NEXT] if key in sentence.content - _AMOUNTS), "")
            denied = any(0 < at - no <= 2 or of in reach for no, reach in sentence.denials.items() if no < at)
            yield _Amount(at, phrase, *_LEVELS[phrase], of, denied)


def _only(claim: Sentence, source: Sentence) -> str | None:
    at = next((at for at, word in enumerate(_lower(claim)) if word in _ONLY), len(claim.keys))
    is_figure = claim.keys[at + 1 : at + 2] and claim.keys[at + 1].startswith("#")
    if at == len(claim.keys) or is_figure or not _LIMITING.isdisjoint(_lower(source)):
        return None
    return f"the claim says {claim.shown[at]!r}, the source does not"


def _exchanged_by_than(claim: Sentence, source: Sentence) -> str | None:
    """Exchanged sides of the same comparison."""
    ours, theirs = _than(claim), _than(source)
    if ours is None or theirs is None or ours.word != theirs.word or ours.second == theirs.second:
        return None
    if ours.second in theirs.first and theirs.second in ours.first:
        return f"the source has the two sides of '{ours.word} than' the other way round"
    return None


class _Than(NamedTuple):
    first: frozenset[str]
    word: str
    second: str


def _than(sentence: Sentence) -> _Than | None:
    keys = sentence.keys
    at = keys.index("than") if "than" in keys else 0
    second = next((key for key in keys[at + 1 : at + _NEAR] if key in sentence.content), None)
    first = _content(keys[max(0, at - _REACH) : at - 1]) if at > 1 else frozenset()
    return _Than(first, sentence.shown[at - 1].lower(), second) if first and second else None


def _dropped(beside: Comparison, ours: Sequence[_Amount], theirs: Sequence[_Amount]) -> str | None:
    """A near copy that drops "some" or "may", or adds "all" or "must"."""
    claim, source = beside.claim, beside.source
    scales, all_theirs = {amount.scale for amount in ours}, {amount.scale for amount in theirs}
    for block in beside.blocks if beside.share >= NEAR_COPY else ():
        mine, other = range(block.a_start, block.a_end), range(block.b_start, block.b_end)
        for amount in theirs if max(len(mine), len(other) - 1) <= 1 else ():
            is_part = amount.level == _PART and amount.word not in _ABLE and amount.scale not in scales
            if is_part and amount.at in other and not amount.is_denied and amount.of in claim.terms:
                return f"the source says {amount.word!r} of this, the claim does not"
        for amount in ours if max(len(mine) - 1, len(other)) <= 1 else ():
            is_whole = amount.level == _WHOLE and amount.scale not in all_theirs
            if is_whole and amount.at in mine and not amount.is_denied and amount.of in source.terms:
                return f"the claim says {amount.word!r}, the source does not"
    return None
