rng = np.random.default_rng(0)
a, b = rng.integers(-4, 5, (1, 5, 5, 1)) * 1.0, rng.integers(-4, 5, (1, 2, 2, 1)) * 1.0
assert (tc.conv2d(a, w, 2) * b).sum() == (a * tc.conv2d_transpose(b, w, a.shape, 2, "VALID")).sum()
