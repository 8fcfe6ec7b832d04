"""What changes the size of an image between layers: interpolation, and channels that hold blocks of pixels.

A cell of a resized axis lies at a place among the input's cells. It reads the nearest of them, or the two
around it. The frameworks differ in where a cell lies (`SHIFTS`) and in which cell is the nearest (`NEAREST`).
The pixels of a block are channels in one of two orders, which `ShuffleCall` defines. TensorFlow:
core/kernels/image/resize_bilinear_op.cc and resize_nearest_neighbor_op.h, depthtospace_op.cc.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial
from itertools import product
from math import ceil, floor, prod
from typing import Any, Literal

import numpy as np

from ..core.arguments import Shape, check_data_format, integer, listed, normalize_shape
from ..core.dtypes import float_format
from ..support import tables
from ..support.argument_types import AnyDataFormat, ArrayLike, Int, ShapeLike
from ..support.errors import ArgumentError, brief, check_word, is_one_of
from ..support.memory import check_memory
from .calls import CellExplanation, floating, host_array, run_window, text_of, window_function
from .walking import exactly, rational, summed

_HALF = Fraction(1, 2)
# by ONNX's name: what is added to a cell's index before the step, and subtracted from the place after it
SHIFTS: dict[str, tuple[Fraction | int, Fraction | int]] = {
    "half_pixel": (_HALF, _HALF),
    "pytorch_half_pixel": (_HALF, _HALF),
    "tf_half_pixel_for_nn": (_HALF, 0),
    "asymmetric": (0, 0),
    "align_corners": (0, 0),
}
_Index = Callable[[Fraction, Fraction], int]
NEAREST: dict[
    str, _Index
] = {  # by ONNX's name: the index of the cell nearest to a place, and how wide a tie is
    "round_prefer_floor": lambda place, tie: ceil(place - _HALF - tie),
    "round_prefer_ceil": lambda place, tie: floor(place + _HALF + tie),
    "floor": lambda place, _: floor(place),
    "ceil": lambda place, _: ceil(place),
}


@dataclass(frozen=True)
class ResizeCall:
    """One call of a resize in some framework's words, resolved, and the law of its places.

    Attributes:
        function: the framework's name for it, such as "torch.interpolate".
        layout: the letters of the axes, such as "NCHW".
        input_shape: the shape of the input.
        output_shape: the shape of the result.
        scales: for each axis the cells of the result for one of the input, as the framework has it.
        coordinates: a word of `SHIFTS`. With "align_corners" the first and the last cells coincide, and the
            scale has no effect.
        reads: a word of `NEAREST`, or "linear".
        divides: whether, as in onnxruntime, an index is divided by the scale, not multiplied by its inverse,
            and a place within 1e-6 of the middle between two cells is in the middle. The nearest cell depends
            on that, because the frameworks compute its place in float32.
    """

    function: str
    layout: str
    input_shape: Shape
    output_shape: Shape
    scales: tuple[Fraction, ...]
    coordinates: str
    reads: str
    divides: bool = False

    @cached_property
    def resized(self) -> list[int]:
        """The axes that are resized; on the others each cell reads its own."""
        facts = zip(self.input_shape, self.output_shape, self.scales, strict=True)
        return [axis for axis, (size, new, scale) in enumerate(facts) if size != new or scale != 1]

    def step(self, axis: int) -> Fraction:
        """Return the distance between two cells of the result, in cells of the input."""
        size, new, scale = self.input_shape[axis], self.output_shape[axis], self.scales[axis]
        if self.coordinates == "align_corners":
            step = Fraction(size - 1, max(1, new - 1))
            return step if self.divides else self._rounded(step)
        if self.coordinates == "pytorch_half_pixel" and new == 1:
            return Fraction(0)
        return 1 / self._rounded(scale) if self.divides else self._rounded(1 / scale)

    def _rounded(self, number: Fraction) -> Fraction:
        """Return a number rounded to float32, for the nearest cell; linearly, rounding is an error."""
        return number if self.reads == "linear" else Fraction(float(np.float32(float(number))))

    def place(self, axis: int, out: int) -> Fraction:
        """Return where a cell of the result lies along an axis of the input; it may lie outside."""
        before, after = SHIFTS[self.coordinates]
        return self._rounded((out + before) * self.step(axis)) - after

    def along(self, axis: int, out: int) -> dict[int, Fraction]:
        """Return the cells of an axis that a cell of the result reads, and their weights.

        >>> call = resize_call("resize", "size", "W", (2,), {0: 4}, {}, "half_pixel", "linear")
        >>> [{cell: float(weight) for cell, weight in call.along(0, out).items()} for out in range(3)]
        [{0: 1.0}, {0: 0.75, 1: 0.25}, {0: 0.25, 1: 0.75}]
        """
        if axis not in self.resized:
            return {out: Fraction(1)}
        place = min(max(self.place(axis, out), Fraction(0)), Fraction(self.input_shape[axis] - 1))
        if self.reads != "linear":
            return {NEAREST[self.reads](place, Fraction(self.divides, 10**6)): Fraction(1)}
        low = floor(place)
        return {low + n: w for n, w in enumerate((low + 1 - place, place - low)) if w}

    def taps(self, cell: Shape) -> dict[Shape, Fraction]:
        """Return the cells of the input that a cell of the result reads, and their weights."""
        factors = [self.along(axis, out).items() for axis, out in enumerate(cell)]
        return {
            tuple(at for at, _ in tap): prod((w for _, w in tap), start=Fraction(1))
            for tap in product(*factors)
        }

    def __call__(self, x: np.ndarray) -> np.ndarray:
        """Return the resized array; to the nearest of any dtype, and linearly exact and rounded once."""
        host_array(x, "the input", None)
        check_memory(self.output_shape, x.dtype, "a resized array")
        if self.reads != "linear":
            reads = ([*map(partial(self.along, axis), range(n))] for axis, n in enumerate(self.output_shape))
            return np.asarray(x[np.ix_(*([cell for taps in axis for cell in taps] for axis in reads))])
        wide: Any = np.float64 if x.dtype.itemsize < 8 else np.longdouble

        def near(numbers: np.ndarray) -> tuple[Any, Any, Any]:
            numbers = numbers.astype(wide)
            sums, error = summed(self._terms(numbers))
            # the bits that a weight may have for an exact product with a number
            bits = (np.finfo(wide).nmant + 1 - float_format(x.dtype).precision) // max(1, len(self.resized))
            rough = np.zeros((), bool)
            for axis, (_, weights) in self._taps.items():
                long = np.array([any(2**bits % w.denominator for w in pair) for pair in weights.T])
                rough = rough | long.reshape(-1, *[1] * (x.ndim - axis - 1))
            if rough.any():  # each weight, their product and that with a number may be rounded
                sizes, _ = summed(self._terms(np.abs(numbers)))
                error = error + rough * (2 * x.ndim * np.finfo(wide).eps * sizes + np.finfo(wide).tiny)
            return (
                sums,
                error,
                lambda at: sum(Fraction(float(numbers[i])) * w for i, w in self.taps(at).items()),
            )

        return exactly(lambda part: summed(self._terms(part))[0], floating(x, "the input"), near=near)

    @cached_property
    def _taps(self) -> dict[int, tuple[np.ndarray, np.ndarray]]:
        """For each resized axis, the two cells that each cell of the result reads, and their weights."""
        found = {}
        for axis in self.resized:
            taps = (self.along(axis, out).items() for out in range(self.output_shape[axis]))
            pairs = np.array([[*tap, (0, Fraction(0))][:2] for tap in taps], object)
            cells, weights = pairs.transpose(2, 1, 0)  # [taps, outputs]
            found[axis] = cells.astype(int), weights
        return found

    def _terms(self, x: np.ndarray) -> Iterator[np.ndarray]:
        """Yield what each cell is the sum of, in the floats of ``x``; with a weight of 0 it is not read."""
        for picks in product((0, 1), repeat=len(self.resized)):
            places, weight = [*map(np.arange, x.shape)], np.ones((), x.dtype)
            for (axis, (cells, weights)), tap in zip(self._taps.items(), picks, strict=True):
                places[axis], high = cells[tap], weights[tap].astype(float)
                own = high.astype(x.dtype) + (weights[tap] - rational(high)).astype(float)
                weight = weight * own.reshape(-1, *[1] * (x.ndim - axis - 1))
            yield np.where(weight == 0, 0, x[np.ix_(*places)] * weight)

    def explain(self, x: np.ndarray, cell: Shape) -> CellExplanation:
        """Return the cells that a cell of the result reads, their weights, and the place it lies at."""
        (before, after), read = SHIFTS[self.coordinates], self.taps(cell)
        steps = (
            (f"axis {n}: ({cell[n]} + {before}) · {self.step(n)} - {after} =", float(self.place(n, cell[n])))
            for n in self.resized
        )
        taps, weights = tuple((at, x[at].item()) for at in read), tuple(map(float, read.values()))
        sums = f"the sum of {tables.count(len(read), 'cell')}, each times its weight"
        what = sums if self.reads == "linear" else "the cell nearest to its place"
        return CellExplanation(self, cell, self(x)[cell].item(), taps, what, steps=(*steps,), weights=weights)

    @property
    def rule(self) -> str:
        """Where a cell lies, and what it reads there, as a sentence."""
        before, after = SHIFTS[self.coordinates]
        place = f"{self.coordinates}: cell o lies at (o + {before}) · step - {after}"
        return f"{place}; {self.reads}: it reads {RULES[self.reads]}"

    def __str__(self) -> str:
        return text_of(self, [f"axis {axis}: the step is {self.step(axis)}" for axis in self.resized])


RULES = {
    "linear": "the two cells around it, each times 1 - its distance",
    "round_prefer_floor": "the nearest cell, of two the lower one",
    "round_prefer_ceil": "the nearest cell, of two the upper one",
    "floor": "the cell at or before it",
    "ceil": "the cell at or behind it",
}


def resize_call(
    function: str,
    argument: str,
    layout: str,
    shape: Shape,
    sizes: Mapping[int, int],
    scales: Mapping[int, Fraction],
    *facts: Any,
) -> ResizeCall:
    """Return the call of a resize.

    Args:
        function, layout: as the attributes of `ResizeCall`.
        argument: what messages call the sizes.
        shape: the input's shape.
        sizes: those of the result, by the numbers of the axes that may be resized.
        scales: likewise; where there is none, the quotient of the sizes.
        *facts: coordinates, reads and divides, as the attributes of `ResizeCall`.
    """
    for axis, size in sizes.items():
        if min(size, shape[axis]) < 1:
            have = f"for the input {list(shape)}, of which no resized axis may be empty"
            raise ArgumentError(f"{argument} of axis {axis} must be at least 1 {have}; got {size}")
    new = tuple(sizes.get(axis, size) for axis, size in enumerate(shape))
    ratios = (scales.get(axis, Fraction(new[axis], size or 1)) for axis, size in enumerate(shape))
    return ResizeCall(function, layout, shape, new, (*ratios,), *facts)


def check_defined(value: Any, name: str, *legal: Any) -> None:
    """Raise for a word or a setting of a framework that is not defined here."""
    if not is_one_of(value, legal):
        words = listed(map(repr, legal), "or")
        raise ArgumentError(f"{name} must be {words}, as nothing else is defined here; got {brief(value)}")


def _resize(
    images: Shape,
    size: Any,
    method: Any,
    preserve_aspect_ratio: Any,
    antialias: Any,
    coordinates: Any,
    **_: Any,
) -> ResizeCall:
    """Resolve a call of resize."""
    check_defined(method, "method", "bilinear", "nearest")
    check_defined(preserve_aspect_ratio, "preserve_aspect_ratio", False)
    check_defined(antialias, "antialias", False)
    check_word(coordinates, "coordinates", ("half_pixel", "asymmetric", "align_corners"))
    nearest = "floor" if coordinates == "asymmetric" else "round_prefer_ceil"
    facts = coordinates, "linear" if method == "bilinear" else nearest
    sizes = dict(enumerate(normalize_shape(size, "size", rank=0), len(images) - 3))
    return resize_call("tensorflow.resize", "size", "NHWC"[-len(images) :], images, sizes, {}, *facts)


@window_function(_resize, "images", (3, 4), "[batch, rows, cols, channels], or that without the batch")
def resize(
    images: ArrayLike,
    size: ShapeLike,
    method: Literal["bilinear", "nearest"] = "bilinear",
    preserve_aspect_ratio: bool = False,
    antialias: bool = False,
    name: str | None = None,
    *,
    coordinates: Literal["half_pixel", "asymmetric", "align_corners"] = "half_pixel",
) -> np.ndarray:
    """Resize images, as tf.image.resize; with other ``coordinates``, as the resize of TensorFlow 1.

    Args:
        images: [batch, rows, cols, channels], or one image; for "bilinear" of a floating dtype.
        size: [rows, cols] of the result.
        method: "bilinear" or "nearest".
        preserve_aspect_ratio, antialias: must be False.
        name: accepted for compatibility with TensorFlow and ignored.
        coordinates: where a cell of the result lies: "half_pixel"; or, as in tf.compat.v1.image.resize,
            "asymmetric", its default, or "align_corners".

    Returns:
        Images of that size, of the dtype of ``images``. An interpolated cell is exact and rounded once;
        TensorFlow's are float32.

    Raises:
        ValueError, TypeError: if the arguments are invalid; the message says what would be legal.

    Source: tensorflow/python/ops/image_ops_impl.py, resize_images_v2; core/util/image_resizer_state.h.

    >>> import numpy as np, teachconv as tc
    >>> row = np.float32([0, 4]).reshape(1, 2, 1)
    >>> [tc.resize(row, (1, 4), coordinates=word).ravel().tolist() for word in ("half_pixel", "asymmetric")]
    [[0.0, 1.0, 3.0, 4.0], [0.0, 2.0, 4.0, 4.0]]
    """
    return run_window(
        resize,
        images=images,
        size=size,
        method=method,
        preserve_aspect_ratio=preserve_aspect_ratio,
        antialias=antialias,
        name=name,
        coordinates=coordinates,
    )


# ---------------------------------------------------------------------------------------------
# Channels as blocks of pixels
# ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ShuffleCall:
    """One call that makes blocks of pixels of channels, or the reverse, in some framework's words, resolved.

    Attributes:
        function: the framework's name for it, such as "torch.pixel_shuffle".
        input_shape: the shape of the input.
        layout: the letters of the axes; H, W and C are among them.
        block: how many rows, and columns, a block has.
        order: how the channels are numbered of which a block is made, in ONNX's words: "DCR" by the pixel of
            the block first, then by the channel; "CRD" by the channel first.
        to_depth: whether pixels become channels.
    """

    function: str
    input_shape: Shape
    layout: str
    block: int
    order: str
    to_depth: bool = False

    @property
    def output_shape(self) -> Shape:
        """The shape of the result."""
        times = Fraction(1, self.block) if self.to_depth else Fraction(self.block)
        factors = {"H": times, "W": times, "C": 1 / times**2}
        pairs = zip(self.input_shape, self.layout, strict=True)
        return tuple(int(size * factors.get(letter, 1)) for size, letter in pairs)

    def source(self, cell: Sequence[Any]) -> tuple[Any, ...]:
        """Return which cell of the input a cell of the result reads; its indices may be arrays."""
        at, block, by_pixel = dict(zip(self.layout, cell, strict=True)), self.block, self.order == "DCR"
        row, col, channel = (at[letter] for letter in "HWC")
        few = self.input_shape if self.to_depth else self.output_shape
        count = few[self.layout.index("C")] if by_pixel else block * block
        if self.to_depth:
            first, last = channel // count, channel % count
            pixel, channel = (first, last) if by_pixel else (last, first)
            read = {"H": row * block + pixel // block, "W": col * block + pixel % block, "C": channel}
        else:
            pixel = row % block * block + col % block
            number = pixel * count + channel if by_pixel else channel * count + pixel
            read = {"H": row // block, "W": col // block, "C": number}
        return tuple((at | read).values())

    def __call__(self, x: np.ndarray) -> np.ndarray:
        """Return the array with its numbers moved."""
        host_array(x, "the input", None)
        return x[self.source(np.ix_(*map(range, self.output_shape)))]

    def explain(self, x: np.ndarray, cell: Shape) -> CellExplanation:
        """Return which cell of the input a cell of the result reads."""
        value = x[place := self.source(cell)].item()
        what = f"read at input[{tables.index(place)}], block {self.block} x {self.block}"
        return CellExplanation(self, cell, value, ((place, value),), what)

    @property
    def rule(self) -> str:
        """How the channels of a block are numbered, as a sentence."""
        numbered = {
            "DCR": "(row · block + col) · channels + channel",
            "CRD": "(channel · block + row) · block + col",
        }
        return f"{self.order}: channel {numbered[self.order]} is the pixel (row, col) of its block"

    def __str__(self) -> str:
        return text_of(self)


def shuffle_call(
    function: str,
    shape: Shape,
    layout: str,
    argument: str,
    value: Any,
    order: str,
    *,
    to_depth: bool = False,
    least: int = 1,
) -> ShuffleCall:
    """Return the call of a shuffle; raise unless the sizes are multiples of the block's.

    Args:
        function, layout, order, to_depth: as the attributes of `ShuffleCall`.
        shape: the input's shape.
        argument: what messages call the size of the block.
        value: that size.
        least: the smallest legal one.
    """
    if (block := integer(value, argument, "an integer")) < least:
        raise ArgumentError(f"{argument} must be at least {least}; got {block}")
    multiples = {"H": block, "W": block} if to_depth else {"C": block**2}
    for letter, multiple in multiples.items():
        size = shape[layout.index(letter)]
        if size % multiple or not size:
            have = f"axis {letter} of the input {list(shape)} {layout}"
            raise ArgumentError(f"{have} must be a multiple of {multiple} for {argument} {block}; got {size}")
    return ShuffleCall(function, shape, layout, block, order, to_depth)


def _shuffled(function: str, to_depth: bool) -> Callable[..., ShuffleCall]:
    """Return the resolver of depth_to_space or space_to_depth."""

    def resolve(input: Shape, block_size: Any, data_format: Any, **_: Any) -> ShuffleCall:
        facts = function, input, check_data_format(data_format, 2), "block_size", block_size, "DCR"
        return shuffle_call(*facts, to_depth=to_depth, least=2)

    return resolve


_IMAGES = "[batch, rows, cols, channels], or that in data_format order"


@window_function(_shuffled("tensorflow.depth_to_space", False), "input", (4,), _IMAGES)
def depth_to_space(
    input: ArrayLike, block_size: Int, data_format: AnyDataFormat = "NHWC", name: str | None = None
) -> np.ndarray:
    """Return channels as blocks of pixels, as tf.nn.depth_to_space.

    Channel (row · block_size + col) · channels + channel becomes the pixel (row, col) of a block: PyTorch's
    ``pixel_shuffle`` numbers the channels in another order.

    Args:
        input: [batch, rows, cols, channels · block_size²], or that in ``data_format`` order; of any dtype.
        block_size: how many rows, and columns, a block has; at least 2.
        data_format: "NHWC" or "NCHW".
        name: accepted for compatibility with TensorFlow and ignored.

    Returns:
        [batch, rows · block_size, cols · block_size, channels] in ``data_format`` order.

    Raises:
        ValueError, TypeError: if the arguments are invalid; the message says what would be legal.

    Source: tensorflow/core/kernels/depthtospace_op.cc.

    >>> import numpy as np, teachconv as tc
    >>> tc.depth_to_space(np.arange(8).reshape(1, 1, 1, 8), 2)[0, :, :, 0].tolist()
    [[0, 2], [4, 6]]
    """
    return run_window(depth_to_space, input=input, block_size=block_size, data_format=data_format, name=name)


@window_function(_shuffled("tensorflow.space_to_depth", True), "input", (4,), _IMAGES)
def space_to_depth(
    input: ArrayLike, block_size: Int, data_format: AnyDataFormat = "NHWC", name: str | None = None
) -> np.ndarray:
    """Return blocks of pixels as channels, as tf.nn.space_to_depth: the inverse of `depth_to_space`.

    Args:
        input: [batch, rows, cols, channels], rows and columns multiples of ``block_size``.
        block_size, data_format, name: as in `depth_to_space`.

    Returns:
        [batch, rows / block_size, cols / block_size, channels · block_size²] in ``data_format`` order.

    Raises:
        ValueError, TypeError: as `depth_to_space`.

    Source: tensorflow/core/kernels/spacetodepth_op.cc.

    >>> import numpy as np, teachconv as tc
    >>> tc.space_to_depth(np.arange(4).reshape(1, 2, 2, 1), 2).ravel().tolist()
    [0, 1, 2, 3]
    """
    return run_window(space_to_depth, input=input, block_size=block_size, data_format=data_format, name=name)
