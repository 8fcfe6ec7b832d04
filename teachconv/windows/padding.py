"""Padding as a layer: which cell of the input each cell of the result reads.

`source` is the definition, for one axis; a `PadCall` applies it to every axis of an array. The
frameworks differ in the words for a mode, in the order of the sides, in what a negative number does, and in
how far a mode may reach. TensorFlow: core/kernels/pad_op.cc and mirror_pad_op.cc.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from math import inf, isfinite
from typing import Any, Literal

import numpy as np

from ..core.arguments import Pads, Pair, Shape, check_steps, integer, real
from ..core.dtypes import float_format, is_integer
from ..support import tables
from ..support.argument_types import ArrayLike, Pairs
from ..support.devices import array_module, on_device_of
from ..support.errors import ArgumentError, brief, check_word
from ..support.memory import check_memory
from .calls import CellExplanation, checked_grad, run_window, window_function
from .walking import exactly


def source(place: int, size: int, mode: str) -> int:
    """Return which cell of an axis a place reads that may lie outside of it; -1 for none, a constant.

    Args:
        place: the place, counted from the first cell of the axis.
        size: the number of cells.
        mode: "constant"; "reflect" without repeating the edge; "symmetric" with the edge; "edge", the edge
            alone; "wrap" from the other end. A reflection, or a turn, may be repeated.

    >>> [[source(place, 3, mode) for place in range(-3, 6)] for mode in ("reflect", "symmetric", "wrap")]
    [[1, 2, 1, 0, 1, 2, 1, 0, 1], [2, 1, 0, 0, 1, 2, 2, 1, 0], [0, 1, 2, 0, 1, 2, 0, 1, 2]]
    """
    if mode == "constant" or not size:
        return place if 0 <= place < size else -1
    if mode == "edge":
        return min(max(place, 0), size - 1)
    if mode == "wrap":
        return place % size
    edge = mode == "symmetric"  # the edge belongs to the reflection too
    turn = max(1, 2 * (size - 1 + edge))
    return min(place % turn, turn - edge - place % turn)


@dataclass(frozen=True)
class PadCall:
    """One call of padding in some framework's words, resolved.

    Attributes:
        function: the framework's name for it, such as "torch.pad".
        mode: as in `source`.
        word: the framework's word for it.
        input_shape: the shape of the input.
        sides: how many cells are added before and after, for each axis; negative numbers remove cells.
        value: the number that "constant" pads with.
        crops_first: whether cells are removed before the mode looks at the cells.
        value_name: the framework's name of the number.
    """

    function: str
    mode: str
    word: str
    input_shape: Shape
    sides: Pads
    value: Any = field(default=0, compare=False)
    crops_first: bool = False
    value_name: str = "value"

    @property
    def output_shape(self) -> Shape:
        """The shape of the result."""
        return tuple(size + sum(pair) for size, pair in zip(self.input_shape, self.sides, strict=True))

    @property
    def layout(self) -> str:
        """A letter for each axis, as messages name a cell of the result."""
        return "ABCDEFGHIJKLMNOP"[: len(self.sides)]

    @cached_property
    def sources(self) -> tuple[list[int], ...]:
        """For each axis which cell of the input each cell of the result reads; -1 for the constant."""
        found = []
        for size, (before, after) in zip(self.input_shape, self.sides, strict=True):
            first, last = (-min(before, 0), size + min(after, 0)) if self.crops_first else (0, size)
            places = range(-before - first, size + after - first)
            read = (source(place, last - first, self.mode) for place in places)
            found.append([place if place < 0 else first + place for place in read])
        return tuple(found)

    def _cells(self, xp: Any = np) -> tuple[Any, Any]:
        """Return the cells of the result that read the input, and those that they read, as indices."""
        places = [xp.asarray(read, int) for read in self.sources]
        return xp.ix_(*(xp.nonzero(p >= 0)[0] for p in places)), xp.ix_(*(p[p >= 0] for p in places))

    def __call__(self, x: Any) -> Any:
        """Return the padded array, of the input's dtype."""
        check_memory(self.output_shape, x.dtype, "a padded array")
        xp = array_module(x)
        with on_device_of(x):
            result = xp.full(self.output_shape, _number(self.value, x.dtype, self.value_name), x.dtype)
            written, read = self._cells(xp)
            result[written] = x[read]
        return result

    def backward(self, grad: ArrayLike) -> np.ndarray:
        """Return the gradient with respect to the input: each cell gets what it was read for, rounded once.

        It is the transpose of padding. A transposed convolution with a padding mode is one without padding,
        and this after it.
        """
        dy = checked_grad(grad, self, f"the sides of {self.function}")
        written, read = self._cells()

        def walk(numbers: np.ndarray) -> np.ndarray:
            result = np.zeros(self.input_shape, numbers.dtype)
            np.add.at(result, read, numbers[written])
            return result

        return exactly(walk, dy)

    def explain(self, x: np.ndarray, cell: Shape) -> CellExplanation:
        """Return which cell of the input a cell of the result reads."""
        place = tuple(read[index] for read, index in zip(self.sources, cell, strict=True))
        at = tuple(index - before for index, (before, _) in zip(cell, self.sides, strict=True))
        inside = min(place, default=0) >= 0
        tap = (place, x[place].item()) if inside else (at, None)
        what = f"read at input[{tables.index(place)}]" if inside else "the constant"
        what += f": the cell is place {tables.index(at)} of the input"
        return CellExplanation(self, cell, tap[1] if inside else self.value, (tap,), what)

    @property
    def rule(self) -> str:
        """Which cells the mode reads, as a sentence."""
        return f"{self.word}: {RULES[self.mode]}" + f" {self.value}" * (self.mode == "constant")

    def __str__(self) -> str:
        head = f"{self.function}: input {list(self.input_shape)} -> {list(self.output_shape)}"
        steps = [
            f"  axis {axis}: {size} {first:+} {last:+} = {size + first + last}; cell o is place o {-first:+}"
            for axis, (size, (first, last)) in enumerate(zip(self.input_shape, self.sides, strict=True))
            if first or last
        ]
        return tables.Table((), [], head, [*steps, f"  {self.rule}"]).text()


RULES = {
    "constant": "every cell outside is",
    "reflect": "mirrored at the middle of the edge cell, which is not repeated",
    "symmetric": "mirrored at the outer side of the edge cell, which is repeated",
    "edge": "every cell outside repeats the edge cell",
    "wrap": "wraps around to the other end",
}


def pad_call(
    function: str,
    argument: str,
    shape: Shape,
    sides: Sequence[Pair],
    mode: str,
    modes: dict[str, str],
    value: Any = None,
    *,
    limits: bool = True,
    negative: bool = False,
    crops_first: bool = False,
    value_name: str = "constant_values",
) -> PadCall:
    """Return the call of padding; raise for what a framework refuses.

    Args:
        function, value, crops_first, value_name: as the attributes of `PadCall`; the value None stands for 0.
        argument: what messages call the sides.
        shape: the input's shape.
        sides: for each of its axes the cells before and after.
        mode: the framework's word.
        modes: the framework's words, and what `source` calls them.
        limits: whether a reflection and a turn may not be repeated.
        negative: whether negative numbers are legal.
    """
    check_word(mode, "mode", modes)
    name, number = modes[mode], 0 if value is None else value
    for axis, (size, pair) in enumerate(zip(shape, sides, strict=True)):
        left = size + sum(min(side, 0) for side in pair) * crops_first
        most = {"reflect": left - 1, "symmetric": left, "wrap": left}.get(name, inf) if limits else inf
        problems = {
            "must not be negative": min(pair) < 0 and not negative,
            "must not crop more than the size": min(left, size + sum(pair)) < 0,
            f"must be at most {max(most, 0)}": max(pair) > max(most, 0),
            "must be 0, as there is no cell to read,": not left and name != "constant" and max(pair) > 0,
            "must leave a cell": name in ("reflect", "edge") and 0 < size == -sum(pair),
        }
        for problem in (words for words, found in problems.items() if found):
            raise ArgumentError(f"{argument} of axis {axis} {problem} for {mode} and size {size}; got {pair}")
    if name != "constant" and number != 0:
        raise ArgumentError(
            f"{value_name} must be None or 0 for {mode}, which pads with the input; got {brief(value)}"
        )
    return PadCall(function, name, mode, shape, tuple(sides), number, crops_first, value_name)


def pairs(value: Any, name: str, rank: int, also: str = "", *, spread: bool = False) -> Pads:
    """Return (before, after) for each axis as ints.

    ``also`` is what else the argument may be; with ``spread`` an int, or one pair, is that of all axes, as
    NumPy has it.
    """
    legal = f"{also}{tables.count(rank, 'pair')} of ints, ({', '.join('(low, high)' for _ in range(rank))})"
    items = [*islice(value, rank + 2)] if hasattr(value, "__iter__") else [value, value] * spread
    if spread and items and (len(items) == 1 or not any(hasattr(item, "__iter__") for item in items)):
        items = (items if hasattr(items[0], "__iter__") else [items * (3 - len(items))]) * rank
    sides = [[*islice(side, 3)] if hasattr(side, "__iter__") else [] for side in items]
    if len(sides) != rank or any(len(side) != 2 for side in sides):
        raise ArgumentError(f"{name} must be {legal}; got {brief(value)}")
    found = tuple((integer(low, name), integer(high, name)) for low, high in sides)
    check_steps([size for pair in found for size in pair], name, value)
    return found


def _number(value: Any, dtype: np.dtype[Any], name: str) -> int | float:
    """Return the number to pad with; raise unless the dtype holds it."""
    number = value if isinstance(value, int) else real(value, name)
    largest = np.iinfo(dtype).max if is_integer(dtype) else float_format(dtype).largest
    special = isinstance(number, float) and not isfinite(number) and not is_integer(dtype)
    if not (special or -largest - is_integer(dtype) <= number <= largest):
        raise ArgumentError(f"{name} must be a number that {dtype.name} holds; got {brief(value)}")
    return number


_WORDS = {"CONSTANT": "constant", "REFLECT": "reflect", "SYMMETRIC": "symmetric"}


def _pad(tensor: Shape, paddings: Any, mode: Any, constant_values: Any, **_: Any) -> PadCall:
    """Resolve a call of pad."""
    sides = pairs(paddings, "paddings", len(tensor), "one pair for each axis of tensor, ")
    mode = mode.upper() if isinstance(mode, str) else mode
    return pad_call("tensorflow.pad", "paddings", tensor, sides, mode, _WORDS, constant_values)


@window_function(_pad, "tensor", None)
def pad(
    tensor: ArrayLike,
    paddings: Pairs,
    mode: Literal["CONSTANT", "REFLECT", "SYMMETRIC"] = "CONSTANT",
    constant_values: float = 0,
    name: str | None = None,
) -> np.ndarray:
    """Add cells before and after each axis, as tf.pad.

    Args:
        tensor: an array of any number of axes.
        paddings: (before, after) for each axis, none of them negative.
        mode: "CONSTANT"; "REFLECT", which does not repeat the edge, for less than the axis' size; or
            "SYMMETRIC", which repeats it, for at most that. Case does not matter.
        constant_values: the number that "CONSTANT" pads with; for integers its part before the point.
        name: accepted for compatibility with TensorFlow and ignored.

    Returns:
        The padded array, of the input's dtype. Its gradient is ``resolve(pad, ...).backward(grad)``.

    Raises:
        ValueError, TypeError: if the arguments are invalid; the message says what would be legal.

    Source: tensorflow/python/ops/array_ops.py, pad_v2; core/kernels/pad_op.cc and mirror_pad_op.cc.

    >>> import numpy as np, teachconv as tc
    >>> tc.pad(np.int32([1, 2, 3]), [[2, 1]], "REFLECT"), tc.pad(np.int32([1, 2, 3]), [[2, 1]], "SYMMETRIC")
    (array([3, 2, 1, 2, 3, 2], dtype=int32), array([2, 1, 1, 2, 3, 3], dtype=int32))
    """
    return run_window(
        pad, tensor=tensor, paddings=paddings, mode=mode, constant_values=constant_values, name=name
    )
