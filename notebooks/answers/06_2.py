# answer: 2 x 2 ones: the stamps touch and do not overlap
up = tc.conv2d_transpose(x, np.ones((2, 2, 1, 1)), [1, 4, 4, 1], 2, "VALID")[0, ..., 0]
assert np.array_equal(up, x[0, ..., 0].repeat(2, 0).repeat(2, 1))
