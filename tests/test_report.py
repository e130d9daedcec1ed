"""The page of a report as a document: what it holds, and what it keeps out."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any

import pytest
from report_parts import ATTACKS, beside, runs

from toulmin.evaluation.report_contents import WITHOUT_PLOTS, contents, html, limits


class Parts(HTMLParser):
    """Every element with its attributes, and the text of scripts and styles."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, str] = {}
        self._inside = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self._inside = f"{tag} {dict(attrs).get('type') or ''}".strip()

    def handle_data(self, text: str) -> None:
        self.texts[self._inside] = self.texts.get(self._inside, "") + text

    def handle_endtag(self, tag: str) -> None:
        self._inside = ""


def page_of(**options: Any) -> str:
    shown = runs(**options)
    return html(shown, beside(shown), ())


def data_of(page: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(Parts(page).texts["script application/json"])
    return found


def test_the_same_runs_give_the_same_page():
    assert page_of(seed=1) == page_of(seed=1)


@pytest.mark.parametrize("attack", ATTACKS, ids=range(len(ATTACKS)))
def test_no_words_of_a_run_become_markup(attack: str):
    harmless, harmful = Parts(page_of(questions=3)), Parts(page_of(questions=3, attack=attack))
    assert harmful.elements == harmless.elements


@pytest.mark.parametrize("attack", ATTACKS, ids=range(len(ATTACKS)))
def test_words_of_a_run_arrive_as_they_were(attack: str):
    found = data_of(page_of(questions=1, attack=attack))["questions"][0]["id"]
    assert found == "q0" + attack.replace("\ud800", "\ufffd")


def test_the_title_of_a_page_is_text():
    page = html(runs(1, 1), title="</title><script>harm()</script>")
    assert sum(tag == "script" for tag, _ in Parts(page).elements) == 2


def test_the_policy_allows_these_scripts_and_this_style_alone():
    parts = Parts(page_of(questions=1))
    policy = next(attrs["content"] or "" for tag, attrs in parts.elements if "http-equiv" in attrs)

    def digest(text: str) -> str:
        return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"

    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules == {
        "default-src": "'none'",
        "style-src": digest(parts.texts["style"]),
        "script-src": digest(parts.texts["script module"]),
        "img-src": "data:",
        "base-uri": "'none'",
        "form-action": "'none'",
    }


def test_a_page_names_no_address_to_fetch_from():
    elements = Parts(page_of(questions=2)).elements
    addresses = [value for _, attrs in elements for key, value in attrs.items() if key in ("src", "href", "action")]
    assert addresses == ["data:,"]


def test_a_passage_stands_once_however_often_it_was_read():
    one = runs(1, 4)[0]
    told = contents([one, replace(one, name="again")], [], "")
    assert len(told["passages"]) == len(contents([one], [], "")["passages"])


def test_a_report_tells_the_name_of_a_file_but_not_where_somebody_keeps_it():
    assert "somebody" not in page_of(questions=3)


def test_a_report_names_the_slide_of_a_passage():
    one = runs(1, 1)[0]
    for answer in one.answers:
        for passage in answer["passages"]:
            passage["source"] |= {"path": "/home/somebody/talk.pptx", "record": None, "page": 3}
    assert "talk.pptx, slide 3" in json.dumps(contents([one], [], ""))


def test_runs_of_several_profiles_and_judges_are_never_in_one_table():
    first, other = runs(2, 2)
    scored = other.scores[0]
    others = [replace(scored, document={**scored.document, **told}) for told in ({"profile": "alce"}, {"judge": "x"})]
    told = contents([first, replace(other, scores=[scored, *others])], [], "")
    found = [(one["profile"], one["judge"], len(one["runs"])) for one in told["tables"]]
    assert found == [("honest", "lexical-3", 2), ("alce", "lexical-3", 1), ("honest", "x", 1)]


def test_answers_of_several_seeds_stand_beside_their_own_reasons():
    told = contents(runs(1, 3, seeds=2), [], "")
    given, reasons = told["runs"][0]["answers"], told["tables"][0]["runs"][0]["reasons"]
    texts = [[[one["text"] for one in answer["claims"]] for answer in own] for own in given]
    assert texts == [[[one["text"] for one in line["statements"]] for line in own] for own in reasons]


def test_a_question_that_a_run_was_not_asked_has_no_answer_there():
    first, other = runs(2, 3)
    fewer = replace(other, items=other.items[:1], answers=other.answers[:1])
    assert [len(own) for own in contents([first, fewer], [], "")["runs"][1]["answers"]] == [1, 0, 0]


def test_every_quote_stands_at_its_offsets():
    told = contents(runs(2, 12), [], "")
    lengths = [
        (start, end, len(told["passages"][place][1]))
        for run in told["runs"]
        for answers in run["answers"]
        for answer in answers
        for claim in answer["claims"]
        for place, _, _, start, end in claim["cites"]
    ]
    assert lengths
    assert all(0 <= start < end <= length for start, end, length in lengths)


def test_a_page_without_plots_says_what_is_missing():
    assert data_of(html(runs(1, 1), plots=None))["remark"] == WITHOUT_PLOTS


def test_a_page_with_plots_says_nothing_of_it():
    assert data_of(html(runs(1, 1), plots=()))["remark"] is None


def test_each_setting_of_a_run_is_told_by_itself():
    told = {key: (words, is_setting) for key, words, is_setting in data_of(html(runs(1, 1)))["runs"][0]["about"]}
    assert (told["k"], told["limits: calls"], told["limits: flag"]) == (("5", False), ("none", True), ("yes", True))


@pytest.mark.parametrize("judge", ["lexical-3", "seq2seq:true", "model:openai:gpt", "anything else", "", None])
def test_every_judge_has_its_limits(judge: str | None):
    assert limits(judge).endswith(".")


def test_the_scripts_never_read_markup_or_reach_out():
    script = Parts(page_of(questions=1)).texts["script module"]
    assert (
        re.findall(r"innerHTML|outerHTML|insertAdjacent|document\.write|eval\(|fetch\(|XMLHttp|import\(", script) == []
    )
