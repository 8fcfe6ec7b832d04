def bias_gradient(dy, z):
    dz = dy * (z > 0)
    return dz.sum(axis=(0, 1, 2))
