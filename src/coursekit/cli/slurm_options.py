"""The options of `coursekit grade` that have hand-ins judged by a job array of a site."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from coursekit.errors import CourseKitError

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence

    from rich.console import Console

    from coursekit.course.folder import Course
    from coursekit.grading.judge.pool import Job, PoolSettings
    from coursekit.grading.verdict import Verdict

    Judge = Callable[[Sequence[Job], PoolSettings], Generator[Verdict, None, None]]

GRADING = "grading"  # in the course's folder: what arrays and the one who submitted them share
NUM_TASKS = 4


@dataclass(frozen=True)
class SlurmWish:
    """Where to judge.

    Attributes:
        site: the site's name.
        partition: a partition by its name in the site's file; '' for its default.
        num_tasks: how many tasks of the array may run at a time.
        event: a file with account, reservation and QOS.
    """

    site: str
    partition: str = ""
    num_tasks: int = NUM_TASKS
    event: Path | None = None


def slurm_options(verb: Callable[..., None]) -> Callable[..., None]:
    """Give a verb the options; it gets them as one: `slurm`, a `SlurmWish`, or None to judge here."""

    @click.option("--slurm", "site", metavar="SITE", help="Judge in a job array of this site, from its login node.")
    @click.option("--partition", metavar="P", help="With --slurm: a partition of the site's profile.")
    @click.option(
        "--tasks",
        "num_tasks",
        type=click.IntRange(min=1),
        help=f"With --slurm: tasks at a time.  [default: {NUM_TASKS}]",
    )
    @click.option(
        "--event", type=click.Path(path_type=Path), help="With --slurm: a file with account, reservation, qos."
    )
    @functools.wraps(verb)
    def with_wish(  # what click has read
        *words: Any, site: str | None, partition: str | None, num_tasks: int | None, event: Path | None, **options: Any
    ) -> None:
        if site is None and (partition or num_tasks or event):
            raise CourseKitError("--partition, --tasks and --event are of jobs: name the machine with --slurm SITE.")
        wish = SlurmWish(site, partition or "", num_tasks or NUM_TASKS, event) if site else None
        verb(*words, slurm=wish, **options)

    return with_wish


def slurm_judge(wish: SlurmWish, course: Course, console: Console, *, again: bool = False) -> Judge:
    """Return what judges as wished, for `coursekit.course.grade.grade_all`.

    Args:
        wish: where to judge.
        course: the course, whose folder the site's nodes see under the same path.
        console: where to say what becomes of the job.
        again: judge also what an earlier call, killed since, has left verdicts on.

    Raises:
        CourseKitError: there is no such site or partition, or no sbatch here.
    """
    # They take a while to import, which a mistake in the arguments should not cost.
    from coursekit.grading.array.by_slurm import judge_by_slurm  # noqa: PLC0415
    from coursekit.grading.array.slurm_array import Array  # noqa: PLC0415
    from coursekit.slurm.sites.load import load_site  # noqa: PLC0415

    def tell(sentence: str) -> None:
        console.print(sentence, markup=False, highlight=False, soft_wrap=True)

    site, folder = load_site(course.root, wish.site), course.folder / GRADING
    array = Array(course.root, site, folder, tell, wish.partition, wish.num_tasks, wish.event)
    array.require()
    return functools.partial(judge_by_slurm, array=array, again=again)
