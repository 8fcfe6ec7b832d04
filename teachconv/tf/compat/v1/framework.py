"""What builds and runs a graph in TensorFlow 1, apart from arithmetic: tensors, scopes, variables, sessions.

TensorFlow: python/framework/ops.py, python/ops/array_ops.py, variables.py and variable_scope.py, and
python/client/session.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .... import graph as tg
from ....graph import (
    get_default_graph,
    global_variables,
    global_variables_initializer,
    gradients,
    placeholder,
    trainable_variables,
    variables_initializer,
)
from ....graph.ops import variable_scope as graph_variable_scope
from ....graph.ops.variable_scope import AUTO_REUSE
from ....graph.options import unsupported
from ... import framework, random
from ...dtypes import float32
from ...framework import (
    concat,
    control_dependencies,
    fill,
    group,
    identity,
    no_op,
    one_hot,
    ones,
    rank,
    reshape,
    slice,
    split,
    stack,
    stop_gradient,
    tile,
    unstack,
    where,
    zeros,
)
from .default_graph import imported_in_graph, in_graph, version_1

__all__ = [
    "AUTO_REUSE",
    "InteractiveSession",
    "Session",
    "Variable",
    "add_to_collection",
    "assign",
    "assign_add",
    "assign_sub",
    "concat",
    "constant",
    "constant_initializer",
    "control_dependencies",
    "convert_to_tensor",
    "device",
    "expand_dims",
    "fill",
    "gather",
    "get_collection",
    "get_default_graph",
    "get_variable",
    "get_variable_scope",
    "global_variables",
    "global_variables_initializer",
    "glorot_uniform_initializer",
    "gradients",
    "group",
    "identity",
    "initialize_all_variables",
    "local_variables_initializer",
    "name_scope",
    "no_op",
    "one_hot",
    "ones",
    "ones_initializer",
    "ones_like",
    "pad",
    "placeholder",
    "random_normal_initializer",
    "random_uniform_initializer",
    "rank",
    "reshape",
    "shape",
    "size",
    "slice",
    "split",
    "squeeze",
    "stack",
    "stop_gradient",
    "tile",
    "trainable_variables",
    "transpose",
    "truncated_normal_initializer",
    "unstack",
    "variable_scope",
    "variables_initializer",
    "where",
    "zeros",
    "zeros_initializer",
    "zeros_like",
]


@in_graph
@unsupported("verify_shape")
def constant(
    value: Any, dtype: Any = None, shape: Any = None, name: str = "Const", verify_shape: bool = False
) -> Any:
    """Return a tensor with the same value in each run."""
    return framework.constant(value, dtype, shape, name)


@version_1(framework.convert_to_tensor)
def convert_to_tensor(
    value: Any,
    dtype: Any = None,
    name: str | None = None,
    preferred_dtype: Any = None,
    dtype_hint: Any = None,
) -> Any:
    """Return a value as a tensor; a tensor is returned as it is."""


@in_graph
def device(device_name_or_function: Any) -> Any:
    """Request a device for the operations created in the block."""
    return framework.device(device_name_or_function)


@in_graph
def name_scope(name: Any, default_name: str | None = None, values: Any = None) -> Any:
    """Prefix the names of the nodes created in the block; ``default_name`` stands in for a name of None."""
    return framework.name_scope(default_name or "" if name is None else name)


@version_1(framework.expand_dims)
def expand_dims(input: Any, axis: Any = None, name: str | None = None, dim: Any = None) -> Any:
    """Insert an axis of size 1."""


@version_1(framework.gather)
def gather(
    params: Any,
    indices: Any,
    validate_indices: Any = None,
    name: str | None = None,
    axis: Any = None,
    batch_dims: Any = 0,
) -> Any:
    """Return the slices at the indices along an axis."""


@version_1(framework.ones_like)
def ones_like(tensor: Any, dtype: Any = None, name: str | None = None, optimize: bool = True) -> Any:
    """Return ones of the shape of a tensor."""


@version_1(framework.pad)
def pad(
    tensor: Any, paddings: Any, mode: Any = "CONSTANT", name: str | None = None, constant_values: Any = 0
) -> Any:
    """Add zeros around a tensor."""


@version_1(framework.shape)
def shape(input: Any, name: str | None = None, out_type: Any = None) -> Any:
    """Return the shape as a tensor: what an unknown batch is in this run."""


@version_1(framework.size)
def size(input: Any, name: str | None = None, out_type: Any = None) -> Any:
    """Return the number of elements as a tensor."""


@version_1(framework.squeeze)
def squeeze(input: Any, axis: Any = None, name: str | None = None, squeeze_dims: Any = None) -> Any:
    """Remove axes of size 1."""


@version_1(framework.transpose)
def transpose(a: Any, perm: Any = None, name: str = "transpose", conjugate: bool = False) -> Any:
    """Return the input with permuted axes; None reverses them."""


@version_1(framework.zeros_like)
def zeros_like(tensor: Any, dtype: Any = None, name: str | None = None, optimize: bool = True) -> Any:
    """Return zeros of the shape of a tensor."""


initialize_all_variables = in_graph(tg.global_variables_initializer)  # its old name


@in_graph
def local_variables_initializer() -> Any:
    """Return an operation that initialises the variables of metrics."""
    return tg.variables_initializer(get_collection(tg.GraphKeys.LOCAL_VARIABLES))


@in_graph
def add_to_collection(name: str, value: Any) -> None:
    """Append a value to a collection of the default graph.

    Args:
        name: the name of the collection, such as ``tf.GraphKeys.LOSSES``.
        value: any object.
    """
    get_default_graph().add_to_collection(name, value)


@in_graph
def get_collection(key: str, scope: str | None = None) -> list[Any]:
    """Return a list of the values of a collection of the default graph.

    Args:
        key: the name of the collection.
        scope: a regular expression that the beginning of a value's name must match.
    """
    return get_default_graph().get_collection(key, scope)


class Variable(tg.Variable, metaclass=framework.ClassOfAll):
    """A variable of the default graph: `teachconv.graph.Variable`."""

    _all = (tg.Variable,)

    @in_graph
    @unsupported(
        "validate_shape",
        "caching_device",
        "variable_def",
        "expected_shape",
        "import_scope",
        "constraint",
        "synchronization",
        "aggregation",
        "shape",
    )
    def __init__(
        self,
        initial_value: Any = None,
        trainable: Any = None,
        collections: Any = None,
        validate_shape: bool = True,
        caching_device: Any = None,
        name: str | None = None,
        variable_def: Any = None,
        dtype: Any = None,
        expected_shape: Any = None,
        import_scope: Any = None,
        constraint: Any = None,
        use_resource: Any = None,
        synchronization: Any = None,
        aggregation: Any = None,
        shape: Any = None,
    ) -> None:
        super().__init__(initial_value, trainable is not False, name or "Variable", dtype, collections)


@unsupported("validate_shape")
def assign(
    ref: Any, value: Any, validate_shape: Any = None, use_locking: Any = None, name: str | None = None
) -> Any:
    """Replace the value of a variable when the result is run.

    Args:
        ref: the variable.
        value: a tensor or array of its shape and dtype.
        validate_shape: must be None.
        use_locking: has no effect.
        name: the name of the node.

    Returns:
        A tensor: the new value.

    Raises:
        ValueError, TypeError: if shape or dtype of ``value`` does not fit.
    """
    return ref.assign(value, name=name)


def assign_add(ref: Any, value: Any, use_locking: Any = None, name: str | None = None) -> Any:
    """Add to the value of a variable when the result is run.

    Args:
        ref: the variable.
        value: what to add, a tensor or array of its shape and dtype.
        use_locking: has no effect.
        name: the name of the node.

    Returns:
        A tensor: the new value.

    Raises:
        ValueError, TypeError: if shape or dtype of ``value`` does not fit.
    """
    return ref.assign_add(value, name=name)


def assign_sub(ref: Any, value: Any, use_locking: Any = None, name: str | None = None) -> Any:
    """Subtract from the value of a variable when the result is run.

    Args:
        ref, use_locking, name: as in `assign_add`.
        value: what to subtract, a tensor or array of the variable's shape and dtype.

    Returns:
        A tensor: the new value.

    Raises:
        ValueError, TypeError: if shape or dtype of ``value`` does not fit.
    """
    return ref.assign_sub(value, name=name)


get_variable_scope = in_graph(graph_variable_scope.get_variable_scope)


@in_graph
@unsupported(
    "caching_device",
    "partitioner",
    "validate_shape",
    "custom_getter",
    "constraint",
    "synchronization",
    "aggregation",
)
def get_variable(
    name: str,
    shape: Any = None,
    dtype: Any = None,
    initializer: Any = None,
    regularizer: Any = None,
    trainable: Any = None,
    collections: Any = None,
    caching_device: Any = None,
    partitioner: Any = None,
    validate_shape: bool = True,
    use_resource: Any = None,
    custom_getter: Any = None,
    constraint: Any = None,
    synchronization: Any = None,
    aggregation: Any = None,
) -> Any:
    """Return the variable of a name in the current variable scope, made or shared as the scope says.

    Args:
        name: the name after the scope's.
        shape: the shape; not needed if ``initializer`` is a value.
        dtype: the dtype; None stands for float32.
        initializer: a function of shape and dtype, a value, or None for what the scope has, or else uniform
            numbers in ±√(6 / (inputs + outputs)).
        trainable: whether optimizers change it; None stands for True.
        use_resource: has no effect.
        regularizer: a function of a new variable, whose result is added to the collection
            ``tf.GraphKeys.REGULARIZATION_LOSSES``; None for what the scope has.
        collections: the collections of the graph that list a new variable; None for those of all variables.
        caching_device, partitioner, custom_getter: must be None.
        constraint, synchronization, aggregation: likewise.
        validate_shape: must be True.

    Returns:
        The variable.

    Raises:
        ValueError: if the variable exists but must not, must exist but does not, or has a different shape.
    """
    return graph_variable_scope.get_variable(
        name,
        shape,
        float32 if dtype is None else dtype,
        initializer,
        regularizer,
        trainable is not False,
        collections,
    )


@in_graph
@unsupported(
    "caching_device",
    "partitioner",
    "custom_getter",
    "dtype",
    "constraint",
    "auxiliary_name_scope",
)
def variable_scope(
    name_or_scope: Any,
    default_name: Any = None,
    values: Any = None,
    initializer: Any = None,
    regularizer: Any = None,
    caching_device: Any = None,
    partitioner: Any = None,
    custom_getter: Any = None,
    reuse: Any = None,
    dtype: Any = None,
    use_resource: Any = None,
    constraint: Any = None,
    auxiliary_name_scope: bool = True,
) -> Any:
    """Put a scope before the names of the variables that `get_variable` makes or finds in the block.

    Args:
        name_or_scope: a name, or a scope to enter again; None for ``default_name``.
        default_name: the name where ``name_or_scope`` is None, with a number if the scope around it has one.
        values, use_resource: have no effect.
        initializer: what makes initial values where `get_variable` is given nothing.
        reuse: True to share variables, `AUTO_REUSE` to share those that exist, None for the outer scope's
            setting.
        regularizer: as in `get_variable`, for all variables of the scope.
        caching_device, partitioner, custom_getter, dtype, constraint: must be None.
        auxiliary_name_scope: must be True.

    Returns:
        A context manager that yields the scope.

    Raises:
        ValueError: if an argument is given that teachconv does not have.
    """
    return graph_variable_scope.variable_scope(name_or_scope, default_name, reuse, initializer, regularizer)


def zeros_initializer(dtype: Any = float32) -> Callable[..., Any]:
    """Return a function that makes zeros of a shape.

    Args:
        dtype: the dtype where the function is given none.

    Returns:
        A function of a shape and, optionally, a dtype and ``partition_info``, which has no effect.
    """
    return _initializer(zeros, dtype)


def ones_initializer(dtype: Any = float32) -> Callable[..., Any]:
    """Return a function that makes ones of a shape.

    Args:
        dtype: as in `zeros_initializer`.

    Returns:
        As `zeros_initializer`.
    """
    return _initializer(ones, dtype)


@unsupported("verify_shape")
def constant_initializer(
    value: Any = 0, dtype: Any = float32, verify_shape: bool = False
) -> Callable[..., Any]:
    """Return a function that makes constants of a shape.

    Args:
        value: a number, or as many as the shape holds.
        dtype: as in `zeros_initializer`.
        verify_shape: must be False.

    Returns:
        As `zeros_initializer`.
    """
    return _initializer(lambda shape, dtype: constant(value, dtype, shape), dtype)


def random_normal_initializer(
    mean: Any = 0.0, stddev: Any = 1.0, seed: Any = None, dtype: Any = float32
) -> Callable[..., Any]:
    """Return a function that makes normal random numbers of a shape.

    Args:
        mean, stddev, seed: as in tf.random.normal.
        dtype: as in `zeros_initializer`.

    Returns:
        As `zeros_initializer`.
    """
    return _initializer(lambda shape, dtype: random.normal(shape, mean, stddev, dtype, seed), dtype)


def truncated_normal_initializer(
    mean: Any = 0.0, stddev: Any = 1.0, seed: Any = None, dtype: Any = float32
) -> Callable[..., Any]:
    """Return a function that makes normal random numbers, none of them beyond two standard deviations.

    Args:
        mean, stddev, seed: as in tf.random.truncated_normal.
        dtype: as in `zeros_initializer`.

    Returns:
        As `zeros_initializer`.
    """
    return _initializer(lambda shape, dtype: random.truncated_normal(shape, mean, stddev, dtype, seed), dtype)


def random_uniform_initializer(
    minval: Any = 0.0, maxval: Any = None, seed: Any = None, dtype: Any = float32
) -> Callable[..., Any]:
    """Return a function that makes uniform random numbers of a shape.

    Args:
        minval, maxval, seed: as in tf.random.uniform.
        dtype: as in `zeros_initializer`.

    Returns:
        As `zeros_initializer`.
    """
    return _initializer(lambda shape, dtype: random.uniform(shape, minval, maxval, dtype, seed), dtype)


def glorot_uniform_initializer(seed: Any = None, dtype: Any = float32) -> Callable[..., Any]:
    """Return a function that makes uniform random numbers in ±√(6 / (inputs + outputs)) of a weight's shape.

    Args:
        seed: as in tf.random.uniform.
        dtype: as in `zeros_initializer`.

    Returns:
        As `zeros_initializer`.
    """
    return _initializer(lambda shape, dtype: graph_variable_scope.glorot_uniform(shape, dtype, seed), dtype)


def _initializer(make: Callable[..., Any], default: Any) -> Callable[..., Any]:
    def initializer(shape: Any, dtype: Any = None, partition_info: Any = None) -> Any:
        return make(shape, default if dtype is None else dtype)

    return in_graph(initializer)


class _OfVersion1:
    """What both sessions take."""

    @unsupported("target")
    def __init__(self, target: str = "", graph: Any = None, config: Any = None) -> None:
        super().__init__(get_default_graph() if graph is None else graph, config)  # type: ignore[call-arg]


class Session(_OfVersion1, tg.Session):
    """Runs a graph, the default one if none is given: `teachconv.graph.Session`."""


class InteractiveSession(_OfVersion1, tg.InteractiveSession):
    """A session that is the default from its creation until ``close``.

    It is a `teachconv.graph.InteractiveSession`.
    """


imported_in_graph(globals())
