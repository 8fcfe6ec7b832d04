"""The layers of well-known networks that the benchmarks time, one per line, and the calls made from them.

A `Layer` holds shapes only; a `Problem` is a layer with an op, a batch and a dtype. The padding is
(filter - 1) * dilation // 2 on every side, as in most PyTorch code; every framework accepts it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any

import numpy as np

import teachconv as tc
from teachconv.core.geometry import ConvGeometry, conv_geometry, conv_transpose_geometry
from teachconv.data.seeded import make_array

OPS = ("forward", "input_gradient", "filter_gradient", "transposed", "depthwise")
DEPTHWISE = ("depthwise", "depthwise_input_gradient", "depthwise_filter_gradient")

Arrays = Mapping[str, np.ndarray]


@dataclass(frozen=True)
class Layer:
    """The shapes of one layer: the input without the batch, the filter and the output channels.

    >>> Layer("stem", (224, 224), 3, (7, 7), 64, stride=2).spec
    'stem:224x224x3:7x7x64:s2'
    """

    name: str
    sizes: tuple[int, ...]
    in_channels: int
    filter_sizes: tuple[int, ...]
    out_channels: int
    stride: int = 1
    dilation: int = 1
    groups: int = 1
    family: str = "dense"

    @property
    def rank(self) -> int:
        """The number of spatial axes."""
        return len(self.sizes)

    @property
    def is_3x3(self) -> bool:
        """Whether it is 3x3 at stride 1 without dilation or groups, as Winograd's 3x3 transforms need."""
        return (self.filter_sizes, self.stride, self.dilation, self.groups) == ((3, 3), 1, 1, 1)

    @property
    def spec(self) -> str:
        """The layer in the format of ``--shape``."""
        shapes = (*self.sizes, self.in_channels), (*self.filter_sizes, self.out_channels)
        text = ":".join([self.name, *("x".join(map(str, shape)) for shape in shapes)])
        options = {"s": self.stride, "d": self.dilation, "g": self.groups}
        return text + "".join(f":{letter}{number}" for letter, number in options.items() if number > 1)

    def smaller(self) -> Layer:
        """The same layer with few cells and channels, small enough for the exact reference."""
        depth, width = self.in_channels // self.groups, self.out_channels // self.groups
        groups = min(self.groups, 19)
        depth, width = (min(depth, 20), min(width, 36)) if groups == 1 else (min(depth, 4), min(width, 4))
        dilation = min(self.dilation, 3)
        sizes = tuple(min(size, 6 if self.rank == 3 else 9) for size in self.sizes)
        channels: dict[str, Any] = {"in_channels": groups * depth, "out_channels": groups * width}
        return replace(self, sizes=sizes, dilation=dilation, groups=groups, **channels)


def _equal(
    rank: int, name: str, channels: tuple[int, int], size: int, filter_size: int, **more: Any
) -> Layer:
    """A layer whose axes are equal."""
    return Layer(name, (size,) * rank, channels[0], (filter_size,) * rank, channels[1], **more)


_line, _square = partial(_equal, 1), partial(_equal, 2)

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

# sequences: audio and text
SEQUENCES = (
    # Whisper's first two layers
    _line("k3 80-384@3000", (80, 384), 3000, 3),
    _line("k3 384-384@3000", (384, 384), 3000, 3),
    # wav2vec 2.0
    _line("k10s5 1-32@16000", (1, 32), 16000, 10, stride=5),
    _line("k3s2 512-512@1600", (512, 512), 1600, 3, stride=2),
    # WaveNet
    _line("k2d512 64-64@16000", (64, 64), 16000, 2, dilation=512),
    # Conformer
    _line("depthwise k31 256@1600", (256, 256), 1600, 31, groups=256, family="depthwise"),
    # HiFi-GAN's generator
    _line("transposed k16s8 256-128@400", (256, 128), 400, 16, stride=8, family="transposed"),
    # shapes of no well-known network
    _line("k5 48-96@700", (48, 96), 700, 5),
    _line("depthwise k7s2 72@3001", (72, 72), 3001, 7, stride=2, groups=72, family="depthwise"),
)

# volumes: videos and scans
VOLUMES = (
    # 3D U-Net
    Layer("3x3x3 32-32@32x32x32", (32, 32, 32), 32, (3, 3, 3), 32),
    Layer("transposed 2x2x2s2 64-32@16x16x16", (16, 16, 16), 64, (2, 2, 2), 32, 2, family="transposed"),
    # C3D
    Layer("3x3x3 64-128@16x28x28", (16, 28, 28), 64, (3, 3, 3), 128),
    # I3D
    Layer("7x7x7s2 3-64@16x112x112", (16, 112, 112), 3, (7, 7, 7), 64, 2),
    # R(2+1)D
    Layer("3x1x1 64-64@16x28x28", (16, 28, 28), 64, (3, 1, 1), 64),
    Layer("1x3x3 64-64@16x28x28", (16, 28, 28), 64, (1, 3, 3), 64),
    # shapes of no well-known network
    Layer("3x3x3 24-40@9x25x25", (9, 25, 25), 24, (3, 3, 3), 40),
    Layer("3x3x3s2 48-64@11x30x30", (11, 30, 30), 48, (3, 3, 3), 64, 2),
)

TABLES = {1: SEQUENCES, 2: LAYERS, 3: VOLUMES}  # by rank

QUICK_LAYERS = (
    _square("quick 3x3 8-16@14", (8, 16), 14, 3),
    _square("quick 7x7s2 3-8@20", (3, 8), 20, 7, stride=2),
    _square("lesson 3x3 1-32@28", (1, 32), 28, 3),
    _square("quick depthwise 3x3 16@14", (16, 16), 14, 3, groups=16, family="depthwise"),
    _square("quick transposed 4x4s2 8-4@6", (8, 4), 6, 4, stride=2, family="transposed"),
)

QUICK_TABLES = {
    1: (_line("quick k3s2 8-16@40", (8, 16), 40, 3, stride=2),),
    2: QUICK_LAYERS,
    3: (Layer("quick 3x3x3 8-16@5x7x7", (5, 7, 7), 8, (3, 3, 3), 16),),
}

_SHAPE = re.compile(r"(?:([^:]+):)?(\d+(?:x\d+){1,3}):(\d+(?:x\d+){1,3})(?::s(\d+))?(?::d(\d+))?(?::g(\d+))?")


def parse_shape(text: str) -> Layer:
    """Read NAME:ROWSxCOLSxIN:KROWSxKCOLSxOUT[:sSTRIDE][:dDILATION][:gGROUPS].

    A sequence has one size in place of ROWSxCOLS, a volume three. Raises ``ValueError`` if it is malformed.

    >>> parse_shape("mine:28x28x64:3x3x64:s2:g4").groups
    4
    >>> parse_shape("3000x80:3x384").rank
    1
    """
    found = _SHAPE.fullmatch(text)
    shapes = [[*map(int, part.split("x"))] for part in found.groups()[1:3]] if found else [[], [0]]
    if not found or len(shapes[0]) != len(shapes[1]):
        raise ValueError(
            f"--shape must be NAME:ROWSxCOLSxIN:KROWSxKCOLSxOUT[:sSTRIDE][:dDILATION][:gGROUPS], such as "
            f"mine:28x28x64:3x3x128:s2, with one or three sizes in place of two for a sequence or a volume; "
            f"got {text!r}"
        )
    stride, dilation, groups = (int(number) if number else 1 for number in found.groups()[3:])
    (*sizes, ins), (*filter_sizes, outs) = shapes
    if min(*sizes, ins, *filter_sizes, outs, stride, dilation, groups) < 1:
        raise ValueError(f"--shape {text!r}: every number must be at least 1")
    if ins % groups or outs % groups:
        raise ValueError(f"--shape {text!r}: IN {ins} and OUT {outs} must be multiples of g{groups}")
    family = "depthwise" if 1 < groups == ins else "any"
    name = found[1] or text
    layer = Layer(name, tuple(sizes), ins, tuple(filter_sizes), outs, stride, dilation, groups, family)
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
    def label(self) -> str:
        """The op in words, with what it is computed over if that is not images."""
        over = {1: " over sequences", 2: "", 3: " over volumes"}[self.layer.rank]
        return self.op.replace("_", " ") + over

    @property
    def padding(self) -> tuple[tuple[int, int], ...]:
        """A pair (before, after) for each axis; both are equal."""
        pads = ((size - 1) * self.layer.dilation // 2 for size in self.layer.filter_sizes)
        return tuple((pad, pad) for pad in pads)

    @property
    def options(self) -> dict[str, Any]:
        """The strides, padding and dilations of the call."""
        return {"strides": self.layer.stride, "padding": self.padding, "dilations": self.layer.dilation}

    @property
    def geometry(self) -> ConvGeometry:
        """The geometry of the forward convolution, as backends see it."""
        layer = self.layer
        ends, taps = (self.batch, *layer.sizes, layer.in_channels), layer.filter_sizes
        if self.op != "transposed":
            filters = (*taps, layer.in_channels // layer.groups, layer.out_channels)
            return conv_geometry(ends, filters, **self.options)
        filters = (*taps, layer.out_channels // layer.groups, layer.in_channels)
        sizes = conv_transpose_geometry(ends, filters, **self.options).output_shape[:-1]
        whole = conv_transpose_geometry(ends, filters, (*sizes, layer.out_channels), **self.options)
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
        options, shapes = self.options, dict(self.shapes)
        depthwise = self.op in DEPTHWISE and self.layer.rank == 2  # the other ranks have groups alone
        if depthwise:  # [filter_rows, filter_cols, in_channels, channel_multiplier]
            taps, multiplier = shapes["w"][:2], self.layer.out_channels // self.layer.in_channels
            shapes["w"] = (*taps, self.layer.in_channels, multiplier)
        x, dy = arrays.get("x"), arrays.get("dy")
        w = arrays["w"].reshape(shapes["w"]) if "w" in arrays else None
        name = "conv2d_transpose" if self.op == "transposed" else self.kind
        op = getattr(tc, f"depthwise_{name}" if depthwise else name.replace("2d", f"{self.layer.rank}d"))
        if self.op == "transposed":
            return op, (dy, w, shapes["x"]), options
        if self.kind == "conv2d_backprop_input":
            return op, (shapes["x"], w, dy), options
        if self.kind == "conv2d_backprop_filter":
            return op, (x, shapes["w"], dy), options
        return op, (x, w), options

    def facts(self) -> dict[str, Any]:
        """Everything as plain numbers, for a worker without teachconv."""
        g = self.geometry
        same = conv_geometry(g.input_shape, g.filters_shape, g.strides, "SAME", dilations=g.dilations)
        return {
            "problem": asdict(self),
            "op": self.op,
            "kind": self.kind,
            "depthwise": self.op in DEPTHWISE,
            "dtype": self.dtype,
            "shapes": self.shapes,
            "strides": g.strides,
            "dilations": g.dilations,
            "padding": [before for before, _ in self.padding],
            "is_same": (same.padding, same.output_shape) == (g.padding, g.output_shape),
            "groups": g.groups,
            "images": self.images,
        }

    @classmethod
    def from_facts(cls, facts: Mapping[str, Any]) -> Problem:
        """Make a problem from `facts`."""
        layer = dict(facts["problem"]["layer"])  # JSON makes lists of tuples
        layer |= {name: tuple(layer[name]) for name in ("sizes", "filter_sizes")}
        return cls(**(facts["problem"] | {"layer": Layer(**layer)}))


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
