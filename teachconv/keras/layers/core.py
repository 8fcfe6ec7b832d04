"""Input, Dense, the activations as layers, Dropout, Flatten, Reshape and UpSampling2D.

Keras: keras/src/layers/core, activations, regularization and reshaping.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import inf, prod
from types import MappingProxyType
from typing import Any

from ...core.arguments import normalize_steps, positive, truth
from ...core.geometry import conv2d_transpose_geometry
from ...graph import matmul, nn, reshape, shape, tile, transpose, where
from ...graph.options import check_type, unsupported
from ...support.errors import ArgumentError, brief, check_word
from .. import activations
from ..checks import check_number, check_sizes, shape_text
from ..random import SeedGenerator, uniform
from .layer import KerasTensor, Layer, Shape, size
from .pooling import check_data_format


class InputLayer(Layer):
    """Stands for the input of a model.

    Args:
        shape: the shape without the batch; None for a size that may vary.
        batch_size: the size of the batch, or None.
        **more: ``name`` and ``dtype``, as in `Layer`.
    """

    def __init__(self, shape: Sequence[int | None], batch_size: int | None = None, **more: Any):
        self.shape = check_sizes(shape, "shape")
        self.batch_size = None if batch_size is None else positive(batch_size, "batch_size")
        super().__init__(**more)
        self._node = self._results(self.build_for((self.batch_size, *self.shape)), None)

    def call(self, inputs: Any, training: bool = False) -> Any:
        """Return the input."""
        return inputs


def Input(  # noqa: N802 (Keras' name)
    shape: Sequence[int | None],
    batch_size: int | None = None,
    dtype: Any = None,
    *,
    name: str | None = None,
) -> KerasTensor:
    """Return the tensor with which a model begins.

    Args:
        shape: the shape of one sample, without the batch.
        batch_size: the size of the batch; None for any.
        dtype: the dtype; None for `teachconv.keras.config.floatx`.
        name: the name of the input.

    Returns:
        A ``KerasTensor``, which layers can be called on.

    Raises:
        TypeError: if ``shape`` is not a sequence.

    >>> from teachconv import keras
    >>> images = keras.Input((8, 8, 1))
    >>> scores = keras.layers.Dense(10)(keras.layers.Flatten()(images))
    >>> keras.Model(images, scores).count_params()
    650
    """
    return InputLayer(shape, batch_size, name=name, dtype=dtype)._node


class Dense(Layer):
    """Multiplies with a matrix that is learned: MatMul, BiasAdd and the activation.

    Args:
        units: the size of the last axis of the output.
        activation: "relu", "sigmoid", ..., a function, or None.
        use_bias: whether a bias is added.
        kernel_initializer: how the matrix begins; [inputs, units].
        bias_initializer: how the bias begins; [units].
        **more: as in `Layer`.

    Raises:
        ValueError, TypeError: if an argument is invalid.

    >>> from teachconv import keras
    >>> layer = keras.layers.Dense(2, kernel_initializer="ones")
    >>> layer([[1.0, 2.0, 3.0]]).numpy().tolist()
    [[6.0, 6.0]]
    """

    _casts_integers = True
    activation = activations.Replaceable()

    def __init__(
        self,
        units: int,
        activation: Any = None,
        use_bias: bool = True,
        kernel_initializer: Any = "glorot_uniform",
        bias_initializer: Any = "zeros",
        **more: Any,
    ):
        self.units = positive(units, "units")
        self.activation = activation
        self.use_bias = truth(use_bias, "use_bias")
        self.kernel_initializer, self.bias_initializer = kernel_initializer, bias_initializer
        super().__init__(**more)

    def build(self, input_shape: Shape) -> None:
        """Make the matrix and the bias."""
        self.kernel = self.add_weight((input_shape[-1], self.units), self.kernel_initializer, name="kernel")  # type: ignore[arg-type]
        self.bias = (
            self.add_weight((self.units,), self.bias_initializer, name="bias") if self.use_bias else None
        )

    def check_weights(self, input_shape: Shape) -> None:
        """Raise unless the last axis has the size that the matrix was made for."""
        if input_shape[-1] != self.kernel.shape[0]:
            raise ArgumentError(f"its kernel was made for a last axis of {self.kernel.shape[0]}")

    def compute_output_shape(self, input_shape: Shape) -> Shape:
        """Return the input's shape with ``units`` as its last size."""
        if len(input_shape) < 2 or input_shape[-1] is None:
            raise ArgumentError("it needs at least 2 axes, and a last one of known size")
        return (*input_shape[:-1], self.units)

    def call(self, inputs: Any, training: bool = False) -> Any:
        """Return activation(inputs @ kernel + bias); an input of more axes is a batch of vectors."""
        axes = tuple(inputs.shape)
        rows = inputs if len(axes) == 2 else reshape(inputs, [-1, axes[-1]])
        outputs = matmul(rows, self.kernel)
        if self.bias is not None:
            outputs = nn.bias_add(outputs, self.bias)
        if len(axes) > 2:
            outputs = reshape(outputs, [*(size(inputs, axis) for axis in range(len(axes) - 1)), self.units])
        return self.activation(outputs)


class Activation(Layer):
    """Applies an activation function.

    Args:
        activation: "relu", "sigmoid", ..., or a function.
        **more: as in `Layer`.
    """

    activation = activations.Replaceable()

    def __init__(self, activation: Any, **more: Any):
        self.activation = activation
        super().__init__(**more)

    def call(self, inputs: Any, training: bool = False) -> Any:
        """Return the function of the input."""
        return self.activation(inputs)


class ReLU(Activation):
    """Replaces negative values by zero: one Relu node.

    Args:
        max_value, negative_slope, threshold: must have Keras' defaults, which change nothing.
        **more: as in `Layer`.
    """

    def __init__(
        self, max_value: float | None = None, negative_slope: float = 0.0, threshold: float = 0.0, **more: Any
    ):
        given = max_value, negative_slope, threshold
        zero = all(isinstance(value, (int, float)) and value == 0 for value in given[1:])
        if max_value is not None or not zero:
            raise ArgumentError(
                "ReLU is the plain one here: leave out max_value, negative_slope and threshold; got "
                f"{', '.join(map(brief, given))}"
            )
        super().__init__("relu", **more)


class LeakyReLU(Layer):
    """Multiplies negative values by a small slope, so that their gradient is not zero.

    A. Maas et al., Rectifier nonlinearities improve neural network acoustic models, 2013.

    Args:
        negative_slope: the slope, not negative; rounded to float32. Its former name ``alpha`` also works.
        **more: as in `Layer`.

    Raises:
        ValueError, TypeError: if it is not such a number.

    >>> from teachconv import keras
    >>> keras.layers.LeakyReLU(0.5)([[-2.0, 3.0]]).numpy().tolist()
    [[-1.0, 3.0]]
    """

    def __init__(self, negative_slope: float = 0.3, **more: Any):
        given = more.pop("alpha", negative_slope)
        self.negative_slope = check_number(given, "negative_slope", 0)
        super().__init__(**more)

    def call(self, inputs: Any, training: bool = False) -> Any:
        """Return the function of the input."""
        return activations.leaky_relu(inputs, self.negative_slope)


class ELU(Layer):
    """Replaces negative values by alpha * (exp(x) - 1): one Elu node if alpha is 1.

    D. Clevert et al., Fast and accurate deep network learning by exponential linear units, 2016.

    Args:
        alpha: large negative values approach -alpha.
        **more: as in `Layer`.

    Raises:
        ValueError, TypeError: if it is not a number.
    """

    def __init__(self, alpha: float = 1.0, **more: Any):
        self.alpha = check_number(alpha, "alpha", -inf)
        super().__init__(**more)

    def call(self, inputs: Any, training: bool = False) -> Any:
        """Return the function of the input."""
        return activations.elu(inputs, self.alpha)


class Softmax(Activation):
    """Turns the last axis into probabilities: one Softmax node.

    Args:
        axis: -1, the last axis.
        **more: as in `Layer`.
    """

    def __init__(self, axis: int = -1, **more: Any):
        check_word(axis, "axis", (-1,))
        super().__init__("softmax", **more)


class Dropout(Layer):
    """While training, sets a part of its input to zero and multiplies the rest by 1 / (1 - rate).

    N. Srivastava et al., Dropout: a simple way to prevent neural networks from overfitting, 2014. Outside of
    training it returns its input, so that the expected values are the same.

    Args:
        rate: the probability of zero, from 0 to 1.
        seed: an integer, or None for the next one of ``set_random_seed``.
        **more: as in `Layer`.

    Raises:
        ValueError: if ``rate`` is out of range.

    >>> import numpy as np
    >>> from teachconv import keras
    >>> layer = keras.layers.Dropout(0.5, seed=1)
    >>> x = np.ones((1, 1000), "float32")
    >>> layer(x).numpy().max(), sorted(set(layer(x, training=True).numpy()[0].tolist()))
    (np.float32(1.0), [0.0, 2.0])
    """

    def __init__(self, rate: float, *, seed: int | None = None, **more: Any):
        self.rate = check_number(rate, "rate", 0, 1)
        self._seeds = SeedGenerator(seed)
        self.seed = self._seeds.seed
        super().__init__(**more)

    def call(self, inputs: Any, training: bool = False) -> Any:
        """Return the input, or a part of it while training."""
        if not training or not self.rate:
            return inputs
        kept = uniform(shape(inputs), dtype=inputs.dtype, seed=self._seeds) >= self.rate
        return where(kept, inputs * (1 / (1 - self.rate) if self.rate < 1 else 0.0), 0)


class Flatten(Layer):
    """Makes one vector of each sample, row by row, the channels innermost.

    Args:
        data_format: "channels_last", or "channels_first", whose channels are moved last before.
        **more: as in `Layer`.

    >>> from teachconv import keras
    >>> keras.layers.Flatten(input_shape=(4, 4, 32)).output_shape
    (None, 512)
    """

    def __init__(self, data_format: str | None = None, **more: Any):
        self.data_format = check_data_format(data_format)
        super().__init__(**more)

    def compute_output_shape(self, input_shape: Shape) -> Shape:
        """Return the batch and the number of elements of a sample, None if a size is unknown."""
        return input_shape[0], _product(input_shape[1:])

    def call(self, inputs: Any, training: bool = False) -> Any:
        """Return a Reshape node."""
        axes = tuple(inputs.shape)
        if self.data_format == "channels_first" and len(axes) > 2:
            inputs = transpose(inputs, [0, *range(2, len(axes)), 1])
        elements = _product(axes[1:])
        return reshape(inputs, [size(inputs, 0), -1] if elements is None else [-1, elements or 1])


class Reshape(Layer):
    """Gives each sample another shape.

    Args:
        target_shape: the shape without the batch; one size may be -1 and is then derived.
        **more: as in `Layer`.

    Raises:
        ValueError: if the number of elements differs.

    >>> from teachconv import keras
    >>> keras.layers.Reshape((2, -1), input_shape=(3, 4)).output_shape
    (None, 2, 6)
    """

    def __init__(self, target_shape: Sequence[int], **more: Any):
        self.target_shape = check_sizes(target_shape, "target_shape", least=-1)
        if self.target_shape.count(-1) > 1:
            raise ArgumentError(f"target_shape may hold -1 once; got {brief(target_shape)}")
        super().__init__(**more)

    def compute_output_shape(self, input_shape: Shape) -> Shape:
        """Return the batch and the target shape; with unknown sizes, -1 stands for an unknown one too."""
        elements = _product(input_shape[1:])
        if elements is None:
            return input_shape[0], *(None if n == -1 else n for n in self.target_shape)
        known = prod(n for n in self.target_shape if n != -1)
        fits = elements % max(known, 1) == 0 if -1 in self.target_shape else elements == known
        if not fits:
            raise ArgumentError(
                f"{elements} elements do not fill target_shape {shape_text(self.target_shape)}"
            )
        return input_shape[0], *(elements // known if n == -1 else n for n in self.target_shape)

    def call(self, inputs: Any, training: bool = False) -> Any:
        """Return a Reshape node."""
        sizes = self.compute_output_shape(tuple(inputs.shape))[1:]
        return reshape(inputs, [size(inputs, 0), *self.target_shape] if None in sizes else [-1, *sizes])


class Permute(Layer):
    """Gives the axes of each sample another order: one Transpose node.

    Args:
        dims: the axes in their new order, counted from 1, the first after the batch.
        **more: as in `Layer`.

    Raises:
        ValueError: if they are not the numbers from 1, each once.

    >>> from teachconv import keras
    >>> keras.layers.Permute((2, 1), input_shape=(10, 64)).output_shape
    (None, 64, 10)
    """

    def __init__(self, dims: Sequence[int], **more: Any):
        self.dims = check_sizes(dims, "dims", 1, known=True)
        if sorted(self.dims) != [*range(1, len(self.dims) + 1)]:
            raise ArgumentError(f"dims must hold the axes from 1, each once; got {brief(dims)}")
        super().__init__(**more)

    def compute_output_shape(self, input_shape: Shape) -> Shape:
        """Return the sizes in the new order."""
        if len(input_shape) != len(self.dims) + 1:
            raise ArgumentError(f"dims {self.dims} needs {len(self.dims) + 1} axes, not {len(input_shape)}")
        return input_shape[0], *(input_shape[axis] for axis in self.dims)

    def call(self, inputs: Any, training: bool = False) -> Any:
        """Return the node."""
        return transpose(inputs, [0, *self.dims])


class Lambda(Layer):
    """Applies a function of tensors, without weights; the shape of its result is found by a trace.

    Args:
        function: a function of a tensor, or of a list of them.
        output_shape: accepted as in Keras.
        mask: must be None.
        arguments: what else the function is given by keyword.
        **more: as in `Layer`.

    Raises:
        ValueError, TypeError: if an argument is invalid.

    >>> from teachconv import keras
    >>> layer = keras.layers.Lambda(lambda x, scale: x * scale, arguments={"scale": 2.0})
    >>> layer([[1.0, 3.0]]).numpy().tolist()
    [[2.0, 6.0]]
    """

    _own_call = True

    @unsupported("mask")
    def __init__(
        self,
        function: Any,
        output_shape: Any = None,
        mask: Any = None,
        arguments: Mapping[str, Any] | None = None,
        **more: Any,
    ):
        check_type(function, Callable, "function must be a function of a tensor")
        legal = "arguments must be a dict of the function's other arguments by name"
        check_type(arguments, Mapping | None, legal)
        for name in arguments or {}:
            check_type(name, str, legal)
        self.function, self.arguments = function, MappingProxyType(dict(arguments or {}))
        super().__init__(**more)

    def call(self, inputs: Any, training: bool = False) -> Any:
        """Return the function's result."""
        return self.function(inputs, **self.arguments)


class UpSampling2D(Layer):
    """Repeats rows and columns, as Keras' ``repeat``: one Tile node between two Reshape nodes.

    Followed by a Conv2D it enlarges an image without the checkerboard of a transposed convolution.

    Args:
        size: an int or (rows, cols): how often each is repeated.
        data_format: as in `Conv2D`.
        interpolation: must be "nearest"; Keras has others.
        **more: as in `Layer`.

    Raises:
        ValueError, TypeError: if an argument is invalid.

    >>> from teachconv import keras
    >>> keras.layers.UpSampling2D((1, 2))([[[[1.0], [2.0]]]]).numpy().ravel().tolist()
    [1.0, 1.0, 2.0, 2.0]
    """

    def __init__(
        self, size: Any = (2, 2), data_format: str | None = None, interpolation: str = "nearest", **more: Any
    ):
        self.size = normalize_steps(size, "size")
        self.data_format = check_data_format(data_format)
        check_word(interpolation, "interpolation", ("nearest",))
        super().__init__(**more)

    def compute_output_shape(self, input_shape: Shape) -> Shape:
        """Return the shape with more rows and columns."""
        if len(input_shape) != 4:
            raise ArgumentError(f"it needs 4 axes, not {len(input_shape)}")
        first = 1 if self.data_format == "channels_last" else 2
        times = dict(enumerate(self.size, first))
        return tuple(size and size * times.get(axis, 1) for axis, size in enumerate(input_shape))

    def geometries(self, input_shape: Shape) -> list[Any]:
        """Return the geometry of the transposed convolution that does the same, its filter all ones."""
        last = self.data_format == "channels_last"
        rows, cols = input_shape[1:3] if last else input_shape[2:4]
        if rows is None or cols is None:
            return []
        return [conv2d_transpose_geometry((1, rows, cols, 1), (*self.size, 1, 1), None, self.size, "VALID")]

    def call(self, inputs: Any, training: bool = False) -> Any:
        """Return a Tile node, between two Reshape nodes that give rows and columns an axis of copies."""
        first = 1 if self.data_format == "channels_last" else 2
        sizes = [size(inputs, axis) for axis in range(4)]
        before, (rows, cols), after = sizes[:first], sizes[first : first + 2], sizes[first + 2 :]
        up, across = self.size
        times = [*[1] * first, 1, up, 1, across, *[1] * len(after)]
        copies = tile(reshape(inputs, [*before, rows, 1, cols, 1, *after]), times)
        return reshape(copies, [*before, rows * up, cols * across, *after])


def _product(sizes: Sequence[int | None]) -> int | None:
    return None if None in sizes else prod(sizes)  # type: ignore[arg-type]
