"""`compile`, ``fit``, `evaluate`, `predict`: the part of a model that trains it.

Keras: keras/src/trainers/trainer.py and keras/src/backend/tensorflow/trainer.py.

`Trainer.train_step` is the whole of a training step: the model forward, the loss, its gradients, and one
``Apply*`` op for each weight. `Trainer.fit` is a loop over it. `teachconv.graph.function` traces it once
for each batch size.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from ..core.arguments import integer, positive, truth
from ..graph import (
    ConfigProto,
    GradientTape,
    InvalidArgumentError,
    check_numerics,
    control_dependencies,
    function,
    shape,
)
from ..graph.options import check_type
from ..support.errors import ArgumentError, ArgumentTypeError, brief, check_word
from ..support.memory import check_bytes
from ..support.settings import within
from ..support.tables import number
from . import losses, optimizers
from . import metrics as metric
from .callbacks import Callback, History, ProgbarLogger
from .checks import check_list, refuse
from .config import next_seed
from .data_adapters import (
    ArrayBatches,
    Parts,
    Stream,
    as_batch_size,
    batches_of,
    check_weights,
    check_x,
    check_y,
    is_stream,
    one_of,
    parts_of,
    split,
)
from .layers.layer import Layer, as_list, set_all, watching


class Trainer(Layer):
    """Trains a model; `teachconv.keras.Model` inherits from it, and describes its attributes."""

    optimizer: optimizers.Optimizer
    loss: Any
    compiled_metrics: metric.CompileMetrics
    compiled = False
    stop_training = False

    # --- what is run -----------------------------------------------------------------------------

    def train_step(self, data: Any) -> dict[str, Any]:
        """Run one training step on a batch: forward, loss, gradients, update, means.

        Args:
            data: the samples of a batch and their labels, (x, y), or with weights (x, y, sample_weight); the
                samples alone if `fit` has no labels.

        Returns:
            The means of the epoch so far, by their names.
        """
        x, y, sample_weight = parts_of(data)
        weights = self.trainable_variables
        with GradientTape() as tape:
            y_pred = self(x, training=True)
            loss = self.compute_loss(x, y, y_pred, sample_weight)
        gradients = tape.gradient(loss, weights)
        with control_dependencies([check_numerics(loss, "loss")]):  # no update where it fails
            self.optimizer.apply(gradients, weights)
        self._loss_tracker.update_state(loss, sample_weight=shape(as_list(x)[0])[0])
        return self.compute_metrics(x, y, y_pred, sample_weight)

    def test_step(self, data: Any) -> dict[str, Any]:
        """Return the means for a batch, as `train_step` does, without an update."""
        x, y, sample_weight = parts_of(data)
        y_pred = self(x, training=False)
        loss = self.compute_loss(x, y, y_pred, sample_weight)
        self._loss_tracker.update_state(loss, sample_weight=shape(as_list(x)[0])[0])
        return self.compute_metrics(x, y, y_pred, sample_weight)

    def predict_step(self, x: Any) -> Any:
        """Return the output for a batch."""
        return self(x, training=False)

    def compute_loss(
        self,
        x: Any = None,
        y: Any = None,
        y_pred: Any = None,
        sample_weight: Any = None,
        training: bool = True,
    ) -> Any:
        """Return the loss of `compile` for a batch, plus that of the regularizers.

        Args:
            x: the samples.
            y: their labels.
            y_pred: the model's output.
            sample_weight: how much the loss of each sample counts; None for 1.
            training: whether it is part of a training step.

        Returns:
            A tensor without axes.

        Raises:
            ValueError: if `compile` was given no loss.
        """
        if self.loss is None:
            raise ArgumentError(
                f"model {brief(self.name)} is not compiled with a loss: call compile(optimizer, loss) first"
            )
        loss = self.loss(y, y_pred) if sample_weight is None else self.loss(y, y_pred, sample_weight)
        return sum(self.losses, loss)

    def compute_metrics(self, x: Any, y: Any, y_pred: Any, sample_weight: Any = None) -> dict[str, Any]:
        """Add a batch to the metrics of `compile`; return the means of all metrics so far, by their names.

        The weights change nothing: in Keras they count in ``weighted_metrics`` alone.
        """
        self.compiled_metrics.update_state(y, y_pred, sample_weight)
        return self.get_metrics_result()

    def get_metrics_result(self) -> dict[str, Any]:
        """Return the means of `metrics` so far, by their names."""
        return _by_name({each.name: each.precise() for each in self.metrics})

    def fit(
        self,
        x: Any = None,
        y: Any = None,
        batch_size: int | None = None,
        epochs: int = 1,
        verbose: str | int = "auto",
        callbacks: Sequence[Callback] | None = None,
        validation_split: float = 0.0,
        validation_data: Any = None,
        shuffle: bool = True,
        *,
        sample_weight: Any = None,
        initial_epoch: int = 0,
        steps_per_epoch: int | None = None,
        validation_steps: int | None = None,
        validation_batch_size: int | None = None,
        seed: int | None = None,
        **unknown: Any,
    ) -> History:
        """Train the model.

        Args:
            x: the samples, [samples, ...], or a list of such arrays for a model with several inputs; or what
                gives batches (x, y): a dataset, an object whose ``__len__`` says how many there are and whose
                ``__getitem__`` returns one, as Keras' ``PyDataset``, or another iterable.
            y: their labels; none for a dataset.
            batch_size: how many samples make a step; None for 32.
            epochs: how often all samples are used.
            verbose: 0 for no output, 1 or "auto" for a bar for each epoch, 2 for a line for each epoch.
            callbacks: a list of ``Callback``.
            validation_split: the fraction of the samples, from the end, that is set aside and evaluated
                after each epoch.
            validation_data: (x, y) or (x, y, sample_weight) to evaluate instead, or a dataset that gives such
                batches.
            shuffle: whether each epoch has a new order, of samples or of numbered batches; a dataset has its
                own shuffle.
            sample_weight: how much the loss of each sample counts, [samples] or [samples, 1]; None for 1. The
                metrics of `compile` leave it out, as in Keras. Of a dataset, the third part of each batch.
            initial_epoch: the number of the first epoch, to continue a training.
            steps_per_epoch: how many batches of a dataset are an epoch; None for all, which must be fewer
                than 100,000 where their number is unknown, as it is of a generator.
            validation_steps: how many batches of a dataset are a validation; None for all.
            validation_batch_size: the batch size of the validation; None for ``batch_size``.
            seed: the seed of the order; None for the next one of ``set_random_seed``.
            **unknown: Keras' other arguments, which are refused by name.

        Returns:
            A ``History``, whose ``history`` has a list of numbers for each name.

        Raises:
            ValueError, TypeError: if an argument or the data do not fit; nothing has changed then.
            FloatingPointError: if the loss is not finite; the message names the step and the layer where it
                began, and the weights are those before the step.
        """
        refuse("fit", unknown)
        size = as_batch_size(batch_size)
        first, rest = split((x, y, sample_weight), validation_split)
        rest = rest if validation_data is None else validation_data
        data = self._batches(first, size, steps_per_epoch)
        validation = None
        if rest is not None:
            parts = (rest, None, None) if is_stream(rest) else _validation_parts(rest)
            among = as_batch_size(validation_batch_size or size)
            names = (
                ("validation_data", "") if is_stream(rest) else ("validation_data[0]", "validation_data[1]")
            )
            validation = self._batches(parts, among, validation_steps, *names)
        epochs, history = positive(epochs, "epochs"), History()
        rng = np.random.default_rng(next_seed(seed))
        told = [*check_list(callbacks, "callbacks", "Callbacks"), history]
        tell = self._tell(told, verbose, epochs, data.steps)
        tell("on_train_begin", {})
        self.stop_training, logs = False, {}
        for epoch in range(integer(initial_epoch, "initial_epoch"), epochs):
            tell("on_epoch_begin", epoch, {})
            self.reset_metrics()
            if truth(shuffle, "shuffle"):
                data.shuffle(rng)
            for step, batch in enumerate(data):
                tell("on_train_batch_begin", step, {})
                logs = self._train(batch, f"step {step + 1} of epoch {epoch + 1}")
                tell("on_train_batch_end", step, logs)
                if self.stop_training:
                    break
            if validation is not None:
                results = self._evaluate(validation, tell)
                logs = logs | {f"val_{name}": value for name, value in results.items()}
            tell("on_epoch_end", epoch, logs)
            if self.stop_training:
                break
        tell("on_train_end", logs)
        return history

    def train_on_batch(
        self, x: Any, y: Any = None, sample_weight: Any = None, *, return_dict: bool = False
    ) -> Any:
        """Run one training step.

        Args:
            x: the samples of the batch.
            y: their labels.
            sample_weight: how much the loss of each counts.
            return_dict: whether to return the numbers by name.

        Returns:
            The loss, or a list of the loss and the metrics, of this batch alone.

        Raises:
            ValueError, TypeError, FloatingPointError: as ``fit``.
        """
        batch = self._checked(x, y, sample_weight)
        self.reset_metrics()
        return _as_asked(self._train(batch, "this step"), return_dict)

    def test_on_batch(
        self, x: Any, y: Any = None, sample_weight: Any = None, *, return_dict: bool = False
    ) -> Any:
        """Return the loss and the metrics for a batch, as `train_on_batch` does, without training."""
        batch = self._checked(x, y, sample_weight)
        self.reset_metrics()
        return _as_asked(self._run("test_step", batch), return_dict)

    def evaluate(
        self,
        x: Any = None,
        y: Any = None,
        batch_size: int | None = None,
        verbose: str | int = "auto",
        sample_weight: Any = None,
        *,
        steps: int | None = None,
        callbacks: Sequence[Callback] | None = None,
        return_dict: bool = False,
        **unknown: Any,
    ) -> Any:
        """Return the loss and the metrics for samples, without training.

        Args:
            x: the samples, or a dataset, as in ``fit``.
            y: their labels.
            batch_size: how many samples are computed at once; None for 32.
            verbose: 0 for no output; otherwise a line is printed.
            sample_weight: how much the loss of each sample counts, as in ``fit``.
            steps: how many batches of a dataset are evaluated; None for all.
            callbacks: a list of ``Callback``.
            return_dict: whether to return the numbers by name.
            **unknown: as in ``fit``.

        Returns:
            The loss, or a list of the loss and the metrics.

        Raises:
            ValueError, TypeError: if the data do not fit.
        """
        refuse("evaluate", unknown)
        data = self._batches((x, y, sample_weight), as_batch_size(batch_size), steps)
        tell = self._tell(check_list(callbacks, "callbacks", "Callbacks"), verbose, 1, data.steps)
        return _as_asked(self._evaluate(data, tell), return_dict)

    def _evaluate(self, data: ArrayBatches | Stream, tell: Callable[..., None]) -> dict[str, float]:
        tell("on_test_begin", {})
        self.reset_metrics()
        logs: dict[str, float] = {}
        for step, batch in enumerate(data):
            tell("on_test_batch_begin", step, {})
            logs = self._run("test_step", batch)
            tell("on_test_batch_end", step, logs)
        tell("on_test_end", logs)
        return logs

    def predict(
        self,
        x: Any,
        batch_size: int | None = None,
        verbose: str | int = "auto",
        *,
        steps: int | None = None,
        **unknown: Any,
    ) -> Any:
        """Return the model's output for samples.

        Args:
            x: the samples, or a dataset, as in ``fit``; labels that it gives are ignored.
            batch_size: how many samples are computed at once; None for 32.
            verbose: accepted as in Keras; nothing is printed.
            steps: how many batches of a dataset are computed; None for all.
            **unknown: as in ``fit``.

        Returns:
            An array with the outputs of all samples; a list of them for a model with several outputs.

        Raises:
            ValueError, TypeError: if the samples do not fit.
        """
        refuse("predict", unknown)
        data = self._samples(x, as_batch_size(batch_size), steps)
        predict_step = self._function("predict_step")
        parts, nbytes = [], 0
        for batch, *_ in data:
            parts.append(as_list(predict_step(batch)))
            nbytes += sum(each.dtype.itemsize * each.shape.num_elements() for each in parts[-1])
            check_bytes(nbytes, f"the output of {len(parts)} batches")  # they are joined below
        outputs = [np.concatenate([each.numpy() for each in part]) for part in zip(*parts, strict=True)]
        return outputs if isinstance(self.output_shape, list) else outputs[0]

    # --- how it is run ---------------------------------------------------------------------------

    def compile(
        self,
        optimizer: Any = "rmsprop",
        loss: Any = None,
        *,
        metrics: Sequence[Any] | None = None,
        run_eagerly: bool = False,
        backend: str | None = None,
        **unknown: Any,
    ) -> None:
        """Say how the model is trained.

        Args:
            optimizer: "adam", "rmsprop", "sgd", or an optimizer.
            loss: the name of a function of `teachconv.keras.losses`, such as "binary_crossentropy" or "mse",
                or a loss; None for a model that only predicts.
            metrics: a list of "accuracy", "mse", metrics, or functions of tensors (y_true, y_pred).
            run_eagerly: whether each op runs at once instead of in a graph, so that a debugger can step
                through the layers; slower.
            backend: the backend of the convolutions; None for the one of `teachconv.use_backend`.
            **unknown: as in ``fit``.

        Raises:
            ValueError, TypeError: if an argument is invalid.
            BackendUnavailable: if the backend cannot run here.
        """
        refuse("compile", unknown)
        identifiers = check_list(metrics, "metrics", "names or metrics, such as ['accuracy']")
        run_eagerly = truth(run_eagerly, "run_eagerly")
        if run_eagerly and backend is not None:
            raise ArgumentError(
                "backend goes with a graph; with run_eagerly use `with teachconv.use_backend(...)`"
            )
        for identifier in identifiers:
            metric.get(identifier)
        self._config = ConfigProto(backend="" if backend is None else backend)
        self.optimizer = optimizers.get(optimizer)
        self.loss = None if loss is None else losses.get(loss)
        self._identifiers, self.run_eagerly = identifiers, run_eagerly
        self.compiled_metrics = metric.CompileMetrics()
        self.compiled = True
        self.forget_functions()

    def forget_functions(self) -> None:
        """Discard the traced steps, because the layers have changed."""
        self._functions: dict[str, Callable[..., Any]] = {}

    @property
    def train_function(self) -> Any:
        """`train_step` as it is run: a `teachconv.graph.Function`; with ``run_eagerly`` the method itself."""
        return self._function("train_step")

    def _function(self, name: str) -> Callable[..., Any]:
        """Return a step as a traced function, or as it is with ``run_eagerly``."""
        step: Callable[..., Any] = getattr(self, name)
        if getattr(self, "run_eagerly", False):
            return step
        if name not in self._functions:
            self._functions[name] = function(step, config=getattr(self, "_config", None))
        return self._functions[name]

    def _train(self, batch: Parts, where: str) -> dict[str, float]:
        """Run a training step; return the means of the epoch so far."""
        averages = [(weight, weight.numpy()) for weight in self.non_trainable_weights]
        try:
            return self._run("train_step", batch)
        except InvalidArgumentError as error:
            if "Tensor had" not in str(error):
                raise
            for weight, value in averages:  # the forward pass updates them, before the loss is known
                weight.assign(value)
            raise FloatingPointError(first_not_finite(self, *batch, where)) from None

    def _run(self, step: str, batch: Parts) -> dict[str, float]:
        """Run a step on samples, labels and weights; return what it returns as numbers."""
        logs = self._function(step)(one_of(batch))
        check_type(logs, Mapping, f"{step} must return a dict of numbers by their names")
        return {name: float(np.mean(value)) for name, value in _by_name(logs).items()}

    @property
    def metrics(self) -> list[Any]:
        """The mean of the loss, the metrics that are attributes of the model, and those of `compile` as one.

        Override it to say which metrics each epoch resets.
        """
        if not self.compiled:
            return []
        own = [value for value in vars(self).values() if isinstance(value, metric.Metric)]
        return [*own, self.compiled_metrics] if self._identifiers else own

    @property
    def metrics_names(self) -> list[str]:
        """The names of the numbers that ``evaluate`` returns; those of the metrics are known after a step."""
        return [*self.get_metrics_result()]

    def reset_metrics(self) -> None:
        """Reset the means of the loss and the metrics."""
        for each in self.metrics:
            each.reset_state()

    def _batches(
        self, data: Parts, size: int, steps: Any, name_x: str = "x", name_y: str = "y"
    ) -> ArrayBatches | Stream:
        """Return the batches of samples, labels and weights, checked."""
        check = partial(self._checked, name_x=name_x, name_y=name_y or "y")
        return batches_of(check, data, size, steps, name_x)

    def _samples(self, x: Any, size: int, steps: Any) -> ArrayBatches | Stream:
        """Return the batches of samples alone, checked."""
        return batches_of(lambda x, *_: (check_x(self, x), None, None), (x, None, None), size, steps)

    def _checked(self, x: Any, y: Any, sample_weight: Any, name_x: str = "x", name_y: str = "y") -> Parts:
        """Return samples, labels and weights as arrays, as the model and its loss take them, or None."""
        if not self.compiled:
            raise ArgumentError(
                f"model {brief(self.name)} is not compiled: call compile(optimizer, loss) first"
            )
        x = check_x(self, x, name_x)
        if y is not None or self.loss is not None:
            y = check_y(self, y, x, name_y)
        if y is not None and not self.compiled_metrics.metrics:
            self.compiled_metrics.metrics = [
                metric.get(each, y.shape, self.output_shape or ()) for each in self._identifiers
            ]
        return x, y, check_weights(self, sample_weight, y, x)

    def _tell(
        self, callbacks: Iterable[Callback], verbose: str | int, epochs: int, steps: int | None
    ) -> Callable[..., None]:
        """Return a function that calls a method of every callback."""
        check_word(verbose, "verbose", ("auto", 0, 1, 2))
        level = 1 if verbose == "auto" else int(verbose)
        everyone = [*callbacks, *([ProgbarLogger()] if level else [])]
        for callback in everyone:
            check_type(callback, Callback, "callbacks must be Callbacks")
            callback.set_model(self)
            callback.set_params({"epochs": epochs, "steps": steps, "verbose": level})

        def tell(method: str, *arguments: Any) -> None:
            for callback in everyone:
                getattr(callback, method)(*arguments)

        return tell


def _validation_parts(data: Any) -> Parts:
    if not isinstance(data, (tuple, list)) or len(data) not in (2, 3):
        raise ArgumentTypeError(f"validation_data must be (x, y), or give such batches; got {brief(data)}")
    return parts_of(tuple(data))


def _by_name(logs: Mapping[str, Any]) -> dict[str, Any]:
    """Return numbers by their names; the metrics of `compile` are a dict among them."""
    parts = (value if isinstance(value, Mapping) else {name: value} for name, value in logs.items())
    return {name: value for part in parts for name, value in part.items()}


def _as_asked(logs: dict[str, float], return_dict: bool) -> Any:
    if truth(return_dict, "return_dict"):
        return logs
    return list(logs.values()) if len(logs) > 1 else next(iter(logs.values()))


def first_not_finite(model: Any, x: Any, y: Any, sample_weight: Any, where: str) -> str:
    """Return the message for a loss that is not finite: the step, and the first layer where it shows.

    The model runs again, op by op; its state is then restored.

    Args:
        model: the model, with the weights before the step.
        x: the samples of the batch.
        y: their labels.
        sample_weight: their weights.
        where: the name of the step.

    Returns:
        The message.
    """
    before = model.get_weights()
    try:
        found, value = _search(model, x)
        loss = float(np.asarray(model.compute_loss(x, y, value, sample_weight)))
    finally:
        set_all(model.weights, before, model.name)  # a BatchNormalization updates its averages
    rate = number(float(model.optimizer.learning_rate.numpy()))
    return (
        f"the loss is {loss} at {where}: {found}. The weights are those before this step. A smaller "
        f"learning rate (now {rate}), or samples of about -1 to 1, may help"
    )


def _search(model: Any, x: Any) -> tuple[str, Any]:
    """Return where it begins, and the model's output."""
    found: list[str] = []

    def watch(layer: Layer, inputs: Any, outputs: Any) -> None:
        if found or layer is model or np.isfinite(np.asarray(outputs)).all():
            return
        what = f"layer {brief(layer.name)} ({type(layer).__name__})"
        broken = [weight.name for weight in layer.weights if not np.isfinite(weight.numpy()).all()]
        largest = max(float(np.max(np.abs(each), initial=0)) for each in as_list(inputs))
        found.append(
            f"{what} is the first that is not finite: the step before left {brief(broken[0])} not finite"
            if broken
            else f"{what} is the first whose output is not finite; its input reaches {number(largest)}"
        )

    with within(watching, watch):
        value = model(x, training=True)
    return found[0] if found else "every layer's output is finite, the loss function's result is not", value
