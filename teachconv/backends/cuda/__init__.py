"""The GPU's kernels and how they are launched: CUDA sources, and the Python that lays out launches.

`launches` knows what a launch is and runs a list of them on a machine; `ladder` has the algorithms and
turns a geometry into such a list; `sources` puts a source together for a compiler. None of the three
imports CuPy: the tests run the same launches on the host.
"""
