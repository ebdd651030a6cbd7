"""The tests of every lab, held against the solution, the release and the bank of answers."""

import subprocess
from collections import Counter
from pathlib import Path

import nbformat
import pytest

from coursekit.grading.judge.pool import PoolSettings, default_num_slots
from coursekit.grading.judge.slot import SubmissionLimits
from coursekit.labs.build.build import build_sources
from coursekit.labs.cells import is_grade, is_solution, is_test
from coursekit.labs.lab import find_labs
from coursekit.labs.needs import lacking
from coursekit.solution_snippet import checks_of_pieces
from workshop.affected_tests import LabCells
from workshop.answers.answer_bank import BankAnswer, load_bank
from workshop.answers.run_answers import run_banks

ROOT = Path(__file__).parents[3]
BANKS = ROOT / "tests" / "answers"
CAN_RUN = [lab.name for lab in find_labs(ROOT) if not lacking(lab)]  # tests of others skip, and fail in CI
LABS = sorted(path.parent.name for path in ROOT.glob("solutions/*/lab.toml"))
POINTS_PER_LAB = 20
CELL_S = 20  # of own time, and more than all cells of a right answer take; one answer never ends

SOLUTION = BankAnswer("solution", "", {}, {})

# All banks are one fixture, which shares a machine of two cores with all other tests for an hour.
pytestmark = pytest.mark.timeout(2 * 3600)
every_lab = pytest.mark.parametrize("lab", LABS)


@pytest.fixture(scope="module")
def sources():
    """The source notebook of each lab."""
    return build_sources(ROOT, find_labs(ROOT))


@pytest.fixture(scope="module")
def results(sources):
    """By lab and name, what became of the solution, the release and answers of the bank: all run in one pool.

    These are the right answers, and of the wrong ones every second, by the commit the even or the odd ones: all of them
    take nearly half of the time of all tests. `make soak TIMES=1` runs all.
    """
    banks = {}
    for lab in reversed(CAN_RUN):  # the last ones take longest: at the end no slot is left with them
        release = BankAnswer("release", "", {}, stubs(lab, sources[lab]))
        banks[sources[lab]] = [SOLUTION, release, *in_turn(load_bank(BANKS / lab, sources[lab]), turn_of_commit())]
    found = run_banks(banks, PoolSettings(default_num_slots(), SubmissionLimits(cell_s=CELL_S)))
    return {lab: {result.answer.name: result for result in found[sources[lab]]} for lab in CAN_RUN}


def turn_of_commit():
    """Return 0 or 1, by the commit; 0 where git knows none."""
    words = ["git", "rev-parse", "HEAD"]
    commit = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False).stdout.strip()
    return int(commit or "0", 16) % 2


def in_turn(answers, turn):
    """Return the right answers, and every second of the wrong ones."""
    wrong = [answer for answer in answers if answer.fails][turn::2]
    return [answer for answer in answers if not answer.fails or answer in wrong]


@every_lab
def test_two_turns_are_the_bank(lab, sources):
    """What a commit leaves out, another one runs; right answers always run."""
    bank = load_bank(BANKS / lab, sources[lab])
    turns = [in_turn(bank, turn) for turn in (0, 1)]

    assert [answer for answer in bank if answer in turns[0] or answer in turns[1]] == [*bank]
    assert [answer for answer in turns[0] if answer in turns[1]] == [answer for answer in bank if not answer.fails]


def test_every_bank_belongs_to_a_lab():
    """A bank whose lab was renamed would never run, and a lab without a bank has untested tests."""
    assert sorted({path.parent.name for path in BANKS.glob("*/*.py")}) == LABS


@every_lab
def test_answers_get_their_verdicts(lab, results):
    """Exactly the tests that the bank names fail, each with its codes."""
    asked = {name: result for name, result in results[lab].items() if name != "release"}

    assert {name: result.disagreements for name, result in asked.items() if result.disagreements} == {}


@every_lab
def test_a_bank_is_large_enough(lab, sources):
    """At least fifteen wrong answers and five unusual right ones."""
    verdicts = Counter("wrong" if answer.fails else "right" for answer in load_bank(BANKS / lab, sources[lab]))

    assert verdicts["wrong"] >= 15
    assert verdicts["right"] >= 5


@every_lab
def test_no_cell_needs_what_a_test_binds(lab, sources):
    """A test that fails ends early: what it would have bound is missing, and a fault would cost points twice."""
    notebook = LabCells(nbformat.read(sources[lab], as_version=4).cells)
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
def test_the_solution_earns_full_points(lab, results, sources):
    """Nothing in a lab fails when it is solved, and its points, with those an instructor gives, add up to 20."""
    cells = nbformat.read(sources[lab], as_version=4).cells
    by_instructor = sum(cell.metadata.nbgrader.points for cell in cells if is_grade(cell) and is_solution(cell))

    assert results[lab]["solution"].disagreements == ()
    assert results[lab]["solution"].got + by_instructor == POINTS_PER_LAB


@every_lab
def test_every_test_is_held_against_a_mistake(lab, sources):
    """A test that no answer of the bank must fail with a code might check nothing, and nobody would see."""
    bank = load_bank(BANKS / lab, sources[lab])
    own = [answer for answer in bank if not any(map(checks_of_pieces, answer.cells.values()))]  # a piece is right
    refused = {test for answer in own for test, codes in answer.fails.items() if codes}
    tests = {
        cell.metadata.nbgrader.grade_id for cell in nbformat.read(sources[lab], as_version=4).cells if is_test(cell)
    }

    assert tests - refused == set()


@every_lab
def test_the_release_fails_every_test(lab, results):
    """What students open earns nothing before they start, with the hidden tests in place."""
    result = results[lab]["release"]

    assert result.fault == ""
    assert [score.grade_id for score in result.scores if score.passed] == []
    assert result.got == 0


def stubs(lab, source):
    """Return the answers of a lab's released notebook, which has all cells of the source."""
    released = nbformat.read(ROOT / "labs" / lab / f"{lab}.ipynb", as_version=4)
    found = {cell.metadata.nbgrader.grade_id: cell.source for cell in released.cells if _is_answer(cell)}
    cells = nbformat.read(source, as_version=4).cells
    assert set(found) == {cell.metadata.nbgrader.grade_id for cell in cells if _is_answer(cell)}
    return found


def _is_answer(cell):
    return is_solution(cell) and not is_grade(cell)
