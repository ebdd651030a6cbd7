"""Try a whole distributed training function and tell its properties apart, whatever its code looks like.

The function is only asked for its trajectory. Three short trainings in one launch say the rest:

*constant*: all targets are one large number c. Then every update of the offset b is -2 * rate * (b - c),
whoever averages what, so the trajectory shows the learning rate that each rank really uses.

*coded*: every sample of every rank has the target 2**k with a k of its own, so the mean target behind an update,
read off the trajectory like a number in binary, says which rank used which samples in that step.
Ranks are given different targets: a rank that moves by another rank's targets must have communicated.

*real*: the data of the lab, compared with gradient descent in one process on all of it, in NumPy.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from coursekit import ranks
from coursekit.checks.check import CheckError, describe, require
from coursekit.checks.pieces import check_owners

if TYPE_CHECKING:
    from collections.abc import Callable

Array = np.ndarray[Any, Any]

NUM_EPOCHS = 4
RATE = 0.04  # small enough that a rate scaled twice is still below every limit
# Large against a start around one, and small enough for gradients that travel with 16 bits (below 65504).
CONSTANT = 1e4
UNIT = 100.0
FIRST_STEP = 2  # before it, a broadcast after the first step may still move the ranks
# One bit for each sample of each rank; float32 holds sums of that many bits exactly enough, with room for rounding.
CODED_SAMPLES_PER_RANK = {1: 8, 2: 2, 3: 1}
REAL_SAMPLES_PER_RANK = 12
ROUNDING = 0.3


@dataclass(frozen=True)
class Trial:
    """What three short trainings on real ranks showed.

    Attributes:
        num_ranks: the world size.
        histories: by training, an array of shape (num_ranks, num_steps + 1, 2): slope and offset before each step
            and after the last.
        x: inputs of the real training, shape (num_samples,).
        y: its targets, same shape.
        error: why the trainings did not end, or ''.
    """

    num_ranks: int
    histories: dict[str, Array] = field(default_factory=dict)
    x: Array = field(default_factory=lambda: np.zeros(0))
    y: Array = field(default_factory=lambda: np.zeros(0))
    error: str = ""


def try_training(train: Callable[..., Any], num_ranks: int = 2, timeout_s: float = 30.0) -> Trial:
    """Run `train(x, y, num_epochs, batch_size, learning_rate)` three times on real ranks, in one launch.

    Never raises because of the answer: an error becomes `Trial.error`, which every property reports.
    """
    num_samples = REAL_SAMPLES_PER_RANK * num_ranks
    rng = np.random.default_rng()
    x = rng.uniform(-0.5, 0.5, num_samples).astype(np.float32)
    y = (2 * x + rng.uniform(-0.5, 0.5, num_samples)).astype(np.float32)
    try:
        results = ranks.run(
            _three_trainings,
            *(train, x, y),
            num_ranks=num_ranks,
            timeout_s=timeout_s,
            use_gpus=False,
            show_output=False,
        )
        histories = {name: _stacked([result[name] for result in results]) for name in ("constant", "coded", "real")}
    except (ranks.RankError, CheckError, TypeError) as error:
        return Trial(num_ranks, error=str(error) if isinstance(error, CheckError) else describe(error))
    return Trial(num_ranks, histories, x, y)


def _three_trainings(train: Callable[..., Any], x: Array, y: Array) -> dict[str, Array]:
    """On a rank: train on the three data sets."""
    rank, size = int(os.environ["HOROVOD_RANK"]), int(os.environ["HOROVOD_SIZE"])
    coded = codes(rank, CODED_SAMPLES_PER_RANK[size] * size)
    zeros = np.zeros_like(coded)
    data = {"constant": (zeros, zeros + np.float32(CONSTANT)), "coded": (zeros, coded), "real": (x, y)}
    return {
        name: np.asarray(train(*pair, NUM_EPOCHS, len(pair[0]) // size, RATE), dtype=float)
        for name, pair in data.items()
    }


def codes(rank: int, num_samples: int) -> Array:
    """Return targets of shape (num_samples,): for each sample of this rank a power of two of its own."""
    return (UNIT * 2.0 ** (rank * num_samples + np.arange(num_samples))).astype(np.float32)


def _stacked(histories: list[Array]) -> Array:
    for rank, history in enumerate(histories):
        require(
            history.ndim == 2 and history.shape[1] == 2 and len(history) > FIRST_STEP + 1,  # noqa: PLR2004  # slope, offset
            f"the training must return an array of shape (num_steps + 1, 2), not {history.shape} as on rank {rank}",
        )
        require(bool(np.isfinite(history).all()), f"the trajectory of rank {rank} is not finite")
    lengths = [len(history) - 1 for history in histories]
    require(len(set(lengths)) == 1, f"the ranks made different numbers of steps: {lengths}")
    return np.stack(histories)


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
