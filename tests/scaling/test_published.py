"""Published tables against the model, and the page that shows both."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from coursekit.errors import CourseKitError
from coursekit.scaling import page
from coursekit.scaling.faults import doubts_about
from coursekit.scaling.machine import Link, Machine
from coursekit.scaling.networks import find_network
from coursekit.scaling.published import belief_of, predict, predict_all, read_tables, summarize, tables
from coursekit.scaling.step import Settings, Work, simulate
from coursekit.scaling.table import Series, Table

ROOT = Path(__file__).parents[2]


def test_the_smaller_half_is_known():
    """Of the sizes beyond one rank; what is known is not predicted."""
    given = {table.key: sorted(table.given) for table in tables()}

    assert given["p100-nvlink"] == [2]
    assert given["p100-aries"] == [2, 4]
    assert given["v100-horovod"] == [4, 8]
    assert given["a100-dgx"] == []
    assert not any(one.num_ranks in one.table.given for one in predict_all())


def test_what_is_to_be_predicted_changes_no_prediction():
    """Half the speeds of the larger sizes, and the predictions stay as they are: they know the smaller sizes alone."""
    table = next(one for one in tables() if one.key == "p100-aries")
    halved = [
        replace(one, images_per_s=(*one.images_per_s[:3], *(x / 2 for x in one.images_per_s[3:])))
        for one in table.series
    ]
    changed = predict(replace(table, series=tuple(halved)))

    assert [one.num_ranks for one in changed] == [8, 16, 32] * 2
    assert [one.predicted for one in changed] == [one.predicted for one in predict(table)]
    assert [one.measured for one in changed[:3]] == [1018.18 / 2, 2001.0 / 2, 3840.35 / 2]


def test_errors_of_the_published_tables():
    """The aim is a mean error below 5 %; that the band holds about nine of ten is what it promises."""
    summary = summarize(predict_all())

    assert summary.num_predictions == 82
    assert summary.mean_error < 0.04
    assert 0.87 <= summary.covered <= 0.97
    assert summary.worst.series.title == "VGG16, batch 32"
    assert sum(abs(one.error) > 0.1 for one in predict_all()) == 6  # docs/scaling.md explains each


def test_the_page_is_up_to_date():
    """`coursekit predict --published --markdown docs/scaling.md` would write the same text."""
    written = (ROOT / "docs" / "scaling.md").read_text()
    pictures = re.findall(r"^!\[.*\]\((.*)\)$", written, flags=re.MULTILINE)

    assert written == page.text(ROOT)
    assert pictures == [f"pictures/scaling-{table.key}.png" for table in tables() if table.given]
    assert all((ROOT / "docs" / picture).is_file() for picture in pictures)


def test_the_pages_example_is_a_table_of_ones_own(tmp_path):
    """What docs/scaling.md shows can be read, with a network that Keras lacks and a series from two ranks on."""
    written = (ROOT / "docs" / "scaling.md").read_text()
    (tmp_path / "mine.toml").write_text(re.search(r"```toml\n(.*?)```", written, flags=re.DOTALL)[1])
    (table,) = read_tables(tmp_path / "mine.toml")

    assert sorted(table.given) == [2, 4]
    assert [(one.series.network, one.num_ranks) for one in predict(table)] == [
        ("ResNet50", 8), ("ResNet50", 16), ("TwoLayers", 8), ("TwoLayers", 16),
    ]  # fmt: skip


def test_a_table_without_a_rank_alone():
    """Of a made machine whose smallest run has 8 ranks: its larger runs are predicted from the others."""
    within, between = Link(100.0, 3.0), Link(10.0, 10.0)
    machine, work = Machine(within, between, 8).slowed(0.4), Work(find_network("VGG16"), 0.4, spread=0.02)
    sizes = (8, 16, 32, 64, 128)
    speeds = tuple(size * 64 / simulate(work, machine, size, Settings()).total_s for size in sizes)
    table = Table("made", "Made", "here", "here", 8, within, between, (Series("VGG16", 64, sizes, speeds),))
    found = predict(table)

    assert sorted(table.given) == [16, 32]
    assert [one.num_ranks for one in found] == [64, 128]
    assert [one.predicted for one in found] == pytest.approx(speeds[3:], rel=0.03)
    assert all(one.covered for one in found)


def test_speeds_that_scatter_make_the_band_wider():
    """The same sizes, once as a model would have them, and once a tenth above and below in turns."""
    sizes = (1, 2, 4, 8, 16, 32, 64)
    efficiencies = (1.0, 0.95, 0.93, 0.92, 0.91, 0.9, 0.89)
    scattered = (1.0, 1.05, 0.83, 1.02, 0.91, 0.9, 0.89)
    widths = []
    for shares in (efficiencies, scattered):
        speeds = tuple(size * 200 * share for size, share in zip(sizes, shares))
        series = Series("ResNet50", 64, sizes, speeds)
        table = Table("made", "Made", "here", "here", 1, Link(10.0, 5.0), Link(10.0, 10.0), (series,))
        last = predict(table)[-1]
        widths.append((last.high - last.low) / last.predicted)

    assert widths[1] > 1.4 * widths[0]


TABLE = """
[[tables]]
key = "mine"
title = "Mine"
source = "here"
links_source = "here"
num_ranks_per_node = 4
within = { gbyte_per_s = 80.0, latency_us = 3.4 }
between = { gbyte_per_s = 6.25, latency_us = 9.6 }
series = [
    { network = "ResNet50", batch_size = 64, num_ranks = [1, 2, 4, 8], images_per_s = [219, 422, 852, 1734] },
]
"""


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("422, ", "", "ResNet50, batch 64 has 4 numbers of ranks and 3 speeds"),
        ("[1, 2, 4, 8]", "[1, 4, 2, 8]", "numbers of ranks must grow, from at least 1 on, and are 1, 4, 2, 8"),
        ("[1, 2, 4, 8], images_per_s = [219, 422, 852, 1734]", "[1], images_per_s = [219]", "has one speed only"),
        ("219", "0", "batch size and speeds must be above 0"),
        ("219", "nan", "batch size and speeds must be above 0"),
        ("6.25", "0", "between must have a bandwidth above 0"),
        ("num_ranks_per_node = 4", "num_ranks_per_node = 0", "num_ranks_per_node must be at least 1"),
        ("series = [", 'way = "star"\nseries = [', "there is no way 'star'; the ways are ring, tree"),
        ("series = [", "bytes_per_number = 8\nseries = [", "bytes_per_number must be 2 or 4, not 8"),
        ("ResNet50", "BERT", "BERT is not among the recorded networks"),
        ('"mine"', '"../mine"', "the key is part of a file's name"),
        ("batch_size", "batch", r"unknown key\(s\) \['batch'\]"),
        (TABLE, TABLE + TABLE, "more than one table has this key"),
    ],
)
def test_a_table_that_cannot_be_read(tmp_path, old, new, message):
    """One sentence says what is wrong, and in which table."""
    (tmp_path / "mine.toml").write_text(TABLE.replace(old, new))

    with pytest.raises(CourseKitError, match=message):
        predict(read_tables(tmp_path / "mine.toml")[0])


@pytest.mark.parametrize(
    ("speeds", "message"),
    [
        ("219, 422, 852, 1734", ""),
        ("219, 460, 1000, 2400", "8 ranks are 1.37 times as fast as perfect scaling"),
        ("219, 211, 213, 216", "more ranks are not faster: are these the speeds of all ranks together"),
    ],
)
def test_figures_that_one_must_doubt(tmp_path, speeds, message):
    """Speeds of each rank in place of all, and speeds that no links explain; good ones are left in peace."""
    (tmp_path / "mine.toml").write_text(TABLE.replace("219, 422, 852, 1734", speeds))
    (table,) = read_tables(tmp_path / "mine.toml")
    doubts = doubts_about(table, belief_of(table).likely[0])

    assert [message in doubt for doubt in doubts] == [True] * bool(message)


def test_ranks_that_wait_are_predicted():
    """Steps of 2, 4 and 8 real ranks: eight of nine within 5 %, all within a fifth."""
    errors = sorted(abs(run.error) for run in page.waiting_runs(ROOT))

    assert len(errors) == 9
    assert errors[-2] < 0.05
    assert errors[-1] < 0.2


def test_own_runs_are_within_a_fifth():
    """Two networks on two ranks of the kit itself, with the latency and bandwidth of deck 03 alone."""
    assert [abs(run.error) < 0.2 for run in page.own_runs(ROOT)] == [True, True]
