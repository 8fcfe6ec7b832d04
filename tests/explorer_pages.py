"""Calls for the tests of the explorer's pages, and what a page shows of them."""

import math
import time

import numpy as np

import teachconv as tc


def integers(*shape, dtype="float32"):
    values = np.random.default_rng(list(shape)).integers(-4, 5, shape)
    return values.astype(dtype)


def normal(*shape, dtype="float32"):
    return np.random.default_rng(list(shape)).standard_normal(shape).astype(dtype)


def number(text):
    if text.lstrip("-").isdigit():
        return int(text)
    return {"∞": math.inf, "-∞": -math.inf, "NaN": math.nan}.get(text) or float(text)


def same(text, value):
    """Whether a text on the screen is this value, in seven digits."""
    shown, want = number(text), float(f"{value:.7g}") if isinstance(value, float) else value
    return shown == want or (math.isnan(shown) and math.isnan(want))


def cell_text(cell):
    return ", ".join(map(str, cell))


def nonfinite():
    x = integers(1, 4, 4, 1)
    x[0, 1, 2, 0], x[0, 3, 3, 0], x[0, 0, 0, 0] = np.nan, np.inf, -np.inf
    return x


W = integers(3, 3, 1, 1)
CASES = {
    "stride 2, SAME, channels": (tc.conv2d, (integers(2, 4, 5, 2), integers(3, 2, 2, 2), 2, "SAME"), {}),
    "padding all around, bias": (
        tc.conv2d,
        (integers(1, 3, 3, 1), W, 1, 2),
        {"bias": integers(1)},
    ),
    "cropped": (tc.conv2d, (integers(1, 6, 5, 1), W, 1, ((-1, 0), (1, -1))), {}),
    "dilated, normal numbers": (
        tc.conv2d,
        (normal(1, 6, 6, 2), normal(2, 2, 2, 1), 1, "SAME"),
        {"dilations": 2},
    ),
    "NCHW, groups": (
        tc.conv2d,
        (integers(1, 4, 4, 4), integers(2, 2, 2, 4)),
        {"data_format": "NCHW"},
    ),
    "NaN and infinities": (tc.conv2d, (nonfinite(), W, 1, "SAME"), {}),
    "int32 wraps": (
        tc.conv2d,
        (
            np.int32([[2**30, 2**31 - 1], [-(2**31), 3]]).reshape(1, 2, 2, 1),
            np.int32([[2, 3], [5, 7]]).reshape(2, 2, 1, 1),
        ),
        {},
    ),
    "int64 beyond a double": (
        tc.conv2d,
        (np.int64([2**62 + 1, 2**53 + 1]).reshape(1, 1, 2, 1), np.int64([1, 3]).reshape(1, 2, 1, 1)),
        {},
    ),
    "float64, rounded sums": (
        tc.conv2d,
        (normal(1, 3, 3, 1, dtype="float64"), normal(2, 2, 1, 1, dtype="float64")),
        {},
    ),
    "float16": (tc.conv2d, (normal(1, 3, 3, 1, dtype="float16"), normal(2, 2, 1, 1, dtype="float16")), {}),
    "1 x 1": (tc.conv2d, (integers(1, 1, 1, 1), integers(1, 1, 1, 1)), {}),
    "depthwise": (tc.depthwise_conv2d, (integers(1, 3, 3, 2), integers(2, 2, 2, 2)), {}),
    "transpose, SAME": (tc.conv2d_transpose, (integers(1, 3, 2, 2), integers(3, 3, 1, 2), None, 2), {}),
    "transpose, output padding": (
        tc.conv2d_transpose,
        (integers(1, 2, 2, 1), W, None, 2, 1),
        {"output_padding": 1, "bias": integers(1)},
    ),
    "transpose, gaps": (
        tc.conv2d_transpose,
        (integers(1, 2, 2, 1), integers(2, 1, 1, 1), None, 3, "VALID"),
        {},
    ),
    "input gradient": (
        tc.conv2d_backprop_input,
        ((1, 4, 4, 2), integers(3, 3, 2, 1), integers(1, 2, 2, 1), 2, "SAME"),
        {},
    ),
    "depthwise input gradient": (
        tc.depthwise_conv2d_backprop_input,
        ((1, 3, 3, 2), integers(2, 2, 2, 2), integers(1, 2, 2, 4)),
        {},
    ),
    "filter gradient": (
        tc.conv2d_backprop_filter,
        (integers(2, 4, 4, 2), (3, 3, 2, 1), integers(2, 2, 2, 1), 2, "SAME"),
        {},
    ),
    "depthwise filter gradient": (
        tc.depthwise_conv2d_backprop_filter,
        (integers(1, 3, 3, 2), (2, 2, 2, 2), integers(1, 2, 2, 4)),
        {},
    ),
}


def places(grid):
    return {(cell["row"], cell["col"]) for cell in grid["cells"]}


def marked(grid, mark):
    return {(cell["row"], cell["col"]) for cell in grid["cells"] if mark in cell["classes"]}


def place(call, cell):
    """The channels to choose for a cell of the result, and where to click."""
    if call.kind.sums_images:
        row, col, i, o = cell
        return {"c": i, "o": call.find("filters", cell)[3]}, 2, row, col
    n, row, col, channel = cell
    return {"n": n, ("o" if call.kind.gathers else "c"): channel}, 2, row, col


def address_of(image):
    """Return the part of a network page's address that draws digits' ink, [..., 8, 8, 1] from 0 to 1."""
    return "#d=" + "".join("0123456789abcdefg"[round(16 * float(ink))] for ink in image.ravel())


def wait_for(page, script):
    deadline = time.monotonic() + 60
    while not page.run(script):
        assert time.monotonic() < deadline, script
        time.sleep(0.02)


# the picture that the page saves, with what is chosen beside the button
SAVED = """const { createObjectURL } = URL;
return new Promise((done) => {
  URL.createObjectURL = (blob) => { blob.text().then(done); return createObjectURL.call(URL, blob); };
  HTMLAnchorElement.prototype.click = () => {};
  for (const [label, value] of Object.entries(arguments[0] ?? {})) document.querySelector(`[aria-label="${label} of the picture"]`).value = value;
  document.querySelector(".save").click();
});"""
