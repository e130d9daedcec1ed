"""The data of a report's page, with each passage and question once.

    {"title", "runs": [{"name", "about": [[key, words, is_setting]], "answers": [[ANSWER, one a seed] a question]}],
     "questions": [{"id", "text", "kind", "gold": [[label, words]]}], "passages": [[title, text, where]],
     "tables": [{"profile", "judge", "limits", "metrics": [{"name", "meaning", "scale", "of"}],
                 "runs": [{"run", "n", "failed", "notes", "metrics", "differences", "reasons": [[REASONS]]}]}]}

Each pair of profile and judge has a table. Offsets are code points.
"""

from __future__ import annotations

import base64
import hashlib
import html as markup
import json
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib import resources
from typing import Any, NamedTuple

from toulmin import __version__
from toulmin.datasets.item import Gold, Item
from toulmin.evaluation.significance import Difference
from toulmin.formats.answer_json import plain
from toulmin.formats.clean_text import page_of

# ---------------------------------------------------------------- what a report is made from


@dataclass(frozen=True, slots=True)
class ScoreRecord:
    """The document of `score --json`, and a line of reasons for each answer, in their order.

    A metric may hold `scale`, which multiplies the reasons' values for display (default 1), and `of`, the parts of a
    derived metric.
    """

    document: Mapping[str, Any]
    reasons: Sequence[Mapping[str, Any]]

    @property
    def profile(self) -> str:
        return str(self.document["profile"])

    @property
    def judge(self) -> str | None:
        return self.document.get("judge")

    @property
    def metrics(self) -> Mapping[str, Mapping[str, Any]]:
        return self.document["metrics"]  # type: ignore[no-any-return]


@dataclass(frozen=True, slots=True)
class RunShown:
    """`answers` are Answer documents with their item's id, one for each seed; `about` is shown in order."""

    name: str
    items: Sequence[Item]
    answers: Sequence[Mapping[str, Any]]
    scores: Sequence[ScoreRecord]
    about: Mapping[str, Any]


class Beside(NamedTuple):
    """How far `run` is above the first one, by metric."""

    run: str
    profile: str
    judge: str | None
    differences: Mapping[str, Difference]


class Plot(NamedTuple):
    title: str
    caption: str
    svg: bytes


# ---------------------------------------------------------------- what metrics and judges mean


_TEXTS = resources.files("toulmin.evaluation").joinpath("report", "meanings.toml").read_text("utf-8")
_MEANINGS: Mapping[str, Mapping[str, str]] = tomllib.loads(_TEXTS)
METRICS = _MEANINGS["metrics"]


def limits(judge: str | None) -> str:
    """By the first word of a judge's name ("lexical-3")."""
    if judge is None:
        return "No judge was asked: these metrics compare texts and do not measure support."
    kind = re.split(r"[^a-z0-9]", judge.lower())[0]
    return _MEANINGS["judges"].get(
        kind, "A judge is sometimes wrong: read the sentences before you trust a small difference."
    )


# ---------------------------------------------------------------- report contents


READ_SHOWN = 10  # uncited passages shown for each answer; the others are only counted

Json = dict[str, Any]
_KNOWN_REASONS = ("id", "values", "failed", "statements", "gold", "claims")


def contents(runs: Sequence[RunShown], beside: Sequence[Beside], title: str) -> Json:
    items = {item.id: item for run in runs for item in run.items}
    order = tuple(items)
    passages = _Passages()
    return {
        "title": title,
        "questions": [_question(item) for item in items.values()],
        "runs": [_run(run, order, passages) for run in runs],
        "tables": [_table(group, runs, beside, order, passages) for group in groups(runs)],
        "passages": list(passages.places),
    }


class _Passages:
    def __init__(self) -> None:
        self.places: dict[tuple[str, str, str], int] = {}  # by title, text and source, in order
        self.by_id: dict[str, int] = {}

    def place(self, passage: Mapping[str, Any]) -> int:
        row = (passage["title"], passage["text"], _where(passage["source"]))
        place = self.places.setdefault(row, len(self.places))
        self.by_id.setdefault(passage["id"], place)
        return place


def _where(source: Mapping[str, Any]) -> str:
    """Only the file name of a path, because reports are passed on."""
    path = source.get("path")
    parts = [re.split(r"[/\\]", path)[-1] if path else source.get("url"), source.get("record")]
    return ", ".join(str(part) for part in (*parts, page_of(path, source.get("page"))) if part)


def _group_by_id(documents: Iterable[Mapping[str, Any]]) -> dict[str, list[Mapping[str, Any]]]:
    groups: dict[str, list[Mapping[str, Any]]] = {}
    for document in documents:
        groups.setdefault(str(document["id"]), []).append(document)
    return groups


# ---------------------------------------------------------------- questions and answers


def _question(item: Item) -> Json:
    return {"id": item.id, "text": item.question, "kind": item.kind, "gold": list(_gold(item.gold))}


def _gold(gold: Gold) -> Iterable[tuple[str, str]]:
    for aliases in gold.answers or ():
        yield "answer", " / ".join(aliases)
    for part in gold.parts or ():
        yield part.question or "part", " / ".join(part.answers)
    for claim in gold.claims or ():
        yield "claim", claim
    for text in gold.references or ():
        yield "reference", text
    if gold.answer and gold.answer not in (gold.references or ()):
        yield "reference", gold.answer
    if gold.passages:
        yield "records", ", ".join(gold.passages)
    if gold.answerable is not None:
        yield "answerable", "yes" if gold.answerable else "no: the sources do not say"


def _run(run: RunShown, order: Sequence[str], passages: _Passages) -> Json:
    answers = _group_by_id(run.answers)
    return {
        "name": run.name,
        "about": list(_about(run.about)),
        "answers": [[_answer(answer, passages) for answer in answers.get(id, ())] for id in order],
    }


def _about(about: Mapping[str, Any]) -> Iterable[tuple[str, str, bool]]:
    for key, value in about.items():
        if isinstance(value, Mapping):
            for name, setting in value.items():
                yield f"{key}: {name}", _words(setting), True
        else:
            yield str(key), _words(value), False


def _words(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {_words(part)}" for key, part in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(map(_words, value))
    if value is None:
        return "none"
    return ("no", "yes")[value] if isinstance(value, bool) else str(value)


def _answer(answer: Mapping[str, Any], passages: _Passages) -> Json:
    cited = {citation["passage"] for claim in answer["claims"] for citation in claim["citations"]}
    used_ids = cited | {id for claim in answer["claims"] for id in (claim["support"] or {}).get("evidence", ())}
    others = [p for p in answer["passages"] if p["id"] not in used_ids]
    places = {p["id"]: passages.place(p) for p in answer["passages"] if p["id"] in used_ids}
    read = [passages.place(passage) for passage in others[:READ_SHOWN]]
    usage = answer.get("usage") or {}
    return {
        "status": answer["status"],
        "text": answer["text"],
        "claims": [_claim(claim, places) for claim in answer["claims"]],
        "read": read,
        "unread": len(others) - len(read),
        "notes": list(answer.get("notes", ())),
        "invalid": answer.get("invalid_citations", 0),
        "usage": {
            "calls": sum((usage.get("calls") or {}).values()),
            "tokens": sum(t["input"] + t["output"] for t in (usage.get("tokens") or {}).values()),
            "seconds": round(usage.get("seconds") or 0.0, 2),
            "rounds": len(answer.get("rounds", ())),
        },
    }


def _claim(claim: Mapping[str, Any], places: Mapping[str, int]) -> Json:
    support = claim["support"]
    return {
        "text": claim["text"],
        "section": claim.get("section"),
        "support": support and [support["label"], support["score"], support["judge"], support["reason"]],
        "cites": [_cite(citation, places.get(citation["passage"]), None) for citation in claim["citations"]],
    }


def _cite(citation: Mapping[str, Any], place: int | None, use: str | None) -> list[Any]:
    quote = citation.get("quote") or {}
    return [place, citation.get("n"), use, quote.get("start"), quote.get("end")]


# ---------------------------------------------------------------- tables and reasons


class Group(NamedTuple):
    """The scores by one profile and judge, each with its run's place."""

    profile: str
    judge: str | None
    scored: tuple[tuple[int, ScoreRecord], ...]


def groups(runs: Sequence[RunShown]) -> tuple[Group, ...]:
    scores: dict[tuple[str, str | None], list[tuple[int, ScoreRecord]]] = {}
    for place, run in enumerate(runs):
        for scored in run.scores:
            scores.setdefault((scored.profile, scored.judge), []).append((place, scored))
    return tuple(Group(*key, tuple(scored)) for key, scored in scores.items())


def _table(
    group: Group, runs: Sequence[RunShown], beside: Sequence[Beside], order: Sequence[str], passages: _Passages
) -> Json:
    metrics: dict[str, Json] = {}
    for _, scored in group.scored:
        for name, row in scored.metrics.items():
            scaling = {"scale": row.get("scale", 1), "of": list(row.get("of", ()))}
            metrics.setdefault(name, {"name": name, "meaning": METRICS.get(name), **scaling})
    key = (group.profile, group.judge)
    gaps = {entry.run: entry.differences for entry in beside if (entry.profile, entry.judge) == key}
    rows = [
        {
            "run": place,
            "n": scored.document.get("n"),
            "failed": scored.document.get("failed", 0),
            "notes": list(scored.document.get("notes", ())),
            "metrics": {
                name: {k: v.get(k) for k in ("value", "low", "high", "n")} for name, v in scored.metrics.items()
            },
            "differences": {name: asdict(gap) for name, gap in gaps.get(runs[place].name, {}).items()},
            "reasons": _reasons(scored, runs[place], order, passages),
        }
        for place, scored in group.scored
    ]
    about = {"profile": group.profile, "judge": group.judge, "limits": limits(group.judge)}
    return {**about, "metrics": list(metrics.values()), "runs": rows}


def _reasons(scored: ScoreRecord, run: RunShown, order: Sequence[str], passages: _Passages) -> list[list[Json]]:
    lines, answers = _group_by_id(scored.reasons), _group_by_id(run.answers)
    return [
        [_reason(line, answer, passages) for line, answer in zip(lines.get(id, ()), answers.get(id, ()), strict=False)]
        for id in order
    ]


def _reason(line: Mapping[str, Any], answer: Mapping[str, Any], passages: _Passages) -> Json:
    quotes: Quotes = {}
    for claim in answer["claims"]:
        for citation in claim["citations"]:
            if citation.get("quote"):
                quotes.setdefault((_plain(claim["text"]), citation["passage"]), citation["quote"])
    passages_by_id = {passage["id"]: passage for passage in answer["passages"]}
    return {
        "values": dict(line.get("values", {})),
        "failed": line.get("failed"),
        "statements": [_statement(entry, quotes, passages_by_id, passages) for entry in line.get("statements") or ()],
        "gold": [[entry["text"], bool(entry["found"])] for entry in line.get("gold") or ()],
        "claims": [[entry["text"], bool(entry["entailed"])] for entry in line.get("claims") or ()],
        "others": [[key, _words(value)] for key, value in line.items() if key not in _KNOWN_REASONS and value],
    }


Quotes = dict[tuple[str, str], Mapping[str, Any]]


def _plain(text: str) -> str:
    return " ".join(text.split()).rstrip(".").lower()


def _statement(
    statement: Mapping[str, Any], quotes: Quotes, passages_by_id: Mapping[str, Mapping[str, Any]], passages: _Passages
) -> Json:
    cites = []
    for citation in statement.get("citations") or ():
        id = citation.get("passage")
        place = passages.place(passages_by_id[id]) if id in passages_by_id else passages.by_id.get(id)
        quote = citation.get("quote") or quotes.get((_plain(statement["text"]), id or ""))
        cites.append(_cite({"n": citation.get("n"), "quote": quote}, place, citation.get("use")))
    verdict = [statement["outcome"], statement.get("score"), statement.get("judge"), statement.get("reason")]
    return {"text": statement["text"], "verdict": verdict, "cites": cites}


# ---------------------------------------------------------------- the page


WITHOUT_PLOTS = "The plots are left out: drawing them needs matplotlib (pip install 'toulmin[plots]')."

_SCRIPTS = ("elements.js", "values.js", "answers.js", "behind.js", "page.js")  # joined in this order, one module


def html(
    runs: Sequence[RunShown],
    beside: Sequence[Beside] = (),
    plots: Sequence[Plot] | None = None,
    *,
    title: str = "Comparison",
) -> str:
    """The same input gives the same page.

    `beside` are differences from the first run. If `plots` is None the page names the missing extra.
    """
    style, script = _asset("page.css"), "\n".join(map(_asset, _SCRIPTS))
    remark = WITHOUT_PLOTS if plots is None else None
    page_data = contents(runs, beside, title) | {"version": __version__, "remark": remark}
    written = json.dumps(page_data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    # It cannot end a script or open a comment.
    safe = written.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
    sources = f"default-src 'none'; style-src '{_digest(style)}'; script-src '{_digest(script)}'; img-src data:;"
    return _asset("shell.html").format(
        policy=f"{sources} base-uri 'none'; form-action 'none'",
        version=__version__,
        title=markup.escape(plain(title)),
        style=style,
        plots="".join(map(_figure, plots or ())),
        data=plain(safe),
        script=script,
    )


def _asset(name: str) -> str:
    return resources.files("toulmin.evaluation").joinpath("report", name).read_text("utf-8")


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _figure(plot: Plot) -> str:
    title, caption = (markup.escape(plain(text)) for text in (plot.title, plot.caption))
    image = f'<img alt="{title}" src="data:image/svg+xml;base64,{base64.b64encode(plot.svg).decode()}">'
    return f"<figure><h3>{title}</h3>{image}<figcaption>{caption}</figcaption></figure>"
