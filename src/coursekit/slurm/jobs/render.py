"""Job scripts from the site, the lab and the event: strict templates, one per launch pattern."""

from __future__ import annotations

import textwrap
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from coursekit.errors import CourseKitError
from coursekit.files import Report, no_report, write_if_changed
from coursekit.slurm.jobs.job_script import JobScript, JobShape, all_jobs, cost, directives, most_nodes, time_limit_min
from coursekit.slurm.sites.load import load_site, site_names
from coursekit.slurm.sites.profile import Partition, Site, account, gpu_options

TEMPLATES = "slurm/templates"
JOBS = "slurm/jobs"
SUFFIX = ".sbatch"
COMMENT_WIDTH = 117


def generate_jobs(root: Path, report: Report = no_report) -> None:
    """Write the scripts of all sites.

    Raises:
        CourseKitError: a site's file is wrong; nothing is written then.
    """
    scripts = {
        root / JOBS / name / file: text
        for name in site_names(root)
        for file, text in render_all(root, load_site(root, name)).items()
    }
    for path, text in scripts.items():
        write_if_changed(path, text.encode(), report)


def render_all(root: Path, site: Site) -> dict[str, str]:
    """Return all scripts of a site by file name: every lab in every pattern that it has, and those of the site."""
    return {f"{job.name}{SUFFIX}": render(root, job) for job in all_jobs(root, site)}


def render(root: Path, job: JobScript) -> str:
    """Return the script of a job.

    Raises:
        CourseKitError: the site has no such partition, or it gives no such job.
    """
    site, key = job.site, job.partition or job.site.default_partition
    kind = site.kind(key)
    shape = job.shape(kind)
    template = templates(root).get_template(f"{job.pattern}{SUFFIX}.j2")
    return template.render(
        site=site,
        lab=job.lab,
        shape=shape,
        script=f"{JOBS}/{site.name}/{job.name}{SUFFIX}",
        directives=directives(job, kind, time_limit_min(root, job, kind)),
        cost=cost(root, job, kind),
        two_nodes=_on_two_nodes(job, kind, shape),
        modules=(*site.software.modules, *kind.modules),
        doubts=_doubts_of_software(site, key),
        account=account(site, kind),
        arguments=job.arguments,
    )


def committed_script(root: Path, site: Site, name: str) -> Path:
    """Return where a site's script for the job of this name is.

    Raises:
        CourseKitError: it was not made yet.
    """
    path = root / JOBS / site.name / f"{name}{SUFFIX}"
    if not path.is_file():
        raise CourseKitError(f"{path.relative_to(root)} is missing: make it with `coursekit build`.")
    return path


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
