# answer: almost 2 ** -29: float64 keeps 53 - 24 = 29 binary digits more
ratio = bound / float(bounds.direct(np.array(abs_sum), K, "float64"))
assert abs(ratio / 2**29 - 1) < 1e-4
