"""Callbacks: objects whose methods ``fit`` and ``evaluate`` call at each stage.

Keras: keras/src/callbacks and keras/src/utils/progbar.py.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping, MutableMapping
from inspect import signature
from typing import Any

import numpy as np

from ..support.errors import ArgumentTypeError, brief

__all__ = ["Callback", "History", "LearningRateScheduler", "ProgbarLogger"]

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
        if not callable(schedule):
            raise ArgumentTypeError(f"schedule must be a function of the epoch; got {brief(schedule)}")
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
        if isinstance(logs, MutableMapping):
            logs["learning_rate"] = float(self.model.optimizer.learning_rate.numpy())


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
