"""The ops: normalise the arguments, resolve the geometry, dispatch to a backend, return.

TensorFlow: python/ops/nn_ops.py, whose functions stop at a generated wrapper (gen_nn_ops.py). Here the
way goes on in plain sight: each op below makes a `Call`, canonical arrays and a geometry of integers,
and `run` hands it to one of three functions of one backend module.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from types import ModuleType
from typing import Any, Protocol

import numpy as np

from . import backends, record, settings
from .arguments import (
    Shape,
    as_array,
    axis_order,
    check_data_format,
    check_memory,
    normalize_output_padding,
    normalize_padding,
    normalize_pair,
    normalize_shape,
    to_nhwc,
)
from .backends import Algorithm, result_shape
from .devices import array_module, check_same_place, contiguous, is_on_device
from .errors import ArgumentError, ArgumentTypeError
from .geometry import Conv2DGeometry, Conv2DTransposeGeometry, forward_geometry, transposed_geometry

__all__ = [
    "conv2d",
    "conv2d_backprop_filter",
    "conv2d_backprop_input",
    "conv2d_transpose",
    "conv_matrix",
    "depthwise_conv2d",
    "depthwise_conv2d_backprop_filter",
    "depthwise_conv2d_backprop_input",
]


class CellNames(Protocol):
    """How a dialect numbers the cells of its own arrays, whatever the canonical layout is.

    ``role`` is "first", "second" or "result": the array of a `Call` that the cell belongs to. A cell
    of the padding has a name too.
    """

    @property
    def has_gaps(self) -> bool:
        """Whether there are canonical cells of the first array that no cell of the dialect's is."""

    def name(self, role: str, cell: Shape) -> Shape | None:
        """Return a canonical cell as the dialect numbers it; None where no cell of its arrays is."""

    def find(self, role: str, cell: Shape) -> Shape:
        """Return the canonical cell: `name`, read backwards."""

    def layout(self, role: str) -> str:
        """Return the letters of the dialect's axes, such as "NCHW"."""

    def shape(self, role: str) -> Shape:
        """Return the shape of the dialect's array."""


@dataclass(slots=True, eq=False)  # frozen would double the time of a small call
class Call:
    """One call of an op, resolved: what a backend is given, and how its result goes back.

    ``kind`` is the backend function, ``first`` and ``second`` its arrays in canonical layout (NHWC,
    HWIO), ``result_shape`` and ``data_format`` the caller's. ``data_format`` is "HWIO" for a filter
    gradient; a depthwise filter is [filter_rows, filter_cols, in_channels, channel_multiplier].
    ``packed`` is what a plan's backend made of ``second`` to stand for it, or None. A dialect's call has
    its own ``title`` and ``names`` of cells, and may have any order of the four letters as
    ``data_format``.
    """

    op: str
    kind: str
    first: np.ndarray
    second: np.ndarray
    geometry: Conv2DGeometry
    result_shape: Shape
    data_format: str
    bias: np.ndarray | None = None
    packed: Any = None
    title: str = ""
    names: CellNames | None = None

    def restore(self, result: np.ndarray) -> np.ndarray:
        """Turn a canonical result into the caller's layout."""
        result = result.transpose(axis_order(self.data_format))
        return contiguous(result).reshape(self.result_shape)

    def canonical(self, result: np.ndarray) -> np.ndarray:
        """Turn an array in the caller's layout into the canonical one: `restore`, read backwards."""
        order, shape = axis_order(self.data_format), self.canonical_shape
        if order == _UNCHANGED:
            return result.reshape(shape)
        return result.reshape([shape[axis] for axis in order]).transpose(np.argsort(order))

    def cells(self, result: np.ndarray) -> np.ndarray:
        """View a result in cell order: NHWC, HWIO; a depthwise filter as the caller has it."""
        return result if axis_order(self.data_format) == _UNCHANGED else self.canonical(result)

    def name(self, role: str, cell: Shape) -> Shape | None:
        """Return a cell of the first or second array, or of the result, as the caller numbers it."""
        return cell if self.names is None else self.names.name(role, cell)

    def from_cells(self, cells: np.ndarray) -> np.ndarray:
        """View an array in cell order in the caller's layout: `cells`, read backwards."""
        return cells.transpose(axis_order(self.data_format))

    @property
    def terms(self) -> int:
        """How many terms the longest sum of a cell has, the bias counted."""
        g = self.geometry
        taps = g.rows.filter_size * g.cols.filter_size
        if self.kind == "conv2d":
            count = taps * g.filters_shape[2]
        elif self.kind == "conv2d_backprop_input":
            count = taps * g.out_channels // g.groups
        else:
            count = g.batch * g.rows.out_size * g.cols.out_size
        return max(1, count + (self.bias is not None))

    @property
    def canonical_shape(self) -> Shape:
        """Shape of the result in canonical layout."""
        return result_shape(self.kind, self.geometry)


_UNCHANGED = (0, 1, 2, 3)


# ---------------------------------------------------------------------------------------------
# Forward
# ---------------------------------------------------------------------------------------------


def conv2d(
    input: Any,
    filters: Any,
    strides: Any = 1,
    padding: Any = "VALID",
    data_format: str = "NHWC",
    dilations: Any = None,
    name: str | None = None,
    *,
    bias: Any = None,
    backend: Any = None,
    algorithm: str | None = None,
    precision: str | None = None,
    out: np.ndarray | None = None,
) -> np.ndarray:
    """Convolve images with filters (a cross-correlation: the filter is not flipped), as tf.nn.conv2d.

    Args:
        input: [batch, in_rows, in_cols, in_channels], or that in "NCHW" order; float16, bfloat16,
            float32, float64, int32 or int64. Lists of ints become int32, lists of floats float64.
        filters: [filter_rows, filter_cols, in_channels / groups, out_channels], same dtype. Groups
            follow from the ratio of the channels.
        strides: an int, (rows, cols), or 4 ints in ``data_format`` order.
        padding: "SAME", "VALID", "SAME_LOWER", an int, (rows, cols), ((top, bottom), (left, right)),
            or 4 pairs in ``data_format`` order. Negative numbers crop.
        data_format: "NHWC" or "NCHW".
        dilations: as strides; 1, or None, means none.
        name: accepted for TensorFlow's sake; nothing here has a name.
        bias: [out_channels], added to every cell.
        backend: "reference", "numpy", "scipy", "cython" or "cupy"; None for the default, cupy for arrays
            on a GPU. A module that keeps
            the contract of `teachconv.backends` will do too.
        algorithm: one of the backend's algorithms; None or "auto" lets it choose.
        precision: None; "strict" for algorithms that keep the element-wise bound only; "fast" gives
            leave for less.
        out: an array to write the result to.

    Returns:
        [batch, out_rows, out_cols, out_channels] in ``data_format`` order and the inputs' dtype.

    Raises:
        ValueError, TypeError: for what no convolution can have; the message says what would be legal.
        BackendUnavailable: where the backend asked for cannot run here.
        MemoryError: where the result cannot fit into this machine.

    Source: tensorflow/python/ops/nn_ops.py, conv2d_v2.

    >>> import teachconv as tc
    >>> image = [[4, 3, 1, 0], [2, 1, 0, 1], [1, 2, 4, 1], [3, 1, 0, 2]]
    >>> kernel = [[1, 0, 1], [2, 1, 0], [0, 0, 1]]
    >>> import numpy as np
    >>> y = tc.conv2d(np.reshape(image, (1, 4, 4, 1)), np.reshape(kernel, (3, 3, 1, 1)))
    >>> y[0, :, :, 0].tolist()
    [[14, 6], [6, 12]]
    """
    call = _conv2d_call(input, filters, strides, padding, data_format, dilations, bias)
    return run(call, backend, algorithm, precision, out)


def _conv2d_call(
    input: Any, filters: Any, strides: Any, padding: Any, data_format: str, dilations: Any, bias: Any
) -> Call:
    with record.stage("normalise arguments") as stage:
        layout = check_data_format(data_format)
        x, w = as_array(input, "input"), as_array(filters, "filters")
        _same_dtype(x, "input", w, "filters")
        x = _to_nhwc(x, layout)  # [batch, in_rows, in_cols, in_channels]
        stage.arrays(input=x, filters=w)
    geometry = _geometry(x.shape, w.shape, strides, padding, layout, dilations)
    bias = _bias(bias, geometry.out_channels, x)
    return Call("conv2d", "conv2d", x, w, geometry, _shape_in(geometry.output_shape, layout), layout, bias)


def depthwise_conv2d(
    input: Any,
    filters: Any,
    strides: Any = 1,
    padding: Any = "VALID",
    data_format: str = "NHWC",
    dilations: Any = None,
    name: str | None = None,
    *,
    bias: Any = None,
    backend: Any = None,
    algorithm: str | None = None,
    precision: str | None = None,
    out: np.ndarray | None = None,
) -> np.ndarray:
    """Convolve each channel with filters of its own, as tf.nn.depthwise_conv2d.

    ``filters`` is [filter_rows, filter_cols, in_channels, channel_multiplier]; output channel
    c * channel_multiplier + q comes from input channel c and filter [:, :, c, q]. It is conv2d with
    groups = in_channels. Everything else, errors included, is as in `conv2d`; strides with dilations
    are allowed, and rows and columns may differ, both of which TensorFlow refuses.

    >>> import numpy as np, teachconv as tc
    >>> x = np.arange(8, dtype="int32").reshape(1, 2, 2, 2)
    >>> tc.depthwise_conv2d(x, np.int32([[[[1, 10], [100, 1000]]]]))[0, 0, 1].tolist()
    [2, 20, 300, 3000]
    """
    call = _depthwise_call(input, filters, strides, padding, data_format, dilations, bias)
    return run(call, backend, algorithm, precision, out)


def _depthwise_call(
    input: Any, filters: Any, strides: Any, padding: Any, data_format: str, dilations: Any, bias: Any
) -> Call:
    with record.stage("normalise arguments") as stage:
        layout = check_data_format(data_format)
        x, w = as_array(input, "input"), as_array(filters, "filters")
        _same_dtype(x, "input", w, "filters")
        x = _to_nhwc(x, layout)  # [batch, in_rows, in_cols, in_channels]
        w = w.reshape(_grouped_shape(w.shape, x.shape[3]))  # HWIO with groups = in_channels
        stage.arrays(input=x, filters=w)
    geometry = _geometry(x.shape, w.shape, strides, padding, layout, dilations)
    bias = _bias(bias, geometry.out_channels, x)
    shape = _shape_in(geometry.output_shape, layout)
    return Call("depthwise_conv2d", "conv2d", x, w, geometry, shape, layout, bias)


def conv2d_transpose(
    input: Any,
    filters: Any,
    output_shape: Any = None,
    strides: Any = 1,
    padding: Any = "SAME",
    data_format: str = "NHWC",
    dilations: Any = None,
    name: str | None = None,
    *,
    output_padding: Any = None,
    bias: Any = None,
    backend: Any = None,
    algorithm: str | None = None,
    precision: str | None = None,
    out: np.ndarray | None = None,
) -> np.ndarray:
    """Apply the transpose of a convolution: the gradient of `conv2d` in its input, as tf.nn.conv2d_transpose.

    Args:
        input: [batch, in_rows, in_cols, in_channels] in ``data_format`` order.
        filters: [filter_rows, filter_cols, out_channels / groups, in_channels]: the filters of the
            convolution that this is the transpose of.
        output_shape: 4 ints in ``data_format`` order. At stride s, s sizes of output have the same
            size of input; this chooses one, and with it the alignment. Its channels over
            ``filters.shape[2]`` are the groups. Without it: in * s for SAME,
            (in - 1) * s + max(effective filter, s) for VALID, and one group.
        output_padding: rows and columns added at the end, for VALID or explicit padding, instead of
            ``output_shape``; below max(stride, dilation).
        strides, padding, data_format, dilations, name, bias, backend, algorithm, precision, out: as
            in `conv2d`.

    Returns:
        An array of ``output_shape`` in the inputs' dtype.

    Raises:
        ValueError: where ``output_shape`` is no size whose convolution gives the input's size; the
            message lists those that are. Else as `conv2d`.

    Source: tensorflow/python/ops/nn_ops.py, conv2d_transpose_v2, which calls conv2d_backprop_input.

    >>> import numpy as np, teachconv as tc
    >>> x = np.int32([1, 2, 3]).reshape(1, 1, 3, 1)
    >>> w = np.int32([1, 10, 100]).reshape(1, 3, 1, 1)
    >>> tc.conv2d_transpose(x, w, strides=(1, 2)).ravel().tolist()
    [1, 10, 102, 20, 203, 30]
    >>> tc.conv2d_transpose(x, w, (1, 1, 5, 1), (1, 2)).ravel().tolist()    # shifted, not cropped
    [10, 102, 20, 203, 30]
    """
    call = _transpose_call(
        input, filters, output_shape, strides, padding, data_format, dilations, output_padding, bias
    )
    return run(call, backend, algorithm, precision, out)


def _transpose_call(
    input: Any,
    filters: Any,
    output_shape: Any,
    strides: Any,
    padding: Any,
    data_format: str,
    dilations: Any,
    output_padding: Any,
    bias: Any,
) -> Call:
    with record.stage("normalise arguments") as stage:
        layout = check_data_format(data_format)
        dy, w = as_array(input, "input"), as_array(filters, "filters")
        _same_dtype(dy, "input", w, "filters")
        dy = _to_nhwc(dy, layout)  # [batch, in_rows, in_cols, in_channels]
        wanted = (
            None if output_shape is None else to_nhwc(normalize_shape(output_shape, "output_shape"), layout)
        )
        extra = None if output_padding is None else normalize_output_padding(output_padding, layout)
        stage.arrays(input=dy, filters=w)
    with record.stage("resolve geometry") as stage:
        geometry = transposed_geometry(
            dy.shape,
            w.shape,
            wanted,
            normalize_pair(strides, "strides", layout),
            normalize_padding(padding, layout),
            normalize_pair(dilations, "dilations", layout),
            extra,
        )
        stage.say("{}", Conv2DTransposeGeometry(geometry))
    bias = _bias(bias, geometry.in_channels, dy)
    shape = _shape_in(geometry.input_shape, layout)
    return Call("conv2d_transpose", "conv2d_backprop_input", dy, w, geometry, shape, layout, bias)


# ---------------------------------------------------------------------------------------------
# Gradients
# ---------------------------------------------------------------------------------------------


def conv2d_backprop_input(
    input_sizes: Any,
    filters: Any,
    out_backprop: Any,
    strides: Any = 1,
    padding: Any = "VALID",
    data_format: str = "NHWC",
    dilations: Any = None,
    name: str | None = None,
    *,
    backend: Any = None,
    algorithm: str | None = None,
    precision: str | None = None,
    out: np.ndarray | None = None,
) -> np.ndarray:
    """Return the gradient of `conv2d` in its input, as tf.raw_ops.Conv2DBackpropInput.

    ``input_sizes`` is the shape of conv2d's input (4 ints in ``data_format`` order), ``out_backprop``
    the gradient in its output, of the shape that conv2d gives. Everything else is as in `conv2d`.

    >>> import numpy as np, teachconv as tc
    >>> dy = np.ones((1, 2, 2, 1), "int32")
    >>> tc.conv2d_backprop_input((1, 3, 3, 1), np.ones((2, 2, 1, 1), "int32"), dy)[0, :, :, 0].tolist()
    [[1, 2, 1], [2, 4, 2], [1, 2, 1]]
    """
    call = _backprop_input_call(
        input_sizes, filters, out_backprop, strides, padding, data_format, dilations, depthwise=False
    )
    return run(call, backend, algorithm, precision, out)


def depthwise_conv2d_backprop_input(
    input_sizes: Any,
    filters: Any,
    out_backprop: Any,
    strides: Any = 1,
    padding: Any = "VALID",
    data_format: str = "NHWC",
    dilations: Any = None,
    name: str | None = None,
    *,
    backend: Any = None,
    algorithm: str | None = None,
    precision: str | None = None,
    out: np.ndarray | None = None,
) -> np.ndarray:
    """Return the gradient of `depthwise_conv2d` in its input: conv2d_backprop_input, channel by channel.

    ``filters`` is [filter_rows, filter_cols, in_channels, channel_multiplier].

    >>> import numpy as np, teachconv as tc
    >>> dy = np.ones((1, 1, 1, 4), "int32")
    >>> w = np.int32([1, 2, 3, 4]).reshape(1, 1, 2, 2)
    >>> tc.depthwise_conv2d_backprop_input((1, 1, 1, 2), w, dy).ravel().tolist()
    [3, 7]
    """
    call = _backprop_input_call(
        input_sizes, filters, out_backprop, strides, padding, data_format, dilations, depthwise=True
    )
    return run(call, backend, algorithm, precision, out)


def _backprop_input_call(
    input_sizes: Any,
    filters: Any,
    out_backprop: Any,
    strides: Any,
    padding: Any,
    data_format: str,
    dilations: Any,
    *,
    depthwise: bool,
) -> Call:
    with record.stage("normalise arguments") as stage:
        layout = check_data_format(data_format)
        sizes = to_nhwc(normalize_shape(input_sizes, "input_sizes"), layout)
        w, dy = as_array(filters, "filters"), as_array(out_backprop, "out_backprop")
        _same_dtype(w, "filters", dy, "out_backprop")
        dy = _to_nhwc(dy, layout)  # [batch, out_rows, out_cols, out_channels]
        if depthwise:
            w = w.reshape(_grouped_shape(w.shape, sizes[3]))
        stage.arrays(filters=w, out_backprop=dy)
    geometry = _geometry(sizes, w.shape, strides, padding, layout, dilations)
    _check_out_backprop(dy, geometry, layout)
    op = "depthwise_conv2d_backprop_input" if depthwise else "conv2d_backprop_input"
    shape = _shape_in(geometry.input_shape, layout)
    return Call(op, "conv2d_backprop_input", dy, w, geometry, shape, layout)


def conv2d_backprop_filter(
    input: Any,
    filter_sizes: Any,
    out_backprop: Any,
    strides: Any = 1,
    padding: Any = "VALID",
    data_format: str = "NHWC",
    dilations: Any = None,
    name: str | None = None,
    *,
    backend: Any = None,
    algorithm: str | None = None,
    precision: str | None = None,
    out: np.ndarray | None = None,
) -> np.ndarray:
    """Return the gradient of `conv2d` in its filters, as tf.raw_ops.Conv2DBackpropFilter.

    ``filter_sizes`` is the shape of the filters (4 ints, [filter_rows, filter_cols, in_channels /
    groups, out_channels]), ``out_backprop`` the gradient in conv2d's output. Everything else is as in
    `conv2d`; the result has shape ``filter_sizes``.

    >>> import numpy as np, teachconv as tc
    >>> x = np.arange(9, dtype="int32").reshape(1, 3, 3, 1)
    >>> tc.conv2d_backprop_filter(x, (2, 2, 1, 1), np.ones((1, 2, 2, 1), "int32"))[:, :, 0, 0].tolist()
    [[8, 12], [20, 24]]
    """
    call = _backprop_filter_call(
        input, filter_sizes, out_backprop, strides, padding, data_format, dilations, depthwise=False
    )
    return run(call, backend, algorithm, precision, out)


def depthwise_conv2d_backprop_filter(
    input: Any,
    filter_sizes: Any,
    out_backprop: Any,
    strides: Any = 1,
    padding: Any = "VALID",
    data_format: str = "NHWC",
    dilations: Any = None,
    name: str | None = None,
    *,
    backend: Any = None,
    algorithm: str | None = None,
    precision: str | None = None,
    out: np.ndarray | None = None,
) -> np.ndarray:
    """Return the gradient of `depthwise_conv2d` in its filters: conv2d_backprop_filter, channel by channel.

    ``filter_sizes`` is [filter_rows, filter_cols, in_channels, channel_multiplier].

    >>> import numpy as np, teachconv as tc
    >>> x = np.int32([1, 2]).reshape(1, 1, 1, 2)
    >>> dy = np.int32([1, 10, 100, 1000]).reshape(1, 1, 1, 4)
    >>> tc.depthwise_conv2d_backprop_filter(x, (1, 1, 2, 2), dy).ravel().tolist()
    [1, 10, 200, 2000]
    """
    call = _backprop_filter_call(
        input, filter_sizes, out_backprop, strides, padding, data_format, dilations, depthwise=True
    )
    return run(call, backend, algorithm, precision, out)


def _backprop_filter_call(
    input: Any,
    filter_sizes: Any,
    out_backprop: Any,
    strides: Any,
    padding: Any,
    data_format: str,
    dilations: Any,
    *,
    depthwise: bool,
) -> Call:
    with record.stage("normalise arguments") as stage:
        layout = check_data_format(data_format)
        x, dy = as_array(input, "input"), as_array(out_backprop, "out_backprop")
        _same_dtype(x, "input", dy, "out_backprop")
        x, dy = _to_nhwc(x, layout), _to_nhwc(dy, layout)
        shape = sizes = normalize_shape(filter_sizes, "filter_sizes")
        if depthwise:
            sizes = _grouped_shape(sizes, x.shape[3])
        stage.arrays(input=x, out_backprop=dy)
    geometry = _geometry(x.shape, sizes, strides, padding, layout, dilations)
    _check_out_backprop(dy, geometry, layout)
    op = "depthwise_conv2d_backprop_filter" if depthwise else "conv2d_backprop_filter"
    return Call(op, "conv2d_backprop_filter", x, dy, geometry, shape, "HWIO")


# ---------------------------------------------------------------------------------------------
# The convolution as a matrix
# ---------------------------------------------------------------------------------------------


def conv_matrix(filters: Any, geometry: Conv2DGeometry | Conv2DTransposeGeometry) -> Any:
    """Return the sparse matrix of the convolution of one image: vec(y) = C vec(x), NHWC in C order.

    ``filters`` has the geometry's ``filters_shape``; the result is a `scipy.sparse.csr_array` of shape
    [out_rows * out_cols * out_channels, in_rows * in_cols * in_channels]. For a transposed geometry it
    is the transposed matrix: that is where the name comes from. Raises ``ValueError`` where the
    filters' shape is another one.

    >>> import numpy as np, teachconv as tc
    >>> w = np.float32([1, 2]).reshape(1, 2, 1, 1)
    >>> tc.conv_matrix(w, tc.conv2d_geometry((1, 1, 3, 1), w.shape)).toarray()
    array([[1., 2., 0.],
           [0., 1., 2.]], dtype=float32)
    """
    if not isinstance(geometry, (Conv2DGeometry, Conv2DTransposeGeometry)):
        raise ArgumentTypeError(
            f"geometry must come from conv2d_geometry or conv2d_transpose_geometry; got {geometry!r}"
        )
    w = as_array(filters, "filters")
    if w.shape != geometry.filters_shape:
        raise ArgumentError(f"filters must have shape {list(geometry.filters_shape)}; got {list(w.shape)}")
    from .backends import scipy_backend

    transposed = isinstance(geometry, Conv2DTransposeGeometry)
    forward = geometry.forward if isinstance(geometry, Conv2DTransposeGeometry) else geometry
    if forward.data_format != "NHWC":
        forward = replace(forward, data_format="NHWC")
    if w.dtype.name in ("float16", "bfloat16"):
        w = w.astype("float32")
    matrix = scipy_backend.conv_matrix(w, forward)
    return matrix.T.tocsr() if transposed else matrix


# ---------------------------------------------------------------------------------------------
# From a call to a backend and back
# ---------------------------------------------------------------------------------------------


def run(
    call: Call,
    backend: Any = None,
    algorithm: str | None = None,
    precision: str | None = None,
    out: np.ndarray | None = None,
) -> np.ndarray:
    """Run a resolved call on a backend and return the result in the caller's layout."""
    if out is None:
        return call.restore(run_canonical(call, backend, algorithm, precision))
    _check_out(out, call)
    if call.op == "depthwise_conv2d_backprop_filter":  # its axes split and join: no view does that
        out[...] = call.restore(run_canonical(call, backend, algorithm, precision))
    else:
        run_canonical(call, backend, algorithm, precision, call.canonical(out))
    return out


def run_canonical(
    call: Call,
    backend: Any = None,
    algorithm: str | None = None,
    precision: str | None = None,
    out: np.ndarray | None = None,
    activation: str | None = None,
) -> np.ndarray:
    """Run a resolved call and return the backend's own result: NHWC, or HWIO for a filter gradient.

    ``activation`` is None or "relu", applied by the backend after the bias; not for a filter gradient.
    """
    with record.stage("dispatch") as stage:
        name, module = find_backend(backend, call.first)
        dtype, shape = call.first.dtype, call.canonical_shape
        found = check_algorithm(name, module, call.kind, dtype, algorithm, precision)
        algorithm = None if found is None else found.name
        if found is not None and (reason := found.refuses(call.kind, call.geometry)):
            raise ArgumentError(f"algorithm {algorithm!r} needs {reason}")
        if not is_on_device(call.first):
            check_memory(shape, dtype, "the result")
        stage.know(backend=name, algorithm=algorithm or "auto")
        stage.say("backend {}, function {}, algorithm {}", name, call.kind, algorithm or "auto")
    if call.first.size == 0 or call.second.size == 0 or 0 in shape:
        with record.stage("nothing to sum"):
            xp = array_module(call.first)
            result = xp.zeros(shape, dtype) if out is None else out
            result[...] = 0 if call.bias is None else call.bias
            return xp.maximum(result, 0, out=result) if activation == "relu" else result
    options: dict[str, Any] = {"algorithm": algorithm, "precision": precision, "out": out}
    if call.bias is not None:
        options["bias"] = call.bias
    if activation is not None:
        options["activation"] = activation
    with record.stage(f"{name}.{call.kind}") as stage:
        second = call.second if call.packed is None else call.packed
        result = getattr(module, call.kind)(call.first, second, call.geometry, **options)
        stage.arrays(result=result)
    return result


def find_backend(backend: Any = None, array: np.ndarray | None = None) -> tuple[str, ModuleType]:
    """Return name and module: of the backend asked for, else the default that was set, else cython.

    An ``array`` on a GPU selects cupy by itself; with a backend that works on the host it is refused.
    """
    if array is None or not is_on_device(array):
        return _named_backend(backend)
    name, module = _named_backend("cupy" if backend is None else backend)
    if not getattr(module, "TAKES_DEVICE_ARRAYS", False):
        raise ArgumentError(
            f"backend {name!r} works in the memory of the host, and the arrays are on a GPU: use "
            f"backend='cupy', or copy them with cupy.asnumpy"
        )
    return name, module


def _named_backend(backend: Any) -> tuple[str, ModuleType]:
    if backend is None:
        backend = settings.default_backend() or _best_backend()
    if isinstance(backend, str):
        return backend, backends.get(backend)
    missing = [part for part in (*backends.KINDS, "ALGORITHMS") if not hasattr(backend, part)]
    if missing:
        raise ArgumentError(
            f"backend must be one of {', '.join(backends.TABLE)}, or a module with {', '.join(missing)}; "
            f"got {backend!r}"
        )
    return getattr(backend, "__name__", type(backend).__name__), backend


@lru_cache(maxsize=1)
def _best_backend() -> str:
    """cython; numpy where it is not compiled, which is said once."""
    problem = backends.why_not("cython")
    if problem:
        warnings.warn(f"teachconv runs on the numpy backend: {problem}", RuntimeWarning, stacklevel=6)
    return "numpy" if problem else "cython"


@lru_cache(maxsize=1024)
def check_algorithm(
    name: str, module: ModuleType, kind: str, dtype: np.dtype[Any], algorithm: Any, precision: Any
) -> Algorithm | None:
    """Return the algorithm if the backend has it for this call, None for "auto"; raise otherwise."""
    algorithms: tuple[Algorithm, ...] = module.ALGORITHMS
    has_tf32 = any(a.precision == "tf32" for a in algorithms)
    if precision not in (None, "strict", "fast") and not (precision == "tf32" and has_tf32):
        hint = ' ("tf32" is for a GPU)' if precision == "tf32" else ""
        legal = 'None, "strict", "fast" or "tf32"' if has_tf32 else 'None, "strict" or "fast"'
        raise ArgumentError(f"precision must be {legal}; got {precision!r}{hint}")
    if algorithm is None or algorithm == "auto":
        fitting = [a for a in algorithms if kind in a.kinds and dtype.name in a.dtypes]
        if not fitting:
            have = ", ".join(backends.dtypes_of(algorithms))
            raise ArgumentTypeError(f"backend {name!r} has no {kind} for {dtype.name}; it has {have}")
        return None
    found = {a.name: a for a in algorithms}.get(algorithm)
    if found is None:
        have = ", ".join(a.name for a in algorithms)
        raise ArgumentError(f"algorithm of backend {name!r} must be one of auto, {have}; got {algorithm!r}")
    if kind not in found.kinds:
        have = ", ".join(a.name for a in algorithms if kind in a.kinds)
        raise ArgumentError(f"algorithm {algorithm!r} has no {kind}; backend {name!r} has {have} for it")
    if dtype.name not in found.dtypes:
        have = ", ".join(found.dtypes)
        raise ArgumentTypeError(f"algorithm {algorithm!r} has no {dtype.name}; it has {have}")
    if precision == "strict" and found.precision != "strict":
        have = ", ".join(a.name for a in algorithms if a.precision == "strict")
        raise ArgumentError(
            f"algorithm {algorithm!r} does not keep the element-wise bound that precision='strict' asks "
            f"for; those that do: {have}"
        )
    return found


def resolve(
    op: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[Call, dict[str, Any]]:
    """Return the `Call` that ``op(*args, **kwargs)`` would run, and its options (backend and so on).

    Raises ``TypeError`` where ``op`` is no op of teachconv or the arguments do not fit its signature.
    """
    if op not in RESOLVERS:
        known = ", ".join(name_of(known) for known in RESOLVERS)
        raise ArgumentTypeError(f"op must be one of {known}; got {op!r}")
    bound = inspect.signature(op).bind(*args, **kwargs)
    bound.apply_defaults()
    arguments = dict(bound.arguments)
    options = {key: arguments.pop(key) for key in _OPTIONS if key in arguments}
    arguments.pop("name", None)
    return RESOLVERS[op](**arguments), options


_OPTIONS = ("backend", "algorithm", "precision", "out")


def name_of(op: Callable[..., Any]) -> str:
    """Return the name by which people call an op, as teachconv.conv2d or teachconv.dialects.torch.conv2d."""
    module = getattr(op, "__module__", "")
    place = module if module.startswith("teachconv.dialects.") else "teachconv"
    return f"{place}.{getattr(op, '__name__', repr(op))}"


RESOLVERS: dict[Callable[..., Any], Callable[..., Call]] = {
    conv2d: _conv2d_call,
    conv2d_transpose: _transpose_call,
    depthwise_conv2d: _depthwise_call,
    conv2d_backprop_input: lambda **a: _backprop_input_call(**a, depthwise=False),
    conv2d_backprop_filter: lambda **a: _backprop_filter_call(**a, depthwise=False),
    depthwise_conv2d_backprop_input: lambda **a: _backprop_input_call(**a, depthwise=True),
    depthwise_conv2d_backprop_filter: lambda **a: _backprop_filter_call(**a, depthwise=True),
}


# ---------------------------------------------------------------------------------------------
# Arguments
# ---------------------------------------------------------------------------------------------


def _same_dtype(first: np.ndarray, first_name: str, second: np.ndarray, second_name: str) -> None:
    check_same_place(first, first_name, second, second_name)
    if first.dtype != second.dtype:
        raise ArgumentTypeError(
            f"{second_name} must have the dtype of {first_name}, {first.dtype}; got {second.dtype}: "
            f'{second_name}.astype("{first.dtype}")'
        )


def _bias(bias: Any, channels: int, x: np.ndarray) -> np.ndarray | None:
    if bias is None:
        return None
    array = as_array(bias, "bias", ndim=1)
    _same_dtype(x, "input", array, "bias")
    if len(array) != channels:
        raise ArgumentError(
            f"bias must have {channels} elements, one for each output channel; got {len(array)}"
        )
    return array


def _to_nhwc(array: np.ndarray, data_format: str) -> np.ndarray:
    return array.transpose(0, 2, 3, 1) if data_format == "NCHW" else array


def _shape_in(shape: Shape, data_format: str) -> Shape:
    """An NHWC shape in ``data_format`` order."""
    return (shape[0], shape[3], shape[1], shape[2]) if data_format == "NCHW" else shape


def _grouped_shape(shape: Shape, in_channels: int) -> Shape:
    """The shape of a depthwise filter as HWIO with groups = in_channels."""
    rows, cols, channels, multiplier = shape
    if channels != in_channels:
        raise ArgumentError(
            f"depthwise filters must be [filter_rows, filter_cols, in_channels, channel_multiplier] with "
            f"in_channels = {in_channels}; got {list(shape)}"
        )
    return rows, cols, min(1, channels), channels * multiplier


def _geometry(
    input_shape: Shape, filters_shape: Shape, strides: Any, padding: Any, data_format: str, dilations: Any
) -> Conv2DGeometry:
    with record.stage("resolve geometry") as stage:
        geometry = forward_geometry(
            input_shape,
            filters_shape,
            normalize_pair(strides, "strides", data_format),
            normalize_padding(padding, data_format),
            normalize_pair(dilations, "dilations", data_format),
        )
        stage.say("{}", geometry)
    return geometry


def _check_out_backprop(dy: np.ndarray, geometry: Conv2DGeometry, data_format: str) -> None:
    if dy.shape != geometry.output_shape:
        raise ArgumentError(
            f"out_backprop must have shape {list(_shape_in(geometry.output_shape, data_format))}, that of "
            f"conv2d's output; got {list(_shape_in(dy.shape, data_format))}"
        )


def _check_out(out: Any, call: Call) -> None:
    dtype = call.first.dtype
    if is_on_device(call.first):
        if type(out) is not type(call.first):
            raise ArgumentTypeError(f"out must be a CuPy array, as the input; got {type(out).__qualname__}")
        check_same_place(call.first, "input", out, "out")
    elif not isinstance(out, np.ndarray):
        raise ArgumentTypeError(f"out must be a NumPy array; got {type(out).__qualname__}")
    if out.shape != tuple(call.result_shape) or out.dtype != dtype:
        raise ArgumentError(
            f"out must have shape {list(call.result_shape)} and dtype {dtype}; "
            f"got {list(out.shape)} and {out.dtype}"
        )
    if is_on_device(call.first):
        shares = array_module(out).may_share_memory
        if shares(out, call.first) or shares(out, call.second):
            raise ArgumentError("out must not overlap the memory of the inputs, which are still read")
        return
    if not out.flags.writeable:
        raise ArgumentError("out must be writeable; got a read-only array")
    if np.may_share_memory(out, call.first) or np.may_share_memory(out, call.second):
        raise ArgumentError("out must not overlap the memory of the inputs, which are still read")
