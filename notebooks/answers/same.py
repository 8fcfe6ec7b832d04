import math


def same(n, k, s, d):
    outputs = math.ceil(n / s)
    total = max(0, (outputs - 1) * s + (k - 1) * d + 1 - n)
    return total // 2, total - total // 2
