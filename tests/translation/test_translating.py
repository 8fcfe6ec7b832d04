"""resolve, translate and convert_filters: the written code compiles, and computes the same here."""

import subprocess
import sys
from typing import get_args

import numpy as np
import pytest
from helpers import mostly_slow
from recordings import answers_and_refusals

import teachconv as tc
from teachconv.cli.main import main
from teachconv.data.seeded import make_array
from teachconv.dialects import jax, keras, onnx, torch
from teachconv.dialects.calls import ConvCall
from teachconv.support.argument_types import Framework
from teachconv.support.errors import ArgumentError, ArgumentTypeError, BackendUnavailable
from teachconv.translation import dialect_map, targets, translating
from teachconv.translation.targets import TARGETS

# targets with a function of teachconv's of the same signature; the code of others runs in the framework only
WITH_FUNCTION = [
    name
    for name in TARGETS
    if tc.translate(tc.conv2d, (1, 3, 3, 1), (2, 2, 1, 1), to=name)._target.function is not None
]


def needs_something_to_run(target):
    """Skip a test of a target that neither teachconv nor its framework can run here."""
    if target not in WITH_FUNCTION and not translating.installed(target):
        pytest.skip(f"{target} is not installed, and teachconv has no function of its signature")


def without_the_frameworks(monkeypatch, target):
    """Let teachconv's function of the target run alone, or the framework where teachconv has none."""
    needs_something_to_run(target)
    if target in WITH_FUNCTION:
        monkeypatch.setattr(translating, "installed", lambda name: False)


def run_here(translation):
    """What the code computes, by teachconv's function where it has one."""
    return translation._here() if translation.to in WITH_FUNCTION else translation.function()


def recorded_calls():
    """Every call that a framework answered, as (function, shapes by name, arguments)."""
    frameworks = ("torch", "jax", "onnx", "keras")
    for recorded in ("tensorflow", *frameworks, *(f"{framework}_axes" for framework in frameworks)):
        framework = recorded.removesuffix("_axes")
        module = tc if framework == "tensorflow" else getattr(tc.dialects, framework)
        for case, inputs, _ in answers_and_refusals(recorded)[1]:
            function = getattr(module, case["op"])
            if function in translating.FUNCTIONS:
                shapes = {name: array.shape for name, array in inputs.items()}
                yield f"{recorded}-{case['name']}", function, shapes, case["arguments"]


CALLS = list(recorded_calls())


@pytest.mark.parametrize(
    ("target", "step"), mostly_slow([("torch", 4), *((one, 1) for one in TARGETS)], ("torch", 4))
)
def test_every_recorded_call_in_every_framework(target, step, monkeypatch):
    """Every recorded call, or every fourth, translated, gives the same result by teachconv's function of the target."""
    without_the_frameworks(monkeypatch, target)  # the peers' tests run them
    possible = 0
    for name, function, shapes, arguments in CALLS[::step]:
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
        assert max(map(len, translation.code.split("\n"))) < 110, name
        report = translation.check()
        assert report.passed, f"{name}\n{report}\n{translation.code}"
        assert [row.max_abs for row in report.rows] == [0]
        possible += 1
    assert possible > 500 / step


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
    assert len(report.rows) == 1 + (target in WITH_FUNCTION)


def test_type_checkers_know_every_target():
    words = get_args(Framework)
    assert set(TARGETS) < set(words)
    assert all(targets.framework(word) in TARGETS for word in words)


def test_torchs_note_is_true_of_a_size_that_is_padded_evenly():
    """SAME pads 7 rows by 1 and 1 at stride 2, and 8 rows by 0 and 1."""
    translation = tc.translate(tc.conv2d, (1, 7, 7, 1), (3, 3, 1, 1), 2, "SAME", to="torch")
    (note,) = (note for note in translation.notes if "F.pad" in note)
    assert note == "torch has no padding that depends on the size: F.pad(x, (1, 1, 1, 1)) first"


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


# ---------------------------------------------------------------------------------------------
# Other sizes than the one that was translated
# ---------------------------------------------------------------------------------------------


def at_other_sizes(probe, target, any_size=False):
    """Yield what the source and the translated code give for images up to 5 rows and columns larger."""
    translation = tc.translate(probe.function, *probe.shapes, to=target, any_size=any_size, **probe.arguments)
    if not translation.possible:
        return
    convolve = run_here(translation)
    layout = translation.source.input_layout
    for more in range(-2, 6):
        shape = [n + more * (letter in "HW") for n, letter in zip(probe.shapes[0], layout, strict=True)]
        x = make_array(shape, "float32", "integers", "x")
        w = make_array(probe.shapes[1], "float32", "integers", "w")
        try:
            want = probe.function(x, w, **probe.arguments)
        except ValueError:
            continue
        try:
            yield more, want, convolve(x, w)
        except ValueError as error:
            yield more, want, error


def legal_probes():
    for probe in dialect_map.OPTIONS:
        try:
            call = tc.resolve(probe.function, *probe.shapes, **probe.arguments)
        except (ValueError, TypeError):
            continue
        if isinstance(call, ConvCall):  # test_window_targets.py has the others
            yield probe


@pytest.mark.parametrize("target", TARGETS)
def test_code_is_right_at_another_size_or_refuses_it(target, monkeypatch):
    """SAME at stride 2 pads 0 and 1 on 8 rows, 1 and 1 on 7: the numbers of one are wrong for the other."""
    without_the_frameworks(monkeypatch, target)
    right, refused = 0, 0
    for probe in legal_probes():
        for more, want, got in at_other_sizes(probe, target):
            if isinstance(got, ValueError):
                assert more, probe.text
                assert str(got).startswith(("made for x ", "the filter ")), got
                refused += 1
            else:
                assert np.array_equal(want, got), (probe.dialect, probe.text, more)
                right += 1
    assert right > 150
    assert refused > (5 if target in ("tensorflow", "jax", "onnx") else 20)


@pytest.mark.parametrize("target", TARGETS)
def test_code_for_any_size(target, monkeypatch):
    without_the_frameworks(monkeypatch, target)
    compared = 0
    for probe in legal_probes():
        if "output_shape" in probe.arguments:  # ONNX takes it for any image, with other pads for each
            with pytest.raises(ArgumentError, match="any_size must be False here: an argument"):
                tc.translate(probe.function, *probe.shapes, to=target, any_size=True, **probe.arguments)
            continue
        if (
            probe.arguments.get("padding") == "CAUSAL"
        ):  # its zeros follow from the filter's size, which is open too
            with pytest.raises(ArgumentError, match="any_size must be False here: the padding of this"):
                tc.translate(probe.function, *probe.shapes, to=target, any_size=True, **probe.arguments)
            continue
        for more, want, got in at_other_sizes(probe, target, any_size=True):
            assert np.array_equal(want, got), (probe.dialect, probe.text, more, got)
            compared += more != 0
    assert compared > 150


def test_the_code_checks_only_what_it_depends_on():
    def code(*args, to="torch", **words):
        return tc.translate(*args, to=to, **words).code

    same = tc.conv2d, (1, 7, 7, 3), (3, 3, 3, 4), 2, "SAME"
    assert "if x.shape[1:3] != (7, 7)" not in code(*same, to="tensorflow")
    assert "raise" not in code(*same, to="tensorflow")
    assert "auto_pad='SAME_UPPER'" in code(*same, to="onnx")
    assert "if x.shape[1:3] + w.shape[:2] != (7, 7, 3, 3):" in code(*same)
    assert "raise" not in code(*same, any_size=True)
    assert "same_padding(x.shape[2], w.shape[2], 2, 1)" in code(*same, any_size=True)
    # SAME at stride 1 is the filter's matter alone
    assert "if w.shape[:2] != (3, 3):" in code(tc.conv2d, (1, 7, 7, 3), (3, 3, 3, 4), 1, "SAME")
    # padding 1 stays 1: 7 rows would also be SAME, 8 rows would not
    explicit = code(torch.conv2d, (1, 3, 7, 7), (4, 3, 3, 3), stride=2, padding=1, to="tf")
    assert "padding=[[0, 0], [1, 1], [1, 1], [0, 0]]" in explicit
    assert "raise" not in explicit
    up = tc.conv2d_transpose, (1, 8, 8, 2), (3, 3, 4, 2)
    assert "output_shape=(len(x), x.shape[1] * 2, x.shape[2] * 2, w.shape[2])" in code(
        *up, strides=2, to="tf"
    )
    fixed = code(*up, output_shape=(1, 15, 15, 4), strides=2, to="jax")
    assert "if x.shape[:3]" in fixed
    assert "made for x [1, 8, 8, C] and w [3, 3, 4, I]" in fixed


def test_notes_are_no_part_of_what_sizes_are_compared_by():
    """At 8 rows torch lacks the pads, at 9 a padding of 0 would do: the notes say that, the calls are the same."""
    call = (3, 3, 3, 8), 2, ((0, 1), (0, 1))
    codes = set()
    for size in (8, 9, 224):
        for any_size in (False, True):
            made = tc.translate(tc.conv2d, (1, size, size, 3), *call, to="torch", any_size=any_size)
            assert "made for" not in made.code
            lines = made.code.split("\n")
            codes.add("\n".join(line for line in lines if not line.strip().startswith("#")))
    assert len(codes) == 1
    convolve = made._here()
    for size in (7, 8, 9, 10):
        x = make_array((2, size, size, 3), "float32", "integers", "x")
        w = make_array(call[0], "float32", "integers", "w")
        assert np.array_equal(convolve(x, w), tc.conv2d(x, w, *call[1:])), size


def test_filters_and_channels_that_the_code_depends_on():
    # 2 rows of filter would crop nothing: ONNX cuts the padding off at zero
    code = tc.translate(onnx.conv_transpose, (1, 2, 4, 3), (2, 3, 3, 3), output_shape=[3, 4], to="jax").code
    assert "if x.shape[2:] + w.shape[2:] != (4, 3, 3, 3):" in code
    # the groups follow from the filter's third axis, whatever that is called in a gradient
    code = tc.translate(
        tc.conv2d_backprop_input, (1, 6, 5, 4), (3, 3, 2, 6), (1, 3, 3, 6), 2, "SAME", to="onnx"
    ).code
    assert "made for x [1, 3, 3, C] and w [3, 3, 2, O]" in code


def test_any_size_needs_a_rule():
    call = (1, 2, 5, 5), (3, 2, 3, 3), (2, 2)
    stays = tc.translate(jax.conv_general_dilated, *call, ((0, 1), (2, 0)), to="torch", any_size=True)
    assert stays.check().passed
    with pytest.raises(ArgumentError, match="any_size must be False here: an argument"):
        tc.translate(
            tc.conv2d_backprop_input, (1, 8, 8, 3), (3, 3, 3, 4), (1, 4, 4, 4), 2, "SAME",
            to="torch", any_size=True,
        )  # fmt: skip


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(
    "pads", [((3, -2), (0, 0)), ((-2, 3), (1, -1)), ((0, 0), (-1, 1)), ((-1, 2), (2, 1))]
)
def test_padding_on_one_side_and_cropping_on_the_other(target, pads):
    """The input is padded first: 1 row has not the 2 that are cropped."""
    needs_something_to_run(target)
    rows = 1 if pads[0] == (3, -2) else 3
    translation = tc.translate(tc.conv2d, (1, rows, 4, 2), (2, 1, 2, 3), 1, pads, to=target)
    x, w = np.ones((1, rows, 4, 2), "float32"), np.ones((2, 1, 2, 3), "float32")
    assert translation.check(x, w).passed
    assert translation.check().passed
    if target == "torch":
        assert translation.code.count("F.pad(") == 2
        assert "F.pad(x, (0, 0, 3, 0))" in translation.code or pads != ((3, -2), (0, 0))


def test_keras_never_has_strides_with_dilations():
    """Keras on TensorFlow refuses both; the code computes every row and column, and keeps every second."""
    for strides, dilations in ((2, 2), ((2, 1), (1, 3))):
        call = tc.conv2d, (1, 9, 8, 2), (3, 3, 2, 4), strides, "SAME", "NHWC", dilations
        for any_size in (False, True):
            translation = tc.translate(*call, to="keras", any_size=any_size)
            assert "strides=(1, 1)" in translation.code
            assert "y = y[:, ::2, ::" in translation.code
            assert translation.check().passed


def test_jax_and_keras_take_the_layouts_of_the_source():
    for function, w in ((torch.conv2d, (4, 2, 3, 3)), (torch.conv_transpose2d, (2, 4, 3, 3))):
        translation = tc.translate(function, (1, 2, 6, 5), w, stride=2, padding=1, to="jax")
        assert ".transpose(" not in translation.code
        assert translation.check().passed
        keras_code = tc.translate(function, (1, 2, 6, 5), w, stride=2, padding=1, to="keras").code
        assert "x = x.transpose" not in keras_code
        assert "data_format='channels_first'" in keras_code
    numbers = ("WCNH", "IWOH", "CHWN")  # columns before rows: the pairs are in the filter's order
    call = (7, 2, 1, 6), (2, 3, 4, 2), (2, 1), ((1, 0), (0, 2)), None, (1, 2), numbers
    translation = tc.translate(jax.conv_general_dilated, *call, to="jax")
    assert ".transpose(" not in translation.code
    assert "window_strides=(2, 1)" in translation.code
    batched = tc.translate(
        jax.conv_general_dilated, (4, 3, 6, 6), (4, 3, 3, 3), (1, 1), "SAME", batch_group_count=2, to="jax"
    )
    assert "batch_group_count=2" in batched.code
    assert ".reshape(" not in batched.code


def test_check_says_whether_the_framework_ran(monkeypatch):
    call = tc.conv2d, (1, 8, 8, 3), (3, 3, 3, 4), 2, "SAME"
    assert "itself ran)" in tc.translate(*call, to="scipy").check().title
    monkeypatch.setattr(translating, "installed", lambda name: False)
    report = tc.translate(*call, to="torch").check()
    assert "torch itself did NOT run: it is not installed" in str(report)
    with pytest.raises(BackendUnavailable, match="nothing to compare with"):
        tc.translate(*call, to="scipy").check()


@pytest.mark.parametrize("target", ["mlx", "paddle"])
def test_a_removed_target_names_its_successor(target, capsys):
    with pytest.raises(ArgumentError, match=r"to must be one of .*removed in 0\.2; tc\.resolve"):
        tc.translate(tc.conv2d, (1, 8, 8, 3), (3, 3, 3, 4), to=target)
    with pytest.raises(ArgumentError, match=r"from_ must be one of .*removed in 0\.2; tc\.resolve"):
        tc.convert_filters(np.ones((3, 3, 3, 4)), target, "torch")
    with pytest.raises(SystemExit):
        main(["translate", "tf.nn.conv2d", "(1, 8, 8, 3)", "(3, 3, 3, 4)", "--to", target])
    assert "removed in 0.2; tc.resolve" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("alias", "name"),
    [("pytorch", "torch"), ("PyTorch", "torch"), ("tf", "tensorflow"), ("onnxruntime", "onnx")],
)
def test_frameworks_have_more_than_one_name(alias, name):
    call = tc.conv2d, (1, 8, 8, 3), (3, 3, 3, 4)
    assert tc.translate(*call, to=alias).code == tc.translate(*call, to=name).code
    w = np.ones((3, 3, 2, 4))
    assert tc.convert_filters(w, "tf", alias).shape == tc.convert_filters(w, "tensorflow", name).shape


def test_functions_can_be_named():
    shapes = (1, 3, 8, 8), (4, 3, 3, 3)
    for name in ("torch.conv2d", "F.conv2d", "pytorch.conv2d", "torch.nn.functional.conv2d"):
        assert tc.translate(name, *shapes, to="jax").source.function == "torch.conv2d"
    for name in ("conv2d", "tf.nn.conv2d", "tc.conv2d"):
        assert tc.resolve(name, (1, 8, 8, 3), (3, 3, 3, 4)).function == "tensorflow.conv2d"
    assert tc.resolve("conv_transpose2d", (1, 3, 8, 8), (3, 4, 3, 3)).function == "torch.conv_transpose2d"
    with pytest.raises(ArgumentError, match="one of keras.conv, onnx.conv"):
        tc.resolve("conv", *shapes)


def test_numbers_of_ncnn_that_stand_for_words_are_said():
    with pytest.raises(
        ArgumentError, match=r"; in ncnn, -233 stands for SAME \(ONNX's SAME_UPPER\): use that"
    ):
        tc.resolve(tc.conv2d, (1, 8, 8, 3), (3, 3, 3, 4), 2, ((-233, -233), (-233, -233)))
    with pytest.raises(ArgumentError, match="in ncnn, -234 stands for SAME_LOWER: use that"):
        tc.resolve("onnx.conv", (1, 3, 8, 8), (4, 3, 3, 3), pads=[-234] * 4)
    with pytest.raises(ArgumentError, match="in ncnn, -233 stands for"):
        tc.resolve("F.conv2d", (1, 3, 8, 8), (4, 3, 3, 3), padding=-233)
    # where it can crop, it does
    assert tc.resolve(tc.conv2d, (1, 500, 500, 3), (3, 3, 3, 4), 1, -233).output_shape == (1, 32, 32, 4)
    page = dialect_map.markdown()
    assert "| `SAME_LOWER` | 1 before, 0 after | `pad_left=-234` | `pad_type` same_lower |" in page


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
    assert translating.replace(translation, _made_for="")._here()(x, w).shape == (1, 4, 8, 8)
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
    assert "kept: 7 x 7 from (1, 1)" in up._repr_html_()


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
        (lambda: tc.convert_filters(np.ones((1, 1)), "torch", "keras"), ArgumentError, "3, 4 or 5 axes"),
        (lambda: tc.convert_filters(np.ones((1, 1, 1, 3)), "keras", "jax", True, 2), ArgumentError, "divide"),
        (
            lambda: tc.convert_filters(np.ones((1, 1, 2, 3)), "keras", "tensorflow_depthwise"),
            ArgumentError,
            "one input",
        ),
        (
            lambda: tc.convert_filters(np.ones((2, 3, 3, 4)), "tflite_depthwise", "torch"),
            ArgumentError,
            "one input channel in each group to be depthwise; got 2",
        ),
        (
            lambda: tc.convert_filters(np.ones((1, 1, 2, 3)), "keras", "tflite_depthwise"),
            ArgumentError,
            "one input",
        ),
        (lambda: tc.convert_filters(np.ones((4, 3, 3)), "torch", "tflite"), ArgumentError, "4 axes"),
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
# One axis and three
# ---------------------------------------------------------------------------------------------

CAUSAL = {  # how each framework says that six cells come before
    "tensorflow": "x = np.pad(x, ((0, 0), (6, 0), (0, 0)))",
    "torch": "x = F.pad(x, (6, 0))  # left, right",
    "jax": "padding=((6, 0),)",
    "onnx": "pads=[6, 0]",
    "keras": "x = np.pad(x, ((0, 0), (6, 0), (0, 0)))",
    "scipy": "x = np.pad(x, ((0, 0), (6, 0), (0, 0)))",
}


@pytest.mark.parametrize("strides", [1, 2])
@pytest.mark.parametrize("target", TARGETS)
def test_causal_is_a_pad_before_the_call_or_in_it(target, strides, monkeypatch):
    without_the_frameworks(monkeypatch, target)
    translation = tc.translate(tc.conv1d, (2, 11, 4), (4, 2, 6), strides, "CAUSAL", dilations=2, to=target)
    assert CAUSAL[target] in translation.code
    assert not {*translation._made_for.partition(",")[0]} & {*"DHW"}  # for any length
    report = translation.check()
    assert report.passed
    assert not any(row.max_abs for row in report.rows)
    if target == "keras":
        assert 'keras.layers.Conv1D has padding="causal"' in translation.code


@pytest.mark.parametrize("target", TARGETS)
def test_same_at_stride_2_for_any_length(target, monkeypatch):
    without_the_frameworks(monkeypatch, target)
    x, w = (1, 10, 2), (4, 2, 3)
    translation = tc.translate(tc.conv1d, x, w, 2, "SAME", to=target, any_size=True)
    convolve = run_here(translation)
    kernel = make_array(w, "float32", "integers", "same")
    for length in (7, 8, 9, 12):
        signal = make_array((1, length, 2), "float32", "integers", "same")
        assert np.array_equal(convolve(signal, kernel), tc.conv1d(signal, kernel, 2, "SAME"))


def test_the_words_of_a_call_over_three_axes():
    code = tc.translate(tc.conv3d, (1, 4, 6, 6, 2), (2, 3, 3, 2, 4), (1, 2, 2), "SAME", to="torch").code
    assert "x = F.pad(x, (0, 1, 0, 1, 0, 1))  # left, right, top, bottom, front, back" in code
    assert "y = F.conv3d(x, w, stride=(1, 2, 2))" in code
    grouped = tc.translate(tc.conv3d, (1, 4, 4, 4, 4), (2, 2, 2, 2, 6), to="tensorflow")
    assert "np.split(w, 2, 4)" in grouped.code
    assert "no groups over three axes" in grouped.code
    code = tc.translate(torch.conv1d, (1, 2, 9), (3, 2, 3), stride=2, dilation=2, to="tensorflow").code
    assert "y = tf.nn.convolution(x, w, strides=(1,), padding='VALID', dilations=(2,)).numpy()" in code
    assert "y = y[:, ::2, :]" in code


# ---------------------------------------------------------------------------------------------
# Filters
# ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(2, 4, 6, 8), (6, 4, 8), (6, 4, 2, 4, 8)])
@pytest.mark.parametrize("groups", [1, 2])
@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("start", TARGETS)
def test_filters_come_back(start, transposed, groups, shape, rng):
    w = rng.standard_normal(shape).astype("float32")
    for other in TARGETS:
        there = tc.convert_filters(w, start, other, transposed, groups)
        assert np.array_equal(tc.convert_filters(there, other, start, transposed, groups), w)


@pytest.mark.parametrize("rank", [1, 3])
def test_filters_of_other_ranks_are_those_of_their_frameworks(rank, rng):
    x = rng.integers(-4, 5, (1, *(7, 6, 5)[:rank], 4)).astype("int32")
    w = rng.integers(-4, 5, (*(3, 2, 2)[:rank], 2, 6)).astype("int32")
    want = tc.convolution(x, w)
    theirs = tc.convert_filters(w, "tensorflow", "torch")
    first = getattr(torch, f"conv{rank}d")(np.moveaxis(x, -1, 1), theirs, groups=2)
    assert np.array_equal(np.moveaxis(first, 1, -1), want)
    depthwise = w.reshape(*w.shape[:-2], 4, 3)
    one = tc.convert_filters(depthwise, "tensorflow_depthwise", "keras")
    assert one.shape == (*w.shape[:-2], 1, 12)
    assert np.array_equal(tc.convert_filters(one, "keras", "tensorflow_depthwise", groups=4), depthwise)
    transposed = rng.integers(-4, 5, (*(3, 2, 2)[:rank], 5, 4)).astype("int32")
    got = jax.conv_transpose(
        x, tc.convert_filters(transposed, "tensorflow", "jax", True), (2,) * rank, "VALID"
    )
    assert np.array_equal(got, tc.conv_transpose(x, transposed, None, 2, "VALID"))


def test_filters_of_tflite_files(rng):
    """Layouts as in the files that TensorFlow's converter writes: tests/peers/test_porting_pages.py."""
    w = rng.integers(-4, 5, (3, 2, 4, 6)).astype("int8")
    for framework in TARGETS:
        there = tc.convert_filters(w, "tensorflow", framework)
        assert np.array_equal(tc.convert_filters(there, framework, "tflite"), w.transpose(3, 0, 1, 2))
        there = tc.convert_filters(w, "tensorflow", framework, True)  # [rows, cols, out, in]
        stored = tc.convert_filters(there, framework, "tflite", True)
        assert np.array_equal(stored, w.transpose(2, 0, 1, 3))
        assert np.array_equal(tc.convert_filters(stored, "tflite", framework, True), there)
    depthwise = tc.convert_filters(w, "tensorflow_depthwise", "tflite_depthwise")
    assert np.array_equal(depthwise, w.reshape(1, 3, 2, 24))
    oihw = tc.convert_filters(depthwise, "tflite_depthwise", "torch")
    assert np.array_equal(oihw, tc.convert_filters(w, "tensorflow_depthwise", "torch"))
    assert np.array_equal(tc.convert_filters(oihw, "torch", "tensorflow_depthwise", groups=4), w)


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
    assert ways["torch.max_pool2d(kernel_size=3, stride=2, ceil_mode=True)"]["keras"] == "pad first"
    assert ways["torch.avg_pool2d(kernel_size=2, divisor_override=3)"]["jax"] == "divide after"
    assert ways["torch.pad(pad=(2, 3, 1, 0), mode='circular')"]["tensorflow"] == "impossible"
    markdown, tables = dialect_map.markdown(), dialect_map.both_tables()
    for probe in dialect_map.OPTIONS:
        assert probe.text in markdown
        assert probe.text in [row[1] for row in tables[0].rows]
    text = "\n".join(table.text() for table in tables)
    assert max(map(len, text.split("\n"))) <= 100


def command(capsys, *words):
    status = main(words)
    captured = capsys.readouterr()
    return status, captured.out + captured.err


def test_translate_on_the_command_line(capsys):
    words = ["translate", "torch.conv2d", "1,3,16,16", "8,3,3,3", "stride=2", "padding=1"]
    status, out = command(capsys, *words, "--to", "tensorflow", "--resolve", "--check")
    assert status == 0
    assert "def convolve(x, w):" in out
    assert "index law" in out
    assert "all pass" in out
    status, out = command(
        capsys, "translate", "tensorflow.conv2d", "1,8,8,1", "3,3,1,1", "padding=SAME", "--to", "torch"
    )
    assert status == 0
    assert "padding=(1, 1)" in out
    status, out = command(
        capsys, "translate", "conv2d", "1,8,8,1", "3,3,1,1", "padding=SAME", "strides=2",
        "--to", "pytorch", "--any-size", "--check",
    )  # fmt: skip
    assert status == 0
    assert "def same_padding(" in out
    assert "torch" in out
    status, out = command(
        capsys, "translate", "jax.conv_general_dilated", "1,1,2,2", "1,1,3,3",
        "window_strides=(1,1)", "padding=VALID", "--to", "torch",
    )  # fmt: skip
    assert status == 1
    assert "impossible" in out
    status, out = command(capsys, "translate", "torch.conv2", "1,1,2,2", "--to", "torch")
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


def test_a_large_stride_is_translated_for_its_sizes_alone():
    """Sizes repeat with the stride; where it is too large to try them all, the code checks its own."""
    made = tc.translate(tc.conv2d, (1, 9, 9, 1), (3, 3, 1, 1), 2**30, "SAME", to="torch")
    assert "made for x [N, 9, 9, C] and w [3, 3, I, O]" in made.code
    same = tc.translate(tc.conv2d, (1, 9, 9, 1), (3, 3, 1, 1), 3, padding=1, to="torch")
    assert "made for" not in same.code
    with pytest.raises(ValueError, match="any_size must be False"):
        tc.translate(tc.conv2d, (1, 9, 9, 1), (3, 3, 1, 1), 2**30, "SAME", to="torch", any_size=True)


def test_check_reports_a_framework_that_raises_when_nothing_else_ran(monkeypatch):
    monkeypatch.setattr(translating, "installed", lambda name: True)
    found = tc.translate(tc.conv2d, (1, 5, 5, 1), (3, 3, 1, 1), to="scipy")

    def broken(self):
        raise OSError("no usable device")

    monkeypatch.setattr(type(found), "function", broken)
    report = found.check()
    assert report.passed is False
    assert report.failed[0].note == "raised OSError: no usable device"
    assert "itself raised an error" in str(report)
