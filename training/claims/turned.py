"""Edits that turn what a claim says: negation, quantity words, opposites, cause and effect."""

from __future__ import annotations

import random
import re

from claims.english import of_past
from claims.place import Place, capital, put
from claims.words import OPPOSITE_OF

_SCOPED = re.compile(
    r"\b(?:all|every|each|any|many|most|some|few|only|both|either|neither|never|no|not|nor|none|nobody|nothing"
    r"|without|hardly"
    r"|rarely|seldom|several|often|usually|generally|sometimes|typically|commonly|until|unless|if|may|might|could"
    r"|would|should|cannot|almost|at least)\b|n['’]t\b",
    re.IGNORECASE,
)
_AUXILIARY = re.compile(
    r"\b(?P<word>is|are|was|were|has|have|had|can|will)(?= [a-z])(?! (?:not|also|no|been said|to|still)\b)"
)
_SUBORDINATE = re.compile(
    r"\b(?:who|which|that|whose|whom|where|when|while|because|although|though|as|since|if|after|before)\b|[,;:(\"]"
)
_SHORT = {"is": "isn't", "are": "aren't", "was": "wasn't", "were": "weren't", "has": "hasn't", "have": "haven't"} | {
    "had": "hadn't",
    "can": "cannot",
    "will": "won't",
}
_NOT = re.compile(
    r"(?<=(?:is|as|re|ve|ad|an|ld|id|es|do|ll)) not(?= [a-z])(?! (?:only|just|merely|until|necessarily|all|every)\b)"
)
_LOWER_WORD = re.compile(r"(?<= )[a-z]+(?= )")

_QUANTITIES = {
    "all": ("no", "few"), "every": ("no",), "most": ("few", "all"), "many": ("few", "all"), "some": ("all", "no"),
    "few": ("most", "many"), "always": ("never", "rarely"), "often": ("never", "always"),
    "usually": ("rarely", "always"),
    "generally": ("never", "always"), "sometimes": ("always", "never"), "rarely": ("often", "usually"),
    "never": ("always", "often"), "frequently": ("rarely", "always"), "partly": ("entirely",), "mostly": ("entirely",),
    "mainly": ("exclusively",), "primarily": ("exclusively",), "typically": ("never", "always"), "nearly all": ("few",),
    "partially": ("completely",), "largely": ("entirely",), "commonly": ("rarely",),
    "occasionally": ("always", "never"),
    "may": ("always will", "must"), "might": ("will certainly", "must"), "could": ("will certainly",),
    "approximately": ("exactly",), "about": ("exactly",), "roughly": ("exactly",), "almost": ("more than",),
    "nearly": ("more than",), "half": ("all",), "several": ("hundreds of", "only two"), "sometime": ("always",),
}  # fmt: skip
_LOWER_NEXT = {"about", "almost", "nearly", "approximately", "roughly"}
_QUANTITY = re.compile(rf"\b(?:{'|'.join(sorted(_QUANTITIES, key=len, reverse=True))})(?= )", re.IGNORECASE)
_PLACED = re.compile(
    r"\b(?P<verb>found|used|held|produced|made|grown|spoken|taught|published|shown|played|seen|sold|available)"
    r" (?=(?:in|by|at|for|on) )"
)

_OPPOSITE = re.compile(rf"(?<![\w'-])(?:{'|'.join(sorted(OPPOSITE_OF, key=len, reverse=True))})(?![\w'-])")
_FIXED = re.compile(r"(?:at |at the |in the |no |one of the |not |of |shortly |soon |long |day |year )$", re.I)
_NOUN_CAUSE = re.compile(
    r"^(?P<cause>(?:The |A |An )?[^,;:()\"]{3,60}?) (?P<verb>caused|led to|resulted in|causes|leads to|results in"
    r"|triggered"
    r"|gave rise to|brought about|contributed to|prompted|sparked) (?P<effect>[^,;:()\"]{3,70})\.$"
)
_DUE = re.compile(
    r"^(?P<effect>[^,;:()\"]{3,60}?) (?P<verb>is caused by|was caused by|resulted from|results from|arose from|is"
    r" due to|was due to|are caused by|were caused by) (?P<cause>[^,;:()\"]{3,60})\.$"
)
_FINITE = re.compile(
    r"\b(?:is|are|was|were|has|have|had|that|which|who|it|he|she|they|its|his|her|their|and)\b", re.IGNORECASE
)
_BECAUSE = re.compile(r"^(?P<what>[^;:()\"]{15,160}?),? because (?!of\b)(?P<why>[^;:()\"]{10,160})\.$")
_LINKS = {
    "because of": ("in spite of", "regardless of"), "due to": ("in spite of", "despite"),
    "because": ("although", "even though"),
    "although": ("because",), "despite": ("because of",), "in spite of": ("because of",),
    "as a result of": ("despite",),
    "even though": ("because",), "thanks to": ("despite",), "owing to": ("despite",),
    "caused by": ("unrelated to", "the cause of"),
}  # fmt: skip
_LINK = re.compile(rf"\b(?:{'|'.join(sorted(_LINKS, key=len, reverse=True))})\b", re.IGNORECASE)


def _drop_not(claim: str, chance: random.Random) -> str | None:
    found = list(_NOT.finditer(claim))
    return put(claim, *found[0].span(), "") if len(found) == 1 and len(_SCOPED.findall(claim)) == 1 else None


def negation(place: Place, chance: random.Random) -> str | None:
    """The main clause denied by its auxiliary or by "did not"; or a denial taken away. Never beside a quantifier."""
    claim = place.claim
    dropped = _drop_not(claim, chance)
    if dropped or _SCOPED.search(claim):
        return dropped
    lead = re.match(r"(?:In|On|During|By|At) [^,]{2,40}, ", claim)
    start = lead.end() if lead else 0
    match = _AUXILIARY.search(claim, start)
    if match and not _SUBORDINATE.search(_unbracketed(claim[start : match.start()])):
        word = match["word"]
        plain = "cannot" if word == "can" else f"{word} not"
        not_word = chance.choice([plain, plain, _SHORT[word]])
        if word in ("has", "had", "have"):
            after = re.match(
                r" (?:\w+ly )?(?:been|become|\w+ed|won|made|taken|had|written|held)\b", claim[match.end() :]
            )
            if not after:
                return None
            not_word = chance.choice([not_word, f"{word} never"])
        return put(claim, match.start(), match.end(), not_word)
    return _did_not(claim, start)


def _unbracketed(text: str) -> str:
    return re.sub(r"\([^()]*\)", "", text)


def _did_not(claim: str, start: int) -> str | None:
    """ "did not build" for the first word that is a simple past, unless a clause of its own stands before it."""
    for match in _LOWER_WORD.finditer(claim, start + 2):
        verb = of_past(match[0])
        subject = claim[start : match.start()]
        if _SUBORDINATE.search(_unbracketed(subject)) or len(subject) > 70:
            return None
        if verb and verb.base not in ("have", "base", "found"):
            is_participle = re.match(r" (?:by|in which)\b", claim[match.end() :])
            return None if is_participle else put(claim, match.start(), match.end(), f"did not {verb.base}")
    return None


def _cased(new: str, old: str) -> str:
    return capital(new) if old[0].isupper() else new


def quantifier(place: Place, chance: random.Random) -> str | None:
    """A quantity word for another that says something else: "most" as "few" or "all"; or an "only" put in."""
    claim = place.claim
    found = [match for match in _QUANTITY.finditer(claim) if _is_quantity(claim, match)]
    if found:
        match = chance.choice(found)
        new = _fitting(chance.choice(_QUANTITIES[match[0].lower()]), claim[match.end() :])
        after = re.match(r" \w+(?: \w+)?", claim[match.end() :])
        if new is None or after is None or place.ground.says(new + after[0]):
            return None
        return put(claim, match.start(), match.end(), _cased(new, match[0]))
    placed = _PLACED.search(claim)
    if placed is None or _SCOPED.search(claim) or place.ground.says("only"):
        return None
    return put(claim, placed.end() - 1, placed.end() - 1, " only")


def _fitting(new: str, after: str) -> str | None:
    """The new word as it must stand before "of"; None before an article, where most of them cannot stand."""
    if after.startswith(" of "):
        return "none" if new == "no" else None if new in ("every", "only two", "hundreds of") else new
    return (
        None
        if re.match(r" (?:the|his|her|its|their|these|those)\b", after) and new not in ("exactly", "more than")
        else new
    )


def _is_quantity(claim: str, match: re.Match[str]) -> bool:
    word, before, after = match[0].lower(), claim[: match.start()], claim[match.end() :]
    if word in _LOWER_NEXT:
        return re.match(r" [$£€]?\d", after) is not None and "than " not in before[-5:]
    if word in ("may", "might", "could", "some", "most", "many", "few", "all", "half") and not re.match(
        r" (?:of (?:the|its|his|her|their) )?[a-z]{3,}", after
    ):
        return False
    if word in ("most", "many", "few", "half") and re.search(
        r"\b(?:the|a|as|so|too|how|and|very|second|his|her|its|their|one|not|than)\s$", before, re.I
    ):
        return False
    if word == "most" and re.match(r" [a-z]+(?:ly|ed|ing|ous|al|ful|ic|ant|ent|ive|ble)\b", after):
        return False
    if word in ("may", "might", "could"):
        return match[0].islower() and not re.match(r" (?:not|also|be|have|refer)\b", after)
    if word == "all" and re.search(
        r"\b(?:at|of|in|after|for|and|or|them|they|we|not|over|us|nearly|almost)\s$", before, re.I
    ):
        return False
    return not re.search(r"\b(?:not|more|less|no|never|as|only|with only)\s$", before, re.I)


def comparative(place: Place, chance: random.Random) -> str | None:
    """The direction of a comparison turned: "larger" as "smaller", "north" as "south", "rose" as "fell"."""
    claim = place.claim
    found = [match for match in _OPPOSITE.finditer(claim) if not _FIXED.search(claim[: match.start()])]
    found = [match for match in found if _is_turnable(claim, match)]
    if not found:
        return None
    match = chance.choice(found)
    new = OPPOSITE_OF[match[0]]
    after = re.match(r" \w+", claim[match.end() :])
    if after and place.ground.says(new + after[0]):
        return None
    article = re.search(r"\b[Aa]n? $", claim[: match.start()])
    if article:
        first = article[0][0] + ("n " if new[0] in "aeiou" else " ")
        return claim[: article.start()] + first + new + claim[match.end() :]
    return put(claim, match.start(), match.end(), new)


def _is_turnable(claim: str, match: re.Match[str]) -> bool:
    word, after = match[0], claim[match.end() :]
    if word == "lower" and re.search(r"(?:to|ly|can|will|may) $", claim[: match.start()]):
        return False  # a verb
    if word in ("more", "less"):
        return re.match(r" (?:than [\d$£€]|[a-z]+ than\b)", after) is not None
    if word in ("before", "after"):
        return re.match(r" (?:the [a-z]+ |his |her |its |\d{4}|World)", after) is not None
    if word in (
        "rose",
        "fell",
        "increase",
        "decrease",
        "better",
        "common",
        "major",
        "minor",
        "late",
        "early",
        "opened",
        "closed",
        "won",
    ):
        return re.match(r" (?:by|from|to|in|of|than|the|a)\b", after) is not None and word not in ("late",)
    if word in ("north", "south", "east", "west"):
        return re.match(r" of\b| (?:coast|side|bank|end|wing|face)\b", after) is not None
    return not re.match(r" (?:and|or|to) ", after)


def _lowered(words: str) -> str:
    """A sentence's opening as it stands inside one: its article in lower case, a name as it is."""
    return words[0].lower() + words[1:] if re.match(r"(?:The|A|An|His|Her|Its|Their|This|These) ", words) else words


def cause(place: Place, chance: random.Random) -> str | None:
    """Cause and effect in each other's place, or a reason told as an obstacle."""
    claim = place.claim
    match = _NOUN_CAUSE.match(claim) or _DUE.match(claim)
    if match and not any(_FINITE.search(match[part]) for part in ("cause", "effect")):
        first = "cause" if match.start("cause") < match.start("effect") else "effect"
        second = "effect" if first == "cause" else "cause"
        if first == "effect" or not re.search(r"\b\d", match[second]):
            return f"{capital(match[second])} {match['verb']} {_lowered(match[first])}."
    because = _BECAUSE.match(claim)
    opens = re.compile(r"(?:it|he|she|they|this|that|these|of)\b", re.IGNORECASE)
    if because and not opens.match(because["what"]) and not opens.match(because["why"]) and chance.random() < 0.6:
        return f"{capital(because['why'])} because {_lowered(because['what'])}."
    links = [
        one
        for one in _LINK.finditer(claim)
        if not re.search(r"\b(?:not|only|partly|mainly|only|is|was|are|were) $", claim[: one.start()])
        or one[0] == "caused by"
    ]
    if not links:
        return None
    link = chance.choice(links)
    return put(claim, link.start(), link.end(), _cased(chance.choice(_LINKS[link[0].lower()]), link[0]))
