"""Checks of lab 03's training: resuming from checkpoints, evaluation, and whole training runs.

Example: 30 pictures in batches of 2 on 3 ranks make 5 steps in an epoch. With the rate 0.1 of one rank, which grows to
0.3 in one epoch of warm-up, the rates of two epochs are 0.1, 0.14, 0.18, 0.22, 0.26 and five times 0.3. If rank 0
has 5 of 7 validation pictures right, rank 1 none of 2 and rank 2 one of 4, the accuracy is 6 / 13 = 0.46; the plain
mean of the ranks' accuracies, 0.32, is wrong.
"""

import itertools
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from coursekit.checks.check import fresh_rng, require
from coursekit.checks.compare import OF_SHARES, require_close, require_equal
from coursekit.checks.epochs import check_batches
from coursekit.checks.private_data import (
    PrivateInputs,
    check_follows,
    check_samples,
    draw_private,
    loss_of_all,
    places_in_files,
)
from coursekit.checks.rates import check_bits, check_rates, rates
from coursekit.checks.shards import check_owners, owners
from coursekit.checks.steps import SMALLEST_GAP, Steps, check_exact, check_same_weights, steps_of
from coursekit.checks.trials import SAMPLES_PER_FILE, Trial, try_on_ranks
from coursekit.drivers import lab03, probe_model
from coursekit.drivers.calls import Answer
from coursekit.drivers.probe_model import MOMENTUM, Array, Record
from coursekit.errors import Cause

VALIDATION_PER_FILE = (3, 1, 4, 2)
NUM_SAMPLES = sum(SAMPLES_PER_FILE)
SETTINGS: dict[str, Any] = {
    "batch_size": 2,
    "global_batch_size": 0,
    "learning_rate": 0.1,
    "num_warmup_epochs": 1,
    "num_epochs": 2,
    "max_num_steps": 16,  # more than an epoch has; this must not lengthen the epoch
    "compression": "none",
}
NUM_STEPS_RESUMED = 2 * lab03.NUM_STEPS_BEFORE + lab03.NUM_STEPS_AFTER
NUM_EPOCHS_CONTINUED, MAX_NUM_STEPS = 3, 4  # of the second run; a rate takes at least 4 steps to show
CONTINUED = {**SETTINGS, "num_epochs": NUM_EPOCHS_CONTINUED, "max_num_steps": MAX_NUM_STEPS}
CONTINUED["num_warmup_epochs"] = 4  # 16 steps, of which 10 are done: the warm-up must continue, too
# All entries given here differ from the notebook's and from those above.
ELASTIC = {**SETTINGS, "batch_size": 3, "global_batch_size": 4, "learning_rate": 0.2, "num_warmup_epochs": 0}
ELASTIC["compression"] = "fp16"
# The newest of the checkpoints 100, 999 and 1000; it has more digits than {epoch:03d}, and by name it comes second.
LAST_EPOCH = 1000
# How many samples of each rank's validation are classified correctly and wrongly: too many to count in 16 bits.
UNEQUAL = ((3001, 1100), (0, 2), (1, 3))
TINY = 1e-9  # of a step
SMALL = 1e-4  # between weights; momenta are above 0.01
ROUNDING = 3e-6  # of sums over all images; four decimal places are off by more
CLOSE = 1e-3  # of weights at the end, where moves are above 0.01, and of losses and accuracies


def check_resume(resume: Answer, num_ranks: int) -> None:
    """All ranks resume with the newest checkpoint's weights, momenta, step count, and number of epochs."""
    private = draw_private(
        num_ranks, probe_model.NUM_CLASSES, num_rounds=2, num_samples=lab03.NUM_STEPS_BEFORE * probe_model.BATCH_SIZE
    )
    trial = try_on_ranks(lab03.use_resume, resume, LAST_EPOCH, num_ranks=num_ranks, private=private)
    before, after = trial.steps("before"), trial.steps("after", lab03.NUM_STEPS_AFTER * probe_model.BATCH_SIZE)
    check_follows(before, private)
    for rank, result in enumerate(trial.of_ranks()):
        what = f"the completed epochs that resume returned on rank {rank}"
        require_equal(result["from_nothing"], 0, f"{what} without a checkpoint", "epochs.wrong-number")
        hint = ": only rank 0 sees the checkpoint, and must send the number to the others" if rank else ""
        what += ", of the newest checkpoint"
        require_equal(result["num_epochs"], LAST_EPOCH, what, "epochs.wrong-number", hint)
    check_goes_on(after, [before.bias[0, -1]] * num_ranks)
    expected = _next_weights(before, after.gradients()[:, 0])
    for rank, num_steps in enumerate(trial.of_ranks("num_steps")):
        gap = float(np.abs(after.bias[rank, 1] - expected).max())
        message = f"rank {rank} continues without the momenta of the optimiser: restore them, too"
        require(gap < SMALL, message, "momenta.lost")
        what = f"the number of steps in the optimiser of rank {rank}"
        require_equal(num_steps, NUM_STEPS_RESUMED, what, "optimizer.steps-lost", ": restore it, too")
    for rank, statistics in enumerate(trial.of_ranks("statistics")):
        same = np.abs(statistics - private[0]["starts"][0]).max() < SMALLEST_GAP
        got = f"rank {rank} continues with other weights that are not trained, such as averages of batch normalisation"
        require(same, f"{got}, than the checkpoint's: broadcast network.variables", "statistics.lost")


def check_goes_on(steps: Steps, ends: Sequence[Array]) -> None:
    """Each rank starts with the weights that it must get from the checkpoint."""
    for rank, (start, end) in enumerate(zip(steps.bias[:, 0], ends)):
        gap = float(np.abs(start - end).max())
        message = f"rank {rank} does not continue from the weights of the checkpoint"
        require(gap < SMALLEST_GAP, message, "weights.not-restored")


def _next_weights(steps: Steps, gradients: Array, rate: float = probe_model.RATE) -> Array:
    """Return the weights after one more step, given each rank's gradient."""
    last, before = steps.bias[0, -1], steps.bias[0, -2]
    return np.asarray(last + MOMENTUM * (last - before) - rate * gradients.mean(axis=0))


def _unequal_samples(num_ranks: int) -> tuple[Array, list[Array]]:
    """Return weights that always predict one sample's class, and each rank's samples: copies of this one and others."""
    rng = fresh_rng()
    bias = rng.uniform(-1, 1, probe_model.NUM_CLASSES).astype(np.float32)
    answer, *others = rng.permutation(probe_model.NUM_SAMPLES)
    bias[answer + 1] = 3.0
    unequal = UNEQUAL[:num_ranks]
    return bias, [np.array([answer] * num_right + [*rng.choice(others, num_wrong)]) for num_right, num_wrong in unequal]


def check_evaluate(evaluate: Answer, num_ranks: int, ranks_per_node: int = 1) -> None:
    """Every rank returns the loss and accuracy over the images of all ranks, computed in evaluation mode."""
    bias, samples = _unequal_samples(num_ranks)
    given = tuple({"samples": of_rank, "starts": [bias]} for of_rank in samples)
    launch = {"num_ranks": num_ranks, "ranks_per_node": ranks_per_node}
    trial = try_on_ranks(lab03.use_evaluate, evaluate, private=given, **launch)
    right = [of_rank == np.argmax(bias) - 1 for of_rank in samples]
    expected = {"accuracy": float(np.mean(np.concatenate(right))), "loss": loss_of_all(bias, samples)}
    biased = float(np.mean([np.mean(of_rank) for of_rank in right]))
    for rank, result in enumerate(trial.of_ranks()):
        is_training = any(record.training for record in result["records"])
        require(not is_training, "the network was called in training mode", "training-mode.on")
        mistakes = {
            Cause("that is the accuracy of this rank alone", "metrics.not-averaged"): np.mean(right[rank]),
            Cause(
                "the plain mean of the ranks' accuracies is wrong when their numbers of images differ",
                "metrics.unweighted",
            ): biased,
        }
        for name, value in expected.items():
            got = result["result"]
            require(name in got, f"the result on rank {rank} has no entry {name!r}: {got}", "answer.no-entry")
            what = f"the {name} over the images of all ranks, on rank {rank}"
            known = mistakes if name == "accuracy" else {}
            require_close(got[name], value, what, "metrics.wrong", known, tolerance=ROUNDING, units=OF_SHARES)


def try_train(
    train: Answer, num_ranks: int = 3, runs: Sequence[dict[str, Any]] = (SETTINGS, CONTINUED, CONTINUED)
) -> Trial:
    """Train on tiny files with the whole answer: in one folder, two epochs, then part of a third, then nothing."""
    files = {"train": SAMPLES_PER_FILE, "validation": VALIDATION_PER_FILE}
    private = draw_private(num_ranks, NUM_SAMPLES + sum(VALIDATION_PER_FILE) + 1, num_rounds=2, files=files)
    return try_on_ranks(lab03.use_train, train, list(runs), num_ranks=num_ranks, private=private)


def training_run(trial: Trial, number: int) -> tuple[list[dict[str, Any]], list[list[Record]], Steps]:
    """Return each rank's results, records and steps in the first or the second training run."""
    results, records = map(list, zip(*(result[number] for result in trial.of_ranks())))
    return results, records, steps_of(records)


def _images_of_a_step(num_ranks: int, settings: dict[str, Any]) -> int:
    return int(settings["global_batch_size"] or settings["batch_size"] * num_ranks)


def steps_per_epoch(num_ranks: int, settings: dict[str, Any] = SETTINGS) -> int:
    """Return the number of steps in an epoch of the trial."""
    return NUM_SAMPLES // _images_of_a_step(num_ranks, settings)


def expected_rates(num_ranks: int, settings: dict[str, Any] = SETTINGS) -> Array:
    """Return the rate of every step of the two epochs: it rises linearly during warm-up, and then stays constant."""
    num_steps = steps_per_epoch(num_ranks, settings)
    # Without a warm-up, the rate is high from the first step on.
    share = np.minimum((np.arange(2 * num_steps) + TINY) / (num_steps * settings["num_warmup_epochs"] + TINY), 1.0)
    high = settings["learning_rate"] * _images_of_a_step(num_ranks, settings) / settings["batch_size"]
    return np.asarray(high / num_ranks * (1 + share * (num_ranks - 1)))


def check_training(trial: Trial, settings: dict[str, Any] = SETTINGS) -> None:
    """The first training run is right on all ranks: steps, start, samples, averages, rates, history and validation."""
    results, records, steps = training_run(trial, 0)
    num_steps, wanted = steps_per_epoch(trial.num_ranks, settings), expected_rates(trial.num_ranks, settings)
    of_rank = _images_of_a_step(trial.num_ranks, settings) // trial.num_ranks
    check_batches(steps.batches, of_rank, "the pictures in the batches of a rank")
    what = f"the steps in 2 epochs with {NUM_SAMPLES} pictures and batches of {of_rank} on {trial.num_ranks} ranks"
    lengthened = Cause("max_num_steps is the most steps of an epoch, which may have fewer", "epochs.lengthened")
    mistakes = {lengthened: 2 * settings["max_num_steps"]}
    require_equal(steps.num_steps, 2 * num_steps, what, "steps.wrong-number", mistakes=mistakes)
    check_same_weights(steps)
    check_samples(steps, trial.private, of_rank)
    check_rates(rates(steps), wanted[2:-1], trial.num_ranks)
    check_follows(steps, trial.private)
    if settings["compression"] == "none":
        check_exact(steps, wanted, np.ones(steps.bias.shape[:2]))
    check_bits(steps, settings["compression"])
    _check_results(results, num_steps, int(settings["num_epochs"]))
    _check_validation(results, records, trial.private, _next_weights(steps, steps.gradients()[:, -1], wanted[-1]))


def _check_results(results: Sequence[dict[str, Any]], num_steps: int, num_epochs: int) -> None:
    """The results have all their entries, and all callbacks were called."""
    for rank, result in enumerate(results):
        for name in ("history", "validation", "num_steps"):
            require(name in result, f"the result of rank {rank} has no entry {name!r}", "answer.no-entry")
        require_equal(result["num_steps"], num_steps, "num_steps", "steps.wrong-number")
        for part, name in itertools.product(("history", "validation"), ("accuracy", "loss")):
            require(name in result[part], f"the {part} of rank {rank} has no entry {name}", "answer.no-entry")
        losses, first = (one["history"]["loss"] for one in (result, results[0]))
        what = f"the number of losses in the history of rank {rank}"
        require_equal(len(losses), num_epochs, what, "epochs.wrong-number")
        message = f"the history of rank {rank} differs from that of rank 0"
        require(np.allclose(losses, first, rtol=1e-4), message, "metrics.not-averaged")
        message = f"more_callbacks: expected fit to call them on rank {rank}, got no call: pass them to fit, too"
        require(len(result["heard"]) == num_epochs, message, "callbacks.not-called")
        message = f"more_callbacks see the losses of rank {rank} alone, expected the mean over the ranks: "
        message += "they come after those of make_callbacks"
        require(np.allclose(result["heard"], losses, rtol=1e-4), message, "callbacks.wrong-order")
        message = f"more_callbacks see the last batch's rate on rank {rank}: they come after WarmUp"
        require(not result["is_warmed_late"], message, "callbacks.wrong-order")
        message = f"rank {rank} must pin its GPU before it builds the network, which takes memory of all GPUs"
        require(result["is_pinned_first"], message, "gpu.pinned-late")


def _check_validation(
    results: list[dict[str, Any]], records: list[list[Record]], private: PrivateInputs, end: Array
) -> None:
    """The result of the validation is the loss over all validation images, with the weights `end`."""
    seen = [[record for record in of_rank if not record.training] for of_rank in records]
    require(any(seen), "no rank validated", "validation.none")
    samples = [np.concatenate([record.samples for record in of_rank] or [np.zeros(0, dtype=int)]) for of_rank in seen]
    used = [places_in_files(*pair, "validation") for pair in zip(samples, private)]
    num_uses = Counter(np.concatenate(used).tolist())
    require(num_uses[-1] == 0, f"{num_uses[-1]} validation pictures are not from validation_files", "images.foreign")
    check_owners(owners(used, sum(VALIDATION_PER_FILE)), len(used), what="validation pictures")
    counts = sorted(set(num_uses.values()))
    message = f"validation pictures are used {counts} times, expected once: after fit, by evaluate"
    require(counts == [1], message, "samples.not-once")
    for rank, of_rank in enumerate(seen):
        gap = float(np.abs(of_rank[-1].bias - end).max()) if of_rank else 0.0
        require(gap < CLOSE, f"rank {rank} does not validate with the final weights", "validation.other-weights")
    mean = loss_of_all(end, samples)
    for rank, result in enumerate(results):
        own = Cause(f"that is of rank {rank}'s own images, not of all ranks'", "metrics.not-averaged")
        mistakes = {own: loss_of_all(end, samples[rank : rank + 1])}
        what = f"the loss of the validation on rank {rank}"
        require_close(result["validation"]["loss"], mean, what, "metrics.wrong", mistakes, tolerance=CLOSE)
