"""Windows of sentences that a reader ranks, the answer made of them, and whether it answers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from toulmin.build import encoding, parts
from toulmin.build.parts import LateReader
from toulmin.config import Settings
from toulmin.data import Answer, Citation, Claim, Passage, Quote, Source
from toulmin.driver.drive import Driver, Job
from toulmin.driver.kit import Kit
from toulmin.extractive.analysis import analyse
from toulmin.extractive.calibration import CutRank, rating
from toulmin.extractive.evidence import Question, Survey
from toulmin.extractive.windows import block, choose, is_sound, join_fragments, read
from toulmin.extractive.writer import Extractive
from toulmin.judges import trained
from toulmin.methods.relevance import about_language, rated
from toulmin.prompts.types import AnswerPrompt, Paragraph, Questions, Write
from toulmin.retrieval.bm25 import StaticRanking
from toulmin.steps import Cut, Generate, Program, Rating, Span

WEIGHTS = Path(__file__).parent.parent / "weights" / "judge" / "src" / "toulmin_weights" / "judge"
MANUAL = Passage.of(
    "The daemon reads one file. It supports three modes: Fast. Safe mode writes twice. Slow."
    " Locks are held for a second. Foreign keys are known. But they are enforced only when switched on.",
    "Manual",
)
OTHER = Passage.of("Nothing here is about keys. But they are enforced only when switched on.", "Other")


class Words:
    """A reader that scores a piece by the words it is told to look for, and is named."""

    name = "words"

    def __init__(self, **odds: float) -> None:
        self._odds = odds
        self.read: list[str] = []

    def rank(self, question: str, cuts: Sequence[Cut]) -> list[CutRank]:
        texts = [cut.passage.text[cut.start : cut.end] for cut in cuts]
        self.read += texts
        return [CutRank(sum(odds for word, odds in self._odds.items() if word in text) - 4, None) for text in texts]

    def closeness(self, question: str, cuts: Sequence[Cut]) -> list[float]:
        return []

    def answer_odds(self, question: str, cuts: Sequence[Cut]) -> list[float]:
        return []

    def rate(self, questions: Sequence[tuple[str, Sequence[Cut]]]) -> list[Rating | None]:
        return [rating(self.name, question, cuts, self.rank(question, cuts)) for question, cuts in questions]


def texts_of(reader: Words, words: int = 75, **fields: object) -> list[str]:
    prompt = AnswerPrompt("Are keys enforced?", (MANUAL, OTHER), **fields)
    (reply,) = Extractive(words, reader=reader).generate([Generate(prompt)])
    return [claim.text for claim in reply.value.claims]


def test_the_paragraph_of_the_best_window_leads_whole_and_in_its_order() -> None:
    texts = texts_of(Words(known=3.0, enforced=4.0))
    assert " ".join(texts[:7]) == MANUAL.text


def answer_of(reader: Words, question: str, *passages: Passage) -> list[str]:
    (reply,) = Extractive(reader=reader).generate([Generate(AnswerPrompt(question, passages))])
    return [claim.text for claim in reply.value.claims]


WATCH = Passage.of(
    "After three clocks he built a watch for the sea. The watch was finished in 1759 at last."
    " It weighs little, and its balance beats five times a second.",
    "Watch",
)


@pytest.mark.parametrize(
    ("word", "first"), [("finished", "The watch was finished in 1759 at last."), ("weighs", "After three clocks")]
)
def test_the_deciding_sentence_of_a_block_leads(word: str, first: str) -> None:
    texts = answer_of(Words(**{word: 9.0}), "When was the watch finished?", WATCH)
    assert (len(texts), texts[0].startswith(first)) == (3, True)


@pytest.mark.parametrize(
    "sentences",
    [
        (
            "* Consider the switch of the lamps and of the tower to oil.",
            "With oil, the lamp burns the whole night long.",
        ),
        ("There are two ways to put out a lamp that burns in the tower.", "1. Close the lamp for the whole night."),
    ],
)
def test_items_of_a_list_keep_their_order(sentences: tuple[str, str]) -> None:
    page = Passage.of("\n".join(sentences), "Lamps")
    assert answer_of(Words(night=9.0), "Does the lamp burn all night?", page) == list(sentences)


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        ("lamp start\n   lamp --oil /dev/tank", "lamp start\nlamp --oil /dev/tank"),
        ("The lamp is\n   lit with oil.", "The lamp is lit with oil."),
    ],
)
def test_lines_of_code_stay_lines_of_a_claim(text: str, claim: str) -> None:
    page = Passage.of(f"This lights the lamp:\n\n{text}", "Lamps")
    assert answer_of(Words(lamp=9.0), "How is the lamp lit?", page)[-1] == claim


def test_a_command_with_a_sign_is_shown_with_what_it_does() -> None:
    page = Passage.of("#enlight\n\nLights all the lamps at once.", "Lamps")
    assert answer_of(Words(lamps=9.0), "What lights the lamps?", page) == ["#enlight Lights all the lamps at once."]


class Sure(Words):
    """Finds the whole piece."""

    def rank(self, question: str, cuts: Sequence[Cut]) -> list[CutRank]:
        spans = [Span(c.passage.id, Quote(c.start, c.end, c.passage.text[c.start : c.end]), 0.9) for c in cuts]
        ranked = zip(super().rank(question, cuts), spans, strict=True)
        return [CutRank(each.odds, span) for each, span in ranked]


@pytest.mark.parametrize(("question", "blocks"), [("When was the lamp lit?", 1), ("Why was the lamp lit?", 2)])
def test_one_block_answers_a_question_for_one_fact(question: str, blocks: int) -> None:
    lit, seen = Passage.of("The lamp was lit in 1824.", "Lamp"), Passage.of("The lamp was seen from ships.", "Ships")
    assert len(answer_of(Sure(lit=9.0, seen=8.0), question, lit, seen)) == blocks


def test_a_block_that_is_far_less_likely_is_left_out() -> None:
    lit, seen = Passage.of("The lamp was lit in 1824.", "Lamp"), Passage.of("The lamp was seen from ships.", "Ships")
    assert answer_of(Words(lit=9.0, seen=3.0), "Why was the lamp lit?", lit, seen) == ["The lamp was lit in 1824."]


def test_the_best_window_leads_alone_where_its_paragraph_is_too_long() -> None:
    long = Passage.of(f"{MANUAL.text} {'It is a long word list. ' * 12}".strip(), "Manual")
    (best, *_) = choose(read("Are keys enforced?", (long,), Words(known=3.0, enforced=4.0)), 75)
    texts = [sentence.text for sentence in best.window.sentences]
    assert texts == ["Foreign keys are known.", "But they are enforced only when switched on."]


@pytest.mark.parametrize("word", ["three modes", "Safe"])
def test_an_item_comes_with_its_list_and_a_definition_with_its_term(word: str) -> None:
    text = "The daemon has three modes:\n\nFast writes once.\n\nSafe writes twice.\n\nSlow waits for all."
    (sentence,) = (each for each in analyse(Passage.of(text)) if word in each.text)
    assert [each.text for each in block((sentence,))] == text.split("\n\n")
    entry = Passage.of("Quern \\Quern\\, n. [AS. cweorn.]\n\nA mill that is turned by hand.")
    assert analyse(entry)[-1] in block(analyse(entry)[:1])
    entry = Passage.of("fog bell\n\nA bell that is rung by hand.")
    assert [each.text for each in block(analyse(entry)[1:])] == ["fog bell", "A bell that is rung by hand."]


def test_a_sentence_that_was_said_is_not_said_again() -> None:
    told = texts_of(Words(enforced=8.0))
    assert told.count("But they are enforced only when switched on.") == 1


def test_windows_hold_at_most_three_neighbouring_sentences_of_one_passage() -> None:
    reader = Words(enforced=8.0)
    for each in read("Are keys enforced?", (MANUAL, OTHER), reader):
        positions = [sentence.position for sentence in each.window.sentences]
        assert positions == list(range(positions[0], positions[0] + len(positions)))
        assert len(positions) <= 3
        assert len({sentence.passage.id for sentence in each.window.sentences}) == 1
    assert all(text in MANUAL.text or text in OTHER.text for text in reader.read)


TABLE = Passage.of(
    "State: Alaska; Murder: 3.2; Std. error: 0.1\n\nState: Iowa; Murder: 1.3; Std. error: 0.2\n\n"
    "Directory: floppy; Description: Floppy drive",
    "Figures",
)


def test_the_row_that_was_asked_for_leads() -> None:
    best, *_ = choose(read("What was murder in Iowa?", (TABLE,), Words(Alaska=4.0)), 75)
    assert [sentence.text for sentence in best.window.sentences] == ["State: Iowa; Murder: 1.3; Std. error: 0.2"]


def test_a_short_row_of_words_is_no_heading() -> None:
    best, *_ = choose(read("What is the description of floppy?", (TABLE,), Words()), 75)
    assert [sentence.text for sentence in best.window.sentences] == ["Directory: floppy; Description: Floppy drive"]


@pytest.mark.parametrize("heading", ["2.1. Foreign keys", "Foreign Key (FK) Checks"])
def test_a_heading_says_nothing_itself(heading: str) -> None:
    text = f"{heading}\n\nKeys are enforced when switched on.\n\nPRAGMA foreign_keys=ON\n\nThe end"
    window, *_ = choose(read("Keys?", (Passage.of(text, "Manual"),), Words(Foreign=3.0, PRAGMA=3.0, end=3.0)), 75)
    assert [sentence.text for sentence in window.window.sentences] == [
        "Keys are enforced when switched on.",
        "PRAGMA foreign_keys=ON",
    ]


def test_the_name_of_a_section_says_nothing_whatever_marks_it_has() -> None:
    source = "9. Sometimes KEY_BUSY Comes"
    text = f"{source}\n\nKeys are enforced when switched on."
    passage = Passage.of(text, "Manual", Source(0, len(text), section=f"Manual › {source}"))
    window, *_ = choose(read("Keys?", (passage,), Words(KEY_BUSY=3.0)), 75)
    assert [sentence.text for sentence in window.window.sentences] == ["Keys are enforced when switched on."]


@pytest.mark.parametrize("text", ["The lamp was first lit in 1759.", "It is kept by Anna B.", "The mode is 3."])
def test_a_line_that_ends_in_a_figure_and_a_stop_is_no_heading(text: str) -> None:
    window, *_ = choose(read("Lamp?", (Passage.of(text, "Tower"),), Words(lamp=3.0)), 75)
    assert [sentence.text for sentence in window.window.sentences] == [text]


def test_what_a_colon_leads_in_comes_with_it() -> None:
    listed = Passage.of("It supports three modes:\n\nFast mode is quick.\n\nSafe mode writes twice.", "Modes")
    (chosen, *_) = choose(read("Which modes?", (listed,), Words(supports=9.0)), 75)
    assert [sentence.text for sentence in chosen.window.sentences] == [
        "It supports three modes:",
        "Fast mode is quick.",
        "Safe mode writes twice.",
    ]


def test_short_lines_after_a_lead_in_are_items_and_no_headings() -> None:
    listed = Passage.of("In unsafe code you can\n\nThings:\n\nDereference a pointer\n\nCall a function", "Rust")
    (chosen, *_) = choose(read("Which things?", (listed,), Words(Things=9.0)), 75)
    texts = [sentence.text for sentence in chosen.window.sentences]
    assert texts[-2:] == ["Dereference a pointer", "Call a function"]


GLOSSARY = Passage.of(
    "beacon\n\nA fire on a hill that warns of ships.\n\nfog bell\n\nRung by hand when nothing is seen.", "Words"
)
LIGHTS = Passage.of("The beacon and the fog bell stand on one hill. The beacon fire burns oil.", "Lights")


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("What is a beacon?", "A fire on a hill that warns of ships."),
        ("What does fog bell mean?", "Rung by hand when nothing is seen."),
        ("Where is the beacon?", "The beacon and the fog bell stand on one hill."),
    ],
)
def test_what_a_term_means_is_said_by_its_entry(question: str, first: str) -> None:
    best, *_ = choose(read(question, (LIGHTS, GLOSSARY), Words(stand=1.0)), 75)
    assert best.window.sentences[0].text == first


NOTICE = "Every keeper must read the rules of the harbour first."


@pytest.mark.parametrize(
    ("question", "files", "text", "is_furniture"),
    [
        ("How is oil kept?", 4, "Lamp {n} burns oil of kind {n}. " + NOTICE, True),
        ("How is oil kept?", 3, "Lamp {n} burns oil of kind {n}. " + NOTICE, False),
        ("What must a keeper read?", 4, "Lamp {n} burns oil of kind {n}. " + NOTICE, False),  # it is asked for
        (
            "How is oil kept?",
            4,
            "Lamps burn oil. Nobody sleeps. It is version {n}. " + NOTICE,
            False,
        ),  # of one document
    ],
)
def test_what_many_documents_say_amid_other_words_is_no_answer(
    question: str, files: int, text: str, is_furniture: bool
) -> None:
    passages = [Passage.of(text.format(n=n), f"Lamp {n}") for n in range(files)]
    told = {s.text for each in read(question, passages, Words(rules=9.0)) for s in each.window.sentences}
    assert (NOTICE not in told) == is_furniture


def test_what_answers_a_question_of_a_faq_comes_with_it() -> None:
    text = "The file did not shrink. Is this a bug? No. Unused pages are kept.\n\nRun VACUUM to shrink the file."
    (chosen, *_) = choose(read("Why?", (Passage.of(text, "FAQ"),), Words(bug=9.0)), 75)
    assert [sentence.text for sentence in chosen.window.sentences] == [
        "The file did not shrink.",
        "Is this a bug?",
        "No. Unused pages are kept.",
    ]


def test_a_question_that_nothing_answers_states_nothing() -> None:
    text = "Is it a bug? How big is it? Where is the vacuum kept? It is kept in the cellar. Who sweeps there?"
    shown = choose(read("Why?", (Passage.of(text, "FAQ"),), Words(vacuum=9.0)), 75)
    assert [sentence.text for each in shown for sentence in each.window.sentences][:2] == [
        "Where is the vacuum kept?",
        "It is kept in the cellar.",
    ]


def shown_of(text: str, word: str) -> list[list[str]]:
    blocks = choose(read("Why?", (Passage.of(text, "FAQ"),), Words(**{word: 9.0})), 90)
    return [[sentence.text for sentence in each.window.sentences] for each in blocks]


LONG_ANSWER = "No. " + " ".join(
    f"The part number {n} of the daemon depends on the system that it was made for." for n in range(9)
)


def test_a_question_with_a_long_answer_is_shown_with_its_beginning() -> None:
    first, *_ = shown_of(f"8.1. Does it support Windows?\n\n{LONG_ANSWER}", "Windows")
    assert first[:2] == ["8.1. Does it support Windows?", "No."]
    assert 40 < len(" ".join(first).split()) <= 95


def test_a_lead_in_is_shown_with_the_list_that_is_too_long_for_its_block() -> None:
    items = "".join(f"{sign}) {sign}-CUT: It {'slowly ' * 12}cuts.\n" for sign in "ABCDE")
    first, *_ = shown_of(f"{'It is a long fight. ' * 3}These are your combat options:\n\n{items}", "combat options")
    assert first[-1].startswith(("C)", "D)", "E)"))


def test_a_quoted_question_is_no_answer() -> None:
    assert shown_of('16. "Why does it not rename my files?"', "rename") == []


@pytest.mark.parametrize("lead", ["It is an option. For example:\n\nserver a xleave", "Does it have one?\n\nNo."])
@pytest.mark.parametrize(
    "follower", ["2.8. Does it have another mode?", "What else does it do?", "2.8. Modes of work", "-----"]
)
def test_a_list_or_an_answer_ends_where_a_section_begins(lead: str, follower: str) -> None:
    assert shown_of(f"{lead}\n\n{follower}\n\n{LONG_ANSWER}", "have" if "?" in lead else "option")[0] == lead.replace(
        "option. For", "option.\n\nFor"
    ).split("\n\n")


def test_a_list_of_contents_answers_nothing() -> None:
    contents = "o 8. Systems\n\n      ? 8.1. Does it run on Windows?\n      ? 8.2. Does it run on Windows XP?"
    text = f"{contents}\n\n1. Others\n\n1.1. How does it compare to them?\n\nIt is quick, and they are slow."
    assert not any("Windows" in sentence for block in shown_of(text, "Windows") for sentence in block)


def test_a_question_stays_before_its_answer_though_another_sentence_decides() -> None:
    text = "Q: I have no card, can I use it? A: Yes. You need no card for it but patches, which are free to use by all."
    texts = [each.text for each in claims_over("Can I use it?", Passage.of(text, "FAQ"), Words(patches=9.0))]
    assert texts[0] == "Q: I have no card, can I use it?"


@pytest.mark.parametrize("notice", ["Copyright (c) 2004 The Lamp Team.", "(c) 2004 The Lamp Team.", "?"])
def test_a_notice_or_a_sign_is_not_shown_beside_a_sentence(notice: str) -> None:
    text = f"The lamp turns once a minute. {notice} It was lit by hand."
    assert shown_of(text, "turns")[0] == ["The lamp turns once a minute.", "It was lit by hand."]


def test_an_item_with_the_letter_c_is_no_notice() -> None:
    assert all(is_sound(each) for each in analyse(Passage.of("(c) The keeper lights the lamp every evening.")))


STEP = "To make one, choose a folder and run the module with its path:\n\npython -m venv PATH\n\nThat is all."
MODES = "The daemon has these modes of work:\n\n" + "\n\n".join(
    f"{name}. It writes each of the many blocks to the disk {n} times." for n, name in enumerate("ABCDE")
)


def test_a_command_comes_with_its_explanation_however_little_room_is_left() -> None:
    (chosen, *_) = choose(read("How?", (Passage.of(STEP, "Venv"),), Words(module=9.0)), 10)
    assert "python -m venv PATH" in [sentence.text for sentence in chosen.window.sentences]


def test_a_list_is_shown_whole_though_it_is_longer_than_a_block() -> None:
    (chosen, *_) = choose(
        read("Which modes?", (Passage.of(MODES + "\n\nThat is all.", "Modes"),), Words(modes=9.0)), 60
    )
    assert [s.text for s in chosen.window.sentences if len(s.text) == 2] == ["A.", "B.", "C.", "D.", "E."]
    assert chosen.window.sentences[-1].text.endswith("4 times.")


def test_a_list_goes_on_only_to_a_sentence_that_is_barred() -> None:
    ranked = read("Which modes?", (Passage.of(MODES, "Modes"),), Words(modes=9.0))
    (whole, *_) = choose(ranked, 60)
    (chosen, *_) = choose(ranked, 60, whole.window.sentences[-2:])
    assert [s.text for s in chosen.window.sentences if len(s.text) == 2] == ["A.", "B.", "C.", "D."]


def test_questions_that_a_colon_leads_in_are_items() -> None:
    text = "The form has these questions:\n\n- Who are you?\n\n- Where is the lamp?"
    (chosen, *_) = choose(read("What does it ask?", (Passage.of(text, "Form"),), Words(form=9.0)), 75)
    assert [sentence.text for sentence in chosen.window.sentences][1:] == ["- Who are you?", "- Where is the lamp?"]


def test_the_writer_is_silent_where_no_window_is_likely_to_answer() -> None:
    assert texts_of(Words(enforced=1.0)) == []


def test_a_name_that_nothing_mentions_makes_an_answer_less_likely() -> None:
    reader = Words(enforced=4.0)
    writer = Extractive(reader=reader)
    asked = [AnswerPrompt(f"Are keys enforced in {name}?", (MANUAL,)) for name in ("the Manual", "MongoDB")]
    known, unknown = writer.generate([Generate(prompt) for prompt in asked])
    assert known.value.claims
    assert not unknown.value.claims


def test_of_many_sentences_those_with_the_questions_words_are_read() -> None:
    beside = [
        Passage.of(f"Chapter {n} is of birds. It has a page on wings. Feathers follow.", "Birds") for n in range(40)
    ]
    reader = Words(enforced=8.0)
    best, *_ = read("Are keys enforced?", (*beside, MANUAL), reader)
    assert "enforced" in best.window.sentences[0].text
    assert len(reader.read) < 110


@pytest.mark.parametrize(("version", "is_answered"), [("3.9", True), ("3.12", False)])
def test_a_passage_of_another_version_is_less_likely_to_answer(version: str, is_answered: bool) -> None:
    news = Passage.of("Keys are enforced in Manual 3.9. The rest was left as it is.", "News")
    other = Passage.of("Manual 3.12 has a new cover.", "Covers")
    prompt = AnswerPrompt(f"Are keys enforced in Manual {version}?", (news, other))
    (reply,) = Extractive(reader=Words(enforced=4.0)).generate([Generate(prompt)])
    assert bool(reply.value.claims) is is_answered


class Close(Words):
    """Finds pieces with this word as close to the question as `near`, others not at all."""

    def __init__(self, word: str, near: float, **odds: float) -> None:
        super().__init__(**odds)
        self._word, self._near = word, near

    def closeness(self, question: str, cuts: Sequence[Cut]) -> list[float]:
        return [self._near * (self._word in cut.passage.text[cut.start : cut.end]) for cut in cuts]


def test_of_equal_odds_the_window_closest_to_the_question_leads() -> None:
    for word in ("lamp", "horn"):
        best, *_ = choose(read("What does it do?", PAGES, Close(word, 0.5, The=6.0)), 75)
        assert word in best.window.sentences[0].text


@pytest.mark.parametrize(("near", "is_answered"), [(0.9, True), (0.1, False)])
def test_the_writer_is_silent_where_what_is_likely_is_far_from_the_question(near: float, is_answered: bool) -> None:
    assert bool(texts_of(Close("keys", near, keys=5.0))) is is_answered


class Larger(Words):
    """With a larger network that gives blocks with this word these log odds, and others the opposite."""

    def __init__(self, word: str, larger: float, **odds: float) -> None:
        super().__init__(**odds)
        self._word, self._larger = word, larger
        self.reread: list[str] = []

    def answer_odds(self, question: str, cuts: Sequence[Cut]) -> list[float]:
        texts = [cut.passage.text[cut.start : cut.end] for cut in cuts]
        self.reread += texts
        return [self._larger if self._word in text else -self._larger for text in texts]


PAGES = (Passage.of("The lamp turns slowly.", "A"), Passage.of("The horn sounds twice.", "B"))


@pytest.mark.parametrize("word", ["lamp", "horn"])
def test_a_larger_network_decides_between_blocks(word: str) -> None:
    ranked = read("What does it do?", PAGES, Larger(word, 1.0, The=6.0))
    assert word in ranked[0].window.sentences[0].text
    assert [each.larger for each in ranked] == [1.0, -1.0]


def test_a_block_that_the_larger_network_denies_is_not_added() -> None:
    for larger, blocks in ((1.0, 2), (2.4, 1)):
        ranked = read("What does it do?", PAGES, Larger("lamp", larger, The=6.0))
        assert len(choose(ranked, 75, is_brief=True)) == blocks


@pytest.mark.parametrize(("larger", "is_answered"), [(-6.0, False), (6.0, True)])
def test_the_larger_network_joins_the_chance_of_an_answer(larger: float, is_answered: bool) -> None:
    assert bool(texts_of(Larger("keys", larger, keys=6.0))) is is_answered


def test_the_larger_network_reads_few_blocks_once_and_no_single_passage() -> None:
    texts = [f"Lamp {n} turns. It is {n} feet high." for n in range(40)]
    reader = Larger("Lamp", 1.0, Lamp=6.0)
    read("Which lamp turns?", [Passage.of(text, f"Page {n}") for n, text in enumerate(texts)], reader)
    assert len(reader.reread) == len(set(reader.reread)) == 8
    alone = Larger("Lamp", 1.0, Lamp=6.0)
    read("Which lamp turns?", [Passage.of(" ".join(texts))], alone)
    assert not alone.reread


def test_of_blocks_that_overlap_the_larger_network_reads_one() -> None:
    text = " ".join(f"Lamp {n} turns by night above the harbour of the old town, and ships see it." for n in range(9))
    reader = Larger("Lamp", 1.0, Lamp=6.0)
    ranked = read("Which lamp turns?", [Passage.of(text, "A"), Passage.of("The horn sounds twice.", "B")], reader)
    parts = [text for text in reader.reread if text.startswith("Lamp")]
    assert len(parts) > 1
    assert not [1 for one in parts for other in parts if one is not other and one in other]
    assert len([each for each in ranked if each.larger is not None]) > len(reader.reread)


@pytest.mark.parametrize(("judge", "is_read"), [("embedded", True), ("lexical", False)])
def test_the_installed_judge_is_the_larger_network_unless_words_judge(
    judge: str, is_read: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parts, "is_ready", lambda part: True)
    monkeypatch.setattr(trained, "JudgeNetwork", partial(trained.JudgeNetwork, WEIGHTS))
    passage = Passage.of("The lamp turns once a minute. The keeper was paid in 1759.", "Tower")
    late, cuts = LateReader(Settings(judge=judge)), [Cut(passage, 30, 58), Cut(passage, 0, 29)]
    odds = late.answer_odds("How often does the lamp turn?", cuts)
    assert late.answer_odds("How often does the lamp turn?", cuts) == odds
    assert (len(odds) == 2 and odds[0] < 0 < odds[1]) if is_read else odds == []


# ---------------------------------------------------------------- the closeness of the installed encoder


@pytest.mark.parametrize(("spec", "cosines"), [(None, [1.0, 0.0]), ("onnx:mine", [1.0, 0.0]), ("none", [])])
def test_closeness_is_the_installed_encoders_whatever_searches(
    spec: str | None, cosines: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[str] = []

    class Lamps:
        def encode_queries(self, queries: Sequence[str]) -> np.ndarray:
            return np.array([[1.0, 0.0]] * len(queries), np.float32)

        def encode_passages(self, passages: Sequence[Passage]) -> np.ndarray:
            made.extend(f"{passage.title}: {passage.text}" for passage in passages)
            return np.array([[3.0, 0.0] if "lamp" in p.text else [0.0, 2.0] for p in passages], np.float32)

    monkeypatch.setattr(encoding, "is_ready", lambda part: True)
    monkeypatch.setattr(encoding, "encoder", lambda name, settings: {"embedded": Lamps()}[name])
    source = Source(0, 27, section="Night")
    passage = Passage.of("The lamp turns. A horn too.", "Tower", source)
    late, cuts = LateReader(Settings(encoder=spec)), [Cut(passage, 0, 15), Cut(passage, 16, 27)]
    assert late.closeness("Lamp?", cuts) == late.closeness("Lamp?", cuts) == cosines
    assert made == (["Tower Night: The lamp turns.", "Tower Night: A horn too."] if cosines else [])


# ---------------------------------------------------------------- words in place of sentences


class Finds(Words):
    """Finds these words wherever they are, as surely as told."""

    def __init__(self, words: str, confidence: float, **odds: float) -> None:
        super().__init__(**odds)
        self._words, self._confidence = words, confidence

    def rank(self, question: str, cuts: Sequence[Cut]) -> list[CutRank]:
        ranked = super().rank(question, cuts)
        return [CutRank(each.odds, self._span(cut)) for each, cut in zip(ranked, cuts, strict=True)]

    def _span(self, cut: Cut) -> Span | None:
        start = cut.passage.text.find(self._words, cut.start, cut.end)
        if start < 0:
            return None
        return Span(cut.passage.id, Quote(start, start + len(self._words), self._words), self._confidence)


def test_a_short_answer_is_the_words_where_they_are_likely_right() -> None:
    assert texts_of(Finds("a second", 0.9, Locks=9.0), style="short") == ["a second"]


@pytest.mark.parametrize("style", ["short", "list"])
def test_else_it_is_the_sentence(style: str) -> None:
    assert texts_of(Finds("a second", 0.01, Locks=9.0), style=style) == ["Locks are held for a second."]


def test_a_list_is_of_the_likely_words_of_several_passages() -> None:
    class Both(Finds):
        def _span(self, cut: Cut) -> Span | None:
            self._words = "switched on" if cut.passage is OTHER else "a second"
            return super()._span(cut)

    assert sorted(texts_of(Both("", 0.9, Locks=9.0, enforced=8.0), style="list")) == ["a second", "switched on"]


@pytest.mark.parametrize(("confidence", "label"), [(0.9999, "yes"), (0.9, "perhaps"), (0.05, "no")])
def test_a_short_answer_answers_as_likely_as_its_words_are_right(confidence: float, label: str) -> None:
    start = MANUAL.text.index("Locks are held")
    cited = Citation(MANUAL.id, Quote(start, start + 28, MANUAL.text[start : start + 28]))

    def program() -> Program[Answer]:
        return Answer("q", "short", "own", "answered", (Claim("a second", (cited,)),), (MANUAL,))
        yield

    relevance = outcome(Finds("a second", confidence, Locks=9.0), program, "How long are locks held?").relevance
    assert relevance is not None
    assert relevance.answers == label


# ---------------------------------------------------------------- whether an answer answers


def outcome(reader: object, program: Callable[[], Program[Answer]], question: str = "Are keys enforced?") -> Answer:
    import asyncio

    kit = Kit(StaticRanking((MANUAL,)), judge=None, reader=reader)  # type: ignore[arg-type]
    job = Job(question, "own", "long", lambda: rated(program, question))
    return asyncio.run(Driver(kit).answer(job)).answer


def quoting(words: str) -> Callable[[], Program[Answer]]:
    start = MANUAL.text.index(words)
    cited = Citation(MANUAL.id, Quote(start, start + len(words), words))

    def program() -> Program[Answer]:
        return Answer("q", "long", "own", "answered", (Claim(words, (cited,)),), (MANUAL,))
        yield

    return program


@pytest.mark.parametrize(("odds", "label"), [(16.0, "yes"), (4.0, "perhaps"), (-9.0, "no")])
def test_an_answer_says_whether_it_answers_and_who_says_so(odds: float, label: str) -> None:
    told = outcome(Words(enforced=odds), quoting("But they are enforced only when switched on.")).relevance
    assert told is not None
    assert (told.answers, told.reader) == (label, "words")


def test_an_answer_of_questions_alone_is_never_sure_to_answer() -> None:
    page = Passage.of("Are keys enforced? They are.")

    def program() -> Program[Answer]:
        claim = Claim("Are keys enforced?", (Citation(page.id, Quote(0, 18, "Are keys enforced?")),))
        return Answer("q", "long", "own", "answered", (claim,), (page,))
        yield

    relevance = outcome(Words(enforced=16.0), program).relevance
    assert relevance is not None
    assert relevance.answers == "perhaps"


def test_an_uncited_name_makes_an_answer_partial() -> None:
    told = outcome(Words(enforced=9.0), quoting("But they are enforced only when switched on."), "Does MongoDB?")
    assert told.relevance is not None
    assert (told.relevance.answers, told.relevance.unmentioned) == ("perhaps", ("MongoDB",))


def test_an_answer_from_a_later_hit_is_never_sure_to_answer() -> None:
    def program() -> Program[Answer]:
        answer = yield from quoting("But they are enforced only when switched on.")()
        return replace(answer, passages=(OTHER, MANUAL))

    told = outcome(Words(enforced=12.0), program).relevance
    assert told is not None
    assert told.answers == "perhaps"


def test_a_reader_that_cannot_say_leaves_it_open() -> None:
    assert outcome(object(), quoting("Locks are held for a second.")).relevance is None


def test_a_reader_of_english_reads_no_chinese() -> None:
    assert Survey("灯塔有多高？", (MANUAL,), Words(enforced=9.0)).windows == []


@pytest.mark.parametrize(
    ("question", "is_told"),
    [
        ("Sind die Schlüssel erzwungen?", True),
        ("Les clés sont-elles vérifiées par le moteur ?", True),
        ("Включены ли ключи?", True),
        ("Are keys enforced?", False),
        ("keys sqlite", False),
    ],
)
def test_a_question_in_another_language_than_the_sources_is_told_so(question: str, is_told: bool) -> None:
    answer = outcome(Words(enforced=9.0), quoting("But they are enforced only when switched on."), question)
    assert ("the sources in English" in " ".join(about_language(question, answer, ()))) is is_told


def test_silence_says_what_is_not_there_and_what_is_nearest() -> None:
    def program() -> Program[Answer]:
        return Answer("q", "long", "own", "abstained", (), (MANUAL,), notes=("The sources do not say.",))
        yield

    notes = " ".join(outcome(Words(), program, "Does MongoDB enforce keys?").notes)
    assert "“MongoDB”" in notes
    assert "Manual" in notes


# ---------------------------------------------------------------- plans


def planned(reader: Words) -> dict[str | None, list[str]]:
    """The texts of each section of a report over two documents."""
    writer = Extractive(reader=reader)
    sections: dict[str | None, list[str]] = {}
    for title in ("Manual", "Other"):
        prompt = Write("Are keys enforced?", (MANUAL, OTHER), (), (Paragraph(title, "Write it."),), "report")
        (reply,) = writer.generate([Generate(prompt)])
        sections[title] = [claim.text for claim in reply.value.claims]
    return sections


def test_section_rests_on_its_own_document_or_goes() -> None:
    sections = planned(Words(known=9.0))
    assert "Foreign keys are known." in sections["Manual"]
    assert sections["Other"] == []


def test_plan_questions_come_from_titles_and_names() -> None:
    passage = Passage.of("Issue 1714 was closed in 1999. Ian Jackson enforced the keys of Debian 2.0.", "Manual")
    prompt = Questions("Are keys enforced?", (passage,), Paragraph("Manual", "Write it."))
    (reply,) = Extractive().generate([Generate(prompt)])
    assert reply.value[0] == "Manual: Are keys enforced?"
    assert any("Ian Jackson" in question for question in reply.value)
    assert not any(sign.isdigit() for question in reply.value for sign in question)


# ---------------------------------------------------------------- words that state nothing alone


@pytest.mark.parametrize(
    ("text", "claims"),
    [
        (
            "SQLite knows two classes: NULL. The value is a null value. INTEGER. The value is a number.",
            [
                "SQLite knows two classes: NULL.",
                "The value is a null value.",
                "INTEGER. The value is a number.",
            ],
        ),
        ("The levels are:\n\nDEBUG\n\nINFO", ["The levels are: DEBUG INFO"]),
        ("Single-thread. In this mode all is off.", ["Single-thread. In this mode all is off."]),
    ],
)
def test_a_term_is_one_claim_with_what_it_heads_and_an_item_with_its_lead_in(text: str, claims: list[str]) -> None:
    assert [sentence.text for sentence in join_fragments(analyse(Passage.of(text)))] == claims


def test_a_term_stays_before_the_deciding_sentence_that_it_heads() -> None:
    lead = "The keeper of the tower wrote a list of all its lamps in the year of the storm."
    page = Passage.of(f"{lead} Fresnel. This lamp turns once a minute and is seen from far away.", "Lamps")
    texts = [text.text for text in claims_over("Which lamp turns?", page, Words(turns=9.0))]
    assert texts[0] == "Fresnel. This lamp turns once a minute and is seen from far away."


def claims_over(question: str, page: Passage, reader: Words) -> Sequence[Claim]:
    (reply,) = Extractive(90, reader=reader).generate([Generate(AnswerPrompt(question, (page, OTHER)))])
    return reply.value.claims


class Pointing(Larger):
    """With the place of a word as the answer."""

    def __init__(self, word: str, **odds: float) -> None:
        super().__init__(word, 1.0, **odds)

    def rank(self, question: str, cuts: Sequence[Cut]) -> list[CutRank]:
        return [
            CutRank(ranked.odds, partial(self._point, cut.passage))
            for cut, ranked in zip(cuts, super().rank(question, cuts), strict=True)
        ]

    def _point(self, passage: Passage) -> Span:
        at = passage.text.index(self._word)
        return Span(passage.id, Quote(at, at + len(self._word), self._word), 0.99)


def test_for_one_fact_the_sentence_with_it_is_enough_and_what_it_leans_on() -> None:
    page = Passage.of("The oil came from Hull. The tower stands on a rock. It was lit in 1824. Keepers lived there.")
    ranked = read("When was the tower lit?", [page], Pointing("1824", tower=4.0, lit=4.0))
    (found,) = choose(ranked, 75, is_brief=True, kind="date")
    assert [each.text for each in found.window.sentences] == ["The tower stands on a rock.", "It was lit in 1824."]
    for kind in (None, "name"):  # a sentence without such a fact does not decide
        (whole,) = choose(ranked, 75, is_brief=True, kind=kind)
        assert len(whole.window.sentences) == 4


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("When was the bridge built?", "date"),
        ("Who built the bridge, and when?", "date"),
        ("Can you tell me when the bridge was built?", "date"),
        ("Since when does the lamp burn?", "date"),
        ("What does the lamp do when it rains?", None),
        ("Why is the horn silent when the fog is thin?", None),
    ],
)
def test_a_when_that_sets_a_condition_asks_for_no_date(question: str, kind: str | None) -> None:
    assert Question.of(question).kind == kind


@pytest.mark.parametrize(("count", "more"), [(3, 0), (30, 24)])
def test_a_list_that_is_not_whole_says_how_many_items_it_lacks(count: int, more: int) -> None:
    items = "".join(f"* The lamp of pier {n} is lit by a keeper at night.\n\n" for n in range(count))
    page = Passage.of(f"The harbour has these lamps that burn:\n\n{items}", "Lamps")
    asked = AnswerPrompt("Which lamps burn?", (page, OTHER))
    (reply,) = Extractive(reader=Words(burn=9.0)).generate([Generate(asked)])
    shown = len([claim for claim in reply.value.claims if "pier" in claim.text])
    notes = [f"The list in “Lamps” has {count - shown} more items."] if more else []
    assert (list(reply.value.notes), bool(count - shown)) == (notes, bool(more))
