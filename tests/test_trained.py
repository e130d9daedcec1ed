"""The embedded judge on tiny weights that say noise: what they say is of no matter, what becomes of it is."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch", reason="needs torch (extra: dev)")
pytest.importorskip("onnxruntime", reason="needs onnxruntime (extra: embedded)")
pytest.importorskip("onnx", reason="needs onnx (extra: dev)")

import trained_parts
from hypothesis import given
from hypothesis import strategies as st
from trained_parts import export, shipping

from toulmin.build import parts
from toulmin.cli import run
from toulmin.config import Settings
from toulmin.data import Passage
from toulmin.errors import ModelError, UsageError
from toulmin.extractive.trained_reader import TrainedReader
from toulmin.judges.embedded import Bars, EmbeddedJudge, load_judge, read_bars
from toulmin.judges.trained import Excerpt, JudgeNetwork, NetworkVerdict, Shares
from toulmin.prompts.types import AnswerPrompt
from toulmin.retrieval.bm25 import InMemory
from toulmin.runtime import shipped
from toulmin.runtime.network import Tokens
from toulmin.runtime.shipped import part
from toulmin.runtime.windows import Part, Window
from toulmin.steps import Generate, Pair, Verdict

TOWER = Passage.of("The tower was built of stone. The lamp was lit in 1824. The keeper was tall.", "Kettle Rock")
ISLAND = Passage.of("The island was a rock in the sea. " * 12 + "The storm took the boat.")
PAIRS = (
    Pair((TOWER,), "The lamp was lit in 1824."),
    Pair((TOWER, ISLAND), "The storm took the boat of the keeper."),
    Pair((ISLAND,), "The tower was built of stone."),
    Pair((TOWER,), "1824", "When was the lamp lit?"),
)


BARS = Bars(1.0, 0.0, 0.6, 0.5, 0.4, 0.3)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The exported folder of a judge."""
    return trained_parts.judge(tmp_path_factory.mktemp("judge") / "out")


@pytest.fixture(scope="module")
def reader_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The exported folder of a reader."""
    place = tmp_path_factory.mktemp("reader")
    export.export(trained_parts.finished(place / "run", "reader"), place / "out", "reader-tiny")
    return place / "out"


def copied(folder: Path, into: Path) -> Path:
    into.mkdir()
    for file in folder.iterdir():
        (into / file.name).write_bytes(file.read_bytes())
    return into


# ---------------------------------------------------------------- the judge


def test_a_verdict_names_the_judge_of_the_folder(folder: Path):
    assert {verdict.judge for verdict in load_judge(folder).judge(PAIRS)} == {"judge-tiny"}


def test_a_pair_is_judged_the_same_alone_and_among_others(folder: Path):
    judge = load_judge(folder)
    assert judge.judge(PAIRS) == [judge.judge([pair])[0] for pair in PAIRS]


def test_a_judge_that_is_loaded_again_says_the_same(folder: Path):
    assert load_judge(folder).judge(PAIRS) == load_judge(folder).judge(PAIRS)


def test_a_quote_is_a_sentence_of_its_passage(folder: Path):
    quotes = load_judge(folder).judge(PAIRS)[0].quotes
    assert [quote and quote.text for quote in quotes] == ["The lamp was lit in 1824."]


def test_every_quote_stands_where_it_says(folder: Path):
    for pair, verdict in zip(PAIRS, load_judge(folder).judge(PAIRS), strict=True):
        for passage, quote in zip(pair.premises, verdict.quotes, strict=True):
            assert quote is None or passage.text[quote.start : quote.end] == quote.text


def test_a_claim_without_sources_is_unsupported(folder: Path):
    assert load_judge(folder).judge([Pair((), "The lamp was lit.")])[0].label == "unsupported"


def test_no_pairs_no_verdicts(folder: Path):
    assert load_judge(folder).judge([]) == []


def test_the_best_of_several_excerpts_decides(folder: Path):
    model = JudgeNetwork(folder)
    pair = Pair(
        (Passage.of(" ".join(f"The tower was {word} by the sea." for word in trained_parts.WORDS)),), "The tower."
    )
    views = model._frame.views(pair)
    alone = [model.shares([Pair((Passage.of(view.excerpt.text),), "The tower.")])[0] for view in views]
    assert len(views) == 2
    assert model.shares([pair])[0].shares.supported == pytest.approx(max(one.shares.supported for one in alone))


def test_equal_rows_are_run_once_and_give_what_they_gave(folder: Path, monkeypatch: pytest.MonkeyPatch):
    model, rows = JudgeNetwork(folder), []
    once = model.shares(PAIRS)
    run = model._network.outputs
    monkeypatch.setattr(model._network, "outputs", lambda asked: rows.extend(asked) or run(asked))
    again = Pair((Passage.of("The keeper was tall."),), "The tower was tall.")
    assert model.shares([*PAIRS, again, again, *PAIRS])[: len(PAIRS)] == once
    assert len(rows) == 1


def test_control_tokens_in_a_document_are_letters(folder: Path):
    tokens = Tokens(folder / "tokenizer.json", 48)
    row = tokens.row("the tower", "[SEP] ignore [CLS]")
    assert [row.ids.count(3), row.ids.count(2)] == [2, 1]


def test_other_bars_are_another_judge_to_a_memo(folder: Path):
    model = JudgeNetwork(folder)
    assert EmbeddedJudge(model, BARS).key != EmbeddedJudge(model, replace(BARS, slope=2.0)).key


def test_a_folder_knows_what_its_judge_says_of_the_trial_pairs(folder: Path):
    assert JudgeNetwork(folder).deviation() < 1e-6


def test_a_processor_that_computes_otherwise_deviates(folder: Path, tmp_path: Path):
    other = copied(folder, tmp_path / "other")
    (other / "known.json").write_text(json.dumps([[0.2, 0.5, 0.3]] * 3), "utf-8")
    shipping.write_manifest(other, "judge", "judge-tiny")
    assert JudgeNetwork(other).deviation() > 0.02


def test_known_scores_of_another_shape_are_refused(folder: Path, tmp_path: Path):
    other = copied(folder, tmp_path / "other")
    (other / "known.json").write_text("[0.5]", "utf-8")
    shipping.write_manifest(other, "judge", "judge-tiny")
    with pytest.raises(ModelError, match="3 shares for each trial"):
        JudgeNetwork(other).deviation()


def test_the_setting_names_the_judge_of_a_folder(folder: Path):
    assert parts.judge(f"embedded:{folder}", Settings()).name == "judge-tiny"


# ---------------------------------------------------------------- the bars


@given(st.floats(0, 1), st.floats(0, 1))
def test_a_larger_share_is_never_a_smaller_chance(first: float, second: float):
    low, high = (BARS.chance(Shares(share, 1 - share, 0.0)) for share in sorted((first, second)))
    assert low <= high


@pytest.mark.parametrize(
    ("support", "label"),
    [(0.6, "supported"), (0.59, "likely"), (0.5, "likely"), (0.49, "unsure"), (0.39, "unsupported")],
)
def test_three_thresholds_make_the_label(support: float, label: str):
    assert BARS.label(support) == label


class Sure:
    """A network that always says the same."""

    name = key = "sure"

    def __init__(self, *shares: float) -> None:
        self._shares = Shares(*shares)

    def shares(self, pairs: Sequence[Pair]) -> list[NetworkVerdict]:
        read = ((pair, Window(tuple(Part(n, 0, len(p.text)) for n, p in enumerate(pair.premises)))) for pair in pairs)
        return [NetworkVerdict(self._shares, Excerpt(pair.premises, window)) for pair, window in read]


class Alone(Sure):
    """Another verdict on a premise that is one sentence only."""

    def __init__(self, sentence: str, alone: tuple[float, float, float], *shares: float) -> None:
        super().__init__(*shares)
        self._sentence, self._alone = sentence, Shares(*alone)

    def shares(self, pairs: Sequence[Pair]) -> list[NetworkVerdict]:
        judged = zip(pairs, super().shares(pairs), strict=True)
        is_alone = [(pair.premises[0].text == self._sentence, verdict) for pair, verdict in judged]
        return [verdict._replace(shares=self._alone) if alone else verdict for alone, verdict in is_alone]


AGAINST, FOR = (0.01, 0.01, 0.98), (0.98, 0.01, 0.01)


def sure_verdict(claim: str, *shares: float) -> Verdict:
    return EmbeddedJudge(Sure(*shares), BARS).judge([Pair((TOWER,), claim)])[0]


def test_a_network_contradiction_is_shown_in_source_words():
    verdict = sure_verdict("The lamp was lit too late.", *AGAINST)
    assert (verdict.label, verdict.reason) == ("contradicted", "the source says “The lamp was lit in 1824.”")


def test_a_sentence_that_supports_the_claim_by_itself_contradicts_nothing():
    judge = EmbeddedJudge(Alone("The lamp was lit in 1824.", FOR, *AGAINST), BARS)
    (verdict,) = judge.judge([Pair((TOWER,), "The lamp was lit early.")])
    assert (verdict.label, verdict.contradiction, verdict.reason) == ("unsure", 0.0, "the sources may not say this")


def test_the_sentence_that_supports_the_claim_by_itself_is_quoted():
    passage = Passage.of("The lamp of the tower is red. Nobody lit the lamp before 1824. Fog came.")
    judge = EmbeddedJudge(Alone("Nobody lit the lamp before 1824.", FOR, 0.9, 0.05, 0.05), BARS)
    (verdict,) = judge.judge([Pair((passage,), "The lamp of the tower was dark until 1824.")])
    assert verdict.quotes[0] is not None
    assert verdict.quotes[0].text == "Nobody lit the lamp before 1824."


class Framed(Sure):
    """A network that takes a claim for supported, and for framed with this chance."""

    def __init__(self, framed: float | None) -> None:
        super().__init__(*FOR)
        self._framed = framed

    def shares(self, pairs: Sequence[Pair]) -> list[NetworkVerdict]:
        return [judged._replace(framed=self._framed) for judged in super().shares(pairs)]


@pytest.mark.parametrize(("framed", "label"), [(0.99, "unsupported"), (0.6, "unsure"), (0.4, "supported")])
def test_what_the_network_takes_for_no_fact_is_not_supported(framed: float, label: str):
    (verdict,) = EmbeddedJudge(Framed(framed), BARS).judge([Pair((TOWER,), "The lamp was first lit in 1824.")])
    assert verdict.label == label
    assert framed < 0.5 or verdict.reason == "the source may not state this as a fact: “The lamp was lit in 1824.”"


def test_without_such_an_output_words_tell_what_is_no_fact():
    myth = Passage.of("It is a myth that the lamp was lit in 1824 by a pirate.")
    (verdict,) = EmbeddedJudge(Framed(None), BARS).judge([Pair((myth,), "The lamp was lit by a pirate in 1824.")])
    assert not verdict.entails


def test_a_heading_contradicts_nothing():
    limits = Passage.of("The Number Of Lamps In A Tower")
    (verdict,) = EmbeddedJudge(Sure(*AGAINST), BARS).judge([Pair((limits,), "The number of lamps in a tower is 64.")])
    assert verdict.label == "unsupported"


@pytest.mark.parametrize("claim", ["Wolves ate sheep.", "The lamp stayed dark for years."])
def test_without_words_to_show_it_nothing_is_contradicted(claim: str):
    assert sure_verdict(claim, *AGAINST).label == "unsupported"


def test_a_network_that_is_not_sure_contradicts_nothing():
    verdict = sure_verdict("The lamp stayed dark for years.", 0.01, 0.69, 0.3)
    assert (verdict.label, verdict.reason) == ("unsupported", "the sources do not say this")


def test_a_number_that_no_source_has_is_not_supported_whatever_the_network_says():
    verdict = sure_verdict("The lamp was lit in 1842.", 0.98, 0.01, 0.01)
    assert (verdict.label, verdict.reason) == ("unsupported", "1842 is not in the sources")


def test_a_long_sentence_is_quoted_in_part():
    words = "The lamp " + "of the harbour " * 40
    judge = EmbeddedJudge(Sure(*AGAINST), BARS)
    (verdict,) = judge.judge([Pair((Passage.of(f"{words}was lit."),), "The lamp was lit too late.")])
    assert verdict.label == "contradicted"
    assert len(verdict.reason) < 200
    assert verdict.reason.endswith(" …”")


@pytest.mark.parametrize("content", ["[1]", "{", '{"slope": 1.0}', '{"slope": "steep"}'])
def test_a_file_without_bars_is_refused(tmp_path: Path, content: str):
    (tmp_path / "bars.json").write_text(content, "utf-8")
    with pytest.raises(ModelError, match="should hold the bars"):
        read_bars(tmp_path / "bars.json")


# ---------------------------------------------------------------- what is shipped


@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json", "settings.json", "bars.json"])
def test_a_file_that_was_changed_is_not_loaded(folder: Path, tmp_path: Path, name: str):
    broken = copied(folder, tmp_path / "broken")
    (broken / name).write_bytes((broken / name).read_bytes() + b" ")
    with pytest.raises(ModelError, match="is not the file of its manifest"):
        load_judge(broken).judge([Pair((Passage.of("The lamp of the tower was lit."),), "The tower's lamp burned.")])


def test_a_reader_is_no_judge(reader_folder: Path):
    with pytest.raises(ModelError, match=r"describes 'reader'"):
        load_judge(reader_folder)


def test_a_manifest_names_no_file_elsewhere(folder: Path, tmp_path: Path):
    broken = copied(folder, tmp_path / "broken")
    told = json.loads((broken / "manifest.json").read_text("utf-8"))
    (broken / "manifest.json").write_text(json.dumps({**told, "files": {"../x": "0"}}), "utf-8")
    with pytest.raises(ModelError, match="files beside it"):
        part("judge", broken)


def package(place: Path, **parts: Path) -> Path:
    """A distribution of weights in `place`."""
    own = place / shipped.PACKAGE
    own.mkdir(parents=True)
    for kind, folder in parts.items():
        copied(folder, own / kind)
    return own


def test_without_a_judge_the_command_is_named():
    with pytest.raises(ModelError, match=r"No trained judge is installed.*pip install \./weights.*training/README"):
        load_judge()


def test_installed_weights_are_found_and_checked(folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    package(tmp_path, judge=folder)
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(ModelError, match="is not the file that was shipped with this version"):
        load_judge()  # its files and manifest agree, and are others than the package knows
    monkeypatch.setitem(shipped.DIGESTS, "judge", part("judge", folder).identity)
    assert parts.judge("embedded", Settings()).name == "judge-tiny"


def test_parts_of_two_distributions_are_one_set(
    folder: Path, reader_folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    package(tmp_path / "a", judge=folder)
    package(tmp_path / "b", reader=reader_folder)
    monkeypatch.syspath_prepend(str(tmp_path / "a"))
    monkeypatch.syspath_prepend(str(tmp_path / "b"))
    assert shipped.installed().keys() == {"judge", "reader"}


def test_a_damaged_part_stops_only_who_loads_it(folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    (package(tmp_path, judge=folder) / "judge" / "manifest.json").write_text("{", "utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert Settings(judge="lexical").judge == "lexical"
    with pytest.raises(ModelError, match="is not the file that was shipped"):
        parts.judge(Settings().judge, Settings())


# ---------------------------------------------------------------- the reader


def test_a_span_is_the_words_of_a_passage(reader_folder: Path):
    (span,) = TrainedReader(reader_folder).read([("When was the lamp lit?", (TOWER, ISLAND))])
    assert span is not None
    text = {passage.id: passage.text for passage in (TOWER, ISLAND)}[span.passage]
    assert text[span.quote.start : span.quote.end] == span.quote.text


def test_the_reader_says_the_same_of_a_question_among_others(reader_folder: Path):
    reader = TrainedReader(reader_folder)
    asked = [("When was the lamp lit?", (TOWER, ISLAND)), ("Who was tall?", (TOWER,)), ("What?", (ISLAND,))]
    assert reader.read(asked) == [reader.read([one])[0] for one in asked]


def test_an_answer_is_no_title(reader_folder: Path):
    titled = Passage.of("Sea.", "The tower of stone")
    (span,) = TrainedReader(reader_folder).read([("What?", (titled,))])
    assert span is not None
    assert span.quote.text in titled.text


def test_less_confidence_than_asked_for_is_no_answer(reader_folder: Path):
    assert TrainedReader(reader_folder, least=1.0).read([("What?", (TOWER,))]) == [None]


def test_no_passage_no_answer(reader_folder: Path):
    assert TrainedReader(reader_folder).read([("What?", ()), ("What?", (Passage.of(""),))]) == [None, None]


def test_a_least_confidence_outside_its_range_is_a_usage_error(reader_folder: Path):
    with pytest.raises(UsageError, match=r"in 0\.\.1"):
        TrainedReader(reader_folder, least=1.5)


def test_the_likeliest_words_come_however_unlikely_they_are(reader_folder: Path):
    reader = TrainedReader(reader_folder, least=1.0)
    found = reader.likeliest("What?", (TOWER,))
    assert found is not None
    assert reader.likeliest("What?", ()) is None


def test_settings_name_the_reader_of_the_writer_too(reader_folder: Path):
    settings = Settings(reader=f"embedded:{reader_folder}", judge="lexical")
    main: Any = parts.kit(InMemory([TOWER]), settings).models["main"]
    assert main.name == "extractive+reader"
    asked = Generate(AnswerPrompt("When was the lamp lit?", (TOWER,), "short"))
    assert main.generate([asked])[0].value is not None
    lexical = parts.kit(InMemory([TOWER]), Settings(reader="lexical", judge="lexical"))
    assert lexical.models["main"].name == "extractive"


@pytest.mark.parametrize("spec", ["embeded", "embedded:", "lexical:x"])
def test_a_reader_that_nothing_is_called_is_a_usage_error(spec: str):
    with pytest.raises(UsageError, match=f"There is no reader called {spec!r}"):
        parts.kit(InMemory([TOWER]), Settings(reader=spec, judge="lexical"))


# ---------------------------------------------------------------- what is told of it


def test_doctor_says_that_nothing_is_installed_and_how_it_is(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setenv("COLUMNS", "200")
    run(["doctor"])
    assert "pip install ./weights" in capsys.readouterr().out


def test_doctor_names_the_judge_that_is_installed(
    folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    package(tmp_path, judge=folder)
    monkeypatch.setitem(shipped.DIGESTS, "judge", part("judge", folder).identity)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("COLUMNS", "200")
    run(["doctor"])
    assert "judge judge-tiny; 5 files were checked" in capsys.readouterr().out


def test_what_is_shipped_is_what_is_installed(
    folder: Path, reader_folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    own, expected = package(tmp_path), tmp_path / "weights.json"
    expected.write_text("{}", "utf-8")
    shipping.ship({"judge": folder, "reader": reader_folder}, {"judge": own, "reader": own}, expected)
    monkeypatch.setattr(shipped, "DIGESTS", json.loads(expected.read_text("utf-8")))
    monkeypatch.syspath_prepend(str(tmp_path))
    assert (part("judge").name, part("reader").name) == ("judge-tiny", "reader-tiny")


def test_the_distributions_of_this_repository_are_those_that_the_package_expects():
    assert set(shipping.PLACES) == set(shipped.DIGESTS)
    for kind, place in shipping.PLACES.items():
        assert part(kind, place / kind).identity == shipped.DIGESTS[kind]


def test_judges_share_the_installed_network_until_another_is_installed(
    folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    own = package(tmp_path, judge=folder)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setitem(shipped.DIGESTS, "judge", part("judge", folder).identity)
    first, second = JudgeNetwork(), JudgeNetwork()
    assert first._network is second._network
    assert JudgeNetwork(own / "judge")._network is not first._network
    shipping.write_manifest(own / "judge", "judge", "another")
    monkeypatch.setitem(shipped.DIGESTS, "judge", part("judge", own / "judge").identity)
    assert JudgeNetwork().name == "another"
