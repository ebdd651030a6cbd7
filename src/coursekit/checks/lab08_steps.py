"""Compare each step of lab 08's training with SGD in double precision, and explain the steps that differ.

A step moves the weights by 0.9 times the previous move, minus the rate times the mean gradient. Epochs are unequal,
their last batches are not full, and some gradients are large, small or zero, so that anything added to SGD shows.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from coursekit.checks.check import CheckError, require
from coursekit.checks.compare import Array, require_equal
from coursekit.checks.private_data import check_sent
from coursekit.checks.steps import SMALLEST_GAP, Steps, steps_of
from coursekit.checks.trials import Trial
from coursekit.drivers.lab08 import BATCH_SIZE
from coursekit.drivers.probe_model import MOMENTUM, Record
from coursekit.errors import Cause

RATE = 0.4  # of one rank; with three ranks the rate is above 1, at which some answers cap it
NUM_PLAIN = 15  # steps at the start, which the other checks read; they have full batches and unscaled gradients
NUM_BATCHES = (5, 4, 6, 3, 1, 2, 2, 1, 2, 1, 2, 4)  # in each epoch
NUM_STEPS = sum(NUM_BATCHES)
EPOCHS = np.repeat(np.arange(len(NUM_BATCHES)), NUM_BATCHES)  # the epoch of each step
ENDS = np.diff(EPOCHS, append=len(NUM_BATCHES)) > 0  # for each step, whether it is the last of its epoch
SIZES = BATCH_SIZE - (ENDS & (np.arange(NUM_STEPS) >= NUM_PLAIN))
GAINS = np.ones(NUM_STEPS)
GAINS[[NUM_PLAIN + 4, NUM_PLAIN + 6, NUM_STEPS - 3]] = 1e-3, 0.0, 100.0
PLAN = [list(zip(SIZES[one == EPOCHS].tolist(), GAINS[one == EPOCHS].tolist())) for one in range(len(NUM_BATCHES))]

Velocities = Callable[[Array, Array], Array]  # computes velocities from the gradient and the epoch of each step


def records_of(trial: Trial) -> list[list[Record]]:
    """Return the records of each rank's calls in training mode, or of all its calls if no rank has any.

    So a network that is never in training mode costs points only once.
    """
    training = [[one for one in of_rank if one.training] for of_rank in trial.of_ranks("records")]
    everything = [[Record(one.bias, one.samples, training=True) for one in seen] for seen in trial.of_ranks("records")]
    return training if any(training) else everything


def plain_steps(trial: Trial) -> Steps:
    """Return the first `NUM_PLAIN` steps; they must use the samples that were sent to the ranks."""
    steps = steps_of([of_rank[:NUM_PLAIN] for of_rank in records_of(trial)])
    check_sent(steps.samples, trial.private)
    return steps


def velocities(gradients: Array, _: Array, starts: Sequence[int] = (), begin: float = 0.0) -> Array:
    """Return the velocity of each step; before each step in `starts`, the velocity is reset to zero."""
    found = [np.asarray(begin * gradients[0])]
    for step, gradient in enumerate(gradients):
        found.append(gradient + (0 if step in starts else MOMENTUM) * found[-1])
    return np.array(found[1:])


def _kept(gradients: Array, epochs: Array) -> Array:
    """Return, for each step, the sum of the gradients of its epoch so far."""
    sums = np.cumsum(gradients, axis=0)
    first = np.searchsorted(epochs, epochs)
    return np.asarray(sums - sums[first] + gradients[first])


# The mistakes that lead to wrong velocities, and functions that compute these.
WAYS: dict[Cause, Velocities] = {
    Cause("the gradients of earlier steps are still included: call zero_grad() in each step", "gradients.kept"): (
        lambda gradients, epochs: velocities(_kept(gradients, 0 * epochs), epochs)
    ),
    Cause("zero_grad() is called once in each epoch: call it in each step", "gradients.kept-in-epoch"): (
        lambda gradients, epochs: velocities(_kept(gradients, epochs), epochs)
    ),
    Cause("the momentum is lost at the start of each epoch: create only one optimiser", "momentum.lost"): (
        lambda gradients, epochs: velocities(gradients, epochs, np.flatnonzero(np.diff(epochs, prepend=-1)).tolist())
    ),
    Cause("this is Nesterov's momentum", "momentum.nesterov"): (
        lambda gradients, epochs: gradients + MOMENTUM * velocities(gradients, epochs)
    ),
}
DECAY = Cause("the weights are also pulled to zero: is there weight decay, or another term in the loss?", "loss.decay")
CLIPPED = Cause("large gradients are clipped: use them as they are", "gradients.clipped")
SCHEDULE = Cause("the rate is not the same in all steps", "rate.not-constant")


@dataclass(frozen=True)
class Moves:
    """The moves of one rank and the mean gradients that led to them, both of shape (num_steps, num_weights)."""

    bias: Array  # before each step and after the last
    gradients: Array
    rate: float  # scaled for all ranks

    @property
    def made(self) -> Array:
        """The moves of the weights."""
        return np.diff(self.bias, axis=0)

    @property
    def rest(self) -> Array:
        """The part of each move that SGD does not explain."""
        made = self.made
        before = np.concatenate([0 * made[:1], made[:-1]])
        return np.asarray(made - MOMENTUM * before + self.rate * self.gradients)

    @property
    def rounding(self) -> Array:
        """The rest that rounding to 32 bits may leave, shape (num_steps, 1)."""
        sizes = np.abs(self.bias).max(axis=1, keepdims=True)
        before = np.concatenate([sizes[:1], sizes[:-2]])
        return np.asarray(SMALLEST_GAP * np.maximum(1, np.maximum.reduce([before, sizes[:-1], sizes[1:]])))

    def is_small(self, rest: Array) -> bool:
        """Return whether a rest is no larger than the rounding of several steps."""
        return bool((np.abs(rest) <= 10 * self.rounding).all())

    def cause(self, epochs: Array) -> Cause | None:
        """Return the known mistake that explains these moves, or None."""
        made, gradients = self.made, self.gradients
        for cause, velocities_of in WAYS.items():
            found = velocities_of(gradients, epochs)
            if self.is_small(made - (made * found).sum() / (found * found).sum() * found):
                return cause
        before, pulls = self.bias[:-1], gradients - self.rest / self.rate
        if self.is_small(self.rest - (self.rest * before).sum() / (before * before).sum() * before):
            return DECAY
        lengths, most = (np.linalg.norm(one, axis=1, keepdims=True) for one in (gradients, pulls))
        by_length = gradients * np.minimum(1, most.max() / np.maximum(lengths, SMALLEST_GAP))
        by_value = np.clip(gradients, -np.abs(pulls).max(), np.abs(pulls).max())
        if any(self.is_small((pulls - cut) * self.rate / 10) for cut in (by_length, by_value)):
            return CLIPPED
        found = velocities(gradients, epochs)
        rates = (made * found).sum(axis=1, keepdims=True) / (found * found).sum(axis=1, keepdims=True)
        return SCHEDULE if self.is_small(made - rates * found) else None


def moves_of(steps: Steps, rate: float, ends: Sequence[Array] = ()) -> list[Moves]:
    """Return the moves of each rank, including the last one if the weights at the end are given."""
    bias = np.concatenate([steps.bias, np.asarray(ends, dtype=float)[:, None]], axis=1) if len(ends) else steps.bias
    num_steps = bias.shape[1] - 1
    mean = steps.gradients().mean(axis=0)[:num_steps] * GAINS[:num_steps, None]
    return [Moves(of_rank, mean, rate) for of_rank in bias]


def check_whole(trial: Trial) -> None:
    """Every rank takes each step of each epoch as SGD does, and returns the model and optimiser that it trained."""
    parts = ("wrong", "gpus", "too_early", "records")
    for rank, (wrong, gpus, early, seen) in enumerate(zip(*(trial.of_ranks(part) for part in parts))):
        require(not wrong, wrong)
        message = f"DistributedDataParallel gets the GPU {', '.join(gpus)}, but refuses it if the model is on a CPU"
        require(not gpus, f"{message}: leave out device_ids and output_device", "ddp.device-ids")
        is_training = any(one.training for one in seen)
        require(is_training, "the network was never called in training mode", "training-mode.off")
        first = Cause("training ends with the first epoch: is return inside the loop?", "steps.first-epoch")
        full = Cause("batches that are not full are left out", "steps.full-batches")
        require_equal(
            len(records_of(trial)[rank]), NUM_STEPS, f"the number of steps of rank {rank}", "steps.wrong-number",
            mistakes={first: NUM_BATCHES[0], full: int((SIZES == BATCH_SIZE).sum())},
        )  # fmt: skip
        message = f"train asks for epoch {(early or [0])[0]} before it has read the previous one"
        require(not early, f"{message}: read_epochs sets the order of an epoch when asked for it", "epochs.too-early")
    steps = steps_of(records_of(trial))
    check_sent(steps.samples, trial.private)
    rate = RATE * trial.num_ranks
    moves = moves_of(steps, rate, trial.of_ranks("end"))
    for rank, (of_rank, last) in enumerate(zip(moves, trial.of_ranks("move"))):
        wrong_steps = np.flatnonzero((np.abs(of_rank.rest) > of_rank.rounding).any(axis=1))
        if len(wrong_steps):
            step, cause = wrong_steps[0], of_rank.cause(EPOCHS)
            gap = np.abs(of_rank.rest[step]).max()
            message = f"step {step + 1} of {NUM_STEPS} differs from SGD with momentum {MOMENTUM:g} and rate {rate:g} by"
            words, code = cause or ("is anything added to SGD?", "updates.not-sgd")
            raise CheckError(f"{message} up to {gap:.2g} on rank {rank}: {words}", code)
        is_own = last.shape == of_rank.made[-1].shape and np.allclose(last, of_rank.made[-1], rtol=1e-3, atol=1e-5)
        require(is_own, "the optimiser that train returns did not take these steps", "optimizer.other")
