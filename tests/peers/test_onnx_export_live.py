"""What `teachconv.to_onnx` writes, run by onnxruntime: calls, gradients and models."""

import numpy as np
import pytest
from exported import MODELS, calls_of, check, dialect_calls, exported, judged
from helpers import problems
from hypothesis import given, settings

import teachconv as tc
from teachconv.running import nn_ops
from teachconv.truth import bounds
from teachconv.truth.exact import abs_sum

pytest.importorskip("onnx", reason="onnx is not installed")
onnxruntime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")

pytestmark = pytest.mark.peers


def run(model, feeds):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    return session.run(["output"], dict(feeds))[0]


@settings(max_examples=100)
@given(problems())
def test_every_op_on_random_geometries(problem):
    for op, arguments in calls_of(problem):
        check(op, arguments, run)


@pytest.mark.parametrize("framework", ["torch", "onnx", "jax", "keras", "tensorflow"])
def test_calls_of_every_dialect(framework):
    calls = list(dialect_calls(framework, range(8000, 8200)))
    assert len(calls) > 60
    for op, arguments in calls:
        check(op, arguments, run)


@settings(max_examples=40)
@given(problems())
def test_numbers_that_are_rounded_stay_within_the_bound(problem):
    rng = np.random.default_rng(1)
    for op, arguments in calls_of(problem):
        real = {
            name: rng.standard_normal(value.shape).astype("float32")
            if isinstance(value, np.ndarray)
            else value
            for name, value in arguments.items()
        }
        call, _ = nn_ops.call_of(op, (), real)
        want, sums = op(**real, backend="reference"), abs_sum(call)
        verdict = bounds.judge(
            call.from_caller(run(*exported(op, real))),
            call.from_caller(want),
            bounds.direct(sums, call.terms, "float32"),
            sums,
        )
        assert verdict.passed, (op, arguments)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", MODELS)
def test_models_stay_within_the_bound(name, seed):
    verdict = judged(MODELS[name], run, seed=10 * seed)
    assert verdict.passed, verdict.fraction.max()


def test_onnxruntime_agrees_with_the_check_of_the_importer(tmp_path):
    path = tmp_path / "model.onnx"
    tc.to_onnx(MODELS["mixed"](), path=path)
    assert tc.onnx_model(path, check=True).passed
