"""`coursekit build`: make the notebooks that people open from those that authors write."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import click
from rich.console import Console

from coursekit.labs.lab import select_labs
from coursekit.paths import find_root

if TYPE_CHECKING:
    from pathlib import Path


@click.command(epilog="Example: coursekit build 02")
@click.argument("names", metavar="[LAB]...", nargs=-1)
def build(names: tuple[str, ...]) -> None:
    """Build sources and releases of all labs, or of those named (a prefix such as 02 will do).

    \b
    1. solutions/<lab>/<lab>.py becomes build/source/<lab>/<lab>.ipynb, with answers and tests.
    2. nbgrader takes the answers out: labs/<lab>/<lab>.ipynb is what students open.
    3. The tables of labs in labs/README.md and README.md are refreshed.
    4. slurm/sites/ and slurm/templates/ become slurm/jobs/<site>/, and the pages docs/sites.md and site-format.md.
    5. The minutes of slides/ and labs become docs/schedule.md.
    6. The banks in tests/answers/ become its properties.md.

    Files that would not change are left alone; whatever the solutions no longer hold is removed.
    """  # noqa: D301 - click reads \b as "keep these lines"
    root = find_root()
    labs = select_labs(root, names)
    # The builder brings nbgrader with it, and a mistake in a lab.toml should show before that is loaded.
    from coursekit.grading.bank.properties import write_properties  # noqa: PLC0415
    from coursekit.labs.build.build import build_release  # noqa: PLC0415
    from coursekit.labs.build.tables import build_tables  # noqa: PLC0415
    from coursekit.lecture.slides.schedule import write_schedule  # noqa: PLC0415
    from coursekit.slurm.jobs.page import write_page  # noqa: PLC0415
    from coursekit.slurm.jobs.render import generate_jobs  # noqa: PLC0415

    console = Console()
    verdicts: Counter[str] = Counter()

    def report(verdict: str, path: Path) -> None:
        verdicts[verdict] += 1
        style = "dim" if verdict == "unchanged" else "bold"
        console.print(f"[{style}]{verdict:9}[/]", path.relative_to(root).as_posix(), highlight=False, soft_wrap=True)

    build_release(root, labs, report)
    build_tables(root, report)
    generate_jobs(root, report)
    write_page(root, report)
    write_schedule(root, report)
    write_properties(root, report)
    counted = "1 lab" if len(labs) == 1 else f"{len(labs)} labs"
    console.print(f"{counted}: " + ", ".join(f"{n} {verdict}" for verdict, n in sorted(verdicts.items())))
