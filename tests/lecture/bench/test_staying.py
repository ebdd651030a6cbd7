"""The benchmarks of ranks that stay: each start and each cell has its seconds, and nothing is left."""

from __future__ import annotations

import importlib.util

from coursekit.lecture.bench.staying import CELLS_PER_START, NEEDED, measure_cell, measure_start


def test_starts_and_cells_have_their_seconds():
    """One turn is a first start and another one; where there is no ipyparallel, the title says so."""
    said = []
    measured = measure_start(1, said.append), measure_cell(1, said.append)
    starts, cells = (one.series[0] for one in measured)
    assert said[:1] == ["%ranks, first start"]
    assert (starts.name, len(starts.seconds), len(cells.seconds)) == ("%ranks", 1, 2 * CELLS_PER_START - 1)
    assert 0 < cells.median_s < starts.median_s
    there = all(map(importlib.util.find_spec, NEEDED))
    assert ["are not measured" in one.title for one in measured] == [not there] * 2
