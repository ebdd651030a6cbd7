"""What measurements say about a machine."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from coursekit.scaling.belief import SHARES, SPREADS, Case, believe
from coursekit.scaling.machine import Link, Machine
from coursekit.scaling.networks import find_network
from coursekit.scaling.step import Settings, Work, simulate

MACHINE = Machine(Link(100.0, 3.0), Link(10.0, 10.0), 4)
SETTINGS = Settings()


def measured(share, spread, num_ranks, name="VGG16"):
    """Return a run of a machine whose unknowns are these."""
    work = Work(find_network(name), 0.2)
    step = simulate(replace(work, spread=spread), MACHINE.slowed(share), num_ranks, SETTINGS)
    return Case(work, num_ranks, SETTINGS, step.efficiency)


def test_the_unknowns_of_a_made_machine_are_found():
    """Runs of a machine with 30 % of its bandwidth and 4 % spread, which the belief does not know."""
    runs = [measured(0.3, 0.04, num_ranks, name) for num_ranks in (4, 8, 16) for name in ("VGG16", "ResNet50")]
    share, spread = believe(MACHINE, runs, noise=0.005).likely

    assert share == pytest.approx(0.3, rel=0.1)
    assert spread == pytest.approx(0.04, abs=0.008)


def test_a_prediction_is_right_where_the_model_is():
    """From 4 and 8 ranks to 128 of the same made machine: the truth is in the band, which knowledge made narrower."""
    truth = measured(0.3, 0.04, 128)
    before, after = believe(MACHINE), believe(MACHINE, [measured(0.3, 0.04, number) for number in (4, 8)])
    wide, narrow = before.expect(truth), after.expect(truth)

    assert narrow.efficiency == pytest.approx(truth.efficiency, rel=0.05)
    assert narrow.low <= truth.efficiency <= narrow.high
    assert narrow.high - narrow.low < wide.high - wide.low


def test_a_band_holds_nine_of_ten_of_what_is_believed():
    """Efficiencies drawn from the belief itself, with noise, fall into the band as often as it says."""
    belief, random = believe(MACHINE), np.random.default_rng(4)
    case = measured(1.0, 0.0, 64)
    band = belief.expect(case)
    chosen = random.choice(belief.weights.size, size=300, p=belief.weights.ravel())
    drawn = [
        measured(SHARES[one // len(SPREADS)], SPREADS[one % len(SPREADS)], 64).efficiency * random.normal(1, 0.05)
        for one in chosen
    ]

    assert np.mean([band.low <= one <= band.high for one in drawn]) == pytest.approx(0.9, abs=0.05)
