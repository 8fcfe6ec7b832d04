"""What a framework is as a target, what one call of it consists of, and what the six descriptions share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ..core.arguments import SIDES, Pads, Shape
from ..core.geometry import ConvGeometry
from ..core.law import AxisGeometry, forward_axis
from ..dialects.calls import ConvCall
from ..support.errors import ArgumentError

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
class Target:
    """One framework that calls are translated to: its names, its functions, its layouts and its limits.

    A record without arguments stands for NumPy, and the function of a call for itself. The others are in
    `targets.TARGETS`; everything that depends on the framework is here or in a function that is named here.

    Attributes:
        name: what users call it.
        title: how it writes its own name.
        aliases: other names, and the modules that its functions are in.
        packages: what has to be installed; the last one has the version.
        imports: the lines that import it.
        forward: returns the call for a forward convolution; takes whether it has to hold for any size.
        transposed: returns the call for a transposed convolution.
        section: returns the lines of a convolution, if they are not one call.
        result: makes an array of what a call, {}, returns.
        last: the lines after the call.
        of_tensors: whether arrays become PyTorch's tensors first, which F.pad pads and crops.
        takes_bias: whether the call itself adds a bias.
        takes_empty: whether it takes and returns arrays without a cell.
        stuffs: whether a forward call itself inserts zeros between the input's cells, and takes groups of
            images.
        filter_layouts: the filter's in a forward convolution, and in a transposed one; HW stands for the axes
            of any rank.
        filter_gradient: what computes the gradient of a filter.
        pool: returns the function, the name, the arguments and the layout of a pool, from the call, a padding
            word or pads, ceil_mode, and whether count_include_pad is not the framework's own.
        pool_words: the padding words of its pool, and "" for numbers, in the order in which they are tried.
        ceils: whether its pool has ceil_mode and count_include_pad.
        pad: the function of padding, its name, its arguments for the sides and for the number, what makes the
            sides of pairs, and its words for modes that NumPy calls something else.
        resize: the function of a resize, its name, its layout, its arguments for factors and for sizes, and
            the words of each way to read the cells. {own} in a layout and {linear} stand for the resized
            axes, {all} for the layout of the call.
        shuffles: for each shuffle of pixels whether it makes channels, its function, its name, its argument
            for the size of a block, its other words, and its layout.
        adaptive: for each adaptive pool what it makes of a window, how many axes it pools, its function, its
            name and its layout.
        norm: the function of batch normalisation, its name, its argument for eps, its arrays and its layout.
        no_norm: why it has no batch normalisation.
        no_window_of_one: why a window of one cell cannot be run.
        pointwise: its functions of one cell each, by the names that `pointwise` has for them, with the
            arguments that they need.
    """

    name: Any = "numpy"
    title: str = ""
    aliases: tuple[str, ...] = ()
    packages: tuple[str, ...] = ()
    imports: tuple[str, ...] = ()
    forward: Any = None
    transposed: Any = None
    section: Any = None
    result: str = "{}"
    last: tuple[str, ...] = ()
    of_tensors: bool = False
    takes_bias: bool = False
    takes_empty: bool = False
    stuffs: bool = False
    filter_layouts: tuple[str, str] = ("HWIO", "HWOI")
    filter_gradient: str = ""
    pool: Any = None
    pool_words: tuple[str, ...] = ()
    ceils: bool = False
    pad: tuple[Any, ...] = ()
    resize: tuple[Any, ...] = ()
    shuffles: tuple[tuple[Any, ...], ...] = ()
    adaptive: tuple[tuple[Any, ...], ...] = ()
    norm: tuple[Any, ...] = ()
    no_norm: str = ""
    no_window_of_one: str = ""
    pointwise: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class TargetCall:
    """One call of a framework's function, and what has to be done before and after it.

    Attributes:
        function: teachconv's function of the same signature, or None for SciPy, which has none here.
        name: the function's name in the framework.
        arguments: all arguments but the arrays.
        layout: the layout of the input; here and in the next two, "" is TensorFlow's, over the call's axes.
        out_layout: the layout of the output.
        filter_layout: the layout of the filter.
        regroup: whether the filter's groups lie along its output channels.
        flip: whether the framework's filter is flipped, compared with teachconv's.
        pad_input: zeros to add before the call, (before, after) for each axis; negative numbers crop. () for
            none.
        pad_rule: "SAME" or "SAME_LOWER": the padding to compute from the input's size and add before the
            call; or "".
        pad_output: zeros to add after the call, like pad_input.
        subsample: n for each axis of the result, of which every n-th cell is kept; () for all.
        split: the number of groups to compute in separate calls.
        notes: sentences on what the framework cannot express directly.
        before: of a pool, the lines before the call, on x, which add pad_input.
        after: of a pool, the lines after it, on y.
        one_size: of a pool, whether the code is for images of one size only.
        why_not: why there is no such call, or "".
        arrays: what the code calls the arrays of the call, in its order.
        target: the framework.
    """

    function: Callable[..., Any] | None = None
    name: str = ""
    arguments: dict[str, Any] = field(default_factory=dict)
    layout: str = ""
    out_layout: str = ""
    filter_layout: str = ""
    regroup: bool = False
    flip: bool = False
    pad_input: Pads = ()
    pad_rule: str = ""
    pad_output: Pads = ()
    subsample: Shape = ()
    split: int = 1
    notes: tuple[str, ...] = ()
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    one_size: bool = False
    why_not: str = ""
    arrays: tuple[str, ...] = ("x", "w")
    target: Target = Target()


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


# ---------------------------------------------------------------------------------------------
# The padding of a forward convolution
# ---------------------------------------------------------------------------------------------


def some(pads: Pads) -> Pads:
    """Return pads, or () if all are zero."""
    return pads if any(any(sides) for sides in pads) else ()


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


def explicit(pads: Pads) -> Any:
    """Return TensorFlow's padding for pads: numbers, or VALID if all are zero."""
    return [[0, 0], *[list(sides) for sides in pads], [0, 0]] if some(pads) else "VALID"


def dilations_of(geometry: ConvGeometry) -> Shape | None:
    """Return the dilations, or None if there are none: then a call does not name them."""
    return geometry.dilations if max(geometry.dilations) > 1 else None


def without_none(arguments: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments that a call names."""
    return {name: value for name, value in arguments.items() if value is not None}


def groups_of(conv: ConvCall) -> int | None:
    """Return the number of groups, or None for one."""
    return conv.groups if conv.groups > 1 else None


def mixed(pads: Pads) -> bool:
    """Return whether an axis is padded on one side and cropped on the other."""
    return any(min(sides) < 0 < max(sides) for sides in pads)


def same_word(family: Family) -> str:
    """Return "SAME" or "SAME_LOWER" if that gives the alignment at every size, or ""."""
    for word in ("SAME", "SAME_LOWER"):
        if all(pads_alike(axis, word) for conv in family for axis in conv.geometry.axes):
            return word
    return ""


def pads_alike(axis: AxisGeometry, word: str, pad: int = 0) -> bool:
    """Return whether a word, or a pad on both sides, gives an axis its size and its alignment.

    Rows that no tap reads do not matter.
    """
    facts = axis.in_size, axis.filter_size, axis.stride, axis.dilation
    other = forward_axis("rows", *facts, word, (pad, pad), may_be_empty=True)
    return (other.out_size, other.pad_before) == (axis.out_size, axis.pad_before)


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
    pads = family[0].geometry.padding
    if not any_size or all(conv.geometry.padding == pads for conv in family):
        return some(pads), ""
    word = same_word(family)
    if not word:
        raise ArgumentError(
            f"any_size must be False here: the padding of this {family[0].function} depends on the size "
            "and is neither SAME nor SAME_LOWER"
        )
    return (), word
