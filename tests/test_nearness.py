"""What an encoder tells the embedded writer, with a small one made for the purpose."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from toulmin.data import Passage
from toulmin.extractive.evidence import Survey
from toulmin.extractive.meaning import EncoderMeaning
from toulmin.extractive.writer import Extractive
from toulmin.prompts.types import AnswerPrompt
from toulmin.runtime.encoder import Titled, Vectors
from toulmin.steps import Generate

TOPICS = (("lamp", "light", "lit", "shine"), ("sea", "wave", "tide"), ("built", "made", "raised"))


class Topics:
    """An encoder of three numbers: how many words of each topic a text has; longer than one where it has more."""

    name, identity, dimension = "topics", "topics", len(TOPICS)

    def __init__(self) -> None:
        self.encoded: list[str] = []

    def encode_queries(self, queries: Sequence[str]) -> Vectors:
        return np.array([self._row(query) for query in queries], np.float32)

    def encode_passages(self, passages: Sequence[Titled]) -> Vectors:
        self.encoded += [passage.text for passage in passages]
        return np.array([self._row(f"{passage.title} {passage.text}") for passage in passages], np.float32)

    def _row(self, text: str) -> list[float]:
        lower = text.lower()
        return [1e-6 + sum(lower.count(word) for word in topic) for topic in TOPICS]


TEXTS = [("", "The lamp was lit."), ("Sea", "Waves rose."), ("", "The lamp was lit.")]


def test_cosines_are_those_of_rows_of_length_one():
    asked, each = EncoderMeaning(Topics).nearness("Which light would shine?", TEXTS)
    assert asked == pytest.approx([1.0, 0.0, 1.0], abs=1e-3)
    assert each[0] == pytest.approx([1.0, 0.0, 1.0], abs=1e-3)
    assert each[1] == pytest.approx([0.0, 1.0, 0.0], abs=1e-3)


def test_no_sentence_has_no_cosine():
    assert EncoderMeaning(Topics).nearness("light", []) == ((), ())


def test_a_sentence_is_encoded_once_while_it_is_kept():
    made = Topics()
    compared = EncoderMeaning(lambda: made, kept=2)
    compared.nearness("light", TEXTS)
    compared.nearness("sea", TEXTS)
    assert sorted(made.encoded) == ["The lamp was lit.", "Waves rose."]
    compared.nearness("sea", [("", "It was built."), ("", "It was made.")])
    compared.nearness("sea", TEXTS)
    assert made.encoded.count("Waves rose.") == 2


def test_the_encoder_is_made_with_the_first_question():
    made: list[Topics] = []

    def make() -> Topics:
        made.append(Topics())
        return made[-1]

    writer = Extractive(meaning=EncoderMeaning(make))
    assert (writer.name, made) == ("extractive+encoder", [])
    passages = (Passage.of("The lamp of the tower was lit in 1824. The tower was built of stone.", "Tower"),)
    writer.generate([Generate(AnswerPrompt("When did the tower's lamp first shine?", passages))])
    assert len(made) == 1


PASSAGES = (Passage.of("The tower has a stair. The tower could shine in 1824. The tower was raised in 1821.", "Tower"),)


def test_the_sentence_that_means_the_question_gains_evidence():
    question = "When was the light of the tower there?"
    plain, meant = Survey(question, PASSAGES), Survey(question, PASSAGES, EncoderMeaning(Topics))

    def share(survey: Survey) -> float:
        return next(entry.evidence for entry in survey.entries if "shine" in entry.sentence.text)

    assert share(meant) > share(plain)


def test_what_means_the_same_as_what_was_chosen_gains_less():
    passages = (Passage.of("The lamp was lit in 1824. Light came in 1825. The sea rose in 1826.", "Tower"),)
    survey = Survey("What happened to the tower?", passages, EncoderMeaning(Topics))
    (lit,) = [entry for entry in survey.entries if "1824" in entry.sentence.text]
    ranked = survey.rank_entries([lit], 1000)
    assert "1826" in ranked[0].sentence.text
    assert all("1825" not in entry.sentence.text for entry in ranked)


def test_an_encoder_reads_the_sentences_that_say_most_by_their_words():
    beside = " ".join(f"The tower had a keeper in {year}." for year in range(1800, 1828))
    passages = (Passage.of(f"{beside} The light of the tower was lit in 1830.", "Tower"),)
    made = Topics()
    entries = Survey("When was the light of the tower lit?", passages, EncoderMeaning(lambda: made)).entries
    assert len(made.encoded) == 12 < len(entries)
    assert "The light of the tower was lit in 1830." in made.encoded


def test_a_sentence_that_no_encoder_read_counts_as_the_mean_of_those_read():
    passages = (Passage.of(" ".join(f"The tower had a lamp in {year}." for year in range(1800, 1820)), "Tower"),)
    made = Topics()
    entries = Survey("When was the light of the tower lit?", passages, EncoderMeaning(lambda: made)).entries
    read = [entry.features.meaning for entry in entries if entry.sentence.text in made.encoded]
    unread = [entry for entry in entries if entry.sentence.text not in made.encoded]
    assert len(read) == 12
    assert len(unread) == 8
    assert [entry.features.meaning for entry in unread] == pytest.approx([sum(read) / 12] * 8)
    assert all(not entry.near for entry in unread)
