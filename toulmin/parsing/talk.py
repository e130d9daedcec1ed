"""Sentences that are no part of the answer."""

from __future__ import annotations

import re

from toulmin.parsing.abstaining import is_abstention

_THING = (
    r"(?:answer|response|version|summary|list|outline|questions?|feedback|paragraph|claims?|sentences?|text|span|"
    r"correction|review|plan)"
)
_HERE = r"(?:here (?:is|are)|here['’]s|below (?:is|are)|hier (?:ist|sind)|voici|aquí (?:está|tiene))"


def _opening(*phrases: str) -> re.Pattern[str]:
    return re.compile(rf"[*_(\s-]{{0,6}}(?:{'|'.join(phrases)})", re.IGNORECASE)


_ANNOUNCES = _opening(
    r"(?:sure|certainly|of course|absolutely|okay|ok|got it|understood|great(?: question)?|gladly|no problem)"
    r"(?: thing)?\W*$",
    r"(?:thank you|thanks)(?: for [^.!:\n]{0,60})?\W*$",
    rf"(?:[^.:\n]{{1,80}}[,!] )?{_HERE}\b[^\n]{{0,120}}(?:{_THING}|[:：])\W*$",
    r"(?:based on|according to) [^.,\n]{1,80}[:：]\W*$",
    r"以下是[^\n]{0,60}[:：]\W*$",
    rf"the (?:\w+ ){{0,3}}{_THING}\b[^\n]{{0,80}}\b(?:is|are)[:：]\W*$",
    r"after \w{1,20}ing\b[^\n]{0,80}[:：]\W*$",
)
_OFFERS = _opening(
    r"(?:please )?(?:let me know|do not hesitate|don['’]t hesitate)\b",
    r"(?:please )?feel free to (?:ask|reach|contact|let|adapt|modify|edit|adjust|share|provide|request)\b",
    r"(?:i )?hope (?:this|that|these|it|the \w+) (?:\w+ )?(?:help|answer|clarif|is|are|meet|work)",
    r"if you (?:have|need|want|would|['’]d|could|can|provide|share)\b[^\n]{0,150}\b(?:let me know|feel free"
    r"|i['’]?(?:d| would| will| am|m)(?: be)? (?:happy|glad) to"
    r"|i (?:can|could|would|will)|i['’](?:ll|d)|please (?:ask|provide|share|tell))\b",
    r"would you like (?:me|to know|more|any)\b|do you (?:want|need) (?:me|more|any)\b|is there anything else\b",
    r"i(?:['’]d| would| am|['’]m) (?:be )?(?:happy|glad) (?:to|i could)\b|(?:happy|glad) to help\b",
    r"(?:these|this) (?:\w+ )?(?:questions?|outline|summary|answer|list|feedback|plan|queries) (?:should|will|can)\b",
)
_DID = (
    r"(?:addressed|revised|corrected|removed|added|updated|improved|made|incorporated|left out|omitted|skipped"
    r"|replaced|"
    r"kept|included|used|based|ensured|checked|cited|rewrote|rewritten)"
)
_REMARKS = _opening(
    rf"(?:(?:please )?note(?: that)?\W{{1,4}})?i(?:['’]ve| have)? (?:\w+ly )?{_DID}\b[^\n]{{0,150}}\b"
    r"(?:answers?|response|feedback|draft|sentences?|citations?|claims?|questions?|passages?|documents?"
    r"|sources?|words?)\b",
    r"(?:the )?word count\b|\d{1,4} words\W*$",
    r"(?:the|your|this) (?:draft|(?:original|previous|revised|above|corrected) answer)\b",
    r"(?:the|this|my) (?:answer|response|revision)(?: above)? (?:is (?:based|now|already|complete)|has been|now)\b",
    r"(?:the|this|my) (?:\w+ )?(?:answer|response|revision|version) (?:now |also )?(?:includes|addresses"
    r"|provides|incorporates"
    r"|corrects|reflects|removes|adds)\b",
    r"no (?:further |other |more )?(?:changes|corrections|revisions) (?:are|were) (?:needed|necessary|required|made)\b",
)


def is_talk(sentence: str, *, cites: bool = False) -> bool:
    """Whether a sentence, without its marks, says nothing about the subject."""
    return is_abstention(sentence, cites=cites) or (not cites and is_courtesy(sentence))


def is_courtesy(sentence: str) -> bool:
    """Whether a sentence only announces, offers, or remarks on the reply. "The keepers were:" does not."""
    return any(pattern.match(sentence) for pattern in (_ANNOUNCES, _OFFERS, _REMARKS))
