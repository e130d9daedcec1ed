"""The dialogue of `toulmin chat`, and `toulmin ask --follow`."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from toulmin.build.session import Session
from toulmin.build.sources import clean_question
from toulmin.cli import show
from toulmin.cli.terminal import Console
from toulmin.data import Answer
from toulmin.documents.loaders import watch
from toulmin.driver.drive import Job
from toulmin.errors import ToulminError

HELP = """Type one question a line. It may refer to earlier ones ("And in winter?").
/undo  answer the last question as you typed it
/new   start a new conversation
/help  show these lines
/quit  quit, like Ctrl-D; Ctrl-C cancels only the current answer"""


class Conversation:
    def __init__(self, session: Session, *, rewrite: bool) -> None:
        self._session, self._rewrite = session, rewrite
        self._history: list[Answer] = []
        self._asked = ""
        self._is_answered = False

    async def answer(self, question: str, *, rewrite: bool | None = None) -> Answer:
        """Raises `UsageError` for an empty or endless question."""
        self._asked, self._is_answered = clean_question(question), False
        history, rewrites = tuple(self._history), self._rewrite if rewrite is None else rewrite
        with suppress(ToulminError):  # what was read before can be asked
            await self._session.refresh()
        with show.watching() as on_draft:
            answer = await self._session.ask(self._asked, on_draft=on_draft, history=history, rewrite=rewrites)
        self._history.append(answer)
        self._is_answered = True
        return answer

    async def undo(self) -> Answer | None:
        """Answers the last question again, as typed; None without a question."""
        if self._is_answered:
            self._history.pop()
        return await self.answer(self._asked, rewrite=False) if self._asked else None

    def forget(self) -> None:
        self._history.clear()
        self._asked, self._is_answered = "", False


def converse(session: Session, *, rewrite: bool, json: bool, explain: bool) -> None:
    console = Console(stderr=True)
    with asyncio.Runner() as runner:
        runner.run(session.__aenter__())
        try:
            talk = Conversation(session, rewrite=rewrite)
            for line in _lines():
                try:
                    if answer := runner.run(_reply(talk, line, console)):
                        show.answer(answer, as_json=json, explain=explain)
                        if not json:
                            print()
                except ToulminError as error:
                    console.say(str(error), "bold yellow")
                except KeyboardInterrupt:
                    console.say("Cancelled. Ctrl-D ends the conversation.", "yellow")
        finally:
            runner.run(session.__aexit__())


async def follow_files(session: Session, job: Job, roots: Sequence[str], tell: Callable[[Answer], None]) -> None:
    """Answers, and again whenever files changed; tells each answer with another text."""
    said, turn = list[str](), asyncio.Lock()

    async def answer_again(note: str) -> None:
        async with turn:
            try:
                await session.refresh()
            except ToulminError as error:  # what was read before can be asked
                print(f"toulmin: {error}", file=sys.stderr)
            answer = (await session.answer(job)).answer
            text = str(answer)
            if text not in said[-1:]:
                tell(answer)
                sys.stdout.flush()  # whoever reads a pipe waits for it
            else:
                print(note, file=sys.stderr)
            said.append(text)

    async def after(changes: AsyncIterator[object]) -> None:
        async for change in changes:
            if change:
                await answer_again("The files changed; the answer did not.")

    async with session:
        watches = watch(roots, Path(session.prepare().index or ""))
        await asyncio.gather(*map(after, watches), answer_again(""))  # what changes meanwhile is noticed


async def _reply(talk: Conversation, line: str, console: Console) -> Answer | None:
    if line == "/undo":
        answer = await talk.undo()
        if answer is None:
            console.say("No question yet.", "yellow")
        return answer
    if line == "/new":
        talk.forget()
        console.say("A new conversation.", "dim")
    elif line.startswith("/"):
        if line != "/help":
            console.say(f"There is no command {line}.", "yellow")
        for help_line in HELP.splitlines():
            console.say(help_line, "dim")
    elif line:
        return await talk.answer(line)
    return None


def _lines() -> Iterator[str]:
    """The stripped lines of standard input until `/quit`; a terminal gets a prompt and line editing."""
    is_terminal = sys.stdin.isatty()
    if is_terminal:
        with suppress(ImportError):
            import readline  # noqa: F401
    while True:
        try:
            line = input("\n> ") + "\n" if is_terminal else sys.stdin.readline()
        except EOFError:
            return
        except KeyboardInterrupt:
            print("\nCtrl-D ends the conversation.", file=sys.stderr)
            continue
        if not line or line.strip() == "/quit":
            return
        yield line.strip()
