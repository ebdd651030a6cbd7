"""A lab parted in cells for the sandbox and cells for the judge, and a student's cells put among them."""

import shutil
import textwrap

import nbformat
import pytest

from coursekit.grading.submission.cells import Cells
from coursekit.grading.submission.program import Part, cells_to_run, kit_digest, read_program
from coursekit.paths import PACKAGE

LAB = "01-small"


def cell(name, source, *, solution=False, points=None, tags=()):
    """Return a code cell with nbgrader's metadata."""
    made = nbformat.v4.new_code_cell(textwrap.dedent(source).strip(), id=name)
    made.metadata["tags"] = list(tags)
    if solution or points is not None:
        grade = points is not None
        made.metadata["nbgrader"] = {"grade_id": name, "solution": solution, "grade": grade, "schema_version": 3}
        made.metadata.nbgrader.update({"points": points} if grade else {})
    return made


@pytest.fixture(scope="module")
def program():
    """A lab with every kind of cell."""
    cells = [
        nbformat.v4.new_markdown_cell("# A lab", id="title"),
        cell("parameters", "num_ranks = 2", tags=["parameters"]),
        cell(
            "imports",
            "import math\nimport numpy as np\nfrom coursekit.checks import check, pieces\nfrom os import path",
        ),
        cell("draw", "import json\n\ndef draw(x):\n    return x\n\nprint(draw(answer))", tags=["picture"]),
        cell("magic", "%load_ext coursekit.ranks"),
        cell("answer-cell", "def answer(x):\n    return x", solution=True),
        cell("trial", "found = pieces.try_it(answer)\nprint(found)"),
        cell("tests", "with check('a', section='1'):\n    assert math.isclose(found, num_ranks)", points=2),
        cell("report", "print(found)"),
    ]
    return read_program(LAB, nbformat.v4.new_notebook(cells=cells))


def test_cells_are_parted_by_what_they_use(program):
    """Tests, and what uses the checks or what came of them, are the judge's; the rest runs with the answers."""
    assert program.run == (
        Part("parameters", "num_ranks = 2"),
        Part("imports", "import math\nimport numpy as np\n\nfrom os import path"),
        Part("draw", "import json\n\ndef draw(x):\n    return x"),
        Part("magic", "%load_ext coursekit.ranks"),
        Part("answer-cell", "def answer(x):\n    return x", is_answer=True),
    )
    assert [(part.name, part.points) for part in program.judged] == [("trial", None), ("tests", 2.0), ("report", None)]


def test_the_judge_knows_imports_and_parameters(program):
    """Of the instructor's imports those that the judge's cells use, and the numbers of the run."""
    assert program.known.split("\n") == ["from coursekit.checks import check, pieces", "import math", "num_ranks = 2"]


def test_a_students_cells_stand_where_they_stood(program):
    """Answers take the places of the instructor's, added cells follow the cell that they followed, text or code.

    Of each of the judge's cells those come first that stand above it; a changed given cell only defines, before ours.
    """
    added = (("", "a"), ("title", "t"), ("tests", "b"), ("draw", "c"), ("report", "d"), ("report", "e"))
    changed = {"parameters": "num_ranks = 3\nnum_steps = 4"}
    own = Cells({"answer-cell": "answer = abs", "tests": "cheat"}, added, changed)

    steps = [(cells, part and part.name) for cells, part in cells_to_run(program, own)]
    assert steps == [
        (
            [
                ("top + 1", "a", False),
                ("title + 1", "t", False),
                ("parameters (changed)", "num_ranks = 3\nnum_steps = 4", True),
                ("parameters", "num_ranks = 2", False),
                ("imports", "import math\nimport numpy as np\n\nfrom os import path", False),
                ("draw", "import json\n\ndef draw(x):\n    return x", False),
                ("draw + 1", "c", False),
                ("magic", "%load_ext coursekit.ranks", False),
                ("answer-cell", "answer = abs", False),
            ],
            "trial",
        ),
        ([], "tests"),
        ([("tests + 1", "b", False)], "report"),
        ([("report + 1", "d", False), ("report + 2", "e", False)], None),
    ]


def test_a_deleted_answer_is_not_the_instructors(program):
    """Who deletes the cell gets no solution in its place."""
    steps = cells_to_run(program, Cells())
    assert "answer-cell" not in [cell.name for cells, _ in steps for cell in cells]


def test_equal_work_has_one_digest():
    """Every cell counts, and so does the lab; what is said of them does not."""
    cells, same = Cells({"a": "1"}), Cells({"a": "1"}, notes=("found by its id",))
    others = [Cells({"a": "2"}), Cells({"a": "1"}, (("", "x"),)), Cells({"a": "1"}, changed={"b": "1"})]
    digests = {cells.digest("02"), *(one.digest(LAB) for one in others)}
    assert (same.digest(LAB), cells.digest(LAB) in digests) == (cells.digest(LAB), False)


# A verdict is taken again only while nothing that decides has changed.
def fresh_digest(package):
    """Return the digest as another process would."""
    kit_digest.cache_clear()
    return kit_digest(package)


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    """A copy of the kit's package that may be changed."""
    return shutil.copytree(PACKAGE, tmp_path_factory.mktemp("kit") / PACKAGE.name)


@pytest.mark.parametrize("name", ["solution_snippet.py", "pictures/tensorboard.py", "checks/check.py"])
def test_a_change_of_any_module_that_decides_is_another_kit(name, package):
    """Points come through modules of the floor, too."""
    before = fresh_digest(package)
    assert fresh_digest(package) == before
    with (package / name).open("a") as file:
        file.write("\n")

    assert fresh_digest(package) != before


def test_compiled_modules_are_no_change(package):
    """Python writes them when it runs."""
    before = fresh_digest(package)
    (package / "__pycache__").mkdir(exist_ok=True)
    (package / "__pycache__" / "text.cpython-310.pyc").write_bytes(b"x")

    assert fresh_digest(package) == before


@pytest.mark.parametrize("name", ["keras", "of-a-later-year"])
def test_another_version_of_any_distribution_is_another_kit(name, package, tmp_path, monkeypatch):
    """Nobody keeps a list of those that decide."""
    before = fresh_digest(package)
    made = tmp_path / f"{name.replace('-', '_')}-99.dist-info"
    made.mkdir()
    (made / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 99\n")
    monkeypatch.syspath_prepend(tmp_path)

    assert fresh_digest(package) != before
