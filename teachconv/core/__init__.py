"""The book, to read in this order: kinds, dtypes, arguments, law, geometry, slabs, taps, calls."""
