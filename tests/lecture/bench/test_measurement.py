"""Series of measurements: the first call counts in no statistic, and ratios are of medians."""

from __future__ import annotations

from coursekit.lecture.bench.measurement import Measurement, Series

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
                "full_speed_s": None,
                "num_ranks": None,
                "min_s": 0.1,
                "median_s": 0.2,
                "max_s": 0.9,
                "share": None,
                "per_rank_s": None,
            },
            {
                "name": "other",
                "first_s": 0.001,
                "seconds": (3.0, 1.0),
                "full_speed_s": None,
                "num_ranks": None,
                "min_s": 1.0,
                "median_s": 2.0,
                "max_s": 3.0,
                "share": None,
                "per_rank_s": None,
            },
        ],
        "ratios": {"other": 10.0},
    }


def test_a_rank_has_its_share_of_the_median():
    """Three quarters of a second for three ranks are a quarter for each."""
    assert Series("3", first_s=50.0, seconds=(0.5, 0.75, 0.9), num_ranks=3).per_rank_s == 0.25


def test_the_share_of_full_speed_is_that_of_medians():
    """A way twice as slow as what was measured beside it has half of its speed, whatever its first step took."""
    assert Series("way", first_s=50.0, seconds=(0.1, 0.4, 0.9), full_speed_s=0.2).share == 0.5
