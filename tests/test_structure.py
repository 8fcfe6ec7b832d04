"""The house: imports run one way, backends keep one contract, importing is cheap, the docs' names exist."""

import ast
import inspect
import subprocess
import sys
from pathlib import Path

import pytest

import teachconv as tc
from teachconv.backends import TABLE, get, why_not

PACKAGE = Path(tc.__file__).parent

# left to right; a module may import those in lines above its own, and those it is listed after in its line
GRAPH = [
    "device_spec errors operators tensor_shape tensor_util timeline",
    "common_shape_fns config context op_def",
    "core_ops gradient_registry ops",
    "node_def op_def_library op_gen",
    "constant_op graph_pictures op_kernel optimizer_cse remapper subgraph",
    "constant_folding executor kernels.array_ops kernels.conv_ops kernels.math_ops kernels.nn_ops kernels.pooling_ops kernels.state_ops placer run_metadata",
    "kernels",
    "execute graph_execution_state",
    "gen_nn_ops",
    "nn_ops",
    "array_ops math_ops",
    "find_source variables",
    "session",
    "def_function digits_network photo_network",
]
ORDER = [
    ["errors"],
    ["settings", "record", "devices"],
    ["arguments", "datasets"],
    ["geometry"],
    ["taps"],
    ["bounds"],
    ["backends"],
    ["backends.cuda.sources", "backends.cuda.launches"],
    ["backends.cuda.ladder"],
    ["backends.cuda"],
    [
        "backends.reference",
        "backends.numpy_backend",
        "backends.scipy_backend",
        "backends.cython_backend",
        "backends.cupy_backend",
    ],
    ["dispatch"],
    ["nn_ops"],
    ["planning", "tuning"],
    ["dialects.calls"],
    ["dialects.torch", "dialects.onnx", "dialects.jax", "dialects.keras", "dialects.tensorflow"],
    ["dialects.targets"],
    ["dialects.source_text"],
    ["dialects"],
    ["cases"],
    ["pictures"],
    ["receptive"],
    ["tracing"],
    ["explaining"],
    ["mistakes"],
    ["diffing"],
    ["translating"],
    ["dialect_map", "onnx_models"],
    ["plotting"],
    ["explorer.tables", "explorer.page"],
    ["explorer.document"],
    ["explorer.variants"],
    ["explorer.live"],
    ["explorer.explorer"],
    ["explorer"],
    *([f"graph.{name}" for name in names.split()] for names in GRAPH),
    ["graph"],
    ["demo"],
    ["command_calls"],
    ["dialects.commands", "explorer.commands", "graph.commands"],
    ["cli"],
    ["__init__", "__main__"],
]
RANK = {name: rank for rank, names in enumerate(ORDER) for name in names}
TYPES_ONLY = {
    ("pictures", "explaining"),
    ("graph.context", "graph.ops"),
    ("graph.executor", "graph.run_metadata"),
    ("graph.graph_pictures", "graph.run_metadata"),
    ("graph.graph_pictures", "graph.graph_execution_state"),
    ("graph.run_metadata", "graph.placer"),
    ("graph.run_metadata", "graph.executor"),
    ("graph.run_metadata", "graph.graph_execution_state"),
    ("graph.timeline", "graph.run_metadata"),
    ("explorer.live", "explorer.explorer"),
}
LATE = {  # the few that look right, where they are used, with the reason
    ("settings", "backends"): "use_backend asks the table, at the moment of the call",
    ("nn_ops", "backends.scipy_backend"): "conv_matrix is SciPy's",
    ("graph.op_def", "graph.gradient_registry"): "a property looks the gradient up",
    ("graph.operators", "graph.gen_nn_ops"): "an operator makes a node",
} | dict.fromkeys(TYPES_ONLY, "types only")


def modules():
    for path in sorted(PACKAGE.rglob("*.py")):
        name = ".".join(path.relative_to(PACKAGE).with_suffix("").parts)
        yield name.removesuffix(".__init__") or "__init__", path


def imports_of(name, path):
    """Yield the modules of teachconv that a module imports, at any depth of its code."""
    package = (
        name.split(".")[:-1]
        if path.name != "__init__.py"
        else [part for part in name.split(".") if part != "__init__"]
    )
    for node in ast.walk(ast.parse(path.read_text())):
        if not isinstance(node, ast.ImportFrom) or not node.level:
            continue
        base = package[: len(package) - node.level + 1]
        target = ".".join([*base, *(node.module or "").split(".")]).strip(".")
        for alias in node.names:
            full = f"{target}.{alias.name}".strip(".")
            yield full if full in RANK else target or "__init__"


def test_every_module_has_its_place():
    assert {name for name, _ in modules()} == set(RANK)


@pytest.mark.parametrize(("name", "path"), list(modules()), ids=[name for name, _ in modules()])
def test_imports_run_one_way(name, path):
    for target in imports_of(name, path):
        if target in ("", "__init__", "_kernels") or (name, target) in LATE:
            continue
        assert RANK[target] < RANK[name], f"{name} imports {target}"
        if name.startswith("backends."):
            parts = "backends.cuda"  # of the cupy backend
            assert not target.startswith("backends.") or target.startswith(parts), (
                f"backend {name} imports backend {target}"
            )


def test_backends_keep_one_contract():
    """The same names, the same parameters in the same order, and a pack that is optional."""
    contract = {
        "conv2d": "x w geometry algorithm precision bias activation out",
        "conv2d_backprop_input": "dy w geometry algorithm precision bias activation out",
        "conv2d_backprop_filter": "x dy geometry algorithm precision out",
    }
    for name in TABLE:
        module = sys.modules.get(TABLE[name]) or __import__(TABLE[name], fromlist=["x"])
        for function, parameters in contract.items():
            signature = inspect.signature(getattr(module, function))
            assert list(signature.parameters) == parameters.split(), (name, function)
            kinds = [p.kind for p in list(signature.parameters.values())[3:]]
            assert set(kinds) == {inspect.Parameter.KEYWORD_ONLY}
        assert module.ALGORITHMS
        assert all(
            a.summary and a.precision in ("strict", "default", "fast", "tf32") for a in module.ALGORITHMS
        )
        assert len({a.name for a in module.ALGORITHMS}) == len(module.ALGORITHMS)


def test_ops_have_tensorflow_signatures():
    forward = "input filters strides padding data_format dilations name"
    for name, start in {
        "conv2d": forward,
        "depthwise_conv2d": forward,
        "conv2d_transpose": "input filters output_shape strides padding data_format dilations name",
        "conv2d_backprop_input": "input_sizes filters out_backprop strides padding data_format dilations name",
        "conv2d_backprop_filter": "input filter_sizes out_backprop strides padding data_format dilations name",
    }.items():
        for op in {name, f"depthwise_{name}"} & set(tc.__all__):
            parameters = list(inspect.signature(getattr(tc, op)).parameters)
            assert parameters[: len(start.split())] == start.split()
            assert {"backend", "algorithm", "precision", "out"} < set(parameters)


def test_public_names_are_documented():
    for name in tc.__all__:
        thing = getattr(tc, name)
        assert thing.__doc__, name
        if inspect.isfunction(thing):
            assert ">>>" in thing.__doc__, f"{name} has no doctest"


def run(code):
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=True
    ).stdout


def test_importing_is_light():
    heavy = [
        "scipy",
        "matplotlib",
        "anywidget",
        "teachconv.explorer",
        "teachconv.plotting",
        "cupy",
        "rich",
        "teachconv._kernels",
        "threadpoolctl",
        "ml_dtypes",
        "html.parser",
    ]
    code = f"import teachconv, sys; print([m for m in {heavy!r} if m in sys.modules])"
    assert run(code).strip() == "[]"


def test_backends_is_a_package_and_a_function():
    import teachconv.backends
    import teachconv.backends.numpy_backend as numpy_backend

    assert teachconv.backends is tc.backends
    assert tc.backends()[1].algorithms == numpy_backend.ALGORITHMS


def test_without_the_extension_numpy_is_the_default_and_says_so_once():
    code = """
import sys, warnings
sys.modules["teachconv._kernels"] = None
import numpy as np, teachconv as tc
x = np.ones((1, 3, 3, 1)), np.ones((2, 2, 1, 1))
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    tc.conv2d(*x); tc.conv2d(*x)
    print(tc.trace(tc.conv2d, *x).backend, len(caught), "numpy backend" in str(caught[0].message))
try:
    tc.conv2d(*x, backend="cython")
except tc.BackendUnavailable as error:
    print("install a C compiler" in str(error))
print([info.why_not != "" for info in tc.backends()][:4])
"""
    assert run(code).split("\n")[:3] == ["numpy 1 True", "True", "[False, False, False, True]"]


@pytest.mark.skipif(bool(why_not("cython")), reason=why_not("cython") or "compiled")
def test_cython_is_the_default():
    import numpy as np

    assert tc.trace(tc.conv2d, np.ones((1, 3, 3, 1)), np.ones((2, 2, 1, 1))).backend == "cython"
    assert get("cython").ALGORITHMS[0].name == "direct"
