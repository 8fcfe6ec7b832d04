import numpy as np


def scatter(x, w, s):
    out = np.zeros((len(x) - 1) * s + len(w))
    for m in range(len(x)):
        for j in range(len(w)):
            out[m * s + j] += x[m] * w[j]
    return out
