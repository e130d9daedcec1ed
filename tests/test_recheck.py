"""Saved answers held against their sources after those changed."""

from __future__ import annotations

import codecs
import html
import json
import random
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import toulmin
from toulmin import demo
from toulmin.checking.recheck import Recheck
from toulmin.cli import run
from toulmin.data import Answer, Citation, Claim, Passage, Quote, Support
from toulmin.errors import SourceError, UsageError
from toulmin.evaluation.saved_answers import read_answers, write_answers
from toulmin.formats import answer_json
from toulmin.judges.lexical import Lexical
from toulmin.steps import Pair, Verdict

QUESTION = "When was the sea watch H4 finished?"
TOLD = "The sea watch H4 was finished in 1759."
H4 = "the_sea_watch_h4.md"


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    return Path(shutil.copytree(demo.FOLDER, tmp_path / "notes"))


def saved(notes: Path) -> Answer:
    return toulmin.ask(QUESTION, docs=notes, judge="lexical", reader="lexical")


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new), "utf-8")


def checked(answer: Answer, notes: Path, judge: Any = "lexical") -> Recheck:
    (found,) = toulmin.recheck(answer, docs=notes, judge=judge)
    return found


def states(found: Recheck) -> dict[str, str | None]:
    return {claim.was.text: claim.state for claim in found.claims}


class Counting(Lexical):
    asked = 0

    def judge(self, pairs: Sequence[Pair]) -> list[Verdict]:
        self.asked += len(pairs)
        return super().judge(pairs)


class Credulous:
    """Supports whatever it is asked."""

    name = "credulous"

    def judge(self, pairs: Sequence[Pair]) -> list[Verdict]:
        return [Verdict("supported", 0.9, 0.0, self.name) for _ in pairs]


# ---------------------------------------------------------------- what becomes of a claim


def test_nothing_changed(notes: Path):
    answer, judge = saved(notes), Counting()
    found = checked(answer, notes, judge)
    assert {claim.state for claim in found.claims} == {"current"}
    assert [claim.now for claim in found.claims] == list(answer.claims)
    assert (found.has_fallen, judge.asked, found.pairs) == (False, 0, 0)


def test_a_changed_fact_is_contradicted_and_the_rest_stands(notes: Path):
    answer = saved(notes)
    resting = {claim.text for claim in answer.claims if "1759" in claim.text}
    edit(notes / H4, "finished in 1759", "finished in 1762")
    found = checked(answer, notes)
    fallen = {text for text, state in states(found).items() if state in ("stale", "contradicted")}
    assert (fallen, found.has_fallen) == (resting, True)
    assert set(states(found).values()) - {"stale", "contradicted"} <= {"current", "moved"}
    (claim,) = [claim for claim in found.claims if claim.was.text == TOLD]
    assert (claim.state, claim.says) == ("contradicted", TOLD.replace("1759", "1762"))


def test_a_sentence_in_another_file_has_moved_without_a_judge(notes: Path):
    answer, judge = saved(notes), Counting()
    edit(notes / H4, TOLD, "")
    (notes / "dates.md").write_text(f"# Dates\n\nSome years to remember.\n\n{TOLD}\n", "utf-8")
    (claim,) = [claim for claim in checked(answer, notes, judge).claims if claim.was.text == TOLD]
    (citation,) = claim.now.citations
    assert (claim.state, judge.asked) == ("moved", 0)
    assert citation.quote is not None
    assert citation.quote.text == TOLD
    assert claim.passages[0].source.path == str(notes / "dates.md")


@pytest.mark.parametrize(
    ("before", "after"),
    [("1", ""), ("It is not true that ", ""), ("", ", as a forger wrote"), ("", "0"), ("Once ", " or later")],
)
def test_a_sentence_that_words_were_added_to_has_not_moved(tmp_path: Path, before: str, after: str):
    told, other = "20 keepers lived at the lamp of Rock in 1824", "Other birds were seen there."
    (tmp_path / "a.md").write_text(f"# Rock\n\n{told}. {other}\n", "utf-8")
    hit = toulmin.search(told, docs=tmp_path)[0]
    answer = toulmin.check(f"{told} [1]. {other[:-1]} [1].", passages=[hit.passage], judge="lexical")
    edit(tmp_path / "a.md", told, before + told + after)
    found = states(checked(answer, tmp_path))
    assert found[f"{told}."] in ("stale", "contradicted", "holds")
    assert found[other] == "moved"


def test_a_part_of_a_sentence_has_moved_only_with_its_whole_sentence(tmp_path: Path):
    told = "20 keepers lived at the lamp of Rock"
    file = tmp_path / "a.md"
    file.write_text(f"# Rock\n\nIn 1824 {told}, says the log. Other birds were seen there.\n", "utf-8")
    passage = toulmin.search(told, docs=tmp_path)[0].passage
    quote = Quote(start := passage.text.index(told), start + len(told), told)
    support = Support("supported", 0.9, "lexical", (passage.id,))
    claim = Claim(f"{told}.", (Citation(passage.id, quote),), support)
    answer = Answer("How many?", "long", "best", "answered", (claim,), (passage,))
    edit(file, "Other", "Many other")
    (moved,) = checked(answer, tmp_path).claims
    assert moved.state == "moved"
    assert [citation.quote and citation.quote.text for citation in moved.now.citations] == [told]
    edit(file, "In 1824", "It is not true that in 1824")
    assert states(checked(answer, tmp_path))[claim.text] in ("stale", "contradicted")


def test_what_stood_in_a_deleted_file_is_gone(notes: Path):
    answer, judge = saved(notes), Counting()
    (notes / H4).unlink()
    found = checked(answer, notes, judge)
    assert (states(found)[TOLD], judge.asked, found.has_fallen) == ("gone", 0, True)


def test_other_words_that_still_say_it_hold(notes: Path):
    answer = saved(notes)
    edit(notes / H4, TOLD, "After four years of work the sea watch H4 was finished in 1759.")
    (claim,) = [claim for claim in checked(answer, notes).claims if claim.was.text == TOLD]
    assert (claim.state, claim.now.is_supported) == ("holds", True)


def test_dependent_claim_is_judged_where_its_passage_changed(tmp_path: Path):
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "bell.txt").write_text("The Ayre bell was cast in 1801. It weighs nine tonnes.", "utf-8")
    hit = toulmin.search("Ayre bell", docs=notes)[0]
    claim = "The Ayre bell was cast in 1801 and weighs nine tonnes."
    answer = toulmin.check(f"{claim[:-1]} [1].", passages=[hit.passage], judge="lexical")
    assert answer.claims[0].is_supported
    edit(notes / "bell.txt", "nine tonnes", "two tonnes")
    assert states(checked(answer, notes)) == {claim: "stale"}


@pytest.mark.parametrize(
    ("was", "now", "told"),
    [
        ("The lamp is turned off by default.", "The lamp is turned on by default.", "no longer has “off”"),
        ("The keeper will ignore small boats.", "The keeper will greet small boats.", "no longer has “ignore”"),
        ("The bell may be rung at night.", "The bell may not be rung at night.", "now has “not”"),
    ],
)
def test_a_copied_sentence_that_lost_a_word_is_stale_whatever_a_judge_says(
    tmp_path: Path, was: str, now: str, told: str
):
    (tmp_path / "a.txt").write_text(f"{was} The tower stands on a rock.", "utf-8")
    hit = toulmin.search(was, docs=tmp_path)[0]
    answer = toulmin.check(f"{was[:-1]} [1].", passages=[hit.passage], judge="lexical")
    edit(tmp_path / "a.txt", was, now)
    (claim,) = checked(answer, tmp_path, Credulous()).claims
    assert (claim.state, claim.says) == ("stale", now)
    assert claim.now.support is not None
    assert claim.now.support.label == "unsure"
    assert told in str(claim.now.support.reason)


def test_a_claim_that_did_not_stand_is_not_looked_for(notes: Path):
    answer = saved(notes)
    support = answer.claims[0].support
    assert support is not None
    doubtful = replace(answer.claims[0], support=replace(support, label="unsure"))
    found = checked(replace(answer, claims=(doubtful, *answer.claims[1:])), notes)
    assert (found.claims[0].state, found.claims[0].now) == (None, doubtful)


def test_the_same_folder_at_another_path_is_current(notes: Path, tmp_path: Path):
    answer = saved(notes)
    notes.rename(tmp_path / "elsewhere")
    assert set(states(checked(answer, tmp_path / "elsewhere")).values()) == {"current"}


# ---------------------------------------------------------------- against a slow obvious version


def read(path: Path) -> str:
    data = path.read_bytes()
    if data.startswith(codecs.BOM_UTF16_LE):
        return data.decode("utf-16")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("latin-1")


def change(path: Path, text: str) -> None:
    path.write_text(text, "utf-8")


def squeezed(notes: Path) -> str:
    """All paragraphs, each on its line."""
    texts = (re.sub("<[^>]+>", "", read(path)) for path in sorted(notes.iterdir()))
    return "\n".join(" ".join(html.unescape(part).split()) for text in texts for part in text.split("\n\n"))


def is_sentence_there(sentence: str, there: str) -> bool:
    """Whether it is a sentence of its own there; the notes have no abbreviations."""
    whole = " ".join(sentence.split())
    return re.search(rf"(^|[.!?] ){re.escape(whole)}( [A-Z0-9\"“]|$)", there, re.MULTILINE) is not None


def a_sentence(text: str, draw: random.Random) -> str | None:
    sentences = re.findall(r"(?<=[.] )[A-Z][^.<]+[.](?=\s|<|$)", text.partition("\n\n")[2])
    return draw.choice(sentences) if sentences else None


def insert(path: Path, draw: random.Random) -> None:
    parts = read(path).split("\n\n")
    parts.insert(draw.randint(1, len(parts)), f"A gull called number{draw.randrange(10**6)} slept on the quay.")
    change(path, "\n\n".join(parts))


def shuffle(path: Path, draw: random.Random) -> None:
    head, *parts = read(path).split("\n\n")
    draw.shuffle(parts)
    change(path, "\n\n".join([head, *parts]))


def rewrap(path: Path, draw: random.Random) -> None:
    width = draw.choice([50, 70, 90])
    parts = [re.sub(rf"(.{{{width}}}\S*) (?=\w)", r"\1\n", " ".join(part.split())) for part in read(path).split("\n\n")]
    change(path, "\n\n".join(parts))


def drop_sentence(path: Path, draw: random.Random) -> None:
    text = read(path)
    if sentence := a_sentence(text, draw):
        change(path, text.replace(sentence, "", 1))


def move_sentence(path: Path, draw: random.Random) -> None:
    text, other = read(path), draw.choice(sorted(path.parent.iterdir()))
    if (sentence := a_sentence(text, draw)) and other != path:
        change(path, text.replace(sentence, "", 1))
        change(other, f"{read(other).rstrip()}\n\n{sentence}\n")


def add_before(path: Path, draw: random.Random) -> None:
    text = read(path)
    if sentence := a_sentence(text, draw):
        words = draw.choice(["It is not true that ", "Nobody said: ", "un", "1"])
        change(path, text.replace(sentence, words + sentence, 1))


def add_after(path: Path, draw: random.Random) -> None:
    text = read(path)
    if sentence := a_sentence(text, draw):
        change(path, text.replace(sentence, sentence[:-1] + draw.choice([", as a forger wrote.", "0.", " or not."]), 1))


def rename(path: Path, draw: random.Random) -> None:
    path.rename(path.with_name(f"renamed-{draw.randrange(10**6)}{path.suffix}"))


def delete(path: Path, draw: random.Random) -> None:
    path.unlink()


def encode(path: Path, draw: random.Random) -> None:
    text = read(path)
    codec = draw.choice(["utf-8-sig", "utf-16", "latin-1"])
    with suppress(UnicodeEncodeError):  # latin-1 has no “
        path.write_bytes(text.encode(codec))


def as_html(path: Path) -> None:
    title, *parts = read(path).split("\n\n")
    paragraphs = [f"<p>{html.escape(part)}</p>" for part in parts]
    change(path.with_suffix(".html"), "\n\n".join([f"<h1>{title.removeprefix('# ')}</h1>", *paragraphs]))
    path.unlink()


EDITS: list[Callable[[Path, random.Random], None]] = [
    insert, shuffle, rewrap, drop_sentence, move_sentence, add_before, add_after, rename, delete, encode,
]  # fmt: skip


@pytest.mark.parametrize("seed", range(12))
def test_a_claim_that_no_edit_touched_is_current_or_moved_and_no_other_is(notes: Path, seed: int):
    draw = random.Random(seed)
    for path in draw.sample(sorted(notes.iterdir()), 8):
        as_html(path)
    passages = [
        hit.passage for word in ("Harrison", "longitude", "moon", "clock") for hit in toulmin.search(word, docs=notes)
    ]
    chosen = draw.sample(list(dict.fromkeys(passages)), 8)
    text = " ".join(f"{words[:-1]} [{n}]." for n, passage in enumerate(chosen, start=1) for words in whole(passage))
    answer = toulmin.check(text, passages=chosen, judge="lexical")
    cited = [notes / Path(str(passage.source.path)).name for passage in chosen]
    for _ in range(draw.randint(1, 12)):
        # Mostly files that the claims rest on.
        path = draw.choice([path for path in cited if path.exists()] or sorted(notes.iterdir()))
        draw.choice(EDITS)(path, draw)
    there = squeezed(notes)
    for claim in checked(answer, notes).claims:
        quotes = [citation.quote.text for citation in claim.was.citations if citation.quote]
        if claim.state is None or claim.was.text not in quotes:
            continue
        is_untouched = all(is_sentence_there(quote, there) for quote in quotes)
        assert (claim.state in ("current", "moved")) == is_untouched, claim


def whole(passage: Passage) -> list[str]:
    return re.findall(r"(?<![^\s])[A-Z][^.]{20,}\.(?=\s|$)", passage.text)


# ---------------------------------------------------------------- files and the command


def test_answers_are_read_from_one_document_and_from_lines(notes: Path, tmp_path: Path):
    answer = saved(notes)
    (tmp_path / "one.json").write_bytes(answer_json.dumps(answer))
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "answers.jsonl").write_bytes(
        answer_json.dumps(answer) + b"\n" + answer_json.dumps(answer) + b"\n"
    )
    assert [len(list(read_answers(tmp_path / name))) for name in ("one.json", "run")] == [1, 2]


def test_answers_with_any_line_end_in_their_texts_are_read_from_lines(notes: Path, tmp_path: Path):
    answer = replace(saved(notes), notes=("one\u2028two\x85three",))
    (tmp_path / "answers.jsonl").write_bytes(2 * (answer_json.dumps(answer) + b"\n"))
    assert [each.notes for each in read_answers(tmp_path)] == [answer.notes] * 2


@pytest.mark.parametrize(
    ("text", "error", "told"),
    [
        (None, SourceError, "should hold saved answers"),
        ("", SourceError, "is empty"),
        ('{"a": 1}', UsageError, "answer 1"),
        ("no json", UsageError, "answer 1"),
        ("\udcff", SourceError, "cannot be read"),
    ],
)
def test_what_holds_no_answers_is_told(tmp_path: Path, text: str | None, error: type[Exception], told: str):
    path = tmp_path / "a.json"
    if text is not None:
        path.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(error, match=told):
        list(read_answers(path))


def test_the_command_says_what_fell_and_ends_with_6(notes: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    file = tmp_path / "answer.json"
    file.write_bytes(answer_json.dumps(saved(notes)))
    words = ["recheck", str(file), "--docs", str(notes), "--judge", "lexical"]
    assert run(words) == 0
    assert "0 pairs judged" in capsys.readouterr().out
    edit(notes / H4, "finished in 1759", "finished in 1762")
    assert run(words) == 6
    told = " ".join(capsys.readouterr().out.split())
    assert f"contradicted {TOLD}" in told
    assert f"now: “{TOLD.replace('1759', '1762')}”" in told
    assert run([*words, "--json"]) == 6
    (document,) = json.loads(capsys.readouterr().out)["answers"]
    assert document["counts"]["contradicted"] == 1
    assert {"text", "state", "now", "says", "passages"} == set(document["claims"][0])


def test_the_command_counts_the_sentences_that_were_edited(
    notes: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    file = tmp_path / "answer.md"
    write_answers(file, [saved(notes)])
    words = ["recheck", str(file), "--docs", str(notes), "--judge", "lexical"]
    assert run(words) == 0
    assert "edited since" not in capsys.readouterr().out
    edit(file, f"{TOLD}[", f"{TOLD.replace('1759', '1760')}[")
    assert run(words) == 0
    told = "".join(capsys.readouterr().out.split())
    assert f"{file}:editedsinceitwassaved;for1newsentencerun`toulmincheck`." in told
    assert run([*words, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["answers"][0]["edited"] == 1


def test_the_command_needs_a_file(capsys: pytest.CaptureFixture[str]):
    assert run(["recheck"]) == 2
    assert "Name a file of saved answers" in capsys.readouterr().err


# ---------------------------------------------------------------- answers written anew


def test_an_answer_is_written_anew_with_what_stands(notes: Path, tmp_path: Path):
    file = tmp_path / "answer.json"
    file.write_bytes(answer_json.dumps(saved(notes)))
    edit(notes / H4, TOLD, "It was finished in 1762.")
    (found,) = toulmin.recheck(file, docs=notes, judge="lexical", update=True)
    fallen = [claim.was.text for claim in found.claims if claim.state in ("stale", "contradicted", "gone")]
    (written,) = read_answers(file)
    assert TOLD in fallen
    assert TOLD not in written.text
    assert any(TOLD in note for note in written.notes)
    (again,) = toulmin.recheck(file, docs=notes, judge="lexical")
    assert set(again.counts) <= {"current"}


def test_an_answer_of_which_nothing_changed_is_not_written(notes: Path, tmp_path: Path):
    file = tmp_path / "answer.json"
    file.write_text(json.dumps(answer_json.document(saved(notes)), indent=1), "utf-8")
    before = file.read_bytes()
    (found,) = toulmin.recheck(file, file, docs=notes, judge="lexical", update=True)  # named twice, read once
    assert (found.mended, file.read_bytes()) == (found.answer, before)


def test_what_another_source_says_is_cited_anew(notes: Path, tmp_path: Path):
    answer = saved(notes)
    (notes / "dates.md").write_text("# Dates\n\nThe famous sea watch H4 was finished in 1759.\n", "utf-8")
    edit(notes / H4, TOLD, "")
    (found,) = toulmin.recheck(answer, docs=notes, judge="lexical", update=True)
    assert states(found)[TOLD] == "stale"
    assert found.mended is not None
    cited = next(claim for claim in found.mended.claims if claim.text == TOLD).cited
    assert [found.mended.passage(id).source.path for id in cited] == [str(notes / "dates.md")]


def test_an_answer_of_which_nothing_stands_is_an_abstention(notes: Path):
    answer = saved(notes)
    kept = [path for path in notes.iterdir() if path.name != "moons_of_jupiter.md"]
    for path in kept:
        path.unlink()
    (found,) = toulmin.recheck(replace(answer, claims=answer.claims[:1]), docs=notes, judge="lexical", update=True)
    assert found.mended is not None
    assert (found.mended.status, found.mended.claims) == ("abstained", ())


def test_a_run_folder_is_not_written_anew(notes: Path, tmp_path: Path):
    (tmp_path / "answers.jsonl").write_bytes(answer_json.dumps(saved(notes)))
    with pytest.raises(UsageError, match="never changes runs"):
        toulmin.recheck(tmp_path, docs=notes, judge="lexical", update=True)


def heed_interruptions():
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def test_watching_tells_what_changed(notes: Path, tmp_path: Path):
    file = tmp_path / "answer.json"
    file.write_bytes(answer_json.dumps(saved(notes)))
    words = [
        sys.executable,
        "-m",
        "toulmin",
        "recheck",
        str(file),
        "--docs",
        str(notes),
        "--judge",
        "lexical",
        "--watch",
    ]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    # A shell lets what runs in its background ignore Ctrl-C, which a child would inherit.
    with subprocess.Popen(words, preexec_fn=heed_interruptions, **pipes) as process:
        assert process.stdout is not None
        assert any("0 pairs judged" in line for line in process.stdout)
        edit(notes / H4, "finished in 1759", "finished in 1762")
        assert any("now: “" in line for line in process.stdout)
        assert any("judged." in line for line in process.stdout)
        edit(notes / H4, "finished in 1762", "finished in 1763")
        assert any("1763" in line for line in process.stdout)
        assert any("judged." in line for line in process.stdout)
        notes.rename(tmp_path / "away")
        assert any("Waiting for it" in line for line in process.stdout)
        (tmp_path / "away").rename(notes)
        edit(notes / H4, "finished in 1763", "finished in 1764")
        assert any("1764" in line for line in process.stdout)
        process.send_signal(signal.SIGINT)
        process.stdout.read()
    assert process.returncode == 130
