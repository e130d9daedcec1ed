"""Sessions: what stays open, what is noticed, and what calls of one process share."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import toulmin
from toulmin import sync
from toulmin.build import encoding
from toulmin.build.session import Pool, Session
from toulmin.build.sources import Sources, sources_of
from toulmin.config import Settings
from toulmin.data import Answer, Passage
from toulmin.errors import SourceError, UsageError
from toulmin.steps import Pair, Verdict

QUESTION = "When was Kettle Rock Tower lit for the first time?"
LEXICAL = Settings(judge="lexical")


@pytest.fixture
def library(notes: Path, tmp_path: Path) -> Path:
    toulmin.index(notes, into=tmp_path / "library")
    return tmp_path / "library"


def sessions() -> list[Session]:
    """Those that calls of this process share now."""
    return [] if sync._background is None else list(sync._background._pool._sessions.values())


# ---------------------------------------------------------------- shared by calls


def test_repeated_calls_share_one_session(library: Path):
    toulmin.ask(QUESTION, index=library, settings=LEXICAL)
    (first,) = sessions()
    toulmin.ask("Who was the last keeper?", index=library, settings=LEXICAL)
    toulmin.search("tower", index=library, settings=LEXICAL)
    assert sessions() == [first]


def test_the_parts_stay_loaded(library: Path):
    toulmin.ask(QUESTION, index=library, settings=LEXICAL)
    parts = sessions()[0].equip()
    toulmin.ask("Who was the last keeper?", index=library, settings=LEXICAL)
    assert sessions()[0].equip() == parts


def test_settings_of_a_question_do_not_ask_for_another_session(library: Path):
    toulmin.ask(QUESTION, index=library, settings=LEXICAL)
    toulmin.ask(QUESTION, index=library, settings=LEXICAL, method="vanilla", k=2, style="short", max_calls=9)
    assert len(sessions()) == 1


def test_other_parts_are_another_session(library: Path):
    toulmin.search("tower", index=library, settings=LEXICAL)
    toulmin.search("tower", index=library, settings=LEXICAL, bm25_k1=2.0)
    assert len(sessions()) == 2


def test_callers_own_parts_are_not_shared(library: Path):
    class Yes:
        name = "yes"

        def judge(self, pairs: Sequence[Pair]) -> list[Verdict]:
            return [Verdict("supported", 1.0, 0.0, "yes") for _ in pairs]

    toulmin.ask(QUESTION, index=library, settings=LEXICAL, judge=Yes())
    toulmin.search("tower", passages=[Passage.of("A tower.")], settings=LEXICAL)
    assert sessions() == []


def test_a_corpus_at_an_address_is_not_kept_open(notes: Path, tmp_path: Path):
    pytest.importorskip("lancedb", reason="LanceDB is not installed: pip install 'toulmin[scale]'")
    toulmin.index(notes, into=f"lance:{tmp_path / 'corpus'}")
    assert toulmin.search("tower", index=f"lance:{tmp_path / 'corpus'}", settings=LEXICAL)
    assert sessions() == []


def test_a_changed_index_is_noticed_at_once(library: Path, notes: Path):
    assert len(toulmin.search("boats", index=library, settings=LEXICAL)) == 0
    (notes / "boats.txt").write_text("Many boats are blue.", "utf-8")
    toulmin.index(notes, into=library)
    assert [hit.passage.title for hit in toulmin.search("boats", index=library, settings=LEXICAL)] == ["Boats"]


def test_changed_documents_are_read_again(notes: Path):
    toulmin.search("tower", docs=notes, settings=LEXICAL)
    (notes / "boats.txt").write_text("Many boats are blue.", "utf-8")
    assert len(toulmin.search("boats", docs=notes, settings=LEXICAL)) == 1


def test_an_index_that_is_gone_is_an_error_and_one_made_anew_is_found(library: Path, notes: Path):
    import shutil

    toulmin.search("tower", index=library, settings=LEXICAL)
    shutil.rmtree(library)
    with pytest.raises(SourceError):
        toulmin.search("tower", index=library, settings=LEXICAL)
    toulmin.index(notes, into=library)
    assert toulmin.search("tower", index=library, settings=LEXICAL)


def test_a_callback_may_call_again(library: Path):
    inner: list[int] = []

    def watch(draft: Answer) -> None:
        inner.append(len(toulmin.search("tower", index=library, settings=LEXICAL)))

    toulmin.ask(QUESTION, index=library, settings=LEXICAL, method="vanilla", on_draft=watch)
    assert all(inner)
    assert inner


def test_threads_share_a_session(library: Path):
    answers: list[Answer] = []
    ask = lambda: answers.append(toulmin.ask(QUESTION, index=library, settings=LEXICAL))  # noqa: E731
    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({answer.text for answer in answers}) == 1
    assert (len(answers), len(sessions())) == (4, 1)


def test_closing_twice_is_closing_once(library: Path):
    toulmin.search("tower", index=library, settings=LEXICAL)
    sync.close_sessions()
    sync.close_sessions()
    assert toulmin.search("tower", index=library, settings=LEXICAL)


def test_a_pool_keeps_so_many_sessions_and_closes_the_oldest(library: Path):
    async def lend(pool: Pool, k1: float) -> Session:
        async with pool.lend(Sources(index=str(library)), LEXICAL.override(bm25_k1=k1)) as session:
            await session.search("tower", 1)
            return session

    async def main() -> tuple[bool, bool]:
        pool = Pool(most=2)
        first, *_ = [await lend(pool, k1) for k1 in (1.0, 1.1, 1.2)]
        again = await lend(pool, 1.2)
        kept = again in pool._sessions.values() and len(pool._sessions) == 2
        await pool.close()
        return first in pool._sessions.values(), kept

    assert asyncio.run(main()) == (False, True)


# ---------------------------------------------------------------- kept open by a caller


def test_a_session_asks_checks_and_searches(library: Path):
    async def main() -> tuple[str, int, str]:
        async with toulmin.aio.session(index=library, settings=LEXICAL) as session:
            answer = await session.ask(QUESTION, method="vanilla")
            hits = await session.search("tower", 2)
            checked = await session.check("The tower is 38 metres tall.")
        return answer.method, len(hits), checked.claims[0].support.label if checked.claims[0].support else ""

    assert asyncio.run(main()) == ("vanilla", 2, "supported")


def test_a_session_answers_as_ask_does(library: Path):
    async def main() -> Answer:
        async with toulmin.aio.session(index=library, settings=LEXICAL) as session:
            return await session.ask(QUESTION)

    answer, other = asyncio.run(main()), toulmin.ask(QUESTION, index=library, settings=LEXICAL)
    assert (answer.claims, answer.settings) == (other.claims, other.settings)


def test_a_session_notices_a_changed_index_after_a_while(library: Path, notes: Path):
    async def main() -> list[int]:
        async with toulmin.aio.session(index=library, settings=LEXICAL) as session:
            before = len(await session.search("boats", 5))
            (notes / "boats.txt").write_text("Many boats are blue.", "utf-8")
            await toulmin.aio.index(notes, into=library)
            await session.refresh()
            return [before, len(await session.search("boats", 5))]

    assert asyncio.run(main()) == [0, 1]


def test_what_is_written_while_a_session_opens_is_noticed(library: Path, notes: Path, monkeypatch: pytest.MonkeyPatch):
    search_of = encoding.search_of

    def search_of_slowly(*asked: Any) -> Any:
        (notes / "boats.txt").write_text("Many boats are blue.", "utf-8")
        toulmin.index(notes, into=library)
        return search_of(*asked)

    async def main() -> int:
        async with Session(Sources(index=str(library)), LEXICAL) as session:
            monkeypatch.undo()
            await session.refresh()
            return len(await session.search("boats", 5))

    monkeypatch.setattr(encoding, "search_of", search_of_slowly)
    assert asyncio.run(main()) == 1


def test_a_plain_session_searches(notes: Path):
    with Session(sources_of(notes), LEXICAL) as session:
        (row,) = session.rank(["tower"], 1)  # type: ignore[misc]
    assert len(row) == 1


def test_a_wrong_word_is_refused_before_anything_is_opened(tmp_path: Path):
    with pytest.raises(UsageError, match="no method"):
        toulmin.ask(QUESTION, index=tmp_path / "nothing", method="bst")
