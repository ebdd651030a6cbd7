"""The course's folder of a rehearsal: answers are written, and tests, which run elsewhere, are left out."""

from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell

from coursekit.labs.build.regions import CODE_STUB
from coursekit.labs.cells import is_test
from coursekit.labs.lab import find_labs
from workshop.rehearsal.course_copy import make_course, until_ranks_have_run, without_tests

ROOT = Path(__file__).parents[3]
TEST = {"nbgrader": {"grade": True, "solution": False, "grade_id": "t", "points": 1}}
ANSWER = {"nbgrader": {"grade": False, "solution": True, "grade_id": "a"}}


def test_what_only_tests_need_goes_with_them():
    """Tests go, and cells that bind only what tests use, one after the other; answers, effects and the rest stay."""
    cells = [
        new_code_cell("import checks", id="only-tests"),
        new_code_cell("import math", id="both"),
        new_code_cell("def answer(x):\n    return x", id="answer", metadata=ANSWER),
        new_code_cell("base = 3", id="of-the-trial"),
        new_code_cell("trial = checks.run(answer, base)", id="trial"),
        new_code_cell("checks.check(trial, math)", id="test", metadata=TEST),
        new_code_cell("unused = 1", id="idle"),
        new_code_cell("print(math.pi)", id="effect"),
        new_markdown_cell("words", id="words"),
    ]
    assert [cell.id for cell in without_tests(cells)] == ["both", "answer", "idle", "effect", "words"]


def test_ranks_start_once():
    """Cells that start ranks again go, with what needs their results, and pictures; answers and all the rest stay."""
    picture = {"tags": ["picture"]}
    cells = [
        new_code_cell("from coursekit import ranks", id="import"),
        new_code_cell("def answer():\n    return ranks.run(len)", id="answer", metadata=ANSWER),
        new_code_cell("curve = draw()", id="early-picture", metadata=picture),
        new_code_cell("first = ranks.run(answer)", id="first", metadata=picture),
        new_code_cell("print(first)", id="use-of-first"),
        new_code_cell("print(curve)", id="use-of-the-picture"),
        new_code_cell("%%ranks 4\nprint(1)", id="magic"),
        new_code_cell("second = ranks.run(answer)", id="second"),
        new_code_cell("table = [second]", id="use-of-second"),
        new_code_cell("print(table)", id="use-of-the-table"),
        new_code_cell("print('effect')", id="effect"),
    ]
    left = [cell.id for cell in until_ranks_have_run(cells)]
    assert left == ["import", "answer", "first", "use-of-first", "effect"]


@pytest.mark.parametrize("cut", ["none", "tests", "quick"])
def test_notebooks_hold_all_answers(tmp_path, cut):
    """Every lab's notebook has every answer, in the folder's labs/, with its tests only where that is asked for."""
    course = make_course(ROOT, tmp_path / "course", cut)
    for lab in find_labs(ROOT):
        cells = nbformat.read(course / "labs" / lab.name / f"{lab.name}.ipynb", as_version=4).cells
        answers = [cell.source for cell in cells if cell.metadata.get("nbgrader", {}).get("solution")]
        assert answers
        assert not any(CODE_STUB in source for source in answers)
        assert any(map(is_test, cells)) is (cut == "none")
    assert (course / ".venv" / "bin" / "python").exists()
    assert (course / "slurm" / "jobs").is_dir()
