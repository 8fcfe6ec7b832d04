"""Random numbers. TensorFlow: python/ops/random_ops.py and python/framework/random_seed.py.

The distributions and the names of the nodes are TensorFlow's, the values are not: they come from NumPy's
PCG64. With a seed they are the same in every process.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any

import numpy as np

from ...core.arguments import integer
from ...core.dtypes import is_integer
from ...support.errors import ArgumentError
from ..framework.context import current_graph
from ..framework.eager_tensor import int_vector, to_array
from ..framework.op_def import as_dtype
from ..framework.ops import name_scope
from . import gen_nn_ops
from .array_ops import constant, convert_to_tensor, is_tensor

__all__ = ["normal", "random_normal", "random_uniform", "truncated_normal", "uniform"]

_DEFAULT_GRAPH_SEED = 87654321  # TensorFlow's, where only the op has a seed
_eager: dict[str, Any] = {"seed": None, "numbers": count(1)}


def set_random_seed(seed: int | None) -> None:
    """Set the seed from which all ops created later derive theirs, as tf.random.set_seed.

    Args:
        seed: an int; None makes the numbers differ between processes. In a graph it is that graph's seed.

    Raises:
        TypeError: if ``seed`` is not an int.
    """
    seed = None if seed is None else integer(seed, "seed")
    graph: Any = current_graph()
    if graph is not None:
        graph.seed = seed
    else:
        _eager.update(seed=seed, numbers=count(1))


def get_seed(op_seed: int | None) -> tuple[int, int]:
    """Return the attributes ``seed`` and ``seed2`` of an op, by TensorFlow's rule.

    Args:
        op_seed: the op's own seed, or None.

    Returns:
        The global seed and that of the op; where only the first is set, the second is the number of nodes of
        the graph, or eagerly of calls. Both are 0 if neither is set: the kernel then chooses.
    """
    graph: Any = current_graph()
    global_seed = _eager["seed"] if graph is None else getattr(graph, "seed", None)
    if global_seed is None and op_seed is None:
        return 0, 0
    if op_seed is None:
        op_seed = next(_eager["numbers"]) if graph is None else len(graph.get_operations())
    seeds = (_DEFAULT_GRAPH_SEED if global_seed is None else global_seed), integer(op_seed, "seed")
    return (0, 2**31 - 1) if seeds == (0, 0) else seeds


def random_normal(
    shape: Any,
    mean: Any = 0.0,
    stddev: Any = 1.0,
    dtype: Any = "float32",
    seed: int | None = None,
    name: str | None = None,
) -> Any:
    """Return normal random numbers, as tf.random.normal.

    Args:
        shape: the shape: ints, or a vector.
        mean: the mean, a number or a tensor.
        stddev: the standard deviation.
        dtype: a float dtype.
        seed: an int for the same numbers in every process; the values are not TensorFlow's.
        name: the name of the node.

    Returns:
        A tensor.

    >>> random_normal([2, 3], seed=1).shape == (2, 3)
    True
    """
    draw = gen_nn_ops.random_standard_normal
    return _normal(draw, shape, mean, stddev, dtype, seed, name or "random_normal")


def truncated_normal(
    shape: Any,
    mean: Any = 0.0,
    stddev: Any = 1.0,
    dtype: Any = "float32",
    seed: int | None = None,
    name: str | None = None,
) -> Any:
    """Return normal random numbers no further than two standard deviations from the mean.

    Args:
        shape, mean, stddev, dtype, seed, name: as in `random_normal`.

    Returns:
        A tensor.
    """
    draw = gen_nn_ops.truncated_normal
    return _normal(draw, shape, mean, stddev, dtype, seed, name or "truncated_normal")


def _normal(
    draw: Callable[..., Any], shape: Any, mean: Any, stddev: Any, dtype: Any, seed: int | None, name: str
) -> Any:
    with name_scope(name) as scope:
        sizes, mean, stddev = _arguments(shape, dtype, mean=mean, stddev=stddev)
        numbers = draw(sizes, as_dtype(dtype), *get_seed(seed))
        return gen_nn_ops.add(gen_nn_ops.mul(numbers, stddev, name="mul"), mean, name=scope)


def random_uniform(
    shape: Any,
    minval: Any = 0,
    maxval: Any = None,
    dtype: Any = "float32",
    seed: int | None = None,
    name: str | None = None,
) -> Any:
    """Return uniform random numbers from minval (included) to maxval (excluded).

    Args:
        shape, dtype, seed, name: as in `random_normal`.
        minval: the lower end.
        maxval: the upper end; None for 1, which integers do not have.

    Returns:
        A tensor.

    Raises:
        ValueError: if ``dtype`` is one of integers and ``maxval`` is None, or not above ``minval``.

    >>> sorted(set(random_uniform([100], 5, 8, "int32", seed=1).numpy().tolist()))
    [5, 6, 7]
    """
    integers = is_integer(as_dtype(dtype))
    if integers and maxval is None:
        raise ArgumentError(f"Must specify maxval for integer dtype {as_dtype(dtype)}")
    with name_scope(name or "random_uniform") as scope:
        sizes, low, high = _arguments(shape, dtype, min=minval, max=1 if maxval is None else maxval)
        seeds = get_seed(seed)
        if integers:
            return gen_nn_ops.random_uniform_int(sizes, low, high, *seeds, name=scope)
        numbers = gen_nn_ops.random_uniform(sizes, as_dtype(dtype), *seeds)
        width = gen_nn_ops.sub(high, low, name="sub")
        return gen_nn_ops.add(gen_nn_ops.mul(numbers, width, name="mul"), low, name=scope)


normal, uniform = random_normal, random_uniform  # the names in tf.random


def _arguments(shape: Any, dtype: Any, **numbers: Any) -> list[Any]:
    """Return the shape and the numbers as tensors, named as TensorFlow names them."""
    sizes = to_array(shape, None, "shape") if isinstance(shape, int) else int_vector(shape)  # no vector
    if isinstance(sizes, np.ndarray) or (isinstance(sizes, list) and not any(map(is_tensor, sizes))):
        sizes = constant(to_array(sizes, None, "shape"), name="shape")
    return [sizes, *(convert_to_tensor(number, dtype, name) for name, number in numbers.items())]
