"""The GPU's kernels and how they are launched: CUDA sources, and the Python code that lays out the launches.

`launches` defines a launch and runs a list of them on a machine; `ladder` has the algorithms and turns a
geometry into such a list; `sources` assembles a source for a compiler. None of the three imports CuPy, so the
tests can run the same launches on the host.
"""
