"""The launch benchmarks: every way really runs, a failing one is said, and many ranks are counted one by one."""

import time
from contextlib import ExitStack, suppress

import psutil
import pytest

from coursekit.errors import CourseKitError
from workshop.bench.caller import WAYS
from workshop.bench.launch import ask, caller_of, measure_curve


@pytest.mark.parametrize("way", sorted(WAYS))
def test_every_way_gives_the_right_sum_and_its_seconds(way, monkeypatch):
    """Callers check the result of each call, and a surrounding launcher's variables do not reach them."""
    monkeypatch.setenv("HOROVOD_RANK", "5")
    monkeypatch.setenv("OMPI_COMM_WORLD_SIZE", "9")
    with caller_of(way) as caller:
        assert ask(way, caller) > 0.01


def test_a_caller_that_dies_is_said():
    """The message names the way and what to do."""
    with ExitStack() as stack:
        caller = stack.enter_context(caller_of("horovodrun"))
        process_of_caller().kill()
        stack.enter_context(
            pytest.raises(CourseKitError, match=r"calls horovodrun ended without a result: run `coursekit")
        )
        ask("horovodrun", caller)


def process_of_caller():
    """Return it; for a moment after its start a process has no command line."""
    while not (found := [one for one in psutil.Process().children() if is_caller(one)]):
        time.sleep(0.01)
    (process,) = found
    return process


def is_caller(process):
    """Say whether a process is that of a caller."""
    with suppress(psutil.NoSuchProcess):  # it has ended, or is a zombie
        return "workshop.bench.caller" in process.cmdline()
    return False


def test_each_number_of_ranks_has_its_times():
    """Calls are made in turns, the first of each apart, and the seconds are shared out among the ranks."""
    said = []
    measured = measure_curve(1, said.append, (1, 3))
    assert said == ["1 ranks, first call", "3 ranks, first call", "1 ranks, turn 1 of 1", "3 ranks, turn 1 of 1"]
    assert [(one.name, one.num_ranks, len(one.seconds)) for one in measured.series] == [("1", 1, 1), ("3", 3, 1)]
    assert all(one.median_s > 0.01 for one in measured.series)
