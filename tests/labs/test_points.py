"""Points of executed cells, compared with nbgrader's documented rule."""

from __future__ import annotations

import pytest
from nbformat import v4

from coursekit.errors import CourseKitError
from coursekit.labs.cells import CellScore
from coursekit.labs.points import score


def executed_test(*outputs, points=2, execution_count=1):
    """Return an executed test cell with these outputs."""
    nbgrader = {"grade": True, "grade_id": "the-tests", "points": points, "solution": False}
    return v4.new_code_cell(
        "assert True", outputs=list(outputs), execution_count=execution_count, metadata={"nbgrader": nbgrader}
    )


def score_of(cell):
    """Return the one score of a notebook with this cell alone."""
    (only,) = score(v4.new_notebook(cells=[cell]))
    return only


def stderr(text):
    """Return text on the error stream."""
    return v4.new_output("stream", name="stderr", text=text)


def error(name, value):
    """Return an exception with colours in its message, as IPython prints them."""
    return v4.new_output("error", ename=name, evalue=f"\x1b[31m{value}\x1b[0m", traceback=["..."])


def result(value):
    """Return the value of a cell's last expression."""
    return v4.new_output("execute_result", data={"text/plain": repr(value)})


@pytest.mark.parametrize(
    ("cell", "points", "message"),
    [
        (executed_test(v4.new_output("stream", name="stdout", text="looks good\n")), 2.0, ""),
        (executed_test(stderr("W tensorflow: no GPU\n")), 2.0, ""),
        (executed_test(stderr("\n")), 2.0, ""),
        (executed_test(stderr("")), 2.0, ""),
        (executed_test(stderr("W\n"), error("AssertionError", "rank 1\nhas")), 0.0, "AssertionError: rank 1\nhas"),
        (executed_test(error("AssertionError", "")), 0.0, "AssertionError"),
        (executed_test(result(0.5)), 0.5, "PartialCredit: 0.5 of 2 points"),
        (executed_test(execution_count=None), 0.0, "NotRun: this cell was not executed"),
    ],
)
def test_points_of_a_cell(cell, points, message):
    """Errors cost all, and are told without colours; text never does, not TensorFlow's log; a number is the points."""
    assert score_of(cell) == CellScore("the-tests", points, 2.0, message)


def test_a_test_of_no_points_can_fail():
    """Passing is told apart from points."""
    assert not score_of(executed_test(error("AssertionError", "no"), points=0)).passed
    assert score_of(executed_test(points=0)).passed


def test_more_than_the_points_is_the_authors_mistake():
    """A value above the points of the cell is refused with the name of the cell."""
    with pytest.raises(CourseKitError, match="test cell 'the-tests' ends in a value"):
        score_of(executed_test(result(3)))


def test_only_test_cells_are_scored():
    """Answers, prose and cells that people grade have no score here."""
    answer = executed_test()
    answer.metadata.nbgrader.update(grade=False, solution=True)
    by_hand = executed_test()
    by_hand.metadata.nbgrader.update(solution=True)
    notebook = v4.new_notebook(cells=[v4.new_markdown_cell("text"), v4.new_code_cell("1"), answer, by_hand])

    assert score(notebook) == ()


def test_the_notebook_keeps_its_outputs():
    """Scoring looks; it does not clean."""
    notebook = v4.new_notebook(cells=[executed_test(stderr("kept\n"))])

    score(notebook)

    assert notebook.cells[0].outputs[0].text == "kept\n"
