"""tf.summary of TensorFlow 1: numbers in a file "scalars.csv". TensorFlow: python/summary/summary.py.

A summary is a dict of tensors by their tags, which a session runs like a tensor, and `FileWriter.add_summary`
takes the values.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ....graph import GraphKeys, get_default_graph, identity, name_scope
from ....graph.kernels.state_ops import write_scalar_summary
from ....graph.ops.summary_ops import create_file_writer
from .default_graph import in_graph

__all__ = ["FileWriter", "histogram", "image", "merge", "merge_all", "scalar"]

Summary = Mapping[str, Any]


@in_graph
def scalar(name: str, tensor: Any, collections: Any = None, family: Any = None) -> Summary:
    """Return the summary of a number.

    Args:
        name: its tag, after the name scope.
        tensor: a tensor without axes.
        collections: the collections that list the summary; None for that of `merge_all`.
        family: has no effect.
    """
    with name_scope(name) as scope:
        return _listed({scope.rstrip("/"): identity(tensor)}, collections)


@in_graph
def histogram(name: str, values: Any, collections: Any = None, family: Any = None) -> Summary:
    """Return an empty summary: a file of numbers has no histograms.

    Args:
        name, values, family: have no effect.
        collections: as in `scalar`.
    """
    return _listed({}, collections)


@in_graph
def image(
    name: str, tensor: Any, max_outputs: int = 3, collections: Any = None, family: Any = None
) -> Summary:
    """Return an empty summary: a file of numbers has no images.

    Args:
        name, tensor, max_outputs, family: have no effect.
        collections: as in `scalar`.
    """
    return _listed({}, collections)


def _listed(summary: Summary, collections: Iterable[str] | None) -> Summary:
    for key in [GraphKeys.SUMMARIES] if collections is None else collections:
        get_default_graph().add_to_collection(key, summary)
    return summary


@in_graph
def merge(inputs: Iterable[Summary], collections: Any = None, name: str | None = None) -> Summary:
    """Return one summary for several.

    Args:
        inputs: the summaries.
        collections: the collections that list the result.
        name: has no effect.
    """
    merged = {tag: tensor for summary in inputs for tag, tensor in summary.items()}
    return _listed(merged, collections or ())


@in_graph
def merge_all(key: str = GraphKeys.SUMMARIES, scope: Any = None, name: str | None = None) -> Any:
    """Return one summary for all of a collection; None if it is empty.

    Args:
        key: the name of the collection.
        scope, name: have no effect.
    """
    return merge(get_default_graph().get_collection(key)) or None


class FileWriter:
    """Appends summaries to the file "scalars.csv" of a folder: a step, a tag and a value in each line.

    Args:
        logdir: the folder, which is created if necessary.
        graph, max_queue, flush_secs, graph_def, filename_suffix, session: have no effect.
    """

    def __init__(
        self,
        logdir: Any,
        graph: Any = None,
        max_queue: int = 10,
        flush_secs: int = 120,
        graph_def: Any = None,
        filename_suffix: Any = None,
        session: Any = None,
    ) -> None:
        self._path = create_file_writer(logdir).path

    def add_summary(self, summary: Summary, global_step: Any = None) -> None:
        """Append the values of a summary that a session has run, with the number of a step; None means 0."""
        for tag, value in summary.items():
            write_scalar_summary(global_step or 0, value, writer=self._path, tag=tag)

    def add_graph(self, *_: Any, **__: Any) -> None:
        """Do nothing: `teachconv.graph.picture_graph` shows a graph, and what was added has been written."""

    flush = close = add_graph
