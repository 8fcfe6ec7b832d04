# answer: 3 with VALID, 4 with SAME: the sizes of a convolution
ones8 = np.ones((1, 8, 8, 1))
assert tc.max_pool(ones8, 3, 2, "VALID").shape == (1, 3, 3, 1)
assert tc.max_pool(ones8, 3, 2, "SAME").shape == (1, 4, 4, 1)
