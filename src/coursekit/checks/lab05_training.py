"""Checks of lab 05's training: steps that all ranks take together, training on digits, and logs that one rank writes.

Example of global batches: in batches of 12, 38 samples give three steps in an epoch, and two samples are left out. A
step on 2 ranks uses the same 12 samples as a step on 3 ranks, but six on each rank instead of four.
Example of equal steps: the ranks hold 9, 14 and 5 samples. With batches of 4, all of them take four steps, because 14
samples need four steps. The rank with 5 samples starts over, and uses each sample three or four times.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from coursekit.checks.check import fresh_rng, require
from coursekit.checks.compare import as_list, as_number, close, require_close, require_equal
from coursekit.checks.epochs import check_batches
from coursekit.checks.on_ranks import call_answer, run_on_ranks
from coursekit.checks.private_data import check_follows, draw_private
from coursekit.checks.rates import check_rates, rates
from coursekit.checks.shards import check_writers
from coursekit.checks.steps import KERAS_EPSILON, Steps, check_same_weights, loss
from coursekit.checks.trials import Trial, try_on_ranks
from coursekit.drivers import lab05
from coursekit.drivers.calls import Answer
from coursekit.drivers.lab05 import NUM_EPOCHS, NUM_SAMPLES, RATE, STEPS_PER_EPOCH
from coursekit.drivers.probe_model import NUM_CLASSES, Array
from coursekit.errors import Cause
from coursekit.text import counted

BATCH_SIZE = 4
FEW = 1e-4  # tolerance for numbers that were written with 32 bits


def check_global_batches(global_batches: Answer, all_num_ranks: Sequence[int]) -> None:
    """On any number of ranks, a step uses the same samples, each on only one rank, and every epoch has a new order."""
    seed, more = (int(one) for one in fresh_rng().integers(1, 1000, 2))
    size = 12
    # Few world sizes divide 10. In the last two cases, all batches are whole, or there is no batch at all.
    cases = [(38, size, seed), (38, size, seed + more), (47, 10, seed), (36, 12, seed), (5, 12, seed)]
    first_sets: list[Any] = []
    for num_ranks in all_num_ranks:
        by_rank = run_on_ranks(lab05.share_batches, global_batches, cases, 2, num_ranks=num_ranks)
        by_case = zip(cases, zip(*by_rank))
        sets = [[_step_set(one, epoch, case[1], num_ranks) for epoch in range(2)] for case, one in by_case]
        first_sets = first_sets or sets
        message = f"with {num_ranks} ranks, a step uses other samples than with {all_num_ranks[0]}"
        require(
            sets == first_sets,
            f"{message}; expected the same with any number of ranks: shuffle before you share out",
            "global-batch.by-world-size",
        )
    (first, second), (other, _), *_ = first_sets
    require(
        len(set().union(*first)) == sum(map(len, first)),
        "a sample is used twice in one epoch, expected once",
        "samples.repeated",
    )
    for (num_samples, in_each, _), epochs in zip(cases, first_sets):
        for epoch in epochs:
            message = f"the number of steps in an epoch of {num_samples} samples, {in_each} in each step"
            require_equal(len(epoch), num_samples // in_each, message, "steps.wrong-number")
    in_order = [set(range(step * size, (step + 1) * size)) for step in range(len(first))]
    neighbours = "every batch holds neighbouring samples: shuffle the numbers before you batch them"
    repeated = "the second epoch has the same batches as the first: draw a new order for each epoch"
    causes = {
        Cause("the samples come in ascending order: shuffle them", "order.not-shuffled"): (
            first == second == other == in_order
        ),
        Cause(neighbours, "order.neighbours"): all(max(step) - min(step) == size - 1 for step in (*first, *second)),
        Cause(repeated, "order.repeated"): first == second,
        Cause("another seed gives the same batches: shuffle with the given seed", "order.fixed-seed"): first == other,
    }
    for cause, is_so in causes.items():
        require(not is_so, *cause)


def _step_set(by_rank: Sequence[Any], epoch: int, size: int, num_ranks: int) -> list[set[int]]:
    """Return, for each step of an epoch, the set of samples that all ranks use together."""
    epochs = [as_list(of_rank[epoch], "an epoch") for of_rank in by_rank]
    num_steps = [len(batches) for batches in epochs]
    message = f"on {num_ranks} ranks, an epoch has {num_steps} steps"
    require(
        len(set(num_steps)) == 1,
        f"{message}, expected the same number on every rank: otherwise ranks hang",
        "steps.uneven",
    )
    steps: list[set[int]] = []
    for batches in zip(*epochs):
        sizes, together = [len(batch) for batch in batches], Counter(sample for batch in batches for sample in batch)
        message = f"with {num_ranks} ranks, the shares of a global batch of {size} have {sizes} samples"
        advice = ": leave out a last batch that is not full" if 0 < len(steps) == num_steps[0] - 1 else ""
        is_whole = sum(sizes) == size and max(sizes) - min(sizes) <= 1
        require(
            is_whole,
            f"{message}; expected {size} in all, in shares that differ by at most one{advice}",
            "global-batch.unequal-shares",
        )
        message = f"with {num_ranks} ranks, a step uses one sample on several ranks"
        require(
            max(together.values()) == 1,
            f"{message}: draw one order for all ranks from the given seed, and share it out by rank",
            "global-batch.overlap",
        )
        steps.append(set(together))
    return steps


def check_equal_steps(equal_steps: Answer, num_ranks: int) -> None:
    """All ranks take as many steps as the largest share needs; no sample is lost, and every batch is full."""
    rng = fresh_rng()
    all_counts = [np.array([8] * num_ranks), np.array([1, 3, 2, 1][:num_ranks])]  # equal shares, and less than a batch
    for most in (14, 12):  # the last batch is not full, or full; rank 0 never has the most samples
        others = rng.permutation([5, 9, 7][: num_ranks - 1])
        all_counts.append(np.insert(others, rng.integers(1, num_ranks), most))
    cases = [np.split(np.arange(sum(counts)) + 100, np.cumsum(counts)[:-1]) for counts in all_counts]
    private = [list(of_rank) for of_rank in zip(*cases)]
    by_rank = run_on_ranks(lab05.step_together, equal_steps, BATCH_SIZE, num_ranks=num_ranks, private=private)
    for shares, batches_of_ranks in zip(cases, zip(*by_rank)):
        _require_equal_steps(batches_of_ranks, shares)


def _require_equal_steps(by_rank: Sequence[Sequence[Array]], shares: Sequence[Array]) -> None:
    counts = [len(share) for share in shares]
    expected = -(-max(counts) // BATCH_SIZE)
    for rank, (batches, share) in enumerate(zip(by_rank, shares)):
        where = f"the ranks hold {counts} samples; steps of rank {rank} in batches of {BATCH_SIZE}"
        require_equal(
            len(batches), expected, where, "steps.wrong-number", ": every rank takes as many as the largest share needs"
        )
        check_batches(batches, BATCH_SIZE, f"the batch sizes on rank {rank}")
        uses = Counter(number for batch in batches for number in batch)
        require(set(uses) <= set(share.tolist()), f"rank {rank} uses samples that are not its own", "samples.not-own")
        num_lost = len(share) - len(uses)
        require(
            num_lost == 0,
            f"rank {rank} does not use {num_lost} of its {len(share)} samples: use all of them",
            "samples.lost",
        )
        most, fewest = max(uses.values()), min(uses.values())
        message = f"rank {rank} uses one sample {most} times and another only {counted(fewest, 'time')}"
        require(most - fewest <= 1, f"{message}: start over only when all samples have been used", "samples.uneven-use")


def try_train(train: Answer, num_ranks: int = 3) -> Trial:
    """Train a probe on real ranks, each of which has its own samples and its own folder."""
    private = draw_private(num_ranks, NUM_CLASSES, num_samples=NUM_SAMPLES)
    return try_on_ranks(lab05.use_train, train, num_ranks=num_ranks, private=private, look=True)


def _steps(trial: Trial) -> Steps:
    steps = trial.steps(num_samples=NUM_SAMPLES)
    require_equal(
        steps.num_steps, NUM_EPOCHS * STEPS_PER_EPOCH, f"number of steps in {NUM_EPOCHS} epochs", "steps.wrong-number"
    )
    return steps


def check_trained(trial: Trial) -> None:
    """All ranks start with the same weights and move by the mean of their gradients, at the scaled rate."""
    steps = _steps(trial)
    check_same_weights(steps)
    check_rates(rates(steps), RATE * trial.num_ranks, trial.num_ranks)
    check_follows(steps, trial.private)
    for rank, result in enumerate(trial.of_ranks()):
        metrics = result["metrics"]
        message = f"on rank {rank}, train returns a {metrics}"
        require(
            isinstance(metrics, list),
            f"{message}, expected a dictionary: return network.fit(…).history",
            "history.wrong-type",
        )
        message = f"on rank {rank}, the history has {metrics}"
        has_both = {"loss", "accuracy"} <= {*metrics}
        require(
            has_both, f'{message}, expected accuracy and loss: compile with metrics=["accuracy"]', "history.no-metrics"
        )


def check_logs(trial: Trial) -> None:
    """Only rank 0 writes logs; they hold every step, the epoch losses averaged over all ranks, and histograms."""
    steps = _steps(trial)
    results = trial.of_ranks()
    check_writers(trial.left)
    is_there = any(name.startswith("logs/") for name in trial.left[0])
    require(is_there, f"there are no logs in the folder logs; rank 0 wrote {sorted(trial.left[0])[:2]}", "logs.missing")
    found, expected = results[0], NUM_EPOCHS * STEPS_PER_EPOCH
    hint = ": update_freq=1 logs every step, if the ranks train as above"
    require_equal(found["num_steps"], expected, "the number of steps in the logs", "logs.wrong-number", hint)
    require_equal(
        found["num_histograms"],
        NUM_EPOCHS,
        "the number of histograms of one weight",
        "logs.num-histograms",
        ": set histogram_freq=1",
    )
    # If from_logits is missing, that costs only the points for training.
    readings = [steps.epoch_losses(NUM_EPOCHS, of) for of in (loss, _loss_of_probabilities)]
    by_epoch = next((one for one in readings if close(found["losses"], one.mean(axis=0), 1e-3)), readings[0])
    alone = "these are only rank 0's: put the callback that averages before the one that writes"
    mistakes = {Cause(alone, "callbacks.wrong-order"): by_epoch[0]}
    require_close(
        found["losses"],
        by_epoch.mean(axis=0),
        "the epoch losses in the logs",
        "logs.wrong-losses",
        mistakes,
        tolerance=1e-3,
    )


def _loss_of_probabilities(bias: Array, samples: Array) -> float:
    """Return the mean loss of a batch if Keras takes the logits, here the bias, for probabilities."""
    return loss(np.log(np.clip(bias.astype(float), KERAS_EPSILON, 1 - KERAS_EPSILON)), samples)


def check_read_run(read_run: Answer) -> None:
    """The values are read from all event files of the run, whatever else is in these files."""
    rng = fresh_rng()
    num_epochs, num_steps = 3, int(rng.integers(4, 9))
    training = 2 + np.insert(rng.permutation([1.0, 2.0]), 1, 0.0) + rng.uniform(0, 0.5, num_epochs)  # lowest not last
    validation = rng.uniform(0.1, 1, num_epochs)
    # The largest weight of the first epoch is larger than that of the last epoch.
    sizes = [rng.uniform(0.5, 1, (5, 4)) / (1 + epoch) for epoch in range(num_epochs)]
    weights = [(rng.choice([-1, 1], (5, 4)) * size).astype(np.float32) for size in sizes]
    weights[-1][0, 0] = -0.99 / num_epochs - 0.01  # the weight of the largest magnitude is negative
    weights[-1][1, 1] = 0.9 / num_epochs
    got = call_answer(lab05.read_run, read_run, [training.tolist(), validation.tolist()], num_steps, weights)

    def check_entry(name: str, what: str, expected: float, mistakes: dict[Cause, float]) -> None:
        require(name in got, f"read_run returns no entry {name!r}, only {sorted(got)}", "answer.no-entry")
        require_close(as_number(got[name], what), expected, what, "run.wrong-entry", mistakes, tolerance=FEW)

    mistakes = {
        Cause("this is the lowest loss", "run.lowest-loss"): min(training),
        Cause("this is the loss of the first epoch", "run.first-epoch"): training[0],
        Cause("this is the validation loss, whose logs are in another folder", "run.of-validation"): validation[-1],
        Cause("this is the loss of a single step", "run.single-step"): 2 * training[-1],
    }
    check_entry("last_loss", "the training loss of the last epoch", training[-1], mistakes)
    mistakes = {
        Cause("this is the number of epochs", "run.counts-epochs"): num_epochs,
        Cause("count the steps in all event files", "run.one-file"): num_steps,
        Cause("this is the number of the last step: count the events", "run.last-step"): num_steps * num_epochs - 1,
    }
    check_entry("num_steps", "the number of steps in the logs", num_steps * num_epochs, mistakes)
    largest = weights[-1].max()
    mistakes = {
        Cause("this is the smallest weight", "run.smallest-weight"): weights[-1].min(),
        Cause("this is the largest weight of all epochs", "run.all-epochs"): max(layer.max() for layer in weights),
        Cause("this is a weight of another layer", "run.other-layer"): 2 * largest,
    }
    check_entry("largest_weight", "the largest weight of dense/kernel after the last epoch", largest, mistakes)
