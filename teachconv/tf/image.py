"""tf.image: patches of images, other sizes and greys. TensorFlow: python/ops/image_ops_impl.py."""

from ..graph.ops.image_ops import extract_patches, resize, rgb_to_grayscale

__all__ = ["extract_patches", "resize", "rgb_to_grayscale"]
