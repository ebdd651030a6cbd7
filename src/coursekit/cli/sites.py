"""`coursekit sites`: the machines that courses run on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from coursekit.errors import CourseKitError
from coursekit.files import write_text
from coursekit.paths import find_root
from coursekit.slurm import confirm as machine
from coursekit.slurm.jobs.job_script import all_jobs, cost
from coursekit.slurm.sites.load import FOLDER, load_site, load_sites
from coursekit.slurm.sites.questions import questions
from coursekit.slurm.sites.show import show_list, show_site
from coursekit.text import counted

if TYPE_CHECKING:
    from coursekit.slurm.confirm import Answer


@click.group(invoke_without_command=True, epilog="Example: coursekit sites show jean-zay")
@click.pass_context
def sites(context: click.Context) -> None:
    """List the machines that have job scripts.

    Each machine has one file in slurm/sites/.
    The command also checks all these files for unknown keys, missing keys, and values that contradict each other.
    """
    if context.invoked_subcommand is None:
        from rich.console import Console

        show_list(Console(), load_sites(find_root()))


@sites.command(epilog="Example: coursekit sites show karolina")
@click.argument("name")
def show(name: str) -> None:
    """Show how to use the machine NAME, and what jobs cost there.

    The output covers access, costs, partitions, software, storage and JupyterLab.
    It ends with the facts that are still unconfirmed, each with the command that checks it on the machine.
    """
    from rich.console import Console

    root = find_root()
    site = load_site(root, name)
    show_site(Console(), site, [f"{job.name}: {cost(job)}" for job in all_jobs(root, site)])


@sites.command(epilog="Example: coursekit sites confirm karolina --account OPEN-12-34 --job")
@click.argument("name")
@click.option("--job", "with_job", is_flag=True, help="Also run the commands that need a compute node, as jobs.")
@click.option("--account", default="", metavar="NAME", help="The project to charge.  [default: $SBATCH_ACCOUNT]")
@click.option(
    "--write",
    "copy",
    metavar="FILE",
    type=click.Path(dir_okay=False, writable=True, path_type=Path),
    help="Write a corrected copy of the machine's file, without the doubts that are now settled.",
)
def confirm(name: str, *, with_job: bool, account: str, copy: Path | None) -> None:
    """Ask the machine NAME, on its login node, whether its file is right.

    The command compares partitions, time limits, modules and QOS with those on the machine, and runs the commands that
    the file gives to settle its doubts. None of these commands changes anything.
    The report to send back is written to build/confirm/; it does not contain your name.
    Exit status: 1 if the machine contradicts the file, else 0.
    """
    root = find_root()
    site = load_site(root, name)
    asked = questions(site)
    outputs = {}
    for job in machine.jobs_needed(site, asked, account):
        if with_job:
            click.echo(f"a job on a node of {job.key}, which costs {cost(job)}; Ctrl-C cancels it")
            try:
                outputs[job.key] = machine.run_job(root, job, asked, click.echo)
            except CourseKitError as error:  # the other questions can still be asked
                click.echo(f"{error}")
        else:
            click.echo(f"some doubts need a job on a node of {job.key}, which costs {cost(job)}: add --job")
    answers = machine.ask(root, asked, outputs, _show)
    found = machine.report(site, answers, account)
    files = [root / machine.FOLDER / f"{name}.{suffix}" for suffix in ("json", "md")]
    for file, text in zip(files, (json.dumps(found, indent=2) + "\n", machine.page(found))):
        write_text(file, text)
    if copy:
        text = (root / FOLDER / f"{name}.toml").read_text(encoding="utf-8")
        write_text(copy, machine.corrected(text, site, answers))
    counts = {state: sum(one.state is state for one in answers) for state in machine.State}
    told = ", ".join(f"{number} {state.value}" for state, number in counts.items())
    click.echo(f"{counted(len(answers), 'claim')}: {told}. Report: {' and '.join(str(file) for file in files)}.")
    if counts[machine.State.DIFFERS]:
        raise SystemExit(1)


def _show(one: Answer) -> None:
    """Print the answer to a question in one line."""
    seen = ", ".join(one.seen) or one.why
    hint = f": set {one.question.key} to {one.correction}" if one.correction else ""
    expected = ", ".join(one.question.expected)
    click.echo(f"{one.state.value}: {one.question.key} is {expected}; the machine: {seen}{hint}")
