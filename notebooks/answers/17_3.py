# answer: rows 0 to 50: output 99 belongs to the taps of inputs 49 and 50
lazy = tc.conv2d_transpose(image, np.ones((4, 4, 1, 1), "float32"), [1, 800, 1200, 1], 2, "SAME")
assert lazy.shape == (1, 800, 1200, 1)
cell = tc.explain(
    tc.conv2d_transpose,
    image,
    np.ones((4, 4, 1, 1), "float32"),
    [1, 800, 1200, 1],
    2,
    "SAME",
    at=(0, 99, 0, 0),
)
assert {tap.input_index[1] for tap in cell.taps if not tap.in_padding} == {49, 50}
