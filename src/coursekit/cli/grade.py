"""`coursekit grade`: judge the hand-ins of a class, record their points, and write a report."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import click

from coursekit.cli.grading_call import Call, Watch
from coursekit.cli.shared import COURSE, LABS, STUDENTS
from coursekit.course.folder import find_course
from coursekit.course.grade import ArrayTask, Graded, clear_failures
from coursekit.course.record import Moves, foresee, record
from coursekit.grading.judge.pool import PoolSettings, default_num_slots
from coursekit.grading.judge.slot import SubmissionLimits
from coursekit.labs.build.build import build_sources
from coursekit.labs.lab import select_labs
from coursekit.labs.needs import runnable
from coursekit.log import log_to
from coursekit.paths import find_root
from coursekit.processes import StopSignals
from coursekit.text import counted

SHARE_IS_JUDGED = "task {} of {} is done; after the last one, submit the script without --array to record the points."
NOT_CLEAN = 3  # exit status if grading is done, but some hand-ins need another run

# Options that all grading commands share, including the commands of `workshop`.
AT_A_TIME = click.option(
    "--jobs",
    "num_slots",
    metavar="N",
    type=click.IntRange(min=1),
    help="Number of submissions to grade at once.  [default: one per core, or fewer if memory is short]",
)
TIMEOUT = click.option(
    "--timeout-s",
    metavar="SECONDS",
    type=click.FloatRange(min=1),
    default=600,
    show_default=True,
    help="Time limit for each submission, in seconds.",
)


@click.command(epilog="Example: coursekit grade 02 --student ada --again")
@LABS
@STUDENTS
@click.option("--again", is_flag=True, help="Also regrade hand-ins that have not changed.")
@click.option("--dry-run", is_flag=True, help="Record nothing; report whose points would change.")
@click.option("--watch", is_flag=True, help="Collect and grade new hand-ins until you press Ctrl-C.")
@click.option("--feedback", is_flag=True, help="With --watch: release feedback as soon as a hand-in is graded.")
@AT_A_TIME
@TIMEOUT
@click.option(
    "--memory-gb",
    metavar="GB",
    type=click.FloatRange(min=1),
    default=6,
    show_default=True,
    help="Memory limit for each hand-in, in GB.",
)
@COURSE
def grade(  # noqa: PLR0913, PLR0917  # one for each option
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
    Each hand-in runs in a sandbox, but its points are decided outside the sandbox.
    If the command is interrupted, run it again to resume; hand-ins that have not changed are not graded again.
    After you change tests, first use --dry-run to see whose points would change.
    The next call without --dry-run records the new points at once, without grading again.
    With --watch, the command checks the exchange every 20 s; add --feedback to give students their points soon.
    On a cluster, `sbatch slurm/jobs/SITE/grade.sbatch LAB` grades in a job.
    With the sbatch option --array=1-4, four jobs share the hand-ins; a later job without it records the points.

    Besides --timeout-s and --memory-gb, each hand-in has these limits: 60 s per cell, 128 processes and 1024 threads
    at once, 0.5 GB and 20000 files in each in-memory folder, and 0.25 GB per file.
    Each sandbox must start within 300 s.
    Time limits count only the time during which a CPU was available, so a busy machine does not shorten them.
    """
    task = ArrayTask.of(os.environ)
    _refuse_together(watch=watch, feedback=feedback, others=again or dry_run or task.is_of_array)
    root = find_root()
    # SQLAlchemy takes half a second to load; a mistake in the arguments should be reported before that.
    from coursekit.course.kept_cells import refuse_other_points
    from coursekit.course.status.class_status import read_class

    course = find_course(root, folder)
    limits = SubmissionLimits(notebook_s=timeout_s, cell_s=min(timeout_s, SubmissionLimits.cell_s), memory_gb=memory_gb)
    settings = PoolSettings(num_slots or default_num_slots(limits), limits)
    page = course.report(f"grading-{task.number}" if task.is_of_array else "grading", datetime.now().astimezone())
    with _stoppable(), log_to(page.with_suffix(".log")):
        labs = runnable(select_labs(root, names), names, click.echo)
        read_class(course, ())  # report a mistake in the roster now, not at the end
        call = Call(course, labs, build_sources(root, labs), students, settings, page)
        refuse_other_points(course, call.sources, students)
        if watch:
            Watch(call, feedback=feedback).go_on()
        if task.is_of_array:
            graded = _grade_share(call, task, again=again)
        else:
            graded = _foresee(call, again=again) if dry_run else _grade_once(call, again=again)
    if any(one.verdict.fault for one in graded):
        sys.exit(NOT_CLEAN)


@contextmanager
def _stoppable() -> Iterator[None]:
    """Run the block; if a signal stops it, print a sentence and exit with the status of that signal."""
    stop = StopSignals()
    try:
        with stop.handled():
            yield
    except KeyboardInterrupt:
        click.echo("coursekit: stopped; what was judged is kept: call again, without --again, to continue.", err=True)
        sys.exit(stop.status)


def _refuse_together(*, watch: bool, feedback: bool, others: bool) -> None:
    """Raise an error if options are combined in such a way that one of them would be ignored."""
    if feedback and not watch:
        raise click.UsageError("--feedback needs --watch; without it, `coursekit course feedback` releases pages.")
    if watch and others:
        raise click.UsageError("--watch grades new hand-ins: do not combine it with --again, --dry-run or a job array.")


def _grade_once(call: Call, *, again: bool) -> list[Graded]:
    """Grade the collected hand-ins, and return the results.

    It prints what was graded and the state of the class, and writes both to the report page.
    """
    from coursekit.course.status.class_status import read_class
    from coursekit.course.status.lost_points import lost_points
    from coursekit.course.status.points import read_points
    from coursekit.course.status.report import print_call, print_class, write_page

    submissions, before = call.load_submissions(), read_points(call.course)
    graded = call.grade(submissions, record, again=again)
    print_call(graded, call.console)
    with clear_failures(call.course):
        labs = [lab for lab in call.labs if lab.name in {one.submission.lab for one in graded}]
        found = read_class(call.course, labs, submissions)
        found = replace(found, notes=(*found.notes, *lost_points(before, read_points(call.course))))
        print_class(found, call.console)
        write_page(call.page, found, datetime.now().astimezone(), graded)
    call.say(f"report: {call.page}")
    return graded


def _grade_share(call: Call, task: ArrayTask, *, again: bool) -> list[Graded]:
    """Judge this task's share of the collected hand-ins, and return the results; a later job records the points."""
    graded = call.grade(task.share(call.load_submissions()), lambda *_: Moves(), again=again)
    click.echo(SHARE_IS_JUDGED.format(*task))
    return graded


def _foresee(call: Call, *, again: bool) -> list[Graded]:
    """Grade the collected hand-ins without recording anything; print whose points would change, and in which cells."""
    graded = call.grade(call.load_submissions(), foresee, again=again)
    moved = [one for one in graded if one.moves.points]
    for one in moved:
        cells = ", ".join(f"{name} {points:+g}" for name, points in one.moves.points.items())
        call.say(f"{one.submission.student} {one.submission.lab}: {sum(one.moves.points.values()):+g} ({cells})")
    call.say(
        f"points of {len(moved)} of {counted(len(graded), 'hand-in')} would change; nothing was recorded. "
        "`coursekit grade` records the new points without judging again."
    )
    return graded
