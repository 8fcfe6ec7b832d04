"""Finds the sizes for which a translated call is valid, by translating the call at other sizes.

Padding and everything else that a translation computes repeats with the stride: if as many consecutive sizes
as the stride give the same code, every size does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from math import prod
from typing import Any

from ..dialects.calls import ConvCall, DialectFunction
from .target_calls import Family, filter_letters

Arguments = dict[str, Any]


def family_of(entry: DialectFunction, conv: ConvCall, arguments: Arguments) -> Family:
    """Return the call, and the same call on images one cell larger on every axis, and so on over a stride.

    Args:
        entry: the call's function.
        conv: the call, resolved.
        arguments: its arguments, with shapes in place of arrays.

    Returns:
        The resolved calls; only ``conv`` if the function refuses another size.
    """
    others = list(_others(entry, conv, arguments, "image"))
    return (conv,) if None in others else (conv, *(other for other in others if other is not None))


def made_for(
    entry: DialectFunction, family: Family, arguments: Arguments, code: Callable[[ConvCall], str]
) -> str:
    """Return the axes of input and filter whose sizes the code depends on.

    Args:
        entry: the call's function.
        family: the call, and the same on larger images, as `family_of` returns them.
        arguments: its arguments, with shapes in place of arrays.
        code: gives the code of the same call at another size.

    Returns:
        The letters of the input, a comma, and those of the filter, such as "DHW,DHW", whatever the rank.
    """
    conv, *larger = family
    want, first, second = code(conv), "", ""
    for group, (of_input, of_filter) in _GROUPS.items():
        others: Iterable[ConvCall | None] = _others(entry, conv, arguments, group)
        if group == "image":
            others = larger or [None]
        if any(other is None or code(other) != want for other in others):
            first, second = first + of_input, second + of_filter
    return f"{first},{second}"


LONGEST = 256  # the largest stride whose sizes are tried one by one
# what is varied together: the letters of the input, and those of the filter; all but D, H and W are doubled
_GROUPS = {"image": ("DHW", ""), "filter": ("", "DHW"), "N": ("N", ""), "I": ("C", "I"), "O": ("", "OM")}


def _others(
    entry: DialectFunction, conv: ConvCall, arguments: Arguments, group: str
) -> Iterator[ConvCall | None]:
    """Yield the call at other sizes of one group of axes; None where the function refuses it.

    A stride above `LONGEST` gives None alone: there would be too many sizes to try.
    """
    if group in ("image", "filter") and max(conv.geometry.strides) > LONGEST:
        yield None
        return
    of_input, of_filter = _GROUPS[group]
    for more in _steps(conv, group):
        changed = dict(arguments)
        # with a larger filter the image keeps its place in the stride
        reach = max(0, more) * max(conv.geometry.dilations) * prod(conv.geometry.strides)
        for operand in entry.operands:
            shape = arguments[operand.name]
            letters, varied = conv.layout(conv.kind.first), of_input
            added = more if group == "image" else reach if group == "filter" else 0
            if operand.role == "filters":
                letters, varied, added = filter_letters(conv), of_filter, more if group == "filter" else 0
            if operand.role == "bias":
                letters, varied = "O", of_filter
            if shape is not None:
                changed[operand.name] = tuple(
                    size + added if letter in "DHW" else size * 2 if letter in varied else size
                    for letter, size in zip(letters, shape, strict=True)
                )
        try:
            yield entry.resolver(**changed)
        except (ValueError, TypeError):
            yield None


def _steps(conv: ConvCall, group: str) -> Iterable[int]:
    """Return by how much the sizes of one group of axes change: images over one stride, filters both ways.

    Padding is cut off at zero for a small filter, so what holds for larger ones may not hold there.
    """
    step = max(conv.geometry.strides)
    if group == "image":
        return range(1, step + 1)
    if group == "filter":
        least = min(axis.filter_size for axis in conv.geometry.axes)
        return (*range(1, step + 2), *range(-1, -least, -1))
    return (1,)
