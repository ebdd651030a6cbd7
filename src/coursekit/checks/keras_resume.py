"""Check of lab 03's checkpoints: all ranks go on from the newest one, also those that cannot see it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from coursekit.checks.check import require
from coursekit.checks.keras_training import TIMEOUT_S
from coursekit.checks.knowledge import check_follows, check_sent, secrets
from coursekit.checks.on_ranks import run_here
from coursekit.checks.random_inputs import fresh_rng
from coursekit.checks.spy_steps import steps_of
from coursekit.checks.spy_trial import RANKS_PER_NODE, SMALLEST_GAP
from coursekit.drivers import keras_ranks
from coursekit.drivers.calls import with_horovod
from coursekit.drivers.keras_ranks import NUM_STEPS_AFTER, NUM_STEPS_BEFORE
from coursekit.drivers.keras_spy import BATCH_SIZE, NUM_CLASSES, RATE
from coursekit.drivers.spy import MOMENTUM

if TYPE_CHECKING:
    from collections.abc import Callable


def check_resume(resume: Callable[..., Any], num_ranks: int) -> None:
    """All ranks go on from the newest checkpoint: weights, momenta, steps counted, and the number of epochs."""
    told = secrets(num_ranks, NUM_CLASSES, num_rounds=2, num_samples=NUM_STEPS_BEFORE * BATCH_SIZE)
    last_epoch = int(fresh_rng().integers(3, 90))
    results = run_here(
        with_horovod,
        keras_ranks.use_resume,
        resume,
        last_epoch,
        num_ranks=num_ranks,
        ranks_per_node=RANKS_PER_NODE,
        timeout_s=TIMEOUT_S,
        private=told,
    )
    before, after = (steps_of([result[name] for result in results]) for name in ("before", "after"))
    check_follows(before, told)
    check_sent(before.samples, told)
    check_sent(after.samples, told, NUM_STEPS_AFTER * BATCH_SIZE)
    saved = before.bias[0, -1]
    moment = saved - before.bias[0, -2]
    for rank, result in enumerate(results):
        got = result["from_nothing"], result["num_epochs"]
        require(got[0] == 0, f"in a folder without a checkpoint, rank {rank} has {got[0]} epochs behind it")
        require(
            got[1] == last_epoch,
            f"the epochs behind it that rank {rank} believes in: expected {last_epoch}, as the newest checkpoint has, "
            f"got {got[1]}{': rank 0 alone sees the checkpoint, and tells the others' if rank else ''}",
        )
        gap = float(np.abs(after.bias[rank, 0] - saved).max())
        require(gap < SMALLEST_GAP, f"rank {rank} does not go on from the weights of the checkpoint")
    gradient = after.gradients()[:, 0].mean(axis=0)
    expected = saved + MOMENTUM * moment - RATE * gradient
    for rank, result in enumerate(results):
        gap = float(np.abs(after.bias[rank, 1] - expected).max())
        require(gap < 1e-4, f"rank {rank} goes on without the momenta of the optimiser")  # noqa: PLR2004  # momenta are above 0.01
        wanted = 2 * NUM_STEPS_BEFORE + NUM_STEPS_AFTER
        require(
            result["num_steps"] == wanted,
            f"the steps that the optimiser of rank {rank} has counted: expected {wanted}, got {result['num_steps']}: "
            "restore it, too",
        )
