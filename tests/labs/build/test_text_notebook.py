"""Text notebooks are read with the lines of their cells, or refused with the line."""

from __future__ import annotations

import pytest

from coursekit.errors import CourseKitError
from coursekit.labs.build.text_notebook import read_text_notebook


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
