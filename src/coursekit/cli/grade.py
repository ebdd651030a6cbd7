"""`coursekit grade`: judge the hand-ins of a class here or in a job array, record their points, and report."""

from __future__ import annotations

import functools
import shlex
import signal
import sys
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from coursekit.errors import CourseKitError
from coursekit.grading.walls.sandbox import SANDBOXES, require_sandbox
from coursekit.labs.lab import select_labs
from coursekit.paths import find_root
from coursekit.processes import StopSignals
from coursekit.text import counted, printable

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence

    from coursekit.course.folder import Course
    from coursekit.course.grade import GradedHandIn, Staged
    from coursekit.grading.judge.pool import PoolSettings
    from coursekit.grading.submission.work import Submission
    from coursekit.grading.verdict import Verdict

NOT_CLEAN = 3  # exit status: graded, but some hand-ins need another run
GRADING = "grading"  # in the course's folder: what arrays and the one who submitted them share
NUM_TASKS = 4


@dataclass(frozen=True)
class GradeOptions:
    """What `coursekit grade` is called with: the help of its options says what each is.

    Without names of labs or students, all are meant; with no `site`, this machine judges.
    """

    names: tuple[str, ...]
    students: tuple[str, ...]
    again: bool
    num_slots: int | None
    sandbox: str
    image: Path | None
    limit_s: float
    memory_gb: float
    folder: Path | None
    site: str | None
    partition: str | None
    num_tasks: int | None
    event: Path | None


@click.command(epilog="Example: coursekit grade 02 --only ada --again")
@click.argument("names", metavar="[LAB]...", nargs=-1)
@click.option("--only", "students", metavar="STUDENT", multiple=True, help="Only this student; may be repeated.")
@click.option("--again", is_flag=True, help="Judge also what was judged before and has not changed.")
@click.option("--jobs", "num_slots", type=click.IntRange(min=1), help="Hand-ins at a time.  [default: one per core]")
@click.option("--sandbox", type=click.Choice(SANDBOXES), default="bwrap", show_default=True, help="What stands around.")
@click.option("--image", type=click.Path(exists=True, path_type=Path), help="Container image, for apptainer.")
@click.option(
    "--limit-s", type=click.FloatRange(min=1), default=600, show_default=True, help="Seconds for one hand-in."
)
@click.option("--memory-gb", type=click.FloatRange(min=1), default=6, show_default=True, help="GB for one hand-in.")
@click.option("--course", "folder", type=click.Path(file_okay=False, path_type=Path), help="[default: course/]")
@click.option("--slurm", "site", metavar="SITE", help="Judge in a job array of this site, from its login node.")
@click.option("--partition", metavar="P", help="With --slurm: a partition of the site's profile.")
@click.option(
    "--tasks", "num_tasks", type=click.IntRange(min=1), help=f"With --slurm: tasks at a time.  [default: {NUM_TASKS}]"
)
@click.option("--event", type=click.Path(path_type=Path), help="With --slurm: a file with account, reservation, qos.")
def grade(**options: Any) -> None:
    """Grade what was collected of LABs, or of all: each hand-in runs in a sandbox and is judged outside of it.

    Killed at any moment, a second call goes on where the first one was; what has not changed is not judged again.

    What one hand-in may use beside the two limits below: 60 s for a cell, 128 processes and 1024 threads at once,
    0.5 GB and 20000 files in each folder in memory, 0.25 GB for a file.
    Its sandbox has 300 s to start.
    All seconds are its own: a busy machine makes them no fewer.
    """
    asked = GradeOptions(**options)
    if asked.site is None and (asked.partition or asked.num_tasks or asked.event):
        raise CourseKitError("--partition, --tasks and --event are of jobs: name the machine with --slurm SITE.")
    root = find_root()
    # These bring nbgrader with them, and a mistake in the arguments should show before that is loaded.
    from coursekit.course.folder import find_course  # noqa: PLC0415
    from coursekit.course.grade import clear_failures, grade_all, stage, to_judge  # noqa: PLC0415
    from coursekit.course.report.grade_report import print_report, write_report  # noqa: PLC0415
    from coursekit.grading.judge.pool import judge_all  # noqa: PLC0415
    from coursekit.labs.build.build import build_sources  # noqa: PLC0415

    course = find_course(root, asked.folder)
    settings = _pool_settings(asked)
    console = Console()
    judge = _slurm_judge(asked, asked.site, course, console) if asked.site else judge_all
    stop = StopSignals()
    done: list[GradedHandIn] = []
    staged: list[Staged] = []
    try:
        with stop.handled():
            staged = stage(course, build_sources(root, select_labs(root, asked.names)), asked.students, settings)
            if not staged:
                whose = f" of {', '.join(asked.students)}" if asked.students else ""
                raise CourseKitError(f"there is nothing{whose} to grade: run `coursekit course collect` first.")
            if not asked.site and to_judge(course, staged, again=asked.again):  # judged before, it needs no sandbox
                require_sandbox(asked.sandbox, asked.image)
            stream = grade_all(course, staged, settings, again=asked.again, judge=judge)
            _grade(stream, done, len(staged), console)
            graded = sorted(done, key=lambda one: (one.hand_in.student, one.hand_in.lab))
            print_report(graded, console)
            with clear_failures(course):
                path = write_report(course, graded)
    except KeyboardInterrupt:
        num_kept = sum(not one.is_empty for one in staged) - len(to_judge(course, staged))
        after = "judges all of them again" if asked.again else "goes on from there"
        line = shlex.join(["coursekit", *sys.argv[1:]])
        words = f"judged and kept: {counted(num_kept, 'hand-in')}; `{line}` {after}."
        click.echo(f"coursekit: stopped; {words}", err=True)
        sys.exit(128 + (stop.received or signal.SIGINT))
    console.print(f"report: {path}", markup=False, highlight=False, soft_wrap=True)
    if any(one.verdict.fault for one in graded):
        sys.exit(NOT_CLEAN)


def _pool_settings(asked: GradeOptions) -> PoolSettings:
    from coursekit.grading.judge.pool import PoolSettings, default_num_slots  # noqa: PLC0415  # as above
    from coursekit.grading.judge.slot import SubmissionLimits  # noqa: PLC0415

    cell_s = min(asked.limit_s, SubmissionLimits.cell_s)
    limits = SubmissionLimits(notebook_s=asked.limit_s, cell_s=cell_s, memory_gb=asked.memory_gb)
    num_slots = asked.num_slots or (0 if asked.site else default_num_slots())
    return PoolSettings(num_slots, asked.sandbox, asked.image, limits)


def _slurm_judge(
    asked: GradeOptions, site_name: str, course: Course, console: Console
) -> Callable[[Sequence[Submission], PoolSettings], Generator[Verdict, None, None]]:
    """Return what judges in a job array of a site, whose nodes see the course's folder under the same path.

    Raises:
        CourseKitError: there is no such site or partition, or no sbatch here.
    """
    from coursekit.grading.array.by_slurm import judge_by_slurm  # noqa: PLC0415  # as above
    from coursekit.grading.array.job_array import JobArray  # noqa: PLC0415
    from coursekit.slurm.sites.load import load_site  # noqa: PLC0415

    def tell(sentence: str) -> None:
        console.print(sentence, markup=False, highlight=False, soft_wrap=True)

    site, folder = load_site(course.root, site_name), course.folder / GRADING
    array = JobArray(course.root, site, folder, tell, asked.partition or "", asked.num_tasks or NUM_TASKS, asked.event)
    array.require()
    return functools.partial(judge_by_slurm, array=array, again=asked.again)


def _grade(
    stream: Generator[GradedHandIn, None, None], done: list[GradedHandIn], num_hand_ins: int, console: Console
) -> None:
    """Grade into `done` with a line for each hand-in, and a bar where there is a terminal."""
    from coursekit.course.report.grade_report import cause  # noqa: PLC0415  # as above

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("hand-ins", total=num_hand_ins)
        with closing(stream):
            for graded in stream:
                is_told = cause(graded) in map(cause, done)
                done.append(graded)
                progress.update(task, advance=1)
                console.print(_line(graded, is_told=is_told), markup=False, highlight=False, soft_wrap=True)


def _line(graded: GradedHandIn, *, is_told: bool) -> str:
    """Return what became of one hand-in, as one line; a cause that was told before is not told again."""
    from coursekit.course.grade import EMPTY  # noqa: PLC0415  # as above
    from coursekit.course.report.grade_report import flag_words  # noqa: PLC0415  # as above

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
