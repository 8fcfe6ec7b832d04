"""The layers of well-known networks that the benchmarks time, one per line, and the calls made from them.

A `Layer` holds shapes only; a `Problem` is a layer with an op, a batch and a dtype. The padding is
(filter - 1) // 2 on every side, as in most PyTorch code; every framework accepts it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

import teachconv as tc
from teachconv.data.seeded import make_array
from teachconv.geometry import Conv2DGeometry

OPS = ("forward", "input_gradient", "filter_gradient", "transposed", "depthwise")
DEPTHWISE = ("depthwise", "depthwise_input_gradient", "depthwise_filter_gradient")

Arrays = Mapping[str, np.ndarray]


@dataclass(frozen=True)
class Layer:
    """The shapes of one layer: the input without the batch, the filter and the output channels.

    >>> Layer("stem", 224, 224, 3, 7, 7, 64, stride=2).spec
    'stem:224x224x3:7x7x64:s2'
    """

    name: str
    rows: int
    cols: int
    in_channels: int
    filter_rows: int
    filter_cols: int
    out_channels: int
    stride: int = 1
    groups: int = 1
    family: str = "dense"

    @property
    def spec(self) -> str:
        """The layer in the format of ``--shape``."""
        text = f"{self.name}:{self.rows}x{self.cols}x{self.in_channels}"
        text += f":{self.filter_rows}x{self.filter_cols}x{self.out_channels}"
        text += f":s{self.stride}" if self.stride > 1 else ""
        return text + (f":g{self.groups}" if self.groups > 1 else "")

    def smaller(self) -> Layer:
        """The same layer with few cells and channels, small enough for the exact reference."""
        depth, width = self.in_channels // self.groups, self.out_channels // self.groups
        groups = min(self.groups, 19)
        depth, width = (min(depth, 20), min(width, 36)) if groups == 1 else (min(depth, 4), min(width, 4))
        rows, cols = (min(size, 9) for size in (self.rows, self.cols))
        channels = {"in_channels": groups * depth, "out_channels": groups * width}
        return replace(self, rows=rows, cols=cols, groups=groups, **channels)


def _square(name: str, channels: tuple[int, int], size: int, filter_size: int, **more: Any) -> Layer:
    return Layer(name, size, size, channels[0], filter_size, filter_size, channels[1], **more)


LAYERS = (
    # ResNet-50
    _square("7x7s2 3-64@224", (3, 64), 224, 7, stride=2),
    _square("1x1 64-64@56", (64, 64), 56, 1),
    _square("1x1 64-256@56", (64, 256), 56, 1),
    _square("1x1 256-64@56", (256, 64), 56, 1),
    _square("3x3 64-64@56", (64, 64), 56, 3),
    _square("3x3s2 128-128@56", (128, 128), 56, 3, stride=2),
    _square("3x3 128-128@28", (128, 128), 28, 3),
    _square("1x1 512-128@28", (512, 128), 28, 1),
    _square("3x3 256-256@14", (256, 256), 14, 3),
    _square("1x1 1024-256@14", (1024, 256), 14, 1),
    _square("3x3 512-512@7", (512, 512), 7, 3),
    _square("1x1 2048-512@7", (2048, 512), 7, 1),
    # VGG-16
    _square("VGG 3x3 64-64@224", (64, 64), 224, 3),
    _square("VGG 3x3 128-128@112", (128, 128), 112, 3),
    _square("VGG 3x3 256-256@56", (256, 256), 56, 3),
    _square("VGG 3x3 512-512@28", (512, 512), 28, 3),
    _square("VGG 3x3 512-512@14", (512, 512), 14, 3),
    # the first layer of a lesson: one input channel
    _square("lesson 3x3 1-32@28", (1, 32), 28, 3),
    # MobileNet
    _square("depthwise 3x3 32@112", (32, 32), 112, 3, groups=32, family="depthwise"),
    _square("depthwise 3x3 512@14", (512, 512), 14, 3, groups=512, family="depthwise"),
    # DCGAN's generator
    _square("transposed 4x4s2 1024-512@4", (1024, 512), 4, 4, stride=2, family="transposed"),
    _square("transposed 4x4s2 512-256@8", (512, 256), 8, 4, stride=2, family="transposed"),
    _square("transposed 4x4s2 256-128@16", (256, 128), 16, 4, stride=2, family="transposed"),
    _square("transposed 4x4s2 128-3@32", (128, 3), 32, 4, stride=2, family="transposed"),
    # shapes of no well-known network: no kernel was tuned for them
    _square("3x3 24-40@50", (24, 40), 50, 3),
    _square("5x5 48-64@35", (48, 64), 35, 5),
    _square("1x1 96-24@45", (96, 24), 45, 1),
    _square("depthwise 5x5 48@100", (48, 48), 100, 5, groups=48, family="depthwise"),
    _square("depthwise 3x3s2 256@28", (256, 256), 28, 3, stride=2, groups=256, family="depthwise"),
    _square("transposed 3x3s2 96-48@20", (96, 48), 20, 3, stride=2, family="transposed"),
)

QUICK_LAYERS = (
    _square("quick 3x3 8-16@14", (8, 16), 14, 3),
    _square("quick 7x7s2 3-8@20", (3, 8), 20, 7, stride=2),
    _square("lesson 3x3 1-32@28", (1, 32), 28, 3),
    _square("quick depthwise 3x3 16@14", (16, 16), 14, 3, groups=16, family="depthwise"),
    _square("quick transposed 4x4s2 8-4@6", (8, 4), 6, 4, stride=2, family="transposed"),
)

_SHAPE = re.compile(r"(?:([^:]+):)?(\d+)x(\d+)x(\d+):(\d+)x(\d+)x(\d+)(?::s(\d+))?(?::g(\d+))?")


def parse_shape(text: str) -> Layer:
    """Read NAME:ROWSxCOLSxIN:KROWSxKCOLSxOUT[:sSTRIDE][:gGROUPS]; raise ``ValueError`` if it is malformed.

    >>> parse_shape("mine:28x28x64:3x3x64:s2:g4").groups
    4
    """
    found = _SHAPE.fullmatch(text)
    if not found:
        raise ValueError(
            f"--shape must be NAME:ROWSxCOLSxIN:KROWSxKCOLSxOUT[:sSTRIDE][:gGROUPS], such as "
            f"mine:28x28x64:3x3x128:s2; got {text!r}"
        )
    numbers = [int(number) if number else 1 for number in found.groups()[1:]]
    *sizes, groups = numbers
    if min(numbers) < 1:
        raise ValueError(f"--shape {text!r}: every number must be at least 1")
    if sizes[2] % groups or sizes[5] % groups:
        raise ValueError(f"--shape {text!r}: IN {sizes[2]} and OUT {sizes[5]} must be multiples of g{groups}")
    family = "depthwise" if 1 < groups == sizes[2] else "any"
    layer = Layer(found[1] or text, *sizes, groups=groups, family=family)
    Problem(layer, "forward", 1, "float32").geometry  # noqa: B018 - raises where no output is left
    return layer


@dataclass(frozen=True)
class Problem:
    """One call to time; ``dtype`` is NumPy's name, or "tf32" for float32 computed in TF32."""

    layer: Layer
    op: str
    batch: int
    dtype: str

    @property
    def padding(self) -> tuple[tuple[int, int], tuple[int, int]]:
        """((top, bottom), (left, right)); both sides are equal."""
        rows, cols = ((size - 1) // 2 for size in (self.layer.filter_rows, self.layer.filter_cols))
        return (rows, rows), (cols, cols)

    @property
    def geometry(self) -> Conv2DGeometry:
        """The geometry of the forward convolution, as backends see it."""
        layer, options = self.layer, {"strides": self.layer.stride, "padding": self.padding}
        ends = (self.batch, layer.rows, layer.cols, layer.in_channels)
        taps = (layer.filter_rows, layer.filter_cols)
        if self.op != "transposed":
            filters = (*taps, layer.in_channels // layer.groups, layer.out_channels)
            return tc.conv2d_geometry(ends, filters, **options)
        filters = (*taps, layer.out_channels // layer.groups, layer.in_channels)
        sizes = tc.conv2d_transpose_geometry(ends, filters, **options).output_shape[:3]
        whole = tc.conv2d_transpose_geometry(ends, filters, (*sizes, layer.out_channels), **options)
        return whole.forward

    @property
    def kind(self) -> str:
        """The backend function: conv2d, conv2d_backprop_input or conv2d_backprop_filter."""
        if self.op == "transposed" or self.op.endswith("input_gradient"):
            return "conv2d_backprop_input"
        return "conv2d_backprop_filter" if self.op.endswith("filter_gradient") else "conv2d"

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Shapes of x, w (HWIO) and dy: input, filter and output of the forward convolution."""
        g = self.geometry
        return {"x": g.input_shape, "w": g.filters_shape, "dy": g.output_shape}

    @property
    def operands(self) -> tuple[str, str]:
        """The two of x, w and dy that are operands; the third is the result."""
        return {"conv2d": ("x", "w"), "conv2d_backprop_input": ("w", "dy")}.get(self.kind, ("x", "dy"))

    @property
    def images(self) -> list[int]:
        """The images of a result that are compared: the first and the last."""
        return sorted({0, self.batch - 1})

    @property
    def flops(self) -> int:
        """Operations of the direct algorithm: two per multiply-add, including taps in the padding."""
        return 2 * self.geometry.macs

    @property
    def intensity(self) -> float:
        """Operations per byte if each of the three arrays is moved once."""
        cells = sum(int(np.prod(shape)) for shape in self.shapes.values())
        return self.flops / (cells * np.dtype(self.dtype.replace("tf32", "float32")).itemsize)

    def arrays(self) -> dict[str, np.ndarray]:
        """The seeded operands, always in float32, so that all dtypes have the same truth."""
        return {
            name: make_array(self.shapes[name], "float32", "normal", f"{self.layer.name} {name}")
            for name in self.operands
        }

    def call(self, arrays: Arrays) -> tuple[Callable[..., np.ndarray], tuple[Any, ...], dict[str, Any]]:
        """Return teachconv's op, arguments and options for this problem on these arrays."""
        options: dict[str, Any] = {"strides": self.layer.stride, "padding": self.padding}
        shapes = dict(self.shapes)
        depthwise = self.op in DEPTHWISE
        if depthwise:  # [filter_rows, filter_cols, in_channels, channel_multiplier]
            taps, multiplier = shapes["w"][:2], self.layer.out_channels // self.layer.in_channels
            shapes["w"] = (*taps, self.layer.in_channels, multiplier)
        x, dy = arrays.get("x"), arrays.get("dy")
        w = arrays["w"].reshape(shapes["w"]) if "w" in arrays else None
        if self.op == "transposed":
            return tc.conv2d_transpose, (dy, w, shapes["x"]), options
        if self.kind == "conv2d_backprop_input":
            op = tc.depthwise_conv2d_backprop_input if depthwise else tc.conv2d_backprop_input
            return op, (shapes["x"], w, dy), options
        if self.kind == "conv2d_backprop_filter":
            op = tc.depthwise_conv2d_backprop_filter if depthwise else tc.conv2d_backprop_filter
            return op, (x, shapes["w"], dy), options
        return tc.depthwise_conv2d if depthwise else tc.conv2d, (x, w), options

    def facts(self) -> dict[str, Any]:
        """Everything as plain numbers, for a worker without teachconv."""
        g = self.geometry
        same = tc.conv2d_geometry(g.input_shape, g.filters_shape, g.strides, "SAME")
        return {
            "problem": asdict(self),
            "op": self.op,
            "kind": self.kind,
            "depthwise": self.op in DEPTHWISE,
            "dtype": self.dtype,
            "shapes": self.shapes,
            "strides": g.strides,
            "padding": [before for before, _ in self.padding],
            "is_same": (same.padding, same.output_shape) == (g.padding, g.output_shape),
            "groups": g.groups,
            "images": self.images,
        }

    @classmethod
    def from_facts(cls, facts: Mapping[str, Any]) -> Problem:
        """Make a problem from `facts`."""
        return cls(**(facts["problem"] | {"layer": Layer(**facts["problem"]["layer"])}))


def expand(op: str) -> tuple[str, ...]:
    """Return the ops that an op of the command line stands for: depthwise includes its two gradients."""
    return DEPTHWISE if op == "depthwise" else (op,)


def fits(layer: Layer, op: str) -> bool:
    """Whether a layer is timed with an op."""
    if layer.family == "any":  # a layer given by the user: every op except depthwise
        return op not in DEPTHWISE
    if layer.family == "dense":
        return op in ("forward", "input_gradient", "filter_gradient")
    return op in DEPTHWISE if layer.family == "depthwise" else op == "transposed"
