"""Images as columns of patches, and columns added up to an image: im2col and its transpose, col2im.

A convolution is a product of its filters with the columns of the image's patches. Adding columns where they
were taken from is the last step of a transposed convolution. PyTorch: aten/src/ATen/native/im2col.h.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Any

import numpy as np

from ..core.arguments import Pads, Shape
from ..core.kinds import AXES
from ..core.law import AxisGeometry, forward_axis
from ..core.taps import each_tap, gather_all, scatter_all
from ..support import tables
from ..support.errors import ArgumentError
from ..support.memory import check_memory
from .calls import CellExplanation, host_array
from .walking import exactly


@dataclass(frozen=True)
class PatchCall:
    """One call that takes patches of images, or adds them up to images, in some framework's words, resolved.

    Row (channel · taps + tap) of the columns holds one cell of each patch, column number ``place`` one patch:
    in_index = out_index · stride - pad_before + tap · dilation, for each axis.

    Attributes:
        function: the framework's name for it, such as "torch.unfold".
        axes: the geometry of each axis of the image: an output is a patch, a tap a cell of it.
        outer: the image's axes before those: channels, or batch and channels.
        adds: whether patches are added up to an image.
        by_tap: whether row (tap · channels + channel) is meant, as in TensorFlow's extract_patches.
    """

    function: str
    axes: tuple[AxisGeometry, ...]
    outer: Shape
    adds: bool
    by_tap: bool = False

    @property
    def layout(self) -> str:
        """The letters of the image's axes."""
        return "NC"[-len(self.outer) :] + "DHW"[-len(self.axes) :]

    @property
    def image_shape(self) -> Shape:
        """The shape of the image."""
        return *self.outer, *(axis.in_size for axis in self.axes)

    @property
    def columns_shape(self) -> Shape:
        """The shape of the columns, batch first."""
        return *self.outer[:-1], self.outer[-1] * self.terms, prod(axis.out_size for axis in self.axes)

    @property
    def input_shape(self) -> Shape:
        """The shape of the input."""
        return self.columns_shape if self.adds else self.image_shape

    @property
    def output_shape(self) -> Shape:
        """The shape of the result."""
        return self.image_shape if self.adds else self.columns_shape

    @property
    def terms(self) -> int:
        """How many cells a patch has in each channel."""
        return prod(axis.filter_size for axis in self.axes)

    def __call__(self, x: np.ndarray) -> np.ndarray:
        """Return the result; sums are exact and rounded once."""
        host_array(x, "input", None)
        check_memory(self.output_shape, x.dtype, "the result")
        return exactly(self.added, x, self.terms) if self.adds else self._taken(x)

    def _split(self, columns: np.ndarray) -> np.ndarray:
        """Return a view of columns as [*outer, *taps, *patches]."""
        taps, patches = ([getattr(axis, name) for axis in self.axes] for name in ("filter_size", "out_size"))
        if not self.by_tap:
            return columns.reshape(*self.outer, *taps, *patches)
        split = columns.reshape(*self.outer[:-1], *taps, self.outer[-1], *patches)
        return np.moveaxis(split, len(self.outer) - 1 + len(taps), len(self.outer) - 1)

    def _taken(self, x: np.ndarray) -> np.ndarray:
        columns = np.zeros(self.columns_shape, x.dtype)
        split = self._split(columns)
        for tap, outputs, inputs in each_tap(self.axes):
            places: Any = (..., *tap, *outputs), (..., *inputs)
            split[places[0]] = x[places[1]]
        return columns

    def added(self, columns: np.ndarray, keeps_last: bool = False) -> np.ndarray:
        """Return columns added up to images, in their numbers; or where patches overlap, the last one."""
        image, split = np.zeros(self.image_shape, columns.dtype), self._split(columns)
        for tap, outputs, inputs in reversed([*each_tap(self.axes)]):  # the first tap is the last patch's
            part, here = split[..., *tap, *outputs], image[..., *inputs]
            image[..., *inputs] = part if keeps_last else here + part
        return image

    def explain(self, x: np.ndarray, cell: Shape) -> CellExplanation:
        """Return the cell of the image that a cell of a column reads; or the cells that are added to one."""
        depth, value = len(self.outer), self(x)[cell].item()
        if self.adds:
            reads = product(*map(scatter_all, self.axes, cell[depth:]))
            inside = [taps for taps in reads if not any(tap.in_padding for tap in taps)]
            places = [
                (*cell[:depth], *(t.tap for t in taps), *(t.out_index for t in taps)) for taps in inside
            ]
            numbers = self._split(np.arange(x.size).reshape(x.shape))
            cells = [tuple(map(int, np.unravel_index(numbers[place], x.shape))) for place in places]
            what = f"the sum of {tables.count(len(cells), 'cell')} of as many patches"
            return CellExplanation(self, cell, value, tuple((at, x[at].item()) for at in cells), what)
        numbers = self._split(np.arange(prod(self.columns_shape)).reshape(self.columns_shape))
        at = [int(n) for n in np.argwhere(numbers == np.ravel_multi_index(cell, self.columns_shape))[0]]
        taps, outs = (*at[depth : depth + len(self.axes)],), (*at[depth + len(self.axes) :],)
        read = [gather_all(a, out)[tap] for a, out, tap in zip(self.axes, outs, taps, strict=True)]
        place = (*at[:depth], *(tap.in_index for tap in read))
        number = None if any(tap.in_padding for tap in read) else x[place].item()
        what = f"tap [{tables.index(taps)}] of the patch [{tables.index(outs)}], channel {at[depth - 1]}"
        return CellExplanation(self, cell, value, ((place, number),), what)

    @property
    def rule(self) -> str:
        """What the rows and columns are, as a sentence."""
        row = "tap · channels + channel" if self.by_tap else "channel · taps + tap"
        added = "; cells of several patches are added" if self.adds else ""
        return f"row {row} of column p is that cell of patch p{added}"

    def __str__(self) -> str:
        head = f"{self.function}: input {list(self.input_shape)} -> {list(self.output_shape)}"
        names = zip(AXES[-len(self.axes) :], self.axes, strict=True)
        lines = (
            f"  {name}: in = out · {a.stride} - {a.pad_before} + tap · {a.dilation}; {a.filter_size} taps, "
            f"{a.out_size} patches along {a.in_size} cells"
            for name, a in names
        )
        return tables.Table((), [], head, [f"  {self.rule}", *lines]).text()


def patch_call(
    function: str,
    shape: Shape,
    sizes: Shape,
    window: Shape,
    strides: Shape,
    pads: Pads,
    dilations: Shape,
    *,
    adds: bool,
) -> PatchCall:
    """Return the call of unfold or fold; raise where the columns do not belong to such an image.

    Args:
        function, adds: as the attributes of `PatchCall`.
        shape: the input's shape: [*batch, channels, *sizes], or [*batch, channels · taps, patches].
        sizes: the image's, without batch and channels.
        window, strides, pads, dilations: of the patches, one for each axis.
    """
    facts = zip(AXES[-len(sizes) :], sizes, window, strides, dilations, pads, strict=True)
    axes = tuple(forward_axis(axis, n, k, s, d, "EXPLICIT", sides) for axis, n, k, s, d, sides in facts)
    if not adds:
        return PatchCall(function, axes, shape[: -len(sizes)], adds)
    channels, rest = divmod(shape[-2], prod(window))
    call = PatchCall(function, axes, (*shape[:-2], channels), adds)
    if rest or not channels or call.columns_shape != shape:
        legal = f"a multiple of {prod(window)} rows and {call.columns_shape[-1]} columns"
        raise ArgumentError(f"the input must have {legal}, one for each patch; got {list(shape)}")
    return call
