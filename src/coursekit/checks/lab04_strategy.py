"""Checks of lab 04's training with a strategy.

Example: 15 steps of one process become 5 steps on each of three workers. Each step uses three times the rate of one
worker, and the mean of the workers' gradients.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from coursekit.checks.check import require
from coursekit.checks.compare import brief
from coursekit.checks.lab04_pieces import INPUT_FN, or_own
from coursekit.checks.lab04_training import SAMPLES_PER_FILE, check_divided, check_file_shards
from coursekit.checks.lab04_updates import Updates, check_direction, check_rate
from coursekit.checks.private_data import check_follows, draw_private
from coursekit.checks.steps import Steps, check_same_weights, steps_of
from coursekit.checks.trials import Trial, try_on_ranks
from coursekit.drivers import lab04, lab04_strategy
from coursekit.drivers.calls import Answer
from coursekit.drivers.probe_model import NUM_CLASSES, RATE
from coursekit.errors import Cause, without_codes


def try_strategy(train_with_strategy: Answer, num_ranks: int = 3) -> Trial:
    """Train a probe with the answer's strategy on real worker processes, in which Horovod is shut down."""
    given = draw_private(num_ranks, NUM_CLASSES, files={"train": SAMPLES_PER_FILE})
    launch: dict[str, Any] = {"num_ranks": num_ranks, "timeout_s": lab04.HANG_S, "private": given}
    args = lab04_strategy.use_strategy, train_with_strategy, num_ranks
    trial = or_own(lambda pieces: try_on_ranks(*args, pieces, **launch), INPUT_FN, check_together, check_plan)
    horovod = Cause("use no Horovod in this section; strategy and context know the workers", "strategy.horovod")
    return (
        replace(trial, error=f"{without_codes(trial.error)}: {horovod}") if "use hvd.init()" in trial.error else trial
    )


def _updates(trial: Trial, steps: Steps) -> Updates:
    rate, kernels = RATE * trial.num_ranks, trial.of_ranks("kernels")
    return Updates(steps, rate, lab04_strategy.LARGE_STEP, lab04.TRAIN_BATCH_SIZE, kernels)


def check_together(trial: Trial) -> None:
    """The workers train together: with the same weights, averaged gradients, and separate shards."""
    steps = steps_of(trial.of_ranks("records"))
    updates = _updates(trial, steps)
    are_apart = np.ptp(steps.bias[:, :3], axis=0).max(axis=1).min() > 0 and updates.rates_by(updates.own()) is not None
    message = "each worker starts and trains alone: connect them with a MultiWorkerMirroredStrategy"
    require(not are_apart, message, "strategy.alone")
    check_same_weights(steps)
    check_direction(updates)
    check_follows(steps, trial.private)
    check_file_shards(steps, trial.private)


def check_plan(trial: Trial) -> None:
    """The rate and the number of steps fit the number of workers, batches have the right size, and callbacks run."""
    check_rate(_updates(trial, check_divided(trial.of_ranks("records"), lab04_strategy.NUM_STEPS)))
    for worker, names in enumerate(trial.of_ranks("changed")):
        message = f"on worker {worker}, the input function gets {brief(names)} changed: pass `params` on as given"
        require(not names, message, "params.changed")
    for worker, num_calls in enumerate(trial.of_ranks("num_callback_calls")):
        message = f"on worker {worker}, fit does not call the given callbacks: pass `callbacks` on"
        require(num_calls != 0, message, "callbacks.not-called")
