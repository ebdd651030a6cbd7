"""`coursekit rehearse`: run a site's job scripts, unmodified, on a private Slurm shaped like the site."""

from __future__ import annotations

import json
import os
import shlex
import signal
import sys
import time
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.console import Console

from coursekit.paths import find_root
from coursekit.processes import StopSignals
from coursekit.slurm.rehearsal.cluster import Cluster
from coursekit.slurm.rehearsal.course_copy import make_course
from coursekit.slurm.rehearsal.jobs import RehearsedJob, find_scripts, job_environment, look, release, small_run, submit
from coursekit.slurm.rehearsal.progress import RehearsalProgress, table
from coursekit.slurm.sites.load import load_site
from coursekit.text import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coursekit.slurm.sites.profile import Site

SIGNAL_STATUS = 128
POLL_S = 1.0
S_PER_MIN = 60.0
LEAST_AT_A_TIME = 2
NUM_LOG_LINES = 40


@click.command(
    epilog="Example: coursekit rehearse --site karolina 02-horovod-sgd", short_help="Run a site's job scripts here."
)
@click.argument("scripts", nargs=-1, metavar="[SCRIPT]...")
@click.option(
    "--site", "site_name", required=True, metavar="NAME", help="The machine to rehearse: see coursekit sites."
)
@click.option("--nodes", "num_nodes", default=2, show_default=True, help="Nodes of each kind.")
@click.option(
    "--keep", is_flag=True, help="Leave the Slurm up for playing, until Ctrl-C; submits only the named scripts."
)
@click.option("--brief", "cut", flag_value="brief", help="Stop notebooks after their first ranks.")
@click.option(
    "--complete", "cut", flag_value="none", help="Leave the tests in the notebooks, which take most of their time."
)
@click.option("--limit", "limit_min", default=60.0, show_default=True, help="Minutes after which to give up.")
@click.option(
    "--json", "json_file", type=click.Path(dir_okay=False, path_type=Path), help="Write the report there, too."
)
def rehearse(  # noqa: PLR0913, PLR0917  # click hands over one argument per option
    scripts: tuple[str, ...],
    site_name: str,
    num_nodes: int,
    keep: bool,
    cut: str | None,
    limit_min: float,
    json_file: Path | None,
) -> None:
    """Start a Slurm shaped like a site on this machine, submit the site's job scripts unmodified, and report.

    Notebooks hold the solutions' answers. Without SCRIPT, all scripts of the site are submitted.
    It needs root and Debian's slurm-wlm, slurmdbd, munge and mariadb-server, touches no Slurm that is there already,
    and leaves nothing behind. Exit status: 0 when every script did what it is for, 1 when not, 130 after Ctrl-C.
    """
    root = find_root()
    site = load_site(root, site_name)
    chosen = () if keep and not scripts else find_scripts(root, site_name, scripts)
    console, stop = Console(), StopSignals()
    progress = RehearsalProgress(console)
    jobs: list[RehearsedJob] = []
    inviting = False
    try:
        with stop.handled(), _started(progress, site, num_nodes) as cluster:
            # Inside the cluster's folder, which goes away even when this process is killed.
            course = make_course(root, cluster.folder / "course", cut or "tests")
            jobs = _run(cluster, course, [path.name for path in chosen], progress, limit_min * S_PER_MIN)
            _report(console, course, jobs)
            if json_file:
                content = {"site": site_name, "num_nodes": num_nodes, "jobs": [asdict(job) for job in jobs]}
                json_file.write_text(json.dumps(content, indent=1) + "\n")
            inviting = keep
            if inviting:
                _invite(console, cluster, course)
    except KeyboardInterrupt:
        if not (inviting and stop.received == signal.SIGINT):
            sys.exit(SIGNAL_STATUS + (stop.received or signal.SIGINT))
    sys.exit(0 if all(job.good for job in jobs) else 1)


def _started(progress: RehearsalProgress, site: Site, num_nodes: int) -> Cluster:
    progress.say(f"starting a Slurm shaped like {site.name}, which takes up to a minute")
    return Cluster(site, num_nodes)


def _run(
    cluster: Cluster, course: Path, names: Sequence[str], progress: RehearsalProgress, limit_s: float
) -> list[RehearsedJob]:
    folder = course / "slurm" / "jobs" / cluster.site.name
    environ = job_environment(cluster, cluster.folder / "home")
    jobs = [submit(folder / name, course, environ) for name in names]
    deadline = time.monotonic() + limit_s
    num_at_a_time = max(LEAST_AT_A_TIME, len(os.sched_getaffinity(0)) // 2)
    if names:
        progress.say(
            f"{counted(len(names), 'script')} submitted; up to {num_at_a_time} run at a time, for the processors here"
        )
    with progress.shown():
        while True:
            jobs = release(cluster, jobs, num_at_a_time)
            progress.show(jobs)
            if all(job.ended for job in jobs):
                return jobs
            if time.monotonic() > deadline:
                progress.say(f"not done after {limit_s / S_PER_MIN:g} min; allow more with --limit")
                return jobs
            time.sleep(POLL_S)
            jobs = look(cluster, course, jobs)


def _report(console: Console, course: Path, jobs: Sequence[RehearsedJob]) -> None:
    """Show the table, and the end of the log of each job that was not good: the log itself will be gone."""
    if jobs:
        console.print(table(jobs))
    for job in jobs:
        lines = [] if job.good else job.log_text(course).splitlines()
        if lines:
            console.print(f"The end of what {job.script} printed:")
            console.print("\n".join(lines[-NUM_LOG_LINES:]), markup=False, highlight=False, soft_wrap=True)


def _invite(console: Console, cluster: Cluster, course: Path) -> None:
    """Say how to use the Slurm from another terminal, and wait for Ctrl-C."""
    console.print(f"The Slurm of {cluster.site.name} is up. In another terminal:", highlight=False)
    for name, value in {**cluster.environ, **small_run()}.items():
        console.print(f"  export {name}={shlex.quote(value)}", highlight=False, soft_wrap=True)
    console.print(f"  cd {course}", highlight=False, soft_wrap=True)
    console.print("and then sinfo, sbatch, squeue, sacct. Ctrl-C here ends it, with all its jobs.", highlight=False)
    while True:
        signal.pause()
