# answer: 112 outputs; the windows reach to 111 * 2 + 7 = 229, so 5 rows are missing: 2 above, 3 below
g = tc.conv2d_geometry((1, 224, 224, 3), (7, 7, 3, 64), 2, "SAME").rows
assert (g.out_size, g.pad_before, g.pad_after) == (112, 2, 3)
