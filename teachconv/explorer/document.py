"""A call as the JSON that the page draws from: values, tap tables, variants, the trace.

A page draws planes: a call over one axis is a single row, and each slice of a volume is a plane like one of a
channel. A cell is [image, row, col, plane] with the plane depth · channels + channel, of filters [row, col,
depth · in_channels / groups + in_channel, out_channel]. The two sides of the forward convolution are called
"in" and "out" for every op: a transposed op has its input on the side "out" and its result on the side "in".
"""

from __future__ import annotations

import inspect
import linecache
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from functools import cached_property, partial
from math import isfinite
from typing import Any

import numpy as np

from ..core.calls import Call
from ..core.dtypes import float_format, is_integer, lowest
from ..core.kinds import ROLES, DepthwiseCells, layout_of
from ..core.law import AxisGeometry
from ..dialects.calls import ConvCall
from ..inspection.explaining import explain
from ..inspection.images import image_address, png
from ..inspection.tracing import Trace, arrays_of, place_of, trace
from ..inspection.winograd_tile import ALGORITHMS, tile_of
from ..quantized.calls import QuantizedCall, call_of
from ..quantized.explaining import call_of_op, is_pool, is_quantized
from ..quantized.schemes import Scheme
from ..running import dispatch, nn_ops
from ..support.errors import ArgumentError, is_one_of
from ..windows.calls import FUNCTIONS
from .calls import page_call, page_function
from .packing import image_numbers, nbytes
from .pools import PagePool, pool_of
from .shown_part import Part, lift, lift_cell, lifted, part_of, teaching

Op = Callable[..., Any]

_QUICK = 0.1  # seconds of a call

# the name of each role's array on the page
SIDES = {"input": "in", "filters": "filter", "output": "out"}
_AXES = ("depth", "row", "column")
_ARRAYS = ("input", "filters", "out_backprop", "x", "w", "bias")  # arguments that may be lists


def sides(call: Call) -> dict[str, str]:
    """Return the name of each side in this op."""
    return {SIDES[role]: name for role, name in call.op.words.items()}


class Tables:
    """Arrays, axes and lines of code that several variants share, each stored once."""

    def __init__(self) -> None:
        self.axes: list[dict[str, Any]] = []
        self.arrays: list[dict[str, Any]] = []
        self.lines: list[str] = []
        self._known: dict[Any, int] = {}
        self.nbytes = 0

    def axis(self, axis: AxisGeometry, ins: range, outs: range) -> int:
        """Return the number of an axis in `axes`; add it if it is new.

        Args:
            axis: the geometry of the axis.
            ins: the input indices whose values are on the page.
            outs: the output indices whose values are on the page.
        """
        key = (axis, axis.formulas, ins, outs)  # axes are equal even if their formulas differ
        lines = [self._number(line, self.lines, partial(str, line)) for line in axis.formulas]
        return self._number(key, self.axes, lambda: axis_numbers(axis, ins, outs) | {"formulas": lines})

    def array(self, side: str, array: np.ndarray, part: Part, result_of: Any = None) -> int:
        """Return the number of an array in `arrays`; add it if it is new.

        An operand is identified by its shape, because those of the variants are crops or zero-paddings of
        the call's; a result is identified by ``result_of``.
        """
        role = next(role for role, name in SIDES.items() if name == side)
        array = np.moveaxis(lift(array, role), *((0, 2) if role == "filters" else (1, 3)))
        ranges = held_ranges(side, array, part)
        return self._number((side, array.shape, ranges, result_of), self.arrays, lambda: held(array, ranges))

    def size(self) -> tuple[int, int, int, int]:
        """Return the numbers of axes, arrays, lines and bytes."""
        return len(self.axes), len(self.arrays), len(self.lines), self.nbytes

    def shrink(self, size: tuple[int, int, int, int]) -> None:
        """Restore an earlier size by removing what was added since."""
        *lengths, self.nbytes = size
        stores: tuple[list[Any], ...] = (self.axes, self.arrays, self.lines)
        for store, length in zip(stores, lengths, strict=True):
            del store[length:]
        axes, arrays, lines = lengths

        def kept(key: Any) -> int:
            return lines if isinstance(key, str) else arrays if isinstance(key[0], str) else axes

        self._known = {key: number for key, number in self._known.items() if number < kept(key)}

    def _number(self, key: Any, store: list[Any], make: Callable[[], Any]) -> int:
        """Return the number of an entry in a store; make the entry if it is new."""
        if key not in self._known:
            self._known[key] = len(store)
            store.append(make())
            self.nbytes += nbytes(store[-1]) + 1  # and its comma
        return self._known[key]


class Document:
    """One call as JSON: `base` is the call itself; `variants` adds its variants."""

    def __init__(
        self, op: Op, args: tuple[Any, ...], kwargs: dict[str, Any], at: Sequence[int] | None
    ) -> None:
        self.op, self.args, self.kwargs = op, args, kwargs
        self.pool: PagePool | None = None
        self.quantized: QuantizedCall | None = None
        if is_one_of(op, FUNCTIONS) or is_pool(op):
            self.pool = pool_of(op, args, kwargs)
            self.call = self.pool.call
        elif is_quantized(op):
            self.quantized, self.options = call_of_op(op, args, kwargs)
            self.call = stored_call(self.quantized)
        else:
            self.call, self.options = nn_ops.call_of(op, args, kwargs)
            name, module = dispatch.find_backend(self.options.get("backend"), self.call.first)
            choice = self.options.get("algorithm"), self.options.get("precision")
            dispatch.find_algorithm(name, module, self.call, *choice)  # raises, before anything is drawn
        self.empty = self.call.first.size == 0 or self.call.second.size == 0 or 0 in self.call.backend_shape
        self.at = self._start(at)
        if not self.call.geometry.groups:
            raise ArgumentError(
                f"input must have channels to be drawn; got {list(self.call.geometry.input_shape)}"
            )
        self.part = part_of(lifted(self.call), lift_cell(self.at, self.call.kind.result))
        self.tables = Tables()

    @property
    def result(self) -> np.ndarray:
        """The call's result."""
        return self.trace.result if self.pool is None else self.pool.result

    @cached_property
    def trace(self) -> Trace:
        """The trace of the call, whose result the page shows.

        The page shows the times of a warm call: its backend is loaded, and a call that is quick, or that had
        more to load, is traced again.
        """
        traced = trace(self.op, *self.args, **self.kwargs)
        if traced.loading or traced.seconds < _QUICK:
            traced = trace(self.op, *self.args, **self.kwargs)
        return traced

    def base(self, image_nbytes: int = 0) -> dict[str, Any]:
        """Return the call itself, without its variants; the numbers of an image may take ``image_nbytes``."""
        call, traced = self.call, None if self.pool else self.trace
        form = None if is_integer(call.first.dtype) else float_format(call.first.dtype)
        source, operand, result = (
            SIDES[role] for role in (call.kind.first, call.kind.second, call.kind.result)
        )
        numbers = {
            source: self.tables.array(source, call.first, self.part),
            operand: self.tables.array(operand, call.second, self.part),
            result: self.tables.array(result, call.from_caller(np.asarray(self.result)), self.part, "call"),
        }
        return {
            "op": call.op.name,
            "rank": call.geometry.rank,
            "pool": self.pool and pool_facts(self.pool, self.tables, self.part),
            "quantized": self.quantized and quantized_facts(self.quantized),
            "kind": call.kind.name,
            "dtype": call.first.dtype.name,
            "bits": 64 if is_quantized(self.op) else 8 * call.first.dtype.itemsize,  # of a sum
            "format": form and asdict(form),
            "source": source,
            "operand": operand,
            "result": result,
            "names": sides(call),
            "code": code(self.op, self.args, self.kwargs),
            "function": self.function,
            "backend": traced.backend if traced else call.title,
            "algorithm": traced and traced.algorithm,
            "bias": None if call.bias is None else number_list(call.bias),
            "groups": channel_groups(call),
            "cell_names": cell_names(call),
            "at": plane_cell(call, self.at),
            "empty": self.empty,
            "shown": self._shown(),
            "overview": self._overview(image_nbytes),
            "trace": stages(traced) if traced else [],
            "tile": self._tile(),
            "axes": self.tables.axes,
            "arrays": self.tables.arrays,
            "lines": self.tables.lines,
            "base": variant(call, self.part, self.tables, numbers)
            | {"facts": facts(call), "call": self._page_call},
        }

    @cached_property
    def function(self) -> str | None:
        """The name of the function on the page, if that writes the call in each framework's words itself."""
        return page_function(self.op) if self._page_call else None

    @cached_property
    def _page_call(self) -> dict[str, Any] | None:
        return None if self.pool else page_call(self.op, self.args, self.kwargs)

    def _start(self, at: Sequence[int] | None) -> tuple[int, ...]:
        """Return the first cell to show, as the backends number it: ``at``, or one that teaches."""
        kind, g = self.call.kind, self.call.geometry
        if self.empty:
            return (0,) * (g.rank + 2)
        if at is None:
            if kind.sums_images:
                return (*(axis.filter_size // 2 for axis in g.axes), 0, 0)
            return (0, *(teaching(axis, kind) for axis in g.axes), 0)
        return self.cell_at(at)

    def _tile(self) -> str | None:
        """Return Winograd's steps for the first cell, of a call that names one of his algorithms."""
        algorithm = None if self.pool else self.options.get("algorithm")
        if self.empty or not is_one_of(algorithm, ALGORITHMS):
            return None
        try:
            tile = tile_of(self.call, algorithm, self.at)
        except ArgumentError:  # not of two axes, a filter gradient, or numbers that are not finite
            return None
        return "\n".join([f"The tile of {tile.headline}", *tile.text()])

    def cell_at(self, at: Sequence[int]) -> tuple[int, ...]:
        """Return a cell as the backends number it."""
        words = nn_ops.without_options(self.kwargs)
        explained = explain(self.op, *self.args, at=at, **words)  # raises if ``at`` is not legal
        if self.pool:
            return self.call.find("output", explained.cell)
        return (getattr(explained, "canonical", None) or explained).cell

    def _overview(self, image_nbytes: int) -> dict[str, Any] | None:
        """Return an image of the whole source if only a part is shown, and its numbers if they have room."""
        call, part = self.call, self.part
        _, rows, cols = part.outs if call.kind.scatters else part.ins
        flat = call.geometry.rank == 2 and not self.empty and self._shown()
        image = call.first[part.images.start] if flat else None
        if image is None or image.shape[2] not in (1, 3) or (len(rows), len(cols)) == image.shape[:2]:
            return None
        numbers = (
            None
            if call.kind.sums_images or call.geometry.batch > 1 or is_quantized(self.op)
            else image_numbers(image, image_nbytes)
        )
        step = max(1, -(-max(image.shape[:2]) // 160))
        small = np.nan_to_num(image[::step, ::step].astype(np.float64), posinf=0, neginf=0)
        low, high = min(0.0, small.min()), small.max()
        pixels = (255 * (small - low) / ((high - low) or 1.0)).astype(np.uint8)
        picture = image_address(png(pixels if pixels.shape[2] == 3 else pixels[:, :, 0]))
        return {"image": picture, "numbers": numbers, "moves": not call.kind.sums_images}

    def _shown(self) -> str:
        """Return which part of a large call is shown, or "" if all of it is."""
        g, part, names = lifted(self.call).geometry, self.part, sides(self.call)
        pieces, ins, outs = [], names["in"], names["out"]
        for name, shown, size in (
            ("image", part.images, g.batch),
            *((f"{ins} {word}", part.ins[i], g.axes[i].in_size) for i, word in enumerate(_AXES)),
            (f"{ins} channel", part.in_channels, g.in_channels),
            *((f"{outs} {word}", part.outs[i], g.axes[i].out_size) for i, word in enumerate(_AXES)),
            (f"{outs} channel", part.out_channels, g.out_channels),
        ):
            if len(shown) < size:
                last = f"s {shown.start} to {shown.stop - 1}" if len(shown) > 1 else f" {shown.start}"
                pieces.append(f"{name}{last} of {size}")
        if not pieces:
            return ""
        return f"Shown: {', '.join(pieces)}. Indices are those of the whole arrays."


def variant(call: Call, part: Part, tables: Tables, arrays: dict[str, int], note: str = "") -> dict[str, Any]:
    """Return one geometry, with the numbers of its axes and arrays; the page sums a result without number."""
    g = lifted(call).geometry
    rows, cols, depth = (tables.axis(g.axes[i], part.ins[i], part.outs[i]) for i in (1, 2, 0))
    shapes = {side: list(plane_shape(g.shape_of(role), role)) for role, side in SIDES.items()}
    return {
        "rows": rows,
        "cols": cols,
        "depth": depth,
        "arrays": arrays,
        "terms": call.terms,
        "note": note,
        "shapes": shapes,
    }


def plane_shape(shape: Sequence[int], role: str) -> tuple[int, int, int, int]:
    """Return the shape of an array over three axes as the page has it, with its depth among the planes."""
    if role == "filters":
        depth, rows, cols, ins, outs = shape
        return rows, cols, depth * ins, outs
    images, depth, rows, cols, channels = shape
    return images, rows, cols, depth * channels


def plane_cell(call: Call, cell: Sequence[int]) -> list[int]:
    """Return a cell of the result as the page numbers it."""
    role = call.kind.result
    *_, depth, last = call.backend_shape
    if role == "filters":
        z, row, col, i, o = lift_cell(cell, role)
        return [row, col, z * depth + i, o]
    n, z, row, col, channel = lift_cell(cell, role)
    return [n, row, col, z * last + channel]


def facts(call: Call) -> str:
    """Return the sizes and the padding of a call as text."""
    return " ".join(call.geometry._facts())


def axis_numbers(axis: AxisGeometry, ins: range, outs: range) -> dict[str, Any]:
    """Return the integers of an axis, and the ranges of the indices that are on the page."""
    numbers = ("in_size", "out_size", "filter_size", "stride", "dilation")
    return {name: getattr(axis, name) for name in numbers} | {
        "pad": [axis.pad_before, axis.pad_after],
        "ins": [ins.start, ins.stop],
        "outs": [outs.start, outs.stop],
    }


# ---------------------------------------------------------------------------------------------
# Arrays as numbers
# ---------------------------------------------------------------------------------------------


def held_ranges(side: str, array: np.ndarray, part: Part) -> tuple[range, ...]:
    """Return the ranges of a canonical array that a page shows."""
    if side == SIDES["filters"]:
        return (*map(range, array.shape[:3]), _within(part.in_channels, array.shape[3]), part.out_channels)
    of_input = side == SIDES["input"]
    depth, rows, cols = part.ins if of_input else part.outs
    return part.images, rows, cols, depth, part.in_channels if of_input else part.out_channels


def held(array: np.ndarray, ranges: tuple[range, ...]) -> dict[str, Any]:
    """Return a part of an array: [start, stop] of each axis, and the values in C order."""
    # another result may be smaller than the part that is shown
    ranges = tuple(r[: max(0, n - r.start)] for r, n in zip(ranges, array.shape, strict=True))
    cut = array[tuple(slice(r.start, r.stop) for r in ranges)]
    return {"axes": [[r.start, r.stop] for r in ranges], "values": number_list(cut)}


def _within(channels: range, depth: int) -> range:
    """Return the filter depths that a range of input channels uses, which are their numbers in a group."""
    if depth == 0 or len(channels) == 0 or channels.start // depth != (channels.stop - 1) // depth:
        return range(depth)
    first = channels.start - channels.start // depth * depth
    return range(first, first + len(channels))


def number_list(array: np.ndarray) -> list[Any]:
    """Return numbers for JSON, with the shortest digits that restore the value in its own type.

    NaN, infinities and integers that a double cannot represent become strings.
    """
    flat = np.asarray(array).ravel()
    if is_integer(flat.dtype):
        return [v if abs(v) < 2**53 else str(v) for v in flat.tolist()]
    values = flat.astype(np.float64).tolist()
    if flat.dtype == np.float32:
        values = [float(str(value)) for value in flat]
    return [_json_number(value) for value in values]


def _json_number(value: float) -> Any:
    """Return a float for JSON; NaN and infinities become strings, whole numbers ints."""
    if not isfinite(value):
        return "NaN" if value != value else ("Infinity" if value > 0 else "-Infinity")
    if value == int(value) and abs(value) < 2**53 and (value or str(value) == "0.0"):
        return int(value)
    return value


# ---------------------------------------------------------------------------------------------
# Channels, the call as text, the trace
# ---------------------------------------------------------------------------------------------


def channel_groups(call: Call) -> list[dict[str, Any]]:
    """Return each group's input channels, with the filter depths that they use, and its output channels."""
    g = call.geometry
    depth, outs = g.filters_shape[-2], g.out_channels // g.groups
    return [
        {
            "in": [[group * depth + i, i] for i in range(depth)],
            "out": [group * outs + o for o in range(outs)],
        }
        for group in range(g.groups)
    ]


def pool_facts(drawn: PagePool, tables: Tables, part: Part) -> dict[str, Any]:
    """Return what the page has to know of a pool beside its windows; of a scheme's average its steps, too."""
    pool, call, dtype = drawn.pool, drawn.call, drawn.call.first.dtype
    begins = (
        [] if pool.start is None else [max(pool.start, lowest(dtype)) if is_integer(dtype) else pool.start]
    )
    side, canonical = SIDES[call.kind.result], [call.from_caller(numbers) for _, numbers in drawn.steps]
    steps = [
        [what, tables.array(side, numbers, part, what)]
        for (what, _), numbers in zip(drawn.steps, canonical, strict=True)
    ]
    return {
        "reduce": pool.reduce,
        "counted": pool.divisor == "padded",
        "over": pool.divisor if isinstance(pool.divisor, int) else None,
        "start": next(iter(number_list(np.array(begins, dtype))), None),
        "steps": steps or None,
    } | (runtime_of(drawn.scheme) if drawn.scheme else {})


def resolver_of(op: Op) -> Callable[..., Call]:
    """Return what resolves the arguments of an op, by their names, to the call that a page draws."""
    if is_quantized(op):
        return lambda **arguments: stored_call(call_of(op.__name__, **arguments))
    return nn_ops.RESOLVERS[op]


def stored_call(quantized: QuantizedCall) -> Call:
    """Return the call of the stored integers of a quantized call, in their own types."""
    call, (first, second) = quantized.call, quantized.stored
    bias = quantized.rescaling.bias
    return replace(call, first=first, second=second, bias=bias if np.any(bias) else None)


def runtime_of(law: Scheme) -> dict[str, str]:
    """Return the name of a scheme and whose it is, as a sentence begins with it."""
    return {"scheme": law.name, "runtime": law.runtime[0].upper() + law.runtime[1:]}


def quantized_facts(quantized: QuantizedCall) -> dict[str, Any]:
    """Return what the page has to know of a quantized call beside its stored integers and its geometry."""
    law, rescaling = quantized.scheme, vars(quantized.rescaling).items()
    x_zero, w_zero = quantized.zeros
    planes = np.broadcast_to(w_zero, quantized.call.second.shape)[(0,) * quantized.call.geometry.rank]
    return runtime_of(law) | {
        "rule": law.rescale.__name__,
        "zeros": [int(x_zero), planes.astype(int).tolist() if np.ptp(w_zero) else int(np.ravel(w_zero)[0])],
        "y_zero_point": quantized.y_zero_point,
        "limits": list(quantized.limits),
        "channels": {name: number_list(array) for name, array in rescaling if name != "bias"},
    }


def cell_names(call: Call) -> dict[str, dict[str, Any]] | None:
    """Return what the page needs to number each side's cells as the caller does; None for NHWC and HWIO.

    The page computes for any variant what `CellNames.name` computes for the call.
    """
    names, g = call.names, call.geometry
    if names is None and g.rank == 2:
        return None
    layout = names.layout if names else partial(layout_of, rank=g.rank)
    found: dict[str, dict[str, Any]] = {SIDES[role]: {"letters": layout(role)} for role in ROLES}
    found["filter"] |= {"canonical": layout("filters"), "flip": False, "split": 0}
    splits = isinstance(names, DepthwiseCells)
    if isinstance(names, ConvCall):
        splits = names.regroup or names.filter_layout == "HWIM"
        found["filter"] |= {"canonical": names.canonical_filter, "flip": names.flip}
        found[SIDES[names.op.own_input]] |= {
            "stuffing": [*(1,) * (3 - g.rank), *names.stuffing],
            "part_channels": names.part_channels if names.batch_groups > 1 else 0,
        }
    if splits:  # an index of the last axis is (group, index in the group)
        found["filter"]["split"] = g.out_channels // g.groups
    return found


def code(op: Op, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
    """Return the call as Python text, with shapes in place of arrays and without default arguments."""
    signature = inspect.signature(op)
    parts = []
    for name, value in signature.bind(*args, **kwargs).arguments.items():
        default = signature.parameters[name].default
        if value is default or (isinstance(value, (str, int)) and value == default):
            continue
        if name == "dilations" and value == 1:
            continue
        shape = getattr(value, "shape", None)
        if shape or (name in _ARRAYS and value is not None):
            parts.append(f"{name} {list(shape or np.shape(value))}")
        else:
            text = repr(value) if shape is None else str(value)  # of a number of NumPy
            parts.append(f"{name}={text if len(text) <= 80 else text[:77] + '...'}")
    return f"{nn_ops.name_of(op).replace('teachconv', 'tc', 1)}({', '.join(parts)})"


def stages(traced: Trace) -> list[dict[str, Any]]:
    """Return the stages of a trace, each with the lines of source around it."""
    rows = []
    for stage in traced.stages:
        first = max(1, stage.line - 3)
        lines = [linecache.getline(stage.file, number).rstrip("\n") for number in range(first, first + 12)]
        while lines and not lines[-1].strip():
            lines.pop()
        rows.append(
            {
                "name": stage.name,
                "depth": stage.depth,
                "microseconds": round(stage.seconds * 1e6, 1),
                "place": place_of(stage),
                "arrays": arrays_of(stage),
                "note": stage.note,
                "first_line": first,
                "line": stage.line,
                "source": lines,
            }
        )
    return rows
