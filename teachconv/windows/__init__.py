"""What comes between convolutions: pooling, padding, batch normalisation, resizes and shuffles of pixels.

Each is a definition, exact and rounded once, and a frozen call of integers with its derivation. The
frameworks differ in a few facts of such a call: where windows begin, how many there are, what a mean is
divided by. `teachconv.dialects` turns their words into these facts.
"""
