"""Allreduce of four ranks as a star, step by step, drawn from the schedule that the tests execute."""

from __future__ import annotations

from workshop.slides.allreduce import draw_lanes, star, words_of

DATA = ()
CAPTION = "A star: all messages pass through rank 0, one after another; dashed arrows carry the finished sum."
NUM_RANKS = 4


def draw():
    """Draw a lane for each rank."""
    return draw_lanes(star(NUM_RANKS))


def words():
    """Return the steps as text."""
    return words_of(star(NUM_RANKS))
