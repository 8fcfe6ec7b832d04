"""The gradient of each op, and the engine that walks operations backwards and calls them.

TensorFlow: python/ops/gradients_util.py and the files ``*_grad.py``.
"""
