"""tf.train of TensorFlow 1: optimizers, which add to the default graph; files of variables; moving averages.

TensorFlow: python/training/. The files are npz archives, which TensorFlow cannot read.
"""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

from .... import graph as tg
from ....graph import GraphKeys, get_default_graph, training
from ....graph.framework.eager_tensor import items
from ....graph.options import unsupported
from ....keras.saving import latest_checkpoint, read_checkpoint, write_checkpoint
from ....support.errors import ArgumentError
from .default_graph import in_graph
from .framework import Variable

__all__ = [
    "AdamOptimizer",
    "ExponentialMovingAverage",
    "GradientDescentOptimizer",
    "MomentumOptimizer",
    "Optimizer",
    "RMSPropOptimizer",
    "Saver",
    "exponential_decay",
    "get_checkpoint_state",
    "get_global_step",
    "get_or_create_global_step",
    "global_step",
    "latest_checkpoint",
]

exponential_decay = in_graph(training.exponential_decay)


class Optimizer(training.Optimizer):
    """The base class: `teachconv.graph.training.Optimizer`."""

    minimize = in_graph(training.Optimizer.minimize)
    compute_gradients = in_graph(training.Optimizer.compute_gradients)
    apply_gradients = in_graph(training.Optimizer.apply_gradients)


class GradientDescentOptimizer(Optimizer, training.GradientDescentOptimizer):
    """Gradient descent: `teachconv.graph.training.GradientDescentOptimizer`."""


class MomentumOptimizer(Optimizer, training.MomentumOptimizer):
    """Gradient descent with momentum: `teachconv.graph.training.MomentumOptimizer`."""


class RMSPropOptimizer(Optimizer, training.RMSPropOptimizer):
    """RMSProp: `teachconv.graph.training.RMSPropOptimizer`."""


class AdamOptimizer(Optimizer, training.AdamOptimizer):
    """Adam: `teachconv.graph.training.AdamOptimizer`."""


# --- the number of the step --------------------------------------------------------------------------


@in_graph
def get_global_step(graph: Any = None) -> Any:
    """Return the variable that counts the steps of a training, or None.

    Args:
        graph: the graph; None for the default one.
    """
    found = (graph or get_default_graph()).get_collection(GraphKeys.GLOBAL_STEP)
    return found[0] if found else None


@in_graph
def get_or_create_global_step(graph: Any = None) -> Any:
    """Return the variable that counts the steps, "global_step"; make it, with 0, if there is none.

    Args:
        graph: as in `get_global_step`.
    """
    with (graph or get_default_graph()).as_default(), tg.name_scope(None):
        keys = [GraphKeys.GLOBAL_VARIABLES, GraphKeys.GLOBAL_STEP]
        return get_global_step() or Variable(0, False, keys, name="global_step", dtype="int64")


def global_step(sess: Any, global_step_tensor: Any) -> int:
    """Return the value of the variable that counts the steps.

    Args:
        sess: the session.
        global_step_tensor: the variable.
    """
    return int(sess.run(global_step_tensor))


# --- files -------------------------------------------------------------------------------------------


class Saver:
    """Writes the values that a session stores for variables to files, and reads them.

    Args:
        var_list: the variables, also by names of your own; None for all of the default graph.
        max_to_keep: how many of its files stay, the latest ones; 0 or None for all.
        reshape, sharded, keep_checkpoint_every_n_hours, name, restore_sequentially: have no effect.
        saver_def, builder, defer_build, allow_empty, write_version, pad_step_number: likewise.
        save_relative_paths, filename: likewise.

    Raises:
        ValueError: if there are no variables.
    """

    @in_graph
    def __init__(
        self,
        var_list: Any = None,
        reshape: bool = False,
        sharded: bool = False,
        max_to_keep: int | None = 5,
        keep_checkpoint_every_n_hours: float = 10000.0,
        name: str | None = None,
        restore_sequentially: bool = False,
        saver_def: Any = None,
        builder: Any = None,
        defer_build: bool = False,
        allow_empty: bool = False,
        write_version: int = 2,
        pad_step_number: bool = False,
        save_relative_paths: bool = False,
        filename: Any = None,
    ) -> None:
        found = tg.global_variables() if var_list is None else var_list
        named = found if isinstance(found, dict) else {each.name.partition(":")[0]: each for each in found}
        if not named:
            raise ArgumentError("No variables to save: make them before the Saver")
        self._variables, self._most = named, max_to_keep or 0
        self._kept: list[str] = []

    def save(
        self,
        sess: Any,
        save_path: Any,
        global_step: Any = None,
        latest_filename: Any = None,
        meta_graph_suffix: str = "meta",
        write_meta_graph: bool = True,
        write_state: bool = True,
    ) -> str:
        """Write a file, and note in the file "checkpoint" beside it that it is the latest.

        Args:
            sess: the session.
            save_path: the path; its folder is created if necessary.
            global_step: a number that is added to the path: an int, a variable or a tensor.
            latest_filename, meta_graph_suffix, write_meta_graph, write_state: have no effect.

        Returns:
            The path with the number, which ``restore`` takes.
        """
        step = sess.run(global_step) if hasattr(global_step, "dtype") else global_step
        prefix = str(save_path) if step is None else f"{save_path}-{int(step)}"
        write_checkpoint(prefix, sess.run(self._variables))
        self._kept = [*(each for each in self._kept if each != prefix), prefix]
        while self._most and len(self._kept) > self._most:
            Path(f"{self._kept.pop(0)}.npz").unlink(missing_ok=True)
        return prefix

    def restore(self, sess: Any, save_path: Any) -> None:
        """Assign the arrays of a file to the variables of a session, which need no other initial value.

        Args:
            sess: the session.
            save_path: what ``save`` returned.

        Raises:
            ValueError: if the file does not fit or is damaged; nothing is then changed.
        """
        arrays = read_checkpoint(save_path, self._variables)
        for variable, array in zip(self._variables.values(), arrays, strict=True):
            sess.run(variable.initializer, {variable.initial_value: array})


@unsupported("latest_filename")
def get_checkpoint_state(checkpoint_dir: Any, latest_filename: Any = None) -> Any:
    """Return which file of a folder was written last, as the attribute ``model_checkpoint_path``; or None.

    Args:
        checkpoint_dir: the folder.
        latest_filename: must be None.
    """
    path = latest_checkpoint(checkpoint_dir)
    return None if path is None else SimpleNamespace(model_checkpoint_path=path)


# --- moving averages ---------------------------------------------------------------------------------


class ExponentialMovingAverage:
    """Keeps averages of variables or tensors, in which a value of n steps ago counts ``decay ** n`` times.

    Args:
        decay: a number below 1.
        num_updates: the number of the step, which makes the averages faster at the beginning; or None.
        zero_debias: must be False.
        name: the end of the averages' names.
    """

    @unsupported("zero_debias")
    def __init__(
        self,
        decay: Any,
        num_updates: Any = None,
        zero_debias: bool = False,
        name: str = "ExponentialMovingAverage",
    ) -> None:
        self.name, self._decay, self._step = name, decay, num_updates
        self._averages: dict[int, tuple[Any, Variable]] = {}  # id of what is averaged, which is kept alive

    @in_graph
    def apply(self, var_list: Any = None) -> Any:
        """Return an operation that updates the averages, which begin with the variables' values or with 0.

        Args:
            var_list: variables and tensors; None for the trainable variables.
        """
        decay, updates = self._decay, []
        if self._step is not None:
            step = tg.cast(self._step, "float32")
            decay = tg.minimum(decay, (step + 1.0) / (step + 10.0))
        for value in tg.trainable_variables() if var_list is None else items(var_list, "var_list", "a list"):
            of_variable = isinstance(value, tg.Variable)
            start = value.initial_value if of_variable else tg.zeros(value.shape, value.dtype)
            with tg.name_scope(None):
                average = Variable(start, False, name=f"{value.op.name}/{self.name}")
            self._averages[id(value)] = value, average
            updates.append(average.assign_sub((average.value() - value) * (1.0 - decay)))
        return tg.group(*updates)

    def average(self, var: Any) -> Any:
        """Return the variable that holds the average of a variable or tensor, or None."""
        return self._averages.get(id(var), (None, None))[1]
