import numpy as np


def col2im(patches, rows, cols, k, s):
    image = np.zeros((rows, cols, patches.shape[1] // (k * k)))
    corners = [(r, c) for r in range(0, rows - k + 1, s) for c in range(0, cols - k + 1, s)]
    for (r, c), patch in zip(corners, patches, strict=True):
        image[r : r + k, c : c + k] += patch.reshape(k, k, -1)
    return image
