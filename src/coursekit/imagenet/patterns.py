"""Draw images whose class can be learned: a pattern in two colours with random position, rotation, light and noise.

The same seed gives the same pixels on every machine: sines come from a table, and apart from that the code uses only
additions, multiplications, roots and comparisons, which all processors round alike.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

# A pattern's colour and its background, as (red, green, blue).
COLOURS = {
    "amber": ((246, 184, 62), (96, 52, 20)),
    "teal": ((64, 196, 184), (14, 60, 82)),
    "rose": ((238, 128, 150), (88, 24, 66)),
    "lime": ((176, 214, 84), (38, 78, 40)),
    "sky": ((122, 186, 244), (34, 48, 116)),
    "coral": ((248, 130, 88), (76, 34, 52)),
    "violet": ((186, 148, 238), (58, 30, 104)),
    "sand": ((232, 212, 166), (112, 88, 62)),
    "ice": ((222, 240, 246), (82, 118, 144)),
    "brick": ((206, 84, 66), (48, 42, 46)),
}
KINDS = ("stripes", "rings", "checks", "dots", "waves")
NUM_CLASSES = len(KINDS) * len(COLOURS)

TABLE_SIZE = 1024
# The values are rounded, because libraries may differ in the last digit of a sine.
SINE = np.array([round(32767 * math.sin(2 * math.pi * step / TABLE_SIZE)) for step in range(TABLE_SIZE)], np.float32)
SINE /= np.float32(32768)


def class_name(number: int) -> str:
    """Return the name of a class from 0 to 49, such as "amber stripes".

    Neighbouring classes share neither the colour nor the pattern.
    """
    row, column = divmod(number, len(KINDS))
    return f"{list(COLOURS)[(row + 2 * column) % len(COLOURS)]} {KINDS[column]}"


def draw(rng: np.random.Generator, number: int, height: int, width: int, noise: int) -> Array:
    """Return an image of a class from 0 to 49, as an RGB array of type uint8 and shape (height, width, 3).

    All differences between images of a class come from `rng`. Noise changes a pixel by at most `noise` levels of 255.
    """
    colour, kind = class_name(number).split()
    across, down = _turned_coordinates(rng, height, width)
    share = _pattern(kind, across, down, rng.random())
    light = np.float32(0.65 + 0.4 * rng.random()) + np.float32(0.35 * rng.random()) * _ramp(rng, height, width)
    figure, ground = (
        np.array(rgb, np.float32) + rng.integers(-24, 25, 3).astype(np.float32) for rgb in COLOURS[colour]
    )
    grain = rng.integers(-noise, noise + 1, (2, height, width), dtype=np.int8).astype(np.float32).sum(axis=0) / 2
    channels = [
        (ground[channel] + share * (figure[channel] - ground[channel])) * light + grain
        for channel in range(len(figure))
    ]
    pixels: Array = np.clip(np.stack(channels, axis=-1), 0, 255).astype(np.uint8)
    return pixels


def _turned_coordinates(rng: np.random.Generator, height: int, width: int) -> tuple[Array, Array]:
    """Return two coordinates of every pixel, in periods of the pattern, rotated at random around a random centre."""
    turns, num_periods = rng.random(), 2.5 + 2.5 * rng.random()
    centre_y, centre_x = 0.2 + 0.6 * rng.random(2)
    scale = num_periods / min(height, width)
    y = ((np.arange(height) - centre_y * height) * scale).astype(np.float32)[:, None]
    x = ((np.arange(width) - centre_x * width) * scale).astype(np.float32)[None, :]
    sine, cosine = _wave(np.array([turns, turns + 0.25]))
    return cosine * x + sine * y, cosine * y - sine * x


def _pattern(kind: str, across: Array, down: Array, phase: float) -> Array:
    """Return the share of the pattern's colour in each pixel, from 0 to 1; the edges of the pattern are soft."""
    if kind == "rings":
        height = _wave(np.sqrt(across * across + down * down) + np.float32(phase))
    elif kind == "checks":
        height = _wave(across / 2) * _wave(down / 2) * 2
    elif kind == "dots":
        height = _wave(across) + _wave(down) - np.float32(0.6)
    elif kind == "waves":
        height = _wave(across + np.float32(0.3) * _wave(down / 2) + np.float32(phase))
    else:
        height = _wave(across + np.float32(phase))
    clipped: Array = np.clip(np.float32(1.25) * height + np.float32(0.5), 0, 1)
    return clipped


def _ramp(rng: np.random.Generator, height: int, width: int) -> Array:
    """Return the brightness of each pixel, from 0 to 1, if light falls from one corner."""
    y, x = np.arange(height, dtype=np.float32) / height, np.arange(width, dtype=np.float32) / width
    from_top, from_left = rng.integers(0, 2, 2)
    return ((y if from_top else 1 - y)[:, None] + (x if from_left else 1 - x)[None, :]) / 2


def _wave(turns: Array) -> Array:
    """Return the sines of angles, which are given in turns."""
    steps: Array = np.floor(turns * TABLE_SIZE).astype(np.int32) & (TABLE_SIZE - 1)
    return SINE[steps]
