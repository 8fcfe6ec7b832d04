# answer: the window begins one row lower and one column further right
by_hand = 1 * 1 + 0 * 0 + 1 * 1 + 2 * 2 + 4 * 1 + 1 * 0 + 1 * 0 + 0 * 0 + 2 * 1
assert by_hand == (image[1:4, 1:4] * weights).sum() == y[0, 1, 1, 0] == 12
