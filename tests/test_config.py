"""Settings: where they come from, and what they refuse."""

from __future__ import annotations

from pathlib import Path

import pytest

from toulmin.config import Settings, load, parse_options, parse_value, to_tables
from toulmin.errors import SourceError, UsageError


def test_nothing_set_gives_the_defaults(tmp_path: Path):
    assert load({}, tmp_path) == Settings()


def test_the_file_overrides_the_defaults(tmp_path: Path):
    (tmp_path / "toulmin.toml").write_text('style = "list"\nbm25_k1 = 1\n[options]\nprompt = "expert"\n', "utf-8")
    found = load({}, tmp_path)
    assert (found.style, found.bm25_k1, found.options) == ("list", 1.0, {"prompt": "expert"})


def test_the_environment_overrides_the_file(tmp_path: Path):
    (tmp_path / "toulmin.toml").write_text("k = 3\n", "utf-8")
    assert load({"TOULMIN_K": "4"}, tmp_path).k == 4


def test_given_flags_override_all_and_none_leaves_what_was_set():
    assert Settings(k=3, words=40).override(k=5, words=None) == Settings(k=5, words=40)


def test_options_are_added_to_those_set_before():
    assert Settings(options={"a": 1, "b": 2}).override(options={"b": 3}).options == {"a": 1, "b": 3}


def test_text_that_looks_like_a_number_stays_text_where_text_is_wanted(tmp_path: Path):
    assert load({"TOULMIN_INDEX": "2024"}, tmp_path).index == "2024"


@pytest.mark.parametrize(
    ("environ", "words"),
    [
        ({"TOULMIN_STYLE": "prose"}, "'long' or 'list' or 'short' or 'report'"),
        ({"TOULMIN_K": "many"}, "a whole number, not 'many'"),
        ({"TOULMIN_K": "true"}, "a whole number, not True"),
        ({"TOULMIN_METOD": "vanilla"}, "did you mean method"),
    ],
)
def test_an_impossible_setting_says_what_was_expected(environ: dict[str, str], words: str, tmp_path: Path):
    with pytest.raises(UsageError, match=words):
        load(environ, tmp_path)


def test_test_data_folder_and_server_token_are_no_settings(tmp_path: Path):
    assert load({"TOULMIN_DATA": "/somewhere", "TOULMIN_TOKEN": "7"}, tmp_path) == Settings()


def test_a_file_that_is_no_toml_is_a_source_error(tmp_path: Path):
    (tmp_path / "toulmin.toml").write_text("k := 3", "utf-8")
    with pytest.raises(SourceError, match=r"toulmin\.toml"):
        load({}, tmp_path)


@pytest.mark.parametrize(
    ("text", "value"), [("7", 7), ("0.5", 0.5), ("true", True), ('"7"', "7"), ("a word", "a word"), ("[1, 2]", [1, 2])]
)
def test_a_value_is_read_as_toml_and_else_as_text(text: str, value: object):
    assert parse_value(text) == value


def test_options_are_split_at_the_first_equals_sign():
    assert parse_options(("k=3", "note=a=b")) == {"k": 3, "note": "a=b"}


@pytest.mark.parametrize("pair", ["k", "=3", ""])
def test_an_option_without_name_and_value_is_wrong_usage(pair: str):
    with pytest.raises(UsageError, match="NAME=VALUE"):
        parse_options((pair,))


def test_a_dotted_name_is_a_setting_of_that_provider():
    assert to_tables({"openai.base_url": "http://here/v1"}) == {"servers": {"openai": {"base_url": "http://here/v1"}}}


def test_the_price_of_a_model_whose_name_has_dots_is_its_own():
    assert to_tables({"prices.gpt-4.1.input": 2.0}) == {"prices": {"gpt-4.1": {"input": 2.0}}}


def test_a_server_of_ones_own_has_a_name():
    found = to_tables({"servers.small.base_url": "http://here/v1", "servers.small.window": 4096, "k": 3})
    assert found == {"servers": {"small": {"base_url": "http://here/v1", "window": 4096}}, "k": 3}


def test_a_dotted_name_that_is_no_provider_stays_for_the_method_to_refuse():
    assert to_tables({"opnai.base_url": "x"}) == {"opnai.base_url": "x"}


def test_a_provider_in_the_file_is_a_table(tmp_path: Path):
    (tmp_path / "toulmin.toml").write_text("[openai]\nwindow = 4096\n[servers.small]\nwindow = 2048\n", "utf-8")
    assert load({}, tmp_path).servers == {"openai": {"window": 4096}, "small": {"window": 2048}}


def test_the_usual_variable_names_the_address_where_nothing_else_does(tmp_path: Path):
    environ = {"OPENAI_BASE_URL": "http://there/v1"}
    assert load(environ, tmp_path).servers == {"openai": {"base_url": "http://there/v1"}}


def test_the_file_wins_over_the_usual_variable(tmp_path: Path):
    (tmp_path / "toulmin.toml").write_text('[openai]\nbase_url = "http://here/v1"\n', "utf-8")
    assert load({"OPENAI_BASE_URL": "http://there/v1"}, tmp_path).servers["openai"]["base_url"] == "http://here/v1"


def test_flags_lay_server_settings_upon_those_set_before():
    ground = Settings(servers={"openai": {"window": 1, "retries": 2}})
    assert ground.override(servers={"openai": {"window": 3}}).servers == {"openai": {"window": 3, "retries": 2}}


def test_a_table_of_servers_that_holds_none_is_wrong_usage(tmp_path: Path):
    (tmp_path / "toulmin.toml").write_text("[servers]\nwindow = 4096\n", "utf-8")
    with pytest.raises(UsageError, match=r"table of tables, such as \[servers.NAME\]"):
        load({}, tmp_path)
