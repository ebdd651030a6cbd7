"""Points of executed cells, compared with nbgrader's documented rule."""

from __future__ import annotations

import pytest
from nbformat import v4

from coursekit.errors import CourseKitError
from coursekit.labs.cells import CellScore
from coursekit.labs.points import score


def executed_test(*outputs, points=2, execution_count=1):
    """Return an executed test cell with these outputs."""
    nbgrader = {
        "grade": True,
        "grade_id": "the-tests",
        "locked": True,
        "points": points,
        "schema_version": 3,
        "solution": False,
        "task": False,
    }
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


def test_a_cell_without_error_earns_its_points():
    """Output on stdout is not a sign of failure."""
    printed = v4.new_output("stream", name="stdout", text="looks good\n")

    assert score_of(executed_test(printed)) == CellScore("the-tests", 2.0, 2.0, "")


@pytest.mark.parametrize("text", ["W tensorflow: no GPU\n", "\n", ""])
def test_text_on_stderr_never_costs_a_point(text):
    """TensorFlow's log lines, even an empty one, are not failures."""
    assert score_of(executed_test(stderr(text))) == CellScore("the-tests", 2.0, 2.0, "")


def test_an_error_costs_all_points_and_is_told():
    """A failing assertion earns 0 and its message is kept without colours, also after text on stderr."""
    cell = executed_test(stderr("W tensorflow\n"), error("AssertionError", "rank 1 has\nrank 0's shard"))

    assert score_of(cell) == CellScore("the-tests", 0.0, 2.0, "AssertionError: rank 1 has\nrank 0's shard")


def test_an_assertion_without_words_is_a_failure_too():
    """The bare name of the error is the message."""
    assert score_of(executed_test(error("AssertionError", ""))).message == "AssertionError"


def test_a_test_of_no_points_can_fail():
    """Passing is told apart from points."""
    assert not score_of(executed_test(error("AssertionError", "no"), points=0)).passed
    assert score_of(executed_test(points=0)).passed


def test_a_number_is_partial_credit():
    """The value of the last expression is taken as points, as nbgrader does, and named."""
    assert score_of(executed_test(result(0.5))) == CellScore("the-tests", 0.5, 2.0, "PartialCredit: 0.5 of 2 points")


def test_more_than_the_points_is_the_authors_mistake():
    """A value above the points of the cell is refused with the name of the cell."""
    with pytest.raises(CourseKitError, match="test cell 'the-tests' ends in a value"):
        score_of(executed_test(result(3)))


def test_a_cell_that_never_ran_earns_nothing():
    """Silence counts as success only where something was executed."""
    assert score_of(executed_test(execution_count=None)) == CellScore(
        "the-tests", 0.0, 2.0, "NotRun: this cell was not executed"
    )


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
