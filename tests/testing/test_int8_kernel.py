"""An int8 kernel in C, as one is written for a microcontroller: judged by the kit, and its planted faults are named."""

import importlib.util
import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import teachconv as tc
from teachconv import testing as T
from teachconv.core.dtypes import FORMATS
from teachconv.verification.candidates import summed_in
from teachconv.verification.quantized_cases import DRAWN, quantized_calls

ROOT = Path(__file__).parents[2]
SPEC = importlib.util.spec_from_file_location("int8_kernel", ROOT / "examples" / "int8_kernel.py")
EXAMPLE = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(EXAMPLE)

needs_a_compiler = pytest.mark.skipif(not shutil.which("cc"), reason="needs a C compiler, cc")

# what stands in conv_s8.c, what a fault makes of it, and its name
FAULTS = {
    "the border is 0, not the zero point": (
        "if (row < 0 || row >= in->h || col < 0 || col >= in->w) continue;\n"
        "                            const int8_t *x = input + ((n * in->h + row) * in->w + col) * in->c;",
        "static const int8_t zeros[1 << 16];\n"
        "                            const int8_t *x = row < 0 || row >= in->h || col < 0 || col >= in->w ? zeros\n"
        "                                              : input + ((n * in->h + row) * in->w + col) * in->c;",
        "zero_padding",
    ),
    "the zero point has the other sign": ("x[i] + p->input_offset", "x[i] - p->input_offset", "zero_point"),
    "one multiplier for all channels": ("multiplier[o], shift[o]", "multiplier[0], shift[0]", "one_scale"),
    "the last shift cuts off": (" + ((high & mask) > threshold)", "", "rounding(last shift)"),
    "the sum has 16 bits": ("int32_t sum = bias", "int16_t sum = bias", "accumulator_16_bits"),
    "bytes without a sign": (
        "const int8_t *x = input",
        "const uint8_t *x = (const uint8_t *)input",
        "other_type",
    ),
    "the sum is a float32": ("int32_t sum = bias", "float sum = bias", "rounding(sums in float32)"),
    "no upper clamp": (
        "y = y > p->activation_max ? p->activation_max : y;",
        "y = y > 127 ? 127 : y;",
        "relu6_clamp",
    ),
}


@needs_a_compiler
def test_the_example_in_c_gives_the_bits_of_tflite(tmp_path):
    kernel = EXAMPLE.compiled(EXAMPLE.SOURCE, tmp_path)
    report = tc.check_backend(kernel, tags=("odd", "padding", "tails"), kinds="conv2d", data="integers")
    report.check()
    assert sum(row.passed is True for row in report.rows) > 60
    T.fuzz(kernel, seconds=1, seed=1).check()


def test_a_kernel_of_images_is_not_run_over_other_axes():
    """It failed 80 rows of cases over one axis, before it was called."""
    axes = set()

    def conv(x, w, strides, pads, x_zero_point, multiplier, shift):
        axes.add(x.ndim)
        raise NotImplementedError("all")

    report = tc.check_backend(
        T.kernel(conv, scheme="tflite", x="NHWC", w="OHWI"), kinds="conv2d", data="integers"
    )
    assert axes == {4}
    assert not [row for row in report.rows if row.passed is False and "IndexError" in row.note]


@needs_a_compiler
@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_planted_in_c_is_named(name, tmp_path):
    right, wrong, code = FAULTS[name]
    source = EXAMPLE.SOURCE.read_text()
    assert source.count(right) == 1
    changed = tmp_path / "changed.c"
    changed.write_text(source.replace(right, wrong))
    kernel = EXAMPLE.compiled(changed, tmp_path)
    report = tc.check_backend(kernel, tags="odd", kinds="conv2d", data="integers")
    named = [row.diagnosis.code for row in report.failed if row.diagnosis]
    assert named
    assert max(set(named), key=named.count) == code, report


MY_CONV = """
#include "vectors.h"
#include <string.h>
#include "conv_s8.c"

int my_conv(const struct vector *v, const int8_t *first, const int8_t *second, const int32_t *bias,
            const int32_t *multiplier, const int32_t *shift, int8_t *result) {
    const long *x = v->first, *w = v->second, *y = v->result, *n = v->numbers;
    dims in = {x[0], x[1], x[2], x[3]}, filter = {w[0], w[1], w[2], w[3]}, out = {y[0], y[1], y[2], y[3]};
    conv_params p = {-n[0], n[2], v->strides[0], v->strides[1], v->pads[0], v->pads[1],
                     v->dilations[0], v->dilations[1], n[3], n[4]};
    if (v->groups > 1 || strcmp(v->op, "conv2d")) return 1;
    conv_s8(&p, multiplier, shift, &in, first, &filter, second, bias, &out, result);
    return 0;
}
"""


@needs_a_compiler
@pytest.mark.parametrize("fault", [None, "one multiplier for all channels"])
def test_vectors_in_8_bits_are_read_by_c_and_judged(fault, tmp_path):
    said = T.vectors.export(tmp_path, tags=("hand", "odd"), w="OHWI", scheme="tflite", data="integers")
    assert said.startswith("96 vectors, ")
    source = EXAMPLE.SOURCE.read_text()
    (tmp_path / "conv_s8.c").write_text(source.replace(*FAULTS[fault][:2]) if fault else source)
    (tmp_path / "my_conv.c").write_text(MY_CONV)
    command = ["cc", "-O2", "-Wall", "-Werror", "read_int8_vectors.c", "my_conv.c", "-o", "run"]
    subprocess.run(command, cwd=tmp_path, check=True)
    done = subprocess.run(["./run"], cwd=tmp_path, capture_output=True, text=True)
    report = T.vectors.judge(tmp_path)
    assert (done.returncode == 0) == bool(report.passed) == (fault is None)
    passed = sum(row.passed is True for row in report.rows)
    assert f"\n{passed} pass, {96 - passed} fail, 0 not run" in done.stdout
    named = {row.diagnosis.code for row in report.failed if row.diagnosis}
    assert named == ({FAULTS[fault][2]} if fault else set())


def test_vectors_of_each_type_and_scheme_are_judged_as_they_were_drawn(tmp_path):
    for scheme, types in (
        ("onnx", ("uint8", "int8")),
        ("tflite", ("int16", "int8")),
        ("torch", ("uint8", "int8")),
    ):
        folder = tmp_path / scheme
        T.vectors.export(
            folder, tags=("hand", "depthwise", "transposed"), scheme=scheme, types=[types], data="integers"
        )
        (folder / "results").mkdir()
        index, data = json.loads((folder / "index.json").read_text()), (folder / "data.bin").read_bytes()
        assert {entry["dtype"] for entry in index["vectors"]} == {types[0]}
        for entry in index["vectors"]:
            want = entry["want"]
            (folder / "results" / f"{entry['id']}.bin").write_bytes(data[want["offset"] :][: want["nbytes"]])
        assert T.vectors.judge(folder).passed
        results = folder / "results" / "0.bin"
        results.write_bytes(bytes(255 - byte for byte in results.read_bytes()))
        (failed,) = T.vectors.judge(folder).failed
        assert failed.name.startswith("0 ")


PROGRAM = """
import json, sys
import numpy as np
import teachconv as tc

while line := sys.stdin.buffer.readline():
    said = json.loads(line)
    data = sys.stdin.buffer.read(said["nbytes"])

    def take(shape, dtype):
        global data
        size = int(np.prod(shape)) * np.dtype(dtype).itemsize
        array, data = np.frombuffer(data[:size], dtype).reshape(shape), data[size:]
        return array

    x, w = take(said["first"], said["dtype"]), take(said["second"], said["w_dtype"])
    channels = said["result"][-1]
    bias = take([said["bias"]], "int32") if said["bias"] else 0
    multiplier, shift = take([channels], "int32"), take([channels], "int32")
    total = tc.conv2d(x.astype("int64") - said["x_zero_point"], w.astype("int64"), said["strides"], said["pads"],
                      dilations=said["dilations"]) + bias
    high = ((total << np.maximum(shift, 0)) * multiplier.astype("int64") + 2**30) >> 31
    right = -np.minimum(shift, 0).astype("int64")
    y = np.sign(high) * ((abs(high) + (1 << right) // 2) >> right) + said["y_zero_point"]
    y = np.clip(y, said["activation_min"], said["activation_max"]).astype(said["dtype"])
    print(json.dumps({"nbytes": y.nbytes}), flush=True)
    sys.stdout.buffer.write(y.tobytes())
    sys.stdout.buffer.flush()
"""


def test_a_program_is_told_the_numbers_of_a_quantized_call(tmp_path):
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    kernel = T.process([sys.executable, path], scheme="tflite", seconds=60)
    report = T.check(kernel, T.Case("a", "conv2d", (1, 5, 4, 2), (3, 2, 2, 3), 2, "SAME", bias=True), "int32")
    report.check()
    assert len(report.rows) == 6
    path.write_text(PROGRAM.replace('said["x_zero_point"]', "0"))
    wrong = T.process([sys.executable, path], scheme="tflite", seconds=60)
    report = T.check(wrong, T.Case("a", "conv2d", (1, 9, 8, 2), (3, 2, 2, 8), 1, "SAME", bias=True), "int32")
    assert {row.diagnosis.code for row in report.failed} == {"zero_point"}


def rounded(total, multiplier, shift):
    """TFLite's two roundings, of Python's integers."""
    left = np.array([1 << max(0, int(one)) for one in shift], object)
    high = (total.astype(object) * left * multiplier.astype(object) + 2**30) // 2**31
    right = np.array([1 << max(0, -int(one)) for one in shift], object)
    return np.sign(high) * ((abs(high) + right // 2) // right)


def plain(
    x,
    w,
    bias,
    strides,
    pads,
    dilations,
    groups,
    x_zero_point,
    y_zero_point,
    multiplier,
    shift,
    act_min,
    act_max,
):
    total = tc.conv2d(x.astype("int64") - x_zero_point, w.astype("int64"), strides, pads, dilations=dilations)
    total = total if bias is None else total + bias
    return np.clip(rounded(total, multiplier, shift) + y_zero_point, act_min, act_max).astype("int8")


def test_a_quantized_kernel_runs_in_a_process_of_its_own(tmp_path, monkeypatch):
    (tmp_path / "int8_by_numpy.py").write_text(
        "import numpy as np\n"
        "def conv(x, w, x_zero_point, y_zero_point, multiplier, shift, act_min, act_max):\n"
        "    total = np.einsum('nrci,io->nrco', x.astype('int64') - x_zero_point, w[0, 0].astype('int64'))\n"
        "    high = ((total << np.maximum(shift, 0)) * multiplier.astype('int64') + 2**30) >> 31\n"
        "    right = -np.minimum(shift, 0).astype('int64')\n"
        "    y = np.sign(high) * ((abs(high) + (1 << right) // 2) >> right) + y_zero_point\n"
        "    return np.clip(y, act_min, act_max).astype('int8')\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    kernel = T.kernel("int8_by_numpy:conv", scheme="tflite", isolate=True, seconds=60)
    report = T.check(kernel, T.Case("1x1", "conv2d", (2, 3, 4, 5), (1, 1, 5, 6)), "int32")
    report.check()
    assert len(report.rows) == 6


BESIDE = """
import ctypes
import numpy as np
def conv(x, w, x_zero_point, y_zero_point, multiplier, shift, act_min, act_max):
    beyond = ctypes.cast({array}.ctypes.data, ctypes.POINTER(ctypes.c_int32))[{array}.size]
    return np.zeros((*x.shape[:3], w.shape[3]), "int8")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="needs memory that cannot be read")
@pytest.mark.parametrize("array", ["multiplier", "shift"])
def test_a_read_behind_the_arrays_of_channels_is_found(array, tmp_path, monkeypatch):
    (tmp_path / f"reads_behind_{array}.py").write_text(BESIDE.format(array=array))
    monkeypatch.syspath_prepend(tmp_path)
    kernel = T.kernel(f"reads_behind_{array}:conv", scheme="tflite", isolate=True, seconds=60)
    report = T.check(kernel, T.Case("1x1", "conv2d", (1, 2, 2, 1), (1, 1, 1, 3)), "int32")
    notes = {row.note for row in report.failed}
    assert any("read or wrote outside its arrays" in note for note in notes), notes


MINE = T.kernel(plain, scheme="tflite")


@T.parametrize(MINE, tags="hand", data="integers")
def test_a_kernel_of_ten_lines_passes_the_cases(case):
    case.check(MINE)


def test_cases_over_other_axes_are_not_for_a_kernel_of_two():
    """A right kernel failed those over one axis."""
    report = tc.check_backend(MINE, tags=("groups", "hand"), kinds="conv2d", data="integers")
    report.check()
    assert not any("convolution" in row.name for row in report.rows)


def test_it_is_a_backend_of_the_quantized_ops():
    x, w = np.arange(-8, 8, dtype="int8").reshape(1, 4, 4, 1), np.int8([[1, -2], [3, 4]]).reshape(2, 2, 1, 1)
    facts = {
        "x_scale": 0.5,
        "x_zero_point": 3,
        "w_scale": [0.5],
        "y_scale": 2.0,
        "y_zero_point": 1,
        "scheme": "tflite",
    }
    right = tc.quantized.conv2d(x, w, padding="SAME", **facts)
    assert np.array_equal(tc.quantized.conv2d(x, w, padding="SAME", backend=MINE, **facts), right)
    assert tc.diff(tc.quantized.conv2d, x, w, padding="SAME", backends=[MINE, "numpy"], **facts).passed
    with pytest.raises(ValueError, match="scheme must be that of the kernel, 'tflite'; got 'onnx'"):
        tc.quantized.conv2d(x, w, backend=MINE, **facts | {"scheme": "onnx"})


def test_what_a_kernel_has_no_parameter_for_is_refused():
    def without(x, w, bias, strides, pads, multiplier, shift):
        raise AssertionError("is not called")

    report = T.check(
        T.kernel(without, scheme="tflite"), T.Case("a", "conv2d", (1, 4, 4, 1), (3, 3, 1, 2)), "int32"
    )
    assert report.passed is None
    notes = [row.note.partition(":")[0] for row in report.rows]
    assert set(notes) <= {
        f"no parameter for {name}" for name in ("x_zero_point", "y_zero_point", "activation_min")
    }


def test_schemes_and_types_are_checked():
    with pytest.raises(ValueError, match="scheme must be one of"):
        T.kernel(plain, scheme="tflit")
    with pytest.raises(ValueError, match=r"types of tflite must be .*int16"):
        T.kernel(plain, scheme="tflite", types=[("uint8", "int8")])
    with pytest.raises(ValueError, match="parameter 'multiplier' of .* has no known name"):
        T.kernel(lambda x, w, multiplier: x)


def test_the_padding_of_a_kernel_without_pads_is_the_zero_point():
    def valid(x, w, x_zero_point, y_zero_point, x_scale, w_scale, y_scale):
        seen.append(x)
        total = tc.conv2d(x.astype("int64") - x_zero_point, w.astype("int64"))
        product = np.float32(total) * ((x_scale * w_scale) / y_scale)
        return np.clip(np.rint(product) + y_zero_point, -128, 127).astype("int8")

    seen = []
    kernel = T.kernel(valid, scheme="onnx", types=[("int8", "int8")])
    x, w = np.full((1, 2, 2, 1), 7, "int8"), np.ones((3, 3, 1, 1), "int8")
    facts = {"x_scale": 1.0, "x_zero_point": -128, "w_scale": 1.0, "y_scale": 8.0, "y_zero_point": 5}
    assert tc.diff(tc.quantized.conv2d, x, w, padding="SAME", backends=kernel, **facts).passed
    assert seen[0][0, :, :, 0].tolist() == [[-128] * 4, [-128, 7, 7, -128], [-128, 7, 7, -128], [-128] * 4]


def test_a_kernel_of_onnx_without_a_zero_point_of_w_runs_some_calls():
    def kernel(
        x, w, bias, strides, pads, dilations, groups, x_zero_point, y_zero_point, x_scale, w_scale, y_scale
    ):
        total = tc.conv2d(
            x.astype("int64") - x_zero_point, w.astype("int64"), strides, pads, dilations=dilations
        )
        product = np.float32(total if bias is None else total + bias) * ((x_scale * w_scale) / y_scale)
        return np.clip(np.rint(product) + y_zero_point, 0, 255).astype("uint8")

    mine = T.kernel(kernel, scheme="onnx", types=[("uint8", "int8"), ("uint8", "uint8")])
    report = tc.check_backend(mine, tags="hand", kinds="conv2d", data="integers")
    report.check()
    assert sum(row.passed is True for row in report.rows) >= 6


def test_the_drawn_calls_are_hard():
    """Zero points at the ends, -128 * -128, saturation, ties, and scales over six decades."""
    case = T.Case("a", "conv2d", (1, 9, 9, 4), (3, 3, 4, 32), 1, "SAME", bias=True)
    drawn = dict(quantized_calls(case, "tflite", [("int8", "int8")], ""))
    assert list(drawn) == list(DRAWN)
    first, ties, decades, ends, left, beyond = drawn.values()
    assert left.rescaling.real.max() > 1  # a kernel that never shifts to the left is found
    assert len({float(one.scales[0]) for one in (first, decades, ends, left)}) == 4
    totals = beyond.sums("numpy") + beyond.rescaling.bias
    assert abs(totals).min() > 2**24
    rounded = summed_in(FORMATS["float32"], True, 1, beyond.integers, bias_first=True)
    wrong = beyond.rescaled(rounded.astype("int64")) != beyond.rescaled(totals)
    assert wrong.any((0, 1, 2)).all()  # in each channel a sum in float32 is found
    assert abs(int(ties.zeros[0]) + 0.5) == 127.5
    halves = ties.sums("numpy") * ties.rescaling.real % 1 == 0.5
    assert halves.sum() > 20
    scales = decades.scales[1]
    assert scales.max() / scales.min() > 1e4
    assert set(np.unique(ends.call.first)) == {-128, 127}
    result = ends.run_canonical("numpy")
    assert ((result == -128) | (result == 127)).mean() > 0.2
    for scheme in ("tflite_builtin", "tflite_single", "xnnpack"):
        other = dict(quantized_calls(case, scheme, [("int8", "int8")], ""))["ties, zero points at the ends"]
        assert (other.run_canonical("numpy") != ties.run_canonical("numpy")).any(), scheme


@pytest.mark.parametrize("shape", [(1, 4, 4, 0), (1, 0, 4, 2)])
def test_a_wrong_result_of_sums_without_a_term_has_no_name_and_no_crash(shape):
    """The search for a name raised NumPy's errors of empty arrays."""
    x, w, bias = np.zeros(shape, "int8"), np.ones((2, 2, shape[3], 3), "int8"), np.int32([1, 2, 3])
    facts = {
        "x_scale": 0.5,
        "x_zero_point": 1,
        "w_scale": 0.5,
        "y_scale": 1.0,
        "y_zero_point": 0,
        "padding": 1,
    }
    y = tc.quantized.conv2d(x, w, bias, scheme="tflite", **facts)
    wrong = {"mine": y + np.int8(3)}
    report = tc.diff(tc.quantized.conv2d, x, w, bias, scheme="tflite", backends=[], against=wrong, **facts)
    assert report.passed is False
    floats = x.astype("float32"), w.astype("float32"), 1, 1
    right = tc.conv2d(*floats)
    assert tc.diff(tc.conv2d, *floats, backends=[], against={"mine": right + 1}).passed is False
