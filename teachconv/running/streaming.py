"""Streams: convolutions whose input comes in chunks; results equal those of the whole call, bit for bit.

A stream keeps the end of what it was given: the inputs that later outputs read. `slabs.axis_slab` says which
these are; its inverse, `slabs.axis_due`, says how many outputs a chunk completes. Each part of the
result is a call of its own; an algorithm whose bits are independent of the input's length gives it the bits
that it has in the whole. The chunks of dask arrays are computed by the same rules.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache, partial, reduce
from math import lcm
from types import ModuleType
from typing import Any

import numpy as np

from .. import backends
from ..core.arguments import (
    Pair,
    as_array,
    check_alike,
    check_data_format,
    grouped_shape,
    integer,
    listed,
    normalize_shape,
    shape_only,
)
from ..core.geometry import ConvGeometry, conv_geometry, conv_transpose_geometry
from ..core.kinds import AXES, OPS, Kind, layout_of
from ..core.law import AxisGeometry
from ..core.slabs import axis_due, axis_slab
from ..support.devices import adapter_of, check_same_place
from ..support.errors import ArgumentError, ArgumentTypeError, brief, check_word, is_one_of
from ..support.tables import count, size
from . import dispatch, nn_ops
from .default_backend import default_algorithm
from .planning import Plan

_FAR = 2**32  # stands for an input without an end: longer than any filter, stride and padding
_STREAMED = [function for op, function in nn_ops.FUNCTIONS.items() if not op.is_gradient]


def stream(
    op: Any, filters: Any = None, *, axis: str | None = None, length: int | None = None, **kwargs: Any
) -> Stream:
    """Return a stream of a convolution, or of a stack of layers, whose input comes in chunks.

    ``push`` returns the outputs that can be computed, ``flush`` the rest. Together they are, bit for bit,
    the result of the whole call with ``algorithm=stream.algorithm`` (except the sign and payload of a NaN),
    whatever the sizes of the chunks.

    Args:
        op: conv1d, conv2d, conv3d, depthwise_conv2d, convolution or the transpose of one; or a list of
            layers, each of which gets the output of the one before it. A layer is ``(op, filters)`` or
            ``(op, filters, {argument: value})``; an element-wise function, which is called with arrays; or
            ``(function, [branch], [branch], ...)``, an element-wise function of several lists of layers for
            the same input, where ``[]`` is the input itself, so that ``(numpy.add, layers, [])`` is a
            residual connection.
        filters: the filters of a single op. Do not change them while the stream is in use.
        axis: "depth", "rows" or "cols": the spatial axis along which the chunks follow each other; None for
            the first one.
        length: the whole input's length on this axis. SAME at a stride above 1 needs it, because its padding
            depends on it, and so does ``output_shape``. Within a stack it is an argument of a layer.
        **kwargs: the op's other arguments, backend, algorithm and precision too; those of every layer in a
            stack that does not say otherwise.

    Returns:
        A `Stream`.

    Raises:
        ValueError, TypeError: if the arguments are invalid, or the backend has no algorithm whose bits are
            independent of the length; the message says which have.

    >>> import numpy as np, teachconv as tc
    >>> mean = tc.stream(tc.conv1d, np.float32([1, 1, 1]).reshape(3, 1, 1) / 3, padding="SAME")
    >>> for chunk in ([3, 6], [9], [12, 15, 18]):
    ...     print(mean.push(np.float32(chunk).reshape(1, -1, 1)).ravel().tolist())
    [3.0]
    [6.0]
    [9.0, 12.0, 15.0]
    >>> mean
    <stream: lookahead 1, chunk_step 1, 8 B kept>
      conv1d, algorithm row_gemm: 6 inputs, 5 outputs; kept cols 4 to 5
    >>> mean.flush().ravel().tolist()
    [11.0]
    """
    options = {"axis": axis, "length": length, **kwargs}
    if not isinstance(op, list):
        return Stream([_Layer(op, filters, **options)])
    if filters is not None or length is not None:
        raise ArgumentTypeError(
            "filters and length are arguments of a layer, if op is a list: (op, filters, {'length': length})"
        )
    try:
        made = Stream([_node(entry, options) for entry in op])
    except RecursionError:
        raise ArgumentError(
            "op must be a list of layers that does not contain itself and is not nested too deeply"
        ) from None
    axes = {layer.axis for layer in made._layers}
    if not axes:
        raise ArgumentError(f"op must have a convolution among its layers; got {brief(op)}")
    if len(axes) != 1:
        raise ArgumentError(
            f"layers must have one axis in common that is streamed; got the axes {sorted(axes)}"
        )
    return made


def steady_algorithm(
    name: str,
    module: ModuleType,
    kind: Kind,
    filters: np.ndarray,
    geometry: ConvGeometry,
    named: Any,
    precision: Any,
    *,
    padded: bool,
) -> str | None:
    """Return the algorithm with which each part of a result has the same bits as in the whole, or None.

    It is the backend's last one whose bits are independent of the image's extent. The last is the fastest:
    algorithms are a ladder.

    Args:
        name: the backend's name, for messages.
        module: the backend.
        kind: what is computed.
        filters: the filters; of a filter gradient, for which there is none, any array.
        geometry: that of the whole, or of a part.
        named: the algorithm that was asked for; None or "auto" for any.
        precision: the precision that was asked for, or None.
        padded: whether the whole has padding. Kernels that multiply padding by zeros give way to others if a
            filter is not finite, and a part inside the image has no padding by which to notice.

    Raises:
        ValueError, TypeError: if the backend does not have the algorithm for this kind and dtype.
    """
    named = default_algorithm(name) if named is None else named
    asked = dispatch.check_algorithm(name, module, kind, filters.dtype, named, precision)
    steady = [
        one
        for one in module.ALGORITHMS
        if one.independent_of_extent
        and not kind.sums_images
        and one.fits(kind, filters.dtype.name, geometry)
        and (precision != "strict" or one.precision == "strict")
        # vectors of channels side by side do not pay with one channel in all, which is a group of its own too
        and (one == asked or asked is None and (geometry.groups > 1 or one.name != "depthwise"))
    ]
    if not steady:
        return None
    usual, other = steady[-1].name, steady[-1].gives_way_to
    gives_way = other and (padded or kind.scatters) and not np.isfinite(filters).all()
    return other if gives_way else usual


class Stream:
    """Layers whose input comes in chunks, created by `stream`; printing it shows what it keeps.

    Attributes:
        rate: how many outputs there are for each input, as a fraction.
        chunk_step: chunks of this size, or of a multiple, waste nothing: every layer is given whole strides,
            so no input waits for the next chunk, and all pushes but the first run the same prepared calls.
    """

    def __init__(self, nodes: Sequence[_Layer | _Combined]) -> None:
        self._nodes, self.rate, steps = nodes, Fraction(1), [1]
        for node in nodes:
            steps.append((self.rate / node.chunk_step).denominator)
            self.rate *= node.rate
        self.chunk_step = lcm(*steps)
        self._layers = [layer for node in nodes for layer in node.layers]
        self._open = True
        self._like: Callable[[Any], Any] | None = None  # makes a result the kind of array that was pushed

    def push(self, chunk: Any) -> Any:
        """Return the new outputs: those that the inputs so far determine and that were not returned before.

        Args:
            chunk: the next inputs: an array like the op's input, of any length along the axis, 0 too.

        Returns:
            An array like the op's result and of the kind of ``chunk``; its length is 0 if no output is ready.

        Raises:
            ValueError, TypeError: if the chunk does not go with the filters or with the chunks before it. An
                error behind the first layer, such as one of a function, ends the stream.
        """
        self._check_open()
        x, before = as_array(chunk, "chunk", None), [layer.received for layer in self._layers]
        try:
            result = self._push(x, self._layers[0].axis)
        except BaseException:
            # if it has come to some layers and not to others, they no longer fit together
            self._open = before == [layer.received for layer in self._layers]
            raise
        adapter, empty = adapter_of(chunk), x[:0].copy()  # which stands for the chunk: that is not kept
        back = adapter and partial(adapter.from_array, like=adapter.from_array(empty, chunk))
        self._like = back or np.asarray
        return self._like(result)

    def flush(self) -> Any:
        """Return the remaining outputs, which depend on where the input ends, and end the stream.

        Returns:
            As `push`; behind all that `push` returned, it completes the result.

        Raises:
            ValueError: if nothing was pushed, or if the whole input does not have the announced length or is
                too short for the op.
        """
        self._check_open()
        if self._like is None:
            raise ArgumentError("call push before flush, even an empty one: it sets the shape")
        self._open = False
        return self._like(self._flush(self._layers[0].axis))

    @property
    def algorithm(self) -> Any:
        """The algorithm with which the whole call has the same bits; a tuple if there are several layers.

        How many groups there are is known from the first chunk on, and may change it.
        """
        names = tuple(layer.algorithm for layer in self._layers)
        return names if len(names) > 1 else names[0]

    @property
    def state_nbytes(self) -> int:
        """How many bytes are kept: inputs that later outputs read, outputs that wait for other branches."""
        return sum(node.nbytes for node in self._nodes)

    @property
    def lookahead(self) -> int:
        """How many later inputs an output waits for, counted from its own position, index / ``rate``."""
        start = received = self.chunk_step * _FAR
        lags = []
        while received < start + self.chunk_step:
            due = self._due(received)  # the number of the next output: which input completes it?
            received += bisect_right(range(received, received + self.chunk_step + 1), due, key=self._due)
            lags.append(received - 1 - due * self.rate.denominator // self.rate.numerator)
        return max(lags)

    def __repr__(self) -> str:
        waits = f"lookahead {self.lookahead}, chunk_step {self.chunk_step}, {size(self.state_nbytes)} kept"
        return "\n  ".join([f"<stream: {waits}>", *map(str, self._layers)])

    def _check_open(self) -> None:
        if not self._open:
            raise ArgumentError("this stream has ended, by flush or by an error in a push: make a new one")

    def _push(self, x: np.ndarray, axis: int) -> np.ndarray:
        return reduce(lambda y, node: node.push(y, axis), self._nodes, x)

    def _flush(self, axis: int) -> np.ndarray | None:
        """Return the outputs that are left; None if there are no layers."""
        rest = None
        for node in self._nodes:
            more: list[np.ndarray] = [] if rest is None else [node.push(rest, axis)]
            rest = np.concatenate([*more, node.flush(axis)], axis)
        return rest

    def _due(self, received: int) -> int:
        return reduce(lambda count, node: node.due(count), self._nodes, received)


class _Layer:
    """One op of a stream.

    Attributes:
        algorithm: the algorithm with which the whole call has the same bits.
        axis: the axis of its arrays along which chunks follow each other.
        received: how many inputs there were.
        rate, chunk_step: as those of a stream.
        layers: itself.
    """

    def __init__(
        self,
        op: Any,
        filters: Any,
        *,
        axis: str | None = None,
        length: int | None = None,
        backend: Any = None,
        algorithm: str | None = None,
        precision: Any = None,
        **words: Any,
    ) -> None:
        if not is_one_of(op, _STREAMED):
            why = ""
            if is_one_of(op, nn_ops.FUNCTIONS.values()):
                why = ": a filter gradient sums over the input, and an input gradient is the transposed op"
            raise ArgumentTypeError(
                f"op must be a list of layers or one of {nn_ops.listed(_STREAMED)}; got {brief(op)}{why}"
            )
        nn_ops.refuse(words, "stream", out="push returns a new array")
        self._function, self._op, self._words, self._length = op, OPS[op.__name__], words, length
        if length is not None and not 0 <= integer(length, "length") <= _FAR:
            raise ArgumentError(f"length must be from 0 to {_FAR}, or None; got {brief(length)}")
        rank = self._op.rank
        self._filters = w = as_array(filters, "filters", (3, 4, 5) if rank is None else rank + 2)
        nn_ops.bind(op, (None, w), words, stream)
        rank = w.ndim - 2
        self._layout = check_data_format(words.get("data_format") or layout_of("input", rank), rank)
        self._name = AXES[-rank] if axis is None else axis
        check_word(self._name, "axis", AXES[-rank:])
        self._number = AXES[-rank:].index(self._name)
        self.axis = self._layout.index("DHW"[-rank:][self._number])
        geometry = self._geometry_of(_FAR if length is None else length)
        self._along: AxisGeometry = geometry.axes[self._number]
        stride = self._along.stride
        self._check_length(stride)
        up_or_down = (Fraction(stride), 1) if self._op.transposed else (Fraction(1, stride), stride)
        self.rate, self.chunk_step = up_or_down
        self._backend, self._asked, self._precision = backend, algorithm, precision
        self.algorithm = self._chosen(geometry)
        self.layers: list[_Layer] = [self]
        self._call: Any = None  # that of an input without an end, once there is a chunk
        self._plan_of = lru_cache(maxsize=8)(self._new_plan)  # chunks of one size need three
        self.received = self._given = self._start = 0  # inputs, outputs, the first input that is kept
        self._kept = np.empty(0)

    @property
    def nbytes(self) -> int:
        return self._kept.nbytes

    def __str__(self) -> str:
        kept = f"{self._name} {self._start} to {self.received - 1}" if self.nbytes else "nothing"
        inputs, outputs = count(self.received, "input"), count(self._given, "output")
        return f"{self._op}, algorithm {self.algorithm}: {inputs}, {outputs}; kept {kept}"

    def push(self, x: np.ndarray, axis: int) -> np.ndarray:
        """Return the outputs that can be computed after a chunk."""
        check_same_place(as_array(x, "chunk", self._filters.ndim), "chunk", self._filters, "filters")
        if self._call is None:
            self._begin(x)
        self._check(x)
        self._kept = np.concatenate([self._kept, x], axis)
        self.received += x.shape[axis]
        return self._advance(self._along, self.due(self.received))

    def flush(self, axis: int) -> np.ndarray:
        """Return the outputs that are left."""
        if self._length not in (None, self.received):
            raise ArgumentError(f"length is {self._length}, and {self.received} were pushed before flush")
        whole = self._geometry_of(self.received).axes[self._number]  # raises if the input is too short
        rest = self._advance(whole, whole.size_of(self._op.kind.result))
        self._kept = np.empty(0)
        return rest

    def due(self, received: int) -> int:
        """Return how many outputs the first inputs decide."""
        return axis_due(self._along, self._op.kind.result, received)

    def _advance(self, axis: AxisGeometry, past: int) -> np.ndarray:
        """Return the outputs up to ``past``, and drop the inputs that no later one reads."""
        part, read = axis_slab(axis, self._op.kind.result, (self._given, past), (self._start, self.received))
        nothing = np.empty(self._shape(0), self._kept.dtype)
        result = self._plan_of(part)(self._cut(read)) if past > self._given else nothing
        self._given = past
        _, (later, _) = axis_slab(self._along, self._op.kind.result, (past, past + 1))
        later = min(later, self.received - 1)  # one is kept, for outputs that read only padding
        if later > self._start:
            self._kept, self._start = self._cut((later, self.received)).copy(), later
        return result

    def _cut(self, span: Pair) -> np.ndarray:
        """Return the kept inputs of a span, as a view."""
        return self._kept[(slice(None),) * self.axis + (slice(*(at - self._start for at in span)),)]

    def _shape(self, length: int) -> tuple[int, ...]:
        """Return the shape of a part of the result."""
        shape = self._call.result_shape
        return (*shape[: self.axis], length, *shape[self.axis + 1 :])

    def _new_plan(self, part: AxisGeometry) -> Plan:
        """Return the prepared call of a part; those of equal chunks are equal."""
        axes, number, kind = self._call.geometry.axes, self._number, self._op.kind
        geometry = replace(self._call.geometry, axes=(*axes[:number], part, *axes[number + 1 :]))
        first = shape_only(geometry.shape_of(kind.first), self._kept.dtype)
        shape = self._shape(part.size_of(kind.result))
        call = replace(self._call, first=first, geometry=geometry, result_shape=shape)
        return Plan(call, self._backend, self.algorithm, self._precision)

    def _begin(self, x: np.ndarray) -> None:
        """Resolve the call, now that batch, channels and the sizes of the other axes are known."""
        check_alike({"chunk": x, "filters": self._filters})
        shape = list(x.shape)
        shape[self.axis] = _FAR if self._length is None else self._length
        endless = shape_only(shape, x.dtype)
        call, _ = nn_ops.call_of(self._function, (endless, self._filters), self._words)
        self.algorithm = self._chosen(call.geometry)
        self._call, self._kept = call, np.take(x, [], self.axis)

    def _check(self, x: np.ndarray) -> None:
        """Raise unless a chunk goes with those before it."""
        want, got = list(self._kept.shape), list(x.shape)
        want[self.axis] = got[self.axis]
        if got != want or x.dtype != self._kept.dtype:
            raise ArgumentError(
                f"a chunk for {self._op} must have shape {want} and dtype {self._kept.dtype}, as those "
                f"before it; got {got} and {x.dtype}"
            )
        if self._length is not None and self.received + x.shape[self.axis] > self._length:
            raise ArgumentError(
                f"length is {self._length}, and {self.received} were pushed; got {x.shape[self.axis]} more"
            )

    def _geometry_of(self, length: int) -> ConvGeometry:
        """Return the geometry of a whole call: of one image and one group, with the other axes unbounded."""
        words = {word: value for word, value in self._words.items() if word not in ("bias", "name")}
        w, wanted = self._filters.shape, words.pop("output_shape", None)
        if wanted is not None and self._length is None:
            raise ArgumentError("output_shape is the shape of a whole result: give length=, the input's, too")
        sizes = {"N": 1, "C": w[-1] if self._op.transposed else w[-2]}
        shape = [sizes.get(letter, _FAR) for letter in self._layout]
        shape[self.axis] = length
        if not self._op.transposed:
            grouped = grouped_shape(w, w[-2], "filters") if self._op.depthwise else w
            return conv_geometry(shape, grouped, **words)
        geometry = conv_transpose_geometry(shape, w, **words)
        if wanted is not None:
            own = self.axis, self._layout.index("C")
            sides = enumerate(normalize_shape(wanted, "output_shape", 1, len(w) - 2))
            wanted = [n if at in own else geometry.output_shape[at] for at, n in sides]
            geometry = conv_transpose_geometry(shape, w, wanted, **words)
        return geometry.forward

    def _check_length(self, stride: int) -> None:
        """Raise if the padding of the first output depends on an unknown length."""
        padding = self._words.get("padding")
        grows = stride > 1 and not self._op.transposed and is_one_of(padding, ("SAME", "SAME_LOWER"))
        if grows and self._length is None:
            pads, others = (self._geometry_of(_FAR * stride + more).padding[self._number] for more in (0, 1))
            raise ArgumentError(
                f"padding {padding} at stride {stride} depends on the length of the whole input: it is "
                f"{pads} for a multiple of {stride} and {others} for one more. The first output needs it: "
                "give length=, or the padding as numbers"
            )

    def _chosen(self, geometry: ConvGeometry) -> str:
        """Return the algorithm; raise if the bits of every algorithm depend on the length."""
        name, module = dispatch.find_backend(self._backend, self._filters)
        kind, filters, named, precision = self._op.kind, self._filters, self._asked, self._precision
        chosen = steady_algorithm(name, module, kind, filters, geometry, named, precision, padded=True)
        if chosen is None:
            steady = (
                f"{info.name} {listed(names, 'or')}"
                for info in backends.report()
                if (names := [one.name for one in info.algorithms if one.independent_of_extent])
            )
            raise ArgumentError(
                f"backend {brief(name)} with algorithm {brief(self._asked or 'auto')} cannot be streamed: "
                f"the last bits of a part would differ from those in the whole; use {'; '.join(steady)}"
            )
        self._backend = module
        return chosen


class _Combined:
    """An element-wise function of the outputs of branches; early outputs of one branch wait for the others.

    Attributes:
        rate, chunk_step: as those of a stream.
        layers: the convolutions in it.
    """

    def __init__(self, function: Callable[..., Any], branches: Sequence[Stream]) -> None:
        self._function, self._branches = function, branches
        self.rate = branches[0].rate
        self.chunk_step: int = lcm(*(branch.chunk_step for branch in branches))
        if any(branch.rate != self.rate for branch in branches):
            rates = listed([branch.rate for branch in branches], "and")
            raise ArgumentError(f"branches must give equally many outputs for each input; got {rates}")
        self.layers: list[_Layer] = [layer for branch in branches for layer in branch._layers]
        self._waiting: Sequence[list[np.ndarray]] = [[] for _ in branches]

    @property
    def nbytes(self) -> int:
        waiting = sum(array.nbytes for arrays in self._waiting for array in arrays)
        return waiting + sum(branch.state_nbytes for branch in self._branches)

    def push(self, x: np.ndarray, axis: int) -> np.ndarray:
        """Return the function of what all branches have given for a chunk."""
        return self._joined([[branch._push(x, axis)] for branch in self._branches], axis)

    def flush(self, axis: int) -> np.ndarray:
        """Return the function of what is left."""
        rest = [branch._flush(axis) for branch in self._branches]
        result = self._joined([[] if more is None else [more] for more in rest], axis)
        if left := max(array.shape[axis] for (array,) in self._waiting):
            raise ArgumentError(f"branches must give equally many outputs; one has {left} more than another")
        return result

    def due(self, received: int) -> int:
        """Return how many outputs the first inputs decide."""
        return min(branch._due(received) for branch in self._branches)

    def _joined(self, new: Iterable[list[np.ndarray]], axis: int) -> np.ndarray:
        pairs = zip(self._waiting, new, strict=True)
        there = [np.concatenate([*old, *more], axis) for old, more in pairs]
        ready = min(array.shape[axis] for array in there)
        parts = [np.split(array, [ready], axis) for array in there]
        self._waiting = [[rest.copy()] for _, rest in parts]
        result = np.asarray(self._function(*(part for part, _ in parts)))
        if result.ndim != there[0].ndim or result.shape[axis] != ready:
            raise ArgumentError(
                f"{brief(self._function)} must be element-wise along the streamed axis: it made shape "
                f"{list(result.shape)} of {list(parts[0][0].shape)}"
            )
        return result


def _node(entry: Any, options: dict[str, Any]) -> _Layer | _Combined:
    """Return what computes an entry of a list of layers."""
    first, *rest = entry if isinstance(entry, tuple) and entry else (entry,)
    is_op = is_one_of(first, nn_ops.RESOLVERS)
    if is_op and len(rest) in (1, 2) and isinstance((*rest, {})[1], dict):
        return _Layer(first, rest[0], **{**options, **(*rest, {})[1]})
    if callable(first) and not is_op and all(isinstance(branch, list) for branch in rest):
        branches = ([_node(layer, options) for layer in branch] for branch in rest or [[]])
        return _Combined(first, [Stream(nodes) for nodes in branches])
    raise ArgumentTypeError(
        "layers must be (op, filters), (op, filters, {argument: value}), element-wise functions, or "
        f"(function, [layers of a branch], [of another], ...); got {brief(entry)}"
    )
