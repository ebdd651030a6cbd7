"""Checks of predictions: the simulator of the kit is a right answer, whatever is drawn."""

import numpy as np
import pytest

from coursekit.checks import lab07
from coursekit.scaling.machine import Link, Machine, allreduce_s
from coursekit.scaling.networks import Layer, Network
from coursekit.scaling.step import Settings, Work, simulate


def by_kit(num_ranks, num_bytes, alpha, beta):
    """Let the kit's own ring tell."""
    link = Link(1e-9 / beta, 1e6 * alpha)
    return allreduce_s("ring", Machine(link, link, 1), num_ranks, num_bytes)


def overlapped(compute_s, ready_s, travel_s):
    """Let each gradient wait for the link."""
    free_s = 0.0
    for ready, travel in zip(ready_s, travel_s):
        free_s = max(free_s, ready) + travel
    return max(free_s, compute_s)


def test_the_kits_ring_is_right():
    """Two ways to the same formula."""
    lab07.check_allreduce_s(by_kit, num_cases=30)


def test_the_kits_simulator_and_the_labs_model_of_overlap_agree():
    """Layers of one tensor each, no cycle and no fusion: the simulator's step is the lab's."""
    rng = np.random.default_rng(5)
    for _ in range(20):
        sizes = rng.integers(10**4, 10**7, 8).tolist()
        work = Work(Network("made", 1, tuple(Layer(float(rng.uniform(0.1, 1)), (size,)) for size in sizes)), 0.1)
        link = Link(float(rng.uniform(0.5, 5)), 0.0)
        machine = Machine(link, link, 1)
        step = simulate(work, machine, 4, Settings("ring", cycle_ms=0.0, fusion_mib=0.0, contention=0.0))
        total = sum(layer.gflop for layer in work.network.layers)
        backward = [layer.gflop / total * 0.1 * 2 / 3 for layer in reversed(work.network.layers)]
        ready = (0.1 / 3 + np.cumsum(backward)).tolist()
        travel = [allreduce_s("ring", machine, 4, 4 * size) for size in reversed(sizes)]

        assert step.total_s == pytest.approx(overlapped(0.1, ready, travel))


@pytest.mark.parametrize("_", range(20))
def test_right_answers_pass_whatever_is_drawn(_):
    """No draw of noise or of a table makes a right answer fail."""

    def fit(num_ranks, sizes, seconds):
        slope, offset = np.polyfit(sizes, seconds, 1, w=1 / np.asarray(seconds))
        return offset / (2 * num_ranks - 2), slope * num_ranks / (2 * num_ranks - 2)

    lab07.check_fit_link(fit, num_sizes=9)
    lab07.check_overlapped_s(overlapped, num_tensors=6)
