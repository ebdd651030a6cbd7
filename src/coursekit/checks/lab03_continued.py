"""Checks of lab 03's training when it is called again in the same folder: with steps left, and with none.

Example: after two epochs of 5 steps, a third epoch, which max_num_steps limits to 4 steps, takes steps 10 to 13.
"""

import numpy as np

from coursekit.checks.check import CheckError, require
from coursekit.checks.compare import require_equal
from coursekit.checks.lab03_training import (
    CONTINUED,
    MAX_NUM_STEPS,
    NUM_EPOCHS_CONTINUED,
    SMALL,
    check_goes_on,
    expected_rates,
    steps_per_epoch,
    training_run,
)
from coursekit.checks.rates import check_rates, rates
from coursekit.checks.steps import Steps
from coursekit.checks.trials import Trial
from coursekit.drivers.probe_model import MOMENTUM, Array


def check_continued(trial: Trial) -> None:
    """A second call takes only the missing steps, with the weights and the rate from the end of the first call."""
    _, before, old = training_run(trial, 0)
    has_steps = all(any(record.training for record in result[1][1]) for result in trial.of_ranks())
    expected = f"the second run, after 2 of 3 epochs: expected {MAX_NUM_STEPS} steps"
    require(has_steps, f"{expected}, got none: pass num_epochs of settings as epochs", "steps.none")
    _, _, steps = training_run(trial, 1)
    limited = steps.num_steps != steps_per_epoch(trial.num_ranks)
    advice = "start at the first epoch not completed" if limited else "max_num_steps limits the steps of an epoch"
    require(steps.num_steps == MAX_NUM_STEPS, f"{expected}, got {steps.num_steps}: {advice}", "steps.wrong-number")
    ends = [of_rank[-1].bias for of_rank in before]
    check_goes_on(steps, ends[:1] * trial.num_ranks)  # rank 0's
    for result, *_ in (of_rank[1] for of_rank in trial.of_ranks()):
        what = "num_steps of the second run, which max_num_steps limits"
        require_equal(result["num_steps"], MAX_NUM_STEPS, what, "steps.wrong-number")
    if not _are_right(old, trial.num_ranks):
        return  # wrong rates in the first run have already cost points
    wanted = _continued_rates(trial.num_ranks)
    check_rates(rates(steps, first=1), wanted[1:-1], trial.num_ranks)
    first = (steps.bias[:, 1] - steps.bias[:, 0]) / MOMENTUM
    kept = (ends[0] - old.bias[0, -1]) - wanted[0] / MOMENTUM * steps.gradients()[:, 0].mean(axis=0)
    message = "the second run continues without the momenta of the first"
    require(np.abs(first - kept).max() < SMALL, message, "momenta.lost")


def _are_right(steps: Steps, num_ranks: int) -> bool:
    """Return whether the first training run took the right steps with the right rates."""
    wanted = expected_rates(num_ranks)
    if steps.num_steps != len(wanted):
        return False
    try:
        check_rates(rates(steps), wanted[2:-1], num_ranks)
    except CheckError:
        return False
    return True


def _continued_rates(num_ranks: int) -> Array:
    """Return the rates of the second run's steps.

    Example: in a warm-up of 16 steps from 0.1 to 0.3, steps 10 to 13 have the rates 0.225, 0.2375, 0.25 and 0.2625.
    """
    num_done = 2 * steps_per_epoch(num_ranks)
    share = (num_done + np.arange(MAX_NUM_STEPS)) / (MAX_NUM_STEPS * CONTINUED["num_warmup_epochs"])
    return np.asarray(CONTINUED["learning_rate"] * (1 + np.minimum(share, 1.0) * (num_ranks - 1)))


def check_finished(trial: Trial) -> None:
    """Once all epochs are done, another call takes no training steps and only validates."""
    expected = f"the third run, after {NUM_EPOCHS_CONTINUED} of {NUM_EPOCHS_CONTINUED} epochs: expected"
    for rank, (result, records) in enumerate(of_rank[2] for of_rank in trial.of_ranks()):
        num_steps = sum(record.training for record in records)
        require(not num_steps, f"{expected} no step on rank {rank}, got {num_steps}", "steps.wrong-number")
        message = f"{expected} a validation on rank {rank}, got none"
        require(result.get("validation"), message, "validation.none")
