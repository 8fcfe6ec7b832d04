"""Checks layer.py, and says what is wrong: python check_layer.py [layer.py]. Exits with 1 if so.

It marks a folder of submissions, too: python check_layer.py FOLDER --csv points.csv
"""

import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # for checking
import checking

import teachconv as tc

POINTS = {
    "conv_forward": 25,
    "conv_backward_input": 25,
    "conv_backward_filter": 20,
    "conv_backward_bias": 5,
    "conv_forward_fast": 10,
}
# [batch, channels, rows, cols], [out, in, filter_rows, filter_cols], stride, pad; rows and cols differ
CASES = (
    ((1, 1, 4, 5), (1, 1, 3, 3), 1, 0),
    ((1, 1, 5, 4), (1, 1, 2, 3), 1, 1),
    ((2, 3, 7, 6), (4, 3, 3, 2), 1, 1),
    ((2, 2, 7, 9), (3, 2, 3, 3), 2, 1),
    ((1, 2, 8, 6), (2, 2, 2, 2), 2, 0),
    ((3, 4, 9, 7), (2, 4, 5, 3), 3, 2),
)


def arrays(case, seed):
    """The arrays of a case: x, w, b, and the gradient in the output."""
    x_shape, w_shape, stride, pad = case
    divisor = 2 if has_halves(case) else 1  # sums of halves and quarters are exact, too
    x, w = checking.numbers(x_shape, "x", seed) / divisor, checking.numbers(w_shape, "w", seed)
    out = tc.dialects.torch.conv2d(x, w, stride=stride, padding=pad).shape
    b = checking.numbers(w_shape[:1], "b", seed)
    dout = checking.numbers(out, "d", seed) / divisor
    return x, w, np.where(b == 0, 5, b), dout  # a bias that is forgotten shows


def has_halves(case):
    """Whether x and the gradient have numbers that are not whole, which integers would cut off."""
    return case[0][3] % 2 == 1


def legal(case):
    """Raise a ValueError unless a case can be one."""
    if len(case) != 4:
        raise ValueError(f"a case has an x, a w, a stride and a pad; got {case}")
    arrays(case, 0)


def facts(case):
    """Return what a case has that others do not have."""
    x, w, stride, pad = case
    return {
        "with a stride above 1": stride > 1,
        "with padding": pad > 0,
        "where the numbers are not whole": has_halves(case),
        "with a stride above 1 and padding": stride > 1 and pad > 0,
        "with several images": x[0] > 1,
        "with several input channels": x[1] > 1,
        "with several output channels": w[0] > 1,
        "where filter rows and cols differ": w[2] != w[3],
        "where the windows leave cells over": any(
            (n + 2 * pad - k) % stride for n, k in zip(x[2:], w[2:], strict=True)
        ),
    }


def arguments(name, case, seed):
    """Return the arguments of a function of layer.py."""
    (x, w, b, dout), (stride, pad) = arrays(case, seed), case[2:]
    if name.startswith("conv_forward"):
        return x, w, b, stride, pad
    if name == "conv_backward_input":
        return dout, w, x.shape, stride, pad
    return (dout,) if name == "conv_backward_bias" else (x, dout, w.shape, stride, pad)


def fault(name, case, seed, got):
    """Return what is wrong with a result, or None."""
    (x, w, b, dout), (stride, pad) = arrays(case, seed), case[2:]
    hwio = w.transpose(2, 3, 1, 0)
    if name == "conv_backward_bias":
        return fault_of_bias(dout, got)
    if name.startswith("conv_forward"):
        op, args, options = tc.conv2d, (x, hwio, stride, pad, "NCHW"), {"bias": b}
    elif name == "conv_backward_input":
        op, args, options = tc.conv2d_backprop_input, (x.shape, hwio, dout, stride, pad, "NCHW"), {}
    else:
        op, args, options = tc.conv2d_backprop_filter, (x, hwio.shape, dout, stride, pad, "NCHW"), {}
        got = got.transpose(2, 3, 1, 0) if got.ndim == 4 else got
    row = tc.diff(op, *args, backends=[], against={"yours": got}, **options).rows[0]
    if row.passed:
        return None
    if got.size and not got.any():
        return checking.Fault("your result is zero everywhere")
    return checking.of(row)


def fault_of_bias(dout, got):
    """Return what is wrong with the gradient of the bias, or None."""
    want = dout.sum((0, 2, 3))
    if np.array_equal(want, got):
        return None
    mistakes = (
        ("yours is a mean, not a sum", dout.mean((0, 2, 3))),
        ("the images are not summed", dout.sum((2, 3))),
        ("rows and cols are not summed", dout.sum(0)),
        ("yours has a sum for each image, not for each channel", dout.sum((1, 2, 3))),
    )
    return checking.known(got, mistakes, 1e-12) or checking.Fault(f"right is {want}, and yours is {got}")


def loops(x, w, b, stride, pad):
    """A loop over cells with one product for each: what conv_forward_fast is timed against."""
    x = np.pad(x, [(0, 0), (0, 0), (pad, pad), (pad, pad)])
    taps, columns = w.shape[2:], w.reshape(len(w), -1).T
    sizes = [(n - k) // stride + 1 for n, k in zip(x.shape[2:], taps, strict=True)]
    out = np.empty((len(x), len(w), *sizes))
    for r, c in np.ndindex(*sizes):
        window = x[:, :, r * stride : r * stride + taps[0], c * stride : c * stride + taps[1]]
        out[:, :, r, c] = window.reshape(len(x), -1) @ columns + b
    return out


def shortest(function, layers):
    """Return a function's results for some layers, and the shortest of its times."""
    results, times = [], []
    for layer in layers:
        start = time.perf_counter()
        results.append(function(layer))
        times.append(time.perf_counter() - start)
    return results, min(times)


def larger(number, seed):
    """Return a layer with much to loop over and little to compute; each number has its own arrays."""
    x = checking.numbers((1, 1, 160, 160), f"x {number}", seed)
    w = checking.numbers((1, 1, 3, 3), f"w {number}", seed)
    return x, w, checking.numbers((1,), f"b {number}", seed), 1, 1


def slowness(name, call, seed):
    """Return why conv_forward_fast is not fast on a larger layer, or ""."""
    if name != "conv_forward_fast":
        return ""
    for number in range(0, 15, 3):  # other programs make a function slow, never fast
        layers = [larger(number + i, seed) for i in range(3)]  # a result that was kept is of no use
        right, slow = shortest(lambda layer: loops(*layer), layers)
        answers, fast = shortest(lambda layer: checking.answer(call, name, layer), layers)
        for want, (got, said) in zip(right, answers, strict=True):
            if got is None or not np.array_equal(got, want):
                return f"on a larger layer: {said or 'another result'}"
        if fast < slow / 10:
            return ""
    return f"not ten times as fast as loops, only {slow / fast:.1f} times"


ASSIGNMENT = checking.Assignment(
    "layer.py", POINTS, (5, 5, 5), CASES,
    lambda case: f"x {list(case[0])}, w {list(case[1])}, stride {case[2]}, pad {case[3]}",
    facts, legal, arguments, fault, slowness,
)  # fmt: skip

if __name__ == "__main__":
    sys.exit(checking.main(ASSIGNMENT))
