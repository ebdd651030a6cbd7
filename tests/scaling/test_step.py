"""A training step on the clock: closed forms where they exist, and what must hold for all settings."""

from dataclasses import replace

import numpy as np
import pytest

from coursekit.scaling.machine import Link, Machine, allreduce_s
from coursekit.scaling.networks import Layer, Network, find_network
from coursekit.scaling.step import FORWARD_SHARE, Settings, Work, ready_times, simulate, slowest_of

MACHINE = Machine(Link(50.0, 4.0), Link(5.0, 10.0), 4)
IDEAL = Machine(Link(1e12, 0.0), Link(1e12, 0.0), 4)
ONE_TENSOR = Network("one", 1, (Layer(1.0, (10**6,)),))
PLAIN = Settings("ring", cycle_ms=0.0, overlap=False, contention=0.0)


def test_one_tensor_without_overlap():
    """Computing, agreement on what is ready (a tree, up and down), and one allreduce, one after the other."""
    step = simulate(Work(ONE_TENSOR, 0.1), MACHINE, 8, PLAIN)
    travel_s = allreduce_s("ring", MACHINE, 8, 4 * 10**6)

    assert step.total_s == pytest.approx(0.1 + 2 * 3 * 10e-6 + travel_s)


def test_two_layers_that_overlap():
    """The last layer's gradient travels while the first layer's is computed: worked out by hand."""
    network = Network("two", 1, (Layer(1.0, (10**6,)), Layer(1.0, (10**6,))))
    step = simulate(Work(network, 0.3), MACHINE, 4, replace(PLAIN, overlap=True))
    one_s = allreduce_s("ring", MACHINE, 4, 4 * 10**6) + 2 * 2 * 4e-6  # ready at 0.2 s and at 0.3 s

    assert one_s < 0.1
    assert step.total_s == pytest.approx(0.3 + one_s)


def test_gradients_are_ready_from_the_last_layer_to_the_first():
    """The first is ready when its share of the backward pass is over, the last at the end of the step."""
    times = ready_times(Work(find_network("VGG16"), 0.3))

    assert [size for _, size in times[:2]] == [4096 * 1000, 1000]
    assert times[0][0] == pytest.approx(0.3 * FORWARD_SHARE, rel=0.01)
    assert times[-1][0] == pytest.approx(0.3)
    assert np.all(np.diff([time for time, _ in times]) >= 0)


@pytest.mark.parametrize("name", ["ResNet50", "VGG16", "MobileNetV2"])
def test_links_without_end_scale_perfectly(name):
    """Nothing is left but the ranks' own differences."""
    work = Work(find_network(name), 0.2)
    settings = Settings(cycle_ms=0.0)

    assert [simulate(work, IDEAL, num_ranks, settings).efficiency for num_ranks in (1, 2, 64, 4096)] == [
        pytest.approx(1.0, abs=1e-6)
    ] * 4
    assert simulate(replace(work, spread=0.02), IDEAL, 64, settings).efficiency == pytest.approx(
        1 / (1 + 0.02 * slowest_of(64)), abs=1e-6
    )


@pytest.mark.parametrize("way", ["ring", "tree", "parameter-servers"])
def test_more_of_a_good_thing_is_never_slower(way):
    """More bandwidth, fewer bytes, overlap and less spread shorten a step, or leave it as it is."""
    random = np.random.default_rng(2)
    for _ in range(30):
        work = Work(find_network("ResNet50"), random.uniform(0.01, 0.5), spread=random.uniform(0, 0.05))
        # A cycle rounds when messages leave, and a faster link may then just miss the moment: not part of this law.
        settings = Settings(way, cycle_ms=0.0, contention=0.0, fusion_mib=1024.0, overlap=False)
        num_ranks = int(random.integers(2, 300))
        total_s = simulate(work, MACHINE, num_ranks, settings).total_s

        assert simulate(work, MACHINE.slowed(1.5, 1.5), num_ranks, settings).total_s <= total_s
        assert simulate(work, MACHINE, num_ranks, replace(settings, bytes_per_number=2)).total_s <= total_s
        assert simulate(work, MACHINE, num_ranks, replace(settings, traffic=1.5)).total_s >= total_s
        assert simulate(work, MACHINE, num_ranks, replace(settings, overlap=True)).total_s <= total_s + 0.003
        assert simulate(replace(work, spread=0.0), MACHINE, num_ranks, settings).total_s <= total_s
        assert total_s >= work.compute_s


def test_fusion_decides_on_the_number_of_messages():
    """Without fusion each tensor travels alone and pays for its own latency, in a large buffer all travel at once."""
    work = Work(find_network("ResNet50"), 0.2)
    sizes = [4 * size for layer in work.network.layers for size in layer.num_parameters]
    alone, together = (simulate(work, MACHINE, 8, replace(PLAIN, fusion_mib=size)) for size in (0.0, 1024.0))
    agree_s = 2 * 3 * 10e-6

    assert alone.total_s == pytest.approx(0.2 + sum(agree_s + allreduce_s("ring", MACHINE, 8, size) for size in sizes))
    assert together.total_s == pytest.approx(0.2 + agree_s + allreduce_s("ring", MACHINE, 8, sum(sizes)))


@pytest.mark.parametrize("num_ranks", [1, 2, 8, 64, 512])
def test_the_slowest_of_many(num_ranks):
    """The expected maximum of normal numbers, against numbers drawn."""
    drawn = np.random.default_rng(3).standard_normal((4000, num_ranks)).max(axis=1).mean()

    assert slowest_of(num_ranks) == pytest.approx(drawn, abs=0.06)
