"""`Layer`: weights, and a function of tensors. `KerasTensor`: what a layer returns while a model is built.

Keras: keras/src/layers/layer.py and keras/src/backend/common/keras_tensor.py. A layer is called in three
ways: on a ``KerasTensor`` it only computes a shape and remembers itself; on an array or an eager tensor it
runs at once; and while `teachconv.function` traces, it adds its nodes to the graph, in a name scope with
its name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from functools import wraps
from inspect import signature
from itertools import chain, count
from math import prod
from typing import Any

import numpy as np

from ...core.arguments import truth
from ...core.dtypes import is_integer
from ...graph import (
    TensorShape,
    TensorSpec,
    Variable,
    cast,
    convert_to_tensor,
    function,
    init_scope,
    name_scope,
    shape,
)
from ...graph.framework.op_def import as_dtype
from ...graph.ops.array_ops import is_tensor
from ...support.errors import ArgumentError, ArgumentTypeError, brief, plain, printable, suggestion
from ...support.settings import within
from .. import initializers, regularizers
from ..checks import as_numpy, check_name, check_sizes, means_nothing, shape_text, unique_name
from ..config import floatx

Shape = tuple[int | None, ...]  # of one tensor; a layer that takes several has a list of them

_INPUTS = np.ndarray | Variable  # what becomes a tensor in any argument of a call

_NO_ARGUMENTS: Mapping[str, Any] = {}
_training: ContextVar[bool | None] = ContextVar("training", default=None)  # of the layer around this one
# called with each layer that has run, its inputs and its outputs
watching: ContextVar[Callable[[Any, Any, Any], None] | None] = ContextVar("watching", default=None)

_SMALL_INTEGERS = [np.dtype(name) for name in ("int8", "uint16", "int16")]

# Arguments that Keras' layers have and these do not.
_NOT_HERE = ("regularizer", "constraint", "lora", "quantization", "renorm", "synchronized")


class KerasTensor:
    """A tensor without a value, by which layers are connected to a `Model`.

    Attributes:
        shape: its shape; the batch, and any other unknown size, is None.
        dtype: the name of its dtype.
        layer: the layer that returns it.
        source: the tensor that this layer takes, or a list of those it takes; None for an `Input`.
        arguments: what the layer's call is given by keyword.
        siblings: all the tensors that the call returns, this one among them.
    """

    __slots__ = ("arguments", "dtype", "layer", "shape", "siblings", "source")

    def __init__(
        self,
        shape: Shape,
        dtype: str,
        layer: Layer,
        source: KerasTensor | list[KerasTensor] | None,
        arguments: Mapping[str, Any] | None = None,
    ):
        self.shape, self.dtype, self.layer, self.source = shape, dtype, layer, source
        self.arguments: Mapping[str, Any] = arguments or {}
        self.siblings = [self]

    @property
    def sources(self) -> list[KerasTensor]:
        """What `source` holds, in a list."""
        return [] if self.source is None else as_list(self.source)

    @property
    def name(self) -> str:
        """The name of the layer that returns it."""
        return self.layer.name

    def __repr__(self) -> str:
        return f"<KerasTensor shape={self.shape}, dtype={self.dtype}, name={printable(self.name)}>"

    def _no_operator(self, *_: Any) -> Any:
        raise ArgumentTypeError(
            f"{brief(self)} has no value: a model is made of layers, and operators are not layers, except "
            "the sum of two such tensors. Use a layer, or write the code into the call of a Layer of your own"
        )

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __getitem__ = _no_operator
    __array__ = __bool__ = _no_operator


def are_several(inputs: Any) -> bool:
    """Return whether inputs are a list of tensors or arrays; a list of numbers is one array."""
    return isinstance(inputs, (list, tuple)) and bool(inputs) and all(map(_is_tensor, inputs))


def _is_tensor(value: Any) -> bool:
    return isinstance(value, KerasTensor | _INPUTS) or is_tensor(value)


def as_list(value: Any) -> list[Any]:
    """Return a list as it is, and anything else in a list."""
    return value if isinstance(value, list) else [value]


def shape_of(inputs: Any) -> Any:
    """Return the shape of a tensor, or a list of the shapes of several."""
    return [tuple(each.shape) for each in inputs] if isinstance(inputs, list) else tuple(inputs.shape)


def any_batch(shape: Any) -> Any:
    """Return a shape, or each of a list, with a batch of any size."""
    return [any_batch(each) for each in shape] if isinstance(shape, list) else (None, *shape[1:])


def _whole(input_shape: Any) -> Any:
    """Return a shape with its batch as a tuple; a list of shapes as a list of tuples."""
    containers = (list, tuple)
    if isinstance(input_shape, containers) and input_shape and isinstance(input_shape[0], containers):
        return [_whole(each) for each in input_shape]
    sizes = tuple(input_shape) if hasattr(input_shape, "as_list") else input_shape
    return check_sizes(sizes, "input_shape", batch=True)


def _building(build: Callable[[Any, Shape], None]) -> Callable[[Any, Shape], None]:
    """Wrap the `build` of a subclass, so that it may be called by hand: the layer then knows its sizes."""

    @wraps(build)
    def wrapper(self: Layer, input_shape: Shape) -> None:
        shape = _whole(input_shape)
        with init_scope():  # variables belong to no trace
            build(self, shape)
        self.built = True
        self.input_shape = shape
        if not self._infers_shape:
            self.output_shape = self.compute_output_shape(shape)

    return wrapper


class Layer:
    """A function of a tensor, or of a list of tensors, with weights that are made when their sizes are known.

    A subclass has `call` and, where needed, `build` and `compute_output_shape`. Layers that are its
    attributes, also in lists, tuples and dicts, are a part of it: their weights are among its weights.

    Args:
        name: its name; None makes one from the class.
        trainable: whether an optimizer may change its weights.
        dtype: the dtype of its weights and of its result; None for `teachconv.keras.config.floatx`.
        input_shape: the shape of its input without the batch, for the first layer of a model.

    Raises:
        ValueError, TypeError: if an argument is invalid or unknown.
    """

    def __init__(
        self,
        *,
        name: str | None = None,
        trainable: bool = True,
        dtype: Any = None,
        input_shape: Sequence[int | None] | None = None,
        **unknown: Any,
    ):
        for key, value in unknown.items():
            if key.endswith("_regularizer") and hasattr(self, key.replace("regularizer", "initializer")):
                setattr(self, key, regularizers.get(value))
            else:
                self._refuse(key, value)
        self.name = check_name(name, "") or unique_name(type(self).__name__)
        self._trainable = truth(trainable, "trainable")
        kind = as_dtype(floatx() if dtype is None else dtype)
        if kind.kind not in "biuf" and kind.name != "bfloat16":
            raise ArgumentTypeError(f"dtype must be a type of numbers; got {brief(dtype)}")
        self.dtype: str = kind.name
        self.built = False
        self.input_shape: Shape | None = None
        self.output_shape: Shape | None = None
        self._own_weights: tuple[list[Variable], list[Variable]] = [], []  # trained, and not
        self._added_losses: list[Any] = []
        if input_shape is not None:
            self.build_for((None, *check_sizes(input_shape, "input_shape")))

    _node: Any = None  # the tensor, or the list of them, that it returned when it was first called in a model
    _casts_integers = False  # whether integers become the layer's dtype, as where weights multiply them
    _takes_training = True  # whether `call` has the argument training
    _training_unless_told = False  # its default
    _takes_several = False  # whether the input may be a list of tensors
    _own_call = False  # whether `call` is of a class outside of this package

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "call" in vars(cls):
            is_outside = not cls.__module__.startswith(__name__.partition(".layers")[0])
            cls._own_call = is_outside or cls._own_call
            cls._takes_several = cls._takes_several or cls._own_call
            training = signature(cls.call).parameters.get("training")
            cls._takes_training = training is not None
            cls._training_unless_told = training is not None and training.default is True
        if "build" in vars(cls):
            cls.build = _building(cls.build)  # type: ignore[method-assign]

    def __getattr__(self, name: str) -> Any:
        kind = type(self).__name__
        if name in ("name", "built", "dtype", "_trainable", "_own_weights"):
            raise RuntimeError(
                f"In layer '{kind}', you forgot to call `super().__init__()` as the first statement in the "
                "`__init__()` method. Go add it!"
            )
        if name in ("input", "output"):  # their properties raised
            raise AttributeError(f"layer {brief(self.name)} has not been called, and has no {name} yet")
        raise AttributeError(f"{brief(kind)} object has no attribute {brief(name)}")

    def _refuse(self, key: str, value: Any) -> None:
        """Raise for an unsupported argument, unless its value changes nothing."""
        kind = type(self).__name__
        if any(word in key for word in _NOT_HERE):
            if means_nothing(key, value):
                return
            raise ArgumentError(
                f"{key} of {kind} is not in teachconv.keras; leave it out; got {brief(value)}"
            )
        code = type(self).__init__.__code__
        own = code.co_varnames[1 : code.co_argcount]
        known = [*own, "name", "trainable", "dtype", "input_shape"]
        raise ArgumentTypeError(f"{kind} has no argument {brief(key)}{suggestion(key, known)}")

    # --- what a subclass defines -----------------------------------------------------------------

    @_building
    def build(self, input_shape: Shape) -> None:
        """Make the weights with `add_weight`.

        Args:
            input_shape: the shape of the input; the batch is None.
        """

    def call(self, inputs: Any, training: bool = False) -> Any:
        """Return the result for an eager tensor or a tensor of a graph.

        Args:
            inputs: the input.
            training: whether the call is part of a training step.

        Returns:
            The output.
        """
        raise NotImplementedError(f"{type(self).__name__} must define call(inputs, training=False)")

    def compute_output_shape(self, input_shape: Shape) -> Shape:
        """Return the shape of the output.

        Args:
            input_shape: the shape of the input; the batch may be None.

        Returns:
            The shape, by default that of the input; of a layer of your own, that of `call`'s result.
        """
        return self._shape_of_call(input_shape, {}) if self.built and self._infers_shape else input_shape

    @property
    def _infers_shape(self) -> bool:
        """Whether a trace of `call` is needed to infer the output's shape and make sublayers' weights."""
        return type(self).compute_output_shape is Layer.compute_output_shape and self._own_call

    def _shape_of_call(self, input_shape: Any, arguments: Mapping[str, Any]) -> Any:
        """Trace `call` for an input of a shape; return the shape of its result, or a list for several."""

        def call(inputs: Any) -> Any:
            return self.call(inputs, **arguments)

        specs = [TensorSpec(shape, self.dtype) for shape in as_list(input_shape)]
        traced = function(call).get_concrete_function(specs if isinstance(input_shape, list) else specs[0])
        self._forget_losses()  # they are of the trace
        shapes = shape_of(traced.outputs)
        return shapes if len(shapes) > 1 else shapes[0]

    def geometries(self, input_shape: Shape) -> list[Any]:
        """Return the geometry of each window that the layer slides over its input; most layers have none."""
        return []

    # --- calls -----------------------------------------------------------------------------------

    def __call__(self, inputs: Any, *args: Any, training: bool | None = None, **kwargs: Any) -> Any:
        """Apply the layer to a tensor, an array, or a ``KerasTensor``.

        Args:
            inputs: the input; a list of inputs for a layer that takes several.
            *args: more tensors or arrays that `call` takes.
            training: whether dropout is active and batch statistics are used; None for what the layer around
                this one was called with, and outside of a layer the default of `call`.
            **kwargs: what `call` takes by keyword.

        Returns:
            The output: an eager tensor, a tensor of a graph, or a ``KerasTensor``.

        Raises:
            ValueError, TypeError: if the input does not fit; the message names the layer.
        """
        self._check_arguments(args, kwargs)
        several = are_several(inputs)
        given = list(inputs) if several else [inputs]
        if len(given) > 1 and not self._takes_several:
            raise ArgumentTypeError(f"layer {brief(self.name)} takes one tensor; got {len(given)} in a list")
        if any(isinstance(each, KerasTensor) for each in given):
            return self._connect(inputs, {**kwargs} if training is None else {"training": training, **kwargs})
        inputs = [self._as_tensor(each) for each in given] if several else self._as_tensor(inputs)
        args = tuple(self._as_argument(value) for value in args)
        kwargs = {key: self._as_argument(value) for key, value in kwargs.items()}
        shape, first = shape_of(inputs), not self.built
        if first:
            self.build_for(any_batch(shape), None)
        elif any_batch(shape) != any_batch(self.input_shape or shape) and not self._infers_shape:
            self._explain(self.compute_output_shape, shape)
            self._explain(self.check_weights, shape)
        if _training.get() is None:  # it is not called by another layer
            self._forget_losses()
        said = training, _training.get(), self._training_unless_told
        training = next(word for word in said if word is not None)
        if self._takes_training:
            kwargs["training"] = training
        with within(_training, training), name_scope(self.name):
            outputs = self.call(inputs, *args, **kwargs)
        if first and self._infers_shape and _is_tensor(outputs):
            self.output_shape = any_batch(outputs.shape)
        if (watch := watching.get()) is not None:
            watch(self, inputs, outputs)
        return outputs

    def _connect(self, inputs: Any, arguments: Mapping[str, Any]) -> Any:
        """Return the tensor without a value, or a tuple of them, that the layer makes of one or of a list."""
        if isinstance(inputs, (list, tuple)):
            if not all(isinstance(each, KerasTensor) for each in inputs):
                raise ArgumentTypeError(
                    f"layer {brief(self.name)}: inputs must all have values or all have none; "
                    f"got {brief(inputs)}"
                )
            inputs = list(inputs)
        result = self._results(self.build_for(shape_of(inputs), arguments), inputs, arguments)
        if self._node is None:
            self._node = result
        return tuple(result) if isinstance(result, list) else result

    def _results(self, shape: Any, source: Any, arguments: Mapping[str, Any] = _NO_ARGUMENTS) -> Any:
        """Return a tensor without a value for a shape, or a list for several that one call returns."""
        results = [KerasTensor(each, self.dtype, self, source, arguments) for each in as_list(shape)]
        for each in results:
            each.siblings = results
        return results if isinstance(shape, list) else results[0]

    def _check_arguments(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
        """Raise unless the arguments after the first input are tensors by position and values by keyword."""
        for value in args:
            if not (
                value is None or is_tensor(value) or isinstance(value, (KerasTensor, _INPUTS, list, tuple))
            ):
                raise ArgumentError(
                    f"layer {brief(self.name)}: only tensors may be passed as positional arguments; pass "
                    f"this one as a keyword argument: {brief(value)}"
                )
        if any(isinstance(value, KerasTensor) for value in (*args, *kwargs.values())):
            raise ArgumentTypeError(
                f"layer {brief(self.name)} takes the tensors of a model as its first argument, several of "
                "them in a list; got one as another argument of its call"
            )

    def _as_argument(self, value: Any) -> Any:
        """Return an argument of `call` as a tensor where it is one, or an array."""
        return self._as_tensor(value) if is_tensor(value) or isinstance(value, _INPUTS) else value

    def build_for(
        self, input_shape: Sequence[int | None], arguments: Mapping[str, Any] | None = _NO_ARGUMENTS
    ) -> Shape:
        """Make the weights if there are none; return the shape of the output.

        Args:
            input_shape: the shape of the input, the batch first.
            arguments: what `call` is given by keyword; None where it runs next, which makes the weights of
                sublayers.

        Returns:
            The shape of the output.

        Raises:
            ValueError: if the layer cannot take such an input; the message names the layer.
        """
        shape = _whole(input_shape)
        output: Shape = self._explain(self.compute_output_shape, shape)
        if self.built:
            self._explain(self.check_weights, shape)
        else:
            self.build(shape)
            self.built, output = True, self._explain(self.compute_output_shape, shape)
        if self._infers_shape and arguments is not None:
            output = self._shape_of_call(shape, arguments)
        self.input_shape, self.output_shape = shape, output
        return output

    def check_weights(self, input_shape: Shape) -> None:
        """Raise unless the weights that were made fit an input of this shape."""

    def _explain(self, check: Callable[[Shape], Any], shape: Shape) -> Any:
        """Return ``check(shape)``; an error also names the layer and the shape."""
        try:
            return check(shape)
        except (ArgumentError, ArgumentTypeError) as error:
            raise type(error)(
                f"layer {brief(self.name)} ({type(self).__name__}) cannot take an input of shape "
                f"{shape_text(shape)}: {error}"
            ) from None

    def _as_tensor(self, inputs: Any) -> Any:
        """Return the input as a tensor; floats take the layer's dtype, and integers may do so."""
        if getattr(inputs, "dtype", None) in _SMALL_INTEGERS:  # tensors have no such dtype
            inputs = np.asarray(inputs).astype(self.dtype if self._casts_integers else "int32")
        inputs = convert_to_tensor(inputs)
        whole = is_integer(inputs.dtype) or inputs.dtype == bool
        if inputs.dtype.name == self.dtype or (whole and not self._casts_integers):
            return inputs
        return cast(inputs, self.dtype)

    @property
    def output(self) -> Any:
        """The tensor without a value that the layer returns in its model, or a list of them."""
        if self._node is not None:
            return self._node
        if self.input_shape is None or self.output_shape is None:
            raise AttributeError(f"layer {brief(self.name)} has not been called, and has no output yet")
        return self._results(self.output_shape, self._results(self.input_shape, None))

    @property
    def input(self) -> Any:
        """The tensor without a value that the layer takes in its model, or a list of them."""
        output = as_list(self.output)[0]
        return output if output.source is None else output.source

    def get_config(self) -> dict[str, Any]:
        """Return the arguments that make another layer like this one, without its weights.

        Returns:
            A dict, which `from_config` takes: name, trainable, dtype, and each argument of the class that is
            an attribute, too.

        >>> from teachconv import keras
        >>> config = keras.layers.Dense(3, activation="relu", name="scores").get_config()
        >>> config["units"], config["activation"].__name__, keras.layers.Dense.from_config(config).name
        (3, 'relu', 'scores')
        """
        named = [name for name in signature(type(self)).parameters if name in dir(self)]
        named += [name for name in vars(self) if name.endswith("_regularizer")]
        return {name: getattr(self, name) for name in dict.fromkeys(("name", "trainable", "dtype", *named))}

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> Any:
        """Return a new layer with the arguments that `get_config` returned."""
        return cls(**config)

    # --- weights ---------------------------------------------------------------------------------

    def add_weight(
        self,
        shape: Sequence[int] | None = None,
        initializer: Any = None,
        dtype: Any = None,
        trainable: bool = True,
        *,
        regularizer: Any = None,
        name: str | None = None,
        **unknown: Any,
    ) -> Variable:
        """Make a weight.

        Args:
            shape: its shape; None for a number.
            initializer: a name or an initializer; None for "glorot_uniform".
            dtype: its dtype; None for the layer's.
            trainable: whether an optimizer changes it.
            regularizer: "l1", "l2", or a function of the weight, whose value `losses` has; None for that of
                the layer's argument, such as ``kernel_regularizer``.
            name: its name, such as "kernel"; the variable's name begins with the layer's;
                None for "variable".
            **unknown: Keras' other arguments, which are refused by name.

        Returns:
            The variable.

        Raises:
            ValueError, TypeError: if an argument is invalid or unknown.
        """
        for key, value in unknown.items():
            self._refuse(key, value)
        of_layer = getattr(self, f"{str(name).removesuffix('_kernel')}_regularizer", None)
        name = self._name_of_weight(name)
        dtype = self.dtype if dtype is None else as_dtype(dtype).name
        if is_integer(np.dtype(dtype)):
            raise ArgumentError(f"dtype of a layer with weights must be a float; got {dtype}")
        given: Any = tuple(shape) if isinstance(shape, TensorShape) else shape
        sizes = () if shape is None else check_sizes(given, "shape", 1, known=True)
        made_by = "glorot_uniform" if initializer is None else initializer
        value = initializers.initializer_of(made_by, f"{name} initializer")(sizes, dtype)
        if np.shape(value) != sizes:
            raise ArgumentError(
                f"the initializer of {name} must return shape {shape_text(sizes)}; "
                f"got {brief(np.shape(value))}"
            )
        with init_scope():
            variable = Variable(value, trainable and self.trainable, f"{self.name}/{name}", dtype)
        variable.regularizer = regularizers.get(regularizer) or of_layer  # type: ignore[attr-defined]
        self._own_weights[0 if trainable else 1].append(variable)
        return variable

    def _name_of_weight(self, name: str | None) -> str:
        """Return the name of a new weight, with a number if the layer has a weight of that name."""
        taken = {weight.name.rpartition("/")[2] for kind in self._own_weights for weight in kind}
        name = "variable" if name is None else name
        numbered = (f"{name}_{number}" for number in count(1))
        return next(found for found in chain([name], numbered) if found not in taken)

    @property
    def _sublayers(self) -> list[Layer]:
        """The layers that are attributes of this one, also in lists, each once, in the attributes' order."""
        return list(
            {id(layer): layer for layer in _layers_in(vars(self).values()) if layer is not self}.values()
        )

    @property
    def trainable(self) -> bool:
        """Whether an optimizer may change the weights; a new value also goes to all layers inside."""
        return self._trainable

    @trainable.setter
    def trainable(self, value: bool) -> None:
        self._trainable = truth(value, "trainable")
        for weight in self._own_weights[0]:
            weight.trainable = self._trainable
        for layer in self._sublayers:
            layer.trainable = value

    @property
    def weights(self) -> list[Variable]:
        """All the variables, as in Keras: the layer's own, those that are trained first; then its layers'."""
        trained, others = self._own_weights
        return _each_once([*trained, *others], (layer.weights for layer in self._sublayers))

    @property
    def trainable_weights(self) -> list[Variable]:
        """The variables that an optimizer changes."""
        if not self.trainable:
            return []
        own = [weight for weight in self._own_weights[0] if weight.trainable]
        return _each_once(own, (layer.trainable_weights for layer in self._sublayers))

    @property
    def non_trainable_weights(self) -> list[Variable]:
        """The variables that no optimizer changes, such as moving averages."""
        trained = {id(weight) for weight in self.trainable_weights}
        return [weight for weight in self.weights if id(weight) not in trained]

    @property
    def losses(self) -> list[Any]:
        """What `add_loss` got in the last call, and the regularizers of the weights that are trained."""
        pairs = [(weight, getattr(weight, "regularizer", None)) for weight in self.trainable_weights]
        added = [loss for layer in self._all_layers() for loss in layer._added_losses]
        return added + [regularizer(weight) for weight, regularizer in pairs if regularizer is not None]

    def add_loss(self, loss: Any) -> None:
        """Add a number to `losses`, from within `call`; ``fit`` adds it to its loss."""
        self._added_losses.append(loss)

    def _forget_losses(self) -> None:
        for layer in self._all_layers():
            layer._added_losses.clear()

    def _all_layers(self) -> list[Layer]:
        """The layer and all layers inside, each once."""
        return list(
            dict.fromkeys([self, *(each for layer in self._sublayers for each in layer._all_layers())])
        )

    variables = weights
    trainable_variables = trainable_weights
    non_trainable_variables = non_trainable_weights

    def count_params(self) -> int:
        """Return the number of elements of all the weights."""
        return sum(number_of_elements(weight) for weight in self.weights)

    def get_weights(self) -> list[np.ndarray]:
        """Return the values of all the weights, in the order of `weights`."""
        return [weight.numpy() for weight in self.weights]

    def set_weights(self, weights: Sequence[Any]) -> None:
        """Replace the values of all the weights; where one does not fit, none is changed.

        Args:
            weights: an array for each weight, in the order of `weights`.

        Raises:
            ValueError: if their number or a shape differs.
        """
        set_all(self.weights, weights, f"{type(self).__name__} {brief(self.name)}")

    def __repr__(self) -> str:
        return f"<{type(self).__name__} name={printable(self.name)}, built={self.built}>"


def _layers_in(values: Iterable[Any]) -> Iterator[Layer]:
    """Yield the layers among values, and in the lists, tuples and dicts among them."""
    for value in values:
        if isinstance(value, Layer):
            yield value
        elif isinstance(value, (list, tuple, dict)):
            yield from _layers_in(value.values() if isinstance(value, dict) else value)


def _each_once(own: Iterable[Variable], others: Iterable[Iterable[Variable]]) -> list[Variable]:
    """Return variables in their order, each once."""
    return list({id(weight): weight for group in (own, *others) for weight in group}.values())


def number_of_elements(variable: Variable) -> int:
    """Return the number of elements of a variable."""
    return prod(size or 0 for size in variable.shape)


def size(tensor: Any, axis: int) -> Any:
    """Return the size of an axis: an int, or a scalar tensor where only the run knows it."""
    known = tensor.shape[axis]
    return shape(tensor)[axis] if known is None else known


def set_all(variables: Sequence[Variable], values: Sequence[Any], owner: str) -> None:
    """Assign each value to its variable; raise ``ValueError`` before anything changes if one does not fit."""
    if not isinstance(values, (list, tuple)) or len(values) != len(variables):
        names = plain(", ".join(variable.name for variable in variables))
        got = len(values) if isinstance(values, (list, tuple)) else brief(values)
        raise ArgumentError(f"{owner} needs a list of {len(variables)} weights ({names}); got {got}")
    arrays = [as_numpy(value, f"weights[{index}] of {owner}") for index, value in enumerate(values)]
    for variable, array in zip(variables, arrays, strict=True):
        if tuple(variable.shape) != array.shape:
            raise ArgumentError(
                f"{owner}: the weight {brief(variable.name)} has shape {shape_text(tuple(variable.shape))}; "
                f"got {shape_text(array.shape)}"
            )
        if not np.can_cast(array.dtype, variable.dtype, "same_kind"):
            raise ArgumentTypeError(
                f"{owner}: the weight {brief(variable.name)} has dtype {variable.dtype.name}; got "
                f"{array.dtype.name}"
            )
    for variable, array in zip(variables, arrays, strict=True):
        variable.assign(array.astype(variable.dtype))
