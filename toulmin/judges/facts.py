"""Facts of a claim and of its premises: whether they agree, and which the premises do not have.

* Another spelling is the same name: glued, hyphenated, dotted, a doctrine's adjective, thousands set apart.
* Capitals show no name where a phrase begins. In a sentence of capitals each rare word counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence, Set
from functools import lru_cache
from typing import NamedTuple

from toulmin.judges.coverage import COUNTS, Reading, Sentence, Source, figure_key, implications, read
from toulmin.text.language import STOPWORDS, fold, is_listed, stem, table_rows, terms
from toulmin.text.names import Fact, is_common
from toulmin.text.overlap import Block, differences

# ---------------------------------------------------------------- sentences side by side


_ROWS = map(str.split, table_rows("aliases.txt"))
_GROUPS = [frozenset(" ".join(map(stem, entry.split("_"))) for entry in row) for row in _ROWS]
ALIASES = {term: group for group in _GROUPS for term in group}
_TITLES, _ALSO_NAMES = (frozenset(map(stem, row.split())) for row in table_rows("titles.txt"))
NEAR_COPY = 0.75  # the least share of a claim's units that must align for a comparison
LEAST_CONTENT = 2  # content units that must align: "She is a ..." resembles too many sentences


class Comparison(NamedTuple):
    """Two aligned sentences.

    `share`: the claim's units that stand in order or in the title, and moved facts. `content`: the number of content
    units in the source's sentence.
    """

    claim: Sentence
    source: Sentence
    blocks: tuple[Block, ...]
    title: Set[str]
    share: float
    content: int


def letters_of(words: Sequence[str]) -> str:
    return "".join(word[0] for word in words if word not in STOPWORDS)


@lru_cache(maxsize=20_000)
def _telling(name: str) -> frozenset[str]:
    return frozenset(stem(word) for word in name.split() if word not in STOPWORDS) or frozenset((name,))


def may_be_same(claim: str, source: str, title: Set[str] = frozenset()) -> bool:
    """Whether two names, as in `Fact.value`, may mean the same.

    One may be longer, a short form ("UK", "Tim") or in `title` ("President Obama" under *Barack Obama*).
    """
    ours, theirs = _telling(claim), _telling(source)
    if ours <= theirs or theirs <= ours or _is_short(claim, source) or _is_short(source, claim):
        return True
    if not ours & theirs:
        return ours <= title and theirs <= title
    return ours - theirs <= title


def _is_short(short: str, long: str) -> bool:
    group = ALIASES.get(stem(short), frozenset())
    if not group.isdisjoint({*_telling(long), " ".join(map(stem, long.split()))}):
        return True
    spellings = (letters_of(long.split()), long.replace("-", ""))
    return " " not in short and len(short) > 1 and short.replace("-", "") in spellings


def compare(claim: Sentence, source: Sentence, title: Set[str]) -> Comparison:
    blocks = differences(claim.keys, source.keys)
    differing = [at for block in blocks for at in range(block.a_start, block.a_end)]
    loose = sum(not _stands_elsewhere(claim, at, source, title) for at in differing)
    lost = {claim.keys[at] for at in differing}
    return Comparison(claim, source, blocks, title, 1 - loose / max(1, len(claim.keys)), len(claim.content - lost))


def _stands_elsewhere(claim: Sentence, at: int, source: Sentence, title: Set[str]) -> bool:
    known = claim.facts.get(at)
    return claim.keys[at] in title or (known is not None and (claim.keys[at] in source.units or says(source, known)))


def agree(claim: Fact, source: Fact, title: Set[str] = frozenset()) -> bool:
    """Whether the source's fact implies the claim's: a finer date, another form of a name."""
    if claim.kind == "name" or source.kind == "name":
        return claim.kind == source.kind and may_be_same(claim.value, source.value, title)
    return claim.value in implications(source.value)


def figure_at(sentence: Sentence, at: int) -> Fact | None:
    """The fact at a unit; "one" and "first" count."""
    known = sentence.facts.get(at)
    if known is None and sentence.keys[at] in COUNTS:
        return Fact("number", COUNTS[sentence.keys[at]][1:], 0, 0)
    return known


def facts_in(sentence: Sentence, start: int, end: int) -> Iterator[tuple[str, Fact]]:
    return ((sentence.shown[at], fact) for at in range(start, end) if (fact := figure_at(sentence, at)))


def says(sentence: Sentence, fact: Fact) -> bool:
    return any(agree(fact, known) for _, known in facts_in(sentence, 0, len(sentence.keys)))


# ---------------------------------------------------------------- facts that no source has

ROOT = 4  # least number of letters that the names of a people and its country share
# Endings of stems: "Canadian" and "Canada", "Italian" and "Italy", "Japanese" and "Japan".
_OF_PEOPLES = ("n", "an", "ian", "ean", "es", "ish", "i", "ic")
_OF_PLACES = ("", "a", "o", "i", "e", "ia")
_SHORT_FORM = re.compile(r"(?:[A-Z]\.?){2,6}(?:['’]?s)?")
_HONORIFICS = frozenset("mr mrs ms dr sir dame jr sr prof rev st".split())


def has_term(term: str, readings: Sequence[Reading]) -> bool:
    """Whether a source contains the term, a derived one ("Italian" of "Italy") or an alias."""
    like = {term, *_peoples_and_places(term)}
    return any(not like.isdisjoint(reading.where) or _has_alias(term, reading) for reading in readings)


def _has_alias(term: str, reading: Reading) -> bool:
    return any(other in reading.where or other in reading.pairs for other in ALIASES.get(term, ()))


@lru_cache(maxsize=20_000)
def _peoples_and_places(term: str) -> frozenset[str]:
    return frozenset(
        term[: len(term) - len(ending)] + other
        for endings, others in ((_OF_PEOPLES, _OF_PLACES), (_OF_PLACES, _OF_PEOPLES))
        for ending in endings
        if term.endswith(ending) and len(term) - len(ending) >= ROOT
        for other in others
    )


def _spells(letters: str, reading: Reading) -> bool:
    named = any(letters_of(fact.value.split()) == letters for fact in reading.facts if fact.kind == "name")
    if named or len(letters) < 3:
        return named
    return any(letters in letters_of(sentence.terms) for sentence in reading.sentences)


def is_short_form(fact: Fact, shown: str, readings: Sequence[Reading]) -> bool:
    short = re.sub(r"\.|(?<=[A-Z])['’]?s$", "", shown)
    if short.isupper() and 2 <= len(short) <= 6:
        return any(_spells(short.lower(), reading) for reading in readings)
    initials = letters_of(fact.value.split())
    names = (known.value for reading in readings for known in reading.facts if known.kind == "name")
    return len(initials) >= 2 and any(name.rsplit(" ", 1)[-1] == initials for name in names)


def _holds_name(fact: Fact, shown: str, readings: Sequence[Reading]) -> bool:
    content, phrase = telling_terms(shown), " ".join(terms(shown))
    telling = [term for term in content if not is_common(term)] or content
    absent = [term for term in telling if not has_term(term, readings)]
    is_held = all(term.isdecimal() and any(figure_key(term) in r.where for r in readings) for term in absent)
    return is_held or is_short_form(fact, shown, readings) or any(_has_alias(phrase, r) for r in readings)


class Absence(NamedTuple):
    """Facts that no source contains, as the claim writes them.

    `doubtful` may be no names: they open a sentence, or are acronyms, common words, or of a script without case.
    """

    sure: tuple[str, ...]
    doubtful: tuple[str, ...]


def _missing(claim: Reading, sources: Sequence[Reading]) -> Absence:
    """In the claim's order."""
    by_doubt: dict[bool, list[str]] = {True: [], False: []}
    for fact in claim.facts:
        shown = claim.text[fact.start : fact.end]
        if not _is_held(fact, shown, sources):
            by_doubt[_is_doubtful(fact, claim)].append(shown)
    return Absence(tuple(by_doubt[False]), (*by_doubt[True], *_absent_caseless(claim, sources)))


def _absent_caseless(claim: Reading, sources: Sequence[Reading]) -> list[str]:
    if claim.text.isascii():
        return []
    keys = dict.fromkeys(key for sentence in claim.sentences for key in sentence.keys if key[0].isalpha())
    caseless = (key for key in keys if key[0].lower() == key[0].upper())
    return [key for key in caseless if not any(key in source.where for source in sources)]


def _is_doubtful(fact: Fact, claim: Reading) -> bool:
    if fact.kind != "name" or any(c.isdigit() for c in fact.value):
        return False
    shown = claim.text[fact.start : fact.end]
    opens = " " not in fact.value and any(sentence.start == fact.start for sentence in claim.sentences)
    return opens or _SHORT_FORM.fullmatch(shown) is not None or all(map(is_common, telling_terms(shown)))


def telling_terms(shown: str) -> list[str]:
    return [term for term in terms(shown) if term not in STOPWORDS and term not in _HONORIFICS]


def _is_held(fact: Fact, shown: str, sources: Sequence[Reading]) -> bool:
    if fact.kind == "name":
        return _holds_name(fact, shown, sources)
    key = figure_key(fact.value)
    return any(key in source.where for source in sources) or _is_pieced_together(fact, sources)


def _is_pieced_together(fact: Fact, sources: Sequence[Reading]) -> bool:
    """Whether the sources have the day and the year of a date apart."""
    year, _, rest = fact.value.partition("-")
    if fact.kind != "date" or not rest or not year:
        return False
    bare = any(known.value == f"--{rest}" for source in sources for known in source.facts)
    return bare and any(figure_key(year) in source.where for source in sources)


# ---------------------------------------------------------------- in other spellings


_NEGATIVE = re.compile(r"[-−–][$£€]?\d")
_SET_APART = re.compile(r"(?<=\d) (,) (?=\d{3}\b)|(?<=\d0) (['’]) (?=s\b)")
_LISTED = re.compile(r"^\s*\(?\d{1,2}[.)]\s+(?=\S)")
_LOWER_PART = re.compile(r"[-‐‑][a-z]\w*$")


def absence(claim: Reading, sources: Sequence[Source]) -> Absence:
    """Facts that no source contains in any spelling."""
    readings = [reading for source in sources for reading in source if reading.sentences]
    plain = _SET_APART.sub(lambda sign: sign[1] or sign[2], _LISTED.sub("", claim.text))
    claim = claim if plain == claim.text else read(plain)
    absent = _missing(claim, readings)
    sure = [shown for shown in absent.sure if not _is_spelt(shown, readings)]
    doubtful = [shown for shown in absent.doubtful if not _is_spelt(shown, readings)]
    texts = [reading.text for reading in readings]
    return Absence((*sure, *_absent_shapes(claim.text, texts)), (*doubtful, *_unmarked_names(claim, readings)))


# ---------------------------------------------------------------- spellings


def _is_spelt(shown: str, readings: Sequence[Reading]) -> bool:
    if _NEGATIVE.match(shown):
        return False
    words = terms(_LOWER_PART.sub("", shown))
    letters = "".join(words)
    aliases = ALIASES.get(letters, ALIASES.get(" ".join(words), frozenset()))
    if any(name in reading.where or name in reading.pairs for name in aliases for reading in readings):
        return True
    plain = [word for word in words if word not in _TITLES]
    spelt = [word for word in plain if not is_common(word)] or plain or words
    is_phrase = any(_plain(shown) in _plain(reading.text) for reading in readings)
    return is_phrase or all(has_term(word, readings) for word in spelt) or _is_glued(letters, readings)


def _is_glued(letters: str, readings: Sequence[Reading]) -> bool:
    # "NIH 3T3" and "NIH3T3"
    glued = (letters == pair.replace(" ", "") for reading in readings for pair in (*reading.where, *reading.pairs))
    return len(letters) > 2 and any(glued)


# ---------------------------------------------------------------- what manuals name

SHAPED = re.compile(  # options; paths; versions of three numbers; os.path, but not "the end.The keeper"; snake_case
    r"(?<![\w/.~)$<>-])(?:--?[A-Za-z][\w-]*|(?:~|\$\w+)?(?:/(?!/)[\w.+@-]+)+|\d+(?:\.\d+){2,}(?!\w)"
    r"|(?![a-z]+\.[A-Z][a-z]+\b(?!\())(?:[^\W\d]\w++\.)+[^\W\d]\w+|(?=[\d_]*[^\W\d_])_*[^\W_]++_+\w+)"
)
_OPTION = re.compile(r"(?<!\w)[-‐‑–—−]{1,2}(?:\[?no-?\]?-?)?([^\W\d_][\w-]*)")
_NUMBERED = re.compile(
    r"\b(?!Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)([A-Z][a-zA-Z]+) (?:version |release |v)?"
    r"(\d{1,3}(?:\.\d+)*)(?![\w%]|[.,:-]\d)"
)


@lru_cache(maxsize=2_048)
def _plain(text: str) -> str:
    return re.sub(r"[\W_]+", " ", f" {fold(text)} ")


@lru_cache(maxsize=2_048)
def _options(text: str) -> frozenset[str]:
    names = (name for each in _OPTION.findall(text) for name in (each, each.rstrip("0123456789")))  # "-j4"
    return frozenset(name if len(name) == 1 else name.lower() for name in names)


def _absent_shapes(claim: str, texts: Sequence[str]) -> Iterator[str]:
    for shown in (match[0].rstrip(".") for match in SHAPED.finditer(claim)):
        is_word = len(shown) > 2 and (shown[1:] in STOPWORDS or (shown[0] == "-" and is_common(shown[1:])))  # "and /or"
        if not is_word and not _stands(shown, texts):
            yield shown
    for name, number in dict.fromkeys(_NUMBERED.findall(claim)):  # the sources have the name with another number only
        near = rf"(?:[\W\d]|and|or|to|versions?|releases?|v){{0,20}}(?<![\d.]){re.escape(number)}(?!\d)"
        others = re.findall(rf"\b{name}\b(?:{near}|(\W{{1,3}}(?:v|version |release )?\d))", "\n".join(texts), re.I)
        if others and all(others) and not is_common(name):
            yield f"{name} {number}"


def _stands(shown: str, texts: Sequence[str]) -> bool:
    if shown[0] == "-":
        known = frozenset[str]().union(*map(_options, texts))
        is_joined = shown[1] != "-" and len(shown) < 6 and known.issuperset(shown[1:])  # "-la"
        return is_joined or not known.isdisjoint(_options(shown))
    if shown[0].isdecimal():  # "2.0.0" is not version 2.0
        return any(re.search(rf"(?<![\d.]){re.escape(shown)}(?!\d|\.\d)", text) for text in texts)
    folder, _, file = shown.rpartition("/")
    if "/" in shown and not folder.strip("~$"):  # "/proc" is the file system "proc", but no home is "/home"
        is_word = shown[0] == "/" and not is_listed(file)
        return any(shown.lower() in text.lower() or (is_word and f" {file} " in _plain(text)) for text in texts)
    if shown[0] == "/" and not any(re.search(rf"(?<![\w.~+-]){re.escape(folder)}(?![\w-])", text) for text in texts):
        return False  # "/etc/tool.conf" is not in "/usr/etc"
    parts = (folder, file) if folder else shown.split(".") if "." in shown else (shown.replace("_", ""),)
    plain = [*map(_plain, texts)]
    return any(_plain(shown) in words for words in plain) or all(
        any(_plain(part) in words for words in plain) for part in parts
    )


# ---------------------------------------------------------------- names that are not marked as such


_OF_ONE = frozenset("was is has had does did became".split())


def _unmarked_names(claim: Reading, readings: Sequence[Reading]) -> Iterator[str]:
    """Rare words of a sentence in capitals, and what may be a name at the beginning of a sentence."""
    for sentence in claim.sentences:
        capitals = claim.text[sentence.start : sentence.end].isupper()
        for at, (key, shown) in enumerate(zip(sentence.keys, sentence.shown, strict=True)):
            is_word = at not in sentence.facts
            is_rare = capitals and is_word and len(key) > 1 and not is_common(shown)
            is_first = at == 0 and shown[0].isupper() and (key in _ALSO_NAMES or (is_word and _acts(sentence)))
            if (is_rare or is_first) and key not in STOPWORDS and not has_term(key, readings):
                yield shown


def _acts(sentence: Sentence) -> bool:
    # As after a surname: "Young competed".
    verb = sentence.shown[1].lower() if len(sentence.shown) > 1 else ""
    return verb in _OF_ONE or (verb.endswith("ed") and len(verb) > 4)
