"""Gradient descent in one process on all of the real data of a trial, in NumPy: what ranks together must do too."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from coursekit.checks.trial import RATE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from coursekit.checks.trial import Trial

Array = np.ndarray[Any, Any]


def serial_history(trial: Trial, seen: Array) -> Array:
    """Return the trajectory of full-batch gradient descent, from the first point of `seen`, same shape.

    Each sample's target is that of the rank that used it. Which rank that is may change from step to step, when an
    answer shuffles before it shards: of all even divisions of the samples, each step takes the one that leads nearest
    to the next point of `seen`.
    """
    x = trial.inputs.x
    owners = np.array(list(_even_divisions([len(x) // trial.num_ranks] * trial.num_ranks)))
    y = trial.inputs.y[owners, np.arange(len(x))]  # shape (num_divisions, num_samples)
    inputs = np.stack([x, np.ones_like(x)], axis=1).astype(float)
    points = [np.asarray(seen[0], dtype=float)]
    for point in seen[1:]:
        errors = inputs @ points[-1] - y
        reached = points[-1] - RATE * trial.num_ranks * 2 * errors @ inputs / len(x)
        points.append(reached[np.argmin(np.sum((reached - point) ** 2, axis=1))])
    return np.array(points)


def _even_divisions(places: list[int]) -> Iterator[list[int]]:
    """Yield all ways to give each sample a rank, when rank r has places[r] places: [0, 1] and [1, 0] for [1, 1]."""
    if not any(places):
        yield []
    for rank, free in enumerate(places):
        if free:
            left = [other - (number == rank) for number, other in enumerate(places)]
            yield from ([rank, *rest] for rest in _even_divisions(left))
