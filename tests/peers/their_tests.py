"""Run other people's programs and tests for TensorFlow on teachconv, count, and write docs/their_tests.md.

Nothing of theirs is in this repository: the checkouts are given by their paths.

    python tests/peers/their_tests.py --page docs/their_tests.md CHECKOUT ...

`CHOSEN` says which files of which checkout are run; a checkout is recognised by a file. A program runs with
its imports replaced (`their_imports`), each program and each test method in a process of its own, with
limits of time and memory. There are five outcomes:

    passed     the program came to its end, the test passed
    skipped    the test asks for something else than this machine, such as a GPU, and says so itself
    not there  refused, and the message names a word of the line that asked
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
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from pathlib import Path

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
    if not any(isinstance(node, (ast.Expr, ast.For, ast.While, ast.With, ast.If)) for node in tree.body[1:]):
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


def run_program(path: Path, source: str) -> dict:
    """Run a program in this process, which is used for nothing else, and return what became of it."""
    sys.path.insert(0, str(path.parent))
    sys.argv = [str(path)]
    code, names, cut = their_imports.short_loops(source, str(path))
    their_imports.replace_imports(bool(re.search(FIRST, source)))
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


def judged(error: BaseException, sources: dict[str, str]) -> dict:
    """Return the outcome that an exception means, with the line of theirs that it comes from."""
    import unittest

    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename in sources]
    line = sources[frames[-1].filename].split("\n")[frames[-1].lineno - 1] if frames else ""
    last = traceback.extract_tb(error.__traceback__)[-1]
    message = f"{type(error).__name__}: {error}"
    result = {
        "message": message[:600],
        "line": line.strip()[:200],
        "at": f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else "",
        "raised_at": f"{last.filename.rpartition('teachconv/')[2]}:{last.lineno}",
    }
    if isinstance(error, unittest.SkipTest):
        return result | {"outcome": "skipped"}
    if isinstance(error, AssertionError):
        return result | {"outcome": "wrong"}
    words = set(re.findall(r"\w{2,}", line))
    named = bool(words & set(re.findall(r"\w{2,}", str(error))))
    result["named"] = named
    owner = getattr(error, "obj", None)
    ours = getattr(owner, "__name__", type(owner).__module__).startswith("teachconv")
    refused = (
        (isinstance(error, AttributeError) and ours)
        or isinstance(error, ImportError)
        or type(error).__module__.startswith("teachconv")
        or re.search(r"teachconv.* has no|unexpected keyword argument", str(error))
    )
    return result | {"outcome": "not there" if refused and named else "crashed"}


def in_a_process(work, *arguments) -> dict:
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
    signal.alarm(SECONDS * WAITING)
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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("checkouts", type=Path, nargs="+")
    parser.add_argument("--results", type=Path, default=Path("build/their_tests.json"))
    parser.add_argument("--only", default="", help="run the files whose path contains this")
    options = parser.parse_args()
    import matplotlib  # once, for every process below

    import teachconv.tf.compat.v1  # noqa: F401

    matplotlib.use("Agg")
    import matplotlib.pyplot

    results = []
    for group, checkout, path, source, reason in programs([p.resolve() for p in options.checkouts]):
        name = str(path.relative_to(checkout))
        if options.only not in f"{group}/{name}":
            continue
        entry = {"group": group, "kind": "program", "name": name}
        if reason:
            entry |= {"outcome": "not admitted", "message": reason}
        else:
            entry |= in_a_process(run_program, path, source)
            print(
                f"{entry['outcome']:10} {entry['seconds']:5} {name}  {entry.get('message', '')[:150]!r}",
                flush=True,
            )
        results.append(entry)
    options.results.parent.mkdir(exist_ok=True)
    options.results.write_text(json.dumps(results, indent=1), encoding="utf-8")
    print(Counter((r["kind"], r["outcome"]) for r in results))


if __name__ == "__main__":
    main()
