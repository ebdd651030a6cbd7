"""What an author writes in a marker becomes nbgrader's metadata, or is refused with file and line."""

from __future__ import annotations

import pytest

from coursekit.errors import CourseKitError
from coursekit.labs.build.build import source_notebook

SOLUTION = "\n### BEGIN SOLUTION\nx = 1\n### END SOLUTION\n"


def nbgrader(grade_id: str, **changes: object) -> dict:
    """Return nbgrader's metadata, schema 3, with these changes from a cell that means nothing to it."""
    nothing = {"grade": False, "locked": False, "schema_version": 3, "solution": False, "task": False}
    return {"grade_id": grade_id, **nothing, **changes}


def test_roles_become_metadata(course, example):
    """Ids, tags and points arrive where Jupyter, papermill and nbgrader look for them, and nothing else does."""
    notebook = source_notebook(course.add_lab("01-a", example))

    assert [(cell.cell_type, cell.id, cell.metadata) for cell in notebook.cells] == [
        ("markdown", "intro", {"nbgrader": nbgrader("intro", locked=True)}),
        ("code", "01-a-2", {"tags": ["parameters"]}),
        ("code", "double", {"nbgrader": nbgrader("double", solution=True)}),
        ("code", "double-tests", {"nbgrader": nbgrader("double-tests", grade=True, locked=True, points=2)}),
        ("code", "01-a-5", {}),
        ("markdown", "explain", {"nbgrader": nbgrader("explain", grade=True, solution=True, points=0.5)}),
    ]
    assert (notebook.nbformat, notebook.nbformat_minor, notebook.metadata) == (
        4,
        5,
        {
            "coursekit": {"generated_from": "solutions/01-a/01-a.py"},
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
        },
    )


def test_a_cell_may_have_an_id_without_a_role(course):
    """An ordinary cell keeps the name its author gave it."""
    notebook = source_notebook(course.add_lab("01-a", '# %% id="plot" tags=["wide"]\nx = 1\n'))

    assert [(cell.id, cell.metadata) for cell in notebook.cells] == [("plot", {"tags": ["wide"]})]


UNREADABLE = r'this marker cannot be read; write it as `# %% role="answer" id="name"`, with tags, role, id, points'
POINTS_MISSING = r"a cell with the role \w+ needs points above 0, such as points=2"
BAD_ID = r"the id .* is not 1 to 64 letters, digits, `-` or `_`"


@pytest.mark.parametrize(
    ("text", "line", "sentence"),
    [
        ('# %%\n# %% rôle="answer"\n', 2, UNREADABLE),
        ('# %% role="answer" id=double\n', 1, UNREADABLE),
        ('# %% name="x"\n', 1, r"unknown attribute\(s\) \['name'\] .* allowed are tags, role, id, points"),
        ("# %% A title\n", 1, r"unknown attribute\(s\) \['title'\]"),
        ('# %%\n\n# %% role="anwser" id="a"\n', 3, "unknown role 'anwser'; .* readonly, answer, tests, manual, quiz"),
        ('# %% role=["tests"] id="a"\n', 1, r"unknown role \['tests'\]"),
        ('# %% role="answer"\n', 1, 'a cell with the role answer needs an id, such as id="broadcast"'),
        ("# %% points=2\n", 1, "points need the role tests or manual"),
        ('# %% role="answer" id="a" points=2\n', 1, "a cell with the role answer earns no points"),
        ('# %% role="readonly" id="a" points=0\n', 1, "a cell with the role readonly earns no points"),
        ('# %% role="tests" id="a"\n', 1, POINTS_MISSING),
        ('# %% role="tests" id="a" points=0\n', 1, POINTS_MISSING),
        ('# %% role="tests" id="a" points="2"\n', 1, POINTS_MISSING),
        ('# %% role="tests" id="a" points=true\n', 1, POINTS_MISSING),
        ('# %% [markdown] role="manual" id="a"\n', 1, POINTS_MISSING),
        ('# %% [markdown] role="answer" id="a"\n', 1, "the role answer is for code cells, this is a markdown cell"),
        ('# %% [raw] role="readonly" id="a"\n', 1, "the role readonly is for markdown and code cells, .* raw cell"),
        ('# %% id="a b"\n', 1, BAD_ID),
        (f'# %% id="{65 * "a"}"\n', 1, BAD_ID),
        ("# %% id=7\n", 1, BAD_ID),
        ('# %% id="a"\n\n# %% id="b"\n\n# %% id="a"\n', 5, "the id 'a' is taken by the cell at line 1"),
        ('# %% id="01-a-2"\n\n# %%\n', 3, "this cell's own id would be '01-a-2', which is taken"),
        ('# %% role="answer" id="a"\nx = 1\n', 1, "a cell with the role answer needs a solution region"),
        (f"# %%{SOLUTION}", 2, "BEGIN SOLUTION is not allowed in a cell without a role"),
        (f'# %%\n# %% role="tests" id="a" points=1\n{SOLUTION}', 4, "BEGIN SOLUTION is not allowed .* role tests"),
        (f'# %% role="readonly" id="a"{SOLUTION}', 2, "BEGIN SOLUTION is not allowed .* role readonly"),
        (
            f'# %% role="answer" id="a"{SOLUTION}{SOLUTION.replace("SOLUTION", "HIDDEN TESTS")}',
            6,
            "BEGIN HIDDEN TESTS is not allowed in a cell with the role answer",
        ),
        (
            '# %% [markdown] role="manual" id="a" points=1\n# Why?\n# ### BEGIN SOLUTION\n# So.\n',
            3,
            "BEGIN SOLUTION has no END SOLUTION",
        ),
        (f'# %% role="answer" id="a"\n# about 3 lines{SOLUTION}', 2, "the hint says about 3 lines, the solution has 1"),
        (f'# %% role="answer" id="a"{SOLUTION}# About 1 line of code.\n', 5, "no solution region follows this hint"),
    ],
)
def test_a_slip_is_refused_with_its_line(course, text, line, sentence):
    """The sentence begins with file and line; where jupytext cannot read a marker it shows the right form."""
    lab = course.add_lab("01-a", text)

    with pytest.raises(CourseKitError, match=rf"^solutions/01-a/01-a\.py:{line}: {sentence}"):
        source_notebook(lab)


@pytest.mark.parametrize("hint", ["# about 1 line", "# Write it here (about 2 lines).", "# about 3 lines"])
def test_a_hint_may_be_off_by_one(course, hint):
    """Blank lines and comments in the answer do not count."""
    region = "### BEGIN SOLUTION\n# why\nx = 1\n\ny = 2\n### END SOLUTION\n"

    assert source_notebook(course.add_lab("01-a", f'# %% role="answer" id="a"\n{hint}\n{region}'))


def test_each_hint_speaks_of_the_region_after_it(course):
    """Two answers in one cell have a hint each."""
    text = '# %% role="answer" id="a"\n# about 1 line{0}# about 4 lines{1}'
    long = SOLUTION.replace("x = 1", "a = 1\nb = 2\nc = 3\nd = 4")
    assert source_notebook(course.add_lab("01-a", text.format(SOLUTION, long)))

    with pytest.raises(CourseKitError, match=r"01-a\.py:2: the hint says about 1 lines, the solution has 4"):
        source_notebook(course.add_lab("01-a", text.format(long, SOLUTION)))
