"""Points of executed cells, compared with nbgrader's documented rule, and the settings that every course needs."""

from copy import deepcopy
from pathlib import Path

import pytest
from jupyter_core.paths import jupyter_config_path
from nbformat import v4
from nbgrader.apps import NbGrader
from nbgrader.preprocessors import Execute, IgnorePattern, OverwriteCells

from coursekit.course.nbgrader_config import student_config
from coursekit.errors import CourseKitError
from coursekit.labs.cells import CellScore
from coursekit.labs.points import nbgrader_settings, score

ROOT = Path(__file__).parents[2]


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
    """Errors cost all, and are told without colours; text never does, not TensorFlow's log; a number is the points.

    Answers, prose and cells that people grade have no score; the notebook keeps its outputs.
    """
    answer, by_hand = executed_test(), executed_test()
    answer.metadata.nbgrader.update(grade=False, solution=True)
    by_hand.metadata.nbgrader.update(solution=True)
    notebook = v4.new_notebook(cells=[v4.new_markdown_cell("text"), v4.new_code_cell("1"), answer, by_hand, cell])
    before = deepcopy(notebook)
    assert (score(notebook), notebook) == ((CellScore("the-tests", points, 2.0, message),), before)


def test_more_than_the_points_is_the_authors_mistake():
    """A value above the points of the cell is refused with the name of the cell."""
    with pytest.raises(CourseKitError, match=r"'the-tests'.*\[points\.too-many\]"):
        score_of(executed_test(result(3)))


def test_nbgrader_takes_every_setting():
    """Each name in the settings is a trait of nbgrader's own class with that value, so that none is a misspelling."""
    config = nbgrader_settings()

    assert set(config) == {"Execute", "IgnorePattern", "OverwriteCells"}
    for part in (Execute, IgnorePattern, OverwriteCells):
        configured = part(config=config)
        wanted = dict(config[part.__name__])
        assert {name: getattr(configured, name) for name in wanted} == wanted


def nbgrader_with(settings, monkeypatch):
    """Return what nbgrader's Validate is configured with, in a server that has these folders in its path."""
    monkeypatch.setenv("JUPYTER_CONFIG_PATH", settings)
    app = NbGrader()
    app.config_file_paths.append(jupyter_config_path())  # as its pages in JupyterLab do
    app.load_config_file()
    return app.config


def test_validate_in_make_lab_has_them(monkeypatch):
    """`make lab` names a folder whose settings nbgrader finds."""
    settings = "src/coursekit/jupyter/settings"
    config = nbgrader_with(str(ROOT / settings), monkeypatch)

    assert f"$(CURDIR)/{settings}" in (ROOT / "students" / "Makefile").read_text()
    assert {part: config[part] for part in nbgrader_settings()} == nbgrader_settings()


def test_validate_on_a_hub_has_them(tmp_path, monkeypatch):
    """What students' servers read has the same limits, and needs nothing of this package."""
    text = student_config("course", tmp_path / "exchange")
    (tmp_path / "nbgrader_config.py").write_text(text)
    config = nbgrader_with(str(tmp_path), monkeypatch)

    assert "coursekit" not in text
    assert (config.Execute, config.IgnorePattern) == (nbgrader_settings().Execute, nbgrader_settings().IgnorePattern)
