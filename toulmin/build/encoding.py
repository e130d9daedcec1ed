"""From a SPEC (`embedded`, `onnx:FOLDER`, `transformer:FOLDER`) to its encoder, and from settings to what uses one.

Encoders are imported when one is named: the base install has none, and answers by words alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple, TypeVar
from weakref import WeakValueDictionary

from toulmin.build.specs import Registry, Spec, table_of
from toulmin.config import Settings, cache_folder
from toulmin.data import Passage
from toulmin.errors import ModelError, SourceError
from toulmin.indexing import store
from toulmin.indexing.corpus import EncodedCorpus
from toulmin.indexing.vector_files import EncoderChoice, Label
from toulmin.retrieval.acronyms import AcronymRanker
from toulmin.retrieval.fusion import DENSE_WEIGHT, Ranker, by_ranks, by_sum
from toulmin.retrieval.links import LinkRanker
from toulmin.retrieval.reranking import SECONDS, Reranker, VectorCache
from toulmin.runtime.encoder import Encoder
from toulmin.runtime.shipped import is_ready

EMBEDDED = "embedded"  # the one of the installed weights
NONE = "none"  # in place of a SPEC: no vectors, though the index had some
T = TypeVar("T")
# What has an encoder loaded: an index that changed is opened beside the old one, and shares it.
_LOADED: WeakValueDictionary[object, Any] = WeakValueDictionary()


def _onnx(folder: str, table: dict[str, Any], settings: Settings) -> Encoder:
    _check_installed(("onnxruntime", "tokenizers"), "encoder")
    from toulmin.runtime.onnx_encoder import OnnxEncoder

    return OnnxEncoder(folder or None, **table)


def _installed_encoder(argument: str, table: dict[str, Any], settings: Settings) -> Encoder:
    return _onnx("", table_of(_ONNX, settings), settings)


def _transformer(folder: str, table: dict[str, Any], settings: Settings) -> Encoder:
    _check_installed(("torch", "transformers"), "local")
    from toulmin.runtime.transformer_encoder import TransformerEncoder

    return TransformerEncoder(folder, **table)


_ONNX = Spec("onnx", "A folder that holds an encoder made by `training/`.", _onnx, "FOLDER", {"threads": int})
_TRANSFORMER: Mapping[str, Any] = {
    "questions": str,
    "device": str,
    "precision": str,
    "batch_tokens": int,
    "query_prefix": str,
    "passage_prefix": str,
    "download": bool,
}
ENCODERS: Registry[Encoder] = Registry(
    "encoder",
    (
        Spec(EMBEDDED, "The small encoder of the installed weights.", _installed_encoder),
        _ONNX,
        Spec(
            "transformer",
            "Somebody else's: a sentence-transformers folder, GTR, E5, or DPR's two.",
            _transformer,
            "FOLDER",
            _TRANSFORMER,
        ),
    ),
    ", or none",
)


def encoder(spec: str, settings: Settings) -> Encoder:
    """The encoder that a SPEC names.

    Raises `UsageError` for one that nothing is called, `ModelError` for one that does not load or whose libraries are
    not installed.
    """
    return ENCODERS.find(spec).make(settings)


def _check_installed(libraries: tuple[str, ...], extra: str) -> None:
    absent = [library for library in libraries if find_spec(library) is None]
    if absent:
        raise ModelError(
            f"This encoder needs {' and '.join(absent)}, not installed here; run: pip install 'toulmin[{extra}]'"
        )


# ---------------------------------------------------------------- what settings ask for


def label_of(index: str) -> Label | None:
    """Whose vectors an index holds, in a folder or at an address; None for none, and where there is no index."""
    from toulmin.stores.address import adapter, is_shared

    if not is_shared(index):
        return store.label_of(Path(index))
    return adapter(index).label_of(index)


def spec_of(index: str, settings: Settings) -> str:
    """The SPEC of that encoder; `none` for none."""
    if settings.encoder is not None:
        return settings.encoder
    label = label_of(index)
    return label.spec if label else NONE


def encoder_for(index: str, settings: Settings) -> EncoderChoice | None:
    """The encoder that an update of that index is to use: the one that is set, else the one that it was made with.

    Raises as `encoder` does, and `SourceError` for an address that cannot be used.
    """
    spec = spec_of(index, settings)
    return None if spec == NONE else EncoderChoice(encoder(spec, settings), spec)


class SearchPlan(NamedTuple):
    """What a search asks, and what people are to be told of it."""

    ranker: Ranker
    remarks: tuple[str, ...] = ()


def search_of(corpus: EncodedCorpus, lexical: Ranker, settings: Settings) -> SearchPlan:
    """The search of an index that the settings ask for.

    Where `fusion` says nothing, an index with vectors is searched by words and meaning; of any other the best passages
    by words are ranked anew by meaning, where an encoder is set or installed. Acronyms find their long forms. If the
    index's encoder does not load, the remarks say so. Raises `SourceError` for vectors that are asked for and not there
    or another encoder's, else as `encoder` does.
    """
    held, chosen = corpus.vectors, settings.fusion
    lexical = AcronymRanker(lexical) if chosen is None else lexical
    if chosen == "lexical" or settings.encoder == NONE:
        return SearchPlan(lexical)
    if held is None and chosen not in (None, "rerank"):
        from toulmin.retrieval.vectors import how_to_encode, no_vectors

        raise SourceError(f"{no_vectors(corpus)} {how_to_encode(corpus)}")
    if held is None or chosen == "rerank":
        kept = kept_vectors(held.label if held else None, settings)
        if kept is None:
            return SearchPlan(lexical)
        seconds = SECONDS if settings.rerank_seconds is None else settings.rerank_seconds
        return SearchPlan(Reranker(lexical, kept, settings.rerank_depth, seconds))
    try:
        spec = settings.encoder or held.label.spec
        made = _share(partial(encoder, spec, settings), spec, held.label, settings)
    except ModelError as error:
        if chosen is not None or settings.encoder is not None:
            raise
        return SearchPlan(lexical, (f"Searched by words only, as the index's encoder does not load: {error}",))
    from toulmin.retrieval.vectors import Dense

    return SearchPlan(_fuse(lexical, Dense(corpus, made), settings))


def kept_vectors(held: Label | None, settings: Settings) -> VectorCache | None:
    """The vectors by which passages of an index are ranked anew; None where they are not. `held` is whose vectors the
    index holds itself.
    """
    chosen = settings.fusion
    if settings.encoder == NONE or chosen not in (None, "rerank") or (held is not None and chosen is None):
        return None
    if held is None and chosen is None and settings.encoder is None and not is_ready("encoder"):
        return None
    spec = settings.encoder or (held.spec if held else EMBEDDED)
    make = partial(encoder, spec, settings)
    return _share(partial(VectorCache, make, cache_folder()), spec, held, settings, cache_folder())


def _share(make: Callable[[], T], *names: object) -> T:
    key = repr((Path.cwd(), *names))
    made: T | None = _LOADED.get(key)
    if made is None:
        made = make()
        with suppress(TypeError):  # another package's may take no weak reference
            _LOADED[key] = made
    return made


def search_in_memory(passages: Sequence[Passage], lexical: Ranker, settings: Settings) -> SearchPlan:
    """The search of passages at hand: by words, and where an encoder is set by meaning too. Raises as `encoder`."""
    if settings.fusion == "lexical" or settings.encoder in (None, NONE):
        return SearchPlan(lexical)
    from toulmin.retrieval.vectors import DenseInMemory

    return SearchPlan(_fuse(lexical, DenseInMemory(passages, encoder(str(settings.encoder), settings)), settings))


def with_links(ranker: Ranker, titles: Ranker, settings: Settings) -> Ranker:
    """The ranking with the passages that its first hits name, unless the settings want none."""
    return LinkRanker(ranker, titles) if settings.links else ranker


def _fuse(lexical: Ranker, dense: Ranker, settings: Settings) -> Ranker:
    if settings.fusion == "dense":
        return dense
    if settings.fusion == "weighted":
        return by_sum(lexical, dense, DENSE_WEIGHT if settings.dense_weight is None else settings.dense_weight)
    return by_ranks((lexical, dense))
