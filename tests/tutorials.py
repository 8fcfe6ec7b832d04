"""Networks after the structure of TensorFlow's tutorials, small, for any ``tf``: TensorFlow itself, or teachconv.tf.

Each function trains from seeded weights on seeded arrays, without anything random, and returns numbers by name.
tools/recorders/record_tutorials.py records TensorFlow's; tests/keras_models/test_tutorials.py compares.
"""

import numpy as np


def numbers(seed, *shape):
    """Seeded numbers from 0 to 1, as pixels have them."""
    return np.random.default_rng(seed).random(shape, dtype="float32")


def classes(seed, samples, count):
    return np.random.default_rng(seed).integers(0, count, samples)


def seeded(model, seed):
    """Give a model seeded weights."""
    rng, values = np.random.default_rng(seed), []
    for weight in model.weights:
        shape, name = tuple(weight.shape), weight.name.rpartition("/")[2]
        low, high = (0.5, 1.5) if name in ("gamma", "moving_variance") else (-0.2, 0.2)
        values.append(rng.uniform(low, high, shape).astype("float32"))
    model.set_weights(values)


def floats(values):
    return [float(value) for value in np.ravel(np.asarray(values))]


def beginner(tf):
    """Quickstart for beginners: a Sequential model, logits, fit, evaluate, and a model around it."""
    x_train, y_train = numbers(0, 32, 8, 8), classes(1, 32, 4)
    x_test, y_test = numbers(2, 16, 8, 8), classes(3, 16, 4)
    model = tf.keras.models.Sequential(
        [
            tf.keras.layers.Flatten(input_shape=(8, 8)),
            tf.keras.layers.Dense(16, activation="relu"),
            tf.keras.layers.Dropout(0.0),
            tf.keras.layers.Dense(4),
        ]
    )
    seeded(model, 4)
    predictions = model(x_train[:1]).numpy()
    loss_fn = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    found = {"softmax": floats(tf.nn.softmax(predictions).numpy())}
    found["first loss"] = floats(loss_fn(y_train[:1], predictions).numpy())
    model.compile(optimizer="adam", loss=loss_fn, metrics=["accuracy"])
    found |= model.fit(x_train, y_train, epochs=4, batch_size=8, shuffle=False, verbose=0).history
    found["evaluate"] = model.evaluate(x_test, y_test, verbose=0)
    probability_model = tf.keras.Sequential([model, tf.keras.layers.Softmax()])
    return found | {"probabilities": floats(probability_model(x_test[:2]))}


def advanced(tf):
    """Quickstart for experts: a class with a call, datasets, a tape, and metrics in traced steps."""
    x_train, y_train = numbers(5, 32, 8, 8)[..., tf.newaxis], classes(6, 32, 4)
    x_test, y_test = numbers(7, 16, 8, 8)[..., tf.newaxis], classes(8, 16, 4)
    train_ds = tf.data.Dataset.from_tensor_slices((x_train, y_train)).batch(10)
    test_ds = tf.data.Dataset.from_tensor_slices((x_test, y_test)).batch(10)

    class MyModel(tf.keras.Model):
        def __init__(self):
            super().__init__()
            self.conv1 = tf.keras.layers.Conv2D(4, 3, activation="relu")
            self.flatten = tf.keras.layers.Flatten()
            self.d1 = tf.keras.layers.Dense(8, activation="relu")
            self.d2 = tf.keras.layers.Dense(4)

        def call(self, x):
            x = self.conv1(x)
            x = self.flatten(x)
            x = self.d1(x)
            return self.d2(x)

    model = MyModel()
    model(x_train[:1])
    seeded(model, 9)
    loss_object = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    optimizer = tf.keras.optimizers.Adam()
    train_loss = tf.keras.metrics.Mean(name="train_loss")
    train_accuracy = tf.keras.metrics.SparseCategoricalAccuracy(name="train_accuracy")
    test_loss = tf.keras.metrics.Mean(name="test_loss")
    test_accuracy = tf.keras.metrics.SparseCategoricalAccuracy(name="test_accuracy")

    @tf.function
    def train_step(images, labels):
        with tf.GradientTape() as tape:
            predictions = model(images, training=True)
            loss = loss_object(labels, predictions)
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
        train_loss(loss)
        train_accuracy(labels, predictions)

    @tf.function
    def test_step(images, labels):
        predictions = model(images, training=False)
        t_loss = loss_object(labels, predictions)
        test_loss(t_loss)
        test_accuracy(labels, predictions)

    found = {}
    for _ in range(3):
        for metric in (train_loss, train_accuracy, test_loss, test_accuracy):
            metric.reset_state()
        for images, labels in train_ds:
            train_step(images, labels)
        for images, labels in test_ds:
            test_step(images, labels)
        for metric in (train_loss, train_accuracy, test_loss, test_accuracy):
            found.setdefault(metric.name, []).extend(floats(metric.result()))
    return found


def cnn(tf):
    """Convolutional network: layers that are added one by one, labels in a column, validation."""
    layers = tf.keras.layers
    train_images, train_labels = numbers(10, 24, 16, 16, 3), classes(11, (24, 1), 5)
    test_images, test_labels = numbers(12, 8, 16, 16, 3), classes(13, (8, 1), 5)
    model = tf.keras.models.Sequential()
    model.add(layers.Conv2D(4, (3, 3), activation="relu", input_shape=(16, 16, 3)))
    model.add(layers.MaxPooling2D((2, 2)))
    model.add(layers.Conv2D(6, (3, 3), activation="relu"))
    model.add(layers.MaxPooling2D((2, 2)))
    model.summary(print_fn=lambda *lines, **_: None)
    model.add(layers.Flatten())
    model.add(layers.Dense(8, activation="relu"))
    model.add(layers.Dense(5))
    seeded(model, 14)
    model.compile(
        optimizer="adam",
        loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )
    history = model.fit(
        *(train_images, train_labels),
        epochs=3,
        batch_size=8,
        shuffle=False,
        verbose=0,
        validation_data=(test_images, test_labels),
    )
    return history.history | {"evaluate": model.evaluate(test_images, test_labels, verbose=0)}


def autoencoder(tf):
    """Autoencoders: classes with an encoder and a decoder, of matrices, of convolutions, and of signals."""
    layers, found = tf.keras.layers, {}

    class Autoencoder(tf.keras.Model):
        def __init__(self, encoder, decoder):
            super().__init__()
            self.encoder = tf.keras.Sequential(encoder)
            self.decoder = tf.keras.Sequential(decoder)

        def call(self, x):
            encoded = self.encoder(x)
            return self.decoder(encoded)

    def train(name, model, x, target, test, seed, loss):
        model(x[:1])
        seeded(model, seed)
        model.compile(optimizer="adam", loss=loss)
        options = {"batch_size": 8, "shuffle": False, "verbose": 0}
        history = model.fit(x, target, epochs=3, validation_data=(test, test), **options).history
        found.update({f"{name} {key}": values for key, values in history.items()})

    images, tested = numbers(15, 16, 6, 6), numbers(16, 8, 6, 6)
    basic = Autoencoder(
        [layers.Flatten(), layers.Dense(5, activation="relu")],
        [layers.Dense(36, activation="sigmoid"), layers.Reshape((6, 6))],
    )
    train("basic", basic, images, images, tested, 17, tf.keras.losses.MeanSquaredError())
    images, tested = numbers(18, 16, 8, 8)[..., tf.newaxis], numbers(19, 8, 8, 8)[..., tf.newaxis]
    noisy = tf.clip_by_value(
        images + 0.2 * numbers(20, *images.shape), clip_value_min=0.0, clip_value_max=1.0
    )
    denoise = Autoencoder(
        [
            layers.Input(shape=(8, 8, 1)),
            layers.Conv2D(4, (3, 3), activation="relu", padding="same", strides=2),
            layers.Conv2D(2, (3, 3), activation="relu", padding="same", strides=2),
        ],
        [
            layers.Conv2DTranspose(2, kernel_size=3, strides=2, activation="relu", padding="same"),
            layers.Conv2DTranspose(4, kernel_size=3, strides=2, activation="relu", padding="same"),
            layers.Conv2D(1, kernel_size=(3, 3), activation="sigmoid", padding="same"),
        ],
    )
    train("denoise", denoise, noisy, images, tested, 21, tf.keras.losses.MeanSquaredError())
    denoise.decoder.summary(print_fn=lambda *lines, **_: None)
    found["decoded"] = floats(denoise.decoder(denoise.encoder(tested).numpy()).numpy().mean((1, 2)))
    signals, tested = numbers(22, 16, 12), numbers(23, 8, 12)
    detector = Autoencoder(
        [layers.Dense(6, activation="relu"), layers.Dense(3, activation="relu")],
        [layers.Dense(6, activation="relu"), layers.Dense(12, activation="sigmoid")],
    )
    train("detector", detector, signals, signals, tested, 24, "mae")
    errors = tf.keras.losses.mae(detector.predict(signals, verbose=0), signals)
    threshold = np.mean(errors) + np.std(errors)
    normal = tf.math.less(tf.keras.losses.mae(detector(tested), tested), threshold)
    return found | {"errors": floats(errors), "normal": floats(normal)}


def dcgan(tf):
    """Generative adversarial network: two models, two tapes and two optimizers in one traced step."""
    layers = tf.keras.layers

    def make_generator_model():
        model = tf.keras.Sequential()
        model.add(layers.Dense(2 * 2 * 8, use_bias=False, input_shape=(6,)))
        model.add(layers.BatchNormalization())
        model.add(layers.LeakyReLU())
        model.add(layers.Reshape((2, 2, 8)))
        assert model.output_shape == (None, 2, 2, 8)
        model.add(layers.Conv2DTranspose(4, (5, 5), strides=(1, 1), padding="same", use_bias=False))
        model.add(layers.BatchNormalization())
        model.add(layers.LeakyReLU())
        model.add(
            layers.Conv2DTranspose(
                *(1, (5, 5)), strides=(2, 2), padding="same", use_bias=False, activation="tanh"
            )
        )
        assert model.output_shape == (None, 4, 4, 1)
        return model

    def make_discriminator_model():
        model = tf.keras.Sequential()
        model.add(layers.Conv2D(4, (5, 5), strides=(2, 2), padding="same", input_shape=[4, 4, 1]))
        model.add(layers.LeakyReLU())
        model.add(layers.Dropout(0.0))
        model.add(layers.Flatten())
        model.add(layers.Dense(1))
        return model

    generator, discriminator = make_generator_model(), make_discriminator_model()
    seeded(generator, 25)
    seeded(discriminator, 26)
    cross_entropy = tf.keras.losses.BinaryCrossentropy(from_logits=True)

    def discriminator_loss(real_output, fake_output):
        real_loss = cross_entropy(tf.ones_like(real_output), real_output)
        fake_loss = cross_entropy(tf.zeros_like(fake_output), fake_output)
        return real_loss + fake_loss

    def generator_loss(fake_output):
        return cross_entropy(tf.ones_like(fake_output), fake_output)

    generator_optimizer = tf.keras.optimizers.Adam(1e-3)
    discriminator_optimizer = tf.keras.optimizers.Adam(1e-3)

    @tf.function
    def train_step(images, noise):
        with tf.GradientTape() as gen_tape, tf.GradientTape() as disc_tape:
            generated_images = generator(noise, training=True)
            real_output = discriminator(images, training=True)
            fake_output = discriminator(generated_images, training=True)
            gen_loss = generator_loss(fake_output)
            disc_loss = discriminator_loss(real_output, fake_output)
        of_generator = gen_tape.gradient(gen_loss, generator.trainable_variables)
        of_discriminator = disc_tape.gradient(disc_loss, discriminator.trainable_variables)
        generator_optimizer.apply_gradients(zip(of_generator, generator.trainable_variables, strict=True))
        discriminator_optimizer.apply_gradients(
            zip(of_discriminator, discriminator.trainable_variables, strict=True)
        )
        return gen_loss, disc_loss

    images, noise = numbers(27, 24, 4, 4, 1) * 2 - 1, numbers(28, 24, 6)
    dataset = tf.data.Dataset.from_tensor_slices((images, noise)).batch(8)
    found = {"generator": [], "discriminator": []}
    for _ in range(2):
        for batch in dataset:
            for name, loss in zip(found, train_step(*batch), strict=True):
                found[name].append(float(loss))
    return found | {"generated": floats(generator(noise[:2], training=False))}


def pix2pix(tf):
    """Image to image: a U-Net of Sequential models, a discriminator of two inputs, and an L1 loss."""
    layers = tf.keras.layers

    def downsample(filters, size, apply_batchnorm=True):
        result = tf.keras.Sequential()
        result.add(layers.Conv2D(filters, size, strides=2, padding="same", use_bias=False))
        if apply_batchnorm:
            result.add(layers.BatchNormalization())
        result.add(layers.LeakyReLU())
        return result

    def upsample(filters, size, apply_dropout=False):
        result = tf.keras.Sequential()
        result.add(layers.Conv2DTranspose(filters, size, strides=2, padding="same", use_bias=False))
        result.add(layers.BatchNormalization())
        if apply_dropout:
            result.add(layers.Dropout(0.0))
        result.add(layers.ReLU())
        return result

    def make_generator():
        inputs = layers.Input(shape=[16, 16, 3])
        down_stack = [downsample(4, 4, apply_batchnorm=False), downsample(6, 4), downsample(8, 4)]
        up_stack = [upsample(6, 4, apply_dropout=True), upsample(4, 4)]
        last = layers.Conv2DTranspose(3, 4, strides=2, padding="same", activation="tanh")
        x, skips = inputs, []
        for down in down_stack:
            x = down(x)
            skips.append(x)
        for up, skip in zip(up_stack, reversed(skips[:-1]), strict=True):
            x = layers.Concatenate()([up(x), skip])
        return tf.keras.Model(inputs=inputs, outputs=last(x))

    def make_discriminator():
        inp = layers.Input(shape=[16, 16, 3], name="input_image")
        tar = layers.Input(shape=[16, 16, 3], name="target_image")
        x = layers.concatenate([inp, tar])
        down1 = downsample(4, 4, False)(x)
        down2 = downsample(6, 4)(down1)
        zero_pad1 = layers.ZeroPadding2D()(down2)
        conv = layers.Conv2D(8, 4, strides=1, use_bias=False)(zero_pad1)
        leaky_relu = layers.LeakyReLU()(layers.BatchNormalization()(conv))
        zero_pad2 = layers.ZeroPadding2D()(leaky_relu)
        last = layers.Conv2D(1, 4, strides=1)(zero_pad2)
        return tf.keras.Model(inputs=[inp, tar], outputs=last)

    generator, discriminator = make_generator(), make_discriminator()
    seeded(generator, 29)
    seeded(discriminator, 30)
    loss_object = tf.keras.losses.BinaryCrossentropy(from_logits=True)
    generator_optimizer = tf.keras.optimizers.Adam(2e-4, beta_1=0.5)
    discriminator_optimizer = tf.keras.optimizers.Adam(2e-4, beta_1=0.5)

    def generator_loss(disc_generated_output, gen_output, target):
        gan_loss = loss_object(tf.ones_like(disc_generated_output), disc_generated_output)
        l1_loss = tf.reduce_mean(tf.abs(target - gen_output))
        return gan_loss + (100 * l1_loss), gan_loss, l1_loss

    def discriminator_loss(disc_real_output, disc_generated_output):
        real_loss = loss_object(tf.ones_like(disc_real_output), disc_real_output)
        generated_loss = loss_object(tf.zeros_like(disc_generated_output), disc_generated_output)
        return real_loss + generated_loss

    @tf.function
    def train_step(input_image, target):
        with tf.GradientTape() as gen_tape, tf.GradientTape() as disc_tape:
            gen_output = generator(input_image, training=True)
            disc_real_output = discriminator([input_image, target], training=True)
            disc_generated_output = discriminator([input_image, gen_output], training=True)
            losses = generator_loss(disc_generated_output, gen_output, target)
            disc_loss = discriminator_loss(disc_real_output, disc_generated_output)
        of_generator = gen_tape.gradient(losses[0], generator.trainable_variables)
        of_discriminator = disc_tape.gradient(disc_loss, discriminator.trainable_variables)
        generator_optimizer.apply_gradients(zip(of_generator, generator.trainable_variables, strict=True))
        discriminator_optimizer.apply_gradients(
            zip(of_discriminator, discriminator.trainable_variables, strict=True)
        )
        return (*losses, disc_loss)

    images, targets = numbers(31, 3, 16, 16, 3) * 2 - 1, numbers(32, 3, 16, 16, 3) * 2 - 1
    dataset = tf.data.Dataset.from_tensor_slices((images, targets)).batch(1)
    found = {name: [] for name in ("total", "gan", "l1", "discriminator")}
    for _ in range(2):
        for batch in dataset:
            for name, loss in zip(found, train_step(*batch), strict=True):
                found[name].append(float(loss))
    image = tf.constant(images[:1])
    patches = discriminator([image, generator(image, training=False)], training=False)
    return found | {"patches": floats(patches)}


TUTORIALS = {program.__name__: program for program in (beginner, advanced, cnn, autoencoder, dcgan, pix2pix)}
