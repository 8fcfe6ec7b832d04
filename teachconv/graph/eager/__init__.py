"""What TensorFlow 2 adds: the gradient tape, and functions that are traced to graphs.

TensorFlow: python/eager/, with polymorphic_function/.
"""
