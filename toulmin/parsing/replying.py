"""Reads a model's reply as a draft, without an echo of the prompt, explanations, courtesy or further questions; or as
questions, or as the parts of a plan.

`citing.read_draft` reads a text word for word.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from toulmin.data import Passage, Style
from toulmin.parsing import lines
from toulmin.parsing.abstaining import is_abstention, is_nothing
from toulmin.parsing.citing import Draft, Sentence, read_draft, with_citations_in_words
from toulmin.parsing.lines import Item, blocks, has_words, last_match, list_items, without_emphasis
from toulmin.parsing.marks import PASSAGE_NUMBERS, bracket_marks, framed, has_marks, lift
from toulmin.text.language import first_of_each, sentence_texts, stem

# ---------------------------------------------------------------- sentences that are no part of the answer


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
    r"|replaced|kept|included|used|based|ensured|checked|cited|rewrote|rewritten)"
)
_REMARKS = _opening(
    rf"(?:(?:please )?note(?: that)?\W{{1,4}})?i(?:['’]ve| have)? (?:\w+ly )?{_DID}\b[^\n]{{0,150}}\b"
    r"(?:answers?|response|feedback|draft|sentences?|citations?|claims?|questions?|passages?|documents?"
    r"|sources?|words?)\b",
    r"(?:the )?word count\b|\d{1,4} words\W*$",
    r"(?:the|your|this) (?:draft|(?:original|previous|revised|above|corrected) answer)\b",
    r"(?:the|this|my) (?:answer|response|revision)(?: above)? (?:is (?:based|now|already|complete)|has been|now)\b",
    r"(?:the|this|my) (?:\w+ )?(?:answer|response|revision|version) (?:now |also )?(?:includes|addresses"
    r"|provides|incorporates|corrects|reflects|removes|adds)\b",
    r"no (?:further |other |more )?(?:changes|corrections|revisions) (?:are|were) (?:needed|necessary|required|made)\b",
)


def is_talk(sentence: str, *, cites: bool = False) -> bool:
    """Whether a sentence (without marks) says nothing about the subject."""
    return is_abstention(sentence, cites=cites) or (not cites and is_courtesy(sentence))


def is_courtesy(sentence: str) -> bool:
    """Whether a sentence only announces, offers, or comments on the reply. "The keepers were:" does not."""
    return any(pattern.match(sentence) for pattern in (_ANNOUNCES, _OFFERS, _REMARKS))


def _stems(words: str) -> frozenset[str]:
    return frozenset(map(stem, words.split()))


# Words of talk, in any form, and words that may stand between them. A sentence with any other word may be a claim.
_TALKS = _stems(
    "absolutely according answer ask based below certainly context course document given glad great happy help here"
    " hesitate hope know ok okay overview passage provided question requested response source summary sure thank"
    " understood"
)
_BETWEEN = _stems(
    "a able about above all an and any anything are as at available be been both brief but by can cannot clear"
    " clarification concise contained could d details determine do don each else excerpt explanation feel find"
    " following for found free from hence m therefore thus unable unfortunately"
    " further gave get good got has have i if in information into is it let like list ll looked main may me more my"
    " need note now of on only or other please points presented problem provide quick read reference relevant"
    " results retrieved reviewed s say search short should so solely t text that the these they thing this those"
    " through to together us use ve want was we were what will with would you your"
)
# These say nothing about the subject in a sentence to the reader, about the passages or before a colon.
_ADDRESSES = _stems(
    "above context excerpt following glad happy here hope i let me my passage please thank this us we welcome you your"
)
_ABOUT_SAYING = _stems(
    "address analyse analyze article break breakdown check compile confirm consult content cover describe discuss"
    " down examine explain few gather go happily hopefully insight key learn look matter mention no"
    " not nothing noting original outline over point query related retrieve reveal see several show some"
    " start subject summarise summarize tell there topic walk worth"
)
_TAKEN = re.compile(r"\b(?:taken|drawn|derived|comes?|came) (?=from\b)", re.IGNORECASE)
_LETTERS = re.compile(r"[^\W_]+")
_ANNOUNCES_MORE = _opening(rf"{_HERE}\b[^:\n]{{0,120}}[:：]\W*$")
_CLAIMS_MORE = re.compile(
    r"[;:–—]\s*\w|[,.!?]\s*(?:but|and|since|because|as|though|although|the|it|he|she|they)\b", re.IGNORECASE
)


def is_remark(sentence: str, *, cites: bool = False) -> bool:
    """Whether a sentence of a text by others is talk or an abstention.

    Stricter than `is_talk`, which reads replies to our prompts: talk that goes on is a claim.
    """
    content = framed(f"{sentence} ").content  # "Passage 2 states:" ends in a frame
    if any(map(_is_all_talk, (sentence, content))) or is_nothing(content) or is_abstention(content, cites=cites):
        return True
    offer = None if cites else _OFFERS.match(content)
    return not cites and (
        (offer is not None and not _CLAIMS_MORE.search(content, offer.end()))
        or _ANNOUNCES_MORE.match(content) is not None
    )


def _is_all_talk(sentence: str) -> bool:
    words = {stem(word) for word in _LETTERS.findall(_TAKEN.sub("", PASSAGE_NUMBERS.sub("passage", sentence)))}
    is_about_saying = not words.isdisjoint(_ADDRESSES) or sentence.rstrip().endswith((":", "："))
    fillers = _BETWEEN | _ABOUT_SAYING if is_about_saying else _BETWEEN
    return not words or (words <= _TALKS | fillers and not words.isdisjoint(_TALKS))


# ---------------------------------------------------------------- the answer in a reply


_PAD = r"[*_#>\s]{0,6}"
_REVISING = r"(?:corrected|final|revised|refined|improved|updated|rewritten)(?: and \w{1,20})?"
_REVISED = (
    rf"{_REVISING} answer"
    r"|(?:korrigierte|überarbeitete|verbesserte|endgültige) antwort|réponse (?:corrigée|révisée|finale)"
    r"|respuesta (?:corregida|revisada|final)|(?:最终|修正后的?|修改后的?)(?:答案|回答)"
)
_PLAIN = rf"(?:the )?(?:answer|antwort|réponse|respuesta|答案|回答|assistant|{_REVISING} (?:response|version|list))"
# Where the answer begins: "Final Answer:" (as prompts request) anywhere, "Answer:" at the head of a line.
_MARKER = re.compile(
    rf"(?:\b|(?<=[\u3000-\u9fff]))(?:{_REVISED})[*_\"”]{{0,3}}\s?[:：]{_PAD}"
    rf"|^[*_#>]{{0,6}}[^\S\n]?(?:{_REVISED})[*_]{{0,3}}[^\S\n]{{0,3}}$"
    rf"|^[*_#>\s]{{0,6}}{_PLAIN}[*_]{{0,3}}\s?[:：]{_PAD}"
    r"|\bhere is my (?:response|answer)\s?[:：]|\b(?:the|my) (?:final )?answer is\s?[:：][*_]{0,3}(?=\s)",
    re.IGNORECASE | re.MULTILINE,
)
_ECHO = re.compile(
    r"[*_#\s]{0,9}(?:question|instructions?|topic|query|user|human|passages?|documents?|context|claim)"
    r"(?:[^\S\n]?\[?\d{1,3}\]?)?(?:\(title[^\n]{0,300}|[*_]{0,3}[^\S\n]?)[:：]",
    re.IGNORECASE,
)
_NEXT_TURN = re.compile(
    r"\n[^\S\n]{0,9}\n[*_#\s]{0,6}(?:(?:question|instructions?|user|human)[*_]{0,3}[^\S\n]?[:：]"
    r"|document \[\d{1,3}\]\(title)",
    re.IGNORECASE,
)
_RESULT_LINE = lines.label("answer|summary|paragraph|text|span|extract|response|output")
_EXPLAINS = re.compile(
    r"^[*_#\s(]{0,8}(?:(?:brief |short )?explanation|rationale|reasoning|justification"
    r"|(?:key |summary of )(?:changes|improvements|revisions)|(?:changes|improvements|revisions)(?= made)"
    r"|confidence(?=(?: score| level)?\W{1,6}(?:\d|high|medium|low))"
    r"|erklärung|begründung|änderungen|explication|解释|说明)"
    r"(?: (?:made|of (?:the )?changes|score|level))?[*_]{0,3}[^\S\n]?(?:[:：]|$)",
    re.IGNORECASE | re.MULTILINE,
)
_SOURCES_LINE = re.compile(
    r"^[*_]{0,3}(?:sources?|references?|citations?)(?: used)?[*_]{0,3}[:：][*_]{0,3}"
    r"(?P<marks>[\s\d,;\[\]【】and&]{0,200})$",
    re.IGNORECASE | re.MULTILINE,
)
_AND_ANOTHER = re.compile(r"(?<=[\]】])[^\S\n]{0,2}(?:and|or|und|et|y|&)[^\S\n](?=[^\[【\n])")  # "Roe [1] and Pell [2]"
_TITLE_LINE = re.compile(r"\A\s{0,9}([*_]{0,3})title\1[^\S\n]?:[*_]{0,3}(?=[^\S\n])", re.IGNORECASE)
_ASKED = re.compile(
    r"^[*_]{0,3}q[*_]{0,3}\s?[:.][^\n]*\n[*_]{0,3}a[*_]{0,3}\s?[:.][^\S\n]?", re.IGNORECASE | re.MULTILINE
)
_WORD_FOR_NOTHING = 300  # the most characters, marks included, of a reply that only says that there is no answer
_PREAMBLE = 120  # characters that may come before the label of a summary or a span
_LABEL_ALONE = re.compile(
    r"[\W_]{0,6}[^\W_]{1,30}(?: [^\W_]{1,30})?[*_\s]{0,6}[:：][\W_]{0,6}"
)  # "Text:", of a reply that repeats its prompt
_LEAD = lines.label(
    r"(?:here(?:['’]s| is) )?(?:(?:a|the|my) )?"
    r"(?:(?:extracted|relevant|copied|selected|short|brief|concise|answer) ){0,2}"
    r"(?:summary|span|extract|text|excerpt|quote|answer|relevance)(?: is)?(?: \(\d{1,4} words\))?"
)
_QUOTED = re.compile(
    r"\s*(?:\"(?P<straight>[^\"]*)\"|“(?P<curly>[^“”]*)”|„(?P<low>[^„“]*)“|«(?P<angled>[^«»]*)»|`(?P<code>[^`\n]*)`)\s*"
)


def read_reply(text: str, offered: Sequence[Passage], style: Style) -> Draft:
    """The claims of a reply to a prompt with these passages. A claim repeated with equal citations counts once.

    Never raises.
    """
    answer = bracket_marks(answer_in(text), len(offered))
    answer = _AND_ANOTHER.sub(", ", answer) if style == "list" else without_quotes(answer)
    if len(answer) < _WORD_FOR_NOTHING and is_nothing(lift(answer, len(offered)).text):
        return Draft()
    draft = read_draft(answer, offered, style, _is_no_claim if style in ("long", "report") else _is_no_entity)
    draft = with_citations_in_words(draft, offered) if style in ("long", "report") else draft
    strays = dict(zip(draft.claims, (*draft.strays, *[()] * len(draft.claims)), strict=False))  # a list has none
    return Draft(tuple(strays), draft.invalid, tuple(strays.values()))


def _is_no_claim(sentence: Sentence) -> bool:
    """Whether it is talk, a label alone, or a question to the reader (in a list the prompt may ask for questions)."""
    asks = sentence.words.rstrip("*_ ").endswith(("?", "？", "؟")) and not sentence.is_item
    says_nothing = _is_all_talk(sentence.words) or _LABEL_ALONE.fullmatch(sentence.words) is not None
    return says_nothing or is_talk(sentence.words, cites=sentence.cites) or (asks and not sentence.cites)


def _is_no_entity(sentence: Sentence) -> bool:
    """Only a whole sentence can be talk: "Thank You for Smoking" is a film."""
    is_sentence = sentence.words.rstrip("*_ )").endswith((".", "!", ":", "。", "："))
    is_polite = is_sentence and not sentence.cites and is_courtesy(sentence.words)
    return is_polite or is_abstention(sentence.words, cites=sentence.cites)


def answer_in(text: str) -> str:
    """The part of a reply after the last answer marker and before any explanation."""
    answer = _one_exchange(_ASKED.sub("", _TITLE_LINE.sub("# ", text)))
    answer = _after_last(_MARKER, answer)
    explained = next((match for match in _EXPLAINS.finditer(answer) if has_words(answer[: match.start()])), None)
    answer = answer[: explained.start()] if explained else answer
    above = _SOURCES_LINE.sub("", answer)
    return above if has_marks(above) else _SOURCES_LINE.sub(lambda line: line["marks"], answer)


def _one_exchange(text: str) -> str:
    if _ECHO.match(text):
        return _after_last(_RESULT_LINE, text)
    turns = (turn.start() for turn in _NEXT_TURN.finditer(text))
    end = next((start for start in turns if has_words(_MARKER.sub("", text[:start]))), len(text))
    return text[:end]


def _after_last(marker: re.Pattern[str], text: str) -> str:
    match = last_match(marker, text)
    return text[match.end() :] if match else text


def without_quotes(text: str) -> str:
    match = _QUOTED.fullmatch(text)
    return next(inside for inside in match.groups() if inside is not None) if match else text


def plain_text(text: str) -> str:
    """The reply as prose, without marks, Markdown, headings, talk and quotation marks."""
    reply = lift(bracket_marks(_after_lead(answer_in(text)), 0)).text
    words = [without_quotes(without_emphasis(reply[b.start : b.end])) for b in blocks(reply) if not b.is_heading]
    kept = [sentence for line in words for sentence in sentence_texts(line) if not is_talk(sentence)]
    return " ".join(" ".join(kept).split())


def _after_lead(text: str) -> str:
    lead = _LEAD.search(text)
    return text[lead.end() :] if lead and lead.start() < _PREAMBLE else text


def without_courtesy(text: str) -> str:
    return "\n".join(line for line in text.split("\n") if not is_courtesy(line)).strip()


# ---------------------------------------------------------------- questions

_ASKS = re.compile(r"[?？؟][\"”»’“]?")
# "Rewritten question:", or a title in bold type before a question.
_QUESTION_LABEL = re.compile(
    r"[^:：?？؟\n]{0,60}\b(?:question|query|q\d{0,2})\s?\d{0,3}\s?[:：][*\s]*"
    r"|\*\*[^*\n?？؟]{1,60}(?::\*\*|\*\*:)(?=\s*\S)",
    re.IGNORECASE,
)


def questions_in(text: str) -> tuple[str, ...]:
    """The distinct questions; without any question mark all items (keywords, requests)."""
    plain = lift(text).text
    texts = [plain[line.start : line.end] for line in lines.read_lines(plain)]
    if len(texts) == 1:
        texts = sentence_texts(texts[0])
    asking = [line for line in texts if _ASKS.search(line) and not line.rstrip("*_ ").endswith((":", "："))]
    listed = map(_clean_question, asking or list_items(plain))
    questions = (question for question in listed if re.search(r"\w", question) and not is_talk(question))
    return tuple(first_of_each(questions, str.casefold))


def _clean_question(item: str) -> str:
    label = _QUESTION_LABEL.match(item)
    question = without_emphasis(item[label.end() :] if label else item).strip(" *_")
    ends = [mark.end() for mark in _ASKS.finditer(question)]
    return without_quotes(question[: ends[-1]] if ends else question).strip()


# ---------------------------------------------------------------- plans

_BOLD_LINE = re.compile(r"^[^\S\n]{0,3}\*\*([^*\n]{1,120})\*\*:?[^\S\n]*$", re.MULTILINE)
_HEADING_LINE = re.compile(r"^(#{1,6})[^\S\n][^\n]*$", re.MULTILINE)
_PART = re.compile(r"[*_#\s]{0,6}(?:(?:paragraph|section|part)\s?\d{1,3}\s?[:.)–—-]\s?|\d{1,3}[.)]\s)", re.IGNORECASE)
_PART_ALONE = re.compile(r"^[*_#\s]{0,6}(?:paragraph|section|part) \d{1,3}[*_:]{0,4}$", re.IGNORECASE | re.MULTILINE)
_INSTRUCTIONS = re.compile(r"^instructions?(?: for paragraph \d{1,3})?\s?[:：]\s?", re.IGNORECASE)
_TITLE = re.compile(r"(?P<title>[^:：–—]{1,80}?)(?:\s?[:：]\s?|\s[–—-]\s)(?P<rest>.+)")


class TitleLine(NamedTuple):
    title: str
    rest: str


def plan_in(text: str) -> tuple[TitleLine, ...]:
    """The distinct parts of a plan; empty without a plan."""
    plain = lift(text).text
    pieces = [list_items(piece) for piece in _PART_ALONE.split(plain)[1:]]  # as in the plan paper's samples
    headed = [Item(first, tuple(below), False) for first, *below in filter(None, pieces)]
    plain = _BOLD_LINE.sub(r"## \1", plain)
    levels = _HEADING_LINE.findall(plain)
    if len(levels) > 1 and levels.count(min(levels)) == 1 and levels[0] == min(levels):  # a title
        plain = _HEADING_LINE.sub("", plain, count=1)
    items = headed or lines.read_items(plain) or _plain_parts(plain)
    return tuple(dict.fromkeys(_split_title(item) for item in items if re.search(r"\w", item.head)))


def _plain_parts(text: str) -> Iterable[Item]:
    items = [Item(line, (), False) for line in list_items(text) if not is_courtesy(line)]
    return items if all(_TITLE.fullmatch(item.head) for item in items) else []


def _split_title(item: Item) -> TitleLine:
    lead = _PART.match(item.head)
    head = _INSTRUCTIONS.sub("", without_emphasis(item.head[lead.end() :] if lead else item.head).strip())
    match = _TITLE.fullmatch(head)
    title, rest = (match["title"], match["rest"]) if match else (head, "")
    return TitleLine(title.strip(" *:"), " ".join([rest, *item.below]).strip())
