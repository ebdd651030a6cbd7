"""The launch benchmarks: every way really runs, a failing one is said, and many ranks are counted one by one."""

import sys

import pytest

from coursekit.errors import CourseKitError
from workshop.bench import stacks
from workshop.bench.launch import measure_curve
from workshop.bench.programs import times
from workshop.bench.things import WAYS


@pytest.mark.parametrize("way", sorted(WAYS))
def test_every_way_gives_the_right_sum_and_its_seconds(way, monkeypatch):
    """Each call's result is checked, and a surrounding launcher's variables do not reach it."""
    monkeypatch.setenv("HOROVOD_RANK", "5")
    monkeypatch.setenv("OMPI_COMM_WORLD_SIZE", "9")
    (seconds,) = times("calls", way, "1").values()
    assert len(seconds) == 2
    assert min(seconds) > 0.01


def test_a_program_that_fails_is_said():
    """The message has what the program said."""
    with pytest.raises(CourseKitError, match=r"(?s)KeyError: 'by hand'.*bench.program-failed"):
        times("calls", "by hand", "1")


def test_each_number_of_ranks_has_its_times():
    """Calls are made in turns, the first of each apart, and the seconds are shared out among the ranks."""
    said = []
    measured = measure_curve(1, said.append, (1, 3))
    assert said == ["1 ranks, first call", "3 ranks, first call", "1 ranks, turn 1 of 1", "3 ranks, turn 1 of 1"]
    assert [(one.name, one.num_ranks, len(one.seconds)) for one in measured.series] == [("1", 1, 1), ("3", 3, 1)]
    assert all(one.median_s > 0.01 for one in measured.series)


def test_both_tensorflows_are_compared_by_their_medians():
    """A thing is done in a process of each; above 1 the newer one is slower."""
    seconds = {"2.15": {"import": [2.0, 9.0, 1.0]}, "2.21": {}}
    for _ in range(3):
        stacks.add_times(seconds["2.21"], sys.executable, ("import", ""), ("import",))
    ((name, old_s, _, ratio, times_measured),) = stacks.stack_rows(seconds)[1:]
    assert (name, old_s, times_measured) == ("import", "2.000", "3")
    assert float(ratio) > 0.1
