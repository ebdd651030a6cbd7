"""What follows from a spy's weights and samples: its gradient and its loss, computed without TensorFlow."""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


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
