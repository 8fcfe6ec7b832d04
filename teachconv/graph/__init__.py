"""teachconv.graph: a readable model of how TensorFlow executes an op, from its definition to its kernel.

In TensorFlow, tf.nn.conv2d leads through Python that computes nothing, a generated file that is not in the
repository, and a session to an implementation in C++. This package implements the same steps in short
files that have the names of their TensorFlow counterparts and run on teachconv's backends. Each folder uses
only the folders above it::

    framework/       op definitions, tensors, operations, Graph, the registry of kernels
    core_ops/        the definition of each op, with the functions that compute static shapes
    kernels/         what computes each op
    common_runtime/  a run: place, optimise, prune, partition, execute
    ops/             what a program calls: the public functions, and gen_nn_ops.py, which is generated
    gradients/       the gradient of each op, and the engine that calls them
    eager/           the gradient tape, and functions that are traced to graphs

Ten files lead from tf.nn.conv2d to the loops; the other files repeat the pattern for other ops::

     1. ops/nn_ops.py                            the wrapper: normalises arguments, computes nothing
     2. core_ops/nn_ops.py                       the definition of Conv2D: inputs, attributes, shape function
     3. ops/gen_nn_ops.py                        the generated function: at once (execute.py), or into a graph
     4. framework/op_def_library.py              checks attributes, infers types, adds a node
     5. framework/ops.py                         the Graph with its scopes
     6. common_runtime/session.py                fetches and feeds
     7. common_runtime/graph_execution_state.py  the steps of a run in their order
     8. common_runtime/executor.py               the queue of nodes whose inputs are available
     9. framework/op_kernel.py                   finds the kernel by op, device and label
    10. kernels/conv_ops.py                      compute(), which calls teachconv.backends

>>> import numpy as np, teachconv as tc
>>> tg = tc.graph
>>> with tg.Graph().as_default() as graph:
...     x = tg.placeholder("float32", [None, 4, 4, 1], name="x")
...     w = tg.Variable(np.ones((3, 3, 1, 1), "float32"), name="w")
...     y = tg.nn.relu(tg.nn.bias_add(tg.nn.conv2d(x, w, 1, "SAME"), [-5.0]))
...     init = tg.global_variables_initializer()
>>> with tg.Session(graph) as session:
...     session.run(init)
...     session.run(y, {x: np.ones((1, 4, 4, 1))})[0, :, :, 0].tolist()
[[0.0, 1.0, 1.0, 0.0], [1.0, 4.0, 4.0, 1.0], [1.0, 4.0, 4.0, 1.0], [0.0, 1.0, 1.0, 0.0]]
"""

# ruff: noqa: F403  (a module says in __all__ which of its names are public)

from ..core.dtypes import FLOATS, INTEGERS
from . import core_ops  # noqa: F401  (fill the registries)
from . import training as train
from .common_runtime.graph_pictures import picture_graph
from .common_runtime.run_metadata import NodeStats, RunMetadata
from .common_runtime.session import InteractiveSession, Session
from .eager.backprop import GradientTape
from .eager.concrete_function import ConcreteFunction
from .eager.def_function import Function, function
from .find_source import find_source
from .framework.config import ConfigProto, GPUOptions, RunOptions, list_physical_devices
from .framework.context import executing_eagerly, get_default_graph, get_default_session, init_scope
from .framework.eager_tensor import EagerTensor
from .framework.errors import (
    FailedPreconditionError,
    InvalidArgumentError,
    OperatorNotAllowedInGraphError,
    SoftPlacementWarning,
)
from .framework.op_def import get_op_def
from .framework.ops import (
    Graph,
    GraphKeys,
    Operation,
    control_dependencies,
    device,
    disable_v2_behavior,
    enable_v2_behavior,
    name_scope,
    reset_default_graph,
)
from .framework.tensor import Tensor, TensorSpec
from .framework.tensor_shape import TensorShape
from .gradients import array_grad, math_grad, nn_grad  # noqa: F401  (fill the registries)
from .gradients.gradients_util import NotDifferentiable, RegisterGradient, gradients
from .ops import (  # noqa: F401  (fill the registries)
    array_ops,
    gen_nn_ops,
    math_ops,
    tensor_math_operator_overrides,
    variables,
)
from .ops import nn_ops as nn
from .ops.array_ops import *
from .ops.array_ops import constant, convert_to_tensor, is_tensor
from .ops.math_ops import *
from .ops.random_ops import random_normal, random_uniform, set_random_seed, truncated_normal
from .ops.variables import *

__all__ = [
    "ConcreteFunction",
    "ConfigProto",
    "EagerTensor",
    "FailedPreconditionError",
    "Function",
    "GPUOptions",
    "GradientTape",
    "Graph",
    "GraphKeys",
    "InteractiveSession",
    "InvalidArgumentError",
    "NodeStats",
    "NotDifferentiable",
    "Operation",
    "OperatorNotAllowedInGraphError",
    "RegisterGradient",
    "RunMetadata",
    "RunOptions",
    "Session",
    "SoftPlacementWarning",
    "Tensor",
    "TensorShape",
    "TensorSpec",
    "bfloat16",
    "constant",
    "control_dependencies",
    "convert_to_tensor",
    "device",
    "disable_v2_behavior",
    "enable_v2_behavior",
    "executing_eagerly",
    "find_source",
    "float16",
    "float32",
    "float64",
    "function",
    "get_default_graph",
    "get_default_session",
    "get_op_def",
    "gradients",
    "init_scope",
    "int32",
    "int64",
    "is_tensor",
    "list_physical_devices",
    "name_scope",
    "nn",
    "picture_graph",
    "random_normal",
    "random_uniform",
    "reset_default_graph",
    "set_random_seed",
    "train",
    "truncated_normal",
]
__all__ += array_ops.__all__
__all__ += math_ops.__all__
__all__ += variables.__all__

float16, bfloat16, float32, float64 = FLOATS
int32, int64 = INTEGERS
