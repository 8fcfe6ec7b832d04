# answer: a plain layer adds 2, so 15; a layer of dilation d adds 2 d, so four: 1 + 2 · (1 + 2 + 4 + 8) = 31
assert 1 + 15 * 2 == 31
assert 1 + 2 * (1 + 2 + 4 + 8) == 31
