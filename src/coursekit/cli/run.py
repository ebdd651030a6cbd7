"""`coursekit run`: build the labs, execute them with their solutions, report."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import click
from rich.console import Console

from coursekit.labs.build.build import build_sources
from coursekit.labs.lab import select_labs
from coursekit.labs.run import folders
from coursekit.labs.run.facts import collect
from coursekit.labs.run.folders import Request
from coursekit.labs.run.parameters import given_by_environment
from coursekit.labs.run.plan import plan_runs
from coursekit.labs.run.progress import RunProgress
from coursekit.labs.run.session import run_labs
from coursekit.labs.run.terminal import show_report
from coursekit.paths import find_root
from coursekit.processes import StopSignals

# What a shell reports for a command that a signal has ended.
SIGNAL_STATUS = 128


@click.command(
    epilog="Example: coursekit run 02-horovod-sgd --ranks 4 -p learning_rate 0.1",
    short_help="Execute the solved labs and report.",
)
@click.argument("labs", nargs=-1, metavar="[LAB]...")
@click.option("--ranks", "num_ranks", type=int, metavar="N", help="Ranks to start, in labs that start any.")
@click.option(
    "-p",
    "--parameter",
    "given",
    nargs=2,
    multiple=True,
    metavar="NAME VALUE",
    help="Value for a parameter, in labs that have it. May be repeated.",
)
@click.option(
    "--resume",
    is_flag=True,
    help="Go on with the newest run: its labs and options, plus those given now. "
    "Labs that passed are kept unless their source, their parameters or the package changed.",
)
@click.option("--run", "run_name", metavar="NAME", help="Go on with the run of this name, as --resume does.")
@click.option(
    "--site", metavar="NAME", help="Run in a job of this machine, and follow it: on a login node, see coursekit sites."
)
def run(  # noqa: PLR0913, PLR0917  # the options of the command
    labs: tuple[str, ...],
    num_ranks: int | None,
    given: tuple[tuple[str, str], ...],
    resume: bool,
    run_name: str | None,
    site: str | None,
) -> None:
    """Build the labs, execute them with their solutions, and report points, time and memory.

    Without LAB, all labs run. Exit status: 0 when every lab ran and earned full points, 1 when not, 130 after Ctrl-C.
    With --site, the job script slurm/jobs/NAME/solutions.sbatch does it on that machine's nodes.
    """
    root = find_root()
    names = tuple(lab.name for lab in select_labs(root, labs)) if labs else ()
    request = Request(names, num_ranks, dict(given))
    folder = None
    if resume or run_name:
        folder, earlier = folders.named_run(root, run_name) if run_name else folders.newest_run(root)
        request = earlier.changed_by(request)
    if site:
        from coursekit.slurm.jobs.site_run import run_on_site  # noqa: PLC0415  # needs Slurm, which laptops have not

        sys.exit(run_on_site(root, site, folder or folders.create_run(root, request), request))
    chosen = select_labs(root, request.labs)
    sources = build_sources(root, chosen)
    request = replace(request, given={**given_by_environment(sources.values()), **request.given})
    plan = plan_runs(chosen, sources, request.num_ranks, request.given)
    console = Console()
    folder = folder or folders.create_run(root, request)
    stop, progress = StopSignals(), RunProgress(console)
    with folders.claimed(folder), stop.handled(), progress.shown():
        folders.save_request(folder, request)
        folders.point_latest(folder)
        report = run_labs(folder, plan, collect(root), progress, stop)
    show_report(console, report, _relative(folder))
    if stop.received:
        sys.exit(SIGNAL_STATUS + stop.received)
    sys.exit(0 if report.passed else 1)


def _relative(folder: Path) -> Path:
    try:
        return folder.relative_to(Path.cwd())
    except ValueError:
        return folder
