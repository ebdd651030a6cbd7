"""Allreduce as schedules: they give the sum, keep to one port, cost what closed forms say, and are drawn whole."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from math import log2

import numpy as np
import pytest
from matplotlib.patches import FancyArrowPatch, Rectangle

from workshop.slides import allreduce
from workshop.slides.allreduce import WAYS, Schedule, draw_lanes

POWERS = (2, 4, 8, 16)
CASES = [(way, num) for way in WAYS for num in (*POWERS, *(() if way == "butterfly" else (3, 5, 6, 7, 12)))]

# Steps, data on the critical path, data sent by the busiest rank, and by an average one; in arrays, for powers of two.
CLOSED_FORMS = {
    "star": lambda n: (2 * (n - 1), 2 * (n - 1), n - 1, Fraction(2 * (n - 1), n)),
    "tree": lambda n: (2 * log2(n), 2 * log2(n), log2(n), Fraction(2 * (n - 1), n)),
    "butterfly": lambda n: (log2(n), log2(n), log2(n), log2(n)),
    "ring": lambda n: (2 * (n - 1), *[Fraction(2 * (n - 1), n)] * 3),
}


def execute(schedule: Schedule, arrays: list[np.ndarray]) -> list[np.ndarray]:
    """Carry out a schedule on one array per rank, and return what each rank ends with."""
    now = [np.array_split(array.copy(), schedule.num_chunks) for array in arrays]
    for step in schedule.steps:
        sent = [now[one.source][one.chunk].copy() for one in step]
        for one, data in zip(step, sent):
            now[one.target][one.chunk] = now[one.target][one.chunk] + data if one.adds else data
    return [np.concatenate(chunks) for chunks in now]


@pytest.mark.parametrize(("way", "num_ranks"), CASES)
def test_every_rank_ends_with_the_sum(way: str, num_ranks: int) -> None:
    """Executed on arrays whose length no number of chunks divides, a schedule gives NumPy's sum; pictures show it.

    In a step no rank sends twice or receives twice, and none talks to itself.
    """
    schedule = WAYS[way](num_ranks)
    arrays = list(np.random.default_rng(1).integers(-99, 99, (num_ranks, 53)))
    results = execute(schedule, arrays)
    first, *_, last = allreduce.states(schedule)

    np.testing.assert_array_equal(results, [np.sum(arrays, axis=0)] * num_ranks)
    assert all(chunk == {rank} for rank, chunks in enumerate(first) for chunk in chunks)
    assert {chunk for chunks in last for chunk in chunks} == {frozenset(range(num_ranks))}
    for step in schedule.steps:
        assert max(Counter(one.source for one in step).values()) == 1
        assert max(Counter(one.target for one in step).values()) == 1
        assert all(one.source != one.target for one in step)


@pytest.mark.parametrize("num_ranks", POWERS)
@pytest.mark.parametrize("way", WAYS)
def test_costs_have_closed_forms(way: str, num_ranks: int) -> None:
    """Counted costs are those of the formulas of the lecture's table."""
    cost = allreduce.count(WAYS[way](num_ranks))
    assert (cost.steps, cost.path, cost.busiest, cost.average) == CLOSED_FORMS[way](num_ranks)


def test_reduce_scatter_comes_first() -> None:
    """After half of the ring's steps each rank holds exactly one finished chunk, and no two the same."""
    history = allreduce.states(allreduce.ring(4))
    finished = [
        (rank, chunk) for rank, chunks in enumerate(history[3]) for chunk, has in enumerate(chunks) if len(has) == 4
    ]
    assert finished == [(0, 1), (1, 2), (2, 3), (3, 0)]


@pytest.mark.parametrize("way", [allreduce.star, allreduce.tree, allreduce.butterfly])
def test_every_message_is_drawn(way) -> None:
    """There is an arrow for each message, dashed where it copies, and a square of cells for each rank and moment."""
    schedule = way(4)
    (axes,) = draw_lanes(schedule).axes
    arrows = [patch for patch in axes.patches if isinstance(patch, FancyArrowPatch)]
    copies = [one for step in schedule.steps for one in step if not one.adds]
    assert len(arrows) == sum(map(len, schedule.steps))
    assert sum(one.get_linestyle() != "-" for one in arrows) == len(copies)
    assert sum(isinstance(patch, Rectangle) for patch in axes.patches) == 4 * 4 * (len(schedule.steps) + 1)
