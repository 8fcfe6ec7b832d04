# answer: once for each signature: three times each, but what was traced before is kept
before = len(smooth.trace_log)
for size in (7, 8, 9):
    smooth(np.ones((1, size, size, 1), "float32"))
for times in (4, 5, 6):
    smooth(np.ones((1, 7, 7, 1), "float32"), times=times)
smooth(np.ones((1, 8, 8, 1), "float32"))  # again: not traced
assert len(smooth.trace_log) == before + 6
