"""Grade one attack like any hand-in, and report its points, its flags, and what it left behind."""

from __future__ import annotations

import json
import os
import secrets
import sys
import tempfile
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell

from coursekit.grading.judge.pool_worker import grade
from coursekit.grading.judge.slot import Slot, SubmissionLimits
from coursekit.grading.submission.cells import Cells
from coursekit.grading.submission.program import read_program
from coursekit.grading.submission.student_folder import Submission, to_submission
from coursekit.grading.submission.students_files import read_contents
from coursekit.grading.verdict import Flag, Verdict
from coursekit.labs.cells import cell_name, is_solution
from workshop.affected_tests import LabCells
from workshop.attacks.attack import Attack, AttackCell
from workshop.attacks.traces import Bait, Before

LIMITS = SubmissionLimits(
    notebook_s=90, cell_s=8, memory_gb=1.5, num_processes=60, num_threads=600, tmp_gb=0.1, file_gb=0.05
)
MARK, COURSE = "@MARK@", "@COURSE@"  # in an attack's text: a word that marks its traces, and the bait course
# This lab takes a second, so all of it is graded; of others, only the tests that the attack can affect.
WHOLE = "01-sgd"
PROBE = """\
import os, sys
from pathlib import Path
for folder in ("/tmp", "/dev/shm", "/shared", os.getcwd(), os.path.expanduser("~")):
    print(folder, sorted(os.listdir(folder)) if os.path.isdir(folder) else None)
for path in Path("/proc").glob("[0-9]*/cmdline"):
    try: print(path, path.read_bytes())
    except OSError: pass
print(Path("/proc/net/unix").read_text()[:8000])
print(Path("/proc/net/tcp").read_text()[:8000])
print(sorted(os.environ.items()), sorted(sys.modules), sys.path, sys.meta_path)
"""


@dataclass(frozen=True)
class AttackedLab:
    """The notebooks with which a lab's attacks are graded."""

    lab: str
    source: Path  # the notebook with solutions and hidden tests
    released: Path  # the notebook that students got

    def honest(self) -> dict[str, str]:
        """Return the solution's answers."""
        notebook = nbformat.read(self.source, as_version=4)
        cells = [cell for cell in notebook.cells if cell.cell_type == "code" and is_solution(cell)]
        return {cell_name(cell): cell.source for cell in cells}


@dataclass(frozen=True)
class AttackOutcome:
    """The outcome of one attack: the judge's verdict, and one sentence for each trace that it left."""

    attack: Attack
    verdict: Verdict
    traces: tuple[str, ...] = ()

    @property
    def paid(self) -> float:
        """The points that it got for the tests at stake."""
        return sum(score.points for score in self.verdict.scores if score.grade_id in self.attack.at_stake)

    @property
    def flags(self) -> str:
        """The kinds of flags that the instructor sees."""
        return ", ".join(sorted({flag.kind for flag in self.verdict.flags}))

    @property
    def complaints(self) -> tuple[str, ...]:
        """One sentence for each thing that is not as it should be."""
        return tuple(self._complaints())

    def _complaints(self) -> Iterator[str]:
        attack, verdict = self.attack, self.verdict
        if verdict.fault:
            yield f"the submission was not judged: {verdict.fault}"
        for score in verdict.scores:
            if score.grade_id in attack.fails and score.points:
                yield f"{score.grade_id} got {score.points:g} of {score.max_points:g} points"
            elif score.grade_id not in (*attack.fails, *attack.consequences) and not score.passed:
                yield f"{score.grade_id} lost its points: {score.message}"
        missing = sorted({*attack.fails} - {score.grade_id for score in verdict.scores})
        if missing:
            yield f"not judged: {', '.join(missing)}"
        kinds = {flag.kind for flag in verdict.flags}
        unseen = [flag for flag in attack.flags if not kinds & {*flag.split("|")}]
        if unseen:
            yield f"the flags {', '.join(unseen)} are missing; there are {', '.join(sorted(kinds)) or 'none'}"
        if attack.kind == "right" and verdict.flags:
            yield f"honest work was flagged: {verdict.flags}"
        yield from self.traces


def run_attack(attack: Attack, course: AttackedLab, slot: Slot) -> AttackOutcome:
    """Hand in an attack, stage it, run it, judge it, and look for traces.

    After an attack of class "persistence", an honest submission looks for what it left.
    """
    mark = f"mark{secrets.token_hex(6)}"
    framework = read_program(course.lab, nbformat.read(course.source, as_version=4)).framework
    with slot.submission(framework):  # this warms up the slot, so that the processes before and after can be compared
        pass
    with tempfile.TemporaryDirectory(prefix="bait-") as folder:
        bait = Bait.make(Path(folder), course.lab, course.source.read_bytes())
        start_s = (bait.folder / "gradebook.db").stat().st_mtime
        before = Before.look(bait, start_s)
        with patch.dict(os.environ):  # restored afterwards, because a hand-in may set what an attack looks for
            submission = stage(attack, course, mark, bait.folder)
            verdict = grade_staged(attack, submission, course, slot)
        with slot.submission(framework):
            pass
        outcome = AttackOutcome(attack, verdict, before.traces(mark))
    if attack.kind == "persistence":
        outcome = replace(outcome, traces=(*outcome.traces, *_look_inside(course, slot, mark)))
    return outcome


def stage(attack: Attack, course: AttackedLab, mark: str, bait: Path) -> Submission:
    """Write the attack's hand-in, and read it as a submission; notes on it also become flags."""
    released = nbformat.read(course.released, as_version=4)
    with tempfile.TemporaryDirectory(prefix="hand-in-") as folder:
        write_hand_in(attack, released, course.honest(), Path(folder), mark=mark, course=bait)
        found = to_submission(read_contents(Path(folder)), "mallory", attack.lab, released)
    notes = (Flag("note", sentence) for sentence in (*found.notes, *found.cells.notes))
    return replace(found, flags=(*found.flags, *found.cells.flags, *notes))


def write_hand_in(  # noqa: PLR0913  # what there is to fill in
    attack: Attack, released: NotebookNode, honest: dict[str, str], folder: Path, *, mark: str, course: Path
) -> None:
    """Write a hand-in into an empty folder; `mark` and `course` stand for `MARK` and `COURSE`.

    Cells with the role "hand-in" run here and now, with this process's permissions.
    All other answers come from `honest`.
    """

    def filled(source: str) -> str:
        return source.replace(MARK, mark).replace(COURSE, str(course))

    notebook = deepcopy(released)
    answers = {**honest, **{cell.name: filled(cell.source) for cell in attack.cells if cell.kind == "answer"}}
    for cell in notebook.cells:
        cell.source = answers.get(cell_name(cell), cell.source)
    for number, cell in enumerate(attack.cells):
        if cell.kind == "extra":
            names = [cell_name(known) for known in notebook.cells]
            place = names.index(cell.name) + 1 if cell.name else 0
            notebook.cells.insert(place, new_code_cell(filled(cell.source), id=f"extra-{number}"))
    path = folder / f"{attack.lab}.ipynb"
    path.write_text(json.dumps(notebook), encoding="utf-8")
    for cell in attack.cells:
        if cell.kind == "hand-in":
            names_in_cell: dict[str, Any] = {"folder": folder, "notebook": path, "course": course, "mark": mark}
            exec(compile(filled(cell.source), attack.name, "exec"), names_in_cell)  # noqa: S102  # as documented
    sys.stdout.flush()


def grade_staged(attack: Attack, submission: Submission, course: AttackedLab, slot: Slot) -> Verdict:
    """Grade a staged attack; of a long lab, run only the tests that the attack can affect."""
    source = nbformat.read(course.source, as_version=4)
    program = read_program(course.lab, source)
    left_out: set[str] = set()
    if course.lab != WHOLE:
        answers = {cell.name: cell.source for cell in attack.cells if cell.kind == "answer"}
        reach = LabCells(source.cells).tests_in_reach(answers) - {*attack.consequences}
        left_out = {part.name for part in program.judged if part.points is not None} - reach
    verdict = grade(program, submission, slot, left_out=left_out)
    return replace(verdict, flags=(*submission.flags, *verdict.flags))


def _look_inside(course: AttackedLab, slot: Slot, mark: str) -> tuple[str, ...]:
    """Return what the next submission in the slot finds of an attack, and which points it lost."""
    honest = course.honest()
    name, source = next(iter(honest.items()))
    probe = Submission("next", course.lab, cells=Cells({**honest, name: f"{PROBE}\n{source}"}))
    whole = Attack("probe", "", "right", (AttackCell("answer", name, ""),), course.lab)
    verdict = grade_staged(whole, probe, course, slot)
    found = [f"the next student lost points: {score.message}" for score in verdict.scores if not score.passed]
    found += [f"the next student's run failed: {verdict.fault}"] if verdict.fault else []
    told = verdict.outputs.get(name, "")
    if "/proc/" not in told:
        found.append("the next student's look at the sandbox failed")
    return (*found, *(["the next student sees what was left"] if mark in told else []))
