"""Answers in the dialects of other tools: what holds of every answer, and what one answer looks like in each."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from dialect_checks import problems
from dialect_parts import ABSTENTION, ANSWER, BARE, CLAIMS, FAILURE, ITEMS, SONG, TOWER, exportable
from hypothesis import given, settings
from openai.types.chat import ChatCompletion
from openai.types.responses import Response

from toulmin.data import Answer, Citation, Claim, Passage, Source
from toulmin.errors import UsageError
from toulmin.formats.clean_text import gaps
from toulmin.formats.export import DIALECTS, anthropic_message, export_answers
from toulmin.formats.openai import chat_completion, response

PAGE = Path(__file__).parent.parent / "toulmin" / "server" / "page"
some = settings(deadline=None, max_examples=30)  # the first law is the one that looks at everything
LINES = sorted(name for name, dialect in DIALECTS.items() if dialect.form == "lines")


def document(name: str, *answers: Answer) -> Any:
    """The file in a dialect, or its first line."""
    return json.loads(
        export_answers(answers, ITEMS, name, run_id="r1").data.split(b"\n" if name in LINES else b"\0")[0]
    )


# ---------------------------------------------------------------- laws


@settings(deadline=None)
@given(exportable())
def test_every_answer_is_valid_in_every_dialect(answer: Answer):
    faults = {
        name: problems(name, export_answers((answer, answer), ITEMS, name, run_id="r1").data) for name in DIALECTS
    }
    assert faults == {name: [] for name in DIALECTS}


@some
@given(exportable())
def test_an_answer_is_a_line(answer: Answer):
    files = [export_answers((answer, answer), (), name, run_id="r1").data for name in LINES]
    assert [file.count(b"\n") for file in files] == [2] * len(LINES)


def clean(answer: Answer) -> str:
    """The text without marks."""
    return "".join(gap + claim.text for gap, claim in zip(gaps(answer), answer.claims, strict=True))


@some
@given(exportable())
def test_an_annotation_selects_the_mark_of_its_citation(answer: Answer):
    choice = chat_completion(answer, "q")["choices"][0]["message"]
    marks = [a["url_citation"] for a in choice["annotations"]]
    cited = [f"[{answer.cited.index(answer.passage(id)) + 1}]" for claim in answer.claims for id in claim.cited]
    assert [(choice["content"] or "")[m["start_index"] : m["end_index"]] for m in marks] == cited


@some
@given(exportable())
def test_chat_and_response_hold_the_same_annotations(answer: Answer):
    chat = [a["url_citation"] for a in chat_completion(answer, "q")["choices"][0]["message"]["annotations"]]
    flat = response(answer, "q")["output"][0]["content"][0].get("annotations", [])
    assert chat == [{k: v for k, v in a.items() if k != "type"} for a in flat]


@some
@given(exportable())
def test_openais_own_types_read_what_we_write(answer: Answer):
    chat = ChatCompletion.model_validate(chat_completion(answer, "q"), strict=True)
    said = Response.model_validate(response(answer, "q"), strict=True)
    assert said.output_text == (chat.choices[0].message.content or "")


@some
@given(exportable())
def test_anthropics_blocks_make_up_the_clean_text(answer: Answer):
    blocks = [block["text"] for block in anthropic_message(answer, "q")["content"]]
    assert not answer.claims or "".join(blocks) == clean(answer)


@some
@given(exportable())
def test_anthropics_citing_blocks_are_the_claims_that_cite(answer: Answer):
    citing = [b["text"].lstrip() for b in anthropic_message(answer, "q")["content"] if "citations" in b]
    assert citing == [claim.text.lstrip() for claim in answer.claims if claim.citations]


# ---------------------------------------------------------------- one answer in each dialect


def test_the_clean_text_keeps_sections_and_escapes_nothing():
    assert clean(ANSWER) == (
        "History 👩‍👩‍👧\nThe tower 😀 (see [3]) was built in 1824. E\u0301te\u0301 is warm.\n\nWords\nمَنَارَة means 灯台."
    )


def test_a_list_stands_between_commas():
    entities = replace(ANSWER, style="list", claims=(Claim("Rome"), Claim("Washington, D.C.")))
    assert clean(entities) == "Rome, Washington, D.C."


def test_a_short_answer_is_its_claim():
    assert clean(replace(ANSWER, style="short", claims=(Claim("in 1824"),))) == "in 1824"


def test_openai_annotations_name_title_and_address():
    found = [a["url_citation"] for a in document("openai", ANSWER)["choices"][0]["message"]["annotations"]]
    assert [(c["title"], c["url"]) for c in found] == [
        ("塔", "notes/tower.md"),
        ("https://example.org/song", "https://example.org/song"),
        (BARE.id, BARE.id),
        ("塔", "notes/tower.md"),
    ]


def test_a_passage_without_url_and_path_is_addressed_by_its_title():
    titled = Passage.of("It burns.", "Lamp", Source(0, 9))
    answer = replace(ANSWER, claims=(Claim("It burns.", (Citation(titled.id),)),), passages=(titled,))
    assert document("openai", answer)["choices"][0]["message"]["annotations"][0]["url_citation"]["url"] == "Lamp"


def test_openai_text_is_the_page_with_its_flags():
    flagged = replace(ANSWER, settings={"unsupported": "flag"})
    assert "is warm [unsupported]." in document("openai", flagged)["choices"][0]["message"]["content"]


HOSTILE = "It burns ![x](http://evil.example/a.png) <img src=http://evil.example> \\\\[y](http://evil.example) [z]: b"


def test_markdown_of_a_document_is_words_to_clients_that_render_it():
    cited = (Citation(TOWER.id),)
    claims = (Claim(HOSTILE, cited, section="![2](http://evil.example)"), Claim("Ships see it.", cited))
    answer = replace(ANSWER, claims=claims, settings={})
    message = document("openai", answer)["choices"][0]["message"]
    assert not re.search(r"(?<!\\)(?:\\\\)*(?:<|\[(?!1\]))", message["content"])
    assert HOSTILE in answer.text
    places = [annotation["url_citation"] for annotation in message["annotations"]]
    marks = [message["content"][place["start_index"] : place["end_index"]] for place in places]
    assert marks == ["[1]", "[1]"]


def test_an_annotation_never_selects_a_bracket_of_the_claims_own():
    answer = replace(ANSWER, claims=(Claim("As [1] says, it burns.", (Citation(TOWER.id),)),), settings={})
    said = document("openai", answer)["choices"][0]["message"]
    assert (said["content"], said["annotations"][0]["url_citation"]["start_index"]) == (
        "As \\[1] says, it burns [1].",
        23,
    )


def test_openai_sums_the_tokens_of_all_roles():
    assert document("openai", ANSWER)["usage"] == {"prompt_tokens": 35, "completion_tokens": 13, "total_tokens": 48}


def test_anthropic_citation_is_a_sentence_or_whole_passage():
    first = document("anthropic", ANSWER)["content"][1]["citations"]
    assert [(c["cited_text"], c["start_char_index"], c["end_char_index"]) for c in first] == [
        ("塔は1824年に建てられた", 0, 13),
        (SONG.text, 0, len(SONG.text)),
    ]


def test_anthropic_documents_follow_the_order_of_citation():
    sent = document("anthropic", ANSWER)["documents"]
    assert [one["source"]["data"] for one in sent] == [TOWER.text, SONG.text, BARE.text]


def test_anthropic_titles_of_sections_are_blocks_that_cite_nothing():
    assert [b["text"] for b in document("anthropic", ANSWER)["content"] if "citations" not in b] == [
        "History 👩‍👩‍👧\n",
        " E\u0301te\u0301 is warm.",
        "\n\nWords\n",
    ]


@pytest.mark.parametrize("name", DIALECTS)
def test_half_a_surrogate_pair_is_written_as_the_replacement_character(name: str):
    torn = replace(ANSWER, claims=(Claim("The lamp \ud83d burns 😀.", (Citation(TOWER.id),)), *CLAIMS))
    data = export_answers((torn,), (), name, run_id="r1").data
    assert ("The lamp \ufffd burns" in data.decode("utf-8"), problems(name, data)) == (True, [])


# ---------------------------------------------------------------- abstentions, failures, wrong names


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("openai", lambda d: d["choices"][0]["message"]["refusal"]),
        ("responses", lambda d: d["output"][0]["content"][0]["refusal"]),
        ("anthropic", lambda d: d["content"][0]["text"]),
    ],
    ids=lambda value: value if isinstance(value, str) else "field",
)
def test_an_abstention_says_why_in_words(name: str, said: Any):
    assert said(document(name, ABSTENTION)) == "The sources do not say."


@pytest.mark.parametrize(
    ("name", "empty"),
    [
        ("alce", lambda d: d["data"][0]["output"]),
        ("trec24", lambda d: d["answer"]),
        ("trec25", lambda d: d["answer"]),
        ("openai", lambda d: d["choices"][0]["message"]["content"]),
    ],
    ids=lambda value: value if isinstance(value, str) else "field",
)
def test_an_abstention_holds_no_text_that_could_be_taken_for_an_answer(name: str, empty: Any):
    assert not empty(document(name, ABSTENTION))


@pytest.mark.parametrize("name", DIALECTS)
def test_a_failed_question_is_left_out_and_noted(name: str):
    both = export_answers((FAILURE, ANSWER), ITEMS, name, run_id="r1")
    without = export_answers((ANSWER,), ITEMS, name, run_id="r1")
    assert (both.data == without.data) == (name != "alce")
    place = "with an empty output" if name == "alce" else "left out"
    assert both.notes == (f"q3: {place}, as it failed: The model refused.",)


def test_an_answer_that_belongs_to_no_item_is_written_and_noted():
    stray = export_answers((replace(ANSWER, id="q9"),), ITEMS, "trec24", run_id="r1")
    assert (json.loads(stray.data)["topic"], len(stray.notes)) == ("When was it built?", 1)


def test_a_dialect_that_there_is_not_suggests_the_nearest():
    with pytest.raises(UsageError, match="did you mean trec2"):
        export_answers((), (), "trec", run_id="r1")
