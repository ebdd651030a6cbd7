"""Series of measurements as tables: the first call counts in no statistic, and medians are compared."""

from __future__ import annotations

from dataclasses import asdict

import pytest

from workshop.bench.measurement import Measurement, Series, series_rows

HEAD = ("what", "median s", "min s", "max s", "times")


@pytest.mark.parametrize(
    ("series", "rows"),
    [
        (
            (Series("own", 100.0, (0.2, 0.1, 0.9)), Series("other", 0.001, (3.0, 1.0)), Series("short", 9.0, (0.02,))),
            [
                (*HEAD, "ratio"),
                ("own", "0.20", "0.10", "0.90", "3", "1"),
                ("other", "2.00", "1.00", "3.00", "2", "10"),
                ("short", "0.0200", "0.0200", "0.0200", "1", "0"),
            ],
        ),
        (
            (Series("alone", 4.0, (0.125,), 0.125), Series("two", 9.96, (0.05, 0.25, 0.9), 0.125)),
            [
                (*HEAD, "share of full speed", "first s"),
                ("alone", "0.125", "0.125", "0.125", "1", "100%", "4.0"),
                ("two", "0.250", "0.050", "0.900", "3", "50%", "10.0"),
            ],
        ),
        (
            (Series("1", 4.0, (0.25,), num_ranks=1), Series("8", 8.0, (0.5,), num_ranks=8)),
            [
                (*HEAD, "s per rank"),
                ("1", "0.25", "0.25", "0.25", "1", "0.250"),
                ("8", "0.50", "0.50", "0.50", "1", "0.062"),
            ],
        ),
    ],
    ids=["ways", "steps", "ranks"],
)
def test_medians_are_compared(series, rows):
    """With the first way, with full speed, or for each rank; what is short has more digits."""
    assert series_rows(asdict(Measurement("what", series))) == rows
