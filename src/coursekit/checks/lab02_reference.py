"""The exact reference of lab 02: whole runs are compared with plain SGD on the mean squared error, up to rounding.

In the long run, all samples of a rank are one point, so NumPy can compute each step from the place before it. Even a
small addition to plain SGD shows in some step: weight decay, gradient clipping, a cap on the rate, or a schedule.
In the real run, a rank has a few points, and the samples of a batch depend on how shards are made and shuffled.
So a step of the real run is right if some batches of the right sizes explain it.
Example: two samples have x = (0, 1) and the targets y = (1, 3). At (0, 0), the gradient of the mean squared error is
(-3, -4), so one process steps to (0.24, 0.32) with the rate 0.08. A rank that uses only the second sample would step to
(0.48, 0.48).
"""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from operator import itemgetter

import numpy as np

from coursekit.checks.check import CheckError, require
from coursekit.checks.compare import Array, expected_and_got, shown
from coursekit.checks.lab02_inputs import NUM_EPOCHS, NUM_KINDS, RATE, REAL_BATCH_SIZE, REAL_SHARE, STEPS_PER_EPOCH
from coursekit.checks.lab02_readings import FINE_RATE, MEAN, gradients, read_updates
from coursekit.checks.lab02_trial import TrainingTrial

ROUNDING = 2.0**-20  # part of the largest number in a step: 16 times the error of 32 bits; right answers need a quarter


def check_long(trial: TrainingTrial, shares: Array) -> None:
    """Every step of the long run is minus the scaled rate times the ranks' gradients, weighted by these shares."""
    history, points, first = trial.history("long"), trial.inputs.long, trial.first_row("long")
    rate = trial.inputs.rates()["long"] * trial.num_ranks
    for step in range(first, history.shape[1] - 1):
        places, after = history[:, step], history[:, step + 1]
        downhill = shares @ gradients(places, points)
        is_right = np.abs((places - after) / rate - downhill) <= _rounding(places, points, rate)
        for rank in np.flatnonzero(~is_right.all(axis=1))[:1]:
            values = expected_and_got(after[rank], places[rank] - rate * downhill[rank], shown)
            which = f"step {step + 1} of {history.shape[1] - 1} on rank {rank} in a training with a larger rate"
            raise CheckError(f"{which} differs from plain SGD on the mean squared error: {values}", "updates.not-plain")


def _rounding(places: Array, points: Array, rate: float) -> Array:
    """Return the error that rounding to 32 bits may cause in the gradients that are read off these places."""
    (x, y), largest = points.T, np.max(np.abs(places), axis=0)
    sizes = 2 * (np.abs(largest[0] * x) + largest[1] + np.abs(y))
    return np.asarray(ROUNDING * (np.abs(places) / rate + np.mean([sizes * np.abs(x), sizes], axis=1)))


def check_real(trial: TrainingTrial) -> None:
    """Every step of the real run, on every rank, equals the step of one process with the batches of all ranks."""
    rate = RATE * trial.num_ranks
    for step in _real_steps(trial, rate, _sizes_of_last(trial.num_ranks)):
        tolerance = _tolerance(trial, step.places, rate, 0.0)
        got = (step.places - step.after) / rate
        for rank in np.flatnonzero((np.abs(got - step.downhill) > tolerance).any(axis=1))[:1]:
            values = expected_and_got(step.after[rank], step.places[rank] - rate * step.downhill, shown)
            which = f"rank {rank} after step {step.number}"
            raise CheckError(f"{which} is not where one process with all batches is: {values}", "updates.not-serial")


def check_rest(trial: TrainingTrial) -> None:
    """The shards of the real run, whose samples do not divide evenly among the ranks, are neither cut nor padded.

    The check is skipped if gradients are not averaged, or are sent in 16 bits, because too many batches would explain
    a step.
    """
    reading, where = read_updates(trial), f"of {len(trial.inputs.kinds)} samples on {trial.num_ranks} ranks"
    is_usual = trial.history("real").shape[1] - 1 == NUM_EPOCHS["real"] * STEPS_PER_EPOCH["real"]
    if trial.stuck or reading.source != MEAN or not reading.is_fine or not is_usual:
        return
    cut = np.full((1, trial.num_ranks), REAL_SHARE - REAL_BATCH_SIZE)
    if _explains(trial, _sizes_of_last(trial.num_ranks), is_complete=True):
        return
    message = f"the shards are not complete: {where}, the remainder is used by no rank"
    require(not _explains(trial, cut), message, "shards.cut")
    message = f"the shards are not disjoint: {where}, shorter shards are padded with repeated samples"
    require(not _explains(trial, cut + 1), message, "shards.padded")


def _explains(trial: TrainingTrial, sizes_of_last: Array, *, is_complete: bool = False) -> bool:
    """Return whether batches explain all steps if an epoch's last batches have one of these combinations of sizes.

    If `is_complete`, these batches must also add up to whole epochs of all samples.
    """
    rate, per_epoch = float(np.mean(read_updates(trial).rates)), STEPS_PER_EPOCH["real"]
    steps = list(_real_steps(trial, rate, sizes_of_last))
    rests = [np.abs((step.places - step.after)[0] / rate - step.downhill) for step in steps]
    is_near = np.array(rests) <= [_tolerance(trial, step.places, rate, FINE_RATE)[0] for step in steps]
    num_epochs = len(steps) // per_epoch  # whole epochs
    used = np.sum([step.counts for step in steps[-num_epochs * per_epoch :]], axis=0)
    is_all = np.array_equal(used, num_epochs * np.bincount(trial.inputs.kinds, minlength=NUM_KINDS))
    return bool(is_near.all()) and (is_all or not is_complete)


def _sizes_of_last(num_ranks: int) -> Array:
    """Return the possible sizes of an epoch's last batches, one row for each rank that may have the larger batch."""
    return np.asarray(REAL_SHARE - REAL_BATCH_SIZE + np.eye(num_ranks, dtype=int))


@dataclass(frozen=True)
class _Step:
    """A step of the real run, and the batches that explain it best."""

    number: int
    places: Array  # before the step, shape (num_ranks, 2)
    after: Array  # after the step, same shape
    downhill: Array  # the mean of the ranks' gradients, or of all samples' gradients in the step, shape (2,)
    counts: Array  # how many samples of each kind are in the batches of all ranks, shape (NUM_KINDS,)


def _real_steps(trial: TrainingTrial, rate: float, sizes_of_last: Array) -> Iterator[_Step]:
    """Yield each step with the batches of these sizes whose update comes closest to rank 0's actual weights."""
    history = trial.history("real")
    for number in range(trial.first_row("real"), history.shape[1] - 1):
        places, after = history[:, number], history[:, number + 1]
        full = np.full((1, trial.num_ranks), REAL_BATCH_SIZE)
        pull = (places - after)[0] / rate
        found = [
            _nearest(trial, places[0], sizes, weights, pull)
            for sizes in (sizes_of_last if number % STEPS_PER_EPOCH["real"] else full)
            for weights in np.unique([np.full(len(sizes), 1 / len(sizes)), sizes / np.sum(sizes)], axis=0)
        ]
        _, downhill, counts = min(found, key=itemgetter(0))
        yield _Step(number + 1, places, after, downhill, counts)


def _nearest(
    trial: TrainingTrial, place: Array, sizes: Array, weights: Array, pull: Array
) -> tuple[float, Array, Array]:
    """Find the batches of these sizes whose gradient is closest to `pull`.

    Returns the squared distance, this gradient, and how many samples of each kind the batches contain.
    """
    at = np.repeat(place[np.newaxis], NUM_KINDS, axis=0)
    downhill, counts = np.zeros((1, 2)), [_counts(int(size)) for size in sizes]
    for points, of_rank, weight in zip(trial.inputs.points, counts, weights / sizes):
        of_batches = weight * of_rank @ gradients(at, points)
        downhill = (downhill[:, np.newaxis] + of_batches).reshape(-1, 2)
    distances = np.sum((downhill - pull) ** 2, axis=1)
    best = np.argmin(distances)
    chosen = np.unravel_index(best, [len(of_rank) for of_rank in counts])
    return float(distances[best]), downhill[best], np.sum([one[row] for one, row in zip(counts, chosen)], axis=0)


@cache
def _counts(size: int) -> Array:
    """Return all combinations of kinds that a batch of this size may have, shape (num, NUM_KINDS).

    A row holds the number of samples of each kind.
    """
    return np.array([one for one in itertools.product(range(size + 1), repeat=NUM_KINDS) if sum(one) == size])


def _tolerance(trial: TrainingTrial, places: Array, rate: float, part: float) -> Array:
    """Return the tolerance for gradients of the real run: their rounding error, plus `part` times their mean size."""
    points = trial.inputs.points.reshape(-1, 2)
    of_points = gradients(np.repeat(places[:1], len(points), axis=0), points)
    return np.asarray(_rounding(places[:1], points, rate) + part * np.mean(np.abs(of_points), axis=0))
