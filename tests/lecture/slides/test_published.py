"""Published figures that stand in two places say the same in both."""

from __future__ import annotations

from pathlib import Path

from coursekit.lecture.slides.sources import load_published
from coursekit.scaling.published import tables
from coursekit.throughput.picture import PUBLISHED_P100

ROOT = Path(__file__).parents[3]


def test_the_lecture_and_the_labs_show_the_same_figures_of_piz_daint():
    """Lab 03 has them in its picture, the last deck in a table: GPUs, images per second, software."""
    in_the_deck = {tuple(row.values()) for row in load_published(ROOT, "cscs-p100").rows}

    assert in_the_deck == {(one.num_gpus, one.images_per_s, one.software) for one in PUBLISHED_P100}


def test_equal_gpu_hours_are_equal():
    """The last deck says that two published trainings took the same GPU hours."""
    rows = [load_published(ROOT, name).rows[0] for name in ("imagenet-in-an-hour", "imagenet-in-minutes")]

    assert len({row["num_gpus"] * row["minutes"] for row in rows}) == 1


def test_piz_daints_table_is_the_simulators():
    """The slide and the page of predictions show the same measurements."""
    table = next(one for one in tables() if one.key == "p100-aries")
    rows = load_published(ROOT, "daint-2017").rows
    ours = {
        (one.images.replace("synthetic", "made"), ranks): speed
        for one in table.series
        for ranks, speed in zip(one.num_ranks, one.images_per_s)
    }

    assert {(row["images"], row["num_gpus"]): row["images_per_s"] for row in rows} == ours
