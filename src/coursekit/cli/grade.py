"""`coursekit grade`: judge the hand-ins of a class, record their points, and report."""

from __future__ import annotations

import logging
import shlex
import sys
from collections.abc import Generator
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.progress import TimeElapsedColumn

from coursekit import __version__
from coursekit.cli.shared import COURSE, LABS, STUDENTS, counting_bar
from coursekit.course.folder import find_course
from coursekit.course.grade import GradedHandIn, Staged
from coursekit.errors import CourseKitError
from coursekit.grading.isolation.sandbox import require_sandbox
from coursekit.grading.judge.pool import PoolSettings, default_num_slots
from coursekit.grading.judge.slot import SubmissionLimits
from coursekit.labs.build.build import build_sources
from coursekit.labs.lab import select_labs
from coursekit.log import log_to, machine
from coursekit.paths import find_root
from coursekit.processes import StopSignals
from coursekit.text import counted, printable

LOGGER = logging.getLogger(__name__)
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


@dataclass(frozen=True)
class GradeOptions:
    """What `coursekit grade` is called with: the help of its options says what each is.

    Without names of labs or students, all are meant.
    """

    names: tuple[str, ...]
    students: tuple[str, ...]
    again: bool
    num_slots: int | None
    timeout_s: float
    memory_gb: float
    folder: Path | None


@click.command(epilog="Example: coursekit grade 02 --student ada --again")
@LABS
@STUDENTS
@click.option("--again", is_flag=True, help="Also grade again what has not changed.")
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
def grade(**options: Any) -> None:
    """Grade the collected hand-ins in a sandbox, and write a report.

    Without LAB, the hand-ins of all labs are graded.
    Each hand-in runs in a sandbox, and its points are decided outside of the sandbox.
    After an interruption, run the command again to resume; what has not changed is not graded again.
    On a cluster, `sbatch slurm/jobs/SITE/grade.sbatch LAB` does this in a job.

    The limits of one hand-in, besides --timeout-s and --memory-gb: 60 s for a cell, 128 processes and 1024 threads
    at once, 0.5 GB and 20000 files in each folder in memory, 0.25 GB for a file.
    Its sandbox has 300 s to start.
    Time limits count only the time in which a CPU was available, so a busy machine does not shorten them.
    """
    asked = GradeOptions(**options)
    root = find_root()
    # SQLAlchemy takes half a second, and a mistake in the arguments should show before that is loaded.
    from coursekit.course.grade import clear_failures, grade_all, stage, to_judge
    from coursekit.course.status.class_status import read_class
    from coursekit.course.status.report import print_call, print_class, write_report

    course = find_course(root, asked.folder)
    settings = _pool_settings(asked)
    console = Console()
    stop = StopSignals()
    log = course.report("grading", datetime.now().astimezone()).with_suffix(".log")
    done: list[GradedHandIn] = []
    staged: list[Staged] = []
    try:
        with stop.handled(), log_to(log):
            labs = select_labs(root, asked.names)
            read_class(course, ())  # a mistake in the roster shows now, and not at the end
            staged = stage(course, build_sources(root, labs), asked.students, settings)
            if not staged:
                whose = f" of {', '.join(asked.students)}" if asked.students else ""
                raise CourseKitError(f"there is nothing{whose} to grade: run `coursekit course collect` first.")
            if to_judge(course, staged, again=asked.again):  # judged before, it needs no sandbox
                require_sandbox()
            stream = grade_all(course, staged, settings, again=asked.again)
            LOGGER.info("coursekit %s, %d hand-ins: %s (%s)", __version__, len(staged), settings, machine())
            _grade(stream, done, len(staged), console, log)
            graded = sorted(done, key=lambda one: (one.hand_in.student, one.hand_in.lab))
            print_call(graded, console)
            with clear_failures(course):
                found = read_class(course, [lab for lab in labs if lab.name in {one.hand_in.lab for one in graded}])
                print_class(found, console)
                path = write_report(course, found, graded)
    except KeyboardInterrupt:
        num_kept = sum(not one.is_empty for one in staged) - len(to_judge(course, staged))
        after = "judges all of them again" if asked.again else "continues from there"
        line = shlex.join(["coursekit", *sys.argv[1:]])
        words = f"judged and kept: {counted(num_kept, 'hand-in')}; `{line}` {after}."
        click.echo(f"coursekit: stopped; {words}", err=True)
        sys.exit(stop.status)
    console.print(f"report: {path}", markup=False, highlight=False, soft_wrap=True)
    if any(one.verdict.fault for one in graded):
        sys.exit(NOT_CLEAN)


def _pool_settings(asked: GradeOptions) -> PoolSettings:
    cell_s = min(asked.timeout_s, SubmissionLimits.cell_s)
    limits = SubmissionLimits(notebook_s=asked.timeout_s, cell_s=cell_s, memory_gb=asked.memory_gb)
    return PoolSettings(asked.num_slots or default_num_slots(limits), limits)


def _grade(
    stream: Generator[GradedHandIn, None, None],
    done: list[GradedHandIn],
    num_hand_ins: int,
    console: Console,
    log: Path,
) -> None:
    """Grade into `done` with a line for each hand-in, and a bar where there is a terminal; faults name the log."""
    from coursekit.course.status.report import cause

    with counting_bar(console, TimeElapsedColumn()) as progress:
        task = progress.add_task("hand-ins", total=num_hand_ins)
        with closing(stream):
            for one in stream:
                fault = one.verdict.fault and f"{one.verdict.fault} (log: {log})"
                graded = replace(one, verdict=replace(one.verdict, fault=fault))
                is_told = cause(graded) in map(cause, done)
                done.append(graded)
                progress.update(task, advance=1)
                console.print(_line(graded, is_told=is_told), markup=False, highlight=False, soft_wrap=True)
                LOGGER.info(_line(graded, is_told=False))


def _line(graded: GradedHandIn, *, is_told: bool) -> str:
    """Return what became of one hand-in, as one line; a cause that was told before is not told again."""
    from coursekit.course.grade import EMPTY
    from coursekit.course.status.report import flag_words

    verdict = graded.verdict
    name = f"{verdict.student} {verdict.lab}:"
    if verdict.fault:
        why = ", as told above" if is_told else f": {verdict.fault}"
        return printable(f"{name} needs another run{why}").replace("\n", " ")
    flags = f", {flag_words(verdict.flags)}" if verdict.flags else ""
    if graded.outcome == EMPTY:
        return printable(f"{name} {EMPTY if is_told else '; '.join(graded.notes) or EMPTY}{flags}")
    how = "as before" if graded.is_cached else f"{verdict.seconds:.1f} s"
    return printable(f"{name} {verdict.points:g} of {verdict.max_points:g} ({how}{flags})")
