import numpy as np


def is_adjoint(forward, backward, x, y):
    # == because the numbers are whole: each sum is exact. For others, see error_bound and tc.check_gradients
    return np.vdot(forward(x), y) == np.vdot(x, backward(y))
