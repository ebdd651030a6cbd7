"""Job scripts from the site, the lab and the event: strict templates, one per launch pattern."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from coursekit.errors import CourseKitError
from coursekit.files import Report, no_report, write_if_changed
from coursekit.slurm.jobs.cost import Cost
from coursekit.slurm.jobs.job_script import (
    NO_EVENT,
    Directive,
    Event,
    JobScript,
    JobShape,
    all_jobs,
    directives,
    most_nodes,
    time_limit_min,
)
from coursekit.slurm.sites.load import load_site, site_names
from coursekit.slurm.sites.profile import Partition, Site, account, gpu_options

TEMPLATES = "slurm/templates"
JOBS = "slurm/jobs"
SUFFIX = ".sbatch"
DIRECTIVE_COLUMN = 38  # where the words behind directives begin
COMMENT_WIDTH = 117
DIRECTIVE = "#SBATCH"
WRONG_DIRECTIVE = re.compile(r"#\s+SBATCH\s|##+\s*SBATCH\s|#[Ss][Bb][Aa][Tt][Cc][Hh]\b")


def generate_jobs(root: Path, report: Report = no_report) -> None:
    """Write the scripts of all sites, and remove those of former sites, labs and patterns.

    Raises:
        CourseKitError: a site's file is wrong, or a script would have a trap in it; nothing is written then.
    """
    scripts = {
        root / JOBS / name / file: text
        for name in site_names(root)
        for file, text in render_all(root, load_site(root, name)).items()
    }
    for path, text in scripts.items():
        write_if_changed(path, text.encode(), report)
    for old in sorted((root / JOBS).glob(f"*/*{SUFFIX}")):
        if old not in scripts:
            old.unlink()
            report("removed", old)


def render_all(root: Path, site: Site, event: Event = NO_EVENT) -> dict[str, str]:
    """Return all scripts of a site by file name: every lab in every pattern that it has, and those of the site."""
    return {f"{job.name}{SUFFIX}": render(root, job) for job in all_jobs(root, site, event)}


def render(root: Path, job: JobScript) -> str:
    """Return the script of a job.

    Raises:
        CourseKitError: the site has no such partition, it gives no such job, or the script has a trap in it.
    """
    site, key = job.site, job.partition or job.site.default_partition
    kind = site.kind(key)
    shape = job.shape(kind)
    time_min = time_limit_min(root, job, kind)
    asked = directives(job, kind, shape, time_min)
    template = templates(root).get_template(f"{job.pattern}{SUFFIX}.j2")
    text = template.render(
        site=site,
        lab=job.lab,
        shape=shape,
        script=f"{JOBS}/{site.name}/{job.name}{SUFFIX}",
        directives=[_line(directive) for directive in asked],
        cost=Cost(kind, shape, time_min, job.launch.each).words(),
        two_nodes=_on_two_nodes(job, kind, shape),
        modules=(*site.software.modules, *kind.modules),
        doubts=_doubts_of_software(site, key),
        account=account(site, kind),
        arguments=job.arguments,
    )
    if traps := find_traps(text):
        raise CourseKitError(f"{job.name}{SUFFIX} for {site.name}: {'; '.join(traps)}.")
    return text


def committed_script(root: Path, site: Site, name: str) -> Path:
    """Return where a site's script for the job of this name is.

    Raises:
        CourseKitError: it was not made yet.
    """
    path = root / JOBS / site.name / f"{name}{SUFFIX}"
    if not path.is_file():
        raise CourseKitError(f"{path.relative_to(root)} is missing: make it with `coursekit build`.")
    return path


def find_traps(script: str) -> list[str]:
    """Return traps of a batch script that neither bash nor sbatch complains about, each with the number of its line."""
    traps: list[str] = []
    if not script.startswith("#!"):
        traps.append("line 1 must name the shell: #!/bin/bash")
    command = 0
    for number, line in enumerate(script.splitlines(), start=1):
        if line.startswith(DIRECTIVE + " "):
            traps += [f"line {number}: {words}" for words in _traps_of_directive(line, command)]
        elif WRONG_DIRECTIVE.match(line):
            traps.append(f"line {number}: Slurm ignores this line: a directive begins with {DIRECTIVE} and one space")
        elif line.strip() and not line.startswith("#") and not command:
            command = number
    return traps


def _traps_of_directive(line: str, command: int) -> list[str]:
    """Return the traps of one directive; `command` is the line of the first command above it, or 0."""
    option = line[len(DIRECTIVE) :].partition(" #")[0].strip()
    traps = []
    if command:
        traps.append(f"Slurm reads no directive below the first command (line {command})")
    if "$" in option:
        traps.append("Slurm does not fill in variables in directives")
    if not option.startswith("-"):
        traps.append("an option begins with a dash")
    if option.endswith("=") or "=<" in option:
        traps.append("the option has no value")
    return traps


def _on_two_nodes(job: JobScript, kind: Partition, shape: JobShape) -> str:
    """Return the options of `sbatch` for a lab's ranks one on each of two nodes; "" where that is nothing else."""
    if job.num_ranks < 2 or job.launch.suffix or shape.num_nodes > 1 or most_nodes(kind) == 1:  # noqa: PLR2004
        return ""
    return " ".join(["--nodes=2", "--ntasks-per-node=1", *gpu_options(kind, 1)])


def _doubts_of_software(site: Site, key: str) -> list[str]:
    """Return what is in doubt about the software that a script loads, in lines for a comment."""
    lines = []
    for note in site.confirm:
        if f"{note.key}.".startswith(("software.", f"partitions.{key}.modules.")):
            lines += [*textwrap.wrap(f"Not confirmed: {note.doubt}.", COMMENT_WIDTH), f"To know: {note.command}"]
    return lines


def templates(root: Path) -> Environment:
    """Return the templates of job scripts; a name that is not defined is an error."""
    return Environment(
        loader=FileSystemLoader(root / TEMPLATES),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,  # noqa: S701  # shell, not HTML
    )


def _line(directive: Directive) -> str:
    line = f"#SBATCH {directive.option}"
    return f"{line:<{DIRECTIVE_COLUMN}} # {directive.why}" if directive.why else line
