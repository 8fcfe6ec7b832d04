"""Walks a model of any framework into its layers, in the order in which they ran, with inputs and outputs.

`recorder` notes what a framework computes, and `reading` turns the notes into calls of `teachconv.dialects`.
"""
