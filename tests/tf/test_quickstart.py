"""TensorFlow's quickstart for beginners, as it is published: only the import and the source of the data differ.

https://www.tensorflow.org/tutorials/quickstart/beginner; MNIST's images and labels are uint8, and so are these.
"""

import numpy as np

import teachconv.tf as tf


def load_data():
    """Images like MNIST's: a bright bar on noise, whose row is the class."""
    rng = np.random.default_rng(0)

    def digits(count):
        labels = rng.integers(0, 10, count).astype("uint8")
        images = rng.integers(0, 60, (count, 28, 28)).astype("uint8")
        for image, label in zip(images, labels, strict=True):
            image[2 * label + 2 : 2 * label + 6, 6:22] += 180
        return images, labels

    return digits(600), digits(100)


def test_the_quickstart_for_beginners_runs():
    (x_train, y_train), (x_test, y_test) = load_data()
    assert {array.dtype for array in (x_train, y_train, x_test, y_test)} == {np.dtype("uint8")}
    x_train, x_test = x_train / 255.0, x_test / 255.0
    tf.keras.utils.set_random_seed(0)

    model = tf.keras.models.Sequential(
        [
            tf.keras.layers.Flatten(input_shape=(28, 28)),
            tf.keras.layers.Dense(128, activation="relu"),
            tf.keras.layers.Dropout(0.2),
            tf.keras.layers.Dense(10),
        ]
    )

    predictions = model(x_train[:1]).numpy()
    assert predictions.shape == (1, 10)
    assert predictions.dtype == "float32"
    assert abs(tf.nn.softmax(predictions).numpy().sum() - 1) < 1e-6

    loss_fn = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    before = loss_fn(y_train[:1], predictions).numpy()
    assert before.shape == ()

    model.compile(optimizer="adam", loss=loss_fn, metrics=["accuracy"])
    model.fit(x_train, y_train, epochs=5, verbose=0)
    loss, accuracy = model.evaluate(x_test, y_test, verbose=2)
    assert loss < before
    assert accuracy > 0.95

    probability_model = tf.keras.Sequential([model, tf.keras.layers.Softmax()])
    probabilities = probability_model(x_test[:5])
    assert probabilities.shape == (5, 10)
    assert (tf.argmax(probabilities, 1).numpy() == y_test[:5]).all()


def test_its_training_step_by_hand_takes_uint8_tensors():
    """The quickstart for experts: the loss inside a function, images and labels cast or compared as tensors."""
    (images, labels), _ = load_data()
    dense = tf.keras.layers.Dense(10)
    loss_object = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    optimizer = tf.keras.optimizers.Adam(0.01)

    @tf.function
    def train_step(images, labels):
        with tf.GradientTape() as tape:
            logits = dense(tf.cast(tf.reshape(images, [-1, 784]), tf.float32) / 255)
            loss = loss_object(labels, logits)
        gradients = tape.gradient(loss, dense.trainable_variables)
        optimizer.apply_gradients(zip(gradients, dense.trainable_variables, strict=True))
        right = tf.equal(tf.cast(tf.argmax(logits, 1), labels.dtype), labels)
        return loss, tf.reduce_mean(tf.cast(right, tf.float32))

    steps = [train_step(tf.constant(images), tf.constant(labels)) for _ in range(30)]
    assert float(steps[-1][0]) < float(steps[0][0]) / 2
    assert float(steps[-1][1]) > 0.9
