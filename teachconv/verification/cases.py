"""The named problems: one line each, grouped by what they are hard for.

Tests, ``python -m teachconv diff``, `check_backend`, the sanitizer run and the GPU's host check all go
through this table. Every bug that is found adds a line.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import chain
from math import prod
from typing import Any

import numpy as np

from ..core.arguments import channels_first, shape_only
from ..core.calls import Call, resolve
from ..core.dtypes import is_integer, to_dtype
from ..core.geometry import ConvGeometry
from ..core.kinds import FILTER_GRADIENT, INPUT_GRADIENT, OPS, Op, layout_of, sibling
from ..data.seeded import EXACT, blurred, make_array
from ..running import nn_ops
from ..support.errors import words_of

_QUICK = 1 << 18  # multiply-adds that Python itself adds in a hundredth of a second
_FEW = 1 << 14  # cells of all arrays together, as many as every tool can show


@dataclass(frozen=True, slots=True)
class Problem:
    """One op with its arguments, ready to run: ``op(*args, **kwargs)``; ``call`` is what they come to."""

    name: str
    op: Callable[..., np.ndarray]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    call: Call


@dataclass(frozen=True, slots=True)
class Case:
    """A convolution by its shapes. ``op`` is the name of an op that is not a gradient, such as "conv2d".

    It stands for one problem, and one more for each of its gradient ops: conv2d has two, conv2d_transpose
    none. Shapes have the channels last, filters the op's own layout; with ``data_format="NCHW"`` the arrays
    are remade with the channels first, in their memory too; "" is for "NHWC", and "NWC" and "NDHWC" over one
    axis and three. ``marks`` are the tags that do not follow from the rest.
    """

    name: str
    op: str
    input: tuple[int, ...]
    filters: tuple[int, ...]
    strides: Any = 1
    padding: Any = "VALID"
    dilations: Any = 1
    data_format: str = ""
    output_shape: tuple[int, ...] | None = None
    output_padding: Any = None
    bias: bool = False
    marks: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "data_format", self.data_format or layout_of("input", len(self.input) - 2))

    @property
    def geometry(self) -> ConvGeometry:
        """The convolution as integers, whatever the data."""
        x = self.arranged(shape_only(self.input, np.float32))
        return self._call(self._op, x, shape_only(self.filters, np.float32), self.output_shape).geometry

    @property
    def tags(self) -> tuple[str, ...]:
        """What the case is hard for, in one word each."""
        g, op = self.geometry, self._op
        shapes = g.input_shape, g.filters_shape, g.output_shape
        cells = sum(map(prod, shapes))
        found = {
            "transposed": op.transposed,
            "depthwise": op.depthwise,
            "groups": g.groups > 1 and not op.depthwise,
            "1x1": set(g.filters_shape[:-2]) == {1},
            "strided": any(axis.stride > 1 for axis in g.axes),
            "dilated": any(axis.dilation > 1 for axis in g.axes),
            "crop": not isinstance(self.padding, str) and np.min(self.padding) < 0,
            "empty": 0 in chain(*shapes),
            "bias": self.bias,
            "nchw": self.data_format[1] == "C",
            "1d": g.rank == 1,
            "3d": g.rank == 3,
            "small": g.rank == 2 and g.macs <= _QUICK and cells <= _FEW,
        }
        return (*self.marks, *(tag for tag, holds in found.items() if holds))

    def takes(self, dtype: str, data: str) -> bool:
        """Whether the exact sums of such data are quick: of large cases, those of small or finite numbers."""
        quick = data in EXACT or (data == "normal" and not is_integer(to_dtype(dtype)))
        return quick or self.geometry.macs <= _QUICK

    def problems(self, dtype: Any = "float32", data: str = "normal", seed: str = "") -> Iterator[Problem]:
        """Yield the problems of this case with seeded data of a kind, such as "normal" or "integers".

        Of "pixels", the input is whole, and filters, bias and gradients are "normal"; of "blurs", the filters
        are those of ``blurred``.
        """

        def array(shape: Any, role: str) -> np.ndarray:
            numbers = "normal" if data == "pixels" and role != "input" else data
            made = make_array(shape, dtype, numbers, f"{self.name}{seed} {role}")
            return blurred(made) if data == "blurs" and role == "filters" else made

        def images(shape: Any, role: str) -> np.ndarray:
            return np.ascontiguousarray(self.arranged(array(shape, role)))

        op, x, w = self._op, images(self.input, "input"), array(self.filters, "filters")
        common = {
            "strides": self.strides,
            "padding": self.padding,
            "data_format": self.data_format,
            "dilations": self.dilations,
        }
        call = self._call(op, x, w, self.output_shape)
        bias = array(call.backend_shape[-1:], "bias") if self.bias else None
        args: tuple[Any, ...] = (x, w, self.output_shape) if op.transposed else (x, w)
        kwargs = common | ({"output_padding": self.output_padding} if op.transposed else {})
        kwargs |= {"bias": bias} if self.bias else {}
        name, call = f"{self.op}: {self.name}", replace(call, bias=bias)
        yield Problem(name, getattr(nn_ops, op.name), args, kwargs, call)
        dy = images(call.geometry.output_shape, "out_backprop")
        for kind in () if op.transposed else (INPUT_GRADIENT, FILTER_GRADIENT):
            gradient, of_filters = sibling(op, kind), kind.sums_images
            arrays, sizes = ((x, dy), w.shape) if of_filters else ((dy, w), x.shape)
            args = (x, w.shape, dy) if of_filters else (x.shape, w, dy)
            name = f"{self.op} {'filter' if of_filters else 'input'} gradient: {self.name}"
            call = self._call(gradient, *arrays, sizes)
            yield Problem(name, getattr(nn_ops, gradient.name), args, common, call)

    @property
    def _op(self) -> Op:
        return OPS[self.op]

    def arranged(self, array: np.ndarray) -> np.ndarray:
        """Return activations in the layout of the op."""
        order = tuple(range(array.ndim))
        return array.transpose(order if self.data_format[-1] == "C" else channels_first(order))

    def _call(self, op: Op, first: Any, second: Any, sizes: Any) -> Call:
        how = self.strides, self.padding, self.data_format, self.dilations
        return resolve(op, first, second, None, *how, sizes, self.output_padding)


def find_cases(tags: Iterable[str] | str | None = None, slow: bool = False) -> tuple[Case, ...]:
    """Return the cases of `CASES` that have any of the tags; all for None.

    Args:
        tags: tags, or one of them.
        slow: whether to return those as well that have the tag "slow".

    Raises:
        ValueError: if no case has one of the tags.

    >>> [case.name for case in find_cases("dilated") if "transposed" in case.tags]
    ['dilation', 'output padding beyond stride']
    """
    every = [(case, case.tags) for case in CASES]
    wanted = words_of(tags, "tags", dict.fromkeys(tag for _, found in every for tag in found))
    return tuple(case for case, of in every if not {*wanted}.isdisjoint(of) and (slow or "slow" not in of))


def _tagged(tag: str, *cases: Case) -> tuple[Case, ...]:
    return tuple(replace(case, marks=(*case.marks, tag)) for case in cases)


CASES: tuple[Case, ...] = (
    # hand-worked: the well-known TensorFlow example, and the smallest there are
    *_tagged(
        "hand",
        Case("the example", "conv2d", (1, 4, 4, 1), (3, 3, 1, 1)),
        Case("one pixel", "conv2d", (1, 1, 1, 1), (1, 1, 1, 1)),
        Case("one row", "conv2d", (2, 1, 7, 2), (1, 3, 2, 3), 1, "SAME"),
        Case("one column", "conv2d", (1, 6, 1, 2), (3, 1, 2, 2), (2, 1), "SAME"),
        Case("1x1", "conv2d", (2, 5, 4, 3), (1, 1, 3, 5), bias=True),
        Case("1x1 stride 2", "conv2d", (1, 5, 6, 3), (1, 1, 3, 4), 2, "SAME"),
    ),
    # SAME and its odd row
    *_tagged(
        "odd",
        Case("same", "conv2d", (2, 5, 6, 3), (3, 3, 3, 4), 1, "SAME", bias=True),
        Case("same stride 2, even input", "conv2d", (1, 8, 8, 2), (3, 3, 2, 3), 2, "SAME"),
        Case("same stride 2, odd input", "conv2d", (1, 7, 9, 2), (3, 3, 2, 3), 2, "SAME"),
        Case("same lower stride 2", "conv2d", (1, 8, 7, 2), (3, 3, 2, 3), 2, "SAME_LOWER"),
        Case("same stride 3", "conv2d", (1, 10, 11, 2), (4, 5, 2, 3), 3, "SAME"),
        Case("even filter", "conv2d", (1, 6, 7, 2), (2, 4, 2, 3), 1, "SAME"),
        Case("even filter lower", "conv2d", (1, 6, 7, 2), (2, 4, 2, 3), 1, "SAME_LOWER"),
        Case("filter smaller than stride", "conv2d", (1, 9, 8, 2), (2, 1, 2, 3), 3, "SAME"),
        Case("filter smaller than stride, valid", "conv2d", (1, 9, 8, 2), (1, 2, 2, 3), 4),
        Case("filter larger than input", "conv2d", (1, 2, 3, 2), (5, 5, 2, 3), 1, "SAME"),
    ),
    # strides and dilations
    Case("valid stride 2, rows left over", "conv2d", (2, 8, 7, 3), (3, 3, 3, 2), 2),
    Case("strides differ", "conv2d", (1, 9, 8, 2), (3, 2, 2, 3), (3, 1), "SAME"),
    Case("dilation 2", "conv2d", (1, 9, 8, 2), (3, 3, 2, 3), 1, "SAME", 2),
    Case("dilation 3 valid", "conv2d", (1, 9, 8, 2), (3, 2, 2, 3), 1, "VALID", (3, 2)),
    Case("stride 2 dilation 2", "conv2d", (1, 9, 11, 2), (3, 3, 2, 3), 2, "SAME", 2),
    Case("stride 2 dilation 3", "conv2d", (1, 11, 12, 2), (3, 2, 2, 3), 2, "SAME", (3, 1)),
    Case("list of 4", "conv2d", (1, 7, 7, 2), (3, 3, 2, 2), [1, 2, 1, 1], "SAME", [1, 1, 2, 1]),
    # explicit padding
    *_tagged(
        "padding",
        Case("explicit", "conv2d", (1, 5, 6, 2), (3, 3, 2, 3), 1, ((2, 0), (1, 3))),
        Case("explicit stride 2", "conv2d", (1, 6, 5, 2), (3, 3, 2, 3), 2, [[0, 0], [1, 1], [2, 1], [0, 0]]),
        Case("1x1 padding", "conv2d", (1, 4, 5, 3), (1, 1, 3, 4), 1, ((1, 0), (0, 2))),
        Case("padding 1 stride 2", "conv2d", (1, 8, 8, 2), (3, 3, 2, 3), 2, 1, bias=True),
        Case("padding beyond the filter", "conv2d", (1, 3, 3, 2), (2, 2, 2, 3), 1, ((4, 3), (3, 4))),
        Case("windows in the padding", "conv2d", (1, 4, 5, 3), (3, 3, 3, 4), 1, ((5, 4), (4, 6)), bias=True),
        Case("crop", "conv2d", (1, 8, 9, 2), (3, 3, 2, 3), 1, ((-2, -1), (-1, -2))),
        Case("more cropped than the filter", "conv2d", (1, 9, 12, 2), (3, 3, 2, 3), 1, ((-4, -1), (1, -5))),
        Case("crop and pad", "conv2d", (1, 8, 9, 2), (3, 2, 2, 3), 2, ((-1, 3), (2, -3))),
    ),
    # channels and groups
    Case("many channels", "conv2d", (1, 6, 5, 17), (3, 3, 17, 33), 1, "SAME", bias=True),
    Case("groups", "conv2d", (2, 5, 6, 4), (3, 3, 2, 6), 1, "SAME", bias=True),
    Case("groups stride 2 dilation 2", "conv2d", (1, 9, 8, 6), (3, 3, 2, 9), 2, "SAME", 2),
    Case("groups 1x1", "conv2d", (1, 4, 4, 12), (1, 1, 3, 8)),
    Case("groups nchw", "conv2d", (2, 5, 6, 4), (3, 2, 2, 6), (2, 1), "SAME", 1, "NCHW"),
    Case("depthwise", "depthwise_conv2d", (2, 6, 5, 5), (3, 3, 5, 1), 1, "SAME", bias=True),
    Case("depthwise multiplier", "depthwise_conv2d", (1, 6, 7, 3), (3, 3, 3, 3), 1, "SAME"),
    Case("depthwise stride 2", "depthwise_conv2d", (1, 7, 8, 19), (3, 3, 19, 1), 2, "SAME"),
    Case("depthwise stride 2 dilation 2", "depthwise_conv2d", (1, 9, 9, 4), (3, 3, 4, 2), 2, "SAME", 2),
    Case("depthwise one channel", "depthwise_conv2d", (1, 5, 5, 1), (3, 3, 1, 4), 1, "VALID"),
    Case("depthwise nchw", "depthwise_conv2d", (1, 5, 6, 4), (2, 3, 4, 2), 1, ((1, 0), (0, 2)), 1, "NCHW"),
    # more images, channels, filter rows and image rows than a kernel's blocks hold
    *_tagged(
        "tails",
        Case("five images, 70 to 66 channels", "conv2d", (5, 1, 2, 70), (1, 2, 70, 66), bias=True),
        Case("9x9", "conv2d", (1, 9, 10, 2), (9, 9, 2, 2), 1, "SAME"),
        Case("70 rows", "conv2d", (1, 70, 3, 2), (3, 1, 2, 3), 1, "SAME"),
    ),
    # layouts and shapes of real networks, small
    *_tagged(
        "real",
        Case("nchw", "conv2d", (2, 5, 6, 3), (3, 3, 3, 4), 2, "SAME", 1, "NCHW", bias=True),
        Case("7x7 stride 2", "conv2d", (1, 20, 18, 3), (7, 7, 3, 16), 2, "SAME"),
        Case("3x3 mid network", "conv2d", (1, 14, 14, 20), (3, 3, 20, 24), 1, "SAME"),
        Case("wide row", "conv2d", (1, 2, 65, 3), (1, 5, 3, 18), 1, "SAME"),
        Case("tall filter", "conv2d", (1, 12, 3, 2), (7, 1, 2, 3), (2, 1), "SAME"),
    ),
    # nothing there
    Case("empty batch", "conv2d", (0, 5, 5, 2), (3, 3, 2, 3), 1, "SAME"),
    Case("no rows", "conv2d", (1, 0, 5, 2), (3, 3, 2, 3), 1, "SAME"),
    Case("no input channels", "conv2d", (1, 4, 4, 0), (3, 3, 0, 3), 1, "SAME", bias=True),
    Case("no output channels", "conv2d", (1, 4, 4, 2), (3, 3, 2, 0), 1, "SAME"),
    # transposed: both ends of the legal range, alignment, and sizes that no forward convolution gives
    Case("default", "conv2d_transpose", (1, 4, 5, 2), (3, 3, 3, 2), 2, "SAME", bias=True),
    Case("8 to 16", "conv2d_transpose", (1, 8, 8, 1), (3, 3, 1, 1), 2, "SAME", output_shape=(1, 16, 16, 1)),
    Case("8 to 15", "conv2d_transpose", (1, 8, 8, 1), (3, 3, 1, 1), 2, "SAME", output_shape=(1, 15, 15, 1)),
    Case("same lower", "conv2d_transpose", (1, 4, 5, 2), (3, 4, 3, 2), 2, "SAME_LOWER"),
    Case("stride 1", "conv2d_transpose", (2, 4, 5, 3), (3, 3, 2, 3), 1, "SAME"),
    Case("valid", "conv2d_transpose", (1, 4, 5, 2), (3, 3, 3, 2), 2, "VALID"),
    Case(
        "valid, longest",
        "conv2d_transpose",
        (1, 4, 5, 2),
        (3, 3, 3, 2),
        3,
        "VALID",
        1,
        "NHWC",
        (1, 14, 17, 3),
    ),
    Case("filter smaller than stride", "conv2d_transpose", (1, 3, 4, 2), (2, 1, 3, 2), 3, "VALID"),
    Case("filter smaller than stride, same", "conv2d_transpose", (1, 3, 4, 2), (2, 1, 3, 2), 3, "SAME"),
    Case("4x4 stride 2", "conv2d_transpose", (1, 4, 4, 16), (4, 4, 8, 16), 2, "SAME", bias=True),
    Case("dilation", "conv2d_transpose", (1, 4, 5, 2), (3, 2, 3, 2), 2, "SAME", (2, 3)),
    Case("explicit", "conv2d_transpose", (1, 4, 5, 2), (3, 3, 3, 2), 2, ((1, 0), (2, 1))),
    Case("output padding", "conv2d_transpose", (1, 4, 5, 2), (3, 3, 3, 2), 2, 1, output_padding=1),
    Case(
        "output padding beyond stride",
        "conv2d_transpose",
        (1, 3, 4, 2),
        (2, 2, 3, 2),
        2,
        1,
        4,
        output_padding=3,
        bias=True,
    ),
    Case("crop", "conv2d_transpose", (1, 3, 4, 2), (3, 3, 3, 2), 2, ((-1, 0), (0, -2))),
    Case("groups", "conv2d_transpose", (1, 4, 3, 6), (3, 3, 2, 6), 2, "SAME", 1, "NHWC", (1, 8, 6, 6)),
    Case("nchw", "conv2d_transpose", (1, 4, 3, 4), (3, 2, 3, 4), (2, 3), "SAME", 1, "NCHW", bias=True),
    Case("empty batch", "conv2d_transpose", (0, 4, 5, 2), (3, 3, 3, 2), 2, "SAME"),
    # over one axis and over three, where a module's ``RANKS`` has them
    Case("one axis", "convolution", (2, 7, 4), (3, 2, 6), 2, "SAME", 1, "NWC", bias=True),
    Case("one axis, dilation", "convolution", (1, 11, 3), (4, 3, 2), 1, ((2, -1),), 3, "NCW"),
    Case("causal", "convolution", (2, 9, 3), (3, 3, 4), 1, ((2, 0),), 1, "NWC"),
    Case("causal, dilation 2", "convolution", (1, 13, 4), (4, 4, 6), 1, ((6, 0),), 2, "NCW"),
    Case(
        "causal, each channel alone", "convolution", (2, 11, 8), (4, 1, 8), 1, ((3, 0),), 1, "NWC", bias=True
    ),
    Case("WaveNet, dilation 16", "convolution", (1, 40, 6), (2, 6, 8), 1, ((16, 0),), 16, "NWC"),
    Case("one axis, transposed", "conv_transpose", (1, 5, 3), (4, 2, 3), 3, "SAME", 1, "NWC", (1, 14, 2)),
    Case(
        "three axes", "convolution", (2, 6, 8, 7, 4), (2, 3, 3, 2, 6), (1, 1, 2), "SAME", (1, 2, 1), "NDHWC"
    ),
    Case("three axes, NCDHW", "convolution", (1, 4, 5, 3, 2), (3, 1, 2, 2, 3), (2, 1, 1), "SAME", 1, "NCDHW"),
    Case("three axes, transposed", "conv_transpose", (1, 2, 3, 2, 2), (3, 2, 3, 3, 2), 2, "SAME", 1, "NDHWC"),
    # channel counts that fill vectors, tiles and blocks, one less and one more
    *_tagged(
        "tails",
        *(
            Case(
                f"{ins} to {outs} channels", "conv2d", (1, 5, 7, ins), (3, 3, ins, outs), 1, "SAME", bias=True
            )
            for ins, outs in (
                *((7, 9), (8, 8), (9, 7), (15, 17), (16, 16), (17, 15)),
                *((31, 33), (32, 32), (33, 31), (63, 65), (64, 64), (65, 63)),
            )
        ),
        Case("groups of 8 to 16", "conv2d", (1, 6, 5, 32), (3, 3, 8, 64), 1, "SAME"),
        Case("groups of 9 to 7", "conv2d", (2, 5, 6, 27), (3, 3, 9, 21), 1, "SAME", 1, "NCHW"),
        Case("64 channels, each alone", "depthwise_conv2d", (1, 9, 10, 64), (3, 3, 64, 1), 1, "SAME"),
        Case("129 channels out", "conv2d", (1, 6, 6, 24), (3, 3, 24, 129), 1, "SAME", bias=True),
        Case("nine images", "conv2d", (9, 5, 6, 8), (3, 3, 8, 16), 1, "SAME"),
        Case("130 columns", "conv2d", (1, 3, 130, 8), (3, 3, 8, 16), 1, "SAME"),
        Case("16 pixels of 64 channels", "conv2d", (1, 4, 4, 64), (1, 1, 64, 96), bias=True),
        Case("5x5", "conv2d", (1, 13, 14, 16), (5, 5, 16, 24), 1, "SAME"),
        Case("7x7", "conv2d", (1, 15, 13, 8), (7, 7, 8, 16), 1, "SAME"),
        Case("11x11", "conv2d", (1, 14, 15, 8), (11, 11, 8, 16), 1, "SAME"),
    ),
    # sums of more terms than a block along the sum holds: 288, 1152, 4608 and 4097; of 5000 in the gradients
    *_tagged(
        "sums",
        Case("288 terms", "conv2d", (1, 7, 6, 32), (3, 3, 32, 24), 1, "SAME"),
        Case("1152 terms", "conv2d", (1, 5, 6, 128), (3, 3, 128, 24), 1, "SAME"),
        Case("4608 terms", "conv2d", (1, 4, 6, 512), (3, 3, 512, 16), 1, "SAME", bias=True),
        Case("257 channels", "conv2d", (1, 4, 4, 257), (1, 1, 257, 9), bias=True),
        Case("4097 channels", "conv2d", (1, 3, 3, 4097), (1, 1, 4097, 8)),
        Case("5000 positions", "conv2d", (2, 50, 50, 4), (3, 3, 4, 8), 1, "SAME"),
        Case("520 channels out", "conv2d", (1, 3, 4, 8), (3, 3, 8, 520), 1, "SAME"),
    ),
    # indices that 16 bits do not hold, and 20
    *_tagged(
        "indices",
        Case("83,850 cells in", "conv2d", (1, 130, 129, 5), (3, 3, 5, 3), (3, 2), "SAME"),
        Case("82,944 weights", "conv2d", (1, 3, 4, 96), (3, 3, 96, 96), 1, "SAME"),
        Case("33,020 positions", "conv2d", (1, 5, 6606, 1), (1, 3, 1, 1)),
        Case("72,930 cells out", "conv2d", (1, 66, 65, 3), (3, 3, 3, 17), 1, "SAME"),
        Case(
            "80,000 cells, each channel alone", "depthwise_conv2d", (1, 50, 50, 32), (3, 3, 32, 1), 1, "SAME"
        ),
        *_tagged(
            "slow",
            Case("1,052,651 cells in", "conv2d", (1, 1031, 1021, 1), (3, 3, 1, 2), 8, "SAME"),
            Case("1,050,600 weights", "conv2d", (1, 2, 2, 1030), (1, 1, 1030, 1020)),
            Case("1,060,800 cells out", "conv2d", (1, 260, 255, 3), (3, 3, 3, 16), 1, "SAME"),
        ),
    ),
    # filters, batches, strides and dilations that networks often have
    *_tagged(
        "layers",
        Case("ConvNeXt, 2x2 stride 2", "conv2d", (1, 14, 15, 12), (2, 2, 12, 24), 2, bias=True),
        Case("4x4", "conv2d", (1, 9, 8, 6), (4, 4, 6, 8), 1, "SAME"),
        Case("PatchGAN, 4x4 stride 2", "conv2d", (1, 16, 15, 6), (4, 4, 6, 12), 2, 1, bias=True),
        Case("5x5 stride 2", "conv2d", (1, 13, 14, 6), (5, 5, 6, 12), 2, "SAME"),
        Case("32 images", "conv2d", (32, 4, 5, 3), (3, 3, 3, 8), 1, "SAME", bias=True),
        Case("64 images", "conv2d", (64, 3, 3, 4), (1, 1, 4, 8)),
        Case("ViT, patches of 8", "conv2d", (1, 24, 32, 3), (8, 8, 3, 12), 8, bias=True),
        Case("ViT, patches of 16", "conv2d", (1, 32, 48, 3), (16, 16, 3, 8), 16, "VALID", 1, "NCHW"),
        Case("stride 5", "conv2d", (1, 21, 23, 4), (7, 7, 4, 6), 5, "SAME"),
        Case("dilation 8", "conv2d", (1, 19, 18, 4), (3, 3, 4, 6), 1, "SAME", 8),
        Case("ASPP, dilation 12", "conv2d", (1, 25, 26, 4), (3, 3, 4, 6), 1, "SAME", 12),
        Case("ASPP, dilation 24", "conv2d", (1, 33, 26, 4), (3, 3, 4, 6), 1, "SAME", 24),
    ),
    # layers of real networks; those at full size are slow
    *_tagged(
        "real",
        Case("ResNet, first layer", "conv2d", (1, 56, 56, 3), (7, 7, 3, 64), 2, 3, 1, "NCHW"),
        Case("ResNet, 14x14", "conv2d", (2, 14, 14, 48), (3, 3, 48, 48), 1, "SAME", bias=True),
        Case("ResNet, shortcut", "conv2d", (1, 14, 14, 128), (1, 1, 128, 256), 2, "SAME"),
        Case("ResNet, 7x7", "conv2d", (1, 7, 7, 160), (3, 3, 160, 160), 1, "SAME", 1, "NCHW"),
        Case("ResNeXt, 32 groups", "conv2d", (1, 14, 14, 128), (3, 3, 4, 128), 1, "SAME"),
        Case(
            "MobileNet, depthwise", "depthwise_conv2d", (1, 28, 28, 96), (3, 3, 96, 1), 2, "SAME", bias=True
        ),
        Case("MobileNet, 5x5", "depthwise_conv2d", (1, 14, 14, 120), (5, 5, 120, 1), 1, "SAME"),
        Case("ConvNeXt, 7x7", "depthwise_conv2d", (1, 9, 10, 24), (7, 7, 24, 1), 1, "SAME"),
        Case("MobileNet, pointwise", "conv2d", (1, 14, 14, 192), (1, 1, 192, 64), bias=True),
        Case("DeepLab, dilation 6", "conv2d", (1, 20, 20, 32), (3, 3, 32, 48), 1, "SAME", 6),
        Case("U-Net, valid", "conv2d", (1, 30, 30, 32), (3, 3, 32, 32), bias=True),
        Case("U-Net, up", "conv2d_transpose", (1, 14, 14, 64), (2, 2, 32, 64), 2, "VALID", bias=True),
        Case("DCGAN, first layer", "conv2d_transpose", (2, 1, 1, 100), (4, 4, 128, 100), 1, "VALID"),
        Case("DCGAN, 8x8 to 16x16", "conv2d_transpose", (2, 8, 8, 64), (4, 4, 48, 64), 2, "SAME", 1, "NHWC"),
        Case("wav2vec, first layer", "convolution", (1, 1000, 1), (10, 1, 128), 5, "VALID", 1, "NWC"),
        Case(
            "wav2vec, inner layer",
            "convolution",
            (1, 66, 128),
            (3, 128, 128),
            2,
            "VALID",
            1,
            "NCW",
            bias=True,
        ),
        Case("wav2vec, positions", "convolution", (1, 49, 96), (128, 6, 96), 1, 64, 1, "NWC"),
        Case("3D U-Net", "convolution", (1, 6, 10, 10, 16), (3, 3, 3, 16, 16), 1, "SAME", 1, "NDHWC"),
        *_tagged(
            "slow",
            Case("3x512x512", "conv2d", (1, 512, 512, 3), (3, 3, 3, 4), 2, 1, 1, "NCHW"),
            Case("ResNet-50, first layer", "conv2d", (1, 224, 224, 3), (7, 7, 3, 64), 2, 3),
            Case("ResNet-50, 56x56", "conv2d", (1, 56, 56, 64), (3, 3, 64, 64), 1, "SAME", bias=True),
            Case("ResNet-50, 14x14, 8 images", "conv2d", (8, 14, 14, 256), (3, 3, 256, 256), 1, "SAME"),
            Case("ResNet-50, 7x7", "conv2d", (1, 7, 7, 512), (3, 3, 512, 512), 1, "SAME", 1, "NCHW"),
            Case("MobileNetV2, 112x112", "depthwise_conv2d", (1, 112, 112, 96), (3, 3, 96, 1), 2, "SAME"),
            Case("DCGAN, 16x16 to 32x32", "conv2d_transpose", (4, 16, 16, 256), (4, 4, 128, 256), 2, "SAME"),
            Case("wav2vec 2.0, positions", "convolution", (1, 49, 768), (128, 48, 768), 1, 64, 1, "NWC"),
        ),
    ),
)
