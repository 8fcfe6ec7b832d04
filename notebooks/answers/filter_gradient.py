import numpy as np


def filter_gradient(x, dy, k, s):
    dw = np.zeros(k)
    for i in range(len(dy)):
        for j in range(k):
            dw[j] += x[i * s + j] * dy[i]
    return dw
