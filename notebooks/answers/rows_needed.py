def rows_needed(first, last, n, k, s, before):
    start = first * s - before
    stop = (last - 1) * s - before + k
    return max(0, start), min(n, stop)
