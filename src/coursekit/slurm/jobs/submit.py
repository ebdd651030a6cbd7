"""Submit a lab as a job of a site, from a terminal or a notebook."""

from __future__ import annotations

import shutil
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from coursekit.errors import CourseKitError
from coursekit.files import write_text
from coursekit.labs.lab import select_labs
from coursekit.paths import find_root
from coursekit.slurm.jobs.arguments import notebook_options, train_options
from coursekit.slurm.jobs.directives import LAUNCH_PATTERNS, NO_EVENT, load_event
from coursekit.slurm.jobs.follow import follow as follow_job
from coursekit.slurm.jobs.missing_answers import check_answers
from coursekit.slurm.jobs.refusals import explain_refusal
from coursekit.slurm.jobs.remembered import FOLDER, SubmittedJob, remember
from coursekit.slurm.jobs.render import JOBS, SUFFIX, render_job
from coursekit.slurm.jobs.slurm_cli import SlurmError, sbatch
from coursekit.slurm.sites.load import load_site

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from coursekit.labs.lab import Lab
    from coursekit.slurm.sites.profile import Site


@dataclass(frozen=True)
class SubmitOptions:
    """What somebody wants to submit.

    Attributes:
        lab: the lab's name, or the beginning of it.
        num_nodes: how many nodes; what the committed script asks for when None.
        ranks_per_node: ranks on each node; with None one per GPU, or what the committed script asks for.
        partition: a partition of the site's profile; its default when None.
        train: whether to run the lab's script in place of its notebook.
        values: parameters of the notebook, as text by name.
        event: a file with account, reservation and QOS.
    """

    lab: str
    site: str
    num_nodes: int | None = None
    ranks_per_node: int | None = None
    partition: str | None = None
    train: bool = False
    values: Mapping[str, str] = field(default_factory=dict)
    event: Path | None = None

    @property
    def is_plain(self) -> bool:
        """Whether the committed script is right as it is."""
        return {self.num_nodes, self.ranks_per_node, self.partition, self.event} == {None}


def submit(  # noqa: PLR0913  # the options of the command, for notebooks
    lab: str,
    site: str,
    *,
    nodes: int | None = None,
    ranks_per_node: int | None = None,
    partition: str | None = None,
    train: bool = False,
    values: Mapping[str, object] | None = None,
    event: str | Path | None = None,
    follow: bool = False,
) -> SubmittedJob:
    """Submit a lab: `submit("02", "karolina", nodes=2, values={"num_epochs": 50}, follow=True)`.

    Raises:
        CourseKitError: something is missing, or Slurm refuses; the message says what to do.
    """
    words = {name: str(value) for name, value in (values or {}).items()}
    options = SubmitOptions(lab, site, nodes, ranks_per_node, partition, train, words, Path(event) if event else None)
    job = submit_lab(find_root(), options)
    print(said_of(job))
    if follow:
        follow_job(job.job_id)
    return job


def submit_lab(root: Path, options: SubmitOptions) -> SubmittedJob:
    """Check everything, submit the script, and remember the job.

    Raises:
        CourseKitError: something is missing, or Slurm refuses; the message says what to do.
    """
    lab = select_labs(root, [options.lab])[0]
    notebook = check_answers(root, lab.name, only_script=options.train)
    arguments = (train_options if options.train else notebook_options)(notebook, options.values)
    site = load_site(root, options.site)
    script, text = _script(root, options, lab, site)
    if shutil.which("sbatch") is None:
        raise CourseKitError(
            f"there is no sbatch here: submit on a login node of {site.title} ({site.access.login[0]}), "
            f"or try it with `coursekit rehearse --site {site.name} --keep`."
        )
    if text:
        script.parent.mkdir(exist_ok=True)
        write_text(script, text)
    return submit_script(root, site, script, arguments, lab=lab.name, partition=options.partition)


def submit_script(  # noqa: PLR0913  # what a submission is made of
    root: Path, site: Site, script: Path, arguments: Sequence[str] = (), *, lab: str, partition: str | None = None
) -> SubmittedJob:
    """Submit a script that lies in the checkout, with arguments as its own words, and remember the job.

    The job has the script's name; `lab` is what runs, for the record; `partition` is a name in the profile, or None for
    the site's default.

    Raises:
        CourseKitError: Slurm refuses; the message says why and what to do.
    """
    try:
        job_id = sbatch(script, root, arguments)
    except SlurmError as error:
        if not error.words:
            raise
        raise CourseKitError(explain_refusal(error.words, site, partition or site.default_partition)) from None
    now = datetime.now().astimezone().isoformat(timespec="seconds")
    job = SubmittedJob(job_id, script.stem, lab, site.name, str(script.relative_to(root)), now)
    remember(root, job)
    return job


def said_of(job: SubmittedJob) -> str:
    """Return what to tell after a submission."""
    return f"Job {job.job_id} ({job.script}) is submitted: `coursekit jobs {job.job_id} --follow` shows how it goes."


def _script(root: Path, options: SubmitOptions, lab: Lab, site: Site) -> tuple[Path, str]:
    """Return the committed script and '', or where to write one for these options and its text."""
    pattern = "train" if options.train else "lab"
    name = f"{lab.name}{LAUNCH_PATTERNS[pattern].suffix}"
    if options.is_plain:
        path = root / JOBS / site.name / f"{name}{SUFFIX}"
        if not path.is_file():
            raise CourseKitError(f"{path.relative_to(root)} is missing: make it with `coursekit build`.")
        return path, ""
    for option, number in (("--nodes", options.num_nodes), ("--ranks-per-node", options.ranks_per_node)):
        if number is not None and number < 1:
            raise CourseKitError(f"{option} is {number}, but a job has at least 1 node, and a node at least 1 rank.")
    event = load_event(options.event) if options.event else NO_EVENT
    text = render_job(
        *(root, site.name, pattern, lab.name),
        partition=options.partition,
        num_nodes=options.num_nodes,
        ranks_per_node=options.ranks_per_node,
        event=event,
    )
    return root / FOLDER / f"{name}{SUFFIX}", text
