"""Grade submissions: judge each submission that has no verdict yet, and record all verdicts.

A new verdict is saved at once in a file, under a digest of everything that the verdict depends on, and then recorded in
the gradebook. If a call is killed, the next call uses the saved verdicts and judges only the rest; recording a verdict
twice changes nothing.

Where to look: `cli/grading_call.py` calls `load_submissions`, and then `grade_all` with `judge_all` from
`grading/judge/pool.py` and `record` from `record.py`. `late_penalty.py` computes the points that lateness costs.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

from coursekit.course.folder import PRIVATE_MODE, Course
from coursekit.course.record import Moves, record
from coursekit.course.versions import find_submissions
from coursekit.errors import CourseKitError
from coursekit.files import remove_unfinished, write_file
from coursekit.grading.judge.pool import PoolSettings
from coursekit.grading.submission.program import key_of
from coursekit.grading.submission.student_folder import Submission
from coursekit.grading.verdict import Verdict
from coursekit.waiting import AwayError

VERDICTS = "verdicts"
# A function that receives a verdict on a submission, for example to record its points, and returns how they changed.
Recorder = Callable[[Course, Verdict, Submission], Moves]
Judge = Callable[[Sequence[Submission]], Generator[Verdict, None, None]]
JUDGED, AS_BEFORE, EMPTY, FAULT = "judged", "as before", "nothing to grade", "needs another run"


@dataclass(frozen=True)
class Graded:
    """One submission and the result of grading it.

    Attributes:
        verdict: the judge's decision, with all flags; it has a fault if the submission must be run again, and no scores
            if there was nothing to grade.
        is_cached: whether the submission had been judged before.
        moves: how the points in the gradebook changed, or would change.
    """

    submission: Submission
    verdict: Verdict
    is_cached: bool = False
    moves: Moves = field(default_factory=Moves)

    @property
    def notes(self) -> tuple[str, ...]:
        """The notes on the submission that appear in the report."""
        return (*self.submission.notes, *self.submission.cells.notes)

    @property
    def outcome(self) -> str:
        """The outcome for the submission: `JUDGED`, `AS_BEFORE`, `EMPTY` or `FAULT`."""
        if self.verdict.fault:
            return FAULT
        return EMPTY if not self.verdict.scores else AS_BEFORE if self.is_cached else JUDGED

    @property
    def how(self) -> str:
        """A few words on how long the submission ran or, if it was judged before, on how its points change now."""
        if not self.is_cached:
            return f"{self.verdict.seconds:.1f} s"
        if self.moves.is_first or not self.moves.points:
            return AS_BEFORE
        return f"judged before, {sum(self.moves.points.values()):+g} points"


def load_submissions(
    course: Course, sources: Mapping[str, Path], students: Collection[str], settings: PoolSettings
) -> list[Submission]:
    """Return the submissions for these labs, each with the key under which its verdict is saved.

    `sources` maps each lab to its notebook with hidden tests. If `students` is not empty, only their submissions are
    read. The limits in `settings` are part of the key, because a verdict depends on them.
    """
    tests = {lab: source.read_bytes() for lab, source in sources.items()}
    found = find_submissions(course, sources, students)
    return [replace(one, key=key_of(one.lab, one.cells, tests[one.lab], f"{settings.limits}")) for one in found]


class ArrayTask(NamedTuple):
    """A task of a Slurm job array, which judges its share of the class but does not record the verdicts.

    A gradebook in a file allows only one writer, so a job without an array records the verdicts after all tasks have
    ended. Outside an array, one call both judges and records.
    """

    number: int  # Slurm may start counting at any number
    num_tasks: int  # 1 outside of an array

    @classmethod
    def of(cls, environ: Mapping[str, str]) -> ArrayTask:
        """Return the array task that this environment describes.

        Raises:
            CourseKitError: The array's numbers have gaps, so some shares would have no task.
        """
        names = ("SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_MIN", "SLURM_ARRAY_TASK_MAX", "SLURM_ARRAY_TASK_COUNT")
        if names[0] not in environ:
            return cls(0, 1)
        number, first, last, num_tasks = (int(environ[name]) for name in names)
        if last - first + 1 != num_tasks:
            raise CourseKitError(
                f"the task numbers of the array have gaps: submit it with --array=1-{num_tasks}.", "array.gaps"
            )
        return cls(number, num_tasks)

    @property
    def is_of_array(self) -> bool:
        """Whether this is one of several tasks: others then judge the rest, and a later job records the verdicts."""
        return self.num_tasks > 1

    def share(self, submissions: Sequence[Submission]) -> list[Submission]:
        """Return the submissions that this task judges; equal submissions have the same digest and go to the same task.

        Example: in an array with the tasks 1 to 4, task 3 judges the submissions whose digest leaves the remainder 3
        when divided by 4.
        """
        return [one for one in submissions if int(one.key, 16) % self.num_tasks == self.number % self.num_tasks]


def load_verdicts(course: Course, submissions: Iterable[Submission]) -> dict[str, Verdict]:
    """Return the saved verdicts on these submissions, by key; submissions without a saved verdict are left out."""
    found = {}
    for one in submissions:
        with suppress(OSError, ValueError):  # no verdict was saved, or it is damaged
            found[one.key] = Verdict.loads(_path(course, one.key).read_text(encoding="utf-8"))
    return found


def grade_all(
    course: Course,
    submissions: Sequence[Submission],
    known: Mapping[str, Verdict],
    judge: Judge,
    recorder: Recorder = record,
) -> Generator[Graded, None, None]:
    """Grade all submissions, and yield the result for each; only those whose key has no verdict in `known` are judged.

    Each new verdict is saved before it is recorded. A submission without answers is not judged: as in nbgrader, it
    counts as missing work, not as 0 points. `recorder` decides what happens to the points.

    Raises:
        CourseKitError: the gradebook or the disk fails; all earlier verdicts are kept.
    """
    for name in (VERDICTS, "autograded"):
        remove_unfinished(course.folder / name)
    waiting: dict[str, list[Submission]] = {}
    for one in submissions:
        if not one.cells.answers:
            yield Graded(one, Verdict(one.lab, one.student, (), (*one.flags, *one.cells.flags)))
        elif one.key in known:
            yield replace(_recorded(course, one, known[one.key], recorder), is_cached=True)
        else:
            waiting.setdefault(one.key, []).append(one)
    if not waiting:
        return
    with closing(judge([group[0] for group in waiting.values()])) as verdicts:
        for verdict in verdicts:
            if not verdict.fault:
                with clear_failures(course):
                    (course.folder / VERDICTS).mkdir(mode=PRIVATE_MODE, exist_ok=True)
                    write_file(_path(course, verdict.key), verdict.dumps().encode())
            for one in waiting[verdict.key]:
                yield _recorded(course, one, verdict, recorder)


def _recorded(course: Course, one: Submission, verdict: Verdict, recorder: Recorder) -> Graded:
    """Record a verdict for one student, and return the result; students with equal answers share one verdict."""
    own = replace(verdict, student=one.student, flags=(*one.flags, *one.cells.flags, *verdict.flags))
    moves = Moves()
    if not own.fault:
        with clear_failures(course):
            moves = recorder(course, own, one)
    return Graded(one, own, moves=moves)


def _path(course: Course, key: str) -> Path:
    return course.folder / VERDICTS / key[:2] / f"{key}.json"


@contextmanager
def clear_failures(course: Course) -> Iterator[None]:
    """If the block cannot write to the course folder, for example because the disk is full, raise a clear error."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise AwayError(
            f"{course.folder} cannot be written ({reason}): "
            "fix that, then run `coursekit grade` again; finished gradings are kept.",
            "course.not-writable",
        ) from None
