"""Numbers that a program writes to a file while it trains. TensorFlow: python/ops/summary_ops_v2.py.

TensorFlow writes the records that TensorBoard reads; here the file is "scalars.csv", with a step, a tag and a
value in each line.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from contextvars import ContextVar
from typing import Any

from ...core.arguments import integer
from ...support.files import path_of
from ...support.settings import within
from ..options import unsupported
from . import gen_nn_ops
from .array_ops import is_tensor
from .math_ops import cast

__all__ = ["SummaryWriter", "create_file_writer", "scalar"]

_current: ContextVar[SummaryWriter | None] = ContextVar("teachconv_summary_writer", default=None)


class SummaryWriter:
    """A file to which ``scalar`` appends. ``create_file_writer`` makes it.

    Attributes:
        path: the file.
    """

    def __init__(self, path: str) -> None:
        self.path = path

    def as_default(self) -> AbstractContextManager[None]:
        """Let ``scalar`` write to the file in the block."""
        return within(_current, self)


@unsupported(
    "max_queue", "flush_millis", "filename_suffix", "name", "experimental_trackable", "experimental_mesh"
)
def create_file_writer(
    logdir: Any,
    max_queue: Any = None,
    flush_millis: Any = None,
    filename_suffix: Any = None,
    name: Any = None,
    experimental_trackable: Any = False,
    experimental_mesh: Any = None,
) -> SummaryWriter:
    """Return a writer to the file "scalars.csv" of a folder, which is created if necessary.

    Args:
        logdir: the folder.
        max_queue, flush_millis, filename_suffix, name, experimental_mesh: must be None.
        experimental_trackable: must be False.

    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder, create_file_writer(folder).as_default():
    ...     scalar("loss", 0.5, step=3)
    ...     print(Path(folder, "scalars.csv").read_text())
    3,loss,0.5
    """
    path = path_of(logdir, "logdir") / "scalars.csv"
    path.parent.mkdir(parents=True, exist_ok=True)
    return SummaryWriter(str(path))


@unsupported("description")
def scalar(name: str, data: Any, step: Any = None, description: Any = None) -> None:
    """Append a number to the file of the default writer; without one, do nothing.

    In a function it is appended in each call.

    Args:
        name: what the number is.
        data: the number, or a tensor without axes.
        step: the number of the step, an int or a tensor.
        description: must be None.

    Raises:
        TypeError: if ``step`` is not an int.
    """
    writer = _current.get()
    if writer is None:
        return
    number = cast(step, "int64") if is_tensor(step) else integer(step, "step")
    gen_nn_ops.write_scalar_summary(number, data, writer=writer.path, tag=name)
