"""A pool as a page draws it: the windows of a depthwise convolution whose weights are all 1."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

import numpy as np

from ..core.calls import Call
from ..core.geometry import ConvGeometry
from ..core.kinds import OPS, layout_of
from ..quantized.calls import QuantizedPool
from ..quantized.explaining import is_pool, pool_of_op
from ..quantized.schemes import Scheme
from ..support.errors import ArgumentError
from ..windows.calls import bound_call
from ..windows.pooling import PoolCall

_WORDS = MappingProxyType({"input": "input", "filters": "window", "output": "output"})


@dataclass(frozen=True)
class _PoolCells:
    """How a pool numbers its cells: a `CellNames`.

    Attributes:
        letters: the letters of the axes of its array, "N" among them or not.
        shapes: the shape of the array of each role.
    """

    letters: str
    shapes: Mapping[str, tuple[int, ...]]
    has_gaps = False

    def name(self, role: str, cell: tuple[int, ...]) -> tuple[int, ...]:
        at = dict(zip(layout_of(role, len(cell) - 2), cell, strict=True))
        return tuple(at[letter] for letter in self.layout(role))

    def find(self, role: str, cell: tuple[int, ...]) -> tuple[int, ...]:
        at = dict(zip(self.layout(role), cell, strict=True))
        return tuple(at.get(letter, 0) for letter in layout_of(role, len(self.shapes["filters"])))

    def layout(self, role: str) -> str:
        return "DHW"[-len(self.shapes["filters"]) :] if role == "filters" else self.letters

    def shape(self, role: str) -> tuple[int, ...]:
        return self.shapes[role]


@dataclass(frozen=True)
class PagePool:
    """A pool as a page draws it.

    Attributes:
        call: the convolution that has its windows.
        pool: its own call.
        result: its result.
        scheme: whose rounding, if it is quantized.
        steps: (what is done, the numbers of all windows after it), up to the result, of a quantized average.
    """

    call: Call
    pool: PoolCall
    result: np.ndarray
    scheme: Scheme | None = None
    steps: tuple[tuple[str, np.ndarray], ...] = ()


def pool_of(op: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> PagePool:
    """Return a pool as a page draws it.

    Args:
        op: a function of windows, or a pool of `teachconv.quantized`.
        args: its arguments.
        kwargs: those given by name.

    Raises:
        ValueError: if it is not a pool over one, two or three axes.
    """
    made, x = (pool_of_op if is_pool(op) else bound_call)(op, args, kwargs)
    pool = made.pool if isinstance(made, QuantizedPool) else made
    rank = len(pool.spatial) if isinstance(pool, PoolCall) else 0
    if not 1 <= rank <= 3 or {*pool.layout} - {*"NDHWC"}:
        raise ArgumentError(
            f"op must be a convolution, or a pool over 1 to 3 axes, to be explored; got {op.__name__}"
        )
    pool = replace(pool, places=())
    whole, letters = x, pool.layout
    if "N" not in letters:
        whole, letters = whole[None], f"N{letters}"
    if "C" not in letters:
        whole, letters = whole[..., None], f"{letters}C"
    first = whole.transpose([letters.index(letter) for letter in layout_of("input", rank)])
    channels = first.shape[-1]
    sizes = tuple(axis.filter_size for axis in pool.spatial)
    shapes = {"input": pool.input_shape, "filters": sizes, "output": pool.output_shape}
    call = Call(
        replace(OPS["conv2d"], name=f"{pool.reduce} pool", words=_WORDS, rank=rank),
        first,
        np.ones((*sizes, 1, channels), x.dtype),
        ConvGeometry(len(first), pool.spatial, channels, channels, channels),
        pool.output_shape,
        letters,
        title=made.function,
        names=_PoolCells(pool.layout, shapes),
    )
    if not isinstance(made, QuantizedPool):
        return PagePool(call, pool, pool(x))
    steps = tuple(made.steps(x))
    return PagePool(call, pool, steps[-1][1], made.scheme, steps if pool.reduce == "average" else ())
