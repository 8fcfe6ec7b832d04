# answer: 591 x 591. Its sums would take 349,281 registers, and a multiprocessor has 65,536. So tiles are
# smaller, and most numbers must come from the second-level cache, which all blocks share
tile = int(np.ceil(2 * 2 / (3.35e12 / (989e12 / 2))))
assert tile == 591 and tile**2 > 65536
