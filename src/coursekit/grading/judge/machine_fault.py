"""Decide whether a hand-in lost points because of the student or because of the machine."""

from __future__ import annotations

import logging
from collections.abc import Callable

from coursekit.grading.isolation.cgroups import Refusals
from coursekit.grading.submission.cells import Cells
from coursekit.grading.submission.program import Program
from coursekit.grading.verdict import Verdict
from coursekit.log import machine

LOGGER = logging.getLogger(__name__)
# Kinds of flags that say that a process died or a resource ran out; the cause may be the answer or the machine.
SIGNS = frozenset({"ProcessEnded", "memory", "shortage"})
WHAT_HELPS = "grade with `--jobs 1`, or give the grader more of what it lacks"


def machines_fault(verdict: Verdict, before: Refusals, judge_solution: Callable[[], Verdict]) -> str:
    """Return why the machine may have cost a hand-in points; '' if no points were lost, or the student is to blame.

    `before` holds the counts of what the kernel had refused before the run. If the kernel has refused more since, the
    machine is to blame. If only the flags of the run suggest a shortage, the lab's solution is judged in the same slot;
    if it earns all points, the machine is not to blame. If one of the kit's own limits ended the run, the student is to
    blame.
    """
    kinds = {flag.kind for flag in verdict.flags}
    if verdict.fault or "limit" in kinds or verdict.points >= verdict.max_points:
        return ""
    if refused := before.since():
        return f"{refused}: {WHAT_HELPS} (the hand-in itself used up to {verdict.peak_memory_gb:.1f} GB)"
    if not kinds & SIGNS:
        return ""
    LOGGER.info("%s %s: the cause is unclear, judging the solution (%s)", verdict.student, verdict.lab, machine())
    solution = judge_solution()
    if solution.fault or (refused := before.since()):
        return solution.fault or f"{refused}: {WHAT_HELPS}"
    lost = [score.message.partition("\n")[0] for score in solution.scores if score.points < score.max_points]
    return f"the lab's own solution loses points here, too ({lost[0]}): {WHAT_HELPS}" if lost else ""


def solution_of(program: Program) -> Cells:
    """Return the instructor's own answers, as if they had been handed in."""
    return Cells({part.name: part.source for part in program.run if part.is_answer})
