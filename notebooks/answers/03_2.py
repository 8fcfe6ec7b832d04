# answer: 16 groups with 2 output channels each; 5 // 2 = 2
x16 = rng.integers(-3, 4, (1, 4, 4, 16)).astype("float32")
w16 = rng.integers(1, 3, (3, 3, 1, 32)).astype("float32")
only = np.zeros_like(x16)
only[..., 2] = x16[..., 2]
assert np.array_equal(tc.conv2d(only, w16)[..., 5], tc.conv2d(x16, w16)[..., 5])
