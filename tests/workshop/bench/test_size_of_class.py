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
    assert {step: list(sizes) for step, sizes in measured.steps.items()} == {step: ["2"] for step in STEPS}
    assert len(said) == len(STEPS)
    with_page = {step for step, sizes in measured.steps.items() if sizes["2"].page_mb}
    assert with_page == {"grade", "grade again, unchanged", "status and its page", "export"}
    assert all(
        0 < one.cpu_s < 100 and one.peak_memory_mb > 10 for sizes in measured.steps.values() for one in sizes.values()
    )


def test_sizes_are_numbers(monkeypatch):
    """Anything else is a sentence with an example."""
    for text in ("", "many", "30 0"):
        monkeypatch.setenv(SIZES_VARIABLE, text)
        with pytest.raises(CourseKitError, match='such as "30 300"'):
            measure_sizes(1, print)
