"""Replies kept on disk: what counts as the same request, what is kept, and what a damaged file may not do."""

from __future__ import annotations

import asyncio
import json
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from threading import Barrier

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from row_tables import table
from transcripts import from_json

from toulmin.data import Answer, Claim, Passage, Source, Tokens
from toulmin.driver.drive import Driver, Job
from toulmin.driver.journal import to_json
from toulmin.driver.kit import Kit
from toulmin.errors import ModelError, SourceError
from toulmin.extractive.writer import Extractive
from toulmin.judges.lexical import Lexical
from toulmin.methods.direct import vanilla
from toulmin.models.cache import CachedModel
from toulmin.models.scripted import ScriptedModel
from toulmin.prompts.replies import Reply, TokenLogprob, plain, reply_of
from toulmin.prompts.types import AnswerPrompt, Prompt, Queries, Refine
from toulmin.retrieval.bm25 import InMemory
from toulmin.steps import Generate

PASSAGE = Passage.of("The tower was lit for the first time on 3 May 1824.", "Kettle Rock")
REQUEST = Generate(AnswerPrompt("When was the tower lit?", (PASSAGE,)))
FULL = Reply(
    "Lit on 3 May 1824 [1]. \ud800 \x00 é",
    tokens=Tokens(31, 7),
    usd=0.000123,
    omitted=2,
    finish="length",
    logprobs=(TokenLogprob("Lit", -0.25, (("Lit", -0.25), ("It", -1.5))), TokenLogprob(" on", float("-inf"))),
    model="parrot-2",
)


class Counting(ScriptedModel):
    """Replies with its count of calls, or what it is told, and remembers what it was asked."""

    def __init__(self, reply: Reply | None = None, **options) -> None:
        super().__init__(lambda request: reply or Reply(f"reply {len(self.asked)}"), **options)
        self.asked: list[Generate] = []

    def generate(self, requests: Sequence[Generate]) -> list[Reply]:
        self.asked += requests
        return super().generate(requests)


def asked(model: CachedModel, *requests: Generate) -> list:
    return asyncio.run(model.generate(requests or (REQUEST,)))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "cache" / "replies.sqlite"


# ---------------------------------------------------------------- what is kept


def test_a_reply_comes_back_whole(file: Path):
    first = asked(CachedModel(Counting(FULL), file))
    assert asked(CachedModel(Counting(Reply("another")), file)) == first == [FULL]


def test_what_was_asked_before_is_not_asked_again(file: Path):
    asked(CachedModel(Counting(), file))
    later = Counting()
    asked(CachedModel(later, file))
    assert later.asked == []


def test_equal_requests_of_one_call_are_asked_once(file: Path):
    model = Counting()
    asked(CachedModel(model, file), REQUEST, REQUEST)
    assert model.asked == [REQUEST]


def test_only_what_is_missing_is_asked_and_all_is_in_order(file: Path):
    other = replace(REQUEST, sample=1)
    first = asked(CachedModel(Counting(), file))
    model = Counting()
    replies = asked(CachedModel(model, file), other, REQUEST)
    assert (model.asked, replies[1]) == ([other], first[0])


def test_equal_requests_at_the_same_time_get_one_reply(file: Path):
    class Slow(Counting):
        async def generate(self, requests: Sequence[Generate]) -> list[Reply]:
            await asyncio.sleep(0.01)
            return super().generate(requests)

    async def several(model: CachedModel) -> list[list[Reply]]:
        return await asyncio.gather(*(model.generate([REQUEST]) for _ in range(5)))

    assert asyncio.run(several(CachedModel(Slow(), file))) == [[Reply("reply 1")]] * 5


def test_when_the_first_of_equal_requests_is_cancelled_the_next_one_asks(file: Path):
    class Hanging(Counting):
        async def generate(self, requests: Sequence[Generate]) -> list[Reply]:
            replies = super().generate(requests)
            if len(self.asked) == 1:
                await asyncio.sleep(3600)
            return replies

    async def two(model: CachedModel) -> list[Reply]:
        first = asyncio.create_task(model.generate([REQUEST]))
        await asyncio.sleep(0)
        second = asyncio.create_task(model.generate([REQUEST]))
        await asyncio.sleep(0)
        first.cancel()
        return await second

    assert asyncio.run(two(CachedModel(Hanging(), file))) == [Reply("reply 2")]


def test_calls_with_requests_in_other_order_never_deadlock(file: Path):
    class Slow(Counting):
        async def generate(self, requests: Sequence[Generate]) -> list[Reply]:
            await asyncio.sleep(0)
            return super().generate(requests)

    async def crossed(model: CachedModel) -> None:
        one, two = REQUEST, replace(REQUEST, sample=1)
        await asyncio.wait_for(asyncio.gather(model.generate([one, two]), model.generate([two, one])), 5)

    model = Slow()
    asyncio.run(crossed(CachedModel(model, file)))
    assert len(model.asked) == 2


def test_typed_values_pass_through(file: Path):
    model = CachedModel(Extractive(), file)
    assert (asked(model)[0].value is not None, model.size) == (True, 0)


def test_an_error_in_a_replys_place_passes_through_and_is_not_kept(file: Path):
    class Failing(Counting):
        def generate(self, requests: Sequence[Generate]) -> list:
            return [ModelError("down")]

    model = CachedModel(Failing(), file)
    assert (str(asked(model)[0]), model.size) == ("down", 0)


def test_an_error_of_the_whole_call_passes_through(file: Path):
    def write(request: Generate) -> str:
        raise ModelError("down")

    with pytest.raises(ModelError, match="down"):
        asked(CachedModel(ScriptedModel(write), file))


def test_a_model_that_gives_too_few_results_is_told_so(file: Path):
    class Short(Counting):
        def generate(self, requests: Sequence[Generate]) -> list[Reply]:
            return []

    with pytest.raises(ModelError, match="0 results for 1 requests"):
        asked(CachedModel(Short(), file))


def test_a_cached_run_gives_the_identical_answer_without_a_call(file: Path):
    def answered(model: CachedModel) -> Answer:
        kit = Kit(InMemory([PASSAGE], 1.2, 0.75), Lexical(), {"main": model})
        job = Job("When was the tower lit?", "vanilla", "long", lambda: vanilla("When was the tower lit?"))
        answer = asyncio.run(Driver(kit).answer(job)).answer
        return replace(answer, usage=replace(answer.usage, seconds=0.0))

    first = answered(CachedModel(Counting(FULL), file))
    later = Counting(Reply("never"))
    assert (answered(CachedModel(later, file)), later.asked) == (first, [])


def test_a_transcript_keeps_everything_that_a_reply_holds():
    kit = Kit(InMemory([PASSAGE], 1.2, 0.75), Lexical(), {"main": Counting(FULL)})
    job = Job("When was the tower lit?", "vanilla", "long", lambda: vanilla("When was the tower lit?"))
    recorded = asyncio.run(Driver(kit).answer(job)).transcript
    told = [entry.reply for entry in from_json(to_json(recorded)).entries.values() if isinstance(entry.reply, Reply)]
    assert told == [FULL]


def test_the_oldest_replies_go_first(file: Path):
    model = CachedModel(Counting(), file, limit=3)
    asked(model, *(replace(REQUEST, sample=n) for n in range(5)))
    assert (model.size, asked(model, replace(REQUEST, sample=4))) == (3, [Reply("reply 5")])


def test_name_concurrency_and_batch_are_the_models_own(file: Path):
    inner = Counting(name="parrot", concurrency=3)
    inner.batch = 7
    model = CachedModel(inner, file)
    assert (model.name, model.concurrency, model.batch) == ("parrot", 3, 7)


def test_closing_closes_the_model(file: Path):
    class Closing(Counting):
        async def aclose(self) -> None:
            self.is_closed = True

    inner = Closing()
    asyncio.run(CachedModel(inner, file).aclose())
    assert inner.is_closed


# ---------------------------------------------------------------- what counts as the same


@dataclass(frozen=True)
class Odd(Prompt[str]):
    """A prompt with a field that has no form of its own."""

    thing: object

    def read(self, text: str) -> str:
        return text


REFINE = Refine("q", (PASSAGE,), (Claim("It was lit."),), {"recall": "cite more", "style": "shorter"})
# Each differs from REQUEST in one thing that may change the reply.
OTHERS: dict[str, Callable[[], Generate]] = {
    "sample": lambda: replace(REQUEST, sample=1),
    "role": lambda: replace(REQUEST, role="verifier"),
    "temperature": lambda: replace(REQUEST, temperature=0.0),
    "max_tokens": lambda: replace(REQUEST, max_tokens=5),
    "stop": lambda: replace(REQUEST, stop=("\n",)),
    "logprobs": lambda: replace(REQUEST, logprobs=1),
    "question": lambda: replace(REQUEST, prompt=replace(REQUEST.prompt, question="Who?")),
    "style": lambda: replace(REQUEST, prompt=replace(REQUEST.prompt, style="short")),
    "prompt": lambda: replace(REQUEST, prompt=Queries("When was the tower lit?", "", "")),
    "passage of the same id": lambda: replace(
        REQUEST, prompt=replace(REQUEST.prompt, passages=(Passage(PASSAGE.id, "", "Other.", Source(0, 6)),))
    ),
}


@pytest.mark.parametrize("difference", OTHERS)
def test_requests_that_differ_have_two_keys(file: Path, difference: str):
    model = CachedModel(Counting(), file)
    assert model.key(OTHERS[difference]()) != model.key(REQUEST)


def test_models_of_two_names_have_two_keys(file: Path):
    assert CachedModel(Counting(name="a"), file).key(REQUEST) != CachedModel(Counting(name="b"), file).key(REQUEST)


def test_feedback_in_another_order_is_another_request(file: Path):
    model, turned = CachedModel(Counting(), file), dict(reversed(REFINE.feedback.items()))
    assert model.key(Generate(REFINE)) != model.key(Generate(replace(REFINE, feedback=turned)))


def test_a_models_own_key_decides(file: Path):
    class Keyed(Counting):
        def key(self, request: Generate) -> str:
            return str(request.sample)

    model = Keyed()
    asked(CachedModel(model, file), REQUEST, replace(REQUEST, max_tokens=9), replace(REQUEST, sample=1))
    assert len(model.asked) == 2


def test_what_has_no_form_of_its_own_cannot_be_told_apart(file: Path):
    with pytest.raises(ModelError, match=r"cannot tell requests apart by a object; .* key\(request\)"):
        asked(CachedModel(Counting(), file), Generate(Odd(object())))


PRINT_KEYS = """
import sys
sys.path.insert(0, "tests")
from tests.test_cache import *
model = CachedModel(Counting(), Path(sys.argv[1]))
print(model.key(REQUEST), model.key(Generate(REFINE)))
"""


def test_two_processes_make_equal_keys(file: Path):
    def keys(seed: str) -> str:
        root = Path(__file__).parent.parent
        run = [sys.executable, "-c", PRINT_KEYS, str(file)]
        env = {"PYTHONHASHSEED": seed, "PYTHONPATH": str(root)}
        return subprocess.run(run, env=env, cwd=root, capture_output=True, text=True, check=True).stdout

    assert keys("1") == keys("2") != ""


# ---------------------------------------------------------------- the file


def test_the_file_and_those_beside_it_are_for_their_owner_alone(file: Path):
    model = CachedModel(Counting(), file)
    asked(model)
    assert {stat.S_IMODE(path.stat().st_mode) for path in file.parent.iterdir()} == {0o600}


def damaged(file: Path, statement: str, *values: object) -> None:
    with sqlite3.connect(file) as rows:
        rows.execute(statement, values)
    rows.close()


DAMAGE = {
    "another text": ("UPDATE replies SET reply = ?", '{"text": "forged"}'),
    "no JSON": ("UPDATE replies SET reply = ?", '{"text": "reply'),
    "no text": ("UPDATE replies SET reply = ?", None),
    "bytes": ("UPDATE replies SET reply = ?", b"\xff\xfe"),
    "bytes as text": ("UPDATE replies SET reply = CAST(? AS TEXT)", b"\xff\xfe"),
    "a number": ("UPDATE replies SET reply = ?", 7),
    "no digest": ("UPDATE replies SET digest = ?", None),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_row_is_asked_for_again_and_mended(file: Path, damage: str):
    asked(CachedModel(Counting(), file))
    damaged(file, *DAMAGE[damage])
    mended = asked(CachedModel(Counting(Reply("anew")), file))
    assert asked(CachedModel(Counting(Reply("third")), file)) == mended == [Reply("anew")]


def test_a_row_under_anothers_key_is_not_believed(file: Path):
    model = CachedModel(Counting(), file)
    asked(model)
    other = replace(REQUEST, sample=1)
    damaged(file, "UPDATE replies SET key = ?", model.key(other))
    assert asked(model, other) == [Reply("reply 2")]


@pytest.mark.parametrize("content", [b"no database at all, but some text", b"SQLite format 3\0" + b"\xff" * 500])
def test_a_file_that_is_no_cache_is_a_clear_error_and_left_alone(tmp_path: Path, content: bytes):
    path = tmp_path / "notes.txt"
    path.write_bytes(content)
    with pytest.raises(SourceError, match=r"notes\.txt cannot be used"):
        CachedModel(Counting(), path)
    assert path.read_bytes() == content


def test_another_database_is_a_clear_error_and_left_alone(tmp_path: Path):
    path = tmp_path / "other.sqlite"
    damaged(path, "CREATE TABLE replies (key, reply)")
    content = path.read_bytes()
    with pytest.raises(SourceError, match="not a cache of replies; name another file"):
        CachedModel(Counting(), path)
    assert path.read_bytes() == content


def test_many_may_open_a_new_file_at_the_same_moment(file: Path):
    gate = Barrier(8)

    def opened(n: int) -> int:
        gate.wait()
        return CachedModel(Counting(), file).size

    with ThreadPoolExecutor(8) as threads:
        assert list(threads.map(opened, range(8))) == [0] * 8


def test_a_folder_is_a_clear_error(tmp_path: Path):
    with pytest.raises(SourceError, match="cannot be used"):
        CachedModel(Counting(), tmp_path)


def test_a_cache_that_breaks_while_it_is_used_is_a_clear_error(file: Path):
    model = CachedModel(Counting(), file)
    damaged(file, "DROP TABLE replies")
    with pytest.raises(SourceError, match=r"cannot be used: no such table"):
        asked(model)


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A cache of thirty replies, as it lies on the disk."""
    path = tmp_path_factory.mktemp("sound") / "cache"

    async def filled() -> None:
        model = CachedModel(ScriptedModel(lambda request: f"kept {request.sample} " + "x" * 200), path)
        await model.generate([replace(REQUEST, sample=n) for n in range(30)])
        await model.aclose()

    asyncio.run(filled())
    return path.read_bytes()


@given(st.integers(0, 2**32), st.sampled_from([1, 5, 50, 500]), st.integers(0, 29))
@settings(deadline=None, max_examples=200)
def test_whatever_is_damaged_no_reply_is_wrong(sound: bytes, seed: int, count: int, sample: int):
    content, chance = bytearray(sound), Random(seed)  # places drawn evenly, which hypothesis does not
    for _ in range(count):
        content[chance.randrange(len(content))] = chance.randrange(256)
    with TemporaryDirectory() as folder:
        path = Path(folder, "cache")
        path.write_bytes(content)
        try:
            model = CachedModel(ScriptedModel(lambda request: "anew"), path)
            (reply,) = asked(model, replace(REQUEST, sample=sample))
            asyncio.run(model.aclose())
        except SourceError:
            return
    assert reply.text in (f"kept {sample} " + "x" * 200, "anew")


WRITE_MANY = """
import asyncio, sys
sys.path.insert(0, "tests")
from tests.test_cache import *
model = CachedModel(Counting(name="shared"), Path(sys.argv[1]))
replies = asyncio.run(model.generate([replace(REQUEST, sample=n) for n in range(100)]))
print(json.dumps([reply.text for reply in replies]))
"""


def test_several_processes_share_a_file(file: Path):
    root = Path(__file__).parent.parent
    run = [sys.executable, "-c", WRITE_MANY, str(file)]
    runs = [subprocess.Popen(run, cwd=root, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    told = [json.loads(process.communicate(timeout=60)[0]) for process in runs]
    assert (told[0] == told[1] == told[2], CachedModel(Counting(), file).size) == (True, 100)


# ---------------------------------------------------------------- replies as JSON

numbers = st.floats(allow_nan=False)
tokens = st.builds(TokenLogprob, st.text(), numbers, st.lists(st.tuples(st.text(), numbers), max_size=2).map(tuple))
replies = st.builds(
    Reply,
    text=st.text(),
    tokens=st.builds(Tokens, st.integers(0, 10**6), st.integers(0, 10**6)),
    usd=st.none() | st.floats(0, 10),
    omitted=st.integers(0, 9),
    finish=st.sampled_from(["stop", "length", "refused"]),
    logprobs=st.none() | st.lists(tokens, max_size=3).map(tuple),
    model=st.text(max_size=5),
)


@given(replies)
@settings(deadline=None, max_examples=60)
def test_a_reply_survives_json(reply: Reply):
    assert reply_of(json.loads(json.dumps(plain(reply)))) == reply


def test_what_has_its_default_is_left_out():
    assert plain(Reply("text")) == {"text": "text"}


@table(
    "row",
    [
        {},
        {"text": 3},
        {"text": "x", "value": 1},
        {"text": "x", "omitted": True},
        {"text": "x", "finish": "error"},
        {"text": "x", "tokens": {"input": "many"}},
        {"text": "x", "tokens": {"in": 1}},
        {"text": "x", "tokens": 5},
        {"text": "x", "logprobs": [["a"]]},
        {"text": "x", "logprobs": [5]},
    ],
    ids=str,
)
def test_what_is_no_reply_is_a_value_error(row: dict):
    with pytest.raises(ValueError, match=r"a reply|a token"):
        reply_of(row)
