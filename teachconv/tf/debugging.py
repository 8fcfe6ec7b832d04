"""tf.debugging: checks of values. TensorFlow: python/ops/check_ops.py."""
