"""Sources of values, variables and the ops that train them.

TensorFlow: core/ops/state_ops.cc and training_ops.cc.

In TensorFlow 2 the Apply* ops take a resource instead of a reference and are called ResourceApply*; here
every variable is a reference, which a traced function reads by ReadVariableOp. ``use_locking`` and
``validate_shape`` are omitted.
"""

from ..framework.op_def import define_op
from . import array_shape_fns
from . import common_shape_fns as shape_fns

OP_DEFS = (
    define_op(
        "Placeholder",
        outputs=["output: dtype"],
        attrs=["dtype: type", "shape: shape = None"],
        shape_fn=shape_fns.explicit_shape,
        summary="Stands for a value that is fed to each run.",
    ),
    define_op(
        "_Arg",  # pruning replaces fed tensors by it
        outputs=["output: T"],
        attrs=["T: type", "shape: shape", "index: int"],
        shape_fn=shape_fns.explicit_shape,
        summary="Returns a value that was fed to the run.",
        is_stateful=True,
    ),
    define_op(
        "Const",
        outputs=["output: dtype"],
        attrs=["value: tensor", "dtype: type"],
        shape_fn=shape_fns.const_shape,
        summary="Returns the same value in each run.",
    ),
    define_op(
        "Variable",  # VariableV2 in TensorFlow, where "Variable" is an older version
        outputs=["ref: Ref(dtype)"],
        attrs=["shape: shape", "dtype: type"],
        shape_fn=shape_fns.explicit_shape,
        summary="Returns a reference to a value that outlives the run; the session stores the value.",
        is_stateful=True,
    ),
    define_op(
        "ReadVariableOp",  # whose resource is a tensor of dtype resource in TensorFlow
        inputs=["resource: dtype"],
        outputs=["value: dtype"],
        attrs=["dtype: type"],
        shape_fn=shape_fns.unchanged_shape,
        function=lambda resource: resource,  # as in Identity
        summary="Returns the current value of a variable: how a traced function reads one.",
    ),
    define_op(
        "Assign",
        inputs=["ref: Ref(T)", "value: T"],
        outputs=["output_ref: Ref(T)"],
        attrs=["T: type"],
        shape_fn=shape_fns.assign_shape,
        summary="Assigns a new value to a variable and returns the reference.",
        is_stateful=True,
    ),
    define_op(
        "AssignAdd",
        inputs=["ref: Ref(T)", "value: T"],
        outputs=["output_ref: Ref(T)"],
        attrs=["T: realnumbertype"],
        shape_fn=shape_fns.assign_shape,
        summary="Adds a value to a variable and returns the reference.",
        is_stateful=True,
    ),
    define_op(
        "AssignSub",
        inputs=["ref: Ref(T)", "value: T"],
        outputs=["output_ref: Ref(T)"],
        attrs=["T: realnumbertype"],
        shape_fn=shape_fns.assign_shape,
        summary="Subtracts a value from a variable and returns the reference.",
        is_stateful=True,
    ),
    define_op(
        "NoOp",
        shape_fn=shape_fns.no_outputs,
        summary="Does nothing; carries control dependencies, as in `group`.",
        is_stateful=True,
    ),
    define_op(
        "WriteScalarSummary",  # the writer and the tag are inputs in TensorFlow
        inputs=["step: int64", "value: T"],
        attrs=["T: realnumbertype", "writer: string", "tag: string"],
        shape_fn=shape_fns.no_outputs,
        summary="Appends a number to the file of a writer.",
        is_stateful=True,
    ),
    # --- training: one op updates one variable and its slots ----------------------------------------------
    define_op(
        "ApplyGradientDescent",
        inputs=["var: Ref(T)", "alpha: T", "delta: T"],
        outputs=["out: Ref(T)"],
        attrs=["T: floattype"],
        shape_fn=array_shape_fns.apply_shape,
        summary="Subtracts alpha * delta from a variable.",
        is_stateful=True,
    ),
    define_op(
        "ApplyMomentum",
        inputs=["var: Ref(T)", "accum: Ref(T)", "lr: T", "grad: T", "momentum: T"],
        outputs=["out: Ref(T)"],
        attrs=["T: floattype", "use_nesterov: bool = false"],
        shape_fn=array_shape_fns.apply_shape,
        summary="Updates accum = momentum * accum + grad, then subtracts lr * accum from the variable.",
        is_stateful=True,
    ),
    define_op(
        "ResourceApplyKerasMomentum",  # Keras's SGD: the learning rate is part of the velocity
        inputs=["var: Ref(T)", "accum: Ref(T)", "lr: T", "grad: T", "momentum: T"],
        outputs=["out: Ref(T)"],
        attrs=["T: floattype", "use_nesterov: bool = false"],
        shape_fn=array_shape_fns.apply_shape,
        summary="Updates accum = momentum * accum - lr * grad, then adds accum to the variable.",
        is_stateful=True,
    ),
    define_op(
        "ApplyRMSProp",
        inputs=[
            *(f"{name}: Ref(T)" for name in ("var", "ms", "mom")),
            *(f"{name}: T" for name in ("lr", "rho", "momentum", "epsilon", "grad")),
        ],
        outputs=["out: Ref(T)"],
        attrs=["T: floattype"],
        shape_fn=array_shape_fns.apply_shape,
        summary="Updates the average ms of squared gradients, and mom by the gradients divided by its root.",
        is_stateful=True,
    ),
    define_op(
        "ApplyAdam",
        inputs=[
            "var: Ref(T)",
            "m: Ref(T)",
            "v: Ref(T)",
            *(f"{name}: T" for name in ("beta1_power", "beta2_power", "lr", "beta1", "beta2", "epsilon")),
            "grad: T",
        ],
        outputs=["out: Ref(T)"],
        attrs=["T: floattype", "use_nesterov: bool = false"],
        shape_fn=array_shape_fns.apply_shape,
        summary="Updates a variable by Adam: averages m of the gradients and v of their squares, "
        "then a step.",
        is_stateful=True,
    ),
)
