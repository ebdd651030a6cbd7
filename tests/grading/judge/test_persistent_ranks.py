"""Hand-ins with cells on persistent ranks: in the sandbox they work as in a notebook, and cost nobody a point."""

from __future__ import annotations

import os

import psutil

from coursekit.grading.judge.grade_one import grade

START = "%load_ext coursekit.ranks\n%ranks start -n 2"
SETUP = "%%ranks\nimport horovod.tensorflow as hvd, numpy as np\nhvd.init()\nmine = 10.0 ** hvd.rank()"
SUM = "%%ranks\nfloat(hvd.allreduce(np.float32(mine), op=hvd.Sum).numpy())"
HANGS = "%%ranks\nif hvd.rank() == 0:\n    hvd.broadcast(np.zeros(1), 0)"
ALL = {"loss-tests": 2, "facts-tests": 1}


def added(*cells):
    """Return cells that a student has added below the first one."""
    return [("imports", cell) for cell in cells]


def points(verdict):
    """Return the points by test."""
    assert verdict.fault == ""
    return {score.grade_id: score.points for score in verdict.scores}


def test_ranks_persist_from_cell_to_cell_and_end_with_the_hand_in(program, work, slot):
    """Cells find what earlier ones left, answers earn their points beside them, and no process outlives the hand-in."""
    seconds = f"3600.{os.getpid()}"  # that no other test run on this machine has
    leaves = f"%%ranks\nimport subprocess\nsleep = subprocess.Popen(['setsid', 'sleep', '{seconds}'])"

    verdict = grade(program, work(*added(START, SETUP, SUM, leaves)), slot)

    assert points(verdict) == ALL
    assert sorted("".join(verdict.outputs.values()).splitlines()) == ["[0] 11.0", "[1] 11.0"]
    assert not [one for one in psutil.process_iter(["cmdline"]) if seconds in (one.info["cmdline"] or [])]


def test_a_deadlock_of_persistent_ranks_costs_nothing_else(program, work, slot):
    """The cell fails, as it does in the notebook, or is stopped at its limit; every answer keeps its points."""
    assert points(grade(program, work(*added(START, SETUP, HANGS)), slot)) == ALL


def test_an_answer_on_ranks_alone_is_no_answer(program, work, slot):
    """What only ranks know is not defined in the notebook; the other answer keeps its points."""
    verdict = grade(program, work(*added(START), loss="%%ranks\ndef loss(*_):\n    return 0"), slot)

    assert points(verdict) == {**ALL, "loss-tests": 0}
    [message] = [score.message for score in verdict.scores if score.message]
    assert "name 'loss' is not defined" in message
