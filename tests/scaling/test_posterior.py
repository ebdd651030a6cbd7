"""What measurements say about a machine."""

from dataclasses import replace

import numpy as np
import pytest

from coursekit.scaling.machine import Link, Machine
from coursekit.scaling.networks import find_network
from coursekit.scaling.posterior import DRIFT, EFFICIENCIES, NOISE, SPREAD_OF_RANKS, Case, posterior_of
from coursekit.scaling.step import Settings, Work, simulate

MACHINE = Machine(Link(20.0, 3.0), Link(5.0, 10.0), 4)
SETTINGS = Settings()


def measured(within, between, num_ranks, name="VGG16", lost=0.0):
    """Return a run of a machine whose unknowns are these, and which loses a share that the model knows nothing of."""
    work = Work(find_network(name), 0.2)
    machine = MACHINE.slowed(within, between)
    step = simulate(replace(work, spread=SPREAD_OF_RANKS), machine, num_ranks, SETTINGS)
    return Case(work, num_ranks, SETTINGS, (1 - lost) * step.efficiency, series=name)


def test_the_unknowns_of_a_made_machine_are_found():
    """Runs of a machine with 15 % of its bandwidth within nodes and 40 % between, which the prior does not know."""
    runs = [measured(0.15, 0.4, num_ranks, name) for num_ranks in (4, 8, 16) for name in ("VGG16", "AlexNet")]
    within, between = posterior_of(MACHINE, runs).bandwidth_efficiencies

    assert within == pytest.approx(0.15, rel=0.2)
    assert between == pytest.approx(0.4, rel=0.2)


def test_a_node_tells_nothing_of_the_links_between_nodes():
    """After a run on two nodes both efficiencies have changed; after a slow one on one node, only that within it."""
    before = posterior_of(MACHINE).weights.sum(axis=0)
    one_node = posterior_of(MACHINE, [measured(0.05, 0.1, 4)])
    two_nodes = posterior_of(MACHINE, [measured(0.05, 0.1, 4), measured(0.05, 0.1, 8)])

    assert one_node.weights.sum(axis=0) == pytest.approx(before)
    assert one_node.bandwidth_efficiencies[0] < 0.5 * posterior_of(MACHINE).bandwidth_efficiencies[0]
    assert two_nodes.bandwidth_efficiencies[1] < 0.7 * posterior_of(MACHINE).bandwidth_efficiencies[1]


def test_what_the_model_misses_is_mostly_kept():
    """A training that loses a tenth from two ranks on, for another reason, is expected to lose most of it on four."""
    case = measured(0.25, 0.42, 4, "ResNet50")
    unknown = posterior_of(MACHINE).expect(case).efficiency
    known = posterior_of(MACHINE, [measured(0.25, 0.42, 2, "ResNet50", lost=0.1)])

    assert 0.9 * unknown < known.expect(case).efficiency < 0.95 * unknown
    assert known.expect(replace(case, series="")).efficiency > known.expect(case).efficiency


def test_a_prediction_is_right_where_the_model_is():
    """From 4 and 8 ranks to 128 of the same made machine: the truth is in the band, which knowledge made narrower."""
    truth = measured(0.3, 0.2, 128)
    before, after = posterior_of(MACHINE), posterior_of(MACHINE, [measured(0.3, 0.2, number) for number in (4, 8)])
    wide, narrow = before.expect(truth), after.expect(truth)

    assert narrow.efficiency == pytest.approx(truth.efficiency, rel=0.1)
    assert narrow.low <= truth.efficiency <= narrow.high
    assert narrow.high / narrow.low < wide.high / wide.low


def test_a_band_holds_nine_of_ten():
    """Efficiencies drawn from the posterior itself, with noise, fall into the band as often as it says."""
    posterior, random = posterior_of(MACHINE), np.random.default_rng(4)
    case = measured(1.0, 1.0, 64)
    band = posterior.expect(case)
    chosen = random.choice(posterior.weights.size, size=300, p=posterior.weights.ravel())
    noise = np.hypot(NOISE, DRIFT * np.sqrt(6))  # six doublings
    unknowns = [(within, between) for within in EFFICIENCIES for between in EFFICIENCIES]
    drawn = [measured(*unknowns[one], 64).efficiency * np.exp(random.normal(0, noise)) for one in chosen]

    assert np.mean([band.low <= one <= band.high for one in drawn]) == pytest.approx(0.9, abs=0.05)
