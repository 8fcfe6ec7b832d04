# answer: its input gradient has a checkerboard: some input cells take part in 4 windows, others in 1
dy = np.ones((1, 8, 8, 1))
dx = tc.conv2d_backprop_input((1, 16, 16, 1), np.ones((3, 3, 1, 1)), dy, 2, "SAME")
assert set(np.unique(dx[0, 2:-2, 2:-2])) == {1.0, 2.0, 4.0}
