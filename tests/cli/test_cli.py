"""The command line: its output and exit status."""

import subprocess
import sys

import numpy as np
import pytest

import teachconv as tc
from teachconv.cli.call_arguments import OPS
from teachconv.cli.main import main
from teachconv.data.seeded import make_array
from teachconv.verification.cases import find_cases

INPUT_GRADIENT = ["explain", "conv2d_backprop_input", "--input-sizes"]
CALL = ["--input", "1,8,8,1", "--filters", "3,3,1,1", "--strides", "2", "--padding", "SAME"]


def run(capsys, *arguments):
    status = main(list(arguments))
    captured = capsys.readouterr()
    return status, captured.out, captured.err


def test_explain_shows_winograds_steps(capsys):
    call = ["explain", "conv2d", "--input", "1,4,4,1", "--filters", "3,3,1,1", "--algorithm"]
    status, out, _ = run(capsys, *call, "winograd2")
    assert status == 0
    assert "16 products for 2 x 2 outputs, instead of 36" in " ".join(out.split())
    assert "\n4 output transform: A' M A  winograd_stages.h:" in out
    status, _, err = run(capsys, *call, "im2col")
    assert status == 2
    assert "of winograd, winograd2 and winograd4 it shows the steps" in err


def test_explain(capsys):
    status, out, _ = run(capsys, "explain", "conv2d", *CALL, "--at", "0,1,1,0")
    assert status == 0
    assert "output[0, 1, 1, 0]" in out
    status, out, _ = run(capsys, "explain", "conv2d", *CALL, "--at", "0,3,3,0")
    assert status == 0
    assert "of 9 taps in the padding" in out


@pytest.mark.parametrize("op", list(OPS))
def test_every_op(capsys, op):
    call = CALL if "depthwise" not in op else [*CALL[:3], "3,3,1,2", *CALL[4:]]
    if "1d" in op or "3d" in op:
        sizes = {"1d": ("1,4,1", "3,1,1"), "3d": ("1,2,4,4,1", "2,3,3,1,1")}["1d" if "1d" in op else "3d"]
        call = ["--input", sizes[0], "--filters", sizes[1], *CALL[4:]]
    for command in ("explain", "trace", "diff"):
        status, out, err = run(capsys, command, op, *call)
        assert status == 0, err
        assert op in out


def test_trace(capsys):
    status, out, _ = run(capsys, "trace", "conv2d", *CALL, "--backend", "numpy")
    assert status == 0
    assert out.startswith("conv2d on backend numpy, algorithm im2col: ")
    assert "result [1, 4, 4, 1] float32" in out


def test_find_source(capsys):
    status, out, _ = run(capsys, "find-source", "tf.nn.conv2d", *CALL, "--backend", "numpy")
    assert status == 0
    assert "backend numpy, algorithm im2col" in out
    assert "1 here: the taps are neighbours" in out
    status, out, _ = run(capsys, "find-source", "conv2d", *CALL, "--backend", "numpy")
    assert "SAME at stride 2: pad_before 0, pad_after 1" in " ".join(out.split())
    status, out, _ = run(capsys, "find-source", "depthwise_conv2d_backprop_input")
    assert (status, out.split("\n")[0]) == (0, "where is depthwise_conv2d_backprop_input executed?")
    status, out, _ = run(capsys, "find-source", "torch.conv_transpose2d")
    assert status == 0
    assert "register_tile.h:" in out
    status, _, err = run(capsys, "find-source", "conv2dd")
    assert status == 2
    assert 'did you mean "conv2d"' in err
    assert run(capsys, "find-source", "torch.conv2d", *CALL)[0] == 2


def test_diff_of_one_call(capsys, tmp_path):
    status, out, _ = run(capsys, "diff", "conv2d", *CALL)
    assert status == 0
    assert "all pass" in out
    wrong = tmp_path / "theirs.npy"
    np.save(wrong, np.zeros((1, 4, 4, 1), np.float32))
    status, out, _ = run(capsys, "diff", "conv2d", *CALL, "--against", str(wrong))
    assert status == 1
    assert "FAIL" in out
    assert "first bad cell" in out


def test_diff_with_a_tolerance(capsys, tmp_path):
    near = tmp_path / "near.npy"
    x, w = make_array((1, 5, 5, 1), "float32", "integers", "input"), make_array((3, 3, 1, 2), "float32")
    np.save(near, tc.conv2d(x, w) * np.float32(1.001))
    call = ("--input", str(tmp_path / "x.npy"), "--filters", str(tmp_path / "w.npy"))
    np.save(tmp_path / "x.npy", x)
    np.save(tmp_path / "w.npy", w)
    against = ("diff", "conv2d", *call, "--backends", "numpy", "--against", str(near))
    status, out, _ = run(capsys, *against)
    assert status == 1
    assert "theirs: " in out
    status, out, _ = run(capsys, *against, "--rtol", "0.01", "--atol", "1e-3")
    assert status == 0
    assert "with a tolerance of rtol 0.01, atol 0.001" in out
    status, _, error = run(capsys, "diff", "--rtol", "0.01")
    assert status
    assert "--rtol goes with a call: name an op" in error


@pytest.mark.slow  # the whole table, which tests of the backends run too
def test_diff_alone_runs_the_table(capsys):
    status, out, _ = run(capsys, "diff", "--dtype", "int32", "--data", "integers")
    assert status == 0
    assert f"{len(find_cases('small'))} cases" in out
    assert "all pass" in out


def test_arrays_from_files(capsys, tmp_path):
    x, w = np.arange(16.0).reshape(1, 4, 4, 1), np.ones((2, 2, 1, 1))
    np.save(tmp_path / "x.npy", x)
    np.save(tmp_path / "w.npy", w)
    files = ["--input", str(tmp_path / "x.npy"), "--filters", str(tmp_path / "w.npy")]
    _, out, _ = run(capsys, "explain", "conv2d", *files, "--at", "0,2,2,0")
    assert f"= {tc.conv2d(x, w)[0, 2, 2, 0]}, the sum of 4 products" in out


def test_padding_and_pairs(capsys):
    status, out, _ = run(
        capsys,
        "trace",
        "conv2d",
        "--input",
        "1,8,8,1",
        "--filters",
        "3,3,1,1",
        "--padding",
        "0,1,2,3",
        "--strides",
        "1,2",
    )
    assert status == 0
    assert "top 0 bottom 1 left 2 right 3" in " ".join(out.split())
    _, out, _ = run(
        capsys,
        "trace",
        "conv2d_transpose",
        "--input",
        "1,8,8,1",
        "--filters",
        "3,3,1,1",
        "--strides",
        "2",
        "--output-shape",
        "1,15,15,1",
    )
    assert "output [1, 15, 15, 1]" in out


def test_backends(capsys):
    status, out, _ = run(capsys, "backends")
    assert status == 0
    assert "sparse matrix" in out
    assert all(f"\n{name} " in out for name in tc.backends.TABLE)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["explain", "conv2d", "--input", "1,8,8,1"], "conv2d needs --filters"),
        (["explain", "conv2d", *CALL, "--at", "0,9,0,0"], "at must be inside shape"),
        (["trace", "conv2d", *CALL, "--strides", "0"], "strides must be at least 1"),
        (["trace", "conv2d", *CALL, "--backend", "cudnn"], "backend must be one of"),
        (["trace", "conv2d", *CALL, "--output-shape", "1,2,2,1"], "go with conv2d_transpose"),
        (["trace", "conv2d", "--input", "missing.npy", "--filters", "1,1,1,1"], "missing.npy"),
        (["trace", "conv2d", *CALL, "--dtype", "text"], "dtype must be one of"),
        (["diff", *CALL, "--backends", "numpy"], "--input goes with a call: name an op"),
        (["diff", "--against", "theirs.npy"], "--against goes with a call: name an op"),
        (["diff", "--error", "fft"], "--error goes with a call: name an op"),
        (["find-source", "conv2d", "--strides", "2"], "--strides goes with a call: give its arrays"),
        (["find-source", "conv2d", "--backend", "numpy"], "--backend goes with a call: give its arrays"),
        (["explore", "--playground", "--filters", "3,3,1,1"], "--filters goes with a call: --playground"),
        (["explore", "--playground", "--budget", "9"], "--playground takes no call"),
        (["explain", "conv2d", *CALL, "--input-sizes", "1,2,2,1"], "conv2d takes no --input-sizes"),
        (["explain", "conv2d", *CALL, "--out-backprop", "1,2,2,1"], "conv2d takes no --out-backprop"),
        ([*INPUT_GRADIENT, "1,8,8,1", *CALL], "give --input-sizes or --input, not both"),
        ([*INPUT_GRADIENT, "0", "--filters", "3,3,1,1"], "--input-sizes must have 4 sizes; got [0]"),
    ],
)
def test_errors_are_one_line_and_status_2(capsys, arguments, message):
    status, _, err = run(capsys, *arguments)
    assert status == 2
    assert message in err
    assert err.count("\n") == 1


@pytest.mark.parametrize("text", ["1x4x4x1", "z.npz", "", "1,4,4,1,", "1,4,4,-1"])
def test_what_is_no_array_is_refused_by_its_option(capsys, text):
    status, _, err = run(capsys, "explain", "conv2d", f"--input={text}", "--filters", "3,3,1,1")
    expected = f"--input must be a shape such as 1,4,4,1 or an .npy file; got {text!r}"
    assert (status, err) == (2, f"teachconv explain: {expected}\n")


def test_an_array_larger_than_the_memory_is_refused_by_its_option(capsys):
    arguments = ("explain", "conv2d", "--input", "1,99999999,99999999,1", "--filters", "3,3,1,1")
    status, _, err = run(capsys, *arguments)
    assert status == 2
    assert "--input of shape [1, 99999999, 99999999, 1] and dtype float32 needs 36,380 TiB" in err


def test_demo(tmp_path):
    page = tmp_path / "demo.html"
    command = [sys.executable, "-W", "error", "-m", "teachconv", "demo", "-o", str(page)]
    out = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert str(page) in out
    assert "all pass" in out
    assert "index law" in out
    html = page.read_text()
    assert html.count("<img alt=") == 3
    assert (
        html.index("<main>") < html.index("<iframe class=") < html.index("<table")
    )  # what moves comes first
    heading = "SAME padded 0 rows above and 1 row below, 1 column at the left and 1 column at the right"
    assert f"<h2>The last cell: {heading}</h2>" in html
    assert html.count("<svg") == 4  # and the explorer without scripts
    assert "http://" not in html.replace("http://www.w3.org/2000/svg", "")  # it opens with no network
    assert "https://" not in html
