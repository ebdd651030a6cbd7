"""Mutants of a lab's solution: its answers with one small change each, which the lab's tests should refuse.

A survivor shows a hole in the tests, or is harmless by the wording of the exercise (tests/answers/README.md).
Banks hold mistakes that somebody thought of; mutants are the minimum that tests must catch.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import nbformat

from coursekit import toml_files
from coursekit.errors import CourseKitError
from coursekit.grading.judge.pool import PoolSettings, judge_all
from coursekit.labs.build.regions import without_markers
from coursekit.labs.cells import is_grade, is_solution
from workshop.answers.answer_bank import BankAnswer
from workshop.answers.mutate import Mutant, mutate
from workshop.answers.run_answers import job_of, lab_of


@dataclass(frozen=True)
class Judged:
    """A mutant, and the message of the first test that refused it; '' if it survived."""

    mutant: Mutant
    message: str
    fault: str = ""  # why the machine could not judge it, or ''

    @property
    def survived(self) -> bool:
        """Whether no test refused it."""
        return not self.message and not self.fault


@dataclass(frozen=True)
class _Harmless:
    mutant: str
    reason: str


@dataclass(frozen=True)
class _HarmlessFile:
    harmless: tuple[_Harmless, ...] = ()


def mutants_of(source_notebook: Path) -> tuple[Mutant, ...]:
    """Return the mutants of all answers of a lab, in notebook order."""
    notebook = nbformat.read(source_notebook, as_version=4)
    return tuple(
        mutant
        for cell in notebook.cells
        if is_solution(cell) and not is_grade(cell)
        for mutant in mutate(cell.metadata.nbgrader.grade_id, without_markers(cell.source))
    )


def load_harmless(path: Path, mutants: Sequence[Mutant]) -> dict[str, str]:
    """Return, by mutant name, the reason why a lab's file records it as harmless; {} if there is no file.

    Raises:
        CourseKitError: the file records a mutant that the solution no longer has, or records one twice.
    """
    if not path.exists():
        return {}
    rows = toml_files.load(_HarmlessFile, path).harmless
    names = [row.mutant for row in rows]
    if stale := sorted(set(names) - {mutant.name for mutant in mutants}):
        raise CourseKitError(f"{path}: the solution no longer has the mutant {stale[0]!r}: remove it.", "mutants.stale")
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise CourseKitError(f"{path}: {twice!r} is recorded twice: keep one.", "mutants.twice")
    return {row.mutant: row.reason for row in rows}


def sample(mutants: Sequence[Mutant], num_mutants: int) -> list[Mutant]:
    """Return this many mutants in their order, chosen by the digests of their names; all if there are no more.

    So one that is added or recorded as harmless replaces at most one of the sample.
    """
    chosen = sorted(mutants, key=lambda one: sha256(one.name.encode()).digest())[:num_mutants]
    return [one for one in mutants if one in chosen]


def judge_mutants(mutants: Sequence[Mutant], source_notebook: Path, settings: PoolSettings) -> Iterator[Judged]:
    """Grade each mutant as a separate hand-in, by all tests that its cell can affect; yield each when it is ready.

    The source notebook is `build/source/<lab>/<lab>.ipynb`.
    """
    lab = lab_of(source_notebook)
    named = {f"mutant-{number}": mutant for number, mutant in enumerate(mutants)}
    answers = [BankAnswer(name, mutant.name, {}, {mutant.cell: mutant.source}) for name, mutant in named.items()]
    jobs = [job_of(one.name, [one], source_notebook, lab, {one.name: lab.tests_in_reach(one.cells)}) for one in answers]
    left_out = {one.student: names for one, names in jobs}
    sources: Mapping[str, Path] = {source_notebook.stem: source_notebook}
    for verdict in judge_all([one for one, _ in jobs], sources, settings, left_out) if jobs else ():
        failed = [score.message for score in verdict.scores if not score.passed]
        yield Judged(named[verdict.student], failed[0] if failed else "", verdict.fault)
