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
from teachconv.data.seeded import make_array

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


def arrays(x_shape, w_shape, stride, pad):
    """Whole numbers, so that sums in any order are exact."""
    x, w = make_array(x_shape, "float64", "integers", "x"), make_array(w_shape, "float64", "integers", "w")
    b = make_array(w_shape[:1], "float64", "integers", "b")
    dout = make_array(
        tc.dialects.torch.conv2d(x, w, stride=stride, padding=pad).shape, "float64", "integers", "d"
    )
    return x, w, b, dout


def arguments(name, case):
    """Return the arguments of a function of layer.py."""
    (x, w, b, dout), (stride, pad) = arrays(*case), case[2:]
    if name.startswith("conv_forward"):
        return x, w, b, stride, pad
    if name == "conv_backward_input":
        return dout, w, x.shape, stride, pad
    return (dout,) if name == "conv_backward_bias" else (x, dout, w.shape, stride, pad)


def fault(name, case, got):
    """Return what is wrong with a result, or ""."""
    (x, w, b, dout), (stride, pad) = arrays(*case), case[2:]
    hwio = w.transpose(2, 3, 1, 0)
    if name == "conv_backward_bias":
        want = dout.sum((0, 2, 3))
        return "" if np.array_equal(want, got) else f"right is {want}, and yours is {got}"
    if name.startswith("conv_forward"):
        op, args, options = tc.conv2d, (x, hwio, stride, pad, "NCHW"), {"bias": b}
    elif name == "conv_backward_input":
        op, args, options = tc.conv2d_backprop_input, (x.shape, hwio, dout, stride, pad, "NCHW"), {}
    else:
        op, args, options = tc.conv2d_backprop_filter, (x, hwio.shape, dout, stride, pad, "NCHW"), {}
        got = got.transpose(2, 3, 1, 0) if got.ndim == 4 else got
    row = tc.diff(op, *args, backends=[], against={"yours": got}, **options).rows[0]
    if not row.passed and got.size and not got.any():
        return "your result is zero everywhere"
    return "" if row.passed else str(row.diagnosis or row.where or "another result")


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


def larger(number):
    """Return a layer with much to loop over and little to compute; each number has its own arrays."""
    x = make_array((1, 1, 160, 160), "float64", "integers", f"x {number}")
    w = make_array((1, 1, 3, 3), "float64", "integers", f"w {number}")
    return x, w, make_array((1,), "float64", "integers", f"b {number}"), 1, 1


def slowness(name, call):
    """Return why conv_forward_fast is not fast on a larger layer, or ""."""
    if name != "conv_forward_fast":
        return ""
    for number in range(0, 15, 3):  # other programs make a function slow, never fast
        layers = [larger(number + i) for i in range(3)]  # a result that was kept is of no use
        right, slow = shortest(lambda layer: loops(*layer), layers)
        answers, fast = shortest(lambda layer: checking.answer(call, name, layer), layers)
        for want, (got, said) in zip(right, answers, strict=True):
            if got is None or not np.array_equal(got, want):
                return f"on a larger layer: {said or 'another result'}"
        if fast < slow / 10:
            return ""
    return f"not ten times as fast as loops, only {slow / fast:.1f} times"


ASSIGNMENT = checking.Assignment(
    "layer.py", POINTS, CASES,
    lambda case: f"x {list(case[0])}, w {list(case[1])}, stride {case[2]}, pad {case[3]}",
    arguments, fault, slowness, half=True,
)  # fmt: skip

if __name__ == "__main__":
    sys.exit(checking.main(ASSIGNMENT))
