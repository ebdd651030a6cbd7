"""Properties of a distributed training, told apart by what a trial's trajectories show.

*Average* and *rate*: where all targets of a rank are c, every update of its offset b is -2 * rate * (b - c), and
where the ranks average, -2 * rate * (mean b - mean c).
Of the two, the one is true for which the rate comes out the same in every step.
The rank cannot know mean c by itself: the constants of the others are known to them alone.

*Shards*: where every sample of every rank has a target 2**k of its own, the mean target behind an update, read like a
number in binary, says which rank used which samples in that step.
Which bit is whose is drawn anew for every trial.

*Serial*: on real data the trajectory is that of gradient descent in one process on all of it, here in NumPy, with each
sample's target from the rank that used it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from coursekit.checks.check import require
from coursekit.checks.pieces import check_owners
from coursekit.checks.trial import CODED, CODED_SAMPLES_PER_RANK, FIRST_STEP, NUM_EPOCHS, RATE, START, UNIT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from coursekit.checks.trial import Trial

Array = np.ndarray[Any, Any]

ROUNDING = 0.3
SAME_PLACE = 1e-5  # float32 rounding
NEAR_START = 0.06  # two steps of an optimiser that keeps a rate of 0.01 although it is told zero
# Gradients that travel with 16 bits let the rate vary by a thousandth; a mean that is guessed, by far more.
SAME_RATE = 4e-3
NUM_UPDATES = 5  # that are compared: later ones are too small where the rate is far too large


def _offsets(trial: Trial, name: str) -> Array:
    require(not trial.error, f"the training did not end well: {trial.error}")
    offsets: Array = trial.histories[name][:, :, 1]
    return offsets


def rates(trial: Trial) -> Array:
    """Return the learning rate with which each rank steps, shape (num_ranks,)."""
    return _rates(trial, averaged=is_averaged(trial))


def _rates(trial: Trial, *, averaged: bool) -> Array:
    found: Array = np.median(_rate_by_step(trial, averaged=averaged), axis=1)
    return found


def _rate_by_step(trial: Trial, *, averaged: bool) -> Array:
    """Return the rate behind each update of the constant training, shape (num_ranks, num_updates).

    The last step is left out: what is done to the model after the training must not blur what was done in it.
    """
    offsets = _offsets(trial, "constant")[:, FIRST_STEP:-1][:, : NUM_UPDATES + 1]
    constants = trial.inputs.constants[:, np.newaxis]
    gaps = _as_gradients_are(constants, averaged=averaged) - _as_gradients_are(offsets[:, :-1], averaged=averaged)
    found: Array = np.diff(offsets, axis=1) / (2 * np.where(gaps == 0, np.nan, gaps))
    return found


def _as_gradients_are(values: Array, *, averaged: bool) -> Array:
    """Return what counts in a gradient: a mean of gradients of parabolas is the gradient at their mean place."""
    mean: Array = values.mean(axis=0, keepdims=True)
    return mean if averaged else values


def _explains_updates(trial: Trial, *, averaged: bool) -> bool:
    """Whether the rank's updates have one rate if the ranks average, or if they do not; frozen ranks do not count."""
    found = _rate_by_step(trial, averaged=averaged)
    moving = found[np.abs(found).max(axis=1) > 0]
    return len(moving) > 0 and bool((np.ptp(moving, axis=1) <= SAME_RATE * np.abs(np.median(moving, axis=1))).all())


def is_averaged(trial: Trial) -> bool:
    """Whether the mean of all ranks' targets explains the updates of all ranks that move."""
    if not _explains_updates(trial, averaged=True):
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
    offsets = _offsets(trial, name)[:, FIRST_STEP:-1]
    rate = _rates(trial, averaged=averaged)[:, np.newaxis]
    places = _as_gradients_are(offsets[:, :-1], averaged=averaged)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(rate > RATE / 100, places + np.diff(offsets, axis=1) / (2 * rate), np.nan)


def check_same_start(trial: Trial) -> None:
    """All ranks stand at the same point at the start, or at the latest after the first step.

    Where the rank's variables start in the training apart, nobody else can know.
    Who has no variables, but communicates otherwise, cannot be put to this test and is believed.
    """
    for name in ("real", "apart"):
        gaps = _gaps(trial, name)[: FIRST_STEP + 1]
        luck = "by luck or by a seed the ranks start together; put apart, " if name == "apart" else ""
        require(
            min(gaps) < SAME_PLACE,
            f"{luck}the ranks start up to {gaps[0]:.3g} apart, and are still {gaps[-1]:.3g} apart after {FIRST_STEP} "
            "steps: the start is not broadcast",
        )
    require(
        _is_start_of_a_rank(trial) or is_averaged(trial),
        "the ranks start at one point, but no rank's variables were there: the start is not broadcast",
    )


def _gaps(trial: Trial, name: str) -> Array:
    """Return the largest distance of any rank from rank 0 at each step, shape (num_steps + 1,)."""
    _offsets(trial, name)
    history = trial.histories[name]
    gaps: Array = np.max(np.abs(history - history[:1]), axis=(0, 2))
    return gaps


def _is_start_of_a_rank(trial: Trial) -> bool:
    """Whether the ranks stand together where the variables of one of them started in the training apart."""
    gaps = _gaps(trial, "apart")[: FIRST_STEP + 1]
    points = trial.histories["apart"][0, : FIRST_STEP + 1][gaps < SAME_PLACE]
    starts = np.concatenate([trial.inputs.starts, trial.inputs.starts[:, ::-1]])  # slope first, or offset first
    distances = np.abs(points[:, np.newaxis] - starts)
    return bool((distances < NEAR_START * START).all(axis=2).any())


def _require_motion(trial: Trial) -> None:
    moves = np.abs(np.diff(_offsets(trial, "constant"), axis=1)) > 0
    require(bool(moves.any()), "no rank moves at all: the learning rate that arrives is zero, or nothing is trained")


def check_averaged(trial: Trial) -> None:
    """Every update uses the mean of all ranks' gradients."""
    _require_motion(trial)
    averaged = is_averaged(trial)
    own = not averaged and _explains_updates(trial, averaged=False)
    require(not own, "the ranks move by their own gradients: the gradients are not averaged over the ranks")
    require(
        averaged,
        "the ranks move by something else than the mean of their gradients: "
        "the gradients are not averaged over the ranks in every step",
    )


def used_samples(trial: Trial, name: str) -> list[dict[int, list[int]]]:
    """Return for every step of a coded training the ranks whose targets of each sample entered an update.

    Raises:
        CheckError: the updates are no plain means over batches of num_samples / num_ranks samples.
    """
    _require_motion(trial)
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


def check_shards(trial: Trial) -> None:
    """Every sample is used, and by one rank only; who shares out the samples anew in every epoch does so in each."""
    for name in CODED:
        steps = used_samples(trial, name)
        if all(len(by) == 1 for step in steps for by in step.values()):
            continue
        owners = {sample: sorted({rank for step in steps for rank in step[sample]}) for sample in steps[0]}
        check_owners(owners, trial.num_ranks)


def check_rate(trial: Trial) -> None:
    """The rate with which every rank steps is the given one times the number of ranks."""
    found, expected = rates(trial), RATE * trial.num_ranks
    factors = found / RATE
    hint = ""
    if np.allclose(factors, 1, rtol=1e-2):
        hint = "; it is not scaled (or by the ranks of one node: here every rank has a node of its own)"
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
    gaps = _gaps(trial, "real")
    history = trial.histories["real"]
    num_steps = history.shape[1] - 1
    require(
        num_steps == NUM_EPOCHS,
        f"every rank made {num_steps} steps in {NUM_EPOCHS} epochs; with its share of the data it needs {NUM_EPOCHS}",
    )
    start = next((row for row in range(FIRST_STEP + 1) if gaps[row] < SAME_PLACE), 0)
    serial = serial_history(trial, history[0, start:])
    for rank in range(trial.num_ranks):
        for step, (got, expected) in enumerate(zip(history[rank, start:], serial), start):
            require(
                bool(np.allclose(got, expected, rtol=1e-3, atol=5e-4)),
                f"after step {step} rank {rank} is at {_point(got)}; "
                f"one process with all the data would be at {_point(expected)}",
            )


def serial_history(trial: Trial, seen: Array) -> Array:
    """Return the trajectory of full-batch gradient descent in NumPy, from the first point of `seen`, same shape.

    Each sample's target is that of one rank; which rank that is may change from step to step, when an answer shuffles
    before it shards. Of all ways to divide the samples evenly, the one is taken that leads nearest to what was seen.
    """
    x = trial.inputs.x
    owners = np.array(list(_even_divisions([len(x) // trial.num_ranks] * trial.num_ranks)))
    y = trial.inputs.y[owners, np.arange(len(x))]
    inputs = np.stack([x, np.ones_like(x)], axis=1).astype(float)
    points = [np.asarray(seen[0], dtype=float)]
    for point in seen[1:]:
        errors = inputs @ points[-1] - y
        reached = points[-1] - RATE * trial.num_ranks * 2 * errors @ inputs / len(x)
        points.append(reached[np.argmin(np.sum((reached - point) ** 2, axis=1))])
    return np.array(points)


def _even_divisions(places: list[int]) -> Iterator[list[int]]:
    """Yield all ways to give each sample a rank, when rank r has places[r] places."""
    if not any(places):
        yield []
    for rank, free in enumerate(places):
        if free:
            left = [other - (number == rank) for number, other in enumerate(places)]
            yield from ([rank, *rest] for rest in _even_divisions(left))


def _point(point: Array) -> str:
    return f"({point[0]:.4f}, {point[1]:.4f})"
