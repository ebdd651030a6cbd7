"""What a trial of a whole training does on a rank: train several times, each time with targets of this rank's own."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from coursekit.drivers import places

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

Array = np.ndarray[Any, Any]


def trainings(train: Callable[..., Any], inputs: Mapping[str, Array], num_epochs: int, rate: float) -> dict[str, Array]:
    """Train once for each of `inputs`; return the trajectories, by the same names, and one more named ``apart``.

    All ranks get the same inputs, of shape (num_samples,); the targets, same shape, are this rank's private value.
    A batch is the rank's share of the samples.
    The last training is run once more as ``apart``, with the rate zero, and with variables that start on each rank at
    values of its own, also a private value.
    """
    private = places.private()

    def history(name: str, rate: float) -> Array:
        x, y = np.array(inputs[name]), np.array(private[name])
        return np.asarray(train(x, y, num_epochs, len(x) // int(os.environ["HOROVOD_SIZE"]), rate), dtype=float)

    histories = {name: history(name, rate) for name in inputs}
    with variables_that_start_at(private["starts"]):
        return {**histories, "apart": history(list(inputs)[-1], 0.0)}


@contextmanager
def variables_that_start_at(values: Array) -> Iterator[None]:
    """Let trainable variables that are made inside start at these numbers, in their order, whatever the answer says."""
    import tensorflow as tf  # noqa: PLC0415  # on ranks only

    num_used = 0

    def create_at(create: Callable[..., Any], **kwargs: Any) -> Any:
        nonlocal num_used
        variable = create(**kwargs)
        has_values = variable.shape.is_fully_defined() and tf.executing_eagerly()
        if has_values and variable.trainable and variable.dtype.is_floating:
            own = np.resize(np.roll(values, -num_used), variable.shape)
            variable.assign(tf.cast(own, variable.dtype))
            num_used += own.size
        return variable

    with tf.variable_creator_scope(create_at):
        yield
