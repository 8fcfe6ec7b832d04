import numpy as np


def error_bound(x, w):
    u = 2.0**-24
    gamma = len(x) * u / (1 - len(x) * u)
    return gamma * np.abs(x.astype(float) * w.astype(float)).sum()
