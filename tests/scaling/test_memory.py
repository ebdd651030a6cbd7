"""Memory of a training step: a line through measured peaks, held against the batches that a smaller GPU trained."""

import pytest

from coursekit.scaling.memory import Need, Peak, find_need, gpu_gb, line_through, measured

GB = 10**9
LIMITED = [one for one in measured() if one.limit_mbyte]


def peak(batch_size, gb):
    """Return a measured peak."""
    return Peak("Net", 224, "float32", 0, batch_size, 0, int(gb * GB), 0)


def needed(one):
    """Return the bytes that a measured step takes by the line."""
    need = find_need(one.network, one.image_size, one.precision)
    return need.fixed + need.slope * one.batch_size


def test_a_line_is_found_again():
    """1 GB, and 62.5 MB for each image; four times the pixels take four times the memory for an image."""
    peaks = [peak(16, 2), peak(64, 5), peak(128, 9)]
    need = line_through(peaks, 224)

    assert (need.fixed, need.slope) == pytest.approx((1 * GB, 0.0625 * GB))
    assert line_through(peaks, 448).slope == pytest.approx(4 * 0.0625 * GB)


def test_the_largest_batch_leaves_the_driver_its_share():
    """A twentieth of the memory cannot be used; without room for one image it is none."""
    need = Need(1 * 2**30, 2**30 / 16)

    assert need.largest_batch(10) == (9.5 - 1) * 16
    assert need.largest_batch(1) == 0


def test_the_line_agrees_with_what_trained_within_a_limit():
    """With 16,000 and 32,000 MiB: a batch that did not train is one that does not fit by the line, and no other."""
    assert [one for one in LIMITED if one.fits != (needed(one) < one.limit_mbyte * 2**20)] == []
    assert sum(not one.fits for one in LIMITED) >= 4


def test_the_line_is_near_all_peaks():
    """Between 16 and 256 images it is off by an eighth at most."""
    assert max(abs(needed(one) / one.peak - 1) for one in measured() if one.fits) < 1 / 8


def test_a_network_that_nobody_measured_has_no_line():
    """Nothing is guessed."""
    assert find_need("DenseNet201", 224, "float32") is None


@pytest.mark.parametrize(
    ("words", "gb"),
    [("NVIDIA A100, 40 GB", 40), ("NVIDIA V100, 16 or 32 GB", 16), ("NVIDIA V100", None), ("none", None)],
)
def test_a_profile_says_how_much_memory_a_gpu_has(words, gb):
    """The least of several; None where it is not said."""
    assert gpu_gb(words) == gb
