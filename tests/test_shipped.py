"""The weights of this repository, as they ship: that they load, and that they do what a person would notice.

How good they are is measured by `benchmarks/`; here are single plain cases.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from email.message import EmailMessage
from pathlib import Path

import pytest
from row_tables import table

pytest.importorskip("onnxruntime", reason="needs onnxruntime (extra: embedded)")
pytest.importorskip("tokenizers", reason="needs tokenizers (extra: embedded)")

import toulmin
from toulmin import ask, demo
from toulmin.build import parts
from toulmin.build.encoding import encoder
from toulmin.cli import doctor
from toulmin.config import Settings
from toulmin.data import Passage
from toulmin.demo import QUESTION
from toulmin.judges.embedded import Bars, EmbeddedJudge, load_judge
from toulmin.judges.trained import NetworkVerdict, Shares, excerpts
from toulmin.methods import METHODS
from toulmin.prompts.types import AnswerPrompt
from toulmin.retrieval.bm25 import InMemory
from toulmin.runtime import shipped
from toulmin.steps import Generate, Pair

WEIGHTS = Path(__file__).parent.parent / "weights"
PLACES = [WEIGHTS / "src", WEIGHTS / "judge" / "src"]
JUDGE = PLACES[1] / "toulmin_weights" / "judge"
TOWER = Passage.of(
    "Kettle Rock Tower was built by Hannah Pell between 1821 and 1824. Three keepers lived in it until 1978, when the"
    " lamp was automated. The last keeper, Tom Ashby, wrote a book about birds.",
    "Kettle Rock Tower",
)
OTHER = Passage.of("The island has a school, a harbour and two shops.", "The island")


@pytest.fixture(scope="module")
def judge() -> EmbeddedJudge:
    return load_judge(JUDGE)


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if the distribution were installed."""
    monkeypatch.setattr(shipped, "PACKAGE", "toulmin_weights")
    for place in PLACES:
        monkeypatch.syspath_prepend(str(place))


def test_the_parts_are_small_enough_for_a_laptop():
    assert sum(file.stat().st_size for place in PLACES for file in place.rglob("*") if file.is_file()) <= 200_000_000


def test_every_file_is_the_one_that_is_listed(installed: None):
    assert shipped.installed().keys() == {"judge", "reader", "encoder"}
    assert {kind: shipped.part(kind).identity for kind in shipped.installed()} == shipped.DIGESTS


def test_this_processor_computes_what_the_maker_of_the_judge_did(installed: None):
    assert doctor._numbers().state == "works"


@pytest.mark.parametrize(
    "claim",
    [
        "Kettle Rock Tower was built by Hannah Pell between 1821 and 1824.",
        "Hannah Pell built Kettle Rock Tower.",
        "Tom Ashby was the last keeper of the tower.",
    ],
)
def test_what_the_passage_says_is_supported(judge: EmbeddedJudge, claim: str):
    (verdict,) = judge.judge([Pair((TOWER, OTHER), claim)])
    assert (verdict.label, verdict.judge) == ("supported", "large-3")


@pytest.mark.parametrize(
    "claim",
    [
        "Kettle Rock Tower was built by Hannah Pell between 1831 and 1834.",
        "Kettle Rock Tower was built by Tom Ashby.",
        "Three keepers lived in the tower until 1987.",
        "Nobody lived in the tower.",
        "The harbour was dredged by Danish engineers.",
    ],
)
def test_what_the_passage_does_not_say_is_not_supported(judge: EmbeddedJudge, claim: str):
    (verdict,) = judge.judge([Pair((TOWER, OTHER), claim)])
    assert verdict.label != "supported"


@pytest.mark.parametrize(
    ("claim", "is_said"),
    [
        ("Hannah Pell built Kettle Rock Tower.", True),
        ("The lamp became automatic in 1978.", True),
        ("The last keeper wrote about birds.", True),
        ("Kettle Rock Tower built Hannah Pell.", False),
        ("The lamp was never automated.", False),
        ("Two keepers lived there until 1978.", False),
        ("The tower was built in 1831.", False),
    ],
)
def test_the_judge_reads_who_did_what(judge: EmbeddedJudge, claim: str, is_said: bool):
    (verdict,) = judge.judge([Pair((TOWER, OTHER), claim)])
    assert (verdict.label == "supported", verdict.judge) == (is_said, "large-3")


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        ("It is a myth that the keeper was a pirate.", "The keeper was a pirate."),
        ("The council plans to close the harbour in May.", "The council closed the harbour in May."),
        ("The beam reaches at least 50 miles.", "The beam reaches at most 50 miles."),
    ],
)
def test_what_a_source_does_not_state_as_fact_is_not_supported(judge: EmbeddedJudge, text: str, claim: str):
    (verdict,) = judge.judge([Pair((Passage.of(text),), claim)])
    assert verdict.label != "supported"


class Unread:
    """A network that nothing is left for."""

    name = key = "unread"

    def shares(self, pairs: Sequence[Pair]) -> list[NetworkVerdict]:
        assert not pairs
        return []


class Doubting:
    """A network that finds everything in one passage and nothing in several."""

    name = key = "doubting"

    def shares(self, pairs: Sequence[Pair]) -> list[NetworkVerdict]:
        chances = [0.95 if len(pair.premises) == 1 else 0.1 for pair in pairs]
        return [
            NetworkVerdict(Shares(chance, 1 - chance, 0.0), excerpts(pair.claim, pair.premises, 10_000, len)[0])
            for chance, pair in zip(chances, pairs, strict=True)
        ]


def test_what_passes_alone_must_pass_beside_all_that_was_found():
    judge, claim = EmbeddedJudge(Doubting(), Bars(1.0, 0.0, 0.6, 0.6, 0.3, 0.5)), "The tower was put up by Hannah Pell."
    read = [(), (TOWER,), (TOWER, OTHER)]
    verdicts = judge.judge([Pair((TOWER,), claim, read=found) for found in read])
    assert [verdict.label for verdict in verdicts] == ["supported", "supported", "unsupported"]
    assert [round(verdict.support, 2) for verdict in verdicts] == [0.95, 0.95, 0.1]


COPIED = "Three keepers lived in it until 1978, when the lamp was automated."


@pytest.mark.parametrize(
    ("claim", "label", "quotes"),
    [
        (COPIED, "supported", [COPIED]),
        (COPIED.replace(" ", "\n"), "supported", [COPIED]),
        ("Hannah Pell", "unsure", ["Hannah Pell"]),
        ("Zebras graze peacefully.", "unsupported", []),
        ("", "unsupported", []),
    ],
)
def test_what_words_alone_decide_needs_no_network(claim: str, label: str, quotes: list[str]):
    judge = EmbeddedJudge(Unread(), Bars(1.0, 0.0, 0.6, 0.6, 0.3, 0.5))
    (verdict,) = judge.judge([Pair((TOWER,), claim)])
    assert (verdict.label, [quote.text for quote in verdict.quotes if quote]) == (label, quotes)


def test_a_verdict_does_not_hang_on_the_pairs_beside_it(judge: EmbeddedJudge):
    pairs = [Pair((TOWER,), claim) for claim in ("Hannah Pell built it.", "It was built in 1900.", "Birds were seen.")]
    assert judge.judge(pairs) == [judge.judge([pair])[0] for pair in pairs]


def test_installed_they_are_what_is_taken(installed: None):
    kit = parts.kit(InMemory([TOWER, OTHER]), Settings())
    assert kit.models["main"].name == "extractive+reader"
    pair = Pair((TOWER,), "Hannah Pell built Kettle Rock Tower.")
    assert parts.judge(Settings().judge, Settings()).judge([pair])[0].judge == "large-3"


def test_the_reader_finds_the_words_that_answer_and_says_when_none_do(installed: None):
    main = parts.kit(InMemory([TOWER, OTHER]), Settings()).models["main"]
    asked = ("Who was the last keeper?", "Who painted the Mona Lisa?")
    first, second = main.generate([Generate(AnswerPrompt(question, (TOWER, OTHER), "short")) for question in asked])
    assert "Tom Ashby" in first.value.claims[0].text
    assert second.value.claims == ()


def test_a_mail_is_answered_from_by_neither_its_quotes_nor_its_names_of_files(installed: None, tmp_path: Path):
    mail = EmailMessage()
    mail["From"], mail["Subject"], mail["Date"] = "Anna Berg <a@b.c>", "Boat house", "Mon, 02 Mar 2026 10:00:00 +0000"
    mail.set_content("See the price list.\n\nOn Sunday Bo wrote:\n> How much is the boat\n> house in winter?\n")
    prices = "The boat house costs 410 euros a month in winter. In summer it costs 620 euros."
    mail.add_attachment(prices, filename="prices.txt")
    (tmp_path / "rent.eml").write_bytes(mail.as_bytes())
    answer = toulmin.ask("How much is the boat house in winter?", docs=tmp_path)
    assert answer.text == "The boat house costs 410 euros a month in winter [1]."


def test_the_encoder_finds_what_is_said_in_other_words(installed: None):
    made = encoder("embedded", Settings())
    texts = ["The lighthouse got a machine instead of people.", "A pupil walks to class."]
    held = made.encode_passages([TOWER, OTHER])
    assert (made.encode_queries(texts) @ held.T).argmax(1).tolist() == [0, 1]


def test_among_passages_alike_the_one_with_the_number_is_first(installed: None, tmp_path: Path):
    numbers = range(1_000_000, 1_000_030)
    for n in numbers:
        (tmp_path / f"{n * 7919 % 10007}.txt").write_text(f"The lantern of Port Quorl {n} was lit in 1824 by Ann Pell.")
    for n in numbers:
        (first,) = toulmin.search(f"lantern of Port Quorl {n}", docs=tmp_path, k=1)
        assert f"Quorl {n}" in first.passage.text


def test_a_question_for_one_of_many_alike_is_answered_from_that_one(installed: None, tmp_path: Path):
    for n in range(30):
        text = f"The work at the mill was done in {1830 + n}. The total amount is {3 * n + 200} euros."
        (tmp_path / f"Invoice {1000000 + n}.txt").write_text(f"Invoice {1000000 + n}. {text}")
    for n in (0, 11, 29):
        answer = toulmin.ask(f"What is the total amount of invoice {1000000 + n}?", docs=tmp_path)
        assert (f"{3 * n + 200} euros" in answer.text, len(answer.cited)) == (True, 1)
        assert {claim.support.label for claim in answer.claims} == {"supported"}
    answer = toulmin.ask("What is the total amount of invoice 1000077?", docs=tmp_path)
    assert answer.status == "abstained" or answer.relevance.unmentioned == ("1000077",)


def test_reading_reports_nothing_to_the_maker_of_the_runtime(tmp_path: Path):
    """onnxruntime keeps what it is about to send in the cache folder; in CI it would be silent of itself."""
    quiet = ("CI", "TF_BUILD", "GITHUB_ACTIONS", "BUILD_ID", "ORT_DISABLE_TELEMETRY", "ORT_RUNNING_UNIT_TESTS")
    environment = {name: value for name, value in os.environ.items() if name not in quiet}
    load = f"from toulmin.judges.embedded import load_judge; load_judge({str(JUDGE)!r})"
    places = {"HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1"}
    subprocess.run([sys.executable, "-c", load], env=environment | places, check=True)
    assert not list(tmp_path.rglob("*"))


@table("method", [name for name in METHODS if name != "closed"])  # which searches nothing
def test_every_method_answers_the_demo_with_valid_citations(method: str, installed: None):
    answer = ask(QUESTION, docs=demo.FOLDER, method=method, judge="lexical")
    titles = {answer.passage(id).title for claim in answer.claims if claim.is_supported for id in claim.cited}
    assert ("20,000 pounds" in answer.text, "The Longitude Act" in titles) == (True, True)


OPENED = (
    "The lamp was lit in 1824, after years of work. Its glass is red, white and blue; it was cut in Hull, they say."
    " A pirate was its first keeper, but that is a myth."
)


@pytest.mark.parametrize(
    ("claim", "quotes"),
    [
        ("The lamp was lit in 1824.", ["The lamp was lit in 1824, after years of work."]),
        ("Its glass is red, white and blue.", ["Its glass is red, white and blue; it was cut in Hull, they say."]),
        ("Its glass is red.", None),
        ("A pirate was its first keeper.", None),
        ("The lamp was lit in 1824, after years.", None),
        ("The lamp was.", None),
    ],
)
def test_what_opens_a_sentence_word_for_word_needs_no_network(claim: str, quotes: list[str] | None):
    judge = EmbeddedJudge(Doubting(), Bars(1.0, 0.0, 0.6, 0.6, 0.3, 0.5))
    (verdict,) = judge.judge([Pair((Passage.of(OPENED, "Lamp"),), claim)])
    said = [quote.text for quote in verdict.quotes if quote]
    assert (verdict.support == 0.98, said if quotes else None) == (quotes is not None, quotes)
