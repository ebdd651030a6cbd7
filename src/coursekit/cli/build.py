"""`coursekit build`: generate the students' notebooks from the authors' sources."""

from collections import Counter
from pathlib import Path

import click
from rich.console import Console

from coursekit.cli.shared import LABS
from coursekit.labs.build.build import build_release, build_tables
from coursekit.labs.lab import select_labs
from coursekit.paths import find_root
from coursekit.slurm.jobs.render import generate_jobs, write_page


@click.command(epilog="Example: coursekit build 02")
@LABS
def build(names: tuple[str, ...]) -> None:
    """Build the students' notebooks, the job scripts and the tables of labs and sites.

    Without LAB, the notebooks of all labs are built.

    \b
    1. solutions/LAB/LAB.py becomes build/source/LAB/LAB.ipynb, with answers and tests.
    2. nbgrader removes answers and hidden tests; students open the result, labs/LAB/LAB.ipynb.
    3. The tables of labs in labs/README.md and README.md are refreshed.
    4. slurm/jobs/SITE/ and the page docs/sites.md are generated from slurm/sites/ and slurm/templates/.

    Only files whose content changes are written. Nothing is removed: if you delete a lab or a site, you must also
    delete its generated files.
    """  # noqa: D301 - click reads \b as "keep these lines"
    root = find_root()
    labs = select_labs(root, names)
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
    counted = "1 lab" if len(labs) == 1 else f"{len(labs)} labs"
    console.print(f"{counted}: " + ", ".join(f"{n} {verdict}" for verdict, n in sorted(verdicts.items())))
