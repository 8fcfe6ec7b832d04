# an answer: a stride that was forgotten for the columns, and made up for afterwards
code = diagnose(tc.conv2d(x, w, (2, 1), "SAME", bias=bias)[:, :, ::2])
assert code == "padding_side"  # at stride 1, SAME pads on the left, too
