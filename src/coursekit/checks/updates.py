"""What the updates of a trial's trainings say: with which rate, by whose gradients, of which samples.

Where all targets of a rank are c, every update of its offset b is -2 * rate * (b - c), and where the ranks average,
-2 * rate * (mean b - mean c).
Of the two, the one is true for which the rate comes out the same in every step.
The rank cannot know mean c by itself: the constants of the others are known to them alone.

Where every sample of every rank has a target 2**k of its own, the mean target behind an update, read like a number in
binary, says which rank used which samples in that step.
Every trial draws anew which bit belongs to which sample.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from coursekit.checks.check import require
from coursekit.checks.trial import CODED, CODED_SAMPLES_PER_RANK, FIRST_STEP, RATE, UNIT

if TYPE_CHECKING:
    from coursekit.checks.trial import Array, Trial

ROUNDING = 0.3
# Gradients that travel with 16 bits let the rate vary by a thousandth; a mean that is guessed, by far more.
SAME_RATE = 4e-3
NUM_UPDATES = 5  # that are compared: later ones are too small where the rate is far too large


def rates(trial: Trial) -> Array:
    """Return the learning rate with which each rank steps, shape (num_ranks,)."""
    return _rates(trial, averaged=is_averaged(trial))


def _rates(trial: Trial, *, averaged: bool) -> Array:
    found: Array = np.median(_rate_by_step(trial, averaged=averaged), axis=1)
    return found


def _rate_by_step(trial: Trial, *, averaged: bool) -> Array:
    """Return the rate behind each update of the constant training, shape (num_ranks, num_updates).

    Leaves out the last step: changes to the model after the training must not blur those in it.
    """
    offsets = trial.history("constant")[:, FIRST_STEP:-1, 1][:, : NUM_UPDATES + 1]
    constants = trial.inputs.constants[:, np.newaxis]
    gaps = _as_gradients_are(constants, averaged=averaged) - _as_gradients_are(offsets[:, :-1], averaged=averaged)
    found: Array = np.diff(offsets, axis=1) / (2 * np.where(gaps == 0, np.nan, gaps))
    return found


def _as_gradients_are(values: Array, *, averaged: bool) -> Array:
    """Return what counts in a gradient: a mean of gradients of parabolas is the gradient at their mean place."""
    mean: Array = values.mean(axis=0, keepdims=True)
    return mean if averaged else values


def explains_updates(trial: Trial, *, averaged: bool) -> bool:
    """Whether the rank's updates have one rate if the ranks average, or if they do not; frozen ranks do not count."""
    found = _rate_by_step(trial, averaged=averaged)
    moving = found[np.abs(found).max(axis=1) > 0]
    return len(moving) > 0 and bool((np.ptp(moving, axis=1) <= SAME_RATE * np.abs(np.median(moving, axis=1))).all())


def is_averaged(trial: Trial) -> bool:
    """Whether the mean of all ranks' targets explains the updates of all ranks that move."""
    if not explains_updates(trial, averaged=True):
        return False
    for name in CODED:
        targets = _mean_targets(trial, name, averaged=True)
        moving = targets[np.isfinite(targets).all(axis=1)]
        if not len(moving) or not np.allclose(moving, moving[:1], rtol=1e-2):
            return False
    return True


def _mean_targets(trial: Trial, name: str, *, averaged: bool) -> Array:
    """Return the mean target behind each update of a coded training but the last; nan for a frozen rank.

    The shape is (num_ranks, num_steps - FIRST_STEP - 1).
    """
    offsets = trial.history(name)[:, FIRST_STEP:-1, 1]
    rate = _rates(trial, averaged=averaged)[:, np.newaxis]
    places = _as_gradients_are(offsets[:, :-1], averaged=averaged)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(rate > RATE / 100, places + np.diff(offsets, axis=1) / (2 * rate), np.nan)


def require_motion(trial: Trial) -> None:
    """Require that some rank moves: ranks that stand still show nothing."""
    moves = np.abs(np.diff(trial.history("constant")[:, :, 1], axis=1)) > 0
    require(bool(moves.any()), "no rank moves at all: the learning rate that arrives is zero, or nothing is trained")


def used_samples(trial: Trial, name: str) -> list[dict[int, list[int]]]:
    """Return for every step of a coded training the ranks whose targets of each sample entered an update.

    Raises:
        CheckError: the updates are no plain means over batches of num_samples / num_ranks samples.
    """
    require_motion(trial)
    steps = []
    for used in _used_bits(trial, name, averaged=is_averaged(trial)):
        owners = ([rank for rank, bit in enumerate(bits) if used >> bit & 1] for bits in trial.inputs.bits[name].T)
        steps.append(dict(enumerate(owners)))
    return steps


def _used_bits(trial: Trial, name: str, *, averaged: bool) -> list[int]:
    """Return for each step of a coded training the bits of all ranks' samples that entered the updates."""
    batch_size = CODED_SAMPLES_PER_RANK[trial.num_ranks]
    num_together = trial.num_ranks if averaged else 1
    sums = _mean_targets(trial, name, averaged=averaged) * batch_size * num_together / UNIT
    rounded = np.rint(np.where(np.abs(sums) < 2**40, sums, 0)).astype(np.int64)
    known = np.bitwise_or.reduce(1 << trial.inputs.bits[name], axis=1)[:, np.newaxis]  # the bits of each rank's samples
    known = np.bitwise_or.reduce(known, keepdims=True) if averaged else known
    num_used = np.vectorize(lambda number: bin(number).count("1"))(rounded)
    is_sum = (np.abs(sums - rounded) < ROUNDING) & (rounded >= 0) & (rounded & ~known == 0)
    is_mean = is_sum & (num_used == batch_size * num_together)
    require(
        bool((is_mean | np.isnan(sums)).all()),
        f"the updates are not means over batches of {batch_size} samples per rank, as batch_size={batch_size} asks",
    )
    return [int(used) for used in np.bitwise_or.reduce(rounded, axis=0)]
