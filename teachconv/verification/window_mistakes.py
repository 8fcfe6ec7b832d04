"""Diffs a pool, padding, batch normalisation or a resize against its definition, and names usual mistakes.

Each mistake is a call with one fact changed. `diagnosing.search` tries them, like those of a convolution.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import chain, combinations, product
from typing import Any

import numpy as np

from ..core.arguments import begins_then_ends
from ..core.dtypes import is_integer
from ..core.law import AxisGeometry
from ..quantized.calls import QuantizedPool
from ..quantized.explaining import is_quantized, pool_of_op
from ..quantized.schemes import SCHEMES, Averaging
from ..support.devices import to_host
from ..support.errors import ArgumentError
from ..truth import bounds
from ..windows.calls import bound_call
from ..windows.normalization import BatchNormCall
from ..windows.padding import RULES as PAD_RULES
from ..windows.padding import PadCall
from ..windows.patches import PatchCall
from ..windows.pooling import AdaptiveCall, PoolCall, pool_call
from ..windows.resizing import NEAREST, RULES, SHIFTS, ResizeCall, ShuffleCall
from ..windows.walking import counts
from .diagnosing import explained_by, search
from .failures import Mistake, Tolerance, Work
from .geometries import some_axes
from .places import cells_in_words, held_words
from .reports import DiffReport, DiffRow

Changed = tuple[str, str, Callable[[np.ndarray], Any]]  # code, sentence, and what gives the result


def _pool_mistakes(call: PoolCall) -> list[Changed]:
    """Return the mistakes of a pool."""
    size = call.terms
    found: list[Changed] = [
        (
            "ceil_mode",
            f"if a last window that does not fit is {word} (ceil_mode)",
            replace(call, axes=axes),
        )
        for ceil, word in ((False, "dropped"), (True, "kept"))
        if (axes := _windows(call, ceil=ceil)) not in (None, call.axes)
    ]
    if (more := _one_more(call)) != call.axes:
        words = "if a window that begins behind the image is kept (ceil_mode)"
        found.append(("ceil_mode", words, partial(_outside, replace(call, axes=more))))
    for axes, words in some_axes(len(call.spatial)).items():
        strides = dict.fromkeys(call.spatial[axis] for axis in axes)
        if all(axis.stride > 1 for axis in strides):
            overlapping = _with_spatial(
                call, [replace(a, stride=1) if i in axes else a for i, a in enumerate(call.spatial)]
            )
            sentence = (
                f"if the stride is left out of the window's index in {words}: windows overlap as at stride 1"
            )
            found.append(("stride_left_out", sentence, replace(call, axes=overlapping)))
    if call.reduce == "max":
        dropped = (-np.inf, "if NaN counts") if call.start is None else (None, "if NaN is skipped")
        found.append(("nan", dropped[1], replace(call, start=dropped[0])))
        full, zeros = counts(call.axes) == size, "if the padding of the maximum is zeros, not minus infinity"
        found += [
            ("padded_with_zeros", zeros, lambda x: np.where(full, call(x), np.maximum(call(x), 0))),
            ("start", "if every maximum begins with 0", replace(call, start=0.0)),
            ("average_for_max", "if it is the mean, not the maximum", replace(call, reduce="average")),
        ]
    else:
        divisors: tuple[tuple[str | int, str, str], ...] = (
            ("padded", "count_include_pad", "if padding counts in the divisor"),
            ("inside", "count_include_pad", "if padding does not count in the divisor"),
            (size, "divisor", "if every sum is divided by the size of the window"),
            (1, "divisor", "if the sums are not divided"),
        )
        if isinstance(call.divisor, int):
            left_out = "if divisor_override is left out, and"
            divisors = tuple(
                (divisor, "divisor", f"{left_out} {words.removeprefix('if ')}")
                for divisor, _, words in divisors
            )
        found += [
            *((code, words, replace(call, divisor=divisor)) for divisor, code, words in divisors),
            *_one_sided(call),
            (
                "max_for_average",
                "if it is the maximum, not the mean",
                replace(call, reduce="max", start=-np.inf),
            ),
        ]
    swapped = tuple(replace(a, pad_before=a.pad_after, pad_after=a.pad_before) for a in call.axes)
    sentence = "if the larger half of the padding goes to the other side"
    found.append(("padding_side", sentence, replace(call, axes=swapped)))
    for code, words, other in _other_windows(call):
        found.append((code, words, replace(call, axes=other)))
        if call.reduce == "average":  # whose frameworks differ in both
            found += [
                (
                    f"{code}+count_include_pad",
                    f"{words}, and padding {counted}",
                    replace(call, axes=other, divisor=divisor),
                )
                for divisor, counted in (
                    ("padded", "counts in the divisor"),
                    ("inside", "does not count in it"),
                )
                if divisor != call.divisor
            ]
    return found


def _quantized_mistakes(call: QuantizedPool) -> list[Changed]:
    """Return the mistakes of a quantized pool: those of its windows, its zero points, and roundings."""
    pool, (x_zero, y_zero) = call.pool, call.zeros
    made: list[Changed] = [
        (code, words, replace(call, pool=other))
        for code, words, other in _pool_mistakes(pool)
        if isinstance(other, PoolCall) and other.reduce == pool.reduce
    ]
    if pool.reduce == "max":
        full, mean = counts(pool.axes) == pool.terms, replace(pool, reduce="average")
        zeros = "if the padding is the integer 0"
        return [
            *made,
            ("padded_with_zeros", zeros, lambda x: np.where(full, call(x), np.maximum(call(x), 0))),
            (
                "average_for_max",
                "if it is the mean, not the maximum",
                replace(call, pool=mean, scheme=SCHEMES["tflite"]),
            ),
        ]
    schemes = {law.name: (f"if it is rounded as by {law}", law.average) for law in SCHEMES.values()}
    maximum = replace(call, pool=replace(pool, reduce="max"))
    return [
        ("max_for_average", "if it is the maximum, not the mean", maximum),
        *(
            (f"rounding({name})", words, replace(call, scheme=replace(call.scheme, average=average)))
            for name, (words, average) in (_AVERAGES | schemes).items()
        ),
        *made,
        ("zero_point", "if the zero point of y is ignored", replace(call, zeros=(x_zero, 0))),
        ("zero_point", "if the zero point of x is ignored", replace(call, zeros=(0, y_zero))),
        ("relu_clamp", "if there is no clamp", replace(call, limits=(-(2**15), 2**16))),
    ]


# roundings of no scheme, in words, and the steps of an average of stored integers
_AVERAGES: dict[str, tuple[str, Callable[[Averaging], Any]]] = {
    "truncation": (
        "if what is behind the point is cut off",
        lambda a: [("", np.trunc(a.add(a.x) / a.count))],
    ),
    "down": ("if it is rounded down", lambda a: [("", a.add(a.x) // a.count)]),
    "half up": ("if it is rounded half up", lambda a: [("", np.floor(a.add(a.x) / a.count + 0.5))]),
    "half to even": ("if it is rounded half to even", lambda a: [("", np.rint(a.add(a.x) / a.count))]),
}


def _with_spatial(call: PoolCall, spatial: Sequence[AxisGeometry]) -> tuple[AxisGeometry, ...]:
    """A pool's axes with other ones where it pools."""
    left = iter(spatial)
    pairs = zip(call.axes, call.layout, strict=True)
    return tuple(next(left) if letter in "DHW" else axis for axis, letter in pairs)


def _one_more(call: PoolCall) -> tuple[AxisGeometry, ...]:
    """The axes with the windows that ceil_mode drops, because they begin behind the image."""
    sizes = [
        -(-(a.in_size + a.pad_before + a.pad_after - a.effective_filter) // a.stride) + 1
        for a in call.spatial
    ]
    return _with_spatial(call, [replace(a, out_size=n) for a, n in zip(call.spatial, sizes, strict=True)])


def _outside(call: PoolCall, x: np.ndarray) -> Any:
    """A pool's result; the mean of a window without cells is 0 / 0."""
    empty = counts(call.axes) == 0
    return (
        np.where(empty, np.nan, call(x)) if call.reduce == "average" and call.divisor == "inside" else call(x)
    )


def _one_sided(call: PoolCall) -> Iterator[Changed]:
    """A mean whose divisor counts the padding of one side only."""
    inside = {  # the padding of one side as a part of the image
        "before": [replace(a, in_size=a.in_size + a.pad_before, pad_before=0) for a in call.axes],
        "behind": [replace(a, in_size=a.in_size + a.pad_after, pad_after=0) for a in call.axes],
    }
    for side, axes in inside.items():
        words = f"if only the padding {side} the image counts in the divisor"
        yield "count_include_pad", words, partial(_divided, call, np.maximum(1, counts(axes)))


def _divided(call: PoolCall, divisors: np.ndarray, x: np.ndarray) -> np.ndarray:
    """The sums of a pool's windows over these divisors."""
    sums: np.ndarray = replace(call, reduce="sum")(x)
    return (sums / divisors).astype(x.dtype)


def _windows(call: PoolCall, ceil: bool = False, **facts: Any) -> Any:
    """Return a pool's axes with other sizes, strides, dilations, padding or mode; None if no window fits."""
    g = call.geometry
    usual: dict[str, Any] = {
        "sizes": g.filters_shape[:-2],
        "strides": g.strides,
        "dilations": g.dilations,
        "mode": "EXPLICIT",
        "pads": g.padding,
        **facts,
    }
    padding = usual.pop("mode"), usual.pop("pads")
    with suppress(ArgumentError):
        head = call.function, call.reduce, call.input_shape, call.layout
        return pool_call(*head, padding=padding, ceil=ceil, **usual).axes
    return None


def _other_windows(call: PoolCall) -> Iterator[tuple[str, str, tuple[AxisGeometry, ...]]]:
    """Yield windows of other sizes, strides or padding: what was left out, or exchanged."""
    sizes, ones = tuple(axis.filter_size for axis in call.spatial), (1,) * len(call.spatial)
    tries: tuple[tuple[str, str, dict[str, Any]], ...] = (
        ("stride", "if the stride is 1", {"strides": ones}),
        ("stride", "if the stride is the size of the window", {"strides": sizes}),
        ("dilation", "if the dilation is 1", {"dilations": ones}),
        ("padding", "if there is no padding", {"pads": tuple((0, 0) for _ in sizes)}),
        (
            "padding",
            "if half of the window is padded on each side",
            {"pads": tuple(((k - 1) // 2,) * 2 for k in sizes)},
        ),
        ("padding", "if the padding is SAME", {"mode": "SAME"}),
        ("swapped_window", "if the sizes of the window are exchanged", {"sizes": sizes[::-1]}),
        (
            "swapped_strides",
            "if the strides are exchanged",
            {"strides": tuple(axis.stride for axis in call.spatial[::-1])},
        ),
    )
    for code, words, facts in tries:
        axes = _windows(call, **facts)
        if axes not in (None, call.axes):
            yield code, words, axes


def _pad_mistakes(call: PadCall) -> list[Changed]:
    """Return the mistakes of padding: another mode, another order of the sides, another number."""
    sides, rank = call.sides, len(call.sides)
    flat, listed = [*chain(*sides)], begins_then_ends(sides)
    block = {axis: pair for axis, pair in enumerate(sides) if any(pair)}  # what a list for some axes holds
    pytorch, onnx = [*chain(*[*block.values()][::-1])], begins_then_ends(block.values())
    orders = (
        {
            "before and after are exchanged": [pair[::-1] for pair in sides],
            "ONNX's begins and ends are read as a pair for each axis": zip(*[iter(listed)] * 2, strict=True),
            "a pair for each axis is read as ONNX's begins and ends": zip(
                flat[:rank], flat[rank:], strict=True
            ),
            "they are read from the last axis on, as PyTorch's": sides[::-1],
        }
        | {
            f"those of axes {one} and {other} are exchanged": [
                sides[{one: other, other: one}.get(axis, axis)] for axis in range(rank)
            ]
            for one, other in combinations(range(rank), 2)
        }
        | {
            words: map(dict(zip(block, pairs, strict=True)).get, range(rank), [(0, 0)] * rank)
            for words, pairs in (
                (
                    "PyTorch's list is read as ONNX's",
                    zip(pytorch[: len(block)], pytorch[len(block) :], strict=True),
                ),
                ("ONNX's list is read as PyTorch's", [*zip(*[iter(onnx)] * 2, strict=True)][::-1]),
            )
        }
    )
    return [
        *(("mode", f"if the mode is {m}: {words}", replace(call, mode=m)) for m, words in PAD_RULES.items()),
        *(
            ("order_of_sides", f"if {words}", replace(call, sides=(*pairs,)))
            for words, pairs in orders.items()
        ),
        *(("value", f"if it pads with {value}", replace(call, value=value)) for value in (0, -np.inf)),
    ]


def _norm_mistakes(call: BatchNormCall) -> list[Changed]:
    """Return the mistakes of batch normalisation: eps, what is left out, whose statistics, momentum."""
    mean, variance, gamma, beta = call.channels
    one, keeps = np.ones_like(mean), call.keeps
    changed = {
        "mean_left_out": ("if mean is left out", (0 * one, variance, gamma, beta)),
        "variance_left_out": ("if variance is left out", (mean, one, gamma, beta)),
        "gamma_left_out": ("if gamma is left out", (mean, variance, one, beta)),
        "beta_left_out": ("if beta is left out", (mean, variance, gamma, 0 * one)),
        "gamma_and_beta": ("if gamma and beta are exchanged", (mean, variance, beta, gamma)),
        "mean_and_variance": ("if mean and variance are exchanged", (variance, mean, gamma, beta)),
        "square_root": (
            "if it is divided by the variance, not by its root",
            (mean, variance**2, gamma, beta),
        ),
    }
    defaults = {1e-3: "Keras' default", 1e-5: "PyTorch's and ONNX's default", 0.0: "left out"}
    found: list[Changed] = [
        *(("eps", f"if eps is {eps:g}, {whose}", replace(call, eps=eps)) for eps, whose in defaults.items()),
        *((code, words, replace(call, channels=np.array(rows))) for code, (words, rows) in changed.items()),
    ]
    if keeps is None:
        words = "if mean and variance are the batch's, as in training"
        return [*found, ("training", words, replace(call, keeps=Fraction(1)))]
    divided = f"if the moving variance is divided by n{'' if call.corrected else ' - 1'}"
    shares = "if momentum is the share of the new value, not of the old, or the reverse"
    return [
        *found,
        ("training", "if mean and variance are the moving averages", replace(call, keeps=None)),
        ("momentum", shares, replace(call, keeps=1 - keeps)),
        ("moving_variance", divided, replace(call, corrected=not call.corrected)),
    ]


def _resize_mistakes(call: ResizeCall) -> list[Changed]:
    """Return the mistakes of a resize: other places, another reading of them, a scale that was recomputed."""
    corners, was_linear = "align_corners", call.reads == "linear"
    quotients = [Fraction(*sizes) for sizes in zip(call.output_shape, call.input_shape, strict=True)]
    recomputed = "if the scale is the quotient of the sizes (recompute_scale_factor)"
    found: list[Changed] = [("scale", recomputed, replace(call, scales=(*quotients,)))]
    ways = sorted(  # with one change first
        product(SHIFTS, ("linear", *NEAREST)),
        key=lambda way: 2 * (way[0] != call.coordinates) + (way[1] != call.reads),
    )
    for coordinates, reads in ways:
        moved, is_linear = coordinates != call.coordinates, reads == "linear"
        code, words = "coordinates" if moved else "nearest_mode", []
        if moved:
            words = [f"the coordinates are {coordinates}, not {call.coordinates}"]
        if moved and corners in (coordinates, call.coordinates):
            code, how = corners, "set" if coordinates == corners else f"forgotten: {coordinates}"
            words = [f"{corners} is {how}"]
        if was_linear != is_linear:
            code, how = "interpolation", "linear for nearest" if is_linear else "nearest for linear"
            words.append(f"it is {how}")
        if not is_linear and reads != call.reads:
            words.append(f"it reads {RULES[reads]}")
        found.append((code, f"if {' and '.join(words)}", replace(call, coordinates=coordinates, reads=reads)))
    return [mistake for mistake in found if mistake[2] != call]


def _shuffle_mistakes(call: ShuffleCall) -> list[Changed]:
    """Return the mistakes of a shuffle: the other order of the channels, or no order at all."""
    other = {"DCR": "CRD", "CRD": "DCR"}[call.order]
    return [
        (
            "channel_order",
            f"if the channels are in order {other}, not {call.order}",
            replace(call, order=other),
        ),
        ("not_moved", "if the array is only reshaped", lambda x: x.reshape(call.output_shape)),
    ]


def _adaptive_mistakes(call: AdaptiveCall) -> list[Changed]:
    """Return the mistakes of an adaptive pool: the pool of one size in its place, or the other reduction."""
    sizes = [(call.input_shape[axis], call.output_shape[axis]) for axis in call.pooled]
    strides = tuple(max(1, n // outs) for n, outs in sizes)
    window = tuple(n - (outs - 1) * s for (n, outs), s in zip(sizes, strides, strict=True))
    found: list[Changed] = []
    with suppress(ArgumentError):  # of a larger result no pool has the size
        facts = call.input_shape, call.layout, window, strides, ("VALID", ((0, 0),) * len(sizes))
        words = "if every window has the size n - (m - 1) · stride, at the stride ⌊n / m⌋, as of a pool"
        pool = pool_call(call.function, call.reduce, *facts, start=-np.inf)
        found.append(("regular_windows", words, pool))
    if call.reduce == "max":
        other = ("average_for_max", "if it is the mean, not the maximum", replace(call, reduce="average"))
    else:
        other = ("max_for_average", "if it is the maximum, not the mean", replace(call, reduce="max"))
    return [*found, other]


def _patch_mistakes(call: PatchCall) -> list[Changed]:
    """Return the mistakes of patches: the other order of their cells, and what becomes of overlaps."""
    order = "if a patch's cells are ordered by the tap first, then by the channel (TensorFlow)"
    found: list[Changed] = [("channel_order", order, replace(call, by_tap=not call.by_tap))]
    if call.adds:
        ones = replace(call, adds=False)(np.ones(call.image_shape))
        times = np.maximum(1, call.added(ones))
        found += [
            ("overlap_overwritten", "if patches overwrite each other", partial(call.added, keeps_last=True)),
            ("overlap_averaged", "if overlapping patches are averaged, not added", lambda x: call(x) / times),
        ]
    return found


MISTAKES: dict[type, Callable[[Any], list[Changed]]] = {
    PoolCall: _pool_mistakes,
    AdaptiveCall: _adaptive_mistakes,
    PatchCall: _patch_mistakes,
    PadCall: _pad_mistakes,
    BatchNormCall: _norm_mistakes,
    ResizeCall: _resize_mistakes,
    ShuffleCall: _shuffle_mistakes,
    QuantizedPool: _quantized_mistakes,
}


def limits(call: Any, x: np.ndarray) -> list[np.ndarray]:
    """Return how far each result of a library may be from ours; a maximum and padding are not rounded."""
    sizes = np.where(np.isfinite(x), np.abs(x), 0).astype(x.dtype)
    if isinstance(call, BatchNormCall):
        mean, variance, gamma, beta = call.channels
        largest, terms = np.full_like(mean, sizes.max(initial=0)), 12
        steps = [largest + np.abs(mean), 4 * largest**2 + np.abs(variance)]  # of the moving averages
        if call.keeps is not None:
            mean, variance, terms = largest, call.statistics(x)[1].astype(float), terms + x.size // len(mean)
        channels = np.array([-np.abs(mean), variance, np.abs(gamma), np.abs(beta)])
        parts = [replace(call, keeps=None, channels=channels)(sizes.astype(float)), *steps]
        return [bounds.direct(part, terms, x.dtype) for part in parts]
    if isinstance(call, ResizeCall) and call.reads == "linear":
        # a weight errs by as much as its place, of which a framework rounds a quotient, a product and a sum
        terms = 3 * x.ndim + sum(8 * (call.input_shape[axis] + 1) for axis in call.resized)
        largest = sizes.max(tuple(call.resized), keepdims=True).astype(np.float64)
        return [bounds.direct(np.broadcast_to(largest, call.output_shape), terms, x.dtype)]
    if isinstance(call, PatchCall):
        adds = call.adds
    else:
        adds = isinstance(call, (PoolCall, AdaptiveCall)) and call.reduce != "max"
    if not adds or is_integer(x.dtype):
        return [np.zeros(())] * 2
    return [bounds.direct(call(sizes).astype(np.float64), call.terms + 2, x.dtype)]


def _parts(result: Any) -> tuple[Any, ...]:
    """Return one result or several as a tuple."""
    return result if isinstance(result, tuple) else (result,)


def compared(
    op: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], against: Any, tolerance: Tolerance
) -> DiffReport:
    """Compare results of a function of windows, as `diff` does.

    Args:
        op: the function.
        args: its arguments.
        kwargs: likewise.
        against: an array, or arrays by name.
        tolerance: what is allowed beside the proven bound.

    Returns:
        A row for each result.
    """
    call, x = (pool_of_op if is_quantized(op) else bound_call)(op, args, kwargs)
    if against is None:
        raise ArgumentError(
            f"against must be an array, or arrays by name: {op.__name__} has no backends to compare"
        )
    wanted, bound = _parts(call(x)), limits(call, x)

    def judged(got: np.ndarray, number: int, made: Any) -> tuple[bounds.Verdict, np.ndarray] | None:
        """Return the verdict on a result by what a call gives, and that; None if it has another shape."""
        with suppress(ArgumentError, IndexError):  # the mistake cannot be made here, or has no such result
            guess = wanted[number] if made is call else _parts(made(x))[number]
            own = limits(made, x)[number] if isinstance(made, PoolCall | ResizeCall) else bound[number]
            own = own if own.shape in ((), guess.shape) else own.max(initial=0)
            if got.shape == guess.shape:
                return bounds.judge(got, guess, np.maximum(own, tolerance.of(guess))), guess
        return None

    def tried(got: np.ndarray, number: int, mistake: Mistake) -> tuple[str, float]:
        """Return where a mistake fits, and how much of the error it explains."""
        verdict, guess = judged(got, number, mistake.call) or (None, None)
        if verdict is None or guess is None or got.shape != wanted[number].shape:
            return "in every cell" * (verdict is not None and verdict.passed), 0.0
        if verdict.passed:
            return "in every cell" if got.size > 1 else "in one cell", 1.0
        return "", explained_by(guess, got, wanted[number])

    def row(name: str, number: int, got: np.ndarray) -> DiffRow:
        verdict, _ = judged(got, number, call) or (None, None)
        parts = () if verdict is None else (verdict.error, verdict.ulps, verdict.fraction)
        largest, ulps, fraction = [float(part.max(initial=0)) for part in parts] or [np.inf] * 3
        if verdict is not None and verdict.passed:
            return DiffRow(name, "", True, largest, ulps, fraction)
        note = "" if verdict else f"its shape is {list(got.shape)}, not {list(wanted[number].shape)}"
        wrong = None if verdict is None else ~verdict.ok
        bad = None if wrong is None else tuple(np.argwhere(wrong)[0].tolist())
        places = ""
        if wrong is not None and isinstance(pool := getattr(call, "pool", call), PoolCall):
            places = cells_in_words(wrong, pool.layout, held_words(got[wrong]))
        mistakes = (Mistake(words, made, code=code) for code, words, made in MISTAKES[type(call)](call))
        found = search(
            mistakes, partial(tried, got, number), Work(), 0 if wrong is None else int(wrong.sum())
        )
        note = "; ".join(filter(None, (note, found.remark)))
        what, how = (found.diagnosis, None, note, places, wrong), (found.tried, found.seconds)
        return DiffRow(name, "", False, largest, ulps, fraction, bad, bad, *what, *how)

    named = against if isinstance(against, Mapping) else {"against": against}
    rows = tuple(
        row(f"{name}[{number}]" if number else str(name), number, np.asarray(to_host(array)))
        for name, arrays in named.items()
        for number, array in enumerate(_parts(arrays)[: len(wanted)])
    )
    return DiffReport(call.function, rows, None, tolerance.rtol, tolerance.atol)
