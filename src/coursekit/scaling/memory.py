"""How much memory of a GPU a training step takes: a line through measured peaks, for each network and precision.

A step holds weights, gradients and momenta, which do not depend on the batch, and the outputs of its layers, which
grow with the batch and with the pixels of an image. So `peak = fixed + slope * batch_size`, and both are measured.

Worked example: peaks of 2 GB with 16 images and of 5 GB with 64 give a slope of 62.5 MB for an image and a fixed part
of 1 GB; a batch of 128 takes 9 GB, and a GPU of which 9.5 GB can be used holds (9.5 - 1) / 0.0625 = 136 images.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from coursekit import toml_files

MEASURED = Path(__file__).with_name("gpu_memory.toml")  # made by `python -m workshop.bench.gpu_memory`
# Of the memory that a GPU is sold with: the driver and CUDA take some, and TensorFlow cannot use the last pieces.
USABLE = 0.95
GIBIBYTE = 2**30  # "40 GB" of a GPU's memory are these


@dataclass(frozen=True)
class Peak:
    """Bytes of one measured training step.

    Attributes:
        limit_mbyte: all that TensorFlow could take, in 2^20 bytes; 0 for the whole GPU.
        first_step: the most in the first step, in which algorithms are tried.
        peak: the most in later steps.
        lasting: what stays between steps.
        fits: whether this batch could be trained within the limit; if not, there are no bytes.
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
    """The memory of a training step: `fixed` bytes, and `slope` bytes for each image of the batch."""

    fixed: float
    slope: float

    def largest_batch(self, gpu_gb: float) -> int:
        """Return the most images that fit into a GPU of this size, 0 if not even one does."""
        return max(0, int((USABLE * gpu_gb * GIBIBYTE - self.fixed) / self.slope))


@cache
def measured() -> tuple[Peak, ...]:
    """Return all measured peaks."""
    return toml_files.load(_File, MEASURED, MEASURED.name).rows


def find_need(network: str, image_size: int, precision: str) -> Need | None:
    """Return what a training step takes, None where nobody has measured this network with this precision.

    Both kinds of mixed precision have numbers of 16 bits; float16 was measured.
    """
    precision = "mixed_float16" if precision == "mixed_bfloat16" else precision
    peaks = [one for one in measured() if (one.network, one.precision) == (network, precision) and one.fits]
    return line_through(peaks, image_size) if peaks else None


def line_through(peaks: Sequence[Peak], image_size: int) -> Need:
    """Return the line with the least relative errors, for images of this size."""
    sizes, seen = (np.array([getattr(one, name) for one in peaks], float) for name in ("batch_size", "peak"))
    rows = np.stack([1 / seen, sizes / seen], axis=1)
    fixed, slope = np.linalg.lstsq(rows, np.ones(len(peaks)), rcond=None)[0]
    return Need(float(fixed), float(slope) * (image_size / peaks[0].image_size) ** 2)


def gpu_gb(words: str) -> int | None:
    """Return the memory of a GPU as a site's profile names it, the least of several; None where it does not say.

    "NVIDIA V100, 16 or 32 GB" has 16.
    """
    return min((int(number) for number in re.findall(r"(\d+) (?:or \d+ )?GB", words)), default=None)
