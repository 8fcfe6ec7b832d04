# answer: by a multiple of 3
for cells in range(1, 7):
    moved, old = edges_of(np.roll(grey, cells, axis=1), 3), np.roll(edges_of(grey, 3), cells // 3, axis=1)
    assert np.allclose(moved[:, 4:-4], old[:, 4:-4]) == (cells % 3 == 0)
