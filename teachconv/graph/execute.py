"""Runs one op immediately, without a graph, with the same definition, checks and kernel as in a graph.

TensorFlow: python/eager/execute.py, and TFE_Py_FastPathExecute behind it. Values are NumPy arrays.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .. import record
from ..errors import ArgumentTypeError
from . import kernels  # noqa: F401  (fills the registry)
from .common_shape_fns import InferenceContext
from .errors import InvalidArgumentError
from .node_def import NodeDef
from .op_def import get_op_def
from .op_def_library import check_attrs, element_type
from .op_kernel import OpKernelContext, find_kernel
from .ops import Tensor
from .tensor_util import to_array

__all__ = ["execute"]

_NOTHING = OpKernelContext({})


def execute(op_type: str, inputs: Sequence[Any], attrs: Mapping[str, Any]) -> Any:
    """Run an op on arrays or Python numbers.

    Args:
        op_type: the op's name.
        inputs: one value per input.
        attrs: the attributes by name.

    Returns:
        The result, a new array.

    Raises:
        ValueError, TypeError: as in a graph, and if the op needs a graph.

    >>> execute("Add", [np.float32([1, 2]), 1.5], {}).tolist()
    [2.5, 3.5]
    """
    op_def = get_op_def(op_type)
    if op_def.is_stateful or op_type == "Placeholder":
        raise InvalidArgumentError(
            f"{op_type} belongs to a graph and cannot run eagerly: build one inside `with "
            "graph.as_default():`" + (", or use Variable.assign" if op_type == "Assign" else "")
        )
    for value, arg in zip(inputs, op_def.inputs, strict=True):
        if isinstance(value, Tensor):
            raise ArgumentTypeError(
                f"{arg.name} of {op_type}: {value.name!r} is a tensor of a graph, and this op would run "
                "eagerly: use it inside `with graph.as_default():`"
            )
    inputs = [value.numpy() if hasattr(value, "_graph_tensor") else value for value in inputs]
    checked = check_attrs(op_def, inputs, attrs)
    arrays = []
    for value, arg in zip(inputs, op_def.inputs, strict=True):
        array = to_array(value, element_type(value, arg, checked, op_def), f"{arg.name} of {op_type}")
        if arg.type in op_def.attr_by_name:
            checked.setdefault(arg.type, array.dtype)
        arrays.append(array)
    op_def.shape_fn(InferenceContext(op_type, [array.shape for array in arrays], arrays, checked))
    node = NodeDef(op_type, op_type, (), (), checked, "", 0, "", 0)
    kernel_def = find_kernel(node, "CPU")
    kernel = kernel_def.kernel(node, kernel_def.label)
    with record.stage(f"eager {op_type}") as stage, np.errstate(all="ignore"):
        stage.say("{}", kernel_def)
        result = kernel.compute(_NOTHING, *arrays)
    if not isinstance(result, np.ndarray):
        return np.asarray(result)
    # copy a result that is an input or a view of one: the caller owns results
    return result if result.base is None and not any(result is array for array in arrays) else result.copy()
