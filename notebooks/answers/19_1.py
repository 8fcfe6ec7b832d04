# answer: the effective filter is (5 - 1) * 3 + 1 = 13, and all but its last sample are read again: 12
stream = tc.stream(tc.conv1d, weights(5, 1, 1), padding="CAUSAL", dilations=3)
stream.push(voice[:, :100])
assert stream.state_nbytes == 12 * 4
