"""Vectors, written and judged from NumPy, C and JavaScript."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import teachconv as tc
from teachconv import testing as T
from teachconv.cli.main import main

MY_CONV = r"""
#include <string.h>
#include "my_conv.h"
/* conv2d of NCHW and OIHW */
int my_conv(const struct vector *v, const float *x, const float *w, const float *bias, float *y) {
    if (strcmp(v->op, "conv2d")) return 1;
    long depth = v->second[1], group = v->second[0] / v->groups;
    for (long n = 0; n < v->result[0]; n++) for (long o = 0; o < v->result[1]; o++)
    for (long r = 0; r < v->result[2]; r++) for (long c = 0; c < v->result[3]; c++) {
        float sum = bias ? bias[o] : 0;
        for (long i = 0; i < depth; i++) for (long a = 0; a < v->second[2]; a++) for (long b = 0; b < v->second[3]; b++) {
            long row = r * v->strides[0] - v->pads[0] + a * v->dilations[0];
            long col = c * v->strides[1] - v->pads[1] + b * v->dilations[1] + SHIFT;
            if (row < 0 || row >= v->first[2] || col < 0 || col >= v->first[3]) continue;
            sum += x[((n * v->first[1] + o / group * depth + i) * v->first[2] + row) * v->first[3] + col]
                   * w[((o * depth + i) * v->second[2] + a) * v->second[3] + b];
        }
        *y++ = sum;
    }
    return 0;
}
"""

EXAMPLES = Path(__file__).parents[2] / "examples" / "kernels"


def entries(folder):
    return json.loads((folder / "index.json").read_text())["vectors"]


def test_what_is_written_is_the_table_and_passes(tmp_path):
    options = {"dtypes": ["float32", "bfloat16", "int32"], "x": "NCHW", "w": "OIHW"}
    said = T.vectors.export(tmp_path, tags="hand", **options)
    assert re.fullmatch(r"\d+ vectors, [\d.]+ KiB", said)
    stored = (tmp_path / "data.bin").read_bytes()
    (tmp_path / "results").mkdir()
    for entry in entries(tmp_path):
        place = entry["want"]
        want = stored[place["offset"] : place["offset"] + place["nbytes"]]
        (tmp_path / "results" / f"{entry['id']}.bin").write_bytes(want)
    report = T.vectors.judge(tmp_path)
    assert report.passed
    assert all(row.compared for row in report.rows)
    assert {entry["op"] for entry in entries(tmp_path)} == {
        "conv2d",
        "conv2d_backprop_input",
        "conv2d_backprop_filter",
    }


def test_transposed_convolutions_keep_their_alignment(tmp_path):
    T.vectors.export(tmp_path, tags="transposed", data="integers")
    for entry in entries(tmp_path):
        data = np.fromfile(tmp_path / "data.bin", np.uint8)
        place = entry["want"]
        (tmp_path / "results").mkdir(exist_ok=True)
        data[place["offset"] : place["offset"] + place["nbytes"]].tofile(
            tmp_path / "results" / f"{entry['id']}.bin"
        )
    report = T.vectors.judge(tmp_path)
    assert report.passed
    assert len(report.rows) > 10


def test_a_vector_says_all_that_there_is_to_a_call(tmp_path):
    T.vectors.export(tmp_path, tags="padding", kinds="conv2d", data="integers")
    data = (tmp_path / "data.bin").read_bytes()
    for entry in entries(tmp_path):
        x, w, want, bound = (
            np.frombuffer(data, kind, int(np.prod(entry[name]["shape"])), entry[name]["offset"]).reshape(
                entry[name]["shape"]
            )
            for name, kind in (("first", "f4"), ("second", "f4"), ("want", "f4"), ("bound", "f8"))
        )
        steps = [[axis[name] for axis in entry["axes"]] for name in ("stride", "dilation")]
        pads = [(axis["pad_before"], axis["pad_after"]) for axis in entry["axes"]]
        got = tc.conv2d(x, w, steps[0], pads, dilations=steps[1], backend="numpy")
        if "bias" not in entry:
            assert np.array_equal(got, want)
        assert not any(entry[name]["offset"] % 16 for name in ("first", "second", "want", "bound"))
        assert (bound >= 0).all()
        assert not bound.any()  # whole numbers, which are never rounded


@pytest.mark.parametrize(
    ("shift", "chosen"),
    [
        (0, ["--tag", "hand"]),
        pytest.param(0, [], marks=pytest.mark.slow),  # 20 MB, which the compiler reads as text
        (1, ["--tag", "odd", "--tag", "padding"]),
    ],
)
def test_a_kernel_in_c_is_judged(shift, chosen, tmp_path, capsys):
    """Also built as for a device without files."""
    words = ["vectors", "export", str(tmp_path), "--x", "NCHW", "--w", "OIHW", *chosen]
    assert main(words) == 0
    assert "vectors, " in capsys.readouterr().out
    assert (tmp_path / "read_vectors.c").read_text().count("\n") <= 60
    (tmp_path / "my_conv.c").write_text(MY_CONV)
    (tmp_path / "my_conv.h").write_text('#include "vectors.h"\n')
    command = [
        "cc",
        "-O2",
        f"-DSHIFT={shift}",
        "-Wall",
        "-Wno-unused-variable",
        "-Werror",
        "read_vectors.c",
        "my_conv.c",
        "-lm",
        "-o",
        "run",
    ]
    subprocess.run(command, cwd=tmp_path, check=True)
    done = subprocess.run(["./run"], cwd=tmp_path, capture_output=True, text=True)
    numbers = ",".join(map(str, (tmp_path / "data.bin").read_bytes()))  # what xxd -i writes
    (tmp_path / "data.c").write_text(f"unsigned char data_bin[] = {{{numbers}}};\n")
    subprocess.run([*command[:-2], "-DNO_FILES", "data.c", "-o", "on_device"], cwd=tmp_path, check=True)
    (tmp_path / "data.bin").rename(tmp_path / "gone")
    on_device = subprocess.run(["./on_device"], cwd=tmp_path, capture_output=True, text=True)
    assert (on_device.stdout, on_device.returncode) == (done.stdout, done.returncode)
    (tmp_path / "gone").rename(tmp_path / "data.bin")
    passed, failed, refused = map(int, re.findall(r"\d+", done.stdout.strip().rpartition("\n")[2]))
    assert passed + failed + refused == len(entries(tmp_path))
    assert refused > (10 if chosen else 100)
    assert done.returncode == (1 if shift else 0)
    code = main(["vectors", "judge", str(tmp_path)])
    printed = capsys.readouterr().out
    if shift:
        assert code == 1
        assert "shift" in printed
        assert f"{failed} of " in printed.split("\n")[0]
    else:
        assert failed == 0
        assert code == 0
        assert f"{passed} pass, {refused} not run ({refused}: no result)" in printed


@pytest.mark.slow  # the compiler
@pytest.mark.skipif(shutil.which("rustc") is None, reason="rustc is not installed")
@pytest.mark.parametrize("shift", [0, 1])
def test_a_kernel_in_rust_is_judged(shift, tmp_path):
    T.vectors.export(tmp_path / "vectors", x="NCHW", w="OIHW", tags="hand" if shift else "small")
    source = (EXAMPLES / "read_vectors.rs").read_text().replace("+ b * c.", f"+ {shift} + b * c.")
    (tmp_path / "run.rs").write_text(source)
    subprocess.run(["rustc", "-O", "run.rs"], cwd=tmp_path, check=True)
    done = subprocess.run(["./run", "vectors"], cwd=tmp_path, capture_output=True, text=True, check=True)
    report = T.vectors.judge(tmp_path / "vectors")
    assert sum(row.compared for row in report.rows) == int(done.stdout.split()[0]) >= 10
    assert bool(report.passed) == (not shift)


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
@pytest.mark.parametrize("shift", [0, 1])
def test_a_kernel_in_javascript_is_judged(shift, tmp_path):
    T.vectors.export(tmp_path / "vectors", tags="hand" if shift else "small")
    assert (EXAMPLES / "read_vectors.js").read_text().count("\n") <= 45
    source = (EXAMPLES / "conv.js").read_text().replace("b * dilations[1]", f"b * dilations[1] + {shift}")
    (tmp_path / "conv.js").write_text(source)
    command = [
        "node",
        str(EXAMPLES / "read_vectors.js"),
        str(tmp_path / "vectors"),
        str(tmp_path / "conv.js"),
    ]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == shift, done.stderr
    passed, failed, refused = map(int, re.findall(r"\d+", done.stdout.strip().rpartition("\n")[2]))
    report = T.vectors.judge(tmp_path / "vectors")
    assert len(report.failed) == failed
    assert sum(row.compared for row in report.rows) == passed + failed > (6 if shift else 80)
    assert sum(not row.compared for row in report.rows) == refused
    assert bool(report.passed) == (not shift)
    assert (
        not shift
        or "shift" in str(report.failed[0].diagnosis)
        or "padding" in str(report.failed[0].diagnosis)
    )


def test_other_ranks_have_their_layouts(tmp_path):
    T.vectors.export(tmp_path, tags="3d", x="NCDHW", w="OIDHW", data="integers")
    assert all(len(entry["axes"]) == 3 and len(entry["first"]["shape"]) == 5 for entry in entries(tmp_path))
    assert "#define RANK 3" in (tmp_path / "vectors.h").read_text()


def test_a_wrong_result_is_a_failed_row(tmp_path):
    T.vectors.export(tmp_path, tags="hand", kinds="conv2d", data="integers")
    results = tmp_path / "elsewhere"
    results.mkdir()
    (results / "0.bin").write_bytes(b"1234")
    np.zeros(entries(tmp_path)[2]["want"]["shape"], np.float32).tofile(results / "2.bin")
    report = T.vectors.judge(tmp_path, results=results)
    assert [row.passed for row in report.rows[:4]] == [False, None, False, None]
    assert report.rows[0].note == "the result has 4 bytes, not 16"
    allowed = T.vectors.judge(tmp_path, results=results, atol=100, require=["the example", "1x1 stride 2"])
    assert [row.passed for row in allowed.rows] == [False, None, True, *[None] * 3, False]
    assert (allowed.rows[-1].name, allowed.rows[-1].note) == ("1x1 stride 2", "required, and not run")
    with pytest.raises(ValueError, match="require must be one of the example, one pixel"):
        T.vectors.judge(tmp_path, require="no such case")


def test_bad_arguments_are_refused(tmp_path):
    with pytest.raises(ValueError, match="has no vectors, which `python -m teachconv vectors export` writes"):
        T.vectors.judge(tmp_path)
    (tmp_path / "index.json").write_text("[]")
    with pytest.raises(ValueError, match="has no vectors"):
        T.vectors.judge(tmp_path)
    for options, words in (
        ({"x": "CHW"}, "x and w must be whole layouts"),
        ({"w": "OIW"}, "x and w must be whole layouts"),
        ({"x": "HHHH"}, "x must be a layout such as"),
        ({"dtypes": "float31"}, "dtypes must be one of"),
        ({"tags": "none"}, "tags must be one of"),
        ({"tags": None, "dtypes": ["float32", "float64"]}, "these vectors take about .* MiB: choose fewer"),
    ):
        with pytest.raises(ValueError, match=words):
            T.vectors.export(tmp_path / "new", **options)
    assert not (tmp_path / "new").exists()
