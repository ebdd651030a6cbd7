"""*Run All* in the students' notebook: errors do not stop it, the report lists every check, and graders see all."""

from __future__ import annotations

import nbformat
import papermill
import pytest
from nbclient import NotebookClient
from nbgrader.validator import Validator
from papermill.exceptions import PapermillExecutionError

from coursekit.labs.build.build import build_release, source_notebook
from coursekit.labs.cells import GOES_ON
from coursekit.labs.nbgrader_settings import nbgrader_settings
from coursekit.labs.points import score

LAB = """\
# %% id="imports" role="readonly"
from coursekit.checks import check, hand_in_report, require

# %% role="answer" id="double"
def double(number):
    # about 1 line
    ### BEGIN SOLUTION
    return 2 * number
    ### END SOLUTION

# %% role="tests" id="double-tests" points=2
with check("double", section="1"):
    require(double(2) == 4, f"twice 2: expected 4, got {double(2)}")

# %% role="readonly" id="picture" tags=["picture"]
print("twice 21 is", double(21))

# %% role="answer" id="half"
def half(number):
    # about 1 line
    ### BEGIN SOLUTION
    return number / 2
    ### END SOLUTION

# %% role="tests" id="half-tests" points=0.5
with check("half", section="2"):
    require(half(2) == 1, "no half")

# %% role="tests" id="third-tests" points=1
with check("third", section="3"):
    require(half(6) == 3, "no third")

# %% role="readonly" id="report"
hand_in_report()
"""


@pytest.fixture
def release(course):
    """Return the released lab with one of its two answers."""
    path = build_release(course.root, [course.add_lab("01-a", LAB)])["01-a"]
    notebook = nbformat.read(path, as_version=4)
    next(cell for cell in notebook.cells if cell.id == "half").source = "def half(number):\n    return number / 2"
    nbformat.write(notebook, path)
    return path


def test_every_check_is_in_the_report_of_a_lab(course):
    """The builder tells the report the name and the points of each check, in their order."""
    notebook = source_notebook(course.add_lab("01-a", LAB))

    assert notebook.cells[-1].source == 'hand_in_report({\n    "double": 2,\n    "half": 0.5,\n    "third": 1,\n})'


def test_cells_from_the_first_answer_on_may_fail(course):
    """What no answer can break still stops the notebook; only the students' version has the marks."""
    lab = course.add_lab("01-a", LAB)
    path = build_release(course.root, [lab])["01-a"]
    tags = {cell.id: cell.metadata.get("tags", []) for cell in nbformat.read(path, as_version=4).cells}

    assert tags["imports"] == []
    assert tags["picture"] == ["picture", *GOES_ON]
    assert all(list(GOES_ON) == tags[name] for name in ("double", "double-tests", "half-tests", "report"))
    assert not any(set(GOES_ON) & set(cell.metadata.get("tags", [])) for cell in source_notebook(lab).cells)


def test_run_all_goes_on_to_the_report(release):
    """A stub fails its check and its picture; what does not need it runs, and the report counts all."""
    notebook = nbformat.read(release, as_version=4)
    next(cell for cell in notebook.cells if cell.id == "third-tests").source = ""
    NotebookClient(notebook, timeout=300).execute()
    outputs = {cell.id: cell.outputs for cell in notebook.cells}

    assert [output.ename for name in ("double-tests", "picture") for output in outputs[name]] == [
        "CheckError",
        "NotImplementedError",
    ]
    assert outputs["report"][0].text.splitlines() == [
        "✗ double (2 points): not answered yet (double)",
        "✓ half (0.5 points)",
        "· third (1 point): not run",
        "",
        "1 of 3 checks passed.",
        "Here these are 0.5 of 3.5 points; grading tries further cases.",
    ]
    assert [(one.grade_id, one.points) for one in score(notebook)] == [
        ("double-tests", 0),
        ("half-tests", 0.5),
        ("third-tests", 0),
    ]


def test_validate_and_papermill_see_the_failures(release, tmp_path, monkeypatch):
    """Validate names the failed cell, and papermill ends with an error after it has run all."""
    monkeypatch.chdir(release.parent)
    found = Validator(config=nbgrader_settings()).validate(release.name)

    assert [failed["error"].splitlines()[-1] for failed in found["failed"]] == [
        "CheckError: double: not answered yet (double) → section 1"
    ]

    with pytest.raises(PapermillExecutionError):
        papermill.execute_notebook(release, tmp_path / "out.ipynb", progress_bar=False)
    executed = nbformat.read(tmp_path / "out.ipynb", as_version=4)

    assert "2 of 3 checks passed." in executed.cells[-1].outputs[0].text
