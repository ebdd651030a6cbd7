"""What the checks of lab 06's loss scaling do where the answers run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from coursekit.drivers import places

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

Array = np.ndarray[Any, Any]
NUM_VALUES = 2  # of a state: the scale, and the number of good steps in a row


def scales(next_scale: Callable[..., Any], scale: float, growth_steps: int, were_finite: Sequence[bool]) -> list[Any]:
    """Return what the answer makes of a scale in a row of steps, each from the state that it returned before."""
    num_good, states = 0, []
    for is_finite in were_finite:
        state = next_scale(scale, num_good, is_finite, growth_steps)
        states.append(state)
        if not isinstance(state, (tuple, list)) or len(state) != NUM_VALUES:
            break  # the check says so
        scale, num_good = state
    return states


def mean_gradients(answer: Callable[..., Any], scale: float) -> list[list[Array] | None]:
    """Hand over this rank's own gradients in 16 bits, of several steps; return what the answer makes of each."""
    import tensorflow as tf  # noqa: PLC0415  # on ranks only

    means = (answer([tf.constant(one) for one in gradients], scale) for gradients in places.private())
    return [None if mean is None else [np.array(one) for one in mean] for mean in means]
