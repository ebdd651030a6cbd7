"""The training steps that the probe models of all ranks saw (`drivers.probe_model`), and what can be read off them.

A probe has a weight for each class, its bias, and sample 4 is of class 5. Its gradient follows from bias and samples:
softmax(bias) minus the share of each class in the batch. An update is -rate * velocity, and
velocity = momentum * velocity before + gradient; so whose gradients moved a rank, and with which rate, is seen.

Example: three classes, bias (0, 0, 0), so that softmax is (0.33, 0.33, 0.33). Rank 0 has a batch of sample 0, class 1,
and rank 1 of sample 1, class 2: their gradients are (0.33, -0.67, 0.33) and (0.33, 0.33, -0.67), and the mean is
(0.33, -0.17, -0.17). With the rate 0.3 of one rank, scaled to 0.6, both move by (-0.2, 0.1, 0.1) if they average;
by (-0.1, 0.05, 0.05) if the rate is not scaled; and apart, rank 0 by (-0.2, 0.4, -0.2), if each takes its own gradient.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from coursekit.checks.check import CheckError, require
from coursekit.drivers.probe_model import MOMENTUM, Array, Record

FIRST_STEP = 2  # before it, a broadcast after the first step may still move the ranks
TOLERANCE = 1e-2  # of a gradient's length; gradients that travel with 16 bits stay far below it
SMALLEST_GAP = 1e-6  # between weights of about 1; float32 rounding stays below it
KERAS_EPSILON = 1e-7  # what Keras takes for zero
EXACT = 4e-5  # of a gradient; 32 bits leave a tenth of it, 16 bits more than ten times as much


def gradient(bias: Array, samples: Array) -> Array:
    """Return the gradient of the mean cross-entropy with respect to the bias, shape (num_classes,)."""
    weights = np.exp(bias.astype(float) - bias.max())
    counts = np.bincount(samples + 1, minlength=len(bias))
    return np.asarray(weights / weights.sum() - counts / len(samples))


def gradient_of_probabilities(bias: Array, samples: Array) -> Array:
    """Return the gradient where a Keras loss without `from_logits` takes the bias for probabilities, same shape.

    Keras clips them and divides them by their sum, so the loss is -log(clipped[class] / sum of clipped).
    """
    clipped = np.clip(bias.astype(float), KERAS_EPSILON, 1 - KERAS_EPSILON)
    shares = np.bincount(samples + 1, minlength=len(bias)) / len(samples)
    return np.asarray(np.where(clipped == bias, 1 / clipped.sum() - shares / clipped, 0.0))


def gradient_of_two_softmaxes(bias: Array, samples: Array) -> Array:
    """Return the gradient where a loss that takes logits gets their softmax, same shape."""
    shares = np.exp(bias.astype(float) - np.logaddexp.reduce(bias.astype(float)))
    outer = gradient(shares, samples)
    return np.asarray(shares * (outer - shares @ outer))


WRONG_LOSSES = {  # by what is said of them, their gradients
    "from_logits=True is missing in the loss, since the network returns logits": gradient_of_probabilities,
    "softmax is taken twice, hand the logits to the loss as they are": gradient_of_two_softmaxes,
}


def loss(bias: Array, samples: Array) -> float:
    """Return the mean cross-entropy of a batch."""
    shifted = bias.astype(float) - bias.max()
    return float(np.log(np.exp(shifted).sum()) - shifted[samples + 1].mean())


@dataclass(frozen=True)
class Steps:
    """The training steps of one training, as the ranks' probes saw them."""

    bias: Array  # before each step, shape (num_ranks, num_steps, num_classes)
    samples: tuple[tuple[Array, ...], ...]  # the numbers of the samples in each rank's batch, by rank and step

    @property
    def num_steps(self) -> int:
        """The number of steps that every rank made."""
        return int(self.bias.shape[1])

    @property
    def batches(self) -> list[Array]:
        """The samples of all batches, of all ranks."""
        return [batch for of_rank in self.samples for batch in of_rank]

    def gradients(self, of: Callable[[Array, Array], Array] = gradient) -> Array:
        """Return the gradient of each rank's own batch, shape (num_ranks, num_steps, num_classes)."""
        return np.array([[of(*step) for step in zip(*of_rank)] for of_rank in zip(self.bias, self.samples)])

    def losses(self, of: Callable[[Array, Array], float] = loss) -> Array:
        """Return the loss of each rank's own batch, shape (num_ranks, num_steps)."""
        return np.array([[of(*step) for step in zip(*of_rank)] for of_rank in zip(self.bias, self.samples)])

    def epoch_losses(self, num_epochs: int, of: Callable[[Array, Array], float] = loss) -> Array:
        """Return the mean loss of each rank's own batches in each epoch, shape (num_ranks, num_epochs)."""
        return np.asarray(self.losses(of).reshape(len(self.bias), num_epochs, -1).mean(axis=2))

    def pulls(self, momentum: float = MOMENTUM) -> Array:
        """Return rate times gradient of the steps 1 to num_steps - 2, as the updates show it, same shape but shorter.

        The rate of two neighbouring steps may differ: Keras keeps -rate * velocity, so that each gradient has the
        rate of its own step.
        """
        moves = np.diff(self.bias, axis=1)
        return np.asarray(momentum * moves[:, :-1] - moves[:, 1:])

    def rounding(self) -> Array:
        """Return what the rounding of the weights may leave of each pull, shape (num_ranks, num_steps - 2)."""
        sizes = np.abs(self.bias).max(axis=2)
        return np.asarray(SMALLEST_GAP * np.maximum.reduce([sizes[:, :-2], sizes[:, 1:-1], sizes[:, 2:]]))


def steps_of(records: Sequence[Sequence[Record]]) -> Steps:
    """Return the training steps among what the probes saw, by rank; they must be some, and as many on each."""
    training = [[record for record in of_rank if record.training] for of_rank in records]
    counts = [len(of_rank) for of_rank in training]
    require(min(counts) > 0, "the network was never called in training mode")
    require(len(set(counts)) == 1, f"the ranks made different numbers of steps: {counts}")
    require(counts[0] > FIRST_STEP + 1, f"expected more steps, got {counts[0]}")
    bias = np.array([[record.bias for record in of_rank] for of_rank in training], dtype=float)
    require(np.isfinite(bias).all(), "the weights are no longer finite: training ran away")
    for rank, of_rank in enumerate(training):
        has_images = all(len(record.samples) for record in of_rank)
        require(has_images, f"rank {rank} gets batches without an image: are its batches divided once more?")
    steps = Steps(bias, tuple(tuple(record.samples for record in of_rank) for of_rank in training))
    check_colors(steps.batches)
    # Counted by class later: a number that somebody made up would take memory without end.
    require(max(batch.max(initial=0) for batch in steps.batches) < bias.shape[2] - 1, "images of no class were seen")
    return steps


def check_colors(samples: Sequence[Array]) -> None:
    """Every image has a sample's colour; otherwise nothing can be read off what the probes saw."""
    numbers = np.concatenate([np.ravel(batch) for batch in samples])
    num_strange = int((numbers < 0).sum())
    told = f"{num_strange} of {len(numbers)} images do not have their record's colour"
    require(num_strange == 0, f"{told}: are they of the files given, with pixels from -1 to 1?")


def check_same_weights(steps: Steps, first: int = FIRST_STEP) -> None:
    """From step `first` on all ranks have the same weights.

    A rank that trains alone after the same start is another fault, of the averaging: only the start is asked here.
    """
    gaps = np.abs(steps.bias - steps.bias[:1]).max(axis=(0, 2))
    told = f"the ranks start up to {gaps[0]:.3g} apart, and are still {gaps[first]:.3g} apart before step {first}"
    require(gaps[: first + 1].min() < SMALLEST_GAP, f"{told}: the start is not broadcast")


def _fit(pulls: Array, gradients: Array) -> tuple[Array, Array]:
    """Return the rate that explains each pull best, shape as the steps, and what it leaves over, shape as the pulls.

    A step without a gradient, where clipped probabilities have none, shows no rate: 0.
    """
    squares = (gradients * gradients).sum(axis=-1)
    rates = (pulls * gradients).sum(axis=-1) / np.where(squares > 0, squares, 1.0)
    return rates, pulls - rates[..., np.newaxis] * gradients


def _explains(pulls: Array, rest: Array, rounding: Array) -> bool:
    return bool((np.linalg.norm(rest, axis=-1) < TOLERANCE * np.linalg.norm(pulls, axis=-1) + rounding).all())


def rates(steps: Steps, first: int = FIRST_STEP, momentum: float = MOMENTUM) -> Array:
    """Return the rate of each rank in the steps `first` to num_steps - 2, shape (num_ranks, num_steps - 1 - first).

    The updates must be made of the mean of all ranks' gradients.
    """
    pulls, own = steps.pulls(momentum)[:, first - 1 :], steps.gradients()[:, first:-1]
    rounding = steps.rounding()[:, first - 1 :]
    require(np.abs(pulls).max() > 0, "the weights never change")
    shows_rate = (np.linalg.norm(pulls, axis=-1) > rounding).any()  # else any rate explains them, above all that of 0
    found, rest = _fit(pulls, own.mean(axis=0, keepdims=True))
    if shows_rate and _explains(pulls, rest, rounding):
        return found
    if shows_rate and _explains(pulls, _fit(pulls, own)[1], rounding):
        raise CheckError("the ranks move by their own gradients: the gradients are not averaged over the ranks")
    expected = f"the updates are not those of SGD with momentum {momentum:g} and the mean of all gradients"
    for hint, of in WRONG_LOSSES.items():
        wrong = steps.gradients(of)[:, first:-1].mean(axis=0, keepdims=True)
        require(not _explains(pulls, _fit(pulls, wrong)[1], rounding), f"{expected}: {hint}")
    if momentum and not momentum_of(steps, first):
        raise CheckError(f"{expected}: expected momentum {momentum:g}, got none")
    for rank, pull in enumerate(pulls[:, 0]):
        shares = np.linalg.lstsq(own[:, 0].T, pull, rcond=None)[0]
        is_shared = _explains(pull, pull - shares @ own[:, 0], rounding[rank, 0])
        if is_shared and np.ptp(shares) > TOLERANCE * np.abs(shares).max():
            told = ", ".join(f"{abs(share):.2f}" for share in shares / shares.sum())
            told = f"rank {rank} moves by the gradients of the ranks in the shares {told}"
            raise CheckError(f"{expected}: {told}, expected {1 / len(own):.2f} of each")
    raise CheckError(expected)


def rates_alone(steps: Steps, first: int = FIRST_STEP) -> Array:
    """Return the constant rate of each rank, shape (num_ranks, 1), whatever the momentum is.

    It is found for averaged and for own gradients, of the loss and of `WRONG_LOSSES`: those explain the moves best
    that leave least of them, with the one momentum and rate of a rank that fit best.
    """
    moves = np.diff(steps.bias, axis=1)
    require(np.abs(moves).max() > 0, "the weights never change")
    fits = []
    for of in (gradient, *WRONG_LOSSES.values()):
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
    """The rates are the expected ones; `found` has a row for each rank, `expected` a value for each step or for all."""
    expected = np.broadcast_to(expected, found.shape[1])
    factors = found / expected
    hint = ""
    if np.allclose(factors, num_ranks, rtol=TOLERANCE):
        hint = ": the gradients are summed and not averaged, or the rate is scaled twice"
    elif np.allclose(factors, 1 / num_ranks, rtol=TOLERANCE):
        hint = ": the rate is not scaled"
    elif np.ptp(expected) > 0 and np.allclose(found, expected.max(), rtol=TOLERANCE):
        hint = ": all steps have the scaled rate: is the warm-up missing, or counted in epochs and not in steps?"
    elif np.ptp(factors, axis=0).max() > TOLERANCE:
        hint = ": it depends on the rank"
    elif np.ptp(factors) < TOLERANCE and abs(factors.flat[0] - 1) > TOLERANCE:
        hint = f", {factors.flat[0]:.3g} times as much in every step on every rank"
    rank, step = np.unravel_index(np.argmax(np.abs(factors - 1)), factors.shape)
    told = f"the learning rate of a step on rank {rank}: expected {expected[step]:.3g}, got {found[rank, step]:.3g}"
    require(np.allclose(factors, 1, rtol=TOLERANCE), f"{told}{hint}")


def momentum_of(steps: Steps, first: int = FIRST_STEP) -> float:
    """Return the momentum to read the updates with: 0 where the mean of all gradients alone explains them."""
    plain, mean = steps.pulls(0.0)[:, first - 1 :], steps.gradients()[:, first:-1].mean(axis=0, keepdims=True)
    return 0.0 if _explains(plain, _fit(plain, mean)[1], steps.rounding()[:, first - 1 :]) else MOMENTUM


def check_bits(steps: Steps, compression: str) -> None:
    """Gradients travel with 16 bits where the compression is "fp16", else with 32, whatever the momentum is.

    The mean of exact gradients leaves less of the updates in 32 bits than in 16.
    """
    momentum = momentum_of(steps)
    found = rates(steps, momentum=momentum)
    mean = steps.gradients().mean(axis=0)[FIRST_STEP:-1]
    pulls = steps.pulls(momentum)[0, FIRST_STEP - 1 :] / found[0][:, np.newaxis]
    rest = float(np.median(np.linalg.norm(pulls - mean, axis=1) / np.linalg.norm(mean, axis=1)))
    expected, got = 16 if compression == "fp16" else 32, 32 if rest < EXACT else 16
    require(got == expected, f'with the compression "{compression}" gradients travel with {got} bits, not {expected}')
