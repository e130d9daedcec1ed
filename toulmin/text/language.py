"""Sentences, words, terms and their rarity, for passages, claims and queries alike.

* `sentences` handles any script, keeps citation marks with the sentence before them, and knows usual abbreviations of
  English, and some of German and French.
* `terms` are for overlap measures: lower case, accents folded, English stems; unspaced scripts become character pairs.
  `search_terms` are for the index: irregular forms become their base form, so that "founded" is not "found". Change
  `TERMS_VERSION`, stored with an index, whenever a result changes.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Hashable, Iterable, Iterator
from functools import lru_cache
from importlib import resources
from itertools import islice
from typing import NamedTuple, TypeVar

import Stemmer

T = TypeVar("T")
TERMS_VERSION = 2
WORDS_KEPT = 1 << 14  # entries of each cache of words: the commonest words make up nearly all text


class Span(NamedTuple):
    """A half-open range of code points."""

    start: int
    end: int


def table_rows(name: str, package: str = "toulmin.text") -> list[str]:
    """Without comments."""
    table = resources.files(package).joinpath(name).read_text("utf-8")
    return [line for line in table.splitlines() if not line.startswith("#")]


def first_of_each(items: Iterable[T], key: Callable[[T], Hashable]) -> list[T]:
    """Of items with equal keys only the first."""
    first: dict[Hashable, T] = {}
    for item in items:
        first.setdefault(key(item), item)
    return list(first.values())


def chunks(items: Iterable[T], size: int) -> Iterator[list[T]]:
    left = iter(items)
    while part := list(islice(left, size)):
        yield part


# ---------------------------------------------------------------- sentences

_CLOSERS = r"[\"'”’»›)\]}」』】*_]*"  # the last two close Markdown's bold and italic type
_CITATION = r"(?:\s?[\[【]\d[\d,;\s–-]*[\]】])*"
_BREAK = re.compile(
    rf"(?P<stop>[.!?…]+){_CLOSERS}{_CITATION}(?=\s|$)"
    rf"|(?P<wide>[。！？｡؟۔।॥။།።]+){_CLOSERS}{_CITATION}"
    r"|(?P<para>\n[^\S\n]*(?=\n|[-*•·#|>]\s|\d{1,3}[.)]\s|[-=*_~]{4,}[^\S\n]*(?:\n|$))|(?<=[-=*_~]{4})\n)"
)
_STARTS_SENTENCE = re.compile(r"\s+[\"'“‘«‹(\[{「『¿¡*_]*(?P<head>\S)")
_LAST_WORD = re.compile(r"[^\s(\[\"'“‘«*_]+$")
_SECTION_NUMBER = re.compile(r"\d{1,2}(?:\.\d{1,3})*")
_SINGLE_LETTER = re.compile(r"[ \u00a0\u202f]?[^\W\d_]\.")  # as in "z. B."
_NEXT_WORD = re.compile(r"\s+[\"'“‘«(]*(\w+)")
_NEVER_ENDS = frozenset(
    "mr mrs ms dr prof st messrs mme mlle hon rev fr gen col lt sgt capt cmdr adm maj gov sen rep pres supt"
    " vs v cf viz e.g i.e eg ie fig figs eq eqs sec ch vol vols pp nos ed eds trans approx ca c b d r"
    " jan feb mar apr jun jul aug sep sept oct nov dec mt ft"
    " resp incl excl orig chap conf proc temp spec misc cont conj suppl assoc comput encycl"
    " z.b d.h u.a bzw vgl nr evtl inkl hrsg jh bspw ggf sog p.ex".split()
)
_SOMETIMES_ENDS = frozenset(
    "inc ltd co corp bros jr sr esq etc al no p est dept univ u.s u.k u.n u.s.a d.c a.m p.m b.c a.d b.c.e c.e"
    " ph.d m.d b.a m.a ll.b".split()
)
_STARTERS = frozenset(
    "the a an it he she they we i you this that these those there in on at by for from with as after before when"
    " while although but and however his her its their our my if since during under over no one many some most"
    " such each both all what who where why how then later because until".split()
)
_AFTER_ORDINAL = frozenset(
    "januar februar märz april mai juni juli august september oktober november dezember jahrhundert".split()
)


# A row of a table, as loaders write it: "Country: Italy; Revenue: 3.4"; the first cell may have no head.
_HEAD = r"(?:[^;:\n]|:(?! )){1,60}"
_CELL = rf"{_HEAD}: [^;\n]+"
_ROW = re.compile(rf"(?m)^(?:{_CELL}(?:; {_CELL})+|(?!{_HEAD}: ){_HEAD}(?:; {_CELL})+)$")
_LONGEST_ROW = 600  # characters; a longer one is cut into sentences as other text is


def is_row(text: str) -> bool:
    """Whether a text is a row of a table, each cell after the head of its column."""
    return "; " in text and len(text) <= _LONGEST_ROW and _ROW.fullmatch(text) is not None


def _is_ambiguous_stop(text: str, start: int, end: int) -> bool:
    before = _LAST_WORD.search(text, max(0, start - 24), start)
    if before is None:
        return False
    word = before[0]
    lower = word.lower().rstrip(".")
    at_line_start = not text[max(0, start - 24) : before.start()].rsplit("\n", 1)[-1].strip(" *_\t?o-")  # or bullets
    if at_line_start and _SECTION_NUMBER.fullmatch(text, before.start(), start):
        return True
    if word.isdigit() and len(word) <= 2:  # a German ordinal: "am 3. Mai"
        follower = _NEXT_WORD.match(text, end)
        return follower is not None and follower[1].lower() in _AFTER_ORDINAL
    if (lower if len(word) > 1 else word) in _NEVER_ENDS or (len(word) == 1 and _SINGLE_LETTER.match(text, end)):
        return True
    is_initial = len(word) == 1 and word.isupper() and word != "I"
    if lower in _SOMETIMES_ENDS or is_initial or re.fullmatch(r"(?:[A-Za-z]\.)+[A-Za-z]", word):
        follower = _NEXT_WORD.match(text, end)
        return follower is None or follower[1].lower() not in _STARTERS or follower[1][0].islower()
    return False


def _ends_sentence(text: str, match: re.Match[str]) -> bool:
    if match["stop"] is None:
        return True
    follower = _STARTS_SENTENCE.match(text, match.end())
    if follower is None:
        return True
    is_brand = text[follower.end() : follower.end() + 1].isupper()  # "iPhone" may begin a sentence
    if follower["head"].islower() and not is_brand and "\n\n" not in text[match.end() : follower.end()]:
        return match["stop"] == "." and _ends_in_plain_word(text, match.start())
    return match["stop"] != "." or not _is_ambiguous_stop(text, match.start(), match.end())


def _ends_in_plain_word(text: str, end: int) -> bool:
    """Then even a word in lower case ("git") begins a sentence."""
    before = _LAST_WORD.search(text, max(0, end - 24), end)
    word = before[0] if before else ""
    is_plain = word.isalpha() and word.islower() and (len(word) >= 4 or (len(word) > 1 and word in STOPWORDS))
    return is_plain and word not in _NEVER_ENDS | _SOMETIMES_ENDS


def _boundaries(text: str) -> Iterator[int]:
    """The ends of sentences; a row of a table is one sentence."""
    rows = [match.span() for match in _ROW.finditer(text)] if "; " in text else []
    rows = [(start, end) for start, end in reversed(rows) if end - start <= _LONGEST_ROW]
    for match in _BREAK.finditer(text):
        while rows and rows[-1][1] <= match.end():
            rows.pop()
        if not (rows and rows[-1][0] < match.start()) and _ends_sentence(text, match):
            yield match.end()
    yield len(text)


def sentences(text: str) -> list[Span]:
    """In order, without the white space between them."""
    spans, start = [], 0
    for end in _boundaries(text):
        piece = text[start:end]
        if size := len(piece.strip()):
            first = start + len(piece) - len(piece.lstrip())
            spans.append(Span(first, first + size))
        start = end
    return spans


_QUOTED_QUESTION = re.compile(r"(?:[\dQ][\d.]*[.):]\s+)?[\"“«(][^\"”»]*\?[\"”»)]")


def is_question(sentence: str) -> bool:
    """Whether it asks, also in quotation marks after a number, as in a FAQ; not if a statement ends in a question."""
    bare = sentence.strip("*_ \n")
    return bare.endswith(("?", "？", "؟")) or _QUOTED_QUESTION.fullmatch(bare) is not None


def line_starts(text: str) -> list[int]:
    return [0, *(match.end() for match in re.finditer("\n", text))]


def sentence_texts(text: str) -> list[str]:
    return [text[start:end] for start, end in sentences(text)]


# ---------------------------------------------------------------- words and terms

# Combining marks are part of a word but not of `\w`.
_MARKS = (
    "\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1\u05c2\u0610-\u061a\u064b-\u065f\u0670"
    "\u0900-\u0963\u0971-\u0dff\u0e31-\u0e4e\u0eb1-\u0ecd\u0f71-\u0f84\u102b-\u103e\u17b4-\u17d3\u200c\u200d"
)
_WORD = re.compile(rf"\d+(?:[.,]\d+)*[\w{_MARKS}]*|\w[\w{_MARKS}]*(?:['’]\w+)*")
UNSPACED = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]+")
_stemmer = Stemmer.Stemmer("english", 0)

STOPWORDS = frozenset(
    "a an the and or but if then than so as of in on at by for from with to into onto upon about over under between"
    " through during before after above below is are was were be been being am do does did doing done have has had"
    " having will would shall should can could may might must it its he him his she her hers they them their theirs"
    " we us our ours you your yours i me my mine this that these those there here who whom whose which what when"
    " where why how not no nor only just also very too such own same each both all any some more most other s t".split()
)


def words(text: str) -> list[Span]:
    """Words and numbers; "1,234.5" and "don't" are one each, combining marks stay with their letter."""
    return [Span(*match.span()) for match in _WORD.finditer(text)]


def stem(word: str) -> str:
    """In lower case without accents and possessive; the English stem if that is ASCII."""
    folded = fold(word).replace("’", "'").removesuffix("'s")
    return _stemmer.stemWord(folded) if folded.isascii() else folded


def fold(text: str) -> str:
    """In lower case, without accents of Latin, Greek and Cyrillic letters."""
    lower = text.lower()
    if lower.isascii():
        return lower
    parts = unicodedata.normalize("NFKD", lower)
    return unicodedata.normalize("NFC", "".join(c for c in parts if not "\u0300" <= c <= "\u036f"))


@lru_cache(maxsize=WORDS_KEPT)
def _word_terms(word: str) -> tuple[str, ...]:
    if word.isascii() or not UNSPACED.search(word):
        return (stem(word),)
    pieces: list[str] = []
    for run in filter(None, re.split(rf"({UNSPACED.pattern})", word)):
        pairs = [run[i : i + 2] for i in range(max(1, len(run) - 1))]
        pieces += pairs if UNSPACED.fullmatch(run) else [stem(run)]
    return tuple(pieces)


def terms(text: str) -> list[str]:
    """For comparisons: in order, with repetitions and stop words."""
    return [term for word in _WORD.findall(text) for term in _word_terms(word)]


STOP_TERMS = STOPWORDS | frozenset(map(stem, STOPWORDS))


# Signs that ask and join in Chinese and Japanese: a pair with one, or of Japanese endings alone ("しま", "くら"), is no
# content, unless there is no other.
_JOINING_SIGNS = frozenset("的了吗呢吧谁哪几什么怎在是有这那多少嗎誰幾麼這のはがをにでとか")
_HIRAGANA = re.compile("[\u3041-\u309f]+")


def content_terms(text: str) -> frozenset[str]:
    content = frozenset(terms(text)) - STOP_TERMS
    return frozenset(t for t in content if _JOINING_SIGNS.isdisjoint(t) and not _HIRAGANA.fullmatch(t)) or content


def search_terms(text: str) -> list[str]:
    """For the index: in order, with repetitions and stop words."""
    return [term for word in _WORD.findall(text) for term in _word_search_terms(word)]


def search_term(word: str) -> str:
    return next(iter(_word_search_terms(word)), "")


@lru_cache(maxsize=WORDS_KEPT)
def _word_search_terms(word: str) -> tuple[str, ...]:
    lemma = _lemmas().get(word.lower())
    return (stem(lemma),) if lemma else _word_terms(word)


@lru_cache(maxsize=1)
def _lemmas() -> dict[str, str]:
    """Base forms by irregular form, without forms that are often another word (ground, left, bound)."""
    rows = (row.split(": ", 1) for row in table_rows("irregular.txt"))
    return {form: lemma for lemma, forms in rows for form in forms.split()}


# ---------------------------------------------------------------- other languages

# Words of English alone: where one word in eight is among them, no model is loaded, which takes half a second.
_ENGLISH = frozenset("the and to is are were what which who when where why how does did with that this".split())
_LEAST_SHARE, _SURE = 8, 0.6
_READ = 3_000  # characters


def guess_language(text: str) -> str | None:
    """None if unsure."""
    sample = text[:_READ]
    common = sum(word in _ENGLISH for word in re.findall(r"[a-z]+", sample[:1].lower() + sample[1:]))
    if common > 1 and common * _LEAST_SHARE >= len(sample.split()):
        return "English"
    language, chance = identify(sample)
    return language if chance >= _SURE else None


def identify(text: str) -> tuple[str, float]:
    """The likeliest language and its probability."""
    code, chance = _classifier()(text[:_READ])
    return languages()[code][0], chance


@lru_cache(maxsize=1)
def _classifier() -> Callable[[str], tuple[str, float]]:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    identifier = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    identifier.set_languages(languages())
    return identifier.classify  # type: ignore[no-any-return]


@lru_cache(maxsize=1)
def languages() -> dict[str, list[str]]:
    # By code: the English name, and words that open sentences and are no names.
    return {code: rest for code, *rest in map(str.split, table_rows("languages.txt"))}


# ---------------------------------------------------------------- rarity


@lru_cache(maxsize=1)
def _rarities() -> dict[str, float]:
    _, _, table = resources.files("toulmin.text").joinpath("rarity.tsv").read_text("utf-8").partition("\n")
    cells = table.split()
    return dict(zip(cells[::2], map(float, cells[1::2]), strict=True))


def common_terms() -> list[str]:
    """Terms of known rarity, in an order that is part of the index's format (`FORMAT` in `indexing.catalogue`)."""
    return list(_rarities())


def is_listed(term: str) -> bool:
    """Whether it is a known term of English."""
    return term in _rarities()


def rarity(term: str) -> float:
    """ln(N/df) over encyclopaedia passages: 0 (in all) to about 9.5 (in none)."""
    return _rarities().get(term, 9.5)
