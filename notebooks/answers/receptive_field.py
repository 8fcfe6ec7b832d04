def receptive_field(layers):
    size = 1
    for k, s, d in reversed(layers):
        size = (size - 1) * s + (k - 1) * d + 1
    return size
