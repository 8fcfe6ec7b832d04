# answer: with even sizes k, where PyTorch's padding is (k - 2) / 2 and no output_padding is needed
w4 = np.arange(16.0).reshape(4, 4, 1, 1)
ours = tc.conv2d_transpose(x, w4, [1, 8, 8, 1], 2, "SAME")[0, ..., 0]
assert np.array_equal(ours, transpose(nchw, w4.transpose(3, 2, 0, 1), stride=2, padding=1)[0, 0])
