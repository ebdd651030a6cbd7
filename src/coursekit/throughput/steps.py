"""Time the steps of `model.fit` with a callback that only reads the clock; warn if other programs use the cores."""

import os
import time
from typing import Any

import numpy as np
import psutil

from coursekit.errors import CourseKitError

BUSY = 0.5  # number of cores used by other programs above which times cannot be trusted


class StepTimes:
    """The duration of every training step on one rank.

    `step_times` turns this class into a Keras callback. Reading the times does not need TensorFlow.
    """

    def __init__(self, batch_size: int) -> None:
        super().__init__()
        self.batch_size = batch_size
        self.seconds: list[float] = []  # duration of each step, in order
        self._begin = 0.0

    def on_train_batch_begin(self, batch: int, logs: dict[str, Any] | None = None) -> None:
        """Start the clock; Keras calls this before each step."""
        del batch, logs
        self._begin = time.perf_counter()

    def on_train_batch_end(self, batch: int, logs: dict[str, Any] | None = None) -> None:
        """Stop the clock; Keras has already read the loss, so a GPU has also finished the step."""
        del batch, logs
        self.seconds.append(time.perf_counter() - self._begin)

    @property
    def first_s(self) -> float:
        """The duration of the first step, in which TensorFlow traces and compiles the graph."""
        return self.seconds[0]

    @property
    def images_per_s(self) -> float:
        """Images per second on this rank: the batch size divided by the median time of all steps but the first."""
        if len(self.seconds) < 2:  # noqa: PLR2004  # the first one is mostly tracing
            raise CourseKitError(
                f"measuring the speed of training takes at least 2 steps, but there were {len(self.seconds)}: "
                "pass step_times to model.fit as a callback, and train for more steps.",
                "speed.too-few-steps",
            )
        return self.batch_size / float(np.median(self.seconds[1:]))


def step_times(batch_size: int) -> Any:
    """Return a Keras callback, a `StepTimes`, which times each training step of `batch_size` images on this rank."""
    import tensorflow as tf  # the notebook's own process need not import it

    class StepTimesCallback(StepTimes, tf.keras.callbacks.Callback):  # type: ignore[misc]  # Keras has no types
        """`StepTimes` as a Keras callback."""

    return StepTimesCallback(batch_size)


def warn_if_busy(seconds: float = 0.5) -> float:
    """Warn if other programs compute on the cores of this process, because that would distort measured times.

    Call this while your own programs are idle. Measure for `seconds` seconds, and return how many cores are in use.
    """
    mine = os.sched_getaffinity(0)
    shares: list[float] = psutil.cpu_percent(seconds, percpu=True)
    busy = sum(shares[core] for core in mine if core < len(shares)) / 100
    if busy > BUSY:
        print(
            f"Other programs use {busy:.1f} of your {len(mine)} cores now, so the times below are longer and vary. "
            "Run this cell again when they have ended."
        )
    return busy
