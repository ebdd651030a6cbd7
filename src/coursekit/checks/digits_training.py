"""Checks of lab 05's training on digits: averaged on all ranks, written down by one of them, and read again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from coursekit.checks import spy_steps
from coursekit.checks.check import require
from coursekit.checks.knowledge import check_follows, check_sent, secrets
from coursekit.checks.on_ranks import call_here
from coursekit.checks.plain_numbers import as_number, require_equal
from coursekit.checks.random_inputs import fresh_rng
from coursekit.checks.slips import require_close
from coursekit.checks.spy_steps import steps_of
from coursekit.checks.spy_trial import check_rates, check_same_weights, rates, try_on_ranks
from coursekit.drivers import digits_ranks
from coursekit.drivers.digits_ranks import NUM_EPOCHS, NUM_SAMPLES, RATE, STEPS_PER_EPOCH
from coursekit.drivers.keras_spy import NUM_CLASSES

if TYPE_CHECKING:
    from collections.abc import Callable

    from coursekit.checks.spy_steps import Steps
    from coursekit.checks.spy_trial import SpyTrial

FEW = 1e-4  # of a number that was written with 32 bits


def try_train(train: Callable[..., Any], num_ranks: int = 3) -> SpyTrial:
    """Train a spy on real ranks, each with samples and a folder of its own."""
    told = secrets(num_ranks, NUM_CLASSES, num_samples=NUM_SAMPLES)
    return try_on_ranks(digits_ranks.use_train, train, num_ranks=num_ranks, secrets=told, look=True)


def _steps(trial: SpyTrial) -> Steps:
    steps = steps_of([result["sights"] for result in trial.of_ranks()])
    check_sent(steps.samples, trial.secrets, NUM_SAMPLES)
    require_equal(steps.num_steps, NUM_EPOCHS * STEPS_PER_EPOCH, f"the steps in {NUM_EPOCHS} epochs")
    return steps


def check_trained(trial: SpyTrial) -> None:
    """All ranks start alike and move by the mean of their gradients, with the scaled rate."""
    steps = _steps(trial)
    check_same_weights(steps)
    check_rates(rates(steps), RATE * trial.num_ranks, trial.num_ranks)
    check_follows(steps, trial.secrets)
    for rank, result in enumerate(trial.of_ranks()):
        metrics = result["metrics"]
        told = f"on rank {rank} train returns a {metrics}"
        require(isinstance(metrics, list), f"{told}, expected the dictionary: network.fit(…).history")
        told = f"on rank {rank} the history has {metrics}"
        require(
            {"loss", "accuracy"} <= {*metrics}, f'{told}, expected accuracy and loss: compile with metrics=["accuracy"]'
        )


def check_logs(trial: SpyTrial) -> None:
    """Rank 0 alone writes, into the folder logs: every step, the losses of all ranks' epochs, and histograms."""
    steps = _steps(trial)
    results = trial.of_ranks()
    writers = [rank for rank, files in enumerate(trial.left) if files]
    require(bool(writers), "no rank wrote a file")
    require(writers == [0], f"expected files of rank 0 alone, got files of the ranks {writers}")
    is_there = any(name.startswith("logs/") for name in trial.left[0])
    require(is_there, f"there are no logs in the folder logs, but {sorted(trial.left[0])[:2]}")
    found = results[0]
    expected = NUM_EPOCHS * STEPS_PER_EPOCH
    require_equal(
        found["num_steps"],
        expected,
        "the steps in the logs",
        ": update_freq=1 writes each down, on ranks that train as above",
    )
    require_equal(found["num_histograms"], NUM_EPOCHS, "the histograms of a weight", ": histogram_freq=1 makes them")
    pairs = zip(steps.bias, steps.samples)
    losses = np.array([[spy_steps.loss(*step) for step in zip(of_rank, batches)] for of_rank, batches in pairs])
    by_epoch = losses.reshape(trial.num_ranks, NUM_EPOCHS, -1).mean(axis=2)
    slips = {"these are rank 0's alone: the callback that averages comes before the one that writes": by_epoch[0]}
    require_close(found["losses"], by_epoch.mean(axis=0), "the losses of the epochs in the logs", slips, 1e-3)


def check_read_run(read_run: Callable[..., Any]) -> None:
    """The answers come from the event files of the run, all of them, whatever else is in them."""
    rng = fresh_rng()
    num_epochs, num_steps = 3, int(rng.integers(4, 9))
    training = 2 + np.insert(rng.permutation([1.0, 2.0]), 1, 0.0) + rng.uniform(0, 0.5, num_epochs)  # not lowest last
    validation = rng.uniform(0.1, 1, num_epochs)
    # The largest of the first epoch is larger than that of the last.
    sizes = [rng.uniform(0.5, 1, (5, 4)) / (1 + epoch) for epoch in range(num_epochs)]
    weights = [(rng.choice([-1, 1], (5, 4)) * size).astype(np.float32) for size in sizes]
    losses = [training.tolist(), validation.tolist()]
    got = call_here(digits_ranks.read_run, read_run, losses, num_steps, weights)
    for name in ("last_loss", "num_steps", "largest_weight"):
        require(name in got, f"read_run returns no entry {name!r}, but {sorted(got)}")
    told = "the training loss of the last epoch"
    slips = {
        "that is the lowest": min(training),
        "that is of the first epoch": training[0],
        "that is of the validation: its logs are in another folder": validation[-1],
        "that is of a single step": 2 * training[-1],
    }
    require_close(as_number(got["last_loss"], told), training[-1], told, slips, FEW)
    told = "the number of steps in the logs"
    slips = {
        "these are the epochs": num_epochs,
        "count those of all event files": num_steps,
        "that is the number of the last step: count the events": num_steps * num_epochs - 1,
    }
    require_close(as_number(got["num_steps"], told), num_steps * num_epochs, told, slips, FEW)
    told = "the largest weight of dense/kernel after the last epoch"
    slips = {
        "that is the smallest": weights[-1].min(),
        "that is of all epochs": max(layer.max() for layer in weights),
        "that is of another layer": 2 * weights[-1].max(),
    }
    require_close(as_number(got["largest_weight"], told), weights[-1].max(), told, slips, FEW)
