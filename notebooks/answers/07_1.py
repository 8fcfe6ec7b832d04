# answer: 13, 14, 15: all that round up to 5 when divided by 3
shapes = tc.conv2d_transpose_geometry((1, 5, 5, 1), w.shape, None, 3, "SAME").legal_output_shapes
assert {shape[1] for shape in shapes} == {13, 14, 15}
