"""What students get: stubs instead of answers, no hidden tests, locked cells."""

from __future__ import annotations

import copy
import logging

import pytest

from coursekit.errors import CourseKitError
from coursekit.labs.build.build import source_notebook
from coursekit.labs.build.clear_solutions import release_notebook


def test_answers_become_stubs_and_hidden_tests_go(course, example):
    """The stub stands where the answer stood, indented as it was; everything else stays."""
    source = source_notebook(course.add_lab("01-a", example))
    before = copy.deepcopy(source)
    release = release_notebook("01-a", source)

    assert [cell.source for cell in release.cells] == [
        "# Doubling\n\nWrite a function.",
        "num_epochs = 1",
        'def double(number):\n    # about 2 lines\n    raise NotImplementedError("your answer goes here")',
        "assert double(2) == 4",
        "%%time\nprint(double(1))",
        "Why is it right?\n\n*Your answer goes here.*",
    ]
    assert source == before


def test_cells_are_locked_as_their_roles_say(course, example):
    """Students edit answers and free cells only; no role cell can be deleted; ids survive."""
    release = release_notebook("01-a", source_notebook(course.add_lab("01-a", example)))
    locks = {
        cell.id: (cell.metadata.get("editable", True), cell.metadata.get("deletable", True)) for cell in release.cells
    }

    assert locks == {
        "intro": (False, False),
        "01-a-2": (True, True),
        "double": (True, False),
        "double-tests": (False, False),
        "01-a-5": (True, True),
        "explain": (True, False),
    }


def test_a_manual_cell_without_a_region_is_all_answer(course):
    """Everything in it is replaced."""
    text = '# %% [markdown] role="manual" id="why" points=1\n# Because of the sum.\n\n# %%\nx = 1\n'
    release = release_notebook("01-a", source_notebook(course.add_lab("01-a", text)))

    assert [cell.source for cell in release.cells] == ["*Your answer goes here.*", "x = 1"]


def test_nbgrader_is_quiet(course, capfd, caplog):
    """Nothing is printed or logged when all is well."""
    caplog.set_level(logging.DEBUG)
    release_notebook("01-a", source_notebook(course.add_lab("01-a")))

    assert (capfd.readouterr(), caplog.records) == (("", ""), [])


def test_what_nbgrader_refuses_is_shown_with_its_log(course):
    """A notebook that our own checks would not let pass shows that nbgrader's reason is not lost."""
    source = source_notebook(course.add_lab("01-a"))
    source.cells[1].source = "### BEGIN SOLUTION\nx = 1\n### END SOLUTION"

    with pytest.raises(CourseKitError) as caught:
        release_notebook("01-a", source)

    first, *log = str(caught.value).splitlines()
    assert first == "nbgrader could not release 01-a; its log says:"
    assert any("Solution region detected in a non-solution cell" in line for line in log)
