import numpy as np


def im2col(x, k, s):
    rows, cols, _ = x.shape
    patches = []
    for r in range(0, rows - k + 1, s):
        for c in range(0, cols - k + 1, s):
            patches.append(x[r : r + k, c : c + k].ravel())
    return np.array(patches)
