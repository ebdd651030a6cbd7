"""Submit labs as jobs at a site."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path

from coursekit.errors import CourseKitError
from coursekit.files import write_text
from coursekit.labs.build.script import answered_script, missing_answers
from coursekit.labs.lab import select_labs
from coursekit.labs.run.jobs_folder import JOBS_FOLDER
from coursekit.labs.run.plan import given_values, list_names, read_defaults
from coursekit.labs.students_notebook import read_notebook
from coursekit.paths import find_root
from coursekit.slurm.jobs.explain import explain_refusal
from coursekit.slurm.jobs.job_script import JobScript
from coursekit.slurm.jobs.remembered import SubmittedJob, remember
from coursekit.slurm.jobs.render import render
from coursekit.slurm.jobs.slurm_cli import SlurmError, call, job_environment
from coursekit.slurm.sites.load import load_site
from coursekit.slurm.sites.profile import SUFFIX


def submit(  # noqa: PLR0913  # the options of the command
    labs: Sequence[str],
    site: str,
    *,
    nodes: int | None = None,  # 1 or more
    ranks_per_node: int | None = None,  # likewise
    partition: str | None = None,
    train: bool = False,
    values: Mapping[str, str] | None = None,
) -> list[SubmittedJob]:
    """Submit each lab as a separate job: `submit(["02"], "karolina", nodes=2, values={"num_epochs": "50"})`.

    Without `nodes`, `ranks_per_node` and `partition`, the committed scripts are submitted unchanged.
    With `train`, jobs run the labs' scripts instead of their notebooks. `values` maps notebook parameters to values.

    Raises:
        CourseKitError: a lab lacks something, or Slurm refuses a job; the message says what to do.
    """
    root = find_root()
    chosen = select_labs(root, labs)
    arguments = [arguments_of(root, lab.name, values or {}, train=train) for lab in chosen]
    machine, pattern = load_site(root, site), "train" if train else "lab"
    jobs = [JobScript(machine, pattern, lab, partition or "", nodes or 0, ranks_per_node or 0) for lab in chosen]
    scripts = [_script(root, job) for job in jobs]
    if shutil.which("sbatch") is None:
        where = f"a login node of {machine.title} ({machine.access.login[0]})"
        raise CourseKitError(f"there is no sbatch here: submit on {where}.", "slurm.no-command")
    for script, text in scripts:
        if text:
            write_text(root / script, text)
    return [
        _submit(root, job, script, lab.name, words)
        for job, (script, _), lab, words in zip(jobs, scripts, chosen, arguments)
    ]


def arguments_of(root: Path, lab: str, given: Mapping[str, str], *, train: bool) -> list[str]:
    """Return the arguments of a lab's job script: for each parameter, `-p NAME VALUE` or an option of train.py.

    Raises:
        CourseKitError: the notebook cannot be read, answers are missing or do not form a script, a parameter does not
            exist, or a value is not valid for its parameter.
    """
    path = root / "labs" / lab / f"{lab}.ipynb"
    notebook, shown = read_notebook(path, lab), path.relative_to(root)
    script = answered_script(notebook, shown, "") if train else ""
    if missing := [] if train else missing_answers(notebook["cells"]):
        raise CourseKitError(
            f"{shown} has no answer yet in {', '.join(missing)}: write them first, then submit.", "answer.missing"
        )
    defaults = read_defaults(path) if given else {}
    if unknown := given.keys() - defaults.keys():
        names = ", ".join(sorted(unknown))
        raise CourseKitError(
            f"-p: {path.name} has no parameter {names}; it has {list_names(defaults)}.", "parameter.unknown"
        )
    words = []
    for name, value in given_values(given, defaults).items():
        option = name.replace("_", "-")
        if not train:
            words += ["-p", name, str(value)]
        elif f'"--{option}"' not in script:
            raise CourseKitError(
                f"-p: the script of {lab} does not use {name}: leave it out, or submit the notebook.",
                "parameter.not-in-script",
            )
        elif isinstance(value, bool):
            words.append(f"--{option}" if value else f"--no-{option}")
        else:
            words.append(f"--{option}={value}")
    return words


def _script(root: Path, job: JobScript) -> tuple[str, str]:
    """Return the path of a job's script below `root`, and its text if it must be rendered for this job.

    Raises:
        CourseKitError: there is no such script, or the machine cannot run such a job.
    """
    if job.key or job.num_nodes or job.num_tasks_per_node:
        return f"{JOBS_FOLDER}/{job.name}{SUFFIX}", render(root, job)
    script = job.site.script(job.name)
    if not (root / script).is_file():
        raise CourseKitError(f"{script} is missing: make it with `coursekit build`.", "job-script.missing")
    return script, ""


def _submit(root: Path, job: JobScript, script: str, lab: str, arguments: Sequence[str]) -> SubmittedJob:
    try:
        said = call("sbatch", "--parsable", str(root / script), *arguments, folder=root, environ=job_environment())
    except SlurmError as error:
        if not error.words:
            raise
        raise CourseKitError(*explain_refusal(error.words, job.site, job.key)) from None
    job_id, now = said.strip().splitlines()[-1].partition(";")[0], datetime.now().astimezone()
    submitted = SubmittedJob(job_id, job.name, lab, job.site.name, script, now.isoformat(timespec="seconds"))
    remember(root, submitted)
    print(f"Job {job_id} ({script}) was submitted: follow it with `coursekit jobs {job_id} --follow`.")
    return submitted
