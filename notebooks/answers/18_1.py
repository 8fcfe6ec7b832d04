# answer: the three taps of column 0. Pixel 12 is in column 0 (row 2), so these taps lie left of the image
mixed = [tap for tap in taps if 0 < sum(map(in_image, positions(3, *tap))) < 32]
assert mixed == [(0, 0), (1, 0), (2, 0)]
for thread in range(96, 128):  # the same by explain
    cell = tc.explain(tc.conv2d, x, w, 1, "SAME", at=cell_of(thread))
    outside = {tap.filter_index[:2] for tap in cell.taps if tap.in_padding}
    assert outside == (set(mixed) if thread < 104 else set())
