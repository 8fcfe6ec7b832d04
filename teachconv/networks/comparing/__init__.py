"""Compares two models layer by layer: lines them up, judges each layer, and names what differs.

`lining` says which layers belong together, `judging` whether a result is what a layer says it computes, and
`reasons` in which argument or weight two layers differ.
"""
