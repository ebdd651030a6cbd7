"""A network with one hidden layer, in NumPy with its gradient, small enough to train a hundred times while you wait.

One vector holds all weights, so straight lines between two networks, and curvatures, are easy to draw.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from coursekit.imagenet import patterns

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class SmallNetwork:
    """A network of one hidden layer with rectified linear units, and a softmax over classes."""

    num_inputs: int
    num_hidden: int
    num_classes: int

    def start(self, seed: int) -> Array:
        """Draw the initial weights, which are smaller in layers with more inputs; offsets are zero."""
        rng = np.random.default_rng(seed)
        first = rng.normal(size=(self.num_inputs, self.num_hidden)) * (2 / self.num_inputs) ** 0.5
        last = rng.normal(size=(self.num_hidden, self.num_classes)) * (1 / self.num_hidden) ** 0.5
        parts = (first, np.zeros(self.num_hidden), last, np.zeros(self.num_classes))
        weights: Array = np.concatenate([part.ravel() for part in parts]).astype(np.float32)
        return weights

    @np.errstate(over="ignore", invalid="ignore")  # too large a learning rate leads to a loss that is not a number
    def loss_and_gradient(self, weights: Array, x: Array, labels: Array) -> tuple[float, Array]:
        """Return the mean cross entropy over the samples `x`, and its gradient with respect to all weights."""
        first, first_offset, last, last_offset = self.split(weights)
        hidden = np.maximum(x @ first + first_offset, 0)
        logits: Array = hidden @ last + last_offset
        logits = logits - logits.max(axis=1, keepdims=True)  # otherwise large logits overflow
        exponentials = np.exp(logits)
        sums = exponentials.sum(axis=1, keepdims=True)
        own = np.arange(len(labels)), labels
        loss = float(np.mean(np.log(sums[:, 0]) - logits[own]))
        error = exponentials / sums
        error[own] -= 1
        error /= len(labels)
        before = (error @ last.T) * (hidden > 0)
        parts = (x.T @ before, before.sum(axis=0), hidden.T @ error, error.sum(axis=0))
        return loss, np.concatenate([part.ravel() for part in parts])

    def loss(self, weights: Array, x: Array, labels: Array) -> float:
        """Return the mean cross entropy over the samples."""
        return self.loss_and_gradient(weights, x, labels)[0]

    def accuracy(self, weights: Array, x: Array, labels: Array) -> float:
        """Return the share of samples whose class the network predicts."""
        first, first_offset, last, last_offset = self.split(weights)
        said = np.argmax(np.maximum(x @ first + first_offset, 0) @ last + last_offset, axis=1)
        return float(np.mean(said == labels))

    def rescaled(self, weights: Array, factor: float) -> Array:
        """Return other weights with the same outputs: the first layer times `factor`, the last one divided by it."""
        first, first_offset, last, last_offset = self.split(weights)
        parts = (first * factor, first_offset * factor, last / factor, last_offset)
        return np.concatenate([part.ravel() for part in parts])

    def steepest(self, weights: Array, x: Array, labels: Array, num_rounds: int = 100) -> tuple[float, Array]:
        """Return the largest eigenvalue of the Hessian and its direction, by power iteration."""
        weights, x = weights.astype(np.float64), x.astype(np.float64)
        bent: Array = np.random.default_rng(1).normal(size=weights.size)
        value, direction = 0.0, bent
        for _ in range(num_rounds):
            direction = bent / np.linalg.norm(bent)
            bent = self.hessian_times(direction, weights, x, labels)
            value = float(direction @ bent)
        return value, direction

    def hessian_times(self, direction: Array, weights: Array, x: Array, labels: Array) -> Array:
        """Return the Hessian times a direction: how the gradient changes along it.

        Differences of gradients would not do, because the gradient jumps when a unit switches on or off.
        """
        first, first_offset, last, last_offset = self.split(weights)
        to_first, to_first_offset, to_last, to_last_offset = self.split(direction)
        before = x @ first + first_offset
        is_on = before > 0
        hidden = before * is_on
        logits: Array = hidden @ last + last_offset
        shares = np.exp(logits - logits.max(axis=1, keepdims=True))
        shares /= shares.sum(axis=1, keepdims=True)
        error = shares.copy()
        error[np.arange(len(labels)), labels] -= 1
        error /= len(labels)
        hidden_change = (x @ to_first + to_first_offset) * is_on
        logit_change = hidden_change @ last + hidden @ to_last + to_last_offset
        mean_change = np.sum(shares * logit_change, axis=1, keepdims=True)
        error_change = shares * (logit_change - mean_change) / len(labels)
        before_change = (error_change @ last.T + error @ to_last.T) * is_on
        parts = (
            x.T @ before_change,
            before_change.sum(axis=0),
            hidden_change.T @ error + hidden.T @ error_change,
            error_change.sum(axis=0),
        )
        return np.concatenate([part.ravel() for part in parts])

    def split(self, weights: Array) -> tuple[Array, Array, Array, Array]:
        """Return the weights and offsets of both layers."""
        ends = np.cumsum([self.num_inputs * self.num_hidden, self.num_hidden, self.num_hidden * self.num_classes])
        first, first_offset, last, last_offset = np.split(weights, ends)
        first = first.reshape(self.num_inputs, self.num_hidden)
        last = last.reshape(self.num_hidden, self.num_classes)
        return first, first_offset, last, last_offset


def make_samples(num_samples: int, num_classes: int, image_size: int, seed: int, noise: int) -> tuple[Array, Array]:
    """Return images like those of labs 03 and 04, but small, as rows of values from -1 to 1, and their classes."""
    rng = np.random.default_rng(seed)
    labels = rng.permutation(np.arange(num_samples) % num_classes)
    made = np.stack([patterns.draw(rng, int(label), image_size, image_size, noise=noise) for label in labels])
    return (made.reshape(num_samples, -1) / 127.5 - 1).astype(np.float32), labels
