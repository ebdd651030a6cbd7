"""Grade hand-ins: stage each one, judge it or find its earlier verdict, and record that.

A verdict is saved at once, under the digest of all that it depends on, and then recorded in the gradebook.
After a kill, a second call takes the saved verdicts and records the rest; recording twice changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

from coursekit.course.folder import PRIVATE_MODE, Course
from coursekit.course.record import Moves, record
from coursekit.course.versions import find_hand_ins
from coursekit.errors import CourseKitError
from coursekit.files import remove_unfinished, write_file
from coursekit.grading.judge.pool import PoolSettings, judge_all
from coursekit.grading.submission.student_folder import HandIn, staged_cells
from coursekit.grading.submission.work import Submission, Work, key_of
from coursekit.grading.verdict import Flag, Verdict
from coursekit.waiting import AwayError

VERDICTS = "verdicts"
# Does something with the points of a hand-in, and returns which of them moved.
Recorder = Callable[[Course, Verdict, HandIn], Moves]
JUDGED, AS_BEFORE, EMPTY, FAULT = "judged", "as before", "nothing to grade", "needs another run"


@dataclass(frozen=True)
class GradedHandIn:
    """One hand-in and what became of it.

    Attributes:
        verdict: what the judge decided, with all flags; with a fault when it needs another run;
            without scores when there was nothing to grade.
        notes: what the report says of the hand-in.
        is_cached: whether it had been judged before.
        moves: which points moved in the gradebook, or would.
    """

    hand_in: HandIn
    verdict: Verdict
    notes: tuple[str, ...] = ()
    is_cached: bool = False
    moves: Moves = field(default_factory=Moves)

    @property
    def outcome(self) -> str:
        """What became of it: `JUDGED`, `AS_BEFORE`, `EMPTY` or `FAULT`."""
        if self.verdict.fault:
            return FAULT
        return EMPTY if not self.verdict.scores else AS_BEFORE if self.is_cached else JUDGED

    @property
    def how(self) -> str:
        """Return how long it ran, or that it was judged before and how its points move now."""
        if not self.is_cached:
            return f"{self.verdict.seconds:.1f} s"
        if self.moves.is_first or not self.moves.points:
            return AS_BEFORE
        return f"judged before, {sum(self.moves.points.values()):+g} points"


@dataclass(frozen=True)
class Staged:
    """One hand-in, ready to be judged.

    Attributes:
        submission: what is judged, without flags: equal answers of two students are one submission.
        notes: what the report says of the hand-in.
        flags: what the instructor should know of it before it has run.
    """

    hand_in: HandIn
    submission: Submission
    notes: tuple[str, ...]
    flags: tuple[Flag, ...]

    @property
    def is_empty(self) -> bool:
        """Whether there is no answer to judge: as with nbgrader that is missing work, and not a 0."""
        return not self.submission.work.answers


def stage(
    course: Course, sources: Mapping[str, Path], students: Collection[str], settings: PoolSettings
) -> list[Staged]:
    """Take the answers out of every hand-in of these labs, and of these students or of all.

    `sources` holds by lab its notebook with hidden tests; a verdict depends on the limits in the settings, too.
    """
    staged = []
    for hand_in in find_hand_ins(course, sources, students):
        cells = staged_cells(hand_in, course.released(hand_in.lab))
        work = Work(hand_in.lab, hand_in.student, dict(cells.answers), tuple(cells.extra), cells.changed)
        source, flags = sources[hand_in.lab], (*hand_in.flags, *cells.flags)
        submission = Submission(source, work, key_of(work, source, f"{settings.limits}"))
        staged.append(Staged(hand_in, submission, (*hand_in.notes, *cells.notes), flags))
    return staged


class ArrayTask(NamedTuple):
    """One task of a Slurm job array, which judges a share of the class and records nothing; all others do both.

    A gradebook in a file has one writer: when all tasks have ended, a job without an array records their verdicts.
    """

    number: int  # Slurm counts from any number
    num_tasks: int  # 1 outside of an array

    @classmethod
    def of(cls, environ: Mapping[str, str]) -> ArrayTask:
        """Return the task in whose environment this is.

        Raises:
            CourseKitError: The array's numbers have gaps, so that some shares would have no task.
        """
        names = ("SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_MIN", "SLURM_ARRAY_TASK_MAX", "SLURM_ARRAY_TASK_COUNT")
        if names[0] not in environ:
            return cls(0, 1)
        number, first, last, num_tasks = (int(environ[name]) for name in names)
        if last - first + 1 != num_tasks:
            raise CourseKitError(f"the array's tasks have gaps in their numbers: submit it with --array=1-{num_tasks}.")
        return cls(number, num_tasks)

    @property
    def is_of_array(self) -> bool:
        """Whether others judge the rest, and a later job records."""
        return self.num_tasks > 1

    def share(self, staged: Sequence[Staged]) -> list[Staged]:
        """Return the hand-ins that this task judges, by the digest of what is judged: equal ones have one task.

        Example: of the tasks 1 to 4, the third judges those whose digest has the remainder 3 when divided by 4.
        """
        return [one for one in staged if int(one.submission.key, 16) % self.num_tasks == self.number % self.num_tasks]


def to_judge(course: Course, staged: Sequence[Staged], *, again: bool = False) -> list[Staged]:
    """Return the hand-ins that must run: those without a saved verdict."""
    return [one for one in staged if not one.is_empty and (again or load_verdict(course, one.submission.key) is None)]


def grade_all(  # noqa: PLR0913  # who judges and who records can be given
    course: Course,
    staged: Sequence[Staged],
    settings: PoolSettings,
    *,
    again: bool = False,
    judge: Callable[[Sequence[Submission], PoolSettings], Generator[Verdict, None, None]] = judge_all,
    recorder: Recorder = record,
) -> Generator[GradedHandIn, None, None]:
    """Judge hand-ins, with `again` also what was judged before; save, record and yield each verdict.

    `judge` says who judges: this machine, or a Slurm job; `recorder` what is done with the points.

    Raises:
        CourseKitError: the gradebook or the disk is gone; what was judged until then is kept.
    """
    for name in (VERDICTS, "autograded"):
        remove_unfinished(course.folder / name)
    waiting: dict[str, list[Staged]] = {}
    for one in to_judge(course, staged, again=again):
        waiting.setdefault(one.submission.key, []).append(one)
    for one in staged:
        if one.is_empty:
            verdict = Verdict(one.hand_in.lab, one.hand_in.student, (), one.flags)
            yield GradedHandIn(one.hand_in, verdict, one.notes)
        elif one.submission.key not in waiting and (earlier := load_verdict(course, one.submission.key)):
            yield replace(_recorded(course, one, earlier, recorder), is_cached=True)
    if not waiting:
        return
    with closing(judge([group[0].submission for group in waiting.values()], settings)) as verdicts:
        for verdict in verdicts:
            if not verdict.fault:
                with clear_failures(course):
                    (course.folder / VERDICTS).mkdir(mode=PRIVATE_MODE, exist_ok=True)
                    write_file(_path(course, verdict.key), verdict.dumps().encode())
            for one in waiting[verdict.key]:
                yield _recorded(course, one, verdict, recorder)


def _recorded(course: Course, one: Staged, verdict: Verdict, recorder: Recorder) -> GradedHandIn:
    """Record a verdict for one student; others with equal answers share the verdict."""
    own = replace(verdict, student=one.hand_in.student)
    moves = Moves()
    if not own.fault:
        with clear_failures(course):
            moves = recorder(course, own, one.hand_in)  # which finds the flags of the hand-in itself
    return GradedHandIn(one.hand_in, replace(own, flags=(*one.flags, *own.flags)), one.notes, moves=moves)


def load_verdict(course: Course, key: str) -> Verdict | None:
    """Return the verdict saved under this digest, or None."""
    try:
        return Verdict.loads(_path(course, key).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


def _path(course: Course, key: str) -> Path:
    return course.folder / VERDICTS / key[:2] / f"{key}.json"


@contextmanager
def clear_failures(course: Course) -> Iterator[None]:
    """Turn a full disk into a clear message."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise AwayError(
            f"{course.folder} cannot be written ({reason}): "
            "fix that, then run `coursekit grade` again: what was judged is kept."
        ) from None
