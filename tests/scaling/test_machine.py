"""What an allreduce costs: closed forms, and what must hold for every machine."""

import math

import numpy as np
import pytest

from coursekit.scaling.machine import WAYS, Link, Machine, allreduce_s

FLAT = Machine(Link(2.0, 5.0), Link(2.0, 5.0), 1)
GROUPED = Machine(Link(100.0, 3.0), Link(10.0, 10.0), 4)
MEGABYTE = 10**6


@pytest.mark.parametrize("num_ranks", [2, 3, 8, 64])
def test_a_ring_of_equal_links(num_ranks):
    """2 (N - 1) messages, and 2 (N - 1)/N of the bytes over every link."""
    expected = 2 * (num_ranks - 1) * 5e-6 + 2 * (num_ranks - 1) / num_ranks * MEGABYTE / 2e9

    assert allreduce_s("ring", FLAT, num_ranks, MEGABYTE) == pytest.approx(expected)


def test_a_ring_is_what_walking_around_it_gives():
    """A ring through nodes of four, step by step: each step is as slow as its slowest link, but latencies add up."""
    num_ranks, num_bytes = 8, 8 * MEGABYTE
    links = [GROUPED.between if rank % 4 == 3 else GROUPED.within for rank in range(num_ranks)]
    chunk_s = max(link.seconds(num_bytes / num_ranks) for link in links)
    walked = 2 * (num_ranks - 1) * chunk_s

    without_latency = Machine(Link(100.0, 0.0), Link(10.0, 0.0), 4)
    assert allreduce_s("ring", without_latency, num_ranks, num_bytes) == pytest.approx(walked)
    assert allreduce_s("ring", GROUPED, num_ranks, num_bytes) - walked == pytest.approx((2 * 10 + 12 * 3) * 1e-6)


def test_a_tree_needs_few_messages():
    """Latency grows with the logarithm of the nodes, so that short messages are faster than on the ring."""
    times = [allreduce_s("tree", FLAT, 2**exponent, 0) for exponent in range(1, 11)]

    assert np.allclose(np.diff(times), 2 * 5e-6)
    assert allreduce_s("fastest", FLAT, 1024, 8) == pytest.approx(allreduce_s("tree", FLAT, 1024, 8))
    assert allreduce_s("fastest", FLAT, 4, 10**9) == pytest.approx(allreduce_s("ring", FLAT, 4, 10**9))


def test_parameter_servers_of_single_nodes():
    """A node sends (n - 1)/n as a worker and as much as a server, and talks to every other twice."""
    expected = 2 * 7 * 5e-6 + 2 * 7 / 8 * MEGABYTE / 2e9

    assert allreduce_s("parameter-servers", FLAT, 8, MEGABYTE) == pytest.approx(expected)


@pytest.mark.parametrize("way", WAYS)
def test_properties_of_every_way(way):
    """More bandwidth is never slower, more bytes are never faster, and a rank alone sends nothing."""
    random = np.random.default_rng(1)
    for _ in range(200):
        within, between = Link(*random.uniform(1, 300, 2)), Link(*random.uniform(1, 100, 2))
        machine = Machine(within, between, int(random.integers(1, 9)))
        num_ranks, num_bytes = int(random.integers(2, 600)), float(random.uniform(0, 1e9))
        seconds = allreduce_s(way, machine, num_ranks, num_bytes)

        assert seconds >= allreduce_s(way, machine.slowed(2.0, 2.0), num_ranks, num_bytes)
        assert seconds <= allreduce_s(way, machine, num_ranks, 1.1 * num_bytes)
        assert allreduce_s(way, machine, 1, num_bytes) == 0
        assert math.isfinite(seconds)
