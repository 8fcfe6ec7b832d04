import numpy as np


def dilated(x, w, d):
    out = np.zeros(len(x) - (len(w) - 1) * d)
    for i in range(len(out)):
        for j in range(len(w)):
            out[i] += x[i + j * d] * w[j]
    return out
