"""Counts what a call enters: functions of teachconv, and stays in files.

A reader who follows a call through the source opens a file for each stay: functions of one file that are
entered one after another. Comprehensions and generators that go on do not count.

    python tools/count_calls.py [--list]
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from inspect import CO_GENERATOR
from itertools import groupby
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import numpy as np

import teachconv as tc

PACKAGE = str(Path(tc.__file__).parent)
Entered = list[tuple[str, str]]  # file and function, in the order of the calls


def entered_by(call: Callable[[], object]) -> Entered:
    """Return the file and the name of each function of the package that a call enters, in order."""
    entered: Entered = []
    begun: set[int] = set()

    def note(frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(PACKAGE) and not is_apart(frame, code):
            entered.append((code.co_filename[len(PACKAGE) + 1 :], code.co_qualname))

    def is_apart(frame: FrameType, code: CodeType) -> bool:
        is_resumed = bool(code.co_flags & CO_GENERATOR) and id(frame) in begun
        begun.add(id(frame))
        return is_resumed or code.co_name in (
            "<genexpr>",
            "<listcomp>",
            "<dictcomp>",
            "<setcomp>",
            "<module>",
        )

    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(None)
    return entered


def stays(entered: Entered) -> int:
    """Return the number of stays in files."""
    return sum(1 for _ in groupby(entered, key=lambda place: place[0]))


def measured() -> dict[str, Entered]:
    """Return what a first and a repeated call enter, of backends and of TensorFlow's model."""
    w, found = np.ones((3, 3, 3, 4), "float32"), {}
    for n, backend in enumerate(("numpy", "scipy", "cython")):
        x = np.ones((1, 8 + n, 8, 3), "float32")  # new to every cache
        tc.conv2d(np.ones((1, 5, 5, 1)), np.ones((2, 2, 1, 1)), backend=backend)  # loads what is loaded once

        def conv2d(x: np.ndarray = x, backend: str = backend) -> None:
            tc.conv2d(x, w, strides=1, padding="SAME", backend=backend)

        for when in ("first", "repeated"):
            found[f"{backend}, {when}"] = entered_by(conv2d)
    import teachconv.tf as tf

    def eager() -> None:
        tf.nn.conv2d(x, w, strides=1, padding="SAME")

    eager()
    found["eager, repeated"] = entered_by(eager)
    v1 = tf.compat.v1
    with tf.Graph().as_default(), v1.Session() as session:
        y = tf.nn.conv2d(tf.constant(x), tf.constant(w), strides=1, padding="SAME")
        for when in ("first", "repeated"):
            found[f"sess.run, {when}"] = entered_by(lambda: session.run(y))
    return found


def main() -> None:
    """Print a line for each call, and with --list its functions."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--list", metavar="CALL", help="list the functions of a call, such as 'numpy, first'")
    wanted = parser.parse_args().list
    for name, entered in measured().items():
        print(f"{name:18} {len(entered):4} functions in {stays(entered):3} stays")
        if name == wanted:
            for file, names in groupby(entered, key=lambda place: place[0]):
                print(f"    {file:36} {', '.join(function for _, function in names)}")


if __name__ == "__main__":
    main()
