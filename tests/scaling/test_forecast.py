"""What to expect on more nodes."""

from __future__ import annotations

from dataclasses import replace

import pytest

from coursekit.errors import CourseKitError
from coursekit.scaling.forecast import Training, calibrated, forecast, would_help
from coursekit.scaling.machine import Link, Machine
from coursekit.scaling.networks import find_network
from coursekit.scaling.step import Settings

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


def test_ones_own_job_comes_back():
    """Calibrated on four ranks of one node, the forecast for that node is what was measured, but for a cycle's jump."""
    training = calibrated(WEAK, MACHINE, 4, 1300.0)
    (row,) = forecast(training, MACHINE, [1])

    assert row.images_per_s == pytest.approx(1300.0, rel=2e-3)
    assert training.images_per_s > 1300 / 4
    assert row.high - row.low < forecast(WEAK, MACHINE, [1])[0].high - forecast(WEAK, MACHINE, [1])[0].low


def test_ones_own_job_says_nothing_of_the_links_between_nodes():
    """The band begins at a measured node with little more than the noise, and is wide as soon as there are two."""
    training = calibrated(WEAK, MACHINE, 4, 1300.0)
    widths = [row.high / row.low for row in forecast(training, MACHINE, [1, 2, 16])]

    assert widths[0] == pytest.approx(1.1, abs=0.03)
    assert widths[1] > 1.15
    assert widths[2] > widths[1]


def test_what_helps_where_gradients_decide():
    """A small batch on many nodes: larger batches, fewer bytes and a faster fabric, none of which helps one node."""
    small = Training(find_network("VGG16"), 8, 360.0, 0.0)

    assert {name for name, _ in would_help(small, MACHINE, 16)} == {
        "twice the local batch",
        "gradients in 16 bits",
        "a fabric of twice the speed",
        "twice as many batches added up before gradients travel",
    }
    assert would_help(WEAK, Machine(Link(1e6, 0.0), Link(1e6, 0.0), 4), 1) == []
    halved = Training(find_network("VGG16"), 8, 360.0, 0.0, settings=Settings(bytes_per_number=2))
    gain = forecast(halved, MACHINE, [16])[0].images_per_s / forecast(small, MACHINE, [16])[0].images_per_s
    assert dict(would_help(small, MACHINE, 16))["gradients in 16 bits"] == pytest.approx(gain)


def test_fewer_messages_help_where_latency_decides():
    """A network of many small layers, on quick links that take long to answer: bandwidth would not help."""
    slow_to_answer = Machine(Link(1e6, 200.0), Link(1e6, 200.0), 4)
    training = Training(find_network("MobileNetV2"), 64, 1500.0, 0.0)
    found = dict(would_help(training, slow_to_answer, 64))

    assert found["fewer messages, num_groups 4"] > 1.02
    assert not {"a fabric of twice the speed", "gradients in 16 bits"} & set(found)
    in_one = replace(WEAK, settings=Settings(num_groups=1))
    assert "gradients as they come, num_groups 0" in dict(would_help(in_one, MACHINE, 16))


def test_batches_that_are_added_up():
    """Four batches of 32 in a step: as many images as a batch of 128, sent as often; strong scaling divides by both."""
    added = replace(WEAK, batch_size=32, num_batches=4)
    (four,), (one,) = (forecast(training, MACHINE, [8]) for training in (added, WEAK))

    assert (four.local_batch, one.local_batch) == (32, 128)
    assert four.step.compute_s == pytest.approx(one.step.compute_s)
    assert [row.local_batch for row in forecast(replace(STRONG, num_batches=2), MACHINE, [1, 4])] == [128, 32]
    with pytest.raises(CourseKitError, match="512 ranks cannot share 1024 images of a step in 4 batches each"):
        forecast(replace(STRONG, num_batches=4), MACHINE, [128])


def test_a_step_is_no_longer_than_an_epoch():
    """Nobody has so many images, and no advice asks for them."""
    assert "twice the local batch" not in dict(would_help(WEAK, MACHINE, 2048))
    with pytest.raises(CourseKitError, match="a step of 16384 ranks would have 2097152 images"):
        forecast(WEAK, MACHINE, [4096])


def test_more_ranks_than_images():
    """One sentence says what to change."""
    with pytest.raises(CourseKitError, match="2048 ranks cannot share 1024 images of a step: give fewer nodes"):
        forecast(STRONG, MACHINE, [512])
