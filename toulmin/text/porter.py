"""Porter's stemmer, as ROUGE uses it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

_IRREGULAR = {
    **{word: word for word in "sky news howe inning outing canning proceed exceed succeed".split()},
    "skies": "sky",
    "dying": "die",
    "lying": "lie",
    "tying": "tie",
    **{f"{word}s": word for word in "inning outing canning".split()},
}


def _rules(text: str) -> dict[str, str]:
    pairs = (rule.split(":") for rule in text.split())
    return dict(sorted(((ending, new) for ending, new in pairs), key=lambda rule: -len(rule[0])))


_STEP_2 = _rules(
    "ational:ate tional:tion enci:ence anci:ance izer:ize bli:ble entli:ent eli:e ousli:ous ization:ize ation:ate"
    " ator:ate alism:al iveness:ive fulness:ful ousness:ous aliti:al iviti:ive biliti:ble fulli:ful"
)
_STEP_3 = _rules("icate:ic ative: alize:al iciti:ic ical:ic ful: ness:")
_STEP_4 = _rules(
    "al: ance: ence: er: ic: able: ible: ant: ement: ment: ent: ou: ism: ate: iti: ous: ive: ize:"  # and -sion, -tion
)


@lru_cache(maxsize=100_000)
def porter_stem(word: str) -> str:
    """The stem of a lower-case word of Latin letters and digits, equal to NLTK's; searching uses `language.stem`.

    M. F. Porter, "An algorithm for suffix stripping", Program 14(3), 1980, whose steps are numbered here, with NLTK's
    extensions, as in `rouge-score`: irregular words, short words in -ies and -ied, another rule for -y, and -bli,
    -fulli and -logi.
    """
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if len(word) <= 2:
        return word
    word = _step_1c(_step_1b(_step_1a(word)))
    word = _replace_ending(_step_2(word), _STEP_3, 0)
    return _step_5(_step_4(word))


def _shape(stem: str) -> str:
    """A `c` per consonant, a `v` per vowel; y is a vowel after a consonant."""
    shape = ""
    for letter in stem:
        is_vowel = letter in "aeiou" or (letter == "y" and shape.endswith("c"))
        shape += "v" if is_vowel else "c"
    return shape


def _measure(stem: str) -> int:
    """Porter's m: how often consonants follow vowels."""
    return _shape(stem).count("vc")


def _is_short(stem: str) -> bool:
    """Porter's *o: consonant, vowel, consonant other than w, x, y; or just vowel and consonant."""
    shape = _shape(stem)
    return (shape.endswith("cvc") and stem[-1] not in "wxy") or shape == "vc"


def _replace_ending(word: str, rules: Mapping[str, str], above: int) -> str:
    for ending, new in rules.items():
        if word.endswith(ending):
            stem = word[: -len(ending)]
            return stem + new if _measure(stem) > above else word
    return word


def _step_1a(word: str) -> str:
    if word.endswith("ies"):
        return word[:-1] if len(word) == 4 else word[:-2]
    if word.endswith("sses"):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word


def _step_1b(word: str) -> str:
    if word.endswith("ied"):
        return word[:-1] if len(word) == 4 else word[:-2]
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    for ending in ("ed", "ing"):
        stem = word.removesuffix(ending)
        if stem != word and "v" in _shape(stem):
            return _repair_stem(stem)
    return word


def _repair_stem(stem: str) -> str:
    """Of hopp(ing) hop, of fil(ing) file, of conflat(ed) conflate."""
    if stem.endswith(("at", "bl", "iz")):
        return stem + "e"
    if stem[-2:-1] == stem[-1] and _shape(stem).endswith("c"):
        return stem if stem[-1] in "lsz" else stem[:-1]
    return stem + "e" if _measure(stem) == 1 and _is_short(stem) else stem


def _step_1c(word: str) -> str:
    stem = word.removesuffix("y")
    return stem + "i" if stem != word and len(stem) > 1 and _shape(stem).endswith("c") else word


def _step_2(word: str) -> str:
    word = _replace_ending(word, {"alli": "al"}, 0)
    if word.endswith("logi"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    return _replace_ending(word, _STEP_2, 0)


def _step_4(word: str) -> str:
    if word.endswith(("sion", "tion")):
        return word[:-3] if _measure(word[:-3]) > 1 else word
    return _replace_ending(word, _STEP_4, 1)


def _step_5(word: str) -> str:
    stem = word.removesuffix("e")
    if stem != word and (_measure(stem) > 1 or (_measure(stem) == 1 and not _is_short(stem))):
        word = stem
    return word[:-1] if word.endswith("ll") and _measure(word[:-1]) > 1 else word
