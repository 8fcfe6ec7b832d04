"""``Model`` and ``Sequential``: layers one after the other. Keras: keras/src/models.

A model is one path: each layer takes the result of the one before. training has compile, fit and the
rest.
"""

from __future__ import annotations

from collections.abc import Sequence
from inspect import signature
from typing import Any

from ..errors import ArgumentError, ArgumentTypeError, brief, suggestion
from . import saving
from .checks import check_list
from .layers.core import InputLayer
from .layers.layer import KerasTensor, Layer, Shape
from .summary import Summary
from .training import Trainer

__all__ = ["Model", "Sequential"]

_WEIGHTS = "save_weights and load_weights keep the weights, and the program that builds the model its layers"
_NOT_HERE = {
    **dict.fromkeys(("save", "to_json", "get_config", "from_config"), _WEIGHTS),
    "export": "teachconv.to_onnx writes a model as an ONNX file",
    "test_on_batch": "evaluate gives the loss and the metrics of a batch",
    "predict_on_batch": "predict gives the outputs of a batch",
}


class Model(Trainer):
    """The layers from one ``Input`` to one output.

    Args:
        inputs: what ``Input`` returned, also in a list.
        outputs: what the last layer returned.
        name: its name; None makes one.

    Attributes:
        optimizer: what `compile` was given.
        loss: likewise.
        compiled: whether `compile` has been called.
        stop_training: set it in a callback to end the training.

    Raises:
        ValueError, TypeError: if no path of layers leads from the one to the other.

    >>> from teachconv import keras
    >>> images = keras.Input((8, 8, 1))
    >>> y = keras.layers.Conv2D(4, 3, activation="relu")(images)
    >>> model = keras.Model(images, keras.layers.Flatten()(y))
    >>> model.output_shape, [layer.name for layer in model.layers][1:] == [y.name, model.layers[2].name]
    ((None, 144), True)
    """

    def __init__(self, inputs: KerasTensor, outputs: KerasTensor, name: str | None = None):
        if isinstance(inputs, (list, tuple)) and len(inputs) == 1:  # such as model.inputs
            inputs = inputs[0]
        for argument, value in (("inputs", inputs), ("outputs", outputs)):
            if not isinstance(value, KerasTensor):
                raise ArgumentTypeError(
                    f"{argument} must be one tensor that Input or a layer returned: a model here is a single "
                    f"path; got {brief(value)}"
                )
        super().__init__(name=name, dtype=inputs.dtype)
        path, arguments, tensor = [outputs.layer], [outputs.arguments], outputs
        while tensor is not inputs:
            if tensor.source is None:
                raise ArgumentError(
                    f"outputs must come from inputs {brief(inputs.name)}; they come from {brief(tensor.name)}"
                )
            tensor = tensor.source
            path.append(tensor.layer)
            arguments.append(tensor.arguments)
        self._ends: tuple[KerasTensor, KerasTensor] | None = (inputs, outputs)
        self._path: list[Layer] = path[::-1]
        self._arguments = arguments[::-1]
        self.forget_functions()
        if not isinstance(self._path[0], InputLayer):
            raise ArgumentError(f"inputs must come from Input; got the result of layer {brief(inputs.name)}")
        self.build_for(inputs.shape)

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        for name in ("train_step", "test_step"):
            if name in vars(cls) and len(signature(vars(cls)[name]).parameters) < 3:
                raise ArgumentTypeError(
                    f"class {cls.__name__}: {name} takes (self, x, y) in teachconv.keras, not (self, data), "
                    "and returns the loss and the model's output"
                )
        if "call" in vars(cls):
            raise ArgumentTypeError(
                f"class {cls.__name__}: a model with a call of its own is not in teachconv.keras, where a "
                "model is one path of layers: use keras.Sequential([...]) or keras.Model(inputs, outputs), "
                "and put the code into a class of keras.layers.Layer"
            )

    def __getattr__(self, name: str) -> Any:
        if name in _NOT_HERE:
            raise AttributeError(f"keras.Model.{name} is not in teachconv.keras: {_NOT_HERE[name]}")
        return super().__getattr__(name)

    @property
    def layers(self) -> list[Layer]:
        """The layers, each once, first layer first; with the InputLayer, which a `Sequential` leaves out."""
        return list(dict.fromkeys(self._path))

    @property
    def input(self) -> KerasTensor:
        """The tensor without a value with which the model begins."""
        return self.inputs[0]

    @property
    def output(self) -> KerasTensor:
        """The tensor without a value with which the model ends."""
        return self.outputs[0]

    @property
    def inputs(self) -> list[KerasTensor]:
        """`input` in a list, as in Keras."""
        return [self._both_ends()[0]]

    @property
    def outputs(self) -> list[KerasTensor]:
        """`output` in a list, as in Keras."""
        return [self._both_ends()[1]]

    def _both_ends(self) -> tuple[KerasTensor, KerasTensor]:
        if self._ends is None:
            raise ArgumentError(f"model {brief(self.name)} has no inputs yet: its first layer needs an Input")
        return self._ends

    def get_layer(self, name: str | None = None, index: int | None = None) -> Layer:
        """Return a layer.

        Args:
            name: its name.
            index: or its position in `layers`.

        Returns:
            The layer.

        Raises:
            ValueError: if there is no such layer, or both or none are given.
        """
        if (name is None) == (index is None):
            raise ArgumentError(f"give either name or index; got {brief(name)} and {brief(index)}")
        layers = {layer.name: layer for layer in self.layers}
        if name is not None:
            if name not in layers:
                raise ArgumentError(
                    f"name must be one of {', '.join(layers) or 'no layers'}; got {brief(name)}"
                    f"{suggestion(name, layers)}"
                )
            return layers[name]
        if not -len(self.layers) <= index < len(self.layers):  # type: ignore[operator]
            raise ArgumentError(f"index must be below the number of layers, {len(self.layers)}; got {index}")
        return self.layers[index]  # type: ignore[index]

    # --- as a layer ------------------------------------------------------------------------------

    def build(self, input_shape: Shape | None = None) -> None:
        """Make the weights of all layers.

        Args:
            input_shape: the shape of the input, the batch first.

        Raises:
            ValueError: if a layer cannot take what the layer before returns; the message names it.
        """
        if not self._path:
            raise ArgumentError(f"model {brief(self.name)} has no layers: add one")
        shape: Any = input_shape
        for layer, arguments in zip(self._path, self._arguments, strict=True):
            shape = layer.build_for(shape, arguments)
        self.input_shape, self.output_shape, self.built = input_shape, shape, True

    def call(self, inputs: Any, training: bool = False) -> Any:
        """Return the result of the last layer."""
        for layer, arguments in zip(self._path, self._arguments, strict=True):
            inputs = layer(inputs, **{"training": training, **arguments})
        return inputs

    def compute_output_shape(self, input_shape: Shape) -> Shape:
        """Return the shape of the output."""
        for layer in self._path:
            input_shape = layer._explain(layer.compute_output_shape, input_shape)
        return input_shape

    def check_weights(self, input_shape: Shape) -> None:
        """Raise unless every layer's weights fit an input of this shape."""
        for layer in self._path:
            layer._explain(layer.check_weights, input_shape)
            input_shape = layer.compute_output_shape(input_shape)

    def geometries(self, input_shape: Shape) -> list[Any]:
        """Return the geometries of all layers, first layer first."""
        found = []
        for layer in self._path:
            found += layer.geometries(input_shape)
            input_shape = layer.compute_output_shape(input_shape)
        return found

    # --- weights ---------------------------------------------------------------------------------

    def save_weights(self, filepath: Any, overwrite: bool = True) -> None:
        """Write all weights to a file.

        Args:
            filepath: a path that ends in ".weights.npz", for NumPy, or ".safetensors", for which
                safetensors must be installed.
            overwrite: whether an existing file may be replaced.

        Raises:
            ValueError: if the model has no weights yet, or for another ending.
            FileExistsError: if the file exists and ``overwrite`` is false.
        """
        saving.save_weights(self, filepath, overwrite)

    def load_weights(self, filepath: Any) -> None:
        """Read all weights from a file that `save_weights` wrote; where one does not fit, none is changed.

        Args:
            filepath: the path.

        Raises:
            ValueError: if the names or shapes in the file differ from the model's.
        """
        saving.load_weights(self, filepath)

    def summary(self, *, print_fn: Any = None, show_trainable: bool = False, geometry: bool = False) -> None:
        """Print the layers, the shapes of their outputs and the numbers of their weights.

        Args:
            print_fn: called with the text; None for ``print``.
            show_trainable: whether to add a column that says what is trained.
            geometry: whether to add window, strides, padding and multiply-adds of each layer, and how much
                of the input one cell of its output sees.

        Raises:
            ValueError: if the model does not know the shape of its input yet.
        """
        if print_fn is not None and not callable(print_fn):
            raise ArgumentTypeError(f"print_fn must be a function; got {brief(print_fn)}")
        (print_fn or print)(str(Summary.of(self, show_trainable=show_trainable, geometry=geometry)))


class Sequential(Model):
    """A list of layers.

    Args:
        layers: the layers; the first may be an ``Input``, or have ``input_shape=``. Without either, the
            weights are made when the first data come.
        trainable: whether an optimizer may change the weights.
        name: its name; None makes one.

    Raises:
        ValueError, TypeError: if an item is no layer, or a layer cannot take what the one before returns.

    >>> from teachconv import keras
    >>> model = keras.Sequential([
    ...     keras.Input((8, 8, 1)), keras.layers.Conv2D(4, 3),
    ...     keras.layers.Flatten(), keras.layers.Dense(10)])
    >>> model.output_shape, model.count_params()
    ((None, 10), 1490)
    """

    def __init__(self, layers: Sequence[Any] | None = None, trainable: bool = True, name: str | None = None):
        Layer.__init__(self, name=name, trainable=trainable)
        self._path, self._arguments, self._ends = [], [], None
        for layer in check_list(layers, "layers", "layers"):
            self.add(layer)

    @property
    def layers(self) -> list[Layer]:
        """The layers without the InputLayer."""
        return [layer for layer in self._path if not isinstance(layer, InputLayer)]

    def add(self, layer: Any) -> None:
        """Add a layer after the last one.

        Args:
            layer: a layer, or for the first one what ``Input`` returned.

        Raises:
            ValueError, TypeError: if it is no layer, has a name that is taken, or cannot take what the last
                layer returns; the model is then unchanged.
        """
        if isinstance(layer, KerasTensor) and layer.source is None:
            layer = layer.layer
        if not isinstance(layer, Layer):
            raise ArgumentTypeError(
                f"layers must be layers, such as keras.layers.Dense(10); got {brief(layer)}"
            )
        if isinstance(layer, InputLayer) and self._path:
            raise ArgumentError("an Input must be the first of the layers")
        if layer.name in {other.name for other in self._path if other is not layer}:
            raise ArgumentError(
                f"the names of layers must differ; there is a layer {brief(layer.name)} already"
            )
        if self._ends is not None:
            self._ends = self._ends[0], layer(self._ends[1])
            self.output_shape = self._ends[1].shape
        elif self.output_shape is not None:  # built from data, without an Input
            self.output_shape = layer.build_for(self.output_shape)
        elif not self._path and layer.built and layer.input_shape is not None:
            begin = layer if isinstance(layer, InputLayer) else _input_of(layer)
            self._ends = begin.output, layer.output if begin is layer else layer(begin.output)
            self.input_shape, self.output_shape, self.built = layer.input_shape, layer.output_shape, True
            self.dtype = layer.dtype
        self._path.append(layer)
        self._arguments.append({})
        self.forget_functions()


def _input_of(layer: Layer) -> InputLayer:
    """Return the InputLayer of a first layer that knows the shape of its input."""
    assert layer.input_shape is not None
    return InputLayer(layer.input_shape[1:], layer.input_shape[0], dtype=layer.dtype)
