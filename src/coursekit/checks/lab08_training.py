"""Checks of the training of lab 08: what DDP averages when, read off the steps of a probe (`checks.steps`)."""

from collections.abc import Sequence

import numpy as np

from coursekit.checks.check import require
from coursekit.checks.compare import Array, require_close, require_equal
from coursekit.checks.on_ranks import run_here
from coursekit.checks.private_data import check_begins, check_follows, check_sent, draw_private
from coursekit.checks.rates import check_rates, rates, rates_alone
from coursekit.checks.steps import check_same_weights, gradient
from coursekit.checks.trials import Trial, try_on_ranks
from coursekit.drivers import lab08 as drivers
from coursekit.drivers.calls import Answer
from coursekit.errors import Cause

NUM_CLASSES = 61
NUM_EPOCHS = 3
BATCHES_PER_EPOCH = 5  # as many as a batch has samples, or as there are ranks, would make two mistakes alike
NUM_SAMPLES = NUM_EPOCHS * BATCHES_PER_EPOCH * drivers.BATCH_SIZE  # of each rank
RATE = 0.1
ALIKE = 1e-5  # numbers in 32 bits

# What a gradient over several batches can be instead of their mean.
SUM = Cause("it is the sum over the batches: divide the loss by their number", "accumulation.sum")
OWN = Cause("it is the rank's own: the last batch must be outside of no_sync(), and go through DDP", "accumulation.own")
OWN_SUM = Cause("it is the sum over the batches of the rank's own gradients", "accumulation.own-sum")
LAST = Cause("it is that of the last batch", "accumulation.last-batch")
FIRST = Cause("it is that of the first batch", "accumulation.first-batch")
EXCHANGED_FIRST = Cause(
    "of the first batch it is the mean over the ranks, of the others the rank's own: exchange with the last",
    "accumulation.exchanged-first",
)
DIVIDED_TWICE = Cause("DDP has divided by the number of ranks already", "accumulation.divided-twice")
SUM_OF_SAMPLES = Cause("it is the sum over all samples: is the loss of a batch their sum?", "accumulation.all-samples")
SUM_IN_BATCH = Cause("the losses of a batch are summed, and not their mean", "accumulation.summed-losses")


def try_train(train: Answer, num_ranks: int) -> Trial:
    """Train a probe on ranks, each with a start and samples that only it knows."""
    private = draw_private(num_ranks, NUM_CLASSES, num_samples=NUM_SAMPLES)
    args = (train, NUM_EPOCHS, RATE)
    return try_on_ranks(drivers.trained, *args, num_ranks=num_ranks, private=private, by=drivers.joined)


def check_start(trial: Trial) -> None:
    """All ranks begin with the weights of one of them."""
    steps = trial.steps()
    check_begins(steps, trial.private)
    check_same_weights(steps)


def check_averaged(trial: Trial) -> None:
    """Every update is made of the mean of all ranks' gradients."""
    steps = trial.steps()
    rates(steps)
    check_follows(steps, trial.private)


def check_rate(trial: Trial) -> None:
    """The rate of one rank is multiplied by the number of ranks, once."""
    found, expected, num = rates_alone(trial.steps()), RATE * trial.num_ranks, drivers.BATCH_SIZE
    message = (
        f"the updates are {num} times as large, with {num} samples in a batch: is the loss their sum, not their mean?"
    )
    require(not np.allclose(found, num * expected, rtol=0.01), message, "loss.summed")
    is_scaled = all(np.isclose(one["rate"], expected) for one in trial.of_ranks())
    message = f"the optimiser has the scaled rate {expected:g}, but the updates are {trial.num_ranks} times too small"
    is_divided = is_scaled and np.allclose(found, RATE, rtol=0.01)
    require(not is_divided, f"{message}: DDP has divided by the number of ranks already", "rate.divided-twice")
    check_rates(found, expected, trial.num_ranks)


def try_accumulate(accumulate: Answer, num_ranks: int) -> Trial:
    """Add up the gradients of some batches on ranks."""
    private = draw_private(num_ranks, NUM_CLASSES, num_samples=BATCHES_PER_EPOCH * drivers.BATCH_SIZE)
    args = (accumulate, 1)
    return try_on_ranks(drivers.accumulated, *args, num_ranks=num_ranks, private=private, by=drivers.joined)


def check_accumulated(trial: Trial) -> None:
    """The gradient is that of the mean loss over all batches of all ranks, at the start of rank 0."""
    found = trial.of_ranks()
    check_sent([one["samples"] for one in found], trial.private)
    counts = [len(one["samples"]) for one in found]
    require(
        counts == [BATCHES_PER_EPOCH] * trial.num_ranks,
        f"expected {BATCHES_PER_EPOCH} batches, got {counts}",
        "accumulation.wrong-number",
    )
    bias = np.asarray(trial.private[0]["starts"][0], dtype=float)
    own = np.array([[gradient(bias, samples) for samples in one["samples"]] for one in found])
    mean, num_samples = own.mean(axis=(0, 1)), drivers.BATCH_SIZE
    for rank, one in enumerate(found):
        got = np.asarray(one["gradient"], dtype=float)
        require(got.shape == mean.shape, f"no gradient is left on rank {rank}", "accumulation.no-gradient")
        mistakes = {
            SUM: mean * BATCHES_PER_EPOCH,
            OWN: own[rank].mean(axis=0),
            OWN_SUM: own[rank].sum(axis=0),
            LAST: own[:, -1].mean(axis=0),
            FIRST: own[:, 0].mean(axis=0),
            EXCHANGED_FIRST: (own[:, 0].mean(axis=0) + own[rank, 1:].sum(axis=0)) / BATCHES_PER_EPOCH,
            DIVIDED_TWICE: mean / trial.num_ranks,
            SUM_OF_SAMPLES: mean * BATCHES_PER_EPOCH * num_samples,
            SUM_IN_BATCH: mean * num_samples,
        }
        require_close(got, mean, f"the gradient on rank {rank}", "accumulation.wrong", mistakes, tolerance=ALIKE)


def check_exchanges(trial: Trial) -> None:
    """The ranks exchange gradients once, with the last batch."""
    for rank, one in enumerate(trial.of_ranks()):
        none = Cause("the last batch must be outside of no_sync()", "exchanges.none")
        called = ": is the model called inside of no_sync(), and not only backward()?"
        what = f"the number of exchanges on rank {rank}"
        require_equal(one["num_exchanges"], 1, what, "exchanges.too-many", called, mistakes={none: 0})


def check_unequal(train_all: Answer, num_batches: Sequence[int]) -> None:
    """Every rank steps on all of its batches, and at the end all have the weights that follow from them."""
    num_ranks = len(num_batches)
    private = draw_private(num_ranks, NUM_CLASSES, num_samples=max(num_batches) * drivers.BATCH_SIZE)
    for given, number in zip(private, num_batches):
        given["batches"] = np.split(np.asarray(given["samples"]), max(num_batches))[:number]
    launch = {"num_ranks": num_ranks, "private": private}
    results = run_here(drivers.unequal, train_all, RATE, by=drivers.joined, **launch)
    for rank, (one, number) in enumerate(zip(results, num_batches)):
        require_equal(
            len(one["samples"]),
            number,
            f"the number of steps on rank {rank}, which has {number} batches",
            "steps.wrong-number",
        )
    check_sent([one["samples"] for one in results], private)
    gap = max(np.abs(np.subtract(one["bias"], results[0]["bias"])).max() for one in results)
    require(gap < ALIKE, f"at the end the weights of the ranks are up to {gap:.3g} apart", "weights.differ")
    batches = [given["batches"] for given in private]
    start = np.asarray(private[0]["starts"][0], dtype=float)
    is_right = any(
        np.allclose(results[0]["bias"], weights_after(start, batches, by_all=by_all), atol=ALIKE)
        for by_all in (True, False)
    )
    require(
        is_right, "the weights do not follow from the mean gradients of the ranks that have a batch", "weights.wrong"
    )


def weights_after(bias: Array, batches: Sequence[Sequence[Array]], *, by_all: bool) -> Array:
    """Return the weights at the end, where gradients are divided by all ranks or by those that still have a batch."""
    for step in range(max(map(len, batches))):
        gradients = [gradient(bias, of_rank[step]) for of_rank in batches if step < len(of_rank)]
        bias = bias - RATE * np.sum(gradients, axis=0) / (len(batches) if by_all else len(gradients))
    return bias
