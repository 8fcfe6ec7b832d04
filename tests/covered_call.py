"""Run one call on an extension that was built with coverage, and print what find_source says of it as JSON.

For tests/inspection/test_compiled_marks.py. Usage: python tests/covered_call.py EXTENSION.so CALL, where CALL is
JSON: the op's name, its arguments (an array is given by its shape), and its options.
"""

import dataclasses
import json
import sys

import numpy as np
from sanitize import load


def array(shape):
    """Small integers, so that nothing is out of a transform's range."""
    return (np.arange(np.prod(shape)) % 5 - 2).astype("float32").reshape(shape)


def main():
    load(sys.argv[1])
    import teachconv as tc  # with the extension that was loaded

    call = json.loads(sys.argv[2])
    args = [array(a["shape"]) if isinstance(a, dict) else a for a in call["args"]]
    if call.get("huge"):
        args[0].flat[0] = 1e30  # out of the range of winograd2's transform
    tc.set_num_threads(1)
    chain = tc.find_source(call["op"], *args, **call["options"], backend="cython")
    print(json.dumps(dataclasses.asdict(chain)))


if __name__ == "__main__":
    main()
