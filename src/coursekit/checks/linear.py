"""Checks of lab 01: the linear model y = slope * x + offset, its loss, gradient, update and stability limit.

Every check draws fresh random inputs and compares with something that is not the student's formula:
plain Python sums, difference quotients, eigenvalues.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from coursekit.checks.check import require
from coursekit.checks.linear_math import (
    Array,
    Point,
    reference_gradient,
    reference_hessian,
    reference_limit,
    reference_loss,
    step_with_old_slope_lost,
)
from coursekit.checks.on_ranks import call_here
from coursekit.checks.plain_numbers import as_array, as_list, as_number, told
from coursekit.checks.random_inputs import fresh_rng
from coursekit.drivers import linear as drivers

if TYPE_CHECKING:
    from collections.abc import Callable

TOLERANCE = 1e-6  # double precision leaves far less; a wrong formula is off by far more
TOLERANCE_FLOAT32 = 1e-4


def random_case(rng: np.random.Generator, num_samples: int = 40) -> tuple[float, float, Array, Array]:
    """Return a random model and data set: slope, offset, x of shape (num_samples,) and y of the same shape."""
    x = rng.uniform(-1, 1, num_samples)
    return float(rng.normal()), float(rng.normal()), x, rng.normal(size=num_samples)


def _close(got: Any, expected: Any, tolerance: float = TOLERANCE) -> bool:
    return bool(np.allclose(np.asarray(got, dtype=float), expected, rtol=tolerance, atol=tolerance))


def _two_numbers(value: Any, what: str) -> Point:
    numbers = as_array(value, what).ravel()
    require(len(numbers) == 2, f"{what} must be two numbers, (slope, offset), not {told(value)}")  # noqa: PLR2004
    return float(numbers[0]), float(numbers[1])


def check_loss(loss: Callable[..., Any], seed: int | None = None) -> None:
    """The loss is the mean of the squared errors over the samples given."""
    rng = fresh_rng(seed)
    for num_samples in (1, 7, 40):
        slope, offset, x, y = random_case(rng, num_samples)
        got, expected = as_array(loss(slope, offset, x, y), "the loss"), reference_loss(slope, offset, x, y)
        require(np.ndim(got) == 0, f"the loss must be one number, not an array of shape {np.shape(got)}: take the mean")
        is_sum = num_samples > 1 and _close(got, expected * num_samples)
        require(not is_sum, "this is the sum of the squared errors: divide by the number of samples")
        require(_close(got, expected), f"for {num_samples} samples the loss is {float(got):.6g}, not {expected:.6g}")


def check_gradient(gradient: Callable[..., Any], seed: int | None = None) -> None:
    """The gradient equals the difference quotients of the loss."""
    rng = fresh_rng(seed)
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
    It is asked first, or it could be made from what the step returned, and counts if it is another for other data.
    """
    rng = fresh_rng(seed)
    rates = (0.0, 0.1, 0.7)
    cases = [random_case(rng) for _ in rates]
    gradients = [_two_numbers(gradient(*case), "the gradient") for case in cases]
    depends_on_data = len(set(gradients)) == len(cases)
    for learning_rate, (slope, offset, x, y), own in zip(rates, cases, gradients):
        got = _two_numbers(step(slope, offset, x, y, learning_rate), "the result of step")
        moves = not learning_rate or not _close(got, (slope, offset))
        as_own_says = _close(got, (slope - learning_rate * own[0], offset - learning_rate * own[1]))
        if depends_on_data and moves and as_own_says:
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


def check_batches(batches: Callable[..., Any], seed: int | None = None) -> None:
    """One epoch of batches holds every sample exactly once, pairs kept, in an order that changes."""
    rng = fresh_rng(seed)
    for num_samples, batch_size in ((12, 4), (10, 4), (5, 1), (6, 6)):
        x = np.arange(num_samples, dtype=float)
        y = rng.permutation(100 + x)
        [found] = _epochs(batches, (x, y), batch_size, rng, num_epochs=1)
        sizes = [len(a) for a, _ in found]
        expected = [batch_size] * (num_samples // batch_size)
        expected += [num_samples % batch_size] if num_samples % batch_size else []
        used = sorted(np.concatenate([a for a, _ in found]).tolist()) if found else []
        require(
            used == x.tolist(),
            f"one epoch over {num_samples} samples with batch size {batch_size} must use every sample exactly once, "
            f"but it used {[f'{sample:g}' for sample in used[: 2 * num_samples]]}",
        )
        require(sizes == expected, f"{num_samples} samples with batch size {batch_size} make batches of {sizes}")
        together = all(np.array_equal(b, y[a.astype(int)]) for a, b in found)
        require(together, "x and y no longer belong together: shuffle both")
    x = np.arange(50.0)
    two_epochs = _epochs(batches, (x, x), 10, rng, num_epochs=2)
    first, second = (np.concatenate([a for a, _ in found] or [x[:0]]) for found in two_epochs)
    require(not np.array_equal(first, x), "the samples come in their old order: shuffle them")
    require(not np.array_equal(first, second), "every epoch comes in the same order: draw a new permutation from rng")


def _epochs(
    batches: Callable[..., Any], data: tuple[Array, Array], batch_size: int, rng: np.random.Generator, num_epochs: int
) -> list[list[tuple[Array, Array]]]:
    """Return the batches of each epoch, every one a pair of arrays with one axis."""
    seed = int(rng.integers(2**31))
    found: list[list[tuple[Array, Array]]] = []
    for epoch in as_list(call_here(drivers.epochs, batches, data, batch_size, seed, num_epochs), "the epochs"):
        found.append([])
        for batch in as_list(epoch, "one epoch"):
            pair = [np.atleast_1d(as_array(part, "a batch")).ravel() for part in as_list(batch, "a batch")]
            require(len(pair) == 2, f"a batch must be a pair, (x, y), not {told(batch)}")  # noqa: PLR2004
            found[-1].append((pair[0], pair[1]))
    return found


def check_num_updates(num_updates: Callable[..., Any], seed: int | None = None) -> None:
    """The number of updates counts the last, smaller batch of every epoch."""
    rng = fresh_rng(seed)
    cases = [(1000, 1, 1), (1000, 100, 3), (1000, 1000, 7), (10, 4, 2)]
    cases += [tuple(int(n) for n in rng.integers(1, 200, 3)) for _ in range(5)]  # type: ignore[misc]
    for num_samples, batch_size, num_epochs in cases:
        expected = num_epochs * len(range(0, num_samples, batch_size))
        got = as_number(num_updates(num_samples, batch_size, num_epochs), "the number of updates")
        require(
            got == expected,
            f"{num_samples} samples, batch size {batch_size}, {num_epochs} epochs make {expected} updates, not {got:g}",
        )


def check_tape_step(tape_step: Callable[..., Any], seed: int | None = None) -> None:
    """The step with a gradient tape changes the variables as the formula does, and returns the loss before it."""
    rng = fresh_rng(seed)
    cases = [(*random_case(rng), learning_rate) for learning_rate in (0.1, 0.4)]
    steps = as_list(call_here(drivers.tape_steps, tape_step, cases), "the steps")
    require(len(steps) == len(cases), f"{len(cases)} steps were asked for, not {len(steps)}")
    for case, step in zip(cases, steps):
        slope, offset, x, y, learning_rate = case
        down = reference_gradient(slope, offset, x, y)
        expected = (slope - learning_rate * down[0], offset - learning_rate * down[1])
        got = _two_numbers(step["variables"], "the variables")
        moved = not _close(got, (slope, offset), TOLERANCE_FLOAT32)
        require(moved, "the variables did not change: assign the new values to them (assign_sub, or an optimiser)")
        right = _close(got, expected, TOLERANCE_FLOAT32)
        require(right, f"with learning rate {learning_rate} the variables became {got}, the formula says {expected}")
        require(step["loss"] is not None, "tape_step must return the loss")
        got_loss, expected_loss = as_number(step["loss"], "the loss"), reference_loss(slope, offset, x, y)
        right = _close(got_loss, expected_loss, TOLERANCE_FLOAT32)
        require(right, f"tape_step must return the loss before the update, {expected_loss:.6g}, not {got_loss:.6g}")


def check_is_stable(is_stable: Callable[..., Any], seed: int | None = None) -> None:
    """The experiment tells stable from unstable learning rates on data sets with different limits."""
    rng = fresh_rng(seed)
    cases = [(spread, factor) for spread in (0.5, 1.0, 3.0) for factor in (0.3, 0.9, 1.1, 2.0)]
    for spread, factor in rng.permutation(cases):
        x = spread * rng.uniform(-1, 1, 200)
        y = 2 * x + rng.uniform(-0.5, 0.5, 200)
        got = bool(as_number(is_stable(factor * reference_limit(x), x, y), "the result of is_stable"))
        require(
            got == (factor < 1),
            f"with a learning rate of {factor:g} times the limit of this data set training is "
            f"{'stable' if factor < 1 else 'unstable'}, but is_stable says {got}",
        )


def check_hessian(hessian: Callable[..., Any], seed: int | None = None) -> None:
    """The Hessian equals the second difference quotients of the loss."""
    rng = fresh_rng(seed)
    for _ in range(3):
        x = rng.uniform(-2, 3, 30)
        got = as_array(hessian(x), "the Hessian")
        expected = reference_hessian(x)
        require(got.shape == (2, 2), f"the Hessian of two parameters is a 2 x 2 matrix, not of shape {got.shape}")
        require(not _close(got, expected / 2), "the Hessian lacks the factor 2 of the square")
        require(_close(got, expected), f"the Hessian is {got.tolist()}, difference quotients say {expected.tolist()}")


def _limit_of(hessian: Array) -> float:
    """Return the limit that a student's own Hessian gives; nan where it gives none."""
    if hessian.shape != (2, 2) or not np.isfinite(hessian).all():
        return math.nan
    largest = float(np.max(np.linalg.eigvals(hessian).real))
    return 2 / largest if largest > 0 else math.nan


def check_largest_stable_rate(
    largest_stable_rate: Callable[..., Any], hessian: Callable[..., Any], seed: int | None = None
) -> None:
    """The limit is two over the largest eigenvalue of the Hessian, or of the student's own Hessian.

    That is asked first, and counts if it is another for other data, as in `check_step`.
    """
    rng = fresh_rng(seed)
    intervals = ((-0.5, 0.5), (-2.0, 3.0), (1.0, 4.0))
    cases = [rng.uniform(low, high, 100) for low, high in intervals]
    own_limits = [_limit_of(as_array(hessian(x), "the Hessian")) for x in cases]
    depends_on_data = len(set(own_limits)) == len(cases)
    for (low, high), x, own in zip(intervals, cases, own_limits):
        got, expected = as_number(largest_stable_rate(x), "the limit"), reference_limit(x)
        if _close(got, expected) or (depends_on_data and _close(got, own)):
            continue
        smallest = 2 / float(np.linalg.eigvalsh(reference_hessian(x))[0])
        require(not _close(got, smallest), "this is the limit of the flattest direction: the steepest one decides")
        require(
            _close(got, expected),
            f"for x between {low} and {high} the limit is {expected:.6g}, not {got:.6g}: the steepest side decides",
        )
