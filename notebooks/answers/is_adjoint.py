import numpy as np


def is_adjoint(forward, backward, x, y):
    return np.vdot(forward(x), y) == np.vdot(x, backward(y))
