"""The wording of sentences: whether two say the same in the same words."""

from __future__ import annotations

_AROUND_WORDS = ".,;:!?…\"'“”‘’«»¿¡()[]*_。，、；：！？؟"


def worded(text: str) -> tuple[str, ...]:
    """The words of a text as two texts are compared: whatever their case and the punctuation around them.

    Signs that say something stay: "C++" is not "C", and "-5" not "5".
    """
    return tuple(word for token in text.casefold().split() if (word := token.strip(_AROUND_WORDS)))
