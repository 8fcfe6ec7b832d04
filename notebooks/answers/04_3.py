# answer: SAME pads below only, so the window covers rows 0, 1, 2 and its middle is row 1
g = tc.conv2d_geometry((1, 8, 8, 1), w.shape, 2, "SAME").rows
assert 0 * g.stride - g.pad_before + 1 == 1
