# answer: the window begins one row lower and one column further right than that of the first pixel
by_hand = 1 * 3 + 0 * 0 + 1 * 1 + 2 * 2 + 4 * 1 + 1 * 0 + 1 * 0 + 0 * 0 + 2 * 1

changed = w.copy()
changed[0, :, 0, 0] = 3, 0, 1
assert by_hand == tc.conv2d(x, changed, padding="VALID")[0, 1, 1, 0] == 14
