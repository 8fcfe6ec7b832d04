"""The book, to read in this order: kinds, dtypes, arguments, law, geometry, slabs, taps, calls.

Not part of it: winograd, the exact matrices of Winograd's algorithms, for their bounds and for `explain`.
"""
