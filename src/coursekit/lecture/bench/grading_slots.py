"""What the walls cost one right hand-in, and what a hang costs beyond its limit: measured in warm slots, in turns."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import nbformat

from coursekit.errors import CourseKitError
from coursekit.grading.judge.grade_one import grade
from coursekit.grading.judge.slot import Slot, SubmissionLimits
from coursekit.grading.submission.program import name_of, read_program
from coursekit.grading.submission.work import Work
from coursekit.labs.cells import is_solution
from coursekit.lecture.bench.made_class import ENDLESS

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from coursekit.grading.submission.program import Program

HANG_LIMIT_S = 5.0


@dataclass(frozen=True)
class SlotTimes:
    """Seconds that one hand-in takes from the start of its first cell to its verdict.

    Attributes:
        lab: name of the lab, whose solution is handed in.
        plain_s: without walls.
        walled_s: behind bubblewrap.
        hang_limit_s: what one cell may take, where the first answer never ends.
        hanging_s: those hand-ins, behind bubblewrap.
    """

    lab: str
    plain_s: tuple[float, ...]
    walled_s: tuple[float, ...]
    hang_limit_s: float
    hanging_s: tuple[float, ...]


def time_in_slots(source: Path, repeat: int, progress: Callable[[str], None]) -> SlotTimes:
    """Judge the solution in a lab's notebook with and without walls, in `repeat` turns, and so often one that hangs.

    Raises:
        CourseKitError: the machine failed, or the solution lost points.
    """
    notebook = nbformat.read(source, as_version=4)
    program = read_program(source.stem, notebook)
    solved = {name_of(cell): cell.source for cell in notebook.cells if cell.cell_type == "code" and is_solution(cell)}
    first = next(iter(solved))
    hung = {**solved, first: ENDLESS}  # a function defined above it would count
    plain, walled, hanging = [], [], []
    with Slot("none") as open_slot, Slot("bwrap") as walled_slot:
        for slot in (open_slot, walled_slot):
            progress(f"{source.stem} in a cold slot, sandbox {slot.sandbox}")
            _seconds(program, solved, slot)
        for turn in range(1, repeat + 1):
            progress(f"{source.stem} in warm slots, turn {turn} of {repeat}")
            plain.append(_seconds(program, solved, open_slot))
            walled.append(_seconds(program, solved, walled_slot))
        walled_slot.limits = replace(SubmissionLimits(), cell_s=HANG_LIMIT_S)
        for turn in range(1, repeat + 1):
            progress(f"{source.stem}, its first answer hangs, turn {turn} of {repeat}")
            hanging.append(_seconds(program, hung, walled_slot, hangs=True))
    return SlotTimes(source.stem, tuple(plain), tuple(walled), HANG_LIMIT_S, tuple(hanging))


def _seconds(program: Program, answers: dict[str, str], slot: Slot, *, hangs: bool = False) -> float:
    verdict = grade(program, Work(program.lab, "solution", answers), slot)
    if verdict.fault:
        raise CourseKitError(f"{program.lab} could not be judged, run `coursekit doctor`: {verdict.fault}.")
    if (verdict.points < verdict.max_points) != hangs:
        raise CourseKitError(
            f"{program.lab}: a solution that {'hangs' if hangs else 'ends'} got {verdict.points:g} of "
            f"{verdict.max_points:g} points: hold its tests with `coursekit answers {program.lab[:2]}`."
        )
    return verdict.seconds
