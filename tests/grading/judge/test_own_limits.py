"""The judge's own limits: whatever an answer returns, judging it ends, within the memory that there is."""

import contextlib
import functools
import resource
import signal
import subprocess
import sys
import time

import pytest

from coursekit.grading.judge import pool_worker
from coursekit.grading.judge.pool_worker import JudgeTimeoutError, grade, own_limits
from coursekit.grading.submission.program import Part


def spin():
    """Use the processor for ever, as a check might that reads what an answer made, and catch what can be caught."""
    while True:
        with contextlib.suppress(Exception):  # as checks do
            while True:
                pass


def test_time_ends_what_catches_every_exception():
    """The processor's time counts, and afterwards the process is as before."""
    before = signal.getsignal(signal.SIGPROF), resource.getrlimit(resource.RLIMIT_DATA)
    with pytest.raises(JudgeTimeoutError), own_limits(max_cpu_s=0.2):
        spin()
    assert (signal.getsignal(signal.SIGPROF), resource.getrlimit(resource.RLIMIT_DATA)) == before
    assert signal.getitimer(signal.ITIMER_PROF) == (0.0, 0.0)


def test_time_ends_what_hears_no_signal():
    """Counting in C goes on whatever Python is told: the kernel ends the process, and its worker is started again."""
    code = (
        "from coursekit.grading.judge.pool_worker import own_limits\n"
        "with own_limits(max_cpu_s=0.2):\n    sum(range(10**18))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == -signal.SIGXCPU


def test_waiting_is_no_work():
    """Wall-clock time does not count."""
    with own_limits(max_cpu_s=0.2):
        time.sleep(0.5)


def test_memory_ends():
    """There is a `MemoryError` where more is asked for, and none afterwards."""
    with pytest.raises(MemoryError), own_limits(max_memory_bytes=64 << 20):
        bytearray(128 << 20)
    assert len(bytearray(128 << 20)) == 128 << 20


@pytest.mark.parametrize("reading", ["while True: pass", "bytearray(8 << 30)"])
def test_a_hand_in_that_takes_the_judge_too_long_gets_nothing_and_a_flag(program, work, slot, monkeypatch, reading):
    """No fault, since another run would be the same; the next hand-in in the slot is judged as ever."""
    judged = (Part("loss-tests", reading, points=2.0), *program.judged[1:])
    monkeypatch.setattr(pool_worker, "own_limits", functools.partial(own_limits, max_cpu_s=1.0))
    verdict = grade(type(program)(**{**vars(program), "judged": judged}), work(), slot)

    assert (verdict.fault, verdict.points, verdict.max_points) == ("", 0, 3)
    assert [flag.kind for flag in verdict.flags] == ["judge"]
    assert {score.message for score in verdict.scores} == {f"{pool_worker.TOO_MUCH}."}
    assert grade(program, work(), slot).points == 3
