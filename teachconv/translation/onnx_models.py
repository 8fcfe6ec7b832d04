"""Lists the convolutions of an ONNX file, with the geometry of every Conv and ConvTranspose.

Each of these can be compared with what onnxruntime computes for it. What `teachconv.to_onnx` writes can also
be run as a whole (`onnx_run`). The package onnx is needed. The comparison, and models whose shapes cannot be
inferred, also need onnxruntime.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, field, replace
from importlib import import_module
from math import inf, prod
from pathlib import Path
from typing import Any

import numpy as np

from ..core.arguments import integer, truth
from ..data.seeded import make_array
from ..dialects import onnx as dialect
from ..dialects.calls import ConvCall
from ..running import dispatch, nn_ops
from ..support import tables
from ..support.errors import ArgumentError, ArgumentTypeError, BackendUnavailable, brief, plain
from ..support.files import path_of, reading
from ..verification.diffing import WideTruth
from .onnx_quantized import PLACES, QuantizedConv, constants, fused, quantized
from .onnx_run import run_model
from .translating import resolve

_UNKNOWN = 64  # the size assumed for a dynamic axis other than the batch, unless `inputs` gives it
_FUNCTIONS = {
    "Conv": dialect.conv,
    "ConvTranspose": dialect.conv_transpose,
    **dict.fromkeys(PLACES, dialect.conv),  # of integers
}
_OWN_DOMAINS = ("", "ai.onnx")

Progress = Callable[[int, int, str], None]
Call = tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]  # a function, and its arguments


@dataclass(frozen=True, eq=False)
class OnnxNode:
    """One convolution, with its attributes and what they resolve to.

    Attributes:
        name: the node's name, or that of its output.
        op_type: "Conv" or "ConvTranspose"; or another operator, such as "QLinearConv", with its domain if
            that is not ONNX's own, such as "com.microsoft.nchwc.Conv".
        attributes: the node's attributes.
        call: the resolved call; None if the operator is another one, the shapes are unknown, or the node is
            refused.
        note: why ``call`` is None; in which graph inside the model's the node is; or "".
        passed: after a check, whether both results are within the bound; None if the node was not checked.
        bound_fraction: after a check, teachconv's largest error, as a fraction of the proven bound on the
            error of a direct sum.
        runtime_fraction: likewise, onnxruntime's largest error.
        quantized: of ConvInteger and QLinearConv, what computes and explains them; else None. A Conv between
            DequantizeLinear and QuantizeLinear is listed as the QLinearConv that the three are.
    """

    name: str
    op_type: str
    attributes: Mapping[str, Any]
    call: ConvCall | None
    note: str = ""
    passed: bool | None = None
    bound_fraction: float | None = None
    runtime_fraction: float | None = None
    quantized: QuantizedConv | None = None


def call_of_node(node: Any) -> Call | None:
    """Return the call of a node for `translate`, with shapes for arrays; None for anything else."""
    if not isinstance(node, OnnxNode):
        return None
    if (call := node.call) is None or node.op_type in PLACES:
        why = node.note or f"{node.op_type} sums integers"
        raise ArgumentError(f"function must be a node with a call of floats; of {brief(node.name)}: {why}")
    bias = [(call.output_shape[call.output_layout.index("C")],)] * call.bias
    return _FUNCTIONS[node.op_type], (call.input_shape, call.filter_shape, *bias), dict(node.attributes)


@dataclass(frozen=True, eq=False, repr=False)
class OnnxModel(tables.Report):
    """The convolutions of a model.

    Attributes:
        path: the file; None for a model given as an object.
        inputs: the input shapes that the nodes were resolved for, by name.
        nodes: the convolutions, in the file's order, those of local functions where these are called.
        skipped: how many convolutions are left out because they are not over one, two or three axes.
    """

    path: Path | None
    inputs: Mapping[str, tuple[int, ...]]
    nodes: tuple[OnnxNode, ...]
    skipped: int = 0
    _model: Any = field(default=None, repr=False)
    _asked: bool = field(default=False, repr=False)

    @property
    def passed(self) -> bool | None:
        """Whether every convolution was checked and is within its bound; None if one was not, and none fails.

        A check compares the file with onnxruntime, not with the network from which it was exported.
        """
        return tables.verdict([*(node.passed for node in self.nodes), *[None] * self.skipped])

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
            " ".join(f"{before},{after}" for before, after in g.padding),
            _times(node.call.output_shape),
            check,
        )

    def _headline(self) -> str:
        """Return the title of the table."""
        inputs = ", ".join(f"{name} {list(shape)}" for name, shape in self.inputs.items())
        skipped = f"; {self.skipped} over more than 3 axes left out" if self.skipped else ""
        macs = sum(node.call.geometry.macs for node in self.nodes if node.call is not None)
        return (
            f"{self._verdict}{self._name}: {tables.count(len(self.nodes), 'convolution')} for {inputs}, "
            f"{tables.count(macs, 'multiply-add')}; padding before,after of each axis{skipped}"
        )

    @property
    def _verdict(self) -> str:
        """The first words after a check: what failed, and what was not checked."""
        if not self._asked:
            return ""
        found = [node.passed for node in self.nodes] + [None] * self.skipped
        return f"{tables.verdict_text(found, 'NOT checked') if found else 'nothing to check'}: "

    def _table(self) -> tables.Table:
        failed = [i for i, node in enumerate(self.nodes) if node.passed is False]
        rows = [self._cells(node) for node in self.nodes]
        notes = [
            "compared: teachconv and onnxruntime on this file, not the file and the network that it came from"
        ]
        return tables.Table(
            tables.left(*self._HEAD), rows, self._headline(), notes=notes * self._asked, marked=failed
        )


def _times(sizes: Sequence[int]) -> str:
    """Return sizes as text such as "3x3"."""
    return "x".join(map(str, sizes))


def onnx_model(
    path: Any,
    inputs: Mapping[str, Any] | None = None,
    *,
    check: bool = False,
    progress: Progress | None = None,
) -> OnnxModel:
    """Return the convolutions of an ONNX file, every Conv and ConvTranspose with its resolved geometry.

    They may be over one, two (rows and columns) or three axes.

    Args:
        path: the file, or an ``onnx.ModelProto``.
        inputs: by name, shapes of the model's inputs, or NumPy arrays to feed. For an input that is left out,
            a dynamic batch is taken as 1, and every other dynamic size as 64. Where no array is given, an
            input is fed seeded numbers of its dtype: normal floats, any bytes, and 0 and 1 of other integers.
        check: whether to run each node on its real weights, and on the activations that onnxruntime computes
            from the inputs. Both results are then compared with the result in float64, and judged by the
            error bound of a direct sum; those of ConvInteger and QLinearConv must be equal. Other operators,
            and nodes in the branches of an If or the body of a Loop, are listed with the reason why they are
            not checked. That the file is the network it was exported from is not checked either.
        progress: a function that is called after each node with (nodes done, nodes, name of the node).

    Returns:
        An `OnnxModel` with ``.nodes`` and, after a check, ``.passed``: None if a convolution was not checked.
        It prints as a table.

    Raises:
        BackendUnavailable: if the package onnx is missing, or onnxruntime where it is needed.
        ValueError, TypeError: if the file is not an ONNX model, if onnxruntime is needed and cannot run it,
            or if ``inputs`` names an input that the model does not have, or an array does not fit its input.

    >>> import teachconv as tc
    >>> tc.onnx_model("model.onnx")                                    # doctest: +SKIP
    """
    onnx = _import("onnx")
    if not isinstance(inputs, Mapping | None):
        raise ArgumentTypeError(
            f"inputs must be shapes or arrays by the names of inputs; got {brief(inputs)}"
        )
    if progress is not None and not callable(progress):
        raise ArgumentTypeError(f"progress must be a function; got {brief(progress)}")
    check = truth(check, "check")
    wanted = dict(inputs or {})
    given = load(onnx, path)
    with reading(path, "an ONNX model"):
        model = deepcopy(given)  # inputs get static shapes
        if model.functions:
            model = import_module("onnx.inliner").inline_local_functions(model)
        model = fused(model)
        fed = _fix_inputs(model, {tensor.name for tensor in model.graph.initializer}, dict(wanted))
        inferred = onnx.shape_inference.infer_shapes(model, data_prop=True).graph
        nodes = list(_convolutions(onnx, inferred, {}, ""))
    for node, _, _ in nodes:
        if _operator(node) in _FUNCTIONS and (len(_operands(node)) < 2 or not node.output):
            raise ArgumentError(
                f"path must be a valid model: the {node.op_type} {brief(node.name)} has no filter or no "
                "output"
            )
    read = [one for one in nodes if _operator(one[0]) not in _FUNCTIONS or _is_read(*one[:2])]
    # those that can be run by themselves: of a graph inside the model's, no activation can be had
    free = [one for one in read if _operator(one[0]) in _FUNCTIONS and not one[2]]
    values: dict[str, np.ndarray] = {}
    if free and (check or any(name not in seen for node, seen, _ in free for name in _operands(node)[:2])):
        with reading(path, "an ONNX model"):
            _check_runnable(onnx, model)
        feeds = _feeds(onnx, model, fed, wanted)
        with _fed(path, feeds):
            values = _activations(onnx, model, [node for node, _, _ in free], feeds)
    values = {**constants(model.graph), **values}
    found = []
    for number, (node, seen, place) in enumerate(read):
        computed = {} if place else values
        shapes = {name: array.shape for name, array in computed.items()}
        with reading(path, "an ONNX model"):
            entry = _node(onnx, node, {**seen, **shapes}, computed, place)
            if check and entry.call is not None and not place:
                entry = _checked(entry, node, values)
        found.append(entry)
        if progress is not None:
            progress(number + 1, len(read), entry.name)
    at = None if given is path else Path(path)
    return OnnxModel(at, fed, tuple(found), len(nodes) - len(read), given, check)


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
    graph = load(onnx, path, load_external_data=False).graph
    weights = {tensor.name for tensor in graph.initializer}
    return [info.name for info in graph.input if info.name not in weights]


_EXPANDED = 20_000  # nodes that the functions of a model may add


def load(onnx: Any, path: Any, **options: Any) -> Any:
    """Return the model in a file, or a model, if its functions do not expand to more than any network has."""
    with reading(path, "an ONNX model"):
        model = path if isinstance(path, onnx.ModelProto) else onnx.load(str(path_of(path)), **options)
        graph = model.graph
        names = [each.name for each in (*graph.node, *graph.initializer, *graph.input, *graph.output)]
        names += (
            name for node in graph.node for name in (node.op_type, node.domain, *node.input, *node.output)
        )
        for name in names:
            if isinstance(name, bytes):  # as protobuf returns it
                raise ArgumentError(f"path must be a model whose names are UTF-8; one is {brief(name)}")
        if (nodes := _expanded(model)) > _EXPANDED + len(graph.node):
            much = "to infinitely many" if nodes == inf else f"to {nodes:,.0f}"
            raise ArgumentError(
                f"path must be a model whose functions add at most {_EXPANDED:,} nodes; those of "
                f"{brief(graph.name)} expand {much}"
            )
    return model


def _expanded(model: Any) -> float:
    """Return how many nodes a model has when every call of a function is replaced by its nodes."""
    bodies = {(function.domain, function.name): function.node for function in model.functions}
    sizes: dict[tuple[str, str], float] = {}

    def size(nodes: Any) -> float:
        total = 0.0
        for node in nodes:
            key = node.domain, node.op_type
            if key in bodies and key not in sizes:
                sizes[key] = inf  # what it is if it calls itself
                sizes[key] = size(bodies[key])
            total += sizes.get(key, 1) + sum(
                size(body.node) for item in node.attribute for body in _bodies(item)
            )
        return total

    return size(model.graph.node)


def _bodies(attribute: Any) -> list[Any]:
    """Return the graphs in an attribute of a node, such as a branch of an If."""
    return [*attribute.graphs, *[attribute.g] * attribute.HasField("g")]


def _import(name: str) -> Any:
    """Return an optional package; raise ``BackendUnavailable`` if it is missing."""
    try:
        return __import__(name)
    except ImportError as error:
        raise BackendUnavailable(f"onnx_model needs the package {name}: pip install {name}") from error


@contextmanager
def _fed(path: Any, feeds: Mapping[str, np.ndarray]) -> Iterator[None]:
    """Turn exceptions of onnxruntime about feeds into our errors."""
    try:
        yield
    except (BackendUnavailable, MemoryError):
        raise
    except Exception as error:  # onnxruntime does not say which types it raises
        name = plain(path) if isinstance(path, (str, Path)) else "this one"
        fed = ", ".join(f"{key} {array.dtype} {list(array.shape)}" for key, array in feeds.items())
        raise ArgumentError(
            f"onnxruntime cannot run {name} on {fed}; inputs={{name: array}} feeds other arrays. "
            f"It says: {plain(error)}"
        ) from error


def _fix_inputs(model: Any, weights: Collection[str], wanted: dict[str, Any]) -> dict[str, tuple[int, ...]]:
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
        value = wanted.pop(info.name, shape)
        what = f"inputs[{brief(info.name)}]"
        given = value.shape if isinstance(value, np.ndarray) else value
        if not isinstance(given, (list, tuple)) or len(given) != len(shape):
            raise ArgumentError(f"{what} must have {len(shape)} sizes; got {brief(given)}")
        given = tuple(integer(size, what) for size in given)
        for dim, size in zip(dims, given, strict=True):
            dim.ClearField("dim_param")
            dim.dim_value = size
        fed[info.name] = given
    if wanted:
        raise ArgumentError(f"inputs must be named {', '.join(fed)}; got {brief(list(wanted))}")
    return fed


def _feeds(
    onnx: Any, model: Any, fed: Mapping[str, tuple[int, ...]], wanted: Mapping[str, Any]
) -> dict[str, np.ndarray]:
    """Return an array for each input, of its dtype: what was given, else seeded numbers."""
    feeds = {}
    for info in model.graph.input:
        if info.name not in fed:
            continue
        kind = info.type.tensor_type.elem_type
        if not kind:
            raise ArgumentError(
                f"inputs[{brief(info.name)}] is not a tensor, and onnxruntime is fed tensors here"
            )
        dtype, array = onnx.helper.tensor_dtype_to_np_dtype(kind), wanted.get(info.name)
        if not isinstance(array, np.ndarray):
            array = _seeded(info.name, fed[info.name], dtype)
        if array.dtype != dtype:
            raise ArgumentTypeError(f"inputs[{brief(info.name)}] must have dtype {dtype}; got {array.dtype}")
        feeds[info.name] = array
    return feeds


def _seeded(name: str, shape: tuple[int, ...], dtype: np.dtype[Any]) -> np.ndarray:
    """Return plausible values for an input of this dtype: an image's bytes, indices valid in every table."""
    size, seed = (prod(shape),), f"onnx {name}"
    if dtype.kind == "f":
        return make_array(size, dtype, "normal", seed).reshape(shape)
    if dtype.kind not in "biu":
        raise ArgumentError(
            f"inputs[{brief(name)}] has dtype {dtype}, for which no numbers are made up: give an array"
        )
    numbers = make_array(size, "int32", "normal", seed)
    return (numbers % (256 if dtype in ("int8", "uint8") else 2)).astype(dtype).reshape(shape)


def _operator(node: Any) -> str:
    """Return a node's operator, with its domain if that is not ONNX's own."""
    return str(node.op_type if node.domain in _OWN_DOMAINS else f"{node.domain}.{node.op_type}")


def _operands(node: Any) -> list[str]:
    """Return the names of a convolution's input, filters and bias."""
    return [node.input[at] for at in PLACES.get(node.op_type, (0, 1, 2)) if at < len(node.input)]


def _is_read(node: Any, shapes: Mapping[str, tuple[int, ...]]) -> bool:
    """Return whether a Conv or ConvTranspose is over one to three axes, as far as is known."""
    return len(shapes.get(_operands(node)[1], (0,) * 4)) in (3, 4, 5)


def _convolutions(
    onnx: Any, graph: Any, outer: Mapping[str, tuple[int, ...]], place: str
) -> Iterator[tuple[Any, dict[str, tuple[int, ...]], str]]:
    """Yield the convolutions of a graph, and of those inside it, such as the branches of an If.

    Args:
        onnx: the package.
        graph: a graph with the shapes that ONNX's own shape inference finds.
        outer: the shapes that are known outside of it.
        place: where it is; "" for the model's own.

    Yields:
        The node, the shapes that are known where it is, and its place.
    """
    shapes = {**outer, **{name: array.shape for name, array in constants(graph).items()}}
    for info in (*graph.value_info, *graph.input, *graph.output):
        dims = [dim.dim_value for dim in info.type.tensor_type.shape.dim]
        if dims and min(dims) > 0:
            shapes[info.name] = tuple(dims)
    for node in graph.node:
        if "Conv" in node.op_type and "Convert" not in node.op_type:
            yield node, shapes, place
        for item in node.attribute:
            for body in _bodies(item):
                inside = f"in {item.name} of {_operator(node)} {_text(node.name)!r}"
                yield from _convolutions(onnx, body, shapes, f"{inside} {place}".rstrip())


def _check_runnable(onnx: Any, model: Any) -> None:
    """Raise if onnxruntime is missing; if the model is damaged, raise that error instead."""
    try:
        _import("onnxruntime")
    except BackendUnavailable:
        copy = deepcopy(model)
        del copy.graph.output[:]  # a missing shape does no harm here
        onnx.checker.check_model(copy, full_check=True)
        raise


def _activations(
    onnx: Any, model: Any, nodes: Sequence[Any], feeds: Mapping[str, np.ndarray]
) -> dict[str, np.ndarray]:
    """Return what onnxruntime computes for the nodes' inputs and outputs."""
    runtime = _import("onnxruntime")
    known = {info.name for info in model.graph.output}
    wanted = dict.fromkeys(name for node in nodes for name in (*node.input, node.output[0]))
    constant = {"", *(tensor.name for tensor in model.graph.initializer)}
    copy = deepcopy(model)
    for name in wanted:
        if name not in known | constant | set(feeds):
            copy.graph.output.append(onnx.ValueInfoProto(name=name))
    options = runtime.SessionOptions()
    # without fusion, because a fused node has no output of its own
    options.graph_optimization_level = runtime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 3
    session = runtime.InferenceSession(copy.SerializeToString(), options, providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    return {**feeds, **dict(zip(names, session.run(names, dict(feeds)), strict=True))}


def _text(name: Any) -> str:
    """Return a name of the file; protobuf returns text that is not UTF-8 as bytes."""
    return name.decode(errors="replace") if isinstance(name, bytes) else str(name)


def _node(
    onnx: Any, node: Any, shapes: Mapping[str, tuple[int, ...]], values: Mapping[str, np.ndarray], place: str
) -> OnnxNode:
    """Return one node, resolved if its operator is one of ours and its shapes are known."""
    attributes = {item.name: onnx.helper.get_attribute_value(item) for item in node.attribute}
    attributes = {
        name: _text(value) if isinstance(value, bytes) else value for name, value in attributes.items()
    }
    name, op_type = _text(node.name or next(iter(node.output), "")), _operator(node)
    if op_type not in _FUNCTIONS:
        note = f"{op_type} is not read here {place}".rstrip()
        return OnnxNode(name, op_type, attributes, None, note)
    names, made = _operands(node), None
    missing = [part for part in names if part and part not in shapes]
    if missing:
        note = f"the shape of {', '.join(missing)} is not known"
        return OnnxNode(name, op_type, attributes, None, note)
    operands = [shapes[part] if part else None for part in names]
    try:
        call = resolve(_FUNCTIONS[op_type], *operands, **attributes)
        if op_type in PLACES and all(part in values for part in node.input[1:] if part):
            made = quantized(op_type, [values.get(part) for part in node.input], attributes)
    except (ValueError, TypeError) as error:
        return OnnxNode(name, op_type, attributes, None, f"refused: {error}")
    return OnnxNode(name, op_type, attributes, call, place, quantized=made)


def _checked(entry: OnnxNode, node: Any, values: Mapping[str, np.ndarray]) -> OnnxNode:
    """Return the node with teachconv's and onnxruntime's results compared with the float64 result."""
    arrays: list[Any] = [values[part] if part else None for part in node.input]
    found = values[node.output[0]]
    if (conv := entry.quantized) is not None:
        passed = bool(found.dtype == conv.dtype and np.array_equal(conv(arrays[0]), found))
        return replace(entry, passed=passed, bound_fraction=0.0, runtime_fraction=0.0 if passed else np.inf)
    call, _ = nn_ops.call_of(_FUNCTIONS[node.op_type], tuple(arrays), dict(entry.attributes))
    truth = WideTruth(call)
    ours, theirs = (truth.row("", "", result) for result in (dispatch.run(call), found))
    passed, ends = bool(ours.passed and theirs.passed), (ours.bound_fraction, theirs.bound_fraction)
    return replace(entry, passed=passed, bound_fraction=ends[0], runtime_fraction=ends[1])
