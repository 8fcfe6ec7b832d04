# answer: for odd sizes
for rows in range(3, 30):
    g = tc.conv2d_geometry((1, rows, rows, 1), (3, 3, 1, 1), 2, "SAME").rows
    assert (g.pad_before == g.pad_after) == (rows % 2 == 1)
