"""Candidates for a quantized call: what people get wrong about zero points, scales and roundings.

They are rows of the table in `diagnoses`, as those of `candidates`. `Failure.call` has the integers of such a
call without their zero points. Its result, the exact sums with the bias, is rescaled by `Failure.quantized`.
A function that is decorated with `made` returns what is changed, by the words for it: facts of the
`QuantizedCall`, and beside them perhaps ``call``, that of the sums, ``view``, what becomes of these, and
facts of a `Mistake`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from itertools import product
from typing import Any

import numpy as np

from ..core.calls import Call
from ..core.dtypes import FORMATS
from ..quantized.calls import QuantizedCall
from ..quantized.schemes import SCHEMES, Rescaling, by_16_bits, shift_half_away
from .candidates import padded, summed_in
from .failures import Failure, Mistake, Tries, cost

Changes = dict[str, dict[str, Any]]
Way = Callable[[Any, Any], Any]
_OF_MISTAKES = ("code", "moves", "compute")


def made(changes: Callable[[Any, Call], Changes]) -> Tries:
    """Decorate a function of a quantized call and the call of its sums: each change is a mistake."""
    return partial(_made, changes)


def _made(changes: Callable[[Any, Call], Changes], case: Failure) -> Iterator[Mistake]:
    for words, facts in changes(case.quantized, case.call).items():
        call, view = facts.pop("call", case.call), facts.pop("view", QuantizedCall.rescaled)
        more = {name: facts.pop(name) for name in _OF_MISTAKES if name in facts}
        if call is not None:
            other: Any = replace(case.quantized, **facts)  # type: ignore[type-var]
            yield Mistake(f"when {words}", call, partial(view, other), activated=False, **more)


# ---------------------------------------------------------------------------------------------
# The stored integers and their zero points
# ---------------------------------------------------------------------------------------------


@made
def zero_padding(q: Any, call: Call) -> Changes:
    """The border padded with the integer 0, or with another one that is not the zero point."""
    zero = int(q.zeros[0])
    others = dict.fromkeys((0, -zero, zero - 1, zero + 1, -128, 127, 128, 255))
    return {
        f"the border is padded with the integer {other} instead of the zero point, {zero}": {
            "call": padded(call, constant_values=other - zero)
        }
        for other in others
        if other != zero
    }


def other_bytes(stored: Any) -> Any:
    """Return stored integers whose bytes are read as the other type, with a sign or without one."""
    return np.where(stored < 0, stored + 256, np.where(stored > 127, stored - 256, stored))


# what is made of a stored integer and its zero point, where that is taken off
_ZERO_POINTS: dict[str, Way] = {
    "the zero point of {} is ignored": lambda stored, zero: stored,
    "the zero point of {} is added and not taken off": lambda stored, zero: stored + zero,
    "{} less its zero point is kept in 8 bits, and saturates": (
        lambda stored, zero: np.clip(stored - zero, -128, 127)
    ),
    "{} less its zero point is kept in 8 bits, and wraps around": (
        lambda stored, zero: (stored - zero + 128) % 256 - 128
    ),
}
_MOVED: dict[str, Way] = {
    "{} is moved by -128, as from uint8 to int8, and its zero point is not": (
        lambda stored, zero: stored - zero - 128
    ),
    "{} is moved by 128, as from int8 to uint8, and its zero point is not": (
        lambda stored, zero: stored - zero + 128
    ),
}
_BYTES: dict[str, Way] = {
    "the bytes of {} are read as the other type, int8 or uint8": (
        lambda stored, zero: other_bytes(stored) - zero
    ),
}


def _misread(ways: Mapping[str, Way], q: Any, call: Call) -> Changes:
    """The stored integers of x or of w taken for other numbers; those of the border of x, too."""
    found: Changes = {}
    arrays = zip(("first", "second"), q.zeros, "xw", strict=True)
    for (array, zeros, name), (words, way) in product(arrays, ways.items()):
        zero = zeros.astype(np.int64)
        changed = replace(call, **{array: way(getattr(call, array) + zero, zero)})
        found[words.format(name)] = {"call": changed}
        if name == "x":
            whole = padded(changed, constant_values=int(way(zero, zero)))
            found[f"{words.format(name)}, in the border too"] = {"call": whole}
    return found


@made
def zero_points(q: Any, call: Call) -> Changes:
    """The zero point of x, w or y ignored, with the other sign, or taken off in 8 bits."""
    return _misread(_ZERO_POINTS, q, call) | {
        "the zero point of y is ignored": {"y_zero_point": 0},
        "the zero point of y is taken off and not added": {"y_zero_point": -q.y_zero_point},
    }


@made
def moved_zero_points(q: Any, call: Call) -> Changes:
    """Numbers moved by 128 between int8 and uint8, and their zero point not; or the reverse."""
    return _misread(_MOVED, q, call) | {
        f"the result is moved by {step}, as between int8 and uint8{words}": {
            "y_zero_point": q.y_zero_point + step,
            "limits": (q.limits[0] + moved, q.limits[1] + moved),
        }
        for step in (128, -128)
        for words, moved in (("", step), (", before it saturates", 0))
    }


@made
def other_types(q: Any, call: Call) -> Changes:
    """Bytes read as the other type, with or without a sign: 256 more or less."""
    view: Way = lambda other, sums: other_bytes(other.rescaled(sums))  # noqa: E731
    return _misread(_BYTES, q, call) | {"the bytes of the result are read as the other type": {"view": view}}


# ---------------------------------------------------------------------------------------------
# The multiplier
# ---------------------------------------------------------------------------------------------


def _with_each(r: Rescaling, change: Callable[[Any], Any]) -> Rescaling:
    """Return a rescaling with its multipliers changed in each of their forms."""
    return replace(
        r, **{name: change(getattr(r, name)) for name in ("real", "factor", "multiplier", "shift")}
    )


@made
def one_scales(q: Any, call: Call) -> Changes:
    """One scale for all channels."""
    r = q.rescaling
    channels = {"first": 0, "last": -1, "largest": r.real.argmax(), "smallest": r.real.argmin()}
    return {
        f"all channels have one multiplier, the {words}": {
            "rescaling": _with_each(r, lambda each, one=channel: np.full_like(each, each[one]))  # type: ignore[misc]
        }
        for words, channel in channels.items()
    }


@made
def scale_axes(q: Any, call: Call) -> Changes:
    """The multipliers, and perhaps the biases, reordered, along another axis, or of the input channels."""
    r, groups, (depth, outs) = q.rescaling, call.geometry.groups, call.second.shape[-2:]
    channels, sizes = np.arange(len(r.real)), call.backend_shape[:-1]
    dealt = channels.reshape(groups, -1)
    orders = {
        "are in the order (multiplier, channel)": dealt.T.ravel(),
        "are in the order (channel, multiplier)": channels.reshape(-1, groups).T.ravel(),
        "are those of the first group": np.tile(dealt[0], groups),
        "are in reverse order": channels[::-1],
        "are each the one before": np.roll(channels, 1),
        "are each the one after": np.roll(channels, -1),
        **{
            f"lie along axis {axis} of the result, channels last": channels[:size].reshape(-1, *(1,) * behind)
            for axis, size in enumerate(sizes)
            for behind in [len(sizes) - axis]
            if 1 < size <= len(channels)
        },
    }
    found: Changes = {
        f"the multipliers of the channels {words}": {
            "rescaling": _with_each(r, lambda each, order=order: each[order]),  # type: ignore[misc]
            "moves": order.ndim > 1,
        }
        for words, order in orders.items()
    }
    biases = (
        {} if call.bias is None else {w: call.bias[order] for w, order in orders.items() if order.ndim == 1}
    )
    for words, bias in biases.items():
        of_bias = {"call": replace(call, bias=bias)}
        both = {"rescaling": found[f"the multipliers of the channels {words}"]["rescaling"]}
        found[f"the multipliers and the biases of the channels {words}"] = of_bias | both
        found[f"the biases of the channels {words}"] = of_bias | {"code": "bias"}
    if call.kind.gathers and depth == outs == len(channels) and np.ptp(r.real):
        bias = None if call.bias is None else call.bias * r.real
        other = replace(call, first=call.first * 1.0, second=call.second * r.real[:, None], bias=bias)
        found["the multipliers are those of the input channels"] = {
            "call": other,
            "scheme": SCHEMES["float"],
            "rescaling": replace(r, real=np.ones_like(r.real)),
        }
    return found


@made
def shifts(q: Any, call: Call) -> Changes:
    """The shift of the multiplier ignored, off by one, to the other side, or one for all channels."""
    r = q.rescaling
    others = {"ignored": 0 * r.shift, "one less": r.shift - 1, "one more": r.shift + 1, "negated": -r.shift}
    others["that of the first channel, for all"] = np.full_like(r.shift, r.shift[0])
    return {
        f"the shift of the multiplier is {words}": {
            "rescaling": replace(
                r,
                shift=other,
                real=np.ldexp(r.real, other - r.shift),
                factor=np.ldexp(r.factor, other - r.shift),
            )
        }
        for words, other in others.items()
    }


# ---------------------------------------------------------------------------------------------
# Roundings
# ---------------------------------------------------------------------------------------------


def _real(total: Any, r: Rescaling) -> Any:
    """The product before it is rounded."""
    return (total + r.float_bias) * r.real


def _whole(total: Any, r: Rescaling) -> Any:
    """The product before it is shifted right by 31 bits, and then once more."""
    return (total << np.maximum(r.shift, 0)) * r.multiplier


def _right(r: Rescaling) -> Any:
    return -np.minimum(r.shift, 0)


def _shift_half_even(numbers: Any, shift: Any) -> Any:
    return (numbers + ((1 << shift) >> 1) - (shift > 0) + ((numbers >> shift) & (shift > 0))) >> shift


# rules of no scheme, in words, and what they make of a sum with its bias
_RULES: dict[str, tuple[str, Way]] = {
    "last shift": (
        "half up, and then down by the last shift",
        lambda total, r: ((_whole(total, r) + 2**30) >> 31) >> _right(r),
    ),
    "last shift to even": (
        "half up, and then half to even by the last shift",
        lambda total, r: _shift_half_even((_whole(total, r) + 2**30) >> 31, _right(r)),
    ),
    "high half to even": (
        "half to even, and then half away from zero by the last shift",
        lambda total, r: shift_half_away(_shift_half_even(_whole(total, r), 31), _right(r)),
    ),
    "to even twice": (
        "half to even, twice",
        lambda total, r: _shift_half_even(_shift_half_even(_whole(total, r), 31), _right(r)),
    ),
    "high half": (
        "down to the high half of the product, and then half away from zero",
        lambda total, r: shift_half_away(_whole(total, r) >> 31, _right(r)),
    ),
    "half away": (
        "half away from zero, once",
        lambda total, r: np.copysign(np.floor(np.abs(_real(total, r)) + 0.5), _real(total, r)),
    ),
    "half up": ("half up, once", lambda total, r: np.floor(_real(total, r) + 0.5)),
    "half to even": ("half to even, once", lambda total, r: np.rint(_real(total, r))),
    "truncation": (
        "to zero: what is behind the point is cut off",
        lambda total, r: np.trunc(_real(total, r)),
    ),
    "down": ("down, as by a right shift", lambda total, r: np.floor(_real(total, r))),
}


@made
def roundings(q: Any, call: Call) -> Changes:
    """Another scheme's rounding, another rule, or the scales multiplied in another order."""
    r, (x, w, y) = q.rescaling, q.scales
    tries: dict[str, tuple[str, Any]] = {
        **{scheme.name: (f"as by {scheme}", scheme.rescale) for scheme in SCHEMES.values()},
        "16 bits": ("once, with a multiplier of 16 bits", by_16_bits),
        **{
            name: (words, lambda total, r, way=way: [("", way(total, r))])
            for name, (words, way) in _RULES.items()
        },
    }
    factors = {
        "x_scale * (w_scale / y_scale)": x * (w / y),
        "(x_scale / y_scale) * w_scale": x / y * w,
        "x_scale * w_scale * (1 / y_scale)": x * w * (1 / y),
    }
    return {
        f"it is rounded {words}": {
            "code": f"rounding({name})",
            "scheme": replace(q.scheme, rescale=rescale),
            "rescaling": replace(r, half_up=np.full_like(r.half_up, name == "tflite_builtin")),
        }
        for name, (words, rescale) in tries.items()
    } | {
        f"the multiplier is {words} in float32": {
            "code": "rounding(order of the scales)",
            "rescaling": replace(r, factor=np.broadcast_to(np.float32(factor), r.factor.shape)),
        }
        for words, factor in factors.items()
    }


# ---------------------------------------------------------------------------------------------
# Bias, saturation and activation
# ---------------------------------------------------------------------------------------------


@made
def bias_scales(q: Any, call: Call) -> Changes:
    """A bias in other units than x_scale * w_scale."""
    (x, w, y), r = q.scales, q.rescaling
    bias, without = r.bias + r.float_bias, replace(r, float_bias=np.zeros_like(r.float_bias))
    first = (x * w).ravel()[0]
    units = {"x_scale": x, "w_scale": w, "y_scale": y, "1": 1, "x_scale * w_scale of channel 0": first}
    return {
        f"the bias is in steps of {words} instead of x_scale * w_scale": {
            "call": replace(call, bias=np.rint(bias * (x * w / unit)).astype(np.int64)),
            "rescaling": without,
        }
        for words, unit in units.items()
    } | {
        "the bias is added after the rescaling, in steps of y": {
            "call": replace(call, bias=None),
            "rescaling": without,
            "y_zero_point": q.y_zero_point + np.rint(bias).astype(np.int64),
        }
    }


@made
def saturations(q: Any, call: Call) -> Changes:
    """Saturation at -127, none at all, or before the zero point or the bias is added."""
    r, low, high = q.rescaling, *map(int, (np.iinfo(q.dtype).min, np.iinfo(q.dtype).max))
    bias, without = r.bias + r.float_bias, replace(r, float_bias=np.zeros_like(r.float_bias))
    return {
        f"it saturates at {low + 1}": {"limits": (max(q.limits[0], low + 1), q.limits[1])},
        "it wraps around and does not saturate": {
            "limits": (-(2**40), 2**40),
            "view": lambda other, sums: np.clip(
                (other.rescaled(sums) - low) % (high - low + 1) + low, *q.limits
            ),
        },
        "it saturates before the zero point is added": {
            "limits": (low, high),
            "y_zero_point": 0,
            "view": lambda other, sums: np.clip(other.rescaled(sums) + q.y_zero_point, *q.limits),
        },
        "it saturates before the bias is added": {
            "call": replace(call, bias=None),
            "limits": (low, high),
            "rescaling": without,
            "view": lambda other, sums: np.clip(other.rescaled(sums) + np.rint(bias * r.real), *q.limits),
        },
    }


@made
def relus(q: Any, call: Call) -> Changes:
    """The clamp of a relu left out, or at the integer 0; or one that the call does not have."""
    low = int(np.iinfo(q.dtype).min)
    tries = {
        "the clamp of the relu is missing": low,
        "a relu clamps at the integer 0 and not at the zero point": max(low, 0),
        "a relu comes after it, which this call does not have": max(low, q.y_zero_point),
    }
    return {words: {"limits": (least, q.limits[1])} for words, least in tries.items()}


@made
def upper_clamps(q: Any, call: Call) -> Changes:
    """The upper clamp of a relu6 left out, or at another integer."""
    tries = {
        "the upper clamp of the relu6 is missing": int(np.iinfo(q.dtype).max),
        "the relu6 clamps at the integer 6": 6,
        "the relu6 clamps at 6 / y_scale, without the zero point": q.limits[1] - q.y_zero_point,
    }
    return {words: {"limits": (q.limits[0], most)} for words, most in tries.items()}


class _SixteenBits:
    """A format to which sums are rounded: integers of 16 bits, which saturate."""

    def round(self, sums: np.ndarray) -> tuple[np.ndarray, None]:
        return np.clip(sums, -(2**15), 2**15 - 1), None


@made
def narrow_accumulators(q: Any, call: Call) -> Changes:
    """Sums of 16 bits that wrap around, or that saturate, at the end or after each few products."""
    form: Any = _SixteenBits()
    pieces, ends = (1, 2, call.second.shape[-2]), ("with the bias first", "with the bias last")
    steps = product(("tap after tap", "channel after channel"), pieces, ends)
    quick = call.kind.gathers and cost(call) < 1 << 24
    return {
        "the sums have 16 bits and wrap around": {
            "view": lambda other, sums: other.rescaled((sums + 2**15) % 2**16 - 2**15)
        },
        "the sums saturate in 16 bits, at the end": {
            "view": lambda other, sums: other.rescaled(form.round(sums)[0])
        },
    } | {
        f"the sums saturate in 16 bits, {order}, from sums of {piece} products, {end}": {
            "compute": partial(summed_in, form, order == "tap after tap", piece, bias_first=end == ends[0]),
            "view": lambda other, sums: other.rescaled(sums.astype(np.int64)),
        }
        for order, piece, end in (steps if quick else ())
    }


@made
def float_sums(q: Any, call: Call) -> Changes:
    """Sums in float32, which does not hold every integer beyond 2**24."""
    if call.bias is None or np.abs(call.bias).max(initial=0) < 2**23 or not call.kind.gathers:
        return {}
    rounded = replace(call, bias=call.bias.astype(np.float32).astype(np.int64))
    steps = product(("tap after tap", "channel after channel"), ("first", "last"))
    return {
        f"it is rounded in each sum, which is a float32, {order}, with the bias {end}": {
            "code": "rounding(sums in float32)",
            "call": rounded,
            "compute": partial(
                summed_in, FORMATS["float32"], order == "tap after tap", 1, bias_first=end == "first"
            ),
            "view": lambda other, sums: other.rescaled(sums.astype(np.int64)),
        }
        for order, end in (steps if cost(call) < 1 << 24 else ())
    }
