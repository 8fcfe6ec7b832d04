"""The two examples that train: shortened, and in full where there is time."""

import importlib.util
import sys
from pathlib import Path

import pytest
from helpers import mostly_release

import teachconv as tc
from teachconv.backends import why_not

EXAMPLES = Path(__file__).parents[2] / "examples"


def example(name):
    """Import a script of examples/."""
    spec = importlib.util.spec_from_file_location(f"example_{name}", EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_digits_learns(capsys, monkeypatch, tmp_path):
    pytest.importorskip("sklearn", reason="scikit-learn is not installed")
    pytest.importorskip("matplotlib")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    monkeypatch.setattr(sys, "argv", ["digits.py", "--seeds", "0", "--epochs", "2", "--plot", "digits.png"])
    example("digits").main()
    text = capsys.readouterr().out
    accuracy = float(text.rpartition("seed 0: ")[2].partition("%")[0])
    assert accuracy > 85  # two epochs of twenty
    assert Path("digits.png").stat().st_size > 10_000


@pytest.mark.slow
@pytest.mark.parametrize("seed", mostly_release(range(5), 0))
def test_digits_reaches_98_percent(seed):
    pytest.importorskip("sklearn", reason="scikit-learn is not installed")
    with tc.use_backend("numpy" if why_not("cython") else "cython"):
        _, history = example("digits").train(seed)
    assert history.history["val_accuracy"][-1] >= 0.98


def test_the_split_is_stratified_and_complete():
    pytest.importorskip("sklearn", reason="scikit-learn is not installed")
    x_train, x_test, y_train, y_test = example("digits").samples(3)
    assert len(x_train) + len(x_test) == 1797
    assert len(x_test) == 360
    assert all(abs((y_test == digit).sum() - (y_train == digit).sum() / 4) < 2 for digit in range(10))


def test_checkerboard_is_there_and_goes():
    module = example("checkerboard")
    assert module.products(module.KINDS[0]) == [4, 2, 2, 1]
    assert module.products(module.KINDS[1]) == [4, 4, 4, 4]
    _, losses, boards = module.train(module.KINDS[0], 3)
    assert losses[2] < losses[0] / 3
    assert min(boards) > 5  # grey levels of 255
    _, losses, boards = module.train(module.KINDS[2], 3)
    assert losses[2] < losses[0] / 3
    assert max(boards) < 1e-4
