"""Time that intervals cover."""

import numpy as np

from coursekit.intervals import covered, covered_before


def test_covered_time_equals_counting_on_a_grid():
    """Random intervals, nested, touching and apart, against marking every unit of time."""
    rng = np.random.default_rng(3)
    begins = rng.integers(0, 900, size=40)
    intervals = np.stack([begins, begins + rng.integers(0, 30, size=40)], axis=1)
    grid = np.zeros(1000, dtype=bool)
    for begin, end in intervals:
        grid[begin:end] = True
    times = np.arange(0, 1001, 7)
    expected = [grid[:time].sum() for time in times]

    np.testing.assert_array_equal(covered_before(times, intervals.tolist()), expected)
    assert covered(intervals.tolist()) == grid.sum()
