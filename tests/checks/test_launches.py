"""Launches are noted where their results are used, also those of a trial that ran before."""

from __future__ import annotations

from coursekit.checks.launches import note, noting, once


def test_each_block_has_its_own_launches():
    """Ranks and nodes, the last node filled or not; what was before the block is not in it."""
    note(8, 8)

    with noting() as layouts:
        note(3, 2)
        note(4, 2)
        note(4, 2)

    assert layouts == {(3, 2), (4, 2)}


def test_a_trial_that_is_made_once_is_noted_at_each_use():
    """The second check of a trial looks at the same ranks as the first, though nothing is launched."""
    made = []

    def try_on(num_ranks):
        note(num_ranks, 2)
        made.append(num_ranks)
        return f"on {num_ranks}"

    on = once(try_on)
    seen = []
    for num_ranks in (3, 4, 3):
        with noting() as layouts:
            assert on(num_ranks) == f"on {num_ranks}"
        seen.append(layouts)

    assert made == [3, 4]
    assert seen == [{(3, 2)}, {(4, 2)}, {(3, 2)}]
