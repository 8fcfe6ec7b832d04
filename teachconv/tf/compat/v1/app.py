"""tf.app of TensorFlow 1: only ``run``. TensorFlow: python/platform/app.py."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

__all__ = ["run"]


def run(main: Callable[[Sequence[str]], Any] | None = None, argv: Sequence[str] | None = None) -> NoReturn:
    """Call a program's main function and exit with what it returns; no flags are parsed.

    Args:
        main: a function of the command line; None for ``main`` of the program.
        argv: the command line; None for ``sys.argv``.

    Raises:
        SystemExit: always.
    """
    main = main or sys.modules["__main__"].main
    sys.exit(main(sys.argv if argv is None else argv))
