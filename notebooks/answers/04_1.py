# answer: each plain layer adds 2, so 15; with doubling, 1 + 2 + 4 + 8 + 16 = 31 after four layers
assert 1 + 15 * 2 == 31
assert 1 + 2 * (1 + 2 + 4 + 8) == 31
