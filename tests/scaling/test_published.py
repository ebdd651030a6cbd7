"""Published tables against the model, and the page that shows both."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from coursekit.scaling import page
from coursekit.scaling.published import predict, predict_all, summarize, tables

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

    assert summary.num_predictions == 30
    assert summary.mean_error < 0.05
    assert 0.8 <= summary.covered <= 1.0
    assert summary.worst.series.title == "VGG16, batch 32"


def test_the_page_is_up_to_date():
    """`coursekit predict --published --markdown docs/scaling.md` would write the same text."""
    written = (ROOT / "docs" / "scaling.md").read_text()
    pictures = [line for line in written.splitlines() if line.startswith("![")]

    assert len(pictures) == 6
    assert written == page.text(ROOT, pictures)
    assert all((ROOT / "docs" / line.partition("](")[2].rstrip(")")).is_file() for line in pictures)


def test_ranks_that_wait_are_predicted():
    """Steps of 2, 4 and 8 real ranks: eight of nine within 5 %, all within a fifth."""
    errors = sorted(abs(run.error) for run in page.waiting_runs(ROOT))

    assert len(errors) == 9
    assert errors[-2] < 0.05
    assert errors[-1] < 0.2


def test_own_runs_are_within_a_fifth():
    """Two networks on two ranks of the kit itself, with the latency and bandwidth of deck 03 alone."""
    assert [abs(run.error) < 0.2 for run in page.own_runs(ROOT)] == [True, True]


@pytest.mark.parametrize("table", tables(), ids=lambda table: table.key)
def test_every_table_is_complete(table):
    """A speed for each number of ranks, one rank first, ranks in order."""
    for series in table.series:
        assert len(series.num_ranks) == len(series.images_per_s)
        assert list(series.num_ranks) == sorted(series.num_ranks)
        assert series.num_ranks[0] == 1
