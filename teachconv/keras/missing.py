"""The errors of teachconv.keras for names of Keras' that it does not have."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ..graph.options import no_name

_PATH = "Add and Concatenate, or the call of a Layer of your own, whose input is a list of tensors"
_AHEAD = "change the images before fit"
_COUNT = "accuracy, or compare model.predict(x) with the labels"
_LAYERS = {
    **dict.fromkeys(("Rescaling", "Normalization"), "scale the images before fit, such as images / 255"),
    **dict.fromkeys(("Average", "Dot", "Maximum", "Minimum", "Subtract"), _PATH),
    **dict.fromkeys(("Wrapper", "TimeDistributed", "Bidirectional"), "a Layer of your own around a layer"),
    **dict.fromkeys(("Resizing", "UpSampling1D", "UpSampling3D"), "UpSampling2D, which repeats cells"),
    **dict.fromkeys(("CenterCrop", "RandomCrop", "RandomFlip", "RandomRotation", "RandomZoom"), _AHEAD),
    **dict.fromkeys(("Cropping1D", "Cropping3D"), "Cropping2D, or a Layer of your own that slices its input"),
    **dict.fromkeys(
        ("ZeroPadding1D", "ZeroPadding3D"), "ZeroPadding2D, or a Layer of your own with graph.pad"
    ),
    "GlobalAveragePooling3D": "GlobalAveragePooling2D",
    "GlobalMaxPooling3D": "GlobalMaxPooling2D",
    "AdaptiveAveragePooling2D": "AveragePooling2D of (rows, cols), or GlobalAveragePooling2D",
    "AdaptiveMaxPooling2D": "MaxPooling2D of (rows, cols), or GlobalMaxPooling2D",
    "PReLU": "LeakyReLU, whose slope is not learned",
    **dict.fromkeys(("LayerNormalization", "GroupNormalization", "UnitNormalization"), "BatchNormalization"),
    **dict.fromkeys(("SpatialDropout2D", "AlphaDropout", "GaussianDropout", "GaussianNoise"), "Dropout"),
    "Identity": "Lambda, with the function",
    **dict.fromkeys(("Embedding", "EinsumDense"), "Dense"),
}
_LOSSES = {
    "Huber": "MeanAbsoluteError",
    "LogCosh": "MeanSquaredError",
}
_METRICS = {
    "Accuracy": "SparseCategoricalAccuracy, or BinaryAccuracy",
    "RootMeanSquaredError": "MeanSquaredError",
    "BinaryCrossentropy": "losses.binary_crossentropy, which metrics= takes too",
    **dict.fromkeys(("AUC", "Precision", "Recall", "F1Score", "TopKCategoricalAccuracy"), _COUNT),
}
_OPTIMIZERS = {
    **dict.fromkeys(("AdamW", "Adamax", "Nadam"), "Adam"),
    "Adagrad": "Adadelta, or RMSprop",
    **dict.fromkeys(("Ftrl", "Lion", "Lamb", "Muon", "Adafactor"), "Adam, or SGD with a momentum"),
    "schedules": "callbacks.LearningRateScheduler sets the learning rate of each epoch",
}
_INITIALIZERS = {
    "TruncatedNormal": 'VarianceScaling(distribution="truncated_normal")',
    "LecunUniform": 'VarianceScaling(1.0, "fan_in", "uniform")',
    "Identity": "Constant with an array",
}
_ACTIVATIONS = {
    **dict.fromkeys(("selu", "celu"), "elu"),
    **dict.fromkeys(("relu6", "gelu", "silu", "swish"), "relu"),
    **dict.fromkeys(("log_softmax", "sparsemax"), "softmax"),
}
_CALLBACKS = {
    "TerminateOnNaN": "fit itself stops where the loss is not finite",
    **dict.fromkeys(("TensorBoard", "CSVLogger", "RemoteMonitor"), "History, which fit returns"),
    "LambdaCallback": "Callback, whose methods you override",
}
_TORCH = 'get_weights and set_weights, with teachconv.convert_filters(w, "torch", "keras"); removed in 0.2'
_UTILS = {
    **dict.fromkeys(("weights_from_torch", "weights_to_torch"), _TORCH),
    "normalize": "x / numpy.linalg.norm(x, axis=-1, keepdims=True)",
    "image_dataset_from_directory": "NumPy arrays, which fit takes",
}
_MODELS = {
    "load_model": "the program that builds the model, and its load_weights",
    "save_model": "save_weights of the model, or teachconv.to_onnx",
}
_KERAS = {
    "datasets": "teachconv.data.digits, or scikit-learn's load_digits",
    "export": "teachconv.to_onnx",
    "Variable": "teachconv.graph.Variable",
    "preprocessing": _AHEAD,
    "applications": "Sequential with the layers that are here",
}

# the module -> (what is nearest to a name of Keras', what does the work of every other name)
_MODULES: dict[str, tuple[dict[str, str], str]] = {
    "": (_KERAS, "layers, models, losses, metrics and optimizers of convolutional networks are here"),
    "layers": (_LAYERS, "a class of keras.layers.Layer with a call(inputs) of your own"),
    "losses": (_LOSSES, "a loss of your own is a function of (y_true, y_pred)"),
    "metrics": (_METRICS, "a metric of your own is a function of (y_true, y_pred)"),
    "optimizers": (_OPTIMIZERS, "SGD, RMSprop and Adam"),
    "regularizers": ({}, "a regularizer of your own is a function of a weight"),
    "initializers": (_INITIALIZERS, "an initializer of your own is a function of (shape, dtype)"),
    "activations": (_ACTIVATIONS, "an activation of your own is a function of a tensor"),
    "callbacks": (_CALLBACKS, "a class of keras.callbacks.Callback of your own"),
    "utils": (_UTILS, "NumPy, with arrays"),
    "models": (_MODELS, "Sequential and Model"),
    "config": ({}, "floatx and set_floatx"),
    "ops": ({}, "the functions of teachconv.graph"),
    "random": ({}, "teachconv.graph.random_normal and its relatives"),
    "backend": ({}, "the functions of teachconv.graph"),
}


def module_getattr(module: str, known: Iterable[str]) -> Callable[[str], Any]:
    """Return the `__getattr__` of a module: its error names the nearest alternative.

    Args:
        module: the module's name.
        known: the names that it has.

    Returns:
        A function of the name, which raises ``AttributeError``.

    >>> module_getattr("teachconv.keras.losses", ["MeanAbsoluteError"])("Huber")
    Traceback (most recent call last):
        ...
    AttributeError: teachconv.keras.losses has no 'Huber'; nearest: MeanAbsoluteError
    """

    own = module.rpartition("keras")[2].strip(".")

    def look_up(name: str) -> Any:
        no_name(module, name, known, instead_of(own, name), _MODULES[own][1])

    return look_up


def instead_of(module: str, name: str) -> str:
    """Return the alternative to a name of Keras', in camel or in snake case; "" if it is not in the list.

    >>> instead_of("losses", "log_cosh")
    'MeanSquaredError'
    """
    table, _ = _MODULES[module]
    plain = {word.replace("_", "").lower(): text for word, text in table.items()}
    return plain.get(name.replace("_", "").lower(), "")
