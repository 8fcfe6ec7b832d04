import numpy as np


def input_gradient(dy, w, n, s):
    dx = np.zeros(n)
    for i in range(len(dy)):
        for j in range(len(w)):
            dx[i * s + j] += dy[i] * w[j]
    return dx
