"""Allreduce of four ranks as a butterfly, step by step, drawn from the schedule that the tests execute."""

from __future__ import annotations

from workshop.slides.allreduce import butterfly, draw_lanes, words_of

DATA = ()
CAPTION = "A butterfly: partners at distance 1, then 2, swap what they have, and both add."
NUM_RANKS = 4


def draw():
    """Draw a lane for each rank."""
    return draw_lanes(butterfly(NUM_RANKS))


def words():
    """Return the steps as text."""
    return words_of(butterfly(NUM_RANKS))
