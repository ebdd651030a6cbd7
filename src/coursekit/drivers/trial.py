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
    The last training is run once more as ``apart``, with every variable moved to a place of its own on each rank.
    """
    targets = places.private()

    def history(name: str) -> Array:
        x, y = np.array(inputs[name]), np.array(targets[name])
        return np.asarray(train(x, y, num_epochs, len(x) // int(os.environ["HOROVOD_SIZE"]), rate), dtype=float)

    histories = {name: history(name) for name in inputs}
    with variables_of_its_own():
        return {**histories, "apart": history(list(inputs)[-1])}


@contextmanager
def variables_of_its_own() -> Iterator[None]:
    """Start each trainable variable that is made inside somewhere else on each rank, whatever seeds the answer sets."""
    import tensorflow as tf  # noqa: PLC0415  # on ranks only

    rng = np.random.default_rng()

    def moved(create: Callable[..., Any], **kwargs: Any) -> Any:
        variable = create(**kwargs)
        if variable.trainable and variable.dtype.is_floating and tf.executing_eagerly():
            variable.assign_add(tf.cast(rng.normal(size=variable.shape), variable.dtype))
        return variable

    with tf.variable_creator_scope(moved):
        yield
