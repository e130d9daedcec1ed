"""Encoders by SPEC (`embedded`, `onnx:FOLDER`, `transformer:FOLDER`), and the searches that use them.

An encoder is imported when it is named; the base install has none and searches by words only.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple, TypeVar
from weakref import WeakValueDictionary

from toulmin.build.specs import TORCH, Registry, Spec, table_of
from toulmin.config import Settings, cache_folder
from toulmin.data import Passage
from toulmin.errors import ModelError, SourceError
from toulmin.indexing import store
from toulmin.indexing.corpus import AnyCorpus
from toulmin.indexing.vector_files import EncoderChoice, Label
from toulmin.retrieval.fusion import FusionRanker, Ranker
from toulmin.retrieval.links import LinkRanker
from toulmin.retrieval.reranking import Reranker, VectorCache
from toulmin.runtime.encoder import Encoder
from toulmin.runtime.shipped import is_ready

EMBEDDED = "embedded"  # of the installed weights
NONE = "none"  # in place of a SPEC: drop or ignore vectors
T = TypeVar("T")
# Loaded encoders: a changed index that opens beside the old one shares them.
_LOADED: WeakValueDictionary[object, Any] = WeakValueDictionary()


def _onnx(folder: str, table: dict[str, Any], settings: Settings) -> Encoder:
    _check_installed(("onnxruntime", "tokenizers"), "encoder")
    from toulmin.runtime.onnx_encoder import OnnxEncoder

    return OnnxEncoder(folder or None, **table_of(_ONNX, settings))


def _transformer(folder: str, table: dict[str, Any], settings: Settings) -> Encoder:
    _check_installed(("sentence_transformers", "torch", "transformers"), "local")
    from toulmin.runtime.transformer_encoder import TransformerEncoder

    return TransformerEncoder(folder, **table)


_ONNX = Spec("onnx", "A folder with an encoder from `training/`.", _onnx, "FOLDER", {"threads": int})
_TRANSFORMER: Mapping[str, Any] = {**TORCH, "questions": str, "query_prefix": str, "passage_prefix": str}
ENCODERS: Registry[Encoder] = Registry(
    "encoder",
    (
        Spec(EMBEDDED, "The small encoder of the installed weights.", _onnx),
        _ONNX,
        Spec("transformer", "A folder of sentence-transformers: GTR, E5, DPR.", _transformer, "FOLDER", _TRANSFORMER),
    ),
    ", or none",
)


def encoder(spec: str, settings: Settings) -> Encoder:
    """Raises `UsageError` for an unknown SPEC, `ModelError` for an encoder that does not load."""
    return ENCODERS.find(spec).make(settings)


def _check_installed(libraries: tuple[str, ...], extra: str) -> None:
    absent = [library for library in libraries if find_spec(library) is None]
    if absent:
        raise ModelError(
            f"This encoder needs {' and '.join(absent)}, which is not installed; run: pip install 'toulmin[{extra}]'"
        )


# ---------------------------------------------------------------- from settings


def label_of(index: str) -> Label | None:
    """The encoder of an index's vectors; None without vectors or index."""
    from toulmin.stores.adapters import adapter
    from toulmin.stores.address import is_shared

    if not is_shared(index):
        return store.label_of(Path(index))
    return adapter(index).label_of(index)


def encoder_for(index: str, settings: Settings) -> EncoderChoice | None:
    """The encoder for an update: the settings', else the index's. Raises as `encoder`, and `SourceError`."""
    label = label_of(index) if settings.encoder is None else None
    spec = settings.encoder or (label.spec if label else NONE)
    return None if spec == NONE else EncoderChoice(encoder(spec, settings), spec)


class SearchPlan(NamedTuple):
    """A ranking, and remarks on it for people."""

    ranker: Ranker
    remarks: tuple[str, ...] = ()


def search_of(corpus: AnyCorpus, lexical: Ranker, settings: Settings) -> SearchPlan:
    """The search of an index.

    Without `fusion`, an index with vectors is searched by words and meaning, another one by words, with the best
    passages ranked again if an encoder is set or installed. A remark notes an index's encoder that does not load.
    Raises `SourceError` if required vectors are missing or another encoder's, else as `encoder`.
    """
    held, chosen = corpus.vectors, settings.fusion
    if chosen == "lexical" or settings.encoder == NONE:
        return SearchPlan(lexical)
    if held is None and chosen not in (None, "rerank"):
        from toulmin.retrieval.vectors import how_to_encode, no_vectors

        raise SourceError(f"{no_vectors(corpus)} {how_to_encode(corpus)}")
    if held is None or chosen == "rerank":
        kept = kept_vectors(held.label if held else None, settings)
        if kept is None:
            return SearchPlan(lexical)
        return SearchPlan(Reranker(lexical, kept, settings.rerank_depth))
    try:
        spec = settings.encoder or held.label.spec
        made = _share(partial(encoder, spec, settings), spec, held.label, settings)
    except ModelError as error:
        if chosen is not None or settings.encoder is not None:
            raise
        return SearchPlan(lexical, (f"Searched by words only, because the index's encoder does not load: {error}",))
    from toulmin.retrieval.vectors import Dense

    return SearchPlan(_fuse(lexical, Dense(corpus, made), settings))


def kept_vectors(held: Label | None, settings: Settings) -> VectorCache | None:
    """The vectors for ranking again by meaning; None if not used. `held` is the encoder of the index's vectors."""
    chosen = settings.fusion
    if settings.encoder == NONE or chosen not in (None, "rerank") or (held is not None and chosen is None):
        return None
    if held is None and chosen is None and settings.encoder is None and not is_ready("encoder"):
        return None
    spec = settings.encoder or (held.spec if held else EMBEDDED)
    make = partial(_share, partial(encoder, spec, settings), spec, settings)
    return _share(partial(VectorCache, make, cache_folder()), spec, held, settings, cache_folder())


def installed_encoder(settings: Settings) -> Encoder | None:
    """The installed encoder, loaded once; None without it or with the encoder `none`. Raises as `encoder`."""
    if settings.encoder == NONE or not is_ready("encoder"):
        return None
    return _share(partial(encoder, EMBEDDED, settings), EMBEDDED, settings)


def _share(make: Callable[[], T], *names: object) -> T:
    key = repr((Path.cwd(), *names))
    made: T | None = _LOADED.get(key)
    if made is None:
        made = make()
        with suppress(TypeError):  # another package's encoder may allow no weak reference
            _LOADED[key] = made
    return made


def search_in_memory(passages: Sequence[Passage], lexical: Ranker, settings: Settings) -> SearchPlan:
    """Searches a caller's passages by words, with an encoder also by meaning. Raises as `encoder`."""
    if settings.fusion == "lexical" or settings.encoder in (None, NONE):
        return SearchPlan(lexical)
    from toulmin.retrieval.vectors import DenseInMemory

    return SearchPlan(_fuse(lexical, DenseInMemory(passages, encoder(str(settings.encoder), settings)), settings))


def with_links(ranker: Ranker, titles: Ranker, settings: Settings) -> Ranker:
    """Adds the passages that the first hits name, unless `links` is off."""
    return LinkRanker(ranker, titles) if settings.links else ranker


def _fuse(lexical: Ranker, dense: Ranker, settings: Settings) -> Ranker:
    return dense if settings.fusion == "dense" else FusionRanker((lexical, dense))
