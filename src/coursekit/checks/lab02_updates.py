"""Finds out from the updates of a trial's runs how the ranks move, and which samples they use.

In the coded run, every sample has its own code, the same on all ranks, and its target is a multiple of the code. So the
mean code in an epoch's updates shows whether every sample was used equally often.
Only one marked sample has a different code on each rank: `MARK` times two to the power of the rank. This shows which
ranks used it, and so how many ranks use each sample.
Example: four samples have the codes 1, 2, 3 and 0. The last sample is marked, so its code is really 16 on rank 0 and 32
on rank 1. If every sample is used once, and only rank 1 uses the marked sample, the mean code of an epoch is
(1 + 2 + 3 + 32) / 4 = 9.5. From this, the module computes (4 * 9.5 - 6) / 16 = 2, which is 10 in binary: only rank 1
used the marked sample. If both ranks use all samples, the mean code is (2 * 6 + 16 + 32) / 8 = 7.5. For two ranks
per sample, the module computes 2 * (4 * 7.5 - 6) / 16 = 3, which is 11 in binary: both ranks used the marked sample.
"""

from dataclasses import replace

import numpy as np

from coursekit.checks.check import require
from coursekit.checks.compare import Array
from coursekit.checks.lab02_inputs import BATCH_SIZE, MARK, NUM_EPOCHS, SHARE, UNIT
from coursekit.checks.lab02_readings import DIVIDED, MEAN, NOBODY, SMALLEST_RATE, Reading, read_updates
from coursekit.checks.lab02_trial import TrainingTrial
from coursekit.checks.steps import FIRST_STEP

ROUNDING, FINE_ROUNDING = 0.4, 1e-3  # of a sum of codes with 16 and with 32 bits; with 32 bits, it reached 2e-4


def is_averaged(trial: TrainingTrial) -> bool:
    """Return whether the mean of all ranks' gradients explains the updates of all ranks that move."""
    reading = read_updates(trial)
    targets = _mean_targets(trial, reading)
    moving = targets[np.isfinite(targets).all(axis=1)]
    return reading.source in {MEAN, DIVIDED} and len(moving) > 0 and np.allclose(moving, moving[:1], rtol=1e-2)


def _mean_targets(trial: TrainingTrial, reading: Reading) -> Array:
    """Return the mean code behind each update of the coded run, from `FIRST_STEP` on, without the last update.

    The shape is (num_ranks, num_steps - FIRST_STEP - 1); the entries of a rank that does not move are nan.
    """
    offsets = trial.history("coded")[:, :-1, 1]
    moves = np.diff(offsets, axis=1)
    pulls = moves[:, FIRST_STEP:] - reading.momentum * moves[:, FIRST_STEP - 1 : -1]
    rates = reading.rates[:, np.newaxis]
    if reading.later_rates is not None:
        rates = reading.later_rates[:, np.minimum(np.arange(pulls.shape[1]), reading.later_rates.shape[1] - 1)]
    decay = 0.0 if reading.decay is None else reading.decay[1] / 2
    places = (reading.shares + decay * np.eye(trial.num_ranks)) @ offsets[:, FIRST_STEP:-1]
    targets = places + pulls / (2 * np.maximum(rates, SMALLEST_RATE))
    return np.where(rates > SMALLEST_RATE, targets, np.nan) / UNIT


def require_motion(trial: TrainingTrial) -> None:
    """Require a well-formed history in which some rank moves in every step; otherwise, nothing can be read."""
    moves = np.abs(np.diff(trial.history("constant"), axis=1)) > 0
    message = "no rank moves at all: the learning rate in use is zero, or nothing is trained"
    require(moves.any(), message, "weights.frozen")
    num_at_rest = np.count_nonzero(~moves.any(axis=(0, 2)))
    message = f"{num_at_rest} of {moves.shape[1]} steps change nothing"
    advice = "each batch needs one update of the parameters, and one row in the history"
    require(not num_at_rest, f"{message}: {advice}", "steps.no-update")
    if read_updates(trial).source != NOBODY:
        return
    by_epoch = all(trial.history(name).shape[1] == NUM_EPOCHS[name] + 1 for name in ("constant", "coded"))
    message = (
        "the history has one row per epoch, and no row follows from the previous one by a step on the given samples"
    )
    require(not by_epoch, f"{message}: add a row after every step on x and y", "history.by-epoch")
    turned = [{name: one[name][:, ::-1] for name in one} for one in trial.results]
    is_turned = read_updates(replace(trial, results=turned)).source != NOBODY
    message = "the history holds the offset before the slope: its columns must be slope, offset"
    require(not is_turned, message, "parameters.swapped")


def follows_gradients(trial: TrainingTrial) -> bool:
    """Return whether some rank moves by gradients of the mean squared error on the given samples, averaged or not."""
    return bool((np.abs(read_updates(trial).rates) > SMALLEST_RATE).any())


def uses_of_samples(trial: TrainingTrial) -> list[int | None]:
    """Return, for each whole epoch of the coded run, how many ranks use each sample.

    The number for an epoch is None if some samples are used by more ranks than others. Epochs that contain one of the
    first steps, or the last step, are left out. If the gradients of one rank move all ranks, the samples of the other
    ranks leave no trace, and the list is empty.
    """
    reading = read_updates(trial)
    num_steps = trial.history("coded").shape[1] - 1
    per_epoch, rest = divmod(num_steps, NUM_EPOCHS["coded"])
    if rest or not per_epoch or isinstance(reading.source, int) or not (reading.rates > SMALLEST_RATE).any():
        return []
    with np.errstate(all="ignore"):
        means = np.nanmean(_mean_targets(trial, reading), axis=0)
    firsts = range(-(-FIRST_STEP // per_epoch) * per_epoch, num_steps - per_epoch, per_epoch)
    likely = {1, trial.num_ranks, per_epoch * BATCH_SIZE // SHARE}
    rounding = FINE_ROUNDING if reading.is_fine else ROUNDING
    in_epochs = [float(means[first - FIRST_STEP :][:per_epoch].mean()) for first in firsts]
    found = [_num_users(trial, mean, likely, rounding) for mean in in_epochs]
    # A rate that changes need not be the same in another run.
    return found if reading.later_rates is None or None not in found else []


def _num_users(trial: TrainingTrial, mean: float, likely: set[int], rounding: float) -> int | None:
    """Return how many ranks use each sample in an epoch with this mean code.

    The result is None if some samples are used by more ranks than others. By chance, overlapping shards may lead to a
    mean code that looks right: in one of 50 trials if gradients are sent in 16 bits, and in fewer than one of 10,000
    trials if they are sent in 32 bits.
    """
    codes = trial.inputs.codes
    for num_users in sorted(likely):
        marks = num_users * (mean * len(codes) - codes.sum()) / MARK
        is_whole = abs(marks - round(marks)) * MARK < rounding * num_users
        if is_whole and 0 <= marks < 2**trial.num_ranks and round(marks).bit_count() == num_users:
            return num_users
    return None
