"""A BERT sentence encoder as an ONNX graph, written out operator by operator: token ids in, finished rows out.

Weights of the matrices and of the token table may be stored in 8 bits, symmetric, with one scale an output column (a
row of the table). The products with the matrices are then taken in 8 bits too: a text's numbers are rounded as they
come, so a row depends on what stands beside it, and texts are encoded one by one. Seven of the eight bits of a matrix
are used, because older processors add two products in sixteen bits and would overflow. The first layer, which rounding
hurts most, multiplies in float32.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
from onnx import TensorProto, helper, numpy_helper

OPSET = 17
IR_VERSION = 8
_EXACT = "encoder.layer.0."
_HEAD_SPLIT = (0, 2, 1, 3)
_HEAD_SPLIT_TURNED = (0, 2, 3, 1)

Weights = Mapping[str, npt.NDArray[np.float32]]


@dataclass(frozen=True, slots=True)
class Shape:
    """The numbers of a BERT that its weights do not say."""

    layers: int
    heads: int
    epsilon: float


def graph_of(weights: Weights, shape: Shape, bits: int) -> onnx.ModelProto:
    """The graph of a BERT by the names of transformers' `BertModel`, with mean pooling and rows of length one.

    `bits` is 8 or 32. Inputs `input_ids` and `attention_mask` (texts, tokens) of int64; output `rows` (texts, numbers).
    """
    made = _Builder(weights, bits)
    state = _embed(made, shape)
    bias = _mask_bias(made)
    for layer in range(shape.layers):
        state = _layer(made, f"encoder.layer.{layer}", state, bias, shape)
    return made.model(_pool(made, state), len(weights["embeddings.LayerNorm.weight"]))


class _Builder:
    """Collects operators and stored tensors; each call names its result."""

    def __init__(self, weights: Weights, bits: int) -> None:
        self.weights = weights
        self._bits = bits
        self._nodes: list[Any] = []
        self._stored: dict[str, Any] = {}
        self._rounded: dict[str, tuple[str, ...]] = {}

    def op(self, kind: str, inputs: Sequence[str], **attributes: Any) -> str:
        return self.ops(kind, inputs, 1, **attributes)[0]

    def ops(self, kind: str, inputs: Sequence[str], outputs: int, **attributes: Any) -> tuple[str, ...]:
        name = f"{kind}_{len(self._nodes)}"
        names = (name, *(f"{name}.{n}" for n in range(1, outputs)))
        self._nodes.append(helper.make_node(kind, list(inputs), list(names), name=name, **attributes))
        return names

    def store(self, name: str, values: Any) -> str:
        if name not in self._stored:
            self._stored[name] = numpy_helper.from_array(np.ascontiguousarray(values), name)
        return name

    def numbers(self, *values: float) -> str:
        return self.store(f"numbers_{values}", np.array(values, np.float32))

    def places(self, *values: int) -> str:
        return self.store(f"places_{values}", np.array(values, np.int64))

    def weight(self, name: str) -> str:
        """A vector, which stays in float32."""
        return self.store(name, self.weights[name])

    def linear(self, name: str, state: str) -> str:
        """`state` times the matrix of a linear layer, plus its bias."""
        matrix = self.weights[f"{name}.weight"].T
        if self._bits == 32:
            product = self.op("MatMul", [state, self.store(f"{name}.matrix", matrix)])
        elif name.startswith(_EXACT):
            product = self._product_of_unpacked(name, state, matrix)
        else:
            product = self._product_in_8_bits(name, state, matrix)
        return self.op("Add", [product, self.weight(f"{name}.bias")])

    def _product_of_unpacked(self, name: str, state: str, matrix: Any) -> str:
        packed, scales = pack_in_8_bits(matrix, axis=0)
        parts = [self.store(f"{name}.packed", packed), self.store(f"{name}.scales", scales.reshape(-1))]
        return self.op("MatMul", [state, self.op("DequantizeLinear", parts, axis=1)])

    def _product_in_8_bits(self, name: str, state: str, matrix: Any) -> str:
        packed, scales = pack_in_8_bits(matrix, axis=0, most=63)
        if state not in self._rounded:  # query, key and value are of one state
            self._rounded[state] = self.ops("DynamicQuantizeLinear", [state], 3)
        rounded, step, zero = self._rounded[state]
        stored = self.store(f"{name}.packed", packed)
        whole = self.op("MatMulInteger", [rounded, stored, zero])
        scale = self.op("Mul", [step, self.store(f"{name}.scales", scales.reshape(-1))])
        return self.op("Mul", [self.op("Cast", [whole], to=TensorProto.FLOAT), scale])

    def rows_of(self, name: str, ids: str) -> str:
        """The rows of a table; stored in 8 bits, only those that are asked for are unpacked."""
        if self._bits == 32:
            return self.op("Gather", [self.store(name, self.weights[name]), ids])
        packed, scales = pack_in_8_bits(self.weights[name], axis=1)
        rows = self.op("Gather", [self.store(f"{name}.packed", packed), ids])
        scale = self.op("Gather", [self.store(f"{name}.scales", scales), ids])
        return self.op("Mul", [self.op("Cast", [rows], to=TensorProto.FLOAT), scale])

    def normalise(self, name: str, state: str, epsilon: float) -> str:
        parts = [state, self.weight(f"{name}.weight"), self.weight(f"{name}.bias")]
        return self.op("LayerNormalization", parts, axis=-1, epsilon=epsilon)

    def model(self, output: str, dimension: int) -> onnx.ModelProto:
        shape = ["texts", "tokens"]
        inputs = [helper.make_tensor_value_info(n, TensorProto.INT64, shape) for n in ("input_ids", "attention_mask")]
        self._nodes.append(helper.make_node("Identity", [output], ["rows"], name="rows"))
        rows = helper.make_tensor_value_info("rows", TensorProto.FLOAT, ["texts", dimension])
        graph = helper.make_graph(self._nodes, "encoder", inputs, [rows], list(self._stored.values()))
        made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR_VERSION)
        onnx.checker.check_model(made)
        return made


def pack_in_8_bits(matrix: Any, axis: int, most: int = 127) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.float32]]:
    """Whole numbers from -`most` to `most` and the scale of each line along `axis` that gives the values back."""
    largest = np.abs(matrix).max(axis=axis, keepdims=True)
    scales = np.maximum(largest / most, np.finfo(np.float32).tiny).astype(np.float32)
    return np.rint(matrix / scales).astype(np.int8), scales


def _embed(made: _Builder, shape: Shape) -> str:
    words = made.rows_of("embeddings.word_embeddings.weight", "input_ids")
    # One segment only, so its vector is added to every position once and for all.
    table = (
        made.weights["embeddings.position_embeddings.weight"]
        + made.weights["embeddings.token_type_embeddings.weight"][0]
    )
    length = made.op("Slice", [made.op("Shape", ["input_ids"]), made.places(1), made.places(2)])
    places = made.op("Slice", [made.store("positions", table), made.places(0), length])
    return made.normalise("embeddings.LayerNorm", made.op("Add", [words, places]), shape.epsilon)


def _mask_bias(made: _Builder) -> str:
    """0 for a token and a very low number for padding, to be added to what attention weighs: (texts, 1, 1, tokens)."""
    mask = made.op("Cast", ["attention_mask"], to=TensorProto.FLOAT)
    padding = made.op("Sub", [made.numbers(1.0), made.op("Unsqueeze", [mask, made.places(1, 2)])])
    return made.op("Mul", [padding, made.numbers(-1e9)])


def _layer(made: _Builder, name: str, state: str, bias: str, shape: Shape) -> str:
    attended = made.linear(
        f"{name}.attention.output.dense", _attend(made, f"{name}.attention.self", state, bias, shape)
    )
    state = made.normalise(f"{name}.attention.output.LayerNorm", made.op("Add", [attended, state]), shape.epsilon)
    wide = _gelu(made, made.linear(f"{name}.intermediate.dense", state))
    narrow = made.linear(f"{name}.output.dense", wide)
    return made.normalise(f"{name}.output.LayerNorm", made.op("Add", [narrow, state]), shape.epsilon)


def _attend(made: _Builder, name: str, state: str, bias: str, shape: Shape) -> str:
    size = len(made.weights[f"{name}.query.bias"])
    query = _heads(made, made.linear(f"{name}.query", state), shape.heads, size, _HEAD_SPLIT)
    key = _heads(made, made.linear(f"{name}.key", state), shape.heads, size, _HEAD_SPLIT_TURNED)
    value = _heads(made, made.linear(f"{name}.value", state), shape.heads, size, _HEAD_SPLIT)
    root = made.numbers(float(np.sqrt(size / shape.heads)))
    scores = made.op("Add", [made.op("Div", [made.op("MatMul", [query, key]), root]), bias])
    mixed = made.op("MatMul", [made.op("Softmax", [scores], axis=-1), value])
    return made.op("Reshape", [made.op("Transpose", [mixed], perm=_HEAD_SPLIT), made.places(0, 0, size)])


def _heads(made: _Builder, state: str, heads: int, size: int, order: Sequence[int]) -> str:
    parted = made.op("Reshape", [state, made.places(0, 0, heads, size // heads)])
    return made.op("Transpose", [parted], perm=list(order))


def _gelu(made: _Builder, state: str) -> str:
    bent = made.op("Erf", [made.op("Div", [state, made.numbers(float(np.sqrt(2)))])])
    return made.op("Mul", [made.op("Mul", [state, made.op("Add", [bent, made.numbers(1.0)])]), made.numbers(0.5)])


def _pool(made: _Builder, state: str) -> str:
    """The mean of the tokens that are no padding, at length one."""
    mask = made.op("Unsqueeze", [made.op("Cast", ["attention_mask"], to=TensorProto.FLOAT), made.places(2)])
    total = made.op("ReduceSum", [made.op("Mul", [state, mask]), made.places(1)], keepdims=0)
    count = made.op("Max", [made.op("ReduceSum", [mask, made.places(1)], keepdims=0), made.numbers(1.0)])
    mean = made.op("Div", [total, count])
    length = made.op("ReduceL2", [mean], axes=[1], keepdims=1)
    return made.op("Div", [mean, made.op("Max", [length, made.numbers(1e-12)])])
