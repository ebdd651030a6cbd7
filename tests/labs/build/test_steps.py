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
    ("text", "line", "words"),
    [
        ("", 1, "start each cell, also the first, with `# %%`"),
        ("\nimport os\n# %%\n", 1, "start each cell, also the first, with `# %%`"),
        ('# %%\nx = """\n# %% [markdown]\n"""\n', 3, "this cell marker stands inside a text or a fenced block"),
    ],
)
def test_text_that_is_no_sequence_of_cells_is_refused(course, text, line, words):
    """The sentence names file and line."""
    with pytest.raises(CourseKitError, match=rf"^solutions/01-a/01-a\.py:{line}: {words}"):
        read_text_notebook(course.add_lab("01-a", text))


@pytest.mark.parametrize("tags", ['"parameters"', '[""]', '["a", "a"]', '["a,b"]'])
def test_ill_formed_tags_are_refused(course, tags):
    """The sentence shows the right form."""
    lab = course.add_lab("01-a", f'# %%\n# %% tags={tags} id="a"\nx = 1\n')

    with pytest.raises(CourseKitError, match=r"^solutions/01-a/01-a\.py: tags are a list of different words, such as"):
        read_text_notebook(lab)


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
        ('# %%\n\n# %% role="anwser" id="a"\n', 3, "unknown role 'anwser'; .* readonly, answer, tests, manual, quiz"),
        ('# %% role=["tests"] id="a"\n', 1, r"unknown role \['tests'\]"),
        ('# %% role="answer"\n', 1, 'a cell with the role answer needs an id, such as id="broadcast"'),
        ("# %% points=2\n", 1, "points need the role tests or manual"),
        ('# %% role="answer" id="a" points=2\n', 1, "a cell with the role answer earns no points"),
        ('# %% role="tests" id="a"\n', 1, POINTS_MISSING),
        ('# %% role="tests" id="a" points="2"\n', 1, POINTS_MISSING),
        ('# %% role="tests" id="a" points=true\n', 1, POINTS_MISSING),
        ('# %% [markdown] role="answer" id="a"\n', 1, "the role answer is for code cells, this is a markdown cell"),
        ('# %% [raw] role="readonly" id="a"\n', 1, "the role readonly is for markdown and code cells, .* raw cell"),
        ('# %% id="a b"\n', 1, BAD_ID),
        (f'# %% id="{65 * "a"}"\n', 1, BAD_ID),
        ("# %% id=7\n", 1, BAD_ID),
        ('# %% id="a"\n\n# %% id="b"\n\n# %% id="a"\n', 5, "the id 'a' is taken by the cell at line 1"),
        ('# %% role="answer" id="a"\nx = 1\n', 1, "a cell with the role answer needs a solution region"),
        (f"# %%{SOLUTION}", 1, "BEGIN SOLUTION is not allowed in a cell without a role"),
        (f'# %%\n# %% role="tests" id="a" points=1\n{SOLUTION}', 2, "BEGIN SOLUTION is not allowed .* role tests"),
        (
            f'# %% role="answer" id="a"{SOLUTION}{SOLUTION.replace("SOLUTION", "HIDDEN TESTS")}',
            1,
            "BEGIN HIDDEN TESTS is not allowed in a cell with the role answer",
        ),
        (
            '# %% [markdown] role="manual" id="a" points=1\n# Why?\n# ### BEGIN SOLUTION\n# So.\n',
            1,
            "BEGIN SOLUTION has no END SOLUTION",
        ),
        (f'# %% role="answer" id="a"\n# about 3 lines{SOLUTION}', 1, "the hint says about 3 lines, the solution has 1"),
    ],
)
def test_a_slip_is_refused_with_its_line(course, text, line, sentence):
    """The sentence begins with file and line; where jupytext cannot read a marker it shows the right form."""
    lab = course.add_lab("01-a", text)

    with pytest.raises(CourseKitError, match=rf"^solutions/01-a/01-a\.py:{line}: {sentence}"):
        source_notebook(lab)


def test_each_hint_speaks_of_the_region_after_it(course):
    """Two answers in one cell have a hint each; it may be off by one, and blank lines and comments do not count."""
    text = '# %% role="answer" id="a"\n# about 1 line{0}# about 4 lines{1}'
    long = SOLUTION.replace("x = 1", "# why\na = 1\n\nb = 2\nc = 3")
    assert source_notebook(course.add_lab("01-a", text.format(SOLUTION, long)))

    with pytest.raises(CourseKitError, match=r"01-a\.py:1: the hint says about 1 lines, the solution has 3"):
        source_notebook(course.add_lab("01-a", text.format(long, SOLUTION)))
