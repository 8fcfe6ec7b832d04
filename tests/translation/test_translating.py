"""resolve, translate and convert_filters: the written code compiles, and computes the same here."""

import subprocess
import sys

import numpy as np
import pytest
from recordings import answers_and_refusals

import teachconv as tc
from teachconv.cli.main import main
from teachconv.dialects import jax, keras, onnx, torch
from teachconv.errors import ArgumentError, ArgumentTypeError
from teachconv.translation import dialect_map, translating
from teachconv.translation.source_text import here
from teachconv.translation.targets import TARGETS


def recorded_calls():
    """Every call that a framework answered, as (function, shapes by name, arguments)."""
    for framework in ("tensorflow", "torch", "jax", "onnx", "keras"):
        module = tc if framework == "tensorflow" else getattr(tc.dialects, framework)
        for case, inputs, _ in answers_and_refusals(framework)[1]:
            function = getattr(module, case["op"])
            if function in translating.FUNCTIONS:
                shapes = {name: array.shape for name, array in inputs.items()}
                yield f"{framework}-{case['name']}", function, shapes, case["arguments"]


CALLS = list(recorded_calls())


@pytest.mark.parametrize("target", TARGETS)
def test_every_recorded_call_in_every_framework(target, monkeypatch):
    """Every recorded call, translated, gives the same result by teachconv's function of the target."""
    monkeypatch.setattr(
        translating, "installed", lambda name: name == "scipy"
    )  # the peers' tests run the rest
    possible = 0
    for name, function, shapes, arguments in CALLS:
        translation = tc.translate(function, **shapes, **arguments, to=target)
        if not translation.possible:
            assert translation.why
            assert translation.code == ""
            assert translation.source.kind.sums_images or 0 in (
                *translation.source.result_shape,
                *translation.source.input_shape,
            )
            continue
        compile(translation.code, name, "exec")
        report = translation.check()
        assert report.passed, f"{name}\n{report}\n{translation.code}"
        assert [row.max_abs for row in report.rows] == [0]
        possible += 1
    assert possible > 500


def test_the_code_runs_without_teachconv():
    """The code runs in a separate process with only NumPy and SciPy."""
    translation = tc.translate(torch.conv2d, (1, 2, 5, 5), (3, 2, 3, 3), stride=2, padding=1, to="scipy")
    program = (
        translation.code
        + "x = np.arange(50.0).reshape(1, 2, 5, 5)\n"
        + "w = np.arange(54.0).reshape(3, 2, 3, 3)\n"
        + "print(convolve(x, w).tolist())\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    x, w = np.arange(50.0).reshape(1, 2, 5, 5), np.arange(54.0).reshape(3, 2, 3, 3)
    assert done.stdout.strip() == str(torch.conv2d(x, w, stride=2, padding=1).tolist())


@pytest.mark.parametrize("target", TARGETS)
def test_the_code_in_the_framework(target):
    """Runs the framework if it is installed; tests/peers has random calls."""
    if not translating.installed(target):
        pytest.skip(f"{target} is not installed")
    translation = tc.translate(
        tc.conv2d, (1, 8, 8, 3), (3, 3, 3, 4), strides=2, padding="SAME", bias=(4,), to=target
    )
    report = translation.check()
    assert report.passed, report
    assert len(report.rows) == (1 if target == "scipy" else 2)


def test_torch_has_no_asymmetric_padding():
    translation = tc.translate(tc.conv2d, (1, 8, 8, 3), (3, 3, 3, 4), strides=2, padding="SAME", to="torch")
    assert "F.pad(x, (0, 1, 0, 1))" in translation.code
    assert any("no asymmetric padding" in note for note in translation.notes)
    # the odd row at the top is padding=1, whose last row no tap reaches
    lower = tc.translate(tc.conv2d, (1, 8, 8, 3), (3, 3, 3, 4), strides=2, padding="SAME_LOWER", to="torch")
    assert "F.pad" not in lower.code
    assert "padding=(1, 1)" in lower.code


def test_words_are_preferred_to_numbers():
    same = tc.translate(torch.conv2d, (1, 3, 8, 8), (4, 3, 3, 3), padding=1, to="tensorflow")
    assert "padding='SAME'" in same.code
    assert (
        "padding='same'" in tc.translate(torch.conv2d, (1, 3, 8, 8), (4, 3, 3, 3), padding=1, to="keras").code
    )
    explicit = tc.translate(torch.conv2d, (1, 3, 8, 8), (4, 3, 3, 3), stride=2, padding=1, to="tensorflow")
    assert "[[0, 0], [1, 1], [1, 1], [0, 0]]" in explicit.code


def test_filter_permutations():
    shapes = ((1, 8, 8, 2), (3, 3, 2, 4))
    assert tc.translate(tc.conv2d, *shapes, to="torch").filter_permutation == (3, 2, 0, 1)
    assert tc.translate(tc.conv2d, *shapes, to="keras").filter_permutation == (0, 1, 2, 3)
    # from TensorFlow's transposed filters to PyTorch's is transpose(3, 2, 0, 1): no flip
    up = tc.translate(tc.conv2d_transpose, (1, 8, 8, 2), (3, 3, 4, 2), strides=2, to="torch")
    assert (up.filter_permutation, up.flip) == ((3, 2, 0, 1), False)
    back = tc.translate(jax.conv_transpose, (1, 8, 8, 2), (3, 3, 2, 4), (2, 2), "SAME", to="torch")
    assert (back.filter_permutation, back.flip) == ((2, 3, 0, 1), True)


def test_a_call_in_its_own_words_stays_what_it_is():
    own = tc.translate(jax.conv_transpose, (1, 8, 8, 2), (3, 3, 2, 4), (2, 2), "SAME", to="jax")
    assert not own.flip
    assert "transpose_kernel" not in own.code
    stuffed = tc.translate(
        jax.conv_general_dilated,
        (1, 2, 4, 4),
        (3, 2, 3, 3),
        (2, 2),
        ((1, 1), (1, 1)),
        lhs_dilation=(2, 2),
        to="jax",
    )
    assert "lhs_dilation=(2, 2)" in stuffed.code
    assert "stuffed" not in stuffed.code


def test_what_is_impossible_says_why():
    weight = tc.translate(
        torch.conv2d_weight, (1, 2, 5, 5), grad_output=(1, 3, 3, 3), weight_size=(3, 2, 3, 3), to="onnx"
    )
    assert not weight.possible
    assert "computes a filter" in weight.why
    empty = tc.translate(jax.conv_general_dilated, (1, 2, 2, 2), (3, 2, 3, 3), (1, 1), "VALID", to="torch")
    assert "empty" in empty.why
    assert "impossible" in str(empty)
    assert "impossible" in empty._repr_html_()
    with pytest.raises(ArgumentError, match="no translation to check"):
        empty.check()


def test_a_wrong_translation_is_found():
    """The check detects a translation with the padding on the other side."""
    translation = tc.translate(tc.conv2d, (1, 8, 8, 3), (3, 3, 3, 4), strides=2, padding="SAME", to="torch")
    assert translation.check().passed
    wrong = translating.replace(
        translation,
        _target=translating.replace(translation._target, pad_input=((1, 0), (1, 0))),
    )
    report = wrong.check()
    assert not report.passed
    assert report.rows[0].diagnosis.code == "padding_side"


def test_check_takes_arrays_and_refuses_other_shapes(rng):
    translation = tc.translate(torch.conv2d, (1, 3, 8, 8), (4, 3, 3, 3), padding=1, to="keras")
    x, w = rng.standard_normal((1, 3, 8, 8)), rng.standard_normal((4, 3, 3, 3))
    assert here(translation.source, translation._target)(x, w).shape == (1, 4, 8, 8)
    report = translating.replace(translation).check(x.astype("float32"), w.astype("float32"))
    assert report.rows[0].passed
    with pytest.raises(ArgumentError, match="must have the translated shape"):
        translation.check(x[:, :, 1:], w)


def test_both_sides_as_html():
    translation = tc.translate(
        torch.conv2d, (1, 3, 16, 16), (4, 3, 3, 3), stride=2, padding=1, to="tensorflow"
    )
    page = translation._repr_html_()
    assert "<svg" in page
    assert "torch.conv2d(input, weight, stride=2, padding=1)" in page
    assert "tf.nn.conv2d" in page
    assert "top 1, bottom 1, left 1, right 1" in page
    up = tc.translate(torch.conv_transpose2d, (1, 3, 4, 4), (3, 4, 3, 3), stride=2, padding=1, to="jax")
    assert "what is kept, 7 x 7 from (1, 1)" in up._repr_html_()


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (
            lambda: tc.translate(tc.conv2d, (1, 4, 4, 1), (3, 3, 1, 1), to="caffe"),
            ArgumentError,
            "to must be one",
        ),
        (lambda: tc.resolve(np.convolve, (1,), (1,)), ArgumentTypeError, "torch.conv2d"),
        (lambda: tc.resolve(torch.conv2d, (1, 4, 4, 1, 1), (1, 1, 1, 1)), ArgumentError, "3 or 4 axes"),
        (lambda: tc.resolve(torch.conv2d, (1, -1, 4, 4), (1, 1, 1, 1)), ArgumentError, "negative"),
        (lambda: tc.resolve(torch.conv2d, (1, 1.5, 4, 4), (1, 1, 1, 1)), ArgumentTypeError, "integers"),
        (lambda: tc.resolve(torch.conv2d, (1, 1, 4, 4)), TypeError, "weight"),
        (lambda: tc.convert_filters(np.ones((1, 1, 1, 1)), "caffe", "torch"), ArgumentError, "from_"),
        (lambda: tc.convert_filters(np.ones((1, 1, 1)), "torch", "keras"), ArgumentError, "4 axes"),
        (lambda: tc.convert_filters(np.ones((1, 1, 1, 3)), "keras", "jax", True, 2), ArgumentError, "divide"),
        (
            lambda: tc.convert_filters(np.ones((1, 1, 2, 3)), "keras", "tensorflow_depthwise"),
            ArgumentError,
            "one input",
        ),
        (
            lambda: tc.convert_filters(np.ones((1, 1, 2, 3)), "tensorflow_depthwise", "torch", True),
            ArgumentError,
            "must not be .tensorflow_depthwise. for a transposed convolution",
        ),
    ],
)
def test_bad_input_is_named(call, error, text):
    with pytest.raises(error, match=text):
        call()


# ---------------------------------------------------------------------------------------------
# Filters
# ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("groups", [1, 2])
@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("start", ["tensorflow", "torch", "jax", "onnx", "keras", "scipy"])
def test_filters_come_back(start, transposed, groups, rng):
    w = rng.standard_normal((2, 4, 6, 8)).astype("float32")
    for other in ("tensorflow", "torch", "jax", "onnx", "keras", "scipy"):
        there = tc.convert_filters(w, start, other, transposed, groups)
        assert np.array_equal(tc.convert_filters(there, other, start, transposed, groups), w)


def test_converted_filters_convolve_alike(rng):
    x = rng.integers(-4, 5, (1, 5, 6, 4)).astype("int32")
    nchw = x.transpose(0, 3, 1, 2)
    w = rng.integers(-4, 5, (3, 2, 2, 6)).astype("int32")
    want = tc.conv2d(x, w)
    oihw = tc.convert_filters(w, "tensorflow", "torch", groups=2)
    assert np.array_equal(torch.conv2d(nchw, oihw, groups=2).transpose(0, 2, 3, 1), want)
    oihw = tc.convert_filters(w, "keras", "jax", groups=2)
    got = jax.conv_general_dilated(nchw, oihw, (1, 1), "VALID", feature_group_count=2)
    assert np.array_equal(got.transpose(0, 2, 3, 1), want)


def test_converted_transposed_filters_convolve_alike(rng):
    x = rng.integers(-4, 5, (1, 3, 4, 2)).astype("int32")
    w = rng.integers(-4, 5, (3, 2, 5, 2)).astype("int32")
    want = tc.conv2d_transpose(x, w, strides=2, padding="VALID")
    nchw = x.transpose(0, 3, 1, 2)
    iohw = tc.convert_filters(w, "tensorflow", "onnx", transposed=True)
    assert np.array_equal(onnx.conv_transpose(nchw, iohw, strides=[2, 2]).transpose(0, 2, 3, 1), want)
    assert np.array_equal(
        keras.conv_transpose(x, tc.convert_filters(w, "tensorflow", "keras", True), 2), want
    )
    backwards = tc.convert_filters(w, "tensorflow", "jax", transposed=True)
    assert np.array_equal(jax.conv_transpose(x, backwards, (2, 2), "VALID"), want)


def test_grouped_transposed_filters_of_jax(rng):
    x = rng.integers(-4, 5, (1, 3, 4, 4)).astype("int32")
    w = rng.integers(-4, 5, (3, 2, 3, 4)).astype("int32")  # [rows, cols, out / groups, in]
    want = tc.conv2d_transpose(x, w, (1, 7, 8, 6), 2, "VALID")
    jaxs = tc.convert_filters(
        w, "tensorflow", "jax", transposed=True, groups=2
    )  # [rows, cols, in / groups, out]
    got = jax.conv_general_dilated(
        x, jaxs, (1, 1), ((2, 2), (1, 1)), (2, 2), None, ("NHWC", "HWIO", "NHWC"), feature_group_count=2
    )
    assert np.array_equal(got, want)


def test_depthwise_filters_go_there_and_back(rng):
    w = rng.standard_normal((3, 2, 4, 2)).astype("float32")
    for other in ("tensorflow", "torch", "keras", "jax"):
        there = tc.convert_filters(w, "tensorflow_depthwise", other)
        assert np.array_equal(tc.convert_filters(there, other, "tensorflow_depthwise", groups=4), w)


# ---------------------------------------------------------------------------------------------
# The map, and the command line
# ---------------------------------------------------------------------------------------------


def test_the_map_is_made_by_running_the_code():
    rows = dialect_map.option_rows()
    assert {row[1] for row in rows} == {"tensorflow", "torch", "jax", "onnx", "keras"}
    found = {(row[1], row[2]): row[3] for row in rows}
    assert found["tensorflow", "conv2d(strides=2, padding='SAME')"].startswith(
        "top 0 bottom 1 left 0 right 1"
    )
    assert found["torch", "conv2d(stride=2, padding='same')"].startswith(
        "refused: padding 'same' needs stride 1"
    )
    ways = {text: dict(zip(TARGETS, ways, strict=True)) for _, text, ways in dialect_map.target_rows()}
    assert ways["tensorflow.conv2d(strides=2, padding='SAME')"]["torch"] == "pad first"
    assert ways["torch.conv2d(stride=2, padding=1)"]["tensorflow"] == "directly"
    page = dialect_map.markdown()
    for probe in dialect_map.OPTIONS:
        assert probe.text in page
        assert probe.text in dialect_map.plain()


def command(capsys, *words):
    status = main(words)
    captured = capsys.readouterr()
    return status, captured.out + captured.err


def test_translate_on_the_command_line(capsys, tmp_path):
    words = ["translate", "torch.conv2d", "1,3,16,16", "8,3,3,3", "stride=2", "padding=1"]
    page = tmp_path / "page.html"
    status, out = command(capsys, *words, "--to", "tensorflow", "--resolve", "--check", "--html", str(page))
    assert status == 0
    assert "def convolve(x, w):" in out
    assert "index law" in out
    assert "all pass" in out
    assert "<svg" in page.read_text()
    status, out = command(
        capsys, "translate", "tensorflow.conv2d", "1,8,8,1", "3,3,1,1", "padding=SAME", "--to", "torch"
    )
    assert status == 0
    assert "padding=(1, 1)" in out
    status, out = command(
        capsys, "translate", "jax.conv_general_dilated", "1,1,2,2", "1,1,3,3",
        "window_strides=(1,1)", "padding=VALID", "--to", "torch",
    )  # fmt: skip
    assert status == 1
    assert "impossible" in out
    status, out = command(capsys, "translate", "torch.conv3d", "1,1,2,2", "--to", "torch")
    assert status == 2
    assert 'did you mean "torch.conv2d"?' in out
    status, out = command(capsys, "translate", "torch.conv2d", "1", "1", "1", "1", "--to", "torch")
    assert status == 2
    assert "takes 3 shapes" in out


def test_dialects_on_the_command_line(capsys):
    status, out = command(capsys, "dialects")
    assert status == 0
    assert "SAME, stride 2" in out
    status, out = command(capsys, "dialects", "--markdown")
    assert out.startswith("## What each option resolves to")
