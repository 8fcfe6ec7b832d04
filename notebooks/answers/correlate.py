import numpy as np


def correlate(x, w):
    out = np.zeros(len(x) - len(w) + 1)
    for i in range(len(out)):
        for j in range(len(w)):
            out[i] += x[i + j] * w[j]
    return out
