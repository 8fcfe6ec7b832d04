"""Running a call: the ops, the choice of a backend, calls prepared once, streams, timing."""
