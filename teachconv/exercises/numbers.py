"""Puzzles about rounding, bounds and tolerances, and about folding a layer into another."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..data.seeded import make_array
from ..truth import bounds
from .puzzle import Puzzle, ints

_UNIT = 2.0**-24  # of float32


def _vectors() -> list[tuple[np.ndarray, np.ndarray]]:
    """Pairs of float32 vectors none of whose numbers is small."""

    def vector(size: int, seed: str) -> np.ndarray:
        found = make_array((size,), "float32", seed=f"{seed}{size}")
        return np.copysign(np.abs(found) + np.float32(0.5), found)

    return [(vector(size, "x"), vector(size, "w")) for size in (2, 3, 8, 100)]


def _sizes(x: Any, w: Any) -> float:
    return float(np.abs(x.astype(float) * w.astype(float)).sum())


def _bound(x: Any, w: Any) -> float:
    return float(bounds.direct(np.array(_sizes(x, w)), len(x), "float32"))


def _gamma(k: int, unit: float = _UNIT) -> float:
    return k * unit / (1 - k * unit)


def _tolerable(args: tuple[Any, ...], got: Any) -> str:
    """Right is what no correct order of summation exceeds, and what is less than half of one product."""
    x, w = args
    if not float(got) >= _bound(x, w):
        return "too_small"
    smallest = float(np.abs(x.astype(float) * w.astype(float)).min())
    return "" if float(got) < smallest / 2 else "too_large"


def _bfloat16(x: np.ndarray, extra: Any) -> np.ndarray:
    """Keep the upper 16 bits of float32 numbers, after adding something to the lower ones."""
    bits = x.view(np.uint32)
    return ((bits + extra(bits)).astype(np.uint32) & np.uint32(0xFFFF0000)).view(np.float32)


def _half_even(bits: np.ndarray) -> np.ndarray:
    return np.uint32(0x7FFF) + (bits >> np.uint32(16) & np.uint32(1))


def _numbers() -> list[tuple[np.ndarray]]:
    rows = (
        (1, -2, 0.5),
        (3.14159, -2.71828),
        (1 + 2.0**-8, 1 + 3 * 2.0**-8, -1 - 2.0**-8, 1 + 2.0**-8 + 2.0**-20),
        make_array((20,), "float32", seed="bfloat16"),
    )
    return [(np.array(row, np.float32),) for row in rows]


def _fold(w: Any, b: Any, gamma: Any, beta: Any, mean: Any, factor: Any) -> np.ndarray:
    return np.concatenate([w * factor, [(b - mean) * factor + beta]])


def _layers() -> Any:
    for k, out in ((1, 1), (2, 1), (3, 2), (4, 3)):
        w, b, gamma, beta, mean = (
            ints(*shape, seed=name) for name, shape in
            (("w", (k, out)), ("b", (out,)), ("gamma", (out,)), ("beta", (out,)), ("mean", (out,)))
        )  # fmt: skip
        yield w, b + 1, gamma + 8, beta, mean, np.array([3.75, 0.75, 15.75])[:out], 0.25


# fmt: off
PUZZLES: tuple[Puzzle, ...] = (
    Puzzle(
        "error_bound",
        "how wrong a right sum may be",
        "x and w are float32 vectors of K numbers. Return the bound of the error of their inner product, "
        "summed in float32 in any order: gamma * sum of |x * w|, with gamma = K u / (1 - K u) and u = "
        "2**-24.",
        lambda x, w: _gamma(len(x)) * _sizes(x, w),
        _vectors,
        (
            ("unit", "u is half of the distance between 1 and the next number: 2**-24, not np.finfo's eps",
             lambda x, w: _gamma(len(x), 2 * _UNIT) * _sizes(x, w)),
            ("no_denominator", "gamma is K u / (1 - K u), not K u",
             lambda x, w: len(x) * _UNIT * _sizes(x, w)),
            ("no_terms", "each of the K terms is rounded: the bound grows with K",
             lambda x, w: _gamma(1) * _sizes(x, w)),
            ("of_result", "products that cancel leave their errors behind: take the sum of |x * w|, not the "
             "size of the result",
             lambda x, w: _gamma(len(x)) * abs(float((x.astype(float) * w.astype(float)).sum()))),
            ("no_abs", "the errors do not cancel: take absolute values of the products",
             lambda x, w: _gamma(len(x)) * float((x.astype(float) * w.astype(float)).sum())),
            ("one_rounding", "each of the K terms is rounded: the bound grows with K",
             lambda x, w: _UNIT * _sizes(x, w)),
            ("one_less", "K products and K - 1 additions are K roundings of the first product",
             lambda x, w: _gamma(len(x) - 1) * _sizes(x, w)),
            ("eps", "u is 2**-24, half of np.finfo's eps, and gamma is K u / (1 - K u)",
             lambda x, w: len(x) * 2 * _UNIT * _sizes(x, w)),
            ("float64_unit", "the sum is in float32, whose u is 2**-24",
             lambda x, w: _gamma(len(x), 2.0**-53) * _sizes(x, w)),
            ("rounded_itself", "your bound is rounded to float32 itself: go to float64 before you multiply",
             lambda x, w: _gamma(len(x)) * float(np.abs(x * w).sum())),
            ("no_sizes", "gamma is a relative error: multiply it by the sum of |x * w|",
             lambda x, w: _gamma(len(x))),
            ("sums_apart", "take the sum of the products |x * w|, not the product of two sums",
             lambda x, w: _gamma(len(x)) * _sizes(np.abs(x).sum(dtype=float), np.abs(w).sum(dtype=float))),
        ),
        ("Go to float64 first, so that the bound itself is not rounded much.",
         "K is len(x).",
         "np.abs(x.astype(float) * w.astype(float)).sum() is the second factor."),
        "explanation/error_bounds",
        close=1e-9,
    ),
    Puzzle(
        "to_bfloat16",
        "round to nearest",
        "x is a float32 array. bfloat16 keeps the upper 16 of the 32 bits. Return x rounded to the nearest "
        "such number, as float32; of two that are equally near, the one whose last kept bit is 0.",
        lambda x: _bfloat16(x, _half_even),
        _numbers,
        (
            ("cut_off", "the lower bits decide: they are not just cut off",
             lambda x: _bfloat16(x, lambda bits: np.uint32(0))),
            ("half_up", "numbers in the middle go to the even neighbour, not always away from zero",
             lambda x: _bfloat16(x, lambda bits: np.uint32(0x8000))),
            ("half_down", "numbers in the middle go to the even neighbour, not always towards zero",
             lambda x: _bfloat16(x, lambda bits: np.uint32(0x7FFF))),
            ("not_rounded", "these are the numbers as they were", lambda x: x),
            ("float16", "that is float16, which has other bits: 10 of the fraction, not 7",
             lambda x: x.astype(np.float16).astype(np.float32)),
            ("rounded_up", "numbers go to the nearest neighbour, not to the one further from zero",
             lambda x: _bfloat16(x, lambda bits: np.uint32(0xFFFF))),
            ("not_cleared", "the lower 16 bits are cleared after the addition",
             lambda x: (x.view(np.uint32) + _half_even(x.view(np.uint32))).view(np.float32)),
        ),
        ("x.view(np.uint32) gives the bits, and .view(np.float32) goes back.",
         "Add half of the last kept place, 0x8000, before you clear the lower 16 bits.",
         "For the middle: add 0x7FFF, and the last kept bit (bits >> 16) & 1."),
        "explanation/error_bounds",
    ),
    Puzzle(
        "tolerance",
        "atol, chosen and not guessed",
        "x and w are float32 vectors, all of whose products are of some size. Return an atol for comparing "
        "their inner product with the exact one: no right order of summation may fail, and a sum that "
        "forgets one product must.",
        lambda x, w: 2 * _bound(x, w),
        _vectors,
        (
            ("too_small", "a right kernel may fail with it: no order of summation is exact. The bound of the "
             "error says how much is needed", None),
            ("too_large", "with it a sum that forgets its smallest product passes", None),
        ),
        ("The puzzle `error_bound` says how wrong a right sum may be.",
         "Rounding the result adds at most half an ulp: allow a little more than the bound.",
         "Compare it with the smallest |x * w|: there is room for thousands of times the bound."),
        "explanation/error_bounds",
        judge=_tolerable,
    ),
    Puzzle(
        "fold_batch_norm",
        "a batch normalisation that costs nothing",
        "A layer x @ w + b, w [k, out], is followed by gamma * (y - mean) / sqrt(var + eps) + beta. Return "
        "one array [k + 1, out]: the filters of a single layer that does both, and its bias as the last "
        "row.",
        lambda w, b, gamma, beta, mean, var, eps: _fold(
            w, b, gamma, beta, mean, gamma / np.sqrt(var + eps)),
        _layers,
        (
            ("eps_outside", "eps is added to the variance, before the root is taken",
             lambda w, b, gamma, beta, mean, var, eps: _fold(
                 w, b, gamma, beta, mean, gamma / (np.sqrt(var) + eps))),
            ("no_eps", "eps is added to the variance, so that nothing is divided by zero",
             lambda w, b, gamma, beta, mean, var, eps: _fold(w, b, gamma, beta, mean, gamma / np.sqrt(var))),
            ("no_root", "var is the square of the deviation: take the root",
             lambda w, b, gamma, beta, mean, var, eps: _fold(w, b, gamma, beta, mean, gamma / (var + eps))),
            ("bias_first", "the bias is the last row", lambda w, b, gamma, beta, mean, var, eps: np.roll(
                _fold(w, b, gamma, beta, mean, gamma / np.sqrt(var + eps)), 1, 0)),
            ("bias_not_scaled", "the layer's own bias is normalised too",
             lambda w, b, gamma, beta, mean, var, eps: _fold(
                 w, b, gamma, beta, mean, gamma / np.sqrt(var + eps)) + np.append(
                     np.zeros_like(w), [b - b * gamma / np.sqrt(var + eps)], 0)),
            ("mean_added", "the mean is taken away",
             lambda w, b, gamma, beta, mean, var, eps: _fold(
                 w, b, gamma, beta, -mean, gamma / np.sqrt(var + eps))),
            ("beta_left_out", "beta is added at the end",
             lambda w, b, gamma, beta, mean, var, eps: _fold(
                 w, b, gamma, 0, mean, gamma / np.sqrt(var + eps))),
            ("bias_left_out", "the layer's own bias is a part of y",
             lambda w, b, gamma, beta, mean, var, eps: _fold(
                 w, 0 * b, gamma, beta, mean, gamma / np.sqrt(var + eps))),
            ("mean_left_out", "the mean is subtracted from y, and so from the bias",
             lambda w, b, gamma, beta, mean, var, eps: _fold(
                 w, b, gamma, beta, 0, gamma / np.sqrt(var + eps))),
            ("mean_not_scaled", "the mean is subtracted before the multiplication: it is scaled, too",
             lambda w, b, gamma, beta, mean, var, eps: _fold(
                 w, b, gamma, beta - mean, 0, gamma / np.sqrt(var + eps))),
            ("beta_scaled", "beta is added at the end, and not multiplied",
             lambda w, b, gamma, beta, mean, var, eps: _fold(
                 w, b + beta, gamma, 0, mean, gamma / np.sqrt(var + eps))),
            ("gamma_left_out", "each channel is multiplied by its gamma",
             lambda w, b, gamma, beta, mean, var, eps: _fold(
                 w, b, gamma, beta, mean, 1 / np.sqrt(var + eps))),
            ("bias_unchanged", "the bias changes too: it becomes (b - mean) * gamma / sqrt(var + eps) + beta",
             lambda w, b, gamma, beta, mean, var, eps: np.concatenate([
                 w * gamma / np.sqrt(var + eps), [b]])),
            ("filters_not_scaled", "the filters are multiplied by gamma / sqrt(var + eps), too",
             lambda w, b, gamma, beta, mean, var, eps: np.concatenate([w, _fold(
                 w, b, gamma, beta, mean, gamma / np.sqrt(var + eps))[-1:]])),
        ),
        ("Put y = x @ w + b into the formula, and sort by x.",
         "Each output channel is multiplied by gamma / sqrt(var + eps).",
         "What does not depend on x is the new bias: (b - mean) * that factor + beta."),
        "answers/folding_batch_normalisation",
    ),
)
# fmt: on
