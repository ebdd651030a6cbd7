"""Manual points: nbgrader's own formgrader, in a real Jupyter server, on what the judge recorded."""

import json

from coursekit.course.collect import collect
from coursekit.course.export import read_grades
from coursekit.course.record import record
from coursekit.course.versions import read_hand_in

from .accounts import Account
from .conftest import NAME, RIGHT, verdict


def test_a_person_grades_what_only_a_person_can(course, hand_in, tmp_path):
    """Formgrader lists the hand-in, shows answer and message without anything that runs, and takes the points."""
    answers = {**RIGHT, "explain": "Taken in turns. <script>alert(1)</script> [a](javascript:alert(2))"}
    hand_in(answers=answers)
    collect(course, NAME)
    message = "AssertionError: the shards of two ranks must be disjoint"
    record(course, verdict(points=(0, 1), messages=(message, "")), read_hand_in(course, NAME, "ada"))

    with Account(tmp_path / "home", course.folder).formgrader("jupyter server") as ask:
        listed = {one["student"]: one for one in json.loads(ask(f"api/submissions/{NAME}"))}
        (notebook,) = json.loads(ask(f"api/submitted_notebooks/{NAME}/{NAME}"))
        page = ask(f"submissions/{notebook['id']}/?index=0")
        grades = {one["name"]: one for one in json.loads(ask(f"api/grades?submission_id={notebook['id']}"))}
        ask(f"api/grade/{grades['explain']['id']}", {"manual_score": 3})

    assert [listed["ada"][key] for key in ("score", "max_score", "needs_manual_grade")] == [1, 7, True]
    assert "Taken in turns." in page
    assert "the shards of two ranks must be disjoint" in page
    assert "<script>alert(1)</script>" not in page
    assert "javascript:alert(2)" not in page
    (ada,) = (one for one in read_grades(course).students if one.id == "ada")
    assert (dict(ada.points), ada.num_waiting) == ({NAME: 4.0}, 0)
