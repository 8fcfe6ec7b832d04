import numpy as np


def winograd(d, g):
    return np.array(
        [
            (d[0] - d[2]) * g[0],
            (d[1] + d[2]) * (g[0] + g[1] + g[2]) / 2,
            (d[2] - d[1]) * (g[0] - g[1] + g[2]) / 2,
            (d[1] - d[3]) * g[2],
        ]
    )
