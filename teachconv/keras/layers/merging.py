"""Layers that take several tensors, and the functions of the same names. Keras: keras/src/layers/merging."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce
from typing import Any

from ... import graph
from ...core.arguments import integer, listed
from ...support.errors import ArgumentError
from .layer import KerasTensor, Layer, Shape


class _Merging(Layer):
    """What both share: the input is a list of tensors with as many axes each."""

    _takes_several = True

    def compute_output_shape(self, input_shape: Any) -> Shape:
        """Return the shape of the output; raise unless the shapes of the inputs fit together."""
        if not isinstance(input_shape, list):
            raise ArgumentError("it takes a list of tensors, such as [x, y]")
        if len({len(shape) for shape in input_shape}) > 1:
            raise ArgumentError("all tensors must have the same number of axes")
        return self.merged(input_shape)

    def merged(self, shapes: Sequence[Shape]) -> Shape:
        """Return the shape of the output for inputs with as many axes each."""
        raise NotImplementedError


class _Elementwise(_Merging):
    """The result of a function of two tensors, applied from the first to the last."""

    _function: Any

    def __init__(self, **more: Any):
        super().__init__(**more)

    def merged(self, shapes: Sequence[Shape]) -> Shape:
        """Return the largest size of each axis; raise if two differ and neither is 1."""
        return tuple(map(_repeated, zip(*shapes, strict=True)))

    def call(self, inputs: Any, training: bool = False) -> Any:
        """Return the result."""
        return reduce(self._function, inputs)


class Add(_Elementwise):
    """Adds tensors element by element, as a residual connection does: an AddV2 node for each after the first.

    K. He et al., Deep residual learning for image recognition, 2016. A size of 1 is repeated.

    Args:
        **more: as in `Layer`.

    >>> from teachconv import keras
    >>> x = keras.Input((8, 8, 3))
    >>> keras.layers.Add()([x, keras.layers.Conv2D(3, 3, padding="same")(x)]).shape
    (None, 8, 8, 3)
    """

    _function = staticmethod(graph.add)


class Multiply(_Elementwise):
    """Multiplies tensors element by element, as a gate does: a Mul node for each after the first.

    Args:
        **more: as in `Layer`.

    >>> import numpy as np
    >>> from teachconv import keras
    >>> keras.layers.Multiply()([np.float32([[2, 3]]), np.float32([[5], [7]])]).numpy().tolist()
    [[10.0, 15.0], [14.0, 21.0]]
    """

    _function = staticmethod(graph.multiply)


def _repeated(sizes: Iterable[int | None]) -> int | None:
    found = set(sizes) - {1}
    known = found - {None}
    if len(known) > 1:
        raise ArgumentError(f"the sizes {sorted(known)} of an axis differ")  # type: ignore[type-var]
    return known.pop() if known else None if found else 1


class Concatenate(_Merging):
    """Joins tensors along an axis, as the skip connections of a U-Net do: one ConcatV2 node.

    O. Ronneberger et al., U-Net: convolutional networks for biomedical image segmentation, 2015.

    Args:
        axis: the axis, after the batch; -1 for the last, the channels.
        **more: as in `Layer`.

    Raises:
        ValueError, TypeError: if the axis is not an integer, or the other axes of the tensors differ.

    >>> from teachconv import keras
    >>> keras.layers.Concatenate()([keras.Input((8, 8, 3)), keras.Input((8, 8, 5))]).shape
    (None, 8, 8, 8)
    """

    def __init__(self, axis: int = -1, **more: Any):
        self.axis = integer(axis, "axis", "an integer")
        super().__init__(**more)

    def merged(self, shapes: Sequence[Shape]) -> Shape:
        """Return the sum of the sizes along the axis; raise if those of other axes differ."""
        axes = list(zip(*shapes, strict=True))
        if not -len(axes) <= self.axis < len(axes) or self.axis % len(axes) == 0:
            raise ArgumentError(f"axis {self.axis} must be one of the {len(axes)} axes, after the batch")
        joined = axes.pop(self.axis)
        others = [{*sizes} - {None} for sizes in axes]
        at = self.axis % (len(axes) + 1)
        for axis, sizes in enumerate(others):
            if len(sizes) > 1:
                raise ArgumentError(
                    f"all sizes except those of axis {self.axis} must match; axis {axis + (axis >= at)} has "
                    f"{listed(sorted(sizes), 'and')}"
                )
        result = [sizes.pop() if sizes else None for sizes in others]
        result.insert(at, None if None in joined else sum(joined))
        return tuple(result)

    def call(self, inputs: Any, training: bool = False) -> Any:
        """Return the node."""
        return graph.concat(inputs, self.axis)


def add(inputs: Sequence[Any], **more: Any) -> Any:
    """Return the sum of tensors, as a layer `Add` gives it.

    Args:
        inputs: a list of tensors.
        **more: as in `Layer`.

    Returns:
        The sum.
    """
    return Add(**more)(inputs)


def concatenate(inputs: Sequence[Any], axis: int = -1, **more: Any) -> Any:
    """Return tensors joined along an axis, as a layer `Concatenate` gives them.

    Args:
        inputs: a list of tensors.
        axis: the axis.
        **more: as in `Layer`.

    Returns:
        The joined tensor.
    """
    return Concatenate(axis, **more)(inputs)


def _sum(a: KerasTensor, b: Any) -> Any:
    """Return the sum of two tensors without values, which is the layer of that name, as in Keras."""
    return add([a, b]) if isinstance(b, KerasTensor) else a._no_operator()


KerasTensor.__add__ = KerasTensor.__radd__ = _sum  # type: ignore[assignment]
