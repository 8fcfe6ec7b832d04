import math


def torch_pad(rows, cols, k, s):
    pads = []
    for n in (cols, rows):  # the last axis first
        total = max(0, (math.ceil(n / s) - 1) * s + k - n)
        pads += [total // 2, total - total // 2]
    return pads
