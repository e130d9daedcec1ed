"""Settings: where they come from, and what they refuse."""

from __future__ import annotations

from pathlib import Path

import pytest

from toulmin.config import Settings, load, parse_options, parse_value
from toulmin.errors import SourceError, UsageError


def test_nothing_set_gives_the_defaults(tmp_path: Path):
    assert load({}, tmp_path) == Settings()


def test_the_file_overrides_the_defaults(tmp_path: Path):
    (tmp_path / "toulmin.toml").write_text('style = "list"\nbm25_k1 = 1\n[options]\npreset = "expert"\n', "utf-8")
    found = load({}, tmp_path)
    assert (found.style, found.bm25_k1, found.options) == ("list", 1.0, {"preset": "expert"})


def test_the_environment_overrides_the_file(tmp_path: Path):
    (tmp_path / "toulmin.toml").write_text("k = 3\n", "utf-8")
    assert load({"TOULMIN_K": "4"}, tmp_path).k == 4


def test_given_flags_override_all_and_none_leaves_what_was_set():
    assert Settings(k=3, words=40).updated(k=5, words=None) == Settings(k=5, words=40)


def test_options_are_added_to_those_set_before():
    assert Settings(options={"a": 1, "b": 2}).updated(options={"b": 3}).options == {"a": 1, "b": 3}


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


def test_the_data_folder_of_the_tests_is_no_setting(tmp_path: Path):
    assert load({"TOULMIN_DATA": "/somewhere"}, tmp_path) == Settings()


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
