"""Checks of the training of lab 03: continuing, the whole training, and a step of one's own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from coursekit.checks import spy_steps
from coursekit.checks.check import require
from coursekit.checks.knowledge import check_follows, check_sent, loss_of_all, places_in_files, secrets
from coursekit.checks.on_ranks import run_here
from coursekit.checks.random_inputs import fresh_rng
from coursekit.checks.spy_steps import steps_of
from coursekit.checks.spy_trial import (
    SAMPLES_PER_FILE,
    SMALLEST_GAP,
    check_rates,
    check_same_weights,
    check_samples,
    rates,
    try_on_ranks,
)
from coursekit.drivers import keras_ranks
from coursekit.drivers.calls import with_horovod
from coursekit.drivers.keras_ranks import BATCH_SIZE, NUM_STEPS_AFTER, NUM_STEPS_BEFORE
from coursekit.drivers.spy import MOMENTUM, Array

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from coursekit.checks.spy_steps import Steps
    from coursekit.checks.spy_trial import SpyTrial
    from coursekit.drivers.spy import Sight

VALIDATION_PER_FILE = (3, 1, 4)
NUM_SAMPLES = sum(SAMPLES_PER_FILE)
SETTINGS: dict[str, Any] = {
    "batch_size": 2,
    "global_batch_size": 0,
    "learning_rate": 0.1,
    "num_warmup_epochs": 1,
    "num_epochs": 2,
    "max_num_steps": 0,
    "compression": "none",
}
NUM_EPOCHS_CONTINUED, MAX_NUM_STEPS = 3, 4  # of the second training; 4 steps are the fewest that show a rate
TIMEOUT_S = 45.0  # nine times what a quiet machine with two cores takes


def check_resume(resume: Callable[..., Any], num_ranks: int) -> None:
    """All ranks go on from the newest checkpoint: weights, momenta, steps counted, and the number of epochs."""
    told = secrets(num_ranks, keras_ranks.NUM_CLASSES, num_rounds=2, num_samples=NUM_STEPS_BEFORE * BATCH_SIZE)
    last_epoch = int(fresh_rng().integers(3, 90))
    results = run_here(
        with_horovod, keras_ranks.use_resume, resume, last_epoch, num_ranks=num_ranks, timeout_s=TIMEOUT_S, private=told
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
            f"rank {rank} believes to have {got[1]} epochs behind it, the checkpoint is of epoch {last_epoch}",
        )
        gap = float(np.abs(after.bias[rank, 0] - saved).max())
        require(gap < SMALLEST_GAP, f"rank {rank} does not go on from the weights of the checkpoint")
    gradient = after.gradients()[:, 0].mean(axis=0)
    expected = saved + MOMENTUM * moment - keras_ranks.RATE * gradient
    for rank, result in enumerate(results):
        gap = float(np.abs(after.bias[rank, 1] - expected).max())
        require(gap < 1e-4, f"rank {rank} goes on without the momenta of the optimiser")  # noqa: PLR2004  # momenta are above 0.01
        wanted = 2 * NUM_STEPS_BEFORE + NUM_STEPS_AFTER
        require(
            result["num_steps"] == wanted,
            f"the optimiser of rank {rank} has counted {result['num_steps']} steps, not {wanted}: restore it, too",
        )


def try_train(train: Callable[..., Any], num_ranks: int = 2, *, twice: bool = True) -> SpyTrial:
    """Train two epochs of tiny files with the whole answer; if twice, then in the same folder some steps of a third."""
    files = {"train": SAMPLES_PER_FILE, "validation": VALIDATION_PER_FILE}
    num_classes = NUM_SAMPLES + sum(VALIDATION_PER_FILE) + 1
    longer = {**SETTINGS, "num_epochs": NUM_EPOCHS_CONTINUED, "max_num_steps": MAX_NUM_STEPS}
    runs = [SETTINGS, longer][: 1 + twice]
    told = secrets(num_ranks, num_classes, num_rounds=2, files=files)
    use = keras_ranks.use_train
    return try_on_ranks(use, train, runs, num_ranks=num_ranks, timeout_s=TIMEOUT_S, secrets=told)


def _training(trial: SpyTrial, number: int) -> tuple[list[dict[str, Any]], list[list[Sight]], Steps]:
    """Return results, sights and steps of the first or the second training, by rank."""
    outcomes = [result[number] for result in trial.of_ranks()]
    sights = [seen for _, seen in outcomes]
    return [result for result, _ in outcomes], sights, steps_of(sights)


def steps_per_epoch(num_ranks: int) -> int:
    """Return the number of steps in an epoch of the trial."""
    return NUM_SAMPLES // (int(SETTINGS["batch_size"]) * num_ranks)


def expected_rates(num_ranks: int) -> Array:
    """Return the rate of every step of the two epochs: a line in the first, constant in the second."""
    num_steps = steps_per_epoch(num_ranks)
    share = np.minimum(np.arange(2 * num_steps) / num_steps, 1.0)
    low = float(SETTINGS["learning_rate"])
    line: Array = low + share * (num_ranks - 1) * low
    return line


def check_training(trial: SpyTrial) -> None:
    """One training on all ranks: steps, start, samples, averages, rates, history and validation."""
    results, sights, steps = _training(trial, 0)
    num_steps = steps_per_epoch(trial.num_ranks)
    require(
        steps.num_steps == 2 * num_steps,
        f"each rank made {steps.num_steps} steps in 2 epochs; with its share of {NUM_SAMPLES} images "
        f"and batches of 2 it needs {2 * num_steps}",
    )
    check_same_weights(steps)
    check_samples(steps, trial.secrets)
    check_rates(rates(steps), expected_rates(trial.num_ranks)[2:-1], trial.num_ranks)
    check_follows(steps, trial.secrets)
    for rank, result in enumerate(results):
        for name in ("history", "validation", "num_steps"):
            require(name in result, f"the result of rank {rank} has no entry {name!r}")
        require(result["num_steps"] == num_steps, f"num_steps is {result['num_steps']:g}, not {num_steps}")
        losses, first = (np.asarray(one["history"]["loss"]) for one in (result, results[0]))
        require(np.allclose(losses, first, rtol=1e-4), f"the history of rank {rank} differs from that of rank 0")
    end = _next_weights(steps, float(expected_rates(trial.num_ranks)[-1]))
    _check_validation(results, sights, trial.secrets, end)


def _next_weights(steps: Steps, rate: float) -> Array:
    """Return the weights after the last step."""
    last = steps.bias[0, -1]
    end: Array = last + MOMENTUM * (last - steps.bias[0, -2]) - rate * steps.gradients()[:, -1].mean(axis=0)
    return end


def _check_validation(
    results: Sequence[dict[str, Any]], sights: Sequence[Sequence[Sight]], told: Sequence[dict[str, Any]], end: Array
) -> None:
    """The result of the validation is the loss over all validation images, with the weights `end`."""
    seen = [[sight for sight in of_rank if not sight.training] for of_rank in sights]
    require(any(seen), "no rank has validated")
    samples = [np.concatenate([sight.samples for sight in of_rank] or [np.zeros(0, dtype=int)]) for of_rank in seen]
    used = np.concatenate([places_in_files(*pair, "validation") for pair in zip(samples, told)])
    everything = list(range(sum(VALIDATION_PER_FILE)))
    require(sorted(used.tolist()) == everything, "each validation picture must be used once, by one rank")
    for rank, of_rank in enumerate(seen):
        gap = max((float(np.abs(sight.bias - end).max()) for sight in of_rank), default=0.0)
        require(gap < 1e-3, f"rank {rank} does not validate with the weights of the end")  # noqa: PLR2004  # moves are above 0.01
    expected = loss_of_all(end, samples)
    for rank, result in enumerate(results):
        got = result["validation"]["loss"]
        require(bool(np.isclose(got, expected, rtol=1e-3)), f"rank {rank} validates to {got:.4g}, not {expected:.4g}")


def check_continued(trial: SpyTrial) -> None:
    """A second call makes only the steps that are missing, from the weights and with the rate of the first's end."""
    _, before, old = _training(trial, 0)
    _, _, steps = _training(trial, 1)
    limited = steps.num_steps != steps_per_epoch(trial.num_ranks)
    advice = "begin at the epoch reached" if limited else "max_num_steps limits the steps of an epoch"
    is_rest = steps.num_steps == MAX_NUM_STEPS
    require(is_rest, f"after 2 epochs of 3 the second run made {steps.num_steps} steps, not {MAX_NUM_STEPS}: {advice}")
    ends = [of_rank[-1].bias for of_rank in before]
    for rank, end in enumerate(ends):
        gap = float(np.abs(steps.bias[rank, 0] - end).max())
        require(gap < SMALLEST_GAP, f"rank {rank} does not go on from the weights of the checkpoint")
    found = rates(steps, first=1)
    check_rates(found, expected_rates(trial.num_ranks)[-1], trial.num_ranks)
    first = (steps.bias[:, 1] - steps.bias[:, 0]) / MOMENTUM
    kept = (ends[0] - old.bias[0, -1]) - found[0, 0] / MOMENTUM * steps.gradients()[:, 0].mean(axis=0)
    has_momenta = bool(np.abs(first - kept).max() < 1e-4)  # noqa: PLR2004  # momenta are above 0.01
    require(has_momenta, "the second run goes on without the momenta of the first")


def check_step(make_step: Callable[..., Any], num_ranks: int) -> None:
    """A step moves all ranks by the mean of their gradients, returns the loss, and is traced once."""
    told = secrets(num_ranks, keras_ranks.NUM_CLASSES, num_samples=keras_ranks.NUM_STEPS * BATCH_SIZE)
    results = run_here(
        with_horovod, keras_ranks.use_step, make_step, num_ranks=num_ranks, timeout_s=TIMEOUT_S, private=told
    )
    steps = steps_of([result["sights"] for result in results])
    check_rates(rates(steps, first=1), keras_ranks.RATE, num_ranks)
    check_sent(steps.samples, told)
    check_follows(steps, told)
    for rank, result in enumerate(results):
        own = [spy_steps.loss(*step) for step in zip(steps.bias[rank], steps.samples[rank])]
        require(
            np.allclose(result["losses"], own, rtol=1e-3),
            f"on rank {rank} the step returns {result['losses'][0]:.4g}, the loss of its batch is {own[0]:.4g}",
        )
        num_traces = result["num_traces"]
        require(
            num_traces <= 2,  # noqa: PLR2004  # TensorFlow may trace once more to make the variables
            f"the step was traced {num_traces} times for {len(own)} steps: compile it once, outside of the loop",
        )
