"""What is true of the linear model of lab 01, by other ways than the formulas that students write.

Plain Python sums, difference quotients, eigenvalues.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
Point = tuple[float, float]


def reference_loss(slope: float, offset: float, x: Array, y: Array) -> float:
    """Return the mean squared error, added up sample by sample."""
    return math.fsum((slope * a + offset - b) ** 2 for a, b in zip(x.tolist(), y.tolist())) / len(x)


def reference_gradient(slope: float, offset: float, x: Array, y: Array) -> Point:
    """Return the loss's slope along both parameters by central differences, exact for a quadratic."""
    h = 0.5
    along_slope = reference_loss(slope + h, offset, x, y) - reference_loss(slope - h, offset, x, y)
    along_offset = reference_loss(slope, offset + h, x, y) - reference_loss(slope, offset - h, x, y)
    return along_slope / (2 * h), along_offset / (2 * h)


def step_with_old_slope_lost(slope: float, offset: float, x: Array, y: Array, learning_rate: float) -> Point:
    """Return where a step leads that updates the slope before it takes the offset's gradient: a common slip."""
    new_slope = slope - learning_rate * reference_gradient(slope, offset, x, y)[0]
    return new_slope, offset - learning_rate * reference_gradient(new_slope, offset, x, y)[1]


def reference_hessian(x: Array) -> Array:
    """Return the second derivatives of the loss, shape (2, 2), by differences of differences, exact for a quadratic."""
    y = np.zeros_like(x)
    columns = []
    for point in ((1.0, 0.0), (0.0, 1.0)):
        plus, minus = reference_gradient(*point, x, y), reference_gradient(-point[0], -point[1], x, y)
        columns.append([(a - b) / 2 for a, b in zip(plus, minus)])
    return np.array(columns).T


def reference_limit(x: Array) -> float:
    """Return the largest stable learning rate, 2 / (largest eigenvalue of the Hessian)."""
    return 2 / float(np.linalg.eigvalsh(reference_hessian(x))[-1])
