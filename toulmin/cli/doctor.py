"""`toulmin doctor`: the state of each part, and its remedy."""

from __future__ import annotations

import asyncio
import os
import platform
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from shlex import quote
from typing import Any, Literal

import toulmin
from toulmin import config
from toulmin.data import Passage
from toulmin.errors import ModelError, ToulminError
from toulmin.steps import close
from toulmin.stores.address import INSTALL, INSTALL_POSTGRES, is_shared

GLANCE = 1.0  # seconds for a server of this machine to list its models
PATIENCE = 10  # seconds for a server to list its models
EXACT = 0.02  # difference of a score from another processor's that rounding explains
NAMED = 5  # models of a server that a finding lists
SERVER = ("fastapi", "prometheus_client", "python_multipart", "uvicorn")  # of the extra `server`
_PLACES, _CLUSTER = "--index and --into with", "toulmin run --on ray, or --on ray://HOST:PORT"
PROBE = Passage.of("The lamp of the tower was first lit in 1759.", "Tower")


@dataclass(frozen=True, slots=True)
class Finding:
    state: Literal["works", "missing", "broken"]
    detail: str
    remedy: str | None = None
    part: str = ""


def examine(index: str | None, docs: tuple[str, ...] = ()) -> list[Finding]:
    if docs:
        from toulmin.build.sources import Sources, index_docs

        index = index_docs(Sources(docs=docs), config.load(os.environ, Path.cwd())).sources.index
    looks: dict[str, Callable[[], Finding]] = {
        "toulmin": lambda: Finding("works", f"{toulmin.__version__} on Python {platform.python_version()}"),
        "settings": _settings,
        "writer, judge and search": _answering,
        "model": lambda: _model("model"),
        "verifier": lambda: _model("verifier"),
        "model in this process": _in_process,
        "model servers": _servers,
        "local models": _needs(("torch", "transformers"), "pip install 'toulmin[local]'", "--model local:FOLDER"),
        "trained parts": _weights,
        "numbers": _numbers,
        "server": _needs(SERVER, "pip install 'toulmin[server]'", "toulmin serve --docs YOUR_FOLDER --open"),
        "evaluation": _evaluation,
        "shared corpus": _needs(("lancedb",), INSTALL, f"{_PLACES} s3://, gs://, az:// and lance: addresses"),
        "corpus in a database": _needs(("psycopg",), INSTALL_POSTGRES, f"{_PLACES} postgresql://HOST/DATABASE/CORPUS"),
        "cluster": _needs(("ray", "pyarrow", "pandas"), "pip install 'toulmin[scale]'", _CLUSTER),
        "scans": _scans,
        "doc files": _old_word_files,
        "encoder": lambda: _encoder(index),
        "index": lambda: _index(index),
        "cache": _cache,
    }
    return [*(replace(_examine_part(look), part=part) for part, look in looks.items()), *_gaps(index)]


def _examine_part(look: Callable[[], Finding]) -> Finding:
    try:
        return look()
    except ToulminError as error:
        return Finding("broken", str(error))


def _settings() -> Finding:
    settings = config.load(os.environ, Path.cwd())
    where = f"from {config.FILE}" if Path(config.FILE).is_file() else f"no {config.FILE} here, defaults"
    names = f"method {settings.method}, model {settings.model}, judge {settings.judge}"
    return Finding("works", f"{where}; {names}")


def _answering() -> Finding:
    answer = toulmin.ask("When was the lamp of the tower first lit?", passages=[PROBE], settings=config.Settings())
    if not any(claim.is_supported for claim in answer.claims):
        return Finding("broken", f"a trial question ended {answer.status}", "report this error")
    judge = answer.claims[0].support
    words = f"model {answer.settings['model']}, judge {judge.judge if judge else 'none'}: a trial question was answered"
    return Finding("works", f"{words} without a network")


def _model(setting: str) -> Finding:
    """Asks a server whether it lists the model; generates nothing."""
    from toulmin.build import parts

    settings = config.load(os.environ, Path.cwd())
    spec = getattr(settings, setting)
    if spec is None:
        return Finding("works", "not set; the main model does its work")
    if parts.is_embedded(spec):
        return Finding("works", f"{spec}, in this process")
    made = parts.model_without_cache(spec, settings)
    if not hasattr(made, "models"):
        return Finding("works", f"{spec}, in this process; it loads")
    host = getattr(made, "host", "")
    names = asyncio.run(_within_seconds(made))
    if ":" not in spec.rstrip(":") or {made.name, f"{made.name}:latest"} & set(names):
        return Finding("works", f"{spec}: {host} answers and has it")
    known = ", ".join(sorted(names)[:NAMED]) or "none"
    return Finding("missing", f"{spec}: {host} answers, but lists {known}", "name a model that it has")


async def _within_seconds(made: Any) -> tuple[str, ...]:
    try:
        async with asyncio.timeout(PATIENCE):
            return await made.models()  # type: ignore[no-any-return]
    except TimeoutError:
        raise ModelError(f"The server did not reply within {PATIENCE} s. Is it running?") from None
    finally:
        await close(made)


def absent_libraries(*modules: str) -> str:
    """Lists those that are not installed; empty if all are."""
    return " and ".join(module for module in modules if find_spec(module) is None)


def _in_process() -> Finding:
    from toulmin.models import gguf, llama

    (name, *_), has_library = gguf.MODELS, find_spec(llama.LIBRARY) is not None
    if not has_library or not gguf.MODELS[name].path.is_file():
        steps = ([] if has_library else [llama.INSTALL]) + [_GET.format(name)]
        return Finding("missing", "no language model in this process; --model llama:FILE", " && ".join(steps))
    return Finding(
        "works", f"{name} writes in this process; --model llama:FILE takes others", ask_with(f"llama:{name}")
    )


_GET = "toulmin models get {}"


def models() -> list[dict[str, str]]:
    """Each model that can be had by name, and those of servers on this machine: its SPEC, state and what it is for."""
    from toulmin.models import gguf

    rows = [
        {
            "model": f"llama:{name}",
            "state": "on this machine" if model.path.is_file() else _GET.format(name),
            "about": f"{model.about}; {model.size / 1e9:.1f} GB, {model.memory:.1f} GB of memory",
        }
        for name, model in gguf.MODELS.items()
    ]
    served = ((provider, name) for provider, names in _running().items() for name in names)
    return [*rows, *({"model": f"{p}:{name}", "state": "running", "about": "on a server"} for p, name in served)]


def _running() -> dict[str, list[str]]:
    from toulmin.build.parts import LOCAL_SERVERS

    lists = asyncio.run(_lists_of(LOCAL_SERVERS))
    return {provider: [name for name in names if "embed" not in name] for provider, names in lists.items() if names}


def _servers() -> Finding:
    from toulmin.build.parts import LOCAL_SERVERS

    running = _running()
    if not running:
        detail = f"no {', '.join(LOCAL_SERVERS)} answers on this machine"
        return Finding("missing", detail, "ollama serve, or docs/models.md for one elsewhere")
    detail = "; ".join(f"{provider} has {', '.join(names[:NAMED]) or 'none'}" for provider, names in running.items())
    lines = [ask_with(f"{provider}:{names[0]}") for provider, names in running.items() if names]
    return Finding("works", detail, "\n".join(lines) or None)


async def _lists_of(providers: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """The models that each server of this machine lists."""
    from toulmin.build import parts
    from toulmin.models.server import is_loopback

    settings, lists = config.load(os.environ, Path.cwd()), dict[str, tuple[str, ...]]()
    for provider in providers:
        quick = settings.override(servers={provider: {"timeout": GLANCE, "idle_timeout": GLANCE}})
        with suppress(ToulminError):
            made = parts.remote(provider, "", quick)
            lists[provider] = await _within_seconds(made) if is_loopback(made.host.rpartition(":")[0]) else ()
    return lists


def ask_with(spec: str) -> str:
    return f'toulmin ask "YOUR QUESTION" --docs YOUR_FOLDER --model {quote(spec)}'


def _needs(modules: Sequence[str], install: str, use: str) -> Callable[[], Finding]:
    def look() -> Finding:
        if absent := absent_libraries(*modules):
            return Finding("missing", f"{absent} not installed; needed for {use}", install)
        return Finding("works", f"{modules[0]} {version(modules[0])} is installed for {use}")

    return look


def _scans() -> Finding:
    from toulmin.documents.ocr import choose_ocr

    ocr = choose_ocr(config.load(os.environ, Path.cwd()).ocr, Path())
    if ocr is None:
        return Finding("missing", "scanned pages are not read", "pip install 'toulmin[ocr]', or the program tesseract")
    return Finding("works", f"scanned pages are read by {ocr.engine}")


def _old_word_files() -> Finding:
    from toulmin.documents.old_word import program

    if office := program():
        return Finding("works", f"Word files before 2007 are read through {office}")
    return Finding("missing", "Word files before 2007 are not read", "install LibreOffice, or save them as .docx")


def _encoder(index: str | None) -> Finding:
    from toulmin.build import encoding
    from toulmin.runtime import shipped

    settings = config.load(os.environ, Path.cwd())
    label = encoding.label_of(index or settings.index)
    spec = settings.encoder or (label.spec if label else encoding.NONE)
    if spec == encoding.NONE:
        absent = absent_libraries("onnxruntime", "tokenizers")
        named = encoding.EMBEDDED if shipped.is_ready("encoder") else "onnx:FOLDER"
        remedy = "pip install 'toulmin[encoder]'" if absent else f"toulmin index YOUR_FOLDER --encoder {named}"
        then = ", and the best ranked by meaning" if shipped.is_ready("encoder") else " only"
        return Finding("missing", f"none is set; passages are found by words{then}", remedy)
    made = encoding.encoder(spec, settings)
    if label is not None and label.identity != made.identity:
        remedy = f"toulmin index YOUR_FOLDER --encoder {spec}"
        return Finding("broken", f"{made.name} is set, but the index has vectors of {label.name}", remedy)
    vectors = "the index has its vectors" if label else "the index has no vectors yet"
    return Finding("works", f"{made.name}, {made.dimension} numbers a vector; {vectors}")


def _weights() -> Finding:
    from toulmin.runtime import shipped

    kinds = sorted(shipped.installed())
    absent = absent_libraries("onnxruntime", "tokenizers")
    if not kinds:
        detail = "none is installed; judge, reader and writer use words only"
        return Finding("missing", detail, f"{shipped.INSTALL} (in Toulmin's repository)")
    if absent:
        return Finding("missing", f"{absent} not installed", shipped.INSTALL)
    parts = list(map(shipped.part, kinds))
    files = [part.file(name) for part in parts for name in part.manifest["files"]]
    names = ", ".join(f"{kind} {part.name}" for kind, part in zip(kinds, parts, strict=True))
    return Finding("works", f"{names}; {len(files)} files were checked")


def _numbers() -> Finding:
    """Compares this processor's scores with the known ones."""
    from toulmin.runtime import shipped

    if not shipped.is_ready("judge"):
        return Finding("missing", "no trained judge is installed, so nothing was checked", shipped.INSTALL)
    from toulmin.judges.trained import TRIALS, JudgeNetwork

    deviation = JudgeNetwork().deviation()
    detail = f"on {len(TRIALS)} pairs this processor's scores differ from the known ones by at most {deviation:.4f}"
    if deviation <= EXACT:
        return Finding("works", detail)
    remedy = "use --judge lexical here and report your processor: it computes 8-bit numbers differently"
    return Finding("broken", f"{detail}; {EXACT} is allowed", remedy)


# What evaluation can do beyond the base install, the module it needs, and the extra that installs it.
_EXTRAS = (
    ("seq2seq and cross judges, QA metrics", "transformers", "judges"),
    ("ALCE's sentences", "nltk", "alce"),
    ("MAUVE", "mauve", "mauve"),
    ("plots of a comparison", "matplotlib", "plots"),
)


def _evaluation() -> Finding:
    absent = [(what, extra) for what, module, extra in _EXTRAS if find_spec(module) is None]
    if not absent:
        return Finding("works", "every judge, metric and plot works here")
    extras = ",".join(extra for _, extra in absent)
    detail = f"not installed: {'; '.join(what for what, _ in absent)}"
    return Finding("missing", detail, f"pip install 'toulmin[{extras}]'")


def _index(index: str | None) -> Finding:
    from toulmin.build import indexes

    folder = index or config.load(os.environ, Path.cwd()).index
    if not is_shared(folder) and not Path(folder).exists():
        remedy = f"toulmin index YOUR_FOLDER --into {folder}"
        return Finding("missing", f"no index at {folder}; --docs needs none", remedy)
    with indexes.open_index(folder) as corpus:
        corpus.verify()
        stats = corpus.stats
    counts = f"{stats.files:,} files, {stats.documents:,} documents, {stats.passages:,} passages"
    return Finding("works", f"{folder}: {counts}; every passage was checked")


def _gaps(index: str | None) -> list[Finding]:
    """What the documents lack, and what was guessed."""
    from toulmin.build import indexes
    from toulmin.documents.loaders import SkippedFile, by_reason

    with suppress(ToulminError), indexes.open_index(index or config.load(os.environ, Path.cwd()).index) as corpus:
        remarks = [SkippedFile(each.path or "", text) for each in corpus.documents() for text in each.remarks]
        unread = [SkippedFile(each.path, each.reason.removeprefix(f"{each.path} ")) for each in corpus.skipped()]
        listed = ((part, text) for part, files in (("file", unread), ("in file", remarks)) for text in by_reason(files))
        return [Finding("missing", text, part=part) for part, text in listed]
    return []


def _cache() -> Finding:
    folder = config.cache_folder()
    with suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
    if not os.access(folder, os.W_OK):
        return Finding("broken", f"{folder} cannot be written", "set XDG_CACHE_HOME to a folder of yours")
    return Finding("works", f"{folder} (indexes of --docs are kept there)")
