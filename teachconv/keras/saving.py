"""Writes the weights of a model to a file, and reads them. Keras: keras/src/saving/saving_api.py.

A weight's key is "<layer>/<weight>", where the layer is named by its class and its number among those, as
in Keras'
files: the file fits every model of the same layers, whatever their names are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import ArgumentError, ArgumentTypeError
from ..graph import Variable
from .layers.layer import set_all
from .naming import snake_case

if TYPE_CHECKING:
    from .models import Model

__all__ = ["load_weights", "save_weights"]

_NPZ, _SAFETENSORS = ".weights.npz", ".safetensors"


def save_weights(model: Model, filepath: Any, overwrite: bool = True) -> None:
    """Write the weights of a model; see `teachconv.keras.Model.save_weights`."""
    path, is_npz = _path(filepath)
    if not overwrite and path.exists():
        raise FileExistsError(f"filepath {str(path)!r} exists, and overwrite is false")
    arrays = {key: weight.numpy() for key, weight in keys_of(model).items()}
    if is_npz:
        np.savez(path, **arrays)
    else:
        from safetensors.numpy import save_file

        save_file({key: np.ascontiguousarray(array) for key, array in arrays.items()}, path)


def load_weights(model: Model, filepath: Any) -> None:
    """Read the weights of a model; see `teachconv.keras.Model.load_weights`."""
    path, is_npz = _path(filepath)
    if is_npz:
        with np.load(path, allow_pickle=False) as file:
            arrays: Mapping[str, np.ndarray] = {key: file[key] for key in file.files}
    else:
        from safetensors.numpy import load_file

        arrays = load_file(path)
    weights = keys_of(model)
    missing, more = (
        [key for key in weights if key not in arrays],
        [key for key in arrays if key not in weights],
    )
    if missing or more:
        raise ArgumentError(
            f"filepath {str(path)!r} does not fit model {model.name!r}: "
            f"it lacks {', '.join(missing) or 'nothing'} and has also {', '.join(more) or 'nothing'}"
        )
    set_all(list(weights.values()), [arrays[key] for key in weights], f"filepath {str(path)!r}")


def keys_of(model: Model) -> dict[str, Variable]:
    """Return the weights of a model by their keys; raise if it has none yet.

    >>> from teachconv import keras
    >>> list(keys_of(keras.Sequential([keras.Input((3,)), keras.layers.Dense(2)])))
    ['dense/kernel', 'dense/bias']
    """
    if not model.built:
        raise ArgumentError(f"model {model.name!r} has no weights yet: its first layer needs an Input")
    found: dict[str, Variable] = {}
    numbers: Counter[str] = Counter()
    for layer in model.layers:
        name = snake_case(type(layer).__name__)
        prefix = f"{name}_{numbers[name]}" if numbers[name] else name
        numbers[name] += 1
        inner = keys_of(layer) if hasattr(layer, "layers") else _by_name(layer.weights)  # type: ignore[arg-type]
        found |= {f"{prefix}/{key}": weight for key, weight in inner.items()}
    return found


def _by_name(weights: list[Variable]) -> dict[str, Variable]:
    return {weight.name.rpartition("/")[2]: weight for weight in weights}


def _path(filepath: Any) -> tuple[Path, bool]:
    try:
        path = Path(filepath)
    except TypeError:
        raise ArgumentTypeError(f"filepath must be a path; got {filepath!r}") from None
    if path.name.endswith(_NPZ):
        return path, True
    if not path.name.endswith(_SAFETENSORS):
        raise ArgumentError(f"filepath must end in {_NPZ!r} or {_SAFETENSORS!r}; got {str(path)!r}")
    try:
        import safetensors.numpy  # noqa: F401
    except ImportError:
        raise ArgumentError(
            f"filepath {str(path)!r} needs safetensors, which is not installed; {_NPZ!r} needs only NumPy"
        ) from None
    return path, False
