"""Recognises sentences that say only that the sources or the writer do not know.

A sentence with citations must name what was retrieved: "the documents" may be part of the story. One that continues
with "but" is a claim.
"""

from __future__ import annotations

import re
from functools import cache

_NO_QUOTE = r"[*_(\[\s-]{0,4}"
_SORRY = (
    r"(?:(?:i['’]?m|i am|we are|we['’]re)(?: \w{2,9})? (?:sorry|afraid)"
    r"|(?:i|we) apologi[sz]e|my apologies|apologies|sorry)"
)
_LINK = (
    r"(?:however|therefore|thus|hence|so|unfortunately|sadly|regrettably|also|additionally|but|and|that said"
    r"|(?:based on|according to) [^.;,]{1,60}),? "
)
_NOTE = r"(?:(?:please )?note(?: that)?[*_]{0,3}:?[*_]{0,3} )?"
_LEAD = rf"{_NO_QUOTE}{_NOTE}(?:{_SORRY}\b[,.]? ?(?:but |that |because )?)?(?:{_LINK}){{0,2}}"

_GIVEN = r"(?:provided|given|retrieved|supplied|available|above|following|cited|presented|relevant|selected|search)"
_KNOWN_AS = r"(?:documents?|sources?|texts?|articles?|references?|excerpts?|snippets?|information|materials?|results?)"
_RETRIEVED = rf"(?:(?:{_GIVEN} ){{0,3}}(?:passages?|search results?|contexts?)|(?:{_GIVEN} ){{1,3}}{_KNOWN_AS})"
_WHICH = r"(?:(?:none|any|all|either|neither|each) (?:of )?)?(?:(?:the|these|those|this|that|your|my|any|no) )?"
_PLAIN_SOURCES = rf"{_WHICH}{_RETRIEVED}"
_ANY_SOURCES = rf"(?:{_WHICH}{_RETRIEVED}|(?:none of |any of )?(?:the|these|those|this|any) (?:{_KNOWN_AS}|draft))"

# What may come between the passages and their verb ("the search results given above do not"), except what they say.
_GAP = r"(?: (?!that\b|which\b|(?:say|state|show|mention|indicate|suggest|report|note)s?\b)[\w'’,-]{1,20}){0,6}?"
_NOT = r"(?: not|n['’]t) (?:\w{2,12}ly )?"
_TELL = (
    r"(?:contain|include|provide|mention|specify|state|say|address|answer|give|offer|discuss|indicate|identify|have|"
    r"support|reveal|describe|name|tell|explain|clarify|list|cover|appear|seem|talk|refer|disclose|present)"
)
_KNOWLEDGE = r"(?:information|mention|details?|evidence|answers?|reference|data|indication|span|text|passages?|context)"
_TOLD = (
    r"(?:mentioned|specified|stated|provided|given|included|addressed|discussed|described|disclosed|available|found|"
    r"named|identified|clear|answered|covered|present|possible)"
)
_IS_NOT = r"(?:is|are|was|were|has|have|could|can)(?: not| never|n['’]t)(?: be| been)? (?:\w{2,12}ly )?"


@cache  # compiled on first use: the embedded writer needs none of it
def _silent(sources: str) -> re.Pattern[str]:
    forms = (
        rf"{sources}{_GAP} (?:do|does|did){_NOT}{_TELL}",
        rf"{sources}{_GAP} (?:contain|include|provide|give|ha[sv]e?|offer|make)s? no (?:\w+ ){{0,2}}{_KNOWLEDGE}",
        rf"{sources}{_GAP} (?:{_IS_NOT}(?:relevant|sufficient|enough|related)|(?:is|are) (?:irrelevant"
        rf"|unrelated|insufficient))",
        rf"{sources} (?:lacks? |fails? to {_TELL})",
        rf"(?:based on|from|according to) {sources},? (?:it|that) (?:is|remains) (?:unclear"
        rf"|not (?:\w{{2,12}}ly )?{_TOLD})\b",
        r"(?:there (?:is|are) )?no (?:\w+ ){0,2}(?:passages?|search results?|documents?|sources?) (?:that|which|to)\b",
        rf"(?:none of|nothing in) {sources}\b",
        rf"(?:based on|from|according to) [^,\n]{{0,40}}{sources}[^,\n]{{0,40}}, there (?:is"
        rf"|are) no (?:\w+ ){{0,2}}{_KNOWLEDGE}\b",
        rf"(?:there (?:is|are|was|were) )?(?:no|not enough|not any|insufficient) (?:\w+ ){{0,3}}?{_KNOWLEDGE}\b"
        rf"[^;\n]{{0,120}}\b{sources}",
        rf"[^;\n]{{1,160}}? (?:{_IS_NOT}{_TOLD}|cannot be \w{{4,12}})\b[^;\n]{{0,60}}\b(?:in|by|from|on|using"
        rf"|with) {sources}",
    )
    return re.compile(rf"{_LEAD}(?:{'|'.join(forms)})", re.IGNORECASE)


_CANNOT = (
    r"(?:i|we)(?: cannot| can ?not| could not| (?:was|am|are) (?:not able|unable) to| did not| do not"
    r"| (?:can|couldn|didn|don)['’]t)"
)
_DO = (
    r"(?:be )?(?:find|answer|determine|provide|know|help|assist|locate|confirm|continue|revise|(?:re)?write|rephrase"
    r"|summari[sz]e|give|create|identify|tell|comply|advise|do that|see any"
    r"|have (?:\w+ ){0,4}(?:information|knowledge|details?|data|context|access|answers?))"
)
_REFUSALS = (  # after a lead such as "Unfortunately"
    rf"{_CANNOT} (?:\w{{2,12}}ly )?{_DO}\b",
    rf"(?:i|we) have no (?:\w+ )?{_KNOWLEDGE}\b",
    r"(?:i am|i was|we are) (?:unable|not able)\b",
    rf"it is (?:not possible to {_TELL}|(?:unclear|not clear) from|not (?:\w+ly )?(?:specified|mentioned|stated"
    rf"|provided))\b",
    r"(?:there is )?no (?:\w+ )?answer to (?:the|this|your) question\b",
    r"(?:there (?:is|was) )?(?:not enough|insufficient|no) (?:\w+ )?(?:information|context)"
    r"(?: (?:is|was))?(?: (?:available|provided|given|found|in|on|about|to)\b|\W*$)",
)

_OPENINGS = (
    r"as an ai\b",
    rf"{_SORRY}(?:\W*$| (?:for|to|about)\b)",
    r"(?:es )?tut mir (?:sehr )?leid\b|leider kann ich\b|ich kann (?:diese|die) frage nicht\b",
    r"(?:in )?(?:de[nrms]|die|das|keine der) (?:\w+en )?(?:dokumente?n?|quellen?|text\w*|passagen?|suchergebnisse?n?"
    r"|auszüge?n?|abschnitte?n?)\b[^.;]{0,40}\b(?:keine?n?|nicht)\b",
    r"(?:je suis )?désolée?\b|je ne (?:peux|sais|trouve)\b",
    r"(?:les|le|aucun des|ces) (?:documents?|passages?|sources?|extraits?|textes?|résultats?)\b[^.;]{0,40}"
    r"\bne (?:contien|mentionn|fourni|précis|donn|di|parl)",
    r"lo siento\b|no puedo responder\b",
    r"(?:los|las|el|ninguno de los) (?:documentos?|pasajes?|fuentes|textos?|resultados)\b[^.;]{0,40}"
    r"\bno (?:contien|mencion|proporcion|dic|especific|indic)",
    r"mi dispiace\b|i (?:documenti|passaggi|testi|brani)\b[^.;]{0,40}"
    r"\bnon (?:contengono|menziona|fornisc|dicono|specifica)",
    r"(?:desculpe|lamento|sinto muito)\b|os (?:documentos|textos|trechos)\b[^.;]{0,40}"
    r"\bnão (?:cont|menciona|fornec|diz)",
    r"к сожалению\b|(?:в )?(?:предоставленн|данн|этих )[^.;]{0,40}(?:нет|не содерж|не упомина|не указ)",
    r"[^。\n]{0,20}(?:文書|文章|資料|情報源|検索結果)に?は?[^。\n]{0,60}(?:ありません|含まれていません|記載されていません)",
    r"很?抱歉|对不起|申し訳|عذر|آسف",
    r"(?:根据)?所?(?:提供|给出|上述|这些)的?(?:文档|文件|段落|资料|搜索结果|文章|上下文|信息)[^。]{0,12}(?:没有|未|不包含|无法)",
    r"لا (?:تحتوي|تذكر|توفر|يوجد)[^.]{0,20}(?:المستندات|الوثائق|المقاطع|النصوص|المصادر)",
)


@cache
def _refuses() -> re.Pattern[str]:
    return re.compile(rf"{_LEAD}(?:{'|'.join(_REFUSALS)})|{_NO_QUOTE}(?:{'|'.join(_OPENINGS)})", re.IGNORECASE)


_GOES_ON = re.compile(r"[,;:—–]\s?(?:but|however|though|although|yet)\b", re.IGNORECASE)
_NOTHING = re.compile(
    r"\W*(?:none|null|n\s?/\s?a|nil|unanswerable|unknown|no answer(?: found)?|no information(?: available| found)?"
    r"|(?:not enough|insufficient) (?:information|context|evidence|data)"
    r"|not (?:mentioned|specified|stated|available|found|provided)"
    r"|cannot (?:be )?(?:answer(?:ed)?|determined?)|i (?:do not|don['’]t) know"
    r"|keine angaben?|unbekannt|inconnu|desconocido|无|不知道|未知)\W*",
    re.IGNORECASE,
)


def is_abstention(sentence: str, *, cites: bool = False) -> bool:
    """Whether a sentence (without marks) says that the sources or the writer do not know."""
    match = _silent(_PLAIN_SOURCES if cites else _ANY_SOURCES).match(sentence)
    if match is not None:
        return _GOES_ON.search(sentence, match.end()) is None
    return not cites and _refuses().match(sentence) is not None


def is_nothing(reply: str) -> bool:
    """Whether a whole reply means "no answer" ("None.", "N/A")."""
    return len(reply) < 200 and _NOTHING.fullmatch(reply) is not None
