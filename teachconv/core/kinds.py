"""One law, three kinds: which arrays a convolution reads, and which of the three it computes.

The index law relates cells of three arrays: input cell, filter cell, output cell. Each kind of call reads
two of the arrays and computes the third; a cell of the result is the sum over every triple that the cell
belongs to. Everything that differs between the kinds follows from these roles, or is in this file.

=====================  ===============  ==========  =============================================
kind                   reads            computes    a sum runs over
=====================  ===============  ==========  =============================================
`FORWARD`              input, filters   output      the taps and channels of a window (gather)
`INPUT_GRADIENT`       output, filters  input       the taps that reach the cell (scatter)
`FILTER_GRADIENT`      input, output    filters     images and positions
=====================  ===============  ==========  =============================================

conv2d_transpose is INPUT_GRADIENT under another name: what it calls its input has the role "output".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from types import MappingProxyType
from typing import Any, Protocol

from ..support.errors import ArgumentError, check_word

Cell = tuple[int, ...]

ROLES = ("input", "filters", "output")
AXES = ("depth", "rows", "cols")  # a convolution of rank 1, 2 or 3 has the last ones of these


def layout_of(role: str, rank: int) -> str:
    """Return the letters of the axes of a role's array, as backends have it, for 1, 2 or 3 spatial axes.

    >>> [layout_of(role, rank) for role in ("input", "filters") for rank in (1, 2, 3)]
    ['NWC', 'NHWC', 'NDHWC', 'WIO', 'HWIO', 'DHWIO']
    """
    axes = "DHW"[-rank:]
    return f"{axes}IO" if role == "filters" else f"N{axes}C"


LAYOUTS = MappingProxyType({role: layout_of(role, 2) for role in ROLES})


@dataclass(frozen=True, eq=False, repr=False)  # three objects, compared by identity: a quick key
class Kind:
    """One of the three ways to read the law.

    Attributes:
        name: the backend function that computes it; it says conv2d for any number of axes.
        first: the role of the function's first array.
        second: the role of its second array.
        result: the role of the array that it returns.
        words: what pictures and tables call first, second and result.
    """

    name: str
    first: str
    second: str
    result: str
    words: tuple[str, str, str]

    @cached_property
    def gathers(self) -> bool:
        """Whether a cell of the result collects the products of its window."""
        return self.result == "output"

    @cached_property
    def scatters(self) -> bool:
        """Whether a cell of the first array is stamped onto the result, tap by tap."""
        return self.result == "input"

    @cached_property
    def sums_images(self) -> bool:
        """Whether a sum runs over images and positions; then the result has neither bias nor batch."""
        return self.result == "filters"

    def __repr__(self) -> str:
        return f"Kind({self.name!r})"

    def __str__(self) -> str:
        return self.name

    def __reduce__(self) -> tuple[Any, ...]:
        return kind_of, (self.name,)  # the same object again


FORWARD = Kind("conv2d", "input", "filters", "output", ("input", "filter", "output"))
INPUT_GRADIENT = Kind("conv2d_backprop_input", "output", "filters", "input", ("input", "filter", "output"))
FILTER_GRADIENT = Kind(
    "conv2d_backprop_filter", "input", "output", "filters", ("input", "out_backprop", "filter gradient")
)
KINDS = (FORWARD, INPUT_GRADIENT, FILTER_GRADIENT)


_NAMED = {kind.name: kind for kind in KINDS}


def kind_of(kind: Kind | str) -> Kind:
    """Return a kind, given itself or the name of its backend function.

    Raises ``ValueError`` for any other name.

    >>> kind_of("conv2d") is FORWARD, kind_of(FORWARD) is FORWARD
    (True, True)
    """
    if isinstance(kind, Kind):
        return kind
    check_word(kind, "kind", _NAMED)
    return _NAMED[kind]


@dataclass(frozen=True, eq=False, repr=False, slots=True)
class Op:
    """A public op: a kind of call, in the words of its own signature.

    Attributes:
        name: the name of the function in `teachconv`.
        kind: what it computes.
        words: what the op calls the array of each role.
        sizes: the argument that says how large the result is, "" where nothing has to say it.
        transposed: True for conv2d_transpose: an input gradient offered as a forward op.
        is_gradient: whether it takes the gradient in the forward op's output, out_backprop.
        depthwise: whether its filters are [..., in_channels, channel_multiplier], and groups = in_channels.
        rank: over how many axes its windows move; None for 1 to 3, as the arrays have them.
    """

    name: str
    kind: Kind
    words: Mapping[str, str]
    sizes: str = ""
    transposed: bool = False
    is_gradient: bool = False
    depthwise: bool = False
    rank: int | None = 2

    @property
    def own_input(self) -> str:
        """The role of the activations that the op calls its input; those of the forward op for a gradient."""
        return "output" if self.transposed else "input"

    @property
    def own_output(self) -> str:
        """The role of the activations that the op calls its output."""
        return "input" if self.transposed else "output"

    @property
    def arrays(self) -> tuple[str, ...]:
        """The arguments that are arrays, in the order of the signature."""
        reads = self.words[self.kind.first], self.words[self.kind.second]
        in_order = *(name for name in ("input", "filters", "out_backprop") if name in reads), "bias"
        return in_order[:2] if self.is_gradient else in_order

    def __repr__(self) -> str:
        return f"Op({self.name!r})"

    def __str__(self) -> str:
        return self.name

    def __reduce__(self) -> tuple[Any, ...]:
        return _op_named, (self.name,)


def _op_named(name: str) -> Op:
    """Return the op of that name: unpickling gives back the same object."""
    return OPS[name]


def _words(input: str, filters: str, output: str) -> Mapping[str, str]:
    return MappingProxyType({"input": input, "filters": filters, "output": output})


_OPS = (
    Op("conv2d", FORWARD, _words("input", "filters", "output")),
    Op("conv2d_transpose", INPUT_GRADIENT, _words("output", "filters", "input"), "output_shape", True),
    Op(
        "conv2d_backprop_input",
        INPUT_GRADIENT,
        _words("input gradient", "filters", "out_backprop"),
        "input_sizes",
        is_gradient=True,
    ),
    Op(
        "conv2d_backprop_filter",
        FILTER_GRADIENT,
        _words("input", "filter gradient", "out_backprop"),
        "filter_sizes",
        is_gradient=True,
    ),
)
OPS: dict[str, Op] = {op.name: op for op in _OPS}
for _op in _OPS:
    if not _op.transposed:
        OPS[f"depthwise_{_op.name}"] = replace(_op, name=f"depthwise_{_op.name}", depthwise=True)
_ANY = ("convolution", "conv_transpose", "convolution_backprop_input", "convolution_backprop_filter")
for _rank in (1, 3, None):
    for _op, _any in zip(_OPS, _ANY, strict=True):
        _name = _op.name.replace("2d", f"{_rank}d") if _rank else _any
        OPS[_name] = replace(_op, name=_name, rank=_rank)


# ---------------------------------------------------------------------------------------------
# Cells, as the caller numbers them
# ---------------------------------------------------------------------------------------------


class CellNames(Protocol):
    """How a caller numbers the cells of arrays that a backend has in NHWC and HWIO, or those of another rank.

    ``role`` is the array's role in the law. A cell of the padding has a name too.
    """

    @property
    def has_gaps(self) -> bool:
        """Whether there are cells of the first array that the caller's array does not have."""

    def name(self, role: str, cell: Cell) -> Cell | None:
        """Return a backend's cell as the caller numbers it; None if the caller's array has no such cell."""

    def find(self, role: str, cell: Cell) -> Cell:
        """Return the backend's cell: the inverse of `name`."""

    def layout(self, role: str) -> str:
        """Return the letters of the caller's axes, such as "NCHW"."""

    def shape(self, role: str) -> Cell:
        """Return the shape of the caller's array, its axes in the order of `layout`."""


@dataclass(frozen=True, slots=True)
class DepthwiseCells:
    """The cells of a depthwise call, which is a convolution with groups = in_channels.

    A backend's filter is [*filter_sizes, 1, in_channels * multiplier], the caller's
    [*filter_sizes, in_channels, multiplier]: out channel c * multiplier + q is filter [..., c, q].

    Attributes:
        shapes: the shape of the array of each role, the filters' as the caller has them.
    """

    shapes: Mapping[str, Cell]

    @staticmethod
    @lru_cache(maxsize=1024)
    def of(geometry: Any) -> DepthwiseCells:
        """Return the cells of a depthwise call with this geometry."""
        *taps, depth, outs = geometry.filters_shape
        filters = (*taps, geometry.groups if depth else 0, outs // geometry.groups)
        return DepthwiseCells(
            {"input": geometry.input_shape, "filters": filters, "output": geometry.output_shape}
        )

    @property
    def has_gaps(self) -> bool:
        """False: every cell of a backend's arrays belongs to the caller's."""
        return False

    def name(self, role: str, cell: Cell) -> Cell:
        """Return a backend's cell as the caller numbers it.

        >>> cells = DepthwiseCells({"filters": (3, 3, 4, 2)})
        >>> cells.name("filters", (1, 0, 0, 5)), cells.find("filters", (1, 0, 2, 1))
        ((1, 0, 2, 1), (1, 0, 0, 5))
        """
        if role != "filters":
            return cell
        *taps, _, o = cell
        return *taps, *divmod(o, self.shapes["filters"][-1])

    def find(self, role: str, cell: Cell) -> Cell:
        """Return the backend's cell: the inverse of `name`."""
        if role != "filters":
            return cell
        *taps, channel, q = cell
        return *taps, 0, channel * self.shapes["filters"][-1] + q

    def layout(self, role: str) -> str:
        """Return the letters of the caller's axes; M is the channel multiplier."""
        return layout_of(role, len(self.shapes["filters"]) - 2).replace("IO", "IM")

    def shape(self, role: str) -> Cell:
        """Return the shape of the caller's array, images with their channels last."""
        return self.shapes[role]


# ---------------------------------------------------------------------------------------------
# Gradients
# ---------------------------------------------------------------------------------------------

_THAT_COMPUTES = {kind.result: kind for kind in KINDS}


def gradient_of(
    kind: Kind, role: str, arrays: Mapping[str, Any], gradient: Any
) -> tuple[Kind, dict[str, Any]]:
    """Return the gradient of a call with respect to one of its arrays, which is itself a call of one kind.

    The law is linear in each array that a call reads. So the kind whose result has the role of the array
    computes the gradient; it reads the call's other array, and the gradient in place of the call's result.

    Args:
        kind: the kind of the call.
        role: the role of the array, one of the two that the call reads.
        arrays: the arrays of the call by role.
        gradient: the gradient with respect to the result of the call.

    Returns:
        The kind that computes the gradient, and the two arrays that it reads, by role.

    >>> for kind in KINDS:
    ...     for role in (kind.first, kind.second):
    ...         call, reads = gradient_of(kind, role, {role: role for role in ROLES}, "GRADIENT")
    ...         print(f"{kind.name:22} by {role:7} is {call.name:22}", *reads.values())
    conv2d                 by input   is conv2d_backprop_input  GRADIENT filters
    conv2d                 by filters is conv2d_backprop_filter input GRADIENT
    conv2d_backprop_input  by output  is conv2d                 GRADIENT filters
    conv2d_backprop_input  by filters is conv2d_backprop_filter GRADIENT output
    conv2d_backprop_filter by input   is conv2d_backprop_input  output GRADIENT
    conv2d_backprop_filter by output  is conv2d                 input GRADIENT
    """
    computes = _THAT_COMPUTES[role]
    known = {**arrays, kind.result: gradient}
    return computes, {name: known[name] for name in (computes.first, computes.second)}


def sibling(op: Op, kind: Kind) -> Op:
    """Return the op that computes a kind for the filters of another op: of the same rank, depthwise or not.

    >>> sibling(OPS["depthwise_conv2d"], FILTER_GRADIENT), sibling(OPS["conv1d_transpose"], FORWARD)
    (Op('depthwise_conv2d_backprop_filter'), Op('conv1d'))

    Raises:
        ArgumentError: if `OPS` has none.
    """
    wanted = kind, op.depthwise, op.rank
    for other in OPS.values():
        if (other.kind, other.depthwise, other.rank) == wanted and not other.transposed:
            return other
    form = f"{'depthwise' if op.depthwise else 'plain'} filters, rank {op.rank or 'any'}"
    raise ArgumentError(f"{op} has no derivatives: teachconv.core.kinds.OPS needs an op of {kind} ({form})")
