"""Submit a lab as a job of a site, from a terminal or a notebook."""

from __future__ import annotations

import shutil
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from coursekit.errors import CourseKitError
from coursekit.jobs.answers import check_answers
from coursekit.jobs.event import NO_EVENT, load_event
from coursekit.jobs.follow import follow as follow_job
from coursekit.jobs.refusals import explain_refusal
from coursekit.jobs.remembered import FOLDER, SubmittedJob, remember
from coursekit.jobs.render import JOBS, SUFFIX, job_name, render_job
from coursekit.jobs.slurm_cli import SlurmError, sbatch
from coursekit.labs import select_labs
from coursekit.paths import find_root
from coursekit.running import parameters
from coursekit.running.results import write_atomically
from coursekit.sites.load import load_site

if TYPE_CHECKING:
    from collections.abc import Mapping

    from coursekit.labs import Lab
    from coursekit.running.parameters import Scalar
    from coursekit.sites.profile import Site


@dataclass(frozen=True)
class Wish:
    """What somebody wants to submit.

    Attributes:
        lab: the lab's name, or the beginning of it.
        site: the site's name.
        num_nodes: how many nodes; what the committed script asks for when None.
        partition: a partition of the site's profile; its default when None.
        train: whether to run the lab's script in place of its notebook.
        values: parameters of the notebook, as text by name.
        event: a file with account, reservation and QOS.
    """

    lab: str
    site: str
    num_nodes: int | None = None
    partition: str | None = None
    train: bool = False
    values: Mapping[str, str] = field(default_factory=dict)
    event: Path | None = None

    @property
    def is_plain(self) -> bool:
        """Whether the committed script is right as it is."""
        return self.num_nodes is None and self.partition is None and self.event is None


def submit(  # noqa: PLR0913  # the options of the command, for notebooks
    lab: str,
    site: str,
    *,
    nodes: int | None = None,
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
    wish = Wish(lab, site, nodes, partition, train, words, Path(event) if event else None)
    job = submit_wish(find_root(), wish)
    print(said_of(job))
    if follow:
        follow_job(job.job_id)
    return job


def submit_wish(root: Path, wish: Wish) -> SubmittedJob:
    """Check everything, submit the script, and remember the job.

    Raises:
        CourseKitError: something is missing, or Slurm refuses; the message says what to do.
    """
    lab = select_labs(root, [wish.lab])[0]
    notebook = check_answers(root, lab.name, only_script=wish.train)
    arguments = script_arguments(notebook, wish.values, train=wish.train)
    site = load_site(root, wish.site)
    script = _script(root, wish, lab, site)
    if shutil.which("sbatch") is None:
        raise CourseKitError(
            f"there is no sbatch here: submit on a login node of {site.title} ({site.access.login[0]}), "
            f"or try it with `coursekit rehearse --site {site.name} --keep`."
        )
    try:
        job_id = sbatch(script, root, arguments)
    except SlurmError as error:
        if not error.words:
            raise
        partition = wish.partition or site.default_partition
        raise CourseKitError(explain_refusal(error.words, site, partition)) from None
    now = datetime.now().astimezone().isoformat(timespec="seconds")
    job = SubmittedJob(job_id, script.stem, lab.name, site.name, str(script.relative_to(root)), now)
    remember(root, job)
    return job


def said_of(job: SubmittedJob) -> str:
    """Return what to tell after a submission."""
    return f"Job {job.job_id} ({job.script}) is submitted: `coursekit jobs {job.job_id} --follow` shows how it goes."


def script_arguments(notebook: Path, given: Mapping[str, str], *, train: bool) -> list[str]:
    """Return what to put behind the script for parameters: `-p NAME VALUE`, or an option of the lab's train.py.

    Raises:
        CourseKitError: the notebook has no such parameter, or a value does not fit.
    """
    words: list[str] = []
    defaults = parameters.read_defaults(notebook) if given else {}
    for name, text in given.items():
        if name not in defaults:
            known = parameters.list_names(defaults)
            raise CourseKitError(f"-p: {notebook.name} has no parameter {name}; it has {known}.")
        value = parameters.check(name, parameters.parse(name, text, defaults[name]), defaults[name], "-p")
        words += _option(name, value) if train else ["-p", name, text]
    return words


def _option(name: str, value: Scalar) -> list[str]:
    option = name.replace("_", "-")
    if isinstance(value, bool):
        return [f"--{option}" if value else f"--no-{option}"]
    return [f"--{option}={value}"]


def _script(root: Path, wish: Wish, lab: Lab, site: Site) -> Path:
    """Return the committed script, or one that is rendered for this wish."""
    pattern = "train" if wish.train else "lab"
    name = job_name(pattern, lab)
    if wish.is_plain:
        path = root / JOBS / site.name / f"{name}{SUFFIX}"
        if not path.is_file():
            raise CourseKitError(f"{path.relative_to(root)} is missing: make it with `coursekit render {site.name}`.")
        return path
    event = load_event(wish.event) if wish.event else NO_EVENT
    text = render_job(
        root, site.name, pattern, lab.name, partition=wish.partition, num_nodes=wish.num_nodes, event=event
    )
    (root / FOLDER).mkdir(exist_ok=True)
    path = root / FOLDER / f"{name}{SUFFIX}"
    write_atomically(path, text)
    return path
