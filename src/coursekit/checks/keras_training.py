"""Checks of the training of lab 03: continuing, validation, the whole training, and a step of one's own."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from coursekit.checks.check import require
from coursekit.checks.on_ranks import run_here
from coursekit.checks.spy_trial import (
    MOMENTUM,
    SMALLEST_GAP,
    check_rates,
    check_same_weights,
    check_samples,
    rates,
    steps_of,
    try_on_ranks,
)
from coursekit.drivers import keras_ranks, spy
from coursekit.drivers.calls import with_horovod

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from coursekit.checks.spy_trial import Steps, Trial

Array = np.ndarray[Any, Any]

SAMPLES_PER_FILE = (5, 3, 6, 4, 2, 4)
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
UNEQUAL = ((0, 0, 0, 0, 0, 5, 9), (20, 21), (0, 30, 31, 32))  # samples of each rank for validation


def check_resume(resume: Callable[..., Any], num_ranks: int) -> None:
    """All ranks go on from the newest checkpoint: weights, momenta, steps counted, and the number of epochs."""
    with tempfile.TemporaryDirectory() as folder:
        results = run_here(
            with_horovod, keras_ranks.use_resume, resume, folder, num_ranks=num_ranks, timeout_s=TIMEOUT_S
        )
    before, after = (steps_of([result[name] for result in results]) for name in ("before", "after"))
    saved = before.bias[0, -1]
    moment = saved - before.bias[0, -2]
    for rank, result in enumerate(results):
        got = result["from_nothing"], result["num_epochs"]
        require(got[0] == 0, f"in a folder without a checkpoint, rank {rank} has {got[0]} epochs behind it")
        require(got[1] == 7, f"rank {rank} believes to have {got[1]} epochs behind it, the checkpoint is of epoch 7")  # noqa: PLR2004
        gap = float(np.abs(after.bias[rank, 0] - saved).max())
        require(gap < SMALLEST_GAP, f"rank {rank} does not go on from the weights of the checkpoint")
    gradient = after.gradients()[:, 0].mean(axis=0)
    expected = saved + MOMENTUM * moment - keras_ranks.RATE * gradient
    for rank, result in enumerate(results):
        gap = float(np.abs(after.bias[rank, 1] - expected).max())
        require(gap < 1e-4, f"rank {rank} goes on without the momenta of the optimiser")  # noqa: PLR2004  # momenta are above 0.01
        wanted = 2 * keras_ranks.NUM_STEPS_BEFORE + keras_ranks.NUM_STEPS_AFTER
        require(
            result["num_steps"] == wanted,
            f"the optimiser of rank {rank} has counted {result['num_steps']} steps, not {wanted}: restore it, too",
        )


def check_evaluate(evaluate: Callable[..., Any], num_ranks: int) -> None:
    """Loss and accuracy are those over the pictures of all ranks, on every rank, in evaluation mode."""
    samples = UNEQUAL[:num_ranks]
    results = run_here(
        with_horovod, keras_ranks.use_evaluate, evaluate, samples, num_ranks=num_ranks, timeout_s=TIMEOUT_S
    )
    bias = results[0]["bias"]
    everything = np.concatenate([np.array(of_rank) for of_rank in samples])
    expected = {"accuracy": float(np.mean(everything == 0)), "loss": spy.loss(bias, everything)}
    biased = float(np.mean([np.mean(np.array(of_rank) == 0) for of_rank in samples]))
    for rank, result in enumerate(results):
        trained = any(sight.training for sight in result["sights"])
        require(not trained, "the network was called in training mode")
        for name, value in expected.items():
            require(name in result["result"], f"the result on rank {rank} has no entry {name!r}: {result['result']}")
            got = result["result"][name]
            own = np.mean(np.array(samples[rank]) == 0)
            hint = ""
            if name == "accuracy" and np.isclose(got, own):
                hint = ": that is the accuracy of this rank alone"
            elif name == "accuracy" and np.isclose(got, biased):
                hint = ": the plain mean of the ranks' accuracies is wrong when their numbers of pictures differ"
            require(
                bool(np.isclose(got, value, rtol=1e-3)),
                f"on rank {rank} the {name} is {got:.4g}, over all pictures it is {value:.4g}{hint}",
            )


def try_train(train: Callable[..., Any], num_ranks: int = 2, *, twice: bool = True) -> Trial:
    """Train two epochs of tiny files with the whole answer; if twice, then in the same folder some steps of a third."""
    with tempfile.TemporaryDirectory() as parent:
        folder = Path(parent)
        train_files = spy.write_samples(folder, SAMPLES_PER_FILE)
        validation_files = spy.write_samples(folder, VALIDATION_PER_FILE, "validation", first=NUM_SAMPLES)
        where = folder / "training"
        return try_on_ranks(
            with_horovod,
            _train,
            train,
            [{}, {"num_epochs": NUM_EPOCHS_CONTINUED, "max_num_steps": MAX_NUM_STEPS}][: 1 + twice],
            train_files,
            validation_files,
            where,
            num_ranks=num_ranks,
            timeout_s=TIMEOUT_S,
        )


def _train(
    train: Callable[..., Any], runs: Sequence[dict[str, int]], *places: Any
) -> list[tuple[dict[str, Any], list[spy.Sight]]]:
    """On a rank: train, and train on, with changed settings; return each result with what the spies saw."""
    outcomes = []
    for changes in runs:
        sights = spy.watch()
        result = train(_build, *places, {**SETTINGS, **changes})
        outcomes.append((dict(result), list(sights)))
    return outcomes


def _build() -> Any:
    return spy.network(NUM_SAMPLES + sum(VALIDATION_PER_FILE) + 1)


def _training(trial: Trial, number: int) -> tuple[list[dict[str, Any]], list[list[spy.Sight]], Steps]:
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


def check_training(trial: Trial) -> None:
    """One training on all ranks: steps, start, samples, averages, rates, history and validation."""
    results, sights, steps = _training(trial, 0)
    num_steps = steps_per_epoch(trial.num_ranks)
    require(
        steps.num_steps == 2 * num_steps,
        f"each rank made {steps.num_steps} steps in 2 epochs; with its share of {NUM_SAMPLES} pictures "
        f"and batches of 2 it needs {2 * num_steps}",
    )
    check_same_weights(steps)
    check_samples(steps, NUM_SAMPLES)
    check_rates(rates(steps), expected_rates(trial.num_ranks)[2:-1], trial.num_ranks)
    for rank, result in enumerate(results):
        for name in ("history", "validation", "num_steps"):
            require(name in result, f"the result of rank {rank} has no entry {name!r}")
        require(result["num_steps"] == num_steps, f"num_steps is {result['num_steps']}, not {num_steps}")
        losses, first = (np.asarray(one["history"]["loss"]) for one in (result, results[0]))
        require(np.allclose(losses, first, rtol=1e-4), f"the history of rank {rank} differs from that of rank 0")
    _check_validation(results, sights)


def _check_validation(results: Sequence[dict[str, Any]], sights: Sequence[Sequence[spy.Sight]]) -> None:
    """The result of the validation is the loss over all validation pictures, with the weights of the end."""
    seen = [sight for of_rank in sights for sight in of_rank if not sight.training]
    require(bool(seen), "no rank has validated")
    everything = np.arange(NUM_SAMPLES, NUM_SAMPLES + sum(VALIDATION_PER_FILE))
    used = sorted(number for sight in seen for number in sight.samples.tolist())
    require(used == everything.tolist(), "each validation picture must be used once, by one rank")
    expected = spy.loss(seen[-1].bias, everything)
    for rank, result in enumerate(results):
        got = result["validation"]["loss"]
        require(bool(np.isclose(got, expected, rtol=1e-3)), f"rank {rank} validates to {got:.4g}, not {expected:.4g}")


def check_continued(trial: Trial) -> None:
    """A second call makes only the steps that are missing, from the weights and with the rate of the first's end."""
    _, before, old = _training(trial, 0)
    _, _, steps = _training(trial, 1)
    limited = steps.num_steps != steps_per_epoch(trial.num_ranks)
    advice = "begin at the epoch reached" if limited else "max_num_steps limits the steps of an epoch"
    require(
        steps.num_steps == MAX_NUM_STEPS,
        f"after 2 epochs of 3 the second run made {steps.num_steps} steps, not {MAX_NUM_STEPS}: {advice}",
    )
    ends = [of_rank[-1].bias for of_rank in before]
    for rank, end in enumerate(ends):
        gap = float(np.abs(steps.bias[rank, 0] - end).max())
        require(gap < SMALLEST_GAP, f"rank {rank} does not go on from the weights of the checkpoint")
    found = rates(steps, first=1)
    check_rates(found, np.full(found.shape[1], expected_rates(trial.num_ranks)[-1]), trial.num_ranks)
    first = (steps.bias[:, 1] - steps.bias[:, 0]) / MOMENTUM
    kept = (ends[0] - old.bias[0, -1]) - found[0, 0] / MOMENTUM * steps.gradients()[:, 0].mean(axis=0)
    require(
        bool(np.abs(first - kept).max() < 1e-4),  # noqa: PLR2004  # momenta are above 0.01
        "the second run goes on without the momenta of the first",
    )


def check_step(make_step: Callable[..., Any], num_ranks: int) -> None:
    """A step moves all ranks by the mean of their gradients, returns the loss, and is traced once."""
    results = run_here(with_horovod, keras_ranks.use_step, make_step, num_ranks=num_ranks, timeout_s=TIMEOUT_S)
    steps = steps_of([result["sights"] for result in results])
    found = rates(steps, first=1)
    check_rates(found, np.full(found.shape[1], keras_ranks.RATE), num_ranks)
    for rank, result in enumerate(results):
        own = [spy.loss(*step) for step in zip(steps.bias[rank], steps.samples[rank])]
        require(
            np.allclose(result["losses"], own, rtol=1e-3),
            f"on rank {rank} the step returns {result['losses'][0]:.4g}, the loss of its batch is {own[0]:.4g}",
        )
        num_traces = result["num_traces"]
        require(
            num_traces <= 2,  # noqa: PLR2004  # TensorFlow may trace once more to make the variables
            f"the step was traced {num_traces} times for {len(own)} steps: compile it once, outside of the loop",
        )
