"""Submit a site's job scripts, unmodified and in a student's environment, and follow their states."""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.error import URLError
from urllib.request import Request, urlopen

from rich.console import Console

from coursekit.errors import CourseKitError
from coursekit.labs.build.script import SCRIPT_NAME
from coursekit.labs.lab import matching
from coursekit.labs.run.plan import read_defaults
from coursekit.processes import plain_environment
from coursekit.slurm.jobs.slurm_cli import COMPLETED, ENDED, PENDING, SlurmError, call
from coursekit.slurm.sites.profile import JOB_SCRIPTS
from workshop.rehearsal.cluster import Cluster
from workshop.rehearsal.slurm_files import LOOPBACK

ANSWER_TIMEOUT_S = 5.0
GRADE = "grade"  # it needs a course with hand-ins
HTTP_OK = 200

REFUSED = "REFUSED"  # our word: sbatch rejected it
ACCEPTED = "ACCEPTED"  # our word: Slurm accepted it, and jobs that run cover its options, software and program
ANSWERED = "ANSWERED"  # our word: JupyterLab answered, and was cancelled
OURS = {REFUSED, ACCEPTED, ANSWERED}
# The name of a job that accounting knows only from one of its steps: state and nodes are that step's.
PROVISIONAL = "allocation"
TRAIN_OPTIONS = "COURSEKIT_TRAIN_OPTIONS"
# Values for notebooks that have these parameters, passed as arguments of the job script.
SMALL_NOTEBOOK = {"model": "SmallCNN", "image_size": "32", "max_num_steps": "4"}
# Scripts read these variables; values that the caller has set take precedence.
SMALL_RUN = {
    "COURSEKIT_NUM_RANKS": "2",
    TRAIN_OPTIONS: "--model SmallCNN --image-size 32 --num-images 160 --num-epochs 1 --max-num-steps 2",
    "COURSEKIT_LABS": "01",
    "COURSEKIT_JUPYTER_IP": LOOPBACK,
    "PYTHONFAULTHANDLER": "1",  # shows where Python was if one of its libraries crashes
    "HOROVOD_CYCLE_TIME": "10",  # ms; MPI polls while it waits, and takes the few cores here from ranks it waits for
}
OPTION = re.compile(r"(--[\w-]+)(?: (?!--)\S+)?")  # with its value
DIRECTIVE = re.compile(r"^#SBATCH (--(?!time|job-name)\S+)", re.MULTILINE)
SOFTWARE = re.compile(r"^module load .*|^venv=.*", re.MULTILINE)
PROGRAM = re.compile(r"coursekit\" \w+|\bjupyter\b")
JUPYTER_URL = re.compile(r"http://localhost:(\d+)/lab\?token=(\w+)")


@dataclass(frozen=True)
class RehearsedJob:
    """One submitted script."""

    script: str  # the name of its file
    job_id: str  # its number in Slurm; '' if it was refused
    state: str  # Slurm's word, or one of ours: `REFUSED`, `ACCEPTED`, `ANSWERED`
    elapsed_s: int = 0  # how long it has run
    nodes: str = ""  # its nodes, as Slurm abbreviates them
    last_line: str = ""  # the last line of its log, or of sbatch's output if it was refused
    held: bool = False  # whether Slurm holds it back, to spare the processors of this machine

    @property
    def ended(self) -> bool:
        """Whether it is over."""
        return self.state in ENDED | OURS

    @property
    def good(self) -> bool:
        """Whether it ended as it should."""
        return self.state in {COMPLETED, ACCEPTED, ANSWERED}

    def log_text(self, course: Path) -> str:
        """Return what it has printed so far."""
        log = course / f"{self.script.removesuffix('.sbatch')}-{self.job_id}.out"
        return log.read_text(errors="replace").strip() if log.exists() else ""


def find_scripts(root: Path, site: str, names: Sequence[str]) -> tuple[Path, ...]:
    """Return a site's committed job scripts: all, or those given by path, by name, or by the beginning of a name.

    Raises:
        CourseKitError: the site has no job scripts, or no script matches a name.
    """
    scripts = sorted((root / JOB_SCRIPTS / site).glob("*.sbatch"), key=lambda path: path.stem)
    scripts = [path for path in scripts if path.stem != GRADE]
    if not scripts:
        raise CourseKitError(
            f"{JOB_SCRIPTS}/{site}/ has no job scripts: make them with coursekit build.", "job-script.missing"
        )
    chosen: dict[Path, None] = {}
    for name in names:
        stem = name.rpartition("/")[2].removesuffix(".sbatch")
        fitting = [path for path in scripts if path.stem in matching([one.stem for one in scripts], stem)]
        if not fitting:
            known = ", ".join(path.stem for path in scripts)
            raise CourseKitError(f"{JOB_SCRIPTS}/{site}/ has no script {name!r}; it has {known}.", "job-script.unknown")
        chosen.update(dict.fromkeys(fitting))
    return tuple(chosen) or tuple(scripts)


def job_environment(cluster: Cluster, home: Path) -> dict[str, str]:
    """Return the environment in which job scripts are submitted to a running cluster.

    `home` is a private folder that replaces the home folder, which is neither read nor changed.
    """
    settings = home / ".jupyter"
    settings.mkdir(parents=True, exist_ok=True)
    # Nobody is root at a site, but here everybody is, which JupyterLab refuses without this setting.
    (settings / "jupyter_server_config.json").write_text(json.dumps({"ServerApp": {"allow_root": True}}))
    return {**plain_environment(), "USER": "root", "HOME": str(home), **cluster.environ, **small_run()}


def small_run() -> dict[str, str]:
    """Return the variables of a small run; values in the caller's environment take precedence."""
    return {name: os.environ.get(name, value) for name, value in SMALL_RUN.items()}


def small_words(script: Path, course: Path) -> tuple[str, list[str]]:
    """Return the options and arguments that make a lab's run small; both are empty for other scripts.

    Returns:
        The options of `TRAIN_OPTIONS` that its training script has, in one text; the arguments of its notebook.
    """
    folder = course / "labs" / script.stem.removesuffix("-train")
    train, notebook = folder / SCRIPT_NAME, folder / f"{script.stem}.ipynb"
    source = train.read_text() if train.exists() and train.parent.name != script.stem else ""
    known = read_defaults(notebook) if notebook.exists() else {}
    options = (found for found in OPTION.finditer(small_run()[TRAIN_OPTIONS]) if f'"{found[1]}"' in source)
    values = [word for name, value in SMALL_NOTEBOOK.items() if name in known for word in ("-p", name, value)]
    return " ".join(found[0] for found in options), values


def submit(script: Path, course: Path, environ: Mapping[str, str]) -> RehearsedJob:
    """Submit a script, unmodified and held, from the course's folder; a refused script is also returned as a job."""
    options, values = small_words(script, course)
    words = ("--parsable", "--hold", str(script.relative_to(course)), *values)
    try:
        said = call("sbatch", *words, folder=course, environ={**environ, TRAIN_OPTIONS: options})
    except SlurmError as error:
        return RehearsedJob(script.name, "", REFUSED, last_line=error.words or str(error))
    return RehearsedJob(script.name, said.strip().partition(";")[0], PENDING, held=True)


def parts_of(script: Path) -> set[tuple[str, ...]]:
    """Return the parts of a script that others of its site may share: options (but name and time), software, program.

    Example: `02-….sbatch` and `05-….sbatch` have the same options, `05-…-train.sbatch` has others, and all three load
    the same modules. When 02 and the last one have run, every part of 05 has been tried.
    """
    text = script.read_text()
    found = (("options", DIRECTIVE), ("software", SOFTWARE), ("program", PROGRAM))
    return {(name, *dict.fromkeys(pattern.findall(text))) for name, pattern in found}


def until_all_parts_run(cluster: Cluster, folder: Path, jobs: Sequence[RehearsedJob]) -> list[RehearsedJob]:
    """Cancel each held job whose script has only parts of earlier scripts that Slurm has accepted."""
    kept: list[RehearsedJob] = []
    seen: set[tuple[str, ...]] = set()
    for job in jobs:
        parts = set() if job.state == REFUSED else parts_of(folder / job.script)
        if job.state == REFUSED or parts - seen:
            kept.append(job)
        else:
            cluster.call("scancel", job.job_id)
            kept.append(replace(job, state=ACCEPTED, last_line="jobs that run cover its options, software and program"))
        seen |= parts
    return kept


def release(cluster: Cluster, jobs: Sequence[RehearsedJob], num_at_a_time: int) -> list[RehearsedJob]:
    """Release the next held jobs, as long as no more than this many wait for nodes or run."""
    num_free = num_at_a_time - sum(not (job.held or job.ended) for job in jobs)
    going = [job.job_id for job in jobs if job.held and not job.ended][: max(num_free, 0)]
    for job_id in going:
        cluster.call("scontrol", "release", job_id)
    return [replace(job, held=False) if job.job_id in going else job for job in jobs]


def look(cluster: Cluster, course: Path, jobs: Sequence[RehearsedJob]) -> list[RehearsedJob]:
    """Return the jobs as Slurm's accounting and their logs now show them; a JupyterLab that answers is cancelled."""
    running = [job.job_id for job in jobs if not job.ended]
    if not running:
        return list(jobs)
    words = ("--allocations", "--noheader", "--parsable2", "--format=JobID,State,ElapsedRaw,NodeList,JobName")
    rows = {}
    for line in cluster.call("sacct", *words, f"--jobs={','.join(running)}").splitlines():
        job_id, state, elapsed_s, nodes, name = line.split("|")
        if name != PROVISIONAL:
            rows[job_id] = (state.split()[0], int(elapsed_s), nodes)
    return [_updated(cluster, course, job, rows) for job in jobs]


def _updated(
    cluster: Cluster, course: Path, job: RehearsedJob, rows: Mapping[str, tuple[str, int, str]]
) -> RehearsedJob:
    if job.ended or job.job_id not in rows:
        return job
    state, elapsed_s, nodes = rows[job.job_id]
    text = job.log_text(course)
    now = replace(job, state=state, elapsed_s=elapsed_s, nodes=nodes, last_line=text.rpartition("\n")[2].strip())
    address = JUPYTER_URL.search(text)
    if address and not now.ended and jupyter_answers(int(address[1]), address[2]):
        cluster.call("scancel", job.job_id)
        return replace(now, state=ANSWERED, last_line="JupyterLab answered with its token, and refused without it.")
    return now


def jupyter_answers(port: int, token: str) -> bool:
    """Whether a JupyterLab on this machine answers with its token, and refuses without it."""
    return _status(port, {"Authorization": f"token {token}"}) == HTTP_OK and _status(port, {}) not in {0, HTTP_OK}


def _status(port: int, headers: Mapping[str, str]) -> int:
    """Return the HTTP status of JupyterLab's API; 0 if nothing answers."""
    request = Request(f"http://{LOOPBACK}:{port}/api/status", headers=dict(headers))
    try:
        with urlopen(request, timeout=ANSWER_TIMEOUT_S) as answer:  # noqa: S310  # our own address
            return int(answer.status)
    except URLError as error:
        return int(getattr(error, "code", 0))
    except OSError:
        return 0


class RehearsalProgress:
    """Show what happens, each line with the time since the start."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._states: dict[str, str] = {}
        self._begun_s = time.monotonic()

    def say(self, text: str) -> None:
        """Show what begins now."""
        minutes, seconds = divmod(int(time.monotonic() - self._begun_s), 60)
        self._console.print(f"[{minutes}:{seconds:02}] {text}", markup=False, highlight=False, soft_wrap=True)

    def show(self, jobs: Sequence[RehearsedJob]) -> None:
        """Show which jobs have started or ended since the last call, and how many are done."""
        for job in jobs:
            if self._states.get(job.script, PENDING) != job.state:
                num_done = sum(one.ended for one in jobs)
                where = f" on {job.nodes}" if job.nodes and not job.ended else ""
                end = f" after {job.elapsed_s} s: {job.last_line} ({num_done} of {len(jobs)} done)" if job.ended else ""
                self.say(f"{job.script}: {job.state}{where}{end}")
            self._states[job.script] = job.state
