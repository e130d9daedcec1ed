"""Pairs as people labelled them: the `attr_*` and `nli_*` sets in the one form of a pair."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from claims.pair import Label, Pair, Text, page_key
from claims.sources import Terms, rows
from toulmin.text.names import facts

SETS = (
    "attr_attributionbench_dev",
    "attr_begin_dev",
    "attr_contractnli",
    "attr_defacto",
    "attr_factscore",
    "attr_faithdial_audit",
    "attr_fever_paperdev",
    "attr_fever_symmetric_dev",
    "attr_fm2_dev",
    "attr_halueval_qa",
    "attr_q2_wow",
    "attr_scifact_train",
    "attr_summedits_eval",
    "attr_wice_dev",
    "attr_wice_tokens",
)
INFERENCE = (
    "nli_role_qasrl",
    "nli_role_synaug",
    "nli_negation_scone",
    "nli_negation_bench",
    "nli_function_words",
    "nli_veridicality",
    "nli_monotonicity_help",
    "nli_fragments",
    "nli_drop",
    "nli_snli_dev",
    "nli_mnli_dev",
    "nli_scitail_dev",
    "nli_counterfactual",
    "nli_breaking",
    "nli_folio",
    "nli_entailmentbank",
    "nli_feverous",
    "nli_sufficient",
    "nli_bump",
    "nli_factcg",
    "nli_fib",
    "nli_conj",
    "nli_paraphrase_stsb",
    "nli_paraphrase_parabank2",
)
_LABELS: dict[str, Label] = {
    "supported": "supported",
    "refuted": "contradicted",
    "partially_supported": "unsupported",
    "not_supported": "unsupported",
    "not_enough_info": "unsupported",
}
_BY_TITLE = {"FoolMeTwice", "SciFact", "AttributionBench/AttributedQA"}
_BY_NAME = {"FEVER", "FEVER-Symmetric v0.2"}
_SHORT = "HaluEval/"  # its claims are short answers; a whole statement is judged without its question
_META = re.compile(r"^\(meta data\) TITLE: (?P<title>.+)$")


def page_of(row: dict[str, Any]) -> str:
    """What a record is about, as surely as its source tells: a title, a topic, a question, or its evidence itself.

    Two records with the same evidence always have the same page: where there is any, nothing else of a claim counts.
    """
    source, meta, evidence = row["source"], row["meta"], row["evidence"]
    if source.startswith("AttributionBench/") and source not in _BY_TITLE and row["question"]:
        return page_key(row["question"])
    if not evidence:
        return page_key(meta.get("topic") or row["claim"])
    first = evidence[0]
    named = _META.match(first["text"])
    if named:
        return page_key(named["title"])
    if source in _BY_TITLE and first["title"]:
        return page_key(first["title"])
    return _first_name(first["text"]) if source in _BY_NAME else page_key(first["text"][:100])


def _first_name(text: str) -> str:
    """The name that the evidence opens with, which is its page's as a rule; its words where it opens with none."""
    first = next((fact for fact in facts(text[:80]) if fact.kind == "name"), None)
    return page_key(text[first.start : first.end] if first is not None and first.start < 6 else text[:100])


def _premise(row: dict[str, Any]) -> tuple[Text, ...]:
    """The evidence; consecutive sentences of one title are one passage."""
    joined: list[Text] = []
    for item in row["evidence"]:
        if joined and joined[-1].title == item["title"]:
            joined[-1] = replace(joined[-1], text=f"{joined[-1].text} {item['text']}")
        else:
            joined.append(Text(item["title"], item["text"]))
    return tuple(joined)


def inferences(folder: Path, name: str, terms: Terms) -> Iterator[Pair]:
    """The pairs of a set of inferences, whose source is the file: short evidence, one claim, no question."""
    for row in rows(folder, name):
        pair = replace(_pair(row, _premise(row), terms), source=name, family="inference", question=None)
        yield replace(pair, page=page_key(row["evidence"][0]["text"][:100]))


def records(folder: Path, name: str, terms: Terms) -> Iterator[Pair]:
    """The pairs of one set as they were labelled, in its order; a record gets its page's passages or its evidence, and
    is left out where there is neither.
    """
    pages = _pages(folder) if name == "attr_factscore" else {}
    for row in rows(folder, name):
        premise = pages.get(row["evidence_page"], ()) if pages else _premise(row)
        if premise:
            yield _pair(row, premise, terms)


def _pair(row: dict[str, Any], premise: tuple[Text, ...], terms: Terms) -> Pair:
    return Pair(
        id=row["id"],
        source=row["source"],
        family="natural",
        premise=premise,
        claim=row["claim"],
        question=row["question"] if row["source"].startswith(_SHORT) else None,
        label=_LABELS[row["label"]],
        page=page_of(row),
        split=row["split"],
        wrong=() if row["label"] == "supported" else _wrong_words(row),
    )


def _wrong_words(row: dict[str, Any]) -> tuple[tuple[int, int], ...] | None:
    """The words that annotators marked as not supported, where a set has such marks and they fit the claim."""
    meta, at = row["meta"], 0
    places: list[tuple[int, int]] = []
    for token, is_wrong in zip(meta.get("claim_tokens") or (), meta.get("non_supported_spans") or (), strict=True):
        start = row["claim"].find(token, at)
        if start < 0:
            return None
        at = start + len(token)
        places += [(start, at)] * is_wrong
    return tuple(places) or None


def _pages(folder: Path) -> dict[str, tuple[Text, ...]]:
    return {
        row["topic"]: tuple(Text(row["topic"], text) for text in row["passages"])
        for row in rows(folder, "attr_factscore_pages")
    }
