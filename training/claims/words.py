"""Tables of English words that the edits and rewordings go by."""

from __future__ import annotations

import re

NATIONALITIES = tuple(
    "American Canadian Mexican Brazilian Argentine Chilean Colombian Peruvian Irish Scottish Welsh French German"
    " Italian Spanish Portuguese Dutch Belgian Swiss Austrian Swedish Norwegian Danish Finnish Polish Czech Hungarian"
    " Romanian Bulgarian Greek Turkish Russian Ukrainian Japanese Chinese Korean Indian Pakistani Egyptian Nigerian"
    " Kenyan Australian Israeli Iranian Cuban Vietnamese Indonesian Filipino"
    " Moroccan Croatian Serbian Icelandic".split()
)
COUNTRIES = tuple(
    name.replace("_", " ")
    for name in "Canada Mexico Brazil Argentina Chile Colombia Peru Ireland France Germany Italy Spain Portugal"
    " Belgium Switzerland Austria Sweden Norway Denmark Finland Poland Hungary Romania Bulgaria Greece Turkey Russia"
    " Ukraine Japan"
    " China India Pakistan Egypt Nigeria Kenya Australia Israel Iran Cuba Vietnam Indonesia Morocco Croatia"
    " Serbia Iceland"
    " Thailand Malaysia Ghana Ethiopia Scotland Wales New_Zealand South_Africa South_Korea".split()
)
ADJECTIVE_OF = {
    "france": "french", "germany": "german", "italy": "italian", "spain": "spanish", "portugal": "portuguese",
    "poland": "polish", "ireland": "irish", "scotland": "scottish", "wales": "welsh", "turkey": "turkish",
    "denmark": "danish", "sweden": "swedish", "switzerland": "swiss", "greece": "greek", "finland": "finnish",
    "iceland": "icelandic", "japan": "japanese", "china": "chinese", "hungary": "hungarian", "norway": "norwegian",
    "argentina": "argentine", "canada": "canadian", "mexico": "mexican", "brazil": "brazilian", "peru": "peruvian",
    "south korea": "korean", "israel": "israeli", "pakistan": "pakistani", "ukraine": "ukrainian",
    "vietnam": "vietnamese",
}  # fmt: skip

# One word for its opposite; each line is used in both directions.
OPPOSITES = """
larger smaller | largest smallest | bigger smaller | biggest smallest | higher lower | highest lowest | longer shorter
longest shortest | older younger | oldest youngest | earlier later | earliest latest | better worse | best worst
faster slower | fastest slowest | heavier lighter | warmer colder | stronger weaker | richer poorer | deeper shallower
wider narrower | greater smaller | greatest smallest | fewer more | less more | closer farther
increased decreased | increases decreases | increase decrease | increasing decreasing | rose fell | rising falling
before after | above below | inside outside | northern southern | north south | eastern western | east west
northeastern southwestern | northwestern southeastern | northeast southwest | northwest southeast | upper lower
maximum minimum | majority minority | won lost | winning losing | early late | public private | male female
internal external | positive negative | ancient modern | permanent temporary | accepted rejected | gained lost
strengthened weakened | expanded shrank | enables prevents | promotes inhibits | allowed forbade | opened closed
successful unsuccessful | common rare | major minor | elder younger | reduces increases | reduced increased
rural urban
"""
_PAIRS = [tuple(row.split()) for row in re.split(r"[|\n]", OPPOSITES) if row.strip()]
OPPOSITE_OF: dict[str, str] = {}
for _first, _second in _PAIRS:
    OPPOSITE_OF.setdefault(_first, _second)
    OPPOSITE_OF.setdefault(_second, _first)

UNITS = {
    "kilometres": "miles", "kilometers": "miles", "km": "miles", "miles": "kilometres", "mi": "km",
    "metres": "feet", "meters": "feet", "feet": "metres", "ft": "m", "inches": "feet", "acres": "hectares",
    "hectares": "acres", "kilograms": "pounds", "kg": "pounds", "tonnes": "pounds", "tons": "pounds",
    "million": "billion", "billion": "million", "thousand": "million", "hundred": "thousand",
    "years": "months", "months": "weeks", "weeks": "months", "days": "weeks", "hours": "minutes", "minutes": "hours",
    "seconds": "minutes", "dollars": "euros", "euros": "dollars", "centuries": "decades", "decades": "years",
    "mm": "cm", "cm": "mm", "mg": "g", "mph": "km/h", "km/h": "mph", "litres": "gallons",
}  # fmt: skip

# Words that say the same in nearly every sentence; each line from left to right.
SAME = """
film:movie | purchased:bought | located in:situated in | approximately:about | established:founded | resides:lives
commenced:began | constructed:built | utilized:used | numerous:many | attempted:tried | assisted:helped
currently:at present | the United States:the U.S. | the United Kingdom:the UK | passed away:died
primarily:mainly | additionally:also | due to:because of | in order to:to | prior to:before | subsequently:later
frequently:often | nearly:almost | largest:biggest | began:started | ended:finished | entire:whole | received:was given
consists of:is made up of | is known as:is called | are known as:are called | was named after:got its name from
took place:was held | is situated in:lies in | nowadays:today | initially:at first
published in:brought out in | starring:with | also known as:also called | wife:spouse
husband:spouse | is considered:is regarded as | a number of:several | as well as:and | prominent:well-known
famous:well-known | residents:inhabitants | automobile:car | physician:doctor | attorney:lawyer | demonstrated:showed
indicates that:shows that | several:a number of | premiered:was first shown | at the age of:aged | roughly:about
is the capital of:serves as capital of | belongs to:is part of | attended:studied at
graduated from:completed studies at
"""
_SAME_PAIRS = [row.strip().split(":") for row in re.split(r"[|\n]", SAME) if row.strip()]
SAME_AS = {row[0]: row[1] for row in _SAME_PAIRS}
