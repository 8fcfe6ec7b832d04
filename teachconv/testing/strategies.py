"""Strategies of hypothesis that draw legal convolutions, small ones first: ``pip install hypothesis``."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from hypothesis import strategies as st

from .. import dialects
from ..core.arguments import PADDING_WORDS, begins_then_ends
from ..core.dtypes import FLOATS, INTEGERS
from ..core.kinds import KINDS, kind_of
from ..core.law import AxisGeometry
from ..data.seeded import DATA, make_array
from ..running.nn_ops import call_of
from ..support.errors import words_of
from ..verification.cases import Case, Problem

__all__ = ["calls", "shapes"]

Draw = Callable[[st.SearchStrategy[Any]], Any]
_THREE = st.integers(1, 3)


@st.composite
def shapes(
    draw: Draw,
    rank: int = 2,
    *,
    extra: st.SearchStrategy[int] = st.integers(0, 7),  # noqa: B008 (strategies are never changed)
    taps: st.SearchStrategy[int] = st.integers(1, 4),  # noqa: B008
    channels: st.SearchStrategy[int] = _THREE,
    depth: st.SearchStrategy[int] | None = None,
    groups: st.SearchStrategy[int] = _THREE,
    strides: st.SearchStrategy[int] = _THREE,
    dilations: st.SearchStrategy[int] = _THREE,
    pads: st.SearchStrategy[int] = st.integers(-2, 4),  # noqa: B008
    words: Iterable[str] = (*PADDING_WORDS, "CAUSAL"),
) -> dict[str, Any]:
    """Draw a legal forward convolution as its shapes and arguments, those of `teachconv.conv2d_geometry`.

    Args:
        draw: given by hypothesis.
        rank: the number of spatial axes.
        extra: how much larger than the smallest legal one a size is.
        taps: a size of the filter.
        channels: the channels of a group, of the input and of the output.
        depth: those of the input, if they are not drawn as those of the output.
        groups: the number of groups.
        strides: a stride.
        dilations: a dilation.
        pads: a number of explicit padding; negative ones crop.
        words: the padding words that are drawn besides explicit pads; "CAUSAL" is for rank 1 alone.

    Returns:
        A dict of input_shape, filters_shape, strides, padding and dilations.
    """
    count, ins, outs = draw(groups), draw(channels if depth is None else depth), draw(channels)
    sizes, steps, spread = (tuple(draw(one) for _ in range(rank)) for one in (taps, strides, dilations))
    explicit = tuple((draw(pads), draw(pads)) for _ in range(rank))
    padding = draw(st.sampled_from([*(word for word in words if rank == 1 or word != "CAUSAL"), explicit]))
    images = []
    for k, d, edges in zip(sizes, spread, explicit, strict=True):
        effective = (k - 1) * d + 1
        smallest: dict[Any, int] = {
            **dict.fromkeys(words, 1),
            "VALID": effective,
            explicit: effective - sum(edges),
        }
        images.append(max(1, smallest[padding]) + draw(extra))
    return {
        "input_shape": (draw(st.integers(1, 2)), *images, count * ins),
        "filters_shape": (*sizes, ins, count * outs),
        "strides": steps,
        "padding": padding,
        "dilations": spread,
    }


@st.composite
def calls(
    draw: Draw,
    *,
    ranks: Iterable[int] = (1, 2, 3),
    kinds: Iterable[str] | str | None = None,
    dtypes: Iterable[str] | str = "float32",
    data: Iterable[str] | str = ("integers", "normal"),
    dialects: Iterable[str] | str = "tensorflow",
) -> Problem:
    """Draw a legal call: ``diff(call.op, *call.args, backends=[mine], **call.kwargs)`` runs it.

    Numbers are small, and hypothesis makes them smaller. The arrays follow from the shapes, so that a call
    that failed comes again.

    Args:
        draw: given by hypothesis.
        ranks: the numbers of spatial axes, of 1, 2 and 3; a dialect has 2.
        kinds: the functions of a backend that are called, such as "conv2d"; None for all. conv2d_transpose is
            "conv2d_backprop_input".
        dtypes: the dtypes, or one of them.
        data: the kinds of numbers.
        dialects: in whose words: "tensorflow", "torch", "onnx", "jax" or "keras"; the last four have
            convolutions and no gradients.

    Returns:
        A call: ``op``, ``args``, ``kwargs``, and its ``name``.

    >>> from teachconv import diff, testing as T
    >>> from hypothesis import given, settings
    >>> @settings(max_examples=5, database=None, deadline=None)
    ... @given(T.strategies.calls(ranks=[2], dialects=["tensorflow", "torch"]))
    ... def test_numpy(call):
    ...     diff(call.op, *call.args, backends="numpy", **call.kwargs).check()
    >>> test_numpy()
    """
    of = words_of(kinds, "kinds", map(str, KINDS))
    dtype = draw(st.sampled_from(words_of(dtypes, "dtypes", FLOATS + INTEGERS)))
    numbers = draw(st.sampled_from(words_of(data, "data", DATA)))
    dialect = draw(st.sampled_from(words_of(dialects, "dialects", ("tensorflow", *_DIALECTS))))
    if dialect in _DIALECTS:
        return _in_words_of(draw, dialect, dtype, numbers)
    rank, kind = draw(st.sampled_from(sorted(ranks))), kind_of(draw(st.sampled_from(of)))
    drawn = draw(shapes(rank))
    images, filters, padding = drawn["input_shape"], drawn["filters_shape"], drawn["padding"]
    names = [f"conv{rank}d", "convolution"]
    if rank == 2 and filters[-2] == 1:
        names.append("depthwise_conv2d")
    if kind.scatters and padding != "CAUSAL":
        names += [f"conv{rank}d_transpose", "conv_transpose"]
    op = draw(st.sampled_from(names))
    if "depthwise" in op:
        filters = (*filters[:-2], images[-1], filters[-1] // images[-1])
    if "transpose" in op:
        filters = (*filters[:-2], filters[-1], images[-1])
        axes = zip(filters, images[1:-1], drawn["strides"], drawn["dilations"], strict=False)
        whole = [AxisGeometry(0, *axis, 0, 0).full_size for axis in axes]
        if not isinstance(padding, str) and any(
            f <= sum(pads) for f, pads in zip(whole, padding, strict=True)
        ):
            padding = "SAME"  # so much would be cut that nothing is left
    order = draw(st.sampled_from([f"N{'DHW'[-rank:]}C", f"NC{'DHW'[-rank:]}"]))
    case = Case("drawn", op, images, filters, drawn["strides"], padding, drawn["dilations"], order)
    return {each.call.kind: each for each in case.problems(dtype, numbers)}[kind]


def _in_words_of(draw: Draw, dialect: str, dtype: str, data: str) -> Problem:
    """Draw a convolution of another framework."""
    drawn = draw(shapes(pads=st.integers(0, 3), words=()))
    images, filters, pads = drawn["input_shape"], drawn["filters_shape"], drawn["padding"]
    x, w = make_array(images, dtype, data, "drawn input"), make_array(filters, dtype, data, "drawn filters")
    steps, spread, groups = drawn["strides"], drawn["dilations"], images[-1] // filters[-2]
    if dialect == "keras":
        spread = 1 if max(steps) > 1 else spread  # Keras has no call with both
        op, args, kwargs = dialects.keras.conv, (x, w, steps, "same"), {"dilation_rate": spread}
    else:
        op, more, kwargs = _DIALECTS[dialect](steps, pads, spread, groups)
        args = (
            np.ascontiguousarray(x.transpose(0, 3, 1, 2)),
            np.ascontiguousarray(w.transpose(3, 2, 0, 1)),
            *more,
        )
    call, _ = call_of(op, args, kwargs)
    return Problem(f"{dialect} drawn", op, args, kwargs, call)


_DIALECTS: dict[str, Any] = {
    "torch": lambda s, pads, d, groups: (
        dialects.torch.conv2d,
        (None, s, tuple(map(max, pads)), d, groups),
        {},
    ),
    "onnx": lambda s, pads, d, groups: (
        dialects.onnx.conv,
        (),
        {"strides": s, "pads": begins_then_ends(pads), "dilations": d, "group": groups},
    ),
    "jax": lambda s, pads, d, groups: (
        dialects.jax.conv_general_dilated,
        (s, pads),
        {"rhs_dilation": d, "feature_group_count": groups},
    ),
    "keras": None,
}
