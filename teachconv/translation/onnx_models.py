"""Lists the convolutions of an ONNX file: every 2-D Conv and ConvTranspose with its geometry.

Each can be compared with what onnxruntime computes for it. What `teachconv.to_onnx` writes can also be run
as a whole (`onnx_run`). The package onnx is needed. The comparison, and models whose shapes cannot be
inferred, also need onnxruntime.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from .. import dispatch, nn_ops, tables
from ..data.seeded import make_array
from ..dialects import onnx as dialect
from ..dialects.calls import ConvCall
from ..errors import ArgumentError, BackendUnavailable
from ..truth import bounds
from ..truth.exact import abs_sum
from .onnx_run import run_model
from .translating import resolve

__all__ = ["OnnxModel", "OnnxNode", "input_names", "onnx_model"]

_UNKNOWN = 64  # the size assumed for a dynamic axis other than the batch, unless `inputs` gives it
_FUNCTIONS = {"Conv": dialect.conv, "ConvTranspose": dialect.conv_transpose}

Progress = Callable[[int, int, str], None]


@dataclass(frozen=True, eq=False)
class OnnxNode:
    """One Conv or ConvTranspose, with its attributes and what they resolve to.

    Attributes:
        name: the node's name, or that of its output.
        op_type: "Conv" or "ConvTranspose".
        attributes: the node's attributes.
        call: the resolved call; None if the shapes are unknown or the node is refused.
        note: why ``call`` is None, or "".
        passed: after a check, whether both results are within the bound; else None.
        bound_fraction: after a check, teachconv's largest error, as a fraction of the proven bound on the
            error of float32 summation.
        runtime_fraction: likewise, onnxruntime's largest error.
    """

    name: str
    op_type: str
    attributes: Mapping[str, Any]
    call: ConvCall | None
    note: str = ""
    passed: bool | None = None
    bound_fraction: float | None = None
    runtime_fraction: float | None = None


@dataclass(frozen=True, eq=False, repr=False)
class OnnxModel(tables.Report):
    """The convolutions of a model.

    Attributes:
        path: the file; None for a model that was given as such.
        inputs: the input shapes that the nodes were resolved for, by name.
        nodes: the convolutions, in the file's order.
        skipped: how many convolutions are left out because they are not 2-D.
    """

    path: Path | None
    inputs: Mapping[str, tuple[int, ...]]
    nodes: tuple[OnnxNode, ...]
    skipped: int = 0
    _model: Any = field(default=None, repr=False)

    @property
    def passed(self) -> bool:
        """Whether no node failed its check; True if there was none."""
        return all(node.passed is not False for node in self.nodes)

    def run(self, feeds: Mapping[str, Any], *, backend: Any = None) -> dict[str, np.ndarray]:
        """Run the whole model, if it holds only operators that `teachconv.to_onnx` writes.

        Args:
            feeds: an array for each input, by name.
            backend: the backend of the convolutions; None for the default.

        Returns:
            The outputs, by name.

        Raises:
            ValueError, TypeError: if an operator is another one, or ``feeds`` does not fit the inputs; the
                message names it.
            MemoryError: if a result would not fit into memory.

        >>> import numpy as np, teachconv as tc
        >>> model = tc.onnx_model(tc.to_onnx(tc.conv2d, (1, 3, 3, 1), np.ones((2, 2, 1, 1), "float32")))
        >>> model.run({"input": np.eye(3, dtype="float32").reshape(1, 3, 3, 1)})["output"].ravel().tolist()
        [2.0, 1.0, 1.0, 2.0]
        """
        return run_model(self._model, feeds, backend)

    @property
    def _name(self) -> str:
        return self.path.name if self.path is not None else str(self._model.graph.name)

    _HEAD = ("node", "op", "input", "filter", "strides", "dilations", "groups", "padding", "output", "check")

    def _cells(self, node: OnnxNode) -> tuple[str, ...]:
        """Return one row of the table."""
        if node.call is None:
            return (node.name, node.op_type, *[""] * 7, node.note)
        g = node.call.geometry
        (top, bottom), (left, right) = g.padding
        check = node.note
        if node.bound_fraction is not None and node.runtime_fraction is not None:
            verdict = "pass" if node.passed else "FAIL"
            ours, theirs = map(tables.number, (node.bound_fraction, node.runtime_fraction))
            check = f"{verdict} {ours}, onnxruntime {theirs} of the bound"
        return (
            node.name,
            node.op_type,
            _times(node.call.input_shape),
            _times(node.call.filter_shape),
            _times(g.strides),
            _times(g.dilations),
            str(g.groups),
            f"{top},{bottom} {left},{right}",
            _times(node.call.output_shape),
            check,
        )

    def _headline(self) -> str:
        """Return the title of the table."""
        inputs = ", ".join(f"{name} {list(shape)}" for name, shape in self.inputs.items())
        skipped = f"; {self.skipped} of other than 2 dimensions left out" if self.skipped else ""
        macs = sum(node.call.geometry.macs for node in self.nodes if node.call is not None)
        return (
            f"{self._name}: {tables.count(len(self.nodes), 'convolution')} for {inputs}, "
            f"{tables.count(macs, 'multiply-add')}; padding top,bottom left,right{skipped}"
        )

    def _table(self) -> tables.Table:
        failed = [i for i, node in enumerate(self.nodes) if node.passed is False]
        rows = [self._cells(node) for node in self.nodes]
        return tables.Table(tables.left(*self._HEAD), rows, self._headline(), marked=failed)


def _times(sizes: Sequence[int]) -> str:
    """Return sizes as text such as "3x3"."""
    return "x".join(map(str, sizes))


def onnx_model(
    path: Any,
    inputs: Mapping[str, Sequence[int]] | None = None,
    *,
    check: bool = False,
    progress: Progress | None = None,
) -> OnnxModel:
    """Return every 2-D Conv and ConvTranspose of an ONNX file with its resolved geometry.

    Args:
        path: the file, or an ``onnx.ModelProto``.
        inputs: shapes of the model's inputs, by name. For an input that is left out, a dynamic batch is
            taken as 1, and every other dynamic size as 64.
        check: whether to run each node on its real weights, and on the activations that onnxruntime computes
            from seeded input. Both results are then compared with the result in float64, and judged by the
            error bound of float32 summation.
        progress: a function that is called after each node with (nodes done, nodes, name of the node).

    Returns:
        An `OnnxModel` with ``.nodes`` and, after a check, ``.passed``. It prints as a table.

    Raises:
        BackendUnavailable: if the package onnx is missing, or onnxruntime where it is needed.
        ValueError: if the file is no ONNX model, if onnxruntime is needed and refuses it, or if ``inputs``
            names an input that the model does not have.

    >>> import teachconv as tc
    >>> tc.onnx_model("model.onnx")                                    # doctest: +SKIP
    """
    onnx = _import("onnx")
    with _reading(path):
        given = path if isinstance(path, onnx.ModelProto) else load(onnx, path)
        model = onnx.ModelProto()
        model.CopyFrom(given)  # inputs get static shapes
        weights = _constants(onnx, model.graph)
        fed = _fix_inputs(model, weights, dict(inputs or {}))
        shapes = _shapes(onnx, model) | {name: array.shape for name, array in weights.items()}
    nodes = [node for node in model.graph.node if node.op_type in _FUNCTIONS]
    for node in nodes:
        if len(node.input) < 2 or not node.output:
            raise ArgumentError(
                f"path must be a valid model: the {node.op_type} {node.name!r} has no filter or no output"
            )
    flat = [node for node in nodes if len(shapes.get(node.input[1], (0,) * 4)) == 4]
    values: dict[str, np.ndarray] = {}
    if check or any(node.input[0] not in shapes or node.input[1] not in shapes for node in flat):
        with _reading(path, "run by onnxruntime"):
            values = _activations(onnx, model, flat, fed)
        shapes |= {name: array.shape for name, array in values.items()}
    found = []
    for number, node in enumerate(flat):
        entry = _node(onnx, node, shapes)
        if check and entry.call is not None:
            entry = _checked(entry, node, weights | values)
        found.append(entry)
        if progress is not None:
            progress(number + 1, len(flat), entry.name)
    place = None if given is path else Path(path)
    return OnnxModel(place, fed, tuple(found), len(nodes) - len(flat), given)


def input_names(path: Any) -> list[str]:
    """Return the names of an ONNX model's inputs, without its weights.

    Args:
        path: the file.

    Returns:
        The names, in the file's order.

    Raises:
        BackendUnavailable: if the package onnx is missing.
    """
    onnx = _import("onnx")
    with _reading(path):
        graph = load(onnx, path, load_external_data=False).graph
    weights = {tensor.name for tensor in graph.initializer}
    return [info.name for info in graph.input if info.name not in weights]


_LARGEST = 2**31 - 1  # bytes, protobuf's limit; larger models have their weights in files of their own


def load(onnx: Any, path: Any, **options: Any) -> Any:
    """Return the model in a file; one that is longer than any model is not read."""
    size = Path(path).stat().st_size
    if size > _LARGEST:
        raise ArgumentError(
            f"path must be an ONNX model; {path} has {size:,} bytes, and protobuf has {_LARGEST:,} at most"
        )
    if not size:  # protobuf reads an empty file as a message without fields
        raise ArgumentError(f"path must be an ONNX model; {path} is empty")
    return onnx.load(str(path), **options)


def _import(name: str) -> Any:
    """Return an optional package; raise ``BackendUnavailable`` if it is missing."""
    try:
        return __import__(name)
    except ImportError as error:
        raise BackendUnavailable(f"onnx_model needs the package {name}: pip install {name}") from error


@contextmanager
def _reading(path: Any, done: str = "read") -> Iterator[None]:
    """Turn what onnx, protobuf and onnxruntime raise of a damaged file into an error that names it."""
    try:
        yield
    except (ArgumentError, BackendUnavailable, OSError, MemoryError):
        raise
    except Exception as error:  # they do not say which types they raise
        name = path if isinstance(path, (str, Path)) else "this one"
        raise ArgumentError(f"path must be an ONNX model; {name} cannot be {done}: {error}") from error


def _constants(onnx: Any, graph: Any) -> dict[str, np.ndarray]:
    """Return the initializers, and the values of Constant nodes, by name."""
    found = {tensor.name: onnx.numpy_helper.to_array(tensor) for tensor in graph.initializer}
    for node in graph.node:
        if node.op_type == "Constant" and node.attribute and node.attribute[0].name == "value":
            found[node.output[0]] = onnx.numpy_helper.to_array(node.attribute[0].t)
    return found


def _fix_inputs(
    model: Any, weights: Mapping[str, np.ndarray], wanted: dict[str, Sequence[int]]
) -> dict[str, tuple[int, ...]]:
    """Give every input of the model a static shape; return the shapes."""
    fed = {}
    for info in model.graph.input:
        if info.name in weights:
            continue
        dims = info.type.tensor_type.shape.dim
        shape = tuple(
            dim.dim_value if dim.dim_value > 0 else (1 if axis == 0 else _UNKNOWN)
            for axis, dim in enumerate(dims)
        )
        given = tuple(wanted.pop(info.name, shape))
        if len(given) != len(shape):
            raise ArgumentError(f"inputs[{info.name!r}] must have {len(shape)} sizes; got {list(given)}")
        for dim, size in zip(dims, given, strict=True):
            dim.ClearField("dim_param")
            dim.dim_value = size
        fed[info.name] = given
    if wanted:
        raise ArgumentError(f"inputs must be named {', '.join(fed)}; got {', '.join(wanted)}")
    return fed


def _shapes(onnx: Any, model: Any) -> dict[str, tuple[int, ...]]:
    """Return the static shapes that ONNX's own shape inference finds."""
    graph = onnx.shape_inference.infer_shapes(model, data_prop=True).graph
    found = {}
    for info in (*graph.value_info, *graph.input, *graph.output):
        dims = [dim.dim_value for dim in info.type.tensor_type.shape.dim]
        if dims and min(dims) > 0:
            found[info.name] = tuple(dims)
    return found


def _activations(
    onnx: Any, model: Any, nodes: Sequence[Any], fed: Mapping[str, tuple[int, ...]]
) -> dict[str, np.ndarray]:
    """Return what onnxruntime computes for the nodes' inputs and outputs, from seeded input."""
    runtime = _import("onnxruntime")
    known = {info.name for info in model.graph.output}
    wanted = dict.fromkeys(name for node in nodes for name in (*node.input[:2], node.output[0]))
    constant = {tensor.name for tensor in model.graph.initializer}
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    for name in wanted:
        if name not in known | constant | set(fed):
            copy.graph.output.append(onnx.ValueInfoProto(name=name))
    options = runtime.SessionOptions()
    # without fusion, because a fused node has no output of its own
    options.graph_optimization_level = runtime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 3
    session = runtime.InferenceSession(copy.SerializeToString(), options, providers=["CPUExecutionProvider"])
    feeds = {name: make_array(shape, "float32", "normal", f"onnx {name}") for name, shape in fed.items()}
    names = [output.name for output in session.get_outputs()]
    return {**feeds, **dict(zip(names, session.run(names, feeds), strict=True))}


def _node(onnx: Any, node: Any, shapes: Mapping[str, tuple[int, ...]]) -> OnnxNode:
    """Return one node, resolved if its shapes are known."""
    attributes = {item.name: onnx.helper.get_attribute_value(item) for item in node.attribute}
    attributes = {
        name: value.decode() if isinstance(value, bytes) else value for name, value in attributes.items()
    }
    name = node.name or node.output[0]
    if isinstance(name, bytes):  # protobuf returns text that is no UTF-8 as bytes
        name = name.decode(errors="replace")
    missing = [part for part in node.input if part and part not in shapes]
    if missing:
        note = f"the shape of {', '.join(missing)} is not known"
        return OnnxNode(name, node.op_type, attributes, None, note)
    operands = [shapes[part] if part else None for part in node.input]
    try:
        call = resolve(_FUNCTIONS[node.op_type], *operands, **attributes)
    except (ValueError, TypeError) as error:
        return OnnxNode(name, node.op_type, attributes, None, f"refused: {error}")
    return OnnxNode(name, node.op_type, attributes, call)


def _checked(entry: OnnxNode, node: Any, values: Mapping[str, np.ndarray]) -> OnnxNode:
    """Return the node with teachconv's and onnxruntime's float32 results compared with the float64 result."""
    arrays = [values[part] if part else None for part in node.input]
    function, attributes = _FUNCTIONS[node.op_type], dict(entry.attributes)
    call, _ = nn_ops.call_of(function, tuple(arrays), attributes)
    wide, _ = nn_ops.call_of(
        function, tuple(None if array is None else array.astype(np.float64) for array in arrays), attributes
    )
    want = dispatch.run_canonical(wide).astype(call.first.dtype)
    sums = abs_sum(call)
    # the float64 result has an error too, which is added to the bound of the float32 sums
    allowed = bounds.direct(sums, call.terms, call.first.dtype) + bounds.direct(sums, call.terms, "float64")
    verdicts = [
        bounds.judge(call.from_caller(result), want, allowed, sums)
        for result in (dispatch.run(call), values[node.output[0]])
    ]
    ours, theirs = (float(verdict.fraction.max(initial=0.0)) for verdict in verdicts)
    passed = all(verdict.passed for verdict in verdicts)
    return replace(entry, passed=passed, bound_fraction=ours, runtime_fraction=theirs)
