"""Pictures of an allreduce's schedule show every message of it, and say it in words."""

from __future__ import annotations

import re

import pytest
from matplotlib.patches import FancyArrowPatch, Rectangle

from coursekit.lecture.slides.allreduce import WAYS, butterfly, star, tree
from coursekit.lecture.slides.schedule_pictures import draw_lanes, words_of

ONE_CHUNK = (star, tree, butterfly)


@pytest.mark.parametrize("way", ONE_CHUNK)
def test_every_message_is_drawn(way) -> None:
    """There is an arrow for each message, dashed where it copies, and a square of cells for each rank and moment."""
    schedule = way(4)
    (axes,) = draw_lanes(schedule).axes
    arrows = [patch for patch in axes.patches if isinstance(patch, FancyArrowPatch)]
    copies = [one for step in schedule.steps for one in step if not one.adds]
    assert len(arrows) == sum(map(len, schedule.steps))
    assert sum(one.get_linestyle() != "-" for one in arrows) == len(copies)
    assert sum(isinstance(patch, Rectangle) for patch in axes.patches) == 4 * 4 * (len(schedule.steps) + 1)


@pytest.mark.parametrize("way", WAYS)
def test_words_tell_every_message(way: str) -> None:
    """The text alternative names source and target of all messages."""
    schedule = WAYS[way](4)
    told = re.findall(r"(\d) to (\d)", words_of(schedule))
    assert told == [(str(one.source), str(one.target)) for step in schedule.steps for one in step]
