"""tf.train of TensorFlow 1: optimizers. TensorFlow: python/training/."""

__all__: list[str] = []
