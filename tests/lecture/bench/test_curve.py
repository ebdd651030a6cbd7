"""The curve of launches: real ranks, of which there may be many."""

from __future__ import annotations

from coursekit.lecture.bench.curve import measure_curve


def test_each_number_of_ranks_has_its_times():
    """Calls are made in turns, the first of each apart, and the seconds are shared out among the ranks."""
    said = []
    measured = measure_curve(1, said.append, (1, 3))
    assert said == ["1 ranks, first call", "3 ranks, first call", "1 ranks, turn 1 of 1", "3 ranks, turn 1 of 1"]
    assert [(one.name, one.num_ranks, len(one.seconds)) for one in measured.series] == [("1", 1, 1), ("3", 3, 1)]
    assert measured.series[1].per_rank_s == measured.series[1].seconds[0] / 3
    assert all(0.01 < one.median_s < 120 for one in measured.series)
