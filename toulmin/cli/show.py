"""Shows answers, hits and reports, as text or JSON."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from shlex import quote
from shutil import which
from typing import TYPE_CHECKING

from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from toulmin.cli import story
from toulmin.cli.terminal import Console, count_of, print_json, printable, progress_bar, words
from toulmin.data import Answer, Citation, Claim, Hit, Passage, Relevance, Rule, citation_numbers
from toulmin.formats.clean_text import page_in, record_in
from toulmin.formats.manuscript import author_year

if TYPE_CHECKING:
    from toulmin.checking.findings import CheckedFile, Finding, Unread
    from toulmin.checking.recheck import ClaimRecheck, Recheck
    from toulmin.cli.doctor import Finding as Examined
    from toulmin.indexing.update import IndexReport, Progress

# Each verdict and outcome has a word and a shape beside its colour.
LOOKS = {
    "supported": ("✓", "green"),
    "likely": ("≈", "green"),
    "disputed": ("⇄", "yellow"),
    "unsure": ("?", "yellow"),
    "unsupported": ("✗", "red"),
    "contradicted": ("✗", "red"),
    "not checked": ("·", "dim"),
}
_MOST_SHOWN = 1000  # claims
STATES = {
    "current": ("✓", "green", "current"),
    "moved": ("✓", "green", "moved"),
    "holds": ("✓", "green", "changed but holds"),
    "stale": ("✗", "red", "stale"),
    "contradicted": ("✗", "red", "contradicted"),
    "gone": ("✗", "red", "gone"),
    "not saved as true": ("·", "dim", "not supported when saved"),
}
OUTCOMES = {"answered": ("✓", "green"), "partly": ("~", "yellow"), "unanswerable": ("–", "dim")}


# ---------------------------------------------------------------- answers


def answer(answer: Answer, *, as_json: bool, explain: bool = False) -> None:
    """Prints the answer with its evidence; with JSON, the rounds go to standard error."""
    if as_json:
        from toulmin.formats import answer_json

        print_json(answer_json.document(answer))
        if explain:
            story.rounds(answer, Console(stderr=True))
        return
    console = Console()
    if answer.question:
        console.say(answer.question, "bold")
        if answer.asked:
            console.say(f"(asked: “{answer.asked}”)", "dim")
        console.print()
    if answer.method == "repair":
        _repair_report(answer, console)
    elif answer.claims:
        console.print(_lines(answer.text))
        console.print()
        if answer.relevance and (answer.relevance.answers != "perhaps" or answer.relevance.unmentioned):
            console.print(_relevance(answer.relevance))
            console.print()
        _evidence(answer, citation_numbers(answer.claims), console)
    if answer.questions:
        _questions(answer, console)
    for note in answer.notes:
        console.say(note, "yellow" if answer.claims else "bold yellow")
    if explain:
        story.rounds(answer, console)
    console.print(_cost(answer))


def notes(texts: Sequence[str]) -> None:
    for note in texts:
        Console(stderr=True).say(note, "yellow")


def rechecks(found: Sequence[Recheck], *, as_json: bool) -> None:
    """Prints each claim with its state; for a fallen claim also the old citation and the source's words now."""
    if as_json:
        print_json({"answers": [each.document for each in found]})
        return
    console = Console()
    for each in found:
        console.print(words(each.answer.question or each.path or "A checked text", "bold"))
        grid = Table.grid(padding=(0, 2, 0, 0))
        for claim in each.claims:
            _recheck_rows(claim, each.answer, grid)
        console.print(grid)
    counts = sum((Counter(each.counts) for each in found), Counter[str]())
    for path, count in {each.path: each.edited for each in found if each.edited}.items():
        console.say(
            f"{path}: edited since it was saved; for {count_of(count, 'new sentence')} run `toulmin check`.", "yellow"
        )
    listed = ", ".join(f"{count} {STATES[state][2]}" for state, count in counts.items()) or "no supported claim"
    console.say(f"{listed}; {count_of(sum(each.pairs for each in found), 'pair')} judged.")


def _recheck_rows(claim: ClaimRecheck, answer: Answer, grid: Table) -> None:
    shape, colour, name = STATES[claim.state or "not saved as true"]
    support = claim.now.support
    doubt = f" ({support.label} {support.score:.2f})" if claim.state == "stale" and claim.says and support else ""
    grid.add_row(Text(f"  {shape} {name}", colour).append(doubt, "dim"), words(claim.was.text))
    if claim.state in ("stale", "contradicted", "gone"):
        for citation in claim.was.citations:
            grid.add_row("", Text("was: ").append_text(_source(answer.passage(citation.passage), citation)))
            grid.add_row("", _quote_line(citation))
        if claim.says:
            grid.add_row("", Text("now: “").append_text(words(" ".join(claim.says.split()))).append("”"))
    elif claim.state in ("moved", "holds"):
        now = {passage.id: passage for passage in claim.passages}
        for citation in claim.now.citations:
            grid.add_row("", Text("now: ").append_text(_source(now[citation.passage], citation)))


def failures(files: Sequence[CheckedFile], form: str, until: Rule | None, unread: Sequence[Unread] = ()) -> None:
    """Prints the failures in checked files: as text, or in a form for programs."""
    if form == "json":
        print_json({"files": [file.document for file in files], "unread": [each._asdict() for each in unread]})
        return
    if form != "text":
        from toulmin.checking import reports

        written = getattr(reports, form)(files, until=until, unread=unread)
        sys.stdout.write(written if isinstance(written, str) else written.decode("utf-8"))
        return
    from toulmin.build.sources import NOT_READ

    console = Console()
    for file in files:
        for finding in file.failures(until or "unsupported"):
            _failure(file.path, finding, console)
        for note in file.notes:
            console.print(words(f"{file.path}: {note}", "yellow"))
    if any(note.startswith(NOT_READ) for file in files for note in file.answer.notes):
        console.print(words("Some files of the sources could not be read; --format json lists them.", "yellow"))
    console.say(_totals(files))


def _failure(path: str, finding: Finding, console: Console) -> None:
    place, support = finding.claim.place, finding.claim.support
    shape, colour = LOOKS[support.label if support else "unsupported"]
    at = f"{path}:{place.line}:{place.column}" if place else path
    line = words(at, "bold").append(f"  {shape} {finding.rule}", colour)
    console.print(line.append(f" {support.score:.2f}" if support else "", "dim"), soft_wrap=True)  # to be clicked
    claim = words(finding.claim.text).append(f"  ({printable(finding.message)})", colour)
    console.print(Padding(claim, (0, 0, 0, 4)))
    if finding.passage and finding.near:
        source = finding.passage.source
        where = _shortest(source.path) if source.path else source.url or finding.passage.title
        near = f"“{' '.join(finding.near.split())}”"
        console.print(Padding(words(f"nearest, {where}:", "dim").append(" ").append_text(words(near)), (0, 0, 0, 4)))
    console.print()


def _totals(files: Sequence[CheckedFile]) -> str:
    claims = [claim for file in files for claim in file.answer.claims if claim.support]
    labels = Counter(claim.support.label for claim in claims if claim.support)
    excused = sum(finding.excuse is not None for file in files for finding in file.findings)
    listed = [f"{labels[label]} {label}" for label in LOOKS if labels[label]]  # type: ignore[index]
    listed += [f"{excused} in the baseline"] if excused else []
    judges = ", ".join(dict.fromkeys(claim.support.judge for claim in claims if claim.support))
    total = f"{count_of(len(claims), 'claim')} in {count_of(len(files), 'file')}: {', '.join(listed) or 'none judged'}"
    return f"{total}; judged by {judges}." if judges else f"{total}."


def _repair_report(answer: Answer, console: Console) -> None:
    from toulmin.methods.repair import changes, final_text, numbering

    console.print(Text("Repaired text", "bold"))
    for line in final_text(answer).splitlines():
        console.print(words(line), soft_wrap=not console.is_terminal)  # a pipe gets the lines as they are
    console.print()
    console.print(Text("Changes", "bold"))
    for change in changes(answer):
        before = words(change.before, "strike" if not change.after.strip() else "")
        console.print(Padding(Text("− ", "red").append_text(before), (0, 0, 0, 2)))
        if change.after.strip():
            console.print(Padding(Text("+ ", "green").append_text(words(change.after)), (0, 0, 0, 2)))
        console.print(Padding(words(change.why, "dim"), (0, 0, 0, 4)))
    if not changes(answer):
        console.print("  none")
    console.print()
    if answer.claims:
        _evidence(answer, numbering(answer), console)


def _evidence(answer: Answer, numbers: Mapping[str, int], console: Console) -> None:
    console.print(Text("Evidence", "bold"))
    grid = Table.grid(padding=(0, 2, 0, 0))
    marks = {id: f"[{number}] " for id, number in numbers.items()}
    for claim in answer.claims[:_MOST_SHOWN]:
        grid.add_row(_verdict(claim), _claim_line(claim))
        for citation in claim.citations:
            passage = answer.passage(citation.passage)
            place = Text(marks.get(passage.id, "")).append_text(_source(passage, citation))
            if citation.quote and citation.quote.text.split() == claim.text.split():
                grid.add_row("", place.append(", word for word", "dim"))
            else:
                grid.add_row("", place)
                grid.add_row("", _quote_line(citation))
        for passage in _against(claim, answer):
            grid.add_row("", Text("against: ").append_text(_source(passage)))
        for passage in map(answer.passage, claim.support.elsewhere if claim.support else ()):
            grid.add_row("", Text(f"also in: {marks.get(passage.id, '')}").append_text(_source(passage)))
        grid.add_row("", "")
    console.print(grid)
    if (left := len(answer.claims) - _MOST_SHOWN) > 0:
        console.print(f"  … and {left:,} more claims; --json lists them all.\n")


def _questions(answer: Answer, console: Console) -> None:
    console.print(Text("Questions", "bold"))
    for question in answer.questions:
        shape, colour = OUTCOMES[question.outcome]
        console.print(Text(f"  {shape} {question.outcome:<12} ", colour).append_text(words(question.text)))
    console.print()


def _against(claim: Claim, answer: Answer) -> list[Passage]:
    if claim.support is None or claim.support.label not in ("contradicted", "disputed"):
        return []
    return [answer.passage(id) for id in claim.support.evidence if id not in claim.cited]


def _verdict(claim: Claim) -> Text:
    support = claim.support
    label = support.label if support else "not checked"
    shape, colour = LOOKS[label]
    return Text(f"  {shape} {label}", colour).append(f" {support.score:.2f}" if support else "", "dim")


def _claim_line(claim: Claim) -> Text:
    line = _lines(claim.text)
    if claim.support and claim.support.reason and not claim.is_supported:
        line.append(f"  ({printable(claim.support.reason)})", LOOKS[claim.support.label][1])
    return line


def _lines(text: str) -> Text:
    return Text("\n").join(map(words, text.split("\n")))


def _quote_line(citation: Citation) -> Text:
    if citation.quote is None:
        return Text("no single sentence of this passage decided", "dim")
    return Text("“", "italic").append_text(words(citation.quote.text)).append("”")


def _source(passage: Passage, citation: Citation | None = None) -> Text:
    """The place of a passage or of its quote; offsets count characters of the file's text."""
    citation = citation or Citation(passage.id)
    source, quote = passage.source, citation.quote
    start, end = (source.start + quote.start, source.start + quote.end) if quote else (source.start, source.end)
    where = [_shortest(source.path) if source.path else source.url or "given passage"]
    where += [record_in(source.record)] if source.record else []
    where += filter(None, [page_in(passage, citation), citation.section_in(passage)])
    about = source.metadata
    where += filter(None, [author_year(about) + ("" if about.is_file_date else about.date[4:])])
    where.append(f"characters {start}–{end}")
    return words(passage.title or "untitled", "bold").append("  ").append_text(words(", ".join(where), "dim"))


def _shortest(path: str) -> str:
    return min(path, os.path.relpath(path), key=len)


def _relevance(relevance: Relevance) -> Text:
    """Whether it answers the question; a verdict is about support only."""
    shape, colour = {"yes": ("✓", "green"), "perhaps": ("~", "yellow"), "no": ("–", "red")}[relevance.answers]
    line = f"{shape} answers the question: {relevance.answers} ({relevance.score:.2f}, {relevance.reader})"
    absent = f"; no cited passage mentions {', '.join(relevance.unmentioned)}" if relevance.unmentioned else ""
    return words(line + absent, colour)


def _cost(answer: Answer) -> Text:
    usage = answer.usage
    judges = dict.fromkeys(claim.support.judge for claim in answer.claims if claim.support)
    parts = [f"judged by {', '.join(judges)}"] if judges else []
    model = answer.settings.get("model")
    parts.append(f"written by {model}" if model and answer.method not in ("check", "repair") else answer.method)
    if "rewriter" in usage.calls and "rewriter" in answer.settings:
        parts.append(f"corrected by {answer.settings['rewriter']}")
    calls = count_of(sum(usage.calls.values()), "model call")
    parts.append(f"{count_of(usage.searches, 'search', 'es')}, {calls}, {count_of(usage.judge_pairs, 'judgement')}")
    tokens = sum(count.input + count.output for count in usage.tokens.values())
    if tokens:
        parts.append(f"{tokens:,} tokens")
    if usage.usd is not None:
        parts.append(f"{usage.usd:.4f} US dollars")
    parts.append(f"{usage.seconds:.2f} s")
    return words(" · ".join(parts), "dim")


# ---------------------------------------------------------------- hits, reports, findings


def hits(query: str, ranking: Sequence[Hit], *, as_json: bool) -> None:
    if as_json:
        from toulmin.formats import answer_json

        print_json(answer_json.hits_document(query, ranking))
        return
    console = Console()
    for n, hit in enumerate(ranking, start=1):
        console.print(Text(f"{n:>3}. {hit.score:6.2f}  ").append_text(_source(hit.passage)))
        console.print(Padding(words(hit.passage.text), (0, 0, 0, 13)))
    if not ranking:
        console.print("No passage matches this query.")


def index_report(report: IndexReport, folder: str, *, as_json: bool) -> None:
    if as_json:
        print_json({"index": folder, **asdict(report)})
        return
    console = Console()
    for entry in report.skipped:
        console.print(Text("skipped  ", "yellow").append_text(words(f"{entry.path}: {entry.reason}")))
    changes = f"{report.unchanged} unchanged, {report.removed} removed, {len(report.skipped)} skipped"
    console.say(f"{report.read} files read, {changes}.")
    console.say(f"{folder} holds {report.documents:,} documents in {report.passages:,} passages.")
    for note in report.notes:
        console.say(note)
    if report.encoder is not None:
        console.say(f"{report.encoded:,} passages encoded; all can be searched by meaning ({report.encoder}).")


def findings(rows: Sequence[Examined], *, as_json: bool) -> None:
    if as_json:
        print_json([asdict(finding) for finding in rows])
        return
    console = Console()
    shapes = {"works": ("✓", "green"), "missing": ("·", "yellow"), "broken": ("✗", "red")}
    for finding in rows:
        shape, colour = shapes[finding.state]
        state = Text(f"{shape} {finding.state:<8}", colour)
        console.print(state.append_text(words(f"{finding.part}: {finding.detail}")))
        if finding.remedy:
            console.print(Padding(Text("→ ").append_text(words(finding.remedy)), (0, 0, 0, 10)))


def next_steps(unanswered: str, mistaken: str, folder: str) -> None:
    """The printed commands run as they stand in the current folder."""
    console = Console()
    program, docs = quote(_program()), quote(_shortest(folder))
    steps = {
        f"{program} ask {quote(unanswered)} --docs {docs}": "ask a question that these sources do not answer",
        f"echo {quote(mistaken)} | {program} check --docs {docs}": "check a text that somebody else wrote",
        f"{program} ask 'Your question?' --docs .": "ask about the files of this folder",
        f"{program} serve --docs . --open": "ask on a page in your browser",
    }
    console.print(Text("\nTry next", "bold"))
    for command, purpose in steps.items():
        console.print(Text(f"  {command}"), soft_wrap=True)  # a command stays in one piece
        console.print(Text(f"      {purpose}", "dim"))


def _program() -> str:
    """`toulmin` if the shell finds it, else its path."""
    return "toulmin" if which("toulmin") or not sys.argv[0].endswith("toulmin") else _shortest(sys.argv[0])


@contextmanager
def watching() -> Iterator[Callable[[Answer], None] | None]:
    """Shows the growing draft on standard error; None outside a terminal."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield None
        return
    from rich.console import Group
    from rich.live import Live
    from rich.spinner import Spinner

    waiting = Spinner("line", Text("Searching and writing", "dim"))
    with Live(waiting, console=console, transient=True, refresh_per_second=8) as live:

        def on_draft(draft: Answer) -> None:
            waiting.update(text=story.so_far(draft))
            live.update(Group(words(draft.text, "dim"), waiting))

        yield on_draft


@contextmanager
def indexing() -> Iterator[Callable[[Progress], None] | None]:
    """Shows a progress bar on standard error; None outside a terminal."""
    texts = ("{task.fields[stage]}", "{task.fields[of]}")
    with progress_bar(*texts, width=40, visible=False, stage="Reading", of="files") as update:

        def on_progress(now: Progress) -> None:
            assert update is not None
            if now.to_encode:
                update(completed=now.encoded, total=now.to_encode, stage="Encoding", of="passages")
            else:
                update(completed=now.done_files, total=now.total_files, visible=True)

        yield on_progress if update else None
