"""Properties of a distributed training, told apart by what a trial's trajectories show.

*Rate*: where all targets are c, every update of the offset b is -2 * rate * (b - c), whoever averages what.

*Average* and *shards*: where every sample of every rank has a target 2**k of its own, the mean target behind an update,
read like a number in binary, says which rank used which samples in that step.
Ranks have different targets: a rank that moves by another rank's targets must have communicated.

*Serial*: on real data the trajectory is that of gradient descent in one process on all of it, here in NumPy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from coursekit.checks.check import require
from coursekit.checks.pieces import check_owners
from coursekit.checks.trial import CODED_SAMPLES_PER_RANK, CONSTANT, FIRST_STEP, NUM_EPOCHS, RATE, UNIT

if TYPE_CHECKING:
    from coursekit.checks.trial import Trial

Array = np.ndarray[Any, Any]

ROUNDING = 0.3


def _offsets(trial: Trial, name: str) -> Array:
    require(not trial.error, f"the training did not end well: {trial.error}")
    offsets: Array = trial.histories[name][:, :, 1]
    return offsets


def rates(trial: Trial) -> Array:
    """Return the learning rate with which each rank steps, shape (num_ranks,)."""
    return _rates(trial, averaged=is_averaged(trial))


def _rates(trial: Trial, *, averaged: bool) -> Array:
    before, after = _offsets(trial, "constant")[:, FIRST_STEP : FIRST_STEP + 2].T
    found: Array = (after - before) / (2 * (CONSTANT - _place_of_gradient(before, averaged=averaged)))
    return found


def _place_of_gradient(offsets: Array, *, averaged: bool) -> Array:
    """Return where gradients were taken: a mean of gradients of a parabola is its gradient at the mean place."""
    mean: Array = offsets.mean(axis=0, keepdims=True)
    return mean if averaged else offsets


def _mean_targets(trial: Trial, *, averaged: bool) -> Array:
    """Return the mean target behind each update, shape (num_ranks, num_steps - FIRST_STEP); nan for a frozen rank."""
    offsets = _offsets(trial, "coded")[:, FIRST_STEP:]
    rate = _rates(trial, averaged=averaged)[:, np.newaxis]
    places = _place_of_gradient(offsets[:, :-1], averaged=averaged)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(rate > RATE / 100, places + np.diff(offsets, axis=1) / (2 * rate), np.nan)


def is_averaged(trial: Trial) -> bool:
    """Whether one mean target explains the updates of all ranks that move."""
    targets = _mean_targets(trial, averaged=True)[:, :-1]
    moving = targets[np.isfinite(targets).all(axis=1)]
    return bool(np.allclose(moving, moving[:1], rtol=1e-2)) and len(moving) > 0


def check_same_start(trial: Trial) -> None:
    """All ranks stand at the same point at the start, or at the latest after the first step."""
    _offsets(trial, "real")
    history = trial.histories["real"]
    gaps = [float(np.max(np.abs(history[:, row] - history[0, row]))) for row in range(FIRST_STEP + 1)]
    require(
        min(gaps) < 1e-5,  # noqa: PLR2004  # float32 rounding
        f"the ranks start up to {gaps[0]:.3g} apart, and are still {gaps[-1]:.3g} apart after {FIRST_STEP} steps: "
        "the start is not broadcast",
    )


def _require_motion(trial: Trial) -> None:
    moves = np.abs(np.diff(_offsets(trial, "constant"), axis=1)) > 0
    require(bool(moves.any()), "no rank moves at all: the learning rate that arrives is zero, or nothing is trained")


def check_averaged(trial: Trial) -> None:
    """Every update uses the mean of all ranks' gradients."""
    _require_motion(trial)
    require(
        is_averaged(trial),
        "the ranks move by their own gradients: the gradients are not averaged over the ranks",
    )


def used_samples(trial: Trial) -> dict[int, list[int]]:
    """Return for each sample the ranks whose targets entered an update.

    Raises:
        CheckError: the updates are no plain means over batches of num_samples / num_ranks samples.
    """
    batch_size = CODED_SAMPLES_PER_RANK[trial.num_ranks]
    num_samples = batch_size * trial.num_ranks
    averaged = is_averaged(trial)
    # Without the last step: what is done to the model after the training must not blur what was done in it.
    targets = _mean_targets(trial, averaged=averaged)[:, :-1]
    sums = targets * batch_size * (trial.num_ranks if averaged else 1) / UNIT
    _require_motion(trial)
    sums = sums[np.isfinite(sums)]
    rounded = np.rint(sums)
    require(
        bool((np.abs(sums - rounded) < ROUNDING).all()) and bool((rounded >= 0).all()),
        f"the updates are not means over batches of {batch_size} samples per rank, as batch_size={batch_size} asks",
    )
    used = int(np.bitwise_or.reduce(rounded.astype(np.int64)))
    return {
        sample: [rank for rank in range(trial.num_ranks) if used >> (rank * num_samples + sample) & 1]
        for sample in range(num_samples)
    }


def check_shards(trial: Trial) -> None:
    """Every sample is used, and by one rank only."""
    check_owners(used_samples(trial), trial.num_ranks)


def check_rate(trial: Trial) -> None:
    """The rate with which every rank steps is the given one times the number of ranks."""
    found, expected = rates(trial), RATE * trial.num_ranks
    factors = found / RATE
    hint = ""
    if np.allclose(factors, 1, rtol=1e-2):
        hint = "; it is not scaled"
    elif np.allclose(factors, trial.num_ranks**2, rtol=1e-2):
        hint = "; it is scaled twice, or the gradients are summed and not averaged"
    elif np.ptp(factors) > 0.1:  # noqa: PLR2004  # far above rounding
        hint = "; it depends on the rank"
    require(
        bool(np.allclose(found, expected, rtol=1e-2)),
        f"the ranks step with {', '.join(f'{factor:.3g}' for factor in factors)} times the learning rate given, "
        f"not {trial.num_ranks} times{hint}",
    )


def check_equals_serial(trial: Trial) -> None:
    """Every step on every rank is the step of gradient descent in one process on all the data."""
    _offsets(trial, "real")
    history = trial.histories["real"]
    num_steps = history.shape[1] - 1
    require(
        num_steps == NUM_EPOCHS,
        f"every rank made {num_steps} steps in {NUM_EPOCHS} epochs; with its share of the data it needs {NUM_EPOCHS}",
    )
    gaps = np.max(np.abs(history - history[:1]), axis=(0, 2))
    start = next((row for row in range(FIRST_STEP + 1) if gaps[row] < 1e-5), 0)  # noqa: PLR2004  # float32 rounding
    serial = serial_history(trial, history[0, start], num_steps - start)
    for rank in range(trial.num_ranks):
        for step, (got, expected) in enumerate(zip(history[rank, start:], serial), start):
            require(
                bool(np.allclose(got, expected, rtol=1e-3, atol=1e-4)),
                f"after step {step} rank {rank} is at {_point(got)}; "
                f"one process with all the data would be at {_point(expected)}",
            )


def serial_history(trial: Trial, start: Array, num_steps: int) -> Array:
    """Return the trajectory of full-batch gradient descent in NumPy, shape (num_steps + 1, 2)."""
    inputs = np.stack([trial.x, np.ones_like(trial.x)], axis=1).astype(float)
    points = [np.asarray(start, dtype=float)]
    for _ in range(num_steps):
        errors = inputs @ points[-1] - trial.y
        points.append(points[-1] - RATE * trial.num_ranks * 2 * inputs.T @ errors / len(trial.x))
    return np.array(points)


def _point(point: Array) -> str:
    return f"({point[0]:.4f}, {point[1]:.4f})"
