"""tf.train.Checkpoint and tf.summary.scalar, as DCGAN and pix2pix call them."""

import csv

import numpy as np
import pytest

import teachconv.tf as tf


@pytest.fixture
def trained():
    """A model that took a step of Adam, and its optimizer."""
    model = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(2)])
    optimizer = tf.keras.optimizers.Adam(0.1)
    model.compile(optimizer, "mse")
    model.fit(np.ones((4, 3)), np.ones((4, 2)), verbose=0)
    return model, optimizer


def values(model, optimizer):
    return [variable.numpy() for variable in [*model.weights, *optimizer.variables]]


def test_a_restored_training_goes_on_as_if_it_had_not_stopped(trained, tmp_path):
    model, optimizer = trained
    checkpoint = tf.train.Checkpoint(model=model, optimizer=optimizer)
    assert checkpoint.model is model
    assert tf.train.latest_checkpoint(tmp_path) is None
    assert checkpoint.restore(None) is checkpoint
    prefix = checkpoint.save(file_prefix=tmp_path / "folder" / "ckpt")
    assert prefix == str(tmp_path / "folder" / "ckpt-1")
    saved = values(model, optimizer)
    model.fit(np.ones((4, 3)), np.ones((4, 2)), verbose=0)
    later = values(model, optimizer)
    checkpoint.restore(tf.train.latest_checkpoint(tmp_path / "folder"))
    assert all(map(np.array_equal, values(model, optimizer), saved))
    model.fit(np.ones((4, 3)), np.ones((4, 2)), verbose=0)
    assert all(map(np.array_equal, values(model, optimizer), later))
    assert checkpoint.save(tmp_path / "folder" / "ckpt").endswith("ckpt-2")
    assert tf.train.latest_checkpoint(tmp_path / "folder").endswith("ckpt-2")


def test_what_does_not_fit_changes_nothing(trained, tmp_path):
    model, optimizer = trained
    v = tf.Variable([1.0, 2.0])
    path = tf.train.Checkpoint(v=v).save(tmp_path / "ckpt")
    before = values(model, optimizer)
    with pytest.raises(ValueError, match="lacks model/0"):
        tf.train.Checkpoint(model=model, v=v).restore(path)
    with pytest.raises(ValueError, match=r"shape \(3,\); got \(2,\)"):
        tf.train.Checkpoint(v=tf.Variable([0.0] * 3)).restore(path)
    with pytest.raises(TypeError, match="v must be a model, an optimizer or a variable; got 3"):
        tf.train.Checkpoint(v=3).save(tmp_path / "ckpt")
    (tmp_path / "ckpt-1.npz").write_bytes(b"no archive")
    with pytest.raises(ValueError, match="complete npz archive"):
        tf.train.Checkpoint(v=v).restore(path)
    with pytest.raises(FileNotFoundError):
        tf.train.Checkpoint(v=v).restore(tmp_path / "other")
    assert all(map(np.array_equal, values(model, optimizer), before))
    assert v.numpy().tolist() == [1.0, 2.0]


def test_a_scalar_is_written_in_each_call_of_a_function(tmp_path):
    writer, total = tf.summary.create_file_writer(str(tmp_path / "logs")), tf.Variable(0.0)

    @tf.function
    def step(x, number):
        total.assign_add(x)
        with writer.as_default():
            tf.summary.scalar('the "sum", so far', total, step=number // 2)

    for number in tf.range(3):
        step(tf.constant(1.5), tf.cast(number, tf.int64))
    tf.summary.scalar("nowhere", 1.0, step=0)  # without a writer
    with writer.as_default():
        tf.summary.scalar("count", 3, step=7)
        with pytest.raises(TypeError, match="step must be"):
            tf.summary.scalar("count", 3)
    with open(tmp_path / "logs" / "scalars.csv", encoding="utf-8", newline="") as file:
        name = 'the "sum", so far'
        assert list(csv.reader(file)) == [
            ["0", name, "1.5"],
            ["0", name, "3.0"],
            ["1", name, "4.5"],
            ["7", "count", "3"],
        ]
