"""Submit a lab as a job of a site."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path

from coursekit.errors import CourseKitError
from coursekit.files import write_text
from coursekit.labs.build.script import answered_script, is_script, missing_answers
from coursekit.labs.lab import Scalar, select_labs
from coursekit.labs.run.plan import given_values, list_names, read_defaults
from coursekit.labs.students_notebook import read_notebook
from coursekit.paths import find_root
from coursekit.slurm.jobs.explain import explain_refusal
from coursekit.slurm.jobs.job_script import JobScript
from coursekit.slurm.jobs.remembered import FOLDER, SubmittedJob, remember
from coursekit.slurm.jobs.render import JOBS, SUFFIX, render
from coursekit.slurm.jobs.slurm_cli import SlurmError, call, job_environment
from coursekit.slurm.sites.load import load_site


def submit(  # noqa: PLR0913  # the options of the command
    lab: str,
    site: str,
    *,
    nodes: int | None = None,  # 1 or more
    ranks_per_node: int | None = None,  # likewise
    partition: str | None = None,
    train: bool = False,
    values: Mapping[str, object] | None = None,
) -> SubmittedJob:
    """Submit a lab: `submit("02", "karolina", nodes=2, values={"num_epochs": 50})`.

    Without `nodes`, `ranks_per_node` and `partition`, the committed script is submitted as it is.
    With `train` it runs the lab's script in place of its notebook; `values` are parameters of the notebook, by name.

    Raises:
        CourseKitError: something is missing, or Slurm refuses; the message says what to do.
    """
    root = find_root()
    chosen = select_labs(root, [lab])[0]
    notebook = check_answers(root, chosen.name, only_script=train)
    given = {name: str(value) for name, value in (values or {}).items()}
    arguments = (train_options if train else notebook_options)(notebook, given)
    machine = load_site(root, site)
    wish = JobScript(machine, "train" if train else "lab", chosen, partition or "", nodes or 0, ranks_per_node or 0)
    text = render(root, wish)
    script = root / JOBS / site / f"{wish.name}{SUFFIX}"
    if not script.is_file():
        raise CourseKitError(f"{script.relative_to(root)} is missing: make it with `coursekit build`.")
    if shutil.which("sbatch") is None:
        where = f"a login node of {machine.title} ({machine.access.login[0]})"
        raise CourseKitError(f"there is no sbatch here: submit on {where}.")
    if {nodes, ranks_per_node, partition} != {None}:
        script = root / FOLDER / script.name
        script.parent.mkdir(exist_ok=True)
        write_text(script, text)
    try:
        said = call("sbatch", "--parsable", str(script), *arguments, folder=root, environ=job_environment())
    except SlurmError as error:
        if not error.words:
            raise
        raise CourseKitError(explain_refusal(error.words, machine, partition)) from None
    job_id = said.strip().splitlines()[-1].partition(";")[0]
    shown, now = str(script.relative_to(root)), datetime.now().astimezone().isoformat(timespec="seconds")
    job = SubmittedJob(job_id, script.stem, chosen.name, site, shown, now)
    remember(root, job)
    print(f"Job {job.job_id} ({job.script}) is submitted: `coursekit jobs {job.job_id} --follow` shows how it goes.")
    return job


def check_answers(root: Path, lab: str, *, only_script: bool = False) -> Path:
    """Return where a student's notebook is, if all its code answers are there, or those of the lab's script.

    Raises:
        CourseKitError: the notebook cannot be read, is not of this lab, or answers are missing.
    """
    path = root / "labs" / lab / f"{lab}.ipynb"
    cells = [cell for cell in read_notebook(path, lab)["cells"] if not only_script or is_script(cell)]
    if only_script and not cells:
        raise CourseKitError(f"the lab {lab} has no script: submit it without --train.")
    missing = missing_answers(cells)
    if missing:
        shown = path.relative_to(root)
        raise CourseKitError(f"{shown} has no answer yet in {', '.join(missing)}: write them first, then submit.")
    return path


def notebook_options(notebook: Path, given: Mapping[str, str]) -> list[str]:
    """Return what to put behind a notebook's job script: `-p NAME VALUE` for each parameter.

    Raises:
        CourseKitError: the notebook has no such parameter, or a value does not fit.
    """
    return [word for name, value in _checked(notebook, given).items() for word in ("-p", name, str(value))]


def train_options(notebook: Path, given: Mapping[str, str]) -> list[str]:
    """Return what to put behind the job script of a lab's train.py: an option of it for each parameter.

    Raises:
        CourseKitError: the answers make no script, it has no such parameter, or a value does not fit.
    """
    lab = notebook.stem
    script = answered_script(read_notebook(notebook, lab), notebook, "")
    words = []
    for name, value in _checked(notebook, given).items():
        option = name.replace("_", "-")
        if f'"--{option}"' not in script:
            raise CourseKitError(f"-p: the script of {lab} does not use {name}: leave it out, or submit the notebook.")
        switch = f"--{option}" if value else f"--no-{option}"
        words.append(switch if isinstance(value, bool) else f"--{option}={value}")
    return words


def _checked(notebook: Path, given: Mapping[str, str]) -> dict[str, Scalar]:
    defaults = read_defaults(notebook) if given else {}
    if unknown := given.keys() - defaults.keys():
        raise CourseKitError(
            f"-p: {notebook.name} has no parameter {', '.join(sorted(unknown))}; it has {list_names(defaults)}."
        )
    return given_values(given, defaults)
