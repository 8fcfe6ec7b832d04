# answer: a row for each output, a column for each input number
assert tc.conv_matrix(
    np.ones((5, 5, 3, 8)), tc.conv2d_geometry((1, 28, 28, 3), (5, 5, 3, 8), 1, "SAME")
).shape == (28 * 28 * 8, 28 * 28 * 3)
