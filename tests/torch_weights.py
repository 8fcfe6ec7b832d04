"""The weights of a Keras model in PyTorch's layouts, for tests that compare the two."""

import numpy as np

from teachconv import keras


def state_of(model, names):
    """The weights of a model as arrays in PyTorch's layouts, by PyTorch's names of them, in order."""
    arrays = [array for layer, weight, sizes in _weights(model) for array in [_theirs(layer, weight, sizes)]]
    names = [name for name in names if not name.endswith("num_batches_tracked")]
    return dict(zip(names, arrays, strict=True))


def load_state(model, state):
    """Set the weights of a model from a module's state_dict."""
    arrays = [np.asarray(v) for name, v in state.items() if not name.endswith("num_batches_tracked")]
    weights = list(_weights(model))
    model.set_weights([_ours(*one, array) for one, array in zip(weights, arrays, strict=True)])


def _weights(model):
    """Yield layer, weight, and the sizes of the image that was flattened before the layer."""
    sizes = ()
    for layer in model.layers:
        if isinstance(layer, keras.layers.Flatten):
            sizes = layer.input_shape[1:]
        for weight in layer.weights:
            yield layer, weight.numpy(), sizes
        sizes = () if isinstance(layer, keras.layers.Dense) else sizes


def _theirs(layer, w, sizes):
    if w.ndim == 1:
        return w
    if isinstance(layer, keras.layers.Dense):
        image = w.reshape(*(sizes or w.shape[:1]), -1)
        return np.moveaxis(image, (-1, -2), (0, 1)).reshape(w.shape[1], -1) if sizes else w.T
    rank = w.ndim - 2
    if isinstance(layer, keras.layers.DepthwiseConv2D):
        w = w.reshape(*w.shape[:rank], 1, -1)
    return w.transpose(rank + 1, rank, *range(rank))


def _ours(layer, w, sizes, theirs):
    if w.ndim == 1:
        return theirs
    if isinstance(layer, keras.layers.Dense):
        if not sizes:
            return theirs.T
        image = theirs.reshape(-1, sizes[-1], *sizes[:-1])
        return np.moveaxis(image, (1, 0), (-2, -1)).reshape(w.shape)
    rank = w.ndim - 2
    return theirs.transpose(*range(2, rank + 2), 1, 0).reshape(w.shape)
