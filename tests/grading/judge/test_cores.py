"""Submissions that are judged at the same time do not crowd on the same cores."""

from __future__ import annotations

import os

import pytest

from coursekit.grading.judge.pool import shares


@pytest.mark.parametrize(("num_slots", "expected"), [(2, [[0, 3, 7], [2, 5]]), (6, [[]] * 6), (1, [[]])])
def test_slots_have_cores_of_their_own(monkeypatch, num_slots, expected):
    """All cores are used, none by two slots; too few cores, or a single slot, stay unbound."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 2, 3, 5, 7})
    assert shares(num_slots) == expected
