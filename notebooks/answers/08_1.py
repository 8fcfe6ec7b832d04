# answer: 5 taps on 3 phases: 2, 2, 1
counts = tc.conv2d_transpose(np.ones((1, 1, 8, 1)), np.ones((1, 5, 1, 1)), None, (1, 3), "VALID")[0, 0, :, 0]
assert sorted(counts[9:12]) == [1, 2, 2]
