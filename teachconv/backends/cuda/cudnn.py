"""cuDNN as an algorithm of the cupy backend, through nvidia-cudnn-frontend, NVIDIA's Python package.

It runs only on request. Images and their gradients are NHWC as they are; a filter is copied to [out_channels,
filter_rows, filter_cols, in_channels], which cuDNN's fast engines read. cuDNN ranks its engines for a call,
and the first one that keeps what ``precision`` promises runs. The result is cuDNN's own: no cell is computed
again, so an infinite weight beside padding gives NaN.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from functools import lru_cache
from importlib import import_module
from math import prod
from threading import Lock
from typing import Any

import numpy as np

from ...core.arguments import Pair
from ...core.dtypes import FLOATS
from ...core.geometry import Conv2DGeometry, ConvGeometry
from ...core.kinds import FORWARD, INPUT_GRADIENT, Kind
from ...core.taps import window
from ...support.errors import ArgumentError, BackendUnavailable, brief
from .. import Algorithm, load, winograd_needs
from ..planes import flat_geometry
from .job import Job
from .launches import Convolution, Copy, Matrix, Schedule

INSTALL = "pip install teachconv[cudnn]"
_TYPES = {"float16": "HALF", "bfloat16": "BFLOAT16", "float32": "FLOAT", "float64": "DOUBLE"}
# the bound of what tensor cores compute; they round float64 as IEEE 754 does
_ON_TENSOR_CORES = {"float16": "tensor", "bfloat16": "tensor", "float32": "tf32", "float64": "direct"}
LOCK = Lock()  # a handle has one stream at a time


class _Cudnn(Algorithm):
    """The algorithm, whose bound depends on the call."""

    def for_call(self, kind: Kind, dtype: str, geometry: ConvGeometry, precision: str | None) -> Algorithm:
        """Return the algorithm with the bound of the engines that the call allows."""
        if _has_tensor_cores(dtype, precision):
            return replace(self, error=_ON_TENSOR_CORES[dtype])
        if _has_winograd(kind, flat_geometry(kind, geometry), dtype, precision):
            return replace(self, error="winograd2")
        return self


ALGORITHM = _Cudnn(
    "cudnn", "NVIDIA's cuDNN, by the engine that it ranks first: only on request", dtypes=FLOATS
)


def _has_tensor_cores(dtype: str, precision: str | None) -> bool:
    """Return whether tensor cores may run: they round float32 to TF32, and truncate sums of half types."""
    return precision == "tf32" if dtype == "float32" else precision != "strict"


def _has_winograd(kind: Kind, g: ConvGeometry, dtype: str, precision: str | None) -> bool:
    """Return whether Winograd's F(2x2, 3x3) may run: only where there is a bound for it."""
    allowed = dtype == "float32" and precision in (None, "fast") and not kind.sums_images
    return allowed and not winograd_needs(kind, g)


def unavailable() -> str:
    """Return what is missing, the package, cuDNN or a GPU; "" if the algorithm can run."""
    try:
        load("cudnn")
        handle(import_module("cupy").cuda.Device().id)
    except ImportError as error:
        return f"nvidia-cudnn-frontend is not installed or cannot be loaded: {error} ({INSTALL})"
    except Exception as error:  # the package can be imported without cuDNN, and without a GPU
        return f"nvidia-cudnn-frontend is installed, but cannot use cuDNN or the GPU: {error} ({INSTALL})"
    return ""


@lru_cache(maxsize=16)
def handle(device: int) -> Any:
    """Return cuDNN's handle of a device; whoever sets its stream must hold ``LOCK`` while it is used."""
    with import_module("cupy").cuda.Device(device):
        return import_module("cudnn").create_handle()


@lru_cache(maxsize=256)
def schedule(
    kind: Kind, g: Conv2DGeometry, dtype: str, precision: str | None, bias: bool, relu: bool, card: Any
) -> Schedule:
    """Return the steps of one call.

    Args:
        kind: the kind of call.
        g: its geometry.
        dtype: the dtype's name.
        precision: None, "strict", "fast" or "tf32".
        bias: whether there is a bias.
        relu: whether the activation is relu.
        card: the number of a device, or cuDNN's description of a card that is not here.

    Returns:
        A `Schedule`.

    Raises:
        BackendUnavailable: if the algorithm cannot run here.
        ArgumentError: if cuDNN has no engine for the call that ``precision`` allows.
    """
    if isinstance(card, int) and (problem := unavailable()):
        raise BackendUnavailable(f"algorithm 'cudnn' cannot run here: {problem}")
    where = {"handle": handle(card)} if isinstance(card, int) else {"device_property": card}
    return _Steps(Job(kind, g, dtype, "bias" if bias else None, int(relu)), precision, where).schedule()


class _Steps:
    """The steps of one call, under construction: copies, cuDNN itself, and copies and launches after it."""

    def __init__(self, job: Job, precision: str | None, where: dict[str, Any]) -> None:
        kind, g = job.kind, job.g
        self.job, self.precision, self.where, self.dtype = job, precision, where, job.dtype
        # what cuDNN is given, by role
        self.names = {kind.first: "first", kind.second: "second", kind.result: "result"}
        rows, cols, in_channels, out_channels = g.filters_shape
        self.shapes = {"input": g.input_shape, "output": g.output_shape}
        self.shapes["filters"] = out_channels, rows, cols, in_channels
        self.before: list[Copy] = []
        self.after: list[Copy] = []
        self.refusal = "all have notes that it bars"

    def schedule(self) -> Schedule:
        """Return the finished schedule."""
        job, kind = self.job, self.job.kind
        if kind.gathers and (job.bias or job.relu):
            self.names["bias"] = job.bias or self._buffer("no bias", (job.g.out_channels,), zero=True)
            self.shapes["bias"] = 1, 1, 1, job.g.out_channels
        elif job.bias or job.relu:  # cuDNN adds a bias to the forward op alone
            self._widen()
        self._order_filters()
        convolution = self._convolution()
        launches = job.finish("cudnn", "requested")
        # both are empty, unless `_widen` has added launches
        widen, add_bias = launches.steps[:-1], launches.steps[-1:]
        steps = (*widen, *self.before, convolution, *self.after, *add_bias)
        keeps = not widen and not kind.sums_images
        return replace(launches, steps=steps, kept=(self.names["filters"],) * keeps, preparing=int(keeps))

    def _buffer(self, name: str, shape: tuple[int, ...], zero: bool = False) -> str:
        """Add a buffer of the type that cuDNN is given, and return its name."""
        bits = "uint16" if self.dtype == "bfloat16" else self.dtype
        return self.job.buffer(name, prod(shape), bits, zero)

    def _widen(self) -> None:
        """Let cuDNN write float32 or float64, half types being widened first; the last launch rounds once."""
        job, kind = self.job, self.job.kind
        self.names[kind.result], self.dtype = job.partial(1), job.sum_dtype
        kernel = job.kernel("im2col.cu", "to_groups", kind=False)
        for role in (kind.first, kind.second) if job.dtype != job.sum_dtype else ():
            shape, name = job.g.shape_of(role), self.names[role]
            rows, depth = np.int64(prod(shape[:-1])), shape[-1]
            self.names[role] = self._buffer(f"wide {name}", shape)
            job.launch(kernel, prod(shape), name, np.int64(0), rows, 1, depth, self.names[role])
        job.add_splits(1)

    def _order_filters(self) -> None:
        """Add the copy of the filter to cuDNN's order of axes, or of its gradient from it."""
        out_channels, *window_shape = self.shapes["filters"]
        ours = Matrix(self.names["filters"], (1, prod(window_shape), out_channels))
        self.names["filters"] = self._buffer(f"{self.dtype} filters", self.shapes["filters"])
        theirs = Matrix(self.names["filters"], (1, out_channels, prod(window_shape)))
        if self.job.kind.sums_images:
            self.after.append(Copy(replace(theirs, transposed=True), ours, "out_channels last again"))
        else:
            self.before.append(Copy(replace(ours, transposed=True), theirs, "out_channels first"))

    def _convolution(self) -> Convolution:
        """Return the step of cuDNN itself, with its own padding if it has that, else with a padded input."""
        edges = [axis.window_edges for axis in self.job.g.axes]
        is_cropped = any(crop != (0, 0) for _, crop in edges)
        step = None if is_cropped else self._plan([pads for pads, _ in edges])
        if step is None:
            self._pad()
            step = self._plan([(0, 0), (0, 0)])
        if step is None:
            version = import_module("cudnn").backend_version_string()
            raise ArgumentError(
                f"algorithm 'cudnn' cannot compute this {self.job.kind} in {self.dtype}: cuDNN {version} has "
                f"no engine for it that precision={brief(self.precision)} allows; {self.refusal}"
            )
        return step

    def _pad(self) -> None:
        """Add the copy of the input to a padded one, or of its gradient from that of a padded one."""
        g, windows = self.job.g, [window(axis) for axis in self.job.g.axes]
        whole = Matrix(self.names["input"], g.input_shape)
        self.shapes["input"] = g.batch, windows[0].size, windows[1].size, g.in_channels
        self.names["input"] = self._buffer("padded", self.shapes["input"])
        padded = Matrix(self.names["input"], self.shapes["input"])
        of_whole = slice(None), *(axis.source for axis in windows)
        of_padded = slice(None), *(axis.inside for axis in windows)
        why = f"cuDNN has no padding {g.padding}"
        if self.job.kind.scatters:
            self.after.append(Copy(padded, whole, f"without the padding: {why}", of_padded, of_whole))
        else:
            self.before.append(Copy(whole, padded, f"with its padding: {why}", of_whole, of_padded))

    def _plan(self, pads: list[Pair]) -> Convolution | None:
        """Return cuDNN's step by the first engine in its order that the call allows, or None."""
        cudnn = import_module("cudnn")
        graph, tensors = self._graph(cudnn, pads)
        try:
            graph.validate()
            graph.build_operation_graph()
            graph.create_execution_plans([cudnn.heur_mode.A, cudnn.heur_mode.FALLBACK])
        except (cudnn.cudnnGraphNotSupportedError, RuntimeError) as error:
            self.refusal = str(error)
            return None
        graph.deselect_numeric_notes(self._barred(cudnn.numerical_note))
        for index in range(graph.get_execution_plan_count()):
            with suppress(cudnn.cudnnGraphNotSupportedError):  # barred, or not for this card
                graph.build_plan_at_index(index)
                self.job.buffer("workspace", graph.get_workspace_size(), "uint8")
                return Convolution(graph, tensors, graph.get_plan_name_at_index(index))
        return None

    def _graph(self, cudnn: Any, pads: list[Pair]) -> tuple[Any, dict[str, Any]]:
        """Return cuDNN's graph of the call, and its tensors by the names of their buffers."""
        kind, g, sums = self.job.kind, self.job.g, getattr(cudnn.data_type, _TYPES[self.job.sum_dtype])
        numbers = getattr(cudnn.data_type, _TYPES[self.dtype])
        graph = cudnn.pygraph(
            io_data_type=numbers, intermediate_data_type=sums, compute_data_type=sums, **self.where
        )
        layouts = {role: _layout(shape) for role, shape in self.shapes.items()}
        tensors = {
            role: graph.tensor(name=role, **layouts[role]) for role in self.names if role != kind.result
        }
        convolve = {FORWARD: graph.conv_fprop, INPUT_GRADIENT: graph.conv_dgrad}.get(kind, graph.conv_wgrad)
        # mark: kernel stride dilation padding of cudnn
        result = convolve(
            tensors[kind.first],
            tensors[kind.second],
            pre_padding=[before for before, _ in pads],
            post_padding=[after for _, after in pads],
            stride=list(g.strides),
            dilation=list(g.dilations),
        )
        result.set_dim(layouts[kind.result]["dim"]).set_stride(layouts[kind.result]["stride"])
        if "bias" in tensors:
            result = graph.bias(result, tensors["bias"])
            result = graph.relu(result) if self.job.relu else result
        tensors[kind.result] = result.set_output(True).set_data_type(numbers)
        return graph, {self.names[role]: tensor for role, tensor in tensors.items()}

    def _barred(self, note: Any) -> list[Any]:
        """Return the notes of the engines that would break a promise, out of cuDNN's."""
        barred = [note.NONDETERMINISTIC, note.REDUCED_PRECISION_REDUCTION, note.DOWN_CONVERT_INPUTS, note.FFT]
        barred += [note.WINOGRAD_TILE_6x6, note.WINOGRAD_TILE_13x13]  # no bound is known
        if not _has_winograd(self.job.kind, self.job.g, self.job.dtype, self.precision):
            barred.append(note.WINOGRAD)
        return barred if _has_tensor_cores(self.dtype, self.precision) else [*barred, note.TENSOR_CORE]


def _layout(shape: tuple[int, ...]) -> dict[str, list[int]]:
    """Return a tensor's sizes in the order NCHW, which cuDNN counts in, and its strides in memory, NHWC."""
    n, h, w, c = shape
    return {"dim": [n, c, h, w], "stride": [h * w * c, 1, w * c, c]}
