"""Series of measurements: the first call counts in no statistic, and ratios are of medians."""

from __future__ import annotations

from coursekit.bench.measurement import Measurement, Series

OWN = Series("own", first_s=100.0, seconds=(0.2, 0.1, 0.9))
OTHER = Series("other", first_s=0.001, seconds=(3.0, 1.0))


def test_ratios_compare_medians_with_the_first_series():
    """A first call, however slow, changes no ratio."""
    assert Measurement("title", (OWN, OTHER)).ratios() == {"other": 2.0 / 0.2}


def test_the_record_holds_every_number():
    """The plain data hold the single times and their statistics, each with its unit in the name."""
    assert Measurement("title", (OWN, OTHER)).as_json() == {
        "title": "title",
        "series": [
            {
                "name": "own",
                "first_s": 100.0,
                "seconds": (0.2, 0.1, 0.9),
                "min_s": 0.1,
                "median_s": 0.2,
                "max_s": 0.9,
            },
            {
                "name": "other",
                "first_s": 0.001,
                "seconds": (3.0, 1.0),
                "min_s": 1.0,
                "median_s": 2.0,
                "max_s": 3.0,
            },
        ],
        "ratios": {"other": 10.0},
    }
