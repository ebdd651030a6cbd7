"""Properties of a distributed training: one start, averaged gradients, shards, the scaled rate, the serial trajectory.

What the updates say is read in `updates`.
The serial trajectory is that of gradient descent in one process on all of the real data, here in NumPy, with each
sample's target from the rank that used it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from coursekit.checks.check import require
from coursekit.checks.pieces import check_owners
from coursekit.checks.trial import CODED, FIRST_STEP, NUM_EPOCHS, RATE, START
from coursekit.checks.updates import explains_updates, is_averaged, offsets_of, rates, require_motion, used_samples

if TYPE_CHECKING:
    from collections.abc import Iterator

    from coursekit.checks.trial import Trial

Array = np.ndarray[Any, Any]

SAME_PLACE = 1e-5  # float32 rounding
NEAR_START = 0.06  # two steps of an optimiser that keeps a rate of 0.01 although it is told zero


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
    offsets_of(trial, name)
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


def check_averaged(trial: Trial) -> None:
    """Every update uses the mean of all ranks' gradients."""
    require_motion(trial)
    averaged = is_averaged(trial)
    own = not averaged and explains_updates(trial, averaged=False)
    require(not own, "the ranks move by their own gradients: the gradients are not averaged over the ranks")
    require(
        averaged,
        "the ranks move by something else than the mean of their gradients: "
        "the gradients are not averaged over the ranks in every step",
    )


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
