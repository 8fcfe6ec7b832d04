"""Checks layer.py, and says what is wrong: python check_layer.py [layer.py]. Exits with 1 if so."""

import runpy
import sys
import time

import numpy as np

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


def calls(name, case):
    """Return the arguments of a function of layer.py, and teachconv's call of the same."""
    (x, w, b, dout), (stride, pad) = arrays(*case), case[2:]
    hwio = w.transpose(2, 3, 1, 0)
    if name.startswith("conv_forward"):
        return (x, w, b, stride, pad), (tc.conv2d, (x, hwio, stride, pad, "NCHW"), {"bias": b})
    if name == "conv_backward_input":
        return (dout, w, x.shape, stride, pad), (
            tc.conv2d_backprop_input, (x.shape, hwio, dout, stride, pad, "NCHW"), {},
        )  # fmt: skip
    return (x, dout, w.shape, stride, pad), (
        tc.conv2d_backprop_filter, (x, hwio.shape, dout, stride, pad, "NCHW"), {},
    )  # fmt: skip


def fault(name, function, case):
    """Return what is wrong in one case, or ""."""
    if name == "conv_backward_bias":
        dout = arrays(*case)[3]
        want, got = dout.sum((0, 2, 3)), np.asarray(function(dout.copy()))
        return "" if np.array_equal(want, got) else f"right is {want}, and yours is {got}"
    given, (op, args, options) = calls(name, case)
    got = np.asarray(function(*(one.copy() if isinstance(one, np.ndarray) else one for one in given)))
    if name == "conv_backward_filter" and got.ndim == 4:
        got = got.transpose(2, 3, 1, 0)
    row = tc.diff(op, *args, backends=[], against={"yours": got}, **options).rows[0]
    return "" if row.passed else str(row.diagnosis or row.where or "another result")


def is_fast(function, slow):
    """Whether a function takes less than a tenth of the other's time on a larger layer."""
    x, w = np.ones((2, 8, 32, 32)), np.ones((16, 8, 3, 3))
    times = []
    for each in (function, slow):
        start = time.perf_counter()
        each(x, w, np.zeros(16), 1, 1)
        times.append(time.perf_counter() - start)
    return times[0] < times[1] / 10


def verdict(name, functions):
    """Return what is wrong with a function, or ""."""
    if name not in functions:
        return "there is no such function"
    for case in CASES:
        try:
            said = fault(name, functions[name], case)
        except NotImplementedError:
            return "not written yet"
        except Exception as error:
            said = f"{type(error).__name__}: {error}"
        if said:
            return f"x {list(case[0])}, w {list(case[1])}, stride {case[2]}, pad {case[3]}: {said}"
    if name == "conv_forward_fast" and not verdict("conv_forward", functions):
        fast = is_fast(functions[name], functions["conv_forward"])
        return "" if fast else "right, but not ten times as fast as conv_forward"
    return ""


def main(path="layer.py"):
    """Print a line for each function, and the points."""
    functions, total = runpy.run_path(path), 0
    for name, points in POINTS.items():
        said = verdict(name, functions)
        total += 0 if said else points
        print(f"{name:22} {0 if said else points:3} of {points:2}  {said}")
    print(f"{total} of {sum(POINTS.values())} points; 15 more are for the written answers")
    return 0 if total == sum(POINTS.values()) else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
