# answer: the sum of dy over images, rows and columns
bias, e = np.zeros(1), 1e-3
plus = (dy * tc.conv2d(x, w, 2, "SAME", bias=bias + e)).sum()
minus = (dy * tc.conv2d(x, w, 2, "SAME", bias=bias - e)).sum()
assert abs((plus - minus) / (2 * e) - dy.sum()) < 1e-8
