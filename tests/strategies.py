"""Random valid values of the vocabulary, for the laws that hold of every one."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import strategies as st

from toulmin.data import (
    STYLES,
    Answer,
    Box,
    Citation,
    Claim,
    Omission,
    Passage,
    Quote,
    Relevance,
    Round,
    Section,
    Source,
    SubQuestion,
    Support,
    Tokens,
    Usage,
    citation_numbers,
)

WORDS = (
    "lamp keepers harbour storms été e\u0301te\u0301 żółw маяк φάρος 灯台 등대지기 प्रकाशस्तंभ ประภาคาร"
    " مَنَارَة מגדלור 😀 👩‍👩‍👧 🇫🇷 3,141.5 half-light don't AT&T <b>bold</b> \x1b[31mred"
).split()
MARK_LIKE = (
    "[3] [1] [0] [1-3] [1,2] [99999999999] [2018] [[1]] 【2】 【1†x】 ［4］ [Document 1] [doc 2] [passage 3] [^1]"
    " [unsure] [unsupported] [contradicted] \\[1] \\\\[1] \\[[2]] [1 (1) [ ] \\ \\\\ [x] [sic]"
).split(" ")
OPENINGS = "Keepers Été E\u0301te\u0301 Żółw Маяк Φάρος 灯台 등대지기 प्रकाशस्तंभ مَنَارَة 😀 “Quoted”".split()


def texts() -> st.SearchStrategy[str]:
    """Words of many scripts among things that look like marks; one space between them; never blank."""
    words = st.lists(st.sampled_from([*WORDS, *MARK_LIKE]), max_size=8)
    return st.tuples(st.sampled_from(WORDS), words).map(lambda drawn: " ".join([drawn[0], *drawn[1]]))


def statements() -> st.SearchStrategy[str]:
    """Texts that are one sentence wherever they stand.

    They begin with a word that can begin a sentence (no lower-case letter, list marker or bracketed number), end in a
    word that is no abbreviation, then at most one mark of the end, hold no other full stop before white space, no
    paired `**`, and no white space but single spaces. Anything that looks like a citation mark may stand inside.
    """
    inside = st.lists(st.sampled_from([*WORDS, *MARK_LIKE]), max_size=6)
    ends = st.sampled_from(["", ".", ".", ".", "!", "?", "。"])
    drawn = st.tuples(st.sampled_from(OPENINGS), inside, st.sampled_from(["walls", "lamps", "灯台", "été"]), ends)
    return drawn.map(lambda d: " ".join([d[0], *d[1], d[2]]) + d[3])


def entities() -> st.SearchStrategy[str]:
    """Texts that are one entity of a list: as `statements`, but with commas and quotes, and no stop at the end."""
    inside = st.lists(st.sampled_from([*WORDS, *MARK_LIKE, "D.C.", "Inc.", "b,", ",", "，", '"c"', "“d”"]), max_size=6)
    first = st.sampled_from([*OPENINGS, '"Heroes"', "keepers", "1,234"])
    drawn = st.tuples(first, inside, st.sampled_from(["walls", "灯台", 'end"', "stop,"]))
    return drawn.map(lambda d: " ".join([d[0], *d[1], d[2]]))


@st.composite
def passages(draw: st.DrawFn) -> Passage:
    """A passage anywhere in a document."""
    text = draw(texts() | st.text(max_size=60))
    start = draw(st.integers(0, 10_000))
    name = st.none() | st.text(max_size=20)
    source = Source(start, start + len(text), draw(name), draw(name), draw(name), draw(st.none() | st.integers(1, 900)))
    return Passage.of(text, draw(st.sampled_from(["", "Lamp", "Маяк [1]"])), source)


def passage_sets(least: int = 0, most: int = 6) -> st.SearchStrategy[tuple[Passage, ...]]:
    """Distinct passages."""
    return st.lists(passages(), min_size=least, max_size=most, unique_by=lambda p: p.id).map(tuple)


def citations_of(passage: Passage) -> st.SearchStrategy[Citation]:
    """A citation of the passage, with a true quote or none."""
    if not passage.text:
        return st.just(Citation(passage.id))
    ends = st.tuples(st.integers(0, len(passage.text) - 1), st.integers(1, len(passage.text)))
    quotes = ends.filter(lambda e: e[0] < e[1]).map(lambda e: Quote(e[0], e[1], passage.text[e[0] : e[1]]))
    return st.builds(Citation, st.just(passage.id), st.none() | quotes, st.lists(boxes(), max_size=2).map(tuple))


def boxes() -> st.SearchStrategy[Box]:
    """Boxes with sides that JSON can hold."""
    pairs = st.lists(st.integers(-5_000, 90_000), min_size=2, max_size=2).map(sorted)
    return st.builds(
        lambda page, x, y: Box(page, x[0] / 100, y[0] / 100, x[1] / 100, y[1] / 100), st.integers(1, 999), pairs, pairs
    )


@st.composite
def claims(
    draw: st.DrawFn, read: tuple[Passage, ...], words: st.SearchStrategy[str] | None = None, most: int = 4
) -> Claim:
    """A claim that cites some of the passages that were read, judged or not."""
    cited = draw(st.lists(st.sampled_from(read), max_size=most, unique=True)) if read else []
    text = draw(texts() | st.text(min_size=1, max_size=30).filter(str.strip) if words is None else words)
    citations = tuple(draw(citations_of(passage)) for passage in cited)
    others = tuple(passage.id for passage in read if passage not in cited)
    return Claim(text, citations, draw(st.none() | supports(tuple(p.id for p in cited), others)))


@st.composite
def supports(draw: st.DrawFn, cited: tuple[str, ...], others: tuple[str, ...] = ()) -> Support:
    """A verdict on what is cited; nothing is supported by nothing, and what fails may be said by others."""
    labels = ["unsure", "unsupported", "contradicted", *(["supported"] if cited else [])]
    reason = draw(st.none() | texts())
    label = draw(st.sampled_from(labels))
    elsewhere = others if label != "supported" and draw(st.booleans()) else ()
    return Support(label, draw(st.floats(0, 1)), "lexical", cited, reason, elsewhere)


COUNTS = st.integers(0, 10**9)
ROLES = st.sampled_from(["main", "verifier"])


def usages() -> st.SearchStrategy[Usage]:
    """What an answer may have cost."""
    return st.builds(
        Usage,
        st.dictionaries(ROLES, COUNTS),
        st.dictionaries(ROLES, st.builds(Tokens, COUNTS, COUNTS)),
        st.none() | st.floats(0, 1e6),
        COUNTS,
        COUNTS,
        st.floats(0, 1e6),
    )


@st.composite
def rounds(draw: st.DrawFn, read: tuple[Passage, ...]) -> Round:
    """A step of a method's story."""
    return Round(
        draw(st.sampled_from(["search", "draft", "claim", "verify", "plan", "repair"])),
        draw(st.integers(1, 9)),
        draw(st.none() | st.integers(0, 9)),
        draw(st.none() | ROLES),
        tuple(p.id for p in read),
        draw(st.none() | texts()),
        tuple(draw(st.lists(texts(), max_size=2))),
        tuple(draw(st.lists(st.builds(Omission, texts(), texts()), max_size=2))),
        tuple(draw(st.lists(texts(), max_size=2))),
        draw(st.none() | st.dictionaries(texts(), st.floats(-1, 1), max_size=2)),
        draw(st.none() | st.booleans()),
    )


JSON_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | texts(),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=8), inner, max_size=2),
    max_leaves=4,
)


def settings_of_answers() -> st.SearchStrategy[dict[str, object]]:
    """Settings as an answer records them."""
    flags = st.fixed_dictionaries({}, optional={"unsupported": st.sampled_from(["keep", "flag", "drop"])})
    return st.tuples(st.dictionaries(st.text(max_size=8), JSON_VALUES, max_size=2), flags).map(lambda d: d[0] | d[1])


@st.composite
def answers(draw: st.DrawFn) -> Answer:
    """An answer of any style and status, its passages in the order in which they were read."""
    read = draw(passage_sets())
    found = tuple(draw(st.lists(claims(read), max_size=3)))
    status = "answered" if found else draw(st.sampled_from(["abstained", "failed"]))
    titled = draw(st.none() | st.sampled_from(["Life", "Маяк"]))
    return Answer(
        draw(texts()),
        draw(st.sampled_from(STYLES)),
        draw(st.sampled_from(["vanilla", "calm", "check"])),
        status,
        tuple(replace(claim, section=titled) for claim in found),
        read,
        (Section(titled, "what it holds"),) if titled else (),
        tuple(draw(st.lists(st.builds(SubQuestion, texts(), st.sampled_from(["answered", "partly"])), max_size=1))),
        draw(usages()),
        tuple(draw(st.lists(rounds(read), max_size=2))),
        draw(COUNTS),
        ("why it failed",) if status == "failed" else (),
        draw(settings_of_answers()),
        draw(st.sampled_from(["", "q1", "Маяк"])),
        draw(st.none() | st.builds(Relevance, st.sampled_from(["yes", "perhaps", "no"]), st.floats(0, 1), texts())),
        draw(texts()),
    )


def in_document_order(answer: Answer) -> Answer:
    """The answer with the cited passages first, in order of first use, as its document lists them."""
    numbers = citation_numbers(answer.claims)
    rest = [p for p in answer.passages if p.id not in numbers]
    return replace(answer, passages=(*answer.cited, *rest))
