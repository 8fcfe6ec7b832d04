# answer: 4 samples make one output; what comes behind does not change what the first layers need
down = (tc.conv1d, weights(3, 1, 1), {"strides": 2, "padding": "CAUSAL"})
up = (tc.conv1d_transpose, weights(4, 1, 1), {"strides": 4})
assert tc.stream([down, down]).chunk_step == tc.stream([down, down, up]).chunk_step == 4
