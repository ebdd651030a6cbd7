"""Words in boxes can be read on the colour of every rank."""

from __future__ import annotations

import pytest

from coursekit.lecture.slides.drawing import WAIT, box, diagram, ink_on, node_frame
from coursekit.pictures import COLORS


@pytest.mark.parametrize(
    ("ground", "ink"),
    [*((color, "black" if color == "#CC79A7" else "white") for color in COLORS), ("white", "black"), (WAIT, "black")],
)
def test_words_can_be_read_on_every_colour(ground, ink):
    """White on all ranks' colours but the pink of rank 3, black there and on light grounds."""
    assert ink_on(ground) == ink


def test_a_node_lies_below_what_is_in_it():
    """Drawn after its ranks, a node hides none of them."""
    figure, axes = diagram()
    box(axes, (2, 2), "rank 0")
    node_frame(axes, (1, 1), (2, 2))
    rank, node = axes.patches
    figure.draw_without_rendering()

    assert node.get_bbox().bounds == (1, 1, 2, 2)
    assert node.get_zorder() < rank.get_zorder()
