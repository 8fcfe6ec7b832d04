# answer: 1 above, 0 below
ours = tc.conv2d_transpose(x, w, [1, 8, 8, 1], 2, [[0, 0], [1, 0], [1, 0], [0, 0]])[0, ..., 0]
assert np.array_equal(ours, theirs)
