"""The grading benchmark: a short version runs for real, and its record becomes the same tables everywhere."""

from __future__ import annotations

import json

import pytest
from rich.console import Console

from coursekit.cli import bench as command
from coursekit.cli.readme import grading_tables
from coursekit.errors import CourseKitError
from coursekit.lecture.bench.grading import AGAIN, CLASS_VARIABLE, KIT, NBGRADER, class_size, measure_grading
from coursekit.lecture.bench.grading_class import is_right
from coursekit.lecture.bench.grading_tables import all_rows, remarks
from coursekit.lecture.bench.made_class import MadeHandIn

RECORD = {
    "title": "grading 6 hand-ins over labs 01",
    "num_hand_ins": 6,
    "kinds": {"right": 2, "wrong": 4},
    "num_slots": 2,
    "cell_limit_s": 60,
    "ways": {
        "kit": {"seconds": 36.0, "num_right": 6},
        "kit again": {"seconds": 4.0, "num_right": 6},
        "nbgrader": {"seconds": 180.0, "num_right": 5},
    },
    "peak_memory_gb": 1.234,
    "slots": [
        {
            "lab": "01-sgd",
            "plain_s": [2.0, 1.0, 9.0],
            "walled_s": [2.5, 2.25, 2.75],
            "hang_limit_s": 5.0,
            "hanging_s": [7.0, 6.5],
        }
    ],
}


@pytest.mark.needs("bwrap")
def test_a_small_class_is_graded_by_both(monkeypatch):
    """A right and a wrong hand-in of lab 01 get their points from both graders, and a hang ends."""
    monkeypatch.setenv(CLASS_VARIABLE, "2 01")
    said = []
    measured = measure_grading(1, said.append)
    assert measured.kinds == {"right": 1, "wrong": 1}
    assert {way: graded.num_right for way, graded in measured.ways.items()} == {KIT: 2, AGAIN: 2, NBGRADER: 2}
    assert all(graded.seconds > 0 for graded in measured.ways.values())
    assert 0.1 < measured.peak_memory_gb < 6
    (slot,) = measured.slots
    assert (slot.lab, len(slot.plain_s), len(slot.walled_s), len(slot.hanging_s)) == ("01-sgd", 1, 1, 1)
    assert slot.hanging_s[0] > slot.hang_limit_s
    assert said[0] == "2 hand-ins are made"

    record = json.loads(json.dumps(measured.as_json()))
    assert all_rows(record)[0][1][0] == KIT
    console = Console(width=120)
    with console.capture() as capture:
        command.show(measured, console)
    assert NBGRADER in capture.get()


def test_the_readme_shows_the_record():
    """Speed is hand-ins per minute and against nbgrader's; the overhead is of medians, a hang the longest."""
    by_class, in_slots, words = grading_tables(RECORD)
    assert by_class.splitlines() == [
        "| grading 6 hand-ins over labs 01 | total s | per minute | right verdicts | times as fast | GB of a slot |",
        "| --- | ---: | ---: | ---: | ---: | ---: |",
        "| kit | 36 | 10.0 | 6 of 6 | 5.0 | 1.2 |",
        "| kit again | 4 | 90.0 | 6 of 6 | 45.0 |  |",
        "| nbgrader | 180 | 2.0 | 5 of 6 | 1.0 |  |",
    ]
    assert in_slots.splitlines() == [
        "| one hand-in in a warm slot | no walls s | bubblewrap s | overhead s | one that hangs s | beyond limit s |",
        "| --- | ---: | ---: | ---: | ---: | ---: |",
        "| 01-sgd | 2.00 | 2.50 | 0.50 | 7.00 | 2.00 |",
    ]
    assert words.splitlines() == [
        "The class: 2 right, 4 wrong; with both graders a cell may take 60 s.",
        "`coursekit grade` starts cold and has 2 slots in bubblewrap.",
        "nbgrader has the kit's settings and no sandbox, and grades one hand-in after the other, as it does.",
        "A hand-in that was left without points has no right verdict.",
        "The one that hangs does so in its first answer, whose limit is 5 s.",
    ]
    assert grading_tables(None) == []


def test_without_labs_in_slots_there_is_one_table():
    """A class of lab 03 alone has no warm slots to tell of."""
    record = {**RECORD, "slots": []}
    assert len(all_rows(record)) == 1
    assert len(remarks(record)) == 4


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
    made = MadeHandIn("student-01", "01-sgd", "wrong", "for a test", frozenset({"a"}), frozenset({"b"}))
    assert is_right(points, made) is right


def test_the_size_of_the_class_is_a_number_and_labs():
    """Anything else is a sentence with an example."""
    assert class_size("24 01 02") == (24, ["01", "02"])
    for text in ("", "24", "0 01", "many 01"):
        with pytest.raises(CourseKitError, match='such as "4 01", not'):
            class_size(text)
