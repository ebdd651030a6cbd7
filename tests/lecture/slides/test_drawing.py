"""Words in boxes can be read on the colour of every rank."""

from __future__ import annotations

import pytest

from coursekit.lecture.slides.drawing import WAIT, ink_on
from coursekit.pictures import COLORS


@pytest.mark.parametrize(
    ("ground", "ink"),
    [*((color, "black" if color == "#CC79A7" else "white") for color in COLORS), ("white", "black"), (WAIT, "black")],
)
def test_words_can_be_read_on_every_colour(ground, ink):
    """White on all ranks' colours but the pink of rank 3, black there and on light grounds."""
    assert ink_on(ground) == ink
