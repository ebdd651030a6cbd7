"""Allreduce of four ranks as a tree, step by step, drawn from the schedule that the tests execute."""

from __future__ import annotations

from workshop.slides.allreduce import draw_lanes, tree, words_of

DATA = ()
CAPTION = "A tree: pairs are summed, then pairs of pairs; dashed arrows carry the finished sum back."
NUM_RANKS = 4


def draw():
    """Draw a lane for each rank."""
    return draw_lanes(tree(NUM_RANKS))


def words():
    """Return the steps as text."""
    return words_of(tree(NUM_RANKS))
