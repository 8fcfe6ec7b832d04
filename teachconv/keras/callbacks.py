"""Callbacks: objects whose methods ``fit`` and ``evaluate`` call at each stage.

Keras: keras/src/callbacks and keras/src/utils/progbar.py.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping, MutableMapping
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np

from ..core.arguments import integer, real, truth
from ..graph.options import check_type
from ..support.errors import ArgumentError, brief, check_word, warn
from ..support.files import path_of
from .checks import check_number

__all__ = [
    "Callback",
    "EarlyStopping",
    "History",
    "LearningRateScheduler",
    "ModelCheckpoint",
    "ProgbarLogger",
    "ReduceLROnPlateau",
]

Logs = Mapping[str, float]


class Callback:
    """The base class of callbacks: override the methods that you need.

    Attributes:
        model: the model that is trained; ``model.stop_training = True`` ends the training.
        params: ``epochs``, ``steps`` and ``verbose`` of the call.

    >>> class PrintLoss(Callback):
    ...     def on_epoch_end(self, epoch, logs=None):
    ...         print(epoch, logs["loss"])
    """

    model: Any = None
    params: Mapping[str, Any] = {}

    def set_model(self, model: Any) -> None:
        """Store the model."""
        self.model = model

    def set_params(self, params: Mapping[str, Any]) -> None:
        """Store the parameters."""
        self.params = params

    def on_train_begin(self, logs: Logs | None = None) -> None:
        """Called before the first epoch."""

    def on_train_end(self, logs: Logs | None = None) -> None:
        """Called after the last epoch."""

    def on_epoch_begin(self, epoch: int, logs: Logs | None = None) -> None:
        """Called before an epoch, which is numbered from 0."""

    def on_epoch_end(self, epoch: int, logs: Logs | None = None) -> None:
        """Called after an epoch with its means, including those of the validation."""

    def on_train_batch_begin(self, batch: int, logs: Logs | None = None) -> None:
        """Called before a training step, which is numbered from 0 in each epoch."""

    def on_train_batch_end(self, batch: int, logs: Logs | None = None) -> None:
        """Called after a training step with the means of the epoch so far."""

    def on_test_begin(self, logs: Logs | None = None) -> None:
        """Called before samples are evaluated, also for the validation of ``fit``."""

    def on_test_end(self, logs: Logs | None = None) -> None:
        """Called after they are evaluated, with the loss and the metrics."""

    def on_test_batch_begin(self, batch: int, logs: Logs | None = None) -> None:
        """Called before a batch is evaluated."""

    def on_test_batch_end(self, batch: int, logs: Logs | None = None) -> None:
        """Called after a batch is evaluated, with the means so far."""


class History(Callback):
    """Collects the logs of all epochs; ``fit`` returns it.

    Attributes:
        history: a list for each name, with one number for each epoch.
        epoch: the numbers of the epochs.
    """

    def __init__(self) -> None:
        self.history: dict[str, list[float]] = {}
        self.epoch: list[int] = []

    def on_epoch_end(self, epoch: int, logs: Logs | None = None) -> None:
        """Append the logs."""
        self.epoch.append(epoch)
        for name, value in (logs or {}).items():
            self.history.setdefault(name, []).append(value)


class LearningRateScheduler(Callback):
    """Sets the learning rate before each epoch.

    Args:
        schedule: a function of the epoch's number, counted from 0, and optionally of the current learning
            rate; it returns the new rate.
        verbose: whether to print it.

    >>> halve = LearningRateScheduler(lambda epoch, rate: rate / 2 if epoch == 10 else rate)
    """

    def __init__(self, schedule: Callable[..., float], verbose: int = 0):
        check_type(schedule, Callable, "schedule must be a function of the epoch")
        self.schedule, self.verbose = schedule, verbose
        try:
            signature(schedule).bind(0, 0.0)
            self._takes_rate = True
        except (TypeError, ValueError):  # of a function with one argument, or without a signature
            self._takes_rate = False

    def on_epoch_begin(self, epoch: int, logs: Logs | None = None) -> None:
        """Set the learning rate."""
        optimizer = self.model.optimizer
        rate = (float(optimizer.learning_rate.numpy()),) * self._takes_rate
        optimizer.learning_rate = self.schedule(epoch, *rate)
        if self.verbose:
            print(f"Epoch {epoch + 1}: learning rate {float(optimizer.learning_rate.numpy()):g}")

    def on_epoch_end(self, epoch: int, logs: Logs | None = None) -> None:
        """Add the learning rate to the logs."""
        _add_rate(self.model, logs)


def _add_rate(model: Any, logs: Logs | None) -> float:
    """Add the learning rate to the logs; return it."""
    rate = float(model.optimizer.learning_rate.numpy())
    if isinstance(logs, MutableMapping):
        logs["learning_rate"] = rate
    return rate


class _Monitor(Callback):
    """Watches one number of the logs: it knows the best value so far, and what is better.

    Keras: keras/src/callbacks/monitor_callback.py.
    """

    best: float | None = None

    def __init__(self, monitor: str, mode: str, verbose: int, min_delta: float = 0.0):
        check_type(monitor, str, "monitor must be the name of a number in the logs")
        check_word(mode, "mode", ("auto", "min", "max"))
        check_word(verbose, "verbose", (0, 1, 2))
        self.monitor, self.mode, self.verbose = monitor, mode, verbose
        self.min_delta = abs(real(min_delta, "min_delta"))

    def monitored(self, logs: Logs | None) -> float | None:
        """Return the number that is watched; None, with a warning, if the logs have no such name."""
        self.mode = self._direction() if self.mode == "auto" else self.mode
        if self.monitor not in (logs or {}):
            warn(
                f"{type(self).__name__} watches {brief(self.monitor)}, and the logs have "
                f"{', '.join(logs or {}) or 'nothing'}",
                UserWarning,
            )
        return (logs or {}).get(self.monitor)

    def is_better(self, value: float, than: float | None) -> bool:
        """Return whether a value is better than another one by more than ``min_delta``; any is, than None."""
        if than is None:
            return True
        return value + self.min_delta < than if self.mode == "min" else value - self.min_delta > than

    def _direction(self) -> str:
        """Return what "auto" stands for: "min" for the loss, else what the metric of that name says."""
        name = self.monitor.removeprefix("val_")
        metrics = [*self.model.metrics, *self.model.compiled_metrics.metrics]
        kinds = {each.name: type(each).__name__ for each in metrics}
        for ending, direction in (("Accuracy", "max"), ("Error", "min")):
            if kinds.get(name, "").endswith(ending):
                return direction
        if name != "loss":
            raise ArgumentError(
                f"mode must be 'min' or 'max': whether {brief(self.monitor)} should be small or large is "
                "not known; got 'auto'"
            )
        return "min"


class EarlyStopping(_Monitor):
    """Ends the training when a number of the logs has not become better for some epochs.

    Args:
        monitor: the name of the number, such as "val_loss" or "accuracy".
        min_delta: by how much a number must be better to count.
        patience: how many epochs without a better one are allowed.
        verbose: whether to print when the training ends.
        mode: whether "min" or "max" is better; "auto" knows it for the loss and for Keras' metrics.
        baseline: a number that an epoch must also be better than before the waiting is reset.
        restore_best_weights: whether the model gets the weights of the best epoch at the end.
        start_from_epoch: the first epoch that counts.

    Attributes:
        best: the best number so far, or None.
        stopped_epoch: the epoch after which it ended the training, 0 if it did not.
        best_epoch: the epoch of the best number, counted from 0.

    Raises:
        ValueError, TypeError: if an argument is invalid.

    >>> stop = EarlyStopping("loss", patience=2, restore_best_weights=True)
    """

    def __init__(
        self,
        monitor: str = "val_loss",
        min_delta: float = 0,
        patience: int = 0,
        verbose: int = 0,
        mode: str = "auto",
        baseline: float | None = None,
        restore_best_weights: bool = False,
        start_from_epoch: int = 0,
    ):
        super().__init__(monitor, mode, verbose, min_delta)
        self.patience = integer(patience, "patience")
        self.start_from_epoch = integer(start_from_epoch, "start_from_epoch")
        self.baseline = None if baseline is None else real(baseline, "baseline")
        self.restore_best_weights = truth(restore_best_weights, "restore_best_weights")

    def on_train_begin(self, logs: Logs | None = None) -> None:
        """Forget an earlier training."""
        self.wait = self.stopped_epoch = self.best_epoch = 0
        self.best = self.best_weights = None

    def on_epoch_end(self, epoch: int, logs: Logs | None = None) -> None:
        """Keep the number if it is the best; end the training if there has been no better one for long."""
        value = self.monitored(logs)
        if value is None or epoch < self.start_from_epoch:
            return
        self.wait += 1
        if self.is_better(value, self.best):
            self.best, self.best_epoch = value, epoch
            self.best_weights = self.model.get_weights() if self.restore_best_weights else None
            if self.baseline is None or self.is_better(value, self.baseline):
                self.wait = 0
        elif self.wait >= self.patience and epoch > 0:
            self.stopped_epoch, self.model.stop_training = epoch, True

    def on_train_end(self, logs: Logs | None = None) -> None:
        """Give the model the weights of the best epoch, if that was asked for."""
        if self.verbose and self.stopped_epoch:
            print(f"Epoch {self.stopped_epoch + 1}: early stopping")
        if self.best_weights is not None:
            self.model.set_weights(self.best_weights)


class ReduceLROnPlateau(_Monitor):
    """Multiplies the learning rate by a factor when a number has not become better for some epochs.

    Args:
        monitor, mode, min_delta, verbose: as in `EarlyStopping`.
        factor: what the rate is multiplied by, below 1.
        patience: how many epochs without a better number are allowed.
        cooldown: how many epochs after a change do not count.
        min_lr: the smallest rate.

    Attributes:
        best: the best number so far, or None.

    Raises:
        ValueError, TypeError: if an argument is invalid.

    >>> reduce = ReduceLROnPlateau("loss", factor=0.2, patience=3)
    """

    def __init__(
        self,
        monitor: str = "val_loss",
        factor: float = 0.1,
        patience: int = 10,
        verbose: int = 0,
        mode: str = "auto",
        min_delta: float = 1e-4,
        cooldown: int = 0,
        min_lr: float = 0.0,
    ):
        super().__init__(monitor, mode, verbose, min_delta)
        self.factor = check_number(factor, "factor", 0, 1, below=True)
        self.patience, self.cooldown = integer(patience, "patience"), integer(cooldown, "cooldown")
        self.min_lr = check_number(min_lr, "min_lr", 0)

    def on_train_begin(self, logs: Logs | None = None) -> None:
        """Forget an earlier training."""
        self.best, self.wait, self.cooldown_counter = None, 0, 0

    def on_epoch_end(self, epoch: int, logs: Logs | None = None) -> None:
        """Add the learning rate to the logs; reduce it if there has been no better number for long."""
        rate = _add_rate(self.model, logs)
        value = self.monitored(logs)
        if value is None:
            return
        if self.cooldown_counter:
            self.cooldown_counter, self.wait = self.cooldown_counter - 1, 0
        if self.is_better(value, self.best):
            self.best, self.wait = value, 0
        elif not self.cooldown_counter:
            self.wait += 1
            if self.wait >= self.patience and rate > np.float32(self.min_lr):
                self.model.optimizer.learning_rate = max(rate * self.factor, self.min_lr)
                self.cooldown_counter, self.wait = self.cooldown, 0
                if self.verbose:
                    rate = float(self.model.optimizer.learning_rate.numpy())
                    print(f"\nEpoch {epoch + 1}: ReduceLROnPlateau reducing learning rate to {rate:g}.")


class ModelCheckpoint(_Monitor):
    """Saves the weights of the model after each epoch, or after each that is the best so far.

    Args:
        filepath: the path, which may hold ``{epoch}``, counted from 1, and names of the logs, such as
            ``{val_loss:.2f}``; its ending is one of `Model.save_weights`.
        monitor, verbose, mode: as in `EarlyStopping`.
        save_best_only: whether only an epoch with the best number is saved.
        save_weights_only: must be true, because files have no layers here.
        save_freq: must be "epoch".
        initial_value_threshold: a number that the first saved epoch must be better than.

    Attributes:
        best: the best number so far, or None.

    Raises:
        ValueError, TypeError: if an argument is invalid.

    >>> keep = ModelCheckpoint("{epoch:02d}.weights.npz", save_weights_only=True)
    """

    def __init__(
        self,
        filepath: Any,
        monitor: str = "val_loss",
        verbose: int = 0,
        save_best_only: bool = False,
        save_weights_only: bool = False,
        mode: str = "auto",
        save_freq: str | int = "epoch",
        initial_value_threshold: float | None = None,
    ):
        super().__init__(monitor, mode, verbose)
        self.filepath = str(path_of(filepath, "filepath"))
        start = initial_value_threshold
        self.best = None if start is None else real(start, "initial_value_threshold")
        self.save_best_only = truth(save_best_only, "save_best_only")
        check_word(save_freq, "save_freq", ("epoch",))
        if not truth(save_weights_only, "save_weights_only"):
            raise ArgumentError(
                "save_weights_only must be true, with a filepath such as 'best.weights.npz': the program "
                "builds the model again and calls load_weights"
            )

    def on_epoch_end(self, epoch: int, logs: Logs | None = None) -> None:
        """Save the weights, unless only the best are saved and these are not."""
        value = self.monitored(logs) if self.save_best_only else None
        if value is not None and not self.is_better(value, self.best):
            return
        self.best = self.best if value is None else value
        path = Path(self.filepath.format(**{**(logs or {}), "epoch": epoch + 1}))
        path.parent.mkdir(parents=True, exist_ok=True)
        self.model.save_weights(path)
        if self.verbose:
            print(f"\nEpoch {epoch + 1}: finished saving model to {path}")


class ProgbarLogger(Callback):
    """Prints a line for each epoch, as Keras does: steps, time, loss and metrics.

    With ``verbose=1`` on a terminal the line is redrawn several times a second; elsewhere it is
    written once, at the end of the epoch. ``verbose=2`` writes one line without a bar.
    """

    _WIDTH, _EVERY = 20, 0.1  # characters, seconds
    _in_fit = False

    def on_train_begin(self, logs: Logs | None = None) -> None:
        """Note that evaluations now belong to ``fit``, whose line of the epoch has their numbers."""
        self._in_fit = True

    def on_test_begin(self, logs: Logs | None = None) -> None:
        """Start the clock of ``evaluate``."""
        if not self._in_fit:
            self.on_epoch_begin(0, logs)

    def on_test_end(self, logs: Logs | None = None) -> None:
        """Print the line of ``evaluate``."""
        if not self._in_fit:
            self.on_epoch_end(0, logs)

    def on_epoch_begin(self, epoch: int, logs: Logs | None = None) -> None:
        """Print the number of the epoch."""
        self._start, self._last, self._steps = time.perf_counter(), 0.0, 0
        self._live = self.params["verbose"] == 1 and sys.stdout.isatty()
        if self.params["epochs"] > 1:
            print(f"Epoch {epoch + 1}/{self.params['epochs']}")

    def on_train_batch_end(self, batch: int, logs: Logs | None = None) -> None:
        """Redraw the bar, at most ten times a second."""
        now, self._steps = time.perf_counter(), batch + 1
        if self._live and now - self._last >= self._EVERY:
            self._last = now
            print(f"\r{self._line(batch + 1, logs or {})}", end="", flush=True)

    def on_test_batch_end(self, batch: int, logs: Logs | None = None) -> None:
        """Count the steps of ``evaluate``."""
        if not self._in_fit:
            self._steps = batch + 1

    def on_epoch_end(self, epoch: int, logs: Logs | None = None) -> None:
        """Print the final line."""
        start = "\r" if self._live else ""
        self.params = {**self.params, "steps": self._steps}  # of a dataset, the end of an epoch says how many
        print(f"{start}{self._line(self._steps, logs or {})}", flush=True)

    def _line(self, step: int, logs: Logs) -> str:
        steps, seconds = self.params["steps"], time.perf_counter() - self._start
        done = f"{step}/{steps or 'Unknown'}".rjust(2 * len(str(steps)) + 1)
        if self.params["verbose"] == 1:
            done += " " + "━" * round(self._WIDTH * step / (steps or step))
        each = seconds / step
        timing = (
            f"{each:.0f}s" if each >= 1 else f"{each * 1e3:.0f}ms" if each >= 1e-3 else f"{each * 1e6:.0f}us"
        )
        between = " - " if self.params["verbose"] == 2 else " "
        # as Keras orders them: alphabetically, those of the validation last
        names = sorted(logs, key=lambda name: (name.startswith("val_"), name))
        numbers = (f"{name}: {_number(logs[name])}" for name in names)
        return " - ".join([f"{done}{between}{seconds:.0f}s{between}{timing}/step", *numbers])


def _number(value: float) -> str:
    return f"{value:.4f}" if np.isnan(value) or abs(value) > 1e-3 else f"{value:.4e}"
