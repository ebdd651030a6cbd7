"""Checks of lab 03's whole training: its epochs, and those of a second call in the same folder."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from coursekit.checks.check import require
from coursekit.checks.knowledge import check_follows, loss_of_all, places_in_files, secrets
from coursekit.checks.spy_steps import steps_of
from coursekit.checks.spy_trial import (
    SAMPLES_PER_FILE,
    SMALLEST_GAP,
    check_bits,
    check_rates,
    check_same_weights,
    check_samples,
    owners,
    rates,
    try_on_ranks,
)
from coursekit.drivers import keras_ranks
from coursekit.drivers.spy import MOMENTUM, Array

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from coursekit.checks.spy_steps import Steps
    from coursekit.checks.spy_trial import SpyTrial
    from coursekit.drivers.spy import Sight

VALIDATION_PER_FILE = (3, 1, 4, 2)
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
CONTINUED = {**SETTINGS, "num_epochs": NUM_EPOCHS_CONTINUED, "max_num_steps": MAX_NUM_STEPS}
# No entry as in the notebook, nor as above.
ELASTIC = {**SETTINGS, "batch_size": 3, "global_batch_size": 4, "learning_rate": 0.2, "num_warmup_epochs": 2}
ELASTIC["compression"] = "fp16"
TIMEOUT_S = 45.0  # nine times what a quiet machine with two cores takes


def try_train(
    train: Callable[..., Any], num_ranks: int = 3, runs: Sequence[dict[str, Any]] = (SETTINGS, CONTINUED)
) -> SpyTrial:
    """Train two epochs of tiny files with the whole answer, and then in the same folder some steps of a third."""
    files = {"train": SAMPLES_PER_FILE, "validation": VALIDATION_PER_FILE}
    num_classes = NUM_SAMPLES + sum(VALIDATION_PER_FILE) + 1
    told = secrets(num_ranks, num_classes, num_rounds=2, files=files)
    use = keras_ranks.use_train
    return try_on_ranks(use, train, list(runs), num_ranks=num_ranks, timeout_s=TIMEOUT_S, secrets=told)


def _training(trial: SpyTrial, number: int) -> tuple[list[dict[str, Any]], list[list[Sight]], Steps]:
    """Return results, sights and steps of the first or the second training, by rank."""
    outcomes = [result[number] for result in trial.of_ranks()]
    sights = [seen for _, seen in outcomes]
    return [result for result, _ in outcomes], sights, steps_of(sights)


def _images_of_a_step(num_ranks: int, settings: dict[str, Any]) -> int:
    return int(settings["global_batch_size"] or settings["batch_size"] * num_ranks)


def steps_per_epoch(num_ranks: int, settings: dict[str, Any] = SETTINGS) -> int:
    """Return the number of steps in an epoch of the trial."""
    return NUM_SAMPLES // _images_of_a_step(num_ranks, settings)


def expected_rates(num_ranks: int, settings: dict[str, Any] = SETTINGS) -> Array:
    """Return the rate of every step of the two epochs: a line in those of the warm-up, then constant."""
    num_steps = steps_per_epoch(num_ranks, settings)
    share = np.minimum(np.arange(2 * num_steps) / (num_steps * settings["num_warmup_epochs"]), 1.0)
    high = settings["learning_rate"] * _images_of_a_step(num_ranks, settings) / settings["batch_size"]
    line: Array = high / num_ranks * (1 + share * (num_ranks - 1))
    return line


def check_training(trial: SpyTrial, settings: dict[str, Any] = SETTINGS) -> None:
    """One training on all ranks: steps, start, samples, averages, rates, history and validation."""
    results, sights, steps = _training(trial, 0)
    num_steps, wanted = steps_per_epoch(trial.num_ranks, settings), expected_rates(trial.num_ranks, settings)
    of_rank = _images_of_a_step(trial.num_ranks, settings) // trial.num_ranks
    sizes = sorted({len(batch) for batches in steps.samples for batch in batches})
    require(sizes == [of_rank], f"the pictures in the batches of a rank: expected {of_rank}, got {sizes}")
    require(
        steps.num_steps == 2 * num_steps,
        f"the steps in 2 epochs with {NUM_SAMPLES} pictures and batches of {of_rank} on {trial.num_ranks} ranks: "
        f"expected {2 * num_steps}, got {steps.num_steps}",
    )
    check_same_weights(steps)
    check_samples(steps, trial.secrets)
    check_rates(rates(steps), wanted[2:-1], trial.num_ranks)
    check_follows(steps, trial.secrets)
    check_bits(steps, settings["compression"])
    _check_results(results, num_steps, int(settings["num_epochs"]))
    _check_validation(results, sights, trial.secrets, _next_weights(steps, float(wanted[-1])))


def _check_results(results: Sequence[dict[str, Any]], num_steps: int, num_epochs: int) -> None:
    """The results have all their entries, and all callbacks were called."""
    for rank, result in enumerate(results):
        for name in ("history", "validation", "num_steps"):
            require(name in result, f"the result of rank {rank} has no entry {name!r}")
        require(result["num_steps"] == num_steps, f"num_steps: expected {num_steps}, got {result['num_steps']:g}")
        for part in ("history", "validation"):
            missing = sorted({"loss", "accuracy"} - set(result[part]))
            require(not missing, f"the {part} of rank {rank} has no entry {' and no '.join(missing)}")
        losses, first = (np.asarray(one["history"]["loss"]) for one in (result, results[0]))
        is_whole = losses.shape == first.shape == (num_epochs,)
        require(is_whole, f"the losses in the history of rank {rank}: expected {num_epochs}, got {len(losses)}")
        require(np.allclose(losses, first, rtol=1e-4), f"the history of rank {rank} differs from that of rank 0")
        is_told = result["num_told"] == num_epochs
        require(is_told, f"more_callbacks: expected fit to call them on rank {rank}, got no call: hand them to it, too")


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
    used = [places_in_files(*pair, "validation") for pair in zip(samples, told)]
    num_foreign = int(np.sum(np.concatenate(used) < 0))
    require(num_foreign == 0, f"{num_foreign} validation pictures are not of validation_files")
    users = owners(used, sum(VALIDATION_PER_FILE)).values()
    shared, unused = sum(len(by) > 1 for by in users), sum(not by for by in users)
    require(shared == 0, f"{shared} of {len(users)} validation pictures are used by several ranks, expected one")
    require(unused == 0, f"{unused} of {len(users)} validation pictures are used by no rank, expected one")
    # Who validates in fit, too, uses each several times.
    num_uses = {int(np.sum(np.concatenate(used) == place)) for place in range(len(users))}
    require(len(num_uses) == 1, f"validation pictures are used {sorted(num_uses)} times, expected all equally often")
    for rank, of_rank in enumerate(seen):
        gap = float(np.abs(of_rank[-1].bias - end).max()) if of_rank else 0.0
        require(gap < 1e-3, f"rank {rank} does not validate with the weights of the end")  # noqa: PLR2004  # moves are above 0.01
    expected = loss_of_all(end, samples)  # used equally often, they may be used several times
    for rank, result in enumerate(results):
        got = result["validation"]["loss"]
        is_loss = bool(np.isclose(got, expected, rtol=1e-3))
        require(is_loss, f"the loss of the validation on rank {rank}: expected {expected:.4g}, got {got:.4g}")


def check_continued(trial: SpyTrial) -> None:
    """A second call makes only the steps that are missing, from the weights and with the rate of the first's end."""
    _, before, old = _training(trial, 0)
    has_steps = all(any(sight.training for sight in seen) for _, seen in (result[1] for result in trial.of_ranks()))
    expected = f"after 2 epochs of 3 the second run: expected {MAX_NUM_STEPS} steps"
    require(has_steps, f"{expected}, got none: epochs is num_epochs of settings")
    _, _, steps = _training(trial, 1)
    limited = steps.num_steps != steps_per_epoch(trial.num_ranks)
    advice = "begin at the epoch reached" if limited else "max_num_steps limits the steps of an epoch"
    is_rest = steps.num_steps == MAX_NUM_STEPS
    require(is_rest, f"{expected}, got {steps.num_steps}: {advice}")
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
