# answer: 50 * 2 - 1 = 99 to 99 * 2 - 1 + 4 = 201
g = tc.conv2d_geometry(image.shape, blur.shape, 2, "SAME").rows
assert (50 * g.stride - g.pad_before, 99 * g.stride - g.pad_before + 4) == (99, 201)
