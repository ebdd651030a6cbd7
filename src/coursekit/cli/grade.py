"""`coursekit grade`: judge the hand-ins of a class, record their points, and report."""

import logging
import os
import sys
import time
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import NoReturn

import click
from rich.console import Console
from rich.progress import TimeElapsedColumn

from coursekit import __version__
from coursekit.cli.shared import COURSE, LABS, STUDENTS, counting_bar
from coursekit.course.folder import Course, find_course
from coursekit.course.grade import ArrayTask, GradedHandIn, Recorder
from coursekit.course.settings import SETTINGS
from coursekit.course.status.points import Points
from coursekit.errors import CourseKitError
from coursekit.grading.isolation.sandbox import require_sandbox
from coursekit.grading.judge.pool import PoolSettings, default_num_slots, lack_of_memory
from coursekit.grading.judge.slot import SubmissionLimits
from coursekit.labs.build.build import build_sources
from coursekit.labs.lab import Lab, select_labs
from coursekit.labs.needs import runnable
from coursekit.log import log_to, machine
from coursekit.paths import find_root
from coursekit.processes import StopSignals
from coursekit.text import counted, printable
from coursekit.waiting import Attempts

LOGGER = logging.getLogger(__name__)
WATCH_S = 20.0  # between two looks at the exchange
SHARE_IS_JUDGED = "task {} of {} is done; after the last one, submit the script without --array: it records the points."
NOT_CLEAN = 3  # exit status: graded, but some hand-ins need another run

# Options of all that grades, in `workshop` too.
JOBS = click.option(
    "--jobs",
    "num_slots",
    metavar="N",
    type=click.IntRange(min=1),
    help="Submissions to grade at a time.  [default: one per core; in a job, as many as its memory allows]",
)
TIMEOUT = click.option(
    "--timeout-s",
    metavar="SECONDS",
    type=click.FloatRange(min=1),
    default=600,
    show_default=True,
    help="Time limit of each submission, in seconds.",
)


@click.command(epilog="Example: coursekit grade 02 --student ada --again")
@LABS
@STUDENTS
@click.option("--again", is_flag=True, help="Also grade again what has not changed.")
@click.option("--dry-run", is_flag=True, help="Record nothing; say whose points would move.")
@click.option("--watch", is_flag=True, help="Collect and grade what comes in, until Ctrl-C.")
@click.option("--feedback", is_flag=True, help="With --watch: release the feedback of what was graded at once.")
@JOBS
@TIMEOUT
@click.option(
    "--memory-gb",
    metavar="GB",
    type=click.FloatRange(min=1),
    default=6,
    show_default=True,
    help="Memory limit of one hand-in, in GB.",
)
@COURSE
def grade(  # noqa: PLR0913, PLR0917  # as many as it has options
    names: tuple[str, ...],
    students: tuple[str, ...],
    num_slots: int | None,
    timeout_s: float,
    memory_gb: float,
    folder: Path | None,
    *,
    again: bool,
    dry_run: bool,
    watch: bool,
    feedback: bool,
) -> None:
    """Grade the collected hand-ins in a sandbox, and write a report.

    Without LAB, the hand-ins of all labs are graded.
    Each hand-in runs in a sandbox, and its points are decided outside of the sandbox.
    After an interruption, run the command again to resume; what has not changed is not graded again.
    After a change of tests, --dry-run shows first whose points move; a call without it then records them at once.
    With --watch, the exchange is looked at every 20 s: students have their points soon after Submit.
    On a cluster, `sbatch slurm/jobs/SITE/grade.sbatch LAB` does this in a job.
    With --array=1-4, four jobs share the hand-ins; once more without it, a job records the points, and judges nothing.

    The limits of one hand-in, besides --timeout-s and --memory-gb: 60 s for a cell, 128 processes and 1024 threads
    at once, 0.5 GB and 20000 files in each folder in memory, 0.25 GB for a file.
    Its sandbox has 300 s to start.
    Time limits count only the time in which a CPU was available, so a busy machine does not shorten them.
    """
    task = ArrayTask.of(os.environ)
    _refuse_together(watch=watch, feedback=feedback, others=again or dry_run or task.is_of_array)
    root = find_root()
    # SQLAlchemy takes half a second, and a mistake in the arguments should show before that is loaded.
    from coursekit.course.kept_cells import refuse_other_points
    from coursekit.course.status.class_status import read_class

    course = find_course(root, folder)
    limits = SubmissionLimits(notebook_s=timeout_s, cell_s=min(timeout_s, SubmissionLimits.cell_s), memory_gb=memory_gb)
    settings = PoolSettings(num_slots or default_num_slots(limits), limits)
    stop = StopSignals()
    page = course.report(f"grading-{task.number}" if task.is_of_array else "grading", datetime.now().astimezone())
    try:
        with stop.handled(), log_to(page.with_suffix(".log")):
            labs = runnable(select_labs(root, names), names, click.echo)
            read_class(course, ())  # a mistake in the roster shows now, and not at the end
            call = _Call(course, labs, build_sources(root, labs), students, settings, page)
            refuse_other_points(course, call.sources, students)
            if watch:
                _Watch(call, feedback=feedback).go_on()
            graded = _grade_once(call, task, again=again, dry_run=dry_run)
    except KeyboardInterrupt:
        click.echo("coursekit: stopped; what was judged is kept: call again, without --again, to continue.", err=True)
        sys.exit(stop.status)
    if any(one.verdict.fault for one in graded):
        sys.exit(NOT_CLEAN)


@dataclass(frozen=True)
class _Call:
    """What one call grades, and where it reports the results."""

    course: Course
    labs: Sequence[Lab]
    sources: Mapping[str, Path]
    students: Sequence[str]
    settings: PoolSettings
    page: Path
    console: Console = field(default_factory=Console)

    def say(self, text: str) -> None:
        """Print a line unchanged, whatever it contains."""
        self.console.print(printable(text).replace("\n", " "), markup=False, highlight=False, soft_wrap=True)


def _grade_once(call: _Call, task: ArrayTask, *, again: bool, dry_run: bool) -> list[GradedHandIn]:
    """Grade what is collected, or this task's share of it, and report the results."""
    from coursekit.course.grade import grade_all, stage, to_judge
    from coursekit.course.record import Moves, foresee, record
    from coursekit.course.status.points import read_points

    staged = stage(call.course, call.sources, call.students, call.settings)
    if not staged:
        whose = f" of {', '.join(call.students)}" if call.students else ""
        raise CourseKitError(f"there is nothing{whose} to grade: run `coursekit course collect` first.")
    staged = task.share(staged)
    if to_judge(call.course, staged, again=again):  # judged before, it needs no sandbox
        _require_machine(call.settings)
    LOGGER.info("coursekit %s, %d hand-ins: %s (%s)", __version__, len(staged), call.settings, machine())
    before = read_points(call.course)
    recorder: Recorder = foresee if dry_run else (lambda *_: Moves()) if task.is_of_array else record
    stream = grade_all(call.course, staged, call.settings, again=again, recorder=recorder)
    graded = sorted(_told(stream, len(staged), call), key=lambda one: (one.hand_in.student, one.hand_in.lab))
    if task.is_of_array:
        click.echo(SHARE_IS_JUDGED.format(*task))
    elif dry_run:
        _print_moves(graded, call)
    else:
        _report(graded, before, call)
    return graded


def _require_machine(settings: PoolSettings) -> None:
    """Return when hand-ins can be graded here, and say so where some may not get the memory that they may use."""
    require_sandbox()
    if lack := lack_of_memory(settings):
        LOGGER.warning(lack)
        click.echo(f"coursekit: {lack}", err=True)


def _refuse_together(*, watch: bool, feedback: bool, others: bool) -> None:
    """Refuse options that would be ignored beside each other."""
    if feedback and not watch:
        raise click.UsageError("--feedback belongs to --watch; without it, `coursekit course feedback` releases pages.")
    if watch and others:
        raise click.UsageError("--watch grades what is new: it goes with none of --again, --dry-run and a job array.")


def _report(graded: Sequence[GradedHandIn], before: Points, call: _Call) -> None:
    """Print what this call did and the class, and write both to the page."""
    from coursekit.course.grade import clear_failures
    from coursekit.course.status.class_status import read_class
    from coursekit.course.status.points import lost_points, read_points
    from coursekit.course.status.report import print_call, print_class, write_page

    print_call(graded, call.console)
    with clear_failures(call.course):
        found = read_class(call.course, [lab for lab in call.labs if lab.name in {one.hand_in.lab for one in graded}])
        found = replace(found, notes=(*found.notes, *lost_points(before, read_points(call.course))))
        print_class(found, call.console)
        write_page(call.page, found, datetime.now().astimezone(), graded)
    call.say(f"report: {call.page}")


class _Watch:
    """Collects, grades, and releases feedback of, what is new; what needs another run waits for the next call."""

    def __init__(self, call: _Call, *, feedback: bool) -> None:
        self._call, self._gives_feedback = call, feedback
        # What was graded last, by student and lab: a student who hands in an earlier version again gets its points.
        self._last: dict[tuple[str, str], str] = {}
        self._changed: set[tuple[str, str]] = set()  # collected since, perhaps with equal answers
        self._to_give: set[tuple[str, str]] = set()

    def go_on(self) -> NoReturn:
        """Look again and again, even after the exchange or the gradebook was unavailable."""
        _require_machine(self._call.settings)
        self._call.console.print("watching the exchange; Ctrl-C ends it")

        def say(sentence: str) -> None:
            self._call.say(sentence)
            LOGGER.warning(sentence)

        attempts = Attempts(say)
        while True:
            attempts.attempt(self._look)
            time.sleep(WATCH_S)

    def _collect(self) -> None:
        from coursekit.course.collect import collect

        course = self._call.course
        (course.folder / SETTINGS).stat()  # raises if the whole course is unavailable
        for lab in self._call.sources:
            if (course.folder / "release" / lab).is_dir():
                self._changed |= {(one.student, one.lab) for one in collect(course, lab)[0] if one.changed}

    def _look(self) -> None:
        from coursekit.course.grade import grade_all, stage
        from coursekit.course.release import give_all
        from coursekit.course.status.points import lost_points, read_points

        self._collect()
        call = self._call
        staged = stage(call.course, call.sources, call.students, call.settings)
        found = {(one.hand_in.student, one.hand_in.lab): one for one in staged}
        new = {
            place: one
            for place, one in found.items()
            if place in self._changed or self._last.get(place) != one.submission.key
        }
        self._changed &= {*new}
        before = read_points(call.course)
        for one in _told(grade_all(call.course, [*new.values()], call.settings), len(new), call) if new else ():
            place = (one.hand_in.student, one.hand_in.lab)
            self._last[place] = new[place].submission.key
            self._changed.discard(place)
            self._to_give |= {place} if self._gives_feedback and one.verdict.scores else set()
        for line in lost_points(before, read_points(call.course)) if new else ():
            call.say(line)
        for lab in {lab for _, lab in self._to_give}:
            for given in give_all(call.course, lab, [name for name, its_lab in self._to_give if its_lab == lab]):
                self._to_give.discard((given.student, lab))
                LOGGER.info("feedback: %s %s", given.student, lab)


def _print_moves(graded: Sequence[GradedHandIn], call: _Call) -> None:
    """Say whose points would move, by how much, and in which cells."""
    moved = [one for one in graded if one.moves.points]
    for one in moved:
        cells = ", ".join(f"{name} {points:+g}" for name, points in one.moves.points.items())
        call.say(f"{one.hand_in.student} {one.hand_in.lab}: {sum(one.moves.points.values()):+g} ({cells})")
    call.say(
        f"points of {len(moved)} of {counted(len(graded), 'hand-in')} would move; nothing was recorded. "
        "`coursekit grade` records them, and judges nothing again."
    )


def _told(stream: Generator[GradedHandIn, None, None], num_hand_ins: int, call: _Call) -> Iterator[GradedHandIn]:
    """Tell each hand-in in a line, of many those with flags or without points; faults name the log."""
    from coursekit.course.status.report import NUM_ALL

    with counting_bar(call.console, TimeElapsedColumn()) as progress, closing(stream):
        task = progress.add_task("hand-ins", total=num_hand_ins)
        for one in stream:
            fault = one.verdict.fault and f"{one.verdict.fault} (log: {call.page.with_suffix('.log')})"
            graded = replace(one, verdict=replace(one.verdict, fault=fault))
            progress.update(task, advance=1)
            if num_hand_ins <= NUM_ALL or fault or graded.verdict.flags or not graded.verdict.scores:
                call.say(_line(graded))
            LOGGER.info(_line(graded))
            yield graded


def _line(graded: GradedHandIn) -> str:
    """Return what became of one hand-in, as one line."""
    from coursekit.course.grade import EMPTY
    from coursekit.course.status.report import flag_words

    verdict = graded.verdict
    if verdict.fault:
        what = f"needs another run: {verdict.fault}"
    elif graded.outcome == EMPTY:
        what = "; ".join(graded.notes) or EMPTY
    else:
        what = f"{verdict.points:g} of {verdict.max_points:g} ({graded.how})"
    flags = f", {flag_words(verdict.flags)}" if verdict.flags else ""
    return printable(f"{verdict.student} {verdict.lab}: {what}{flags}").replace("\n", " ")
