# answer: all 12 at the border
cells = [tc.explain(tc.conv2d, x, w, padding="SAME", at=(0, row, col, 0)) for row, col in np.ndindex(4, 4)]
assert sum(any(tap.in_padding for tap in cell.taps) for cell in cells) == 12
