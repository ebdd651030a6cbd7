"""Compute how much time lies in at least one of several intervals, which may overlap."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


def covered_before(times: Sequence[float] | Array, intervals: Sequence[tuple[float, float]]) -> Array:
    """Return, for each of `times` (shape (num_times,)), how much of the time before it lies in at least one interval.

    An interval is a pair (begin, end) in the same unit as the times; intervals may overlap.
    Example: (1, 3) and (2, 4) cover 1 unit of the time before 2, and 3 units of the time before 9.
    """
    if not len(intervals):
        return np.zeros(len(times))
    begins, ends = np.array(sorted(intervals), float).T
    reached = np.maximum.accumulate(ends)  # the latest end of all intervals up to each one
    first = np.concatenate([[True], begins[1:] > reached[:-1]])  # it begins after all earlier ones have ended
    begins, ends = begins[first], reached[np.concatenate([first[1:], [True]])]
    covered = np.concatenate([[0.0], np.cumsum(ends - begins)])
    corners = np.stack([begins, ends], axis=1).ravel()
    result: Array = np.interp(times, corners, np.stack([covered[:-1], covered[1:]], axis=1).ravel())
    return result


def covered(intervals: Sequence[tuple[float, float]]) -> float:
    """Return how much time lies in at least one interval."""
    return float(covered_before([np.inf], intervals)[0])
