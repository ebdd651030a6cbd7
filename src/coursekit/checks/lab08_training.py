"""Checks of lab 08's training: what DDP averages and when, read off the steps of a probe (`checks.steps`)."""

from collections.abc import Sequence

import numpy as np

from coursekit.checks.check import CheckError, require
from coursekit.checks.compare import Array, require_close, require_equal
from coursekit.checks.lab08_steps import EPOCHS, PLAN, RATE, SIZES, check_whole, moves_of, plain_steps
from coursekit.checks.on_ranks import run_on_ranks
from coursekit.checks.private_data import check_begins, check_follows, check_sent, draw_private
from coursekit.checks.rates import check_rates, rates, rates_alone
from coursekit.checks.steps import check_same_weights, gradient
from coursekit.checks.trials import Trial, try_on_ranks
from coursekit.drivers import lab08_training as drivers
from coursekit.drivers.calls import Answer
from coursekit.drivers.lab08 import BATCH_SIZE, joined
from coursekit.errors import Cause, without_codes

NUM_CLASSES = 61
NUM_ADDED = 5  # batches; if it were the batch size or the number of ranks, two mistakes would look alike
RATE_UNEQUAL, GAIN_UNEQUAL = 0.01, 20.0  # for unequal numbers of batches
GAIN = 100.0  # of gradients: so large that any clipping takes effect
ALIKE = 1e-6  # numbers in 32 bits
CONSTANT = 0.01  # relative, for the spread of a constant rate
UNEXPLAINED = "updates.unexplained"
WITH_A_RATE = ("gradients.not-averaged", "momentum.missing")  # wrong updates that still show their rate

# Wrong gradients that an answer may compute instead of the mean over several batches.
SUM = Cause("this is the sum over the batches: divide the loss by their number", "accumulation.sum")
OWN = Cause("this is the rank's own gradient: run the last batch outside no_sync() and through DDP", "accumulation.own")
OWN_SUM = Cause("this is the sum of the rank's own gradients over the batches", "accumulation.own-sum")
LAST = Cause("this is the gradient of the last batch only", "accumulation.last-batch")
FIRST = Cause("this is the gradient of the first batch only", "accumulation.first-batch")
EXCHANGED_FIRST = Cause(
    "only the first batch is averaged over the ranks: exchange gradients with the last batch instead",
    "accumulation.exchanged-first",
)
DIVIDED_TWICE = Cause("DDP has already divided by the number of ranks", "accumulation.divided-twice")
SUM_OF_SAMPLES = Cause("this is the sum over all samples: is the loss of a batch a sum?", "accumulation.all-samples")
SUM_IN_BATCH = Cause("the losses of a batch are summed: take their mean", "accumulation.summed-losses")


def try_train(train: Answer, num_ranks: int) -> Trial:
    """Train a probe on ranks, each with initial weights and samples known only to itself."""
    private = draw_private(num_ranks, NUM_CLASSES, num_samples=int(SIZES.sum()))
    args = (train, PLAN, RATE)
    return try_on_ranks(drivers.trained, *args, num_ranks=num_ranks, private=private, wrapper=joined)


def check_start(trial: Trial) -> None:
    """All ranks start with the weights of one rank."""
    steps = plain_steps(trial)
    check_begins(steps, trial.private)
    check_same_weights(steps)


def check_averaged(trial: Trial) -> None:
    """Every update uses the mean of all ranks' gradients."""
    steps = plain_steps(trial)
    try:
        rates(steps)
    except CheckError as error:
        cause = moves_of(steps, RATE * trial.num_ranks)[0].cause(EPOCHS[: steps.num_steps - 1])
        if error.code != UNEXPLAINED or not cause:
            raise
        raise CheckError(f"{without_codes(str(error))}: {cause.words}", cause.code) from None
    check_follows(steps, trial.private)


def check_rate(trial: Trial) -> None:
    """The rate of one rank is multiplied once by the number of ranks, and every step is SGD with this scaled rate."""
    steps, expected, num = plain_steps(trial), RATE * trial.num_ranks, BATCH_SIZE
    try:
        found = rates(steps)
    except CheckError as error:
        if error.code not in WITH_A_RATE:
            return  # the check of averages reports these updates
        found = rates_alone(steps)
    if np.ptp(found, axis=1).max() < CONSTANT * found.max():
        are_large = f"the updates are {num} times too large, with {num} samples in a batch"
        is_summed = np.allclose(found, num * expected, rtol=0.01)
        require(not is_summed, f"{are_large}: is the loss a sum instead of a mean?", "loss.summed")
        is_scaled = all(np.isclose(one, expected) for one in trial.of_ranks("rate"))
        are_small = (
            f"the optimiser has the scaled rate {expected:g}, but the updates are {trial.num_ranks} times too small"
        )
        is_divided = is_scaled and np.allclose(found, RATE, rtol=0.01)
        require(not is_divided, f"{are_small}: DDP has already divided by the number of ranks", "rate.divided-twice")
        check_rates(found, expected, trial.num_ranks)
    if _passes(trial):
        check_whole(trial)


def _passes(trial: Trial) -> bool:
    """Return whether the initial weights and the averages are right; a mistake in them costs points only once."""
    try:
        check_start(trial)
        check_averaged(trial)
    except CheckError:
        return False
    return True


def try_accumulate(accumulate: Answer, num_ranks: int) -> Trial:
    """Let the answer add up the gradients of several batches on ranks."""
    private = draw_private(num_ranks, NUM_CLASSES, num_samples=NUM_ADDED * BATCH_SIZE)
    args = (accumulate, [[(BATCH_SIZE, GAIN)] * NUM_ADDED])
    return try_on_ranks(drivers.accumulated, *args, num_ranks=num_ranks, private=private, wrapper=joined)


def check_accumulated(trial: Trial) -> None:
    """The result is the gradient of the mean loss over all batches of all ranks, at rank 0's initial weights."""
    found = trial.of_ranks()
    check_sent([one["samples"] for one in found], trial.private, in_order=False)
    bias, num_samples = np.asarray(trial.private[0]["starts"][0], dtype=float), BATCH_SIZE
    batches = [np.split(np.asarray(given["samples"]), NUM_ADDED) for given in trial.private]
    own = np.array([[gradient(bias, samples) for samples in of_rank] for of_rank in batches])
    mean = own.mean(axis=(0, 1))
    for rank, one in enumerate(found):
        num_seen = sum(map(len, one["samples"]))
        what = f"the number of samples that the model gets on rank {rank}"
        require_equal(num_seen, NUM_ADDED * num_samples, what, "accumulation.wrong-number")
        got = np.asarray(one["gradient"], dtype=float) / GAIN
        require(got.shape == mean.shape, f"rank {rank} has no gradient at the end", "accumulation.no-gradient")
        mistakes = {
            SUM: mean * NUM_ADDED,
            OWN: own[rank].mean(axis=0),
            OWN_SUM: own[rank].sum(axis=0),
            LAST: own[:, -1].mean(axis=0),
            FIRST: own[:, 0].mean(axis=0),
            EXCHANGED_FIRST: (own[:, 0].mean(axis=0) + own[rank, 1:].sum(axis=0)) / NUM_ADDED,
            DIVIDED_TWICE: mean / trial.num_ranks,
            SUM_OF_SAMPLES: mean * NUM_ADDED * num_samples,
            SUM_IN_BATCH: mean * num_samples,
        }
        require_close(got, mean, f"the gradient on rank {rank}", "accumulation.wrong", mistakes, tolerance=ALIKE)


def check_exchanges(trial: Trial) -> None:
    """Gradients are sent at most once, with the last batch or by hand.

    If they are never sent, only the check of the mean fails.
    """
    for rank, one in enumerate(trial.of_ranks()):
        require(len(one["gradient"]), f"rank {rank} has no gradient at the end", "accumulation.no-gradient")
        called = "call the model inside no_sync(), too, not only backward()"
        message = f"gradients travel {one['num_exchanges']} times on rank {rank}, expected once: {called}"
        require(one["num_exchanges"] <= 1, message, "exchanges.too-many")


def check_unequal(train_all: Answer, num_batches: Sequence[int]) -> None:
    """Every rank trains on all of its batches, and all ranks end with the weights that follow from them."""
    num_ranks = len(num_batches)
    private = draw_private(num_ranks, NUM_CLASSES, num_samples=max(num_batches) * BATCH_SIZE)
    for given, number in zip(private, num_batches):
        given["batches"] = np.split(np.asarray(given["samples"]), max(num_batches))[:number]
    launch = {"num_ranks": num_ranks, "private": private}
    results = run_on_ranks(drivers.unequal, train_all, RATE_UNEQUAL, GAIN_UNEQUAL, wrapper=joined, **launch)
    for rank, (one, number) in enumerate(zip(results, num_batches)):
        # A rank that has no more batches may continue with gradients of zero, computed from any picture.
        what = f"the number of steps on rank {rank}, which has {number} batches"
        require_equal(min(number, len(one["samples"])), number, what, "steps.wrong-number")
        is_last = number < max(num_batches)
        require(is_last or len(one["samples"]) == number, f"{what}: got {len(one['samples'])}", "steps.wrong-number")
    check_sent([one["samples"][:number] for one, number in zip(results, num_batches)], private)
    gap = max(np.abs(np.subtract(one["bias"], results[0]["bias"])).max() for one in results)
    require(gap < ALIKE, f"at the end, the weights of the ranks differ by up to {gap:.3g}", "weights.differ")
    batches = [given["batches"] for given in private]
    start = np.asarray(private[0]["starts"][0], dtype=float)
    ends = [weights_after(start, batches, by_all=by_all) for by_all in (True, False)]
    gap = min(np.abs(results[0]["bias"] - end).max() for end in ends)
    message = f"the weights at the end are off by {gap:.2g}: each step must use the mean gradient of the ranks"
    require(gap < 10 * ALIKE, f"{message} that have a batch", "weights.wrong")


def weights_after(bias: Array, batches: Sequence[Sequence[Array]], *, by_all: bool) -> Array:
    """Return the weights to which the batches of all ranks lead, starting from `bias`.

    The sum of the gradients in a step is divided by the number of all ranks if `by_all`, and otherwise by the number of
    ranks that have a batch in this step.
    """
    for step in range(max(map(len, batches))):
        gradients = [gradient(bias, of_rank[step]) for of_rank in batches if step < len(of_rank)]
        bias = bias - RATE_UNEQUAL * GAIN_UNEQUAL * np.sum(gradients, axis=0) / (
            len(batches) if by_all else len(gradients)
        )
    return bias
