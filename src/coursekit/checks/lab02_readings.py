"""Finds whose gradients moved the ranks in a trial's constant run, and with which rate, momentum and decay.

All samples of a rank are the same point (a, c), so the gradient of the rank is 2 (slope a + offset - c) (a, 1).
`HYPOTHESES` lists whose gradients may have moved the ranks, and how; the right one gives the same rate in every step.
In the examples, there are two ranks, and the rate is 0.08. At the offset 0, the gradient of the offset is -8000 on
rank 0 and -16000 on rank 1. No rank can know the mean of the two by itself, because it knows only its own point.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from coursekit.checks.compare import Array
from coursekit.checks.lab02_inputs import BATCH_SIZE, CONSTANT, NUM_EPOCHS, RATE, STEPS_PER_EPOCH
from coursekit.checks.lab02_trial import TrainingTrial
from coursekit.checks.steps import FIRST_STEP

# The rate varies by a thousandth with gradients sent in 16 bits, and by far more with a guessed mean.
SAME_RATE = 6e-3
SMALLEST_RATE = RATE / 100
FINE_RATE = 2e-5  # ten times the variation with 32 bits
NEARBY = 1e-5 * CONSTANT  # float32 rounding
NUM_UPDATES = 5  # that are compared; if the rate is far too large, later updates are too small to read
NUM_UPDATES_OF_MOMENTUM = 3  # at least, because any two updates can be explained by some momentum
MEAN, OWN, NOBODY = "mean", "own", "nobody"
DIVIDED = "divided"  # like `MEAN`, but each rank divides the sum over a batch by the size of a full batch
# Whose gradients moved the ranks: the `MEAN` of all, each rank's `OWN`, or one rank's gradients, in which case it is
# the number of this rank. It is `NOBODY` if no reading fits.
Source = str | int


@dataclass(frozen=True)
class Reading:
    """How the ranks of a trial move."""

    source: Source
    shares: Array  # how much each rank (row) is moved by each rank's gradient (column), shape (num_ranks, num_ranks)
    rates: Array  # the learning rate of each rank, shape (num_ranks,)
    momentum: float = 0.0  # the factor by which the previous update is multiplied when it is added to an update
    decay: Array | None = None  # the multiples of slope and offset that are added to each gradient, shape (2,)
    later_rates: Array | None = None  # rates from `FIRST_STEP` on, if they change, shape (num_ranks, num_updates)
    is_fine: bool = False  # whether gradients are sent in 32 bits, so that the rate is the same in every step


def _sources(num_ranks: int) -> list[tuple[Source, Array]]:
    """Return each possible source and its shares, shape (2, num_ranks, num_ranks): for full, then for last batches.

    The last batch of the constant run has one sample, but two on the rank with the larger shard. A mean over all
    samples of a step gives that rank twice the weight; this counts as right, just like the mean of the ranks' means.
    """
    mean, ones = np.full((num_ranks, num_ranks), 1 / num_ranks), np.ones((num_ranks, num_ranks))
    one_more = [ones + np.eye(num_ranks)[rank] for rank in range(num_ranks)]
    found: list[tuple[Source, Array]] = [(MEAN, np.stack([mean, mean]))]
    found += [(MEAN, np.stack([mean, sizes / (num_ranks + 1)])) for sizes in one_more]
    found += [(DIVIDED, np.stack([mean, mean * sizes / BATCH_SIZE])) for sizes in (*one_more, ones, 2 * ones)]
    found += [(OWN, np.stack([np.eye(num_ranks)] * 2))]
    return found + [(rank, np.stack([ones * np.eye(num_ranks)[rank]] * 2)) for rank in range(num_ranks)]


@dataclass(frozen=True)
class _Updates:
    """Updates of the constant run from `FIRST_STEP` on; shapes are (num_ranks, num_updates, 2) unless noted."""

    trial: TrainingTrial
    places: Array  # the points before each update
    moves: Array
    own: Array  # each rank's own gradient
    is_last: Array  # 1 for an update from a last batch, else 0, shape (num_updates,)

    def downhill(self, shares: Array) -> Array:
        """Return the sums of the ranks' gradients, weighted by these shares."""
        return np.asarray(np.einsum("urs,suk->ruk", shares[self.is_last], self.own))

    @property
    def sources(self) -> list[tuple[Source, Array]]:
        """The sources that may have moved the ranks."""
        return _sources(self.trial.num_ranks)

    def shares(self, wanted: Source) -> Array:
        """Return the shares of the first source of this name."""
        return next(shares for source, shares in self.sources if source == wanted)


def _updates(trial: TrainingTrial, which: slice) -> _Updates:
    """Return the updates of these steps; if the number of steps is wrong, all batches count as full."""
    history, expected = trial.history("constant"), NUM_EPOCHS["constant"] * STEPS_PER_EPOCH["constant"]
    moves = np.diff(history, axis=1)[:, FIRST_STEP:][:, which]
    places = history[:, FIRST_STEP:][:, : moves.shape[1]]
    own = np.stack([gradients(of_ranks, trial.inputs.constants) for of_ranks in places.transpose(1, 0, 2)], axis=1)
    numbers = np.arange(FIRST_STEP, FIRST_STEP + moves.shape[1])
    return _Updates(trial, places, moves, own, numbers % 2 * (history.shape[1] - 1 == expected))


def _reading(steps: _Updates, source: Source, shares: Array, tolerance: float, momentum: float = 0.0) -> Reading | None:
    """Return the reading with each rank's rate (0 for a rank that does not move), or None if no constant rate fits."""
    moves, downhill = steps.moves, steps.downhill(shares)
    if momentum:
        moves, downhill = moves[:, 1:] - momentum * moves[:, :-1], downhill[:, 1:]
    rates = np.median(_rates(moves, downhill), axis=1)
    is_same = _explains(moves, downhill, rates[:, np.newaxis], tolerance)
    moving = np.abs(moves).max(axis=(1, 2)) > 0
    is_downhill = bool((rates[moving] > SMALLEST_RATE).all())
    is_true = moving.any() and is_same and is_downhill and 0 <= momentum < 1
    return Reading(source, shares[0], rates, momentum, is_fine=tolerance == FINE_RATE) if is_true else None


def _rates(moves: Array, downhill: Array) -> Array:
    """Return the rate that explains each update best, shape (num_ranks, num_updates)."""
    squares = np.sum(downhill**2, axis=2)
    return np.asarray(-np.sum(moves * downhill, axis=2) / np.where(squares == 0, np.nan, squares))


def _explains(moves: Array, downhill: Array, rates: Array, tolerance: float) -> bool:
    rest = np.linalg.norm(moves + rates[:, :, np.newaxis] * downhill, axis=2)
    return bool((rest <= tolerance * np.linalg.norm(moves, axis=2)).all())


def _constant_rate(steps: _Updates, tolerance: float) -> Reading | None:
    """Return the reading of the first source that explains all updates with a constant rate, or None.

    Example: if the gradients are averaged, the offsets of both ranks move by 960. If each rank uses its own gradient,
    they move by 640 and 1280; if both ranks use the gradient of rank 0, they move by 640.
    """
    return next(filter(None, (_reading(steps, *source, tolerance) for source in steps.sources)), None)


def _sometimes_averaged(steps: _Updates, tolerance: float) -> Reading | None:
    """Return a reading if every move of a variable follows the mean gradient or the rank's own; otherwise, None.

    Example: only the slopes are averaged, and the offsets move by 640 and 1280. The rate and shards can be inferred
    even if only some steps or variables are averaged, because averaging does not change the ranks' mean update.
    """
    moves, downhill = steps.moves, np.stack([steps.downhill(steps.shares(which)) for which in (MEAN, OWN)])
    scale = np.linalg.norm(moves, axis=2, keepdims=True)
    rates = np.zeros(len(moves))
    for rank in range(len(moves)):
        for rate in (-moves[rank, 0] / downhill[:, rank, 0]).ravel():
            rest = np.abs(moves[rank] + rate * downhill[:, rank]).min(axis=0)
            if not rates[rank] and (rest <= tolerance * scale[rank]).all():
                rates[rank] = rate
    return Reading(NOBODY, steps.shares(MEAN)[0], rates) if bool((rates > SMALLEST_RATE).all()) else None


def _weight_decay(steps: _Updates, tolerance: float) -> Reading | None:
    """Return a reading if the mean gradient plus a multiple of the weights explains all updates; otherwise, None.

    Example: at the offset 1000, the mean gradient is -10,000. With a decay of 0.01, both offsets move by
    0.08 * (10,000 - 0.01 * 1000) = 799.2.
    """
    shares = steps.shares(MEAN)
    downhill = steps.downhill(shares)
    columns = [-downhill.ravel(), *(-(steps.places * one).ravel() for one in np.eye(2))]
    rate, *pulls = np.linalg.lstsq(np.stack(columns, axis=1), steps.moves.ravel(), rcond=None)[0]
    if rate < SMALLEST_RATE or min(pulls) < -tolerance * rate:
        return None
    rates, decay = np.full(len(shares[0]), rate), np.array(pulls) / rate
    is_true = _explains(steps.moves, downhill + decay * steps.places, rates[:, np.newaxis], tolerance)
    return Reading(MEAN, shares[0], rates, decay=decay, is_fine=True) if is_true else None


def _changing_rate(steps: _Updates, tolerance: float) -> Reading | None:
    """Return a reading if the mean gradient explains all updates, but with a rate that changes; otherwise, None.

    Example: both offsets first move by 960 with the rate 0.08. The mean gradient is then -10,080, so they next move by
    403 if the rate is 0.04.
    """
    for source, shares in steps.sources:
        rates = _rates(steps.moves, steps.downhill(shares))
        is_downhill = source == MEAN and (rates > SMALLEST_RATE).all()
        if is_downhill and _explains(steps.moves, steps.downhill(shares), rates, tolerance):
            later = _updates(steps.trial, slice(None))
            found = _rates(later.moves, later.downhill(shares))
            return Reading(MEAN, shares[0], np.median(rates, axis=1), later_rates=found, is_fine=True)
    return None


def _means_alone(steps: _Updates, tolerance: float) -> Reading | None:
    """Return a reading if the mean gradient explains only the mean of the ranks' moves; otherwise, None.

    Example: the mean of the moves is 960, but no rank moves by 960, because the ranks do not average their gradients;
    they average their parameters from time to time.
    """
    shares = steps.shares(MEAN)
    moves, downhill = (part.mean(axis=0, keepdims=True) for part in (steps.moves, steps.downhill(shares)))
    rates = np.median(_rates(moves, downhill), axis=1)
    is_true = rates[0] > SMALLEST_RATE and _explains(moves, downhill, rates[:, np.newaxis], tolerance)
    return Reading(NOBODY, shares[0], np.repeat(rates, len(shares[0]))) if is_true else None


def _with_momentum(steps: _Updates, tolerance: float) -> Reading | None:
    """Return the reading of the first source that explains all updates with a constant rate and a momentum, or None.

    Example: after a move of 960, a momentum of 0.9 makes the next move of both ranks longer by 864.
    """
    found = (_reading(steps, *source, tolerance, _momentum(steps, source[1])) for source in steps.sources)
    return next(filter(None, found), None)


def _momentum(steps: _Updates, shares: Array) -> float:
    """Return the momentum that explains the updates best, or 0 if there are too few updates."""
    moves, downhill = steps.moves, steps.downhill(shares)
    if moves.shape[1] < NUM_UPDATES_OF_MOMENTUM:
        return 0.0
    pairs = [np.stack([old.ravel(), -down.ravel()], axis=1) for old, down in zip(moves[:, :-1], downhill[:, 1:])]
    found = [np.linalg.lstsq(pair, new.ravel(), rcond=None)[0][0] for pair, new in zip(pairs, moves[:, 1:])]
    return float(np.median(found))


def _first_rates(trial: TrainingTrial) -> Array:
    """Return the rates of the first step that starts at a common place and follows the mean gradient.

    If no step up to `FIRST_STEP` does both, it returns the rates of step `FIRST_STEP`. Later steps may be off.
    """
    history = trial.history("constant")
    rates = np.zeros(trial.num_ranks)
    for step in range(FIRST_STEP + 1):
        places, moves = history[:, step], history[:, step + 1] - history[:, step]
        downhill = gradients(places, trial.inputs.constants).mean(axis=0)
        rates = -moves @ downhill / (downhill @ downhill)
        rest = np.linalg.norm(moves + np.outer(rates, downhill), axis=1)
        if np.ptp(places, axis=0).max() < NEARBY and (rest <= SAME_RATE * np.linalg.norm(moves, axis=1)).all():
            break
    return rates


class Hypothesis(NamedTuple):
    """One explanation of how the ranks moved."""

    name: str
    read: Callable[[_Updates, float], Reading | None]  # takes a tolerance; its docstring has the example
    is_loose: bool = False  # so flexible that it could fit by luck with the tolerance of 16 bits


# The order matters: hypotheses without memory come before the one with a momentum.
HYPOTHESES = (
    Hypothesis("one source with a constant rate", _constant_rate),
    Hypothesis("gradients that are averaged in some steps or for some variables", _sometimes_averaged),
    Hypothesis("a weight decay", _weight_decay, is_loose=True),
    Hypothesis("a rate that changes", _changing_rate, is_loose=True),
    Hypothesis("parameters that are averaged", _means_alone, is_loose=True),
    Hypothesis("a momentum", _with_momentum),
)


@lru_cache(maxsize=4)
def read_updates(trial: TrainingTrial) -> Reading:
    """Return the reading of the first hypothesis that fits the ranks' moves; if none fits, its source is `NOBODY`.

    First, all hypotheses are tried with the fine tolerance; then, the hypotheses that are not loose are tried with the
    16-bit tolerance. With the 16-bit tolerance, the hypothesis of a momentum may fit by chance, so it comes last.
    Example: three ranks average only the slopes, with the rate 0.12. One such trial in four could also be read as
    steps along the gradients of rank 1 with the rate 0.006 and a momentum of 0.71.
    """
    # The last step is left out: changes to the model after the training must not blur the updates.
    steps = _updates(trial, slice(min(NUM_UPDATES, trial.history("constant").shape[1] - FIRST_STEP - 2)))
    for tolerance in (FINE_RATE, SAME_RATE):
        for hypothesis in HYPOTHESES:
            fits = tolerance == FINE_RATE or not hypothesis.is_loose
            if fits and (reading := hypothesis.read(steps, tolerance)):
                return reading
    return Reading(NOBODY, steps.shares(MEAN)[0], _first_rates(trial))


def gradients(places: Array, points: Array) -> Array:
    """Return the gradient of each rank's squared error at its own data point.

    `places` holds the slope and offset of each rank, and `points` holds its x and y. All arrays have the shape
    (num_ranks, 2).
    """
    slopes, offsets = places.T
    x, y = points.T
    return np.asarray(2 * (slopes * x + offsets - y)[:, np.newaxis] * np.stack([x, np.ones_like(x)], axis=1))
