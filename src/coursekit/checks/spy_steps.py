"""The training steps that the spies of all ranks saw, and what follows from a spy's weights and samples.

An update of the bias is -rate * velocity, and velocity = momentum * velocity before + gradient.
The gradient on each rank can be predicted from the samples that its spy saw, without TensorFlow.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from coursekit.checks.check import require
from coursekit.drivers.spy import MOMENTUM, Array

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coursekit.drivers import spy

FIRST_STEP = 2  # before it, a broadcast after the first step may still move the ranks


def gradient(bias: Array, samples: Array) -> Array:
    """Return the gradient of the mean cross-entropy with respect to the bias, shape (num_classes,).

    It is softmax(bias) minus how often each sample is in the batch, over the batch size.
    """
    weights = np.exp(bias.astype(float) - bias.max())
    counts = np.bincount(samples + 1, minlength=len(bias))
    found: Array = weights / weights.sum() - counts / len(samples)
    return found


def loss(bias: Array, samples: Array) -> float:
    """Return the mean cross-entropy of a batch."""
    shifted = bias.astype(float) - bias.max()
    return float(np.log(np.exp(shifted).sum()) - shifted[samples + 1].mean())


@dataclass(frozen=True)
class Steps:
    """The training steps of one training, as the ranks' spies saw them.

    Attributes:
        bias: before each step, shape (num_ranks, num_steps, num_classes).
        samples: the numbers of the samples in each rank's batch, by rank and step.
    """

    bias: Array
    samples: tuple[tuple[Array, ...], ...]

    @property
    def num_steps(self) -> int:
        """The number of steps that every rank made."""
        return int(self.bias.shape[1])

    def gradients(self) -> Array:
        """Return the gradient of each rank's own batch, shape (num_ranks, num_steps, num_classes)."""
        pairs = zip(self.bias, self.samples)
        return np.array([[gradient(*step) for step in zip(bias, batches)] for bias, batches in pairs])

    def pulls(self, momentum: float = MOMENTUM) -> Array:
        """Return rate times gradient of the steps 1 to num_steps - 2, as the updates show it, same shape but shorter.

        The rate of two neighbouring steps may differ: Keras keeps -rate * velocity, so that each gradient has the
        rate of its own step.
        """
        moves = np.diff(self.bias, axis=1)
        found: Array = momentum * moves[:, :-1] - moves[:, 1:]
        return found


def steps_of(sights: Sequence[Sequence[spy.Sight]]) -> Steps:
    """Return the training steps among what the spies saw, by rank.

    Raises:
        CheckError: no step was made, or the ranks made different numbers of steps.
    """
    training = [[sight for sight in of_rank if sight.training] for of_rank in sights]
    counts = [len(of_rank) for of_rank in training]
    require(min(counts) > 0, "the network was never called in training mode")
    require(len(set(counts)) == 1, f"the ranks made different numbers of steps: {counts}")
    require(counts[0] > FIRST_STEP + 1, f"only {counts[0]} steps were made")
    bias = np.array([[sight.bias for sight in of_rank] for of_rank in training], dtype=float)
    require(bool(np.isfinite(bias).all()), "the weights are no longer finite: training ran away")
    numbers = [sight.samples for of_rank in training for sight in of_rank]
    check_colors(numbers)
    # Counted by class later: a number that somebody made up would take memory without end.
    require(max(int(batch.max(initial=0)) for batch in numbers) < bias.shape[2] - 1, "images of no class were seen")
    return Steps(bias, tuple(tuple(sight.samples for sight in of_rank) for of_rank in training))


def check_colors(samples: Sequence[Array]) -> None:
    """Every image has a sample's colour; otherwise nothing can be read off what the spies saw."""
    numbers = np.concatenate([np.ravel(batch) for batch in samples])
    num_strange = int((numbers < 0).sum())
    require(
        num_strange == 0,
        f"{num_strange} of {len(numbers)} images do not have their record's colour: are the pixels from -1 to 1?",
    )
