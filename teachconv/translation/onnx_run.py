"""Runs ONNX graphs of common vision networks: convolutions by teachconv, the rest by onnx itself.

onnx has an evaluator in Python (``onnx.reference``). Its Conv and ConvTranspose are replaced by those of
`teachconv.dialects.onnx`, its ConvInteger and QLinearConv by `onnx_quantized`, and its Resize by one that is
not a loop over the cells. Others are replaced because that evaluator refuses valid nodes, or computes what a
later version of the operator says: a Pad that crops, a MaxPool of bytes, BatchNormalization before version 9,
Softmax before 13. Operators that are not in `OPERATORS` are refused, so that a file runs completely
or not at all.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from copy import deepcopy
from functools import lru_cache
from math import prod
from typing import Any

import numpy as np

from ..core.arguments import as_array
from ..dialects import onnx as dialect
from ..running.default_backend import use_backend
from ..support.devices import to_host
from ..support.errors import ArgumentError, ArgumentTypeError, BackendUnavailable, brief, plain, suggestion
from ..support.memory import check_memory
from .onnx_quantized import PLACES, fused, quantized

OPERATORS = (
    *("Add", "AveragePool", "BatchNormalization", "Cast", "Clip", "Concat", "Constant", "Conv"),
    *("ConvInteger", "ConvTranspose", "DequantizeLinear", "Div", "Dropout", "Elu", "Flatten", "Gelu", "Gemm"),
    *("GlobalAveragePool", "GlobalMaxPool", "HardSigmoid", "HardSwish", "Identity", "LeakyRelu", "MatMul"),
    *("MaxPool", "Mul", "PRelu", "Pad", "QLinearConv", "QuantizeLinear", "ReduceMean", "Relu", "Reshape"),
    *("Resize", "Sigmoid", "Slice", "Softmax", "Softplus", "Squeeze", "Sub", "Tanh", "Transpose"),
    "Unsqueeze",
)


def run_model(model: Any, feeds: Any, backend: Any = None) -> dict[str, np.ndarray]:
    """Run a model; see `teachconv.OnnxModel.run`.

    Args:
        model: the ``onnx.ModelProto``.
        feeds: an array for each input, by name.
        backend: the backend of the convolutions.

    Returns:
        The outputs by name.
    """
    from onnx.reference import ReferenceEvaluator

    _check_operators(model)
    names = [output.name for output in model.graph.output]
    try:
        arrays = _check_feeds(model.graph, feeds)
        _check_sizes(model, arrays)
        evaluator = ReferenceEvaluator(fused(model), new_ops=list(_own_operators()))
        with nullcontext() if backend is None else use_backend(backend):
            return dict(zip(names, map(np.asarray, evaluator.run(names, arrays)), strict=True))
    except (ArgumentError, ArgumentTypeError, BackendUnavailable, MemoryError):
        raise
    except (
        NotImplementedError
    ) as error:  # an operator that onnx's evaluator has in later versions only, or not
        raise ArgumentError(
            f"the model {brief(model.graph.name)} cannot be run here: onnx's reference evaluator says "
            f"{brief(str(error))}; onnx.version_converter writes a model with later operators"
        ) from error
    except Exception as error:  # of an invalid graph; onnx does not say which types it raises
        raise ArgumentError(
            f"the model {brief(model.graph.name)} is not valid and cannot be run: {plain(error)}"
        ) from error


def _check_operators(model: Any) -> None:
    if model.functions:
        raise ArgumentError(
            f"run executes no functions of a model; this one has {brief(model.functions[0].name)}"
        )
    for node in model.graph.node:
        if node.op_type not in OPERATORS or node.domain not in ("", "ai.onnx"):
            operator = f"{node.domain}.{node.op_type}".strip(".")
            raise ArgumentError(
                f"node {brief(_name(node))} is {operator}{suggestion(operator, OPERATORS)}; "
                f"run executes {', '.join(OPERATORS)}"
            )


def _check_feeds(graph: Any, feeds: Any) -> dict[str, np.ndarray]:
    """Return the arrays to feed; raise unless each input has one, of its dtype and shape."""
    from onnx import helper

    weights = {tensor.name for tensor in graph.initializer}
    inputs = {info.name: info.type.tensor_type for info in graph.input if info.name not in weights}
    if not isinstance(feeds, Mapping):
        raise ArgumentTypeError(
            f"feeds must be arrays by the names of the inputs, {list(inputs)}; got {brief(feeds)}"
        )
    if set(feeds) != set(inputs):
        raise ArgumentError(
            f"feeds must be named {', '.join(inputs)}; got {', '.join(map(str, feeds)) or 'none'}"
        )
    arrays: dict[str, np.ndarray] = {}
    sizes: dict[str, int] = {}
    for name, kind in inputs.items():
        array, dtype = feeds[name], helper.tensor_dtype_to_np_dtype(kind.elem_type)
        if not (isinstance(array, np.ndarray) and array.dtype == dtype):  # of bytes, say, too
            array = to_host(as_array(array, f"feeds[{brief(name)}]", None))
        arrays[name] = array
        if array.dtype != dtype:
            raise ArgumentTypeError(f"feeds[{brief(name)}] must have dtype {dtype}; got {array.dtype}")
        wanted = [dim.dim_param or dim.dim_value or "?" for dim in kind.shape.dim]
        fits = len(wanted) == array.ndim and all(
            size == want or want == "?" or (isinstance(want, str) and sizes.setdefault(want, size) == size)
            for size, want in zip(array.shape, wanted, strict=True)
        )
        if not fits:
            raise ArgumentError(f"feeds[{brief(name)}] must have shape {wanted}; got {list(array.shape)}")
    return arrays


def _check_sizes(model: Any, arrays: Mapping[str, np.ndarray]) -> None:
    """Raise unless the graph is valid, and every result has a known size that fits into memory."""
    from onnx import helper, shape_inference

    fixed = deepcopy(model)
    for info in fixed.graph.input:
        if info.name in arrays:  # files of old versions list their weights, too
            for dim, size in zip(info.type.tensor_type.shape.dim, arrays[info.name].shape, strict=True):
                dim.dim_value = size
    for info in fixed.graph.output:
        info.type.tensor_type.ClearField("shape")
    del fixed.graph.value_info[:]
    inferred = shape_inference.infer_shapes(fixed, check_type=True, strict_mode=True, data_prop=True).graph
    known = {info.name: info.type.tensor_type for info in (*inferred.value_info, *inferred.output)}
    for node in model.graph.node:
        for name in filter(None, node.output):
            kind = known.get(name)
            if (
                kind is None
                or not kind.HasField("shape")
                or not all(dim.HasField("dim_value") for dim in kind.shape.dim)
            ):
                raise ArgumentError(
                    f"the size of {brief(name)}, the result of node {brief(_name(node))}, must not depend on "
                    "values"
                )
            dtype = helper.tensor_dtype_to_np_dtype(kind.elem_type)
            check_memory([dim.dim_value for dim in kind.shape.dim], dtype, repr(name))


def _name(node: Any) -> str:
    return str(node.name or (node.output[0] if node.output else ""))


@lru_cache(maxsize=1)
def _own_operators() -> tuple[Any, ...]:
    """Return the classes of operators that stand in for those of onnx's evaluator."""
    from onnx.reference.op_run import OpRun
    from onnx.reference.ops import op_dequantize_linear, op_softmax

    def operator(name: str, function: Any) -> Any:
        """Return the class of an operator that a function of its arrays and attributes computes."""

        def run(self: Any, *arrays: Any, **attributes: Any) -> tuple[Any, ...]:
            # onnx's evaluator passes None for the attributes that a node does not have
            found = function(*arrays, **{key: one for key, one in attributes.items() if one is not None})
            return found if isinstance(found, tuple) else (found,)

        return type(name, (OpRun,), {"_run": run})

    def integers(name: str) -> Any:
        return operator(name, lambda x, *arrays, **words: quantized(name, (x, *arrays), words)(x))

    class DequantizeLinear(op_dequantize_linear._CommonDequantizeLinear):
        """All versions; onnx's evaluator has those from 19 on."""

    class Resize(OpRun):
        """Resize to the nearest cell: out_index // scale, as UpSampling2D repeats cells."""

        def _run(
            self, X: Any, roi: Any = None, scales: Any = None, sizes: Any = None, **attributes: Any
        ) -> tuple[Any]:
            words = {name: attributes.get(name) for name in _NEAREST}
            if words != _NEAREST or scales is None or sizes is not None or attributes.get("axes"):
                raise ArgumentError(f"Resize must have scales and {_NEAREST}; got {words}")
            for axis, scale in enumerate(scales):
                places = np.arange(int(X.shape[axis] * float(scale))) / scale
                X = X.take(np.floor(places).astype(np.intp), axis)
            return (X,)

    class Softmax(op_softmax.Softmax):
        """The softmax of one axis; before version 13, of all axes from that one on."""

        def _run(self, X: Any, axis: Any = None) -> tuple[Any]:
            if self.run_params["opsets"][self.onnx_node.domain] >= 13:
                return super()._run(X, axis)
            axis = next((item.i for item in self.onnx_node.attribute if item.name == "axis"), 1)
            flat = X.reshape(prod(X.shape[: axis % X.ndim]), -1)
            return (super()._run(flat, -1)[0].reshape(X.shape),)

    functions = {
        "Conv": dialect.conv,
        "ConvTranspose": dialect.conv_transpose,
        "Pad": _pad,
        "MaxPool": _max_pool,
        "BatchNormalization": _batch_normalization,
    }
    return (
        DequantizeLinear,
        Resize,
        Softmax,
        *map(operator, functions, functions.values()),
        *map(integers, PLACES),
    )


def _pad(
    x: np.ndarray,
    pads: Any = None,
    value: Any = None,
    axes: Any = None,
    mode: str = "constant",
    paddings: Any = None,
) -> Any:
    """Pad; the value and the pads are arrays, before version 11 attributes, in version 1 ``paddings``."""
    sides = np.reshape(pads if paddings is None else paddings, (2, -1)).T
    around = [(0, 0)] * x.ndim
    for axis, (before, after) in zip(range(x.ndim) if axes is None else axes, sides, strict=True):
        kept = range(max(0, -before), x.shape[axis] - max(0, -after))  # what is cut off goes first
        x, around[axis] = x.take(kept, axis), (max(0, before), max(0, after))
    filled = {} if value is None or mode != "constant" else {"constant_values": np.ravel(value)[0]}
    return np.pad(x, around, mode=mode, **filled)  # type: ignore[call-overload]


def _max_pool(x: np.ndarray, **attributes: Any) -> tuple[Any, ...]:
    """Return values and indices; bytes are pooled as integers of 32 bits."""
    wide = x.astype(np.int32) if x.dtype.kind in "iu" else x
    values, places = dialect.max_pool(wide, indices=True, **attributes)
    return (values if wide is x else np.maximum(values, np.iinfo(x.dtype).min).astype(x.dtype)), places


def _batch_normalization(
    *arrays: np.ndarray, spatial: int = 1, is_test: int = 1, epsilon: float = 1e-5, **training: Any
) -> Any:
    """Normalise by the numbers of each channel, or while training by those of the batch."""
    if not spatial or not is_test:
        raise ArgumentError(f"BatchNormalization must have spatial and is_test 1; got {spatial}, {is_test}")
    return dialect.batch_normalization(*arrays, epsilon=epsilon, **training)


_NEAREST = {"mode": "nearest", "coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}
