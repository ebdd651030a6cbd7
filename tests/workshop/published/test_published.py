"""Published tables against the model, and the page that shows both."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from coursekit.scaling.machine import Link, Machine
from coursekit.scaling.networks import find_network
from coursekit.scaling.step import Settings, Work, simulate
from workshop.cli.published import published
from workshop.published import page
from workshop.published.tables import Series, Table, predict, predict_all, summarize, tables

ROOT = Path(__file__).parents[3]


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


def test_the_command_shows_all_tables_whole():
    """It ends in the errors, and no cell is cut short where a terminal is narrow."""
    lines = CliRunner(env={"COLUMNS": "40"}).invoke(published, [], catch_exceptions=False).output.splitlines()

    assert "82 predictions: mean error 3." in lines[-1]
    assert not any("…" in line for line in lines)


def test_the_page_is_up_to_date():
    """`workshop published --markdown docs/scaling.md` would write the same text."""
    written = (ROOT / "docs" / "scaling.md").read_text()
    pictures = re.findall(r"^!\[.*\]\((.*)\)$", written, flags=re.MULTILINE)

    assert written == page.text(ROOT)
    assert pictures == [f"pictures/scaling-{table.key}.png" for table in tables() if table.given]
    assert all((ROOT / "docs" / picture).is_file() for picture in pictures)


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


def test_ranks_that_wait_are_predicted():
    """Steps of 2, 4 and 8 real ranks: eight of nine within 5 %, all within a fifth."""
    errors = sorted(abs(run.error) for run in page.waiting_runs(ROOT))

    assert len(errors) == 9
    assert errors[-2] < 0.05
    assert errors[-1] < 0.2


def test_own_runs_are_within_a_fifth():
    """Two networks on two ranks of the kit itself, with the latency and bandwidth of deck 03 alone."""
    assert [abs(run.error) < 0.2 for run in page.own_runs(ROOT)] == [True, True]
