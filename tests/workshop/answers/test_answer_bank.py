"""Banks of answers are read strictly, and every mistake is named with its file and line."""

import re
from pathlib import Path

import nbformat
import pytest

from coursekit.errors import CourseKitError
from workshop.answers.answer_bank import BankAnswer, load_bank

HALF = """\
# %% same-half
# title = "Every rank takes the first half"
# fails.shard-tests = ["shards.overlap"]
# fails.mean-tests = []
"""

RIGHT = """\
# %% another-way
# title = "Another way"
"""

CELL = """\
def shard(x, rank, size):
    return x[: len(x) // size]
"""

# The lines of the solution's cell, as in conftest.py.
DEFINITION = "def shard(x, rank, size):"
DOCSTRING = '    """Return the part of `x` that belongs to this rank (about 1 line)."""'
RETURN = "    return x[rank::size]"


def test_answers_are_read_whole(bank, source):
    """Title, tests that must fail with their codes, and the cells' new sources, sorted by name over all files."""
    mean = "import statistics\n\nmean = statistics.fmean"
    bank("shard", f'{HALF}{CELL}\n# %% id="mean"\n{mean}\n\n\n{RIGHT}\n# half\n{CELL}')
    bank("mean", f'# %% fmean\n# title = "A library"\n# consequences = ["shard-tests"]\n\n{mean}\n')

    assert load_bank(bank.folder, source) == (
        BankAnswer("another-way", "Another way", {}, {"shard": f"# half\n{CELL}".strip()}),
        BankAnswer("fmean", "A library", {}, {"mean": mean}, frozenset({"shard-tests"})),
        BankAnswer(
            "same-half",
            "Every rank takes the first half",
            {"shard-tests": ("shards.overlap",), "mean-tests": ()},
            {"shard": CELL.strip(), "mean": mean},
        ),
    )


def test_the_documented_examples_are_answers(bank, source):
    """What tests/answers/README.md shows can be copied as it stands: a file of two answers, and a further cell."""
    readme = Path(__file__).parents[2] / "answers" / "README.md"
    answers, further = re.findall(r"```python\n(.*?)```", readme.read_text(), re.DOTALL)
    notebook = nbformat.read(source, as_version=4)
    (cell,) = (cell for cell in notebook.cells if RETURN in cell.source)
    cell.source = "def shard(x, y):\n    mine = slice(hvd.rank(), None, hvd.size())\n    return x[mine], y[mine]"
    nbformat.write(notebook, source)
    bank("shard", (answers + further).replace("train-tests", "mean-tests").replace("average", "mean"))

    changed, whole = load_bank(bank.folder, source)

    assert (changed.name, whole.name) == ("shard-by-local-rank", "shard-keeps-all")
    assert changed.fails == {"shard-tests": ("shards.overlap",), "mean-tests": ("shards.overlap",)}
    mine = "    mine = slice(hvd.local_rank(), None, hvd.local_size())"
    assert changed.cells == {"shard": f"def shard(x, y):\n{mine}\n    return x[mine], y[mine]"}
    assert whole.cells["shard"] == "def shard(x, y):\n    return x, y"
    assert whole.cells["mean"].startswith("def mean(")


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
    bank("shard", HALF + changes)

    assert load_bank(bank.folder, source)[0].cells == {"shard": "\n".join(expected)}


def test_magics_are_read_as_in_the_solution(bank, source):
    """A commented magic becomes one and a comment stays one, as the builder does for the lab itself."""
    bank("mean", RIGHT + "# %time 1\n# copy the weights\nx = 1\n")

    assert load_bank(bank.folder, source)[0].cells == {"mean": "%time 1\n# copy the weights\nx = 1"}


def test_an_empty_bank_is_refused(bank, source):
    """A folder without answers is a mistake, not a success."""
    with pytest.raises(CourseKitError) as caught:
        load_bank(bank.folder, source)

    assert caught.value.code == "bank.empty"


@pytest.mark.parametrize(
    ("text", "line", "code"),
    [
        ("x = 1\n" + HALF + CELL, 1, "bank.no-name"),
        (HALF.replace('["shards.overlap"]', "shards.overlap") + CELL, 1, "bank.no-toml"),
        (HALF.replace("# fails.mean-tests = []", '# verdict = "wrong"') + CELL, 1, "'verdict'"),
        (HALF.replace("Every rank takes the first half", " ") + CELL, 1, "title"),
        (RIGHT + "# fails = 1\n" + CELL, 1, "fails"),
        (HALF.replace("mean-tests", "median-tests") + CELL, 1, "bank.no-test"),
        (HALF.replace('"shards.overlap"', "") + CELL, 1, "bank.no-code"),
        (HALF.replace("shards.overlap", "not disjoint") + CELL, 1, "bank.odd-code"),
        (HALF + '# consequences = ["mean-tests"]\n' + CELL, 1, "bank.two-verdicts"),
        (HALF, 1, "bank.blank"),
        (HALF + "\n\n" + RIGHT + CELL, 1, "bank.blank"),
        (HALF + CELL + '\n# %% id="mean"\n\n', 1, "bank.blank"),
        (HALF + CELL + "\n" + HALF + CELL, 8, "bank.name-twice"),
        (HALF + CELL + '\n# %% id="chart"\nx = 1\n', 8, "bank.no-cell"),
        (HALF + CELL + '\n# %% [markdown] id="mean"\nx = 1\n', 8, "bank.odd-marker"),
        (HALF + CELL + '\n# %% id="mean" role="answer"\nx = 1\n', 8, "bank.odd-cell"),
        (HALF + '# %% id="shard"\n' + CELL, 5, "bank.odd-cell"),
        (HALF + CELL + '\n# %% id="shard"\n' + CELL, 8, "bank.cell-twice"),
        (HALF + f"# -{RETURN}\nreturn 1\n", 6, "bank.odd-line"),
        (HALF + "# -    return x[rank :: size]\n", 5, "bank.not-once"),
        (HALF + f"\n# -{DEFINITION}\n# -{RETURN}\n", 6, "bank.not-once"),
        (HALF + f"# -{RETURN}\n\n# -{DOCSTRING}\n", 7, "bank.order"),
        (HALF + f"# -{RETURN}\n\n#  {RETURN}\n# +    x\n", 7, "bank.order"),
        (HALF + f"#  {RETURN}\n", 5, "bank.no-change"),
    ],
)
def test_mistakes_are_named_with_file_and_line(bank, source, text, line, code):
    """Nothing that is unknown, missing or contradictory passes; a fault in the facts has the line of the name."""
    path = bank("shard", text)

    with pytest.raises(CourseKitError) as caught:
        load_bank(bank.folder, source)

    assert str(caught.value).startswith(f"{path}:{line}")
    assert code in str(caught.value)


def test_lines_that_stand_twice_need_more_around_them(bank, source):
    """A change whose old lines stand in two places is refused; with a line of context it has its place."""
    notebook = nbformat.read(source, as_version=4)
    (cell,) = (cell for cell in notebook.cells if RETURN in cell.source)
    cell.source = "a = 1\nx = 2\nb = 1\nx = 2"
    nbformat.write(notebook, source)

    path = bank("shard", RIGHT + "# -x = 2\n# +x = 3\n")
    with pytest.raises(CourseKitError, match=re.escape(f"{path}:3: ")) as caught:
        load_bank(bank.folder, source)
    assert caught.value.code == "bank.not-once"

    bank("shard", RIGHT + "#  b = 1\n# -x = 2\n# +x = 3\n")
    assert load_bank(bank.folder, source)[0].cells == {"shard": "a = 1\nx = 2\nb = 1\nx = 3"}
