"""Submissions in a real sandbox, judged outside of it."""

import os
from dataclasses import replace

import psutil
import pytest

from coursekit.checks.on_ranks import run_and_look
from coursekit.grading.judge import slot as slot_module
from coursekit.grading.judge.pool_worker import grade
from coursekit.labs.cells import CellScore

ALL = {"loss-tests": 2, "facts-tests": 1}


def points(verdict):
    """Return the points by test."""
    assert verdict.fault == ""
    return {score.grade_id: score.points for score in verdict.scores}


def messages(verdict):
    """Return what the failed tests say."""
    return {score.grade_id: score.message for score in verdict.scores if score.message}


def test_right_answers_earn_their_points(program, work, slot):
    """Calls in the shell and launches on four ranks that believe to be on two nodes."""
    verdict = grade(program, work(), slot)

    assert verdict.scores == (CellScore("loss-tests", 2.0, 2.0, ""), CellScore("facts-tests", 1.0, 1.0, ""))
    assert (verdict.flags, verdict.fault) == ((), "")
    assert verdict.seconds > 0


def test_a_wrong_answer_is_named_and_costs_only_its_own_points(program, work, slot):
    """The message is that of the check in the notebook."""
    wrong = "import horovod.tensorflow as hvd\ndef rank_facts():\n    hvd.init()\n"
    wrong += "    return {'rank': hvd.rank(), 'size': hvd.size(), 'local_rank': hvd.rank()}"

    verdict = grade(program, work(facts=wrong), slot)

    assert points(verdict) == {"loss-tests": 2, "facts-tests": 0}
    expected = "'local_rank' on rank 2: expected 0, got 2 (with two nodes, rank and local rank differ)"
    assert messages(verdict) == {"facts-tests": f"CheckError: rank facts: {expected} [facts.wrong] → section 1"}


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("def loss(*_):\n    raise NotImplementedError", "not answered yet"),
        ("def loss(*_):\n    raise ValueError('no')", "the answer raised ValueError: no"),
        ("x = (", "name 'loss' is not defined"),
        (
            "import math\ndef loss(*_)\n    return 0",
            "SyntaxError: loss is not defined: the cell loss does not compile, line 2: `def loss(*_)`: expected ':'",
        ),
        (None, "name 'loss' is not defined"),
        ("class Liar(float):\n    __eq__ = lambda *_: True\ndef loss(*_):\n    return Liar(7)", ", got 7"),
        ("def loss(*_):\n    return object()", "a value of type object is not plain data"),
        ("import os\ndef loss(*_):\n    os._exit(0)", "the process ended (exit status 0)"),
        ("import ctypes\ndef loss(*_):\n    ctypes.string_at(0)", "the process ended (SIGSEGV)"),
        ("def loss(*_):\n    import sys; sys.exit('bye')", "the answer raised SystemExit: bye"),
        ("import os\ndef loss(*_):\n    os.kill(os.getpid(), 40)", "the process ended (SIGRTMIN+6)"),
        ("import os\nos.kill(os.getpid(), 64)", "name 'loss' is not defined"),
        ("def loss(*_):\n    return 10**500", "a whole number of more than 400 digits"),
    ],
    ids=[
        *(
            "unanswered",
            "raises",
            "syntax",
            "syntax of a function",
            "deleted",
            "liar",
            "object",
            "exits",
            "crashes",
            "sys.exit",
        ),
        *("real-time signal", "real-time signal in a cell", "large number"),
    ],
)
def test_whatever_an_answer_does_it_is_told(source, message, program, work, slot):
    """And the other answer keeps its points, as the shell is started again."""
    verdict = grade(program, work(loss=source), slot)

    assert points(verdict) == {"loss-tests": 0, "facts-tests": 1}
    assert message in messages(verdict)["loss-tests"]


def test_many_cells_that_each_end_in_time_have_a_limit_together(program, work, slot, monkeypatch):
    """Nine hundred cells just below their limit cost that of the notebook; the next hand-in is judged as ever."""
    slow = [("imports", f"import time; x = {number}; time.sleep(1.5)") for number in range(900)]
    with monkeypatch.context() as patched:
        patched.setattr(slot_module, "GRACE_S", 1.0)
        patched.setattr(slot, "limits", replace(slot.limits, notebook_s=6, cell_s=2))
        verdict = grade(program, work(*slow), slot)

    assert points(verdict) == {"loss-tests": 0, "facts-tests": 0}
    assert " 7 s" in next(flag.text for flag in verdict.flags if flag.kind == "limit")
    assert verdict.seconds < 60
    assert grade(program, work(), slot).points == 3


WRONG = "def loss(*_):\n    return 0.0"
CHANGED = {"imports": "import numpy as np\nimport math\nnp = None\n1 / 0"}
USES_MATH = "def loss(slope, offset, x, y):\n    return math.fsum((slope * x + offset - y) ** 2) / np.size(x)"


@pytest.mark.parametrize("below", [WRONG, "del loss, np", "np = None", "from numpy import *", "%reset -f"])
def test_a_cell_below_a_test_decides_nothing(program, work, slot, below):
    """Tests see the answers as they are bound where the tests stand, as in the notebook itself."""
    assert points(grade(program, work(("facts-tests", below)), slot)) == ALL


def test_a_cell_between_an_answer_and_its_test_decides(program, work, slot):
    """As in the notebook: the answer that the test sees is the wrong one."""
    assert points(grade(program, work(("facts", WRONG)), slot)) == {"loss-tests": 0, "facts-tests": 1}


def test_what_is_added_to_a_given_cell_is_there(program, work, slot):
    """A student's import in our cell of imports counts, and nothing that would change what the cell gives."""
    one = work(loss=USES_MATH)
    verdict = grade(program, replace(one, cells=replace(one.cells, changed=CHANGED)), slot)

    assert points(verdict) == ALL


def test_a_launch_that_hangs_says_where(program, work, slot, monkeypatch):
    """The stacks of ranks leave the sandbox: the message names the collective and the line of the student's cell."""
    monkeypatch.setitem(run_and_look.__kwdefaults__, "timeout_s", 4.0)
    lonely = (
        "import horovod.tensorflow as hvd\nimport tensorflow as tf\nimport time\ndef rank_facts():\n    hvd.init()\n"
        "    if hvd.rank() == 0:\n        hvd.allreduce(tf.constant(1.0))\n    time.sleep(3600)"
    )

    verdict = grade(program, work(facts=lonely), slot)

    assert points(verdict) == {"loss-tests": 2, "facts-tests": 0}
    assert "rank 0 waits in hvd.allreduce" in messages(verdict)["facts-tests"]


def test_output_is_kept_for_the_instructor(program, work, slot):
    """With a bound, and by cell."""
    verdict = grade(program, work(("imports", "print('x' * 10**6)")), slot)

    assert set(verdict.outputs) == {"imports + 1"}
    assert 1000 < len(verdict.outputs["imports + 1"]) <= 20_000


def test_the_next_student_finds_nothing(program, work, slot):
    """Files, processes and variables of one submission are gone before the next begins in the same slot."""
    leaves = "import os, pathlib, subprocess\npathlib.Path('/tmp/left').write_text('x')\n"
    seconds = f"3600.{os.getpid()}"  # that no other test run on this machine has
    leaves += f"subprocess.Popen(['setsid', 'sleep', '{seconds}'])\nos.environ['LEFT'] = '1'\nleft = 1"
    looks = "import os, pathlib, psutil\nfound = [str(p) for p in pathlib.Path('/tmp').rglob('left')]\n"
    looks += "def loss(*_):\n    return repr((found, os.environ.get('LEFT'), 'left' in globals()))"

    grade(program, work(("imports", leaves)), slot)
    verdict = grade(program, work(loss=looks), slot)

    assert "([], None, False)" in messages(verdict)["loss-tests"]
    assert not [one for one in psutil.process_iter(["cmdline"]) if seconds in (one.info["cmdline"] or [])]


# Cells on persistent ranks: in the sandbox they work as in a notebook, and cost nobody a point.
START = "%load_ext coursekit.ranks\n%ranks start -n 2"
SETUP = "%%ranks\nimport horovod.tensorflow as hvd, numpy as np\nhvd.init()\nmine = 10.0 ** hvd.rank()"
SUM = "%%ranks\nfloat(hvd.allreduce(np.float32(mine), op=hvd.Sum).numpy())"
HANGS = "%%ranks\nif hvd.rank() == 0:\n    hvd.broadcast(np.zeros(1), 0)"


def added(*cells):
    """Return cells that a student has added below the first one."""
    return [("imports", cell) for cell in cells]


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
