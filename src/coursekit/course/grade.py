"""Grade hand-ins: each one staged, judged or taken from what was judged before, and recorded; nothing is lost between.

A verdict is written down as soon as it is there, under the digest of all that it depends on, and then recorded.
Killed at any moment, a second call takes up what was written, and records what was not: recording twice changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from coursekit.course.hand_ins import find_hand_ins, staged_cells
from coursekit.course.record import record
from coursekit.course.safe_files import write_file
from coursekit.judging.key import key_of
from coursekit.judging.pool import Job, judge_all
from coursekit.judging.verdict import Verdict
from coursekit.judging.work import Work

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
    from pathlib import Path

    from coursekit.course.folder import Course
    from coursekit.course.hand_ins import HandIn
    from coursekit.judging.pool import PoolSettings
    from coursekit.judging.verdict import Flag

VERDICTS = "verdicts"
READABLE = 0o444


@dataclass(frozen=True)
class Graded:
    """One hand-in and what became of it.

    Attributes:
        hand_in: what the student handed in.
        verdict: what the judge decided; with a fault when it needs another run.
        notes: what the report says of the hand-in.
        is_cached: whether it had been judged before.
        changed: whether the gradebook changed.
    """

    hand_in: HandIn
    verdict: Verdict
    notes: tuple[str, ...] = ()
    is_cached: bool = False
    changed: bool = False


@dataclass(frozen=True)
class Staged:
    """One hand-in, ready to be judged.

    Attributes:
        hand_in: what the student handed in.
        job: what is judged, without flags: equal answers of two students are one job.
        notes: what the report says of the hand-in.
        flags: what the instructor should know of it before it has run.
    """

    hand_in: HandIn
    job: Job
    notes: tuple[str, ...]
    flags: tuple[Flag, ...]

    def graded(self, verdict: Verdict) -> Graded:
        """Return this hand-in with a verdict on its answers, whoever gave them."""
        student, flags = self.hand_in.student, (*self.flags, *verdict.flags)
        return Graded(self.hand_in, replace(verdict, student=student, flags=flags), self.notes)


def stage(course: Course, sources: Mapping[str, Path], students: Collection[str], sandbox: str) -> list[Staged]:
    """Take the answers out of every hand-in of these labs; a hand-in without a notebook has none.

    Args:
        course: the course.
        sources: by lab, its notebook with hidden tests.
        students: only these; all when empty.
        sandbox: what will stand around the run.
    """
    return [
        _stage(course, hand_in, sources[hand_in.lab], sandbox) for hand_in in find_hand_ins(course, sources, students)
    ]


def _stage(course: Course, hand_in: HandIn, source: Path, sandbox: str) -> Staged:
    cells = staged_cells(hand_in, course.released(hand_in.lab))
    extra = tuple((after, text) for after, text in cells.extra)
    work = Work(hand_in.lab, hand_in.student, dict(cells.answers), extra)
    flags = (*hand_in.flags, *cells.flags)
    return Staged(hand_in, Job(source, work, key_of(work, source, sandbox)), (*hand_in.notes, *cells.notes), flags)


def grade_all(
    course: Course,
    staged: Sequence[Staged],
    settings: PoolSettings,
    *,
    again: bool = False,
    judge: Callable[[Sequence[Job], PoolSettings], Iterator[Verdict]] = judge_all,
) -> Iterator[Graded]:
    """Judge hand-ins, write each verdict down, record it, and yield it.

    Args:
        course: the course.
        staged: what to grade.
        settings: how to judge.
        again: judge also what was judged before.
        judge: who judges; here or in a Slurm job.
    """
    waiting: dict[str, list[Staged]] = {}
    for one in staged:
        known = None if again else load_verdict(course, one.job.key)
        if known:
            yield replace(_recorded(course, one.graded(known)), is_cached=True)
        else:
            waiting.setdefault(one.job.key, []).append(one)
    for verdict in judge([group[0].job for group in waiting.values()], settings):
        if not verdict.fault:
            save_verdict(course, verdict)
        for one in waiting[verdict.key]:
            yield _recorded(course, one.graded(verdict))


def _recorded(course: Course, graded: Graded) -> Graded:
    return replace(graded, changed=record(course, graded.verdict, graded.hand_in))


def save_verdict(course: Course, verdict: Verdict) -> None:
    """Write a verdict down, whole or not at all."""
    write_file(_path(course, verdict.key), verdict.dumps().encode(), READABLE)


def load_verdict(course: Course, key: str) -> Verdict | None:
    """Return the verdict that was written down under this digest, None when there is none."""
    try:
        return Verdict.loads(_path(course, key).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


def _path(course: Course, key: str) -> Path:
    return course.folder / VERDICTS / key[:2] / f"{key}.json"
