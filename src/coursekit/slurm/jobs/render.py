"""Job scripts from the site, the lab and the event: strict templates, one per launch pattern."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from coursekit.errors import CourseKitError
from coursekit.files import no_report, write_if_changed
from coursekit.labs.build.twin import TWIN_NAME
from coursekit.labs.lab import find_labs, select_labs
from coursekit.slurm.jobs.directives import LAUNCH_PATTERNS, NO_EVENT, Directive, Event, JobShape, directives
from coursekit.slurm.sites.load import load_site, site_names
from coursekit.slurm.sites.profile_text import account

if TYPE_CHECKING:
    from pathlib import Path

    from coursekit.files import Report
    from coursekit.labs.lab import Lab
    from coursekit.slurm.jobs.directives import LaunchPattern
    from coursekit.slurm.sites.profile import Partition, Site

TEMPLATES = "slurm/templates"
JOBS = "slurm/jobs"
SUFFIX = ".sbatch"
DIRECTIVE_COLUMN = 38  # where the words behind directives begin
DIRECTIVE = "#SBATCH"
WRONG_DIRECTIVE = re.compile(r"#\s+SBATCH\s|##+\s*SBATCH\s|#[Ss][Bb][Aa][Tt][Cc][Hh]\b")


@dataclass(frozen=True)
class JobScript:
    """What a job script is made from.

    Attributes:
        pattern: one of `LAUNCH_PATTERNS`.
        lab: the lab, for the patterns "lab" and "train".
        partition: a name in the site's file; '' for its default.
        num_nodes: how many nodes; 0 for what the committed scripts ask for.
        event: account, reservation and QOS.
        num_tasks_per_node: ranks of a node; 0 for one per GPU.
        time_limit_min: the time limit; 0 for that of the pattern.
        arguments: words for the program that the script starts, for a shell.
    """

    site: Site
    pattern: str
    lab: Lab | None = None
    partition: str = ""
    num_nodes: int = 0
    event: Event = NO_EVENT
    num_tasks_per_node: int = 0
    time_limit_min: int = 0
    arguments: str = ""

    @property
    def name(self) -> str:
        """The job's name, which is that of its script: `02-horovod-sgd`, `03-keras-cnn-train`, `solutions`."""
        return f"{self.lab.name}{self.launch.suffix}" if self.lab else self.pattern

    @property
    def launch(self) -> LaunchPattern:
        """What its script has in common with those of other labs and sites."""
        return LAUNCH_PATTERNS[self.pattern]

    def shape(self, kind: Partition) -> JobShape:
        """Return how much of its partition it asks for.

        Raises:
            CourseKitError: no job there may have that many nodes.
        """
        one_rank = self.launch.is_grading or (self.lab is not None and self.lab.resources.num_ranks == 1)
        most = kind.max_num_nodes or kind.num_nodes or self.num_nodes
        if not 0 <= self.num_nodes <= most:
            raise CourseKitError(
                f"{self.site.name}, partition {kind.slurm_name}: {self.num_nodes} nodes; a job has from 1 to {most}."
            )
        usual = 1 if one_rank else self.launch.num_nodes or self.site.num_nodes
        return JobShape(self.num_nodes or usual, self.num_tasks_per_node or (1 if one_rank else kind.num_gpus_per_node))


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
    labs = find_labs(root)
    jobs = [JobScript(site, "lab", lab, event=event) for lab in labs]
    # Labs with a script twin, which a launcher starts on many ranks.
    trained = [lab for lab in labs if (root / "labs" / lab.name / TWIN_NAME).exists()]
    jobs += [JobScript(site, "train", lab, event=event) for lab in trained]
    whole_site = ("solutions", "grade", "jupyter") if site.jupyter.tunnel else ("solutions", "grade")
    jobs += [JobScript(site, pattern, event=event) for pattern in whole_site]
    return {f"{job.name}{SUFFIX}": render(root, job) for job in jobs}


def render_job(  # noqa: PLR0913  # what a job script depends on; all but the first three have defaults
    root: Path,
    site: str,
    pattern: str,
    lab: str | None = None,
    *,
    partition: str | None = None,
    num_nodes: int | None = None,
    event: Event | None = None,
) -> str:
    """Return one script, for names as people type them; see `JobScript`.

    Raises:
        CourseKitError: the site, its partition or the lab does not exist, or the partition gives no such job.
    """
    chosen = select_labs(root, [lab])[0] if lab else None
    job = JobScript(load_site(root, site), pattern, chosen, partition or "", num_nodes or 0, event or NO_EVENT)
    return render(root, job)


def render(root: Path, job: JobScript) -> str:
    """Return the script of a job.

    Raises:
        CourseKitError: the site has no such partition, it gives no such job, or the script has a trap in it.
    """
    site, key = job.site, job.partition or job.site.default_partition
    kind = kind_of_nodes(site, key)
    shape = job.shape(kind)
    asked = directives(job.name, job.launch, kind, shape, _time_limit_min(root, job), job.event)
    template = templates(root).get_template(f"{job.pattern}{SUFFIX}.j2")
    text = template.render(
        site=site,
        lab=job.lab,
        shape=shape,
        script=f"{JOBS}/{site.name}/{job.name}{SUFFIX}",
        directives=[_line(directive) for directive in asked],
        modules=(*site.software.modules, *kind.modules),
        account=account(site, kind),
        arguments=job.arguments,
    )
    if traps := find_traps(text):
        raise CourseKitError(f"{job.name}{SUFFIX} for {site.name}: {'; '.join(traps)}.")
    return text


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


def kind_of_nodes(site: Site, key: str) -> Partition:
    """Return a partition by the name that `--partition` takes.

    Raises:
        CourseKitError: the site has no such partition.
    """
    if key not in site.partitions:
        names = ", ".join(sorted(site.partitions))
        raise CourseKitError(f"{site.name} has no partition {key!r}: slurm/sites/{site.name}.toml has {names}.")
    return site.partitions[key]


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


def _time_limit_min(root: Path, job: JobScript) -> int:
    labs = [job.lab] if job.lab else find_labs(root)
    return job.time_limit_min or job.launch.time_limit_min or sum(lab.resources.time_limit_min for lab in labs)


def _line(directive: Directive) -> str:
    line = f"#SBATCH {directive.option}"
    return f"{line:<{DIRECTIVE_COLUMN}} # {directive.why}" if directive.why else line
