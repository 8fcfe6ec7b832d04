"""tf.config: the devices of this machine. TensorFlow: python/framework/config.py."""
