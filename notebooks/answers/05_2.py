# answer: it drops rows; every second window along each axis stays
stride_1 = tc.conv_matrix(w, tc.conv2d_geometry((1, 5, 5, 1), w.shape)).toarray()
stride_2 = tc.conv_matrix(w, tc.conv2d_geometry((1, 5, 5, 1), w.shape, 2)).toarray()
assert np.array_equal(stride_2, stride_1.reshape(3, 3, 25)[::2, ::2].reshape(4, 25))
