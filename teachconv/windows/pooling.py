"""Pooling: the largest value, the mean or the sum of each window, and the gradients.

`PoolCall` is a call in any framework's words, resolved. `forward` and `backward` compute it in the numbers
that they are given: the public functions give exact ones and round once, the kernels of the graph runtime
floats. TensorFlow: core/kernels/maxpooling_op.cc and avgpooling_op.cc.

Where several cells of a window are equally large, the first in row-major order is the winner, which alone
gets the gradient.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from functools import reduce as fold_left
from itertools import product
from math import prod
from operator import mul
from typing import Any

import numpy as np

from ..core.arguments import (
    SIDES,
    Padding,
    Pads,
    Shape,
    check_alike,
    check_data_format,
    check_elements,
    normalize_padding,
    normalize_shape,
    normalize_steps,
)
from ..core.dtypes import is_integer, lowest
from ..core.geometry import ConvGeometry
from ..core.kinds import AXES, layout_of
from ..core.law import AxisGeometry, forward_axis
from ..core.taps import each_tap, gather_all
from ..support import tables
from ..support.argument_types import AnyDataFormat, ArrayLike, Ints, PaddingLike, ShapeLike
from ..support.devices import override_of
from ..support.errors import ArgumentError, ArgumentTypeError
from ..support.memory import check_memory
from .calls import CellExplanation, checked_grad, floating, host_array, run_window, text_of, window_function
from .walking import counts, exactly, fold, where_or_zero, whole


@dataclass(frozen=True)
class PoolCall:
    """One call of a pool in some framework's words, resolved.

    Attributes:
        function: the framework's name for it, such as "torch.avg_pool2d".
        reduce: what is made of a window: "max", "average" or "sum".
        axes: the geometry of each axis of the array, batch and channels too.
        layout: the letters of the axes, such as "NHWC", or "CHW" without a batch.
        divisor: what a sum is divided by: "inside" for the cells of the window that are not padding,
            "padded" for those and the padding, or a number.
        start: what a maximum begins with: minus infinity, or another number; None for the lowest finite
            number, and then NaN is skipped.
        places: what one step along each axis adds to the index of a winner, if those are asked for too.
        steps: what the derivation says beside the axes.
    """

    function: str
    reduce: str
    axes: tuple[AxisGeometry, ...]
    layout: str
    divisor: str | int = "inside"
    start: float | None = None
    places: tuple[int, ...] = ()
    steps: tuple[str, ...] = ()

    @property
    def input_shape(self) -> Shape:
        """The shape of the input, in ``layout``."""
        return tuple(axis.in_size for axis in self.axes)

    @property
    def output_shape(self) -> Shape:
        """The shape of the result, in ``layout``."""
        return tuple(axis.out_size for axis in self.axes)

    @property
    def terms(self) -> int:
        """How many cells a window has."""
        return prod(axis.filter_size for axis in self.axes)

    @property
    def geometry(self) -> ConvGeometry:
        """The geometry of a convolution of one channel with the same windows."""
        return ConvGeometry(1, self.spatial, 1, 1, 1)

    @property
    def spatial(self) -> tuple[AxisGeometry, ...]:
        """The axes that are pooled."""
        return tuple(axis for axis, letter in zip(self.axes, self.layout, strict=True) if letter in "DHW")

    @cached_property
    def divisors(self) -> np.ndarray:
        """What the sum of each window is divided by, in a shape that broadcasts to the result."""
        if isinstance(self.divisor, int):
            return np.array(self.divisor)
        pairs = zip(self.axes, self.layout, strict=True)
        pooled = [axis if letter in "DHW" else whole(1) for axis, letter in pairs]
        return np.maximum(1, counts(pooled, self.divisor == "padded"))

    def __call__(self, x: np.ndarray) -> Any:
        """Return the result for an array in ``layout``, exact and rounded once, and indices if asked for."""
        host_array(x, "input", None)
        if self.reduce != "max":
            check_memory(self.output_shape, np.dtype(np.float64), "a pool's result")
            divisors = self.divisors if self.reduce == "average" else None
            return exactly(
                partial(fold, np.add, axes=self.axes, start=0), self.checked(x), self.terms, divisors
            )
        if not self.places:
            return forward(self, x)
        cells = winners(self, x)
        indices = np.unravel_index(np.maximum(cells, 0), x.shape)
        places = sum(index * step for index, step in zip(indices, self.places, strict=True))
        return forward(self, x), np.where(cells < 0, -1, places)

    def checked(self, x: np.ndarray) -> np.ndarray:
        """Return an array, if its dtype is one that can be averaged."""
        return floating(x, f"the input of {self.function}") if self.reduce == "average" else x

    def __str__(self) -> str:
        return text_of(self, self.steps, self.geometry._formulas())

    def explain(self, x: np.ndarray, cell: Shape) -> CellExplanation:
        """Return the cells of the window of a cell of the result, and what is made of them."""
        return self.explained(x, cell, replace(self, places=())(x)[cell].item())

    def explained(self, x: np.ndarray, cell: Shape, value: Any) -> CellExplanation:
        """Return the cells of the window of a cell of the result, whose value is known."""
        taps = []
        for found in product(*map(gather_all, self.axes, cell)):
            place = tuple(tap.in_index for tap in found)
            taps.append((place, None if any(tap.in_padding for tap in found) else x[place].item()))
        divisor, by = None, ""
        if self.reduce == "average":
            divisor = int(np.broadcast_to(self.divisors, self.output_shape)[cell])
            by = f"; divided by {divisor}"
        inside = sum(value is not None for _, value in taps)
        outside = f"{len(taps) - inside} of {len(taps)} in the padding"
        what = f"the {self.reduce} of {tables.count(inside, 'cell')}; {outside}{by}"
        return CellExplanation(self, cell, value, tuple(taps), what, divisor)

    @property
    def rule(self) -> str:
        """What is made of the cells of a window, and what padding does there, as a sentence."""
        least = "the lowest finite number, and NaN is skipped" if self.start is None else self.start
        return {
            "max": f"maximum: padding never wins; it begins with {least}",
            "sum": "sum: padding adds nothing",
            "average": f"mean: the sum / {_DIVISORS.get(self.divisor, self.divisor)}",
        }[self.reduce]


_DIVISORS: dict[str | int, str] = {
    "inside": "the number of cells of the window that are not padding",
    "padded": "the number of cells of the window, padding too, but not what ceil_mode adds beyond it",
}


def pool_call(
    function: str,
    reduce: str,
    shape: Shape,
    layout: str,
    sizes: Shape,
    strides: Shape,
    padding: Padding,
    dilations: Shape | None = None,
    *,
    ceil: bool = False,
    **more: Any,
) -> PoolCall:
    """Return the call of a pool whose windows are given as integers.

    Args:
        function, reduce, layout: as the attributes of `PoolCall`.
        shape: the input's shape, in ``layout``.
        sizes, strides, dilations: of the windows, one for each spatial axis.
        padding: the mode and the pads, as `geometry` has them.
        ceil: as in `law.forward_axis`.
        **more: the other attributes of `PoolCall`.
    """
    mode, pads = padding
    rank = len(sizes)
    given = [n for n, letter in zip(shape, layout, strict=True) if letter in "DHW"]
    facts = zip(
        AXES[-rank:], given, sizes, strides, dilations or (1,) * rank, (mode,) * rank, pads, strict=True
    )
    pooled = (forward_axis(*each, ceil=ceil) for each in facts)
    axes = tuple(
        next(pooled) if letter in "DHW" else whole(n) for n, letter in zip(shape, layout, strict=True)
    )
    return PoolCall(function, reduce, axes, layout, **more)


def refuse_wide_pads(pads: Pads, sizes: Shape, name: str = "padding") -> None:
    """Raise for padding of a window's size or more, in which a window might lie as a whole."""
    for sides, k, pair in zip(SIDES[-len(sizes) :], sizes, pads, strict=True):
        for side, pad in zip(sides, pair, strict=True):
            if pad >= k:
                raise ArgumentError(
                    f"{side.capitalize()} {name} {pad} needs to be smaller than the window size {k}"
                )


# ---------------------------------------------------------------------------------------------
# Pools whose windows follow from the size of the result
# ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class AdaptiveCall:
    """One call of an adaptive pool in some framework's words, resolved, and the law of its windows.

    Of an axis with n cells, cell o of m results reads the cells from ⌊o · n / m⌋ up to ⌈(o + 1) · n / m⌉,
    that one left out. If m divides n, these are the windows of a pool of size and stride n / m. Otherwise
    neighbours share a cell, and windows may have two sizes: no pool has them.

    Attributes:
        function: the framework's name for it, such as "torch.adaptive_avg_pool2d".
        reduce: what is made of a window: "max" or "average".
        layout: the letters of the axes, such as "NCHW".
        input_shape: the shape of the input.
        output_shape: the shape of the result.
    """

    function: str
    reduce: str
    layout: str
    input_shape: Shape
    output_shape: Shape

    def window(self, axis: int, out: int) -> range:
        """Return the cells of an axis that a cell of the result reads.

        >>> [AdaptiveCall("pool", "max", "W", (5,), (3,)).window(0, out) for out in range(3)]
        [range(0, 2), range(1, 4), range(3, 5)]
        """
        size, outs = self.input_shape[axis], self.output_shape[axis]
        return range(out * size // outs, -(-(out + 1) * size // outs))

    @property
    def pooled(self) -> list[int]:
        """The axes that are pooled."""
        return [axis for axis, letter in enumerate(self.layout) if letter in "DHW"]

    @cached_property
    def divisors(self) -> np.ndarray:
        """How many cells each window has, in a shape that broadcasts to the result."""
        sizes = (
            [len(self.window(axis, out)) for out in range(outs)] if axis in self.pooled else [1]
            for axis, outs in enumerate(self.output_shape)
        )
        return fold_left(np.multiply.outer, map(np.array, sizes))

    @property
    def terms(self) -> int:
        """How many cells the largest window has."""
        return int(self.divisors.max(initial=1))

    def __call__(self, x: np.ndarray) -> np.ndarray:
        """Return the result, exact and rounded once; NaN is larger than any number."""
        host_array(x, "input", None)
        check_memory(self.output_shape, np.dtype(np.float64), "a pool's result")
        if self.reduce == "max":
            return self._walk(np.maximum, x)
        numbers = floating(x, f"the input of {self.function}")
        return exactly(partial(self._walk, np.add), numbers, self.terms, self.divisors)

    def _walk(self, combine: np.ufunc, x: np.ndarray) -> np.ndarray:
        """Return the cells of each window combined, along one axis after the other."""
        for axis in self.pooled:
            windows = (self.window(axis, out) for out in range(self.output_shape[axis]))
            x = np.stack([combine.reduce(x.take(window, axis), axis) for window in windows], axis)
        return x

    def explain(self, x: np.ndarray, cell: Shape) -> CellExplanation:
        """Return the cells of the window of a cell of the result, and what is made of them."""
        windows = [self.window(n, i) if n in self.pooled else [i] for n, i in enumerate(cell)]
        taps = tuple((place, x[place].item()) for place in product(*windows))
        steps = []
        for n in self.pooled:
            size, outs, out = self.input_shape[n], self.output_shape[n], cell[n]
            begins = f"axis {n}: from ⌊{out} · {size} / {outs}⌋ to before ⌈{out + 1} · {size} / {outs}⌉:"
            steps.append((begins, f"{windows[n][0]} to {windows[n][-1]}"))
        divisor = len(taps) if self.reduce == "average" else None
        by = f"; divided by {divisor}" if divisor else ""
        what = f"the {self.reduce} of {tables.count(len(taps), 'cell')}{by}"
        return CellExplanation(self, cell, self(x)[cell].item(), taps, what, divisor, (*steps,))

    @property
    def rule(self) -> str:
        """Which cells a window has, as a sentence."""
        return f"{self.reduce}: cell o of m reads from ⌊o · n / m⌋ to before ⌈(o + 1) · n / m⌉ of n cells"

    def __str__(self) -> str:
        lines = []
        for axis in self.pooled:
            sizes = {len(self.window(axis, out)) for out in range(self.output_shape[axis])}
            lines.append(f"  axis {axis}: windows of {' and '.join(map(str, sorted(sizes)))} cells")
        return text_of(self, (), lines)


def adaptive_call(function: str, reduce: str, layout: str, shape: Shape, sizes: Shape) -> AdaptiveCall:
    """Return the call of an adaptive pool.

    Args:
        function, reduce, layout: as the attributes of `AdaptiveCall`.
        shape: the input's shape.
        sizes: those of the result, one for each axis that is pooled.
    """
    rest = iter(sizes)
    new = tuple(next(rest) if a in "DHW" else n for n, a in zip(shape, layout, strict=True))
    if any(n < 1 and letter in "DHW" for n, letter in zip(shape, layout, strict=True)):
        raise ArgumentError(f"the input must have no empty axis to pool; got {list(shape)} {layout}")
    return AdaptiveCall(function, reduce, layout, shape, new)


# ---------------------------------------------------------------------------------------------
# The law, in whatever numbers the arrays hold
# ---------------------------------------------------------------------------------------------


def forward(call: PoolCall, x: np.ndarray) -> np.ndarray:
    """Return the result of a pool, computed in the numbers of ``x``: exact ones, or floats."""
    if call.reduce == "max":
        if call.start is None:
            return fold(np.fmax, x, call.axes, lowest(x.dtype))
        return fold(
            np.maximum, x, call.axes, max(call.start, lowest(x.dtype)) if is_integer(x.dtype) else call.start
        )
    sums = fold(np.add, x, call.axes, 0)
    return sums / call.divisors.astype(x.dtype) if call.reduce == "average" else sums


def backward(call: PoolCall, grad: np.ndarray, taps: np.ndarray | None = None) -> np.ndarray:
    """Return the gradient with respect to the input, computed in the numbers of ``grad``.

    Args:
        call: the call.
        grad: the gradient with respect to its result.
        taps: of a maximum, what `winning_taps` returns.
    """
    check_memory(call.input_shape, grad.dtype, "a pool's gradient")
    result = np.zeros(call.input_shape, grad.dtype)
    share = grad / call.divisors.astype(grad.dtype) if taps is None else grad
    # the last tap first: so each cell's windows are added in their order, as in TensorFlow
    for number, (_, outputs, inputs) in reversed([*enumerate(each_tap(call.axes))]):
        mine = share[outputs]
        result[inputs] += mine if taps is None else where_or_zero(taps[outputs] == number, mine)
    return result


def winning_taps(call: PoolCall, x: np.ndarray) -> np.ndarray:
    """Return which tap holds the largest cell of each window, as its number in `each_tap`; -1 for none.

    The first cell wins until another is larger, or NaN where that is not skipped.
    """
    skips_nan, kind = call.start is None, np.min_scalar_type(-1 - call.terms)  # small: memory takes the time
    taps = np.full(call.output_shape, -1, kind)
    best = np.full(call.output_shape, lowest(x.dtype) if is_integer(x.dtype) else -np.inf, x.dtype)
    for number, (_, outputs, inputs) in enumerate(each_tap(call.axes)):
        cells, most, winner = np.ascontiguousarray(x[inputs]), best[outputs], taps[outputs]
        first = winner < 0
        better = first | (cells > most)
        if not skips_nan:
            better |= np.isnan(cells)
        (np.fmax if skips_nan else np.maximum)(most, cells, out=most)
        if not is_integer(x.dtype) and skips_nan and first.any():
            most[first & np.isnan(cells)] = np.inf  # NaN that comes first has won
        np.maximum(winner, better * kind.type(number), out=winner)  # numbers ascend
    return taps


def winners(call: PoolCall, x: np.ndarray) -> np.ndarray:
    """Return which cell is the largest of each window, as its index in ``x.ravel()``; -1 for none."""
    taps = winning_taps(call, x)
    steps = [prod(x.shape[axis + 1 :]) for axis in range(x.ndim)]  # in x.ravel(), along each axis
    away = [axis.dilation * step for axis, step in zip(call.axes, steps, strict=True)]
    offsets = [0, *(sum(map(mul, tap, away)) for tap, _, _ in each_tap(call.axes))]
    firsts: Any = (axis.in_index(np.arange(axis.out_size), 0) for axis in call.axes)  # type: ignore[arg-type]
    first = sum(np.ix_(*(first * step for first, step in zip(firsts, steps, strict=True))))
    return np.where(taps < 0, -1, first + np.take(offsets, taps + 1))


# ---------------------------------------------------------------------------------------------
# The functions
# ---------------------------------------------------------------------------------------------


def _resolved(reduce: str, function: str) -> Callable[..., PoolCall]:
    """Return the resolver of a function in TensorFlow's words."""

    def resolve(input: Shape, ksize: Any, strides: Any, padding: Any, data_format: Any, **_: Any) -> PoolCall:
        rank = len(input) - 2
        layout = layout_of("input", rank) if data_format is None else check_data_format(data_format, rank)
        for name, value in (("ksize", ksize), ("strides", strides)):
            if value is None:
                raise ArgumentTypeError(f"{name} must be an int, or one for each axis; got None")
        sizes, steps = normalize_steps(ksize, "ksize", layout), normalize_steps(strides, "strides", layout)
        mode, pads = normalize_padding(padding, layout)
        refuse_wide_pads(pads, sizes)
        return pool_call(function, reduce, input, layout, sizes, steps, (mode, pads))

    return resolve


_SHAPED = "orig_input_shape, ksize, strides, padding and data_format"
_AXES = "[batch, *sizes, channels], or that in data_format order"
_MAX, _AVG = _resolved("max", "tensorflow.max_pool"), _resolved("average", "tensorflow.avg_pool")


@window_function(_MAX, "input", (3, 4, 5), _AXES)
def max_pool(
    input: ArrayLike,
    ksize: Ints,
    strides: Ints,
    padding: PaddingLike,
    data_format: AnyDataFormat | None = None,
    name: str | None = None,
) -> np.ndarray:
    """Return the largest value of each window, as tf.nn.max_pool, over one, two or three axes.

    Padding never wins, whatever the numbers are: it is neither zero nor minus infinity, but left out.

    Args:
        input: [batch, in_rows, in_cols, in_channels], or that of another rank or in ``data_format`` order;
            any of teachconv's dtypes.
        ksize: the size of the window: an int, (rows, cols), or 4 ints in ``data_format`` order.
        strides: the distance between windows, likewise.
        padding: as in `conv2d`. A window may not lie in the padding as a whole.
        data_format: "NHWC" or "NCHW", "NWC" or "NCW", "NDHWC" or "NCDHW"; None for channels last.
        name: accepted for compatibility with TensorFlow and ignored.

    Returns:
        [batch, out_rows, out_cols, in_channels] in ``data_format`` order, of the input's dtype. NaN is
        skipped, and a window of nothing else gives the lowest finite number, as on TensorFlow's CPU.

    Raises:
        ValueError, TypeError: if the arguments are invalid; the message says what would be legal.

    Source: tensorflow/python/ops/nn_ops.py, max_pool_v2; core/kernels/maxpooling_op.cc.

    >>> import numpy as np, teachconv as tc
    >>> x = np.int32([-5, -1, -3]).reshape(1, 3, 1)
    >>> tc.max_pool(x, 2, 2, "SAME").ravel().tolist()             # no zero comes from the padding
    [-1, -3]
    """
    return run_window(
        max_pool,
        input=input,
        ksize=ksize,
        strides=strides,
        padding=padding,
        data_format=data_format,
        name=name,
    )


@window_function(_AVG, "input", (3, 4, 5), _AXES)
def avg_pool(
    input: ArrayLike,
    ksize: Ints,
    strides: Ints,
    padding: PaddingLike,
    data_format: AnyDataFormat | None = None,
    name: str | None = None,
) -> np.ndarray:
    """Return the mean of each window, as tf.nn.avg_pool, over one, two or three axes.

    A sum is divided by the number of cells of its window that are not padding: a border is not darker.

    Args:
        input: as in `max_pool`, of a floating dtype.
        ksize, strides, padding, data_format, name: as in `max_pool`. TensorFlow has no explicit padding here.

    Returns:
        As `max_pool`; every mean is exact, and rounded once.

    Raises:
        ValueError, TypeError: as `max_pool`; for integers, because their mean is usually not an integer.

    Source: tensorflow/python/ops/nn_ops.py, avg_pool_v2; core/kernels/avgpooling_op.cc.

    >>> import numpy as np, teachconv as tc
    >>> x = np.float32([1, 2, 6]).reshape(1, 3, 1)
    >>> tc.avg_pool(x, 2, 2, "SAME").ravel().tolist()             # 6 / 1, where PyTorch divides by 2
    [1.5, 6.0]
    """
    return run_window(
        avg_pool,
        input=input,
        ksize=ksize,
        strides=strides,
        padding=padding,
        data_format=data_format,
        name=name,
    )


def max_pool_grad(
    orig_input: ArrayLike,
    grad: ArrayLike,
    ksize: Ints,
    strides: Ints,
    padding: PaddingLike,
    data_format: AnyDataFormat | None = None,
) -> np.ndarray:
    """Return the gradient of `max_pool` with respect to its input, as tf.raw_ops.MaxPoolGrad.

    Args:
        orig_input: the input of the forward call. TensorFlow's op also takes the result of that call, which
            is computed here.
        grad: the gradient with respect to that result.
        ksize, strides, padding, data_format: as in `max_pool`.

    Returns:
        An array of the shape and dtype of ``orig_input``: in each window the first of its largest cells gets
        the gradient. What overlapping windows give to a cell is summed exactly, and rounded once.

    Raises:
        ValueError, TypeError: as `max_pool`, or if ``grad`` has another shape or dtype.

    Source: tensorflow/core/kernels/maxpooling_op.cc, SpatialMaxPoolWithArgMaxHelper.

    >>> import numpy as np, teachconv as tc
    >>> x, dy = np.float32([3, 3, 1]).reshape(1, 3, 1), np.float32([10, 20]).reshape(1, 2, 1)
    >>> tc.max_pool_grad(x, dy, 2, 1, "VALID").ravel().tolist()
    [10.0, 20.0, 0.0]
    """
    if (override := override_of(orig_input, grad)) is not None:
        return override(
            max_pool_grad,
            {
                "orig_input": orig_input,
                "grad": grad,
                "ksize": ksize,
                "strides": strides,
                "padding": padding,
                "data_format": data_format,
            },
        )
    x = host_array(orig_input, "orig_input", (3, 4, 5), _AXES)
    call = _MAX(x.shape, ksize, strides, padding, data_format)
    dy = checked_grad(grad, call, _SHAPED)
    check_alike({"orig_input": x, "grad": dy})
    taps = winning_taps(call, x)
    return exactly(lambda numbers: backward(call, numbers, taps), dy, call.terms)


def avg_pool_grad(
    orig_input_shape: ShapeLike,
    grad: ArrayLike,
    ksize: Ints,
    strides: Ints,
    padding: PaddingLike,
    data_format: AnyDataFormat | None = None,
) -> np.ndarray:
    """Return the gradient of `avg_pool` with respect to its input, as tf.raw_ops.AvgPoolGrad.

    Args:
        orig_input_shape: the shape of the forward call's input.
        grad: the gradient with respect to its result.
        ksize, strides, padding, data_format: as in `avg_pool`.

    Returns:
        An array of shape ``orig_input_shape`` and the dtype of ``grad``; exact, and rounded once.

    Raises:
        ValueError, TypeError: as `avg_pool`, or if ``grad`` has another shape.

    Source: tensorflow/core/kernels/avgpooling_op.cc.

    >>> import numpy as np, teachconv as tc
    >>> tc.avg_pool_grad((1, 3, 1), np.float32([[[4], [4]]]), 2, 2, "SAME").ravel().tolist()
    [2.0, 2.0, 4.0]
    """
    if (override := override_of(grad)) is not None:
        return override(
            avg_pool_grad,
            {
                "orig_input_shape": orig_input_shape,
                "grad": grad,
                "ksize": ksize,
                "strides": strides,
                "padding": padding,
                "data_format": data_format,
            },
        )
    shape = normalize_shape(orig_input_shape, "orig_input_shape", rank=None)
    check_elements(shape, "orig_input_shape")
    call = _AVG(shape, ksize, strides, padding, data_format)
    return exactly(partial(backward, call), call.checked(checked_grad(grad, call, _SHAPED)))
