"""`workshop rehearse`: run a site's job scripts, unmodified, on a private Slurm shaped like the site."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import click
from rich.console import Console

from coursekit.cli.shared import JSON_FILE, SITE
from coursekit.files import write_json
from coursekit.paths import find_root
from coursekit.processes import StopSignals
from coursekit.slurm.sites.load import load_site
from coursekit.slurm.sites.profile import JOB_SCRIPTS
from coursekit.text import counted
from workshop.rehearsal.cluster import Cluster
from workshop.rehearsal.course_copy import make_course
from workshop.rehearsal.jobs import (
    RehearsalProgress,
    RehearsedJob,
    find_scripts,
    job_environment,
    look,
    release,
    submit,
    until_all_parts_run,
)

POLL_S = 1.0
LEAST_AT_A_TIME = 2
QUICK = (
    "Leave out pictures, start ranks only once per notebook, and skip scripts that add no option, software or program."
)
NUM_LOG_LINES = 100  # a crash in a library shows the Python stack of every thread


@click.command(epilog="Example: workshop rehearse --site karolina 02-horovod-sgd")
@click.argument("scripts", nargs=-1, metavar="[SCRIPT]...")
@SITE
@click.option(
    *("--nodes", "num_nodes"),
    metavar="N",
    type=click.IntRange(min=1),
    default=2,
    show_default=True,
    help="Number of nodes of each kind.",
)
@click.option("--quick", is_flag=True, help=QUICK)
@click.option(
    "--timeout-s",
    metavar="SECONDS",
    type=click.FloatRange(min=1),
    default=3600,
    show_default=True,
    help="Time limit for all scripts together, in seconds.",
)
@JSON_FILE
def rehearse(  # noqa: PLR0913, PLR0917  # click passes one argument per option
    scripts: tuple[str, ...],
    site: str,
    num_nodes: int,
    quick: bool,
    timeout_s: float,
    json_file: Path | None,
) -> None:
    """Run a site's job scripts, unmodified, in a private Slurm on this machine.

    The private Slurm has partitions and nodes like the site's. The notebooks contain the solutions' answers.
    Without SCRIPT, all scripts of the site except grade.sbatch are submitted.
    The command needs root, and the Debian packages slurm-wlm, slurmdbd, munge and mariadb-server.
    It does not touch an existing Slurm, and it leaves nothing behind.
    Exit status: 0 if every script ended as it should, 130 after Ctrl-C, else 1.
    """
    root = find_root()
    profile = load_site(root, site)
    chosen = find_scripts(root, site, scripts)
    console, stop = Console(), StopSignals()
    progress = RehearsalProgress(console)
    try:
        progress.say(f"starting a Slurm shaped like {site}, which takes up to a minute")
        with stop.handled(), Cluster(profile, num_nodes) as cluster:
            # Inside the cluster's folder, which is removed even if this process is killed.
            course = make_course(root, cluster.folder / "course", "quick" if quick else "tests")
            jobs = _submit(cluster, course, [path.name for path in chosen], progress, only_forms=quick)
            jobs = _wait(cluster, course, jobs, progress, timeout_s)
            _report(console, course, jobs)
            if json_file:
                content = {"site": site, "num_nodes": num_nodes, "jobs": [asdict(job) for job in jobs]}
                write_json(json_file, content)
    except KeyboardInterrupt:
        sys.exit(stop.status)
    sys.exit(0 if all(job.good for job in jobs) else 1)


def _submit(
    cluster: Cluster, course: Path, names: Sequence[str], progress: RehearsalProgress, *, only_forms: bool
) -> list[RehearsedJob]:
    folder = course / JOB_SCRIPTS / cluster.site.name
    environ = job_environment(cluster, cluster.folder / "home")
    jobs = [submit(folder / name, course, environ) for name in names]
    progress.say(f"{counted(len(names), 'script')} submitted; up to {_num_at_a_time()} run at a time")
    return until_all_parts_run(cluster, folder, jobs) if only_forms else jobs


def _num_at_a_time() -> int:
    """Return how many jobs can run at the same time on the processors of this machine."""
    return max(LEAST_AT_A_TIME, len(os.sched_getaffinity(0)) // 2)


def _wait(
    cluster: Cluster, course: Path, jobs: list[RehearsedJob], progress: RehearsalProgress, timeout_s: float
) -> list[RehearsedJob]:
    deadline = time.monotonic() + timeout_s
    while True:
        jobs = release(cluster, jobs, _num_at_a_time())
        progress.show(jobs)
        if all(job.ended for job in jobs):
            return jobs
        if time.monotonic() > deadline:
            progress.say(f"not done after {timeout_s:g} s; allow more with --timeout-s")
            return jobs
        time.sleep(POLL_S)
        jobs = look(cluster, course, jobs)


def _report(console: Console, course: Path, jobs: Sequence[RehearsedJob]) -> None:
    """Show the end of each failed job's log, because the log itself will be removed."""
    for job in jobs:
        lines = [] if job.good else job.log_text(course).splitlines()
        if lines:
            console.print(f"The end of what {job.script} printed:")
            console.print("\n".join(lines[-NUM_LOG_LINES:]), markup=False, highlight=False, soft_wrap=True)
