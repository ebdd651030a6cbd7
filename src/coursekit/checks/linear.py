"""Checks of lab 01: the linear model y = slope * x + offset, its loss, gradient, update and stability limit.

Every check draws fresh random inputs and compares with something that is not the student's formula:
plain Python sums, difference quotients, eigenvalues.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from coursekit.checks.check import require

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

Array = np.ndarray[Any, Any]
Point = tuple[float, float]

TOLERANCE = 1e-6  # double precision leaves far less; a wrong formula is off by far more
TOLERANCE_FLOAT32 = 1e-4


def random_case(rng: np.random.Generator, num_samples: int = 40) -> tuple[float, float, Array, Array]:
    """Return a random model and data set: slope, offset, x of shape (num_samples,) and y of the same shape."""
    x = rng.uniform(-1, 1, num_samples)
    return float(rng.normal()), float(rng.normal()), x, rng.normal(size=num_samples)


def reference_loss(slope: float, offset: float, x: Array, y: Array) -> float:
    """Return the mean squared error, added up sample by sample."""
    return math.fsum((slope * a + offset - b) ** 2 for a, b in zip(x.tolist(), y.tolist())) / len(x)


def reference_gradient(slope: float, offset: float, x: Array, y: Array) -> Point:
    """Return the loss's slope along both parameters by central differences, exact for a quadratic."""
    h = 0.5
    along_slope = reference_loss(slope + h, offset, x, y) - reference_loss(slope - h, offset, x, y)
    along_offset = reference_loss(slope, offset + h, x, y) - reference_loss(slope, offset - h, x, y)
    return along_slope / (2 * h), along_offset / (2 * h)


def _close(got: Any, expected: Any, tolerance: float = TOLERANCE) -> bool:
    return bool(np.allclose(np.asarray(got, dtype=float), expected, rtol=tolerance, atol=tolerance))


def _two_numbers(value: Any, what: str) -> Point:
    try:
        first, second = value
        return float(first), float(second)
    except (TypeError, ValueError):
        require(condition=False, message=f"{what} must be two numbers, (slope, offset), not {value!r}")
        raise


def check_loss(loss: Callable[..., Any], seed: int | None = None) -> None:
    """The loss is the mean of the squared errors over the samples given."""
    rng = np.random.default_rng(seed)
    for num_samples in (1, 7, 40):
        slope, offset, x, y = random_case(rng, num_samples)
        got, expected = loss(slope, offset, x, y), reference_loss(slope, offset, x, y)
        require(np.ndim(got) == 0, f"the loss must be one number, not an array of shape {np.shape(got)}: take the mean")
        if _close(got, expected * num_samples) and num_samples > 1:
            require(condition=False, message="this is the sum of the squared errors: divide by the number of samples")
        require(_close(got, expected), f"for {num_samples} samples the loss is {float(got):.6g}, not {expected:.6g}")


def check_gradient(gradient: Callable[..., Any], seed: int | None = None) -> None:
    """The gradient equals the difference quotients of the loss."""
    rng = np.random.default_rng(seed)
    for num_samples in (1, 7, 40):
        slope, offset, x, y = random_case(rng, num_samples)
        got = _two_numbers(gradient(slope, offset, x, y), "the gradient")
        expected = reference_gradient(slope, offset, x, y)
        for name, one, other in zip(("slope", "offset"), got, expected):
            require(not (_close(one, -other) and other), f"the derivative along the {name} has the wrong sign")
            require(not _close(one, other / 2), f"the derivative along the {name} lacks the factor 2 of the square")
            require(
                _close(one, other),
                f"the derivative along the {name} is {one:.6g}, the difference quotient of the loss says {other:.6g}",
            )


def check_step(step: Callable[..., Any], gradient: Callable[..., Any], seed: int | None = None) -> None:
    """One update goes down the gradient by the learning rate.

    A step that is right for the student's own gradient is right: a wrong gradient costs its points once.
    """
    rng = np.random.default_rng(seed)
    for learning_rate in (0.0, 0.1, 0.7):
        slope, offset, x, y = random_case(rng)
        got = _two_numbers(step(slope, offset, x, y, learning_rate), "the result of step")
        own = gradient(slope, offset, x, y)
        if _close(got, (slope - learning_rate * own[0], offset - learning_rate * own[1])):
            continue
        down = reference_gradient(slope, offset, x, y)
        expected = (slope - learning_rate * down[0], offset - learning_rate * down[1])
        uphill = (slope + learning_rate * down[0], offset + learning_rate * down[1])
        require(not learning_rate or not _close(got, uphill), "the step goes uphill: subtract the gradient")
        mixed = step_with_old_slope_lost(slope, offset, x, y, learning_rate)
        require(
            not learning_rate or not _close(got, mixed),
            "the second parameter was updated with the gradient at the new first one: take both gradients first",
        )
        require(_close(got, expected), f"with learning rate {learning_rate} the step leads to {got}, not to {expected}")


def step_with_old_slope_lost(slope: float, offset: float, x: Array, y: Array, learning_rate: float) -> Point:
    """Return where a step leads that updates the slope before it takes the offset's gradient: a common slip."""
    new_slope = slope - learning_rate * reference_gradient(slope, offset, x, y)[0]
    return new_slope, offset - learning_rate * reference_gradient(new_slope, offset, x, y)[1]


def check_batches(batches: Callable[..., Iterable[tuple[Array, Array]]], seed: int | None = None) -> None:
    """One epoch of batches holds every sample exactly once, pairs kept, in an order that changes."""
    rng = np.random.default_rng(seed)
    for num_samples, batch_size in ((12, 4), (10, 4), (5, 1), (6, 6)):
        x = np.arange(num_samples, dtype=float)
        y = 100 + x
        found = [(np.array(a), np.array(b)) for a, b in batches(x, y, batch_size, rng)]
        sizes = [len(a) for a, _ in found]
        expected = [batch_size] * (num_samples // batch_size)
        expected += [num_samples % batch_size] if num_samples % batch_size else []
        in_order = np.concatenate([a for a, _ in found]) if found else np.zeros(0)
        require(
            sorted(in_order.tolist()) == x.tolist(),
            f"one epoch over {num_samples} samples with batch size {batch_size} must use every sample exactly once, "
            f"but it used {sorted(in_order.astype(int).tolist())}",
        )
        require(sizes == expected, f"{num_samples} samples with batch size {batch_size} make batches of {sizes}")
        require(all(np.array_equal(b, a + 100) for a, b in found), "x and y no longer belong together: shuffle both")
    x = np.arange(50.0)
    first, second = (np.concatenate([a for a, _ in batches(x, x, 10, rng)]) for _ in range(2))
    require(not np.array_equal(first, x), "the samples come in their old order: shuffle them")
    require(not np.array_equal(first, second), "every epoch comes in the same order: draw a new permutation from rng")


def check_num_updates(num_updates: Callable[..., Any], seed: int | None = None) -> None:
    """The number of updates counts the last, smaller batch of every epoch."""
    rng = np.random.default_rng(seed)
    cases = [(1000, 1, 1), (1000, 100, 3), (1000, 1000, 7), (10, 4, 2)]
    cases += [tuple(int(n) for n in rng.integers(1, 200, 3)) for _ in range(5)]  # type: ignore[misc]
    for num_samples, batch_size, num_epochs in cases:
        expected = num_epochs * len(range(0, num_samples, batch_size))
        got = num_updates(num_samples, batch_size, num_epochs)
        require(
            got == expected,
            f"{num_samples} samples, batch size {batch_size}, {num_epochs} epochs make {expected} updates, not {got}",
        )


def check_tape_step(tape_step: Callable[..., Any], seed: int | None = None) -> None:
    """The step with a gradient tape changes the variables as the formula does, and returns the loss before it."""
    import tensorflow as tf  # noqa: PLC0415  # only this check needs it

    rng = np.random.default_rng(seed)
    for learning_rate in (0.1, 0.4):
        slope, offset, x, y = random_case(rng)
        variables = tf.Variable(slope, dtype=tf.float32), tf.Variable(offset, dtype=tf.float32)
        data = tf.constant(x, tf.float32), tf.constant(y, tf.float32)
        got_loss = tape_step(*variables, *data, learning_rate)
        down = reference_gradient(slope, offset, x, y)
        expected = (slope - learning_rate * down[0], offset - learning_rate * down[1])
        got = tuple(float(variable.numpy()) for variable in variables)
        require(
            not _close(got, (slope, offset), TOLERANCE_FLOAT32),
            "the variables did not change: assign the new values to them (assign_sub, or an optimiser)",
        )
        require(
            _close(got, expected, TOLERANCE_FLOAT32),
            f"with learning rate {learning_rate} the variables became {got}, the formula says {expected}",
        )
        require(got_loss is not None, "tape_step must return the loss")
        expected_loss = reference_loss(slope, offset, x, y)
        require(
            _close(got_loss, expected_loss, TOLERANCE_FLOAT32),
            f"tape_step must return the loss before the update, {expected_loss:.6g}, not {got_loss}",
        )


def check_is_stable(is_stable: Callable[..., Any], seed: int | None = None) -> None:
    """The experiment tells stable from unstable learning rates on data sets with different limits."""
    rng = np.random.default_rng(seed)
    for spread in (0.5, 1.0, 3.0):
        x = spread * rng.uniform(-1, 1, 200)
        y = 2 * x + rng.uniform(-0.5, 0.5, 200)
        limit = reference_limit(x)
        for factor, expected in ((0.3, True), (0.9, True), (1.1, False), (2.0, False)):
            got = bool(is_stable(factor * limit, x, y))
            require(
                got == expected,
                f"with a learning rate of {factor} times the limit of this data set training is "
                f"{'stable' if expected else 'unstable'}, but is_stable says {got}",
            )


def check_hessian(hessian: Callable[..., Any], seed: int | None = None) -> None:
    """The Hessian equals the second difference quotients of the loss."""
    rng = np.random.default_rng(seed)
    for _ in range(3):
        x = rng.uniform(-2, 3, 30)
        got = np.asarray(hessian(x), dtype=float)
        expected = reference_hessian(x)
        require(got.shape == (2, 2), f"the Hessian of two parameters is a 2 x 2 matrix, not of shape {got.shape}")
        require(not _close(got, expected / 2), "the Hessian lacks the factor 2 of the square")
        require(_close(got, expected), f"the Hessian is {got.tolist()}, difference quotients say {expected.tolist()}")


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


def check_largest_stable_rate(
    largest_stable_rate: Callable[..., Any],
    hessian: Callable[..., Any],
    seed: int | None = None,
) -> None:
    """The limit is two over the largest eigenvalue of the Hessian, or of the student's own Hessian."""
    rng = np.random.default_rng(seed)
    for low, high in ((-0.5, 0.5), (-2.0, 3.0), (1.0, 4.0)):
        x = rng.uniform(low, high, 100)
        got, expected = float(largest_stable_rate(x)), reference_limit(x)
        if _close(got, 2 / np.max(np.linalg.eigvals(hessian(x)).real)):
            continue
        smallest = 2 / float(np.linalg.eigvalsh(reference_hessian(x))[0])
        require(not _close(got, smallest), "this is the limit of the flattest direction: the steepest one decides")
        require(
            _close(got, expected),
            f"for x between {low} and {high} the limit is {expected:.6g}, not {got:.6g}: the steepest side decides",
        )
