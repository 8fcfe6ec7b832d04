"""Port network.py to PyTorch's words: fill in the six steps, each from the output of the one before.

Arrays are in PyTorch's layout [batch, channels, rows, cols]; the weights are yours to convert. Use the
functions of `F`, which have PyTorch's names, arguments and numbers; if PyTorch is installed,
torch.nn.functional will do too.
python check_port.py says what is wrong with each step.
"""

import numpy as np
from network import EPSILON, WEIGHTS  # noqa: F401 (for you)

from teachconv.dialects import torch as F  # noqa: N812, F401 (as PyTorch's users write it)


def stem(x: np.ndarray) -> np.ndarray:
    """A 7 x 7 layer at stride 2."""
    raise NotImplementedError


def depthwise(x: np.ndarray) -> np.ndarray:
    """Two filters of 3 x 3 for each channel, at stride 2."""
    raise NotImplementedError


def mix(x: np.ndarray) -> np.ndarray:
    """A 1 x 1 layer."""
    raise NotImplementedError


def normalised(x: np.ndarray) -> np.ndarray:
    """Batch normalisation with stored statistics, and a relu."""
    raise NotImplementedError


def pooled(x: np.ndarray) -> np.ndarray:
    """Means of 3 x 3 cells; at the border, of those that are inside."""
    raise NotImplementedError


def up(x: np.ndarray) -> np.ndarray:
    """A transposed layer that doubles rows and cols."""
    raise NotImplementedError
