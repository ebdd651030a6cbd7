"""Estimate how much GPU memory a training step takes, from a line through measured peaks.

A step holds weights, gradients and momenta, which do not depend on the batch, and the outputs of its layers, which
grow with the batch size and the pixels of an image. So `peak = fixed + slope * batch_size`, with both fitted to peaks.

Worked example: peaks of 2 GB with 16 images and 5 GB with 64 images give a slope of 62.5 MB per image and a fixed part
of 1 GB. So a batch of 128 takes 9 GB, and a GPU with 9.5 GB of usable memory holds (9.5 - 1) / 0.0625 = 136 images.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from coursekit import toml_files

MEASURED = Path(__file__).with_name("gpu_memory.toml")  # made by `python -m workshop.bench.gpu_memory`
# Share of a GPU's nominal memory: the driver and CUDA take some memory, and TensorFlow cannot use the last fragments.
USABLE = 0.95
GIBIBYTE = 2**30  # the "GB" in "40 GB" of GPU memory


@dataclass(frozen=True)
class Peak:
    """The GPU memory that one measured training step took, in bytes.

    Attributes:
        limit_mbyte: the memory that TensorFlow was allowed to take, in units of 2^20 bytes; 0 for the whole GPU.
        first_step: the peak in the first step, which tries out algorithms.
        peak: the peak in later steps.
        lasting: the memory that is held between steps.
        fits: whether this batch could be trained within the limit; if not, no bytes are recorded.
    """

    network: str
    image_size: int
    precision: str
    limit_mbyte: int
    batch_size: int
    first_step: int = 0
    peak: int = 0
    lasting: int = 0
    fits: bool = True


@dataclass(frozen=True)
class _File:
    gpu: str
    versions: str
    rows: tuple[Peak, ...]


@dataclass(frozen=True)
class Need:
    """The memory of a training step: `fixed` bytes, plus `slope` bytes for each image of the batch."""

    fixed: float
    slope: float

    def largest_batch(self, gpu_gb: float) -> int:
        """Return how many images fit into the memory of a GPU that has this many GB; 0 if not even one fits."""
        return max(0, int((USABLE * gpu_gb * GIBIBYTE - self.fixed) / self.slope))


@cache
def measured() -> tuple[Peak, ...]:
    """Return all measured peaks."""
    return toml_files.load(_File, MEASURED, MEASURED.name).rows


def find_need(network: str, image_size: int, precision: str) -> Need | None:
    """Return the memory that a training step takes, or None if it was not measured for this network and precision.

    Both kinds of mixed precision use 16-bit numbers, so the values that were measured with float16 are used for both.
    """
    precision = "mixed_float16" if precision == "mixed_bfloat16" else precision
    peaks = [one for one in measured() if (one.network, one.precision) == (network, precision) and one.fits]
    return line_through(peaks, image_size) if peaks else None


def line_through(peaks: Sequence[Peak], image_size: int) -> Need:
    """Return the line through these peaks that has the smallest relative errors, scaled to images of this size."""
    sizes, seen = (np.array([getattr(one, name) for one in peaks], float) for name in ("batch_size", "peak"))
    rows = np.stack([1 / seen, sizes / seen], axis=1)
    fixed, slope = np.linalg.lstsq(rows, np.ones(len(peaks)), rcond=None)[0]
    return Need(float(fixed), float(slope) * (image_size / peaks[0].image_size) ** 2)


def gpu_gb(words: str) -> int | None:
    """Return a GPU's memory in GB, as a site's profile gives it, or None if the profile does not give it.

    If there are several sizes, return the smallest: 16 for "NVIDIA V100, 16 or 32 GB".
    """
    return min((int(number) for number in re.findall(r"(\d+) (?:or \d+ )?GB", words)), default=None)
