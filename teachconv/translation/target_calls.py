"""What one call of another framework consists of, and what the six frameworks' descriptions share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ..core.arguments import SIDES, Pads, Shape
from ..core.law import AxisGeometry, forward_axis
from ..dialects.calls import ConvCall
from ..support.errors import ArgumentError

NO_PADS: Pads = ()

Family = tuple[ConvCall, ...]
"""A call, then the same call on images of the sizes that follow, until the padding repeats.

The call alone if it takes no other size, because an argument such as output_shape fixes it.
"""


class Code(str):
    """Source text in place of a value: its repr is the text itself."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


@dataclass(frozen=True, slots=True)
class TargetCall:
    """One call of a framework's function, and what has to be done before and after it.

    Attributes:
        target: the framework.
        function: teachconv's function of the same signature, or None for SciPy, which has none here.
        name: the function's name in the framework.
        arguments: all arguments but the arrays.
        layout: the layout of the input; here and in the next two, "" is TensorFlow's, over the call's axes.
        out_layout: the layout of the output.
        filter_layout: the layout of the filter.
        regroup: whether the filter's groups lie along its output channels.
        flip: whether the framework's filter is flipped, compared with teachconv's.
        stuffs: whether the call itself inserts zeros between the input's cells.
        splits_batch: whether the call itself takes groups of images.
        pad_input: zeros to add before the call, (before, after) for each axis; negative numbers crop. () for
            none.
        pad_rule: "SAME" or "SAME_LOWER": the padding to compute from the input's size and add before the
            call; or "".
        pad_output: zeros to add after the call, like pad_input.
        subsample: n for each axis of the result, of which every n-th cell is kept; () for all.
        split: the number of groups to compute in separate calls.
        notes: sentences on what the framework cannot express directly.
        why_not: why there is no such call, or "".
        arrays: what the code calls the arrays of the call, in its order.
    """

    target: str
    function: Callable[..., Any] | None = None
    name: str = ""
    arguments: dict[str, Any] = field(default_factory=dict)
    layout: str = ""
    out_layout: str = ""
    filter_layout: str = ""
    regroup: bool = False
    flip: bool = False
    stuffs: bool = False
    splits_batch: bool = False
    pad_input: Pads = NO_PADS
    pad_rule: str = ""
    pad_output: Pads = NO_PADS
    subsample: Shape = ()
    split: int = 1
    notes: tuple[str, ...] = ()
    why_not: str = ""
    arrays: tuple[str, ...] = ("x", "w")


# ---------------------------------------------------------------------------------------------
# The call to translate
# ---------------------------------------------------------------------------------------------


def is_input_gradient(conv: ConvCall) -> bool:
    """Return whether the call is a gradient with respect to the input of a forward convolution."""
    return conv.kind.scatters and not conv.op.transposed


def filter_letters(conv: ConvCall) -> str:
    """Return the filter's layout, with I and O for the input and output channels of *this* call."""
    if is_input_gradient(conv):  # its filter is named for the forward convolution
        return conv.filter_layout.translate(str.maketrans("IO", "OI"))
    return conv.filter_layout


def jax_layouts(conv: ConvCall) -> tuple[str, str]:
    """Return the source's own layouts of activations, since JAX reads and writes any layout."""
    first, result = conv.layout(conv.kind.first), conv.layout(conv.kind.result)
    return ("" if "N" in first else "N") + first, ("" if "N" in result else "N") + result


def channels_first(conv: ConvCall) -> bool:
    """Return whether both activations are NCHW, or CHW without a batch."""
    first = f"NC{conv.spatial}"
    return jax_layouts(conv) == (first, first)


# ---------------------------------------------------------------------------------------------
# The padding of a forward convolution
# ---------------------------------------------------------------------------------------------


def pads_of(conv: ConvCall) -> Pads:
    """Return the forward convolution's pads."""
    return tuple((axis.pad_before, axis.pad_after) for axis in conv.geometry.axes)


def some(pads: Pads) -> Pads:
    """Return pads, or () if all are zero."""
    return pads if any(any(sides) for sides in pads) else NO_PADS


def positive(pads: Pads) -> Pads:
    """Return what is padded."""
    return tuple((max(0, before), max(0, after)) for before, after in pads)


def negative(pads: Pads) -> Pads:
    """Return what is cropped, as negative numbers."""
    return tuple((min(0, before), min(0, after)) for before, after in pads)


def torch_order(pads: Any) -> tuple[Any, ...]:
    """Return what there is on the sides of each axis in the order of F.pad: the last axis first."""
    return tuple(side for sides in pads[::-1] for side in sides)


def sides_of(conv: ConvCall) -> Any:
    """Return the names of the sides of each axis: (top, bottom), (left, right)."""
    return SIDES[-len(conv.spatial) :]


def mixed(pads: Pads) -> bool:
    """Return whether an axis is padded on one side and cropped on the other."""
    return any(min(sides) < 0 < max(sides) for sides in pads)


def same_word(family: Family) -> str:
    """Return "SAME" or "SAME_LOWER" if that gives the alignment at every size, or ""."""
    for word in ("SAME", "SAME_LOWER"):
        if all(_agrees(axis, word) for conv in family for axis in conv.geometry.axes):
            return word
    return ""


def _agrees(axis: AxisGeometry, word: str) -> bool:
    """Return whether a word gives an axis its size and its alignment."""
    facts = axis.in_size, axis.filter_size, axis.stride, axis.dilation
    same = forward_axis("rows", *facts, word, (0, 0), may_be_empty=True)
    return (same.out_size, same.pad_before) == (axis.out_size, axis.pad_before)


def pads_by_size(family: Family, any_size: bool) -> tuple[Pads, str]:
    """Return the pads as numbers, or the word of the rule to compute them by where the size is open.

    Args:
        family: the call at all sizes.
        any_size: whether the code has to hold for images of any size.

    Returns:
        (pads, ""), pads being () if all are zero, or () and "SAME" or "SAME_LOWER".

    Raises:
        ArgumentError: if the size is open and the pads follow no rule.
    """
    pads = pads_of(family[0])
    if not any_size or all(pads_of(conv) == pads for conv in family):
        return some(pads), ""
    word = same_word(family)
    if not word:
        raise ArgumentError(
            f"any_size must be False here: the padding of this {family[0].function} depends on the size "
            "and is neither SAME nor SAME_LOWER"
        )
    return NO_PADS, word
