"""Which texts of `prompts.toml` a typed prompt uses, and what fills their placeholders."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import zip_longest
from typing import Any

from toulmin.data import Citation, Claim, Passage, Style, render
from toulmin.errors import UsageError
from toulmin.parsing.citing import without_marks
from toulmin.parsing.replying import read_reply
from toulmin.prompts import types
from toulmin.prompts.files import Demonstration, Texts, Turn, Wording, escape_labels, on_one_line, quote
from toulmin.prompts.reflection import NextSegment, next_segment
from toulmin.prompts.structured import in_json

# ---------------------------------------------------------------- pieces


def _passages(texts: Texts, passages: Sequence[Passage]) -> str:
    return "\n\n".join(
        texts.fill("parts.passage", n=str(n), title=_title(texts, escape_labels(p.title)), text=escape_labels(p.text))
        for n, p in enumerate(passages, start=1)
    )


def _title(texts: Texts, title: str) -> str:
    return on_one_line(title) or texts.fill("parts.untitled")


def _render_claims(claims: Sequence[Claim], style: Style, passages: Sequence[Passage]) -> str:
    labels = {id: int(id[1:-1]) for claim in claims for id in claim.cited if id.startswith("[")}
    labels |= {passage.id: n for n, passage in reversed(list(enumerate(passages, start=1)))}
    return quote(render(tuple(claims), style, numbers=labels).text)


def _with_strays(prompt: types.Feedback | types.Refine) -> tuple[Claim, ...]:
    # An invalid label is cited by the id "[9]".
    strays = [tuple(Citation(f"[{n}]") for n in numbers) for numbers in prompt.strays]
    return tuple(replace(c, citations=c.citations + (more or ())) for c, more in zip_longest(prompt.claims, strays))


def _fill(name: str, prompt: Any, texts: Texts, **values: str) -> str:
    """Fills in the passages, the question, topic or claim, and these values."""
    spoken = {field: escape_labels(getattr(prompt, field, None) or "") for field in ("question", "topic", "claim")}
    return texts.fill(name, **(spoken | {"passages": _passages(texts, prompt.passages)} | values))


def _word(name: str, prompt: Any, texts: Texts, **values: str) -> Wording:
    """`values` fill in the user's message."""
    system = _instructions(texts, f"{name}.system", prompt.passages)
    return Wording(system, _fill(f"{name}.user", prompt, texts, **values))


def _instructions(texts: Texts, name: str, shows: object, **values: str) -> str:
    parts = (texts.fill(name, **values), texts.fill("parts.data") if shows else "")
    return "\n\n".join(filter(None, parts))


def _of_style(name: str, style: Style) -> str:
    return f"{name}_list" if style == "list" else name


# ---------------------------------------------------------------- answers


def _answer(prompt: types.AnswerPrompt, texts: Texts) -> Wording:
    if prompt.preset == "list" and prompt.style != "list":
        raise UsageError(
            f"The prompt 'list' asks for a list, but the style is {prompt.style!r}:"
            " give the style 'list', or another prompt."
        )
    preset = "list" if prompt.style == "list" else prompt.preset
    cites = prompt.inline and bool(prompt.passages) and prompt.preset != "plain"
    entry = "memory" if not prompt.passages else "cited" if cites else "uncited"
    turns = (
        Turn(
            _answer_message(texts, example.question, example.passages if prompt.passages else ()),
            quote(example.answer if cites else without_marks(example.answer)),
            _in_json(example, prompt.style) if cites else "",
        )
        for example in prompt.examples or _default_examples(prompt, texts)
    )
    style = "long" if preset == "plain" and prompt.style == "report" else prompt.style  # one paragraph has no headings
    system = _instructions(texts, f"answer.{preset}.{entry}", prompt.passages, form=texts.fill(f"parts.{style}"))
    return Wording(system, _answer_message(texts, prompt.question, prompt.passages, prompt.written), tuple(turns))


def _answer_message(texts: Texts, question: str, passages: Sequence[Passage], written: str = "") -> str:
    before = texts.fill("answer.written", text=escape_labels(written)) if written.strip() else ""
    shown = _passages(texts, passages)
    return texts.fill("answer.user", question=escape_labels(question), passages=shown, written=before)


def _in_json(example: types.Example, style: Style) -> str:
    return quote(in_json(read_reply(example.answer, example.passages, style), example.passages))


_DEMONSTRATED: Mapping[Style, str] = {"long": "cited", "short": "short", "list": "list"}
_FEW_SHOT: Mapping[types.Preset, tuple[Style, ...]] = {"cited": ("long", "list"), "simple": ("long", "short", "list")}


def _default_examples(prompt: types.AnswerPrompt, texts: Texts) -> tuple[types.Example, ...]:
    """Examples of the style, for presets and styles that show any or if `shots` is set."""
    usual = _FEW_SHOT.get(prompt.preset, ("list",))
    shows = not prompt.written and (texts.shots is not None or prompt.style in usual)
    kind = _DEMONSTRATED.get(prompt.style, "") if shows else ""
    return tuple(demonstration.over(prompt.shortened) for demonstration in texts.demonstrations.get(kind, ()))


def _correct(prompt: types.Correct, texts: Texts) -> Wording:
    kind = {"long": "correct", "list": "correct_list"}.get(prompt.style, "")
    turns = (
        Turn(
            _correct_message(_correction_of(demonstration, prompt.style), texts),
            quote(demonstration.example.answer),
            _in_json(demonstration.example, prompt.style),
        )
        for demonstration in texts.demonstrations.get(kind, ())
    )
    name = _of_style("correct.system", prompt.style)
    values = {"form": texts.fill(f"parts.{prompt.style}"), "rests_on": str(_resting(prompt))}
    return Wording(_instructions(texts, name, prompt.passages, **values), _correct_message(prompt, texts), tuple(turns))


def _resting(prompt: types.Correct) -> int:
    return min(prompt.rests_on, len(prompt.passages))


def _correction_of(demonstration: Demonstration, style: Style) -> types.Correct:
    example = demonstration.example
    draft = types.AnswerPrompt(example.question, example.passages, style).read(demonstration.draft)
    return types.Correct(example.question, example.passages, draft.claims, demonstration.rests_on, style)


def _correct_message(prompt: types.Correct, texts: Texts) -> str:
    count = _resting(prompt)
    basis = texts.fill("correct.basis" if count else "correct.no_basis", rests_on=str(count)) if prompt.draft else ""
    draft = _render_claims(prompt.draft, prompt.style, prompt.passages) or texts.fill("correct.no_draft")
    values = {"basis": basis, "draft": draft, "rests_on": str(count)}
    return _fill(_of_style("correct.user", prompt.style), prompt, texts, **values)


def _feedback(prompt: types.Feedback, texts: Texts) -> Wording:
    targets = dict(prompt.targets)
    lines = (
        texts.fill("feedback.score", aspect=quote(name), score=f"{score:.0f}", target=f"{targets.get(name, 100):.0f}")
        for name, score in prompt.scores
    )
    answer = _answer_text(_with_strays(prompt), "long", prompt.passages, texts)
    form = "" if prompt.scores else "_unscored"
    user = _fill(f"feedback.user{form}", prompt, texts, answer=answer, scores="\n".join(lines))
    return Wording(_instructions(texts, f"feedback.system{form}", prompt.passages), user)


def _refine(prompt: types.Refine, texts: Texts) -> Wording:
    earlier = (
        texts.fill("refine.earlier", n=str(n), **_attempt(prompt, claims, feedback, texts))
        for n, (claims, feedback) in enumerate(prompt.history, start=1)
    )
    attempt = _attempt(prompt, _with_strays(prompt), prompt.feedback, texts)
    user = _fill("refine.user", prompt, texts, earlier="\n\n".join(earlier), **attempt)
    name = _of_style("refine.system", prompt.style)
    values = {"form": texts.fill(f"parts.{prompt.style}"), "citing": texts.fill("parts.citing")}
    return Wording(_instructions(texts, name, prompt.passages, **values), user)


def _attempt(
    prompt: types.Refine, claims: tuple[Claim, ...], feedback: Mapping[str, str], texts: Texts
) -> dict[str, str]:
    lines = (quote(f"{aspect}: {words}") for aspect, words in feedback.items() if words.strip())
    answer = _answer_text(claims, prompt.style, prompt.passages, texts)
    return {"answer": answer, "feedback": "\n".join(lines) or texts.fill("refine.no_feedback")}


def _answer_text(claims: tuple[Claim, ...], style: Style, passages: Sequence[Passage], texts: Texts) -> str:
    return _render_claims(claims, style, passages) or texts.fill("parts.no_answer")


# ---------------------------------------------------------------- claims


def _next_claim(prompt: types.NextClaim, texts: Texts) -> Wording:
    written = escape_labels(prompt.written) or texts.fill("parts.nothing_written")
    user = _fill("next_claim.user", prompt, texts, written=written)
    return Wording(_instructions(texts, _of_style("next_claim.system", prompt.style), prompt.passages), user)


def _queries(prompt: types.Queries, texts: Texts) -> Wording:
    user = texts.fill(
        "queries.user",
        question=quote(prompt.question),
        written=quote(prompt.written) or texts.fill("parts.nothing_written"),
        claim=quote(prompt.claim),
        n=str(prompt.n),
    )
    return Wording(texts.fill("queries.system", n=str(prompt.n)), user)


def _shorten(name: str, prompt: types.Summarise | types.Extract, texts: Texts) -> Wording:
    words = str(prompt.words) if isinstance(prompt, types.Summarise) else ""
    title, text = _title(texts, quote(prompt.passage.title)), quote(prompt.passage.text)  # no label is escaped here
    passage = texts.fill("parts.single", title=title, text=text)
    user = texts.fill(f"{name}.user", question=quote(prompt.question), passage=passage, words=words)
    return Wording(_instructions(texts, f"{name}.system", prompt.passage, words=words), user)


def _judge_claim(prompt: types.JudgeClaim, texts: Texts) -> Wording:
    question = escape_labels(prompt.question or "")
    asked = texts.fill("judge_claim.question", text=question) if question else ""
    return _word("judge_claim", prompt, texts, question=asked)


def _most_consistent(prompt: types.MostConsistent, texts: Texts) -> Wording:
    """Without marks, since the passages are not shown."""
    candidates = (
        texts.fill("most_consistent.candidate", n=str(n), answer=_answer_text(claims, "long", (), texts))
        for n, claims in enumerate(prompt.candidates, start=1)
    )
    user = texts.fill("most_consistent.user", question=quote(prompt.question), candidates="\n\n".join(candidates))
    return Wording(texts.fill("most_consistent.system", n=str(len(prompt.candidates))), user)


def _rewrite(prompt: types.Rewrite, texts: Texts) -> Wording:
    turns = (texts.fill("rewrite.turn", question=quote(t.question), answer=quote(t.answer)) for t in prompt.turns)
    user = texts.fill("rewrite.user", question=quote(prompt.question), turns="\n\n".join(turns))
    return Wording(texts.fill("rewrite.system"), user)


# ---------------------------------------------------------------- plans


def _questions(prompt: types.Questions, texts: Texts) -> Wording:
    paragraph = _fill_paragraph("questions.paragraph", prompt.paragraph, texts) if prompt.paragraph else ""
    return _word("questions", prompt, texts, paragraph=paragraph)


def _fill_paragraph(name: str, paragraph: types.Paragraph, texts: Texts, **values: str) -> str:
    title, description = (on_one_line(escape_labels(text)) for text in (paragraph.title, paragraph.description))
    return texts.fill(name, title=title, description=description, **values)


def _write(prompt: types.Write, texts: Texts) -> Wording:
    plan = (
        _fill_paragraph("write.paragraph", part, texts, n=str(n)) for n, part in enumerate(prompt.paragraphs, start=1)
    )
    findings = "\n\n".join(_fill_finding(part, prompt.passages, texts) for part in prompt.findings)
    user = _fill("write.user", prompt, texts, findings=findings, plan="\n".join(plan))
    citing = texts.fill("parts.citing") if prompt.inline and prompt.passages else texts.fill("write.uncited")
    quotes = prompt.passages or any(finding.answers for finding in prompt.findings)
    if not prompt.paragraphs:  # the plan paper asks all its systems for the same paragraph
        return Wording(_instructions(texts, "answer.plain.uncited", quotes, form=texts.fill("parts.long")), user)
    layout = ("write.planned", "write.headed") if prompt.style == "report" else ("write.planned",)
    form = " ".join(map(texts.fill, layout))
    return Wording(_instructions(texts, "write.system", quotes, form=form, citing=citing), user)


def _fill_finding(finding: types.Finding, passages: Sequence[Passage], texts: Texts) -> str:
    labels = {passage.id: n for n, passage in enumerate(passages, start=1)}
    marks = "".join(f"[{labels[p.id]}]" for p in finding.passages if p.id in labels)
    answers = "; ".join(on_one_line(escape_labels(answer)) for answer in finding.answers)
    question = on_one_line(escape_labels(finding.question))
    if not answers:
        return texts.fill("write.unanswered", question=question)
    return texts.fill("write.finding", question=question, answers=f"{answers} {marks}".strip())


WORDINGS: Mapping[type, Callable[[Any, Texts], Wording]] = {
    types.AnswerPrompt: _answer,
    types.NextClaim: _next_claim,
    types.Cite: partial(_word, "cite"),
    types.Queries: _queries,
    types.Summarise: partial(_shorten, "summarise"),
    types.Extract: partial(_shorten, "extract"),
    types.Correct: _correct,
    types.Outline: partial(_word, "outline"),
    types.Questions: _questions,
    types.Write: _write,
    types.Feedback: _feedback,
    types.Refine: _refine,
    types.MostConsistent: _most_consistent,
    types.JudgeClaim: _judge_claim,
    types.Rewrite: _rewrite,
    NextSegment: next_segment,
}
