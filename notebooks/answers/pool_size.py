import math


def pool_size(n, k, s, padding):
    size = math.ceil((n + 2 * padding - k) / s) + 1
    begins = (size - 1) * s - padding  # the last window
    return size if begins < n else size - 1
