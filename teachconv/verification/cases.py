"""The named problems: one line each, grouped by what they are hard for.

Tests, ``python -m teachconv diff``, `check_backend`, the sanitizer run and the GPU's host check all go
through this table. Every bug that is found adds a line.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import nn_ops
from ..data.seeded import make_array
from ..kinds import OPS

__all__ = ["CASES", "Case", "Problem"]


@dataclass(frozen=True, slots=True)
class Problem:
    """One op with its arguments, ready to run: ``op(*args, **kwargs)``."""

    name: str
    op: Callable[..., np.ndarray]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Case:
    """A convolution by its shapes. ``op`` is the name of an op that is no gradient, such as "conv2d".

    It stands for one problem, and one more for each of its gradient ops: conv2d has two, conv2d_transpose
    none. Shapes are NHWC and the op's own filter layout; with ``data_format="NCHW"`` the arrays are
    transposed.
    """

    name: str
    op: str
    input: tuple[int, int, int, int]
    filters: tuple[int, int, int, int]
    strides: Any = 1
    padding: Any = "VALID"
    dilations: Any = 1
    data_format: str = "NHWC"
    output_shape: tuple[int, int, int, int] | None = None
    output_padding: Any = None
    bias: bool = False

    def problems(self, dtype: Any = "float32", data: str = "normal") -> Iterator[Problem]:
        """Yield the problems of this case with seeded data of one kind (see `make_array`)."""

        def array(shape: Any, role: str) -> np.ndarray:
            made = make_array(shape, dtype, data, f"{self.name} {role}")
            return made.transpose(0, 3, 1, 2) if self.data_format == "NCHW" and role != "filters" else made

        x, w = array(self.input, "input"), array(self.filters, "filters")
        common = {"strides": self.strides, "padding": self.padding, "data_format": self.data_format}
        common["dilations"] = self.dilations
        function = nn_ops.FUNCTIONS[OPS[self.op]]
        arrays: tuple[Any, ...] = x, w
        extra: dict[str, Any] = {}
        if OPS[self.op].transposed:
            arrays, extra = (x, w, self.output_shape), {"output_padding": self.output_padding}
        call, _ = nn_ops.call_of(function, arrays, common | extra)
        bias = self._bias(call.backend_shape[3], dtype, data)
        yield Problem(self._name(""), function, arrays, common | extra | bias)
        gradients = [gradient for gradient, of in nn_ops.FORWARD_OF.items() if of is function]
        dy = array(call.geometry.output_shape, "out_backprop") if gradients else None
        for gradient in gradients:
            if OPS[gradient.__name__].kind.sums_images:
                yield Problem(self._name(" filter gradient"), gradient, (x, w.shape, dy), common)
            else:
                yield Problem(self._name(" input gradient"), gradient, (x.shape, w, dy), common)

    def _name(self, what: str) -> str:
        return f"{self.op}{what}: {self.name}"

    def _bias(self, channels: int, dtype: Any, data: str) -> dict[str, Any]:
        return {"bias": make_array((channels,), dtype, data, f"{self.name} bias")} if self.bias else {}


CASES: tuple[Case, ...] = (
    # hand-worked: the well-known TensorFlow example, and the smallest there are
    Case("the example", "conv2d", (1, 4, 4, 1), (3, 3, 1, 1)),
    Case("one pixel", "conv2d", (1, 1, 1, 1), (1, 1, 1, 1)),
    Case("one row", "conv2d", (2, 1, 7, 2), (1, 3, 2, 3), 1, "SAME"),
    Case("one column", "conv2d", (1, 6, 1, 2), (3, 1, 2, 2), (2, 1), "SAME"),
    Case("1x1", "conv2d", (2, 5, 4, 3), (1, 1, 3, 5), bias=True),
    Case("1x1 stride 2", "conv2d", (1, 5, 6, 3), (1, 1, 3, 4), 2, "SAME"),
    # SAME and its odd row
    Case("same", "conv2d", (2, 5, 6, 3), (3, 3, 3, 4), 1, "SAME", bias=True),
    Case("same stride 2, even input", "conv2d", (1, 8, 8, 2), (3, 3, 2, 3), 2, "SAME"),
    Case("same stride 2, odd input", "conv2d", (1, 7, 9, 2), (3, 3, 2, 3), 2, "SAME"),
    Case("same lower stride 2", "conv2d", (1, 8, 7, 2), (3, 3, 2, 3), 2, "SAME_LOWER"),
    Case("same stride 3", "conv2d", (1, 10, 11, 2), (4, 5, 2, 3), 3, "SAME"),
    Case("even filter", "conv2d", (1, 6, 7, 2), (2, 4, 2, 3), 1, "SAME"),
    Case("even filter lower", "conv2d", (1, 6, 7, 2), (2, 4, 2, 3), 1, "SAME_LOWER"),
    Case("filter smaller than stride", "conv2d", (1, 9, 8, 2), (2, 1, 2, 3), 3, "SAME"),
    Case("filter smaller than stride, valid", "conv2d", (1, 9, 8, 2), (2, 1, 2, 3), 4),
    Case("filter larger than input", "conv2d", (1, 2, 3, 2), (5, 5, 2, 3), 1, "SAME"),
    # strides and dilations
    Case("valid stride 2, rows left over", "conv2d", (2, 8, 7, 3), (3, 3, 3, 2), 2),
    Case("strides differ", "conv2d", (1, 9, 8, 2), (3, 2, 2, 3), (3, 1), "SAME"),
    Case("dilation 2", "conv2d", (1, 9, 8, 2), (3, 3, 2, 3), 1, "SAME", 2),
    Case("dilation 3 valid", "conv2d", (1, 9, 8, 2), (3, 2, 2, 3), 1, "VALID", (3, 2)),
    Case("stride 2 dilation 2", "conv2d", (1, 9, 11, 2), (3, 3, 2, 3), 2, "SAME", 2),
    Case("stride 2 dilation 3", "conv2d", (1, 11, 12, 2), (3, 2, 2, 3), 2, "SAME", (3, 1)),
    Case("list of 4", "conv2d", (1, 7, 7, 2), (3, 3, 2, 2), [1, 2, 1, 1], "SAME", [1, 1, 2, 1]),
    # explicit padding
    Case("explicit", "conv2d", (1, 5, 6, 2), (3, 3, 2, 3), 1, ((2, 0), (1, 3))),
    Case("explicit stride 2", "conv2d", (1, 6, 5, 2), (3, 3, 2, 3), 2, [[0, 0], [1, 1], [2, 1], [0, 0]]),
    Case("padding 1 stride 2", "conv2d", (1, 8, 8, 2), (3, 3, 2, 3), 2, 1, bias=True),
    Case("padding beyond the filter", "conv2d", (1, 3, 3, 2), (2, 2, 2, 3), 1, ((4, 3), (3, 4))),
    Case("windows in the padding", "conv2d", (1, 4, 5, 3), (3, 3, 3, 4), 1, ((5, 4), (4, 6)), bias=True),
    Case("crop", "conv2d", (1, 8, 9, 2), (3, 3, 2, 3), 1, ((-2, -1), (-1, -2))),
    Case("more cropped than the filter", "conv2d", (1, 9, 12, 2), (3, 3, 2, 3), 1, ((-4, -1), (1, -5))),
    Case("crop and pad", "conv2d", (1, 8, 9, 2), (3, 2, 2, 3), 2, ((-1, 3), (2, -3))),
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
    Case("five images, 70 to 66 channels", "conv2d", (5, 1, 2, 70), (1, 2, 70, 66), bias=True),
    Case("9x9", "conv2d", (1, 9, 10, 2), (9, 9, 2, 2), 1, "SAME"),
    Case("70 rows", "conv2d", (1, 70, 3, 2), (3, 1, 2, 3), 1, "SAME"),
    # layouts and shapes of real networks, small
    Case("nchw", "conv2d", (2, 5, 6, 3), (3, 3, 3, 4), 2, "SAME", 1, "NCHW", bias=True),
    Case("7x7 stride 2", "conv2d", (1, 20, 18, 3), (7, 7, 3, 16), 2, "SAME"),
    Case("3x3 mid network", "conv2d", (1, 14, 14, 20), (3, 3, 20, 24), 1, "SAME"),
    Case("wide row", "conv2d", (1, 2, 65, 3), (1, 5, 3, 18), 1, "SAME"),
    Case("tall filter", "conv2d", (1, 12, 3, 2), (7, 1, 2, 3), (2, 1), "SAME"),
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
    ),
    Case("crop", "conv2d_transpose", (1, 3, 4, 2), (3, 3, 3, 2), 2, ((-1, 0), (0, -2))),
    Case("groups", "conv2d_transpose", (1, 4, 3, 6), (3, 3, 2, 6), 2, "SAME", 1, "NHWC", (1, 8, 6, 6)),
    Case("nchw", "conv2d_transpose", (1, 4, 3, 4), (3, 2, 3, 4), (2, 3), "SAME", 1, "NCHW", bias=True),
    Case("empty batch", "conv2d_transpose", (0, 4, 5, 2), (3, 3, 3, 2), 2, "SAME"),
)
