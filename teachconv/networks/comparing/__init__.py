"""Compares two models: where they carry the same numbers, whether what lies between agrees, and what differs.

`judging` says whether a result is what a layer says it computes, `spreading` how far an activation may be
off, `anchoring` where two models carry the same numbers, `parting` where they part, and `reasons` why.
"""
