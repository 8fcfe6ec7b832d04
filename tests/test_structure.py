"""The structure of the package: order of imports, contract of backends, cheap import, documented names."""

import ast
import dataclasses
import inspect
import re
import subprocess
import sys
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest
from statements import GROUPS

import teachconv as tc
from teachconv.backends import TABLE, get, reference, why_not
from teachconv.core.kinds import KINDS, OPS
from teachconv.graph.framework.op_kernel import KernelDef
from teachconv.graph.kernels import KERNELS

pytestmark = pytest.mark.xdist_group("structure")

PACKAGE = Path(tc.__file__).parent

# The rooms, left to right: a room may import those to its left only.
ROOMS = """
    support
    core
    data backends
    running
    windows
    quantized
    dialects
    truth
    inspection
    verification
    testing
    translation
    arrays graph
    keras
    tf
    frameworks
    networks
    explorer
    exercises
    cli
    __init__ __main__
"""
# Inside the rooms that are read file by file: the order in which one reads them, and in which they import
SHELVES = {
    "support": """
        argument_types errors
        settings
        record files tables palette progress
        devices memory
    """,
    "core": """
        kinds dtypes
        arguments rounding
        law
        geometry
        slabs winograd
        taps
        calls
    """,
    "running": """
        default_backend
        dispatch
        nn_ops
        planning
        streaming
        tuning
    """,
}
# The folders of the graph runtime, in the same way
GRAPH_FOLDERS = """
    nest options
    framework
    core_ops
    kernels
    common_runtime
    ops
    gradients
    eager
    training data find_source
    __init__
"""


def ranks(lines):
    """Return the number of the line that each name stands in."""
    return {name: rank for rank, line in enumerate(lines.strip().split("\n")) for name in line.split()}


RANK, GRAPH_RANK = ranks(ROOMS), ranks(GRAPH_FOLDERS)


def modules():
    for path in sorted(PACKAGE.rglob("*.py")):
        name = ".".join(path.relative_to(PACKAGE).with_suffix("").parts)
        yield name.removesuffix(".__init__") or "__init__", path


NAMES = {name for name, _ in modules()}


@cache
def tree_of(path):
    return ast.parse(path.read_text())


def room_of(name):
    return name.split(".")[0]


def statements(tree):
    """Yield the nodes of a module, except those that only a type checker reads."""
    for node in ast.iter_child_nodes(tree):
        if not (isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"):
            yield node
            yield from statements(node)


@cache
def imports_of(name, path):
    """Return the modules of teachconv that a module imports, at any depth of its code."""
    package = name.split(".") if path.name == "__init__.py" else name.split(".")[:-1]
    package = [part for part in package if part != "__init__"]
    found = []
    for node in statements(tree_of(path)):
        if not isinstance(node, ast.ImportFrom) or not node.level:
            continue
        target = ".".join(package[: len(package) - node.level + 1] + (node.module or "").split(".")).strip(
            "."
        )
        for alias in node.names:
            full = f"{target}.{alias.name}".strip(".")
            module = full if full in NAMES else target or "__init__"
            if module not in ("__init__", "_kernels", name):
                found.append(module)
    return found


def test_every_room_has_its_place():
    assert {room_of(name) for name in NAMES} == set(RANK)


def test_imports_run_one_way():
    for name, path in modules():
        for target in imports_of(name, path):
            here, there = room_of(name), room_of(target)
            assert here == there or RANK[there] < RANK[here], f"{name} imports {target}"


def test_the_top_holds_rooms_only():
    files = {path.name for path in PACKAGE.iterdir() if path.is_file() and path.suffix not in (".so", ".pyd")}
    assert files == {"__init__.py", "__main__.py", "_kernels.pyx", "argument_types.pyi", "py.typed"}
    folders = [path for path in PACKAGE.iterdir() if path.is_dir() and not path.name.startswith("__")]
    assert len(folders) <= 22


@pytest.mark.parametrize("room", SHELVES)
def test_the_files_of_a_room_import_one_way(room):
    order = ranks(SHELVES[room])
    files = {name.partition(".")[2]: path for name, path in modules() if room_of(name) == room}
    files.pop("")
    assert set(files) == set(order)
    for name, path in files.items():
        for target in imports_of(f"{room}.{name}", path):
            if room_of(target) == room:
                assert order[target.partition(".")[2]] < order[name], f"{name} imports {target}"


# what pages and users' programs import, wherever its home is
OF_USERS = """
    argument_types arrays backends data dialects dtypes errors exercises explorer graph keras kinds nn_ops testing tf
    truth.bounds
"""


def test_what_users_import_stays_importable():
    """Each in a process of its own, forked from one that has only NumPy, so that none relies on another's imports."""
    code = """
import importlib, os, sys, numpy
for name in sys.argv[1].split():
    child = os.fork()
    if not child:
        importlib.import_module(f"teachconv.{name}")
        os._exit(0)
    if os.waitpid(child, 0)[1]:
        print(name)
"""
    assert run(code, " ".join(OF_USERS.split())) == ""


def graph_folder_of(name):
    return (name.split(".") + ["__init__"])[1]


GRAPH_MODULES = [(name, path) for name, path in modules() if room_of(name) == "graph"]


def test_every_folder_of_the_graph_runtime_has_its_place_and_fits_a_sitting():
    files = [graph_folder_of(name) for name, path in GRAPH_MODULES if path.name != "__init__.py"]
    assert {*files, "__init__"} == set(GRAPH_RANK)
    assert max(map(files.count, files)) <= 14


def test_folders_of_the_graph_runtime_import_one_way():
    for name, path in GRAPH_MODULES:
        for target in imports_of(name, path):
            if room_of(target) == "graph" and target != "graph":
                here, there = graph_folder_of(name), graph_folder_of(target)
                assert here == there or GRAPH_RANK[there] < GRAPH_RANK[here], f"{name} imports {target}"


def test_no_module_imports_itself_by_a_detour():
    graph = {name: set(imports_of(name, path)) for name, path in modules()}
    TopologicalSorter(graph).prepare()  # raises CycleError, which names the circle


def test_no_backend_imports_another():
    files = {module.removeprefix("teachconv.") for module in TABLE.values()}
    for name, path in modules():
        if name in files:
            assert not files & set(imports_of(name, path)), name


# kinds.py says everything that differs between the kinds of calls; elsewhere it is looked up, never compared
# (a layer of a network may be called a convolution, too)
NAMES_OF_OPS = {*OPS, *map(str, KINDS), "FORWARD", "INPUT_GRADIENT", "FILTER_GRADIENT"} - {"convolution"}


def last_name(node):
    """Return the last part of ``a.b.c``, the value of a string, or ""; the "kind" of a dtype is another thing."""
    if isinstance(node, ast.Attribute):
        of_dtype = node.attr == "kind" and last_name(node.value).endswith("dtype")
        return "" if of_dtype else node.attr
    return str(getattr(node, "id", getattr(node, "value", "")))


def compared(tree):
    """Yield (line, names) of every comparison with ==, is or a literal tuple, of every match, and of prefixes."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            literals = [part for side in sides for part in getattr(side, "elts", [])]
            if isinstance(node.ops[0], (ast.In, ast.NotIn)) and not literals:
                continue  # whether it is in a table: a look-up
            sides += literals
            if not any(isinstance(side, ast.Constant) and side.value is None for side in sides):
                yield node.lineno, {last_name(side) for side in sides}
        elif isinstance(node, ast.Match):
            yield node.lineno, {last_name(node.subject)}
        elif isinstance(node, ast.Attribute) and node.attr in ("startswith", "endswith"):
            yield node.lineno, {last_name(node.value)}


def test_no_kind_and_no_op_is_compared():
    for name, path in modules():
        # in the graph, `op` is the type of a node, and `kind` that of an attribute
        forbidden = NAMES_OF_OPS | (set() if room_of(name) == "graph" else {"kind", "op"})
        found = [line for line, names in compared(tree_of(path)) if names & forbidden]
        assert not found or name == "core.kinds", f"{path}: lines {found}"


def test_the_check_for_comparisons_sees_them():
    for text in (
        'call.kind == "conv2d"',
        "kind is FORWARD",
        'x in ("conv2d", "y")',
        "op != other",
        "op is nn_ops.conv2d",
        'call.op.startswith("depthwise")',
        "match call.kind:\n case _: pass",
    ):
        (_, names), *_ = compared(ast.parse(text))
        assert names & (NAMES_OF_OPS | {"kind", "op"}), text
    for text in ('array.dtype.kind == "i"', "op in TABLE", "arguments.op is None"):
        assert not any(names & (NAMES_OF_OPS | {"kind"}) for _, names in compared(ast.parse(text)))


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
        assert all(a.summary for a in module.ALGORITHMS)
        assert len({a.name for a in module.ALGORITHMS}) == len(module.ALGORITHMS)


def test_ops_have_tensorflow_signatures():
    forward = "input filters strides padding data_format dilations name"
    for name, start in {
        "conv2d": forward,
        "conv2d_transpose": "input filters output_shape strides padding data_format dilations name",
        "conv2d_backprop_input": "input_sizes filters out_backprop strides padding data_format dilations name",
        "conv2d_backprop_filter": "input filter_sizes out_backprop strides padding data_format dilations name",
    }.items():
        several = {name, f"depthwise_{name}", name.replace("2d", "1d"), name.replace("2d", "3d")}
        for op in several & set(tc.__all__):
            parameters = list(inspect.signature(getattr(tc, op)).parameters)
            assert parameters[: len(start.split())] == start.split()
            assert {"backend", "algorithm", "precision", "out"} < set(parameters)


def test_public_names_are_documented():
    for name in tc.__all__:
        thing = getattr(tc, name)
        assert thing.__doc__, name
        if inspect.isfunction(thing):
            assert ">>>" in thing.__doc__, f"{name} has no doctest"


def run(code, *arguments):
    command = [sys.executable, "-W", "error", "-c", code, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_importing_is_light():
    heavy = [
        "scipy",
        "matplotlib",
        "teachconv.explorer",
        "teachconv.inspection.plotting",
        "cupy",
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
    assert {info.name: info.algorithms for info in tc.backends()}["numpy"] == numpy_backend.ALGORITHMS


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
print([info.name for info in tc.backends() if info.why_not and info.name != "cupy"])
"""
    assert run(code).split("\n")[:3] == ["numpy 1 True", "True", "['cython']"]


@pytest.mark.skipif(bool(why_not("cython")), reason=why_not("cython") or "compiled")
def test_cython_is_the_default():
    import numpy as np

    assert tc.trace(tc.conv2d, np.ones((1, 3, 3, 1)), np.ones((2, 2, 1, 1))).backend == "cython"
    assert get("cython").ALGORITHMS[0].name == "direct"


def section(text, title):
    """The entries below a title of a docstring, up to the next unindented line; "" without that title."""
    entries = text.partition(f"\n{title}:\n")[2]
    return entries[: re.search(r"^\S|\Z", entries, re.MULTILINE).start()]


def test_public_docstrings_have_their_sections():
    """Args name every parameter, Attributes every field; a function that returns something says what."""
    named = {name: getattr(tc, name) for name in tc.__all__}
    named |= {f"plot.{name}": getattr(tc.plot, name) for name in tc.plot.__all__}
    for name, thing in named.items():
        text = inspect.getdoc(thing) or ""
        if inspect.isfunction(thing):
            signature = inspect.signature(thing)
            entries, wanted = section(text, "Args"), list(signature.parameters)
            assert section(text, "Returns") or signature.return_annotation == "None", name
        elif dataclasses.is_dataclass(thing):
            entries = section(text, "Attributes")
            wanted = [field.name for field in dataclasses.fields(thing) if not field.name.startswith("_")]
        else:
            continue
        missing = [word for word in wanted if not re.search(rf"\b{word}\b", entries)]
        assert not missing, f"{name} does not describe {', '.join(missing)}"


def test_messages_show_values_cut_to_a_length():
    """``{value!r}`` of a caller's value may be a million characters, or raise: `errors.brief` is neither."""
    found = [
        f"{name}:{part.lineno}"
        for name, path in modules()
        for raised in ast.walk(tree_of(path))
        if isinstance(raised, ast.Raise) and raised.exc is not None
        for part in ast.walk(raised.exc)
        if isinstance(part, ast.FormattedValue) and part.conversion == ord("r")
    ]
    assert found == []


def test_no_comment_is_behind_a_bracket_that_closes_on_a_line_of_its_own():
    """A formatter breaks a line that its comment made too long, and leaves the comment where nobody expects it."""
    root = PACKAGE.parent
    behind = re.compile(r"^ *[\])}]+[,:]? *(?:= *[\[{(]+[\])}]+)?  # (?!fmt:|type:|noqa)")
    found = [
        f"{path.relative_to(root)}:{number}: {line.strip()}"
        for folder in ("teachconv", "docs", "benchmarks", "examples")
        for path in sorted((root / folder).rglob("*.py"))
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if behind.match(line)
    ]
    assert not found, "\n".join(found)
    for line in ("    )  # version 1", "] = {}  # chunk", "        ):  # odd"):
        assert behind.match(line)
    for line in ("    )  # fmt: skip", "f(x)  # here"):
        assert not behind.match(line)


def test_no_docstring_has_the_quotes_of_joined_texts_in_it():
    joined = re.compile(r'"\n *"')
    assert joined.search('one of nearly as "\n        "many')
    for _, path in modules():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)):
                text = "\n".join(
                    line for line in (ast.get_docstring(node) or "").split("\n") if ">>>" not in line
                )
                assert not joined.search(text), f"{path}: {text}"


def test_docstrings_that_list_names_list_all_of_them():
    for dialect in (getattr(tc.dialects, name) for name in ("torch", "onnx", "jax", "keras")):
        listed = re.search(rf"{dialect.__name__.rpartition('.')[2]}  +((?:[\w, ]+\n)+)", tc.dialects.__doc__)[
            1
        ]
        functions = {name for name in dialect.__all__ if inspect.isfunction(getattr(dialect, name))}
        assert set(re.findall(r"\w+", listed.partition("tc.")[0])) - {"tc"} >= functions
    devices = {kernel.device for kernel in KERNELS.values()}
    assert set(re.findall(r'"([A-Z]+)"', KernelDef.__doc__)) == devices
    for kind in KINDS:  # of the reference: no list of its algorithms that misses one
        named = {
            one.name
            for one in reference.ALGORITHMS
            if f"``{one.name}``" in getattr(reference, kind.name).__doc__
        }
        assert not named or named == {one.name for one in reference.ALGORITHMS}


def _listed(docstring, section):
    """The names before a colon in a section of a docstring."""
    found = re.search(rf"^{section}:\n((?:(?: .*)?\n?)*)", docstring, re.MULTILINE)
    names = re.findall(r"^    (\*{0,2}\w[\w, *]*):", found[1], re.MULTILINE) if found else []
    return {name.strip(" *") for line in names for name in line.split(",")}


def test_args_and_attributes_are_those_of_the_code():
    checked = 0
    for _, path in modules():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef):
                names = _listed(ast.get_docstring(node) or "", "Args")
                every = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
                code = {one.arg for one in (*every, node.args.vararg, node.args.kwarg) if one}
            elif isinstance(node, ast.ClassDef) and "dataclass" in "".join(
                map(ast.dump, node.decorator_list)
            ):
                names = _listed(ast.get_docstring(node) or "", "Attributes")
                code = {one.target.id for one in node.body if isinstance(one, ast.AnnAssign)}
            else:
                continue
            code -= {"self", "cls", "unknown", *(name for name in code if name.startswith("_"))}
            assert not names or names - {"unknown"} == code, f"{path}:{node.lineno} {node.name}"
            checked += bool(names)
    assert checked > 300


def test_the_folders_of_the_package_are_each_in_one_group_of_the_count():
    named = " ".join(GROUPS.values()).split()
    folders = [f"{path.name}/" for path in PACKAGE.iterdir() if (path / "__init__.py").exists()]
    assert sorted(named) == sorted(folders)
