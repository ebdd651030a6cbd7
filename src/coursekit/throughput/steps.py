"""How long the steps of `model.fit` take: a callback that only looks at the clock."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from coursekit.errors import CourseKitError


class StepTimes:
    """Seconds of every training step of one rank.

    `step_times` makes a Keras callback of it. TensorFlow is not needed to read the numbers.
    With `steps_per_execution` Keras reports several steps at once: each of them counts as its part of that time.
    """

    def __init__(self, batch_size: int) -> None:
        super().__init__()
        self.batch_size = batch_size
        self._executions: list[tuple[float, int]] = []  # seconds, and the number of steps in them
        self._first_step = 0
        self._begin = 0.0

    def on_train_batch_begin(self, batch: int, logs: dict[str, Any] | None = None) -> None:
        """Start the clock; Keras calls this before step `batch`."""
        del logs
        self._first_step, self._begin = batch, time.perf_counter()

    def on_train_batch_end(self, batch: int, logs: dict[str, Any] | None = None) -> None:
        """Stop the clock; Keras has read the loss by now, so that a GPU has finished the step too."""
        del logs
        self._executions.append((time.perf_counter() - self._begin, batch - self._first_step + 1))

    @property
    def seconds(self) -> tuple[float, ...]:
        """The seconds of each step, in order."""
        return tuple(seconds / num_steps for seconds, num_steps in self._executions for _ in range(num_steps))

    @property
    def first_s(self) -> float:
        """Seconds of the first execution, in which TensorFlow traces and compiles the step."""
        self._need(1)
        return self._executions[0][0]

    @property
    def images_per_s(self) -> float:
        """Images per second of this rank: the batch size by the median of all later steps."""
        self._need(2)
        num_first = self._executions[0][1]
        return self.batch_size / float(np.median(self.seconds[num_first:]))

    def _need(self, num_executions: int) -> None:
        if len(self._executions) < num_executions:
            raise CourseKitError(
                f"the speed of training needs {num_executions} steps or more, there were {len(self._executions)}: "
                "hand step_times to model.fit as a callback, and train for more steps."
            )


def step_times(batch_size: int) -> Any:
    """Return a Keras callback that measures every training step, of `batch_size` images on this rank: a `StepTimes`."""
    import tensorflow as tf  # the notebook's own process need not import it

    class StepTimesCallback(StepTimes, tf.keras.callbacks.Callback):  # type: ignore[misc]  # Keras has no types
        """`StepTimes` as Keras wants it."""

    return StepTimesCallback(batch_size)
