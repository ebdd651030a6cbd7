"""What to expect on more nodes."""

from dataclasses import replace

import pytest

from coursekit.errors import CourseKitError
from coursekit.scaling.forecast import Training, forecast
from coursekit.scaling.machine import Link, Machine
from coursekit.scaling.networks import find_network
from coursekit.scaling.posterior import NOISE

MACHINE = Machine(Link(150.0, 3.4), Link(12.5, 9.6), 4)
WEAK = Training(find_network("ResNet50"), 128, 360.0, 0.1)
STRONG = Training(find_network("ResNet50"), 128, 360.0, 0.1, global_batch_size=1024)


def test_weak_scaling_keeps_the_batch_and_strong_scaling_divides_it():
    """Images of a rank in a step."""
    assert [row.local_batch for row in forecast(WEAK, MACHINE, [1, 4, 16])] == [128, 128, 128]
    assert [row.local_batch for row in forecast(STRONG, MACHINE, [1, 4, 16])] == [256, 64, 16]


def test_strong_scaling_pays_less_and_less():
    """Efficiency falls with the nodes, GPU hours grow; a step is bound by computing first, then by the gradients."""
    rows = forecast(STRONG, MACHINE, [1, 4, 16, 64])

    assert sorted((row.efficiency for row in rows), reverse=True) == [row.efficiency for row in rows]
    assert sorted(row.gpu_hours for row in rows) == [row.gpu_hours for row in rows]
    assert (rows[0].bound, rows[-1].bound) == ("computing", "the gradients' way")


def test_costs_follow_from_the_speed():
    """ImageNet has 1,281,167 images: hours of an epoch, and of all GPUs."""
    (row,) = forecast(WEAK, MACHINE, [2])

    assert row.num_ranks == 8
    assert row.epoch_h * 3600 * row.images_per_s == pytest.approx(1_281_167)
    assert row.gpu_hours == pytest.approx(8 * row.epoch_h)
    assert row.low < row.images_per_s < row.high


def test_a_step_is_no_longer_than_an_epoch():
    """Nobody has so many images."""
    with pytest.raises(CourseKitError, match=r"16384 .* 2097152 .*batch.exceeds-data"):
        forecast(WEAK, MACHINE, [4096])


@pytest.mark.parametrize(("largest", "images"), [(100, 128), (0, 1)])
def test_a_batch_that_does_not_fit(largest, images):
    """It is refused, also where not even one image fits; where nothing is known of the memory it is not."""
    training = replace(WEAK, batch_size=images)

    assert forecast(training, MACHINE, [1])
    with pytest.raises(CourseKitError, match=rf"^{images} .* ResNet50 .* {largest} .*batch.exceeds-memory"):
        forecast(replace(training, largest_batch=largest), MACHINE, [1])


def test_measured_nodes_move_a_prediction_and_narrow_its_band():
    """Two nodes that are slower than expected: so are four, the band is narrower, and the parts of a step add up."""
    own = replace(WEAK, noise=NOISE)
    (before,) = forecast(own, MACHINE, [4])
    two_nodes = 0.6 * 8 * own.images_per_s
    measured, (after,) = forecast(own, MACHINE, [2], [(2, two_nodes)])[0], forecast(own, MACHINE, [4], [(2, two_nodes)])

    assert measured.images_per_s == pytest.approx(two_nodes, rel=0.05)
    assert after.images_per_s < 0.75 * before.images_per_s
    assert after.high / after.low < before.high / before.low
    assert after.num_ranks * after.local_batch / after.step.total_s == pytest.approx(after.images_per_s)


def test_nodes_that_are_faster_than_their_ranks_alone():
    """The parts of a step are never negative, and add up to the expected speed."""
    (row,) = forecast(WEAK, MACHINE, [1], [(1, 1.2 * 4 * WEAK.images_per_s)])

    assert row.efficiency > 1
    assert row.step.total_s == pytest.approx(4 * 128 / row.images_per_s)
    assert min(row.step.compute_s, row.step.waiting_s, row.step.exposed_s) >= 0
