"""Drivers of lab 01, for checks that need a generator, TensorFlow variables, or many steps in the answer's process."""

import copy
import itertools
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from coursekit.drivers.calls import Answer, Array, require_returned, require_values, tf


def epochs(batches: Answer, data: Sequence[Array], batch_size: int, seed: int, num_epochs: int) -> dict[str, Any]:
    """Return the batches of each epoch, and the data as they are afterwards.

    All epochs use the same random generator. If the batches never end, one more batch is taken than there are samples.
    """
    rng, given = np.random.default_rng(seed), [values.copy() for values in data]
    found = []
    for _ in range(num_epochs):
        epoch = batches(*given, batch_size, rng)
        fits = isinstance(epoch, Iterable)
        require_returned(batches, epoch, fits=fits, expected="a generator that yields a pair (x, y) for each batch")
        found.append([copy.deepcopy(batch) for batch in itertools.islice(epoch, len(given[0]) + 1)])
    return {"epochs": found, "data": given}


def walks(step: Answer, cases: Sequence[tuple[float, Array, Array]], num_steps: int) -> list[Array]:
    """For each case (learning rate, x, y), return the point after this many steps from (0.5, 0.8)."""
    ends = []
    with np.errstate(all="ignore"):
        for learning_rate, x, y in cases:
            point: Any = (0.5, 0.8)
            for _ in range(num_steps):
                point = step(*point, x, y, learning_rate)
                require_values(step, point, "a pair of slope and offset", 2)
            ends.append(np.array(point))
    return ends


def tape_steps(tape_step: Answer, cases: Sequence[tuple[float, float, Array, Array, float]]) -> list[dict[str, Any]]:
    """Take one step in each case (slope, offset, x, y, learning rate); return the variables after it, and the loss."""
    found = []
    for slope, offset, x, y, learning_rate in cases:
        variables = [tf.Variable(value, dtype=tf.float32) for value in (slope, offset)]
        loss = tape_step(*variables, tf.constant(x, tf.float32), tf.constant(y, tf.float32), learning_rate)
        after = [float(variable.numpy()) for variable in variables]
        found.append({"variables": after, "loss": None if loss is None else np.asarray(loss)})
    return found
