"""The grading benchmark: a short version runs for real, and verdicts are compared with what they must be."""

import pytest

from coursekit.errors import CourseKitError
from workshop.bench.generated_class import GeneratedSubmission
from workshop.bench.grading import AGAIN, CLASS_VARIABLE, KIT, NBGRADER, class_size, is_right, measure_grading


@pytest.mark.needs("bwrap")
def test_a_small_class_is_graded_by_both(monkeypatch):
    """A right and a wrong hand-in of lab 01 get their points from both graders."""
    monkeypatch.setenv(CLASS_VARIABLE, "2 01")
    said = []
    measured = measure_grading(1, said.append)
    assert "1 right, 1 wrong" in measured.remarks[0]
    assert [(way, right) for way, _, _, right, *_ in measured.rows[1:]] == [
        (way, "2 of 2") for way in (KIT, AGAIN, NBGRADER)
    ]
    assert 0.1 < float(measured.rows[1][-1]) < 6  # GB
    assert len(said) == len(measured.rows)  # writing the class, then each grader


@pytest.mark.parametrize(
    ("points", "right"),
    [
        ({"a": (2.0, 2.0), "b": (0.0, 3.0), "c": (1.0, 1.0)}, True),
        ({"a": (2.0, 2.0), "b": (0.0, 3.0), "c": (None, 1.0)}, True),  # c may be either
        ({"a": (1.0, 2.0), "b": (0.0, 3.0), "c": (1.0, 1.0)}, False),
        ({"a": (2.0, 2.0), "b": (3.0, 3.0), "c": (1.0, 1.0)}, False),
        ({"a": (2.0, 2.0), "b": (None, 3.0), "c": (1.0, 1.0)}, False),  # left without points
        ({}, False),
    ],
)
def test_a_verdict_is_right_when_every_test_has_its_points(points, right):
    """Points are (given, most); what passes gets all, what fails gets a 0, and no points are neither."""
    made = GeneratedSubmission("student-01", "01-sgd", "wrong", "for a test", frozenset({"a"}), frozenset({"b"}))
    assert is_right(points, made) is right


def test_the_size_of_the_class_is_a_number_and_labs():
    """Anything else is a sentence with an example."""
    assert class_size("24 01 02") == (24, ["01", "02"])
    for text in ("", "24", "0 01", "many 01"):
        with pytest.raises(CourseKitError, match=r"bench.class-size"):
            class_size(text)
