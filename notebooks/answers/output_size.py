def output_size(n, k, s, d, before, after):
    reach = (k - 1) * d + 1  # how many inputs the filter covers
    return (n + before + after - reach) // s + 1
