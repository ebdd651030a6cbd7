"""Properties of distributed training, each read off the trajectories of a `TrainingTrial`.

These are a common start, averaged gradients, disjoint and complete shards, the scaled learning rate, and whole epochs
of plain steps. Together, they imply the last property: all steps equal the steps of one process with all the data.
The modules `readings` and `updates` read sources, rates and samples off the trajectories separately, so that a fault
in one of these does not hide the others. The module `reference` computes the right steps, up to rounding.
Points are (slope, offset). In the examples, there are two ranks, so the given rate of 0.04 is scaled to 0.08.
"""

from statistics import NormalDist
from typing import Any

import numpy as np

from coursekit.checks.check import CheckError, require
from coursekit.checks.compare import require_close, shown
from coursekit.checks.lab02_inputs import BATCH_SIZE, NUM_EPOCHS, RATE, REAL_BATCH_SIZE, START, STEPS_PER_EPOCH
from coursekit.checks.lab02_readings import DIVIDED, MEAN, NOBODY, OWN, read_updates
from coursekit.checks.lab02_reference import check_long, check_real, check_rest
from coursekit.checks.lab02_trial import NAMES, SAME_PLACE, TrainingTrial
from coursekit.checks.lab02_updates import follows_gradients, is_averaged, require_motion, uses_of_samples
from coursekit.checks.shards import check_complete, check_owners
from coursekit.checks.steps import FIRST_STEP
from coursekit.errors import Cause, without_codes
from coursekit.text import counted

SAME_FACTOR = 1e-2  # tolerance for a right rate
ROUNDING = 0.1  # far above the rounding error of a factor
NO_DESCENT = "the steps are not SGD on the mean squared error with the given x, y and learning_rate"
RARE = 1e-6  # the share of right answers that fail by chance
NEAR_START = 0.2  # covers one step with an optimiser's rate of 0.01 instead of zero; starts are at least 0.33 from zero


def check_same_start(trial: TrainingTrial, most_steps: int) -> None:
    """All ranks are at the same point at the start or, if `most_steps` is 1, after one step at the latest.

    Example: the ranks' variables start at (1.2, 0.3) and (-0.5, 0.8). After a broadcast, both are at (1.2, 0.3), with a
    gap of 0. Without a broadcast, they stay 1.7 apart and fail. Ranks that both start at (0, 0) because of a seed also
    fail: in the run *apart*, each rank starts at a point that only this rank knows, and the ranks must meet at one of
    these points.

    An answer that uses no variables, but communicates in another way, has no such points; it passes if the gradients
    are averaged.
    """
    later = trial.gaps("apart")[: FIRST_STEP + 1]
    gaps = later[: most_steps + 1]
    advice = "record the trajectory after the broadcast" if most_steps else "broadcast the start before it"
    meet = f"meet only after the {'second' if most_steps else 'first'} step"
    message = f"the ranks start up to {gaps[0]:.3g} apart and {meet}: {advice}"
    require(min(gaps) < SAME_PLACE or min(later) >= SAME_PLACE, message, "broadcast.late")
    luck = "the ranks start equal by chance or a seed; with other starts, " if trial.gaps("real")[0] == 0 else ""
    apart = f"up to {gaps[0]:.3g} apart, and still {later[-1]:.3g} apart after {counted(len(later) - 1, 'step')}"
    message = f"{luck}expected all ranks to start at one point, but they are {apart}: the start is not broadcast"
    require(min(gaps) < SAME_PLACE, message, "broadcast.missing")
    message = "the ranks start with the slope of one rank and the offset of another: broadcast both from one rank"
    require(not _mixed_starts(trial), message, "broadcast.mixed")
    was_sent = _meet_at_start_of_a_rank(trial) or is_averaged(trial)
    message = "the ranks start at one point, but no rank's variables started there: the start is not broadcast"
    require(was_sent, message, "start.foreign")


def check_random_start(trial: TrainingTrial) -> None:
    """Each run starts at standard normal random numbers.

    No number is a multiple of one half. About as many are positive as negative, some are far from zero, and the mean
    of the squares is about 1. Each of the last three tests fails one right answer in a million.
    Example: of 48 numbers, 8 to 40 are positive, at least one is above 1.15 or below -1.15, and the mean square is
    between 0.29 and 2.3, by Wilson's and Hilferty's approximation of chi-squared (1931). Uniform numbers from 0 to 1
    are all positive, and uniform numbers from -1 to 1 are all below 1.
    """
    if _continues(trial):  # `check_plain` reports this; only the first start counts then
        return
    starts = trial.all_starts()
    num, normal = len(starts), NormalDist()
    balance = (2 * np.count_nonzero(starts > 0) - num) / np.sqrt(num)
    size = (np.mean(starts**2) ** (1 / 3) - (1 - 2 / (9 * num))) / np.sqrt(2 / (9 * num))
    is_typed_in = 2 * starts == np.round(2 * starts)
    is_normal = (
        not is_typed_in.any()
        and max(abs(balance), abs(size)) < normal.inv_cdf(1 - RARE / 2)
        and np.abs(starts).max() > normal.inv_cdf((1 + RARE ** (1 / num)) / 2)
    )
    some = shown(starts[:: max(1, num // 8)])
    message = f"expected each training to start at standard normal random numbers, got starts such as {some}"
    require(is_normal, message, "start.not-normal")


def _continues(trial: TrainingTrial) -> bool:
    """Return whether some run starts, on all ranks, at the point where the previous run ended."""
    pairs = (("constant", "coded"), ("coded", "real"))
    return any(np.array_equal(trial.history(one)[:, -1], trial.history(other)[:, 0]) for one, other in pairs)


def _mixed_starts(trial: TrainingTrial) -> bool:
    """Return whether the ranks have the slope of one rank and the offset of another after the run *apart*."""
    owners = [set(np.flatnonzero((trial.inputs.starts == one).any(axis=1))) for one in trial.history("apart")[0, -1]]
    return all(owners) and not set.intersection(*owners)


def _meet_at_start_of_a_rank(trial: TrainingTrial) -> bool:
    """Return whether the ranks meet where the variables of one of them started in the run *apart*."""
    gaps = trial.gaps("apart")[: FIRST_STEP + 1]
    points = trial.history("apart")[0, : FIRST_STEP + 1][gaps < SAME_PLACE]
    starts = np.concatenate([trial.inputs.starts, trial.inputs.starts[:, ::-1]])  # slope first, or offset first
    return bool((np.abs(points[:, np.newaxis] - starts) < NEAR_START * START).all(axis=2).any())


def check_averaged(trial: TrainingTrial) -> None:
    """Every update uses the mean of all ranks' gradients.

    Example: all targets are 4000 on rank 0 and 8000 on rank 1, and both offsets are 0. If the gradients are averaged,
    both offsets move by 2 * 0.08 * 6000 = 960; if each rank uses its own gradients, they move by 640 and 1280.
    """
    require_motion(trial)
    if is_averaged(trial):
        return
    source, expected = read_updates(trial).source, "expected steps by the mean of all ranks' gradients, but"
    got = "each rank moved by its own gradients: they are not averaged over the ranks"
    require(source != OWN, f"{expected} {got}", "gradients.not-averaged")
    got = f"all ranks moved by the gradients of rank {source}: they are broadcast, not averaged over the ranks"
    require(not isinstance(source, int), f"{expected} {got}", "gradients.of-one-rank")
    got = "the ranks moved otherwise: the gradients are not averaged over the ranks in every step"
    require(not follows_gradients(trial), f"{expected} {got}", "gradients.sometimes-averaged")
    raise CheckError(f"{expected} {got}, or {NO_DESCENT}", "updates.unexplained")


def _require_descent(trial: TrainingTrial) -> None:
    """Require that some rank moves along gradients of the loss, averaged or not."""
    require_motion(trial)
    require(follows_gradients(trial), NO_DESCENT, "updates.unexplained")


def check_shards(trial: TrainingTrial) -> None:
    """In every epoch, each sample is used by exactly one rank, even if an answer redistributes the samples.

    Example: of four samples, rank 0 uses 0 and 2, and rank 1 uses 1 and 3. If rank 1 used 2 and 3, then 2 would be
    used by both ranks and 1 by none.
    """
    _require_descent(trial)
    num_steps = trial.history("coded").shape[1] - 1
    num_epochs, num_ranks, num_samples = NUM_EPOCHS["coded"], trial.num_ranks, len(trial.inputs.codes)
    expected = f"expected {STEPS_PER_EPOCH['coded']} steps of {BATCH_SIZE} samples per rank in each of"
    got = f"got {counted(num_steps, 'step')} in all: too few or too many for shares of all samples"
    require(num_steps % num_epochs == 0, f"{expected} {counted(num_epochs, 'epoch')}, {got}", "steps.wrong-number")
    num_uses = num_samples if trial.stuck else num_steps // num_epochs * BATCH_SIZE * num_ranks
    for num_users in uses_of_samples(trial):
        if num_users is None:
            check_complete(num_samples - num_uses, num_samples)
            once = f"expected each of the {num_samples} samples once in an epoch"
            message = f"the shards are not disjoint and complete: {once}, but some are used by several ranks or by none"
            raise CheckError(message, "shards.uneven-use")
        check_owners({sample: [*range(num_users)] for sample in range(num_samples)}, num_ranks)
    check_rest(trial)


def check_rate(trial: TrainingTrial) -> None:
    """Every rank steps with the given rate times the number of ranks.

    Example: a rate of 0.08 on both ranks, twice the given rate, is right. If both rates are 0.04, they are not scaled;
    if both are 0.16, they are scaled twice, or the gradients are summed. If one rank has 0.04 and the other has 0.08,
    the rate depends on the rank.
    """
    _require_descent(trial)
    reading, expected = read_updates(trial), trial.num_ranks
    factors = reading.rates / RATE
    mistakes = {
        Cause("it is not scaled", "rate.not-scaled"): 1,
        Cause("it is scaled twice, or the gradients are summed instead of averaged", "rate.scaled-twice"): expected**2,
        Cause("it counts two ranks whatever their number, or only the ranks of one node", "rate.local-size"): 2,
    }
    uneven = Cause("it depends on the rank, or counts only the ranks of one node", "rate.uneven")
    otherwise = uneven if np.ptp(factors) > ROUNDING else None
    what = f"the learning rate on {expected} ranks, divided by the given rate"
    if reading.later_rates is not None:
        got = ", ".join(f"{factor:.4g}" for factor in reading.later_rates[0] / RATE)
        raise CheckError(f"{what}: expected {expected}, got {got}: it changes from step to step", "rate.changing")
    how: dict[str, Any] = {"tolerance": SAME_FACTOR, "is_relative": True, "otherwise": otherwise}
    require_close(factors, expected, what, "rate.wrong", mistakes, **how)


def check_epochs(trial: TrainingTrial) -> None:
    """In each epoch, every rank goes once through its whole share, in batches of the given size.

    Example: shares of 5 or 6 samples in batches of 4 take two steps in each epoch. If there is only one step, the
    second, smaller batch is missing, or the whole share is one batch.
    """
    message = f"expected the same number of steps on every rank, but the ranks hang: {without_codes(trial.stuck)}"
    require(not trial.stuck, message, "steps.uneven")
    num_samples = {"constant": trial.inputs.num_constant_samples(), "coded": len(trial.inputs.codes)}
    num_samples |= {"real": len(trial.inputs.kinds), "apart": num_samples["constant"]}
    num_samples |= {"long": BATCH_SIZE * trial.num_ranks}
    for name, num_epochs in trial.inputs.num_epochs().items():
        num_steps, expected = trial.history(name).shape[1] - 1, STEPS_PER_EPOCH[name]
        hint = ": is batch_size used, and the last, smaller batch?" if num_steps == num_epochs else ""
        batch_size = REAL_BATCH_SIZE if name == "real" else BATCH_SIZE
        given = f"for {num_samples[name]} samples in batches of {batch_size} on {trial.num_ranks} ranks"
        steps, epochs = counted(expected, "step"), counted(num_epochs, "epoch")
        got = f"{counted(num_steps, 'step')} in all{hint}"
        message = f"{given}, expected {steps} in each of {epochs}, got {got}"
        require(num_steps == num_epochs * expected, message, "steps.wrong-number")


def check_plain(trial: TrainingTrial) -> None:
    """Every step is minus the rate times the gradient of the mean squared error, with nothing added.

    Each run creates new variables. Example: with a momentum of 0.9, nine tenths of each step are added to the next;
    with a weight decay of 0.01, a hundredth of the weights is added to each gradient.
    """
    reading = read_updates(trial)
    expected = "expected steps of plain gradient descent, got"
    require(not reading.momentum, f"{expected} steps with a momentum of {reading.momentum:.2g}", "momentum.unasked")
    if reading.decay is not None:
        parts = " and ".join(f"{abs(round(part, 6)):.2g} times the {name}" for part, name in zip(reading.decay, NAMES))
        raise CheckError(f"{expected} gradients with {parts} added: leave out the decay", "weight-decay.unasked")
    words = "a sum over its samples, divided by the size of a full batch: take the mean"
    require(reading.source != DIVIDED, f"the loss of the last, smaller batch is {words}", "loss.fixed-size")
    words = "are rounded to fewer than 32 bits when they are sent: do not compress them"
    require(reading.source != MEAN or reading.is_fine, f"{expected} gradients that {words}", "gradients.rounded")
    message = "a second training continues where the first ended: create new variables in each call"
    require(not _continues(trial), message, "variables.reused")
    if reading.source != NOBODY and np.allclose(reading.rates, trial.num_ranks * RATE, rtol=SAME_FACTOR):
        check_long(trial, reading.shares)


def check_equals_serial(trial: TrainingTrial) -> None:
    """Every step on every rank equals a gradient descent step of one process on the batches of all ranks.

    Example: two samples have x = (0, 1) and the targets y = (1, 3). At (0, 0), the gradient of the mean squared error
    is (-3, -4), so one process steps to (0.24, 0.32) with the rate 0.08. A rank that uses only the second sample would
    step to (0.48, 0.48).
    """
    check_epochs(trial)
    check_plain(trial)
    check_rest(trial)
    check_real(trial)
    check_long(trial, np.full((trial.num_ranks, trial.num_ranks), 1 / trial.num_ranks))
    weights = trial.history("real")
    message = "the weights are not numbers of 32 bits: train in 32 bits throughout"
    require(np.array_equal(weights, weights.astype(np.float32)), message, "weights.not-32-bits")
