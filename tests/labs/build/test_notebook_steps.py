"""Text notebooks are read with the lines of their cells; what an author wrote wrongly is refused with the line."""

from __future__ import annotations

import pytest

from coursekit.errors import CourseKitError
from coursekit.labs.build.build import source_notebook
from coursekit.labs.build.text_notebook import read_text_notebook

SOLUTION = "\n### BEGIN SOLUTION\nx = 1\n### END SOLUTION\n"


def cells(notebook) -> list[tuple[str, str, int]]:
    """Return kind, text and the marker's line of each cell."""
    return [(c.cell_type, c.source, c.metadata.marker_line) for c in notebook.cells]


def test_each_cell_knows_its_line(course):
    """Lines are those of the file, whatever blank lines, quotes and commented magics stand before the text."""
    lab = course.add_lab(
        "01-a",
        '# %% [markdown]\n# # Title\n#\n# text\n\n\n# %%\n\n\n# %%ranks 2\nprint(1)\n# %% [markdown]\n"""\n'
        'quoted\n"""\n# %%\n# %% [markdown] id="x"\n# last',
    )

    assert cells(read_text_notebook(lab)) == [
        ("markdown", "# Title\n\ntext", 1),
        ("code", "%%ranks 2\nprint(1)", 7),
        ("markdown", "quoted", 12),
        ("code", "", 16),
        ("markdown", "last", 17),
    ]


def test_commented_magics_are_in_force_and_comments_stay_comments(course):
    """A source is valid Python for linters, and no comment becomes a command because of its first word."""
    code = "# %%ranks 2\n# %timeit x\nif x:\n    # !ls -l\n# copy the weights\n# cat\n# 50 % of it\n# ! note"
    lab = course.add_lab("01-a", f"# %%\n{code}\n# %% [markdown]\n# # %%ranks\n")
    notebook = read_text_notebook(lab)

    assert [cell.source for cell in notebook.cells] == [
        "%%ranks 2\n%timeit x\nif x:\n    !ls -l\n# copy the weights\n# cat\n# 50 % of it\n# ! note",
        "# %%ranks",
    ]


@pytest.mark.parametrize(
    ("text", "place", "code"),
    [
        ("", ":1", "cell.no-marker"),
        ("\nimport os\n# %%\n", ":1", "cell.no-marker"),
        ('# %%\nx = """\n# %% [markdown]\n"""\n', ":3", "cell.marker-inside"),
        *(
            (f'# %%\n# %% tags={tags} id="a"\n', "", "cell.tags")
            for tags in ('"parameters"', '[""]', '["a", "a"]', '["a,b"]')
        ),
    ],
)
def test_text_that_is_no_sequence_of_cells_is_refused(course, text, place, code):
    """The message names the file, and the line if it is known."""
    with pytest.raises(CourseKitError, match=rf"^solutions/01-a/01-a\.py{place}: ") as caught:
        read_text_notebook(course.add_lab("01-a", text))

    assert caught.value.code == code


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


@pytest.mark.parametrize(
    ("text", "line", "code"),
    [
        ('# %%\n# %% rôle="answer"\n', 2, "cell.marker"),
        ('# %% role="answer" id=double\n', 1, "cell.marker"),
        ('# %% name="x"\n', 1, "cell.unknown-attribute"),
        ('# %%\n\n# %% role="anwser" id="a"\n', 3, "role.unknown"),
        ('# %% role=["tests"] id="a"\n', 1, "role.unknown"),
        ('# %% role="answer"\n', 1, "role.no-id"),
        ("# %% points=2\n", 1, "cell.points"),
        ('# %% role="answer" id="a" points=2\n', 1, "cell.points"),
        ('# %% role="tests" id="a"\n', 1, "role.no-points"),
        ('# %% role="tests" id="a" points="2"\n', 1, "role.no-points"),
        ('# %% role="tests" id="a" points=true\n', 1, "role.no-points"),
        ('# %% [markdown] role="answer" id="a"\n', 1, "role.cell-type"),
        ('# %% [raw] role="readonly" id="a"\n', 1, "role.cell-type"),
        ('# %% id="a b"\n', 1, "cell.id"),
        (f'# %% id="{65 * "a"}"\n', 1, "cell.id"),
        ("# %% id=7\n", 1, "cell.id"),
        ('# %% id="a"\n\n# %% id="b"\n\n# %% id="a"\n', 5, "cell.id-twice"),
        ('# %% role="answer" id="a"\nx = 1\n', 1, "region.missing"),
        (f"# %%{SOLUTION}", 1, "region.not-allowed"),
        (f'# %%\n# %% role="tests" id="a" points=1\n{SOLUTION}', 2, "region.not-allowed"),
        (
            f'# %% role="answer" id="a"{SOLUTION}{SOLUTION.replace("SOLUTION", "HIDDEN TESTS")}',
            1,
            "region.not-allowed",
        ),
        (
            '# %% [markdown] role="manual" id="a" points=1\n# Why?\n# ### BEGIN SOLUTION\n# So.\n',
            1,
            "region.no-end",
        ),
        (f'# %% role="answer" id="a"\n# about 3 lines{SOLUTION}', 1, "hint.size"),
    ],
)
def test_a_mistake_is_refused_with_its_line(course, text, line, code):
    """The message begins with file and line."""
    lab = course.add_lab("01-a", text)

    with pytest.raises(CourseKitError, match=rf"^solutions/01-a/01-a\.py:{line}: ") as caught:
        source_notebook(lab)

    assert caught.value.code == code


def test_each_hint_speaks_of_the_region_after_it(course):
    """Two answers in one cell have a hint each; it may be off by one, and blank lines and comments do not count."""
    text = '# %% role="answer" id="a"\n# about 1 line{0}# about 4 lines{1}'
    long = SOLUTION.replace("x = 1", "# why\na = 1\n\nb = 2\nc = 3")
    assert source_notebook(course.add_lab("01-a", text.format(SOLUTION, long)))

    with pytest.raises(CourseKitError, match=r"01-a\.py:1: .* 1 .* 3.*\[hint\.size\]"):
        source_notebook(course.add_lab("01-a", text.format(long, SOLUTION)))
