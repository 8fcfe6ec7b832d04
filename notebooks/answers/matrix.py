import numpy as np


def matrix(w, n, s):
    C = np.zeros(((n - len(w)) // s + 1, n))
    for i in range(len(C)):
        C[i, i * s : i * s + len(w)] = w
    return C
