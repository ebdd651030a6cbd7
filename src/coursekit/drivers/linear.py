"""What the checks of lab 01 do where the answer runs: what takes a generator or a TensorFlow variable."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

Array = np.ndarray[Any, Any]


def epochs(
    batches: Callable[..., Iterable[Any]], data: Sequence[Array], batch_size: int, seed: int, num_epochs: int
) -> list[list[tuple[Array, Array]]]:
    """Return for each epoch its batches of the data, a pair (x, y), with one generator for all epochs."""
    rng = np.random.default_rng(seed)
    return [[(np.array(a), np.array(b)) for a, b in batches(*data, batch_size, rng)] for _ in range(num_epochs)]


def tape_steps(
    tape_step: Callable[..., Any], cases: Sequence[tuple[float, float, Array, Array, float]]
) -> list[dict[str, Any]]:
    """Make one step in each case: slope, offset, x, y, learning rate; return the variables after it and the loss."""
    import tensorflow as tf  # noqa: PLC0415  # only this driver needs it

    found = []
    for slope, offset, x, y, learning_rate in cases:
        variables = [tf.Variable(value, dtype=tf.float32) for value in (slope, offset)]
        loss = tape_step(*variables, tf.constant(x, tf.float32), tf.constant(y, tf.float32), learning_rate)
        after = [float(variable.numpy()) for variable in variables]
        found.append({"variables": after, "loss": None if loss is None else np.asarray(loss)})
    return found
