def output_padding(i, k, s, p, wanted):
    return wanted - ((i - 1) * s + k - 2 * p)
