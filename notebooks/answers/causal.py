import numpy as np


def causal(x, w, d):
    out = np.zeros(len(x))
    for i in range(len(x)):
        for j in range(len(w)):
            source = i - (len(w) - 1 - j) * d
            if source >= 0:
                out[i] += x[source] * w[j]
    return out
