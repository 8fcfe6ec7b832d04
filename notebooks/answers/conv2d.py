import numpy as np


def conv2d(x, w, stride, padding):
    images, rows, cols, _ = x.shape
    filter_rows, filter_cols, channels, outs = w.shape
    out_rows = (rows + 2 * padding - filter_rows) // stride + 1
    out_cols = (cols + 2 * padding - filter_cols) // stride + 1
    out = np.zeros((images, out_rows, out_cols, outs))
    for n, r, c, o in np.ndindex(out.shape):
        for a, b, i in np.ndindex(filter_rows, filter_cols, channels):
            row, col = r * stride - padding + a, c * stride - padding + b
            if 0 <= row < rows and 0 <= col < cols:
                out[n, r, c, o] += x[n, row, col, i] * w[a, b, i, o]
    return out
