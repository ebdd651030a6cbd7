"""Checks of the last section of lab 04: TF_CONFIG, and training on real workers of a strategy."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from coursekit.checks.check import require
from coursekit.checks.estimator_model import rates_alone
from coursekit.checks.estimator_runs import SAMPLES_PER_FILE, check_batches, check_file_shards
from coursekit.checks.knowledge import check_follows, secrets
from coursekit.checks.on_ranks import call_here
from coursekit.checks.plain_numbers import as_dict, told
from coursekit.checks.spy_steps import steps_of
from coursekit.checks.spy_trial import (
    check_rates,
    check_same_weights,
    rates,
    try_on_ranks,
)
from coursekit.drivers import worker_ranks
from coursekit.drivers.calls import call
from coursekit.drivers.estimator_ranks import HANG_S, RATE
from coursekit.drivers.keras_spy import NUM_CLASSES

if TYPE_CHECKING:
    from collections.abc import Callable

    from coursekit.checks.spy_steps import Steps
    from coursekit.checks.spy_trial import SpyTrial


def check_tf_config(tf_config: Callable[..., Any], num_workers: int) -> None:
    """The text for TF_CONFIG names all workers, and which of them this process is."""
    hosts = [f"node{number // 2}:{20000 + number % 2}" for number in range(num_workers)]  # two on each node
    for index in range(num_workers):
        text = call_here(call, tf_config, list(hosts), index)
        require(isinstance(text, str), f"tf_config must return text in the form of JSON, not {type(text).__name__}")
        try:
            found = json.loads(text)
        except ValueError:
            found = None
        require(isinstance(found, dict), f"{text!r} is not JSON, as json.dumps makes it")
        cluster, task = (as_dict(found.get(part), f"the part {part!r} of TF_CONFIG") for part in ("cluster", "task"))
        workers = cluster.get("worker")
        require(workers == hosts, f"the cluster's workers: expected {hosts}, got {told(workers)}")
        require(task.get("type") == "worker", f"the type of the task: expected 'worker', got {told(task.get('type'))}")
        knows_itself = task.get("index") == index and type(task["index"]) is int
        require(knows_itself, f"the index of worker {index}: expected {index}, got {told(task.get('index'))}")


def try_strategy(train_with_strategy: Callable[..., Any], num_ranks: int = 3) -> SpyTrial:
    """Train a spy with the answer's strategy on real worker processes, in which Horovod is shut down."""
    given = secrets(num_ranks, NUM_CLASSES, files={"train": SAMPLES_PER_FILE})
    use = worker_ranks.use_strategy
    trial = try_on_ranks(use, train_with_strategy, num_ranks, num_ranks=num_ranks, timeout_s=HANG_S, secrets=given)
    hint = ": it takes no part here, ask strategy and context" if "use hvd.init()" in trial.error else ""
    return replace(trial, error=trial.error + hint)


def _steps(trial: SpyTrial) -> Steps:
    return steps_of([result["sights"] for result in trial.of_ranks()])


def check_together(trial: SpyTrial) -> None:
    """The workers are one training: same weights, averaged gradients, shards of their own."""
    steps = _steps(trial)
    check_same_weights(steps)
    rates(steps)
    check_follows(steps, trial.secrets)
    check_file_shards(steps, trial.secrets)


def check_plan(trial: SpyTrial) -> None:
    """The rate grows with the workers, the steps become fewer, batches have their size, and callbacks are called."""
    steps = _steps(trial)
    wanted = worker_ranks.NUM_STEPS
    require(
        steps.num_steps == wanted,
        f"of {wanted * trial.num_ranks} steps of one process each of {trial.num_ranks} workers: expected {wanted}, "
        f"got {steps.num_steps}",
    )
    check_batches(steps)
    check_rates(rates_alone(steps), RATE * trial.num_ranks, trial.num_ranks)
    for worker, result in enumerate(trial.of_ranks()):
        was_called = result["num_callback_calls"] != 0
        require(was_called, f"on worker {worker} fit calls no callback that is given: pass `callbacks` on")
