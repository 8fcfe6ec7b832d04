"""``Model`` and its two kinds: ``Functional``, of tensors between layers; ``Sequential``, a list of layers.

Keras: keras/src/models. training has compile, fit and the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..graph.options import check_type, unsupported
from ..support.errors import ArgumentError, brief, plain, suggestion
from . import saving
from .checks import check_list
from .layers.core import InputLayer
from .layers.layer import KerasTensor, Layer, Shape, as_list, shape_of
from .metrics import Mean
from .summary import Summary, sees
from .training import Trainer

__all__ = ["Model", "Sequential", "clone_model"]

_WEIGHTS = (
    "save_weights('model.weights.npz') keeps the weights; the program builds the model again and calls "
    "load_weights"
)
_NOT_HERE = {
    **dict.fromkeys(("save", "to_json"), _WEIGHTS),
    "export": "teachconv.to_onnx writes a model as an ONNX file",
    "predict_on_batch": "predict gives the outputs of a batch",
}


class Model(Trainer):
    """The layers from inputs to outputs; or the base of a class of your own, which has layers and a ``call``.

    A class of your own may also override `train_step`, `test_step` and `compute_loss`.

    Args:
        inputs: what ``Input`` returned, also in a list; None for a class with a ``call`` of its own.
        outputs: what the last layer returned, or a list of such tensors, which is then what a call returns.
        name: its name; None makes one.
        **more: ``trainable`` and ``dtype``, as in `teachconv.keras.Layer`.

    Attributes:
        optimizer: what `compile` was given.
        loss: likewise.
        compiled_metrics: the metrics of `compile`, together.
        compiled: whether `compile` has been called.
        stop_training: set it in a callback to end the training.

    Raises:
        ValueError, TypeError: if the outputs cannot be computed from the inputs.

    >>> from teachconv import keras
    >>> images = keras.Input((8, 8, 1))
    >>> y = keras.layers.Conv2D(1, 3, padding="same")(images)
    >>> model = keras.Model(images, keras.layers.Add()([images, y]))
    >>> model.output_shape, len(model.layers)
    ((None, 8, 8, 1), 3)

    >>> class Scores(keras.Model):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.flatten, self.scores = keras.layers.Flatten(), keras.layers.Dense(10)
    ...     def call(self, images):
    ...         return self.scores(self.flatten(images))
    >>> Scores()([[[1.0, 2.0], [3.0, 4.0]]]).shape
    TensorShape([1, 10])
    """

    def __init__(self, inputs: Any = None, outputs: Any = None, name: str | None = None, **more: Any):
        if inputs is not None or outputs is not None:  # a Functional too, as in Keras
            own = type(self)
            self.__class__ = Functional if own is Model else type(own.__name__, (own, Functional), {})
            Functional.__init__(self, inputs, outputs, name, **more)  # type: ignore[arg-type]
            return
        super().__init__(name=name, **more)
        self._loss_tracker = Mean("loss")
        self.forget_functions()

    def __getattr__(self, name: str) -> Any:
        if name in _NOT_HERE:
            raise AttributeError(f"keras.Model.{name} is not in teachconv.keras: {_NOT_HERE[name]}")
        return super().__getattr__(name)

    @property
    def layers(self) -> list[Layer]:
        """The layers, each once, in the order of the attributes that hold them."""
        return self._sublayers

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

    def build(self, input_shape: Any = None) -> None:
        """Make the weights of all layers, by a trace of ``call``.

        Args:
            input_shape: the shape of the input, the batch first.

        Raises:
            ValueError: if a layer cannot take what it is given; the message names it.
        """
        self.output_shape = self._shape_of_call(input_shape, {})

    def as_functional(self) -> Functional:
        """Return the model as layers and the tensors between them.

        Raises:
            ValueError: if its ``call`` uses more than layers.
        """
        several = isinstance(self.input_shape, list)
        inputs = [_input_of(shape, self.dtype, "input").output for shape in as_list(self.input_shape)]
        try:
            return Functional(inputs, self.call(inputs if several else inputs[0]), name=self.name)
        except Exception as error:  # whatever the code of a user raises for a tensor without a value
            raise ArgumentError(
                f"model {brief(self.name)}: its call must use layers alone; {plain(error)}"
            ) from error

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
        """Read all weights from a file that `save_weights` wrote; if one does not fit, none is changed.

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
        check_type(print_fn, Callable | None, "print_fn must be a function")
        (print_fn or print)(str(Summary.of(self, show_trainable=show_trainable, geometry=geometry)))

    def __repr__(self) -> str:
        return str(Summary.of(self, geometry=True)) if self.input_shape else super().__repr__()

    def _repr_html_(self) -> str | None:
        return Summary.of(self, geometry=True)._repr_html_() if self.input_shape else None


class Functional(Model):
    """What `Model` makes of inputs and outputs: a graph of layers."""

    _takes_several = True

    def __init__(self, inputs: Any, outputs: Any, name: str | None = None, **more: Any):
        inputs, outputs = (list(ends) if isinstance(ends, tuple) else ends for ends in (inputs, outputs))
        for argument, values in (("inputs", as_list(inputs)), ("outputs", as_list(outputs))):
            for value in values or [None]:
                check_type(value, KerasTensor, f"{argument} must be tensors that Input or a layer returned")
        super().__init__(name=name, **{"dtype": as_list(inputs)[0].dtype, **more})
        self._layers = self._connect_ends(inputs, outputs)

    def _connect_ends(self, inputs: Any, outputs: Any) -> list[Layer]:
        """Set where the model begins and ends; return the layers between."""
        begin, end = (
            list(ends) if len(as_list(ends)) > 1 else as_list(ends)[0] for ends in (inputs, outputs)
        )
        self._steps, layers = _map_graph(as_list(begin), as_list(end))
        self._ends: tuple[Any, Any] | None = (begin, end)
        self.input_shape, self.output_shape, self.built = shape_of(begin), shape_of(end), True
        return layers

    @property
    def layers(self) -> list[Layer]:
        """The layers, each once, in Keras' order: each after the layers whose results it takes."""
        return self._layers

    @property
    def input(self) -> Any:
        """The tensor without a value with which the model begins, or a list of them."""
        return self._both_ends()[0]

    @property
    def output(self) -> Any:
        """The tensor without a value with which the model ends, or a list of them."""
        return self._both_ends()[1]

    @property
    def inputs(self) -> list[KerasTensor]:
        """The tensors without a value with which the model begins."""
        return as_list(self._both_ends()[0])

    @property
    def outputs(self) -> list[KerasTensor]:
        """The tensors without a value with which the model ends."""
        return as_list(self._both_ends()[1])

    def _both_ends(self) -> tuple[Any, Any]:
        if self._ends is None:
            raise ArgumentError(f"model {brief(self.name)} has no inputs yet: its first layer needs an Input")
        return self._ends

    def as_functional(self) -> Functional:
        """Return the model itself."""
        return self

    def get_config(self) -> dict[str, Any]:
        """Raise: the configuration of a functional model is not supported."""
        raise ArgumentError(f"get_config of a model is not in teachconv.keras: {_WEIGHTS}")

    def walk(self, inputs: Any, step: Callable[[KerasTensor, Any], Any]) -> Any:
        """Evaluate the graph of layers: return values for the outputs, given values for the inputs.

        Args:
            inputs: the value of the input, or a list with one value for each input.
            step: called for each call of a layer in order, with a tensor that it returns and the value, or
                list of values, of the layer's inputs; returns the value of the tensor, or of all siblings.

        Returns:
            The value of the output, or a list of the outputs' values.
        """
        begin, count = as_list(inputs), len(self.inputs)
        if len(begin) != count:
            raise ArgumentError(f"model {brief(self.name)} takes {count} tensors in a list; got {len(begin)}")
        found = dict(zip(map(id, self.inputs), begin, strict=True))
        for tensor in self._steps:
            if id(tensor) in found:  # another tensor of the same call has come before
                continue
            given = [found[id(source)] for source in tensor.sources]
            value = step(tensor, given if isinstance(tensor.source, list) else given[0])
            values = value if len(tensor.siblings) > 1 else [value]
            for each, value in zip(tensor.siblings, values, strict=True):
                found.setdefault(id(each), value)  # where one is an input of the model, that is kept
        outputs = [found[id(tensor)] for tensor in self.outputs]
        return outputs if isinstance(self.output, list) else outputs[0]

    def call(self, inputs: Any, training: bool = False) -> Any:
        """Return the result of the last layer."""
        return self.walk(
            inputs,
            lambda tensor, source: tensor.layer(source, **{"training": training, **tensor.arguments}),
        )

    def compute_output_shape(self, input_shape: Any) -> Any:
        """Return the shape of the output."""
        return self.walk(
            input_shape,
            lambda tensor, source: tensor.layer._explain(tensor.layer.compute_output_shape, source),
        )

    def check_weights(self, input_shape: Any) -> None:
        """Raise unless every layer's weights fit an input of this shape."""

        def check(tensor: KerasTensor, source: Any) -> Any:
            tensor.layer._explain(tensor.layer.check_weights, source)
            return tensor.layer.compute_output_shape(source)

        self.walk(input_shape, check)

    def geometries(self, input_shape: Any) -> list[Any]:
        """Return the geometries of the layers from input to output, on the branch that sees most."""
        found: dict[int, list[Any]] = {id(tensor): [] for tensor in self.inputs}

        def shape(tensor: KerasTensor, source: Any) -> Any:
            before = max((found[id(each)] for each in tensor.sources), key=sees)
            found.update(dict.fromkeys(map(id, tensor.siblings), before + tensor.layer.geometries(source)))
            return tensor.layer.compute_output_shape(source)

        self.walk(input_shape, shape)
        return found[id(self.outputs[0])]


class Sequential(Functional):
    """A list of layers.

    Args:
        layers: the layers; the first may be an ``Input``, or have ``input_shape=``. Without either, the
            weights are made when the first data come.
        trainable: whether an optimizer may change the weights.
        name: its name; None makes one.

    Raises:
        ValueError, TypeError: if an item is not a layer, or a layer cannot take the previous one's output.

    >>> from teachconv import keras
    >>> model = keras.Sequential([
    ...     keras.Input((8, 8, 1)), keras.layers.Conv2D(4, 3),
    ...     keras.layers.Flatten(), keras.layers.Dense(10)])
    >>> model.output_shape, model.count_params()
    ((None, 10), 1490)
    """

    def __init__(self, layers: Sequence[Any] | None = None, trainable: bool = True, name: str | None = None):
        Model.__init__(self, name=name, trainable=trainable)
        self._layers, self._steps, self._ends = [], [], None
        for layer in check_list(layers, "layers", "layers"):
            self.add(layer)

    @property
    def layers(self) -> list[Layer]:
        """The layers without the InputLayer."""
        return [layer for layer in self._layers if not isinstance(layer, InputLayer)]

    def add(self, layer: Any) -> None:
        """Add a layer after the last one.

        Args:
            layer: a layer, or for the first one what ``Input`` returned.

        Raises:
            ValueError, TypeError: if it is not a layer, its name is taken, or it cannot take the last
                layer's output; the model is then unchanged.
        """
        if isinstance(layer, KerasTensor) and layer.source is None:
            layer = layer.layer
        check_type(layer, Layer, "layers must be layers, such as keras.layers.Dense(10)")
        if isinstance(layer, InputLayer) and self._layers:
            raise ArgumentError("an Input must be the first of the layers")
        if layer.name in {other.name for other in self._layers if other is not layer}:
            raise ArgumentError(
                f"the names of layers must differ; there is a layer {brief(layer.name)} already"
            )
        if self._ends is not None:
            self._connect_ends(self.input, layer(self.output))
        elif not self._layers and layer.built and layer.input_shape is not None:
            begin = layer if isinstance(layer, InputLayer) else _input_of(layer.input_shape, layer.dtype)
            self._connect_ends(begin.output, layer.output if begin is layer else layer(begin.output))
            self.dtype = layer.dtype
        self._layers.append(layer)
        self.forget_functions()

    def pop(self) -> Layer:
        """Take the last layer away; return it."""
        *layers, last = self._layers
        self._layers, self._steps, self._ends = [], [], None
        for layer in layers:
            self.add(layer)
        return last

    def build(self, input_shape: Any = None) -> None:
        """Make the weights of all layers.

        Args:
            input_shape: the shape of the input, the batch first.

        Raises:
            ValueError: if a layer cannot take what the layer before returns; the message names it.
        """
        if not self._layers:
            raise ArgumentError(f"model {brief(self.name)} has no layers: add one")
        begin = output = _input_of(input_shape, self.dtype).output
        for layer in self._layers:
            output = layer(output)
        self._connect_ends(begin, output)

    def compute_output_shape(self, input_shape: Any) -> Any:
        """Return the shape of the output; before the weights are made, that of the input."""
        return input_shape if self._ends is None else super().compute_output_shape(input_shape)


@unsupported("input_tensors", "clone_function", "call_function")
def clone_model(
    model: Any,
    input_tensors: Any = None,
    clone_function: Any = None,
    call_function: Any = None,
    recursive: bool = False,
) -> Model:
    """Return a new model with layers like those of a model, and new weights.

    Args:
        model: the model, with an Input.
        input_tensors, clone_function, call_function: must be None.
        recursive: accepted as in Keras; models within the model are cloned, too.

    Returns:
        The model.

    >>> from teachconv import keras
    >>> model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(2)])
    >>> clone_model(model).count_params()
    8
    """
    made: dict[Layer, Any] = {}

    def step(tensor: KerasTensor, source: Any) -> Any:
        layer = tensor.layer
        if layer not in made:
            inner = isinstance(layer, Functional)
            made[layer] = clone_model(layer) if inner else layer.from_config(layer.get_config())
        return made[layer](source, **tensor.arguments)

    inputs = [_input_of(each.shape, each.dtype, each.name).output for each in model.inputs]
    outputs = model.walk(inputs, step)
    if not isinstance(model, Sequential):
        return Functional(inputs if len(inputs) > 1 else inputs[0], outputs, model.name)
    return Sequential([inputs[0], *(made[layer] for layer in model.layers)], name=model.name)


def _input_of(shape: Shape, dtype: str, name: str | None = None) -> InputLayer:
    """Return an InputLayer for tensors of a shape."""
    return InputLayer(shape[1:], shape[0], dtype=dtype, name=name)


def _map_graph(
    inputs: list[KerasTensor], outputs: list[KerasTensor]
) -> tuple[list[KerasTensor], list[Layer]]:
    """Return the tensors after the inputs in topological order, and the layers in Keras' order.

    Keras: map_graph in keras/src/ops/function.py. Its layers, and their weights, are ordered by the distance
    from the outputs, farthest first; at equal distance, by when a search from the outputs reaches them.
    """
    ends, visited, steps = {id(tensor) for tensor in inputs}, set(), []
    reached: dict[Layer, int] = {}
    stack = [(tensor, False) for tensor in outputs[::-1]]
    while stack:
        tensor, is_after_its_sources = stack.pop()
        if is_after_its_sources:
            steps.append(tensor)
        elif id(tensor) not in visited:
            visited.add(id(tensor))
            if id(tensor) not in ends and tensor.source is None:
                names = ", ".join(brief(each.name) for each in inputs)
                raise ArgumentError(
                    f"outputs must come from inputs {names}; they come from {brief(tensor.name)}"
                )
            if id(tensor) not in ends or tensor.source is None:
                reached.setdefault(tensor.layer, len(reached))
            if id(tensor) not in ends:
                sources = [(source, False) for source in tensor.sources]
                stack += [(tensor, True), *sources[::-1]]
    depths: dict[int, int] = {}
    farthest = dict.fromkeys(reached, 0)
    for tensor in (*steps[::-1], *inputs):
        depth = max(depths.get(id(tensor), 0), farthest.setdefault(tensor.layer, 0))
        farthest[tensor.layer] = depth
        for source in tensor.sources:
            depths[id(source)] = max(depth + 1, depths.get(id(source), 0))
    reached = {tensor.layer: -1 for tensor in inputs if tensor.source is None} | reached
    return steps, sorted(reached, key=lambda layer: (-farthest[layer], reached[layer]))
