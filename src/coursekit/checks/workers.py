"""Checks of the last section of lab 04: TF_CONFIG, and training on real workers of a strategy."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from coursekit.checks.check import require
from coursekit.checks.estimator_runs import SAMPLES_PER_FILE
from coursekit.checks.knowledge import check_follows, secrets
from coursekit.checks.on_ranks import call_here
from coursekit.checks.shards import check_owners
from coursekit.checks.spy_steps import steps_of
from coursekit.checks.spy_trial import check_rates, check_same_weights, owners_in_files, rates, try_on_ranks
from coursekit.drivers import estimator_ranks
from coursekit.drivers.calls import call
from coursekit.drivers.estimator_ranks import HANG_S, NUM_STEPS_OF_STRATEGY, RATE
from coursekit.drivers.keras_ranks import NUM_CLASSES

if TYPE_CHECKING:
    from collections.abc import Callable

    from coursekit.checks.spy_trial import SpyTrial


def check_tf_config(tf_config: Callable[..., Any], num_workers: int) -> None:
    """The text for TF_CONFIG names all workers, and which of them this process is."""
    hosts = [f"node{number}:{20000 + 7 * number}" for number in range(num_workers)]
    for index in range(num_workers):
        text = call_here(call, tf_config, list(hosts), index)
        require(isinstance(text, str), f"tf_config must return text in the form of JSON, not {type(text).__name__}")
        try:
            found = json.loads(text)
        except ValueError:
            found = None
        require(isinstance(found, dict), f"{text!r} is not JSON, as json.dumps makes it")
        workers = found.get("cluster", {}).get("worker")
        require(workers == hosts, f"the cluster's workers are {workers}, not {hosts}")
        task = found.get("task", {})
        require(task.get("type") == "worker", f"the task is of type {task.get('type')!r}, not 'worker'")
        knows_itself = task.get("index") == index and isinstance(task.get("index"), int)
        require(knows_itself, f"worker {index} is told that its index is {task.get('index')!r}")


def try_strategy(train_with_strategy: Callable[..., Any], num_ranks: int = 2) -> SpyTrial:
    """Train a spy with the answer's strategy on real worker processes."""
    told = secrets(num_ranks, NUM_CLASSES, files={"train": SAMPLES_PER_FILE})
    use = estimator_ranks.use_strategy
    return try_on_ranks(use, train_with_strategy, num_ranks, num_ranks=num_ranks, timeout_s=HANG_S, secrets=told)


def check_together(trial: SpyTrial) -> None:
    """The workers are one training: same weights, averaged gradients, shards of their own."""
    steps = steps_of(trial.of_ranks())
    check_same_weights(steps)
    rates(steps)
    check_follows(steps, trial.secrets)
    used = owners_in_files(steps, trial.secrets)
    check_owners({sample: by for sample, by in used.items() if by}, trial.num_ranks)


def check_plan(trial: SpyTrial) -> None:
    """The rate grows with the workers, and the steps become fewer."""
    steps = steps_of(trial.of_ranks())
    wanted = NUM_STEPS_OF_STRATEGY
    require(
        steps.num_steps == wanted,
        f"{wanted * trial.num_ranks} steps of one process are {wanted} steps on each of {trial.num_ranks} workers, "
        f"not {steps.num_steps}",
    )
    check_rates(rates(steps), RATE * trial.num_ranks, trial.num_ranks)
