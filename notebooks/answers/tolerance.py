import numpy as np


def tolerance(x, w):
    u = 2.0**-24
    gamma = len(x) * u / (1 - len(x) * u)
    return 2 * gamma * np.abs(x.astype(float) * w.astype(float)).sum()
