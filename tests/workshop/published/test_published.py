"""Published tables against the model, and the page that shows both."""

from dataclasses import replace
from pathlib import Path

import pytest

from coursekit.scaling.machine import Link, Machine
from coursekit.scaling.networks import find_network
from coursekit.scaling.posterior import PRIOR
from coursekit.scaling.step import Settings, Work, simulate
from workshop.published import page
from workshop.published.priors import fit, predict_all, predict_beyond_nodes, prior_without
from workshop.published.tables import Series, Table, predict, summarize, tables

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


def test_errors_on_machines_that_were_left_out():
    """The aim is a mean error of 10 % and nine of ten rows in the band, for the first tables and the later ones."""
    for later, num_predictions, mean_error in ((False, 82, 0.04), (True, 89, 0.1)):
        summary = summarize([one for one in predict_all() if one.table.later == later])

        assert summary.num_predictions == num_predictions
        assert summary.mean_error < min(mean_error, summary.mean_naive_error)
        assert 0.9 <= summary.covered <= 0.95


def test_errors_beyond_a_node_fall_with_what_is_known():
    """One GPU, all of a node, and the next size: the naive prediction is beaten each time.

    The page says that the aim of 10 % is met with the last, for each kind of job and on each machine, and missed
    before; and that with a node the first tables are predicted worse than by the naive prediction.
    """
    one, node, both = (predict_beyond_nodes(known) for known in page.KNOWN.values())
    errors = [summarize(found) for found in (one, node, both)]

    assert all(found.table.machine.num_nodes(found.num_ranks) > 1 for found in (*one, *node, *both))
    assert [summary.num_predictions for summary in errors] == [128, 128, 82]
    assert [summary.mean_error for summary in errors] == pytest.approx([0.203, 0.115, 0.062], abs=0.005)
    assert all(summary.mean_error < summary.mean_naive_error for summary in errors)
    for key in ("job", "machine_key"):
        groups = {getattr(found.table, key) for found in both}
        assert all(
            summarize([one for one in both if getattr(one.table, key) == group]).mean_error < 0.1 for group in groups
        )
    assert [0.88 <= summary.covered <= 0.95 for summary in errors] == [True, True, True]
    first = summarize([found for found in node if not found.table.later])
    assert first.mean_naive_error < first.mean_error


def test_a_machine_says_nothing_of_what_is_usual_for_itself():
    """All tables of Azure's V100 are left out together: whatever they say, the prior for them is the same."""
    others = [one for one in tables() if one.machine_key != "azure-v100"]

    assert len(tables()) - len(others) == 2
    assert prior_without("azure-v100") == fit(others)
    assert prior_without("azure-v100") != fit(tables())


def test_the_product_holds_what_all_tables_say():
    """`coursekit predict` starts from the fit, rounded to per cent."""
    found = fit(tables())

    assert (round(found.within, 2), round(found.between, 2)) == (PRIOR.within, PRIOR.between)


def test_the_page_is_up_to_date():
    """`workshop pages` would not change a byte of it."""
    assert (ROOT / page.PAGE).read_text() == page.text(ROOT)


def test_a_table_without_a_rank_alone():
    """Of a made machine whose smallest run has 8 ranks: its larger runs are predicted from the others."""
    within, between = Link(100.0, 3.0), Link(10.0, 10.0)
    machine, work = Machine(within, between, 8).slowed(0.4, 0.4), Work(find_network("VGG16"), 0.4, spread=0.02)
    sizes = (8, 16, 32, 64, 128)
    speeds = tuple(size * 64 / simulate(work, machine, size, Settings()).total_s for size in sizes)
    table = Table("made", "Made", "here", "here", 8, within, between, (Series("VGG16", 64, sizes, speeds),))
    found = predict(table)

    assert sorted(table.given) == [16, 32]
    assert [one.num_ranks for one in found] == [64, 128]
    assert [one.predicted for one in found] == pytest.approx(speeds[3:], rel=0.03)
    assert all(one.covered for one in found)
