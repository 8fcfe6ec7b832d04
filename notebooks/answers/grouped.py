import numpy as np


def grouped(x, w, groups):
    size, outs = w.shape[2], w.shape[3] // groups
    out = np.zeros((1, x.shape[1] - w.shape[0] + 1, x.shape[2] - w.shape[1] + 1, w.shape[3]))
    for _, r, c, o in np.ndindex(out.shape):
        first = o // outs * size  # the first channel of this output's group
        for a, b, i in np.ndindex(w.shape[:3]):
            out[0, r, c, o] += x[0, r + a, c + b, first + i] * w[a, b, i, o]
    return out
