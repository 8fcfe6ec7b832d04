"""Saves the weights of a model to a file and loads them.

Keras: keras/src/saving/saving_api.py. A weight's key is "<layer>/<weight>". As in Keras' files, a layer is
named by its class and its index among the layers of that class, so a file fits every model with the same
layers, whatever their names are. A failed save leaves no partial file. A file that is damaged or does not fit
changes no weight.

Keras' own weights need no conversion: ``model.set_weights(keras_model.get_weights())``.
"""

from __future__ import annotations

import re
import sys
import zipfile
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..graph import Variable
from ..graph.options import unsupported
from ..support.errors import ArgumentError, ArgumentTypeError, brief
from ..support.files import path_of, read_array, reading, replacing
from .checks import shape_text, snake_case
from .layers.layer import Layer, number_of_elements, set_all

if TYPE_CHECKING:
    from .models import Model


_NPZ, _SAFETENSORS, _CHECKPOINT = ".weights.npz", ".safetensors", ".npz"
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
    _load(path, is_npz, keys_of(model))


def _load(path: Path, is_npz: bool, weights: Mapping[str, Variable]) -> None:
    """Assign the arrays of a file to variables by their keys."""
    with reading(path, "a whole file of weights", "filepath", sys.maxsize):
        arrays = _read_npz(path, weights) if is_npz else _read_safetensors(path, weights)
    set_all(list(weights.values()), arrays, f"filepath {brief(str(path))}")


def _plain(array: np.ndarray, is_npz: bool) -> np.ndarray:
    """Return an array as a file can hold it: NumPy has no bfloat16, whose values float32 holds exactly."""
    held = array.astype("float32") if is_npz and array.dtype.name == "bfloat16" else array
    return np.asarray(held, order="C")


def _read_npz(path: Path, weights: Mapping[str, Variable]) -> list[np.ndarray]:
    """Return the arrays of an archive; nothing is unpickled, and no more unpacked than the weights hold."""
    with path.open("rb") as opened:
        if not zipfile.is_zipfile(opened):
            raise ArgumentError(f"filepath {brief(str(path))} must be a complete npz archive")
        opened.seek(0)
        with np.load(opened, allow_pickle=False) as file:
            _check_keys(path, list(file.files), weights)
            arrays = []
            for key, weight in weights.items():
                largest = _HEADER + number_of_elements(weight) * _LARGEST_ITEM
                size = file.zip.getinfo(f"{key}.npy").file_size
                if size > largest:
                    raise ArgumentError(
                        f"filepath {brief(str(path))}: {key} must have shape "
                        f"{shape_text(tuple(weight.shape))}; it has more than {number_of_elements(weight)} "
                        "numbers"
                    )
                with file.zip.open(f"{key}.npy") as member:
                    arrays.append(read_array(member, size))
            return arrays


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


# --- several models, optimizers and variables in one file ---------------------------------------------


class Checkpoint:
    """Writes and reads the variables of models and optimizers, and others, as tf.train.Checkpoint.

    TensorFlow: python/checkpoint/checkpoint.py. The file is an npz archive, and not TensorFlow's.

    Args:
        root: must be None.
        **kwargs: what to save, by names of your own. Each is an attribute of the checkpoint, too.

    Attributes:
        save_counter: how often it was saved.

    >>> import tempfile
    >>> from teachconv.graph import Variable
    >>> v = Variable([1.0, 2.0])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     checkpoint = Checkpoint(v=v)
    ...     path = checkpoint.save(f"{folder}/ckpt")
    ...     v.assign([5.0, 6.0])
    ...     _ = checkpoint.restore(latest_checkpoint(folder))
    ...     path.rpartition("/")[2], v.numpy().tolist()
    <tf.Variable 'Variable:0' shape=(2,) dtype=float32, numpy=array([5., 6.], dtype=float32)>
    ('ckpt-1', [1.0, 2.0])
    """

    @unsupported("root")
    def __init__(self, root: Any = None, **kwargs: Any) -> None:
        self._tracked, self.save_counter = kwargs, 0
        vars(self).update(kwargs)

    def _variables(self) -> dict[str, Variable]:
        found: dict[str, Variable] = {}
        for name, each in self._tracked.items():
            own = [each] if isinstance(each, Variable) else getattr(each, "weights", None)
            own = getattr(each, "variables", None) if own is None else own
            if own is None:
                raise ArgumentTypeError(
                    f"{name} must be a model, an optimizer or a variable; got {brief(each)}"
                )
            found |= {f"{name}/{index}": variable for index, variable in enumerate(own)}
        return found

    @unsupported("options")
    def save(self, file_prefix: Any, options: Any = None) -> str:
        """Write a file, and note in the file "checkpoint" beside it that it is the latest.

        Args:
            file_prefix: the path, to which a number is added; its folder is created if necessary.
            options: must be None.

        Returns:
            The path with the number, which ``restore`` takes.
        """
        prefix = f"{path_of(file_prefix, 'file_prefix')}-{self.save_counter + 1}"
        write_checkpoint(prefix, {key: each.numpy() for key, each in self._variables().items()})
        self.save_counter += 1
        return prefix

    @unsupported("options")
    def restore(self, save_path: Any, options: Any = None) -> Checkpoint:
        """Assign the arrays of a file to the variables, all of which must exist; TensorFlow waits for some.

        Args:
            save_path: what ``save`` returned; None changes nothing.
            options: must be None.

        Returns:
            The checkpoint.

        Raises:
            ValueError: if the file does not fit or is damaged; nothing is then changed.
        """
        if save_path is not None:
            _load(Path(f"{path_of(save_path, 'save_path')}{_CHECKPOINT}"), True, self._variables())
        return self


def write_checkpoint(prefix: str, arrays: Mapping[str, np.ndarray]) -> None:
    """Write arrays by their keys to a file, and note in the file "checkpoint" that it is the latest."""
    path = Path(f"{prefix}{_CHECKPOINT}")
    path.parent.mkdir(parents=True, exist_ok=True)
    plain: dict[str, Any] = {key: _plain(array, True) for key, array in arrays.items()}
    with replacing(path) as file:
        np.savez(file, **plain)
    with replacing(path.with_name("checkpoint")) as file:
        file.write(f'model_checkpoint_path: "{path.name.removesuffix(_CHECKPOINT)}"\n'.encode())


def read_checkpoint(prefix: Any, variables: Mapping[str, Variable]) -> list[np.ndarray]:
    """Return the arrays of a file that `write_checkpoint` wrote, for variables by their keys."""
    path = Path(f"{path_of(prefix, 'save_path')}{_CHECKPOINT}")
    with reading(path, "a whole file of weights", "save_path", sys.maxsize):
        return _read_npz(path, variables)


@unsupported("latest_filename")
def latest_checkpoint(checkpoint_dir: Any, latest_filename: Any = None) -> str | None:
    """Return the path of the checkpoint that was saved last in a folder, as tf.train.latest_checkpoint.

    Args:
        checkpoint_dir: the folder.
        latest_filename: must be None.

    Returns:
        What ``Checkpoint.restore`` takes; None if none was saved there.
    """
    note = path_of(checkpoint_dir, "checkpoint_dir") / "checkpoint"
    found = (
        re.match(r'model_checkpoint_path: "([^"/]+)"', note.read_text("utf-8")) if note.is_file() else None
    )
    return None if found is None else str(note.with_name(found[1]))
