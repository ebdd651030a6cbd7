"""The training steps that the probe models of all ranks recorded (`drivers.probe_model`), and what they reveal.

A probe's only weights are its bias, one number for each class. Sample n belongs to class n + 1. The gradient follows
from bias and samples: it is softmax(bias) minus the share of each class in the batch. An update is -rate * velocity,
with velocity = momentum * previous velocity + gradient. So the steps show whose gradients moved a rank, and the rate.

Example: there are three classes and two ranks. The bias is (0, 0, 0), so its softmax is (0.33, 0.33, 0.33). The batch
of rank 0 is sample 0, of class 1, and the batch of rank 1 is sample 1, of class 2. So the gradients are
(0.33, -0.67, 0.33) and (0.33, 0.33, -0.67), and their mean is (0.33, -0.17, -0.17). The rate of one rank is 0.3, which
is scaled to 0.6. If the ranks average their gradients, both move by (-0.2, 0.1, 0.1), or by (-0.1, 0.05, 0.05) if the
rate is not scaled. If each rank uses its own gradient, rank 0 moves by (-0.2, 0.4, -0.2).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from coursekit.checks.check import require
from coursekit.drivers.probe_model import MOMENTUM, Array, Record

Gradient = Callable[[Array, Array], Array]  # returns the gradient of a batch's loss from the bias and the samples

FIRST_STEP = 2  # before it, a broadcast after the first step may still move the ranks
SMALLEST_GAP = 1e-6  # between weights of about 1; float32 rounding stays below it
KERAS_EPSILON = 1e-7  # the smallest probability that Keras uses


def gradient(bias: Array, samples: Array) -> Array:
    """Return the gradient of the mean cross-entropy with respect to the bias, shape (num_classes,)."""
    weights = np.exp(bias.astype(float) - bias.max())
    counts = np.bincount(samples + 1, minlength=len(bias))
    return np.asarray(weights / weights.sum() - counts / len(samples))


def gradient_of_probabilities(bias: Array, samples: Array) -> Array:
    """Return the gradient of a Keras loss without `from_logits`, which takes the bias for probabilities.

    Keras clips these and divides them by their sum, so the loss is -log(clipped[class] / sum of clipped).
    """
    clipped = np.clip(bias.astype(float), KERAS_EPSILON, 1 - KERAS_EPSILON)
    shares = np.bincount(samples + 1, minlength=len(bias)) / len(samples)
    return np.asarray(np.where(clipped == bias, 1 / clipped.sum() - shares / clipped, 0.0))


def gradient_of_two_softmaxes(bias: Array, samples: Array) -> Array:
    """Return the gradient of a loss that expects logits but gets their softmax, with respect to the bias."""
    shares = np.exp(bias.astype(float) - np.logaddexp.reduce(bias.astype(float)))
    outer = gradient(shares, samples)
    return np.asarray(shares * (outer - shares @ outer))


def loss(bias: Array, samples: Array) -> float:
    """Return the mean cross-entropy of a batch."""
    shifted = bias.astype(float) - bias.max()
    return float(np.log(np.exp(shifted).sum()) - shifted[samples + 1].mean())


@dataclass(frozen=True)
class Steps:
    """The steps of one training run, as the ranks' probes recorded them."""

    bias: Array  # before each step, shape (num_ranks, num_steps, num_classes)
    samples: tuple[tuple[Array, ...], ...]  # the numbers of the samples in each rank's batch, by rank and step

    @property
    def num_steps(self) -> int:
        """The number of steps that every rank took."""
        return int(self.bias.shape[1])

    def until(self, num_steps: int) -> "Steps":
        """Return only the first `num_steps` steps."""
        return Steps(self.bias[:, :num_steps], tuple(of_rank[:num_steps] for of_rank in self.samples))

    @property
    def batches(self) -> list[Array]:
        """The samples of each batch on each rank."""
        return [batch for of_rank in self.samples for batch in of_rank]

    def gradients(self, of: Gradient = gradient) -> Array:
        """Return the gradient of each rank's own batch, shape (num_ranks, num_steps, num_classes)."""
        return np.array([[of(*step) for step in zip(*of_rank)] for of_rank in zip(self.bias, self.samples)])

    def losses(self, of: Callable[[Array, Array], float] = loss) -> Array:
        """Return the loss of each rank's own batch, shape (num_ranks, num_steps)."""
        return np.array([[of(*step) for step in zip(*of_rank)] for of_rank in zip(self.bias, self.samples)])

    def epoch_losses(self, num_epochs: int, of: Callable[[Array, Array], float] = loss) -> Array:
        """Return the mean loss of each rank's own batches in each epoch, shape (num_ranks, num_epochs)."""
        return np.asarray(self.losses(of).reshape(len(self.bias), num_epochs, -1).mean(axis=2))

    def pulls(self, momentum: float = MOMENTUM) -> Array:
        """Return the rate times the gradient, read off the updates, for each rank and the steps 1 to num_steps - 2.

        The rate may change from step to step: Keras stores -rate * velocity, so each gradient is multiplied by the
        rate of its own step.
        """
        moves = np.diff(self.bias, axis=1)
        return np.asarray(momentum * moves[:, :-1] - moves[:, 1:])

    def rounding(self) -> Array:
        """Return the error that rounding of the weights may cause in each pull, shape (num_ranks, num_steps - 2)."""
        sizes = np.abs(self.bias).max(axis=2)
        return np.asarray(SMALLEST_GAP * np.maximum.reduce([sizes[:, :-2], sizes[:, 1:-1], sizes[:, 2:]]))


def steps_of(records: Sequence[Sequence[Record]]) -> Steps:
    """Return the training steps in the ranks' records; all ranks must have the same number, and enough."""
    training = [[record for record in of_rank if record.training] for of_rank in records]
    counts = [len(of_rank) for of_rank in training]
    require(min(counts) > 0, "the network was never called in training mode", "training-mode.off")
    check_same_number(counts)
    require(counts[0] > FIRST_STEP + 1, f"expected more training steps, got {counts[0]}", "steps.too-few")
    bias = np.array([[record.bias for record in of_rank] for of_rank in training], dtype=float)
    require(np.isfinite(bias).all(), "the weights are no longer finite: the training diverged", "weights.not-finite")
    for rank, of_rank in enumerate(training):
        has_images = all(len(record.samples) for record in of_rank)
        message = f"rank {rank} gets batches without images: does anything divide its batches again?"
        require(has_images, message, "batches.empty")
    steps = Steps(bias, tuple(tuple(record.samples for record in of_rank) for of_rank in training))
    check_colors(steps.batches)
    # Later, the samples are counted by class, and counting a forged number could take any amount of memory.
    largest = max(batch.max(initial=0) for batch in steps.batches)
    require(largest < bias.shape[2] - 1, "the network got images that belong to no class", "images.foreign")
    return steps


def check_exact(steps: Steps, rates: Array, factors: Array, first: int = FIRST_STEP) -> None:
    """From `first` on, each step follows SGD with momentum on the mean gradient, up to rounding.

    Args:
        steps: the steps that the probes recorded.
        rates: the rate of each step, shape (num_steps,).
        factors: the factors by which each rank's losses are multiplied, shape (num_ranks, num_steps).
        first: the first step to check; unless it is 0, there must be a move before it.
    """
    moves = np.diff(steps.bias[0], axis=0)
    before = np.concatenate([np.zeros_like(moves[:1]), moves[:-1]])
    pulls = rates[:, np.newaxis] * (factors[..., np.newaxis] * steps.gradients()).mean(axis=0)
    gaps = np.abs(MOMENTUM * before - pulls[:-1] - moves).max(axis=1)[first:]
    sizes = np.maximum(np.abs(steps.bias[0, 1:]), np.abs(steps.bias[0, :-1])).max(axis=1)[first:]
    worst = int(np.argmax(gaps / sizes))
    message = (
        f"step {worst + first} differs by {gaps[worst]:.2g} from SGD with momentum {MOMENTUM:g} on the mean gradient, "
        "more than rounding explains: is something added, such as weight decay, clipping or 16 bits?"
    )
    require(gaps[worst] <= SMALLEST_GAP * 4 * sizes[worst], message, "updates.differ")


def check_same_number(counts: Sequence[int], where: str = "") -> None:
    """All ranks take the same number of steps."""
    require(len(set(counts)) == 1, f"{where}the ranks took different numbers of steps: {counts}", "steps.uneven")


def check_colors(samples: Sequence[Array]) -> None:
    """Every image has a sample's colour; otherwise the probes' records reveal nothing."""
    numbers = np.concatenate([np.ravel(batch) for batch in samples])
    num_strange = int((numbers < 0).sum())
    message = f"{num_strange} of {len(numbers)} images do not have their record's colour: "
    require(num_strange == 0, message + "are they from the given files, with pixels from -1 to 1?", "images.foreign")


def check_same_weights(steps: Steps, first: int = FIRST_STEP) -> None:
    """Before step `first` at the latest, all ranks have the same weights.

    Only the start counts here; if ranks train separately after the same start, the fault is in the averaging.
    """
    gaps = np.abs(steps.bias - steps.bias[:1]).max(axis=(0, 2))
    apart = f"the ranks' weights differ by {gaps[0]:.3g} at first, and still by {gaps[first]:.3g} before step {first}"
    require(gaps[: first + 1].min() < SMALLEST_GAP, f"{apart}: the start is not broadcast", "broadcast.missing")
