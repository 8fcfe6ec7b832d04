"""Record TensorFlow's signatures of the functions, classes and methods that teachconv.tf offers.

    pip install tensorflow-cpu==2.21.0 keras==3.15.1 && python record_tensorflow_signatures.py

writes tensorflow_signatures.json: for each name the list of parameters, each [name, kind] or [name, kind, default].
"""

import enum
import inspect
import json
import os
from pathlib import Path

FUNCTIONS = """
    abs add add_n argmax argmin as_dtype cast clip_by_norm clip_by_value concat cond constant control_dependencies convert_to_tensor
    custom_gradient device divide equal executing_eagerly exp expand_dims eye fill function gather gradients greater
    greater_equal group identity init_scope is_tensor less less_equal linspace logical_and logical_not logical_or matmul maximum
    minimum multiply negative no_op norm not_equal one_hot ones ones_like pad pow print range rank reduce_all reduce_any
    reduce_max reduce_mean reduce_min reduce_prod reduce_sum reshape reverse round rsqrt shape sigmoid sign size slice split
    sqrt square squeeze stack stop_gradient subtract tanh tile transpose truediv unstack where zeros zeros_like
    DType GradientTape Graph Module Operation RegisterGradient Tensor TensorShape TensorSpec Variable name_scope
    ones_initializer random_normal_initializer random_uniform_initializer zeros_initializer
"""
NN = """
    atrous_conv2d avg_pool avg_pool2d batch_normalization bias_add conv1d conv1d_transpose conv2d conv2d_transpose conv3d conv3d_transpose
    conv_transpose convolution depth_to_space depthwise_conv2d
    depthwise_conv2d_backprop_filter depthwise_conv2d_backprop_input dropout elu embedding_lookup in_top_k l2_loss
    l2_normalize leaky_relu log_softmax
    max_pool max_pool2d moments pool relu relu6 separable_conv2d sigmoid sigmoid_cross_entropy_with_logits softmax
    softmax_cross_entropy_with_logits softplus space_to_depth sparse_softmax_cross_entropy_with_logits swish tanh top_k zero_fraction
"""
VERSION_1 = """
    add_to_collection assign assign_add assign_sub div disable_eager_execution disable_resource_variables disable_v2_behavior
    disable_v2_tensorshape enable_eager_execution enable_resource_variables enable_v2_behavior get_collection get_default_graph
    get_default_session get_variable get_variable_scope global_variables global_variables_initializer initialize_all_variables log
    local_variables_initializer log1p placeholder placeholder_with_default random_normal random_uniform reset_default_graph set_random_seed to_float
    to_int32 trainable_variables truncated_normal variable_scope variables_initializer constant_initializer
    ones_initializer random_normal_initializer random_uniform_initializer truncated_normal_initializer zeros_initializer glorot_uniform_initializer
    ConfigProto GPUOptions InteractiveSession RunMetadata RunOptions Session
"""
DEBUGGING = """
    Assert assert_equal assert_greater assert_greater_equal assert_less assert_less_equal assert_near assert_negative
    assert_non_negative assert_non_positive assert_none_equal assert_positive assert_rank assert_shapes check_numerics
"""
LAYERS = """
    Activation AveragePooling2D BatchNormalization Conv2D Conv2DTranspose Dense DepthwiseConv2D Dropout Flatten Input
    InputLayer Layer MaxPool2D MaxPooling2D AvgPool2D Convolution2D Convolution2DTranspose ReLU Reshape Softmax
    UpSampling2D ZeroPadding2D Cropping2D GlobalAveragePooling2D LeakyReLU ELU Add Concatenate add concatenate
    Conv1D Conv3D Conv1DTranspose Conv3DTranspose Convolution1D Convolution3D Convolution1DTranspose
    Convolution3DTranspose DepthwiseConv1D SeparableConv1D SeparableConv2D SeparableConvolution1D
    SeparableConvolution2D MaxPooling1D MaxPooling3D MaxPool1D MaxPool3D AveragePooling1D AveragePooling3D
    AvgPool1D AvgPool3D GlobalAveragePooling1D GlobalAveragePooling3D GlobalAvgPool1D GlobalAvgPool2D
    GlobalAvgPool3D GlobalMaxPooling1D GlobalMaxPooling2D GlobalMaxPooling3D GlobalMaxPool1D GlobalMaxPool2D
    GlobalMaxPool3D Lambda Multiply Permute
"""
MODULES = {
    "": FUNCTIONS + DEBUGGING,
    "nn": NN + " conv2d_backprop_input conv2d_backprop_filter",
    "math": FUNCTIONS + " log log1p log_softmax reciprocal rsqrt softmax softplus",
    "random": "normal truncated_normal uniform set_seed",
    "config": "list_physical_devices list_logical_devices run_functions_eagerly functions_run_eagerly",
    "debugging": DEBUGGING,
    "compat.v1.debugging": DEBUGGING,
    "keras": "Input Model Sequential",
    "keras.models": "Model Sequential clone_model",
    "keras.layers": LAYERS,
    "keras.losses": """CategoricalCrossentropy MeanSquaredError SparseCategoricalCrossentropy Loss get mse mae
        BinaryCrossentropy KLDivergence MeanAbsoluteError binary_crossentropy kl_divergence mean_absolute_error
        categorical_crossentropy mean_squared_error sparse_categorical_crossentropy""",
    "keras.optimizers": "Adadelta Adam Optimizer RMSprop SGD get",
    "keras.metrics": """Accuracy BinaryAccuracy MeanAbsoluteError CategoricalAccuracy Mean MeanSquaredError Metric SparseCategoricalAccuracy get categorical_accuracy
        sparse_categorical_accuracy mean_squared_error""",
    "keras.initializers": """Constant GlorotNormal GlorotUniform HeNormal HeUniform Initializer Ones RandomNormal
        RandomUniform TruncatedNormal Zeros LecunNormal LecunUniform Orthogonal VarianceScaling get""",
    "keras.regularizers": "L1 L1L2 L2 Regularizer get l1 l1_l2 l2",
    "keras.activations": "elu get leaky_relu linear log_softmax relu sigmoid softmax softplus tanh",
    "keras.callbacks": """Callback CSVLogger EarlyStopping History LambdaCallback LearningRateScheduler ModelCheckpoint
        ProgbarLogger ReduceLROnPlateau""",
    "keras.utils": "PyDataset Sequence array_to_img clear_session plot_model set_random_seed to_categorical",
    "keras.backend": "clear_session epsilon floatx image_data_format set_floatx",
    "compat.v1": FUNCTIONS + VERSION_1 + DEBUGGING,
    "compat.v1.nn": NN
    + " conv2d_backprop_input conv2d_backprop_filter softmax_cross_entropy_with_logits_v2 xw_plus_b",
    "compat.v1.math": FUNCTIONS + " log log1p log_softmax reciprocal rsqrt softmax softplus",
    "compat.v1.random": "normal truncated_normal uniform set_random_seed",
    "compat.v1.train": """AdamOptimizer GradientDescentOptimizer MomentumOptimizer Optimizer get_global_step
        get_or_create_global_step exponential_decay RMSPropOptimizer ExponentialMovingAverage Saver get_checkpoint_state
        global_step latest_checkpoint""",
    "compat.v1.image": """ResizeMethod extract_image_patches extract_patches resize resize_bilinear resize_images
        resize_nearest_neighbor rgb_to_grayscale""",
    "compat.v1.losses": "mean_squared_error sigmoid_cross_entropy softmax_cross_entropy sparse_softmax_cross_entropy",
    "compat.v1.metrics": "accuracy",
    "compat.v1.summary": "FileWriter histogram image merge merge_all scalar",
    "compat.v1.config": "list_physical_devices",
    "compat.v1.app": "run",
    "data": "Dataset",
    "image": "extract_patches resize rgb_to_grayscale",
    "train": "Checkpoint latest_checkpoint",
    "summary": "create_file_writer scalar",
}
GENERATED = """avg_pool avg_pool3d bias_add conv2d conv2d_backprop_filter conv2d_backprop_input conv3d
    conv3d_backprop_filter_v2 conv3d_backprop_input_v2 max_pool max_pool3d relu softmax"""


def parameters(function):
    """The parameters of a function or of a class's constructor, or None if Python cannot tell."""
    if inspect.isclass(function):
        function = function.__init__
        skip = 1
    else:
        skip = 0
    try:
        found = list(inspect.signature(function).parameters.values())[skip:]
    except (TypeError, ValueError):
        return None
    return [[p.name, p.kind.name, *([] if p.default is p.empty else [default(p.default)])] for p in found]


def default(value):
    """A default as JSON; what JSON does not have is a text in angle brackets."""
    if isinstance(value, enum.Enum):  # before str: an enumeration may be both
        return f"<{value.name}>"
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, (list, tuple)):
        return [default(item) for item in value]
    return f"<dtype {value.name}>" if type(value).__name__.endswith("DType") else "<object>"  # NumPy's, too


def public_methods(kind):
    """The methods of a class that do not begin with an underscore, and their parameters."""
    found = {}
    for name in dir(kind):
        value = inspect.getattr_static(kind, name)
        if name.startswith("_") or isinstance(value, property):
            continue
        method = getattr(kind, name)
        if callable(method) and not inspect.isclass(method) and (signature := parameters(method)) is not None:
            found[name] = signature[not isinstance(value, (staticmethod, classmethod)) :]
    return found


def main():
    os.environ |= {"CUDA_VISIBLE_DEVICES": "-1", "TF_CPP_MIN_LOG_LEVEL": "3"}
    import keras
    import tensorflow
    from tensorflow.python.ops import gen_nn_ops

    recorded = {}
    modules = [("tensorflow", path, words) for path, words in MODULES.items()]
    for root, path, words in [*modules, ("python.ops", "gen_nn_ops", GENERATED)]:
        module = gen_nn_ops if path == "gen_nn_ops" else tensorflow
        for part in path.split(".") if path and path != "gen_nn_ops" else []:
            module = getattr(module, part)
        where = f"{root}.{path}".removeprefix("tensorflow").strip(".")
        for word in sorted(set(words.split())):
            thing = getattr(module, word, None)
            if thing is None:
                continue
            name = f"{where}.{word}".strip(".")
            recorded[name] = {"parameters": parameters(thing)}
            if inspect.isclass(thing):
                recorded[name]["methods"] = public_methods(thing)
    versions = {module.__name__: module.__version__ for module in (tensorflow, keras)}
    path = Path(__file__).parents[2] / "tests" / "recorded" / "tensorflow_signatures.json"
    content = {"versions": versions, "script": Path(__file__).name, "signatures": recorded}
    path.write_text(json.dumps(content, separators=(",", ":"), sort_keys=True) + "\n")
    print(f"{path.name}: {len(recorded)} names, {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
