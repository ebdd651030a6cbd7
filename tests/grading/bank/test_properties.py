"""The page of properties: each is held against a mistake, and tried where rank and local rank differ."""

from __future__ import annotations

from pathlib import Path

import pytest

from coursekit.grading.bank.properties import BANKS, LAYOUTS, PAGE, lab_properties, note_layouts, page_text
from coursekit.labs.cells import CellScore
from coursekit.labs.lab import find_labs, select_labs

ROOT = Path(__file__).parents[3]
LABS = find_labs(ROOT)
ON_ONE_RANK = {"samples-tests", "faster-tests"}  # of lab 05: the other rank is the slow store, which calls no answer
every_lab = pytest.mark.parametrize("lab", LABS, ids=lambda lab: lab.name)


@every_lab
def test_every_property_is_held_against_a_mistake(lab):
    """A test that no answer of the bank must fail with words of its own might check nothing, and nobody would see."""
    assert [one.test for one in lab_properties(ROOT, lab) if not one.mistakes] == []


@every_lab
def test_every_property_on_ranks_is_tried_on_two_nodes(lab):
    """With several ranks on a node and more than one node: else who takes the local rank for the rank would pass."""
    on_one_node = [
        one.test
        for one in lab_properties(ROOT, lab)
        if one.test not in ON_ONE_RANK
        and any(num_ranks > 1 for num_ranks, _ in one.layouts or ())
        and not any(num_ranks > num_nodes > 1 for num_ranks, num_nodes in one.layouts or ())
    ]

    assert on_one_node == []


def test_the_page_is_fresh():
    """It is what `coursekit build` makes of the banks and of what `coursekit answers` saw."""
    assert (ROOT / BANKS / PAGE).read_text() == page_text(ROOT, LABS)


def test_a_row_names_ranks_and_mistakes(course, bank):
    """Of tests that passed the ranks are kept; where nobody has looked, the page says so."""
    wrong = '# /// answer\n# title = "One less"\n# [fails]\n# mean-tests = ["is 3"]\n# ///\n'
    bank("one-less", wrong + '# %% role="answer" id="mean"\nmean = lambda x: sum(x) / (len(x) - 1)\n')
    note_layouts(bank.folder, [CellScore("mean-tests", 1, 1, "", [(3, 2)]), CellScore("path-tests", 1, 1, "")])
    note_layouts(bank.folder, [CellScore("shard-tests", 0, 2, "no", [(2, 1)]), CellScore("path-tests", 1, 1, "", [])])

    rows = page_text(course, select_labs(course, ["01"])).splitlines()[-3:]

    assert (bank.folder / LAYOUTS).is_file()
    assert [" ".join(row.split()) for row in rows] == [
        "| (`shard-tests`) | ? | |",
        "| (`mean-tests`) | 3 on 2 | [one-less](01-small/one-less.py) |",
        "| (`path-tests`) | no ranks | |",
    ]
