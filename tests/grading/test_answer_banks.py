"""The tests of every lab, held against the solution, the release and the bank of answers."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import nbformat
import pytest
from nbgrader.utils import is_grade, is_solution

from coursekit.building.build import build_sources
from coursekit.grading.answer_bank import Answer, load_answer, load_bank
from coursekit.grading.concerned import Lab
from coursekit.grading.run_answers import run_answer, run_bank
from coursekit.judging.pool import PoolSettings, default_num_slots
from coursekit.labs import find_labs

ROOT = Path(__file__).parents[2]
BANKS = ROOT / "tests" / "answers"
LABS = sorted(path.parent.name for path in ROOT.glob("solutions/*/lab.toml"))
ANSWERS = sorted(BANKS.glob("*/*.py"))
POINTS_PER_LAB = 20

every_lab = pytest.mark.parametrize("lab", LABS)


@pytest.fixture(scope="module")
def sources():
    """The source notebook of each lab."""
    return build_sources(ROOT, find_labs(ROOT))


def test_every_bank_belongs_to_a_lab():
    """A bank whose lab was renamed would never run, and a lab without a bank has untested tests."""
    assert sorted({path.parent.name for path in ANSWERS}) == LABS


@pytest.mark.timeout(2400)  # a whole bank at once: its answers share notebooks where they can, and the cores
@every_lab
def test_answers_get_their_verdicts(lab, sources):
    """Exactly the tests that the bank names fail, each with its words."""
    notebook = nbformat.read(sources[lab], as_version=4)
    answers = [load_answer(path, notebook) for path in ANSWERS if path.parent.name == lab]
    results = run_bank(answers, sources[lab], PoolSettings(default_num_slots()))

    assert {result.answer.name: result.disagreements for result in results if result.disagreements} == {}


@every_lab
def test_a_bank_is_large_enough(lab, sources):
    """At least fifteen wrong answers and five unusual right ones."""
    verdicts = Counter("wrong" if answer.fails else "right" for answer in load_bank(BANKS / lab, sources[lab]))

    assert verdicts["wrong"] >= 15
    assert verdicts["right"] >= 5


@every_lab
def test_no_cell_needs_what_a_test_binds(lab, sources):
    """A test that fails ends early: what it would have bound is missing, and a fault would cost points twice."""
    notebook = Lab(nbformat.read(sources[lab], as_version=4).cells)
    bound_elsewhere = frozenset().union(
        *(names.bound for i, names in enumerate(notebook.names) if i not in notebook.tests)
    )
    lent = {
        (notebook.ids[i], name)
        for i in notebook.tests
        for name in notebook.names[i].bound - bound_elsewhere
        if any(name in names.used for other, names in enumerate(notebook.names) if other != i)
    }

    assert lent == set()


@every_lab
def test_the_solution_earns_full_points(lab, sources):
    """Nothing in a lab fails when it is solved, and its points add up to 20."""
    result = run_answer(Answer("solution", "", {}, {}), sources[lab])

    assert result.disagreements == ()
    assert result.got == POINTS_PER_LAB


@every_lab
def test_the_release_fails_every_test(lab, sources):
    """What students open earns nothing before they start, with the hidden tests in place."""
    released = nbformat.read(ROOT / "labs" / lab / f"{lab}.ipynb", as_version=4)
    stubs = {cell.metadata.nbgrader.grade_id: cell.source for cell in released.cells if _is_answer(cell)}
    source = nbformat.read(sources[lab], as_version=4)
    assert set(stubs) == {cell.metadata.nbgrader.grade_id for cell in source.cells if _is_answer(cell)}

    result = run_answer(Answer("release", "", {}, stubs), sources[lab])

    assert [score.grade_id for score in result.scores if score.passed] == []
    assert result.got == 0


def _is_answer(cell):
    return is_solution(cell) and not is_grade(cell)
