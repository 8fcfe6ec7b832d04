"""What a graph consists of: op definitions, shapes, tensors and operations; and the registry of kernels.

TensorFlow: core/framework/ and python/framework/.
"""
