"""The course's folder of a rehearsal: answers are written, and tests, which run elsewhere, are left out."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell

from coursekit.building.stubs import CODE_STUB
from coursekit.grading.points import is_test
from coursekit.labs import find_labs
from coursekit.rehearsal.course import make_course, without_tests

ROOT = Path(__file__).parents[2]
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


@pytest.mark.parametrize("complete", [False, True])
def test_notebooks_hold_all_answers(tmp_path, complete):
    """Every lab's notebook has every answer, in the folder's labs/, with its tests only where that is asked for."""
    course = make_course(ROOT, tmp_path / "course", complete=complete)
    for lab in find_labs(ROOT):
        cells = nbformat.read(course / "labs" / lab.name / f"{lab.name}.ipynb", as_version=4).cells
        answers = [cell.source for cell in cells if cell.metadata.get("nbgrader", {}).get("solution")]
        assert answers
        assert not any(CODE_STUB in source for source in answers)
        assert any(map(is_test, cells)) is complete
    assert (course / ".venv" / "bin" / "python").exists()
    assert (course / "slurm" / "jobs").is_dir()
