"""The functions that a program calls: they check arguments and call the generated wrappers in gen_nn_ops.py.

TensorFlow: python/ops/.
"""
