"""One answer to each puzzle, for the page of puzzles. Tests check them; the package does not hold them."""

import math

import numpy as np


def output_size(n, k, s, d, before, after):
    reach = (k - 1) * d + 1  # how many inputs the filter covers
    return (n + before + after - reach) // s + 1


def same(n, k, s, d):
    outputs = math.ceil(n / s)
    total = max(0, (outputs - 1) * s + (k - 1) * d + 1 - n)
    return total // 2, total - total // 2


def pool_size(n, k, s, padding):
    size = math.ceil((n + 2 * padding - k) / s) + 1
    begins = (size - 1) * s - padding  # the last window
    return size if begins < n else size - 1


def receptive_field(layers):
    size = 1
    for k, s, d in reversed(layers):
        size = (size - 1) * s + (k - 1) * d + 1
    return size


def output_padding(i, k, s, p, wanted):
    return wanted - ((i - 1) * s + k - 2 * p)


def rows_needed(first, last, n, k, s, before):
    start = first * s - before
    stop = (last - 1) * s - before + k
    return max(0, start), min(n, stop)


def due(arrived, k, s, before):
    return max(0, (arrived + before - k) // s + 1)


def torch_pad(rows, cols, k, s):
    pads = []
    for n in (cols, rows):  # the last axis first
        total = max(0, (math.ceil(n / s) - 1) * s + k - n)
        pads += [total // 2, total - total // 2]
    return pads


def correlate(x, w):
    out = np.zeros(len(x) - len(w) + 1)
    for i in range(len(out)):
        for j in range(len(w)):
            out[i] += x[i + j] * w[j]
    return out


def causal(x, w, d):
    out = np.zeros(len(x))
    for i in range(len(x)):
        for j in range(len(w)):
            source = i - (len(w) - 1 - j) * d
            if source >= 0:
                out[i] += x[source] * w[j]
    return out


def dilated(x, w, d):
    out = np.zeros(len(x) - (len(w) - 1) * d)
    for i in range(len(out)):
        for j in range(len(w)):
            out[i] += x[i + j * d] * w[j]
    return out


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


def grouped(x, w, groups):
    size, outs = w.shape[2], w.shape[3] // groups
    out = np.zeros((1, x.shape[1] - w.shape[0] + 1, x.shape[2] - w.shape[1] + 1, w.shape[3]))
    for _, r, c, o in np.ndindex(out.shape):
        first = o // outs * size  # the first channel of this output's group
        for a, b, i in np.ndindex(w.shape[:3]):
            out[0, r, c, o] += x[0, r + a, c + b, first + i] * w[a, b, i, o]
    return out


def depthwise(x, w):
    _, _, channels, m = w.shape
    out = np.zeros((1, x.shape[1] - w.shape[0] + 1, x.shape[2] - w.shape[1] + 1, channels * m))
    for _, r, c, o in np.ndindex(out.shape):
        channel, q = divmod(o, m)
        window = x[0, r : r + w.shape[0], c : c + w.shape[1], channel]
        out[0, r, c, o] = (window * w[:, :, channel, q]).sum()
    return out


def im2col(x, k, s):
    rows, cols, _ = x.shape
    patches = []
    for r in range(0, rows - k + 1, s):
        for c in range(0, cols - k + 1, s):
            patches.append(x[r : r + k, c : c + k].ravel())
    return np.array(patches)


def col2im(patches, rows, cols, k, s):
    image = np.zeros((rows, cols, patches.shape[1] // (k * k)))
    corners = [(r, c) for r in range(0, rows - k + 1, s) for c in range(0, cols - k + 1, s)]
    for (r, c), patch in zip(corners, patches, strict=True):
        image[r : r + k, c : c + k] += patch.reshape(k, k, -1)
    return image


def matrix(w, n, s):
    C = np.zeros(((n - len(w)) // s + 1, n))
    for i in range(len(C)):
        C[i, i * s : i * s + len(w)] = w
    return C


def scatter(x, w, s):
    out = np.zeros((len(x) - 1) * s + len(w))
    for m in range(len(x)):
        for j in range(len(w)):
            out[m * s + j] += x[m] * w[j]
    return out


def gather(x, w, s, y):
    total = 0.0
    for j in range(len(w)):
        m, rest = divmod(y - j, s)
        if rest == 0 and 0 <= m < len(x):
            total += x[m] * w[j]
    return total


def torch_weight(w):
    return w.transpose(3, 2, 0, 1)


def winograd(d, g):
    return np.array(
        [
            (d[0] - d[2]) * g[0],
            (d[1] + d[2]) * (g[0] + g[1] + g[2]) / 2,
            (d[2] - d[1]) * (g[0] - g[1] + g[2]) / 2,
            (d[1] - d[3]) * g[2],
        ]
    )


def bias_gradient(dy, z):
    dz = dy * (z > 0)
    return dz.sum(axis=(0, 1, 2))


def input_gradient(dy, w, n, s):
    dx = np.zeros(n)
    for i in range(len(dy)):
        for j in range(len(w)):
            dx[i * s + j] += dy[i] * w[j]
    return dx


def filter_gradient(x, dy, k, s):
    dw = np.zeros(k)
    for i in range(len(dy)):
        for j in range(k):
            dw[j] += x[i * s + j] * dy[i]
    return dw


def is_adjoint(forward, backward, x, y):
    return np.vdot(forward(x), y) == np.vdot(x, backward(y))


def tape(program, inputs):
    values = list(inputs)
    for op, i, j in program:
        values.append(values[i] + values[j] if op == "add" else values[i] * values[j])
    grads = [0.0] * len(values)
    grads[-1] = 1.0
    for number in reversed(range(len(program))):
        op, i, j = program[number]
        grad = grads[len(inputs) + number]
        grads[i] += grad if op == "add" else grad * values[j]
        grads[j] += grad if op == "add" else grad * values[i]
    return grads[: len(inputs)]


def error_bound(x, w):
    u = 2.0**-24
    gamma = len(x) * u / (1 - len(x) * u)
    return gamma * np.abs(x.astype(float) * w.astype(float)).sum()


def to_bfloat16(x):
    bits = x.view(np.uint32)
    last = bits >> np.uint32(16) & np.uint32(1)  # of the bits that are kept
    bits = bits + np.uint32(0x7FFF) + last
    return (bits & np.uint32(0xFFFF0000)).view(np.float32)


def tolerance(x, w):
    u = 2.0**-24
    gamma = len(x) * u / (1 - len(x) * u)
    return 2 * gamma * np.abs(x.astype(float) * w.astype(float)).sum()


def fold_batch_norm(w, b, gamma, beta, mean, var, eps):
    factor = gamma / np.sqrt(var + eps)
    return np.vstack([w * factor, (b - mean) * factor + beta])


def find_the_bug(number):
    import teachconv as tc
    from teachconv import exercises as ex

    random = np.random.default_rng(2)
    x, w, b = (random.standard_normal(shape) for shape in ((1, 8, 11, 3), (3, 3, 3, 3), (3,)))
    result = ex.buggy(number, x, w, b)
    report = tc.diff(tc.conv2d, x, w, (2, 1), "SAME", dilations=(1, 2), bias=b, against=result)
    diagnosis = next(row.diagnosis for row in report.rows if row.name == "against")
    return diagnosis.code.partition("(")[0]  # without the details, as in shift(1,0)
