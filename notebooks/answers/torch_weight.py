def torch_weight(w):
    return w.transpose(3, 2, 0, 1)
