"""The pictures of predictions tell their numbers in words, too."""

import re

from coursekit.pictures import predictions
from coursekit.scaling.forecast import Training, forecast
from coursekit.scaling.machine import Link, Machine
from coursekit.scaling.networks import find_network
from coursekit.scaling.picture import draw_forecast


def test_words_of_a_fit_a_gap_and_phases(described):
    """Seconds, the worst error of the model, each part of a step, also a negative one, and medians of phases."""
    predictions.show_fit([1000, 2000], [0.001, 0.004], [0.001, 0.005])
    predictions.show_gap(0.010, [0.005, 0.004, 0.005, -0.002])
    predictions.show_phases([(0.010, 0.001, 0.004), (0.012, 0.003, 0.005), (0.011, 0.009, 0.003)], 0.0025)

    assert [re.findall(r"-?\d[\d.]*(?= ms|%| to)", words) for words in described()] == [
        ["1", "4", "25"],
        ["10.0", "12.0", "5.0", "4.0", "5.0", "-2.0"],
        ["11.0", "3.0", "4.0", "2.5"],
    ]


def test_words_of_a_forecast():
    """Each row's speed and band in two digits, and its efficiency."""
    machine = Machine(Link(150.0, 3.4), Link(12.5, 9.6), 4)
    rows = forecast(Training(find_network("ResNet50"), 128, 360.0, 0.1), machine, [1, 2])
    _, words = draw_forecast(rows, "ResNet50")

    for row in rows:
        numbers = [f"{float(f'{one:.2g}'):.0f}" for one in (row.images_per_s, row.low, row.high)]
        assert all(one in words for one in (*numbers, f"{row.efficiency:.0%}"))
