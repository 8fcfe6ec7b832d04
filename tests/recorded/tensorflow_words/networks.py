"""tf.keras: layers, models, training."""

import numpy as np
import tensorflow as tf


def numbers(*shape):
    return (np.arange(np.prod(shape)) * 7 % 5 - 2).reshape(shape).astype("float32")


# %% a Conv2D layer
layer = tf.keras.layers.Conv2D(4, 3, padding="same")
print(layer.built)
y = layer(np.ones((2, 8, 8, 1), "float32"))
print(
    y.shape, layer.built, layer.kernel.shape, layer.bias.shape, [tuple(w.shape) for w in layer.get_weights()]
)

# %% shapes of a small network
model = tf.keras.Sequential(
    [
        tf.keras.layers.Input((28, 28, 1)),
        tf.keras.layers.Conv2D(8, 3, activation="relu"),
        tf.keras.layers.MaxPooling2D(),
        tf.keras.layers.Conv2D(16, 3, strides=2, padding="same", activation="relu"),
        tf.keras.layers.Flatten(),
        tf.keras.layers.Dense(10),
    ]
)
print([tuple(layer.output.shape) for layer in model.layers], model.count_params(), tuple(model.output_shape))

# %% input_shape of the first layer
model = tf.keras.models.Sequential()
model.add(tf.keras.layers.Conv2D(32, (3, 3), activation="relu", input_shape=(32, 32, 3)))
model.add(tf.keras.layers.MaxPooling2D((2, 2)))
print(tuple(model.output_shape), model.count_params())

# %% a functional model
inputs = tf.keras.Input(shape=(8, 8, 1))
x = tf.keras.layers.Conv2D(2, 3)(inputs)
outputs = tf.keras.layers.Dense(3)(tf.keras.layers.Flatten()(x))
model = tf.keras.Model(inputs, outputs)
print(tuple(model.output_shape), len(model.layers), model(np.ones((2, 8, 8, 1), "float32")).shape)

# %% weights are set
layer = tf.keras.layers.Conv2D(1, 2, use_bias=False)
layer.build((None, 3, 3, 1))
layer.set_weights([numbers(2, 2, 1, 1)])
print(layer(numbers(1, 3, 3, 1)).numpy().ravel().tolist())

# %% weights that do not fit
layer = tf.keras.layers.Dense(2)
layer.build((None, 3))
layer.set_weights([np.ones((4, 2)), np.ones(2)])

# %% too few weights
layer = tf.keras.layers.Dense(2)
layer.build((None, 3))
layer.set_weights([np.ones((3, 2))])

# %% Conv2DTranspose
layer = tf.keras.layers.Conv2DTranspose(1, 3, strides=2, padding="same", kernel_initializer="ones")
print(layer(numbers(1, 2, 2, 1)).numpy().ravel().tolist(), tuple(layer.kernel.shape))

# %% DepthwiseConv2D
layer = tf.keras.layers.DepthwiseConv2D(2, depthwise_initializer="ones")
print(layer(numbers(1, 3, 3, 2)).numpy().ravel().tolist())

# %% pooling layers
x = numbers(1, 5, 5, 1)
print(
    tf.keras.layers.MaxPooling2D(2)(x).numpy().ravel().tolist(),
    tf.keras.layers.AveragePooling2D(2, padding="same")(x).numpy().ravel().tolist(),
)

# %% UpSampling2D
print(tf.keras.layers.UpSampling2D(2)(numbers(1, 2, 2, 1)).numpy().ravel().tolist())

# %% Reshape and Flatten
x = numbers(2, 4)
print(tf.keras.layers.Reshape((2, -1))(x).shape, tf.keras.layers.Flatten()(numbers(2, 3, 4)).shape)

# %% ReLU, Softmax and Activation
x = np.float32([[-1.0, 1.0]])
print(
    tf.keras.layers.ReLU()(x).numpy().tolist(),
    np.round(tf.keras.layers.Softmax()(x).numpy(), 4).tolist(),
    tf.keras.layers.Activation("relu")(x).numpy().tolist(),
)

# %% an activation that is not there
tf.keras.layers.Dense(2, activation="nonsense")

# %% BatchNormalization while training and after
layer = tf.keras.layers.BatchNormalization(momentum=0.5)
x = np.float32([[1.0], [3.0]])
print(
    np.round(layer(x, training=True).numpy(), 3).tolist(),
    np.round(layer.moving_mean.numpy(), 3).tolist(),
    np.round(layer.moving_variance.numpy(), 3).tolist(),
)
print(
    np.round(layer(x, training=False).numpy(), 3).tolist(),
    [len(layer.trainable_weights), len(layer.non_trainable_weights)],
)

# %% Dropout is off outside training
layer = tf.keras.layers.Dropout(0.5)
x = np.ones((4, 4), "float32")
print(np.array_equal(layer(x), x), np.array_equal(layer(x, training=False), x))

# %% padding in capital letters
tf.keras.layers.Conv2D(1, 3, padding="SAME")(numbers(1, 4, 4, 1)).shape

# %% padding that is not a mode
tf.keras.layers.Conv2D(1, 3, padding="full")

# %% filters of zero
tf.keras.layers.Conv2D(0, 3)

# %% channels that do not fit
layer = tf.keras.layers.Conv2D(1, 3)
layer.build((None, 8, 8, 3))
layer(np.ones((1, 8, 8, 2), "float32"))

# %% an input of three axes
tf.keras.layers.Conv2D(1, 3)(np.ones((8, 8, 1), "float32"))

# %% an input that is too small
tf.keras.Sequential([tf.keras.layers.Input((2, 2, 1)), tf.keras.layers.Conv2D(1, 3)])

# %% fit needs compile
model = tf.keras.Sequential([tf.keras.layers.Input((2,)), tf.keras.layers.Dense(1)])
model.fit(np.ones((4, 2)), np.ones((4, 1)))

# %% a training on ones
model = tf.keras.Sequential(
    [tf.keras.layers.Input((2,)), tf.keras.layers.Dense(1, kernel_initializer="zeros")]
)
model.compile(optimizer=tf.keras.optimizers.SGD(0.1), loss="mse")
history = model.fit(np.ones((4, 2), "float32"), np.ones((4, 1), "float32"), epochs=3, batch_size=4, verbose=0)
print(sorted(history.history), [round(float(loss), 5) for loss in history.history["loss"]], history.epoch)
print([np.round(w, 5).tolist() for w in model.get_weights()])

# %% Adam and sparse categorical cross-entropy
model = tf.keras.Sequential(
    [tf.keras.layers.Input((3,)), tf.keras.layers.Dense(2, kernel_initializer="ones")]
)
model.compile(
    optimizer="adam",
    loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
history = model.fit(
    numbers(6, 3), np.array([0, 1, 0, 1, 1, 0]), epochs=2, batch_size=3, shuffle=False, verbose=0
)
print({key: [round(float(value), 4) for value in values] for key, values in sorted(history.history.items())})
print(
    [
        round(float(value), 4)
        for value in model.evaluate(numbers(6, 3), np.array([0, 1, 0, 1, 1, 0]), verbose=0)
    ]
)

# %% predict
model = tf.keras.Sequential(
    [tf.keras.layers.Input((2,)), tf.keras.layers.Dense(1, kernel_initializer="ones")]
)
y = model.predict(numbers(5, 2), batch_size=2, verbose=0)
print(type(y).__name__, y.shape, y.ravel().tolist())

# %% train_on_batch
model = tf.keras.Sequential(
    [tf.keras.layers.Input((2,)), tf.keras.layers.Dense(1, kernel_initializer="zeros")]
)
model.compile("sgd", "mse")
print(round(float(model.train_on_batch(np.ones((4, 2)), np.ones((4, 1)))), 4))

# %% a loss that is not there
model = tf.keras.Sequential([tf.keras.layers.Input((2,)), tf.keras.layers.Dense(1)])
model.compile("sgd", "nonsense")
model.fit(np.ones((4, 2)), np.ones((4, 1)), verbose=0)

# %% an optimizer that is not there
model = tf.keras.Sequential([tf.keras.layers.Input((2,)), tf.keras.layers.Dense(1)])
model.compile("nonsense", "mse")

# %% losses
print(round(float(tf.keras.losses.MeanSquaredError()([[1.0, 2.0]], [[1.0, 4.0]])), 4))
print(
    round(
        float(
            tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)(
                np.array([1]), np.float32([[1.0, 2.0]])
            )
        ),
        4,
    )
)
print(
    round(
        float(tf.keras.losses.SparseCategoricalCrossentropy()(np.array([1]), np.float32([[0.25, 0.75]]))), 4
    )
)
print(round(float(tf.keras.losses.CategoricalCrossentropy()([[0.0, 1.0]], [[0.25, 0.75]])), 4))

# %% to_categorical
print(tf.keras.utils.to_categorical([0, 2], 3).tolist())

# %% glorot_uniform has its limit
values = tf.keras.initializers.GlorotUniform(seed=0)((3, 3, 2, 4)).numpy()
print(values.shape, bool(np.abs(values).max() <= np.sqrt(6.0 / (9 * 2 + 9 * 4))))

# %% names of layers are numbered
tf.keras.backend.clear_session()
model = tf.keras.Sequential(
    [
        tf.keras.layers.Input((8, 8, 1)),
        tf.keras.layers.Conv2D(1, 3),
        tf.keras.layers.Conv2D(1, 3),
        tf.keras.layers.Flatten(),
    ]
)
print([layer.name for layer in model.layers])

# %% the variables of a layer
layer = tf.keras.layers.Dense(2)
layer.build((None, 3))
print([w.name for w in layer.weights], len(layer.trainable_variables))

# %% a model is called like a function
model = tf.keras.Sequential(
    [tf.keras.layers.Input((2,)), tf.keras.layers.Dense(1, kernel_initializer="ones")]
)
with tf.GradientTape() as tape:
    y = tf.reduce_sum(model(np.float32([[1.0, 2.0]])))
print([g.numpy().tolist() for g in tape.gradient(y, model.trainable_variables)])

# %% validation data
model = tf.keras.Sequential(
    [tf.keras.layers.Input((2,)), tf.keras.layers.Dense(1, kernel_initializer="zeros")]
)
model.compile("sgd", "mse")
history = model.fit(
    np.ones((4, 2)), np.ones((4, 1)), validation_data=(np.ones((2, 2)), np.ones((2, 1))), verbose=0
)
print({key: round(float(values[0]), 4) for key, values in sorted(history.history.items())})

# %% x and y of different lengths
model = tf.keras.Sequential([tf.keras.layers.Input((2,)), tf.keras.layers.Dense(1)])
model.compile("sgd", "mse")
model.fit(np.ones((4, 2)), np.ones((3, 1)), verbose=0)
