"""Manual points: nbgrader's own formgrader, in a real Jupyter server, on what the judge recorded."""

import json

import nbformat
import pytest

from coursekit.course.collect import collect
from coursekit.course.export import read_grades
from coursekit.course.record import record
from coursekit.course.release import give_feedback
from coursekit.course.versions import read_submission

from .accounts import Account
from .conftest import NAME, RIGHT, filled, verdict

# One white pixel, and what another person could have drawn instead.
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
DRAWING = "PHN2ZyB4bWxucz0iaHR0cDovL3d3dy53My5vcmcvMjAwMC9zdmciLz4="


# nbgrader leaves a file open when it releases feedback.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_pictures_in_an_answer_reach_who_grades_it_and_who_gave_it(course, hand_in, tmp_path):
    """Pasted in JupyterLab, which attaches them, or in Colab, which writes them into the text; none with scripts."""
    notebook = filled(course, NAME, RIGHT)
    cell = next(cell for cell in notebook.cells if cell.id == "explain")
    cell.source = f"![a](attachment:7%20a.png) ![b](data:image/png;base64,{PIXEL}) ![c](attachment:c.svg)"
    cell.attachments = {name: {"image/png": PIXEL} for name in ("7 a.png", "odd.png")}
    cell.attachments["c.svg"] = {"image/svg+xml": DRAWING}
    hand_in(notebook=nbformat.writes(notebook).replace("odd.png", r"\ud800.png"))  # half of a pair
    collect(course, NAME)
    record(course, verdict(), read_submission(course, NAME, "ada"))

    with Account(tmp_path / "home", course.folder).formgrader("jupyter server") as ask:
        (row,) = json.loads(ask(f"api/submitted_notebooks/{NAME}/{NAME}"))
        pages = [ask(f"submissions/{row['id']}/?index=0"), give_feedback(course, NAME, "ada").page.read_text()]

    assert [(page.count(f"data:image/png;base64,{PIXEL}"), page.count(DRAWING)) for page in pages] == [(2, 0)] * 2


def test_a_person_grades_what_only_a_person_can(course, hand_in, tmp_path):
    """Formgrader lists the hand-in, shows answer and message without anything that runs, and takes the points."""
    answers = {**RIGHT, "explain": "Taken in turns. <script>alert(1)</script> [a](javascript:alert(2))"}
    hand_in(answers=answers)
    collect(course, NAME)
    message = "AssertionError: the shards of two ranks must be disjoint"
    record(course, verdict(points=(0, 1), messages=(message, "")), read_submission(course, NAME, "ada"))

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
