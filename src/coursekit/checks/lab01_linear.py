"""Checks of lab 01: the linear model y = slope * x + offset, its loss, gradient, update and batches.

Every check draws fresh random inputs, and compares the answer with values that are computed without the student's
formula, by plain Python sums and difference quotients.
"""

import math
from typing import Any

import numpy as np

from coursekit.checks.check import fresh_rng, require
from coursekit.checks.compare import as_array, as_list, as_number, brief, close, explained, require_close, require_equal
from coursekit.checks.on_ranks import call_answer
from coursekit.drivers import lab01 as drivers
from coursekit.drivers.calls import Answer, Array
from coursekit.errors import Cause
from coursekit.text import counted

Point = tuple[float, float]
Case = tuple[float, float, Array, Array]  # slope, offset, x, y
Batch = tuple[Array, Array]  # x, y

TOLERANCE_FLOAT32 = 1e-4
SIZES = ((12, 4), (10, 4), (5, 1), (6, 6), (5, 8), (9, 4), (1, 1))  # pairs of a number of samples and a batch size
NUM_SHUFFLED, BATCH_SHUFFLED = 200, 10  # number of samples and batch size for the check of the order
MAX_NUM_BESIDE = 25  # a random order keeps about 2 pairs of neighbours together, and this many once in 10**12 cases
LOSS_NOT_ON_TAPE = Cause(
    "a gradient is None: compute the loss inside the `with` block, from slope and offset", "tape.no-loss"
)
LOSS_IN_NUMPY = Cause(
    "the tape does not see what NumPy computes: write the loss only with TensorFlow functions, such as tf.reduce_mean",
    "tape.numpy",
)
UNCHANGED = Cause(
    "they did not change: assign the new values to them (assign_sub, or an optimiser)", "variables.unchanged"
)
TAPE_CAUSES = {"'_id'": LOSS_IN_NUMPY} | dict.fromkeys(
    ("and 'NoneType'", "value (None)", "No gradients provided"), LOSS_NOT_ON_TAPE
)


def reference_loss(slope: float, offset: float, x: Array, y: Array) -> float:
    """Return the mean of the squared errors, which are added up one sample at a time."""
    return math.fsum((slope * a + offset - b) ** 2 for a, b in zip(x.tolist(), y.tolist())) / len(x)


def reference_gradient(slope: float, offset: float, x: Array, y: Array) -> Point:
    """Return the derivatives of the loss with respect to slope and offset.

    They are central differences, which are exact because the loss is quadratic.
    """
    along_slope = reference_loss(slope + 0.5, offset, x, y) - reference_loss(slope - 0.5, offset, x, y)
    along_offset = reference_loss(slope, offset + 0.5, x, y) - reference_loss(slope, offset - 0.5, x, y)
    return along_slope, along_offset


def reference_hessian(x: Array) -> Array:
    """Return the matrix of the second derivatives of the loss, shape (2, 2).

    They are differences of central differences, which are exact because the loss is quadratic.
    """
    y = np.zeros_like(x)
    steps = ((0.5, 0.0), (0.0, 0.5))
    return np.array([np.subtract(reference_gradient(a, b, x, y), reference_gradient(-a, -b, x, y)) for a, b in steps])


def reference_limit(x: Array) -> float:
    """Return the largest stable learning rate, 2 / (largest eigenvalue of the Hessian)."""
    return 2 / float(np.linalg.eigvalsh(reference_hessian(x))[-1])


def random_case(rng: np.random.Generator, num_samples: int = 40) -> Case:
    """Return a random model and data set: slope, offset, x of shape (num_samples,) and y of the same shape."""
    x = rng.uniform(-1, 1, num_samples)
    return float(rng.normal()), float(rng.normal()), x, rng.normal(size=num_samples)


def _two_numbers(value: Any, what: str) -> Point:
    numbers = as_array(value, what).ravel()
    message = f"{what} must be two numbers, (slope, offset), not {brief(value)}"
    require(len(numbers) == 2, message, "answer.wrong-type")  # noqa: PLR2004
    return float(numbers[0]), float(numbers[1])


def check_loss(loss: Answer, seed: int | None = None) -> None:
    """The loss is the mean of the squared errors over the given samples.

    Example: the slope is 1, the offset is 0, x = (1, 2) and y = (2, 4). So the errors are -1 and -2, and the loss is
    2.5. An answer that returns 5 has computed the sum of the squares, and one that returns 1.58 has taken the root.
    """
    rng = fresh_rng(seed)
    for num_samples in (7, 40, 1):
        slope, offset, x, y = random_case(rng, num_samples)
        got, expected = as_array(loss(slope, offset, x, y), "the loss"), reference_loss(slope, offset, x, y)
        message = f"the loss must be one number, not an array of shape {np.shape(got)}: take the mean"
        require(np.ndim(got) == 0, message, "mean.missing")
        summed, of_notebook = expected * num_samples, expected * num_samples / 1000
        mistakes = {
            Cause("this is the sum of the squared errors: divide it by the number of samples", "mean.missing"): summed,
            Cause("this is the root of the mean squared error: return the mean itself", "loss.root"): np.sqrt(expected),
            Cause("it is divided by the notebook's num_samples: divide by len(x)", "loss.fixed-size"): of_notebook,
        }
        require_close(got, expected, f"the loss of {counted(num_samples, 'sample')}", "loss.wrong", mistakes)


def check_gradient(gradient: Answer, seed: int | None = None) -> None:
    """The gradient equals the difference quotients of the loss.

    Example: for the data in the example of `check_loss`, the gradient is (-5, -3). In (-3, -5), the derivatives are
    swapped; in (-2.5, -1.5), the factor 2 is missing; and (-10, -6) is the sum over the samples instead of the mean.
    """
    rng = fresh_rng(seed)
    for num_samples in (40, 7, 1):
        slope, offset, x, y = random_case(rng, num_samples)
        got = _two_numbers(gradient(slope, offset, x, y), "the gradient")
        expected = reference_gradient(slope, offset, x, y)
        swapped = not close(got, expected) and close(got, expected[::-1])
        message = "the derivatives along the slope and along the offset are swapped: return the slope's first"
        require(not swapped, message, "parameters.swapped")
        for name, one, other in zip(("slope", "offset"), got, expected):
            mistakes = {
                Cause("it has the wrong sign", "gradient.wrong-sign"): -other,
                Cause("the factor 2 from the square is missing", "square.no-factor"): other / 2,
                Cause("this is the sum: take the mean over the samples", "mean.missing"): other * num_samples,
                Cause("the inner derivative, x, is missing", "gradient.no-inner-derivative"): expected[1],
            }
            require_close(one, other, f"the derivative of the loss along the {name}", "gradient.wrong", mistakes)


def _step_of(case: Case, learning_rate: float) -> tuple[Array, dict[Cause, Any]]:
    """Return the point (slope, offset) after a right step, and the point to which each common mistake leads.

    Example: at the point (1, 2), the gradient is (3, 4). With the rate 0.1, a step leads to (0.7, 1.6); a step that
    adds the gradient instead of subtracting it leads to (1.3, 2.4).
    """
    slope, offset, x, y = case
    start, down = np.array((slope, offset)), np.array(reference_gradient(*case))
    move = learning_rate * down
    new_slope = slope - move[0]
    mixed = (new_slope, offset - learning_rate * reference_gradient(new_slope, offset, x, y)[1])
    return start - move, {
        Cause("it went uphill: subtract the gradient", "gradient.wrong-sign"): start + move,
        Cause("the two derivatives are swapped", "parameters.swapped"): start - move[::-1],
        Cause("the gradient is summed over the samples: take the mean", "mean.missing"): start - len(x) * move,
        Cause("the factor 2 from the square is missing", "square.no-factor"): start - move / 2,
        Cause("the learning rate is missing", "rate.missing"): start - down,
        Cause("this is only the change: add it to the old values", "step.change-alone"): -move,
        Cause(
            "the second gradient was taken after the first parameter had changed: take both gradients first",
            "step.one-by-one",
        ): mixed,
    }


def check_step(step: Answer, gradient: Answer, seed: int | None = None) -> None:
    """One update subtracts the learning rate times the gradient.

    A step that follows the student's own gradient also counts as right, so a wrong gradient costs points only once.
    The check calls `gradient` before `step`, so that the gradient cannot be computed from the step's result. A gradient
    that does not depend on the data does not count.
    """
    rng, rates = fresh_rng(seed), (0.0, 0.1, 0.7)
    cases = [random_case(rng) for _ in rates]
    gradients = [as_array(gradient(*case), "the gradient") for case in cases]
    depends_on_data = len({own.tobytes() for own in gradients}) == len(cases)
    for learning_rate, case, own in zip(rates, cases, gradients):
        result = step(*case, learning_rate)
        if depends_on_data and _follows(as_array(result, "the result of step"), own, case[:2], learning_rate):
            continue
        got, (expected, mistakes) = _two_numbers(result, "the result of step"), _step_of(case, learning_rate)
        what = f"(slope, offset) after a step with learning rate {learning_rate:g}"
        require_close(got, expected, what, "step.wrong", mistakes)


def _follows(got: Array, own: Array, start: Point, learning_rate: float) -> bool:
    """Return whether a step followed the student's own gradient, whatever the gradient's shape is.

    Unless the learning rate is zero, the step must also have moved the point.
    """
    if got.shape != own.shape or own.shape[:1] != (2,):
        return False
    there = np.array(start) - learning_rate * own.T
    return close(got.T, there) and not (learning_rate and close(there, start))


def check_batches(batches: Answer, seed: int | None = None) -> None:
    """In each epoch, the batches hold every pair of x and y exactly once, in a new order that is drawn from rng.

    Example: if the batch size is 4, 9 samples make batches of 4, 4 and 1 samples. If the last batch is left out, one
    sample is missing.
    """
    rng = fresh_rng(seed)
    for num_samples, batch_size in SIZES:
        x = np.arange(num_samples, dtype=float)
        y = rng.permutation(100 + x)
        [found] = _epochs(batches, (x, y), batch_size, int(rng.integers(2**31)), num_epochs=1)
        _check_epoch(found, y, batch_size)
    x, rng_seed = np.arange(float(NUM_SHUFFLED)), int(rng.integers(2**31))
    epochs = _epochs(batches, (x, x), BATCH_SHUFFLED, rng_seed, num_epochs=2)
    epochs += _epochs(batches, (x, x), BATCH_SHUFFLED, rng_seed, num_epochs=1)
    first, second, again = (np.concatenate([a for a, _ in found] or [x[:0]]) for found in epochs)
    require(not np.array_equal(first, x), "the samples are in their original order: shuffle them", "order.not-shuffled")
    message = "every epoch has the same order: draw a new permutation from rng"
    require(not np.array_equal(first, second), message, "order.repeated")
    num_beside = max(int(np.sum(np.abs(np.diff(order)) == 1)) for order in (first, second))
    got = f"expected about 2 such pairs among {counted(NUM_SHUFFLED, 'sample')}, got {num_beside}"
    message = f"neighbouring samples stay together: {got}: shuffle all samples first, then cut them into batches"
    require(num_beside < MAX_NUM_BESIDE, message, "order.neighbours")
    message = "two generators with the same seed gave different batches: draw the order from rng, not from np.random"
    require(np.array_equal(first, again), message, "order.not-seeded")


def _check_epoch(found: list[Batch], y: Array, batch_size: int) -> None:
    """Check the batches of one epoch, in which the samples have x = 0, 1, ..., and `y` holds the matching values."""
    num_samples = len(y)
    head = f"{counted(num_samples, 'sample')} with batch size {batch_size}"
    used = [sample for a, _ in found for sample in a.tolist()]
    require(sorted(used) != sorted(y.tolist()), "a batch must be the pair (x, y), but this is (y, x)", "batch.swapped")
    counts = {sample: used.count(sample) for sample in [*range(num_samples), *used]}
    odd = [f"{n} of sample {sample:g}" for sample, n in counts.items() if n != 1 or sample not in range(num_samples)]
    require(not odd, f"{head}: expected every sample exactly once, got {', '.join(odd[:5])}", "samples.not-once")
    sizes = [len(a) for a, _ in found]
    num_full, num_left = divmod(num_samples, batch_size)
    expected = [batch_size] * num_full + [num_left] * (num_left > 0)
    require(sizes == expected, f"{head}: expected batches of {expected}, got {sizes}", "batches.wrong-size")
    together = all(np.array_equal(b, y[a.astype(int)]) for a, b in found)
    message = "x and y no longer match: draw one order, and use it for both"
    require(together, message, "labels.mismatched")


def _epochs(batches: Answer, data: Batch, batch_size: int, seed: int, num_epochs: int) -> list[list[Batch]]:
    """Return the list of batches of each epoch; a batch is a pair of one-dimensional arrays, x and y."""
    reply = call_answer(drivers.epochs, batches, data, batch_size, seed, num_epochs)
    for name, values, given in zip("xy", reply["data"], data):
        message = f"batches changed the {name} that it was given: shuffle a copy, or shuffle indices"
        require(np.array_equal(values, given), message, "data.changed")
    epochs = [[_pair(batch) for batch in epoch] for epoch in reply["epochs"]]
    message = f"expected the batches to end after {counted(len(data[0]), 'sample')}, got more batches than samples"
    require(max(map(len, epochs)) <= len(data[0]), message, "data.endless")
    return epochs


def _pair(batch: Any) -> Batch:
    parts = as_list(batch, "a batch")
    message = f"a batch must be a pair of arrays, (x, y), not {brief(batch)}"
    require(len(parts) == 2, message, "answer.wrong-type")  # noqa: PLR2004
    x, y = (np.atleast_1d(as_array(part, "a batch")).ravel() for part in parts)
    return x, y


def check_num_updates(num_updates: Answer, seed: int | None = None) -> None:
    """The number of updates includes the last, smaller batch of every epoch.

    Example: with 9 samples in batches of 4, each epoch takes 3 updates. So 2 epochs take 6 updates, and not
    2 * 9 // 4 = 4.
    """
    rng = fresh_rng(seed)
    cases = [(1000, 1, 1), (1000, 100, 3), (1000, 1000, 7), (9, 4, 2), (10, 4, 2), (11, 4, 3), (5, 8, 2), (9, 4, 0)]
    cases += [tuple(int(n) for n in rng.integers(1, 200, 3)) for _ in range(5)]  # type: ignore[misc]
    for num_samples, batch_size, num_epochs in cases:
        got = as_number(num_updates(num_samples, batch_size, num_epochs), "the number of updates")
        words = f"{counted(num_samples, 'sample')}, batch size {batch_size}, {counted(num_epochs, 'epoch')}"
        expected = float(num_epochs * len(range(0, num_samples, batch_size)))
        require_equal(got, expected, f"the number of updates for {words}", "updates.wrong-number")


def check_tape_step(tape_step: Answer, seed: int | None = None) -> None:
    """The step with a gradient tape changes the variables as the formula does, and returns the loss before the step."""
    rng = fresh_rng(seed)
    cases = [(*random_case(rng, num_samples), rate) for num_samples, rate in ((40, 0.1), (40, 0.4), (1, 0.1))]
    with explained(TAPE_CAUSES):
        steps = call_answer(drivers.tape_steps, tape_step, cases)
    require(len(steps) == len(cases), f"expected {len(cases)} steps, got {len(steps)}", "answer.wrong-number")
    for case, step in zip(cases, steps):
        slope, offset, x, y, learning_rate = case
        expected, mistakes = _step_of((slope, offset, x, y), learning_rate)
        got = _two_numbers(step["variables"], "the variables")
        mistakes[UNCHANGED] = (slope, offset)
        what = f"the variables after a step with learning rate {learning_rate}"
        require_close(got, expected, what, "step.wrong", mistakes, tolerance=TOLERANCE_FLOAT32)
        require(step["loss"] is not None, "tape_step must return the loss", "answer.wrong-type")
        loss, before = as_number(step["loss"], "the loss"), reference_loss(slope, offset, x, y)
        what = "tape_step must return the loss before the update"
        require_close(loss, before, what, "loss.not-before-update", tolerance=TOLERANCE_FLOAT32)
