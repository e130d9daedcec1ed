"""Sentences of a reply that are no part of its answer: announcements, offers, remarks on itself, and abstentions.

A model may say that its passages are silent; that is no claim of fact, and a reply that says nothing else abstains.
Announcements, offers and remarks are known by their openings, and only where they cite nothing. An abstention may
cite the passages that it found silent, if it plainly speaks of passages ("the provided documents [1][2] do not
mention"); one that goes on with "but" holds a claim and stays.
"""

from __future__ import annotations

import re

_LEAD = r"\W{0,4}(?:(?:however|unfortunately|sadly|regrettably|also|additionally|sorry|but|and|that said)\b,?\s){0,2}"
_GIVEN = (
    r"(?:provided|given|retrieved|supplied|available|above|following|cited|search|presented|relevant|selected|"
    r"information in the|text of the)"
)
_PAPERS = r"(?:documents?|sources?|texts?|articles?|references?|excerpts?|snippets?|information|materials?|draft)"
_OF_PROMPTS = (
    rf"(?:(?:{_GIVEN}\s){{0,3}}(?:passages?|search results?|contexts?)|(?:{_GIVEN}\s){{1,3}}(?:{_PAPERS}|results?))"
)
_ARTICLE = r"(?:(?:none|any|all|either|neither|each) of )?(?:(?:the|these|those|this|that|your|my|any|no)\s)?"
_SOURCES = rf"{_ARTICLE}{_OF_PROMPTS}"
_ANY_SOURCES = rf"{_ARTICLE}(?:{_OF_PROMPTS}|{_PAPERS})"

_VERB = (
    r"(?:contain|include|provide|mention|specify|state|say|address|answer|give|offer|discuss|indicate|identify|have|"
    r"support|reveal|describe|name|tell|explain|clarify|list|cover|appear|seem|talk|refer|disclose|present)"
)
_NOT = r"(?:\snot|n['’]t)\s(?:\w{2,12}ly\s)?"
_KNOWLEDGE = r"(?:information|mention|details?|evidence|answers?|reference|data|indication|span|text|passages?|context)"
_LACKS = (
    rf"(?:(?:do|does|did){_NOT}{_VERB}|(?:contain|include|provide|give|ha[sv]e?|offer"
    rf"|make)s?\sno\s(?:\w+\s){{0,2}}{_KNOWLEDGE}"
    rf"|(?:is|are){_NOT}(?:relevant|sufficient|enough|related)|(?:is|are)\s(?:ir|un)rel(?:evant|ated)|lacks?\s)"
)
_SAID = (
    r"(?:mentioned|specified|stated|provided|given|included|addressed|discussed|described|disclosed|available|found|"
    r"named|identified|clear|answered|covered|present|possible)"
)

_IS_NOT = r"(?:is|are|was|were)(?:\snot|n['’]t|\snever)\s(?:\w{2,12}ly\s)?"


def _silent(sources: str) -> re.Pattern[str]:
    forms = (
        rf"{sources}[^.;]{{0,60}}?\s{_LACKS}",
        rf"none of {sources}\b",
        rf"(?:there\s(?:is|are|was|were)\s)?(?:no|not enough|not any|insufficient)\s(?:\w+\s){{0,3}}?{_KNOWLEDGE}\b"
        rf"[^.;]{{0,80}}\b{sources}",
        rf"[^.;]{{1,120}}?\s(?:{_IS_NOT}{_SAID}|cannot be \w{{4,12}})\b[^.;]{{0,60}}\b(?:in|by|from|on|using"
        rf"|with)\s{sources}",
    )
    return re.compile(rf"{_LEAD}(?:{'|'.join(forms)})", re.IGNORECASE)


_SILENT_SOURCES = _silent(_SOURCES)
_SILENT_PAPERS = _silent(_ANY_SOURCES)
_I_CANNOT = re.compile(
    rf"{_LEAD}(?:(?:i['’]?m|i am)\s(?:\w+\s){{0,2}}?(?:sorry|afraid|unable|not able)|i apologi[sz]e"
    rf"|my apologies|sorry\b|"
    r"as an ai\b|(?:based on|from|according to)[^.;]{1,60},\s(?:i (?:cannot|can['’]t|could not|am unable)"
    r"|it is not possible)|"
    r"i(?:\s(?:cannot|could not|was not able to|was unable to|did not|do not)|\s(?:can|couldn|didn"
    r"|don)['’]t)\s(?:\w+ly\s)?"
    r"(?:be\s)?(?:find|answer|determine|provide|know|have (?:enough|any|sufficient|access|the)|see any|help"
    r"|assist|locate|"
    r"confirm|continue|revise|write|summari[sz]e|give|create|identify|tell|comply)|"
    r"(?:there (?:is|was) )?(?:not enough|insufficient|no) (?:information|context)(?: (?:is|was))?"
    r"(?: (?:available|provided|given|found|in|to)\b|\W*$))",
    re.IGNORECASE,
)
_SORRY = re.compile(
    r"\W{0,4}(?:(?:es )?tut mir (?:sehr )?leid\b|(?:je suis )?désolée?\b|lo siento\b|很?抱歉|对不起|申し訳|عذر|آسف)",
    re.IGNORECASE,
)
_OTHER_TONGUES = re.compile(
    r"\W{0,4}(?:leider kann ich|ich kann (?:diese|die) frage nicht|"
    r"(?:keine?r? )?(?:(?:in )?de[nrms]|die|das) (?:\w+en )?(?:dokumente?n?|quellen?|text\w*|passagen?"
    r"|suchergebnisse?n?|auszüge?n?|"
    r"abschnitte?n?)\b[^.;]{0,40}\b(?:keine?n?|nicht)\b|"
    r"je ne (?:peux|sais|trouve)|(?:les|le|aucun des|ces) (?:documents?|passages?|sources?|extraits?|"
    r"textes?|résultats?)\b[^.;]{0,40}\bne (?:contien|mentionn|fourni|précis|donn|di|parl)|"
    r"no puedo responder|(?:los|las|el|ninguno de los) (?:documentos?|pasajes?|fuentes|textos?|resultados)\b[^.;]{0,40}"
    r"\bno (?:contien|mencion|proporcion|dic|especific|indic)|"
    r"(?:根据)?(?:所)?(?:提供|给出|上述|这些)的?(?:文档|文件|段落|资料|搜索结果|文章|上下文|信息)[^。]{0,12}(?:没有|未|不包含|无法)|"
    r"لا (?:تحتوي|تذكر|توفر|يوجد)[^.]{0,20}(?:المستندات|الوثائق|المقاطع|النصوص|المصادر))",
    re.IGNORECASE,
)
_NOTHING = re.compile(
    r"\W*(?:none|null|n\s?/\s?a|nil|unanswerable|unknown|no answer(?: found)?|no information(?: available| found)?|"
    r"(?:not enough|insufficient) (?:information|context|evidence|data)|not (?:mentioned|specified|stated"
    r"|available|found|provided)|"
    r"cannot (?:be )?(?:answer(?:ed)?|determined?)|i (?:do not|don['’]t) know|keine angaben?|unbekannt|inconnu"
    r"|desconocido|无|不知道|未知)\W*",
    re.IGNORECASE,
)
_GOES_ON = re.compile(r"[,;:—–]\s?(?:but|however|though|although|yet|aber|jedoch|mais|pero)\b|，但", re.IGNORECASE)

_THING = (
    r"(?:answer|response|version|summary|list|outline|questions?|feedback|paragraph|claims?|sentences?|text|span"
    r"|correction|review|plan)"
)
_ANNOUNCES = re.compile(
    r"\W{0,4}(?:(?:sure|certainly|of course|absolutely|okay|ok|got it|understood|great(?: question)?|gladly"
    r"|no problem|thank you|thanks)"
    r"(?: (?:thing|for)[^.!:\n]{0,60})?\W*$"
    rf"|(?:\w+[,!]\s)?(?:here (?:is|are)|here['’]s|below (?:is|are)|hier (?:ist|sind)|voici|aquí (?:está|tiene)"
    rf"|以下是)\b[^\n]{{0,120}}(?:{_THING}\W*$|[:：]\W*$))"
    r"|[^\n]{0,160}\b(?:here (?:is|are)|here['’]s|as follows|the following)\b[^\n]{0,120}[:：]\W*$"
    rf"|\W{{0,4}}the\s(?:\w+\s){{0,3}}{_THING}\b[^\n]{{0,80}}\b(?:is|are)[:：]\W*$"
    r"|\W{0,4}after (?:\w+ing)\b[^\n]{0,80}[:：]\W*$",
    re.IGNORECASE,
)
_OFFERS = re.compile(
    r"\W{0,4}(?:(?:please )?(?:let me know|feel free|do not hesitate|don['’]t hesitate)\b|(?:i )?hope (?:this"
    r"|that|these|it)\b|"
    r"if you(?:['’]d| would| could| can)? (?:have any|need|want|like|provide)\b|if you have (?:more|further"
    r"|other|additional)\b|"
    r"would you like\b|do you (?:want|need)\b|is there anything\b|thank you for|thanks for|i['’]?(?:d"
    r"| would) be happy|happy to help|"
    r"(?:these|this) (?:\w+\s){0,2}(?:should|will|can) (?:help|provide|give|guide|allow)\b)",
    re.IGNORECASE,
)
_REMARKS = re.compile(
    r"\W{0,4}(?:(?:please )?note(?: that)?\W{1,4})?(?:i(?:['’]ve| have)?\s(?:\w+ly\s)?(?:addressed|revised"
    r"|corrected|removed|added|updated|"
    r"improved|made|incorporated|left out|omitted|skipped|replaced|kept|included|used|chose|based|ensured"
    r"|checked|cited|rewrote)\b|"
    r"(?:the )?word count\b|\d{1,4} words\W*$|(?:the|your|this) (?:draft|original answer|previous answer"
    r"|revised answer|above answer)\b|"
    r"(?:the|this|my) (?:answer|response|revision)(?: above)? (?:is (?:based|now|already|complete)|was|has been|now)\b|"
    r"no (?:further |other |more )?(?:changes|corrections|revisions) (?:are|were) (?:needed|necessary|required"
    r"|made)\b)",
    re.IGNORECASE,
)


def is_talk(sentence: str, *, cites: bool = False) -> bool:
    """Whether a sentence, without its marks, says nothing of the matter asked about."""
    return is_abstention(sentence, cites=cites) or (not cites and is_courtesy(sentence))


def is_courtesy(sentence: str) -> bool:
    """Whether a sentence only announces, offers, or remarks on the reply itself."""
    return any(pattern.match(sentence) for pattern in (_ANNOUNCES, _OFFERS, _REMARKS))


def is_abstention(sentence: str, *, cites: bool = False) -> bool:
    """Whether a sentence says that the sources, or the writer, do not know."""
    for pattern in (_SILENT_SOURCES,) if cites else (_I_CANNOT, _SORRY, _SILENT_PAPERS, _OTHER_TONGUES):
        found = pattern.match(sentence)
        if found is not None and (pattern in (_I_CANNOT, _SORRY) or not _GOES_ON.search(sentence, found.end())):
            return True
    return False


def is_nothing(reply: str) -> bool:
    """Whether a whole reply is a word for no answer ("None.", "N/A", "Not enough information")."""
    return len(reply) < 200 and _NOTHING.fullmatch(reply) is not None
