"""`--explain`: the rounds of an answer."""

from __future__ import annotations

from collections.abc import Mapping

from rich.padding import Padding
from rich.text import Text

from toulmin.cli.terminal import Console, count_of, printable, words
from toulmin.data import Answer, Round, RoundKind

VERBS: Mapping[RoundKind, str] = {
    "search": "Searched",
    "draft": "Drafted",
    "claim": "Wrote claim",
    "verify": "Verified",
    "contrast": "Contrasted",
    "plan": "Planned",
    "assess": "Assessed",
    "refine": "Refined",
    "repair": "Repaired",
}
TITLES = 4  # of the passages read, named in a line
LONGEST = 600  # characters of a text that is quoted


def rounds(answer: Answer, console: Console) -> None:
    console.print(Text("Rounds", "bold"))
    titles = {passage.id: passage.title or passage.id for passage in answer.passages}
    for number, step in enumerate(answer.rounds, start=1):
        heading = Text(f"{number}. {_action(step)}").append_text(_account(step, titles))
        console.print(Padding(heading, (0, 0, 0, 2)))
        for line in _details(step, titles):
            console.print(Padding(line, (0, 0, 0, 5)))
    console.print()


def so_far(draft: Answer) -> Text:
    last = _action(draft.rounds[-1]) if draft.rounds else "Searching"
    calls = count_of(sum(draft.usage.calls.values()), "model call")
    return Text(f"Draft, not fully verified. {last}; {calls} so far", "dim")


def _action(step: Round) -> str:
    if step.kind == "plan" and step.text:
        return f"{VERBS['plan']} “{words(step.text).plain}”"
    if step.kind != "claim":
        return VERBS[step.kind]
    attempt = f", attempt {step.trial}" if step.trial and step.trial > 1 else ""
    return f"{VERBS['claim'] if step.text else 'Found nothing for claim'} {step.n}{attempt}"


def _account(step: Round, titles: Mapping[str, str]) -> Text:
    line = Text()
    if step.role not in (None, "main"):
        line.append(f" by the {step.role}")
    if step.queries:
        line.append(" for ").append_text(words(f"“{'”, “'.join(step.queries)}”"))
    if step.kind == "search" and not step.read:
        return line.append(": found nothing")
    if step.kind == "verify":
        return line.append_text(_verification(step))
    if step.read:
        line.append(": found " if step.kind == "search" else " from ").append_text(_passage_titles(step.read, titles))
    return line.append_text(_rating(step))


def _verification(step: Round) -> Text:
    if step.text:
        return words(f": {step.text}").append_text(_rating(step))
    return Text(f": {len(step.kept)} of {len(step.kept) + len(step.dropped)} claims are supported")


def _passage_titles(read: tuple[str, ...], titles: Mapping[str, str]) -> Text:
    shown = list(dict.fromkeys(titles.get(id, id) for id in read))
    more = f" and {len(shown) - TITLES} more" if len(shown) > TITLES else ""
    return words(f"{count_of(len(read), 'passage')} ({', '.join(shown[:TITLES])}{more})")


def _rating(step: Round) -> Text:
    line = Text("".join(f", {name.replace('_', ' ')} {score:.2f}" for name, score in (step.scores or {}).items()))
    if step.chosen is not None and step.kind in ("draft", "refine", "contrast"):
        chosen = ("accepted", "not accepted") if step.kind == "contrast" else ("chosen", "not chosen")
        line.append(f": {chosen[0 if step.chosen else 1]}", "" if step.chosen else "dim")
    return line


def _details(step: Round, titles: Mapping[str, str]) -> list[Text]:
    lines = []
    if step.text and step.kind in ("claim", "contrast", "assess"):
        lines.append(words(f"“{step.text[:LONGEST]}{'…' if len(step.text) > LONGEST else ''}”", "italic"))
    for text in step.kept:
        shape = Text("✓ ", "green") if step.kind == "verify" else Text("citing " if step.kind == "claim" else "– ")
        lines.append(shape.append_text(words(_title(text, titles))))
    for dropped in step.dropped:
        line = Text("✗ ", "red").append_text(words(_title(dropped.text, titles)))
        lines.append(line.append(f"  ({printable(dropped.why)})", "red"))
    return lines


def _title(text: str, titles: Mapping[str, str]) -> str:
    return f"[{titles[text]}]" if text in titles else text
