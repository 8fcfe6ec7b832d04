"""Run other people's programs and tests for TensorFlow on teachconv, count, and write docs/their_tests.md.

Nothing of theirs is in this repository: the checkouts are given by their paths.

    python evaluation/their_tests.py --page docs/their_tests.md CHECKOUT ...

`CHOSEN` says which files of which checkout are run; a checkout is recognised by a file. A program runs with
its imports replaced (`their_imports`), each program and each test method in a process of its own, with
limits of time and memory. There are seven outcomes:

    passed     the program came to its end, the test passed
    skipped    the test asks for something else than this machine, such as a GPU, and says so itself
    too old    the program needs Python 2 or NumPy 1, whatever its TensorFlow is
    not there  refused, and the message names a word of the line that asked
    other error  an error was expected, and comes with other words, or not at all
    wrong      an assertion of theirs fails
    crashed    every other error, and the limits
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time
import traceback
import unittest
import warnings
from collections import Counter
from pathlib import Path

import their_helpers
import their_imports

SECONDS, GIBIBYTES = 60, 6  # of processor time and of memory, for one program or one test
WAITING = 4  # wall-clock time is this many times the processor time, for a machine with other work

# a group -> a file by which its checkout is known, and the files to run
PROGRAMS = {
    "aymericdamien/TensorFlow-Examples": (
        "tensorflow_v2/README.md",
        ["tensorflow_v1/**/*", "tensorflow_v2/**/*"],
    ),
    "nlintz/TensorFlow-Tutorials": ("00_multiply.py", ["*"]),
    "carpedm20/DCGAN-tensorflow": ("DCGAN.png", ["*.py"]),
    "Hvass-Labs/TensorFlow-Tutorials": ("01_Simple_Linear_Model.ipynb", ["*"]),
    "tensorflow/docs": (
        "site/en/tutorials/_index.yaml",
        [f"site/en/tutorials/{folder}/*.ipynb" for folder in ("quickstart", "images", "generative")],
    ),
}

TESTS = {
    "tensorflow/tensorflow": (
        "tensorflow/python/ops/gradient_checker_v2.py",
        [
            "tensorflow/python/kernel_tests/nn_ops/conv*_test.py",
            "tensorflow/python/kernel_tests/nn_ops/depthwise_conv_op_test.py",
            "tensorflow/python/kernel_tests/nn_ops/atrous_*_test.py",
            "tensorflow/python/kernel_tests/nn_ops/pool*_test.py",
            *(
                f"tensorflow/python/kernel_tests/nn_ops/{op}_op_test.py"
                for op in ("bias", "relu", "softmax", "xent")
            ),
            "tensorflow/python/eager/backprop_test.py",
            "tensorflow/python/ops/gradients_test.py",
            "tensorflow/python/eager/polymorphic_function/polymorphic_function_test.py",
        ],
    ),
    "keras-team/keras": (
        "keras/src/testing/test_case.py",
        [
            *(
                f"keras/src/layers/{folder}/*_test.py"
                for folder in (
                    "convolutional",
                    "pooling",
                    "core",
                    "normalization",
                    "activations",
                    "reshaping",
                    "merging",
                )
            ),
            "keras/src/losses/*_test.py",
        ],
    ),
}

ALLOWED = {
    *sys.stdlib_module_names,
    *their_imports.PICTURES,
    "numpy",
    "matplotlib",
    "PIL",
    "tensorflow",
    "keras",
}
ALLOWED |= {"tensorflow_datasets"}
# what Python 2 and NumPy 1 had, and programs use without TensorFlow
OLD = r"module '(urllib|numpy)' has no attribute|'dict_values' and 'dict_values'|reshape\(\) got an unexpected keyword argument 'newshape'"
FIRST = r"tf\.(placeholder|Session|InteractiveSession|app\b|train\.\w*Optimizer|get_variable|random_normal|global_var\w*)\b"


def source_of(path: Path) -> str:
    """Return a program's text; the cells of a notebook one after the other, without its shell commands."""
    text = path.read_text(encoding="utf-8", errors="replace")
    if path.suffix == ".py":
        return text
    notebook = json.loads(text)
    cells = notebook.get("cells") or notebook["worksheets"][0]["cells"]
    code = [
        "".join(cell.get("source", cell.get("input", ""))) for cell in cells if cell["cell_type"] == "code"
    ]
    return re.sub(r"^(\s*)[!%].*$", r"\1pass", "\n".join(code), flags=re.MULTILINE)


def not_admitted(source: str, path: Path) -> str:
    """Return why a file is not run, or ""."""
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return "not Python 3"
    modules = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    modules |= {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module}
    roots = {module.partition(".")[0] for module in modules}
    if not roots & {"tensorflow", "keras"}:
        return "does not import TensorFlow"
    if not any(
        isinstance(node, (ast.Expr, ast.Assert, ast.For, ast.While, ast.With, ast.If))
        for node in tree.body[1:]
    ):
        return "only definitions"
    beside = {root for root in roots - ALLOWED if (path.parent / f"{root}.py").exists()}
    for root in sorted(roots - ALLOWED - beside):
        return f"imports {root}"
    for root in sorted(beside):
        reason = not_admitted(source_of(path.parent / f"{root}.py"), path.parent / f"{root}.py")
        if reason not in ("", "does not import TensorFlow"):
            return f"{reason} through {root}.py"
    if re.search(r"\btf\.contrib\b|tensorflow\.contrib", source):
        return "tf.contrib, which TensorFlow 2 does not have"
    if path.suffix == ".py" and any(
        re.search(rf"^\s*(import|from) {path.stem}\b", source_of(other), re.MULTILINE)
        for other in path.parent.iterdir()
        if other.suffix in (".py", ".ipynb") and other != path
    ):
        return "a module of another program"
    return ""


def programs(checkouts: list[Path]):
    """Yield the group, the path, the source and the reason against each file; a copy of a file is left out."""
    for group, (mark, patterns) in PROGRAMS.items():
        for checkout in checkouts:
            if not (checkout / mark).exists():
                continue
            seen = set()
            for path in sorted({path for pattern in patterns for path in checkout.glob(pattern)}):
                if path.suffix in (".py", ".ipynb") and (source := source_of(path)) not in seen:
                    seen.add(source)
                    yield group, checkout, path, source, not_admitted(source, path)


def tests(checkouts: list[Path]):
    """Yield the group, the checkout and the path of each file of tests."""
    for group, (mark, patterns) in TESTS.items():
        for checkout in checkouts:
            if (checkout / mark).exists():
                for pattern in patterns:
                    for path in sorted(checkout.glob(pattern)):
                        yield group, checkout, path


def run_program(path: Path, source: str, first_version: bool | None = None) -> dict:
    """Run a program in this process, which is used for nothing else, and return what became of it.

    Args:
        path: its file.
        source: its text.
        first_version: whether it is one of TensorFlow 1; None for what its words say.
    """
    sys.path.insert(0, str(path.parent))
    sys.argv = [str(path)]
    code, names, cut = their_imports.short_loops(source, str(path))
    if first_version is None:
        first_version = bool(re.search(FIRST, source))
    their_imports.replace_imports(first_version)
    module = type(sys)("__main__")
    sys.modules["__main__"] = module
    vars(module).update(names, __file__=str(path))
    try:
        exec(code, vars(module))
    except SystemExit as error:
        if error.code not in (None, 0):
            return {"outcome": "crashed", "message": f"SystemExit: {error.code}"}
    except BaseException as error:
        return judged(error, {str(path): source})
    return {"outcome": "passed", "cut": cut}


def run_tests(checkout: Path, path: Path, only: str) -> dict:
    """Run the tests of a file, each in a process of its own, from this one, which has imported the file."""
    sys.path.insert(0, str(path.parent))
    their_helpers.replace_tests_imports(checkout)
    module = type(sys)(path.stem)
    sys.modules[path.stem] = module
    module.__file__ = str(path)
    source = path.read_text(encoding="utf-8")
    try:
        exec(compile(source, str(path), "exec"), vars(module))
    except BaseException as error:
        return {"tests": {"(import)": judged(error, {str(path): source})}}
    tests = {}
    for case in unittest.defaultTestLoader.loadTestsFromModule(module):
        for test in case:
            if only in test.id() and not test.id().endswith(".test_session"):  # that is a method of theirs
                tests[test.id().partition(".")[2]] = in_a_process(run_test, test, checkout)
    return {"tests": tests}


def run_test(test, checkout: Path) -> dict:
    """Run one test in this process, and return what became of it."""
    method = getattr(test, test._testMethodName)
    for mark in getattr(method, "pytestmark", []):
        if mark.name == "skipif" and mark.args[0] or mark.name == "skip":
            return {"outcome": "skipped", "message": str(mark.kwargs.get("reason", ""))}

    class Result(unittest.TestResult):
        found = {"outcome": "passed"}

        def addError(self, case, error):
            self.found = judged(error[1], Sources(checkout))

        addFailure = addError

        def addSubTest(self, case, subtest, error):
            if error is not None and self.found["outcome"] == "passed":
                self.addError(case, error)

        def addSkip(self, case, reason):
            self.found = {"outcome": "skipped", "message": reason}

    result = Result()
    test(result)
    return result.found


class Sources(dict):
    """The texts of the files of a checkout, by their paths."""

    def __init__(self, checkout: Path):
        super().__init__()
        self.checkout = checkout

    def __contains__(self, path):
        return str(path).startswith(f"{self.checkout}/")

    def __getitem__(self, path):
        return Path(path).read_text(encoding="utf-8")


def judged(error: BaseException, sources: dict[str, str]) -> dict:
    """Return the outcome that an exception means, with the line of theirs that it comes from."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename in sources]
    line = ""
    if frames:  # the whole call, where it takes several lines
        lines = sources[frames[-1].filename].split("\n")
        line = " ".join(part.strip() for part in lines[frames[-1].lineno - 1 : frames[-1].end_lineno])
    last = traceback.extract_tb(error.__traceback__)[-1]
    message = f"{type(error).__name__}: {error}"
    result = {
        "message": message[:600],
        "line": line.strip()[:200],
        "at": f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else "",
        "raised_at": f"{last.filename.rpartition('teachconv/')[2]}:{last.lineno}",
    }
    if isinstance(error, unittest.SkipTest) or type(error).__name__ == "Skipped":  # the second is pytest's
        return result | {"outcome": "skipped"}
    if isinstance(error, AssertionError):
        other = re.search(r'" does not match "|not raised', str(error))
        return result | {"outcome": "other error" if other else "wrong"}
    if re.search(OLD, str(error)):
        return result | {"outcome": "too old"}
    words = set(re.findall(r"\w{2,}", line))
    named = bool(words & set(re.findall(r"\w{2,}", str(error))))
    result["named"] = named
    owner = getattr(error, "obj", None)
    home = getattr(owner, "__module__", None) or getattr(owner, "__name__", "")  # a class's, or a module's
    ours = str(home).startswith("teachconv")
    refused = (
        (isinstance(error, AttributeError) and ours)
        or isinstance(error, ImportError)
        or type(error).__module__.startswith("teachconv")
        or re.search(r"teachconv.* has no|unexpected keyword argument", str(error))
    )
    # the helpers say the name of theirs that was asked for, perhaps some lines before
    missing = str(error).startswith("teachconv has no ")
    return result | {"outcome": "not there" if (refused and named) or missing else "crashed"}


def in_a_process(work, *arguments, waiting=SECONDS * WAITING) -> dict:
    """Run a function that returns a dictionary in a process of its own, with limits of time and memory."""
    reading, writing = os.pipe()
    start = time.monotonic()
    process = os.fork()
    if process == 0:
        os.close(reading)
        os.setpgid(0, 0)
        resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS + 5))
        resource.setrlimit(resource.RLIMIT_AS, (GIBIBYTES << 30, GIBIBYTES << 30))
        result = {"outcome": "crashed", "message": "no answer"}
        with tempfile.TemporaryDirectory() as folder, open(os.devnull, "r+") as nothing:
            os.chdir(folder)
            for stream in (0, 1, 2):
                os.dup2(nothing.fileno(), stream)
            warnings.simplefilter("ignore")
            signal.signal(signal.SIGXCPU, _too_long)
            try:
                result = work(*arguments)
            except BaseException as error:
                result = {"outcome": "crashed", "message": f"{type(error).__name__}: {error}"[:600]}
            os.write(writing, json.dumps(result).encode())
            os.chdir("/")
        os._exit(0)
    os.close(writing)
    signal.signal(signal.SIGALRM, lambda *_: os.killpg(process, signal.SIGKILL))
    signal.alarm(waiting)
    with open(reading, "rb") as answer:
        text = answer.read()
    _, status = os.waitpid(process, 0)
    signal.alarm(0)
    result = (
        json.loads(text) if text else {"outcome": "crashed", "message": f"ended by signal {status & 127}"}
    )
    return result | {"seconds": round(time.monotonic() - start, 1)}


def _too_long(*_):
    raise TimeoutError(f"more than {SECONDS} s of processor time")


def word_of(result: dict) -> str:
    """Return the word of theirs that a refusal names."""
    for pattern, form in WORDS:
        if found := re.search(pattern, result["message"]):
            return re.sub(r"\bteachconv\.(?=tf|keras)", "", form.format(*found.groups()))
    return result["message"].partition(": ")[2].partition(";")[0][:70]


WORDS = (
    (r"teachconv has no (?:tensorflow\.python|keras\.src)\.(?:\w+\.)*(\w+\.\w+)", "{}"),
    (r"(teachconv\.[.\w]+) has no '?(\w+)", "{}.{}"),
    (r"cannot import name '(\w+)' from '([\w.]+)'", "{1}.{0}"),
    (r"'?(\w+)'?(?: object)? has no attribute '(\w+)'", "{}.{}"),
    (r"([\w.]+)\(\) got an unexpected keyword argument '(\w+)'", "{}(..., {}=)"),
    (r"\w+: (\w+) must be .*: teachconv has no other", "the argument {}"),
)

# what a message of a difference means
EXPLAINED = (
    (
        r"Conv\dD must have \S+ axes",
        "TensorFlow takes further batch axes in front; a convolution here has one",
    ),
    (r"dilations must be None or", "windows of pooling have no dilation here"),
    (r"there is no graph here", "`tf.compat.v1.get_variable` needs a graph; TensorFlow also has it eagerly"),
    (r"xs must be of the default graph", "a gradient with respect to a tensor that a function captured"),
    (
        r"must have one shape; got|node 'softmax_cross",
        "TensorFlow repeats one row of labels or of logits for all",
    ),
    (r"asks for /device:GPU", "the program needs two GPUs"),
    (r"s of processor time|ended by signal", "the limit of time"),
    (r"renorm|regularizer", "arguments of layers that are not here: the message names them"),
    (r"dtype must be one of .*mixed", "quantised layers are not here"),
    (r"BiasAdd must be one of", "the dtypes of an op are fewer"),
    (
        r"VALID needs|filters must have at least|must hold \S+ sizes",
        "a size that TensorFlow lets pass at this place",
    ),
    (r"'NoneType' object is not callable", "setting `activation` of a layer to None after it was made"),
    (
        r"AssertionError: … != …",
        "setting `dtype_policy` of a layer has no effect: quantised layers are not here",
    ),
)

OUTCOMES = ("passed", "not there", "other error", "wrong", "crashed", "too old", "skipped", "not admitted")

PAGE = """# Programs and tests of other projects

Judge from this page how much of TensorFlow works here. Programs that others published for it, and its own and Keras's
tests, run with their
imports replaced and nothing else changed. `make their-tests CHECKOUTS="..."` runs them again and writes this page;
the checkouts are not part of this repository. All results are counted, also of programs that no convolutional
network needs, such as recurrent networks and word embeddings.

A program is admitted if it is Python 3 and imports only TensorFlow, Keras, NumPy, Matplotlib and the standard library
(and what only shows pictures), without `tf.contrib`, which TensorFlow 2 does not have. Instead of data that would
be downloaded it gets small seeded arrays or files of the same shape and type. A loop of a program ends after
{loop} s of processor time, but not before its third round, and `epochs` is at most {epochs}: a training is shown to run, not to
converge. Each program and each test has a process of its own, with {seconds} s of processor time.

## What was run

{run}

## Counts

{counts}

- **passed**: the program came to its end, or the test passed.
- **not there**: refused, and the message names a word of the line that asked for it. This is the usual answer to what
  teachconv does not have.
- **other error**: the test expects an error, but gets a different message or class. Errors here say the
  value and what would be legal: TensorFlow's "Negative dimension size" is "VALID needs in_cols >= 2 (filter 2,
  dilation 1); got 1".
- **wrong**: an assertion of a test fails, about a value or anything else; each is listed below.
- **crashed**: any other error, and the limits of time and memory.
- **too old**: the program needs Python 2 or NumPy 1, whatever its TensorFlow is.
- **skipped**: the test itself asks for a GPU, for XLA or for TensorFlow 1.
- **not admitted**: see above.

TensorFlow's tests use the base class and decorators of `test_util`, which need its C++: here a few lines forward
to sessions and NumPy's comparisons. `gradient_checker` is TensorFlow's own file. Keras' `run_layer_test` is its own,
without its checks of masks, of mixed precision, of generators of random numbers and of saving to files, and without the
one that a layer that has no weights is built when it is made: here it is at its first call.

## Where they differ

Assertions that fail, and errors of more than one test whose message does not name a word of the line that led to it:

{differences}

## Words that are missing

By the number of programs, and then of tests, that stop at the word: what is behind it is not seen. Words of fewer than
thirty tests and no program are left out.

{words}
"""


def page(results: list[dict]) -> str:
    """Return the page about the results of a run."""
    groups = list(dict.fromkeys(result["group"] for result in results))
    used = [name for name in OUTCOMES if any(result["outcome"] == name for result in results)]

    def count(group, outcome):
        return sum(result["group"] == group and result["outcome"] == outcome for result in results)

    run = table(
        ["from", "commit", "files", "run"],
        [
            [
                group,
                next(r["commit"] for r in results if r["group"] == group),
                len({r["name"] for r in results if r["group"] == group}),
                len({r["name"] for r in results if r["group"] == group and r["outcome"] != "not admitted"}),
            ]
            for group in groups
        ],
    )
    counts = table(["from", *used], [[group, *(count(group, o) for o in used)] for group in groups])
    differing = [
        r for r in results if r["outcome"] == "wrong" or (r["outcome"] == "crashed" and not r.get("named"))
    ]
    same = Counter((r["outcome"], r["group"], shown(r["message"])) for r in differing)
    first = {(r["outcome"], r["group"], shown(r["message"])): r for r in reversed(differing)}
    differences = table(
        ["outcome", "number", "first", "message", "why"],
        [
            [
                key[0],
                number,
                f"`{Path(first[key]['name']).name}` {first[key].get('test', '').split(' ')[0]}",
                key[2],
                next((why for pattern, why in EXPLAINED if re.search(pattern, key[2])), ""),
            ]
            for key, number in sorted(same.items(), key=lambda item: (item[0][0] != "wrong", -item[1]))
            if key[0] == "wrong" or number > 1
        ],
    )
    missing = {
        kind: Counter(word_of(r) for r in results if r["outcome"] == "not there" and r["kind"] == kind)
        for kind in ("program", "test")
    }
    order = sorted(
        {*missing["program"], *(word for word, number in missing["test"].items() if number >= 30)},
        key=lambda word: (-missing["program"][word], -missing["test"][word], word),
    )
    words = table(
        ["word", "programs", "tests"],
        [[f"`{word}`", missing["program"][word], missing["test"][word]] for word in order],
    )
    return PAGE.format(
        loop=int(their_imports.SECONDS_A_LOOP),
        epochs=their_imports.FEW_EPOCHS,
        seconds=SECONDS,
        run=run,
        counts=counts,
        differences=differences if differing else "Nothing.",
        words=words,
    )


def shown(message: str) -> str:
    """Return the beginning of a message, as a cell of a table, without the numbers of nodes and of places."""
    text = re.sub(r"/\S*/|\b0x\w+|(?<=[:_ (])\d+\b", "…", message.split("\n\n")[0].replace("\n", " "))
    return f"`{text[:140].replace('|', '/').replace('`', chr(39)).strip()}`"


def table(head: list[str], rows: list[list]) -> str:
    """Return a table of Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)


def commit_of(checkout: Path) -> str:
    """Return the commit of a checkout, or what its file .commit says where it is no repository."""
    if (checkout / ".commit").exists():
        return (checkout / ".commit").read_text(encoding="utf-8").strip()
    command = ["git", "-C", str(checkout), "rev-parse", "HEAD"]
    return subprocess.run(command, capture_output=True, text=True).stdout.strip()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("checkouts", type=Path, nargs="*")
    parser.add_argument(
        "--results", type=Path, default=Path("build/their_tests.json"), help="add the results to this file"
    )
    parser.add_argument("--page", type=Path, help="write the page from the results")
    parser.add_argument("--only", default="", help="run the files whose path contains this")
    parser.add_argument("--test", default="", help="run the tests whose name contains this")
    options = parser.parse_args()
    import matplotlib  # once, for every process below

    import teachconv.tf.compat.v1  # noqa: F401

    matplotlib.use("Agg")
    import matplotlib.pyplot

    results = json.loads(options.results.read_text(encoding="utf-8")) if options.results.exists() else []

    def keep(entries):
        """Replace the results of a file, and write all."""
        nonlocal results
        done = {(entry["group"], entry["name"]) for entry in entries}
        results = [r for r in results if (r["group"], r["name"]) not in done] + entries
        options.results.parent.mkdir(exist_ok=True)
        options.results.write_text(json.dumps(results, indent=1), encoding="utf-8")

    checkouts = [path.resolve() for path in options.checkouts]
    for group, checkout, path, source, reason in programs(checkouts):
        name = str(path.relative_to(checkout))
        if options.only not in f"{group}/{name}":
            continue
        entry = {"group": group, "kind": "program", "name": name, "commit": commit_of(checkout)}
        if reason:
            keep([entry | {"outcome": "not admitted", "message": reason}])
            continue
        entry |= in_a_process(run_program, path, source)
        print(
            f"{entry['outcome']:10} {entry['seconds']:5} {name}  {entry.get('message', '')[:150]!r}",
            flush=True,
        )
        keep([entry])
    for group, checkout, path in tests(checkouts):
        name = str(path.relative_to(checkout))
        if options.only not in f"{group}/{name}":
            continue
        entry = {"group": group, "kind": "test", "name": name, "commit": commit_of(checkout)}
        found = in_a_process(run_tests, checkout, path, options.test, waiting=3000)
        keep(
            [
                entry | {"test": test} | result
                for test, result in found.get("tests", {"(file)": found}).items()
            ]
        )
        print(name, Counter(r["outcome"] for r in results if r["name"] == name), flush=True)
    results.sort(key=lambda r: ([*PROGRAMS, *TESTS].index(r["group"]), r["name"]))
    print(Counter((r["kind"], r["outcome"]) for r in results))
    if options.page:
        options.page.write_text(page(results), encoding="utf-8")


if __name__ == "__main__":
    main()
