"""`coursekit grade`: judge the hand-ins of a class, record their points, and report."""

from __future__ import annotations

import signal
import sys
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from coursekit.cli.slurm_options import slurm_judge, slurm_options
from coursekit.errors import CourseKitError
from coursekit.grading.walls.outer import SANDBOXES, require_sandbox
from coursekit.labs.lab import select_labs
from coursekit.paths import find_root
from coursekit.processes import StopSignals
from coursekit.text import plain_text

if TYPE_CHECKING:
    from collections.abc import Generator

    from coursekit.cli.slurm_options import SlurmWish
    from coursekit.course.grade import Graded

NOT_CLEAN = 3  # exit status: graded, but some hand-ins need another run


@click.command(epilog="Example: coursekit grade 02 --only ada --again")
@click.argument("names", metavar="[LAB]...", nargs=-1)
@click.option("--only", "students", metavar="STUDENT", multiple=True, help="Only this student; may be repeated.")
@click.option("--again", is_flag=True, help="Judge also what was judged before and has not changed.")
@click.option("--jobs", "num_slots", type=click.IntRange(min=1), help="Hand-ins at a time.  [default: one per core]")
@click.option("--sandbox", type=click.Choice(SANDBOXES), default="bwrap", show_default=True, help="What stands around.")
@click.option("--image", type=click.Path(exists=True, path_type=Path), help="Container image, for apptainer.")
@click.option("--limit-s", type=click.FloatRange(min=1), default=600, show_default=True, help="For one hand-in.")
@click.option("--memory-gb", type=click.FloatRange(min=1), default=6, show_default=True, help="For one hand-in.")
@click.option("--course", "folder", type=click.Path(file_okay=False, path_type=Path), help="[default: course/]")
@slurm_options
def grade(  # noqa: PLR0913  # one for each option
    names: tuple[str, ...],
    *,
    students: tuple[str, ...],
    again: bool,
    num_slots: int | None,
    sandbox: str,
    image: Path | None,
    limit_s: float,
    memory_gb: float,
    folder: Path | None,
    slurm: SlurmWish | None,
) -> None:
    """Grade what was collected of LABs, or of all: each hand-in runs in a sandbox and is judged outside of it.

    Killed at any moment, a second call goes on where the first one was; what has not changed is not judged again.
    """
    root = find_root()
    # These bring nbgrader with them, and a mistake in the arguments should show before that is loaded.
    from coursekit.course.folder import find_course  # noqa: PLC0415
    from coursekit.course.grade import clear_failures, grade_all, stage, to_judge  # noqa: PLC0415
    from coursekit.course.report.grade_report import print_report, write_report  # noqa: PLC0415
    from coursekit.grading.judge.pool import PoolSettings, default_num_slots, judge_all  # noqa: PLC0415
    from coursekit.grading.judge.slot import Limits  # noqa: PLC0415
    from coursekit.labs.build.build import build_sources  # noqa: PLC0415

    course = find_course(root, folder)
    limits = Limits(notebook_s=limit_s, cell_s=min(limit_s, Limits.cell_s), memory_gb=memory_gb)
    settings = PoolSettings(num_slots or (0 if slurm else default_num_slots()), sandbox, image, limits)
    console = Console()
    judge = slurm_judge(slurm, course, console, again=again) if slurm else judge_all
    stop = StopSignals()
    try:
        with stop.handled():
            staged = stage(course, build_sources(root, select_labs(root, names)), students, settings)
            if not staged:
                raise CourseKitError(_nothing(students))
            if not slurm and to_judge(course, staged, again=again):  # what was judged before needs no sandbox
                require_sandbox(sandbox, image)
            stream = grade_all(course, staged, settings, again=again, judge=judge)
            graded = _grade(stream, len(staged), console)
            print_report(graded, console)
            with clear_failures(course):
                path = write_report(course, graded)
    except KeyboardInterrupt:
        click.echo("coursekit: stopped; what was judged is kept, and the next call goes on from there.", err=True)
        sys.exit(128 + (stop.received or signal.SIGINT))
    console.print(f"report: {path}", markup=False, highlight=False, soft_wrap=True)
    if any(one.verdict.fault for one in graded):
        sys.exit(NOT_CLEAN)


def _nothing(students: tuple[str, ...]) -> str:
    whose = f" of {', '.join(students)}" if students else ""
    return f"there is nothing{whose} to grade: run `coursekit course collect` first."


def _grade(stream: Generator[Graded, None, None], num_hand_ins: int, console: Console) -> list[Graded]:
    """Grade with a line for each hand-in, and a bar where there is a terminal."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    done = []
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("hand-ins", total=num_hand_ins)
        with closing(stream):
            for graded in stream:
                done.append(graded)
                progress.update(task, advance=1)
                console.print(_line(graded), markup=False, highlight=False, soft_wrap=True)
    return sorted(done, key=lambda one: (one.hand_in.student, one.hand_in.lab))


def _line(graded: Graded) -> str:
    """Return what became of one hand-in, as one line."""
    from coursekit.course.grade import EMPTY  # noqa: PLC0415  # as above

    verdict = graded.verdict
    name = f"{verdict.student} {verdict.lab}:"
    if verdict.fault:
        return plain_text(f"{name} needs another run: {verdict.fault}").replace("\n", " ")
    flags = f", {len(verdict.flags)} flag{'s' * (len(verdict.flags) > 1)}" if verdict.flags else ""
    if graded.outcome == EMPTY:
        return plain_text(f"{name} {'; '.join(graded.notes) or EMPTY}{flags}")
    how = "as before" if graded.is_cached else f"{verdict.seconds:.1f} s"
    return plain_text(f"{name} {verdict.points:g} of {verdict.max_points:g} ({how}{flags})")
