"""Checks whether lab 04's updates follow SGD with momentum up to rounding, and which fault explains them if not.

An update is -rate * velocity, with velocity = 0.9 * previous velocity + gradient. Keras includes the rate in the
velocity. The gradient is known from weights and samples (`steps`), and in one step it is multiplied by 64. So anything
that an answer adds to SGD shows in some step, such as weight decay, clipping, smoothed labels or a schedule.

Example: the rate is 0.6, a weight is 0.5, and its gradients in two steps are 0.1 and 0.2. The first step moves the
weight by -0.06, and the second moves it by -0.6 * (0.09 + 0.2) = -0.174. With a weight decay of 0.01, the first
gradient is 0.105, and the first move is -0.063. A rate of 0.63 would explain this move as well, but not the moves of
other weights.
"""

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from coursekit.checks.check import CheckError, require
from coursekit.checks.rates import check_rates, rates
from coursekit.checks.steps import (
    SMALLEST_GAP,
    Gradient,
    Steps,
    gradient,
    gradient_of_probabilities,
    gradient_of_two_softmaxes,
)
from coursekit.drivers.lab04 import GAIN
from coursekit.drivers.probe_model import MOMENTUM, Array
from coursekit.errors import Cause

UNEXPLAINED = "updates.unexplained"
SAME_RATE = 1e-4  # part of a rate; rounding stays below it
WHAT = f"the updates do not follow SGD with momentum {MOMENTUM:g} on the mean of all gradients"


@dataclass(frozen=True)
class Updates:
    """The updates that the probes recorded, one fewer than the steps, and the values to compare them with."""

    steps: Steps
    rate: float  # scaled for all ranks
    large_step: int  # the step whose gradients are `GAIN` times as large
    batch_size: int
    kernels: Sequence[Sequence[float]]  # by rank, a weight before each step; it must move like the weight of class 0

    @cached_property
    def moves(self) -> Array:
        """How far each step moves the weights, shape (num_ranks, num_updates, num_classes)."""
        return np.diff(self.steps.bias, axis=1)

    @cached_property
    def kernel_moves(self) -> Array:
        """How far each step moves the kernel, shape (num_ranks, num_updates)."""
        num_ranks, num_steps, _ = self.steps.bias.shape
        seen = [[*of_rank][:num_steps] for of_rank in self.kernels if len(of_rank) >= num_steps]
        require(len(seen) == num_ranks, "expected at least one call of the network in each step", "network.not-called")
        return np.diff(np.array(seen, dtype=float), axis=1)

    @cached_property
    def allowed(self) -> Array:
        """The error that rounding may cause in each update, shape (num_ranks, num_updates)."""
        return np.asarray(SMALLEST_GAP * np.maximum.accumulate(np.abs(self.steps.bias).max(axis=2), axis=1)[:, 1:])

    def own(self, of: Gradient = gradient) -> Array:
        """Return each rank's own gradients, in the shape of the moves."""
        gains = np.where(np.arange(self.moves.shape[1]) == self.large_step, GAIN, 1.0)
        return np.asarray(self.steps.gradients(of)[:, :-1] * gains[:, np.newaxis])

    def mean(self, of: Gradient = gradient) -> Array:
        """Return the mean of the ranks' own gradients, in the same shape."""
        return np.broadcast_to(self.own(of).mean(axis=0), self.moves.shape)

    def pulls(self, momentum: float = MOMENTUM) -> Array:
        """Return the part of each move that momentum does not explain, with the opposite sign, in the same shape."""
        before = np.concatenate([np.zeros_like(self.moves[:, :1]), self.moves[:, :-1]], axis=1)
        return np.asarray(momentum * before - self.moves)

    def rates_by(self, *columns: Array) -> Array | None:
        """Return the rates with which a weighted sum of the columns explains the updates, or None if no sum does.

        The weight of the first column is the rate, and the other columns may have any weights. If the rate changes, it
        may be a factor of the velocity or a part of it. The shape of the rates is (num_ranks, num_updates).
        """
        for target, given in ((-self.moves, [_velocity(column) for column in columns]), (self.pulls(), columns)):
            found, rest = _fit(target, given)
            if (rest <= self.allowed).all() and np.abs(found).max() > 0:
                return found
        return None

    def other_momentum(self) -> tuple[float, Array] | None:
        """Fit the updates by the mean gradient, a momentum and a rate; return both, or None if the fit is too poor."""
        before, after, mean = self.moves[:, :-1].ravel(), self.moves[:, 1:].ravel(), self.mean()[:, 1:].ravel()
        (momentum, rate), *_ = np.linalg.lstsq(np.stack([before, -mean], axis=1), after, rcond=None)
        rest = np.abs(momentum * before - rate * mean - after).reshape(self.moves[:, 1:].shape).max(axis=2)
        is_found = (rest <= self.allowed[:, 1:] + SAME_RATE * np.abs(self.moves[:, 1:]).max(axis=2)).all()
        return (float(momentum), np.full(self.moves.shape[:2], rate)) if is_found else None

    def early(self) -> "Updates":
        """Return the updates before the step with the large gradients."""
        last = self.large_step + 1
        steps = Steps(self.steps.bias[:, :last], tuple(of_rank[:last] for of_rank in self.steps.samples))
        return replace(self, steps=steps)


def _velocity(gradients: Array) -> Array:
    found = np.array(gradients, dtype=float)
    for step in range(1, found.shape[1]):
        found[:, step] += MOMENTUM * found[:, step - 1]
    return found


def _fit(target: Array, columns: Sequence[Array]) -> tuple[Array, Array]:
    """Fit a weighted sum of the columns to each update; return the first column's weight and the largest residual.

    Both have the shape (num_ranks, num_updates).
    """
    matrix = np.stack([np.broadcast_to(column, target.shape) for column in columns], axis=-1)
    parts = np.einsum("...kc,...c->...k", np.linalg.pinv(matrix), target)
    rest = target - np.einsum("...ck,...k->...c", matrix, parts)
    return parts[..., 0], np.abs(rest).max(axis=-1)


def _shares(bias: Array, samples: Array) -> Array:
    """Return, for each class, how much its share of the samples differs from an equal share."""
    return np.asarray(np.bincount(samples + 1, minlength=len(bias)) / len(samples) - 1 / len(bias))


def _shifted(by: int) -> Gradient:
    return lambda bias, samples: gradient(bias, (samples + by + 1) % len(bias) - 1)


def _nesterov(it: Updates) -> Array:
    """Return the gradients with which plain momentum would reproduce Nesterov's moves."""
    mean = it.mean()
    before = np.concatenate([np.zeros_like(mean[:, :1]), mean[:, :-1]], axis=1)
    return np.asarray((1 + MOMENTUM) * mean - MOMENTUM * before)


def _decoupled(it: Updates) -> Array:
    """Return the column of a decoupled decay, which moves weights by a part of themselves, outside the momentum."""
    bias = it.steps.bias[:, :-1]
    before = np.concatenate([np.zeros_like(bias[:, :1]), bias[:, :-1]], axis=1)
    return np.asarray(bias - MOMENTUM * before)


DECAYED = Cause("a part of the weights is added to the gradients, as by weight decay", "weights.decayed")
SHIFTED = Cause("the labels are shifted by one: pass them on unchanged", "labels.shifted")
# Other explanations of the updates; the first that fits is named.
MISFITS: tuple[tuple[Callable[[Updates], tuple[Array, ...]], Cause], ...] = (
    (
        lambda it: (it.own(),),
        Cause("each rank moves by its own gradients: average them", "gradients.not-averaged"),
    ),
    (
        lambda it: (it.mean(gradient_of_probabilities),),
        Cause("the loss takes the network's logits for probabilities: from_logits=True is missing", "loss.no-logits"),
    ),
    (
        lambda it: (it.mean(gradient_of_two_softmaxes),),
        Cause("softmax is applied twice: pass the logits directly to the loss", "loss.two-softmaxes"),
    ),
    (lambda it: (_nesterov(it),), Cause("they use Nesterov momentum, expected plain momentum", "momentum.nesterov")),
    (lambda it: (it.mean(_shifted(1)),), SHIFTED),
    (lambda it: (it.mean(_shifted(-1)),), SHIFTED),
    (
        lambda it: (it.mean(), it.mean(_shares)),
        Cause("the labels are smoothed or weighted, expected the mean cross-entropy", "labels.smoothed"),
    ),
    (lambda it: (it.mean(), it.steps.bias[:, :-1]), DECAYED),
    (lambda it: (it.mean(), _decoupled(it)), DECAYED),
)


def check_direction(updates: Updates) -> None:
    """Every update follows SGD with momentum 0.9 on the mean of all ranks' gradients, at any rate."""
    moves, expected = updates.kernel_moves, updates.moves[:, :, 0]
    require(moves.any() or updates.moves.any(), "the weights never change", "weights.frozen")
    # A loss that takes logits for probabilities has no gradient for some classes. If class 0 is among them, neither its
    # weight nor the kernel moves.
    is_partly_frozen = (expected.any() and not moves.any()) or not updates.moves.any()
    message = "the weights of one layer change, but the weights of another never do: train all trainable variables"
    require(not is_partly_frozen, message, "weights.partly-frozen")
    if updates.rates_by(updates.mean()) is None:
        _explain(updates)
    gaps = np.abs(moves - expected)
    step = int(np.argmax((gaps > updates.allowed).any(axis=0)))
    message = f"step {step + 1} moves the kernel of one layer by up to {gaps[:, step].max():.2g} more or less "
    advice = "than SGD does: is weight decay or clipping added for some weights?"
    require((gaps <= updates.allowed).all(), message + advice, "updates.uneven")


def _explain(updates: Updates) -> None:
    """Raise a `CheckError` that says why the mean of all gradients does not explain the updates."""
    for columns, (words, code) in MISFITS:
        require(updates.rates_by(*columns(updates)) is None, f"{WHAT}: {words}", code)
    if other := updates.other_momentum():
        code = "momentum.missing" if abs(other[0]) < SAME_RATE else "momentum.wrong"
        raise CheckError(f"{WHAT}: their momentum is {other[0]:.3g}", code)
    early = updates.early()
    if early.rates_by(early.mean()) is not None:
        message = f"only step {updates.large_step + 1}, which has large gradients, deviates: are gradients clipped?"
        raise CheckError(f"{WHAT}: {message}", "gradients.clipped")
    try:
        rates(early.steps)
    except CheckError as error:
        if error.code != UNEXPLAINED:
            raise
    _, rest = _fit(updates.pulls(), [updates.mean()])
    step = int(np.argmax((rest > updates.allowed).any(axis=0)))
    message = f"step {step + 1} is off by {rest[:, step].max():.2g}, more than rounding explains: is anything added?"
    raise CheckError(f"{WHAT}: {message}", UNEXPLAINED)


def check_rate(updates: Updates) -> None:
    """Every step has the requested rate, whether or not the gradients are averaged."""
    require(updates.moves.any() or updates.kernel_moves.any(), "the weights never change", "weights.frozen")
    if not updates.moves.any():  # a frozen part shows no rate; the other check reports it
        return
    of_faults = (updates.rates_by(*columns(updates)) for columns, _ in MISFITS)
    explained = itertools.chain([updates.rates_by(updates.mean())], of_faults)
    found = next((one for one in explained if one is not None), None)
    if found is None and (other := updates.other_momentum()):
        found = other[1]
    if found is None:  # no multiple of a gradient moves the ranks; only the other check reports this
        return
    factors = found / updates.rate
    is_one = np.abs(factors - 1) <= SAME_RATE
    step = int(np.argmin(is_one.all(axis=0)))
    got = f"the learning rate of step {step + 1}: expected {updates.rate:.4g}, got {found[:, step].mean():.4g}"
    is_constant = np.ptp(factors, axis=1).max() <= SAME_RATE * max(1.0, np.abs(factors).max())
    is_sum = is_constant and np.allclose(factors, updates.batch_size, rtol=SAME_RATE)
    require(not is_sum, f"{got}: the loss is the sum over a batch, expected the mean", "loss.summed")
    if is_constant:
        check_rates(found, updates.rate, len(found))
        require(is_one.all(), got, "rate.wrong")
    is_clipped = is_one[:, np.arange(is_one.shape[1]) != updates.large_step].all() and not is_one.all()
    message = f"{got}, only in this step, which has large gradients: they are clipped"
    require(not is_clipped, message, "gradients.clipped")
    message = f"{got}, and it changes from step to step: remove anything that changes it or clips gradients"
    require(is_one.all(), message, "rate.changing")
