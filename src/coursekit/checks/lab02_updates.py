"""What the updates of a trial's trainings say: by whose gradients, with which rate and momentum, of which samples.

Where all samples of a rank are one point (a, c), the gradient of the rank is 2 (slope a + offset - c) (a, 1).
Updates are read as those by the mean of all ranks' gradients, by the rank's own, and by those of one rank; the
reading is true in which the rate comes out the same in every step.
A rank cannot know this mean by itself: the points of the others are known to them alone.

Where every sample has a target of its own, the same on all ranks, the mean target of an epoch's updates says whether
every sample was used equally often.
One sample has another target on each rank, two to the power of its number, which says who used it, and so how many
ranks use each sample.
Example: of four samples with the codes 1, 2, 3 and 0, the last is the marked one, with 16 on rank 0 and 32 on rank 1.
Where rank 1 alone uses it, and every sample is used once, the mean code of an epoch is (1 + 2 + 3 + 32) / 4 = 9.5. The
number that is read back is (4 * 9.5 - 6) / 16 = 2, in binary 10: one rank, number 1. If both ranks use all samples, the
mean is (2 * 6 + 16 + 32) / 8 = 7.5, and 2 * (4 * 7.5 - 6) / 16 = 3, in binary 11: two ranks.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from coursekit.checks.check import require
from coursekit.checks.compare import Array
from coursekit.checks.lab02_trial import BATCH_SIZE, CONSTANT, MARK, NUM_EPOCHS, RATE, SHARE, UNIT, TrainingTrial
from coursekit.checks.steps import FIRST_STEP

# Gradients that travel with 16 bits let the rate vary by a thousandth; a mean that is guessed, by far more.
SAME_RATE = 6e-3
SMALLEST_RATE = RATE / 100
FINE_RATE = 2e-5  # ten times what 32 bits let it vary
SAME_PLACE = 1e-5 * CONSTANT  # float32 rounding
ROUNDING, FINE_ROUNDING = 0.4, 1e-3  # of a sum of codes, with 16 bits and with 32: seen up to 2e-4
NUM_UPDATES = 5  # that are compared: later ones are too small where the rate is far too large
NUM_UPDATES_OF_MOMENTUM = 3  # two would have a momentum whatever they are
MEAN, OWN, NOBODY = "mean", "own", "nobody"
Source = (
    str | int
)  # `MEAN` of all gradients, each rank's `OWN`, those of one rank, or `NOBODY` where no reading is true


@dataclass(frozen=True)
class Reading:
    """How the ranks of a trial move."""

    source: Source
    shares: Array  # how much each rank is moved by the gradient of each, shape (num_ranks, num_ranks)
    rates: Array  # the learning rate of each rank, shape (num_ranks,)
    momentum: float = 0.0  # how much of the update before is in each
    is_fine: bool = False  # whether gradients travel with 32 bits, to which the rates are the same in every step


def read_updates(trial: TrainingTrial) -> Reading:
    """Return how the ranks move.

    Fine readings come first, and those without a memory before those with one: with a momentum and the tolerance of
    16 bits, a reading may be true by luck.
    Example: three ranks of which only the slopes are averaged, rate 0.12. Every fourth trial of theirs could also be
    read as steps by the gradients of rank 1 with the rate 0.006 and a momentum of 0.71.
    """
    num_ranks = trial.num_ranks
    sources: dict[Source, Array] = {MEAN: np.full((num_ranks, num_ranks), 1 / num_ranks), OWN: np.eye(num_ranks)}
    sources |= {rank: np.repeat(np.eye(num_ranks)[rank : rank + 1], num_ranks, axis=0) for rank in range(num_ranks)}
    return next(reading for reading in _readings(trial, sources) if reading)


def _readings(trial: TrainingTrial, sources: Mapping[Source, Array]) -> Iterator[Reading | None]:
    for tolerance in (FINE_RATE, SAME_RATE):
        for source, shares in sources.items():
            yield _reading(trial, source, shares, 0.0, tolerance)
        yield _mixed_reading(trial, sources[MEAN], sources[OWN], tolerance)
        for source, shares in sources.items():
            yield _reading(trial, source, shares, _momentum(trial, shares), tolerance)
    yield Reading(NOBODY, sources[MEAN], _first_rates(trial))


def _reading(trial: TrainingTrial, source: Source, shares: Array, momentum: float, tolerance: float) -> Reading | None:
    """Return the reading with the rate of each rank, 0 for a frozen one; None when it is another in each step."""
    moves, downhill = _steps(trial, shares)
    if momentum:
        moves, downhill = moves[:, 1:] - momentum * moves[:, :-1], downhill[:, 1:]
    squares = np.sum(downhill**2, axis=2)
    rates = np.median(-np.sum(moves * downhill, axis=2) / np.where(squares == 0, np.nan, squares), axis=1)
    rest = np.linalg.norm(moves + rates[:, np.newaxis, np.newaxis] * downhill, axis=2)
    is_same = bool((rest <= tolerance * np.linalg.norm(moves, axis=2)).all())
    moving = np.abs(moves).max(axis=(1, 2)) > 0
    is_downhill = bool((rates[moving] > SMALLEST_RATE).all())
    is_true = moving.any() and is_same and is_downhill and 0 <= momentum < 1
    return Reading(source, shares, rates, momentum, tolerance == FINE_RATE) if is_true else None


def _mixed_reading(trial: TrainingTrial, mean: Array, own: Array, tolerance: float) -> Reading | None:
    """Return the rate of each rank where each part of each update goes down the mean gradient or its own, or None.

    So rate and shards can be read, too, where some steps or some variables only are averaged: the mean over the ranks
    of the updates is the same.
    """
    moves = _steps(trial, mean)[0]
    downhill = np.stack([_steps(trial, shares)[1] for shares in (mean, own)])
    scale = np.linalg.norm(moves, axis=2, keepdims=True)
    rates = np.zeros(trial.num_ranks)
    for rank in range(trial.num_ranks):
        for rate in (-moves[rank, 0] / downhill[:, rank, 0]).ravel():
            rest = np.abs(moves[rank] + rate * downhill[:, rank]).min(axis=0)
            if not rates[rank] and (rest <= tolerance * scale[rank]).all():
                rates[rank] = rate
    return Reading(NOBODY, mean, rates) if bool((rates > SMALLEST_RATE).all()) else None


def _first_rates(trial: TrainingTrial) -> Array:
    """Return the rates of the first step that the mean gradient explains, from one place: later ones may be spoilt."""
    history = trial.history("constant")
    rates = np.zeros(trial.num_ranks)
    for step in range(FIRST_STEP + 1):
        places, moves = history[:, step], history[:, step + 1] - history[:, step]
        downhill = gradients(places, trial.inputs.constants).mean(axis=0)
        rates = -moves @ downhill / (downhill @ downhill)
        rest = np.linalg.norm(moves + np.outer(rates, downhill), axis=1)
        if np.ptp(places, axis=0).max() < SAME_PLACE and (rest <= SAME_RATE * np.linalg.norm(moves, axis=1)).all():
            break
    return rates


def gradients(places: Array, points: Array) -> Array:
    """Return the gradient of the squared error of each rank's line in its point, all of shape (num_ranks, 2)."""
    slopes, offsets = places.T
    x, y = points.T
    return np.asarray(2 * (slopes * x + offsets - y)[:, np.newaxis] * np.stack([x, np.ones_like(x)], axis=1))


def _steps(trial: TrainingTrial, shares: Array) -> tuple[Array, Array]:
    """Return updates and gradients of the constant training, both of shape (num_ranks, num_updates, 2).

    Leaves out the last step: changes to the model after the training must not blur those in it.
    """
    history = trial.history("constant")[:, FIRST_STEP:-1][:, : NUM_UPDATES + 1]
    downhill = [shares @ gradients(places, trial.inputs.constants) for places in history[:, :-1].transpose(1, 0, 2)]
    return np.diff(history, axis=1), np.stack(downhill, axis=1)


def _momentum(trial: TrainingTrial, shares: Array) -> float:
    """Return the momentum that explains the updates of the constant training best."""
    moves, downhill = _steps(trial, shares)
    if moves.shape[1] < NUM_UPDATES_OF_MOMENTUM:
        return 0.0
    pairs = [np.stack([old.ravel(), -down.ravel()], axis=1) for old, down in zip(moves[:, :-1], downhill[:, 1:])]
    found = [np.linalg.lstsq(pair, new.ravel(), rcond=None)[0][0] for pair, new in zip(pairs, moves[:, 1:])]
    return float(np.median(found))


def is_averaged(trial: TrainingTrial) -> bool:
    """Whether the mean of all ranks' gradients explains the updates of all ranks that move."""
    reading = read_updates(trial)
    targets = _mean_targets(trial, reading)
    moving = targets[np.isfinite(targets).all(axis=1)]
    return reading.source == MEAN and len(moving) > 0 and np.allclose(moving, moving[:1], rtol=1e-2)


def _mean_targets(trial: TrainingTrial, reading: Reading) -> Array:
    """Return the mean code behind each update of the coded training from `FIRST_STEP` on but the last.

    The shape is (num_ranks, num_steps - FIRST_STEP - 1), with nan for a frozen rank.
    """
    offsets = trial.history("coded")[:, :-1, 1]
    moves = np.diff(offsets, axis=1)
    pulls = moves[:, FIRST_STEP:] - reading.momentum * moves[:, FIRST_STEP - 1 : -1]
    rates = reading.rates[:, np.newaxis]
    places = reading.shares @ offsets[:, FIRST_STEP:-1]
    targets = places + pulls / (2 * np.maximum(rates, SMALLEST_RATE))
    return np.where(rates > SMALLEST_RATE, targets, np.nan) / UNIT


def require_motion(trial: TrainingTrial) -> None:
    """Require that some rank moves, and that each step is there: else nothing can be read."""
    moves = np.abs(np.diff(trial.history("constant"), axis=1)) > 0
    require(moves.any(), "no rank moves at all: the learning rate that arrives is zero, or nothing is trained")
    by_epoch = all(trial.history(name).shape[1] == NUM_EPOCHS[name] + 1 for name in ("constant", "coded"))
    told = "the history has a row for each epoch, and none follows from the one before by a step on the samples given"
    told += ": it needs a row after every step on x and y"
    require(not by_epoch or read_updates(trial).source != NOBODY, told)


def follows_gradients(trial: TrainingTrial) -> bool:
    """Whether some rank moves along gradients, averaged or not, of the mean squared error of the samples given."""
    return bool((np.abs(read_updates(trial).rates) > SMALLEST_RATE).any())


def uses_of_samples(trial: TrainingTrial) -> list[int | None]:
    """Return for each whole epoch of the coded training how many ranks use each sample, None where that differs.

    Epochs with one of the first or the last step are left out; where the gradients of one rank move all, the samples
    of the others leave no trace, and the list is empty.
    """
    reading = read_updates(trial)
    num_steps = trial.history("coded").shape[1] - 1
    per_epoch, rest = divmod(num_steps, NUM_EPOCHS["coded"])
    if rest or not per_epoch or isinstance(reading.source, int) or not (reading.rates > SMALLEST_RATE).any():
        return []
    with np.errstate(all="ignore"):
        means = np.nanmean(_mean_targets(trial, reading), axis=0)
    firsts = range(-(-FIRST_STEP // per_epoch) * per_epoch, num_steps - per_epoch, per_epoch)
    likely = {1, trial.num_ranks, per_epoch * BATCH_SIZE // SHARE}
    rounding = FINE_ROUNDING if reading.is_fine else ROUNDING
    in_epochs = [float(means[first - FIRST_STEP :][:per_epoch].mean()) for first in firsts]
    return [_num_users(trial, mean, likely, rounding) for mean in in_epochs]


def _num_users(trial: TrainingTrial, mean: float, likely: set[int], rounding: float) -> int | None:
    """Return how many ranks use each sample in an epoch whose mean code is this, or None if that differs.

    Shards that overlap have such a mean by luck: once in 50 trials with 16 bits, less than once in 10,000 with 32.
    """
    codes = trial.inputs.codes
    for num_users in sorted(likely):
        marks = num_users * (mean * len(codes) - codes.sum()) / MARK
        is_whole = abs(marks - round(marks)) * MARK < rounding * num_users
        if is_whole and 0 <= marks < 2**trial.num_ranks and round(marks).bit_count() == num_users:
            return num_users
    return None
