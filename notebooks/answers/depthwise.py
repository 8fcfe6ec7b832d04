import numpy as np


def depthwise(x, w):
    _, _, channels, m = w.shape
    out = np.zeros((1, x.shape[1] - w.shape[0] + 1, x.shape[2] - w.shape[1] + 1, channels * m))
    for _, r, c, o in np.ndindex(out.shape):
        channel, q = divmod(o, m)
        window = x[0, r : r + w.shape[0], c : c + w.shape[1], channel]
        out[0, r, c, o] = (window * w[:, :, channel, q]).sum()
    return out
