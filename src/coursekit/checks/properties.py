"""Five properties of a distributed training, each read off the trajectories of a `Trial`.

One start, averaged gradients, disjoint and complete shards, the scaled learning rate; whoever has all four takes the
steps of one process with all the data, which is the fifth.
`updates` reads rates and samples off the trajectories.
Points are (slope, offset); the examples have two ranks, for which the given rate of 0.04 becomes 0.08.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from coursekit.checks.check import require
from coursekit.checks.shards import check_owners
from coursekit.checks.trial import CODED, FIRST_STEP, NUM_EPOCHS, RATE, START
from coursekit.checks.updates import explains_updates, is_averaged, rates, require_motion, used_samples

if TYPE_CHECKING:
    from collections.abc import Iterator

    from coursekit.checks.trial import Array, Trial

SAME_PLACE = 1e-5  # float32 rounding
NEAR_START = 0.06  # two steps of an optimiser that keeps a rate of 0.01 although it is told zero


def check_same_start(trial: Trial) -> None:
    """All ranks stand at one point at the start, or at the latest after `FIRST_STEP` steps.

    Example: the ranks' variables start at (1.2, 0.3) and (-0.5, 0.8). After a broadcast both stand at (1.2, 0.3), a
    gap of 0. Without one they stay 1.7 apart and fail, and so do ranks that both start at (0, 0) because of a seed:
    in the training *apart* each starts where only it knows, and they must meet at the place of one of them.

    An answer without variables, which communicates otherwise, has no such place: averaged gradients are enough there.
    """
    for name in ("real", "apart"):
        gaps = _gaps(trial, name)[: FIRST_STEP + 1]
        luck = "by luck or by a seed the ranks start together; put apart, " if name == "apart" else ""
        require(
            min(gaps) < SAME_PLACE,
            f"{luck}the ranks start up to {gaps[0]:.3g} apart, and are still {gaps[-1]:.3g} apart after {FIRST_STEP} "
            "steps: the start is not broadcast",
        )
    was_sent = _meet_at_start_of_a_rank(trial) or is_averaged(trial)
    require(was_sent, "the ranks start at one point, but no rank's variables were there: the start is not broadcast")


def _gaps(trial: Trial, name: str) -> Array:
    """Return the largest distance of any rank from rank 0 before each step and after the last."""
    history = trial.history(name)
    gaps: Array = np.max(np.abs(history - history[:1]), axis=(0, 2))
    return gaps


def _meet_at_start_of_a_rank(trial: Trial) -> bool:
    """Whether the ranks stand together where the variables of one of them started in the training *apart*."""
    gaps = _gaps(trial, "apart")[: FIRST_STEP + 1]
    points = trial.history("apart")[0, : FIRST_STEP + 1][gaps < SAME_PLACE]
    starts = np.concatenate([trial.inputs.starts, trial.inputs.starts[:, ::-1]])  # slope first, or offset first
    distances = np.abs(points[:, np.newaxis] - starts)
    return bool((distances < NEAR_START * START).all(axis=2).any())


def check_averaged(trial: Trial) -> None:
    """Every update uses the mean of all ranks' gradients.

    Example: all targets are 4000 on rank 0 and 8000 on rank 1, and both offsets are 0. With the mean of the gradients
    both move by 2 * 0.08 * 6000 = 960; with their own they move by 640 and 1280.
    """
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
    """Every sample is used, and by one rank only: in every epoch, where an answer shares out the samples anew in each.

    Example: of four samples rank 0 uses 0 and 2, rank 1 uses 1 and 3. If rank 1 used 2 and 3, then 2 would be used
    by both ranks and 1 by none.
    """
    for name in CODED:
        steps = used_samples(trial, name)
        if all(len(by) == 1 for step in steps for by in step.values()):
            continue
        owners = {sample: sorted({rank for step in steps for rank in step[sample]}) for sample in steps[0]}
        check_owners(owners, trial.num_ranks)


def check_rate(trial: Trial) -> None:
    """The rate with which every rank steps is the given one times the number of ranks.

    Example: updates that show the rates 0.08 and 0.08, twice the given one, are right; 0.04 is not scaled, 0.16 is
    scaled twice or comes of gradients that are summed, and 0.04 and 0.08 depend on the rank.
    """
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
    """Every step on every rank is the step of gradient descent in one process on all the data.

    Example: x = (0, 1) has the targets y = (1, 3). From (0, 0), where the gradient of the mean squared error is
    (-3, -4), one process steps to (0.24, 0.32) with the rate 0.08; a rank with the second sample alone would step
    to (0.48, 0.48).
    """
    gaps, history = _gaps(trial, "real"), trial.history("real")
    num_steps = history.shape[1] - 1
    require(
        num_steps == NUM_EPOCHS,
        f"every rank made {num_steps} steps in {NUM_EPOCHS} epochs; with its share of the data it needs {NUM_EPOCHS}",
    )
    start = next((row for row in range(FIRST_STEP + 1) if gaps[row] < SAME_PLACE), 0)
    serial = serial_history(trial, history[0, start:])
    for rank, points in enumerate(history[:, start:]):
        for step, (point, expected) in enumerate(zip(points, serial), start):
            require(
                bool(np.allclose(point, expected, rtol=1e-3, atol=5e-4)),
                f"after step {step} rank {rank} is at ({point[0]:.4f}, {point[1]:.4f}); "
                f"one process with all the data would be at ({expected[0]:.4f}, {expected[1]:.4f})",
            )


def serial_history(trial: Trial, seen: Array) -> Array:
    """Return the trajectory of one process with all of the real data, from the first point of `seen`, same shape.

    Each sample's target is that of the rank that used it. Which rank that is may change from step to step, when an
    answer shuffles before it shards: of all even divisions of the samples, each step takes the one that leads nearest
    to the next point of `seen`.
    """
    x = trial.inputs.x
    owners = np.array(list(_even_divisions([len(x) // trial.num_ranks] * trial.num_ranks)))
    y = trial.inputs.y[owners, np.arange(len(x))]  # shape (num_divisions, num_samples)
    inputs = np.stack([x, np.ones_like(x)], axis=1).astype(float)
    points = [np.asarray(seen[0], dtype=float)]
    for point in seen[1:]:
        errors = inputs @ points[-1] - y
        reached = points[-1] - RATE * trial.num_ranks * 2 * errors @ inputs / len(x)
        points.append(reached[np.argmin(np.sum((reached - point) ** 2, axis=1))])
    return np.array(points)


def _even_divisions(places: list[int]) -> Iterator[list[int]]:
    """Yield all ways to give each sample a rank, when rank r has places[r] places: [0, 1] and [1, 0] for [1, 1]."""
    if not any(places):
        yield []
    for rank, free in enumerate(places):
        if free:
            left = [other - (number == rank) for number, other in enumerate(places)]
            yield from ([rank, *rest] for rest in _even_divisions(left))
