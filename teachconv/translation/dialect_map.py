"""The map of dialects: what each option resolves to, and how each framework expresses it.

Both tables are generated: `option_rows` resolves each call or records why it is refused, `target_rows`
translates it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import Any

from ..core.arguments import SIDES
from ..core.geometry import TITLES, ConvGeometry, conv2d_geometry
from ..dialects import jax, keras, onnx, torch
from ..dialects.calls import ConvCall
from ..running import nn_ops
from ..support.tables import Cell, Table, left
from ..windows import normalization, padding, pooling
from ..windows.pooling import PoolCall
from .targets import TARGETS, known_functions
from .translating import resolve, translate_call


@dataclass(frozen=True, slots=True)
class Probe:
    """One call that shows an option.

    Attributes:
        option: the option in words.
        function: the function of a dialect.
        shapes: the shapes of its arrays.
        arguments: its other arguments.
    """

    option: str
    function: Callable[..., Any]
    shapes: tuple[tuple[int, ...], ...]
    arguments: dict[str, Any]

    @property
    def dialect(self) -> str:
        """The framework whose function it is."""
        return _NAMES[self.function].partition(".")[0]

    @property
    def text(self) -> str:
        """The call as it would be written."""
        words = ", ".join(f"{name}={value!r}" for name, value in self.arguments.items())
        return f"{_NAMES[self.function].partition('.')[2]}({words})"


_NAMES = {function: name for name, function in known_functions().items()}

# 8 x 8 input, 3 x 3 filter, 2 channels in and 4 out, unless the option needs others
_NHWC, _NCHW = (1, 8, 8, 2), (1, 2, 8, 8)
_HWIO, _OIHW = (3, 3, 2, 4), (4, 2, 3, 3)
_HWOI, _IOHW = (3, 3, 4, 2), (2, 4, 3, 3)
_TF, _TORCH, _ONNX, _KERAS = (_NHWC, _HWIO), (_NCHW, _OIHW), (_NCHW, _OIHW), (_NHWC, _HWIO)
_TF_T, _TORCH_T = (_NHWC, _HWOI), (_NCHW, _IOHW)
_JAX, _JAX_T = (_NCHW, _OIHW), (_NHWC, _HWIO)
# over one axis of 8, and over three
_LINE, _LINE_FIRST = ((1, 8, 2), (3, 2, 4)), ((1, 2, 8), (4, 2, 3))
_LINE_T, _LINE_FIRST_T = ((1, 8, 2), (3, 4, 2)), ((1, 2, 8), (2, 4, 3))
_VOLUME, _VOLUME_FIRST = ((1, 8, 8, 8, 2), (3, 3, 3, 2, 4)), ((1, 2, 8, 8, 8), (4, 2, 3, 3, 3))
_LAST, _FIRST = (_NHWC,), (_NCHW,)  # of a pool, padding and batch normalisation
_LOWEST, _WINDOW = float("-inf"), {"window_dimensions": (1, 1, 3, 3), "window_strides": (1, 1, 2, 2)}


# an option, and the calls that show it, one or more for each framework
OPTIONS: tuple[Probe, ...] = tuple(
    Probe(option, *call)
    for option, *calls in (
        (
            "SAME, stride 1",
            (nn_ops.conv2d, _TF, {"padding": "SAME"}),
            (torch.conv2d, _TORCH, {"padding": "same"}),
            (jax.conv_general_dilated, _JAX, {"window_strides": (1, 1), "padding": "SAME"}),
            (onnx.conv, _ONNX, {"auto_pad": "SAME_UPPER"}),
            (keras.conv, _KERAS, {"padding": "same"}),
        ),
        (
            "SAME, stride 2",
            (nn_ops.conv2d, _TF, {"strides": 2, "padding": "SAME"}),
            (torch.conv2d, _TORCH, {"stride": 2, "padding": "same"}),
            (torch.conv2d, _TORCH, {"stride": 2, "padding": 1}),
            (jax.conv_general_dilated, _JAX, {"window_strides": (2, 2), "padding": "SAME"}),
            (onnx.conv, _ONNX, {"strides": [2, 2], "auto_pad": "SAME_UPPER"}),
            (keras.conv, _KERAS, {"strides": 2, "padding": "same"}),
        ),
        (
            "SAME with the odd row at the top",
            (nn_ops.conv2d, _TF, {"strides": 2, "padding": "SAME_LOWER"}),
            (jax.conv_general_dilated, _JAX, {"window_strides": (2, 2), "padding": "SAME_LOWER"}),
            (onnx.conv, _ONNX, {"strides": [2, 2], "auto_pad": "SAME_LOWER"}),
            (keras.conv, _KERAS, {"strides": 2, "padding": "same_lower"}),
        ),
        (
            "padding that is not the same on both sides",
            (nn_ops.conv2d, _TF, {"padding": [[0, 0], [0, 1], [2, 0], [0, 0]]}),
            (torch.conv2d, _TORCH, {"padding": (0, 1, 2, 0)}),
            (jax.conv_general_dilated, _JAX, {"window_strides": (1, 1), "padding": ((0, 1), (2, 0))}),
            (onnx.conv, _ONNX, {"pads": [0, 2, 1, 0]}),
            (keras.conv, _KERAS, {"padding": ((0, 1), (2, 0))}),
        ),
        (
            "negative padding",
            (nn_ops.conv2d, _TF, {"padding": -1}),
            (torch.conv2d, _TORCH, {"padding": -1}),
            (jax.conv_general_dilated, _JAX, {"window_strides": (1, 1), "padding": ((-1, -1), (-1, -1))}),
            (onnx.conv, _ONNX, {"pads": [-1, -1, -1, -1]}),
        ),
        (
            "stride 2 with dilation 2",
            (nn_ops.conv2d, _TF, {"strides": 2, "padding": "SAME", "dilations": 2}),
            (torch.conv2d, _TORCH, {"stride": 2, "padding": 2, "dilation": 2}),
            (
                jax.conv_general_dilated,
                _JAX,
                {"window_strides": (2, 2), "padding": "SAME", "rhs_dilation": (2, 2)},
            ),
            (onnx.conv, _ONNX, {"strides": [2, 2], "auto_pad": "SAME_UPPER", "dilations": [2, 2]}),
            (keras.conv, _KERAS, {"strides": 2, "padding": "same", "dilation_rate": 2}),
        ),
        (
            "groups, or depthwise with multiplier 2",
            (nn_ops.depthwise_conv2d, (_NHWC, (3, 3, 2, 2)), {}),
            (torch.conv2d, (_NCHW, (4, 1, 3, 3)), {"groups": 2}),
            (
                jax.conv_general_dilated,
                (_NCHW, (4, 1, 3, 3)),
                {"window_strides": (1, 1), "padding": "VALID", "feature_group_count": 2},
            ),
            (onnx.conv, (_NCHW, (4, 1, 3, 3)), {"group": 2}),
            (keras.conv, (_NHWC, (3, 3, 1, 4)), {}),
        ),
        (
            "transposed, SAME, stride 2",
            (nn_ops.conv2d_transpose, _TF_T, {"strides": 2, "padding": "SAME"}),
            (
                nn_ops.conv2d_transpose,
                _TF_T,
                {"output_shape": (1, 15, 15, 4), "strides": 2, "padding": "SAME"},
            ),
            (torch.conv_transpose2d, _TORCH_T, {"stride": 2, "padding": 1}),
            (torch.conv_transpose2d, _TORCH_T, {"stride": 2, "padding": 1, "output_padding": 1}),
            (jax.conv_transpose, _JAX_T, {"strides": (2, 2), "padding": "SAME"}),
            (onnx.conv_transpose, _TORCH_T, {"strides": [2, 2], "auto_pad": "SAME_UPPER"}),
            (onnx.conv_transpose, _TORCH_T, {"strides": [2, 2], "auto_pad": "SAME_LOWER"}),
            (onnx.conv_transpose, _TORCH_T, {"strides": [2, 2], "output_shape": [16, 16]}),
            (keras.conv_transpose, _TF_T, {"strides": 2, "padding": "same"}),
            (keras.conv_transpose, _TF_T, {"strides": 2, "padding": "same", "output_padding": 0}),
        ),
        (
            "transposed, VALID, filter shorter than the stride",
            (nn_ops.conv2d_transpose, (_NHWC, (1, 1, 4, 2)), {"strides": 3, "padding": "VALID"}),
            (torch.conv_transpose2d, (_NCHW, (2, 4, 1, 1)), {"stride": 3}),
            (jax.conv_transpose, (_NHWC, (1, 1, 2, 4)), {"strides": (3, 3), "padding": "VALID"}),
            (onnx.conv_transpose, (_NCHW, (2, 4, 1, 1)), {"strides": [3, 3], "auto_pad": "VALID"}),
            (onnx.conv_transpose, (_NCHW, (2, 4, 1, 1)), {"strides": [3, 3], "auto_pad": "SAME_UPPER"}),
            (keras.conv_transpose, (_NHWC, (1, 1, 4, 2)), {"strides": 3, "padding": "valid"}),
        ),
        (
            "transposed, integer pads of 0",
            (nn_ops.conv2d_transpose, _TF_T, {"strides": 2, "padding": 0}),
            (torch.conv_transpose2d, _TORCH_T, {"stride": 2, "padding": 0}),
            (jax.conv_transpose, _JAX_T, {"strides": (2, 2), "padding": ((0, 0), (0, 0))}),
            (
                jax.conv_transpose,
                _JAX_T,
                {"strides": (2, 2), "padding": ((0, 0), (0, 0)), "use_consistent_padding": True},
            ),
            (onnx.conv_transpose, _TORCH_T, {"strides": [2, 2], "pads": [0, 0, 0, 0]}),
            (keras.conv_transpose, _TF_T, {"strides": 2, "padding": 0}),
        ),
        (
            "transposed, output_padding from the stride up (dilation 3)",
            (
                nn_ops.conv2d_transpose,
                _TF_T,
                {"strides": 2, "padding": "VALID", "dilations": 3, "output_padding": 2},
            ),
            (torch.conv_transpose2d, _TORCH_T, {"stride": 2, "dilation": 3, "output_padding": 2}),
            (
                onnx.conv_transpose,
                _TORCH_T,
                {"strides": [2, 2], "dilations": [3, 3], "output_padding": [2, 2]},
            ),
            (keras.conv_transpose, _TF_T, {"strides": 2, "dilation_rate": 3, "output_padding": 2}),
        ),
        (
            "zeros between the input's cells, with a stride",
            (
                jax.conv_general_dilated,
                _JAX,
                {"window_strides": (2, 2), "padding": ((1, 1), (1, 1)), "lhs_dilation": (3, 3)},
            ),
        ),
        (
            "groups of images",
            (
                jax.conv_general_dilated,
                ((2, 2, 8, 8), _OIHW),
                {"window_strides": (1, 1), "padding": "SAME", "batch_group_count": 2},
            ),
        ),
        (
            "over one axis, causal: all padding before",
            (nn_ops.conv1d, _LINE, {"padding": "CAUSAL"}),
            (torch.conv1d, _LINE_FIRST, {"padding": (2, 0)}),
            (jax.conv_general_dilated, _LINE_FIRST, {"window_strides": (1,), "padding": ((2, 0),)}),
            (onnx.conv, _LINE_FIRST, {"pads": [2, 0]}),
            (keras.conv, _LINE, {"padding": "causal"}),
        ),
        (
            "over one axis, causal and SAME at stride 2",
            (nn_ops.conv1d, _LINE, {"strides": 2, "padding": "CAUSAL"}),
            (nn_ops.conv1d, _LINE, {"strides": 2, "padding": "SAME"}),
            (torch.conv1d, _LINE_FIRST, {"stride": 2, "padding": 1}),
            (jax.conv_general_dilated, _LINE_FIRST, {"window_strides": (2,), "padding": "SAME"}),
            (onnx.conv, _LINE_FIRST, {"strides": [2], "auto_pad": "SAME_UPPER"}),
            (keras.conv, _LINE, {"strides": 2, "padding": "same"}),
        ),
        (
            "over one axis, transposed, SAME, stride 2",
            (nn_ops.conv1d_transpose, _LINE_T, {"strides": 2, "padding": "SAME"}),
            (torch.conv_transpose1d, _LINE_FIRST_T, {"stride": 2, "padding": 1, "output_padding": 1}),
            (jax.conv_transpose, _LINE, {"strides": (2,), "padding": "SAME"}),
            (onnx.conv_transpose, _LINE_FIRST_T, {"strides": [2], "auto_pad": "SAME_UPPER"}),
            (keras.conv_transpose, _LINE_T, {"strides": 2, "padding": "same"}),
        ),
        (
            "over three axes, SAME, strides (2, 1, 1)",
            (nn_ops.conv3d, _VOLUME, {"strides": (2, 1, 1), "padding": "SAME"}),
            (torch.conv3d, _VOLUME_FIRST, {"stride": (2, 1, 1), "padding": 1}),
            (jax.conv_general_dilated, _VOLUME_FIRST, {"window_strides": (2, 1, 1), "padding": "SAME"}),
            (onnx.conv, _VOLUME_FIRST, {"strides": [2, 1, 1], "auto_pad": "SAME_UPPER"}),
            (keras.conv, _VOLUME, {"strides": (2, 1, 1), "padding": "same"}),
        ),
        (
            "max pool, stride 2",
            (pooling.max_pool, _LAST, {"ksize": 3, "strides": 2, "padding": "SAME"}),
            (torch.max_pool2d, _FIRST, {"kernel_size": 3, "stride": 2, "padding": 1}),
            (onnx.max_pool, _FIRST, {"kernel_shape": [3, 3], "strides": [2, 2], "auto_pad": "SAME_UPPER"}),
            (
                jax.reduce_window,
                _FIRST,
                {"init_value": _LOWEST, "computation": "max", **_WINDOW, "padding": "SAME"},
            ),
            (keras.max_pool, _LAST, {"pool_size": 3, "strides": 2, "padding": "same"}),
        ),
        (
            "max pool, a last window that does not fit",
            (torch.max_pool2d, _FIRST, {"kernel_size": 3, "stride": 2, "ceil_mode": True}),
            (onnx.max_pool, _FIRST, {"kernel_shape": [3, 3], "strides": [2, 2], "ceil_mode": 1}),
        ),
        (
            "max pool, dilated",
            (torch.max_pool2d, _FIRST, {"kernel_size": 2, "stride": 1, "dilation": 2}),
            (onnx.max_pool, _FIRST, {"kernel_shape": [2, 2], "dilations": [2, 2]}),
        ),
        (
            "average pool, and what its sums are divided by",
            (pooling.avg_pool, _LAST, {"ksize": 3, "strides": 2, "padding": "SAME"}),
            (torch.avg_pool2d, _FIRST, {"kernel_size": 3, "stride": 2, "padding": 1}),
            (
                torch.avg_pool2d,
                _FIRST,
                {"kernel_size": 3, "stride": 2, "padding": 1, "count_include_pad": False},
            ),
            (torch.avg_pool2d, _FIRST, {"kernel_size": 3, "stride": 2, "padding": 1, "ceil_mode": True}),
            (torch.avg_pool2d, _FIRST, {"kernel_size": 2, "divisor_override": 3}),
            (onnx.average_pool, _FIRST, {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1, 1, 1, 1]}),
            (
                jax.reduce_window,
                _FIRST,
                {"init_value": 0.0, "computation": "add", **_WINDOW, "padding": "SAME"},
            ),
            (keras.average_pool, _LAST, {"pool_size": 3, "strides": 2, "padding": "same"}),
        ),
        (
            "padding as a layer",
            (padding.pad, _LAST, {"paddings": [[0, 0], [1, 0], [2, 3], [0, 0]], "mode": "REFLECT"}),
            (padding.pad, _LAST, {"paddings": [[0, 0], [1, 0], [2, 3], [0, 0]], "mode": "SYMMETRIC"}),
            (torch.pad, _FIRST, {"pad": (2, 3, 1, 0), "mode": "reflect"}),
            (torch.pad, _FIRST, {"pad": (2, 3, 1, 0), "mode": "replicate"}),
            (torch.pad, _FIRST, {"pad": (2, 3, 1, 0), "mode": "circular"}),
            (onnx.pad, _FIRST, {"pads": [0, 0, 1, 2, 0, 0, 0, 3], "mode": "edge"}),
            (jax.pad, _LAST, {"pad_width": ((0, 0), (1, 0), (2, 3), (0, 0)), "mode": "wrap"}),
            (keras.pad, _LAST, {"pad_width": ((0, 0), (1, 0), (2, 3), (0, 0)), "mode": "reflect"}),
            (torch.pad, _FIRST, {"pad": (-1, 1), "mode": "constant"}),
        ),
        (
            "batch normalisation",
            (
                normalization.batch_normalization,
                _LAST,
                {"mean": [0.0, 1.0], "variance": [1.0, 4.0], "offset": None, "scale": None}
                | {"variance_epsilon": 1e-3},
            ),
            (torch.batch_norm, _FIRST, {"running_mean": [0.0, 1.0], "running_var": [1.0, 4.0]}),
            (
                onnx.batch_normalization,
                _FIRST,
                {"scale": [1.0, 1.0], "B": [0.0, 0.0], "input_mean": [0.0, 1.0], "input_var": [1.0, 4.0]},
            ),
            (keras.batch_normalization, _LAST, {"mean": [0.0, 1.0], "variance": [1.0, 4.0], "axis": -1}),
        ),
    )
    for call in calls
)


def option_rows() -> list[tuple[str, str, str, str]]:
    """Return the rows of the first table, one for each probe.

    Returns:
        (option, dialect, call, what it resolves to or why it is refused).
    """
    rows = []
    for probe in OPTIONS:
        try:
            call = resolve(probe.function, *probe.shapes, **probe.arguments)
        except (ValueError, TypeError) as error:
            rows.append((probe.option, probe.dialect, probe.text, f"refused: {error}"))
            continue
        size = "x".join(map(str, call.output_shape))
        if not isinstance(call, ConvCall):
            sides = f"{call.geometry.padding} around; " if isinstance(call, PoolCall) else ""
            rows.append((probe.option, probe.dialect, probe.text, f"{sides}{call.rule} -> {size}"))
            continue
        g = call.geometry
        if call.op.transposed:
            kept = _parts(g)
        else:
            named = zip(SIDES[-g.rank :], g.padding, strict=True)
            kept = " ".join(f"{side} {pad}" for pair in named for side, pad in zip(*pair, strict=True))
        groups = f", {g.groups} groups" if g.groups > 1 else ""
        stuffed = ", zeros inserted first" if call.has_gaps else ""
        rows.append((probe.option, probe.dialect, probe.text, f"{kept}{groups}{stuffed} -> {size}"))
    return rows


def _parts(g: ConvGeometry) -> str:
    """Return which part of the full result is kept; axes that are like the first one are left out."""
    parts = [
        (f"full[{axis.pad_before} : {axis.pad_before + axis.in_size}] of {axis.full_size}", title)
        for axis, title in zip(g.axes, TITLES[-g.rank :], strict=True)
    ]
    first = parts[0][0]
    return ", ".join(f"{part} {title}" for part, title in parts[:1] + [p for p in parts if p[0] != first])


def target_rows() -> list[tuple[str, str, tuple[str, ...]]]:
    """Return the rows of the second table, one for each probe that is not refused.

    Returns:
        (option, the call, how each target expresses it).
    """
    rows = []
    for probe in OPTIONS:
        try:
            ways = [
                translate_call(probe.function, probe.shapes, probe.arguments, target)
                for target in TARGETS.values()
            ]
        except (ValueError, TypeError):
            continue
        rows.append((probe.option, f"{probe.dialect}.{probe.text}", tuple(_way(way) for way in ways)))
    return rows


def _way(way: Any) -> str:
    """Return in a few words what a translation does besides the call itself."""
    if not way.possible:
        return "impossible"
    if not isinstance(way.source, ConvCall):
        return ", ".join(words for part, words in _LINES.items() if part in way.code) or "directly"
    target = way._target
    steps = {
        "pad first": any(map(any, target.pad_input)),
        "group by group": target.split > 1,
        "insert zeros first": way.source.has_gaps and not target.target.stuffs,
        "move parts of the batch to channels first": way.source.batch_groups > 1 and not target.target.stuffs,
        "filter flipped": target.flip != way.source.flip,
        "subsample after": bool(target.subsample),
        "crop after": any(map(any, target.pad_output)),
    }
    return ", ".join(words for words, needed in steps.items() if needed) or "directly"


# what a line of a pool's code does
_LINES = {
    "np.ones_like": "divided by the means of ones",
    "x = np.pad(": "pad first",
    "y = y * ": "scale after",
    "y = y / ": "divide after",
}


# ---------------------------------------------------------------------------------------------
# As text and as Markdown
# ---------------------------------------------------------------------------------------------

_OWN = (
    "tensorflow: teachconv's own ops, which take TensorFlow's arguments and also SAME_LOWER, negative "
    "padding and output_padding."
)


def both_tables() -> tuple[Table, Table]:
    """Return what each option resolves to, and how each framework says it, as tables."""
    resolved: list[tuple[Cell, ...]] = []
    for option, rows in groupby(option_rows(), itemgetter(0)):
        resolved += [(["", option], "", ""), *((f"  {name}", *others) for _, name, *others in rows)]
    says = "How each framework expresses the legal ones (python -m teachconv translate gives the code):"
    ways = [(text, *ways) for _, text, ways in target_rows()]
    return Table(left("", "", ""), resolved, _OWN), Table(left("call", *TARGETS), ways, says)


def markdown() -> str:
    """Return both tables as Markdown, for the documentation."""
    lines = ["## What each option resolves to", "", _OWN, ""]
    for option, rows in groupby(option_rows(), itemgetter(0)):
        resolved = [(dialect, f"`{text}`", result) for _, dialect, text, result in rows]
        lines += [f"### {option}", "", *_lines(("dialect", "call", "resolves to"), resolved), ""]
    ways = [(f"`{text}`", *ways) for _, text, ways in target_rows()]
    lines += ["## How each framework expresses it", "", *_lines(("call", *TARGETS), ways), ""]
    devices = []
    for word, *cells in zip(
        ("SAME", "SAME_LOWER", "VALID", ((1, 2), (1, 2))), *_DEVICES.values(), strict=True
    ):
        sides = conv2d_geometry((1, 8, 8, 1), (3, 3, 1, 1), 2, word).padding[0]
        devices.append((f"`{word}`", "{} before, {} after".format(*sides), *cells))
    lines += ["## What runtimes on devices call it", "", _DEVICE_NOTE, ""]
    return "\n".join([*lines, *_lines(("padding", "8 cells, filter 3, stride 2", *_DEVICES), devices), ""])


# of SAME, SAME_LOWER, VALID, and numbers for each side
_DEVICES = {
    "ncnn": ("`pad_left=-233`", "`pad_left=-234`", "`pad_left=0`", "`pad_left`, `pad_right`, ..."),
    "Core ML": (
        "`pad_type` same",
        "`pad_type` same_lower",
        "`pad_type` valid",
        "`pad_type` custom and `pad`",
    ),
    "TFLite": ("`Padding.SAME`, 0", "a `PAD` before it", "`Padding.VALID`, 1", "a `PAD` before it"),
}
_DEVICE_NOTE = """ncnn by src/layer/convolution.h; Core ML by the operator conv of coremltools' MIL, whose
`pad` is [top, bottom, left, right]; TFLite by its schema. `resolve` says what ncnn's numbers stand for."""


def _lines(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> list[str]:
    """Return a table in Markdown."""
    cells = [head, ("---",) * len(head), *rows]
    return ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in cells]
