"""A solution of the assignment "a port"."""

import numpy as np
from network import EPSILON, WEIGHTS

from teachconv.dialects import torch as F  # noqa: N812 (as PyTorch's users write it)


def _padded(x, k, s):
    """Zeros as TensorFlow's SAME adds them."""
    pads = []
    for n in x.shape[2:]:
        total = max(0, (-(-n // s) - 1) * s + k - n)
        pads.append((total // 2, total - total // 2))
    return np.pad(x, [(0, 0), (0, 0), *pads])


def stem(x):
    """SAME at stride 2 is not symmetric: pad first."""
    return F.conv2d(_padded(x, 7, 2), WEIGHTS["stem"].transpose(3, 2, 0, 1), stride=2)


def depthwise(x):
    """[rows, cols, channels, multiplier] becomes [channels * multiplier, 1, rows, cols]."""
    w = WEIGHTS["depthwise"]
    weight = w.reshape(*w.shape[:2], 1, -1).transpose(3, 2, 0, 1)
    return F.conv2d(_padded(x, 3, 2), weight, stride=2, groups=w.shape[2])


def mix(x):
    """A 1 x 1 layer."""
    return F.conv2d(x, WEIGHTS["mix"].transpose(3, 2, 0, 1))


def normalised(x):
    """TensorFlow's epsilon, not PyTorch's."""
    w = WEIGHTS
    scale = w["gamma"] / np.sqrt(w["variance"] + EPSILON)
    return np.maximum((x - w["mean"][:, None, None]) * scale[:, None, None] + w["beta"][:, None, None], 0)


def pooled(x):
    """TensorFlow does not count the padding."""
    return F.avg_pool2d(x, 3, 1, 1, count_include_pad=False)


def up(x):
    """The full result, of which TensorFlow's SAME keeps the beginning."""
    full = F.conv_transpose2d(x, WEIGHTS["up"].transpose(3, 2, 0, 1), stride=2)
    return full[:, :, : 2 * x.shape[2], : 2 * x.shape[3]]
