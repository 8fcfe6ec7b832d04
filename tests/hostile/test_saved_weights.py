"""Damaged and hostile files of weights: a clear error, no weight changed, nothing executed, memory bounded."""

import io
import pickle
import random
import re
import struct
import tracemalloc
import zipfile
from importlib.util import find_spec

import numpy as np
import pytest

from teachconv import keras
from teachconv.keras import layers

LEGAL = (ValueError, TypeError, OSError, MemoryError)


class Attack:
    """Unpickled, it would make a file."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return open, (str(self.path), "w")


def make_model(value=0.5):
    model = keras.Sequential([keras.Input((4,)), layers.Dense(3), layers.Dense(2)])
    model.set_weights([np.full_like(weight, value) for weight in model.get_weights()])
    return model


SAFE = pytest.mark.skipif(not find_spec("safetensors"), reason="safetensors is not installed")
ENDINGS = [".weights.npz", pytest.param(".safetensors", marks=SAFE)]


def refused(path):
    """The error of loading the file; the weights must be what they were, and one load of a whole file must work."""
    model = make_model()
    before = model.get_weights()
    with pytest.raises(LEGAL) as caught:
        model.load_weights(path)
    for old, new in zip(before, model.get_weights(), strict=True):
        np.testing.assert_array_equal(old, new)
    return caught.value


def archive(path, members):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, data in members.items():
            file.writestr(name, data)


def saved(array, **options):
    file = io.BytesIO()
    np.save(file, array, **options)
    return file.getvalue()


def members():
    """The members of a whole archive, by name."""
    return {
        "dense/kernel.npy": saved(np.ones((4, 3), "float32")),
        "dense/bias.npy": saved(np.ones(3, "float32")),
        "dense_1/kernel.npy": saved(np.ones((3, 2), "float32")),
        "dense_1/bias.npy": saved(np.ones(2, "float32")),
    }


@pytest.fixture
def path(tmp_path):
    return tmp_path / "w.weights.npz"


def test_the_archive_made_here_is_one_that_loads(path):
    archive(path, members())
    model = make_model()
    model.load_weights(path)
    assert all((weight == 1).all() for weight in model.get_weights())


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_file_cut_anywhere_is_refused(ending, tmp_path):
    whole = tmp_path / f"w{ending}"
    make_model(1.0).save_weights(whole)
    data = whole.read_bytes()
    for length in {0, 1, 7, 8, 9, 100, len(data) // 2, len(data) - 30, len(data) - 1}:
        whole.write_bytes(data[:length])
        assert str(whole) in str(refused(whole)), length


def damaged(data, rng):
    data = bytearray(data)
    for _ in range(rng.randint(1, 4)):
        place = rng.randrange(len(data))
        data[place : place + rng.randrange(6)] = rng.randbytes(rng.randrange(6))
    return bytes(data)


def try_damaged(path, trials):
    """Either every weight is the file's, as where only numbers were damaged, or every weight is the old one."""
    rng = random.Random(7)
    make_model(1.0).save_weights(path)
    whole, model, outcomes = path.read_bytes(), make_model(), set()
    for _ in range(trials):
        path.write_bytes(damaged(whole, rng))
        model.set_weights([np.full_like(weight, 0.5) for weight in model.get_weights()])
        try:
            model.load_weights(path)
        except LEGAL:
            outcomes.add("refused")
            assert all((weight == 0.5).all() for weight in model.get_weights())
        else:
            outcomes.add("loaded")
            assert not any((weight == 0.5).all() for weight in model.get_weights())
    return outcomes


@pytest.mark.parametrize("ending", ENDINGS)
def test_damaged_files(ending, tmp_path):
    assert "refused" in try_damaged(tmp_path / f"w{ending}", 60)


@pytest.mark.slow
@pytest.mark.parametrize("ending", ENDINGS)
def test_many_damaged_files(ending, tmp_path):
    assert "refused" in try_damaged(tmp_path / f"w{ending}", 2000)


FILES = {
    "empty": b"",
    "text": b"weights",
    "a lone array": saved(np.ones(3)),
    "a pickle": pickle.dumps([1, 2]),
    "an HDF5 file": b"\x89HDF\r\n\x1a\n" + bytes(100),
}


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("ending", ENDINGS)
def test_what_is_no_file_of_weights(name, ending, tmp_path):
    path = tmp_path / f"w{ending}"
    path.write_bytes(FILES[name])
    assert str(path) in str(refused(path))


def test_a_folder_and_a_missing_file(path):
    assert isinstance(refused(path), FileNotFoundError)
    path.mkdir()
    assert isinstance(refused(path), OSError)


def test_a_pickle_is_not_executed(path, tmp_path):
    made = tmp_path / "made"
    objects = np.empty((4, 3), object)
    objects[0, 0] = Attack(made)
    for data in (saved(objects, allow_pickle=True), pickle.dumps(Attack(made))):
        archive(path, members() | {"dense/kernel.npy": data})
        refused(path)
    path.write_bytes(pickle.dumps(Attack(made)))
    refused(path)
    assert not made.exists()


@pytest.mark.parametrize(
    ("name", "array", "message"),
    [
        ("dense_1/kernel", np.ones((2, 3), "float32"), r"has shape \(3, 2\); got \(2, 3\)"),
        ("dense_1/bias", np.ones((2, 1), "float32"), r"has shape \(2,\); got \(2, 1\)"),
        ("dense/kernel", np.ones((4, 3), "complex64"), "has dtype float32; got complex64"),
        ("dense/kernel", np.full((4, 3), "1"), "has dtype float32; got str"),
        ("dense/kernel", np.zeros((4, 3), "datetime64[s]"), "has dtype float32; got datetime64"),
        ("dense/kernel", np.zeros((4, 3), [("a", "f4")]), "has dtype float32; got void"),
        ("dense/kernel", np.ones((100, 100, 100), "float32"), "it has more than 12 numbers"),
    ],
)
def test_the_last_weight_that_does_not_fit_leaves_the_first_as_it_was(path, name, array, message):
    archive(path, members() | {f"{name}.npy": saved(array)})
    assert re.search(message, str(refused(path)))


def test_names_that_are_missing_or_too_many(path):
    few = members()
    del few["dense_1/bias.npy"]
    archive(path, few | {"../outside.npy": saved(np.ones(1)), "/etc/passwd.npy": saved(np.ones(1))})
    error = str(refused(path))
    assert "lacks dense_1/bias and has also ../outside, /etc/passwd" in error


def test_a_small_file_that_unpacks_to_much(path):
    """60 MB of zeros are 0.06 MB in the archive; they are not unpacked."""
    chunk = bytes(1 << 20)
    header = saved(np.zeros(0, "float32")).replace(b"(0,)", b"(1,)")
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, data in (members() | {"dense/kernel.npy": b""}).items():
            with file.open(name, "w", force_zip64=True) as member:
                member.write(data or header)
                for _ in range(0 if data else 60):
                    member.write(chunk)
    tracemalloc.start()
    try:
        assert "more than 12 numbers" in str(refused(path))
        assert tracemalloc.get_traced_memory()[1] < 20e6
    finally:
        tracemalloc.stop()


def test_a_header_that_claims_more_than_there_is(path):
    """A zip whose directory says that a member is small, while its array's header says 4 TB."""
    header = b"{'descr': '<f4', 'fortran_order': False, 'shape': (1048576, 1048576), }"
    text = header + b" " * (-(len(header) + 11) % 64) + b"\n"
    member = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + bytes(48)
    archive(path, members() | {"dense/kernel.npy": member})
    refused(path)


def test_safetensors_with_a_wrong_header(tmp_path):
    pytest.importorskip("safetensors", reason="safetensors is not installed")
    path = tmp_path / "w.safetensors"
    for header in (
        b"{}",
        b"[]",
        b'{"dense/kernel": {"dtype": "F32", "shape": [1048576, 1048576], "data_offsets": [0, 4398046511104]}}',
        b'{"dense/kernel": {"dtype": "F32", "shape": [4, 3], "data_offsets": [0, 48]}}',
        b'{"dense/kernel": {"dtype": "PICKLE", "shape": [1], "data_offsets": [0, 1]}}',
        b'{"__metadata__": {"a": 1}}',
    ):
        path.write_bytes(struct.pack("<Q", len(header)) + header + bytes(48))
        refused(path)
    path.write_bytes(struct.pack("<Q", 1 << 62) + b"{}")
    refused(path)


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_save_that_fails_leaves_the_file_as_it_was(ending, tmp_path, monkeypatch):
    path = tmp_path / f"w{ending}"
    make_model(1.0).save_weights(path)
    before = path.read_bytes()

    def full(*_):
        raise OSError("the disk is full")

    with monkeypatch.context() as patch:
        patch.setattr("teachconv.support.files.os.replace", full)
        with pytest.raises(OSError, match="disk is full"):
            make_model(2.0).save_weights(path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]
    make_model(2.0).save_weights(path)
    model = make_model()
    model.load_weights(path)
    assert (model.get_weights()[0] == 2).all()
    with pytest.raises(FileNotFoundError, match="nowhere"):
        model.save_weights(tmp_path / "nowhere" / f"w{ending}")


@pytest.mark.parametrize("ending", ENDINGS)
def test_bfloat16_comes_back(ending, tmp_path):
    pytest.importorskip("ml_dtypes", reason="ml_dtypes is not installed")
    models = [
        keras.Sequential([keras.Input((3,), dtype="bfloat16"), layers.Dense(2, dtype="bfloat16")])
        for _ in range(2)
    ]
    models[0].save_weights(tmp_path / f"w{ending}")
    models[1].load_weights(tmp_path / f"w{ending}")
    one, other = (model.get_weights()[0] for model in models)
    assert other.dtype.name == "bfloat16"
    assert (one == other).all()
