"""Checks calls: every backend against the reference, with a diagnosis, on named cases."""

from . import window_mistakes as window_mistakes  # enters pools into the table of `diffing`
