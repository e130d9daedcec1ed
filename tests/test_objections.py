"""Rules that lower a verdict whatever its score: the laws they keep, and what they say in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from row_tables import table

from toulmin.data import Passage
from toulmin.data import Source as Origin
from toulmin.judges.coverage import Source, read
from toulmin.judges.embedded import Bars, EmbeddedJudge
from toulmin.judges.facts import absence
from toulmin.judges.gate import SUPPORTED
from toulmin.judges.lexical import Lexical
from toulmin.judges.trained import NetworkVerdict, Shares, excerpts
from toulmin.steps import Pair, Verdict
from toulmin.text.wording import is_fragment


class Sure:
    """A network that finds everything supported beyond doubt."""

    name = key = "sure"

    def shares(self, pairs: Sequence[Pair]) -> list[NetworkVerdict]:
        views = (excerpts(pair.claim, pair.premises, 400, lambda text: len(text.split()), 1)[0] for pair in pairs)
        return [NetworkVerdict(Shares(1.0, 0.0, 0.0), view) for view in views]


BARS = Bars(1.0, 0.0, 0.6, 0.6, 0.4, 0.5)
JUDGES = {"lexical": Lexical(), "embedded": EmbeddedJudge(Sure(), BARS)}


def verdicts(claim: str, text: str, title: str = "") -> dict[str, Verdict]:
    pair = Pair((Passage.of(text, title),), claim)
    return {name: judge.judge([pair])[0] for name, judge in JUDGES.items()}


def supporters(claim: str, text: str, title: str = "") -> list[str]:
    return [name for name, verdict in verdicts(claim, text, title).items() if verdict.label == "supported"]


def is_supported_by_words(claim: str, text: str, title: str = "") -> bool:
    """By the lexical judge: the other one has no rule for names."""
    return verdicts(claim, text, title)["lexical"].label == "supported"


# ---------------------------------------------------------------- the names law

PLAIN = "keeper lamp harbour storm tower stone boat island engine wrote built carried measured repaired city".split()
NAMES = "Hopper Grace Kowalski Rose Baker Nakamura Zanzibar Wittgenstein Oslo Mark Иванов Παπαδόπουλος Ørsted".split()
FORMS = (
    "{0} {1} {2}.",
    "{0}'s {2} {1}.",
    "Dr. {0} {1} {2}.",
    "Sir {0} {1} {2}.",
    "Captain {0} {1} {2}.",
    "President {0} {1} {2}.",
    "The {1} was of {0}, the {2}.",
    "She {1} with {0}.",
    "She {1} the {2} with Ada {0}.",
    "Ada {0} {1} the {2}.",
    "Mary-{0} {1} {2}.",
    "The {0} Institute {1} the {2}.",
)
ACRONYMS = ("NASA", "IBM", "UNESCO", "B-52")
FIGURES = ("1987", "3 May 1987", "42", "42 %", "seven", "the 1980s", "2.5 million", "17 km")


def sources() -> st.SearchStrategy[str]:
    """A passage about Ada Lovelace, most sentences of which begin with "She", without the names and figures above."""
    sentence = st.lists(st.sampled_from(PLAIN), min_size=2, max_size=7).map(" ".join)
    opened = st.tuples(st.sampled_from(["She", "Ada Lovelace", "The city", "It"]), sentence)
    return st.lists(opened.map(lambda parts: " ".join(parts) + "."), min_size=1, max_size=5).map(" ".join)


WORDS = st.sampled_from(PLAIN)


@given(sources(), st.sampled_from(NAMES), st.sampled_from(FORMS), WORDS, WORDS, st.booleans())
def test_a_name_that_no_premise_has_is_never_supported(text: str, name: str, form: str, a: str, b: str, loud: bool):
    claim = form.format(name, a, b)
    assert not is_supported_by_words(claim.upper() if loud and claim.count(" ") > 2 else claim, text, "Ada Lovelace")


@given(sources(), st.sampled_from(ACRONYMS), WORDS, WORDS, st.integers(0, 3))
def test_an_acronym_that_no_premise_has_is_never_supported(text: str, name: str, a: str, b: str, at: int):
    words = ["She", a, "the", b]
    assert not is_supported_by_words(" ".join([*words[:at], name, *words[at:]]) + ".", text, "Ada Lovelace")


@given(sources(), st.sampled_from(FIGURES), WORDS, WORDS, st.integers(0, 3))
def test_a_figure_that_no_premise_has_is_never_supported(text: str, figure: str, a: str, b: str, at: int):
    words = ["She", a, "the", b]
    found = supporters(" ".join([*words[:at], figure, *words[at:]]) + ".", text, "Ada Lovelace")
    assert found == [] if figure != "seven" else "lexical" not in found  # the network reads a number in letters


MANUAL = (
    "The fish shell reads its commands from ~/.config/fish/config.fish and writes a file. Call os.path.join or"
    " read_only_open first; `git push --[no-]verify -la` needs mod_http2, SQLITE_BUSY and version 3.11.2. Debian 12 has"
    " 13 ports in the folder usr. At 350 °F it stops; it was written in the 1960s."
)


@table(
    ("claim", "words"),
    [
        ("The fish shell reads --strict before it writes a file.", "--strict"),
        ("Use git push -x to write a file.", "-x"),
        ("The fish shell reads its commands from /etc/zshrc and writes a file.", "/etc/zshrc"),
        ("The fish shell reads its commands from ~/.config/fish/other.fish and writes.", "~/.config/fish/other.fish"),
        ("Call os.path.split first.", "os.path.split"),
        ("Call read_only_close first.", "read_only_close"),
        ("It needs mod_http3 first.", "mod_http3"),
        ("It needs version 3.11.4 first.", "3.11.4"),
        ("It needs version 3.11.12 first.", "3.11.12"),
        ("The fish shell reads /fish/config.fish and writes a file.", "/fish/config.fish"),
        ("Debian 13 has ports.", "Debian 13"),
        ("The `-12` ports of Debian 12 are written.", "-12"),
    ],
)
def test_a_name_of_manuals_that_no_premise_has_is_not_supported(claim: str, words: str):
    assert supporters(claim, MANUAL) == []
    assert (verdicts(claim, MANUAL)["embedded"].reason or "").startswith(words)


@table(
    "claim",
    [
        "The fish shell reads its commands from config.fish and writes a file.",
        "First call `os.path.join`, or else `read-only-open`.",
        "Push with --no-verify, --verify or -la.",
        "It needs sqlite_busy and mod-http2 first.",
        "2. It needs mod_http2 first.",
        "It needs version 3.11.2 first.",
        "It needs version 3.11 first.",
        "Debian 12 has ports and a shell, and/or a file.",
        "At 350 degrees F it stops.",
        "It was written in the 1960's.",
        "The shell writes to /usr first.",
    ],
)
def test_a_name_of_manuals_in_another_spelling_stands(claim: str):
    assert verdicts(claim, MANUAL)["embedded"].label == "supported"


UNITS = ("miles", "km", "metres", "kg", "pounds", "euros", "percent", "hours", "litres")


@given(sources(), st.integers(2, 900), st.sampled_from(UNITS), st.sampled_from(UNITS), WORDS)
def test_a_figure_with_another_unit_is_never_supported(text: str, figure: int, theirs: str, ours: str, word: str):
    said = f"{text} She {word} {figure} {theirs}."
    assert theirs == ours or supporters(f"Ada {word} {figure} {ours}.", said, "Ada Lovelace") == []


CHINESE = "灯塔建于海边。看守人每天点灯。"


@pytest.mark.parametrize("claim", ["李明建了灯塔。", "张伟每天点灯。"])
def test_a_name_in_a_script_without_case_is_not_supported(claim: str):
    assert not is_supported_by_words(claim, CHINESE)


def test_a_pronoun_for_another_person_proves_no_name():
    text = "She worked with Charles Babbage on the Analytical Engine. She wrote notes on it in 1843."
    claim = "Grace Hopper worked with Charles Babbage on the Analytical Engine."
    assert verdicts(claim, text, "Ada Lovelace")["lexical"].reason == "Grace Hopper is not in the sources"


SPELLINGS = [
    ("Canadian voters chose in 1994.", "In 1994 voters in Canada chose."),
    ("The U.S. economy grew.", "The American economy grew."),
    ("They had 1,200,000 members.", "They had 1.2 million members."),
    ("They had 23 , 768 shops.", "They had 23,768 shops."),
    ("It began in the 1990s.", "It began in 1994."),
    ("It began in the 1920 ' s.", "It began in the 1920s."),
    ("Three ships sank.", "3 ships sank."),
    ("President Obama spoke.", "Obama spoke."),
    ("The NIH 3T3 cells grew.", "The NIH3T3 cells grew."),
    ("Type II diabetes rose.", "Type 2 diabetes rose."),
    ("4. Justice Wanjala", "Justice Wanjala was named."),
    ("She walked 5 kilometres.", "She walked 5 km."),
    ("She walked five miles.", "She walked 5 miles."),
    ("She paid $500.", "She paid 500 dollars."),
    ("IBM's plant closed.", "The plant of International Business Machines closed."),
    ("The Tuberculosis-induced illness spread.", "Illness from tuberculosis spread."),
]


@table(("claim", "text"), SPELLINGS)
def test_another_spelling_is_no_other_name(claim: str, text: str):
    assert absence(read(claim), [Source(read(text), read(""))]).sure == ()


# ---------------------------------------------------------------- short answers


QUESTION = "Where was the lamp of the tower carried by the keeper?"
STRICT = replace(BARS, supported=0.9)
STRICT_JUDGES = ((Lexical(), SUPPORTED), (EmbeddedJudge(Sure(), STRICT), STRICT.supported))
WORDS = [*QUESTION.rstrip("?").split(), *NAMES, "in", "by", "."]


@given(st.lists(st.sampled_from(WORDS), min_size=8, max_size=30), st.sampled_from(NAMES))
def test_a_short_answer_is_called_supported_only_with_the_support_for_it(text: list[str], answer: str):
    pair = Pair((Passage.of(" ".join([*text, answer])),), answer, QUESTION)
    for judge, least in STRICT_JUDGES:
        (verdict,) = judge.judge([pair])
        assert verdict.support >= least or not verdict.entails


def test_the_passive_turns_no_names_round():
    text = "The British Parliament passed the Longitude Act in July 1714, in the last weeks of Queen Anne."
    claim = "The Longitude Act was passed by Parliament in July 1714."
    assert supporters(claim, text, "Longitude Act") == ["lexical", "embedded"]


def test_a_measure_is_no_year():
    assert supporters("It was built in the 1500s.", "The tank holds 1500 litres. It was built in 1950.") == []


@table("claim", ["1824", "Kettle Rock.", "Remote Login", "Yes.", "1824 1825 1826 1827"])
@table("question", [None, "Where did the tower stand?"])
def test_one_or_two_words_are_no_statement_without_their_question(claim: str, question: str | None):
    source = Passage.of(f"{claim} The tower of Kettle Rock was lit in 1824. Remote Login needs a key.")
    (verdict,) = Lexical().judge([Pair((source,), claim, question)])
    assert ("one or two words" in (verdict.reason or "")) == (question is None)
    assert verdict.label != "supported" or question is not None


@table(("sentence", "is_one"), [("Nobody died.", False), ("Prices rose.", False), ("Prices rose", True), ("No.", True)])
def test_two_words_and_a_full_stop_may_state_something(sentence: str, is_one: bool):
    assert is_fragment(sentence) == is_one


@pytest.mark.parametrize(
    ("claim", "reason"),
    [
        ("The accuracy of the sea clock H4", "a title alone"),
        ("The sea watch H4 was finished in 1759", None),
        ("The sea clock H3 was finished by", None),  # as the passage, which its corpus cut there
    ],
)
def test_words_of_a_source_that_make_no_statement_are_not_supported(claim: str, reason: str | None):
    text = (
        "The sea watch H4\n\nHe built a watch. The sea watch H4 was finished in 1759. The sea clock H3 was finished by"
    )
    (verdict,) = Lexical().judge([Pair((Passage.of(text, "The sea watch H4"),), claim)])
    assert (verdict.label == "supported") == (reason is None)
    assert (reason or "") in (verdict.reason or "")


@pytest.mark.parametrize(
    ("claim", "label"),
    [
        ("The Keepers of Kettle Rock", "unsure"),
        ("the early years: 1824 to 1830", "unsure"),
        ("The keepers of Kettle Rock left.", "supported"),
        ("The Keepers of Kettle Rock.", "supported"),  # said as a sentence, which a heading may be
    ],
)
def test_a_title_alone_is_no_statement(claim: str, label: str):
    text = "The keepers of Kettle Rock left. The Keepers of Kettle Rock. The early years: 1824 to 1830 were hard."
    place = Origin(0, len(text), section="History › The early years: 1824 to 1830")
    (verdict,) = Lexical().judge([Pair((Passage.of(text, "The keepers of Kettle Rock", place),), claim)])
    assert verdict.label == label, verdict.reason


def test_what_the_source_only_supposes_or_denies_is_supported_by_no_judge():
    text = "It is a myth that the keeper of the tower was a pirate. The tower was lit in 1824, after years of dispute."
    assert supporters("The keeper of the tower was a pirate.", text) == []
    assert supporters("The tower was lit in 1824.", text) == ["lexical", "embedded"]


@table(
    ("claim", "text", "is_met"),
    [
        ("The rope is over 2 m long.", "The rope is 2.4 m long.", True),
        ("The rope is over 2 m long.", "The rope is 1.4 m long.", False),
        ("The load is at most 5 kg.", "The load is 3–5 kg.", True),
        ("More than half of the members agreed.", "55 % of the members agreed.", True),
        ("More than half of the members agreed.", "45 % of the members agreed.", False),
        ("Over 48,000 visits were counted.", "In all 48,200 visits were counted.", True),
        ("Over 48,000 loans were counted.", "In all 48,200 visits were counted.", False),
        ("Up to 9 filters may be used.", "Up to 4 filters may be used.", False),
        ("Nearly 500 people came.", "497 people came.", True),
        ("Nearly 500 people came.", "507 people came.", False),
        ("About 67 % of the members agreed.", "Two thirds of the members agreed.", True),
        ("About 60 % of the members agreed.", "Two thirds of the members agreed.", False),
        ("The number of disks may be 64 or fewer.", "The number of disks must not be more than 64.", True),
        ("The number of disks is at least 64.", "The number of disks must not be more than 64.", False),
        ("The number of disks may be more than sixty-four.", "The number of disks must not exceed 64.", False),
        ("The speed is never above 30 km/h.", "The speed is at most 30 km/h.", True),
        ("It takes no more than 6 kg.", "It takes no fewer than 6 kg and 2 kg of salt.", False),
        ("The tank needs a minimum of 5 kg.", "The tank needs ≥ 5 kg.", True),
        ("The tank needs a minimum of 5 kg.", "The tank needs <= 5 kg.", False),
    ],
)
def test_a_value_within_the_bound_of_a_claim_meets_it(claim: str, text: str, is_met: bool):
    assert (verdicts(claim, text)["embedded"].label == "supported") == is_met


@table(
    ("claim", "text", "reason"),
    [
        ("The lid weighs 5 kg.", "The lid weighs 4 kg.", "the source says 4 kg, the claim says 5 kg"),
        ("Half of the staff is new.", "Sales rose by 20 %. The staff is large.", "Half is not in the sources"),
    ],
)
def test_an_unrelated_value_is_no_rival(claim: str, text: str, reason: str):
    assert verdicts(claim, text)["embedded"].reason == reason


@table(
    ("claim", "text", "is_turned"),
    [
        ("The rules run from yearly to secondly.", "The rules run from secondly to yearly, and later.", True),
        ("The day after October 15th was October 4th.", "In 1582 the day after October 4th was October 15th!", True),
        ("The old keeper paid the harbour master.", "The harbour master paid the old keeper.", True),
        ("The tool does not change the old path.", "The tool changes the old path.", True),
        ("The index can be made anew by hand.", "The index can't be made anew by hand.", True),
        ("The fee covers lamps, oil, rope and boats.", "The fee covers boats, oil, rope and lamps.", False),
        ("The keepers and the pilots drank ale.", "The pilots and the keepers drank ale.", False),
        ("The old tower is the tallest mark.", "The tallest mark is the old tower.", False),
        ("The old keeper paid the harbour.", "The old keeper, it is not denied, paid the harbour.", False),
        ("The keeper doesn't pay the harbour.", "The keeper does not pay the harbour.", False),
    ],
)
def test_a_copy_that_says_the_opposite_is_contradicted(claim: str, text: str, is_turned: bool):
    for verdict in verdicts(claim, text).values():
        assert (verdict.label == "contradicted") == is_turned, verdict.reason
