"""Writes the weights of a model to a file, and reads them. Keras: keras/src/saving/saving_api.py.

A weight's key is "<layer>/<weight>", where the layer is named by its class and its number among those, as
in Keras' files: the file fits every model of the same layers, whatever their names are. A file is written as
a whole or not at all; one that is damaged or does not fit changes no weight.
"""

from __future__ import annotations

import zipfile
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import ArgumentError, brief, plain
from ..files import path_of, replacing
from ..graph import Variable
from .layers.layer import Layer, number_of_elements, set_all, shape_text
from .naming import snake_case

if TYPE_CHECKING:
    from .models import Model

__all__ = ["load_weights", "save_weights"]

_NPZ, _SAFETENSORS = ".weights.npz", ".safetensors"
_HEADER, _LARGEST_ITEM = 1 << 16, 16  # bytes: of an array's header, and of a number of any dtype


def save_weights(model: Model, filepath: Any, overwrite: bool = True) -> None:
    """Write the weights of a model; see `teachconv.keras.Model.save_weights`."""
    path, is_npz = _path(filepath)
    if not overwrite and path.exists():
        raise FileExistsError(f"filepath {brief(str(path))} exists, and overwrite is false")
    arrays: dict[str, Any] = {key: _plain(weight.numpy(), is_npz) for key, weight in keys_of(model).items()}
    with replacing(path) as file:
        if is_npz:
            np.savez(file, **arrays)
        else:
            from safetensors.numpy import save

            file.write(save(arrays))


def load_weights(model: Model, filepath: Any) -> None:
    """Read the weights of a model; see `teachconv.keras.Model.load_weights`."""
    path, is_npz = _path(filepath)
    weights = keys_of(model)
    try:
        arrays = _read_npz(path, weights) if is_npz else _read_safetensors(path, weights)
    except (ArgumentError, OSError, MemoryError):
        raise
    except Exception as error:  # of a damaged file: zipfile's, zlib's, NumPy's and safetensors' own types
        raise ArgumentError(
            f"filepath {brief(str(path))} must be a whole file of weights; this one cannot be "
            f"read: {plain(error)}"
        ) from error
    set_all(list(weights.values()), arrays, f"filepath {brief(str(path))}")


def _plain(array: np.ndarray, is_npz: bool) -> np.ndarray:
    """Return an array as a file can hold it: NumPy has no bfloat16, whose values float32 holds exactly."""
    held = array.astype("float32") if is_npz and array.dtype.name == "bfloat16" else array
    return np.ascontiguousarray(held)


def _read_npz(path: Path, weights: Mapping[str, Variable]) -> list[np.ndarray]:
    """Return the arrays of an archive; nothing is unpickled, and no more unpacked than the weights hold."""
    with path.open("rb") as opened:
        if not zipfile.is_zipfile(opened):
            raise ArgumentError(f"filepath {brief(str(path))} must be an npz archive that is whole")
        opened.seek(0)
        with np.load(opened, allow_pickle=False) as file:
            _check_keys(path, list(file.files), weights)
            for key, weight in weights.items():
                largest = _HEADER + number_of_elements(weight) * _LARGEST_ITEM
                if file.zip.getinfo(f"{key}.npy").file_size > largest:
                    raise ArgumentError(
                        f"filepath {brief(str(path))}: {key} must have shape "
                        f"{shape_text(tuple(weight.shape))}; it has more than {number_of_elements(weight)} "
                        "numbers"
                    )
            return [np.asarray(file[key]) for key in weights]


def _read_safetensors(path: Path, weights: Mapping[str, Variable]) -> list[np.ndarray]:
    from safetensors import safe_open

    with path.open("rb"), safe_open(path, framework="numpy") as file:
        _check_keys(path, list(file.keys()), weights)
        return [file.get_tensor(key) for key in weights]


def _check_keys(path: Path, found: list[str], weights: Mapping[str, Variable]) -> None:
    missing = [key for key in weights if key not in found]
    more = [key for key in found if key not in weights]
    if missing or more:
        raise ArgumentError(
            f"filepath {brief(str(path))} does not fit the model: "
            f"it lacks {', '.join(missing) or 'nothing'} and has also {', '.join(more) or 'nothing'}"
        )


def keys_of(model: Model) -> dict[str, Variable]:
    """Return the weights of a model by their keys; raise if it has none yet.

    >>> from teachconv import keras
    >>> list(keys_of(keras.Sequential([keras.Input((3,)), keras.layers.Dense(2)])))
    ['dense/kernel', 'dense/bias']
    """
    if not model.built:
        raise ArgumentError(f"model {brief(model.name)} has no weights yet: its first layer needs an Input")
    return _by_key(model, model.layers)


def _by_key(layer: Layer, sublayers: list[Layer]) -> dict[str, Variable]:
    """Return a layer's own weights by their names, and those of the layers inside by theirs."""
    found = {weight.name.rpartition("/")[2]: weight for kind in layer._own_weights for weight in kind}
    numbers: Counter[str] = Counter()
    for layer in sublayers:
        name = snake_case(type(layer).__name__)
        prefix = f"{name}_{numbers[name]}" if numbers[name] else name
        numbers[name] += 1
        inner = _by_key(layer, getattr(layer, "layers", layer._sublayers))
        found |= {f"{prefix}/{key}": weight for key, weight in inner.items()}
    return found


def _path(filepath: Any) -> tuple[Path, bool]:
    path = path_of(filepath, "filepath")
    if path.name.endswith(_NPZ):
        return path, True
    if not path.name.endswith(_SAFETENSORS):
        raise ArgumentError(
            f"filepath must end in {brief(_NPZ)} or {brief(_SAFETENSORS)}; got {brief(str(path))}"
        )
    try:
        import safetensors.numpy  # noqa: F401
    except ImportError:
        raise ArgumentError(
            f"filepath {brief(str(path))} needs safetensors, which is not installed; {brief(_NPZ)} needs "
            "only NumPy"
        ) from None
    return path, False
