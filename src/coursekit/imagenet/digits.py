"""Synthetic digits in MNIST's format: grey images of 28 x 28 pixels in ten classes, drawn as strokes from a seed."""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

SIDE = 28  # pixels
NUM_CLASSES = 10
# A pocket calculator's seven strokes, from (x, y) to (x, y) with y downwards; below, the strokes of each digit.
STROKES = np.array(
    [
        ((0, 0), (1, 0)),
        ((0, 0), (0, 1)),
        ((1, 0), (1, 1)),
        ((0, 1), (1, 1)),
        ((0, 1), (0, 2)),
        ((1, 1), (1, 2)),
        ((0, 2), (1, 2)),
    ],
    dtype=float,
)
STROKES_OF_DIGITS = ("012456", "25", "02346", "02356", "1235", "01356", "013456", "025", "0123456", "012356")
NOISE = 12.0  # standard deviation, in grey levels


def make_digits(num_images: int, seed: int = 0) -> tuple[Array, Array]:
    """Return images, uint8 of shape (num_images, 28, 28), and their digits, int64 of shape (num_images,).

    Each digit looks a little different: its position, size, slant, stroke width and noise are random.
    """
    rng = np.random.default_rng(seed)
    labels = rng.integers(NUM_CLASSES, size=num_images)
    images = np.stack([_draw(int(label), rng) for label in labels]) if num_images else np.zeros((0, SIDE, SIDE))
    noisy = images + rng.normal(0, NOISE, images.shape)
    return np.clip(noisy, 0, 255).astype(np.uint8), labels


def _draw(digit: int, rng: np.random.Generator) -> Array:
    """Return an image of one digit without noise, with levels from 0 to 255."""
    ends = STROKES[[int(stroke) for stroke in STROKES_OF_DIGITS[digit]]] - (0.5, 1)
    width, height, slant, pen = rng.uniform((6, 6, -0.3, 0.8), (11, 10, 0.3, 1.8))
    x, y = ends[..., 0] * width, ends[..., 1] * height
    ends = np.stack([x - slant * y, y], axis=-1) + SIDE / 2 + rng.uniform(-2.5, 2.5, 2)
    rows, columns = np.mgrid[:SIDE, :SIDE]
    pixels = np.stack([columns, rows], axis=-1)[:, :, np.newaxis]
    begins, along = ends[:, 0], ends[:, 1] - ends[:, 0]
    share = np.clip(((pixels - begins) * along).sum(axis=-1) / (along**2).sum(axis=-1), 0, 1)
    distances = np.linalg.norm(pixels - begins - share[..., np.newaxis] * along, axis=-1).min(axis=-1)
    ink: Array = 255 * np.clip(1.5 + pen - distances, 0, 1)
    return ink
