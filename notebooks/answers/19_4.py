# answer: rows are the axis that is streamed unless you say otherwise; a row waits for the one below it
image, blur = np.random.default_rng(0).random((1, 6, 8, 1)), np.full((3, 3, 1, 1), 1 / 9)
scanner = tc.stream(tc.conv2d, blur, padding="SAME")
assert [scanner.push(image[:, row : row + 1]).shape[1] for row in range(6)] == [0, 1, 1, 1, 1, 1]
assert scanner.flush().shape == (1, 1, 8, 1)
