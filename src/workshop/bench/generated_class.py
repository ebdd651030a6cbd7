"""A synthetic class for tests and benchmarks: right, wrong, hanging and hostile submissions from the answer banks."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from coursekit.course.folder import Course
from coursekit.errors import CourseKitError
from coursekit.files import write_file
from coursekit.grading.submission.cells import defined
from coursekit.grading.submission.student_folder import TIMESTAMP, timestamp_text
from coursekit.labs.build.build import build_sources
from coursekit.labs.build.regions import without_markers
from coursekit.labs.cells import cell_name, is_grade, is_solution, is_test
from coursekit.labs.lab import select_labs
from coursekit.labs.needs import lacking
from workshop.affected_tests import LabCells
from workshop.answers.answer_bank import BankAnswer, load_bank

RIGHT, WRONG, HANGING, HOSTILE = "right", "wrong", "hanging", "hostile"
KINDS = (RIGHT, WRONG, RIGHT, WRONG, HANGING, HOSTILE)
# Endings of answers' names: in these answers, which every bank has, some ranks wait for one that never comes.
WAITING = ("collective-on-rank-0", "-hangs")
HANDED_IN = datetime(2026, 1, 5, 12, 0)  # noqa: DTZ001  # UTC without an offset, as nbgrader keeps times
# Replaces the answer, because definitions above and below a loop that runs out of time would count.
ENDLESS = "while True:\n    pass\n"
EQUAL = """
class Equal:
    def __call__(self, *args, **kwargs): return self
    def __eq__(self, other): return True
    def __len__(self): return 1
    def __float__(self): return 0.0
    def __hash__(self): return 0
    def __getattr__(self, name): return self
"""
PATCHES = """
import builtins, os, sys
for name in [name for name in sys.modules if name.startswith("coursekit")]:
    sys.modules[name].__dict__.update(dict.fromkeys(("require", "check"), print))
os.system("cat course/gradebook.db ../*/gradebook.db /etc/shadow")
builtins.isinstance = lambda *args: True
"""
EXITS = "\nimport os\nos._exit(0)\n"


@dataclass(frozen=True)
class GeneratedSubmission:
    """One submission of a synthetic class."""

    student: str  # id of the student
    lab: str  # name of the lab
    kind: str  # `RIGHT`, `WRONG`, `HANGING` or `HOSTILE`
    title: str  # what it does, in a few words
    passes: frozenset[str]  # ids of the tests that must give their points
    fails: frozenset[str]  # ids of the tests that must give none


def generate_class(
    course: Course, num_students: int, seed: int, labs: Sequence[str] = ()
) -> tuple[GeneratedSubmission, ...]:
    """Write one hand-in for each student into `submitted/`, as nbgrader collects them; no two are equal.

    Labs change with each student; kinds change in the order of `KINDS` after each round of labs. Answers are drawn.

    Args:
        course: has these labs released; hand-ins of students with the same names in its `submitted/` are replaced.
        num_students: the number of students.
        seed: the seed of the draw.
        labs: names of the labs; if empty, all labs that have a bank of answers.
    """
    banks = course.root / "tests" / "answers"
    chosen = [lab for lab in select_labs(course.root, labs) if (banks / lab.name).is_dir() and not lacking(lab)]
    if not chosen:
        raise CourseKitError("a synthetic class needs labs with a bank of answers in tests/answers/.", "bench.no-banks")
    rng = random.Random(seed)  # noqa: S311  # no secret
    sources = build_sources(course.root, chosen)
    may_do = {lab.name: _MadeLab(course, sources[lab.name]) for lab in chosen}
    made = []
    for number in range(num_students):
        lab = chosen[number % len(chosen)].name
        student = f"student-{number + 1:02}"
        kind = KINDS[number // len(chosen) % len(KINDS)]
        done = rng.choice(may_do[lab].choices[kind])
        folder = course.submitted(lab, student)
        write_file(folder / f"{lab}.ipynb", nbformat.writes(may_do[lab].filled(done.cells, student)).encode())
        write_file(folder / TIMESTAMP, timestamp_text(HANDED_IN).encode())
        made.append(GeneratedSubmission(student, lab, kind, done.title, done.passes, done.fails))
    return tuple(made)


@dataclass(frozen=True)
class _Choice:
    """A possible hand-in: the tests that must give their points, those that must give none, and its own cells."""

    title: str
    passes: frozenset[str]
    fails: frozenset[str]
    cells: Mapping[str, str]


class _MadeLab:
    """A lab, and what students of each kind may hand in, with the solution in all other cells."""

    def __init__(self, course: Course, source: Path) -> None:
        self.released = course.released(source.stem)
        notebook = nbformat.read(source, as_version=4)
        self.tests = frozenset(cell_name(cell) for cell in notebook.cells if is_test(cell))
        self.solutions = {cell_name(cell): without_markers(cell.source) for cell in notebook.cells if is_solution(cell)}
        self.code = {
            cell_name(cell): defined(cell.source)
            for cell in notebook.cells
            if is_solution(cell) and not is_grade(cell) and defined(cell.source)
        }
        reach = LabCells(list(notebook.cells))
        bank = load_bank(course.root / "tests" / "answers" / source.stem, source)
        wrong = [answer for answer in bank if answer.fails]
        self.choices = {
            RIGHT: [self._of_bank(answer) for answer in bank if not answer.fails],
            WRONG: [self._of_bank(answer) for answer in wrong if not answer.name.endswith(WAITING)],
            HANGING: [self._of_bank(answer) for answer in wrong if answer.name.endswith(WAITING)],
            HOSTILE: self._hostile(),
        }
        self.choices[RIGHT].append(_Choice("the solution", self.tests, frozenset(), {}))
        for name in self.code:
            cells, title = {name: ENDLESS}, f"an endless loop in the cell {name}"
            # Tests of other answers may give their points: some replace this answer by code of the judge.
            self.choices[HANGING].append(_Choice(title, frozenset(), reach.tests_in_direct_reach(cells), cells))

    def filled(self, cells: Mapping[str, str], student: str) -> NotebookNode:
        """Return the released notebook with answers; a remark makes it unique."""
        notebook = nbformat.from_dict(self.released)
        for cell in notebook.cells:
            name = cell_name(cell)
            if is_solution(cell):
                remark = f"\n# {student}" if name in self.code else ""
                cell.source = {**self.solutions, **cells}[name] + remark
        return notebook

    def _of_bank(self, answer: BankAnswer) -> _Choice:
        fails = frozenset(answer.fails)
        return _Choice(answer.title, self.tests - fails - answer.consequences, fails, answer.cells)

    def _hostile(self) -> list[_Choice]:
        equal = {
            name: EQUAL + "".join(f"{one} = Equal()\n" for one in sorted(names)) for name, names in self.code.items()
        }
        patched = {**dict.fromkeys(self.code, "pass"), next(iter(self.code)): PATCHES}
        return [
            _Choice("objects that are equal to everything", frozenset(), self.tests, equal),
            _Choice("patches of the checks, and no answer", frozenset(), self.tests, patched),
            _Choice("an exit before the first answer", frozenset(), self.tests, dict.fromkeys(self.code, EXITS)),
        ]
