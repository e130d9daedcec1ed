"""The parser behind the judge: exchanged roles are objected to, the same said otherwise is not."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path

import pytest

from toulmin.build import parts
from toulmin.config import Settings
from toulmin.data import Passage
from toulmin.errors import ModelError
from toulmin.judges.grammar import Grammar
from toulmin.judges.lexical import Lexical
from toulmin.runtime import parser
from toulmin.steps import Pair, Verdict

INVESTIGATION = (
    "The investigation, led by former Dutch General Patrick Cammaert, is separate from the investigation led by the"
    " UN's Human Rights Council."
)
CHARGE = (
    "Yesterday, the Milwaukee County district attorney charged Cory J. Feerick, a 33-year-old from Brookfield,"
    " Wisconsin, with five misdemeanor counts."
)
LESSONS = "Ada Lovelace, who was taught mathematics by Augustus De Morgan, met Charles Babbage in 1833."
MATCH = "In the final Steffi Graf beat Martina Navratilova in three sets."
INVASION = "Napoleon's invasion of Russia began in June 1812."
SALE = "In 1803 France sold Louisiana to the United States."


class Agreeable:
    """A judge that supports whatever it is asked, so that only the objections tell."""

    name = "agreeable"

    def judge(self, pairs: list[Pair]) -> list[Verdict]:
        return [Verdict("supported", 0.9, 0.0, self.name) for _ in pairs]


GRAMMAR = Grammar(Agreeable())


def verdict(claim: str, *texts: str, question: str | None = None) -> Verdict:
    pair = Pair(tuple(map(Passage.of, texts)), claim, question)
    return asyncio.run(GRAMMAR.judge([pair]))[0]


@pytest.mark.parametrize(
    ("claim", "text"),
    [
        ("The investigation led Patrick Cammaert.", INVESTIGATION),
        ("Cory J. Feerick charged the Milwaukee County district attorney.", CHARGE),
        ("The Milwaukee County district attorney was charged by Cory J. Feerick.", CHARGE),
        ("Ada Lovelace taught Augustus De Morgan.", LESSONS),
        ("Martina Navratilova beat Steffi Graf.", MATCH),
        ("Steffi Graf lost to Martina Navratilova in the final.", MATCH),
        ("Russia invaded Napoleon.", INVASION),
        ("The United States sold Louisiana to France in 1803.", SALE),
        ("France bought Louisiana from the United States in 1803.", SALE),
    ],
)
def test_exchanged_roles_are_not_supported(claim: str, text: str):
    assert verdict(claim, text).label in ("contradicted", "unsupported")


@pytest.mark.parametrize(
    ("claim", "text"),
    [
        ("Patrick Cammaert led the investigation.", INVESTIGATION),
        ("Cory J. Feerick was charged by the Milwaukee County district attorney.", CHARGE),
        ("Augustus De Morgan taught Ada Lovelace.", LESSONS),
        ("Ada Lovelace learned mathematics from Augustus De Morgan.", LESSONS),
        ("Martina Navratilova lost to Steffi Graf.", MATCH),
        ("Napoleon invaded Russia in 1812.", INVASION),
        ("The United States bought Louisiana from France.", SALE),
        ("Charles Babbage met Ada Lovelace.", LESSONS),  # whoever meets is met
    ],
)
def test_the_same_deed_in_other_words_stays_supported(claim: str, text: str):
    assert verdict(claim, text).label == "supported"


def test_the_reason_says_what_the_source_has():
    seen = verdict("Cory J. Feerick charged the Milwaukee County district attorney.", CHARGE)
    assert (seen.label, seen.judge) == ("contradicted", "agreeable+grammar")
    assert seen.reason == (
        "the source has Milwaukee County district attorney and Cory J. Feerick the other way round in 'charged'"
    )


def test_a_sentence_that_has_them_straight_lifts_the_objection():
    back = "A year later Martina Navratilova beat Steffi Graf."
    assert verdict("Martina Navratilova beat Steffi Graf.", MATCH, back).label == "supported"


def test_a_denied_deed_objects_to_nothing():
    text = "In that year Steffi Graf did not beat Martina Navratilova, who won every match."
    assert verdict("Martina Navratilova beat Steffi Graf.", text).label == "supported"


def test_a_short_answer_is_not_parsed():
    assert verdict("Martina Navratilova beat Steffi Graf", MATCH, question="What happened?").label == "supported"


def test_the_name_and_the_key_are_not_those_of_the_judge_before_it():
    plain, parsing = Lexical(), parts.judge("grammar:lexical", Settings())
    assert (parsing.name, GRAMMAR.key) == (f"{plain.name}+grammar", Grammar(Agreeable()).key)
    assert getattr(parsing, "key", None) not in (None, GRAMMAR.key, plain.name)


def test_what_the_judge_does_not_support_is_not_parsed():
    parsing = Grammar(Lexical(), parser=None)
    pair = Pair((Passage.of(MATCH),), "Bread was cheap in 1824.")
    [seen] = asyncio.run(parsing.judge([pair]))
    assert (seen.label, seen.judge) == ("unsupported", "lexical-2+grammar")
    assert "_pipeline" not in vars(parsing._parser)


def test_a_changed_byte_of_the_model_is_refused(tmp_path: Path):
    folder = tmp_path / "model"
    shutil.copytree(parser.model_folder(), folder)
    parser.check_files(folder)
    weights = folder / "parser" / "model"
    content = bytearray(weights.read_bytes())
    content[1000] ^= 1
    weights.write_bytes(content)
    with pytest.raises(ModelError, match="their SHA-256 is another one"):
        parser.check_files(folder)


def test_an_added_file_is_refused(tmp_path: Path):
    folder = tmp_path / "model"
    shutil.copytree(parser.model_folder(), folder)
    (folder / "code.py").write_text("import os")
    with pytest.raises(ModelError, match="as they were published"):
        parser.check_files(folder)
