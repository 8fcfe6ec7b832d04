# answer: the last stamp begins at 3 * 3 = 9 and is 5 long: 14
assert tc.conv2d_transpose(np.ones((1, 4, 4, 1)), np.ones((5, 5, 1, 1)), None, 3, "VALID").shape[1] == 14
