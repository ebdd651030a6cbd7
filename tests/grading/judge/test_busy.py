"""On a machine that has eight times more to do than it can, verdicts and their words are the usual ones."""

import subprocess
import sys
import time
from dataclasses import replace

import pytest

from coursekit import corrected_time
from coursekit.corrected_time import threads_of
from coursekit.errors import codes_in
from coursekit.grading.judge.pool_worker import grade

CELL_S = 2.0
CELLS = (
    ("loss", "print('before', flush=True)\nwhile True: pass"),
    ("loss", "import time\ntime.sleep(60)"),
    # Most of a cell's time when it runs alone; here it takes several times the deadline.
    ("loss", "import time\nwhile time.process_time() < 1.2: pass\nprint('done')"),
)


@pytest.fixture
def near(slot, monkeypatch):
    """The slot, with a deadline that work comes near to."""
    monkeypatch.setattr(slot, "limits", replace(slot.limits, cell_s=CELL_S))
    return slot


def test_a_machine_without_time_gives_no_verdict(program, work, slot, monkeypatch):
    """When the last resort in wall-clock time has passed, nobody knows: another run is needed, and no point is lost."""
    monkeypatch.setattr(corrected_time, "longest_wall_s", lambda _: 3.0)
    verdict = grade(program, work(("loss", "import time\ntime.sleep(60)")), slot)

    assert verdict.scores == ()
    assert ("machine.too-slow" in codes_in(verdict.fault), "3 s" in verdict.fault) == (True, True)


def test_deadlines_mean_the_same_on_a_busy_machine(program, work, near):
    """Right stays right though it takes longer than a deadline; endless loops and sleepers end, and cost no more."""
    loops = [subprocess.Popen([sys.executable, "-I", "-S", "-c", "while True: pass"]) for _ in range(16)]
    try:
        started = time.monotonic()
        verdict = grade(program, work(*CELLS), near, left_out=("facts-tests",))
        seconds = time.monotonic() - started
        wanted = [sum(thread.ran_s + thread.queued_s for thread in threads_of(loop.pid).values()) for loop in loops]
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()

    assert (verdict.fault, verdict.points) == ("", 2)
    assert [flag.text.partition(":")[0] for flag in verdict.flags if " 2 s" in flag.text] == [
        "cell loss + 1",
        "cell loss + 2",
    ]
    assert verdict.outputs["loss + 1"].startswith("before\n")  # then, as in a notebook, where it was interrupted
    assert verdict.outputs["loss + 3"] == "done\n"
    # The machine was busy indeed: each loop ran or stood in the queue. How much it ran depends on what others do.
    assert min(wanted) > seconds / 2
