"""Banks of answers are read strictly, and every mistake is named with its file and line."""

import re
from pathlib import Path

import nbformat
import pytest

from coursekit.errors import CourseKitError
from workshop.answers.answer_bank import BankAnswer, load_bank

BLOCK = """\
# /// answer
# title = "Every rank takes the first half"
#
# [fails]
# shard-tests = ["disjoint"]
# mean-tests = []
# ///
"""

RIGHT = """\
# /// answer
# title = "Another way"
# ///
"""

CELL = """
# %% role="answer" id="shard"
def shard(x, rank, size):
    return x[: len(x) // size]
"""

CHANGES = """
# %% role="changes" id="shard"
"""

# The lines of the solution's cell, as in conftest.py.
DEFINITION = "def shard(x, rank, size):"
DOCSTRING = '    """Return the part of `x` that belongs to this rank (about 1 line)."""'
RETURN = "    return x[rank::size]"


def test_answers_are_read_whole(bank, source):
    """Title, tests that must fail with their words, and the cells' new sources, sorted by name."""
    second = '# %% role="answer" id="mean"\nimport statistics\n\nmean = statistics.fmean\n'
    bank("same-half", BLOCK + CELL + "\n" + second)
    bank("fmean", f'# /// answer\n# title = "A library"\n# ///\n\n{second}')

    answers = load_bank(bank.folder, source)

    mean = "import statistics\n\nmean = statistics.fmean"
    assert answers == (
        BankAnswer("fmean", "A library", {}, {"mean": mean}),
        BankAnswer(
            "same-half",
            "Every rank takes the first half",
            {"shard-tests": ("disjoint",), "mean-tests": ()},
            {"shard": "def shard(x, rank, size):\n    return x[: len(x) // size]", "mean": mean},
        ),
    )


def test_the_documented_examples_are_answers(bank, source):
    """What tests/answers/README.md shows can be copied as it stands: a block with changes, and a whole cell."""
    readme = Path(__file__).parents[2] / "answers" / "README.md"
    changes, whole = re.findall(r"```python\n(.*?)```", readme.read_text(), re.DOTALL)
    notebook = nbformat.read(source, as_version=4)
    (cell,) = (cell for cell in notebook.cells if RETURN in cell.source)
    cell.source = "def shard(x, y):\n    mine = slice(hvd.rank(), None, hvd.size())\n    return x[mine], y[mine]"
    nbformat.write(notebook, source)
    bank("changes", changes.replace("train-tests", "mean-tests"))
    bank("whole", RIGHT + "\n" + whole)

    changed, answered = load_bank(bank.folder, source)

    assert changed.fails == {"shard-tests": ("disjoint",), "mean-tests": ("shard", "union")}
    mine = "    mine = slice(hvd.local_rank(), None, hvd.local_size())"
    assert changed.cells == {"shard": f"def shard(x, y):\n{mine}\n    return x[mine], y[mine]"}
    assert answered.cells == {"shard": "def shard(x, y):\n    return x, y"}


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        (  # a line replaced: nothing of the rest is repeated
            "# -    return x[rank::size]\n# +    return x[: len(x) // size]\n",
            [DEFINITION, DOCSTRING, "    return x[: len(x) // size]"],
        ),
        (f"# -{DOCSTRING}\n", [DEFINITION, RETURN]),
        (f"#  {RETURN}\n# +\n# +\n# +last = 1\n", [DEFINITION, DOCSTRING, RETURN, "", "", "last = 1"]),
        (
            f"# +import math\n#  {DEFINITION}\n\n\n# -{RETURN}\n# +    return x\n",
            ["import math", DEFINITION, DOCSTRING, "    return x"],
        ),
    ],
    ids=["replaced", "deleted", "inserted", "two changes"],
)
def test_changes_are_made_to_the_solution(bank, source, changes, expected):
    """Old lines give their place to new ones; all others are the solution's, without the marks of its region."""
    bank("changed", BLOCK + CHANGES + changes)

    assert load_bank(bank.folder, source)[0].cells == {"shard": "\n".join(expected)}


def test_magics_are_read_as_in_the_solution(bank, source):
    """A commented magic becomes one and a comment stays one, as the builder does for the lab itself."""
    head = '# /// answer\n# title = "M"\n# ///\n'
    bank("magic", head + '# %% role="answer" id="mean"\n# %time 1\n# copy the weights\nx = 1\n')

    assert load_bank(bank.folder, source)[0].cells == {"mean": "%time 1\n# copy the weights\nx = 1"}


def test_an_empty_bank_is_refused(bank, source):
    """A folder without answers is a mistake, not a success."""
    with pytest.raises(CourseKitError, match=re.escape(f"{bank.folder} holds no answers")):
        load_bank(bank.folder, source)


@pytest.mark.parametrize(
    ("text", "line", "sentence"),
    [
        ("", 1, "from the line '# /// answer'"),
        (BLOCK.replace("# /// answer", "# /// script") + CELL, 1, "from the line '# /// answer'"),
        (BLOCK.removesuffix("# ///\n") + CELL, 1, "to the line '# ///'"),
        (BLOCK.replace('["disjoint"]', "disjoint") + CELL, None, "line 5"),
        (BLOCK.replace("#\n", '# verdict = "wrong"\n') + CELL, None, "['verdict']; allowed are title, fails, con"),
        (BLOCK.replace("Every rank takes the first half", " ") + CELL, None, "title must not be empty"),
        (RIGHT.replace("# ///\n", "# fails = 1\n# ///\n") + CELL, None, "fails must be a table"),
        (
            BLOCK.replace('# shard-tests = ["disjoint"]\n# mean-tests = []\n', "") + CELL,
            None,
            "fails must not be empty",
        ),
        (BLOCK.replace("mean-tests", "median-tests") + CELL, None, "median-tests; its tests are shard-tests, mean-"),
        (BLOCK.replace('["disjoint"]', '"disjoint"') + CELL, None, "[fails]: shard-tests must be a list"),
        (BLOCK.replace('"disjoint"', "") + CELL, None, "must say something"),
        (BLOCK.replace("#\n", '# consequences = ["mean-tests"]\n') + CELL, None, "mean-tests must fail"),
        (BLOCK, 7, "must follow the block"),
        (BLOCK + "x = 1\n" + CELL, 8, "must follow the block"),
        (BLOCK + CELL.replace('"shard"', '"chart"'), 9, "no answer cell 'chart'; it has shard, mean"),
        (BLOCK + CELL.replace(' id="shard"', ""), 9, "a cell here is code and its marker"),
        (BLOCK + CELL.replace("%% role", "%% [markdown] role"), 9, "a cell here is code and its marker"),
        (BLOCK + CELL + CELL, 13, "the cell 'shard' is answered twice"),
        (BLOCK + CELL + CHANGES + f"# -{RETURN}\n", 13, "the cell 'shard' is answered twice"),
        (BLOCK + CELL + '\n# %% role="answer" id="mean"\n\n', 13, "this answer is empty"),
        (BLOCK + CHANGES, 9, "this answer is empty"),
        (BLOCK + CHANGES + f"# -{RETURN}\nreturn 1\n", 11, "a line here begins with '# -' (old)"),
        (
            BLOCK + CHANGES + "# -    return x[rank :: size]\n",
            10,
            "must stand once in the solution's cell, not 0 times",
        ),
        (
            BLOCK + CHANGES + f"\n# -{DEFINITION}\n# -{RETURN}\n",
            11,
            "must stand once in the solution's cell, not 0 times",
        ),
        (BLOCK + CHANGES + f"# -{RETURN}\n\n# -{DOCSTRING}\n", 12, "keep the solution's order"),
        (BLOCK + CHANGES + f"# -{RETURN}\n\n#  {RETURN}\n# +    x\n", 12, "keep the solution's order"),
        (BLOCK + CHANGES + f"#  {RETURN}\n", 10, "this changes nothing"),
    ],
)
def test_mistakes_are_named_with_file_and_line(bank, source, text, line, sentence):
    """Nothing that is unknown, missing or contradictory passes; what is wrong in the block is named by its key."""
    path = bank("mistake", text)

    with pytest.raises(CourseKitError) as caught:
        load_bank(bank.folder, source)

    assert str(caught.value).startswith(f"{path}:{line}: " if line else str(path))
    assert sentence in str(caught.value)


def test_lines_that_stand_twice_need_more_around_them(bank, source):
    """A change whose old lines stand in two places is refused; with a line of context it has its place."""
    notebook = nbformat.read(source, as_version=4)
    (cell,) = (cell for cell in notebook.cells if RETURN in cell.source)
    cell.source = "a = 1\nx = 2\nb = 1\nx = 2"
    nbformat.write(notebook, source)

    path = bank("mistake", RIGHT + CHANGES + "# -x = 2\n# +x = 3\n")
    with pytest.raises(
        CourseKitError, match=re.escape(f"{path}:6: these old lines must stand once in the solution's cell, not 2")
    ):
        load_bank(bank.folder, source)

    bank("mistake", RIGHT + CHANGES + "#  b = 1\n# -x = 2\n# +x = 3\n")
    assert load_bank(bank.folder, source)[0].cells == {"shard": "a = 1\nx = 2\nb = 1\nx = 3"}
