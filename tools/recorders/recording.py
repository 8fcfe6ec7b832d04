"""What the `record_*.py` scripts share: seeded data, one call after another, one .npz file.

Each script replays a table of calls on a real framework and writes what came back. The file holds

* `meta`: a JSON string, `{"versions": {...}, "script": "...", "cases": [...]}`, where a case is
  `{"name", "op", "arguments", "arrays", "dtype", "exact", "error"}` and, where there is something to
  say, `"note"`;
* one array per entry of a case's `"arrays"`, under the key `"<case name>/<array name>"`.

`arguments` are the keyword arguments of the framework's own function. They went through JSON before
the call, so a test can pass them on as they are. `exact` is true where the data are small integers:
then the output is exact and may be compared for equality. A refused call has its text in `error`
(at most 200 characters) and no `"output"` among its arrays.

Reading it back takes NumPy and json:

    file = np.load("torch.npz")
    for case in json.loads(file["meta"].item())["cases"]:
        arrays = {name: file[f"{case['name']}/{name}"] for name in case["arrays"]}
"""

import json
import re
import zlib
from pathlib import Path

import numpy as np


def seeded(array_name, shape, *, real=False, dtype="float32"):
    """Data that depend on the array's name and shape only, whatever else is recorded.

    Two cases of one shape therefore have the same input, and adding a case changes no other.
    Integers are in -3..3 without zero, so that every tap that is left out shows.
    """
    rng = np.random.default_rng(zlib.crc32(f"{array_name} {tuple(shape)} {real}".encode()))
    data = rng.standard_normal(shape) if real else rng.choice([-3, -2, -1, 1, 2, 3], shape)
    return data.astype(dtype)


def shorten(error, limit=200):
    """One line of at most `limit` characters, without what changes from run to run."""
    text = f"{type(error).__name__}: {error}"
    text = re.sub(r"\{\{.*?\}\}|\x1b\[\d*m|0x[0-9a-f]+|/\S*/(?=\S)|Non-zero status .* Message: ", "", text)
    return re.sub(r"\s+", " ", text).strip()[:limit]


class Recording:
    """A growing table of calls. `call(op, arrays, arguments)` runs one and returns its result."""

    def __init__(self, script, versions, array_names, call):
        self.script = Path(script)
        self.versions = {"numpy": np.__version__, **versions}
        self.array_names = array_names  # op -> the names of its array arguments, in order
        self.call = call
        self.cases = []
        self.arrays = {}

    def case(self, name, op, *shapes, real=False, dtype="float32", note=None, **arguments):
        """Run a call that must succeed; `shapes` are shapes of seeded data, or arrays."""
        arrays, arguments = self._prepare(op, shapes, arguments, real=real, dtype=dtype)
        result = self._run(op, arrays, arguments)
        again = self._run(op, arrays, arguments)
        for key, value in result.items():
            # a kernel that leaves its output unwritten would fail here, sooner or later
            assert np.array_equal(value, again[key]), f"{name}: two runs differ in {key}"
            assert real or np.array_equal(value, np.round(value)), f"{name}: {key} is not exact"
        self._add(name, op, arguments, arrays | result, dtype, exact=not real, error=None, note=note)

    def refused(self, name, op, *shapes, dtype="float32", note=None, **arguments):
        """Run a call that the framework must refuse, and keep the words in which it did."""
        arrays, arguments = self._prepare(op, shapes, arguments, real=False, dtype=dtype)
        try:
            result = self._run(op, arrays, arguments)
        except Exception as error:  # every framework has exceptions of its own
            self._add(name, op, arguments, arrays, dtype, exact=True, error=shorten(error), note=note)
        else:
            shapes = {key: value.shape for key, value in result.items()}
            raise AssertionError(f"{name}: expected a refusal, got {shapes}")

    def _prepare(self, op, shapes, arguments, *, real, dtype):
        names = self.array_names[op][: len(shapes)]
        arrays = {
            name: given if isinstance(given, np.ndarray) else seeded(name, given, real=real, dtype=dtype)
            for name, given in zip(names, shapes, strict=True)
        }
        return arrays, json.loads(json.dumps(arguments))

    def _run(self, op, arrays, arguments):
        result = self.call(op, arrays, arguments)
        result = result if isinstance(result, dict) else {"output": result}
        return {key: np.array(value) for key, value in result.items()}

    def _add(self, name, op, arguments, arrays, dtype, *, exact, error, note):
        assert name not in {case["name"] for case in self.cases}, f"two cases are called {name}"
        case = {"name": name, "op": op, "arguments": arguments, "arrays": list(arrays)}
        case |= {"dtype": dtype, "exact": exact, "error": error}
        self.cases.append(case | ({"note": note} if note else {}))
        self.arrays |= {f"{name}/{key}": value for key, value in arrays.items()}

    def write(self, file_name):
        """Write the file into tests/recorded; the same versions give the same bytes again."""
        meta = {"versions": self.versions, "script": self.script.name, "cases": self.cases}
        path = self.script.parents[2] / "tests" / "recorded" / file_name
        np.savez_compressed(path, meta=np.array(json.dumps(meta)), **self.arrays)
        errors = sum(case["error"] is not None for case in self.cases)
        print(
            f"{path.name}: {len(self.cases)} cases, {errors} of them refusals, {path.stat().st_size:,} bytes"
        )
