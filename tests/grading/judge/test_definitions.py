"""What a cell defines counts, whatever becomes of the cell: students experiment where they write their answers."""

from dataclasses import replace
from pathlib import Path

import nbformat
import pytest

from coursekit.grading.judge.pool_worker import grade
from coursekit.grading.judge.slot import SubmissionLimits

ROOT = Path(__file__).parents[3]

POWER = "import numpy as np\npower = 2\n"
LOSS = "def loss(slope, offset, x, y):\n    return np.mean((slope * x + offset - y) ** power)\n"
SLEEPS = "import time\ntime.sleep(3600)\n"
SWALLOWS = "while True:\n    try:\n        while True: pass\n    except BaseException: pass\n"


@pytest.fixture
def hasty(slot, monkeypatch):
    """The slot, with a second for each cell."""
    monkeypatch.setattr(slot, "limits", replace(slot.limits, cell_s=1.0))
    return slot


@pytest.mark.parametrize(
    ("source", "flags"),
    [
        (POWER + LOSS + SLEEPS, ["TimeoutError"]),
        ("power = sum([1, 1])\n" + LOSS + "while True: pass", ["TimeoutError"]),
        (SLEEPS + POWER + LOSS, ["TimeoutError"]),
        (POWER + LOSS + SWALLOWS, ["TimeoutError"]),
        (POWER + LOSS + "import os\nos._exit(0)", ["ProcessEnded"]),
        ("%matplotlib inline\n1 / 0\n" + POWER + LOSS, []),
        ("@undefined\ndef other(): pass\n" + POWER + LOSS, []),
    ],
    ids=["sleeps", "loops", "below", "swallows", "exits", "raises", "decorated"],
)
def test_definitions_stay(source, flags, program, work, hasty):
    """Of a cell that is interrupted with all that it did before, and of one whose process is ended or that raises."""
    verdict = grade(program, work(loss=source), hasty, left_out=("facts-tests",))

    assert (verdict.fault, verdict.points, verdict.scores[0].message) == ("", 2, "")
    assert [flag.kind for flag in verdict.flags if flag.text.startswith("cell ")] == flags


def test_many_cells_out_of_time_cost_their_time_only(program, work, hasty):
    """An interrupted cell needs no new process: more of them than there are restarts leave all answers in place."""
    extra = [("imports", f"name_{number} = {number}\n{SLEEPS}") for number in range(5)]
    uses = "import numpy as np\npower = name_0 + name_1 + 1\n" + LOSS

    verdict = grade(program, work(*extra, loss=uses), hasty, left_out=("facts-tests",))

    assert (verdict.fault, verdict.points, verdict.scores[0].message) == ("", 2, "")


def test_a_definition_that_never_ends_is_left_out(program, work, hasty):
    """Where defining itself takes for ever, the cell is dropped, and the other answers are judged."""
    endless = "class Endless:\n" + "".join(f"    {line}\n" for line in SWALLOWS.splitlines())

    verdict = grade(program, work(("imports", endless)), hasty, left_out=("facts-tests",))

    assert (verdict.fault, verdict.points) == ("", 2)


@pytest.mark.parametrize("path", sorted(ROOT.glob("labs/*/*.ipynb")), ids=lambda path: path.stem)
def test_students_are_told_the_limit(path):
    """In the text at the top of each lab, with the number that holds in grading."""
    intro = nbformat.read(path, as_version=4).cells[0].source

    assert f" {SubmissionLimits().cell_s:g} s " in intro
