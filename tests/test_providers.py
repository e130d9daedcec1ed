"""From a SPEC to a model: what can be named, which settings it takes, and where keys come from."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from row_tables import table

import toulmin
from toulmin.build.parts import model, rewriter_of, server
from toulmin.config import Settings, to_tables
from toulmin.errors import SourceError, UsageError
from toulmin.extractive.writer import Extractive
from toulmin.models.cache import CachedModel
from toulmin.models.remote import Chat, Completions
from toulmin.prompts.types import AnswerPrompt
from toulmin.steps import Generate

PASSAGE = toulmin.Passage.of("The tower was lit on 3 May 1824.", title="Kettle Rock")
QUESTION = "When was the tower lit?"


def with_set(**flat) -> Settings:
    """Settings as `--set` gives them; `__` stands for a dot."""
    return Settings().override(**to_tables({name.replace("__", "."): value for name, value in flat.items()}))


def test_the_embedded_writer_is_named_by_one_word():
    assert isinstance(model("extractive", Settings()), Extractive)


@pytest.mark.parametrize(("spec", "kind"), [("openai:m", Chat), ("completions:m", Completions)])
def test_each_provider_has_its_route(spec: str, kind: type):
    assert type(model(spec, Settings())) is kind


def test_a_server_of_ones_own_is_named_by_its_name():
    chosen = with_set(servers__small__base_url="http://localhost:1/v1", servers__small__route="completions")
    assert isinstance(model("small:m", chosen), Completions)


@pytest.mark.parametrize(
    ("spec", "port"),
    [("ollama:m", 11434), ("lmstudio:m", 1234), ("vllm:m", 8000), ("llamacpp:m", 8080), ("llamacpp", 8080)],
)
def test_servers_of_this_machine_are_at_their_usual_port(spec: str, port: int):
    assert model(spec, Settings()).host == f"127.0.0.1:{port}"


def test_a_server_of_this_machine_may_be_elsewhere_and_keeps_what_suits_it():
    made = server("ollama", with_set(ollama__base_url="http://there:1/v1"))
    assert (made.host, made.window) == ("there:1", 4096)


@table(
    ("spec", "is_small", "is_tiny"),
    [
        ("ollama:llama3.1:70b", False, False),
        ("ollama:llama3.1", False, False),
        ("ollama:qwen3:30b-a3b", False, False),
        ("ollama:mixtral:8x7b", False, False),
        ("ollama:smollm2", True, True),
        ("ollama:smollm2:135m", True, True),
        ("ollama:qwen2.5:0.5b-instruct-q4_K_M", True, True),
        ("vllm:Qwen/Qwen2.5-1.5B-Instruct", True, False),
        ("vllm:HuggingFaceTB/SmolLM3-3B", False, False),
    ],
)
@table("window", [4096, 32768])
def test_a_models_size_and_window_decide_its_settings(spec: str, is_small: bool, is_tiny: bool, window: int):
    provider = spec.partition(":")[0]
    chosen = with_set(**{f"{provider}__window": window})
    key = json.loads(model(spec, chosen).key(Generate(AnswerPrompt(QUESTION, (PASSAGE,)))))
    schema = key["body"]["response_format"]["json_schema"]["schema"]
    assert ("answer" in schema["properties"], rewriter_of(chosen.override(model=spec))) == (
        is_tiny,
        "extractive" if is_small else None,
    )
    assert key["templates"].endswith("compact") == (is_small or window == 4096)


def test_what_counts_as_a_small_model_can_be_set():
    chosen = [Settings(model=spec, small=small) for spec, small in (("ollama:smollm2", False), ("openai:nano", True))]
    assert [rewriter_of(settings) for settings in chosen] == [None, "extractive"]


def test_the_usual_key_is_not_sent_to_a_server_of_this_machine(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-usual")
    assert server("ollama", Settings()).key is None


def test_a_model_name_may_have_colons():
    assert model("openai:llama3:8b", Settings()).name == "llama3:8b"


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("opnai:m", "Did you mean openai"),
        ("gpt-9", "Known: extractive, openai:MODEL"),
        ("openai:", "should name a model after its provider"),
        ("openai", "should name a model after its provider"),
        ("ollama:", "as in ollama:MODEL"),
        ("llama", "as in llama:FILE"),
    ],
)
def test_a_spec_that_names_nothing_says_what_could_be_named(spec: str, words: str):
    with pytest.raises(UsageError, match=words):
        model(spec, Settings())


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"openai__windw": 3}, "setting of openai called 'windw'; did you mean window"),
        ({"openai__window": "large"}, "'openai.window' should be a whole number, not 'large'"),
        ({"openai__stream": 1}, "'openai.stream' should be true or false, not 1"),
        ({"openai__route": "speech"}, "route should be chat or completions, not 'speech'"),
        ({"openai__key": "sk-1"}, "must not hold the key"),
        ({"openai__base_url": "http://me:secret@here/v1"}, "without a user or password"),
        ({"prices__m__input": 1.0}, "price of 'm' should be a table like"),
    ],
)
def test_a_wrong_setting_of_a_server_says_what_was_expected(settings: dict, words: str):
    with pytest.raises(UsageError, match=words):
        model("openai:m", with_set(**settings))


def test_a_refused_setting_does_not_repeat_a_secret():
    with pytest.raises(UsageError) as caught:
        model("openai:m", with_set(openai__key="sk-secret", openai__base_url="http://me:secret@here/v1"))
    assert "secret" not in str(caught.value)


def test_a_server_without_an_address_says_which_setting_names_it():
    with pytest.raises(UsageError, match=r"set servers\.small\.base_url"):
        model("small:m", with_set(servers__small__window=10))


def test_the_servers_own_temperature_goes_before_the_general_one():
    made = server("openai", Settings(temperature=0.1, seed=4, servers={"openai": {"temperature": 0.9}}))
    assert (made.temperature, made.seed) == (0.9, 4)


def test_stop_sequences_of_a_file_are_a_list():
    assert server("openai", Settings(servers={"openai": {"stop": ["END"]}})).stop == ("END",)


# ---------------------------------------------------------------- keys


def test_the_key_of_openai_comes_from_the_usual_variable(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-usual")
    key = server("openai", Settings()).key
    assert key is not None
    assert key.reveal() == "sk-usual"


def test_the_usual_key_is_not_sent_to_a_server_of_ones_own(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-usual")
    assert server("small", with_set(servers__small__base_url="http://here/v1")).key is None


def test_a_server_of_ones_own_has_its_own_variable(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("SMALL_KEY", "k-small")
    chosen = with_set(servers__small__base_url="http://here/v1", servers__small__key_variable="SMALL_KEY")
    key = server("small", chosen).key
    assert key is not None
    assert key.reveal() == "k-small"


def test_a_variable_that_was_named_and_is_not_there_is_told(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("SMALL_KEY", raising=False)
    chosen = with_set(servers__small__base_url="http://here/v1", servers__small__key_variable="SMALL_KEY")
    with pytest.raises(UsageError, match="SMALL_KEY"):
        server("small", chosen)


def test_a_key_file_that_others_can_read_is_refused(tmp_path: Path):
    file = tmp_path / "key"
    file.write_text("sk-filed", "ascii")
    file.chmod(0o644)
    with pytest.raises(UsageError, match="chmod 600"):
        server("openai", with_set(openai__key_file=str(file)))


# ---------------------------------------------------------------- in use


@pytest.fixture
def replies(tmp_path: Path) -> str:
    file = tmp_path / "replies.jsonl"
    file.write_text(json.dumps({"prompt": "AnswerPrompt", "text": "The tower was lit on 3 May 1824 [1]."}), "utf-8")
    return f"scripted:{file}"


def test_scripted_replies_answer(replies: str):
    answer = toulmin.ask(QUESTION, passages=[PASSAGE], settings=Settings(model=replies))
    assert answer.claims[0].is_supported


def test_a_verifier_is_a_model_of_its_own(replies: str):
    chosen = Settings(model=replies, verifier="extractive", method="calm")
    answer = toulmin.ask(QUESTION, passages=[PASSAGE], settings=chosen)
    assert answer.usage.calls == {"main": 1, "verifier": 1}


def test_without_a_verifier_the_answer_says_who_took_its_part(replies: str):
    answer = toulmin.ask(QUESTION, passages=[PASSAGE], settings=Settings(model=replies, method="calm"))
    assert any("No model is set as verifier" in note for note in answer.notes)


def test_a_cache_answers_what_was_asked_before(tmp_path: Path):
    script = tmp_path / "twice.jsonl"
    script.write_text('{"text": "It was lit in 1824 [1]."}\n{"error": "asked again"}', "utf-8")
    asked = model(f"scripted:{script}", Settings(cache=str(tmp_path / "cache.sqlite")))
    first, second = (toulmin.ask(QUESTION, passages=[PASSAGE], settings=Settings(), model=asked) for _ in range(2))
    assert first.claims == second.claims != ()


def test_a_cache_is_laid_around_the_model(replies: str, tmp_path: Path):
    assert isinstance(model(replies, Settings(cache=str(tmp_path / "cache.sqlite"))), CachedModel)


def test_an_absent_file_of_replies_is_a_source_error(tmp_path: Path):
    with pytest.raises(SourceError, match="nothing here"):
        model(f"scripted:{tmp_path}/nothing here.jsonl", Settings())


def test_addresses_and_paths_of_the_place_do_not_go_into_an_answer(replies: str, tmp_path: Path):
    chosen = with_set(openai__base_url="http://inside.example/v1").override(model=replies, cache=str(tmp_path / "c"))
    shown = toulmin.ask(QUESTION, passages=[PASSAGE], settings=chosen).settings
    assert {"servers", "prices", "cache", "prompts", "index"} & shown.keys() == set()
