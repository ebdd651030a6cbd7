"""`coursekit run`: build the labs, execute their solutions, and report the results."""

import sys
from pathlib import Path

import click
from rich.console import Console

from coursekit.cli.shared import LABS, PARAMETERS, RANKS
from coursekit.labs.build.build import build_sources
from coursekit.labs.lab import select_labs
from coursekit.labs.needs import runnable
from coursekit.labs.run.jobs_folder import new_folder
from coursekit.labs.run.plan import plan_runs
from coursekit.labs.run.results import PASSED, gather_facts
from coursekit.labs.run.session import RUNS, RunProgress, point_latest, run_labs, show_report
from coursekit.paths import find_root
from coursekit.processes import StopSignals


@click.command(epilog="Example: coursekit run 02-horovod-sgd --ranks 4 -p learning_rate 0.1")
@LABS
@RANKS
@PARAMETERS
def run(names: tuple[str, ...], num_ranks: int | None, given: tuple[tuple[str, str], ...]) -> None:
    """Execute the solutions of the labs, and report points, time and memory.

    Without LAB, all labs run except those whose requirements are not installed.
    On a cluster, `sbatch slurm/jobs/SITE/solutions.sbatch LAB` runs this command in a job.
    Exit status: 0 if every lab ran and earned full points, 130 after Ctrl-C, else 1.
    """
    root = find_root()
    left_out: list[str] = []
    chosen = runnable(select_labs(root, names), names, left_out.append)
    sources = build_sources(root, chosen)
    plan = plan_runs(chosen, sources, num_ranks, dict(given))
    console = Console()
    folder = new_folder(root / RUNS)
    stop, progress = StopSignals(), RunProgress(console)
    with stop.handled(), progress.line:
        point_latest(folder)
        facts = gather_facts(root)
        labs = run_labs(folder, plan, facts, progress, stop)
    cwd = Path.cwd()
    show_report(console, labs, facts, folder.relative_to(cwd) if cwd in folder.parents else folder)
    for sentence in left_out:
        click.echo(sentence)
    if stop.received:
        sys.exit(stop.status)
    sys.exit(0 if all(result.verdict == PASSED for result in labs) else 1)
