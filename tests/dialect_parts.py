"""Answers for the tests of dialects: random ones of several sections, and one whose every character counts."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import strategies as st
from strategies import claims, texts

from toulmin.data import STYLES, Answer, Citation, Claim, Passage, Quote, Source, Support, Tokens, Usage
from toulmin.datasets.item import Gold, Item, Part

TOWER = Passage.of("塔は1824年に建てられた。😀 It burns.", "塔", Source(5, 30, path="notes/tower.md"))
SONG = Passage.of("Été at sea [3].", "", Source(0, 15, url="https://example.org/song", record="s1"))
BARE = Passage.of("مَنَارَة")
CLAIMS = (
    Claim(
        "The tower 😀 (see [3]) was built in 1824.",
        (Citation(TOWER.id, Quote(0, 13, "塔は1824年に建てられた")), Citation(SONG.id)),
        Support("supported", 0.75, "lexical", (TOWER.id,)),
        "History 👩‍👩‍👧",
    ),
    Claim("E\u0301te\u0301 is warm.", (), Support("unsupported", 0.0, "citation rule"), "History 👩‍👩‍👧"),
    Claim("مَنَارَة means 灯台.", (Citation(BARE.id), Citation(TOWER.id)), None, "Words"),
)
ANSWER = Answer(
    "When was it built?",
    "report",
    "plan",
    "answered",
    CLAIMS,
    (SONG, BARE, TOWER, Passage.of("Nobody cites this.")),
    usage=Usage({"main": 2}, {"main": Tokens(30, 12), "verifier": Tokens(5, 1)}, 0.25),
    settings={"model": "openai:writer"},
    id="q1",
)
ABSTENTION = Answer("Who?", "long", "best", "abstained", passages=(SONG,), notes=("The sources do not say.",), id="q2")
FAILURE = Answer("Why?", "long", "best", "failed", notes=("The model refused.",), id="q3")
ITEMS = (
    Item("q1", "When was it built?", Gold(parts=(Part("When was it lit?", ("1824", "in 1824")),), references=("A.",))),
    Item("q2", "Who?", Gold(answers=(("Tom",),)), record={"id": 7, "source": "own"}),
    Item("q3", "Why?"),
)


def passage(text: str, title: str = "", start: int = 0, **where: object) -> Passage:
    return Passage.of(text, title, Source(start, start + len(text), **where))


READ = (
    *ANSWER.passages,
    passage("", "Empty"),
    passage("e\u0301te\u0301 🇫🇷 \x1b[31mred [2]", "Маяк [1]", 7, url="", record="12", page=3),
    passage("灯台\r\nは𠮷", "灯\n台", path="notes/灯台 1.pdf", record="s1"),
    passage("لمبة 12", url="https://example.org/?a=1&b=[2]"),
)
ODD = ("\u3000 \t灯\n\n台\x00 ", "[1]", "𠮷\u200d\u202e", '"a", [2]\\', "\\[3]\\", "a\u0085b. ", "ok [unsure]")


@st.composite
def exportable(draw: st.DrawFn) -> Answer:
    """A random answer that did not fail; of what dialects do not look at it holds nothing.

    Its claims stand in sections or none, in runs or apart.
    """
    read = tuple(draw(st.lists(st.sampled_from(READ), max_size=4, unique=True)))
    words = st.sampled_from(ODD) | texts()
    titles = st.sampled_from([None, "Life", "Маяк 😀"])
    found = tuple(replace(claim, section=draw(titles)) for claim in draw(st.lists(claims(read, words), max_size=3)))
    return Answer(
        draw(st.sampled_from(["Who?", "塔はいつ\n建った？"])),
        draw(st.sampled_from(STYLES)),
        "best",
        "answered" if found else "abstained",
        found,
        read,
        usage=Usage(tokens={"main": Tokens(7, 2)}),
        notes=draw(st.sampled_from([(), ("The sources do not say.",)])),
        settings=draw(st.sampled_from([{}, {"unsupported": "flag"}, {"model": "scripted:a"}])),
        id="q1",
    )
