"""Compare the programs of published_programs.toml with TensorFlow: a tensor of each, from the same weights and feed.

    python evaluation/published_numbers.py FOLDER [--only WORD]

Each program runs twice, here and in TensorFlow 2.21 (compat.v1), up to its first run with a feed that has floats to fetch.
`compared` in the list says what they are, or is the name of another tensor to fetch instead. TensorFlow gets the values that the variables
have here. Dropout is off: a number between 0 and 1 that is fed is fed as 1, and True as False. Keras 3 has taken tf.layers out
of TensorFlow; the functions below stand for it there, with TensorFlow's own variable scopes and ops.
"""

from __future__ import annotations

import argparse
import os
import pickle
import subprocess
import sys
import tempfile
import types
from pathlib import Path
from unittest.mock import MagicMock

import numpy as np
import published_programs
import their_imports
import their_tests


class Reached(BaseException):
    """The run that is compared."""


def layers(tf):
    """Return tf.layers for TensorFlow with Keras 3: what the programs use of it."""

    def scoped(kind, name, reuse):
        return tf.variable_scope(name, kind, reuse=reuse)

    def finish(y, size, use_bias, activation):
        if use_bias:
            y = tf.nn.bias_add(y, tf.get_variable("bias", [size], initializer=tf.zeros_initializer()))
        return y if activation is None else activation(y)

    def pair(value):
        return [value, value] if isinstance(value, int) else list(value)

    def conv2d(
        inputs,
        filters,
        kernel_size,
        strides=1,
        padding="valid",
        activation=None,
        use_bias=True,
        name=None,
        reuse=None,
        **_,
    ):
        with scoped("conv2d", name, reuse):
            kernel = tf.get_variable("kernel", [*pair(kernel_size), inputs.shape[-1], filters])
            y = tf.nn.conv2d(inputs, kernel, [1, *pair(strides), 1], padding.upper())
            return finish(y, filters, use_bias, activation)

    def conv2d_transpose(
        inputs,
        filters,
        kernel_size,
        strides=1,
        padding="valid",
        activation=None,
        use_bias=True,
        name=None,
        reuse=None,
        **_,
    ):
        with scoped("conv2d_transpose", name, reuse):
            kernel = tf.get_variable("kernel", [*pair(kernel_size), filters, inputs.shape[-1]])
            sizes = [
                size * step + (max(k - step, 0) if padding.lower() == "valid" else 0)
                for size, k, step in zip(inputs.shape[1:3], pair(kernel_size), pair(strides), strict=True)
            ]
            shape = tf.stack([tf.shape(inputs)[0], *sizes, filters])
            y = tf.nn.conv2d_transpose(inputs, kernel, shape, [1, *pair(strides), 1], padding.upper())
            y.set_shape([None, *sizes, filters])
            return finish(y, filters, use_bias, activation)

    def dense(inputs, units, activation=None, use_bias=True, name=None, reuse=None, **_):
        with scoped("dense", name, reuse):
            kernel = tf.get_variable("kernel", [inputs.shape[-1], units])
            return finish(tf.matmul(inputs, kernel), units, use_bias, activation)

    def batch_normalization(inputs, momentum=0.99, epsilon=1e-3, training=False, name=None, reuse=None, **_):
        with scoped("batch_normalization", name, reuse):
            made = [
                tf.get_variable(each, [inputs.shape[-1]], initializer=start, trainable=trainable)
                for each, start, trainable in (
                    ("gamma", tf.ones_initializer(), True),
                    ("beta", tf.zeros_initializer(), True),
                    ("moving_mean", tf.zeros_initializer(), False),
                    ("moving_variance", tf.ones_initializer(), False),
                )
            ]
            axes = list(range(len(inputs.shape) - 1))
            mean, variance = tf.nn.moments(inputs, axes)
            training = tf.reshape(tf.convert_to_tensor(training), [])
            mean = tf.where(training, mean, made[2])
            variance = tf.where(training, variance, made[3])
            return tf.nn.batch_normalization(inputs, mean, variance, made[1], made[0], epsilon)

    def dropout(inputs, rate=0.5, training=False, **_):
        return inputs if training is False else tf.where(training, tf.nn.dropout(inputs, rate=rate), inputs)

    def max_pooling2d(inputs, pool_size, strides, padding="valid", name=None, **_):
        return tf.nn.max_pool2d(inputs, pair(pool_size), pair(strides), padding.upper())

    given = (conv2d, conv2d_transpose, dense, batch_normalization, dropout, max_pooling2d)
    return types.SimpleNamespace(**{function.__name__: function for function in given})


def quiet(value):
    """Return a value that is fed, without dropout."""
    array = np.asarray(value)
    if array.ndim:
        return value
    return False if array.dtype == bool else 1.0 if 0 < float(array) < 1 else value


def watch(session_class, take):
    """Let the sessions of a framework stop at the run that is compared: `take` gets the session, its run and the feed."""
    run = session_class.run

    def watched(self, fetches, feed_dict=None, *more, **options):
        found = fetches if isinstance(fetches, (list, tuple)) else [fetches]
        floats = [each for each in found if getattr(getattr(each, "dtype", None), "is_floating", False)]
        if feed_dict and floats:
            take(self, run, floats[0], {key: quiet(value) for key, value in feed_dict.items()})
        return run(self, fetches, feed_dict, *more, **options)

    session_class.run = watched


def tensor(row, fetch):
    """Return what is compared: the program's own fetch, or the tensor that the list names."""
    return row["compared"] if ":" in row["compared"] else fetch


def ours(checkout, row, file):
    """Run a program here up to the run; write the weights and the value."""
    from teachconv import graph as tg

    def take(session, run, fetch, feed):
        variables = session.graph.get_collection("variables")
        value = run(session, tensor(row, fetch), feed)
        values = [run(session, each) for each in variables]
        file.write_bytes(pickle.dumps(([each.name for each in variables], values, value)))
        raise Reached

    watch(tg.Session, take)
    np.random.seed(1)  # some programs draw their batches
    published_programs.run(checkout, row)


def theirs(checkout, row, file):
    """Run a program in TensorFlow up to the run, with the weights from the file; print the difference."""
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    import tensorflow.compat.v1 as tf
    from tensorflow.python.client.session import BaseSession

    tf.disable_v2_behavior()
    tf.layers = layers(tf)
    names, values, wanted = pickle.loads(file.read_bytes())

    def take(session, run, fetch, feed):
        with session.graph.as_default():
            variables = tf.global_variables()
            shapes = [list(each.shape) for each in variables]
            assert shapes == [list(np.shape(value)) for value in values], (names, [v.name for v in variables])
            for variable, value in zip(variables, values, strict=True):
                variable.load(value, session)
        found = np.asarray(run(session, tensor(row, fetch), feed))
        same = sum(mine == other.name for mine, other in zip(names, variables, strict=True))
        error = np.abs(found - wanted).max() / max(np.abs(found).max(), 1e-30)
        print(
            f"{row['compared']} {found.shape}: {found.ravel()[:2]}, relative difference {error:.1e}; ", end=""
        )
        print(f"{len(values)} variables, {same} of the same name")
        sys.stdout.flush()
        os._exit(int(not error < 1e-4))

    watch(BaseSession, take)
    their_tests.their_imports.replace_imports = lambda _: stand_ins(tf)
    np.random.seed(1)
    print(published_programs.run(checkout, row))


def read_data_sets(*arguments, **options):
    """Return the small data; TensorFlow 2.21 takes no uint8 as a size, and a program computes one from the labels."""
    sets = their_imports.read_data_sets(*arguments, **options)
    for part in vars(sets).values():
        part.labels = part.labels.astype("int64") if part.labels.dtype == np.uint8 else part.labels
    return sets


def stand_ins(tf):
    """Let a program's TensorFlow be compat.v1 of the real one, with the same small data."""
    data = types.ModuleType("tensorflow.examples.tutorials.mnist")
    data.input_data = data
    data.read_data_sets = read_data_sets
    for name in ("", ".tutorials", ".tutorials.mnist", ".tutorials.mnist.input_data"):
        sys.modules[f"tensorflow.examples{name}"] = data
    sys.modules["tensorflow"] = tf
    sys.modules |= {name: MagicMock(name=name) for name in their_imports.PICTURES}
    sys.modules["IPython"].version_info = (9, 0)  # matplotlib asks for it


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path, help="holds the checkouts")
    parser.add_argument("--only", default="")
    parser.add_argument("--side", choices=("ours", "theirs"))
    parser.add_argument("--file", type=Path)
    options = parser.parse_args()
    failed = 0
    for row in published_programs.programs():
        if options.only not in f"{row['source']}/{row['file']}" or not row["compared"] or row["version"] != 1:
            continue
        checkout = published_programs.checkout_of(options.folder, row)
        if options.side:
            {"ours": ours, "theirs": theirs}[options.side](checkout, row, options.file)
            continue
        print(f"{row['source']}/{row['file']}: ", end="", flush=True)
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "values.pickle")
            for side in ("ours", "theirs"):
                command = [
                    sys.executable,
                    __file__,
                    str(options.folder.resolve()),
                    "--side",
                    side,
                    "--file",
                    str(file),
                ]
                done = subprocess.run(
                    [*command, "--only", f"{row['source']}/{row['file']}"],
                    cwd=folder,
                    capture_output=True,
                    text=True,
                    env=os.environ | {"MPLBACKEND": "Agg"},
                )
            print(done.stdout.strip().split("\n")[-1] or done.stderr[-600:], flush=True)
            failed += done.returncode != 0
    return failed


if __name__ == "__main__":
    sys.exit(main())
