"""Judges, readers and language models by SPEC, and the kit of those that the settings name.

An implementation is imported when it is chosen, so that help and usage errors stay quick. Keys are read from the
environment or a user's file when a model is made, and go only into that model.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cached_property, lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_type_hints

from toulmin.build.specs import TORCH, Own, Registry, Spec, later
from toulmin.config import Settings, check_table
from toulmin.data import BELOW, Passage
from toulmin.driver.kit import Judge, Kit, LanguageModel, Reader, Retriever
from toulmin.errors import UsageError
from toulmin.runtime.shipped import is_ready
from toulmin.steps import Cut, Rating, close

if TYPE_CHECKING:
    from toulmin.extractive.calibration import CutRank
    from toulmin.judges.trained import JudgeNetwork
    from toulmin.models.remote import Chat, Completions
    from toulmin.models.server import Server
    from toulmin.prompts.templates import Templates
    from toulmin.runtime.encoder import Encoder

ROUTES = ("chat", "completions")
_KEYED = ("openai", "completions")  # providers with a usual address and key
LEXICAL = "lexical"
_MOST_RANKED = 4_096  # ranked pieces of the last questions, which the answer's rating reuses
_CACHE_SIZE = 256  # questions with kept spans, for samples and rounds that repeat them


# ---------------------------------------------------------------- judges


_lexical_judge = later("toulmin.judges.lexical:Lexical")
_embedded_judge = later("toulmin.judges.embedded:load_judge")
_seq2seq = later("toulmin.judges.seq2seq:Seq2Seq")
_cross = later("toulmin.judges.cross:Cross")
_family = partial(later, "toulmin.judges.families:FamilyJudge")


def _model_judge(name: str, table: dict[str, Any], settings: Settings) -> Judge:
    from toulmin.judges.asked import ModelJudge

    return ModelJudge(model(name, settings))


_FAMILY: Mapping[str, Any] = {**TORCH, "threshold": float, "unsure": float, "quotes": bool, "window": int}
_CROSS_JUDGE: Mapping[str, Any] = {**_FAMILY, "entailment": str, "contradiction": str}
_FAMILIES = (
    ("minicheck", "MODEL", "MiniCheck: a classifier, or an encoder-decoder asked for 0 or 1, over chunks."),
    ("factcg", "MODEL", "FactCG: a classifier that reads an instruction round document and claim."),
)
JUDGES: Registry[Judge] = Registry(
    "judge",
    (
        Spec(LEXICAL, "Compares words, names and numbers; no model, a hundred times faster.", _lexical_judge),
        Spec("embedded", "A trained network, calibrated (default if installed).", _embedded_judge, "[FOLDER]"),
        Spec("seq2seq", "An encoder-decoder trained to answer 1 or 0, such as TRUE.", _seq2seq, "MODEL", TORCH),
        Spec("cross", "A classifier of premise and claim with a class of entailment.", _cross, "MODEL", _CROSS_JUDGE),
        *(Spec(name, help, _family(name), argument, _FAMILY) for name, argument, help in _FAMILIES),
        Spec("model", "A language model that returns a verdict.", _model_judge, "SPEC"),
    ),
    verb="judge",
)


def judge(spec: str, settings: Settings) -> Judge:
    """Raises `UsageError` for an unknown SPEC and `ModelError` for a model that does not load."""
    return JUDGES.find(spec).make(settings)


# ---------------------------------------------------------------- readers


_lexical_reader = later("toulmin.extractive.evidence:SentenceReader")
_installed_reader = later("toulmin.extractive.trained_reader:TrainedReader", least=0.0)  # the method has its threshold


def _model_reader(spec: str, table: dict[str, Any], settings: Settings) -> Reader:
    from toulmin.judges.asked import ModelReader

    return ModelReader(model(spec or settings.model, settings))


READERS: Registry[Reader] = Registry(
    "reader",
    (
        Spec(LEXICAL, "Takes the sentence that shares most with the question; no model.", _lexical_reader),
        Spec(
            "embedded", "A trained network finds the exact words (default if installed).", _installed_reader, "[FOLDER]"
        ),
        Spec("model", "A language model writes a short answer: the writer, or another.", _model_reader, "[SPEC]"),
    ),
    verb="read",
)


def reader(spec: str, settings: Settings) -> Reader:
    """Raises as `judge`."""
    return READERS.find(spec).make(settings)


def may_rate(settings: Settings) -> bool:
    """Whether the reader can rate how well a text answers."""
    return READERS.find(settings.reader).spec.name not in (LEXICAL, "model")


def _under_headings(cut: Cut) -> Passage:
    """A piece as an encoder reads it, below its document's title and the headings over it."""
    heads = [cut.passage.title, *cut.passage.source.headings.split(BELOW)]
    return Passage.of(" ".join(cut.passage.text[cut.start : cut.end].split()), " ".join(filter(None, heads)))


def _load_judge() -> JudgeNetwork:
    from toulmin.judges.trained import JudgeNetwork

    network = JudgeNetwork()
    network.load()
    return network


class LateReader:
    """The settings' reader, loaded with its first question; it keeps the last ranks."""

    def __init__(self, settings: Settings) -> None:
        READERS.find(settings.reader)  # refuses a wrong name at once
        self._settings = settings
        self._ranked: dict[tuple[str, Cut], CutRank] = {}
        self._cosines = lru_cache(_CACHE_SIZE)(lambda question: dict[Cut, float]())
        self._odds = lru_cache(_CACHE_SIZE)(lambda question: dict[Cut, float]())

    @cached_property
    def _reader(self) -> Any:
        return reader(self._settings.reader, self._settings)

    @cached_property
    def _encoder(self) -> Encoder | None:
        from toulmin.build.encoding import installed_encoder

        return installed_encoder(self._settings)  # another one's cosines would need weights of their own

    @cached_property
    def _larger(self) -> Future[JudgeNetwork] | None:
        """The installed judge, which reads questions, too, loaded beside the first ranking; not beside a judge by
        words, who is chosen for speed.
        """
        if self._settings.judge == LEXICAL or not is_ready("judge"):
            return None
        return ThreadPoolExecutor(1, "toulmin judge").submit(_load_judge)

    async def aclose(self) -> None:
        if "_reader" in self.__dict__:
            await close(self._reader)

    def read(self, questions: Sequence[tuple[str, Sequence[Passage]]]) -> Any:
        """The span for each question, or None without an answer."""
        return self._reader.read(questions)

    def rank(self, question: str, cuts: Sequence[Cut]) -> list[CutRank] | None:
        """Whether each piece answers; None if the reader cannot rank."""
        known = {cut: each for cut in cuts if (each := self._ranked.get((question, cut)))}
        new = [cut for cut in dict.fromkeys(cuts) if cut not in known]
        _ = self._larger  # begins to load
        ranked = self._reader.rank(question, new) if hasattr(self._reader, "rank") else None
        if ranked is None:
            return None
        known.update(zip(new, ranked, strict=True))
        if len(self._ranked) >= _MOST_RANKED:
            self._ranked.clear()
        self._ranked.update(((question, cut), each) for cut, each in known.items())
        return [known[cut] for cut in cuts]

    def closeness(self, question: str, cuts: Sequence[Cut]) -> list[float]:
        """The cosine of each piece, under its headings, and the question; empty without an encoder."""
        if self._encoder is None:
            return []
        from toulmin.retrieval.reranking import unit

        known = self._cosines(question)
        if new := [cut for cut in dict.fromkeys(cuts) if cut not in known]:
            rows = unit(self._encoder.encode_passages(list(map(_under_headings, new))))
            known.update(zip(new, map(float, rows @ unit(self._encoder.encode_queries([question]))[0]), strict=True))
        return [known[cut] for cut in cuts]

    def answer_odds(self, question: str, cuts: Sequence[Cut]) -> list[float]:
        """The log odds that each piece, under its headings, answers; empty without a larger network."""
        if self._larger is None:
            return []
        known = self._odds(question)
        if new := [cut for cut in dict.fromkeys(cuts) if cut not in known]:
            larger = self._larger.result()
            known.update(zip(new, larger.answer_odds(question, list(map(_under_headings, new))), strict=False))
        return [known[cut] for cut in cuts if cut in known]

    def rate(self, questions: Sequence[tuple[str, Sequence[Cut]]]) -> list[Rating | None]:
        """The pieces' chances to answer; None if the reader cannot rank."""
        return [self._rate(*each) for each in questions]

    def _rate(self, question: str, cuts: Sequence[Cut]) -> Rating | None:
        from toulmin.extractive.calibration import rating

        ranked, cosines = self.rank(question, cuts), self.closeness(question, cuts)
        return rating(self._reader.name, question, cuts, ranked, cosines, self.answer_odds(question, cuts))


# ---------------------------------------------------------------- language models


def _extractive(argument: str, table: dict[str, Any], settings: Settings) -> LanguageModel:
    from toulmin.extractive.writer import Extractive

    late = LateReader(settings)
    return Extractive(words=settings.words, reader=late if may_rate(settings) else None)


def _script(name: str, table: dict[str, Any], settings: Settings) -> LanguageModel:
    from toulmin.models.scripted import ScriptedModel

    return ScriptedModel.from_file(name, name=f"scripted:{Path(name).name}")


def _local(name: str, table: dict[str, Any], settings: Settings) -> LanguageModel:
    checked = _check_table("local", table, _LOCAL)
    from toulmin.models.local import Local

    texts = _templates(settings, f"local:{name}", checked.get("window"))
    return Local(name, texts, **_sampling(settings) | checked)


def _llama(name: str, table: dict[str, Any], settings: Settings) -> LanguageModel:
    from toulmin.models.llama import Llama

    hints = get_type_hints(Llama.__init__)
    kinds = {name: hints[name] for name in hints.keys() - {"name", "templates", "return"}}
    held = {} if settings.structured is None else {"structured": settings.structured}
    checked = _check_table("llama", table, kinds)
    texts = _templates(settings, f"llama:{name}", checked.get("window"))
    return Llama(name, texts, **_sampling(settings) | held | checked)


def _remote(provider: str, help: str, argument: str = "MODEL") -> Spec:
    return Spec(provider, help, lambda name, _, settings: remote(provider, name, settings), argument, None)


# Servers on the user's machine: the default port and settings of each. A model on a processor, or one that is loaded
# on demand, may be silent for minutes before its first word.
_PATIENT: Mapping[str, Any] = {"timeout": 1200.0, "idle_timeout": 600.0, "concurrency": 4}
LOCAL_SERVERS: Mapping[str, tuple[int, Mapping[str, Any]]] = {
    "ollama": (11434, {**_PATIENT, "window": 4096}),  # its default; it cuts longer prompts silently
    "lmstudio": (1234, _PATIENT),
    "vllm": (8000, {"idle_timeout": 600.0}),
    "llamacpp": (8080, _PATIENT),
}


PROMPTS = ("compact", "full")  # shipped families of prompts
_SMALL_WINDOW = 4096  # tokens; full prompts with examples would leave no room for passages
_SMALL_MODEL, _TINY_MODEL = 2.0, 0.5  # billions of parameters
# "0.5b" and "135M", not the active "a3b" of "30b-a3b".
_SIZE = re.compile(r"(?<![\w.])(\d+(?:\.\d+)?)([bBmM])(?![^\W_])")
_SMALL_FAMILY = re.compile(r"(?:smollm2?|tinyllama)(?!\w)", re.IGNORECASE)  # none of theirs is larger

_LOCAL: Mapping[str, Any] = {
    **dict.fromkeys(("batch", "window", "max_tokens"), int),
    **dict.fromkeys(("temperature", "top_p"), float),
    **dict.fromkeys(("device", "precision"), str),
    **dict.fromkeys(("thinking", "download"), bool),
}
# Settings of a server's table beside the fields of `models.server.Server`.
_BESIDE: Mapping[str, Any] = {"key_variable": str, "key_file": str, "route": str}
MODELS: Registry[LanguageModel] = Registry(
    "model",
    (
        Spec("extractive", "The embedded writer: selects sentences and spans; no language model.", _extractive),
        _remote("openai", "A model of OpenAI, or of a server with its chat completions (`openai.base_url`)."),
        _remote("completions", "A model of a server with OpenAI's older completions."),
        Spec("llama", "A GGUF model in this process, or `llama:smollm2`, a small one from PyPI.", _llama, "FILE", None),
        _remote("ollama", "A model of Ollama on this machine."),
        _remote("lmstudio", "A model of LM Studio on this machine."),
        _remote("vllm", "A model of vLLM on this machine."),
        _remote("llamacpp", "The model of llama.cpp's server on this machine, or one of its models.", "[MODEL]"),
        Spec("local", "A transformers model in this process.", _local, "FOLDER", None),
        Spec("scripted", "Replies from a file, for tests and trials.", _script, "FILE"),
    ),
    " or NAME:MODEL for a server of yours (servers.NAME.base_url)",
    "generate",
)


def model(spec: str, settings: Settings) -> LanguageModel:
    """The model of a SPEC, with the settings' cache; raises as `model_without_cache`."""
    made = model_without_cache(spec, settings)
    if settings.cache is None or is_embedded(spec):
        return made
    from toulmin.models.cache import CachedModel

    return CachedModel(made, settings.cache)


def model_without_cache(spec: str, settings: Settings) -> LanguageModel:
    """Raises `UsageError` for a wrong SPEC or setting of a provider, `ModelError` for a local model that does not load,
    and `SourceError` for an unreadable file of replies.
    """
    provider, _, name = spec.partition(":")
    ours = {known.name: known for known in MODELS.specs}
    servers = {own: _remote(own, "A server from the settings.") for own in settings.servers if own not in ours}
    form = {**ours, **servers}[provider].argument if provider in (*ours, *servers) else ""
    if not name and form and not form.startswith("["):
        raise UsageError(f"The model {spec!r} should name a model after its provider, as in {provider}:{form}.")
    return MODELS.find(spec.removesuffix(":") if provider in LOCAL_SERVERS else spec, servers).make(settings)


def is_embedded(spec: str) -> bool:
    return spec == "extractive"


def remote(provider: str, name: str, settings: Settings) -> Chat | Completions:
    from toulmin.models.remote import Chat, Completions
    from toulmin.models.server import read_prices

    route = settings.servers.get(provider, {}).get("route", "completions" if provider == "completions" else "chat")
    if route not in ROUTES:
        raise UsageError(f"The setting {provider}.route should be {' or '.join(ROUTES)}, not {route!r}.")
    kind = Completions if route == "completions" else Chat
    where = server(provider, settings)
    texts = _templates(settings, f"{provider}:{name}", where.window)
    return kind(name or provider, where, texts, read_prices(settings.prices))


def check_key(spec: str, settings: Settings) -> None:
    """Raises `ModelError` if the model's server needs a key and has none."""
    provider, _, name = spec.partition(":")
    if provider in _KEYED:
        remote(provider, name, settings).check_key()


def server(provider: str, settings: Settings) -> Server:
    """A provider's server; its settings take precedence over general ones."""
    from toulmin.models.server import VARIABLE, Server, key_from

    kinds = {n: kind for n, kind in get_type_hints(Server).items() if n != "key"}
    table = _check_table(provider, settings.servers.get(provider, {}), {**kinds, **_BESIDE})
    table.pop("route", None)
    if provider in LOCAL_SERVERS:
        port, usual = LOCAL_SERVERS[provider]
        table = {"base_url": f"http://127.0.0.1:{port}/v1", **usual, **table}
    variable, file = table.pop("key_variable", None), table.pop("key_file", None)
    if provider not in _KEYED and "base_url" not in table:
        raise UsageError(f"The server {provider!r} needs an address; set servers.{provider}.base_url.")
    # The usual variable holds the usual provider's key; other servers get it only if their settings name it.
    if variable is None and provider in _KEYED:
        variable = VARIABLE
    elif variable and file is None and variable not in os.environ:
        raise UsageError(
            f"The setting {provider}.key_variable names {variable}, which the environment lacks. Set it, or leave out"
            " the setting if the server needs no key."
        )
    key = key_from(os.environ, variable or "", file)
    held = settings.structured
    if held is None:  # a user's prompts describe the reply themselves
        can_be = provider in LOCAL_SERVERS or (provider == "openai" and "base_url" not in table)
        held = can_be and settings.prompts in (None, *PROMPTS)
    return Server(key=key, **_sampling(settings) | {"structured": held} | table)


def _check_table(provider: str, table: Mapping[str, Any], kinds: Mapping[str, Any]) -> dict[str, Any]:
    if "key" in table:
        raise UsageError(
            f"Settings must not hold the key of {provider}; set {provider}.key_variable to the name of an environment"
            f" variable with it, or {provider}.key_file to a file that only you can read."
        )
    return check_table(provider, table, kinds)


def _templates(settings: Settings, spec: str, window: int | None) -> Templates:
    from toulmin.extractive.windows import shorten
    from toulmin.prompts.templates import Templates

    needs_short = is_small(spec, settings) or (window is not None and window <= _SMALL_WINDOW)
    if settings.prompts == "compact" or (needs_short and settings.prompts is None and settings.shots is None):
        return Templates.compact(shorten, is_small=is_small(spec, settings, _TINY_MODEL))
    if settings.prompts in (None, "full"):
        return Templates.default(settings.shots)
    return Templates.load(settings.prompts, settings.shots)


def _sampling(settings: Settings) -> dict[str, Any]:
    general = {name: getattr(settings, name) for name in ("temperature", "top_p", "seed")}
    return {name: value for name, value in general.items() if value is not None}


# ---------------------------------------------------------------- the kit


def kit(retriever: Retriever, settings: Settings, own: Own = Own()) -> Kit:
    """The settings' parts, or the caller's in their place."""
    models = {"main": model(settings.model, settings) if own.main is None else own.main}
    if own.verifier is not None:
        models["verifier"] = own.verifier
    elif settings.verifier is not None:
        same = own.main is None and settings.verifier == settings.model
        models["verifier"] = models["main"] if same else model(settings.verifier, settings)
    if rewriter := settings.rewriter if own.main else rewriter_of(settings):
        models["rewriter"] = model(rewriter, settings)
    decider = judge(settings.judge, settings) if own.judge is None else own.judge
    return Kit(retriever, decider, models, _reader_of(models, settings) if own.reader is None else own.reader)


def rewriter_of(settings: Settings) -> str | None:
    """The SPEC of the model that corrects drafts; None: the main model."""
    return settings.rewriter or ("extractive" if is_small(settings.model, settings) else None)


def quotes_first(settings: Settings) -> bool:
    """Whether the model can lead quotes, but cannot correct its draft (`benchmarks/folder.py --set model=...`)."""
    is_tiny = is_small(settings.model, settings, _TINY_MODEL)
    return not is_tiny and is_small(settings.model, settings) and rewriter_of(settings) == "extractive"


def is_small(spec: str, settings: Settings, most: float = _SMALL_MODEL) -> bool:
    """Whether a model has at most about so many billion parameters, by its file or its name.

    A small one cannot correct its own draft (`experiments/best.py`); one of at most half a billion cannot write
    claims in JSON.
    """
    provider, _, name = spec.partition(":")
    if settings.small is not None and not is_embedded(spec):
        return settings.small
    if provider != "llama":
        return _is_named_small(name.rsplit("/")[-1], most)
    from toulmin.models import gguf

    return gguf.is_small(name, most)


def _is_named_small(name: str, most: float) -> bool:
    sizes = [float(number) / (1 if unit in "bB" else 1000) for number, unit in _SIZE.findall(name)]
    return max(sizes) <= most if sizes else _SMALL_FAMILY.match(name) is not None


def _reader_of(models: Mapping[str, LanguageModel], settings: Settings) -> Reader:
    """Shares the embedded writer's reader, or the writer, so that each is loaded once."""
    if settings.reader in ("model", f"model:{settings.model}"):
        from toulmin.judges.asked import ModelReader

        return ModelReader(models["main"])
    own = getattr(getattr(models.get("rewriter", models["main"]), "manner", None), "reader", None)
    return own if isinstance(own, LateReader) else LateReader(settings)


async def close_kit(parts: Kit, own: Own) -> None:
    """Closes a kit's models and judge, but no objects of the caller."""
    borrowed = {id(part) for part in (own.main, own.verifier, own.judge)}
    late = [parts.reader] if isinstance(parts.reader, LateReader) else []
    for part in {id(part): part for part in (*parts.models.values(), parts.judge, *late)}.values():
        if id(part) not in borrowed:
            await close(part)
