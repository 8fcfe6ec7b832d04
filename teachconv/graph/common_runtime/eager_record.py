"""Tells whoever listens, such as a gradient tape, which ops run eagerly.

TensorFlow: python/eager/record.py and pywrap_tfe's TFE_Py_TapeSet. `execute` hands each op that ran to
every active recorder of its thread, as an `EagerOperation`. That reads like a node of a graph, so one
gradient engine walks both.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

from ..framework.op_def import OpDef, attr_of

__all__ = ["EagerOperation", "Recorder", "active", "recorded_by", "stop_recording"]


class EagerOperation:
    """One op that ran eagerly, with the reading interface of an `Operation`.

    Attributes:
        op_def: the op's definition.
        inputs: the inputs: eager tensors; a variable where the op read or assigned one.
        outputs: the eager tensors that it returned.
        attrs: the attributes by name.
    """

    __slots__ = ("attrs", "inputs", "op_def", "outputs")

    def __init__(
        self, op_def: OpDef, inputs: tuple[Any, ...], outputs: tuple[Any, ...], attrs: Mapping[str, Any]
    ):
        self.op_def, self.inputs, self.outputs, self.attrs = op_def, inputs, outputs, attrs

    @property
    def type(self) -> str:
        """The name of the op."""
        return self.op_def.name

    @property
    def name(self) -> str:
        """The name of the op, for messages: what runs eagerly has no name of its own."""
        return self.op_def.name

    def get_attr(self, name: str) -> Any:
        """Return the value of an attribute; raise ``ValueError`` if there is none of that name."""
        return attr_of(self, name)

    def __repr__(self) -> str:
        return f"<EagerOperation type={self.type}>"


class Recorder(Protocol):
    """What can be made active: anything with a method ``record``."""

    def record(self, operation: EagerOperation) -> None:
        """Take note of an op that has run."""


_state = threading.local()


def active() -> tuple[Recorder, ...]:
    """Return the active recorders of this thread, the innermost last."""
    return getattr(_state, "recorders", ())


def interested(inputs: Sequence[Any]) -> tuple[Recorder, ...]:
    """Return the active recorders that want to know of an op with these inputs; by default all of them."""
    return tuple(
        recorder for recorder in active() if not hasattr(recorder, "watches") or recorder.watches(inputs)
    )


@contextmanager
def recorded_by(recorder: Recorder) -> Iterator[None]:
    """Within the block, hand the ops that this thread runs to ``recorder`` too."""
    before = active()
    _state.recorders = (*before, recorder)
    try:
        yield
    finally:
        _state.recorders = before


@contextmanager
def stop_recording() -> Iterator[None]:
    """Within the block, hand the ops that this thread runs to nobody."""
    before = active()
    _state.recorders = ()
    try:
        yield
    finally:
        _state.recorders = before
