"""Changes against a source that the gate does not see: a kind of thing, two sides, a name, an amount.

Rules of this file
* A changed word replaces its antonym or another of its kind, and is nowhere in the premises.
* Two sides of a verb are exchanged only if each stands whole on the other side, in the same voice.
* Amounts are compared only if they stand with the same word. Under a denial the weaker word claims more.
* One sentence that agrees with the claim prevents the objection.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import lru_cache
from importlib import resources
from itertools import combinations
from typing import NamedTuple

from toulmin.judges.absence import has_term
from toulmin.judges.comparison import LEAST_CONTENT, NEAR_COPY, Comparison, compare
from toulmin.judges.coverage import PREFIX, Reading, Sentence, Source, bits, figure_key, implications
from toulmin.judges.gate import JOINS_EQUALS, LONGEST, common_reason, near_copies
from toulmin.text.language import STOPWORDS, stem, terms
from toulmin.text.names import Fact


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


# ---------------------------------------------------------------- whom it is said of, and with which value

# A name or figure is the wrong one where another of the sources has far more of the claim's words near it.

_WINDOW = 10  # words on each side
_FADED = [math.exp((1 - distance) / 2) for distance in range(_WINDOW + 1)]  # how near a word counts, by its distance
_TURNED = 0.4  # what a neighbour on the other side counts
_PLAIN = 0.02  # what a function word counts, where another word counts 1
_CROSSED, _AHEAD = 0.6, 0.4  # how like the claim exchanged names are (at most 2), and how much liker than its own way
_LIKEST = 5  # sentences with the claim's name, and without it, that have most of its other words
_PRONOUNS = frozenset("he she it they his her its their".split())
_ALIAS = r"[\"”’']? ?[(/] ?[\"“‘']?"
# Of `rivals`' measures, for figures and for names (`training/fit_bindings.py`). All levels together keep 1.1 % of true
# natural claims from support (train splits).
_WEIGHTS = ((5.49, -3.92, 1.25, 0.19, -1.76, 0.3, 0.28), (6.35, -4.58, 1.29, -0.58, -0.86, 0.7, 0.47))
_LEAST = (4.99, 7.25)

Units = list[dict[str, float]]
Context = dict[tuple[bool, str], float]


class Mention(NamedTuple):
    at: int
    shown: str
    fact: Fact
    families: AbstractSet[str]
    others: Mapping[str, float]
    weights: Mapping[str, float]
    near: Context

    @property
    def is_name(self) -> bool:
        return self.fact.kind == "name"

    def where(self, text: Reading) -> int:
        return _where(self.families, text) | (0 if self.is_name else text.where.get(figure_key(self.fact.value), 0))


def exchanged_names(claim: Sentence, sources: Sequence[Source]) -> str | None:
    """Two names or figures that every sentence with both exchanges."""
    for a, b in combinations(mentions(claim), 2):
        if a.is_name == b.is_name and a.families.isdisjoint(b.families) and not _are_listed(claim, a.at, b.at):
            is_turned = _is_by_between(claim, a.at, b.at)
            ways = [way for source in sources for way in _ways_of(a, b, source.text, is_turned)]
            straight, crossed = (max(side) for side in zip(*ways, strict=True)) if ways else (0.0, 0.0)
            if crossed > _CROSSED and crossed - straight > _AHEAD:
                return f"the source has {a.shown} and {b.shown} the other way round"
    return None


def _are_listed(claim: Sentence, first: int, last: int) -> bool:
    return all(at in claim.facts or claim.keys[at] in JOINS_EQUALS for at in range(first + 1, last))


def _is_by_between(sentence: Sentence, first: int, second: int) -> bool:
    return "by" in sentence.keys[min(first, second) + 1 : max(first, second)]


def _ways_of(a: Mention, b: Mention, text: Reading, is_turned: bool) -> Iterator[tuple[float, float]]:
    # Of sentences in the claim's voice alone: in the other voice both stand on other sides.
    hidden = a.families | b.families
    for n in bits(a.where(text) & b.where(text)):
        units = _units(text.sentences[n])
        spots = [_places(mention.families, units) for mention in (a, b)]
        places = [[_near(units, at) for at in each] for each in spots]
        if all(spots) and _is_by_between(text.sentences[n], spots[0][0], spots[1][0]) == is_turned:
            like = [[max(_likeness(mention, near, hidden) for near in side) for side in places] for mention in (a, b)]
            yield like[0][0] + like[1][1], like[0][1] + like[1][0]


def another_bearer(claim: Sentence, sources: Sequence[Source]) -> str | None:
    """Another name or figure to which the sources attach the claim's words."""
    for mention in mentions(claim):
        weights, level = _WEIGHTS[mention.is_name], _LEAST[mention.is_name]
        scored = [(sum(map(float.__mul__, weights, measures)), shown) for measures, shown in rivals(mention, sources)]
        likely = (shown for score, shown in sorted(scored, reverse=True) if score > level)
        rival = next((shown for shown in likely if not _is_alias(mention, shown, sources)), None)
        if rival is not None:
            return f"the source says this of {rival}, not of {mention.shown}"
    return None


def mentions(claim: Sentence) -> Iterator[Mention]:
    units = _units(claim)
    weights = {family: weight for unit in units for family, weight in unit.items()}
    for at, fact in claim.facts.items():
        mine = units[at].keys()
        others = {family: weight for family, weight in weights.items() if family not in mine and weight > _PLAIN}
        if mine and others:
            yield Mention(at, claim.shown[at], fact, mine, others, weights, _near(units, at))


class _Rival(NamedTuple):
    likeness: float
    share: float
    beside: bool
    families: AbstractSet[str]
    shown: str


def rivals(mention: Mention, sources: Sequence[Source]) -> Iterator[tuple[tuple[float, ...], str]]:
    # Of each name or figure that may be meant, with how it is written.
    if not any(mention.where(reading) for source in sources for reading in source):
        return
    candidates: list[_Rival] = []
    like = share = 0.0
    for part, source, n, is_here, is_bound in _likest(mention, sources):
        sentence = source.text.sentences[n]
        units = _units(sentence)
        share = max(share, part * is_bound)
        for at, key in enumerate(sentence.keys):
            fact, shown = sentence.facts.get(at), sentence.shown[at]
            families: AbstractSet[str] = units[at].keys()
            if key in _PRONOUNS and at == 0 and mention.is_name and not is_bound and source.title.sentences:
                fact, shown = mention.fact, source.title.text
                families = {term[:PREFIX] for term in source.title.where}
            if not mention.families.isdisjoint(families) or (is_bound and key in _PRONOUNS) or _agrees(mention, fact):
                like = max(like, _likeness(mention, _near(units, at), mention.families))
            elif fact is not None and fact.kind == mention.fact.kind:
                likeness = _likeness(mention, _near(units, at), mention.families | families)
                candidates.append(_Rival(likeness, part, is_here, families, shown))
    size, shape = math.log(len(mention.others)), _shape(mention.shown)
    for rival in candidates:
        known, alike = not mention.others.keys().isdisjoint(rival.families), _shape(rival.shown) == shape
        marks = map(float, (rival.beside, known, alike))
        yield (rival.likeness, like, rival.share - share, *marks, size), rival.shown


def _likest(mention: Mention, sources: Sequence[Source]) -> Iterator[tuple[float, Source, int, bool, bool]]:
    # Share of the claim's words, place, whether the mention is in the sentence, whether it may be meant.
    total, rows = sum(mention.others.values()), []
    for source in sources:
        here, title = mention.where(source.text), mention.is_name and bool(mention.where(source.title))
        titled = {family for family in mention.others if _where({family}, source.title)}
        base, shares = sum(mention.others[family] for family in titled), dict[int, float]()
        for family in mention.others.keys() - titled:
            for n in bits(_where({family}, source.text)):
                shares[n] = shares.get(n, 0.0) + mention.others[family]
        for n, weight in sorted(shares.items()):
            follows = mention.is_name and (here << 1 | here << 2) >> n & 1
            is_here = bool(here >> n & 1)
            refers = title or (follows and not _PRONOUNS.isdisjoint(source.text.sentences[n].keys))
            rows.append(((base + weight) / total, source, n, is_here, bool(is_here or refers)))
    rows.sort(key=lambda row: -row[0])
    for bound in (True, False):
        yield from [row for row in rows if row[4] is bound][:_LIKEST]


def _agrees(mention: Mention, fact: Fact | None) -> bool:
    if fact is None or mention.is_name or fact.kind == "name":
        return False
    return fact.value in implications(mention.fact.value) or mention.fact.value in implications(fact.value)


def _is_alias(mention: Mention, shown: str, sources: Sequence[Source]) -> bool:
    # Another spelling, or beside it in brackets.
    names = [mention.shown, shown]
    short, long = sorted((re.sub(r"\W", "", name).lower() for name in names), key=len)
    pairs = (_ALIAS.join(map(re.escape, order)) for order in (names, names[::-1]))
    pattern = re.compile("|".join(pairs))
    return mention.is_name and (short in long or any(pattern.search(source.text.text) for source in sources))


def _shape(shown: str) -> tuple[int, bool, bool]:
    return min(3, len(shown.split())), shown.isupper(), any(map(str.isdigit, shown))


def _units(sentence: Sentence) -> Units:
    shown = enumerate(zip(sentence.keys, sentence.shown, strict=True))
    return [_weigh(key, words, sentence.facts.get(at)) for at, (key, words) in shown]


def _weigh(key: str, shown: str, fact: Fact | None) -> dict[str, float]:
    words = (key,) if fact is None or fact.kind != "name" else [t for t in terms(shown) if t not in STOPWORDS]
    return {word[:PREFIX]: _PLAIN if word in STOPWORDS else 1.0 for word in words}


def _near(units: Units, at: int) -> Context:
    context: Context = {}
    for n in range(max(0, at - _WINDOW), min(len(units), at + _WINDOW + 1)):
        for family in units[n] if n != at else ():
            side = (n > at, family)
            context[side] = max(context.get(side, 0.0), _FADED[abs(n - at)])
    return context


def _likeness(mention: Mention, theirs: Context, hidden: AbstractSet[str]) -> float:
    total = shared = 0.0
    for (side, family), near in mention.near.items():
        if family not in hidden:
            weight = mention.weights[family]
            as_near = max(theirs.get((side, family), 0.0), _TURNED * theirs.get((not side, family), 0.0))
            total, shared = total + weight * near, shared + weight * min(near, as_near)
    return shared / (total or 1.0)


def _places(families: AbstractSet[str], units: Units) -> list[int]:
    return [at for at, unit in enumerate(units) if not families.isdisjoint(unit)]


def _where(families: AbstractSet[str], text: Reading) -> int:
    places = 0
    for family in families:
        places |= text.prefixes.get(family, 0) | text.where.get(family, 0)
    return places


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
