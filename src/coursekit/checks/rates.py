"""Reads the ranks' rates and momentum off their training steps, or finds what else may have moved the ranks.

The examples continue the example of `steps`, with three classes and two ranks.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, NoReturn

import numpy as np

from coursekit.checks.check import CheckError, require
from coursekit.checks.steps import (
    FIRST_STEP,
    Gradient,
    Steps,
    gradient,
    gradient_of_probabilities,
    gradient_of_two_softmaxes,
)
from coursekit.drivers.probe_model import MOMENTUM, Array
from coursekit.errors import Cause

TOLERANCE = 1e-2  # part of a gradient's length; gradients sent in 16 bits stay far below it
EXACT = 4e-5  # part of a gradient; the error is a tenth of this with 32 bits, and more than ten times this with 16


@dataclass(frozen=True)
class _Updates:
    """What moved the ranks in the steps `first` to num_steps - 2, assuming this momentum."""

    steps: Steps
    first: int
    momentum: float

    @property
    def pulls(self) -> Array:
        """The rate times the gradient in each update, shape (num_ranks, num_updates, num_classes)."""
        return self.steps.pulls(self.momentum)[:, self.first - 1 :]

    @property
    def rounding(self) -> Array:
        return self.steps.rounding()[:, self.first - 1 :]

    def own(self, of: Gradient = gradient) -> Array:
        """Return each rank's own gradients."""
        return self.steps.gradients(of)[:, self.first : -1]

    def mean(self, of: Gradient = gradient) -> Array:
        """Return the mean of the ranks' own gradients, shape (1, num_updates, num_classes)."""
        return np.asarray(self.own(of).mean(axis=0, keepdims=True))

    def rates_by(self, gradients: Array) -> Array | None:
        """Return the rates with which these gradients explain the pulls, shape (num_ranks, num_updates), or None.

        A step without a gradient, which clipped probabilities may cause, gives the rate 0. If only momentum moves the
        ranks, any rate would fit, so the result is None.
        """
        if gradients.any() and _is_small(self.pulls, 0 * self.pulls, self.rounding):
            return None
        squares = (gradients * gradients).sum(axis=-1)
        rates = (self.pulls * gradients).sum(axis=-1) / np.where(squares > 0, squares, 1.0)
        rest = self.pulls - rates[..., np.newaxis] * gradients
        return rates if _is_small(rest, self.pulls, self.rounding) else None


def _is_small(rest: Array, pulls: Array, rounding: Array) -> bool:
    return bool((np.linalg.norm(rest, axis=-1) <= TOLERANCE * np.linalg.norm(pulls, axis=-1) + rounding).all())


def _unequal_shares(updates: _Updates) -> tuple[int, str, float] | None:
    """Return a rank, the unequal shares of the gradients in its pull, and the right share; None if shares are equal.

    Example: the pull (0.33, -0.42, 0.08) is three quarters of rank 0's gradient plus one quarter of rank 1's.
    """
    own = updates.own()[:, 0]
    for rank, (pull, rounding) in enumerate(zip(updates.pulls[:, 0], updates.rounding[:, 0])):
        shares = np.linalg.lstsq(own.T, pull, rcond=None)[0]
        if _is_small(pull - shares @ own, pull, rounding) and np.ptp(shares) > TOLERANCE * np.abs(shares).max():
            return rank, ", ".join(f"{abs(share):.2f}" for share in shares / shares.sum()), 1 / len(own)
    return None


# Other explanations if the mean gradient did not move the ranks; the message names the first that fits.
MISFITS: tuple[tuple[Callable[[_Updates], Any], Cause], ...] = (
    # In the example, rank 0 moves by (-0.2, 0.4, -0.2).
    (
        lambda it: it.rates_by(it.own()) is not None,
        Cause(
            "each rank moves by its own gradients: average the gradients over the ranks",
            "gradients.not-averaged",
        ),
    ),
    # With the bias (0.5, 0.3, 0.2) in the example, the gradient is (1, -0.67, -1.5) instead of (0.39, -0.18, -0.21).
    (
        lambda it: it.rates_by(it.mean(gradient_of_probabilities)) is not None,
        Cause("the network returns logits, so the loss needs from_logits=True", "loss.no-logits"),
    ),
    (
        lambda it: it.rates_by(it.mean(gradient_of_two_softmaxes)) is not None,
        Cause("softmax is applied twice: pass the logits directly to the loss", "loss.two-softmaxes"),
    ),
    # In the example, the second move lacks the 0.9 times (-0.2, 0.1, 0.1) that momentum would add.
    (
        lambda it: not momentum_of(it.steps, it.first) and it.momentum,
        Cause("expected momentum {0:g}, got none", "momentum.missing"),
    ),
    (
        _unequal_shares,
        Cause(
            "rank {0[0]} weights the ranks' gradients by {0[1]}, expected {0[2]:.2f} for each",
            "gradients.weighted",
        ),
    ),
)


def rates(steps: Steps, first: int = FIRST_STEP, momentum: float = MOMENTUM) -> Array:
    """Return the rate of each rank in the steps `first` to num_steps - 2, shape (num_ranks, num_steps - 1 - first).

    The mean of all ranks' gradients must explain the updates.
    """
    updates = _Updates(steps, first, momentum)
    require(np.abs(updates.pulls).max() > 0, "the weights never change", "weights.frozen")
    found = updates.rates_by(updates.mean())
    return _explain_misfit(updates) if found is None else found


def _explain_misfit(updates: _Updates) -> NoReturn:
    message = f"the updates do not follow SGD with momentum {updates.momentum:g} on the mean of all gradients"
    for explains, (words, code) in MISFITS:
        if found := explains(updates):
            raise CheckError(f"{message}: {words.format(found)}", code)
    raise CheckError(message, "updates.unexplained")


def rates_alone(steps: Steps, first: int = FIRST_STEP) -> Array:
    """Return the constant rate of each rank, shape (num_ranks, 1), whatever the momentum is.

    It fits a momentum and a rate to the moves of each rank, once with averaged gradients and once with the rank's own
    gradients, for the right loss and for two wrong losses. It returns the rates of the fit with the smallest residual.
    """
    moves = np.diff(steps.bias, axis=1)
    require(np.abs(moves).max() > 0, "the weights never change", "weights.frozen")
    fits = []
    for of in (gradient, gradient_of_probabilities, gradient_of_two_softmaxes):
        own = steps.gradients(of)[:, first:-1]
        for gradients in (np.broadcast_to(own.mean(axis=0), own.shape), own):
            found, rest = [], 0.0
            for before, after, pulling in zip(moves[:, first - 1 : -1], moves[:, first:], gradients):
                columns = np.stack([before.ravel(), -pulling.ravel()], axis=1)
                momentum, rate = np.linalg.lstsq(columns, after.ravel(), rcond=None)[0]
                found.append([rate])
                rest = max(rest, float(np.abs(momentum * before - rate * pulling - after).max()))
            fits.append((rest, found))
    return np.array(min(fits)[1])


def check_rates(found: Array, expected: Array | float, num_ranks: int) -> None:
    """The rates are as expected.

    `found` has a row for each rank; `expected` has a value for each step, or one value for all steps.
    """
    expected = np.broadcast_to(expected, found.shape[1])
    factors = found / expected
    are = partial(np.allclose, rtol=TOLERANCE)
    rank, step = np.unravel_index(np.argmax(np.abs(factors - 1)), factors.shape)
    got = f"the learning rate of a step on rank {rank}: expected {expected[step]:.3g}, got {found[rank, step]:.3g}"
    summed = "the gradients are summed instead of averaged, or the rate is scaled twice"
    early = "all steps have the scaled rate: is the warm-up missing, or counted in epochs instead of steps?"
    factor = float(factors.flat[0])
    faults = {
        Cause(f"{got}: {summed}", "rate.scaled-twice"): are(factors, num_ranks),
        Cause(f"{got}: the rate is not scaled", "rate.not-scaled"): are(factors, 1 / num_ranks),
        Cause(f"{got}: {early}", "rate.no-warm-up"): np.ptp(expected) > 0 and are(found, expected.max()),
        Cause(f"{got}: it differs between ranks", "rate.uneven"): np.ptp(factors, axis=0).max() > TOLERANCE,
        Cause(f"{got}: all steps have {factor:.3g} times the expected rate", "rate.wrong"): are(factors, factor),
        Cause(got, "rate.wrong"): True,
    }
    require(are(factors, 1), *next(cause for cause, holds in faults.items() if holds))


def momentum_of(steps: Steps, first: int = FIRST_STEP) -> float:
    """Return the momentum with which to read the updates: 0 if the mean gradient explains them without momentum."""
    plain = _Updates(steps, first, 0.0)
    return MOMENTUM if plain.rates_by(plain.mean()) is None else 0.0


def check_bits(steps: Steps, compression: str) -> None:
    """Gradients are sent in 16 bits if the compression is "fp16", and otherwise in 32, whatever the momentum is.

    The mean of exact gradients fits the updates better if gradients are sent in 32 bits than in 16.
    """
    momentum = momentum_of(steps)
    found = rates(steps, momentum=momentum)
    mean = steps.gradients().mean(axis=0)[FIRST_STEP:-1]
    pulls = steps.pulls(momentum)[0, FIRST_STEP - 1 :] / found[0][:, np.newaxis]
    rest = float(np.median(np.linalg.norm(pulls - mean, axis=1) / np.linalg.norm(mean, axis=1)))
    expected, got = 16 if compression == "fp16" else 32, 32 if rest < EXACT else 16
    message = f'with the compression "{compression}", gradients are sent in {got} bits instead of {expected}'
    require(got == expected, message, "compression.wrong-bits")
