"""The wording of sentences"""

from __future__ import annotations

_AROUND_WORDS = ".,;:!?…\"'“”‘’«»¿¡()[]*_。，、；：！？؟"


def wording_of(text: str) -> tuple[str, ...]:
    """The words of a text for comparison, without case and the punctuation around them.

    Signs with a meaning stay: "C++" is not "C", and "-5" not "5".
    """
    return tuple(word for token in text.casefold().split() if (word := token.strip(_AROUND_WORDS)))
