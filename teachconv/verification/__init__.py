"""Checks calls: every backend against the reference, with a diagnosis, on named cases."""
