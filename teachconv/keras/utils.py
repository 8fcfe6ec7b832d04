"""Small helpers. Keras: keras.utils."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..support.errors import ArgumentError
from .checks import clear_session
from .config import floatx, set_random_seed
from .layers.pooling import check_data_format
from .summary import Summary

__all__ = [
    "PyDataset",
    "Sequence",
    "array_to_img",
    "clear_session",
    "plot_model",
    "set_random_seed",
    "to_categorical",
]


class PyDataset:
    """The base of numbered batches for ``fit``: a class of your own has ``__len__`` and ``__getitem__``.

    Args:
        workers, use_multiprocessing, max_queue_size: accepted as in Keras; batches are made one after the
            other.

    >>> class Squares(PyDataset):
    ...     def __len__(self):
    ...         return 3
    ...     def __getitem__(self, batch):
    ...         return np.full((2, 1), batch), np.full((2, 1), batch**2)
    """

    def __init__(self, workers: int = 1, use_multiprocessing: bool = False, max_queue_size: int = 10):
        self.workers, self.use_multiprocessing, self.max_queue_size = (
            workers,
            use_multiprocessing,
            max_queue_size,
        )

    def on_epoch_end(self) -> None:
        """Called after each epoch."""


Sequence = PyDataset  # Keras 2's name


def array_to_img(x: Any, data_format: str | None = None, scale: bool = True, dtype: Any = None) -> Any:
    """Return an image of Pillow, which must be installed.

    Args:
        x: [rows, cols, channels], with 1, 3 or 4 channels.
        data_format: as in `teachconv.keras.layers.Conv2D`.
        scale: whether the smallest number becomes 0 and the largest 255.
        dtype: accepted as in Keras; it computes with float32.

    Returns:
        A ``PIL.Image.Image``.

    Raises:
        ValueError: if it has other axes.
    """
    from PIL import Image

    array = np.asarray(x, np.float32)
    if check_data_format(data_format) == "channels_first" and array.ndim == 3:
        array = array.transpose(1, 2, 0)
    if array.ndim != 3 or array.shape[2] not in (1, 3, 4):
        raise ArgumentError(f"x must have rows, cols and 1, 3 or 4 channels; got shape {np.shape(x)}")
    if scale:
        array = array - array.min(initial=np.inf)
        array = array / (array.max(initial=0) or 1) * 255
    return Image.fromarray(array.astype(np.uint8)[..., 0] if array.shape[2] == 1 else array.astype(np.uint8))


def plot_model(
    model: Any,
    to_file: Any = "model.png",
    show_shapes: bool = False,
    show_dtype: bool = False,
    show_layer_names: bool = False,
    rankdir: str = "TB",
    expand_nested: bool = False,
    dpi: int = 200,
    show_layer_activations: bool = False,
    show_trainable: bool = False,
) -> Summary:
    """Return the summary of a model, which a notebook shows: Keras draws a picture with Graphviz instead.

    Args:
        model: the model.
        to_file: accepted as in Keras; no file is written.
        show_shapes, show_dtype, show_layer_names, rankdir, expand_nested, dpi, show_layer_activations:
            accepted as in Keras; the table has names and shapes, and the geometry of each layer.
        show_trainable: whether to add a column that says what is trained.

    Returns:
        The table.

    Raises:
        ValueError: if the model does not know the shape of its input yet.
    """
    return Summary.of(model, show_trainable=show_trainable, geometry=True)


def to_categorical(x: Any, num_classes: int | None = None) -> np.ndarray:
    """Return classes as one-hot vectors.

    Args:
        x: integers from 0, of any shape.
        num_classes: the length of the vectors; None for the largest class plus one.

    Returns:
        The shape of ``x``, without a last axis of 1, and a last axis of ``num_classes``.

    Raises:
        ValueError: if a class is negative or too large.

    >>> to_categorical([0, 2]).tolist()
    [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]
    """
    array = np.asarray(x)
    if array.dtype.kind not in "iuf" or (array % 1).any():
        raise ArgumentError(f"x must hold whole numbers; got dtype {array.dtype}")
    classes = array.astype(np.int64)
    count = int(classes.max(initial=-1)) + 1 if num_classes is None else num_classes
    wrong = classes[(classes < 0) | (classes >= count)]
    if wrong.size:
        raise ArgumentError(f"x must hold classes from 0 to {count - 1}; got {wrong[0]}")
    if classes.ndim > 1 and classes.shape[-1] == 1:
        classes = classes[..., 0]
    return np.eye(count, dtype=floatx())[classes]
