"""Puzzles to solve, and a checker that says which mistake was made.

``from teachconv import exercises as ex``: ``ex.puzzles()`` lists them, ``ex.check("same", my_function)``
checks an answer, ``ex.hint("same")`` helps. Every answer is checked exactly: the numbers are small integers,
unless a puzzle is about rounding.
"""

from .bugs import buggy
from .checking import Checked, check, hint, puzzles
from .grading import Grades, grade
from .puzzle import Puzzle

__all__ = ["Checked", "Grades", "Puzzle", "buggy", "check", "grade", "hint", "puzzles"]
