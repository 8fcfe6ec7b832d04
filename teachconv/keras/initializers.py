"""Initial weights. Keras: keras/src/initializers.

The distributions and their bounds are Keras'; the random numbers are NumPy's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf, prod, sqrt
from typing import Any

import numpy as np

from ..graph.framework.op_def import as_dtype
from ..graph.kernels.math_ops import truncated_normal
from ..support.errors import ArgumentError, ArgumentTypeError, brief, check_word, is_one_of
from ..support.memory import check_memory
from .checks import as_numpy, check_number, check_sizes, look_up
from .config import check_seed, floatx, next_seed

__all__ = [
    "Constant",
    "GlorotNormal",
    "GlorotUniform",
    "HeNormal",
    "HeUniform",
    "Initializer",
    "LecunNormal",
    "Ones",
    "Orthogonal",
    "RandomNormal",
    "RandomUniform",
    "VarianceScaling",
    "Zeros",
    "get",
]

# The standard deviation of a standard normal distribution that is cut off at -2 and 2.
_TRUNCATED_DEVIATION = 0.87962566103423978


class Initializer:
    """Makes the initial value of a weight when it is called with a shape and a dtype."""

    def __call__(self, shape: Sequence[int], dtype: Any = None) -> np.ndarray:
        """Return an array.

        Args:
            shape: its shape.
            dtype: its dtype; None for `teachconv.keras.config.floatx`.

        Returns:
            The initial value.

        Raises:
            ValueError, TypeError: if the shape is not valid.
            MemoryError: if the weight would not fit into memory.
        """
        wanted, sizes = as_dtype(dtype or floatx()), check_sizes(shape, "shape", known=True)
        check_memory(sizes, np.dtype(np.float64), "a weight")
        return self.values(sizes).astype(wanted, copy=False)

    def values(self, shape: tuple[int, ...]) -> np.ndarray:
        """Return the values in float64."""
        raise NotImplementedError


class Constant(Initializer):
    """The same value everywhere, or an array that fits the shape.

    Args:
        value: a number, or numbers that NumPy can broadcast to the shape.

    Raises:
        ValueError, TypeError: if they are not numbers, or do not fit the shape of the call.
    """

    def __init__(self, value: Any = 0.0):
        self.value = as_numpy(value, "value")
        if self.value.dtype.kind not in "iuf" and self.value.dtype.name != "bfloat16":
            raise ArgumentTypeError(f"value must be a number or an array of them; got {brief(value)}")

    def values(self, shape: tuple[int, ...]) -> np.ndarray:
        """Return the constant."""
        try:
            return np.broadcast_to(self.value, shape).astype(np.float64)
        except ValueError:
            raise ArgumentError(
                f"value of shape {list(self.value.shape)} must fit a weight of shape {list(shape)}"
            ) from None


class Zeros(Constant):
    """Zeros: the default for biases."""

    def __init__(self) -> None:
        super().__init__(0.0)


class Ones(Constant):
    """Ones: the default for the scale of a BatchNormalization."""

    def __init__(self) -> None:
        super().__init__(1.0)


class _Random(Initializer):
    """Random values: the same in each call if a seed is given, else determined by ``set_random_seed``."""

    def __init__(self, seed: int | None = None):
        self.seed = None if seed is None else check_seed(seed)

    def values(self, shape: tuple[int, ...]) -> np.ndarray:
        """Return random values."""
        return self.draw(np.random.default_rng(next_seed(self.seed)), shape)

    def draw(self, rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
        """Return random values drawn from ``rng``."""
        raise NotImplementedError


class RandomNormal(_Random):
    """A normal distribution."""

    def __init__(self, mean: float = 0.0, stddev: float = 0.05, seed: int | None = None):
        super().__init__(seed)
        self.mean, self.stddev = check_number(mean, "mean", -inf), check_number(stddev, "stddev", 0)

    def draw(self, rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
        """Return normal values."""
        return rng.normal(self.mean, self.stddev, shape)


class RandomUniform(_Random):
    """A uniform distribution."""

    def __init__(self, minval: float = -0.05, maxval: float = 0.05, seed: int | None = None):
        super().__init__(seed)
        self.minval = check_number(minval, "minval", -inf)
        self.maxval = check_number(maxval, "maxval", -inf)
        if self.maxval < self.minval:
            raise ArgumentError(f"minval must be at most maxval; got {self.minval} and {self.maxval}")

    def draw(self, rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
        """Return uniform values."""
        return rng.uniform(self.minval, self.maxval, shape)


class VarianceScaling(_Random):
    """Values of variance scale / n; n is the number of a weight's inputs or outputs, or the mean of both.

    It keeps the variance of the activations (fan_in) or of their gradients (fan_out) the same from layer to
    layer: X. Glorot and Y. Bengio, Understanding the difficulty of training deep feedforward neural networks,
    2010; K. He et al., Delving deep into rectifiers, 2015.

    Args:
        scale: the variance times n.
        mode: "fan_in", "fan_out" or "fan_avg", the mean of the two.
        distribution: "uniform", "truncated_normal" (cut off at two standard deviations) or
            "untruncated_normal".
        seed: an integer, or None for the next one of ``set_random_seed``.

    Raises:
        ValueError: if an argument is not one of these.

    >>> kernel = VarianceScaling(1.0, "fan_avg", "uniform", seed=0)((3, 3, 4, 8))     # glorot_uniform
    >>> fan_in, fan_out = 3 * 3 * 4, 3 * 3 * 8
    >>> bool(abs(kernel).max() <= (6 / (fan_in + fan_out)) ** 0.5)
    True
    """

    def __init__(
        self,
        scale: float = 1.0,
        mode: str = "fan_in",
        distribution: str = "truncated_normal",
        seed: int | None = None,
    ):
        super().__init__(seed)
        if not check_number(scale, "scale", 0):
            raise ArgumentError(f"scale must be positive; got {brief(scale)}")
        distribution = "truncated_normal" if is_one_of(distribution, ("normal",)) else distribution
        for name, value, legal in (
            ("mode", mode, ("fan_in", "fan_out", "fan_avg")),
            ("distribution", distribution, ("uniform", "truncated_normal", "untruncated_normal")),
        ):
            check_word(value, name, legal)
        self.scale, self.mode, self.distribution = scale, mode, distribution

    def draw(self, rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
        """Return values of the variance scale / n."""
        fan_in, fan_out = compute_fans(shape)
        n = {"fan_in": fan_in, "fan_out": fan_out, "fan_avg": (fan_in + fan_out) / 2}[self.mode]
        variance = self.scale / max(1.0, n)
        if self.distribution == "uniform":
            limit = sqrt(3 * variance)  # the variance of a uniform distribution is limit² / 3
            return rng.uniform(-limit, limit, shape)
        if self.distribution == "untruncated_normal":
            return rng.normal(0, sqrt(variance), shape)
        return truncated_normal(rng, shape) * (sqrt(variance) / _TRUNCATED_DEVIATION)


class _Fixed(VarianceScaling):
    """`VarianceScaling` of which only the seed is open; a subclass says ``scaling``, the other arguments."""

    _scaling: tuple[float, str, str]

    def __init_subclass__(cls, scaling: tuple[float, str, str], **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls._scaling = scaling

    def __init__(self, seed: int | None = None):
        super().__init__(*self._scaling, seed)


class GlorotUniform(_Fixed, scaling=(1.0, "fan_avg", "uniform")):
    """Uniform in ±sqrt(6 / (fan_in + fan_out)): the default for filters and matrices."""


class GlorotNormal(_Fixed, scaling=(1.0, "fan_avg", "truncated_normal")):
    """Truncated normal with variance 2 / (fan_in + fan_out)."""


class HeNormal(_Fixed, scaling=(2.0, "fan_in", "truncated_normal")):
    """Truncated normal with variance 2 / fan_in, for layers before a ReLU."""


class HeUniform(_Fixed, scaling=(2.0, "fan_in", "uniform")):
    """Uniform in ±sqrt(6 / fan_in), for layers before a ReLU."""


class LecunNormal(_Fixed, scaling=(1.0, "fan_in", "truncated_normal")):
    """Truncated normal with variance 1 / fan_in."""


class Orthogonal(_Random):
    """An orthogonal matrix times a gain: of a filter, all axes but the last are its rows.

    A. Saxe et al., Exact solutions to the nonlinear dynamics of learning in deep linear networks, 2014.
    The matrix is Q of the QR decomposition of normal values, with the signs of R's diagonal.

    Args:
        gain: the factor.
        seed: an integer, or None for the next one of ``set_random_seed``.

    Raises:
        ValueError, TypeError: if the gain is not a number, or the weight has fewer than two axes.

    >>> matrix = Orthogonal(seed=0)((4, 2))
    >>> bool(np.allclose(matrix.T @ matrix, [[1, 0], [0, 1]], atol=1e-6))
    True
    """

    def __init__(self, gain: float = 1.0, seed: int | None = None):
        super().__init__(seed)
        self.gain = check_number(gain, "gain", -inf)

    def draw(self, rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
        """Return the matrix."""
        if len(shape) < 2:
            raise ArgumentError(f"Orthogonal needs a weight of at least two axes; got shape {list(shape)}")
        sizes = prod(shape[:-1]), shape[-1]
        q, r = np.linalg.qr(rng.normal(size=(max(sizes), min(sizes))))
        q = q * np.sign(np.diag(r))
        return self.gain * (q if sizes[0] >= sizes[1] else q.T).reshape(shape)


def compute_fans(shape: Sequence[int]) -> tuple[int, int]:
    """Return the number of inputs and of outputs of a weight.

    Args:
        shape: [filter_rows, filter_cols, in_channels, out_channels], or [inputs, outputs].

    Returns:
        (fan_in, fan_out): each tap of a filter counts.

    >>> compute_fans((3, 3, 4, 8)), compute_fans((10, 5))
    ((36, 72), (10, 5))
    """
    if len(shape) < 2:
        only = shape[0] if shape else 1
        return only, only
    taps = prod(shape[:-2])
    return shape[-2] * taps, shape[-1] * taps


_BY_NAME: dict[str, type[Initializer]] = {
    "constant": Constant,
    "glorot_normal": GlorotNormal,
    "glorot_uniform": GlorotUniform,
    "he_normal": HeNormal,
    "he_uniform": HeUniform,
    "lecun_normal": LecunNormal,
    "ones": Ones,
    "orthogonal": Orthogonal,
    "random_normal": RandomNormal,
    "random_uniform": RandomUniform,
    "variance_scaling": VarianceScaling,
    "zeros": Zeros,
}


def get(identifier: Any) -> Callable[..., Any]:
    """Return an initializer, given by its name or as an object.

    Args:
        identifier: a name such as "glorot_uniform", an `Initializer`, its class, or a function of
            (shape, dtype).

    Returns:
        The initializer.

    Raises:
        ValueError, TypeError: if there is no such initializer.

    >>> get("he_normal")((2, 2)).shape
    (2, 2)
    """
    return initializer_of(identifier, "initializer")


def initializer_of(identifier: Any, argument: str) -> Callable[..., Any]:
    """Return what `get` returns; error messages call the identifier ``argument``."""
    return look_up(identifier, _BY_NAME, "initializer", argument)
