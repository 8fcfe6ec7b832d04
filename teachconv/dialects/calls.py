"""What a call in any dialect becomes: one frozen `ConvCall`, and how it is passed on to `nn_ops`.

A dialect is a module of functions with another framework's signatures. Beside each function is its
resolver, which needs shapes only: it checks the arguments as the framework does and returns a `ConvCall`,
the geometry and the layouts, with every step of the derivation as text. Everything after the resolver is
the same for all dialects and is here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from html import escape
from itertools import islice, pairwise
from typing import Any, TypeVar

import numpy as np

from ..core.arguments import (
    Shape,
    as_array,
    axis_names,
    check_alike,
    check_steps,
    integer,
    other_order,
    real,
    shape_of,
)
from ..core.calls import Call
from ..core.geometry import ConvGeometry
from ..core.kinds import OPS, Kind, Op
from ..core.law import AxisGeometry
from ..running import dispatch, nn_ops
from ..support import record, tables
from ..support.devices import array_module, contiguous, on_device_of, override_of
from ..support.errors import ArgumentError, ArgumentTypeError, brief, hide_unknown, is_one_of, refuse_unknown

# the ops that compute a dialect function, by the number of spatial axes
CONV = {rank: OPS[f"conv{rank}d"] for rank in (1, 2, 3)}
CONV_TRANSPOSE = {rank: OPS[f"conv{rank}d_transpose"] for rank in (1, 2, 3)}


@dataclass(frozen=True, slots=True)
class ConvCall:
    """One call in some framework's words, resolved: integers, layouts, and how they were derived.

    ``function`` is the dialect's name for it ("torch.conv_transpose2d"), ``op`` the op of teachconv
    that computes it. ``geometry`` is the *forward* convolution's, with channels last; a transposed call
    reads it backwards. Layouts are letters: "NCHW", "CHW" without a batch, "OIHW"; I and O are the channels
    of this call's own input and output, so a transposed filter in TensorFlow's order is "HWOI", and "HWIM"
    is a depthwise filter. D, H and W are `kinds.AXES`: one axis has only W, whatever the dialect's letter
    for it is. ``flip`` says that the filter is read backwards on every axis.

    Three things only JAX can say: ``regroup`` (a transposed filter whose groups lie along O),
    ``stuffing``, one number for each axis: a cell of the input, then stuffing - 1 zeros, and
    ``batch_groups``.
    """

    function: str
    op: Op
    geometry: ConvGeometry
    input_layout: str
    filter_layout: str
    output_layout: str
    flip: bool = False
    regroup: bool = False
    stuffing: Shape = ()  # one for each axis; () becomes ones
    batch_groups: int = 1
    bias: bool = False
    steps: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "stuffing", self.stuffing or (1,) * self.geometry.rank)

    @property
    def kind(self) -> Kind:
        """Which of the three arrays is computed: the backend function."""
        return self.op.kind

    @property
    def groups(self) -> int:
        """Channel groups, as the geometry has them: JAX's batch groups become channel groups."""
        return self.geometry.groups

    @property
    def spatial(self) -> str:
        """The letters of the axes over which windows move: "W", "HW" or "DHW"."""
        return self.geometry.data_format[1:-1]

    @property
    def canonical_filter(self) -> str:
        """The letters of the filter that the law reads: HWIO, transposed [rows, cols, out, in]."""
        if "M" in self.filter_layout:
            return self.filter_layout
        return self.spatial + ("OI" if self.op.transposed else "IO")

    @property
    def filter_permutation(self) -> tuple[int, ...]:
        """``filters.transpose(filter_permutation)`` is in the law's order; a flip comes beside it."""
        return tuple(self.filter_layout.index(letter) for letter in self.canonical_filter)

    @property
    def input_shape(self) -> Shape:
        """Shape of the activations that go in, in ``input_layout``; of a gradient the forward input's."""
        sizes, groups = _sizes(self.geometry, self.op.own_input), self.batch_groups
        sizes |= {"N": sizes["N"] * groups, "C": sizes["C"] // groups}
        if self.has_gaps:
            steps = zip(self.spatial, self.stuffing, strict=True)
            sizes |= {letter: -(-sizes[letter] // step) for letter, step in steps}
        return _arranged(self.input_layout, sizes)

    @property
    def output_shape(self) -> Shape:
        """Shape of what comes out, in ``output_layout``; of a gradient the forward output's."""
        return _arranged(self.output_layout, _sizes(self.geometry, self.op.own_output))

    @property
    def filter_shape(self) -> Shape:
        """Shape of the filter in ``filter_layout``."""
        sizes = dict(zip(self.canonical_filter, self.geometry.filters_shape, strict=True))
        if "M" in self.filter_layout:
            sizes |= {"I": self.groups if sizes["I"] else 0, "M": sizes["M"] // self.groups}
        if self.regroup:
            sizes |= {"I": sizes["I"] // self.groups, "O": sizes["O"] * self.groups}
        return _arranged(self.filter_layout, sizes)

    @property
    def result_shape(self) -> Shape:
        """Shape of what the function returns."""
        return self.shape(self.kind.result)

    # -- arrays -----------------------------------------------------------------------------------

    def to_nhwc(self, array: np.ndarray, layout: str) -> np.ndarray:
        """Turn activations in a layout of the dialect into NHWC."""
        if "N" not in layout:
            array, layout = array[None], "N" + layout
        return array.transpose([layout.index(letter) for letter in self.geometry.data_format])

    def prepare_input(self, array: np.ndarray) -> np.ndarray:
        """Turn the input into what the law reads: NHWC, batch groups as channels, zeros stuffed in."""
        x = self.to_nhwc(array, self.input_layout)  # [batch, in_rows, in_cols, in_channels]
        if self.batch_groups > 1:
            n, *sizes, channels = x.shape
            x = x.reshape(self.batch_groups, n // self.batch_groups, *sizes, channels)
            x = x.transpose(*range(1, len(sizes) + 2), 0, len(sizes) + 2)
            x = x.reshape(n // self.batch_groups, *sizes, -1)
        if self.has_gaps:
            shape = len(x), *(axis.in_size for axis in self.geometry.axes), x.shape[-1]
            with on_device_of(x):
                stuffed = array_module(x).zeros(shape, x.dtype)
                stuffed[:, *(slice(None, None, step) for step in self.stuffing)] = x
            return stuffed
        return x

    def prepare_filter(self, array: np.ndarray) -> np.ndarray:
        """Turn the filter into what the law reads: permuted, flipped, groups along the last axis."""
        w = array.transpose(self.filter_permutation)
        if "M" in self.filter_layout:
            return w.reshape(self.geometry.filters_shape)
        if self.regroup:
            w = groups_to_last(w, self.groups)
        return w[(slice(None, None, -1),) * self.geometry.rank] if self.flip else w

    @property
    def part_channels(self) -> int:
        """The channels that the input has before batch groups become groups of channels."""
        return self.geometry.shape_of(self.op.own_input)[-1] // self.batch_groups

    # -- cells ------------------------------------------------------------------------------------

    @property
    def has_gaps(self) -> bool:
        """Whether zeros were put between the cells of the input."""
        return any(step > 1 for step in self.stuffing)

    def layout(self, role: str) -> str:
        """The letters of the array of one role in the law."""
        return {
            "filters": self.filter_layout,
            self.op.own_input: self.input_layout,
            self.op.own_output: self.output_layout,
        }[role]

    def shape(self, role: str) -> Shape:
        """The shape of the array of one role, in the dialect's layout."""
        return {
            "filters": self.filter_shape,
            self.op.own_input: self.input_shape,
            self.op.own_output: self.output_shape,
        }[role]

    def name(self, role: str, cell: Shape) -> Shape | None:
        """Return a canonical cell as an index into the dialect's array; None between stuffed zeros."""
        if role not in _ACTIVATIONS:
            return self._filter_name(cell)
        n, *place, channel = cell
        if role == self.op.own_input:
            if self.has_gaps:
                facts = list(zip(place, self.stuffing, self.geometry.axes, strict=True))
                if any(index % step and 0 <= index < axis.in_size for index, step, axis in facts):
                    return None
                # beyond the last cell the padding begins at once: the next number, not the last one again
                place = [i // step if i < axis.in_size else -(-i // step) for i, step, axis in facts]
            if self.batch_groups > 1:
                group, channel = divmod(channel, self.part_channels)
                n += group * self.geometry.batch
        at = dict(zip(self.geometry.data_format, (n, *place, channel), strict=True))
        return _arranged(self.layout(role), at)

    def find(self, role: str, cell: Shape) -> Shape:
        """Return the canonical cell of an index into the dialect's array: `name`, read backwards."""
        at = {"N": 0, **dict(zip(self.layout(role), cell, strict=True))}
        if role not in _ACTIVATIONS:  # of a filter gradient, which is never flipped or regrouped
            return _arranged(self.canonical_filter, at)
        n, *place, channel = _arranged(self.geometry.data_format, at)
        if role == self.op.own_input:
            if self.has_gaps:
                place = [index * step for index, step in zip(place, self.stuffing, strict=True)]
            if self.batch_groups > 1:
                group, n = divmod(n, self.geometry.batch)
                channel += group * self.part_channels
        return n, *place, channel

    def _filter_name(self, cell: Shape) -> Shape:
        *taps, third, fourth = cell
        if self.flip:
            taps = [axis.filter_size - 1 - tap for axis, tap in zip(self.geometry.axes, taps, strict=True)]
        if "M" in self.filter_layout:
            third, fourth = divmod(fourth, self.geometry.out_channels // self.groups)
        elif self.regroup:
            group, fourth = divmod(fourth, self.geometry.out_channels // self.groups)
            third += group * self.geometry.filters_shape[-2]
        letters = dict(zip(self.canonical_filter, (*taps, third, fourth), strict=True))
        return _arranged(self.filter_layout, letters)

    # -- text -------------------------------------------------------------------------------------

    def _headline(self) -> str:
        return (
            f"{self.function}: input {list(self.input_shape)} {self.input_layout}, filter "
            f"{list(self.filter_shape)} {self.filter_layout} -> output {list(self.output_shape)} "
            f"{self.output_layout}"
        )

    def __str__(self) -> str:
        lines = [*("  " + step for step in self.steps), *self.geometry._formulas()]
        return tables.Table((), [], self._headline(), lines).text()

    def _repr_html_(self) -> str:
        steps = "".join(f"<li>{escape(step)}</li>" for step in self.steps)
        formulas = tables.pre(escape("\n".join(self.geometry._formulas())))
        return f"<div><b>{escape(self._headline())}</b><ul>{steps}</ul>{formulas}</div>"


def groups_to_last(w: np.ndarray, groups: int) -> np.ndarray:
    """Turn a filter [*taps, out, in / groups] into the law's [*taps, out / groups, in]."""
    *taps, outs, depth = w.shape
    w, rank = w.reshape(*taps, groups, outs // groups, depth), len(taps)
    w = w.transpose(*range(rank), rank + 1, rank, rank + 2)
    return w.reshape(*taps, outs // groups, groups * depth)


_ACTIVATIONS = ("input", "output")  # the roles of arrays of images


def _sizes(geometry: ConvGeometry, role: str) -> dict[str, int]:
    return dict(zip(geometry.data_format, geometry.shape_of(role), strict=True))


def _arranged(layout: str, values: dict[str, int]) -> Shape:
    return tuple(values[letter] for letter in layout)


# ---------------------------------------------------------------------------------------------
# The table of functions, and running one
# ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Operand:
    """An array argument: its name in the dialect, what it is for, and its axes in words.

    ``role`` is "input", "filters", "bias", or "out_backprop" for the gradient in the output.
    """

    name: str
    role: str
    axes: str = ""
    ranks: tuple[int, ...] = (4,)


@dataclass(frozen=True, slots=True)
class DialectFunction:
    """A function of a dialect: its name in the map, its array arguments, and its resolver.

    ``resolver`` takes shapes under the operands' names (None for a bias that is not given) and every other
    argument of the function unchanged, and returns a `ConvCall`.
    """

    name: str
    operands: tuple[Operand, ...]
    resolver: Callable[..., ConvCall]

    def resolve(self, arguments: dict[str, Any]) -> ConvCall:
        """Return the resolved call; an error says if an image seems to have its channels last, not first."""
        try:
            return self.resolver(**arguments)
        except ArgumentError as error:
            for image, filters in pairwise(self.operands):
                if image.axes.startswith("[batch, channels,") and filters.role == "filters":
                    axes = filters.axes.strip("[]").split(", ")
                    channels = arguments[filters.name][
                        axes.index(next(a for a in axes if a.startswith("in")))
                    ]
                    shape = arguments[image.name]
                    first = "NC" + "DHW"[5 - len(shape) :]  # the order of PyTorch and ONNX
                    error.args = (f"{error}{other_order(shape, first, channels)}",)
            raise


FUNCTIONS: dict[Callable[..., Any], DialectFunction] = {}

F = TypeVar("F", bound=Callable[..., Any])


def dialect_function(
    name: str, resolver: Callable[..., ConvCall], *operands: Operand, is_op: bool = True
) -> Callable[[F], F]:
    """Enter a function into the table; ``trace``, ``explain`` and ``diff`` then take it too.

    ``is_op`` is False for teachconv's own ops, which these tools know already.
    """

    def enter(function: F) -> F:
        entry = DialectFunction(name, operands, resolver)
        FUNCTIONS[function] = entry
        if is_op:
            nn_ops.RESOLVERS[function] = lambda **arguments: to_call(entry, arguments)
        return hide_unknown(function)

    return enter


def run(function: Callable[..., Any], backend: Any, unknown: Iterable[str], **arguments: Any) -> np.ndarray:
    """Run a function of a dialect: resolve it, prepare the arrays, and hand them to `nn_ops`."""
    if unknown:
        refuse_unknown(function, unknown)
    entry = FUNCTIONS[function]
    if (override := override_of(*(arguments[operand.name] for operand in entry.operands))) is not None:
        return override(function, {**arguments, "backend": backend})
    return dispatch.run(to_call(entry, arguments), backend)


def bind_shapes(
    function: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    purpose: str = "the translation of a call",
) -> tuple[ConvCall, dict[str, Any]]:
    """Return the resolved call, and the function's arguments by name with shapes in place of arrays.

    Args:
        function: a function of a dialect, or one of teachconv's own ops.
        args: its positional arguments; a shape can stand in for an array.
        kwargs: its keyword arguments, likewise.
        purpose: the caller's name in error messages; it runs nothing.

    Returns:
        The call, and the arguments that its resolver was given.

    Raises:
        ValueError, TypeError: if the function itself would raise it, or an option such as backend is given.
    """
    if not is_one_of(function, FUNCTIONS):
        raise ArgumentTypeError(f"function must be one of {nn_ops.listed(FUNCTIONS)}; got {brief(function)}")
    entry = FUNCTIONS[function]
    given = nn_ops.with_defaults(function, args, kwargs)
    nn_ops.refuse(given, purpose, **dict.fromkeys(nn_ops.OPTIONS, "nothing is computed"))
    arguments = nn_ops.without_options(given)
    arguments.pop("name", None)
    for operand in entry.operands:
        ranks = (1,) if operand.role == "bias" else operand.ranks
        arguments[operand.name] = shape_of(arguments[operand.name], operand.name, ranks, operand.axes)
    return entry.resolve(arguments), arguments


def to_call(entry: DialectFunction, arguments: dict[str, Any]) -> Call:
    """Return the `Call` that a function of a dialect comes to with these arguments, arrays included."""
    with record.stage("normalise arguments") as stage:
        arrays: dict[str, np.ndarray] = {}
        for operand in entry.operands:
            value = arguments[operand.name]
            if value is None and operand.role == "bias":
                continue
            ranks = 1 if operand.role == "bias" else operand.ranks
            arrays[operand.name] = as_array(value, operand.name, ranks, operand.axes)
        check_alike(arrays)
        stage.arrays(**arrays)
    with record.stage(f"resolve {entry.name}") as stage:
        shapes = {
            operand.name: arrays[operand.name].shape if operand.name in arrays else None
            for operand in entry.operands
        }
        conv = entry.resolve(arguments | shapes)
        stage.say("{}", conv)
    by_role = {op.role: arrays[op.name] for op in entry.operands if op.name in arrays}
    with record.stage("prepare arrays") as stage:
        first, second = _prepared(conv, by_role)
        stage.arrays(first=first, second=second)
    return Call(
        conv.op,
        first,
        second,
        conv.geometry,
        conv.result_shape,
        caller_layout(conv),
        by_role.get("bias"),
        title=conv.function,
        names=conv,
    )


def _prepared(conv: ConvCall, by_role: dict[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """The first and second array of a `Call`: what the backend's function takes."""
    prepare = {
        "input": conv.prepare_input,
        "filters": lambda w: contiguous(conv.prepare_filter(w)),
        "out_backprop": lambda dy: conv.to_nhwc(dy, conv.output_layout),
    }
    first, second = (conv.op.words[role] for role in (conv.kind.first, conv.kind.second))
    return prepare[first](by_role[first]), prepare[second](by_role[second])


def caller_layout(conv: ConvCall) -> str:
    """Return the letters of the result as a `Call` has them: with a batch where the dialect has none."""
    layout = conv.layout(conv.kind.result)
    return "N" + layout if "C" in layout and "N" not in layout else layout


# ---------------------------------------------------------------------------------------------
# What the resolvers share
# ---------------------------------------------------------------------------------------------


def ints(
    value: Any,
    name: str,
    rank: int,
    *,
    least: int | None = 1,
    scalar: bool = True,
    single: bool = False,
    axes: str = "",
) -> Shape:
    """Return one int for each spatial axis of an argument that a dialect gives as an int or a sequence.

    ``scalar`` allows one int for all, ``single`` a sequence of one; ``least`` is the smallest legal value,
    ``axes`` the name of the axes in messages; "" for each axis's own.
    """
    each = f"{tables.count(rank, 'int')}, {axes or axis_names(rank)}"
    legal = ("an int or " if scalar else "") + (f"1 or {each}" if single and rank > 1 else each)
    if isinstance(value, (str, bytes, dict, set)) or (value is None):
        raise ArgumentTypeError(f"{name} must be {legal}; got {brief(value)}")
    if getattr(value, "ndim", None) == 0 or not hasattr(value, "__iter__"):
        if not scalar:
            integer(value, name)
            raise ArgumentTypeError(f"{name} must be {legal}; got {brief(value)}")
        numbers = [integer(value, name) for _ in range(rank)]
    else:
        numbers = [integer(item, name) for item in islice(value, rank + 1)]
        if single and len(numbers) == 1:
            numbers = [numbers[0] for _ in range(rank)]
    if len(numbers) != rank:
        raise ArgumentError(f"{name} must be {legal}; got {brief(value)}")
    if least is not None and min(numbers) < least:
        raise ArgumentError(f"{name} must be at least {least}; got {brief(value)}")
    check_steps(numbers, name, value)
    return tuple(numbers)


def factors(value: Any, name: str, rank: int) -> list[float]:
    """Return one number above 0 for each axis, of an argument that is a number or a sequence of them."""
    is_one = getattr(value, "ndim", None) == 0 or not hasattr(value, "__iter__")
    several = [value] * rank if is_one else islice(value, rank + 1)
    numbers = [real(number, name) for number in several]
    if len(numbers) != rank or not all(0 < number < 2**31 for number in numbers):
        legal = f"{tables.count(rank, 'number')} above 0 and below 2**31"
        raise ArgumentError(f"{name} must be {legal}; got {brief(value)}")
    return numbers


def steps_of(value: Any, name: str, rank: int) -> Shape:
    """Return strides or dilations that a dialect gives as a sequence, or ones for None."""
    return (1,) * rank if value is None else ints(value, name, rank, scalar=False)


def rank_of(shape: Shape, filters: Shape, name: str) -> int:
    """Return how many axes windows move over; raise unless the filter has as many axes as the input."""
    if len(filters) != len(shape):
        raise ArgumentError(
            f"{name} must have {len(shape)} axes, as many as the input {list(shape)}; got {list(filters)}"
        )
    return len(shape) - 2


def filter_step(name: str, layout: str, law: str) -> str:
    """Return the step of a derivation that turns a filter into the law's, in letters."""
    order = tuple(layout.index(letter) for letter in law)
    return f"filter: {name}.transpose{order}, {layout} to {law}, no flip"


def check_groups(
    groups: int, name: str, in_channels: int, depth: int, depth_name: str, outs: int, outs_name: str
) -> None:
    """Check the channels of a forward filter against those of the input.

    ``depth`` and ``outs`` are the filter's in and out channels, their names how the dialect indexes
    them ("weight.shape[1]").
    """
    if in_channels != depth * groups:
        channels = tables.count(in_channels, "channel")
        raise ArgumentError(f"{depth_name} must be the input's {channels} / {name} {groups}; got {depth}")
    if outs % groups:
        raise ArgumentError(f"{outs_name} must be a multiple of {name} {groups}; got {outs}")


def check_transposed_groups(
    groups: int, name: str, in_channels: int, input_name: str, weight_in: int, weight_name: str
) -> None:
    """Check the first axis of a transposed filter, and the groups, against the channels of the input."""
    channels = f"{input_name} {tables.count(in_channels, 'channel')}"
    if weight_in != in_channels:
        raise ArgumentError(f"{weight_name} must be {channels}; got {weight_in}")
    if in_channels % groups:
        raise ArgumentError(f"{name} must divide {channels}; got {groups}")


def check_bias(bias: Shape | None, channels: int, name: str = "bias") -> None:
    """Check that a bias, if there is one, has one element for each output channel."""
    if bias is not None and tuple(bias) != (channels,):
        raise ArgumentError(
            f"{name} must have shape [{channels}], one element for each output channel; got {list(bias)}"
        )


def check_size(size: int, axis: str, full: int, what: str, in_size: int, *, least: int = 1) -> None:
    """Check that a transposed result has at least one row or column, unless the input has none."""
    if size < least and in_size:
        raise ArgumentError(f"{what} leaves no {axis} of the {full} that the full result has; got {size}")


def full_size(in_size: int, filter_size: int, stride: int, dilation: int) -> int:
    """F, the length of the full transposed result: what the taps of all inputs span."""
    return AxisGeometry(0, filter_size, in_size, stride, dilation, 0, 0).full_size
