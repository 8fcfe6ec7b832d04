"""The places in TensorFlow that the pages name are those of the installed package."""

import json
from pathlib import Path

import pytest
from recorders import record_tensorflow_sources as script

pytestmark = pytest.mark.peers


@pytest.fixture(scope="module")
def package():
    tensorflow = pytest.importorskip("tensorflow")
    recorded = json.loads(script.TARGET.read_text(encoding="utf-8"))
    if tensorflow.__version__ != recorded["versions"]["tensorflow"]:
        pytest.skip(f"recorded from {recorded['versions']['tensorflow']}; here is {tensorflow.__version__}")
    return Path(tensorflow.__file__).parent, recorded


def test_the_recorded_lines_are_those_of_the_steps(package):
    folder, recorded = package
    assert script.places(folder, script.TRANSPOSED_STEPS) == recorded["transposed"]
    for entry in recorded["steps"] + recorded["transposed"]:
        line = (folder / entry["file"]).read_text(encoding="utf-8").split("\n")[entry["line"] - 1]
        assert all(name.rpartition("::")[2] in line for name in entry["name"].split(", ")), entry


def test_the_files_that_the_libraries_were_compiled_from_are_the_recorded_ones(package):
    folder, recorded = package
    assert script.compiled(folder) == recorded["compiled"] == list(script.COMPILED)


def test_the_rule_of_names_is_that_of_the_generator(package):
    """teachconv's rule, on every op of TensorFlow that has a generated function in gen_nn_ops."""
    from tensorflow.python.ops import gen_nn_ops

    from teachconv.graph.core_ops.op_gen import lower_case_op_name

    source = Path(gen_nn_ops.__file__).read_text(encoding="utf-8")
    names = {
        name for line in source.split("\n") if "_apply_op_helper(" in line for name in line.split('"')[1:2]
    }
    names |= {part.split('"')[0] for part in source.split('tf_export("raw_ops.')[1:]}
    assert len(names) > 100
    missing = [name for name in names if not hasattr(gen_nn_ops, lower_case_op_name(name))]
    assert all(hasattr(gen_nn_ops, f"_{lower_case_op_name(name)}") for name in missing), missing
