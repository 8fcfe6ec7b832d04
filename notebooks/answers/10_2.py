# answer: for odd ones
for n in range(4, 12):
    a = rng.standard_normal((1, n, n, 1))
    same = tc.conv2d(a, w[:, :, :1, :1], 2, "SAME")
    assert np.allclose(same, tc.conv2d(a, w[:, :, :1, :1], 2, padding=1)) == (n % 2 == 1)
