# answer: each pixel's channels, times a matrix
w1 = rng.integers(-2, 3, (1, 1, 4, 3)).astype("float32")
assert np.array_equal(tc.conv2d(x, w1), x @ w1[0, 0])
