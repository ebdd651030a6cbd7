"""Quizzes and ways out: what the builder adds to a lab helps students, and gives no points away."""

import re
from dataclasses import replace

import nbformat
import pytest
from nbclient import NotebookClient
from nbgrader.validator import Validator

from coursekit.errors import CourseKitError, codes_in
from coursekit.grading.submission.cells import find_answers
from coursekit.grading.submission.program import read_program
from coursekit.grading.submission.students_files import parse_notebook
from coursekit.labs.build.build import build_release, source_notebook
from coursekit.labs.points import nbgrader_settings, score

QUIZ = """\
# %% [markdown] role="quiz" id="even"
# Which number is even?
#
# - [ ] one
#   It has a remainder
#   when you halve it.
# - [x] *two*
#   Half of it is one.
# - [ ] three
#   One more than an even one.
"""
WITH_QUIZ = f"""{QUIZ}
# %% role="answer" id="double"
def double(number):
    # about 1 line
    ### BEGIN SOLUTION
    return 2 * number
    ### END SOLUTION

# %% role="tests" id="double-tests" points=2
assert double(2) == 4
"""


def last_line(notebook):
    """Return what the quiz of an executed notebook has told."""
    return next(cell for cell in notebook.cells if cell.id == "even-choice").outputs[0].text.replace("\n", " ").strip()


@pytest.fixture
def lab(course):
    """Return a lab with a quiz."""
    return course.add_lab("01-a", WITH_QUIZ)


@pytest.fixture
def release(course, lab):
    """Return where the students' notebook lies."""
    return build_release(course.root, [lab])["01-a"]


def test_the_solution_has_chosen_well(lab):
    """Its text is locked, its cell is open; run, it says why."""
    notebook = source_notebook(lab)
    text, choice = notebook.cells[:2]
    NotebookClient(notebook, timeout=900, startup_timeout=900, iopub_timeout=900).execute()

    assert text.source.splitlines() == [
        "**Quiz, without points.** Which number is even?",
        "",
        "- **A.** one",
        "- **B.** *two*",
        "- **C.** three",
    ]
    assert (text.metadata.nbgrader.locked, "nbgrader" in choice.metadata) == (True, False)
    assert re.fullmatch("✓ B.*Half of it is one.", last_line(notebook))


def test_students_choose_and_lose_nothing(release):
    """Nothing is chosen in their notebook, nothing can be read in it, and without a choice all cells run."""
    notebook = nbformat.read(release, as_version=4)
    NotebookClient(notebook, timeout=900, startup_timeout=900, iopub_timeout=900).execute()

    assert not any(word in release.read_text(encoding="utf-8") for word in ("remainder", "Half of it", "One more"))
    assert "[quiz.no-choice]" in last_line(notebook)
    notebook.cells[1].source = notebook.cells[1].source.replace('""', '"a"')
    NotebookClient(notebook, timeout=900, startup_timeout=900, iopub_timeout=900).execute()

    assert re.fullmatch("✗ A.*It has a remainder when you halve it.", last_line(notebook))
    assert [(one.grade_id, one.points) for one in score(notebook)] == [("double-tests", 0)]


def test_no_grader_minds_a_choice(release, lab, monkeypatch):
    """Validate sees no failure in it, the sandbox explains nothing, and the report says nothing of it."""
    released = nbformat.read(release, as_version=4)
    notebook = nbformat.read(release, as_version=4)
    notebook.cells[1].source = notebook.cells[1].source.replace('""', '"a"')
    notebook.cells[2].source = "def double(number):\n    return number + number"
    nbformat.write(notebook, release)
    monkeypatch.chdir(release.parent)
    found = find_answers(parse_notebook(release.read_bytes()), released)
    program = read_program("01-a", source_notebook(lab))

    assert Validator(config=nbgrader_settings()).validate(release.name) == {}
    assert (found.extra, found.notes, found.flags) == ((), (), ())
    assert [part.source for part in program.run if part.name == "even-choice"] == ["from coursekit.quiz import explain"]
    assert "even-choice" not in [part.name for part in program.judged]


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        ("[x]", "[ ]", "quiz.not-one-right"),
        ("- [ ] one", "- [x] one", "quiz.not-one-right"),
        ("Which number is even?", "", "quiz.num-choices"),
        ("# - [ ] three\n#   One more than an even one.", "", "quiz.num-choices"),
        ("#   Half of it", "# Half of it", "quiz.no-explanation"),
        ("- [ ] three", "- [X] three", "quiz.no-explanation"),
        (' id="even"', "", "role.no-id"),
    ],
)
def test_an_authors_mistake_is_told(course, old, new, code):
    """With file and line, and before anything is built."""
    with pytest.raises(CourseKitError) as caught:
        source_notebook(course.add_lab("01-a", QUIZ.replace(old, new)))

    assert str(caught.value).startswith("solutions/01-a/01-a.py:1: ")
    assert caught.value.code == code


TWO_ANSWERS = """\
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
    lab = replace(course.add_lab("01-a", TWO_ANSWERS), ways_out=("double",))
    notebook = nbformat.read(build_release(course.root, [lab])["01-a"], as_version=4)
    cells = {cell.id: cell for cell in notebook.cells}
    cells["double"].source = re.search(r"```python\n(.*?)\n```", cells["double-text"].source, re.DOTALL)[1]
    cells["four-times"].source = "def four_times(number):\n    return double(double(number))"
    NotebookClient(notebook, timeout=900, startup_timeout=900, iopub_timeout=900).execute()

    assert [(one.grade_id, one.points) for one in score(notebook)] == [("double-tests", 0), ("four-times-tests", 3)]
    assert codes_in(score(notebook)[0].message) == ["answer.taken"]


def test_an_exercise_has_a_way_out_only_when_the_lab_names_it(course):
    """Instructors choose."""
    lab = course.add_lab("01-a", TWO_ANSWERS)

    assert not any("Stuck?" in cell.source for cell in source_notebook(lab).cells)
    with pytest.raises(CourseKitError, match=r"'treble'.* double, four-times.*\[lab\.no-such-answer\]"):
        source_notebook(replace(lab, ways_out=("treble",)))
