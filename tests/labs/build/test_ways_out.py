"""Ways out are folded into the exercises that lab.toml names, and lead on to the points of later ones."""

from __future__ import annotations

import re
from dataclasses import replace

import nbformat
import pytest
from nbclient import NotebookClient

from coursekit.errors import CourseKitError
from coursekit.labs.build.build import build_release, source_notebook
from coursekit.labs.points import score

LAB = """\
# %% id="imports" role="readonly"
from coursekit.checks import check, hand_in_report, require

# %% [markdown] role="readonly" id="double-text"
# Write `double`.

# %% role="answer" id="double"
def double(number):
    # about 1 line
    ### BEGIN SOLUTION
    return 2 * number
    ### END SOLUTION

# %% role="tests" id="double-tests" points=2
with check("double", section="1"):
    require(double(2) == 4, f"twice 2: expected 4, got {double(2)}")

# %% role="answer" id="four-times"
def four_times(number):
    # about 1 line
    ### BEGIN SOLUTION
    return double(double(number))
    ### END SOLUTION

# %% role="tests" id="four-times-tests" points=3
with check("four times", section="2"):
    require(four_times(1) == 4, f"four times 1: expected 4, got {four_times(1)}")
"""


def test_a_piece_leads_on_without_its_points(course):
    """In the students' notebook the lines of the text do for an answer; its own check gives nothing, the next does."""
    lab = replace(course.add_lab("01-a", LAB), ways_out=("double",))
    notebook = nbformat.read(build_release(course.root, [lab])["01-a"], as_version=4)
    cells = {cell.id: cell for cell in notebook.cells}
    cells["double"].source = re.search(r"```python\n(.*?)\n```", cells["double-text"].source, re.DOTALL)[1]
    cells["four-times"].source = "def four_times(number):\n    return double(double(number))"
    NotebookClient(notebook, timeout=120).execute()

    assert [(one.grade_id, one.points) for one in score(notebook)] == [("double-tests", 0), ("four-times-tests", 3)]
    assert "taken from the solution" in score(notebook)[0].message


def test_an_exercise_has_a_way_out_only_when_the_lab_names_it(course):
    """Instructors choose."""
    lab = course.add_lab("01-a", LAB)

    assert not any("Stuck?" in cell.source for cell in source_notebook(lab).cells)
    with pytest.raises(CourseKitError, match=r"'treble', which is no answer .* double, four-times"):
        source_notebook(replace(lab, ways_out=("treble",)))
