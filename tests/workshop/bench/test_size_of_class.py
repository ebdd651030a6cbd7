"""The benchmark of the instructor's commands: a class of two goes its whole way, from the exchange to feedback."""

import pytest

from coursekit.errors import CourseKitError
from workshop.bench.size_of_class import SIZES_VARIABLE, STEPS, measure_sizes


@pytest.mark.needs("bwrap")
def test_a_class_of_two_goes_its_whole_way(monkeypatch):
    """Every command ends well and is measured; those that write a page or a table have its size."""
    monkeypatch.setenv(SIZES_VARIABLE, "2")
    said = []
    measured = measure_sizes(1, said.append)
    rows = measured.rows[1:]
    assert [row[:2] for row in rows] == [(step, "2") for step in STEPS]
    assert len(said) == len(STEPS)
    with_page = {row[0] for row in rows if row[-1]}
    assert with_page == {"grade", "grade again, unchanged", "status and its page", "export"}
    assert all(0 < float(cpu_s) < 100 and float(memory_mb) > 10 for _, _, _, cpu_s, memory_mb, *_ in rows)


def test_sizes_are_numbers(monkeypatch):
    """Anything else is a sentence with an example."""
    for text in ("", "many", "30 0"):
        monkeypatch.setenv(SIZES_VARIABLE, text)
        with pytest.raises(CourseKitError, match=r"bench.sizes"):
            measure_sizes(1, print)
