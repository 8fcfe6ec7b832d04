# answer: the ordinary convolution with the same filter
z = rng.integers(-2, 3, (1, 5, 5, 1)) * 1.0
v = rng.integers(-2, 3, (1, 3, 3, 1)) * 1.0
assert (tc.conv2d_transpose(v, w, z.shape, 2, "SAME") * z).sum() == (v * tc.conv2d(z, w, 2, "SAME")).sum()
