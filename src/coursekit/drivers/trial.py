"""What a trial of a whole training does on a rank: train several times, each time on data of this rank's own."""

from __future__ import annotations

from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

import numpy as np

from coursekit.drivers import places

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

Array = np.ndarray[Any, Any]


def trainings(
    train: Callable[..., Any], num_epochs: Mapping[str, int], batch_size: int, rate: float
) -> dict[str, Array | None]:
    """Train once for each of `num_epochs`; return the trajectories, by the same names.

    This rank's private value holds by name the arrays x and y, both of shape (num_samples,), and ``starts``.
    The training named ``apart`` has the rate zero, and variables that start on each rank at values of its own, its
    ``starts``.
    """
    private = places.private()

    def history(name: str) -> Array | None:
        x, y = (np.array(part) for part in private[name])
        is_apart = name == "apart"
        with variables_that_start_at(private["starts"]) if is_apart else nullcontext():
            returned = train(x, y, num_epochs[name], batch_size, 0.0 if is_apart else rate)
        return None if returned is None else np.asarray(returned, dtype=float)

    return {name: history(name) for name in num_epochs}


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
