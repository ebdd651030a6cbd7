"""Memory of a training step: a line through measured peaks, held against the batches that a smaller GPU trained."""

from __future__ import annotations

from collections import defaultdict

import pytest

from coursekit.scaling.memory import Need, Peak, find_need, gpu_gb, line_through, measured

GB = 10**9
BATCH_SIZES = (16, 32, 64, 128, 256)


def largest_trained():
    """Return the largest batch that was trained for each network, precision and limit of a GPU's memory in MiB."""
    found = defaultdict(int)
    for one in measured():
        if one.limit_mbyte:
            key = (one.network, one.image_size, one.precision, one.limit_mbyte)
            found[key] = max(found[key], one.batch_size)
    return sorted(found.items())


def peak(batch_size, gb):
    """Return a measured peak."""
    return Peak("Net", 224, "float32", 0, batch_size, 0, int(gb * GB), 0)


def test_a_line_is_found_again():
    """1 GB, and 62.5 MB for each image; four times the pixels take four times the memory for an image."""
    peaks = [peak(16, 2), peak(64, 5), peak(128, 9)]
    need = line_through(peaks, 224)

    assert (need.fixed, need.slope) == pytest.approx((1 * GB, 0.0625 * GB))
    assert line_through(peaks, 448).slope == pytest.approx(4 * 0.0625 * GB)
    assert need.of_batch(32) == pytest.approx(3 * GB)


def test_the_largest_batch_leaves_the_driver_its_share():
    """A twentieth of the memory cannot be used; without room for one image it is none."""
    need = Need(1 * 2**30, 2**30 / 16)

    assert need.largest_batch(10) == (9.5 - 1) * 16
    assert need.largest_batch(1) == 0


@pytest.mark.parametrize(("key", "largest"), largest_trained())
def test_what_a_smaller_gpu_trained_fits_by_the_line_too(key, largest):
    """TensorFlow got 16,000 and 32,000 MiB: the line says of no batch that trained that it does not fit by far."""
    network, image_size, precision, limit = key
    need = find_need(network, image_size, precision)
    usable = limit * 2**20

    assert need.of_batch(largest) < 1.1 * usable
    assert largest == BATCH_SIZES[-1] or need.of_batch(2 * largest) > 0.9 * usable


@pytest.mark.parametrize(
    ("words", "gb"),
    [("NVIDIA A100, 40 GB", 40), ("NVIDIA V100, 16 or 32 GB", 16), ("NVIDIA V100", 0), ("none", 0)],
)
def test_a_profile_says_how_much_memory_a_gpu_has(words, gb):
    """The least of several; 0 where it is not said."""
    assert gpu_gb(words) == gb
